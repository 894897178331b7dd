"""What discrete Bayes needs of the rows: counts, moments and, for the joint table, cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from sortal.summaries.bytes import pack, unpack
from sortal.summaries.counts import (
    CellCounts,
    ClassCounts,
    RowCounts,
    ValueCounts,
    count_cells,
    count_classes,
    count_rows,
    count_values,
)
from sortal.summaries.moments import ColumnMoments, measure_columns

if TYPE_CHECKING:
    from sortal.data.columns import Values
    from sortal.data.sources import Batch
    from sortal.summaries.protocol import Summary


@dataclass(frozen=True, eq=False)
class BayesSummary:
    """The parts merge and subtract one by one; `cells` is None for the naive structure."""

    rows: RowCounts
    classes: ClassCounts
    values: ValueCounts
    moments: ColumnMoments
    cells: CellCounts | None

    @property
    def labels(self) -> Values:
        """The classes that have weight."""
        return self.classes.classes

    @property
    def exponent(self) -> int:
        """The unit of weight is 2**-exponent."""
        return self.classes.exponent

    def merge(self, other: Self) -> BayesSummary:
        """The summary of both sets of rows."""
        cells = None if self.cells is None or other.cells is None else self.cells.merge(other.cells)
        return BayesSummary(
            self.rows.merge(other.rows),
            self.classes.merge(other.classes),
            self.values.merge(other.values),
            self.moments.merge(other.moments),
            cells,
        )

    def subtract(self, other: Self) -> BayesSummary:
        """The summary without the other's rows."""
        both = self.cells is not None and other.cells is not None
        return BayesSummary(
            self.rows.subtract(other.rows),
            self.classes.subtract(other.classes),
            self.values.subtract(other.values),
            self.moments.subtract(other.moments),
            self.cells.subtract(other.cells) if both else None,  # type: ignore[union-attr, arg-type]
        )

    def recast(self, old: SummarizeBayes, new: SummarizeBayes) -> BayesSummary:
        """The same rows by another plan, in which categories without any value became numbers."""
        if old == new:
            return self
        stay = [place for place, j in enumerate(old.categories) if j in new.categories]
        counts = self.values
        values = ValueCounts(
            counts.classes,
            tuple(counts.values[place] for place in stay),
            tuple(counts.tables[place] for place in stay),
            counts.exponent,
        )
        rows = [old.numbers.index(j) if j in old.numbers else None for j in new.numbers]
        moments = self.moments.rearranged(rows, new.names)
        cells = self.cells
        if cells is not None and new.cells is not None and new.cells != old.cells:
            # a column that had no value is a category now: so far no row was whole
            cells = CellCounts.empty(len(new.cells))
        return BayesSummary(self.rows, self.classes, values, moments, cells)

    def to_bytes(self) -> bytes:
        """Versioned bytes: each part's bytes as one array of the whole."""
        parts: dict[str, Summary | None] = {
            "rows": self.rows,
            "classes": self.classes,
            "values": self.values,
            "moments": self.moments,
            "cells": self.cells,
        }
        blobs = {name: part.to_bytes() for name, part in parts.items() if part is not None}
        return pack("bayes", {}, {name: np.frombuffer(b, np.uint8) for name, b in blobs.items()})

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what `to_bytes` wrote."""
        got = unpack("bayes", data)
        cells = CellCounts.from_bytes(got.blob("cells")) if "cells" in got.arrays else None
        return cls(
            RowCounts.from_bytes(got.blob("rows")),
            ClassCounts.from_bytes(got.blob("classes")),
            ValueCounts.from_bytes(got.blob("values")),
            ColumnMoments.from_bytes(got.blob("moments")),
            cells,
        )


@dataclass(frozen=True)
class SummarizeBayes:
    """Block → BayesSummary; a picklable value that can be sent to where the rows are.

    `categories` are counted, `numbers` (called `names`) are measured, and the combinations of
    `cells` are counted too, unless None.
    """

    categories: tuple[int, ...]
    numbers: tuple[int, ...]
    names: tuple[str, ...]
    cells: tuple[int, ...] | None = None

    def __call__(self, batch: Batch) -> BayesSummary:
        """The summary of one block."""
        return BayesSummary(
            count_rows(batch),
            count_classes(batch),
            count_values(batch, self.categories),
            measure_columns(batch, self.numbers, self.names),
            None if self.cells is None else count_cells(batch, self.cells),
        )
