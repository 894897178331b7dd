"""The nodes of a tree of scikit-learn: read, put in preorder, and said in sortal's terms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sortal.errors import WeightError
from sortal.estimators.tree_as_sklearn import float32_below
from sortal.models.partition import score_counts
from sortal.models.tree import TreeModel
from sortal.native.trees import CUT, LEAF

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.data.schema import Schema

    Bool = NDArray[np.bool_]
    Float = NDArray[np.float64]
    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

# A total of at most so many bits of units, as of weights that a fit reads.
_TOTAL_BITS = 48


class Nodes(NamedTuple):
    """The nodes of scikit-learn's tree in preorder, the branch of yes first.

    `yes` and `no` are the branches of each node, -1 at leaves. `shares` (N, K) are of the weight.
    """

    yes: Int64
    no: Int64
    attribute: Int64
    threshold: Float
    shares: Float
    weights: Float
    sizes: Int64
    holes_say_yes: Bool

    @property
    def asks(self) -> Bool:
        """Which nodes have a test."""
        return self.yes >= 0


def read_nodes(tree: Any) -> Nodes:
    """The nodes of a fitted DecisionTreeClassifier."""
    inside = tree.tree_
    order = np.array(_preorder(inside.children_left.tolist(), inside.children_right.tolist()))
    place = np.full(len(order) + 1, -1)  # the last for the branches of a leaf, which are -1
    place[order] = np.arange(len(order))
    return Nodes(
        place[inside.children_left[order]],
        place[inside.children_right[order]],
        inside.feature[order].astype(np.int64),
        inside.threshold[order],
        inside.value[order, 0, :],
        inside.weighted_n_node_samples[order],
        inside.n_node_samples[order].astype(np.int64),
        inside.missing_go_to_left[order].astype(bool),
    )


def _preorder(yes: list[int], no: list[int]) -> list[int]:
    order, waiting = [], [0]
    while waiting:
        t = waiting.pop()
        order.append(t)
        if yes[t] >= 0:
            waiting += (no[t], yes[t])
    return order


def shows_holes(nodes: Nodes) -> Bool:
    """Which tests met holes at fit for certain.

    Without holes thresholds are finite, and a hole would take the branch of more rows.
    """
    more = np.zeros(len(nodes.yes), dtype=bool)
    asks, sizes = nodes.asks, nodes.sizes
    more[asks] = sizes[nodes.yes[asks]] > sizes[nodes.no[asks]]
    return np.asarray(asks & (np.isinf(nodes.threshold) | (nodes.holes_say_yes != more)))


def _hole_branches(nodes: Nodes, heavier: Int32, with_holes: set[int]) -> Int32:
    """The branch of holes, as scikit-learn has it at every test.

    It is -1, which comes to the same, where nothing shows holes in the column and the branch is the
    heavier one.
    """
    branch = np.where(nodes.holes_say_yes, 0, 1).astype(np.int32)
    silent = ~np.isin(nodes.attribute, list(with_holes)) & (branch == heavier)
    return np.where(nodes.asks & ~silent, branch, -1).astype(np.int32)


def as_model(nodes: Nodes, schema: Schema, criterion: str) -> TreeModel:
    """The tree as sortal keeps it, its tests scored by a criterion."""
    n, asks = len(nodes.yes), nodes.asks
    units, exponent = as_units(nodes.shares, nodes.weights)
    branches = np.stack([nodes.yes, nodes.no], axis=1)[asks]
    score, heavier = np.zeros(n), np.full(n, -1, dtype=np.int32)
    score[asks] = _scores(units[branches], criterion)
    heavier[asks] = units.sum(axis=1)[branches].argmax(axis=1)  # the first of equals
    with_holes = set(nodes.attribute[shows_holes(nodes)].tolist())
    return TreeModel(
        schema=schema,
        column_kinds=(CUT,) * len(schema.columns),
        unseen=((),) * len(schema.columns),
        exponent=exponent,
        kind=np.where(asks, CUT, LEAF).astype(np.int8),
        attribute=np.where(asks, nodes.attribute, -1).astype(np.int32),
        threshold=np.where(asks, last_below(nodes.threshold), np.nan),
        missing=_hole_branches(nodes, heavier, with_holes),
        holes=tuple(int(j in with_holes) for j in range(len(schema.columns))),
        policy="direction",
        child_start=np.concatenate([[0], np.cumsum(2 * asks)]).astype(np.int64),
        children=branches.ravel().astype(np.int32),
        value_start=np.zeros(n + 1, dtype=np.int64),
        values=np.empty(0, dtype=np.int32),
        branches=np.empty(0, dtype=np.int32),
        heavier=heavier,
        units=units,
        sizes=nodes.sizes,
        score=score,
        gain=score.copy(),
        exact=~asks,
        candidates=np.zeros(n),
    )


def last_below(thresholds: Float) -> Float:
    """For each v the largest float64 x with float32(x) <= v.

    Let f be the largest float32 that is at most v. Up to halfway to the next one numbers are
    rounded to f; the number halfway is so if f is even. Infinity stands for the float32 that would
    follow the largest one, as it does in rounding. An infinite v, below which all numbers are,
    stays what it is.
    """
    f = float32_below(thresholds)
    with np.errstate(over="ignore"):
        ends = np.stack([f, np.nextafter(f, np.float32(np.inf))]).astype(np.float64)
    halfway = np.clip(ends, -(2.0**128), 2.0**128).sum(axis=0) / 2
    is_even = f.view(np.uint32) % 2 == 0
    last = np.where(is_even, halfway, np.nextafter(halfway, -np.inf))
    return np.asarray(np.where(np.isinf(thresholds), thresholds, last))


def as_units(shares: Float, weights: Float) -> tuple[Int64, int]:
    """The weight of each class in units of 2**-exponent, with the largest class as in the shares.

    Weights that are whole numbers stay so: a share c / n, rounded, times n is off by less than
    n 2**-51.
    """
    dust = 2.0**-51
    finite = np.isfinite(shares).all() and np.isfinite(weights).all()
    if not finite or (weights <= 0).any() or (shares < -dust).any():
        raise WeightError(
            "This tree was fitted with weights that are negative, all zero or too large to be "
            "added up, so that shares of classes have no meaning: fit it again with finite weights "
            "of at least 0."
        )
    counts = shares.clip(min=0.0) * weights[:, None]
    labels, total = shares.argmax(axis=1), float(weights.max())
    whole = np.rint(counts)
    near = (np.abs(counts - whole) <= dust * weights[:, None]).all()
    same = (whole.argmax(axis=1) == labels).all() and ((whole > 0) == (counts > 0)).all()
    if near and same and total < 2.0**_TOTAL_BITS:
        return whole.astype(np.int64), 0
    return _rounded(counts, labels, _TOTAL_BITS - math.frexp(total)[1] or 1)


def _rounded(counts: Float, labels: NDArray[np.intp], exponent: int) -> tuple[Int64, int]:
    units = np.rint(np.ldexp(counts, exponent)).astype(np.int64)
    if ((units == 0) & (counts > 0)).any():
        raise WeightError(
            "This tree was fitted with weights that span too many orders of magnitude: a class of "
            "some node vanishes beside the total. Drop such rows, and fit again."
        )
    # rounding keeps the order of classes, but can make two of them equal: then the first would win
    changed = np.flatnonzero(units.argmax(axis=1) != labels)
    units[changed, labels[changed]] += 1
    return units, exponent


def _scores(units: Int64, criterion: str) -> Float:
    """The score of each test from the units of its two branches, (tests, 2, K)."""
    classes = tuple(range(units.shape[2]))
    measure = "gini_decrease" if criterion == "gini" else "gain"
    scores = [getattr(score_counts(table, (True, False), classes, 0), measure) for table in units]
    # of branches that are nearly alike, rounding leaves a bit of either sign
    return np.maximum(scores, 0.0)
