"""Gaussian classes without a row: corrections of rank one to the matrices of classes.

In a basis in which the matrix of a class is diagonal, Δ, it is Δ - t hhᵀ without the row, h being
the row less the mean of its class. With a pooling of 1 all classes have one matrix, and one basis.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from sortal.decision.geometry import EPS
from sortal.discriminants.gaussian import kept_terms
from sortal.discriminants.learn import (
    class_sizes,
    ledoit_wolf,
    mixed,
    mixed_divisors,
    oas,
    own_geometry,
)
from sortal.discriminants.leave_one_out import LEAST_LEFT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal._typing import Float, Mask, Places
    from sortal.discriminants.leave_one_out import ClassesWithoutRow
    from sortal.discriminants.statistics import ClassStatistics

    # Pooling; shrinkage, or the formula that calculates it.
    Setting: TypeAlias = tuple[float, float | str]


# An eigenvalue below this share of the largest has too few digits to be divided by.
LEAST_EIGENVALUE = 1e-9

# Factors between a thousandth and 1 that are multiplied before a logarithm is taken.
_FACTORS = 64


class Basis(NamedTuple):
    """Vectors in which the matrix of some classes is diagonal, and its eigenvalues, rising.

    What is below `least` has too few digits to be divided by.
    """

    classes: Places
    vectors: Float
    values: Float
    least: float


def spectra(stats: ClassStatistics, groups: Sequence[Places], pooling: float) -> list[Basis]:
    """Eigenvectors of the matrices of groups of classes."""
    matrices, found = mixed(stats, pooling), []
    for classes in groups:
        values, vectors = np.linalg.eigh(matrices[classes[0]])
        least = LEAST_EIGENVALUE * values[-1]
        found.append(Basis(classes, vectors, np.maximum(values, 0.0), least))
    return found


def common_spectra(stats: ClassStatistics, groups: Sequence[Places], one: bool) -> list[Basis]:
    """Where S is the identity: there S_k is diagonal together with all its mixtures. (S 48)"""
    sphere, found = stats.geometry.sphere, []
    if one:
        return [Basis(groups[0], sphere, np.ones(sphere.shape[1]), LEAST_EIGENVALUE)]
    for classes in groups:
        values, vectors = np.linalg.eigh(sphere.T @ stats.own_scatter[classes[0]] @ sphere)
        values = np.clip(values, 0.0, 1.0)
        found.append(Basis(classes, sphere @ vectors, values, LEAST_EIGENVALUE))
    return found


def all_vary(stats: ClassStatistics, pooling: float) -> bool:
    """Whether every class varies wherever all classes together do."""
    rank, still = stats.geometry.sphere.shape[1], stats.geometry.still
    matrices, sizes = mixed(stats, pooling), class_sizes(stats, pooling)
    surveys = (
        own_geometry(stats, matrices[k], k, pooling, kept_terms(still, sizes[k]))
        for k in np.flatnonzero(stats.present).tolist()
    )
    return all(one.sphere.shape[1] == rank for one in surveys)


class Together(NamedTuple):
    """Settings at these places, which are tried together: plain ones, or one that shrinks.

    `has_form` says which poolings have the form of a correction; where none has, no bases are made.
    """

    places: list[int]
    poolings: Float
    share: float | str
    has_form: Mask
    bases: list[Basis]


@dataclass(frozen=True, eq=False)
class Prepared:
    """What depends on all rows."""

    stats: ClassStatistics
    tried: list[Together]

    @cached_property
    def rounding(self) -> float:
        """How much scatter is rounding, in terms that have no more: shrinkage must exceed it."""
        digits = (4 * EPS * self.stats.magnitude) ** 2
        return float(digits[np.diag(self.stats.within) <= digits].max(initial=0.0))


@dataclass(frozen=True, eq=False)
class GaussianLeaveOut:
    """Densities of rows by the statistics without them, for several settings."""

    covariance: str
    settings: tuple[Setting, ...]

    def prepare(self, stats: ClassStatistics) -> Prepared:
        """Bases of the classes, or of all of them where their matrices are one."""
        one = all(pooling == 1 for pooling, _ in self.settings)
        present = np.flatnonzero(stats.present)
        groups = [present] if one else list(present[:, None])
        # of one term the formulas shrink nothing
        alone = len(stats.center) == 1
        shares = [0.0 if alone and isinstance(share, str) else share for _, share in self.settings]
        tried, shrunk = [], dict[float, list[Basis]]()
        for i, (pooling, _) in enumerate(self.settings):
            if shares[i] != 0:
                if pooling not in shrunk:
                    shrunk[pooling] = spectra(stats, groups, pooling)
                has_form = np.array([True])
                block = Together([i], np.array([pooling]), shares[i], has_form, shrunk[pooling])
                tried.append(block)
        plain = [i for i, share in enumerate(shares) if share == 0]
        poolings = np.array([self.settings[i][0] for i in plain])
        regular = bool(stats.geometry.sphere.size) and not stats.geometry.apart.size
        forms = [regular and (one or all_vary(stats, value)) for value in poolings]
        has_form = np.array(forms, dtype=bool)
        bases = common_spectra(stats, groups, one) if has_form.any() else []
        tried.append(Together(plain, poolings, 0.0, has_form, bases))
        return Prepared(stats, tried)

    def densities(
        self, base: Prepared, g: int, u: Float, left: ClassesWithoutRow
    ) -> list[tuple[Float, Mask]]:
        """ln f_k of rows u of class g, less its mean, up to a common term, a row a class."""
        rows = LeftRows(base, g, u, left, self.covariance)
        found: dict[int, tuple[Float, Mask]] = {}
        for block in base.tried:
            found |= zip(block.places, zip(*rows.densities(block), strict=True), strict=True)
        return [found[i] for i in range(len(found))]


class Turned(NamedTuple):
    """Rows in a basis, h, and products entry by entry: hh; of a single class also yh and yy.

    y is the way to a row from the mean of the class without it.
    """

    h: Float
    products: list[Float]


@dataclass(frozen=True, eq=False)
class LeftRows:
    """Rows of class g less its mean, and the classes without each of them."""

    base: Prepared
    g: int
    u: Float
    left: ClassesWithoutRow
    covariance: str
    _turned: dict[int, Turned] = field(default_factory=dict)

    @cached_property
    def pooled(self) -> Float:
        """D without each row."""
        return self.left.pooled_divisor(self.covariance)

    @cached_property
    def own(self) -> Float:
        """D_k without each row."""
        return self.left.class_divisors(self.covariance)

    def densities(self, block: Together) -> tuple[Float, Mask]:
        """ln f_k by each of some settings, a row a class; which rows are not safe.

        Numbers have three axes: settings, classes and rows, of length 1 where all are alike.
        """
        log_f = np.zeros((len(block.places), len(self.left.weight), len(self.u)))
        unsafe = np.repeat(~block.has_form[:, None], len(self.u), axis=1)
        for basis in block.bases:
            turned, k = self.turned(basis), basis.classes[0]
            several = len(basis.classes) > 1
            pooling = block.poolings[:, None, None]
            cut = self.left.cut if several or k == self.g else pooling * self.left.cut
            diagonal, bad, share = self.diagonal(block, basis, turned, cut)
            sums = self.sums(basis, turned, 1 / diagonal)
            square, rest, lost = without_row(*sums, (1 - share) * cut)
            if several:  # determinant and divisor are the same for all of them
                square *= self.pooled
            else:
                divisor = mixed_divisors(self.own[k], self.pooled, pooling)
                square *= divisor
                square += log_products(diagonal)[:, None] + np.log(rest)
                square -= len(basis.values) * np.log(divisor)
            square *= -0.5
            log_f[:, basis.classes] = square
            unsafe |= bad | lost[:, 0]
        return log_f, unsafe

    def turned(self, basis: Basis) -> Turned:
        """The rows in a basis: settings that have the same vectors share them."""
        key = id(basis.vectors)
        if key not in self._turned:
            h = self.u @ basis.vectors
            products = [h * h]
            if len(basis.classes) == 1:
                y = self.from_mean(int(basis.classes[0]), h, basis.vectors)
                products += [y * h, y * y]
            self._turned[key] = Turned(h, products)
        return self._turned[key]

    def from_mean(self, k: int, h: Float, vectors: Float) -> Float:
        """From the mean of class k without the row to the row."""
        if k == self.g:
            return h * (1 + self.left.shift)[:, None]
        return np.asarray(h - self.base.stats.from_mean(self.g)[k] @ vectors)

    def diagonal(
        self, block: Together, basis: Basis, turned: Turned, cut: Float
    ) -> tuple[Float, Mask, Float]:
        """Δ, one for all rows or a row each: of what is shrunk the trace follows the row.

        Also rows for which it has too few digits, and the share by which it is shrunk.
        """
        values, share = basis.values, np.asarray(block.share)
        if block.share == 0:
            mixtures = np.multiply.outer(1 - block.poolings, values) + block.poolings[:, None]
            few = mixtures.min(axis=1, keepdims=True) < basis.least
            return np.where(few, 1.0, mixtures)[:, None], few, share
        length, whole, cut = turned.products[0].sum(axis=1), float(values.sum()), cut.ravel()
        if isinstance(block.share, str):
            share = intensity(block.share, values, self, turned, length)
        trace = whole - (cut * length if cut.any() else np.zeros(1))
        floor = share * trace / len(values)
        smallest = (1 - share) * values[0] + floor
        bad = ~(trace >= LEAST_LEFT * whole) | (floor <= 4 * self.base.rounding)
        bad |= ~(smallest >= basis.least) | (whole <= 0)
        diagonal = np.multiply.outer(1 - share, values) + floor[:, None]
        diagonal[bad] = 1.0
        return diagonal[None], bad[None], share

    def sums(self, basis: Basis, turned: Turned, inverse: Float) -> tuple[Float, Float, Float]:
        """hᵀΔ⁻¹h, yᵀΔ⁻¹h and yᵀΔ⁻¹y."""
        own, *others = [_weigh(one, inverse) for one in turned.products]
        if others:
            along, length = others
            return own, along, length
        # of several classes by products of matrices: beside their common scatter no row is far
        apart = self.base.stats.from_mean(self.g)[basis.classes] @ basis.vectors
        alike = inverse.shape[1] == 1
        across = (apart * inverse[0]) @ turned.h.T if alike else apart @ (turned.h * inverse[0]).T
        along = own - across
        length = along - across
        length += (apart * apart) @ inverse[0].T
        mine, away = basis.classes == self.g, 1 + self.left.shift
        along[:, mine], length[:, mine] = away * own, away**2 * own
        return own, along, length


def _weigh(products: Float, inverse: Float) -> Float:
    """Σ_j x_ij / δ_j, of each setting for all rows."""
    if inverse.shape[1] == 1:
        return np.asarray((products @ inverse[:, 0].T).T[:, None])
    return np.asarray(np.einsum("ij,sij->si", products, inverse)[:, None])


def without_row(own: Float, along: Float, length: Float, cut: Float) -> tuple[Float, Float, Mask]:
    """yᵀA⁻¹y and r = det A / det Δ for A = Δ - t hhᵀ; where too few digits of r are left. (S 46)

    `own` = hᵀΔ⁻¹h, `along` = yᵀΔ⁻¹h, `length` = yᵀΔ⁻¹y, `cut` = t.
    """
    rest = 1 - cut * own
    unsafe = ~(rest >= LEAST_LEFT)
    rest[unsafe] = 1.0
    square = along * along
    square *= cut / rest
    square += length
    return square, rest, unsafe


def log_products(diagonal: Float) -> Float:
    """Σ ln of each row, with few logarithms: within a column numbers differ by 1000 at most."""
    first = diagonal[:, :1]
    total = np.log(first).sum(axis=2) + np.zeros(diagonal.shape[:2])
    if diagonal.shape[1] == 1:
        return np.asarray(total)
    for start in range(0, diagonal.shape[2], _FACTORS):
        some = slice(start, start + _FACTORS)
        quotients = diagonal[:, :, some] / first[:, :, some]
        total += np.log(np.multiply.reduce(quotients, axis=2))
    return np.asarray(total)


# --- Shrinkage by a formula, without each row ----------------------------------------------------


def intensity(name: str, values: Float, rows: LeftRows, turned: Turned, length: Float) -> Float:
    """λ of Ledoit and Wolf, or of Chen et al., without each row, by the eigenvalues of S."""
    stats = rows.base.stats
    left, p = rows.left, len(values)
    n, weight = left.rows.sum(axis=0), left.total_weight
    # in a unit in which squares of squares are at hand
    unit = float(values.sum()) / stats.total_weight
    e, cut = values / unit, left.cut
    q, along = length / unit, turned.products[0] @ (e / unit)
    middle = e.mean()
    square = (e * e).sum() - 2 * cut * along + (cut * q) ** 2
    trace = e.sum() - cut * q
    distance = ((e - middle) ** 2).sum() - 2 * cut * (along - middle * q)
    distance = distance + (cut * q) ** 2 * (1 - 1 / p)
    if name == "oas":
        return oas(square, distance, trace, n)
    whole = float(stats.fourth.sum()) / unit / unit
    fourth = whole + fourth_change(stats, rows.g, rows.u, q, left, unit)
    share = ledoit_wolf(square, distance, fourth * weight, n)
    return np.where(fourth < LEAST_LEFT * whole, np.nan, share)


def fourth_change(
    stats: ClassStatistics, g: int, u: Float, q: Float, left: ClassesWithoutRow, unit: float
) -> Float:
    """Σ‖z‖⁴ without a row, about the mean without it, less the same of all rows. (S 47)

    4κ uᵀt + 4κ² uᵀS_g u + 2κ²‖u‖² tr S_g - v‖u‖⁴ (1 + 4κ + 6κ² + 3κ³), t = Σ‖z‖²z.
    """
    k, S = left.shift, stats.scatter[g] / unit
    t = stats.third[g] / unit / np.sqrt(unit)
    size = u / np.sqrt(unit)
    v = left.cut / (1 + k)  # with class weights
    change = 4 * k * (size @ t) + 4 * k**2 * np.einsum("ij,ij->i", size @ S, size)
    change += 2 * k**2 * q * np.trace(S) - v * q**2 * (1 + 4 * k + 6 * k**2 + 3 * k**3)
    return np.asarray(change)
