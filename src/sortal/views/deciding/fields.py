"""Fields of a form for a row: one a column, with what stands in it and what it is told beside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sortal.data.objects import numbers_from_objects
from sortal.data.values import as_value, is_hole
from sortal.errors import OptionError, listed
from sortal.models.conditions import number_in_full, quoted
from sortal.models.faces import moment_text, number_text
from sortal.models.records import unique
from sortal.views.tree_lettering import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sortal.data.schema import ColumnSchema

# More values than this are typed with suggestions instead of chosen from a list.
_MOST_CHOSEN: Final = 50


@dataclass(frozen=True)
class Field:
    """A field of the form: `codes` are the values that can be chosen, by `words`.

    `value` is what stands in it: a text, or the place of a value (-1: another value, "": none).
    """

    attribute: int
    label: str
    kind: str
    codes: tuple[int, ...]
    words: tuple[str, ...]
    value: str | int
    hint: str

    @property
    def is_short(self) -> bool:
        """Whether one chooses from a list."""
        return len(self.words) <= _MOST_CHOSEN


def refuse_strangers(given: Mapping[str, Any], names: Sequence[str], what: str) -> None:
    """An error where values are given for a column that there is not."""
    strangers = [name for name in given if name not in names]
    if strangers:
        raise OptionError(
            f"values names {strangers[0]!r}, which is no column of this {what}: it has "
            f"{listed(names)}."
        )


def number_field(column: ColumnSchema, j: int, value: Any, hint: str) -> Field:
    """A field for numbers or dates."""
    return Field(j, plain(column.name), column.kind, (), (), typed(column, value), hint)


def category_field(column: ColumnSchema, j: int, codes: Sequence[int], value: Any) -> Field:
    """A field for the values of these codes."""
    words = unique([_word(column.values[v]) for v in codes])
    field = Field(j, plain(column.name), "category", tuple(codes), words, "", "")
    return Field(j, field.label, field.kind, field.codes, words, chosen(column, field, value), "")


def typed(column: ColumnSchema, value: Any) -> str:
    """A number or a moment as one would type it; "" for a hole."""
    if value is None or is_hole(value):
        return ""
    if isinstance(value, str):
        return value
    cell = np.empty(1, dtype=object)
    cell[0] = value
    number = float(numbers_from_objects(cell, column.name)[0])
    return moment_text(number) if column.kind == "date" else number_in_full(number)


def chosen(column: ColumnSchema, field: Field, value: Any) -> str | int:
    """The place of a value among those that can be chosen, or its word where one types it."""
    if value is None or is_hole(value):
        return ""
    try:
        found = column.values.index(as_value(value))
    except (TypeError, ValueError):
        found = -1
    place = field.codes.index(found) if found in field.codes else -1
    if not field.is_short:
        return _word(value) if place < 0 else field.words[place]
    return place


def _word(value: Any) -> str:
    """A value as it can be typed: in one line, and not empty."""
    text = str(value)
    return text if text.isprintable() and text and text == text.strip() else quoted(value)


def range_hint(column: ColumnSchema, ends: tuple[float, float] | None, about: str = "") -> str:
    """Where the numbers of a column lie: a … b; "" where that is not known."""
    if ends is None:
        return ""
    write = moment_text if column.kind == "date" else number_text
    return f"{about}{write(ends[0])} … {write(ends[1])}"
