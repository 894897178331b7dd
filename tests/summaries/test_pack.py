"""Bytes from anywhere: what was written is read, and anything else is a FormatError."""

from __future__ import annotations

import json
import math
import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.summaries.blocks import build_batch

from sortal.errors import FormatError, SortalError
from sortal.summaries.bayes import BayesSummary, SummarizeBayes
from sortal.summaries.cells import CellCounts
from sortal.summaries.counts import ClassCounts, RowCounts, ValueCounts
from sortal.summaries.moments import ColumnMoments
from sortal.summaries.pack import pack, unpack

if TYPE_CHECKING:
    from collections.abc import Callable


START = struct.Struct("<4sHI")
KINDS: dict[str, type[Any]] = {
    "rows": RowCounts,
    "classes": ClassCounts,
    "values": ValueCounts,
    "moments": ColumnMoments,
    "cells": CellCounts,
    "bayes": BayesSummary,
}
TINY = ClassCounts(("no", "yes"), np.array([1, 258]), 3)


@pytest.fixture(scope="session")
def parts() -> dict[str, Any]:
    """One summary of every kind."""
    batch = build_batch(
        ["a", "b", "a", "b"],
        [["u", "v", None, "u"], [1, 2, 2, 1]],
        [[0.5, None, -1.0, 2.0]],
        [0.5, 1.0, 2.0, 0.25],
    )
    whole = SummarizeBayes((0, 1), (2,), ("x",), (0, 1))(batch)
    listed = {name: getattr(whole, name) for name in KINDS if name != "bayes"}
    return {**listed, "bayes": whole}


def with_header(data: bytes, change: Callable[[dict[str, Any]], Any]) -> bytes:
    """The same arrays under a changed header."""
    _, version, length = START.unpack_from(data)
    header = json.loads(data[START.size : START.size + length])
    replaced = change(header)
    text = json.dumps(header if replaced is None else replaced).encode()
    return START.pack(b"SRTL", version, len(text)) + text + data[START.size + length :]


