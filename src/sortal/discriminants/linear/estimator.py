"""LinearDiscriminant, the estimator, and its conversion to scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from sortal.base.to_sklearn import (
    given_priors,
    refuse_absent,
    refuse_others,
    rows_around,
    verify,
    wear_names,
)
from sortal.decision.options import choose
from sortal.decision.scores import ask, identity, public_functions
from sortal.discriminants.estimator import (
    DiscriminantClassifier,
    gaussian_learner,
    log_priors,
    note_columns,
    shift_by_costs,
)
from sortal.discriminants.held_out import HeldOut, read_curve
from sortal.discriminants.linear.learn import LinearModel, LinearOptions, build_linear
from sortal.discriminants.linear.leave_one_out import LinearLeaveOut
from sortal.discriminants.linear_functions import boundary
from sortal.discriminants.working import show_linear

if TYPE_CHECKING:
    from sortal._typing import CostsLike, Float, Label, PriorsLike, TableLike
    from sortal.discriminants.linear_functions import Boundary
    from sortal.records.tables import Table, Working


Scaling = Literal["unit", "within"]

HELD_OUT = HeldOut(
    build_linear,
    ("shrinkage",),
    lambda settings: LinearLeaveOut(
        settings[0].covariance, tuple(setting.shrinkage for setting in settings)
    ),
)

LINEAR = gaussian_learner(
    "LinearDiscriminant", LinearOptions, LinearModel, HELD_OUT, notes=note_columns
)


class LinearDiscriminant(
    LinearOptions,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    DiscriminantClassifier[LinearOptions, LinearModel],
):
    """Linear discriminant analysis: one Gaussian a class, with a common covariance.

    g_k(x) = ln π_k - ½ μ_kᵀΣ⁻¹μ_k + xᵀΣ⁻¹μ_k, the largest wins; two classes meet in the hyperplane
    β_0 + xᵀβ = 0 with β = Σ⁻¹(μ_k - μ_l). There is one way to calculate it: the pooled covariance
    weighs rows alike, whatever the priors, and comes from class moments that were read once.

    Where Σ is singular: a combination of columns that is constant in all rows is named and left
    out. Along one that is constant within classes only, a variance of 1e-9 of the variance over
    all rows is assumed, which separates the classes; a warning says so.

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
    >>> for part in why.parts.lines():
    ...     print(f"{part['part']}: {part['amount']:+.2f}")
    offset: +0.00
    sepal_length: +1.16
    sepal_width: -1.15
    petal_length: -0.80
    petal_width: +1.83
    """

    _learner = LINEAR

    def transform(self, X: TableLike, scaling: Scaling = "within") -> Float:
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
        choose("scaling", scaling, get_args(Scaling))
        model, words = self._model, "they take their mean given what is known of the row"
        a = self._pass(self._open(X), ask(model.coordinates, identity), words).answer
        return a if scaling == "within" else a / np.linalg.norm(model.directions, axis=0)

    def boundary(
        self,
        first: Label,
        second: Label,
        *,
        priors: PriorsLike = None,
        costs: CostsLike = None,
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
        model = self._model
        constants = model.scores.intercepts + log_priors(self._fitted, priors)
        shift = shift_by_costs(self._fitted, first, second, costs)
        found = boundary(model.classes, constants, model.scores.weights.T, first, second)
        return found._replace(beta0=found.beta0 + shift)

    def to_sklearn(self) -> LinearDiscriminantAnalysis:
        """The same model as a fitted LinearDiscriminantAnalysis of scikit-learn.

        Probabilities and `transform` are the same on rows without missing values, which it refuses;
        the conversion verifies this to 1e-9, and fails where digits would be lost. Models of
        categories, with costs, or with a prior of 0 are refused.
        """
        return linear_as_sklearn(self)

    def working(self, X: TableLike | None = None) -> Working:
        """The numbers of this fit: means, Σ, functions, boundaries; of rows X, posteriors.

        Also the classical statistics, of the rows as counted, whatever priors and shrinkage:
        eigenvalues, Wilks' Λ and Box's M with their tests, structure, centroids.
        """
        model, stats = self._model, self._statistics()
        return self._framed(show_linear(model, stats, self._decided(X)))

    @property
    def priors_(self) -> Float:
        """π_k."""
        return self._fitted.over_classes(self._model.prior, axis=0)

    @property
    def shrinkage_(self) -> float:
        """The share of the scaled identity in covariances."""
        return self._model.shrinkage

    @property
    def loo_curve_(self) -> Table:
        """The mean of ln P(y|x) without each row, for every setting that was tried."""
        return read_curve(self._get_fitted(), HELD_OUT.shares)

    @property
    def coef_(self) -> Float:
        """Weights of the functions g_k, a row a class; of two classes of their difference."""
        weights = self._model.functions()[1]
        return public_functions(self._fitted.over_classes(weights, axis=0))

    @property
    def intercept_(self) -> Float:
        """Constants of the functions g_k; of two classes of their difference."""
        constants = self._model.functions()[0]
        return public_functions(self._fitted.over_classes(constants, -np.inf, axis=0))

    @property
    def covariance_(self) -> Float:
        """Σ, after shrinkage."""
        return self._model.covariance

    @property
    def scalings_(self) -> Float:
        """Canonical directions, a column each."""
        return self._model.directions

    @property
    def explained_variance_ratio_(self) -> Float:
        """Shares of the directions in the variance of the class means."""
        model = self._model
        shares = model.eigenvalues / model.eigenvalues.sum()
        return np.asarray(shares[: model.directions.shape[1]])

    @property
    def xbar_(self) -> Float:
        """Σ π_k μ_k."""
        return np.asarray(self._model.center + self._model.prior_mean)

    @property
    def _n_features_out(self) -> int:
        return int(self._model.directions.shape[1])


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
