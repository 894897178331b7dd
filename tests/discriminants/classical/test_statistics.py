"""Classical statistics: textbook formulas written out, laws, and what has no answer."""

import warnings
from typing import Any, Final, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from sortal import LinearDiscriminant
from sortal.discriminants.classical.statistics import (
    box_m,
    canonical_statistics,
    count_parameters,
    wilks_tests,
)
from sortal.errors import CollinearityWarning, PerfectSeparationWarning
from sortal.records.tables import Table, Working

Float: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[np.int64]


def make_rows(seed: int, n_classes: int, p: int) -> tuple[Float, Labels]:
    """Classes of different sizes, shapes and places; every class has more rows than columns."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(p + 4, 25, n_classes)
    y = rng.permutation(np.repeat(np.arange(n_classes), sizes))
    shapes = np.eye(p) + 0.3 * rng.normal(size=(n_classes, p, p))
    X = np.einsum("ip,ipq->iq", rng.normal(size=(len(y), p)), shapes[y])
    return X + rng.normal(size=(n_classes, p))[y], y


rows: Final = st.builds(make_rows, st.integers(0, 10**9), st.integers(2, 5), st.integers(1, 4))


def fitted(X: Float, y: Any, weight: Any = None, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", (CollinearityWarning, PerfectSeparationWarning))
        return LinearDiscriminant(**options).fit(X, y, sample_weight=weight)


def statistics(X: Float, y: Any, weight: Any = None, **options: Any) -> Any:
    return fitted(X, y, weight, **options)._statistics()


def covariance(X: Float) -> Float:
    return np.asarray(np.cov(X.T)).reshape(X.shape[1], X.shape[1])


def scatters(X: Float, y: Labels) -> tuple[Float, Float]:
    """B and W by definition."""
    W = sum(covariance(X[y == k]) * ((y == k).sum() - 1) for k in np.unique(y))
    z = X - X.mean(axis=0)
    return np.asarray(z.T @ z - W), np.asarray(W)


# --- Formulas ------------------------------------------------------------------------------------


@given(rows)
def test_wilks_is_a_quotient_of_determinants(data: tuple[Float, Labels]) -> None:
    X, y = data
    B, W = scatters(X, y)
    stats = statistics(X, y)
    tests = wilks_tests(stats, canonical_statistics(stats))
    n, p, g = len(X), X.shape[1], len(np.unique(y))
    assert tests[0].value == pytest.approx(np.linalg.det(W) / np.linalg.det(W + B), rel=1e-9)
    for i, test in enumerate(tests, start=1):
        df = (p - i + 1) * (g - i)
        chi = -(n - 1 - (p + g) / 2) * np.log(test.value)
        assert test.bartlett.df == df
        assert test.bartlett.value == pytest.approx(chi, rel=1e-7, abs=1e-10)
        assert test.bartlett.p == pytest.approx(scipy_stats.chi2.sf(chi, df), rel=1e-5, abs=1e-300)


@pytest.mark.parametrize(("g", "p"), [(2, 3), (2, 1), (3, 2), (4, 1)])
def test_rao_is_exact_where_an_exact_test_is_known(g: int, p: int) -> None:
    """Hotelling's T² of two classes, and the analysis of variance of one column."""
    X, y = make_rows(3, g, p)
    stats = statistics(X, y)
    test = wilks_tests(stats, canonical_statistics(stats))[0]
    rao, n = test.rao, len(X)
    assert rao is not None
    if p == 1:
        exact = scipy_stats.f_oneway(*(X[y == k, 0] for k in range(g)))
        assert rao.value == pytest.approx(exact.statistic)
        assert rao.p == pytest.approx(exact.pvalue)
        assert (rao.df, rao.df2) == (g - 1, n - g)
    elif g == 2:
        assert (rao.df, rao.df2) == (p, n - p - 1)
        assert rao.value == pytest.approx((1 / test.value - 1) * (n - p - 1) / p)
    else:
        root = np.sqrt(test.value)
        assert (rao.df, rao.df2) == (2 * p, 2 * (n - p - 2))
        assert rao.value == pytest.approx((1 / root - 1) * (n - p - 2) / p)


