"""The kernel discriminant by the eigenvectors of K: for any penalty, and for none.

Along an eigenvector with eigenvalue k the rows have the squared length k in feature space, and k²
where the values of the kernel themselves are the features. The first is what the penalty of the
norm of w sees, the second what the penalty of the coefficients does: K² in the place of K.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigh
from scipy.linalg.lapack import dpstrf

from sortal.learners.kernel_bordered import Bordered
from sortal.learners.kernel_primal import Features, solve_features
from sortal.models.geometry import EPS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.learners.kernel_solution import Labeled, Solution

    Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The eigenvalues of K that are more than rounding, and their eigenvectors."""

    values: Float
    vectors: Float

    @classmethod
    def of(cls, K: Float) -> Spectrum:
        """Of a symmetric K, which is overwritten.

        A kernel of few features (linear, or a polynomial of few columns) has a thin root F with
        K = FFᵀ, and its eigenvectors cost little: those of FᵀF are enough.
        """
        n, own = len(K), np.diag(K).copy()
        # LAPACK reads columns: this is the upper triangle of K, of which the lower one stays
        root, order, rank, _ = dpstrf(K.T, tol=n * EPS * own.max(), lower=1, overwrite_a=1)
        if rank <= n // 3:
            F = np.empty((n, rank))
            F[order - 1] = np.tril(root)[:, :rank]
            values, turn = eigh(F.T @ F, overwrite_a=True, check_finite=False)
            vectors = F @ turn / np.sqrt(values)
        else:
            K[np.diag_indices(n)] = own
            values, vectors = eigh(K, lower=True, overwrite_a=True, check_finite=False)
        real = values > n * EPS * values.max(initial=0.0)
        return cls(values[real], vectors[:, real])

    def gram(self, penalty: str) -> Float:
        """The squared lengths along the eigenvectors that a penalty sees. (S 88)"""
        return self.values if penalty == "rkhs" else self.values**2

    def bordered(self, rows: Labeled, penalty: str, mu: float) -> Bordered:
        """R = (G + μI)⁻¹Z and the rest, G being K or, for the coefficients, K²."""
        g, U, Z = self.gram(penalty), self.vectors, rows.indicators()
        stays = g / (g + mu)
        if U.shape[0] == U.shape[1]:
            shrunk = mu / (g + mu)
            R = U @ (shrunk[:, None] * (U.T @ Z)) / mu
            diagonal = U**2 @ shrunk / mu
        else:  # of all that is no eigenvector, nothing is taken off
            R = (Z - U @ (stays[:, None] * (U.T @ Z))) / mu
            diagonal = (1.0 - U**2 @ stays) / mu
        Q = Z.T @ R
        return Bordered(R, (Q + Q.T) / 2, float((g.max() + mu) / mu), diagonal)


def solve_spectrum(
    spectrum: Spectrum, rows: Labeled, penalty: str, mu: float, most: int | None
) -> Solution:
    """The directions of weighted K by its eigenvectors."""
    return solve_features(spectral_features(spectrum, rows, penalty)[0], mu, most)


def spectral_features(spectrum: Spectrum, rows: Labeled, penalty: str) -> tuple[Features, Float]:
    """Rows in the coordinates of the eigenvectors: what is solved there, and the rows."""
    k, U = spectrum.values, spectrum.vectors
    z = U * np.sqrt(spectrum.gram(penalty)) / rows.root[:, None]
    to_coefs = rows.root[:, None] * (U * (1.0 / np.sqrt(k) if penalty == "rkhs" else 1.0))
    norm = np.ones(len(k)) if penalty == "rkhs" else k
    return Features.of_rows(z, rows, np.eye(len(k)), to_coefs, np.diag(norm)), z
