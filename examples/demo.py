"""The main job on bundled data, by the commands that a user would type.

Palmer penguins from a table to findings, a comparison, a decision, a model file, predictions and
the reasons for one of them.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from pathlib import Path

import sortal
from sortal import datasets
from sortal.cli import main

COMMANDS = """
sortal inspect penguins.csv --target species
sortal compare penguins.csv --target species --repeats 3
sortal fit penguins.csv --target species --learner tree -o model.sortal
sortal show model.sortal
sortal predict model.sortal new.csv --proba
sortal explain model.sortal new.csv --row 2
"""


def run() -> int:
    """Run the commands in a folder that is removed afterwards; the first that fails ends it."""
    print(f"sortal {sortal.__version__}\n")
    penguins = datasets.penguins()
    penguins.to_csv("penguins.csv", index=False)
    penguins.drop(columns="species").iloc[[0, 3, 150, 300]].to_csv("new.csv", index=False)
    for command in COMMANDS.strip().splitlines():
        print(f"\n$ {command}", flush=True)
        if code := main(shlex.split(command)[1:]):
            return code
    return 0


if __name__ == "__main__":
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        code = run()
        os.chdir(here)
    sys.exit(code)
