"""The answer of a report: which model, why, how sure, and what of a new row, in plain words.

It is written for somebody who has never seen the project and knows averages. Every number in it is
one of the facts.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from sortal.data.printing import counted
from sortal.tasks.reporting.answer_lead import lead, none_fitted
from sortal.tasks.reporting.answer_sure import how_sure
from sortal.tasks.reporting.answer_why import why
from sortal.tasks.reporting.facts import Answer
from sortal.tasks.reporting.reproduce import reading_words
from sortal.tasks.reporting.saying import number, paragraphs, sentences, some_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal.data.files.reader import FileTable
    from sortal.tasks.comparing.comparison import Comparison
    from sortal.tasks.inspect import Inspection
    from sortal.tasks.reporting.facts import ModelFacts
    from sortal.tasks.reporting.fitting import Fitted
    from sortal.tasks.reporting.wishes import Wishes


def answer(
    data: Inspection,
    comparison: Comparison,
    models: Sequence[ModelFacts],
    chosen: Fitted | None,
    wishes: Wishes,
    file: FileTable | None,
    *,
    decides: bool,
) -> Answer:
    """What a reader wants to know first; the chosen model is the first of `models`."""
    if chosen is None:
        return Answer(
            which=none_fitted(comparison, models),
            why=why(comparison, None),
            how_sure="There is no model to be sure of.",
            new_row="Without a model, nothing can be said of a new row.",
        )
    return Answer(
        which=_which(comparison, chosen, models[0]),
        why=why(comparison, chosen),
        how_sure=how_sure(data, comparison, models[0]),
        new_row=_new_row(comparison, chosen, wishes, file, decides=decides),
    )


def _which(comparison: Comparison, chosen: Fitted, shown: ModelFacts) -> str:
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


def _whole(chosen: Fitted, shown: ModelFacts) -> str:
    """How large the model is, and whether it can be read here."""
    size = getattr(chosen.estimator, "size_", None)
    if not size:
        return ""
    partly = shown.more or chosen.learner.facts.keeps_rows
    below = ", shown in part below" if partly else ", shown below"
    there = shown.rules is not None or shown.tables
    return f"The whole model is {counted(size, 'number')}{below if there else ''}."


def _left_out(chosen: Fitted) -> list[str]:
    """Rows that the fit could not use, as its report says it."""
    report = getattr(chosen.estimator, "fit_report_", None)
    notes = () if report is None else report.notes
    return [f"{note[:1].upper()}{note[1:]}." for note in notes if "rows have a hole" in note]


def _columns(chosen: Fitted) -> list[str]:
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
    chosen: Fitted,
    wishes: Wishes,
    file: FileTable | None,
    *,
    decides: bool,
) -> str:
    """What it does, also with holes and with what it does not know, and how to let it."""
    n = len(comparison.settings.classes)
    none = "neither" if n == 2 else "none"
    told = [
        f"It always names one of the {number(n)} classes, even for a row of {none} of them.",
        chosen.learner.facts.holes,
    ]
    if decides:
        told.append(
            "To try it, type in a row under “Try a row”: the page shows what the model says, "
            "and why."
        )
    told.append(f"To have a whole file predicted: {_commands(chosen, wishes, file)}")
    return paragraphs(told[0], sentences(told[1:]))


def _commands(chosen: Fitted, wishes: Wishes, file: FileTable | None) -> str:
    """What to type; files are read as this one was, and learned from, if that can be typed."""
    reading = {} if file is None else dict(wishes.reading)
    if reading.get("format") is not None or wishes.joins:
        return "the Python code under “The same again” does."
    flags = reading_words(reading)
    # The model knows how else its file was read.
    new = reading_words({name: reading.get(name) for name in ("encoding", "header")})
    predict = shlex.join(["sortal", "predict", "model.sortal", "NEW.csv", *new])
    return f"first {_fit_command(chosen, wishes, file, flags)} and then {predict}"


def _fit_command(
    chosen: Fitted, wishes: Wishes, file: FileTable | None, flags: Sequence[str]
) -> str:
    name = "TABLE.csv" if file is None or file.name == "standard input" else file.name
    words = ["sortal", "fit", name, "--target", wishes.target, "--learner", chosen.learner.name]
    for flag, columns in (("--drop", wishes.drop), ("--category", wishes.categories)):
        words += [word for column in columns for word in (flag, column)]
    for option, value in chosen.options.items():
        if option != "categorical_features" and value != chosen.learner.options()[option]:
            words += ["--set", f"{option}={value}"]
    return shlex.join([*words, *flags, "-o", "model.sortal"])
