"""Whether arrays from a file are a tree: no way leads out of them, in a circle, or to nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal.models.checks import need
from sortal.models.layout import INF
from sortal.native.trees import CUT, LEAF, MULTIWAY, NO_HOLES, SPREAD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.models.tree import TreeModel

    Int = NDArray[np.integer]


def check_nodes(model: TreeModel) -> None:
    """Nodes in preorder, each reached once, whose tests ask columns and values that there are."""
    need(model.n_nodes > 0, "no node")
    for start, items in ((model.child_start, model.children), (model.value_start, model.values)):
        listed = start[0] == 0 and start[-1] == len(items) and (np.diff(start) >= 0).all()
        need(listed, "lists that do not fit its nodes")
    n_branches = np.diff(model.child_start)
    _check_columns(model)
    _check_tests(model, n_branches)
    _check_order(model, n_branches)
    _check_values(model, n_branches)


def _check_columns(model: TreeModel) -> None:
    pairs = zip(model.schema.columns, model.column_kinds, strict=True)
    need(all(kind == CUT or not column.is_number for column, kind in pairs), "a number not cut")
    for codes, n in zip(model.unseen, model.n_values, strict=True):
        need(sorted(set(codes)) == list(codes) and all(v < n for v in codes), "values unknown")


def _check_tests(model: TreeModel, n_branches: Int) -> None:
    """What each node asks, and of which column."""
    kind, attribute, leaf = model.kind, model.attribute, model.kind == LEAF
    need(((attribute < 0) == leaf).all(), "a leaf that asks, or a test that does not")
    need((attribute < len(model.column_kinds)).all(), "a test of a column that there is not")
    asked = np.array(model.column_kinds)[attribute[~leaf]]
    need((kind[~leaf] == asked).all(), "a column that is asked in another way than it can be")
    _check_cuts(model)
    need((n_branches[leaf] == 0).all(), "a leaf with branches")
    two = (kind != LEAF) & (kind != MULTIWAY)
    need(((n_branches[two] == 2) | (n_branches[two] == 3)).all(), "a test of one side")
    need((n_branches[kind == MULTIWAY] > 0).all(), "a test of no side")
    need((model.heavier < np.maximum(n_branches, 0)).all(), "a branch that there is not")
    need((model.heavier[two] >= 0).all(), "a test without a heavier side")
    need((model.missing < np.maximum(n_branches, 0)).all(), "a branch that there is not")
    need((model.missing[leaf] == NO_HOLES).all(), "a leaf that leads holes on")
    spreads = (model.missing == SPREAD).any()
    need(not spreads or model.policy == "fractional", "holes that spread where they must not")


def _check_cuts(model: TreeModel) -> None:
    """A cut is at a number; of an ordered category at a rank, or above all where holes part."""
    cuts = np.flatnonzero(model.kind == CUT)
    v, asked = model.threshold[cuts], model.attribute[cuts]
    need(not np.isnan(v).any(), "a cut at no number")
    columns = model.schema.columns
    most = np.array([INF if column.is_number else len(column.values) for column in columns])
    ranked = np.array([not column.is_number for column in columns])[asked]
    inside = (v >= 0) & (v < most[asked])
    need((inside | (v == INF))[ranked].all(), "a cut at no rank")


def _check_order(model: TreeModel, n_branches: Int) -> None:
    """Preorder: the nodes below a branch follow it, up to the next branch."""
    n, children = model.n_nodes, model.children
    need(len(children) == n - 1 and (children < n).all(), "nodes that are not all reached")
    need(len(np.unique(children)) == n - 1, "a node that is reached twice")
    parents = model.parents()
    need((parents[1:] < np.arange(1, n)).all(), "a node before the one above it")
    end = model.ends()
    first = model.child_start[:-1][n_branches > 0]
    inner = np.flatnonzero(n_branches)
    need((children[first] == inner + 1).all(), "nodes that are not in preorder")
    last = np.zeros(len(children), dtype=bool)
    last[model.child_start[1:][n_branches > 0] - 1] = True
    follows = np.flatnonzero(~last)
    need((children[follows + 1] == end[children[follows]]).all(), "nodes that are not in preorder")


def _check_values(model: TreeModel, n_branches: Int) -> None:
    """The values that tests of categories list: ascending, known, each with a branch."""
    owner = np.repeat(np.arange(model.n_nodes), np.diff(model.value_start))
    need((model.branches < n_branches[owner]).all(), "a value without a branch")
    listed = (model.kind[owner] != LEAF) & (model.kind[owner] != CUT)
    need(listed.all(), "values of a test that lists none")
    n_values = np.array(model.n_values, dtype=np.int64)
    need((model.values < n_values[model.attribute[owner]]).all(), "a value that there is not")
    same = owner[1:] == owner[:-1]
    need((np.diff(model.values)[same] > 0).all(), "values out of order")


def check_weights(model: TreeModel) -> None:
    """Every node holds something, and sums of weights are numbers."""
    total = model.units.sum(axis=1, dtype=np.float64)
    need(((total > 0) & (total < 2.0**63)).all(), "a node without weight")
    if model.effective is not None:
        need(((model.effective > 0) == (model.units > 0)).all(), "weight of no rows")
    counted = model.counted()
    need((counted.sum(axis=1) > 0).all(), "a node that counts for nothing")
    need(np.isfinite(counted).all(), "weights that are no numbers")
    need(np.isfinite(model.risk()).all(), "risks that are no numbers")
    if model.costs is not None:
        pull = model.pull_of_class() if model.costs.any() else np.zeros(1)
        need(np.isfinite(pull).all() and pull.any(), "costs that say nothing")
    ranges = [ends for ends in model.ranges or () if ends is not None]
    need(all(low <= high for low, high in ranges), "a range that ends before it begins")
