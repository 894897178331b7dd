"""From log joint probabilities to posteriors and labels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sortal.decision.posterior import (
    decide,
    log_evidence,
    log_posterior,
    n_impossible,
    posterior,
    shares_of_votes,
)

SCORES = arrays(
    np.float64, st.tuples(st.integers(1, 5), st.integers(2, 6)), elements=st.floats(-800, 5)
)


@given(SCORES)
def test_posteriors_are_shares_of_the_evidence(scores: np.ndarray) -> None:
    before = scores.copy()
    shares = posterior(scores, np.full(scores.shape[1], 1 / scores.shape[1]))
    assert np.array_equal(scores, before)
    for row, share in zip(scores, shares, strict=True):
        top = max(row)
        total = math.fsum(math.exp(s - top) for s in row)
        assert share == pytest.approx([math.exp(s - top) / total for s in row], abs=1e-15)
        assert math.fsum(share) == pytest.approx(1, abs=1e-14)


@given(SCORES)
def test_evidence_is_the_log_of_the_sum(scores: np.ndarray) -> None:
    for row, evidence in zip(scores, log_evidence(scores), strict=True):
        top = max(row)
        assert evidence == pytest.approx(top + math.log(math.fsum(math.exp(s - top) for s in row)))


def test_scores_far_below_the_smallest_float_still_compare() -> None:
    shares = posterior(np.array([[-2000.0, -2000.0 - math.log(3)]]), np.array([0.5, 0.5]))
    assert shares == pytest.approx(np.array([[0.75, 0.25]]))


def test_an_impossible_row_keeps_its_prior_and_is_counted() -> None:
    scores = np.array([[-np.inf, -np.inf], [0.0, -np.inf]])
    assert posterior(scores, np.array([0.3, 0.7])).tolist() == [[0.3, 0.7], [1.0, 0.0]]
    assert log_evidence(scores).tolist() == [-np.inf, 0.0]
    assert n_impossible(scores) == 1


def test_each_impossible_row_can_have_a_prior_of_its_own() -> None:
    scores = np.full((2, 2), -np.inf)
    priors = np.array([[0.1, 0.9], [0.4, 0.6]])
    assert posterior(scores, priors).tolist() == priors.tolist()


def test_the_first_of_equals_is_said() -> None:
    assert decide(np.array([[0.4, 0.4, 0.2], [0.2, 0.4, 0.4]]), None).tolist() == [0, 1]


def test_costs_can_overrule_the_more_probable_class() -> None:
    # saying 0 when 1 is true costs ten times as much as the reverse
    costs = np.array([[0.0, 1.0], [10.0, 0.0]])
    assert decide(np.array([[0.8, 0.2], [0.95, 0.05]]), costs).tolist() == [1, 0]


@given(SCORES)
def test_log_posteriors_are_the_logs_of_posteriors(scores: np.ndarray) -> None:
    prior = np.full(scores.shape[1], 1 / scores.shape[1])
    logs = log_posterior(scores - 1e8, prior)
    assert np.exp(logs) == pytest.approx(posterior(scores - 1e8, prior), rel=1e-12, abs=1e-300)


def test_log_posteriors_of_an_impossible_row_are_those_of_the_prior() -> None:
    logs = log_posterior(np.full((1, 2), -np.inf), np.array([0.0, 1.0]))
    assert logs.tolist() == [[-np.inf, 0.0]]


def test_votes_become_shares_and_the_prior_stands_where_nobody_votes() -> None:
    votes = np.array([[1.0, 3.0], [0.0, 0.0]])
    assert shares_of_votes(votes, np.array([0.75, 0.25])).tolist() == [[0.25, 0.75], [0.75, 0.25]]
    own = np.array([[0.5, 0.5], [0.125, 0.875]])
    assert shares_of_votes(votes, own).tolist() == [[0.25, 0.75], [0.125, 0.875]]


def test_votes_that_differ_by_rounding_are_equal() -> None:
    eps = float(np.finfo(float).eps)
    votes = np.array([[3.0 * (1 - 8 * eps), 3.0, 0.0], [3.0 * (1 - 64 * eps), 3.0, 0.0]])
    shares = shares_of_votes(votes, np.full(3, 1 / 3))
    assert decide(shares, None).tolist() == [0, 1]
    assert shares[0].tolist() == [0.5, 0.5, 0.0]


def test_products_that_differ_by_rounding_have_one_posterior() -> None:
    scores = np.array([[0.1 + 0.2, 0.3, -5.0], [-700.0, np.nextafter(-700.0, 0), -900.0]])
    for shares in (
        posterior(scores, np.full(3, 1 / 3)),
        np.exp(log_posterior(scores, np.full(3, 1 / 3))),
    ):
        assert (shares[:, 0] == shares[:, 1]).all()
