"""What a model file could ask for without being long: the largest that is allowed."""

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from tests.contract.refusals.model_files import ONE_HASH

from sortal import LinearDiscriminant
from sortal.data.values import crowded
from sortal.errors import FormatError
from sortal.models.layout_schema import LABEL_TYPE
from sortal.models.members import ArrayReader
from sortal.models.plain import from_plain, to_plain
from sortal.tasks.load import load


def test_the_deepest_and_largest_options_that_are_written_are_read() -> None:
    for value in (json.loads("[" * 8 + "]" * 8), [0] * 99_999, dict.fromkeys(range(49999), 1)):
        assert from_plain(to_plain(value)) == value


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
    assert ArrayReader([entry], {"arrays/a": b""}).get("a", "f8").size == 0
    with pytest.raises(FormatError, match="in a way that none can be"):
        ArrayReader([{**entry, "shape": [0, *[2**24] * 3]}], {"arrays/a": b""})


def test_members_in_another_order_are_the_same_model(tmp_path: Path) -> None:
    model = LinearDiscriminant.from_moments([[0.0, 0.0], [1.0, 2.0]], covariances=np.eye(2))
    model._given.check()
    model.save(tmp_path / "one")
    with ZipFile(tmp_path / "one") as archive, ZipFile(tmp_path / "other", "w") as other:
        for name in reversed(archive.namelist()):
            other.writestr(name, archive.read(name))
    load(tmp_path / "other").save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "one").read_bytes()
