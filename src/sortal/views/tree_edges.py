"""What is written on the edges of a tree."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Final

from sortal.models.conditions import Choice, Interval
from sortal.views.tree_lettering import SMALL, fit, text_width

if TYPE_CHECKING:
    from sortal.data.values import Values
    from sortal.models.conditions import Condition

# The widest a condition may be, in pixels.
_ROOM: Final = 200

# What is said of holes comes on top of it.
_HOLES: Final = "or missing)"

# Of a set of values so many are named.
_MOST_VALUES: Final = 3

# Of a number so many digits that say something stay after the point; the others are an ellipsis.
_DIGITS: Final = re.compile(r"(\.0*\d{5})\d{2,}")


def short_condition(condition: Condition) -> str:
    """A condition without its attribute, with fewer and then with shorter values until it fits."""
    if isinstance(condition, Interval):
        words = condition.predicate()
        return words if condition.is_date else _DIGITS.sub(r"\1…", words)
    rest = condition.rest
    room = _ROOM + (text_width(_HOLES, SMALL) if rest.endswith(_HOLES) else 0)
    fewer = (condition.predicate(most) for most in range(_MOST_VALUES, 0, -1))
    shorter = (_with_short_values(condition, most).predicate(1) for most in (100, 75, 50))
    for words in chain(fewer, shorter):
        if text_width(words[:room], SMALL) <= room:
            return words
    return fit(words.removesuffix(rest), SMALL, room - text_width(rest, SMALL)) + rest


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
