"""Compare where something goes wrong: crashes, endless loops, noise, Ctrl-C, a parent that dies."""

from __future__ import annotations

import ctypes
import itertools
import math
import os
import signal
import subprocess
import sys
import threading
import time
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from sortal import datasets
from sortal.errors import SortalError, warn
from sortal.tasks import registry
from sortal.tasks.compare import workers
from sortal.tasks.compare.compare import compare
from sortal.tasks.compare.run import Schedule
from sortal.tasks.registry import LearnerEntry, LearnerFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sortal.tasks.compare.comparison import Comparison
    from sortal.tasks.compare.run import Run


class Toy(ClassifierMixin, BaseEstimator):
    """Says the first class."""

    n_parameters_ = 1

    def fit(self, X: Any, y: Any) -> Toy:
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.repeat(self.classes_[:1], len(X))


class Exits(Toy):
    """Ends its process."""

    def fit(self, X: Any, y: Any) -> Toy:
        os._exit(3)


class Crashes(Toy):
    """Reads where nothing is."""

    def fit(self, X: Any, y: Any) -> Toy:
        ctypes.string_at(0)
        return self


class Hangs(Toy):
    """Never comes back."""

    def fit(self, X: Any, y: Any) -> Toy:
        sum(itertools.repeat(0))
        return self


class PressesCtrlC(Hangs):
    """Never comes back, and interrupts the process that waits for it."""

    def fit(self, X: Any, y: Any) -> Toy:
        os.kill(os.getppid(), signal.SIGINT)
        return super().fit(X, y)


class Talks(Toy):
    """Prints, by Python and below it, reads, and warns."""

    def fit(self, X: Any, y: Any) -> Toy:
        print("noise")  # noqa: T201
        os.write(1, b"noise")
        os.write(2, b"noise")
        assert sys.stdin.read() == ""
        warn("too few steps", ConvergenceWarning)
        return super().fit(X, y)


class Drags(Toy):
    """Takes ever so long with many rows."""

    def fit(self, X: Any, y: Any) -> Toy:
        if len(X) > 2_000:
            sum(itertools.repeat(0))  # and lets no other thread run
        return super().fit(X, y)


def _stranger() -> type:
    """A class of a module that only this process has, which no worker can read."""
    module = types.ModuleType("of_this_process_only")
    sys.modules[module.__name__] = module
    source = (
        "from sklearn.base import BaseEstimator, ClassifierMixin\n"
        "def first(y): return sorted(set(y))[0]\n"
        "class Stranger(ClassifierMixin, BaseEstimator):\n"
        "    def fit(self, X, y): self.label_ = first(y); return self\n"
        "    def predict(self, X): return [self.label_] * len(X)\n"
    )
    exec(source, vars(module))  # noqa: S102  (our own)
    return module.Stranger  # type: ignore[no-any-return]


class Locked(Toy):
    """Holds what cannot be sent."""

    lock = threading.Lock()


Locked.__module__ = "nowhere"


@pytest.fixture
def toys() -> Iterator[list[str]]:
    classes = (Toy, Exits, Crashes, Hangs, PressesCtrlC, Talks, Drags, Locked, _stranger())
    for cls in classes:
        facts = LearnerFacts(probabilistic=False, reads="It is not.")
        registry.register(LearnerEntry(cls.__name__.lower(), cls, cls.__name__, facts))
    yield [cls.__name__.lower() for cls in classes]
    for cls in classes:
        registry.unregister(cls.__name__.lower())


def table(n: int = 4_000) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({"x": rng.normal(size=n)}).assign(y=lambda t: (t.x > 0).astype(int))


FEW: dict[str, Any] = {"baselines": False, "repeats": 1, "budget": 90_000, "n_jobs": 1}


