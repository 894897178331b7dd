"""Counts: rows and missing values; weight by class; weight by class, attribute and value.

Counts are whole numbers of units of 2**-exponent. A class or a value is listed if and only if it
has weight, so that taking rows out leaves what the rest alone would have given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from sortal import native
from sortal._typing import Codes, Counts
from sortal.data.columns import (
    CategoryColumn,
    Column,
    IntegerColumn,
    Values,
    as_categories,
    as_numbers,
    kept,
    number_cells,
    union,
)
from sortal.data.table import infinite, too_large
from sortal.errors import InputError, counted
from sortal.modelfile.fields import need
from sortal.modelfile.record import limits, record
from sortal.summaries.class_moments import ClassMoments, measure_classes
from sortal.summaries.moments import ColumnMoments, measure_columns
from sortal.summaries.protocol import (
    SummaryOfParts,
    exponent,
    refuse_negative,
    refuse_other_columns,
    refuse_overflow,
    rescale,
    scatter,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sortal._typing import Places
    from sortal.data.sources import Batch

    CheckTable = Callable[[Counts, str], None]
    Check = Callable[[Counts, str], None]
    from sortal._typing import Float
    from sortal.data.columns import Schema


@record()
class RowCounts:
    """The number of rows, and of missing values in each column; weight 0 does not count."""

    rows: int = limits(least=0)
    missing: Counts = limits("attributes", least=0)

    def merge(self, other: Self) -> RowCounts:
        """The counts of both."""
        refuse_other_columns(self.missing, other.missing)
        return RowCounts(self.rows + other.rows, self.missing + other.missing)

    def subtract(self, other: Self) -> RowCounts:
        """The counts without the other's rows."""
        refuse_other_columns(self.missing, other.missing)
        refuse_negative(np.array([self.rows - other.rows]), "the number of rows")
        refuse_negative(self.missing - other.missing, "the number of missing values")
        return RowCounts(self.rows - other.rows, self.missing - other.missing)


@record()
class ClassCounts:
    """Weight by class."""

    classes: Values = limits("labels")
    units: Counts = limits("labels", least=0)
    exponent: int = exponent()

    def merge(self, other: Self) -> ClassCounts:
        """The counts of both."""
        return self._combine(other, 1, refuse_overflow)

    def subtract(self, other: Self) -> ClassCounts:
        """The counts without the other's rows."""
        return self._combine(other, -1, refuse_negative)

    def _combine(self, other: Self, sign: int, check: CheckTable) -> ClassCounts:
        exponent = max(self.exponent, other.exponent)
        classes, a, b = union(self.classes, other.classes)
        units = np.zeros(len(classes), dtype=np.int64)
        units[a] += rescale(self.units, self.exponent, exponent)
        units[b] += sign * rescale(other.units, other.exponent, exponent)
        check(units, "the weight of a class")
        keep = units > 0
        return ClassCounts(kept(classes, keep), units[keep], exponent)


@record()
class ValueCounts:
    """Weight by attribute, value and class: tables[j][v, k]."""

    classes: Values = limits("labels")
    values: tuple[Values, ...] = limits("attributes")
    tables: tuple[Counts, ...] = limits("attributes", "*", "labels", least=0)
    exponent: int = exponent()

    def check(self) -> None:
        """Refuse tables of other values."""
        sizes = list(map(len, self.values))
        need(list(map(len, self.tables)) == sizes, "a table of other values")

    def merge(self, other: Self) -> ValueCounts:
        """The counts of both."""
        return self._combine(other, 1, refuse_overflow)

    def subtract(self, other: Self) -> ValueCounts:
        """The counts without the other's rows."""
        return self._combine(other, -1, refuse_negative)

    def _combine(self, other: Self, sign: int, check: CheckTable) -> ValueCounts:
        refuse_other_columns(self.values, other.values)
        exponent = max(self.exponent, other.exponent)
        classes, a, b = union(self.classes, other.classes)
        values, tables = [], []
        for j in range(len(self.values)):
            both, u, v = union(self.values[j], other.values[j])
            shape = len(both), len(classes)
            table = scatter(rescale(self.tables[j], self.exponent, exponent), u, a, shape)
            table[np.ix_(v, b)] += sign * rescale(other.tables[j], other.exponent, exponent)
            check(table, "the weight of a value")
            keep = np.any(table, axis=1)
            values.append(kept(both, keep))
            tables.append(table[keep])
        return _without_empty_classes(classes, tuple(values), tuple(tables), exponent)


def count_rows(batch: Batch) -> RowCounts:
    """The rows and missing values of a block."""
    if batch.units is None:
        missing = [int(np.count_nonzero(column.missing())) for column in batch.columns]
        return RowCounts(batch.n_rows, np.array(missing, dtype=np.int64))
    # whole-number weights are copies, sizes included; of fractional ones rows are counted
    copies = batch.units if batch.exponent == 0 else (batch.units > 0).astype(np.int64)
    missing = [int(copies[column.missing()].sum()) for column in batch.columns]
    return RowCounts(int(copies.sum()), np.array(missing, dtype=np.int64))


