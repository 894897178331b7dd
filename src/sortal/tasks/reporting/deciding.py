"""The form in which the chosen model decides in the page, and the rows that it starts from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from sortal.tasks.reporting.typical import real_rows, typical_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal.tasks.reporting.facts import ModelFacts
    from sortal.tasks.reporting.fitting import Fitted
    from sortal.tasks.reporting.typical import Start
    from sortal.tasks.reporting.wishes import Wishes
    from sortal.tasks.training import Rows
    from sortal.views.parts import Part

# The name of the form, and of what the tree follows.
DECIDE = "decide"
# Rows beside those of errors to start from, where rows may be shown.
_MOST_ROWS = 50


def decide(
    chosen: Fitted | None, rows: Rows, models: Sequence[ModelFacts], wishes: Wishes
) -> tuple[Part | None, str]:
    """The part, or why there is none."""
    from sortal.views.deciding.part import decide_part  # noqa: PLC0415  (templates are slow)

    if chosen is None:
        return None, "No model was chosen, and so none decides here."
    estimator = chosen.estimator
    model = getattr(estimator, "_model", None)
    if model is None:
        return None, _in_python(chosen)
    costs = getattr(estimator, "costs", None)
    part = decide_part(
        model,
        title=f"A row decided by the {chosen.learner.title}",
        name=DECIDE,
        starts=starts(chosen, rows, models[0], wishes),
        missing=getattr(estimator, "missing", ""),
        unknown=getattr(estimator, "unknown", ""),
        costs=None if costs is None else estimator._read_costs(costs),
        ranges=_ranges(rows.X),
    )
    return (part, "") if part is not None else (None, _in_python(chosen))


def has_form(part: Part | None) -> bool:
    """Whether one can type in a row: a model of too many numbers has a part that only says so."""
    return part is not None and part.data.get("model") is not None


def _ranges(X: Any) -> dict[str, tuple[float, float]]:
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


def _in_python(chosen: Fitted) -> str:
    """Why the page does not decide, and what does."""
    why = f"A model of this kind ({chosen.learner.title}) cannot decide in a page."
    if chosen.learner.facts.keeps_rows:
        why = (
            "There is no form here: this model compares a new row with the rows that it learned "
            "from, so a form would need those rows themselves in the page."
        )
    return f"{why} In Python: sortal.load('model.sortal').explain(table)"


def starts(chosen: Fitted, rows: Rows, facts: ModelFacts, wishes: Wishes) -> list[Start]:
    """Typical rows of the classes; where rows may be shown, those of errors and some others."""
    estimator = chosen.estimator
    columns = estimator._schema.columns
    found = typical_rows(rows.X, rows.y, estimator.classes_.tolist(), columns)
    if not wishes.rows:
        return found
    wrong = () if facts.errors is None else facts.errors.places
    others = np.linspace(0, len(rows.places) - 1, min(_MOST_ROWS, len(rows.places)))
    chosen_rows = dict.fromkeys([*wrong, *others.astype(int).tolist()])
    numbers = [int(rows.places[i]) + 1 for i in chosen_rows]
    return found + real_rows(rows.all_rows, numbers, columns)
