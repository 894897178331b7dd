"""KernelDiscriminant, the estimator: parameters, fitted attributes, saving."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from sortal.base.learner import refuse_one_class
from sortal.base.summary_classifier import incremental_method
from sortal.decision.options import check_progress, read_class_weight, read_seed, whole_number
from sortal.decision.scores import identity
from sortal.errors import FormatError, ParameterError, SortalError
from sortal.kernels.basis import KernelBasis, KernelSummary, basis_of
from sortal.kernels.explain import ReadKernelRows, explain_rows, gather_kernel_rows
from sortal.kernels.fit import KernelLeaveOneOut
from sortal.kernels.landmark_space import LandmarkSpace
from sortal.kernels.learn import class_counts
from sortal.kernels.model import KernelModel
from sortal.kernels.options import KernelOptions
from sortal.kernels.working import show_kernel
from sortal.modelfile.arrays import OptionsField, RecordField, SummaryField
from sortal.modelfile.fields import Layout
from sortal.records.tables import Explanations
from sortal.summaries.counts import DiscriminantSummary

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import Counts, Float
    from sortal.kernels.explain import KernelExplanation, KernelRows
    from sortal.kernels.functions import KernelFunction
    from sortal.records.tables import Table, Working


# --- What is read off a fitted kernel discriminant: attributes, explanations, its numbers --------


class ReadableKernel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelLeaveOneOut):
    """A fitted kernel discriminant, read."""

    def transform(self, X: Any) -> Float:
        """The projections p(x) = Σ_j a_j k(x_j, x) on the directions, not centered.

        Parameters
        ----------
        X : table

        Returns
        -------
        ndarray of shape (n_samples, n_directions)
        """
        model: KernelModel = self._fitted_model()
        return self._score_rows(X, model.coordinates, identity)

    def explain(self, X: Any, max_rows: int = 5) -> Explanations[KernelExplanation]:
        """Why: the rows of the basis that pull each row most, to the class said and away from it.

        With costs, what they add to the log-odds is a part of its own.

        Parameters
        ----------
        X : table
        max_rows : int, default=5
            How many basis rows are named; the rest is added up.
        """
        whole_number("max_rows", max_rows, 1)
        rows, backend = self._read_rows(X)
        refuse_one_class(self._schema.classes, "explain")
        made = explain_rows(self._fitted_model(), rows, self._read_costs(self.costs), max_rows)
        return Explanations(made, range(len(rows)), backend)

    def working(self, X: Any = None, max_rows: int = 20) -> Working:
        """The numbers of this fit: K, M, N, a, projections; of rows X, projections and posteriors.

        Parameters
        ----------
        X : table, default=None
        max_rows : int, default=20
            Rows of the basis up to which matrices are shown whole.
        """
        whole_number("max_rows", max_rows, 1)
        model = self._fitted_model()
        rows, backend = (None, self._backend) if X is None else self._read_rows(X)
        return show_kernel(model, rows, self._read_costs(self.costs), max_rows, backend)

    def _read_rows(self, X: Any) -> tuple[KernelRows, str]:
        model, source = self._fitted_model(), self._open(X)
        rows = gather_kernel_rows(list(self._engine().map(source, ReadKernelRows(model))))
        unknown = rows.unknown.sum(axis=0)
        self._report_columns(rows.missing.sum(axis=0) - unknown, unknown)
        return rows, source.table.backend or self._backend

    @property
    def terms_(self) -> NDArray[Any]:
        """What the kernel is asked about: a number's column, or column=value."""
        model: KernelModel = self._fitted_model()
        return np.array(model.inputs.design.terms, dtype=object)

    @property
    def kernel_(self) -> KernelFunction:
        """The kernel: name, gamma, degree, coef0."""
        kernel: KernelFunction = self._fitted_model().kernel
        return kernel

    @property
    def gamma_(self) -> float:
        """γ of the kernel."""
        return float(self._fitted_model().kernel.gamma)

    @property
    def ridge_(self) -> float:
        """The ridge, as given or as chosen."""
        return float(self._fitted_model().ridge)

    @property
    def mu_(self) -> float:
        """The weight of the penalty: μ, or ε with penalty="coefficients"."""
        return float(self._fitted_model().mu)

    @property
    def solver_(self) -> str:
        """Whether all rows are the basis, or landmarks."""
        return str(self._fitted_model().solver)

    @property
    def n_landmarks_(self) -> int:
        """How many landmarks there are."""
        model: KernelModel = self._fitted_model()
        if model.solver != "landmarks":
            raise AttributeError("n_landmarks_ exists where solver_ is 'landmarks'.")
        return len(model.ids)

    @property
    def basis_ids_(self) -> Counts:
        """The rows of the basis, as places in the table of the fit, or of the first call."""
        return np.asarray(self._fitted_model().ids)

    @property
    def dual_coef_(self) -> Float:
        """The coefficients a, a row a basis row and a column a direction."""
        return np.asarray(self._fitted_model().coefs)

    @property
    def eigenvalues_(self) -> Float:
        """λ of each direction, falling."""
        return np.asarray(self._fitted_model().eigenvalues)

    @property
    def projected_means_(self) -> Float:
        """m_c, a row a class; NaN for a class without rows."""
        model: KernelModel = self._fitted_model()
        means = np.where(model.weight[:, None] > 0, model.means, np.nan)
        return self._spread(means, np.nan, axis=0)

    @property
    def projected_scatters_(self) -> Float:
        """s_c², a row a class."""
        return self._spread(self._fitted_model().scatters, axis=0)

    @property
    def condition_(self) -> float:
        """An estimate of the condition number of the matrix that was inverted."""
        return float(self._fitted_model().condition)

    @property
    def loo_curve_(self) -> Table:
        """The mean of ln P(y|x) without each row, for every ridge that was tried."""
        found: Table | None = self._fitted_model().curve
        if found is None:
            raise AttributeError("loo_curve_ exists after a fit with ridge='loo'.")
        return replace(found, backend=self._backend)

    @property
    def _n_features_out(self) -> int:
        return int(self._fitted_model().coefs.shape[1])


