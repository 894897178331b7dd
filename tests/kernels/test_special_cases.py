"""The kernel discriminant beside learners that it becomes in special cases."""

from typing import TypeAlias

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import KernelCenterer
from tests.kernels.oracle import Oracle
from tests.kernels.tables import (
    KERNELS,
    SOLVERS,
    as_given,
    close,
    fitted,
    make_table,
    pairs,
    same_posteriors,
)

from sortal import KernelDiscriminant
from sortal.kernels.learn import SolverChoice

Float: TypeAlias = NDArray[np.float64]


def features(X: Float) -> Float:
    """φ(x) = (√2 x1x2, x1², x2²)."""
    return np.column_stack([np.sqrt(2) * X[:, 0] * X[:, 1], X[:, 0] ** 2, X[:, 1] ** 2])


# --- Spaces that can be written down -------------------------------------------------------------


@pairs(n_classes=[2, 3, 4], solver=SOLVERS, ridge=[1e-4, 0.02, 1.0])
def test_rkhs_is_the_linear_discriminant_with_a_rounder_covariance(
    n_classes: int, solver: SolverChoice, ridge: float
) -> None:
    """Σ = (S + μI) / (N − C) in feature space, μ = ridge · Σ ‖φ(x)‖²."""
    X, y = make_table(4, n_classes, 2)
    phi, classes = features(X), np.unique(y)
    means = np.array([phi[y == c].mean(axis=0) for c in classes])
    residuals = phi - means[np.searchsorted(classes, y)]
    mu = ridge * (phi**2).sum()
    sigma = (residuals.T @ residuals + mu * np.eye(3)) / (len(y) - n_classes)
    model = KernelDiscriminant("poly", ridge=ridge, solver=solver).fit(X, y)
    assert model.mu_ == pytest.approx(mu, rel=1e-12)
    shares = [np.mean(y == c) for c in classes]
    joint = np.array([
        [np.log(pi) - 0.5 * (x - m) @ np.linalg.solve(sigma, x - m)
         for m, pi in zip(means, shares, strict=True)] for x in phi
    ])  # fmt: skip
    logs = joint - np.log(np.exp(joint).sum(axis=1, keepdims=True))
    same_posteriors(model.predict_log_proba(X), logs)


# --- Kernel ridge regression ---------------------------------------------------------------------


@pairs(kernel=KERNELS, ridge=[1e-3, 0.1], targets=[(1.0, -1.0), (5.0, 2.0)])
def test_two_classes_are_kernel_ridge_regression(
    kernel: str, ridge: float, targets: tuple[float, float]
) -> None:
    """The regression on any two labels, with an intercept, has the direction of rkhs."""
    X, y = make_table(5, 2)
    t = np.where(y == "ash", *targets)
    other = np.vstack([X, X[:7] + 0.4])
    given, asked = as_given(KERNELS[kernel], X, X), as_given(KERNELS[kernel], X, other)
    oracle = Oracle(given, y, **KERNELS[kernel], ridge=ridge)
    K, k = oracle.k(given), oracle.k(asked).T
    center = KernelCenterer().fit(K)
    regression = KernelRidge(alpha=oracle.mu, kernel="precomputed")
    regression.fit(center.transform(K), t - t.mean())
    f = regression.predict(center.transform(k))
    p = fitted(oracle).transform(asked)[:, 0]
    p = p - p[: len(X)].mean()
    close(p / np.linalg.norm(p), f / np.linalg.norm(f))


def test_multi_class_is_optimal_scoring() -> None:
    """λ/(1 + λ) are the squared correlations that the regression of class indicators explains."""
    X, y = make_table(7, 4)
    oracle = Oracle(X, y, "laplacian", ridge=0.05)
    K, n = oracle.k(X), len(y)
    H = np.eye(n) - 1 / n
    E = (y[:, None] == np.unique(y)).astype(float)
    Z = E / np.sqrt(E.sum(axis=0))
    A = np.linalg.solve(H @ K @ H + oracle.mu * np.eye(n), H @ Z)
    theta = np.linalg.eigvalsh(Z.T @ H @ (H @ Z - oracle.mu * A))[::-1][:3]
    model = fitted(oracle)
    assert_allclose(model.eigenvalues_ / (1 + model.eigenvalues_), theta, rtol=1e-9)
