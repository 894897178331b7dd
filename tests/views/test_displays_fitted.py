"""Pictures of fitted estimators show what the estimators say, and decide as they decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2
from tests.views.drawing import legend_of

from sortal import FisherDiscriminant, IndicatorRegression, LinearDiscriminant, datasets, displays
from sortal.errors import SeparationWarning

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Float = NDArray[np.float64]

PLANE: Final = ["sepal_length", "sepal_width"]
ATTRIBUTES: Final = [*PLANE, "petal_length", "petal_width"]


def plane() -> Any:
    """Setosa against the rest, by sepal length and width; the class is a column."""
    frame = datasets.iris()
    return frame[PLANE].assign(kind=np.where(frame["species"] == "setosa", "setosa", "rest"))


# Projection


def test_the_fitted_direction_is_drawn() -> None:
    fitted = FisherDiscriminant().fit(plane(), "kind")
    display = displays.ProjectionDisplay.from_estimator(fitted, plane(), "kind")
    np.testing.assert_allclose(display.w, fitted.directions_[:, 0])
    np.testing.assert_allclose(display.J, fitted.eigenvalues_[0])
    np.testing.assert_allclose(display.mean_feet @ display.w, fitted.projected_means_[:, 0])
    np.testing.assert_allclose(display.feet @ display.w, fitted.transform(plane())[:, 0])
    assert legend_of(display.ax_)[:2] == ["rest (100)", "setosa (50)"]
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == tuple(PLANE)


def test_attributes_in_another_order_show_the_same_direction() -> None:
    fitted = FisherDiscriminant().fit(plane(), "kind")
    display = displays.ProjectionDisplay.from_estimator(
        fitted, plane(), "kind", features=("sepal_width", 0)
    )
    np.testing.assert_allclose(display.w, fitted.directions_[::-1, 0])
    np.testing.assert_allclose(display.J, fitted.eigenvalues_[0])
    assert display.ax_.get_xlabel() == "sepal_width"
    wide = displays.ProjectionDisplay.from_estimator(
        fitted, datasets.iris()[ATTRIBUTES[::-1]], plane()["kind"]
    )
    np.testing.assert_allclose(wide.w, display.w)


def test_any_direction_is_judged_by_the_estimator() -> None:
    fitted = FisherDiscriminant(within="covariance").fit(plane(), "kind")
    display = displays.ProjectionDisplay.from_estimator(fitted, plane(), "kind", w=(1, 0))
    np.testing.assert_allclose(display.J, fitted.judge([1, 0]).J)
    turned = displays.ProjectionDisplay.from_estimator(
        fitted, plane(), "kind", features=(1, 0), w=(0, 1)
    )
    np.testing.assert_allclose(turned.J, display.J)
    frame = datasets.iris()  # of four attributes any direction in two
    three = FisherDiscriminant().fit(frame, "species")
    other = displays.ProjectionDisplay.from_estimator(three, frame, "species", w=(1, 1))
    assert len(other.rows.classes) == 3


def test_linear_discriminants_have_directions_too() -> None:
    fitted = LinearDiscriminant().fit(plane(), "kind")
    fisher = FisherDiscriminant().fit(plane(), "kind")
    display = displays.ProjectionDisplay.from_estimator(fitted, plane(), "kind")
    np.testing.assert_allclose(np.abs(display.w), np.abs(fisher.directions_[:, 0]))
    np.testing.assert_allclose(display.J, fisher.eigenvalues_[0])


def test_estimators_from_moments() -> None:
    means = np.array([[0, 0], [3, 1], [0.5, 3.5]])
    covariance = np.array([[1, 0.5], [0.5, 1.2]])
    given = LinearDiscriminant.from_moments(means, covariances=covariance, names=["u", "v"])
    rng = np.random.default_rng(0)
    X = np.vstack([rng.multivariate_normal(mean, covariance, 30) for mean in means])
    frame = pd.DataFrame(X, columns=["u", "v"])
    display = displays.RegionsDisplay.from_estimator(given, frame, np.repeat([0, 1, 2], 30))
    assert len(display.joint) == 3
    for mean, curve in zip(means, display.ellipses, strict=True):
        z = curve - mean
        distance = (z @ np.linalg.inv(covariance) * z).sum(axis=1)
        np.testing.assert_allclose(distance, chi2(2).ppf(0.95))


# Directions and densities


def test_directions_are_judged_by_the_estimator() -> None:
    fitted = FisherDiscriminant(within="covariance").fit(plane(), "kind")
    display = displays.DirectionsDisplay.from_estimator(fitted, plane(), "kind")
    np.testing.assert_allclose(display.J[2], fitted.eigenvalues_[0])
    expected = [fitted.judge(w).J for w in display.directions.T]
    np.testing.assert_allclose(display.J, expected)
    assert "0.11" not in display.ax_[0, 2].get_title()


def test_directions_of_all_attributes() -> None:
    frame = datasets.iris().query("species != 'setosa'")
    fitted = FisherDiscriminant().fit(frame, "species")
    display = displays.DirectionsDisplay.from_estimator(fitted, frame, "species")
    np.testing.assert_allclose(display.directions[:, 2], fitted.directions_[:, 0])


@pytest.mark.parametrize("threshold", ["midpoint", "least_error"])
def test_densities_show_the_separating_point_of_the_estimator(threshold: str) -> None:
    fitted = FisherDiscriminant(threshold=threshold).fit(plane(), "kind")
    display = displays.DensitiesDisplay.from_estimator(fitted, plane(), "kind")
    assert display.threshold == pytest.approx(fitted.threshold_)
    np.testing.assert_allclose(display.means, fitted.projected_means_[:, 0])
    np.testing.assert_allclose(display.variances * (100, 50), fitted.projected_scatters_[:, 0])
    np.testing.assert_allclose(display.along, fitted.transform(plane())[:, 0])


def test_the_separating_point_of_a_linear_discriminant_is_where_it_changes_its_mind() -> None:
    fitted = LinearDiscriminant(priors=[0.9, 0.1]).fit(plane(), "kind")
    display = displays.DensitiesDisplay.from_estimator(fitted, plane(), "kind")
    assert display.threshold is not None
    above = display.along > display.threshold
    says = fitted.predict(plane()) == "rest"
    assert (above == says).all() or (above != says).all()
    assert display.ax_.get_xlabel() == "wᵀ(x − mean)"


def test_no_separating_point_where_there_is_none() -> None:
    costly = LinearDiscriminant(costs=[[0, 1], [5, 0]]).fit(plane(), "kind")
    assert displays.DensitiesDisplay.from_estimator(costly, plane(), "kind").threshold is None
    frame = datasets.iris()
    three = LinearDiscriminant().fit(frame, "species")
    assert displays.DensitiesDisplay.from_estimator(three, frame, "species").threshold is None


def test_densities_along_any_direction_and_any_component() -> None:
    frame = datasets.iris()
    fitted = FisherDiscriminant().fit(frame, "species")
    second = displays.DensitiesDisplay.from_estimator(fitted, frame, "species", component=1)
    np.testing.assert_allclose(second.J, fitted.eigenvalues_[1])
    assert second.threshold is None
    w = np.array([1.0, 2, 3, 4])
    given = displays.DensitiesDisplay.from_estimator(fitted, frame, "species", w=w)
    np.testing.assert_allclose(given.along, frame[ATTRIBUTES] @ w / np.linalg.norm(w))
    np.testing.assert_allclose(given.J, fitted.judge(w).J)
    turned = displays.DensitiesDisplay.from_estimator(
        fitted, frame[["species", *ATTRIBUTES[::-1]]], "species", w=w
    )
    np.testing.assert_allclose(turned.along, given.along)


# Regions


def decided(display: Any, points: Float) -> NDArray[Any]:
    best: NDArray[np.intp] = (points @ display.coef.T + display.intercept).argmax(axis=1)
    classes: NDArray[Any] = np.array(display.rows.classes, dtype=object)
    return classes[best]


def some_points(display: Any) -> Float:
    rng = np.random.default_rng(3)
    points: Float = rng.uniform(display.box[0], display.box[1], size=(500, 2))
    return points


ESTIMATORS: Final = [
    LinearDiscriminant(priors=[0.6, 0.3, 0.1], shrinkage=0.3),
    IndicatorRegression(ridge=1.0),
    FisherDiscriminant(within="covariance"),
    FisherDiscriminant(n_components=1),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=str)
def test_regions_are_the_decisions_with_the_rest_held_fixed(estimator: Any) -> None:
    frame = datasets.iris()
    fitted = estimator.fit(frame, "species")
    display = displays.RegionsDisplay.from_estimator(
        fitted, frame, "species", features=("petal_width", "sepal_width"), at={"petal_length": 4.5}
    )
    points = some_points(display)
    rows = pd.DataFrame(points, columns=["petal_width", "sepal_width"]).assign(
        sepal_length=frame["sepal_length"].mean(), petal_length=4.5
    )
    assert (decided(display, points) == fitted.predict(rows)).all()
    assert "at petal_length = 4.5, sepal_length = 5.84" in display.ax_.get_title()
    assert display.ax_.get_title().startswith(f"Decision regions of {type(fitted).__name__}\n")


@pytest.mark.parametrize(
    "estimator",
    [
        LinearDiscriminant(),
        IndicatorRegression(),
        FisherDiscriminant(),
        FisherDiscriminant(threshold="least_error"),
    ],
    ids=str,
)
def test_regions_of_two_classes_are_the_decisions(estimator: Any) -> None:
    fitted = estimator.fit(plane(), "kind")
    display = displays.RegionsDisplay.from_estimator(fitted, plane(), "kind")
    points = some_points(display)
    assert (decided(display, points) == fitted.predict(pd.DataFrame(points, columns=PLANE))).all()
    assert display.ax_.get_title() == f"Decision regions of {type(fitted).__name__}"
    assert len(display.joint) == 1


def test_regions_where_classes_stand_still() -> None:
    rng = np.random.default_rng(4)
    y = np.repeat([0, 1, 2], 20)
    X = np.column_stack([rng.normal(size=60) + y, 1.0 * (y == 2)])
    with pytest.warns(SeparationWarning):
        fitted = FisherDiscriminant().fit(X, y)
    display = displays.RegionsDisplay.from_estimator(fitted, X, y)
    points = some_points(display)
    assert (decided(display, points) == fitted.predict(points)).all()


def penguins() -> Any:
    return datasets.penguins().drop(columns=["year"]).dropna()


def test_categories_are_held_at_their_shares_or_at_a_value() -> None:
    frame = penguins()
    fitted = LinearDiscriminant(shrinkage=0.1).fit(frame, "species")
    features = ("bill_length_mm", "bill_depth_mm")
    at = {"island": "Dream", "sex": "female", "body_mass_g": 4000}
    display = displays.RegionsDisplay.from_estimator(
        fitted, frame, "species", features=features, at=at
    )
    points = some_points(display)
    rows = pd.DataFrame(points, columns=list(features)).assign(
        island="Dream", sex="female", body_mass_g=4000.0
    )
    rows["flipper_length_mm"] = frame["flipper_length_mm"].mean()
    assert (decided(display, points) == fitted.predict(rows)).all()
    shares = displays.RegionsDisplay.from_estimator(fitted, frame, "species", features=features)
    assert "and 4 more" in shares.ax_.get_title()
    assert "island = Dream, sex = female, body_mass_g = 4000 and" in display.ax_.get_title()
    first = displays.RegionsDisplay.from_estimator(fitted, frame, "species")
    assert first.ax_.get_xlabel() == "bill_length_mm"
