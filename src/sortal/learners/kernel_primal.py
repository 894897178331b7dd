"""The kernel discriminant in coordinates: class statistics of features, and a ridge on them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.linalg.lapack import dpocon

from sortal.learners.kernel_solution import NOTHING, Solution, class_scale, orient
from sortal.models.geometry import EPS, VARIANCE_FLOOR

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.learners.kernel_solution import Codes, Labeled

    Float = NDArray[np.float64]


# λ is a share of what varies within the classes: below this it says nothing.
_LEAST_EIGENVALUE = 1e-14


@dataclass(frozen=True, eq=False)
class Features:
    """Rows as features z, of which p(x) = vᵀz(x): means and scatters of the classes.

    A direction v costs vᵀ(ridge matrix)v, has the coefficients to_coefs v, and the squared length
    vᵀ(norm)v in feature space. Where the rows are at hand, `rows` are they, less the means of their
    classes and times √v, and `codes` their classes: rowsᵀrows is S_w, and the rows have twice its
    digits. Else `scatter` has a matrix a class.
    """

    weight: Float
    means: Float
    ridge: Float
    to_coefs: Float
    norm: Float
    scatter: Float | None = None
    rows: Float | None = None
    codes: Codes | None = None

    @classmethod
    def of_rows(
        cls, z: Float, rows: Labeled, ridge: Float, to_coefs: Float, norm: Float
    ) -> Features:
        """From the rows themselves."""
        means = rows.means(z)
        from_mean = rows.root[:, None] * (z - means[rows.codes])
        return cls(rows.sizes, means, ridge, to_coefs, norm, rows=from_mean, codes=rows.codes)

    @cached_property
    def within(self) -> Float:
        """S_w, of all classes together."""
        if self.rows is not None:
            return np.asarray(self.rows.T @ self.rows)
        assert self.scatter is not None  # noqa: S101  (one of the two is there)
        return np.asarray(self.scatter.sum(axis=0))

    def scatters(self, v: Float) -> Float:
        """vᵀS_c v of each class c, for each direction."""
        if self.rows is not None and self.codes is not None:
            squares = (self.rows @ v) ** 2
            sums = [np.bincount(self.codes, part, len(self.weight)) for part in squares.T]
            return np.stack(sums, axis=1) if sums else np.zeros((len(self.weight), 0))
        scatter = self.within[None] if self.scatter is None else self.scatter
        return np.asarray(np.maximum(((scatter @ v) * v).sum(axis=1), 0.0))

    def lengths(self, v: Float, values: Float, mu: float) -> Float:
        """√vᵀ(S_w + μ ridge)v, or the least that is assumed where λ is infinite."""
        own = (self.rows @ v) ** 2 if self.rows is not None else (self.within @ v) * v
        inside = np.maximum(own.sum(axis=0), 0.0) + mu * ((self.ridge @ v) * v).sum(axis=0)
        apart = VARIANCE_FLOOR * ((self.spread @ v) ** 2).sum(axis=0)
        return np.asarray(np.sqrt(np.where(np.isinf(values), apart, inside)))

    @property
    def spread(self) -> Float:
        """√n_c (μ_c - μ), a row a class."""
        mean = self.weight @ self.means / self.weight.sum()
        return np.asarray(np.sqrt(self.weight)[:, None] * (self.means - mean))

    @cached_property
    def flat(self) -> Float:
        """F with F ridge Fᵀ = I: in coordinates Fz the penalty of a direction is its length."""
        lower = cholesky(self.ridge, lower=True, check_finite=False)
        identity = np.eye(len(lower))
        return np.asarray(solve_triangular(lower, identity, lower=True, check_finite=False))


def solve_features(features: Features, mu: float, most: int | None) -> Solution:
    """Bv = λ(S_w + μ ridge)v, λ falling; without a ridge the limit of a vanishing one."""
    found = _ridged(features, mu) if mu > 0 else None
    v, values, condition = _limit(features) if found is None else found
    v, values = v[:, :most], values[:most]
    size = np.sqrt(((features.norm @ v) * v).sum(axis=0))
    v = v / size
    return orient(
        Solution(
            features.to_coefs @ v,
            values * class_scale(features.weight),
            features.lengths(v, values, mu),
            features.means @ v,
            features.scatters(v),
            condition,
        )
    )


def _ridged(features: Features, mu: float) -> tuple[Float, Float, float] | None:
    """Where S_w + μ ridge is LLᵀ, directions are L⁻ᵀ times singular vectors of spread L⁻ᵀ.

    None where the ridge is below rounding, and might as well vanish.
    """
    penalized = features.within + mu * features.ridge
    try:
        lower = cholesky(penalized, lower=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    condition = condition_of(lower, float(np.abs(penalized).sum(axis=0).max()))
    if not condition < 0.1 / EPS:
        return None
    leaning = solve_triangular(lower, features.spread.T, lower=True, check_finite=False)
    left, roots, _ = np.linalg.svd(leaning, full_matrices=False)
    real = roots**2 > NOTHING * (roots[0] ** 2 if len(roots) else 0.0)
    real[max(0, int((features.weight > 0).sum()) - 1) :] = False
    v = solve_triangular(lower, left[:, real], lower=True, trans="T", check_finite=False)
    return v, roots[real] ** 2, condition


def condition_of(lower: Float, norm: float) -> float:
    """An estimate of the condition number of LLᵀ, whose largest sum of a column is `norm`."""
    reciprocal, _ = dpocon(lower.T, norm, uplo="U")
    return float(1.0 / reciprocal) if reciprocal > 0 else np.inf


@dataclass(frozen=True, eq=False)
class Split:
    """Directions by what varies along them, where the penalty of one is its length.

    `sphere`: sphereᵀ S_w sphere = I. `apart`: orthonormal, no row varies within its class, and the
    class means differ. Along all others nothing varies.
    """

    sphere: Float
    apart: Float
    condition: float


def split(features: Features) -> Split:
    """The directions of features, those that rounding alone would tell apart counting as one."""
    flat, spread = features.flat, features.spread @ features.flat.T
    if features.rows is not None:
        _, roots, right = np.linalg.svd(features.rows @ flat.T, full_matrices=True)
        sizes, least, blur = np.zeros(len(right)), 8 * EPS * max(features.rows.shape), 1e-9
        sizes[: len(roots)] = roots
    else:
        within = flat @ features.within @ flat.T
        values, vectors = np.linalg.eigh((within + within.T) / 2)
        right, sizes = vectors.T, np.sqrt(np.maximum(values, 0.0))
        least, blur = np.sqrt(64 * EPS * len(values)), 1e-6
    size = float(np.linalg.norm(spread))
    varies = sizes > least * max(float(sizes.max(initial=0.0)), size)
    null = right[~varies].T
    _, gaps, turn = np.linalg.svd(spread @ null, full_matrices=False)
    apart = null @ turn[gaps > blur * size].T
    kept = sizes[varies]
    condition = float((kept.max() / kept.min()) ** 2) if len(kept) else 1.0
    return Split(right[varies].T / kept, apart, condition)


def _limit(features: Features) -> tuple[Float, Float, float]:
    """The limit of a vanishing ridge: solutions of the least penalty. (S 89)

    Directions in which the means differ and no class has scatter come first, with λ infinite. The
    others are those of S_w⁺ for what the first leave of the means, less what would show along the
    first, where a vanishing ridge costs nothing.
    """
    found, spread = split(features), features.spread @ features.flat.T
    gaps = spread @ found.apart
    left, roots, turn = np.linalg.svd(gaps, full_matrices=False)
    first = found.apart @ turn.T
    rest = (spread - left @ (left.T @ spread)) @ found.sphere
    _, finite, right = np.linalg.svd(rest, full_matrices=False)
    real = finite**2 > max(_LEAST_EIGENVALUE, NOTHING * float(finite.max(initial=0.0)) ** 2)
    real[max(0, int((features.weight > 0).sum()) - 1 - len(roots)) :] = False
    others = found.sphere @ right[real].T
    others -= found.apart @ (np.linalg.pinv(gaps) @ (spread @ others))
    values = np.concatenate([np.full(len(roots), np.inf), finite[real] ** 2])
    return features.flat.T @ np.hstack([first, others]), values, found.condition
