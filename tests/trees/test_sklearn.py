"""Trees from scikit-learn and models for it: the same predictions, or a refusal that says why."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier, export_text

from sortal import DiscreteBayes, LinearDiscriminant, QuadraticDiscriminant, TreeClassifier, load
from sortal.errors import ColumnError, InputError, MissingValueWarning
from sortal.trees.estimator import float32_below
from sortal.trees.from_sklearn import as_units, from_sklearn, last_below

if TYPE_CHECKING:
    from pathlib import Path

    from sortal.trees.learn import Policy

AS_GROWN: Any = {"pruning": None, "smoothing": None}
LARGEST = float(np.finfo(np.float32).max)
SMALLEST = 2.0**-149  # the smallest float32 above zero


def as_float32(x: Any) -> Any:
    """As scikit-learn rounds its inputs; beyond the largest float32 lies infinity."""
    with np.errstate(over="ignore"):
        return np.asarray(x, dtype=np.float64).astype(np.float32).astype(np.float64)


def around(threshold: float) -> list[float]:
    """Where rounding to float32 could go wrong: at a threshold, and halfway to float32s nearby."""
    below, near, above = _neighbors(as_float32(threshold))
    halves = [below / 2 + near / 2, near / 2 + above / 2]
    met = [y for x in (threshold, below, near, above, *halves) for y in _doubles(x)]
    return [x for x in met if np.isfinite(as_float32(x))]


def _neighbors(x: float) -> tuple[float, float, float]:
    """The float32s before, at and after x; 2**128 stands for infinity."""
    f = np.float32(x)
    with np.errstate(over="ignore"):
        met = [np.nextafter(f, np.float32(-np.inf)), f, np.nextafter(f, np.float32(np.inf))]
    below, near, above = np.clip(np.array(met, np.float64), -(2.0**128), 2.0**128).tolist()
    return below, near, above


def _doubles(x: float) -> list[float]:
    with np.errstate(over="ignore"):
        return [float(np.nextafter(x, -np.inf)), x, float(np.nextafter(x, np.inf))]


def agree(tree: Any, model: TreeClassifier, X: Any) -> None:
    """The same classes, leaves and shares: these within an ulp, or within the rounding to units."""
    with np.errstate(all="ignore"):  # scikit-learn adds up all cells
        labels, shares, theirs = tree.predict(X), tree.predict_proba(X), tree.apply(X)
    ours, told = model.apply(X), model.predict(X)
    assert told.tolist() == labels.tolist()
    assert told.dtype == labels.dtype
    if tree.max_leaf_nodes is None:
        np.testing.assert_array_equal(ours, theirs)
    pairs = set(zip(ours.tolist(), theirs.tolist(), strict=True))
    assert len(pairs) == len(set(ours.tolist())) == len(set(theirs.tolist()))
    units = model._model.units.sum(axis=1, keepdims=True)[ours]
    slack = 2.0**-52 + (shares.shape[1] + 2) / units * (model._model.exponent != 0)
    assert (np.abs(model.predict_proba(X) - shares) <= slack).all()


def rows_around(tree: Any, seed: int) -> Any:
    """Rows that meet every threshold and its neighborhood, in every column."""
    thresholds = tree.tree_.threshold[tree.tree_.children_left >= 0].tolist() or [0.0]
    met = np.array([x for v in thresholds for x in around(v)])
    rng = np.random.default_rng(seed)
    return rng.choice(met, size=(len(met), tree.n_features_in_))


# Thresholds

sizes = [SMALLEST, SMALLEST / 2, 5e-324, 2.0**-127, 2.0**-126, 1.0, 2.0**127, LARGEST, 1e300]
edges = st.sampled_from([0.0, -0.0, *sizes, *(-x for x in sizes)])
finite = st.floats(allow_nan=False, allow_infinity=False)
float32s = st.floats(allow_nan=False, allow_infinity=False, width=32)
halfways = float32s.map(lambda x: sum(_neighbors(x)[1:]) / 2)
thresholds = edges | finite | float32s | halfways
near_thresholds = thresholds.flatmap(lambda x: st.sampled_from(_doubles(x))).filter(np.isfinite)


def is_last(v: Any, threshold: Any) -> Any:
    """By definition: v rounds to no more than the threshold, the number after v to more.

    Rounding keeps the order of numbers, so that all below v and all above it do as well.
    """
    return (as_float32(v) <= threshold) & (as_float32(np.nextafter(v, np.inf)) > threshold)


def test_the_rule_holds_for_every_kind_of_float32() -> None:
    """Every exponent and sign, with the mantissas at both of its ends and in between."""
    rng = np.random.default_rng(0)
    high = np.arange(2**9, dtype=np.uint32)[:, None] << 23
    low = np.concatenate([[0, 1, 2, 3, 2**23 - 2, 2**23 - 1], rng.integers(0, 2**23, 40)])
    f = (high | low.astype(np.uint32)).ravel().view(np.float32)
    x = f[np.isfinite(f)].astype(np.float64)
    halfway = np.array([sum(_neighbors(value)[1:]) / 2 for value in x.tolist()])
    for near in (x, halfway):
        v = np.concatenate([near, np.nextafter(near, -np.inf), np.nextafter(near, np.inf)])
        assert is_last(last_below(v), v).all()


# The same predictions


@given(st.lists(near_thresholds, min_size=7, max_size=7), st.integers(0, 99))
def test_a_tree_of_any_thresholds_sends_every_row_the_same_way(cuts: Any, seed: int) -> None:
    """scikit-learn grows no tree on numbers as close as these, so they are put into one."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    tree = DecisionTreeClassifier(max_leaf_nodes=8, random_state=seed).fit(X, y)
    asks = tree.tree_.children_left >= 0
    tree.tree_.threshold[asks] = cuts
    agree(tree, from_sklearn(tree), rows_around(tree, seed))


