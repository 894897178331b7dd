"""Gathering the facts of a report: table, comparison, models, the calculations of one."""

from __future__ import annotations

import inspect as signatures
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import narwhals as nw
import numpy as np

from sortal.data.sources import read_table
from sortal.decision.options import whole_number
from sortal.errors import counted
from sortal.records.tables import Working
from sortal.tasks.compare.compare import replayed, run_comparison
from sortal.tasks.compare.fold_run import one_line
from sortal.tasks.findings import profile, shortened
from sortal.tasks.fit import training_rows
from sortal.tasks.inspection import inspect, unused_columns
from sortal.tasks.report.answer import SummaryTexts, answer, sentences
from sortal.tasks.report.models import ExcerptLimits, cut_tables, fit_again, model_facts, sentence
from sortal.tasks.report.parts import comparison_pictures, decide, has_form
from sortal.tasks.report.reproduce import Reproduction, reproduction
from sortal.tasks.show import some_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from narwhals.typing import IntoDataFrame

    from sortal.data.columns import Value
    from sortal.data.sources import DataTable
    from sortal.pictures import Picture
    from sortal.records.render import PagePart
    from sortal.records.tables import Cell, Table
    from sortal.tasks.compare.comparison import Comparison
    from sortal.tasks.compare.settings import ReportOptions
    from sortal.tasks.findings import Finding, Profile
    from sortal.tasks.fit import TrainingRows
    from sortal.tasks.inspection import Inspection
    from sortal.tasks.report.models import FittedLearner, ModelFacts
    from sortal.tasks.tables import OpenedTable

    Progress = Callable[[int, int, str, float | None], None]


# --- The facts of a report: everything that is said, before it is said in HTML or Markdown -------


@dataclass(frozen=True)
class ReportFacts:
    """All of a report. `models` are in the order of the comparison, the chosen one first.

    `chosen` is the model that the page predicts with, the recommended one if it could be fitted;
    None where no learner could be. `decide` is the form in which it does. `pictures` are those of
    the comparison. `left_out` says which rows and columns were not learned from, and what text was
    joined.
    """

    title: str
    target: str
    date: str
    answer: SummaryTexts
    data: Inspection
    left_out: str
    comparison: Comparison
    pictures: tuple[Picture, ...]
    models: tuple[ModelFacts, ...]
    chosen: str | None
    decide: PagePart | None
    decide_note: str
    working: Working | None
    working_note: str
    reproduction: Reproduction
    rows: bool


def plain_facts(facts: ReportFacts) -> dict[str, Any]:
    """All that is said, without pictures; ready for JSON."""
    how = facts.reproduction
    versions = {str(row[0]): row[1] for row in how.versions.rows}
    return (
        _told(facts, "title", "target", "date")
        | {"answer": dict(vars(facts.answer))}
        | _told(facts, "data", "left_out", "comparison", "chosen")
        | {"models": [_model(model) for model in facts.models]}
        | _told(facts, "working", "working_note")
        | {"reproduction": vars(how) | {"versions": versions}, "rows": facts.rows}
    )


def _model(model: ModelFacts) -> dict[str, Any]:
    pictures = (*model.pictures, *model.judged_pictures)
    return (
        _told(model, "name", "title", "reads", "note", "facts", "rules", "tables", "more")
        | _told(model, "judged", "confusion", "reliability", "roc", "errors")
        | {"pictures": [_told(one, "name", "title", "alt", "table") for one in pictures]}
    )


def _told(record: object, *names: str) -> dict[str, Any]:
    """Attributes by name, as plain data."""
    return {name: _plain(getattr(record, name)) for name in names}


def _plain(value: object) -> object:
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return value.to_dict() if hasattr(value, "to_dict") else value


# --- Rare text, joined: what is written for others does not hold text that few rows have ---------

OTHER: Final = "other"


