"""Leave one out for the quadratic discriminant: corrections of rank one to matrices of classes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sortal.discriminants.gaussian import kept_terms
from sortal.discriminants.leave_one_out import LEAST_LEFT
from sortal.discriminants.linear.leave_one_out import LEAST_EIGENVALUE, LinearBase
from sortal.discriminants.quadratic.learn import class_sizes, own_geometry

if TYPE_CHECKING:
    from sortal._typing import Float, Mask
    from sortal.discriminants.leave_one_out import ClassesWithoutRow
    from sortal.discriminants.statistics import ClassStatistics


# Factors between a thousandth and 1 that are multiplied before a logarithm is taken.
_FACTORS = 64


@dataclass(frozen=True, eq=False)
class QuadraticBase:
    """Matrices of all rows: bases in which those of a class are diagonal, for any pooling."""

    stats: ClassStatistics
    pooled: LinearBase

    @cached_property
    def common(self) -> list[tuple[Float, Float]]:
        """Per class its scatter's eigenvalues and basis, where that of all classes is I."""
        sphere = self.stats.geometry.sphere
        found = []
        for scatter in self.stats.own_scatter:
            values, vectors = np.linalg.eigh(sphere.T @ scatter @ sphere)
            found.append((np.clip(values, 0.0, 1.0), sphere @ vectors))
        return found

    def is_plain(self, pooling: float) -> bool:
        """Whether every class varies wherever all classes together do."""
        rank, still = self.stats.geometry.sphere.shape[1], self.stats.geometry.still
        kept = [kept_terms(still, size) for size in class_sizes(self.stats, pooling)]
        surveys = (
            own_geometry(self.stats, self.mixed(k, pooling), k, pooling, kept[k])
            for k in np.flatnonzero(self.stats.present).tolist()
        )
        return self.pooled.plain and all(one.sphere.shape[1] == rank for one in surveys)

    def mixed(self, k: int, pooling: float) -> Float:
        """(1 - λ) S_k + λ S."""
        return np.asarray((1 - pooling) * self.stats.own_scatter[k] + pooling * self.stats.within)

    def spectrum(self, k: int, pooling: float) -> tuple[Float, Float]:
        """Eigenvalues of the mixed matrix, rising, and eigenvectors."""
        values, vectors = np.linalg.eigh(self.mixed(k, pooling))
        return np.maximum(values, 0.0), vectors


@dataclass(frozen=True, eq=False)
class Prepared:
    """What depends on all rows: which poolings need no completion, and eigenvectors of others."""

    base: QuadraticBase
    plain: tuple[bool, ...]
    spectra: dict[float, list[tuple[Float, Float]]]


