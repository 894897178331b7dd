"""The kernel discriminant on all rows: one Cholesky factor, and matrices of the classes.

With √v_i k(x_i, x_j) √v_j as K and the orthonormal indicators Z of the classes, the rows less the
means of their classes are those of (I - ZZᵀ)K: centering is bordering by Z, and nothing but
(K + μI)⁻¹Z is ever asked for.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from sortal.learners.kernel_bordered import Bordered
from sortal.learners.kernel_centered import Centered
from sortal.learners.kernel_primal import solve_features
from sortal.learners.kernel_solution import (
    NOTHING,
    Labeled,
    Solution,
    Tell,
    class_scale,
    orient,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.models.kernel_functions import KernelFunction

    Float = NDArray[np.float64]

# Rows and columns of K that are made at a time: a tile stays in the cache of a core.
TILE = 256


def kernel_matrix(kernel: KernelFunction, basis: Float, threads: int, tell: Tell) -> Float:
    """K of all rows, exactly symmetric."""
    n = len(basis)
    K = np.empty((n, n))

    def fill(start: int) -> None:
        stop = min(start + TILE, n)
        for left in range(0, stop, TILE):
            right = min(left + TILE, stop)
            tile = kernel.matrix(basis[start:stop], basis[left:right])
            if left == start:
                tile = (tile + tile.T) / 2  # a product may round u'u otherwise than uu'
            K[start:stop, left:right] = tile
            K[left:right, start:stop] = tile.T

    # short strips first: the memory of K is then taken little by little, and the first word is soon
    with ThreadPoolExecutor(threads) as pool:
        for done, _ in enumerate(pool.map(fill, range(0, n, TILE))):
            tell(min(1.0, (done + 1) * TILE / n))
    K[np.diag_indices(n)] = kernel.diagonal(basis)
    return K


def weigh(K: Float, root: Float) -> Float:
    """√v_i K_ij √v_j, in place."""
    if not (root == 1.0).all():
        K *= root
        K *= root[:, None]
    return K


def solve_dense(
    K: Float, rows: Labeled, penalty: str, mu: float, most: int | None, tell: Tell
) -> Solution:
    """The directions of a kernel matrix, which is overwritten."""
    weigh(K, rows.root)
    if penalty == "rkhs" and mu > 0:
        diagonal = np.diag(K).copy()
        bordered = Bordered.of(K, rows, mu, tell)
        if bordered is not None:
            return canonical(bordered, rows, mu, most)
        upper = np.triu(K, 1)
        K = upper + upper.T + np.diag(diagonal)
    features, _ = Centered.of(K, rows, penalty).features(rows)
    return solve_features(features, mu, most)


def canonical(bordered: Bordered, rows: Labeled, mu: float, most: int | None) -> Solution:
    """Ma = λ(N + μK)a by a C × C eigenproblem, C being the classes. (ZM 20.21)

    With Q = Zᵀ(K + μI)⁻¹Z the class means have, by (S_w + μI)⁻¹, the inner products
    T = (μQ)⁻¹ - I, each times √(n_c n_d); less their mean, the eigenvectors b of T are the
    canonical directions, with the eigenvalues λ. (S 86) The coefficients are
    a = (K + μI)⁻¹Z Q⁻¹b / (μ√λ), and the projections (Z - μR)Q⁻¹b / (μ√λ). (S 87)
    """
    here = rows.sizes > 0
    share = np.sqrt(rows.sizes[here] / rows.sizes.sum())
    inverse = np.linalg.inv(bordered.Q[np.ix_(here, here)])
    T = inverse / mu - np.eye(len(share))
    H = np.eye(len(share)) - np.outer(share, share)
    values, vectors = np.linalg.eigh(H @ ((T + T.T) / 2) @ H)
    values, vectors = values[::-1], vectors[:, ::-1]
    noise = NOTHING * max(values.max(initial=0.0), NOTHING * np.abs(inverse / mu).max())
    n_real = min(int((values > noise).sum()), len(share) - 1, most or len(share))
    values, vectors = values[:n_real], H @ vectors[:, :n_real]
    weights = inverse @ vectors / (mu * np.sqrt(values))
    R, Z = bordered.R[:, here], rows.indicators()[:, here]
    coefs, fitted = R @ weights, (Z - mu * R) @ weights
    norms = np.sqrt(np.einsum("ij,ij->j", coefs, fitted))
    coefs, fitted = coefs / norms, fitted / norms
    projected = fitted / rows.root[:, None]
    means = rows.means(projected)
    return orient(
        Solution(
            coefs * rows.root[:, None],
            values * class_scale(rows.sizes),
            1.0 / norms,
            means,
            rows.scatters(projected, means),
            bordered.condition,
        )
    )
