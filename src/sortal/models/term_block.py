"""A block's rows as terms of a design: distances from a center, and which cells have no value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sortal import native
from sortal.data.arrays import LARGEST, infinite, too_large
from sortal.data.columns import HOLE, UNKNOWN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal.data.batch import Batch
    from sortal.data.design import Design

    Codes = NDArray[np.int32]
    Counts = NDArray[np.int64]
    Float = NDArray[np.float64]
    Mask = NDArray[np.bool_]
    Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Mapped:
    """The functions of a block's rows; holes by column, unknown values by column."""

    values: Float
    holes: Counts
    unknown: Counts


@dataclass(frozen=True, eq=False)
class TermBlock:
    """The columns of a block in the order of the loops: numbers first, then categories."""

    design: Design
    numbers: Sequence[Float]
    codes: Codes
    sizes: Sequence[int]
    n_rows: int

    @classmethod
    def of(cls, design: Design, batch: Batch) -> TermBlock:
        """A block as functions of terms read it."""
        sizes = [design.sizes[j] for j in design.categories]
        numbers, codes = design.number_arrays(batch), design.code_arrays(batch)
        return cls(design, numbers, codes, sizes, batch.n_rows)

    def center(self, rows: Rows, origin: Float, out: Float) -> int:
        """out[i] = (z, 1, ‖z‖²), z = row - origin, both in the order of the loops; a hole is NaN.

        Returns how many rows are not finite.
        """
        codes = list(self.codes)
        return native.center_rows(self.numbers, codes, self.sizes, rows, origin, None, None, out)

    def known_part(self, rows: Rows, center: Float) -> Float:
        """Rows minus a center in the order of the terms, 0 where nothing is known."""
        z, origin = np.empty((len(rows), self.design.n_terms + 2)), in_loops(self.design, center)
        codes = list(self.codes)
        native.center_rows(self.numbers, codes, self.sizes, rows, origin, origin, None, z)
        return np.asarray(z[:, :-2][:, self.design.loop_order])

    def missing(self, rows: Rows) -> Mask:
        """missing[i, j]: whether column j of a row has no value or one never fitted."""
        missing = np.zeros((len(rows), len(self.design.sizes)), dtype=bool)
        for j, column in zip(self.design.numbers, self.numbers, strict=True):
            cells = column[rows]
            if (np.abs(cells) > LARGEST).any():
                name = self.design.schema.columns[j].name
                raise infinite(name) if np.isinf(cells).any() else too_large(name)
            missing[:, j] = np.isnan(cells)
        for j, codes in zip(self.design.categories, self.codes, strict=True):
            missing[:, j] = codes[rows] <= HOLE
        return missing

    def unknown(self, rows: Rows) -> Mask:
        """unknown[i, j]: whether column j of a row has a value that was never fitted."""
        unknown = np.zeros((len(rows), len(self.design.sizes)), dtype=bool)
        for j, codes in zip(self.design.categories, self.codes, strict=True):
            unknown[:, j] = codes[rows] == UNKNOWN
        return unknown

    def mapped(self, values: Float, rows: Rows, missing: Mask) -> Mapped:
        """Functions of all rows, and the holes of those among `rows`, which have some."""
        unknown = self.unknown(rows).sum(axis=0)
        return Mapped(values, missing.sum(axis=0) - unknown, unknown)


def in_loops(design: Design, terms: Float) -> Float:
    """An array whose last axis are terms, in the order of the loops."""
    ordered = np.empty(terms.shape)  # rows side by side, whatever the order of `terms`
    ordered[..., design.loop_order] = terms
    return ordered
