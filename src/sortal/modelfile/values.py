"""Plain data: what of Python's values JSON can hold, and back, with nothing lost on the way.

Numbers that JSON does not have are {"number": "inf"}; a mapping, whose keys may be labels of any
type or tuples of labels, is {"pairs": [[key, value], …]}; arrays and tuples are lists.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.columns import Design, crowded, order_of
from sortal.errors import FormatError, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal._typing import Plain
    from sortal.data.columns import Schema, Values

# Numbers without a JSON of their own.
ODD = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}

# What is deeper, or holds more, is no option but data.
_MOST_DEPTH, _MOST_ITEMS = 8, 100_000


class NotPlainError(Exception):
    """A value that is no plain data: a function, an iterator, an object."""


def to_plain(value: object) -> Plain:
    """A value as JSON has it, or NotPlainError."""
    return _Plain().of(value, _MOST_DEPTH)


class _Plain:
    """One conversion, which counts what it meets."""

    def __init__(self) -> None:
        self.left = _MOST_ITEMS

    def of(self, value: object, depth: int) -> Plain:
        self.left -= 1
        if depth == 0 or self.left < 0:
            raise NotPlainError
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int):
            return value
        if isinstance(value, str):
            return writable(str.__str__(value))
        if isinstance(value, float):
            return number_out(value)
        if isinstance(value, Mapping):
            pairs = value.items()
            return {"pairs": [[self.of(k, depth - 1), self.of(v, depth - 1)] for k, v in pairs]}
        return [self.of(item, depth - 1) for item in _items(value)]


def _items(value: object) -> Sequence[object]:
    if isinstance(value, list | tuple):
        return value
    if hasattr(value, "__array__"):  # arrays, and the series of data frames
        array = np.asarray(value)
        if array.ndim and array.dtype.kind in "biufUO":
            return list(array.tolist())
    raise NotPlainError


def from_plain(data: object) -> Any:
    """What `to_plain` made JSON of: no deeper, and no more."""
    return _Given().of(data, _MOST_DEPTH)


class _Given:
    """One conversion back, which counts what it meets as `_Plain` does."""

    def __init__(self) -> None:
        self.left = _MOST_ITEMS

    def of(self, data: object, depth: int) -> Any:
        self.left -= 1
        if depth == 0 or self.left < 0:
            raise FormatError("An option is deeper, or holds more, than options do: damaged?")
        if isinstance(data, str):
            return readable(data)
        if isinstance(data, list):
            return [self.of(item, depth - 1) for item in data]
        if not isinstance(data, dict):
            return data
        if set(data) == {"pairs"} and isinstance(data["pairs"], list):
            return dict(self.pairs(data["pairs"], depth))
        return number_in(data)

    def pairs(self, items: list[Any], depth: int) -> list[tuple[Any, Any]]:
        found: list[tuple[Any, Any]] = []
        for item in items:
            key = item[0] if isinstance(item, list) and len(item) == 2 else None
            if not (_all_labels(key) if isinstance(key, list) else _is_value(key)):
                raise FormatError(f"{_brief(item)} is no pair of a label and what belongs to it.")
            read = self.of(key, depth - 1)
            found.append((tuple(read) if isinstance(read, list) else read, item[1]))
        if crowded(key for key, _ in found):
            raise FormatError(f"The labels of {_brief(items)} cannot be told apart in good time.")
        return [(key, self.of(value, depth - 1)) for key, value in found]


def _all_labels(key: list[Any]) -> bool:
    """Whether a list is a tuple of labels, among which None is any other."""
    return all(label is None or _is_value(label) for label in key)


def number_out(x: float) -> float | dict[str, str]:
    """A number as JSON has it."""
    if math.isfinite(x):
        return x
    return {"number": "nan" if math.isnan(x) else "inf" if x > 0 else "-inf"}


def number_in(data: object) -> float:
    """A number from JSON."""
    if type(data) is float:
        return data
    if type(data) is int and abs(data) <= 2**1023:
        return float(data)
    word = data["number"] if isinstance(data, dict) and set(data) == {"number"} else None
    if isinstance(word, str) and word in ODD:
        return ODD[word]
    raise FormatError(f"{_brief(data)} is no number.")


def writable(text: str) -> str:
    """Text that UTF-8 can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise FormatError(
            f"The text {_brief(text)} holds half a character, which UTF-8 cannot write: mend it "
            "where it comes from, and fit again."
        ) from None
    return text


