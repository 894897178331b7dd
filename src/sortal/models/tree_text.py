"""A tree as indented text, one line a node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sortal.data.printing import counted
from sortal.models.conditions import quoted
from sortal.models.faces import number_text, share_text
from sortal.models.tree_branches import Paths
from sortal.models.tree_holes import closing_lines
from sortal.native.trees import LEAF

if TYPE_CHECKING:
    from sortal.models.tree import TreeModel

# Below this depth lines are not indented further but say how deep they are: a chain of 100,000
# tests would otherwise fill gigabytes with bars.
_DEEPEST = 40


def tree_text(model: TreeModel, max_depth: int | None, max_values: int | None) -> str:
    """The nodes in preorder: what leads there, weights by class, purity and error rate."""
    paths, depths = Paths(model), model.depths().tolist()
    deepest = model.n_nodes if max_depth is None else max_depth
    below, facts = model.leaves_below().tolist(), _Facts(model)
    lines = []
    for t, depth in enumerate(depths):
        if depth <= deepest:
            condition = paths.above(t).text(max_values) if t else "root"
            line = f"{_indent(depth)}{condition}: {facts.line(t)}"
            hidden = depth == deepest and below[t] > 1
            lines.append(
                f"{line} … {counted(below[t], 'leaf', 'leaves')} below" if hidden else line
            )
    return "\n".join([*lines, *closing_lines(model)])


def _indent(depth: int) -> str:
    return "|  " * depth if depth <= _DEEPEST else f"{'|  ' * _DEEPEST}({depth}) "


class _Facts:
    """The numbers of nodes, and what leaves say."""

    def __init__(self, model: TreeModel) -> None:
        self._classes = [quoted(label) for label in model.classes]
        self._counts, self._labels = model.counts(), model.labels()
        self._purity, self._error = model.purity(), model.error()
        self._leaf = model.kind == LEAF

    def line(self, t: int) -> str:
        """n, the weight of each class that is there, purity and error rate."""
        counts = self._counts[t].tolist()
        words = [f"n {number_text(sum(counts))}"]
        words += [f"{self._classes[k]}: {number_text(n)}" for k, n in enumerate(counts) if n]
        words.append(f"purity {share_text(float(self._purity[t]))}")
        words.append(f"error {share_text(float(self._error[t]))}")
        label = f" -> {self._classes[self._labels[t]]}" if self._leaf[t] else ""
        return ", ".join(words) + label
