"""LinearDiscriminant and QuadraticDiscriminant, and their conversion to scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)

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
    note_classes,
    note_columns,
    shift_by_costs,
)
from sortal.discriminants.explain import ExplainQuadratic
from sortal.discriminants.functions import boundary
from sortal.discriminants.held_out import HeldOut, read_curve
from sortal.discriminants.learn import (
    LinearModel,
    LinearOptions,
    QuadraticModel,
    QuadraticOptions,
    build_linear,
    build_quadratic,
)
from sortal.discriminants.working import show_linear, show_quadratic
from sortal.errors import ColumnError

if TYPE_CHECKING:
    from sortal._typing import CostsLike, Counts, Float, Label, PriorsLike, TableLike
    from sortal.discriminants.functions import Boundary, QuadraticBoundary
    from sortal.records.tables import Table, Working


Scaling = Literal["unit", "within"]

LINEAR_HELD_OUT = HeldOut(build_linear, ("shrinkage",))

LINEAR = gaussian_learner(
    "LinearDiscriminant",
    LinearOptions,
    LinearModel,
    LINEAR_HELD_OUT,
    notes=note_columns,
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
    >>> for part in why.parts.lines()[1:]:  # after the offset, which is 0 between these two
    ...     print(f"{part['part']}: {part['amount']:+.2f}")
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
        return read_curve(self._get_fitted(), LINEAR_HELD_OUT.shares)

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


QUADRATIC_HELD_OUT = HeldOut(build_quadratic, ("pooling", "shrinkage"))

QUADRATIC = gaussian_learner(
    "QuadraticDiscriminant",
    QuadraticOptions,
    QuadraticModel,
    QUADRATIC_HELD_OUT,
    notes=note_classes,
    explaining=ExplainQuadratic,
)


class QuadraticDiscriminant(
    QuadraticOptions, DiscriminantClassifier[QuadraticOptions, QuadraticModel]
):
    """Quadratic discriminant analysis: one Gaussian a class, each with its own covariance.

    g_k(x) = ln π_k - ½ ln det Σ_k - ½ (x - μ_k)ᵀΣ_k⁻¹(x - μ_k), the largest wins; two classes meet
    in a quadric. Everything comes from class moments that were read once.

    A class that does not vary in some direction, as one with fewer rows than columns, has no Σ_k⁻¹
    of its own. There it takes the variance that all classes have together, and keeps its own
    elsewhere: a class of one row has the covariance of the linear discriminant. This depends on no
    units; a warning names the class and the columns. `pooling` does the same for all directions,
    in part. A combination of columns that is constant in all rows is named and left out, and along
    one that is constant within all classes only, a variance of 1e-9 of the variance over all rows
    is assumed, as in `LinearDiscriminant`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    terms_ : ndarray of shape (n_terms,)
        What covariances refer to: columns, and column=value for categories.
    priors_ : ndarray of shape (n_classes,)
    means_ : ndarray of shape (n_classes, n_terms)
    covariances_ : ndarray of shape (n_classes, n_terms, n_terms)
        Σ_k as used, after pooling and shrinkage.
    ranks_ : ndarray of shape (n_classes,)
        The rank of each Σ_k before it took anything from the other classes.
    pooling_, shrinkage_ : float
        λ and γ as used.
    loo_curve_ : Table
        With pooling="loo" or shrinkage="loo": the mean of ln P(y|x) without each row, for all that
        was tried.
    condition_ : float
        The largest condition number of the Σ_k, scaled to a diagonal of ones.
    fit_report_ : FitReport
        Rows, missing values by column, notes.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    Examples
    --------
    >>> from sortal import QuadraticDiscriminant, datasets
    >>> iris = datasets.iris()
    >>> model = QuadraticDiscriminant().fit(iris, "species")
    >>> print(f"{model.score(iris, 'species'):.2f}")
    0.98
    >>> beta0, beta, gamma = model.boundary("versicolor", "virginica")
    >>> x = iris.drop(columns="species").to_numpy()[70]
    >>> odds = beta0 + x @ beta + x @ gamma @ x
    >>> print(f"{odds:.3f}", model.predict(iris[70:71]))
    -0.681 ['virginica']
    """

    _learner = QUADRATIC

    def boundary(
        self,
        first: Label,
        second: Label,
        *,
        priors: PriorsLike = None,
        costs: CostsLike = None,
    ) -> QuadraticBoundary:
        """(β_0, β, Γ) of β_0 + xᵀβ + xᵀΓx = 0 between two classes; positive: the first is likelier.

        Parameters
        ----------
        first, second : labels
        priors : array-like or dict, default=None
            Instead of those of the fit: the same β and Γ, another β_0.
        costs : array-like, default=None
            Where given, what these costs say of the two classes, as if there were no others.
        """
        found = self._model.boundary(log_priors(self._get_fitted(), priors), first, second)
        shift = shift_by_costs(self._fitted, first, second, costs)
        return found._replace(beta0=found.beta0 + shift)

    def to_sklearn(self) -> QuadraticDiscriminantAnalysis:
        """The same model as a fitted QuadraticDiscriminantAnalysis of scikit-learn.

        Probabilities are the same on rows without missing values, which it refuses; the conversion
        verifies this to 1e-9, and fails where digits would be lost. Models of categories, with
        costs, with a prior of 0, or of columns that follow from others are refused.
        """
        return quadratic_as_sklearn(self)

    def working(self, X: TableLike | None = None) -> Working:
        """The numbers of this fit: means, Σ_k, functions, boundaries; of rows X, posteriors.

        Also Box's M and the numbers of parameters, of the rows as counted.
        """
        model, stats = self._model, self._statistics()
        return self._framed(show_quadratic(model, stats, self._decided(X)))

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
        return read_curve(self._get_fitted(), QUADRATIC_HELD_OUT.shares)

    @property
    def covariances_(self) -> Float:
        """Σ_k, after pooling and shrinkage; NaN for a class without rows."""
        return self._fitted.over_classes(self._model.covariances, np.nan, axis=0)

    @property
    def ranks_(self) -> Counts:
        """The rank of each class's own matrix."""
        return self._fitted.over_classes(self._model.ranks, 0, axis=0)

    @property
    def pooling_(self) -> float:
        """λ."""
        return self._model.pooling


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


def quadratic_as_sklearn(model: QuadraticDiscriminant) -> QuadraticDiscriminantAnalysis:
    """Σ_k = U diag(s) Uᵀ of each class, which its root R = U diag(s)^-½ Vᵀ tells."""
    refuse_others(model, model.costs)
    refuse_absent(model)
    roots = model._model.scores.whole.roots
    if roots.shape[2] < roots.shape[1]:
        raise ColumnError(
            "Some columns follow from others in all rows (see fit_report_), where scikit-learn "
            "knows no covariance of a class: drop such columns, fit again and convert."
        )
    theirs = QuadraticDiscriminantAnalysis(priors=given_priors(model), store_covariance=True)
    wear_names(model, theirs)
    turned = [np.linalg.svd(root)[:2] for root in roots]
    theirs.rotations_ = [rotation for rotation, _ in turned]
    theirs.scalings_ = [sizes**-2.0 for _, sizes in turned]
    theirs.priors_, theirs.means_ = model.priors_, model.means_
    theirs.covariance_ = list(model.covariances_)
    variances = np.diagonal(model.covariances_, axis1=1, axis2=2)
    verify(model, theirs, rows_around(model.means_, variances))
    return theirs
