"""TreeClassifier, the estimator: pruning after the fit, and its conversion to scikit-learn."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import Tree

from sortal.base.learner import FitReport
from sortal.base.to_sklearn import refuse_others, verify, wear_names
from sortal.decision.options import checked
from sortal.engines import n_threads
from sortal.errors import InputError, ParameterError, counted
from sortal.native.trees import LEAF
from sortal.trees.cost_complexity import complexity_path, cross_validate
from sortal.trees.learn import TreeOptions, check_together, validates
from sortal.trees.prune import TREE, chosen, folds_of, prune_tree, size_notes
from sortal.trees.readable import ReadableTree
from sortal.trees.rows import ends
from sortal.trees.split_scores import CRITERIA_BY_NAME

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import Float, LabelsLike, Places, TableLike
    from sortal.base.learner import Training
    from sortal.trees.cost_complexity import CostComplexityPath
    from sortal.trees.learn import Folds, Pruning
    from sortal.trees.model import TreeModel
    from sortal.trees.rows import TreeRows


# --- Pruning after the fit -----------------------------------------------------------------------

# The options of prune() that belong to one way of pruning.
_OPTIONS = {
    "cost_complexity": ("cp", "cv"),
    "reduced_error": (),
    "pessimistic": ("confidence",),
}

# The options that may be others after the fit than they were at it.
_OF_PRUNING = (
    *("pruning", "cp", "cv", "confidence", "join_leaves"),
    *("random_state", "progress", "n_jobs"),
)


def _refuse_others(pruning: str | None, given: Mapping[str, object]) -> None:
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


# --- to_sklearn of trees: the nodes of a tree, as scikit-learn keeps them ------------------------

_SAME = ("max_depth", "min_samples_leaf", "min_weight_fraction_leaf", "max_leaf_nodes")

# So many cells of rows are tried at a time, and about so many splits on their ways in all.
_CELLS, _STEPS = 1 << 20, 10**8


def tree_as_sklearn(model: TreeClassifier) -> DecisionTreeClassifier:
    """A tree whose nodes have two branches, by thresholds of numbers."""
    refuse_others(model, model._model.costs if hasattr(model, "_model") else None)
    inner = model._model
    _refuse_parts(inner)
    theirs = DecisionTreeClassifier(
        criterion=CRITERIA_BY_NAME[model._fitted.options.criterion].sklearn,
        min_samples_split=max(2, model.leaf_size + 1),
        **{name: getattr(model, name) for name in _SAME},
    )
    wear_names(model, theirs)
    theirs.n_outputs_, theirs.n_classes_ = 1, np.intp(len(model.classes_))
    theirs.max_features_ = model.n_features_in_
    theirs.tree_ = _tree(inner, model._fitted.over_classes(_values(inner)), theirs.criterion)
    for rows in _rows_to_leaves(inner):
        verify(model, theirs, rows)
    return theirs


def float32_below(thresholds: Float) -> NDArray[np.float32]:
    """The largest float32 that is at most v: of float32s, the same ones are at most either."""
    with np.errstate(over="ignore"):
        near = thresholds.astype(np.float32)
        return np.where(near > thresholds, np.nextafter(near, np.float32(-np.inf)), near)


def _refuse_parts(inner: TreeModel) -> None:
    """A row goes down one branch of two, also where a value is missing."""
    if inner.policy == "fractional" or (np.diff(inner.child_start) > 2).any():
        raise ParameterError(
            f"This tree was grown with missing={inner.policy!r}: where a value is missing, a row "
            "has a branch of its own or goes down several, and scikit-learn's trees send it down "
            "one of two. Fit with missing='direction', and convert."
        )


def _tree(inner: TreeModel, values: Float, criterion: str) -> Tree:
    """scikit-learn's arrays, by the names that it gives them; fields it may add stay 0."""
    tree = Tree(len(inner.column_kinds), np.array([values.shape[1]], dtype=np.intp), 1)
    state = tree.__getstate__()
    asks, first = inner.kind != LEAF, inner.child_start[:-1]
    branches = np.append(inner.children, -1)
    took = np.where(inner.missing >= 0, inner.missing, inner.heavier)
    nodes = np.zeros(inner.n_nodes, dtype=state["nodes"].dtype)
    nodes["left_child"] = np.where(asks, branches[first], -1)
    nodes["right_child"] = np.where(asks, branches[np.where(asks, first + 1, -1)], -1)
    nodes["feature"] = np.where(asks, inner.attribute, -2)
    nodes["threshold"] = np.where(asks, float32_below(inner.threshold), -2.0)
    nodes["impurity"] = _impurity(inner.plain_shares(), criterion)
    nodes["n_node_samples"] = inner.sizes
    nodes["weighted_n_node_samples"] = inner.counted().sum(axis=1)
    nodes["missing_go_to_left"] = asks & (took == 0)
    state |= {"max_depth": inner.depth(), "node_count": inner.n_nodes, "nodes": nodes}
    tree.__setstate__({**state, "values": np.ascontiguousarray(values[:, None, :])})
    return tree


