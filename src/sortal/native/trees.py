"""Trees by the compiled core: grown, asked for rows, their tests scored, pruned.

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

    from sortal._typing import Codes, Counts, Float, Mask

    Int8 = NDArray[np.int8]
    Int32 = Codes
    Int64 = Counts

# What a node asks, and how a column is asked: x <= v, x in V, or one branch per value.
LEAF, CUT, SUBSET, MULTIWAY = range(4)

# The criteria by number.
CRITERIA = tuple(_core.criterion_names())

# What missing values do at a node of their attribute, by number.
POLICIES = ("direction", "branch", "majority", "fractional")

# In the place of the branch of missing values: the fit met none there; they go down every branch.
NOTHING_MISSING, SPREAD = -1, -2

# Stands for "no bound" where a bound is a count.
NO_BOUND = 1 << 62

# Labels have two bytes.
MOST_CLASSES = 65535


class Grown(NamedTuple):
    """A tree of N nodes over K classes.

    `values` are the codes present in a node that tests a category, ascending, and `branches` the
    branch each takes. `heavier` is the branch of larger weight, -1 at leaves and multiway nodes.
    `units` (N, K) and `sizes` say what a node holds. `score` is in the criterion's textbook scale,
    `gain` the same but in bits for the gain ratio; both are 0 at leaves. `missing` is the branch of
    missing values, NO_HOLES or SPREAD.
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
    exact: Mask
    candidates: Float
    missing: Int32


class Growth(NamedTuple):
    """When a node is a leaf, and which tests are allowed; -1 is no depth and no number of leaves.

    `min_size` and `min_units` are the least that a side of a test holds, `max_subset` the most
    values in V. With the last policy, a row has 2**part_bits parts, counted in units that are
    2**unit_bits as fine.
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
    policy: int = 0
    part_bits: int = 0
    unit_bits: int = 0


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
    missing: Int32


class TreeRowWeights(NamedTuple):
    """What rows count for: units (None: one each), and sizes.

    With `copies`, a row's size is its units, else what `sizes` says, else one.
    """

    units: Int64 | None = None
    copies: bool = True
    sizes: Int64 | None = None


class TreeColumns(NamedTuple):
    """The columns that a tree grows from, and how each is asked.

    A column is of float64 (CUT) or of int32 codes below n_values[j]. Where it has missing values,
    these are NaN or the code n_values[j].
    """

    arrays: Sequence[Float | Int32]
    kinds: Sequence[int]
    n_values: Sequence[int]
    missing: Sequence[bool]


def grow_options(growth: Growth) -> _core.GrowOptions:
    """The same as the core reads them."""
    options = _core.GrowOptions()
    for name, value in growth._asdict().items():
        setattr(options, name, value)
    return options


def grow_tree(
    columns: TreeColumns,
    classes: Int32,
    n_classes: int,
    weights: TreeRowWeights,
    growth: Growth,
    threads: int,
) -> Grown:
    """Grow a tree. Threads change no bit."""
    options = grow_options(growth)
    return Grown(*_core.grow_tree(*columns, classes, n_classes, weights, options, threads))


# Rows on their way down a tree: where they end, what nodes answer by their parts, and the weight of
# each class that comes to each node; see cpp/trees/tree.hpp.
route_rows = _core.route_rows
spread_answers = _core.spread_answers
spread_counts = _core.spread_counts


# --- All tests of a node, listed, judged and ranked by the compiled core --------------------------

# Where the missing values of a test go, by number: to a side, which they may be alone, to a branch
# of their own, down every branch.
GOES = ("yes", "no", "alone", "own branch", "every branch")


class NodeColumn(NamedTuple):
    """What a node holds of a column: ascending values, their units by class, and their sizes.

    `missing` are the same units of rows without a value. Sets are listed in places of values, a
    missing value behind all; `asked` is one that is listed in any case.
    """

    kind: int
    values: Float
    counts: Int64
    sizes: Int64
    missing: Int64
    missing_size: int
    asked: Sequence[int] = ()


class ColumnTests(NamedTuple):
    """The tests of a column, those first that are taken first among equals.

    `yes` and `no` are units by class on both sides, a row a test; one branch a value is one test
    without sides. `thresholds` are of cuts, infinite between known and missing, `sets` of subsets.
    `missing` are places in `GOES`; of one branch a value missing values may have `joined` one (else
    -1), and `join_scores` are those with the missing values in each. `information` is the split
    information in bits. `ranks` count from 1 among all tests of the node, 0 if not allowed; those
    that are `tied` are as good as the best. `exact` says whether the best of all is listed for
    certain, `candidates` how many there are or were looked at. `offer` is the best test, -1 if
    none, and `competes` whether that takes part in the choice, as not all do by the gain ratio.
    """

    yes: Int64
    no: Int64
    thresholds: Float
    sets: list[list[int]]
    missing: Int8
    scores: Float
    gains: Float
    information: Float
    allowed: Mask
    tied: Mask
    ranks: Int64
    exact: bool
    candidates: float
    offer: int
    competes: bool
    joined: int
    join_scores: Float


def node_tests(columns: Sequence[NodeColumn], total: int, growth: Growth) -> list[ColumnTests]:
    """The tests that a node could ask; `total` are the units of the whole fit."""
    found = _core.node_tests(list(columns), total, grow_options(growth))
    return [ColumnTests(*tests) for tests in found]


# When nodes become leaves, and what an upper bound adds to the errors among n rows: see
# cpp/trees/pruning.
collapse_strengths = _core.collapse_strengths
added_errors = _core.added_errors
