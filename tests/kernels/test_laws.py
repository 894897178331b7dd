"""Laws of the kernel discriminant: what must hold for every table, tried on random ones."""

from typing import Any, Final, TypeAlias

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from numpy.typing import NDArray
from tests.kernels.oracle import Oracle
from tests.kernels.tables import (
    KERNELS,
    SOLVERS,
    as_given,
    close,
    gram,
    make_table,
    make_weights,
    pairs,
    same_posteriors,
)

from sortal import KernelDiscriminant

Float: TypeAlias = NDArray[np.float64]

RIDGES: Final = {"rkhs": 0.01, "coefficients": 0.5}

SIZES: Final = (2, 3, 4)
OF_ROWS: Final = [name for name in KERNELS if name != "precomputed"]


def options(kernel: str, penalty: str, **more: Any) -> dict[str, Any]:
    return KERNELS[kernel] | {"penalty": penalty, "ridge": RIDGES[penalty]} | more


def make(kernel: str, penalty: str, **more: Any) -> KernelDiscriminant:
    return KernelDiscriminant(**options(kernel, penalty, **more))


def alike(one: Any, other: Any, rows: Any, others: Any, digits: float = 1e-8) -> None:
    """Two models say the same of rows, each in the form that it knows them in."""
    close(other.transform(others), one.transform(rows), digits)
    close(other.eigenvalues_, one.eigenvalues_, digits)
    same_posteriors(other.predict_log_proba(others), one.predict_log_proba(rows), digits)


# --- Weights -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_unit_of_weights_does_not_matter(kernel: str) -> None:
    """μ goes with the weights under rkhs; ε does under the other with its square."""
    X, y = make_table(len(kernel), 3)
    unit = 0.07 * len(kernel)
    w = make_weights("fractions", len(y))
    table = as_given(KERNELS[kernel], X, X)
    one = make(kernel, "rkhs").fit(table, y, sample_weight=w)
    other = make(kernel, "rkhs").fit(table, y, sample_weight=w * unit)
    close(other.transform(table), one.transform(table))
    same_posteriors(other.predict_log_proba(table), one.predict_log_proba(table))
    one = make(kernel, "coefficients").fit(table, y, sample_weight=w)
    told: dict[str, Any] = {"ridge": RIDGES["coefficients"] * unit**2}
    other = make(kernel, "coefficients", **told).fit(table, y, sample_weight=w * unit)
    close(other.transform(table), one.transform(table))


# --- Rows, labels, columns -----------------------------------------------------------------------


@pairs(n_classes=SIZES, kernel=["rbf", "laplacian"], penalty=RIDGES)
def test_units_of_columns_do_not_matter(n_classes: int, kernel: str, penalty: str) -> None:
    """scale="auto" is "std" for these, and no other."""
    X, y = make_table(n_classes, n_classes)
    units = np.array([1e-9, 254.0, -1e12])
    one, other = make(kernel, penalty).fit(X, y), make(kernel, penalty).fit(X * units, y)
    alike(one, other, X, X * units)
    assert other.gamma_ == pytest.approx(one.gamma_, rel=1e-12)


# --- The kernel ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_classes", "c"), [(2, 1e-6), (3, 0.3), (4, 7.0), (3, 1e8)])
def test_a_multiple_of_the_kernel_says_the_same(n_classes: int, c: float) -> None:
    """K → cK leaves posteriors under rkhs as they are, and stretches projections by √c."""
    X, y = make_table(5, n_classes)
    K = gram(X, X)
    one, other = make("precomputed", "rkhs").fit(K, y), make("precomputed", "rkhs").fit(c * K, y)
    same_posteriors(other.predict_log_proba(c * K), one.predict_log_proba(K))
    close(other.transform(c * K), np.sqrt(c) * one.transform(K))
    close(other.eigenvalues_, one.eigenvalues_)
    told = {"ridge": RIDGES["coefficients"]}
    one = make("precomputed", "coefficients", **told).fit(K, y)
    told = {"ridge": RIDGES["coefficients"] * c**2}
    other = make("precomputed", "coefficients", **told).fit(c * K, y)
    same_posteriors(other.predict_log_proba(c * K), one.predict_log_proba(K))


@pairs(kernel=["linear", "poly"], solver=SOLVERS, unit=[1e-12, 1e-6, 1e6, 1e12])
def test_units_of_the_table_do_not_matter_to_rkhs(kernel: str, solver: str, unit: float) -> None:
    """x → cx multiplies kernels of products, and so does this."""
    X, y = make_table(0, 3)
    one, other = (make(kernel, "rkhs", solver=solver).fit(c * X, y) for c in (1.0, unit))
    rows = X[::4] + 0.1
    same_posteriors(other.predict_log_proba(unit * rows), one.predict_log_proba(rows))
    close(other.loo_proba(unit * X, y), one.loo_proba(X, y))


def by_hand(U: Float, V: Float) -> Float:
    """rbf of width 0.3."""
    return np.asarray(np.exp(-0.3 * ((U[:, None] - V) ** 2).sum(axis=2)))