def _values(inner: TreeModel) -> Float:
    """Class probabilities of nodes, of which the class predicted has the first largest."""
    values, said = inner.shares().copy(), inner.labels()
    at = np.arange(len(values))
    values[at, said] = values.max(axis=1)  # they differ by the rounding of sums at most
    return values


def _impurity(shares: Float, criterion: str) -> Float:
    """Gini index or entropy in bits, before smoothing."""
    if criterion == "gini":
        return np.asarray(1.0 - np.square(shares).sum(axis=1))
    logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
    return np.asarray(-(shares * logs).sum(axis=1))


def _rows_to_leaves(inner: TreeModel) -> Iterator[Float]:
    """For each leaf a row that should end there: at its thresholds, or the next float32 above.

    Where missing values were met at fit and take the branch, a value is missing. Of very deep trees
    every so many-th leaf is tried.
    """
    rows = _rows_of_nodes(inner)
    leaves = np.flatnonzero(inner.kind == LEAF)
    leaves = leaves[:: 1 + len(leaves) * inner.depth() // _STEPS]
    some = max(1, _CELLS // rows.shape[1])
    for start in range(0, len(leaves), some):
        yield rows[leaves[start : start + some]].astype(np.float64)


def _rows_of_nodes(inner: TreeModel) -> NDArray[np.float32]:
    """A row that passes each node: its parent's, but for the column of the split above."""
    low = float32_below(inner.threshold)
    with np.errstate(over="ignore"):
        sides = np.stack([low, np.nextafter(low, np.float32(np.inf))])
    sides[np.isinf(sides)] = 0.0
    met = np.array(inner.missing_counts)[inner.attribute] > 0
    for branch in (0, 1):
        sides[branch, met & (inner.missing == branch)] = np.nan
    rows = np.zeros((inner.n_nodes, len(inner.column_kinds)), dtype=np.float32)
    for t in np.flatnonzero(inner.kind != LEAF).tolist():  # in preorder a parent comes first
        both = inner.below(t)
        rows[both] = rows[t]
        rows[both, inner.attribute[t]] = sides[:, t]
    return rows


class TreeClassifier(TreeOptions, ReadableTree):
    """A decision tree whose every test is the best one, on tables of words and numbers.

    A node asks x <= v of a number, a date or an ordered category, and x in V of a category, or
    has one branch for each of its values. Numbers and categories compete on the same scale; V may
    be any set of values. Counts are whole numbers and ties are settled by rule (the earlier
    column, the smaller threshold, fewer values in V), so that neither the order of rows nor the
    number of threads changes a tree. The test of a node is the true optimum and says `exact`, or
    says how many candidates it stood against.

    A node is a leaf when it is small (`leaf_size`) or pure (`purity`) enough, lies at `max_depth`,
    or has no test that scores above zero and at least `min_gain`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    cp_table_ : CostComplexityPath
        The nested trees of "cost_complexity", and which was chosen.
    feature_importances_ : ndarray of shape (n_features,)
        For each column the sum, over the nodes that ask it, of weight times score (for the gain
        ratio, times gain), as shares of all columns; zeros for a tree of one leaf.
    fit_report_ : FitReport
        Rows, and notes on the size of the tree and on tests that were found by heuristic.
    n_features_in_, feature_names_in_ :
        As in scikit-learn. A data frame at predict may lack columns that are in no split.

    Examples
    --------
    >>> from sortal import TreeClassifier, datasets
    >>> iris = datasets.iris()
    >>> X, y = iris[["sepal_length", "sepal_width"]], iris["species"] == "setosa"
    >>> model = TreeClassifier(purity=0.95, leaf_size=5, pruning=None).fit(X, y)
    >>> shown = model.to_frame()[["node", "parent", "branch", "test", "n", "purity"]]
    >>> print(shown.round(3).to_string(index=False))
     node  parent  branch                 test   n  purity
        0      -1      -1 sepal_length <= 5.45 150   0.667
        1       0       0   sepal_width <= 2.8  52   0.865
        2       1       0  sepal_length <= 4.7   7   0.857
        3       2       0                        1   1.000
        4       2       1                        6   1.000
        5       1       1                       45   0.978
        6       0       1  sepal_width <= 3.45  98   0.949
        7       6       0                       90   1.000
        8       6       1  sepal_length <= 6.5   8   0.625
        9       8       0                        5   1.000
       10       8       1                        3   1.000
    >>> model.predict(X[:1]).tolist()
    [True]
    """

    _learner = TREE

    def apply(self, X: TableLike) -> Places:
        """The node where each row ends.

        That is a leaf, or a node with one branch per value that has none for the row's. Where
        missing values go down every branch, it is the end of the heavier ones.
        """
        return self._pass(self._open(X), ends(self._model)).answer.astype(np.intp)

    def decision_path(self, X: TableLike) -> csr_matrix:
        """The nodes that each row visits: a sparse matrix of ones, a row a row, a column a node."""
        nodes = self.apply(X)
        starts, met = self._model.paths(nodes)
        ones = np.ones(len(met), dtype=np.intp)
        return csr_matrix((ones, met, starts), shape=(len(nodes), self._model.n_nodes))

    @property
    def cp_table_(self) -> CostComplexityPath:
        """The nested trees of "cost_complexity", and which was chosen."""
        path = self._model.cp_table
        if path is None:
            raise AttributeError("cp_table_ exists where pruning is 'cost_complexity'.")
        return path

    def prune(
        self,
        pruning: Pruning | None,
        X: TableLike | None = None,
        y: LabelsLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        cp: str | float | None = None,
        cv: Folds | None = None,
        confidence: str | float | None = None,
        join_leaves: bool | None = None,
    ) -> Self:
        """A pruned copy of this tree, which is not grown again; the tree itself stays as it is.

        Parameters
        ----------
        pruning : {"cost_complexity", "reduced_error", "pessimistic"} or None
            As the parameter of that name; None only joins leaves.
        X, y, sample_weight :
            For "reduced_error", rows that the tree was not grown from. For "cost_complexity"
            where a rule chooses the cp and the fit has not cross-validated, the rows of the fit
            again. Else none.
        cp, cv, confidence, join_leaves :
            As the parameters of these names, whose values they replace in the copy.

        Returns
        -------
        TreeClassifier
            Fitted; `fit_report_` says what was done.
        """
        given = {"cp": cp, "cv": cv, "confidence": confidence, "join_leaves": join_leaves}
        given = {name: value for name, value in given.items() if value is not None}
        fitted, before = self._get_fitted(), self._model
        _refuse_others(pruning, given)
        pruned = copy(self)
        pruned.set_params(pruning=pruning, **given)
        options = pruned._pruning_options()
        path = rows = None
        if validates(options):
            path = pruned._validated(options, X, y, sample_weight)
        elif options.pruning == "reduced_error":
            if X is None:
                raise InputError(
                    "pruning='reduced_error' needs rows that the tree was not grown from: give X "
                    "and y."
                )
            rows, _ = self._read_again(X, y, sample_weight)
        elif X is not None:
            raise ParameterError(
                "X was given, and this pruning reads no rows: leave X out, or use a cp that "
                "is chosen ('one_se', 'min'), or pruning='reduced_error'."
            )
        model, old = prune_tree(before, options, path=path, rows=rows), fitted.report
        kept = [note for note in old.notes if note not in size_notes(before)]
        report = FitReport(old.rows, old.missing, (*size_notes(model), *kept, *model.notes))
        pruned._fitted = replace(fitted, options=options, report=report, found=model)
        return pruned

    def cost_complexity_path(
        self,
        X: TableLike | None = None,
        y: LabelsLike | None = None,
        *,
        sample_weight: ArrayLike | None = None,
        cp: str | float | None = None,
        cv: Folds | None = None,
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
        given = {"cp": cp, "cv": cv}
        given = {name: value for name, value in given.items() if value is not None}
        asked = copy(self)
        asked.set_params(**given)
        options = asked._pruning_options()
        if X is not None:
            return chosen(asked._validate(options, X, y, sample_weight), options.cp)
        if cv is not None:
            raise ParameterError(
                f"cv={cv!r} was given without rows: give X and y, those of the fit."
            )
        path = complexity_path(self._model)
        return path if isinstance(options.cp, str) else chosen(path, options.cp)

    def _pruning_options(self) -> TreeOptions:
        """The options of the fit, with those of pruning as they are now."""
        fitted, now = self._get_fitted(), checked(TreeOptions, self)
        options = replace(fitted.options, **{name: getattr(now, name) for name in _OF_PRUNING})
        check_together(options)
        return options

    def _validated(
        self,
        options: TreeOptions,
        X: TableLike | None,
        y: LabelsLike | None,
        sample_weight: ArrayLike | None,
    ) -> CostComplexityPath:
        """The cross-validated path: of these rows, or that of the fit."""
        if X is not None:
            return self._validate(options, X, y, sample_weight)
        known = self._model.cp_table
        if known is None or known.cv_error is None:
            raise InputError(
                f"cp={options.cp!r} is chosen by cross-validation, and the fit has made "
                "none: give X and y, the rows of the fit, or a cp."
            )
        wanted, left = known.n_leaves[known.choose(str(options.cp))], self._model.n_leaves
        if wanted > left:
            raise InputError(
                f"cp={options.cp!r} takes the tree of "
                f"{counted(wanted, 'leaf', 'leaves')}, and this one is already pruned to {left}: "
                "fit again."
            )
        return known

    def _validate(
        self,
        options: TreeOptions,
        X: TableLike,
        y: LabelsLike | None,
        sample_weight: ArrayLike | None,
    ) -> CostComplexityPath:
        rows, training = self._rows_of_fit(X, y, sample_weight)
        folds, threads = folds_of(rows, options, training), n_threads(options.n_jobs)
        return cross_validate(self._model, rows, options, folds, threads, options.progress)

    def _rows_of_fit(
        self, X: TableLike, y: LabelsLike | None, sample_weight: ArrayLike | None
    ) -> tuple[TreeRows, Training]:
        rows, training = self._read_again(X, y, sample_weight)
        model = self._model
        counts = np.zeros(model.units.shape[1], dtype=np.int64)
        np.add.at(counts, rows.classes, 1 if rows.units is None else rows.units)
        grown_from = model.units[0] >> model.part_bits
        if rows.exponent != model.row_exponent or (counts != grown_from).any():
            raise InputError(
                "These are not the rows that the tree was grown from: the weights of the classes "
                "differ. Give the rows and weights of the fit, without those that "
                "pruning='reduced_error' held out."
            )
        return rows, training

    def to_sklearn(self) -> DecisionTreeClassifier:
        """The same tree as a fitted DecisionTreeClassifier of scikit-learn.

        For whatever reads trees by that type, such as `sklearn.tree.plot_tree` or
        `shap.TreeExplainer`. It rounds rows to float32, and predicts the same on rows that float32
        holds, smoothed probabilities included: a threshold becomes the largest float32 that is at
        most as large. The conversion verifies this by a row for each leaf. Nodes are numbered
        alike, and a missing value takes the same branch (with missing="error", the heavier one).

        Trees over categories, with costs, with missing="fractional" or with a branch for missing
        values are refused.
        """
        return tree_as_sklearn(self)

    @property
    def feature_importances_(self) -> Float:
        """Weight times score of the nodes that ask each column, as shares of all."""
        return self._model.importances()
