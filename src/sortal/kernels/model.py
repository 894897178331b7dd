"""The fitted kernel discriminant: basis rows, their coefficients, and the classes along them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sortal.decision.posterior import log_of
from sortal.decision.scores import Mapped
from sortal.errors import InputError
from sortal.kernels.functions import KernelFunction, KernelInputs
from sortal.modelfile.arrays import Array, RecordField
from sortal.modelfile.fields import (
    INF,
    FromSchema,
    Layout,
    Number,
    OptionalField,
    Word,
    check_prior,
    need,
)
from sortal.records.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sortal._typing import Counts, Float
    from sortal.data.columns import Values
    from sortal.data.schema import Design
    from sortal.data.sources import Batch


SOLVERS = ("dense", "landmarks")

PENALTIES = ("rkhs", "coefficients")

# Kernel values that are in memory at a time, 32 MB of them, and rows that is at most.
TILE_CELLS, TILE_ROWS = 1 << 22, 4096


@dataclass(frozen=True, eq=False)
class Projections:
    """p_q(x) = Σ_j a_jq k(x_j, x) of the rows of a block, a column a direction. (ZM 20.22)"""

    kernel: KernelFunction
    inputs: KernelInputs
    basis: Float
    ids: Counts
    coefs: Float

    @property
    def design(self) -> Design:
        """The terms of a row."""
        return self.inputs.design

    @property
    def center(self) -> Float:
        """What rows are compared with: a row of means."""
        return self.inputs.fill

    def with_basis(self, u: Float) -> Float:
        """k(x_j, x), a row for each of inputs u and a column for each row of the basis."""
        if self.kernel.name == "precomputed":
            return np.asarray(u[:, self.ids])
        return self.kernel.matrix(u, self.basis)

    def __call__(self, batch: Batch) -> Mapped:
        """The projections of a block's rows."""
        n_columns = len(self.design.sizes)
        values = np.empty((batch.n_rows, self.coefs.shape[1]))
        missing, unknown = np.zeros(n_columns, dtype=np.int64), np.zeros(n_columns, dtype=np.int64)
        for rows in self._tiles(batch.n_rows):
            read = self.inputs(batch.take(rows))
            with np.errstate(over="ignore", invalid="ignore"):  # looked at below
                values[rows] = self.with_basis(read.u) @ self.coefs
            unknown += read.unknown.sum(axis=0)
            missing += read.missing.sum(axis=0)
        if not np.isfinite(values).all():
            row = batch.start + int((~np.isfinite(values)).any(axis=1).argmax())
            raise InputError(
                f"The kernel values of row {row} with those of the fit are beyond what a float64 "
                "holds: the row is in other units, or the kernel's function does not give numbers."
            )
        return Mapped(values, missing - unknown, unknown)

    def _tiles(self, n: int) -> Iterator[Counts]:
        """Rows of a block, so few at a time that their kernel values fit."""
        step = rows_at_a_time(max(len(self.ids), self.design.n_terms))
        for start in range(0, n, step):
            yield np.arange(start, min(start + step, n))


