"""What neighbors are learned with: options, metrics, scales, and what classes count for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sortal import NeighborsClassifier
from sortal.decision.options import class_priors
from sortal.neighbors.learn import (
    NeighborsOptions,
    class_factors,
    column_ranges,
    deviations,
    fit_ellipse,
    means,
)

Y = ["a", "b", "a", "b", "a", "b"]
NUMBERS = [[0.0, 1.0], [1.0, 5.0], [2.0, 1.0], [4.0, 2.0], [8.0, 2.0], [9.0, 7.0]]


@pytest.mark.parametrize("p", [1, 1.5, np.float32(3), float("inf")])
def test_powers_from_1_to_infinity(p: Any) -> None:
    three: Any = np.int64(3)
    assert NeighborsOptions(p=p, n_neighbors=three).p == p


@pytest.mark.parametrize(
    ("cells", "metric"),
    [
        ([[0.0, 1.0], [1.0, 2.0]] * 3, "euclidean"),
        ([[0.0, np.nan], [1.0, 2.0]] * 3, "gower"),
        ([[0.0, "u"], [1.0, "v"]] * 3, "gower"),
        ([[0.0, True], [1.0, False]] * 3, "gower"),
    ],
)
def test_the_metric_follows_from_the_rows(cells: Any, metric: str) -> None:
    assert NeighborsClassifier().fit(cells, Y).metric_ == metric


def test_a_row_without_weight_leaves_no_missing_value() -> None:
    cells = [*NUMBERS, [np.nan, 1.0]]
    model = NeighborsClassifier().fit(cells, [*Y, "a"], [1] * 6 + [0])
    assert model.metric_ == "euclidean"


@pytest.mark.parametrize(
    ("options", "scale"),
    [
        ({}, {"x0": np.std([0, 1, 2, 4, 8, 9]), "x1": np.std([1, 5, 1, 2, 2, 7])}),
        ({"metric": "gower"}, {"x0": 9.0, "x1": 6.0}),
        ({"metric": "manhattan", "scale": "range"}, {"x0": 9.0, "x1": 6.0}),
        ({"scale": None}, {}),
        ({"metric": "hamming"}, {}),
        ({"metric": "mahalanobis"}, {}),
    ],
)
def test_scales(options: dict[str, Any], scale: dict[str, float]) -> None:
    assert NeighborsClassifier(**options).fit(NUMBERS, Y).scale_ == pytest.approx(scale)


def test_scales_weigh_rows_and_skip_missing_values() -> None:
    cells = [[0.0], [np.nan], [4.0], [100.0], [2.0], [2.0]]
    weights = [1.5, 9.0, 1.5, 0.0, 0.5, 0.5]
    model = NeighborsClassifier(1, "euclidean").fit(cells, Y, weights)
    assert model.scale_ == pytest.approx({"x0": np.sqrt((1.5 * 4 + 1.5 * 4) / 4)})


def test_a_singular_covariance_is_noted_with_its_columns() -> None:
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(6, 3))
    cells[:, 2] = cells[:, 0] * 1e6
    model = NeighborsClassifier(metric="mahalanobis").fit(cells, Y)
    [note] = model.fit_report_.notes
    assert note.startswith("the covariance is singular: a combination of 'x0', 'x2' never varies")
    without = NeighborsClassifier(metric="mahalanobis").fit(cells[:, :2], Y)
    wanted = without.kneighbors(cells[:, :2])[0]
    np.testing.assert_allclose(model.kneighbors(cells)[0], wanted, atol=1e-9)


# --- Columns --------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [1, 3, 16, 17, 300])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_moments_of_columns_are_those_of_numpy(p: int, dtype: Any) -> None:
    rng = np.random.default_rng(p)
    x = (1e4 + rng.normal(size=(1001, p))).astype(dtype)
    x[rng.random(x.shape) < 0.1] = np.nan
    w = rng.random(1001)
    wide = x.astype(np.float64)
    low, high = column_ranges(x)
    assert (low == np.nanmin(wide, axis=0)).all()
    assert (high == np.nanmax(wide, axis=0)).all()
    np.testing.assert_allclose(means(x, None), np.nanmean(wide, axis=0), rtol=1e-13)
    np.testing.assert_allclose(deviations(x, None, low, high), np.nanstd(wide, axis=0), rtol=1e-12)
    known = ~np.isnan(wide)
    mean = np.nansum(wide * w[:, None], axis=0) / (known * w[:, None]).sum(axis=0)
    np.testing.assert_allclose(means(x, w), mean, rtol=1e-13)
    variance = np.nansum(w[:, None] * (wide - mean) ** 2, axis=0) / (known * w[:, None]).sum(axis=0)
    np.testing.assert_allclose(deviations(x, w, low, high), np.sqrt(variance), rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e130])
def test_deviations_neither_vanish_nor_overflow(scale: float) -> None:
    x = np.array([[0.0], [1.0], [2.0]]) * scale
    found = deviations(x, None, *column_ranges(x))
    assert found == pytest.approx(np.sqrt(2 / 3) * scale, rel=1e-12)


def test_the_covariance_counts_copies_or_rows() -> None:
    x, w = np.array(NUMBERS), np.array([1.0, 2.0, 0.5, 1.5, 1.0, 1.0])
    np.testing.assert_allclose(fit_ellipse(x, None, 5.0).covariance, np.cov(x.T), rtol=1e-13)
    model = NeighborsClassifier(metric="mahalanobis").fit(x, Y, w)
    weighed = np.cov(x.T, aweights=w, ddof=0) * 6 / 5
    assert model._model.ellipse is not None
    np.testing.assert_allclose(model._model.ellipse.covariance, weighed, rtol=1e-13)
    copies = NeighborsClassifier(metric="mahalanobis").fit(x, Y, 2 * w)
    repeated = np.repeat(x, (2 * w).astype(int), axis=0)
    assert copies._model.ellipse is not None
    np.testing.assert_allclose(copies._model.ellipse.covariance, np.cov(repeated.T), rtol=1e-13)


# --- Classes --------------------------------------------------------------------------------------


def test_votes_count_by_class_weight_and_prior() -> None:
    counts, classes = np.array([30.0, 10.0, 0.0]), ("a", "b", "c")
    balanced = NeighborsOptions(class_weight="balanced")
    assert class_factors(counts, balanced, classes).tolist() == [40 / 60, 2.0, 0.0]
    assert class_priors(counts, classes, None, "balanced").tolist() == [0.5, 0.5, 0.0]
    given = NeighborsOptions(class_weight={"b": 2.0}, priors={"a": 0.5, "b": 0.3, "c": 0.2})
    assert class_factors(counts, given, classes) == pytest.approx([0.5 / 0.75, 2 * 0.3 / 0.25, 0.0])
    priors = class_priors(counts, classes, given.priors, given.class_weight)
    assert priors == pytest.approx([0.5, 0.3, 0.2])
    assert class_priors(counts, classes, None, {"b": 3.0}).tolist() == [0.5, 0.5, 0.0]
