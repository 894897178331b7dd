"""Contours of a kernel projection (Zaki & Meira, Figure 20.3a), and pictures in a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, cast

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from sortal.decision.options import is_whole
from sortal.errors import ParameterError
from sortal.kernels.displays.projection import KernelProjectionDisplay
from sortal.pictures import (
    Plan,
    Scene,
    Words,
    class_places,
    class_table,
    cut_table,
    several,
)
from sortal.pictures.coarse import CELLS
from sortal.pictures.shared import add_directions, add_regions
from sortal.plotting.axes import open_axes, plain, short_number, write_legend
from sortal.plotting.decision_regions import read_resolution
from sortal.plotting.densities import direction_name, projection_of
from sortal.plotting.plane import Plane, box_of
from sortal.plotting.rows import MOST_POINTS, attribute, draw_points, read_rows, write_plane

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from sortal._typing import Float, LabelsLike, TableLike
    from sortal.pictures import Pictures
    from sortal.plotting.axes import Style
    from sortal.plotting.rows import Classifier
    from sortal.records.tables import Cell


# Lines of the grid in each direction, between whose crossings curves are drawn straight.
_RESOLUTION = 160

# About so many curves over the range of the rows; further off the steps go on, up to the most.
_CURVES, _MOST_CURVES = 10, 40

Dash: TypeAlias = 'Literal["solid"] | tuple[int, Sequence[float]]'

# Curves are thin and dark, broken below zero.
_LINE: Style = {"color": "0.35", "linewidth": 0.9}

_BROKEN: Dash = (0, (5, 2.5))

_BEHIND: Style = {"facecolor": "white", "edgecolor": "none", "pad": 0.4, "alpha": 0.75}


class KernelContoursDisplay:
    """Points of two attributes over the curves along which a projection does not change.

    `projection` takes points (n × 2) and gives a number each. `levels` is about how many curves
    are drawn over the range of the points, or a list of the projections themselves. Curves of
    negative projections are broken. `note` is a line below the title. Curves are as fine as a grid
    of `resolution` lines in each direction.

    Attributes: `box` (its lower and its upper corner), `x`, `y` (places of the grid's lines),
    `values` (a row a y, a column an x), `levels`; after `plot`, `ax_` and `figure_`.
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        points: TableLike,
        labels: LabelsLike,
        projection: Callable[[Float], Float],
        *,
        levels: int | Sequence[float] = _CURVES,
        classes: ArrayLike | None = None,
        names: Sequence[object] | None = None,
        note: str = "",
        name: str = "wᵀφ(x)",
        resolution: int = _RESOLUTION,
    ) -> None:
        self.rows = read_rows(points, labels, count=2, classes=classes, names=names)
        self.note, self.name = note, name
        self.box = box_of(self.rows.points)
        fine = read_resolution(resolution)
        self.x, self.y = np.linspace(self.box[0], self.box[1], fine).T
        crossings = np.column_stack([axis.ravel() for axis in np.meshgrid(self.x, self.y)])
        self.values = _ask(projection, crossings).reshape(fine, fine)
        self.levels = _read_levels(levels, lambda: _ask(projection, self.rows.points), self.values)

    @classmethod
    def from_estimator(
        cls,
        estimator: Classifier,
        X: TableLike,
        y: LabelsLike,
        *,
        features: Sequence[Any] | None = None,
        at: Mapping[Any, Any] | None = None,
        component: int = 0,
        levels: int | Sequence[float] = _CURVES,
        resolution: int = _RESOLUTION,
        ax: Axes | None = None,
        **kw: Any,
    ) -> Self:
        """Draw one projection of a fitted KernelDiscriminant over two attributes, and rows of X.

        `features` are two columns of numbers by name or position (default: the first two). Other
        numbers stay at their overall mean and categories at their most frequent value, or at what
        `at` says. `component` counts the directions from 0.
        """
        project = projection_of(estimator, component)
        if attribute(estimator, "kernel_").name == "precomputed":
            raise ParameterError(
                "A precomputed kernel has no columns to draw over: fit with a kernel of rows, or "
                "draw KernelProjectionDisplay."
            )
        plane = Plane(estimator, X, y, features, at)
        n = np.asarray(attribute(estimator, "dual_coef_")).shape[1]
        display = cls(
            plane.rows.points,
            plane.rows.labels,
            lambda points: project(plane.table(points)),
            levels=levels,
            classes=plane.rows.classes,
            names=plane.rows.names,
            note=plane.note,
            name=direction_name(n, component),
            resolution=resolution,
        )
        return display.plot(ax, **kw)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        legend: bool | Literal["beside"] = True,
        max_points: int = MOST_POINTS,
        **kw: Any,
    ) -> Self:
        """Draw; other keywords go to `Axes.scatter`.

        The legend stands beside the axes if they are made here, or if it is "beside".
        """
        ax, own = open_axes(ax, (8.0, 5.4))
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        drawn = self.rows.thinned(max_points)
        handles = draw_points(ax, self.rows, drawn, {"alpha": 0.8} | kw)
        handles += self._draw_curves(ax)
        ax.set_xlim(*self.box[:, 0])
        ax.set_ylim(*self.box[:, 1])
        said = f"Curves of constant {self.name}" if title is None else title
        write_plane(ax, self.rows, said, self.note, drawn)
        if legend:
            entries = [str(handle.get_label()) for handle in handles]
            write_legend(ax, handles, entries, outside=own or legend == "beside")
        return self

    def _draw_curves(self, ax: Axes) -> list[Any]:
        """Curves with their numbers; the legend has a line for either sign that is met."""
        if not len(self.levels):
            return []
        style: Style = {"colors": _LINE["color"], "linewidths": _LINE["linewidth"], "zorder": 2.2}
        dashes: list[Dash] = [_BROKEN if level < 0 else "solid" for level in self.levels]
        curves = ax.contour(
            self.x, self.y, self.values, levels=self.levels, linestyles=dashes, **style
        )
        for text in ax.clabel(curves, fontsize="small", fmt=short_number):
            text.set(usetex=False, zorder=3.5, bbox=_BEHIND)
        signs = {"solid": self.levels.max() >= 0, _BROKEN: self.levels.min() < 0}
        words = {"solid": "constant projection", _BROKEN: "the same, below 0"}
        words |= {} if signs["solid"] else {_BROKEN: "constant projection, below 0"}
        return [
            Line2D([], [], linestyle=dash, label=words[dash], **_LINE)
            for dash, met in signs.items()
            if met
        ]


