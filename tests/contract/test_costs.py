"""Costs by name and by proportion: every learner that has costs decides as an obvious rule does."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
from sklearn.base import clone
from tests.contract.learners import DEFAULTS, N, Setting, assert_same, labels, mixed, whole

import sortal
from sortal.decision.options import read_costs

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

NAMED: Final = {("ash", "elm"): 9, ("birch", "ash"): 5.0, ("elm", "elm"): 0.5}
MATRIX: Final = [[0.0, 1.0, 9.0], [5.0, 0.0, 1.0], [1.0, 1.0, 0.5]]
OF_TWO: Final = {("ash", "other"): 9, ("other", "other"): 0.5}

pytestmark = [
    pytest.mark.filterwarnings(f"ignore::sortal.errors.{name}Warning")
    for name in ("MissingValue", "Collinearity", "OneLeaf")
]

with_costs = pytest.mark.parametrize(
    "learner", [one for one in DEFAULTS if "costs" in one.learner.options()], ids=repr
)
probabilistic = pytest.mark.parametrize(
    "learner", [one for one in DEFAULTS if one.learner.facts.probabilistic], ids=repr
)


def one_over(weight: Any) -> NDArray[Any]:
    """1 / π in each row, 0 where a prediction is right, by loops."""
    K, total = len(weight), sum(weight)
    costs = np.zeros((K, K))
    for i, j in product(range(K), repeat=2):
        costs[i, j] = total / weight[i] if i != j else 0.0
    return costs


def two() -> NDArray[Any]:
    """The labels as two classes, of 30 rows each, of which some are turned."""
    y = np.where(labels() == "ash", "ash", "other")
    return np.where(np.arange(N) % 5 == 0, "other", y)


def of(learner: Setting) -> tuple[NDArray[Any], dict[Any, Any], Any, NDArray[Any]]:
    """Labels, named costs, the same as a matrix, and the balanced ones."""
    if learner.learner.name == "indicator":
        y = two()
        counts = [(y == "ash").sum(), (y == "other").sum()]
        return y, OF_TWO, [[0.0, 9.0], [1.0, 0.5]], one_over(counts)
    return labels(), NAMED, MATRIX, one_over([30, 15, 15])


@with_costs
def test_names_and_proportions_are_the_matrix_that_they_stand_for(
    learner: Setting, tmp_path: Path
) -> None:
    y, named, matrix, balanced = of(learner)
    for given, costs in ((named, matrix), ("balanced", balanced.tolist())):
        model = learner.fit(whole(), y, costs=given)
        assert_same(model, learner.fit(whole(), y, costs=costs), whole())
        model.save(tmp_path / "m.sortal")
        again = sortal.load(tmp_path / "m.sortal")
        assert again.get_params()["costs"] == clone(model).costs == given
        assert_same(again, model, whole())
        assert str(again.explain(whole()[:3])) == str(model.explain(whole()[:3]))
        labels_explained = [one.label for one in model.explain(mixed())]
        assert labels_explained == model.predict(mixed()).tolist()


@probabilistic
def test_costs_of_a_call_decide_by_the_posteriors_of_the_fit(
    learner: Setting, tmp_path: Path
) -> None:
    learner.fit(whole()).save(tmp_path / "m.sortal")
    models: list[Any] = [learner.fit(whole()), sortal.load(tmp_path / "m.sortal")]
    for model in models:
        for given, costs in ((NAMED, np.array(MATRIX)), ("balanced", one_over([30, 15, 15]))):
            expected = model.predict_proba(mixed()) @ costs
            best = np.isclose(expected, expected.min(axis=1, keepdims=True), 1e-12, 0)
            wanted = model.classes_[best.argmax(axis=1)]
            np.testing.assert_array_equal(model.predict(mixed(), costs=given), wanted)


@probabilistic
def test_balanced_costs_leave_probabilities_and_follow_the_weights(learner: Setting) -> None:
    weight = np.where(labels() == "ash", 1, 3)
    model = learner.fit(whole(), weight=weight, costs="balanced")
    by_hand = one_over([30, 45, 45])
    assert_same(model, learner.fit(whole(), weight=weight, costs=by_hand.tolist()), whole())
    if learner.learner.name != "tree":  # of which costs change the growing
        plain = learner.fit(whole(), weight=weight)
        np.testing.assert_array_equal(model.predict_proba(whole()), plain.predict_proba(whole()))
    weighed = learner.fit(whole(), class_weight="balanced", costs="balanced")
    by_hand = one_over([30, 15, 15])
    other = learner.fit(whole(), class_weight="balanced", costs=by_hand.tolist())
    assert_same(weighed, other, whole())
    priors = {"ash": 0.2, "birch": 0.3, "elm": 0.5}
    assert_same(
        learner.fit(whole(), priors=priors, costs="balanced"),
        learner.fit(whole(), priors=priors, costs=by_hand.tolist()),
        whole(),
    )


@with_costs
def test_a_class_without_rows_costs_nothing(learner: Setting) -> None:
    weight = (labels() != "ash").astype(float)
    model = learner.fit(whole(), weight=weight, costs="balanced")
    kept = weight > 0
    plain = learner.fit(whole()[kept], labels()[kept], costs="balanced")
    assert model.predict(whole()).tolist() == plain.predict(whole()).tolist()
    one = read_costs("balanced", ("a", "b", "c"), np.array([0.0, 1.0, 3.0]))
    assert one is not None
    assert one.tolist() == [[0, 0, 0], [4, 0, 4], [4 / 3, 4 / 3, 0]]


@with_costs
def test_classes_that_are_numbers_are_named_by_number_or_text(learner: Setting) -> None:
    y = (two() == "ash").astype(int)
    model = learner.fit(whole(), y, costs=[[0.0, 1.0], [4.0, 0.0]])
    for given in ({(1, 0): 4}, {("1", "0"): 4}, {(np.int64(1), None): 4}, {(True, False): 4}):
        assert_same(learner.fit(whole(), y, costs=given), model, whole())
    known = y.astype(bool)
    model = learner.fit(whole(), known, costs=[[0.0, 1.0], [4.0, 0.0]])
    assert_same(learner.fit(whole(), known, costs={("True", "False"): 4}), model, whole())


def test_a_label_is_itself_before_it_is_a_text() -> None:
    one = read_costs({("1", 1): 7}, (1, "1"))
    assert one is not None
    assert one.tolist() == [[0, 1], [7, 0]]
