"""Pieces of leave-one-out: statistics without a row, corrections of rank one, parts left out."""

from typing import Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from sortal import LinearDiscriminant
from sortal.discriminants.held_out import read_folds, without_each
from sortal.discriminants.leave_one_out import (
    GRID,
    FittedStatistics,
    GridScores,
    best,
    read_fitted,
    same_rows,
)
from sortal.discriminants.rank_one import (
    GaussianLeaveOut,
    LeftRows,
    fourth_change,
    intensity,
    log_products,
    without_row,
)
from sortal.discriminants.statistics import ClassStatistics, read_statistics

seeds: Final = st.integers(0, 10**9)
Float = NDArray[np.float64]


def statistics(X: Any, y: Any, w: Any = None) -> ClassStatistics:
    model: Any = LinearDiscriminant().fit(X, y, sample_weight=w)
    return read_statistics(model._summary, model._schema)


def table(seed: int) -> tuple[Float, Any, Any]:
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], [5, 6])
    return rng.normal(size=(11, 3)) * [1, 2, 5] + 3 * y[:, None], y, rng.integers(1, 4, 11)


@given(seeds, st.sampled_from([None, {0: 3}, {0: 0.5}, "balanced"]))
def test_statistics_without_a_row(seed: int, class_weight: Any) -> None:
    X, y, w = table(seed)
    fitted = read_fitted(statistics(X, y, w), class_weight, None, 0)
    left = fitted.without(int(y[2]), w[2:3].astype(float))
    others = np.arange(11) != 2
    rest = read_fitted(statistics(X[others], y[others], w[others]), class_weight, None, 0)
    expected = rest.base(0, 0.0)
    assert_allclose(left.weight[:, 0], expected.weight, rtol=1e-14)
    assert_allclose(left.rows[:, 0], expected.rows, rtol=1e-14)
    base = fitted.base(int(y[2]), float(w[2]))
    u = X[2] - base.means[y[2]]
    scatter = base.scatter[y[2]] - left.cut[0] * np.outer(u, u)
    assert_allclose(scatter, expected.scatter[y[2]], atol=1e-10 * np.abs(scatter).max())
    assert_allclose(base.means[y[2]] - left.shift[0] * u, expected.means[y[2]], rtol=1e-12)


@given(seeds)
def test_fourth_sums_without_a_row(seed: int) -> None:
    X, y, w = table(seed)
    fitted, others = read_fitted(statistics(X, y, w), None, None, 0), np.arange(11) != 2
    base, left = fitted.base(0, 0.0), fitted.without(int(y[2]), w[2:3].astype(float))
    u = (X[2] - base.means[y[2]])[None]
    change = fourth_change(base, int(y[2]), u, (u * u).sum(axis=1), left, 1.0)
    expected = statistics(X[others], y[others], w[others]).fourth.sum()
    assert_allclose(base.fourth.sum() + change[0], expected, rtol=1e-10)


@pytest.mark.parametrize("name", ["ledoit_wolf", "oas"])
@given(seeds)
def test_intensities_without_a_row(name: Any, seed: int) -> None:
    X, y, w = table(seed)
    fitted, others = read_fitted(statistics(X, y, w), None, None, 0), np.arange(11) != 2
    base = GaussianLeaveOut("unbiased", ((1.0, name),)).prepare(fitted.base(0, 0.0))
    left, (basis,) = fitted.without(int(y[2]), w[2:3].astype(float)), base.tried[0].bases
    u = (X[2] - base.stats.means[y[2]])[None]
    rows = LeftRows(base, int(y[2]), u, left, "unbiased")
    turned = rows.turned(basis)
    found = intensity(name, basis.values, rows, turned, turned.products[0].sum(axis=1))
    one = LinearDiscriminant(shrinkage=name).fit(X[others], y[others], sample_weight=w[others])
    assert_allclose(found[0], one.shrinkage_, rtol=1e-9)


def test_a_class_that_loses_its_only_row_has_gone() -> None:
    X, y = np.array([[0.0], [1.0], [2.0], [5.0]]), np.array([0, 0, 0, 1])
    left = read_fitted(statistics(X, y), None, None, 0).without(1, np.ones(1))
    assert left.weight[:, 0].tolist() == [3, 0]
    assert left.log_prior[:, 0].tolist() == [0, -np.inf]
    assert left.pooled_divisor("unbiased").tolist() == [2]
    assert (left.cut.tolist(), left.shift.tolist()) == ([0], [0])


