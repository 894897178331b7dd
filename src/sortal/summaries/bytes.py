"""Bytes: a header of JSON and plain little-endian arrays, with a version and no code.

    b"SRTL" | version u16 | length of header u32 | header (JSON, UTF-8) | arrays, one after another

The header holds `kind`, `meta` (what the summary says of itself) and `arrays`: name, type, shape.
Bytes may come from anywhere, so that everything read from them is checked; what cannot be a summary
is a FormatError.
"""

from __future__ import annotations

import json
import math
import struct
from dataclasses import Field, dataclass, field, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from sortal.data.columns import Values, crowded, order_of
from sortal.errors import FormatError, counted

if TYPE_CHECKING:
    from sortal.summaries.protocol import Subtractable

VERSION = 1

_START = struct.Struct("<4sHI")

_TYPES: dict[str, np.dtype[Any]] = {
    "u1": np.dtype("u1"),
    "i4": np.dtype("<i4"),
    "i8": np.dtype("<i8"),
    "f4": np.dtype("<f4"),
    "f8": np.dtype("<f8"),
}

# No float64 needs a finer or a coarser unit.
_MOST_EXPONENT = 1200


def pack(kind: str, meta: dict[str, Any], arrays: dict[str, np.ndarray[Any, Any]]) -> bytes:
    """A summary as bytes."""
    plan, bodies = [], []
    for name, array in arrays.items():
        code = array.dtype.str[1:]
        plan.append({"name": name, "type": code, "shape": list(array.shape)})
        bodies.append(np.ascontiguousarray(array, dtype=_TYPES[code]).tobytes())
    header = json.dumps({"kind": kind, "meta": meta, "arrays": plan}, allow_nan=False).encode()
    return b"".join([_START.pack(b"SRTL", VERSION, len(header)), header, *bodies])


def unpack(kind: str, data: bytes) -> Unpacked:
    """What `pack` wrote, or a FormatError that says what is wrong."""
    header, at = _header(data)
    if header["kind"] != kind:
        raise FormatError(f"These bytes hold a {header['kind']!r}, and a {kind!r} was wanted.")
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for entry in header["arrays"]:
        name, dtype, shape = _array_plan(entry)
        size = math.prod(shape) * dtype.itemsize
        if at + size > len(data):
            raise FormatError(f"These bytes end within the array {name!r}: cut short?")
        flat = np.frombuffer(data, dtype=dtype, count=math.prod(shape), offset=at)
        arrays[name] = flat.reshape(shape).astype(dtype.newbyteorder("="))
        at += size
    if at != len(data):
        raise FormatError(
            f"The last array is followed by {counted(len(data) - at, 'byte')}: two summaries in "
            "one?"
        )
    return Unpacked(kind, header["meta"], arrays)


