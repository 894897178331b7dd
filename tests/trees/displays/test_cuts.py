"""Pictures of the cuts of a node: the curves are the tables, and the words say the best of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.plotting.drawn import PLANE, legend_of, rendered, words_of
from tests.trees.some_trees import book_rows, book_tree

from sortal import TreeClassifier, datasets
from sortal.trees.displays.cuts import FrequenciesDisplay, ScoresDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sortal.trees.learn import Criterion, Policy


def only(display: ScoresDisplay) -> Axes:
    """The one axes that all curves share."""
    assert not isinstance(display.ax_, list)
    return display.ax_


def several(display: ScoresDisplay) -> list[Axes]:
    """The axes, where each curve has its own."""
    assert isinstance(display.ax_, list)
    return display.ax_


def kinds() -> tuple[Any, Any]:
    """A number, a date, an ordered category and a word."""
    rng = np.random.default_rng(0)
    sizes = pd.Categorical(rng.choice(["S", "M", "L"], 200), ["S", "M", "L"], ordered=True)
    days = pd.to_datetime("2024-01-01") + pd.to_timedelta(rng.integers(0, 90, 200), unit="D")
    X = pd.DataFrame({"x": rng.normal(size=200), "day": days, "size": sizes, "word": "w"})
    X.loc[::2, "word"] = "v"
    return X, np.where((X["x"] > 0) & (X["day"] > "2024-02-01"), "late", "early")


def test_figure_19_2() -> None:
    display = FrequenciesDisplay.from_estimator(book_tree(), *book_rows())
    assert display.counts.shape == (34, 2)
    assert display.chosen is not None
    assert display.v[display.chosen] == 5.45
    assert display.counts[display.chosen].tolist() == [45, 7]
    first, second = display.ax_.lines[:2]
    np.testing.assert_array_equal(first.get_ydata(), display.counts[:, 0])
    np.testing.assert_array_equal(second.get_xdata(), display.v)
    assert words_of(display.ax_) == ["v = 5.45", "45", "7"]
    assert legend_of(display.ax_) == ["c1 (50)", "c2 (100)"]
    assert display.ax_.get_title() == "Rows below every cut of sepal_length\nnode 0"
    assert display.ax_.get_xlabel() == "cut v of sepal_length"
    assert rendered(display)


def test_counts_are_those_of_the_rows() -> None:
    X, y = book_rows()
    display = FrequenciesDisplay.from_estimator(book_tree(), X, y, features="sepal_width")
    for v, counts in zip(display.v, display.counts, strict=True):
        below = X["sepal_width"] <= v
        assert counts.tolist() == [int((y[below] == c).sum()) for c in ("c1", "c2")]
    assert display.chosen is None
    assert words_of(display.ax_) == []


def test_the_test_of_the_node_is_shown_unless_another_is_named() -> None:
    X, y = book_rows()
    assert FrequenciesDisplay.from_estimator(book_tree(), X, y, node=1).name == "sepal_width"
    named = FrequenciesDisplay.from_estimator(book_tree(), X, y, node=1, features=[0])
    assert named.name == "sepal_length"
    assert named.ax_.get_title().endswith("node 1")


def test_weights_are_counted() -> None:
    X, y = book_rows()
    weight = np.where(y == "c1", 0.5, 2.25)
    model = TreeClassifier(max_depth=1, pruning=None).fit(X, y, weight)
    display = FrequenciesDisplay.from_estimator(model, X, y, sample_weight=weight)
    assert legend_of(display.ax_) == ["c1 (25)", "c2 (225)"]


def test_counts_of_many_classes_are_not_written() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 1)), np.arange(200) % 6
    model = TreeClassifier(max_depth=1, pruning=None).fit(X, y)
    display = FrequenciesDisplay.from_estimator(model, X, y)
    (word,) = words_of(display.ax_)
    assert word.startswith("v = ")
    assert display.ax_.lines[0].get_marker() == "None"  # so many cuts are a line


def test_plain_arrays_and_options() -> None:
    display = FrequenciesDisplay([1, 2], [[1, 0], [1, 1]], name="age").plot(linewidth=7)
    assert display.ax_.lines[0].get_linewidth() == 7
    assert display.ax_.get_xlabel() == "cut v of age"
    assert legend_of(display.ax_) == ["0", "1"]


def test_figure_19_3() -> None:
    X, y = book_rows()
    display = ScoresDisplay.from_estimator(book_tree(), X, y)
    length, width = display.curves
    assert (length.name, len(length.v), len(width.v)) == ("sepal_length", 34, 22)
    assert length.best is not None
    assert width.best is not None
    assert (length.v[length.best], width.v[width.best]) == (5.45, 3.35)
    ax = only(display)
    assert words_of(ax) == ["sepal_length ≤ 5.45:  0.531", "sepal_width ≤ 3.35:  0.253"]
    assert legend_of(ax) == PLANE
    assert ax.get_ylabel() == "gain in bits"
    assert ax.get_title() == "Scores of every cut\nnode 0"
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), length.scores)
    working = book_tree().working(0, X, y)
    assert length.scores.tolist() == list(working["sepal_length"].column("score"))


def test_words_that_would_meet_go_into_the_legend() -> None:
    frame = datasets.iris()
    model = TreeClassifier("gini", pruning=None).fit(frame, "species")
    ax = only(ScoresDisplay.from_estimator(model, frame, "species"))
    assert words_of(ax) == []
    assert legend_of(ax)[0] == "petal_length ≤ 2.45:  0.333"
    assert ax.get_ylabel() == "decrease of the Gini index"


@pytest.mark.parametrize("criterion", ["gain", "gain_ratio", "gini", "cart"])
def test_the_best_cut_is_the_one_that_ranks_first(criterion: Criterion) -> None:
    X, y = book_rows()
    model = TreeClassifier(criterion, min_samples_leaf=20, pruning=None).fit(X, y)
    working = model.working(0, X, y)
    for curve in ScoresDisplay.from_estimator(model, X, y).curves:
        ranks = working[curve.name].column("rank")
        best = min(rank for rank in ranks if rank is not None)
        assert curve.best == ranks.index(best)


def test_kinds_that_do_not_go_together_have_axes_of_their_own() -> None:
    X, y = kinds()
    model = TreeClassifier(max_depth=2, pruning=None).fit(X, y)
    display = ScoresDisplay.from_estimator(model, X, y)
    panels = several(display)
    assert len(panels) == 3
    by_name = {curve.name: curve for curve in display.curves}
    assert by_name["day"].v.dtype.kind == "M"
    assert by_name["size"].v.tolist() == ["S", "M"]
    assert by_name["x"].v.dtype.kind == "f"
    panel = panels[[curve.name for curve in display.curves].index("size")]
    assert [tick.get_text() for tick in panel.get_xticklabels()] == ["S", "M"]
    assert display.figure_.get_suptitle().startswith("Scores of every cut")
    assert rendered(display)
    assert rendered(FrequenciesDisplay.from_estimator(model, X, y, features="size"))


def test_the_cut_of_a_date_is_written_as_a_date() -> None:
    days = pd.to_datetime(["2024-01-01", "2024-01-03", "2024-01-05", "2024-01-06"])
    X = pd.DataFrame({"day": days})
    y = ["a", "a", "b", "b"]
    model = TreeClassifier(pruning=None).fit(X, y)
    display = FrequenciesDisplay.from_estimator(model, X, y)
    assert words_of(display.ax_)[0] == "v = 2024-01-04"
    scores = ScoresDisplay.from_estimator(model, X, y)
    assert words_of(only(scores)) == ["≤ 2024-01-04:  1"]


def test_moments_close_to_1970() -> None:
    X = pd.DataFrame({"at": np.array([1, 4], dtype="datetime64[ns]")})
    model = TreeClassifier(pruning=None).fit(X, ["a", "b"])
    for display in (FrequenciesDisplay, ScoresDisplay):
        assert rendered(display.from_estimator(model, X, ["a", "b"]))


def test_attributes_far_apart_have_axes_of_their_own() -> None:
    v = np.arange(5.0)
    near = ScoresDisplay([("a", v, v), ("b", v + 3, v)]).plot()
    assert not isinstance(near.ax_, list)
    far = several(ScoresDisplay([("a", v, v), ("b", v * 1000, v)]).plot())
    assert len(far) == 2
    assert words_of(far[1]) == ["≤ 4000:  4"]
    _, ax = plt.subplots()
    assert ScoresDisplay([("a", v, v), ("b", v * 1000, v)]).plot(ax).ax_ is ax


def test_only_the_best_attributes_are_drawn() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 9)), np.arange(60) % 2
    model = TreeClassifier(max_depth=1, pruning=None).fit(X, y)
    display = ScoresDisplay.from_estimator(model, X, y)
    assert len(display.curves) == 6
    assert "the best 6 of 9 attributes" in display.note
    tests = model.working(0, X, y)["tests"]
    assert [curve.name for curve in display.curves] == list(tests.column("attribute"))[:6]
    all_of_them = ScoresDisplay.from_estimator(model, X, y, features=range(9))
    assert [curve.name for curve in all_of_them.curves] == [f"x{j}" for j in range(9)]


def test_y_may_be_a_column_and_columns_may_have_the_names_of_tables() -> None:
    X, y = book_rows()
    frame = pl.DataFrame({"test": X["sepal_length"], "tests": X["sepal_width"], "kind": y})
    model = TreeClassifier(max_depth=1, pruning=None).fit(frame, "kind")
    display = ScoresDisplay.from_estimator(model, frame, "kind")
    assert [curve.name for curve in display.curves] == ["test", "tests"]
    assert FrequenciesDisplay.from_estimator(model, frame, "kind", features="tests").name == "tests"


@pytest.mark.parametrize("missing", ["direction", "branch", "majority", "fractional"])
def test_missing_values_are_no_cuts(missing: Policy) -> None:
    """Each threshold is drawn once, with the known rows below it."""
    X = pd.DataFrame({"x": [1.0, 1, 2, 3, 3, np.nan, np.nan]})
    y = list("aabbbaa")
    model = TreeClassifier(missing=missing, pruning=None).fit(X, y)
    below = FrequenciesDisplay.from_estimator(model, X, y)
    assert below.v.tolist() == [1.5, 2.5]
    assert below.counts.tolist() == [[2, 0], [2, 1]]
    assert below.chosen == 0
    (curve,) = ScoresDisplay.from_estimator(model, X, y).curves
    assert curve.scores.max() == pytest.approx(model._model.score[0])
