"""Decision regions of linear functions in the plane, with boundaries and class contours."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, cast

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon

from sortal.errors import OptionError
from sortal.views.axes import open_axes
from sortal.views.fitted import fitted_functions, fitted_rows, fixed_terms
from sortal.views.lettering import (
    class_entries,
    equation_text,
    fixed_text,
    name_axes,
    number_text,
    shown,
    write_legend,
    write_title,
)
from sortal.views.palette import BLACK, Style, color, point_style
from sortal.views.planes import (
    box_corners,
    box_of,
    box_sides,
    cut_line,
    cut_polygon,
    ellipse,
    wins,
)
from sortal.views.projection import MOST_POINTS
from sortal.views.rows import read_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    Float = NDArray[np.float64]

# How much of the points' extent ellipses may add on each side before they are cut.
_ELLIPSE_ROOM = 0.5


class Segment(NamedTuple):
    """A piece of the boundary between two classes (places in `classes`), by its two ends."""

    first: int
    second: int
    ends: Float


class RegionsDisplay:
    """Regions in which each of K linear functions of two attributes is the largest.

    `coef` (K × 2) and `intercept` (K) are the functions. Broken lines are the boundaries of each
    pair of classes, solid lines the parts of them where both are the largest; both are exact: lines
    cut by half-planes. With `means` (K × 2) and `covariance` (2 × 2 for all or K × 2 × 2), ellipses
    hold a share `level` of each class' normal distribution. `note` is a line below the title.

    Attributes: `box` (its lower and its upper corner), `pairwise`, `joint` (segments: first,
    second, ends), `regions` (corners of a polygon a class), `ellipses` (points of one a class);
    after `plot`, `ax_` and `figure_`.
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        points: Any,
        labels: Any,
        coef: ArrayLike,
        intercept: ArrayLike,
        *,
        means: ArrayLike | None = None,
        covariance: ArrayLike | None = None,
        level: float = 0.95,
        classes: ArrayLike | None = None,
        names: Sequence[object] | None = None,
        note: str = "",
    ) -> None:
        self.rows = read_rows(points, labels, count=2, classes=classes, names=names)
        K = len(self.rows.classes)
        self.coef = _shaped(coef, (K, 2), "coef")
        self.intercept = _shaped(intercept, (K,), "intercept")
        self.level, self.note = _read_level(level), note
        self.ellipses = self._find_ellipses(means, covariance)
        self.box = self._find_box()
        # a class that the fit gave no weight has no function
        whole = np.isfinite(self.intercept) & np.isfinite(self.coef).all(axis=1)
        self._deciding = np.flatnonzero(whole).tolist()
        self.pairwise = self._find_segments(joint=False)
        self.joint = self._find_segments(joint=True)
        self.regions = [self._find_region(k) for k in range(K)]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        features: Sequence[Any] | None = None,
        at: Mapping[Any, Any] | None = None,
        level: float = 0.95,
        ax: Axes | None = None,
        **kw: Any,
    ) -> Self:
        """Draw the regions of a fitted estimator over two attributes, and rows of X.

        `features` are two columns of numbers by name or position (default: the first two). All
        other terms stay at their overall mean, or at what `at` says of them: numbers by name, or a
        value of a category. Points are drawn by the two attributes alone, whatever else they hold.
        """
        _refuse_costs(estimator)
        rows, terms = fitted_rows(estimator, X, y, features, 2)
        coef, intercept = fitted_functions(estimator)
        values = fixed_terms(estimator, rows, terms, at)
        rest = [j for j in range(len(values)) if j not in terms]
        note = _say_fixed(list(map(str, estimator.terms_)), values, rest, at or {})
        display = cls(
            rows.points,
            rows.labels,
            coef[:, terms],
            intercept + coef[:, rest] @ values[rest],
            **_gaussians(estimator, terms),
            level=level,
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
        **kw: Any,
    ) -> Self:
        """Draw; without `pairwise`, no broken lines. Other keywords go to `Axes.scatter`."""
        ax, own = open_axes(ax, (8.0, 5.4))
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        drawn = self.rows.thinned(max_points)
        self._draw_regions(ax)
        handles = self._draw_points(ax, drawn, kw)
        handles += self._draw_lines(ax, pairwise=pairwise)
        handles += self._draw_ellipses(ax)
        ax.set_xlim(*self.box[:, 0])
        ax.set_ylim(*self.box[:, 1])
        self._write(ax, title, len(drawn))
        if legend:
            entries = [str(handle.get_label()) for handle in handles]
            write_legend(ax, handles, entries, outside=own or legend == "beside")
        return self

    def _find_ellipses(self, means: ArrayLike | None, covariance: ArrayLike | None) -> list[Float]:
        if covariance is None:
            return []
        K = len(self.rows.classes)
        centers = self.rows.means if means is None else _shaped(means, (K, 2), "means")
        given = np.asarray(covariance, dtype=np.float64)
        each = np.broadcast_to(given, (K, 2, 2)) if given.shape == (2, 2) else given
        shapes = _shaped(each, (K, 2, 2), "covariance")
        pairs = zip(centers, shapes, strict=True)
        return [ellipse(center, shape, self.level) for center, shape in pairs]

    def _find_box(self) -> Float:
        """A box around points and ellipses; ellipses far beyond the points are cut."""
        points = self.rows.points
        low, high = box_of(points, margin=_ELLIPSE_ROOM)
        curves = [np.clip(curve, low, high) for curve in self.ellipses if np.isfinite(curve).all()]
        return box_of(np.vstack([points, *curves]))

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

    def _draw_points(self, ax: Axes, drawn: NDArray[np.intp], kw: Style) -> list[Any]:
        entries = class_entries(self.rows.classes, self.rows.counts)
        handles = []
        for k, entry in enumerate(entries):
            x, y = self.rows.points[drawn[self.rows.codes[drawn] == k]].T
            handles.append(ax.scatter(x, y, label=entry, **(point_style(k) | {"zorder": 3} | kw)))
        return handles

    def _draw_lines(self, ax: Axes, *, pairwise: bool) -> list[Any]:
        """Solid and broken boundaries."""
        solid: Style = {"colors": BLACK, "linewidths": 1.8, "zorder": 2.4}
        broken: Style = {"colors": "0.25", "linewidths": 1.0, "zorder": 2.2}
        many = len(self.rows.classes) > 2
        told = "boundary of all classes" if many else "boundary"
        handles = [LineCollection([s.ends for s in self.joint], label=told, **solid)]
        if pairwise and many:
            ends = [s.ends for s in self.pairwise]
            broken |= {"linestyles": [(0, (5, 4))], "label": "boundary of a pair"}
            handles.append(LineCollection(ends, **broken))
        for lines in handles:
            ax.add_collection(lines)
        return handles

    def _draw_ellipses(self, ax: Axes) -> list[Any]:
        """Contours of the classes, of which the legend tells once."""
        for k, curve in enumerate(self.ellipses):
            ax.plot(curve[:, 0], curve[:, 1], color=color(k), linewidth=1.6, zorder=2.3)
        share = f"{number_text(100 * self.level)} % of a class"
        one = Line2D([], [], color="0.4", linewidth=1.6, label=share)
        return [one] if self.ellipses else []

    def _write(self, ax: Axes, title: str | None, drawn: int) -> None:
        n = len(self.rows.points)
        part = [f"{drawn} of {n} points drawn"] if drawn < n else []
        notes = ";  ".join([*([self.note] if self.note else []), *part])
        write_title(ax, "Decision regions" if title is None else title, notes)
        name_axes(ax, shown(self.rows.names[0]), shown(self.rows.names[1]))


