"""Pruning a grown tree, and the learner of trees: what a fit makes of its rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.base.learner import CellWords, FitReport, Learner
from sortal.data.columns import Schema, union
from sortal.data.sources import as_read, gather_blocks
from sortal.decision.folds import assign_folds, from_pairs, held_out, numbered
from sortal.decision.options import is_whole, read_seed
from sortal.engines import n_threads
from sortal.errors import OneLeafWarning, ParameterError, agreed, brief, counted, warn
from sortal.modelfile.record import record
from sortal.native import trees
from sortal.native.trees import LEAF, added_errors
from sortal.trees.cost_complexity import (
    CostComplexityPath,
    complexity_path,
    cost_of,
    costs_of,
    cross_validate,
    pass_rows,
    strengths_of,
    take_rows,
)
from sortal.trees.learn import TreeOptions, check_together, grow, unseen_codes, validates
from sortal.trees.model import TreeModel
from sortal.trees.rows import answer, read_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from sortal._typing import Codes, Counts, Float, Mask, Places
    from sortal.base.learner import Fitted, Training
    from sortal.data.sources import Batch
    from sortal.trees.learn import Folds
    from sortal.trees.rows import TreeRows

    TreeFit = Fitted[TreeOptions, TreeRows, "FittedTree"]


# --- Cutting: a tree in which some nodes are leaves, and what was below them is gone -------------

# The arrays with an entry a node: what they hold at a leaf, or None where that is the node's own.
_BY_NODE: dict[str, Any] = {
    "kind": LEAF,
    "attribute": -1,
    "threshold": np.nan,
    "heavier": -1,
    "missing": -1,
    "units": None,
    "sizes": None,
    "rows": None,
    "effective": None,
    "score": 0.0,
    "gain": 0.0,
    "exact": True,
    "candidates": 0.0,
}

# The lists that nodes have: where they start, and the arrays that lie side by side in them.
_LISTS = {"child_start": ("children",), "value_start": ("values", "branches")}


def cut_below(model: TreeModel, leaves: Mask) -> TreeModel:
    """The tree in which the nodes marked are leaves, numbered in preorder as ever."""
    leaf = leaves | (model.kind == LEAF)
    kept = ~_below(model, leaf)
    changed: dict[str, Any] = {}
    for name, at_leaf in _BY_NODE.items():
        array = getattr(model, name, None)
        if array is not None:
            changed[name] = array[kept]
            if at_leaf is not None:
                changed[name][leaf[kept]] = at_leaf
    for start, names in _LISTS.items():
        changed |= _cut_lists(model, start, names, kept, leaf)
    number = np.cumsum(kept, dtype=np.int32) - 1
    changed["children"] = number[changed["children"]].astype(np.int32)
    cut = bool((leaf & (model.kind != LEAF)).any())
    return replace(model, **changed, pruned=model.pruned or cut)


def _below(model: TreeModel, leaf: Mask) -> Mask:
    """The nodes below a leaf: in preorder they follow it."""
    change = np.zeros(model.n_nodes + 1, dtype=np.int64)
    nodes = np.flatnonzero(leaf)
    np.add.at(change, nodes + 1, 1)
    np.add.at(change, model.ends()[nodes], -1)
    return np.asarray(np.cumsum(change[:-1]) > 0)


def _cut_lists(
    model: TreeModel, start: str, names: tuple[str, ...], kept: Mask, leaf: Mask
) -> dict[str, Any]:
    lengths = np.diff(getattr(model, start))
    held = np.repeat(kept & ~leaf, lengths)
    shorter = np.where(leaf, 0, lengths)[kept]
    starts = np.concatenate([[0], np.cumsum(shorter)]).astype(np.int64)
    return {start: starts} | {name: getattr(model, name)[held] for name in names}


def join_siblings(model: TreeModel) -> TreeModel:
    """The tree in which branches that all lead to leaves of one class are one leaf."""
    said, starts, children = model.labels().tolist(), model.child_start.tolist(), model.children
    label = [-1] * model.n_nodes  # what all leaves below a node say, -1 if they differ
    for t in range(model.n_nodes - 1, -1, -1):
        below = {label[c] for c in children[starts[t] : starts[t + 1]].tolist()}
        if below <= {said[t]}:
            label[t] = said[t]
    return cut_below(model, np.array(label) >= 0)


def prune_to(model: TreeModel, cp: float) -> TreeModel:
    """The smallest tree with the least risk + cp · root's risk · leaves."""
    root = float(model.risk()[0]) or 1.0
    # divided as in the path, so that a cp read there finds its tree
    return cut_below(model, strengths_of(model) / root <= cp)


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


# --- What each way of pruning makes of a tree ----------------------------------------------------


