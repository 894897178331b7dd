"""What users see is as it was frozen by tools/pins.py; a change that is meant freezes it anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

FROZEN = Path(__file__).parent / "frozen"
NAMES = sorted(path.relative_to(FROZEN).as_posix() for path in FROZEN.rglob("*.*"))
# Workers are processes, which take long to begin; commands/compare.txt and report/mixed.json are
# quick enough, and hold what these hold.
SLOW = {
    *(name for name in NAMES if name.startswith("compare/")),
    *("report/numbers.json", "commands/compare-json.txt", "commands/report-page.txt"),
}


@pytest.fixture(scope="module")
def pins() -> Any:
    """The tool, which imports much."""
    from tools import pins

    return pins


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.full] * (name in SLOW)) for name in NAMES]
)
def test_it_is_as_it_was(pins: Any, name: str) -> None:
    told = pins.first_difference(pins.frozen(name), pins.made(name))
    if told:
        pytest.fail(
            f"tests/pins/frozen/{name}{told}. If that is meant: python tools/pins.py {name}",
            pytrace=False,
        )


def test_every_pin_is_frozen_and_they_stay_small(pins: Any) -> None:
    assert sorted(pins.PINS) == NAMES
    assert sum((FROZEN / name).stat().st_size for name in NAMES) <= 1_500_000


def test_every_record_has_a_pin(pins: Any) -> None:
    told = [json.loads((FROZEN / name).read_text("utf-8")) for name in NAMES if ".json" in name]
    met = {record for one in told for record in one.get("records", ())}
    by_command = {"ModelDescription"}  # by commands/show.txt alone: `show` is no public function
    assert set(pins.pinned.record_classes()) - by_command == met


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        ({"a": [1, {"b": "x"}]}, {"a": [1, {"b": "y"}]}, "/a/2/b: 'x' became 'y'"),
        ({"a": 1}, {"a": 1, "b": 2}, ": [] became ['b'], or another order"),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, ": [] became [], or another order"),
        ([1, 2], [1], ": [2] became [], or another order"),
        (1, 1.0, ": 1 became 1.0"),
        (1, True, ": 1 became True"),
        (0.5, 0.500001, ": 0.5 became 0.500001"),
        ("one\ntwo 0.25\n", "one\ntwo 0.27\n", " line/2: 'two 0.25' became 'two 0.27'"),
        ("n 14, 0.5", "n 15, 0.5", ": 'n 14, 0.5' became 'n 15, 0.5'"),
    ],
)
def test_a_difference_is_named(pins: Any, before: Any, now: Any, words: str) -> None:
    assert pins.first_difference(before, now) == words


@pytest.mark.parametrize(
    ("before", "now"),
    [(0.5, 0.5000001), (1e-17, -3e-16), ("p = 0.1254", "p = 0.1255"), ("2.5e-17", "2.6e-17")],
)
def test_last_digits_are_no_difference(pins: Any, before: Any, now: Any) -> None:
    assert pins.first_difference(before, now) is None
