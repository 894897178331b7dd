"""Blocks as one, and rows without weight left out."""

from __future__ import annotations

import numpy as np
import pytest

from sortal.data.columns import (
    CategoryColumn,
    ColumnSchema,
    IntegerColumn,
    Kind,
    NumberColumn,
    Schema,
)
from sortal.data.sources import Batch, TableSource, Weights, as_read, gather_blocks, with_weight
from sortal.data.table import ArrayTable


def source(block_rows: int | None = None, weights: Weights | None = None) -> TableSource:
    """Seven rows: words and numbers with a missing value each, whole numbers as categories."""
    words, codes = ["b", "a", None, "c", "a", "d", "b"], [9, 8, 9, 7, 7, 3, 9]
    numbers = [0.5, np.nan, 2.5, 3.5, 4.5, 5.5, 6.5]
    cells = np.array(list(zip(words, numbers, codes, strict=True)), dtype=object)
    names = ("word", "x", "code")
    kinds: tuple[Kind, ...] = ("category", "number", "category")
    columns = tuple(ColumnSchema(*pair) for pair in zip(names, kinds, strict=True))
    target = ArrayTable(np.array(list("zyzyxxz"), dtype=object)[:, None], ("y",))
    return TableSource(
        ArrayTable(cells, names), Schema(columns), (0, 1, 2), target, weights, block_rows
    )


def read(table: TableSource) -> Batch:
    return gather_blocks([as_read(table.block(b)) for b in range(table.n_blocks)])


def told(batch: Batch) -> list[object]:
    """Everything a batch says, as it can be compared."""
    word, x, code = batch.columns
    assert isinstance(word, CategoryColumn)
    assert isinstance(x, NumberColumn)
    assert isinstance(code, CategoryColumn)
    labels = batch.labels()
    units = None if batch.units is None else batch.units.tolist()
    listed = [(c.values, c.codes.tolist()) for c in (word, code, labels)]
    return [batch.n_rows, batch.exponent, units, str(x.values.tolist()), *listed]


@pytest.mark.parametrize("weights", [None, Weights(np.arange(7) % 3, 2)], ids=["none", "some"])
@pytest.mark.parametrize("block_rows", [1, 2, 3, 6])
def test_blocks_of_any_size_make_the_same_batch(block_rows: int, weights: Weights | None) -> None:
    whole = source(weights=weights).block(0)
    assert told(read(source(block_rows, weights))) == told(whole)


def test_rows_without_weight_take_their_values_with_them() -> None:
    batch = with_weight(source(weights=Weights(np.array([1, 2, 3, 0, 4, 0, 0]), 1)).block(0))
    assert told(batch) == [
        *(4, 1, [1, 2, 3, 4], "[0.5, nan, 2.5, 4.5]"),
        (("a", "b"), [1, 0, -1, 0]),
        ((7, 8, 9), [2, 1, 2, 0]),
        (("x", "y", "z"), [2, 1, 2, 0]),
    ]


@pytest.mark.parametrize("weights", [None, Weights(np.ones(7, dtype=np.int64))])
def test_one_block_whose_rows_all_have_weight_is_left_alone(weights: Weights | None) -> None:
    block = source(weights=weights).block(0)
    assert with_weight(block) is block
    assert gather_blocks([block]) is block


def test_whole_numbers_that_are_not_ranked_stay_so() -> None:
    labels = CategoryColumn(("n", "y"), np.array([0, 1, 1], dtype=np.int32))
    column = IntegerColumn(np.array([5, 6, 7]))
    batch = with_weight(Batch(0, 3, (column,), labels, np.array([1, 0, 2])))
    kept = batch.columns[0]
    assert isinstance(kept, IntegerColumn)
    assert kept.numbers.tolist() == [5, 7]
    assert batch.labels().codes.tolist() == [0, 1]
