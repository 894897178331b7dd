"""Leave one out for the kernel discriminant: distances from the class means without a row.

Kernel, penalty and basis stay; the row goes out of the means, the scatter, the priors and the
divisor. The scatter loses a matrix of rank one, so that what was calculated for all rows is enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from sortal.data.columns import NumberColumn
from sortal.decision.posterior import posterior
from sortal.discriminants.leave_one_out import (
    GridScores,
    Tiles,
    best,
    curve,
    leave_one_out,
    log_share,
    not_fitted,
    same_rows,
    score_grid,
)
from sortal.engines import gather
from sortal.kernels.first_pass import Labeled, each, rows_at, taking_part
from sortal.kernels.learn import RIDGES, SUMMED, KernelProblem, basis_matrix, count_training
from sortal.kernels.model import no_progress, rows_at_a_time
from sortal.kernels.solve import (
    Dual,
    Features,
    Whitened,
    canonical_directions,
    solve_features,
    solved_form,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sortal._typing import Counts, Float, Mask, Places
    from sortal.base.learner import Fitted, Training
    from sortal.data.sources import Batch
    from sortal.discriminants.leave_one_out import ClassesWithoutRow
    from sortal.discriminants.statistics import ClassStatistics
    from sortal.kernels.first_pass import StagedProgress
    from sortal.kernels.learn import KernelOptions, KernelSummary
    from sortal.kernels.model import KernelModel, ReportProgress
    from sortal.kernels.solve import Canonical
    from sortal.records.tables import Table

T = TypeVar("T")


# --- One row less --------------------------------------------------------------------------------

# Where less than this is left of 1 - c‖h‖², its digits are those of the row that went.
_LEAST_LEFT = 1e-6


def squares_without(
    h: Float,
    ways: Float,
    own: Float,
    rest: Float,
    g: int,
    left: ClassesWithoutRow,
    most: int | None,
) -> Float:
    """Squared distances of rows from all class means without them, a row a class. (S 93)

    Coordinates are such that S_w + P is the identity: `h` of rows of class g, `ways` of the class
    means, both less the mean of g, along all directions in which means differ; `own` is the squared
    length of the whole row. Without it S_w is less by c hhᵀ, and `rest` is 1 - c‖h‖²; the mean of
    class g moves by -κh. With fewer directions than classes allow, the first `most` of what is left
    count.
    """
    n, n_classes = len(h), len(ways)
    # what is beside these directions is one more, in which means move only with their row
    beside = np.sqrt(np.maximum(own - (h**2).sum(axis=1), 0.0))
    row = np.hstack([h, beside[:, None]])
    points = np.zeros((n, n_classes, row.shape[1]))
    points[:, :, :-1] = ways
    points[:, g] = -np.broadcast_to(left.shift, n)[:, None] * row
    # I + β hhᵀ is the root of (I - c hhᵀ)⁻¹
    longer = (1.0 / np.sqrt(rest) - 1.0) / np.where(own > 0, own, 1.0)
    away = row[:, None] - points
    away += (longer[:, None] * np.einsum("ncj,nj->nc", away, row))[:, :, None] * row[:, None]
    here = (left.weight > 0).any(axis=1)
    if most is not None and most < int(here.sum()) - 1:
        weight = np.broadcast_to(left.weight, (n_classes, n)).T[:, :, None]
        mean = (weight * away).sum(axis=1, keepdims=True) / weight.sum(axis=1, keepdims=True)
        _, _, right = np.linalg.svd(np.sqrt(weight) * (away - mean), full_matrices=False)
        away = away @ right[:, :most].swapaxes(1, 2)
    return np.asarray((away**2).sum(axis=2).T)


def squares_or_again(
    h: Float,
    ways: Float,
    own: Float,
    rest: Float,
    g: int,
    left: ClassesWithoutRow,
    settings: tuple[float, int | None],
    least: float,
    others: Callable[[int], tuple[Features, Float]],
) -> Float:
    """The same by μ and `most`; rows of which no more than `least` is left are solved anew.

    So are those whose own square is not known. `others` gives the features without a row, and it.
    """
    mu, most = settings
    safe = (rest > least) & (own >= 0)
    squares = squares_without(h, ways, own, np.where(safe, rest, 1.0), g, left, most)
    for i in np.flatnonzero(~safe).tolist():
        features, u = others(i)
        plain = replace(features, to_coefs=np.eye(len(u)), sizes=None, origin=0.0, trace=None)
        solved = solve_features(plain, mu).along(most)
        squares[:, i] = (((u @ solved.coefs - solved.means) / solved.lengths) ** 2).sum(axis=1)
    return squares


# --- All rows as the basis -----------------------------------------------------------------------

# Rows of class g, the classes without them, and ln π_c f_c for each setting, a row a row.
RowsWithoutThemselves: TypeAlias = "tuple[Places, int, ClassesWithoutRow, list[Float]]"


@dataclass(frozen=True, eq=False)
class DenseLeaveOut:
    """Leaves out every row of a dense fit, whose kernel matrix is made anew."""

    problem: KernelProblem
    training: Training
    tell: ReportProgress

    @cached_property
    def codes(self) -> Counts:
        """The classes of the rows."""
        return self.problem.basis.codes(self.problem.classes)

    def each(self, penalties: Sequence[float]) -> Iterator[RowsWithoutThemselves]:
        """For each μ, or ε, the rows class by class; by weight, too, where factors depend on it."""
        fitted, codes = self.problem.fitted, self.codes
        own = self.problem.basis.weight * fitted.by_weight
        solved: list[SolvedRows] = []
        for g, v in sorted(set(zip(codes.tolist(), own.tolist(), strict=True))):
            if fitted.by_weight or not solved:
                weight = fitted.stats.weight.copy()
                weight[g] = max(weight[g] - v, 0.0)
                factor = fitted.factors(weight).copy()
                # a class that goes with its row has no scatter, whatever it weighs
                factor[g] = factor[g] or 1.0
                solved = self._solved(factor, penalties)
            yield self._left(np.flatnonzero((codes == g) & (own == v)), g, solved)

    def _form(self, labeled: Labeled, mu: float | None) -> Dual | Features:
        make = partial(basis_matrix, self.problem, self.training, self.tell)
        return solved_form(make, labeled, self.problem.options.penalty, mu, diagonal=True)

    @cached_property
    def _fixed(self) -> Features | Dual:
        """Features in which the penalty of the coefficients is that of the fit."""
        return self._form(self.problem.labeled, None)

    def _solved(self, factor: Float, penalties: Sequence[float]) -> list[SolvedRows]:
        labeled = Labeled(self.codes, self.problem.basis.weight * factor[self.codes], len(factor))
        if self.problem.options.penalty == "coefficients":
            form = self._fixed
            assert isinstance(form, Features)  # noqa: S101  (coefficients have no dual)
            if self.problem.fitted.by_weight and form.z is not None:
                # rows weigh otherwise without a row of their class; the penalty stays
                form = form.of_rows(form.z, labeled)
        else:
            form = self._form(labeled, penalties[0] if len(penalties) == 1 else None)
        return [SolvedRows(form, labeled, mu) for mu in penalties]

    def _left(self, rows: Places, g: int, solved: Sequence[SolvedRows]) -> RowsWithoutThemselves:
        left = self.problem.fitted.without(g, self.problem.basis.weight[rows])
        divisor = left.pooled_divisor("unbiased")
        squares = (one.without(rows, g, left, self.problem.most) for one in solved)
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


def whitened_features(features: Features, mu: float) -> Whitened:
    """Features with a ridge; NaN where class means differ along what no class varies by."""
    axes, labeled = features.axes, features.labeled
    assert labeled is not None  # noqa: S101  (rows are at hand)
    found = canonical_directions(axes, features.n_classes, mu)
    k, inside = axes.sizes**2, (axes.rows / axes.sizes) ** 2
    # as many features as rows, less their mean, describe every row
    whole = len(k) == len(inside) - 1
    outside = 0.0 if whole else labeled.stays - inside.sum(axis=1)
    missed = outside + inside @ (mu / (k + mu)) - found.missed(axes.rows)
    rows = axes.rows @ found.white / labeled.root[:, None]
    return Whitened(rows, features.means @ (axes.turn @ found.white), missed)


@dataclass(frozen=True, eq=False)
class SolvedRows:
    """All rows in a form that loses one of them, by one ridge."""

    form: Dual | Features
    labeled: Labeled
    mu: float

    @cached_property
    def whitened(self) -> Whitened:
        """The rows where S_w + P is the identity."""
        if isinstance(self.form, Dual):
            return self.form.whitened()
        return whitened_features(self.form, self.mu)

    def without(self, rows: Places, g: int, left: ClassesWithoutRow, most: int | None) -> Float:
        """Squared distances of rows of class g from all class means without them."""
        form, white, mu = self.form, self.whitened, self.mu
        v, size, missed = self.labeled.weight[rows], self.labeled.sizes[g], white.missed[rows]
        alone = v >= size
        own = np.maximum(np.where(alone, 0.0 * missed, (1.0 - v / size - missed) / v), 0.0)
        rest = np.where(alone, 1.0, missed * size / np.where(alone, 1.0, size - v))
        seen = isinstance(form, Dual) or mu > form.least_ridge
        least = 0.0 if seen else _LEAST_LEFT

        def others(i: int) -> tuple[Features, Float]:
            assert isinstance(form, Features) and form.z is not None  # noqa: S101, PT018
            keep = np.delete(np.arange(len(form.z)), rows[i])
            return form.of_rows(form.z[keep], self.labeled.take(keep)), form.z[rows[i]]

        h, ways, least = (
            white.rows[rows],
            white.means - white.means[g],
            0.0 if seen else _LEAST_LEFT,
        )
        return squares_or_again(h, ways, own, rest, g, left, (mu, most), least, others)


# --- Landmarks: the kernel discriminant among those that summaries give --------------------------


@dataclass(frozen=True, eq=False)
class LandmarkLeaveOut:
    """What calculates densities of landmark features without a row, for several penalties.

    `features` gives what is solved its ridge; see `LeaveOneOutDensity`.
    """

    features: Features
    penalties: tuple[float, ...]
    most: int | None

    def prepare(self, stats: ClassStatistics) -> tuple[Features, list[Canonical]]:
        """All rows, and the directions of each penalty."""
        moved = replace(
            self.features, weight=stats.weight, means=stats.means, scatter=stats.within[None]
        )
        n_classes = moved.n_classes
        return moved, [canonical_directions(moved.axes, n_classes, mu) for mu in self.penalties]

    def densities(
        self,
        base: tuple[Features, list[Canonical]],
        g: int,
        u: Float,
        left: ClassesWithoutRow,
    ) -> list[tuple[Float, Mask]]:
        """-½ D d² without each row; every row is safe."""
        features, solved = base
        divisor, safe = left.pooled_divisor("unbiased"), np.zeros(len(u), dtype=bool)
        axes, cut = features.axes, np.broadcast_to(left.cut, len(u))
        on_axes, ways = u @ axes.turn, (features.means - features.means[g]) @ axes.turn

        def others(i: int) -> tuple[Features, Float]:
            means = features.means - features.means[g]
            means[g] = -np.broadcast_to(left.shift, len(u))[i] * u[i]
            return replace(
                features,
                weight=np.broadcast_to(left.weight, (len(means), len(u)))[:, i],
                means=means,
                scatter=(features.within - cut[i] * np.outer(u[i], u[i]))[None],
                blur=np.full(len(u[i]), axes.blur.max(initial=0.0)),
            ), u[i]

        made = []
        for mu, found in zip(self.penalties, solved, strict=True):
            v = found.white
            own = on_axes**2 @ (1.0 / (axes.sizes**2 + mu)) + found.missed(on_axes)
            d = squares_or_again(
                on_axes @ v,
                ways @ v,
                own,
                1.0 - cut * own,
                g,
                left,
                (mu, self.most),
                _LEAST_LEFT,
                others,
            )
            made.append((-0.5 * divisor * d, safe))
        return made


# --- The rows of a fit left out, and the ridge that is chosen by it ------------------------------


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
    scatters = rows.sums(rows.weight[:, None] * (projected - means[rows.codes]) ** 2)
    spread = np.sqrt(scatters) + np.abs(means)
    before = np.sqrt(model.scatters) + np.abs(model.means)
    return bool((np.abs(spread - before) <= 1e-6 * before.max(initial=0.0)).all())


def _tiles(problem: KernelProblem, penalties: Sequence[float]) -> Tiles:
    """Rows of landmark space, class by class."""
    leave = LandmarkLeaveOut(problem.features, tuple(penalties), problem.most)
    return Tiles.of(problem.fitted, leave, bool(problem.summary.rows.missing.any()))


def _ask_landmarks(
    problem: KernelProblem, training: Training, ask: Callable[[Batch], T], tell: ReportProgress
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
        columns = tuple(map(NumberColumn, np.ascontiguousarray(z.T)))
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
        return float(problem.weighed[0] @ problem.diagonal)
    if basis.kernel.name == "precomputed":
        own = np.diag(basis_matrix(problem, training, no_progress))
    else:
        own = basis.kernel.diagonal(problem.basis.u)
    return float(problem.labeled.weight @ own)