values = st.sampled_from([0.1, 0.2, 0.3, 1 / 3, 0.5, 1.0, 2.0, 16777217.0, 1e-6, -0.1, -1e30, 3e38])
ways = st.fixed_dictionaries(
    {
        "criterion": st.sampled_from(["gini", "entropy", "log_loss"]),
        "splitter": st.sampled_from(["best", "random"]),
        "max_leaf_nodes": st.sampled_from([None, None, 2, 5]),
        "max_depth": st.sampled_from([None, 1, 3]),
        "min_samples_leaf": st.sampled_from([1, 2, 0.1]),
        "ccp_alpha": st.sampled_from([0.0, 0.0, 0.01]),
        "class_weight": st.sampled_from([None, None, "balanced", {0: 3}]),
        "random_state": st.integers(0, 9),
    }
)
tables = st.integers(1, 3).flatmap(
    lambda d: st.lists(
        st.tuples(st.lists(values | float32s, min_size=d, max_size=d), st.integers(0, 2)),
        min_size=1,
        max_size=30,
    )
)
weighings = st.none() | st.lists(
    st.sampled_from([0.0, 1.0, 2.0, 0.1, 0.3, 1 / 3, 0.7]), min_size=30, max_size=30
)


@given(tables, ways, weighings, st.integers(0, 99))
def test_a_grown_tree_and_what_is_taken_in_agree(
    table: Any, way: Any, weights: Any, seed: int
) -> None:
    X, y = np.array([row for row, _ in table]), np.array([label for _, label in table])
    w = None if weights is None else np.array(weights[: len(y)])
    assume(w is None or w.any())
    assume(not isinstance(way["class_weight"], dict) or (y == 0).any())
    with np.errstate(all="ignore"):  # scikit-learn adds up all cells
        tree = DecisionTreeClassifier(**way).fit(X, y, sample_weight=w)
    model = from_sklearn(tree)
    for rows in (X, rows_around(tree, seed)):
        agree(tree, model, rows)
        if w is None and way["class_weight"] is None:
            with np.errstate(all="ignore"):
                shares = tree.predict_proba(rows)
            np.testing.assert_array_equal(model.predict_proba(rows), shares)
    np.testing.assert_allclose(model.feature_importances_, tree.feature_importances_, atol=1e-9)


