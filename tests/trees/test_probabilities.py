"""The probabilities of the default tree: believable, and of use where costs decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.explained import read

from sortal import TreeClassifier, datasets, from_sklearn

if TYPE_CHECKING:
    import pandas as pd


def penguins() -> tuple[pd.DataFrame, Any]:
    table = datasets.penguins()
    return table.drop(columns="species"), table["species"].to_numpy()


def rare(n: int = 500, shift: float = 3.0) -> tuple[np.ndarray, np.ndarray]:
    """Three columns; 2 % of the rows are "yes", shifted in one of them."""
    y = np.where(np.arange(n) < n // 50, "yes", "no")
    X = np.random.default_rng(0).normal(size=(n, 3))
    X[y == "yes", 0] += shift
    return X, y


def inverse(y: np.ndarray) -> np.ndarray:
    """Costs 1/π."""
    _, counts = np.unique(y, return_counts=True)
    return (len(y) / counts)[:, None] * (1 - np.eye(len(counts)))


@pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")
def test_log_loss_on_penguins() -> None:
    """0.16 over ten folds; proportions have 0.6, a wrong row in a pure leaf costing 36."""
    from sklearn.model_selection import cross_val_score

    X, y = penguins()
    model = TreeClassifier(n_jobs=1)
    assert cross_val_score(model, X, y, cv=10, scoring="neg_log_loss").mean() > -0.25


def test_one_leaf_is_not_all_rare() -> None:
    """A tree of one leaf knows no more than the root: nothing speaks for the rare class there."""
    X, y = rare()
    for costs in (None, inverse(y)):
        model = TreeClassifier(max_depth=0, costs=costs).fit(X, y)
        np.testing.assert_allclose(model.predict_proba(X[:1]), [[0.98, 0.02]], rtol=1e-15)
        assert set(model.predict(X, costs=inverse(y))) == {"no"}
    uniform = TreeClassifier(max_depth=0, smoothing="laplace").fit(X, y)
    assert set(uniform.predict(X, costs=inverse(y))) == {"yes"}


def test_costs_are_decided_better() -> None:
    """Balanced accuracy over ten folds, rows decided by costs 1/π."""
    from sklearn.model_selection import cross_val_predict

    X, y = rare(1500, 2.0)
    found = {}
    for smoothing in (None, "shrinkage"):
        model = TreeClassifier(smoothing=smoothing, costs=inverse(y), pruning=None, n_jobs=1)
        said = cross_val_predict(model, X, y, cv=10)
        found[smoothing] = np.mean([np.mean(said[y == k] == k) for k in ("no", "yes")])
    assert found["shrinkage"] > found[None] + 0.05


@pytest.mark.parametrize("options", [{}, {"pruning": None}, {"class_weight": "balanced"}])
def test_nothing_is_impossible(options: dict[str, Any]) -> None:
    """Probabilities add up to 1, and a class that has rows is never ruled out."""
    X, y = penguins()
    p = TreeClassifier(**options).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    assert p.min() > 0


def test_labels_are_those_of_the_counts() -> None:
    """Without costs the books' trees, and penguins, predict the class their leaves hold most of."""
    books = ("play_tennis", "loves_sports", "table_19_3", "table_19_4", "table_19_5")
    for table in (getattr(datasets, name)() for name in (*books, "iris", "penguins")):
        target = "species" if "species" in table else table.columns[-1]
        X = table.drop(columns=target)
        for split in ("subset", "multiway"):
            options: Any = {"categorical_split": split, "pruning": None}
            smooth, plain = (
                TreeClassifier(**options, smoothing=smoothing).fit(table, target)
                for smoothing in ("shrinkage", None)
            )
            assert smooth.predict(X).tolist() == plain.predict(X).tolist()
            assert smooth.to_text() == plain.to_text()
            assert smooth.rules().to_text() == plain.rules().to_text()
            pictures = (model.to_drawing().boxes for model in (smooth, plain))
            drawn, expected = ([(b.counts, b.parts, b.leaf and b) for b in p] for p in pictures)
            assert drawn == expected
            assert str(smooth.working(0)) == str(plain.working(0))


def test_an_explanation_has_counts_and_what_follows_from_them() -> None:
    X, y = rare()
    model = TreeClassifier().fit(X, y)
    told = model.explain(X[:1])[0]
    why = read(told)
    n = sum(why.counts)
    assert n == why.n
    assert why.probabilities == tuple(model.predict_proba(X[:1])[0])
    held = why.counts[why.classes.index(why.label)]
    assert f"(P = {why.total:.4g}) at node {why.node} ({held} of {n})" in str(told)
    assert why.total < held / n


def test_a_tree_of_scikit_learn_stays_as_it_is() -> None:
    from sklearn.tree import DecisionTreeClassifier

    X, y = rare()
    theirs = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(from_sklearn(theirs).predict_proba(X), theirs.predict_proba(X))
