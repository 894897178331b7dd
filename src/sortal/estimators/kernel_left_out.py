"""Posteriors of rows by kernel discriminants without them, and a ridge that is chosen by these."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sortal.estimators.kernel_fitting import SUMMED, KernelFitting
from sortal.learners.kernel import Problem, ridges
from sortal.learners.kernel_loo import DenseLeaveOut
from sortal.learners.kernel_loo_landmarks import LandmarkLeaveOut, OnLandmarks, space_fitted
from sortal.learners.kernel_progress import each
from sortal.learners.kernel_solution import tell_nobody
from sortal.learners.kernel_space import space_features
from sortal.learners.leave_out import LeaveOutBlock, Tiles, gather_left_out, not_fitted, same_rows
from sortal.learners.loo_choice import TryBlock, best, curve
from sortal.models.kernel import rows_at_a_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from sortal.data.batch import Batch
    from sortal.data.sources import TableSource
    from sortal.learners.kernel_progress import Part, Progress
    from sortal.learners.kernel_solution import Tell
    from sortal.learners.kernel_space import LandmarkSpace
    from sortal.learners.loo_choice import Tried
    from sortal.models.kernel import KernelModel
    from sortal.models.records import Table

    Float = NDArray[np.float64]

T = TypeVar("T")


class KernelLeftOut(KernelFitting):
    """Leave-one-out, and the choice of the ridge by it."""

    def loo_proba(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Float:
        """P(c|x) of each row by the model without this row, for the price of another fit.

        A row goes with all its weight: class means, scatter, priors, divisor and class weights are
        those of the other rows. Scale, gamma, the weight of the penalty, what stands for holes, and
        the basis stay. A row that was not in the fit (it has a hole, or no weight) gets what
        `predict_proba` says.

        Parameters
        ----------
        X, y, sample_weight :
            The rows of the fit again.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        self._fitted_model()
        source = self._open_again(X, y, sample_weight, self._fitted).source
        problem = Problem(self._summary, self._schema.classes, self._fitted)
        leave = self._leave_dense if self._plan.space is None else self._leave_landmarks
        made, left_out = leave(source, problem)
        if not left_out.all():
            made[~left_out] = self._answer(X, None, "proba")[~left_out]
        return self._spread(made)

    def _leave_dense(self, source: TableSource, problem: Problem) -> tuple[Float, NDArray[Any]]:
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
        leave = self._leaving(problem, source, tell_nobody)
        made = np.zeros((source.table.n_rows, len(problem.classes)))
        made[rows.ids] = leave.proba(model.mu)
        left_out = np.zeros(len(made), dtype=bool)
        left_out[rows.ids] = True
        return made, left_out

    def _leave_landmarks(self, source: TableSource, problem: Problem) -> tuple[Float, NDArray[Any]]:
        """The same, where landmarks are the basis."""
        counts = self._measure(source, self._plan, tell_nobody)
        if not same_rows(counts, self._summary.counts):
            raise not_fitted("loo_proba")
        question = LeaveOutBlock(self._tiles(problem, (self._model.mu,)))
        assert self._plan.space is not None  # noqa: S101  (of landmarks)
        blocks = self._on_landmarks(source, self._plan.space, question, tell_nobody)
        left = gather_left_out(list(blocks))
        return left.proba, ~left.outside

    def _leaving(self, problem: Problem, source: TableSource, tell: Tell) -> DenseLeaveOut:
        matrix = partial(self._matrix, problem, source, tell_nobody)
        rows, options = problem.basis, problem.options
        codes = rows.codes(problem.classes)
        fitted = problem.fitted
        return DenseLeaveOut(
            matrix, codes, rows.weight, fitted, options.penalty, problem.most, tell
        )

    def _tiles(self, problem: Problem, penalties: Sequence[float]) -> Tiles:
        """Rows of landmark space, class by class."""
        options, basis, counts = problem.options, problem.summary.basis, problem.summary.counts
        assert basis.space is not None  # noqa: S101  (of landmarks)
        features = space_features(
            problem.space, basis.space, options.penalty, problem.labeled.weight
        )
        fitted = space_fitted(counts, problem.classes, options.class_weight, problem.given_prior)
        leave = LandmarkLeaveOut(features, tuple(penalties), problem.most)
        return Tiles.of(fitted, leave, bool(counts.rows.holes.any()))

    def _on_landmarks(
        self, source: TableSource, space: LandmarkSpace, question: Callable[[Batch], T], tell: Tell
    ) -> Iterator[T]:
        """What a question about rows of landmark space says, block by block."""
        most = rows_at_a_time(space.n_landmarks)
        source = replace(source, block_rows=min(most, source.rows_per_block))
        blocks = self._engine().map(source, OnLandmarks(space, self._fills(), question))
        return each(blocks, source.n_blocks, tell)

    # --- The ridge ------------------------------------------------------------------------------

    def _with_ridge(
        self, problem: Problem, source: TableSource | None, progress: Progress
    ) -> tuple[Problem, Table | None]:
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

    def _diagonal(self, problem: Problem, source: TableSource) -> float:
        """Σ v_i k(x_i, x_i)."""
        if problem.summary.basis.space is not None:
            return problem.space.diagonal_sum
        kernel = problem.summary.basis.kernel
        if kernel.name == "precomputed":
            own = np.diag(self._matrix(problem, source, tell_nobody))
        else:
            own = kernel.diagonal(problem.basis.u)
        return float(problem.labeled.weight @ own)

    def _try(
        self,
        problem: Problem,
        source: TableSource,
        settings: Sequence[tuple[float, float]],
        tell: Part,
    ) -> Tried:
        """Every ridge on every row, without the row."""
        penalties, space = [mu for _, mu in settings], problem.summary.basis.space
        if space is None:
            return self._leaving(problem, source, tell).tried(penalties)
        question = TryBlock(self._tiles(problem, penalties), len(penalties))
        blocks = self._on_landmarks(source, space, question, tell)
        tried = next(blocks)
        for block in blocks:
            tried = tried.merge(block)
        return tried


def _same_matrix(K: Float, problem: Problem, model: KernelModel) -> bool:
    """Whether a kernel matrix can be that of the fit, which is not kept: it projects as it did."""
    rows, projected = problem.labeled, K @ model.coefs
    means = rows.means(projected)
    spread = np.sqrt(rows.scatters(projected, means)) + np.abs(means)
    before = np.sqrt(model.scatters) + np.abs(model.means)
    return bool((np.abs(spread - before) <= 1e-6 * before.max(initial=0.0)).all())
