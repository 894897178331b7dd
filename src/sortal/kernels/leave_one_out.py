"""Leave one out for the kernel discriminant: distances from the class means without a row.

Kernel, penalty and basis stay; the row goes out of the means, the scatter, the priors and the
divisor. The scatter loses a matrix of rank one, so that what was calculated for all rows is enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from sortal.data.columns import ColumnSchema, NumberColumn, Schema
from sortal.decision.posterior import posterior
from sortal.discriminants.leave_one_out import (
    GridScores,
    Tiles,
    best,
    curve,
    leave_one_out,
    log_share,
    not_fitted,
    read_fitted,
    same_rows,
    score_grid,
)
from sortal.discriminants.statistics import read_statistics
from sortal.engines import gather
from sortal.kernels.basis import count_training
from sortal.kernels.first_pass import rows_at, taking_part
from sortal.kernels.learn import RIDGES, KernelProblem, basis_matrix
from sortal.kernels.model import rows_at_a_time
from sortal.kernels.primal import (
    Features,
    Labeled,
    canonical_directions,
    each,
    no_progress,
    solve_features,
)
from sortal.kernels.solve import BorderedCholesky, CenteredFeatures, weigh

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from sortal._typing import Float, Mask, Places
    from sortal.base.learner import Fitted, Training
    from sortal.data.sources import Batch
    from sortal.discriminants.leave_one_out import ClassesWithoutRow, FittedStatistics
    from sortal.discriminants.statistics import ClassStatistics
    from sortal.kernels.basis import KernelSummary, Pass
    from sortal.kernels.learn import KernelOptions
    from sortal.kernels.model import KernelModel
    from sortal.kernels.primal import ReportProgress, StagedProgress
    from sortal.records.tables import Table

    Codes = NDArray[np.integer]

T = TypeVar("T")


# --- One row less: inner products of what is left, for rows of one class at a time ---------------

# Where less than this is left of 1 - c‖h‖², its digits are those of the row that went.
_LEAST_LEFT = 1e-6


@dataclass(frozen=True, eq=False)
class PointsWithoutRow:
    """Rows h of class g and the ways a_c from its mean to all class means, by (S_w + P)⁻¹.

    `own` = ‖h‖², `along` = a_cᵀh, a row a class, `inner` = a_cᵀa_d. Without a row S_w is less by
    c hhᵀ, and `rest` is 1 - c‖h‖²; the mean of class g moves by -κh. `left` has c and κ.
    """

    own: Float
    along: Float
    inner: Float
    rest: Float
    g: int
    left: ClassesWithoutRow

    def squares(self, most: int | None) -> Float:
        """Squared distances of the rows from the means of all classes without them. (S 93)

        With A' = A - c hhᵀ, inner products p, q become pᵀq + c (pᵀh)(qᵀh) / (1 - c‖h‖²). A row a
        class; with fewer directions than classes allow, along the first `most` of what is left.
        """
        n_classes = int((self.left.weight > 0).any(axis=1).sum())
        if most is not None and most < n_classes - 1:
            return self._along_directions(most)
        inner = self.own - self.along
        squares = inner - self.along + np.diag(self.inner)[:, None]
        squares += inner**2 * (self.left.cut / self.rest)
        squares[self.g] = (1 + self.left.shift) ** 2 * self.own / self.rest
        return np.asarray(squares)

    def _along_directions(self, most: int) -> Float:
        """Canonical directions of the other rows, from inner products alone, row by row."""
        products = self._products()
        weight = np.broadcast_to(self.left.weight, (len(self.inner), len(self.own))).T
        share = weight / weight.sum(axis=1, keepdims=True)
        center = np.einsum("nc,ncq->nq", share, products[:, :-1])
        ways = products[:, :-1] - center[:, None]  # (a_c - mean)ᵀ of every point
        between = ways[:, :, :-1] - np.einsum("ncd,nd->nc", ways[:, :, :-1], share)[:, :, None]
        root = np.sqrt(weight)
        scaled = root[:, :, None] * between * root[:, None, :]
        values, vectors = np.linalg.eigh((scaled + scaled.swapaxes(1, 2)) / 2)
        values, vectors = values[:, ::-1][:, :most], vectors[:, :, ::-1][:, :, :most]
        safe = np.where(values > 0, values, np.inf)
        to_row = ways[:, :, -1:] - ways[:, :, :-1]  # (a_c - mean)ᵀ(h - a_d)
        coordinates = np.einsum("ncj,ncd->njd", vectors * root[:, :, None], to_row)
        return np.asarray((coordinates**2 / safe[:, :, None]).sum(axis=1).T)

    def _products(self) -> Float:
        """Inner products of the class means and, last, of the row, without the row."""
        n, C = len(self.own), len(self.inner)
        shift = np.broadcast_to(self.left.shift, (n,))
        made = np.empty((n, C + 1, C + 1))
        made[:, :C, :C] = self.inner
        made[:, :C, C] = made[:, C, :C] = self.along.T
        made[:, C, C] = self.own
        own = made[:, C].copy()  # the mean of class g is now at -κh
        made[:, self.g] = -shift[:, None] * own
        made[:, :, self.g] = -shift[:, None] * own
        made[:, self.g, self.g] = shift**2 * self.own
        made[:, self.g, C] = made[:, C, self.g] = -shift * self.own
        onto = made[:, C]
        factor = np.broadcast_to(self.left.cut, (n,)) / self.rest
        return np.asarray(made + factor[:, None, None] * onto[:, :, None] * onto[:, None, :])


# --- Solved problems that lose a row: squared distances from all class means, a row a class ------


def _sphere(features: Features, mu: float) -> Float | None:
    """Coordinates in which S_w + μ ridge is the identity; None where means differ outside."""
    axes = features.axes
    found = canonical_directions(axes, int((features.weight > 0).sum()), mu)
    if found.apart.any():
        return None
    root = np.sqrt(axes.sizes**2 + mu)
    # along canonical directions, S_w is less than S_T by what lies between the classes
    longer = (found.v * (1.0 / np.sqrt(found.inside) - 1.0)) @ (root[:, None] * found.v).T
    return np.asarray(axes.turn @ (np.diag(1.0 / root) + longer))


def squares_without(
    features: Features,
    u: Float,
    g: int,
    left: ClassesWithoutRow,
    mu: float,
    most: int | None,
    rows: Places | None = None,
) -> Float:
    """Squared distances of rows u of class g, less its mean, without them.

    `rows` are the places of u among the rows of the features, where these are at hand.
    """
    basis = _sphere(features, mu)
    cut, shift = (np.broadcast_to(part, (len(u),)) for part in (left.cut, left.shift))
    left = replace(left, cut=cut, shift=shift)
    if basis is None:
        unsafe, squares = np.ones(len(u), dtype=bool), np.zeros((len(left.weight), len(u)))
    else:
        h, ways = u @ basis, (features.means - features.means[g]) @ basis
        own = np.einsum("ij,ij->i", h, h)
        rest = 1.0 - cut * own
        unsafe = rest < _LEAST_LEFT
        rest[unsafe] = 1.0
        squares = PointsWithoutRow(own, ways @ h.T, ways @ ways.T, rest, g, left).squares(most)
    for i in np.flatnonzero(unsafe).tolist():
        others = _features_without(features, u[i], g, left, i, None if rows is None else rows[i])
        solved = solve_features(others, mu, most)
        apart = (u[i] @ solved.coefs - solved.means) / solved.lengths
        squares[:, i] = (apart**2).sum(axis=1)
    return squares


def _features_without(
    f: Features, u: Float, g: int, left: ClassesWithoutRow, i: int, row: int | None
) -> Features:
    """The features of all other rows, from the mean of class g; coefficients are directions."""
    weight = np.broadcast_to(left.weight, (len(f.means), len(left.cut)))[:, i]
    means = f.means - f.means[g]
    means[g] = -left.shift[i] * u
    others = replace(f, weight=weight, means=means, to_coefs=np.eye(len(u)), sizes=None, origin=0.0)
    if row is not None and f.rows is not None and f.labeled is not None:
        return replace(others, rows=f.labeled.without(f.rows, row))
    scatter = f.within - left.cut[i] * np.outer(u, u)
    blur = np.full(len(u), f.axes.blur.max(initial=0.0))
    return replace(others, scatter=scatter[None], blur=blur)


# Rows of class g without themselves, directions that are used → squared distances.
SquaresWithout: TypeAlias = "Callable[[Places, int, ClassesWithoutRow, int | None], Float]"


def from_bordered(bordered: BorderedCholesky, labeled: Labeled, mu: float) -> SquaresWithout:
    """By the bordered problem with a ridge. (S 93)

    A row of class g less its mean is e_i - z_g√(v/n_g) of the orthonormal rows, over √v. By
    (S_w + μI)⁻¹ its squared length is (1 - v/n_g - μP_ii) / v with P = M⁻¹ - RQ⁻¹Rᵀ, M = K + μI,
    and 1 - c‖h‖² is μP_ii n_g / (n_g - v).
    """
    size = labeled.sizes
    here = np.flatnonzero(size > 0)
    inverse = np.linalg.inv(bordered.Q[np.ix_(here, here)])
    T = inverse / mu - np.eye(len(here))

    def squares(rows: Places, g: int, left: ClassesWithoutRow, most: int | None) -> Float:
        v, R = labeled.weight[rows], bordered.R[np.ix_(rows, here)]
        turned = R @ inverse
        assert bordered.diagonal is not None  # noqa: S101  (asked for)
        missed = mu * (bordered.diagonal[rows] - np.einsum("ij,ij->i", turned, R))
        own = (1.0 - v / size[g] - missed) / v
        alone = v >= size[g]
        rest = np.where(alone, 1.0, missed * size[g] / np.where(alone, 1.0, size[g] - v))
        place = int(np.searchsorted(here, g))
        turned[:, place] -= np.sqrt(v / size[g])
        ways = np.diag(1.0 / np.sqrt(size[here]))  # from the mean of g to the others
        ways[:, place] -= 1.0 / np.sqrt(size[g])
        ways[place] = 0.0
        along = np.zeros((len(size), len(rows)))
        along[here] = -ways @ turned.T / np.sqrt(v)
        inner = np.zeros((len(size), len(size)))
        inner[np.ix_(here, here)] = ways @ T @ ways.T
        return PointsWithoutRow(own, along, inner, rest, g, left).squares(most)

    return squares


def from_features(features: Features, z: Float, mu: float) -> SquaresWithout:
    """The same in coordinates: without a ridge, or where rows weigh other than coefficients."""

    def squares(rows: Places, g: int, left: ClassesWithoutRow, most: int | None) -> Float:
        return squares_without(features, z[rows] - features.means[g], g, left, mu, most, rows)

    return squares


# Rows of class g, the classes without them, and ln π_c f_c for each setting, a row a row.
RowsWithoutThemselves: TypeAlias = "tuple[Places, int, ClassesWithoutRow, list[Float]]"


@dataclass(frozen=True, eq=False)
class DenseLeaveOut:
    """Leaves out every row of a dense fit, whose kernel matrix is made anew."""

    problem: KernelProblem
    training: Training
    tell: ReportProgress

    @cached_property
    def codes(self) -> Codes:
        """The classes of the rows."""
        return self.problem.basis.codes(self.problem.classes)

    def each(self, penalties: Sequence[float]) -> Iterator[RowsWithoutThemselves]:
        """For each μ, or ε, the rows class by class; by weight, too, where factors depend on it."""
        fitted, codes, v = self.problem.fitted, self.codes, self.problem.basis.weight
        if not fitted.by_weight:
            solved = list(self._solve(fitted.factors(fitted.stats.weight), penalties))
            for g in np.unique(codes):
                yield self._left(np.flatnonzero(codes == g), int(g), solved)
            return
        for g in np.unique(codes):
            for own in np.unique(v[codes == g]):
                weight = fitted.stats.weight.copy()
                weight[g] = max(weight[g] - own, 0.0)
                factor = fitted.factors(weight).copy()
                # a class that goes with its row has no scatter, whatever it weighs
                factor[g] = factor[g] or 1.0
                rows = np.flatnonzero((codes == g) & (v == own))
                yield self._left(rows, int(g), list(self._solve(factor, penalties)))

    def _weighed(self, factor: Float) -> Labeled:
        return Labeled(self.codes, self.problem.basis.weight * factor[self.codes], len(factor))

    def _matrix(self, rows: Labeled) -> Float:
        return weigh(basis_matrix(self.problem, self.training, no_progress), rows.root)

    def _solve(self, factor: Float, penalties: Sequence[float]) -> Iterator[SquaresWithout]:
        rows, penalty = self._weighed(factor), self.problem.options.penalty
        if penalty == "coefficients" and self.problem.fitted.by_weight:
            # rows weigh otherwise without a row of their class; the penalty stays
            fixed, z = self._fixed
            parts = fixed.ridge, fixed.to_coefs, fixed.norm, fixed.blur
            features = Features.of_rows(z, rows, *parts)
            yield from (from_features(features, z, mu) for mu in penalties)
            return
        K = self._matrix(rows)
        if penalty == "rkhs" and len(penalties) == 1 and penalties[0] > 0:
            bordered = BorderedCholesky.of(K, rows, penalties[0], self.tell, diagonal=True)
            if bordered is not None:
                yield from_bordered(bordered, rows, penalties[0])
                return
            K = self._matrix(rows)
        centered = CenteredFeatures.of(K, rows, penalty)
        for mu in penalties:
            if mu > centered.least_ridge:
                yield from_bordered(centered.bordered(rows, mu), rows, mu)
            else:
                yield from_features(*centered.features(rows), mu)

    @cached_property
    def _fixed(self) -> tuple[Features, Float]:
        """Coordinates in which the penalty of the coefficients is that of the fit."""
        rows = self._weighed(self.problem.fitted.factors(self.problem.fitted.stats.weight))
        centered = CenteredFeatures.of(self._matrix(rows), rows, self.problem.options.penalty)
        return centered.features(rows)

    def _left(
        self, rows: Places, g: int, solved: Sequence[SquaresWithout]
    ) -> RowsWithoutThemselves:
        left = self.problem.fitted.without(g, self.problem.basis.weight[rows])
        divisor = left.pooled_divisor("unbiased")
        squares = (squares(rows, g, left, self.problem.most) for squares in solved)
        return rows, g, left, [(left.log_prior - 0.5 * divisor * d).T for d in squares]

    def proba(self, mu: float) -> Float:
        """P(c|x) of each row without it."""
        made = np.zeros((len(self.codes), len(self.problem.classes)))
        for rows, _, left, log_joint in self.each([mu]):
            made[rows] = posterior(log_joint[0], left.prior.T)
        return made

    def tried(self, penalties: Sequence[float]) -> GridScores:
        """The sum of ln P(y|x) without each row, for each penalty."""
        sums, total, weight = np.zeros(len(penalties)), 0.0, self.problem.basis.weight
        for rows, g, left, tried in self.each(penalties):
            # a class that goes with its only row, or is never expected, says nothing
            v = np.where(np.isneginf(left.log_prior[g]), 0.0, weight[rows])
            for place, log_joint in enumerate(tried):
                sums[place] += np.where(v > 0, log_share(log_joint.T, g), 0.0) @ v
            total += float(v.sum())
        nothing = np.empty(0, dtype=np.intp), np.empty((0, len(penalties)), dtype=bool)
        return GridScores(sums, total, *nothing)


# --- Leave one out in landmark space: the kernel discriminant among those that summaries give ----


@dataclass(frozen=True, eq=False)
class LandmarkLeaveOut:
    """What calculates densities in landmark space without a row, for several penalties.

    `features` gives what is solved there its ridge; see `LeaveOneOutDensity`.
    """

    features: Features
    penalties: tuple[float, ...]
    most: int | None

    def prepare(self, stats: ClassStatistics) -> Features:
        """All rows, in the coordinates of the landmarks."""
        weight, means, scatter = stats.weight, stats.means, stats.within[None]
        return replace(self.features, weight=weight, means=means, scatter=scatter)

    def densities(
        self, base: Features, g: int, u: Float, left: ClassesWithoutRow
    ) -> list[tuple[Float, Mask]]:
        """-½ D d² without each row; every row is safe."""
        divisor, safe = left.pooled_divisor("unbiased"), np.zeros(len(u), dtype=bool)
        squares = (squares_without(base, u, g, left, mu, self.most) for mu in self.penalties)
        return [(-0.5 * divisor * d, safe) for d in squares]


def _space_fitted(problem: KernelProblem) -> FittedStatistics:
    """The statistics of landmark space, without k(x, x), ready to lose a row."""
    summary, m = problem.summary.counts, problem.summary.counts.moments
    short = replace(
        m,
        numbers=m.numbers[:-1],
        origin=m.origin[:, :-1],
        mean=m.mean[:, :-1],
        scatter=m.scatter[:, :-1, :-1],
        third=m.third[:, :-1],
        slack=np.delete(m.slack, -2, axis=1),
    )
    columns = tuple(ColumnSchema(name, "number") for name in short.numbers)
    stats = read_statistics(replace(summary, moments=short), Schema(columns, problem.classes))
    prior, weight = problem.given_prior, problem.options.class_weight
    return read_fitted(stats, weight, prior, summary.exponent)


# --- The rows of a fit left out, and the ridge that is chosen by it ------------------------------

# What share of a fit is done with the moments of landmarks, where a ridge is chosen after it.
SUMMED = 0.4


def leave_out(
    fitted: Fitted[KernelOptions, KernelSummary, KernelModel], training: Training
) -> tuple[Float, Mask]:
    """P(c|x) of each row of the fit by the model without it, and the rows that were not in it.

    Scale, gamma, the weight of the penalty, what stands for missing values, and the basis stay.
    """
    model, summary = fitted.model, fitted.summary
    problem = KernelProblem(summary, fitted.schema.classes, fitted.options)
    if summary.basis.space is None:
        return _leave_dense(problem, model, training)
    fills = fitted.options.missing == "mean"
    counts = count_training(training, summary.basis, no_progress, fills=fills)
    if not same_rows(counts, summary.counts):
        raise not_fitted("loo_proba")
    leave = leave_one_out(_tiles(problem, (model.mu,)))
    left = gather(_ask_landmarks(problem, training, leave, no_progress))
    return left.proba, left.outside


def _leave_dense(
    problem: KernelProblem, model: KernelModel, training: Training
) -> tuple[Float, Mask]:
    """The same, where all rows are the basis."""
    basis, mine = problem.summary.basis, problem.basis
    rows = rows_at(training, basis.inputs, taking_part(training, problem.options))
    given = basis.kernel.name == "precomputed"
    same = np.array_equal(rows.ids, mine.ids) and np.array_equal(rows.weight, mine.weight)
    same = same and rows.labels.tolist() == mine.labels.tolist()
    if same and given:
        same = _same_matrix(rows.u[:, rows.ids], problem, model)
    elif same:
        same = np.array_equal(rows.u, mine.u)
    if not same:
        raise not_fitted("loo_proba")
    made = np.zeros((training.source.table.n_rows, len(problem.classes)))
    made[rows.ids] = DenseLeaveOut(problem, training, no_progress).proba(model.mu)
    outside = np.ones(len(made), dtype=bool)
    outside[rows.ids] = False
    return made, outside


def _same_matrix(K: Float, problem: KernelProblem, model: KernelModel) -> bool:
    """Whether a kernel matrix can be that of the fit, which is not kept: it projects as it did."""
    rows, projected = problem.labeled, K @ model.coefs
    means = rows.means(projected)
    spread = np.sqrt(rows.scatters(projected, means)) + np.abs(means)
    before = np.sqrt(model.scatters) + np.abs(model.means)
    return bool((np.abs(spread - before) <= 1e-6 * before.max(initial=0.0)).all())


def _tiles(problem: KernelProblem, penalties: Sequence[float]) -> Tiles:
    """Rows of landmark space, class by class."""
    leave = LandmarkLeaveOut(problem.features, tuple(penalties), problem.most)
    return Tiles.of(_space_fitted(problem), leave, bool(problem.summary.rows.missing.any()))


def _ask_landmarks(
    problem: KernelProblem, training: Training, ask: Pass[T], tell: ReportProgress
) -> Iterator[T]:
    """What a pass says, block by block, of rows whose features in landmark space are the columns.

    Rows with missing values become rows of missing values, unless the inputs have means for them.
    """
    space, fills = problem.summary.basis.space, problem.options.missing == "mean"
    assert space is not None  # noqa: S101  (of landmarks)

    def ask_features(batch: Batch) -> T:
        read = space.inputs(batch)
        z = space.features(read.u)
        if not fills:
            z[(read.missing & ~read.unknown).any(axis=1)] = np.nan
        columns = tuple(NumberColumn(column) for column in np.ascontiguousarray(z.T))
        return ask(replace(batch, columns=columns, matrix=None))

    most = min(rows_at_a_time(space.n_landmarks), training.source.rows_per_block)
    source = replace(training.source, block_rows=most)
    return each(training.engine.map(source, ask_features), source.n_blocks, tell)


def choose_ridge(
    problem: KernelProblem, training: Training, progress: StagedProgress
) -> tuple[KernelProblem, Table]:
    """The problem with the ridge under which rows are likeliest without themselves; all tried."""
    dense = problem.summary.basis.space is None
    diagonal = _diagonal(problem, training)
    settings = [problem.half_point(g, diagonal) for g in RIDGES]
    penalties = [mu for _, mu in settings]
    tell = progress.part(0.2, 0.8) if dense else progress.part(SUMMED, 0.95)
    if dense:
        tried = DenseLeaveOut(problem, training, tell).tried(penalties)
    else:
        score = score_grid(_tiles(problem, penalties), len(penalties))
        tried = reduce(GridScores.merge, _ask_landmarks(problem, training, score, tell))
    values = [(ridge,) for ridge, _ in settings]
    chosen = best(values, tried)
    table = curve(("ridge",), values, tried, chosen)
    return replace(problem, options=replace(problem.options, ridge=chosen[0])), table


def _diagonal(problem: KernelProblem, training: Training) -> float:
    """Σ v_i k(x_i, x_i)."""
    basis = problem.summary.basis
    if basis.space is not None:
        return problem.space.diagonal_sum
    if basis.kernel.name == "precomputed":
        own = np.diag(basis_matrix(problem, training, no_progress))
    else:
        own = basis.kernel.diagonal(problem.basis.u)
    return float(problem.labeled.weight @ own)
