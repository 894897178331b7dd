"""from_sklearn: a fitted tree of scikit-learn, taken in to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn
from sklearn.base import RegressorMixin
from sklearn.ensemble import BaseEnsemble
from sklearn.tree import DecisionTreeClassifier

from sortal.data.checks import is_whole
from sortal.data.printing import counted
from sortal.data.schema import ColumnSchema, Schema
from sortal.data.values import as_value
from sortal.errors import (
    ColumnError,
    InputError,
    InputTypeError,
    LabelError,
    OptionError,
    listed,
)
from sortal.estimators.base import FitReport
from sortal.estimators.tree import TreeClassifier
from sortal.tasks.sklearn_nodes import as_model, read_nodes

if TYPE_CHECKING:
    from sortal.data.values import Values
    from sortal.models.tree import TreeModel

_CRITERIA = {"gini": "gini", "entropy": "gain", "log_loss": "gain"}


def from_sklearn(tree: Any) -> TreeClassifier:
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
    estimator.classes_ = np.array(tree.classes_)
    estimator._schema, estimator._model = schema, model
    estimator._grown_by = estimator._options()
    estimator.fit_report_ = _report(tree, model)
    estimator.n_features_in_ = len(schema.columns)
    estimator._by_name = hasattr(tree, "feature_names_in_")
    if estimator._by_name:
        estimator.feature_names_in_ = np.array(schema.names, dtype=object)
    estimator._backend = "pandas"
    return estimator


# --- What can be taken in ------------------------------------------------------------------------


def _refuse_others(tree: Any) -> None:
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


def _remedy(given: Any) -> str:
    if isinstance(given, RegressorMixin):
        return "it predicts numbers, and a tree of sortal predicts classes"
    if isinstance(given, BaseEnsemble):
        return "give one of its trees, such as estimators_[0], if they predict classes"
    if hasattr(given, "steps") or hasattr(given, "best_estimator_"):
        return "give the fitted tree inside it"
    return "give an estimator of one of these types, after its fit"


def _is_categorical(tree: Any) -> bool:
    """Whether any column is a category, which scikit-learn knows since 1.10."""
    named = getattr(tree, "is_categorical_", None)
    counted = getattr(tree.tree_, "_n_categories", None)
    by_name = named is not None and bool(np.any(named))
    return by_name or (counted is not None and bool(np.any(np.asarray(counted) > 0)))


# --- What is kept --------------------------------------------------------------------------------


def _parameters(tree: Any) -> dict[str, Any]:
    """The parameters that mean the same in both libraries."""
    given = tree.criterion
    name = given if isinstance(given, str) else type(given).__name__.lower()
    if name not in _CRITERIA:
        raise OptionError(
            f"criterion={given!r} is not known, so that no test can be scored: a tree to be taken "
            f"in has one of {', '.join(map(repr, _CRITERIA))}."
        )
    same = ("max_depth", "min_samples_leaf", "min_weight_fraction_leaf", "max_leaf_nodes")
    parameters = {name: getattr(tree, name) for name in same}
    if is_whole(tree.min_samples_split):
        parameters["leaf_size"] = int(tree.min_samples_split) - 1
    return {"criterion": _CRITERIA[name], **parameters}


def _columns(tree: Any) -> tuple[ColumnSchema, ...]:
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


def _classes(tree: Any) -> Values:
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


def _report(tree: Any, model: TreeModel) -> FitReport:
    shape = f"{model.size_text()}; depth {model.depth()}"
    origin = (
        f"taken in from a {type(tree).__name__} of scikit-learn ({sklearn.__version__} is "
        "installed); no test is known to be the best"
    )
    names = [name for name, n in zip(model.schema.names, model.holes, strict=True) if n]
    told = [f"fitted with missing values, of which it keeps no count, in {listed(names)}"]
    return FitReport(int(model.sizes[0]), {}, (shape, origin, *(told if names else [])))
