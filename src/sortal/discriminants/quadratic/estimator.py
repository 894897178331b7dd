"""QuadraticDiscriminant, the estimator, and its conversion to scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from sortal.base.save import OptionalAttribute
from sortal.base.to_sklearn import (
    given_priors,
    refuse_absent,
    refuse_others,
    rows_around,
    verify,
    wear_names,
)
from sortal.decision.scores import identity
from sortal.discriminants.estimator import GaussianDiscriminant
from sortal.discriminants.explain import ExplainQuadratic
from sortal.discriminants.held_out import LeaveOneOutMixin
from sortal.discriminants.quadratic.learn import QuadraticOptions, build_quadratic, still_columns
from sortal.discriminants.quadratic.leave_one_out import QuadraticLeaveOut
from sortal.discriminants.quadratic.model import QuadraticModel
from sortal.discriminants.quadratic.working import show_quadratic
from sortal.discriminants.statistics import combination, sentence
from sortal.errors import (
    CollinearityWarning,
    ColumnError,
    SortalError,
    agreed,
    counted,
    warn,
)
from sortal.modelfile.arrays import OptionsField, RecordField
from sortal.modelfile.fields import Layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from sortal._typing import Counts, Float
    from sortal.discriminants.explain import Decided
    from sortal.discriminants.linear_functions import CenteredRows, QuadraticBoundary
    from sortal.discriminants.statistics import ClassStatistics
    from sortal.records.tables import Working


# Of classes that do not vary somewhere, so many are named.
_MOST_NAMED = 5


class QuadraticDiscriminant(LeaveOneOutMixin, GaussianDiscriminant):
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

    Parameters
    ----------
    covariance : {"unbiased", "mle"}, default="unbiased"
        Covariances with divisor N_k - 1 or N_k.
    pooling : float from 0 to 1 or "loo", default=0.0
        λ in Σ_k = ((1 - λ) S_k + λ S) / ((1 - λ) D_k + λ D), the scatter S_k of a class mixed with
        that of all, and the divisors with them (Friedman 1989). 1 is linear discriminant analysis.
        "loo" takes that of 14 values under which rows are likeliest when they are left out one by
        one, which needs all rows at once: `fit` only.
    shrinkage : None, float from 0 to 1 or "loo", default=None
        γ in (1 - γ) Σ_k + γ (tr Σ_k / p) I. It depends on the units of the columns. "loo" chooses
        it likewise; where both are "loo", all pairs are tried.
    priors : array-like of shape (n_classes,) or dict, default=None
        π in the order of `classes_`, or by label. By default the share of each class.
    class_weight : dict or "balanced", default=None
        Factor on the weight of each row by its class; "balanced" gives every class the same total.
    costs : array-like of shape (n_classes, n_classes), default=None
        costs[i, j] is the cost of saying class j when class i is true. With costs, `predict` gives
        the class of least expected cost.
    categorical_features : "from_dtype", "all", mask, positions or names, default="from_dtype"
        Words, truth values and categorical types are always categories; numbers are categories
        where named here. A category enters as one indicator for each of its values.
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

    _shares = ("pooling", "shrinkage")

    _kept: ClassVar[Layout] = Layout(
        _model=RecordField(QuadraticModel),
        _fitted=OptionalAttribute(OptionsField(QuadraticOptions)),
    )

    def __init__(
        self,
        covariance: str = "unbiased",
        pooling: float | str = 0.0,
        shrinkage: float | str | None = None,
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
        self.pooling = pooling
        self.shrinkage = shrinkage
        self.priors = priors
        self.class_weight = class_weight
        self.costs = costs
        self.categorical_features = categorical_features
        self.missing = missing
        self.unknown = unknown
        self.n_jobs = n_jobs

    def boundary(
        self,
        first: Any,
        second: Any,
        *,
        priors: ArrayLike | dict[Any, float] | None = None,
        costs: ArrayLike | None = None,
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
        model: QuadraticModel = self._fitted_model()
        found = model.boundary(self._log_prior(priors), first, second)
        return found._replace(beta0=found.beta0 + self._cost_shift(first, second, costs))

    def to_sklearn(self) -> QuadraticDiscriminantAnalysis:
        """The same model as a fitted QuadraticDiscriminantAnalysis of scikit-learn.

        Probabilities are the same on rows without missing values, which it refuses; the conversion
        verifies this to 1e-9, and fails where digits would be lost. Models of categories, with
        costs, with a prior of 0, or of columns that follow from others are refused.
        """
        return quadratic_as_sklearn(self)

    def working(self, X: Any = None) -> Working:
        """The numbers of this fit: means, Σ_k, functions, boundaries; of rows X, posteriors.

        Also Box's M and the numbers of parameters, of the rows as counted.
        """
        model: QuadraticModel = self._fitted_model()
        decided = None if X is None else self._decide(self._score_rows(X, model.scores, identity))
        return show_quadratic(model, self._statistics(), decided, self._backend)

    @property
    def covariances_(self) -> Float:
        """Σ_k, after pooling and shrinkage; NaN for a class without rows."""
        return self._spread(self._fitted_model().covariances, np.nan, axis=0)

    @property
    def ranks_(self) -> Counts:
        """The rank of each class's own matrix."""
        model: QuadraticModel = self._fitted_model()
        return self._spread(model.ranks, 0, axis=0)

    @property
    def pooling_(self) -> float:
        """λ."""
        return float(self._fitted_model().pooling)

    @property
    def condition_(self) -> float:
        """The largest condition number of the classes' matrices, scaled to a diagonal of ones."""
        return float(max(own.condition for own in self._fitted_model().own))

    def _options(self) -> QuadraticOptions:
        self._policies()
        return QuadraticOptions(
            self.covariance, self.pooling, self.shrinkage, self.priors, self.class_weight
        )

    def _kernel(self, settings: Sequence[QuadraticOptions]) -> QuadraticLeaveOut:
        pairs = tuple((float(one.pooling), float(one.shrinkage or 0.0)) for one in settings)
        return QuadraticLeaveOut(settings[0].covariance, pairs)

    def _learn(self, stats: ClassStatistics, options: QuadraticOptions) -> QuadraticModel:
        return build_quadratic(stats, options)

    def _explain(self, rows: CenteredRows, decided: Decided) -> ExplainQuadratic:
        return ExplainQuadratic(self._schema.classes, rows, decided, self._fitted_model().scores)

    def _notes(self, model: Any) -> list[str]:
        notes = super()._notes(model)
        if isinstance(model, SortalError) or len(model.classes) == 1:
            return notes
        still, rank = still_columns(model, model.scores.design), model.geometry.sphere.shape[1]
        said = [
            f"class {model.classes[k]!r} does not vary along {combination(names)}, as far as "
            f"digits go (rank {model.ranks[k]} of {rank}): there it takes the variance of all "
            "classes together"
            for k, names in list(still.items())[:_MOST_NAMED]
        ]
        if len(still) > _MOST_NAMED:
            more = len(still) - _MOST_NAMED
            said.append(
                f"so {agreed(more, 'does', 'do')} {counted(more, 'more class', 'more classes')}"
            )
        if said:
            warn(f"{sentence('; '.join(said))}.", CollinearityWarning)
        return notes + said


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
