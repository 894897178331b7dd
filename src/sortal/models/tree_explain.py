"""Why a tree decided as it did: the path of a row, and what each move added to its class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sortal.models.conditions import number_in_full, quoted
from sortal.models.faces import moment_text
from sortal.models.records import Table
from sortal.models.tree_branches import Paths, node_values
from sortal.native.trees import CUT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.data.values import Value, Values
    from sortal.models.conditions import Condition
    from sortal.models.records import Cell
    from sortal.models.tree import TreeModel
    from sortal.models.tree_blocks import Walked

Mark = Literal["", "unknown", "absent"]


@dataclass(frozen=True)
class Move:
    """A test on the way: the condition that was met there, and by which value.

    `n` is the weight of the node, `share` the part in it of the class that is said at the end, and
    `amount` what the move adds to that share. The mark says that the node did not know the value:
    no row of the fit had it ("unknown"), or none of this node ("absent").
    """

    node: int
    condition: Condition
    value: Value
    n: float
    share: float
    amount: float
    mark: Mark = ""


@dataclass(frozen=True)
class TreeExplanation:
    """start + Σ amounts = the share of `label` in the node where the row ends.

    `counts` and `probabilities` are those of that node, `rule` are the conditions of the path, one
    an attribute. `start` is the share of the label among all rows of the fit.
    """

    label: Value
    node: int
    n: float
    classes: Values
    counts: tuple[float, ...]
    probabilities: tuple[float, ...]
    start: float
    path: tuple[Move, ...]
    rule: tuple[Condition, ...]

    @property
    def fallback(self) -> bool:
        """Whether a node on the way did not know the row's value."""
        return any(move.mark for move in self.path)

    @property
    def share(self) -> float:
        """The share of the label in the node where the row ends."""
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
            "fallback": self.fallback,
        }

    def to_table(self, backend: str = "pandas") -> Table:
        """The start, the moves and the total. (S 29)"""
        rows: list[tuple[Cell, ...]] = [("start", None, None, None, self.start, "")]
        rows += [
            (str(m.node), m.condition.text(), _value_text(m.value), m.n, m.amount, m.mark)
            for m in self.path
        ]
        rows.append(("total", f"-> {quoted(self.label)}", None, self.n, self.share, ""))
        rule = " and ".join(condition.text() for condition in self.rule) or "in any case"
        title = f"{quoted(self.label)} (P = {self.share:.4g}) at node {self.node}: {rule}"
        columns = ("node", "condition", "value", "n", "share", "mark")
        return Table("path", title, columns, tuple(rows), "S 29", backend)

    def __str__(self) -> str:
        return str(self.to_table())


def _value_text(value: Value) -> str:
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

    def __call__(self, i: int) -> TreeExplanation:
        """Explain one row: P(leaf) = P(root) + Σ (P(next) - P(node)) along its path. (S 29)"""
        model, end = self.model, int(self.rows.nodes[i])
        label = int(model.units[end].argmax())
        way, units = self._paths.way(end), model.units
        ends = [*(step.node for step in way.steps[1:]), end]
        share = {t: float(units[t, label] / units[t].sum()) for t in {0, *ends}}
        return TreeExplanation(
            label=model.classes[label],
            node=end,
            n=self._counts[end].sum().item(),
            classes=model.classes,
            counts=tuple(self._counts[end].tolist()),
            probabilities=tuple((units[end] / units[end].sum()).tolist()),
            start=share[0],
            path=tuple(
                self._move(i, step.node, condition, (share[step.node], share[after]))
                for step, condition, after in zip(way.steps, way.path, ends, strict=False)
            ),
            rule=way.merged,
        )

    def _move(self, i: int, t: int, condition: Condition, shares: tuple[float, float]) -> Move:
        model, (share, after) = self.model, shares
        j = int(model.attribute[t])
        value = self.rows.given[j][i]
        is_date = model.schema.columns[j].kind == "date"
        return Move(
            node=t,
            condition=condition,
            value=moment_text(value) if is_date else value,
            n=self._counts[t].sum().item(),
            share=share,
            amount=after - share,
            mark=self._mark(t, self.rows.columns[j][i]),
        )

    def _mark(self, t: int, cell: Any) -> Mark:
        """Whether node t knows the value of a cell."""
        if self.model.kind[t] == CUT:
            return "unknown" if np.isnan(cell) else ""
        if cell < 0:
            return "unknown"
        return "" if cell in node_values(self.model, t)[0] else "absent"
