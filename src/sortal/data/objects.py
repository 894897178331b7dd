"""Arrays of Python objects: what they hold, and how it is read."""

from __future__ import annotations

import datetime as dt
import numbers
import reprlib
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.columns import HOLE, CategoryColumn
from sortal.data.values import as_value, is_hole, sort_values
from sortal.errors import InputError, InputTypeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from sortal.data.schema import Kind
    from sortal.data.values import Value

_DATES = dt.date | np.datetime64
_SPANS = dt.timedelta | np.timedelta64

# Ticks of a day in the units in which dates are kept.
_TICKS = {
    "D": 1,
    "h": 24,
    "m": 1440,
    "s": 86_400,
    "ms": 86_400 * 10**3,
    "us": 86_400 * 10**6,
    "ns": 86_400 * 10**9,
}


def objects_of(items: Sequence[Any]) -> NDArray[Any]:
    """A list as an array of objects, also where the items are themselves lists."""
    return np.fromiter(items, dtype=object, count=len(items))


def kind_of_objects(cells: Iterable[Any]) -> Kind:
    """Numbers are numbers and dates are dates, also as objects; with words, it is a category."""
    kinds = {_kind_of(cell) for cell in cells if not is_hole(cell)}
    if not kinds:
        return "empty"
    if kinds == {"date"}:
        return "date"
    return "number" if kinds in ({"number"}, {"span"}) else "category"


def _kind_of(cell: Any) -> str:
    if isinstance(cell, str | bool | np.bool_):
        return "category"
    if isinstance(cell, _DATES):
        return "date"
    if isinstance(cell, _SPANS):
        return "span"
    return "number" if isinstance(cell, numbers.Real | Decimal) else "category"


def rank_objects(cells: NDArray[Any], name: str) -> CategoryColumn:
    """Codes of a column of objects."""
    codes = np.empty(len(cells), dtype=np.int32)
    first_seen: dict[Any, int] = {}
    for i, cell in enumerate(cells):
        try:
            codes[i] = HOLE if is_hole(cell) else first_seen.setdefault(cell, len(first_seen))
        except TypeError:  # not hashable
            raise _not_a_category(cell, name) from None
    return rank_by_value(list(first_seen), codes, name)


def rank_by_value(items: Iterable[Any], codes: NDArray[Any], name: str) -> CategoryColumn:
    """Codes into a list of items, in any order, become ranks in the sorted values."""
    values = read_values(items, name)
    met = np.zeros(len(values) + 1, dtype=bool)  # a dictionary may list more than the rows hold
    met[codes] = True
    ranked = sort_values(
        v for v, is_met in zip(values, met[:-1], strict=True) if is_met and v is not None
    )
    place = {value: v for v, value in enumerate(ranked)}
    at = [place.get(value, HOLE) if value is not None else HOLE for value in values]
    return CategoryColumn(ranked, np.array([*at, HOLE], dtype=np.int32)[codes])


def read_values(items: Iterable[Any], name: str) -> list[Value | None]:
    """Items as values, None for holes; an error names what cannot be a category."""
    values = []
    for item in items:
        try:
            values.append(as_value(item))
        except TypeError:
            raise _not_a_category(item, name) from None
    return values


def numbers_from_objects(cells: NDArray[Any], name: str) -> NDArray[np.float64]:
    """A column of numbers or dates kept as objects, as float64."""
    numbers_read = np.empty(len(cells))
    for i, cell in enumerate(cells):
        try:
            numbers_read[i] = np.nan if is_hole(cell) else _as_number(cell)
        except (TypeError, ValueError, OverflowError):
            raise _not_a_number(cell, name) from None
    return numbers_read


def _as_number(cell: Any) -> float:
    if isinstance(cell, str):
        raise TypeError(cell)  # a word that looks like a number is still a word
    if isinstance(cell, _DATES | _SPANS):
        return _as_days(cell)
    if isinstance(cell, numbers.Integral) and abs(int(cell)) > 2**53:
        raise ValueError(cell)
    return float(cell)


def _as_days(cell: Any) -> float:
    if getattr(cell, "tzinfo", None) is not None:  # as libraries do it: the same instant in UTC
        cell = cell.astimezone(dt.UTC).replace(tzinfo=None)
    if hasattr(cell, "to_numpy"):  # pandas keeps nanoseconds, which Python's datetime has not
        cell = cell.to_numpy()
    unit = "m8" if isinstance(cell, _SPANS) else "M8"
    return float(days(np.array([cell], dtype=unit))[0])


def days(dates: NDArray[Any]) -> NDArray[np.float64]:
    """Dates or spans of time as days (dates: since 1970-01-01); NaT becomes NaN.

    The unit is not changed on the way: in nanoseconds, int64 ends in the year 2262. Whole days and
    the rest are divided apart, so that every unit gives the same number.
    """
    letter, (unit, _) = dates.dtype.kind, np.datetime_data(dates.dtype)
    if unit not in _TICKS:  # months and weeks are too coarse for a rest, picoseconds too fine
        unit = {"ps": "ns", "fs": "ns", "as": "ns"}.get(unit, "D" if letter == "M" else "s")
    ticks = dates.astype(f"{letter}8[{unit}]").view(np.int64)
    whole, rest = np.divmod(ticks, _TICKS[unit])
    return np.where(np.isnat(dates), np.nan, whole + rest / _TICKS[unit])


def _not_a_category(cell: Any, name: str) -> InputTypeError:
    return InputTypeError(
        f"Column {name!r} holds {reprlib.repr(cell)} ({type(cell).__name__}): a cell of a category "
        "column, that is, an argument must be a string, a truth value or a finite number. Convert "
        "the column, for example to strings, or drop it."
    )


def _not_a_number(cell: Any, name: str) -> InputError:
    return InputError(
        f"Column {name!r} is read as numbers, and holds {reprlib.repr(cell)} "
        f"({type(cell).__name__}), which cannot be read as one: whole numbers up to 2**53, "
        "decimals, dates and spans of time can."
    )
