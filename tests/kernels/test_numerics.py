"""The loops beneath the kernel discriminant, one by one, against the obvious way."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sortal import KernelDiscriminant
from sortal.kernels import landmarks as kernel_space
from sortal.kernels import model as kernel_dense
from sortal.kernels import solve
from sortal.kernels.first_pass import Labeled
from sortal.kernels.landmarks import choose_landmarks
from sortal.kernels.leave_one_out import whitened_features
from sortal.kernels.model import KernelFunction, kernel_matrix, no_progress, positive
from sortal.kernels.solve import (
    Dual,
    Features,
    condition_of,
    factor,
    solve_features,
    solved_form,
)

Float = np.ndarray


def rows(n: int, d: int, seed: int = 0) -> Float:
    return np.random.default_rng(seed).normal(size=(n, d))


def spd(n: int) -> Float:
    X = rows(n, n)
    return np.asarray(X @ X.T + np.eye(n))


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiles of a few rows, so that small matrices have many."""
    monkeypatch.setattr(kernel_dense, "TILE", 5)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("name", ["rbf", "laplacian", "poly", "linear"])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_kernel_matrix_by_tiles(name: str, threads: int) -> None:
    kernel, X, told = KernelFunction(name, 0.7, 3, 0.5), rows(23, 3), list[float]()
    K = kernel_matrix(kernel, X, threads, told.append)
    assert_array_equal(K, K.T)
    assert_array_equal(np.diag(K), kernel.diagonal(X))
    assert_allclose(K, kernel.matrix(X, X), rtol=1e-12, atol=1e-14)
    assert told[-1] == 1


def test_kernels_by_their_formulas() -> None:
    A, B = rows(4, 3), rows(5, 3, 1)
    apart = A[:, None] - B
    squares = (apart**2).sum(axis=2)
    assert_allclose(KernelFunction("rbf", 0.3).matrix(A, B), np.exp(-0.3 * squares), rtol=1e-14)
    far = KernelFunction("rbf", 1e7).matrix(A, A + 1e-4)  # by differences
    assert_allclose(np.diag(far), np.exp(-1e7 * 3e-8), rtol=1e-9)
    sums = np.abs(apart).sum(axis=2)
    assert_allclose(KernelFunction("laplacian", 0.3).matrix(A, B), np.exp(-0.3 * sums), rtol=1e-14)
    poly = KernelFunction("poly", 0.3, 3, 2.0)
    assert_allclose(poly.matrix(A, B), (0.3 * A @ B.T + 2) ** 3, rtol=1e-13)
    assert_allclose(KernelFunction("linear").matrix(A, B), A @ B.T, rtol=1e-14)


