"""Pictures of kernel discriminants: contours, projections and the quadratic feature space."""

from __future__ import annotations

from functools import cache
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from tests.plotting.drawn import clouds, legend_of, rendered

from sortal import KernelDiscriminant, datasets, displays
from sortal.errors import ParameterError
from sortal.kernels.displays.projection import feature_points

Contours = displays.KernelContoursDisplay
Projection = displays.KernelProjectionDisplay
Space = displays.FeatureSpaceDisplay


@cache
def example() -> tuple[pd.DataFrame, np.ndarray]:
    """Example 20.4: versicolor against the others, in two principal components."""
    iris = datasets.iris()
    cells = iris.drop(columns="species").to_numpy()
    cells = cells - cells.mean(axis=0)
    axes = np.linalg.svd(cells, full_matrices=False)[2][:2]
    axes = axes * np.sign(axes[:, :1])
    X = pd.DataFrame(cells @ axes.T, columns=["u1", "u2"])
    return X, np.where(iris["species"] == "versicolor", "c1", "c2")


@cache
def quadratic() -> Any:
    return KernelDiscriminant("poly", ridge=0).fit(*example())


@cache
def three() -> Any:
    return KernelDiscriminant().fit(datasets.iris(), "species")


# --- Contours ------------------------------------------------------------------------------------


def test_contours_are_the_projection_on_a_grid() -> None:
    X, y = example()
    display = Contours.from_estimator(quadratic(), X, y, resolution=12)
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(display.x, display.y)])
    told = quadratic().transform(pd.DataFrame(grid, columns=["u1", "u2"]))[:, 0]
    assert_allclose(display.values.ravel(), told)
    assert display.values.shape == (12, 12)
    ax = display.ax_
    assert ax.get_title() == "Curves of constant wᵀφ(x)"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("u1", "u2")
    assert legend_of(ax) == ["c1 (50)", "c2 (100)", "constant projection", "the same, below 0"]
    rendered(display)


def test_levels_are_even_steps_over_the_range_of_the_rows() -> None:
    X, y = example()
    display = Contours.from_estimator(quadratic(), X, y, resolution=20)
    steps = np.diff(display.levels)
    assert_allclose(steps, steps[0])
    assert_allclose(display.levels / steps[0], np.round(display.levels / steps[0]), atol=1e-9)
    p = quadratic().transform(X)[:, 0]
    within = (display.levels >= p.min()) & (display.levels <= p.max())
    assert 5 <= within.sum() <= 11
    few = Contours.from_estimator(quadratic(), X, y, resolution=20, levels=3)
    assert len(few.levels) < len(display.levels)
    given_ones = Contours.from_estimator(quadratic(), X, y, resolution=20, levels=[-2, -1, -2])
    assert_allclose(given_ones.levels, [-2, -1])
    assert legend_of(given_ones.ax_)[-1] == "constant projection, below 0"
    positive = Contours.from_estimator(quadratic(), X, y, resolution=20, levels=[0.1])
    assert legend_of(positive.ax_)[-1] == "constant projection"


def test_other_columns_stay_at_their_means_or_where_they_are_held() -> None:
    iris = datasets.iris()
    pair = ["petal_length", "petal_width"]
    display = Contours.from_estimator(
        three(), iris, "species", features=pair, component=1, resolution=5
    )
    assert "at sepal_length = 5.84, sepal_width = 3.05" in display.note
    assert display.ax_.get_title().startswith("Curves of constant wᵀφ(x), direction 2\nat ")
    row = pd.DataFrame([iris.drop(columns="species").mean()])
    row[pair] = [[display.x[1], display.y[3]]]
    assert_allclose(display.values[3, 1], three().transform(row)[0, 1])
    held = Contours.from_estimator(
        three(), iris, "species", features=pair, at={"sepal_width": 4}, resolution=5
    )
    row["sepal_width"] = 4.0
    assert_allclose(held.values[3, 1], three().transform(row)[0, 0])


