"""Leave-one-out errors of nearest neighbors: one line a weighting, and what was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np
from matplotlib.ticker import NullLocator

from sortal.errors import OptionError
from sortal.views.axes import open_axes
from sortal.views.curves import curve_style
from sortal.views.fitted import attribute
from sortal.views.lettering import name_axes, number_text, shown, write_legend, write_title
from sortal.views.palette import BLACK, Style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    Float = NDArray[np.float64]

# So many numbers have room below the axis; of more, those that are read most easily.
_MOST_TICKS = 8
_ROUND = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 500, 1000)


class LooCurveDisplay:
    """The share of rows said wrong by their k nearest among the others, against k.

    `k`, `weighting` and `error` have an entry for each setting that was tried, as the columns of
    `loo_curve_`; `chosen` is the pair (k, weighting) to be marked, `note` a line below the title.

    Attributes: these, `curves` (by weighting: its k, ascending, and their errors); after `plot`,
    `ax_` and `figure_`.
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        k: ArrayLike,
        weighting: Sequence[str],
        error: ArrayLike,
        *,
        chosen: tuple[int, str] | None = None,
        note: str = "",
    ) -> None:
        self.k, self.error = np.asarray(k), np.asarray(error, dtype=np.float64)
        self.weighting, self.note = tuple(map(str, weighting)), note
        if self.k.shape != (len(self.weighting),) or self.error.shape != self.k.shape:
            raise OptionError(
                f"k has the shape {self.k.shape}, error {self.error.shape}, and weighting has "
                f"{len(self.weighting)} entries: give one of each for every setting."
            )
        self.curves = {name: self._curve(name) for name in dict.fromkeys(self.weighting)}
        if not self.curves:
            raise OptionError("There is no setting to draw: give k, weighting and error of some.")
        self.chosen = None if chosen is None else self._read_chosen(chosen)

    def _curve(self, name: str) -> tuple[NDArray[Any], Float]:
        mine = np.flatnonzero([one == name for one in self.weighting])
        mine = mine[np.argsort(self.k[mine], kind="stable")]
        return self.k[mine], self.error[mine]

    def _read_chosen(self, chosen: tuple[int, str]) -> tuple[int, str]:
        k, name = chosen
        if k not in self.curves.get(str(name), ((),))[0]:
            raise OptionError(
                f"chosen={chosen!r} is no setting that was tried: give k and a weighting of those "
                "in the curve."
            )
        return int(k), str(name)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, ax: Axes | None = None, **kw: Any
    ) -> Self:
        """Draw the `loo_curve_` of a fitted NeighborsClassifier.

        One that was given its number of neighbors has none. With X and y, the rows of the fit, a
        copy of it is then fitted that chooses the number, with the weighting as it is.
        """
        chooser, chosen = estimator, None
        if X is not None and not hasattr(estimator, "loo_curve_"):
            chooser = choosing(estimator).fit(X, y)
            used = int(attribute(estimator, "n_neighbors_"))
            chosen = (used, str(estimator.weights_))
        curve = attribute(chooser, "loo_curve_")
        if chosen is None:
            chosen = (chooser.n_neighbors_, chooser.weights_)
        elif chosen[0] not in curve.column("k"):
            chosen = None
        columns = [curve.column(name) for name in ("k", "weighting", "error")]
        display = cls(*columns, chosen=chosen, note=f"{attribute(chooser, 'metric_')} distance")
        return display.plot(ax, **kw)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        legend: bool | Literal["beside"] = True,
        **kw: Any,
    ) -> Self:
        """Draw; other keywords go to `Axes.plot` for the curves."""
        ax, own = open_axes(ax, (8.0, 4.6))
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        handles = [
            ax.plot(k, error, label=self._entry(name), **(curve_style(i, len(k)) | kw))[0]
            for i, (name, (k, error)) in enumerate(self.curves.items())
        ]
        handles += self._mark(ax)
        self._name_places(ax)
        name_axes(ax, "k, number of neighbors", "leave-one-out error")
        write_title(ax, "Leave-one-out error" if title is None else title, self.note)
        if legend:
            entries = [str(handle.get_label()) for handle in handles]
            write_legend(ax, handles, entries, outside=own or legend == "beside")
        return self

    def error_of(self, k: int, weighting: str) -> float:
        """The error of a setting."""
        ks, errors = self.curves[weighting]
        return float(errors[np.flatnonzero(ks == k)[0]])

    def _entry(self, name: str) -> str:
        """A weighting with its least error and the first k that has it."""
        k, error = self.curves[name]
        best = int(error.argmin())
        return f"{shown(name)}: least {number_text(error[best])} (k = {k[best]})"

    def _mark(self, ax: Axes) -> list[Any]:
        if self.chosen is None:
            return []
        k, name = self.chosen
        height = self.error_of(k, name)
        ring: Style = {"marker": "o", "markersize": 13.0, "markerfacecolor": "none"}
        told = f"k = {k}, {shown(name)}: {number_text(height)}"
        style: Style = {"color": BLACK, "linestyle": "none", "zorder": 4, "label": told}
        return list(ax.plot([k], [height], **ring, **style))

    def _name_places(self, ax: Axes) -> None:
        """Numbers of neighbors side by side as their ratios are; errors from zero."""
        ks = np.unique(self.k)
        ticks = ks if len(ks) <= _MOST_TICKS else ks[np.isin(ks, _ROUND)]
        if ks[-1] > ks[0]:
            ax.set_xscale("log")
        ax.set_xticks(ticks, [str(k) for k in ticks], usetex=False)
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set_ylim(0, 1.12 * float(self.error.max()) or 1.0)


def choosing(estimator: Any, **options: Any) -> Any:
    """An estimator like a fitted one, which is to choose the number of neighbors, not fitted.

    The metric and the weighting are as the fitted one has them.
    """
    given = {"n_neighbors": "loo", "weights": attribute(estimator, "weights_")}
    given |= {"metric": attribute(estimator, "metric_")}
    return type(estimator)(**(estimator.get_params(deep=False) | given | options))
