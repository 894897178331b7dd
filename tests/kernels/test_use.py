"""KernelDiscriminant in use: pieces, unknown values, matrices, memory, progress, pickles."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.kernels.tables import iris, make_table

from sortal import KernelDiscriminant, load
from sortal.data import sources
from sortal.errors import InputError, SortalWarning
from sortal.kernels import first_pass as kernel_sizes
from sortal.kernels import model as kernel_model

if TYPE_CHECKING:
    from sortal.kernels.learn import SolverChoice
    from sortal.kernels.model import KernelName

SOLVERS = ("dense", "landmarks")


def own_kernel(A: Any, B: Any) -> Any:
    """A kernel that pickles."""
    return np.exp(-0.25 * ((A[:, None] - B) ** 2).sum(axis=2))


def mixed(n: int = 60) -> tuple[pd.DataFrame, Any]:
    """A number and a word."""
    rng = np.random.default_rng(3)
    k = np.arange(n) % 2
    words = np.array(["a", "b"], dtype=object)[(k + (rng.random(n) < 0.3)) % 2]
    return pd.DataFrame({"x": k + rng.normal(size=n), "word": words}), k


# --- Pieces --------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", [None, "whole", "fractions"])
def test_so_does_one_that_was_loaded(tmp_path: Any, weights: str | None) -> None:
    X, y = mixed()
    w = {"whole": np.arange(60) % 3, "fractions": np.arange(60) % 3 / 4}.get(weights or "")
    made = KernelDiscriminant(class_weight="balanced").fit(X, y, w)
    made.save(tmp_path / "model.sortal")
    again = load(tmp_path / "model.sortal")
    for model in (made, again):
        model.partial_fit(X, y, sample_weight=w)
    assert_allclose(again.predict_proba(X), made.predict_proba(X), rtol=1e-9)


def test_the_ridge_and_the_penalty_may_change_between_pieces() -> None:
    X, y = iris()
    made = KernelDiscriminant(n_landmarks=10, ridge=0.1).partial_fit(X, y)
    made.set_params(ridge=0.01, penalty="coefficients").partial_fit(X, y)
    once = KernelDiscriminant(n_landmarks=10, ridge=0.01, penalty="coefficients")
    once.partial_fit(X, y).partial_fit(X, y)
    assert_array_equal(made.predict_proba(X), once.predict_proba(X))


# --- Kernel matrices and functions ---------------------------------------------------------------


def test_the_columns_of_a_kernel_matrix_are_rows_by_their_places() -> None:
    X, y = iris()
    X, y = X[::3], y[::3]
    u = X.to_numpy()
    K = pd.DataFrame(u @ u.T, columns=[f"row {i}" for i in range(len(u))])
    made = KernelDiscriminant("precomputed").fit(K, y)
    plain = KernelDiscriminant("linear").fit(X, y)
    assert_allclose(made.predict_proba(K), plain.predict_proba(X), atol=1e-8)
    turned = K.to_numpy()[:, ::-1]
    named = pd.DataFrame(turned, columns=K.columns[::-1])
    turned_plain = pd.DataFrame(turned, columns=K.columns)
    assert_array_equal(made.transform(named), made.transform(turned_plain))
    assert made.predict_proba(K[:5]).shape == (5, 3)
    assert made.__sklearn_tags__().input_tags.pairwise
    assert not plain.__sklearn_tags__().input_tags.pairwise


def test_rows_without_weight_keep_their_column_of_a_kernel_matrix() -> None:
    X, y = iris()
    u, w = X.to_numpy(), np.arange(150) % 3
    made = KernelDiscriminant("precomputed").fit(u @ u.T, y, w)
    plain = KernelDiscriminant("linear").fit(u, y, w)
    assert_array_equal(made.basis_ids_, np.flatnonzero(w))
    assert_allclose(made.predict_proba(u @ u.T), plain.predict_proba(u), atol=1e-8)
    assert_allclose(made.loo_proba(u @ u.T, y, w), plain.loo_proba(u, y, w), atol=1e-7)


def test_a_kernel_of_your_own_pickles() -> None:
    X, y = iris()
    made = KernelDiscriminant(own_kernel, scale="std").fit(X, y)
    again = pickle.loads(pickle.dumps(made))  # noqa: S301  (our own)
    assert_array_equal(again.predict_proba(X), made.predict_proba(X))
    assert (made.kernel_.name, made.gamma_) == ("callable", 1.0)


@pytest.mark.parametrize("kernel", ["linear", "precomputed", own_kernel])
def test_options_that_a_kernel_does_not_read_are_not_looked_at(kernel: Any) -> None:
    X, y = make_table(0, 3)
    table = own_kernel(X, X) if kernel == "precomputed" else X
    plain = KernelDiscriminant(kernel).fit(table, y)
    other = KernelDiscriminant(kernel, gamma=3.0, degree=5, coef0=2.0).fit(table, y)
    assert_array_equal(other.transform(table), plain.transform(table))


def test_rounding_in_a_matrix_is_not_refused() -> None:
    """Of rank 6 among n: the other eigenvalues are rounding, half of them below zero."""
    X, y = make_table(0, 3)
    K = (X @ X.T) ** 2
    assert np.linalg.eigvalsh(K)[0] < 0
    K[2, 5] = np.nextafter(K[5, 2], np.inf)
    one = KernelDiscriminant("precomputed").fit(K, y)
    other = KernelDiscriminant("poly").fit(X, y)
    assert_allclose(one.transform(K), other.transform(X), rtol=1e-8, atol=1e-8)


# --- Sizes ---------------------------------------------------------------------------------------


def test_many_rows_and_little_memory_have_landmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = iris()
    monkeypatch.setattr(kernel_sizes, "MOST_DENSE", 100)
    assert KernelDiscriminant(n_landmarks=20).fit(X, y).solver_ == "landmarks"
    assert KernelDiscriminant().fit(X[50:], y[50:]).solver_ == "dense"
    monkeypatch.setattr(kernel_sizes, "free_memory", lambda: 1e4)
    assert KernelDiscriminant().fit(X[50:], y[50:]).solver_ == "landmarks"
    assert KernelDiscriminant(n_landmarks=10).fit(X, y).n_landmarks_ == 10
    words = r"kernel matrix of 150 rows needs 0\.0 GB.*0\.0 GB: use solver='landmarks'"
    with pytest.raises(InputError, match=words):
        KernelDiscriminant(solver="dense").fit(X, y)


def test_tiles_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = iris()
    made = KernelDiscriminant(n_jobs=1).fit(X, y)
    before = made.predict_log_proba(X)
    for rows, threads in ((1, 2), (7, 3)):
        monkeypatch.setattr(kernel_model, "TILE_ROWS", rows)
        assert_allclose(made.set_params(n_jobs=threads).predict_log_proba(X), before, rtol=1e-9)


def test_progress_of_a_ridge_that_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Block by block, where landmarks are asked for every row that is left out."""
    X, y = iris()
    monkeypatch.setattr(sources, "BLOCK_CELLS", 28)
    told: list[int] = []
    made = KernelDiscriminant(solver="landmarks", n_landmarks=10, ridge="loo")
    made.set_params(progress=lambda done, _: told.append(done)).fit(X, y)
    assert told == sorted(set(told))
    assert len([done for done in told if 40 < done < 95]) > 5


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("ridge", [0.01, "loo"])
def test_progress_comes_to_its_end_and_may_end_the_fit(solver: SolverChoice, ridge: Any) -> None:
    X, y = iris()
    told: list[tuple[int, int]] = []
    KernelDiscriminant(solver=solver, ridge=ridge, progress=lambda *p: told.append(p)).fit(X, y)
    assert told == sorted(set(told))
    assert told[-1] == (100, 100)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt(f"{done} of {total}")

    made = KernelDiscriminant(solver=solver, ridge=ridge, progress=stop)
    with pytest.raises(KeyboardInterrupt, match="of 100"):
        made.fit(X, y)
    assert not hasattr(made, "classes_")


