"""Commands that write, and a full disk or a signal ends them: the old file stays, or the new."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sortal import datasets

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

SORTAL = (sys.executable, "-m", "sortal.cli")
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
# Of a file, for those who may not write more: less than what each command writes.
FULL = 2_000
# Seconds until the signal, at most.
LONGEST = 4.0


@dataclass(frozen=True)
class Command:
    """A command that writes a file, and perhaps a folder beside it."""

    words: tuple[str, ...]
    output: str
    folder: str | None = None

    @property
    def line(self) -> tuple[str, ...]:
        """As it is typed."""
        return (*SORTAL, *self.words, "-o", self.output, "--quiet")


_SHORT = ("-l", "tree", "--no-baselines", "--folds", "2", "--repeats", "1", "--jobs", "1")
QUICK = (Command(("predict", "given.sortal", "penguins.csv", "--proba"), "said.csv"),)
COMMANDS = (
    *QUICK,
    Command(("fit", "penguins.csv", "-t", "species", "-l", "neighbors"), "model.sortal"),
    Command(("explain", "given.sortal", "penguins.csv"), "why.txt"),
    Command(("report", "penguins.csv", "-t", "species", *_SHORT), "r.html"),
    Command(("report", "penguins.csv", "-t", "species", *_SHORT), "r.md", "r_pictures"),
)


def prepare(folder: Path, commands: Sequence[Command] = COMMANDS) -> None:
    """A table, a model, what the commands write, and something that is none of their business."""
    datasets.penguins().to_csv(folder / "penguins.csv", index=False)
    fit = (*SORTAL, "fit", "penguins.csv", "-t", "species", "-o", "given.sortal", "--quiet")
    subprocess.run(fit, cwd=folder, check=True, capture_output=True)
    for command in commands:
        subprocess.run(command.line, cwd=folder, check=True, capture_output=True)
    (folder / ".sortal-notes.part").write_text("mine", encoding="utf-8")


def contents(folder: Path) -> dict[str, bytes]:
    """All files by their paths."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def full_disks(folder: Path, commands: Sequence[Command] = COMMANDS) -> Iterator[str]:
    """What went wrong where no more than a few bytes could be written."""
    before = contents(folder)
    for command in commands:
        done = subprocess.run(
            command.line,
            cwd=folder,
            check=False,
            capture_output=True,
            text=True,
            preexec_fn=_full,
        )
        name = " ".join((*command.words[:1], command.output))
        if done.returncode != 1 or "Traceback" in done.stderr:
            yield f"{name}: exit code {done.returncode}, {done.stderr[-300:]}"
        if changed := _changed(before, contents(folder)):
            yield f"{name}: {changed}"


def _full() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FULL, FULL))


def signals(
    count: int, seed: int, folder: Path, commands: Sequence[Command] = COMMANDS
) -> Iterator[str]:
    """What went wrong in so many commands, each ended by a signal at some time."""
    rng = random.Random(seed)  # noqa: S311
    before = contents(folder)
    for number in range(count):
        command = commands[number % len(commands)]
        sent = SIGNALS[number // len(commands) % len(SIGNALS)]
        seconds = rng.uniform(0, LONGEST)
        wrong = _ended(command, sent, seconds, folder, before)
        if wrong:
            yield f"{command.words[0]} {command.output}, {sent.name} at {seconds:.2f} s: {wrong}"


def _ended(
    command: Command, sent: signal.Signals, seconds: float, folder: Path, before: dict[str, bytes]
) -> str:
    process = subprocess.Popen(
        command.line,
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
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
        subprocess.run(command.line, cwd=folder, check=True, capture_output=True)
    elif process.returncode not in (0, 130):
        return f"exit code {process.returncode}"
    return _changed(before, contents(folder))


def _wait_for_the_group(leader: int) -> None:
    while True:
        try:
            os.killpg(leader, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)


def _changed(before: dict[str, bytes], after: dict[str, bytes]) -> str:
    """Files that came, went, or are another length than one of the same command would be."""
    came, went = sorted(after.keys() - before.keys()), sorted(before.keys() - after.keys())
    other = [name for name in before.keys() & after.keys() if not _whole(before[name], after[name])]
    parts = (("new", came), ("gone", went), ("not whole", sorted(other)))
    return "; ".join(f"{what}: {', '.join(names)}" for what, names in parts if names)


def _whole(old: bytes, new: bytes) -> bool:
    """Whether a file is as long as before, up to times of day and seconds within a report."""
    return abs(len(old) - len(new)) <= 40 and bool(new)
