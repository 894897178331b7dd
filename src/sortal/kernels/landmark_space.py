"""Landmark space: rows as kernel values with landmarks, and their class moments there.

All that the discriminant needs of the rows are the moments of the classes in this space. They
merge, so that rows can come in blocks, from many places and in many calls.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import solve_triangular

from sortal.data.columns import kept
from sortal.decision.options import read_class_weight
from sortal.errors import FormatError
from sortal.kernels.functions import beyond
from sortal.kernels.primal import Features, solve_features
from sortal.summaries.class_moments import moments_of_sums
from sortal.summaries.counts import ClassCounts, DiscriminantSummary, RowCounts, count_rows

if TYPE_CHECKING:
    from sortal._typing import Counts, Float, Places
    from sortal.data.columns import CategoryColumn, Values
    from sortal.data.sources import Batch
    from sortal.kernels.functions import KernelFunction, KernelInputs
    from sortal.kernels.primal import Solution
    from sortal.summaries.class_moments import ClassMoments


# Rows of a class taken at a time: their kernel values are what a thread holds beside the moments.
_TILE = 8192

# Rows whose kernel values stay in the cache of a core while they are made.
_STRIP = 128

# Rows of a block, for each class and at most: to begin and to merge the moments of a class takes as
# long as some 350 rows, whatever the number of landmarks.
_ROWS_A_CLASS, _MOST_ROWS = 5_000, 50_000

# Beyond this condition of K among the landmarks, moments of kernel values would lose digits.
_WORST = 1e6

# Parts of a triangular product: 4 leave out 6 of 16 parts that are zero.
_PARTS = 4


def block_rows(n_rows: int, n_classes: int) -> int:
    """How many rows a block of the pass has, all nearly alike, so that threads end together."""
    most = min(_ROWS_A_CLASS * max(n_classes, 2), _MOST_ROWS, max(_ROWS_A_CLASS, -(-n_rows // 2)))
    n_blocks = max(1, -(-n_rows // most))
    return max(1, -(-n_rows // n_blocks))


@dataclass(frozen=True, eq=False)
class LandmarkSpace:
    """Features of a row: its kernel values with the landmarks, or L⁻¹ times these. (S 90)

    K_mm = LLᵀ are the kernel values among the landmarks. L⁻¹k(x) are coordinates in feature space,
    and keep their digits where landmarks are nearly dependent; `turned` says that they are used.
    """

    kernel: KernelFunction
    inputs: KernelInputs
    basis: Float

    @property
    def n_landmarks(self) -> int:
        """How many landmarks there are."""
        return len(self.basis)

    @cached_property
    def gram(self) -> Float:
        """K_mm."""
        made = self.kernel.matrix(self.basis, self.basis)
        return np.asarray((made + made.T) / 2)

    @cached_property
    def root(self) -> Float:
        """L."""
        try:
            return np.asarray(np.linalg.cholesky(self.gram), dtype=np.float64)
        except np.linalg.LinAlgError:  # landmarks that were drawn have a factor
            raise FormatError(
                "The landmarks of this model are not independent, so they were not drawn by a "
                "fit: the model file was changed. Fit the model again."
            ) from None

    @cached_property
    def inverse(self) -> Float:
        """L⁻¹."""
        identity = np.eye(self.n_landmarks)
        return np.asarray(solve_triangular(self.root, identity, lower=True, check_finite=False))

    @cached_property
    def turned(self) -> bool:
        """Whether features are coordinates."""
        pivots = np.diag(self.root)
        return bool((pivots.max() / pivots.min()) ** 2 > _WORST)

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns of the moments are called; the last is k(x, x)."""
        return (*(f"z{j + 1}" for j in range(self.n_landmarks)), "k(x,x)")

    def features(self, u: Float, out: Float | None = None) -> Float:
        """The features of a few rows, given as inputs of the kernel; in `out`, if there is one."""
        out = np.empty((len(u), self.n_landmarks)) if out is None else out
        if not self.turned:
            return self.kernel.matrix(u, self.basis, out)
        return self._turn(self.kernel.matrix(u, self.basis), out)

    def _turn(self, values: Float, out: Float) -> Float:
        """L⁻¹k for each row k; what is zero above the diagonal of L⁻¹ is mostly left out."""
        ends = np.linspace(0, self.n_landmarks, _PARTS + 1).astype(int)
        for start, stop in pairwise(ends):
            part = self.inverse[start:stop, :stop]
            np.matmul(values[:, :stop], part.T, out=out[:, start:stop])
        return out

    def from_coefs(self, matrix: Float) -> Float:
        """A quadratic form in the coefficients, as one in directions of the features."""
        return self.inverse @ matrix @ self.inverse.T if self.turned else matrix


