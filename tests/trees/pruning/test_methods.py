"""Pruned trees: consistent arrays, the best of all prunings, and estimates by hand."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
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
from sortal.native.trees import CUT, LEAF, MULTIWAY, SUBSET, added_errors, route_rows
from sortal.trees.cost_complexity import complexity_path, pass_rows
from sortal.trees.learn import with_rows
from sortal.trees.prune import (
    cut_below,
    estimated_errors,
    join_siblings,
    prune_by_raising,
    prune_pessimistic,
    prune_reduced,
    prune_to,
)
from sortal.trees.rows import TreeRows, multiples_of
from sortal.trees.split_scores import score_counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.trees.learn import Criterion
    from sortal.trees.model import TreeModel

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
    assert tree.prune("pessimistic", subtree_raising=False).get_n_leaves() == 1
    assert tree.prune("pessimistic", X, y, subtree_raising=True).get_n_leaves() == 1


@given(cases, st.sampled_from([0.1, 0.25, 0.5, 1.0]))
@FEW
def test_a_raised_tree_counts_its_rows_and_errs_no_more(case: Case, confidence: float) -> None:
    def errors(model: TreeModel) -> float:
        return float(estimated_errors(model, confidence)[model.kind == LEAF].sum())

    raised = prune_by_raising(case.model, case.rows, confidence, "gain").model
    check_consistent(raised, case.rows)
    assert raised.score[raised.kind != LEAF].min(initial=0) >= 0
    most = errors(case.model) + 0.1 * case.model.n_nodes  # what C4.5 allows at each node
    assert errors(raised) <= most
    assert errors(prune_pessimistic(case.model, confidence)) <= most


@pytest.mark.parametrize(("last", "moved"), [("b", True), ("d", False)])
def test_a_branch_that_meets_a_new_value_has_a_leaf_for_it(last: str, moved: bool) -> None:
    # a and c are told apart within the large branch; the small one comes with b, or with b and d.
    # A leaf of both its rows adds U(0, 2) = 1 to either tree, two leaves 2 U(0, 1) = 1.5.
    X = np.empty((42, 2), dtype=object)
    X[:, 0] = np.repeat([0.0, 1.0], [2, 40])
    X[:, 1] = np.repeat(["b", last, "a", "c"], [1, 1, 20, 20])
    y = np.repeat([0, 1], [22, 20])
    options: dict[str, Any] = {"categorical_split": "multiway", "categorical_features": [1]}
    tree = TreeClassifier(pruning=None, **options).fit(X, y)
    hand = replace(
        tree._model,
        kind=np.array([CUT, LEAF, MULTIWAY, LEAF, LEAF], dtype=np.int8),
        attribute=np.array([0, -1, 1, -1, -1], dtype=np.int32),
        threshold=np.array([0.5, *[np.nan] * 4]),
        child_start=np.array([0, 2, 2, 4, 4, 4]),
        children=np.arange(1, 5, dtype=np.int32),
        value_start=np.array([0, 0, 0, 2, 2, 2]),
        values=np.array([0, 2], dtype=np.int32),
        branches=np.array([0, 1], dtype=np.int32),
        heavier=np.array([1, -1, -1, -1, -1], dtype=np.int32),
        missing=np.full(5, -1, dtype=np.int32),
        units=np.array([[22, 20], [2, 0], [20, 20], [20, 0], [0, 20]]),
        sizes=np.array([42, 2, 40, 20, 20]),
        exact=np.ones(5, dtype=bool),
        score=np.zeros(5),
        gain=np.zeros(5),
        candidates=np.zeros(5),
    )
    rows, _ = tree._read_again(X, y, None)
    raised = prune_by_raising(hand, rows, 0.25, "gain").model
    check_consistent(raised, rows)
    if not moved:
        assert_array_equal(raised.kind, hand.kind)
        return
    assert raised.kind.tolist() == [MULTIWAY, LEAF, LEAF, LEAF]
    assert raised.values.tolist() == [0, 1, 2]
    assert raised.units.tolist() == [[22, 20], [20, 0], [2, 0], [0, 20]]


class Slow:
    """C4.5's pruning as its author wrote it down: recursive, and every row sent every time."""

    def __init__(self, model: TreeModel, rows: TreeRows, criterion: str, t: int = 0) -> None:
        given = np.ones(len(rows.classes), dtype=np.int64) if rows.units is None else rows.units
        factors = multiples_of(model, criterion)
        self.factors = np.ones(model.units.shape[1]) if factors is None else factors.astype(float)
        self.given, self.weights = given, given * self.factors[rows.classes]
        self.squares = self.weights**2 / (given if rows.copies else 1)
        self.scale = self.weights.sum() / self.squares.sum()
        start, values = model.child_start, slice(model.value_start[t], model.value_start[t + 1])
        self.rows, self.kind, self.attribute = rows, model.kind[t], model.attribute[t]
        self.threshold = model.threshold[t]
        below = model.children[start[t] : start[t + 1]].tolist()
        self.children = [Slow(model, rows, criterion, c) for c in below]
        pairs = zip(model.values[values].tolist(), model.branches[values].tolist(), strict=True)
        self.branch: dict[int, Slow] = {v: self.children[b] for v, b in pairs}
        self.units = model.units[t]

    def heaviest(self) -> Slow:
        return max(self.children, key=lambda child: float(child.units @ self.factors))

    def way(self, row: int) -> Slow | int:
        """The branch of a row, or its value where a node of one branch a value has none."""
        x = self.rows.encoded.columns[self.attribute][row]
        if self.kind == CUT:
            return self.children[0 if x <= self.threshold else 1]
        return self.branch.get(int(x), int(x) if self.kind == MULTIWAY else self.heaviest())

    def counted(self, rows: list[int]) -> NDArray[np.int64]:
        classes, K = self.rows.classes[rows], len(self.units)
        return np.bincount(classes, self.given[rows], minlength=K).astype(np.int64)

    def as_leaf(self, rows: list[int]) -> float:
        counts = self.counted(rows) * self.factors
        scale = counts.sum() / self.squares[rows].sum()
        n, errors = counts.sum() * scale, (counts.sum() - counts.max()) * scale
        more = float(added_errors(np.array([n]), np.array([errors]), 0.25)[0])
        return float((errors + more) / scale * self.scale)

    def estimate(self, rows: list[int]) -> float:
        """What the tree as it is would have with these rows."""
        if not rows:
            return 0.0
        if not self.children:
            return self.as_leaf(rows)
        groups: dict[Any, list[int]] = {}
        for row in rows:
            groups.setdefault(self.way(row), []).append(row)
        return sum(
            way.estimate(some) if isinstance(way, Slow) else self.as_leaf(some)
            for way, some in groups.items()
        )

    def settle(self, rows: list[int]) -> float:
        """Prune with these rows."""
        if not self.children:
            self.units = self.counted(rows)
            return self.as_leaf(rows)
        groups: dict[Any, list[int]] = {child: [] for child in self.children}
        for row in rows:
            way = self.way(row)
            if self.kind != CUT:
                value = int(self.rows.encoded.columns[self.attribute][row])
                if not isinstance(way, Slow):
                    way = self.new_leaf()
                    groups[way] = []
                self.branch[value] = way
            groups[way].append(row)
        self.units = self.counted(rows)
        as_tree: float = sum(child.settle(some) for child, some in groups.items() if some)
        if self.kind == MULTIWAY:
            self.children = [self.branch[value] for value in sorted(self.branch)]
        largest = self.heaviest()
        as_branch, as_leaf = largest.estimate(rows), self.as_leaf(rows)
        if as_leaf <= min(as_branch, as_tree) + 0.1:
            self.kind, self.attribute, self.children, self.branch = LEAF, -1, [], {}
            return as_leaf
        if as_branch > as_tree + 0.1:
            return as_tree
        errors = largest.settle(rows)
        self.__dict__ = largest.__dict__
        return errors

    def new_leaf(self) -> Slow:
        leaf = copy(self)
        leaf.kind, leaf.attribute, leaf.threshold = LEAF, -1, np.nan
        leaf.children, leaf.branch, leaf.units = [], {}, np.zeros_like(self.units)
        self.children.append(leaf)
        return leaf

    def nodes(self) -> list[tuple[int, list[int]]]:
        below = [node for child in self.children for node in child.nodes()]
        return [(int(self.attribute), self.units.tolist()), *below]


