"""Learners that hold rows, at the command line: their options, and what is said of their files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import sortal
from sortal.cli.options import read_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FIT = ("fit", "penguins.csv", "-t", "species", "-o", "new.sortal", "-l")
NUMBERS = ("--drop", "island", "--drop", "sex")


def settings(*given: str) -> list[str]:
    return [word for one in given for word in ("--set", one)]


def test_options_of_kernels_can_be_typed(run: Callable[..., Any], here: Path) -> None:
    assert run(*FIT, "kernel", *settings("kernel=poly", "coef0=1", "ridge=loo")).code == 0
    model = sortal.load(here / "new.sortal")
    assert (model.kernel_.name, model.kernel_.degree, len(model.loo_curve_.rows)) == ("poly", 2, 9)
    few = settings("solver=landmarks", "n_landmarks=20", "ridge=null")
    script = run(*FIT, "kernel", *few, "--show-code").out
    assert "{'solver': 'landmarks', 'n_landmarks': 20, 'ridge': None}" in script


def test_neighbors_are_chosen_among_a_list(run: Callable[..., Any], here: Path) -> None:
    given = settings("n_neighbors=[1, 3]", "weights=rank", "scale=None")
    assert run(*FIT, "neighbors", *given, *NUMBERS).code == 0
    model = sortal.load(here / "new.sortal")
    assert model.loo_curve_.column("k") == (1, 3)
    assert (model.weights_, model.scale_) == ("rank", {})


def test_an_infinite_power_can_be_typed(run: Callable[..., Any], here: Path) -> None:
    assert read_settings(["p=inf"]) == {"p": float("inf")}
    given = ("neighbors", *settings("metric=minkowski", "p=inf"), *NUMBERS)
    assert run(*FIT, *given).code == 0
    script = run(*FIT, *given, "--show-code").out
    assert "'p': float('inf')" in script
    rows = sortal.read("penguins.csv").dropna()
    before = sortal.load(here / "new.sortal").predict(rows)
    (here / "new.sortal").unlink()
    exec(script, {})  # noqa: S102
    assert (sortal.load(here / "new.sortal").predict(rows) == before).all()


@pytest.mark.parametrize(
    ("learner", "title", "shown", "worked"),
    [
        ("kernel", "kernel discriminant", "Projected classes", "projections"),
        ("neighbors", "nearest neighbors", "distance     gower", "scale"),
    ],
)
def test_every_command_takes_its_file(
    run: Callable[..., Any], learner: str, title: str, shown: str, worked: str
) -> None:
    done = run(*FIT, learner)
    assert done.out.startswith(f"{title}, ")
    assert "wrote new.sortal\nnote: this file holds rows that were learned from" in done.err
    assert "holds rows" not in run(*FIT, learner, "-q").err
    assert "holds rows" not in run(*FIT, "bayes").err
    assert run(*FIT, learner, "-q").code == 0
    said = run("predict", "new.sortal", "penguins.csv", "-q").out.splitlines()
    assert said[:2] == ["row,prediction", "1,Adelie"]
    told = run("explain", "new.sortal", "penguins.csv", "--row", "4")
    assert told.out.startswith("Row 4. Adelie")
    assert "missing" in told.out
    assert shown in run("show", "new.sortal").out
    work = run("working", "penguins.csv", "-t", "species", "-l", learner, "--row", "4", "--json")
    assert worked in [table["name"] for table in json.loads(work.out)["tables"]]
