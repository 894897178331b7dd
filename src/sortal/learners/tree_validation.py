"""Rows that a tree was not grown from: what they cost it, and cross-validation as rpart has it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sortal import native
from sortal.learners.tree import grow
from sortal.learners.tree_complexity import complexity_path, strengths_of, sum_by_level
from sortal.models.tree_blocks import Encoded, end_nodes
from sortal.native import trees

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sortal.learners.tree import TreeOptions, TreeRows
    from sortal.models.complexity import Complexity
    from sortal.models.tree import TreeModel

    Float = NDArray[np.float64]
    Int64 = NDArray[np.int64]
    Progress = Callable[[int, int], object]


class Passing(NamedTuple):
    """The weight of each class of rows that pass through each node, and of those that end there."""

    through: Float
    ending: Float


def pass_rows(model: TreeModel, rows: TreeRows) -> Passing:
    """Rows sent down a tree; where holes spread, parts of rows."""
    if model.policy == "fractional":
        return _pass_parts(model, rows)
    ends = end_nodes(model, rows.encoded)
    K = model.units.shape[1]
    ending = native.count_codes(ends, model.n_nodes, rows.classes, K, rows.units)
    before = np.concatenate([np.zeros_like(ending[:1]), np.cumsum(ending, axis=0)])
    through = before[model.ends()] - before[:-1]  # the nodes below follow in preorder
    return Passing(_weights(through, rows.exponent), _weights(ending, rows.exponent))


def _pass_parts(model: TreeModel, rows: TreeRows) -> Passing:
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
    return Passing(through, np.maximum(ending, 0.0))  # less than nothing is rounding


def _weights(units: Int64, exponent: int) -> Float:
    return np.ldexp(units.astype(np.float64), -exponent)


def costs_of(model: TreeModel) -> Float:
    """What a unit of weight of class i costs where class j is said: a row i, a column j."""
    costs = 1.0 - np.eye(model.units.shape[1]) if model.costs is None else model.costs
    return costs if model.factors is None else model.factors[:, None] * costs


def cost_of(passing: Float, labels: NDArray[np.intp], costs: Float) -> Float:
    """What the rows of each node cost if the node says its label."""
    return np.asarray(np.einsum("tk,tk->t", passing, costs.T[labels]))


def take_rows(rows: TreeRows, places: NDArray[np.intp]) -> TreeRows:
    """Some of the rows; values and classes stay those of all."""
    encoded = rows.encoded
    columns = tuple(column[places] for column in encoded.columns)
    units = None if rows.units is None else rows.units[places]
    return replace(
        rows,
        encoded=Encoded(columns, encoded.holes, encoded.unknown),
        classes=rows.classes[places],
        units=units,
    )


def cross_validate(
    model: TreeModel,
    rows: TreeRows,
    options: TreeOptions,
    folds: NDArray[np.intp],
    threads: int,
    progress: Progress | None = None,
) -> Complexity:
    """The path of a tree with the cost of rows left out, as rpart finds it. (S 33)

    For each fold a tree grows from the other rows. For each row of the path it is pruned between
    that strength and the one before, and says the rows left out. `progress` is called after every
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


def _between(path: Complexity) -> Float:
    """Ascending: the geometric mean of each strength and the next, and no test at all."""
    strength = np.array(path.strength[::-1])
    return np.concatenate([np.sqrt(strength[:-1] * strength[1:]), [np.inf]])


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
