"""FisherDiscriminant and IndicatorRegression, which assume no distribution of rows."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from sortal.decision.options import choose, numbers
from sortal.decision.scores import ask, identity, public_functions
from sortal.discriminants.estimator import DiscriminantClassifier, note_columns, scored_learner
from sortal.discriminants.fisher import (
    DirectionEvaluation,
    FisherModel,
    FisherOptions,
    evaluate_direction,
    learn_fisher,
)
from sortal.discriminants.functions import boundary
from sortal.discriminants.regression import IndicatorModel, IndicatorOptions, learn_indicator
from sortal.discriminants.working import ShownRows, show_fisher, show_indicator
from sortal.engines import gather
from sortal.errors import ParameterError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from sortal._typing import Float, Label, TableLike
    from sortal.discriminants.functions import Boundary
    from sortal.records.tables import Working


Scaling = Literal["unit", "within"]


def _whole(options: FisherOptions) -> str:
    if options.threshold != "least_error":
        return ""
    return "threshold='least_error' needs all rows at once: use fit, or threshold='midpoint'."


def _check(options: FisherOptions) -> None:
    given = [name for name in ("priors", "costs") if getattr(options, name) is not None]
    if given and options.threshold == "least_error":
        raise ParameterError(
            f"threshold='least_error' counts errors alike, and {given[0]} would weigh them: leave "
            f"{given[0]} out, or set threshold='midpoint'."
        )


FISHER = scored_learner(
    "FisherDiscriminant",
    FisherOptions,
    FisherModel,
    learn_fisher,
    notes=partial(note_columns, separation=", J is infinite"),
    whole=_whole,
    check=_check,
)


class FisherDiscriminant(
    FisherOptions,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    DiscriminantClassifier[FisherOptions, FisherModel],
):
    """Fisher's discriminant: the directions along which classes lie far apart and narrow.

    Two classes: w = S⁻¹(μ_1 - μ_2) maximizes J(w) = (m_1 - m_2)² / (s_1² + s_2²), m and s² being
    means and scatters of the rows projected on w; a row goes to the side of the separating point on
    which its projection lies. More classes: the generalized eigenvectors of Bw = λSw; a row goes to
    the projected mean that is nearest in the metric where wᵀSw = 1 for every direction, the
    coordinates of `transform(X, scaling="within")`. In those along the directions of unit length,
    which are the default, another mean may look nearer. No probabilities: nothing is assumed about
    how the rows are distributed, unless priors or costs are given.

    Where S is singular, w = S_T⁺(μ_1 - μ_2) with the scatter S_T of all rows, which is the same
    direction as long as S is regular. A combination of columns that is constant in all rows is
    named and left out; one that is constant within classes only separates them without error: J
    is infinite, and a warning says so.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    terms_ : ndarray of shape (n_terms,)
        What directions refer to: columns, and column=value for categories.
    directions_ : ndarray of shape (n_terms, n_directions)
        Unit vectors w, best first, each pointing from the class that sorts last to the first.
    eigenvalues_ : ndarray of shape (n_directions,)
        λ = J(w) = wᵀBw / wᵀSw. Two classes: B = (μ_1 - μ_2)(μ_1 - μ_2)ᵀ. More:
        B = Σ n_k (μ_k - μ)(μ_k - μ)ᵀ, which for two classes would be n_1 n_2 / (n_1 + n_2) times
        the former (with within="covariance", every n_k is 1 here).
    between_, within_ : ndarray of shape (n_terms, n_terms)
        B and S.
    class_scatters_ : ndarray of shape (n_classes, n_terms, n_terms)
        S_k.
    projected_means_, projected_scatters_ : ndarray of shape (n_classes, n_directions)
        m_k and s_k².
    threshold_ : float or None
        The separating point of two classes.
    coef_, intercept_ : ndarray of shape (n_classes, n_terms) and (n_classes,), or with one row
        One linear function a class, of which the largest decides. Of two classes the second's less
        the first's, which is `decision_function`.
    means_ : ndarray of shape (n_classes, n_terms)
    condition_ : float
        Condition number of S, scaled to a diagonal of ones.
    fit_report_ : FitReport
        Rows, missing values by column, notes.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    Examples
    --------
    >>> from sortal import FisherDiscriminant, datasets
    >>> iris = datasets.iris()
    >>> X, y = iris[["sepal_length", "sepal_width"]], iris["species"] != "setosa"
    >>> model = FisherDiscriminant().fit(X, y)
    >>> print(model.directions_[:, 0].round(3), model.eigenvalues_.round(3))
    [-0.551  0.834] [0.11]
    """

    _learner = FISHER

    def transform(self, X: TableLike, scaling: Scaling = "unit") -> Float:
        """The coordinates a = wᵀx along the directions.

        Parameters
        ----------
        X : table
        scaling : {"unit", "within"}, default="unit"
            Directions of unit length, or such that wᵀSw = 1.

        Returns
        -------
        ndarray of shape (n_samples, n_directions)
        """
        choose("scaling", scaling, get_args(Scaling))
        model = self._model
        centered = self._pass(self._open(X), ask(model.coordinates, identity)).answer
        a = centered + model.center @ model.directions
        return np.asarray(a if scaling == "unit" else a / model.lengths)

    def evaluate_direction(self, w: ArrayLike) -> DirectionEvaluation:
        """Any direction, judged like the best one: J, projected means, scatters and overlap.

        Parameters
        ----------
        w : array-like of shape (n_terms,)
            Its length does not matter.
        """
        return evaluate_direction(self._model, numbers("w", w))

    def working(self, X: TableLike | None = None) -> Working:
        """The numbers of this fit: B, S_k, S, S⁻¹, λ, w, projections.

        Of rows X also their coordinates along the directions of unit length, and what decides: how
        far they lie beyond the separating point, or, of more than two classes, their squared
        distances from the projected means where wᵀSw = 1 (with priors or costs, ln π_k f_k); and
        the class predicted.
        """
        model = self._model
        if X is None:
            return self._framed(show_fisher(model, None))
        labels = self.predict(X)  # which says what became of missing values
        a = gather(self._map(self._open(X), ask(model.coordinates, identity))).answer
        scores = gather(self._map(self._open(X), ask(model.scores, identity))).answer
        shown = ShownRows(a, labels.tolist(), scores + model.log_prior)
        return self._framed(show_fisher(model, shown))

    @property
    def directions_(self) -> Float:
        """Unit directions, a column each."""
        return self._model.directions

    @property
    def eigenvalues_(self) -> Float:
        """λ = J(w) of each direction."""
        return self._model.eigenvalues

    @property
    def coef_(self) -> Float:
        """Weights of the linear functions, a row a class; of two classes of their difference."""
        weights = self._model.scores.weights.T
        return public_functions(self._fitted.over_classes(weights, axis=0))

    @property
    def intercept_(self) -> Float:
        """Constants of these functions; -inf for a class without rows."""
        constants = self._model.scores.intercepts + self._model.log_prior
        return public_functions(self._fitted.over_classes(constants, -np.inf, axis=0))

    @property
    def between_(self) -> Float:
        """B."""
        return self._model.criterion.B

    @property
    def within_(self) -> Float:
        """S."""
        return self._model.criterion.within

    @property
    def class_scatters_(self) -> Float:
        """S_k."""
        return self._fitted.over_classes(self._model.scatter, axis=0)

    @property
    def projected_means_(self) -> Float:
        """m_k, a row a class; NaN for a class without rows."""
        return self._fitted.over_classes(self._model.means, np.nan, axis=0)

    @property
    def projected_scatters_(self) -> Float:
        """s_k², a row a class."""
        return self._fitted.over_classes(self._model.scatters, axis=0)

    @property
    def threshold_(self) -> float | None:
        """The separating point of two classes."""
        return self._model.separating_point()

    @property
    def _n_features_out(self) -> int:
        return int(self._model.directions.shape[1])


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
