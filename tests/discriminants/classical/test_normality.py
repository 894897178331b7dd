"""Tests of normality against their definitions, over all pairs of rows, and against SciPy."""

from typing import Final, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from sortal.data.columns import ColumnSchema, Design, Schema
from sortal.discriminants.classical import assumptions
from sortal.discriminants.classical.assumptions import mardia, shape_of, statistics_of

Float: TypeAlias = NDArray[np.float64]
seeds: Final = st.integers(0, 10**9)


def skewed(seed: int, n: int, p: int) -> Float:
    rng = np.random.default_rng(seed)
    return np.asarray(rng.gamma(2.0, size=(n, p)) @ (np.eye(p) + 0.3 * rng.normal(size=(p, p))))


def all_pairs(X: Float) -> tuple[float, float]:
    """Mardia's b1 and b2 by their definitions."""
    z = X - X.mean(axis=0)
    D = z @ np.linalg.inv(z.T @ z / len(X)) @ z.T
    return float((D**3).sum() / len(X) ** 2), float((np.diag(D) ** 2).mean())


@given(seeds, st.integers(1, 5), st.integers(8, 40))
def test_mardia_over_all_pairs(seed: int, p: int, n: int) -> None:
    X = skewed(seed, n, p)
    found, (b1, b2) = mardia(X, p), all_pairs(X)
    assert found.skewness == pytest.approx(b1, rel=1e-7)
    assert found.kurtosis == pytest.approx(b2, rel=1e-7)
    df = p * (p + 1) * (p + 2) // 6
    assert found.df == df
    assert found.p_skewness == pytest.approx(scipy_stats.chi2.sf(n * b1 / 6, df), rel=1e-5)
    z = (b2 - p * (p + 2)) / np.sqrt(8 * p * (p + 2) / n)
    assert found.p_kurtosis == pytest.approx(2 * scipy_stats.norm.sf(abs(z)), rel=1e-5)


@given(seeds, st.integers(1, 4))
def test_mardia_does_not_depend_on_units(seed: int, p: int) -> None:
    X = skewed(seed, 25, p)
    rng = np.random.default_rng(seed)
    turned = X @ np.linalg.qr(rng.normal(size=(p, p)))[0] * rng.choice([1e-100, 1e-3, 1e6], p) + 7
    one, two = mardia(X, p), mardia(turned * 2.0, p)
    if two.why:  # a column of 1e-100 beside 7 is lost
        return
    assert one.skewness == pytest.approx(two.skewness, rel=1e-4)
    assert one.kurtosis == pytest.approx(two.kurtosis, rel=1e-4)


def test_mardia_of_tied_columns_counts_directions() -> None:
    X = skewed(1, 30, 2)
    tied = np.column_stack([X, X.sum(axis=1), np.full(30, 0.1)])
    one, two = mardia(X, 2), mardia(tied, 2)
    assert one.skewness == pytest.approx(two.skewness)
    assert one.df == two.df


@pytest.mark.parametrize(
    ("X", "rank", "word"),
    [
        (np.eye(3), 3, "3 rows for 3 directions"),
        (np.column_stack([np.arange(9.0), np.ones(9)]), 2, "along 1 of 2"),
        (np.ones((5, 1)), 0, "nothing varies"),
    ],
)
def test_mardia_says_why_not(X: Float, rank: int, word: str) -> None:
    found = mardia(X, rank)
    assert word in found.why
    assert (found.skewness, found.kurtosis, found.p_kurtosis) == (None, None, None)


def test_the_limit_of_work_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assumptions, "MOST_PRODUCTS", 100)
    found = mardia(skewed(0, 20, 2), 2)
    assert found.skewness is None
    assert "not tried: 20 rows × 2³" in found.why
    assert found.kurtosis is not None


@given(seeds, st.integers(20, 200), st.sampled_from([1e-130, 1e-3, 1.0, 1e6, 1e130]))
def test_shapes_as_scipy_has_them(seed: int, n: int, unit: float) -> None:
    x = skewed(seed, n, 1)[:, 0]
    found, expected = shape_of(x * unit), scipy_stats.normaltest(x)
    assert found.skewness == pytest.approx(scipy_stats.skew(x), rel=1e-9)
    assert found.excess == pytest.approx(scipy_stats.kurtosis(x), rel=1e-8, abs=1e-10)
    assert found.chi_squared == pytest.approx(expected.statistic, rel=1e-7)
    assert found.p == pytest.approx(expected.pvalue, rel=1e-6)


def test_shapes_of_few_rows() -> None:
    few = shape_of(np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]))
    assert few.skewness == pytest.approx(scipy_stats.skew(2.0 ** np.arange(7)))
    assert few.p is None
    assert "fewer than 8" in few.why
    enough = shape_of(np.array([2.0**i for i in range(8)]))
    assert 0 < (enough.p or 0) < 1
    assert shape_of(np.full(50, 0.1)).why == "constant"
    assert shape_of(np.array([3.0])).why == "too few rows"


def test_symmetric_rows_have_no_skewness_at_all() -> None:
    x = np.concatenate([np.arange(-10.0, 0), np.arange(1.0, 11)])
    found = shape_of(x)
    assert found.skewness == 0
    assert (found.chi_squared or 0) == pytest.approx(scipy_stats.kurtosistest(x).statistic ** 2)


@given(seeds, st.sampled_from([0.0, 1e3, 1e8]))
def test_statistics_of_rows(seed: int, offset: float) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 3)) + offset
    X[:, 2] = 0.1
    codes = rng.integers(0, 2, 30) * 2  # the class between has no rows
    design = Design(Schema(tuple(ColumnSchema(c, "number") for c in "abc"), ("k", "l", "m")))
    stats = statistics_of(X, codes, design)
    np.testing.assert_array_equal(stats.present, np.bincount(codes, minlength=3) > 0)
    for k in np.unique(codes):
        mine = X[codes == k]
        assert stats.means[k] == pytest.approx(mine.mean(axis=0), rel=1e-14)
        z = mine - mine.mean(axis=0)
        np.testing.assert_allclose(stats.scatter[k][:2, :2], (z.T @ z)[:2, :2], atol=1e-6)
        assert (stats.scatter[k][2] == 0).all()
