"""What the kernel discriminant refuses, in words that help."""

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.estimators.kernel_tables import gram, make_table

from sortal import KernelDiscriminant
from sortal.errors import InputError, OptionError, SortalError

Float: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]

every_solver = pytest.mark.parametrize("solver", ["dense", "landmarks"])


def rows() -> tuple[Float, Labels]:
    return make_table(0, 3)


# --- Options -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kernel": "sigmoid"}, "kernel='sigmoid' is not known.*'rbf'.*'precomputed'"),
        ({"kernel": 3}, "kernel=3"),
        ({"gamma": 0}, "gamma=0 .*above 0"),
        ({"gamma": -1.0}, "gamma=-1.0"),
        ({"gamma": np.nan}, "gamma=nan"),
        ({"gamma": np.inf}, "gamma=inf"),
        ({"gamma": "scale"}, "gamma='scale'"),
        ({"kernel": "poly", "degree": 0}, "degree=0 .*whole number from 1 to 1000"),
        ({"kernel": "poly", "degree": 2.5}, "degree=2.5 .*whole number from 1 to 1000"),
        ({"kernel": "poly", "degree": True}, "degree=True"),
        ({"kernel": "poly", "coef0": -1.0}, "coef0=-1.0 .*(positive|inner product)"),
        ({"kernel": "poly", "coef0": np.inf}, "coef0=inf"),
        ({"scale": "range"}, "scale='range' .*'std'"),
        ({"ridge": -1e-9}, "ridge=-1e-09 .*at least 0"),
        ({"ridge": np.nan}, "ridge=nan"),
        ({"ridge": np.inf}, "ridge=inf"),
        ({"ridge": "cv"}, "ridge='cv' .*'loo'"),
        ({"ridge": [0.1]}, "ridge="),
        ({"penalty": "l2"}, "penalty='l2' .*'rkhs', 'coefficients'"),
        ({"rule": "nearest"}, "rule='nearest' .*'gaussian', 'nearest_mean'"),
        ({"solver": "svd"}, "solver='svd' .*'dense', 'landmarks'"),
        ({"n_components": 3}, "n_components=3 .*at most 2"),
        ({"n_components": 0}, "n_components=0"),
        ({"n_components": 1.0}, "n_components=1.0"),
        ({"solver": "landmarks", "n_landmarks": 0}, "n_landmarks=0 .*at least 1"),
        ({"solver": "landmarks", "n_landmarks": 2.5}, "n_landmarks=2.5"),
        ({"random_state": -1}, "random_state=-1"),
        ({"random_state": "x"}, "random_state='x'"),
        ({"priors": [0.5, 0.5]}, "priors.*3 classes"),
        ({"priors": [0.5, 0.6, 0.1]}, "priors.*sum"),
        ({"rule": "nearest_mean", "priors": [0.2, 0.3, 0.5]}, "priors.*nearest_mean"),
        ({"class_weight": "heavy"}, "class_weight='heavy'"),
        ({"class_weight": {"oak": 1.0}}, "class_weight.*'oak'"),
        ({"costs": [[0, 1], [1, 0]]}, "costs"),
        ({"missing": "zero"}, "missing='zero'"),
        ({"unknown": "zero"}, "unknown='zero'"),
    ],
)
def test_options(options: dict[str, Any], words: str) -> None:
    X, y = rows()
    with pytest.raises(OptionError, match=words):
        KernelDiscriminant(**options).fit(X, y)


@every_solver
def test_more_landmarks_than_rows(solver: str) -> None:
    X, y = rows()
    n = len(y)
    model = KernelDiscriminant(solver="landmarks", n_landmarks=n + 1)
    with pytest.raises(OptionError, match=f"n_landmarks={n + 1}.*{n} rows"):
        model.fit(X, y)
    with pytest.raises(OptionError, match=f"n_landmarks={n + 1}.*{n} rows"):
        model.partial_fit(X, y)
    assert KernelDiscriminant(solver=solver).fit(X, y).predict(X).shape == (n,)