def put(*path: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    """A change of one item of the header."""

    def change(header: Any) -> None:
        for step in path[:-1]:
            header = header[step]
        header[path[-1]] = value

    return change


# --- The format ----------------------------------------------------------------------------------


def test_the_bytes_of_version_one_never_change() -> None:
    """Files written by a release must stay readable: a new layout needs a new version."""
    header = (
        b'{"kind": "classes", "meta": {"classes": ["no", "yes"], "exponent": 3}, '
        b'"arrays": [{"name": "units", "type": "i8", "shape": [2]}]}'
    )
    start = bytes.fromhex("5352544c 0100 81000000")
    units = bytes.fromhex("0100000000000000 0201000000000000")
    assert TINY.to_bytes() == start + header + units
    assert ClassCounts.from_bytes(start + header + units).units.tolist() == [1, 258]


def test_numbers_are_little_endian_float64() -> None:
    data = pack("any", {}, {"x": np.array([1.0, -2.0])})
    assert data.endswith(bytes.fromhex("000000000000f03f 00000000000000c0"))


def test_arrays_of_other_byte_order_are_written_alike() -> None:
    native, swapped = np.array([1, 258]), np.array([1, 258], dtype=">i8")
    assert pack("any", {}, {"x": swapped}) == pack("any", {}, {"x": native})


def test_strided_arrays_are_written_in_order() -> None:
    table = np.arange(6).reshape(2, 3)
    assert pack("any", {}, {"x": table.T}) == pack("any", {}, {"x": table.T.copy()})


def test_an_array_that_was_read_can_be_written_to() -> None:
    read = unpack("classes", TINY.to_bytes()).arrays["units"]
    assert read.flags.writeable
    assert read.dtype == np.int64


@pytest.mark.parametrize("shape", [(0,), (6,), (2, 3), (1, 2, 3), (0, 2, 2)])
def test_arrays_of_up_to_three_dimensions_are_read_as_written(shape: tuple[int, ...]) -> None:
    table = np.arange(math.prod(shape)).reshape(shape) / 7
    read = unpack("any", pack("any", {}, {"x": table})).arrays["x"]
    assert read.shape == shape
    assert read.tolist() == table.tolist()


def test_arrays_of_more_dimensions_are_refused() -> None:
    with pytest.raises(FormatError, match="which is none"):
        unpack("any", pack("any", {}, {"x": np.zeros((1, 1, 1, 1))}))


def test_names_are_read_from_where_they_are_asked_for() -> None:
    read = unpack("any", pack("any", {"numbers": ["x"], "names": ["y"], "codes": [1]}, {}))
    assert (read.names("numbers"), read.names()) == (("x",), ("y",))
    for name in ("codes", "others"):
        with pytest.raises(FormatError, match=name):
            read.names(name)


def test_values_are_of_as_many_attributes_as_wanted() -> None:
    read = unpack("any", pack("any", {"values": [["u"], [1, 2]]}, {}))
    assert read.values() == read.values(2) == (("u",), (1, 2))
    for n in (0, 1, 3):
        with pytest.raises(FormatError, match="values"):
            read.values(n)


@pytest.mark.parametrize(
    ("cells", "fine"),
    [
        ([[1.0, -9.0], [-9.0, 0.0]], True),
        ([[1.0, 0.0], [0.0, -1e-300]], False),
        ([[1.0, 9.5], [0.0, 1.0]], False),
        ([[1.0, 0.0], [-9.5, 1.0]], False),
        ([[np.nan, 0.0], [0.0, 1.0]], False),
        ([[1.0, 0.0]], False),
    ],
)
def test_scatters_are_square_bounded_and_not_negative(cells: Any, fine: bool) -> None:
    read = unpack("any", pack("any", {}, {"x": np.array([cells])}))
    if fine:
        assert read.scatters("x", 1, 2, most=9.0).tolist() == [cells]
    else:
        with pytest.raises(FormatError, match="'x'"):
            read.scatters("x", 1, 2, most=9.0)


@pytest.mark.parametrize("label", ["", "é", "\ud800", '"', True, 2**70, -0.1, 1e300])
def test_any_label_is_written_as_it_is(label: Any) -> None:
    [found] = ClassCounts.from_bytes(ClassCounts((label,), np.array([1])).to_bytes()).classes
    assert (type(found), found) == (type(label), label)


# --- Damage --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KINDS)
def test_every_truncation_is_refused(name: str, parts: dict[str, Any]) -> None:
    data = parts[name].to_bytes()
    for stop in range(len(data)):
        with pytest.raises(FormatError):
            KINDS[name].from_bytes(data[:stop])


def test_bytes_of_another_origin_are_refused() -> None:
    with pytest.raises(FormatError, match="do not begin with SRTL"):
        ClassCounts.from_bytes(b"PK\x03\x04 and so on")


def test_bytes_of_another_version_are_refused() -> None:
    data = TINY.to_bytes()
    with pytest.raises(FormatError, match=r"format version 2; this release of sortal reads 1"):
        ClassCounts.from_bytes(data[:4] + b"\x02\x00" + data[6:])


def test_a_summary_of_another_kind_is_refused() -> None:
    with pytest.raises(FormatError, match="hold a 'classes', and a 'rows' was wanted"):
        RowCounts.from_bytes(TINY.to_bytes())


def test_bytes_after_the_end_are_refused() -> None:
    with pytest.raises(FormatError, match="last array is followed by 3 bytes"):
        ClassCounts.from_bytes(TINY.to_bytes() + b"\0\0\0")


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b"null", b'"kind"', b"\xff\xfe", b"[" * 100_000, b'{"kind": 1}']
)
def test_a_header_that_is_none_is_refused(text: bytes) -> None:
    with pytest.raises(FormatError, match="header of these bytes cannot be read"):
        ClassCounts.from_bytes(START.pack(b"SRTL", 1, len(text)) + text)


