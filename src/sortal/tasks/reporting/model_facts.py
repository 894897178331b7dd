"""One learner of a report: itself, to be read, its pictures, and how its predictions were."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sortal.tasks.comparing.contest import one_line
from sortal.tasks.reporting.cutting import Room, cut_rules, cut_tables, sentence
from sortal.tasks.reporting.drawing import judged_pictures, learner_pictures
from sortal.tasks.reporting.facts import ModelFacts
from sortal.tasks.reporting.judging import judge_kept
from sortal.tasks.reporting.near_rows import with_neighbors
from sortal.tasks.reporting.reproduce import fitting_code
from sortal.tasks.show import show

if TYPE_CHECKING:
    from sortal.models.records import Table
    from sortal.tasks.comparing.comparison import Comparison
    from sortal.tasks.reporting.fitting import Fitted
    from sortal.tasks.reporting.wishes import Wishes
    from sortal.tasks.show import Shown
    from sortal.tasks.training import Rows

_ROOM = Room(tables=12, rows=60, columns=80)
_MOST_RULES = 100


def model_facts(
    fitted: Fitted, comparison: Comparison, rows: Rows, wishes: Wishes, *, is_chosen: bool
) -> ModelFacts:
    """All that a report says of a learner."""
    shown, trouble = _shown(fitted)
    rules, tables, more = (None, (), "") if shown is None else _read(shown)
    pictures, left_out = learner_pictures(fitted, comparison, rows, wishes, is_chosen=is_chosen)
    judged = judge_kept(fitted.learner.name, comparison, rows, wishes)
    errors = with_neighbors(judged.errors, fitted.estimator, rows) if wishes.rows else judged.errors
    return ModelFacts(
        name=fitted.learner.name,
        title=fitted.learner.title,
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
        judged_pictures=judged_pictures(fitted.learner.name, judged),
        code="" if fitted.estimator is None else fitting_code(wishes, fitted),
        note=" ".join(filter(None, [fitted.note, trouble, *left_out])),
    )


def _shown(fitted: Fitted) -> tuple[Shown | None, str]:
    """The model to be read, or why it is not."""
    if fitted.estimator is None:
        return None, ""
    try:
        return show(fitted.estimator), ""
    except Exception as error:  # noqa: BLE001  (a learner of one's own may raise anything)
        return None, f"It could not be shown. {type(error).__name__}: {one_line(error)}"


def _read(shown: Shown) -> tuple[Any, tuple[Table, ...], str]:
    """Rules or tables, as far as they are shown, and what is left out."""
    rules, few_rules = cut_rules(shown.rules, _MOST_RULES)
    tables, few_tables = cut_tables(shown.tables, _ROOM)
    code = "model.rules()" if shown.rules is not None else "model.working()"
    told = [few_rules, *few_tables, shown.more.partition(":")[0].removeprefix("… and ")]
    return rules, tables, sentence(told, code)


def _with_options(shown: Shown) -> Table:
    """The facts, and options that differ from their defaults."""
    own = tuple((f"option {name}", value) for name, value in shown.options.rows)
    return replace(shown.facts, rows=(*shown.facts.rows, *own))
