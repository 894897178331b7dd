"""Every record that a file can hold comes back from bytes, or is refused in our words.

One sample of each is met in fitted estimators. What is declared is all that these tests know.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.modelfile import hostile_files as hostile
from tests.modelfile.hostile_drafts import Draft, packed
from tests.summaries.blocks import build_batch
from tools.frozen_models import estimators

from sortal.base.save import DataFile, FitCall, kept_of
from sortal.data.columns import Schema
from sortal.discriminants.functions import Means, Nearest
from sortal.errors import FormatError, SortalError
from sortal.modelfile.arrays import ArrayWriter
from sortal.modelfile.record import OneOf, RecordField, from_bytes, layout_of, same, to_bytes
from sortal.modelfile.values import Scope
from sortal.summaries.counts import ClassCounts, RowCounts
from sortal.summaries.protocol import Subtractable
from sortal.summaries.rows import KeptRows, SummarizeRows
from sortal.tasks.registry import learners

if TYPE_CHECKING:
    from collections.abc import Iterator

Sample = tuple[Any, Schema]
NO_SCHEMA = Schema((), ())
TINY = ClassCounts(("no", "yes"), np.array([1, 258]), 3)

# Changes of what a record says, with right checksums.
FORGERIES = [
    *(hostile.odd_value, hostile.other_number, hostile.other_item, hostile.other_reference),
    *(hostile.odd_numbers, hostile.all_numbers, hostile.odd_numbers, hostile.odd_shape),
    *(hostile.other_length, hostile.odd_value),
]


def declared(kind: Any) -> Iterator[type[Any]]:
    """The records within a field."""
    if isinstance(kind, RecordField):
        yield kind.cls
        parts = list(layout_of(kind.cls).values())
    else:
        parts = list(kind.records.values()) if isinstance(kind, OneOf) else []
        parts += [kind.kind] if hasattr(kind, "kind") else []
    for part in parts:
        yield from declared(part)


def met(item: Any) -> Iterator[Any]:
    """The records within a value."""
    if is_dataclass(item):
        yield item
    parts = item if isinstance(item, tuple) else ()
    if is_dataclass(item):
        parts = tuple(getattr(item, field.name) for field in fields(item))
    for part in parts:
        yield from met(part)


def some_rows() -> KeptRows:
    x, z = [1.0, 2.0, None, 4.0], [0.0, 0.5, 1.0, 1.5]
    batch = build_batch(["a", "b", "a", "c"], [["u", None, "v", "u"], [True] * 4], [x, z])
    return SummarizeRows(0, (2, 3), (0, 1), ("x", "z"))(batch)


KEPT = [kind for learner in learners() for kind in kept_of(learner.load()).values()]
CLASSES = {cls for kind in KEPT for cls in declared(kind)} | {DataFile, FitCall, KeptRows}
each_record = pytest.mark.parametrize("name", sorted(cls.__name__ for cls in CLASSES))


@cache
def samples() -> dict[str, Sample]:
    """A record of each class by its name, and the schema it belongs to."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the rows have missing values on purpose
        models = estimators()
    file = DataFile("rows.csv", 321, "0" * 64, "csv", ";", ",", ("-999", "n/a "))
    means = Means(np.zeros(2), np.ones((2, 2)), np.zeros((2, 2)))
    own = FitCall("y", ("id",), "2024-02-29", "0.1.0", file), Nearest(means, np.eye(2)), some_rows()
    schema = models["moments"]._fitted.schema
    found: dict[str, Sample] = {type(one).__name__: (one, schema) for one in met(own)}
    for model in models.values():
        for one in met(model._fitted):
            found.setdefault(type(one).__name__, (one, model._fitted.schema))
    return found


def read_again(sample: Any, data: bytes, schema: Schema) -> bool:
    """Whether bytes are read; such a record is written, and works as a summary if it is one."""
    try:
        made = from_bytes(type(sample), data, schema)
    except FormatError:
        return False
    written = to_bytes(made, schema)
    assert to_bytes(from_bytes(type(sample), written, schema), schema) == written
    if isinstance(sample, Subtractable):
        with suppress(SortalError):  # such weights or numbers cannot be added up, and it says so
            made.merge(sample).subtract(made)
    return True