@pytest.mark.parametrize(
    ("load", "kind"),
    [
        (load_iris, ExtraTreeClassifier),
        (load_wine, DecisionTreeClassifier),
        (load_breast_cancer, ExtraTreeClassifier),
    ],
)
def test_real_tables(load: Any, kind: Any) -> None:
    X, y = load(return_X_y=True, as_frame=True)
    tree = kind(random_state=0).fit(X, y)
    model = from_sklearn(tree)
    agree(tree, model, X)
    assert model.feature_names_in_.tolist() == X.columns.tolist()
    assert model.get_n_leaves() == tree.get_n_leaves()
    assert model.get_depth() == tree.get_depth()
    np.testing.assert_array_equal(
        model.decision_path(X).toarray(), np.asarray(tree.decision_path(X).todense())
    )


def test_inputs_of_every_kind() -> None:
    rng = np.random.default_rng(1)
    columns = {"a": rng.integers(-(2**26), 2**26, 300), "b": rng.normal(size=300)}
    frame, y = pd.DataFrame(columns), rng.integers(0, 3, 300)
    rows = frame.to_numpy()
    for X in (frame, pl.DataFrame(columns), frame.astype(np.float32), rows, rows.astype("f4")):
        tree = DecisionTreeClassifier(random_state=0).fit(X, y)
        agree(tree, from_sklearn(tree), X)


def test_columns_are_matched_by_name() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    assert (from_sklearn(tree).predict(X.iloc[:, ::-1]) == tree.predict(X)).all()
    nameless = from_sklearn(DecisionTreeClassifier(random_state=0).fit(X.to_numpy(), y))
    assert not hasattr(nameless, "feature_names_in_")
    assert nameless._schema.names == ("x0", "x1", "x2", "x3")
    assert (nameless.predict(X) == nameless.predict(X.to_numpy())).all()


def test_the_trees_of_ensembles_and_monotone_ones() -> None:
    X, y = load_wine(return_X_y=True)
    names = np.array(["a", "b", "c"])[y]
    forest = RandomForestClassifier(5, random_state=0, class_weight="balanced").fit(X, names)
    for tree in forest.estimators_:  # weights are copies, classes are 0.0, 1.0, 2.0
        model = from_sklearn(tree)
        agree(tree, model, X)
        assert model.classes_.dtype == np.float64
    moved = DecisionTreeClassifier(monotonic_cst=[1] + [0] * 12, random_state=0)
    moved.fit(X, y > 0, sample_weight=np.random.default_rng(3).random(len(y)))
    agree(moved, from_sklearn(moved), X)
    weak = DecisionTreeClassifier(max_depth=2)
    for tree in AdaBoostClassifier(weak, n_estimators=5, random_state=0).fit(X, y).estimators_:
        agree(tree, from_sklearn(tree), X)


LABELS = {"U30": ["no", "yes"], "O": ["no", "yes"], "?": [False, True], "i1": [-1, 7]}
LABELS |= {"i8": [3, 2**60], "f8": [1.0, 2.0], "f4": [0.0, 5.0]}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_keep_their_type(kind: str) -> None:
    labels = np.array(LABELS[kind], dtype=kind)
    X, y = np.arange(10.0)[:, None], labels[[0, 1, 1, 0, 0, 1, 0, 1, 1, 1]]
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    model = from_sklearn(tree)
    assert model.classes_.dtype == tree.classes_.dtype
    assert model.classes_.tolist() == tree.classes_.tolist()
    agree(tree, model, X)
    assert model.score(X, y) == tree.score(X, y)


