"""What clients of scikit-learn expect of every learner of the registry."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris

from sortal import (
    DiscreteBayes,
    FisherDiscriminant,
    IndicatorRegression,
    KernelDiscriminant,
    LinearDiscriminant,
    QuadraticDiscriminant,
    TreeClassifier,
    displays,
)
from sortal.errors import NotOfferedError, OptionError
from sortal.tasks.registry import learners

if TYPE_CHECKING:
    from sortal.tasks.registry import Learner

X, Y = load_iris(return_X_y=True)
TWO, LABELS = load_breast_cancer(return_X_y=True)
TWO = TWO[:, :5]

every_learner = pytest.mark.parametrize("learner", learners(), ids=lambda learner: learner.name)


@every_learner
def test_missing_values_are_taken_where_they_are_no_error(learner: Learner) -> None:
    """By this tag others decide whether to put an imputer before."""
    assert learner.make().__sklearn_tags__().input_tags.allow_nan
    assert not learner.make(missing="error").__sklearn_tags__().input_tags.allow_nan


def test_a_given_kernel_matrix_has_no_missing_values() -> None:
    tags = KernelDiscriminant("precomputed").__sklearn_tags__().input_tags
    assert tags.pairwise
    assert not tags.allow_nan


@pytest.mark.parametrize(
    ("whole", "other", "word"),
    [
        (LinearDiscriminant(shrinkage="loo"), {"shrinkage": 0.5}, "shrinkage='loo'"),
        (QuadraticDiscriminant(pooling="loo"), {"pooling": 0.5}, "pooling='loo'"),
        (QuadraticDiscriminant(shrinkage="loo"), {"shrinkage": None}, "shrinkage='loo'"),
        (FisherDiscriminant(threshold="least_error"), {"threshold": "midpoint"}, "'least_error'"),
        (KernelDiscriminant(ridge="loo"), {"ridge": 0.1}, "ridge='loo'"),
    ],
)
def test_there_is_no_partial_fit_where_it_would_only_raise(
    whole: Any, other: dict[str, Any], word: str
) -> None:
    for name in ("partial_fit", "forget"):
        assert not hasattr(whole, name)
    with pytest.raises(NotOfferedError, match=f"{word} needs all rows at once"):
        whole.partial_fit(X, Y)
    assert hasattr(clone(whole).set_params(**other), "partial_fit")


# --- Random states -------------------------------------------------------------------------------


def landmarks(random_state: Any) -> list[int]:
    model = KernelDiscriminant(solver="landmarks", n_landmarks=5, random_state=random_state)
    ids: list[int] = model.fit(X, Y).basis_ids_.tolist()
    return ids


def held_out(random_state: Any) -> str:
    model = TreeClassifier(pruning="reduced_error", random_state=random_state)
    return model.fit(TWO, LABELS).to_text()


@pytest.mark.parametrize("fit", [landmarks, held_out])
def test_random_states_are_those_of_scikit_learn(fit: Any) -> None:
    """None is not the state of NumPy: a fit gives the same model each time."""
    np.random.seed(7)  # noqa: NPY002  (what None must not hang on)
    assert fit(None) == fit(0) == fit(np.int64(0))
    drawn = np.random.RandomState(3)
    one, other = fit(drawn), fit(drawn)
    assert one != other  # each fit draws
    assert one == fit(np.random.RandomState(3))


@pytest.mark.parametrize("given", [-1, 1.5, "x", True, np.random.default_rng(0)], ids=str)
@pytest.mark.parametrize("estimator", [KernelDiscriminant, TreeClassifier])
def test_other_random_states_are_refused(estimator: Any, given: Any) -> None:
    with pytest.raises(OptionError, match=r"random_state=.*numpy\.random\.RandomState"):
        estimator(random_state=given).fit(X, Y)


def test_pieces_share_the_landmarks_that_were_drawn() -> None:
    drawn = KernelDiscriminant(n_landmarks=5, random_state=np.random.RandomState(3))
    first = drawn.partial_fit(X[::2], Y[::2]).basis_ids_.tolist()
    assert drawn.partial_fit(X[1::2], Y[1::2]).basis_ids_.tolist() == first


# --- Functions of two classes --------------------------------------------------------------------

LINEAR: Final = [
    LinearDiscriminant(),
    LinearDiscriminant(priors=[0.2, 0.8], shrinkage=0.1),
    FisherDiscriminant(),
    FisherDiscriminant(threshold="least_error"),
    IndicatorRegression(ridge=1.0),
]


@pytest.mark.parametrize("model", LINEAR, ids=str)
def test_two_classes_have_one_function_and_it_decides(model: Any) -> None:
    model = clone(model).fit(TWO, LABELS)
    assert model.coef_.shape == (1, 5)
    assert model.intercept_.shape == (1,)
    decision = model.decision_function(TWO)
    assert decision.shape == (len(TWO),)
    by_hand = TWO @ model.coef_[0] + model.intercept_[0]
    # terms of about 1e2 cancel to about 1
    np.testing.assert_allclose(decision, by_hand, rtol=1e-10, atol=1e-12 * np.abs(by_hand).max())
    assert (model.predict(TWO) == (decision > 0)).all()


@pytest.mark.parametrize("model", LINEAR[:3], ids=str)
def test_three_classes_have_three(model: Any) -> None:
    model = clone(model).set_params(**({"priors": None} if "priors" in model.get_params() else {}))
    model.fit(X, Y)
    assert model.coef_.shape == (3, 4)
    assert model.intercept_.shape == (3,)
    assert (model.predict(X) == (X @ model.coef_.T + model.intercept_).argmax(axis=1)).all()


def test_the_function_of_binary_attributes_is_the_log_odds() -> None:
    cells = (TWO.mean(axis=0) < TWO).astype(int)
    model = DiscreteBayes(categorical_features="all").fit(cells, LABELS)
    assert model.coef_.shape == (1, 5)
    log_odds = np.diff(model.predict_log_proba(cells), axis=1)[:, 0]
    by_hand = cells @ model.coef_[0] + model.intercept_[0]
    np.testing.assert_allclose(by_hand, log_odds, rtol=1e-12, atol=1e-12)


def test_regions_of_two_classes_follow_their_one_function() -> None:
    model = LinearDiscriminant().fit(TWO[:, :2], LABELS)
    display = displays.RegionsDisplay.from_estimator(model, TWO[:, :2], LABELS)
    assert display.coef.shape == (2, 2)
    decided = (TWO[:, :2] @ display.coef.T + display.intercept).argmax(axis=1)
    assert (decided == model.predict(TWO[:, :2])).all()


@pytest.mark.parametrize("estimator", [FisherDiscriminant, IndicatorRegression])
def test_who_asks_for_probabilities_that_there_are_not_is_told_why(estimator: Any) -> None:
    model = estimator().fit(X, Y)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(NotOfferedError, match=r"has no probabilities.*voting='hard'"):
        model.predict_proba(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not hasattr(estimator, "predict_proba")
