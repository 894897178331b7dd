"""What classes count for in a tree: priors, class weights, costs, and shares that are smoothed.

The oracle of altered priors is that of rows which weigh as their class counts, for
prior · Σ costs of its row; a node says the class of least expected cost, by priors without the
costs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.trees.chains import chain
from tests.trees.oracle import (
    PAIRS,
    Guide,
    Node,
    Oracle,
    Rules,
    Table,
    fit,
    preorder,
)
from tests.trees.oracle import tables as few_rows
from tests.trees.tables import (
    HALF,
    LEAF,
    QUESTIONS,
    Data,
    same,
    seeds,
    tables,
)

from sortal import TreeClassifier, datasets
from sortal.trees.model import (
    Smoothing,
    TreeModel,
    decide_labels,
    laplace,
    m_estimate,
    reweigh,
    shrink,
)
from sortal.trees.rows import multiples

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Trees of one class are grown on purpose, or by chance.
pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.OneClassWarning")


def class_options(kind: str, K: int, seed: int) -> dict[str, Any]:
    """One of the ways to say what classes count for."""
    rng = np.random.default_rng(seed)
    priors = rng.dirichlet(np.ones(K)) * 0.9 + 0.1 / K
    costs = rng.integers(1, 9, (K, K)) * (1 - np.eye(K))
    ways: dict[str, dict[str, Any]] = {
        "balanced": {"class_weight": "balanced"},
        "dict": {"class_weight": {"ash": 3.0, "birch": 0.7}},
        "priors": {"priors": priors / priors.sum()},
        "costs": {"costs": costs},
        "priors and costs": {"priors": priors / priors.sum(), "costs": costs},
    }
    return ways[kind]


KINDS: Final = ("balanced", "dict", "priors", "costs", "priors and costs")
kinds: Final = st.sampled_from(KINDS)
smoothings: Final = st.sampled_from(["laplace", "m_estimate", "shrinkage"])


@dataclass(frozen=True)
class Counted:
    """A table of few rows; priors and costs of its classes in whole numbers and fractions."""

    table: Table
    rules: Rules
    priors: tuple[Fraction, ...] | None
    costs: tuple[tuple[int, ...], ...]

    @cached_property
    def factors(self) -> list[Fraction]:
        """What a row of each class counts for, costs apart."""
        n = Oracle(self.table, self.rules).part_of(self.table.held)[:-1]
        shares = [Fraction(c, sum(n)) for c in n]
        return [p / share for p, share in zip(self.priors or shares, shares, strict=True)]

    @cached_property
    def pull(self) -> list[Fraction]:
        return [f * sum(row) for f, row in zip(self.factors, self.costs, strict=True)]

    def grow(self) -> list[Node]:
        """The oracle's tree of rows that weigh as their classes count."""
        of = dict(zip(self.table.labels, self.pull, strict=True))
        cells = zip(self.table.weights, self.table.classes, strict=True)
        weights = tuple(w * of[k] for w, k in cells)
        return preorder(Oracle(replace(self.table, weights=weights), self.rules).grow())

    def fit(self) -> TreeModel:
        priors = None if self.priors is None else [float(p) for p in self.priors]
        model: TreeModel = fit(self.table, self.rules, priors=priors, costs=self.costs)._model
        return model


@st.composite
def counted_tables(draw: st.DrawFn) -> Counted:
    criterion, policy = draw(st.sampled_from([pair for pair in PAIRS if pair[1] != "fractional"]))
    # Few rows: what classes count for is a ratio of small numbers, which a tree keeps exactly.
    table = draw(few_rows(criterion=criterion, weightings=("none",), most=12, max_classes=3))
    copies = draw(st.lists(st.integers(1, 3), min_size=len(table.classes), max_size=12))
    k = range(len(table.labels))
    priors, costs = None, tuple(tuple(int(i != j) for j in k) for i in k)
    if draw(st.booleans()):
        parts = [draw(st.integers(1, 6)) for _ in k]
        priors = tuple(Fraction(p, sum(parts)) for p in parts)
    if draw(st.booleans()):
        costs = tuple(tuple(draw(st.integers(1, 5)) * c for c in row) for row in costs)
    table = replace(table, weights=tuple(copies[: len(table.classes)]))
    return Counted(table, Rules(criterion, policy, leaf_size=0), priors, costs)


