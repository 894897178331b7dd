"""Boxes and edges of a tree: what is written on them, before anything has a place."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple
from unicodedata import category, east_asian_width

import numpy as np

from sortal.errors import counted
from sortal.native.trees import LEAF
from sortal.plotting.axes import COLORS, color, shorten
from sortal.records.render import number_text, plain
from sortal.trees.branches import (
    IntervalCondition,
    SetCondition,
    Step,
    branch_condition,
    describe_test,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from sortal.data.columns import Values
    from sortal.trees.branches import Condition
    from sortal.trees.model import TreeModel

    Counts = tuple[tuple[int, float], ...]


# --- Words in the boxes of a tree: how wide they may get, and what is left of those too long -----
# No font is at hand where a drawing is made, and the reader's is not known. Widths are those of
# DejaVu Sans, which is wide among the fonts in use, so that words stay inside their boxes.

# Sizes of letters and the room around them, in pixels.
LETTERS: Final = 12

SMALL: Final = 11

TINY: Final = 10

PAD: Final = 8

# In hundredths of the font size.
_GROUPS: Final = {
    36: " ',./:;\\|ijlI-·",
    42: "!()[]ftr",
    56: '"*?_`cJsz',
    65: "0123456789abdeghknopquvxyzEFLPST${}",
    80: "ABCDGHKNOQRUVXYZ&",
    87: "#+<=>~^wM≤≥",
    103: "mW@%…",
}

_BOLD: Final = 1.17

# Of a text that is shortened, so many letters stay in any case.
_LEAST: Final = 4


class _Widths(dict[str, int]):
    """Widths of single signs."""

    def __missing__(self, c: str) -> int:
        """Of a rare sign, by its kind."""
        if category(c) in ("Mn", "Me"):  # drawn over the letter before
            return 0
        if east_asian_width(c) in "WF":
            return 110
        return 80 if c.islower() else 110


_WIDTHS: Final = _Widths({c: width for width, group in _GROUPS.items() for c in group})


@lru_cache(maxsize=4096)
def text_width(text: str, size: int, *, bold: bool = False) -> int:
    """The width of a text in pixels, rather too much than too little; an even number."""
    hundredths = sum(map(_WIDTHS.__getitem__, text))
    return 2 * int(hundredths * size * (_BOLD if bold else 1.0) / 200 + 1)


@lru_cache(maxsize=4096)
def fit(text: str, size: int, room: int, *, bold: bool = False) -> str:
    """The text, shortened in its middle until it is no wider than `room`."""
    most = max(
        min(len(text), 3 * room // size), _LEAST
    )  # more letters have no room, however narrow
    while most > _LEAST and text_width(shorten(text, most), size, bold=bold) > room:
        most -= 1
    return shorten(text, most)


def share_text(share: float) -> str:
    """A share in whole percents; what is neither none nor all is not written as if it were."""
    percent = f"{100 * share:.0f}"
    if percent == "100" and share < 1:
        return "> 99 %"
    return "< 1 %" if percent == "0" and share > 0 else f"{percent} %"


# --- What is written on the edges of a tree ------------------------------------------------------

# The widest a condition may be, in pixels.
_EDGE_ROOM: Final = 200

# What is said of missing values comes on top of it.
_MISSING: Final = "or missing)"

# Of a set of values so many are named.
_MOST_VALUES: Final = 3

# Of a number so many digits that say something stay after the point; the others are an ellipsis.
_DIGITS: Final = re.compile(r"(\.0*\d{5})\d{2,}")


def short_condition(condition: Condition) -> str:
    """A condition without its attribute, with fewer and then with shorter values until it fits."""
    if isinstance(condition, IntervalCondition):
        words = condition.predicate()
        return words if condition.is_date else _DIGITS.sub(r"\1…", words)
    rest = condition.rest
    room = _EDGE_ROOM + (text_width(_MISSING, SMALL) if rest.endswith(_MISSING) else 0)
    fewer = (condition.predicate(most) for most in range(_MOST_VALUES, 0, -1))
    shorter = (_with_short_values(condition, most).predicate(1) for most in (100, 75, 50))
    for words in chain(fewer, shorter):
        if text_width(words[:room], SMALL) <= room:
            return words
    return fit(words.removesuffix(rest), SMALL, room - text_width(rest, SMALL)) + rest


def condition_width(condition: str) -> int:
    """The room that a condition takes on its edge."""
    return text_width(condition, SMALL) if condition else 0


def _with_short_values(condition: SetCondition, room: int) -> SetCondition:
    """Only the first value of a list is shown."""
    return replace(
        condition,
        values=_first_shortened(condition.values, room),
        against=_first_shortened(condition.against, room),
        after=None if condition.after is None else fit(str(condition.after), SMALL, room),
        upto=None if condition.upto is None else fit(str(condition.upto), SMALL, room),
    )


def _first_shortened(values: Values, room: int) -> Values:
    return (fit(str(values[0]), SMALL, room), *values[1:]) if values else ()


Orientation = Literal["down", "right"]

# The widest a line of a box may be, in pixels.
_ROOM: Final = 180

# Of a set of values and of classes so many are named in a tooltip.
_VALUES_TOLD: Final = 20

_CLASSES_TOLD: Final = 8

_LONGEST: Final = 300

# More ends than this are legible only below each other.
_MOST_SIDE_BY_SIDE: Final = 10

# Beyond the colors, classes are told apart by what is drawn over them.
PATTERNS: Final = ("plain", "stripes", "dots", "lines", "grid", "crosses")

# The legend names so many classes, the heaviest.
_MOST_NAMED: Final = 40


@dataclass(frozen=True)
class ClassMark:
    """How a class is shown: its label (`title`: in full), color, pattern and weight."""

    k: int
    label: str
    title: str
    color: str
    pattern: str
    n: float


class Box(NamedTuple):
    """A node to be drawn; `parent` and `end` are places in the list of boxes, which is in preorder.

    `end` is the place after the last box below. `lines` are shortened, `title` has all facts.
    `condition` is on the edge from the parent, `sentence` the same in full. `cut`: what is below is
    not among the boxes. `counts` are pairs of a class (its place) and its weight, without those
    that have none; `parts`, of which the bar is made, are n by the shares of the classes. Where it
    stands, how high it is, and how many leaves below are left out (`more`), is arranged later.
    """

    node: int
    parent: int
    end: int
    depth: int
    leaf: bool
    cut: bool
    leaves: int
    label: int
    n: float
    counts: Counts
    parts: Counts
    lines: tuple[str, ...]
    title: str
    width: int
    condition: str
    sentence: str
    x: int
    y: int
    height: int
    more: int


# Of a box that is yet to be placed.
_NO_PLACE: Final = (0, 0, 0, 0)


@dataclass(frozen=True)
class Sketch:
    """The boxes, how many nodes and leaves the whole tree has, and the room for conditions.

    `room[d]` is as wide as the widest condition on an edge that leads to depth d.
    """

    items: tuple[Box, ...]
    room: tuple[int, ...]
    orientation: Orientation
    marks: tuple[ClassMark, ...]
    n_classes: int
    n_nodes: int
    n_leaves: int


def more_leaves(count: int) -> str:
    """The line of a box below which something is left out."""
    return f"+{counted(count, 'more leaf', 'more leaves')}"


def depth_with_ends(depths: ArrayLike, is_leaf: ArrayLike, most: int) -> int:
    """The largest depth at which a tree can be cut off with at most so many ends; 1 at least."""
    depth, leaf = np.asarray(depths), np.asarray(is_leaf)
    nodes = np.bincount(depth)
    leaves = np.bincount(depth[leaf], minlength=len(nodes))
    ends = nodes + np.cumsum(leaves) - leaves  # nodes at a depth, and leaves above it
    return max(1, int(np.searchsorted(ends, most, side="right")) - 1)


def sketch_tree(model: TreeModel, max_depth: int | None, orientation: Orientation | None) -> Sketch:
    """All that is drawn of a tree down to a depth."""
    drawn = _SketchedNodes(model, max_depth)
    if orientation is None:
        orientation = "down" if drawn.n_ends <= _MOST_SIDE_BY_SIDE else "right"
    items = tuple(drawn.items(aligned=orientation == "right"))
    room = [0] * (max(item.depth for item in items) + 1)
    for item in items:
        room[item.depth] = max(room[item.depth], condition_width(item.condition))
    marks = _legend(model)
    n_classes = len(model.classes)
    return Sketch(items, tuple(room), orientation, marks, n_classes, model.n_nodes, model.n_leaves)


def leaf_lines(model: TreeModel, items: Sequence[Box]) -> list[tuple[str, str]]:
    """What boxes say where their nodes are leaves: the class, the weight and the purity."""
    labels = {k: _leaf_label(plain(model.classes[k])) for k in {item.label for item in items}}
    purity = model.purity()[[item.node for item in items]].tolist()
    pairs = zip(items, purity, strict=True)
    return [(labels[item.label], _leaf_fact(item.n, share)) for item, share in pairs]


def leaf_widths(model: TreeModel, items: Sequence[Box]) -> list[int]:
    """How wide these boxes are."""
    pairs = zip(items, leaf_lines(model, items), strict=True)
    return [_box_width(lines, item.node, is_leaf=True) for item, lines in pairs]


def _leaf_label(name: str) -> str:
    return fit(name, LETTERS, _ROOM, bold=True)


def _leaf_fact(n: float, purity: float) -> str:
    return f"n {number_text(n)} · {share_text(purity)}"


def _box_width(lines: tuple[str, str], node: int, *, is_leaf: bool) -> int:
    """The widest line, the first with the number of the node beside it."""
    number = text_width(str(node), TINY) + PAD
    first = text_width(lines[0], LETTERS, bold=is_leaf) + number
    return max(first, text_width(lines[1], SMALL)) + 2 * PAD


def pattern(k: int) -> str:
    """The pattern of class k."""
    return PATTERNS[k // len(COLORS) % len(PATTERNS)]


def _legend(model: TreeModel) -> tuple[ClassMark, ...]:
    weights = model.counts()[0]
    heaviest = np.argsort(-weights, kind="stable")[:_MOST_NAMED]
    return tuple(
        ClassMark(
            k,
            fit(plain(model.classes[k]), LETTERS, _ROOM),
            shorten(plain(model.classes[k]), _LONGEST),
            color(k),
            pattern(k),
            weights[k].item(),
        )
        for k in sorted(heaviest.tolist())
    )


class _SketchedNodes:
    """The nodes down to a depth, and what is written about each."""

    def __init__(self, model: TreeModel, max_depth: int | None) -> None:
        self.model = model
        depths = model.depths()
        deepest = int(depths.max()) if max_depth is None else max_depth
        nodes = np.flatnonzero(depths <= deepest)
        place = np.full(model.n_nodes + 1, len(nodes))
        place[nodes] = np.arange(len(nodes))
        # the place of a node that is not drawn is that of the next one drawn
        place = np.minimum.accumulate(place[::-1])[::-1]
        parents, weights = model.parents()[nodes], model.counts()[nodes]
        n = weights.sum(axis=1)
        self.leaf = (model.kind[nodes] == LEAF).tolist()
        self.cut = ((depths == deepest) & (model.kind != LEAF))[nodes].tolist()
        self.n_ends = sum(self.leaf) + sum(self.cut)
        self.nodes, self.leaves = nodes.tolist(), model.leaves_below()[nodes].tolist()
        self.labels, self.n, self.counts = (
            model.labels()[nodes].tolist(),
            n.tolist(),
            _present(weights),
        )
        self.shares = model.plain_shares()[nodes]
        parts = _present(self.shares * n[:, None]) if model.factors is not None else self.counts
        self.purity = model.purity()[nodes].tolist()
        self.classes = [plain(label) for label in model.classes]
        # as in `Box`
        self.facts = (
            self.nodes,
            np.where(parents < 0, -1, place[parents]).tolist(),
            place[model.ends()[nodes]].tolist(),
            depths[nodes].tolist(),
            self.leaf,
            self.cut,
            self.leaves,
            self.labels,
            self.n,
            self.counts,
            parts,
        )

    def items(self, *, aligned: bool) -> Iterator[Box]:
        """The boxes; `aligned`, those of one depth have one width."""
        branches = self._branches()
        lines = [self._lines(i, t) for i, t in enumerate(self.nodes)]
        widths = [self._width(i, pair) for i, pair in enumerate(lines)]
        depths = self.facts[3]
        if aligned:
            widest = [0] * (max(depths) + 1)
            for depth, width in zip(depths, widths, strict=True):
                widest[depth] = max(widest[depth], width)
            widths = [widest[depth] for depth in depths]
        for i, facts in enumerate(zip(*self.facts, strict=True)):
            condition, sentence = branches.get(facts[0], ("", ""))
            words = lines[i], self._title(i, facts[0], sentence), widths[i], condition, sentence
            yield Box._make((*facts, *words, *_NO_PLACE))

    def _branches(self) -> dict[int, tuple[str, str]]:
        """By child: what is on the edge that leads to it, shortened and in full."""
        model, told = self.model, {}
        for i, t in enumerate(self.nodes):
            if self.leaf[i] or self.cut[i]:
                continue
            below = model.below(t).tolist()
            for b, child in enumerate(below):
                condition = branch_condition(model, Step(t, b))
                sentence = shorten(condition.text(_VALUES_TOLD), _LONGEST)
                told[child] = short_condition(condition), sentence
        return told

    def _lines(self, i: int, t: int) -> tuple[str, str]:
        """A leaf says its class, another node what it asks; then the weight and the purity."""
        label, fact = self.classes[self.labels[i]], _leaf_fact(self.n[i], self.purity[i])
        if self.leaf[i]:
            return _leaf_label(label), fact
        name = plain(self.model.schema.columns[self.model.attribute[t]].name)
        facts = f"{fact} "  # the label last: it may be written from right to left
        room = max(_ROOM - text_width(facts, SMALL), _ROOM // 3)
        return fit(name, LETTERS, _ROOM), facts + fit(label, SMALL, room)

    def _width(self, i: int, lines: tuple[str, str]) -> int:
        """The widest line, also that which a test has where what is below it is left out."""
        last = 0 if self.leaf[i] else text_width(more_leaves(self.leaves[i]), SMALL) + 2 * PAD
        return max(_box_width(lines, self.nodes[i], is_leaf=self.leaf[i]), last)

    def _title(self, i: int, t: int, sentence: str) -> str:
        """All facts of a node, a line each."""
        lines = [f"node {t}" + (f", if {sentence}" if sentence else "")]
        if self.leaf[i]:
            lines.append(f"leaf: {shorten(self.classes[self.labels[i]], _LONGEST)}")
        else:
            lines.append(f"asks {shorten(describe_test(self.model, t, _VALUES_TOLD), _LONGEST)}")
        lines.append(self._distribution(i))
        if not self.leaf[i]:
            lines.append(f"{counted(self.leaves[i], 'leaf', 'leaves')} below")
        return "\n".join(lines)

    def _distribution(self, i: int) -> str:
        counts, n = self.counts[i], self.n[i]
        by_weight = sorted(counts, key=lambda pair: -pair[1])[:_CLASSES_TOLD]
        shares = self.shares[i].tolist()
        words = [
            f"{shorten(self.classes[k], _LONGEST)} {number_text(count)} ({share_text(shares[k])})"
            for k, count in by_weight
        ]
        if len(counts) > len(words):
            words.append(counted(len(counts) - len(words), "more class", "more classes"))
        return f"n {number_text(n)}: {', '.join(words)}"


def _present(weights: NDArray[Any]) -> list[Counts]:
    """For each row the places and the weights of what is not zero."""
    at, classes = np.nonzero(weights)
    pairs = list(zip(classes.tolist(), weights[at, classes].tolist(), strict=True))
    ends = np.searchsorted(at, np.arange(len(weights)), side="right").tolist()
    return [tuple(pairs[a:b]) for a, b in pairwise([0, *ends])]
