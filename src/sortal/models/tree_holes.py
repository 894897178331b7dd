"""Where holes go in a tree, and which columns tell of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from sortal.native.trees import LEAF, MULTIWAY, SPREAD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.models.tree import TreeModel

# How a hole went on: as those of the fit did at this node ("missing"), with the larger branch since
# that is the rule ("majority") or since the node met no hole ("unseen"), or down every branch.
HoleMark = Literal["missing", "majority", "unseen", "spread"]


def met_holes(model: TreeModel) -> bool:
    """Whether the rows of the fit had holes; a tree of a complete table says nothing of them."""
    return model.policy != "error" and any(model.holes)


def tells_holes(model: TreeModel, j: int) -> bool:
    """Whether conditions on column j say what a hole does: where the fit had some, by branch."""
    return model.policy not in ("error", "fractional") and model.holes[j] > 0


def hole_branch(model: TreeModel, t: int) -> int:
    """The branch that a hole takes at node t, -1 if it stays there; of all, the heaviest."""
    branch = int(model.missing[t])
    if branch == SPREAD:
        return heaviest_branch(model, t)
    return int(model.heavier[t]) if branch < 0 else branch


def hole_mark(model: TreeModel, t: int) -> HoleMark:
    """Why it does so."""
    if model.missing[t] < 0:
        return "spread" if model.missing[t] == SPREAD else "unseen"
    return "majority" if model.policy == "majority" else "missing"


def takes_holes(model: TreeModel, t: int, b: int) -> bool:
    """Whether a hole takes branch b of node t (-1: stays there), be it with a part of its weight.

    Where holes are an error, none does.
    """
    if model.policy == "error":
        return False
    return b >= 0 if model.missing[t] == SPREAD else hole_branch(model, t) == b


def heaviest_branch(model: TreeModel, t: int) -> int:
    """The branch of most weight, the first of equals; also of a node with one branch per value."""
    below = model.children[model.child_start[t] : model.child_start[t + 1]]
    return int(model.pull(below).argmax())


def heaviest_branches(model: TreeModel) -> NDArray[np.int32]:
    """The same of all nodes; -1 for leaves."""
    asks = (model.kind != LEAF).tolist()
    branches = [heaviest_branch(model, t) if asks[t] else -1 for t in range(model.n_nodes)]
    return np.array(branches, dtype=np.int32)


def closing_lines(model: TreeModel) -> list[str]:
    """What conditions do not say of holes, below the text of a tree; none if they say all."""
    if not met_holes(model):
        return []
    if model.policy == "fractional":
        return ["", "A missing value goes down every branch, by its weight."]
    silent = np.isin(model.attribute, [j for j, n in enumerate(model.holes) if n == 0])
    by_value = model.kind[silent] == MULTIWAY
    ways = ["takes the branch of larger weight"] * bool((~by_value).any())
    ways += ["stays at a node with one branch per value"] * bool(by_value.any())
    if not ways:
        return []
    return ["", f"A missing value of a column that had none at fit {', or '.join(ways)}."]