@dataclass(frozen=True, eq=False)
class Unpacked:
    """What bytes hold. Whoever asks for an item says what it has to be."""

    kind: str
    meta: dict[str, Any]
    arrays: dict[str, np.ndarray[Any, Any]]

    def rows(self) -> int:
        """A number of rows."""
        return self.whole("rows")

    def whole(self, name: str) -> int:
        """A whole number that is not negative."""
        n = self.meta.get(name)
        self._need(type(n) is int and 0 <= n < 1 << 63, name)
        return int(n)  # type: ignore[arg-type]

    def exponent(self) -> int:
        """The exponent of the unit of weight."""
        power = self.meta.get("exponent")
        self._need(type(power) is int and abs(power) <= _MOST_EXPONENT, "exponent")
        return int(power)  # type: ignore[arg-type]

    def classes(self) -> Values:
        """The classes, in order."""
        return self._values(self.meta.get("classes"), "classes")

    def values(self, n: int | None = None) -> tuple[Values, ...]:
        """The values of each attribute, in order; of n attributes, unless None."""
        listed = self._list("values")
        self._need(n in (None, len(listed)), "values")
        return tuple(self._values(values, "values") for values in listed)

    def names(self, name: str = "names") -> tuple[str, ...]:
        """Names of columns."""
        names = self._list(name)
        self._need(all(isinstance(listed, str) for listed in names), name)
        return tuple(names)

    def counts(self, name: str, *shape: int) -> np.ndarray[Any, np.dtype[np.int64]]:
        """An array of whole numbers, none negative; -1 in the shape stands for any length."""
        array = self._array(name, np.int64, shape)
        self._need(bool((array >= 0).all()), name)
        return array

    def numbers(
        self, name: str, *shape: int, least: float, most: float
    ) -> np.ndarray[Any, np.dtype[np.float64]]:
        """An array of numbers between two bounds."""
        array = self._array(name, np.float64, shape)
        self._need(bool(((array >= least) & (array <= most)).all()), name)
        return array

    def matrix(
        self, name: str, *shape: int, most: float
    ) -> np.ndarray[Any, np.dtype[np.floating[Any]]]:
        """Numbers of up to a size, in float32 or float64; NaN is a missing value."""
        narrow = getattr(self.arrays.get(name), "dtype", None) == np.float32
        array = self._array(name, np.float32 if narrow else np.float64, shape)
        most = min(most, float(np.finfo(array.dtype).max))
        self._need(bool((np.isnan(array) | (np.abs(array) <= most)).all()), name)
        return array

    def scatters(
        self, name: str, n: int, p: int, *, most: float
    ) -> np.ndarray[Any, np.dtype[np.float64]]:
        """n matrices of p × p numbers, none beyond a bound, none negative on the diagonals."""
        array = self.numbers(name, n, p, p, least=-most, most=most)
        self._need(bool((np.diagonal(array, axis1=1, axis2=2) >= 0).all()), name)
        return array

    def codes(
        self, name: str, sizes: list[int], least: int = 0
    ) -> np.ndarray[Any, np.dtype[np.int32]]:
        """Rows of codes; column j holds codes from `least` to below sizes[j]."""
        array = self._array(name, np.int32, (-1, len(sizes)))
        below = array < np.array(sizes, dtype=np.int64)
        self._need(bool(((array >= least) & below).all()), name)
        return array

    def blob(self, name: str) -> bytes:
        """Bytes within the bytes."""
        return bytes(self._array(name, np.uint8, (-1,)).tobytes())

    def _array(self, name: str, dtype: type[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        array = self.arrays.get(name, np.empty(0, dtype=np.void))
        same = array.ndim == len(shape) and all(
            wanted in (-1, found) for wanted, found in zip(shape, array.shape, strict=True)
        )
        self._need(array.dtype == dtype and same, name)
        return array

    def _list(self, name: str) -> list[Any]:
        listed = self.meta.get(name)
        self._need(isinstance(listed, list), name)
        return list(listed)  # type: ignore[arg-type]

    def _values(self, listed: Any, name: str) -> Values:
        self._need(isinstance(listed, list) and all(map(_is_value, listed)), name)
        self._need(all(order_of(a) < order_of(b) for a, b in pairwise(listed)), name)
        self._need(not crowded(listed), name)
        return tuple(listed)

    def _need(self, holds: bool, name: str) -> None:
        if not holds:
            raise FormatError(
                f"These bytes hold a {self.kind!r} whose {name!r} is missing or cannot be: damaged?"
            )


# --- Summaries of parts, declared once by their fields -------------------------------------------


def part(cls: type[Subtractable], *, optional: bool = False) -> Any:
    """A field of a `SummaryOfParts`: a summary of this class, or None where it is `optional`."""
    return field(metadata={"part": cls, "optional": optional})


class SummaryOfParts:
    """A summary whose parts merge and subtract one by one; a part that one of two lacks is None.

    A subclass is a dataclass whose fields are made by `part`. Each part's bytes are an array of the
    whole, which `KIND` names.
    """

    KIND: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def merge(self, other: Self) -> Self:
        """The summary of both sets of rows."""
        return self._each(other, "merge")

    def subtract(self, other: Self) -> Self:
        """The summary without the other's rows."""
        return self._each(other, "subtract")

    def _each(self, other: Self, combine: str) -> Self:
        made = {}
        for one in fields(self):
            a, b = getattr(self, one.name), getattr(other, one.name)
            made[one.name] = None if a is None or b is None else getattr(a, combine)(b)
        return type(self)(**made)

    def to_bytes(self) -> bytes:
        """Versioned bytes."""
        parts = {one.name: getattr(self, one.name) for one in fields(self)}
        blobs = {name: made.to_bytes() for name, made in parts.items() if made is not None}
        return pack(self.KIND, {}, {name: np.frombuffer(b, np.uint8) for name, b in blobs.items()})

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what `to_bytes` wrote."""
        got, made = unpack(cls.KIND, data), {}
        for one in fields(cls):
            absent = one.metadata["optional"] and one.name not in got.arrays
            read = one.metadata["part"].from_bytes
            made[one.name] = None if absent else read(got.blob(one.name))
        return cls(**made)


def _header(data: bytes) -> tuple[dict[str, Any], int]:
    if len(data) < _START.size or data[:4] != b"SRTL":
        raise FormatError("These bytes are not a summary: they do not begin with SRTL.")
    _, version, length = _START.unpack_from(data)
    if version != VERSION:
        raise FormatError(
            f"These bytes are of format version {version}; this release of sortal reads {VERSION}."
        )
    try:
        header = json.loads(data[_START.size : _START.size + length].decode())
    except (ValueError, RecursionError):
        header = None
    kinds = {"kind": str, "meta": dict, "arrays": list}
    if not isinstance(header, dict) or not all(
        isinstance(header.get(name), kind) for name, kind in kinds.items()
    ):
        raise FormatError("The header of these bytes cannot be read: damaged or cut.")
    return header, _START.size + length


def _array_plan(entry: Any) -> tuple[str, np.dtype[Any], tuple[int, ...]]:
    try:
        name, dtype, shape = str(entry["name"]), _TYPES[entry["type"]], tuple(entry["shape"])
        is_shape = len(shape) <= 3 and all(type(size) is int and size >= 0 for size in shape)
        # NumPy refuses what it cannot address, also where one length is 0
        is_shape = is_shape and math.prod(size or 1 for size in shape) < 1 << 48
    except (KeyError, TypeError):
        is_shape = False
    if not is_shape:
        raise FormatError(f"The header describes an array as {entry!r}, which is none.")
    return name, dtype, shape


def _is_value(value: Any) -> bool:
    is_number = isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value))
    return is_number or isinstance(value, str)
