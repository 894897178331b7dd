"""What a tree does about few rows, rare classes and weights of any unit, unless told otherwise."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sortal
from sortal import TreeClassifier, datasets
from sortal.errors import OneLeafWarning
from sortal.native.trees import added_errors
from sortal.trees.prune import estimated_errors

if TYPE_CHECKING:
    from sortal.trees.learn import Policy

TEXTBOOKS = {
    "play_tennis": "PlayTennis",
    "loves_sports": "LovesSports",
    "table_19_3": "Risk",
    "table_19_4": "Class",
    "table_19_5": "Class",
}
QUIET = pytest.mark.filterwarnings("ignore::sortal.errors.OneLeafWarning")


def noisy(n: int, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Numbers, words and missing values that tell something about three classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    y[:3] = range(3)
    hint = np.where(rng.random(n) < 0.6, y, rng.integers(0, 3, n))
    X = pd.DataFrame({"x": rng.normal(size=n) + y, "word": np.array(list("abc"))[hint]})
    X.loc[rng.random(n) < 0.1, "x"] = np.nan
    return X, y


def rare(n: int, positives: float, seed: int = 0) -> tuple[Any, Any]:
    """A class that is rare and hard to tell apart."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < positives
    return rng.normal(size=(n, 4)) + 0.8 * y[:, None], y


def level_of(model: TreeClassifier) -> float:
    """The level that the report names."""
    found = re.search(r"\(confidence (\S+)\)", " ".join(model.fit_report_.notes))
    assert found is not None
    return float(found[1])


@pytest.mark.parametrize("split", ["subset", "multiway"])
@pytest.mark.parametrize("name", TEXTBOOKS)
def test_the_tables_of_textbooks_keep_every_split(name: str, split: str) -> None:
    table = getattr(datasets, name)()
    grown = TreeClassifier(categorical_split=split, pruning=None).fit(table, TEXTBOOKS[name])
    tree = TreeClassifier(categorical_split=split).fit(table, TEXTBOOKS[name])
    assert tree.to_text() == grown.to_text()
    assert tree.get_n_leaves() > 2


@QUIET
@pytest.mark.parametrize(
    ("n", "weight", "level"),
    [
        (14, None, 0.5),
        (21, None, 0.5),
        (22, None, (15 / 22) ** 2),
        (60, None, 0.0625),
        (20, 3, 0.0625),  # copies
        (60, 0.5, 0.0625),  # weights of one size, whatever it is
        (60, np.pi, 0.0625),
        (600, None, 0.001),
        (600, 1 / 600, 0.001),
    ],
)
def test_the_level_falls_with_the_rows(n: int, weight: float | None, level: float) -> None:
    X, y = noisy(n)
    weights = None if weight is None else np.full(n, weight)
    assert level_of(TreeClassifier().fit(X, y, weights)) == pytest.approx(level, rel=1e-2)


def test_no_number_of_rows_makes_a_leap() -> None:
    """One row more lowers the level by 2/n of it at most; a report rounds it to 0.5 %."""
    X, y = noisy(500)
    rows = range(10, 500, 7)
    levels = [level_of(TreeClassifier(max_depth=1).fit(X[:n], y[:n])) for n in rows]
    assert levels == sorted(levels, reverse=True)
    for n, (one, other) in zip(rows, pairwise(levels), strict=False):
        assert other >= one * (1 - 2 * 7 / n - 0.01)


def test_a_level_can_be_given() -> None:
    X, y = noisy(60)
    assert level_of(TreeClassifier(confidence=0.25).fit(X, y)) == 0.25


def test_a_tree_pruned_to_one_leaf_says_so_and_what_to_do() -> None:
    X, y = rare(600, 0.02)
    with pytest.warns(OneLeafWarning, match=r"predicts False for every row.*costs.*pruning=None"):
        tree = TreeClassifier().fit(X, y)
    assert tree.get_n_leaves() == 1
    for remedy in ({"class_weight": "balanced"}, {"pruning": None}, {"costs": [[0, 1], [50, 0]]}):
        assert TreeClassifier(**remedy).fit(X, y).get_n_leaves() > 1


def test_one_leaf_that_was_not_pruned_is_no_news() -> None:
    X, y = np.ones((40, 1)), np.arange(40) % 2
    noise = np.random.default_rng(0).normal(size=(40, 2))
    cases: list[tuple[Any, dict[str, Any]]] = [
        (X, {}),
        (noise, {"max_depth": 0}),
        (noise, {"leaf_size": 40}),
    ]
    for rows, how in cases:
        assert TreeClassifier(**how).fit(rows, y).get_n_leaves() == 1


def test_work_shows_no_pruned_tree_unless_asked() -> None:
    table = datasets.penguins().dropna()

    def worked(**options: Any) -> Any:
        return sortal.working(table, "sex", options=options, rows=[1]).tables

    assert worked() == worked(pruning=None)
    assert worked(pruning="pessimistic") != worked()
    assert worked(confidence=0.25) != worked()


def shape(model: TreeClassifier) -> Any:
    """What a tree asks and predicts, and what was noted about it."""
    frame = model.to_frame()
    return frame[["test", "parent", "prediction"]].to_numpy().tolist(), model.fit_report_.notes


WAYS: list[dict[str, Any]] = [
    {},
    {"missing": "fractional"},
    {"class_weight": "balanced"},
    {"criterion": "gini", "priors": [0.2, 0.3, 0.5]},
    {"pruning": "cost_complexity", "cv": 3},
]


