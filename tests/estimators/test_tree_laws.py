"""Laws of the tree: what must hold for every table, tried on random ones."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from sortal import TreeClassifier, score_partition

# Trees of one class are grown on purpose, or by chance.
pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.OneClassWarning")

Float: TypeAlias = NDArray[np.float64]
Int: TypeAlias = NDArray[np.int64]

LEAF, CUT, SUBSET, MULTIWAY = range(4)
QUICK: Final = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
CRITERIA: Final = ("gain", "gain_ratio", "gini", "cart")
every_criterion = pytest.mark.parametrize("criterion", CRITERIA)

# What a tree asks and what it holds, node by node.
QUESTIONS: Final = (
    "kind",
    "attribute",
    "child_start",
    "children",
    "value_start",
    "values",
    "branches",
    "heavier",
)
SCORES: Final = ("score", "gain", "exact")
ALL: Final = (*QUESTIONS, *SCORES, "threshold", "units", "sizes", "candidates")


@dataclass(frozen=True)
class Data:
    """Two columns of numbers (many and few values) and two of words; labels; options of a fit."""

    X: Any
    y: NDArray[Any]
    options: dict[str, Any]
    weights: Float | None = None

    def fit(self, **options: Any) -> Any:
        model = TreeClassifier(**{"pruning": None, **self.options, **options})
        return model.fit(self.X, self.y, sample_weight=self.weights)

    def take(self, rows: Any) -> Data:
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, X=self.X.iloc[rows], y=self.y[rows], weights=weights)


def make_data(seed: int, n: int, K: int, criterion: str, split: str = "subset") -> Data:
    """Half of every column's cells know the class; the others are drawn."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, K, n)

    def codes(m: int) -> Int:
        return np.where(rng.random(n) < 0.5, (classes * 3 + 1) % m, rng.integers(0, m, n))

    X = pd.DataFrame(
        {
            "many": rng.normal(size=n) + classes / 2,
            "word": np.array(list("abcdefg"))[codes(7)],
            "few": codes(9) / 4,
            "letter": np.array(list("pqrs"))[codes(4)],
        }
    )
    if criterion == "cart":
        split = "subset"
    options = {"criterion": criterion, "categorical_split": split}
    return Data(X, np.array(["ash", "birch", "cedar", "elm", "fir"])[classes], options)


seeds: Final = st.integers(0, 10**9)
splits: Final = st.sampled_from(["subset", "multiway"])
tables: Final = st.builds(
    make_data, seeds, st.integers(4, 120), st.integers(2, 5), st.sampled_from(CRITERIA), splits
)


def same(one: Any, other: Any, fields: tuple[str, ...] = ALL) -> None:
    """Two fitted trees agree to the bit in these arrays."""
    for name in fields:
        a, b = getattr(one._model, name), getattr(other._model, name)
        np.testing.assert_array_equal(a, b, err_msg=name)


def same_answers(weighted: Any, plain: Any, X: Any) -> None:
    """To the bit; classes that only `weighted` lists have no weight: their columns are zeros."""
    every = weighted.classes_.tolist()
    at = [every.index(label) for label in plain.classes_.tolist()]
    assert weighted._model.classes == plain._model.classes
    assert weighted.predict(X).tolist() == plain.predict(X).tolist()
    shares = weighted.predict_proba(X)
    np.testing.assert_array_equal(shares[:, at], plain.predict_proba(X))
    assert shares.shape == (len(X), len(every))
    assert (np.delete(shares, at, axis=1) == 0).all()


def children_of(tree: Any, t: int) -> list[int]:
    return [int(s) for s in tree.children[tree.child_start[t] : tree.child_start[t + 1]]]


def parents_of(tree: Any) -> Int:
    parents = np.full(len(tree.kind), -1, dtype=np.int64)
    for t in range(len(tree.kind)):
        parents[children_of(tree, t)] = t
    return parents


def depths_of(tree: Any) -> Int:
    """Parents come before their children."""
    depths = np.zeros(len(tree.kind), dtype=np.int64)
    for t, parent in enumerate(parents_of(tree)):
        if parent >= 0:
            depths[t] = depths[parent] + 1
    return depths


