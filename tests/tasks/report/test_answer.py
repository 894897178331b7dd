"""The summary says what is so, in words that need no statistics."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.tasks.report.cases import comparison, facts, fitted, model

from sortal import datasets
from sortal.records.render import PagePart
from sortal.records.tables import Table
from sortal.tasks.compare.fold_run import Folds
from sortal.tasks.compare.settings import CompareOptions, ReportOptions
from sortal.tasks.inspection import inspect
from sortal.tasks.registry import learners
from sortal.tasks.report.answer import answer, how_sure
from sortal.tasks.report.gather import _chosen
from sortal.tasks.report.parts import has_form
from sortal.tasks.tables import open_table

if TYPE_CHECKING:
    from pathlib import Path

    from sortal.tasks.compare.comparison import Comparison
    from sortal.tasks.inspection import Inspection
    from sortal.tasks.report.answer import SummaryTexts

CONSTANT = model("constant", 1 / 3, 1)


@pytest.fixture(scope="module")
def data() -> Inspection:
    return inspect(datasets.penguins(), "species")


def told(found: Comparison, name: str, data: Inspection, **given: Any) -> SummaryTexts:
    chosen = fitted(found, name)
    wishes = ReportOptions("kind", **given)
    return answer(data, found, [facts(found, name)], chosen, wishes, None, decides=True)


def test_the_recommendation_comes_first_in_the_words_of_the_comparison(data: Inspection) -> None:
    found = comparison(model("lda", 0.974, 12), model("tree", 0.7, 5), CONSTANT)
    said = told(found, "lda", data)
    assert said.which.startswith(f"{found.sentence}\n\n")
    assert "Take linear discriminant (balanced accuracy 0.974, 12 terms)" in said.which
    assert "It looks at 3 columns: x, wide one and z." in said.which
    assert "100 rows and predicts one of 3 classes: ant, bee and cow." in said.which
    assert "The whole model is 12 numbers." in said.which
    assert "Shown" not in said.which
    assert said.why.startswith("Recommended is the most readable of the models whose score is ")
    assert "3 models, 1 of which only to compare with, were tried on the same 100 rows" in said.why
    assert "10 folds, once: the rows of a fold are predicted by models that have not" in said.why
    assert said.why.endswith("Compared by what fits.")
    assert said.how_sure.startswith(
        "Its balanced accuracy on rows that it had not seen is 0.974 (95 % confidence interval "
        "0.954 to 0.989). Its accuracy, the proportion of rows predicted correctly, is 0.974. The "
        "accuracy of the constant prediction is 0.333.\n"
    )


def test_how_far_the_recommended_model_is_behind_is_said(data: Inspection) -> None:
    found = comparison(model("qda", 0.976, 90), model("lda", 0.974, 12), CONSTANT)
    assert (found.choice.recommended, found.choice.best) == ("lda", "qda")
    said = told(found, "lda", data).which
    assert "of the best, quadratic discriminant (0.976). It is 0.2 points behind, at most " in said
    assert "Runner-up: quadratic discriminant" in said


def test_what_leads_and_what_is_doubtful_is_said_first(data: Inspection) -> None:
    found = comparison(model("logistic", 0.95, 12), model("lda", 0.335, 12), CONSTANT)
    assert found.choice.leader == "logistic"
    said = told(found, "lda", data).which
    assert said.startswith("Ahead of every model that can be recommended is logistic regression")
    (doubt,) = found.choice.warnings
    assert doubt.startswith("Nothing says that linear discriminant is better than a constant")
    assert said.index(doubt) < said.index("It looks at 3 columns")
    assert "constant" not in told(comparison(model("lda", 0.9, 12), CONSTANT), "lda", data).which


def test_one_model_alone(data: Inspection) -> None:
    said = told(comparison(model("lda", 0.9, 12)), "lda", data)
    assert "1 model was tried on the same 100 rows" in said.why
    assert "constant" not in said.how_sure
    once = comparison(model("lda", 0.9, 12), folds=Folds(3, 2, 0, "groups"))
    assert "3 folds by group, twice: the rows of a fold" in told(once, "lda", data).why


def test_no_model_at_all(data: Inspection) -> None:
    found = comparison(model("lda", 0.9, 12, eligible=False))
    said = answer(data, found, [], None, ReportOptions("kind"), None, decides=False)
    assert said.which == (
        f"{found.sentence}\n\nNo model of sortal's own was fitted here.\n\n"
        "linear discriminant: error: no."
    )
    assert found.sentence.startswith("No model can be recommended")
    slow = replace(facts(found, "lda"), note="It would take long.")
    said = answer(data, found, [slow], None, ReportOptions("kind"), None, decides=False)
    assert said.which.endswith("linear discriminant: It would take long.")
    assert (said.how_sure, said.new_row) == (
        "There is no model to be sure of.",
        "Without a model, nothing can be predicted for a new row.",
    )
    none = comparison(model("logistic", 0.9, 12), CONSTANT)
    said = answer(data, none, [], None, ReportOptions("kind"), None, decides=False)
    assert said.which == f"{none.sentence}\n\nNo learner took part."


def test_a_model_that_cannot_be_recommended_is_shown_with_the_reason(data: Inspection) -> None:
    lda = replace(model("lda", 0.9, 12, eligible=False), status="unfinished", low=None)
    said = told(comparison(lda), "lda", data)
    assert said.which.startswith("No model can be recommended")
    shown = "Shown is linear discriminant (no balanced accuracy; unfinished): to be read, not to be"
    assert shown in said.which
    assert said.how_sure.startswith("It has no balanced accuracy, by which models are compared")
    part = told(comparison(replace(lda, score=0.8)), "lda", data)
    assert "Shown is linear discriminant (balanced accuracy 0.800; unfinished)" in part.which
    assert "is 0.800; how far that may be off is not known." in part.how_sure


def test_what_is_shown_falls_back_to_what_was_fitted(data: Inspection) -> None:
    found = comparison(
        model("lda", 0.9, 12),
        model("neighbors", 0.905, 12),
        model("tree", 0.8, 12),
        replace(model("qda", 0.7, 12), eligible=False, status="unfinished"),
        model("bayes", 0.6, 12, eligible=False),
    )
    names = ("neighbors", "lda", "tree", "qda", "bayes")
    near, lda, tree, qda, bayes = (fitted(found, name) for name in names)
    unfit = replace(lda, estimator=None)
    assert found.choice.close == ("lda", "neighbors")
    assert _chosen(found, [near, lda, tree, qda, bayes]) is lda
    assert _chosen(found, [unfit, tree, near, qda, bayes]) is near  # within the margin
    assert _chosen(found, [unfit, tree, qda, bayes]) is tree
    assert _chosen(found, [unfit, bayes, qda]) is qda
    assert _chosen(found, [unfit, bayes]) is bayes
    assert _chosen(found, [unfit]) is None
    said = told(found, "tree", data).which
    assert said.startswith(found.sentence)
    assert (
        "linear discriminant could not be fitted to all rows. Shown instead is decision tree "
        "(balanced accuracy 0.800)."
    ) in said


@pytest.mark.parametrize(
    ("metric", "score", "words"),
    [
        ("accuracy", 0.9, "Its accuracy on rows that it had not seen is 0.900 (95 %"),
        ("log_loss", 0.1, "Its log loss on rows that it had not seen is 0.100 (95 %"),
        ("cost", 0.25, "Its mean cost on rows that it had not seen is 0.250 (95 %"),
        ("roc_auc", 0.99, "Its ROC AUC on rows that it had not seen is 0.990 (95 %"),
    ],
)
def test_the_score_is_called_by_its_measure(
    data: Inspection, metric: str, score: float, words: str
) -> None:
    found = comparison(model("lda", score, 12), CONSTANT, metric=metric, rows=1234)
    said = told(found, "lda", data).how_sure
    assert said.startswith(words)
    assert said.count("Its accuracy") == 1  # whatever is decided by
    assert "The accuracy of the constant prediction is 0.333." in said
    assert "as these 1,234" in said


def test_the_accuracy_is_that_of_rows_whatever_the_measure(data: Inspection) -> None:
    lda = replace(model("lda", 0.9, 12), measures={"accuracy": 0.81, "balanced_accuracy": 0.9})
    base = replace(CONSTANT, measures={"accuracy": 0.87})
    said = told(comparison(lda, base), "lda", data).how_sure
    assert "is 0.810. The accuracy of the constant prediction is 0.870." in said


def test_mistakes_are_named_with_their_counts(data: Inspection) -> None:
    found = comparison(model("lda", 0.9, 12), CONSTANT)
    truth = np.array([0] * 6 + [1] * 4)
    predicted = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 2])
    words = how_sure(data, found, facts(found, "lda", truth, predicted))
    assert "errors: ant predicted as bee (2 of 6) and bee predicted as cow (1 of 4)." in words
    assert "It predicts a class without a probability." in words
    few = facts(found, "lda", truth[:5], np.array([0, 0, 0, 0, 1]), np.full(5, 0.95))
    assert "which may be chance with so few rows" in how_sure(data, found, few)
    assert "Its only kind of error: ant predicted as bee (1 of 5)." in how_sure(data, found, few)
    words = how_sure(data, found, facts(found, "lda", truth, truth))
    assert "Of 10 rows it predicted all correctly." in words
    assert "predicted as" not in words


@pytest.mark.parametrize(
    ("sure", "right", "words"),
    [
        (0.9, 0.9, "are calibrated: of 1,000 rows predicted with a probability of 90 % on average"),
        (1.0, 1.0, "calibrated: of 1,000 rows predicted with a probability of 100 % on average, 1"),
        (0.995, 0.975, "mostly calibrated; but of 1,000 rows predicted with a probability of 99.5"),
        (0.99, 0.8, "should not be relied on: they are off by 19.0 percentage points on average, "),
        (
            0.9,
            0.85,
            "rough: they are off by 5.0 percentage points on average, and on the whole too h",
        ),
        (0.6, 0.7, "on the whole too low"),
    ],
)
def test_probabilities_are_believed_as_far_as_they_hold(
    data: Inspection, sure: float, right: float, words: str
) -> None:
    found = comparison(model("lda", 0.9, 12), CONSTANT)
    truth = np.zeros(1000, dtype=int)
    predicted = (np.arange(1000) >= 1000 * right).astype(int)
    shown = facts(found, "lda", truth, predicted, np.full(1000, sure))
    assert words in how_sure(data, found, shown)


def test_doubts_come_from_findings_small_classes_and_rows_left_out() -> None:
    table = datasets.penguins()
    table["twin"] = table["species"]
    table["always"] = 1
    data = inspect(table, "species")
    found = comparison(model("lda", 0.9, 12), CONSTANT, counts=(70, 18, 12), left_out=7)
    words = how_sure(data, found, facts(found, "lda"))
    assert "What may make it doubtful: " in words
    assert "'twin' alone tells the target" in words
    assert "Little is known of classes with few rows: bee (18) and cow (12)." in words
    assert "7 rows of the table were not learned from." in words
    many = replace(data, findings=data.findings * 3)
    assert "more findings: see “Data”.)" in how_sure(many, found, facts(found, "lda"))


def test_a_new_row_and_what_to_type(data: Inspection) -> None:
    asked = ReportOptions("the kind", drop=("a b",), categorical_features=("zip",), use=("id",))
    found = comparison(model("tree:confidence=0.05", 0.9, 12), CONSTANT, asked=asked)
    name = "tree:confidence=0.05"
    chosen, one = fitted(found, name), [facts(found, name)]
    said = answer(data, found, one, chosen, asked, None, decides=True).new_row
    assert said.startswith("It always predicts one of the 3 classes, even for a row of none")
    assert "under “Try the model”" in said
    typed = said[said.index("first ") + 6 : said.index(" and then ")]
    assert shlex.split(typed)[:7] == [
        *("sortal", "fit", "TABLE.csv", "--target", "the kind", "--learner", "tree"),
    ]
    for words in ("--drop 'a b'", "--use id", "--categorical zip", "--set confidence=0.05"):
        assert words in typed
    assert "and then sortal predict model.sortal NEW.csv" in said
    said = answer(data, found, one, chosen, asked, None, decides=False).new_row
    assert "Try the model" not in said


def test_what_cannot_be_typed_is_done_by_code(data: Inspection) -> None:
    found = comparison(model("lda", 0.9, 12), CONSTANT)
    one = [facts(found, "lda")]
    code = "To predict a whole file: the Python code under “Reproduce” does it."
    matrix: Any = [[0, 1, 1], [2, 0, 1], [1, 1, 0]]
    for wishes in (ReportOptions("kind", joins=True), ReportOptions("kind", costs=matrix)):
        said = answer(data, found, one, fitted(found, "lda"), wishes, None, decides=True).new_row
        assert said.endswith(code)
    tuned = replace(found["lda"], chosen=({"shrinkage": 0.1},))
    chosen = fitted(found, "lda", result=tuned)
    said = answer(data, found, one, chosen, ReportOptions("kind"), None, decides=True).new_row
    assert said.endswith(code)


def test_costs_are_typed_by_the_names_of_classes(data: Inspection) -> None:
    costs = {("ant", "bee"): 5}
    asked = CompareOptions("kind", costs=costs)
    found = comparison(model("lda", 0.9, 12), asked=asked, costs=np.ones((3, 3)) - np.eye(3))
    said = told(found, "lda", data, costs=costs).new_row
    assert "--cost 'ant->bee=5'" in said


def test_what_to_type_reads_the_file_as_it_was_read(data: Inspection, tmp_path: Path) -> None:
    found = comparison(model("lda", 0.9, 12), CONSTANT)
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
    assert "file: the Python code under “Reproduce” does it." in said
    assert "sortal fit" not in said


def test_only_what_is_shown_is_said_to_be(data: Inspection) -> None:
    found = comparison(model("lda", 0.9, 12), CONSTANT)
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


def test_many_classes_are_cut(data: Inspection) -> None:
    labels = tuple(f"class {k}" for k in range(30))
    many = comparison(model("lda", 0.9, 12), classes=labels, counts=(10,) * 30)
    assert "predicts one of 30 classes: class 0, class 1," in told(many, "lda", data).which
    assert "class 7 and 22 more." in told(many, "lda", data).which


def test_every_learner_is_described_without_code() -> None:
    for learner in learners():
        for words in (learner.facts.plain, learner.facts.missing):
            assert words.endswith(".")
            assert "()" not in words
            assert len(words) < 300