def test_a_tree_too_deep_for_recursion() -> None:
    """Where classes take turns, the best test parts one row from the others."""
    X = np.arange(2500.0)[:, None]
    tree = DecisionTreeClassifier(random_state=0).fit(X, np.arange(2500) % 2)
    model = from_sklearn(tree)
    assert model.get_depth() == tree.get_depth() > 1100
    agree(tree, model, X)


# Weights


@given(st.data())
def test_units_keep_the_largest_class_and_the_shares(data: st.DataObject) -> None:
    K = data.draw(st.integers(1, 4))
    part = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.30000000000000004, 1 / 3, 1.0, 1 - 2**-53])
    rows = st.lists(part | st.floats(1e-6, 1), min_size=K, max_size=K).filter(any)
    sums = np.array(data.draw(st.lists(rows, min_size=1, max_size=4)))
    scale = data.draw(st.sampled_from([1.0, 1e-200, 1e200, 3.0, 2.0**47]))
    weights = sums.sum(axis=1) * scale
    shares = sums * scale / weights[:, None]
    units, exponent = as_units(shares, weights)
    assert units.argmax(axis=1).tolist() == shares.argmax(axis=1).tolist()
    assert ((units > 0) == (shares > 0)).all()
    assert units.max() < 2**49
    total = units.sum(axis=1, keepdims=True)
    assert (np.abs(units / total - shares) <= (K + 2) / total + 1e-15).all()
    off = np.ldexp(units.astype(float), -exponent) - shares * weights[:, None]
    assert (np.abs(off) <= 1.5 * 2.0**-exponent + 1e-15 * weights[:, None]).all()


@given(st.lists(st.lists(st.integers(0, 2**45), min_size=3, max_size=3).filter(any), min_size=1))
def test_whole_weights_stay_whole(counts: list[list[int]]) -> None:
    table = np.array(counts)
    weights = table.sum(axis=1).astype(np.float64)
    units, exponent = as_units(table / weights[:, None], weights)
    assert exponent == 0
    assert units.tolist() == counts


def test_a_tie_that_only_rounding_sees() -> None:
    """Ten times 0.1 is less than 1 in floating point, and scikit-learn predicts accordingly."""
    y, w = np.array([0] * 10 + [1]), np.array([0.1] * 10 + [1.0])
    tree = DecisionTreeClassifier().fit(np.zeros((11, 1)), y, sample_weight=w)
    assert tree.tree_.value[0, 0, 0] < tree.tree_.value[0, 0, 1]
    agree(tree, from_sklearn(tree), np.zeros((1, 1)))
    tree = DecisionTreeClassifier().fit(np.zeros((11, 1)), 1 - y, sample_weight=w)
    agree(tree, from_sklearn(tree), np.zeros((1, 1)))


def test_a_node_says_what_scikit_learn_says_of_it() -> None:
    X, y = load_iris(return_X_y=True)
    w = np.arange(150) % 3
    tree = DecisionTreeClassifier(criterion="entropy", random_state=0).fit(X, y, sample_weight=w)
    inside, model = tree.tree_, from_sklearn(tree)
    shown = model.to_frame()
    assert shown["n"].tolist() == inside.weighted_n_node_samples.tolist()
    assert shown["n"].dtype.kind == "i"
    assert shown["size"].tolist() == inside.n_node_samples.tolist()
    assert shown["prediction"].tolist() == inside.value[:, 0].argmax(axis=1).tolist()
    assert (shown["parent"] < shown["node"]).all()
    asks = inside.children_left >= 0
    assert (shown["exact"] == ~asks).all()
    assert (shown["candidates"] == 0).all()
    after = [
        sum(inside.weighted_n_node_samples[t] * inside.impurity[t] for t in branches)
        for branches in zip(inside.children_left[asks], inside.children_right[asks], strict=True)
    ]
    gain = inside.impurity[asks] - np.array(after) / inside.weighted_n_node_samples[asks]
    np.testing.assert_allclose(shown["score"][asks], gain, atol=1e-12)
    assert (shown["score"][~asks] == 0).all()


