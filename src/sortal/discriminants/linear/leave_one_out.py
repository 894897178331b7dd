"""Leave one out for the linear discriminant: distances by a correction of rank one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sortal.decision.geometry import EPS
from sortal.discriminants.leave_one_out import LEAST_LEFT

if TYPE_CHECKING:
    from sortal._typing import Float, Mask
    from sortal.discriminants.leave_one_out import ClassesWithoutRow
    from sortal.discriminants.linear.learn import Shrinkage
    from sortal.discriminants.statistics import ClassStatistics


# An eigenvalue below this share of the largest has too few digits to be divided by.
LEAST_EIGENVALUE = 1e-9

# Where each row has a smaller part of the trace, its powers soon fall below the last digit.
_MOST_OF_TRACE = 0.02

_LAST_DIGIT = 1e-17


@dataclass(frozen=True, eq=False)
class LinearBase:
    """The scatter S of all rows within their classes: its root, or its eigenvectors."""

    stats: ClassStatistics

    @cached_property
    def spectrum(self) -> tuple[Float, Float]:
        """Eigenvalues of S, rising, and eigenvectors."""
        values, vectors = np.linalg.eigh(self.stats.within)
        return np.maximum(values, 0.0), vectors

    @cached_property
    def trace(self) -> float:
        """The sum of the eigenvalues."""
        return float(np.trace(self.stats.within))

    @cached_property
    def plain(self) -> bool:
        """Whether S can be inverted where it varies, and nothing else tells classes apart."""
        return bool(self.stats.geometry.sphere.size) and not self.stats.geometry.apart.size

    @cached_property
    def rounding(self) -> float:
        """How much scatter is rounding, in terms that have no more: shrinkage must exceed it."""
        digits = (4 * EPS * self.stats.magnitude) ** 2
        return float(digits[np.diag(self.stats.within) <= digits].max(initial=0.0))

    def from_own(self, g: int, basis: Float) -> Float:
        """From the mean of class g to all means, in a basis."""
        return np.asarray(self.stats.from_mean(g) @ basis)


@dataclass(frozen=True, eq=False)
class LinearLeaveOut:
    """The kernel of the linear discriminant, for several shrinkages: numbers or words."""

    covariance: str
    shrinkages: tuple[Shrinkage, ...]

    def prepare(self, stats: ClassStatistics) -> LinearBase:
        """The scatter within the classes, whose bases are made when they are needed."""
        return LinearBase(stats)

    def densities(
        self, base: LinearBase, g: int, u: Float, left: ClassesWithoutRow
    ) -> list[tuple[Float, Mask]]:
        """-½ d²(x, μ_k') by S', a row a class."""
        divisor = left.pooled_divisor(self.covariance)
        if all(self._is_plain(base, value) for value in self.shrinkages):
            return [_plain(base, g, u, left, divisor) for _ in self.shrinkages]
        h = u @ base.spectrum[1]
        shares = [
            float(value)
            for value in self.shrinkages
            if not (value is None or isinstance(value, str) or self._is_plain(base, value))
        ]
        series = _series(base, g, h, left, divisor, np.array(shares))
        expanded = dict(zip(shares, series, strict=True)) if series else {}
        found = []
        for value in self.shrinkages:
            if self._is_plain(base, value):
                found.append(_plain(base, g, u, left, divisor))
            elif value in expanded:
                found.append(expanded[value])
            else:
                if isinstance(value, str):
                    share = _intensity(value, base, g, u, h, left)
                else:
                    share = np.asarray(value)
                found.append(_shrunk(base, g, h, left, divisor, share))
        return found

    def _is_plain(self, base: LinearBase, value: Shrinkage) -> bool:
        """Where there is one term only, the formulas shrink nothing."""
        return (
            value is None or value == 0 or (isinstance(value, str) and len(base.stats.center) == 1)
        )


def _plain(
    base: LinearBase, g: int, u: Float, left: ClassesWithoutRow, divisor: Float
) -> tuple[Float, Mask]:
    """Where S is the identity, S' = I - c hhᵀ."""
    if not base.plain:
        return _nothing(left, len(u))
    sphere = base.stats.geometry.sphere
    h, apart = u @ sphere, base.from_own(g, sphere)
    along, length = apart @ h.T, (apart * apart).sum(axis=1)[:, None]
    squares, unsafe = distances(np.einsum("ij,ij->i", h, h), along, length, g, left.cut, left.shift)
    return -0.5 * divisor * squares, unsafe


def _shrunk(
    base: LinearBase, g: int, h: Float, left: ClassesWithoutRow, divisor: Float, share: Float
) -> tuple[Float, Mask]:
    """In the eigenvectors of S: S' shrunk is diagonal, less a matrix of rank one."""
    values, vectors = base.spectrum
    trace = base.trace - left.cut * np.einsum("ij,ij->i", h, h)
    floor = share * trace / len(values)
    diagonal = np.multiply.outer(1 - share, values) + floor[:, None]
    unsafe = (trace < LEAST_LEFT * base.trace) | (floor <= 4 * base.rounding)
    unsafe |= ~(diagonal[:, 0] >= LEAST_EIGENVALUE * values[-1])
    diagonal[unsafe] = 1.0
    apart = base.from_own(g, vectors)
    weighed = h / diagonal
    squares, lost = distances(
        np.einsum("ij,ij->i", h, weighed),
        apart @ weighed.T,
        (apart * apart) @ (1 / diagonal).T,
        g,
        (1 - share) * left.cut,
        left.shift,
    )
    return -0.5 * divisor * squares, unsafe | lost


def _series(
    base: LinearBase, g: int, h: Float, left: ClassesWithoutRow, divisor: Float, shares: Float
) -> list[tuple[Float, Mask]] | None:
    """As `_shrunk`, for several shares at once, by products of matrices.

    The diagonal without a row is δ - η_i, δ that of all rows and η_i what the row takes off the
    trace. 1 / (δ - η) = Σ_m η^m / δ^(m+1), so that every sum along a row is a polynomial in η_i
    whose coefficients are products with powers of 1 / δ. None where a row has so large a part of
    the trace that many powers would be needed.
    """
    values, vectors = base.spectrum
    lost = left.cut * np.einsum("ij,ij->i", h, h) / len(values)
    part = float((lost * len(values)).max(initial=0.0)) / base.trace if base.trace > 0 else 1.0
    if not (part < _MOST_OF_TRACE and len(shares)):
        return None
    n_powers = 2 + int(np.log(_LAST_DIGIT) / np.log(max(part, _LAST_DIGIT)))
    floor = shares * base.trace / len(values)
    diagonal = np.multiply.outer(1 - shares, values) + floor[:, None]
    few = (floor <= 8 * base.rounding) | (diagonal[:, 0] < 2 * LEAST_EIGENVALUE * values[-1])
    diagonal[few] = 1.0
    powers = diagonal[:, None, :] ** -np.arange(1.0, n_powers + 1)[:, None]
    apart = base.from_own(g, vectors)
    own = powers @ (h * h).T
    along = (powers * apart[:, None, None, :]) @ h.T
    length = (powers @ (apart * apart).T)[..., None]
    found = []
    for place, share in enumerate(shares):
        eta = share * lost
        squares, unsafe = distances(
            _polynomial(own[place], eta),
            _polynomial(along[:, place].swapaxes(0, 1), eta),
            _polynomial(length[place], eta),
            g,
            (1 - share) * left.cut,
            left.shift,
        )
        found.append((-0.5 * divisor * squares, unsafe | few[place]))
    return found


def _polynomial(coefficients: Float, x: Float) -> Float:
    """Σ_m c_m x^m, m along the first axis."""
    total = coefficients[-1] + np.zeros_like(x)
    for c in coefficients[-2::-1]:
        total *= x
        total += c
    return np.asarray(total)


def distances(
    own: Float, along: Float, length: Float, g: int, cut: Float, shift: Float
) -> tuple[Float, Mask]:
    """d²_k = ‖y_k‖² + t (y_kᵀh)² / (1 - t‖h‖²), y_k = h - a_k, by A = Δ - t hhᵀ. (S 46)

    h is a row less the mean of its class g, and a_k the way from there to the mean of class k;
    `own` = ‖h‖², `along` = a_kᵀh and `length` = ‖a_k‖² by the diagonal Δ⁻¹, `cut` = t. The mean of
    its own class moves away from the row, by `shift` times h.
    """
    rest = 1 - cut * own
    unsafe = ~(rest >= LEAST_LEFT)
    rest[unsafe] = 1.0
    inner = own - along
    squares = inner - along + length
    inner *= inner
    inner *= cut / rest
    squares += inner
    squares[g] = (1 + shift) ** 2 * own / rest
    return squares, unsafe


def _nothing(left: ClassesWithoutRow, n: int) -> tuple[Float, Mask]:
    return np.zeros((len(left.weight), n)), np.ones(n, dtype=bool)


def _intensity(
    name: str, base: LinearBase, g: int, u: Float, h: Float, left: ClassesWithoutRow
) -> Float:
    """λ of Ledoit and Wolf, or of Chen et al., without each row."""
    stats, (values, _) = base.stats, base.spectrum
    p, n, weight = len(values), left.rows.sum(axis=0), left.total_weight
    # in a unit in which squares of squares are at hand
    unit = base.trace / stats.total_weight
    e, cut = values / unit, left.cut
    q, turned = np.einsum("ij,ij->i", h, h) / unit, (h * h) @ (e / unit)
    middle = e.mean()
    square = (e * e).sum() - 2 * cut * turned + (cut * q) ** 2
    trace = e.sum() - cut * q
    distance = ((e - middle) ** 2).sum() - 2 * cut * (turned - middle * q)
    distance = distance + (cut * q) ** 2 * (1 - 1 / p)
    safe = np.where(distance > 0, distance, 1.0)
    if name == "oas":
        share = (square + trace**2) / ((n + 1) * safe)
        return np.where(distance > 0, np.clip(share, 0.0, 1.0), 1.0)
    fourth = float(stats.fourth.sum()) / unit / unit + _fourth_change(stats, g, u, q, left, unit)
    share = np.clip((fourth * weight - square) / (n * safe), 0.0, 1.0)
    share = np.where(distance > 0, share, 0.0)
    lost = fourth < LEAST_LEFT * (stats.fourth.sum() / unit / unit)
    return np.where(lost, np.nan, share)


def _fourth_change(
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
