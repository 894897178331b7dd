"""Projections of rows, and the feature space of a kernel (Zaki & Meira, Figure 20.4)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np
from matplotlib.lines import Line2D

from sortal.discriminants.displays.canonical import spread
from sortal.errors import ParameterError, counted, listed
from sortal.plotting.axes import (
    BLACK,
    Style,
    class_entries,
    color,
    marker,
    name_axes,
    open_axes,
    point_style,
    short_number,
    shown,
    vector_text,
    write_legend,
    write_title,
)
from sortal.plotting.densities import (
    numbers_per_class,
    projected,
    projection_of,
    read_along,
    unit_vector,
)
from sortal.plotting.plane import Plane, criterion
from sortal.plotting.rows import MOST_POINTS, attribute, class_means, read_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike

    from sortal._typing import Float, LabelsLike, Places, TableLike
    from sortal.plotting.rows import Classifier


# How far the line goes beyond the outermost feet, as a share of their distance.
_BEYOND = 0.08

# It is looked at from so many degrees above, at right angles to w, and from about this side.
_ELEVATION, _AZIMUTH = 20.0, -60.0

_ZOOM = 1.12


class FeatureSpaceDisplay:
    """Rows x = (x₁, x₂) at φ(x) = γ(√2x₁x₂, x₁², x₂²), and their feet on the line along w.

    γ(√2x₁x₂, x₁², x₂²) is where the kernel (γxᵀz)² puts a row: φ(x)ᵀφ(z) is the kernel. `points`
    has two columns, `labels` the class of each row, `w` three numbers, scaled to length one.

    Attributes: `phi` (a row a point), `w`, `along` (wᵀφ(x), the distance of a foot from the
    origin), `feet`, `mean_feet` (a row a class), `J`; after `plot`, `ax_` (of three dimensions)
    and `figure_`.
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        points: TableLike,
        labels: LabelsLike,
        w: ArrayLike,
        *,
        gamma: float = 1.0,
        classes: ArrayLike | None = None,
        names: Sequence[object] | None = None,
    ) -> None:
        self.rows = read_rows(points, labels, count=2, classes=classes, names=names)
        self.w, self.gamma = unit_vector(w, 3), float(gamma)
        self.phi = feature_points(self.rows.points, self.gamma)
        self.along: Float = self.phi @ self.w
        K = len(self.rows.classes)
        self.feet: Float = np.outer(self.along, self.w)
        self.mean_feet: Float = np.outer(class_means(self.along, self.rows.codes, K), self.w)
        self.J = criterion(self.along, self.rows.codes, K)

    @classmethod
    def from_estimator(
        cls,
        estimator: Classifier,
        X: TableLike,
        y: LabelsLike,
        *,
        component: int = 0,
        ax: Axes | None = None,
        **kw: Any,
    ) -> Self:
        """Draw rows of X and a direction of a KernelDiscriminant, counted from 0.

        Its kernel must be "poly" with degree 2 and coef0 0, of two columns of numbers that are not
        scaled: no other feature space has these three axes.
        """
        project = projection_of(estimator, component)
        _refuse_other_spaces(estimator)
        plane = Plane(estimator, X, y, None, None)
        order = np.argsort(np.array(plane.terms))  # the axes are in the order of the fit
        gamma = float(attribute(estimator, "kernel_").gamma)
        size = np.abs(plane.rows.points).max(axis=0)
        size = np.where(size > 0, size, 1.0)
        probes = np.array([(1.0, 0.0), (0.0, 1.0), (1.0, 1.0)]) * size
        # the projection is wᵀφ(x), linear in φ: three rows tell its three coefficients
        w = np.linalg.solve(feature_points(probes, gamma), project(plane.table(probes)))
        w = w if order[0] == 0 else w[[0, 2, 1]]
        display = cls(
            plane.rows.points[:, order],
            plane.rows.labels,
            w,
            gamma=gamma,
            classes=plane.rows.classes,
            names=[plane.rows.names[j] for j in order],
        )
        return display.plot(ax, **kw)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        legend: bool = True,
        max_points: int = MOST_POINTS,
        **kw: Any,
    ) -> Self:
        """Draw on axes of three dimensions; other keywords go to `Axes3D.scatter`."""
        if ax is not None and getattr(ax, "name", "") != "3d":
            raise ParameterError(
                "ax has two dimensions, and this picture needs three: give axes made with "
                "projection='3d', or none."
            )
        ax, _ = open_axes(ax, (8.0, 5.8), projection="3d")
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        drawn = self.rows.thinned(max_points)
        space: Any = ax  # matplotlib's types know axes of two dimensions
        self._draw_line(space)
        handles = [self._draw_class(space, k, drawn, kw) for k in range(len(self.rows.classes))]
        # feet are seen to be perpendicular only with one unit on all axes
        limits = space.get_xlim(), space.get_ylim(), space.get_zlim()
        space.set_box_aspect([high - low for low, high in limits], zoom=_ZOOM)
        space.view_init(_ELEVATION, _side_view(self.w))
        self._write(space, title, len(drawn))
        if legend:
            self._write_legend(ax, handles)
        return self

    def _draw_line(self, ax: Any) -> None:
        """The line along w through the origin, a little longer than the feet need, and its end."""
        low, high = min(self.along.min(), 0.0), max(self.along.max(), 0.0)
        reach = high - low or 1.0
        ends = np.outer((low - _BEYOND * reach, high + _BEYOND * reach), self.w)
        (self.line_,) = ax.plot(*ends.T, color=BLACK, linewidth=1.3, zorder=5)
        ax.text(*ends[1], " w", fontstyle="italic", usetex=False)

    def _draw_class(self, ax: Any, k: int, drawn: Places, kw: Style) -> Any:
        """Points, thin connectors, feet and the projected mean of a class."""
        mine = drawn[self.rows.codes[drawn] == k]
        pairs = np.full((len(mine), 3, 3), np.nan)  # a gap after each connector
        pairs[:, 0], pairs[:, 1] = self.phi[mine], self.feet[mine]
        ax.plot(*pairs.reshape(-1, 3).T, color=color(k), linewidth=0.5, alpha=0.3, zorder=1)
        style = point_style(k) | {"depthshade": False, "alpha": 0.8, "zorder": 2} | kw
        points = ax.scatter(*self.phi[mine].T, **style)
        small = point_style(k) | {"s": 10.0, "linewidths": 0.2, "depthshade": False, "zorder": 6}
        ax.scatter(*self.feet[mine].T, **small)
        ax.plot(*self.mean_feet[k : k + 1].T, markersize=9, zorder=7, **_mean_style(k))
        return points

    def _write(self, ax: Any, title: str | None, drawn: int) -> None:
        said = f"Feature space, w = {vector_text(self.w)}" if title is None else title
        n = len(self.along)
        part = f";  {drawn} of {n} points drawn" if drawn < n else ""
        write_title(ax, said, f"J(w) = {short_number(self.J)}{part}")
        a, b = (shown(name, 14) for name in self.rows.names)
        times = "" if self.gamma == 1 else f"{short_number(self.gamma)} · "
        ax.set_xlabel(f"{times}√2 · {a} · {b}", usetex=False, labelpad=8)
        ax.set_ylabel(f"{times}{a}²", usetex=False, labelpad=12)
        ax.set_zlabel(f"{times}{b}²", usetex=False, labelpad=2)

    def _write_legend(self, ax: Axes, points: list[Any]) -> None:
        labels = class_entries(self.rows.classes, self.rows.counts)
        foot = Line2D([], [], color="0.4", linewidth=0.8, marker="o", markersize=3)
        mean = Line2D([], [], markersize=7, **_mean_style(0))
        handles, told = [*points, foot, mean], [*labels, "foot on the line", "projected class mean"]
        # a corner that the box of a side view leaves free
        write_legend(ax, handles, told, outside=False, loc="upper left")


