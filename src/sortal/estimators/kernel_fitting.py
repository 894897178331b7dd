"""How a kernel discriminant is fitted: a first look, a basis, a pass, and a solution."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.printing import agreed, counted
from sortal.engines.local import n_threads
from sortal.engines.merging import merge_all
from sortal.errors import (
    SeparationWarning,
    SortalError,
    SortalWarning,
    listed,
    warn,
)
from sortal.estimators.base import FitReport
from sortal.estimators.discriminant import report_holes, sentence
from sortal.estimators.kernel_door import KernelDoor
from sortal.learners.kernel import (
    Problem,
    build_model,
    refuse_beyond,
    refuse_other_shape,
    solve_all_rows,
    solve_span,
    zero_classes,
)
from sortal.learners.kernel_basis import (
    CountRows,
    GatherRows,
    KernelBasis,
    KernelSummary,
    TakingPart,
    gather_rows,
)
from sortal.learners.kernel_dense import kernel_matrix
from sortal.learners.kernel_first import (
    LookFirst,
    Spread,
    far_columns,
    read_inputs,
    read_kernel,
    refuse_still,
    refuse_unusable,
    schema_of,
    still_columns,
)
from sortal.learners.kernel_landmarks import choose_landmarks
from sortal.learners.kernel_positive import positive
from sortal.learners.kernel_progress import Progress, each
from sortal.learners.kernel_sizes import (
    count_landmarks,
    refuse_memory,
    resolve_solver,
    sample_size,
)
from sortal.learners.kernel_space import LandmarkSpace, SummarizeLandmarks, block_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sortal.data.schema import Schema
    from sortal.data.sources import TableSource
    from sortal.learners.kernel_basis import Rows
    from sortal.learners.kernel_options import KernelOptions
    from sortal.learners.kernel_solution import Tell
    from sortal.models.kernel import KernelModel
    from sortal.models.kernel_functions import KernelFunction
    from sortal.models.kernel_inputs import KernelInputs
    from sortal.models.records import Table
    from sortal.summaries.discriminant import DiscriminantSummary

    Float = NDArray[np.float64]
    Places = NDArray[np.intp]
    Counts = NDArray[np.int64]

# Rows by which a kernel that is a function is looked at before landmarks are chosen.
_LOOKED_AT = 500
# What share of a fit is done with the moments of landmarks, where a ridge is chosen after it.
SUMMED = 0.4


class KernelFitting(KernelDoor):
    """From rows to a model."""

    # --- The basis ------------------------------------------------------------------------------

    def _plan_first(self, source: TableSource, options: KernelOptions) -> KernelBasis:
        return self._plan_by(source, options, alone=True)

    def _plan_pieces(self, source: TableSource, options: KernelOptions) -> KernelBasis:
        return self._plan_by(source, replace(options, solver="landmarks"), alone=False)

    def _plan_again(self, schema: Schema, options: KernelOptions) -> KernelBasis:  # noqa: ARG002
        if self._plan.space is not None:
            return self._plan
        basis, wanted = self._plan, np.arange(len(self._plan.rows.ids))
        return self._choose(options, basis.kernel, basis.inputs, wanted, basis.rows.take)

    def _recast(self, summary: KernelSummary, plan: KernelBasis) -> KernelSummary:
        return summary if summary.basis.space is not None else summary.in_space(plan)

    def _plan_by(self, source: TableSource, options: KernelOptions, *, alone: bool) -> KernelBasis:
        """The basis of the first rows; where they are `alone` and of one class, none need vary."""
        seen = self._engine().reduce(source, LookFirst.of(source.schema, self._fills()))
        self._refuse_holes(source.schema, seen.rows.holes)
        refuse_unusable(seen, source.schema, options)
        schema = schema_of(source.schema, seen.values.values, seen.labels)
        spread = Spread.of(seen, schema)
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
        question = TakingPart(self._fills(), zero_classes(class_weight))
        return np.flatnonzero(np.concatenate(list(self._engine().map(source, question))))

    def _gather(self, source: TableSource, inputs: KernelInputs, places: Places) -> Rows:
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
        gather: Callable[[Places], Rows],
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
        tell = Progress(self.progress).part(0.0, 0.2)
        chosen = choose_landmarks(kernel, sample.u, asked, options.random_state, tell)
        rows = sample.take(chosen)
        return KernelBasis(kernel, inputs, rows, LandmarkSpace(kernel, inputs, rows.u), asked)

    # --- The pass -------------------------------------------------------------------------------

    def _summarize(self, source: TableSource, plan: KernelBasis) -> KernelSummary:
        stop = SUMMED if self.ridge == "loo" else 0.9
        counts = self._measure(source, plan, Progress(self.progress).part(0.2, stop))
        self._refuse_holes(source.schema, counts.rows.holes)
        return KernelSummary(plan, counts)

    def _measure(self, source: TableSource, plan: KernelBasis, tell: Tell) -> DiscriminantSummary:
        """Counts of the rows that take part, and of landmarks the moments in their space."""
        if plan.space is None:
            return self._engine().reduce(source, CountRows(TakingPart(self._fills())))
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
        problem, progress = Problem(summary, schema.classes, options), Progress(self.progress)
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
        problem: Problem,
        source: TableSource | None,  # noqa: ARG002
        progress: Progress,  # noqa: ARG002
    ) -> tuple[Problem, Table | None]:
        """The problem with its ridge, and what was tried where it was chosen."""
        return problem, None

    def _matrix(self, problem: Problem, source: TableSource | None, tell: Tell) -> Float:
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
        holes, notes = report_holes(summary, schema)
        return FitReport(summary.rows.rows, holes, (*notes, *self._notes(summary, model)))

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
            warn(f"{sentence(notes[-1])}.", SeparationWarning)
        return notes
