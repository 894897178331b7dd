"""The kernel discriminant against a slow oracle, and its equations against their matrices."""

import math
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
    SOLVERS,
    as_given,
    close,
    fitted,
    make_table,
    make_weights,
    pairs,
    quietly,
    same_posteriors,
)

from sortal import KernelDiscriminant
from sortal.errors import PerfectSeparationWarning

Float: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]

RIDGES: Final = {"rkhs": 0.01, "coefficients": 0.5}
SIZES: Final = (2, 3, 4)
every_penalty = pytest.mark.parametrize("penalty", RIDGES)
every_size = pytest.mark.parametrize("n_classes", SIZES)


@cache
def table(n_classes: int, seed: int = 0) -> tuple[Float, Labels]:
    return make_table(seed, n_classes)


def make_oracle(kernel: str, penalty: str, n_classes: int, **more: Any) -> tuple[Oracle, Float]:
    """An oracle, and rows that are asked about: some of the fit, some others."""
    X, y = table(n_classes)
    options = KERNELS[kernel]
    asked = np.vstack([X[::3], X[1:9] + np.random.default_rng(1).normal(size=(8, 3))])
    given = as_given(options, X, X)
    told: dict[str, Any] = {"ridge": RIDGES[penalty], "penalty": penalty} | more
    return Oracle(given, y, **options, **told), as_given(options, X, asked)


def agrees(model: Any, oracle: Oracle, asked: Float) -> None:
    """All that a model says."""
    assert model.classes_.tolist() == oracle.classes
    assert model.mu_ == pytest.approx(oracle.mu, rel=1e-12)
    close(model.eigenvalues_, oracle.eigenvalues)
    close(model.transform(asked), oracle.project(asked))
    close(model.projected_means_, oracle.means)
    rounding = 1e-15 * len(oracle.y) * np.abs(oracle.means).max(axis=0) ** 2
    scatters = oracle.scatters
    allowed = 1e-8 * scatters.max(axis=0) + rounding
    assert (np.abs(model.projected_scatters_ - scatters) <= allowed).all()
    close(model.priors_, oracle.prior, 1e-12)
    logs = oracle.log_posteriors(asked)
    same_posteriors(model.predict_log_proba(asked), logs)
    close(model.predict_proba(asked), np.exp(logs))
    assert model.predict(asked).tolist() == [oracle.classes[k] for k in logs.argmax(axis=1)]
    found = model.decision_function(asked)
    if len(oracle.classes) == 2:
        close(found, logs[:, 1] - logs[:, 0])
    else:  # of several functions only the differences mean something
        close(found - found[:, :1], logs - logs[:, :1])
    solves(model, oracle)


def solves(model: Any, oracle: Oracle) -> None:
    """M a = λ (N + P) a, aᵀKa = 1, and aᵀ(N + P)a' = 0, matrices written out."""
    a, problem = model.dual_coef_, oracle.problem
    within = problem.within + problem.penalty
    left, right = problem.between @ a, model.eigenvalues_ * (within @ a)
    assert_allclose(left, right, rtol=0, atol=1e-7 * np.abs(left).max())
    assert_allclose(np.einsum("jq,ji,iq->q", a, problem.K_basis, a), 1, rtol=1e-9)
    cross = a.T @ within @ a
    lengths = np.sqrt(np.diag(cross))
    assert_allclose(cross / np.outer(lengths, lengths), np.eye(len(lengths)), atol=1e-8)
    assert (model.projected_means_[0] >= model.projected_means_[-1]).all()
    assert (np.diff(model.eigenvalues_) <= 0).all()


def test_two_rows_by_hand() -> None:
    """x = 1 and −1, linear: m = ±(1, −1), N = 0. P = μK, μ = 2·ridge, Ka = (1, −1)/√2 ⋅ …

    w is the unit vector of the line; λ = (m1 − m2)²/μ = 4/μ; ℓ² = μ, D = N as no degree is
    left; ln odds = ½·2·((x + 1)² − (x − 1)²)/μ = 4x/μ.
    """
    oracle = Oracle(np.array([[1.0], [-1.0]]), np.array(["a", "b"]), "linear", ridge=0.25)
    close(oracle.eigenvalues, [4 / 0.5])
    close(oracle.project([[3.0], [-2.0]]), [[3.0], [-2.0]])
    logs = oracle.log_posteriors(np.array([[0.3]]))[0]
    assert logs[0] - logs[1] == pytest.approx(4 * 0.3 / 0.5)
    model = fitted(oracle)
    close(model.eigenvalues_, [8.0])
    assert model.decision_function([[0.3]])[0] == pytest.approx(-2.4)


# --- Every option --------------------------------------------------------------------------------


