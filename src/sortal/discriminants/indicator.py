"""IndicatorRegression, the estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal.decision.scores import public_functions
from sortal.discriminants.estimator import DiscriminantClassifier, note_columns, scored_learner
from sortal.discriminants.linear.learn import IndicatorModel, IndicatorOptions, learn_indicator
from sortal.discriminants.linear_functions import boundary
from sortal.discriminants.working import show_indicator

if TYPE_CHECKING:
    from sortal._typing import Float, Label, TableLike
    from sortal.discriminants.linear_functions import Boundary
    from sortal.records.tables import Working


INDICATOR = scored_learner(
    "IndicatorRegression", IndicatorOptions, IndicatorModel, learn_indicator, notes=note_columns
)


class IndicatorRegression(
    IndicatorOptions, DiscriminantClassifier[IndicatorOptions, IndicatorModel]
):
    """Linear regression on class indicators: f_k(x) = β_k0 + β_kᵀx, the largest wins.

    Each f_k is fitted by least squares to 1 in the rows of class k and 0 in the others; they add
    up to 1. It is the simplest linear classifier, and one to know the limits of: with three
    classes or more, one that lies between others can be masked, its function never the largest.
    `LinearDiscriminant` does not have this fault. No probabilities: f_k can be below 0 or above 1.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    terms_ : ndarray of shape (n_terms,)
        What coefficients refer to: columns, and column=value for categories.
    coef_, intercept_ : ndarray of shape (n_classes, n_terms) and (n_classes,), or with one row
        β_k and β_k0. Of two classes the second's less the first's, which is `decision_function`.
    means_ : ndarray of shape (n_classes, n_terms)
    condition_ : float
        Condition number of S_T + ridge I, scaled to a diagonal of ones.
    fit_report_ : FitReport
        Rows, missing values by column, notes.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    Examples
    --------
    >>> from sortal import IndicatorRegression, datasets
    >>> iris = datasets.iris()
    >>> model = IndicatorRegression().fit(iris, "species")
    >>> print(model.decision_function(iris[:1]).round(3), model.predict(iris[:1]))
    [[ 0.981  0.12  -0.101]] ['setosa']
    """

    _learner = INDICATOR

    def boundary(self, first: Label, second: Label) -> Boundary:
        """(β_0, β) of the hyperplane f_k = f_l: positive where the first is larger."""
        model = self._model
        scores = model.scores
        return boundary(model.classes, scores.intercepts, scores.weights.T, first, second)

    def working(self, X: TableLike | None = None) -> Working:
        """The numbers of this fit: S_T, functions, boundaries; for rows X, f_k."""
        decided = self._decided(X)
        functions = None if decided is None else decided.functions
        return self._framed(show_indicator(self._model, functions))

    @property
    def coef_(self) -> Float:
        """β_k, a row a class; of two classes their difference."""
        weights = self._model.scores.weights.T
        return public_functions(self._fitted.over_classes(weights, axis=0))

    @property
    def intercept_(self) -> Float:
        """β_k0; of two classes their difference; -inf for a class without rows."""
        constants = self._model.scores.intercepts
        return public_functions(self._fitted.over_classes(constants, -np.inf, axis=0))