# --- What must not matter ------------------------------------------------------------------------


@QUICK
@given(tables, seeds)
def test_the_order_of_rows(data: Data, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(data.y))
    same(data.fit(), data.take(order).fit())


@QUICK
@given(tables, seeds)
def test_the_order_of_weighted_rows(data: Data, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weighted = replace(data, weights=rng.random(len(data.y)) + 0.01)
    same(weighted.fit(), weighted.take(rng.permutation(len(data.y))).fit())


@QUICK
@given(tables)
def test_names_of_classes_and_words_that_sort_alike(data: Data) -> None:
    X = data.X.assign(
        word=data.X["word"].map(lambda w: f"{w}{w} new"), letter=data.X["letter"].str.upper()
    )
    y = np.array([10 * (ord(label[0]) - ord("z")) for label in data.y])
    one, other = data.fit(), replace(data, X=X, y=y).fit()
    same(one, other)
    named = dict(zip(other.classes_.tolist(), one.classes_.tolist(), strict=True))
    assert [named[k] for k in other.predict(X).tolist()] == one.predict(data.X).tolist()


@QUICK
@given(tables)
def test_names_of_columns(data: Data) -> None:
    X = data.X.set_axis(["d", "c", "b", "a"], axis=1)
    same(data.fit(), replace(data, X=X).fit())


@QUICK
@given(tables, st.integers(2, 3))
def test_the_number_of_threads(data: Data, n_jobs: int) -> None:
    same(data.fit(n_jobs=1), data.fit(n_jobs=n_jobs))
    same(data.fit(n_jobs=1), data.fit(n_jobs=None))


@every_criterion
def test_the_number_of_threads_on_many_rows(criterion: str) -> None:
    data = make_data(1, 30_000, 4, criterion)
    one = data.fit(n_jobs=1)
    for n_jobs in (2, 3):
        same(one, data.fit(n_jobs=n_jobs))
    assert len(one._model.kind) > 1000


def test_the_number_of_threads_of_a_best_first_tree() -> None:
    data = make_data(2, 30_000, 3, "gini")
    one = data.fit(n_jobs=1, max_leaf_nodes=60)
    for n_jobs in (2, 3):
        same(one, data.fit(n_jobs=n_jobs, max_leaf_nodes=60))
    assert one.get_n_leaves() == 60


@QUICK
@given(tables, st.sampled_from(["many", "word", "few", "letter"]))
def test_a_duplicated_column(data: Data, name: str) -> None:
    """The earlier of two equal columns is asked, wherever the second stands behind it.

    C4.5's rule takes an average over columns, so there the whole table stands twice.
    """
    copied = [name] if data.options["criterion"] != "gain_ratio" else list(data.X)
    copies = data.X[copied].add_prefix("copy of ")
    one, other = data.fit(), replace(data, X=pd.concat([data.X, copies], axis=1)).fit()
    same(one, other, (*QUESTIONS, *SCORES, "threshold", "units", "sizes"))
    is_test = one._model.kind != LEAF
    assert (other._model.candidates[is_test] >= one._model.candidates[is_test]).all()


@QUICK
@given(tables)
def test_a_constant_column(data: Data) -> None:
    """It has no test, and counts in no average."""
    X = data.X.assign(number=7.5, constant="word")
    same(data.fit(), replace(data, X=X).fit())


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


@QUICK
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


@pytest.mark.parametrize("transform", [np.exp, np.cbrt, lambda x: x * 2.0**70, lambda x: x - 1e6])
def test_a_transform_of_many_rows(transform: Any) -> None:
    rng = np.random.default_rng(3)
    X = np.rint(rng.normal(size=(25_000, 3)) * 50) / 8
    y = (X @ [1.0, -1.0, 0.5] + rng.normal(size=25_000) > 0).astype(int)
    one = TreeClassifier("gini", max_depth=8, pruning=None).fit(X, y)
    other = TreeClassifier("gini", max_depth=8, pruning=None).fit(transform(X), y)
    same(one, other, (*QUESTIONS, *SCORES, "units", "sizes"))
    np.testing.assert_array_equal(one.apply(X), other.apply(transform(X)))


LAYOUTS: Final = {
    "fortran": np.asfortranarray,
    "every second row of a larger array": lambda X: np.repeat(X, 2, axis=0)[::2],
    "every third column of a larger array": lambda X: np.repeat(X, 3, axis=1)[:, ::3],
    "upside down twice": lambda X: np.ascontiguousarray(X[::-1])[::-1],
    "mirrored twice": lambda X: np.ascontiguousarray(X[:, ::-1])[:, ::-1],
    "float32": lambda X: X.astype(np.float32),
    "big endian": lambda X: X.astype(">f8"),
    "frame": pd.DataFrame,
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("n", [50, 21_000])
def test_the_layout_of_an_array(layout: Any, n: int) -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n, 4)).astype(np.float32).astype(np.float64)
    y = (X.sum(axis=1) + rng.normal(size=n) > 0).astype(int)
    one = TreeClassifier(leaf_size=20, pruning=None).fit(X, y)
    given_X = layout(X)
    other = TreeClassifier(leaf_size=20, pruning=None).fit(given_X, y)
    same(one, other)
    np.testing.assert_array_equal(one.apply(X), other.apply(given_X))


