"""Branches of a tree: their conditions, where missing values go, and the table of nodes.

Names and values come from data. Where one could be read as a part of the sentence around it, it is
written in quotes, as JSON has them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from sortal.decision.options import whole_number
from sortal.native.trees import CUT, LEAF, MULTIWAY, SPREAD, SUBSET
from sortal.records.render import moment_text, number_in_full, quoted
from sortal.records.tables import Record, fields_of, sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal._typing import Codes, Mask
    from sortal.data.columns import ColumnSchema, Value, Values
    from sortal.records.tables import Columns, Table
    from sortal.trees.model import TreeModel


# --- Conditions on one attribute: what a branch says, and what a rule asks -----------------------


@dataclass(frozen=True)
class IntervalCondition(Record):
    """low < x <= high, or low <= x <= high where `closed`.

    x is a number, or a date in days since 1970-01-01. With `missing`, a missing value meets it,
    too; `told`, its words say whether one does, so that x <= 5 is asked of numbers that are known.
    """

    attribute: str
    low: float = -math.inf
    high: float = math.inf
    is_date: bool = False
    closed: bool = False
    missing: bool = False
    told: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether no number meets it."""
        return self.low > self.high or (self.low == self.high and not self.closed)

    @property
    def rest(self) -> str:
        """The words on missing values at the end of a condition."""
        return _also(others=False, missing=self.missing and self.told)

    def predicate(self, max_values: int | None = None) -> str:  # noqa: ARG002  (as of Choice)
        """What follows the attribute; "" for an interval with two ends, which has it in between."""
        if self.is_empty and self.missing:
            return "is missing"
        if self.low == math.inf:
            return "is no number"
        if self.low == -math.inf and self.high == math.inf:
            return "is known" if self.told and not self.missing else f"is any number{self.rest}"
        if self.low == -math.inf:
            return f"<= {self._end(self.high)}{self.rest}"
        return f"> {self._end(self.low)}{self.rest}" if self.high == math.inf else ""

    def text(self, max_values: int | None = None) -> str:
        """The condition as it is printed; its ends read back to the last bit."""
        name = quoted(self.attribute)
        if predicate := self.predicate(max_values):
            return f"{name} {predicate}"
        sign = "<=" if self.closed else "<"
        return f"{self._end(self.low)} {sign} {name} <= {self._end(self.high)}{self.rest}"

    def within(self, whole: IntervalCondition) -> IntervalCondition:
        """What lies in both; `whole` may be closed below."""
        lower = whole if self.low < whole.low else self
        high, missing = min(self.high, whole.high), self.missing and whole.missing
        return replace(lower, high=high, missing=missing)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings; an open end is None. Without `known`, only missing is met."""
        ends = {"low": self.low, "high": self.high}
        told = {name: end if math.isfinite(end) else None for name, end in ends.items()}
        kind = {"is_date": self.is_date, "closed": self.closed}
        met = {"known": not self.is_empty, "missing": self.missing}
        return {"attribute": self.attribute, **told, **kind, **met, "text": self.text()}

    def _end(self, x: float) -> str:
        return moment_text(x) if self.is_date else number_in_full(x)

    def __str__(self) -> str:
        return self.text()


@dataclass(frozen=True)
class SetCondition(Record):
    """x is one of `values`; with `others`, also any value that is not among `against`.

    Without `others` nothing need be listed in `against`. Of an ordered category that is cut,
    `after` and `upto` are the values between which x lies (after < x <= upto), None where there is
    no bound. `missing` and `told` are as of an interval.
    """

    attribute: str
    values: Values
    against: Values
    others: bool
    after: Value | None = None
    upto: Value | None = None
    missing: bool = False
    told: bool = False

    @property
    def rest(self) -> str:
        """The words on other values and on missing values at the end of a condition."""
        return _also(self.others and not self._is_denied, missing=self.missing and self.told)

    @property
    def _is_denied(self) -> bool:
        """Whether it is said by the values that do not meet it."""
        is_shorter = not self.values or 0 < len(self.against) < len(self.values)
        return self.others and is_shorter and not self._is_order

    @property
    def _is_order(self) -> bool:
        return self.after is not None or self.upto is not None

    def predicate(self, max_values: int | None = None) -> str:
        """What follows the attribute; "" for an order with two ends, which has it in between."""
        if self.missing and not self.values and not self.others:
            return "is missing"
        if self._is_order:
            return self._order_predicate()
        if self.told and self.others and not self.against:
            return "is any value (or missing)" if self.missing else "is known"
        if self._is_denied:
            return _listed(self.against, "!=", "not in", max_values) + self.rest
        return _listed(self.values, "=", "in", max_values) + self.rest

    def text(self, max_values: int | None = None) -> str:
        """The condition as it is printed; of long lists the first `max_values` and their number."""
        name = quoted(self.attribute)
        if predicate := self.predicate(max_values):
            return f"{name} {predicate}"
        return f"{quoted(self.after)} < {name} <= {quoted(self.upto)}{self.rest}"

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and strings."""
        own = ("attribute", "values", "against", "others", "after", "upto", "missing")
        return fields_of(self, *own) | {"text": self.text()}

    def _order_predicate(self) -> str:
        if self.after is None:
            return f"<= {quoted(self.upto)}{self.rest}"
        return f"> {quoted(self.after)}{self.rest}" if self.upto is None else ""

    def __str__(self) -> str:
        return self.text()