def _shaped(given: ArrayLike, shape: tuple[int, ...], name: str) -> Float:
    array = np.asarray(given, dtype=np.float64)
    if array.shape != shape:
        raise OptionError(
            f"{name} has the shape {array.shape}, and with {shape[0]} classes and two attributes "
            f"it needs {shape}."
        )
    return array


def _read_level(level: float) -> float:
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise OptionError(f"level={level!r} is no share: give a number between 0 and 1.")
    return float(level)


def _refuse_costs(estimator: Any) -> None:
    if getattr(estimator, "costs", None) is not None:
        raise OptionError(
            "This estimator decides by costs, and RegionsDisplay shows which function is largest: "
            "its regions would not be the decisions. Show it without costs (costs=None)."
        )


def _gaussians(estimator: Any, terms: list[int]) -> dict[str, Float]:
    """Means and covariance in the two attributes, of an estimator that takes classes as normal."""
    if not hasattr(estimator, "covariance_"):
        return {}
    covariance = np.asarray(estimator.covariance_)[np.ix_(terms, terms)]
    return {"means": np.asarray(estimator.means_)[:, terms], "covariance": covariance}


def _say_fixed(names: list[str], values: Float, rest: list[int], at: Mapping[Any, Any]) -> str:
    """What is held fixed: first what was asked for."""
    asked = [equation_text(name, value) for name, value in at.items()]
    means = [
        equation_text(names[j], float(values[j]))
        for j in rest
        if not any(names[j] == str(name) or names[j].startswith(f"{name}=") for name in at)
    ]
    return fixed_text(asked + means)
