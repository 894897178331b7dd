"""The main job on bundled data, by the commands that a user would type.

Palmer penguins from a table to findings, a comparison, the model that it proposes, the rules of a
tree, predictions and the reasons for one of them, and a report.
"""

from __future__ import annotations

import contextlib
import io
import os
import shlex
import sys
import tempfile
from pathlib import Path

import sortal
from sortal import datasets
from sortal.cli import main

PROPOSAL = "Go on with: "
COMPARE = [
    "sortal inspect penguins.csv --target species",
    "sortal compare penguins.csv --target species --repeats 3",
]
USE = [
    "sortal predict model.sortal new.csv",
    "sortal explain model.sortal new.csv --row 2",
]
REPORT = (
    "sortal report penguins.csv --target species --learner tree --learner lda --no-baselines "
    "--folds 5 --repeats 1 --quiet -o report.html"
)
READ = [
    "sortal fit penguins.csv --target species --learner tree -o tree.sortal",
    "sortal show tree.sortal",
    "sortal predict tree.sortal new.csv --proba",
]


def run(command: str) -> str:
    """Run a command as typed, and give back what it printed."""
    print(f"\n$ {command}", flush=True)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = main(shlex.split(command)[1:])
    print(printed.getvalue(), flush=True)
    if code:
        sys.exit(code)
    return printed.getvalue()


def demo() -> None:
    """All commands, one of which the comparison proposes."""
    print(f"sortal {sortal.__version__}")
    penguins = datasets.penguins()
    penguins.to_csv("penguins.csv", index=False)
    penguins.drop(columns="species").iloc[[0, 3, 150, 300]].to_csv("new.csv", index=False)
    told = [run(command) for command in COMPARE][-1]
    proposal = next(line for line in told.splitlines() if line.startswith(PROPOSAL))
    for command in [proposal.removeprefix(PROPOSAL), *USE, *READ, REPORT]:
        run(command)
    print(f"report.html: {Path('report.html').stat().st_size:,} bytes, to be opened in a browser")


if __name__ == "__main__":
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            demo()
        finally:
            os.chdir(here)  # a folder that one is in cannot be removed everywhere