@dataclass(frozen=True, eq=False)
class QuadraticLeaveOut:
    """The kernel of the quadratic discriminant, for several pairs of pooling and shrinkage."""

    covariance: str
    settings: tuple[tuple[float, float], ...]

    def prepare(self, stats: ClassStatistics) -> Prepared:
        """Bases of every class."""
        base = QuadraticBase(stats, LinearBase(stats))
        plain = tuple(base.is_plain(pooling) for pooling in self._plain)
        shrunk = dict.fromkeys(pooling for pooling, shrinkage in self.settings if shrinkage > 0)
        classes = range(len(stats.weight))
        spectra = {value: [base.spectrum(k, value) for k in classes] for value in shrunk}
        return Prepared(base, plain, spectra)

    @cached_property
    def _plain(self) -> list[float]:
        """Poolings that are tried without shrinkage."""
        return [pooling for pooling, shrinkage in self.settings if shrinkage == 0]

    def densities(
        self, base: Prepared, g: int, u: Float, left: ClassesWithoutRow
    ) -> list[tuple[Float, Mask]]:
        """-½ ln det Σ_k' - ½ d²_k, a row a class."""
        pooled, own = left.pooled_divisor(self.covariance), left.class_divisors(self.covariance)
        rows = _Rows(base.base.stats, g, u, left, pooled, own)
        plain = iter(_plain(base, rows, np.array(self._plain)) if self._plain else ())
        turned = {
            pooling: [u @ vectors for _, vectors in spectra]
            for pooling, spectra in base.spectra.items()
        }
        return [
            _shrunk(base, rows, pooling, shrinkage, turned[pooling])
            if shrinkage > 0
            else next(plain)
            for pooling, shrinkage in self.settings
        ]


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of class g less its mean, and the classes without each of them."""

    stats: ClassStatistics
    g: int
    u: Float
    left: ClassesWithoutRow
    pooled: Float
    own: Float

    @property
    def present(self) -> list[int]:
        """The classes that have rows at all."""
        return [int(k) for k in np.flatnonzero(self.stats.present)]

    def cut(self, k: int, pooling: Float) -> Float:
        """How much of uuᵀ is taken from the matrix of class k: its own, or the common part."""
        share = np.ones_like(pooling) if k == self.g else pooling
        return np.multiply.outer(share, self.left.cut)

    def divisor(self, k: int, pooling: Float) -> Float:
        """(1 - λ) D_k + λ D without the row."""
        mixed = np.multiply.outer(1 - pooling, self.own[k]) + np.multiply.outer(
            pooling, self.pooled
        )
        return np.where(mixed > 0, mixed, 1.0)

    def to_mean(self, k: int, h: Float, basis: Float) -> Float:
        """From the mean of class k without the row to the row, in a basis in which u is h."""
        if k == self.g:
            return h * (1 + self.left.shift)[:, None]
        return np.asarray(h - self.stats.from_mean(self.g)[k] @ basis)


def _plain(base: Prepared, rows: _Rows, pooling: Float) -> list[tuple[Float, Mask]]:
    """Where S is I and S_k diagonal, so are all mixtures: one product for all poolings. (S 48)"""
    log_f = np.zeros((len(pooling), len(rows.stats.weight), len(rows.u)))
    unsafe = np.repeat(~np.array(base.plain)[:, None], len(rows.u), axis=1)
    if unsafe.all():
        return list(zip(log_f, unsafe, strict=True))
    for k in rows.present:
        values, basis = base.base.common[k]
        diagonal = np.multiply.outer(1 - pooling, values) + pooling[:, None]
        few = diagonal.min(axis=1) < LEAST_EIGENVALUE
        unsafe |= few[:, None]
        diagonal[few] = 1.0
        h = rows.u @ basis
        y = rows.to_mean(k, h, basis)
        inverse = (1 / diagonal).T
        log_f[:, k], lost = _log_density(
            ((h * h) @ inverse).T,
            ((y * h) @ inverse).T,
            ((y * y) @ inverse).T,
            np.log(diagonal).sum(axis=1)[:, None],
            rows.cut(k, pooling),
            rows.divisor(k, pooling),
            len(values),
        )
        unsafe |= lost
    return list(zip(log_f, unsafe, strict=True))


def _shrunk(
    base: Prepared, rows: _Rows, pooling: float, shrinkage: float, turned: list[Float]
) -> tuple[Float, Mask]:
    """In the eigenvectors of a class's matrix; the trace, and so the diagonal, follows the row."""
    log_f = np.zeros((len(rows.stats.weight), len(rows.u)))
    unsafe = np.zeros(len(rows.u), dtype=bool)
    share = np.asarray(pooling)
    for k in rows.present:
        (values, vectors), h = base.spectra[pooling][k], turned[k]
        y, cut, whole = rows.to_mean(k, h, vectors), rows.cut(k, share), float(values.sum())
        trace = whole - cut * np.einsum("ij,ij->i", h, h)
        floor = shrinkage * trace / len(values)
        least = (1 - shrinkage) * values[0] + floor
        bad = ~(trace >= LEAST_LEFT * whole) | (floor <= 4 * base.base.pooled.rounding)
        bad |= ~(least >= LEAST_EIGENVALUE * values[-1]) | (whole <= 0)
        floor[bad] = shrinkage * whole / len(values) or 1.0
        if not cut.any():
            floor = floor[:1]  # of a class that does not lose anything
        diagonal = (1 - shrinkage) * values + floor[:, None]
        weighed = h / diagonal
        log_f[k], lost = _log_density(
            np.einsum("ij,ij->i", h, weighed),
            np.einsum("ij,ij->i", y, weighed),
            np.einsum("ij,ij->i", y, y / diagonal),
            _log_products(diagonal),
            (1 - shrinkage) * cut,
            rows.divisor(k, share),
            len(values),
        )
        unsafe |= bad | lost
    return log_f, unsafe


def _log_density(
    own: Float,
    along: Float,
    length: Float,
    log_det: Float,
    cut: Float,
    divisor: Float,
    n_terms: int,
) -> tuple[Float, Mask]:
    """By A = Δ - t hhᵀ: ln det A = ln det Δ + ln(1 - t‖h‖²), d² as for all classes alike. (S 46)

    `own` = ‖h‖², `along` = yᵀh, `length` = ‖y‖² by the diagonal Δ⁻¹, y being the row less the mean
    of a class; Σ_k = A / divisor.
    """
    rest = 1 - cut * own
    unsafe = ~(rest >= LEAST_LEFT)
    rest[unsafe] = 1.0
    square = divisor * (length + cut * along**2 / rest)
    return -0.5 * (square + log_det + np.log(rest) - n_terms * np.log(divisor)), unsafe


def _log_products(diagonal: Float) -> Float:
    """Σ ln of each row, with few logarithms: within a column numbers differ by 1000 at most."""
    first = diagonal[0]
    total = np.full(len(diagonal), np.log(first).sum())
    if len(diagonal) == 1:
        return total
    for start in range(0, len(first), _FACTORS):
        some = slice(start, start + _FACTORS)
        total += np.log(np.multiply.reduce(diagonal[:, some] / first[some], axis=1))
    return total
