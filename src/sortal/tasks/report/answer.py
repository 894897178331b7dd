"""The answer of a report: which model, why, how sure, and what of a new row, in plain words.

It is written for somebody who has never seen the project and knows averages. Every number in it is
one of the facts.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sortal.errors import counted
from sortal.tasks.compare.settings import METRICS, as_typed
from sortal.tasks.report.why import (
    beats_commonest,
    commonest_score,
    how_sure,
    leads_commonest,
    learned_nothing,
    number,
    paragraphs,
    percent,
    score_text,
    sentences,
    some_of,
    why,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal.tasks.compare.comparison import Comparison, ModelResult
    from sortal.tasks.compare.settings import ReportOptions
    from sortal.tasks.inspection import Inspection
    from sortal.tasks.report.models import FittedLearner, ModelFacts
    from sortal.tasks.tables import FileTable


@dataclass(frozen=True)
class SummaryTexts:
    """What a reader wants to know first, each in a few sentences of plain words.

    An empty line parts paragraphs.

    `which` model was chosen, `why`, `how_sure` one is that it is right and how often it will be,
    and what it does with a `new_row`.
    """

    which: str
    why: str
    how_sure: str
    new_row: str


# --- The first sentence of a report: which model to take, or why none can be recommended ---------


def lead(comparison: Comparison, chosen: FittedLearner) -> str:
    """What to take; nothing is recommended that always saying the same does as well."""
    target = some_of([comparison.settings.target])
    result, called = chosen.result, f"“{chosen.learner.title}”"
    if learned_nothing(comparison):
        shown = f"Shown is {called}{_place(comparison, result)}."
        none = f"None can be recommended to predict {target}."
        return sentences([none, shown, _no_better(comparison, result)])
    if not result.eligible:
        return _not_eligible(comparison, chosen)
    hidden = result.name not in comparison.choice.equals
    found = _best(comparison) if hidden else ""
    if not beats_commonest(result, comparison):
        start = f"{found}{called}" if hidden else f"The model shown, {called},"
        reason = _no_better(comparison, result)
        return f"{start} cannot be recommended to predict {target}. {reason}"
    if hidden:
        return f"{found}take {called} to predict {target}."
    return f"To predict {target}, take the model called {called}."


def none_fitted(comparison: Comparison, models: Sequence[ModelFacts]) -> str:
    """That there is none, and why."""
    target = some_of([comparison.settings.target])
    own = [one for one in comparison.models if not one.baseline]
    if not own:
        return f"None: no model of sortal's own took part in predicting {target}."
    notes = {one.name: one.note for one in models}
    reasons = [
        f"“{one.title}”: {notes.get(one.name) or one.status or 'it was not fitted'}" for one in own
    ]
    told = " ".join(reason if reason.endswith(".") else f"{reason}." for reason in reasons)
    return paragraphs(
        f"None: no model of sortal's own was fitted to predict {target}.", some_of([told])
    )


def _not_eligible(comparison: Comparison, chosen: FittedLearner) -> str:
    """What is shown where nothing that is shown could be chosen."""
    shown = f"Shown is “{chosen.learner.title}”{_place(comparison, chosen.result)}."
    if comparison.choice.best:
        return f"{_best(comparison)}none could be chosen. {shown}"
    target = some_of([comparison.settings.target])
    return f"None can be recommended to predict {target}: none could be chosen. {shown}"


def _best(comparison: Comparison) -> str:
    """What is better than all that is shown."""
    best = comparison[comparison.choice.best]
    score = "" if best.score is None else f", {score_text(best.score, comparison.settings)}"
    return (
        f"The best found here is a method that this report cannot show (“{best.title}”{score}); "
        "of those that it shows, "
    )


def _place(comparison: Comparison, result: ModelResult) -> str:
    """Why this one is shown first, where it is not because it is recommended."""
    if not result.eligible:
        return f", which could not be chosen ({some_of([result.status])})"
    if sum(not one.baseline for one in comparison.models) == 1:
        return ""
    if result.name == comparison.choice.learner:
        return ": of the models here that cannot be told apart from the best, none is simpler"
    return f", the best of those shown by {METRICS[comparison.settings.metric].words}"


def _no_better(comparison: Comparison, result: ModelResult) -> str:
    """Its score beside that of the commonest class."""
    if result.score is None:
        return "It has no score."
    settings, score = comparison.settings, commonest_score(comparison)
    other = f"always saying the commonest class gets {percent(score)}"
    if settings.metric == "log_loss":
        other = f"giving every row the same shares of the classes gets {score:.3f}"
    chance = " The lead may be chance." if leads_commonest(result, comparison) else ""
    return f"It gets {score_text(result.score, settings)}, and {other}.{chance}"


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
    """What a reader wants to know first; the chosen model is the first of `models`."""
    if chosen is None:
        return SummaryTexts(
            which=none_fitted(comparison, models),
            why=why(comparison, None),
            how_sure="There is no model to be sure of.",
            new_row="Without a model, nothing can be said of a new row.",
        )
    return SummaryTexts(
        which=_which(comparison, chosen, models[0]),
        why=why(comparison, chosen),
        how_sure=how_sure(data, comparison, models[0]),
        new_row=_new_row(comparison, chosen, wishes, file, decides=decides),
    )


def _which(comparison: Comparison, chosen: FittedLearner, shown: ModelFacts) -> str:
    """What was chosen, what kind of thing it is, and what it was made of."""
    settings = comparison.settings
    facts = chosen.learner.facts
    columns = _columns(chosen)
    looks = f"It looks at {counted(len(columns), 'column')}: {some_of(columns)}." if columns else ""
    classes = f"{number(len(settings.classes))} classes"
    learned = (
        f"It was learned from {counted(settings.rows, 'row')} and tells {classes} apart: "
        f"{some_of(settings.classes)}."
    )
    learned = sentences([learned, *_left_out(chosen)])
    told = sentences([facts.plain or facts.reads, looks, learned, _whole(chosen, shown)])
    return paragraphs(lead(comparison, chosen), told)


def _whole(chosen: FittedLearner, shown: ModelFacts) -> str:
    """How large the model is, and whether it can be read here."""
    size = getattr(chosen.estimator, "n_parameters_", None)
    if not size:
        return ""
    partly = shown.more or chosen.learner.facts.keeps_rows
    below = ", shown in part below" if partly else ", shown below"
    there = shown.rules is not None or shown.tables
    return f"The whole model is {counted(size, 'number')}{below if there else ''}."


def _left_out(chosen: FittedLearner) -> list[str]:
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
    none = "neither" if n == 2 else "none"
    told = [
        f"It always names one of the {number(n)} classes, even for a row of {none} of them.",
        chosen.learner.facts.missing,
    ]
    if decides:
        told.append(
            "To try it, type in a row under “Try a row”: the page shows what the model says, "
            "and why."
        )
    told.append(f"To have a whole file predicted: {_commands(chosen, wishes, file)}")
    return paragraphs(told[0], sentences(told[1:]))


def _commands(chosen: FittedLearner, wishes: ReportOptions, file: FileTable | None) -> str:
    """What to type; files are read as this one was, and learned from, if that can be typed."""
    reading = {} if file is None else dict(wishes.reading)
    if reading.get("format") is not None or wishes.joins:
        return "the Python code under “The same again” does."
    flags = as_typed(reading)
    # The model knows how else its file was read.
    new = as_typed({name: reading.get(name) for name in ("encoding", "header")})
    predict = shlex.join(["sortal", "predict", "model.sortal", "NEW.csv", *new])
    return f"first {_fit_command(chosen, wishes, file, flags)} and then {predict}"


def _fit_command(
    chosen: FittedLearner, wishes: ReportOptions, file: FileTable | None, flags: Sequence[str]
) -> str:
    name = "TABLE.csv" if file is None or file.name == "standard input" else file.name
    words = ["sortal", "fit", name, "--target", wishes.target, "--learner", chosen.learner.name]
    words += as_typed({"drop": wishes.drop, "categorical_features": wishes.categorical_features})
    for option, value in chosen.options.items():
        if option != "categorical_features" and value != chosen.learner.options()[option]:
            words += ["--set", f"{option}={value}"]
    return shlex.join([*words, *flags, "-o", "model.sortal"])
