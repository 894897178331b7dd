"""Pruning by the compiled core: when nodes become leaves, and subtrees that move up."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sortal.native import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from sortal.native.trees import TreeArrays, Weights

    Bool = NDArray[np.bool_]
    Float = NDArray[np.float64]
    Int8 = NDArray[np.int8]
    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]


def collapse_strengths(child_start: Int64, children: Int32, risk: Float) -> Float:
    """For each node the least α at which it has no test in the minimal tree. (S 31)

    That tree is the smallest of those with the least Σ risk + α · leaves: the whole tree cut below
    the nodes where `collapse_strengths(...) <= α`. At the leaves of the whole tree it is 0. Numbers
    within 1e-12 of each other, relatively, are made one.
    """
    return _core.collapse_strengths(child_start, children, risk)


def added_errors(n: Float, errors: Float, confidence: float) -> Float:
    """What an upper bound of the error rate adds to the errors among n rows. (S 32)"""
    return _core.added_errors(n, errors, confidence)


class Raised(NamedTuple):
    """A tree pruned by raising; other fields as in `native.trees.Grown`.

    `origin` is the number that a node had, -1 for a new leaf. A node that has `moved` has rows
    that it did not have before.
    """

    kind: Int8
    attribute: Int32
    threshold: Float
    child_start: Int64
    children: Int32
    value_start: Int64
    values: Int32
    branches: Int32
    heavier: Int32
    missing: Int32
    units: Int64
    sizes: Int64
    origin: Int32
    moved: Bool


def prune_raising(
    tree: TreeArrays,
    columns: Sequence[Float | Int32],
    n_values: Sequence[int],
    classes: Int32,
    n_classes: int,
    weights: Weights,
    confidence: float,
) -> Raised:
    """C4.5's pruning with the rows of the fit."""
    raised = _core.prune_raising(
        tree, list(columns), list(n_values), classes, n_classes, weights, confidence
    )
    return Raised(*raised)
