"""A block of rows, as every summary and every model sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.columns import CategoryColumn, NumberColumn, as_categories

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.data.columns import Column


@dataclass(frozen=True)
class Batch:
    """Rows start .. start + n_rows - 1 of a source.

    `columns` follow the schema. `target` holds the labels (without holes), None at predict.
    `units` are whole-number weights of 2**-exponent each, None where every row weighs one.
    Where numbers were read together, `matrix` has them, a row a row, and `columns` the others only.
    """

    start: int
    n_rows: int
    columns: tuple[Column, ...]
    target: CategoryColumn | None = None
    units: NDArray[np.int64] | None = None
    exponent: int = 0
    matrix: NDArray[np.floating[Any]] | None = None

    def labels(self) -> CategoryColumn:
        """The labels of a block that was read for a fit."""
        if self.target is None:
            raise TypeError("this block was read without labels")
        return self.target

    def row_units(self) -> NDArray[np.int64]:
        """The weights, written out."""
        return np.ones(self.n_rows, dtype=np.int64) if self.units is None else self.units

    def number_matrix(self) -> NDArray[np.floating[Any]]:
        """The number columns, in order, as one matrix."""
        if self.matrix is not None:
            return self.matrix
        measured = [c.values for c in self.columns if isinstance(c, NumberColumn)]
        return np.stack(measured, axis=1) if measured else np.empty((self.n_rows, 0))

    def category_columns(self) -> list[CategoryColumn]:
        """The other columns, in order, as codes."""
        return [as_categories(c) for c in self.columns if not isinstance(c, NumberColumn)]

    def take(self, rows: NDArray[Any]) -> Batch:
        """Some of the rows, by position or by a mask, as a block of their own."""
        units = self.units
        return Batch(
            start=self.start,
            n_rows=int(rows.sum()) if rows.dtype == bool else len(rows),
            columns=tuple(column.take(rows) for column in self.columns),
            target=None if self.target is None else self.target.take(rows),
            units=None if units is None else units[rows],
            exponent=self.exponent,
            matrix=None if self.matrix is None else self.matrix[rows],
        )
