"""TreeClassifier on complete tables against a slow oracle."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.trees.oracle import (
    CRITERIA,
    CUT,
    Column,
    Oracle,
    Rules,
    Table,
    assert_same_tree,
    check,
    fit,
    limits,
    make_column,
    tables,
)

# Trees of one class are grown by chance, and rows of weight 0 have values that no other row has.
pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")
COMPLETE: Final[dict[str, Any]] = {"rates": (0.0,), "styles": ("", "", "one value")}
every_criterion = pytest.mark.parametrize("criterion", CRITERIA)


@every_criterion
@given(data=st.data())
def test_the_whole_tree_is_that_of_brute_force(criterion: str, data: Any) -> None:
    table = data.draw(tables(criterion=criterion, most=60, max_classes=6, **COMPLETE))
    check(table, Rules(criterion, "direction", max_depth=2, **data.draw(st.just({}) | limits)))


@every_criterion
def test_without_any_stop_the_whole_tree_is_that_of_brute_force(criterion: str) -> None:
    for seed in range(4):
        table = drawn(seed, 50, 3, ("few", "many", "subset", "ordered", "subset"))
        assert len(check(table, Rules(criterion, "direction")).children) == 2


def drawn(seed: int, n: int, K: int, looks: tuple[str, ...], most: int = 3) -> Table:
    """Complete columns of up to six values; whole weights."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, K, n)
    columns = tuple(make_column(look, rng, classes, 6, 0.0, "") for look in looks)
    return Table(columns, tuple(classes.tolist()), tuple(rng.integers(1, most, n).tolist()))


@every_criterion
def test_best_first(criterion: str) -> None:
    """At most so many leaves, grown by n times the score, numbered in preorder all the same."""
    for most in (1, 2, 3, 5, 9):
        table = drawn(most, 80, 4, ("many", "subset", "many", "ordered"), 4)
        rules = Rules(criterion, "error")
        model = fit(table, rules, max_leaf_nodes=most)
        assert_same_tree(model, Oracle(table, rules).grow_best_first(most), rules)
        assert model.get_n_leaves() == most


@pytest.mark.parametrize("options", [{"max_depth": 3}, {"min_samples_leaf": 6}, {"min_gain": 0.1}])
def test_best_first_beside_other_stops(options: dict[str, Any]) -> None:
    for seed in range(3):
        table = drawn(seed, 60, 3, ("many", "subset", "many"), 2)
        rules = Rules("gini", "error", **options)
        grown = fit(table, rules, max_leaf_nodes=6)
        assert_same_tree(grown, Oracle(table, rules).grow_best_first(6), rules)


def test_best_first_takes_the_node_made_earlier_of_equals() -> None:
    """Two halves that mirror each other: the yes child is split first."""
    halves, inner = (0.0,) * 8 + (1.0,) * 8, (0.0,) * 3 + (1.0,) * 5
    classes = (0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3)
    columns = (Column(CUT, "number", halves), Column(CUT, "number", inner * 2))
    table = Table(columns, classes, (1,) * 16)
    for criterion in CRITERIA:
        rules = Rules(criterion, "error")
        model = fit(table, rules, max_leaf_nodes=3)
        assert model._model.attribute.tolist() == [0, 1, -1, -1, -1]
        assert_same_tree(model, Oracle(table, rules).grow_best_first(3), rules)


def test_best_first_never_has_more_leaves_with_multiway_tests() -> None:
    table = drawn(5, 200, 3, ("multiway", "many"), 2)
    for most in range(1, 12):
        leaves = fit(table, Rules("gain", "error"), max_leaf_nodes=most).get_n_leaves()
        assert 1 <= leaves <= most
