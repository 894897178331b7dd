"""A tree in the page: it unfolds, follows a row that is typed in, and is cut back by a slider."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sortal.errors import SortalError
from sortal.models.tree import TreeModel
from sortal.tasks.reporting.deciding import DECIDE

if TYPE_CHECKING:
    from sortal.models.complexity import Complexity
    from sortal.tasks.comparing.comparison import Comparison
    from sortal.tasks.reporting.fitting import Fitted
    from sortal.tasks.training import Rows
    from sortal.views.parts import Part

# Seconds that a cross-validated path of smaller trees may take, and its folds.
_MOST_SECONDS, _FOLDS = 10.0, 10


def is_tree(estimator: Any) -> bool:
    """Whether a model is a tree."""
    return isinstance(getattr(estimator, "_model", None), TreeModel)


def tree_part_of(fitted: Fitted, path: Complexity | None, *, is_chosen: bool) -> Part:
    """The tree; the chosen one follows the form in which one decides, another has its own."""
    from sortal.views.tree_html import tree_part  # noqa: PLC0415  (templates are slow)

    return tree_part(
        fitted.estimator._model,
        name=f"unfold-{fitted.learner.name}".replace("_", "-"),
        title=fitted.learner.title[:1].upper() + fitted.learner.title[1:],
        complexity=path,
        with_form=not is_chosen,
        follows=DECIDE if is_chosen else "",
    )


def smaller_trees(
    fitted: Fitted, comparison: Comparison, rows: Rows
) -> tuple[Complexity | None, str]:
    """The nested smaller trees with cross-validated errors, where that does not take long."""
    folds = min(_FOLDS, comparison.settings.folds.folds)
    result = fitted.result
    seconds = folds * (result.fit_seconds or 0.0) * comparison.settings.rows / (result.rows or 1)
    line = f"model.complexity(X, y, cv={folds})"
    if seconds > _MOST_SECONDS:
        return None, f"The errors of smaller trees would take about {seconds:,.0f} seconds: {line}"
    try:
        path: Complexity = fitted.estimator.complexity(rows.X, rows.y, cv=folds)
    except SortalError as error:  # such as rows that the fit held out
        return None, f"The errors of smaller trees are not known: {error}"
    return path, ""
