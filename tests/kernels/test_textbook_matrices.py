"""The book's matrices of a kernel discriminant: by sums over rows, and in feature space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sortal.kernels.working import both_sides, direction_criteria, matrices, project, project_means

if TYPE_CHECKING:
    from numpy.typing import NDArray

Float = Any

CODES: Final = {2: np.array([0, 0, 0, 1, 1, 1, 1]), 3: np.array([0, 0, 1, 1, 2, 2, 2])}
WEIGHT: Final = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 0.25])


def features(seed: int, n: int = 7, d: int = 4) -> NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=(n, d))


def of_class(values: Float, codes: Float, c: int) -> tuple[Float, Float]:
    return values[codes == c], WEIGHT[codes == c]


@given(st.integers(0, 10**6), st.sampled_from([2, 3]))
def test_forms_in_a_are_those_of_w_in_feature_space(seed: int, n_classes: int) -> None:
    phi, codes = features(seed), CODES[n_classes]
    K, a = phi @ phi.T, features(seed + 1, 7, 2)
    p = phi @ (phi.T @ a)  # φ(x)ᵀw, w = Σ a_j φ(x_j)
    made = matrices(K, codes, WEIGHT, n_classes, "rkhs", 0.5)
    np.testing.assert_allclose(project(a, K), p, atol=1e-9)
    parts = [of_class(p, codes, c) for c in range(n_classes)]
    means = np.array([np.average(own, axis=0, weights=v) for own, v in parts])
    pairs = zip(parts, means, strict=True)
    scatters = np.array([v @ (own - m) ** 2 for (own, v), m in pairs])
    sizes = np.array([v.sum() for _, v in parts])
    np.testing.assert_allclose(project_means(a, made.means), means, atol=1e-9)
    inside = np.einsum("iq,ij,jq->q", a, made.within, a)
    np.testing.assert_allclose(inside, scatters.sum(axis=0), rtol=1e-8)
    apart = np.einsum("iq,ij,jq->q", a, made.between, a)
    np.testing.assert_allclose(
        apart / inside, direction_criteria(means, scatters, sizes), rtol=1e-7
    )
    penalized = np.einsum("iq,ij,jq->q", a, made.penalized, a)
    length = ((phi.T @ a) ** 2).sum(axis=0)
    np.testing.assert_allclose(penalized - inside, 0.5 * length, rtol=1e-7)


def test_of_two_classes_m_is_the_difference_of_the_means_alone() -> None:
    phi = features(3)
    made = matrices(phi @ phi.T, CODES[2], WEIGHT, 2, "rkhs", 0.0)
    d = made.means[0] - made.means[1]
    np.testing.assert_allclose(made.between, np.outer(d, d), rtol=1e-14)


def test_classes_without_rows_are_left_out() -> None:
    phi = features(5)
    made = matrices(phi @ phi.T, CODES[2] * 2, WEIGHT, 3, "rkhs", 0.0)
    assert made.present == (0, 2)
    assert len(made.means) == len(made.scatters) == len(made.by_class) == 2
    d, sizes = made.means[0] - made.means[1], (3.5, 5.25)
    want = np.outer(d, d) * sizes[0] * sizes[1] / sum(sizes)
    np.testing.assert_allclose(made.between, want, rtol=1e-12)


def test_sides_are_equal_for_an_eigenvector_only_and_empty_for_no_scatter() -> None:
    phi = features(6)
    made = matrices(phi @ phi.T, CODES[2], WEIGHT, 2, "coefficients", 1.0)
    a = np.linalg.solve(made.penalized, made.means[0] - made.means[1])[:, None]
    value = (made.means[0] - made.means[1]) @ a[:, 0]
    left, right = both_sides(made, a, np.array([value]))
    np.testing.assert_allclose(left, right, rtol=1e-9)
    left, right = both_sides(made, np.ones((7, 1)), np.array([value]))
    assert abs(left - right).max() > 0.01
    _, nothing = both_sides(made, a, np.array([np.inf]))
    assert np.isnan(nothing).all()


def test_without_scatter_the_criterion_is_infinite() -> None:
    means, scatters = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[0.0, 1.0], [0.0, 3.0]])
    assert direction_criteria(means, scatters, np.ones(2)).tolist() == [np.inf, 1.0]
    three = np.array([[1.0], [2.0], [6.0]])
    assert direction_criteria(three, np.ones((3, 1)), np.array([1.0, 1.0, 2.0])) == pytest.approx(
        20.75 / 3
    )