Condition = IntervalCondition | SetCondition


def check_max_values(given: int | None) -> None:
    """How many values of a set are named."""
    whole_number("max_values", given, 1, none="all values")


def named(values: Sequence[Value], max_values: int | None = None) -> list[str]:
    """Values as they are written; of a long list the first ones and how many there are."""
    shown = values if max_values is None else values[:max_values]
    more = [f"… ({len(values)} values)"] if len(shown) < len(values) else []
    return [quoted(value) for value in shown] + more


def set_text(values: Sequence[Value], max_values: int | None = None) -> str:
    """{a, b, c}."""
    return f"{{{', '.join(named(values, max_values))}}}"


def _also(others: bool, missing: bool) -> str:
    words = [*["or other"] * others, *["or missing"] * missing]
    return f" ({', '.join(words)})" if words else ""


def _listed(values: Values, one: str, several: str, max_values: int | None) -> str:
    if len(values) == 1:
        return f"{one} {quoted(values[0])}"
    return f"{several} {set_text(values, max_values)}"


# --- Where missing values go in a tree, and which columns tell of it -----------------------------

# How a missing value went on: as those of the fit did at this node ("missing"), with the larger
# branch since that is the rule ("majority") or since the node met no missing value ("unseen"), or
# down every branch.
MissingMark = Literal["missing", "majority", "unseen", "spread"]


def met_missing(model: TreeModel) -> bool:
    """Whether the rows of the fit had missing values; else a tree says nothing of them."""
    return model.policy != "error" and any(model.missing_counts)


def tells_missing(model: TreeModel, j: int) -> bool:
    """Whether conditions on column j say where missing values go: if the fit had some."""
    return model.policy not in ("error", "fractional") and model.missing_counts[j] > 0


def missing_branch(model: TreeModel, t: int) -> int:
    """The branch of missing values at node t, -1 if they stay there; of several, the heaviest."""
    branch = int(model.missing[t])
    if branch == SPREAD:
        return heaviest_branch(model, t)
    return int(model.heavier[t]) if branch < 0 else branch


def missing_mark(model: TreeModel, t: int) -> MissingMark:
    """Why it does so."""
    if model.missing[t] < 0:
        return "spread" if model.missing[t] == SPREAD else "unseen"
    return "majority" if model.policy == "majority" else "missing"


