"""Laws of the tree: what must hold for every table, tried on random ones."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.trees.tables import (
    HALF,
    LEAF,
    QUESTIONS,
    SCORES,
    Data,
    children_of,
    depths_of,
    parents_of,
    same,
    seeds,
    tables,
)

from sortal import TreeClassifier, score_split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.trees.learn import Criterion

# Trees of one class are grown on purpose, or by chance.
pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.OneClassWarning")


@HALF
@given(tables)
def test_names_of_classes_and_words_that_sort_alike(data: Data) -> None:
    X = data.X.assign(
        word=data.X["word"].map(lambda w: f"{w}{w} new"), letter=data.X["letter"].str.upper()
    ).set_axis(["d", "c", "b", "a"], axis=1)
    y = np.array([10 * (ord(label[0]) - ord("z")) for label in data.y])
    one, other = data.fit(), replace(data, X=X, y=y).fit()
    same(one, other)
    named = dict(zip(other.classes_.tolist(), one.classes_.tolist(), strict=True))
    assert [named[k] for k in other.predict(X).tolist()] == one.predict(data.X).tolist()


@HALF
@given(tables)
def test_columns_that_never_vary_change_nothing(data: Data) -> None:
    same(data.fit(), replace(data, X=data.X.assign(number=7.5, constant="word")).fit())


@HALF
@given(tables, seeds)
def test_strictly_monotone_transforms_of_a_column(data: Data, seed: int) -> None:
    """The same questions part the training rows the same way; only thresholds move."""
    rng = np.random.default_rng(seed)
    X = data.X.copy()
    for name in ("many", "few"):
        values, places = np.unique(X[name], return_inverse=True)
        steps = np.exp(rng.normal(scale=3, size=len(values)))
        X[name] = (np.cumsum(steps) - 40)[places]
    one, other = data.fit(), replace(data, X=X).fit()
    same(one, other, (*QUESTIONS, *SCORES, "units", "sizes", "candidates"))
    np.testing.assert_array_equal(one.apply(data.X), other.apply(X))


def test_a_transform_of_many_rows() -> None:
    rng = np.random.default_rng(3)
    X = np.rint(rng.normal(size=(25_000, 3)) * 50) / 8
    y = (X @ [1.0, -1.0, 0.5] + rng.normal(size=25_000) > 0).astype(int)
    one = TreeClassifier("gini", max_depth=8, pruning=None).fit(X, y)
    for moved in (np.exp(X), np.cbrt(X), X * 2.0**70, X - 1e6):
        other = TreeClassifier("gini", max_depth=8, pruning=None).fit(moved, y)
        same(one, other, (*QUESTIONS, *SCORES, "units", "sizes"))
        np.testing.assert_array_equal(one.apply(X), other.apply(moved))


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("unasked", ["words", "numbers"])
def test_columns_that_no_test_asks_do_not_mislead_rows(place: int, unasked: str) -> None:
    """Wherever they stand among the columns that are asked."""
    n = 24
    asked = {"x": np.arange(n) // 12 * 1.0, "word": np.array(list("pq"))[np.arange(n) // 6 % 2]}
    constant = {"words": np.full(n, "same"), "numbers": np.full(n, 0.5)}[unasked]
    names = list(asked)
    names.insert(place, "unasked")
    X = pd.DataFrame({**asked, "unasked": constant})[names]
    y = np.arange(n) // 6
    model = TreeClassifier(pruning=None).fit(X, y)
    assert model.get_n_leaves() == 4
    assert model.predict(X).tolist() == y.tolist()
    only = TreeClassifier(pruning=None).fit(X[["unasked", "x"]], y // 2)
    assert only.predict(X[["unasked", "x"]]).tolist() == (y // 2).tolist()


sizes_matter: Final = st.fixed_dictionaries(
    {},
    optional={
        "leaf_size": st.integers(1, 15),
        "min_samples_leaf": st.integers(1, 9),
        "min_weight_fraction_leaf": st.sampled_from([0.0625, 0.125]),
        "max_leaf_nodes": st.integers(2, 9),
        "max_subset": st.integers(1, 3),
    },
)


@HALF
@given(tables, seeds, st.sampled_from([2.0**-30, 0.25, 2.0, 4.0, 2.0**40]), sizes_matter)
def test_fractional_weights_times_a_power_of_two(
    data: Data, seed: int, factor: float, options: dict[str, Any]
) -> None:
    """The same tree; its weights, and nothing else, are multiplied."""
    if data.options["categorical_split"] == "multiway":
        options = {**options, "max_leaf_nodes": None}
    # A multiple of 2**-50 below 1, for it must not become a whole number.
    weights = np.random.default_rng(seed).uniform(0.1, 1, len(data.y))
    weights[0] = 2.0**-50 + 0.5
    one = replace(data, weights=weights).fit(**options)
    other = replace(data, weights=weights * factor).fit(**options)
    same(one, other, (*QUESTIONS, *SCORES, "threshold", "sizes", "candidates"))
    n, n_scaled = one.to_frame()["n"].to_numpy(), other.to_frame()["n"].to_numpy()
    np.testing.assert_array_equal(n * factor, n_scaled)
    np.testing.assert_array_equal(one.predict_proba(data.X), other.predict_proba(data.X))
    assert one._model.sizes[0] == len(data.y)
    assert n[0] == pytest.approx(weights.sum(), rel=1e-9)  # weights are rounded to 2**-40


@HALF
@given(tables, seeds, st.sampled_from([None, 2, 5, 8]))
def test_a_tree_tells_one_thing_wherever_it_is_asked(
    data: Data, seed: int, most: int | None
) -> None:
    model = data.fit(smoothing=None, max_leaf_nodes=most)
    check_numbers_of_nodes(model._model)
    check_frame(model)
    check_scores(model, data)
    check_leaves(model, data)
    check_rows(model, data, np.random.default_rng(seed).integers(0, len(data.y), 30))


def check_numbers_of_nodes(tree: Any) -> None:
    """A node, then all of its first branch, then all of the next; however the tree has grown."""
    expected, stack = [], [0]
    while stack:
        t = stack.pop()
        expected.append(t)
        stack.extend(reversed(children_of(tree, t)))
    assert expected == list(range(len(tree.kind)))
    assert tree.child_start[-1] == len(tree.children) == len(tree.kind) - 1
    assert tree.value_start[-1] == len(tree.values) == len(tree.branches)


def check_frame(model: Any) -> None:
    tree, frame, depths = model._model, model.to_frame(), depths_of(model._model)
    assert (model.get_depth(), model.get_n_leaves()) == (depths.max(), (tree.kind == LEAF).sum())
    told = {
        "node": np.arange(len(tree.kind)),
        "depth": depths,
        "parent": parents_of(tree),
        "size": tree.sizes,
        "n": tree.units.sum(axis=1),
        "score": tree.score,
        "exact": tree.exact,
        "candidates": tree.candidates,
        "prediction": model.classes_[tree.units.argmax(axis=1)],
    }
    for name, expected in told.items():
        assert frame[name].tolist() == expected.tolist(), name
    most = tree.units.max(axis=1) / tree.units.sum(axis=1)
    np.testing.assert_allclose(frame["purity"], most, rtol=1e-15)


def check_scores(model: Any, data: Data) -> None:
    """Every score is that of its partition, and importances are shares of what scores add up to."""
    tree, path = model._model, model.decision_path(data.X).toarray().astype(bool)
    names = {"gain": "gain", "gain_ratio": "gain_ratio", "gini": "gini_decrease", "cart": "cart"}
    criterion, brought = data.options["criterion"], np.zeros(4)
    for t in np.flatnonzero(tree.kind != LEAF).tolist():
        rows = path[:, t]
        branch = np.argmax(path[:, children_of(tree, t)][rows], axis=1)
        found = score_split(branch, data.y[rows])
        assert tree.score[t] == pytest.approx(getattr(found, names[criterion]), rel=1e-9)
        is_ratio = criterion == "gain_ratio"
        assert tree.gain[t] == (pytest.approx(found.gain, rel=1e-9) if is_ratio else tree.score[t])
        brought[tree.attribute[t]] += rows.sum() * tree.score[t]
    assert (tree.score[tree.kind == LEAF] == 0).all()
    assert tree.exact.all()
    if criterion in {"gain", "gini"}:
        expected = brought / (brought.sum() or 1.0)
        np.testing.assert_allclose(model.feature_importances_, expected, rtol=1e-9)


def check_leaves(model: Any, data: Data) -> None:
    """Grown without stops, the rows of an impure leaf make one leaf again when grown alone."""
    leaf = model.apply(data.X)
    assert sorted(np.unique(leaf)) == np.flatnonzero(model._model.kind == LEAF).tolist()
    for t in np.unique(leaf) if model.max_leaf_nodes is None else ():
        rows = np.flatnonzero(leaf == t)
        if len(set(data.y[rows])) > 1:
            assert data.take(rows).fit().get_n_leaves() == 1


def check_rows(model: Any, data: Data, rows: NDArray[np.int64]) -> None:
    """Paths, leaves, shares and labels."""
    tree, parents = model._model, parents_of(model._model)
    X = data.X.iloc[rows]
    leaf, path = model.apply(X), model.decision_path(X)
    assert path.shape == (30, len(tree.kind))
    for i, t in enumerate(leaf):
        up = [int(t)]
        while parents[up[-1]] >= 0:
            up.append(int(parents[up[-1]]))
        row = path[[i]].toarray()[0]
        assert np.flatnonzero(row).tolist() == up[::-1]
        assert set(row[row != 0].tolist()) == {1}
    shares = tree.units[leaf] / tree.units[leaf].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), shares, rtol=1e-15)
    said = model.classes_[tree.units[leaf].argmax(axis=1)]
    assert model.predict(X).tolist() == said.tolist()
    assert (tree.kind[leaf] == LEAF).all()
    logs = model.predict_log_proba(X)
    np.testing.assert_array_equal(np.isneginf(logs), shares == 0)
    np.testing.assert_allclose(np.exp(logs), shares, rtol=1e-14)


def test_minus_zero_is_zero() -> None:
    model = TreeClassifier(pruning=None).fit([[-0.0], [0.0], [-0.0], [0.0]], [0, 1, 0, 1])
    assert model.get_n_leaves() == 1
    signed = TreeClassifier(pruning=None).fit([[-1.0], [0.0], [-0.0], [1.0]], [0, 1, 1, 0])
    assert signed.get_n_leaves() == 3
    assert len(set(signed.apply([[0.0], [-0.0]]).tolist())) == 1


@pytest.mark.parametrize(("ours", "theirs"), [("gini", "gini"), ("gain", "entropy")])
def test_where_no_value_comes_twice_the_tree_is_that_of_scikit_learn(
    ours: Criterion, theirs: str
) -> None:
    """Node by node, on numbers that both hold as they are."""
    from sklearn.datasets import make_classification
    from sklearn.tree import DecisionTreeClassifier

    Z, y = make_classification(20_000, 8, n_informative=6, n_classes=3, flip_y=0.1, random_state=0)
    X = Z.argsort(axis=0).argsort(axis=0).astype(np.float32)  # ranks: no value twice
    peer = DecisionTreeClassifier(criterion=theirs, max_depth=6, random_state=0).fit(X, y)
    model = TreeClassifier(ours, max_depth=6, pruning=None, smoothing=None).fit(X, y)
    counts = peer.tree_.value[:, 0, :] * peer.tree_.weighted_n_node_samples[:, None]
    np.testing.assert_array_equal(model._model.units, np.rint(counts))
    is_test = peer.tree_.feature >= 0
    np.testing.assert_array_equal(model._model.threshold[is_test], peer.tree_.threshold[is_test])
    np.testing.assert_allclose(model.feature_importances_, peer.feature_importances_, rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X), peer.predict(X))
