"""Classes along one canonical coordinate: a lane each, with its density and its points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D

from sortal.views.lettering import class_entries, number_text, shown
from sortal.views.palette import Style, color, point_style
from sortal.views.points import centroid_handle, draw_centroids

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from sortal.views.rows import Rows

    Float = NDArray[np.float64]

# A lane is 1 high: the density above its line, the points below.
_DENSITY, _POINTS = 0.55, (0.08, 0.36)

# Densities are drawn to this many standard deviations, beyond which they lie on the line.
_REACH = 3.5


def draw_strips(
    ax: Axes,
    rows: Rows,
    drawn: NDArray[np.intp],
    centers: Float,
    intervals: list[Float],
    level: float,
    kw: Style,
) -> list[Any]:
    """N(center, 1) of each class, the interval that holds a share of it, and its points."""
    K = len(rows.classes)
    lanes = np.arange(K, dtype=np.float64)[::-1]  # the first class on top
    handles = []
    for k, entry in enumerate(class_entries(rows.classes, rows.counts)):
        _draw_density(ax, centers[k], lanes[k], k)
        ax.plot(intervals[k], [lanes[k]] * 2, color=color(k), linewidth=3.0, zorder=2.3)
        mine = drawn[rows.codes[drawn] == k]
        y = lanes[k] - _POINTS[0] - (_POINTS[1] - _POINTS[0]) * spread(len(mine))
        style = point_style(k) | {"s": 20.0, "zorder": 3, "alpha": 0.75} | kw
        handles.append(ax.scatter(rows.points[mine, 0], y, label=entry, **style))
    draw_centroids(ax, np.column_stack([centers, lanes]))
    ax.set_yticks(lanes, [shown(name, 16) for name in rows.classes], usetex=False)
    ax.set_ylim(-0.45, K - 1 + _DENSITY + 0.1)
    share = f"{number_text(100 * level)} % of a class"
    return [*handles, centroid_handle(), Line2D([], [], color="0.4", linewidth=3.0, label=share)]


def _draw_density(ax: Axes, center: float, lane: float, k: int) -> None:
    z = np.linspace(-_REACH, _REACH, 141)
    height = lane + _DENSITY * np.exp(-0.5 * z**2)
    ax.plot(center + z, height, color=color(k), linewidth=1.6, zorder=2.2)
    ax.fill_between(center + z, lane, height, color=color(k), alpha=0.13, linewidth=0)


def spread(n: int) -> Float:
    """Heights from 0 to 1 that keep neighbors apart, the same on each run."""
    golden = (np.sqrt(5) - 1) / 2
    return np.asarray(np.arange(1, n + 1) * golden % 1)