def _ask(projection: Callable[[Float], Float], points: Float) -> Float:
    values = np.asarray(projection(points), dtype=np.float64)
    if values.shape != (len(points),) or not np.isfinite(values).all():
        raise ParameterError(
            f"projection gave values of the shape {values.shape}, maybe not finite, for "
            f"{len(points)} points: it must give a finite number a point."
        )
    return values


def _read_levels(levels: Any, of_rows: Callable[[], Float], values: Float) -> Float:
    """Given levels, or multiples of a round step within what the grid has."""
    if not is_whole(levels):
        try:
            given = np.asarray(levels, dtype=np.float64)
        except (TypeError, ValueError):
            given = np.empty(0)
        if given.ndim != 1 or not len(given) or not np.isfinite(given).all():
            raise ParameterError(
                f"levels={levels!r} cannot be drawn: give how many curves, or a list of "
                "projections."
            )
        return np.unique(given)
    if not 1 <= levels <= _MOST_CURVES:
        raise ParameterError(
            f"levels={levels!r} cannot be drawn: give a number from 1 to {_MOST_CURVES}, or a list "
            "of projections."
        )
    own = of_rows()
    low, high = float(own.min()), float(own.max())
    if not high - low > 1e-9 * max(abs(low), abs(high)):
        low, high = float(values.min()), float(values.max())
    if not high - low > 1e-9 * max(abs(low), abs(high)):
        return np.empty(0)  # it is constant everywhere
    ticks = MaxNLocator(int(levels)).tick_values(low, high)
    step = float(ticks[1] - ticks[0])
    first, last = np.ceil(values.min() / step), np.floor(values.max() / step)
    beyond = (_MOST_CURVES - 1) // 2
    first = max(first, np.floor(low / step) - beyond)
    last = min(last, np.ceil(high / step) + beyond)
    return np.asarray(np.arange(first, last + 1)[: 2 * _MOST_CURVES] * step)