@dataclass(frozen=True)
class JoinedTable:
    """A data frame without rare text; of each column that had some, the texts and their rows."""

    frame: IntoDataFrame
    texts: Mapping[str, frozenset[str]]
    n_rows: Mapping[str, int]

    def masked(self, words: str) -> str:
        """A sentence in which no rare text is quoted, neither whole nor as far as it is shown."""
        for text in frozenset[str]().union(*self.texts.values()):
            for quoted in {repr(text), repr(shortened(text))}:
                words = words.replace(quoted, "'…'")
        return words


def join_rare(
    table: IntoDataFrame,
    target: str,
    min_frequency: int = 5,
    categorical_features: Sequence[str] = (),
) -> Any:
    """A data frame in which text that occurs in fewer than `min_frequency` rows is "other".

    The target stays as it is, and so do numbers, unless `categorical_features` names their column,
    truth values, dates, and ordered categories, which are a scale.
    """
    return join_rare_text(table, target, min_frequency, categorical_features).frame


def join_rare_text(
    table: IntoDataFrame, target: str, min_frequency: int, categorical_features: Sequence[str] = ()
) -> JoinedTable:
    """The same, and what was joined."""
    whole_number("min_frequency", min_frequency, 1)
    read, frame = read_table(table), nw.from_native(table, eager_only=True)
    texts, n_rows, changed = {}, {}, []
    for j, name in enumerate(read.names):
        if name == target or not _is_text(read, j, categorical_features):
            continue
        column = profile(read, j)
        if column.kind == "truth":
            continue
        is_rare = column.counts < min_frequency
        n_declared = len(read.column_schema(j).values)  # a type may declare text without rows
        if is_rare.any() or column.n_distinct < n_declared:
            named = [_text(value) for value in column.values]
            texts[name] = frozenset(named[v] for v in np.flatnonzero(is_rare))
            n_rows[name] = int(column.counts[is_rare].sum())
            changed.append(_renamed(frame, frame.columns[j], column, named, is_rare.tolist()))
    return JoinedTable(
        frame.with_columns(*changed).to_native() if changed else table, texts, n_rows
    )


def _is_text(table: DataTable, j: int, categorical_features: Sequence[str]) -> bool:
    schema = table.column_schema(j)
    is_named = schema.kind == "number" and table.names[j] in categorical_features
    return is_named or (schema.kind == "category" and not schema.ordered)


def _text(value: Value) -> str:
    """A value of a category; whole numbers without a point."""
    is_whole = isinstance(value, float | np.floating) and float(value).is_integer()
    return str(int(value)) if is_whole else str(value)


def _renamed(
    frame: nw.DataFrame[Any], name: str, column: Profile, texts: list[str], is_rare: list[bool]
) -> nw.Series[Any]:
    pairs = zip(texts, is_rare, strict=True)
    new = [*(OTHER if rare else text for text, rare in pairs), None]  # the code −1 finds the last
    cells = [new[code] for code in column.codes.tolist()]
    return nw.new_series(name, cells, nw.String, backend=frame.implementation)


# --- What a report that holds no rows does not hold: columns left out, rare text -----------------


def discreet(
    data: Inspection, opened: OpenedTable, rows: TrainingRows, wishes: ReportOptions
) -> tuple[Inspection, TrainingRows, ReportOptions, str]:
    """The same without the values of columns that are left out and without rare text; and words.

    A model of such a column would hold its values, and with it the page. The options are those by
    which `fit` gets the same rows again.
    """
    refit = replace(wishes, drop=rows.dropped, groups=None, time=None)
    words = sentences(rows.notes)
    if wishes.include_rows:
        return data, rows, refit, words
    declared = wishes.categorical_features
    made = join_rare_text(opened.frame, wishes.target, wishes.min_frequency, declared)
    dropped = {str(name) for name in rows.dropped}  # a frame's names need not be words
    if made.texts.keys() - dropped:
        rows = _joined(rows, made)
        unused = unused_columns(made.frame, wishes.target, rows.dropped, wishes.use)
        refit = replace(refit, joins=True, use=(*wishes.use, *unused))
    shown = replace(
        data,
        columns=_columns(data.columns, made, dropped),
        findings=tuple(_of_table(finding, made, wishes.target) for finding in data.findings),
        notes=tuple(made.masked(note) for note in data.notes),
    )
    return shown, rows, refit, sentences([words, _joined_words(made, wishes, dropped)])


