"""Displays of decision regions, and how priors and costs move their boundaries."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, cast

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.patches import Polygon

from sortal.decision.options import is_whole, read_priors
from sortal.errors import ParameterError
from sortal.plotting.axes import (
    BLACK,
    Style,
    color,
    equation_text,
    few_text,
    fixed_text,
    open_axes,
    write_legend,
)
from sortal.plotting.boundaries import Grid, Polyline, snapped
from sortal.plotting.plane import (
    Plane,
    box_corners,
    box_sides,
    box_with,
    cut_line,
    cut_polygon,
    draw_ellipses,
    find_ellipses,
    marginals,
    read_coverage,
    shaped,
    wins,
)
from sortal.plotting.rows import (
    MOST_POINTS,
    attribute,
    deciding_functions,
    draw_points,
    fitted_functions,
    fitted_rows,
    fixed_terms,
    read_rows,
    write_plane,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from sortal._typing import CostsLike, Float, LabelsLike, PriorsLike, TableLike
    from sortal.data.columns import Values
    from sortal.plotting.rows import Classifier, Features, HeldAt, PlotRows

    Functions = Callable[[Float], Float]

# Lines of the grid in each direction; vertices of the curves are exact all the same.
_RESOLUTION = 200


class _ClassesInPlane:
    """Rows of classes, ellipses and boundaries over regions of the plane."""

    ax_: Axes
    figure_: Figure

    def _read(
        self,
        rows: PlotRows,
        means: ArrayLike | None,
        covariance: ArrayLike | None,
        coverage: float,
        note: str,
    ) -> None:
        self.rows, self.coverage, self.note = rows, read_coverage(coverage), note
        self.ellipses = find_ellipses(rows, means, covariance, self.coverage)
        self.box = box_with(rows.points, self.ellipses)

    def _draw(
        self,
        ax: Axes | None,
        lines: Sequence[LineCollection],
        title: str | None,
        legend: bool | Literal["beside"],
        max_points: int,
        kw: Style,
    ) -> Self:
        ax, own = open_axes(ax, (8.0, 5.4))
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        drawn = self.rows.thinned(max_points)
        self._draw_regions(ax)
        handles = draw_points(ax, self.rows, drawn, kw)
        for line in lines:
            ax.add_collection(line)
        handles += [*lines, *draw_ellipses(ax, self.ellipses, self.coverage)]
        ax.set_xlim(*self.box[:, 0])
        ax.set_ylim(*self.box[:, 1])
        said = "Decision regions" if title is None else title
        write_plane(ax, self.rows, said, self.note, drawn)
        if legend:
            write_legend(ax, handles, outside=own or legend == "beside")
        return self

    def _draw_regions(self, ax: Axes) -> None:
        raise NotImplementedError


def _solid(pieces: list[Float], label: str) -> LineCollection:
    return LineCollection(pieces, colors=BLACK, linewidths=1.8, zorder=2.4, label=label)


def _broken(pieces: list[Float], label: str, width: float, gap: float) -> LineCollection:
    dashes = [(0, (5, gap))]
    return LineCollection(
        pieces, colors="0.25", linewidths=width, zorder=2.2, linestyles=dashes, label=label
    )


class DecisionsDisplay(_ClassesInPlane):
    """Regions in which each of K functions of two attributes is the largest, whatever their shape.

    `functions` takes points (n × 2) and gives their values (n × K). Solid curves are where two of
    them are equal and the largest. `fitted` are functions before a change, named by `change`, such
    as other priors: their boundaries are drawn as broken curves. With `means` (K × 2) and
    `covariance` (2 × 2 for all or K × 2 × 2), ellipses hold a share `coverage` of each class'
    normal distribution. `note` is a line below the title. What is smaller than a cell of the grid,
    of `resolution` lines in each direction, may be missed; vertices of the curves are exact.
    Without `exact`, functions are asked at the crossings of the grid alone, and curves pass between
    them.

    Attributes: `box` (its lower and its upper corner), `grid` (`x`, `y`, `values`, and `labels`, a
    row a y: places in `rows.classes`), `curves` and `fitted_curves` (first, second, points),
    `ellipses` (points of one a class); after `plot`, `ax_` and `figure_`.
    """

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
        exact: bool = True,
    ) -> None:
        rows = read_rows(points, labels, count=2, classes=classes, names=names)
        self._read(rows, means, covariance, coverage, note)
        self.change = change
        K, fine = len(self.rows.classes), read_resolution(resolution)
        if not exact:
            functions = snapped(functions, self.box, fine)
            fitted = None if fitted is None else snapped(fitted, self.box, fine)
        self.grid = Grid(functions, self.box, K, fine)
        self.curves: list[Polyline] = self.grid.curves()
        self.fitted_curves: list[Polyline] | None = None
        if fitted is not None:
            self.fitted_curves = Grid(fitted, self.box, K, fine).curves()

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
        exact: bool = True,
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
            exact=exact,
        )
        title = f"Decision regions of {type(estimator).__name__}"
        return display.plot(ax, **({"title": title} | kw))

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        legend: bool | Literal["beside"] = True,
        max_points: int = MOST_POINTS,
        **kw: object,
    ) -> Self:
        """Draw; other keywords go to `Axes.scatter`.

        The legend stands beside the axes if they are made here, or if it is "beside".
        """
        return self._draw(ax, self._curves(), title, legend, max_points, kw)

    def _draw_regions(self, ax: Axes) -> None:
        x, y = self.grid.x, self.grid.y
        for k in np.unique(self.grid.labels):
            lead = self.grid.leads(int(k))
            style: Style = {"colors": [color(int(k))], "alpha": 0.13, "zorder": 0.5}
            if lead.min() >= 0:  # a class that is everywhere has no contour
                ax.axvspan(*self.box[:, 0], color=color(k), alpha=0.13, linewidth=0)
            else:
                ax.contourf(x, y, lead, levels=[0, np.inf], **style)

    def _curves(self) -> list[LineCollection]:
        """Solid boundaries, and broken ones of the fit before the change."""
        solid = [curve.points for curve in self.curves]
        if self.fitted_curves is None:
            return [_solid(solid, "boundary")]
        broken = [curve.points for curve in self.fitted_curves]
        return [
            _solid(solid, f"boundary with {self.change}"),
            _broken(broken, "boundary of the fit", 1.4, 3),
        ]


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


# --- Decision regions of linear functions in the plane, with boundaries and class contours -------


class Segment(NamedTuple):
    """A piece of the boundary between two classes (places in `classes`), by its two ends."""

    first: int
    second: int
    ends: Float


class RegionsDisplay(_ClassesInPlane):
    """Regions in which each of K linear functions of two attributes is the largest.

    `coef` (K × 2) and `intercept` (K) are the functions. Broken lines are the boundaries of each
    pair of classes, solid lines the parts of them where both are the largest; both are exact: lines
    cut by half-planes. With `means` (K × 2) and `covariance` (2 × 2 for all or K × 2 × 2), ellipses
    hold a share `coverage` of each class' normal distribution. `note` is a line below the title.

    Attributes: `box` (its lower and its upper corner), `pairwise`, `joint` (segments: first,
    second, ends), `regions` (corners of a polygon a class), `ellipses` (points of one a class);
    after `plot`, `ax_` and `figure_`.
    """

    def __init__(
        self,
        points: TableLike,
        labels: LabelsLike,
        coef: ArrayLike,
        intercept: ArrayLike,
        *,
        means: ArrayLike | None = None,
        covariance: ArrayLike | None = None,
        coverage: float = 0.95,
        classes: ArrayLike | None = None,
        names: Sequence[object] | None = None,
        note: str = "",
    ) -> None:
        rows = read_rows(points, labels, count=2, classes=classes, names=names)
        K = len(rows.classes)
        self.coef = shaped(coef, (K, 2), "coef")
        self.intercept = shaped(intercept, (K,), "intercept")
        self._read(rows, means, covariance, coverage, note)
        # a class that the fit gave no weight has no function
        whole = np.isfinite(self.intercept) & np.isfinite(self.coef).all(axis=1)
        self._deciding = np.flatnonzero(whole).tolist()
        self.pairwise = self._find_segments(joint=False)
        self.joint = self._find_segments(joint=True)
        self.regions = [self._find_region(k) for k in range(K)]

    @classmethod
    def from_estimator(
        cls,
        estimator: Classifier,
        X: TableLike,
        y: LabelsLike,
        *,
        features: Features = None,
        at: HeldAt = None,
        coverage: float = 0.95,
        ax: Axes | None = None,
        **kw: Any,
    ) -> Self:
        """Draw the regions of a fitted estimator over two attributes, and rows of X.

        `features` are two columns of numbers by name or position (default: the first two). All
        other terms stay at their overall mean, or at what `at` says of them: numbers by name, or a
        value of a category. Points are drawn by the two attributes alone, whatever else they hold.
        """
        _refuse_costs(estimator)
        _refuse_curves(estimator)
        rows, terms = fitted_rows(estimator, X, y, features, 2)
        coef, intercept = fitted_functions(estimator)
        values = fixed_terms(estimator, rows, terms, at)
        rest = [j for j in range(len(values)) if j not in terms]
        note = _say_fixed(list(map(str, attribute(estimator, "terms_"))), values, rest, at or {})
        display = cls(
            rows.points,
            rows.labels,
            coef[:, terms],
            intercept + coef[:, rest] @ values[rest],
            **marginals(estimator, terms),
            coverage=coverage,
            classes=rows.classes,
            names=rows.names,
            note=note,
        )
        title = f"Decision regions of {type(estimator).__name__}"
        return display.plot(ax, **({"title": title} | kw))

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        pairwise: bool = True,
        legend: bool | Literal["beside"] = True,
        max_points: int = MOST_POINTS,
        **kw: object,
    ) -> Self:
        """Draw; without `pairwise`, no broken lines. Other keywords go to `Axes.scatter`."""
        return self._draw(ax, self._lines(pairwise=pairwise), title, legend, max_points, kw)

    def _find_segments(self, *, joint: bool) -> list[Segment]:
        """Boundaries of pairs; jointly, only where no third function is above the two."""
        near, sides = self.box.mean(axis=0), box_sides(self.box)
        found = []
        for k, m in combinations(self._deciding, 2):
            others = [j for j in self._deciding if j not in (k, m)] if joint else []
            cuts = [*sides, *wins(self.coef, self.intercept, k, others)]
            ((normal, offset),) = wins(self.coef, self.intercept, k, [m])
            ends = cut_line(normal, offset, near, cuts)
            if ends is not None:
                found.append(Segment(k, m, ends))
        return found

    def _find_region(self, k: int) -> Float:
        if k not in self._deciding:
            return np.empty((0, 2))
        others = [m for m in self._deciding if m != k]
        return cut_polygon(box_corners(self.box), wins(self.coef, self.intercept, k, others))

    def _draw_regions(self, ax: Axes) -> None:
        for k, corners in enumerate(self.regions):
            if len(corners) > 2:
                ax.add_patch(Polygon(corners, facecolor=color(k), alpha=0.13, edgecolor="none"))

    def _lines(self, *, pairwise: bool) -> list[LineCollection]:
        """Solid and broken boundaries."""
        solid, broken = ([s.ends for s in pieces] for pieces in (self.joint, self.pairwise))
        if len(self.rows.classes) <= 2:
            return [_solid(solid, "boundary")]
        lines = [_solid(solid, "boundary of all classes")]
        return [*lines, _broken(broken, "boundary of a pair", 1.0, 4)] if pairwise else lines


def _refuse_costs(estimator: object) -> None:
    if getattr(estimator, "costs", None) is not None:
        raise ParameterError(
            "This estimator decides by costs, and RegionsDisplay shows which function is largest: "
            "its regions would not be the decisions. Show it by DecisionsDisplay, or without costs "
            "(costs=None)."
        )


def _refuse_curves(estimator: object) -> None:
    if hasattr(estimator, "covariances_") and not hasattr(estimator, "coef_"):
        raise ParameterError(
            f"The functions of this {type(estimator).__name__} are not linear, and RegionsDisplay "
            "shows straight boundaries: show it by DecisionsDisplay."
        )


def _say_fixed(names: list[str], values: Float, rest: list[int], at: Mapping[str, object]) -> str:
    """What is held fixed: first what was asked for."""
    asked = [equation_text(name, value) for name, value in at.items()]
    means = [
        equation_text(names[j], float(values[j]))
        for j in rest
        if not any(names[j] == str(name) or names[j].startswith(f"{name}=") for name in at)
    ]
    return fixed_text(asked + means)
