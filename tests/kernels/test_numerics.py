"""The loops beneath the kernel discriminant, one by one, against the obvious way."""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sortal import KernelDiscriminant
from sortal.kernels import basis as kernel_space
from sortal.kernels import solve as kernel_bordered
from sortal.kernels import solve as kernel_dense
from sortal.kernels.basis import choose_landmarks
from sortal.kernels.model import KernelFunction, positive
from sortal.kernels.primal import Labeled, condition_of, no_progress
from sortal.kernels.solve import BorderedCholesky, CenteredFeatures, factor, kernel_matrix

Float = np.ndarray


def rows(n: int, d: int, seed: int = 0) -> Float:
    return np.random.default_rng(seed).normal(size=(n, d))


def spd(n: int) -> Float:
    X = rows(n, n)
    return np.asarray(X @ X.T + np.eye(n))


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Panels and tiles of a few rows, so that small matrices have many."""
    monkeypatch.setattr(kernel_bordered, "PANEL", 7)
    monkeypatch.setattr(kernel_dense, "TILE", 5)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("n", [1, 6, 7, 8, 40])
def test_a_factor_by_panels(n: int) -> None:
    A = spd(n)
    made, told = A.copy(), list[float]()
    factor(made, told.append)
    assert_allclose(np.tril(made), np.linalg.cholesky(A), rtol=1e-9, atol=1e-12)
    assert_array_equal(np.triu(made, 1), np.triu(A, 1))
    assert told == sorted(told)
    assert told[-1] == 1


@pytest.mark.usefixtures("narrow")
def test_who_is_told_can_end_a_factor() -> None:
    def stop(share: float) -> None:
        if share > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        factor(spd(40), stop)


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


def test_a_bordered_problem_is_that_of_the_inverse() -> None:
    K, codes = spd(30), np.arange(30) % 3
    labeled = Labeled(codes, np.ones(30), 3)
    made = BorderedCholesky.of(K.copy(), labeled, 0.5, no_progress, diagonal=True)
    assert made is not None
    inverse = np.linalg.inv(K + 0.5 * np.eye(30))
    Z = labeled.indicators()
    assert_allclose(Z.T @ Z, np.eye(3), atol=1e-15)
    assert_allclose(made.R, inverse @ Z, rtol=1e-9, atol=1e-12)
    assert_allclose(made.Q, Z.T @ inverse @ Z, rtol=1e-9, atol=1e-12)
    assert made.diagonal is not None
    assert_allclose(made.diagonal, np.diag(inverse), rtol=1e-9)
    by_vectors = CenteredFeatures.of(K.copy(), labeled, "rkhs").bordered(labeled, 0.5)
    assert_allclose(without_mean(by_vectors, labeled), without_mean(made, labeled), atol=1e-12)


def without_mean(made: BorderedCholesky, rows: Labeled) -> Float:
    """M⁻¹ - RQ⁻¹Rᵀ on the diagonal, and RQ⁻¹ less its mean: what centering K does not change."""
    assert made.diagonal is not None
    turned = made.R @ np.linalg.inv(made.Q)
    share = np.sqrt(rows.sizes / rows.sizes.sum())
    own = made.diagonal - (turned * made.R).sum(axis=1)
    return np.column_stack([own, turned - np.outer(turned @ share, share)])


@pytest.mark.parametrize("penalty", ["rkhs", "coefficients"])
def test_beside_a_kernel_of_few_features_a_small_ridge_is_not_sharp(penalty: str) -> None:
    X = rows(40, 2)
    labeled = Labeled(np.arange(40) % 2, np.ones(40), 2)
    assert BorderedCholesky.of(X @ X.T, labeled, 1e-8, no_progress) is None
    assert BorderedCholesky.of(X @ X.T, labeled, 1.0, no_progress) is not None
    thin = CenteredFeatures.of(X @ X.T, labeled, penalty)
    assert thin.U.shape == (40, 2)
    assert_allclose(thin.U.T @ thin.U, np.eye(2), atol=1e-14)
    own, G = X - X.mean(axis=0), X @ X.T
    centered = own @ own.T if penalty == "rkhs" else own @ X.T @ X @ own.T
    assert_allclose(thin.U * thin.sizes**2 @ thin.U.T, centered, atol=1e-11)
    G = G if penalty == "rkhs" else G @ G
    made, M = thin.bordered(labeled, 0.5), G + 0.5 * np.eye(40)
    inverse, Z = np.linalg.inv(M), labeled.indicators()
    wanted = BorderedCholesky(inverse @ Z, Z.T @ inverse @ Z, 1.0, np.diag(inverse))
    assert_allclose(without_mean(made, labeled), without_mean(wanted, labeled), atol=1e-12)


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
    monkeypatch.setattr(kernel_space, "_TILE", 17)
    monkeypatch.setattr(kernel_space, "_STRIP", 5)
    monkeypatch.setattr(kernel_space, "_MOST_ROWS", 40)
    turned = KernelDiscriminant(**told).fit(X, y)
    assert turned._fitted.plan.space is not None
    assert turned._fitted.plan.space.turned
    assert_array_equal(turned.basis_ids_, plain.basis_ids_)
    assert_allclose(turned.transform(X), plain.transform(X), rtol=1e-9, atol=1e-11)
    assert_allclose(turned.loo_proba(X, y), plain.loo_proba(X, y), rtol=1e-8)
