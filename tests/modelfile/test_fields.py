"""Fields: the type of each says what is written; what is read is checked."""

from __future__ import annotations

import json
from dataclasses import field
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.contract.refusals.model_files import ONE_HASH

from sortal import LinearDiscriminant
from sortal._typing import Counts, Float
from sortal.data.columns import ColumnSchema, Design, Schema, Value, Values, crowded
from sortal.errors import FormatError
from sortal.modelfile.arrays import ArrayReader, ArrayWriter
from sortal.modelfile.fields import INF, LABEL_TYPE, schema_in, schema_out
from sortal.modelfile.record import RecordField, layout_of, limits, of_schema, record, same
from sortal.modelfile.values import NotPlainError, Scope, from_plain, to_plain
from sortal.tasks.load import load

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = Schema(
    (ColumnSchema("a", "number"), ColumnSchema("b", "category", ("u", "v"))), ("no", "yes")
)


@record()
class Inner:
    sides: Float = limits("sides", "own")


@record(eq=True)
class Other:
    word: str = limits(among=("x", "y"))


@record()
class Outer:
    classes: Values = of_schema()
    schema: Schema
    n: int = limits(least=0, most=9)
    share: float = limits(least=0.0, most=INF)
    flag: bool
    terms: Float = limits("classes", "terms", nan=True)
    ends: Counts = limits("sides+1", least=0)
    inner: Inner | None = limits(sides="sides")
    several: tuple[Inner, ...] = limits("columns")
    either: Inner | Other = limits(sides="sides")
    cells: tuple[Value | None, Value | None]
    names: dict[str, int]
    wide: NDArray[np.floating[Any]] = limits("sides")
    label: np.dtype[Any]
    design: Design
    values: tuple[Values, ...] = limits("sides")
    unread: Any = field(default=None, compare=False)


def outer(**more: Any) -> Any:
    values: dict[str, Any] = {
        "classes": SCHEMA.classes,
        "schema": SCHEMA,
        "n": 3,
        "share": INF,
        "flag": True,
        "terms": np.array([[1.0, np.nan, 2.0], [0.0, 0.0, 0.0]]),
        "ends": np.arange(5),
        "inner": Inner(np.zeros((4, 2))),
        "several": (Inner(np.zeros((1, 1))), Inner(np.ones((2, 3)))),
        "either": Other("y"),
        "cells": ("a", -INF),
        "names": {"é": 4},
        "wide": np.zeros(4, dtype=np.float32),
        "label": np.dtype("<U3"),
        "design": Design(SCHEMA),
        "values": (("a", "b"), (1,), (), (True,)),
    }
    return Outer(**{**values, **more})


def round_trip(made: Any, change: Any = None) -> Any:
    writer, kind = ArrayWriter(), RecordField(Outer)
    data: Any = kind.write(made, Scope.of(SCHEMA, writer, "m"))
    if change is not None:
        change(data)
    return kind.read(data, Scope.of(SCHEMA, ArrayReader(writer.entries, writer.numbers), "m"))


def test_a_record_comes_back() -> None:
    made = round_trip(outer(unread=print))
    assert same(made, outer())
    assert made.unread is None
    assert made.classes == ("no", "yes")
    assert (made.n, made.share, made.flag, made.cells) == (3, INF, True, ("a", -INF))
    assert made.terms.tobytes() == outer().terms.tobytes()
    assert [one.sides.shape for one in made.several] == [(1, 1), (2, 3)]
    assert made.either == Other("y")
    assert made.names == {"é": 4}
    assert round_trip(outer(inner=None)).inner is None


UNFIT: list[tuple[str, dict[str, Any]]] = [
    *(("terms", {"terms": np.zeros(shape)}) for shape in ((2, 2), (3, 3))),
    ("terms", {"terms": np.full((2, 3), INF)}),
    ("inner.sides", {"ends": np.arange(4)}),
    ("ends", {"ends": np.array([0, 1, 2, 3, -1])}),
    ("ends", {"ends": np.arange(0)}),
    ("several", {"several": (Inner(np.zeros((1, 1))),)}),
    ("either.sides", {"either": Inner(np.zeros((3, 1)))}),
    ("either.word", {"either": Other("z")}),
    ("values", {"values": (("a",),)}),
    ("wide", {"wide": np.zeros(3)}),
    *(("n", {"n": 10}), ("share", {"share": -1.0}), ("cells", {"cells": ("a",)})),
    ("cells.1", {"cells": ("a", [1])}),
]
# What a file may say instead; the first leaves out a field, the second has one more.
SAID: list[Any] = [
    *(lambda data: data.pop("n"), lambda data: data.update(more=1)),
    *({"classes": ["no", "yes"]}, {"n": True}, {"n": 3.0}, {"n": 10**500}, {"flag": 1}),
    *({"share": share} for share in ("inf", 10**400, {"number": "nan"}, {"number": [1]})),
    *({"terms": terms} for terms in (None, {"array": "nowhere"}, {"array": ["m.terms"]})),
    lambda data: data.update(ends=data["terms"]),
    *({"inner": []}, {"either": {"is": []}}, {"either": {"is": "third"}}),
    lambda data: data["either"].update(word="\ud800"),
    *({"cells": 3}, {"cells": [{}, 1]}, {"names": []}),
]


