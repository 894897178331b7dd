"""Numbering of cells against a sorted set of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sortal.data.columns import number_cells

Codes = NDArray[np.int32]


def as_codes(rows: list[tuple[int, ...]], n_columns: int) -> Codes:
    return np.array(rows, dtype=np.int32).reshape(len(rows), n_columns)


def check_against_a_sorted_set(codes: Codes, sizes: list[int]) -> None:
    rows = [tuple(row) for row in codes.tolist()]
    distinct = sorted(set(rows))
    cell, first = number_cells(codes, sizes)
    assert cell.tolist() == [distinct.index(row) for row in rows]
    assert [rows[i] for i in first] == distinct


@st.composite
def tables_of_codes(draw: st.DrawFn) -> tuple[Codes, list[int]]:
    sizes = draw(st.lists(st.integers(1, 4), max_size=4))
    row = st.tuples(*(st.integers(0, size - 1) for size in sizes))
    return as_codes(draw(st.lists(row, max_size=20)), len(sizes)), sizes


@given(tables_of_codes())
def test_cells_are_numbered_in_lexicographic_order(table: tuple[Codes, list[int]]) -> None:
    check_against_a_sorted_set(*table)


@pytest.mark.parametrize(
    "sizes",
    [[2**10] * 8, [2**31 - 1] * 3, [3] * 60, [2**31 - 1, 2, 2**31 - 1, 2, 2**31 - 1]],
    ids=["8 of 2**10", "3 of 2**31", "60 of 3", "wide and narrow"],
)
def test_cells_are_numbered_beyond_what_one_number_holds(sizes: list[int]) -> None:
    random = np.random.default_rng(0)
    ends = np.array([[0] * len(sizes), [size - 1 for size in sizes]], dtype=np.int32)
    rows = [random.integers(0, sizes, dtype=np.int32) for _ in range(200)]
    # some rows twice, and rows that differ in the last or in the first column only
    codes = np.vstack([ends, rows, rows[:20], rows[:20]])
    codes[-20:-10, -1], codes[-10:, 0] = 0, 0
    check_against_a_sorted_set(codes, sizes)


def test_the_first_of_equal_rows_no_columns_and_no_rows() -> None:
    _, first = number_cells(as_codes([(1,), (0,), (1,), (0,)], 1), [2])
    assert first.tolist() == [1, 0]
    cell, first = number_cells(np.empty((3, 0), dtype=np.int32), [])
    assert (cell.tolist(), first.tolist()) == ([0, 0, 0], [0])
    cell, first = number_cells(np.empty((0, 2), dtype=np.int32), [0, 3])
    assert (len(cell), len(first)) == (0, 0)
