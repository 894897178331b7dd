"""Explanations of a tree: the path of a row, and what each branch added to its class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sortal.decision.posterior import expected_costs
from sortal.native.trees import CUT
from sortal.records.render import decision_text, moment_text, number_in_full, number_text, quoted
from sortal.records.tables import Table
from sortal.trees.branches import MissingMark, Paths, missing_mark, node_values
from sortal.trees.model import decide_labels
from sortal.trees.route import ReachedNode, ends_of, is_missing, mixed_shares

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal._typing import Float, Places
    from sortal.data.columns import Value, Values
    from sortal.records.tables import Cell
    from sortal.trees.conditions import Condition
    from sortal.trees.model import TreeModel
    from sortal.trees.route import Walked

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
        path = [
            {
                "node": move.node,
                "condition": move.condition.to_dict(),
                "value": move.value,
                "n": move.n,
                "share": move.share,
                "amount": move.amount,
                "mark": move.mark,
            }
            for move in self.path
        ]
        return {
            "label": self.label,
            "node": self.node,
            "n": self.n,
            "classes": list(self.classes),
            "counts": list(self.counts),
            "probabilities": list(self.probabilities),
            "start": self.start,
            "path": path,
            "rule": [condition.to_dict() for condition in self.rule],
            "spread": self.spread,
            "expected_costs": self.expected_costs and list(self.expected_costs),
            "fallback": self.fallback,
        }

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
