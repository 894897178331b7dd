"""The form in which the chosen model decides in the page, the rows it starts from, and its tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.tasks.comparing.contest import one_line
from sortal.tasks.reporting.typical import real_rows, typical_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal.models.complexity import Complexity
    from sortal.tasks.comparing.comparison import Comparison
    from sortal.tasks.reporting.facts import ModelFacts
    from sortal.tasks.reporting.fitting import Fitted
    from sortal.tasks.reporting.typical import Start
    from sortal.tasks.reporting.wishes import Wishes
    from sortal.tasks.training import Rows
    from sortal.views.parts import Part

# The name of the form, and of what the tree follows.
DECIDE = "decide"
# Seconds that a cross-validated path of smaller trees may take, and its folds.
_MOST_SECONDS, _FOLDS = 10.0, 10
# Rows beside those of errors to start from, where rows may be shown.
_MOST_ROWS = 50


def decide(
    chosen: Fitted | None, rows: Rows, models: Sequence[ModelFacts], wishes: Wishes
) -> tuple[Part | None, str]:
    """The part, or why there is none."""
    try:
        from sortal.views.deciding.part import decide_part  # noqa: PLC0415
    except ImportError:
        return None, ""
    if chosen is None:
        return None, "No model was chosen, and so none decides here."
    model = getattr(chosen.estimator, "_model", None)
    if model is None:
        return None, _in_python(chosen)
    part = decide_part(
        model,
        title=f"What does it say of a row? ({chosen.learner.title})",
        name=DECIDE,
        starts=starts(chosen, rows, models[0], wishes),
    )
    return (part, "") if part is not None else (None, _in_python(chosen))


def _in_python(chosen: Fitted) -> str:
    return (
        f"A {chosen.learner.title} cannot decide in a page. In Python: "
        "sortal.load('model.sortal').explain(table)"
    )


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


def tree_of(
    fitted: Fitted, comparison: Comparison, rows: Rows, *, is_chosen: bool
) -> tuple[Part | None, str]:
    """A tree that can be unfolded, searched and cut back; nothing of a model that is none."""
    from sortal.views.tree_html import tree_part  # noqa: PLC0415

    estimator = fitted.estimator
    if not hasattr(estimator, "complexity"):
        return None, ""
    path, note = _path(fitted, comparison, rows)
    part = tree_part(
        estimator._model,
        name=f"tree-{fitted.learner.name}".replace("_", "-"),
        title=fitted.learner.title[:1].upper() + fitted.learner.title[1:],
        complexity=path,
        with_form=not is_chosen,
        follows=DECIDE if is_chosen else "",
    )
    return part, note


def _path(fitted: Fitted, comparison: Comparison, rows: Rows) -> tuple[Complexity | None, str]:
    """The smaller trees with their cross-validated errors, where that does not take long."""
    folds = min(_FOLDS, comparison.settings.folds.folds)
    result = fitted.result
    seconds = folds * (result.fit_seconds or 0.0) * comparison.settings.rows / (result.rows or 1)
    line = f"model.complexity(X, y, cv={folds})"
    if seconds > _MOST_SECONDS:
        return None, f"The errors of smaller trees would take about {seconds:,.0f} seconds: {line}"
    try:
        path: Any = fitted.estimator.complexity(rows.X, rows.y, cv=folds)
    except Exception as error:  # noqa: BLE001  (the tree itself can be shown all the same)
        return None, f"The errors of smaller trees are not known ({one_line(error)}): {line}"
    return path, ""
