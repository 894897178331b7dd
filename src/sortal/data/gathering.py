"""Gathering: blocks as one, for learners that look at all rows together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sortal.data.batch import Batch
from sortal.data.columns import (
    HOLE,
    CategoryColumn,
    Column,
    IntegerColumn,
    NumberColumn,
    as_categories,
    as_numbers,
)
from sortal.data.values import kept, sort_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Rows = NDArray[np.intp]


def as_read(batch: Batch) -> Batch:
    """A pass that only reads: the block itself."""
    return batch


def gather_blocks(blocks: Sequence[Batch]) -> Batch:
    """Blocks as one; a single block is not copied."""
    first = blocks[0]
    if len(blocks) == 1:
        return first
    columns = zip(*(block.columns for block in blocks), strict=True)
    given = first.units is not None
    return Batch(
        start=first.start,
        n_rows=sum(block.n_rows for block in blocks),
        columns=tuple(_gather(parts) for parts in columns),
        target=_gather_categories([block.labels() for block in blocks]),
        units=np.concatenate([block.row_units() for block in blocks]) if given else None,
        exponent=first.exponent,
    )


def _gather(parts: Sequence[Column]) -> Column:
    if isinstance(parts[0], NumberColumn):
        return NumberColumn(np.concatenate([as_numbers(part) for part in parts]))
    return _gather_categories([as_categories(part) for part in parts])


def _gather_categories(parts: Sequence[CategoryColumn]) -> CategoryColumn:
    values = sort_values(value for part in parts for value in part.values)
    place = {value: v for v, value in enumerate(values)}
    return CategoryColumn(values, np.concatenate([part.recode(place) for part in parts]))


def with_weight(batch: Batch) -> Batch:
    """The rows that have weight, with the values and classes that these have."""
    if batch.units is None or batch.units.all():
        return batch
    rows = np.flatnonzero(batch.units)
    return replace(
        batch,
        n_rows=len(rows),
        columns=tuple(_take(column, rows) for column in batch.columns),
        target=_narrowed(batch.labels(), rows),
        units=batch.units[rows],
        matrix=None if batch.matrix is None else batch.matrix[rows],
    )


def _take(column: Column, rows: Rows) -> Column:
    if isinstance(column, NumberColumn):
        return NumberColumn(column.values[rows])
    if isinstance(column, IntegerColumn):
        return IntegerColumn(column.numbers[rows])
    return _narrowed(column, rows)


def _narrowed(column: CategoryColumn, rows: Rows) -> CategoryColumn:
    codes = column.codes[rows]
    met = np.zeros(len(column.values) + 1, dtype=bool)
    met[codes] = True  # a hole's code, -1, finds the last
    rank = np.cumsum(met, dtype=np.int32) - 1
    rank[-1] = HOLE
    return CategoryColumn(kept(column.values, met[:-1]), rank[codes])