def readable(data: object) -> str:
    """Text from JSON."""
    if not isinstance(data, str):
        raise FormatError(f"{_brief(data)} is no text.")
    return writable(data)


def values_in(data: object, *, ordered: bool = True) -> Values:
    """Values of a category or labels, each once; sorted, unless an order is declared elsewhere."""
    if not isinstance(data, list) or not all(map(_is_value, data)):
        raise FormatError(f"{_brief(data)} is no list of values: words, numbers or truth values.")
    values = tuple(readable(v) if isinstance(v, str) else v for v in data)
    if ordered and not all(order_of(a) < order_of(b) for a, b in pairwise(values)):
        raise FormatError(f"The values {_brief(data)} are not in order, each once.")
    if crowded(values):
        raise FormatError(f"The values {_brief(data)} cannot be told apart in good time: damaged?")
    if len(set(values)) != len(values):
        raise FormatError(f"Of the values {_brief(data)} one is listed twice.")
    return values


def _is_value(value: object) -> bool:
    return isinstance(value, str | bool | int) or type(value) is float


def _brief(data: object) -> str:
    """What a message shows of anything, however large or deep."""
    if isinstance(data, list | dict):
        return f"a {'list' if isinstance(data, list) else 'object'} of {counted(len(data), 'item')}"
    if isinstance(data, int) and abs(data) >= 1 << 200:
        return f"a whole number of {counted(data.bit_length(), 'bit')}"
    shown = repr(data)
    return shown if len(shown) <= 60 else f"{shown[:57]}…"


# Where a field of a layout is read or written: the place, the lengths known there, the arrays.


class Store:
    """Where arrays are put, or found by name: one for writing, and one for reading."""

    def put(self, name: str, array: NDArray[Any]) -> str:
        """Keep an array; its name, which may be that of an equal one."""
        raise TypeError(f"{name}, {array.shape}: this store is for reading")

    def get(self, name: str, *codes: str) -> NDArray[Any]:
        """The array of a name, if it is of one of these types."""
        raise TypeError(f"{name}, {codes}: this store is for writing")


@dataclass(eq=False, slots=True)
class Scope:
    """Where in a record one is, which lengths are known there, and where arrays are.

    `given` are the lengths of the schema, `sizes` all that are known so far.
    """

    schema: Schema
    store: Store
    path: str
    given: Mapping[str, int]
    sizes: dict[str, int]
    outer: Scope | None = None
    passed: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, schema: Schema, store: Store, path: str) -> Scope:
        """The outermost scope."""
        given = _sizes(schema)
        return cls(schema, store, path, given, dict(given))

    def at(self, name: str) -> Scope:
        """The place of a field."""
        place = f"{self.path}.{name}" if self.path else name
        known = self.given, self.sizes, self.outer, self.passed
        return Scope(self.schema, self.store, place, *known)

    def inside(self, passed: Mapping[str, str]) -> Scope:
        """The scope of a nested record."""
        sizes = dict(self.given)
        return Scope(self.schema, self.store, self.path, self.given, sizes, self, passed)

    def fits(self, dim: str, size: int) -> bool:
        """Whether a length is what its name stands for; a new name stands for it from now on."""
        name, _, more = dim.partition("+")
        size -= int(more or 0)
        if name in self.passed and self.outer is not None:
            return self.outer.fits(self.passed[name], size)
        if name.isdigit():
            return size == int(name)
        return size >= 0 and self.sizes.setdefault(name, size) == size

    def an_object(self, data: object) -> dict[str, object]:
        """An object of JSON."""
        if not isinstance(data, dict):
            raise self.wrong("is no object")
        return data

    def need(self, holds: bool, words: str) -> None:
        """Refuse what does not hold."""
        if not holds:
            raise self.wrong(words)

    def wrong(self, words: str) -> FormatError:
        """What is wrong here."""
        return FormatError(
            f"{self.path!r} {words}: the file is damaged, or was not written by sortal."
        )


def _sizes(schema: Schema) -> dict[str, int]:
    design = Design(schema)
    return {
        "columns": len(schema.columns),
        "classes": len(schema.classes),
        "terms": design.n_terms,
        "numbers": len(design.numbers),
        "categories": len(design.categories),
    }
