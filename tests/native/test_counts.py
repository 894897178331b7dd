"""Counting loops against a tally kept by hand."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.native.layouts import Layout, layouts

from sortal import native
from sortal.native import MAX_SPAN

if TYPE_CHECKING:
    from collections.abc import Sequence

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Tally = dict[tuple[int, int], int]

TOP = 2**63 - 1
BOTTOM = -(2**63)
# Rows are read in tiles of 128: none, one, a tile and its neighbors, two tiles and theirs.
LENGTHS = (0, 1, 2, 127, 128, 129, 255, 256, 257, 1000)


def tally(values: Sequence[int], classes: Sequence[int], units: Sequence[int] | None) -> Tally:
    """Weight by value and class; what has none is not listed."""
    counted: Counter[tuple[int, int]] = Counter()
    for i, cell in enumerate(zip(values, classes, strict=True)):
        counted[cell] += 1 if units is None else units[i]
    return {cell: weight for cell, weight in counted.items() if weight}


def read_table(low: int, table: Int64) -> Tally:
    places = np.argwhere(table).tolist()
    return {(low + v, k): int(table[v, k]) for v, k in places}


def count_one(column: Int64, classes: Int32, n_classes: int, units: Int64 | None = None) -> Tally:
    """The tally of one column of whole numbers, which must not be too wide."""
    [counted] = native.count_integers([column], classes, n_classes, units)
    assert counted is not None
    return read_table(*counted)


def int64(*parts: Sequence[int]) -> Int64:
    return np.concatenate([np.array(part, dtype=np.int64) for part in parts])


def no_classes(n: int) -> Int32:
    return np.zeros(n, dtype=np.int32)


seeds = st.integers(0, 2**32).map(np.random.default_rng)


@st.composite
def labels(draw: st.DrawFn, n: int) -> tuple[Int32, int, Int64 | None]:
    """Class codes, the number of classes, and units or None."""
    n_classes, rng = draw(st.sampled_from([1, 2, 3, 40])), draw(seeds)
    classes = rng.integers(0, n_classes, n, dtype=np.int32)
    most = draw(st.sampled_from([None, 1, 3, 2**40]))
    return classes, n_classes, None if most is None else rng.integers(0, most, n, endpoint=True)


@st.composite
def coded_rows(draw: st.DrawFn) -> tuple[Int32, int, Int32, int, Int64 | None]:
    n = draw(st.integers(0, 20) | st.sampled_from(LENGTHS))
    n_values = draw(st.integers(1, 6))
    codes = draw(seeds).integers(-2, n_values, n, dtype=np.int32)
    return (codes, n_values, *draw(labels(n)))


@st.composite
def whole_numbers(draw: st.DrawFn) -> tuple[Int64, Int32, int, Int64 | None]:
    """Often one value, so that later tiles now and then hold one that lies outside the table."""
    n = draw(st.integers(0, 20) | st.sampled_from(LENGTHS))
    base = draw(st.sampled_from([BOTTOM, BOTTOM + 5, -7, 0, 10**12, TOP - 300]))
    rng, others = draw(seeds), draw(st.sampled_from([0.01, 0.03, 0.1, 1.0]))
    usual = draw(st.integers(0, 300))
    steps = np.where(rng.random(n) < others, rng.integers(0, 300, n, endpoint=True), usual)
    return (base + steps, *draw(labels(n)))


@given(layouts, coded_rows())
def test_counts_of_codes_equal_a_tally(
    layout: Layout, rows: tuple[Int32, int, Int32, int, Int64 | None]
) -> None:
    codes, n_values, classes, n_classes, units = rows
    table = native.count_codes(layout(codes), n_values, classes, n_classes, units)
    kept = codes >= 0
    weights = None if units is None else units[kept].tolist()
    assert table.shape == (n_values, n_classes)
    assert read_table(0, table) == tally(codes[kept].tolist(), classes[kept].tolist(), weights)


@given(layouts, whole_numbers())
def test_counts_of_whole_numbers_equal_a_tally(
    layout: Layout, rows: tuple[Int64, Int32, int, Int64 | None]
) -> None:
    column, classes, n_classes, units = rows
    weights = None if units is None else units.tolist()
    want = tally(column.tolist(), classes.tolist(), weights)
    assert count_one(layout(column), classes, n_classes, units) == want


@given(
    parts=st.lists(
        st.tuples(st.integers(-2000, 2000), st.integers(1, 130)), min_size=1, max_size=8
    ),
    weighted=st.booleans(),
)
@example(parts=[(0, 128), (-1, 128), (1, 128), (-9, 1)], weighted=True)
def test_a_table_that_grows_either_way_loses_nothing(
    parts: list[tuple[int, int]], weighted: bool
) -> None:
    column = int64(*([value] * times for value, times in parts))
    classes = (np.arange(len(column)) % 3).astype(np.int32)
    units = np.arange(len(column)) % 5 if weighted else None
    want = tally(column.tolist(), classes.tolist(), None if units is None else units.tolist())
    assert count_one(column, classes, 3, units) == want


@pytest.mark.parametrize(
    "column",
    [
        *(
            int64([first] * 128, [later] * 3)
            for first, later in [
                *((0, 1), (0, 300), (0, -1), (-5, 3), (-5, -9)),
                *((TOP - 4, TOP), (TOP, TOP - 4), (TOP, TOP - 300)),
                *((BOTTOM, BOTTOM + 300), (BOTTOM + 300, BOTTOM)),
            ]
        ),
        # 5 values need a table of 8, of which 3 cells lie beyond TOP; 8 values need no larger one
        int64([TOP - 4] * 127, [TOP], [TOP - 7]),
        # a tile that straddles the edge
        int64([5] * 128, [5] * 64, [4] * 32, [6] * 32),
        *(np.arange(n, dtype=np.int64) % 7 - 3 for n in LENGTHS),
    ],
    ids=lambda column: f"{len(column)} from {column[0] if len(column) else 0}",
)
def test_a_table_grows_where_it_must(column: Int64) -> None:
    ones = no_classes(len(column)) + np.int32(1)
    assert count_one(column, ones, 2) == tally(column.tolist(), ones.tolist(), None)


@pytest.mark.parametrize("step", [1, -1], ids=["rising", "falling"])
def test_a_sorted_column_keeps_its_table_small(step: int) -> None:
    column = int64(np.repeat(np.arange(60), 50).tolist())[::step]
    [counted] = native.count_integers([column], no_classes(3000), 1, None)
    assert counted is not None
    assert len(counted[1]) <= 4 * 60


def test_no_rows_give_a_table_without_values() -> None:
    [counted] = native.count_integers([int64([])], no_classes(0), 4, None)
    assert counted is not None
    assert counted[1].shape == (0, 4)


@pytest.mark.parametrize("low", [0, -(MAX_SPAN // 2), TOP - MAX_SPAN])
def test_the_widest_table_has_max_span_values(low: int) -> None:
    column = int64([low, low + MAX_SPAN - 1])
    assert count_one(column, no_classes(2), 1) == {(low, 0): 1, (low + MAX_SPAN - 1, 0): 1}
    assert native.count_integers([int64([low, low + MAX_SPAN])], no_classes(2), 1, None) == [None]


@pytest.mark.parametrize("far", [MAX_SPAN, -MAX_SPAN, TOP, BOTTOM])
def test_a_column_that_turns_out_too_wide_is_given_up(far: int) -> None:
    column = int64([0] * 128, [far], [0] * 300)
    assert native.count_integers([column], no_classes(429), 1, None) == [None]


def test_a_column_that_is_too_wide_leaves_the_others_alone() -> None:
    wide, narrow = int64([0] * 128, [TOP]), int64([1] * 128, [2])
    found = native.count_integers([narrow, wide, narrow], no_classes(129), 1, None)
    tallies = [None if one is None else read_table(*one) for one in found]
    assert tallies == [{(1, 0): 128, (2, 0): 1}, None, {(1, 0): 128, (2, 0): 1}]


def test_columns_of_one_matrix_are_counted_in_one_pass() -> None:
    matrix = np.arange(900, dtype=np.int64).reshape(300, 3) % 11
    classes = (np.arange(300) % 2).astype(np.int32)
    found = native.count_integers([matrix[:, j] for j in range(3)], classes, 2, None)
    for j, counted in enumerate(found):
        assert counted is not None
        assert read_table(*counted) == tally(matrix[:, j].tolist(), classes.tolist(), None)


def test_many_classes_have_a_column_each() -> None:
    classes = np.arange(5000, dtype=np.int32)
    column = int64((classes % 3).tolist())
    assert count_one(column, classes, 5000) == {(k % 3, k): 1 for k in range(5000)}


def test_large_units_are_added_as_whole_numbers() -> None:
    # 2**60 + 1 has no float64 of its own
    units = int64([2**60, 1] * 2)
    column, classes = int64([3] * 4), no_classes(4)
    assert count_one(column, classes, 1, units) == {(3, 0): 2**61 + 2}
    assert native.count_codes(no_classes(4), 1, classes, 1, units).tolist() == [[2**61 + 2]]


def test_the_codes_of_missing_values_may_be_any_negative_number() -> None:
    codes = np.array([0, -1, -2, -(2**31)], dtype=np.int32)
    assert native.count_codes(codes, 1, no_classes(4), 1, None).tolist() == [[1]]
