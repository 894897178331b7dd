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
from sortal.records.tables import Explanation, Table
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
    from sortal.data.columns import Value
    from sortal.data.sources import Batch
    from sortal.records.tables import Cell
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

# Marks of moves that the rows of the fit taught: of values that the node knows, missing values
# among them.
_LEARNED = ("", "missing")

# The node did not know the value: no row of the fit had it, or none of this node.
Mark = Literal["", "unknown", "absent"] | MissingMark


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
    def _ways(self) -> dict[int, tuple[Any, ...]]:
        return {}

    @cached_property
    def _counts(self) -> NDArray[Any]:
        return self.model.counts()

    @cached_property
    def _shares(self) -> Float:
        return self.model.shares()

    @cached_property
    def _labels(self) -> Places:
        return self.model.labels()

    def __call__(self, i: int) -> Explanation:
        """Explain one row: P(leaf) = P(root) + Σ (P(next) - P(node)) along its path. (S 29)"""
        model, ends = self.model, self._ends(i)
        end, whole = ends[0].node, mixed_shares(self._shares, ends)
        expected = expected_costs(whole, model.costs)
        mixed = decide_labels(whole[None], model.costs)
        label = int(self._labels[end] if len(ends) == 1 else mixed[0])
        others = [k for k in range(len(whole)) if k != label]
        against = max(others, key=whole.__getitem__) if others else None
        nodes, conditions, rule, asked, texts = self._way(end)
        shares = self._shares[[*nodes, end], label].tolist()
        values = [self._value(i, int(model.attribute[t])) for t in nodes]
        marks = [self._mark(i, t) for t in nodes]
        lines: list[tuple[Cell, ...]] = [("start", None, None, None, shares[0], "")]
        for move, t in enumerate(nodes):
            told = texts[move], _value_text(values[move])
            n, added = self._counts[t].sum().item(), shares[move + 1] - shares[move]
            lines.append((str(t), *told, n, added, marks[move]))
        is_spread = "spread" in marks
        if is_spread:
            spread = float(whole[label]) - shares[-1]
            lines.append(("", "other branches", None, None, spread, ""))
        counts, total, said = self._counts[end], float(whole[label]), model.classes[label]
        held, n = number_text(counts[label].item()), counts.sum().item()
        where = f"at node {end} ({held} of {number_text(n)}){' and others' * is_spread}"
        title = f"{quoted(said)} ({decision_text(total, label, expected)}) {where}: {asked}"
        heads = ("node", "condition", "value", "n", "share", "mark")
        return Explanation(
            label=said,
            against=None if against is None else model.classes[against],
            classes=model.classes,
            total=total,
            parts=Table("path", title, heads, tuple(lines), "S 29"),
            amount="share",
            last=("total", f"-> {quoted(said)}", None, n, total, ""),
            facts={
                "node": end,
                "n": n,
                "counts": tuple(counts.tolist()),
                "probabilities": tuple(whole.tolist()),
                "path": conditions,
                "values": tuple(values),
                "rule": rule,
                "expected_costs": expected,
                "fallback": any(mark not in _LEARNED for mark in marks),
            },
        )

    def _way(self, end: int) -> tuple[Any, ...]:
        """Nodes, conditions, the rule and both in words, made once for all rows that end there."""
        if end not in self._ways:
            conditions, rule = self._paths.path(end), self._paths.merged(end)
            nodes = [step.node for step in self._paths.steps(end)]
            asked = " and ".join(condition.text() for condition in rule) or "in any case"
            texts = [condition.text() for condition in conditions]
            self._ways[end] = nodes, conditions, rule, asked, texts
        return self._ways[end]

    def _ends(self, i: int) -> list[ReachedNode]:
        """Where the core put the row, or all ends where missing values go down several branches."""
        if self.model.policy == "fractional":
            return ends_of(self.model, self.rows, i)
        return [ReachedNode(int(self.rows.nodes[i]), 1.0)]

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