def feature_points(points: Float, gamma: float) -> Float:
    """φ(x) = γ(√2x₁x₂, x₁², x₂²), whose inner products are (γxᵀz)²."""
    x1, x2 = points.T
    return gamma * np.column_stack([math.sqrt(2) * x1 * x2, x1 * x1, x2 * x2])


def _side_view(w: Float) -> float:
    """The azimuth, in degrees, from which w is seen at right angles, or as nearly so as can be."""
    turned = math.degrees(math.atan2(w[1], w[0]))
    flat = float(np.hypot(w[0], w[1]))
    steep = w[2] * math.tan(math.radians(_ELEVATION))
    beside = math.degrees(math.acos(np.clip(-steep / flat, -1, 1))) if flat > 0 else 0.0
    sides = [(turned + sign * beside + 180) % 360 - 180 for sign in (1, -1)]
    return min(sides, key=lambda side: abs((side - _AZIMUTH + 180) % 360 - 180))


def _refuse_other_spaces(estimator: Classifier) -> None:
    kernel, terms = attribute(estimator, "kernel_"), list(attribute(estimator, "terms_"))
    remedy = "Draw KernelContoursDisplay or KernelProjectionDisplay, which any kernel has."
    if (kernel.name, kernel.degree, kernel.coef0) != ("poly", 2, 0.0):
        what = f"the kernel {kernel.name!r}"
        if kernel.name == "poly":
            what += f" with degree {kernel.degree} and coef0 {short_number(kernel.coef0)}"
        raise ParameterError(
            f"The feature space of {what} is not drawn: only that of 'poly' with degree 2 and "
            f"coef0 0 has three axes. {remedy}"
        )
    if len(terms) != 2:
        raise ParameterError(
            f"This {type(estimator).__name__} has {counted(len(terms), 'term')} ({listed(terms)}), "
            "and the picture shows two columns of numbers, whose squares and product are its axes. "
            f"{remedy}"
        )
    if (scale := getattr(estimator, "scale", None)) not in ("auto", None):
        raise ParameterError(
            f"scale={scale!r}: the axes of the picture are columns as they are. Fit with "
            "scale=None."
        )


