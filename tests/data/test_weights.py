"""Weights as whole numbers of units: copies stay copies, fractions are rounded once."""

import math
from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import assume, given
from hypothesis import strategies as st

from sortal.data.sources import Weights, read_weights

WHOLE = st.lists(st.integers(0, 2**40), min_size=1, max_size=20).filter(any)
# at most 1e12 times apart: more would not fit beside each other
FRACTIONAL = st.lists(st.one_of(st.just(0.0), st.floats(1e-6, 1e6)), min_size=1, max_size=20)


def units_of(weights: Weights) -> list[int]:
    assert weights.units is not None
    return [int(unit) for unit in weights.units]


def back(weights: Weights) -> list[float]:
    return [math.ldexp(unit, -weights.exponent) for unit in units_of(weights)]


@given(WHOLE, st.integers(1, 10))
def test_whole_weights_stay_what_they_are(given_weights: list[int], exponent: int) -> None:
    n = len(given_weights)
    for weights in (given_weights, [float(w) for w in given_weights]):
        found = read_weights(weights, n)
        assert (units_of(found), found.exponent) == (given_weights, 0)
    finer = read_weights(given_weights, n, exponent)
    assert units_of(finer) == [w << exponent for w in given_weights]
    assert finer.exponent == exponent


@given(FRACTIONAL, st.integers(22, 30))
def test_fractions_are_rounded_to_half_a_unit(given_weights: list[float], exponent: int) -> None:
    assume(any(given_weights))
    n, total = len(given_weights), math.fsum(given_weights)
    own, fixed = read_weights(given_weights, n), read_weights(given_weights, n, exponent)
    assert fixed.exponent == exponent
    for weights, half in ((own, 2.0**-46 * total), (fixed, 2.0 ** -(exponent + 1))):
        for found, expected in zip(back(weights), given_weights, strict=True):
            assert abs(found - expected) <= half
    if any(not w.is_integer() for w in given_weights):  # all rows together stay exact
        assert 2**47 - n <= sum(units_of(own)) <= 2**48 + n


def test_units_of_a_few_weights() -> None:
    assert read_weights(None, 3) == Weights(None, 0)
    # the summary so far has unit 1; merging brings it to the finer one
    assert read_weights([0.5, 1], 2, exponent=0).exponent > 0
    assert units_of(read_weights([0, 0.1, 0], 3))[::2] == [0, 0]
    assert units_of(read_weights(2, 3)) == [2, 2, 2]
    assert units_of(read_weights([1, 0.001], 2, exponent=4)) == [16, 0]
    assert back(read_weights([2.0**-190, 2.0**-150], 2)) == [2.0**-190, 2.0**-150]


def test_fractions_are_never_taken_for_copies() -> None:
    """Where a sum fills 48 bits the unit would be 1, which says that weights are copies."""
    for weights in ([2.0**47, 0.5], [2.0**47 - 0.5, 0.5]):
        assert read_weights(weights, 2).exponent != 0


def test_weights_come_in_any_container() -> None:
    read_only = np.array([1, 2])
    read_only.flags.writeable = False
    for given_weights in (
        *([1, 2], (1, 2), read_only, np.array([2, 1])[::-1]),
        *(np.array([1, 2], dtype=dtype) for dtype in ("u1", ">f4", object)),
        *(pd.Series([1, 2], index=[7, 7]), pd.Series([1, 2], dtype="Int64"), pl.Series([1, 2])),
        *(pa.array([1, 2]), pa.chunked_array([[1], [2]])),
    ):
        assert units_of(read_weights(given_weights, 2)) == [1, 2], type(given_weights)


def test_a_weight_below_half_a_unit_is_absent() -> None:
    for given_weights in ([1e17, 0.5], [1.0, 2.0**-52], [0.1, 5e-324]):
        weights = read_weights(given_weights, 2)
        assert back(weights) == [given_weights[0], 0.0] or weights.exponent > 0
        assert units_of(weights)[1] == 0


def test_the_order_of_rows_does_not_choose_the_unit() -> None:
    """The sum of these is 1.0 or the number below it, as they are added."""
    orders = list(permutations([0.3, 0.6, 0.1]))
    assert len({np.sum(order) for order in orders}) > 1
    assert len({read_weights(order, 3).exponent for order in orders}) == 1
