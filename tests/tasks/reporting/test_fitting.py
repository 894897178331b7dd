"""Learners fitted again to all rows, or why not; and trees with their smaller ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.tasks.reporting.cases import comparison, entrant, model

from sortal import datasets
from sortal.tasks.reporting.fitting import fit_again
from sortal.tasks.reporting.trees import is_tree, smaller_trees, tree_part_of
from sortal.tasks.training import Rows


@pytest.fixture(scope="module")
def rows() -> Rows:
    table = datasets.penguins()
    X = table.drop(columns="species")
    return Rows(X, table["species"], X, None, np.arange(len(X)))


def test_a_learner_is_fitted_without_warnings(rows: Rows) -> None:
    found = comparison(model("lda", 0.9, 12), categories=("year",))
    again = fit_again(found, entrant("lda"), rows)
    assert (again.note, again.options) == ("", {"categorical_features": ["year"]})
    assert "11 of 344 rows have a hole and are left out" in str(again.estimator.fit_report_)


def test_options_are_those_that_most_folds_chose(rows: Rows) -> None:
    one = replace(
        model("lda", 0.9, 12), chosen=({"shrinkage": 0.5}, {"shrinkage": 0.1}, {"shrinkage": 0.1})
    )
    again = fit_again(comparison(one), entrant("lda"), rows)
    assert again.note == "Fitted with shrinkage=0.1, which 2 of 3 folds chose."
    assert again.estimator.shrinkage == 0.1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"fit_seconds": None, "status": "error: out of memory"},
            "It finished no fold of the comparison and was not fitted here (error: out of memory).",
        ),
        ({"fit_seconds": 90.0, "rows": 50}, "which would take about 180 seconds"),
    ],
)
def test_what_would_not_end_is_not_begun(rows: Rows, given: Any, words: str) -> None:
    found = comparison(replace(model("lda", 0.9, 12), **given))
    again = fit_again(found, entrant("lda"), rows)
    assert again.estimator is None
    assert words in again.note


def test_what_a_fit_raises_is_a_note(rows: Rows) -> None:
    unlabeled = replace(rows, y=pd.Series([None] * len(rows.y)))
    again = fit_again(comparison(model("lda", 0.9, 12)), entrant("lda"), unlabeled)
    assert again.estimator is None
    assert again.note.startswith("It could not be fitted. LabelError: ")


def test_a_tree_has_a_slider_where_that_takes_no_time(rows: Rows) -> None:
    found = comparison(model("tree", 0.9, 12))
    again = fit_again(found, entrant("tree"), rows)
    assert is_tree(again.estimator)
    path, note = smaller_trees(again, found, rows)
    assert path is not None
    assert note == ""
    assert path.cv_error is not None
    own = tree_part_of(again, path, is_chosen=False)
    led = tree_part_of(again, path, is_chosen=True)
    assert (own.data["model"], led.data["model"]) == (own.id, "decide")
    slow = comparison(replace(model("tree", 0.9, 12), fit_seconds=1.0))
    path, note = smaller_trees(replace(again, result=slow["tree"]), slow, rows)
    assert path is None
    assert note == (
        "The errors of smaller trees would take about 11 seconds: model.complexity(X, y, cv=10)"
    )
    others = replace(rows, X=rows.X[:-1], y=rows.y[:-1])
    path, note = smaller_trees(again, found, others)
    assert path is None
    assert "These are not the rows that the tree was grown from" in note
