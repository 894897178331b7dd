"""The answer says what is so, in words that need no statistics."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.tasks.report.cases import comparison, facts, fitted, model

from sortal import datasets
from sortal.records.render import PagePart
from sortal.records.tables import Table
from sortal.tasks.compare.fold_run import Folds
from sortal.tasks.compare.settings import ReportOptions
from sortal.tasks.inspection import inspect
from sortal.tasks.registry import learners
from sortal.tasks.report.answer import answer
from sortal.tasks.report.gather import _chosen
from sortal.tasks.report.parts import has_form
from sortal.tasks.report.why import how_sure, why
from sortal.tasks.tables import open_table

if TYPE_CHECKING:
    from pathlib import Path

    from sortal.tasks.compare.comparison import Comparison
    from sortal.tasks.inspection import Inspection
    from sortal.tasks.report.answer import SummaryTexts

MAJORITY = model("majority", 1 / 3, 1)


@pytest.fixture(scope="module")
def data() -> Inspection:
    return inspect(datasets.penguins(), "species")


def told(found: Comparison, name: str, data: Inspection, **given: Any) -> SummaryTexts:
    chosen = fitted(found, name)
    wishes = ReportOptions("kind", **given)
    return answer(data, found, [facts(found, name)], chosen, wishes, None, decides=True)


def test_the_best_is_chosen_where_simpler_ones_are_worse(data: Inspection) -> None:
    found = comparison(model("lda", 0.974, 12), model("tree", 0.7, 5), MAJORITY)
    said = told(found, "lda", data)
    assert said.which.startswith("To predict kind, take the model called “linear discriminant”.\n")
    assert "It looks at 3 columns: x, wide one and z." in said.which
    assert "100 rows and tells three classes apart: ant, bee and cow." in said.which
    assert "The whole model is 12 numbers." in said.which
    assert said.why.startswith("It is the best: “linear discriminant” gets 97.4 % right.")
    assert "the nearest of them, “decision tree”, gets 70.0 % right" in said.why
    assert "The difference is larger than chance would make it in a trial like" in said.why
    assert "(p < 0.001, counted cautiously because three models were compared)" in said.why
    assert "always saying ant, the commonest class, gets 33.3 % by this measure" in said.why
    assert "two that this report shows and one other to compare with, were tried" in said.why
    assert "of which it knew nothing" in said.why
    assert said.how_sure.startswith(
        "Of 100 new rows of each class it will get about 97 right; anything from 95 to 99 is "
        "plausible (the 95 % interval)."
    )


def test_the_simplest_is_chosen_among_equals(data: Inspection) -> None:
    found = comparison(model("tree", 0.9742, 90), model("lda", 0.974, 12), MAJORITY)
    assert found.choice.chosen == "lda"
    said = told(found, "lda", data).why
    assert said.startswith("It is the simplest of the models that do best.")
    assert "“decision tree”, which gets 97.4 % right" in said
    assert "in the trials it decided by about 12 numbers, the other by about 90 numbers." in said
    assert "The difference is smaller than chance may make it in a trial like this (p = " in said


@pytest.mark.parametrize("size", [12, 12.4, None])
def test_models_of_one_size_are_not_called_simpler(size: float | None) -> None:
    found = comparison(model("logistic", 0.9742, 12.4), model("lda", 0.974, 12), MAJORITY)
    assert found.choice.chosen == "lda"
    models = tuple(replace(one, size=size) if one.name == "lda" else one for one in found.models)
    if size is None:
        models = tuple(replace(one, size=None) for one in models)
    said = why(replace(found, models=models), fitted(found, "lda"))
    assert said.startswith("Of the models that do best, none is simpler.\n")
    both = "numbers not counted" if size is None else "about 12 numbers"
    assert f"“linear discriminant” is no larger: in the trials both decided by {both}." in said
    assert "is simpler:" not in said


def test_simpler_ones_that_chance_cannot_exclude_are_no_better_than_the_commonest() -> None:
    found = comparison(model("tree", 0.9, 90), model("lda", 0.3, 12), MAJORITY)
    odds = {**found.choice.p_values, "lda": 0.4}  # huge losses in a few folds
    found = replace(found, choice=replace(found.choice, p_values=odds))
    said = why(found, fitted(found, "tree"))
    assert "Simpler models do no better than always saying the commonest class." in said


def test_one_model_alone() -> None:
    found = comparison(model("lda", 0.9, 12))
    said = why(found, fitted(found, "lda"))
    assert said.startswith(
        "There was nothing to choose: “linear discriminant” was the only one asked for; it gets "
    )
    assert "the model was tried on 100 rows" in said
    found = comparison(model("lda", 0.9, 12), model("tree", 0.9, 5, eligible=False))
    said = why(found, fitted(found, "lda"))
    assert said.startswith("There was nothing to choose: only “linear discriminant” came to the")


def test_exact_ties_are_told(data: Inspection) -> None:
    tied = comparison(model("lda", 0.9, 12), model("qda", 0.9, 12), MAJORITY)
    said = told(tied, "lda", data).why
    assert said.startswith(
        "None is better: “linear discriminant” gets 90.0 % right, and none is simpler but always "
        "saying the same. “quadratic discriminant” gets the same by as many numbers; of such "
        "models the first by name is taken."
    )
    assert "Perhaps as good" not in said
    other: dict[str, Any] = {"name": "logistic", "title": "logistic regression", "baseline": True}
    one = replace(model("lda", 0.9, 12), **other)
    said = told(comparison(model("lda", 0.9, 12), one, MAJORITY), "lda", data).why
    assert "of such models one that this report can show is taken." in said
    larger = comparison(model("lda", 0.9, 12), model("qda", 0.9, 20), MAJORITY)
    said = told(larger, "lda", data).why
    assert said.startswith("None is better: ")
    assert "Perhaps as good, but no simpler: “quadratic discriminant”." in said


def test_a_size_that_is_not_known_is_not_small() -> None:
    found = comparison(model("lda", 0.9, 12), model("tree", 0.5, 20), MAJORITY)
    models = tuple(replace(one, size=None) if one.name == "tree" else one for one in found.models)
    said = why(replace(found, models=models), fitted(found, "lda"))
    assert "none is simpler but always saying the same" in said


def test_a_baseline_that_comes_first_is_not_shown(data: Inspection) -> None:
    close = comparison(model("logistic", 0.974, 12), model("lda", 0.973, 14), MAJORITY)
    said = told(close, "lda", data).why
    assert said.startswith(
        "What the comparison would take is “logistic regression”. It is the best"
    )
    assert "This report goes on with “linear discriminant”, which gets 97.3 % right" in said
    far = comparison(model("logistic", 0.974, 12), model("lda", 0.6, 14), MAJORITY)
    assert far.choice.learner is None
    said = told(far, "lda", data).why
    assert (
        "the best of sortal's own. It gets 60.0 % right, which is worse. The difference is larger"
        in said
    )
    assert "cannot be read here" in why(far, None)


def test_nothing_learned_is_said_first(data: Inspection) -> None:
    found = comparison(model("lda", 0.334, 12), MAJORITY)
    said = told(found, "lda", data)
    assert said.which.startswith("None can be recommended to predict kind.")
    assert said.why.startswith("Nothing was learned, or too little to tell")
    assert "too short" not in said.why
    short = comparison(model("lda", 0.334, 12), MAJORITY, folds=Folds(3, 1, 0))
    assert "or the trial was too short (3 folds, once)" in told(short, "lda", data).why


def test_what_is_shown_where_nothing_was_learned(data: Inspection) -> None:
    found = comparison(model("lda", 0.334, 12), model("tree", 0.333, 5), MAJORITY)
    assert found.choice.learner == "tree"
    said = told(found, "tree", data).which
    assert "Shown is “decision tree”: of the models here that cannot be told apart" in said
    said = told(found, "lda", data).which
    assert "Shown is “linear discriminant”, the best of those shown by balanced accuracy." in said


@pytest.mark.parametrize(
    ("metric", "score", "words"),
    [
        ("balanced_accuracy", 0.275, "It gets 27.5 % right, and always saying the commonest class"),
        ("balanced_accuracy", 1 / 3, "class gets 33.3 %.\n"),
        ("balanced_accuracy", 0.35, "class gets 33.3 %. The lead may be chance.\n"),
        ("accuracy", 0.49, "class gets 50.0 %.\n"),
        ("log_loss", 1.04, "giving every row the same shares of the classes gets 1.030.\n"),
        ("log_loss", 1.02, "gets 1.030. The lead may be chance.\n"),
    ],
)
def test_no_coin_flip_is_recommended_without_baselines(
    data: Inspection, metric: str, score: float, words: str
) -> None:
    said = told(comparison(model("lda", score, 12), metric=metric), "lda", data)
    assert said.which.startswith("None can be recommended to predict kind. Shown is “linear")
    assert words in said.which
    assert said.why.startswith("Nothing was learned, or too little to tell")


def test_what_beats_the_commonest_class_is_recommended(data: Inspection) -> None:
    for metric, score in (("accuracy", 0.53), ("log_loss", 1.0)):
        said = told(comparison(model("lda", score, 12), metric=metric), "lda", data)
        assert said.which.startswith("To predict kind, take")


def test_a_coin_flip_behind_a_baseline_is_not_recommended(data: Inspection) -> None:
    far = comparison(model("logistic", 0.9, 12), model("lda", 0.335, 14), MAJORITY)
    said = told(far, "lda", data)
    assert said.which.startswith(
        "The best found here is a method that this report cannot show (“logistic regression”, "
        "90.0 % right); of those that it shows, “linear discriminant” cannot be recommended to "
        "predict kind. It gets 33.5 % right, and always saying the commonest class gets 33.3 %. "
        "The lead may be chance.\n"
    )
    assert "for reading, not for use" in said.why
    worse = comparison(model("logistic", 0.9, 12), model("lda", 0.6, 14), MAJORITY)
    said = told(worse, "lda", data)
    assert "of those that it shows, take “linear discriminant” to predict kind.\n" in said.which
    assert "not for use" not in said.why


def test_the_simplest_of_equals_may_be_no_better_than_the_commonest(data: Inspection) -> None:
    found = comparison(model("tree", 0.36, 90), model("lda", 0.345, 12))
    found = replace(found, choice=replace(found.choice, chosen="lda", equals=("lda", "tree")))
    assert told(found, "lda", data).which.startswith(
        "The model shown, “linear discriminant”, cannot be recommended to predict kind. It gets "
    )


def test_no_model_at_all(data: Inspection) -> None:
    found = comparison(model("lda", 0.9, 12, eligible=False))
    said = answer(data, found, [], None, ReportOptions("kind"), None, decides=False)
    assert said.which == (
        "None: no model of sortal's own was fitted to predict kind.\n\n"
        "“linear discriminant”: error: no."
    )
    slow = replace(facts(found, "lda"), note="It would take long.")
    said = answer(data, found, [slow], None, ReportOptions("kind"), None, decides=False)
    assert said.which.endswith("“linear discriminant”: It would take long.")
    assert said.why.startswith("No model came so far on all rows that it has a balanced accuracy")
    assert (said.how_sure, said.new_row) == (
        "There is no model to be sure of.",
        "Without a model, nothing can be said of a new row.",
    )
    none = comparison(model("logistic", 0.9, 12), MAJORITY)
    said = answer(data, none, [], None, ReportOptions("kind"), None, decides=False)
    assert said.which.startswith("None: no model of sortal's own took part")
    said = answer(data, comparison(MAJORITY), [], None, ReportOptions("kind"), None, decides=False)
    assert "beside always saying the commonest class, no model was tried." in said.why


def test_a_model_that_could_not_be_chosen_is_shown_with_the_reason(data: Inspection) -> None:
    lda = replace(model("lda", 0.9, 12, eligible=False), status="no probabilities", low=None)
    alone = comparison(lda)
    said = told(alone, "lda", data)
    assert said.which.startswith(
        "None can be recommended to predict kind: none could be chosen. Shown is “linear "
        "discriminant”, which could not be chosen (no probabilities).\n"
    )
    assert "shown is the first that could be fitted" in said.why
    assert said.how_sure.startswith("It has no balanced accuracy, by which models were compared")
    part = comparison(replace(lda, score=0.8))
    assert "the best as far as they came" in told(part, "lda", data).why
    said = told(comparison(lda, model("logistic", 0.9, 12), MAJORITY), "lda", data)
    assert "of those that it shows, none could be chosen. Shown is “linear" in said.which
    assert "which could not be chosen (no probabilities) and gets no score." in said.why
    said = told(comparison(lda, MAJORITY), "lda", data)
    assert said.which.startswith("None can be recommended to predict kind. Shown is “linear")
    assert "no model was judged on all rows" in said.why


def test_what_is_shown_falls_back_to_what_was_fitted() -> None:
    found = comparison(
        model("lda", 0.9, 12),
        model("tree", 0.8, 12),
        replace(model("qda", 0.7, 12), eligible=False, status="unfinished"),
        model("bayes", 0.6, 12, eligible=False),
    )
    lda, tree, qda, bayes = (fitted(found, name) for name in ("lda", "tree", "qda", "bayes"))
    unfit = replace(lda, estimator=None)
    assert _chosen(found, [lda, tree, qda, bayes]) is lda
    assert _chosen(found, [unfit, tree, qda, bayes]) is tree
    assert _chosen(found, [unfit, bayes, qda]) is qda
    assert _chosen(found, [unfit, bayes]) is bayes
    assert _chosen(found, [unfit]) is None
    said = why(found, tree)
    assert "What the comparison would take is “linear discriminant”. It is the best" in said
    assert "“linear discriminant” was not fitted to all rows" in said
    assert "goes on with “decision tree”, the best that could be fitted. It gets 80.0 %" in said


def test_log_loss_is_explained_and_has_no_percentages(data: Inspection) -> None:
    found = comparison(
        model("lda", 0.1, 12), model("majority", 1.05, 1), metric="log_loss", rows=1234
    )
    said = told(found, "lda", data)
    assert "gets a log loss of 0.100" in said.why
    assert "giving every row the same shares of the classes gets 1.050" in said.why
    assert "it is 0 if the true class always got 100 %" in said.why
    assert said.how_sure.startswith("Its log loss on rows it had not seen is 0.100; anything from")
    assert "as these 1,234" in said.how_sure


def test_accuracy_is_of_rows_not_of_classes(data: Inspection) -> None:
    found = comparison(model("lda", 0.997, 12), MAJORITY, metric="accuracy")
    said = told(found, "lda", data)
    assert said.how_sure.startswith("Of 1,000 new rows it will get about 997 right")
    assert "The percentages are accuracy" in said.why


def test_mistakes_are_named_with_their_counts(data: Inspection) -> None:
    found = comparison(model("lda", 0.9, 12), MAJORITY)
    truth = np.array([0] * 6 + [1] * 4)
    said = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 2])
    words = how_sure(data, found, facts(found, "lda", truth, said))
    assert "Asked about 10 rows, each time without having learned from the row, it got 7" in words
    assert "mistakes: ant called bee (2 of 6) and bee called cow (1 of 4)." in words
    assert "It names a class without saying how probable that is for a single row." in words
    few = facts(found, "lda", truth[:5], np.array([0, 0, 0, 0, 1]), np.full(5, 0.95))
    assert "no more than chance makes of so few rows" in how_sure(data, found, few)
    words = how_sure(data, found, facts(found, "lda", truth, truth))
    assert "it got all right" in words
    assert " called " not in words


@pytest.mark.parametrize(
    ("sure", "right", "words"),
    [
        (0.9, 0.9, "can be taken at their word: of 1,000 answers that it gave a probability of "),
        (1.0, 1.0, "taken at their word: of 1,000 answers that it gave a probability of 100"),
        (0.995, 0.975, "but of 1,000 answers that it gave 99.5 % on average, 97.5 % were "),
        (0.99, 0.8, "should not be taken at their word: they are off by 19.0 percentage points"),
        (0.9, 0.85, "are rough: they are off by 5.0 percentage points on average. On the whole"),
        (0.6, 0.7, "it is righter than it thinks: it gives its answers 60.0 %, and 70.0 % of them"),
    ],
)
def test_probabilities_are_believed_as_far_as_they_hold(
    data: Inspection, sure: float, right: float, words: str
) -> None:
    found = comparison(model("lda", 0.9, 12), MAJORITY)
    truth = np.zeros(1000, dtype=int)
    said = (np.arange(1000) >= 1000 * right).astype(int)
    shown = facts(found, "lda", truth, said, np.full(1000, sure))
    assert words in how_sure(data, found, shown)


def test_doubts_come_from_findings_small_classes_and_rows_left_out() -> None:
    table = datasets.penguins()
    table["twin"] = table["species"]
    table["always"] = 1
    data = inspect(table, "species")
    found = comparison(model("lda", 0.9, 12), MAJORITY, counts=(70, 18, 12), left_out=7)
    words = how_sure(data, found, facts(found, "lda"))
    assert "What may make it doubtful: " in words
    assert "'twin' alone tells the target" in words
    assert "Little is known of classes with few rows: bee (18) and cow (12)." in words
    assert "7 rows without a kind played no part." in words
    many = replace(data, findings=data.findings * 3)
    assert "more such findings are listed below.)" in how_sure(many, found, facts(found, "lda"))


def test_a_new_row_and_what_to_type(data: Inspection) -> None:
    found = comparison(model("tree", 0.9, 12), MAJORITY)
    chosen = fitted(found, "tree", options={"confidence": 0.05, "random_state": 0})
    wishes = ReportOptions("the kind", drop=("a b",), categorical_features=("zip",))
    one = [facts(found, "tree")]
    said = answer(data, found, one, chosen, wishes, None, decides=True).new_row
    assert said.startswith("It always names one of the three classes, even for a row of none")
    assert "under “Try a row”" in said
    assert (
        "sortal fit TABLE.csv --target 'the kind' --learner tree --drop 'a b' --categorical zip "
        "--set confidence=0.05 -o model.sortal and then sortal predict model.sortal NEW.csv"
    ) in said
    said = answer(data, found, one, chosen, wishes, None, decides=False).new_row
    assert "Try a row" not in said


def test_what_to_type_reads_the_file_as_it_was_read(data: Inspection, tmp_path: Path) -> None:
    found = comparison(model("lda", 0.9, 12), MAJORITY)
    path = tmp_path / "my table.csv"
    path.write_text("x;kind\n1;a\n", encoding="utf-8")
    reading: dict[str, Any] = {"na_values": ["NA", "-9"], "text": ["zip", "kind"]}
    reading |= {"delimiter": ";", "header": True, "encoding": None}
    file = open_table(path).file
    assert file is not None
    one, chosen = [facts(found, "lda")], fitted(found, "lda")
    wishes = ReportOptions("kind", reading=reading)
    said = answer(data, found, one, chosen, wishes, file, decides=True).new_row
    assert (
        "first sortal fit 'my table.csv' --target kind --learner lda --na-values NA,-9 --text zip "
        "--text kind --delimiter ';' --header -o model.sortal and then sortal predict model.sortal "
        "NEW.csv --header"
    ) in said
    piped = replace(file, name="standard input")
    said = answer(data, found, one, chosen, ReportOptions("kind"), piped, decides=True).new_row
    assert "first sortal fit TABLE.csv --target kind --learner lda -o" in said
    wishes = ReportOptions("kind", reading={"format": "csv"})
    said = answer(data, found, one, chosen, wishes, file, decides=True).new_row
    assert "predicted: the Python code under “The same again” does." in said
    assert "sortal fit" not in said


def test_only_what_is_shown_is_said_to_be(data: Inspection) -> None:
    found = comparison(model("lda", 0.9, 12), MAJORITY)
    table = Table("t", "t", ("a",), ((1,),))
    whole = replace(facts(found, "lda"), tables=(table,))
    for shown, words in (
        (whole, "12 numbers, shown below."),
        (replace(whole, more="1 of 2"), "12 numbers, shown in part below."),
        (replace(whole, tables=()), "12 numbers."),
    ):
        chosen = fitted(found, "lda")
        said = answer(data, found, [shown], chosen, ReportOptions("kind"), None, decides=True).which
        assert said.endswith(words)


def test_a_part_without_a_model_is_no_form() -> None:
    assert has_form(PagePart("decide-a", "decide", "", {"model": {"kind": "lda"}}))
    assert not has_form(PagePart("decide-a", "decide", "", {"model": None}))
    assert not has_form(None)


def test_two_classes_and_thirty(data: Inspection) -> None:
    two = comparison(model("lda", 0.9, 12), classes=("no", "yes"), counts=(50, 50))
    assert "even for a row of neither of them" in told(two, "lda", data).new_row
    labels = tuple(f"class {k}" for k in range(30))
    many = comparison(model("lda", 0.9, 12), classes=labels, counts=(10,) * 30)
    assert "tells 30 classes apart: class 0, class 1," in told(many, "lda", data).which
    assert "class 7 and 22 more." in told(many, "lda", data).which


def test_every_learner_is_described_without_code() -> None:
    for learner in learners():
        for words in (learner.facts.plain, learner.facts.missing):
            assert words.endswith(".")
            assert "()" not in words
            assert len(words) < 300