@given(counted_tables().filter(lambda case: len(case.table.labels) > 1))
def test_a_tree_by_altered_priors(case: Counted) -> None:
    """Tests, scores, labels, shares and risk of every node, in fractions."""
    tree, nodes = case.fit(), case.grow()
    assert tree.n_nodes == len(nodes)
    one_cost = case.costs[0][1] if tree.costs is None else 1  # a single cost is as good as 1
    for t, node in enumerate(nodes):
        assert Guide(tree, t).signature == (node.test and node.test.signature)
        assert tree.score[t] == pytest.approx(node.score, rel=1e-9, abs=1e-12)
        plain = [c / p for c, p in zip(node.counts, case.pull, strict=True)]
        assert tree.units[t].tolist() == plain
        counts = [c * f for c, f in zip(plain, case.factors, strict=True)]
        total, expected = sum(counts), [Fraction(0)] * len(counts)
        for i, j in product(range(len(counts)), repeat=2):
            expected[j] += counts[i] * case.costs[i][j]
        label = expected.index(min(expected))
        assert tree.labels()[t] == label
        shares = [float(c / total) for c in counts]
        np.testing.assert_allclose(tree.shares()[t], shares, rtol=1e-12, atol=1e-15)
        risk = float(expected[label])
        assert one_cost * tree.risk()[t] == pytest.approx(risk, rel=1e-12, abs=1e-12)
        assert tree.purity()[t] == pytest.approx(max(shares))
        assert tree.error()[t] == pytest.approx(1 - shares[label], abs=1e-12)


@HALF
@given(tables, st.integers(2, 5))
def test_a_class_weight_is_as_so_many_copies_of_its_rows(data: Data, times: int) -> None:
    """The same tests and scores, to the bit; what differs is what a node says it holds."""
    copies = np.where(data.y == "birch", times, 1)
    options: Any = {"leaf_size": 0, "smoothing": None}  # which counts rows, not what they weigh
    copied = data.take(np.repeat(np.arange(len(data.y)), copies)).fit(**options)
    weighted = data.fit(class_weight={"birch": float(times)}, **options)
    same(weighted, copied, (*QUESTIONS, "score", "gain"))
    np.testing.assert_array_equal(weighted.predict(data.X), copied.predict(data.X))
    np.testing.assert_allclose(
        weighted.predict_proba(data.X), copied.predict_proba(data.X), rtol=1e-12
    )
    assert weighted._model.sizes[0] == len(data.y)
    np.testing.assert_allclose(
        weighted.feature_importances_, copied.feature_importances_, rtol=1e-9, atol=1e-12
    )


@HALF
@given(tables)
def test_balanced_is_equal_priors(data: Data) -> None:
    balanced, equal = (
        data.fit(class_weight="balanced"),
        data.fit(priors=np.full(data.K, 1 / data.K)),
    )
    same(balanced, equal)
    np.testing.assert_allclose(balanced._model.shares()[0], 1 / data.K, rtol=1e-12)
    assert balanced._model.labels()[0] == 0  # the first of equals, rounding or not


@HALF
@given(tables, seeds, kinds, st.sampled_from([4.0, 0.25, 3.0]))
def test_costs_times_a_number(data: Data, seed: int, kind: str, times: float) -> None:
    options = class_options(kind, data.K, seed)
    assume("costs" in options)
    scaled = {**options, "costs": options["costs"] * times}
    one, other = data.fit(**options), data.fit(**scaled)
    same(one, other)
    np.testing.assert_array_equal(one._model.labels(), other._model.labels())
    if other._model.costs is not None:  # a single cost is as good as 1
        np.testing.assert_allclose(one._model.risk() * times, other._model.risk(), rtol=1e-12)