@record()
class FittedTree(TreeModel):
    """A tree with what pruning leaves beside it: what was done, and the nested trees, if any."""

    notes: tuple[str, ...] = ()
    cp_table: CostComplexityPath | None = None


def fitted_tree(
    model: TreeModel, *notes: str, cp_table: CostComplexityPath | None = None
) -> FittedTree:
    """A tree, and what was done to it at last."""
    return FittedTree(**{**vars(model), "notes": notes, "cp_table": cp_table})


def prune_tree(
    model: TreeModel,
    options: TreeOptions,
    *,
    path: CostComplexityPath | None = None,
    rows: TreeRows | None = None,
) -> FittedTree:
    """Prune as asked.

    `path` is the tree's own, cross-validated where a rule chooses the cp. `rows` are those that
    reduced error judges by.
    """
    pruned = _prune(model, options, path, rows)
    if options.join_leaves:
        joined = join_siblings(pruned)
        told = f"leaves of one class were joined: {pruned.n_leaves} became {joined.n_leaves}"
        pruned = fitted_tree(joined, *pruned.notes, told, cp_table=pruned.cp_table)
    return pruned


def _prune(
    model: TreeModel,
    options: TreeOptions,
    path: CostComplexityPath | None,
    rows: TreeRows | None,
) -> FittedTree:
    if options.pruning == "cost_complexity":
        table = chosen(complexity_path(model) if path is None else path, options.cp)
        cp = table.cp[table.chosen or 0] if isinstance(options.cp, str) else options.cp
        rule = f", {table.chosen_by} of {table.n_folds} folds" if table.n_folds else ""
        words = f"cost complexity (cp {cp:.6g}{rule})"
        smaller = prune_to(model, cp)
        return fitted_tree(smaller, _pruning_note(model, smaller, words), cp_table=table)
    if options.pruning == "reduced_error" and rows is not None:
        smaller = prune_reduced(model, rows)
        words = f"their errors on {counted(rows.size, 'row')}"
        return fitted_tree(smaller, _pruning_note(model, smaller, words))
    if options.pruning != "pessimistic":
        return fitted_tree(model)
    level = options.confidence
    level = default_level(model) if isinstance(level, str) else level
    words = f"estimated errors (confidence {level:.3g})"
    smaller = prune_pessimistic(model, level)
    return fitted_tree(smaller, _pruning_note(model, smaller, words))


def chosen(path: CostComplexityPath, cp: str | float) -> CostComplexityPath:
    """The path with the tree that a rule or a cp takes."""
    if isinstance(cp, str):
        return replace(path, chosen=path.choose(cp), chosen_by=cp)
    return replace(path, chosen=path.place_of(cp), chosen_by="cp")


def _pruning_note(before: TreeModel, after: TreeModel, words: str) -> str:
    return (
        f"pruned from {before.n_leaves} to {counted(after.n_leaves, 'leaf', 'leaves')} by {words}"
    )


def size_notes(model: TreeModel) -> tuple[str, ...]:
    """How large a tree is, and which tests are not known to be the best."""
    notes = [f"{model.size_text()}; depth {model.depth()}"]
    # tests of a tree that was taken in stood against none
    searched = ~model.exact.astype(bool) & (model.candidates > 0)
    if heuristic := int(np.count_nonzero(searched)):
        nodes = f"{counted(heuristic, 'node')} {agreed(heuristic, 'was', 'were')}"
        notes.append(f"the test of {nodes} found by heuristic, the others exactly")
    return tuple(notes)


# --- What a fit makes of its rows ----------------------------------------------------------------


def read_folds(cv: Folds, classes: Codes, weights: Counts | None, seed: int) -> Places:
    """A fold for each row that has weight; a splitter sees these rows only.

    Folds come as scikit-learn's users give them: a number, fold numbers, a splitter, or pairs of
    rows; `weights` are those of all rows.
    """
    if is_whole(cv):
        return assign_folds(classes, int(cv), seed)  # type: ignore[arg-type]
    if hasattr(cv, "split") and hasattr(cv, "get_n_splits"):  # texts and patterns split, too
        pairs = list(cv.split(np.zeros((len(classes), 1)), classes))
        return from_pairs(pairs, len(classes))
    if weights is None:
        return _listed(cv, len(classes))
    return numbered(_listed(cv, len(weights))[weights > 0], len(classes))


def _listed(cv: Folds, n_rows: int) -> Places:
    try:
        items = [] if isinstance(cv, str | bytes) else list(cv)  # type: ignore[arg-type]
    except TypeError:
        items = []
    if items and all(is_whole(item) for item in items):
        return numbered(np.array(items), n_rows)
    if items and all(isinstance(item, tuple | list) and len(item) == 2 for item in items):
        return from_pairs(items, n_rows)
    raise ParameterError(
        f"cv={brief(cv)} cannot be used: give a number of folds, a fold number for each row, a "
        "splitter of scikit-learn, or pairs of rows to grow from and rows to leave out."
    )


