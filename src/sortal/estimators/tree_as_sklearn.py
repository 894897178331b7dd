"""to_sklearn of trees: the nodes of a tree, as scikit-learn keeps them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import Tree

from sortal.errors import OptionError
from sortal.estimators.as_sklearn import refuse_others, verify, wear_names
from sortal.models.tree_criteria import CRITERIA
from sortal.native.trees import LEAF

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sortal.estimators.tree import TreeClassifier
    from sortal.models.tree import TreeModel

    Float = NDArray[np.float64]

_SAME = ("max_depth", "min_samples_leaf", "min_weight_fraction_leaf", "max_leaf_nodes")
# So many cells of rows are tried at a time, and about so many splits on their ways in all.
_CELLS, _STEPS = 1 << 20, 10**8


def tree_as_sklearn(model: TreeClassifier) -> DecisionTreeClassifier:
    """A tree whose nodes have two branches, by thresholds of numbers."""
    refuse_others(model, model._model.costs if hasattr(model, "_model") else None)
    inner = model._model
    _refuse_parts(inner)
    theirs = DecisionTreeClassifier(
        criterion=CRITERIA[model._grown_by.criterion].sklearn,
        min_samples_split=max(2, model.leaf_size + 1),
        **{name: getattr(model, name) for name in _SAME},
    )
    wear_names(model, theirs)
    theirs.n_outputs_, theirs.n_classes_ = 1, np.intp(len(model.classes_))
    theirs.max_features_ = model.n_features_in_
    theirs.tree_ = _tree(inner, model._spread(_values(inner)), theirs.criterion)
    for rows in _rows_to_leaves(inner):
        verify(model, theirs, rows)
    return theirs


def float32_below(thresholds: Float) -> NDArray[np.float32]:
    """The largest float32 that is at most v: of float32s, the same ones are at most either."""
    with np.errstate(over="ignore"):
        near = thresholds.astype(np.float32)
        return np.where(near > thresholds, np.nextafter(near, np.float32(-np.inf)), near)


def _refuse_parts(inner: TreeModel) -> None:
    """A row goes down one branch of two, also where a value is missing."""
    if inner.policy == "fractional" or (np.diff(inner.child_start) > 2).any():
        raise OptionError(
            f"This tree was grown with missing={inner.policy!r}: where a value is missing, a row "
            "has a branch of its own or goes down several, and scikit-learn's trees send it down "
            "one of two. Fit with missing='direction', and convert."
        )


def _tree(inner: TreeModel, values: Float, criterion: str) -> Tree:
    """scikit-learn's arrays, by the names that it gives them; fields it may add stay 0."""
    tree = Tree(len(inner.column_kinds), np.array([values.shape[1]], dtype=np.intp), 1)
    state = tree.__getstate__()
    asks, first = inner.kind != LEAF, inner.child_start[:-1]
    branches = np.append(inner.children, -1)
    took = np.where(inner.missing >= 0, inner.missing, inner.heavier)
    nodes = np.zeros(inner.n_nodes, dtype=state["nodes"].dtype)
    nodes["left_child"] = np.where(asks, branches[first], -1)
    nodes["right_child"] = np.where(asks, branches[np.where(asks, first + 1, -1)], -1)
    nodes["feature"] = np.where(asks, inner.attribute, -2)
    nodes["threshold"] = np.where(asks, float32_below(inner.threshold), -2.0)
    nodes["impurity"] = _impurity(inner.plain_shares(), criterion)
    nodes["n_node_samples"] = inner.sizes
    nodes["weighted_n_node_samples"] = inner.counted().sum(axis=1)
    nodes["missing_go_to_left"] = asks & (took == 0)
    state |= {"max_depth": inner.depth(), "node_count": inner.n_nodes, "nodes": nodes}
    tree.__setstate__({**state, "values": np.ascontiguousarray(values[:, None, :])})
    return tree


def _values(inner: TreeModel) -> Float:
    """Class probabilities of nodes, of which the class predicted has the first largest."""
    values, said = inner.shares().copy(), inner.labels()
    at = np.arange(len(values))
    values[at, said] = values.max(axis=1)  # they differ by the rounding of sums at most
    return values


def _impurity(shares: Float, criterion: str) -> Float:
    """Gini index or entropy in bits, before smoothing."""
    if criterion == "gini":
        return np.asarray(1.0 - np.square(shares).sum(axis=1))
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logs).sum(axis=1))


def _rows_to_leaves(inner: TreeModel) -> Iterator[Float]:
    """For each leaf a row that should end there: at its thresholds, or the next float32 above.

    Where missing values were met at fit and take the branch, a value is missing. Of very deep trees
    every so many-th leaf is tried.
    """
    rows = _rows_of_nodes(inner)
    leaves = np.flatnonzero(inner.kind == LEAF)
    leaves = leaves[:: 1 + len(leaves) * inner.depth() // _STEPS]
    some = max(1, _CELLS // rows.shape[1])
    for start in range(0, len(leaves), some):
        yield rows[leaves[start : start + some]].astype(np.float64)


def _rows_of_nodes(inner: TreeModel) -> NDArray[np.float32]:
    """A row that passes each node: its parent's, but for the column of the split above."""
    low = float32_below(inner.threshold)
    with np.errstate(over="ignore"):
        sides = np.stack([low, np.nextafter(low, np.float32(np.inf))])
    sides[np.isinf(sides)] = 0.0
    met = np.array(inner.holes)[inner.attribute] > 0
    for branch in (0, 1):
        sides[branch, met & (inner.missing == branch)] = np.nan
    rows = np.zeros((inner.n_nodes, len(inner.column_kinds)), dtype=np.float32)
    for t in np.flatnonzero(inner.kind != LEAF).tolist():  # in preorder a parent comes first
        both = inner.children[inner.child_start[t] : inner.child_start[t + 1]]
        rows[both] = rows[t]
        rows[both, inner.attribute[t]] = sides[:, t]
    return rows