def test_branches_of_equal_weight_send_the_unknown_to_the_first() -> None:
    X, y = np.arange(6.0)[:, None], [0, 0, 1, 1, 1, 1]
    weights: list[Any] = [None, [2, 2, 1, 1, 1, 1], [1, 1, 1, 1, 1, 1]]
    heavier = [
        from_sklearn(DecisionTreeClassifier().fit(X, y, sample_weight=w))._model.heavier[0]
        for w in weights
    ]
    assert heavier == [1, 0, 1]


# What comes out


def test_the_result_is_an_estimator_like_any_other() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    given = {"max_depth": 4, "min_samples_leaf": 2, "min_weight_fraction_leaf": 0.01}
    tree = DecisionTreeClassifier(
        criterion="log_loss", max_leaf_nodes=5, min_samples_split=6, random_state=0, **given
    ).fit(X, y)
    model = from_sklearn(tree)
    changed: Any = {"criterion": "gain", "leaf_size": 5, "max_leaf_nodes": 5, **given}
    assert model.get_params() == TreeClassifier(**AS_GROWN, **changed).get_params()
    plain = DecisionTreeClassifier(min_samples_split=0.5).fit([[1.0], [2.0]], [0, 1])
    assert from_sklearn(plain).get_params() == TreeClassifier("gini", **AS_GROWN).get_params()
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
    assert str(again.fit_report_) == str(model.fit_report_)
    fresh = clone(model)
    assert not hasattr(fresh, "classes_")
    assert fresh.fit(X, y).score(X, y) > 0.9
    report = model.fit_report_
    assert (report.rows, report.missing) == (150, {})
    assert "taken in from a DecisionTreeClassifier of scikit-learn" in str(report)


def test_it_can_be_read() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    tree = DecisionTreeClassifier(max_leaf_nodes=6, random_state=0)
    model = from_sklearn(tree.fit(X, y, sample_weight=np.full(150, 0.1)))
    assert len(model.rules()) == tree.get_n_leaves()
    assert len(model.to_text().splitlines()) == tree.tree_.node_count
    assert sum(rule.share for rule in model.rules()) == pytest.approx(1)
    told = [explained.label for explained in model.explain(X)]
    assert told == tree.predict(X).tolist()
    for t in range(tree.tree_.node_count):
        assert model.working(t)["impurity"].column("size")[0] == model.to_frame()["size"][t]


def test_weights_with_a_fraction_are_the_same_weights_when_given_again() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    w = np.random.default_rng(0).uniform(0.1, 3.0, len(X))
    tree = DecisionTreeClassifier(criterion="entropy", max_depth=2, random_state=0)
    model = from_sklearn(tree.fit(X, y, sample_weight=w))
    tests = model.working(0, X, y, w)["tests"]
    best = tests.column("chosen").index(True)
    assert tests.column("score")[best] == pytest.approx(model.to_frame()["score"][0], rel=1e-9)
    with pytest.raises(InputError, match="not those of the fit"):
        model.working(0, X, y)


def test_truth_values_are_converted_first() -> None:
    X = pd.DataFrame({"a": [True, False, True, False], "b": [1.0, 2.0, 3.0, 4.0]})
    tree = DecisionTreeClassifier(random_state=0).fit(X, [1, 0, 1, 0])
    model = from_sklearn(tree)
    agree(tree, model, X.astype(float))
    with pytest.raises(ColumnError, match="'a' was fitted with numbers"):
        model.predict(X)


def test_the_result_does_not_change_with_the_tree() -> None:
    X, y = load_iris(return_X_y=True)
    tree = DecisionTreeClassifier(random_state=0).fit(X, y)
    tree.is_categorical_ = None  # of later versions: no column is a category
    model = from_sklearn(tree)
    before = model.predict(X)
    tree.tree_.threshold[:] = 0
    tree.tree_.value[:] = 0
    tree.classes_[:] = 9
    assert (model.predict(X) == before).all()


