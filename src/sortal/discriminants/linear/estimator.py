"""LinearDiscriminant, the estimator, and its conversion to scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from sortal.base.save import OptionalAttribute
from sortal.base.to_sklearn import (
    given_priors,
    refuse_absent,
    refuse_others,
    rows_around,
    verify,
    wear_names,
)
from sortal.decision.scores import identity, public_functions
from sortal.discriminants.estimator import GaussianDiscriminant
from sortal.discriminants.held_out import LeaveOneOutMixin
from sortal.discriminants.linear.learn import LinearModel, LinearOptions, build_linear
from sortal.discriminants.linear.leave_one_out import LinearLeaveOut
from sortal.discriminants.linear.working import show_linear
from sortal.discriminants.linear_functions import boundary
from sortal.errors import choose
from sortal.modelfile.arrays import OptionsField, RecordField
from sortal.modelfile.fields import Layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from sortal._typing import Float
    from sortal.discriminants.linear_functions import Boundary
    from sortal.discriminants.statistics import ClassStatistics
    from sortal.records.tables import Working


class LinearDiscriminant(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, LeaveOneOutMixin, GaussianDiscriminant
):
    """Linear discriminant analysis: one Gaussian a class, with a common covariance.

    g_k(x) = ln π_k - ½ μ_kᵀΣ⁻¹μ_k + xᵀΣ⁻¹μ_k, the largest wins; two classes meet in the hyperplane
    β_0 + xᵀβ = 0 with β = Σ⁻¹(μ_k - μ_l). There is one way to calculate it: the pooled covariance
    weighs rows alike, whatever the priors, and comes from class moments that were read once.

    Where Σ is singular: a combination of columns that is constant in all rows is named and left
    out. Along one that is constant within classes only, a variance of 1e-9 of the variance over
    all rows is assumed, which separates the classes; a warning says so.

    Parameters
    ----------
    covariance : {"unbiased", "mle"}, default="unbiased"
        Pooled covariance with divisor N - K or N.
    shrinkage : None, float from 0 to 1, "ledoit_wolf", "oas" or "loo", default=None
        λ in (1 - λ) Σ + λ (tr Σ / p) I. The two formulas choose λ for the rows less their class
        means; "loo" takes that of 14 values under which rows are likeliest when they are left out
        one by one, which needs all rows at once: `fit` only.
    n_components : int, default=None
        How many canonical directions `transform` keeps; at most one fewer than classes.
    priors : array-like of shape (n_classes,) or dict, default=None
        π in the order of `classes_`, or by label. By default the share of each class.
    class_weight : dict or "balanced", default=None
        Factor on the weight of each row by its class; "balanced" gives every class the same total.
    costs : array-like of shape (n_classes, n_classes), default=None
        costs[i, j] is the cost of saying class j when class i is true. With costs, `predict` gives
        the class of least expected cost.
    categorical_features : "from_dtype", "all", mask, positions or names, default="from_dtype"
        Words, truth values and categorical types are always categories; numbers are categories
        where named here. A category enters as one indicator for each of its values, with the
        solution of least norm.
    missing : {"drop_rows", "mean", "error"}, default="drop_rows"
        Missing values at fit: the row is left out, the missing value takes the mean of its column
        (over the rows of the first call), or an error. At predict missing values are integrated out
        of the Gaussians exactly, except with "error".
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
        The functions g_k, up to a term common to all classes. Of two classes the second's less the
        first's, which is `decision_function`.
    priors_ : ndarray of shape (n_classes,)
    means_ : ndarray of shape (n_classes, n_terms)
    covariance_ : ndarray of shape (n_terms, n_terms)
        Σ as used, after shrinkage.
    shrinkage_ : float
        λ as used.
    loo_curve_ : Table
        With shrinkage="loo": the mean of ln P(y|x) without each row, for every λ tried.
    scalings_ : ndarray of shape (n_terms, n_directions)
        Canonical directions a with aᵀΣa = 1, along which the class means (weighted by priors) vary
        most, best first.
    explained_variance_ratio_ : ndarray of shape (n_directions,)
        The share of each in the variance of the class means.
    xbar_ : ndarray of shape (n_terms,)
        Σ π_k μ_k.
    condition_ : float
        Condition number of Σ, scaled to a diagonal of ones.
    fit_report_ : FitReport
        Rows, missing values by column, notes.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    Examples
    --------
    >>> from sortal import LinearDiscriminant, datasets
    >>> iris = datasets.iris()
    >>> model = LinearDiscriminant().fit(iris, "species")
    >>> print(f"{model.score(iris, 'species'):.2f}")
    0.98
    >>> why = model.explain(iris[70:71])[0]  # a versicolor that looks like a virginica
    >>> print(why.label, "against", why.against)
    virginica against versicolor
    >>> for part in why.parts:
    ...     print(f"{part.attribute} = {part.value}: {part.amount:+.2f}")
    sepal_length = 5.9: +1.16
    sepal_width = 3.2: -1.15
    petal_length = 4.8: -0.80
    petal_width = 1.8: +1.83
    """

    _missing_words = "they are integrated out"

    _kept: ClassVar[Layout] = Layout(
        _model=RecordField(LinearModel), _fitted=OptionalAttribute(OptionsField(LinearOptions))
    )

    def __init__(
        self,
        covariance: str = "unbiased",
        shrinkage: float | str | None = None,
        n_components: int | None = None,
        *,
        priors: ArrayLike | dict[Any, float] | None = None,
        class_weight: dict[Any, float] | str | None = None,
        costs: ArrayLike | None = None,
        categorical_features: Any = "from_dtype",
        missing: str = "drop_rows",
        unknown: str = "skip",
        n_jobs: int | None = None,
    ) -> None:
        self.covariance = covariance
        self.shrinkage = shrinkage
        self.n_components = n_components
        self.priors = priors
        self.class_weight = class_weight
        self.costs = costs
        self.categorical_features = categorical_features
        self.missing = missing
        self.unknown = unknown
        self.n_jobs = n_jobs

    def transform(self, X: Any, scaling: str = "within") -> Float:
        """Canonical coordinates of the rows less `xbar_`.

        A missing value takes its mean given what is known of the row, by the scatter of all rows.

        Parameters
        ----------
        X : table
        scaling : {"within", "unit"}, default="within"
            Directions with aᵀΣa = 1, or of unit length.

        Returns
        -------
        ndarray of shape (n_samples, n_directions)
        """
        choose("scaling", scaling, ("unit", "within"))
        model: LinearModel = self._fitted_model()
        words = "they take their mean given what is known of the row"
        a = self._score_rows(X, model.coordinates, identity, words)
        return a if scaling == "within" else a / np.linalg.norm(model.directions, axis=0)

    def boundary(
        self,
        first: Any,
        second: Any,
        *,
        priors: ArrayLike | dict[Any, float] | None = None,
        costs: ArrayLike | None = None,
    ) -> Boundary:
        """(β_0, β) of the hyperplane between two classes: positive where the first is likelier.

        β_0 = ln π_k/π_l - ½ (μ_k + μ_l)ᵀΣ⁻¹(μ_k - μ_l), β = Σ⁻¹(μ_k - μ_l).

        Parameters
        ----------
        first, second : labels
        priors : array-like or dict, default=None
            Instead of those of the fit: the same β, another β_0.
        costs : array-like, default=None
            Where given, what these costs say of the two classes, as if there were no others.
        """
        model: LinearModel = self._fitted_model()
        constants = model.scores.intercepts + self._log_prior(priors)
        shift = self._cost_shift(first, second, costs)
        found = boundary(model.classes, constants, model.scores.weights.T, first, second)
        return found._replace(beta0=found.beta0 + shift)

    def to_sklearn(self) -> LinearDiscriminantAnalysis:
        """The same model as a fitted LinearDiscriminantAnalysis of scikit-learn.

        Probabilities and `transform` are the same on rows without missing values, which it refuses;
        the conversion verifies this to 1e-9, and fails where digits would be lost. Models of
        categories, with costs, or with a prior of 0 are refused.
        """
        return linear_as_sklearn(self)

    def working(self, X: Any = None) -> Working:
        """The numbers of this fit: means, Σ, functions, boundaries; of rows X, posteriors.

        Also the classical statistics, of the rows as counted, whatever priors and shrinkage:
        eigenvalues, Wilks' Λ and Box's M with their tests, structure, centroids.
        """
        model: LinearModel = self._fitted_model()
        decided = None if X is None else self._decide(self._score_rows(X, model.scores, identity))
        return show_linear(model, self._statistics(), decided, self._backend)

    @property
    def coef_(self) -> Float:
        """Weights of the functions g_k, a row a class; of two classes of their difference."""
        model: LinearModel = self._fitted_model()
        return public_functions(self._spread(model.functions()[1], axis=0))

    @property
    def intercept_(self) -> Float:
        """Constants of the functions g_k; of two classes of their difference."""
        model: LinearModel = self._fitted_model()
        return public_functions(self._spread(model.functions()[0], -np.inf, axis=0))

    @property
    def covariance_(self) -> Float:
        """Σ, after shrinkage."""
        return np.asarray(self._fitted_model().covariance)

    @property
    def scalings_(self) -> Float:
        """Canonical directions, a column each."""
        return np.asarray(self._fitted_model().directions)

    @property
    def explained_variance_ratio_(self) -> Float:
        """Shares of the directions in the variance of the class means."""
        model: LinearModel = self._fitted_model()
        shares = model.eigenvalues / model.eigenvalues.sum()
        return np.asarray(shares[: model.directions.shape[1]])

    @property
    def xbar_(self) -> Float:
        """Σ π_k μ_k."""
        return np.asarray(self._fitted_model().center + self._fitted_model().prior_mean)

    @property
    def _n_features_out(self) -> int:
        return int(self._fitted_model().directions.shape[1])

    def _options(self) -> LinearOptions:
        self._policies()
        return LinearOptions(
            self.covariance, self.shrinkage, self.n_components, self.priors, self.class_weight
        )

    def _kernel(self, settings: Sequence[LinearOptions]) -> LinearLeaveOut:
        shrinkages = tuple(setting.shrinkage for setting in settings)
        return LinearLeaveOut(settings[0].covariance, shrinkages)

    def _learn(self, stats: ClassStatistics, options: LinearOptions) -> LinearModel:
        return build_linear(stats, options)


def linear_as_sklearn(model: LinearDiscriminant) -> LinearDiscriminantAnalysis:
    """Linear discriminant functions, and the canonical coordinates of `transform`."""
    refuse_others(model, model.costs)
    refuse_absent(model)
    theirs = LinearDiscriminantAnalysis(priors=given_priors(model), store_covariance=True)
    wear_names(model, theirs)
    theirs.coef_, theirs.intercept_ = model.coef_, model.intercept_
    theirs.priors_, theirs.means_, theirs.xbar_ = model.priors_, model.means_, model.xbar_
    theirs.covariance_, theirs.scalings_ = model.covariance_, model.scalings_
    theirs.explained_variance_ratio_ = model.explained_variance_ratio_
    theirs._max_components = model.scalings_.shape[1]
    verify(model, theirs, rows_around(model.means_, model.covariance_.diagonal()))
    return theirs