def test_a_read_only_array_stays_as_it_is() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(300, 3)), rng.integers(0, 3, 300)
    copy, one = X.copy(), TreeClassifier(pruning=None).fit(X, y)
    X.flags.writeable = False
    same(one, TreeClassifier(pruning=None).fit(X, y))
    np.testing.assert_array_equal(X, copy)


# --- Weights -------------------------------------------------------------------------------------

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


@pytest.mark.filterwarnings("ignore::sortal.errors.UnknownCategoryWarning")  # of rows left out
@QUICK
@given(tables, seeds, sizes_matter)
def test_whole_weights_are_copies(data: Data, seed: int, options: dict[str, Any]) -> None:
    """Sizes included: leaf_size and min_samples_leaf count copies. Weight 0 leaves a row out."""
    if data.options["categorical_split"] == "multiway":
        options = {**options, "max_leaf_nodes": None}
    rng = np.random.default_rng(seed)
    copies = rng.integers(0, 4, len(data.y))
    copies[0] = 2
    weighted = replace(data, weights=copies.astype(np.float64)).fit(**options)
    copied = data.take(np.repeat(np.arange(len(data.y)), copies)).fit(**options)
    same(weighted, copied)
    assert weighted._model.sizes[0] == copies.sum()
    assert weighted.classes_.tolist() == sorted(set(data.y))
    same_answers(weighted, copied, data.X)


def test_whole_weights_are_copies_on_many_rows() -> None:
    data = make_data(6, 12_000, 3, "gain")
    copies = np.random.default_rng(6).integers(0, 5, 12_000)
    weighted = replace(data, weights=copies.astype(np.float64)).fit(leaf_size=30)
    same(weighted, data.take(np.repeat(np.arange(12_000), copies)).fit(leaf_size=30))
    assert weighted.get_n_leaves() > 50


@QUICK
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
    assert n[0] == pytest.approx(weights.sum(), rel=1e-9)


@QUICK
@given(tables, st.sampled_from([2.0, 3.0, 7.0]))
def test_the_same_weight_for_all_changes_no_question(data: Data, weight: float) -> None:
    """Weights that are all alike weigh nothing where no size is asked for."""
    weighted = replace(data, weights=np.full(len(data.y), weight)).fit()
    plain = data.fit()
    same(plain, weighted, (*QUESTIONS, "threshold", "candidates", "exact"))
    np.testing.assert_array_equal(plain._model.units * int(weight), weighted._model.units)
    np.testing.assert_allclose(plain._model.score, weighted._model.score, rtol=1e-9)


