"""Discrete Bayes on exact numbers far from 0, against extended precision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mpmath
import numpy as np
import pytest

from sortal import DiscreteBayes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Float = NDArray[np.float64]

# Whole numbers whose class means are none, so that float64 does not hold the means far from 0.
NEAR = np.array([0, 1, 2, 3, 5, 8, 8, 4, 6, 7, 9, 10, 14, 15, 30, 31, 33, 34, 34, 35, 38.0])
Y = np.repeat(["a", "b", "c"], 7)


def posteriors(x: Float, y: NDArray[np.str_], asked: Float) -> Float:
    """Bayes' rule with normal densities, in 60 digits."""
    with mpmath.workdps(60):
        numbers = [mpmath.mpf(float(v)) for v in x]
        scores = []
        for label in np.unique(y):
            own = [v for v, c in zip(numbers, y, strict=True) if c == label]
            mean = mpmath.fsum(own) / len(own)
            variance = mpmath.fsum((v - mean) ** 2 for v in own) / len(own)
            share = mpmath.mpf(len(own)) / len(numbers) / mpmath.sqrt(variance)
            far = [mpmath.mpf(float(v)) - mean for v in asked]
            scores.append([share * mpmath.exp(-(d**2) / (2 * variance)) for d in far])
        rows = zip(*scores, strict=True)
        return np.array([[float(s / mpmath.fsum(row)) for s in row] for row in rows])


# The unit in the last place is 1 at 2^52, and 2^8 at 2^60.
PLACES = {"at 0": (0.0, 1.0)} | {
    f"at {sign}2^{e}": (float(sign + "1") * 2.0**e, 2.0 ** max(0, e - 52))
    for sign in ("+", "-")
    for e in (26, 50, 51, 52, 53, 60)
}


@pytest.mark.parametrize("place", PLACES)
def test_posteriors_are_exact_wherever_the_numbers_are(place: str) -> None:
    far, step = PLACES[place]
    x = far + step * NEAR
    model = DiscreteBayes().fit(x[:, None], Y)
    assert model.fit_report_.notes == ()
    # an exponent has a few roundings of its size, which is below 300 here
    np.testing.assert_allclose(
        model.predict_proba(x[:, None]), posteriors(x, Y, x), rtol=2e-13, atol=0
    )


@pytest.mark.parametrize("place", PLACES)
def test_blocks_and_rows_left_out_are_as_exact(place: str) -> None:
    far, step = PLACES[place]
    x = far + step * NEAR
    pieces = DiscreteBayes()
    for part in range(4):
        pieces.partial_fit(x[part::4, None], Y[part::4], classes=["a", "b", "c"])
    np.testing.assert_allclose(
        pieces.predict_proba(x[:, None]), posteriors(x, Y, x), rtol=2e-13, atol=0
    )
    without = [np.arange(len(x)) != i for i in range(len(x))]
    expected = [posteriors(x[w], Y[w], x[i : i + 1])[0] for i, w in enumerate(without)]
    found = DiscreteBayes().fit(x[:, None], Y).loo_proba(x[:, None], Y)
    # M2 without a row keeps what its cancellation leaves, a thousandth at least
    np.testing.assert_allclose(found, expected, rtol=2e-10, atol=0)


def test_a_column_never_varies_where_all_its_numbers_are_equal() -> None:
    x = np.full(12, 2.0**52 / 3)
    y = np.repeat(["a", "b"], 6)
    assert "never varies" in DiscreteBayes().fit(x[:, None], y).fit_report_.notes[0]
    x[0] = np.nextafter(x[0], np.inf)
    model = DiscreteBayes().fit(x[:, None], y)
    assert model.fit_report_.notes == ()
    assert model.predict(x[:, None])[0] == "a"


def test_a_class_without_numbers_takes_those_of_all() -> None:
    x = 2.0**52 + NEAR
    x[Y == "c"] = np.nan
    near = NEAR.copy()
    near[Y == "c"] = np.nan
    far = DiscreteBayes().fit(x[:, None], Y).predict_proba(2.0**52 + NEAR[:, None])
    expected = DiscreteBayes().fit(near[:, None], Y).predict_proba(NEAR[:, None])
    np.testing.assert_allclose(far, expected, rtol=2e-13)
