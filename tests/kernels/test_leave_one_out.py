"""The kernel discriminant without each row, against fits that were really made without it."""

from dataclasses import replace
from functools import cache
from typing import Any, Final, TypeAlias

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from tests.kernels.oracle import Oracle
from tests.kernels.tables import (
    KERNELS,
    NAMES,
    PENALTIES,
    SOLVERS,
    as_given,
    close,
    fitted,
    make_table,
    make_weights,
    pairs,
)

from sortal import KernelDiscriminant
from sortal.kernels.learn import Missing

Float: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]

RIDGES: Final = {"rkhs": 0.01, "coefficients": 0.5}
PRIORS: Final = dict(zip(NAMES.tolist(), [0.2, 0.5, 0.3], strict=False))
FEW: Final = {"dense": None, "landmarks": 8}
WAYS: Final[dict[str, Any]] = {"penalty": PENALTIES, "solver": SOLVERS}
every_penalty = pytest.mark.parametrize("penalty", RIDGES)


@cache
def table(n_classes: int, seed: int = 0) -> tuple[Float, Labels]:
    """Few rows: each of them is left out by another fit."""
    X, y = make_table(seed, n_classes)
    kept = np.concatenate([np.flatnonzero(y == c)[:7] for c in np.unique(y)])
    return X[np.sort(kept)], y[np.sort(kept)]


def without_each(oracle: Oracle, solver: str = "dense") -> tuple[Any, Float, Float]:
    """A fitted model, what it says of rows without them, and what the oracle does."""
    model = fitted(oracle, solver=solver, n_landmarks=FEW[solver])
    found = model.loo_proba(oracle.X, oracle.y, sample_weight=oracle.weight)
    if solver == "landmarks":
        oracle = replace(oracle, basis=model.basis_ids_)
    return model, found, np.exp(oracle.loo_log())


@pairs(kernel=["rbf", "laplacian", "poly", "linear", "function"], n_classes=[2, 3], **WAYS)
def test_every_kernel(kernel: str, n_classes: int, penalty: str, solver: str) -> None:
    X, y = table(n_classes)
    oracle = Oracle(X, y, **KERNELS[kernel], penalty=penalty, ridge=RIDGES[penalty])
    model, found, expected = without_each(oracle, solver)
    close(found, expected)
    assert np.abs(found - model.predict_proba(X)).max() > 1e-3  # or nothing would be tested


@every_penalty
def test_a_precomputed_kernel(penalty: str) -> None:
    X, y = table(3)
    K = as_given(KERNELS["precomputed"], X, X)
    oracle = Oracle(K, y, "precomputed", penalty=penalty, ridge=RIDGES[penalty])
    _, found, expected = without_each(oracle)
    close(found, expected)


@pairs(
    weights=["none", "whole", "fractions", "zeros"],
    class_weight=[None, "balanced", {"ash": 2, "birch": 3}, {"cedar": 0.4}],
    **WAYS,
)
def test_weights(weights: str, class_weight: Any, penalty: str, solver: str) -> None:
    X, y = table(3)
    w = make_weights(weights, len(y))
    more: dict[str, Any] = {"penalty": penalty, "ridge": RIDGES[penalty], "weight": w}
    oracle = Oracle(X, y, **more, class_weight=class_weight)
    model, found, expected = without_each(oracle, solver)
    close(found, expected)
    if weights == "zeros":  # those not in the fit are judged by it
        out = w == 0
        close(found[out], model.predict_proba(X)[out], 1e-12)


@pairs(
    more=[{"priors": PRIORS}, {"rule": "nearest_mean"}, {"n_components": 1},
          {"priors": PRIORS, "class_weight": "balanced"}],
    **WAYS,
)  # fmt: skip
def test_priors_rules_and_fewer_directions(more: Any, penalty: str, solver: str) -> None:
    X, y = table(3)
    oracle = Oracle(X, y, **more, penalty=penalty, ridge=RIDGES[penalty])
    _, found, expected = without_each(oracle, solver)
    close(found, expected)


@pairs(n_classes=[2, 3], alone=["ash", "birch"], class_weight=[None, "balanced"], **WAYS)
def test_a_class_of_one_row_goes_with_it(
    class_weight: Any, alone: str, n_classes: int, penalty: str, solver: str
) -> None:
    X, y = table(n_classes)
    only = np.flatnonzero(y == alone)
    kept = np.delete(np.arange(len(y)), only[1:])
    X, y = X[kept], y[kept]
    told: dict[str, Any] = {"penalty": penalty, "ridge": RIDGES[penalty]}
    oracle = Oracle(X, y, **told, class_weight=class_weight)
    _, found, expected = without_each(oracle, solver)
    close(found, expected)
    assert found[only[0], NAMES.tolist().index(alone)] == 0
    assert_allclose(found.sum(axis=1), 1, rtol=1e-12)


@pairs(n_classes=[2, 3], kernel=["poly", "linear", "laplacian"], **WAYS)
@pytest.mark.filterwarnings("ignore::sortal.errors.PerfectSeparationWarning")
def test_without_a_ridge(kernel: str, n_classes: int, penalty: str, solver: str) -> None:
    """Laplacian separates every training set, which says little of the row that is left out."""
    X, y = make_table(0, n_classes, 2)
    oracle = Oracle(X, y, kernel, penalty=penalty, ridge=0.0)
    _, found, expected = without_each(oracle, solver)
    close(found, expected, 1e-6)


