"""KernelDiscriminant: the learner, and what is read off its fits."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from sortal.base.classifier import TableClassifier
from sortal.base.learner import Learner, refuse_one_class
from sortal.decision.options import read_class_weight, whole_number
from sortal.decision.scores import ask, ask_densities
from sortal.errors import ParameterError
from sortal.kernels.explain import explain_rows, read_kernel_rows
from sortal.kernels.first_pass import (
    WORDS,
    BasisRows,
    KernelBasis,
    choose_basis,
    plan_basis,
    refuse_hollow,
)
from sortal.kernels.learn import (
    KernelOptions,
    KernelSummary,
    check_options,
    class_counts,
    learn,
    priorless,
    read_schema,
    report_fit,
    summarize,
)
from sortal.kernels.leave_one_out import choose_ridge, leave_out
from sortal.kernels.model import KernelModel, is_matrix, rows_at_a_time
from sortal.kernels.working import show_kernel
from sortal.records.tables import Explanations
from sortal.summaries.counts import DiscriminantSummary

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from numpy.typing import NDArray

    from sortal._typing import Counts, Float, TableLike
    from sortal.base.learner import Fitted, Training
    from sortal.data.columns import Schema
    from sortal.data.sources import Batch, DataTable, TableSource
    from sortal.decision.scores import Question, ScoredTerms
    from sortal.kernels.model import KernelFunction
    from sortal.records.tables import Table, Working

    KernelFit: TypeAlias = Fitted[KernelOptions, KernelSummary, KernelModel]


# --- Fitting: the basis, counts of the rows, the ridge, directions -------------------------------


def _later_plan(schema: Schema, options: KernelOptions, fitted: KernelFit) -> KernelBasis:  # noqa: ARG001
    """The basis so far; where all rows are it, landmarks among them."""
    basis: KernelBasis = fitted.plan
    if basis.space is not None:
        return basis
    wanted = np.arange(len(basis.rows.ids))
    return choose_basis(options, basis.kernel, basis.inputs, wanted, basis.rows.take)


def _join(fitted: KernelFit, basis: KernelBasis) -> KernelSummary:
    summary = fitted.summary
    return summary if summary.basis.space is not None else summary.in_space(basis)


def _whole(options: KernelOptions) -> str:
    """Why rows cannot come in pieces; nothing where they can."""
    words = {
        "kernel": ("precomputed", "set kernel='rbf'"),
        "solver": ("dense", "set solver='landmarks'"),
        "ridge": ("loo", "give a number"),
    }
    for name, (word, remedy) in words.items():
        given = getattr(options, name)
        if isinstance(given, str) and given == word:
            return f"{name}={word!r} needs all rows at once: use fit, or {remedy}."
    return ""


# What says how rows are read. Landmarks are those of the first call, so that its random state is of
# no account later.
_READ_BY = ("kernel", "gamma", "degree", "coef0", "scale", "solver", "n_landmarks")


def _refuse_more(fitted: KernelFit, options: KernelOptions) -> None:
    """Rows that would be read otherwise cannot be joined."""
    if any(getattr(options, name) != getattr(fitted.options, name) for name in _READ_BY):
        raise ParameterError(
            "The kernel, its parameters, the scale or the landmarks were set to others after "
            "the first rows, whose basis they cannot use: set them back, or fit again."
        )
    if (options.missing == "mean") != (fitted.options.missing == "mean"):
        raise ParameterError(
            f"missing={options.missing!r} was set after a fit with another policy, whose summary "
            "it cannot use: set it back, or fit again."
        )
    if not fitted.plan.inputs.factor.any():
        raise ParameterError(
            "The first rows, all of one class, do not vary in any column, so that there is no "
            "scale for others: fit again to all rows."
        )


def _strangers(training: Training, fitted: KernelFit) -> Counts | None:
    """Values of categories that the inputs do not know, by column."""
    inputs = fitted.plan.inputs
    if not inputs.design.categories:
        return None
    blocks = training.engine.map(training.source, lambda batch: inputs(batch).unknown.sum(axis=0))
    return np.asarray(np.sum(list(blocks), axis=0))


# --- Asking --------------------------------------------------------------------------------------


def _refuse_table(table: DataTable, fitted: KernelFit) -> None:
    if is_matrix(fitted.options):
        refuse_hollow(table)


def _few_rows(source: TableSource, fitted: KernelFit) -> TableSource:
    """So few rows at a time that their kernel values fit."""
    most = rows_at_a_time(len(fitted.model.ids))
    return replace(source, block_rows=min(source.rows_per_block, most))


def _answer(fitted: KernelFit, question: Question) -> Callable[[Batch], ScoredTerms]:
    if question.prior is not None and fitted.options.rule == "nearest_mean":
        raise priorless()
    return ask_densities(fitted.model.score, fitted.model.prior, question)


# --- What is kept in a model file: the model, and counts; of landmarks moments in their space ----


def _pack(fitted: KernelFit) -> dict[str, object]:
    if fitted.model.kernel.name == "callable":
        raise ParameterError(
            "This kernel is a function, and a model file holds data only, no code: use a named "
            "kernel, give the kernel matrix with kernel='precomputed', or pickle the estimator."
        )
    return {"summary": fitted.summary.counts, "model": fitted.model}


def _unpack(
    learner: object,  # noqa: ARG001
    kept: dict[str, Any],
    declared: Schema,  # noqa: ARG001
    options: KernelOptions,
) -> tuple[KernelBasis, KernelSummary, KernelModel]:
    model: KernelModel = kept["model"]
    counts: DiscriminantSummary = kept["summary"]
    weight, _ = class_counts(counts, model.classes)
    factor = read_class_weight(options.class_weight, model.classes, weight)
    basis = basis_of(model, factor)
    return basis, KernelSummary(basis, counts), model


def basis_of(model: KernelModel, factor: Float) -> KernelBasis:
    """The basis of a model, whose weights of rows are without those of classes again."""
    labels = np.array(model.classes, dtype=object)
    of_rows = factor[model.codes]
    weight = model.weight_of_basis / np.where(of_rows > 0, of_rows, 1.0)
    rows = BasisRows(model.basis, model.ids, labels[model.codes], weight)
    asked = len(model.ids) if model.solver == "landmarks" else 0
    return KernelBasis(model.kernel, model.inputs, rows, asked)


def _agrees(fitted: KernelFit) -> bool:
    """Whether the counts of a file are of its landmarks and columns."""
    space, counts = fitted.plan.space, fitted.summary.counts
    names = () if space is None else space.names
    return counts.moments.numbers == names and len(counts.rows.missing) == len(
        fitted.schema.columns
    )


KERNEL = Learner(
    options=KernelOptions,
    kept={"model": KernelModel, "summary": DiscriminantSummary},
    plan=plan_basis,
    later_plan=_later_plan,
    schema=read_schema,
    model=partial(learn, choose_ridge),
    report=report_fit,
    answer=_answer,
    check=check_options,
    summarize=summarize,
    join=_join,
    refuse_more=_refuse_more,
    leave_out=leave_out,
    whole=_whole,
    absent={"forget": "A KernelDiscriminant cannot forget rows: fit it to the others."},
    strangers=_strangers,
    words=WORDS,
    refuse_table=_refuse_table,
    rows=_few_rows,
    agrees=_agrees,
    pack=_pack,
    unpack=_unpack,
    waits=True,
    by_position=is_matrix,
)


class KernelDiscriminant(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    KernelOptions,
    TableClassifier[KernelOptions, KernelSummary, KernelModel],
):
    """Fisher's discriminant in the feature space of a kernel, and Gaussians along its directions.

    A direction w = Σ_j a_j φ(x_j) is a sum over rows x_j, the basis: all rows of the fit, or
    landmarks among them. The coefficients a solve M a = λ (N + P) a, with M the scatter of the
    class means and N that of the rows within classes, both of kernel values, and a penalty P: the
    classes lie as far apart along w as they can, measured by how wide they are. A row is projected
    by p(x) = Σ_j a_j k(x_j, x), and given the class that is likeliest there.

    `partial_fit` keeps the scale, gamma, means and landmarks of the first call; with them, blocks
    in any order give the model of one pass over all rows. `loo_proba`, for the price of another
    fit, keeps these, the weight of the penalty and the basis; class means, scatter, priors, divisor
    and class weights are those of the other rows. A kernel that is a function cannot be saved in a
    model file.

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

    _learner = KERNEL

    def transform(self, X: TableLike) -> Float:
        """The projections p(x) = Σ_j a_j k(x_j, x) on the directions, not centered.

        Parameters
        ----------
        X : table

        Returns
        -------
        ndarray of shape (n_samples, n_directions)
        """
        project = self._model.project
        return self._pass(self._open(X), ask(project, lambda projected: projected)).answer

    def explain(self, X: TableLike, max_rows: int = 5) -> Explanations:
        """Why: the rows of the basis that pull each row most, to the class said and away from it.

        Offset, pulls and the rest add up to ln of P(label|x) / P(against|x); where one of the two
        classes cannot be, the offset is infinite. pull = coefficient · kernel, to the label if it
        is positive. With costs, what they add to the log-odds is a part of its own.

        Facts: `posterior` by class; `log_odds` without costs; `by_class`, all pulls added up by the
        class of the row that pulls; `n_basis` and `basis`, how many rows pull and what they are:
        "rows" of the fit or "landmarks" among them, which stand for the rows around them; and
        `filled`, the columns for whose missing or unknown value their mean stands.

        Parameters
        ----------
        X : table
        max_rows : int, default=5
            How many basis rows are named; the rest is added up.
        """
        whole_number("max_rows", max_rows, 1)
        rows = self._pass(self._open(X), read_kernel_rows(self._model))
        refuse_one_class(self._schema.classes, "explain")
        made = explain_rows(self._model, rows, self._fitted.read_costs(), max_rows)
        return self._framed(Explanations(made, range(len(rows.u))), X)

    def working(self, X: TableLike | None = None, max_rows: int = 20) -> Working:
        """The numbers of this fit: K, M, N, a, projections; of rows X, projections and posteriors.

        Parameters
        ----------
        X : table, default=None
        max_rows : int, default=20
            Rows of the basis up to which matrices are shown whole.
        """
        whole_number("max_rows", max_rows, 1)
        model = self._model
        rows = None if X is None else self._pass(self._open(X), read_kernel_rows(model))
        return self._framed(show_kernel(model, rows, self._fitted.read_costs(), max_rows), X)

    @property
    def priors_(self) -> Float:
        """π_k."""
        return self._get_fitted().over_classes(self._model.prior, axis=0)

    @property
    def terms_(self) -> NDArray[np.object_]:
        """What the kernel is asked about: a number's column, or column=value."""
        return np.array(self._model.inputs.design.terms, dtype=object)

    @property
    def kernel_(self) -> KernelFunction:
        """The kernel: name, gamma, degree, coef0."""
        return self._model.kernel

    @property
    def gamma_(self) -> float:
        """γ of the kernel."""
        return self._model.kernel.gamma

    @property
    def ridge_(self) -> float:
        """The ridge, as given or as chosen."""
        return self._model.ridge

    @property
    def mu_(self) -> float:
        """The weight of the penalty: μ, or ε with penalty="coefficients"."""
        return self._model.mu

    @property
    def solver_(self) -> str:
        """Whether all rows are the basis, or landmarks."""
        return self._model.solver

    @property
    def n_landmarks_(self) -> int:
        """How many landmarks there are."""
        model = self._model
        if model.solver != "landmarks":
            raise AttributeError("n_landmarks_ exists where solver_ is 'landmarks'.")
        return len(model.ids)

    @property
    def basis_ids_(self) -> Counts:
        """The rows of the basis, as places in the table of the fit, or of the first call."""
        return self._model.ids

    @property
    def dual_coef_(self) -> Float:
        """The coefficients a, a row a basis row and a column a direction."""
        return self._model.coefs

    @property
    def eigenvalues_(self) -> Float:
        """λ of each direction, falling."""
        return self._model.eigenvalues

    @property
    def projected_means_(self) -> Float:
        """m_c, a row a class; NaN for a class without rows."""
        model = self._model
        means = np.where(model.weight[:, None] > 0, model.means, np.nan)
        return self._get_fitted().over_classes(means, np.nan, axis=0)

    @property
    def projected_scatters_(self) -> Float:
        """s_c², a row a class."""
        return self._get_fitted().over_classes(self._model.scatters, axis=0)

    @property
    def condition_(self) -> float:
        """An estimate of the condition number of the matrix that was inverted."""
        return self._model.condition

    @property
    def loo_curve_(self) -> Table:
        """The mean of ln P(y|x) without each row, for every ridge that was tried."""
        found = self._model.curve
        if found is None:
            raise AttributeError("loo_curve_ exists after a fit with ridge='loo'.")
        return self._framed(found)

    @property
    def _n_features_out(self) -> int:
        return int(self._model.coefs.shape[1])