def count_classes(batch: Batch) -> ClassCounts:
    """The weight of each class in a block."""
    labels = batch.labels()
    units = np.zeros(len(labels.values), dtype=np.int64)
    if batch.units is None:
        units += np.bincount(labels.codes, minlength=len(units))
    else:
        np.add.at(units, labels.codes, batch.units)
    keep = units > 0
    return ClassCounts(kept(labels.values, keep), units[keep], batch.exponent)


def count_values(batch: Batch, columns: Sequence[int]) -> ValueCounts:
    """The weight of each value of the given columns in each class of a block. (ZM 19.19)"""
    labels = batch.labels()
    counted = _count_integers(batch, columns)
    values, tables = [], []
    for j in columns:
        listed, table = counted[j] if j in counted else _count_codes(batch, batch.columns[j])
        keep = np.any(table, axis=1)
        values.append(listed if keep.all() else kept(listed, keep))
        tables.append(table if keep.all() else table[keep])
    return _without_empty_classes(labels.values, tuple(values), tuple(tables), batch.exponent)


def _count_integers(batch: Batch, columns: Sequence[int]) -> dict[int, tuple[Values, Counts]]:
    """Whole numbers are counted as they are, without ranking them first, where they lie close."""
    labels = batch.labels()
    chosen = [j for j in columns if isinstance(batch.columns[j], IntegerColumn)]
    numbers = [batch.columns[j].numbers for j in chosen]  # type: ignore[union-attr]
    n_classes = len(labels.values)
    # a table over the span must not outgrow the rows it counts, nor all tables together 64 MB
    room = (1 << 24) // max(1, len(numbers) * n_classes)
    span = min(native.MAX_SPAN, max(256, 4 * batch.n_rows), max(64, room))
    found = native.count_integers(numbers, labels.codes, n_classes, batch.units, span)
    counted: dict[int, tuple[Values, Counts]] = {}
    for j, result in zip(chosen, found, strict=True):
        if result is None:
            continue
        low, table = result
        present = np.flatnonzero(table.any(axis=1))
        counted[j] = tuple((present + low).tolist()), table[present]
    return counted


def _count_codes(batch: Batch, column: Column) -> tuple[Values, Counts]:
    labels, categories = batch.labels(), as_categories(column)
    table = native.count_codes(
        categories.codes, len(categories.values), labels.codes, len(labels.values), batch.units
    )
    return categories.values, table


def _without_empty_classes(
    classes: Values, values: tuple[Values, ...], tables: tuple[Counts, ...], exponent: int
) -> ValueCounts:
    """A class without any value (all missing values, or all weights zero) is not listed."""
    keep = np.zeros(len(classes), dtype=bool)
    for table in tables:
        keep |= table.any(axis=0)
    if not keep.all():
        classes, tables = kept(classes, keep), tuple(table[:, keep] for table in tables)
    return ValueCounts(classes, values, tables, exponent)


def aligned(table: Counts, values: Values, classes: Values, to: tuple[Values, Values]) -> Counts:
    """A table read over the values and classes of a schema; absent ones have no weight."""
    rows = {value: v for v, value in enumerate(to[0])}
    columns = {label: k for k, label in enumerate(to[1])}
    wide = np.zeros((len(to[0]), len(to[1])), dtype=np.int64)
    at = [rows[value] for value in values], [columns[label] for label in classes]
    wide[np.ix_(*at)] = table
    return wide


# Cells: weight by class of each combination of values that occurs (the joint table, seen cells).
# A row with a missing value in any of the columns belongs to no cell and is left out.


@record()
class CellCounts:
    """units[c, k]: weight of class k in cell c; codes[c, j]: rank of its value among values[j].

    Cells are in lexicographic order of their values.
    """

    classes: Values = limits("labels")
    values: tuple[Values, ...] = limits("attributes")
    codes: Codes = limits("cells", "attributes", least=0)
    units: Counts = limits("cells", "labels", least=0)
    exponent: int = exponent()

    def check(self) -> None:
        """Refuse codes without a value."""
        sizes = np.array(list(map(len, self.values)), dtype=np.int64)
        need((self.codes < sizes).all(), "codes without a value")

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


def _recode(codes: Codes, places: list[Places]) -> Codes:
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


# --- What the discriminants need of the rows: class moments, and counts of rows and missing values


# Memory for one scatter matrix a class, beyond which a table is refused.
MOST_BYTES = 1 << 30


@record()
class DiscriminantSummary(SummaryOfParts):
    """`rows` counts all rows and missing values, `sizes` the measured rows by class.

    Whole-number weights are copies, in sizes too; of rows with fractional weights each counts one.
    """

    rows: RowCounts
    sizes: ClassCounts
    moments: ClassMoments

    @property
    def labels(self) -> Values:
        """The classes that have weight."""
        return self.moments.classes

    @property
    def class_weights(self) -> Counts:
        """Their weights, in units."""
        return self.moments.units

    @property
    def exponent(self) -> int:
        """The unit of weight is 2**-exponent."""
        return self.moments.exponent

    def subtract(self, other: Self) -> Self:
        """The summary without the other's rows."""
        self.sizes.subtract(other.sizes)  # if rows are refused, it is by their class
        return super().subtract(other)


