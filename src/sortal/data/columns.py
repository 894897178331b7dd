"""Columns of a block of rows, in the three forms in which they are read; and the schema of all."""

from __future__ import annotations

import json
import math
import numbers
from collections import Counter
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from sortal import native
from sortal.errors import ColumnError, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from sortal._typing import Codes, Counts, Float, Mask, Places
    from sortal.data.sources import Batch


MISSING = -1

UNKNOWN = -2


@dataclass(frozen=True)
class NumberColumn:
    """Numbers as float64; NaN is a missing value."""

    values: Float

    def __len__(self) -> int:
        return len(self.values)

    def missing(self) -> Mask:
        """Which rows have no value."""
        return np.isnan(self.values)

    def take(self, rows: NDArray[Any]) -> NumberColumn:
        """Some of the rows, by position or by a mask."""
        return NumberColumn(self.values[rows])


@dataclass(frozen=True)
class CategoryColumn:
    """Codes: ranks in this block's sorted values; negative where there is no value."""

    values: Values
    codes: Codes

    def __len__(self) -> int:
        return len(self.codes)

    def missing(self) -> Mask:
        """Which rows have no value."""
        return np.asarray(self.codes == MISSING)

    def take(self, rows: NDArray[Any]) -> CategoryColumn:
        """Some of the rows, by position or by a mask."""
        return CategoryColumn(self.values, self.codes[rows])

    def recode(self, place: dict[Value, int]) -> Codes:
        """Codes by another list of values: MISSING stays, what the list lacks becomes UNKNOWN."""
        at = [place.get(value, UNKNOWN) for value in self.values]
        # the last entry is what code -1 finds
        return np.array([*at, MISSING], dtype=np.int32)[self.codes]


@dataclass(frozen=True)
class IntegerColumn:
    """Categories that are whole numbers, without missing values, not yet ranked."""

    numbers: Counts

    def __len__(self) -> int:
        return len(self.numbers)

    def missing(self) -> Mask:
        """No row is without a value."""
        return np.zeros(len(self), dtype=bool)

    def take(self, rows: NDArray[Any]) -> IntegerColumn:
        """Some of the rows, by position or by a mask."""
        return IntegerColumn(self.numbers[rows])

    def ranked(self) -> CategoryColumn:
        """The same rows as codes."""
        values, codes = native.rank_integers(self.numbers)
        return CategoryColumn(tuple(values.tolist()), codes)


Column = NumberColumn | CategoryColumn | IntegerColumn


def as_categories(column: Column) -> CategoryColumn:
    """A column of categories as codes."""
    if isinstance(column, IntegerColumn):
        return column.ranked()
    assert isinstance(column, CategoryColumn)  # noqa: S101  (kinds are fixed by the schema)
    return column


def as_numbers(column: Column) -> Float:
    """A column of numbers as float64."""
    assert isinstance(column, NumberColumn)  # noqa: S101  (kinds are fixed by the schema)
    return column.values


def given_values(column: Column) -> list[Value | None]:
    """The values of a category column as they were given, row by row; None where there is none."""
    ranked = as_categories(column)
    listed = [*ranked.values, None]  # code -1 finds the last
    return [listed[v] for v in ranked.codes.tolist()]


def rank_array(raw: NDArray[Any], missing: Mask | None = None) -> CategoryColumn:
    """Codes of an array of sortable items of one type, with missing values marked by a mask."""
    codes = np.full(len(raw), MISSING, dtype=np.int32)
    keep = slice(None) if missing is None else ~missing
    values, inverse = np.unique(raw[keep], return_inverse=True)
    codes[keep] = inverse
    return CategoryColumn(tuple(_plain(value) for value in values.tolist()), codes)


def _plain(value: object) -> Value:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, bool | int | float) else str(value)


# --- Numbering: combinations of codes get one number each ----------------------------------------


def number_cells(codes: Codes, sizes: Sequence[int]) -> tuple[Codes, Places]:
    """The lexicographic rank of each row among the distinct rows, and a row of each rank."""
    key = np.zeros(len(codes), dtype=np.int64)
    span = 1
    for j, size in enumerate(sizes):
        if span * size >= 1 << 62:  # the running number would overflow: rank what there is so far
            seen, key32 = native.rank_integers(key)
            key, span = key32.astype(np.int64), len(seen)
        key = key * size + codes[:, j]
        span *= max(size, 1)
    found, cell = native.rank_integers(key)
    first = np.zeros(len(found), dtype=np.intp)
    first[cell[::-1]] = np.arange(len(codes))[::-1]
    return cell, first


