"""Blocks of rows from plain lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sortal.data.arrays import categories_of
from sortal.data.batch import Batch
from sortal.data.columns import Column, NumberColumn, as_categories
from sortal.data.weights import Weights, read_weights

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Cells = Sequence[Any]  # None is a hole
BuildBatch = Callable[..., Batch]


def _array(cells: Cells) -> np.ndarray[Any, Any]:
    """Whole numbers without holes as int64, as a data frame has them; anything else as objects."""
    if all(type(cell) is int for cell in cells):
        return np.array(cells, dtype=np.int64)
    return np.fromiter(cells, dtype=object, count=len(cells))


def _numbers(cells: Cells) -> NumberColumn:
    return NumberColumn(np.array([np.nan if x is None else x for x in cells], dtype=np.float64))


def _build(
    labels: Cells,
    categories: Sequence[Cells] = (),
    numbers: Sequence[Cells] = (),
    weights: ArrayLike | None = None,
    rows: Sequence[int] | None = None,
) -> Batch:
    """A block of the given rows, all by default; category columns first, then number columns.

    Weights are those of all rows, so that blocks of one table have one unit.
    """
    chosen = list(range(len(labels))) if rows is None else list(rows)
    read = Weights(None) if weights is None else read_weights(weights, len(labels))
    columns: list[Column] = []
    for j, cells in enumerate(categories):
        columns.append(categories_of(_array([cells[i] for i in chosen]), f"c{j}"))
    columns += [_numbers([cells[i] for i in chosen]) for cells in numbers]
    return Batch(
        start=0,
        n_rows=len(chosen),
        columns=tuple(columns),
        target=as_categories(categories_of(_array([labels[i] for i in chosen]), "y")),
        units=None if read.units is None else read.units[chosen],
        exponent=read.exponent,
    )


# Session scope, because Hypothesis runs many examples within one call of a test.
@pytest.fixture(scope="session")
def build_batch() -> BuildBatch:
    """build_batch(labels, categories, numbers, weights, rows) → Batch."""
    return _build
