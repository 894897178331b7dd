"""Ranking against sorting by Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sortal import native

if TYPE_CHECKING:
    from collections.abc import Callable

    Layout = Callable[[NDArray[Any]], NDArray[Any]]

Int64 = NDArray[np.int64]

TOP = 2**63 - 1
BOTTOM = -(2**63)
MARKS = 1 << 20  # from this span on, values are sorted instead of marked in a table
numbers = st.integers(-3, 3) | st.integers(BOTTOM, TOP) | st.sampled_from([BOTTOM, TOP])
quick = settings(max_examples=80, deadline=None)


def ranks(column: list[int]) -> tuple[list[int], list[int]]:
    """The oracle: look every value up in the sorted list."""
    values = sorted(set(column))
    return values, [values.index(x) for x in column]


def int64(column: list[int]) -> Int64:
    return np.array(column, dtype=np.int64)


@quick
@given(column=st.lists(numbers, max_size=60))
@example(column=[])
@example(column=[TOP])
@example(column=[TOP, BOTTOM])
def test_ranks_equal_those_of_a_sorted_list(layout: Layout, column: list[int]) -> None:
    values, codes = native.rank_integers(layout(int64(column)))
    assert (values.tolist(), codes.tolist()) == ranks(column)
    assert (values.dtype.name, codes.dtype.name) == ("int64", "int32")


@quick
@given(
    low=st.sampled_from([BOTTOM, -MARKS // 2, 0, TOP - MARKS]),
    span=st.sampled_from([0, 1, MARKS - 1, MARKS]),
    inner=st.lists(st.integers(0, MARKS), max_size=40),
)
def test_marking_and_sorting_agree(low: int, span: int, inner: list[int]) -> None:
    column = [low + step for step in (0, span, *(step for step in inner if step <= span))]
    values, codes = native.rank_integers(int64(column))
    assert (values.tolist(), codes.tolist()) == ranks(column)


@quick
@given(column=st.lists(numbers, max_size=60))
def test_values_by_rank_give_the_column_back(column: list[int]) -> None:
    values, codes = native.rank_integers(int64(column))
    assert values[codes].tolist() == column


@pytest.mark.parametrize("n", [127, 128, 129, 5000])
def test_long_columns_are_ranked_to_the_last_row(n: int) -> None:
    column = [(i * 7919) % 1009 - 500 for i in range(n)]
    values, codes = native.rank_integers(int64(column))
    assert (values.tolist(), codes.tolist()) == ranks(column)


def test_the_column_is_left_as_it_was() -> None:
    column = int64([3, 1, 2])
    native.rank_integers(column)
    assert column.tolist() == [3, 1, 2]


@pytest.mark.parametrize(
    "column",
    [
        np.zeros(2, dtype=np.int32),
        np.zeros(2, dtype=np.uint64),
        np.zeros(2),
        np.zeros(2, dtype=">i8"),
        np.zeros((2, 1), dtype=np.int64),
        np.zeros(2, dtype=[("flag", "i1"), ("x", "i8")])["x"],  # rows lie 9 bytes apart
        [1, 2],
    ],
    ids=["int32", "uint64", "float64", "big-endian", "matrix", "packed record", "list"],
)
def test_columns_of_another_form_are_refused(column: Any) -> None:
    with pytest.raises(TypeError):
        native.rank_integers(column)