@given(rows)
def test_box_by_its_definition(data: tuple[Float, Labels]) -> None:
    X, y = data
    p, labels = X.shape[1], np.unique(y)
    nu = np.array([(y == k).sum() - 1 for k in labels])
    own = np.array([covariance(X[y == k]) for k in labels])
    pooled = np.einsum("k,kij->ij", nu, own) / nu.sum()
    M = nu.sum() * np.log(np.linalg.det(pooled)) - nu @ np.log(np.linalg.det(own))
    found = box_m(statistics(X, y))
    assert found.value == pytest.approx(M, rel=1e-8, abs=1e-9)
    logs = np.array(found.log_determinants, dtype=np.float64)
    assert_allclose(logs, np.log(np.linalg.det(own)), rtol=1e-8, atol=1e-10)
    assert found.pooled == pytest.approx(np.log(np.linalg.det(pooled)), rel=1e-8, abs=1e-10)
    assert found.chi_squared.df == found.f.df == p * (p + 1) * (len(labels) - 1) / 2


def test_box_of_one_column_is_bartletts_test() -> None:
    """Of equal variances; the two corrections are the same for one column."""
    X, y = make_rows(8, 4, 1)
    found = box_m(statistics(X, y)).chi_squared
    nu = np.array([(y == k).sum() - 1 for k in range(4)])
    exact = scipy_stats.bartlett(*(X[y == k, 0] for k in range(4)))
    plain = exact.statistic * (1 + ((1 / nu).sum() - 1 / nu.sum()) / 9)  # before its own correction
    assert found.value == pytest.approx(plain * (1 - ((1 / nu).sum() - 1 / nu.sum()) / 9))


