"""Ranking against sorting by Python."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.native.layouts import Layout, layouts

from sortal import native

Int64 = NDArray[np.int64]

TOP = 2**63 - 1
BOTTOM = -(2**63)
MARKS = 1 << 20  # from this span on, values are sorted instead of marked in a table
numbers = st.integers(-3, 3) | st.integers(BOTTOM, TOP) | st.sampled_from([BOTTOM, TOP])


def ranks(column: list[int]) -> tuple[list[int], list[int]]:
    """The oracle: look every value up in the sorted list."""
    values = sorted(set(column))
    return values, [values.index(x) for x in column]


def int64(column: list[int]) -> Int64:
    return np.array(column, dtype=np.int64)


@given(layouts, st.lists(numbers, max_size=60))
@example(np.copy, [])
@example(np.copy, [TOP])
@example(np.copy, [TOP, BOTTOM])
def test_ranks_equal_those_of_a_sorted_list(layout: Layout, column: list[int]) -> None:
    values, codes = native.rank_integers(layout(int64(column)))
    assert (values.tolist(), codes.tolist()) == ranks(column)
    assert (values.dtype.name, codes.dtype.name) == ("int64", "int32")


@given(
    low=st.sampled_from([BOTTOM, -MARKS // 2, 0, TOP - MARKS]),
    span=st.sampled_from([0, 1, MARKS - 1, MARKS]),
    inner=st.lists(st.integers(0, MARKS), max_size=40),
)
def test_marking_and_sorting_agree(low: int, span: int, inner: list[int]) -> None:
    column = [low + step for step in (0, span, *(step for step in inner if step <= span))]
    values, codes = native.rank_integers(int64(column))
    assert (values.tolist(), codes.tolist()) == ranks(column)


def test_long_columns_are_ranked_to_the_last_row() -> None:
    for n in (127, 128, 129, 5000):
        column = [(i * 7919) % 1009 - 500 for i in range(n)]
        values, codes = native.rank_integers(int64(column))
        assert (values.tolist(), codes.tolist()) == ranks(column), n
