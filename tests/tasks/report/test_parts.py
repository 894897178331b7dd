"""Parts of a report: words for numbers, what is cut, typical rows; learners fitted again; trees."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.tasks.report.cases import comparison, entrant, model

import sortal
from sortal import datasets
from sortal.records.tables import Table
from sortal.tasks.compare.settings import ReportOptions
from sortal.tasks.fit import TrainingRows
from sortal.tasks.report.models import ExcerptLimits, cut_rules, cut_tables, fit_again, sentence
from sortal.tasks.report.parts import is_tree, real_rows, smaller_trees, tree_part_of, typical_rows
from sortal.tasks.report.report import names, pictures_folder, report_format
from sortal.tasks.report.why import gap, number, out_of, percent, some_of


def test_numbers_as_people_say_them() -> None:
    assert [number(n) for n in (0, 1, 12, 13, 1234)] == ["no", "one", "twelve", "13", "1,234"]
    said = [percent(x) for x in (0.0, 1 / 3, 0.99999, 1.0)]
    assert said == ["0 %", "33.3 %", "99.999 %", "100 %"]
    assert out_of([0.5, 0.25]) == (100, (50, 25))
    assert out_of([0.995, 0.98, 1.0]) == (1000, (995, 980, 1000))
    assert out_of([1.0, 0.91]) == (100, (100, 91))
    assert gap(0.29, 0.05, 3) == (
        "The difference is smaller than chance may make it in a trial like this (p = 0.29, counted "
        "cautiously because three models were compared)."
    )
    assert "larger than chance would make it in a trial like this (p < 0.001" in gap(0.0, 0.05, 2)
    assert "larger" in gap(0.05, 0.05, 2)
    assert "smaller than chance may make it in a trial like this (p = 1," in gap(1.0, 0.05, 2)
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
    assert names("one") == ("one",)
    assert names(["one", "two"]) == ("one", "two")


@pytest.fixture(scope="module")
def rows() -> TrainingRows:
    table = datasets.penguins()
    X = table.drop(columns="species")
    return TrainingRows(X, table["species"], X, None, np.arange(len(X)))


def test_a_learner_is_fitted_without_warnings(rows: TrainingRows) -> None:
    found = comparison(model("lda", 0.9, 12), categorical_features=("year",))
    again = fit_again(found, entrant("lda"), rows)
    assert (again.note, again.options) == ("", {"categorical_features": ["year"]})
    assert "11 of 344 rows have a missing value and are left out" in str(
        again.estimator.fit_report_
    )


def test_options_are_those_that_most_folds_chose(rows: TrainingRows) -> None:
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
def test_what_would_not_end_is_not_begun(rows: TrainingRows, given: Any, words: str) -> None:
    found = comparison(replace(model("lda", 0.9, 12), **given))
    again = fit_again(found, entrant("lda"), rows)
    assert again.estimator is None
    assert words in again.note


def test_what_a_fit_raises_is_a_note(rows: TrainingRows) -> None:
    unlabeled = replace(rows, y=pd.Series([None] * len(rows.y)))
    again = fit_again(comparison(model("lda", 0.9, 12)), entrant("lda"), unlabeled)
    assert again.estimator is None
    assert again.note.startswith("It could not be fitted. LabelError: ")


def test_a_tree_has_a_slider_where_that_takes_no_time(rows: TrainingRows) -> None:
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
        "The errors of smaller trees would take about 11 seconds: "
        "model.cost_complexity_path(X, y, cv=10)"
    )
    others = replace(rows, X=rows.X[:-1], y=rows.y[:-1])
    path, note = smaller_trees(again, found, others)
    assert path is None
    assert "These are not the rows that the tree was grown from" in note