def _joined(rows: TrainingRows, made: JoinedTable) -> TrainingRows:
    """The same rows with rare text joined."""
    known = nw.from_native(rows.all_rows, eager_only=True).columns
    frame = nw.from_native(made.frame, eager_only=True)
    every = frame.drop([name for name in frame.columns if name not in known])
    X = every if len(rows.places) == len(every) else every[rows.places]
    return replace(rows, X=X.to_native(), all_rows=every.to_native())


def _joined_words(made: JoinedTable, wishes: ReportOptions, dropped: set[str]) -> str:
    """Which columns had rare text."""
    named = [
        f"{name!r} ({counted(len(texts), 'text')} in {counted(made.n_rows[name], 'row')})"
        for name, texts in made.texts.items()
        if texts and name not in dropped
    ]
    if not named:
        return ""
    return (
        f"Text that occurs in fewer than {wishes.min_frequency} rows (--min-frequency, "
        f"min_frequency=) was read as {OTHER!r}, which stands for it in the form; no model "
        f"holds it: {some_of(named)}. The labels of classes stay."
    )


def _columns(before: Table, made: JoinedTable, dropped: set[str]) -> Table:
    """The columns as they were learned from; of those that were not, the values are not shown."""
    table = read_table(made.frame)
    joined = {name: profile(table, j) for j, name in enumerate(table.names) if name in made.texts}

    def shown(row: tuple[Cell, ...]) -> tuple[Cell, ...]:
        one = joined.get(str(row[0]))
        if str(row[0]) in dropped:
            return (*row[:-1], "not shown")
        if one is None:
            return row
        return (one.name, one.kind, one.n_missing, one.n_distinct, one.summary())

    return replace(before, rows=tuple(map(shown, before.rows)))


def _of_table(finding: Finding, made: JoinedTable, target: str) -> Finding:
    """A finding without rare text; nor is it in the remedy, which can list what words quote."""
    words = made.masked(finding.words)
    if words == finding.words or finding.column == target:
        return finding
    is_plain = finding.remedy.startswith("--drop")
    return replace(finding, words=words, remedy=finding.remedy if is_plain else "")


# Of the working of the chosen model so much is in the page.
_ROOM = ExcerptLimits(tables=12, rows=40, columns=30)


def gather(
    opened: OpenedTable, wishes: ReportOptions, progress: Progress | None = None
) -> ReportFacts:
    """Everything that a report says."""
    whole_number("min_frequency", wishes.min_frequency, 1)
    wishes, _ = replayed(wishes)
    data = inspect(opened, wishes.target, drop=wishes.drop)
    rows = training_rows(opened, wishes.target, **wishes.selection)
    data, rows, refit, left_out = discreet(data, opened, rows, wishes)
    steps = _Steps(progress)
    comparison = run_comparison(rows, wishes, steps.of_folds, keep=True)
    fitted = _fit_all(comparison, rows, steps)
    chosen = _chosen(comparison, fitted)
    models = []
    for one in sorted(fitted, key=lambda one: one is not chosen):
        steps.say(f"report: {one.name}")
        models.append(model_facts(one, comparison, rows, refit, is_chosen=one is chosen))
    steps.say("report")
    part, decide_note = decide(chosen, rows, models, refit)
    working, working_note = _working(chosen, rows, refit)
    return ReportFacts(
        title=wishes.title or _title(wishes, opened, comparison),
        target=wishes.target,
        date=datetime.now().astimezone().date().isoformat(),
        answer=answer(data, comparison, models, chosen, refit, opened.file, decides=has_form(part)),
        data=data,
        left_out=left_out,
        comparison=comparison,
        pictures=comparison_pictures(comparison),
        models=tuple(models),
        chosen=None if chosen is None else chosen.name,
        decide=part,
        decide_note=decide_note,
        working=working,
        working_note=working_note,
        reproduction=reproduction(
            wishes, refit, opened.file, chosen, comparison.settings.candidates
        ),
        rows=wishes.include_rows,
    )


