"""Which tests execute a line of Python, and how long each takes.

Measured once for a state of the project: the whole tier is run under coverage, which notes the
test beside the line.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from coverage import CoverageData
from tools.fault_places import ROOT

from tools import fault_scratch as scratch

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tools.fault_places import Change

FIRST: Final = 25  # tests that are tried before the others are collected
MOST: Final = 400  # the quickest of those that execute the line; the rest would say the same


def changed_line(change: Change) -> int:
    """The first line that differs from the project's."""
    before = (ROOT / change.path).read_text(encoding="utf-8").splitlines()
    pairs = enumerate(zip(before, change.text.splitlines(), strict=False), 1)
    return next((number for number, (old, new) in pairs if old != new), len(before))


class Reach:
    """The notes of one run of a tier."""

    def __init__(self, tier: str, options: list[str], state: str) -> None:
        folder = scratch.HERE / f"reach_{tier}"
        notes, times, of = folder / "coverage", folder / "seconds.json", folder / "state"
        if not of.exists() or of.read_text(encoding="utf-8") != state:
            print(f"Noting which lines the tests of tier {tier} execute …", flush=True)
            folder.mkdir(exist_ok=True)
            scratch.run_under_coverage(options, notes, times)
            of.write_text(state, encoding="utf-8")
        self._seconds: dict[str, float] = json.loads(times.read_text(encoding="utf-8"))
        self._data = CoverageData(str(notes))
        self._data.read()

    def tests(self, change: Change) -> list[str]:
        """Quickest first. A line that runs at import is everybody's who uses the file."""
        path = self._measured(change.path)
        contexts = self._data.contexts_by_lineno(path) if path else {}
        of_line = self._named(contexts.get(changed_line(change), []))
        found = of_line or self._named(one for line in contexts.values() for one in line)
        return sorted(found, key=lambda test: (self._seconds[test], test))[:MOST]

    def _measured(self, path: Path) -> str | None:
        return next((f for f in self._data.measured_files() if f.endswith(f"/{path}")), None)

    def _named(self, contexts: Iterable[str]) -> set[str]:
        """Tests, of contexts such as `tests/a.py::test_b|run`; a fixture's line is its users'."""
        found: set[str] = set()
        for context in contexts:
            test, _, phase = context.rpartition("|")
            if phase == "setup":
                module = test.partition("::")[0]
                found |= {one for one in self._seconds if one.startswith(f"{module}::")}
            elif test in self._seconds:
                found.add(test)
        return found
