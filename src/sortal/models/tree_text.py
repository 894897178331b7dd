"""A tree as indented text, one line a node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sortal.models.conditions import quoted
from sortal.models.faces import number_text
from sortal.models.tree_branches import Paths
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
    below = model.leaves_below().tolist()
    facts = _facts(model)
    lines = []
    for t, depth in enumerate(depths):
        if depth <= deepest:
            condition = paths.above(t).text(max_values) if t else "root"
            line = f"{_indent(depth)}{condition}: {facts[t]}"
            hidden = depth == deepest and below[t] > 1
            lines.append(f"{line} … {below[t]} leaves below" if hidden else line)
    return "\n".join(lines)


def _indent(depth: int) -> str:
    return "|  " * depth if depth <= _DEEPEST else f"{'|  ' * _DEEPEST}({depth}) "


def _facts(model: TreeModel) -> list[str]:
    """For each node its numbers, for a leaf also what it says."""
    classes = [quoted(label) for label in model.classes]
    labels, leaf = model.labels().tolist(), (model.kind == LEAF).tolist()
    numbers = zip(model.purity().tolist(), model.error().tolist(), strict=True)
    said = []
    for t, (counts, (purity, error)) in enumerate(
        zip(model.counts().tolist(), numbers, strict=True)
    ):
        by_class = [
            f"{label} {number_text(count)}"
            for label, count in zip(classes, counts, strict=True)
            if count
        ]
        words = [f"n {number_text(sum(counts))}", *by_class]
        words += [f"purity {purity:.3f}", f"error {error:.3f}"]
        said.append(", ".join(words) + (f" -> {classes[labels[t]]}" if leaf[t] else ""))
    return said
