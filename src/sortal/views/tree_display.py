"""A tree drawn by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self, cast

from matplotlib.collections import LineCollection
from matplotlib.patches import FancyBboxPatch, Patch, Rectangle

from sortal.data.printing import counted
from sortal.errors import InputTypeError
from sortal.models.faces import number_text
from sortal.views.axes import open_axes
from sortal.views.lettering import LONGEST, shown, write_legend, write_title
from sortal.views.palette import BLACK, Style, color
from sortal.views.tree_lettering import LETTERS, PAD, SMALL, TINY
from sortal.views.tree_sketch import pattern
from sortal.views.tree_svg import GRAY, bar_parts

if TYPE_CHECKING:
    from collections.abc import Collection

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sortal.views.tree_drawing import Box, Drawing

# A pixel of the drawing is this part of an inch where the figure is made here.
_PER_INCH = 108

# Larger figures cannot be drawn as pixels; the tree is smaller in them then.
_MOST_INCHES = 100

_HATCHES = {
    "plain": "",
    "stripes": "//////",
    "dots": "......",
    "lines": "------",
    "grid": "++++++",
    "crosses": "xxxxxx",
}


class TreeDisplay:
    """A drawing of a tree, as `draw_tree` or an estimator's `to_drawing` makes it.

    `lit` are the numbers of nodes to be drawn with thick lines, such as those of a row's path.

    Attributes: `drawing`, `lit`; after `plot`, `ax_` and `figure_`.
    """

    ax_: Axes
    figure_: Figure

    def __init__(self, drawing: Drawing, *, lit: Collection[int] = ()) -> None:
        self.drawing, self.lit = drawing, frozenset(lit)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        max_depth: int | None = None,
        max_leaves: int | None = 40,
        lit: Collection[int] = (),
        ax: Axes | None = None,
        **kw: Any,
    ) -> Self:
        """Draw a fitted tree down to `max_depth`, or else with at most so many ends."""
        if not hasattr(estimator, "to_drawing"):
            raise InputTypeError(
                f"{type(estimator).__name__} has no to_drawing: give a fitted tree, such as "
                "sortal.TreeClassifier."
            )
        drawing = estimator.to_drawing(max_depth=max_depth, max_leaves=max_leaves)
        return cls(drawing, lit=lit).plot(ax, **kw)

    def plot(
        self,
        ax: Axes | None = None,
        *,
        title: str | None = None,
        legend: bool | Literal["beside"] = True,
    ) -> Self:
        """Draw; letters are as large as the axes are when this is called.

        The legend stands beside the axes if they are made here, or if it is "beside".
        """
        ax, own = open_axes(ax, self._inches(legend=bool(legend)))
        self.ax_, self.figure_ = ax, cast("Figure", ax.figure)
        ax.set_xlim(0, self.drawing.width)
        ax.set_ylim(self.drawing.height, 0)
        ax.set_aspect("equal")
        ax.set_xticks([])
        ax.set_yticks([])
        ax.axis("off")
        said = "Decision tree" if title is None else title
        write_title(ax, said, self.drawing.left_out())
        if legend:
            self._write_legend(ax, outside=own or legend == "beside")
        if own:  # the layout makes room for the legend, and letters follow from what is left
            self.figure_.draw_without_rendering()
        scale = self._points_per_pixel(ax)
        self._draw_edges(ax, scale)
        for box in self.drawing.boxes:
            self._draw_box(ax, box, scale)
        return self

    def _inches(self, *, legend: bool) -> tuple[float, float]:
        """A figure in which a pixel has its size, with room for a title and a legend beside."""
        width = self.drawing.width / _PER_INCH + (2.4 if legend else 0.2)
        height = max(self.drawing.height / _PER_INCH + 0.6, 1.2)
        return min(width, _MOST_INCHES), min(height, _MOST_INCHES)

    def _points_per_pixel(self, ax: Axes) -> float:
        """Points of a pixel of the drawing, as the axes are now."""
        across = ax.get_window_extent().width / self.drawing.width
        along = ax.get_window_extent().height / self.drawing.height
        return min(across, along) * 72 / self.figure_.dpi

    def _draw_edges(self, ax: Axes, scale: float) -> None:
        down = self.drawing.orientation == "down"
        edges = self.drawing.edges
        bright = [{edge.parent, edge.child} <= self.lit for edge in edges]
        for is_lit, style in ((False, _line(scale)), (True, _bright(scale))):
            paths = [e.path for e, is_on in zip(edges, bright, strict=True) if is_on == is_lit]
            if paths:
                ax.add_collection(LineCollection(paths, **style, zorder=1 + 0.1 * is_lit))
        for edge in edges:
            place: Style = {"ha": "center" if down else "left", "va": "baseline"}
            _write(ax, *edge.at, edge.label, SMALL * scale, place)

    def _draw_box(self, ax: Axes, box: Box, scale: float) -> None:
        if box.more:
            _frame(ax, box, 4, {"facecolor": "white", **_frame_line(scale), "zorder": 1.5})
        edge = _frame_line(scale)
        if box.leaf:
            edge = {"edgecolor": color(box.label), "linewidth": 1.75 * scale}
        if box.node in self.lit:
            edge = {"edgecolor": BLACK, "linewidth": 3.5 * scale}
        fill = _pale(color(box.label), 0.14) if box.leaf else "#f4f4f4"
        _frame(ax, box, 0, {"facecolor": fill, **edge, "zorder": 2})
        for row, line in enumerate(box.lines):
            style: Style = {"fontweight": "bold"} if box.leaf and row == 0 else {}
            style |= {"fontstyle": "italic"} if row == 2 else {}
            size = (SMALL if row else LETTERS) * scale
            y = box.y + 17 + 15 * row - row // 2
            _write(ax, box.x + PAD, y, line, size, {"va": "baseline", **style})
        number = {"ha": "right", "va": "baseline", "color": "0.4"}
        corner = box.x + box.width - PAD, box.y + 16
        _write(ax, *corner, str(box.node), TINY * scale, number)
        for k, start, end in bar_parts(box):
            place = box.x + PAD + start, box.y + box.height - 12
            ax.add_patch(Rectangle(place, end - start, 6, zorder=3, **_class_style(k)))

    def _write_legend(self, ax: Axes, *, outside: bool) -> None:
        legend = self.drawing.legend
        handles = [Patch(**_class_style(mark.k)) for mark in legend]
        labels = [f"{shown(mark.title)} ({number_text(mark.n)})" for mark in legend]
        if self.drawing.more_classes:
            handles.append(Patch(facecolor="none"))
            labels.append(counted(self.drawing.more_classes, "more class", "more classes"))
        write_legend(ax, handles, labels, outside=outside)


def _line(scale: float) -> Style:
    return {"colors": GRAY, "linewidths": scale}


def _bright(scale: float) -> Style:
    return {"colors": BLACK, "linewidths": 3.5 * scale}


def _frame_line(scale: float) -> Style:
    return {"edgecolor": GRAY, "linewidth": scale}


def _frame(ax: Axes, box: Box, offset: int, style: Style) -> None:
    corner = box.x + offset, box.y + offset
    round_corners: Any = "round,pad=0,rounding_size=6"
    ax.add_patch(FancyBboxPatch(corner, box.width, box.height, boxstyle=round_corners, **style))


def _class_style(k: int | None) -> Style:
    """A class color and, over it, what tells it from others of the same color."""
    if k is None:
        return {"facecolor": GRAY, "linewidth": 0}
    hatch = _HATCHES[pattern(k)]
    style: Style = {"facecolor": color(k), "linewidth": 0}
    return style | ({"hatch": hatch, "edgecolor": "white"} if hatch else {})


def _write(ax: Axes, x: float, y: float, text: str, size: float, style: Style) -> None:
    """Words from data, which have room already: only formulas are kept from being read."""
    words = shown(text, max(len(text), LONGEST))
    ax.text(x, y, words, fontsize=size, usetex=False, zorder=4, clip_on=True, **style)


def _pale(shade: str, strength: float) -> tuple[float, ...]:
    """A color on white, so much of it."""
    parts = (int(shade[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return tuple(1 - strength * (1 - part) for part in parts)
