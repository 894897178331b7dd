"""Example 20.4 and Algorithm 20.2 of Zaki & Meira, to the printed digits.

The example is computed on the first two principal components of the four columns of the UCI file,
centered and not scaled, and its first class is versicolor, against the rest; the book says
otherwise. The signs of its projections are those of the other end of w.
"""

from functools import cache
from typing import Any, Final, TypeAlias

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from tests.kernels.tables import close

from sortal import FisherDiscriminant, KernelDiscriminant, datasets
from sortal.kernels.model import Penalty

Float: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]

every_penalty = pytest.mark.parametrize("penalty", ["rkhs", "coefficients"])
W: Final = (-0.5111, -0.7608, 0.4000)  # in the basis (√2 x1x2, x1², x2²)


@cache
def example() -> tuple[Float, Labels]:
    """150 irises on two principal components; x2 points as the book's w has it."""
    iris = datasets.iris()
    X = iris.drop(columns="species").to_numpy()
    centered = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(centered.T @ centered)
    A = centered @ vectors[:, np.argsort(-values)[:2]]
    A = A * np.sign(vectors[2, np.argsort(-values)[:2]])  # along long petals
    return A, np.where(iris["species"] == "versicolor", "c1", "c2")


def features(A: Float) -> Float:
    """φ(x) = (√2 x1x2, x1², x2²)."""
    return np.column_stack([np.sqrt(2) * A[:, 0] * A[:, 1], A[:, 0] ** 2, A[:, 1] ** 2])


@cache
def fit(penalty: Penalty, ridge: float) -> KernelDiscriminant:
    return KernelDiscriminant("poly", ridge=ridge, penalty=penalty).fit(*example())


def printed(model: Any, digits: float = 0.0) -> None:
    """The numbers of the example; half a unit of the last place, and more where a ridge is."""
    A, _ = example()
    assert model.classes_.tolist() == ["c1", "c2"]
    assert model.eigenvalues_.shape == (1,)
    assert model.eigenvalues_[0] == pytest.approx(0.05114, abs=5e-6 + 0.05 * digits)
    means, scatters = model.projected_means_[:, 0], model.projected_scatters_[:, 0]
    assert means[0] == pytest.approx(-0.3380, abs=5e-5 + digits)
    assert means[1] == pytest.approx(-4.4759, abs=5e-5 + 5 * digits)
    assert scatters[0] == pytest.approx(13.8617, abs=5e-5 + 14 * digits)
    assert scatters[1] == pytest.approx(320.934, abs=5e-4 + 321 * digits)
    w = features(A).T @ model.dual_coef_[:, 0]
    turned = W if w[0] < 0 else (-W[0], *W[1:])  # a second component that points the other way
    assert_allclose(w, turned, rtol=0, atol=5e-5 + digits)


class TestExample204:
    @every_penalty
    def test_without_a_ridge(self, penalty: str) -> None:
        printed(fit(penalty, 0.0))

    @pytest.mark.parametrize(("penalty", "ridge"), [("rkhs", 1e-9), ("coefficients", 1e-3)])
    def test_with_a_small_ridge(self, penalty: str, ridge: float) -> None:
        printed(fit(penalty, ridge))

    @pytest.mark.parametrize(
        ("penalty", "ridge", "digits"),
        [("rkhs", 1e-6, 1e-3), ("rkhs", 1e-3, 0.1), ("coefficients", 1.0, 1e-2)],
    )
    def test_a_larger_ridge_is_near(self, penalty: str, ridge: float, digits: float) -> None:
        """And no better: J(w) without the penalty is largest where there is none."""
        model = fit(penalty, ridge)
        printed(model, digits)
        gap = model.projected_means_[0, 0] - model.projected_means_[1, 0]
        found = gap**2 / model.projected_scatters_.sum()
        assert model.eigenvalues_[0] < found < fit(penalty, 0.0).eigenvalues_[0]
        assert found == pytest.approx(0.05114, abs=2e-4)

    @every_penalty
    def test_the_criterion_is_the_eigenvalue(self, penalty: str) -> None:
        """J(w) = (m1 − m2)² / (s1² + s2²) = 17.123 / 334.796 (ZM 20.11)."""
        model = fit(penalty, 0.0)
        gap = model.projected_means_[0, 0] - model.projected_means_[1, 0]
        assert gap**2 == pytest.approx(17.123, abs=2e-3)  # the book rounds 4.1379 to 4.138
        total = model.projected_scatters_.sum()
        assert total == pytest.approx(334.796, abs=5e-4)
        assert model.eigenvalues_[0] == pytest.approx(gap**2 / total, rel=1e-10)

    def test_the_other_order_of_the_classes_turns_w(self) -> None:
        A, y = example()
        turned = KernelDiscriminant("poly", ridge=0).fit(A, np.where(y == "c1", "z", "b"))
        model = fit("rkhs", 0.0)
        close(turned.projected_means_[::-1], -model.projected_means_)
        close(turned.transform(A), -model.transform(A))
        assert turned.projected_means_[0, 0] > turned.projected_means_[1, 0]

    def test_it_is_fisher_in_the_feature_space(self) -> None:
        A, y = example()
        model, fisher = fit("rkhs", 0.0), FisherDiscriminant().fit(features(A), y)
        close(model.eigenvalues_, fisher.eigenvalues_)
        close(model.transform(A), fisher.transform(features(A)))
        close(features(A).T @ model.dual_coef_, fisher.directions_)