def takes_missing(model: TreeModel, t: int, b: int) -> bool:
    """Whether a missing value takes branch b of node t (-1: stays), be it with a part.

    Where missing values are an error, none does.
    """
    if model.policy == "error":
        return False
    return b >= 0 if model.missing[t] == SPREAD else missing_branch(model, t) == b


def heaviest_branch(model: TreeModel, t: int) -> int:
    """The branch of most weight, the first of equals; also of a node with one branch per value."""
    below = model.below(t)
    return int(model.pull(below).argmax())


def heaviest_branches(model: TreeModel) -> Codes:
    """The same of all nodes; -1 for leaves."""
    asks = (model.kind != LEAF).tolist()
    branches = [heaviest_branch(model, t) if asks[t] else -1 for t in range(model.n_nodes)]
    return np.array(branches, dtype=np.int32)


def closing_lines(model: TreeModel) -> list[str]:
    """What conditions leave unsaid of missing values, below the text of a tree; none if nothing."""
    if not met_missing(model):
        return []
    if model.policy == "fractional":
        return ["", "A missing value goes down every branch, by its weight."]
    silent = np.isin(model.attribute, [j for j, n in enumerate(model.missing_counts) if n == 0])
    by_value = model.kind[silent] == MULTIWAY
    ways = ["takes the branch of larger weight"] * bool((~by_value).any())
    ways += ["stays at a node with one branch per value"] * bool(by_value.any())
    if not ways:
        return []
    return ["", f"A missing value of a column that had none at fit {', or '.join(ways)}."]


class Step(NamedTuple):
    """A node on a path and the branch taken; branch -1 is that of rows that stay at the node.

    A node with one branch per value has -1 for the heavier one, too: what it does not list, stays.
    """

    node: int
    branch: int


class PathCondition(NamedTuple):
    """What a path says of one attribute: the ends of its cuts, or the steps that ask for sets."""

    low: float = -math.inf
    high: float = math.inf
    sets: tuple[Step, ...] = ()
    others: bool = True
    missing: bool = True

    def then(self, model: TreeModel, step: Step) -> PathCondition:
        """The same after one more step."""
        t, b = step
        others = self.others and bool(model.heavier[t] == b)
        missing = self.missing and takes_missing(model, t, b)
        if model.kind[t] != CUT:
            return self._replace(sets=(*self.sets, step), others=others, missing=missing)
        low, high = _cut_ends(model, step)
        return PathCondition(max(self.low, low), min(self.high, high), (), others, missing)


class Paths:
    """The ways to the nodes of a tree where rows end. What nodes share is made once and kept."""

    def __init__(self, model: TreeModel) -> None:
        self.model = model
        self._parents = model.parents().tolist()
        self._branches = model.parent_branches().tolist()
        self._conditions: dict[Step, Condition] = {}
        self._parts: dict[int, dict[int, PathCondition]] = {0: {}}
        self._merged: dict[int, tuple[Condition, ...]] = {}

    def __reduce__(self) -> tuple[type[Paths], tuple[TreeModel]]:
        return Paths, (self.model,)  # what can be made again does not travel

    def steps(self, t: int) -> tuple[Step, ...]:
        """The way of rows that end in node t; in one that asks, for it lists no branch for them."""
        steps = [] if self.model.kind[t] == LEAF else [Step(t, -1)]
        while t > 0:
            steps.append(self._step(t))
            t = self._parents[t]
        return tuple(reversed(steps))

    def path(self, t: int) -> tuple[Condition, ...]:
        """What each step of this way says."""
        return tuple(map(self._condition, self.steps(t)))

    def merged(self, t: int) -> tuple[Condition, ...]:
        """One condition an attribute, in the order in which the path first asks them.

        Together they hold for the rows for which every condition of the path does.
        """
        if t not in self._merged:
            parts = self._parts_at(t)
            if self.model.kind[t] != LEAF:
                parts = self._longer(parts, Step(t, -1))
            self._merged[t] = tuple(_merged(self.model, j, part) for j, part in parts.items())
        return self._merged[t]

    def above(self, t: int) -> Condition:
        """What the branch says that leads to node t."""
        return self._condition(self._step(t))

    def _parts_at(self, t: int) -> dict[int, PathCondition]:
        """The parts of the way to node t, made from those of the node above."""
        new = []
        while t not in self._parts:
            new.append(t)
            t = self._parents[t]
        parts = self._parts[t]
        for below in reversed(new):
            parts = self._longer(parts, self._step(below))
            if self.model.kind[below] != LEAF:  # of a leaf nothing goes on
                self._parts[below] = parts
        return parts

    def _longer(self, parts: dict[int, PathCondition], step: Step) -> dict[int, PathCondition]:
        j = int(self.model.attribute[step.node])
        return parts | {j: parts.get(j, PathCondition()).then(self.model, step)}

    def _step(self, t: int) -> Step:
        return Step(self._parents[t], self._branches[t])

    def _condition(self, step: Step) -> Condition:
        if step not in self._conditions:
            self._conditions[step] = branch_condition(self.model, step)
        return self._conditions[step]


