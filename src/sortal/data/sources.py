"""Sources: where blocks of rows come from.

How a source is cut into blocks depends on the source alone, never on threads, so that sums come
out the same on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from sortal.data.batch import Batch
from sortal.data.columns import HOLE, CategoryColumn, as_categories
from sortal.errors import LabelError

if TYPE_CHECKING:
    from sortal.data.columns import Column
    from sortal.data.schema import Schema
    from sortal.data.table import Table
    from sortal.data.values import Values
    from sortal.data.weights import Weights

# Cells a block holds at most: 32 MB of numbers. At least one block, however few the rows.
BLOCK_CELLS = 1 << 22


class Source(Protocol):
    """Blocks by number. There is at least one block; it may be empty."""

    @property
    def n_blocks(self) -> int:
        """How many blocks there are."""

    def block(self, b: int) -> Batch:
        """Block b, read now; safe to call from several threads."""


@dataclass(frozen=True)
class TableSource:
    """The rows of a table in memory, read by a schema.

    `places[j]` is the table's column for column j of the schema. `target` is a table of one column.
    `numbers_as` says how number columns are read: each by itself, all as one matrix, or as values
    that are equal or not, which makes categories of them.
    """

    table: Table
    schema: Schema
    places: tuple[int, ...]
    target: Table | None = None
    weights: Weights | None = None
    block_rows: int | None = None
    numbers_as: Literal["columns", "matrix", "values"] = "columns"

    @property
    def rows_per_block(self) -> int:
        """How many rows a block has (the last may have fewer)."""
        return self.block_rows or max(1, BLOCK_CELLS // max(1, len(self.places)))

    @property
    def n_blocks(self) -> int:
        """How many blocks there are; at least one."""
        return max(1, -(-self.table.n_rows // self.rows_per_block))

    def block(self, b: int) -> Batch:
        """Block b."""
        start = b * self.rows_per_block
        stop = min(start + self.rows_per_block, self.table.n_rows)
        units = None if self.weights is None else self.weights.units
        together = self.numbers_as == "matrix"
        kinds = enumerate(self.schema.columns)
        read = [j for j, column in kinds if not (together and column.is_number)]
        return Batch(
            start=start,
            n_rows=stop - start,
            columns=tuple(self._column(j, start, stop) for j in read),
            target=self._labels(start, stop),
            units=None if units is None else units[start:stop],
            exponent=0 if self.weights is None else self.weights.exponent,
            matrix=self.table.matrix(self.measured, start, stop) if together else None,
        )

    @property
    def measured(self) -> tuple[int, ...]:
        """Which of the table's columns are read as numbers."""
        pairs = zip(self.places, self.schema.columns, strict=True)
        return tuple(place for place, column in pairs if column.is_number)

    def _column(self, j: int, start: int, stop: int) -> Column:
        if self.schema.columns[j].is_number:
            by_value = self.numbers_as == "values"
            read = self.table.distinct if by_value else self.table.numbers
            return read(self.places[j], start, stop)
        return self.table.categories(self.places[j], start, stop)

    def _labels(self, start: int, stop: int) -> CategoryColumn | None:
        if self.target is None:
            return None
        labels = as_categories(self.target.categories(0, start, stop))
        if (labels.codes == HOLE).any():
            first = start + int((labels.codes == HOLE).argmax())
            raise LabelError(
                f"Input y contains NaN or None, first in row {first}: every row needs a label. "
                "Drop the rows without one."
            )
        refuse_measurements(labels.values)
        return labels


# What helps where values that look like amounts are names.
AS_TEXT = "read the column as text (on the command line, --text COLUMN)"


def refuse_measurements(values: Values) -> None:
    """Numbers with a fraction are measured, not named (whole ones are ints among values)."""
    measured = next((value for value in values if isinstance(value, float)), None)
    if measured is not None:
        raise LabelError(
            f"Unknown label type: continuous (y holds {measured!r}). Labels are words, whole "
            "numbers or truth values; for a number to be predicted, cut it into classes first, and "
            f"for numbers that are names, {AS_TEXT}."
        )
