"""Cells: weight by class of each combination of values that occurs (the joint table, seen cells).

A row with a hole in any of the columns belongs to no cell and is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from sortal import native
from sortal.data.columns import as_categories
from sortal.data.numbering import number_cells
from sortal.data.values import Values, kept, union
from sortal.summaries.pack import pack, unpack
from sortal.summaries.units import (
    refuse_negative,
    refuse_other_columns,
    refuse_overflow,
    rescale,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sortal.data.batch import Batch

    Codes = NDArray[np.int32]
    Units = NDArray[np.int64]
    Check = Callable[[Units, str], None]


@dataclass(frozen=True, eq=False)
class CellCounts:
    """units[c, k]: weight of class k in cell c; codes[c, j]: rank of its value among values[j].

    Cells are in lexicographic order of their values.
    """

    classes: Values
    values: tuple[Values, ...]
    codes: Codes
    units: Units
    exponent: int = 0

    @classmethod
    def empty(cls, n_columns: int) -> Self:
        """No cells over some columns."""
        no_codes = np.zeros((0, n_columns), dtype=np.int32)
        return cls((), ((),) * n_columns, no_codes, np.zeros((0, 0), dtype=np.int64))

    def merge(self, other: Self) -> CellCounts:
        """The cells of both."""
        return self._combine(other, 1, refuse_overflow)

    def subtract(self, other: Self) -> CellCounts:
        """The cells without the other's rows."""
        return self._combine(other, -1, refuse_negative)

    def _combine(self, other: Self, sign: int, check: Check) -> CellCounts:
        refuse_other_columns(self.values, other.values)
        exponent = max(self.exponent, other.exponent)
        classes, a, b = union(self.classes, other.classes)
        unions = [union(u, v) for u, v in zip(self.values, other.values, strict=True)]
        values = tuple(both for both, _, _ in unions)
        codes = np.vstack(
            [
                _recode(self.codes, [at for _, at, _ in unions]),
                _recode(other.codes, [at for _, _, at in unions]),
            ]
        )
        units = np.zeros((len(codes), len(classes)), dtype=np.int64)
        split = len(self.codes)
        units[:split, a] = rescale(self.units, self.exponent, exponent)
        units[split:, b] = sign * rescale(other.units, other.exponent, exponent)
        return _closed(CellCounts(classes, values, codes, units, exponent), check)

    def to_bytes(self) -> bytes:
        """Versioned bytes."""
        meta = {"classes": self.classes, "values": self.values, "exponent": self.exponent}
        return pack("cells", meta, {"codes": self.codes, "units": self.units})

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what `to_bytes` wrote."""
        got = unpack("cells", data)
        classes, values = got.classes(), got.values()
        codes = got.codes("codes", [len(listed) for listed in values])
        return cls(
            classes, values, codes, got.counts("units", len(codes), len(classes)), got.exponent()
        )


def count_cells(batch: Batch, columns: Sequence[int]) -> CellCounts:
    """The cells of a block over the given category columns."""
    labels = batch.labels()
    ranked = [as_categories(batch.columns[j]) for j in columns]
    codes = np.empty((batch.n_rows, len(columns)), dtype=np.int32)
    for place, column in enumerate(ranked):
        codes[:, place] = column.codes
    complete = (codes >= 0).all(axis=1)
    codes, classes = codes[complete], labels.codes[complete]
    units = None if batch.units is None else batch.units[complete]
    values = tuple(column.values for column in ranked)
    cell, first = number_cells(codes, [len(listed) for listed in values])
    table = native.count_codes(cell, len(first), classes, len(labels.values), units)
    cells = CellCounts(labels.values, values, codes[first], table, batch.exponent)
    return _closed(cells, refuse_overflow)


def _recode(codes: Codes, places: list[NDArray[np.intp]]) -> Codes:
    recoded = np.empty_like(codes)
    for j, at in enumerate(places):
        recoded[:, j] = at[codes[:, j]]
    return recoded


def _closed(cells: CellCounts, check: Check) -> CellCounts:
    """Equal cells added up, in order; cells, values and classes without weight left out."""
    cell, first = number_cells(cells.codes, [len(listed) for listed in cells.values])
    table = np.zeros((len(first), len(cells.classes)), dtype=np.int64)
    np.add.at(table, cell, cells.units)
    check(table, "the weight of a cell")
    keep = np.any(table, axis=1)
    table, codes = table[keep], cells.codes[first][keep]
    values = []
    for j, listed in enumerate(cells.values):
        used = np.unique(codes[:, j])
        values.append(tuple(listed[v] for v in used))
        codes[:, j] = np.searchsorted(used, codes[:, j])
    stays = np.any(table, axis=0)
    classes = kept(cells.classes, stays)
    return CellCounts(classes, tuple(values), codes, table[:, stays], cells.exponent)
