"""Points of classes in the plane: how they are drawn, and the words around them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D

from sortal.views.lettering import class_entries, name_axes, shown, write_title
from sortal.views.palette import BLACK, Style, marker, point_style

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from sortal.views.rows import Rows


def draw_points(ax: Axes, rows: Rows, drawn: NDArray[np.intp], kw: Style) -> list[Any]:
    """The rows that are drawn, class by class; the legend counts all."""
    handles = []
    for k, entry in enumerate(class_entries(rows.classes, rows.counts)):
        x, y = rows.points[drawn[rows.codes[drawn] == k]].T
        handles.append(ax.scatter(x, y, label=entry, **(point_style(k) | {"zorder": 3} | kw)))
    return handles


def draw_centroids(ax: Axes, centroids: NDArray[np.float64]) -> None:
    """The mean of each class, black with its marker."""
    for k, (x, y) in enumerate(centroids):
        ax.plot([x], [y], markersize=10, zorder=4, **centroid_style(k))


def centroid_handle() -> Line2D:
    """What the legend tells of all centroids."""
    return Line2D([], [], markersize=8, label="class centroid", **centroid_style(0))


def centroid_style(k: int) -> Style:
    """Black, with the marker of the class."""
    return {"color": BLACK, "marker": marker(k), "markeredgecolor": "white", "linestyle": "none"}


def write_plane(ax: Axes, rows: Rows, title: str, note: str, drawn: NDArray[np.intp]) -> None:
    """Title, notes below it, and names of both axes."""
    n = len(rows.points)
    part = [f"{len(drawn)} of {n} points drawn"] if len(drawn) < n else []
    write_title(ax, title, ";  ".join([*([note] if note else []), *part]))
    name_axes(ax, shown(rows.names[0]), shown(rows.names[1]))
