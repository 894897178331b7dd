"""The fitted tree: nodes in preorder as arrays, read only. Nothing here recurses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sortal._typing import Codes, Counts, Float, Mask
from sortal.data.columns import Schema
from sortal.modelfile.fields import INF, need
from sortal.modelfile.record import limits, record
from sortal.native.trees import (
    CUT,
    LEAF,
    MULTIWAY,
    NOTHING_MISSING,
    POLICIES,
    SPREAD,
    SUBSET,
    TreeArrays,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal._typing import Places
    from sortal.data.columns import Value, Values

    Int = NDArray[np.integer]


Int8 = NDArray[np.int8]
Int32 = Codes
Int64 = Counts


# Whether arrays from a file are a tree: no way leads out of them, in a circle, or to nothing.


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
    need((model.missing[leaf] == NOTHING_MISSING).all(), "a leaf that leads missing values on")
    spreads = (model.missing == SPREAD).any()
    need(
        not spreads or model.policy == "fractional",
        "missing values that spread where they must not",
    )


def _check_cuts(model: TreeModel) -> None:
    """A cut is at a number; of an ordered category at a rank, or above all for missing."""
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


# Shares of the classes in the nodes of a tree, drawn towards others, and what is said for them.

SMOOTHINGS = ("laplace", "m_estimate", "shrinkage")

_EPS = float(np.finfo(float).eps)


@record(eq=True)
class Smoothing:
    """What shares are drawn to, one of `SMOOTHINGS`, and how strongly: m or λ; Laplace has none."""

    kind: str = limits(among=SMOOTHINGS)
    strength: float = limits(least=0.0, default=0.0)


def plain_shares(counts: NDArray[np.number]) -> Float:
    """The share of each class in each row of counts."""
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))


def smooth(model: TreeModel, smoothing: Smoothing) -> Float:
    """The shares of all nodes, smoothed."""
    shares, n = model.plain_shares(), model.effective_rows()
    if smoothing.kind == "laplace":
        return laplace(shares, n)
    if smoothing.kind == "m_estimate":
        return m_estimate(shares, n, smoothing.strength)
    return shrink(shares, n, model.parents(), smoothing.strength)


def laplace(shares: Float, n: Float) -> Float:
    """(n s_k + 1) / (n + K), s the plain shares. (S 38)"""
    return np.asarray((n[:, None] * shares + 1) / (n[:, None] + shares.shape[1]))


def m_estimate(shares: Float, n: Float, m: float) -> Float:
    """(n s_k + m p_k) / (n + m), p the shares of the root. (S 39)"""
    return np.asarray((n[:, None] * shares + m * shares[0]) / (n[:, None] + m))


def shrink(shares: Float, n: Float, parents: NDArray[np.integer], strength: float) -> Float:
    """p(t) = p(parent) + (s(t) - s(parent)) / (1 + λ / n(parent)), s the plain shares. (S 40)

    With a(t) = n(t) / (n(t) + λ) this is a(parent) s(t) + Σ (a(above u) - a(u)) s(u) over the nodes
    u above t, where a is 1 above the root: a mean of the shares on the path, and nothing cancels.
    A node counts for no more rows than those above it, whatever its rows weigh.
    """
    keep = _to_root(np.minimum, n / (n + strength), parents)
    above = np.concatenate([[1.0], keep[parents[1:]]])  # the root comes first
    upper = _to_root(np.add, (above - keep)[:, None] * shares, parents)
    upper = np.concatenate([np.zeros_like(shares[:1]), upper[parents[1:]]])
    return np.asarray(upper + above[:, None] * shares)


def _to_root(combine: np.ufunc, values: Float, parents: NDArray[np.integer]) -> Float:
    """Each node's value with all above it; the way of a node doubles until it is at the root."""
    found, ahead = values.copy(), parents.copy()
    while (climbing := np.flatnonzero(ahead >= 0)).size:
        met = ahead[climbing]
        found[climbing] = combine(found[climbing], found[met])
        ahead[climbing] = ahead[met]
    return found


def reweigh(shares: Float, old: Float, new: Float) -> Float:
    """Shares for other priors: Bayes' rule, share_k new_k / old_k up to their sum.

    A node of nothing but classes that cannot be says nothing: there the new priors stand.
    """
    ratio = np.divide(new, old, out=np.zeros_like(new), where=old > 0)
    turned = shares * ratio
    total = turned.sum(axis=1, keepdims=True)
    return np.where(total > 0, turned / np.where(total > 0, total, 1.0), new)


