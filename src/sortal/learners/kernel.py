"""The kernel discriminant of a summary: weights, the ridge, directions, Gaussians along them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.schema import ColumnSchema, Schema
from sortal.errors import InputError, OptionError
from sortal.learners.discriminant import read_statistics, weigh_classes
from sortal.learners.kernel_dense import solve_dense
from sortal.learners.kernel_solution import Labeled
from sortal.learners.linear import pooled_divisor
from sortal.learners.options import read_class_weight, read_priors
from sortal.models.kernel import KernelModel

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sortal.data.values import Values
    from sortal.learners.discriminant import ClassStatistics
    from sortal.learners.kernel_basis import KernelSummary, Rows
    from sortal.learners.kernel_options import KernelOptions
    from sortal.learners.kernel_solution import Solution, Tell

    Float = NDArray[np.float64]
    Int = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Problem:
    """What is to be solved: a summary, weighed by classes as the options say."""

    summary: KernelSummary
    classes: Values
    options: KernelOptions

    @cached_property
    def plain(self) -> ClassStatistics:
        """Counts by class, and of landmarks the moments in their space; before class weights."""
        numbers = self.summary.counts.moments.numbers
        columns = tuple(ColumnSchema(name, "number") for name in numbers)
        return read_statistics(self.summary.counts, Schema(columns, self.classes))

    @cached_property
    def stats(self) -> ClassStatistics:
        """The same, weighed by class."""
        return weigh_classes(self.plain, self.options.class_weight)

    @cached_property
    def factor(self) -> Float:
        """What the class of a row multiplies its weight by."""
        return read_class_weight(self.options.class_weight, self.classes, self.plain.weight)

    @cached_property
    def basis(self) -> Rows:
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

    @property
    def most(self) -> int | None:
        """How many directions are asked for."""
        given, most = self.options.n_components, len(self.classes) - 1
        if given is not None and given > most:
            raise OptionError(
                f"n_components={given!r} cannot be had: {len(self.classes)} classes have at most "
                f"{most} directions. Give a whole number from 1 to {most}, or None."
            )
        return None if given is None else int(given)

    @property
    def prior(self) -> Float:
        """π_c as given, or the share of each class; alike where the nearest mean decides."""
        if self.options.rule == "nearest_mean":
            return np.full(len(self.classes), 1.0 / len(self.classes))
        given = read_priors(self.options.priors, self.classes)
        return self.stats.weight / self.stats.total_weight if given is None else given

    def penalty_weight(self, ridge: float, diagonal: float) -> float:
        """μ = ridge · Σ v_i k(x_i, x_i), or ε, which is the ridge itself."""
        return ridge * diagonal if self.options.penalty == "rkhs" else ridge


def solve_all_rows(
    problem: Problem, make: Callable[[], Float], tell: Tell
) -> tuple[float, Solution]:
    """The directions of a basis of all rows, and the weight of the penalty."""
    K, rows, options = make(), problem.labeled, problem.options
    diagonal = float(rows.weight @ np.diag(K))
    refuse_beyond(diagonal)
    mu = problem.penalty_weight(float(options.ridge), diagonal)
    return mu, solve_dense(K, rows, options.penalty, mu, problem.most, tell)


def refuse_beyond(diagonal: float) -> None:
    """Kernel values must be numbers."""
    if not np.isfinite(diagonal):
        raise InputError(
            "Kernel values of these rows are beyond what a float64 holds: divide the columns by a "
            "constant, set scale='std', or take a smaller degree."
        )


def build_model(problem: Problem, mu: float, solution: Solution) -> KernelModel:
    """The model of a solution."""
    basis, rows, labeled = problem.summary.basis, problem.basis, problem.labeled
    return KernelModel(
        classes=problem.classes,
        kernel=basis.kernel,
        inputs=basis.inputs,
        basis=rows.u,
        ids=rows.ids,
        codes=labeled.codes,
        weight_of_basis=labeled.weight,
        solver=basis.solver,
        penalty=problem.options.penalty,
        ridge=float(problem.options.ridge),
        mu=mu,
        coefs=np.ascontiguousarray(solution.coefs),
        eigenvalues=solution.eigenvalues,
        lengths=solution.lengths,
        means=solution.means,
        scatters=solution.scatters,
        weight=problem.stats.weight,
        prior=problem.prior,
        divisor=pooled_divisor(problem.stats, "unbiased"),
        condition=solution.condition,
    )


def zero_classes(class_weight: Any) -> tuple[Any, ...]:
    """Classes whose rows are told not to count."""
    if not isinstance(class_weight, dict):
        return ()
    return tuple(label for label, factor in class_weight.items() if factor == 0)