@given(seeds)
def test_corrections_of_rank_one(seed: int) -> None:
    """Sherman, Morrison and the determinant lemma, against inverses."""
    rng = np.random.default_rng(seed)
    diagonal, h, y = rng.uniform(1, 3, 4), rng.normal(size=4) / 4, rng.normal(size=(3, 4))
    cut = np.array([0.8])
    A = np.diag(diagonal) - cut * np.outer(h, h)
    own, along = np.array([(h / diagonal) @ h]), y @ (h / diagonal)
    length = (y**2 / diagonal).sum(axis=1)
    found, rest, unsafe = without_row(own, along[:, None], length[:, None], cut)
    assert not unsafe.any()
    assert_allclose(found[:, 0], np.einsum("ki,ij,kj->k", y, np.linalg.inv(A), y), rtol=1e-12)
    assert_allclose(np.log(rest) + np.log(diagonal).sum(), np.linalg.slogdet(A)[1], rtol=1e-12)


def test_what_loses_its_digits_is_marked() -> None:
    own = np.array([0.5, 0.9995, 1.0, np.nan])
    nothing = np.zeros((1, 4))
    *_, unsafe = without_row(own, nothing, nothing, np.ones(4))
    assert unsafe.tolist() == [False, True, True, True]


def test_products_before_logarithms() -> None:
    rng = np.random.default_rng(0)
    diagonal = rng.uniform(1e-3, 1, size=(5, 300)) * 10.0 ** rng.integers(-90, 90, 300)
    for rows in (diagonal, diagonal[:1]):
        assert_allclose(log_products(rows[None])[0], np.log(rows).sum(axis=1), rtol=1e-12)


@pytest.mark.parametrize("n_parts", range(2, 7))
def test_parts_without_each(n_parts: int) -> None:
    X, y, w = table(n_parts)
    models: list[Any] = [
        LinearDiscriminant().fit(X + i, y, sample_weight=w) for i in range(n_parts)
    ]
    parts = [model._summary for model in models]
    for i, found in enumerate(without_each(parts)):
        rows = np.vstack([X + j for j in range(n_parts) if j != i])
        again: Any = LinearDiscriminant().fit(
            rows, np.tile(y, n_parts - 1), np.tile(w, n_parts - 1)
        )
        assert same_rows(found, again._summary)
        assert same_rows(found, parts[i]) == (n_parts == 2 and np.array_equal(rows, X + i))


def test_the_simplest_of_equals() -> None:
    """Sums that differ by rounding are equal."""
    sums = np.array([-5.0, -4.0, -4.0 - 1e-12, -4.0 - 1e-10])
    pairs = [(0.0, 0.0), (0.0, 0.5), (0.1, 0.0), (1.0, 1.0)]
    assert best(
        pairs, GridScores(sums, 1.0, np.empty(0, dtype=np.intp), np.empty((0, 4), dtype=bool))
    ) == (0.1, 0.0)
    assert len(GRID) == 14


def test_folds_that_are_dealt_or_given() -> None:
    classes = np.array([0, 1, -1, 0, 1, 0], dtype=np.int32)
    own, n_folds = read_folds(2, classes)
    assert n_folds == 2
    assert own[2] == -1
    assert sorted(own[own >= 0].tolist()) == [0, 0, 0, 1, 1] or sum(own == 1) == 3
    own, n_folds = read_folds(["x", 1, "y", "x", 2.5, (1, 2)], classes)
    assert (own.tolist(), n_folds) == ([0, 1, 2, 0, 3, 4], 5)


def test_origins_hold_what_a_float_can() -> None:
    X = np.array([[1e8 + 0.1], [1e8 + 0.4], [1e8 - 3.0], [1e8 - 3.5]])
    fitted: FittedStatistics = read_fitted(statistics(X, [0, 0, 1, 1]), None, None, 0)
    u = (X[0] - fitted.origins[0]) - fitted.rests[0]
    assert_allclose(u, (X[0] - X[1]) / 2, rtol=1e-9)
