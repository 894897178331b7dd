"""Commands that write, and a full disk or a signal ends them: the old file stays, or the new."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from contextlib import chdir
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sortal import datasets
from sortal.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
# Of a file, for those who may not write more: less than what each command writes.
FULL = 2_000
# `sortal`, which says when it has taken over Ctrl-C: before, it is Python's own.
READY = """
import signal, sys
from sortal import cli

def told(*given, change=signal.signal):
    signal.signal = change
    change(*given)
    print("ready", flush=True)

signal.signal = told
sys.exit(cli.main())
"""


@dataclass(frozen=True)
class Command:
    """A command that writes a file, perhaps a folder beside it, and takes some seconds."""

    words: tuple[str, ...]
    output: str
    seconds: float

    @property
    def given(self) -> tuple[str, ...]:
        """Its arguments."""
        return (*self.words, "-o", self.output, "--quiet")


_SHORT = ("-l", "tree", "--no-baselines", "--folds", "2", "--repeats", "1", "--jobs", "1")
QUICK = (Command(("predict", "given.sortal", "penguins.csv", "--proba"), "said.csv", 1.0),)
COMMANDS = (
    *QUICK,
    Command(("fit", "penguins.csv", "-t", "species", "-l", "neighbors"), "model.sortal", 2.0),
    Command(("explain", "given.sortal", "penguins.csv"), "why.txt", 2.0),
    Command(("report", "penguins.csv", "-t", "species", *_SHORT), "r.html", 4.0),
    Command(("report", "penguins.csv", "-t", "species", *_SHORT), "r.md", 4.0),
)


def prepare(folder: Path, commands: Sequence[Command]) -> None:
    """A table, a model, what the commands write, and something that is none of their business."""
    datasets.penguins().to_csv(folder / "penguins.csv", index=False)
    run(Command(("fit", "penguins.csv", "-t", "species"), "given.sortal", 1.0), folder)
    for command in commands:
        run(command, folder)
    (folder / ".sortal-notes.part").write_text("mine", encoding="utf-8")


def run(command: Command, folder: Path) -> None:
    """To its end, in this process."""
    with chdir(folder):
        assert main(list(command.given)) == 0


def contents(folder: Path) -> dict[str, bytes]:
    """All files by their paths."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def full_disks(folder: Path, commands: Sequence[Command]) -> Iterator[str]:
    """What went wrong where no more than a few bytes could be written."""
    before = contents(folder)
    for command in commands:
        done = subprocess.run(
            (sys.executable, "-m", "sortal.cli", *command.given),
            cwd=folder,
            check=False,
            capture_output=True,
            text=True,
            preexec_fn=_full,
        )
        if done.returncode != 1 or "Traceback" in done.stderr:
            yield f"{command}: exit code {done.returncode}, {done.stderr[-300:]}"
        if changed := _changed(before, contents(folder)):
            yield f"{command}: {changed}"


def _full() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FULL, FULL))


def signals(count: int, seed: int, folder: Path, commands: Sequence[Command]) -> Iterator[str]:
    """What went wrong in so many commands, each ended by a signal at some time."""
    rng = random.Random(seed)  # noqa: S311
    before = contents(folder)
    for number in range(count):
        command = commands[number % len(commands)]
        sent = SIGNALS[number // len(commands) % len(SIGNALS)]
        seconds = rng.uniform(0, command.seconds)
        wrong = _ended(command, sent, seconds, folder) or _changed(before, contents(folder))
        if wrong:
            yield f"{command}, {sent.name} at {seconds:.2f} s: {wrong}"


def _ended(command: Command, sent: signal.Signals, seconds: float, folder: Path) -> str:
    process = subprocess.Popen(
        (sys.executable, "-c", READY, *command.given),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    try:
        _, told = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, sent)
        _, told = process.communicate()
    if "Traceback" in told:
        return told[-300:]
    if sent != signal.SIGINT and process.returncode != 0:
        _wait_for_the_group(process.pid)
        # whatever a process that was killed has left goes with the next that writes there
        run(command, folder)
    elif process.returncode not in (0, 130):
        return f"exit code {process.returncode}"
    return ""


def _wait_for_the_group(leader: int) -> None:
    for _ in range(60_000):
        try:
            os.killpg(leader, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)
    raise TimeoutError("processes of a killed command are still there")


def _changed(before: dict[str, bytes], after: dict[str, bytes]) -> str:
    """Files that came, went, or are another length than one of the same command would be."""
    came, went = sorted(after.keys() - before.keys()), sorted(before.keys() - after.keys())
    # times of day and seconds within a report may be a little longer
    other = [
        name
        for name in before.keys() & after.keys()
        if not after[name] or abs(len(before[name]) - len(after[name])) > 40
    ]
    parts = (("new", came), ("gone", went), ("not whole", sorted(other)))
    return "; ".join(f"{what}: {', '.join(names)}" for what, names in parts if names)
