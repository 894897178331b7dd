"""Where units, ties, absent classes and blocks one by one could mislead a discriminant."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from sortal import (
    FisherDiscriminant,
    IndicatorRegression,
    LinearDiscriminant,
    QuadraticDiscriminant,
)
from sortal.errors import CollinearityWarning, InputError, MissingValueWarning, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

ALL: list[Callable[..., Any]] = [
    FisherDiscriminant,
    LinearDiscriminant,
    IndicatorRegression,
    QuadraticDiscriminant,
]
everyone = pytest.mark.parametrize("make", ALL)


def rows() -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    X = np.random.default_rng(0).normal(size=(60, 3))
    X[30:] += 1.5
    return X, np.repeat(["a", "b"], 30)


def three() -> tuple[NDArray[np.float64], NDArray[np.str_]]:
    X, _ = rows()
    return np.r_[X, X[:30] - 3], np.repeat(list("abc"), 30)


# --- Units ---------------------------------------------------------------------------------------


@everyone
@pytest.mark.parametrize("unit", [1e-18, 1e-12, 1e-9, 1e9, 1e12])
def test_the_unit_of_a_number_beside_a_category_does_not_matter(
    make: Callable[..., Any], unit: float
) -> None:
    X, y = rows()
    words = np.random.default_rng(1).choice(list("uvw"), 60)
    table = pd.DataFrame({"c": words, "x": X[:, 0]})
    scaled = table.assign(x=table["x"] * unit)
    wanted = make().fit(table, y).decision_function(table)
    found = make().fit(scaled, y).decision_function(scaled)
    if make is FisherDiscriminant:  # in the units of the projections
        wanted, found = wanted / np.abs(wanted).max(), found / np.abs(found).max()
        np.testing.assert_array_equal(found > 0, wanted > 0)
    else:
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


def test_the_weights_of_the_values_of_a_category_add_up_to_zero() -> None:
    X, y = rows()
    words = np.random.default_rng(1).choice(list("uvw"), 60)
    for unit in (1.0, 1e-9, 1e9):
        table = pd.DataFrame({"c": words, "x": X[:, 0] * unit})
        beta = LinearDiscriminant().fit(table, y).boundary("a", "b").beta
        assert abs(beta[:3].sum()) < 1e-12
        assert np.abs(beta[:3]).max() > 0.01


@everyone
@pytest.mark.parametrize("unit", [1.0, 1e6, 1e9, 1e12])
def test_a_repeated_column_beside_one_of_small_unit(make: Callable[..., Any], unit: float) -> None:
    X, y = rows()
    plain = make().fit(X[:, :2], y).predict(X[:, :2])
    table = np.c_[X[:, 0] * unit, X[:, 0] * unit, X[:, 1] / unit]
    with pytest.warns(CollinearityWarning, match="combination of 'x0', 'x1' is the same"):
        model = make().fit(table, y)
    np.testing.assert_array_equal(model.predict(table), plain)


@pytest.mark.parametrize("unit", [1e-27, 1e-16, 1e-14, 1e20])
def test_fisher_decides_alike_in_any_unit(unit: float) -> None:
    for X, y in (rows(), three()):
        wanted = FisherDiscriminant().fit(X, y).predict(X)
        found = FisherDiscriminant().fit(X * unit, y).predict(X * unit)
        np.testing.assert_array_equal(found, wanted)


def test_fisher_decides_alike_with_heavy_rows() -> None:
    X, y = three()
    wanted = FisherDiscriminant().fit(X, y).predict(X)
    heavy = FisherDiscriminant().fit(X, y, sample_weight=np.full(90, 10**14))
    np.testing.assert_array_equal(heavy.predict(X), wanted)


@pytest.mark.parametrize("formula", ["oas", "ledoit_wolf"])
@pytest.mark.parametrize("unit", [1e-60, 1e60])
def test_shrinkage_formulas_are_free_of_units(formula: Any, unit: float) -> None:
    X, y = rows()
    wanted = LinearDiscriminant(shrinkage=formula).fit(X, y).shrinkage_
    found = LinearDiscriminant(shrinkage=formula).fit(X * unit, y).shrinkage_
    assert found == pytest.approx(wanted, rel=1e-12)


# --- No direction --------------------------------------------------------------------------------


def test_means_that_agree_up_to_rounding_have_no_direction() -> None:
    x, y = np.array([0.1, 0.7, 0.4, 0.4, 0.3, 0.5]), np.array([0, 0, 0, 1, 1, 1])
    for seed in range(30):
        order = np.random.default_rng(seed).permutation(6)
        model = FisherDiscriminant().fit(x[order, None], y[order])
        assert model.directions_.shape == (1, 0)
        assert model.threshold_ is None
        assert model.predict([[0.1], [0.4], [0.7]]).tolist() == [0, 0, 0]


def test_least_error_of_classes_with_one_mean() -> None:
    model = FisherDiscriminant(threshold="least_error").fit(
        np.array([[0.0], [1], [0], [1]]), [0, 0, 1, 1]
    )
    assert model.predict([[0.0], [1.0]]).tolist() == [0, 0]
    assert len(model.working([[0.0]])) > 0


@pytest.mark.parametrize("w", [[1, 1, -1], [-2, -2, 2]])
def test_a_direction_that_says_nothing_is_judged_so(w: list[float]) -> None:
    X, y = rows()
    with pytest.warns(CollinearityWarning):
        model = FisherDiscriminant().fit(np.c_[X[:, :2], X[:, :2].sum(axis=1)], y)
    judged: Any = model.evaluate_direction(w)
    assert judged.J == 0
    assert judged.scatters == (0, 0)
    assert judged.overlap == ((1, 1), (1, 1))


# --- Classes without rows, priors of zero, class weights -----------------------------------------


def test_a_class_without_rows_is_impossible_also_where_there_are_missing_values() -> None:
    X, y = rows()
    model = LinearDiscriminant(priors=[0.3, 0.3, 0.4]).partial_fit(X, y, classes=["a", "b", "z"])
    incomplete = X[:1].copy()
    incomplete[0, 1] = np.nan
    with pytest.warns(MissingValueWarning, match="integrated out"):
        assert model.predict_proba(incomplete)[0, 2] == 0
    with pytest.warns(MissingValueWarning):
        why = model.explain(incomplete)[0]
    assert why.against == "b"
    assert why.total == pytest.approx(np.subtract(*why.facts["functions"]))
    assert np.isnan(model.means_[2]).all()
    assert np.isfinite(model.means_[:2]).all()


def test_a_class_without_rows_has_no_part_in_canonical_coordinates() -> None:
    X, y = three()
    told = LinearDiscriminant(priors=[0.2, 0.2, 0.2, 0.4])
    told.partial_fit(X, y, classes=["a", "b", "c", "z"])
    alone = LinearDiscriminant(priors=[1 / 3] * 3).fit(X, y)
    np.testing.assert_allclose(told.transform(X), alone.transform(X), rtol=1e-9)
    np.testing.assert_allclose(told.xbar_, alone.xbar_, rtol=1e-12)


def test_a_prior_of_zero_leaves_the_moments_known() -> None:
    model = LinearDiscriminant.from_moments(
        [[0, 0], [1, 1], [2, 2]], covariances=np.eye(2), priors=[0.5, 0.5, 0]
    )
    assert model.predict_proba([[2.0, 2.0]])[0, 2] == 0
    odds = np.exp([0 - 0, 4 - 1, 8 - 4]) * [0.1, 0.1, 0.8]
    shares = model.predict_proba([[2.0, 2.0]], priors=[0.1, 0.1, 0.8])
    np.testing.assert_allclose(shares[0], odds / odds.sum(), rtol=1e-12)


def test_there_is_no_boundary_with_a_class_that_cannot_be() -> None:
    X, y = three()
    model = LinearDiscriminant(priors=[0.5, 0.5, 0]).fit(X, y)
    assert len(model.working()["boundaries"].rows) == 1


def test_from_moments_minds_its_parameters() -> None:
    means = [[0, 0], [1, 1]]
    given: dict[str, Any] = {"covariances": np.eye(2), "counts": [10, 90]}
    balanced = LinearDiscriminant.from_moments(means, class_weight="balanced", **given)
    np.testing.assert_allclose(balanced.priors_, [0.5, 0.5])


# --- Blocks one by one ---------------------------------------------------------------------------


@everyone
def test_a_block_of_missing_values_adds_nothing_but_its_count(make: Callable[..., Any]) -> None:
    X, y = rows()
    incomplete = X[:5].copy()
    incomplete[:, 0] = np.nan
    with pytest.warns(MissingValueWarning, match="5 of 65 rows have a missing value"):
        model = make().fit(X, y).partial_fit(incomplete, y[:5])
    np.testing.assert_allclose(model.decision_function(X), make().fit(X, y).decision_function(X))
    with pytest.warns(MissingValueWarning, match="4 of 64 rows"):
        model.forget(incomplete[:1], y[:1])


@everyone
def test_blocks_that_make_no_model_yet_wait_for_more(make: Callable[..., Any]) -> None:
    X, y = rows()
    model = make().partial_fit(np.ones((2, 3)), ["a", "b"])
    with pytest.raises(InputError, match="No column of this table varies"):
        model.predict(X)
    model.partial_fit(X, y)
    whole = make().fit(np.r_[np.ones((2, 3)), X], np.r_[["a", "b"], y])
    np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X))


@pytest.mark.filterwarnings("ignore::sortal.errors.CollinearityWarning")
@pytest.mark.parametrize(
    "make", [partial(LinearDiscriminant, n_components=2), QuadraticDiscriminant]
)
def test_parameters_for_classes_to_come_wait_for_them(make: Callable[..., Any]) -> None:
    X, y = three()
    model = make(priors=[0.2, 0.3, 0.5], costs=1 - np.eye(3))
    model.partial_fit(X[:1], y[:1])
    with pytest.raises(ParameterError, match="'a'"):
        model.predict(X)
    model.partial_fit(X[1:60], y[1:60])
    with pytest.raises(ParameterError):
        model.predict(X)
    model.partial_fit(X[60:], y[60:])
    whole = make(priors=[0.2, 0.3, 0.5]).fit(X, y)
    np.testing.assert_allclose(model.predict_log_proba(X), whole.predict_log_proba(X), rtol=1e-9)


# --- Small things --------------------------------------------------------------------------------


def test_working_is_not_touched_by_set_output() -> None:
    X, y = rows()
    table = pd.DataFrame(X, columns=list("pqr"))
    model = FisherDiscriminant().set_output(transform="pandas").fit(table, y)
    a = model.working(table[:2])["rows"].column("a1")
    np.testing.assert_allclose(a, model.transform(table[:2]).to_numpy()[:, 0])


def test_working_says_what_predict_says_with_costs() -> None:
    X, y = rows()
    model = LinearDiscriminant(costs=[[0, 1], [1000, 0]]).fit(X, y)
    assert list(model.working(X)["rows"].column("said")) == model.predict(X).tolist()


def test_columns_that_nearly_repeat_each_other_are_warned_of() -> None:
    X, y = rows()
    noise = np.random.default_rng(2).normal(size=60)
    table = np.c_[X, X[:, 0] + X[:, 1] + 1e-6 * noise]
    with pytest.warns(CollinearityWarning, match="'x0', 'x1', 'x3' hardly varies within classes"):
        model = LinearDiscriminant().fit(table, y)
    assert model.condition_ > 1e10
