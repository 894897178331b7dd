"""Arrays of a model file: raw numbers one after another, with type and shape listed beside them.

The numbers are little-endian and in row-major order, whatever the memory of the array. Results may
depend in their last bit on the order in which numbers lie in memory, since sums are taken along it;
so where that is another than row-major, `axes` tells it, the slowest axis first.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.errors import FormatError, counted
from sortal.modelfile.values import Store

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Types of arrays by their names in a file: little-endian, of so many bytes.
TYPES: dict[str, np.dtype[Any]] = {
    "f8": np.dtype("<f8"),
    "f4": np.dtype("<f4"),
    "i8": np.dtype("<i8"),
    "i4": np.dtype("<i4"),
    "i1": np.dtype("i1"),
    "b1": np.dtype("?"),
}

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,200}")

_MOST_DIMS = 3

# An array without numbers takes no place, so that nothing else bounds its shape; NumPy refuses what
# it could not address.
_MOST_EMPTY = 1 << 24


@dataclass(frozen=True, eq=False)
class ArrayWriter(Store):
    """Collects arrays. Equal ones are kept once, under the first name."""

    entries: list[dict[str, Any]] = field(default_factory=list)
    _numbers: list[memoryview] = field(default_factory=list)
    _names: dict[Any, str] = field(default_factory=dict)

    def put(self, name: str, array: NDArray[Any]) -> str:
        """Keep an array."""
        code = array.dtype.str[1:]
        flat = np.ascontiguousarray(array, dtype=TYPES[code]).reshape(-1).view(np.uint8)
        axes = _axes(array)
        key = code, array.shape, axes, sha256(flat.data).hexdigest()
        if key in self._names:
            return self._names[key]
        entry: dict[str, Any] = {"name": name, "type": code, "shape": list(array.shape)}
        if axes is not None:
            entry["axes"] = list(axes)
        self.entries.append(entry)
        self._numbers.append(flat.data)
        self._names[key] = name
        return name

    @property
    def numbers(self) -> bytes:
        """Those of all arrays, in the order of the entries."""
        return b"".join(self._numbers)

    @property
    def digests(self) -> dict[str, str]:
        """The SHA-256 of each array's numbers."""
        return {name: digest for (*_, digest), name in self._names.items()}


def _axes(array: NDArray[Any]) -> tuple[int, ...] | None:
    """The axes as they lie in memory, the slowest first; None for row-major order."""
    long = [i for i, size in enumerate(array.shape) if size > 1]
    by_stride = sorted(long, key=lambda i: -abs(array.strides[i]))
    if by_stride == long or not array.size:
        return None
    place = dict(zip(long, by_stride, strict=True))  # axes of length one stay where they are
    return tuple(place.get(i, i) for i in range(array.ndim))


class ArrayReader(Store):
    """Gives arrays by name. Whoever asks says of which type they are."""

    def __init__(self, entries: object, numbers: bytes) -> None:
        if not isinstance(entries, list):
            raise FormatError("The manifest does not list its arrays: damaged?")
        self._numbers, self._entries, self._at = numbers, dict[str, dict[str, Any]](), {}
        self._read: dict[str, NDArray[Any]] = {}
        at = 0
        for entry in entries:
            _check_entry(entry)
            if entry["name"] in self._entries:
                raise FormatError(f"The array {entry['name']!r} is listed twice: damaged?")
            self._entries[entry["name"]], self._at[entry["name"]] = entry, at
            at += math.prod(entry["shape"]) * TYPES[entry["type"]].itemsize
        if at != len(numbers):
            raise FormatError(
                f"The arrays that are listed need {counted(at, 'byte')}, and there are "
                f"{len(numbers):,}: cut, or another's?"
            )

    def get(self, name: str, *codes: str) -> NDArray[Any]:
        """The array of a name, in the memory order it had."""
        entry = self._entries.get(name)
        if entry is None or entry["type"] not in codes:
            words = " or ".join(map(repr, codes))
            raise FormatError(f"There is no array {name!r} of type {words}: damaged?")
        if name not in self._read:
            self._read[name] = _in_order(entry, self._flat(name, entry))
        return self._read[name]

    def _flat(self, name: str, entry: dict[str, Any]) -> NDArray[Any]:
        dtype, n, at = TYPES[entry["type"]], math.prod(entry["shape"]), self._at[name]
        if entry["type"] == "b1" and np.frombuffer(self._numbers, "u1", n, at).max(initial=0) > 1:
            raise FormatError(f"The array {name!r} holds more than truth values: damaged?")
        flat = np.frombuffer(self._numbers, dtype, n, at).astype(
            dtype.newbyteorder("="), copy=False
        )
        return np.require(flat, requirements="A")  # loops read numbers at whole addresses only

    def check_all_used(self) -> None:
        """Refuse a file that holds more than its model needs."""
        extra = sorted(set(self._entries) - set(self._read))
        if extra:
            raise FormatError(f"The array {extra[0]!r} belongs to nothing in this model: damaged?")


def _check_entry(entry: object) -> None:
    wanted = {"name", "type", "shape"}
    if (
        not isinstance(entry, dict)
        or not wanted <= set(entry) <= wanted | {"axes"}
        or not (isinstance(entry["name"], str) and _NAME.fullmatch(entry["name"]))
        or not (isinstance(entry["type"], str) and entry["type"] in TYPES)
        or not (_is_shape(entry["shape"]) and _is_order(entry))
    ):
        raise FormatError("The manifest describes an array in a way that none can be: damaged?")


def _is_shape(shape: object) -> bool:
    if not isinstance(shape, list) or len(shape) > _MOST_DIMS:
        return False
    most = _MOST_EMPTY if 0 in shape else 1 << 48
    return all(type(size) is int and 0 <= size <= most for size in shape)


def _is_order(entry: dict[str, Any]) -> bool:
    axes = entry.get("axes", list(range(len(entry["shape"]))))
    whole = isinstance(axes, list) and all(type(axis) is int for axis in axes)
    return whole and sorted(axes) == list(range(len(entry["shape"])))


def _in_order(entry: dict[str, Any], flat: NDArray[Any]) -> NDArray[Any]:
    array = flat.reshape(entry["shape"])
    if "axes" not in entry:
        return array
    axes = entry["axes"]
    return np.asarray(np.ascontiguousarray(array.transpose(axes)).transpose(np.argsort(axes)))