# --- What a kernel discriminant keeps in a model file: its basis, and of landmarks the moments ---


class SavedKernel(ReadableKernel):
    """The state of a kernel discriminant, out and in."""

    _kept: ClassVar[Layout] = Layout(
        _counts=SummaryField(DiscriminantSummary),
        _model=RecordField(KernelModel),
        _fitted=OptionsField(KernelOptions),
    )

    @property
    def _counts(self) -> DiscriminantSummary:
        """Counts of the rows, and of landmarks the moments in their space."""
        return self._summary.counts

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator into a model file, which `sortal.load` reads.

        The file holds data only, as docs/model_file.md has it. A kernel that is a function cannot
        be kept in one, and is refused. A file of that name is replaced when the new one is
        complete, and not before.

        Parameters
        ----------
        path : str or path
            Where to write; by custom it ends in ".sortal".
        """
        if self._fitted_model().kernel.name == "callable" or callable(self.kernel):
            raise ParameterError(
                "This kernel is a function, and a model file holds data only, no code: use a named "
                "kernel, give the kernel matrix with kernel='precomputed', or pickle the estimator."
            )
        super().save(path)

    def _restore(self, kept: dict[str, Any]) -> None:
        model, counts, options = kept["_model"], kept.pop("_counts"), kept["_fitted"]
        if (model.solver == "landmarks") != bool(counts.moments.numbers):
            raise FormatError("The summary does not fit the basis: damaged?")
        space = None
        if model.solver == "landmarks":
            space = LandmarkSpace(model.kernel, model.inputs, model.basis)
        try:
            weight, _ = class_counts(counts, model.classes)
            factor = read_class_weight(options.class_weight, model.classes, weight)
        except (SortalError, LookupError, ValueError) as error:
            raise FormatError(f"The summary does not fit the classes ({error}).") from None
        self._plan = basis_of(model, factor, space)
        self._summary = KernelSummary(self._plan, counts)
        super()._restore(kept)

    def _saved_plan(self) -> KernelBasis:
        return self._plan

    def _agrees(self, summary: KernelSummary) -> bool:
        space = summary.basis.space
        names = () if space is None else space.names
        return summary.counts.moments.numbers == names and super()._agrees(summary)


class KernelDiscriminant(SavedKernel):
    """Fisher's discriminant in the feature space of a kernel, and Gaussians along its directions.

    A direction w = Σ_j a_j φ(x_j) is a sum over rows x_j, the basis: all rows of the fit, or
    landmarks among them. The coefficients a solve M a = λ (N + P) a, with M the scatter of the
    class means and N that of the rows within classes, both of kernel values, and a penalty P: the
    classes lie as far apart along w as they can, measured by how wide they are. A row is projected
    by p(x) = Σ_j a_j k(x_j, x), and given the class that is likeliest there.

    Parameters
    ----------
    kernel : {"rbf", "poly", "linear", "laplacian", "precomputed"} or callable, default="rbf"
        exp(-γ‖u - u'‖²), (γ uᵀu' + coef0)^degree, uᵀu' or exp(-γ‖u - u'‖₁) of the inputs u of two
        rows; a function of two matrices of inputs, which gives the matrix of kernel values; or, for
        "precomputed", X is that matrix, of all rows of the fit with each other, and at predict of
        the rows asked about with all rows of the fit.
    gamma : float, default=None
        γ above 0. None: one over the sum of the variances of the inputs for "rbf", of their
        standard deviations for "laplacian", and 1 for "poly".
    degree, coef0 : int and float, default=2 and 0.0
        Of "poly".
    scale : {"auto", "std", None}, default="auto"
        Whether numbers are divided by their standard deviation (divisor: the weight of all rows).
        "auto" does so for "rbf" and "laplacian". Indicators of categories are never divided.
    ridge : float of at least 0, "loo" or None, default=None
        The weight of the penalty; for penalty="rkhs" as a share of Σ v_i k(x_i, x_i), v being the
        weights of the rows. None: 2/n, n being the number of rows, so that μ is twice the mean of
        k(x, x); or the ε that damps as much. 0 is the limit of a vanishing ridge. "loo" takes that
        of nine values under which rows are likeliest when they are left out one by one.
    penalty : {"rkhs", "coefficients"}, default="rkhs"
        P = μK, the squared length of w, or P = ε diag(1/v), that of a.
    rule : {"gaussian", "nearest_mean"}, default="gaussian"
        One Gaussian a class, with the pooled covariance along the directions; or the class whose
        projected mean is nearest by that covariance, whatever the shares of the classes.
    n_components : int, default=None
        How many directions to use; at most one fewer than classes.
    solver : {"auto", "dense", "landmarks"}, default="auto"
        "dense": all rows are the basis. "landmarks": rows that describe the others best.
        "auto" is "dense" up to 10,000 rows where memory allows. `partial_fit` has landmarks always.
    n_landmarks : int, default=None
        None: 1000, or all rows if there are fewer.
    random_state : int of at least 0, RandomState or None, default=0
        Which rows become landmarks. None is 0 here: a fit gives the same model each time. From a
        RandomState a number is drawn at each fit.
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
        (over the rows of the first call), or an error. At predict a missing value takes the mean of
        its column, a category the shares of its values, except with "error".
    unknown : {"skip", "error"}, default="skip"
        A value that the first rows did not have is treated as a missing value, or is an error.
    progress : callable, default=None
        Called during a fit with how many of 100 parts are done, and 100. What it raises ends the
        fit.
    n_jobs : int, default=None
        Threads; None means all cores (one inside a joblib worker). The result does not depend
        on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    terms_ : ndarray of shape (n_terms,)
        What the kernel is asked about: columns, and column=value for categories.
    kernel_ : KernelFunction
        The kernel: name, gamma, degree, coef0.
    gamma_, ridge_ : float
        As used.
    mu_ : float
        The weight of the penalty: μ, or ε with penalty="coefficients".
    solver_ : str
        Whether all rows are the basis, or landmarks.
    n_landmarks_ : int
        How many landmarks there are; fewer than asked for where these describe all rows.
    basis_ids_ : ndarray of shape (n_basis,)
        The rows of the basis, as places in the table of the fit, or of the first call.
    dual_coef_ : ndarray of shape (n_basis, n_directions)
        The coefficients a, with aᵀKa = 1: w has unit length. Each w points from the class that
        sorts last to the first.
    eigenvalues_ : ndarray of shape (n_directions,)
        λ, falling. Two classes: M = (m_1 - m_2)(m_1 - m_2)ᵀ. More: M = Σ n_c (m_c - m)(m_c - m)ᵀ.
    projected_means_, projected_scatters_ : ndarray of shape (n_classes, n_directions)
        Means and scatters of the projected rows.
    priors_ : ndarray of shape (n_classes,)
    condition_ : float
        An estimate of the condition number of the matrix that was inverted.
    loo_curve_ : Table
        With ridge="loo": the mean of ln P(y|x) without each row, for every ridge tried.
    n_parameters_ : int
        How many numbers predict needs: basis rows, coefficients, projected means.
    fit_report_ : FitReport
        Rows, missing values by column, notes.
    n_features_in_, feature_names_in_ :
        As in scikit-learn.

    Examples
    --------
    >>> from sortal import KernelDiscriminant, datasets
    >>> iris = datasets.iris()
    >>> model = KernelDiscriminant().fit(iris, "species")
    >>> print(f"{model.score(iris, 'species'):.2f}")
    0.97
    """

    _missing_words = "the mean of their column stands for them"
    _missing_remedy = "Fill them, or set missing='drop_rows' or missing='mean'."
    _unknown_remedy = (
        "Map them to known values, or set unknown='skip': the mean of their column stands for them."
    )

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: float | None = None,
        degree: int = 2,
        coef0: float = 0.0,
        scale: str | None = "auto",
        ridge: float | str | None = None,
        penalty: str = "rkhs",
        rule: str = "gaussian",
        n_components: int | None = None,
        solver: str = "auto",
        n_landmarks: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        priors: ArrayLike | dict[Any, float] | None = None,
        class_weight: dict[Any, float] | str | None = None,
        costs: ArrayLike | None = None,
        categorical_features: Any = "from_dtype",
        missing: str = "drop_rows",
        unknown: str = "skip",
        progress: Callable[[int, int], object] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.scale = scale
        self.ridge = ridge
        self.penalty = penalty
        self.rule = rule
        self.n_components = n_components
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.random_state = random_state
        self.priors = priors
        self.class_weight = class_weight
        self.costs = costs
        self.categorical_features = categorical_features
        self.missing = missing
        self.unknown = unknown
        self.progress = progress
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.pairwise = given
        tags.input_tags.allow_nan &= not given
        return tags

    @incremental_method
    def partial_fit(
        self,
        X: Any,
        y: Any,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> KernelDiscriminant:
        """Add rows. Scale, gamma, fill-ins and landmarks are those of the first call.

        With them, blocks in any order give the model of one pass over all rows.

        Parameters
        ----------
        X, y, sample_weight :
            As in `fit`. Columns are matched to those of the first call.
        classes : array-like, default=None
            Classes to know of before their first row comes; not needed otherwise.

        Returns
        -------
        self
        """
        made: KernelDiscriminant = super().partial_fit(X, y, classes, sample_weight)
        return made

    def _options(self) -> KernelOptions:
        self._policies()
        check_progress("progress", self.progress)
        return KernelOptions(
            self.kernel,
            self.gamma,
            self.degree,
            self.coef0,
            self.scale,
            self.ridge,
            self.penalty,
            self.rule,
            self.n_components,
            self.solver,
            self.n_landmarks,
            read_seed(self.random_state),
            self.priors,
            self.class_weight,
            self._fills(),
        )