@QUICK
@given(tables)
def test_rows_of_weight_zero_are_not_there(data: Data) -> None:
    """Not even with words of their own; a class of their own is listed, and never said."""
    strangers = data.X.assign(word="zebra", letter="zero", many=1e9)
    X = pd.concat([data.X, strangers], ignore_index=True)
    y = np.concatenate([data.y, np.full(len(data.y), "yew")])
    weights = np.repeat([1.0, 0.0], len(data.y))
    one, other = data.fit(), replace(data, X=X, y=y, weights=weights).fit()
    same(one, other)
    assert other.classes_.tolist() == [*one.classes_, "yew"]
    same_answers(other, one, data.X)


# --- The shape of the tree -----------------------------------------------------------------------


@QUICK
@given(tables, st.sampled_from([None, 2, 5, 8]))
def test_nodes_are_numbered_in_preorder(data: Data, most: int | None) -> None:
    """A node, then all of its first branch, then all of the next; however the tree has grown."""
    tree = data.fit(max_leaf_nodes=most)._model
    expected, stack = [], [0]
    while stack:
        t = stack.pop()
        expected.append(t)
        stack.extend(reversed(children_of(tree, t)))
    assert expected == list(range(len(tree.kind)))
    assert tree.child_start[-1] == len(tree.children) == len(tree.kind) - 1
    assert tree.value_start[-1] == len(tree.values) == len(tree.branches)


@QUICK
@given(tables)
def test_room_for_all_leaves_is_no_bound(data: Data) -> None:
    """Best first or depth first: without a bound on leaves the tree is the same."""
    same(data.fit(), data.fit(max_leaf_nodes=10_000))


@QUICK
@given(tables, st.integers(0, 4))
def test_a_bound_on_depth_cuts_the_tree_off(data: Data, depth: int) -> None:
    """Down to that depth the tree is that without a bound."""
    full, cut = data.fit(), data.fit(max_depth=depth)
    kept = depths_of(full._model) <= depth
    assert cut.get_depth() == min(depth, full.get_depth())
    np.testing.assert_array_equal(full._model.units[kept], cut._model.units)
    asked = depths_of(full._model)[kept] < depth
    for name in ("kind", "attribute", "threshold", "score", "candidates"):
        a, b = getattr(full._model, name)[kept], getattr(cut._model, name)
        np.testing.assert_array_equal(a[asked], b[asked], err_msg=name)
    assert (cut._model.kind[~asked] == LEAF).all()


@QUICK
@given(tables, sizes_matter)
def test_bounds_hold(data: Data, options: dict[str, Any]) -> None:
    """No side of a binary test is smaller than allowed, no V larger, no small node is split."""
    model = data.fit(**options)
    tree, n = model._model, len(data.y)
    least = max(
        options.get("min_samples_leaf", 1),
        math.ceil(n * options.get("min_weight_fraction_leaf", 0.0)),
    )
    for t in np.flatnonzero(tree.kind != LEAF).tolist():
        sides = tree.sizes[children_of(tree, t)]
        assert tree.sizes[t] == sides.sum()
        assert np.array_equal(tree.units[t], tree.units[children_of(tree, t)].sum(axis=0))
        assert tree.sizes[t] > options.get("leaf_size", 1)
        assert np.sort(sides)[-2] >= least
        assert tree.score[t] > 0
        if tree.kind[t] != MULTIWAY:
            assert sides.min() >= least
        if tree.kind[t] == SUBSET:
            branches = tree.branches[tree.value_start[t] : tree.value_start[t + 1]]
            inside = int((branches == 0).sum())
            assert 1 <= inside <= min(len(branches) // 2, options.get("max_subset", len(branches)))
            assert 2 * inside < len(branches) or branches[0] == 0
    assert model.get_n_leaves() <= options.get("max_leaf_nodes", n)


@QUICK
@given(tables)
def test_every_leaf_is_pure_or_has_no_test(data: Data) -> None:
    """Grown without stops, the rows of an impure leaf make one leaf again when grown alone."""
    model = data.fit()
    leaf = model.apply(data.X)
    for t in np.unique(leaf):
        rows = np.flatnonzero(leaf == t)
        if len(set(data.y[rows])) > 1:
            assert data.take(rows).fit().get_n_leaves() == 1
    assert model.get_n_leaves() == len(np.unique(leaf))
    assert sorted(np.unique(leaf)) == np.flatnonzero(model._model.kind == LEAF).tolist()


# --- Questions, paths, shares: one tree ----------------------------------------------------------


@QUICK
@given(tables, seeds)
def test_paths_leaves_and_shares_tell_the_same(data: Data, seed: int) -> None:
    model = data.fit(smoothing=None)
    tree, parents = model._model, parents_of(model._model)
    rows = np.random.default_rng(seed).integers(0, len(data.y), 30)
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
        assert follow(model, X.iloc[i], data.X) == t
    shares = tree.units[leaf] / tree.units[leaf].sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), shares, rtol=1e-15)
    said = model.classes_[tree.units[leaf].argmax(axis=1)]
    assert model.predict(X).tolist() == said.tolist()
    assert (tree.kind[leaf] == LEAF).all()
    logs = model.predict_log_proba(X)
    np.testing.assert_array_equal(np.isneginf(logs), shares == 0)
    np.testing.assert_allclose(np.exp(logs), shares, rtol=1e-14)