def describe_test(model: TreeModel, t: int, max_values: int | None = None) -> str:
    """What node t asks; nothing for a leaf. The values of a multiway test follow its branches."""
    if model.kind[t] == LEAF:
        return ""
    column = model.schema.columns[model.attribute[t]]
    name = quoted(column.name)
    if splits_missing(model, t):
        return f"{name} is {'known' if missing_branch(model, t) else 'missing'}"
    missing = _missing_text(model, t)
    if model.kind[t] == CUT:
        return f"{name} <= {threshold_text(column, float(model.threshold[t]))}{missing}"
    codes, branches = node_values(model, t)
    if model.kind[t] == SUBSET:
        return f"{name} in {set_text(_named(column, codes[branches == 0]), max_values)}{missing}"
    by_branch = _named(column, codes[np.argsort(branches, kind="stable")])
    return f"{name}: {' | '.join(named(by_branch, max_values))}{missing}"


def splits_missing(model: TreeModel, t: int) -> bool:
    """Whether node t asks no more than whether a value is known."""
    if model.kind[t] == CUT:
        return bool(model.threshold[t] == math.inf)
    is_pair = model.kind[t] == SUBSET and model.child_start[t + 1] - model.child_start[t] == 2
    return bool(is_pair and 0 <= model.missing[t] not in node_values(model, t)[1])


def _missing_text(model: TreeModel, t: int) -> str:
    """Where missing values go at a test, in a word."""
    if not tells_missing(model, int(model.attribute[t])):
        return ""
    b = missing_branch(model, t)
    if b < 0:
        return ", missing: stays"
    codes, branches = node_values(model, t)
    n_known = 2 if model.kind[t] in (CUT, SUBSET) else len(codes)
    if b >= n_known:
        return ", missing: own branch"
    if model.kind[t] in (CUT, SUBSET):
        return f", missing: {'no' if b else 'yes'}"
    column = model.schema.columns[model.attribute[t]]
    return f", missing: {quoted(column.values[codes[branches == b][0]])}"


def threshold_text(column: ColumnSchema, v: float) -> str:
    """The number as short as it can be read back; a date as a date, a rank as its value."""
    if column.kind == "date":
        return moment_text(v)
    return number_in_full(v) if column.is_number else quoted(column.values[math.floor(v)])


def node_values(model: TreeModel, t: int) -> tuple[Codes, Codes]:
    """The codes that node t knows, and the branch that each takes."""
    present = slice(model.value_start[t], model.value_start[t + 1])
    return model.values[present], model.branches[present]