def test_rows_without_weight_are_no_landmarks() -> None:
    X, y = rows()
    w = np.ones(len(y))
    w[:5] = 0
    model = KernelDiscriminant("laplacian", solver="landmarks", n_landmarks=len(y) - 4)
    with pytest.raises(OptionError, match=f"n_landmarks={len(y) - 4}.*{len(y) - 5} rows"):
        model.fit(X, y, sample_weight=w)


def test_priors_of_the_nearest_mean_at_predict() -> None:
    X, y = rows()
    model = KernelDiscriminant(rule="nearest_mean").fit(X, y)
    for method in (model.predict, model.predict_proba):
        with pytest.raises(OptionError, match=r"priors.*nearest_mean"):
            method(X, priors=[0.2, 0.3, 0.5])


@pytest.mark.parametrize("kernel", ["linear", "precomputed", "function"])
def test_options_that_a_kernel_does_not_read_are_not_looked_at(kernel: str) -> None:
    X, y = rows()
    given: Any = {"function": gram}.get(kernel, kernel)
    table = gram(X, X) if kernel == "precomputed" else X
    plain = KernelDiscriminant(given).fit(table, y)
    other = KernelDiscriminant(given, gamma=3.0, degree=5, coef0=2.0).fit(table, y)
    np.testing.assert_array_equal(other.transform(table), plain.transform(table))


# --- Pieces --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"solver": "dense"}, "solver='dense'"),
        ({"kernel": "precomputed"}, "kernel='precomputed'"),
        ({"ridge": "loo"}, "ridge='loo'"),
    ],
)
def test_what_needs_all_rows_at_once(options: dict[str, Any], words: str) -> None:
    X, y = rows()
    table = gram(X, X) if "kernel" in options else X
    with pytest.raises(OptionError, match=words):
        KernelDiscriminant(**options).partial_fit(table, y)


def test_nothing_is_forgotten() -> None:
    X, y = rows()
    model = KernelDiscriminant(solver="landmarks").fit(X, y)
    assert not hasattr(model, "forget")


def test_a_failed_call_leaves_the_model_as_it_was() -> None:
    X, y = rows()
    model = KernelDiscriminant(n_landmarks=6).partial_fit(X, y)
    before = model.predict_proba(X)
    bad = X.copy()
    bad[0, 0] = np.inf
    with pytest.raises(InputError, match="infinite"):
        model.partial_fit(bad, y)
    np.testing.assert_array_equal(model.predict_proba(X), before)
    model.set_params(penalty="other")
    with pytest.raises(OptionError, match="penalty"):
        model.partial_fit(X, y)
    np.testing.assert_array_equal(model.set_params(penalty="rkhs").predict_proba(X), before)


# --- Kernels that are none -----------------------------------------------------------------------


def test_a_matrix_that_is_not_square() -> None:
    X, y = rows()
    K = gram(X, X)
    for bad in (K[:, :-1], np.c_[K, K[:, :1]]):
        with pytest.raises(InputError, match=f"{len(y)} .*{bad.shape[1]}.*") as caught:
            KernelDiscriminant("precomputed").fit(bad, y)
        assert "square" in str(caught.value) or f"{len(y)} × {len(y)}" in str(caught.value)


def test_a_matrix_that_is_not_symmetric() -> None:
    X, y = rows()
    K = gram(X, X)
    K[2, 5] += 1e-3
    with pytest.raises(InputError, match="symmetric"):
        KernelDiscriminant("precomputed").fit(K, y)
    K[2, 5] = np.nextafter(K[5, 2], np.inf)  # rounding is none of it
    assert KernelDiscriminant("precomputed").fit(K, y).predict(K).shape == y.shape


@pytest.mark.parametrize("penalty", ["rkhs", "coefficients"])
@pytest.mark.parametrize("ridge", [0.0, 1e-3, "loo"])
def test_a_matrix_that_is_not_positive(penalty: str, ridge: Any) -> None:
    X, y = rows()
    K = gram(X, X)
    values, vectors = np.linalg.eigh(K)
    values[0] = -1e-3 * values[-1]
    bad = (vectors * values) @ vectors.T
    with pytest.raises(InputError, match="not positive"):
        KernelDiscriminant("precomputed", ridge=ridge, penalty=penalty).fit((bad + bad.T) / 2, y)
    with pytest.raises(InputError, match="not positive"):
        KernelDiscriminant("precomputed", ridge=ridge, penalty=penalty).fit(-K, y)