def follow(model: Any, row: Any, X: Any) -> int:
    """The leaf of one row, by asking the questions one by one."""
    tree, t = model._model, 0
    while tree.kind[t] != LEAF:
        name = model.feature_names_in_[tree.attribute[t]]
        if tree.kind[t] == CUT:
            branch = 0 if row[name] <= tree.threshold[t] else 1
        else:
            code = sorted(set(X[name])).index(row[name])
            here = slice(tree.value_start[t], tree.value_start[t + 1])
            branch = int(tree.branches[here][tree.values[here].tolist().index(code)])
        t = children_of(tree, t)[branch]
    return t


@QUICK
@given(tables)
def test_the_table_of_nodes_tells_the_same(data: Data) -> None:
    model = data.fit(smoothing=None)
    tree, frame = model._model, model.to_frame()
    assert frame["node"].tolist() == list(range(len(tree.kind)))
    depths = depths_of(tree)
    assert frame["depth"].tolist() == depths.tolist()
    assert model.get_depth() == depths.max()
    assert model.get_n_leaves() == int((tree.kind == LEAF).sum())
    assert frame["size"].tolist() == tree.sizes.tolist()
    assert frame["n"].tolist() == tree.units.sum(axis=1).tolist()
    assert frame["score"].tolist() == tree.score.tolist()
    assert frame["exact"].tolist() == tree.exact.tolist()
    assert frame["candidates"].tolist() == tree.candidates.tolist()
    most = tree.units.max(axis=1) / tree.units.sum(axis=1)
    np.testing.assert_allclose(frame["purity"], most, rtol=1e-15)
    assert frame["prediction"].tolist() == model.classes_[tree.units.argmax(axis=1)].tolist()
    parents = [-1 if pd.isna(t) else int(t) for t in frame["parent"]]
    assert parents == parents_of(tree).tolist()


@QUICK
@given(tables)
def test_scores_are_those_of_the_partition(data: Data) -> None:
    """Every node's score is what score_partition says of its rows and branches."""
    model = data.fit()
    tree, path = model._model, model.decision_path(data.X).toarray().astype(bool)
    names = {"gain": "gain", "gain_ratio": "gain_ratio", "gini": "gini_decrease", "cart": "cart"}
    for t in np.flatnonzero(tree.kind != LEAF).tolist():
        rows = path[:, t]
        branch = np.argmax(path[:, children_of(tree, t)][rows], axis=1)
        found = score_partition(branch, data.y[rows])
        expected = getattr(found, names[data.options["criterion"]])
        assert tree.score[t] == pytest.approx(expected, rel=1e-9)
        is_ratio = data.options["criterion"] == "gain_ratio"
        assert tree.gain[t] == (pytest.approx(found.gain, rel=1e-9) if is_ratio else tree.score[t])
    assert (tree.score[tree.kind == LEAF] == 0).all()
    assert tree.exact.all()


