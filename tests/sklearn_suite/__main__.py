"""`python -m tests.sklearn_suite`: the installed scikit-learn's tests, run on sortal's classifiers.

None of its text is copied. Test modules are imported where they are installed, with adapters in
place of scikit-learn's classes, and pytest runs their functions. A test counts if it fitted an
adapter, or is named after a class of ours. It passes, or it is one of the deliberate differences
of `differences.py`, or it is unexpected: then the exit code is 1. A difference that no test shows
any more is unexpected, too.

    python -m tests.sklearn_suite            all of it
    python -m tests.sklearn_suite tree       modules whose name holds the word
    python -m tests.sklearn_suite -v         and what each unexpected one says
"""

from __future__ import annotations

import importlib
import os
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import sklearn
from sklearn.utils import all_estimators
from tests.sklearn_suite.adapters import IN_PLACE, USED
from tests.sklearn_suite.differences import DIFFERENCES

# Modules, and which of their tests cannot concern a classifier of ours: these are not even run.
MODULES = {
    "sklearn.tests.test_discriminant_analysis": "",
    "sklearn.tests.test_naive_bayes": "",
    "sklearn.tree.tests.test_tree": "not (Regressor or regression or reg_trees or diabetes)",
    "sklearn.tree.tests.test_split": "not (Regressor or ExtraTree)",
    "sklearn.neighbors.tests.test_neighbors": "not (Regressor or regressor or radius or Radius)",
    "sklearn.tests.test_common": "not (importable or import_all or class_support)",
}
OURS = ("Bayes", "Discriminant", "IndicatorRegression", "NeighborsClassifier(", "TreeClassifier(")


class Judge:
    """What became of each test."""

    def __init__(self) -> None:
        self.met: dict[str, tuple[str, str]] = {}
        self.counts: Counter[str] = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Any:
        """Which adapters a test fits."""
        USED.clear()
        try:
            return (yield)
        finally:
            common = "test_common" in item.nodeid and any(name in item.nodeid for name in OURS)
            item.user_properties.append(("ours", bool(USED) or common))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test that concerned one of ours."""
        ours = dict(report.user_properties).get("ours", False)
        if report.when != "call" or not ours:
            return
        name = report.nodeid.split("::", 1)[1]
        if report.outcome == "failed":
            self._failed(name, report)
        elif report.outcome == "skipped":
            self.counts["skipped"] += 1
        else:
            self.counts["passed"] += 1

    def _failed(self, name: str, report: pytest.TestReport) -> None:
        lines = str(report.longrepr).strip().splitlines()
        told = [line[1:].strip() for line in lines if line.startswith("E ")] or lines[-1:]
        said = " ".join(told[:3])
        found = next((d for d in DIFFERENCES if re.search(d, f"{name}: {said}")), None)
        self.counts["unexpected" if found is None else "deliberate"] += 1
        self.met[name] = (found or "", said)

    @property
    def stale(self) -> list[str]:
        """Differences that no test shows."""
        shown = {found for found, _ in self.met.values()}
        return [pattern for pattern in DIFFERENCES if pattern not in shown]


def main(arguments: list[str]) -> int:
    """Run, print the counts, the differences and what was not expected."""
    words = [word for word in arguments if not word.startswith("-")]
    chosen = {m: k for m, k in MODULES.items() if not words or any(w in m for w in words)}
    all_estimators()  # whatever uses a class of scikit-learn inside it has imported it by now
    for module, classes in IN_PLACE.items():
        for name, adapter in classes.items():
            setattr(importlib.import_module(module), name, adapter)
    judge = Judge()
    for module, keyword in chosen.items():
        before = Counter(judge.counts)
        _run(module, keyword, judge)
        print(f"{module:45} {_told(judge.counts - before)}")  # noqa: T201
    _print(judge, whole=not words, verbose="-v" in arguments)
    return int(judge.counts["unexpected"] > 0 or (not words and bool(judge.stale)))


def _run(module: str, keyword: str, judge: Judge) -> None:
    where = Path(sklearn.__file__).parent
    path = where.joinpath(*module.split(".")[1:]).with_suffix(".py")
    options = ["-c", os.devnull, "--rootdir", str(where.parent), "-p", "no:cacheprovider"]
    quiet = ["-p", "no:terminal", "-p", "no:xdist", "-W", "ignore", "--import-mode=importlib"]
    pytest.main([*options, *quiet, "-k", keyword, str(path)], plugins=[judge])


def _told(counts: Counter[str]) -> str:
    kinds = ("passed", "deliberate", "unexpected", "skipped")
    return ", ".join(f"{counts[kind]} {kind}" for kind in kinds)


def _print(judge: Judge, *, whole: bool, verbose: bool) -> None:
    lines = [f"scikit-learn {sklearn.__version__}: {_told(judge.counts)}", ""]
    shown = Counter(found for found, _ in judge.met.values() if found)
    lines += [f"deliberate, {n:3}: {p}: {DIFFERENCES[p]}" for p, n in shown.items()]
    unexpected = {name: told for name, (found, told) in judge.met.items() if not found}
    lines += [f"UNEXPECTED: {n}{': ' + told if verbose else ''}" for n, told in unexpected.items()]
    if whole:
        lines += [f"UNEXPECTED: no test shows {pattern!r} any more" for pattern in judge.stale]
    print("\n".join(lines))  # noqa: T201


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
