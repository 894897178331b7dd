"""Models as plain data: bit for bit, and only of the kinds that a page can decide by."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sortal import DiscreteBayes, LinearDiscriminant, TreeClassifier, datasets
from sortal.browser import pack, packed_bytes
from sortal.tasks.report.page import decide_part, decider


def numbers_of(item: Any) -> np.ndarray[Any, Any]:
    flat = np.frombuffer(base64.b64decode(item["f8"]), dtype="<f8")
    return flat.reshape(item["shape"])


@pytest.mark.parametrize("shape", [(9,), (3, 4), (2, 3, 5), (0, 9), (1, 0)])
def test_arrays_keep_every_bit(shape: tuple[int, ...]) -> None:
    array = np.random.default_rng(0).normal(size=shape) * 1e-300
    packed = pack(array)
    found = np.array(packed) if isinstance(packed, list) else numbers_of(packed)
    assert found.reshape(shape).tobytes() == array.tobytes()
    assert isinstance(packed, list) == (array.size <= 8)


def test_what_json_lacks_is_packed() -> None:
    packed = pack([-np.inf, np.nan, 1.0])
    json.dumps(packed, allow_nan=False)
    np.testing.assert_array_equal(numbers_of(packed), [-np.inf, np.nan, 1.0])


def test_sizes_are_near_those_of_json() -> None:
    data = decider(DiscreteBayes().fit(datasets.iris(), "species")._model)
    assert packed_bytes(data) == pytest.approx(len(json.dumps(data)), rel=0.2)


def test_a_model_of_another_kind_has_no_form() -> None:
    other: Any = object()
    assert decider(other) is None
    assert decide_part(other, title="Decide", name="it") is None


def test_fields_tell_where_numbers_lie() -> None:
    iris = datasets.iris()
    tree = TreeClassifier().fit(iris, "species")._model
    part = decide_part(tree, title="Decide", name="it")
    assert part is not None
    assert ">1 … 6.9<" in part.html
    linear = LinearDiscriminant().fit(iris, "species")._model
    rough = decide_part(linear, title="Decide", name="it")
    known = decide_part(linear, title="Decide", name="it", ranges={"petal_length": (1.0, 6.9)})
    assert rough is not None
    assert known is not None
    assert ">about " in rough.html
    assert ">1 … 6.9<" in known.html


def test_rows_to_start_from_are_written_as_one_types_them() -> None:
    towns = [f"town {i}" for i in range(60)]
    table = pd.DataFrame(
        {
            "when": pd.to_datetime(["2020-01-01 00:00", "2020-06-01 12:00"] * 30),
            "on": [True, False, True] * 20,
            "town": towns,
            "n": range(60),
        }
    )
    model = DiscreteBayes().fit(table, ["a", "b"] * 30)._model
    row = {"when": pd.Timestamp("2020-06-01 12:00"), "on": False, "town": "town 7", "n": 3}
    other = {"when": None, "on": "?", "town": "nowhere", "n": 0.1}
    part = decide_part(model, title="Decide", name="it", starts=[("row", row), ("other", other)])
    assert part is not None
    assert part.data["starts"] == [
        ["2020-06-01T12:00:00", 0, "town 7", "3"],
        ["", -1, "nowhere", "0.1"],
    ]
