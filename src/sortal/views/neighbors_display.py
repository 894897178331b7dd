"""What nearest neighbors say in the plane for several k, beside their leave-one-out errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from sortal.data.checks import is_whole
from sortal.errors import OptionError
from sortal.learners.neighbors import LOO_GRID
from sortal.views.answers import deciding_functions
from sortal.views.axes import open_grid
from sortal.views.decisions import DecisionsDisplay
from sortal.views.fitted import attribute
from sortal.views.lettering import number_text, shown
from sortal.views.loo_curve import LooCurveDisplay, choosing
from sortal.views.palette import BLACK
from sortal.views.projection import MOST_POINTS
from sortal.views.rows import read_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    from sortal.views.rows import Rows

    Float = NDArray[np.float64]
    Functions = Callable[[Float], Float]

# Lines of the grid in each direction; vertices of the boundaries are exact all the same.
_RESOLUTION = 120


class NeighborsDisplay:
    """Regions of two attributes for several numbers of neighbors, and the leave-one-out curve.

    `functions` has for each k a function that takes points (n × 2) and gives values (n × K), of
    which the largest decides; `curve` is a LooCurveDisplay of the same rows.

    Attributes: `panels` (by k, a DecisionsDisplay each), `curve`, `rows`; after `plot`, `ax_` (an
    array of axes: one for each k, and one for the curve) and `figure_`.
    """

    ax_: NDArray[Any]
    figure_: Figure

    def __init__(
        self,
        points: Any,
        labels: Any,
        functions: Mapping[int, Functions],
        curve: LooCurveDisplay,
        *,
        classes: ArrayLike | None = None,
        names: Sequence[object] | None = None,
        note: str = "",
        resolution: int = _RESOLUTION,
    ) -> None:
        if not functions:
            raise OptionError("functions is empty: give a function for one k at least.")
        self.panels = {
            int(k): DecisionsDisplay(
                points, labels, each, classes=classes, names=names, resolution=resolution
            )
            for k, each in functions.items()
        }
        self.curve, self.note = curve, note
        self.rows: Rows = next(iter(self.panels.values())).rows

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        k: Sequence[int] = (1, 5, 15),
        features: Sequence[Any] | None = None,
        resolution: int = _RESOLUTION,
        ax: Any = None,
        **kw: Any,
    ) -> Self:
        """Draw what copies of a fitted NeighborsClassifier say that know two attributes alone.

        They have its metric, weighting and other options, and are fitted to the rows of X without
        a hole in the two. `features` are two columns of numbers by name or position (default: the
        first two). What the estimator itself says of whole rows, DecisionsDisplay draws.
        """
        ks = _read_ks(k)
        _refuse_equal_or_not(estimator)
        rows = read_rows(X, y, features=features, count=2, classes=attribute(estimator, "classes_"))
        tried = sorted({*ks, *(k for k in LOO_GRID if k < len(rows.points))})
        plain = {"categorical_features": "from_dtype"}
        chooser = choosing(estimator, n_neighbors=tried, **plain).fit(rows.points, rows.labels)
        models = {
            k: choosing(estimator, n_neighbors=k, **plain).fit(rows.points, rows.labels) for k in ks
        }
        table = chooser.loo_curve_
        curve = LooCurveDisplay(*(table.column(name) for name in ("k", "weighting", "error")))
        display = cls(
            rows.points,
            rows.labels,
            {k: _functions(model, rows.classes) for k, model in models.items()},
            curve,
            classes=rows.classes,
            names=rows.names,
            note=f"{chooser.metric_} distance, {chooser.weights_} votes, these two columns alone",
            resolution=resolution,
        )
        return display.plot(ax, **kw)

    def plot(
        self,
        ax: Any = None,
        *,
        title: str | None = None,
        legend: bool = True,
        max_points: int = MOST_POINTS,
        **kw: Any,
    ) -> Self:
        """Draw on one axes for each k and one for the curve; keywords go to `Axes.scatter`."""
        axes = self._new_axes() if ax is None else self._given_axes(ax)
        self.ax_, self.figure_ = axes, cast("Figure", axes[0].figure)
        beside = min(1, len(self.panels) - 1)  # the last panel of the first row
        for i, (k, panel) in enumerate(self.panels.items()):
            where: Any = "beside" if legend and i == beside else False
            panel.plot(
                axes[i], title=self._say(k), legend=where, max_points=max_points, **({"s": 18} | kw)
            )
        self.curve.plot(axes[-1], legend=False)
        for k in self.panels:
            axes[-1].axvline(k, color=BLACK, linewidth=0.8, linestyle=(0, (4, 4)), zorder=1)
        names = [shown(name) for name in self.rows.names]
        said = f"Nearest neighbors over {names[0]} and {names[1]}" if title is None else title
        lines = "\n".join(line for line in (said, self.note) if line)
        self.figure_.suptitle(lines, fontsize="medium", usetex=False)
        return self

    def _say(self, k: int) -> str:
        """The number of neighbors, and its error where the curve has it."""
        for tried, errors in self.curve.curves.values():
            found = errors[tried == k]
            if len(found):
                return f"k = {k}:  error {number_text(found[0])}"
        return f"k = {k}"

    def _new_axes(self) -> NDArray[Any]:
        n = len(self.panels) + 1
        n_columns = 2 if n <= 4 else 3
        n_rows = -(-n // n_columns)
        axes = open_grid((4.6 * n_columns + 1.6, 3.7 * n_rows), n_rows, n_columns).ravel()
        for spare in axes[n:]:
            spare.remove()
        return axes[:n]

    def _given_axes(self, ax: Any) -> NDArray[Any]:
        axes: NDArray[Any] = np.asarray(ax, dtype=object).ravel()
        if len(axes) != len(self.panels) + 1:
            raise OptionError(
                f"ax has {len(axes)} axes, and there are {len(self.panels)} numbers of neighbors: "
                "give one axes for each of them, and one for the curve."
            )
        return axes


def _read_ks(k: Any) -> list[int]:
    given = list(k) if hasattr(k, "__iter__") and not isinstance(k, str) else []
    if not given or not all(is_whole(one) and one >= 1 for one in given):
        raise OptionError(
            f"k={k!r} cannot be drawn: give a list of whole numbers of at least 1, such as "
            "(1, 5, 15)."
        )
    return [int(one) for one in dict.fromkeys(given)]


def _refuse_equal_or_not(estimator: Any) -> None:
    """Between the values that rows have, there is nothing to draw."""
    if attribute(estimator, "metric_") == "hamming":
        raise OptionError(
            "metric='hamming' asks only whether values are equal, which makes no regions of a "
            "plane: fit with a metric that measures numbers, such as 'gower'."
        )


def _functions(model: Any, classes: Sequence[Any]) -> Functions:
    """1 for the class that is said, 0 for others, also for classes that no row drawn has."""
    own = tuple(np.asarray(model.classes_, dtype=object).tolist())
    asked, places = deciding_functions(model, own), [classes.index(label) for label in own]

    def functions(points: Float) -> Float:
        values = np.zeros((len(points), len(classes)))
        values[:, places] = asked(points)
        return values

    return functions