@QUICK
@given(tables.filter(lambda data: data.options["criterion"] in {"gain", "gini"}))
def test_importances_are_shares_of_the_total_score(data: Data) -> None:
    """The decrease that each column's tests bring, weighted by n, as shares of all decrease."""
    model = data.fit()
    tree = model._model
    brought = np.zeros(4)
    is_test = tree.kind != LEAF
    np.add.at(brought, tree.attribute[is_test], (tree.units.sum(axis=1) * tree.score)[is_test])
    expected = brought / brought.sum() if brought.sum() > 0 else brought
    np.testing.assert_allclose(model.feature_importances_, expected, rtol=1e-9)


# --- Thresholds ----------------------------------------------------------------------------------

any_numbers: Final = st.lists(
    st.tuples(
        st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9).map(float),
        st.integers(0, 2),
    ),
    min_size=2,
    max_size=30,
)


def short_midpoint(a: float, b: float) -> float:
    """The midpoint in 15 digits, or in full, or a: the first that lies in [a, b)."""
    middle = (a + b) / 2 if abs(a) + abs(b) < 1e300 else a / 2 + b / 2
    return next((v for v in (float(f"{middle:.15g}"), middle) if a <= v < b), a)


@settings(QUICK, max_examples=200)
@given(any_numbers, st.sampled_from(CRITERIA))
def test_thresholds_lie_between_neighbors(cells: list[tuple[float, int]], criterion: str) -> None:
    """a <= v < b for the neighbors a < b of the node's rows; v is their midpoint, printed short."""
    x, y = np.array([cell for cell, _ in cells]), np.array([label for _, label in cells])
    model = TreeClassifier(criterion, pruning=None).fit(x[:, None], y)
    tree, path = model._model, model.decision_path(x[:, None]).toarray().astype(bool)
    for t in np.flatnonzero(tree.kind == CUT):
        here, v = x[path[:, t]], float(tree.threshold[t])
        a, b = float(here[here <= v].max()), float(here[here > v].min())
        assert a <= v < b
        assert v == short_midpoint(a, b)
    ends = {(value, t) for value, t in zip(x.tolist(), model.apply(x[:, None]), strict=True)}
    assert len({value for value, _ in ends}) == len(ends)


def test_thresholds_of_decimals_print_short() -> None:
    rng = np.random.default_rng(8)
    X = np.column_stack([rng.integers(0, 60, 2000) / 10, rng.integers(0, 500, 2000) / 100])
    y = rng.integers(0, 3, 2000)
    model = TreeClassifier("gini", leaf_size=10, pruning=None).fit(X, y)
    tree = model._model
    for t in np.flatnonzero(tree.kind == CUT):
        decimals = 2 if tree.attribute[t] == 0 else 3
        v = float(tree.threshold[t])
        assert repr(v) == repr(round(v, decimals))
        assert f"{v:.15g}" == repr(v).removesuffix(".0")
    assert (tree.kind == CUT).sum() > 100


@pytest.mark.parametrize(
    ("a", "b", "v"),
    [
        (1.0, math.nextafter(1.0, 2.0), 1.0),
        (0.0, 5e-324, 0.0),
        (-5e-324, 0.0, -5e-324),
        (-1.7e308, 1.7e308, 0.0),
        (1.5e308, 1.7e308, 1.6e308),
        (3.4, 3.5, 3.45),
        (0.1, 0.2, 0.15),
        (5.4, 5.5, 5.45),
        (0.1 + 0.2, 0.4, 0.35),
        (1e15 + 0.25, 1e15 + 0.5, 1e15 + 0.375),  # fifteen digits would leave the gap
        (1.0, 1 + 2.0**-51, 1.0),  # fifteen digits of the midpoint are those of 1
        (1 + 2.0**-52, 1 + 3 * 2.0**-52, 1 + 2.0**-51),  # they would leave the gap here
    ],
)
def test_thresholds_worked_by_hand(a: float, b: float, v: float) -> None:
    model = TreeClassifier(pruning=None).fit([[a], [b]], [0, 1])
    assert model._model.threshold[0] == v
    assert model.predict([[a], [b]]).tolist() == [0, 1]
    large = TreeClassifier(pruning=None).fit(
        np.repeat([[a], [b]], 15_000, axis=0), np.repeat([0, 1], 15_000)
    )
    assert large._model.threshold[0] == v