# Missing values


def walk(tree: Any, row: Any) -> int:
    """The node where a row of numbers ends, by the arrays of a tree that was taken in."""
    t = 0
    while tree.attribute[t] >= 0:
        x, of_missing = row[tree.attribute[t]], tree.missing[t]
        learned = tree.heavier[t] if of_missing < 0 else of_missing
        b = learned if np.isnan(x) else x > tree.threshold[t]
        t = tree.children[tree.child_start[t] + int(b)]
    return int(t)


def test_missing_values_at_fit_are_told_where_they_show() -> None:
    nan = np.nan
    alone = DecisionTreeClassifier().fit([[1.0], [2.0], [nan], [nan], [nan]], [0, 0, 1, 1, 1])
    fewer = DecisionTreeClassifier().fit([[1.0], [2.0], [3.0], [4.0], [nan]], [0, 1, 1, 1, 0])
    assert np.isinf(alone.tree_.threshold[0])
    assert fewer.tree_.missing_go_to_left[0]
    told = [from_sklearn(tree) for tree in (alone, fewer)]
    rules = [[str(c) for rule in model.rules() for c in rule.merged] for model in told]
    cut = last_below(np.array([1.5]))[0]
    assert rules == [["x0 is known", "x0 is missing"], [f"x0 <= {cut} (or missing)", f"x0 > {cut}"]]
    assert [model._model.missing_counts for model in told] == [(1,), (1,)]
    assert "missing values, of which it keeps no count, in 'x0'" in str(told[0].fit_report_)
    agree(alone, told[0], [[1.0], [5.0], [-1e30]])


@given(st.integers(0, 10**6), ways, st.sampled_from([0.0, 0.1, 0.5]))
def test_missing_values_go_where_scikit_learn_sends_them(seed: int, way: Any, part: float) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 5, (30, 3)).astype(float), np.arange(30) % 3
    whole, asked = X.copy(), X.copy()
    X[rng.random(X.shape) < part] = np.nan
    asked[rng.random(X.shape) < 0.4] = np.nan
    tree = DecisionTreeClassifier(**way).fit(X, y, sample_weight=rng.integers(1, 4, 30))
    taken = from_sklearn(tree)
    agree(tree, taken, whole)
    model = taken._model
    for row, label in zip([*X, *asked], tree.predict(np.vstack([X, asked])), strict=True):
        assert model.classes[model.labels()[walk(model, row)]] == label
    if not part:
        assert not any(model.missing_counts)


def test_missing_values_that_do_not_show_change_nothing() -> None:
    """They take the branch of more rows, as they would if the fit had met none."""
    missing = np.array([[1.0], [np.nan], [np.nan], [2.0], [3.0]])
    tree = DecisionTreeClassifier().fit(missing, [0, 0, 0, 1, 1])
    model = from_sklearn(tree)
    agree(tree, model, np.array([[1.0], [1.4], [1.6], [3.0]]))
    with pytest.warns(MissingValueWarning, match="'x0' 2"):
        assert model.predict(missing).tolist() == tree.predict(missing).tolist()


