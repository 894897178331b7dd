"""The nodes of a tree for a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sortal.browser import BrowserModel, pack
from sortal.native.trees import CUT, LEAF, MULTIWAY
from sortal.trees.branches import Paths, Step, branch_condition, node_values

if TYPE_CHECKING:
    from sortal.trees.model import TreeModel

# Of a longer set of values so many are named in a condition, and all counted.
_VALUES_NAMED: Final = 12


def describe_tree(model: TreeModel) -> BrowserModel:
    """Nodes over the columns that they ask, in the order of the table."""
    asked = sorted({int(j) for j in model.attribute[model.kind != LEAF]})
    place = {j: f for f, j in enumerate(asked)}
    numbers = {
        "kind": model.kind.tolist(),
        "attribute": [place.get(j, -1) for j in model.attribute.tolist()],
        "threshold": pack(model.threshold),
        "children": [_children(model, t) for t in range(model.n_nodes)],
        "values": [_values(model, t) for t in range(model.n_nodes)],
        "heavier": model.heavier.tolist(),
        "missing": model.missing.tolist(),
        "policy": model.policy,
        "label": model.labels().tolist(),
        "counts": model.counts().tolist(),
        "unseen": [list(model.unseen[j]) for j in asked],
        "pull": model.pull().tolist() if model.policy == "fractional" else None,
        "shares": _shares(model),
        **_conditions(model),
    }
    ranges = tuple(None if model.ranges is None else model.ranges[j] for j in asked)
    return BrowserModel("tree", model.schema, tuple(asked), ranges, numbers, about=False)


def _children(model: TreeModel, t: int) -> list[int]:
    below: list[int] = model.children[model.child_start[t] : model.child_start[t + 1]].tolist()
    return below


def _values(model: TreeModel, t: int) -> list[list[int]] | None:
    """[code, branch] of each value that the node knows."""
    if model.kind[t] in (LEAF, CUT):
        return None
    return np.stack(node_values(model, t), axis=1).tolist()  # type: ignore[no-any-return]


def _shares(model: TreeModel) -> Any:
    """None where they are counts divided by their sum."""
    plain = model.factors is None and model.smoothing is None
    return None if plain else pack(model.shares())


def _conditions(model: TreeModel) -> dict[str, Any]:
    """What is said of the branch to each node, and of rows that stay where no branch is theirs."""
    paths = Paths(model)
    below = [paths.above(t).text(_VALUES_NAMED) for t in range(1, model.n_nodes)]
    stays = {
        str(t): branch_condition(model, Step(t, -1)).text(_VALUES_NAMED)
        for t in np.flatnonzero(model.kind == MULTIWAY).tolist()
    }
    return {"conditions": ["", *below], "stays": stays}
