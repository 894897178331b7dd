"""The models of a report: fitted to all rows, evaluated, shortened to what is shown."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from sortal.errors import SortalWarning, counted
from sortal.evaluation import Confusion, Reliability, Roc
from sortal.records.tables import Table, framed
from sortal.tasks.compare.fold_run import one_line
from sortal.tasks.fit import remember_call
from sortal.tasks.registry import features_among
from sortal.tasks.report.errors import ErrorAnalysis
from sortal.tasks.report.parts import evaluation_pictures_of, learner_pictures, part_id
from sortal.tasks.report.reproduce import fitting_code
from sortal.tasks.show import show

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sortal.pictures import Picture
    from sortal.records.tables import Cell
    from sortal.tasks.compare.candidates import Candidate
    from sortal.tasks.compare.comparison import Comparison, ModelResult
    from sortal.tasks.compare.settings import ReportOptions
    from sortal.tasks.fit import TrainingRows
    from sortal.tasks.registry import LearnerEntry
    from sortal.tasks.show import ModelDescription, ModelRules

# A fit to all rows may take this share of the comparison's budget.
_SHARE = 0.25


@dataclass(frozen=True, eq=False)
class FittedLearner:
    """A learner fitted to all rows; without an estimator, `note` says why there is none."""

    candidate: Candidate
    result: ModelResult
    options: Mapping[str, Any] = field(default_factory=dict)
    estimator: Any = None
    note: str = ""

    @property
    def name(self) -> str:
        """What the comparison calls it."""
        return self.candidate.name

    @property
    def title(self) -> str:
        """What readers call it."""
        return self.candidate.title

    @property
    def learner(self) -> LearnerEntry:
        """What the registry knows of it."""
        assert self.candidate.learner is not None  # noqa: S101  (of learners only)
        return self.candidate.learner


def fit_again(comparison: Comparison, candidate: Candidate, rows: TrainingRows) -> FittedLearner:
    """One learner of the comparison, fitted to all rows as it was compared.

    What it warns of is in its `fit_report_`, and whatever it raises becomes a note.
    """
    result = comparison[candidate.name]
    options, note = _options(comparison, candidate, result)
    made = FittedLearner(candidate, result, options, note=note)
    unfit = _unfit(result, comparison)
    if unfit:
        return replace(made, note=unfit)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SortalWarning)
            estimator = made.learner.make(**options).fit(rows.X, rows.y)
    except Exception as error:  # noqa: BLE001  (a learner may raise anything)
        words = f"{type(error).__name__}: {one_line(error)}"
        return replace(made, note=f"It could not be fitted. {words}")
    remember_call(estimator, comparison.settings.target, comparison.settings.dropped, rows.file)
    return replace(made, estimator=estimator)


def _options(
    comparison: Comparison, candidate: Candidate, result: ModelResult
) -> tuple[dict[str, Any], str]:
    """The options of a learner, and words where folds chose them or costs are none of them."""
    options, settings = comparison.fit_options(candidate.name), comparison.settings
    notes = []
    if settings.costs is not None and not candidate.carries(len(settings.classes)):
        notes.append(
            "In the comparison costs decided among its scores; it takes no costs itself, and "
            "predicts without them here."
        )
    if result.chosen:
        votes = Counter(tuple(sorted(chosen.items())) for chosen in result.chosen)
        (most, n), *_ = votes.most_common()
        options |= dict(most)
        words = ", ".join(f"{name}={value!r}" for name, value in most)
        notes.append(f"Fitted with {words}, which {n} of {len(result.chosen)} folds chose.")
    return options, " ".join(notes)


def _unfit(result: ModelResult, comparison: Comparison) -> str:
    """Why a learner is not fitted here: it did not come through, or would take long."""
    settings = comparison.settings
    if result.fit_seconds is None:  # what ended a worker shall not end this process
        return f"It finished no fold of the comparison and was not fitted here ({result.status})."
    seconds = result.fit_seconds * settings.rows / max(1, result.rows or 1)
    if seconds <= max(5.0, _SHARE * settings.asked.budget):
        return ""
    return (
        f"It was not fitted to all {settings.rows:,} rows, which would take about {seconds:,.0f} "
        "seconds: give a larger budget."
    )


# --- How the predictions of a learner were: its confusions, probabilities and errors -------------


@dataclass(frozen=True, eq=False)
class EvaluatedPredictions:
    """What is said of predictions, and on which it rests; nothing of it where none were kept."""

    words: str = ""
    confusion: Confusion | None = None
    reliability: Reliability | None = None
    roc: Roc | None = None
    errors: ErrorAnalysis | None = None


def evaluate_out_of_fold(
    name: str, comparison: Comparison, rows: TrainingRows, wishes: ReportOptions
) -> EvaluatedPredictions:
    """Evaluate the out-of-fold predictions of a learner."""
    kept = comparison.kept.get(name)
    if kept is None:
        return EvaluatedPredictions()
    classes = comparison.settings.classes
    shares = kept.probabilities
    return EvaluatedPredictions(
        words=kept.words,
        confusion=Confusion.of(kept.truth, kept.predicted, classes),
        reliability=None if shares is None else Reliability.of(kept.truth, kept.predicted, shares),
        roc=None if shares is None else Roc.of(kept.truth, shares, classes),
        errors=ErrorAnalysis.of(
            kept,
            rows.X,
            classes,
            places=rows.places,
            categorical_features=features_among(wishes.categorical_features, wishes.target),
            rows=wishes.include_rows,
        ),
    )


# --- The neighbors of rows that were predicted wrong, where rows may be shown --------------------

# So many rows, and so many neighbors of each.
_ROWS, _NEIGHBORS = 5, 5


def with_neighbors(
    errors: ErrorAnalysis | None, estimator: Any, rows: TrainingRows
) -> ErrorAnalysis | None:
    """Errors with the nearest other rows of the first of them; as they are without neighbors."""
    if errors is None or not errors.places or not hasattr(estimator, "kneighbors"):
        return errors
    at = np.array(errors.places[:_ROWS])
    frame = nw.from_native(rows.X, eager_only=True)
    labels = nw.from_native(rows.y, series_only=True).to_list()
    depth = min(_NEIGHBORS, int(estimator.n_neighbors_))
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", SortalWarning
        )  # of missing values, which the report tells already
        distances, ids = estimator.kneighbors(frame[at].to_native(), n_neighbors=depth + 1)
    cells: list[tuple[Cell, ...]] = []
    for i, place in enumerate(at.tolist()):
        # the model knows the row itself by now, which says nothing of why it was predicted wrong
        others = [j for j in range(depth + 1) if ids[i, j] not in (place, -1)][:depth]
        for j in others:
            near = int(ids[i, j])
            told = (int(rows.places[place]) + 1, labels[place], int(rows.places[near]) + 1)
            cells.append((*told, labels[near], float(distances[i, j])))
    heads = ("row", "true", "neighbor", "its class", "distance")
    title = f"The nearest rows of these, up to {depth} each"
    found = Table("near", title, heads, tuple(cells))
    return framed(replace(errors, near=found), str(frame.implementation))


# --- What is shown of long things: the part that says most, with words on the rest ---------------


@dataclass(frozen=True)
class ExcerptLimits:
    """How much of tables is shown: so many tables, rows of each and columns of each."""

    tables: int
    rows: int
    columns: int


# Of many tables the last few are kept, too: there is what all the others lead to.
_LAST = 3


def cut_tables(
    tables: Sequence[Table], room: ExcerptLimits
) -> tuple[tuple[Table, ...], tuple[str, ...]]:
    """Tables as far as there is room, and words on what is left out."""
    kept, words = list(tables), []
    if len(tables) > room.tables:
        first = room.tables - _LAST
        kept = [*tables[:first], *tables[-_LAST:]]
        words.append(
            f"{room.tables} of {len(tables):,} tables are shown, the first {first} and the last "
            f"{_LAST}"
        )
    cut = [_cut(table, room) for table in kept]
    n = sum(one is not other for one, other in zip(cut, kept, strict=True))
    if n:
        words.append(
            f"of {counted(n, 'long table')} {room.rows} rows at most are shown "
            f"(the best ones where they are ranked) and {room.columns} columns"
        )
    return tuple(cut), tuple(words)


def _cut(table: Table, room: ExcerptLimits) -> Table:
    """The best rows of a table where they are ranked, or else the first; and its first columns."""
    if len(table.rows) > room.rows:
        order: Sequence[int] = range(len(table.rows))
        if "rank" in table.columns:
            ranks = [_rank(cell) for cell in table.column("rank")]
            order = sorted(sorted(order, key=ranks.__getitem__)[: room.rows])
        rows = tuple(table.rows[i] for i in order[: room.rows])
        title = f"{table.title} ({room.rows} of {len(table.rows):,} rows)"
        table = replace(table, rows=rows, title=title)
    if len(table.columns) > room.columns:
        table = replace(
            table,
            columns=table.columns[: room.columns],
            rows=tuple(row[: room.columns] for row in table.rows),
            title=f"{table.title} ({room.columns} of {len(table.columns):,} columns)",
        )
    return table


def _rank(cell: Cell) -> float:
    return float(cell) if isinstance(cell, int | float) else float("inf")


def cut_rules(rules: ModelRules | None, most: int) -> tuple[ModelRules | None, str]:
    """The first rules, and words where there are more."""
    if rules is None or len(rules) <= most:
        return rules, ""
    return rules[:most], f"{most} of {len(rules):,} rules are shown"


def sentence(words: Sequence[str], code: str) -> str:
    """What was cut, and the line of code that shows all; nothing where nothing was."""
    told = [word for word in words if word]
    if not told:
        return ""
    said = "; ".join(told)
    return f"{said[:1].upper()}{said[1:]}. All of it: {code}"


# --- One learner of a report: itself, to be read, its pictures, and how its predictions were -----


@dataclass(frozen=True)
class ModelFacts:
    """One of sortal's learners: how it did in the comparison, and itself, fitted to all rows.

    `code` is Python that fits it, for the code of its pictures. `note` says why parts are missing.
    `facts` are those of `show`; `rules` or `tables` are what is read, and `more` says what was left
    out. `judged` says which predictions the next four rest on.
    """

    name: str
    title: str
    reads: str
    result: ModelResult
    facts: Table | None
    pictures: tuple[Picture, ...]
    rules: ModelRules | None
    tables: tuple[Table, ...]
    more: str
    judged: str
    confusion: Confusion | None
    reliability: Reliability | None
    roc: Roc | None
    errors: ErrorAnalysis | None
    judged_pictures: tuple[Picture, ...]
    code: str = ""
    note: str = ""

    @property
    def id(self) -> str:
        """What names it in a page."""
        return part_id(self.name)


_ROOM = ExcerptLimits(tables=12, rows=60, columns=80)

_MOST_RULES = 100


def model_facts(
    fitted: FittedLearner,
    comparison: Comparison,
    rows: TrainingRows,
    wishes: ReportOptions,
    *,
    is_chosen: bool,
) -> ModelFacts:
    """All that a report says of a learner."""
    shown, trouble = _shown(fitted)
    rules, tables, more = (None, (), "") if shown is None else _read(shown)
    pictures, left_out = learner_pictures(fitted, comparison, rows, wishes, is_chosen=is_chosen)
    judged = evaluate_out_of_fold(fitted.name, comparison, rows, wishes)
    errors = (
        with_neighbors(judged.errors, fitted.estimator, rows)
        if wishes.include_rows
        else judged.errors
    )
    return ModelFacts(
        name=fitted.name,
        title=fitted.title,
        reads=fitted.learner.facts.reads,
        result=fitted.result,
        facts=None if shown is None else _with_options(shown),
        pictures=pictures,
        rules=rules,
        tables=tables,
        more=more,
        judged=judged.words,
        confusion=judged.confusion,
        reliability=judged.reliability,
        roc=judged.roc,
        errors=errors,
        judged_pictures=evaluation_pictures_of(fitted.name, judged),
        code="" if fitted.estimator is None else fitting_code(wishes, fitted),
        note=" ".join(filter(None, [fitted.note, trouble, *left_out])),
    )


def _shown(fitted: FittedLearner) -> tuple[ModelDescription | None, str]:
    """The model to be read, or why it is not."""
    if fitted.estimator is None:
        return None, ""
    try:
        return show(fitted.estimator), ""
    except Exception as error:  # noqa: BLE001  (a learner of one's own may raise anything)
        return None, f"It could not be shown. {type(error).__name__}: {one_line(error)}"


def _read(shown: ModelDescription) -> tuple[ModelRules | None, tuple[Table, ...], str]:
    """Rules or tables, as far as they are shown, and what is left out."""
    rules, few_rules = cut_rules(shown.rules, _MOST_RULES)
    tables, few_tables = cut_tables(shown.tables, _ROOM)
    code = "model.rules()" if shown.rules is not None else "model.working()"
    told = [few_rules, *few_tables, shown.more.partition(":")[0].removeprefix("… and ")]
    return rules, tables, sentence(told, code)


def _with_options(shown: ModelDescription) -> Table:
    """The facts, and options that differ from their defaults."""
    own = tuple((f"option {name}", value) for name, value in shown.options.rows)
    return replace(shown.facts, rows=(*shown.facts.rows, *own))
