"""Every learner of the registry within scikit-learn's ensembles, and how they weigh rows."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.naive_bayes import GaussianNB

from sortal import TreeClassifier
from sortal.errors import NotOfferedError
from sortal.tasks.registry import learners

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sortal.tasks.registry import Learner

# A part of the rows: what is asked is that nothing fails.
TABLES: Final = {
    "iris": [part[::2] for part in load_iris(return_X_y=True)],
    "cancer": [part[::6] for part in load_breast_cancer(return_X_y=True)],
    "wine": [part[::2] for part in load_wine(return_X_y=True)],
}

every_learner = pytest.mark.parametrize("learner", learners(), ids=lambda learner: learner.name)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def ensembles(learner: Learner) -> dict[str, Any]:
    """One of each kind, of few members."""
    one = learner.make(n_jobs=1)
    both = [("one", one), ("other", GaussianNB())]
    found = {
        "boosted": AdaBoostClassifier(one, n_estimators=4, random_state=0),
        "bagged": BaggingClassifier(one, n_estimators=3, max_samples=0.7, random_state=0),
        "stacked": StackingClassifier(both, cv=2),
        "voted": VotingClassifier(both),
        "calibrated": CalibratedClassifierCV(one, cv=2),
    }
    if learner.facts.probabilistic:
        found["voted softly"] = VotingClassifier(both, voting="soft")
    return found


@every_learner
@pytest.mark.parametrize("table", TABLES)
def test_every_ensemble_takes_every_learner(learner: Learner, table: str) -> None:
    X, y = TABLES[table]
    for kind, ensemble in ensembles(learner).items():
        score = ensemble.fit(X, y).score(X, y)
        most_common = np.bincount(y).max() / len(y)
        assert score > most_common, kind


@pytest.mark.parametrize("name", ["fisher", "indicator"])
def test_voting_by_probabilities_that_there_are_not_is_a_clear_error(name: str) -> None:
    learner = next(learner for learner in learners() if learner.name == name)
    X, y = TABLES["iris"]
    both = [("one", learner.make()), ("other", GaussianNB())]
    soft = VotingClassifier(both, voting="soft").fit(X, y)
    with pytest.raises(NotOfferedError, match=r"has no probabilities: use .*voting='hard'"):
        soft.predict(X)


@every_learner
def test_weights_as_small_as_boosting_makes_them_are_nothing(learner: Learner) -> None:
    """scikit-learn's AdaBoost keeps weights from 2**-52 of the total upwards."""
    X, y = TABLES["iris"]
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 1.5, len(y))
    weight[::5] = 2.0**-52
    model = learner.make().fit(X, y, sample_weight=weight / weight.sum())
    weight[::5] = 0.0
    without = learner.make().fit(X, y, sample_weight=weight / weight.sum())
    assert (model.predict(X) == without.predict(X)).all()
    if learner.facts.probabilistic:
        expected = without.predict_proba(X)
        np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-9, atol=1e-12)


@every_learner
def test_weights_that_sum_to_one_are_weights(learner: Learner) -> None:
    """The unit of fractional weights is arbitrary: alike, they are as none."""
    X, y = TABLES["wine"]
    model = learner.make().fit(X, y, sample_weight=np.full(len(y), 1 / len(y)))
    assert (model.predict(X) == learner.make().fit(X, y).predict(X)).all()


def test_fold_numbers_go_with_the_rows_that_have_weight() -> None:
    X, y = TABLES["iris"]
    folds, weight = np.arange(len(y)) % 4, np.full(len(y), 0.5)
    weight[::7] = 1e-20
    given: dict[str, Any] = {"pruning": "cost_complexity", "cv": folds}
    model = TreeClassifier(**given).fit(X, y, sample_weight=weight)
    kept = weight == 0.5
    given["cv"] = folds[kept]
    assert model.to_text() == TreeClassifier(**given).fit(X[kept], y[kept], weight[kept]).to_text()
