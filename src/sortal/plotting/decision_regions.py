"""Decision regions of any classifier over two attributes, and how priors and costs move them."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, cast

import numpy as np
from contourpy import contour_generator
from matplotlib.collections import LineCollection
from scipy.interpolate import RegularGridInterpolator

from sortal.decision.options import is_whole, read_priors
from sortal.decision.posterior import leading
from sortal.errors import ParameterError
from sortal.plotting.axes import (
    BLACK,
    Style,
    color,
    equation_text,
    few_text,
    open_axes,
    write_legend,
)
from sortal.plotting.plane import (
    Plane,
    box_with,
    draw_ellipses,
    find_ellipses,
    marginals,
    read_coverage,
)
from sortal.plotting.rows import (
    MOST_POINTS,
    deciding_functions,
    draw_points,
    read_rows,
    write_plane,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from sortal._typing import CostsLike, Float, LabelsLike, PriorsLike, TableLike
    from sortal.data.columns import Values
    from sortal.plotting.rows import Classifier, Features, HeldAt

    Functions = Callable[[Float], Float]

# Lines of the grid in each direction: a cell is about as wide as a curve.
_RESOLUTION = 200

# Of equal classes the rounding is not drawn; as `leading` has it.
_TIE = 16 * np.finfo(float).eps

# Stands for infinity among values that are subtracted.
_FAR = 1e300


class Polyline(NamedTuple):
    """A piece of the boundary between two classes (places in `classes`): its points in order."""

    first: int
    second: int
    points: Float


class Grid:
    """Functions at the crossings of lines across a box, `resolution` in each direction.

    Between the crossings they are taken as straight, so that what is drawn depends on the values
    there alone. Attributes: `x`, `y` (places of the lines), `values` (a row a y, a column an x,
    then a class), `labels` (the class with the largest value, as a place).
    """

    def __init__(self, functions: Functions, box: Float, n_classes: int, resolution: int) -> None:
        self.x, self.y = np.linspace(box[0], box[1], resolution).T
        points = np.column_stack([axis.ravel() for axis in np.meshgrid(self.x, self.y)])
        values = np.asarray(functions(points), dtype=np.float64)
        if values.shape != (len(points), n_classes) or np.isnan(values).any():
            raise ParameterError(
                f"functions gave values of the shape {values.shape}, maybe with NaN, for "
                f"{len(points)} points and {n_classes} classes: it must give a number a point and "
                "class."
            )
        self.values = np.clip(values, -_FAR, _FAR).reshape(resolution, resolution, n_classes)
        self.labels = leading(self.values.reshape(-1, n_classes)).reshape(resolution, resolution)

    def leads(self, k: int) -> Float:
        """How far class k is above the best of the others."""
        others = np.delete(self.values, k, axis=2).max(axis=2, initial=-_FAR)
        return np.asarray(self.values[:, :, k] - others)

    def boundaries(self) -> list[Polyline]:
        """Where two functions are equal and none is larger."""
        between = RegularGridInterpolator(
            (self.y, self.x), self.values, bounds_error=False, fill_value=None
        )
        return [
            Polyline(k, m, part)
            for k, m in self._neighbors()
            for line in self._contours(k, m)
            for part in _undercut(line, between(line[:, ::-1]), [k, m])
        ]

    def pairwise(self) -> list[Polyline]:
        """Where two functions are equal, whatever the others are."""
        pairs = combinations(range(self.values.shape[2]), 2)
        return [Polyline(k, m, line) for k, m in pairs for line in self._contours(k, m)]

    def _neighbors(self) -> list[tuple[int, int]]:
        """Pairs of classes that meet in a cell."""
        corners = [
            self.labels[i : i - 1 or None, j : j - 1 or None] for i in (0, 1) for j in (0, 1)
        ]
        flat = np.stack([corner.ravel() for corner in corners])
        met = np.sort(np.hstack([flat[[a, b]] for a, b in combinations(range(4), 2)]), axis=0)
        pairs = np.unique(met[:, met[0] != met[1]], axis=1)
        return [(k, m) for k, m in pairs.T.tolist()]

    def _contours(self, k: int, m: int) -> list[Float]:
        z = _difference(self.values[:, :, k], self.values[:, :, m])
        return [np.asarray(line) for line in contour_generator(self.x, self.y, z).lines(0.0)]


def _undercut(points: Float, values: Float, pair: list[int]) -> list[Float]:
    """The parts of a curve on which no third function is above the two, to where one crosses it."""
    others = np.delete(values, pair, axis=1).max(axis=1, initial=-_FAR)
    room = _difference(values[:, pair].max(axis=1), others)
    inside = room >= 0
    cuts = np.flatnonzero(inside[1:] != inside[:-1])
    share = room[cuts] / (room[cuts] - room[cuts + 1])
    ends = points[cuts] + share[:, None] * (points[cuts + 1] - points[cuts])
    parts = []
    for i, (start, stop) in enumerate(pairwise([0, *(cuts + 1), len(points)])):
        part = np.vstack([ends[max(i - 1, 0) : i], points[start:stop], ends[i : i + 1]])
        if inside[start] and len(part) > 1:
            parts.append(part)
    return parts


def _difference(first: Float, second: Float) -> Float:
    """first - second, zero where that is rounding."""
    gap = first - second
    size = np.maximum(1.0, np.minimum(np.abs(first), np.abs(second)))
    return np.where(np.abs(gap) <= _TIE * size, 0.0, gap)


def _solid(curves: list[Polyline], label: str) -> LineCollection:
    pieces = [curve.points for curve in curves]
    return LineCollection(pieces, colors=BLACK, linewidths=1.8, zorder=2.4, label=label)


def _broken(curves: list[Polyline], label: str, width: float, gap: float) -> LineCollection:
    pieces, dashes = [curve.points for curve in curves], [(0, (5, gap))]
    return LineCollection(
        pieces, colors="0.25", linewidths=width, zorder=2.2, linestyles=dashes, label=label
    )


class DecisionsDisplay:
    """Regions in which each of K functions of two attributes is the largest, whatever their shape.

    `functions` takes points (n × 2) and gives their values (n × K). Solid curves are where two of
    them are equal and the largest. `fitted` are functions before a change, named by `change`, such
    as other priors: their boundaries are drawn as broken curves. With `means` (K × 2) and
    `covariance` (2 × 2 for all or K × 2 × 2), ellipses hold a share `coverage` of each class'
    normal distribution. `note` is a line below the title. The functions are asked at the crossings
    of a grid of `resolution` lines in each direction and taken as straight between them: what is
    smaller than a cell may be missed.

    Attributes: `box` (its lower and its upper corner), `grid` (`x`, `y`, `values`, and `labels`, a
    row a y: places in `rows.classes`), `curves` and `fitted_curves` (first, second, points),
    `ellipses` (points of one a class); after `plot`, `ax_` and `figure_`.
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        points: TableLike,
        labels: LabelsLike,
        functions: Functions,
        *,
        fitted: Functions | None = None,
        change: str = "the change",
        means: ArrayLike | None = None,
        covariance: ArrayLike | None = None,
        coverage: float = 0.95,
        classes: ArrayLike | None = None,
        names: Sequence[object] | None = None,
        note: str = "",
        resolution: int = _RESOLUTION,
    ) -> None:
        self.rows = read_rows(points, labels, count=2, classes=classes, names=names)
        self.coverage, self.note, self.change = read_coverage(coverage), note, change
        self.ellipses = find_ellipses(self.rows, means, covariance, self.coverage)
        self.box = box_with(self.rows.points, self.ellipses)
        K, fine = len(self.rows.classes), read_resolution(resolution)
        self.grid = Grid(functions, self.box, K, fine)
        self.curves = self.grid.boundaries()
        self.fitted_curves: list[Polyline] | None = None
        if fitted is not None:
            self.fitted_curves = Grid(fitted, self.box, K, fine).boundaries()

    @classmethod
    def from_estimator(
        cls,
        estimator: Classifier,
        X: TableLike,
        y: LabelsLike,
        *,
        features: Features = None,
        at: HeldAt = None,
        priors: PriorsLike = None,
        costs: CostsLike = None,
        coverage: float = 0.95,
        resolution: int = _RESOLUTION,
        ax: Axes | None = None,
        **kw: Any,
    ) -> Self:
        """Draw where a fitted estimator says which class, over two attributes, and rows of X.

        `features` are two columns of numbers by name or position (default: the first two). Other
        numbers stay at their overall mean and categories at their most frequent value, or at what
        `at` says. Points are drawn by the two attributes alone, whatever else they hold. With
        `priors` or `costs`, given as to `predict` instead of those of the fit, regions and solid
        curves are what is decided then, and the boundaries of the fit are broken curves.
        """
        plane = Plane(estimator, X, y, features, at)
        own = deciding_functions(estimator, plane.rows.classes)
        asked = deciding_functions(estimator, plane.rows.classes, priors, costs)
        change = _say_change(priors, costs)
        normal = marginals(estimator, plane.terms) if plane.terms else {}
        display = cls(
            plane.rows.points,
            plane.rows.labels,
            lambda points: asked(plane.table(points)),
            fitted=(lambda points: own(plane.table(points))) if change else None,
            change=change,
            **normal,
            coverage=coverage,
            classes=plane.rows.classes,
            names=plane.rows.names,
            note="\n".join(filter(None, [plane.note, _say_priors(priors, plane.rows.classes)])),
            resolution=resolution,
        )
        title = f"Decision regions of {type(estimator).__name__}"
        return display.plot(ax, **({"title": title} | kw))

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        pairwise: bool = False,
        legend: bool | Literal["beside"] = True,
        max_points: int = MOST_POINTS,
        **kw: object,
    ) -> Self:
        """Draw; other keywords go to `Axes.scatter`.

        With `pairwise`, broken curves are the boundaries of each pair of more than two classes,
        also where another class is predicted. The legend stands beside the axes if they are made
        here, or if it is "beside".
        """
        ax, own = open_axes(ax, (8.0, 5.4))
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        drawn = self.rows.thinned(max_points)
        self._draw_regions(ax)
        handles = draw_points(ax, self.rows, drawn, kw)
        lines = self._lines(pairwise=pairwise and len(self.rows.classes) > 2)
        for line in lines:
            ax.add_collection(line)
        handles += [*lines, *draw_ellipses(ax, self.ellipses, self.coverage)]
        ax.set_xlim(*self.box[:, 0])
        ax.set_ylim(*self.box[:, 1])
        write_plane(ax, self.rows, "Decision regions" if title is None else title, self.note, drawn)
        if legend:
            write_legend(ax, handles, outside=own or legend == "beside")
        return self

    def _draw_regions(self, ax: Axes) -> None:
        x, y = self.grid.x, self.grid.y
        for k in np.unique(self.grid.labels):
            lead = self.grid.leads(int(k))
            style: Style = {"colors": [color(int(k))], "alpha": 0.13, "zorder": 0.5}
            if lead.min() >= 0:  # a class that is everywhere has no contour
                ax.axvspan(*self.box[:, 0], color=color(k), alpha=0.13, linewidth=0)
            else:
                ax.contourf(x, y, lead, levels=[0, np.inf], **style)

    def _lines(self, *, pairwise: bool) -> list[LineCollection]:
        """Solid boundaries, broken ones of the fit before the change, and those of pairs."""
        words = "boundary of all classes" if pairwise else "boundary"
        change = "" if self.fitted_curves is None else f" with {self.change}"
        lines = [_solid(self.curves, f"{words}{change}")]
        if self.fitted_curves is not None:
            lines.append(_broken(self.fitted_curves, "boundary of the fit", 1.4, 3))
        if pairwise:
            lines.append(_broken(self.grid.pairwise(), "boundary of a pair", 1.0, 4))
        return lines


def read_resolution(resolution: int) -> int:
    """Lines of a grid in each direction."""
    if not is_whole(resolution) or not 2 <= resolution <= 5000:
        raise ParameterError(
            f"resolution={resolution!r} cannot be drawn: give a whole number from 2 to 5000, the "
            "lines of the grid in each direction."
        )
    return int(resolution)


def _say_change(priors: PriorsLike, costs: CostsLike) -> str:
    given = [name for name, value in (("priors", priors), ("costs", costs)) if value is not None]
    return f"these {' and '.join(given)}" if given else ""


def _say_priors(priors: PriorsLike, classes: Values) -> str:
    """Priors that were given, for the line below the title; of many the first."""
    found = read_priors(priors, classes)
    if found is None:
        return ""
    pairs = zip(classes, found.tolist(), strict=True)
    return f"priors {few_text([equation_text(name, share) for name, share in pairs])}"
