"""Parts of a report: the form in which the recommended model predicts, and the pictures."""

from __future__ import annotations

import hashlib
import re
import warnings
from dataclasses import replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from sortal.data.columns import is_missing
from sortal.errors import SortalError
from sortal.tasks.compare.fold_run import one_line
from sortal.trees.model import TreeModel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from narwhals.typing import IntoDataFrame, IntoSeries

    from sortal.data.columns import ColumnSchema, Value
    from sortal.pictures import Picture
    from sortal.records.render import PagePart
    from sortal.tasks.compare.comparison import Comparison
    from sortal.tasks.compare.settings import ReportOptions
    from sortal.tasks.fit import TrainingRows
    from sortal.tasks.registry import FittedClassifier
    from sortal.tasks.report.models import EvaluatedPredictions, FittedLearner, ModelFacts
    from sortal.trees.cost_complexity import CostComplexityPath

    Start = tuple[str, Mapping[str, Any]]
    Drawn = tuple[tuple[Picture, ...], tuple[str, ...]]


# --- Rows to start from where a reader decides in the page: typical ones, or real ones -----------

# So many classes have a typical row to start from.
MOST_CLASSES = 12

# The middle of fewer rows would nearly be a row itself, and rows are not shown unasked.
_FEWEST = 5

# Digits of a typical number: one with all of them would be somebody's.
_DIGITS = 4

# So many rows of a class say what is typical.
_LOOKED_AT = 5000


def typical_rows(
    X: IntoDataFrame, y: IntoSeries, classes: Sequence[Value], columns: Sequence[ColumnSchema]
) -> list[Start]:
    """For each of the largest classes the middle of its numbers and its most frequent words."""
    frame = nw.from_native(X, eager_only=True)
    places: dict[Any, list[int]] = {label: [] for label in classes}
    for i, label in enumerate(nw.from_native(y, series_only=True).to_list()):
        places.setdefault(label, []).append(i)
    enough = [label for label in classes if len(places[label]) >= _FEWEST]
    largest = sorted(enough, key=lambda label: -len(places[label]))[:MOST_CLASSES]
    return [
        (f"a typical row of {label}", _typical(frame, places[label], columns))
        for label in enough
        if label in largest
    ]


def real_rows(
    X: IntoDataFrame, numbers: Sequence[int], columns: Sequence[ColumnSchema]
) -> list[Start]:
    """Rows as they are, by their numbers from 1."""
    frame = nw.from_native(X, eager_only=True)
    some = frame[[number - 1 for number in numbers]]
    cells = _cells(some, columns)
    return [
        (f"row {number}", {name: _plain(cells[name][i]) for name in cells})
        for i, number in enumerate(numbers)
    ]


