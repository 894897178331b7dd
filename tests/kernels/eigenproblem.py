"""The eigenproblem of the kernel discriminant in full, for the oracle: no matrix is saved.

Every matrix of the book is formed: the class means m_c of kernel columns, M, N_c, N and the
penalty P. The generalized eigenproblem is solved over the range of the penalty, where N + P has an
inverse. Nothing is shared with the library.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Float: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]

VARIANCE_FLOOR = 1e-9
# Tables of the tests either lie on a plane of the feature space, or clearly off it.
NOTHING = 1e-10


# --- The book's matrices -------------------------------------------------------------------------


def class_mean(k: Float, v: Float, own: Mask) -> Float:
    """m_c, the mean of the columns of a class (ZM 20.17)."""
    return np.asarray(sum(v[i] * k[:, i] for i in np.flatnonzero(own)) / v[own].sum())


def class_scatter(k: Float, v: Float, own: Mask) -> Float:
    """N_c = Σ v_i (k_i − m_c)(k_i − m_c)ᵀ (ZM 20.19)."""
    m = class_mean(k, v, own)
    found = np.zeros((len(k), len(k)))
    for i in np.flatnonzero(own):
        found += v[i] * np.outer(k[:, i] - m, k[:, i] - m)
    return found


def kernel_values(name: Any, A: Float, B: Float, gamma: float, degree: int, coef0: float) -> Float:
    """k(a, b) of all pairs, from their differences or products."""
    if callable(name):
        return np.asarray(name(A, B))
    difference = A[:, None, :] - B[None, :, :]
    if name == "rbf":
        return np.asarray(np.exp(-gamma * (difference**2).sum(axis=2)))
    if name == "laplacian":
        return np.asarray(np.exp(-gamma * np.abs(difference).sum(axis=2)))
    product = (A[:, None, :] * B[None, :, :]).sum(axis=2)
    return np.asarray(product if name == "linear" else (gamma * product + coef0) ** degree)


# --- Directions ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows in kernel values, their weights and classes, and a penalty μR of coefficients."""

    k: Float  # (basis, rows)
    K_basis: Float
    R: Float
    mu: float
    v: Float
    codes: NDArray[np.intp]
    n_classes: int

    @cached_property
    def n(self) -> Float:
        return np.array([self.v[self.codes == c].sum() for c in range(self.n_classes)])

    @cached_property
    def present(self) -> list[int]:
        return [c for c in range(self.n_classes) if self.n[c] > 0]

    @cached_property
    def means(self) -> Float:
        """m_c, a row a class; zero for a class without rows."""
        found = np.zeros((self.n_classes, len(self.k)))
        for c in self.present:
            found[c] = class_mean(self.k, self.v, self.codes == c)
        return found

    @cached_property
    def spread(self) -> Float:
        """√n_c (m_c − m), a row a class."""
        m = self.n @ self.means / self.n.sum()
        return np.asarray(np.sqrt(self.n)[:, None] * (self.means - m))

    @property
    def between(self) -> Float:
        """M: that of the book for two classes, the scatter of the class means for more."""
        if self.n_classes == 2:
            d = self.means[0] - self.means[1]
            return np.outer(d, d)
        return np.asarray(self.spread.T @ self.spread)

    @cached_property
    def within(self) -> Float:
        """N."""
        scatters = [class_scatter(self.k, self.v, self.codes == c) for c in self.present]
        return np.asarray(sum(scatters))

    @property
    def penalty(self) -> Float:
        """P."""
        return np.asarray(self.mu * self.R)

    @cached_property
    def root(self) -> Float:
        """T with TᵀRT = I over the range of R, which holds all k_i, and over their span.

        Outside of the span of Tᵀk_i every quadratic form but the penalty is zero.
        """
        values, vectors = np.linalg.eigh(self.R)
        kept = values > 1e-13 * values.max()
        T = vectors[:, kept] / np.sqrt(values[kept])
        span, sizes, _ = np.linalg.svd(T.T @ (self.k * (self.v > 0)), full_matrices=False)
        return np.asarray(T @ span[:, sizes > 1e-13 * sizes.max()])

    @cached_property
    def solution(self) -> tuple[Float, Float]:
        """a, a column a direction with aᵀKa = 1, and λ."""
        z = self.root.T @ self.k
        S = np.zeros((len(z), len(z)))
        for i, c in enumerate(self.codes):
            if self.v[i] > 0:
                d = z[:, i] - self.root.T @ self.means[c]
                S += self.v[i] * np.outer(d, d)
        D = self.spread @ self.root
        b, eigenvalues = _ridged(S, D, self.mu) if self.mu > 0 else _limit(S, D)
        most = max(len(self.present) - 1, 0)
        a, eigenvalues = (self.root @ b)[:, :most], eigenvalues[:most]
        a = a / np.sqrt(np.einsum("jq,ji,iq->q", a, self.K_basis, a))
        a = a * np.where((self.means[0] - self.means[-1]) @ a < 0, -1.0, 1.0)
        if self.n_classes == 2:
            eigenvalues = eigenvalues * self.n.sum() / self.n.prod()
        return a, eigenvalues

    def lengths(self, a: Float, eigenvalues: Float) -> Float:
        """√aᵀ(N + P)a, or the least that is assumed where the means differ and no row does."""
        inside = np.einsum("jq,ji,iq->q", a, self.within + self.penalty, a)
        apart = ((self.spread @ a) ** 2).sum(axis=0)
        return np.asarray(np.sqrt(np.where(np.isinf(eigenvalues), VARIANCE_FLOOR * apart, inside)))


def _ridged(S: Float, D: Float, mu: float) -> tuple[Float, Float]:
    """DᵀD b = λ (S + μI) b: b = (S + μI)⁻¹Dᵀq, q an eigenvector of D (S + μI)⁻¹ Dᵀ."""
    solved = np.linalg.solve(S + mu * np.eye(len(S)), D.T)
    values, q = np.linalg.eigh(D @ solved)
    order = [j for j in np.argsort(-values) if values[j] > NOTHING * values.max()]
    return solved @ q[:, order], values[order]


def _limit(S: Float, D: Float) -> tuple[Float, Float]:
    """The same for μ → 0, where (S + μI)⁻¹ is P0/μ + S⁺ + … with P0 onto where S is zero.

    Eigenvectors q of D P0 Dᵀ have infinite λ. The others are eigenvectors of D S⁺ Dᵀ among what
    is left, and get a part of the order μ from the former, which P0/μ makes finite.
    """
    s, Q = np.linalg.eigh(S)
    varies = s > NOTHING * (s.max(initial=0.0) + (D**2).sum())
    inverse = (Q[:, varies] / s[varies]) @ Q[:, varies].T
    P0 = Q[:, ~varies] @ Q[:, ~varies].T
    far, q = np.linalg.eigh(D @ P0 @ D.T)
    apart = [j for j in np.argsort(-far) if far[j] > NOTHING * (D**2).sum()]
    first = P0 @ D.T @ q[:, apart]
    rest = np.delete(q, apart, axis=1)
    E = D @ inverse @ D.T
    near, turn = np.linalg.eigh(rest.T @ E @ rest)
    least = NOTHING * (D**2).sum() / s.max(initial=0.0) if varies.any() else np.inf
    order = [j for j in np.argsort(-near) if near[j] > least]
    q0 = rest @ turn[:, order]
    back = (q[:, apart] / far[apart]) @ q[:, apart].T
    then = inverse @ D.T @ q0 - P0 @ D.T @ back @ E @ q0
    return np.hstack([first, then]), np.append(np.full(len(apart), np.inf), near[order])