def branch_condition(model: TreeModel, step: Step) -> Condition:
    """What the rows of a branch have in common, as far as its node asks."""
    t, b = step
    j = int(model.attribute[t])
    column = model.schema.columns[j]
    others = bool(model.heavier[t] == b)
    missing, told = takes_missing(model, t, b), tells_missing(model, j)
    if model.kind[t] == CUT:
        low, high = _cut_ends(model, step)
        return _between(column, low, high, others, missing=missing, told=told)
    codes, branches = node_values(model, t)
    mine = branches == b
    # of 10,000 branches each would list the values of all others
    against = _named(column, codes[~mine]) if others else ()
    values = _named(column, codes[mine])
    return SetCondition(column.name, values, against, others, missing=missing, told=told)


def _merged(model: TreeModel, j: int, part: PathCondition) -> Condition:
    column, others = model.schema.columns[j], part.others
    missing, told = part.missing, tells_missing(model, j)
    if not part.sets:
        return _between(column, part.low, part.high, others, missing=missing, told=told)
    if len(part.sets) == 1 and not others:
        return branch_condition(model, part.sets[0])
    known = np.ones(len(column.values), dtype=bool)
    known[list(model.unseen[j])] = False  # they count as unknown
    allowed = known.copy()
    for step in part.sets:
        allowed &= _taken(model, step, len(known))
    values = _named(column, np.flatnonzero(allowed))
    against = _named(column, np.flatnonzero(known & ~allowed)) if others else ()
    return SetCondition(column.name, values, against, others, missing=missing, told=told)


def _taken(model: TreeModel, step: Step, n_values: int) -> Mask:
    """Which of a column's values take a branch; what the node does not list, the heavier one."""
    t, b = step
    taken = np.full(n_values, model.heavier[t] == b)
    codes, branches = node_values(model, t)
    taken[codes] = branches == b
    return taken


def _cut_ends(model: TreeModel, step: Step) -> tuple[float, float]:
    """The ends of a branch; of one that only missing values take, no number lies between them."""
    v = float(model.threshold[step.node])
    return [(-math.inf, v), (v, math.inf), (math.inf, math.inf)][step.branch]


def _between(
    column: ColumnSchema, low: float, high: float, others: bool, *, missing: bool, told: bool
) -> Condition:
    """An interval of numbers, or of ranks as the values they stand for."""
    if column.is_number:
        is_date = column.kind == "date"
        return IntervalCondition(column.name, low, high, is_date, missing=missing, told=told)
    first = 0 if low == -math.inf else math.floor(min(low, len(column.values))) + 1
    last = len(column.values) - 1 if high == math.inf else math.floor(high)
    inside = column.values[first : last + 1]
    return SetCondition(
        column.name,
        inside,
        column.values[:first] + column.values[max(first, last + 1) :] if others else (),
        others,
        after=column.values[first - 1] if first and inside else None,
        upto=column.values[last] if high < math.inf and inside else None,
        missing=missing,
        told=told,
    )


def _named(column: ColumnSchema, codes: NDArray[np.integer]) -> Values:
    return tuple(column.values[v] for v in codes.tolist())


# --- The nodes of a tree as a table --------------------------------------------------------------


def node_table(model: TreeModel, max_values: int | None) -> Table:
    """One row a node, in preorder; of long sets the first `max_values` and their number.

    Rows by class are told where weights tell something else.
    """
    weights = model.counts()
    columns: Columns = {
        "node": range(model.n_nodes),
        "parent": model.parents(),
        "branch": model.parent_branches(),
        "depth": model.depths(),
        "test": [describe_test(model, t, max_values) for t in range(model.n_nodes)],
    }
    if met_missing(model):
        columns["missing"] = model.missing
    columns |= {"n": weights.sum(axis=1), "size": model.sizes}
    columns[tuple(f"n({label})" for label in model.classes)] = weights
    if model.rows is not None:
        columns[tuple(f"rows({label})" for label in model.classes)] = model.rows
    columns |= {
        "prediction": [model.classes[k] for k in model.labels()],
        "purity": model.purity(),
        "error": model.error(),
        "score": model.score,
        "exact": model.exact.astype(bool),
        "candidates": model.candidates,
    }
    return sheet("nodes", "Nodes of the tree", columns)
