"""The tests that a node could ask: listed, judged and ranked by the core, put in words here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sortal.data.columns import brief_moments
from sortal.native.trees import (
    CRITERIA,
    CUT,
    GOES,
    LEAF,
    MULTIWAY,
    POLICIES,
    SUBSET,
    node_tests,
)
from sortal.records.render import quoted
from sortal.trees.branches import (
    missing_branch,
    node_values,
    set_text,
    splits_missing,
    threshold_text,
)
from sortal.trees.learn import growth
from sortal.trees.rows import bits_of

if TYPE_CHECKING:
    from sortal._typing import Counts
    from sortal.native.trees import ColumnTests
    from sortal.trees.learn import TreeOptions
    from sortal.trees.model import TreeModel
    from sortal.trees.rows import TreeRows
    from sortal.trees.working.node_rows import Attribute

# Missing values that are the one side of a test.
ALONE = GOES.index("alone")


@dataclass(frozen=True, eq=False)
class NodeTests:
    """The attributes of a node and their tests.

    `asked` is the test of the node, its attribute and its place among that attribute's tests: None
    for a leaf, and for what no test here does. `unit` is what a unit of the counts weighs.
    """

    attributes: list[Attribute]
    found: list[ColumnTests]
    asked: tuple[int, int] | None
    criterion: str
    policy: str
    unit: float

    @property
    def counts(self) -> Counts:
        """The units of the node by class: every column has all its rows."""
        first = self.attributes[0]
        return np.asarray(first.known + first.held.missing)

    @property
    def by_ratio(self) -> bool:
        """Whether tests are chosen by their gain ratio."""
        return self.criterion == "gain_ratio"

    @property
    def n_cuts(self) -> int:
        """How many cuts the node could make."""
        return sum(len(tests.thresholds) for tests in self.found)

    @property
    def best(self) -> float | None:
        """The score of the best test, None where none is allowed."""
        return next(
            (float(own.scores[own.ranks == 1][0]) for own in self.found if 1 in own.ranks), None
        )

    def known_alone(self, x: Attribute) -> bool:
        """Whether a test's score is that of the known rows, times their share."""
        return x.has_missing and self.policy in ("majority", "fractional")

    def searched(self, x: Attribute) -> Counts:
        """The rows that are split: all, or the known ones where missing is beside both sides."""
        return self.counts if self.policy == "direction" else x.known

    def missing(self, j: int) -> list[str]:
        """Where missing values go in each test of attribute j."""
        x, found = self.attributes[j], self.found[j]
        if x.kind != MULTIWAY:
            return [GOES[code] for code in found.missing]
        if found.joined >= 0:
            return [quoted(x.names([found.joined])[0])]
        return [GOES[code] if x.has_missing else "stays" for code in found.missing]

    def words(self, j: int, i: int) -> str:
        """Test i of attribute j as the tree writes it."""
        x, found, goes = self.attributes[j], self.found[j], self.missing(j)[i]
        name = quoted(x.column.name)
        if found.missing[i] == ALONE:
            return (
                f"{name} is {'missing' if x.kind == SUBSET and x.m in found.sets[i] else 'known'}"
            )
        missing = f", missing: {goes}" if x.told else ""
        if x.kind == CUT:
            return f"{name} <= {threshold_text(x.column, float(found.thresholds[i]))}{missing}"
        if x.kind == SUBSET:
            return f"{name} in {set_text(x.names(found.sets[i]))}{missing}"
        return f"{name}: {' | '.join(quoted(value) for value in x.names(range(x.m)))}{missing}"


def list_tests(
    model: TreeModel, rows: TreeRows, options: TreeOptions, t: int, attributes: list[Attribute]
) -> NodeTests:
    """The tests of node t; rows are as they counted when the tree grew."""
    bits = bits_of(model, rows)
    limits = growth(rows, options, bits)
    policy, j = POLICIES[limits.policy], int(model.attribute[t])
    V = _asked_set(model, t, attributes[j], policy)
    columns = [x.held._replace(asked=V if x is attributes[j] else ()) for x in attributes]
    total = rows.total_units << bits[1]
    found = node_tests(columns, total, limits)
    for k, x in enumerate(attributes):
        if x.moments is not None:
            v = found[k].thresholds
            inside = np.isfinite(v)
            v[inside] = brief_moments(v[inside], x.moments)
    place = _asked_place(model, t, attributes[j], found[j], V, policy)
    if place is not None and found[j].tied[place]:
        _put_first(found, j, place)
    # scaled units are such that all rows have the weight that they have
    scale = int(model.units[0].sum()) / total if rows.scaled else 1.0
    return NodeTests(
        attributes,
        found,
        None if place is None else (j, place),
        CRITERIA[limits.criterion],
        policy,
        math.ldexp(scale, -model.exponent),
    )


def _put_first(found: list[ColumnTests], j: int, place: int) -> None:
    """Beyond rounding the tree and the list agree on the first test; within it the tree decides."""
    rank = found[j].ranks[place]
    for tests in found:
        tests.ranks[(tests.ranks > 0) & (tests.ranks < rank)] += 1
    found[j].ranks[place] = 1
    found[j] = found[j]._replace(offer=place)


def _asked_set(model: TreeModel, t: int, x: Attribute, policy: str) -> list[int]:
    """V of the node's test, as places of the values that the node has; missing may be one."""
    values, branches = node_values(model, t)
    # a test that pruning has moved here may know others
    if model.kind[t] != SUBSET or not np.array_equal(values, x.held.values):
        return []
    inside = branches == 0
    if x.has_missing and policy == "direction":
        inside = np.append(inside, missing_branch(model, t) == 0)
    twice = 2 * int(np.count_nonzero(inside)) - len(inside)
    turn = twice > 0 or (twice == 0 and not inside[0])
    return np.flatnonzero(inside != turn).tolist()


def _asked_place(
    model: TreeModel, t: int, x: Attribute, tests: ColumnTests, V: list[int], policy: str
) -> int | None:
    """The place of the node's test among those of its attribute."""
    if model.kind[t] == LEAF:
        return None
    branch, beside = missing_branch(model, t), x.has_missing and policy == "direction"
    if x.kind == MULTIWAY:
        # a test that pruning has moved here may send its missing values elsewhere
        here = not beside or tests.joined == branch
        return 0 if here and len(tests.ranks) else None
    if splits_missing(model, t):
        return next(iter(np.flatnonzero(tests.missing == ALONE).tolist()), None)
    if x.kind == SUBSET:
        return tests.sets.index(V) if V in tests.sets else None
    below = int(np.searchsorted(x.held.values, model.threshold[t], side="right"))
    if not 0 < below < x.m:
        return None
    return 2 * (below - 1) + (branch > 0) if beside else below - 1
