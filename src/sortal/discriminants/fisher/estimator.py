"""FisherDiscriminant, the estimator."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from sortal.base.save import OptionalAttribute
from sortal.decision.options import numbers
from sortal.decision.posterior import Decisions, leading
from sortal.decision.scores import (
    ScoreTermsBlock,
    gather_answered,
    identity,
    margin,
    public_functions,
)
from sortal.discriminants.estimator import DiscriminantClassifier
from sortal.discriminants.explain import Decided
from sortal.discriminants.fisher.learn import (
    FisherOptions,
    build_fisher,
    least_error,
    move_threshold,
)
from sortal.discriminants.fisher.model import DirectionEvaluation, FisherModel, evaluate_direction
from sortal.discriminants.fisher.working import ShownRows, show_fisher
from sortal.discriminants.linear_functions import ProjectTraining
from sortal.errors import ParameterError, choose
from sortal.modelfile.arrays import OptionsField, RecordField
from sortal.modelfile.fields import Layout

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import Float
    from sortal.data.schema import Schema
    from sortal.data.sources import TableSource
    from sortal.discriminants.statistics import ClassStatistics
    from sortal.records.tables import Working
    from sortal.summaries.counts import DiscriminantSummary


class FisherDiscriminant(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DiscriminantClassifier):
    """Fisher's discriminant: the directions along which classes lie far apart and narrow.

    Two classes: w = S⁻¹(μ_1 - μ_2) maximizes J(w) = (m_1 - m_2)² / (s_1² + s_2²), m and s² being
    means and scatters of the rows projected on w; a row goes to the side of the separating point on
    which its projection lies. More classes: the generalized eigenvectors of Bw = λSw; a row goes to
    the projected mean that is nearest in the metric where wᵀSw = 1 for every direction, the
    coordinates of `transform(X, scaling="within")`. In those along the directions of unit length,
    which are the default, another mean may look nearer. No probabilities: nothing is assumed about
    how the rows are distributed.

    Where S is singular, w = S_T⁺(μ_1 - μ_2) with the scatter S_T of all rows, which is the same
    direction as long as S is regular. A combination of columns that is constant in all rows is
    named and left out; one that is constant within classes only separates them without error: J
    is infinite, and a warning says so.

    Parameters
    ----------
    within : {"scatter", "covariance"}, default="scatter"
        "scatter": S = S_1 + S_2 + …, as Zaki & Meira (20.7) and Schalkoff (4-8) have it.
        "covariance": S = Σ_1 + Σ_2 + … with Σ_k = S_k / n_k, Schalkoff's (4-6a), in which every
        class weighs the same, however many rows it has.
    n_components : int, default=None
        How many directions to keep; at most one fewer than classes.
    threshold : {"midpoint", "least_error"}, default="midpoint"
        The separating point on w of two classes: the middle between the projected means, or the
        point with the least training error, halfway between two neighboring rows. The latter
        needs the rows, so that it exists with `fit` only.
    categorical_features : "from_dtype", "all", mask, positions or names, default="from_dtype"
        Words, truth values and categorical types are always categories; numbers are categories
        where named here. A category enters as one indicator for each of its values, with the
        solution of least norm.
    missing : {"drop_rows", "mean", "error"}, default="drop_rows"
        Missing values at fit: the row is left out, the missing value takes the mean of its column
        (over the rows of the first call), or an error. At predict a missing value takes its mean
        given what is known of the row, by the scatter of all rows, except with "error".
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

    _missing_words = "they take their mean given what is known of the row"
    _separation_words = ", J is infinite"

    _kept: ClassVar[Layout] = Layout(
        _model=RecordField(FisherModel), _fitted=OptionalAttribute(OptionsField(FisherOptions))
    )

    def __init__(
        self,
        within: str = "scatter",
        n_components: int | None = None,
        threshold: str = "midpoint",
        *,
        categorical_features: Any = "from_dtype",
        missing: str = "drop_rows",
        unknown: str = "skip",
        n_jobs: int | None = None,
    ) -> None:
        self.within = within
        self.n_components = n_components
        self.threshold = threshold
        self.categorical_features = categorical_features
        self.missing = missing
        self.unknown = unknown
        self.n_jobs = n_jobs

    def predict(self, X: Any) -> NDArray[Any]:
        """By the separating point, or the projected mean that is nearest where wᵀSw = 1."""
        model: FisherModel = self._fitted_model()
        return self._predicted(self._score_rows(X, model.scores, partial(leading, unit=model.unit)))

    def decision_function(self, X: Any) -> Float:
        """Two classes: how far a row lies beyond the separating point, on the side of the second.

        More: minus half the squared distance from each projected mean where wᵀSw = 1, up to a term
        common to all classes.
        """
        scores = self._score_rows(X, self._fitted_model().scores, identity)
        return margin(self._spread(scores, -np.inf))

    def transform(self, X: Any, scaling: str = "unit") -> Float:
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
        choose("scaling", scaling, ("unit", "within"))
        model: FisherModel = self._fitted_model()
        a = self._coordinates(X, model)
        return a if scaling == "unit" else a / model.lengths

    def _coordinates(self, X: Any, model: FisherModel) -> Float:
        centered = self._score_rows(X, model.coordinates, identity)
        return np.asarray(centered + model.center @ model.directions)

    def evaluate_direction(self, w: ArrayLike) -> DirectionEvaluation:
        """Any direction, judged like the best one: J, projected means, scatters and overlap.

        Parameters
        ----------
        w : array-like of shape (n_terms,)
            Its length does not matter.
        """
        return evaluate_direction(self._fitted_model(), numbers("w", w))

    def working(self, X: Any = None) -> Working:
        """The numbers of this fit: B, S_k, S, S⁻¹, λ, w, projections.

        Of rows X also their coordinates along the directions of unit length, and what decides: how
        far they lie beyond the separating point, or, of more than two classes, their squared
        distances from the projected means where wᵀSw = 1; and the class predicted.
        """
        model: FisherModel = self._fitted_model()
        if X is None:
            return show_fisher(model, None, self._backend)
        labels = self.predict(X)  # which says what became of missing values
        blocks = self._engine().map(self._open(X), ScoreTermsBlock(model.coordinates, identity))
        a = gather_answered(list(blocks)).answer
        return show_fisher(model, ShownRows(a, labels.tolist()), self._backend)

    @property
    def directions_(self) -> Float:
        """Unit directions, a column each."""
        return np.asarray(self._fitted_model().directions)

    @property
    def eigenvalues_(self) -> Float:
        """λ = J(w) of each direction."""
        return np.asarray(self._fitted_model().eigenvalues)

    @property
    def coef_(self) -> Float:
        """Weights of the linear functions, a row a class; of two classes of their difference."""
        return public_functions(self._spread(self._fitted_model().scores.weights.T, axis=0))

    @property
    def intercept_(self) -> Float:
        """Constants of these functions; -inf for a class without rows."""
        scores = self._fitted_model().scores
        return public_functions(self._spread(scores.intercepts, -np.inf, axis=0))

    @property
    def between_(self) -> Float:
        """B."""
        return np.asarray(self._fitted_model().criterion.B)

    @property
    def within_(self) -> Float:
        """S."""
        return np.asarray(self._fitted_model().criterion.within)

    @property
    def class_scatters_(self) -> Float:
        """S_k."""
        return self._spread(self._fitted_model().scatter, axis=0)

    @property
    def projected_means_(self) -> Float:
        """m_k, a row a class; NaN for a class without rows."""
        return self._spread(self._fitted_model().means, np.nan, axis=0)

    @property
    def projected_scatters_(self) -> Float:
        """s_k², a row a class."""
        return self._spread(self._fitted_model().scatters, axis=0)

    @property
    def threshold_(self) -> float | None:
        """The separating point of two classes."""
        model: FisherModel = self._fitted_model()
        return model.separating_point()

    @property
    def _n_features_out(self) -> int:
        return int(self._fitted_model().directions.shape[1])

    def _options(self) -> FisherOptions:
        self._policies()
        return FisherOptions(self.within, self.n_components, self.threshold)

    def _learn(self, stats: ClassStatistics, options: FisherOptions) -> FisherModel:
        return build_fisher(stats, options)

    def _build(
        self,
        summary: DiscriminantSummary,
        schema: Schema,
        options: FisherOptions,
        source: TableSource | None,
    ) -> FisherModel:
        model: FisherModel = super()._build(summary, schema, options, source)
        if options.threshold == "midpoint" or len(schema.classes) == 1:
            return model
        assert source is not None  # noqa: S101  (pieces were refused)
        if len(schema.classes) != 2:
            raise ParameterError(
                f"threshold='least_error' parts two classes, and there are {len(schema.classes)}: "
                "set threshold='midpoint'."
            )
        if not model.directions.size:
            return model
        question = ProjectTraining(model.coordinates, schema.classes, self.missing == "mean")
        a, codes, weight = map(
            np.concatenate, zip(*self._engine().map(source, question), strict=True)
        )
        midpoint = model.threshold or 0.0
        return move_threshold(model, least_error(a, codes == 0, weight, midpoint))

    def _decide(self, values: Float) -> Decided:
        model: FisherModel = self._fitted_model()
        verdicts = Decisions(values, leading(values, model.unit))
        return Decided(values, verdicts, np.zeros(len(model.classes)), model.gap)

    def _not_incremental(self) -> str:
        if self.threshold != "least_error":
            return ""
        return "threshold='least_error' needs all rows at once: use fit, or threshold='midpoint'."