# rows of weight 0 may have words that no other row has
@pytest.mark.filterwarnings("ignore::sortal.errors.UnknownCategoryWarning")
@HALF
@given(
    tables,
    seeds,
    kinds,
    st.sampled_from([None, "laplace", "m_estimate", "shrinkage"]),
    st.sampled_from([{}, {"leaf_size": 9}, {"min_samples_leaf": 7}, {"min_samples_leaf": 0.1}]),
)
def test_whole_weights_are_copies_in_any_order(
    data: Data, seed: int, kind: str, smoothing: str | None, sizes: dict[str, Any]
) -> None:
    """To the bit, whatever the classes count for; sizes count copies."""
    options = {**class_options(kind, data.K, seed), "smoothing": smoothing, **sizes}
    rng = np.random.default_rng(seed)
    copies = rng.integers(0, 4, len(data.y))
    copies[: data.K] = 2  # no class vanishes
    order = rng.permutation(np.repeat(np.arange(len(data.y)), copies))
    weighted = replace(data, weights=copies.astype(float)).fit(**options)
    copied = data.take(order).fit(**options)
    same(weighted, copied)
    np.testing.assert_array_equal(weighted.predict_proba(data.X), copied.predict_proba(data.X))
    np.testing.assert_array_equal(weighted.predict(data.X), copied.predict(data.X))
    np.testing.assert_array_equal(weighted._model.risk(), copied._model.risk())


@HALF
@given(tables, seeds, kinds)
def test_sizes_count_rows(data: Data, seed: int, kind: str) -> None:
    """Whatever they count for."""
    model = data.fit(**class_options(kind, data.K, seed), min_samples_leaf=3)
    sizes = np.bincount(model.apply(data.X), minlength=model._model.n_nodes)
    leaves = model._model.kind == LEAF
    np.testing.assert_array_equal(model._model.sizes[leaves], sizes[leaves])
    if data.options["categorical_split"] == "subset" and model._model.n_nodes > 1:
        assert sizes[leaves].min() >= 3
    np.testing.assert_array_equal(model._model.sizes, model._model.units.sum(axis=1))


@HALF
@given(tables, seeds, kinds)
def test_weights_with_fractions(data: Data, seed: int, kind: str) -> None:
    """Halves and a whole are as one copy and two, but for sizes; units stay the weights given."""
    copies = np.random.default_rng(seed).integers(1, 4, len(data.y))
    copies[0] = 1
    options = {**class_options(kind, data.K, seed), "leaf_size": 0}
    halves = replace(data, weights=copies / 2).fit(**options)
    whole = replace(data, weights=copies.astype(float)).fit(**options)
    same(halves, whole, ("kind", "attribute", "threshold", "children", "values", "branches"))
    np.testing.assert_allclose(halves._model.score, whole._model.score, rtol=1e-3, atol=1e-9)
    np.testing.assert_array_equal(2 * halves._model.weights(), whole._model.weights())
    proportions = halves._model.plain_shares(), whole._model.plain_shares()
    np.testing.assert_allclose(*proportions, rtol=1e-12)


@HALF
@given(tables, seeds, smoothings, st.sampled_from([0.001, 0.75, 640.0]))
def test_the_unit_of_fractional_weights_is_arbitrary(
    data: Data, seed: int, smoothing: str, unit: float
) -> None:
    """Smoothing counts rows where weights are no copies: w and c · w give the same."""
    weights = np.random.default_rng(seed).random(len(data.y)) + 0.5
    one, other = (
        replace(data, weights=w).fit(smoothing=smoothing, max_depth=2)
        for w in (weights, unit * weights)
    )
    # weights are rounded to some 2^-40 of the largest
    same(one, other, ("kind", "attribute", "threshold", "children", "values", "branches"))
    np.testing.assert_allclose(one._model.shares(), other._model.shares(), rtol=1e-8)


def test_the_least_weight_of_a_leaf_is_a_share_of_what_counts() -> None:
    """Two rows of ten that count for half of the whole are more than a third of it."""
    X, y = np.arange(10.0)[:, None], np.repeat([0, 1], [8, 2])
    assert TreeClassifier(min_weight_fraction_leaf=0.4, pruning=None).fit(X, y).predict(X)[-1] == 0
    balanced = TreeClassifier(
        min_weight_fraction_leaf=0.4, class_weight="balanced", pruning=None
    ).fit(X, y)
    assert balanced.predict(X).tolist() == y.tolist()


def test_multiples_are_the_smallest_whole_numbers_that_leave_room_for_the_sum() -> None:
    units = np.array([10, 20, 30])
    assert multiples(np.array([1.0, 2.0, 3.0]), units, 2.0**45).tolist() == [1, 2, 3]  # type: ignore[union-attr]
    assert multiples(np.array([0.1, 0.3, 0.25]), units, 2.0**45).tolist() == [2, 6, 5]  # type: ignore[union-attr]
    assert multiples(np.array([0.1, 0.1, 0.1]), units, 2.0**45) is None
    assert multiples(None, units, 2.0**45) is None
    units = np.array([2**47, 2**46])
    found = multiples(np.array([1.0, np.pi]), units, 2.0**61)
    assert found is not None
    assert int(found @ units) <= 2**62
    assert found[1] / found[0] == pytest.approx(np.pi, rel=1e-3)