# --- What is said --------------------------------------------------------------------------------


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_columns_far_from_0_are_warned_of_where_they_are_multiplied(
    kernel: KernelName, solver: SolverChoice
) -> None:
    X, y = iris()
    far = X.assign(petal_width=X["petal_width"] + 1e6)
    KernelDiscriminant(solver=solver).fit(far, y)
    with pytest.warns(SortalWarning, match="The values of 'petal_width' lie so far from 0"):
        KernelDiscriminant(kernel=kernel, ridge=0.01, solver=solver).fit(far, y)


def test_fewer_landmarks_than_asked_for_are_noted() -> None:
    X, y = iris()
    made = KernelDiscriminant("linear", solver="landmarks").fit(X, y)
    assert made.n_landmarks_ == 4
    assert made.fit_report_.notes[0].startswith("4 landmarks describe all rows")


def test_the_size_is_that_of_basis_coefficients_and_means() -> None:
    X, y = iris()
    made = KernelDiscriminant(solver="landmarks", n_landmarks=10).fit(X, y)
    assert made.n_parameters_ == 10 * (4 + 2) + 3 * 2


def test_coordinates_come_as_a_frame_where_that_is_asked_for() -> None:
    X, y = mixed()
    model = KernelDiscriminant().set_output(transform="pandas").fit(X, y)
    assert list(model.transform(X).columns) == ["kerneldiscriminant0"]


@pytest.mark.parametrize("solver", ["dense", "landmarks"])
def test_a_kernel_so_narrow_that_no_row_sees_another(solver: SolverChoice) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = X[:, 0] > 0
    model = KernelDiscriminant(gamma=1e16, solver=solver).fit(X, y)
    assert len(model.basis_ids_) == 80
    assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize("penalty", ["rkhs", "coefficients"])
@pytest.mark.parametrize("solver", ["dense", "landmarks"])
@pytest.mark.filterwarnings("ignore::sortal.errors.PerfectSeparationWarning")
def test_a_ridge_below_rounding_is_none(solver: str, penalty: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = X[:, 0] > rng.normal(size=30)
    told: dict[str, Any] = {"kernel": "laplacian", "solver": solver, "penalty": penalty}
    tiny, none = (KernelDiscriminant(ridge=ridge, **told).fit(X, y) for ridge in (1e-300, 0.0))
    assert_allclose(tiny.transform(X), none.transform(X), rtol=1e-9)
    assert_allclose(tiny.loo_proba(X, y), none.loo_proba(X, y), rtol=1e-9)
