"""Forged model files, changing files, full disks and signals, in large numbers.

The tests run the same in small numbers. Findings are printed; with any, the exit code is 1.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from tests.hostile import changing, commands

if TYPE_CHECKING:
    from collections.abc import Iterator

SLICE = 500


def forged(first: int, count: int) -> Iterator[str]:
    """What went wrong with forged model files, two processes at a time."""
    starts = range(first, first + count, SLICE)
    counts: Counter[str] = Counter()
    for pair in zip(starts[::2], [*starts[1::2], None], strict=False):
        running = [_slice(start, first + count) for start in pair if start is not None]
        for process in running:
            lines = process.communicate()[0].splitlines()
            if process.returncode:
                yield f"the process ended with {process.returncode} at {lines[-1:]}"
            counts.update(line for line in lines if ": failed" not in line and "begins" not in line)
            yield from (f"{lines[i - 1]} {lines[i]}" for i in _failed(lines))
    print(dict(counts))  # noqa: T201


def _slice(start: int, stop: int) -> subprocess.Popen[str]:
    numbers = (str(start), str(min(start + SLICE, stop)))
    command = (sys.executable, "-m", "tests.models.hostile_run", *numbers)
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(command, env=alone, stdout=subprocess.PIPE, text=True)


def _failed(lines: list[str]) -> list[int]:
    return [i for i, line in enumerate(lines) if ": failed" in line]


def main() -> int:
    """Run what was asked for and count findings."""
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    for name, what in (
        ("--forged", "forged model files"),
        ("--changing", "readings of a file that changes"),
        ("--full", "1: every command on a full disk"),
        ("--signals", "commands that a signal ends"),
    ):
        parser.add_argument(name, type=int, default=0, metavar="N", help=what)
    parser.add_argument("--first", type=int, default=0, help="number of the first forged file")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    n_found = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if asked.full or asked.signals:
            commands.prepare(folder)
        runs = {
            "forged": forged(asked.first, asked.forged),
            "changing": changing.findings(asked.changing, asked.seed, folder),
            "full": commands.full_disks(folder) if asked.full else iter(()),
            "signals": commands.signals(asked.signals, asked.seed, folder),
        }
        for title, found in runs.items():
            if not getattr(asked, title):
                continue
            listed = list(found)
            n_found += len(listed)
            print(f"{title} {getattr(asked, title)}: {len(listed)} findings", flush=True)  # noqa: T201
            print("\n".join(listed))  # noqa: T201
    return int(n_found > 0)


if __name__ == "__main__":
    sys.exit(main())