TABLES = {"iris": load_iris, "cancer": load_breast_cancer, "wine": load_wine}
AGREED = 1e-9  # as to_sklearn promises
# model, its parameters, table, whether columns have names, labels, whether rows have weights
CASES = [
    (TreeClassifier, {}, "iris", True, "text", False),
    (TreeClassifier, {"criterion": "gini", **AS_GROWN}, "wine", False, "numbers", True),
    (TreeClassifier, {"criterion": "cart", "class_weight": "balanced"}, "cancer", True, "truth", 0),
    (TreeClassifier, {"criterion": "gain_ratio", "max_leaf_nodes": 4}, "iris", False, "text", True),
    (TreeClassifier, {"priors": [0.2, 0.5, 0.3], "smoothing": "laplace"}, "wine", True, "text", 0),
    (LinearDiscriminant, {}, "iris", False, "text", True),
    (LinearDiscriminant, {"shrinkage": "ledoit_wolf", "n_components": 1}, "wine", True, "text", 0),
    (LinearDiscriminant, {"priors": [0.3, 0.7]}, "cancer", False, "truth", True),
    (QuadraticDiscriminant, {}, "wine", True, "numbers", False),
    (QuadraticDiscriminant, {"pooling": 0.3, "shrinkage": 0.1}, "cancer", False, "text", True),
    (QuadraticDiscriminant, {"priors": [0.2, 0.3, 0.5]}, "iris", True, "text", False),
    (DiscreteBayes, {}, "cancer", True, "text", True),
    (DiscreteBayes, {"class_weight": "balanced"}, "iris", False, "numbers", False),
    (DiscreteBayes, {"structure": "joint", "priors": [0.2, 0.3, 0.5]}, "wine", True, "text", 0),
]  # fmt: skip


def table(name: str, *, named: bool, labels: str) -> tuple[Any, Any]:
    """Rows that float32 holds."""
    X, y = TABLES[name](return_X_y=True, as_frame=named)
    words = {"text": [f"class {k}" for k in y], "truth": [k > 0 for k in y], "numbers": list(y)}
    return X.astype(np.float32).astype(np.float64), np.array(words[labels])


def fitted(model: Any, X: Any, y: Any, *, weighted: Any) -> Any:
    weights = np.random.default_rng(1).uniform(0.5, 2.0, len(y)) if weighted else None
    if weights is not None and isinstance(model, TreeClassifier):
        weights = np.ceil(weights)
    return model.fit(X, y, sample_weight=weights)


@pytest.mark.parametrize(("kind", "options", "name", "named", "labels", "weighted"), CASES)
def test_it_predicts_the_same(
    kind: Any, options: dict[str, Any], name: str, named: bool, labels: str, weighted: Any
) -> None:
    X, y = table(name, named=named, labels=labels)
    model = fitted(kind(**options), X, y, weighted=weighted)
    theirs = pickle.loads(pickle.dumps(model.to_sklearn()))  # noqa: S301  (our own)
    ours, same = model.predict_proba(X), theirs.predict_proba(X)
    np.testing.assert_allclose(same, ours, rtol=0, atol=AGREED)
    np.testing.assert_array_equal(theirs.predict(X), model.predict(X))
    assert theirs.classes_.dtype == model.classes_.dtype
    assert hasattr(theirs, "feature_names_in_") == named
    if isinstance(model, LinearDiscriminant):
        np.testing.assert_allclose(theirs.transform(X), model.transform(X), rtol=0, atol=AGREED)
    if isinstance(model, TreeClassifier):
        np.testing.assert_array_equal(same, ours)
        np.testing.assert_array_equal(theirs.apply(X), model.apply(X))
    if named:  # its parameters are those of an estimator that can be fitted
        assert clone(theirs).fit(X, y).score(X, y) > 0.8


# Trees


def test_rows_at_thresholds_take_the_same_branch() -> None:
    # neighboring float32s: the threshold between them is none, and rounds up to the larger
    low = np.float32(1) + np.arange(6, dtype=np.float32) * np.float32(2.0**-23)
    X = low.astype(np.float64)[:, None]
    y = np.array([0, 1, 0, 1, 1, 0])
    model = TreeClassifier(**AS_GROWN).fit(X, y)
    theirs = model.to_sklearn()
    assert model.get_n_leaves() == 5
    np.testing.assert_array_equal(theirs.predict(X), y)
    np.testing.assert_array_equal(theirs.apply(X), model.apply(X))
    # whoever keeps thresholds as float32 keeps them
    kept = theirs.tree_.threshold
    np.testing.assert_array_equal(kept.astype(np.float32), kept)


