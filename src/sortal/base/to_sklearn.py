"""Conversion of fitted models to estimators of scikit-learn: what all families share.

What is set are the attributes that scikit-learn's `fit` leaves. Every estimator is asked about rows
before it is handed out, and none is where it would answer otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from sklearn.utils.validation import check_is_fitted

from sortal.base.learner import refuse_one_class
from sortal.errors import ColumnError, InputError, LabelError, ParameterError, listed

if TYPE_CHECKING:
    from sortal._typing import Float
    from sortal.base.classifier import TableClassifier


# Probabilities agree to this, or there is no conversion.
AGREED = 1e-9

# How many rows are tried around each class mean.
_AROUND = 16


def refuse_others(model: TableClassifier[Any, Any, Any], costs: Any) -> None:
    """A fitted model of numbers, which predicts the most probable class."""
    check_is_fitted(model)
    owner = type(model).__name__
    others = [column.name for column in model._schema.columns if column.kind != "number"]
    if others:
        kinds = "column is" if len(others) == 1 else "columns are"
        raise ColumnError(
            f"to_sklearn converts a {owner} of numbers, and {len(others)} {kinds} of another kind "
            f"({listed(others)}): scikit-learn's equivalent reads numbers only. Drop or encode "
            "such columns, fit again and convert."
        )
    if costs is not None:
        raise ParameterError(
            f"This {owner} decides by costs, and scikit-learn's equivalent by the largest "
            "probability: set costs=None, fit again, convert, and weigh the probabilities of "
            "predict_proba by the costs."
        )


def refuse_absent(model: Any) -> None:
    """Two classes at least, each with a prior above 0."""
    refuse_one_class(model._schema.classes, "to_sklearn")
    priors = model._fitted.over_classes(model._model.prior, axis=0)
    if absent := model.classes_[priors == 0].tolist():
        raise LabelError(
            f"The prior of {listed(absent)} is 0, and scikit-learn takes the logarithm of each: "
            "drop such classes, or give them a prior above 0, fit again and convert."
        )


def given_priors(model: Any) -> Float | None:
    """Priors for the constructor, in the order of the classes; None where rows gave them."""
    return None if model.priors is None else model._fitted.over_classes(model._model.prior, axis=0)


def wear_names(model: TableClassifier[Any, Any, Any], theirs: Any) -> None:
    """Classes and columns, as scikit-learn's `fit` leaves them."""
    theirs.classes_ = model.classes_.copy()
    theirs.n_features_in_ = model.n_features_in_
    if hasattr(model, "feature_names_in_"):
        theirs.feature_names_in_ = model.feature_names_in_.copy()


def rows_around(means: Float, variances: Float) -> Float:
    """Class means, what lies halfway between two of them, and rows around them."""
    z = np.random.default_rng(0).normal(size=(_AROUND, *means.shape))
    around = (means + z * np.sqrt(variances)).reshape(-1, means.shape[1])
    return np.concatenate([means, (means[1:] + means[:-1]) / 2, around])


def verify(model: Any, theirs: Any, rows: Float) -> None:
    """The same probabilities, and the same classes where these tell two apart."""
    X: Any = rows
    if hasattr(model, "feature_names_in_"):
        names = model.feature_names_in_.tolist()
        X = nw.from_numpy(rows, names, backend=model._backend).to_native()
    ours, same = model.predict_proba(X), theirs.predict_proba(X)
    apart = np.abs(ours - same).max(axis=1)
    first, second = np.sort(np.column_stack([ours, np.zeros(len(ours))]), axis=1).T[[-1, -2]]
    other = (model.predict(X) != theirs.predict(X)) & (first - second > AGREED)
    wrong = ~(apart <= AGREED) | other  # NaN is wrong, too
    if wrong.any():
        raise InputError(
            f"The {type(theirs).__name__} made of this {type(model).__name__} predicts otherwise "
            f"in {int(wrong.sum())} of {len(rows)} rows that were tried, so that it is not handed "
            f"out: probabilities differ by up to {np.max(apart):.1g}, and {AGREED:g} is allowed. "
            "Its formulas lose digits of numbers that are large beside their spread, or of nearly "
            "collinear columns: subtract the mean of each column, or drop columns, and fit again."
        )
