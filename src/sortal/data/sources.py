"""Tables and the blocks of rows that are read from them, one by one or gathered."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError, NarwhalsError

from sortal.data.columns import (
    MISSING,
    CategoryColumn,
    Column,
    NumberColumn,
    as_categories,
    as_numbers,
    kept,
    sort_values,
)
from sortal.data.table import ArrayTable, FrameTable, as_two_dimensional
from sortal.errors import ColumnError, InputTypeError, LabelError, WeightError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import Counts, Float, Places, TableLike
    from sortal.data.columns import ColumnSchema, Schema, Values


@dataclass(frozen=True)
class Batch:
    """Rows start .. start + n_rows - 1 of a source.

    `columns` follow the schema. `target` holds the labels (without missing values), None at
    predict. `units` are whole-number weights of 2**-exponent each, None where every row weighs one.
    Where numbers were read together, `matrix` has them, a row a row, and `columns` the others only.
    """

    start: int
    n_rows: int
    columns: tuple[Column, ...]
    target: CategoryColumn | None = None
    units: Counts | None = None
    exponent: int = 0
    matrix: NDArray[np.floating[Any]] | None = None

    def labels(self) -> CategoryColumn:
        """The labels of a block that was read for a fit."""
        if self.target is None:
            raise TypeError("this block was read without labels")
        return self.target

    def row_units(self) -> Counts:
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


# --- Sources: where blocks of rows come from -----------------------------------------------------
# How a source is cut into blocks depends on the source alone, never on threads, so that sums come
# out the same on every machine.

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

    table: DataTable
    schema: Schema
    places: tuple[int, ...]
    target: DataTable | None = None
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
        units = self.units
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
    def units(self) -> Counts | None:
        """The weights of the rows, in whole units; None where every row weighs one."""
        return None if self.weights is None else self.weights.units

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
        return None if self.target is None else read_labels(self.target, start, stop)


def read_labels(target: DataTable, start: int = 0, stop: int | None = None) -> CategoryColumn:
    """Rows start .. stop - 1 (by default all) of the labels, a table of one column."""
    end = target.n_rows if stop is None else stop
    labels = as_categories(target.categories(0, start, end))
    if (labels.codes == MISSING).any():
        first = start + int((labels.codes == MISSING).argmax())
        raise LabelError(
            f"Input y contains NaN or None, first in row {first}: every row needs a label. "
            "Drop the rows without one."
        )
    refuse_measurements(labels.values)
    return labels


def read_column(
    table: DataTable, j: int, schema: ColumnSchema | None = None
) -> NumberColumn | CategoryColumn:
    """All rows of a column, by its own kind or that of a schema: numbers, or codes with values."""
    if (schema or table.column_schema(j)).kind == "category":
        return as_categories(table.categories(j, 0, table.n_rows))
    return table.numbers(j, 0, table.n_rows)


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


# --- A table: whatever was given, behind one face ------------------------------------------------


DataTable = ArrayTable | FrameTable

# What makes a data frame of one that is lazy; others have collect(), as polars has.
_READ_BY = {
    "dask": "compute()",
    "duckdb": "df()",
    "ibis": "to_pandas()",
    "pyspark": "toPandas()",
    "pyspark[connect]": "toPandas()",
    "sqlframe": "toPandas()",
}


def read_table(X: TableLike) -> DataTable:
    """A data frame, a two-dimensional array or a list of rows, as a table."""
    if _is_sparse(X):
        raise InputTypeError(
            "Sparse data was passed, but dense data is required: use X.toarray() where memory "
            "allows."
        )
    frame = read_frame(X)
    return ArrayTable(as_two_dimensional(X)) if frame is None else FrameTable(frame)


def read_frame(X: object) -> nw.DataFrame[Any] | None:
    """A data frame of any library, or None for what is not a data frame."""
    try:
        frame = nw.from_native(X, pass_through=True)
    except DuplicateError as error:
        line = " ".join(str(error).split())
        raise ColumnError(
            f"Two columns of this table have the same name ({line}): rename them, so "
            "that each name occurs once."
        ) from None
    except NarwhalsError as error:
        raise ColumnError(f"This data frame cannot be read ({error}).") from None
    if isinstance(frame, nw.LazyFrame):
        library = str(frame.implementation)
        made = _READ_BY.get(library, "collect()")
        raise InputTypeError(
            f"A lazy {library} frame was given, whose rows are not read yet: call its {made} first."
        )
    return frame if isinstance(frame, nw.DataFrame) else None


def _is_sparse(X: object) -> bool:
    return type(X).__module__.startswith(("scipy.sparse", "sparse")) and hasattr(X, "tocsr")


# --- Gathering: blocks as one, for learners that look at all rows together -----------------------


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
        batch.take(rows),
        columns=tuple(_take(column, rows) for column in batch.columns),
        target=_narrowed(batch.labels(), rows),
    )


def _take(column: Column, rows: Places) -> Column:
    return _narrowed(column, rows) if isinstance(column, CategoryColumn) else column.take(rows)


def _narrowed(column: CategoryColumn, rows: Places) -> CategoryColumn:
    codes = column.codes[rows]
    met = np.zeros(len(column.values) + 1, dtype=bool)
    met[codes] = True  # a missing value's code, -1, finds the last
    rank = np.cumsum(met, dtype=np.int32) - 1
    rank[-1] = MISSING
    return CategoryColumn(kept(column.values, met[:-1]), rank[codes])


# --- Weights as whole numbers of units, so that sums are exact in any order -----------------------


_TOTAL_BITS = 48

_LEAST_TOTAL = 1e-50


@dataclass(frozen=True)
class Weights:
    """`units` whole numbers of 2**-exponent each; None where every row weighs one."""

    units: Counts | None
    exponent: int = 0


def read_weights(given: ArrayLike | None, n_rows: int, exponent: int | None = None) -> Weights:
    """Checked weights in units; `exponent` fixes the unit where a summary already has one."""
    if given is None:
        return Weights(None)
    weights = _checked(given, n_rows)
    is_whole = bool((weights == np.floor(weights)).all())
    if is_whole and not exponent:
        return Weights(_rounded(weights, 0))
    power = exponent if exponent else _exponent_for(_exact_total(weights))
    return Weights(_rounded(weights, power), power)


def _checked(given: ArrayLike, n_rows: int) -> Float:
    weights = _as_numbers(given)
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise WeightError(
            f"sample_weight.shape == {weights.shape}, expected {(n_rows,)}: give one number a row."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise WeightError(
            "sample_weight has negative, missing or infinite values: weights must be finite and "
            "at least 0 (0 leaves a row out)."
        )
    if n_rows and not weights.any():
        raise WeightError(
            "sample_weight is zero for every row, so no row is left to learn from: give at least "
            "one row a weight above 0."
        )
    return weights


def _as_numbers(given: ArrayLike) -> Float:
    try:
        array: np.ma.MaskedArray[Any, Any] = np.ma.asarray(given)
        if array.dtype.kind not in "biufO":
            raise TypeError(f"its type is {array.dtype}")  # noqa: TRY301  (one message for all)
        return np.asarray(np.ma.filled(array.astype(np.float64), np.nan))
    except (TypeError, ValueError, OverflowError) as error:
        raise WeightError(
            f"sample_weight holds something that is not a number ({error}): give one "
            "non-negative number a row."
        ) from None


def _exact_total(weights: Float) -> float:
    """The sum, rounded once: near a power of two the order of rows would else choose the unit."""
    try:
        return math.fsum(weights.tolist())
    except OverflowError:
        return math.inf


def _total(weights: Float) -> float:
    """The sum; infinity, and no warning, beyond the largest float."""
    with np.errstate(over="ignore"):
        return float(weights.sum())


def _exponent_for(total: float) -> int:
    """The finest unit that keeps `total` below 2**48 units.

    Never 0, which would say that weights are copies: then one finer.
    """
    if total < _LEAST_TOTAL:
        raise WeightError(
            f"sample_weight sums to {total:.3g}, and products of such weights cannot be written "
            f"down: multiply them by a constant, so that their sum is {_LEAST_TOTAL:g} or more."
        )
    return _TOTAL_BITS - math.frexp(total)[1] or 1


def _rounded(weights: Float, exponent: int) -> Counts:
    with np.errstate(over="ignore"):  # what is too large is refused below
        units = np.rint(np.ldexp(weights, exponent))
    if _total(units) >= 2.0**62:
        raise WeightError(
            f"sample_weight sums to {_total(weights):.3g}, too much to be counted exactly in units "
            f"of 2**{-exponent}: divide the weights by a constant."
        )
    if len(units) and not units.any():  # in a unit that an earlier call has fixed
        raise WeightError(
            f"sample_weight is at most {weights.max():.3g}, which rounds to 0 in units of "
            f"2**{-exponent}, fixed by the weights of the first call: give weights of that "
            "size, or fit all rows at once."
        )
    return units.astype(np.int64)
