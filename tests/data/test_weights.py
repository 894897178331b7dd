"""Weights as whole numbers of units: copies stay copies, fractions are rounded once."""

import math
from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sortal.data.weights import Weights, read_weights
from sortal.errors import WeightError

WHOLE = st.lists(st.integers(0, 2**40), min_size=1, max_size=20).filter(any)
# at most 1e12 times apart: more would not fit beside each other
FRACTIONAL = st.lists(st.one_of(st.just(0.0), st.floats(1e-6, 1e6)), min_size=1, max_size=20)


def units_of(weights: Weights) -> list[int]:
    assert weights.units is not None
    return [int(unit) for unit in weights.units]


def back(weights: Weights) -> list[float]:
    return [math.ldexp(unit, -weights.exponent) for unit in units_of(weights)]


def test_no_weights_are_no_units() -> None:
    assert read_weights(None, 3) == Weights(None, 0)


@given(WHOLE)
def test_whole_weights_stay_what_they_are(given_weights: list[int]) -> None:
    weights = read_weights(given_weights, len(given_weights))
    assert units_of(weights) == given_weights
    assert weights.exponent == 0


@given(WHOLE)
def test_whole_weights_as_floats_are_the_same_copies(given_weights: list[int]) -> None:
    weights = read_weights([float(w) for w in given_weights], len(given_weights))
    assert units_of(weights) == given_weights


@given(FRACTIONAL)
def test_fractions_are_kept_to_forty_six_bits_of_the_total(given_weights: list[float]) -> None:
    assume(any(given_weights))
    weights = read_weights(given_weights, len(given_weights))
    total = math.fsum(given_weights)
    for found, expected in zip(back(weights), given_weights, strict=True):
        assert abs(found - expected) <= 2.0**-46 * total


@given(FRACTIONAL)
def test_the_units_of_all_rows_together_stay_exact(given_weights: list[float]) -> None:
    assume(any(not w.is_integer() for w in given_weights))
    units = units_of(read_weights(given_weights, len(given_weights)))
    assert 2**47 - len(units) <= sum(units) <= 2**48 + len(units)


@given(FRACTIONAL, st.integers(22, 30))
def test_a_given_unit_is_kept(given_weights: list[float], exponent: int) -> None:
    assume(any(given_weights))
    weights = read_weights(given_weights, len(given_weights), exponent)
    assert weights.exponent == exponent
    for found, expected in zip(back(weights), given_weights, strict=True):
        assert abs(found - expected) <= 2.0 ** -(exponent + 1)


@given(WHOLE, st.integers(1, 10))
def test_whole_weights_take_a_given_unit_without_rounding(
    given_weights: list[int], exponent: int
) -> None:
    weights = read_weights(given_weights, len(given_weights), exponent)
    assert units_of(weights) == [w << exponent for w in given_weights]
    assert weights.exponent == exponent


def test_fractions_after_whole_weights_get_a_finer_unit() -> None:
    # the summary so far has unit 1; merging brings it to the finer one
    assert read_weights([0.5, 1], 2, exponent=0).exponent > 0


def test_a_weight_of_zero_stays_zero() -> None:
    assert units_of(read_weights([0, 0.1, 0], 3))[::2] == [0, 0]


def test_one_number_is_the_weight_of_every_row() -> None:
    assert units_of(read_weights(2, 3)) == [2, 2, 2]


def test_small_numbers_are_weights_too() -> None:
    assert back(read_weights([2.0**-190, 2.0**-150], 2)) == [2.0**-190, 2.0**-150]


@pytest.mark.parametrize(
    "given_weights",
    [
        [1, 2],
        (1, 2),
        np.array([1, 2], dtype=np.uint8),
        np.array([1, 2], dtype=">f4"),
        np.array([2, 1])[::-1],
        np.array([1, 2], dtype=object),
        pd.Series([1, 2], index=[7, 7]),
        pd.Series([1, 2], dtype="Int64"),
        pl.Series([1, 2]),
        pa.array([1, 2]),
        pa.chunked_array([[1], [2]]),
    ],
    ids=lambda given_weights: type(given_weights).__name__,
)
def test_weights_come_in_any_container(given_weights: Any) -> None:
    assert units_of(read_weights(given_weights, 2)) == [1, 2]


def test_read_only_weights_are_left_alone() -> None:
    given_weights = np.array([0.5, 2.0])
    given_weights.flags.writeable = False
    read_weights(given_weights, 2)
    assert given_weights.tolist() == [0.5, 2.0]


@pytest.mark.parametrize(
    ("given_weights", "message"),
    [
        ([1, -1], "negative, missing or infinite"),
        ([1, math.nan], "negative, missing or infinite"),
        ([1, None], "negative, missing or infinite"),
        ([1, math.inf], "negative, missing or infinite"),
        (np.ma.array([1.0, 2.0], mask=[False, True]), "negative, missing or infinite"),
        ([0, 0], "zero for every row"),
        (0, "zero for every row"),
        ([1, 2, 3], r"shape == \(3,\), expected \(2,\)"),
        ([[1], [2]], r"shape == \(2, 1\), expected \(2,\)"),
        (["a", "b"], "not a number"),
        (["1", "2"], "not a number"),
        ([1j, 1], "not a number"),
        ([[1], [1, 2]], "not a number"),
        (np.array(["2020", "2021"], dtype="M8[Y]"), "not a number"),
        ([2.0**61, 2.0**61], "too much to be counted exactly"),
        ([1e308, 1e308], "too much to be counted exactly"),
        ([1e308, 1e308 / 3], "too much to be counted exactly"),
        ([1e-315, 2e-315], "sums to 3e-315, .* their sum is 1e-50 or more"),
        ([1e-60, 2e-60], "sums to 3e-60"),
    ],
    ids=str,
)
def test_weights_that_cannot_be_used_are_refused(given_weights: Any, message: str) -> None:
    with pytest.raises(WeightError, match=message):
        read_weights(given_weights, 2)


@pytest.mark.parametrize("given_weights", [[1e17, 0.5], [1.0, 2.0**-52], [0.1, 5e-324]])
def test_a_weight_below_half_a_unit_is_absent(given_weights: list[float]) -> None:
    weights = read_weights(given_weights, 2)
    assert back(weights) == [given_weights[0], 0.0] or weights.exponent > 0
    assert units_of(weights)[1] == 0


def test_weights_that_all_vanish_in_a_given_unit_are_refused() -> None:
    assert units_of(read_weights([1, 0.001], 2, exponent=4)) == [16, 0]
    with pytest.raises(WeightError, match=r"at most 0\.001, which rounds to 0 in units of"):
        read_weights([0.001, 0.001], 2, exponent=4)


def test_the_order_of_rows_does_not_choose_the_unit() -> None:
    """The sum of these is 1.0 or the number below it, as they are added."""
    orders = list(permutations([0.3, 0.6, 0.1]))
    assert len({np.sum(order) for order in orders}) > 1
    assert len({read_weights(order, 3).exponent for order in orders}) == 1


def test_a_sum_beyond_the_largest_float_is_refused() -> None:
    with pytest.raises(WeightError, match="sums to inf"):
        read_weights([1e308, 1e308, 0.5], 3)
