"""What classes count for in a tree: priors, class weights, costs, and shares that are smoothed.

The oracle of altered priors is read aloud in fractions: the rows of a class count for
prior · Σ costs of its row, the test of largest Gini decrease is asked, and a node says the class of
least expected cost, by priors without the costs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.estimators.tree_tables import (
    CRITERIA,
    CUT,
    LEAF,
    QUESTIONS,
    Data,
    make_data,
    same,
    seeds,
    tables,
)

from sortal import TreeClassifier, datasets
from sortal.data.schema import ColumnSchema, Schema
from sortal.learners.tree_weights import multiples
from sortal.models.tree import TreeModel
from sortal.models.tree_shares import Smoothing, laplace, m_estimate, reweigh, say, shrink

if TYPE_CHECKING:
    from collections.abc import Sequence

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


# --- The oracle of altered priors ----------------------------------------------------------------


@dataclass(frozen=True)
class Tiny:
    """Whole numbers in two columns, whole weights; priors and costs as fractions."""

    x: tuple[tuple[int, int], ...]
    y: tuple[int, ...]
    copies: tuple[int, ...]
    priors: tuple[Fraction, ...] | None
    costs: tuple[tuple[int, ...], ...] | None

    @property
    def K(self) -> int:  # noqa: N802
        return max(self.y) + 1

    @cached_property
    def factors(self) -> list[Fraction]:
        if self.priors is None:
            return [Fraction(1)] * self.K
        total = [sum(c for c, k in zip(self.copies, self.y, strict=True) if k == j) for j in self.k]
        return [p * sum(total) / n for p, n in zip(self.priors, total, strict=True)]

    @property
    def k(self) -> range:
        return range(self.K)

    def cost(self, i: int, j: int) -> int:
        return int(i != j) if self.costs is None else self.costs[i][j]

    def counts(self, rows: Sequence[int], by: Sequence[Fraction]) -> list[Fraction]:
        found = [Fraction(0)] * self.K
        for i in rows:
            found[self.y[i]] += self.copies[i] * by[self.y[i]]
        return found

    @cached_property
    def pull(self) -> list[Fraction]:
        sums = [sum(self.cost(i, j) for j in self.k) for i in self.k]
        return [f * s for f, s in zip(self.factors, sums, strict=True)]

    def label(self, rows: Sequence[int]) -> int:
        counts = self.counts(rows, self.factors)
        expected = [sum(n * self.cost(i, j) for i, n in enumerate(counts)) for j in self.k]
        return expected.index(min(expected))

    def gini(self, rows: Sequence[int]) -> Fraction:
        """n (1 - Σ p²) of the rows as they count."""
        counts = self.counts(rows, self.pull)
        n = sum(counts, Fraction(0))
        return n - sum((c * c for c in counts), Fraction(0)) / n

    def best(self, rows: Sequence[int]) -> tuple[int, Fraction, Fraction] | None:
        """Column, threshold and decrease; the earlier column, the smaller threshold of equals."""
        found = None
        for j in (0, 1):
            for a, b in pairwise(sorted({self.x[i][j] for i in rows})):
                yes = [i for i in rows if self.x[i][j] <= a]
                no = [i for i in rows if self.x[i][j] > a]
                gained = self.gini(rows) - self.gini(yes) - self.gini(no)
                if gained > 0 and (found is None or gained > found[2]):
                    found = j, Fraction(a + b, 2), gained
        return found

    def grow(self, rows: Sequence[int]) -> list[tuple[Any, ...]]:
        """Nodes in preorder: column, threshold, score, label."""
        counts = self.counts(rows, self.pull)
        test = None if max(counts) == sum(counts) or len(rows) == 1 else self.best(rows)
        if test is None:
            return [(-1, None, Fraction(0), self.label(rows))]
        j, v, gained = test
        yes = [i for i in rows if self.x[i][j] <= v]
        no = [i for i in rows if self.x[i][j] > v]
        return [
            (j, v, gained / sum(counts), self.label(rows)),
            *self.grow(yes),
            *self.grow(no),
        ]


@st.composite
def tiny_tables(draw: Any) -> Tiny:
    K = draw(st.integers(2, 3))
    n = draw(st.integers(K, 9))
    y = [*range(K), *(draw(st.integers(0, K - 1)) for _ in range(n - K))]
    cell = st.integers(0, 4)
    x = tuple((draw(cell), draw(cell)) for _ in range(n))
    copies = tuple(draw(st.integers(1, 3)) for _ in range(n))
    priors = costs = None
    if draw(st.booleans()):
        parts = [draw(st.integers(1, 6)) for _ in range(K)]
        priors = tuple(Fraction(p, sum(parts)) for p in parts)
    if draw(st.booleans()):
        costs = tuple(
            tuple(0 if i == j else draw(st.integers(1, 5)) for j in range(K)) for i in range(K)
        )
    return Tiny(x, tuple(y), copies, priors, costs)


def fit_tiny(tiny: Tiny, **options: Any) -> TreeClassifier:
    priors = None if tiny.priors is None else [float(p) for p in tiny.priors]
    plain: Any = {"costs": tiny.costs, "priors": priors, "pruning": None, "smoothing": None}
    model = TreeClassifier("gini", **plain, **options)
    return model.fit(np.array(tiny.x, float), np.array(tiny.y), np.array(tiny.copies, float))


@given(tiny_tables())
def test_a_tree_by_altered_priors(tiny: Tiny) -> None:
    """Tests, scores and labels of every node, in fractions."""
    tree, expected = fit_tiny(tiny)._model, tiny.grow(range(len(tiny.y)))
    assert tree.attribute.tolist() == [node[0] for node in expected]
    cuts = tree.kind == CUT
    assert tree.threshold[cuts].tolist() == [float(node[1]) for node in expected if node[0] >= 0]
    np.testing.assert_allclose(tree.score, [float(node[2]) for node in expected], rtol=1e-9)
    assert tree.labels().tolist() == [node[3] for node in expected]


@given(tiny_tables())
def test_shares_risk_purity_and_error_by_hand(tiny: Tiny) -> None:
    model = fit_tiny(tiny, max_depth=2)
    tree, path = model._model, model.decision_path(np.array(tiny.x, float))
    one_cost = tiny.costs[0][1] if tiny.costs and tree.costs is None else 1  # as good as 1
    for t in range(tree.n_nodes):
        rows = path[:, [t]].nonzero()[0].tolist()
        counts, label = tiny.counts(rows, tiny.factors), tiny.label(rows)
        total = sum(counts)
        shares = [float(c / total) for c in counts]
        np.testing.assert_allclose(tree.shares()[t], shares, rtol=1e-12, atol=1e-15)
        cost = sum(c * tiny.cost(i, label) for i, c in enumerate(counts))
        assert one_cost * tree.risk()[t] == pytest.approx(float(cost), rel=1e-12, abs=1e-12)
        assert tree.purity()[t] == pytest.approx(float(max(counts) / total))
        assert tree.error()[t] == pytest.approx(float(1 - counts[label] / total), abs=1e-12)
        plain = tiny.counts(rows, [Fraction(1)] * tiny.K)
        assert tree.units[t].tolist() == plain


# --- What changes nothing ------------------------------------------------------------------------


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


@given(tables)
def test_balanced_is_equal_priors(data: Data) -> None:
    balanced, equal = (
        data.fit(class_weight="balanced"),
        data.fit(priors=np.full(data.K, 1 / data.K)),
    )
    same(balanced, equal)
    np.testing.assert_allclose(balanced._model.shares()[0], 1 / data.K, rtol=1e-12)
    assert balanced._model.labels()[0] == 0  # the first of equals, rounding or not


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


# --- Weights are copies --------------------------------------------------------------------------


# rows of weight 0 may have words that no other row has
@pytest.mark.filterwarnings("ignore::sortal.errors.UnknownCategoryWarning")
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


# --- Whole numbers for classes -------------------------------------------------------------------


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


# --- What is said --------------------------------------------------------------------------------


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
    assert say(counts, None).tolist() == [0]
    assert say(counts[:, ::-1], None).tolist() == [0]
    assert say(np.array([[0.3, 0.1 + 0.2, 0.4]]), None).tolist() == [2]
    assert say(np.array([[1.0, 1.0]]), np.array([[0, 0.1 + 0.2], [0.3, 0]])).tolist() == [0]


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


# --- Smoothing -----------------------------------------------------------------------------------


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


def chain(depth: int) -> TreeModel:
    """x <= 0, x <= 1, ...: each test takes one row off, of two classes in turn."""
    N, K = 2 * depth + 1, 2
    test = np.arange(0, N - 1, 2)
    kind = np.zeros(N, dtype=np.int8)
    kind[test] = CUT
    threshold = np.full(N, np.nan)
    threshold[test] = np.arange(depth) + 0.5
    starts = np.concatenate([[0], np.cumsum(np.where(kind == CUT, 2, 0))])
    children = np.arange(1, N, dtype=np.int32)
    one = np.eye(K, dtype=np.int64)[np.arange(depth + 1) % 2]
    units = np.empty((N, K), dtype=np.int64)
    units[::2] = np.cumsum(one[::-1], axis=0)[::-1]
    units[1::2] = one[:-1]
    none = np.zeros(0, dtype=np.int32)
    zeros = np.zeros(N)
    return TreeModel(
        Schema((ColumnSchema("x", "number"),), (0, 1)), (1,), ((),), 0, kind,
        np.where(kind == CUT, 0, -1).astype(np.int32), threshold, starts, children,
        np.zeros(N + 1, dtype=np.int64), none, none, np.where(kind == CUT, 1, -1).astype(np.int32),
        units, units.sum(axis=1), zeros, zeros, np.ones(N, dtype=bool), zeros,
        np.full(N, -1, dtype=np.int32),
    )  # fmt: skip


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


# --- Reading -------------------------------------------------------------------------------------


WEIGHTINGS: Final = (None, "fractions", "copies")
# Every kind with every weighting, and criteria in turn.
WORKED: Final = [
    (CRITERIA[(i + j) % 4], weights, kind)
    for i, kind in enumerate(KINDS)
    for j, weights in enumerate(WEIGHTINGS)
]


@pytest.mark.parametrize(("criterion", "weights", "kind"), WORKED)
def test_the_working_finds_the_tests_of_the_tree(
    criterion: str, weights: str | None, kind: str
) -> None:
    data = make_data(5, 80, 3, criterion, "subset")
    drawn = np.random.default_rng(5).random(len(data.y)) + 0.1
    given_weights = {None: None, "fractions": drawn, "copies": np.rint(3 * drawn + 1)}[weights]
    data = replace(data, weights=given_weights)
    model = data.fit(**class_options(kind, 3, 5), max_depth=2, min_gain=0.001)
    tree = model._model
    for t in range(tree.n_nodes):
        working = model.working(t, data.X, data.y, sample_weight=given_weights)
        if tree.kind[t] == LEAF:
            assert "do not tell" not in str(working["test"])
            continue
        tests = working["tests"]
        assert tests.column("chosen").index(True) == 0
        assert tests.column("score")[0] == pytest.approx(tree.score[t], rel=1e-9)
        pulled = working["node"].column("weight in tests")
        assert np.sum(np.array(pulled, float)) == pytest.approx(tree.pull()[t])
        assert list(working["node"].column("n_i")) == tree.counts()[t].tolist()


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
