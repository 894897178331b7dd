"""How a kernel discriminant is fitted: a first look, a basis, a pass, and a solution."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.checks import choose
from sortal.engines.local import n_threads
from sortal.engines.merging import merge_all
from sortal.errors import (
    MissingValueWarning,
    OptionError,
    SeparationWarning,
    SortalError,
    warn,
)
from sortal.estimators.base import FitReport, counted
from sortal.estimators.discriminant import sentence
from sortal.estimators.posteriors import Posteriors
from sortal.estimators.summarized import SummaryClassifier
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
    CountUnknown,
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
    read_inputs,
    read_kernel,
    refuse_unusable,
    schema_of,
    still_columns,
)
from sortal.learners.kernel_landmarks import choose_landmarks
from sortal.learners.kernel_positive import positive
from sortal.learners.kernel_progress import Progress
from sortal.learners.kernel_sizes import (
    count_landmarks,
    refuse_memory,
    resolve_solver,
    sample_size,
)
from sortal.learners.kernel_space import LandmarkSpace, SummarizeLandmarks, block_rows
from sortal.learners.options import read_costs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.data.schema import Schema
    from sortal.data.sources import TableSource
    from sortal.estimators.base import Training
    from sortal.learners.kernel_basis import Rows
    from sortal.learners.kernel_options import KernelOptions
    from sortal.learners.kernel_solution import Tell
    from sortal.models.kernel import KernelModel
    from sortal.models.kernel_functions import KernelFunction
    from sortal.models.kernel_inputs import KernelInputs

    Float = NDArray[np.float64]
    Mask = NDArray[np.bool_]


class KernelFitting(Posteriors, SummaryClassifier):
    """From rows to a model."""

    kernel: Any
    class_weight: Any
    progress: Any
    _summary: KernelSummary
    _plan: KernelBasis
    _waits = True  # blocks of one class only are kept until more come

    def _policies(self) -> None:
        choose("missing", self.missing, ("drop_rows", "mean", "error"))
        choose("unknown", self.unknown, ("skip", "error"))

    # --- The basis ------------------------------------------------------------------------------

    def _plan_first(self, source: TableSource, options: KernelOptions) -> KernelBasis:
        seen = self._engine().reduce(source, LookFirst.of(source.schema, self._fills()))
        self._refuse_holes(source.schema, seen.rows.holes)
        refuse_unusable(seen, source.schema, options)
        schema = schema_of(source.schema, seen.values.values, seen.labels)
        spread = Spread.of(seen, schema)
        inputs = read_inputs(spread, schema, options)
        kernel = read_kernel(spread, inputs, options)
        taking_part = self._taking_part(source)
        solver = resolve_solver(options, int(taking_part.sum()))
        if solver == "landmarks":
            return self._choose(source, options, kernel, inputs, taking_part)
        if options.name == "precomputed":
            refuse_other_shape(source.table.n_rows, len(source.places))
        refuse_memory(options, int(taking_part.sum()))
        rows = self._gather(source, inputs, taking_part)
        if options.name == "precomputed":
            rows = replace(rows, u=rows.u[:, :0].copy())
        return KernelBasis(kernel, inputs, rows)

    def _plan_pieces(self, source: TableSource, options: KernelOptions) -> KernelBasis:
        return self._plan_first(source, replace(options, solver="landmarks"))

    def _plan_again(self, schema: Schema, options: KernelOptions) -> KernelBasis:  # noqa: ARG002
        return self._plan

    def _fills(self) -> bool:
        """Whether rows with holes take part."""
        return bool(self.missing == "mean")

    def _taking_part(self, source: TableSource) -> Mask:
        question = TakingPart(self._fills(), zero_classes(self.class_weight))
        return np.concatenate(list(self._engine().map(source, question)))

    def _gather(self, source: TableSource, inputs: KernelInputs, wanted: Mask) -> Rows:
        question = GatherRows(inputs, wanted)
        return gather_rows(self._engine().map(source, question))

    def _choose(
        self,
        source: TableSource,
        options: KernelOptions,
        kernel: KernelFunction,
        inputs: KernelInputs,
        taking_part: Mask,
    ) -> KernelBasis:
        """Landmarks, by a sample of the rows."""
        places = np.flatnonzero(taking_part)
        asked = count_landmarks(options, len(places))
        random = np.random.default_rng(options.random_state)
        size = sample_size(asked, len(places))
        wanted = np.zeros(len(taking_part), dtype=bool)
        wanted[places if size == len(places) else random.choice(places, size, replace=False)] = True
        sample = self._gather(source, inputs, wanted)
        refuse_beyond(float(kernel.diagonal(sample.u).sum()))
        tell = Progress(self.progress).part(0.0, 0.2)
        chosen = choose_landmarks(kernel, sample.u, asked, int(options.random_state), tell)
        rows = sample.take(chosen)
        return KernelBasis(kernel, inputs, rows, LandmarkSpace(kernel, inputs, rows.u), asked)

    # --- The pass -------------------------------------------------------------------------------

    def _summarize(self, source: TableSource, plan: KernelBasis) -> KernelSummary:
        if plan.space is None:
            counts = self._engine().reduce(source, CountRows(TakingPart(self._fills())))
        else:
            source = replace(source, block_rows=block_rows(source.table.n_rows))
            tell, n = Progress(self.progress).part(0.2, 0.9), source.n_blocks
            blocks = self._engine().map(source, SummarizeLandmarks(plan.space, self._fills()))
            counts = merge_all(tell.each(blocks, n))
        self._refuse_holes(source.schema, counts.rows.holes)
        return KernelSummary(plan, counts)

    def _refuse_holes(self, schema: Schema, holes: NDArray[np.int64]) -> None:
        if self.missing == "error":
            self._report_cells(dict(zip(schema.names, holes.tolist(), strict=True)), {})

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
        read_costs(self.costs, schema.classes)
        problem, progress = Problem(summary, schema.classes, options), Progress(self.progress)
        problem.check()
        if summary.basis.space is not None:
            mu, solution = solve_span(problem)
        else:
            K = self._matrix(problem, source, progress.part(0.0, 0.3))
            mu, solution = solve_all_rows(problem, K, progress.part(0.3, 1.0))
        progress.tell(1.0)
        return build_model(problem, mu, solution)

    def _matrix(self, problem: Problem, source: TableSource | None, tell: Tell) -> Float:
        """K of the basis rows; what is not positive by its form is looked at."""
        kernel, rows = problem.summary.basis.kernel, problem.basis
        if kernel.name == "precomputed":
            assert source is not None  # noqa: S101  (pieces were refused)
            wanted = np.zeros(source.table.n_rows, dtype=bool)
            wanted[rows.ids] = True
            given = self._gather(source, problem.summary.basis.inputs, wanted)
            return positive(given.u[:, rows.ids], "The kernel matrix X")
        if kernel.name == "callable":
            return positive(kernel.matrix(rows.u, rows.u), "The matrix of this kernel")
        return kernel_matrix(kernel, rows.u, n_threads(self.n_jobs), tell)

    def _report_fit(self, summary: KernelSummary, schema: Schema, model: Any) -> FitReport:
        holes = dict(zip(schema.names, summary.rows.holes.tolist(), strict=True))
        holes = {name: n for name, n in holes.items() if n}
        notes = []
        dropped = summary.rows.rows - int(summary.sizes.units.sum())
        if dropped:
            notes.append(f"{dropped} of {summary.rows.rows} rows have a hole and are left out")
        elif holes:
            notes.append("holes are filled with the mean of their column")
        if holes:
            warn(f"Holes: {counted(holes)}. {sentence(notes[0])}.", MissingValueWarning)
        return FitReport(summary.rows.rows, holes, (*notes, *self._notes(summary, model)))

    def _notes(self, summary: KernelSummary, model: Any) -> list[str]:
        """What to know of columns, landmarks and directions; of the last, warned of, too."""
        basis = summary.basis
        notes = [
            f"column {name!r} never varies and is left out" for name in still_columns(basis.inputs)
        ]
        if len(basis.rows.ids) < basis.asked:
            notes.append(
                f"{len(basis.rows.ids)} landmarks describe all rows to the last digits: "
                f"{basis.asked} are not needed"
            )
        if not isinstance(model, SortalError) and np.isinf(model.eigenvalues).any():
            notes.append(
                "without a ridge this kernel separates every training set of distinct rows, and "
                "these too: that says nothing of other rows. Set a ridge"
            )
            warn(f"{sentence(notes[-1])}.", SeparationWarning)
        return notes

    # --- More rows ------------------------------------------------------------------------------

    def _refuse_pieces(self) -> None:
        if hasattr(self, "_model") and self._plan.space is None:
            raise OptionError(
                "All rows of the fit are the basis of this KernelDiscriminant, which cannot be "
                "added to: set solver='landmarks' and fit again, or begin with partial_fit."
            )
        words = {"kernel": "precomputed", "solver": "dense", "ridge": "loo"}
        for name, word in words.items():
            given = getattr(self, name)
            if isinstance(given, str) and given == word:
                raise OptionError(
                    f"{name}={word!r} needs all rows at once: use fit, or "
                    f"{'give a number' if name == 'ridge' else 'set ' + _INSTEAD[name]}."
                )

    def _open_again(self, X: Any, y: Any, sample_weight: Any, options: KernelOptions) -> Training:
        if options.reads() != self._fitted.reads():
            raise OptionError(
                "The kernel, its parameters, the scale or the landmarks were set to others after "
                "the first rows, whose basis they cannot use: set them back, or fit again."
            )
        if options.fills != self._fitted.fills:
            raise OptionError(
                f"missing={self.missing!r} was set after a fit with another policy, whose summary "
                "it cannot use: set it back, or fit again."
            )
        training = super()._open_again(X, y, sample_weight, options)
        inputs, none = self._plan.inputs, np.zeros(len(self._schema.columns), dtype=np.int64)
        if inputs.design.categories:
            unknown = sum(self._engine().map(training.source, CountUnknown(inputs)), none)
            self._report_columns(none, unknown)
        return training


_INSTEAD = {"kernel": "kernel='rbf'", "solver": "solver='landmarks'"}
