"""Every example in the help runs, in the order in which it is shown."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from dataclasses import replace
from functools import cache
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from sortal import datasets
from sortal.cli.app import COMMANDS, TABLE

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("one_process")


@cache
def quick_comparison() -> Any:
    """Two models on two folds."""
    from sortal.tasks.compare import compare

    few: dict[str, Any] = {"folds": 2, "repeats": 1, "baselines": False, "n_jobs": 1}
    return compare(datasets.penguins(), "species", learners=["lda", "bayes"], **few)


class Quick:
    """Stands for a report."""

    def save(self, path: str, form: str | None) -> None:
        Path(path).write_text("a page", encoding="utf-8")


def stand_in(task: Any, made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes as the task takes, at once: what it does is tested elsewhere."""
    name = task.__name__.rpartition(".")[2]
    taken = signature(getattr(task, name))

    def quick(*given: Any, **named: Any) -> Any:
        taken.bind(*given, **named)
        return made

    monkeypatch.setattr(task, name, quick)


EXAMPLES = [example for _, examples in COMMANDS for example in examples]


@pytest.mark.parametrize("example", [e for e in EXAMPLES if e.startswith("sortal ")])
def test_an_example_runs(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, example: str
) -> None:
    from sortal.tasks import compare, report

    if example.startswith("sortal compare "):
        stand_in(compare, quick_comparison(), monkeypatch)
    stand_in(report, Quick(), monkeypatch)
    done = run(*shlex.split(example)[1:])
    assert done.code == 0
    assert done.out or "wrote " in done.err


@pytest.mark.full
def test_examples_in_a_shell(here: Path) -> None:
    (here / "penguins.csv").unlink()
    piped = [example for example in EXAMPLES if not example.startswith("sortal ")]
    assert piped
    for name, module in (("sortal", "-m sortal.cli"), ("python", "")):
        (here / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {module} "$@"\n')
        (here / name).chmod(0o755)
    path = f"{here}{os.pathsep}{os.environ['PATH']}"
    for command in [TABLE, *piped]:
        done = subprocess.run(  # noqa: S602  (our own examples)
            command,
            shell=True,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert done.stdout.count("\n") == 344


def test_a_comparison_in_every_form() -> None:
    found = quick_comparison()
    assert max(map(len, found.to_text(60).splitlines())) <= 60
    assert "fit s" in str(found)
    assert "fit s" not in found.to_text(times=False)
    assert found.to_markdown().startswith("### species: 3 classes")
    assert found.to_html().startswith("<!doctype html>")


def test_a_comparison_goes_on_with_the_same_table(
    run: Callable[..., Any], here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sortal.tasks import compare

    found = quick_comparison()
    beside = replace(found.choice, chosen="logistic", equals=("logistic", "lda"), learner="lda")
    monkeypatch.setattr(compare, "compare", lambda *_, **__: replace(found, choice=beside))
    text = (here / "penguins.csv").read_text(encoding="utf-8").replace(",", "|")
    (here / "other table.csv").write_text(text, encoding="latin-1")
    options = ["--drop", "island", "--category", "year", "--text", "sex", "--na-values", "NA,?"]
    options += ["--delimiter", "|", "--encoding", "latin-1"]
    told = run("compare", "other table.csv", "-t", "species", *options).out
    command = shlex.split(told.rpartition("Go on with: ")[2])
    assert command[:7] == shlex.split("sortal fit 'other table.csv' --target species --learner lda")
    assert command[7:] == [*options, "-o", "model.sortal"]
    assert run(*command[1:]).code == 0

    neither = replace(beside, equals=("logistic",), learner=None)
    monkeypatch.setattr(compare, "compare", lambda *_, **__: replace(found, choice=neither))
    assert "Go on" not in run("compare", "penguins.csv", "-t", "species").out
