"""The kernel discriminant of a summary: weights, the ridge, directions, Gaussians along them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.schema import Schema
from sortal.decision.options import read_class_weight, read_priors
from sortal.discriminants.leave_one_out import read_fitted
from sortal.discriminants.linear.learn import unbiased_divisor
from sortal.discriminants.statistics import multiply_rows, read_statistics, refuse_weightless
from sortal.errors import InputError, ParameterError, brief, counted
from sortal.kernels.landmark_space import read_space, solve_landmarks
from sortal.kernels.model import KernelModel
from sortal.kernels.primal import Labeled
from sortal.kernels.solve import solve_dense

if TYPE_CHECKING:
    from sortal._typing import Float
    from sortal.data.columns import Values
    from sortal.discriminants.leave_one_out import FittedStatistics
    from sortal.kernels.basis import BasisRows, KernelSummary
    from sortal.kernels.landmark_space import SpaceStatistics
    from sortal.kernels.options import KernelOptions
    from sortal.kernels.primal import ReportProgress, Solution
    from sortal.summaries.counts import DiscriminantSummary


# The ridge where none is given, over the number of rows: μ is twice the mean of k(x, x).
DEFAULT_RIDGE = 2.0

# What is tried where ridge="loo".
RIDGES = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)


# Kernel values may be so small, or large by as much.
_LEAST_SIZE = 1e-75


@dataclass(frozen=True, eq=False)
class KernelProblem:
    """What is to be solved: a summary, weighed by classes as the options say."""

    summary: KernelSummary
    classes: Values
    options: KernelOptions

    @cached_property
    def plain(self) -> tuple[Float, Float]:
        """Weight and rows by class, before class weights."""
        return class_counts(self.summary.counts, self.classes)

    @cached_property
    def factor(self) -> Float:
        """What the class of a row multiplies its weight by."""
        return read_class_weight(self.options.class_weight, self.classes, self.plain[0])

    @cached_property
    def weighed(self) -> tuple[Float, Float]:
        """Weight n_c and rows by class."""
        weight, rows = multiply_rows(*self.plain, self.factor)
        refuse_weightless(self.options.class_weight, self.plain[0], weight)
        return weight, rows

    @cached_property
    def basis(self) -> BasisRows:
        """The rows of the basis; of all rows, those that still have weight."""
        basis = self.summary.basis
        codes = basis.rows.codes(self.classes)
        if basis.space is not None:
            return basis.rows
        return basis.rows.take(np.flatnonzero(self.factor[codes] > 0))

    @cached_property
    def labeled(self) -> Labeled:
        """Classes and weights of the basis rows."""
        codes = self.basis.codes(self.classes)
        return Labeled(codes, self.basis.weight * self.factor[codes], len(self.classes))

    def check(self) -> None:
        """Refuse options that do not fit the classes, before the work begins."""
        _ = self.most, self.prior, self.weighed

    @property
    def most(self) -> int | None:
        """How many directions are asked for."""
        given, most = self.options.n_components, len(self.classes) - 1
        if given is not None and given > most > 0:
            raise ParameterError(
                f"n_components={brief(given)} cannot be had: {len(self.classes)} classes have at "
                f"most {counted(most, 'direction')}. Give a whole number from 1 to {most}, or None."
            )
        return None if given is None else int(given)

    @property
    def given_prior(self) -> Float | None:
        """π_c as given; alike where the nearest mean decides."""
        if self.options.rule == "nearest_mean":
            return np.full(len(self.classes), 1.0 / len(self.classes))
        return read_priors(self.options.priors, self.classes)

    @property
    def prior(self) -> Float:
        """π_c as given, or the share of each class."""
        given, (weight, _) = self.given_prior, self.weighed
        return weight / weight.sum() if given is None else given

    @property
    def space(self) -> SpaceStatistics:
        """Of landmarks, the moments of the classes in their space."""
        return read_space(self.summary.counts, self.classes, self.options.class_weight)

    @property
    def fitted(self) -> FittedStatistics:
        """Counts by class, ready to lose a row."""
        stats = read_statistics(self.summary.counts, Schema((), self.classes))
        weight = self.options.class_weight
        return read_fitted(stats, weight, self.given_prior, self.summary.exponent)

    def penalty(self, diagonal: float) -> tuple[float, float]:
        """The ridge, and μ = ridge · Σ v_i k(x_i, x_i), or ε, which is the ridge itself.

        `diagonal` is Σ v_i k(x_i, x_i). Where no ridge is given, it is 2/n, n being the rows of
        all classes that count (of whole-number weights, the copies), or its ε.
        """
        given, rkhs = self.options.ridge, self.options.penalty == "rkhs"
        if given is None:
            n_rows = float(self.plain[1][self.factor > 0].sum())
            return self.half_point(DEFAULT_RIDGE / n_rows, diagonal)
        return float(given), float(given) * diagonal if rkhs else float(given)

    def half_point(self, g: float, diagonal: float) -> tuple[float, float]:
        """The ridge g and its μ, or ε = (gΣ v_i k(x_i, x_i))² for both, which damps as much."""
        mu = g * diagonal
        return (g, mu) if self.options.penalty == "rkhs" else (mu**2, mu**2)


def class_counts(counts: DiscriminantSummary, classes: Values) -> tuple[Float, Float]:
    """Weight and rows of each class."""
    place = {label: c for c, label in enumerate(classes)}
    weight, rows = np.zeros(len(place)), np.zeros(len(place))
    units = np.ldexp(counts.moments.units.astype(np.float64), -counts.exponent)
    weight[[place[label] for label in counts.labels]] = units
    rows[[place[label] for label in counts.sizes.classes]] = counts.sizes.units
    return weight, rows


@dataclass(frozen=True, eq=False)
class Solved:
    """A solution, and the ridge and the weight of the penalty that it has."""

    ridge: float
    mu: float
    solution: Solution


def solve_all_rows(problem: KernelProblem, K: Float, tell: ReportProgress) -> Solved:
    """The directions of a basis of all rows, whose kernel values K are overwritten."""
    rows, options = problem.labeled, problem.options
    refuse_beyond(np.diag(K), rows.weight)
    diagonal = float(rows.weight @ np.diag(K))
    ridge, mu = problem.penalty(diagonal)
    return Solved(ridge, mu, solve_dense(K, rows, options.penalty, mu, problem.most, tell))


def solve_span(problem: KernelProblem) -> Solved:
    """The directions in the span of landmarks."""
    options, weight, space = problem.options, problem.labeled.weight, problem.summary.basis.space
    assert space is not None  # noqa: S101  (or there are no landmarks)
    if options.penalty == "coefficients" and not weight.all():
        raise ParameterError(
            f"class_weight={options.class_weight!r} leaves landmarks without weight, whose "
            "coefficients penalty='coefficients' cannot weigh: set penalty='rkhs', or fit again."
        )
    stats = problem.space
    refuse_beyond(stats.diagonal, stats.weight)
    ridge, mu = problem.penalty(stats.diagonal_sum)
    solution = solve_landmarks(stats, space, options.penalty, mu, weight, problem.most)
    return Solved(ridge, mu, solution)


def ridges(problem: KernelProblem, diagonal: float) -> list[tuple[float, float]]:
    """Ridges that are tried, and the weight of the penalty of each."""
    return [problem.half_point(g, diagonal) for g in RIDGES]


def refuse_beyond(diagonal: Float, weight: Float | float = 1.0) -> None:
    """Kernel values of rows with themselves must be such that their fourth powers can be added."""
    weights = np.broadcast_to(weight, np.shape(diagonal))
    size = float(weights @ diagonal / weights.sum())
    if size == 0:
        raise InputError(
            "The kernel says k(x, x) = 0 for every row, so that all rows are the origin of feature "
            "space, and a kernel that is not 0 elsewhere is not positive: scale the columns, or "
            "use another kernel."
        )
    if size > 0 and not _LEAST_SIZE <= size <= 1.0 / _LEAST_SIZE:
        raise InputError(
            f"Kernel values of these rows are about {size:.0e}, too far from 1 to be calculated "
            "with: divide the columns by a constant, set scale='std', or take a smaller degree."
        )


def build_model(problem: KernelProblem, solved: Solved) -> KernelModel:
    """The model of a solution."""
    solution = solved.solution
    basis, rows, labeled = problem.summary.basis, problem.basis, problem.labeled
    return KernelModel(
        classes=problem.classes,
        kernel=basis.kernel,
        inputs=basis.inputs,
        basis=rows.u,
        ids=rows.ids,
        codes=rows.codes(problem.classes),
        weight_of_basis=labeled.weight,
        solver=basis.solver,
        penalty=problem.options.penalty,
        ridge=solved.ridge,
        mu=solved.mu,
        coefs=np.ascontiguousarray(solution.coefs),
        eigenvalues=solution.eigenvalues,
        lengths=solution.lengths,
        means=solution.means,
        scatters=solution.scatters,
        weight=problem.weighed[0],
        prior=problem.prior,
        divisor=unbiased_divisor(*problem.weighed),
        condition=solution.condition,
    )


def zero_classes(class_weight: Any) -> tuple[Any, ...]:
    """Classes whose rows are told not to count."""
    if not isinstance(class_weight, dict):
        return ()
    return tuple(label for label, factor in class_weight.items() if factor == 0)


def refuse_other_shape(n_rows: int, n_columns: int) -> None:
    """A kernel matrix of a fit is square."""
    if n_rows != n_columns:
        raise InputError(
            f"X has {counted(n_rows, 'row')} and {counted(n_columns, 'column')}, and "
            "kernel='precomputed' takes the kernel matrix of the rows of the fit with each other, "
            "which is square: give k(x_i, x_j), or the rows themselves with another kernel."
        )
