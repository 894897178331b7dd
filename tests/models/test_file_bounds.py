"""What a model file could ask for without being long: depth, crowds, labels and shapes."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest

from sortal import FisherDiscriminant, LinearDiscriminant
from sortal.data.values import crowded
from sortal.errors import FormatError
from sortal.models.layout_schema import LABEL_TYPE
from sortal.models.members import ArrayReader
from sortal.models.plain import from_plain, to_plain, values_in
from sortal.tasks.load import load

ONE_HASH = [(i + 1) * (2**61 - 1) for i in range(1001)]


def nested(depth: int) -> Any:
    """Lists in lists."""
    return json.loads("[" * depth + "]" * depth)


@pytest.mark.parametrize(
    "data", [nested(9), nested(900), [0] * 100_000, {"pairs": [[i, 1] for i in range(60_000)]}]
)
def test_options_that_no_writer_would_write_are_refused(data: Any) -> None:
    with pytest.raises(FormatError, match="deeper, or holds more"):
        from_plain(data)


@pytest.mark.parametrize("value", [nested(8), [0] * 99_999, dict.fromkeys(range(49999), 1)])
def test_the_deepest_and_largest_options_that_are_written_are_read(value: Any) -> None:
    assert from_plain(to_plain(value)) == value


def test_numbers_of_one_hash_are_refused_before_a_set_is_made_of_them() -> None:
    assert len(set(map(hash, ONE_HASH))) == 1
    assert crowded(ONE_HASH)
    assert not crowded(ONE_HASH[1:])
    assert not crowded([*range(5000), *map(str, range(5000))])
    assert not crowded([])
    for ordered in (True, False):
        with pytest.raises(FormatError, match="in good time"):
            values_in(ONE_HASH, ordered=ordered)
    with pytest.raises(FormatError, match="in good time"):
        from_plain({"pairs": [[x, 1] for x in ONE_HASH]})


def test_labels_are_no_longer_than_numpy_allows() -> None:
    assert LABEL_TYPE.fullmatch("<U99999999")
    assert not LABEL_TYPE.fullmatch("<U999999999")


def test_an_array_of_nothing_is_of_a_shape_that_numpy_allows() -> None:
    entry: dict[str, Any] = {"name": "a", "type": "f8", "shape": [0, 2**24, 2**24]}
    assert ArrayReader([entry], {"arrays/a": b""}).get("a", "f8").size == 0
    with pytest.raises(FormatError, match="in a way that none can be"):
        ArrayReader([{**entry, "shape": [0, *[2**24] * 3]}], {"arrays/a": b""})


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("weight", [1.0, 5e-324]),
        ("weight", [0.0, 0.0]),
        ("gap", [[0.0, 0.0], [1.0, 1e200]]),
        ("scatter", [[[1.0, 0.0], [0.0, 1.0]], [[-1.0, 0.0], [0.0, 1.0]]]),
    ],
)
def test_given_moments_that_no_rows_have_are_refused(name: str, numbers: Any) -> None:
    model = LinearDiscriminant.from_moments([[0.0, 0.0], [1.0, 2.0]], covariances=np.eye(2))
    model._given.check()
    changed: dict[str, Any] = {name: np.array(numbers)}
    with np.errstate(all="ignore"), pytest.raises(FormatError, match="damaged"):
        replace(model._given, **changed).check()


def test_directions_are_of_unit_length() -> None:
    model = FisherDiscriminant().fit([[0.0, 1.0], [1.0, 0.0], [4.0, 5.0], [5.0, 7.0]], [0, 0, 1, 1])
    model._model.check()
    with pytest.raises(FormatError, match="unit length"):
        replace(model._model, directions=model._model.directions * 1e160).check()


def test_members_in_another_order_are_the_same_model(tmp_path: Path) -> None:
    model = LinearDiscriminant.from_moments([[0.0, 0.0], [1.0, 2.0]], covariances=np.eye(2))
    model.save(tmp_path / "one")
    with ZipFile(tmp_path / "one") as archive, ZipFile(tmp_path / "other", "w") as other:
        for name in reversed(archive.namelist()):
            other.writestr(name, archive.read(name))
    load(tmp_path / "other").save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "one").read_bytes()
