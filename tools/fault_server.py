"""Runs pytest in forks of a process that has imported what tests need: that takes seconds, once.

Reads the arguments of pytest from standard input, a JSON list a line, and answers each with the
exit code. sortal itself is imported by the forks, with the fault that is in it then.
"""

from __future__ import annotations

import importlib
import json
import os
import sys

import pytest

NEEDED = (
    "duckdb",
    "joblib",
    "jinja2",
    "matplotlib.pyplot",
    "narwhals",
    "pandas",
    "rich.console",
    "scipy.linalg",
    "scipy.stats",
    "sklearn.discriminant_analysis",
    "sklearn.model_selection",
    "sklearn.utils.estimator_checks",
    "typer",
)


def run(arguments: list[str]) -> int:
    """pytest in a fork; what it says is written down, since standard output is for answers."""
    child = os.fork()
    if child == 0:
        said = os.open(os.environ["FAULT_SAID"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(said, 1)
        os.dup2(said, 2)
        os._exit(pytest.main(arguments))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main() -> None:
    for name in NEEDED:
        importlib.import_module(name)
    for line in sys.stdin:
        print(run(json.loads(line)), flush=True)


if __name__ == "__main__":
    main()
