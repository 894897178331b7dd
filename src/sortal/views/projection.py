"""Points, a direction, and where the points fall on it (Zaki & Meira, Figures 20.1 and 20.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D

from sortal.views.axes import open_axes
from sortal.views.fitted import (
    all_terms_shown,
    criterion_of,
    fitted_direction,
    fitted_rows,
    in_terms,
)
from sortal.views.lettering import (
    class_entries,
    name_axes,
    number_text,
    shown,
    vector_text,
    write_legend,
    write_title,
)
from sortal.views.palette import BLACK, Style, color, marker, point_style
from sortal.views.planes import criterion, feet_on_line, unit_vector
from sortal.views.rows import read_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    Float = NDArray[np.float64]

# More points than this are a blot: every so many-th is drawn then, and the picture says so.
MOST_POINTS = 2000

# How far the line goes beyond the outermost feet, as a share of their distance.
_BEYOND = 0.06


class ProjectionDisplay:
    """Points in two attributes and their feet on the line along w through the mean of all points.

    `points` has two columns, `labels` the class of each row, `w` two numbers; w is scaled to length
    one. J is calculated from the points where it is not given: (m₁ − m₂)² / (s₁² + s₂²), and with
    more classes the scatter between them over the scatter within.

    Attributes: `center` (the mean), `feet` (a row a point), `mean_feet` (a row a class), `along`
    (coordinates wᵀx), `w`, `J`; after `plot`, `ax_` and `figure_`.
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        points: Any,
        labels: Any,
        w: ArrayLike,
        *,
        classes: ArrayLike | None = None,
        names: Sequence[object] | None = None,
        J: float | None = None,
    ) -> None:
        self.rows = read_rows(points, labels, count=2, classes=classes, names=names)
        self.w = unit_vector(w, 2)
        self.center: Float = self.rows.points.mean(axis=0)
        self.feet = feet_on_line(self.rows.points, self.center, self.w)
        self.mean_feet = feet_on_line(self.rows.means, self.center, self.w)
        self.along: Float = self.rows.points @ self.w
        found = criterion(self.along, self.rows.codes, len(self.rows.classes))
        self.J = found if J is None else float(J)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        features: Sequence[Any] | None = None,
        w: ArrayLike | None = None,
        component: int = 0,
        ax: Axes | None = None,
        **kw: Any,
    ) -> Self:
        """Draw rows of X on a direction: w, two numbers, or else a fitted one.

        `features` are two columns by name or position (default: the first two of numbers). y may
        be the name of a column of X. A fitted direction can be drawn only if it has no other terms.
        """
        rows, terms = fitted_rows(estimator, X, y, features, 2)
        if w is None:
            remedy = "Fit with these two columns only, or give w, a direction in the two."
            all_terms_shown(estimator, rows, terms, remedy)
            direction = fitted_direction(estimator, component)[terms]
        else:
            direction = unit_vector(w, 2)
        whole = len(terms) == len(estimator.terms_)
        J = criterion_of(estimator, in_terms(direction, terms)) if whole else None
        display = cls(
            rows.points, rows.labels, direction, classes=rows.classes, names=rows.names, J=J
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
        """Draw; other keywords go to `Axes.scatter` for the points.

        The legend stands beside the axes if they are made here, or if it is "beside".
        """
        ax, own = open_axes(ax, (8.0, 5.0))
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        drawn = self.rows.thinned(max_points)
        self._draw_line(ax)
        points = self._draw_points(ax, drawn, kw)
        self._draw_means(ax)
        # feet are seen to be perpendicular only if both axes have one unit
        ax.set_aspect("equal", adjustable="datalim")
        self._write(ax, title, len(drawn))
        if legend:
            self._write_legend(ax, points, outside=own or legend == "beside")
        if own:  # one unit on both axes changes the ticks, for which the layout must make room
            self.figure_.draw_without_rendering()
        return self

    def _draw_line(self, ax: Axes) -> None:
        """The line, a little longer than the feet need, with an arrow and the letter at its end."""
        t = (self.feet - self.center) @ self.w
        reach = float(np.ptp(t)) or float(np.linalg.norm(np.ptp(self.rows.points, axis=0))) or 1.0
        low, high = t.min() - _BEYOND * reach, t.max() + 2 * _BEYOND * reach
        ends = self.center + np.outer((low, high), self.w)
        (self.line_,) = ax.plot(ends[:, 0], ends[:, 1], color=BLACK, linewidth=1.2, zorder=2.5)
        arrow = {"arrowstyle": "-|>", "color": BLACK, "shrinkA": 0, "shrinkB": 0}
        before = self.center + (high - 0.01 * reach) * self.w
        ax.annotate("", tuple(ends[1]), tuple(before), arrowprops=arrow, zorder=2.6)
        ax.annotate(
            "w",
            tuple(ends[1]),
            (-9 * self.w[1] - 3 * self.w[0], 9 * self.w[0] - 3 * self.w[1]),
            textcoords="offset points",
            ha="center",
            va="center",
            fontstyle="italic",
        )

    def _draw_points(self, ax: Axes, drawn: NDArray[np.intp], kw: Style) -> list[Any]:
        """Points, thin connectors and feet, class by class."""
        handles = []
        for k in range(len(self.rows.classes)):
            mine = drawn[self.rows.codes[drawn] == k]
            points, feet = self.rows.points[mine], self.feet[mine]
            thin: Style = {"colors": color(k), "linewidths": 0.6, "alpha": 0.35, "zorder": 1.5}
            ax.add_collection(LineCollection(list(np.stack([points, feet], axis=1)), **thin))
            style = point_style(k) | {"zorder": 2, "alpha": 0.6} | kw
            handles.append(ax.scatter(points[:, 0], points[:, 1], **style))
            small = point_style(k) | {"s": 18.0, "linewidths": 0.3, "zorder": 3}
            ax.scatter(feet[:, 0], feet[:, 1], **small)
        return handles

    def _draw_means(self, ax: Axes) -> None:
        for k, (x, y) in enumerate(self.mean_feet):
            ax.plot([x], [y], markersize=10, zorder=4, **_mean_style(k))

    def _write(self, ax: Axes, title: str | None, drawn: int) -> None:
        said = f"Projection onto w = {vector_text(self.w)}" if title is None else title
        n = len(self.rows.points)
        part = f";  {drawn} of {n} points drawn" if drawn < n else ""
        write_title(ax, said, f"J(w) = {number_text(self.J)}{part}")
        name_axes(ax, shown(self.rows.names[0]), shown(self.rows.names[1]))

    def _write_legend(self, ax: Axes, points: list[Any], *, outside: bool) -> None:
        labels = class_entries(self.rows.classes, self.rows.counts)
        feet = Line2D([], [], color="0.4", linewidth=0.8, marker="o", markersize=3)
        few = range(min(len(self.rows.classes), 3))
        means = tuple(Line2D([], [], markersize=6, **_mean_style(k)) for k in few)
        write_legend(
            ax,
            [*points, feet, means],
            [*labels, "foot on the line", "projected class means"],
            outside=outside,
            handler_map={tuple: HandlerTuple(ndivide=None, pad=0.2)},
        )


def _mean_style(k: int) -> Style:
    return {"color": BLACK, "marker": marker(k), "markeredgecolor": "white", "linestyle": "none"}
