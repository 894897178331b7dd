"""Leave one out: each row by the others, and the k and weighting chosen by it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sortal import NeighborsClassifier, datasets
from sortal.errors import OptionError, SubtractError
from sortal.models.neighbors import WEIGHTINGS

IRIS = datasets.iris().drop(columns="species").to_numpy()
SPECIES = datasets.iris()["species"].to_numpy()


def left_out(options: dict[str, Any], X: Any, y: Any, w: Any = None) -> Any:
    """Each row predicted by a model of the others that keeps the scale of all."""
    made = []
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        model = NeighborsClassifier(**options).fit(X[rest], y[rest], None if w is None else w[rest])
        made.append(model.predict_proba(X[i : i + 1])[0])
    return np.array(made)


@pytest.mark.parametrize("weights", WEIGHTINGS)
def test_a_row_is_left_out_as_if_it_were_not_there(weights: str) -> None:
    options: dict[str, Any] = {"n_neighbors": 7, "scale": None, "weights": weights}
    options |= {"class_weight": "balanced", "priors": [0.5, 0.3, 0.2]}
    rows = np.arange(0, 150, 3)
    X, y, w = IRIS[rows], SPECIES[rows], rows % 5 + 2
    for weight in (None, w):
        found = NeighborsClassifier(**options).fit(X, y, weight).loo_proba(X, y, weight)
        np.testing.assert_allclose(found, left_out(options, X, y, weight), rtol=1e-12, atol=1e-14)


def test_rows_without_weight_leave_nothing_out() -> None:
    w = np.arange(150) % 3
    model = NeighborsClassifier().fit(IRIS, SPECIES, w)
    found = model.loo_proba(IRIS, SPECIES, w)
    assert (found[w == 0] == model.predict_proba(IRIS[w == 0])).all()
    assert not (found == model.predict_proba(IRIS)).all()


@pytest.mark.parametrize(
    "change",
    [
        lambda X, y: (X[:-1], y[:-1]),
        lambda X, y: (X[::-1], y[::-1]),
        lambda X, y: (X, np.roll(y, 1)),
        lambda X, y: (X + 1e-9, y),
    ],
)
def test_other_rows_than_those_of_the_fit_are_refused(change: Any) -> None:
    model = NeighborsClassifier().fit(IRIS, SPECIES)
    with pytest.raises(SubtractError, match="takes the rows of the fit again"):
        model.loo_proba(*change(IRIS, SPECIES))
    with pytest.raises(SubtractError, match="takes the rows of the fit again"):
        model.loo_proba(IRIS, SPECIES, np.full(150, 2))


def test_the_class_of_the_only_row_is_gone_without_it() -> None:
    X, y = [[0.0], [1.0], [2.0], [9.0]], ["a", "a", "a", "b"]
    for options in ({}, {"class_weight": "balanced"}, {"priors": [0.5, 0.5]}):
        found = NeighborsClassifier(2, **options).fit(X, y).loo_proba(X, y)
        assert found[3].tolist() == [1.0, 0.0]


def test_the_least_error_then_the_fewest_neighbors_then_the_first_weighting() -> None:
    model = NeighborsClassifier("loo").fit(IRIS, SPECIES)
    curve = model.loo_curve_
    assert curve.columns == ("k", "weighting", "error")
    tried = sorted({*range(1, 11), 12, 15, 20, 25, 30, 40, 50})
    assert list(dict.fromkeys(curve.column("k"))) == tried
    assert curve.column("weighting")[:6] == WEIGHTINGS
    errors = np.array(curve.column("error"))
    assert curve.rows[int(errors.argmin())][:2] == (model.n_neighbors_, model.weights_)
    for k, weighting, error in curve.rows[::7]:
        fixed = NeighborsClassifier(k, weights=str(weighting)).fit(IRIS, SPECIES)
        said = fixed.classes_[fixed.loo_proba(IRIS, SPECIES).argmax(axis=1)]
        assert error == pytest.approx((said != SPECIES).mean(), abs=1e-15)


def test_a_list_is_chosen_among() -> None:
    model = NeighborsClassifier([9, 3, 3, 27], weights="rank").fit(IRIS, SPECIES)
    assert model.loo_curve_.column("k") == (3, 9, 27)
    assert set(model.loo_curve_.column("weighting")) == {"rank"}
    assert model.n_neighbors_ in (3, 9, 27)
    assert model.weights_ == "rank"


def test_errors_are_weighed_and_costs_decide() -> None:
    w = np.arange(150) % 4 / 4
    costs = np.array([[0.0, 1.0, 1.0], [1.0, 0.0, 9.0], [1.0, 1.0, 0.0]])
    model = NeighborsClassifier([5, 15], weights="uniform", costs=costs).fit(IRIS, SPECIES, w)
    for k, _, error in model.loo_curve_.rows:
        fixed = NeighborsClassifier(k).fit(IRIS, SPECIES, w)
        said = fixed.classes_[(fixed.loo_proba(IRIS, SPECIES, w) @ costs).argmin(axis=1)]
        assert error == pytest.approx(w[said != SPECIES].sum() / w.sum(), rel=1e-12)


def test_no_more_neighbors_are_tried_than_are_left_without_a_row() -> None:
    X, y = [[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"]
    assert set(NeighborsClassifier("loo").fit(X, y).loo_curve_.column("k")) == {1, 2, 3}
    weighed = NeighborsClassifier("loo").fit(X, y, [1, 1, 1, 2])
    assert set(weighed.loo_curve_.column("k")) == {1, 2, 3}
    quarters = NeighborsClassifier("loo").fit(X, y, np.full(4, 0.25))  # alike: as without weights
    assert set(quarters.loo_curve_.column("k")) == {1, 2, 3}
    heavy = NeighborsClassifier("loo").fit(X, y, [0.001, 0.001, 0.001, 9.0])
    assert set(heavy.loo_curve_.column("k")) == {1}
    with pytest.raises(OptionError, match="n_neighbors=9 but the rows have weight 4"):
        NeighborsClassifier([1, 9]).fit(X, y)


def test_nothing_chosen_leaves_no_curve() -> None:
    with pytest.raises(AttributeError, match="loo_curve_ exists where"):
        _ = NeighborsClassifier().fit(IRIS, SPECIES).loo_curve_