@pytest.mark.parametrize(("split", "n_seeds"), [("subset", 60), ("multiway", 30)])
def test_raising_is_that_of_a_slow_recursion(split: str, n_seeds: int) -> None:
    """Rows, copies of rows, and weights with fractions; classes by themselves, or balanced."""
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        n, by = int(rng.integers(20, 80)), (0, 1, 4)[seed % 3]
        weights = rng.integers(1, 5, n) / by if by else None
        options: dict[str, Any] = {"class_weight": "balanced"} if seed % 2 else {}
        criterion: Criterion = "gini" if seed // 2 % 2 else "gain"
        case = Case(seed, n, split, criterion, weights, **options)
        slow = Slow(case.model, case.rows, criterion)
        slow.settle(list(range(n)))
        raised = prune_by_raising(case.model, case.rows, 0.25, criterion).model
        found = list(zip(raised.attribute.tolist(), raised.units.tolist(), strict=True))
        assert found == slow.nodes(), seed


@pytest.mark.parametrize(
    ("criterion", "measure"),
    [("gain", "gain"), ("gain_ratio", "gain_ratio"), ("gini", "gini_decrease"), ("cart", "cart")],
)
def test_scores_of_moved_tests_are_those_of_their_rows(criterion: Criterion, measure: str) -> None:
    n_moved = 0
    for seed in range(8):
        case = Case(seed, 120, "subset", criterion)
        raised = prune_by_raising(case.model, case.rows, 0.25, criterion)
        n_moved += raised.n_moved
        model = raised.model
        assert np.count_nonzero(~model.exact) == raised.n_moved
        for t in np.flatnonzero(model.kind != LEAF):
            below = model.children[model.child_start[t] : model.child_start[t + 1]]
            scores = score_counts(model.units[below], ("yes", "no"), model.classes, 0)
            assert model.score[t] == pytest.approx(getattr(scores, measure), abs=1e-12)
            if criterion == "gain_ratio":
                assert model.gain[t] == pytest.approx(scores.gain, abs=1e-12)
    assert n_moved


@given(seeds)
@FEW
def test_fractions_of_weights_scale(seed: int) -> None:
    weights = np.random.default_rng(seed).integers(1, 5, 40) / 4
    case = Case(seed, 40, "subset", weights=weights)
    whole = Case(seed, 40, "subset", weights=weights * 4)
    assert complexity_path(case.model) == complexity_path(whole.model)
    raised = prune_by_raising(case.model, case.rows, 0.25, "gain").model
    check_consistent(raised, case.rows)
    assert_array_equal(raised.rows, with_rows(raised, case.rows).rows)


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
