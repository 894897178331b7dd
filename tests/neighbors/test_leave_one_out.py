"""The k and the weighting that are chosen by leaving each row out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernels.tables import iris

from sortal import NeighborsClassifier
from sortal.neighbors.model import WEIGHTINGS


def test_the_least_error_then_the_fewest_neighbors_then_the_first_weighting() -> None:
    X, y = iris()
    model = NeighborsClassifier("loo").fit(X, y)
    curve = model.loo_curve_
    assert curve.columns == ("k", "weighting", "error")
    tried = sorted({*range(1, 11), 12, 15, 20, 25, 30, 40, 50})
    assert list(dict.fromkeys(curve.column("k"))) == tried
    assert curve.column("weighting")[:6] == WEIGHTINGS
    errors = np.array(curve.column("error"))
    assert curve.rows[int(errors.argmin())][:2] == (model.n_neighbors_, model.weights_)
    rows: Any = curve.rows[::7]
    for k, weighting, error in rows:
        fixed = NeighborsClassifier(k, weights=weighting).fit(X, y)
        said = fixed.classes_[fixed.loo_proba(X, y).argmax(axis=1)]
        assert error == pytest.approx((said != y).mean(), abs=1e-15)


def test_a_list_is_chosen_among() -> None:
    X, y = iris()
    model = NeighborsClassifier([9, 3, 3, 27], weights="rank").fit(X, y)
    assert model.loo_curve_.column("k") == (3, 9, 27)
    assert set(model.loo_curve_.column("weighting")) == {"rank"}
    assert model.n_neighbors_ in (3, 9, 27)
    assert model.weights_ == "rank"


def test_errors_are_weighed_and_costs_decide() -> None:
    X, y = iris()
    w = np.arange(150) % 4 / 4
    costs = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 9.0], [1.0, 1.0, 0.0]])
    model = NeighborsClassifier([5, 15], weights="uniform", costs=costs).fit(X, y, w)
    rows: Any = model.loo_curve_.rows
    for k, _, error in rows:
        fixed = NeighborsClassifier(k).fit(X, y, w)
        said = fixed.classes_[(fixed.loo_proba(X, y, w) @ costs).argmin(axis=1)]
        assert error == pytest.approx(w[said != y].sum() / w.sum(), rel=1e-12)


def test_no_more_neighbors_are_tried_than_are_left_without_a_row() -> None:
    X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    assert set(NeighborsClassifier("loo").fit(X, y).loo_curve_.column("k")) == {1, 2, 3}
    weighed = NeighborsClassifier("loo").fit(X, y, [1, 1, 1, 2])
    assert set(weighed.loo_curve_.column("k")) == {1, 2, 3}
    quarters = NeighborsClassifier("loo").fit(X, y, np.full(4, 0.25))  # alike: as without weights
    assert set(quarters.loo_curve_.column("k")) == {1, 2, 3}
    heavy = NeighborsClassifier("loo").fit(X, y, [0.001, 0.001, 0.001, 9.0])
    assert set(heavy.loo_curve_.column("k")) == {1}
