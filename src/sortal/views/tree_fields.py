"""What the form below a tree asks, and the tests of its nodes in the terms of that form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sortal.data.objects import numbers_from_objects
from sortal.data.values import as_value, is_hole
from sortal.errors import OptionError, listed
from sortal.models.conditions import number_in_full, quoted
from sortal.models.faces import moment_text, number_text
from sortal.models.records import unique
from sortal.models.tree_branches import node_values
from sortal.models.tree_holes import hole_branch, hole_mark, met_holes
from sortal.native.trees import CUT, LEAF
from sortal.views.tree_lettering import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sortal.data.schema import ColumnSchema
    from sortal.models.tree import TreeModel

    Test = list[Any] | None

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


def fields_of(
    model: TreeModel, nodes: Sequence[int], values: Mapping[str, Any] | None
) -> list[Field]:
    """One field for each attribute that the nodes ask, in the order in which they first do."""
    given = dict(values or {})
    strangers = [name for name in given if name not in model.schema.names]
    if strangers:
        raise OptionError(
            f"values names {strangers[0]!r}, which is no column of this tree: it has "
            f"{listed(model.schema.names)}."
        )
    asked: dict[int, set[int]] = {}
    for t in nodes:
        known = asked.setdefault(int(model.attribute[t]), set())
        known.update(node_values(model, t)[0].tolist())
    return [_field(model, j, known, given) for j, known in asked.items()]


def tests_of(model: TreeModel, nodes: Sequence[int], fields: Sequence[Field]) -> list[Test]:
    """For each node [field, threshold, heavier] or [field, places by branch, heavier].

    Where the fit had holes, the branch that one takes and its mark follow. The threshold is None
    where every number is below it. A node that is not asked, since it is a leaf or nothing below it
    is drawn, has None.
    """
    place = {field.attribute: f for f, field in enumerate(fields)}
    at = [{code: v for v, code in enumerate(field.codes)} for field in fields]
    with_holes = met_holes(model)
    tests: list[Test] = []
    for t in nodes:
        if t < 0 or model.kind[t] == LEAF:
            tests.append(None)
            continue
        f = place[int(model.attribute[t])]
        holes = [hole_branch(model, t), hole_mark(model, t)] if with_holes else []
        tests.append([f, _asked(model, t, at[f]), int(model.heavier[t]), *holes])
    return tests


def _asked(model: TreeModel, t: int, places: Mapping[int, int]) -> float | list[list[int]] | None:
    if model.kind[t] == CUT:
        v = float(model.threshold[t])
        return v if math.isfinite(v) else None
    branches: list[list[int]] = [[] for _ in range(model.child_start[t], model.child_start[t + 1])]
    for code, b in zip(*(part.tolist() for part in node_values(model, t)), strict=True):
        branches[b].append(places[code])
    return branches


def _field(model: TreeModel, j: int, known: set[int], given: Mapping[str, Any]) -> Field:
    column = model.schema.columns[j]
    value = given.get(column.name)
    blank = value is None or is_hole(value)
    label = plain(column.name)
    if column.is_number:
        text = "" if blank else _typed(column, value)
        return Field(j, label, column.kind, (), (), text, _hint(model, j))
    # of an ordered category that is cut, every value has its rank
    codes = tuple(range(len(column.values)) if model.column_kinds[j] == CUT else sorted(known))
    words = unique([_word(column.values[v]) for v in codes])
    chosen = "" if blank else _chosen(column, codes, words, value)
    return Field(j, label, "category", codes, words, chosen, "")


def _word(value: Any) -> str:
    """A value as it can be typed: in one line, and not empty."""
    text = str(value)
    return text if text.isprintable() and text and text == text.strip() else quoted(value)


def _typed(column: ColumnSchema, value: Any) -> str:
    """A number or a moment as one would type it."""
    if isinstance(value, str):
        return value
    cell = np.empty(1, dtype=object)
    cell[0] = value
    number = float(numbers_from_objects(cell, column.name)[0])
    return moment_text(number) if column.kind == "date" else number_in_full(number)


def _chosen(
    column: ColumnSchema, codes: tuple[int, ...], words: tuple[str, ...], value: Any
) -> str | int:
    try:
        found = column.values.index(as_value(value))
    except (TypeError, ValueError):
        found = -1
    place = codes.index(found) if found in codes else -1
    if len(codes) > _MOST_CHOSEN:
        return _word(value) if place < 0 else words[place]
    return place


def _hint(model: TreeModel, j: int) -> str:
    """The least and the greatest number of the fit, where they are known."""
    found = None if model.ranges is None else model.ranges[j]
    if found is None:
        return ""
    write = moment_text if model.schema.columns[j].kind == "date" else number_text
    return f"{write(found[0])} … {write(found[1])}"