def test_minus_zero_is_zero() -> None:
    model = TreeClassifier(pruning=None).fit([[-0.0], [0.0], [-0.0], [0.0]], [0, 1, 0, 1])
    assert model.get_n_leaves() == 1
    signed = TreeClassifier(pruning=None).fit([[-1.0], [0.0], [-0.0], [1.0]], [0, 1, 1, 0])
    assert signed.get_n_leaves() == 3
    assert len(set(signed.apply([[0.0], [-0.0]]).tolist())) == 1


# --- scikit-learn --------------------------------------------------------------------------------


def impurity(counts: Float, criterion: str) -> Float:
    """n times the impurity of every row of counts."""
    n = counts.sum(axis=1)
    shares = counts / n[:, None]
    if criterion == "gini":
        return np.asarray(n * (1 - (shares**2).sum(axis=1)))
    logs = np.log2(np.where(shares > 0, shares, 1))
    return np.asarray(-n * (shares * logs).sum(axis=1))


def level_impurities(counts: Float, depths: Int, is_leaf: Any, criterion: str) -> list[float]:
    """The training impurity of the tree cut off at each depth."""
    parts = impurity(counts, criterion)
    found = []
    for depth in range(int(depths.max()) + 1):
        front = (depths == depth) | (is_leaf & (depths < depth))
        found.append(float(parts[front].sum() / counts[0].sum()))
    return found


@pytest.fixture(scope="module")
def tie_free() -> tuple[NDArray[np.float32], Int]:
    """20,000 rows of eight columns of float32, no value twice in a column."""
    X, y = make_classification(20_000, 8, n_informative=6, n_classes=3, flip_y=0.1, random_state=0)
    X = X.astype(np.float32)
    rng = np.random.default_rng(0)
    for j in range(8):
        while len(np.unique(X[:, j])) < len(X):
            _, first = np.unique(X[:, j], return_index=True)
            again = np.setdiff1d(np.arange(len(X)), first)
            X[again, j] += rng.normal(scale=1e-3, size=len(again)).astype(np.float32)
    return X, y


@pytest.mark.parametrize(("ours", "theirs"), [("gini", "gini"), ("gain", "entropy")])
def test_the_same_training_impurity_as_scikit_learn_level_by_level(
    tie_free: tuple[NDArray[np.float32], Int], ours: str, theirs: str
) -> None:
    X, y = tie_free
    peer = DecisionTreeClassifier(criterion=theirs, max_depth=6, random_state=0).fit(X, y)
    model = TreeClassifier(ours, max_depth=6, pruning=None).fit(X, y)
    tree, there = model._model, peer.tree_
    shares = there.value[:, 0, :] * there.weighted_n_node_samples[:, None]
    left = there.children_left
    depths = np.zeros(there.node_count, dtype=np.int64)
    for t in np.flatnonzero(left >= 0):
        depths[[left[t], there.children_right[t]]] = depths[t] + 1
    expected = level_impurities(np.rint(shares), depths, left < 0, ours)
    found = level_impurities(
        tree.units.astype(np.float64), depths_of(tree), tree.kind == LEAF, ours
    )
    assert len(found) == len(expected) == 7
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert found == sorted(found, reverse=True)
    np.testing.assert_allclose(model.feature_importances_, peer.feature_importances_, rtol=1e-9)
    assert (model.predict(X) == peer.predict(X)).mean() > 0.999


def test_the_score_of_a_node_is_the_fall_of_impurity(
    tie_free: tuple[NDArray[np.float32], Int],
) -> None:
    """Level by level, the impurity falls by the sum of n·score over the nodes asked there."""
    X, y = tie_free
    for criterion in ("gini", "gain"):
        tree = TreeClassifier(criterion, max_depth=6, pruning=None).fit(X, y)._model
        depths, n = depths_of(tree), tree.units.sum(axis=1)
        levels = level_impurities(
            tree.units.astype(np.float64), depths, tree.kind == LEAF, criterion
        )
        falls = [float((n * tree.score)[depths == d].sum() / n[0]) for d in range(6)]
        np.testing.assert_allclose(-np.diff(levels), falls, rtol=1e-9)
