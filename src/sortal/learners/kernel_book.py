"""Kernel discriminant analysis by the book, line by line: for few rows, and to check others by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Float = NDArray[np.float64]
    Int = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Matrices:
    """K, and of each class its columns of K, their mean and scatter; M, N, and the penalty P.

    `present` are the classes that have rows, in whose order the parts are; `penalized` is N + P.
    """

    K: Float
    present: tuple[int, ...]
    by_class: tuple[Float, ...]
    means: Float
    between: Float
    scatters: tuple[Float, ...]
    within: Float
    penalized: Float


def matrices(
    K: Float, codes: Int, weight: Float, n_classes: int, penalty: str, mu: float
) -> Matrices:
    """Lines 1 to 6 of the algorithm, and the penalty: μK, or ε / weight. (ZM Alg. 20.2)"""
    present = np.unique(codes)
    members = [np.flatnonzero(codes == c) for c in present]
    parts = tuple(K[:, rows] for rows in members)
    weights = [weight[rows] for rows in members]
    means = np.array([class_mean(*pair) for pair in zip(parts, weights, strict=True)])
    scatters = tuple(class_scatter(*pair) for pair in zip(parts, weights, strict=True))
    sizes, N = np.array([own.sum() for own in weights]), within(scatters)
    P = mu * K if penalty == "rkhs" else np.diag(mu / weight)
    M = between(means, sizes, n_classes)
    return Matrices(K, tuple(present.tolist()), parts, means, M, scatters, N, N + P)


def class_mean(part: Float, weight: Float) -> Float:
    """m_c: for each row its mean kernel value with the rows of a class. (ZM 20.17)"""
    return np.asarray(part @ weight / weight.sum())


def between(means: Float, sizes: Float, n_classes: int) -> Float:
    """M = (m_1 - m_2)(m_1 - m_2)ᵀ. (ZM 20.18)

    Of more classes Σ_c n_c (m_c - m)(m_c - m)ᵀ, with m the mean over all rows, also where only
    two of them have rows.
    """
    if n_classes == 2:
        d = means[0] - means[1]
        return np.outer(d, d)
    away = means - sizes @ means / sizes.sum()
    return np.asarray(away.T @ (sizes[:, None] * away))


def class_scatter(part: Float, weight: Float) -> Float:
    """N_c = K^c (V - vvᵀ / n_c) (K^c)ᵀ, v the weights of the rows and V = diag(v). (ZM 20.19)"""
    V = np.diag(weight)
    return np.asarray(part @ (V - np.outer(weight, weight) / weight.sum()) @ part.T)


def within(scatters: tuple[Float, ...]) -> Float:
    """N = Σ_c N_c. (ZM 20.20)"""
    return np.asarray(np.sum(scatters, axis=0))


def project_means(a: Float, means: Float) -> Float:
    """aᵀm_c, a row a class and a column a direction. (ZM 20.16)"""
    return np.asarray(means @ a)


def both_sides(made: Matrices, a: Float, eigenvalues: Float) -> tuple[Float, Float]:
    """Ma and λ(N + P)a, which are equal; NaN where λ is infinite. (ZM 20.21)"""
    finite = np.isfinite(eigenvalues)
    right = np.where(finite, eigenvalues, 0.0) * (made.penalized @ a)
    return np.asarray(made.between @ a), np.where(finite, right, np.nan)


def project(a: Float, K: Float) -> Float:
    """Σ_j a_j k(x_j, x) of each row x, a column of K each. (ZM 20.22)"""
    return np.asarray(K.T @ a)


def judge(means: Float, scatters: Float, sizes: Float) -> Float:
    """J = (m_1 - m_2)² / (s_1² + s_2²) of each direction, from projections alone. (ZM 20.11)

    Of more classes Σ_c n_c (m_c - m)² above. No ridge enters; without scatter J is infinite.
    """
    if len(means) == 2:
        apart = (means[0] - means[1]) ** 2
    else:
        apart = sizes @ (means - sizes @ means / sizes.sum()) ** 2
    inside = scatters.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(inside > 0, apart / inside, np.inf))