def _typical(
    frame: nw.DataFrame[Any], rows: Sequence[int], columns: Sequence[ColumnSchema]
) -> dict[str, Any]:
    some = frame[list(rows[:: 1 + len(rows) // _LOOKED_AT])]
    cells = _cells(some, columns)
    return {column.name: _middle(cells[column.name], column.is_number) for column in columns}


def _cells(frame: nw.DataFrame[Any], columns: Sequence[ColumnSchema]) -> dict[str, list[Any]]:
    """The cells of columns by the names of the schema; those of a frame need not be words."""
    own = {str(name): name for name in frame.columns}
    return {c.name: frame.get_column(own[c.name]).to_list() for c in columns}


def _middle(cells: list[Any], is_number: bool) -> object:
    """The lower median of numbers, rounded, and of dates; the most frequent of words; or None."""
    known = [cell for cell in cells if not is_missing(cell)]
    if not known:
        return None
    if is_number:
        return _rounded(sorted(known)[(len(known) - 1) // 2])
    counts: dict[Any, int] = {}
    for cell in known:
        counts[cell] = counts.get(cell, 0) + 1
    most = max(counts, key=lambda cell: counts[cell])
    return _plain(most) if counts[most] > 1 else None


def _rounded(middle: object) -> object:
    """A few digits of a number, the month of a date."""
    if isinstance(middle, int | float) and not isinstance(middle, bool):
        return type(middle)(float(f"{middle:.{_DIGITS}g}"))
    if isinstance(middle, datetime):
        return middle.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return middle.replace(day=1) if isinstance(middle, date) else _plain(middle)


def _plain(cell: object) -> object:
    return None if is_missing(cell) else cell


# The name of the form, and of what the tree follows.
DECIDE = "decide"

# Of the name of a model with options so much is in the names of its parts and pictures.
_LONGEST = 40


def part_id(name: str) -> str:
    """The name of a model in small letters, digits and hyphens; each model has its own.

    >>> part_id("naive_bayes"), part_id("tree:max_leaf_nodes=16")
    ('naive-bayes', 'tree-max-leaf-nodes-16-1a17e115')
    """
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    if plain == name.replace("_", "-"):
        return plain
    return f"{plain[:_LONGEST].strip('-')}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


# Rows beside those of errors to start from, where rows may be shown.
_MOST_ROWS = 50


def decide(
    chosen: FittedLearner | None,
    rows: TrainingRows,
    models: Sequence[ModelFacts],
    wishes: ReportOptions,
) -> tuple[PagePart | None, str]:
    """The part, or why there is none."""
    from sortal.tasks.report.page import decide_part  # noqa: PLC0415  (templates are slow)

    if chosen is None:
        return None, "No model could be fitted, and so none predicts here."
    estimator = chosen.estimator
    model = getattr(estimator, "_model", None)
    if model is None:
        return None, _elsewhere(chosen)
    part = decide_part(
        model,
        title=f"A row predicted by the {chosen.title}",
        name=DECIDE,
        starts=starts(chosen, rows, models[0], wishes),
        missing=getattr(estimator, "missing", ""),
        unknown=getattr(estimator, "unknown", ""),
        costs=estimator._fitted.read_costs(),
        ranges=_ranges(rows.X),
    )
    return (part, "") if part is not None else (None, _elsewhere(chosen))


def has_form(part: PagePart | None) -> bool:
    """Whether one can type in a row: a model of too many numbers has a part that only says so."""
    return part is not None and part.data.get("model") is not None


def _ranges(X: IntoDataFrame) -> dict[str, tuple[float, float]]:
    """The least and the greatest of each column of numbers."""
    frame = nw.from_native(X, eager_only=True)
    found = {}
    for name in frame.columns:
        cells = frame.get_column(name)
        if not cells.dtype.is_numeric():
            continue
        known = cells.cast(nw.Float64).drop_nulls()
        known = known.filter(~known.is_nan())
        if len(known):
            found[str(name)] = (float(known.min()), float(known.max()))
    return found


def _elsewhere(chosen: FittedLearner) -> str:
    """Why the page does not decide, and what does."""
    why = f"There is no form here for a model of this kind ({chosen.title})."
    if chosen.learner.facts.keeps_rows:
        why = (
            "There is no form here: this model compares a new row with the rows that it learned "
            "from, so a form would need those rows themselves in the page."
        )
    return f"{why} sortal predict and sortal explain classify new rows, and say why."


def starts(
    chosen: FittedLearner, rows: TrainingRows, facts: ModelFacts, wishes: ReportOptions
) -> list[Start]:
    """Typical rows of the classes; where rows may be shown, those of errors and some others."""
    estimator = chosen.estimator
    columns = estimator._schema.columns
    found = typical_rows(rows.X, rows.y, estimator.classes_.tolist(), columns)
    if not wishes.include_rows:
        return found
    wrong = () if facts.errors is None else facts.errors.places
    others = np.linspace(0, len(rows.places) - 1, min(_MOST_ROWS, len(rows.places)))
    chosen_rows = dict.fromkeys([*wrong, *others.astype(int).tolist()])
    numbers = [int(rows.places[i]) + 1 for i in chosen_rows]
    return found + real_rows(rows.all_rows, numbers, columns)


# A tree in the page: it unfolds, follows a row that is typed in, and is cut back by a slider.

# Seconds that a cross-validated path of smaller trees may take, and its folds.
_MOST_SECONDS, _FOLDS = 10.0, 10


def is_tree(estimator: FittedClassifier) -> bool:
    """Whether a model is a tree."""
    return isinstance(getattr(estimator, "_model", None), TreeModel)


def tree_part_of(
    fitted: FittedLearner, path: CostComplexityPath | None, *, is_chosen: bool
) -> PagePart:
    """The tree; the chosen one follows the form in which one decides, another has its own."""
    from sortal.trees.drawing.html import tree_part  # noqa: PLC0415  (templates are slow)

    return tree_part(
        fitted.estimator._model,
        name=f"unfold-{part_id(fitted.name)}",
        title=fitted.title[:1].upper() + fitted.title[1:],
        complexity=path,
        with_form=not is_chosen,
        follows=DECIDE if is_chosen else "",
    )


def smaller_trees(
    fitted: FittedLearner, comparison: Comparison, rows: TrainingRows
) -> tuple[CostComplexityPath | None, str]:
    """The nested smaller trees with cross-validated errors, where that does not take long."""
    folds = min(_FOLDS, comparison.settings.folds.folds)
    result = fitted.result
    seconds = folds * (result.fit_seconds or 0.0) * comparison.settings.rows / (result.rows or 1)
    line = f"model.cost_complexity_path(X, y, cv={folds})"
    if seconds > _MOST_SECONDS:
        return None, f"The errors of smaller trees would take about {seconds:,.0f} seconds: {line}"
    try:
        path: CostComplexityPath = fitted.estimator.cost_complexity_path(rows.X, rows.y, cv=folds)
    except SortalError as error:  # such as rows that the fit held out
        return None, f"The errors of smaller trees are not known: {error}"
    return path, ""


# --- The pictures of a report: of the comparison, of each learner, and of its predictions --------


def learner_pictures(
    fitted: FittedLearner,
    comparison: Comparison,
    rows: TrainingRows,
    wishes: ReportOptions,
    *,
    is_chosen: bool,
) -> Drawn:
    """The pictures of a learner, a tree with what it can do, and why others are left out."""
    if fitted.estimator is None:
        return (), ()
    if not is_tree(fitted.estimator):
        return _drawn(fitted, rows, wishes)
    path, note = smaller_trees(fitted, comparison, rows)
    pictures, left_out = _drawn(fitted, rows, wishes, path)
    return tuple(_with_part(one, fitted, path, note, is_chosen) for one in pictures), left_out


def _drawn(
    fitted: FittedLearner,
    rows: TrainingRows,
    wishes: ReportOptions,
    path: CostComplexityPath | None = None,
) -> Drawn:
    """What the learner's own function draws; whatever it raises is its own affair."""
    extra = {} if path is None else {"complexity": path}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            drawn = fitted.learner.draw(
                fitted.estimator, rows.X, rows.y, rows=wishes.include_rows, **extra
            )
    except Exception as error:  # noqa: BLE001  (a learner of one's own may raise anything)
        return (), (f"Its pictures could not be drawn. {type(error).__name__}: {one_line(error)}",)
    if drawn is None:
        return (), ()
    begin = f"{part_id(fitted.name)}-" if fitted.candidate.given else ""
    named = (replace(one, name=f"{begin}{one.name}") for one in drawn.pictures)
    return tuple(named), tuple(drawn.left_out)


def _with_part(
    picture: Picture,
    fitted: FittedLearner,
    path: CostComplexityPath | None,
    note: str,
    is_chosen: bool,
) -> Picture:
    """The picture of the tree itself, with the tree that unfolds in its place."""
    if picture.name.endswith("tree-complexity"):
        return replace(picture, in_page=path is None)  # the slider shows it
    if not picture.name.endswith("tree-tree"):
        return picture
    part = tree_part_of(fitted, path, is_chosen=is_chosen)
    said, beside = (
        " ".join(filter(None, [one, note])) for one in (picture.note, picture.part_note)
    )
    return replace(picture, part=part, note=said, part_note=beside)


def evaluation_pictures_of(name: str, judged: EvaluatedPredictions) -> tuple[Picture, ...]:
    """Confusions, reliability and curves, as far as there are any."""
    from sortal.pictures import shared as views  # noqa: PLC0415  (matplotlib is slow)

    made = judged.confusion, judged.reliability, judged.roc
    return tuple(views.evaluation_pictures(part_id(name), *made).pictures)


def comparison_pictures(comparison: Comparison) -> tuple[Picture, ...]:
    """All models with their intervals."""
    from sortal.pictures import shared as views  # noqa: PLC0415

    return tuple(views.comparison_pictures(comparison).pictures)
