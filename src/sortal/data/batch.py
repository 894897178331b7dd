"""A block of rows, as every summary and every model sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.data.columns import CategoryColumn, Column


@dataclass(frozen=True)
class Batch:
    """Rows start .. start + n_rows - 1 of a source.

    `columns` follow the schema. `target` holds the labels (without holes), None at predict.
    `units` are whole-number weights of 2**-exponent each, None where every row weighs one.
    """

    start: int
    n_rows: int
    columns: tuple[Column, ...]
    target: CategoryColumn | None = None
    units: NDArray[np.int64] | None = None
    exponent: int = 0

    def labels(self) -> CategoryColumn:
        """The labels of a block that was read for a fit."""
        if self.target is None:
            raise TypeError("this block was read without labels")
        return self.target

    def row_units(self) -> NDArray[np.int64]:
        """The weights, written out."""
        return np.ones(self.n_rows, dtype=np.int64) if self.units is None else self.units

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
        )