@dataclass(frozen=True, eq=False)
class SummarizeLandmarks:
    """Block → DiscriminantSummary of features and of k(x, x).

    Rows with missing values are left out, unless `fill` says that the inputs have means for them.
    """

    space: LandmarkSpace
    fill: bool

    def __call__(self, batch: Batch) -> DiscriminantSummary:
        """The summary of one block."""
        read, units = self.space.inputs(batch), batch.row_units()
        keep = units > 0
        if not self.fill:
            keep &= ~(read.missing & ~read.unknown).any(axis=1)
        made = self.of(read.u[keep], batch.labels().take(keep), units[keep], batch.exponent)
        return replace(made, rows=count_rows(batch))

    def of(
        self, u: Float, labels: CategoryColumn, units: Counts, exponent: int
    ) -> DiscriminantSummary:
        """The summary of inputs that were read before, all with weight and complete."""
        by_class = [np.flatnonzero(labels.codes == c) for c in range(len(labels.values))]
        here = np.array([len(rows) > 0 for rows in by_class], dtype=bool)
        classes = kept(labels.values, here)
        by_class = [rows for rows in by_class if len(rows)]
        copies = units if exponent == 0 else np.ones_like(units)
        sizes = ClassCounts(classes, _sums(copies, by_class))
        rows = RowCounts(int(copies.sum()), np.zeros(0, dtype=np.int64))
        with np.errstate(over="ignore", invalid="ignore"):  # what is beyond is said then
            moments = self._measure(u, by_class, classes, units, exponent)
        return DiscriminantSummary(rows, sizes, moments)

    def _measure(
        self,
        u: Float,
        by_class: list[Places],
        classes: Values,
        units: Counts,
        exponent: int,
    ) -> ClassMoments:
        """Σ u (z, 1, ‖z‖²)(z, 1, ‖z‖²)ᵀ by class, z from an origin near the mean of the class."""
        p = self.space.n_landmarks + 1
        sums = np.empty((len(by_class), p + 2, p + 2))
        origin = np.empty((len(by_class), p))
        wide = np.empty((min(_TILE, max(map(len, by_class), default=0)), p + 2))
        for c, rows in enumerate(by_class):
            origin[c] = self._near(u[rows[:_STRIP]])
            for start in range(0, len(rows), _TILE):
                part = rows[start : start + _TILE]
                mine = wide[: len(part)]
                self._fill(mine, u[part], origin[c])
                if not (units[part] == 1).all():
                    mine *= np.sqrt(units[part].astype(np.float64))[:, None]
                if start == 0:
                    np.matmul(mine.T, mine, out=sums[c])
                else:
                    sums[c] += mine.T @ mine
        terms = self.space.names, (), ()
        made_of = moments_of_sums(terms, classes, _sums(units, by_class), exponent, origin, sums)
        if made_of is None:
            raise beyond()
        return made_of

    def _near(self, u: Float) -> Float:
        """The mean features and k(x, x) of a few rows."""
        features, own = self.space.features(u), self.space.kernel.diagonal(u)
        return np.append(features.mean(axis=0), own.mean())

    def _fill(self, wide: Float, u: Float, origin: Float) -> None:
        """(z, 1, ‖z‖²) of rows, few at a time, so that their cells stay in the cache of a core."""
        p = len(origin)
        wide[:, p - 1], wide[:, p] = self.space.kernel.diagonal(u), 1.0
        for start in range(0, len(u), _STRIP):
            strip = slice(start, start + _STRIP)
            z = wide[strip, :p]
            self.space.features(u[strip], z[:, :-1])
            z -= origin
            np.einsum("ij,ij->i", z, z, out=wide[strip, p + 1])


def _sums(units: Counts, by_class: list[Places]) -> Counts:
    return np.array([units[rows].sum() for rows in by_class], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class SpaceStatistics:
    """Per class of a schema: weight v, rows, mean features, scatter, and the mean of k(x, x)."""

    weight: Float
    rows: Float
    means: Float
    scatter: Float
    diagonal: Float

    @property
    def diagonal_sum(self) -> float:
        """Σ v_i k(x_i, x_i)."""
        return float(self.weight @ self.diagonal)


def read_space(summary: DiscriminantSummary, classes: Values, class_weight: Any) -> SpaceStatistics:
    """The statistics of a summary, classes weighted."""
    moments = summary.moments.over(classes, ())
    weight = np.ldexp(moments.units.astype(np.float64), -moments.exponent)
    sizes = dict(zip(summary.sizes.classes, summary.sizes.units.tolist(), strict=True))
    rows = np.array([float(sizes.get(label, 0)) for label in classes])
    means = moments.origin + moments.mean
    unit = np.ldexp(1.0, -moments.exponent)
    scatter = moments.scatter[:, :-1, :-1]
    scatter = scatter if unit == 1.0 else unit * scatter
    made = SpaceStatistics(weight, rows, means[:, :-1], scatter, means[:, -1])
    if class_weight is None:
        return made
    factor = read_class_weight(class_weight, classes, weight)
    return replace(made, weight=weight * factor, scatter=factor[:, None, None] * scatter)


def space_features(
    stats: SpaceStatistics, space: LandmarkSpace, penalty: str, weight_of_basis: Float
) -> Features:
    """What is solved in landmark space: S_w + μK_mm, or S_w + ε diag(1/v)."""
    norm = space.from_coefs(space.gram)
    ridge = norm if penalty == "rkhs" else space.from_coefs(np.diag(1.0 / weight_of_basis))
    to_coefs = space.inverse.T if space.turned else np.eye(space.n_landmarks)
    return Features(stats.weight, stats.means, ridge, to_coefs, norm, stats.scatter)


def solve_landmarks(
    stats: SpaceStatistics,
    space: LandmarkSpace,
    penalty: str,
    mu: float,
    weight_of_basis: Float,
    most: int | None,
) -> Solution:
    """The directions in the span of the landmarks."""
    return solve_features(space_features(stats, space, penalty, weight_of_basis), mu, most)
