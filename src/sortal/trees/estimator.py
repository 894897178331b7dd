"""TreeClassifier, the estimator, and its conversion to scikit-learn."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import Tree
from sklearn.utils.validation import check_is_fitted

from sortal.base.labels import class_array, warn_of_measurements
from sortal.base.ladder import FitReport, note_classes
from sortal.base.save import OptionalAttribute
from sortal.base.to_sklearn import refuse_others, verify, wear_names
from sortal.data.sources import as_read, gather_blocks
from sortal.decision.options import check_progress, options_for
from sortal.decision.posterior import log_of
from sortal.decision.scores import gather_answered
from sortal.errors import ParameterError, choose
from sortal.modelfile.arrays import OptionsField, RecordField
from sortal.modelfile.fields import Layout
from sortal.native.trees import LEAF
from sortal.trees.cost_complexity import CostComplexityPath
from sortal.trees.criteria import CRITERIA_BY_NAME
from sortal.trees.learn import read_rows
from sortal.trees.model import TreeModel, decide_labels, reweigh
from sortal.trees.prunable import PrunedTree, size_notes
from sortal.trees.route import RouteBlock, SpreadBlock
from sortal.trees.rows import TreeOptions, read_tree_costs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import Float, Places
    from sortal.trees.prune import Pruned
    from sortal.trees.rows import TreeRows


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
        criterion=CRITERIA_BY_NAME[model._grown_by.criterion].sklearn,
        min_samples_split=max(2, model.leaf_size + 1),
        **{name: getattr(model, name) for name in _SAME},
    )
    wear_names(model, theirs)
    theirs.n_outputs_, theirs.n_classes_ = 1, np.intp(len(model.classes_))
    theirs.max_features_ = model.n_features_in_
    theirs.tree_ = _tree(inner, model._spread(_values(inner)), theirs.criterion)
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
        both = inner.children[inner.child_start[t] : inner.child_start[t + 1]]
        rows[both] = rows[t]
        rows[both, inner.attribute[t]] = sides[:, t]
    return rows


class TreeClassifier(PrunedTree):
    """A decision tree whose every test is the best one, on tables of words and numbers.

    A node asks x <= v of a number, a date or an ordered category, and x in V of a category, or
    has one branch for each of its values. Numbers and categories compete on the same scale; V may
    be any set of values. Counts are whole numbers and ties are settled by rule (the earlier
    column, the smaller threshold, fewer values in V), so that neither the order of rows nor the
    number of threads changes a tree. The test of a node is the true optimum and says `exact`, or
    says how many candidates it stood against.

    A node is a leaf when it is small (`leaf_size`) or pure (`purity`) enough, lies at `max_depth`,
    or has no test that scores above zero and at least `min_gain`.

    Parameters
    ----------
    criterion : {"gain", "gain_ratio", "gini", "cart"}, default="gain"
        What the best test has most of: information gain in bits; the gain ratio of C4.5 (of the
        tests with at least the mean gain, the largest gain by split information); the decrease of
        the Gini index; or the CART measure, 2 n_Y/n n_N/n Σ_k abs(P(k|Y) - P(k|N)).
    purity : float from 0 to 1, default=1.0
        A node whose largest class has at least this share is a leaf.
    leaf_size : int of at least 0, default=1
        A node of at most this size is a leaf. Sizes count rows, or copies of rows where weights
        are whole numbers.
    max_depth : int of at least 0, default=None
        The most tests from the root to a leaf; 0 makes the root a leaf, None sets no bound.
    min_samples_leaf : int of at least 1, or float between 0 and 1, default=1
        The least size of each side of a test (of two branches at least, where there is one per
        value); a float is a share of the rows, rounded up.
    min_weight_fraction_leaf : float from 0 to 0.5, default=0.0
        The same for the weight, as a share of the weight of all rows.
    min_gain : float of at least 0, default=0.0
        A node whose best test scores less, in the criterion's own scale, is a leaf.
    max_leaf_nodes : int of at least 1, default=None
        Grow the node with the largest weight times score first, until there are so many leaves.
    categorical_split : {"subset", "multiway"} or dict, default="subset"
        How categories are asked: x in V, or one branch per value. A dict gives one of these words
        by the name of a column, "subset" standing for the columns it does not name. An ordered
        category (of pandas, or an Enum of polars) is cut like a number, unless a dict names it.
        "multiway" and "cart" exclude each other.
    max_subset : int of at least 1, default=None
        The most values in V, which is written as the side that holds fewer of a node's values.
    pruning : {"pessimistic", "cost_complexity", "reduced_error"} or None, default="pessimistic"
        Take tests out again after growing: by C4.5's estimates of errors; by Breiman's cost
        complexity as rpart does; or where rows held out are told no worse without them. None keeps
        the tree as grown, which is the textbook's.
    cp : {"one_se", "min"} or float of at least 0, default="one_se"
        Of "cost_complexity": the price of a leaf as a share of the root's risk (rpart's cp), or
        how cross-validation chooses it: the smallest tree within one standard error of the least
        error, or the one with the least error.
    cv : int, array of shape (n_samples,), splitter or iterable, default=10
        The folds of that: how many (dealt out within each class), a fold number for each row, or
        as in scikit-learn, where each row is to be left out once.
    validation_fraction : float between 0 and 1, default=0.2
        Of "reduced_error": the share of each class that is held out. The tree grows from the rest.
    confidence : "auto", or float above 0 and at most 1, default="auto"
        Of "pessimistic": the level of the upper bound of each node's error rate; the smaller, the
        more is pruned. C4.5 has 0.25. "auto" falls with the number n of rows, (15/n)² from 0.5 at
        21 rows to 0.001 at 474: a dozen rows keep the textbook's tree, and larger tables have trees
        that are smaller and more often right. `fit_report_` says the level. Whole-number weights
        count as so many rows; otherwise n is the effective number of rows, (Σ w)² / Σ w².
    subtree_raising : bool, default=False
        Of "pessimistic": a test may also give its place to its largest branch, as in C4.5; not
        where rows go down in parts (missing="fractional").
    join_leaves : bool, default=False
        Where all branches of a test end in leaves of one class, make it a leaf.
    progress : callable, default=None
        Called after each fold of the cross-validation with how many are done and how many there
        are. What it raises ends the fit.
    random_state : int of at least 0, RandomState or None, default=0
        Which rows are dealt into which fold, or held out. None is 0 here: a fit gives the same
        model each time. From a RandomState a number is drawn at each fit.
    priors : array-like of shape (n_classes,) or dict, default=None
        π in the order of `classes_`, or by label: the rows of each class count for so much of the
        whole, in tests and in shares. By default the share of each class.
    class_weight : dict or "balanced", default=None
        Factor on the weight of each row by its class; "balanced" gives every class the same total,
        as equal priors do. Sizes count rows in any case. Not together with `priors`.
    costs : array-like of shape (n_classes, n_classes), default=None
        costs[i, j] is the cost of saying class j when class i is true. A node says the class of
        least expected cost, and in the choice of tests a row counts times Σ_j costs[i, j]. Where
        all that is wrong costs the same, nothing changes.
    smoothing : {"shrinkage", "laplace", "m_estimate"} or None, default="shrinkage"
        How class probabilities follow from the proportions in nodes; predictions follow them,
        while counts, purity and error are printed as they are. With n the size of a node and n_k
        the part of class k of K in it: "shrinkage", from the root down, p(parent) + (n_k/n -
        n_k(parent)/n(parent)) / (1 + λ / n(parent)); "laplace", (n_k + 1) / (n + K);
        "m_estimate", (n_k + m p_k) / (n + m), p the proportions at the root; None, n_k/n. Only
        the last lets a class that has rows have probability 0.
    smoothing_strength : float of at least 0, default=None
        λ, by default 5: a node of five rows hands down half of what its split tells; or m, by
        default the number of classes, which is Laplace's rule where these are equally frequent.
    categorical_features : "from_dtype", "all", mask, positions or names, default="from_dtype"
        Words, truth values and categorical types are always categories; numbers are categories
        where named here. Positions count the columns of X without y.
    missing : {"direction", "branch", "fractional", "majority", "error"}, default="direction"
        What a missing value does at a node that asks its column. "direction": it takes the side
        that makes the better test, which may be a side of missing values alone. "branch": missing
        values have a branch of their own. "fractional": a row goes down every branch, weighted by
        the branches' known rows, and a test is scored by its known rows and their share (C4.5).
        "majority": scored the same way, missing values go with the heavier branch. "error": a
        missing value is an error that names its column, at fit and at predict. Where the fit met
        none at a node, a missing value takes the branch of larger weight (a node with one branch
        per value keeps the row), unless it is "fractional".
    unknown : {"majority", "error"}, default="majority"
        A value at predict that no row had at fit takes the branch of larger weight (a node with
        one branch per value keeps the row), and is warned of with its number; or it is an error.
        A value that was fitted but is absent from the rows of a node goes the same way there,
        without a warning.
    n_jobs : int, default=None
        Threads; None means all cores (one inside a joblib worker). The result does not depend
        on it.

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

    _missing_words = (
        "they take the branch of larger weight, or stay where a node has one branch per value"
    )
    _missing_remedy = (
        "Fill them, drop their rows, or set missing='direction' to let the tree read them."
    )
    _unknown_remedy = (
        "Map them to known values, or set unknown='majority' to let them take the branch of larger "
        "weight."
    )

    _kept: ClassVar[Layout] = Layout(
        _model=RecordField(TreeModel),
        _grown_by=OptionsField(TreeOptions),
        cp_table_=OptionalAttribute(RecordField(CostComplexityPath)),
    )

    def __init__(
        self,
        criterion: str = "gain",
        *,
        purity: float = 1.0,
        leaf_size: int = 1,
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_gain: float = 0.0,
        max_leaf_nodes: int | None = None,
        categorical_split: str | Mapping[str, str] = "subset",
        max_subset: int | None = None,
        pruning: str | None = "pessimistic",
        cp: str | float = "one_se",
        cv: Any = 10,
        validation_fraction: float = 0.2,
        confidence: Any = "auto",
        subtree_raising: bool = False,
        join_leaves: bool = False,
        progress: Callable[[int, int], object] | None = None,
        random_state: int | np.random.RandomState | None = 0,
        priors: ArrayLike | dict[Any, float] | None = None,
        class_weight: dict[Any, float] | str | None = None,
        costs: ArrayLike | None = None,
        smoothing: str | None = "shrinkage",
        smoothing_strength: float | None = None,
        categorical_features: Any = "from_dtype",
        missing: str = "direction",
        unknown: str = "majority",
        n_jobs: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.purity = purity
        self.leaf_size = leaf_size
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_gain = min_gain
        self.max_leaf_nodes = max_leaf_nodes
        self.categorical_split = categorical_split
        self.max_subset = max_subset
        self.pruning = pruning
        self.cp = cp
        self.cv = cv
        self.validation_fraction = validation_fraction
        self.confidence = confidence
        self.subtree_raising = subtree_raising
        self.join_leaves = join_leaves
        self.progress = progress
        self.random_state = random_state
        self.priors = priors
        self.class_weight = class_weight
        self.costs = costs
        self.smoothing = smoothing
        self.smoothing_strength = smoothing_strength
        self.categorical_features = categorical_features
        self.missing = missing
        self.unknown = unknown
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Grow a tree on a table and its labels.

        Parameters
        ----------
        X : data frame or array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), or str
            The labels, or the name of the column of X that holds them.
        sample_weight : array-like of shape (n_samples,), default=None
            Whole numbers are copies of a row; 0 leaves a row out, but not its class out of
            `classes_`. As soon as one has a fraction, weights are importances, whose unit does not
            matter.

        Returns
        -------
        self
        """
        options, how = self._options(), self._pruning_options(self.missing)
        training = self._open_training(X, y, sample_weight)
        # a tree looks at all rows together: one block spares it a copy of them
        source = replace(training.source, block_rows=training.source.table.n_rows)
        batch = gather_blocks(list(self._engine().map(source, as_read)))
        rows = read_rows(batch, training.declared, options)
        missing = dict(zip(rows.schema.names, rows.encoded.missing.tolist(), strict=True))
        if self.missing == "error":
            self._report_cells(missing, {})
        classes = training.classes(rows.schema.classes)
        options = options_for(options, classes, rows.schema.classes)
        pruned = self._grow_pruned(rows, options, how, sample_weight)
        self.classes_ = class_array(classes, training.label_dtype)
        self._schema, self._model, self._grown_by = rows.schema, pruned.model, options
        self.fit_report_ = note_classes(_fit_report(rows, pruned), classes, rows.schema.classes)
        self._keep_complexity(pruned)
        self._set_input_names(training)
        warn_of_measurements(training.source.target, len(self._classes))
        self._warn_of_one_leaf()
        return self

    def predict(
        self,
        X: Any,
        *,
        priors: ArrayLike | dict[Any, float] | None = None,
        costs: ArrayLike | None = None,
    ) -> NDArray[Any]:
        """The class of each row: of the largest share where it ends, or of least expected cost.

        Among equals the first.

        Parameters
        ----------
        X : table
        priors, costs :
            Instead of those of the fit, for what is said: the tests stay as they are.
        """
        check_is_fitted(self)
        model = self._model
        given = model.costs
        if costs is not None:
            given = read_tree_costs(self._read_costs(costs), model.classes)
        if model.policy == "fractional":
            return self._predicted(decide_labels(self._route(X, self._shares(priors)), given))
        said = model.labels()
        if priors is not None or costs is not None:
            said = decide_labels(self._shares(priors), given)
        return self._route(X, self._predicted(said))

    def predict_proba(self, X: Any, *, priors: ArrayLike | dict[Any, float] | None = None) -> Float:
        """The share of each class where each row ends, classes in the order of `classes_`.

        With other priors than those of the fit, if given.
        """
        check_is_fitted(self)
        return self._spread(self._route(X, self._shares(priors)))

    def predict_log_proba(
        self, X: Any, *, priors: ArrayLike | dict[Any, float] | None = None
    ) -> Float:
        """ln of the probabilities; without smoothing, -inf for a class that the leaf lacks."""
        return log_of(self.predict_proba(X, priors=priors))

    def apply(self, X: Any) -> Places:
        """The node where each row ends.

        That is a leaf, or a node with one branch per value that has none for the row's. Where
        missing values go down every branch, it is the end of the heavier ones.
        """
        return self._route(X).astype(np.intp)

    def decision_path(self, X: Any) -> csr_matrix:
        """The nodes that each row visits: a sparse matrix of ones, a row a row, a column a node."""
        nodes = self._route(X)
        starts, met = self._model.paths(nodes)
        ones = np.ones(len(met), dtype=np.intp)
        return csr_matrix((ones, met, starts), shape=(len(nodes), self._model.n_nodes))

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

    def get_depth(self) -> int:
        """The most tests from the root to a leaf."""
        check_is_fitted(self)
        return self._model.depth()

    def get_n_leaves(self) -> int:
        """How many leaves the tree has."""
        check_is_fitted(self)
        return self._model.n_leaves

    @property
    def feature_importances_(self) -> Float:
        """Weight times score of the nodes that ask each column, as shares of all."""
        check_is_fitted(self)
        return self._model.importances()

    def _shares(self, priors: Any) -> Float:
        """The shares in all nodes, for the priors of the fit or others."""
        model, shares = self._model, self._model.shares()
        given = self._read_priors(priors)
        return shares if given is None else reweigh(shares, model.plain_shares()[0], given)

    def _route(self, X: Any, answers: NDArray[Any] | None = None) -> NDArray[Any]:
        source = self._open(X)
        model = self._model
        block: RouteBlock | SpreadBlock = RouteBlock(model, answers)
        if answers is not None and model.policy == "fractional":
            block = SpreadBlock(model, answers)
        blocks = list(self._engine().map(source, block))
        answered = gather_answered(blocks)
        self._report_columns(answered.missing, answered.unknown)
        return answered.answer

    def _origin(self) -> tuple[str, Any]:
        # to hash the rows themselves took a fifth of the fit of a small tree to 500,000 rows
        model: TreeModel = self._model
        return "root", [model.units[0].tolist(), model.exponent, model.ranges, model.missing_counts]

    def _options(self) -> TreeOptions:
        choose("unknown", self.unknown, ("majority", "error"))
        check_progress("progress", self.progress)
        return TreeOptions(
            self.criterion,
            self.purity,
            self.leaf_size,
            self.max_depth,
            self.min_samples_leaf,
            self.min_weight_fraction_leaf,
            self.min_gain,
            self.max_leaf_nodes,
            self.categorical_split,
            self.max_subset,
            missing=self.missing,
            priors=self.priors,
            class_weight=self.class_weight,
            costs=self.costs,
            smoothing=self.smoothing,
            smoothing_strength=self.smoothing_strength,
        )


def _fit_report(rows: TreeRows, pruned: Pruned) -> FitReport:
    missing = zip(rows.schema.names, rows.encoded.missing.tolist(), strict=True)
    notes = (*size_notes(pruned.model), *pruned.notes)
    return FitReport(rows.size, {name: n for name, n in missing if n}, notes)
