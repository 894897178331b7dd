"""Pruning a grown tree: checked options, and what each way of pruning makes of a tree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sortal.decision.options import non_negative, share
from sortal.errors import ParameterError, brief, choose, counted
from sortal.native import trees
from sortal.native.trees import added_errors, prune_raising, score_branches, score_tests
from sortal.trees.cost_complexity import (
    complexity_path,
    cost_of,
    costs_of,
    cut_below,
    join_siblings,
    pass_rows,
    prune_to,
)
from sortal.trees.learn import with_rows
from sortal.trees.rows import multiples_of, scale_rows, unscale

if TYPE_CHECKING:
    from sortal._typing import Counts, Float, Mask
    from sortal.native.trees import Raised
    from sortal.trees.cost_complexity import CostComplexityPath
    from sortal.trees.model import TreeModel
    from sortal.trees.rows import TreeRows


# --- Reduced-error pruning: tests that do not help with rows of their own are taken out ----------

# So much of what all rows could cost is the rounding of sums: costs that differ by less are equal.
_ROUNDING = 1e-12


def prune_reduced(model: TreeModel, rows: TreeRows) -> TreeModel:
    """From the leaves up, a test becomes a leaf if that costs the given rows no more. (S 34)"""
    passing, labels, costs = pass_rows(model, rows), model.labels(), costs_of(model)
    as_leaf = cost_of(passing.through, labels, costs).tolist()
    best = cost_of(passing.ending, labels, costs).tolist()
    parents = model.parents().tolist()
    leaf = np.zeros(model.n_nodes, dtype=bool)
    rounding = _ROUNDING * float(passing.through[0] @ costs.max(axis=1))
    for t in range(model.n_nodes - 1, -1, -1):
        if as_leaf[t] <= best[t] + rounding:
            best[t], leaf[t] = as_leaf[t], True
        if t:
            best[parents[t]] += best[t]
    return cut_below(model, leaf)


# --- Pessimistic pruning as C4.5 does it: errors are estimated by an upper bound of their rate ---

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
        trees.TreeRowWeights(scaled.units, scaled.copies, scaled.sizes),
        confidence,
    )
    moved = raised.moved & (raised.kind != trees.LEAF)
    shown = _with_scores(model, raised, moved, trees.CRITERIA.index(criterion))
    pruned = model.pruned or shown.n_nodes < model.n_nodes
    shown = replace(shown, units=unscale(shown.units, multiples), pruned=pruned)
    return RaisedTree(with_rows(shown, rows), int(moved.sum()))


def _with_scores(model: TreeModel, raised: Raised, moved: Mask, criterion: int) -> TreeModel:
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


def _judge(parts: Counts, total: int, criterion: int) -> tuple[float, float]:
    """Score and gain of a test by what its branches hold."""
    if len(parts) == 2:
        judged = score_tests(parts.sum(axis=0), parts[:1], total, criterion)
    else:
        judged = score_branches(parts, total, criterion)
    gain = float(judged.scores[0])
    told = float(judged.keys[0]) - judged.base
    if trees.CRITERIA[criterion] != "gain_ratio" or not told > 0:
        return gain, gain
    return told / float(judged.information[0]), gain


WAYS = ("cost_complexity", "reduced_error", "pessimistic")

RULES = ("one_se", "min")


@dataclass(frozen=True)
class PruningOptions:
    """Checked options, by the names and meanings of the estimator's parameters."""

    pruning: str | None = None
    cp: Any = "one_se"
    confidence: Any = "auto"
    subtree_raising: bool = False
    join_leaves: bool = False
    missing: str = "direction"

    def __post_init__(self) -> None:
        if self.pruning is not None:
            choose("pruning", self.pruning, WAYS)
        if isinstance(self.cp, str):
            choose("cp", self.cp, RULES)
        else:
            non_negative("cp", self.cp)
        if isinstance(self.confidence, str):
            choose("confidence", self.confidence, ("auto",))
        elif share("confidence", self.confidence) == 0:
            raise ParameterError(
                "confidence=0 prunes nothing or all: give a number above 0, up to 1."
            )
        for name in ("subtree_raising", "join_leaves"):
            if not isinstance(getattr(self, name), bool):
                raise ParameterError(
                    f"{name}={brief(getattr(self, name))} cannot be used: it can be True or False."
                )
        if self.raises and self.missing == "fractional":
            raise ParameterError(
                "subtree_raising=True sends whole rows another way, and missing='fractional' sends "
                "parts: set subtree_raising=False, or another missing."
            )

    @property
    def validates(self) -> bool:
        """Whether the cp is found by cross-validation."""
        return self.pruning == "cost_complexity" and isinstance(self.cp, str)

    def level(self, model: TreeModel) -> float:
        """The level of a pessimistic estimate."""
        given = self.confidence
        return default_level(model) if isinstance(given, str) else float(given)

    @property
    def raises(self) -> bool:
        """Whether subtrees may move up, which takes the rows of the fit."""
        return self.pruning == "pessimistic" and self.subtree_raising


