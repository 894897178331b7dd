"""Nearest neighbors at the command line: their options, their file, and what is refused."""

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


def test_a_fit_says_that_its_file_holds_the_rows(run: Callable[..., Any], here: Path) -> None:
    done = run(*FIT)
    assert done.code == 0
    assert done.out.startswith("nearest neighbors, ")
    assert "wrote new.sortal\nnote: this file holds rows that were learned from" in done.err
    assert sortal.load(here / "new.sortal").metric_ == "gower"
    assert "holds the rows" not in run(*FIT, "-q").err
    other = run("fit", "penguins.csv", "-t", "species", "-l", "bayes", "-o", "new.sortal")
    assert "holds the rows" not in other.err


def test_neighbors_are_chosen_among_a_list(run: Callable[..., Any], here: Path) -> None:
    given = ("--set", "n_neighbors=[1, 3]", "--set", "weights=rank", "--set", "scale=None")
    assert run(*FIT, *given, *NUMBERS).code == 0
    model = sortal.load(here / "new.sortal")
    assert model.loo_curve_.column("k") == (1, 3)
    assert (model.weights_, model.scale_) == ("rank", {})
    assert run(*FIT, "--set", "n_neighbors=loo").code == 0
    assert len(sortal.load(here / "new.sortal").loo_curve_.rows) == 17 * 6


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
        (("n_neighbors=0",), "n_neighbors=0 cannot be used"),
        (("n_neighbors=345",), "n_neighbors=345 but the rows have weight 344"),
        (("n_neighbors=[1, 345]",), "n_neighbors=345 but the rows have weight 344"),
        (("n_neighbors=[]",), "n_neighbors=[] cannot be used"),
        (("n_neighbors=1,3",), "n_neighbors='1,3'"),
        (("metric=cosine",), "metric='cosine'"),
        (("metric=euclidean",), "'island', 'sex'"),
        (("metric=minkowski", "p=0.5"), "p=0.5 cannot be used"),
        (("p=NaN",), "p=nan cannot be used"),
        (("metric=hamming", "scale=std"), "scale='std' does not fit metric='hamming'"),
        (("weights=near",), "weights='near'"),
        (("unknown=skipp",), "unknown='skipp'"),
        (("neighbors=3",), "no option 'neighbors': it has 'n_neighbors'"),
    ],
)
def test_what_does_not_fit_is_one_line(
    run: Callable[..., Any], here: Path, given: tuple[str, ...], words: str
) -> None:
    done = run(*FIT, *(word for one in given for word in ("--set", one)))
    assert done.code == 1
    assert words in done.err
    assert done.err.count("\n") == 1
    assert not (here / "new.sortal").exists()


def test_the_file_predicts_explains_and_is_shown(run: Callable[..., Any], here: Path) -> None:
    assert run(*FIT).code == 0
    said = run("predict", "new.sortal", "penguins.csv", "--proba")
    assert said.code == 0
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


def test_neighbors_are_compared(run: Callable[..., Any]) -> None:
    done = run(
        *("compare", "penguins.csv", "-t", "species", "-l", "neighbors", "-l", "bayes"),
        *("--folds", "3", "--repeats", "1", "--no-baselines", "--json", "-q"),
    )
    assert done.code == 0
    found = {model["name"]: model for model in json.loads(done.out)["models"]}
    assert found["neighbors"]["score"] > 0.9