@given(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=5))
def test_multiples_are_near_the_ratio(pull: list[float]) -> None:
    given_pull = np.array(pull)
    found = multiples(given_pull, np.full(len(pull), 100), 2.0**45)
    assume(found is not None)
    assert found is not None
    ratio = found / found.max() / (given_pull / given_pull.max())
    assert (found > 0).all()
    assert np.abs(ratio - 1).max() <= 2.0**-10


@pytest.mark.parametrize("weights", [{0: 1e-20, 1: 1e20}, {0: 1000.0, 1: 0.0001}])
def test_class_weights_far_apart(weights: dict[int, float]) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    model = TreeClassifier(class_weight=weights, max_depth=2, pruning=None).fit(X, y)
    heavy = int(weights[1] > weights[0])
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.mean(model.predict(X) == heavy) > 0.9


def test_class_weights_as_in_scikit_learn() -> None:
    from sklearn.tree import DecisionTreeClassifier

    iris = datasets.iris()
    X, y = iris.drop(columns="species").to_numpy(), iris["species"].to_numpy()
    weights = {"setosa": 1.0, "versicolor": 3.0, "virginica": 1.5}
    ours = TreeClassifier(
        "gini", max_depth=3, class_weight=weights, pruning=None, smoothing=None
    ).fit(X, y)
    theirs = DecisionTreeClassifier(max_depth=3, class_weight=weights, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-12)


def test_labels_of_least_expected_cost() -> None:
    """2 of 10 rows are class 1; to miss one costs 5."""
    X, y = np.zeros((10, 1)), np.repeat([0, 1], [8, 2])
    assert TreeClassifier(pruning=None).fit(X, y).predict(X[:1]).tolist() == [0]
    costs = [[0, 1], [5, 0]]
    model = TreeClassifier(costs=costs, pruning=None).fit(X, y)
    assert model.predict(X[:1]).tolist() == [1]
    assert model._model.risk().tolist() == [8.0]
    assert model._model.error().tolist() == [0.8]
    assert model._model.purity().tolist() == [0.8]
    np.testing.assert_allclose(model.predict_proba(X[:1]), [[0.8, 0.2]])
    assert TreeClassifier(costs=[[0, 1], [4, 0]], pruning=None).fit(X, y).predict(
        X[:1]
    ).tolist() == [0]  # equal
    assert TreeClassifier(pruning=None).fit(X, y).predict(X[:1], costs=costs).tolist() == [1]
    assert model.predict(X[:1], costs=[[0, 1], [1, 0]]).tolist() == [0]


def test_equals_but_for_rounding_are_equal() -> None:
    """1 of 10 and 3 of 30, and a third of 0.1 · 3."""
    counts = np.array([[1.0, 3.0]]) * [1 / 10, 1 / 30]
    assert decide_labels(counts, None).tolist() == [0]
    assert decide_labels(counts[:, ::-1], None).tolist() == [0]
    assert decide_labels(np.array([[0.3, 0.1 + 0.2, 0.4]]), None).tolist() == [2]
    assert decide_labels(np.array([[1.0, 1.0]]), np.array([[0, 0.1 + 0.2], [0.3, 0]])).tolist() == [
        0
    ]


@HALF
@given(tables, seeds)
def test_other_priors_at_predict(data: Data, seed: int) -> None:
    """Shares are what the priors make of P(leaf|k); the tests stay those of the fit."""
    new = np.random.default_rng(seed).dirichlet(np.ones(data.K))
    model = data.fit(max_depth=2, smoothing=None)
    tree = model._model
    likelihood = tree.weights() / tree.weights()[0]
    expected = new * likelihood
    expected /= expected.sum(axis=1, keepdims=True)
    nodes = model.apply(data.X)
    found = model.predict_proba(data.X, priors=new)
    np.testing.assert_allclose(found, expected[nodes], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(data.X, priors=new)), found)
    by_label = dict(zip(model.classes_.tolist(), new, strict=True))
    np.testing.assert_array_equal(model.predict_proba(data.X, priors=by_label), found)
    assert (found[np.arange(len(nodes)), _places(model, data.X, new)] >= found.max(axis=1)).all()


