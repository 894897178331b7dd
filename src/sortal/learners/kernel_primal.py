"""The kernel discriminant in coordinates: class statistics of features, and a ridge on them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from sortal.learners.canonical import eigenvectors, within_lengths
from sortal.learners.kernel_solution import NOTHING, Solution, class_scale, orient
from sortal.models.geometry import survey

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.learners.kernel_solution import Labeled

    Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Features:
    """Rows as features z, of which p(x) = vᵀz(x): means and scatters of the classes.

    A direction v costs vᵀ(ridge matrix)v, has the coefficients to_coefs v, and the squared length
    vᵀ(norm)v in feature space.
    """

    weight: Float
    means: Float
    scatter: Float
    ridge: Float
    to_coefs: Float
    norm: Float

    @classmethod
    def of_rows(
        cls, z: Float, rows: Labeled, ridge: Float, to_coefs: Float, norm: Float
    ) -> Features:
        """From the rows themselves."""
        means = rows.means(z)
        from_mean = rows.root[:, None] * (z - means[rows.codes])
        parts = [from_mean[rows.codes == c] for c in range(rows.n_classes)]
        scatter = np.stack([part.T @ part for part in parts])
        return cls(rows.class_weight, means, scatter, ridge, to_coefs, norm)

    @cached_property
    def within(self) -> Float:
        """S_w, of all classes together."""
        return np.asarray(self.scatter.sum(axis=0))

    @property
    def spread(self) -> Float:
        """√n_c (μ_c - μ), a row a class."""
        mean = self.weight @ self.means / self.weight.sum()
        return np.asarray(np.sqrt(self.weight)[:, None] * (self.means - mean))

    @property
    def magnitude(self) -> Float:
        """The size of the numbers in each coordinate, by which rounding is judged."""
        return np.asarray(np.sqrt(self.weight.sum()) * np.abs(self.means).max(axis=0))


def solve_features(features: Features, mu: float, most: int | None) -> Solution:
    """Bv = λ(S_w + μ ridge)v, λ falling; without a ridge the limit of a vanishing one."""
    if mu > 0:
        v, values, condition = _ridged(features, mu)
    else:
        v, values, condition = _limit(features)
    v, values = v[:, :most], values[:most]
    size = np.sqrt(((features.norm @ v) * v).sum(axis=0))
    v = v / size
    penalized = features.within + mu * features.ridge
    lengths = within_lengths(v, values, penalized, features.spread)
    return orient(
        Solution(
            features.to_coefs @ v,
            values * class_scale(features.weight),
            lengths,
            features.means @ v,
            np.maximum(((features.scatter @ v) * v).sum(axis=1), 0.0),
            condition,
        )
    )


def _ridged(features: Features, mu: float) -> tuple[Float, Float, float]:
    """Where S_w + μ ridge is LLᵀ, directions are L⁻ᵀ times singular vectors of spread L⁻ᵀ."""
    lower = cholesky(features.within + mu * features.ridge, lower=True, check_finite=False)
    leaning = solve_triangular(lower, features.spread.T, lower=True, check_finite=False)
    left, roots, _ = np.linalg.svd(leaning, full_matrices=False)
    real = roots**2 > NOTHING * (roots[0] ** 2 if len(roots) else 0.0)
    real[max(0, int((features.weight > 0).sum()) - 1) :] = False
    pivots = np.diag(lower)
    v = solve_triangular(lower, left[:, real], lower=True, trans="T", check_finite=False)
    return v, roots[real] ** 2, float((pivots.max() / pivots.min()) ** 2)


def _limit(features: Features) -> tuple[Float, Float, float]:
    """The limit of a vanishing ridge: solutions of the least penalty. (S 89)

    In coordinates in which the ridge is the identity that is the least norm. Directions in which
    the means differ and no class has scatter come first, with λ infinite.
    """
    lower = cholesky(features.ridge, lower=True, check_finite=False)
    flat = solve_triangular(lower, np.eye(len(lower)), lower=True, check_finite=False)
    within, spread = flat @ features.within @ flat.T, features.spread @ flat.T
    magnitude = np.abs(flat) @ features.magnitude
    geometry = survey((within + within.T) / 2, spread, magnitude)
    v, values = eigenvectors(geometry, spread)
    if geometry.apart.size:  # a vanishing ridge leaves nothing there for the others to explain
        finite = np.isfinite(values)
        onto = np.linalg.pinv(spread @ geometry.apart)
        v[:, finite] -= geometry.apart @ (onto @ (spread @ v[:, finite]))
    return flat.T @ v, values, geometry.condition