# --- Recoding: a block's categories by the values of a fitted schema -----------------------------


def recode_columns(columns: Sequence[Column], listed: Sequence[Values], n_rows: int) -> Codes:
    """codes[place, i]: the rank of row i's value in listed[place]; MISSING or UNKNOWN below 0."""
    codes = np.empty((len(columns), n_rows), dtype=np.int32)
    direct: list[int] = []
    lists: list[tuple[int, Codes]] = []
    for place, (column, values) in enumerate(zip(columns, listed, strict=True)):
        found = _lookup(values) if isinstance(column, IntegerColumn) else None
        if found is not None:
            direct.append(place)
            lists.append(found)
        else:
            at = {value: v for v, value in enumerate(values)}
            codes[place] = as_categories(column).recode(at)
    numbers = [columns[place].numbers for place in direct]  # type: ignore[union-attr]
    codes[direct] = native.place_integers(numbers, lists, n_rows, UNKNOWN)
    return codes


def _lookup(values: Values) -> tuple[int, Codes] | None:
    """Whole numbers that lie close are looked up by position, without ranking the rows."""
    if not values or not all(isinstance(value, int) for value in values):
        return None
    whole = [int(value) for value in values]
    low, high = min(whole), max(whole)  # a declared order need not rise
    if high - low >= native.MAX_SPAN or low < -(2**63) or high >= 2**63:
        return None
    codes = np.full(high - low + 1, UNKNOWN, dtype=np.int32)
    codes[[value - low for value in whole]] = np.arange(len(whole))
    return low, codes


# --- The least and the greatest number of each column --------------------------------------------

# Rows that are read at a time. Neighbors in a row-major array come into the cache together: of
# 1,000,000 rows and 20 columns, one column after the other took 0.33 s, and this takes 0.06 s.
_ROWS = 4096


def column_ranges(columns: Sequence[Float]) -> list[tuple[float, float] | None]:
    """(least, greatest) of columns that have at least one row; None where all is missing."""
    if not columns:
        return []
    n = len(columns[0])
    low, high = np.full(len(columns), np.inf), np.full(len(columns), -np.inf)
    tile = np.empty((len(columns), min(n, _ROWS)))
    for start in range(0, n, _ROWS):
        rows = tile[:, : n - start]
        for j, x in enumerate(columns):
            rows[j] = x[start : start + _ROWS]
        least, greatest = rows.min(axis=1), rows.max(axis=1)
        if np.isnan(least).any():  # slower, and seldom needed
            least, greatest = np.fmin.reduce(rows, axis=1), np.fmax.reduce(rows, axis=1)
        np.fmin(low, least, out=low)
        np.fmax(high, greatest, out=high)
    ends = zip(low.tolist(), high.tolist(), strict=True)
    return [(a, b) if a <= b else None for a, b in ends]


# --- Values: what a category or a class label can be, and the one order they have -----------------


Value = str | bool | int | float

Values = tuple[Value, ...]

_MOST_OF_ONE_HASH = 1000


def order_of(value: Value) -> tuple[bool, Any]:
    """The sorting key of a value."""
    return isinstance(value, str), value


def crowded(values: Iterable[Value]) -> bool:
    """Whether so many values have one hash that sets of them would take the square of their time.

    Words have another hash in each process, but whole numbers beyond 2**61 can be chosen so. Values
    of a table that somebody reads are theirs; those of a file may be anybody's.
    """
    return max(Counter(map(hash, values)).values(), default=0) > _MOST_OF_ONE_HASH


def sort_values(values: Iterable[Value]) -> Values:
    """Distinct values in their order; of True and 1, which are equal, the number."""
    distinct: dict[Value, Value] = {}
    for value in values:
        if isinstance(distinct.get(value, True), bool):
            distinct.pop(value, None)
            distinct[value] = value
    return tuple(sorted(distinct, key=order_of))


def as_value(raw: object) -> Value | None:
    """A raw cell as a value; None if missing. Raises TypeError for what cannot be a category."""
    if is_missing(raw):
        return None
    if isinstance(raw, str):
        return str.__str__(raw)  # a plain str, also of NumPy's words and of enumerations of words
    if isinstance(raw, bool | np.bool_):
        return bool(raw)
    if isinstance(raw, np.timedelta64):  # NumPy counts it among the whole numbers
        raise TypeError("timedelta64")
    if isinstance(raw, numbers.Integral):
        return int(raw)
    if isinstance(raw, float | numbers.Real | Decimal):
        return _as_number(float(raw))
    if type(raw).__name__ in {"Interval", "Period"}:  # what pandas' cut and periods make
        return str(raw)
    raise TypeError(type(raw).__name__)


