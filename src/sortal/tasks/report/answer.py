"""The summary of a report: which model, why, how sure, and what of a new row.

What is said of the choice is the comparison's own; every number is one of the facts.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sortal.errors import agreed, counted
from sortal.tasks.baselines import CONSTANT
from sortal.tasks.compare.settings import METRICS
from sortal.tasks.options import as_typed
from sortal.tasks.report.errors import about_percent
from sortal.tasks.report.reproduce import can_type_costs
from sortal.tasks.show import some_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal.evaluation import Bin, Confusion, Reliability
    from sortal.tasks.compare.comparison import Comparison, ModelResult
    from sortal.tasks.compare.settings import ReportOptions, Settings
    from sortal.tasks.inspection import Inspection
    from sortal.tasks.report.models import FittedLearner, ModelFacts
    from sortal.tasks.tables import FileTable


@dataclass(frozen=True)
class SummaryTexts:
    """What a reader wants to know first, each in a few sentences of plain words.

    An empty line parts paragraphs.

    `which` model is recommended, `why`, `how_sure` one is of it and how often it will be right,
    and what it does with a `new_row`.
    """

    which: str
    why: str
    how_sure: str
    new_row: str


def paragraphs(*parts: str) -> str:
    """Paragraphs after each other, the first of which is read first."""
    return "\n\n".join(part for part in parts if part)


def sentences(parts: Sequence[str]) -> str:
    """Sentences after each other, without those that say nothing."""
    return " ".join(part for part in parts if part)


def answer(
    data: Inspection,
    comparison: Comparison,
    models: Sequence[ModelFacts],
    chosen: FittedLearner | None,
    wishes: ReportOptions,
    file: FileTable | None,
    *,
    decides: bool,
) -> SummaryTexts:
    """What a reader wants to know first; the model that is shown is the first of `models`."""
    if chosen is None:
        return SummaryTexts(
            which=_none_fitted(comparison, models),
            why=_why(comparison),
            how_sure="There is no model to be sure of.",
            new_row="Without a model, nothing can be predicted for a new row.",
        )
    return SummaryTexts(
        which=_which(comparison, chosen, models[0]),
        why=_why(comparison),
        how_sure=how_sure(data, comparison, models[0]),
        new_row=_new_row(comparison, chosen, wishes, file, decides=decides),
    )


# --- Which model, and why: what the comparison says, and what kind of thing the model is ---------


def _none_fitted(comparison: Comparison, models: Sequence[ModelFacts]) -> str:
    """That there is none to show, and why."""
    notes = {one.name: one.note for one in models}
    reasons = [
        f"{one.title}: {(notes.get(one.name) or one.status or 'it was not fitted').rstrip('.')}."
        for one in comparison.models
        if not one.baseline
    ]
    none = "No model of sortal's own was fitted here." if reasons else "No learner took part."
    return paragraphs(comparison.sentence, none, some_of([sentences(reasons)]) if reasons else "")


def _which(comparison: Comparison, chosen: FittedLearner, shown: ModelFacts) -> str:
    """What is recommended, what kind of thing it is, and what it was made of."""
    settings, facts = comparison.settings, chosen.learner.facts
    columns = _columns(chosen)
    looks = f"It looks at {counted(len(columns), 'column')}: {some_of(columns)}." if columns else ""
    classes = counted(len(settings.classes), "class", "classes")
    learned = (
        f"It was learned from {counted(settings.rows, 'row')} and predicts one of {classes}: "
        f"{some_of(settings.classes)}."
    )
    learned = sentences([learned, *_dropped_rows(chosen)])
    return paragraphs(
        comparison.sentence,
        sentences(comparison.choice.warnings),
        _instead(comparison, chosen.result),
        sentences([facts.plain or facts.reads, looks, learned, _whole(chosen, shown)]),
    )


def _instead(comparison: Comparison, shown: ModelResult) -> str:
    """What the page shows where it is not the recommended model."""
    first = comparison.choice.recommended
    if shown.name == first:
        return ""
    words = METRICS[comparison.settings.metric].words
    score = f"no {words}" if shown.score is None else f"{words} {shown.score:.3f}"
    what = f"{shown.title} ({'; '.join(filter(None, [score, some_of([shown.status])]))})"
    if not first:
        return f"Shown is {what}: to be read, not to be used."
    return f"{comparison[first].title} could not be fitted to all rows. Shown instead is {what}."


def _whole(chosen: FittedLearner, shown: ModelFacts) -> str:
    """How large the model is, and whether it can be read here."""
    size = getattr(chosen.estimator, "n_parameters_", None)
    if not size:
        return ""
    partly = shown.more or chosen.learner.facts.keeps_rows
    below = ", shown in part below" if partly else ", shown below"
    there = shown.rules is not None or shown.tables
    return f"The whole model is {counted(size, 'number')}{below if there else ''}."


def _dropped_rows(chosen: FittedLearner) -> list[str]:
    """Rows that the fit could not use, as its report says it."""
    report = getattr(chosen.estimator, "fit_report_", None)
    notes = () if report is None else report.notes
    return [
        f"{note[:1].upper()}{note[1:]}." for note in notes if "rows have a missing value" in note
    ]


def _columns(chosen: FittedLearner) -> list[str]:
    """The columns that the model looks at; a tree need not ask all."""
    names = [str(name) for name in getattr(chosen.estimator, "feature_names_in_", ())]
    if not names and hasattr(chosen.estimator, "_schema"):  # a frame's names need not be words
        names = [column.name for column in chosen.estimator._schema.columns]
    weights = getattr(chosen.estimator, "feature_importances_", None)
    if weights is None:
        return names
    return [name for name, weight in zip(names, weights, strict=True) if weight > 0]


def _why(comparison: Comparison) -> str:
    """By which rule, and how it was found out."""
    settings, models = comparison.settings, comparison.models
    n, others = len(models), sum(one.baseline for one in models)
    beside = f", {others:,} of which only to compare with," if others else ""
    tried = (
        f"{counted(n, 'model')}{beside} {agreed(n, 'was', 'were')} tried on the same "
        f"{settings.rows:,} rows by cross-validation, {settings.folds}: the rows of a fold are "
        "predicted by models that have not seen them."
    )
    rule = (
        "Recommended is the most readable of the models whose score is nearly that of the best, "
        "because people can check it."
    )
    return paragraphs(rule, sentences([tried, *comparison.notes[:1]]))


# --- How sure one is of a model: its score on rows that it had not seen, and what is amiss --------

# Classes with fewer rows are named: a few rows say little.
_FEW_ROWS = 20

# Probabilities that are off by less than the first number on average are calibrated.
_NEAR, _FAR = 0.03, 0.1

_SLACK = 1e-9

_MOST_DOUBTS = 3


def how_sure(data: Inspection, comparison: Comparison, shown: ModelFacts) -> str:
    """How good the model is on new rows, what that rests on, and what makes it doubtful."""
    settings = comparison.settings
    return paragraphs(
        sentences([_score(shown.result, settings), _accuracy(shown.result, comparison)]),
        sentences([_mistakes(shown.confusion), _probabilities(shown.reliability)]),
        sentences([_rests_on(settings), *_doubts(data, settings)]),
    )


def _score(result: ModelResult, settings: Settings) -> str:
    """The score of new rows, with its interval."""
    words = METRICS[settings.metric].words
    if result.score is None:
        return f"It has no {words}, by which models are compared here."
    said = f"Its {words} on rows that it had not seen is {result.score:.3f}"
    if result.low is None or result.high is None:
        return f"{said}; how far that may be off is not known."
    level = f"{100 * settings.confidence_level:g} % confidence interval"
    return f"{said} ({level} {result.low:.3f} to {result.high:.3f})."


def _accuracy(result: ModelResult, comparison: Comparison) -> str:
    """The proportion of rows predicted correctly, beside that of the constant prediction."""
    found = {one.name: one.measures.get("accuracy") for one in comparison.models}
    own, constant = result.measures.get("accuracy"), found.get(CONSTANT)
    if own is None:
        return ""
    said = f"Its accuracy, the proportion of rows predicted correctly, is {own:.3f}."
    beside = f"The accuracy of the constant prediction is {constant:.3f}." if constant else ""
    return sentences(["" if comparison.settings.metric == "accuracy" else said, beside])


def _mistakes(confusion: Confusion | None) -> str:
    """Which classes it takes for which."""
    if confusion is None:
        return ""
    if not confusion.n_wrong:
        return f"Of {counted(confusion.n, 'row')} it predicted all correctly."
    of = {c: sum(row) for c, row in zip(confusion.classes, confusion.counts, strict=True)}
    told = [
        f"{some_of([one.true])} predicted as {some_of([one.said])} ({one.n:,} of {of[one.true]:,})"
        for one in confusion.pairs(3)
    ]
    lead = "Its most frequent errors:" if len(told) > 1 else "Its only kind of error:"
    return f"{lead} {some_of(told)}."


def _probabilities(reliability: Reliability | None) -> str:
    """Whether its probabilities are calibrated."""
    if reliability is None:
        return "It predicts a class without a probability."
    off = reliability.expected_error
    outside = [one for one in reliability.bins if not _within(one)]
    if off < _NEAR:
        worst = max(outside, key=lambda one: one.n * abs(one.share - one.mean), default=None)
        if worst is not None:
            return f"Its probabilities are mostly calibrated; but {_bin(worst)}."
        most = max(reliability.bins, key=lambda one: one.n)
        return f"Its probabilities are calibrated: {_bin(most)}."
    points = f"off by {100 * off:.1f} percentage points on average"
    if not outside:
        return f"Its probabilities are {points}, which may be chance with so few rows."
    word = "should not be relied on" if off >= _FAR else "are rough"
    high = "high" if reliability.lead > 0 else "low"
    return f"Its probabilities {word}: they are {points}, and on the whole too {high}."


def _within(one: Bin) -> bool:
    """Whether the mean probability of a bin is plausible, beside what was right."""
    return one.share_low - _SLACK <= one.mean <= one.share_high + _SLACK


def _bin(one: Bin) -> str:
    return (
        f"of {counted(one.n, 'row')} predicted with a probability of {about_percent(one.mean)} on "
        f"average, {about_percent(one.share)} were correct"
    )


def _rests_on(settings: Settings) -> str:
    return (
        f"All this holds for new rows that come about in the same way as these {settings.rows:,}; "
        "rows from elsewhere, or of another time, may differ."
    )


def _doubts(data: Inspection, settings: Settings) -> list[str]:
    """What was found in the table, small classes, and rows that were not learned from."""
    found = [finding.words for finding in data.findings if finding.code != "target-missing"]
    told = []
    if found:
        told.append(f"What may make it doubtful: {' '.join(found[:_MOST_DOUBTS])}")
        more = len(found) - _MOST_DOUBTS
        told += [f"({counted(more, 'more finding')}: see “Data”.)"] * (more > 0)
    told += _few(data, settings)
    if settings.left_out:
        told.append(f"{counted(settings.left_out, 'row')} of the table were not learned from.")
    return told


def _few(data: Inspection, settings: Settings) -> list[str]:
    """Classes of which little is known; those of fewer than ten rows are a finding already."""
    pairs = zip(settings.classes, settings.counts, strict=True)
    few = [f"{some_of([label])} ({n})" for label, n in pairs if n < _FEW_ROWS]
    if not few or any(finding.code == "rare-class" for finding in data.findings):
        return []
    return [f"Little is known of classes with few rows: {some_of(few)}."]


# --- What the model does with a new row, and how to let it ---------------------------------------


def _new_row(
    comparison: Comparison,
    chosen: FittedLearner,
    wishes: ReportOptions,
    file: FileTable | None,
    *,
    decides: bool,
) -> str:
    """What it does, also with missing values and with what it does not know, and how to let it."""
    n = len(comparison.settings.classes)
    lead = f"It always predicts one of the {n} classes, even for a row of none of them."
    form = "To try it, type a row under “Try the model”: the page predicts it, and says why."
    told = [
        chosen.learner.facts.missing,
        form if decides else "",
        f"To predict a whole file: {_commands(comparison, chosen, wishes, file)}",
    ]
    return paragraphs(lead, sentences(told))


def _commands(
    comparison: Comparison, chosen: FittedLearner, wishes: ReportOptions, file: FileTable | None
) -> str:
    """What to type; files are read as this one was, and learned from, if that can be typed."""
    reading = {} if file is None else dict(wishes.reading)
    tuned, typed = bool(chosen.result.chosen), can_type_costs(wishes)
    if reading.get("format") is not None or wishes.joins or tuned or not typed:
        return "the Python code under “Reproduce” does it."
    # The model knows how else its file was read.
    new = as_typed({name: reading.get(name) for name in ("encoding", "header")})
    predict = shlex.join(["sortal", "predict", "model.sortal", "NEW.csv", *new])
    name = "TABLE.csv" if file is None or file.name == "standard input" else file.name
    fit = comparison.fit_command(chosen.name, name, as_typed(reading))
    return f"first {fit} and then {predict}"
