"""Costs and thresholds as they are typed: what they become, and what a fit and predictions do."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import sortal
from sortal import datasets
from sortal.cli.options import read_cost_options

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ([], None),
        (["balanced"], "balanced"),
        (["yes->no=10"], {("yes", "no"): 10}),
        (["a -> b = 1.5", "b->a=0"], {("a", "b"): 1.5, ("b", "a"): 0}),
        (["a=b->c=d=2"], {("a=b", "c=d"): 2}),
        (['"a->b"->c=2'], {("a->b", "c"): 2}),
        (['c->"a->b"=2'], {("c", "a->b"): 2}),
        (['"\\"a\\""->b=2'], {('"a"', "b"): 2}),
    ],
)
def test_costs_are_read_by_the_names_of_classes(given: list[str], wanted: object) -> None:
    assert read_cost_options(given, None) == wanted


def test_a_threshold_is_what_a_probability_reaches() -> None:
    assert read_cost_options(None, "yes=0.5") == {("yes", None): 1 + 1e-12}
    table = pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0, 4.0]}), ["yes", "no", "no", "no", "no"]
    model: Any = sortal.NeighborsClassifier(n_neighbors=5).fit(*table)
    assert set(model.predict_proba(table[0])[:, 1]) == {0.2}
    for threshold, said in (("yes=0.2", "yes"), ("yes=0.21", "no"), ("no=0.8", "no")):
        costs = read_cost_options(None, threshold)
        assert set(model.predict(table[0], costs=costs)) == {said}
    costs = read_cost_options(None, "no=0.81")
    assert set(model.predict(table[0], costs=costs)) == {"yes"}


def said_of(done: Any) -> list[str]:
    assert done.code == 0, done.err
    return [row["prediction"] for row in json.loads(done.out)]


def test_fit_and_predict_take_them(run: Callable[..., Any], here: Path) -> None:
    fit = ("fit", "penguins.csv", "-t", "sex", "-l", "lda", "-o")
    frame = datasets.penguins().drop(columns="sex").dropna()
    frame.to_csv(here / "rows.csv", index=False)
    ask = ("predict", "new.sortal", "rows.csv", "--json")
    for typed, costs in (
        (("--cost", "female->male=10"), {("female", "male"): 10}),
        (("--threshold", "female=0.1"), [[0, 9.000000000009], [1, 0]]),
        (("--cost", "balanced"), "balanced"),
    ):
        assert run(*fit, "costed.sortal", *typed).code == 0
        model: Any = sortal.load(here / "costed.sortal")
        assert run(*fit, "new.sortal").code == 0
        plain: Any = sortal.load(here / "new.sortal")
        wanted = plain.predict(frame, costs=costs).tolist()
        assert model.predict(frame).tolist() == said_of(run(*ask, *typed)) == wanted
        assert wanted != plain.predict(frame).tolist()
    assert run(*fit, "set.sortal", "--set", "costs=balanced").code == 0
    again: Any = sortal.load(here / "set.sortal")
    assert again.costs == "balanced"
    assert again.predict(frame).tolist() == wanted


def test_classes_that_are_numbers_are_typed_as_they_print(
    run: Callable[..., Any], here: Path
) -> None:
    datasets.penguins().assign(island=lambda p: (p.island == "Dream").astype(int)).to_csv(
        here / "coded.csv", index=False
    )
    fit = ("fit", "coded.csv", "-t", "island", "-l", "bayes", "-o", "coded.sortal")
    assert run(*fit, "--cost", "1->0=7").code == 0
    model: Any = sortal.load(here / "coded.sortal")
    assert model.costs == {("1", "0"): 7}
    assert model._fitted.read_costs().tolist() == [[0, 1], [7, 0]]


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("-t sex --cost female->mal=2", "error: --cost names 'mal', and the classes are 'female'"),
        ("-t species --threshold Adelie=0.2", "error: --threshold names an error by one label"),
        ("-t sex --threshold x=0.2", "error: --threshold names 'x'"),
        ("-t sex --cost balanced --set costs=balanced", "--set costs and --cost"),
        ("-t species -l indicator --cost balanced", "error: --cost cannot be given to an Indic"),
    ],
)
def test_what_is_wrong_names_the_option(run: Callable[..., Any], typed: str, words: str) -> None:
    learner = () if "-l" in typed else ("-l", "lda")
    done = run("fit", "penguins.csv", *typed.split(), *learner, "-o", "new.sortal")
    assert done.code == 1
    assert words in done.err


def test_predict_names_the_option_too(run: Callable[..., Any]) -> None:
    assert run("fit", "penguins.csv", "-t", "sex", "-l", "fisher", "-o", "f.sortal").code == 0
    done = run("predict", "f.sortal", "penguins.csv", "--cost", "balanced")
    assert (done.code, "set them as its parameters and fit again" in done.err) == (1, True)
    assert run("fit", "penguins.csv", "-t", "sex", "-l", "bayes", "-o", "b.sortal").code == 0
    done = run("predict", "b.sortal", "penguins.csv", "--threshold", "x=0.5")
    assert "error: --threshold names 'x', and the classes are 'female', 'male'" in done.err