@pytest.mark.parametrize("n_classes", SIZES)
def test_kernels_in_their_other_forms(n_classes: int) -> None:
    """A power of 1 is linear; a kernel as a function or a matrix is the kernel."""
    X, y = make_table(6, n_classes)
    linear = make("linear", "rkhs").fit(X, y)
    alike(linear, KernelDiscriminant("poly", degree=1, ridge=0.01).fit(X, y), X, X)
    rbf = KernelDiscriminant("rbf", gamma=0.3, scale=None).fit(X, y)
    alike(rbf, KernelDiscriminant(by_hand).fit(X, y), X, X)
    matrix = KernelDiscriminant("precomputed").fit(by_hand(X, X), y)
    alike(rbf, matrix, X + 0.1, by_hand(X + 0.1, X))


# --- Landmarks, blocks, threads ------------------------------------------------------------------


@pairs(
    kernel=["rbf", "laplacian", "cubic", "function"],
    penalty=RIDGES,
    weights=["none", "whole", "fractions"],
)
def test_the_first_call_decides_and_the_rest_is_added(
    kernel: str, penalty: str, weights: str
) -> None:
    """Landmarks, scale, width of the first; all rows in the moments, in any order of calls."""
    X, y = make_table(7, 3)
    X, y = np.vstack([X, X + 0.1, X[::-1] * 1.2]), np.concatenate([y, y, y[::-1]])
    w = make_weights(weights, len(y))
    first, second, third = np.array_split(np.arange(len(y)), 3)
    models = []
    for order in ([first, second, third], [first, third, second]):
        model = make(kernel, penalty, n_landmarks=6)
        for rows in order:
            own = None if w is None else w[rows]
            model.partial_fit(X[rows], y[rows], classes=np.unique(y), sample_weight=own)
        assert model.solver_ == "landmarks"
        models.append(model)
    alike(models[0], models[1], X, X)
    assert_array_equal(models[0].basis_ids_, models[1].basis_ids_)
    assert set(models[0].basis_ids_) <= set(first)
    start = Oracle(X[first], y[first], weight=None if w is None else w[first], **KERNELS[kernel])
    u, told = start.inputs(X), KERNELS[kernel] | {"gamma": start.width, "scale": None}
    more: dict[str, Any] = {"penalty": penalty, "ridge": RIDGES[penalty]}
    more["basis"] = models[0].basis_ids_
    oracle = Oracle(u, y, weight=w, **told, **more)
    close(models[0].transform(X), oracle.project(u))
    same_posteriors(models[0].predict_log_proba(X), oracle.log_posteriors(u))


@pairs(kernel=["rbf", "poly", "function"], penalty=RIDGES, solver=["auto", "landmarks"])
def test_a_fit_is_a_first_call(kernel: str, penalty: str, solver: str) -> None:
    """A dense one too: rows that come later need landmarks, which are those of the rows before."""
    X, y = make_table(0, 3)
    first, then = np.arange(len(y)) < 20, np.arange(len(y)) >= 20
    one, other = (make(kernel, penalty, solver=solver, n_landmarks=8) for _ in range(2))
    one.fit(X[first], y[first]).partial_fit(X[then], y[then])
    other.partial_fit(X[first], y[first]).partial_fit(X[then], y[then])
    assert one.solver_ == "landmarks"
    assert_array_equal(one.basis_ids_, other.basis_ids_)
    alike(one, other, X, X, 1e-9)


@pytest.mark.parametrize("kernel", OF_ROWS)
def test_rows_that_repeat_are_no_landmarks(kernel: str) -> None:
    """A row twice adds nothing to the span, so that fewer landmarks than rows are kept."""
    X, y = make_table(8, 3)
    X, y = np.vstack([X, X]), np.concatenate([y, y])
    more: dict[str, Any] = {"solver": "landmarks", "n_landmarks": len(y)}
    model = make(kernel, "rkhs", **more).fit(X, y)
    assert model.n_landmarks_ <= len(y) // 2
    assert len(np.unique(X[model.basis_ids_], axis=0)) == model.n_landmarks_
    alike(make(kernel, "rkhs").fit(X, y), model, X, X, 1e-7)


@pytest.mark.parametrize(("kernel", "penalty"), [("rbf", "rkhs"), ("poly", "coefficients")])
def test_landmarks_know_neither_blocks_nor_threads(
    monkeypatch: pytest.MonkeyPatch, kernel: str, penalty: str
) -> None:
    X, y = make_table(1, 3)
    X, y = np.tile(X, (9, 1)) + np.random.default_rng(0).normal(size=(9 * len(y), 3)), np.tile(y, 9)
    told: dict[str, Any] = {"solver": "landmarks", "n_landmarks": 12}
    one, two = (make(kernel, penalty, **told, n_jobs=n).fit(X, y) for n in (1, 2))
    assert_array_equal(two.dual_coef_, one.dual_coef_)
    assert_array_equal(two.predict_proba(X), one.predict_proba(X))
    monkeypatch.setattr("sortal.data.sources.BLOCK_CELLS", 60)  # a dozen blocks of twenty rows
    blocks = make(kernel, penalty, **told, n_jobs=2).fit(X, y)
    assert_array_equal(blocks.basis_ids_, one.basis_ids_)
    alike(one, blocks, X, X)


def test_a_seed_chooses_landmarks_and_another_seed_others() -> None:
    X, y = make_table(2, 3)

    def chosen(seed: int) -> tuple[int, ...]:
        model = make("rbf", "rkhs", solver="landmarks", n_landmarks=5, random_state=seed)
        return tuple(model.fit(X, y).basis_ids_.tolist())

    found = [chosen(seed) for seed in range(6)]
    assert len(set(found)) > 3
    assert [chosen(seed) for seed in range(6)] == found