@pytest.mark.parametrize("n", [1, 6, 7, 8, 40])
def test_a_factor_by_panels(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    monkeypatch.setattr(solve, "_PANEL", 7)
    z = np.random.default_rng(n).normal(size=(n, n + 1))
    A = z @ z.T + np.eye(n)
    made = A.copy()
    assert factor(made)
    assert_allclose(np.tril(made), np.linalg.cholesky(A), rtol=1e-9, atol=1e-12)
    assert_array_equal(np.triu(made, 1), np.triu(A, 1))
    assert not factor(-A)


@pytest.mark.parametrize("columns", [2, 40])
def test_of_few_features_are_features_and_of_many_the_dual(columns: int) -> None:
    """Both with the coefficients of the inverse: μa / v + Ka is one number a class."""
    X, weight = rows(40, columns), np.arange(1.0, 41.0)
    mu = 20.0
    labeled, K = Labeled(np.arange(40) % 2, weight, 2), X @ X.T
    form = solved_form(K.copy, labeled, "rkhs", mu, diagonal=True)
    assert isinstance(form, Features) == (columns == 2)
    solution = form.solution() if isinstance(form, Dual) else solve_features(form, mu)
    a = solution.coefs / weight[:, None]
    left = mu * a + K @ solution.coefs
    for c in range(2):
        own = left[np.arange(40) % 2 == c]
        assert_allclose(own, np.broadcast_to(own[:1], own.shape), atol=1e-11 * np.abs(left).max())
    white = form.whitened() if isinstance(form, Dual) else whitened_features(form, mu)
    assert white is not None
    root, Z = np.sqrt(weight), labeled.indicators()
    assert_allclose(Z.T @ Z, np.eye(2), atol=1e-15)
    inverse = np.linalg.inv(root[:, None] * K * root + mu * np.eye(40))
    R = inverse @ Z
    P = inverse - R @ np.linalg.solve(Z.T @ R, R.T)
    assert_allclose(white.missed, mu * np.diag(P), atol=1e-11)


def test_beside_a_kernel_of_few_features_a_small_ridge_shows_rounding() -> None:
    """Then the least coefficients are taken, not those with parts that K ought to take to 0."""
    X = rows(40, 2)
    labeled = Labeled(np.arange(40) % 2, np.ones(40), 2)
    form = solved_form((X @ X.T).copy, labeled, "rkhs", 1e-8)
    assert isinstance(form, Features)
    assert np.abs(solve_features(form, 1e-8).coefs).max() < 1
    assert np.abs(solve_features(form, 1.0).coefs).max() > 1e-3


def test_a_condition_number() -> None:
    A = spd(20)
    found = condition_of(np.linalg.cholesky(A), float(np.abs(A).sum(axis=0).max()))
    truth = np.linalg.cond(A, 1)
    assert truth / 3 < found <= truth * (1 + 1e-9)


def test_a_symmetric_matrix_is_positive_as_it_is() -> None:
    K = spd(6)
    assert_array_equal(positive(K, "K"), (K + K.T) / 2)


# --- Landmarks -----------------------------------------------------------------------------------


def chances(K: Float, m: int) -> dict[tuple[int, ...], float]:
    """The probability of each set of m pivots, drawn one by one by what is left of the diagonal."""
    found = dict.fromkeys(combinations(range(len(K)), m), 0.0)
    for order in permutations(range(len(K)), m):
        left, chance = K.copy(), 1.0
        for i in order:
            chance *= left[i, i] / np.trace(left)
            left = left - np.outer(left[:, i], left[i]) / left[i, i]
        found[tuple(sorted(order))] += chance
    return found


def test_landmarks_have_the_distribution_of_random_pivots() -> None:
    """Though they are proposed many at a time: 4 standard errors of a frequency at most."""
    X = np.array([[2.0, 0.1], [1.0, 1.0], [0.2, 1.5], [-0.5, 0.4]])
    kernel, n = KernelFunction("poly", 1.0, 2, 0.5), 1000
    wanted = chances(kernel.matrix(X, X), 2)
    counts = dict.fromkeys(wanted, 0)
    for seed in range(n):
        chosen = choose_landmarks(kernel, X, 2, seed, no_progress)
        counts[tuple(sorted(chosen.tolist()))] += 1
    for pair, chance in wanted.items():
        assert abs(counts[pair] / n - chance) <= 4 * np.sqrt(chance * (1 - chance) / n)


def test_landmarks_end_where_all_rows_are_described() -> None:
    X = rows(50, 3)
    X[25:] = X[:25]
    chosen = choose_landmarks(KernelFunction("linear"), X, 20, 0, no_progress)
    assert len(chosen) == 3
    chosen = choose_landmarks(KernelFunction("laplacian", 1.0), X, 50, 0, no_progress)
    assert_array_equal(np.sort(chosen % 25), np.arange(25))
    again = choose_landmarks(KernelFunction("laplacian", 1.0), X, 50, 0, no_progress)
    assert_array_equal(chosen, again)


@pytest.mark.parametrize(
    ("n", "n_classes", "blocks"),
    [(0, 2, 0), (1, 1, 1), (4_000, 2, 1), (12_000, 9, 2), (100_000, 2, 10), (100_000, 10, 2)],
)
def test_blocks_are_longer_where_there_are_more_classes(
    n: int, n_classes: int, blocks: int
) -> None:
    assert -(-n // kernel_space.block_rows(n, n_classes)) == blocks


def test_features_as_coordinates_or_as_kernel_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which of the two is used changes digits only, and so do tiles and strips."""
    X, y = rows(300, 3), np.arange(300) % 3
    X[y == 1] += 1
    told: dict[str, Any] = {"solver": "landmarks", "n_landmarks": 20, "gamma": 0.5}
    plain = KernelDiscriminant(**told).fit(X, y)
    assert plain._fitted.plan.space is not None
    assert not plain._fitted.plan.space.turned
    monkeypatch.setattr(kernel_space, "_WORST", 1.0)
    monkeypatch.setattr(kernel_space, "_STRIP", 5)
    monkeypatch.setattr(kernel_space, "_MOST_ROWS", 40)
    turned = KernelDiscriminant(**told).fit(X, y)
    assert turned._fitted.plan.space is not None
    assert turned._fitted.plan.space.turned
    assert_array_equal(turned.basis_ids_, plain.basis_ids_)
    assert_allclose(turned.transform(X), plain.transform(X), rtol=1e-9, atol=1e-11)
    assert_allclose(turned.loo_proba(X, y), plain.loo_proba(X, y), rtol=1e-8)
