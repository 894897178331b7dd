"""Values: what a cell is as a category, what is missing, and the one order of values."""

import datetime as dt
import enum
import itertools
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sortal.data.columns import Value, as_value, is_missing, kept, order_of, sort_values, union

FRACTIONS = st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: not x.is_integer())
VALUES = st.one_of(st.text(max_size=3), st.booleans(), st.integers(), FRACTIONS)
SORTED = st.lists(VALUES, max_size=8).map(sort_values)


class Color(str, enum.Enum):  # noqa: UP042  (its str() is 'Color.RED', the harder case)
    RED = "red"


CELLS: list[tuple[object, Value]] = [
    *[("a", "a"), ("", ""), (np.str_("a"), "a"), (Color.RED, "red")],
    *[(True, True), (np.False_, False), (3, 3), (np.int8(-3), -3)],
    *[(np.uint64(2**64 - 1), 2**64 - 1), (3.0, 3), (-0.0, 0), (np.float32(2.5), 2.5)],
    *[(Decimal("1.50"), 1.5), (Decimal(2), 2), (Fraction(1, 2), 0.5)],
]
MISSING = [
    *(None, math.nan, np.float32("nan"), np.datetime64("NaT"), np.timedelta64("NaT")),
    *(pd.NaT, pd.NA, Decimal("NaN"), Decimal("sNaN")),
]
NO_VALUES = [
    *(math.inf, -math.inf, 1j, b"a", [1], {"a": 1}, np.array([1, 2]), dt.date(2020, 1, 1)),
    *(np.datetime64("2020-01-01"), dt.timedelta(1), np.timedelta64(1, "D")),
]


def test_a_cell_becomes_a_plain_value() -> None:
    for cell, value in CELLS:
        found = as_value(cell)
        assert (found, type(found)) == (value, type(value)), repr(cell)
        assert not is_missing(cell), repr(cell)


def test_every_kind_of_missing_value_is_missing() -> None:
    for cell in MISSING:
        assert is_missing(cell), repr(cell)
        assert as_value(cell) is None, repr(cell)


def test_what_cannot_be_a_category_is_refused() -> None:
    for cell in NO_VALUES:
        assert not is_missing(cell), repr(cell)
        with pytest.raises(TypeError):
            as_value(cell)


def test_numbers_sort_before_words_and_words_by_code_point() -> None:
    numbers = (False, True, 2.5, 10, "10", "9", "a")
    assert sort_values(["10", "9", 2.5, 10, True, False, "a"]) == numbers
    words = ("Z", "z", "é", "\uffff", "\U0001f600")
    assert sort_values(["é", "z", "Z", "\U0001f600", "\uffff"]) == words


@given(st.lists(VALUES, max_size=8), st.randoms(use_true_random=False))
def test_sorted_values_rise_in_whatever_order_they_came(
    values: list[Value], random: object
) -> None:
    shuffled = values.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert sort_values(values) == sort_values(shuffled)
    keys = [order_of(value) for value in sort_values(values)]
    assert all(a < b for a, b in itertools.pairwise(keys))


def test_of_true_and_one_the_number_stands_for_both() -> None:
    for values in ([True, 1, False, 0], [1, True, 0, False]):
        assert repr(sort_values(values)) == "(0, 1)"


@given(SORTED, SORTED)
def test_a_union_is_the_sorted_set_of_both(a: tuple[Value, ...], b: tuple[Value, ...]) -> None:
    both, at_a, at_b = union(a, b)
    assert both == tuple(sorted({*a, *b}, key=order_of))
    assert tuple(both[v] for v in at_a) == a
    assert tuple(both[v] for v in at_b) == b


def test_a_mask_keeps_values() -> None:
    assert kept(("a", "b", 3), np.array([True, False, True])) == ("a", 3)
