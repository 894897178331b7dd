"""Minimal cost-complexity pruning: nested trees, each the best for some price of a leaf."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sortal import native
from sortal.modelfile.fields import INF, need
from sortal.modelfile.record import limits, record
from sortal.native import trees
from sortal.native.trees import collapse_strengths
from sortal.records.tables import Shown, Table, sheet
from sortal.trees.learn import grow
from sortal.trees.rows import EncodedTreeRows, end_nodes

if TYPE_CHECKING:
    from collections.abc import Callable

    from sortal._typing import Counts, Float, Places
    from sortal.trees.learn import TreeOptions
    from sortal.trees.model import TreeModel
    from sortal.trees.rows import TreeRows

    Int64 = Counts
    Progress = Callable[[int, int], object]


# The nested trees of cost-complexity pruning as a record: sizes, errors, and which was chosen.

_HEADS = ("cp", "n_leaves", "error", "cv_error", "cv_deviation")

# Errors whose ratio is so close to 1 are equal but for the rounding of sums.
_ALIKE = 1e-12


@record(eq=True, repr=False)
class CostComplexityPath(Shown):
    """One entry a tree, from the root alone to the largest.

    A tree is the smallest of those with the least risk + cp · root's risk · leaves; it is so
    from its `cp` up to the one before. Errors are risks by the root's. `cv_error` is that of
    rows left out by `n_folds` folds, `cv_deviation` its standard deviation; None where there was no
    cross-validation. `chosen` is the place of the tree that was taken, by the rule `chosen_by`.
    """

    cp: tuple[float, ...] = limits("trees", least=0.0, most=INF)
    n_leaves: tuple[int, ...] = limits("trees", least=1)
    error: tuple[float, ...] = limits("trees", least=0.0)
    cv_error: tuple[float, ...] | None = limits("trees", least=0.0, default=None)
    cv_deviation: tuple[float, ...] | None = limits("trees", least=0.0, default=None)
    n_folds: int | None = limits(least=1, default=None)
    chosen: int | None = limits(least=0, default=None)
    chosen_by: str = ""

    def check(self) -> None:
        """Refuse a choice that is none of the trees, and half of a cross-validation."""
        need(self.cp, "no tree to choose from")
        need(self.chosen is None or self.chosen < len(self), "a choice that is none of its trees")
        need((self.cv_error is None) == (self.cv_deviation is None), "errors without deviations")

    def __len__(self) -> int:
        return len(self.cp)

    def limit(self) -> float:
        """The least error of rows left out, and one standard deviation of it. (S 33)"""
        if self.cv_error is None or self.cv_deviation is None:
            raise TypeError("these trees were not cross-validated")
        best = self._first_within(min(self.cv_error))
        return self.cv_error[best] + self.cv_deviation[best]

    def choose(self, rule: str) -> int:
        """The place of the tree with the least cv_error, or of the smallest within its limit."""
        if self.cv_error is None:
            raise TypeError("these trees were not cross-validated")
        return self._first_within(self.limit() if rule == "one_se" else min(self.cv_error))

    def _first_within(self, most: float) -> int:
        """The smallest tree whose error on rows left out is at most so much."""
        errors = self.cv_error or ()
        return next(i for i, error in enumerate(errors) if error <= most * (1 + _ALIKE))

    def place_of(self, cp: float) -> int:
        """The place of the tree for any cp."""
        return next((i for i, s in enumerate(self.cp) if s <= cp), len(self) - 1)

    def to_table(self) -> Table:
        """One row a tree, the smallest first."""
        heads = _HEADS if self.cv_error is not None else _HEADS[:3]
        taken = ["" if i != self.chosen else self.chosen_by or "yes" for i in range(len(self))]
        columns = {name: getattr(self, name) for name in heads} | {"chosen": taken}
        title = "Trees of cost-complexity pruning" + self._validated()
        return sheet("complexity", title, columns, "S 31")

    def _validated(self) -> str:
        return "" if self.n_folds is None else f", cross-validated by {self.n_folds} folds"


# Prices of a leaf that differ by no more, relatively, are equal.
EQUAL_WITHIN = 1e-12


def strengths_of(model: TreeModel) -> Float:
    """For each node the least α at which it is a leaf, or gone. (S 31)"""
    return collapse_strengths(model.child_start, model.children, model.risk())


def complexity_path(model: TreeModel) -> CostComplexityPath:
    """The nested trees from the root alone to the smallest one that errs no more than the whole.

    Strength is α by the root's risk, and so is error the risk of a tree. A root without risk has
    one row. (S 31)
    """
    strengths, risk = strengths_of(model), model.risk()
    root = float(risk[0]) or 1.0
    levels = np.unique(strengths)
    leaves = sum_by_level(model, strengths, levels, np.ones(model.n_nodes))
    risks = sum_by_level(model, strengths, levels, risk)
    return CostComplexityPath(
        cp=tuple((levels[::-1] / root).tolist()),
        n_leaves=tuple(leaves[::-1].astype(int).tolist()),
        error=tuple((risks[::-1] / root).tolist()),
    )


def places_in(path: CostComplexityPath, model: TreeModel) -> Places:
    """For each node the first tree of the model's path in which it is a test.

    A node that no tree of the path asks at, since it is a leaf or saves nothing, has their number.
    """
    root = float(model.risk()[0]) or 1.0
    ascending = np.array(path.cp[::-1])
    # `prune_to` makes a node a leaf at every cp that is no smaller
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


def _places(levels: Float, strengths: Float) -> Places:
    """The first level that is no smaller than each cp."""
    return np.searchsorted(levels, strengths * (1 - EQUAL_WITHIN))


# Rows that a tree was not grown from: what they cost it, and cross-validation as rpart has it.


class PassingWeight(NamedTuple):
    """The weight of each class of rows that pass through each node, and of those that end there."""

    through: Float
    ending: Float


def pass_rows(model: TreeModel, rows: TreeRows) -> PassingWeight:
    """Rows sent down a tree; where missing values spread, parts of rows."""
    if model.policy == "fractional":
        return _pass_parts(model, rows)
    ends = end_nodes(model, rows.encoded)
    K = model.units.shape[1]
    ending = native.count_codes(ends, model.n_nodes, rows.classes, K, rows.units)
    before = np.concatenate([np.zeros_like(ending[:1]), np.cumsum(ending, axis=0)])
    through = before[model.ends()] - before[:-1]  # the nodes below follow in preorder
    return PassingWeight(_weights(through, rows.exponent), _weights(ending, rows.exponent))


def _pass_parts(model: TreeModel, rows: TreeRows) -> PassingWeight:
    weights = np.ones(len(rows.classes)) if rows.units is None else rows.units.astype(np.float64)
    through = trees.spread_counts(
        model.arrays,
        rows.encoded.columns,
        model.n_values,
        model.pull(),
        rows.classes,
        np.ldexp(weights, -rows.exponent),
        model.units.shape[1],
    )
    ending = through.copy()
    np.subtract.at(ending, np.maximum(model.parents(), 0)[1:], through[1:])
    return PassingWeight(through, np.maximum(ending, 0.0))  # less than nothing is rounding


def _weights(units: Int64, exponent: int) -> Float:
    return np.ldexp(units.astype(np.float64), -exponent)


def costs_of(model: TreeModel) -> Float:
    """What a unit of weight of class i costs where class j is said: a row i, a column j."""
    costs = 1.0 - np.eye(model.units.shape[1]) if model.costs is None else model.costs
    return costs if model.factors is None else model.factors[:, None] * costs


def cost_of(passing: Float, labels: Places, costs: Float) -> Float:
    """What the rows of each node cost if the node says its label."""
    return np.asarray(np.einsum("tk,tk->t", passing, costs.T[labels]))


def take_rows(rows: TreeRows, places: Places) -> TreeRows:
    """Some of the rows; values and classes stay those of all."""
    encoded = rows.encoded
    columns = tuple(column[places] for column in encoded.columns)
    units = None if rows.units is None else rows.units[places]
    return replace(
        rows,
        encoded=EncodedTreeRows(columns, encoded.missing, encoded.unknown),
        classes=rows.classes[places],
        units=units,
    )


def cross_validate(
    model: TreeModel,
    rows: TreeRows,
    options: TreeOptions,
    folds: Places,
    threads: int,
    progress: Progress | None = None,
) -> CostComplexityPath:
    """The path of a tree with the cost of rows left out, as rpart finds it. (S 33)

    For each fold a tree grows from the other rows. For each row of the path it is pruned between
    that cp and the one before, and says the rows left out. `progress` is called after every
    fold, with how many are done and how many there are; what it raises ends the validation.
    """
    path, rows = complexity_path(model), _side_by_side(rows)
    risk, total = float(model.risk()[0]) or 1.0, float(np.ldexp(rows.total_units, -rows.exponent))
    levels = _between(path) * risk
    sums = np.zeros((2, len(levels)))
    n_folds = int(folds.max()) + 1
    for fold in range(n_folds):
        left_out = folds == fold
        grown_from = take_rows(rows, np.flatnonzero(~left_out))
        tree = grow(grown_from, options, threads)
        share = np.ldexp(grown_from.total_units, -rows.exponent) / total
        judges = take_rows(rows, np.flatnonzero(left_out))
        sums += _cost_by_level(tree, judges, levels * share, costs_of(model))
        if progress is not None:
            progress(fold + 1, n_folds)
    cost, squares = sums[:, ::-1]
    weight_of_row = total / float(model.effective_rows()[0])
    deviation = np.sqrt(np.maximum(squares - cost**2 / total, 0.0) * weight_of_row)
    return replace(
        path,
        cv_error=tuple((cost / risk).tolist()),
        cv_deviation=tuple((deviation / risk).tolist()),
        n_folds=n_folds,
    )


def _side_by_side(rows: TreeRows) -> TreeRows:
    """The cells of a column together, where ten times some of them are taken."""
    encoded = rows.encoded
    columns: tuple[Any, ...] = tuple(np.ascontiguousarray(x) for x in encoded.columns)
    return replace(rows, encoded=replace(encoded, columns=columns))


def _between(path: CostComplexityPath) -> Float:
    """Ascending: the geometric mean of each cp and the next, and no test at all."""
    cp = np.array(path.cp[::-1])
    return np.concatenate([np.sqrt(cp[:-1] * cp[1:]), [np.inf]])


def _cost_by_level(tree: TreeModel, rows: TreeRows, levels: Float, costs: Float) -> Float:
    """What rows cost a tree pruned at each level: the costs and their squares, by weight."""
    passing, labels = pass_rows(tree, rows), tree.labels()
    strengths = strengths_of(tree)
    return np.array(
        [
            sum_by_level(
                tree,
                strengths,
                levels,
                cost_of(passing.through, labels, table),
                cost_of(passing.ending, labels, table),
            )
            for table in (costs, costs**2)
        ]
    )
