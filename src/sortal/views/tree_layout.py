"""Where the boxes of a tree stand along their levels: tidy, in whole numbers, without recursion.

Subtrees are pushed together until their contours touch, after Reingold & Tilford (1981). A contour
says, level by level, how far a subtree reaches to one side. It is a linked list, so that two of
them are joined in the time of the shorter one, and all of them in the time of the tree.
`static/tree.js` does the same, number for number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

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
