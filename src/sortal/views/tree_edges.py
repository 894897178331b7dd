"""What is written on the edges of a tree."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np

from sortal.models.conditions import Choice, Interval
from sortal.models.tree_branches import Step, branch_condition, node_values
from sortal.native.trees import MULTIWAY
from sortal.views.tree_lettering import SMALL, fit, text_width

if TYPE_CHECKING:
    from sortal.data.values import Values
    from sortal.models.conditions import Condition
    from sortal.models.tree import TreeModel

# The widest a condition may be, in pixels.
_ROOM: Final = 200

# Of a set of values so many are named.
_MOST_VALUES: Final = 3

# Of a number so many digits that say something stay after the point; the others are an ellipsis.
_DIGITS: Final = re.compile(r"(\.0*\d{5})\d{2,}")


def branch_conditions(model: TreeModel, t: int, n_branches: int) -> list[Condition]:
    """What the branches of a node say."""
    if model.kind[t] != MULTIWAY:
        return [branch_condition(model, Step(t, b)) for b in range(n_branches)]
    # one value a branch; asked one by one, each would list the values of all others
    column = model.schema.columns[model.attribute[t]]
    codes, branches = node_values(model, t)
    by_branch = codes[np.argsort(branches, kind="stable")].tolist()
    return [Choice(column.name, (column.values[v],), (), others=False) for v in by_branch]


def short_condition(condition: Condition) -> str:
    """A condition without its attribute, with fewer and then with shorter values until it fits."""
    if isinstance(condition, Interval):
        words = condition.predicate()
        return words if condition.is_date else _DIGITS.sub(r"\1…", words)
    fewer = (condition.predicate(most) for most in range(_MOST_VALUES, 0, -1))
    shorter = (_with_short_values(condition, room).predicate(1) for room in (100, 75, 50))
    for words in chain(fewer, shorter):
        if text_width(words[:_ROOM], SMALL) <= _ROOM:
            return words
    return fit(words, SMALL, _ROOM)


def condition_width(condition: str) -> int:
    """The room that a condition takes on its edge."""
    return text_width(condition, SMALL) if condition else 0


def _with_short_values(condition: Choice, room: int) -> Choice:
    """Only the first value of a list is shown."""
    return replace(
        condition,
        values=_first_shortened(condition.values, room),
        against=_first_shortened(condition.against, room),
        after=None if condition.after is None else fit(str(condition.after), SMALL, room),
        upto=None if condition.upto is None else fit(str(condition.upto), SMALL, room),
    )


def _first_shortened(values: Values, room: int) -> Values:
    return (fit(str(values[0]), SMALL, room), *values[1:]) if values else ()