@QUIET
@given(
    how=st.sampled_from(WAYS),
    seed=st.integers(0, 10**6),
    n=st.integers(20, 90),
    unit=st.sampled_from([1e-3, np.pi, None]),
)
def test_the_unit_of_weights_changes_nothing(
    how: dict[str, Any], seed: int, n: int, unit: float | None
) -> None:
    X, y = noisy(n, seed)
    weights = np.random.default_rng(seed).random(n) + 0.05
    scaled = weights * (unit or 1 / n)
    trees = [TreeClassifier(**how).fit(X, y, sample_weight=w) for w in (weights, scaled)]
    assert shape(trees[0]) == shape(trees[1])


@QUIET
@pytest.mark.parametrize("how", WAYS, ids=str)
def test_equal_weights_are_no_weights(how: dict[str, Any]) -> None:
    X, y = noisy(120)
    one = TreeClassifier(**how).fit(X, y)
    assert one.get_n_leaves() > 1
    for unit in (1 / 120, 1e-3, np.pi):
        other = TreeClassifier(**how).fit(X, y, sample_weight=np.full(120, unit))
        assert shape(one) == shape(other), unit


COSTS = [[0, 1, 1], [5, 0, 1], [9, 1, 0]]


@pytest.mark.parametrize("weighted", ["not", "copies", "fractions"])
@pytest.mark.parametrize("missing", ["direction", "fractional"])
@pytest.mark.parametrize("how", [{}, {"class_weight": {0: 7}}, {"costs": COSTS}], ids=str)
def test_effective_rows_by_hand(weighted: str, missing: Policy, how: dict[str, Any]) -> None:
    """(Σ w)² / Σ w² of a node's rows, copies being rows; a part of a row counts as that part."""
    X, y = noisy(80)
    X, rng = X[["x"]], np.random.default_rng(1)
    drawn = {"not": np.ones(80), "copies": rng.integers(1, 4, 80), "fractions": rng.random(80)}
    weights = drawn[weighted].astype(float)
    model = TreeClassifier(missing=missing, pruning=None, max_depth=1, **how)
    model.fit(X, y, sample_weight=None if weighted == "not" else weights)
    tree = model._model
    pull = tree.pull_of_class()
    parts = model.decision_path(X).toarray().astype(float)
    if missing == "fractional":
        sides = tree.pull()[1:]
        parts[X["x"].isna().to_numpy(), 1:] = sides / sides.sum()
    copies = weights if weighted == "copies" else np.ones(80)
    each = weights / copies * pull[y]
    expected = (parts.T @ (copies * each)) ** 2 / (parts.T @ (copies * each**2))
    # parts are whole numbers of 2**-part_bits, and class weights are rounded to one in a million
    np.testing.assert_allclose(tree.effective_rows(pull), expected, rtol=1e-5)
    weighed = parts.T @ ((np.arange(3) == y[:, None]) * (copies * each)[:, None])
    rows_a_unit = expected / weighed.sum(axis=1)
    errors = (weighed.sum(axis=1) - weighed.max(axis=1)) * rows_a_unit
    estimated = errors + added_errors(expected, errors, 0.25)
    scaled = estimated / rows_a_unit * rows_a_unit[0]  # a node counts by its weight
    np.testing.assert_allclose(estimated_errors(tree, 0.25), scaled, rtol=1e-4)


@pytest.mark.filterwarnings("ignore::sortal.errors.OneLeafWarning")  # the last of a boosting
def test_boosted_trees_are_as_right_as_those_of_others() -> None:
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.model_selection import cross_val_score
    from sklearn.tree import DecisionTreeClassifier

    iris = datasets.iris()
    X, y = iris.drop(columns="species").to_numpy(), iris["species"].to_numpy()
    ours, theirs = (
        cross_val_score(AdaBoostClassifier(tree, n_estimators=10, random_state=0), X, y).mean()
        for tree in (TreeClassifier(max_depth=2), DecisionTreeClassifier(max_depth=2))
    )
    assert ours >= theirs - 0.03


def test_class_weights_are_no_copies() -> None:
    """Balanced at 5 % positives: estimates of a few rows stay those of a few rows."""
    X, y = rare(4000, 0.05)
    tree = TreeClassifier(class_weight="balanced").fit(X[:2000], y[:2000])
    grown = TreeClassifier(class_weight="balanced", pruning=None).fit(X[:2000], y[:2000])
    assert tree.get_n_leaves() < grown.get_n_leaves() / 3
    told = [m.predict(X[2000:]) == y[2000:] for m in (tree, grown)]
    found = [np.mean([right[y[2000:]].mean(), right[~y[2000:]].mean()]) for right in told]
    assert found[0] > found[1]


@pytest.mark.parametrize("times", [2, 1000])
def test_copies_of_all_rows_are_evidence_and_class_weights_are_none(times: int) -> None:
    X, y = noisy(100)
    plain, weighted = (
        TreeClassifier(class_weight=how, confidence=0.01).fit(X, y)
        for how in (None, dict.fromkeys(range(3), float(times)))
    )
    assert shape(plain) == shape(weighted)
    copied = TreeClassifier(confidence=0.01).fit(X, y, sample_weight=np.full(100, times))
    assert copied.get_n_leaves() > plain.get_n_leaves()