@pytest.mark.parametrize(("penalty", "solver"), [("rkhs", "dense"), ("coefficients", "landmarks")])
def test_some_rows_of_a_larger_table(penalty: str, solver: str) -> None:
    """More rows than landmarks."""
    rng = np.random.default_rng(0)
    k = rng.integers(0, 3, 180)
    X, y = rng.normal(size=(180, 4)) + 0.8 * k[:, None] * [1, -1, 0, 0], NAMES[k]
    w = rng.integers(1, 4, 180)
    ridge = {"rkhs": 0.01, "coefficients": 20.0}[penalty]
    oracle = Oracle(X, y, weight=w, penalty=penalty, ridge=ridge)
    model = fitted(oracle, solver=solver, n_landmarks=40 if solver == "landmarks" else None)
    if solver == "landmarks":
        oracle = replace(oracle, basis=model.basis_ids_)
    found = model.loo_proba(X, y, sample_weight=w)
    close(model.transform(X[:5] + 0.2), oracle.project(X[:5] + 0.2))
    for i in (0, int(model.basis_ids_[-1]), 179):
        close(found[i], np.exp(oracle.without(i).log_posteriors(X[[i]])[0]))


@pairs(**WAYS, missing=["drop_rows", "mean"])
@pytest.mark.filterwarnings("ignore::sortal.errors.MissingValueWarning")
def test_rows_with_missing_values(penalty: str, solver: str, missing: Missing) -> None:
    """They are judged by the model of the others, or left out with what stands for the values."""
    X, y = table(3)
    incomplete = X.copy()
    incomplete[[2, 9], [0, 1]] = np.nan
    told: dict[str, Any] = {"penalty": penalty, "ridge": RIDGES[penalty], "solver": solver}
    model = KernelDiscriminant(**told, missing=missing).fit(incomplete, y)
    found = model.loo_proba(incomplete, y)
    kept = np.arange(len(y))
    if missing == "drop_rows":
        kept = np.delete(kept, [2, 9])
        close(found[[2, 9]], model.predict_proba(incomplete[[2, 9]]), 1e-12)
    filled = np.where(np.isnan(incomplete), np.nanmean(incomplete, axis=0), incomplete)[kept]
    other = KernelDiscriminant(**told).fit(filled, y[kept])
    close(found[kept], other.loo_proba(filled, y[kept]))


# --- A ridge that is chosen ----------------------------------------------------------------------


def as_numbers(curve: Any, name: str) -> Float:
    return np.array(curve.column(name), dtype=np.float64)


@pairs(
    told=[("rbf", {}), ("laplacian", {"class_weight": "balanced"}),
          ("poly", {"priors": {"ash": 0.5, "birch": 0.5}})],
    n_classes=[2, 3],
    **WAYS,
)  # fmt: skip
def test_the_best_ridge_of_the_grid(
    told: tuple[str, dict[str, Any]], n_classes: int, penalty: str, solver: str
) -> None:
    X, y = table(n_classes)
    kernel, more = told
    if "priors" in more and n_classes == 3:
        more = {"priors": PRIORS}
    w = make_weights("whole" if kernel == "rbf" else "none", len(y))
    options: dict[str, Any] = more | {"penalty": penalty, "weight": w}
    plain = Oracle(X, y, kernel, **options)
    model = fitted(plain, ridge="loo", solver=solver, n_landmarks=FEW[solver])
    options["basis"] = model.basis_ids_ if solver == "landmarks" else None
    tried = [Oracle(X, y, kernel, **options, ridge=r).loo_score() for r in plain.grid()]
    curve = model.loo_curve_
    assert_allclose(as_numbers(curve, "ridge"), plain.grid(), rtol=1e-12)
    # K is rounded by n ulp, which a vanishing ridge makes as many digits fewer; nobody chooses it
    digits = 1e-5 + len(y) * np.finfo(float).eps / np.asarray(plain.grid())
    assert (np.abs(as_numbers(curve, "mean ln P") / tried - 1) < digits).all()
    best = int(np.argmax(tried))
    assert [bool(c) for c in curve.column("choice")] == [i == best for i in range(9)]
    assert model.ridge_ == pytest.approx(plain.grid()[best], rel=1e-12)
    chosen = Oracle(X, y, kernel, **options, ridge=plain.grid()[best])
    assert model.mu_ == pytest.approx(chosen.mu, rel=1e-12)
    close(model.transform(X), chosen.project(X), 1e-6)


@pairs(**WAYS)
def test_of_equals_the_largest_ridge_is_chosen(penalty: str, solver: str) -> None:
    """A class that is certain beforehand is certain with every ridge; others do not count."""
    X, y = table(2)
    told: dict[str, Any] = {"penalty": penalty, "solver": solver, "priors": {"birch": 1.0}}
    model = KernelDiscriminant("laplacian", ridge="loo", **told).fit(X, y)
    assert_allclose(as_numbers(model.loo_curve_, "mean ln P"), 0, atol=1e-12)
    assert model.ridge_ == as_numbers(model.loo_curve_, "ridge")[-1]