@pytest.mark.parametrize(
    "change",
    [
        put("meta", value=[]),
        put("arrays", value={}),
        put("arrays", value=[1]),
        put("arrays", value=["units"]),
        put("arrays", 0, value={"type": "i8", "shape": [2]}),
        put("arrays", 0, "name", value="other"),
        put("arrays", 0, "type", value="O"),
        put("arrays", 0, "type", value=["i8"]),
        put("arrays", 0, "type", value="f8"),
        put("arrays", 0, "shape", value=2),
        put("arrays", 0, "shape", value=["2"]),
        put("arrays", 0, "shape", value=[2.0]),
        put("arrays", 0, "shape", value=[float("inf")]),
        put("arrays", 0, "shape", value=[-2]),
        put("arrays", 0, "shape", value=[1, 2]),
        put("arrays", 0, "shape", value=[1] * 100 + [2]),
        put("arrays", 0, "shape", value=[10**30]),
        put("arrays", 0, "shape", value=[0, 10**30]),
        put("arrays", 0, "shape", value=[0, 2**40, 2**40]),
        put("meta", "exponent", value=None),
        put("meta", "exponent", value="3"),
        put("meta", "exponent", value=True),
        put("meta", "exponent", value=10**9),
        put("meta", "classes", value="no"),
        put("meta", "classes", value=["no"]),
        put("meta", "classes", value=["yes", "no"]),
        put("meta", "classes", value=["no", "no"]),
        put("meta", "classes", value=["no", None]),
        put("meta", "classes", value=["no", ["yes"]]),
        put("meta", "classes", value=[0, float("nan")]),
        put("meta", value={}),
    ],
)
def test_a_header_that_cannot_be_true_is_refused(change: Callable[[dict[str, Any]], None]) -> None:
    with pytest.raises(FormatError):
        ClassCounts.from_bytes(with_header(TINY.to_bytes(), change))


def test_negative_counts_are_refused() -> None:
    with pytest.raises(FormatError, match="'units'"):
        ClassCounts.from_bytes(ClassCounts(("a",), np.array([-1])).to_bytes())


@pytest.mark.parametrize("number", [np.nan, np.inf, -1e200])
def test_moments_that_cannot_be_are_refused(number: float) -> None:
    one = np.array([[1]])
    broken = ColumnMoments(("x",), ("a",), one, one * number, one * 0.0, one * 0.0, one * 0.0)
    with pytest.raises(FormatError, match="'mean'"):
        ColumnMoments.from_bytes(broken.to_bytes())


def test_a_negative_spread_is_refused() -> None:
    one = np.array([[1]])
    with pytest.raises(FormatError, match="'m2'"):
        ColumnMoments.from_bytes(
            ColumnMoments(
                ("x",), ("a",), one, one * 0.0, one * 0.0, one * -1.0, one * 0.0
            ).to_bytes()
        )


def test_codes_of_cells_must_have_a_value() -> None:
    codes = np.array([[1]], dtype=np.int32)
    broken = CellCounts(("a",), (("u",),), codes, np.array([[1]]))
    with pytest.raises(FormatError, match="'codes'"):
        CellCounts.from_bytes(broken.to_bytes())


@pytest.mark.parametrize("name", ["rows", "classes", "values", "moments"])
def test_a_part_that_is_missing_is_refused(name: str, parts: dict[str, Any]) -> None:
    blobs = dict(unpack("bayes", parts["bayes"].to_bytes()).arrays)
    del blobs[name]
    with pytest.raises(FormatError, match=name):
        BayesSummary.from_bytes(pack("bayes", {}, blobs))


@pytest.mark.parametrize("name", KINDS)
@given(data=st.data())
def test_damage_is_refused_or_gives_a_summary_that_works(
    name: str, parts: dict[str, Any], data: st.DataObject
) -> None:
    """Flipped digits of a count cannot be seen; anything else must be, and as a FormatError."""
    damaged = bytearray(parts[name].to_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(damaged)))
        stop = start + data.draw(st.integers(0, 3))
        damaged[start:stop] = data.draw(st.binary(max_size=3) | st.sampled_from([b"[", b"0", b"}"]))
    try:
        summary = KINDS[name].from_bytes(bytes(damaged))
    except FormatError:
        return
    assert KINDS[name].from_bytes(summary.to_bytes()).to_bytes() == summary.to_bytes()
    try:
        summary.merge(parts[name]).subtract(summary)
    except SortalError:  # such weights or numbers cannot be added up, and it says so
        return
