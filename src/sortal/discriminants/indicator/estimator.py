"""IndicatorRegression, the estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sortal.base.save import OptionalAttribute
from sortal.decision.posterior import Decisions, leading
from sortal.decision.scores import identity, margin, public_functions
from sortal.discriminants.estimator import DiscriminantClassifier
from sortal.discriminants.explain import Decided
from sortal.discriminants.indicator.learn import (
    IndicatorModel,
    IndicatorOptions,
    build_indicator,
    show_indicator,
)
from sortal.discriminants.linear_functions import boundary
from sortal.modelfile.arrays import OptionsField, RecordField
from sortal.modelfile.fields import Layout

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal._typing import Float
    from sortal.discriminants.linear_functions import Boundary
    from sortal.discriminants.statistics import ClassStatistics
    from sortal.records.tables import Working


class IndicatorRegression(DiscriminantClassifier):
    """Linear regression on class indicators: f_k(x) = β_k0 + β_kᵀx, the largest wins.

    Each f_k is fitted by least squares to 1 in the rows of class k and 0 in the others; they add
    up to 1. It is the simplest linear classifier, and one to know the limits of: with three
    classes or more, one that lies between others can be masked, its function never the largest.
    `LinearDiscriminant` does not have this fault. No probabilities: f_k can be below 0 or above 1.

    Parameters
    ----------
    ridge : float, default=0.0
        Penalty ridge · ‖β_k‖², which leaves β_k0 free. With 0 and columns that depend on each
        other, the solution of least norm.
    class_weight : dict or "balanced", default=None
        Factor on the weight of each row by its class; "balanced" gives every class the same total.
    categorical_features : "from_dtype", "all", mask, positions or names, default="from_dtype"
        Words, truth values and categorical types are always categories; numbers are categories
        where named here. A category enters as one indicator for each of its values.
    missing : {"drop_rows", "mean", "error"}, default="drop_rows"
        Missing values at fit: the row is left out, the missing value takes the mean of its column
        (over the rows of the first call), or an error. At predict a missing value takes its mean
        given what is known of the row, by the scatter of all rows, except with "error". Without a
        ridge that is what a fit without the column would have said.
    unknown : {"skip", "error"}, default="skip"
        A value at predict that was never seen at fit is treated as a missing value, or is an error.
    n_jobs : int, default=None
        Threads; None means all cores (one inside a joblib worker). The result does not depend
        on it.

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

    _missing_words = "they take their mean given what is known of the row"

    _kept: ClassVar[Layout] = Layout(
        _model=RecordField(IndicatorModel),
        _fitted=OptionalAttribute(OptionsField(IndicatorOptions)),
    )

    def __init__(
        self,
        ridge: float = 0.0,
        *,
        class_weight: dict[Any, float] | str | None = None,
        categorical_features: Any = "from_dtype",
        missing: str = "drop_rows",
        unknown: str = "skip",
        n_jobs: int | None = None,
    ) -> None:
        self.ridge = ridge
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.missing = missing
        self.unknown = unknown
        self.n_jobs = n_jobs

    def predict(self, X: Any) -> NDArray[Any]:
        """The class with the largest function."""
        return self._predicted(self._score_rows(X, self._fitted_model().scores, leading))

    def decision_function(self, X: Any) -> Float:
        """f_k of each row; of two classes f of the second less f of the first."""
        scores = self._score_rows(X, self._fitted_model().scores, identity)
        return margin(self._spread(scores, -np.inf))

    def boundary(self, first: Any, second: Any) -> Boundary:
        """(β_0, β) of the hyperplane f_k = f_l: positive where the first is larger."""
        model: IndicatorModel = self._fitted_model()
        scores = model.scores
        return boundary(model.classes, scores.intercepts, scores.weights.T, first, second)

    def working(self, X: Any = None) -> Working:
        """The numbers of this fit: S_T, functions, boundaries; for rows X, f_k."""
        model: IndicatorModel = self._fitted_model()
        functions = None if X is None else self._score_rows(X, model.scores, identity)
        return show_indicator(model, functions, self._backend)

    @property
    def coef_(self) -> Float:
        """β_k, a row a class; of two classes their difference."""
        return public_functions(self._spread(self._fitted_model().scores.weights.T, axis=0))

    @property
    def intercept_(self) -> Float:
        """β_k0; of two classes their difference; -inf for a class without rows."""
        scores = self._fitted_model().scores
        return public_functions(self._spread(scores.intercepts, -np.inf, axis=0))

    def _options(self) -> IndicatorOptions:
        self._policies()
        return IndicatorOptions(self.ridge, self.class_weight)

    def _learn(self, stats: ClassStatistics, options: IndicatorOptions) -> IndicatorModel:
        return build_indicator(stats, options)

    def _decide(self, values: Float) -> Decided:
        model: IndicatorModel = self._fitted_model()
        anchor = np.broadcast_to(model.mean, model.gap.shape)
        return Decided(
            values, Decisions(values, leading(values)), np.zeros(len(model.classes)), anchor
        )