class TestAlgorithm202:
    @every_penalty
    def test_line_by_line(self, penalty: str) -> None:
        """N is singular, of rank 3: its pseudo-inverse serves, as m1 − m2 lies in its range."""
        A, y = example()
        K = (A @ A.T) ** 2  # 1
        K_1, K_2 = K[:, y == "c1"], K[:, y == "c2"]  # 2
        n_1, n_2 = K_1.shape[1], K_2.shape[1]
        assert (n_1, n_2) == (50, 100)
        m_1, m_2 = K_1 @ np.ones(n_1) / n_1, K_2 @ np.ones(n_2) / n_2  # 3
        M = np.outer(m_1 - m_2, m_1 - m_2)  # 4
        N_1 = K_1 @ (np.eye(n_1) - np.ones((n_1, n_1)) / n_1) @ K_1.T  # 5
        N_2 = K_2 @ (np.eye(n_2) - np.ones((n_2, n_2)) / n_2) @ K_2.T
        N = N_1 + N_2  # 6
        assert np.linalg.matrix_rank(N, 1e-10 * np.linalg.norm(N)) == 3
        values, vectors = np.linalg.eig(np.linalg.pinv(N, 1e-12) @ M)  # 7
        best = int(np.argmax(values.real))
        eigenvalue, a = values[best].real, vectors[:, best].real
        a = a / np.sqrt(a @ K @ a)  # 8
        a = a * np.sign(a @ (m_1 - m_2))
        model = fit(penalty, 0.0)
        assert model.eigenvalues_[0] == pytest.approx(eigenvalue, rel=1e-8)
        close(model.transform(A)[:, 0], K @ a)
        close(model.projected_means_[:, 0], [a @ m_1, a @ m_2])
        close(model.projected_scatters_[:, 0], [a @ N_1 @ a, a @ N_2 @ a])
        found = model.dual_coef_[:, 0]
        assert found.shape == (150,)
        assert found @ K @ found == pytest.approx(1.0, abs=1e-9)
        close(M @ found, model.eigenvalues_[0] * (N @ found), 1e-7)
        if penalty == "coefficients":  # of all solutions N⁺(m1 − m2) is the shortest
            close(found, a, 1e-7)

    def test_points_are_projected_by_2022(self) -> None:
        """wᵀφ(x) = Σ a_j K(x_j, x), not centered: the origin is projected to 0."""
        A, _ = example()
        model = fit("rkhs", 0.0)
        grid = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [2.0, -1.0], [-2.0, 1.0]])
        p = model.transform(grid)[:, 0]
        close(p, ((grid @ A.T) ** 2) @ model.dual_coef_[:, 0])
        w = features(A).T @ model.dual_coef_[:, 0]
        close(p, features(grid) @ w)
        assert p[0] == 0
        assert p[3] == pytest.approx(p[4], rel=1e-12)  # contours come in pairs
