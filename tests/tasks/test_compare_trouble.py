"""Compare where something goes wrong: crashes, endless loops, noise, Ctrl-C, a parent that dies."""

from __future__ import annotations

import ctypes
import itertools
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning

from sortal import datasets
from sortal.errors import SortalError, warn
from sortal.tasks import budget, registry, workers
from sortal.tasks.compare import compare
from sortal.tasks.registry import Facts, Learner

if TYPE_CHECKING:
    from collections.abc import Iterator

IRIS = datasets.iris()


class Toy(ClassifierMixin, BaseEstimator):
    """Says the first class; a worker cannot import it, so it travels by value."""

    size_ = 1

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
    """Never comes back, and lets no other thread run."""

    def fit(self, X: Any, y: Any) -> Toy:
        sum(itertools.repeat(0))
        return self


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
        if len(X) > 1_500:
            time.sleep(1_000)
        return super().fit(X, y)


@pytest.fixture
def toys() -> Iterator[list[str]]:
    classes = (Toy, Exits, Crashes, Hangs, Talks, Drags)
    for cls in classes:
        facts = Facts(probabilistic=False, reads="It is not.")
        registry.register(Learner(cls.__name__.lower(), cls, cls.__name__, facts))
    yield [cls.__name__.lower() for cls in classes]
    for cls in classes:
        registry.unregister(cls.__name__.lower())


def test_trouble_stays_in_its_row(
    toys: list[str], capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    monkeypatch.setattr(budget, "_PATIENCE", 0.01)
    names = ["toy", "exits", "crashes", "hangs", "talks", "lda"]
    found = compare(IRIS, "species", learners=names, baselines=False, repeats=1, budget=90)
    assert found["exits"].status == "error: its process ended with the exit code 3"
    assert found["crashes"].status == "error: its process was ended by SIGSEGV"
    assert found["hangs"].status == "unfinished: its folds take longer than the budget allows"
    assert found["toy"].status == found["lda"].status == found["talks"].status == ""
    assert found["toy"].scores == (1 / 3,) * 10
    assert [model.name for model in found.models][:1] == [found.choice.best] == ["lda"]
    assert "ConvergenceWarning: talks (10 of 10 folds). For example: too few steps" in found.notes
    assert capfd.readouterr() == ("", "")


def test_a_slow_model_is_trained_on_a_part_and_its_code_too(
    toys: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "_PATIENCE", 0.01)
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=4_000), "y": rng.integers(0, 2, 4_000)})
    found = compare(table, "y", learners=["drags"], baselines=False, budget=90, folds=5, repeats=1)
    assert found["drags"].status == "subsample: trained on 1,000 of 3,200 rows"
    assert not found["drags"].eligible
    assert found["drags"].rows == 1_000
    assert len(found["drags"].scores) == 5
    namespace: dict[str, Any] = {"table": table, "print": lambda _: None}
    code = found.code("drags").replace(f"from {Toy.__module__} import Drags", "")
    exec(code, {**namespace, "Drags": Drags}, namespace)  # noqa: S102  (our own)
    assert tuple(namespace["scores"]) == found["drags"].scores


def test_the_budget_holds_and_nothing_is_chosen(toys: list[str]) -> None:
    start = time.monotonic()
    found = compare(IRIS, "species", learners=["hangs"], baselines=False, budget=0.5)
    assert time.monotonic() - start < 0.5 + 2
    assert not found["hangs"].eligible
    assert found.choice.chosen == ""
    assert "none of them was finished" in str(found)


def test_what_progress_raises_ends_the_comparison() -> None:
    seen: list[list[str]] = []

    def progress(*_: Any) -> None:
        seen.append(_workers_of(os.getpid()))
        if seen[-1]:
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        compare(IRIS, "species", learners=["lda"], baselines=False, progress=progress)
    assert len(seen[-1]) == 1
    assert _workers_of(os.getpid()) == []


def test_a_worker_that_cannot_be_started_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_COMMAND", ("-c", "raise ImportError('no such thing')"))
    with pytest.raises(SortalError, match=r"could not be started: .*code 1.*no such thing"):
        compare(IRIS, "species", learners=["lda"], baselines=False)


# A script without a guard, whose class is in __main__; it says when a worker is in the loop.
SCRIPT = """
import itertools, sys, time
from sklearn.base import BaseEstimator, ClassifierMixin
from sortal import datasets
from sortal.tasks.compare import compare
from sortal.tasks.registry import Facts, Learner, register

class Hangs(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        open({flag!r}, "w").close()
        sum(itertools.repeat(0))

register(Learner("hangs", Hangs, "hangs", Facts(False, "")))
print("begin", flush=True)
try:
    compare(datasets.iris(), "species", learners=["hangs"], baselines=False, folds=2, repeats=1,
            budget=1000)
except KeyboardInterrupt:
    print(time.time(), flush=True)
"""


def test_no_worker_outlives_its_parent(tmp_path: Path) -> None:
    parents = {}
    for blow in (signal.SIGINT, signal.SIGKILL):
        flag, script = tmp_path / f"{blow.name}.flag", tmp_path / f"{blow.name}.py"
        script.write_text(SCRIPT.format(flag=str(flag)), encoding="utf-8")
        parent = subprocess.Popen(
            [sys.executable, str(script)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        )
        parents[blow] = (parent, flag)
    for blow, (parent, flag) in parents.items():
        _wait_for(flag.exists)
        children = _workers_of(parent.pid)
        assert len(children) == 1
        start = time.time()
        parent.send_signal(blow)
        out, err = parent.communicate(timeout=30)
        _wait_for(lambda children=children: not any(map(_is_alive, children)), seconds=5)
        assert err == ""
        begin, *interrupted = out.split()
        assert begin == "begin"  # the script ran once
        if blow == signal.SIGINT:
            assert [float(when) - start < 1.0 for when in interrupted] == [True]
            assert parent.returncode == 0


def _wait_for(what: Any, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)


def _workers_of(pid: int) -> list[str]:
    listed = subprocess.run(
        ["/bin/ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    found = listed.stdout.split()
    return [child for child in found if b"sortal.tasks.worker" in _command_of(child)]


def _command_of(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _is_alive(pid: str) -> bool:
    return b"sortal.tasks.worker" in _command_of(pid)
