"""Pruned trees: consistent arrays, the best of all prunings, and estimates by hand."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sortal import TreeClassifier
from sortal.decision.folds import assign_folds, held_out
from sortal.errors import InputError
from sortal.native.trees import LEAF, MULTIWAY, SUBSET, route_rows
from sortal.trees.cost_complexity import complexity_path, pass_rows
from sortal.trees.prune import (
    cut_below,
    estimated_errors,
    join_siblings,
    prune_pessimistic,
    prune_reduced,
    prune_to,
)

if TYPE_CHECKING:
    from sortal.trees.learn import Criterion
    from sortal.trees.model import TreeModel
    from sortal.trees.rows import TreeRows

# Each example grows a tree.
FEW: Final = settings(max_examples=20)
# Trees of one class are grown on purpose, or by chance.
pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.OneClassWarning")

BY_NODE = ("kind", "attribute", "heavier", "units", "sizes", "score", "gain", "exact", "candidates")


class Case:
    """Rows of numbers and words, and the tree that grows from them."""

    def __init__(
        self,
        seed: int,
        n: int,
        split: str,
        criterion: Criterion = "gain",
        weights: Any = None,
        **options: Any,
    ) -> None:
        rng = np.random.default_rng(seed)
        words = rng.choice(list("abcde"), size=(n, 2))
        numbers = rng.integers(0, 40, size=(n, 2))
        self.X = np.concatenate([words.astype(object), numbers.astype(object)], axis=1)
        told = (words[:, 0] > "b") + (numbers[:, 0] > 25)
        self.y = np.where(rng.random(n) < 0.3, rng.integers(0, 3, n), told)
        self.weights = weights
        self.tree = TreeClassifier(
            criterion,
            categorical_split=split,
            categorical_features=[0, 1],
            pruning=None,
            **options,
        ).fit(self.X, self.y, weights)
        self.model: TreeModel = self.tree._model
        self.rows: TreeRows = self.tree._read_again(self.X, self.y, weights)[0]


seeds, splits = st.integers(0, 10**6), st.sampled_from(["subset", "multiway"])
cases = st.builds(Case, seeds, st.integers(2, 60), splits)
few = st.builds(Case, seeds, st.integers(2, 14), splits)


def prunings(model: TreeModel, t: int = 0) -> list[frozenset[int]]:
    children = model.children[model.child_start[t] : model.child_start[t + 1]].tolist()
    found = [frozenset([t])]
    if children:
        below = product(*(prunings(model, c) for c in children))
        found += [frozenset().union(*leaves) for leaves in below]
    return found


def check_consistent(model: TreeModel, rows: TreeRows) -> None:
    """Preorder, lists that fit, leaves as the grower writes them, and counts of the rows."""
    leaf = model.kind == LEAF
    n = model.n_nodes
    assert model.child_start[-1] == len(model.children) == n - 1
    assert_array_equal(np.sort(model.children), np.arange(1, n))
    asks = np.flatnonzero(~leaf)
    assert_array_equal(model.children[model.child_start[asks]], asks + 1)
    assert (np.diff(model.child_start)[leaf] == 0).all()
    assert (np.diff(model.value_start)[leaf] == 0).all()
    assert model.value_start[-1] == len(model.values) == len(model.branches)
    assert (model.attribute[leaf] == -1).all()
    assert np.isnan(model.threshold[leaf]).all()
    assert (model.heavier[leaf] == -1).all()
    assert model.exact[leaf].all()
    assert not model.score[leaf].any()
    assert not model.gain[leaf].any()
    assert not model.candidates[leaf].any()
    check_counts(model, rows)


def check_counts(model: TreeModel, rows: TreeRows) -> None:
    passing = pass_rows(model, rows)
    assert_array_equal(passing.through, model.weights())
    assert not passing.ending[model.kind != LEAF].any()
    size = model.units.sum(axis=1) if rows.copies else model.rows.sum(axis=1)  # type: ignore[union-attr]
    assert_array_equal(model.sizes, size)
    for t in np.flatnonzero(model.kind != LEAF):
        below = model.children[model.child_start[t] : model.child_start[t + 1]]
        weight = model.units[below].sum(axis=1)
        assert model.heavier[t] in (-1, int(weight.argmax()))
        values = model.values[model.value_start[t] : model.value_start[t + 1]]
        assert_array_equal(values, np.unique(values))
        if model.kind[t] == MULTIWAY:
            branches = model.branches[model.value_start[t] : model.value_start[t + 1]]
            assert_array_equal(branches, np.arange(len(below)))
        if model.kind[t] == SUBSET:
            assert model.heavier[t] >= 0


@given(cases, st.data())
@FEW
def test_a_cut_tree_is_a_tree(case: Case, data: st.DataObject) -> None:
    mask = data.draw(st.lists(st.booleans(), min_size=case.model.n_nodes))
    leaf = np.array(mask[: case.model.n_nodes])
    check_consistent(cut_below(case.model, leaf), case.rows)


def test_cutting_nothing_and_cutting_all() -> None:
    model = Case(1, 60, "multiway").model
    same = cut_below(model, np.zeros(model.n_nodes, dtype=bool))
    for name in (*BY_NODE, "child_start", "children", "value_start", "values", "branches"):
        assert_array_equal(getattr(same, name), getattr(model, name))
        assert getattr(same, name).dtype == getattr(model, name).dtype
    root = cut_below(model, np.ones(model.n_nodes, dtype=bool))
    assert root.n_nodes == 1
    assert_array_equal(root.units, model.units[:1])


@given(few)
@FEW
def test_the_path_is_that_of_all_prunings(case: Case) -> None:
    model = case.model
    path, risk = complexity_path(model), model.risk()
    root = risk[0] or 1
    for i, cp in enumerate(path.cp):
        assert path.place_of(cp) == i
        pruned = prune_to(model, cp)
        assert pruned.n_leaves == path.n_leaves[i]
        leaf = pruned.kind == LEAF
        assert pruned.risk()[leaf].sum() / root == pytest.approx(path.error[i])
        price = cp * root * (1 + 1e-9)
        cost = min(risk[list(leaves)].sum() + price * len(leaves) for leaves in prunings(model))
        assert pruned.risk()[leaf].sum() + price * pruned.n_leaves == pytest.approx(cost)
    assert sorted(path.n_leaves) == list(path.n_leaves)
    assert path.n_leaves[0] == 1
    assert path.error[0] == (1 if risk[0] else 0)


@given(few, st.integers(0, 10**6))
@FEW
def test_reduced_error_is_the_best_of_all_prunings(case: Case, seed: int) -> None:
    other = Case(seed, 30, "subset")
    X = other.X[[row[0] in case.X[:, 0] and row[1] in case.X[:, 1] for row in other.X]]
    if len(X) == 0:
        return
    y = case.y[np.arange(len(X)) % len(case.y)]
    rows, _ = case.tree._read_again(X, y, None)
    passing, labels = pass_rows(case.model, rows), case.model.labels()
    parents = case.model.parents()

    def wrong(leaves: frozenset[int]) -> float:
        tests = set()
        for t in leaves:
            while parents[t] >= 0:
                t = int(parents[t])  # noqa: PLW2901
                tests.add(t)
        ends = [(passing.through, t) for t in leaves] + [(passing.ending, t) for t in tests]
        return float(sum(n[t].sum() - n[t, labels[t]] for n, t in ends))

    costs = {leaves: wrong(leaves) for leaves in prunings(case.model)}
    pruned = prune_reduced(case.model, rows)
    ends = np.empty(len(X), dtype=np.int32)
    route_rows(pruned.arrays, rows.encoded.columns, pruned.n_values, ends)
    assert (pruned.labels()[ends] != rows.classes).sum() == min(costs.values())
    smallest = min(len(leaves) for leaves, cost in costs.items() if cost == min(costs.values()))
    assert pruned.n_leaves == smallest


@given(cases)
@FEW
def test_joined_leaves_say_what_they_said(case: Case) -> None:
    joined = join_siblings(case.model)
    check_consistent(joined, case.rows)
    ends = [np.empty(len(case.X), dtype=np.int32) for _ in range(2)]
    for model, out in zip((case.model, joined), ends, strict=True):
        route_rows(model.arrays, case.rows.encoded.columns, model.n_values, out)
    assert_array_equal(case.model.labels()[ends[0]], joined.labels()[ends[1]])
    for t in np.flatnonzero(joined.kind != LEAF):
        below = joined.children[joined.child_start[t] : joined.child_start[t + 1]]
        leaves = joined.kind[below] == LEAF
        assert not (leaves.all() and len(set(joined.labels()[below])) == 1)


def test_quinlan_prunes_the_votes() -> None:
    # 6 and 9 democrats and 1 republican become one leaf: 2.512 errors against 3.273
    X = np.repeat(["n", "y", "u"], [6, 9, 1])[:, None]
    y = np.repeat(["democrat", "republican"], [15, 1])
    tree = TreeClassifier(categorical_split="multiway", pruning=None).fit(X, y)
    assert estimated_errors(tree._model, 0.25)[1:].sum() == pytest.approx(3.273, abs=1e-3)
    assert estimated_errors(tree._model, 0.25)[0] == pytest.approx(2.512, abs=6e-3)
    assert tree.prune("pessimistic").get_n_leaves() == 1


@given(cases, st.sampled_from([0.1, 0.25, 0.5, 1.0]))
@FEW
def test_a_tree_pruned_by_estimates_errs_no_more(case: Case, confidence: float) -> None:
    def errors(model: TreeModel) -> float:
        return float(estimated_errors(model, confidence)[model.kind == LEAF].sum())

    pruned = prune_pessimistic(case.model, confidence)
    check_consistent(pruned, case.rows)
    # what C4.5 allows at each node
    assert errors(pruned) <= errors(case.model) + 0.1 * case.model.n_nodes


@given(seeds)
@FEW
def test_fractions_of_weights_scale(seed: int) -> None:
    weights = np.random.default_rng(seed).integers(1, 5, 40) / 4
    case = Case(seed, 40, "subset", weights=weights)
    whole = Case(seed, 40, "subset", weights=weights * 4)
    assert complexity_path(case.model) == complexity_path(whole.model)


@given(st.lists(st.integers(0, 3), min_size=4, max_size=60), st.integers(2, 4), st.integers(0, 9))
def test_folds_are_even_in_size_and_in_every_class(classes: list[int], n: int, seed: int) -> None:
    codes = np.array(classes, dtype=np.int32)
    folds = assign_folds(codes, n, seed)
    assert_array_equal(folds, assign_folds(codes, n, seed))
    for rows in (codes >= 0, *(codes == k for k in range(4))):
        sizes = np.bincount(folds[rows], minlength=n)
        assert sizes.max() - sizes.min() <= 1


@given(st.lists(st.integers(0, 3), min_size=2, max_size=60), st.floats(0.1, 0.9))
def test_every_class_keeps_a_row(classes: list[int], part: float) -> None:
    codes = np.array(classes, dtype=np.int32)
    try:
        out = held_out(codes, part, 0)
    except InputError:
        return
    for k in set(classes):
        n = (codes == k).sum()
        assert (out & (codes == k)).sum() == min(np.rint(part * n), n - 1)