def test_what_does_not_fit_is_named() -> None:
    for place, more in UNFIT:
        with pytest.raises(FormatError, match=f"^'m.{place}'"):
            round_trip(outer(**more))


@pytest.mark.parametrize("change", SAID)
def test_a_file_that_says_otherwise_is_refused(change: Any) -> None:
    with pytest.raises(FormatError):
        round_trip(outer(), change if callable(change) else lambda data: data.update(change))


def test_what_is_of_another_type_than_its_field_is_a_mistake_of_ours() -> None:
    with pytest.raises(TypeError, match=r"m\.terms"):
        round_trip(outer(terms=np.zeros((2, 3), dtype=np.float32)))
    with pytest.raises(TypeError, match=r"m\.inner"):
        round_trip(outer(inner=Other("x")))


@record()
class Misspelled:
    n: int = limits(last="9")


@record()
class Shapeless:
    terms: Float


@record()
class Long:
    word: str = limits("words")


@pytest.mark.parametrize("cls", [Misspelled, Shapeless, Long])
def test_limits_that_a_type_cannot_have_are_a_mistake_of_ours(cls: Any) -> None:
    with pytest.raises(TypeError, match="cannot have"):
        layout_of(cls)


PLAIN: list[tuple[Any, Any]] = [
    *((None, None), (np.float64(0.1), 0.1), (np.int32(3), 3), (np.True_, True), (2**70, 2**70)),
    *(("ä", "ä"), (-INF, {"number": "-inf"}), ((1, [2.5]), [1, [2.5]])),
    (np.eye(2), [[1.0, 0.0], [0.0, 1.0]]),
    ({1: 0.5, "a": 2}, {"pairs": [[1, 0.5], ["a", 2]]}),
    ({False: {"b": None}}, {"pairs": [[False, {"pairs": [["b", None]]}]]}),
]


def test_values_as_plain_data_and_back() -> None:
    for value, plain in PLAIN:
        made = to_plain(value)
        assert made == plain
        assert repr(to_plain(from_plain(made))) == repr(plain)
    # the deepest and largest options
    for value in (json.loads("[" * 8 + "]" * 8), [0] * 99_999, dict.fromkeys(range(49999), 1)):
        assert from_plain(to_plain(value)) == value


def test_what_is_no_data_or_too_much_for_an_option_is_told() -> None:
    deep: list[Any] = []
    deep.append(deep)
    for value in (print, object(), iter([1]), {1, 2}, b"x", range(3), 1j, deep, np.zeros(200_000)):
        for given in (value, [[1, value]]):
            with pytest.raises(NotPlainError):
                to_plain(given)


def test_a_schema_comes_back_with_its_types() -> None:
    values = (False, 1, 2.5, 10**30, "x")
    ordered = ColumnSchema("o", "category", ("b", "a", "c"), ("b", "a"))
    columns = ColumnSchema("c", "category", values), ordered, ColumnSchema("d", "date")
    schema = Schema((*columns, ColumnSchema("e", "empty")), values)
    again = schema_in(schema_out(schema))
    assert again == schema
    assert [type(v) for v in again.classes] == [type(v) for v in values]


def test_numbers_of_one_hash_are_a_crowd() -> None:
    assert len(set(map(hash, ONE_HASH))) == 1
    assert crowded(ONE_HASH)
    assert not crowded(ONE_HASH[1:])
    assert not crowded([*range(5000), *map(str, range(5000))])
    assert not crowded([])


def test_labels_and_shapes_are_no_longer_than_numpy_allows() -> None:
    assert LABEL_TYPE.fullmatch("<U99999999")
    assert not LABEL_TYPE.fullmatch("<U999999999")
    entry: dict[str, Any] = {"name": "a", "type": "f8", "shape": [0, 2**24, 2**24]}
    assert ArrayReader([entry], b"").get("a", "f8").size == 0
    with pytest.raises(FormatError, match="in a way that none can be"):
        ArrayReader([{**entry, "shape": [0, *[2**24] * 3]}], b"")


def test_members_in_another_order_are_the_same_model(tmp_path: Path) -> None:
    model: Any = LinearDiscriminant.from_moments([[0.0, 0.0], [1.0, 2.0]], covariances=np.eye(2))
    model._summary.check()
    model.save(tmp_path / "one")
    with ZipFile(tmp_path / "one") as archive, ZipFile(tmp_path / "other", "w") as other:
        for name in reversed(archive.namelist()):
            other.writestr(name, archive.read(name))
    load(tmp_path / "other").save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "one").read_bytes()
