"""The kernel discriminant on all rows: a Cholesky factor, or features of the centered kernel."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigh, solve_triangular
from scipy.linalg.lapack import dpstrf, dtrtri

from sortal.decision.geometry import EPS
from sortal.kernels.primal import (
    NOTHING,
    SURE,
    Features,
    Labeled,
    ReportProgress,
    Solution,
    class_scale,
    condition_of,
    orient,
    solve_features,
)

if TYPE_CHECKING:
    from sortal._typing import Float
    from sortal.kernels.model import KernelFunction


# Columns of a panel. Wide enough for matrix products at full speed, narrow enough that the next
# word of progress, or Ctrl-C, waits for less than a second at 20,000 rows.
PANEL = 512

# The share of aᵀKa that may be rounding.
_BLUR = 1e-9


@dataclass(frozen=True, eq=False)
class BorderedCholesky:
    """R = (K + μI)⁻¹Z, Q = ZᵀR and, for leaving out, the diagonal of (K + μI)⁻¹."""

    R: Float
    Q: Float
    condition: float
    diagonal: Float | None = None

    @classmethod
    def of(
        cls, K: Float, rows: Labeled, mu: float, tell: ReportProgress, *, diagonal: bool = False
    ) -> BorderedCholesky | None:
        """By Cholesky, in the lower triangle of K; the upper one stays as it is.

        None where the rounding of K shows beside so small a ridge: eigenvectors tell it from rank.
        """
        trace = float(np.trace(K))
        K[np.diag_indices(len(K))] += mu
        strips = (K[start : start + PANEL] for start in range(0, len(K), PANEL))
        norm = max(float(np.abs(strip).sum(axis=1).max()) for strip in strips)
        try:
            factor(K, tell)
        except np.linalg.LinAlgError:
            return None
        condition = condition_of(K, norm)
        Y = solve_triangular(K, rows.indicators(), lower=True, check_finite=False)
        R = solve_triangular(K, Y, lower=True, trans="T", check_finite=False)
        inverse = _inverse_diagonal(K) if diagonal else None
        made = cls(R, Y.T @ Y, condition, inverse)
        return made if made._sharp(mu, trace) else None

    def _sharp(self, mu: float, trace: float) -> bool:
        """Whether rounding in K stays small beside aᵀKa, for all combinations a of R's columns.

        Where K has no eigenvalue near zero but rounding, R holds Z/μ, and K ought to take it to 0.
        """
        here = np.diag(self.Q) > 0
        R, Q = self.R[:, here], self.Q[np.ix_(here, here)]
        squares = R.T @ R
        least = float(np.linalg.eigvalsh(Q - mu * squares)[0])  # RᵀKR = Q - μRᵀR
        return EPS * trace * float(np.linalg.eigvalsh(squares)[-1]) < _BLUR * least


def factor(A: Float, tell: ReportProgress) -> None:
    """A = LLᵀ in the lower triangle, panel by panel from the left; the upper one stays.

    Of each panel, what the panels before it explain is taken off in one product of matrices, so
    that all but a small part runs at the speed of these, and the work can be told of and ended.
    """
    n = len(A)
    for start in range(0, n, PANEL):
        stop = min(start + PANEL, n)
        known = A[start:stop, :start]
        corner = np.linalg.cholesky(A[start:stop, start:stop] - known @ known.T)
        lower = np.tril_indices(stop - start)
        A[start:stop, start:stop][lower] = corner[lower]
        if stop < n:
            below = A[stop:, start:stop] - A[stop:, :start] @ known.T
            A[stop:, start:stop] = solve_triangular(
                corner, below.T, lower=True, check_finite=False
            ).T
        tell(1.0 - (1.0 - stop / n) ** 2)


def _inverse_diagonal(L: Float) -> Float:
    """The diagonal of (LLᵀ)⁻¹, of which L is overwritten: sums of squares in rows of L⁻ᵀ."""
    upper = L.T  # LAPACK reads columns, in which this is the upper triangle
    inverse, info = dtrtri(upper, lower=0, overwrite_c=1)
    assert info == 0  # noqa: S101  (pivots are above 0)
    return np.array([float(row[i:] @ row[i:]) for i, row in enumerate(inverse)])


# --- Features of the centered kernel, in which the linear discriminant does the rest -------------
# With √v_i k(x_i, x_j) √v_j as K and s = √v / √Σv, the rows less their mean are those of (I -
# ssᵀ)K. What all rows share is taken off before ranks are decided: it may be large, and nothing
# varies along it. What is left and no larger than the rounding of K itself is none.


@dataclass(frozen=True, eq=False)
class CenteredFeatures:
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
    def of(cls, K: Float, rows: Labeled, penalty: str) -> CenteredFeatures:
        """Of a weighted K, which is overwritten."""
        return _of_length(K, rows) if penalty == "rkhs" else _of_coefficients(K, rows)

    def bordered(self, rows: Labeled, mu: float) -> BorderedCholesky:
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
        return BorderedCholesky(R, (Q + Q.T) / 2, float((g.max(initial=0.0) + mu) / mu), diagonal)

    def features(self, rows: Labeled) -> tuple[Features, Float]:
        """What is solved in these coordinates, and the rows."""
        z = self.U * self.sizes / rows.root[:, None]
        to_coefs, ridge = rows.root[:, None] * self.to_coefs, np.eye(len(self.sizes))
        made = Features.of_rows(z, rows, ridge, to_coefs, self.norm, self.blur)
        return replace(made, sizes=self.sizes, origin=self.origin), z


def _of_length(K: Float, rows: Labeled) -> CenteredFeatures:
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
    return CenteredFeatures(U, sizes, to_coefs, np.eye(len(k)), origin, blur, noise)


def _of_coefficients(K: Float, rows: Labeled) -> CenteredFeatures:
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
    return CenteredFeatures(U, sizes, V @ turn.T, norm, origin, blur, noise**2)


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


# --- The kernel discriminant on all rows: one Cholesky factor, and matrices of the classes -------
# With √v_i k(x_i, x_j) √v_j as K and the orthonormal indicators Z of the classes, the rows less
# the means of their classes are those of (I - ZZᵀ)K: centering is bordering by Z, and nothing but
# (K + μI)⁻¹Z is ever asked for.

# Rows and columns of K that are made at a time: a tile stays in the cache of a core.
TILE = 256


def kernel_matrix(
    kernel: KernelFunction, basis: Float, threads: int, tell: ReportProgress
) -> Float:
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
    K: Float, rows: Labeled, penalty: str, mu: float, most: int | None, tell: ReportProgress
) -> Solution:
    """The directions of a kernel matrix, which is overwritten."""
    weigh(K, rows.root)
    if penalty == "rkhs" and mu > 0:
        diagonal = np.diag(K).copy()
        bordered = BorderedCholesky.of(K, rows, mu, tell)
        if bordered is not None:
            return canonical(bordered, rows, mu, most)
        upper = np.triu(K, 1)
        K = upper + upper.T + np.diag(diagonal)
    features, _ = CenteredFeatures.of(K, rows, penalty).features(rows)
    return solve_features(features, mu, most)


def canonical(bordered: BorderedCholesky, rows: Labeled, mu: float, most: int | None) -> Solution:
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