def _places(model: TreeClassifier, X: Any, priors: Any) -> NDArray[np.intp]:
    return np.searchsorted(model.classes_, model.predict(X, priors=priors))


@HALF
@given(tables, seeds)
def test_the_priors_of_the_fit_at_predict(data: Data, seed: int) -> None:
    priors = class_options("priors", data.K, seed)["priors"]
    model = data.fit(priors=priors)
    np.testing.assert_allclose(
        model.predict_proba(data.X, priors=priors), model.predict_proba(data.X), rtol=1e-9
    )


def test_a_class_that_cannot_be_leaves_the_priors() -> None:
    found = reweigh(
        np.array([[1.0, 0, 0], [0.5, 0.5, 0]]), np.full(3, 1 / 3), np.array([0, 0.2, 0.8])
    )
    np.testing.assert_allclose(found, np.array([[0, 0.2, 0.8], [0, 1.0, 0]]))


def test_formulas_by_hand() -> None:
    """A root of 6 and 4, a branch of 3 and 1, a leaf of 2 and 0."""
    shares, parents = np.array([[0.6, 0.4], [0.75, 0.25], [1, 0]]), np.array([-1, 0, 1])
    n = np.array([10.0, 4, 2])
    np.testing.assert_allclose(
        laplace(shares, n), [[7 / 12, 5 / 12], [4 / 6, 2 / 6], [3 / 4, 1 / 4]]
    )
    np.testing.assert_allclose(
        m_estimate(shares, n, 5.0), [[0.6, 0.4], [6 / 9, 3 / 9], [5 / 7, 2 / 7]]
    )
    first = 0.6 + (0.75 - 0.6) / (1 + 10 / 10)
    second = first + (1 - 0.75) / (1 + 10 / 4)
    np.testing.assert_allclose(
        shrink(shares, n, parents, 10.0)[:, 0], [0.6, first, second], rtol=1e-15
    )
    # a branch that rested on more rows than the root would have some of its share taken off twice
    np.testing.assert_array_equal(
        shrink(shares, np.array([4.0, 9, 2]), parents, 10.0),
        shrink(shares, np.array([4.0, 4, 2]), parents, 10.0),
    )


def test_defaults_of_the_strength() -> None:
    X, y = np.arange(8.0)[:, None], [0, 0, 0, 0, 1, 1, 1, 1]
    found = {
        kind: TreeClassifier(smoothing=kind, pruning=None).fit(X, y)._model.smoothing
        for kind in ("laplace", "m_estimate", "shrinkage")
    }
    assert found["m_estimate"] == Smoothing("m_estimate", 2.0)
    assert found["shrinkage"] == Smoothing("shrinkage", 5.0)
    assert TreeClassifier(pruning=None).fit(X, y)._model.smoothing == found["shrinkage"]
    by_m = TreeClassifier(smoothing="m_estimate", pruning=None).fit(X, y).predict_proba(X)
    by_laplace = TreeClassifier(smoothing="laplace", pruning=None).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(by_m, by_laplace)
    np.testing.assert_allclose(by_laplace[0], [5 / 6, 1 / 6])


@HALF
@given(tables, seeds, kinds, smoothings)
def test_shares_are_shares(data: Data, seed: int, kind: str, smoothing: str) -> None:
    """They add up to one, none is negative; labels, text and rules follow them."""
    model = data.fit(**class_options(kind, data.K, seed), smoothing=smoothing)
    tree = model._model
    shares, costs = tree.shares(), class_options(kind, data.K, seed).get("costs")
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)
    assert (shares >= 0).all()
    wrong = 1 - np.eye(data.K) if costs is None else costs
    expected = shares @ wrong
    said = expected[np.arange(len(shares)), tree.labels()]
    assert (said <= expected.min(axis=1) + 1e-12 * wrong.max()).all()
    np.testing.assert_array_equal(
        model.predict(data.X), model.classes_[tree.labels()][model.apply(data.X)]
    )
    for rule in model.rules():
        assert rule.probabilities == tuple(shares[rule.leaf].tolist())
        assert rule.label == model.classes_[tree.labels()[rule.leaf]]
    said_in_frame = model.to_frame()["prediction"].tolist()
    assert said_in_frame == model.classes_[tree.labels()].tolist()


