"""What discrete Bayes needs of the rows: counts, moments and, for the joint table, cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sortal.modelfile.record import record
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
from sortal.summaries.protocol import SummaryOfParts

if TYPE_CHECKING:
    from sortal._typing import Counts
    from sortal.data.columns import Values
    from sortal.data.sources import Batch


@record()
class BayesSummary(SummaryOfParts):
    """What discrete Bayes reads; `cells` is None for the naive structure."""

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
    def class_weights(self) -> Counts:
        """Their weights, in units."""
        return self.classes.units

    @property
    def exponent(self) -> int:
        """The unit of weight is 2**-exponent."""
        return self.classes.exponent

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
