"""QuadraticDiscriminant, the estimator, and its conversion to scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from sortal.base.to_sklearn import (
    given_priors,
    refuse_absent,
    refuse_others,
    rows_around,
    verify,
    wear_names,
)
from sortal.discriminants.estimator import (
    DiscriminantClassifier,
    gaussian_learner,
    log_priors,
    note_columns,
    shift_by_costs,
)
from sortal.discriminants.explain import ExplainQuadratic
from sortal.discriminants.held_out import HeldOut, read_curve
from sortal.discriminants.quadratic.learn import (
    QuadraticModel,
    QuadraticOptions,
    build_quadratic,
    still_columns,
)
from sortal.discriminants.quadratic.leave_one_out import QuadraticLeaveOut
from sortal.discriminants.statistics import combination, sentence
from sortal.discriminants.working import show_quadratic
from sortal.errors import (
    CollinearityWarning,
    ColumnError,
    agreed,
    counted,
    warn,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal._typing import CostsLike, Counts, Float, Label, PriorsLike, TableLike
    from sortal.discriminants.linear_functions import QuadraticBoundary
    from sortal.records.tables import Table, Working


# Of classes that do not vary somewhere, so many are named.
_MOST_NAMED = 5


def _note(model: QuadraticModel) -> list[str]:
    """Columns, and classes that do not vary where others do."""
    notes = note_columns(model)
    if len(model.classes) == 1:
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


def _kernel(settings: Sequence[QuadraticOptions]) -> QuadraticLeaveOut:
    pairs = tuple((float(one.pooling), float(one.shrinkage or 0.0)) for one in settings)
    return QuadraticLeaveOut(settings[0].covariance, pairs)


HELD_OUT = HeldOut(build_quadratic, ("pooling", "shrinkage"), _kernel)

QUADRATIC = gaussian_learner(
    "QuadraticDiscriminant",
    QuadraticOptions,
    QuadraticModel,
    HELD_OUT,
    notes=_note,
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
        return read_curve(self._get_fitted(), HELD_OUT.shares)

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
