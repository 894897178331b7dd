"""Trees: grown from a table and asked for rows, by the compiled core.

Nodes are numbered in preorder from 0. The lists of node t's branches and of its values are
children[child_start[t] : child_start[t + 1]] and values[value_start[t] : value_start[t + 1]].
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sortal.native import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Bool = NDArray[np.bool_]
    Float = NDArray[np.float64]
    Int8 = NDArray[np.int8]
    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

# What a node asks, and how a column is asked: x <= v, x in V, or one branch per value.
LEAF, CUT, SUBSET, MULTIWAY = range(4)

# The criteria by number.
CRITERIA = ("gain", "gain_ratio", "gini", "cart")

# Stands for "no bound" where a bound is a count.
NO_BOUND = 1 << 62

# Where holes go at a test that sends them down every branch, by the weight of each.
SPREAD = -2

# Labels have two bytes.
MOST_CLASSES = 65535


class Grown(NamedTuple):
    """A tree of N nodes over K classes.

    `values` are the codes present in a node that tests a category, ascending, and `branches` the
    branch each takes. `heavier` is the branch of larger weight, -1 at leaves and multiway nodes.
    `units` (N, K) and `sizes` say what a node holds. `score` is in the criterion's textbook scale,
    `gain` the same but in bits for the gain ratio; both are 0 at leaves.
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
    units: Int64
    sizes: Int64
    score: Float
    gain: Float
    exact: Bool
    candidates: Float


class Growth(NamedTuple):
    """When a node is a leaf, and which tests are allowed; -1 is no depth and no number of leaves.

    `min_size` and `min_units` are the least that a side of a test holds, `max_subset` the most
    values in V.
    """

    criterion: int
    leaf_size: int
    purity: float
    max_depth: int
    min_size: int
    min_units: int
    min_gain: float
    max_leaves: int
    max_subset: int


class TreeArrays(NamedTuple):
    """Of a tree what rows need to find their way; fields as in `Grown`."""

    kind: Int8
    attribute: Int32
    threshold: Float
    child_start: Int64
    children: Int32
    value_start: Int64
    values: Int32
    branches: Int32
    heavier: Int32


def grow_tree(
    columns: Sequence[Float | Int32],
    kinds: Sequence[int],
    n_values: Sequence[int],
    classes: Int32,
    n_classes: int,
    units: Int64 | None,
    copies: bool,
    growth: Growth,
    threads: int,
) -> Grown:
    """Grow a tree. A column is of finite float64 (CUT) or of int32 codes below n_values[j].

    With `copies`, sizes are sums of units, else counts of rows. Threads change no bit.
    """
    grown = _core.grow_tree(
        list(columns),
        list(kinds),
        list(n_values),
        classes,
        n_classes,
        units,
        copies,
        *growth,
        threads,
    )
    return Grown(*grown)


def route_rows(
    tree: TreeArrays,
    columns: Sequence[Float | Int32],
    n_values: Sequence[int],
    out: Int32,
    fallback: Int32 | None = None,
) -> None:
    """out[i]: the node where row i ends, a leaf or a multiway node that lacks the row's value.

    A negative code, one that the node lacks, and NaN take the heavier branch (multiway: stop);
    fallback[i] is the first node where that happened, -1 if none.
    """
    _core.route_rows(*tree, list(columns), list(n_values), out, fallback)
