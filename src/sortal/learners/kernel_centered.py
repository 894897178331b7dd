"""Features of the centered kernel, in which the linear discriminant does the rest.

With √v_i k(x_i, x_j) √v_j as K and s = √v / √Σv, the rows less their mean are those of (I - ssᵀ)K.
What all rows share is taken off before ranks are decided: it may be large, and nothing varies along
it. What is left and no larger than the rounding of K itself is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.lapack import dpstrf

from sortal.learners.kernel_bordered import Bordered
from sortal.learners.kernel_primal import SURE, Features
from sortal.models.geometry import EPS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.learners.kernel_solution import Labeled

    Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Centered:
    """Rows as U · sizes, less their mean and times √v, where a direction's penalty is its length.

    U is orthonormal. Directions have coefficients √v · `to_coefs` and the squared lengths `norm`
    in feature space; `origin` is the mean of the rows. `blur` is what rounding, of K and of sums
    over rows, makes of each size, and `least_ridge` what a ridge must exceed to be seen beside it.
    """

    U: Float
    sizes: Float
    to_coefs: Float
    norm: Float
    origin: Float
    blur: Float
    least_ridge: float

    @classmethod
    def of(cls, K: Float, rows: Labeled, penalty: str) -> Centered:
        """Of a weighted K, which is overwritten."""
        return _of_length(K, rows) if penalty == "rkhs" else _of_coefficients(K, rows)

    def bordered(self, rows: Labeled, mu: float) -> Bordered:
        """R = (G + μI)⁻¹Z and the rest, the eigenvalues of G being sizes². (S 88)

        What G does along s, the mean of all rows, is free, as long as Q holds its digits.
        """
        g, U, Z = self.sizes**2, self.U, rows.indicators()
        if U.shape[1] == len(U) - 1:
            g, U = np.append(g, g.max(initial=0.0)), np.hstack([U, rows.share[:, None]])
            shrunk = mu / (g + mu)
            R = U @ (shrunk[:, None] * (U.T @ Z)) / mu
            diagonal = U**2 @ shrunk / mu
        else:  # of all that is no eigenvector, nothing is taken off
            stays = g / (g + mu)
            R = (Z - U @ (stays[:, None] * (U.T @ Z))) / mu
            diagonal = (1.0 - U**2 @ stays) / mu
        Q = Z.T @ R
        return Bordered(R, (Q + Q.T) / 2, float((g.max(initial=0.0) + mu) / mu), diagonal)

    def features(self, rows: Labeled) -> tuple[Features, Float]:
        """What is solved in these coordinates, and the rows."""
        z = self.U * self.sizes / rows.root[:, None]
        to_coefs, ridge = rows.root[:, None] * self.to_coefs, np.eye(len(self.sizes))
        more = {"sizes": self.sizes, "blur": self.blur, "origin": self.origin}
        return Features.of_rows(z, rows, ridge, to_coefs, self.norm, **more), z


def _of_length(K: Float, rows: Labeled) -> Centered:
    """Where w is penalized by its length: K less its means is UkUᵀ, and features are U√k."""
    s, own = rows.share, np.diag(K).copy()
    mean = K @ s
    off = mean - (s @ mean) / 2 * s
    K -= np.outer(s, off) + np.outer(off, s)
    k, U, noise = _spectrum(K, own)
    U -= np.outer(s, s @ U)  # what is left of s by rounding meets all that the rows share
    sizes = np.sqrt(k)
    to_coefs = U / sizes
    origin = mean @ to_coefs / np.sqrt(rows.sizes.sum())
    blur = noise / sizes + len(U) * EPS * sizes
    return Centered(U, sizes, to_coefs, np.eye(len(k)), origin, blur, noise)


def _of_coefficients(K: Float, rows: Labeled) -> Centered:
    """Where coefficients are: kernel values, less their means over the rows, are features."""
    s = rows.share
    k, V, noise = _spectrum(K, np.diag(K).copy())
    shared = V.T @ s
    U, sizes, turn = np.linalg.svd((V - np.outer(s, shared)) * k, full_matrices=False)
    real = sizes > SURE * noise
    U, sizes, turn = U[:, real], sizes[real], turn[real]
    origin = turn @ (k * shared) / np.sqrt(rows.sizes.sum())
    norm = (turn * k) @ turn.T
    blur = noise + len(U) * EPS * sizes
    return Centered(U, sizes, V @ turn.T, norm, origin, blur, noise**2)


def _spectrum(K: Float, own: Float) -> tuple[Float, Float, float]:
    """Eigenvalues that are more than rounding, eigenvectors, and that rounding; K is overwritten.

    `own` is the diagonal that K had before it was centered. A kernel of few features (linear, or a
    polynomial of few columns) has a thin root F with K = FFᵀ, whose singular vectors cost little.
    """
    n, diagonal = len(K), np.diag(K).copy()
    rounding = n * EPS * float(own.max())
    # LAPACK reads columns: this is the upper triangle of K, of which the lower one stays
    root, order, rank, _ = dpstrf(K.T, tol=rounding, lower=1, overwrite_a=1)
    if rank <= n // 3:
        F = np.empty((n, rank))
        F[order - 1] = np.tril(root)[:, :rank]
        vectors, sizes, _ = np.linalg.svd(F, full_matrices=False)
        values = sizes**2
    else:
        K[np.diag_indices(n)] = diagonal
        values, vectors = eigh(K, lower=True, overwrite_a=True, check_finite=False)
    noise = rounding + 16 * EPS * float(values.max(initial=0.0))
    real = values > SURE * noise
    return values[real], vectors[:, real], noise
