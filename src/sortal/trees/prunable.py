"""The pruning methods of a tree: at fit, afterwards, and the nested trees to choose from."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sortal.base.ladder import FitReport
from sortal.data.sources import read_weights
from sortal.decision.folds import assign_folds, from_pairs, held_out, numbered
from sortal.decision.options import is_whole, read_seed, share
from sortal.engines import n_threads
from sortal.errors import InputError, OneLeafWarning, ParameterError, agreed, brief, counted, warn
from sortal.trees.cost_complexity import complexity_path, cross_validate, take_rows
from sortal.trees.learn import grow, unseen_codes
from sortal.trees.prune import Pruned, PruningOptions, chosen, prune_tree
from sortal.trees.readable import DrawableTree

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from sortal._typing import Codes, Places
    from sortal.trees.cost_complexity import CostComplexityPath
    from sortal.trees.model import TreeModel
    from sortal.trees.rows import TreeOptions, TreeRows


# Folds as scikit-learn's users give them: a number, fold numbers, a splitter, or pairs of rows.


def read_folds(cv: Any, classes: Codes, sample_weight: ArrayLike | None, seed: int) -> Places:
    """A fold for each row that has weight; a splitter sees these rows only."""
    if is_whole(cv):
        return assign_folds(classes, int(cv), seed)
    if hasattr(cv, "split") and hasattr(cv, "get_n_splits"):  # texts and patterns split, too
        pairs = list(cv.split(np.zeros((len(classes), 1)), classes))
        return from_pairs(pairs, len(classes))
    if sample_weight is None or np.ndim(sample_weight) == 0:
        return _listed(cv, len(classes))
    units = np.asarray(read_weights(sample_weight, np.size(sample_weight)).units)
    return numbered(_listed(cv, len(units))[units > 0], len(classes))


def _listed(cv: Any, n_rows: int) -> Places:
    try:
        items = [] if isinstance(cv, str | bytes) else list(cv)
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


# The options of prune() that belong to one way of pruning.
_OPTIONS = {
    "cost_complexity": ("cp", "cv"),
    "reduced_error": (),
    "pessimistic": ("confidence", "subtree_raising"),
}


class PrunedTree(DrawableTree):
    """What a tree does about tests that hold for its own rows only."""

    pruning: str | None
    cp: Any
    cv: Any
    validation_fraction: float
    confidence: Any
    subtree_raising: bool
    join_leaves: bool
    progress: Callable[[int, int], object] | None
    random_state: Any
    cp_table_: CostComplexityPath
    fit_report_: FitReport

    def prune(
        self,
        pruning: str | None,
        X: Any = None,
        y: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        cp: Any = None,
        cv: Any = None,
        confidence: Any = None,
        subtree_raising: bool | None = None,
        join_leaves: bool | None = None,
    ) -> Self:
        """A pruned copy of this tree, which is not grown again; the tree itself stays as it is.

        Parameters
        ----------
        pruning : {"cost_complexity", "reduced_error", "pessimistic"} or None
            As the parameter of that name; None only joins leaves.
        X, y, sample_weight :
            For "reduced_error", rows that the tree was not grown from. For "pessimistic" with
            subtree_raising, the rows of the fit again; and for "cost_complexity" where a rule
            chooses the cp and the fit has not cross-validated. Else none.
        cp, cv, confidence, subtree_raising, join_leaves :
            As the parameters of these names, whose values they replace in the copy.

        Returns
        -------
        TreeClassifier
            Fitted; `fit_report_` says what was done.
        """
        check_is_fitted(self)
        given = {"cp": cp, "cv": cv, "confidence": confidence, "subtree_raising": subtree_raising}
        given = {name: value for name, value in given.items() if value is not None}
        if join_leaves is not None:
            given["join_leaves"] = join_leaves
        _refuse_others(pruning, given)
        pruned = copy(self)
        pruned.set_params(pruning=pruning, **given)
        how = pruned._pruning_options(self._model.policy)
        pruned._take(self._prune_again(pruned, how, X, y, sample_weight))
        return pruned

    def cost_complexity_path(
        self,
        X: Any = None,
        y: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        cp: Any = None,
        cv: Any = None,
    ) -> CostComplexityPath:
        """The nested trees of cost-complexity pruning: sizes and errors.

        Parameters
        ----------
        X, y, sample_weight :
            The rows of the fit again, for cross-validation; without them there is none.
        cp, cv :
            As the parameters of these names, which stand where nothing is given.

        Returns
        -------
        CostComplexityPath
            A record with `cp`, `n_leaves`, `error`, `cv_error`, `cv_deviation` and the tree
            that `chosen` says; it prints well and has `to_frame` and `to_dict`.
        """
        check_is_fitted(self)
        cp = self.cp if cp is None else cp
        PruningOptions("cost_complexity", cp)
        if X is not None:
            rows = self._rows_of_fit(X, y, sample_weight)
            path = self._validate(rows, self.cv if cv is None else cv, sample_weight)
            return chosen(path, cp)
        if cv is not None:
            raise ParameterError(
                f"cv={cv!r} was given without rows: give X and y, those of the fit."
            )
        path = complexity_path(self._model)
        return path if isinstance(cp, str) else chosen(path, cp)

    def _pruning_options(self, policy: str) -> PruningOptions:
        read_seed(self.random_state)
        if not 0 < share("validation_fraction", self.validation_fraction) < 1:
            raise ParameterError(
                f"validation_fraction={self.validation_fraction!r} cannot be used: give a share "
                "of the rows between 0 and 1."
            )
        return PruningOptions(
            self.pruning,
            self.cp,
            self.confidence,
            self.subtree_raising,
            self.join_leaves,
            policy,
        )

    def _grow_pruned(
        self,
        rows: TreeRows,
        options: TreeOptions,
        how: PruningOptions,
        sample_weight: ArrayLike | None,
    ) -> Pruned:
        """What fit makes of its rows."""
        threads, judges, all_rows = n_threads(self.n_jobs), rows, rows
        if how.pruning == "reduced_error":
            out = held_out(rows.classes, self.validation_fraction, read_seed(self.random_state))
            rows, judges = (take_rows(rows, np.flatnonzero(part)) for part in (~out, out))
        folds = None
        if how.validates:
            folds = read_folds(self.cv, rows.classes, sample_weight, read_seed(self.random_state))
        model, path = grow(rows, options, threads), None
        if judges is not rows:  # what only rows held out have, the fit has met all the same
            model = replace(model, unseen=unseen_codes(all_rows))
        if folds is not None:
            path = cross_validate(model, rows, options, folds, threads, self.progress)
        return prune_tree(model, how, path=path, rows=judges, criterion=options.criterion)

    def _prune_again(
        self, pruned: PrunedTree, how: PruningOptions, X: Any, y: Any, sample_weight: Any
    ) -> Pruned:
        path = rows = None
        if how.validates:
            path = self._validated(pruned, X, y, sample_weight)
        elif how.pruning == "reduced_error":
            if X is None:
                raise InputError(
                    "pruning='reduced_error' needs rows that the tree was not grown from: give X "
                    "and y."
                )
            rows = self._read_again(X, y, sample_weight)
        elif how.raises:
            if X is None:
                raise InputError(
                    "subtree_raising=True sends rows another way, and X was not given: give X and "
                    "y, the rows of the fit, or set subtree_raising=False."
                )
            rows = self._rows_of_fit(X, y, sample_weight)
        elif X is not None:
            raise ParameterError(
                "X was given, and this pruning reads no rows: leave X out, or use a cp that "
                "is chosen ('one_se', 'min'), subtree_raising=True, or pruning='reduced_error'."
            )
        criterion = self._grown_by.criterion
        return prune_tree(self._model, how, path=path, rows=rows, criterion=criterion)

    def _validated(
        self, pruned: PrunedTree, X: Any, y: Any, sample_weight: Any
    ) -> CostComplexityPath:
        """The cross-validated path: of these rows, or that of the fit."""
        if X is not None:
            rows = self._rows_of_fit(X, y, sample_weight)
            return self._validate(rows, pruned.cv, sample_weight)
        known: CostComplexityPath | None = getattr(self, "cp_table_", None)
        if known is None or known.cv_error is None:
            raise InputError(
                f"cp={pruned.cp!r} is chosen by cross-validation, and the fit has made "
                "none: give X and y, the rows of the fit, or a cp."
            )
        wanted, left = known.n_leaves[known.choose(pruned.cp)], self._model.n_leaves
        if wanted > left:
            raise InputError(
                f"cp={pruned.cp!r} takes the tree of "
                f"{counted(wanted, 'leaf', 'leaves')}, and this one is already pruned to {left}: "
                "fit again."
            )
        return known

    def _validate(self, rows: TreeRows, cv: Any, sample_weight: Any) -> CostComplexityPath:
        folds = read_folds(cv, rows.classes, sample_weight, read_seed(self.random_state))
        threads = n_threads(self.n_jobs)
        return cross_validate(self._model, rows, self._grown_by, folds, threads, self.progress)

    def _rows_of_fit(self, X: Any, y: Any, sample_weight: Any) -> TreeRows:
        rows = self._read_again(X, y, sample_weight)
        counts = np.zeros(self._model.units.shape[1], dtype=np.int64)
        np.add.at(counts, rows.classes, 1 if rows.units is None else rows.units)
        grown_from = self._model.units[0] >> self._model.part_bits
        if rows.exponent != self._model.row_exponent or (counts != grown_from).any():
            raise InputError(
                "These are not the rows that the tree was grown from: the weights of the classes "
                "differ. Give the rows and weights of the fit, without those that "
                "pruning='reduced_error' held out."
            )
        return rows

    def _warn_of_one_leaf(self) -> None:
        """Say that pruning has left no split: in words without numbers, once for many folds."""
        model: TreeModel = self._model
        if self.pruning is None or not model.pruned or model.n_nodes > 1:
            return
        label = model.classes[int(model.labels()[0])]
        warn(
            f"The tree was pruned to one leaf, which predicts {label!r} for every row: "
            f"pruning={self.pruning!r} finds no split worth keeping. That is right where the "
            "columns tell nothing about y. Where a class is rare or its errors matter more, give "
            "costs or class_weight; pruning=None keeps every split.",
            OneLeafWarning,
        )

    def _take(self, pruned: Pruned) -> None:
        """A pruned tree in the place of the one that was copied."""
        old, before = self.fit_report_, self._model
        self._model = pruned.model
        kept = [note for note in old.notes if note not in size_notes(before)]
        notes = (*size_notes(pruned.model), *kept, *pruned.notes)
        self.fit_report_ = FitReport(old.rows, old.missing, notes)
        self._keep_complexity(pruned)

    def _keep_complexity(self, pruned: Pruned) -> None:
        if pruned.complexity is not None:
            self.cp_table_ = pruned.complexity
        elif hasattr(self, "cp_table_"):
            del self.cp_table_


def _refuse_others(pruning: str | None, given: dict[str, Any]) -> None:
    """Options of another way of pruning, and nothing to do at all."""
    if pruning is None and not given.get("join_leaves"):
        raise ParameterError(
            "pruning=None prunes nothing: give 'cost_complexity', 'reduced_error' or "
            "'pessimistic', or join_leaves=True."
        )
    own = (*_OPTIONS.get(str(pruning), ()), "join_leaves")
    for name, value in given.items():
        if pruning in (None, *_OPTIONS) and name not in own:
            homes = [way for way, names in _OPTIONS.items() if name in names]
            raise ParameterError(
                f"{name}={value!r} says nothing to pruning={pruning!r}: it belongs to "
                f"pruning={homes[0]!r}. Leave it out."
            )


def size_notes(model: TreeModel) -> tuple[str, ...]:
    """How large a tree is, and which tests are not known to be the best."""
    notes = [f"{model.size_text()}; depth {model.depth()}"]
    # tests that have moved, or were taken in, stood against none
    searched = ~model.exact.astype(bool) & (model.candidates > 0)
    if heuristic := int(np.count_nonzero(searched)):
        nodes = f"{counted(heuristic, 'node')} {agreed(heuristic, 'was', 'were')}"
        notes.append(f"the test of {nodes} found by heuristic, the others exactly")
    return tuple(notes)
