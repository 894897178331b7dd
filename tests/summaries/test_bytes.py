"""Bytes from anywhere: what was written is read, and anything else is a FormatError."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sortal.summaries.bytes import pack, unpack
from tests.summaries.blocks import Table, build_batch, measure

from sortal.errors import FormatError, SortalError
from sortal.summaries.class_moments import ClassMoments
from sortal.summaries.counts import CellCounts, ClassCounts, RowCounts, ValueCounts
from sortal.summaries.moments import ColumnMoments
from sortal.summaries.value_tables import BayesSummary, SummarizeBayes

KINDS: dict[str, type[Any]] = {
    "rows": RowCounts,
    "classes": ClassCounts,
    "values": ValueCounts,
    "moments": ColumnMoments,
    "cells": CellCounts,
    "bayes": BayesSummary,
    "moments of classes": ClassMoments,
}
TINY = ClassCounts(("no", "yes"), np.array([1, 258]), 3)


@pytest.fixture(scope="module")
def parts() -> dict[str, Any]:
    """One summary of every kind."""
    batch = build_batch(
        ["a", "b", "a", "b"],
        [["u", "v", None, "u"], [1, 2, 2, 1]],
        [[0.5, None, -1.0, 2.0]],
        [0.5, 1.0, 2.0, 0.25],
    )
    whole = SummarizeBayes((0, 1), (2,), ("x",), (0, 1))(batch)
    listed = {name: getattr(whole, name) for name in list(KINDS)[:5]}
    table = Table(list("abab"), [[0.5, 3.0, -1.0, 2.0]], [list("uvvu")], [2, 4, 8, 1], 2)
    return {**listed, "bayes": whole, "moments of classes": measure(table)}


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


def test_arrays_of_up_to_three_dimensions_are_read_as_written() -> None:
    for shape in ((0,), (6,), (2, 3), (1, 2, 3), (0, 2, 2)):
        table = np.arange(math.prod(shape)).reshape(shape) / 7
        read = unpack("any", pack("any", {}, {"x": table})).arrays["x"]
        assert read.shape == shape
        assert read.tolist() == table.tolist()


def test_any_label_is_written_as_it_is() -> None:
    labels: list[Any] = ["", "é", "\ud800", '"', True, 2**70, -0.1, 1e300]
    for label in labels:
        [found] = ClassCounts.from_bytes(ClassCounts((label,), np.array([1])).to_bytes()).classes
        assert (type(found), found) == (type(label), label)


# --- Damage --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", KINDS)
def test_every_truncation_is_refused(name: str, parts: dict[str, Any]) -> None:
    data = parts[name].to_bytes()
    for stop in range(len(data)):
        with pytest.raises(FormatError):
            KINDS[name].from_bytes(data[:stop])


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
