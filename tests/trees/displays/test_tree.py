"""A tree drawn by matplotlib: its boxes are where the drawing has them, its words inside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.patches import FancyBboxPatch, Rectangle
from tests.plotting.drawn import legend_of, rendered, words_of
from tests.trees import some_trees

from sortal.plotting import axes as palette
from sortal.trees.displays import tree as tree_display
from sortal.trees.displays.tree import TreeDisplay
from sortal.trees.drawing.layout import draw_tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sortal.trees.drawing.layout import Drawing


class Estimator:
    """What a display asks of an estimator."""

    def to_drawing(self, *, max_depth: int | None, max_leaves: int | None) -> Drawing:
        return draw_tree(some_trees.iris(), max_depth=max_depth, max_leaves=max_leaves)


def iris(**options: Any) -> Drawing:
    return draw_tree(some_trees.iris(**options))


def frames(ax: Axes) -> list[FancyBboxPatch]:
    return [patch for patch in ax.patches if isinstance(patch, FancyBboxPatch)]


def letters(ax: Axes) -> float:
    return max(float(text.get_fontsize()) for text in ax.texts)


def test_boxes_and_edges_are_where_the_drawing_has_them() -> None:
    drawing = iris()
    display = TreeDisplay(drawing).plot()
    found = [(f.get_x(), f.get_y(), f.get_width(), f.get_height()) for f in frames(display.ax_)]
    assert found == [(b.x, b.y, b.width, b.height) for b in drawing.boxes]
    (lines,) = (c for c in display.ax_.collections if isinstance(c, LineCollection))
    for drawn, edge in zip(lines.get_segments(), drawing.edges, strict=True):
        np.testing.assert_array_equal(drawn, edge.path)
    said = words_of(display.ax_)
    for box in drawing.boxes:
        assert set(box.lines) <= set(said)
    assert {edge.label for edge in drawing.edges} <= set(said)
    assert display.ax_.get_title() == "Decision tree"
    rendered(display)


@pytest.mark.parametrize("orientation", ["down", "right"])
def test_words_stay_in_their_boxes(orientation: str) -> None:
    drawing = draw_tree(some_trees.iris(), orientation=orientation)
    display = TreeDisplay(drawing).plot()
    rendered(display)
    to_data = display.ax_.transData.inverted()
    lines = {line for box in drawing.boxes for line in box.lines}
    for text in display.ax_.texts:
        if text.get_text() in lines:
            (left, _), (right, _) = to_data.transform(text.get_window_extent().get_points())
            assert any(b.x < left and right < b.x + b.width for b in drawing.boxes)


def test_classes_have_their_colors() -> None:
    display = TreeDisplay(iris(max_depth=1)).plot()
    _, setosa, _ = frames(display.ax_)
    assert to_hex(setosa.get_edgecolor()).upper() == palette.color(0)
    bars = [p for p in display.ax_.patches if isinstance(p, Rectangle)]
    assert [to_hex(bar.get_facecolor()).upper() for bar in bars[:3]] == [
        palette.color(k) for k in range(3)
    ]
    assert legend_of(display.ax_) == ["setosa (50)", "versicolor (50)", "virginica (50)"]


def test_classes_beyond_the_colors_have_hatches() -> None:
    display = TreeDisplay(draw_tree(some_trees.many_classes(45), max_leaves=9)).plot()
    legend = display.ax_.get_legend()
    assert legend is not None
    samples = legend.get_patches()
    looks = {(to_hex(s.get_facecolor()), s.get_hatch()) for s in samples[:40]}
    assert len(looks) == 40
    assert legend.get_texts()[-1].get_text() == "5 more classes"


def test_a_path_is_drawn_with_thick_lines() -> None:
    display = TreeDisplay(iris(), highlight={0, 2, 12, 16}).plot()
    plain, bright = (c for c in display.ax_.collections if isinstance(c, LineCollection))
    assert (len(plain.get_segments()), len(bright.get_segments())) == (13, 3)
    thin, thick = (np.ravel(c.get_linewidth())[0] for c in (plain, bright))
    assert thick > 3 * thin
    widths = [frame.get_linewidth() for frame in frames(display.ax_)]
    assert widths[16] == max(widths) > 1.5 * widths[15]


def test_given_axes() -> None:
    _, (ax, other) = plt.subplots(1, 2, figsize=(12, 5))
    display = TreeDisplay(iris()).plot(ax, title="Irises", legend=False)
    assert display.ax_ is ax
    assert ax.get_legend() is None
    assert ax.get_title() == "Irises"
    assert not other.texts
    assert letters(ax) < letters(TreeDisplay(iris()).plot().ax_)
    TreeDisplay(iris()).plot(other, legend="beside")
    assert other.get_legend() is not None


def test_from_an_estimator() -> None:
    display = TreeDisplay.from_estimator(
        Estimator(), max_depth=2, title="Two levels", highlight={0}
    )
    assert len(display.drawing.boxes) == 5
    assert display.ax_.get_title() == "Two levels\n1 of 9 leaves drawn"
    assert "+5 more leaves" in words_of(display.ax_)
    assert len(frames(display.ax_)) == 7  # two are drawn twice: there is more behind
    assert len(TreeDisplay.from_estimator(Estimator(), max_leaves=2).drawing.boxes) == 3


def test_names_from_data_are_harmless() -> None:
    rng = np.random.default_rng(0)
    names = ["$\\frac{", "_hidden", "100 $ and 5 $", "two\nlines"]
    table = pd.DataFrame(rng.normal(size=(30, 4)), columns=names)
    table["kind"] = rng.choice(["$a_{", "b$"], 30)
    model = some_trees.fitted(table, rng.choice(names, 30))
    with mpl.rc_context({"text.usetex": True}):
        display = TreeDisplay(draw_tree(model, max_leaves=None)).plot()
    assert not any(text.get_usetex() for text in display.ax_.texts)
    rendered(display)
    assert " _hidden" in legend_of(display.ax_)[2]


def test_a_large_tree_has_a_figure_that_can_be_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    free = TreeDisplay(iris()).plot(legend=False).figure_.get_size_inches()
    monkeypatch.setattr(tree_display, "_MOST_INCHES", 4)
    display = TreeDisplay(iris()).plot(legend=False)
    assert max(display.figure_.get_size_inches()) <= 4 < max(free)
    assert len(frames(display.ax_)) == some_trees.iris().n_nodes