@HALF
@given(tables, seeds, kinds)
def test_limits_of_the_strength(data: Data, seed: int, kind: str) -> None:
    """Nothing leaves the plain shares, and very much those of the root."""
    tree = data.fit(**class_options(kind, data.K, seed), smoothing=None)._model
    plain = tree.shares()
    for smoothing in ("m_estimate", "shrinkage"):
        none = replace(tree, smoothing=Smoothing(smoothing, 0.0)).shares()
        much = replace(tree, smoothing=Smoothing(smoothing, 1e15)).shares()
        np.testing.assert_allclose(none, plain, rtol=1e-12)
        np.testing.assert_allclose(much, np.broadcast_to(plain[0], plain.shape), rtol=1e-9)


@HALF
@given(tables, seeds, st.floats(0.01, 1000), kinds)
def test_shrinkage_node_by_node(data: Data, seed: int, strength: float, kind: str) -> None:
    """The recursion as it is written, from the root down."""
    tree = data.fit(
        **class_options(kind, data.K, seed), smoothing="shrinkage", smoothing_strength=strength
    )._model
    s, parent = tree.plain_shares(), tree.parents()
    n, p = tree.weights().sum(axis=1), s.copy()
    for t in range(1, tree.n_nodes):
        above = parent[t]
        p[t] = p[above] + (s[t] - s[above]) / (1 + strength / n[above])
    np.testing.assert_allclose(tree.shares(), p, rtol=1e-9, atol=1e-12)


def test_a_chain_of_a_hundred_thousand_tests() -> None:
    depth, strength = 100_000, 10.0
    plain = chain(depth)
    tree = replace(plain, smoothing=Smoothing("shrinkage", strength))
    shares = tree.shares()
    s, n = plain.plain_shares()[:, 0].tolist(), plain.units.sum(axis=1).tolist()
    p, expected = s[0], list[float]()
    for t in range(0, tree.n_nodes - 2, 2):
        leaf = p + (s[t + 1] - s[t]) / (1 + strength / n[t])
        expected += [p, leaf]
        p += (s[t + 2] - s[t]) / (1 + strength / n[t])
    assert len(expected) >= 2 * depth - 2
    np.testing.assert_allclose(shares[: len(expected), 0], expected, rtol=0, atol=1e-11)
    np.testing.assert_allclose(shares.sum(axis=1), 1, rtol=1e-12)
    assert (tree.risk() == plain.units.min(axis=1)).all()


def test_smoothing_can_turn_what_is_said() -> None:
    """A leaf of one row of a rare class says the frequent one; its risk stays that of its rows."""
    X = np.array([[0.0], [1], [2], [3], [4], [5], [6], [7], [8], [9]])
    y = np.array([0] * 9 + [1])
    plain = TreeClassifier(smoothing=None, pruning=None).fit(X, y)
    shrunken = TreeClassifier(smoothing="shrinkage", smoothing_strength=20, pruning=None).fit(X, y)
    assert plain.predict(X[-1:]).tolist() == [1]
    assert shrunken.predict(X[-1:]).tolist() == [0]
    np.testing.assert_allclose(shrunken.predict_proba(X[-1:])[0, 1], 0.1 + 0.9 / 3)
    assert shrunken._model.risk().tolist() == [1.0, 0.0, 0.0]
    assert shrunken._model.error().tolist() == [0.1, 0.0, 1.0]


def test_drawings_show_shares_as_they_count() -> None:
    X, y = np.zeros((10, 1)), np.repeat(["often", "rare"], [8, 2])
    model = TreeClassifier(class_weight="balanced", pruning=None).fit(X, y)
    box = model.to_drawing().boxes[0]
    assert list(box.counts) == [(0, 8), (1, 2)]
    assert list(box.parts) == [(0, 5.0), (1, 5.0)]
    assert "often 8 (50 %), rare 2 (50 %)" in box.title
    assert "50 %" in box.lines[1]
    assert "often: 8, rare: 2, purity 0.500, error 0.500" in model.to_text()
    laplace_box = TreeClassifier(smoothing="laplace", pruning=None).fit(X, y).to_drawing().boxes[0]
    assert list(laplace_box.parts) == [(0, 8), (1, 2)]  # what is drawn are counts