def test_contours_of_a_mixed_table_with_missing_values() -> None:
    table = datasets.penguins().dropna()
    model = KernelDiscriminant().fit(table, "species")
    display = Contours.from_estimator(model, table, "species", resolution=6)
    assert display.rows.names == ("bill_length_mm", "bill_depth_mm")
    assert "island = Biscoe" in display.note


def test_a_projection_that_is_constant_has_no_curve() -> None:
    X, y = example()
    display = Contours(X, y, lambda points: np.full(len(points), 2.5)).plot()
    assert len(display.levels) == 0
    assert legend_of(display.ax_) == ["c1 (50)", "c2 (100)"]


def test_levels_go_on_beyond_the_rows_but_not_for_ever() -> None:
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    display = Contours(points, [0, 0, 1, 1], lambda p: np.exp(9 * p.sum(axis=1) ** 3)).plot()
    assert len(display.levels) <= 60


# --- Projections ---------------------------------------------------------------------------------


def test_projections_are_those_of_the_book() -> None:
    X, y = example()
    display = Projection.from_estimator(quadratic(), X, y)
    assert_allclose(display.along, quadratic().transform(X)[:, 0])
    assert_allclose(display.means, [-0.338, -4.476], atol=5e-4)
    assert_allclose(display.scatters, [13.862, 320.934], atol=5e-4)
    assert_allclose(display.J, 0.0511, atol=5e-5)
    assert display.ax_.get_title() == "Projections onto w\nJ(w) = 0.0511"
    assert display.ax_.get_xlabel() == "wᵀφ(x)"
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == ["c1", "c2"]
    told = legend_of(display.ax_)
    assert told[:3] == ["c1 (50)", "c2 (100)", "projected class mean"]
    assert told[3].startswith("separating point −")
    rendered(display)


def test_classes_have_lanes_and_means_lie_on_them() -> None:
    X, y = example()
    display = Projection.from_estimator(quadratic(), X, y)
    first, second = (np.asarray(cloud.get_offsets()) for cloud in clouds(display.ax_))
    assert_allclose(first[:, 0], display.along[y == "c1"])
    assert first[:, 1].min() > 0.6
    assert second[:, 1].max() < 0.4
    means: list[Any] = [
        line.get_data() for line in display.ax_.lines if line.get_marker() in ("o", "^")
    ]
    assert_allclose(np.ravel(means[0]), [display.means[0], 1])
    assert_allclose(np.ravel(means[1]), [display.means[1], 0])


@pytest.mark.parametrize("options", [{}, {"priors": [0.9, 0.1]}, {"rule": "nearest_mean"}])
def test_the_separating_point_is_where_both_are_equally_probable(options: Any) -> None:
    X, y = example()
    model = KernelDiscriminant("poly", **options).fit(X, y)
    point = Projection.from_estimator(model, X, y).threshold
    assert point is not None
    beyond = model.transform(X)[:, 0] > point
    assert (beyond == (model.predict(X) == "c1")).all()
    densities = displays.DensitiesDisplay.from_estimator(model, X, y)
    assert densities.threshold == point
    assert_allclose(densities.means, model.projected_means_[:, 0])


def test_no_separating_point_with_costs_or_more_directions() -> None:
    X, y = example()
    costly = KernelDiscriminant("poly", costs=[[0, 1], [5, 0]]).fit(X, y)
    assert Projection.from_estimator(costly, X, y).threshold is None
    iris = datasets.iris()
    display = Projection.from_estimator(three(), iris, "species", component=1)
    assert display.threshold is None
    assert display.ax_.get_xlabel() == "wᵀφ(x), direction 2"
    assert_allclose(display.along, three().transform(iris)[:, 1])
    assert_allclose(display.means, three().projected_means_[:, 1])
    one_place = Projection.from_estimator(quadratic(), X[:1], y[:1])
    assert one_place.threshold is None