@dataclass(frozen=True)
class Pruned:
    """A pruned tree, what was done, and how many tests have taken the place of another."""

    model: TreeModel
    notes: tuple[str, ...] = ()
    complexity: CostComplexityPath | None = None
    n_moved: int = 0


def prune_tree(
    model: TreeModel,
    how: PruningOptions,
    *,
    path: CostComplexityPath | None = None,
    rows: TreeRows | None = None,
    criterion: str = "gain",
) -> Pruned:
    """Prune as asked.

    `path` is the tree's own, cross-validated where a rule chooses the cp. `rows` are those of
    the fit for subtree raising, and others for reduced error.
    """
    pruned = _prune(model, how, path, rows, criterion)
    if how.join_leaves:
        joined = join_siblings(pruned.model)
        told = f"leaves of one class were joined: {pruned.model.n_leaves} became {joined.n_leaves}"
        pruned = replace(pruned, model=joined, notes=(*pruned.notes, told))
    return pruned


def _prune(
    model: TreeModel,
    how: PruningOptions,
    path: CostComplexityPath | None,
    rows: TreeRows | None,
    criterion: str,
) -> Pruned:
    if how.pruning == "cost_complexity":
        complexity = chosen(complexity_path(model) if path is None else path, how.cp)
        cp = how.cp
        if isinstance(cp, str):
            cp = complexity.cp[complexity.chosen or 0]
        smaller = prune_to(model, cp)
        return Pruned(
            smaller, (_pruning_note(model, smaller, _by_cost(complexity, cp)),), complexity
        )
    if how.pruning == "reduced_error" and rows is not None:
        smaller = prune_reduced(model, rows)
        return Pruned(
            smaller,
            (_pruning_note(model, smaller, f"their errors on {counted(rows.size, 'row')}"),),
        )
    if how.raises and rows is not None:
        level = how.level(model)
        raised = prune_by_raising(model, rows, level, criterion)
        words = f"estimated errors (confidence {level:.3g}), raising subtrees"
        moved = f"tests that have more rows than they were chosen for: {raised.n_moved}"
        notes = (_pruning_note(model, raised.model, words), *([moved] if raised.n_moved else []))
        return Pruned(raised.model, notes, n_moved=raised.n_moved)
    if how.pruning == "pessimistic":
        level = how.level(model)
        smaller = prune_pessimistic(model, level)
        words = f"estimated errors (confidence {level:.3g})"
        return Pruned(smaller, (_pruning_note(model, smaller, words),))
    return Pruned(model)


def chosen(path: CostComplexityPath, cp: Any) -> CostComplexityPath:
    """The path with the tree that a rule or a cp takes."""
    if isinstance(cp, str):
        return replace(path, chosen=path.choose(cp), chosen_by=cp)
    return replace(path, chosen=path.place_of(float(cp)), chosen_by="cp")


def _by_cost(complexity: CostComplexityPath, cp: float) -> str:
    rule = f", {complexity.chosen_by} of {complexity.n_folds} folds" if complexity.n_folds else ""
    return f"cost complexity (cp {cp:.6g}{rule})"


def _pruning_note(before: TreeModel, after: TreeModel, words: str) -> str:
    return (
        f"pruned from {before.n_leaves} to {counted(after.n_leaves, 'leaf', 'leaves')} by {words}"
    )
