"""A tree as a picture without a painter: boxes, edges and a legend, in pixels.

`svg`, `html` and `displays.tree` draw it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from sortal.decision.options import choose, whole_number
from sortal.errors import counted
from sortal.native.trees import LEAF
from sortal.trees.drawing.boxes import (
    SMALL,
    condition_width,
    depth_with_ends,
    more_leaves,
    sketch_tree,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sortal.trees.drawing.boxes import Box, ClassMark, Orientation, Sketch
    from sortal.trees.model import TreeModel

    Point = tuple[int, int]


# Where the boxes of a tree stand along their levels: tidy, in whole numbers, without recursion.
# Subtrees are pushed together until their contours touch, after Reingold & Tilford (1981). A
# contour says, level by level, how far a subtree reaches to one side. It is a linked list, so
# that two of them are joined in the time of the shorter one, and all of them in the time of the
# tree. `static/tree.js` does the same, number for number.

_LEFT, _RIGHT = 0, 1


# The reach at one level, a shift of all levels below, and the cell of the next level (-1: none).
_Cell = tuple[int, int, int]

# The first cell of a contour, and a shift of all of it.
_Contour = tuple[int, int]


def tidy(children: Sequence[Sequence[int]], sizes: Sequence[int], gap: int) -> list[int]:
    """The middle of each box along its level; the least edge of all boxes is 0.

    Children come after their parents in number. Sizes are even. Boxes of one level keep their
    order and at least `gap` between them; a parent stands over the middle of its first and its last
    child (to the whole number below); others between siblings take the mean of the leftmost and
    the rightmost place they can have.
    """
    layout = _Layout(children, sizes, gap)
    for t in reversed(range(len(children))):
        layout.join(t)
    middles = [0] * len(children)
    for t, below in enumerate(children):
        for c, place in zip(below, layout.places[t], strict=True):
            middles[c] = middles[t] + place
    least = min(middle - size // 2 for middle, size in zip(middles, sizes, strict=True))
    return [middle - least for middle in middles]


class _Layout:
    """Contours of the subtrees, and the places of children relative to their parent."""

    def __init__(self, children: Sequence[Sequence[int]], sizes: Sequence[int], gap: int) -> None:
        self.children, self.sizes, self.gap = children, sizes, gap
        self.cells: list[_Cell] = []
        # both sides of a subtree are counted away from the middle of its root
        self.contours = [[-1] * len(children), [-1] * len(children)]
        self.places: list[list[int]] = [[] for _ in children]

    def join(self, t: int) -> None:
        """Place the children of a node, and let its contours run on along theirs."""
        below = self.children[t]
        half = self.sizes[t] // 2
        if not below:
            for side in (_LEFT, _RIGHT):
                self.contours[side][t] = self._cell(half, 0, -1)
            return
        places = self._spread(below)
        middle = (places[0] + places[-1]) // 2
        self.places[t] = [place - middle for place in places]
        for side in (_LEFT, _RIGHT):
            first, shift = self._outline(below, self.places[t], side)
            self.contours[side][t] = self._cell(half, shift, first)

    def _spread(self, below: Sequence[int]) -> list[int]:
        """The mean of the leftmost and the rightmost places between the first and the last child.

        Both keep all distances, and so does their mean.
        """
        left = self._pack(below, _RIGHT)
        if len(below) < 3:
            return left
        right = self._pack(below[::-1], _LEFT)[::-1]
        return [(a + left[-1] - b) // 2 for a, b in zip(left, right, strict=True)]

    def _pack(self, below: Sequence[int], side: int) -> list[int]:
        """Distances from the first child, each as small as it can be after those before it."""
        places = [0]
        outline = (self.contours[side][below[0]], 0)
        for c in below[1:]:
            facing = (self.contours[1 - side][c], 0)
            places.append(self._apart(outline, facing) + self.gap)
            outline = self._over((self.contours[side][c], places[-1]), outline)
        return places

    def _outline(self, below: Sequence[int], places: Sequence[int], side: int) -> _Contour:
        """The contour of all children together: of the outermost first, then of what is deeper."""
        sign = 1 if side == _RIGHT else -1
        pairs = list(zip(below, places, strict=True))[::sign]
        outline = (-1, 0)
        for c, place in pairs:
            outline = self._over((self.contours[side][c], sign * place), outline)
        return outline

    def _apart(self, a: _Contour, b: _Contour) -> int:
        """How far apart the origins of two contours that face each other must be to touch."""
        widest = 0  # at the top level it is more
        (at, shift), (facing, other) = a, b
        while at >= 0 and facing >= 0:
            reach, step, at = self.cells[at]
            against, change, facing = self.cells[facing]
            widest = max(widest, reach + shift + against + other)
            shift, other = shift + step, other + change
        return widest

    def _over(self, near: _Contour, far: _Contour) -> _Contour:
        """The nearer contour, and below its end the farther one."""
        reaches = []
        (at, shift), (behind, other) = near, far
        while at >= 0 and behind >= 0:
            reach, step, at = self.cells[at]
            _, change, behind = self.cells[behind]
            reaches.append(reach + shift)
            shift, other = shift + step, other + change
        if behind < 0:
            return near
        for reach in reversed(reaches):
            behind, other = self._cell(reach, other, behind), 0
        return behind, other

    def _cell(self, reach: int, shift: int, below: int) -> int:
        self.cells.append((reach, shift, below))
        return len(self.cells) - 1


# All lengths are in pixels; those of boxes are even, so that their middles are whole.
LOOK: Final = {
    "margin": 8,
    "height": 50,  # of a box with two lines
    "line": 14,  # what a third line adds
    "beside": 14,  # between boxes of a level that stand side by side,
    "below": 10,  # and below each other
    "drop": 14,  # from a box to the line that its children hang on
    "reach": 10,  # from there to a condition
    "label": SMALL + 6,  # the height of a condition
}


class Edge(NamedTuple):
    """The line from a node to one below it (by their numbers), and what is written on it.

    `at` is where the text stands on its baseline: its middle in a drawing downward, else its
    beginning. `title` is the condition in full.
    """

    parent: int
    child: int
    label: str
    title: str
    path: tuple[Point, ...]
    at: Point


@dataclass(frozen=True)
class Drawing:
    """Boxes in preorder, edges by their lower box, and the classes that are named.

    `n_nodes` and `n_leaves` are those of the whole tree, `hidden_nodes` and `hidden_leaves` of
    them are left out, as are `more_classes` from the legend.
    """

    boxes: tuple[Box, ...]
    edges: tuple[Edge, ...]
    legend: tuple[ClassMark, ...]
    width: int
    height: int
    orientation: Orientation
    n_nodes: int
    n_leaves: int
    hidden_nodes: int
    hidden_leaves: int
    more_classes: int

    def left_out(self) -> str:
        """What is left out, in words; nothing if all is drawn."""
        if not self.hidden_leaves:
            return ""
        shown = self.n_leaves - self.hidden_leaves
        return f"{shown} of {counted(self.n_leaves, 'leaf', 'leaves')} drawn"


def draw_tree(
    model: TreeModel,
    *,
    max_depth: int | None = None,
    max_leaves: int | None = 40,
    orientation: str = "auto",
) -> Drawing:
    """A drawing of the tree down to `max_depth`, or else with at most so many ends.

    Ends are leaves and nodes below which nothing is drawn; there is one level of tests at least.
    Few ends stand side by side, many below each other, unless `orientation` says "down" or
    "right".
    """
    return arrange(sketch(model, max_depth, max_leaves, orientation))


def sketch(
    model: TreeModel, max_depth: int | None, max_leaves: int | None, orientation: str
) -> Sketch:
    """What is drawn, by checked options."""
    whole_number("max_depth", max_depth, 0, none="as many as max_leaves allows")
    whole_number("max_leaves", max_leaves, 1, none="no bound")
    choose("orientation", orientation, ("auto", "down", "right"))
    if max_depth is None and max_leaves is not None:
        max_depth = depth_with_ends(model.depths(), model.kind == LEAF, max_leaves)
    asked = None if orientation == "auto" else cast("Orientation", orientation)
    return sketch_tree(model, max_depth, asked)


def arrange(drawn: Sketch, closed: Collection[int] = frozenset()) -> Drawing:
    """Give every box its place; nothing is drawn below the items that are closed."""
    shown = _visible(drawn, frozenset(closed))
    items = [drawn.items[i] for i in shown]
    more = [
        item.leaves if item.cut or i in closed else 0 for i, item in zip(shown, items, strict=True)
    ]
    parents = _parents(shown, items)
    boxes = _boxes(drawn, items, parents, more)
    pairs = zip(boxes[1:], parents[1:], strict=True)
    lines = [_edge(drawn, boxes[parent], box) for box, parent in pairs]
    shown_leaves = sum(item.leaf for item in items)
    return Drawing(
        boxes=tuple(boxes),
        edges=tuple(lines),
        legend=drawn.marks,
        width=_right_end(drawn, boxes) + LOOK["margin"],
        height=max(box.y + box.height for box in boxes) + LOOK["margin"],
        orientation=drawn.orientation,
        n_nodes=drawn.n_nodes,
        n_leaves=drawn.n_leaves,
        hidden_nodes=drawn.n_nodes - len(items),
        hidden_leaves=drawn.n_leaves - shown_leaves,
        more_classes=drawn.n_classes - len(drawn.marks),
    )


def _visible(drawn: Sketch, closed: frozenset[int]) -> list[int]:
    shown, i = [], 0
    while i < len(drawn.items):
        shown.append(i)
        i = drawn.items[i].end if i in closed else i + 1
    return shown


def _parents(shown: list[int], items: list[Box]) -> list[int]:
    """For each item shown the place of its parent among these."""
    place = {i: at for at, i in enumerate(shown)}
    return [-1 if item.parent < 0 else place[item.parent] for item in items]


def _boxes(drawn: Sketch, items: list[Box], parents: list[int], more: list[int]) -> list[Box]:
    heights = [LOOK["height"] + (LOOK["line"] if count else 0) for count in more]
    children: list[list[int]] = [[] for _ in items]
    for at, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(at)
    down = drawn.orientation == "down"
    wide = [max(item.width, condition_width(item.condition)) for item in items]
    sizes = wide if down else heights
    middles = tidy(children, sizes, LOOK["beside" if down else "below"])
    levels = _levels(drawn, items, heights)
    return [
        _box(item, count, height, middle + LOOK["margin"], levels[item.depth], down=down)
        for item, count, height, middle in zip(items, more, heights, middles, strict=True)
    ]


def _right_end(drawn: Sketch, boxes: list[Box]) -> int:
    """Where the last box ends, or a condition that is wider than the box below it."""
    if drawn.orientation == "right":
        return max(box.x + box.width for box in boxes)
    return max(
        box.x + (box.width + max(box.width, condition_width(box.condition))) // 2 for box in boxes
    )


def _levels(drawn: Sketch, items: list[Box], heights: list[int]) -> list[int]:
    """Where each level begins: after the largest box of the one before, and its conditions."""
    down = drawn.orientation == "down"
    deepest = max(item.depth for item in items)
    size = [0] * (deepest + 1)
    for item, height in zip(items, heights, strict=True):
        size[item.depth] = max(size[item.depth], height if down else item.width)
    gap = LOOK["drop"] + LOOK["reach"]
    steps = [
        size[d] + gap + (LOOK["label"] if down else drawn.room[d + 1] + LOOK["reach"])
        for d in range(deepest)
    ]
    return list(accumulate(steps, initial=LOOK["margin"]))


def _box(box: Box, more: int, height: int, middle: int, start: int, *, down: bool) -> Box:
    return box._replace(
        x=middle - box.width // 2 if down else start,
        y=start if down else middle - height // 2,
        height=height,
        lines=(*box.lines, more_leaves(more)) if more else box.lines,
        more=more,
    )


def _edge(drawn: Sketch, above: Box, box: Box) -> Edge:
    """From the middle of the upper box over a line that siblings share to the lower box.

    Downward the condition stands between the end of the line and the box, else upon the line.
    """
    if drawn.orientation == "down":
        x, middle = above.x + above.width // 2, box.x + box.width // 2
        end = box.y - LOOK["label"]
        bus = end - LOOK["reach"]
        path = ((x, above.y + above.height), (x, bus), (middle, bus), (middle, end))
        at = middle, box.y - 5
    else:
        y, middle = above.y + above.height // 2, box.y + box.height // 2
        bus = box.x - drawn.room[box.depth] - 2 * LOOK["reach"]
        path = ((above.x + above.width, y), (bus, y), (bus, middle), (box.x, middle))
        at = bus + LOOK["reach"], middle - 4
    return Edge(above.node, box.node, box.condition, box.sentence, path, at)