def _mean_style(k: int, fill: str = BLACK, edge: str = "white", width: float = 1.0) -> Style:
    return {
        "color": fill,
        "marker": marker(k),
        "linestyle": "none",
        "markeredgecolor": edge,
        "markeredgewidth": width,
    }


# Rows projected onto one direction of feature space, class by class (Zaki & Meira, Fig. 20.3b).

# A class has a lane of height 1, its points this share of it.
_POINTS = 0.6


class KernelProjectionDisplay:
    """Projections wᵀφ(x) of rows on one axis, a lane a class, with the projected class means.

    `along` has a projection a row, `labels` the class of each. Means and scatters are calculated
    from the projections where they are not given. `threshold` is the separating point, or None.
    Where rows lie across a lane says nothing: it keeps them apart.

    Attributes: `along`, `means`, `scatters`, `threshold`, `J`: (m₁ − m₂)² / (s₁² + s₂²), and with
    more classes the scatter between them over the scatter within; after `plot`, `ax_` and
    `figure_`.
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        along: ArrayLike,
        labels: LabelsLike,
        *,
        classes: ArrayLike | None = None,
        means: ArrayLike | None = None,
        scatters: ArrayLike | None = None,
        threshold: float | None = None,
        name: str = "wᵀφ(x)",
    ) -> None:
        self.rows = read_rows(read_along(along), labels, classes=classes, names=(name,))
        self.along: Float = self.rows.points[:, 0]
        codes, K = self.rows.codes, len(self.rows.classes)
        found = class_means(self.along, codes, K)
        self.means = found if means is None else numbers_per_class(means, K, "means")
        within = (self.along - found[codes]) ** 2
        own = np.bincount(codes, within, minlength=K)
        self.scatters = own if scatters is None else numbers_per_class(scatters, K, "scatters")
        self.threshold = None if threshold is None else float(threshold)
        self.J = self._criterion()

    @classmethod
    def from_estimator(
        cls,
        estimator: Classifier,
        X: TableLike,
        y: LabelsLike,
        *,
        component: int = 0,
        ax: Axes | None = None,
        **kw: Any,
    ) -> Self:
        """Draw rows of X along a direction of a fitted KernelDiscriminant, counted from 0.

        Means and scatters are those of the fit. The separating point is where its two classes are
        equally probable, if there is no other direction and no costs.
        """
        return cls(**projected(estimator, X, y, component)).plot(ax, **kw)

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
        K = len(self.rows.classes)
        ax, own = open_axes(ax, (8.0, 1.8 + 0.55 * min(K, 16)))
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        drawn = self.rows.thinned(max_points)
        handles = [self._draw_class(ax, k, drawn, kw) for k in range(K)]
        handles.append(
            Line2D([], [], markersize=8, label="projected class mean", **_projected_mean_style(0))
        )
        if self.threshold is not None:
            line = ax.axvline(self.threshold, color=BLACK, linestyle="--", linewidth=1.4)
            line.set_label(f"separating point {short_number(self.threshold)}")
            handles.append(line)
        self._write(ax, title, len(drawn))
        if legend:
            entries = [str(handle.get_label()) for handle in handles]
            write_legend(ax, handles, entries, outside=own or legend == "beside")
        return self

    def _draw_class(self, ax: Axes, k: int, drawn: Places, kw: Style) -> Artist:
        """The points of a class in its lane, the first class on top, and its mean."""
        lane = len(self.rows.classes) - 1.0 - k
        mine = drawn[self.rows.codes[drawn] == k]
        across = lane + _POINTS * (spread(len(mine)) - 0.5)
        entry = class_entries(self.rows.classes, self.rows.counts)[k]
        style = point_style(k) | {"alpha": 0.75, "zorder": 3, "label": entry} | kw
        points = ax.scatter(self.along[mine], across, **style)
        # a class that neither the rows nor the fit have any row of has no mean to show
        there = self.rows.counts[k] or self.scatters[k] or self.means[k]
        if np.isfinite(self.means[k]) and there:
            ax.plot([self.means[k]], [lane], markersize=12, zorder=4, **_projected_mean_style(k))
        return points

    def _criterion(self) -> float:
        if len(self.means) != 2:
            return criterion(self.along, self.rows.codes, len(self.means))
        apart, within = float((self.means[0] - self.means[1]) ** 2), float(self.scatters.sum())
        return apart / within if within > 0 else float("inf") if apart > 0 else float("nan")

    def _write(self, ax: Axes, title: str | None, drawn: int) -> None:
        n = len(self.along)
        part = f";  {drawn} of {n} points drawn" if drawn < n else ""
        said = "Projections onto w" if title is None else title
        write_title(ax, said, f"J(w) = {short_number(self.J)}{part}")
        name_axes(ax, shown(self.rows.names[0], 40), "")
        lanes = np.arange(len(self.rows.classes), dtype=np.float64)[::-1]
        ax.set_yticks(lanes, [shown(name, 16) for name in self.rows.classes], usetex=False)
        ax.set_ylim(-0.6, len(lanes) - 0.4)


def _projected_mean_style(k: int) -> Style:
    """White, as in the book, with the marker of the class."""
    return _mean_style(k, "white", BLACK, 1.5)
