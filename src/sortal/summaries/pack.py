"""Bytes: a header of JSON and plain little-endian arrays, with a version and no code.

    b"SRTL" | version u16 | length of header u32 | header (JSON, UTF-8) | arrays, one after another

The header holds `kind`, `meta` (what the summary says of itself) and `arrays`: name, type, shape.
"""

from __future__ import annotations

import json
import math
import struct
from typing import Any

import numpy as np

from sortal.errors import FormatError

VERSION = 1
_START = struct.Struct("<4sHI")
_TYPES: dict[str, np.dtype[Any]] = {
    "u1": np.dtype("u1"),
    "i4": np.dtype("<i4"),
    "i8": np.dtype("<i8"),
    "f8": np.dtype("<f8"),
}


def pack(kind: str, meta: dict[str, Any], arrays: dict[str, np.ndarray[Any, Any]]) -> bytes:
    """A summary as bytes."""
    plan, bodies = [], []
    for name, array in arrays.items():
        code = array.dtype.str[1:]
        plan.append({"name": name, "type": code, "shape": list(array.shape)})
        bodies.append(np.ascontiguousarray(array, dtype=_TYPES[code]).tobytes())
    header = json.dumps({"kind": kind, "meta": meta, "arrays": plan}, allow_nan=False).encode()
    return b"".join([_START.pack(b"SRTL", VERSION, len(header)), header, *bodies])


def unpack(kind: str, data: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray[Any, Any]]]:
    """What `pack` wrote, or a FormatError that says what is wrong."""
    header, at = _header(data)
    if header.get("kind") != kind:
        raise FormatError(f"These bytes hold a {header.get('kind')!r}, and a {kind!r} was wanted.")
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    for entry in header["arrays"]:
        dtype, shape = _array_plan(entry)
        size = math.prod(shape) * dtype.itemsize
        if at + size > len(data):
            raise FormatError(f"These bytes end within the array {entry['name']!r}: cut short?")
        flat = np.frombuffer(data, dtype=dtype, count=math.prod(shape), offset=at)
        arrays[entry["name"]] = flat.reshape(shape).astype(dtype.newbyteorder("="))
        at += size
    if at != len(data):
        raise FormatError(f"{len(data) - at} bytes follow the last array: two summaries in one?")
    return header["meta"], arrays


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
        _ = header["kind"], header["meta"], header["arrays"]
    except (ValueError, KeyError, TypeError):
        raise FormatError("The header of these bytes cannot be read: damaged or cut.") from None
    return header, _START.size + length


def _array_plan(entry: Any) -> tuple[np.dtype[Any], tuple[int, ...]]:
    try:
        shape = tuple(int(size) for size in entry["shape"])
        dtype = _TYPES[entry["type"]]
    except (KeyError, TypeError, ValueError):
        raise FormatError(f"The header describes an array as {entry!r}, which is none.") from None
    if any(size < 0 for size in shape):
        raise FormatError(f"The header describes an array of the shape {shape}.")
    return dtype, shape
