"""Explanations of a tree: where a row ends, and what each branch added to its class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from sortal.data.columns import as_numbers, given_values
from sortal.decision.posterior import expected_costs
from sortal.engines import along, total
from sortal.native.trees import CUT, LEAF, SPREAD
from sortal.records.render import decision_text, moment_text, number_in_full, number_text, quoted
from sortal.records.tables import Table, fields_of
from sortal.trees.branches import (
    MissingMark,
    Paths,
    heaviest_branch,
    missing_branch,
    missing_mark,
    node_values,
)
from sortal.trees.model import decide_labels
from sortal.trees.rows import encode_for, end_nodes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sortal._typing import Codes, Counts, Float, Places
    from sortal.data.columns import Value, Values
    from sortal.data.sources import Batch
    from sortal.records.tables import Cell
    from sortal.trees.branches import Condition
    from sortal.trees.model import TreeModel


# --- Single rows down a tree, where a missing value may go down every branch ---------------------


@dataclass(frozen=True, eq=False)
class Walked:
    """Rows and the nodes where they end.

    Cells by column and row: as the tree reads them, and as they were given.
    """

    nodes: Codes
    columns: Float = along(1)
    given: NDArray[np.object_] = along(1)
    missing: Counts = total()
    unknown: Counts = total()


def walk(model: TreeModel) -> Callable[[Batch], Walked]:
    """A pass for whoever looks at single rows."""

    def read(batch: Batch) -> Walked:
        encoded = encode_for(model, batch)
        pairs = zip(model.schema.columns, batch.columns, strict=True)
        given = [
            as_numbers(cells).tolist() if column.is_number else given_values(cells)
            for column, cells in pairs
        ]
        return Walked(
            end_nodes(model, encoded),
            np.array(encoded.columns, dtype=np.float64),
            np.array(given, dtype=object).reshape(len(given), batch.n_rows),
            encoded.missing,
            encoded.unknown,
        )

    return read


class ReachedNode(NamedTuple):
    """A node where a row ends, and with which part of its weight."""

    node: int
    part: float


def is_missing(rows: Walked, i: int, j: int) -> bool:
    """Whether row i has no value in column j."""
    given = rows.given[j][i]
    return given is None or given != given  # only NaN differs from itself  # noqa: PLR0124


def ends_of(model: TreeModel, rows: Walked, i: int) -> list[ReachedNode]:
    """Where row i ends; first the end that the heaviest branches lead to."""
    found, waiting = [], [ReachedNode(0, 1.0)]
    while waiting:
        t, part = waiting.pop()
        below = _next(model, rows, i, t)
        if below:
            waiting += [ReachedNode(c, part * share) for c, share in reversed(below)]
        else:
            found.append(ReachedNode(t, part))
    return found


def _next(model: TreeModel, rows: Walked, i: int, t: int) -> list[tuple[int, float]]:
    """The nodes below t that row i goes to, the heaviest first; none where it ends."""
    if model.kind[t] == LEAF:
        return []
    j = int(model.attribute[t])
    below = model.below(t)
    if not is_missing(rows, i, j):
        b = branch_of(model, t, rows.columns[j][i])
    elif model.missing[t] != SPREAD:
        b = missing_branch(model, t)
    else:
        units = model.pull(below)
        first = heaviest_branch(model, t)
        order = [first, *(b for b in range(len(below)) if b != first)]
        return [(int(below[b]), float(units[b] / units.sum())) for b in order if units[b]]
    return [(int(below[b]), 1.0)] if b >= 0 else []


def branch_of(model: TreeModel, t: int, cell: float) -> int:
    """The branch of a known cell, as the tree reads it; -1 if it stays at node t."""
    if model.kind[t] == CUT:
        return int(cell > model.threshold[t]) if np.isfinite(cell) else int(model.heavier[t])
    codes, branches = node_values(model, t)
    mine = branches[codes == cell]
    return int(mine[0]) if len(mine) else int(model.heavier[t])


def mixed_shares(shares: Float, ends: list[ReachedNode]) -> Float:
    """Σ part · share over the ends of a row."""
    parts = np.array([end.part for end in ends])
    return np.asarray(parts @ shares[[end.node for end in ends]])


# --- Explanations --------------------------------------------------------------------------------

Mark = Literal["", "unknown", "absent"] | MissingMark

# Marks of moves that the rows of the fit taught: of values that the node knows, missing values
# among them.
_LEARNED = ("", "missing")


@dataclass(frozen=True)
class PathStep:
    """A test on the way: the condition that was met there, and by which value.

    `n` is the weight of the node, `share` the part in it of the class that is said at the end, and
    `amount` what the move adds to that share. The mark says that the node did not know the value:
    no row of the fit had it ("unknown"), or none of this node ("absent"). Of a missing value, whose
    value is None, it says where it went: as those of the fit did at this node ("missing"), with the
    larger branch ("majority"; "unseen" where the node met no missing value), or down every branch
    ("spread").
    """

    node: int
    condition: Condition
    value: Value | None
    n: float
    share: float
    amount: float
    mark: Mark = ""


@dataclass(frozen=True)
class TreeExplanation:
    """start + Σ amounts + spread = the probability of `label` in the node where the row ends.

    `counts` are what that node holds, `probabilities` what follows from them and, by smoothing,
    from the nodes above. `rule` are the conditions of the path, one an attribute. `start` is the
    probability of the label among all rows of the fit.

    A row that a missing value sends down several branches is shown on the heaviest ones: `node`,
    `n` and `counts` are where these end. Its label and its probabilities are those of all its ends
    together, and `spread` is what the other ends add to the share.

    `expected_costs` are those of predicting each class, of which the label has the least; None
    without costs.
    """

    label: Value
    node: int
    n: float
    classes: Values
    counts: tuple[float, ...]
    probabilities: tuple[float, ...]
    start: float
    path: tuple[PathStep, ...]
    rule: tuple[Condition, ...]
    spread: float = 0.0
    expected_costs: tuple[float, ...] | None = None

    @property
    def fallback(self) -> bool:
        """Whether a node on the way did not know the row's value, or where its missing one goes."""
        return any(move.mark not in _LEARNED for move in self.path)

    @property
    def is_spread(self) -> bool:
        """Whether the row went down several branches."""
        return any(move.mark == "spread" for move in self.path)

    @property
    def share(self) -> float:
        """The share of the label where the row ends."""
        return self.probabilities[self.classes.index(self.label)]

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and strings, ready for JSON."""
        return fields_of(self) | {"fallback": self.fallback}

    def to_table(self, backend: str = "pandas") -> Table:
        """The start, the moves and the total. (S 29)"""
        rows: list[tuple[Cell, ...]] = [("start", None, None, None, self.start, "")]
        rows += [
            (str(m.node), m.condition.text(), _value_text(m.value), m.n, m.amount, m.mark)
            for m in self.path
        ]
        if self.is_spread:
            rows.append(("", "other branches", None, None, self.spread, ""))
        rows.append(("total", f"-> {quoted(self.label)}", None, self.n, self.share, ""))
        rule = " and ".join(condition.text() for condition in self.rule) or "in any case"
        why = decision_text(self.share, self.classes.index(self.label), self.expected_costs)
        held = number_text(self.counts[self.classes.index(self.label)])
        where = f"at node {self.node} ({held} of {number_text(self.n)})"
        where += " and others" if self.is_spread else ""
        title = f"{quoted(self.label)} ({why}) {where}: {rule}"
        columns = ("node", "condition", "value", "n", "share", "mark")
        return Table("path", title, columns, tuple(rows), "S 29", backend)

    def __str__(self) -> str:
        return str(self.to_table())


def _value_text(value: Value | None) -> str | None:
    if value is None:
        return None
    return number_in_full(value) if isinstance(value, float) else quoted(value)


@dataclass(frozen=True, eq=False)
class ExplainTree:
    """Row number → its explanation."""

    model: TreeModel
    rows: Walked

    @cached_property
    def _paths(self) -> Paths:
        return Paths(self.model)

    @cached_property
    def _counts(self) -> NDArray[Any]:
        return self.model.counts()

    @cached_property
    def _shares(self) -> Float:
        return self.model.shares()

    @cached_property
    def _labels(self) -> Places:
        return self.model.labels()

    def __call__(self, i: int) -> TreeExplanation:
        """Explain one row: P(leaf) = P(root) + Σ (P(next) - P(node)) along its path. (S 29)"""
        ends = self._ends(i)
        end, whole = ends[0].node, mixed_shares(self._shares, ends)
        mixed = decide_labels(whole[None], self.model.costs)
        label = int(self._labels[end] if len(ends) == 1 else mixed[0])
        steps, share = self._paths.steps(end), self._shares[:, label]
        after = [*(step.node for step in steps[1:]), end]
        return TreeExplanation(
            label=self.model.classes[label],
            node=end,
            n=self._counts[end].sum().item(),
            classes=self.model.classes,
            counts=tuple(self._counts[end].tolist()),
            probabilities=tuple(whole.tolist()),
            start=float(share[0]),
            path=tuple(
                self._move(i, step.node, condition, (float(share[step.node]), float(share[t])))
                for step, condition, t in zip(steps, self._paths.path(end), after, strict=False)
            ),
            rule=self._paths.merged(end),
            spread=float(whole[label] - share[end]),
            expected_costs=expected_costs(whole, self.model.costs),
        )

    def _ends(self, i: int) -> list[ReachedNode]:
        """Where the core put the row, or all ends where missing values go down several branches."""
        if self.model.policy == "fractional":
            return ends_of(self.model, self.rows, i)
        return [ReachedNode(int(self.rows.nodes[i]), 1.0)]

    def _move(self, i: int, t: int, condition: Condition, shares: tuple[float, float]) -> PathStep:
        share, after = shares
        return PathStep(
            node=t,
            condition=condition,
            value=self._value(i, int(self.model.attribute[t])),
            n=self._counts[t].sum().item(),
            share=share,
            amount=after - share,
            mark=self._mark(i, t),
        )

    def _value(self, i: int, j: int) -> Value | None:
        """A cell as it was given, a date in words; None for a missing value."""
        if is_missing(self.rows, i, j):
            return None
        value: Value = self.rows.given[j][i]
        is_date = self.model.schema.columns[j].kind == "date"
        return moment_text(float(value)) if is_date else value

    def _mark(self, i: int, t: int) -> Mark:
        """Whether node t knows the value of row i."""
        j = int(self.model.attribute[t])
        cell = self.rows.columns[j][i]
        if is_missing(self.rows, i, j):
            return missing_mark(self.model, t)
        if self.model.kind[t] == CUT:
            return "" if np.isfinite(cell) else "unknown"
        if cell < 0:
            return "unknown"
        return "" if cell in node_values(self.model, t)[0] else "absent"
