"""The working of a tree's node: the textbook's numbers and its words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pytest

from sortal import TreeClassifier, datasets, score_split
from sortal.trees.working.node import table_names

if TYPE_CHECKING:
    from sortal.records.tables import Table

# Trees of one class are grown on purpose, or by chance.
pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.OneClassWarning")

PLANE: Final = ["sepal_length", "sepal_width"]


def iris() -> tuple[Any, Any]:
    """Setosa is c1, as in the book."""
    frame = datasets.iris()
    return frame[PLANE], np.where(frame["species"] == "setosa", "c1", "c2")


def iris_tree(**options: Any) -> TreeClassifier:
    return TreeClassifier(purity=0.95, leaf_size=5, **{"pruning": None, **options}).fit(*iris())


def row_at(table: Table, column: str, cell: Any) -> dict[str, Any]:
    (row,) = (row for row in table.rows if row[table.columns.index(column)] == cell)
    return dict(zip(table.columns, row, strict=True))


def only_row(table: Table) -> dict[str, Any]:
    (row,) = table.rows
    return dict(zip(table.columns, row, strict=True))


def test_the_root_of_figure_19_1() -> None:
    working = iris_tree().working(0, *iris())
    names = ["node", "impurity", *PLANE, "tests", "test", "hyperplane"]
    assert [table.name for table in working] == names
    assert working["node"].rows == (("c1", 50, 1 / 3), ("c2", 100, 2 / 3))
    impurity = only_row(working["impurity"])
    assert (impurity["n"], impurity["size"]) == (150, 150)
    shares = [impurity[name] for name in ("purity", "error", "entropy", "Gini")]
    assert shares == pytest.approx([2 / 3, 1 / 3, 0.9182958, 4 / 9])
    test = only_row(working["test"])
    assert (test["test"], test["criterion"]) == ("sepal_length <= 5.45", "gain")
    assert (test["search"], test["cuts"], test["sets V"]) == ("exact", 56, 0)
    assert test["leaf because"] == ""
    assert working["hyperplane"].rows == (("sepal_length", 1.0), ("sepal_width", 0.0), ("b", -5.45))


def test_example_19_4_and_figure_19_3() -> None:
    working = iris_tree().working(0, *iris())
    cut = row_at(working["sepal_length"], "v", 5.45)
    assert (cut["N(c1)"], cut["N(c2)"]) == (45, 7)
    assert (cut["P(X<=v|c1)"], cut["P(X<=v|c2)"]) == (0.9, 0.07)
    assert (cut["P(c1|Y)"], cut["P(c2|Y)"]) == (45 / 52, 7 / 52)
    assert (cut["P(c1|N)"], cut["P(c2|N)"]) == (5 / 98, 93 / 98)
    assert cut["split entropy"] == pytest.approx(0.3875, abs=5e-5)
    assert cut["score"] == pytest.approx(0.5308, abs=5e-5)
    assert (cut["rank"], cut["allowed"], cut["chosen"]) == (1, True, True)
    assert [len(working[name].rows) for name in PLANE] == [34, 22]
    (first, second) = working["tests"].rows
    assert first[:3] == (1, "sepal_length", "sepal_length <= 5.45")
    assert second[:3] == (2, "sepal_width", "sepal_width <= 3.35")
    assert second[3] == pytest.approx(0.2531, abs=5e-5)
    assert (first[-2:], second[-2:]) == ((34, True), (22, False))
    ranks = [r for name in PLANE for r in working[name].column("rank")]
    assert sorted(ranks, key=int) == list(range(1, 57))  # type: ignore[arg-type]


def test_tables_19_1_and_19_2() -> None:
    bins = datasets.discretized_iris()
    X, y = bins[["sepal_length"]], bins["species"]
    working = TreeClassifier(max_depth=1, pruning=None).fit(X, y).working(0, X, y)
    values = working["sepal_length values"]
    assert values.columns[:3] == ("value", "n(other)", "n(setosa)")
    assert [row[:3] for row in values.rows] == [
        ("Long", 43, 0),
        ("Short", 39, 11),
        ("Very Long", 12, 0),
        ("Very Short", 6, 39),
    ]
    assert values.column("P(X=v|setosa)") == (0.0, 0.22, 0.0, 0.78)
    sets = working["sepal_length"]
    printed = {V: (round(h, 3), round(g, 3)) for V, h, g in sets_of(sets)}
    assert printed == {
        "{Very Short}": (0.509, 0.410),
        "{Short}": (0.897, 0.022),
        "{Long}": (0.711, 0.207),
        "{Very Long}": (0.869, 0.049),
        "{Long, Very Long}": (0.632, 0.286),
        "{Long, Very Short}": (0.860, 0.058),
        "{Long, Short}": (0.667, 0.251),
    }
    assert row_at(sets, "V", "{Long, Short}")["not V"] == "{Very Long, Very Short}"
    best = row_at(sets, "V", "{Very Short}")
    assert (best["n(V, other)"], best["n(V, setosa)"]) == (6, 39)
    assert (best["n(not V, other)"], best["n(not V, setosa)"]) == (94, 11)
    assert (best["P(setosa|Y)"], best["P(setosa|N)"]) == (39 / 45, 11 / 105)
    assert (best["rank"], best["chosen"]) == (1, True)
    assert only_row(working["test"])["sets V"] == 7


def sets_of(table: Table) -> list[tuple[Any, ...]]:
    columns = (table.column(name) for name in ("V", "split entropy", "score"))
    return list(zip(*columns, strict=True))


def test_loves_sports_by_gini() -> None:
    people = datasets.loves_sports()
    model = TreeClassifier("gini", pruning=None).fit(people, "LovesSports")
    root = model.working(0, people, "LovesSports")
    assert root["LovesMovies"].column("split Gini") == pytest.approx((0.2142857,))
    assert root["LovesOpera"].column("split Gini") == pytest.approx((0.4047619,))
    assert root["Age"].column("v") == (9.5, 15.0, 26.5, 36.5, 44.0, 66.5)
    below = model.working(2, people, "LovesSports")
    assert only_row(below["test"])["test"] == "Age <= 12.5"
    assert row_at(below["Age"], "v", 12.5)["split Gini"] == pytest.approx(0.0)
    assert below["LovesMovies"].rows == ()
    assert "one value in the node" in below["LovesMovies"].title
    (movies,) = (row for row in below["tests"].rows if row[1] == "LovesMovies")
    assert movies[0] is None
    assert movies[2] == "none is allowed"


def test_play_tennis_by_id3() -> None:
    tennis = datasets.play_tennis()
    id3 = TreeClassifier(categorical_split="multiway", pruning=None).fit(tennis, "PlayTennis")
    working = id3.working(0, tennis, "PlayTennis")
    gains = {row[1]: row[3] for row in working["tests"].rows}
    expected = {"Outlook": 0.2467, "Humidity": 0.1518, "Wind": 0.0481, "Temperature": 0.0292}
    assert list(gains) == list(expected)
    assert gains == pytest.approx(expected, abs=5e-5)
    outlook = row_at(working["Outlook"], "value", "Rain")
    assert (outlook["n(No)"], outlook["n(Yes)"]) == (2, 3)
    assert (outlook["P(No|X=v)"], outlook["P(Yes|X=v)"]) == (0.4, 0.6)
    assert outlook["entropy"] == pytest.approx(0.9709506)
    assert str(row_at(working["Outlook"], "value", "Overcast")["entropy"]) == "0.0"
    assert working["tests"].rows[0][2] == "Outlook: Overcast | Rain | Sunny"


def test_the_gain_ratio_shows_who_competes() -> None:
    tennis = datasets.play_tennis()
    model = TreeClassifier("gain_ratio", categorical_split="multiway", pruning=None).fit(
        tennis, "PlayTennis"
    )
    tests = model.working(0, tennis, "PlayTennis")["tests"]
    assert tests.columns[3:7] == ("score", "gain", "split information", "gain at least average")
    assert [(row[1], row[6]) for row in tests.rows] == [
        ("Outlook", True),
        ("Humidity", True),
        ("Wind", False),
        ("Temperature", False),
    ]
    for row in tests.rows:
        split = score_split(tennis[row[1]], tennis["PlayTennis"])
        assert row[3:6] == pytest.approx((split.gain_ratio, split.gain, split.split_information))


def test_of_many_values_each_alone_and_the_best_set() -> None:
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"x": [f"v{v:02}" for v in rng.integers(20, size=600)]})
    y = (rng.random(600) < (X["x"].str[1:].astype(int) % 3 + 1) / 4).to_numpy()
    model = TreeClassifier(max_depth=1, pruning=None).fit(X, y)
    working = model.working(0, X, y)
    table = working["x"]
    assert len(table.rows) == 21
    assert "each value alone and the best set found, of 524287 sets V" in table.title
    assert table.column("not V")[0] == "the other 19"
    best = row_at(table, "chosen", cell=True)
    assert best["rank"] == 1
    assert best["score"] == pytest.approx(only_row(working["test"])["score"], abs=1e-12)
    assert working["tests"].rows[0][2] == only_row(working["test"])["test"]
    assert only_row(working["test"])["sets V"] == 2**19 - 1
    assert len(working["x values"].rows) == 20


def test_a_heuristic_says_so() -> None:
    rng = np.random.default_rng(2)
    X = pd.DataFrame({"x": [f"v{v:02}" for v in rng.integers(40, size=2000)]})
    y = rng.integers(5, size=2000)
    working = TreeClassifier(max_depth=1, pruning=None).fit(X, y).working(0, X, y)
    test = only_row(working["test"])
    (offer,) = working["tests"].rows
    assert (test["search"], offer[4]) == ("heuristic", "heuristic")
    assert offer[5] == test["sets V"]
    assert offer[2] == test["test"]


def test_a_bound_on_sets_leaves_them_in_the_list() -> None:
    bins = datasets.discretized_iris()
    X, y = bins[["sepal_length"]], bins["species"]
    model = TreeClassifier(max_depth=1, max_subset=1, pruning=None).fit(X, y)
    table = model.working(0, X, y)["sepal_length"]
    assert len(table.rows) == 7
    assert table.column("allowed") == (True,) * 4 + (False,) * 3
    assert table.column("rank")[4:] == (None,) * 3


@pytest.mark.parametrize(
    ("m", "most", "n_sets"),
    [
        *((m, None, 2 ** (m - 1) - 1) for m in (2, 3, 4, 10)),
        (10, 2, 10 + 45),
        (1100, None, math.inf),
    ],
)
def test_how_many_sets_are_allowed(m: int, most: int | None, n_sets: float) -> None:
    X = pd.DataFrame({"x": [f"v{i:04}" for i in range(m)]})
    y = np.arange(m) % 2
    model = TreeClassifier(max_depth=1, max_subset=most, pruning=None).fit(X, y)
    (offer,) = model.working(0, X, y)["tests"].rows
    assert offer[5] == n_sets


def test_ordered_categories_and_dates_are_cut_in_their_own_words() -> None:
    sizes = pd.Categorical(["S", "M", "L", "S", "L", "M"], categories=["S", "M", "L"], ordered=True)
    days = pd.to_datetime(["2024-01-01", "2024-01-05", "2024-01-09"] * 2)
    X = pd.DataFrame({"size": sizes, "day": days})
    y = ["a", "b", "b", "a", "b", "b"]
    model = TreeClassifier(pruning=None).fit(X, y)
    working = model.working(0, X, y)
    assert working["size"].column("v") == ("S", "M")
    assert working["day"].column("v") == ("2024-01-03", "2024-01-07")
    assert only_row(working["test"])["test"] == "size <= S"
    assert "hyperplane" not in [table.name for table in working]
    by_day = TreeClassifier(pruning=None).fit(X[["day"]], ["a", "b", "b", "a", "b", "b"])
    plane = by_day.working(0, X[["day"]], ["a", "b", "b", "a", "b", "b"])["hyperplane"]
    assert plane.rows[0] == ("day", 1.0)


def test_a_class_that_the_node_lacks_has_no_shares_of_its_own() -> None:
    X = pd.DataFrame({"x": [1.0, 2, 3, 4, 5, 6], "z": [0.0, 1, 0, 1, 0, 1]})
    y = ["a", "b", "a", "b", "c", "c"]
    model = TreeClassifier(pruning=None).fit(X, y)
    cut = only_row(model.working(1, X, y)["z"])
    assert (cut["P(X<=v|c)"], cut["P(c|Y)"]) == (None, 0.0)


def test_weights_with_fractions_and_without_weight() -> None:
    X = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0, 9.0]})
    y, weight = ["a", "a", "b", "b", "b"], [0.5, 1.25, 1.0, 0.25, 0.0]
    working = TreeClassifier(pruning=None).fit(X, y, weight).working(0, X, y, weight)
    assert working["x"].column("v") == (1.5, 2.5, 3.5)
    cut = row_at(working["x"], "v", 2.5)
    assert (cut["N(a)"], cut["N(b)"]) == (1.75, 0.0)
    assert working["node"].rows == (("a", 1.75, 7 / 12), ("b", 1.25, 5 / 12))
    assert only_row(working["impurity"])["size"] == 4


def test_equals_stand_in_the_order_of_columns_and_of_thresholds() -> None:
    X = pd.DataFrame({"a": [1.0, 2, 3, 4], "b": [1.0, 2, 3, 4]})
    y = ["p", "q", "p", "q"]
    working = TreeClassifier(pruning=None).fit(X, y).working(0, X, y)
    # both ends of both columns score the same, and the middle says nothing
    assert working["a"].column("rank") == (1, None, 2)
    assert working["b"].column("rank") == (3, None, 4)
    assert working["a"].column("score")[1] == 0.0
    assert working["a"].column("allowed") == (True, False, True)


def reason(model: TreeClassifier, node: int, *rows: Any) -> str:
    return str(only_row(model.working(node, *rows)["test"])["leaf because"])


def test_why_a_node_is_a_leaf() -> None:
    X, y = iris()
    model = iris_tree()
    assert reason(model, 5) == "its purity 0.977778 is at least purity=0.95"
    assert reason(model, 3) == (
        "its size 1 is at most leaf_size=5; its purity 1 is at least purity=0.95"
    )
    shallow = TreeClassifier(max_depth=1, pruning=None).fit(X, y)
    assert reason(shallow, 1) == "it lies at max_depth=1"
    strict = TreeClassifier(min_gain=0.6, pruning=None).fit(X, y)
    assert reason(strict, 0) == "no test is allowed, or none scores at least min_gain=0.6"
    assert reason(strict, 0, X, y) == "its best test scores 0.530775, less than min_gain=0.6"
    few = TreeClassifier(max_leaf_nodes=2, pruning=None).fit(X, y)
    assert reason(few, 1, X, y) == "other nodes were asked first by max_leaf_nodes=2"
    assert "others were asked first by max_leaf_nodes=2" in reason(few, 1)
    wide = TreeClassifier(min_samples_leaf=76, pruning=None).fit(X, y)
    assert reason(wide, 0, X, y) == "no test is allowed"
    assert only_row(wide.working(0, X, y)["test"])["score"] is None


def test_the_tests_of_a_leaf_are_listed_and_none_is_chosen() -> None:
    X, y = iris()
    working = TreeClassifier(min_gain=0.6, pruning=None).fit(X, y).working(0, X, y)
    assert working["tests"].column("chosen") == (False, False)
    assert row_at(working["sepal_length"], "rank", 1)["v"] == 5.45
    assert True not in working["sepal_length"].column("chosen")


def test_without_rows_only_what_the_tree_knows() -> None:
    model = iris_tree()
    assert [table.name for table in model.working()] == ["node", "impurity", "test", "hyperplane"]
    assert [table.name for table in model.working(3)] == ["node", "impurity", "test"]
    test = only_row(model.working()["test"])
    assert test["cuts"] is None
    assert test["score"] == pytest.approx(0.530775, abs=1e-6)


def test_columns_with_the_names_of_tables() -> None:
    X = pd.DataFrame(
        {"test": [1.0, 2, 3, 4], "a": list("uvuv"), "a values": [4.0, 1, 2, 3], "v": [1.0, 1, 2, 2]}
    )
    y = [0, 0, 1, 1]
    working = TreeClassifier(pruning=None).fit(X, y).working(0, X, y)
    names = [table.name for table in working]
    assert len(set(names)) == len(names)
    assert working["test (2)"].title.startswith("test: every cut")
    assert working["a values"].columns[0] == "v"
    assert working["a values (2)"].columns[0] == "value"
    assert table_names(list(X.columns)) == ("test (2)", "a", "a values", "v")


def test_options_changed_after_the_fit_do_not_count() -> None:
    X, y = iris()
    model = iris_tree()
    before = str(model.working(0, X, y))
    assert before.startswith("Node 0 of the tree")
    assert "<table>" in model.working(0)._repr_html_()
    model.set_params(criterion="gini", min_samples_leaf=20)
    assert str(model.working(0, X, y)) == before
