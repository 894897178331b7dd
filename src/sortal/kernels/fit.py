"""Fitting a kernel discriminant: policies, the basis, the pass, the ridge, more rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sortal.base.ladder import FitReport
from sortal.base.summary_classifier import Posteriors, SummaryClassifier
from sortal.discriminants.leave_one_out import (
    Tiles,
    best,
    curve,
    leave_one_out,
    not_fitted,
    same_rows,
    score_grid,
)
from sortal.discriminants.statistics import report_missing, sentence
from sortal.engines import gather, merge_all, n_threads
from sortal.errors import (
    ParameterError,
    PerfectSeparationWarning,
    SortalError,
    SortalWarning,
    agreed,
    choose,
    counted,
    listed,
    warn,
)
from sortal.kernels.basis import (
    CountRows,
    CountUnknown,
    GatherRows,
    KernelBasis,
    KernelSummary,
    SelectRows,
    choose_landmarks,
    gather_rows,
)
from sortal.kernels.first_pass import (
    ColumnSpread,
    FirstPass,
    far_columns,
    read_inputs,
    read_kernel,
    refuse_hollow,
    refuse_still,
    refuse_unusable,
    schema_of,
    still_columns,
)
from sortal.kernels.functions import positive
from sortal.kernels.landmark_space import (
    LandmarkSpace,
    SummarizeLandmarks,
    block_rows,
    space_features,
)
from sortal.kernels.learn import (
    KernelProblem,
    build_model,
    refuse_beyond,
    refuse_other_shape,
    ridges,
    solve_all_rows,
    solve_span,
    zero_classes,
)
from sortal.kernels.leave_one_out import DenseLeaveOut, LandmarkLeaveOut, OnLandmarks, space_fitted
from sortal.kernels.model import rows_at_a_time
from sortal.kernels.options import (
    StagedProgress,
    count_landmarks,
    each,
    priorless,
    refuse_memory,
    resolve_solver,
    sample_size,
)
from sortal.kernels.primal import no_progress
from sortal.kernels.solve import kernel_matrix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import Counts, Float, Places
    from sortal.base.ladder import Training
    from sortal.data.schema import Schema
    from sortal.data.sources import Batch, DataTable, TableSource
    from sortal.discriminants.leave_one_out import GridScores
    from sortal.kernels.basis import BasisRows
    from sortal.kernels.functions import KernelFunction, KernelInputs
    from sortal.kernels.model import KernelModel
    from sortal.kernels.options import KernelOptions, ProgressStage
    from sortal.kernels.primal import ReportProgress
    from sortal.records.tables import Table
    from sortal.summaries.counts import DiscriminantSummary


class KernelClassifier(Posteriors, SummaryClassifier):
    """How tables are read."""

    kernel: Any
    class_weight: Any
    progress: Any
    _summary: KernelSummary
    _plan: KernelBasis
    _allows_incomplete = True  # blocks of one class only are kept until more come

    def _policies(self) -> None:
        choose("missing", self.missing, ("drop_rows", "mean", "error"))
        choose("unknown", self.unknown, ("skip", "error"))

    def _given(self) -> bool:
        """Whether tables are matrices of kernel values."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _set_input_names(self, training: Training) -> None:
        super()._set_input_names(training)
        self._by_name = self._by_name and not self._given()  # its columns are rows of the fit

    def _open(self, X: Any) -> TableSource:
        source = super()._open(X)
        most = rows_at_a_time(len(self._fitted_model().ids))
        return replace(source, block_rows=min(source.rows_per_block, most))

    def _places(self, table: DataTable) -> tuple[int, ...]:
        if self._given():
            refuse_hollow(table)  # before its columns are counted
        return super()._places(table)

    def _answer(self, X: Any, priors: Any, what: str, costs: Float | None = None) -> NDArray[Any]:
        self._fitted_model()
        if priors is not None and self._fitted.rule == "nearest_mean":
            raise priorless()
        return super()._answer(X, priors, what, costs)

    def _fills(self) -> bool:
        """Whether rows with missing values take part."""
        return bool(self.missing == "mean")

    def _refuse_missing(self, schema: Schema, missing: Counts) -> None:
        if self.missing == "error":
            self._report_cells(dict(zip(schema.names, missing.tolist(), strict=True)), {})

    def _not_incremental(self) -> str:
        """Why rows cannot come in pieces; nothing where they can."""
        words = {
            "kernel": ("precomputed", "set kernel='rbf'"),
            "solver": ("dense", "set solver='landmarks'"),
            "ridge": ("loo", "give a number"),
        }
        for name, (word, remedy) in words.items():
            given = getattr(self, name)
            if isinstance(given, str) and given == word:
                return f"{name}={word!r} needs all rows at once: use fit, or {remedy}."
        return ""

    def _open_more(self, X: Any, y: Any, sample_weight: Any, options: KernelOptions) -> Training:
        if options.reads() != self._fitted.reads():
            raise ParameterError(
                "The kernel, its parameters, the scale or the landmarks were set to others after "
                "the first rows, whose basis they cannot use: set them back, or fit again."
            )
        if self._fills() != self._fitted.fills:
            raise ParameterError(
                f"missing={self.missing!r} was set after a fit with another policy, whose summary "
                "it cannot use: set it back, or fit again."
            )
        if not self._plan.inputs.factor.any():
            raise ParameterError(
                "The first rows, all of one class, do not vary in any column, so that there is no "
                "scale for others: fit again to all rows."
            )
        training = super()._open_more(X, y, sample_weight, options)
        inputs, none = self._plan.inputs, np.zeros(len(self._schema.columns), dtype=np.int64)
        if inputs.design.categories:
            unknown = sum(self._engine().map(training.source, CountUnknown(inputs)), none)
            self._report_columns(none, unknown)
        return training


