"""Number columns as one matrix: of which type, whose memory, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sortal.data.columns import Schema, as_categories
from sortal.data.sources import DataTable as Table
from sortal.data.sources import TableSource, read_table, read_weights, with_weight
from sortal.data.table import ArrayTable, FrameTable, check_matrix
from sortal.errors import InputError


def source_of(table: Table, **more: Any) -> TableSource:
    columns = tuple(table.column_schema(j) for j in range(len(table.names)))
    return TableSource(table, Schema(columns), tuple(range(len(columns))), **more)


def test_a_block_of_an_array_of_numbers_is_a_slice_of_it() -> None:
    for dtype in ("f4", "f8"):
        array = np.arange(12, dtype=dtype).reshape(4, 3)
        block = ArrayTable(array).matrix(range(3), 1, 3)
        assert np.shares_memory(block, array)
        assert (block.dtype.str[1:], block.tolist()) == (dtype, array[1:3].tolist())


def test_other_arrays_become_numbers_without_loss() -> None:
    cases: list[tuple[Any, Any]] = [("f2", "f4"), ("i1", "f8"), ("i8", "f8"), (">f4", "f4")]
    for given, kept in [*cases, (object, "f8")]:
        table = ArrayTable(np.array([[1, 2], [3, 4], [5, 6]]).astype(given))
        assert table.matrix_type((0, 1)) == kept
        block = table.matrix((1, 0), 0, 3)
        assert (block.dtype, block.tolist()) == (kept, [[2, 1], [4, 3], [6, 5]])
        assert block.flags.c_contiguous
    array = np.asfortranarray(np.arange(6.0).reshape(3, 2))
    block = ArrayTable(array).matrix((0, 1), 0, 3)
    assert block.flags.c_contiguous
    assert block.tolist() == array.tolist()


def test_dates_are_days() -> None:
    array = np.array([["1970-01-02", "1970-01-03"], ["NaT", "1970-01-01"]], dtype="M8[D]")
    block = ArrayTable(array).matrix((0, 1), 0, 2)
    np.testing.assert_array_equal(block, [[1.0, 2.0], [np.nan, 0.0]])


@pytest.mark.parametrize("to", [lambda f: f, pl.from_pandas, pa.Table.from_pandas])
def test_a_frame_is_filled_in_the_narrowest_type_that_holds_it(to: Any) -> None:
    frame = pd.DataFrame(
        {
            "a": np.array([1.5, np.nan, 3.0], dtype=np.float32),
            "b": np.array([1, 2, 3], dtype=np.int16),
            "c": np.array([7, 8, 9], dtype=np.int32),
        }
    )
    table = read_table(to(frame))
    assert isinstance(table, FrameTable)
    types = [table.matrix_type(columns).str[1:] for columns in ((0,), (0, 1), (1,), (0, 2))]
    assert types == ["f4", "f4", "f8", "f8"]
    block = table.matrix((0, 1), 1, 3)
    np.testing.assert_array_equal(block, np.array([[np.nan, 2.0], [3.0, 3.0]], dtype=np.float32))


@pytest.mark.parametrize("to", [np.asarray, pd.DataFrame])
def test_whole_numbers_beyond_float64_are_refused_by_name(to: Any) -> None:
    table = read_table(to([[1, 2], [3, 2**53 + 1]]))
    with pytest.raises(InputError, match=rf"'{table.names[1]}'.*beyond 2\*\*53"):
        table.matrix((0, 1), 0, 2)
    assert table.matrix((0, 1), 0, 1).tolist() == [[1, 2]]


def test_missing_numbers_and_no_rows_pass() -> None:
    for dtype in (np.float32, np.float64):
        check_matrix(np.array([[1.0, np.nan, 3.0]], dtype=dtype), "abc")
        check_matrix(np.empty((0, 3), dtype=dtype), "abc")


def test_a_source_reads_numbers_apart_together_or_as_values() -> None:
    frame = pd.DataFrame({"x": [0.5, -0.0, 0.0], "w": ["u", "v", None], "n": [3, 4, 3]})
    table = read_table(frame)
    apart = source_of(table).block(0)
    assert apart.matrix is None
    assert apart.number_matrix().tolist() == [[0.5, 3.0], [0.0, 4.0], [0.0, 3.0]]
    together = source_of(table, numbers_as="matrix").block(0)
    assert together.number_matrix() is together.matrix
    assert together.number_matrix().tolist() == apart.number_matrix().tolist()
    for batch in (apart, together):
        assert [column.values for column in batch.category_columns()] == [("u", "v")]
    values = source_of(table, numbers_as="values").block(0)
    x, w, n = values.category_columns()
    assert (x.values, x.codes.tolist()) == ((0, 0.5), [1, 0, 0])
    assert (w.values, w.codes.tolist()) == (("u", "v"), [0, 1, -1])
    assert (n.values, n.codes.tolist()) == ((3, 4), [0, 1, 0])


def test_rows_of_a_block_are_taken_with_their_numbers() -> None:
    array = np.arange(8.0).reshape(4, 2)
    weights = read_weights([0, 1, 2, 0], 4)
    y = ArrayTable(np.array([["a"], ["b"], ["a"], ["b"]]))
    batch = source_of(ArrayTable(array), target=y, weights=weights, numbers_as="matrix").block(0)
    assert batch.take(np.array([3, 0])).number_matrix().tolist() == [[6, 7], [0, 1]]
    assert with_weight(batch).number_matrix().tolist() == [[2, 3], [4, 5]]


def test_dates_and_spans_are_values_too() -> None:
    days = pd.to_datetime(["2020-01-02", None, "2020-01-01"])
    frame = pd.DataFrame({"date": days, "span": days - days[2]})
    for table in (read_table(frame), ArrayTable(frame[["date"]].to_numpy())):
        column = as_categories(table.distinct(0, 0, 3))
        assert (column.values, column.codes.tolist()) == ((18262, 18263), [1, -1, 0])
    assert as_categories(read_table(frame).distinct(1, 0, 3)).values == (0, 1)
