"""Whole processes: Ctrl-C, broken pipes, terminals, encodings."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from pathlib import Path

SORTAL = [sys.executable, "-m", "sortal.cli"]


def start(*arguments: str, **named: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*SORTAL, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **named
    )


def interrupt(process: subprocess.Popen[bytes]) -> tuple[float, str]:
    """Seconds until it ends after Ctrl-C, and what it said."""
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=10)
    return time.monotonic() - began, told.decode()


def test_interrupting_a_comparison(here: Path) -> None:
    before = sorted(here.iterdir())
    process = start("compare", "penguins.csv", "-t", "species", "-o", "found.txt", cwd=here)
    assert process.stderr is not None
    while b" tree" not in process.stderr.readline():  # until a model is at work
        assert process.poll() is None
    seconds, told = interrupt(process)
    assert process.returncode == 130
    assert seconds < 1.5
    assert "Traceback" not in told
    assert sorted(here.iterdir()) == before
    assert not children_of(process.pid)


def children_of(pid: int) -> list[int]:
    listed = subprocess.run(
        ["/bin/ps", "-eo", "pid,pgid,ppid"], capture_output=True, text=True, check=False
    )
    rows = [list(map(int, line.split())) for line in listed.stdout.splitlines()[1:]]
    return [row[0] for row in rows if row[2] == pid]


def test_interrupting_a_prediction(here: Path) -> None:
    table = pd.read_csv(here / "penguins.csv").sample(100_000, replace=True, random_state=0)
    table.to_csv(here / "many.csv", index=False)
    before = sorted(here.iterdir())
    command = ("predict", "lda.sortal", "many.csv", "--proba", "-o", "said.csv")
    for after in (0.1, 0.7, 1.5):  # while Python imports, reads, predicts or writes
        process = start(*command, cwd=here)
        time.sleep(after)
        seconds, told = interrupt(process)
        assert process.returncode == 130
        assert seconds < 1.5
        assert "Traceback" not in told
        assert sorted(here.iterdir()) == before


def test_a_reader_that_had_enough(here: Path) -> None:
    tables = start("predict", "model.sortal", "penguins.csv", "--proba", cwd=here)
    texts = start("work", "penguins.csv", "-t", "species", "--quiet", cwd=here)
    for process in (tables, texts):
        assert process.stdout is not None
        process.stdout.close()
    for process in (tables, texts):
        assert process.stderr is not None
        with process.stderr as told:
            assert told.read() == b""
        assert process.wait(timeout=30) == 0


def on_a_terminal(here: Path, columns: int, *arguments: str, **environment: str) -> str:
    """What a command writes on a terminal so wide."""
    main, other = pty.openpty()
    env = {**os.environ, "COLUMNS": str(columns), "TERM": "xterm", **environment}
    env.pop("NO_COLOR", None) if "NO_COLOR" not in environment else None
    process = subprocess.Popen(
        [*SORTAL, *arguments], stdout=other, stderr=other, stdin=other, cwd=here, env=env
    )
    os.close(other)
    told = b""
    while True:
        try:
            block = os.read(main, 65536)
        except OSError:  # the other end is closed
            break
        if not block:
            break
        told += block
    process.wait(timeout=30)
    os.close(main)
    return told.decode().replace("\r\n", "\n")


def test_a_narrow_terminal(here: Path) -> None:
    told = on_a_terminal(here, 60, "show", "lda.sortal")
    assert max(map(len, told.splitlines())) <= 60
    assert "One function a class" in told
    assert "\x1b" not in told


def test_colors_are_for_those_who_want_them(here: Path) -> None:
    told = on_a_terminal(here, 80, "show", "nix.sortal")
    assert told.startswith("\x1b[")
    plain = on_a_terminal(here, 80, "show", "nix.sortal", NO_COLOR="1")
    assert plain.startswith("error: ")


def test_a_bar_on_a_terminal(here: Path) -> None:
    few = ("-l", "lda", "--no-baselines", "--folds", "2", "--repeats", "1")
    told = on_a_terminal(here, 100, "compare", "penguins.csv", "-t", "species", *few)
    assert "━" in told
    assert "Go on with: sortal fit penguins.csv --target species --learner lda" in told


def test_a_terminal_without_unicode(here: Path) -> None:
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [*SORTAL, "show", "lda.sortal"], cwd=here, env=env, capture_output=True, check=False
    )
    assert done.returncode == 0
    assert b"\\u03c0" in done.stdout