def test_a_matrix_of_rounding_below_zero_is_positive() -> None:
    """Of rank 6 among n: the other eigenvalues are rounding, half of them below zero."""
    X, y = rows()
    K = (X @ X.T) ** 2
    assert np.linalg.eigvalsh(K)[0] < 0
    one = KernelDiscriminant("precomputed").fit(K, y)
    other = KernelDiscriminant("poly").fit(X, y)
    np.testing.assert_allclose(one.transform(K), other.transform(X), rtol=1e-8, atol=1e-8)


def test_holes_and_infinities_in_a_matrix() -> None:
    X, y = rows()
    K = gram(X, X)
    for bad in (np.nan, np.inf):
        holed = K.copy()
        holed[1, 2] = holed[2, 1] = bad
        with pytest.raises(InputError):
            KernelDiscriminant("precomputed").fit(holed, y)
    model = KernelDiscriminant("precomputed").fit(K, y)
    with pytest.raises(InputError, match="infinite"):
        model.predict(np.full((2, len(y)), np.inf))
    with pytest.raises(InputError):
        model.predict(K[:, :-1])


@every_solver
@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda A, B: -(A @ B.T), "not positive"),
        (lambda A, B: -((A[:, None] - B) ** 2).sum(axis=2), "not positive|are about 0e"),
        (lambda A, B: A @ B.T + A[:, :1] ** 2, "symmetric"),
        (lambda A, B: (A @ B.T)[0], "shape"),
        (lambda A, B: (A @ B.T)[:, :2], "shape"),
        (lambda A, B: np.full((len(A), len(B)), np.nan), "finite"),
        (lambda A, B: [["word"] * len(B)] * len(A), "finite"),
    ],
)
def test_functions_that_are_no_kernels(function: Any, words: str, solver: str) -> None:
    X, y = rows()
    with pytest.raises(SortalError, match=words):
        KernelDiscriminant(function, solver=solver).fit(X, y)


@every_solver
def test_what_a_function_raises_is_not_hidden(solver: str) -> None:
    X, y = rows()

    def broken(A: Float, B: Float) -> Float:
        raise KeyError("the user's own")

    with pytest.raises(KeyError, match="the user's own"):
        KernelDiscriminant(broken, solver=solver).fit(X, y)


# --- Tables --------------------------------------------------------------------------------------


@every_solver
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "poly", "linear", "function"])
def test_infinite_values(kernel: str, solver: str) -> None:
    X, y = rows()
    given: Any = {"function": gram}.get(kernel, kernel)
    bad = X.copy()
    bad[3, 1] = -np.inf
    with pytest.raises(InputError, match="'x1' holds infinite values"):
        KernelDiscriminant(given, solver=solver).fit(bad, y)
    model = KernelDiscriminant(given, solver=solver).fit(X, y)
    with pytest.raises(InputError, match="'x1' holds infinite values"):
        model.predict(bad)


@every_solver
@pytest.mark.parametrize(("kernel", "unit"), [("linear", 1e-45), ("linear", 1e45), ("poly", 1e-30),
                                              ("poly", 1e30), ("poly", 1e90)])  # fmt: skip
def test_products_that_cannot_be_calculated_with(kernel: str, unit: float, solver: str) -> None:
    X, y = rows()
    with pytest.raises(InputError, match="too far from 1"):
        KernelDiscriminant(kernel, solver=solver).fit(X * unit, y)


def test_other_columns() -> None:
    X, y = rows()
    model = KernelDiscriminant().fit(X, y)
    with pytest.raises(InputError):
        model.predict(X[:, :2])
    with pytest.raises(InputError):
        model.transform(np.c_[X, X])


# --- Files ---------------------------------------------------------------------------------------


def test_a_function_is_not_kept_in_a_file(tmp_path: Path) -> None:
    X, y = rows()
    model = KernelDiscriminant(gram).fit(X, y)
    with pytest.raises(SortalError, match=r"function|callable") as caught:
        model.save(tmp_path / "model.sortal")
    assert "precomputed" in str(caught.value) or "rbf" in str(caught.value)  # what to do instead
    assert not (tmp_path / "model.sortal").exists()
