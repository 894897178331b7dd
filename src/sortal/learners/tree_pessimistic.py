"""Pessimistic pruning as C4.5 does it: errors are estimated by an upper bound of their rate."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sortal.learners.tree import with_rows
from sortal.learners.tree_cutting import cut_below
from sortal.learners.tree_weights import multiples_of, scale_rows, unscale
from sortal.native import trees
from sortal.native.judging import judge_parts, judge_tests
from sortal.native.pruning import added_errors, prune_raising

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.learners.tree import TreeRows
    from sortal.models.tree import TreeModel
    from sortal.native.pruning import Raised

    Float = NDArray[np.float64]

# Estimates that differ by no more are equal, as in C4.5.
ALLOWANCE = 0.1


# The level by default: its bounds, and the rows down to which it would be 1.
_LOWEST, _HIGHEST, _FEW = 0.001, 0.5, 15.0


class RaisedTree(NamedTuple):
    """A pruned tree, and how many of its tests have taken the place of another."""

    model: TreeModel
    n_moved: int


def default_level(model: TreeModel) -> float:
    """The level of the bound where none is given: it falls with the table's rows. (S 97)"""
    n = float(model.effective_rows(model.pull_of_class())[0])
    return max(_LOWEST, min(_HIGHEST, (_FEW / n) ** 2))


def estimated_errors(model: TreeModel, confidence: float) -> Float:
    """The errors of each node as a leaf, and what is added to them. (S 32) (S 96)

    Errors are the weight of all classes but the most frequent, where priors, class weights and
    costs count as they do in tests (S 36). The bound is that of the node's effective rows; in sums
    a node counts by its weight, all rows together for the effective rows of the root.
    """
    pull = model.pull_of_class()
    weights, n = model.units * pull, model.effective_rows(pull)
    rows_a_unit = n / weights.sum(axis=1)
    errors = (weights.sum(axis=1) - weights.max(axis=1)) * rows_a_unit
    estimated = errors + added_errors(n, errors, confidence)
    return np.asarray(estimated / rows_a_unit * rows_a_unit[0])


def prune_pessimistic(model: TreeModel, confidence: float) -> TreeModel:
    """From the leaves up, a test becomes a leaf if that has no more estimated errors."""
    as_leaf = estimated_errors(model, confidence).tolist()
    best, parents = [0.0] * model.n_nodes, model.parents().tolist()
    leaf = model.kind == trees.LEAF
    for t in range(model.n_nodes - 1, -1, -1):
        if leaf[t] or as_leaf[t] <= best[t] + ALLOWANCE:
            best[t], leaf[t] = as_leaf[t], True
        if t:
            best[parents[t]] += best[t]
    return cut_below(model, leaf)


def prune_by_raising(
    model: TreeModel, rows: TreeRows, confidence: float, criterion: str
) -> RaisedTree:
    """The same, where a test may also give its place to its largest branch.

    That branch then has all rows of the test, and everything below is counted and pruned again. A
    node of one branch per value that meets a new value has a new leaf for it. Tests that moved
    have the score of the rows they have now, and say that they are not the `exact` optimum.
    """
    multiples = multiples_of(model, criterion)
    scaled = scale_rows(rows, multiples)
    raised = prune_raising(
        model.arrays,
        rows.encoded.columns,
        model.n_values,
        rows.classes,
        model.units.shape[1],
        trees.Weights(scaled.units, scaled.copies, scaled.sizes),
        confidence,
    )
    moved = raised.moved & (raised.kind != trees.LEAF)
    shown = _with_scores(model, raised, moved, trees.CRITERIA.index(criterion))
    pruned = model.pruned or shown.n_nodes < model.n_nodes
    shown = replace(shown, units=unscale(shown.units, multiples), pruned=pruned)
    return RaisedTree(with_rows(shown, rows), int(moved.sum()))


def _with_scores(
    model: TreeModel, raised: Raised, moved: NDArray[np.bool_], criterion: int
) -> TreeModel:
    """The tree: numbers of a test as grown, or judged anew where its rows have changed."""
    fields = raised._asdict()
    origin, _ = fields.pop("origin"), fields.pop("moved")
    asks = raised.kind != trees.LEAF
    score, gain = np.where(asks, model.score[origin], 0.0), np.where(asks, model.gain[origin], 0.0)
    for t in np.flatnonzero(moved).tolist():
        below = raised.children[raised.child_start[t] : raised.child_start[t + 1]]
        score[t], gain[t] = _judge(raised.units[below], int(raised.units[0].sum()), criterion)
    fields |= {
        "score": score,
        "gain": gain,
        "exact": ~asks | (model.exact[origin].astype(bool) & ~moved),
        "candidates": np.where(asks & ~moved, model.candidates[origin], 0.0),
    }
    return replace(model, **fields)


def _judge(parts: NDArray[np.int64], total: int, criterion: int) -> tuple[float, float]:
    """Score and gain of a test by what its branches hold."""
    if len(parts) == 2:
        judged = judge_tests(parts.sum(axis=0), parts[:1], total, criterion)
    else:
        judged = judge_parts(parts, total, criterion)
    gain = float(judged.scores[0])
    told = float(judged.keys[0]) - judged.base
    if trees.CRITERIA[criterion] != "gain_ratio" or not told > 0:
        return gain, gain
    return told / float(judged.information[0]), gain
