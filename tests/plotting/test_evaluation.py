"""Pictures of judged predictions and of comparisons: what is drawn is what was counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_rgb
from matplotlib.patches import PathPatch
from tests.plotting.drawn import comparison, legend_of, predictions, rendered

from sortal import LinearDiscriminant, datasets
from sortal.displays import ComparisonDisplay, ConfusionDisplay, ReliabilityDisplay, RocDisplay
from sortal.evaluation import Confusion, Reliability, Roc
from sortal.plotting.comparison import ScoredModel
from sortal.plotting.evaluation import letters_on, shade

if TYPE_CHECKING:
    from matplotlib.axes import Axes

EVIL = "_$x^{2$ <b>&\n\u202e\\alpha"


def iris() -> tuple[Any, Any]:
    table = datasets.iris()
    return table.drop(columns="species"), table["species"]


def numbers_in(ax: Axes) -> dict[tuple[int, int], str]:
    """What is written in the cell of a true class and a class said."""
    return {
        (round(text.get_position()[1]), round(text.get_position()[0])): text.get_text()
        for text in ax.texts
    }


# Confusion


def test_every_count_stands_in_its_cell() -> None:
    record = Confusion(("a", "b", "c"), ((7, 1, 0), (0, 5, 3), (0, 0, 9)))
    display = ConfusionDisplay.from_confusion(record)
    assert numbers_in(display.ax_) == {
        (0, 0): "7", (0, 1): "1", (1, 1): "5", (1, 2): "3", (2, 2): "9",
    }  # fmt: skip
    assert [t.get_text() for t in display.ax_.get_xticklabels()] == ["a", "b", "c"]
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == ["a (8)", "b (8)", "c (9)"]
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == (
        "class said", "true class (rows)",
    )  # fmt: skip
    assert display.ax_.get_title() == (
        "Confusion of classes\n21 of 25 rows right; balanced accuracy 0.833"
    )
    assert display.ax_.get_ylim() == (2.5, -0.5)  # the first class at the top
    assert len(legend_of(display.ax_)) == 4


def on_white(rgba: Any) -> str:
    r, g, b, part = mpl.colors.to_rgba(rgba)
    return mpl.colors.to_hex((1 - part * (1 - r), 1 - part * (1 - g), 1 - part * (1 - b)))


def cells_of(ax: Axes) -> dict[tuple[int, int], str]:
    """The color of each cell, by asking every path whether it holds the middle of the cell."""
    k = len(ax.get_yticks())
    paths = [p for p in ax.patches if isinstance(p, PathPatch) and p.get_fill()]
    return {
        (i, j): on_white(patch.get_facecolor())
        for i in range(k)
        for j in range(k)
        for patch in paths
        if patch.get_path().contains_point((j, i))
    }


def test_cells_are_shaded_by_their_share_and_joined_without_loss() -> None:
    truth, said, _ = predictions(8, 120)
    record = Confusion.of(truth, said, list("abcdefgh"))
    cells = cells_of(ConfusionDisplay.from_confusion(record).ax_)
    matrix = record.matrix
    assert set(cells) == set(zip(*np.nonzero(matrix), strict=True))
    for (i, j), found in cells.items():
        share = matrix[i, j] / matrix[i].sum()
        level = int(np.ceil(20 * np.sqrt(share) - 1e-9))
        assert found == shade(level, right=i == j)


def contrast(a: str, b: str) -> float:
    def luminance(name: str) -> float:
        rgb = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(name)]
        return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]

    low, high = sorted([luminance(a), luminance(b)])
    return (high + 0.05) / (low + 0.05)


def test_numbers_stand_out_from_every_shade() -> None:
    for level in range(40):
        ground = shade(level // 2 + 1, right=level % 2 == 0)
        assert contrast(letters_on(ground), ground) >= 4.5
        assert letters_on(ground) != mpl.colors.to_hex("black")


@pytest.mark.parametrize("k", [1, 12, 30, 50])
def test_few_and_many_classes(k: int) -> None:
    truth, said, _ = predictions(k, 3_000)
    record = Confusion.of(truth, said, [f"class {i}" for i in range(k)])
    display = ConfusionDisplay.from_confusion(record)
    written = numbers_in(display.ax_)
    assert len(written) <= 144
    cut = np.count_nonzero(record.matrix) > 144
    assert ("confusion.table() has all" in display.ax_.get_title()) == cut == (k > 12)
    assert all(text == str(record.counts[i][j]) for (i, j), text in written.items())
    if k <= 12:
        assert len(written) == np.count_nonzero(record.matrix)
    if k <= 30:
        assert all((i, i) in written for i in range(k))
        box = display.ax_.get_window_extent()
        room = box.width / k
        widths = [t.get_window_extent().width for t in display.ax_.texts]
        assert max(widths) < room
    assert len(display.ax_.get_yticks()) <= 40


def test_labels_of_any_library_and_an_estimator() -> None:
    X, Y = iris()
    model = LinearDiscriminant().fit(X, Y)
    said = model.predict(X)
    first = ConfusionDisplay.from_estimator(model, X, Y).confusion
    second = ConfusionDisplay.from_predictions(pl.Series(Y.tolist()), said).confusion
    third = ConfusionDisplay.from_estimator(model, datasets.iris(), "species").confusion
    assert first == second == third
    assert first.n == 150
    part = ConfusionDisplay.from_predictions(["a", "b"], ["b", "c"]).confusion
    assert part.classes == ("a", "b", "c")
    ordered = ConfusionDisplay.from_predictions(["a"], ["b"], classes=["b", "a"]).confusion
    assert ordered.counts == ((0, 0), (1, 0))


# Reliability


def test_points_intervals_and_numbers_of_rows() -> None:
    record = Reliability.of(*predictions(3))
    display = ReliabilityDisplay.from_reliability(record)
    points: Any = display.ax_.lines[0]
    np.testing.assert_allclose(points.get_xdata().astype(float), [one.mean for one in record.bins])
    np.testing.assert_allclose(points.get_ydata().astype(float), [one.share for one in record.bins])
    bars = display.ax_.collections[0].get_segments()  # type: ignore[attr-defined]
    np.testing.assert_allclose(
        [bar[:, 1] for bar in bars], [(one.share_low, one.share_high) for one in record.bins]
    )
    above = display.ax_.child_axes[0]
    told = [t.get_text() for t in above.get_xticklabels()]
    assert told == [f"{one.n:,}" for one in record.bins]
    assert "expected calibration error" in display.ax_.get_title()
    assert legend_of(display.ax_) == ["rows said, interval of 95 %", "taken at its word"]


def test_all_of_it_lies_within_the_axes() -> None:
    for truth, said, shares in (
        ([0, 1], [0, 1], np.eye(2)),
        ([1, 0], [0, 1], np.eye(2)),
        predictions(30),
    ):
        display = ReliabilityDisplay.from_reliability(Reliability.of(truth, said, shares))
        (left, right), (low, high) = display.ax_.get_xlim(), display.ax_.get_ylim()
        for one in display.reliability.bins:
            assert left <= one.mean <= right
            assert low <= one.share_low <= one.share_high <= high


# ROC


def test_curves_and_their_areas() -> None:
    truth, _, shares = predictions(3)
    record = Roc.of(truth, shares, ["a", "b", "c"])
    display = RocDisplay.from_roc(record)
    for line, curve in zip(display.ax_.lines, record.curves, strict=False):
        np.testing.assert_allclose(
            np.asarray(line.get_xydata()).T, [curve.false_positive, curve.true_positive]
        )
    assert legend_of(display.ax_) == [
        *(f"{one.label}: AUC {one.auc:.3f}" for one in record.curves), "by chance: AUC 0.5",
    ]  # fmt: skip
    looks = {(line.get_color(), str(line.get_linestyle())) for line in display.ax_.lines}
    assert len(looks) == len(display.ax_.lines)


def test_two_classes_say_which_is_positive() -> None:
    truth, _, shares = predictions(2)
    display = RocDisplay.from_predictions(np.array(["no", "yes"])[truth], shares)
    assert "positive: yes" in display.ax_.get_title()
    assert len(display.ax_.lines) == 2
    alone = RocDisplay.from_predictions(np.array(["no", "yes"])[truth], shares[:, 1])
    assert alone.roc == display.roc


def test_of_many_classes_the_worst_are_drawn_and_said() -> None:
    truth, _, shares = predictions(30, 2_000)
    display = RocDisplay.from_roc(Roc.of(truth, shares, list(range(30))))
    assert len(display.ax_.lines) == 7
    assert "the 6 worst of 30 classes" in display.ax_.get_title()


def test_an_area_below_1_is_not_called_1() -> None:
    truth = np.array([0] * 3_000 + [1] * 3_000)
    shares = np.linspace(0.0, 1.0, 6_000)
    shares[2_999], shares[3_000] = shares[3_000], shares[2_999]
    display = RocDisplay.from_predictions(truth, shares)
    assert display.roc.macro == 1 - 1 / 9_000_000
    assert legend_of(display.ax_)[0] == "1: AUC 0.9999999"


def test_estimators_with_probabilities() -> None:
    X, Y = iris()
    model = LinearDiscriminant().fit(X, Y)
    shares = model.predict_proba(X)
    assert RocDisplay.from_estimator(model, X, Y).roc == RocDisplay.from_predictions(Y, shares).roc
    first = ReliabilityDisplay.from_estimator(model, X, Y).reliability
    assert first == ReliabilityDisplay.from_predictions(Y, shares).reliability


# Comparison


def dots(display: ComparisonDisplay) -> list[Any]:
    return [line for line in display.ax_.lines if line.get_linestyle() == "None"]


def test_scores_their_intervals_and_the_recommendation() -> None:
    display = ComparisonDisplay.from_comparison(comparison())
    ax = display.ax_
    lda, tree, svm, slow = dots(display)
    assert [float(dot.get_xdata()[0]) for dot in (lda, tree, svm, slow)] == [0.9, 0.88, 0.7, 0.6]
    bars: list[Any] = [line for line in ax.lines if line.get_linestyle() != "None"]
    np.testing.assert_allclose(bars[0].get_xdata(), [0.8, 0.95])
    assert [t.get_text() for t in ax.get_yticklabels()] == [
        "the lda", "the tree", "the svm", "the slow",
    ]  # fmt: skip
    assert ax.get_ylim() == (3.5, -0.5)  # the best at the top
    assert [t.get_text() for t in ax.texts] == [
        "0.9  best eligible", "0.88  recommended", "0.7", "0.6",
    ]  # fmt: skip
    assert tree.get_marker() == "D"
    assert svm.get_marker() == "o"
    assert svm.get_markerfacecolor() == "none"
    assert slow.get_color() != lda.get_color()
    assert ax.get_xlabel() == "accuracy ↑  (more is better)"
    assert "without a score: the broken" in ax.get_title()
    assert legend_of(ax) == [
        "learner", "baseline", "best eligible", "recommended", "fewer rows or folds",
    ]  # fmt: skip
    rendered(display)


def test_the_runner_up_is_marked_where_it_is_not_the_best() -> None:
    display = ComparisonDisplay.from_comparison(
        comparison("log loss ↓", best="lda", recommended="lda", runner_up="tree")
    )
    words = [text.get_text() for text in display.ax_.texts]
    assert words[:2] == ["0.9  recommended", "0.88  runner-up"]
    assert dots(display)[2].get_markerfacecolor() == "none"
    assert display.ax_.get_xlabel() == "log loss ↓  (less is better)"


def test_nothing_recommended_and_nothing_to_draw() -> None:
    display = ComparisonDisplay.from_comparison(comparison(best="", recommended=""))
    assert not any(model.mark for model in display.models)
    assert ComparisonDisplay([ScoredModel("a", 0.5)], "score").plot().ax_.get_xlabel() == "score"


def test_comparisons_with_names_from_data_on_given_axes() -> None:
    models = [
        ScoredModel(name, 0.5, 0.4, 0.6, mark="recommended") for name in (EVIL, "b" * 200, "")
    ]
    display = ComparisonDisplay(models, "score", left_out=[EVIL]).plot()
    assert rendered(display)
    ax = plt.subplots()[1]
    assert display.plot(ax, title="Mine", legend=False).ax_ is ax
    assert ax.get_title().startswith("Mine")
    assert ax.get_legend() is None
