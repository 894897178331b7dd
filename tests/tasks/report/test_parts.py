"""Parts of a report: words for numbers, what is cut, typical rows; learners fitted again; trees."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.tasks.report.cases import candidate, comparison, fitted, model

import sortal
from sortal import datasets
from sortal.records.tables import Table
from sortal.tasks.compare.settings import CompareOptions, ReportOptions
from sortal.tasks.fit import TrainingRows
from sortal.tasks.report.models import ExcerptLimits, cut_rules, cut_tables, fit_again, sentence
from sortal.tasks.report.parts import (
    is_tree,
    learner_pictures,
    part_id,
    real_rows,
    smaller_trees,
    tree_part_of,
    typical_rows,
)
from sortal.tasks.report.report import pictures_folder, report_format
from sortal.tasks.show import some_of


def test_long_lists_are_cut() -> None:
    assert some_of(["a"]) == "a"
    assert some_of(["a", 2, "c\nd"]) == "a, 2 and c d"
    assert some_of(range(10), 8) == "0, 1, 2, 3, 4, 5, 6, 7 and 2 more"
    assert some_of(range(9), 8).endswith("7 and 8")


def table(name: str, n: int, width: int = 2) -> Table:
    heads = ("rank", *(f"c{j}" for j in range(1, width)))
    rows = tuple((n - i, *([i] * (width - 1))) for i in range(n))
    return Table(name, name, heads, rows)


def test_what_is_cut_keeps_what_says_most() -> None:
    many = [table(f"t{i}", 3) for i in range(20)]
    kept, words = cut_tables(many, ExcerptLimits(6, 10, 10))
    assert [one.name for one in kept] == ["t0", "t1", "t2", "t17", "t18", "t19"]
    assert words == ("6 of 20 tables are shown, the first 3 and the last 3",)
    (long,), words = cut_tables([table("long", 50, 5)], ExcerptLimits(6, 10, 3))
    assert long.column("rank") == tuple(range(10, 0, -1))  # the best ten, in their order
    assert long.columns == ("rank", "c1", "c2")
    assert long.title == "long (10 of 50 rows) (3 of 5 columns)"
    assert words[0].startswith("of 1 long table 10 rows at most are shown")
    plain = Table("p", "p", ("a",), tuple((i,) for i in range(9)))
    (first,), _ = cut_tables([plain], ExcerptLimits(6, 4, 3))
    assert first.column("a") == (0, 1, 2, 3)
    whole, words = cut_tables(many[:2], ExcerptLimits(6, 10, 10))
    assert (whole, words) == (tuple(many[:2]), ())
    assert cut_rules(None, 3) == (None, "")
    rules: Any = [1, 2, 3, 4]
    assert cut_rules(rules, 3) == (rules[:3], "3 of 4 rules are shown")
    assert sentence([], "f()") == ""
    assert sentence(["one", "", "two"], "f()") == "One; two. All of it: f()"


@pytest.mark.parametrize("library", [pd, pl])
def test_typical_rows_are_middles_and_most_frequent(library: Any) -> None:
    frame = {
        "x": [1.0, 2.0, 3.0, 4.0, None, 9.0] + [0.0] * 4,
        "word": ["a", "b", "b", None, "b", "a"] + ["c"] * 4,
        "empty": [None] * 6 + ["e"] * 4,
    }
    y = ["p"] * 6 + ["q"] * 4
    model = sortal.DiscreteBayes().fit(pd.DataFrame(frame), y)
    X, labels = library.DataFrame(frame), library.Series(y)
    found = typical_rows(X, labels, ["p", "q"], model._schema.columns)
    # of q there are four rows, and what is typical of them would nearly be one of them
    assert found == [("a typical row of p", {"x": 3.0, "word": "b", "empty": None})]
    shown = real_rows(X, [5, 10], model._schema.columns)
    assert shown[0] == ("row 5", {"x": None, "word": "b", "empty": None})
    assert shown[1][0] == "row 10"


def test_typical_rows_of_at_most_twelve_classes() -> None:
    y = np.repeat(np.arange(20), np.arange(5, 25))
    frame = pd.DataFrame({"x": np.arange(len(y), dtype=float)})
    model = sortal.LinearDiscriminant().fit(frame, y)
    found = typical_rows(frame, pd.Series(y), model.classes_.tolist(), model._schema.columns)
    assert [label for label, _ in found] == [f"a typical row of {k}" for k in range(8, 20)]


def test_the_name_says_the_form() -> None:
    assert report_format("a.html", None) == "html"
    assert report_format(Path("A.HTM"), None) == "html"
    assert report_format("a.markdown", None) == "md"
    assert report_format("a.txt", "md") == "md"
    assert pictures_folder("x/a.b.md") == Path("x/a.b_pictures")
    assert pictures_folder("x/a.b.markdown") != Path("x/a.b_pictures")


def test_wishes_tell_what_is_not_usual() -> None:
    assert ReportOptions("y").named() == {}
    wishes = ReportOptions("y", learners=("lda",), drop=("a",), n_jobs=1, reading={"decimal": ","})
    assert wishes.named() == {"learners": ["lda"], "drop": ["a"]}
    assert wishes.fitting() == {"drop": ["a"]}
    grouped = ReportOptions("y", use=("b",), merge_rare="rest", min_class_rows=9, repeats=2)
    assert grouped.fitting() == {"use": ["b"], "min_class_rows": 9, "merge_rare": "rest"}


HOSTILE = (
    *("tree", "a_b", "a__b", "a_", "Tree", "t" * 300, f"t:{'x' * 300}", f"t:{'x' * 299}"),
    *("tree:max_leaf_nodes=16", "tree:max_leaf_nodes=-16"),
    *("tree:costs=[[0, 1], [2, 0]]", "tree:criterion=é"),
)


def test_every_model_has_a_name_of_its_own_that_pages_and_files_can_have() -> None:
    made = [part_id(name) for name in HOSTILE]
    assert len(set(made)) == len(made)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in made)
    assert made[:2] == ["tree", "a-b"]
    assert max(len(name) for name in made if name != "t" * 300) < 60


@pytest.fixture(scope="module")
def rows() -> TrainingRows:
    table = datasets.penguins()
    X = table.drop(columns="species")
    return TrainingRows(X, table["species"], X, None, np.arange(len(X)))


def test_a_learner_is_fitted_without_warnings(rows: TrainingRows) -> None:
    asked = CompareOptions("species", categorical_features=("year",))
    found = comparison(model("lda", 0.9, 12), asked=asked)
    again = fit_again(found, candidate("lda"), rows)
    assert (again.note, again.options) == ("", {"categorical_features": ["year"]})
    assert "11 of 344 rows have a missing value and are left out" in str(
        again.estimator.fit_report_
    )


def test_a_learner_is_fitted_as_it_was_compared(rows: TrainingRows) -> None:
    name = "tree:max_leaf_nodes=4"
    found = comparison(model(name, 0.9, 12), model("lda", 0.9, 12), costs="balanced")
    again = fit_again(found, candidate(name), rows)
    assert (again.name, again.note) == (name, "")
    assert again.options == {"random_state": 0, "costs": "balanced", "max_leaf_nodes": 4}
    assert again.estimator.get_n_leaves() <= 4
    (cost, *_) = again.estimator._fitted.read_costs()[1]
    n = rows.y.value_counts()
    assert cost == pytest.approx(len(rows.y) / n["Chinstrap"])


def test_what_takes_no_costs_says_that_it_predicts_without_them(rows: TrainingRows) -> None:
    found = comparison(model("indicator", 0.9, 12), costs="balanced")
    again = fit_again(found, candidate("indicator"), rows)
    assert again.options == {}
    assert again.note.startswith("In the comparison costs decided among its scores; it takes no")
    assert not fit_again(comparison(model("indicator", 0.9, 12)), candidate("indicator"), rows).note


def test_options_are_those_that_most_folds_chose(rows: TrainingRows) -> None:
    one = replace(
        model("lda", 0.9, 12), chosen=({"shrinkage": 0.5}, {"shrinkage": 0.1}, {"shrinkage": 0.1})
    )
    again = fit_again(comparison(one), candidate("lda"), rows)
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
def test_what_would_not_end_is_not_begun(rows: TrainingRows, given: Any, words: str) -> None:
    found = comparison(replace(model("lda", 0.9, 12), **given))
    again = fit_again(found, candidate("lda"), rows)
    assert again.estimator is None
    assert words in again.note


def test_what_a_fit_raises_is_a_note(rows: TrainingRows) -> None:
    unlabeled = replace(rows, y=pd.Series([None] * len(rows.y)))
    again = fit_again(comparison(model("lda", 0.9, 12)), candidate("lda"), unlabeled)
    assert again.estimator is None
    assert again.note.startswith("It could not be fitted. LabelError: ")


def test_a_tree_has_a_slider_where_that_takes_no_time(rows: TrainingRows) -> None:
    found = comparison(model("tree", 0.9, 12))
    again = fit_again(found, candidate("tree"), rows)
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
        "The errors of smaller trees would take about 11 seconds: "
        "model.cost_complexity_path(X, y, cv=10)"
    )
    named = replace(again, candidate=candidate("tree:max_depth=3"))
    part = tree_part_of(named, path, is_chosen=False)
    assert part.id != own.id
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", part.id)
    others = replace(rows, X=rows.X[:-1], y=rows.y[:-1])
    path, note = smaller_trees(again, found, others)
    assert path is None
    assert "These are not the rows that the tree was grown from" in note


def test_two_models_of_one_learner_have_pictures_of_their_own(rows: TrainingRows) -> None:
    names = ("tree:max_depth=2", "tree:max_depth=3")
    found = comparison(*(model(name, 0.9, 12) for name in names))
    wishes = ReportOptions("species")
    drawn = []
    for name in names:
        again = fit_again(found, candidate(name), rows)
        pictures, _ = learner_pictures(again, found, rows, wishes, is_chosen=False)
        assert pictures[0].part is not None
        assert [one.name for one in pictures if not one.in_page] == [pictures[-1].name]
        drawn += [one.name for one in pictures] + [pictures[0].part.id]
    assert len(set(drawn)) == len(drawn)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name) for name in drawn)
    assert learner_pictures(
        fitted(found, names[0], estimator=None), found, rows, wishes, is_chosen=True
    ) == ((), ())
