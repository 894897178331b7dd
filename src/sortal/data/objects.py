"""Arrays of Python objects: what they hold, and how it is read."""

from __future__ import annotations

import datetime
import numbers
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.columns import HOLE, CategoryColumn
from sortal.data.values import as_value, is_hole, sort_values
from sortal.errors import InputError, InputTypeError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from sortal.data.schema import Kind

_NS_PER_DAY = 86_400 * 10**9


def kind_of_objects(cells: Iterable[Any]) -> Kind:
    """Numbers are numbers and dates are dates, also as objects; anything with words is a category."""
    kinds = {_kind_of(cell) for cell in cells if not is_hole(cell)}
    if not kinds:
        return "empty"
    return kinds.pop() if len(kinds) == 1 else "category"


def _kind_of(cell: Any) -> Kind:
    if isinstance(cell, str | bool | np.bool_):
        return "category"
    if isinstance(cell, datetime.date | np.datetime64):
        return "date"
    return "number" if isinstance(cell, numbers.Real | Decimal) else "category"


def rank_objects(cells: NDArray[Any], name: str) -> CategoryColumn:
    """Codes of a column of objects."""
    codes = np.empty(len(cells), dtype=np.int32)
    first_seen: dict[Any, int] = {}
    for i, cell in enumerate(cells):
        try:
            codes[i] = HOLE if is_hole(cell) else first_seen.setdefault(cell, len(first_seen))
        except (TypeError, ValueError):  # not hashable, or an array in a cell
            raise _not_a_category(cell, name) from None
    return rank_by_value(list(first_seen), codes, name)


def rank_by_value(items: Iterable[Any], codes: NDArray[Any], name: str) -> CategoryColumn:
    """Codes into a list of items, in any order, become ranks in the sorted values."""
    values = []
    for item in items:
        try:
            values.append(as_value(item))
        except TypeError:
            raise _not_a_category(item, name) from None
    ranked = sort_values(value for value in values if value is not None)
    place = {value: v for v, value in enumerate(ranked)}
    at = [HOLE if value is None else place[value] for value in values]
    return CategoryColumn(ranked, np.array([*at, HOLE], dtype=np.int32)[codes])


def numbers_from_objects(cells: NDArray[Any], name: str) -> NDArray[np.float64]:
    """A column of numbers or dates kept as objects, as float64."""
    numbers_read = np.empty(len(cells))
    for i, cell in enumerate(cells):
        try:
            numbers_read[i] = np.nan if is_hole(cell) else _as_number(cell)
        except (TypeError, ValueError):
            raise _not_a_number(cell, name) from None
    return numbers_read


def _as_number(cell: Any) -> float:
    if isinstance(cell, str):
        raise ValueError(cell)  # a word that looks like a number is still a word
    if isinstance(cell, datetime.date | np.datetime64):
        return float(days(np.array([cell], dtype="datetime64[ns]"))[0])
    if isinstance(cell, numbers.Integral) and abs(int(cell)) > 2**53:
        raise ValueError(cell)
    return float(cell)


def days(dates: NDArray[Any]) -> NDArray[np.float64]:
    """Dates or spans of time as days (dates: since 1970-01-01); NaT becomes NaN."""
    unit = "datetime64[ns]" if dates.dtype.kind == "M" else "timedelta64[ns]"
    ticks = dates.astype(unit).view(np.int64)
    return np.where(np.isnat(dates), np.nan, ticks / _NS_PER_DAY)


def _not_a_category(cell: Any, name: str) -> InputTypeError:
    return InputTypeError(
        f"Column {name!r} holds a {type(cell).__name__}: a cell of a category column, that is, an "
        "argument must be a string, a truth value or a finite number. Convert it or drop the column."
    )


def _not_a_number(cell: Any, name: str) -> InputError:
    return InputError(
        f"Column {name!r} was fitted as numbers, and now holds {cell!r} ({type(cell).__name__}), "
        "which cannot be read as one: whole numbers up to 2**53, decimals and dates can."
    )