def test_of_float32s_the_same_are_at_most_a_threshold() -> None:
    v = np.array([0.1, 1 / 3, 1 + 2.0**-24, 1.0, -0.1, 1e-46, -1e-46, 1e39, -1e39])
    t = float32_below(v)
    with np.errstate(over="ignore"):
        after = np.nextafter(t, np.float32(np.inf))
    assert ((t <= v) & (v < after.astype(np.float64))).all()


@pytest.mark.parametrize("missing", ["direction", "majority", "error"])
def test_missing_values_take_the_same_branch(missing: Policy) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)).astype(np.float32).astype(np.float64)
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0.5)
    is_nan = rng.random(X.shape) < [0.3, 0.2, 0.0]
    incomplete = np.where(is_nan, np.nan, X)
    y |= is_nan[:, 1]  # being missing tells the class
    model = TreeClassifier(**AS_GROWN, missing=missing).fit(
        X if missing == "error" else incomplete, y
    )
    theirs = model.to_sklearn()
    seen = X if missing == "error" else incomplete
    np.testing.assert_array_equal(theirs.apply(seen), model.apply(seen))
    np.testing.assert_array_equal(theirs.predict_proba(seen), model.predict_proba(seen))
    if missing == "direction":
        assert "is missing" in model.to_text()  # known | missing is among the splits
    if missing != "error":  # a column that had none at fit: the branch of larger weight
        new = np.where([False, False, True], np.nan, X)
        with pytest.warns(UserWarning, match="no value"):
            expected = model.apply(new)
        np.testing.assert_array_equal(theirs.apply(new), expected)


def test_the_class_that_sorts_first_wins_a_tie() -> None:
    X, y = np.array([[1.0], [1.0], [1.0], [2.0]]), ["b", "a", "c", "c"]
    model = TreeClassifier(**AS_GROWN).fit(X, y)
    assert model.to_sklearn().predict(X).tolist() == model.predict(X).tolist()
    assert model.predict(X)[0] == "a"


def test_importances_and_text_are_those_of_the_tree(tmp_path: Path) -> None:
    X, y = table("wine", named=True, labels="text")
    model = TreeClassifier().fit(X, y)
    model.save(tmp_path / "tree.sortal")
    theirs = load(tmp_path / "tree.sortal").to_sklearn()
    np.testing.assert_allclose(
        theirs.feature_importances_, model.feature_importances_, rtol=0, atol=1e-12
    )
    assert export_text(theirs, feature_names=list(X)).count("class:") == model.get_n_leaves()


def test_a_chain_of_thousands_of_splits_is_converted() -> None:
    X = np.arange(3000.0)[:, None]
    y = np.repeat(np.arange(1500), 2) % 2
    model = TreeClassifier(**AS_GROWN).fit(X, y)
    theirs = model.to_sklearn()
    assert model.get_depth() > 1000
    np.testing.assert_array_equal(theirs.predict(X), y)


# Densities


def test_a_column_that_never_varies_tells_nothing_there_either() -> None:
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, np.full(len(X), 7.0)])
    model = DiscreteBayes().fit(X, y)
    X[::2, 4] = -1e6  # nor where it does vary later
    found = model.to_sklearn().predict_proba(X)
    np.testing.assert_allclose(found, model.predict_proba(X), rtol=0, atol=AGREED)


def test_what_predicts_otherwise_is_not_handed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = load_iris(return_X_y=True)
    model = DiscreteBayes().fit(X, y)
    right = GaussianNB.predict_proba
    monkeypatch.setattr(GaussianNB, "predict_proba", lambda *given: right(*given) * (1 - 1e-8))
    with pytest.raises(InputError, match="GaussianNB made of this DiscreteBayes"):
        model.to_sklearn()


def test_columns_that_follow_from_others_do_not_matter_to_linear_functions() -> None:
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(e=X[:, 0] - X[:, 1])
    with pytest.warns(UserWarning, match="e"):
        linear = LinearDiscriminant().fit(frame, y)
    found = linear.to_sklearn().predict_proba(frame)
    np.testing.assert_allclose(found, linear.predict_proba(frame), rtol=0, atol=AGREED)