# --- How a kernel discriminant is fitted: a first look, a basis, a pass, and a solution ----------

# Rows by which a kernel that is a function is looked at before landmarks are chosen.
_LOOKED_AT = 500

# What share of a fit is done with the moments of landmarks, where a ridge is chosen after it.
SUMMED = 0.4


class KernelFitting(KernelClassifier):
    """From rows to a model."""

    # --- The basis ------------------------------------------------------------------------------

    def _plan_first(self, source: TableSource, options: KernelOptions) -> KernelBasis:
        return self._plan_by(source, options, alone=True)

    def _incremental_plan(self, source: TableSource, options: KernelOptions) -> KernelBasis:
        return self._plan_by(source, replace(options, solver="landmarks"), alone=False)

    def _later_plan(self, schema: Schema, options: KernelOptions) -> KernelBasis:  # noqa: ARG002
        if self._plan.space is not None:
            return self._plan
        basis, wanted = self._plan, np.arange(len(self._plan.rows.ids))
        return self._choose(options, basis.kernel, basis.inputs, wanted, basis.rows.take)

    def _recast(self, summary: KernelSummary, plan: KernelBasis) -> KernelSummary:
        return summary if summary.basis.space is not None else summary.in_space(plan)

    def _plan_by(self, source: TableSource, options: KernelOptions, *, alone: bool) -> KernelBasis:
        """The basis of the first rows; where they are `alone` and of one class, none need vary."""
        seen = self._engine().reduce(source, FirstPass.of(source.schema, self._fills()))
        self._refuse_missing(source.schema, seen.rows.missing)
        refuse_unusable(seen, source.schema, options)
        schema = schema_of(source.schema, seen.values.values, seen.labels)
        spread = ColumnSpread.of(seen, schema)
        if not (alone and len(seen.labels) == 1):
            refuse_still(spread, options)
        inputs = read_inputs(spread, schema, options)
        kernel = read_kernel(spread, inputs, options)
        if far := far_columns(spread, inputs, kernel, options.ridge):
            warn(
                f"The values of {listed(far)} lie so far from 0, beside their spread, that "
                "products of them hold less than half of their digits. Take their means off, use "
                "kernel='rbf', or a larger ridge.",
                SortalWarning,
            )
        places = self._taking_part(source, options.class_weight)
        solver = resolve_solver(options, len(places))
        if solver == "landmarks":
            gather = partial(self._gather, source, inputs)
            return self._choose(options, kernel, inputs, places, gather)
        if options.name == "precomputed":
            refuse_other_shape(source.table.n_rows, len(source.places))
        refuse_memory(options, len(places))
        rows = self._gather(source, inputs, places)
        if options.name == "precomputed":
            rows = replace(rows, u=rows.u[:, :0].copy())
        else:
            refuse_beyond(kernel.diagonal(rows.u))
        return KernelBasis(kernel, inputs, rows)

    def _taking_part(self, source: TableSource, class_weight: Any) -> Places:
        question = SelectRows(self._fills(), zero_classes(class_weight))
        return np.flatnonzero(np.concatenate(list(self._engine().map(source, question))))

    def _gather(self, source: TableSource, inputs: KernelInputs, places: Places) -> BasisRows:
        """The rows at some places, in the order of the table."""
        wanted = np.zeros(source.table.n_rows, dtype=bool)
        wanted[places] = True
        return gather_rows(self._engine().map(source, GatherRows(inputs, wanted)))

    def _choose(
        self,
        options: KernelOptions,
        kernel: KernelFunction,
        inputs: KernelInputs,
        places: Places,
        gather: Callable[[Places], BasisRows],
    ) -> KernelBasis:
        """Landmarks, among a sample of the rows at some places."""
        asked = count_landmarks(options, len(places))
        size = sample_size(asked, len(places))
        if size < len(places):
            random = np.random.default_rng(options.random_state)
            places = np.sort(random.choice(places, size, replace=False))
        sample = gather(places)
        refuse_beyond(kernel.diagonal(sample.u))
        if kernel.name == "callable":
            some = sample.u[:_LOOKED_AT]
            positive(kernel.matrix(some, some), "The matrix of this kernel")
        tell = StagedProgress(self.progress).part(0.0, 0.2)
        chosen = choose_landmarks(kernel, sample.u, asked, options.random_state, tell)
        rows = sample.take(chosen)
        return KernelBasis(kernel, inputs, rows, LandmarkSpace(kernel, inputs, rows.u), asked)

    # --- The pass -------------------------------------------------------------------------------

    def _summarize(self, source: TableSource, plan: KernelBasis) -> KernelSummary:
        stop = SUMMED if self.ridge == "loo" else 0.9
        counts = self._measure(source, plan, StagedProgress(self.progress).part(0.2, stop))
        self._refuse_missing(source.schema, counts.rows.missing)
        return KernelSummary(plan, counts)

    def _measure(
        self, source: TableSource, plan: KernelBasis, tell: ReportProgress
    ) -> DiscriminantSummary:
        """Counts of the rows that take part, and of landmarks the moments in their space."""
        if plan.space is None:
            return self._engine().reduce(source, CountRows(SelectRows(self._fills())))
        n_classes = len(set(plan.rows.labels.tolist()))
        source = replace(source, block_rows=block_rows(source.table.n_rows, n_classes))
        blocks = self._engine().map(source, SummarizeLandmarks(plan.space, self._fills()))
        return merge_all(each(blocks, source.n_blocks, tell))

    def _read_schema(
        self,
        declared: Schema,
        summary: KernelSummary,
        options: KernelOptions,  # noqa: ARG002
    ) -> Schema:
        design = summary.basis.inputs.design
        values = tuple(design.schema.columns[j].values for j in design.categories)
        return schema_of(declared, values, summary.labels)

    # --- The model ------------------------------------------------------------------------------

    def _build(
        self,
        summary: KernelSummary,
        schema: Schema,
        options: KernelOptions,
        source: TableSource | None,
    ) -> KernelModel:
        self._refuse_unfit(summary, schema)
        problem, progress = (
            KernelProblem(summary, schema.classes, options),
            StagedProgress(self.progress),
        )
        problem.check()
        problem, curve = self._with_ridge(problem, source, progress)
        if summary.basis.space is not None:
            solved = solve_span(problem)
        else:
            K = self._matrix(problem, source, progress.part(0.0, 0.3))
            solved = solve_all_rows(problem, K, progress.part(0.3, 1.0))
        progress.tell(1.0)
        return replace(build_model(problem, solved), curve=curve)

    def _with_ridge(
        self,
        problem: KernelProblem,
        source: TableSource | None,  # noqa: ARG002
        progress: StagedProgress,  # noqa: ARG002
    ) -> tuple[KernelProblem, Table | None]:
        """The problem with its ridge, and what was tried where it was chosen."""
        return problem, None

    def _matrix(
        self, problem: KernelProblem, source: TableSource | None, tell: ReportProgress
    ) -> Float:
        """K of the basis rows; what is not positive by its form is looked at."""
        kernel, rows = problem.summary.basis.kernel, problem.basis
        if kernel.name == "precomputed":
            assert source is not None  # noqa: S101  (pieces were refused)
            given = self._gather(source, problem.summary.basis.inputs, rows.ids)
            return positive(given.u[:, rows.ids], "The kernel matrix X")
        if kernel.name == "callable":
            return positive(kernel.matrix(rows.u, rows.u), "The matrix of this kernel")
        return kernel_matrix(kernel, rows.u, n_threads(self.n_jobs), tell)

    def _report_fit(self, summary: KernelSummary, schema: Schema, model: Any) -> FitReport:
        missing, notes = report_missing(summary, schema)
        return FitReport(summary.rows.rows, missing, (*notes, *self._notes(summary, model)))

    def _notes(self, summary: KernelSummary, model: Any) -> list[str]:
        """What to know of columns, landmarks and directions; of the last, warned of, too."""
        basis = summary.basis
        notes = [
            f"column {name!r} never varies and is left out" for name in still_columns(basis.inputs)
        ]
        if len(basis.rows.ids) < basis.asked:
            notes.append(
                f"{counted(len(basis.rows.ids), 'landmark')} "
                f"{agreed(len(basis.rows.ids), 'describes', 'describe')} all rows to the last "
                f"digits: {basis.asked} are not needed"
            )
        if not isinstance(model, SortalError) and np.isinf(model.eigenvalues).any():
            notes.append(
                "without a ridge this kernel separates every training set of distinct rows, and "
                "these too: that says nothing of other rows. Set a ridge"
            )
            warn(f"{sentence(notes[-1])}.", PerfectSeparationWarning)
        return notes