def decide_labels(amounts: Float, costs: Float | None) -> Places:
    """The class of the largest amount, or of least expected cost, in each row; the first of equals.

    Amounts are shares or weights. Those that differ by the rounding of their sums are equal. (S 37)
    """
    slack = (16 + amounts.shape[1]) * _EPS
    if costs is None:
        enough = amounts.max(axis=1, keepdims=True) * (1 - slack)
        return np.asarray((amounts >= enough).argmax(axis=1))
    expected = amounts @ costs
    least = expected.min(axis=1, keepdims=True) * (1 + slack)
    return np.asarray((expected <= least).argmax(axis=1))


@record()
class TreeModel:
    """Nodes over a schema's columns and classes; arrays as in `native.trees.Grown`.

    `column_kinds[j]` is how column j is asked (CUT, SUBSET, MULTIWAY); an ordered category that is
    cut is cut on its ranks. `unseen[j]` are the codes of values that the column's type declares
    and no row had; of a column that is cut none, since such a rank has its place in the order. A
    unit of weight is 2**-exponent.

    `rows` counts the rows of each class in each node, whatever they weigh, and `effective` how many
    rows of one weight would tell as much; None where weights are copies of rows, and `units` say
    both. `ranges[j]` is the least and the greatest number of column
    j; None of categories, and altogether where the rows of the fit are not known.

    Units are the weights of the rows as given. `factors` say what a unit of each class counts for
    in shares, all rows counting for their weight together; None is 1 for all. `costs[i, j]` is the
    cost of saying j when i is true; None is 1 for all that is wrong. `smoothing` says how shares
    are read.

    `missing[t]` is the branch that missing values took at fit in node t: -1 where none was met,
    SPREAD where they take every branch, a row having 2**part_bits parts. `missing_counts[j]` counts
    those of column j, and `policy` is the option by which they found their way. `pruned` says that
    tests were taken out again.
    """

    schema: Schema
    column_kinds: tuple[int, ...] = limits("columns", least=1, most=3)
    unseen: tuple[tuple[int, ...], ...] = limits("columns", least=0)
    exponent: int = limits(least=-1200, most=1300)
    kind: Int8 = limits("nodes", least=0, most=3)
    attribute: Int32 = limits("nodes", least=-1)
    threshold: Float = limits("nodes", least=-INF, most=INF, nan=True)
    child_start: Int64 = limits("nodes+1", least=0)
    children: Int32 = limits("children", least=1)
    value_start: Int64 = limits("nodes+1", least=0)
    values: Int32 = limits("values", least=0)
    branches: Int32 = limits("values", least=0)
    heavier: Int32 = limits("nodes", least=-1)
    units: Int64 = limits("nodes", "classes", least=0)
    sizes: Int64 = limits("nodes", least=0)
    score: Float = limits("nodes", least=0.0)
    gain: Float = limits("nodes", least=0.0)
    exact: Mask = limits("nodes")
    candidates: Float = limits("nodes", least=0.0, most=INF)
    missing: Int32 = limits("nodes", least=SPREAD)
    rows: Int64 | None = limits("nodes", "classes", least=0, default=None)
    effective: Float | None = limits("nodes", "classes", least=0.0, default=None)
    ranges: tuple[tuple[float, float] | None, ...] | None = limits("columns", default=None)
    policy: str = limits(among=(*POLICIES, "error"), default="error")
    missing_counts: tuple[int, ...] = limits("columns", least=0, default=())
    part_bits: int = limits(least=0, most=61, default=0)
    pruned: bool = False
    factors: Float | None = limits("classes", least=0.0, default=None)
    costs: Float | None = limits("classes", "classes", least=0.0, default=None)
    smoothing: Smoothing | None = None

    def check(self) -> None:
        """Refuse nodes that are no tree, and weights that are none."""
        check_nodes(self)
        check_weights(self)

    def __post_init__(self) -> None:
        if not self.missing_counts:
            object.__setattr__(self, "missing_counts", (0,) * len(self.schema.columns))

    @property
    def classes(self) -> Values:
        """The classes, sorted."""
        return self.schema.classes

    @property
    def n_nodes(self) -> int:
        """How many nodes there are."""
        return len(self.kind)

    @property
    def n_leaves(self) -> int:
        """How many of them are leaves."""
        return int(np.count_nonzero(self.kind == LEAF))

    @property
    def unused(self) -> dict[int, Value | None]:
        """The columns that no node asks, and for each a value that stands for its cells."""
        asked = set(self.attribute.tolist())
        filled: dict[int, Value | None] = {}
        for j, column in enumerate(self.schema.columns):
            if j not in asked:
                seen = (v for i, v in enumerate(column.values) if i not in self.unseen[j])
                filled[j] = 0.0 if column.is_number else next(seen, None)
        return filled

    @property
    def size(self) -> int:
        """How many numbers predict needs.

        A leaf has one, what it says; a cut two, the attribute and the threshold; a test of words
        one and the values that it lists (of x in V those of V); each one more where missing values
        have a branch.
        """
        owner = np.repeat(self.kind, np.diff(self.value_start))
        listed = np.count_nonzero((owner == MULTIWAY) | ((owner == SUBSET) & (self.branches == 0)))
        asks = self.kind != LEAF
        missing = np.count_nonzero(asks & (self.missing >= 0))
        return int(self.n_nodes + np.count_nonzero(self.kind == CUT) + listed + missing)

    @property
    def arrays(self) -> TreeArrays:
        """What rows need to find their way."""
        return TreeArrays(*(getattr(self, name) for name in TreeArrays._fields))

    @property
    def n_values(self) -> tuple[int, ...]:
        """How many codes each column has; 0 where it is cut."""
        return code_counts(self.schema, self.column_kinds)

    @property
    def row_exponent(self) -> int:
        """A whole row's weight is a multiple of 2**-row_exponent."""
        return self.exponent - self.part_bits

    def weights(self) -> Float:
        """The weight of each class in each node."""
        return np.ldexp(self.units.astype(np.float64), -self.exponent)

    @property
    def class_weights(self) -> Int64:
        """The units of each class of the rows that the tree grew from."""
        return np.asarray(self.units[0])

    def counts(self) -> Float | Int64:
        """The weights as one writes them: whole numbers where they are."""
        return self.units if self.exponent == 0 else self.weights()

    def counted(self) -> Float:
        """The weight of each class in each node, times its factor. (S 36)"""
        return self.weights() if self.factors is None else self.weights() * self.factors

    def shares(self) -> Float:
        """The share of each class in each node, smoothed where that was asked for."""
        return self.plain_shares() if self.smoothing is None else smooth(self, self.smoothing)

    def plain_shares(self) -> Float:
        """The same before smoothing."""
        return plain_shares(self._counts())

    def labels(self) -> Places:
        """What each node says: the class of largest share, or of least expected cost."""
        if self.smoothing is not None:
            return decide_labels(self.shares(), self.costs)
        return self._plain_labels()

    def purity(self) -> Float:
        """The share of the largest class in each node, before smoothing. (ZM 19.2)"""
        counts = self._counts()
        return np.asarray(counts.max(axis=1) / counts.sum(axis=1))

    def error(self) -> Float:
        """The share of all classes in each node that it does not say, before smoothing."""
        counts = self._counts()
        return np.asarray(_besides(counts, self.labels()) / counts.sum(axis=1))

    def risk(self) -> Float:
        """Σ_k factor_k weight_k costs[k, j] of each node, j what it says before smoothing. (S 37)

        That is the least of all j, so that branches together never have more than their node.
        Whole where weights are, unless there are factors or costs.
        """
        if self.costs is not None:
            return np.asarray((self.counted() @ self.costs).min(axis=1))
        wrong = _besides(self._counts(), self._plain_labels())
        return np.ldexp(np.asarray(wrong, dtype=np.float64), -self.exponent)

    def effective_rows(self, factors: Float | None = None) -> Float:
        """(Σ w)² / Σ w² over the rows of each node, times a factor a class. (S 96)

        Whole-number weights are copies of rows, and copies are rows.
        """
        units = self.units.astype(np.float64) if factors is None else self.units * factors
        n = self.weights() if self.effective is None else self.effective
        mean = np.divide(units, n, out=np.zeros_like(units), where=n > 0)
        total = units.sum(axis=1)
        return np.asarray(total / ((units * mean).sum(axis=1) / total))

    def pull(self, nodes: Int | slice = slice(None)) -> Float:
        """The weight of nodes, or of some, as it counts in the choice of tests. (S 36)"""
        units = self.units[nodes].astype(np.float64)
        if self.factors is None and self.costs is None:
            return np.asarray(units.sum(axis=1))
        return np.asarray(np.ldexp(units, -self.exponent) @ self.pull_of_class())

    def pull_of_class(self) -> Float:
        """factor_k Σ_j costs[k, j], so that all rows together count for their weight. (S 36)"""
        factors = np.ones(len(self.classes)) if self.factors is None else self.factors
        pull = factors if self.costs is None else factors * self.costs.sum(axis=1)
        weight = np.ldexp(self.units[0].astype(np.float64), -self.exponent)
        return np.asarray(pull * (weight.sum() / (pull @ weight)))

    def _counts(self) -> Int64 | Float:
        """Units, as whole numbers where they can be, times factors."""
        return self.units if self.factors is None else self.units * self.factors

    def _plain_labels(self) -> Places:
        if self.factors is None and self.costs is None:
            return np.asarray(self.units.argmax(axis=1))
        return decide_labels(self.counted(), self.costs)

    def below(self, t: int) -> Int32:
        """The nodes that the branches of node t lead to."""
        return self.children[self.child_start[t] : self.child_start[t + 1]]

    def parents(self) -> Int32:
        """The node above each node; -1 for the root."""
        parent = np.full(self.n_nodes, -1, dtype=np.int32)
        parent[self.children] = np.repeat(np.arange(self.n_nodes), np.diff(self.child_start))
        return parent

    def parent_branches(self) -> Int32:
        """The branch of its parent by which a node is reached; -1 for the root."""
        branch = np.full(self.n_nodes, -1, dtype=np.int32)
        first = np.repeat(self.child_start[:-1], np.diff(self.child_start))
        branch[self.children] = np.arange(len(self.children)) - first
        return branch

    def depths(self) -> Int32:
        """How many tests lie above each node."""
        depth = [0] * self.n_nodes
        for t, above in enumerate(self.parents().tolist()[1:], start=1):
            depth[t] = depth[above] + 1  # in preorder a parent comes before its children
        return np.array(depth, dtype=np.int32)

    def ends(self) -> Int64:
        """For each node the number after the last node below it: in preorder these follow it."""
        parent, end = self.parents().tolist(), list(range(1, self.n_nodes + 1))
        for t in range(self.n_nodes - 1, 0, -1):
            end[parent[t]] = max(end[parent[t]], end[t])
        return np.array(end, dtype=np.int64)

    def leaves_below(self) -> Int64:
        """How many leaves each node has below it; a leaf has itself."""
        before = np.concatenate([[0], np.cumsum(self.kind == LEAF)])
        return np.asarray(before[self.ends()] - before[:-1])

    def size_text(self) -> str:
        """How large it is, in words."""
        if self.n_nodes == 1:
            return "1 node, a leaf"
        return f"{self.n_nodes:,} nodes, {self.n_leaves:,} of them leaves"

    def depth(self) -> int:
        """The most tests a row can meet."""
        return int(self.depths().max())

    def paths(self, nodes: NDArray[np.integer]) -> tuple[Int64, Int32]:
        """The nodes from the root to each of `nodes`, ascending: (starts, nodes) as in CSR."""
        parent, depth = self.parents(), self.depths()
        starts = np.zeros(len(nodes) + 1, dtype=np.int64)
        np.cumsum(depth[nodes] + 1, dtype=np.int64, out=starts[1:])
        met = np.empty(starts[-1], dtype=np.int32)
        at, place = np.asarray(nodes), starts[1:] - 1
        while len(at):
            met[place] = at
            above = parent[at]
            climbing = above >= 0
            at, place = above[climbing], place[climbing] - 1
        return starts, met

    def importances(self) -> Float:
        """Σ weight · gain over the nodes that ask an attribute, as shares of all; 0 if none do.

        Weight is as it counts in tests, gain the criterion's own measure, bits for the gain ratio.
        (S 28)
        """
        tests = self.kind != LEAF
        gained = self.pull()[tests] * self.gain[tests]
        sums = np.bincount(self.attribute[tests], gained, minlength=len(self.column_kinds))
        return np.asarray(sums / sums.sum() if sums.any() else sums)


def code_counts(schema: Schema, column_kinds: Sequence[int]) -> tuple[int, ...]:
    """How many codes each column has; 0 where it is cut."""
    pairs = zip(schema.columns, column_kinds, strict=True)
    return tuple(0 if kind == CUT else len(column.values) for column, kind in pairs)


def _besides(counts: NDArray[np.number], labels: Places) -> NDArray[np.number]:
    """What each row counts of other classes than its label."""
    said = np.take_along_axis(counts, labels[:, None], axis=1)[:, 0]
    return np.asarray(counts.sum(axis=1) - said)
