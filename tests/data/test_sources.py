"""Sources: blocks cover the rows of a table once, in order, whatever their size."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sortal.data.columns import CategoryColumn, ColumnSchema, NumberColumn, Schema, as_categories
from sortal.data.sources import Batch, TableSource, Weights, read_table
from sortal.data.table import ArrayTable

N = 30


def forms(n: int = N) -> list[Any]:
    """Rows of a number and a word as frames and as an array."""
    frame = pd.DataFrame({"number": np.arange(n) / 4, "word": [f"w{i % 5}" for i in range(n)]})
    return [frame, pl.from_pandas(frame), frame.to_numpy()]


def source_of(X: Any, y: Any = None, size: int | None = None, units: Any = None) -> TableSource:
    table = read_table(X)
    columns = tuple(table.column_schema(j) for j in range(len(table.names)))
    target = None if y is None else ArrayTable(np.array(y, dtype=object)[:, None], ("y",))
    weights = None if units is None else Weights(np.array(units), 3)
    return TableSource(table, Schema(columns), tuple(range(len(columns))), target, weights, size)


def blocks_of(source: TableSource) -> list[Batch]:
    return [source.block(b) for b in range(source.n_blocks)]


def cells_of(batch: Batch) -> list[tuple[Any, ...]]:
    """The rows of a block, written out."""
    written: list[list[Any]] = []
    for column in batch.columns:
        if isinstance(column, NumberColumn):
            written.append(column.values.tolist())
        else:
            ranked = as_categories(column)
            written.append([ranked.values[code] for code in ranked.codes])
    return list(zip(*written, strict=True))


@pytest.mark.parametrize("size", [1, 7, N, N + 1])
def test_blocks_give_every_row_once_in_order(size: int) -> None:
    for X in forms():
        blocks = blocks_of(source_of(X, size=size))
        assert [batch.start for batch in blocks] == list(range(0, N, size))
        rows = [row for batch in blocks for row in cells_of(batch)]
        assert rows == [(i / 4, f"w{i % 5}") for i in range(N)]


def test_a_table_without_rows_is_one_empty_block() -> None:
    for X in forms(0):
        source = source_of(X, y=[])
        assert source.n_blocks == 1
        batch = source.block(0)
        assert [batch.n_rows, *map(len, batch.columns), len(batch.labels())] == [0] * 4


def test_the_size_of_a_block_follows_from_the_number_of_columns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sortal.data.sources.BLOCK_CELLS", 12)
    sizes = [source_of(np.zeros((9, d))).rows_per_block for d in (0, 1, 5, 12, 13)]
    assert sizes == [12, 12, 2, 1, 1]


def test_units_and_labels_go_with_their_rows_if_there_are_any() -> None:
    blocks = blocks_of(source_of(np.zeros((5, 1)), y=list("abcab"), units=[1, 2, 3, 4, 5], size=2))
    units = [batch.row_units().tolist() for batch in blocks]
    labels = [[b.labels().values[k] for k in b.labels().codes] for b in blocks]
    assert units == [[1, 2], [3, 4], [5]]
    assert labels == [["a", "b"], ["c", "a"], ["b"]]
    assert {batch.exponent for batch in blocks} == {3}
    plain = source_of(np.zeros((3, 1))).block(0)
    assert (plain.units, plain.row_units().tolist(), plain.exponent) == (None, [1, 1, 1], 0)
    with pytest.raises(TypeError, match="without labels"):
        plain.labels()


def test_columns_are_read_from_their_places_as_the_schema_says() -> None:
    table = read_table(pd.DataFrame({"extra": [0.0], "b": [2.0], "a": [1.0]}))
    schema = Schema((ColumnSchema("a", "number"), ColumnSchema("b", "number")))
    assert cells_of(TableSource(table, schema, (2, 1)).block(0)) == [(1.0, 2.0)]
    category = Schema((ColumnSchema("x0", "category"),))
    column = TableSource(read_table(np.array([[2.5], [1.0]])), category, (0,)).block(0).columns[0]
    assert isinstance(column, CategoryColumn)
    assert column.values == (1, 2.5)


def test_blocks_can_be_read_by_several_threads() -> None:
    source = source_of(forms()[1], size=1)
    with ThreadPoolExecutor(4) as pool:
        threaded = list(pool.map(source.block, range(source.n_blocks)))
    assert [cells_of(b) for b in threaded] == [cells_of(b) for b in blocks_of(source)]
