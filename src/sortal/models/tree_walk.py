"""The way of single rows down a tree, where a hole may go down every branch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sortal.models.tree_branches import node_values
from sortal.models.tree_holes import heaviest_branch, hole_branch
from sortal.native.trees import CUT, LEAF, SPREAD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.models.tree import TreeModel
    from sortal.models.tree_blocks import Walked


class End(NamedTuple):
    """A node where a row ends, and with which part of its weight."""

    node: int
    part: float


def is_hole(rows: Walked, i: int, j: int) -> bool:
    """Whether row i has no value in column j."""
    given = rows.given[j][i]
    return given is None or given != given  # only NaN differs from itself  # noqa: PLR0124


def ends_of(model: TreeModel, rows: Walked, i: int) -> list[End]:
    """Where row i ends; first the end that the heaviest branches lead to."""
    found, waiting = [], [End(0, 1.0)]
    while waiting:
        t, part = waiting.pop()
        below = _next(model, rows, i, t)
        if below:
            waiting += [End(c, part * share) for c, share in reversed(below)]
        else:
            found.append(End(t, part))
    return found


def _next(model: TreeModel, rows: Walked, i: int, t: int) -> list[tuple[int, float]]:
    """The nodes below t that row i goes to, the heaviest first; none where it ends."""
    if model.kind[t] == LEAF:
        return []
    j = int(model.attribute[t])
    below = model.children[model.child_start[t] : model.child_start[t + 1]]
    if not is_hole(rows, i, j):
        b = branch_of(model, t, rows.columns[j][i])
    elif model.missing[t] != SPREAD:
        b = hole_branch(model, t)
    else:
        units = model.pull(below)
        first = heaviest_branch(model, t)
        order = [first, *(b for b in range(len(below)) if b != first)]
        return [(int(below[b]), float(units[b] / units.sum())) for b in order if units[b]]
    return [(int(below[b]), 1.0)] if b >= 0 else []


def branch_of(model: TreeModel, t: int, cell: Any) -> int:
    """The branch of a cell that is no hole, as the tree reads it; -1 if it stays at node t."""
    if model.kind[t] == CUT:
        return int(cell > model.threshold[t]) if np.isfinite(cell) else int(model.heavier[t])
    codes, branches = node_values(model, t)
    mine = branches[codes == cell]
    return int(mine[0]) if len(mine) else int(model.heavier[t])


def mixed_shares(shares: NDArray[np.float64], ends: list[End]) -> NDArray[np.float64]:
    """Σ part · share over the ends of a row."""
    parts = np.array([end.part for end in ends])
    return np.asarray(parts @ shares[[end.node for end in ends]])
