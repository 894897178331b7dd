"""from_sklearn: a fitted tree of scikit-learn, taken in to be read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import sklearn
from sklearn.base import RegressorMixin
from sklearn.ensemble import BaseEnsemble
from sklearn.tree import DecisionTreeClassifier

from sortal.base.learner import FitReport, Fitted, InputNames
from sortal.data.columns import ColumnSchema, Schema, as_value
from sortal.decision.options import is_whole
from sortal.errors import (
    ColumnError,
    InputError,
    InputTypeError,
    LabelError,
    ParameterError,
    WeightError,
    counted,
    listed,
)
from sortal.native.trees import CUT, LEAF
from sortal.trees.estimator import TreeClassifier, float32_below
from sortal.trees.prune import FittedTree
from sortal.trees.split_scores import score_counts

if TYPE_CHECKING:
    from sortal._typing import Codes, Counts, Float, Mask, Places
    from sortal.data.columns import Values

    Int32 = Codes
    Int64 = Counts


# --- The nodes of a tree of scikit-learn: read, put in preorder, in sortal's terms ---------------

# A total of at most so many bits of units, as of weights that a fit reads.
_TOTAL_BITS = 48


class Nodes(NamedTuple):
    """The nodes of scikit-learn's tree in preorder, the branch of yes first.

    `yes` and `no` are the branches of each node, -1 at leaves. `shares` (N, K) are of the weight.
    """

    yes: Int64
    no: Int64
    attribute: Int64
    threshold: Float
    shares: Float
    weights: Float
    sizes: Int64
    missing_say_yes: Mask

    @property
    def asks(self) -> Mask:
        """Which nodes have a test."""
        return self.yes >= 0


def read_nodes(tree: DecisionTreeClassifier) -> Nodes:
    """The nodes of a fitted DecisionTreeClassifier."""
    inside = tree.tree_
    order = np.array(_preorder(inside.children_left.tolist(), inside.children_right.tolist()))
    place = np.full(len(order) + 1, -1)  # the last for the branches of a leaf, which are -1
    place[order] = np.arange(len(order))
    return Nodes(
        place[inside.children_left[order]],
        place[inside.children_right[order]],
        inside.feature[order].astype(np.int64),
        inside.threshold[order],
        inside.value[order, 0, :],
        inside.weighted_n_node_samples[order],
        inside.n_node_samples[order].astype(np.int64),
        inside.missing_go_to_left[order].astype(bool),
    )


def _preorder(yes: list[int], no: list[int]) -> list[int]:
    order, waiting = [], [0]
    while waiting:
        t = waiting.pop()
        order.append(t)
        if yes[t] >= 0:
            waiting += (no[t], yes[t])
    return order


def shows_missing(nodes: Nodes) -> Mask:
    """Which tests met missing values at fit for certain.

    Without missing values thresholds are finite, and a missing value would take the branch of more
    rows.
    """
    more = np.zeros(len(nodes.yes), dtype=bool)
    asks, sizes = nodes.asks, nodes.sizes
    more[asks] = sizes[nodes.yes[asks]] > sizes[nodes.no[asks]]
    return np.asarray(asks & (np.isinf(nodes.threshold) | (nodes.missing_say_yes != more)))


def _missing_branches(nodes: Nodes, heavier: Int32, with_missing: set[int]) -> Int32:
    """The branch of missing values, as scikit-learn has it at every test.

    It is -1, which comes to the same, where nothing shows missing values in the column and the
    branch is the heavier one.
    """
    branch = np.where(nodes.missing_say_yes, 0, 1).astype(np.int32)
    silent = ~np.isin(nodes.attribute, list(with_missing)) & (branch == heavier)
    return np.where(nodes.asks & ~silent, branch, -1).astype(np.int32)


def as_model(nodes: Nodes, schema: Schema, criterion: str) -> FittedTree:
    """The tree as sortal keeps it, its tests scored by a criterion."""
    n, asks = len(nodes.yes), nodes.asks
    units, exponent = as_units(nodes.shares, nodes.weights)
    branches = np.stack([nodes.yes, nodes.no], axis=1)[asks]
    score, heavier = np.zeros(n), np.full(n, -1, dtype=np.int32)
    score[asks] = _scores(units[branches], criterion)
    heavier[asks] = units.sum(axis=1)[branches].argmax(axis=1)  # the first of equals
    with_missing = set(nodes.attribute[shows_missing(nodes)].tolist())
    return FittedTree(
        schema=schema,
        column_kinds=(CUT,) * len(schema.columns),
        unseen=((),) * len(schema.columns),
        exponent=exponent,
        kind=np.where(asks, CUT, LEAF).astype(np.int8),
        attribute=np.where(asks, nodes.attribute, -1).astype(np.int32),
        threshold=np.where(asks, last_below(nodes.threshold), np.nan),
        missing=_missing_branches(nodes, heavier, with_missing),
        missing_counts=tuple(int(j in with_missing) for j in range(len(schema.columns))),
        policy="direction",
        child_start=np.concatenate([[0], np.cumsum(2 * asks)]).astype(np.int64),
        children=branches.ravel().astype(np.int32),
        value_start=np.zeros(n + 1, dtype=np.int64),
        values=np.empty(0, dtype=np.int32),
        branches=np.empty(0, dtype=np.int32),
        heavier=heavier,
        units=units,
        sizes=nodes.sizes,
        score=score,
        gain=score.copy(),
        exact=~asks,
        candidates=np.zeros(n),
    )


def last_below(thresholds: Float) -> Float:
    """For each v the largest float64 x with float32(x) <= v.

    Let f be the largest float32 that is at most v. Up to halfway to the next one numbers are
    rounded to f; the number halfway is so if f is even. Infinity stands for the float32 that would
    follow the largest one, as it does in rounding. An infinite v, below which all numbers are,
    stays what it is.
    """
    f = float32_below(thresholds)
    with np.errstate(over="ignore"):
        ends = np.stack([f, np.nextafter(f, np.float32(np.inf))]).astype(np.float64)
    halfway = np.clip(ends, -(2.0**128), 2.0**128).sum(axis=0) / 2
    is_even = f.view(np.uint32) % 2 == 0
    last = np.where(is_even, halfway, np.nextafter(halfway, -np.inf))
    return np.asarray(np.where(np.isinf(thresholds), thresholds, last))


def as_units(shares: Float, weights: Float) -> tuple[Int64, int]:
    """The weight of each class in units of 2**-exponent, with the largest class as in the shares.

    Weights that are whole numbers stay so: a share c / n, rounded, times n is off by less than
    n 2**-51.
    """
    dust = 2.0**-51
    finite = np.isfinite(shares).all() and np.isfinite(weights).all()
    if not finite or (weights <= 0).any() or (shares < -dust).any():
        raise WeightError(
            "This tree was fitted with weights that are negative, all zero or too large to be "
            "added up, so that shares of classes have no meaning: fit it again with finite weights "
            "of at least 0."
        )
    counts = shares.clip(min=0.0) * weights[:, None]
    labels, total = shares.argmax(axis=1), float(weights.max())
    whole = np.rint(counts)
    near = (np.abs(counts - whole) <= dust * weights[:, None]).all()
    same = (whole.argmax(axis=1) == labels).all() and ((whole > 0) == (counts > 0)).all()
    if near and same and total < 2.0**_TOTAL_BITS:
        return whole.astype(np.int64), 0
    return _rounded(counts, labels, _TOTAL_BITS - math.frexp(total)[1] or 1)


def _rounded(counts: Float, labels: Places, exponent: int) -> tuple[Int64, int]:
    units = np.rint(np.ldexp(counts, exponent)).astype(np.int64)
    if ((units == 0) & (counts > 0)).any():
        raise WeightError(
            "This tree was fitted with weights that span too many orders of magnitude: a class of "
            "some node vanishes beside the total. Drop such rows, and fit again."
        )
    # rounding keeps the order of classes, but can make two of them equal: then the first would win
    changed = np.flatnonzero(units.argmax(axis=1) != labels)
    units[changed, labels[changed]] += 1
    return units, exponent


def _scores(units: Int64, criterion: str) -> Float:
    """The score of each test from the units of its two branches, (tests, 2, K)."""
    classes = tuple(range(units.shape[2]))
    measure = "gini_decrease" if criterion == "gini" else "gain"
    scores = [getattr(score_counts(table, (True, False), classes, 0), measure) for table in units]
    # of branches that are nearly alike, rounding leaves a bit of either sign
    return np.maximum(scores, 0.0)


_CRITERIA = {"gini": "gini", "entropy": "gain", "log_loss": "gain"}


def from_sklearn(tree: DecisionTreeClassifier) -> TreeClassifier:
    """Take in a fitted decision tree of scikit-learn, to be read and drawn.

    The result predicts as the given tree does. scikit-learn rounds every number to float32 and
    asks float32(x) <= threshold; sortal asks x <= v of the number as it is. So v is the largest
    number that, rounded, is at most the threshold, such as 0.8000000417232512 beside 0.8.

    Each node keeps the class weights that scikit-learn gives it: whole numbers where weights are,
    else rounded to the 2**48th part of all weight, without changing which class is the largest.
    Scores are computed from them; no test is called exact, since none was searched for here.
    Nodes are numbered in preorder, as scikit-learn does it unless `max_leaf_nodes` is given: then
    the numbers of `apply` differ from scikit-learn's, the leaves do not.

    Parameters
    ----------
    tree : DecisionTreeClassifier or ExtraTreeClassifier
        Fitted, with one output and numbers only. Of a forest give one of its `estimators_`.

    Returns
    -------
    TreeClassifier
        Fitted. Its parameters are those of the tree that mean the same here: `criterion`
        ("entropy" and "log_loss" are "gain"), `max_depth`, `min_samples_leaf`,
        `min_weight_fraction_leaf`, `max_leaf_nodes`, and `leaf_size`, which is one less than a
        whole `min_samples_split`. `pruning` and `smoothing` are None, others the defaults. To fit
        it, or its clone, again grows a new tree by sortal's rules, which in general is not the
        given one.

    Notes
    -----
    Missing values take the branch that scikit-learn has for them at every node. It does not keep
    how many the fit met, nor where: conditions tell of them in columns where it shows that there
    were some, since a threshold is infinite, or they do not take the branch of more rows. Such a
    column counts as having had one.

    `size` is scikit-learn's `n_node_samples`: rows with weight, copies not counted. Under
    `monotonic_cst` scikit-learn moves the shares of some nodes, so that branches need not add up
    to the node above them. The range of the data is not known to the tree, nor, where weights
    have fractions, how many rows of each class a node had.

    Columns hold numbers, as in every tree of sortal: convert truth values by `astype(float)` and a
    sparse matrix by `toarray()`. Whole numbers beyond 2**53 are refused.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sortal import from_sklearn
    >>> iris = load_iris(as_frame=True)
    >>> X, y = iris.data, iris.target_names[iris.target]
    >>> tree = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    >>> model = from_sklearn(tree)
    >>> shown = model.to_frame()[["node", "test", "n", "prediction", "purity"]]
    >>> print(shown.round(3).to_string(index=False))
     node                                   test   n prediction  purity
        0 petal width (cm) <= 0.8000000417232512 150     setosa   0.333
        1                                         50     setosa   1.000
        2 petal width (cm) <= 1.7500000596046448 100 versicolor   0.500
        3                                         54 versicolor   0.907
        4                                         46  virginica   0.978
    >>> bool((model.predict(X) == tree.predict(X)).all())
    True
    """
    _refuse_others(tree)
    nodes = read_nodes(tree)
    estimator = TreeClassifier(pruning=None, smoothing=None, **_parameters(tree))
    schema = Schema(_columns(tree), _classes(tree))
    model = as_model(nodes, schema, estimator.criterion)
    named = hasattr(tree, "feature_names_in_")
    labels, options = np.array(tree.classes_), estimator._learner.read(estimator)
    estimator._fitted = Fitted(
        options, Schema(schema.columns), schema, labels, labels.dtype,
        InputNames(named, named, "pandas"), None, None, _report(tree, model), model,  # type: ignore[arg-type]
    )  # fmt: skip
    return estimator


# --- What can be taken in ------------------------------------------------------------------------


def _refuse_others(tree: DecisionTreeClassifier) -> None:
    """A fitted tree for one output whose tests ask numbers."""
    if not isinstance(tree, DecisionTreeClassifier):
        raise InputTypeError(
            "from_sklearn takes a fitted DecisionTreeClassifier or ExtraTreeClassifier of "
            f"scikit-learn, and a {type(tree).__name__} was given: {_remedy(tree)}."
        )
    if not hasattr(tree, "tree_"):
        raise InputError(
            f"This {type(tree).__name__} is not fitted, so that there is no tree to take in: call "
            "its fit first."
        )
    if tree.n_outputs_ > 1:
        raise InputError(
            f"This {type(tree).__name__} predicts {counted(tree.n_outputs_, 'output')} at once, "
            "and a tree of sortal predicts one: fit one tree for each column of y."
        )
    if _is_categorical(tree):
        raise InputError(
            f"This {type(tree).__name__} was fitted with categorical_features, whose tests cannot "
            "be taken in yet: fit sortal's TreeClassifier on the same table, which asks categories."
        )


def _remedy(given: object) -> str:
    if isinstance(given, RegressorMixin):
        return "it predicts numbers, and a tree of sortal predicts classes"
    if isinstance(given, BaseEnsemble):
        return "give one of its trees, such as estimators_[0], if they predict classes"
    if hasattr(given, "steps") or hasattr(given, "best_estimator_"):
        return "give the fitted tree inside it"
    return "give an estimator of one of these types, after its fit"


def _is_categorical(tree: DecisionTreeClassifier) -> bool:
    """Whether any column is a category, which scikit-learn knows since 1.10."""
    named = getattr(tree, "is_categorical_", None)
    counted = getattr(tree.tree_, "_n_categories", None)
    by_name = named is not None and bool(np.any(named))
    return by_name or (counted is not None and bool(np.any(np.asarray(counted) > 0)))


# --- What is kept --------------------------------------------------------------------------------


def _parameters(tree: DecisionTreeClassifier) -> dict[str, Any]:
    """The parameters that mean the same in both libraries."""
    given = tree.criterion
    name = given if isinstance(given, str) else type(given).__name__.lower()
    if name not in _CRITERIA:
        raise ParameterError(
            f"criterion={given!r} is not known, so that no test can be scored: a tree to be taken "
            f"in has one of {', '.join(map(repr, _CRITERIA))}."
        )
    same = ("max_depth", "min_samples_leaf", "min_weight_fraction_leaf", "max_leaf_nodes")
    parameters = {name: getattr(tree, name) for name in same}
    if is_whole(tree.min_samples_split):
        parameters["leaf_size"] = int(tree.min_samples_split) - 1
    return {"criterion": _CRITERIA[name], **parameters}


def _columns(tree: DecisionTreeClassifier) -> tuple[ColumnSchema, ...]:
    """Numbers by the names of the fit, or named as the columns of arrays are."""
    unnamed = [f"x{j}" for j in range(tree.n_features_in_)]
    names = [str(name) for name in getattr(tree, "feature_names_in_", unnamed)]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ColumnError(
            f"Two columns of this tree have the same name, {twice!r}, and columns are matched by "
            "name: rename one, so that each name occurs once, and fit again."
        )
    return tuple(ColumnSchema(name, "number") for name in names)


def _classes(tree: DecisionTreeClassifier) -> Values:
    try:
        classes = [as_value(label) for label in tree.classes_.tolist()]
    except TypeError:
        classes = [None]
    if None in classes:
        raise LabelError(
            f"The classes of this tree are of type {tree.classes_.dtype}, and labels are words, "
            "whole numbers or truth values: convert y, and fit again."
        )
    return tuple(label for label in classes if label is not None)


def _report(tree: DecisionTreeClassifier, model: FittedTree) -> FitReport:
    shape = f"{model.size_text()}; depth {model.depth()}"
    origin = (
        f"taken in from a {type(tree).__name__} of scikit-learn ({sklearn.__version__} is "
        "installed); no test is known to be the best"
    )
    names = [name for name, n in zip(model.schema.names, model.missing_counts, strict=True) if n]
    told = [f"fitted with missing values, of which it keeps no count, in {listed(names)}"]
    return FitReport(int(model.sizes[0]), {}, (shape, origin, *(told if names else [])))