class _Steps:
    """Progress over folds first, and then over what is made of them."""

    def __init__(self, progress: Progress | None) -> None:
        self._progress, self._done, self._total, self._more = progress, 0, 0, 1

    def expect(self, more: int) -> None:
        """So many steps come after the folds."""
        self._more = more

    def of_folds(self, done: int, total: int, words: str, seconds_left: float | None) -> None:
        """What a comparison tells."""
        self._done, self._total = total, total
        if self._progress is not None:
            self._progress(done, total + self._more, words, seconds_left)

    def say(self, words: str) -> None:
        """One step is begun."""
        if self._progress is not None:
            self._done += 1
            total = max(self._total + self._more, self._done)
            self._progress(self._done - 1, total, words, None)


def _title(wishes: ReportOptions, opened: OpenedTable, comparison: Comparison) -> str:
    source = counted(comparison.settings.rows, "row") if opened.file is None else opened.file.name
    return f"Predicting {wishes.target} from {source}"


def _fit_all(comparison: Comparison, rows: TrainingRows, steps: _Steps) -> list[FittedLearner]:
    """Each of sortal's learners that took part, in the order of the comparison."""
    learners = {one.name: one for one in comparison.settings.candidates if not one.baseline}
    ranked = [learners[model.name] for model in comparison.models if model.name in learners]
    steps.expect(2 * len(ranked) + 1)
    fitted = []
    for candidate in ranked:
        steps.say(f"fit: {candidate.name}")
        fitted.append(fit_again(comparison, candidate, rows))
    return fitted


def _chosen(comparison: Comparison, fitted: Sequence[FittedLearner]) -> FittedLearner | None:
    """The recommended learner; else the next within the margin; else the best there is.

    Learners come in the order of the comparison, those without a score last.
    """
    there = [one for one in fitted if one.estimator is not None]
    named = {one.name: one for one in there}
    close = [named[name] for name in comparison.choice.close if name in named]
    eligible = [one for one in there if one.result.eligible]
    scored = [one for one in there if one.result.score is not None]
    return next(iter([*close, *eligible, *scored, *there]), None)


def _working(
    chosen: FittedLearner | None, rows: TrainingRows, wishes: ReportOptions
) -> tuple[Working | None, str]:
    """The textbook's numbers for the chosen model, and what was cut of them."""
    if chosen is None or not hasattr(chosen.estimator, "working"):
        return None, ""
    work = chosen.estimator.working
    has_nodes = "node" in signatures.signature(work).parameters
    # of a kernel, the matrices of few rows would tell of each of them
    given = (
        {"max_rows": 1}
        if hasattr(chosen.estimator, "dual_coef_") and not wishes.include_rows
        else {}
    )
    try:
        whole: Working = work(0, rows.X, rows.y) if has_nodes else work(**given)
    except Exception as error:  # noqa: BLE001  (a learner of one's own may raise anything)
        why = f"{type(error).__name__}: {one_line(error)}"
        return None, f"Its calculations could not be shown. {why}"
    tables, cut = cut_tables(whole.tables, _ROOM)
    if not has_nodes:
        return Working(whole.title, tables), sentence(cut, "model.working()")
    words = ["these are the calculations of the first split of the tree, node 0", *cut]
    others = "; of another node, such as 1: model.working(1, X, y)"
    return Working(whole.title, tables), sentence(words, "model.working(0, X, y)") + others