def test_there_are_many_records() -> None:
    assert len(CLASSES) > 35


@each_record
def test_bytes_lose_nothing(name: str) -> None:
    record, schema = samples()[name]
    data = to_bytes(record, schema)
    again = from_bytes(type(record), data, schema)
    assert same(again, record)
    assert to_bytes(again, schema) == data
    with pytest.raises(FormatError, match="do not hold a"):
        from_bytes(RowCounts if type(record) is not RowCounts else ClassCounts, data, schema)


@each_record
def test_truncated_bytes_are_refused(name: str) -> None:
    record, schema = samples()[name]
    data = to_bytes(record, schema)
    for stop in range(0, len(data), 1 + len(data) // 50):
        with pytest.raises(FormatError):
            from_bytes(type(record), data[:stop], schema)


@each_record
@given(data=st.data())
def test_damage_is_seen(name: str, data: st.DataObject) -> None:
    record, schema = samples()[name]
    good = to_bytes(record, schema)
    damaged = bytearray(good)
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(damaged)))
        stop = start + data.draw(st.integers(0, 3))
        damaged[start:stop] = data.draw(st.binary(max_size=3) | st.sampled_from([b"[", b"0", b"}"]))
    try:
        made = from_bytes(type(record), bytes(damaged), schema)
    except FormatError:
        return
    assert to_bytes(made, schema) == good  # what no checksum covers, such as a comment of the zip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of numbers at the edge of float64
@pytest.mark.parametrize(
    "numbers", [range(40), pytest.param(range(40, 1000), marks=pytest.mark.full)], ids=str
)
@each_record
def test_records_that_say_otherwise_are_refused_or_work(name: str, numbers: range) -> None:
    record, schema = samples()[name]
    members = hostile.members_of(to_bytes(record, schema))
    n_read = 0
    for number in numbers:
        rng, draft = np.random.default_rng([7, number]), Draft(members)
        forge = FORGERIES[number % len(FORGERIES)]
        if forge not in FORGERIES[:3] and not draft.entries():
            forge = hostile.odd_value
        try:
            forge(rng, draft, {})
        except (IndexError, ValueError):  # nothing of this kind to change
            continue
        n_read += read_again(record, packed(draft.renewed()), schema)
    assert n_read < 0.7 * len(numbers)


# --- The format ----------------------------------------------------------------------------------


def test_numbers_are_little_endian_in_row_order_whatever_the_memory() -> None:
    store, table = ArrayWriter(), np.arange(6).reshape(2, 3)
    RecordField(ClassCounts).write(TINY, Scope.of(NO_SCHEMA, store, ""))
    assert store.entries == [{"name": "units", "type": "i8", "shape": [2]}]
    assert store.numbers == bytes.fromhex("0100000000000000 0201000000000000")
    assert store.put("swapped", TINY.units.astype(">i8")) == "units"
    store.put("turned", table.T)
    assert store.numbers[16:] == table.T.copy().tobytes()


def test_any_label_is_written_as_it_is() -> None:
    labels: list[Any] = ["", "é", '"', True, 2**70, -0.1, 1e300]
    for label in labels:
        [found] = from_bytes(ClassCounts, to_bytes(ClassCounts((label,), np.ones(1, int)))).classes
        assert (type(found), found) == (type(label), label)


def test_records_are_the_same_to_the_last_bit() -> None:
    zero = RowCounts(0, np.zeros(2, dtype=np.int64))
    assert same(zero, RowCounts(0, np.zeros(2, dtype=np.int64)))
    for other in (RowCounts(1, zero.missing), RowCounts(0, zero.missing + 1), TINY):
        assert not same(zero, other)
    assert not same(zero.missing, zero.missing.astype(np.int32))
    assert not same((zero,), (zero, zero))
