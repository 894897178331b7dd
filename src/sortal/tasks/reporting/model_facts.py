"""One learner of a report: itself, to be read, its pictures, and how its predictions were."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sortal.tasks.reporting.cutting import cut_rules, cut_tables, sentence
from sortal.tasks.reporting.facts import ModelFacts
from sortal.tasks.show import show

if TYPE_CHECKING:
    from sortal.models.records import Table
    from sortal.tasks.comparing.comparison import Comparison
    from sortal.tasks.reporting.fitting import Fitted
    from sortal.tasks.reporting.wishes import Wishes
    from sortal.tasks.show import Shown
    from sortal.tasks.training import Rows

_MOST_TABLES, _MOST_ROWS, _MOST_RULES = 12, 40, 100


def model_facts(
    fitted: Fitted, comparison: Comparison, rows: Rows, wishes: Wishes
) -> ModelFacts:
    """All that a report says of a learner."""
    shown = None if fitted.estimator is None else show(fitted.estimator)
    rules, tables, more = (None, (), "") if shown is None else _read(shown)
    return ModelFacts(
        name=fitted.learner.name,
        title=fitted.learner.title,
        reads=fitted.learner.facts.reads,
        result=fitted.result,
        facts=None if shown is None else _with_options(shown),
        pictures=(),
        rules=rules,
        tables=tables,
        more=more,
        judged="",
        confusion=None,
        reliability=None,
        roc=None,
        errors=None,
        judged_pictures=(),
        note=fitted.note,
    )


def _read(shown: Shown) -> tuple[Any, tuple[Table, ...], str]:
    """Rules or tables, as far as they are shown, and what is left out."""
    rules, few_rules = cut_rules(shown.rules, _MOST_RULES)
    tables, few_tables = cut_tables(shown.tables, _MOST_TABLES, _MOST_ROWS)
    code = "model.rules()" if shown.rules is not None else "model.working()"
    told = [few_rules, *few_tables, shown.more.partition(":")[0].removeprefix("… and ")]
    return rules, tables, sentence(told, code)


def _with_options(shown: Shown) -> Table:
    """The facts, and options that differ from their defaults."""
    own = tuple((f"option {name}", value) for name, value in shown.options.rows)
    return replace(shown.facts, rows=(*shown.facts.rows, *own))
