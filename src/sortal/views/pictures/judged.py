"""Pictures of predictions for rows that a model has not seen, and of a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sortal.data.printing import counted
from sortal.views.comparison_display import ComparisonDisplay
from sortal.views.confusion import ConfusionDisplay
from sortal.views.lettering import number_text
from sortal.views.pictures.scene import Pictures, Sketches, Words
from sortal.views.pictures.words import MOST_ROWS, cut_table, plain, several
from sortal.views.reliability import ReliabilityDisplay
from sortal.views.roc import RocDisplay

if TYPE_CHECKING:
    from sortal.models.judged import Confusion, Reliability, Roc

# With more classes a table of all pairs is not read; one of the confusions is.
_MOST_CLASSES = 12

_CODE = """from sklearn.model_selection import cross_val_predict

from sortal import displays

{told} = cross_val_predict(model, X, y, cv=10{method})  # folds of its own, for any rows
displays.{display}.from_predictions(y, {told})"""


def judged_pictures(
    name: str,
    confusion: Confusion | None,
    reliability: Reliability | None = None,
    roc: Roc | None = None,
) -> Pictures:
    """Which classes are taken for which; whether probabilities can be taken at their word; ROC.

    `name` begins the names of the pictures: that of the learner.
    """
    sketches = Sketches(f"{name}-judged")
    if confusion is not None:
        _add_confusion(sketches, confusion)
    if reliability is not None:
        _add_reliability(sketches, reliability)
    if roc is not None:
        _add_roc(sketches, roc)
    return sketches.pictures()


def comparison_pictures(comparison: Any) -> Pictures:
    """Scores of all models with their intervals."""
    sketches = Sketches("comparison")
    title = "Models compared"
    code = "from sortal import displays\n\ndisplays.ComparisonDisplay.from_comparison(comparison)"

    def draw() -> ComparisonDisplay:
        return ComparisonDisplay.from_comparison(comparison, title="")

    sketches.add("scores", title, draw, lambda display: _compared(title, display), code)
    return sketches.pictures()


def _compared(title: str, display: ComparisonDisplay) -> Words:
    told, rows = [], []
    for one in display.models:
        bounds = ""
        if one.low is not None and one.high is not None:
            bounds = f" ({number_text(one.low)} to {number_text(one.high)})"
        mark = f", {one.mark}" if one.mark else ""
        told.append(f"{plain(one.name)} {number_text(one.score)}{bounds}{mark}")
        kind = "baseline" if one.baseline else "learner"
        rows.append((one.name, kind, one.score, one.low, one.high, one.mark))
    said = f"{title} by {display.metric}, the best first: {'; '.join(told)}."
    heads = ("model", "kind", display.metric, "from", "to", "marked")
    table, note = cut_table("comparison", title, heads, rows)
    return Words(said, table, note)


def _add_confusion(sketches: Sketches, record: Confusion) -> None:
    title = "Which classes are taken for which"
    code = _CODE.format(told="said", method="", display="ConfusionDisplay")
    sketches.add(
        "confusion",
        title,
        lambda: ConfusionDisplay.from_confusion(record, title=""),
        lambda _: _confused(title, record),
        code,
    )


def _confused(title: str, record: Confusion) -> Words:
    right = record.n - record.n_wrong
    said = f"{title}: {right:,} of {counted(record.n, 'row')} are said right"
    pairs = [
        f"{plain(one.true)} for {plain(one.said)} ({counted(one.n, 'row')}, {one.share:.0%})"
        for one in record.pairs(4)
    ]
    said += f". Most often taken: {several(pairs, 'pairs')}." if pairs else ", all of them."
    n_pairs = len(record.pair_codes())
    if len(record.classes) <= _MOST_CLASSES:
        return Words(said, record.table())
    note = f"The table has the {MOST_ROWS} most frequent of {n_pairs} confusions."
    return Words(said, record.pairs_table(MOST_ROWS), note if n_pairs > MOST_ROWS else "")


def _add_reliability(sketches: Sketches, record: Reliability) -> None:
    title = "Whether probabilities can be taken at their word"
    method = ', method="predict_proba"'
    code = _CODE.format(told="shares", method=method, display="ReliabilityDisplay")
    sketches.add(
        "reliability",
        title,
        lambda: ReliabilityDisplay.from_reliability(record, title=""),
        lambda _: _relied_on(title, record),
        code,
    )


def _relied_on(title: str, record: Reliability) -> Words:
    largest = sorted(record.bins, key=lambda one: -one.n)[:3]
    told = [
        f"of {counted(one.n, 'row')} said with a probability of {one.mean:.0%} on average, "
        f"{one.share:.0%} are right"
        for one in largest
    ]
    said = (
        f"{title}: {'; '.join(told)}. The expected calibration error is "
        f"{number_text(record.expected_error)}, the Brier score {number_text(record.brier)}."
    )
    return Words(said, record.table())


def _add_roc(sketches: Sketches, record: Roc) -> None:
    title = "How well probabilities part each class from the others"
    method = ', method="predict_proba"'
    code = _CODE.format(told="shares", method=method, display="RocDisplay")
    sketches.add(
        "roc",
        title,
        lambda: RocDisplay.from_roc(record, title=""),
        lambda _: _parted(title, record),
        code,
    )


def _parted(title: str, record: Roc) -> Words:
    known = [curve for curve in record.curves if curve.auc is not None]
    told = [
        f"{plain(curve.label)} {number_text(curve.auc or 0.0)}"
        for curve in sorted(known, key=lambda curve: curve.auc or 0.0)
    ]
    said = f"{title}: the area under the curve, 1 at best and 0.5 by chance, is "
    said += f"for {several(told, 'classes')}"
    if len(known) > 1 and record.macro is not None:
        said += f"; {number_text(record.macro)} on average"
    own = record.table()
    table, note = cut_table("roc", own.title, own.columns, own.rows, own.equation)
    return Words(f"{said}.", table, note)
