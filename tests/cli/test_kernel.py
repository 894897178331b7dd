"""The kernel discriminant at the command line: its options and its file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import sortal

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FIT = ("fit", "penguins.csv", "-t", "species", "-l", "kernel", "-o", "new.sortal")


def test_options_can_be_typed(run: Callable[..., Any], here: Path) -> None:
    given = ("--set", "kernel=poly", "--set", "coef0=1", "--set", "ridge=loo")
    assert run(*FIT, *given).code == 0
    model = sortal.load(here / "new.sortal")
    assert (model.kernel_.name, model.kernel_.degree, len(model.loo_curve_.rows)) == ("poly", 2, 9)
    few = ("--set", "solver=landmarks", "--set", "n_landmarks=20", "--set", "ridge=null")
    assert run(*FIT, *few).code == 0
    assert sortal.load(here / "new.sortal").n_landmarks_ == 20
    script = run(*FIT, *few, "--show-code").out
    assert "{'solver': 'landmarks', 'n_landmarks': 20, 'ridge': None}" in script


def test_every_command_takes_its_file(run: Callable[..., Any], here: Path) -> None:
    done = run(*FIT)
    assert done.code == 0
    assert done.out.startswith("kernel discriminant, ")
    assert "wrote new.sortal\nnote: this file holds rows that were learned from" in done.err
    assert sortal.load(here / "new.sortal").solver_ == "dense"
    said = run("predict", "new.sortal", "penguins.csv", "-q").out.splitlines()
    assert said[:2] == ["row,prediction", "1,Adelie"]
    why = run("explain", "new.sortal", "penguins.csv", "--row", "1", "--json", "-q")
    assert why.code == 0
    assert json.loads(why.out)
    assert "Projected classes" in run("show", "new.sortal").out
    worked = run("work", "penguins.csv", "-t", "species", "-l", "kernel", "-q")
    assert worked.out.startswith("Kernel discriminant: rbf kernel of 333 rows")
