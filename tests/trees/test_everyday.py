"""TreeClassifier meets everyday tables: kinds of columns, values never seen, weights and bounds."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sortal import TreeClassifier
from sortal.errors import UnknownCategoryError, UnknownCategoryWarning

N = 60


def customers() -> pd.DataFrame:
    """Words, truth values, whole numbers and fractions, without missing values."""
    i = np.arange(N)
    return pd.DataFrame(
        {
            "city": np.array(["Rome", "Oslo", "Lima"])[i % 3],
            "member": i % 4 == 0,
            "visits": i % 7,
            "spend": np.sin(i) * 10 + i % 5,
        }
    )


def grown(X: Any, y: Any, weights: Any = None, **options: Any) -> TreeClassifier:
    return TreeClassifier(**{"pruning": None, **options}).fit(X, y, weights)


def fitted(**options: Any) -> TreeClassifier:
    y = np.where(np.arange(N) % 3 + np.sin(np.arange(N)) > 1, "buy", "leave")
    return grown(customers(), y, **options)


def asked_by(model: TreeClassifier) -> list[str]:
    return [test for test in model.to_frame()["test"] if test]


@pytest.mark.filterwarnings("ignore::sortal.errors.OneClassWarning")
def test_what_leaves_nothing_to_ask_is_one_leaf() -> None:
    """One class, one row, columns that never vary; of equals the first class is said."""
    constant = [["a", 1.0]] * 4
    tables: list[tuple[Any, list[str], list[float]]] = [
        (customers().head(4), ["buy"] * 4, [1.0]),
        (constant[:1], ["x"], [1.0]),
        (constant, ["x", "y", "x", "x"], [3 / 4, 1 / 4]),
        (constant, ["z", "b", "b", "z"], [1 / 2, 1 / 2]),
    ]
    for X, y, shares in tables:
        model = grown(X, y)
        assert (model.get_depth(), model.get_n_leaves()) == (0, 1)
        assert model.predict_proba(X)[0].tolist() == shares
        assert model.predict(X)[0] == model.classes_[0]
        assert not model.feature_importances_.any()


def test_ten_thousand_categories_in_a_column() -> None:
    codes = pd.DataFrame({"code": [f"code {i}" for i in range(10_000)] * 2})
    labels = np.arange(20_000) % 10_000 % 2
    model = grown(codes, labels)
    assert np.array_equal(model.predict(codes), labels)
    assert model.get_depth() == 1  # one set of values tells two classes apart


@pytest.mark.filterwarnings("ignore::sortal.errors.ManyClassesWarning")
def test_as_many_classes_as_sixteen_bits_count() -> None:
    rows = np.arange(65535)
    assert grown(rows[:, None] // 32768, rows, max_depth=1, smoothing=None).get_n_leaves() == 2


def test_large_numbers_are_no_infinities() -> None:
    X = [[-1.7e308], [1.7e308], [1.6e308], [1.5e308]]
    assert grown(X, [0, 1, 0, 1]).predict(X).tolist() == [0, 1, 0, 1]


SIZES = ["S", "M", "L", "XL"]


def sizes(*given: str) -> pd.DataFrame:
    return pd.DataFrame({"size": pd.Categorical(given, categories=SIZES, ordered=True)})


def test_an_ordered_category_is_cut_on_its_ranks_unless_it_is_named() -> None:
    X, y = sizes("S", "M", "L", "XL", "S", "XL"), [0, 0, 1, 1, 0, 1]
    for split in ("subset", "multiway"):
        model = grown(X, y, categorical_split=split)
        assert asked_by(model) == ["size <= M"]
        assert model.predict(X).tolist() == y
        # no set of neighbors tells M from the others: two cuts
        two = grown(X, [0, 1, 0, 0, 0, 0], categorical_split=split)
        assert asked_by(two) == ["size <= M", "size <= S"]
    for split, test in (("subset", "size in {M}"), ("multiway", "size: S | M | L | XL")):
        named = grown(X, [0, 1, 0, 0, 0, 0], categorical_split={"size": split})
        assert asked_by(named) == [test]


def test_a_declared_rank_that_no_row_had_has_its_place() -> None:
    model = grown(sizes("S", "S", "XL"), [0, 0, 1])
    assert model.predict(sizes("M", "L")).tolist() == [0, 1]
    frame = pl.DataFrame({"size": pl.Series(["S", "L", "XL"], dtype=pl.Enum(SIZES))})
    assert asked_by(grown(frame, [0, 1, 1])) == ["size <= M"]  # halfway between S and L


def colors(*given: Any) -> pd.DataFrame:
    return pd.DataFrame({"color": given})


def test_an_unknown_value_takes_the_heavier_branch_and_is_counted() -> None:
    model = grown(colors("red", "red", "blue"), ["r", "r", "b"])
    words = r"2 cells \('color' 2\) hold values never seen at fit; they take the branch of"
    with pytest.warns(UnknownCategoryWarning, match=words) as caught:
        found = model.predict(colors("pink", "blue", "gray"))
    assert found.tolist() == ["r", "b", "r"]
    assert len(caught) == 1
    equal = grown(colors("red", "blue"), ["r", "b"])
    with pytest.warns(UnknownCategoryWarning):  # of branches of equal weight the first is taken
        assert equal.predict(colors("pink")).tolist() == ["b"]  # the test is color in {blue}


def test_a_declared_value_that_no_row_had_is_unknown() -> None:
    kinds = pd.CategoricalDtype(["blue", "green", "red"])
    model = grown(colors("red", "red", "blue").astype(kinds), ["r", "r", "b"])
    assert model._schema.columns[0].values == ("blue", "green", "red")
    with pytest.warns(UnknownCategoryWarning, match=r"1 cell \('color' 1\)"):
        assert model.predict(colors("green", "red").astype(kinds)).tolist() == ["r", "r"]
    with pytest.raises(UnknownCategoryError, match=r"1 cell .*unknown='majority'"):
        model.set_params(unknown="error").predict(colors("green"))


def test_copies_beyond_what_gain_counts_exactly_are_counted_by_gini() -> None:
    X, weights = np.arange(4.0)[:, None], np.array([1, 1, 1, 2**46])
    assert grown(X, [0, 1, 0, 1], weights, criterion="gini").get_n_leaves() == 4


@pytest.mark.parametrize(
    ("options", "cut"),
    [
        ({"min_samples_leaf": 0.2}, "x0 <= 1.5"),
        ({"min_samples_leaf": 0.21}, "x0 <= 2.5"),  # a share of the rows is rounded up
        ({"min_samples_leaf": 3}, "x0 <= 2.5"),
        ({"min_weight_fraction_leaf": 0.2}, "x0 <= 1.5"),
        ({"min_weight_fraction_leaf": 0.21}, "x0 <= 2.5"),
    ],
    ids=str,
)
def test_shares_of_rows_and_of_weight(options: dict[str, Any], cut: str) -> None:
    X, y = np.arange(10.0)[:, None], np.arange(10) >= 2
    assert asked_by(grown(X, y, **options))[0] == cut


def test_bounds_may_be_of_any_size_and_numbers_of_numpy() -> None:
    depth, leaves = fitted().get_depth(), fitted().get_n_leaves()
    for most in (1, 2, 5, 10**30):
        assert fitted(max_depth=most).get_depth() == min(most, depth)
        assert fitted(max_leaf_nodes=most).get_n_leaves() == min(most, leaves)
    told = fitted(max_depth=np.int64(2), purity=np.float32(1.0), min_samples_leaf=np.int8(2))
    assert told.to_text() == fitted(max_depth=2, min_samples_leaf=2).to_text()
    report = fitted(max_depth=1).fit_report_
    assert (report.rows, report.missing) == (N, {})
    assert report.notes == ("3 nodes, 2 of them leaves; depth 1",)