@pytest.mark.parametrize(("p", "below"), [(1, True), (4, False)])
def test_both_cases_of_the_f_approximation(p: int, below: bool) -> None:
    """c2 is below c1² for one column and above it for many: Box has a formula for each."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [12, 20, 17])
    box = box_m(statistics(rng.normal(size=(49, p)), y))
    nu = np.bincount(y) - 1.0
    c1 = (1 / nu).sum() - 1 / nu.sum()
    c1 *= (2 * p**2 + 3 * p - 1) / (12 * (p + 1))
    c2 = ((1 / nu**2).sum() - 1 / nu.sum() ** 2) * (p - 1) * (p + 2) / 12
    assert (c2 < c1**2) == below
    assert box.f.df is not None
    assert box.value is not None
    f1, M = box.f.df, box.value
    f2 = (f1 + 2) / abs(c2 - c1**2)
    b = f2 / (1 - c1 + 2 / f2) if below else f1 / (1 - c1 - f1 / f2)
    assert box.f.df2 == pytest.approx(f2)
    assert box.f.value == pytest.approx(f2 * M / (f1 * (b - M)) if below else M / b)
    assert box.f.p == pytest.approx(box.chi_squared.p, rel=0.02)


@given(rows)
def test_functions_by_their_definitions(data: tuple[Float, Labels]) -> None:
    X, y = data
    labels = np.unique(y)
    model = fitted(X, y)
    found = canonical_statistics(model._statistics())
    _, W = scatters(X, y)
    pooled = W / (len(X) - len(labels))
    deviation = np.sqrt(np.diag(pooled))
    raw = found.standardized / deviation[:, None]
    assert_allclose(raw.T @ pooled @ raw, np.eye(raw.shape[1]), atol=1e-8)
    within = X - np.array([X[y == k].mean(axis=0) for k in labels])[y]
    scores = within @ raw
    expected = [[np.corrcoef(x, a)[0, 1] for a in scores.T] for x in within.T]
    assert_allclose(found.structure, expected, atol=1e-8)
    means = np.array([(X[y == k] - X.mean(axis=0)).mean(axis=0) for k in labels])
    assert_allclose(found.centroids, means @ raw, atol=1e-8)
    # empirical priors: the same directions as those of the model, with their signs
    assert_allclose(raw, model.scalings_, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    ("K", "p", "linear", "quadratic"),
    [(2, 1, (4, 2), (5, 3)), (3, 4, (24, 10), (44, 30)), (11, 10, (175, 110), (725, 660))],
)
def test_numbers_of_parameters(
    K: int, p: int, linear: tuple[int, int], quadratic: tuple[int, int]
) -> None:
    found = [(made.estimated, made.in_boundaries) for made in count_parameters(K, p)]
    assert found == [linear, quadratic]


# --- Laws ----------------------------------------------------------------------------------------


def test_class_weights_do_not_touch_box() -> None:
    """Covariances are pooled by the sizes of the classes, so that M cannot be negative."""
    X, y = make_rows(2, 3, 3)
    plain, heavy = statistics(X, y), statistics(X, y, class_weight={0: 0.1, 1: 7.3, 2: 1.0})
    assert box_m(plain).value == pytest.approx(box_m(heavy).value, rel=1e-10)


@pytest.mark.parametrize("options", [{"priors": [0.8, 0.1, 0.1]}, {"shrinkage": 0.7}])
def test_priors_and_shrinkage_change_nothing(options: dict[str, Any]) -> None:
    X, y = make_rows(2, 3, 3)
    names = ["eigenvalues", "wilks", "manova", "structure", "centroids", "box_m", "determinants"]
    plain, other = fitted(X, y).working(), fitted(X, y, **options).working()
    assert [plain[name].rows for name in names] == [other[name].rows for name in names]


@pytest.mark.parametrize("scale", [1e-130, 1e-3, 1e6, 1e130])
def test_units_do_not_overflow(scale: float) -> None:
    X, y = make_rows(4, 3, 3)
    units = np.array([1.0, scale, 1 / scale])
    before, after = statistics(X, y), statistics(X * units, y)
    a, b = canonical_statistics(before), canonical_statistics(after)
    assert_allclose(a.eigenvalues, b.eigenvalues, rtol=1e-9)
    assert_allclose(a.standardized, b.standardized, rtol=1e-8)
    assert_allclose(a.structure, b.structure, rtol=1e-8)
    one, two = box_m(before), box_m(after)
    assert one.value == pytest.approx(two.value, rel=1e-9)
    a_logs, b_logs = np.array([one.log_determinants, two.log_determinants], dtype=np.float64)
    assert_allclose(a_logs, b_logs, rtol=1e-9, atol=1e-9)
    alone = box_m(statistics(X * np.array([1.0, scale, 1.0]), y))
    assert alone.pooled == pytest.approx((one.pooled or 0.0) + 2 * np.log(scale), rel=1e-12)


@given(rows)
def test_tied_columns_count_once(data: tuple[Float, Labels]) -> None:
    X, y = data
    tied = np.column_stack([X, X.sum(axis=1), np.full(len(X), 3.0)])
    before, after = statistics(X, y), statistics(tied, y)
    a, b = canonical_statistics(before), canonical_statistics(after)
    assert b.rank == X.shape[1]
    assert_allclose(a.eigenvalues, b.eigenvalues, rtol=1e-8, atol=1e-10)
    one, two = wilks_tests(before, a)[0], wilks_tests(after, b)[0]
    assert (one.bartlett.df, one.rao and one.rao.df2) == (two.bartlett.df, two.rao and two.rao.df2)
    assert box_m(before).value == pytest.approx(box_m(after).value, rel=1e-7, abs=1e-8)
    eigenvalues = np.linalg.eigvalsh(np.cov(tied[y == 0].T))[2:]
    assert box_m(after).log_determinants[0] == pytest.approx(np.log(eigenvalues).sum(), rel=1e-6)
    assert np.isnan(b.structure[-1]).all()  # a constant column has no correlations


# --- Where there is no answer --------------------------------------------------------------------


def tables_of(X: Float, y: Any) -> Working:
    return fitted(X, y).working()  # type: ignore[no-any-return]


def texts(table: Table) -> set[str]:
    """A table in both faces: nothing in it may be NaN."""
    return {str(table), table._repr_html_(), str(table.to_dict())}


def all_tables_are_silent_about_nan(working: Working) -> None:
    for table in working:
        cells = [cell for row in table.rows for cell in row]
        assert not any(isinstance(cell, float) and np.isnan(cell) for cell in cells), table.name
        assert not any("nan" in text.split() for text in texts(table))


def test_a_column_that_separates_without_scatter() -> None:
    X, y = make_rows(1, 3, 2)
    working = tables_of(np.column_stack([X, y == 1]), y)
    first = working["eigenvalues"].rows[0]
    assert first == (1, np.inf, 1.0, 1.0, 1.0)
    assert working["eigenvalues"].rows[1][2:4] == (0.0, 1.0)
    assert working["wilks"].rows[0][1:] == (0.0, np.inf, 6, 0.0)
    assert working["manova"].rows[0][:2] == (0.0, np.inf)
    assert working["manova"].rows[0][-1] == 0.0
    assert 0 < float(working["wilks"].rows[1][1] or 0) < 1
    assert working["structure"].column("function 1") == (None,) * 3
    assert "constant within classes" in working["structure"].title
    assert working["determinants"].rows[-1][1] == 2
    all_tables_are_silent_about_nan(working)


def test_several_columns_without_scatter_share_nothing_known() -> None:
    X, y = make_rows(1, 4, 2)
    working = tables_of(np.column_stack([X, y == 1, y == 2]), y)
    assert working["eigenvalues"].column("share") == (None, None, 0.0)
    assert working["eigenvalues"].column("cumulative") == (None, 1.0, 1.0)
    assert "no share is known" in working["eigenvalues"].title
    all_tables_are_silent_about_nan(working)


def test_fewer_rows_than_columns_test_nothing() -> None:
    """Then Λ is 0 whatever the rows are: a p-value of 0 would lie."""
    rng = np.random.default_rng(0)
    working = tables_of(rng.normal(size=(10, 20)), np.arange(10) % 2)
    assert working["wilks"].rows[0][1:] == (0.0, None, None, None)
    assert working["manova"].rows[0] == (0.0, None, None, None, None)
    assert "few rows" in working["wilks"].title
    assert working["box_m"].rows[0] == (None,) * 8
    assert "determinant is 0" in working["box_m"].title
    all_tables_are_silent_about_nan(working)


def test_classes_of_one_row() -> None:
    working = tables_of(np.array([[0.0, 1.0], [1.0, 0.0], [5.0, 2.0]]), np.arange(3))
    assert "nothing varies" in working["box_m"].title.lower()
    all_tables_are_silent_about_nan(working)


def test_equal_means_share_nothing() -> None:
    X = np.array([[1.0], [-1.0], [2.0], [-2.0]])
    working = tables_of(X, np.array([0, 0, 1, 1]))
    assert working["eigenvalues"].rows == ((1, 0.0, None, None, 0.0),)
    assert working["wilks"].rows[0][1:] == (1.0, 0.0, 1, 1.0)
    all_tables_are_silent_about_nan(working)


def test_exact_moments_have_no_sizes() -> None:
    covariances = np.array([np.diag([1.0, 4.0]), np.diag([2.0, 1.0])])
    model = LinearDiscriminant.from_moments([[0, 0], [1, 2]], covariances=covariances)
    working = model.working()
    within, between = np.diag([1.5, 2.5]), np.array([0.25, 0.5])
    expected = between @ np.linalg.solve(within, [1.0, 2.0])
    assert working["eigenvalues"].rows[0][1] == pytest.approx(expected)
    assert working["wilks"].rows[0][2:] == (None, None, None)
    assert "without numbers of rows" in working["wilks"].title
    assert working["determinants"].column("ln det") == pytest.approx(
        [np.log(4), np.log(2), np.log(3.75)]
    )
    assert working["box_m"].rows[0] == (None,) * 8
    assert "without numbers of rows" in working["box_m"].title
    all_tables_are_silent_about_nan(working)


def test_moments_with_counts_are_those_of_the_rows() -> None:
    X, y = make_rows(6, 3, 2)
    means = [X[y == k].mean(axis=0) for k in range(3)]
    own = [np.cov(X[y == k].T) for k in range(3)]
    given_moments = LinearDiscriminant.from_moments(
        means, covariances=own, counts=np.bincount(y)
    ).working()
    of_rows = fitted(X, y).working()
    for name in ("wilks", "manova", "box_m"):
        for a, b in zip(given_moments[name].rows[0], of_rows[name].rows[0], strict=True):
            assert a == (b if isinstance(b, str) else pytest.approx(b, rel=1e-8))


def test_a_class_without_rows_takes_no_part() -> None:
    X, y = make_rows(7, 2, 2)
    model = LinearDiscriminant().partial_fit(X, y, classes=[0, 1, 2])
    working, plain = model.working(), fitted(X, y).working()
    for name in ("eigenvalues", "wilks", "manova", "centroids", "box_m", "parameters"):
        assert working[name].rows == plain[name].rows