# Posteriors of rows by kernel discriminants without them, and a ridge that is chosen by these.

T = TypeVar("T")


class KernelLeaveOneOut(KernelFitting):
    """Leave-one-out, and the choice of the ridge by it."""

    def loo_proba(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Float:
        """P(c|x) of each row by the model without this row, for the price of another fit.

        A row goes with all its weight: class means, scatter, priors, divisor and class weights are
        those of the other rows. Scale, gamma, the weight of the penalty, what stands for missing
        values, and the basis stay. A row that was not in the fit (it has a missing value, or no
        weight) gets what `predict_proba` says.

        Parameters
        ----------
        X, y, sample_weight :
            The rows of the fit again.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        self._fitted_model()
        source = self._open_more(X, y, sample_weight, self._fitted).source
        problem = KernelProblem(self._summary, self._schema.classes, self._fitted)
        leave = self._leave_dense if self._plan.space is None else self._leave_landmarks
        made, left_out = leave(source, problem)
        if not left_out.all():
            made[~left_out] = self._answer(X, None, "proba")[~left_out]
        return self._spread(made)

    def _leave_dense(
        self, source: TableSource, problem: KernelProblem
    ) -> tuple[Float, NDArray[Any]]:
        """Posteriors of all rows, and which rows they are of; all rows are the basis."""
        model: KernelModel = self._model
        places = self._taking_part(source, self._fitted.class_weight)
        rows, mine = self._gather(source, self._plan.inputs, places), problem.basis
        given = self._plan.kernel.name == "precomputed"
        same = np.array_equal(rows.ids, mine.ids) and np.array_equal(rows.weight, mine.weight)
        same = same and rows.labels.tolist() == mine.labels.tolist()
        if same and given:
            same = _same_matrix(rows.u[:, rows.ids], problem, model)
        if not same or not (given or np.array_equal(rows.u, mine.u)):
            raise not_fitted("loo_proba")
        leave = self._leaving(problem, source, no_progress)
        made = np.zeros((source.table.n_rows, len(problem.classes)))
        made[rows.ids] = leave.proba(model.mu)
        left_out = np.zeros(len(made), dtype=bool)
        left_out[rows.ids] = True
        return made, left_out

    def _leave_landmarks(
        self, source: TableSource, problem: KernelProblem
    ) -> tuple[Float, NDArray[Any]]:
        """The same, where landmarks are the basis."""
        counts = self._measure(source, self._plan, no_progress)
        if not same_rows(counts, self._summary.counts):
            raise not_fitted("loo_proba")
        question = leave_one_out(self._tiles(problem, (self._model.mu,)))
        assert self._plan.space is not None  # noqa: S101  (of landmarks)
        blocks = self._on_landmarks(source, self._plan.space, question, no_progress)
        left = gather(blocks)
        return left.proba, ~left.outside

    def _leaving(
        self, problem: KernelProblem, source: TableSource, tell: ReportProgress
    ) -> DenseLeaveOut:
        matrix = partial(self._matrix, problem, source, no_progress)
        rows, options = problem.basis, problem.options
        codes = rows.codes(problem.classes)
        fitted = problem.fitted
        return DenseLeaveOut(
            matrix, codes, rows.weight, fitted, options.penalty, problem.most, tell
        )

    def _tiles(self, problem: KernelProblem, penalties: Sequence[float]) -> Tiles:
        """Rows of landmark space, class by class."""
        options, basis, counts = problem.options, problem.summary.basis, problem.summary.counts
        assert basis.space is not None  # noqa: S101  (of landmarks)
        features = space_features(
            problem.space, basis.space, options.penalty, problem.labeled.weight
        )
        fitted = space_fitted(counts, problem.classes, options.class_weight, problem.given_prior)
        leave = LandmarkLeaveOut(features, tuple(penalties), problem.most)
        return Tiles.of(fitted, leave, bool(counts.rows.missing.any()))

    def _on_landmarks(
        self,
        source: TableSource,
        space: LandmarkSpace,
        question: Callable[[Batch], T],
        tell: ReportProgress,
    ) -> Iterator[T]:
        """What a question about rows of landmark space says, block by block."""
        most = rows_at_a_time(space.n_landmarks)
        source = replace(source, block_rows=min(most, source.rows_per_block))
        blocks = self._engine().map(source, OnLandmarks(space, self._fills(), question))
        return each(blocks, source.n_blocks, tell)

    # --- The ridge ------------------------------------------------------------------------------

    def _with_ridge(
        self, problem: KernelProblem, source: TableSource | None, progress: StagedProgress
    ) -> tuple[KernelProblem, Table | None]:
        if not problem.options.chooses:
            return super()._with_ridge(problem, source, progress)
        assert source is not None  # noqa: S101  (pieces were refused)
        settings = ridges(problem, self._diagonal(problem, source))
        dense = problem.summary.basis.space is None
        tell = progress.part(0.2, 0.8) if dense else progress.part(SUMMED, 0.95)
        tried = self._try(problem, source, settings, tell)
        chosen = best([(ridge,) for ridge, _ in settings], tried)
        table = curve(("ridge",), [(ridge,) for ridge, _ in settings], tried, chosen)
        return replace(problem, options=replace(problem.options, ridge=chosen[0])), table

    def _diagonal(self, problem: KernelProblem, source: TableSource) -> float:
        """Σ v_i k(x_i, x_i)."""
        if problem.summary.basis.space is not None:
            return problem.space.diagonal_sum
        kernel = problem.summary.basis.kernel
        if kernel.name == "precomputed":
            own = np.diag(self._matrix(problem, source, no_progress))
        else:
            own = kernel.diagonal(problem.basis.u)
        return float(problem.labeled.weight @ own)

    def _try(
        self,
        problem: KernelProblem,
        source: TableSource,
        settings: Sequence[tuple[float, float]],
        tell: ProgressStage,
    ) -> GridScores:
        """Every ridge on every row, without the row."""
        penalties, space = [mu for _, mu in settings], problem.summary.basis.space
        if space is None:
            return self._leaving(problem, source, tell).tried(penalties)
        question = score_grid(self._tiles(problem, penalties), len(penalties))
        blocks = self._on_landmarks(source, space, question, tell)
        tried = next(blocks)
        for block in blocks:
            tried = tried.merge(block)
        return tried


def _same_matrix(K: Float, problem: KernelProblem, model: KernelModel) -> bool:
    """Whether a kernel matrix can be that of the fit, which is not kept: it projects as it did."""
    rows, projected = problem.labeled, K @ model.coefs
    means = rows.means(projected)
    spread = np.sqrt(rows.scatters(projected, means)) + np.abs(means)
    before = np.sqrt(model.scatters) + np.abs(model.means)
    return bool((np.abs(spread - before) <= 1e-6 * before.max(initial=0.0)).all())