@pairs(
    kernel=KERNELS,
    penalty=RIDGES,
    n_classes=SIZES,
    weights=["none", "whole", "fractions", "zeros"],
)
def test_every_kernel(kernel: str, penalty: str, n_classes: int, weights: str) -> None:
    n = len(table(n_classes)[1])
    oracle, asked = make_oracle(kernel, penalty, n_classes, weight=make_weights(weights, n))
    model = fitted(oracle)
    agrees(model, oracle, asked)
    assert model.solver_ == "dense"
    assert model.basis_ids_.tolist() == oracle.ids.tolist()
    assert model.ridge_ == RIDGES[penalty]
    if kernel in ("rbf", "rbf, as it is", "laplacian", "poly", "cubic"):
        assert model.gamma_ == pytest.approx(oracle.width, rel=1e-12)


@pairs(
    kernel=["rbf", "poly"],
    penalty=RIDGES,
    weights=["none", "whole", "fractions"],
    class_weight=["balanced", {"ash": 2, "cedar": 3}, {"birch": 0.3}],
)
def test_class_weights(kernel: str, penalty: str, weights: str, class_weight: Any) -> None:
    n = len(table(3)[1])
    more = {"weight": make_weights(weights, n), "class_weight": class_weight}
    oracle, asked = make_oracle(kernel, penalty, 3, **more)
    agrees(fitted(oracle), oracle, asked)


@pairs(kernel=["rbf", "poly"], penalty=RIDGES, sizes=[(2, 1), (3, 1), (4, 1), (4, 2), (4, 3)])
def test_fewer_directions(kernel: str, penalty: str, sizes: tuple[int, int]) -> None:
    n_classes, n_components = sizes
    oracle, asked = make_oracle(kernel, penalty, n_classes, n_components=n_components)
    model = fitted(oracle)
    agrees(model, oracle, asked)
    assert model.transform(asked).shape == (len(asked), n_components)


@pairs(penalty=RIDGES, n_classes=SIZES, kernel=["rbf", "poly"])
def test_priors_and_the_nearest_mean(kernel: str, penalty: str, n_classes: int) -> None:
    shares = np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum()
    priors = dict(zip(NAMES[:n_classes].tolist(), shares.tolist(), strict=True))
    oracle, asked = make_oracle(kernel, penalty, n_classes, priors=priors)
    agrees(fitted(oracle), oracle, asked)
    agrees(fitted(oracle, priors=shares), oracle, asked)
    plain, asked = make_oracle(kernel, penalty, n_classes)
    told = fitted(plain).predict_proba(asked, priors=shares)
    close(told, oracle.posteriors(asked))
    oracle, asked = make_oracle(kernel, penalty, n_classes, rule="nearest_mean")
    model = fitted(oracle)
    agrees(model, oracle, asked)
    lengths = oracle.problem.lengths(oracle.coefs, oracle.eigenvalues)
    far = [(((p - oracle.means) / lengths) ** 2).sum(axis=1) for p in oracle.project(asked)]
    assert model.predict(asked).tolist() == [oracle.classes[int(d.argmin())] for d in far]


@pairs(
    ridge=[1e-6, 1e-3, 1.0, 100.0],
    penalty=RIDGES,
    kernel=["laplacian", "poly", "linear"],
    solver=SOLVERS,
)
def test_ridges_of_any_size(kernel: str, penalty: str, ridge: float, solver: str) -> None:
    oracle, asked = make_oracle(kernel, penalty, 3, ridge=ridge)
    model = fitted(oracle, solver=solver)
    if solver == "landmarks":
        oracle, asked = make_oracle(kernel, penalty, 3, ridge=ridge, basis=model.basis_ids_)
    agrees(model, oracle, asked)


@pairs(
    penalty=RIDGES,
    n_classes=SIZES,
    kernel=["rbf", "poly"],
    weights=["none", "whole", "fractions"],
    solver=SOLVERS,
)
def test_a_ridge_by_the_number_of_rows(
    kernel: str, penalty: str, n_classes: int, weights: str, solver: str
) -> None:
    """2/n: whole weights are copies, of others rows count; class weights do not."""
    w = make_weights(weights, len(table(n_classes)[1]))
    told: dict[str, Any] = {"ridge": None, "weight": w, "class_weight": "balanced"}
    oracle, asked = make_oracle(kernel, penalty, n_classes, **told)
    model = fitted(oracle, solver=solver)
    if solver == "landmarks":
        told["basis"] = model.basis_ids_
        oracle, asked = make_oracle(kernel, penalty, n_classes, **told)
    agrees(model, oracle, asked)
    wanted = 2.0 / oracle.n_rows if penalty == "rkhs" else model.mu_
    assert model.ridge_ == pytest.approx(wanted, rel=1e-12)


