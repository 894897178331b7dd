"""What the form below a tree asks, and the tests of its nodes in the terms of that form."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sortal.models.tree_branches import node_values
from sortal.models.tree_holes import hole_branch, hole_mark, met_holes
from sortal.native.trees import CUT, LEAF
from sortal.views.deciding.fields import (
    Field,
    category_field,
    number_field,
    range_hint,
    refuse_strangers,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sortal.models.tree import TreeModel

    Test = list[Any] | None

__all__ = ["Field", "fields_of", "tests_of"]


def fields_of(
    model: TreeModel, nodes: Sequence[int], values: Mapping[str, Any] | None
) -> list[Field]:
    """One field for each attribute that the nodes ask, in the order in which they first do."""
    given = dict(values or {})
    refuse_strangers(given, model.schema.names, "tree")
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
    if column.is_number:
        ends = None if model.ranges is None else model.ranges[j]
        return number_field(column, j, value, range_hint(column, ends))
    # of an ordered category that is cut, every value has its rank
    codes = range(len(column.values)) if model.column_kinds[j] == CUT else sorted(known)
    return category_field(column, j, codes, value)
