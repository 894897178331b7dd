"""The regions of a tree in the plane, and the hyperplanes that part them (Figure 19.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, Self, cast

import numpy as np
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.lines import Line2D

from sortal.errors import OptionError, listed
from sortal.views.axes import open_axes
from sortal.views.curves import write_at
from sortal.views.fitted import attribute
from sortal.views.lettering import (
    class_entries,
    equation_text,
    fixed_text,
    name_axes,
    shown,
    write_legend,
    write_title,
)
from sortal.views.palette import BLACK, Style, color, point_style
from sortal.views.planes import box_of
from sortal.views.projection import MOST_POINTS
from sortal.views.rows import read_rows
from sortal.views.tree_plane import Cut, Region, TreePlane

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import ArrayLike, NDArray

    Float = NDArray[np.float64]

# Up to so many regions and lines have their names written, unless it is said otherwise.
_MOST_NAMES: Final = 14

# A region that takes less of the picture's width or height has no room for its name.
_LEAST_SHARES: Final = (0.08, 0.06)

# From the root down lines become thinner, and their strokes shorter.
_STROKES: Final[tuple[Any, ...]] = ("solid", (0, (7, 3)), (0, (4, 2.5)), (0, (1.2, 1.8)))


class PartitionDisplay:
    """The regions of a tree over two attributes, its hyperplanes, and points (Figure 19.1).

    `regions` are tuples (low1, high1, low2, high2, class, name), `lines` tuples (x1, y1, x2, y2,
    node, depth) along an axis; ends may be infinite, and all is cut off at the picture's box. `z`
    are further points, drawn as white squares. `note` is a line below the title.

    Attributes: `box` (its lower and its upper corner), `regions` and `lines` as drawn; after
    `plot`, `ax_` and `figure_`.
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        points: Any,
        labels: Any,
        regions: Sequence[Sequence[Any]],
        lines: Sequence[Sequence[Any]] = (),
        *,
        z: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        names: Sequence[object] | None = None,
        note: str = "",
    ) -> None:
        self.rows = read_rows(points, labels, count=2, classes=classes, names=names)
        self.z, self.note = _read_z(z), note
        self.box = box_of(np.vstack([self.rows.points, self.z]))
        self.regions = self._clip_regions([Region(*region) for region in regions])
        self.lines = self._clip_lines([Cut(*line) for line in lines])

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        features: Sequence[Any] | None = None,
        at: Mapping[Any, Any] | None = None,
        z: ArrayLike | None = None,
        ax: Axes | None = None,
        **kw: Any,
    ) -> Self:
        """Draw the regions of a fitted tree over two attributes, and rows of X.

        `features` are two columns of numbers by name or position (default: such as the tree asks).
        If it asks others, `at` says which values these are held at. Points are drawn by the two
        attributes alone, whatever else they hold; `z` are further points in these attributes. Of
        a tree that was fitted with holes the plane shows where known values lead.
        """
        plane = TreePlane(estimator)
        places = plane.choose(X, y, features)
        regions, cuts = plane.read(at)
        rows = read_rows(X, y, features=places, classes=attribute(estimator, "classes_"))
        fixed = fixed_text([equation_text(name, v) for name, v in (at or {}).items()])
        display = cls(
            rows.points,
            rows.labels,
            regions,
            cuts,
            z=z,
            classes=rows.classes,
            names=plane.told(rows.names),
            note=";  ".join(filter(None, [fixed, plane.note()])),
        )
        title = f"Regions of {type(estimator).__name__}"
        return display.plot(ax, **({"title": title} | kw))

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        name_lines: bool | None = None,
        name_regions: bool | None = None,
        legend: bool | Literal["beside"] = True,
        max_points: int = MOST_POINTS,
        **kw: Any,
    ) -> Self:
        """Draw; names of lines and regions are written where they are few, or as asked.

        Other keywords go to `Axes.scatter` for the points.
        """
        ax, own = open_axes(ax, (8.0, 5.4))
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        drawn = self.rows.thinned(max_points)
        self._draw_regions(ax)
        handles = self._draw_points(ax, drawn, kw) + self._draw_lines(ax) + self._draw_z(ax)
        ax.set_xlim(*self.box[:, 0])
        ax.set_ylim(*self.box[:, 1])
        if len(self.regions) <= _MOST_NAMES if name_regions is None else name_regions:
            self._name_regions(ax)
        if len(self.lines) <= _MOST_NAMES if name_lines is None else name_lines:
            self._name_lines(ax)
        self._write(ax, title, len(drawn))
        if legend:
            entries = [str(handle.get_label()) for handle in handles]
            write_legend(ax, handles, entries, outside=own or legend == "beside")
        return self

    def _draw_regions(self, ax: Axes) -> None:
        for k, label in enumerate(self.rows.classes):
            boxes = [_corners(region) for region in self.regions if region.label == label]
            style: Style = {"facecolors": color(k), "alpha": 0.13, "edgecolors": "none"}
            ax.add_collection(PolyCollection(boxes, zorder=0.5, **style))

    def _draw_points(self, ax: Axes, drawn: NDArray[np.intp], kw: Style) -> list[Any]:
        handles = []
        for k, entry in enumerate(class_entries(self.rows.classes, self.rows.counts)):
            x, y = self.rows.points[drawn[self.rows.codes[drawn] == k]].T
            handles.append(ax.scatter(x, y, label=entry, **(point_style(k) | {"zorder": 2.2} | kw)))
        return handles

    def _draw_lines(self, ax: Axes) -> list[Any]:
        """One style a depth; further down, the last one again."""
        handles = []
        last = len(_STROKES) - 1
        for depth, stroke in enumerate(_STROKES):
            mine = [cut for cut in self.lines if min(cut.depth, last) == depth]
            if not mine:
                continue
            deeper = " and below" if any(cut.depth > last for cut in mine) else ""
            ends = [((cut.x1, cut.y1), (cut.x2, cut.y2)) for cut in mine]
            style: Style = {"color": BLACK, "linewidth": 2.2 - 0.4 * depth, "linestyle": stroke}
            ax.add_collection(LineCollection(ends, zorder=2.4, **style))
            handles.append(Line2D([], [], label=f"test at depth {depth}{deeper}", **style))
        return handles

    def _draw_z(self, ax: Axes) -> list[Any]:
        """White squares with the letter z."""
        if not len(self.z):
            return []
        style: Style = {"color": "white", "marker": "s", "edgecolors": BLACK, "linewidths": 1.4}
        x, y = self.z.T
        handle = ax.scatter(x, y, label="z", zorder=3.5, s=55.0, **style)
        slanted: Style = {"ha": "left", "va": "center", "fontstyle": "italic"}
        for point in self.z.tolist():
            write_at(ax, "z", tuple(point), (8, 0), slanted)
        return [handle]

    def _name_regions(self, ax: Axes) -> None:
        """In the lower left corner of each region that has room for it."""
        least = (self.box[1] - self.box[0]) * _LEAST_SHARES
        for region in self.regions:
            low, _, high, _ = _corners(region)
            if ((high - low) > least).all():
                corner: Style = {"ha": "left", "va": "bottom", "color": "0.35", "zorder": 2}
                write_at(ax, shown(region.name), (low[0], low[1]), (5, 4), corner)

    def _name_lines(self, ax: Axes) -> None:
        """h with the number of the node, at the upper or the right end."""
        bold: Style = {"weight": "bold", "fontsize": "small"}
        for cut in self.lines:
            if cut.x1 == cut.x2:
                write_at(ax, f"h{cut.node}", (cut.x2, cut.y2), (5, -4), {"va": "top"} | bold)
            else:
                end: Style = {"ha": "right", "va": "bottom"}
                write_at(ax, f"h{cut.node}", (cut.x2, cut.y2), (-5, 3), end | bold)

    def _write(self, ax: Axes, title: str | None, drawn: int) -> None:
        n = len(self.rows.points)
        part = [f"{drawn} of {n} points drawn"] if drawn < n else []
        notes = ";  ".join([*([self.note] if self.note else []), *part])
        write_title(ax, "Regions of a tree" if title is None else title, notes)
        name_axes(ax, shown(self.rows.names[0]), shown(self.rows.names[1]))

    def _clip_regions(self, regions: list[Region]) -> list[Region]:
        """What of the regions lies in the picture."""
        strange = {str(region.label) for region in regions} - set(map(str, self.rows.classes))
        if strange:
            raise OptionError(
                f"regions has the classes {listed(sorted(strange))}, and the labels are "
                f"{listed(self.rows.classes)}: give all of them as classes."
            )
        found = []
        for region in regions:
            x = self._clip(0, region.low1, region.high1)
            y = self._clip(1, region.low2, region.high2)
            if x[0] < x[1] and y[0] < y[1]:
                found.append(Region(*x, *y, region.label, region.name))
        return found

    def _clip_lines(self, lines: list[Cut]) -> list[Cut]:
        """What of the lines lies in the picture."""
        found = []
        for cut in lines:
            upright = cut.x1 == cut.x2
            if not upright and cut.y1 != cut.y2:
                raise OptionError(f"The line {tuple(cut)} is along no axis: a tree has no such.")
            x, y = self._clip(0, cut.x1, cut.x2), self._clip(1, cut.y1, cut.y2)
            inside = x[0] == cut.x1 if upright else y[0] == cut.y1
            if inside and (x[0] < x[1] or y[0] < y[1]):
                found.append(Cut(x[0], y[0], x[1], y[1], cut.node, cut.depth))
        return found

    def _clip(self, axis: int, low: float, high: float) -> tuple[float, float]:
        first, last = self.box[:, axis]
        return float(np.clip(low, first, last)), float(np.clip(high, first, last))


def _corners(region: Region) -> Float:
    x1, x2, y1, y2 = region[:4]
    return np.array([(x1, y1), (x2, y1), (x2, y2), (x1, y2)])


def _read_z(z: ArrayLike | None) -> Float:
    """Further points, or one of them as two numbers."""
    try:
        given = np.empty((0, 2)) if z is None else np.asarray(z, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.empty(0)
    points = given[None] if given.ndim == 1 else given
    if points.ndim != 2 or points.shape[1] != 2 or not np.isfinite(points).all():
        raise OptionError(f"z={z!r} is no point of the picture: give two numbers, or rows of two.")
    return points
