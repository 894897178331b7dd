"""A tree on paper: boxes do not meet, parents stand over their children, and nothing recurses."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.trees.chains import chain
from tests.trees.some_trees import fitted, iris, noise, tennis

from sortal import TreeClassifier, datasets
from sortal.records.render import plain
from sortal.trees.drawing.boxes import fit, share_text, text_width
from sortal.trees.drawing.layout import _Layout, arrange, draw_tree, sketch, tidy

if TYPE_CHECKING:
    from sortal.trees.drawing.boxes import Box
    from sortal.trees.drawing.layout import Drawing

GAP = 10


@st.composite
def trees(draw: st.DrawFn) -> tuple[list[list[int]], list[int], list[int]]:
    """Children, depths and sizes of the nodes of a tree in preorder."""
    depths, last = [0], [0]  # the last node of each depth on the way to the newest
    children: list[list[int]] = [[]]
    for t in range(1, draw(st.integers(1, 40))):
        depth = draw(st.integers(1, len(last)))
        del last[depth:]
        children[last[-1]].append(t)
        children.append([])
        last.append(t)
        depths.append(depth)
    halves = st.lists(st.integers(1, 40), min_size=len(depths), max_size=len(depths))
    return children, depths, [2 * half for half in draw(halves)]


@given(trees())
def test_boxes_keep_their_order_and_gap_and_parents_stand_over_the_middle(tree: Any) -> None:
    children, depths, sizes = tree
    middles = tidy(children, sizes, GAP)
    assert min(m - s // 2 for m, s in zip(middles, sizes, strict=True)) == 0
    assert all(isinstance(m, int) for m in middles)
    for depth in set(depths):
        level = [t for t, d in enumerate(depths) if d == depth]
        for a, b in pairwise(level):
            assert middles[b] - middles[a] >= (sizes[a] + sizes[b]) // 2 + GAP
    for t, below in enumerate(children):
        if below:
            assert middles[t] == (middles[below[0]] + middles[below[-1]]) // 2


@given(trees())
def test_siblings_are_as_close_as_they_can_be(tree: Any) -> None:
    """Of two subtrees side by side the boxes of some level are one gap apart."""
    children, depths, sizes = tree
    middles = tidy(children, sizes, GAP)
    ends = [t + 1 for t in range(len(children))]
    for t in reversed(range(len(children))):
        ends[t] = max([ends[t], *(ends[c] for c in children[t])])
    for below in children:
        if len(below) == 2:
            left, right = (range(c, ends[c]) for c in below)
            rooms = [
                middles[b] - sizes[b] // 2 - middles[a] - sizes[a] // 2
                for a in left
                for b in right
                if depths[a] == depths[b]
            ]
            assert min(rooms) == GAP


def test_a_small_subtree_between_large_ones_stands_in_the_middle() -> None:
    children = [[1, 4, 5], [2, 3], [], [], [], [6, 7], [], []]
    middles = tidy(children, [20, 20, 60, 60, 20, 20, 60, 60], GAP)
    assert middles[4] == middles[0] == (middles[1] + middles[5]) // 2


class Counted(list[Any]):
    """Counts how often an entry is read."""

    reads = 0

    def __getitem__(self, i: Any) -> Any:
        self.reads += 1
        return super().__getitem__(i)


def test_the_work_of_a_comb_is_that_of_its_boxes() -> None:
    """Deep subtrees side by side: contours are joined by their ends, not walked again."""
    depth, below = 200, 20
    children: list[list[int]] = [[1 + m * depth for m in range(below)]]
    for _ in range(below):
        first = len(children)
        children += [[first + d + 1] for d in range(depth - 1)] + [[]]
    layout = _Layout(children, [20] * len(children), GAP)
    layout.cells = cells = Counted()
    for t in reversed(range(len(children))):
        layout.join(t)
    assert 0 < cells.reads < 20 * len(children)


def test_the_boxes_of_a_small_tree() -> None:
    drawing = draw_tree(iris(max_leaf_nodes=3))
    root, setosa, inner, versicolor, virginica = drawing.boxes
    assert [box.node for box in drawing.boxes] == [0, 1, 2, 3, 4]
    assert [box.leaf for box in drawing.boxes] == [False, True, False, True, True]
    assert root.lines == ("petal_length", "n 150 · 33 % setosa")
    assert setosa.lines == ("setosa", "n 50 · 100 %")
    assert inner.lines == ("petal_width", "n 100 · 50 % versicolor")
    assert list(versicolor.counts) == [(1, 49), (2, 5)]
    assert virginica.label == 2
    assert virginica.title.splitlines() == [
        "node 4, if petal_width > 1.75",
        "leaf: virginica",
        "n 46: virginica 45 (98 %), versicolor 1 (2 %)",
    ]
    assert root.title.splitlines()[1] == "asks petal_length <= 2.45"
    assert [(e.parent, e.child, e.label) for e in drawing.edges] == [
        (0, 1, "<= 2.45"),
        (0, 2, "> 2.45"),
        (2, 3, "<= 1.75"),
        (2, 4, "> 1.75"),
    ]
    assert drawing.edges[0].title == "petal_length <= 2.45"
    assert [mark.label for mark in drawing.legend] == ["setosa", "versicolor", "virginica"]
    assert (drawing.hidden_leaves, drawing.hidden_nodes, drawing.left_out()) == (0, 0, "")


def test_a_tree_of_one_leaf_and_branches_per_value() -> None:
    drawing = draw_tree(iris(max_depth=0))
    assert ([box.leaf for box in drawing.boxes], drawing.edges) == ([True], ())
    labels = [edge.label for edge in draw_tree(tennis()).edges if edge.parent == 0]
    assert labels == ["= Overcast", "= Rain", "= Sunny"]


def ends(drawing: Drawing) -> int:
    return sum(box.leaf or box.more > 0 for box in drawing.boxes)


def test_a_large_tree_is_cut_at_the_largest_depth_that_has_room() -> None:
    model = noise(300)
    drawing = draw_tree(model)
    depth = max(box.depth for box in drawing.boxes)
    assert ends(drawing) <= 40
    assert ends(draw_tree(model, max_depth=depth)) == ends(drawing)
    assert ends(draw_tree(model, max_depth=depth + 1)) > 40
    cut = [box for box in drawing.boxes if box.more]
    assert cut[0].lines[2] == f"+{cut[0].more} more leaves"
    assert all(box.depth == depth for box in cut)
    shown = sum(box.leaf for box in drawing.boxes)
    assert sum(box.more for box in cut) == drawing.hidden_leaves == 300 - shown
    assert drawing.hidden_nodes == model.n_nodes - len(drawing.boxes)
    assert drawing.left_out() == f"{shown} of 300 leaves drawn"


def test_there_is_one_level_of_tests_at_least() -> None:
    assert len(draw_tree(noise(30), max_leaves=1).boxes) == 3
    assert len(draw_tree(noise(30), max_depth=0).boxes) == 1
    assert len(draw_tree(noise(30), max_leaves=None).boxes) == 59


def test_few_ends_stand_side_by_side_and_many_below_each_other() -> None:
    assert draw_tree(noise(10)).orientation == "down"
    assert draw_tree(noise(11)).orientation == "right"
    assert draw_tree(noise(11), orientation="down").orientation == "down"
    assert draw_tree(noise(3), orientation="right").orientation == "right"


@pytest.mark.parametrize(
    ("orientation", "leaves"), [("down", 2), ("right", 3), ("down", 9), ("down", 60), ("right", 60)]
)
def test_nothing_overlaps(orientation: str, leaves: int) -> None:
    drawing = draw_tree(noise(leaves), max_leaves=None, orientation=orientation)
    boxes = drawing.boxes
    for i, a in enumerate(boxes):
        assert a.x >= 0
        assert a.y >= 0
        assert a.x + a.width <= drawing.width
        assert a.y + a.height <= drawing.height
        for b in boxes[i + 1 :]:
            assert apart(a, b)
    for edge in drawing.edges:
        for x, y in label_corners(edge, orientation):
            assert not any(inside(box, x, y) for box in boxes)
            assert 0 <= x <= drawing.width


def apart(a: Box, b: Box) -> bool:
    beside = a.x + a.width < b.x or b.x + b.width < a.x
    return beside or a.y + a.height < b.y or b.y + b.height < a.y


def inside(box: Box, x: float, y: float) -> bool:
    return box.x < x < box.x + box.width and box.y < y < box.y + box.height


def label_corners(edge: Any, orientation: str) -> list[tuple[float, float]]:
    width, (x, y) = text_width(edge.label, 11), edge.at
    left = x - width / 2 if orientation == "down" else x
    return [(left, y), (left + width, y), (left, y - 9), (left + width, y - 9)]


def test_edges_begin_and_end_at_boxes() -> None:
    for drawing in (draw_tree(iris()), draw_tree(iris(), orientation="right")):
        boxes = {box.node: box for box in drawing.boxes}
        for edge in drawing.edges:
            (x, y), *_, (end_x, end_y) = edge.path
            above, below = boxes[edge.parent], boxes[edge.child]
            if drawing.orientation == "down":
                assert (x, y) == (above.x + above.width // 2, above.y + above.height)
                assert end_x == below.x + below.width // 2
            else:
                assert (x, y) == (above.x + above.width, above.y + above.height // 2)
                assert (end_x, end_y) == (below.x, below.y + below.height // 2)


def test_closed_nodes_hide_what_is_below_them() -> None:
    drawn = sketch(iris(), None, None, "auto")
    at = {item.node: i for i, item in enumerate(drawn.items)}
    drawing = arrange(drawn, {at[3]})
    assert [box.node for box in drawing.boxes] == [0, 1, 2, 3, 12, 13, 14, 15, 16]
    assert {box.node: box.more for box in drawing.boxes if box.more} == {3: 5}
    assert drawing.hidden_leaves == 5


def test_long_sets_and_numbers_are_short_on_an_edge_and_whole_in_its_title() -> None:
    rng = np.random.default_rng(0)
    towns = np.array([f"the town of {i:02d}" for i in range(20)])
    table = pd.DataFrame({"town": rng.choice(towns, 400), "x": rng.normal(size=400)})
    y = np.isin(table["town"], towns[:9]) ^ (table["x"] > 0.123456789)
    drawing = draw_tree(fitted(table, y))
    labels = [edge.label for edge in drawing.edges]
    assert max(text_width(label, 11) for label in labels) <= 200
    sets = [e for e in drawing.edges if "values)" in e.label]
    assert sets
    assert all("the town of" in edge.title for edge in sets)
    cuts = [e for e in drawing.edges if e.label.startswith("<= ") and e.label.endswith("…")]
    assert all(edge.title.startswith(f"x {edge.label[:-1]}") for edge in cuts)
    assert cuts


def test_long_names_are_shortened_in_the_middle() -> None:
    name = "measured at the left side of the second leaf"
    table = datasets.iris().rename(columns={"petal_length": name})
    box = draw_tree(fitted(table, "species", max_depth=1)).boxes[0]
    assert box.lines[0].startswith("measured at")
    assert box.lines[0].endswith("leaf")
    assert "…" in box.lines[0]
    assert name in box.title
    assert box.width < 260


def test_words_are_as_wide_as_they_may_get() -> None:
    assert text_width("", 12) <= 2
    assert text_width("mmm", 12) > 3 * text_width("iii", 12) / 1.5
    assert text_width("漢字", 12) >= 24
    assert text_width("abc", 12, bold=True) > text_width("abc", 12)
    assert text_width("e\u0301", 12) == text_width("e", 12)
    assert text_width("abc", 12) % 2 == 0


def test_what_has_no_room_is_shortened() -> None:
    assert fit("short", 12, 100) == "short"
    long = fit("x" * 100_000, 12, 100)
    assert len(long) < 20
    assert long.startswith("xxx")
    assert text_width(long, 12) <= 100
    assert fit("abcdef", 12, 1) == "ab…f"
    assert fit("ab", 12, 1) == "ab"


@pytest.mark.parametrize(
    ("name", "written"),
    [(">50K", ">50K"), ("", '""'), (" a", '" a"'), ("a\nb", '"a\\nb"'), (7, "7"), (True, "True")],
)
def test_names_on_their_own(name: object, written: str) -> None:
    assert plain(name) == written


def test_shares_are_not_rounded_to_none_or_all() -> None:
    shares = (0.0, 0.004, 0.5, 0.996, 1.0)
    assert list(map(share_text, shares)) == ["0 %", "< 1 %", "50 %", "> 99 %", "100 %"]


def test_weights_with_fractions() -> None:
    table = datasets.iris()
    weights = np.resize([0.5, 1.25], 150)
    X, y = table.drop(columns="species"), table["species"]
    model = TreeClassifier(max_depth=1, pruning=None).fit(X, y, sample_weight=weights)._model
    assert draw_tree(model).boxes[0].lines[1].startswith("n 131.25 · ")


def test_many_classes_are_named_by_weight() -> None:
    y = np.repeat([f"c{k:03d}" for k in range(100)], np.arange(1, 101))
    model = fitted(pd.DataFrame({"x": np.arange(len(y))}), y, max_depth=2)
    drawing = draw_tree(model)
    assert len(drawing.legend) == 40
    assert drawing.legend[-1].label == "c099"
    assert drawing.more_classes == 60


def test_a_tree_too_deep_for_any_recursion() -> None:
    drawing = draw_tree(chain(5000))
    assert ends(drawing) == 40
    assert drawing.boxes[-1].more == 5001 - 39
    assert len(draw_tree(chain(1500), max_depth=1500, orientation="right").boxes) == 3001