def fit_tree(rows: TreeRows, options: TreeOptions, training: Training | None) -> FittedTree:
    """The tree of the rows of a fit, grown and pruned."""
    assert training is not None  # noqa: S101  (a tree is fitted to all rows at once)
    threads, judges, all_rows = n_threads(options.n_jobs), rows, rows
    if options.pruning == "reduced_error":
        out = held_out(rows.classes, options.validation_fraction, read_seed(options.random_state))
        rows, judges = (take_rows(rows, np.flatnonzero(part)) for part in (~out, out))
    folds = path = None
    if validates(options):
        folds = folds_of(rows, options, training)
    model = grow(rows, options, threads)
    if judges is not rows:  # what only rows held out have, the fit has met all the same
        model = replace(model, unseen=unseen_codes(all_rows))
    if folds is not None:
        path = cross_validate(model, rows, options, folds, threads, options.progress)
    pruned = prune_tree(model, options, path=path, rows=judges)
    if options.pruning is not None and pruned.pruned and pruned.n_nodes == 1:
        _warn_of_one_leaf(pruned, options.pruning)
    return pruned


def folds_of(rows: TreeRows, options: TreeOptions, training: Training) -> Places:
    """The folds that options give the rows of a fit."""
    weights = training.source.weights
    units = None if weights is None else weights.units
    return read_folds(options.cv, rows.classes, units, read_seed(options.random_state))


def _warn_of_one_leaf(model: TreeModel, pruning: str) -> None:
    """Say that pruning has left no split: in words without numbers, once for many folds."""
    label = model.classes[int(model.labels()[0])]
    warn(
        f"The tree was pruned to one leaf, which predicts {label!r} for every row: "
        f"pruning={pruning!r} finds no split worth keeping. That is right where the columns tell "
        "nothing about y. Where a class is rare or its errors matter more, give costs or "
        "class_weight; pruning=None keeps every split.",
        OneLeafWarning,
    )


def report(rows: TreeRows, model: FittedTree | None) -> FitReport:
    """The rows of a fit, the size of its tree, and how it was pruned."""
    assert model is not None  # noqa: S101  (any rows make one)
    notes = (*size_notes(model), *model.notes)
    return FitReport.of(rows.size, rows.schema, rows.encoded.missing, notes)


def _origin(fitted: TreeFit) -> tuple[str, list[object]]:
    # to hash the rows themselves took a fifth of the fit of a small tree to 500,000 rows
    model = fitted.model
    return "root", [model.units[0].tolist(), model.exponent, model.ranges, model.missing_counts]


def _summarize(training: Training, plan: Callable[[Batch], TreeRows], _: TreeOptions) -> TreeRows:
    # a tree looks at all rows together: one block spares it a copy of them
    source = replace(training.source, block_rows=training.source.table.n_rows)
    return plan(gather_blocks(list(training.engine.map(source, as_read))))


_ROWS_STAY = "A tree grows from all its rows at once: fit it again with the rows that are to count."

_LARGER = "they take the branch of larger weight, or stay where a node has one branch per value"

TREE = Learner(
    options=TreeOptions,
    kept={"model": FittedTree},
    plan=lambda training, options: partial(read_rows, declared=training.declared, options=options),
    later_plan=lambda schema, options, fitted: partial(  # noqa: ARG005
        read_rows, declared=schema, options=options
    ),
    summarize=_summarize,
    schema=lambda declared, rows, options: Schema(  # noqa: ARG005
        rows.schema.columns, union(declared.classes, rows.labels)[0]
    ),
    model=lambda rows, schema, options, training: fit_tree(rows, options, training),  # noqa: ARG005
    report=lambda rows, schema, model, options: report(rows, model),  # noqa: ARG005
    answer=lambda fitted, question: answer(fitted.model, question),
    check=check_together,
    missing=lambda rows, schema, options: rows.encoded.missing,  # noqa: ARG005
    absent={
        "partial_fit": _ROWS_STAY,
        "forget": _ROWS_STAY,
        "loo_proba": "To leave out a row a tree would grow anew: cross-validate it instead.",
        "decision_function": "TreeClassifier has predict_proba instead.",
    },
    words=CellWords(
        missing=dict.fromkeys(trees.POLICIES, _LARGER)
        | {"fractional": "they go down every branch, by its weight"},
        unknown=_LARGER,
        missing_remedy=(
            "Fill them, drop their rows, or set missing='direction' to let the tree read them."
        ),
        unknown_remedy=(
            "Map them to known values, or set unknown='majority' to let them take the branch of "
            "larger weight."
        ),
    ),
    quiet=lambda model: np.array(model.missing_counts) > 0,
    origin=_origin,
    keeps=False,
)