def test_trouble_stays_in_its_row(
    toys: list[str], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    names = ["toy", "exits", "talks", "locked", "stranger", "lda"]
    found = compare(table(), "y", learners=names, folds=5, metric="balanced_accuracy", **FEW)
    assert found["exits"].status == "error: its process ended with the exit code 3"
    assert found["toy"].status == found["lda"].status == found["talks"].status == ""
    assert found["toy"].score == pytest.approx(0.5)
    unknown = "error: a worker cannot read this learner: ModuleNotFoundError: No module named"
    assert found["stranger"].status.startswith(unknown)
    assert found["locked"].status.startswith("error: it cannot be sent to a worker: ")
    assert found.models[0].name == found.choice.best == "lda"
    assert "ConvergenceWarning: talks (5 of 5 folds). For example: too few steps" in found.notes
    assert capfd.readouterr() == ("", "")


@pytest.mark.full
def test_crashes_and_what_takes_too_long(toys: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    # only what would never come back is given up: how fast the others are depends on the machine
    monkeypatch.setattr(Schedule, "limit", _limit)
    found = compare(table(8_000), "y", learners=["crashes", "drags", "lda"], folds=5, **FEW)
    assert found["crashes"].status == "error: its process was ended by SIGSEGV"
    assert found.choice.best == "lda"
    _check_part(found, table(8_000))


def _limit(_: Schedule, run: Run) -> float:
    return 0.5 if run.name == "drags" and run.part is None else math.inf


def _check_part(found: Comparison, table: pd.DataFrame) -> None:
    """A model that was too slow was trained on a part, and its code does the same."""
    drags = found["drags"]
    assert drags.status == "trained on 1,600 of 6,400 rows"
    assert any(note.startswith("Too slow for 90000 seconds in all: drags.") for note in found.notes)
    assert (drags.eligible, drags.rows, len(drags.scores)) == (True, 1_600, 5)
    # the smallest parts took so little that the next one was tried, up to what was given up
    assert [rows for rows, _ in found["lda"].curve] == [1_600, 6_400]


@pytest.mark.full
def test_the_budget_ends_what_would_not_and_nothing_is_chosen(toys: list[str]) -> None:
    found = compare(datasets.iris(), "species", learners=["hangs"], baselines=False, budget=0.5)
    assert not found["hangs"].eligible
    assert found.choice.recommended == ""
    assert "no learner with probabilities has a score" in str(found)


@pytest.mark.full
def test_what_progress_raises_ends_the_comparison() -> None:
    seen: list[list[str]] = []

    def progress(*_: Any) -> None:
        seen.append(_workers_of(os.getpid()))
        if seen[-1]:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        compare(datasets.iris(), "species", learners=["lda"], baselines=False, progress=progress)
    assert seen[-1]
    assert _workers_of(os.getpid()) == []


@pytest.mark.full
def test_a_worker_that_cannot_be_started_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_COMMAND", ("-c", "raise ImportError('no such thing')"))
    with pytest.raises(SortalError, match=r"could not be started: .*code 1.*no such thing"):
        compare(datasets.iris(), "species", learners=["lda"], baselines=False)


@pytest.mark.full
def test_ctrl_c_ends_everything(toys: list[str]) -> None:
    with pytest.raises(KeyboardInterrupt):
        compare(datasets.iris(), "species", learners=["pressesctrlc"], **FEW)
    assert _workers_of(os.getpid()) == []


# A script without a guard, whose class is in __main__; it says when a worker is in the loop.
SCRIPT = """
import itertools, pathlib
from sklearn.base import BaseEstimator, ClassifierMixin
from sortal import datasets
from sortal.tasks.compare.compare import compare
from sortal.tasks.registry import LearnerEntry, LearnerFacts, register

class Hangs(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        pathlib.Path({flag!r}).touch()
        sum(itertools.repeat(0))

register(LearnerEntry("hangs", Hangs, "hangs", LearnerFacts(False, "")))
print("begin", flush=True)
compare(datasets.iris(), "species", learners=["hangs"], baselines=False, budget=1000)
"""


@pytest.mark.full
def test_no_worker_outlives_its_parent(tmp_path: Path) -> None:
    flag, script = tmp_path / "flag", tmp_path / "script.py"
    script.write_text(SCRIPT.format(flag=str(flag)), encoding="utf-8")
    parent = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    _wait_for(lambda: flag.exists() or parent.poll() is not None)
    children = _workers_of(parent.pid)
    assert children
    parent.kill()
    assert parent.communicate() == ("begin\n", "")  # the script ran once
    _wait_for(lambda: not any(map(_is_alive, children)))


def _wait_for(what: Callable[[], bool]) -> None:
    """Until it is so, however busy the machine is."""
    while not what():
        time.sleep(0.02)


def _workers_of(pid: int) -> list[str]:
    listed = subprocess.run(
        ["/bin/ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    found = listed.stdout.split()
    return [child for child in found if b"sortal.tasks.compare.workers" in _command_of(child)]


def _command_of(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _is_alive(pid: str) -> bool:
    return b"sortal.tasks.compare.workers" in _command_of(pid)
