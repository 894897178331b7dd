"""Rows with missing values: many patterns at a time say what each pattern says by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sortal import (
    FisherDiscriminant,
    IndicatorRegression,
    LinearDiscriminant,
    QuadraticDiscriminant,
)
from sortal.discriminants import gaussian as missing
from sortal.discriminants.functions import ConditionalMean
from sortal.discriminants.gaussian import GaussianClasses, Inverse, each_pattern, patterns_of

LEARNERS = [
    LinearDiscriminant(),
    LinearDiscriminant(shrinkage=0.3),
    QuadraticDiscriminant(),
    QuadraticDiscriminant(pooling=0.4, shrinkage=0.1),
    FisherDiscriminant(),
    IndicatorRegression(),
]


def table(n: int, share: float, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Columns of other sizes that depend on each other, one of words; some cells are missing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = (rng.normal(size=(n, 6)) + y[:, None]) @ rng.normal(size=(6, 6)) * 10.0 ** np.arange(-3, 3)
    frame = pd.DataFrame(X + 50, columns=list("abcdef"))
    frame["word"] = np.array(["u", "v", "w"], dtype=object)[rng.integers(0, 3, n)]
    return frame.mask(rng.random(frame.shape) < share), y


@pytest.mark.parametrize(
    ("learner", "words"),
    [*((one, True) for one in LEARNERS), *((one, False) for one in LEARNERS[1:3])],
)
@pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")
def test_many_patterns_are_what_each_is(
    learner: Any, words: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = table(200, 0.0)
    incomplete, _ = table(120, 0.35, seed=1)
    if not words:
        X, incomplete = X.drop(columns="word"), incomplete.drop(columns="word")
    model = learner.fit(X, y)
    assert model._model.scores.parts is not None
    found = model.decision_function(incomplete)
    alone = np.array([model.decision_function(incomplete[i : i + 1])[0] for i in range(12)])
    assert_allclose(alone, found[:12], rtol=1e-12)
    monkeypatch.setattr(missing, "_CELLS", 1)
    assert_allclose(model.decision_function(incomplete), found, rtol=1e-12)
    monkeypatch.setattr(missing, "_WORST", 0.0)
    again = learner.fit(X, y)
    assert again._model.scores.parts is None
    assert_allclose(again.decision_function(incomplete), found, rtol=1e-9, atol=1e-11)


def test_a_part_of_an_inverse() -> None:
    """By the definition: invert what is left of the covariance."""
    rng = np.random.default_rng(0)
    root = rng.normal(size=(7, 9)) * 10.0 ** np.arange(-3, 4)[:, None]
    covariance, means = root @ root.T, rng.normal(size=(7, 3))
    inverse = Inverse.of(covariance, np.arange(7))
    assert inverse is not None
    assert_allclose(inverse.times(means), np.linalg.solve(covariance, means), rtol=1e-9)
    unknown = np.array([[0, 3], [1, 6], [2, 5]])
    made, log_dets = inverse.lessen(inverse.times(means), unknown), inverse.log_dets(unknown)
    for places, weights, log_det in zip(unknown, made, log_dets, strict=True):
        known = np.setdiff1d(np.arange(7), places)
        part = covariance[np.ix_(known, known)]
        assert_allclose(weights[known], np.linalg.solve(part, means[known]), rtol=1e-9)
        assert_array_equal(weights[places], 0.0)
        whole = np.linalg.slogdet(covariance)[1]
        assert_allclose(np.linalg.slogdet(part)[1], whole + log_det, rtol=1e-10)


@pytest.mark.parametrize("rule", ["gaussian", "conditional mean"])
def test_rules_far_from_their_center(rule: str) -> None:
    """The center is near the mean in a fit, but nothing rests on that."""
    rng = np.random.default_rng(3)
    root, gap, mean = rng.normal(size=(4, 9)), rng.normal(size=(3, 4)), rng.normal(size=4)
    matrix, size, weights = root @ root.T, np.ones(4), rng.normal(size=(4, 3))
    made: GaussianClasses | ConditionalMean
    if rule == "gaussian":
        made = GaussianClasses(np.array([3.0, 0.0, 2.0]), gap, mean, matrix, 5.0, size)
    else:
        made = ConditionalMean(matrix, mean, size, weights, rng.normal(size=3))
    parts = made.parts(np.arange(4))
    assert parts is not None
    unknown = np.array([[0, 1, 0, 1], [1, 0, 1, 0]], dtype=bool)
    for pattern, found in zip(unknown, parts(unknown), strict=True):
        for mine, theirs in zip(found, made.functions(~pattern), strict=True):
            assert_allclose(mine, theirs, rtol=1e-10, atol=1e-13)


@pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")
def test_what_is_nearly_singular_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A column and nearly its copy: where one is missing, the other holds all its digits."""
    X, y = table(200, 0.0)
    X = X[["a", "b", "c"]].assign(a=X["a"] * 1e3)
    X["copy"] = X["a"] + 1e-5 * np.random.default_rng(2).normal(size=200)
    model = LinearDiscriminant().fit(X, y)
    assert model._model.scores.parts is None
    without = LinearDiscriminant().fit(X.drop(columns="copy"), y)
    some = X.assign(copy=np.nan)
    found = model.decision_function(some)
    assert_allclose(found, without.decision_function(X.drop(columns="copy")), rtol=1e-9, atol=1e-9)
    monkeypatch.setattr(missing, "_WORST", 1e99)
    careless = LinearDiscriminant().fit(X, y)
    assert np.abs(careless.decision_function(some) - found).max() > 1e-9  # what the limit is for


def test_patterns_and_who_has_them() -> None:
    missing = np.array([[1, 0], [0, 0], [1, 0], [1, 1], [0, 0]], dtype=bool)
    patterns, places = patterns_of(missing)
    assert_array_equal(patterns, [[0, 0], [1, 0], [1, 1]])
    assert [mine.tolist() for mine in places] == [[1, 4], [0, 2], [3]]
    assert patterns_of(missing[:0])[1] == []
    told = dict(each_pattern(patterns, None, np.ndarray.tolist, 1))
    assert told == {0: [True, True], 1: [False, True], 2: [False, False]}