@pairs(scale=["std", None], penalty=RIDGES, kernel=["rbf", "laplacian", "poly", "linear"])
def test_scales(kernel: str, penalty: str, scale: str | None) -> None:
    """With weights of the rows, and without those of the classes."""
    X, y = table(3)
    X = X * [1.0, 0.2, 3.0]
    w = make_weights("fractions", len(y))
    more: dict[str, Any] = {"ridge": 0.02, "penalty": penalty, "class_weight": "balanced"}
    oracle = Oracle(X, y, kernel, scale=scale, weight=w, **more)
    model = fitted(oracle)
    agrees(model, oracle, X + 0.1)
    if kernel in ("rbf", "laplacian"):
        # terms of variance 1 have widths of one over their number
        wanted = 1 / 3 if scale == "std" else oracle.width
        assert model.gamma_ == pytest.approx(wanted, rel=1e-12)


# --- Landmarks -----------------------------------------------------------------------------------


@pairs(
    penalty=RIDGES,
    n_classes=SIZES,
    kernel=[name for name in KERNELS if name != "precomputed"],
    weights=["none", "whole", "fractions", "zeros"],
)
def test_landmarks(kernel: str, penalty: str, n_classes: int, weights: str) -> None:
    n = len(table(n_classes)[1])
    more: dict[str, Any] = {"weight": make_weights(weights, n)}
    if weights == "whole":
        more["class_weight"] = "balanced"
    plain, asked = make_oracle(kernel, penalty, n_classes, **more)
    model = fitted(plain, solver="landmarks", n_landmarks=7)
    assert model.solver_ == "landmarks"
    ids = model.basis_ids_
    assert len(set(ids.tolist())) == len(ids) == model.n_landmarks_ <= 7
    assert model.n_landmarks_ == {"linear": 3, "poly": 6}.get(kernel, 7)
    oracle, asked = make_oracle(kernel, penalty, n_classes, **more, basis=ids)
    agrees(model, oracle, asked)


# --- Without a ridge -----------------------------------------------------------------------------


def with_twins(kernel: str, n_classes: int, twins: int, penalty: str, ridge: float) -> Oracle:
    """Some rows of the first class are there once more, in the second one."""
    X, y = table(n_classes)
    first = np.flatnonzero(y == NAMES[0])[:twins]
    rows, labels = np.vstack([X, X[first]]), np.append(y, np.full(twins, NAMES[1]))
    return Oracle(rows, labels, ridge=ridge, penalty=penalty, **KERNELS[kernel])


@pairs(
    penalty=RIDGES,
    n_classes=SIZES,
    kernel=["laplacian", "poly", "linear"],
    twins=[0, 1, 2, 5],
)
@pytest.mark.filterwarnings("ignore::sortal.errors.PerfectSeparationWarning")
def test_the_limit_of_a_vanishing_ridge(
    kernel: str, penalty: str, n_classes: int, twins: int
) -> None:
    """Twins make one difference of class means lie within, the others stay apart."""
    oracle = with_twins(kernel, n_classes, twins, penalty, 0.0)
    model = fitted(oracle)
    apart = kernel == "laplacian"
    n_apart = (n_classes - 1 - (twins > 0)) * apart
    assert np.isinf(model.eigenvalues_).tolist() == [True] * n_apart + [False] * (
        n_classes - 1 - n_apart
    )
    close(model.eigenvalues_[n_apart:], oracle.eigenvalues[n_apart:])
    close(model.transform(oracle.X), oracle.project(oracle.X))
    close(model.projected_means_, oracle.means)
    logs = oracle.log_posteriors(oracle.X)
    same_posteriors(model.predict_log_proba(oracle.X), logs, 1e-7)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@every_penalty
def test_such_a_kernel_separates_every_training_set(kernel: str, penalty: str) -> None:
    X, _ = table(2)
    y = np.random.default_rng(0).choice(["a", "b"], len(X))
    oracle = Oracle(X, y, kernel, ridge=0, penalty=penalty)
    with pytest.warns(PerfectSeparationWarning, match="separates every training set"):
        model = fitted(oracle)
    assert model.eigenvalues_.tolist() == [math.inf]
    assert model.score(X, y) == 1
    close(model.transform(X), oracle.project(X), 1e-6)
    p = model.transform(X)[:, 0]
    for label, mean in zip(["a", "b"], model.projected_means_[:, 0], strict=True):
        assert_allclose(p[y == label], mean, rtol=0, atol=1e-7 * np.abs(p).max())
    assert any("separates" in note for note in model.fit_report_.notes)


def test_a_ridge_is_never_warned_of() -> None:
    X, y = table(2)
    for ridge in (1e-8, 1e-3):
        model = KernelDiscriminant("laplacian", ridge=ridge).fit(X, y)
        assert np.isfinite(model.eigenvalues_).all()
    assert quietly(Oracle(X, y, "linear", ridge=0.0)).eigenvalues_[0] < math.inf
