"""Rows projected onto one direction of feature space, class by class (Zaki & Meira, Fig. 20.3b)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, cast

import numpy as np
from matplotlib.lines import Line2D

from sortal.views.axes import open_axes
from sortal.views.canonical_strip import spread
from sortal.views.densities import one_a_class, read_along
from sortal.views.kernel_fitted import projected
from sortal.views.lettering import (
    class_entries,
    name_axes,
    number_text,
    shown,
    write_legend,
    write_title,
)
from sortal.views.palette import BLACK, Style, marker, point_style
from sortal.views.planes import criterion
from sortal.views.projection import MOST_POINTS
from sortal.views.rows import class_means, read_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    Float = NDArray[np.float64]

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
        labels: Any,
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
        self.means = found if means is None else one_a_class(means, K, "means")
        within = (self.along - found[codes]) ** 2
        own = np.bincount(codes, within, minlength=K)
        self.scatters = own if scatters is None else one_a_class(scatters, K, "scatters")
        self.threshold = None if threshold is None else float(threshold)
        self.J = self._criterion()

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
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
        handles.append(Line2D([], [], markersize=8, label="projected class mean", **_mean_style(0)))
        if self.threshold is not None:
            line = ax.axvline(self.threshold, color=BLACK, linestyle="--", linewidth=1.4)
            line.set_label(f"separating point {number_text(self.threshold)}")
            handles.append(line)
        self._write(ax, title, len(drawn))
        if legend:
            entries = [str(handle.get_label()) for handle in handles]
            write_legend(ax, handles, entries, outside=own or legend == "beside")
        return self

    def _draw_class(self, ax: Axes, k: int, drawn: NDArray[np.intp], kw: Style) -> Any:
        """The points of a class in its lane, the first class on top, and its mean."""
        lane = len(self.rows.classes) - 1.0 - k
        mine = drawn[self.rows.codes[drawn] == k]
        across = lane + _POINTS * (spread(len(mine)) - 0.5)
        entry = class_entries(self.rows.classes, self.rows.counts)[k]
        style = point_style(k) | {"alpha": 0.75, "zorder": 3, "label": entry} | kw
        points = ax.scatter(self.along[mine], across, **style)
        if self._has_mean(k):
            ax.plot([self.means[k]], [lane], markersize=12, zorder=4, **_mean_style(k))
        return points

    def _has_mean(self, k: int) -> bool:
        """A class that neither the rows nor the fit have any row of has no mean to show."""
        return bool(np.isfinite(self.means[k])) and bool(
            self.rows.counts[k] or self.scatters[k] or self.means[k]
        )

    def _criterion(self) -> float:
        if len(self.means) != 2:
            return criterion(self.along, self.rows.codes, len(self.means))
        apart, within = float((self.means[0] - self.means[1]) ** 2), float(self.scatters.sum())
        return apart / within if within > 0 else float("inf") if apart > 0 else float("nan")

    def _write(self, ax: Axes, title: str | None, drawn: int) -> None:
        n = len(self.along)
        part = f";  {drawn} of {n} points drawn" if drawn < n else ""
        said = "Projections onto w" if title is None else title
        write_title(ax, said, f"J(w) = {number_text(self.J)}{part}")
        name_axes(ax, shown(self.rows.names[0], 40), "")
        lanes = np.arange(len(self.rows.classes), dtype=np.float64)[::-1]
        ax.set_yticks(lanes, [shown(name, 16) for name in self.rows.classes], usetex=False)
        ax.set_ylim(-0.6, len(lanes) - 0.4)


def _mean_style(k: int) -> Style:
    """White, as in the book, with the marker of the class."""
    edge = {"markeredgecolor": BLACK, "markeredgewidth": 1.5}
    return {"color": "white", "marker": marker(k), "linestyle": "none"} | edge
