"""Cutting: a tree in which some nodes are leaves, and what was below them is gone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.native.trees import LEAF

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.models.tree import TreeModel

    Bool = NDArray[np.bool_]

# The arrays with an entry a node: what they hold at a leaf, or None where that is the node's own.
_BY_NODE: dict[str, Any] = {
    "kind": LEAF,
    "attribute": -1,
    "threshold": np.nan,
    "heavier": -1,
    "missing": -1,
    "units": None,
    "sizes": None,
    "rows": None,
    "effective": None,
    "score": 0.0,
    "gain": 0.0,
    "exact": True,
    "candidates": 0.0,
}

# The lists that nodes have: where they start, and the arrays that lie side by side in them.
_LISTS = {"child_start": ("children",), "value_start": ("values", "branches")}


def cut_below(model: TreeModel, leaves: Bool) -> TreeModel:
    """The tree in which the nodes marked are leaves, numbered in preorder as ever."""
    leaf = leaves | (model.kind == LEAF)
    kept = ~_below(model, leaf)
    changed: dict[str, Any] = {}
    for name, at_leaf in _BY_NODE.items():
        array = getattr(model, name, None)
        if array is not None:
            changed[name] = array[kept]
            if at_leaf is not None:
                changed[name][leaf[kept]] = at_leaf
    for start, names in _LISTS.items():
        changed |= _cut_lists(model, start, names, kept, leaf)
    number = np.cumsum(kept, dtype=np.int32) - 1
    changed["children"] = number[changed["children"]].astype(np.int32)
    cut = bool((leaf & (model.kind != LEAF)).any())
    return replace(model, **changed, pruned=model.pruned or cut)


def _below(model: TreeModel, leaf: Bool) -> Bool:
    """The nodes below a leaf: in preorder they follow it."""
    change = np.zeros(model.n_nodes + 1, dtype=np.int64)
    nodes = np.flatnonzero(leaf)
    np.add.at(change, nodes + 1, 1)
    np.add.at(change, model.ends()[nodes], -1)
    return np.asarray(np.cumsum(change[:-1]) > 0)


def _cut_lists(
    model: TreeModel, start: str, names: tuple[str, ...], kept: Bool, leaf: Bool
) -> dict[str, Any]:
    lengths = np.diff(getattr(model, start))
    held = np.repeat(kept & ~leaf, lengths)
    shorter = np.where(leaf, 0, lengths)[kept]
    starts = np.concatenate([[0], np.cumsum(shorter)]).astype(np.int64)
    return {start: starts} | {name: getattr(model, name)[held] for name in names}


def join_siblings(model: TreeModel) -> TreeModel:
    """The tree in which branches that all lead to leaves of one class are one leaf."""
    said, starts, children = model.labels().tolist(), model.child_start.tolist(), model.children
    label = [-1] * model.n_nodes  # what all leaves below a node say, -1 if they differ
    for t in range(model.n_nodes - 1, -1, -1):
        below = {label[c] for c in children[starts[t] : starts[t + 1]].tolist()}
        if below <= {said[t]}:
            label[t] = said[t]
    return cut_below(model, np.array(label) >= 0)