def test_projections_from_plain_lists() -> None:
    display = Projection([0.0, 2.0, 5.0, 7.0], ["a", "a", "b", "b"]).plot(legend=False)
    assert_allclose(display.means, [1, 6])
    assert_allclose(display.scatters, [2, 2])
    assert display.J == 25 / 4
    assert display.ax_.get_legend() is None
    ax = plt.subplots()[1]
    three_classes = Projection([0.0, 2.0, 5.0, 7.0, 9.0], list("aabbc")).plot(ax, title="Mine")
    assert three_classes.ax_ is ax
    assert ax.get_title().startswith("Mine\nJ(w) = ")
    apart = Projection([1.0, 2.0], ["a", "b"])
    assert np.isposinf(apart.J)
    missing = Projection([1.0, 2.0], ["a", "b"], classes=["a", "b", "c"]).plot()
    assert sum(line.get_marker() == "s" for line in missing.ax_.lines) == 0
    many = Projection(np.arange(50.0), np.arange(50) % 2).plot(max_points=10)
    assert "10 of 50 points drawn" in many.ax_.get_title()


# --- The feature space ---------------------------------------------------------------------------


def test_the_feature_space_is_that_of_the_book() -> None:
    X, y = example()
    display = Space.from_estimator(quadratic(), X, y)
    assert_allclose(np.abs(display.w), [0.5111, 0.7608, 0.4000], atol=5e-5)
    assert_allclose(display.along, quadratic().transform(X)[:, 0])
    assert_allclose(display.J, quadratic().eigenvalues_[0])
    assert_allclose((display.phi - display.feet) @ display.w, 0, atol=1e-10)
    assert_allclose(display.mean_feet @ display.w, quadratic().projected_means_[:, 0])
    ax: Any = display.ax_
    assert ax.name == "3d"
    assert ax.get_xlabel() == "√2 · u1 · u2"
    assert (ax.get_ylabel(), ax.get_zlabel()) == ("u1²", "u2²")
    assert legend_of(ax) == ["c1 (50)", "c2 (100)", "foot on the line", "projected class mean"]
    rendered(display)


def test_columns_are_found_by_name_and_width_is_in_the_axes() -> None:
    X, y = example()
    model = KernelDiscriminant("poly", gamma=0.5, ridge=0).fit(X, y)
    display = Space.from_estimator(model, X[["u2", "u1"]], y)
    assert display.rows.names == ("u1", "u2")
    assert_allclose(display.along, model.transform(X)[:, 0])
    assert display.ax_.get_ylabel() == "0.5 · u1²"
    array = KernelDiscriminant("poly", ridge=0).fit(X.to_numpy(), y)
    assert Space.from_estimator(array, X.to_numpy(), y).rows.names == ("x0", "x1")


@given(st.lists(st.floats(-50, 50), min_size=4, max_size=4), st.floats(0.1, 10))
def test_inner_products_of_features_are_the_kernel(numbers: list[float], gamma: float) -> None:
    x, z = np.array(numbers[:2]), np.array(numbers[2:])
    phi = feature_points(np.array([x, z]), gamma)
    assert_allclose(phi[0] @ phi[1], (gamma * (x @ z)) ** 2, atol=1e-9 * (gamma * 5000) ** 2)


def test_any_direction_is_seen_from_its_side() -> None:
    X, y = example()
    for w in ((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.1, 0.0, 5.0), (-3.0, 2.0, 1.0)):
        display = Space(X[:9], y[:9], w).plot(legend=False)
        ax: Any = display.ax_
        up, side = np.radians(ax.elev), np.radians(ax.azim)
        view = np.array([np.cos(up) * np.cos(side), np.cos(up) * np.sin(side), np.sin(up)])
        flat, steep = np.hypot(*w[:2]), abs(w[2]) * np.tan(up)
        if flat > steep:  # else no side is quite at right angles from this height
            assert abs(view @ display.w) < 1e-9


def test_axes_of_three_dimensions_may_be_given() -> None:
    X, y = example()
    own: Any = plt.figure().add_subplot(projection="3d")
    display = Space.from_estimator(quadratic(), X, y, ax=own, title="Mine", max_points=20)
    assert display.ax_ is own
    assert own.get_title() == "Mine\nJ(w) = 0.0511;  20 of 150 points drawn"
    with pytest.raises(ParameterError, match="projection='3d'"):
        Space.from_estimator(quadratic(), X, y, ax=plt.subplots()[1])