# --- Pictures of kernel discriminants ------------------------------------------------------------

# Lines of the grid between which curves are drawn; where rows may not be seen, as many as cells.
_PICTURE_RESOLUTION = 120

_COARSE = (
    f"Curves are drawn between the crossings of {CELLS} × {CELLS} lines: finer ones might tell "
    "where single rows lie."
)


def pictures(estimator: Classifier, X: TableLike, y: LabelsLike, *, rows: bool = False) -> Pictures:
    """Classes along the directions; curves of constant projection and regions over two columns.

    A narrow kernel has a hill at every row of its basis: without `rows`, curves and boundaries pass
    between the lines of a grid.
    """
    scene = Scene("kernel", estimator, X, y, rows=rows)
    if attribute(estimator, "kernel_").name == "precomputed":
        scene.leave_out(
            "Contours", "rows of a precomputed kernel have no columns to draw them over."
        )
        return scene.pictures()
    n = int(attribute(estimator, "dual_coef_").shape[1])
    if n == 0:
        scene.leave_out("Projections", "the classes have one mean, and no direction parts them.")
        return scene.pictures()
    add_directions(scene, min(n, 2))
    if rows:
        _add_projection(scene)
    _add_contours(scene, n)
    add_regions(scene)
    return scene.pictures()


def _add_projection(scene: Scene) -> None:
    title = "Rows along the direction that parts the classes best"
    plan = Plan(KernelProjectionDisplay, points=True)
    scene.plan("projection", title, plan, lambda display: _projected(title, display))


def _projected(title: str, display: KernelProjectionDisplay) -> Words:
    classes = [plain(label) for label in display.rows.classes]
    middles = [f"{c} around {short_number(m)}" for c, m in zip(classes, display.means, strict=True)]
    said = f"{title}: {several(middles, 'classes')}; J = {short_number(display.J)}"
    point = display.threshold
    said += "." if point is None else f", and the separating point is {short_number(point)}."
    numbers = display.rows.counts, display.means, display.scatters
    cells: list[tuple[Cell, ...]] = list(
        zip(map(str, display.rows.classes), *(part.tolist() for part in numbers), strict=True)
    )
    heads = ("class", "rows", "projected mean", "projected scatter")
    table, cut = cut_table("projection", "Projected classes", heads, cells, "ZM 20.16")
    return Words(said, table, cut)


def _add_contours(scene: Scene, n_directions: int) -> None:
    """Curves over the two most telling columns, of the first direction."""
    chosen = scene.numbers[:2]
    if len(chosen) < 2:
        scene.leave_out(
            "Contours",
            f"a plane needs two columns of numbers, and the model has {len(scene.numbers)}.",
        )
        return
    names = " and ".join(plain(one.name) for one in chosen)
    which = "projection" if n_directions == 1 else "first projection"
    title = f"Curves of constant {which} over {names}"
    options: dict[str, Any] = {
        "features": [scene.feature(one.place) for one in chosen],
        "resolution": _PICTURE_RESOLUTION if scene.rows else CELLS,
    }
    plan = Plan(KernelContoursDisplay, options, points=True)
    coarse = "" if scene.rows else _COARSE
    scene.plan("contours", title, plan, lambda display: _contours(title, display, coarse))


def _contours(title: str, display: KernelContoursDisplay, note: str) -> Words:
    low, high = float(display.values.min()), float(display.values.max())
    said = f"{title}: it goes from {short_number(low)} to {short_number(high)} in the picture"
    step = f", a curve every {short_number(display.levels[1] - display.levels[0])}"
    said += f"{step if len(display.levels) > 1 else ''}."
    held = display.note.replace("\n", "; ").replace(r"\$", "$")
    said += f" Drawn {held}." if held else ""
    table, cut = class_table("contours", display.rows)
    said = f"{said} {class_places(display.rows)}"
    return Words(said, table, " ".join(filter(None, [note, cut])))