def _as_number(x: float) -> Value:
    if math.isinf(x):
        raise TypeError("infinity")
    return int(x) if x.is_integer() else x


# Only of these is it known that != gives a truth value: a cell may also hold an array.
_COMPARED = (float, np.generic)


def is_missing(raw: object) -> bool:
    """None, NaN, NaT and pandas' NA are missing values."""
    if raw is None or isinstance(raw, str):
        return raw is None
    if isinstance(raw, _COMPARED):
        return bool(raw != raw)  # noqa: PLR0124
    if isinstance(raw, Decimal):
        return raw.is_nan()
    return type(raw).__name__ in {"NAType", "NaTType"}


def union(a: Values, b: Values) -> tuple[Values, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The sorted union of two sorted lists, and where the items of each stand in it."""
    if a == b and (a is b or list(map(type, a)) == list(map(type, b))):
        same = np.arange(len(a))
        return a, same, same
    both = sort_values((*a, *b))
    place = {value: v for v, value in enumerate(both)}
    return both, places(place, a), places(place, b)


def kept(values: Values, keep: np.ndarray[Any, Any]) -> Values:
    """The values that a mask keeps."""
    return tuple(value for value, stays in zip(values, keep.tolist(), strict=True) if stays)


def places(place: dict[Value, int], values: Values) -> np.ndarray[Any, Any]:
    """Where each value stands, by a dictionary."""
    return np.fromiter((place[value] for value in values), dtype=np.intp, count=len(values))


# --- Values that JSON does not have, as it can say them: a missing value is null, an infinity is a
# word ---


def dump_json(value: object, indent: int | None = None) -> str:
    """A JSON text that every reader takes: it has neither NaN nor Infinity."""
    return json.dumps(
        _printable(value), indent=indent, ensure_ascii=False, default=str, allow_nan=False
    )


def _printable(value: object) -> object:
    if isinstance(value, dict):
        return {_key(name): _printable(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_printable(one) for one in value]
    if is_missing(value):
        return None
    return _key(value)


def _key(value: object) -> object:
    return str(float(value)) if isinstance(value, float) and not math.isfinite(value) else value


# --- Moments: dates and times as days since 1970-01-01, and the units in which they are written --

# How many of each unit of NumPy's a day has; the coarse ones first.
PER_DAY: Final[dict[Any, int]] = {
    "D": 1,
    "s": 86_400,
    "ms": 86_400_000,
    "us": 86_400_000_000,
    "ns": 86_400_000_000_000,
}


def brief_moments(days: Float, values: Float) -> Float:
    """Moments as whole seconds, or thousandths or millionths of one, with no value in between.

    `values` ascend, and each moment lies between the first and the last of them. What is at or
    below a moment is at or below its brief form, and the other way round. (S 30)
    """
    after = np.searchsorted(values, days, side="right")
    low, high = values[after - 1], values[after]
    brief = days.copy()
    for unit in ("us", "ms", "s"):  # the coarsest that fits is written last
        near = np.rint(days * PER_DAY[unit]) / PER_DAY[unit]
        fits = (low <= near) & (near < high)
        brief[fits] = near[fits]
    return brief


# --- The schema: which columns a table has, of which kind, with which values; and its classes -----
# A schema is itself a mergeable summary. What is in it does not depend on the order of blocks:
# values are the sorted union (an ordered category keeps the order its type declares).


Kind = Literal["number", "date", "category", "empty"]


@dataclass(frozen=True)
class ColumnSchema:
    """A column: its name, its kind and, for categories, its values.

    `order` lists the values whose order the column's type declares, () where it declares none;
    `values` are then these, followed by the sorted rest.

    Kinds: `number`; `date`, a number of days since 1970-01-01; `category`; `empty`, a column
    without any value, which agrees with every other kind.
    """

    name: str
    kind: Kind
    values: Values = ()
    order: Values = ()

    @property
    def ordered(self) -> bool:
        """Whether the column's type declares an order."""
        return bool(self.order)

    @property
    def is_number(self) -> bool:
        """Whether rows are read as float64."""
        return self.kind in ("number", "date")

    def merge(self, other: ColumnSchema) -> ColumnSchema:
        """The column of both."""
        if self.name != other.name:
            raise ColumnError(
                f"Columns {self.name!r} and {other.name!r} cannot be merged: "
                "blocks of one table have the same columns in the same order."
            )
        if "empty" in (self.kind, other.kind):
            return other if self.kind == "empty" else self
        if self.kind != other.kind:
            raise ColumnError(
                f"Column {self.name!r} is a {self.kind} in one block and a {other.kind} in "
                "another: convert it to one kind first."
            )
        return self._merge_values(other)

    def _merge_values(self, other: ColumnSchema) -> ColumnSchema:
        if self.ordered and other.ordered and self.order != other.order:
            raise ColumnError(
                f"Column {self.name!r} is an ordered category with the values {self.order!r} in "
                f"one block and {other.order!r} in another: give both the same declared order."
            )
        order = self.order or other.order
        listed = set(order)
        rest = sort_values(v for v in (*self.values, *other.values) if v not in listed)
        return replace(self, values=order + rest, order=order)


@dataclass(frozen=True)
class Schema:
    """The columns of a table, in order, and its classes."""

    columns: tuple[ColumnSchema, ...]
    classes: Values = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Which columns are numbers."""
        return tuple(j for j, column in enumerate(self.columns) if column.is_number)

    @cached_property
    def categories(self) -> tuple[int, ...]:
        """Which columns are categories."""
        return tuple(j for j, column in enumerate(self.columns) if not column.is_number)

    def joined(self, values: Mapping[int, Values], classes: Values) -> Schema:
        """The schema with the values of categories, and the classes, that rows have."""
        columns = list(self.columns)
        for j, seen in values.items():
            if seen and not columns[j].is_number:
                columns[j] = columns[j].merge(ColumnSchema(columns[j].name, "category", seen))
        return Schema(tuple(columns), union(self.classes, classes)[0])

    def merge(self, other: Schema) -> Schema:
        """The schema of both tables' rows."""
        if len(self.columns) != len(other.columns):
            raise ColumnError(
                f"A table of {counted(len(self.columns), 'column')} and one of "
                f"{counted(len(other.columns), 'column')} cannot be merged: blocks of one table "
                "have the same columns."
            )
        columns = (a.merge(b) for a, b in zip(self.columns, other.columns, strict=True))
        return Schema(tuple(columns), union(self.classes, other.classes)[0])


# Design: the columns of a schema as columns of a matrix, which linear methods calculate with.
# A number stays a number; a category becomes one indicator for each of its values (all levels), 1
# in the rows that have the value and 0 in the others. One column of the matrix is called a term.


@dataclass(frozen=True)
class Design:
    """The terms of a schema. Compiled loops take numbers first, then categories; people read the
    terms in the order of the table's columns: `loop_order` has the place of each among the former.
    """

    schema: Schema

    @property
    def numbers(self) -> tuple[int, ...]:
        """Which columns are numbers."""
        return self.schema.numbers

    @property
    def categories(self) -> tuple[int, ...]:
        """Which columns are categories."""
        return self.schema.categories

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many terms each column has."""
        columns = self.schema.columns
        return tuple(1 if column.is_number else len(column.values) for column in columns)

    @cached_property
    def owner(self) -> Places:
        """The column of each term."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def loop_order(self) -> Places:
        """The place of each term among the loops' terms: array[..., loop_order] is for people."""
        in_loops = np.array([*self.numbers, *self.categories], dtype=np.intp)
        start = np.zeros(len(self.sizes), dtype=np.intp)
        start[in_loops] = np.cumsum([0, *(self.sizes[j] for j in in_loops)])[:-1]
        parts = [np.arange(start[j], start[j] + size) for j, size in enumerate(self.sizes)]
        return np.concatenate(parts).astype(np.intp) if parts else np.empty(0, dtype=np.intp)

    @cached_property
    def fewer_terms(self) -> Places:
        """Terms from which the others follow: the indicators of a category add up to 1."""
        last = np.cumsum(self.sizes, dtype=np.intp)[list(self.categories)] - 1
        return np.setdiff1d(np.arange(self.n_terms), last)

    @property
    def n_terms(self) -> int:
        """How many terms there are."""
        return sum(self.sizes)

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """Names of the terms: the column's, or column=value."""
        names: list[str] = []
        for column in self.schema.columns:
            levels = [f"{column.name}={value}" for value in column.values]
            names += [column.name] if column.is_number else levels
        return tuple(names)

    def number_arrays(self, batch: Batch) -> list[Float]:
        """The number columns of a block."""
        return [as_numbers(batch.columns[j]) for j in self.numbers]

    def code_arrays(self, batch: Batch) -> Codes:
        """The category columns of a block, as ranks in the schema's values."""
        columns = [batch.columns[j] for j in self.categories]
        listed = [self.schema.columns[j].values for j in self.categories]
        return recode_columns(columns, listed, batch.n_rows)
