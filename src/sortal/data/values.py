"""Values: what a category or a class label can be, and the one order they have.

Words, truth values and numbers. Numbers (and truth values, which compare as 0 and 1) sort before
words; a number with no fraction is kept as an int, so that 1 and 1.0 are one category.
"""

from __future__ import annotations

import json
import math
import numbers
from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sortal._typing import Float


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


def dump_json(value: Any, indent: int | None = None) -> str:
    """A JSON text that every reader takes: it has neither NaN nor Infinity."""
    return json.dumps(
        _plain(value), indent=indent, ensure_ascii=False, default=str, allow_nan=False
    )


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {_key(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if is_missing(value):
        return None
    return _key(value)


def _key(value: Any) -> Any:
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
