"""Minimal cost-complexity pruning: nested trees, each the best for some price of a leaf."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal.learners.tree_cutting import cut_below
from sortal.models.complexity import Complexity
from sortal.native.pruning import collapse_strengths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.models.tree import TreeModel

    Float = NDArray[np.float64]

# Prices of a leaf that differ by no more, relatively, are equal.
EQUAL_WITHIN = 1e-12


def strengths_of(model: TreeModel) -> Float:
    """For each node the least α at which it is a leaf, or gone. (S 31)"""
    return collapse_strengths(model.child_start, model.children, model.risk())


def complexity_path(model: TreeModel) -> Complexity:
    """The nested trees from the root alone to the smallest one that errs no more than the whole.

    Strength is α by the root's risk, and so is error the risk of a tree. A root without risk has
    one row. (S 31)
    """
    strengths, risk = strengths_of(model), model.risk()
    root = float(risk[0]) or 1.0
    levels = np.unique(strengths)
    leaves = sum_by_level(model, strengths, levels, np.ones(model.n_nodes))
    risks = sum_by_level(model, strengths, levels, risk)
    return Complexity(
        strength=tuple((levels[::-1] / root).tolist()),
        n_leaves=tuple(leaves[::-1].astype(int).tolist()),
        error=tuple((risks[::-1] / root).tolist()),
    )


def prune_to(model: TreeModel, strength: float) -> TreeModel:
    """The smallest tree with the least risk + strength · root's risk · leaves."""
    root = float(model.risk()[0]) or 1.0
    # divided as in the path, so that a strength read there finds its tree
    return cut_below(model, strengths_of(model) / root <= strength)


def places_in(path: Complexity, model: TreeModel) -> NDArray[np.intp]:
    """For each node the first tree of the model's path in which it is a test.

    A node that no tree of the path asks at, since it is a leaf or saves nothing, has their number.
    """
    root = float(model.risk()[0]) or 1.0
    ascending = np.array(path.strength[::-1])
    # `prune_to` makes a node a leaf at every strength that is no smaller
    return len(path) - np.searchsorted(ascending, strengths_of(model) / root)


def sum_by_level(
    model: TreeModel,
    strengths: Float,
    levels: Float,
    at_leaf: Float,
    at_test: Float | None = None,
) -> Float:
    """For each α of `levels`, ascending, the sum over the nodes of the minimal tree.

    A leaf adds `at_leaf`, a test `at_test`.
    """
    first = _places(levels, strengths)
    last = first[model.parents()]  # at this α the parent is a leaf
    last[0] = len(levels)
    change = np.zeros(len(levels) + 1)
    np.add.at(change, first, at_leaf)
    np.add.at(change, last, -at_leaf)
    if at_test is not None:
        change[0] += at_test.sum()
        np.add.at(change, first, -at_test)
    return np.cumsum(change[:-1])


def _places(levels: Float, strengths: Float) -> NDArray[np.intp]:
    """The first level that is no smaller than each strength."""
    return np.searchsorted(levels, strengths * (1 - EQUAL_WITHIN))
