"""Reduced-error pruning: tests that do not help with rows of their own are taken out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal.learners.tree_cutting import cut_below
from sortal.learners.tree_validation import cost_of, costs_of, pass_rows

if TYPE_CHECKING:
    from sortal.learners.tree import TreeRows
    from sortal.models.tree import TreeModel

# So much of what all rows could cost is the rounding of sums: costs that differ by less are equal.
_ROUNDING = 1e-12


def prune_reduced(model: TreeModel, rows: TreeRows) -> TreeModel:
    """From the leaves up, a test becomes a leaf if that costs the given rows no more. (S 34)"""
    passing, labels, costs = pass_rows(model, rows), model.labels(), costs_of(model)
    as_leaf = cost_of(passing.through, labels, costs).tolist()
    best = cost_of(passing.ending, labels, costs).tolist()
    parents = model.parents().tolist()
    leaf = np.zeros(model.n_nodes, dtype=bool)
    rounding = _ROUNDING * float(passing.through[0] @ costs.max(axis=1))
    for t in range(model.n_nodes - 1, -1, -1):
        if as_leaf[t] <= best[t] + rounding:
            best[t], leaf[t] = as_leaf[t], True
        if t:
            best[parents[t]] += best[t]
    return cut_below(model, leaf)
