"""Places and kernels against the definitions; examples by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm
from tests.neighbors.oracle import Oracle, kernel_values

from sortal.neighbors.model import WEIGHTINGS, Near
from sortal.neighbors.votes import Voters, by_class, fill_places, is_filled, kernel, votes


def near_of(distances: Any) -> Near:
    """One query whose neighbors are rows 0, 1, … at these distances; inf is nobody."""
    d = np.array([distances], dtype=float)
    return Near(d, np.where(np.isfinite(d), np.arange(d.shape[1]), -1))


def kernels(weighting: str, distances: Any, k: int, weights: Any = None) -> list[float]:
    near = near_of(distances)
    voters = Voters(
        np.zeros(len(distances), dtype=np.int32),
        None if weights is None else np.array(weights, dtype=float),
        1,
    )
    return list(kernel(weighting, near.distances, fill_places(near, voters, k), k)[0].tolist())


def by_definition(oracle: Oracle, weighting: str, k: int) -> list[float]:
    """Part times kernel of each neighbor of 0."""
    places, h = oracle.places([0.0], k)
    found = dict.fromkeys(range(len(oracle.rows)), 0.0)
    for place, value in zip(places, kernel_values(places, h, k, weighting), strict=True):
        found[place.neighbor.id] = place.part * value
    return list(found.values())


@given(
    steps=st.lists(st.sampled_from([0.0, 0.0, 0.5, 1.0]), min_size=1, max_size=8),
    missing=st.integers(0, 3),
    weighting=st.sampled_from(WEIGHTINGS),
    k=st.integers(1, 6),
    pool=st.sampled_from([None, [1.0], [0.25, 2.0, 0.5], [3.0, 1.0]]),
    first=st.sampled_from([0.0, 2.0]),
)
def test_votes_are_those_of_the_definitions(
    steps: list[float], missing: int, weighting: str, k: int, pool: Any, first: float
) -> None:
    distances = [*(first + np.cumsum(steps)).tolist(), *[math.inf] * missing]
    n = len(distances)
    weights = None if pool is None else [pool[i % len(pool)] for i in range(n)]
    rows = [[None if d == math.inf else d] for d in distances]
    oracle = Oracle(rows, ["a"] * n, weights, metric="manhattan", scale=None)
    # every row has a class of its own
    own = None if weights is None else np.array(weights)
    voters = Voters(np.arange(n, dtype=np.int32), own, n, oracle.place)
    found = votes(near_of(distances), voters, k, weighting)[0]
    wanted = by_definition(oracle, weighting, k)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-15)


def test_a_row_fills_as_many_places_as_it_weighs_the_last_in_part() -> None:
    voters = Voters(np.zeros(4, dtype=np.int32), np.array([2.0, 0.5, 3.0, 1.0]), 1)
    places = fill_places(near_of([0.0, 1.0, 2.0, 3.0]), voters, 4)
    assert places.part.tolist() == [[2.0, 0.5, 1.5, 0.0]]
    assert places.before.tolist() == [[0.0, 2.0, 2.5, 5.5]]


def test_a_heavy_row_does_not_hide_the_places_filled_before_it() -> None:
    voters = Voters(np.zeros(3, dtype=np.int32), np.array([1.0, 1e18, 1.0]), 1)
    places = fill_places(near_of([0.0, 1.0, 2.0]), voters, 1)
    assert places.part.tolist() == [[1.0, 0.0, 0.0]]


@pytest.mark.parametrize(
    ("weighting", "distances", "k", "weights", "expected"),
    [
        # ranks count places from behind
        ("rank", [1.0, 2.0, 3.0, 4.0], 3, None, [3.0, 2.0, 1.0, 0.0]),
        ("rank", [1.0, 2.0, 3.0], 3, [1.0, 0.5, 4.0], [3.0, 2.25, 1.25]),
        # rows equal to the query decide alone
        ("distance", [0.0, 0.0, 1.0], 3, None, [1.0, 1.0, 0.0]),
        ("distance", [1.0, 2.0, 4.0], 3, None, [1.0, 0.5, 0.25]),
        # kernels reach to the row at the next place
        ("triangular", [0.0, 1.0, 2.0, 4.0], 3, None, [1.0, 0.75, 0.5, 0.0]),
        ("epanechnikov", [0.0, 1.0, 2.0, 4.0], 3, None, [1.0, 0.9375, 0.75, 0.0]),
        # the second row fills a place in part, and its next copy would be beyond
        ("triangular", [1.0, 2.0, 4.0], 2, [1.0, 5.0, 1.0], [0.5, 0.0, 0.0]),
        ("triangular", [1.0, 2.0, 4.0], 2, [1.0, 1.0, 1.0], [0.75, 0.5, 0.0]),
        # rows that all lie as far as the first beyond count alike
        ("triangular", [2.0, 2.0, 2.0], 2, None, [1.0, 1.0, 0.0]),
        ("epanechnikov", [0.0, 0.0, 0.0], 2, None, [1.0, 1.0, 0.0]),
        # without a row beyond, the last one within is the measure
        ("triangular", [1.0, 2.0, math.inf], 2, None, [0.5, 0.0, 0.0]),
    ],
)
def test_kernels_by_hand(
    weighting: str, distances: Any, k: int, weights: Any, expected: list[float]
) -> None:
    assert kernels(weighting, distances, k, weights) == expected


def test_the_gaussian_kernel_is_that_of_hechenbichler_and_schliep() -> None:
    found = kernels("gaussian", [0.0, 1.0, 2.0], 2)
    q = float(norm.ppf(1 - 1 / 6))
    assert found == pytest.approx([1.0, math.exp(-((q / 2) ** 2) / 2), 0.0])


def test_who_is_asked_again() -> None:
    voters = Voters(np.zeros(3, dtype=np.int32), np.array([0.5, 0.5, 1.0]), 1)
    near = near_of([1.0, 2.0, 3.0])
    assert is_filled(near, voters, 2, beyond=False).tolist() == [True]
    assert is_filled(near, voters, 2, beyond=True).tolist() == [False]
    assert is_filled(near, voters, 1, beyond=True).tolist() == [True]
    assert is_filled(near, voters, 3, beyond=False).tolist() == [False]
    assert is_filled(near_of([1.0, 2.0, math.inf]), voters, 3, beyond=True).tolist() == [True]


def test_factors_of_classes_do_not_overflow() -> None:
    said = by_class(np.array([[3.0, 5.0]]), np.array([1e308, 5e307]))
    assert np.isfinite(said).all()
    assert said[0, 0] / said[0, 1] == pytest.approx(1.2)
    assert by_class(np.array([[3.0, 5.0]]), np.zeros(2)).tolist() == [[0.0, 0.0]]