def rows_at_a_time(n_basis: int) -> int:
    """How many rows are asked about at a time."""
    return max(1, min(TILE_ROWS, TILE_CELLS // max(1, n_basis)))


@dataclass(frozen=True, eq=False)
class ProjectedGaussians:
    """ln f_c(x) = -½ D ‖c(x) - c_c‖² in canonical coordinates c_q = p_q / ℓ_q. (S 92)

    One Gaussian a class with the pooled covariance of the penalized problem, up to a constant that
    is common to all classes; a class without rows has density 0.
    """

    projections: Projections
    lengths: Float
    means: Float
    weight: Float
    divisor: float

    @property
    def design(self) -> Design:
        """The terms of a row."""
        return self.projections.design

    @property
    def center(self) -> Float:
        """What rows are compared with: a row of means."""
        return self.projections.center

    def of(self, projected: Float) -> Float:
        """The functions of rows that are projected already."""
        values = np.full((len(projected), len(self.weight)), -np.inf)
        for c in np.flatnonzero(self.weight > 0).tolist():
            with np.errstate(over="ignore"):
                apart = (projected - self.means[c]) / self.lengths
                values[:, c] = -0.5 * self.divisor * np.einsum("iq,iq->i", apart, apart)
        return values

    def __call__(self, batch: Batch) -> Mapped:
        """The functions of a block's rows."""
        found = self.projections(batch)
        return Mapped(self.of(found.values), found.missing, found.unknown)


@dataclass(frozen=True, eq=False)
class KernelModel:
    """Directions Σ_j a_j φ(x_j) of the feature space, one a column of `coefs`, of unit length each.

    `basis` has the inputs of the rows x_j, `ids` their places in the table of the fit, `codes`
    their classes and `weight_of_basis` their weights; a kernel matrix that was given has no inputs.
    `mu` is the weight of the penalty. `eigenvalues` are λ, `lengths` √aᵀ(N + P)a, `means` and
    `scatters` those of the projected rows of each class, whose weight is in `weight`. `divisor` is
    that of the pooled covariance. `curve` is what was tried where the ridge was chosen by leaving
    out rows.
    """

    classes: Values
    kernel: KernelFunction
    inputs: KernelInputs
    basis: Float
    ids: Counts
    codes: Counts
    weight_of_basis: Float
    solver: str
    penalty: str
    ridge: float
    mu: float
    coefs: Float
    eigenvalues: Float
    lengths: Float
    means: Float
    scatters: Float
    weight: Float
    prior: Float
    divisor: float
    condition: float
    curve: Table | None = None

    LAYOUT: ClassVar[Layout] = Layout(
        classes=FromSchema("classes"),
        kernel=RecordField(KernelFunction),
        inputs=RecordField(KernelInputs),
        basis=Array("f8", "basis", "inputs"),
        ids=Array("i8", "basis", least=0),
        codes=Array("i8", "basis", least=0),
        weight_of_basis=Array("f8", "basis", least=0.0),
        solver=Word(SOLVERS),
        penalty=Word(PENALTIES),
        ridge=Number(least=0.0),
        mu=Number(least=0.0),
        coefs=Array("f8", "basis", "directions"),
        eigenvalues=Array("f8", "directions", least=0.0, most=INF),
        lengths=Array("f8", "directions", least=0.0),
        means=Array("f8", "classes", "directions"),
        scatters=Array("f8", "classes", "directions", least=0.0),
        weight=Array("f8", "classes", least=0.0),
        prior=Array("f8", "classes", least=0.0),
        divisor=Number(least=0.0),
        condition=Number(least=0.0, most=INF),
        curve=OptionalField(RecordField(Table)),
    )

    def check(self) -> None:
        """Refuse, of a model from a file, what no fit could have made."""
        n_terms = self.inputs.design.n_terms
        need(self.kernel.gamma > 0, "a kernel without a width")
        given = self.kernel.name == "precomputed"
        need(self.basis.shape[1] == (0 if given else n_terms), "basis rows of other columns")
        need(not given or (self.ids < n_terms).all(), "basis rows that there are not")
        need(len(self.ids) > 0 and (self.codes < len(self.classes)).all(), "basis rows of no class")
        need(len(np.unique(self.ids)) == len(self.ids), "a basis row twice")
        need((self.lengths > 0).all() and self.divisor > 0, "a covariance of nothing")
        check_prior(self.prior)
        need(self.weight.any(), "no class with weight")
        if not given:
            with np.errstate(all="ignore"):
                own = self.kernel.diagonal(self.basis)[:, None] * self.coefs
            need(np.isfinite(own).all(), "kernel values that are too large")

    @property
    def coordinates(self) -> Projections:
        """p_q(x), not centered."""
        return Projections(self.kernel, self.inputs, self.basis, self.ids, self.coefs)

    @property
    def scores(self) -> ProjectedGaussians:
        """ln f_c(x) up to a term common to all classes."""
        return ProjectedGaussians(
            self.coordinates, self.lengths, self.means, self.weight, self.divisor
        )

    @property
    def log_prior(self) -> Float:
        """ln π_c."""
        return log_of(self.prior)

    @property
    def size(self) -> int:
        """How many numbers predict needs: basis rows, coefficients, and the projected means."""
        return int(self.basis.size + self.coefs.size + self.means.size)
