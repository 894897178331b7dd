"""The kernel discriminant with little or no ridge: against many digits, and explicit features."""

import warnings
from itertools import combinations_with_replacement
from typing import Any, Final, TypeAlias

import mpmath
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from tests.kernels.exact import DIGITS, EPS, cases, difference, fitted
from tests.kernels.tables import PENALTIES, iris, pairs

from sortal import FisherDiscriminant, KernelDiscriminant, LinearDiscriminant, datasets
from sortal.errors import PerfectSeparationWarning, SortalWarning
from sortal.kernels.learn import SolverChoice

Float: TypeAlias = NDArray[np.float64]

# What a fit by Cholesky may take for rounding in K, where there is a ridge.
SHARP: Final = 1e-9


@pytest.mark.parametrize(
    "share", [0, *(pytest.param(i, marks=pytest.mark.full) for i in range(1, 6))]
)
def test_many_digits_say_the_same(share: int) -> None:
    """To what the rounding of K leaves; where that is little, columns far from 0 are named."""
    for name, exact in cases(share):
        with mpmath.workdps(DIGITS), warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", SortalWarning)
            off, allowed = difference(exact, fitted(exact)), 4 * exact.blur + 16 * EPS
        if exact.ridge > 0:
            allowed = max(min(allowed, len(exact.y) * EPS / exact.ridge), SHARP)
        warned = any("'x0', 'x1', 'x2' lie so far from 0" in str(w.message) for w in told)
        assert warned or off <= allowed < 1e-3, name


# --- Features that are written out ---------------------------------------------------------------


def monomials(terms: Float, degree: int, lower: bool) -> Float:
    """Products of so many terms, or of as many at most."""
    sizes = range(1 if lower else degree, degree + 1)
    chosen = [c for k in sizes for c in combinations_with_replacement(range(terms.shape[1]), k)]
    return np.column_stack([terms[:, c].prod(axis=1) for c in chosen])


def sepals() -> tuple[Float, Float, Any]:
    X, y = iris()
    terms = X.to_numpy()[:, :2]
    return terms, terms, y


def mixed() -> tuple[pd.DataFrame, Float, Any]:
    """Two numbers and a word, which says something of the classes, as a table and as terms."""
    rng = np.random.default_rng(5)
    y = np.arange(90) % 3
    words = np.array(["p", "q", "r"])[np.where(rng.random(90) < 0.5, y, rng.integers(0, 3, 90))]
    X = rng.normal(size=(90, 2)) + 0.8 * y[:, None]
    terms = np.column_stack([X, *(words == w for w in "pqr")]).astype(float)
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "word": words}), terms, y


@pytest.mark.filterwarnings("ignore::sortal.errors.CollinearityWarning")
@pairs(
    case=[(1, 0.0, "mixed"), (1, 1.0, "sepals"), (2, 0.0, "sepals"), (2, 1.0, "mixed"),
          (2, 1.0, "sepals"), (3, 0.0, "mixed"), (3, 1.0, "sepals")],
    penalty=PENALTIES,
)  # fmt: skip
def test_products_are_the_linear_discriminant_of_explicit_features(
    case: tuple[int, float, str], penalty: str
) -> None:
    """λ is Fisher's, probabilities are those of the linear discriminant, also left out."""
    degree, coef0, table = case
    X, terms, y = mixed() if table == "mixed" else sepals()
    w = np.random.default_rng(0).integers(1, 4, len(y)) if degree == 2 else None
    explicit = monomials(terms, degree, lower=coef0 > 0)
    told: dict[str, Any] = {"degree": degree, "coef0": coef0, "penalty": penalty}
    model = KernelDiscriminant("poly", ridge=0, **told).fit(X, y, sample_weight=w)
    plain = LinearDiscriminant().fit(explicit, y, sample_weight=w)
    wanted = FisherDiscriminant().fit(explicit, y, sample_weight=w).eigenvalues_
    # cubes of sepals have the condition 1e12 as columns of a table
    digits = 1e-4 if degree == 3 else 1e-8
    assert_allclose(model.eigenvalues_, wanted, rtol=digits)
    assert_allclose(model.predict_proba(X), plain.predict_proba(explicit), atol=digits)
    assert_allclose(model.loo_proba(X, y, w), plain.loo_proba(explicit, y, w), atol=digits)
    small = KernelDiscriminant("poly", ridge=1e-15, **told).fit(X, y, sample_weight=w)
    assert_allclose(small.eigenvalues_, wanted, rtol=max(digits, 1e-6))


def test_a_direction_that_all_rows_share_is_none() -> None:
    """(xᵀz + 1)² has a constant; λ are those of exact rationals."""
    X, _, y = sepals()
    model = KernelDiscriminant("poly", coef0=1, ridge=0).fit(X, y == "setosa")
    assert_allclose(model.eigenvalues_, [0.23267019], rtol=1e-7)
    assert model.score(X, y == "setosa") == 149 / 150
    model = KernelDiscriminant("poly", coef0=1, ridge=0).fit(X, y)
    assert_allclose(model.eigenvalues_, [7.97724254, 0.2808819], rtol=1e-7)
    points = datasets.table_19_5()
    model = KernelDiscriminant("poly", coef0=1, ridge=0).fit(points, "Class")
    assert_allclose(model.eigenvalues_, [12.64968276], rtol=1e-7)


@pytest.mark.parametrize("solver", ["dense", "landmarks"])
@pytest.mark.parametrize(
    ("columns", "score"),
    [
        (["bill_length_mm", "body_mass_g", "island"], 323),
        (["body_mass_g", "sex"], 263),
        (["flipper_length_mm", "island", "sex"], 291),
    ],
)
def test_a_linear_kernel_with_a_category(
    columns: list[str], score: int, solver: SolverChoice
) -> None:
    """Indicators of a category add up to 1, far from which the grams of a penguin are."""
    penguins = datasets.penguins().dropna()
    X, y = penguins[columns], penguins["species"].to_numpy()
    model = KernelDiscriminant("linear", ridge=0, solver=solver).fit(X, y)
    plain = LinearDiscriminant().fit(X, y)
    assert model.score(X, y) == plain.score(X, y) == score / 333
    assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=1e-6)
    assert_allclose(model.loo_proba(X, y), plain.loo_proba(X, y), atol=1e-6)


@pytest.mark.parametrize("solver", ["dense", "landmarks"])
def test_powers_of_columns_far_from_0_are_warned_of_without_a_ridge(solver: str) -> None:
    X, y = iris()
    far = X.iloc[:, :2] + 1000
    told: dict[str, Any] = {"degree": 2, "coef0": 1.0, "solver": solver}
    with pytest.warns(SortalWarning, match="'sepal_length', 'sepal_width' lie so far from 0"):
        KernelDiscriminant("poly", ridge=0, **told).fit(far, y)
    KernelDiscriminant("poly", ridge=1e-3, **told).fit(far, y)


def test_a_row_that_alone_reaches_somewhere_is_left_out() -> None:
    """Without it the others lie apart as before, and nothing is divided by what rounding left."""
    X, _, y = mixed()
    u, y = X[["a", "b"]].to_numpy()[:24], y[:24]
    model = KernelDiscriminant("laplacian", gamma=0.5, scale=None, ridge=0)
    with pytest.warns(PerfectSeparationWarning):
        found = model.fit(u, y).loo_proba(u, y)
    for i in (0, 7, 23):
        rest = np.delete(np.arange(24), i)
        with pytest.warns(PerfectSeparationWarning):
            model.fit(u[rest], y[rest])
        assert_allclose(model.predict_proba(u[[i]])[0], found[i], atol=1e-7)