@record(eq=True)
class Fill:
    """What fills missing values: a number per number column, a share per category value."""

    numbers: tuple[float, ...] = limits("numbers")
    values: tuple[Values, ...] = limits("categories")
    shares: tuple[tuple[float, ...], ...] = limits("categories", least=0.0)

    def over(self, values: Sequence[Values]) -> Float:
        """The fill of every term, for longer lists of values."""
        shares = []
        for mine, some, listed in zip(self.values, self.shares, values, strict=True):
            share = dict(zip(mine, some, strict=True))
            shares += [share.get(value, 0.0) for value in listed]
        return np.array([*self.numbers, *shares])


@dataclass(frozen=True)
class SummarizeDiscriminant:
    """Block → DiscriminantSummary. Incomplete rows are dropped, unless there is a `fill`."""

    schema: Schema
    numbers: tuple[int, ...]
    categories: tuple[int, ...]
    fill: Fill | None = None

    def __call__(self, batch: Batch) -> DiscriminantSummary:
        """The summary of one block."""
        words = [as_categories(batch.columns[j]) for j in self.categories]
        # a column without any value has no term in which its missing values would show
        hollow = self.fill is None and not all(column.values for column in words)
        moments = None if hollow else self._measure(batch, words, None)
        if moments is not None and self.fill is None:
            sizes = sizes_of(batch, None)
            nothing = np.zeros(len(batch.columns), dtype=np.int64)
            return DiscriminantSummary(RowCounts(int(sizes.units.sum()), nothing), sizes, moments)
        # only now, when something was not finite, are the columns looked at one by one
        self._refuse_infinite(batch)
        whole = None if moments is not None else whole_rows(batch)
        if moments is None:
            moments = self._measure(batch, words, whole)
        if moments is None:
            raise self._overflow(batch)
        return DiscriminantSummary(count_rows(batch), sizes_of(batch, whole), moments)

    def _measure(
        self, batch: Batch, words: list[CategoryColumn], rows: Places | None
    ) -> ClassMoments | None:
        columns = self.schema.columns
        values = [column.values for column in words]
        if self.fill is not None:
            values = [union(a, b)[0] for a, b in zip(values, self.fill.values, strict=True)]
        self._refuse_too_wide(values, len(batch.labels().values))
        places = [{value: v for v, value in enumerate(listed)} for listed in values]
        pairs = zip(words, places, strict=True)
        return measure_classes(
            [as_numbers(batch.columns[j]) for j in self.numbers],
            [column.recode(place) for column, place in pairs],
            values,
            batch.labels(),
            batch.units,
            batch.exponent,
            rows,
            tuple(columns[j].name for j in self.numbers),
            tuple(columns[j].name for j in self.categories),
            None if self.fill is None else self.fill.over(values),
        )

    def _refuse_too_wide(self, values: Sequence[Values], n_classes: int) -> None:
        """A scatter matrix a class must fit into memory."""
        n_terms = len(self.numbers) + sum(map(len, values))
        size = 8 * n_classes * n_terms**2
        if size > MOST_BYTES:
            widest = max(range(len(values)), key=lambda c: len(values[c]), default=None)
            words = ""
            if widest is not None:
                name = self.schema.columns[self.categories[widest]].name
                words = f" (of which {name!r} has {len(values[widest])} as a category)"
            raise InputError(
                f"{counted(n_classes, 'class', 'classes')} and {counted(n_terms, 'column')}{words} "
                f"need matrices of {size / 2**30:.1f} GB: leave out identifiers, join rare values, "
                "or reduce the number of columns first."
            )

    def _refuse_infinite(self, batch: Batch) -> None:
        for j in self.numbers:
            if np.isinf(as_numbers(batch.columns[j])).any():
                raise infinite(self.schema.columns[j].name)

    def _overflow(self, batch: Batch) -> Exception:
        large = [np.nanmax(np.abs(as_numbers(batch.columns[j])), initial=0.0) for j in self.numbers]
        return too_large(self.schema.columns[self.numbers[int(np.argmax(large))]].name)


def whole_rows(batch: Batch) -> Places:
    """The rows without any missing value."""
    missing = np.zeros(batch.n_rows, dtype=bool)
    for column in batch.columns:
        missing |= column.missing()
    return np.flatnonzero(~missing)


def sizes_of(batch: Batch, rows: Places | None) -> ClassCounts:
    """How many rows each class has."""
    labels, units = batch.labels(), batch.units
    codes = labels.codes
    if rows is not None:
        codes, units = codes[rows], None if units is None else units[rows]
    n = len(labels.values)
    if units is None:
        sizes = np.bincount(codes, minlength=n)
    elif batch.exponent == 0:
        sizes = np.zeros(n, dtype=np.int64)
        np.add.at(sizes, codes, units)
    else:
        sizes = np.bincount(codes[units > 0], minlength=n)
    keep = sizes > 0
    return ClassCounts(kept(labels.values, keep), sizes[keep].astype(np.int64))


# --- What discrete Bayes needs: counts, moments and, for the joint table, cells ------------------


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
