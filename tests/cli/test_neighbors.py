"""Nearest neighbors at the command line: their options and their file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import sortal
from sortal.cli.settings import read_settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FIT = ("fit", "penguins.csv", "-t", "species", "-l", "neighbors", "-o", "new.sortal")
NUMBERS = ("--drop", "island", "--drop", "sex")


def test_neighbors_are_chosen_among_a_list(run: Callable[..., Any], here: Path) -> None:
    given = ("--set", "n_neighbors=[1, 3]", "--set", "weights=rank", "--set", "scale=None")
    assert run(*FIT, *given, *NUMBERS).code == 0
    model = sortal.load(here / "new.sortal")
    assert model.loo_curve_.column("k") == (1, 3)
    assert (model.weights_, model.scale_) == ("rank", {})


def test_an_infinite_power_can_be_typed(run: Callable[..., Any], here: Path) -> None:
    assert read_settings(["p=inf"]) == {"p": float("inf")}
    given = ("--set", "metric=minkowski", "--set", "p=inf", *NUMBERS)
    assert run(*FIT, *given).code == 0
    script = run(*FIT, *given, "--show-code").out
    assert "'p': float('inf')" in script
    rows = sortal.read("penguins.csv").dropna()
    before = sortal.load(here / "new.sortal").predict(rows)
    (here / "new.sortal").unlink()
    exec(script, {})  # noqa: S102
    assert (sortal.load(here / "new.sortal").predict(rows) == before).all()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("n_neighbors=[1, 345]",), "n_neighbors=345 but the rows have weight 344"),
        (("n_neighbors=1,3",), "n_neighbors='1,3'"),
        (("metric=hamming", "scale=std"), "scale='std' does not fit metric='hamming'"),
        (("p=NaN",), "p=nan cannot be used"),
        (("neighbors=3",), "no option 'neighbors': it has 'n_neighbors'"),
    ],
)
def test_what_does_not_fit_is_one_line(
    run: Callable[..., Any], here: Path, given: tuple[str, ...], words: str
) -> None:
    done = run(*FIT, *(word for one in given for word in ("--set", one)))
    assert (done.code, words in done.err, done.err.count("\n")) == (1, True, 1)
    assert not (here / "new.sortal").exists()


def test_the_file_predicts_explains_and_is_shown(run: Callable[..., Any], here: Path) -> None:
    done = run(*FIT)
    assert done.out.startswith("nearest neighbors, ")
    assert "wrote new.sortal\nnote: this file holds rows that were learned from" in done.err
    assert "holds rows" not in run(*FIT, "-q").err
    other = run("fit", "penguins.csv", "-t", "species", "-l", "bayes", "-o", "other.sortal")
    assert "holds rows" not in other.err
    assert sortal.load(here / "new.sortal").metric_ == "gower"
    said = run("predict", "new.sortal", "penguins.csv", "--proba")
    assert said.out.splitlines()[0] == "row,prediction,P(Adelie),P(Chinstrap),P(Gentoo)"
    told = run("explain", "new.sortal", "penguins.csv", "--row", "4")
    assert told.out.startswith("Row 4. Adelie")
    assert "missing" in told.out
    shown = run("show", "new.sortal").out
    for words in ("distance     gower", "neighbors    5", "votes        uniform", "divided by"):
        assert words in shown
    work = ("work", "penguins.csv", "-t", "species", "-l", "neighbors", "--row", "4", "--json")
    names = [table["name"] for table in json.loads(run(*work).out)["tables"]]
    assert names[:2] == ["scale", "classes"]
