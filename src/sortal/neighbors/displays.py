"""Displays of nearest neighbors: regions for several k, leave-one-out errors; pictures."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np
from matplotlib.ticker import NullLocator

from sortal.decision.options import is_whole
from sortal.errors import ParameterError
from sortal.neighbors.learn import LOO_GRID
from sortal.neighbors.model import METRICS
from sortal.pictures import Plan, Scene, Words, cut_table, several
from sortal.pictures.shared import add_regions
from sortal.plotting.axes import (
    BLACK,
    name_axes,
    open_axes,
    open_grid,
    short_number,
    shown,
    write_legend,
    write_title,
)
from sortal.plotting.curves import curve_style
from sortal.plotting.decision_regions import DecisionsDisplay
from sortal.plotting.rows import MOST_POINTS, attribute, deciding_functions, read_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import Float, LabelsLike, TableLike
    from sortal.base.classifier import TableClassifier
    from sortal.pictures import Pictures
    from sortal.plotting.rows import PlotRows
    from sortal.records.tables import Cell

    Functions = Callable[[Float], Float]
    Estimator = TableClassifier[Any, Any, Any]
    AxesLike = Sequence[Axes] | NDArray[Any]


# --- Leave-one-out errors of nearest neighbors: one line a weighting, and what was chosen --------

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
            raise ParameterError(
                f"k has the shape {self.k.shape}, error {self.error.shape}, and weighting has "
                f"{len(self.weighting)} entries: give one of each for every setting."
            )
        self.curves = {name: self._curve(name) for name in dict.fromkeys(self.weighting)}
        if not self.curves:
            raise ParameterError(
                "There is no setting to draw: give k, weighting and error of some."
            )
        self.chosen = None if chosen is None else self._read_chosen(chosen)

    def _curve(self, name: str) -> tuple[NDArray[Any], Float]:
        mine = np.flatnonzero([one == name for one in self.weighting])
        mine = mine[np.argsort(self.k[mine], kind="stable")]
        return self.k[mine], self.error[mine]

    def _read_chosen(self, chosen: tuple[int, str]) -> tuple[int, str]:
        k, name = chosen
        if k not in self.curves.get(str(name), ((),))[0]:
            raise ParameterError(
                f"chosen={chosen!r} is no setting that was tried: give k and a weighting of those "
                "in the curve."
            )
        return int(k), str(name)

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: TableLike | None = None,
        y: LabelsLike | None = None,
        *,
        ax: Axes | None = None,
        **kw: Any,
    ) -> Self:
        """Draw the `loo_curve_` of a fitted NeighborsClassifier.

        One that was given its number of neighbors has none. With X and y, the rows of the fit, a
        copy of it is then fitted that chooses the number, with the weighting as it is.
        """
        chooser = estimator
        if X is not None and y is not None and not hasattr(estimator, "loo_curve_"):
            chooser = choosing(estimator).fit(X, y)
        columns = _curve_of(chooser)
        used = attribute(estimator, "n_neighbors_"), attribute(estimator, "weights_")
        chosen = used if used[0] in columns[0] else None
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
        return f"{shown(name)}: least {short_number(error[best])} (k = {k[best]})"

    def _mark(self, ax: Axes) -> list[Any]:
        if self.chosen is None:
            return []
        k, name = self.chosen
        height = self.error_of(k, name)
        ring = ax.plot(
            [k],
            [height],
            marker="o",
            markersize=13.0,
            markerfacecolor="none",
            color=BLACK,
            linestyle="none",
            zorder=4,
            label=f"k = {k}, {shown(name)}: {short_number(height)}",
        )
        return list(ring)

    def _name_places(self, ax: Axes) -> None:
        """Numbers of neighbors side by side as their ratios are; errors from zero."""
        ks = np.unique(self.k)
        ticks = ks if len(ks) <= _MOST_TICKS else ks[np.isin(ks, _ROUND)]
        if ks[-1] > ks[0]:
            ax.set_xscale("log")
        ax.set_xticks(ticks, [str(k) for k in ticks], usetex=False)
        ax.xaxis.set_minor_locator(NullLocator())
        ax.set_ylim(0, 1.12 * float(self.error.max()) or 1.0)


def _curve_of(estimator: Estimator) -> list[tuple[Any, ...]]:
    """k, weighting and error of each setting that was tried."""
    curve = attribute(estimator, "loo_curve_")
    return [curve.column(name) for name in ("k", "weighting", "error")]


def choosing(estimator: Estimator, **options: object) -> Estimator:
    """An estimator like a fitted one, which is to choose the number of neighbors, not fitted.

    The metric and the weighting are as the fitted one has them.
    """
    given = {"n_neighbors": "loo", "weights": attribute(estimator, "weights_")}
    given |= {"metric": attribute(estimator, "metric_")}
    return type(estimator)(**(estimator.get_params(deep=False) | given | options))


# Lines of the grid in each direction, between which boundaries are drawn.
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
        points: ArrayLike,
        labels: ArrayLike,
        functions: Mapping[int, Functions],
        curve: LooCurveDisplay,
        *,
        classes: ArrayLike | None = None,
        names: Sequence[object] | None = None,
        note: str = "",
        resolution: int = _RESOLUTION,
    ) -> None:
        if not functions:
            raise ParameterError("functions is empty: give a function for one k at least.")
        self.panels = {
            int(k): DecisionsDisplay(
                points, labels, each, classes=classes, names=names, resolution=resolution
            )
            for k, each in functions.items()
        }
        self.curve, self.note = curve, note
        self.rows: PlotRows = next(iter(self.panels.values())).rows

    @classmethod
    def from_estimator(
        cls,
        estimator: Estimator,
        X: TableLike,
        y: LabelsLike,
        *,
        k: Sequence[int] = (1, 5, 15),
        features: Sequence[Any] | None = None,
        resolution: int = _RESOLUTION,
        ax: AxesLike | None = None,
        **kw: Any,
    ) -> Self:
        """Draw what copies of a fitted NeighborsClassifier say that know two attributes alone.

        They have its metric, weighting and other options, and are fitted to the rows of X without
        a missing value in the two. `features` are two columns of numbers by name or position
        (default: the first two). What the estimator itself says of whole rows, DecisionsDisplay
        draws.
        """
        ks = _read_ks(k)
        _refuse_equal_or_not(estimator)
        rows = read_rows(X, y, features=features, count=2, classes=attribute(estimator, "classes_"))
        tried = sorted({*ks, *(k for k in LOO_GRID if k < len(rows.points))})
        plain = {"categorical_features": "from_dtype"}
        chooser = choosing(estimator, n_neighbors=tried, **plain).fit(rows.points, rows.labels)
        curve = LooCurveDisplay(*_curve_of(chooser))
        display = cls(
            rows.points,
            rows.labels,
            {
                k: _functions(
                    choosing(estimator, n_neighbors=k, **plain).fit(rows.points, rows.labels),
                    rows.classes,
                )
                for k in ks
            },
            curve,
            classes=rows.classes,
            names=rows.names,
            note=f"{chooser.metric_} distance, {chooser.weights_} votes, these two columns alone",
            resolution=resolution,
        )
        return display.plot(ax, **kw)

    def plot(
        self,
        ax: AxesLike | None = None,
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
            where: bool | Literal["beside"] = "beside" if legend and i == beside else False
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
                return f"k = {k}:  error {short_number(found[0])}"
        return f"k = {k}"

    def _new_axes(self) -> NDArray[Any]:
        n = len(self.panels) + 1
        n_columns = 2 if n <= 4 else 3
        n_rows = -(-n // n_columns)
        axes = open_grid((4.6 * n_columns + 1.6, 3.7 * n_rows), n_rows, n_columns).ravel()
        for spare in axes[n:]:
            spare.remove()
        return axes[:n]

    def _given_axes(self, ax: AxesLike) -> NDArray[Any]:
        axes: NDArray[Any] = np.asarray(ax, dtype=object).ravel()
        if len(axes) != len(self.panels) + 1:
            raise ParameterError(
                f"ax has {len(axes)} axes, and there are {len(self.panels)} numbers of neighbors: "
                "give one axes for each of them, and one for the curve."
            )
        return axes


def _read_ks(k: object) -> list[int]:
    given = [] if isinstance(k, str) or not isinstance(k, Iterable) else list(k)
    if not given or not all(is_whole(one) and one >= 1 for one in given):
        raise ParameterError(
            f"k={k!r} cannot be drawn: give a list of whole numbers of at least 1, such as "
            "(1, 5, 15)."
        )
    return [int(one) for one in dict.fromkeys(given)]


def _refuse_equal_or_not(estimator: Estimator) -> None:
    """Between the values that rows have, there is nothing to draw."""
    metric = attribute(estimator, "metric_")
    if METRICS[metric].by_value:
        raise ParameterError(
            f"metric={metric!r} asks only whether values are equal, which makes no regions of a "
            "plane: fit with a metric that measures numbers, such as 'gower'."
        )


def _functions(model: Estimator, classes: Sequence[Any]) -> Functions:
    """1 for the class that is said, 0 for others, also for classes that no row drawn has."""
    own = tuple(np.asarray(model.classes_, dtype=object).tolist())
    asked, places = deciding_functions(model, own), [classes.index(label) for label in own]

    def functions(points: Float) -> Float:
        values = np.zeros((len(points), len(classes)))
        values[:, places] = asked(points)
        return values

    return functions


# --- Pictures of nearest neighbors ---------------------------------------------------------------

# Pairs of rows, times columns, that are compared for a curve which the fit does not have already.
_MOST_COMPARED = 4e9

_CURVE = "Leave-one-out error by number of neighbors"


def pictures(estimator: Estimator, X: TableLike, y: LabelsLike, *, rows: bool = False) -> Pictures:
    """Regions over two columns, and the errors of rows left out."""
    scene = Scene("neighbors", estimator, X, y, rows=rows)
    if METRICS[estimator.metric_].by_value:
        scene.leave_out(
            "Decision regions", "the distance asks only whether values are equal, not how near."
        )
    else:
        add_regions(scene)
    _add_curve(scene)
    return scene.pictures()


def _add_curve(scene: Scene) -> None:
    """The curve by which k was chosen, or that of the other numbers that could be."""
    chosen = hasattr(scene.estimator, "loo_curve_")
    n = float(scene.table.n_rows)
    if not chosen and n * n * len(scene.fitted) > _MOST_COMPARED:
        scene.leave_out(
            _CURVE,
            f"for {n:,.0f} rows it takes long; displays.LooCurveDisplay.from_estimator(model, X, "
            "y) draws it.",
        )
        return
    plan = Plan(LooCurveDisplay, with_rows=not chosen)
    scene.plan("loo", _CURVE, plan, lambda shown: _words(scene.estimator, shown, chosen=chosen))


def _words(estimator: Estimator, display: LooCurveDisplay, *, chosen: bool) -> Words:
    told = []
    for name, (k, error) in display.curves.items():
        best = int(error.argmin())
        told.append(f"{name} votes least at k = {k[best]} ({short_number(error[best])} wrong)")
    said = f"{_CURVE}: {several(told, 'weightings')}."
    used = f"k = {estimator.n_neighbors_} with {estimator.weights_} votes"
    said += f" The model has {used}."
    heads = ["k", *(f"error, {name} votes" for name in display.curves)]
    ks = sorted(set(display.k.tolist()))
    by = {
        name: dict(zip(k.tolist(), e.tolist(), strict=True))
        for name, (k, e) in display.curves.items()
    }
    cells: list[tuple[Cell, ...]] = [(k, *(by[name].get(k) for name in by)) for k in ks]
    table, cut = cut_table("loo", "Errors of rows left out", heads, cells, "S 79")
    how = (
        "Each row was asked of the others; the setting of least error was chosen."
        if chosen
        else "Each row was asked of the others. The model was given its number of neighbors; "
        "n_neighbors='loo' would choose it by this curve."
    )
    return Words(said, table, " ".join(filter(None, [how, cut])))
