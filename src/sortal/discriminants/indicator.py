"""Regression on class indicators: the model, its least squares, the estimator."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sortal.base.options import categorical_features, class_weight, n_jobs, number
from sortal.decision.geometry import Geometry, survey
from sortal.decision.scores import public_functions
from sortal.discriminants.estimator import DiscriminantClassifier, note_columns, scored_learner
from sortal.discriminants.linear_functions import LinearMap, boundary
from sortal.discriminants.statistics import (
    FILLED,
    INDICATORS,
    class_statistics,
    missing_policy,
    refuse_constant,
    unknown_policy,
)
from sortal.discriminants.working import show_indicator
from sortal.modelfile.arrays import Array, RecordField
from sortal.modelfile.fields import FromSchema, Layout, check_scatter

if TYPE_CHECKING:
    from sortal._typing import CategoricalFeatures, ClassWeight, Float, Label, TableLike
    from sortal.base.learner import Training
    from sortal.data.columns import Values
    from sortal.data.schema import Schema
    from sortal.discriminants.linear_functions import Boundary
    from sortal.discriminants.statistics import ClassStatistics, MissingPolicy, UnknownPolicy
    from sortal.records.tables import Working
    from sortal.summaries.counts import DiscriminantSummary


@dataclass(eq=False, repr=False)
class IndicatorOptions:
    """The parameters of regression on class indicators."""

    ridge: float = number(
        0.0,
        """Penalty ridge · ‖β_k‖², which leaves β_k0 free. With 0 and columns that depend on each
        other, the solution of least norm.""",
    )
    _: KW_ONLY
    class_weight: ClassWeight = class_weight()
    categorical_features: CategoricalFeatures = categorical_features(f"{INDICATORS}.")
    missing: MissingPolicy = missing_policy(
        f"{FILLED} Without a\nridge that is what a fit without the column would have said."
    )
    unknown: UnknownPolicy = unknown_policy()
    n_jobs: int | None = n_jobs()


@dataclass(frozen=True, eq=False)
class IndicatorModel:
    """f_k(x) = share of class k + (x - mean of all rows)ᵀβ_k; the mean is center + `mean`."""

    classes: Values
    geometry: Geometry
    center: Float
    gap: Float
    mean: Float
    shares: Float
    total: Float
    scores: LinearMap

    LAYOUT: ClassVar[Layout] = Layout(
        classes=FromSchema("classes"),
        geometry=RecordField(Geometry),
        center=Array("f8", "terms"),
        gap=Array("f8", "classes", "terms"),
        mean=Array("f8", "terms"),
        shares=Array("f8", "classes", least=0.0),
        total=Array("f8", "terms", "terms"),
        scores=RecordField(LinearMap, functions="classes"),
    )

    def check(self) -> None:
        """Refuse what is no scatter of rows."""
        check_scatter(self.total)

    @property
    def condition(self) -> float:
        """The condition number of S_T + ridge I, scaled to a diagonal of ones."""
        return self.geometry.condition

    @property
    def anchor(self) -> Float:
        """Where classes stand, from the center: at the mean of all rows."""
        return np.broadcast_to(self.mean, self.gap.shape)

    @property
    def unit(self) -> float:
        """The size of differences between functions."""
        return 1.0

    @property
    def size(self) -> int:
        """How many numbers predict needs: K functions of p terms and a constant."""
        return self.scores.size


# --- Least squares on class indicators, from class statistics ------------------------------------


def learn_indicator(
    summary: DiscriminantSummary | ClassStatistics,
    schema: Schema,
    options: IndicatorOptions,
    training: Training | None,  # noqa: ARG001
) -> IndicatorModel:
    """The model of a summary."""
    return build_indicator(class_statistics(summary, schema, options.class_weight), options)


def build_indicator(stats: ClassStatistics, options: IndicatorOptions) -> IndicatorModel:
    """f_k(x) = β_k0 + β_kᵀx fitted to 1 in the rows of class k and 0 in the others. (Bar indicator)

    The normal equations are (S_T + ridge I) β_k = n_k (μ_k - μ): the moments are all they need.
    Where S_T is singular, the solution of least norm.
    """
    nothing = np.zeros((1, len(stats.center)))
    refuse_constant(survey(stats.total, nothing, stats.magnitude), stats)
    penalized = stats.total + options.ridge * np.eye(len(stats.center))
    geometry = survey(penalized, nothing, stats.magnitude)
    target = stats.weight[:, None] * (stats.gap - stats.mean)
    weights = geometry.sphere @ (geometry.sphere.T @ target.T)
    shares = stats.weight / stats.total_weight
    offsets = shares - stats.mean @ weights
    return IndicatorModel(
        classes=stats.classes,
        geometry=geometry,
        center=stats.center,
        gap=stats.gap,
        mean=stats.mean,
        shares=shares,
        total=stats.total,
        scores=LinearMap(
            stats.design,
            stats.center,
            weights,
            offsets,
            stats.conditional_mean(weights, offsets),
        ),
    )


# --- The estimator -------------------------------------------------------------------------------

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

    learner = INDICATOR

    def boundary(self, first: Label, second: Label) -> Boundary:
        """(β_0, β) of the hyperplane f_k = f_l: positive where the first is larger."""
        model = self._model
        scores = model.scores
        return boundary(model.classes, scores.intercepts, scores.weights.T, first, second)

    def working(self, X: TableLike | None = None) -> Working:
        """The numbers of this fit: S_T, functions, boundaries; for rows X, f_k."""
        decided = self._decided(X)
        functions = None if decided is None else decided.functions
        return show_indicator(self._model, functions).into(self._backend)

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
