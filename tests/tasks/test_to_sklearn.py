"""Fitted models as estimators of scikit-learn: the same predictions, or a refusal that says why."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import export_text

from sortal import (
    DiscreteBayes,
    LinearDiscriminant,
    QuadraticDiscriminant,
    TreeClassifier,
    from_sklearn,
    load,
)
from sortal.errors import InputError
from sortal.estimators.tree_as_sklearn import float32_below

if TYPE_CHECKING:
    from pathlib import Path

TABLES = {"iris": load_iris, "cancer": load_breast_cancer, "wine": load_wine}
AGREED = 1e-9  # as to_sklearn promises
AS_GROWN: dict[str, Any] = {"pruning": None, "smoothing": None}
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


@pytest.mark.parametrize("v", [0.1, 1 / 3, 1 + 2.0**-24, 1.0, -0.1, 1e-46, -1e-46, 1e39, -1e39])
def test_of_float32s_the_same_are_at_most_a_threshold(v: float) -> None:
    t = float32_below(np.array([v]))[0]
    with np.errstate(over="ignore"):
        after = np.nextafter(t, np.float32(np.inf))
    assert float(t) <= v < float(after)


@pytest.mark.parametrize("missing", ["direction", "majority", "error"])
def test_missing_values_take_the_same_branch(missing: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3)).astype(np.float32).astype(np.float64)
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0.5)
    holes = rng.random(X.shape) < [0.3, 0.2, 0.0]
    holed = np.where(holes, np.nan, X)
    y |= holes[:, 1]  # being missing tells the class
    model = TreeClassifier(**AS_GROWN, missing=missing).fit(X if missing == "error" else holed, y)
    theirs = model.to_sklearn()
    seen = X if missing == "error" else holed
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


def test_there_and_back_is_the_same_tree() -> None:
    X, y = table("wine", named=True, labels="text")
    model = TreeClassifier(**AS_GROWN).fit(X, y)
    again = from_sklearn(model.to_sklearn())
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.to_frame()["n"].tolist() == model.to_frame()["n"].tolist()


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
