"""Directions in the plane: rows projected on one, and three directions side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias, cast

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.legend_handler import HandlerTuple
from matplotlib.lines import Line2D

from sortal.errors import InputError, ParameterError
from sortal.plotting.axes import (
    BLACK,
    Style,
    class_entries,
    color,
    marker,
    name_axes,
    open_axes,
    open_grid,
    point_style,
    short_number,
    shown,
    vector_text,
    write_legend,
    write_title,
)
from sortal.plotting.densities import (
    DensitiesDisplay,
    all_terms_shown,
    criterion_of,
    fitted_direction,
    in_terms,
    unit_vector,
)
from sortal.plotting.plane import box_of, criterion, feet_on_line
from sortal.plotting.rows import (
    MOST_POINTS,
    PlotRows,
    attribute,
    fitted_rows,
    read_rows,
    refuse_other_than_two,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import Float, LabelsLike, Places, TableLike
    from sortal.plotting.rows import Classifier

    AxesLike: TypeAlias = Sequence[Axes] | NDArray[np.object_]


# --- Points, a direction, and where the points fall on it (Zaki & Meira, Figures 20.1 and 20.2) --

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
        points: TableLike,
        labels: LabelsLike,
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
        estimator: Classifier,
        X: TableLike,
        y: LabelsLike,
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
        whole = len(terms) == len(attribute(estimator, "terms_"))
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

    def _draw_points(self, ax: Axes, drawn: Places, kw: Style) -> list[Any]:
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
        write_title(ax, said, f"J(w) = {short_number(self.J)}{part}")
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


CAPTIONS = ("First principal component", "Line of centroids", "Fisher direction")


class DirectionsDisplay:
    """First principal component, line of centroids and Fisher direction of two classes, with J.

    With two attributes each panel shows points and their feet, and below it the classes along the
    direction; with more attributes, the classes along the direction only. The Fisher direction is
    calculated from the points where it is not given. All are oriented so that the first class lies
    above the last.

    Attributes: `directions` (a column a panel), `J` (a number a panel); after `plot`, `ax_` (an
    array of axes) and `figure_`.
    """

    ax_: NDArray[Any]
    figure_: Figure

    def __init__(
        self,
        points: TableLike,
        labels: LabelsLike,
        *,
        fisher: ArrayLike | None = None,
        J: Sequence[float | None] | None = None,
        classes: ArrayLike | None = None,
        names: Sequence[object] | None = None,
    ) -> None:
        self.rows = read_rows(points, labels, classes=classes, names=names)
        refuse_other_than_two(self.rows.classes, "DirectionsDisplay")
        _refuse_empty_class(self.rows)
        given = None if fisher is None else unit_vector(fisher, len(self.rows.names), "fisher")
        self.directions = _three_directions(self.rows, given)
        self.J = tuple(
            criterion(self.rows.points @ w, self.rows.codes, 2) if known is None else float(known)
            for w, known in zip(self.directions.T, J or (None, None, None), strict=True)
        )

    @classmethod
    def from_estimator(
        cls,
        estimator: Classifier,
        X: TableLike,
        y: LabelsLike,
        *,
        features: Sequence[Any] | None = None,
        ax: AxesLike | None = None,
        **kw: Any,
    ) -> Self:
        """Draw rows of X; the Fisher direction and each J are the estimator's.

        The attributes are all columns the estimator was fitted with; they must be numbers.
        """
        rows, terms = fitted_rows(estimator, X, y, features, None)
        remedy = "Show all of them (features=None), or fit with the columns shown only."
        all_terms_shown(estimator, rows, terms, remedy)
        refuse_other_than_two(rows.classes, "DirectionsDisplay")
        display = cls(
            rows.points,
            rows.labels,
            fisher=fitted_direction(estimator, 0)[terms],
            classes=rows.classes,
            names=rows.names,
        )
        judged = [criterion_of(estimator, in_terms(w, terms)) for w in display.directions.T]
        display.J = tuple(
            old if new is None else new for old, new in zip(display.J, judged, strict=True)
        )
        return display.plot(ax, **kw)

    def plot(self, ax: AxesLike | None = None, **kw: Any) -> Self:
        """Draw on three axes, or six (three above three) with two attributes.

        Other keywords go to `Axes.scatter` for the points, or to `Axes.hist` without them.
        """
        flat = len(self.rows.names) == 2
        self.ax_ = _new_axes(2 if flat else 1) if ax is None else _given_axes(ax, flat)
        self.figure_ = self.ax_.flat[0].figure
        # beside the last panel where the figure is ours, else within the first
        legends = [ax is not None, False, "beside" if ax is None else False]
        for i, legend in enumerate(legends):
            draw = self._draw_points if flat else self._draw_classes
            draw(i, self.ax_[0, i], {"legend": legend} | kw)
            if len(self.ax_) == 2:
                self._draw_classes(i, self.ax_[1, i], {"legend": False})
        if flat:
            _share_limits(self.ax_[0], self.rows.points)
        if ax is None:  # the ticks are known only when both axes have one unit
            self.figure_.draw_without_rendering()
        return self

    def _draw_points(self, i: int, ax: Axes, kw: Style) -> None:
        display = ProjectionDisplay(
            self.rows.points,
            self.rows.labels,
            self.directions[:, i],
            classes=self.rows.classes,
            names=self.rows.names,
            J=self.J[i],
        )
        said: Style = {"title": CAPTIONS[i]}
        display.plot(ax, **(said | kw))

    def _draw_classes(self, i: int, ax: Axes, kw: Style) -> None:
        along = self.rows.points @ self.directions[:, i]
        display = DensitiesDisplay(along, self.rows.labels, classes=self.rows.classes, J=self.J[i])
        cut = f"separating point {short_number(display.threshold or 0.0)}"
        above = "" if len(self.ax_) == 2 else f"{CAPTIONS[i]}\nJ(w) = {short_number(self.J[i])}, "
        said: Style = {"title": above + cut}
        display.plot(ax, **(said | kw))


def _new_axes(n_rows: int) -> NDArray[Any]:
    return open_grid((13.5, 3.7 * n_rows), n_rows, 3, height_ratios=(1.3, 1.0)[:n_rows])


def _share_limits(axes: NDArray[Any], points: Float) -> None:
    """The same points at the same places in every panel, so that only the lines differ."""
    lines = [line.get_xydata() for ax in axes for line in ax.lines]
    box = box_of(np.vstack([*lines, points]), margin=0.02)
    for ax in axes:
        ax.update_datalim(box)
        ax.autoscale_view()


def _given_axes(ax: AxesLike, flat: bool) -> NDArray[Any]:
    axes = np.asarray(ax, dtype=object)
    if axes.size != 3 and not (flat and axes.size == 6):
        allowed = "three axes, or six in two rows of three" if flat else "three axes"
        raise ParameterError(
            f"ax has {axes.size} axes, and there are three directions: give {allowed}."
        )
    return axes.reshape(-1, 3)


def _refuse_empty_class(rows: PlotRows) -> None:
    if (rows.counts == 0).any():
        absent = rows.classes[int((rows.counts == 0).argmax())]
        raise InputError(
            f"No row of class {absent!r} was given: directions between two classes need rows of "
            "both."
        )


def _three_directions(rows: PlotRows, fisher: Float | None) -> Float:
    """First principal component, difference of means, Fisher's; a column each."""
    difference = rows.means[0] - rows.means[1]
    if not difference.any():
        raise InputError(
            "The two classes have the same mean: there is no line of centroids, and no direction "
            "tells their means apart. Choose other attributes."
        )
    centered = rows.points - rows.points.mean(axis=0)
    principal = np.linalg.svd(centered, full_matrices=False)[2][0]
    best = _separating(rows, difference) if fisher is None else fisher
    columns = np.array([principal, difference, best])
    columns /= np.linalg.norm(columns, axis=1, keepdims=True)
    above = columns @ difference
    return np.asarray((columns * np.where(above < 0, -1.0, 1.0)[:, None]).T)


def _separating(rows: PlotRows, difference: Float) -> Float:
    """The direction of largest J.

    It solves S w = μ₁ − μ₂. With the scatter of all points in place of S its direction is the same,
    and it is right also where classes do not vary along it.
    """
    centered = rows.points - rows.points.mean(axis=0)
    return np.asarray(np.linalg.lstsq(centered.T @ centered, difference)[0])
