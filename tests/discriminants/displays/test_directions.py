"""Pictures: their geometry is measured, their words are read, and names from data are harmless."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import LineCollection
from scipy.stats import norm
from tests.plotting.drawn import PLANE, legend_of, rendered, setosa_or_not

from sortal import FisherDiscriminant, LinearDiscriminant, datasets
from sortal.displays import DensitiesDisplay, DirectionsDisplay, ProjectionDisplay
from sortal.errors import MissingValueWarning
from sortal.plotting import axes as palette
from sortal.plotting.axes import short_number as number_text
from sortal.plotting.axes import shown, vector_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Float = NDArray[np.float64]

ATTRIBUTES: Final = [*PLANE, "petal_length", "petal_width"]
FISHER: Final = (0.551, -0.834)  # Zaki & Meira, Example 20.2


def gaussians() -> tuple[Float, NDArray[Any], Float, Float]:
    """Thirty points of each of three normal classes, their means and their common covariance."""
    rng = np.random.default_rng(0)
    means = np.array([[0.0, 0.0], [3.0, 1.0], [0.5, 3.5]])
    covariance = np.array([[1.0, 0.5], [0.5, 1.2]])
    points = np.vstack([rng.multivariate_normal(mean, covariance, 30) for mean in means])
    return points, np.repeat(["first", "second", "third"], 30), means, covariance


# Projection


def test_feet_lie_on_the_line_and_what_is_drawn_is_what_was_calculated() -> None:
    X, y = setosa_or_not()
    display = ProjectionDisplay(X, y, (2 * FISHER[0], 2 * FISHER[1])).plot()
    center = X.to_numpy().mean(axis=0)
    np.testing.assert_allclose(np.linalg.norm(display.w), 1)
    np.testing.assert_allclose(across(display.feet - center, display.w), 0, atol=1e-12)
    np.testing.assert_allclose((X.to_numpy() - display.feet) @ display.w, 0, atol=1e-12)
    np.testing.assert_allclose(display.along, X.to_numpy() @ display.w)
    connectors = [c for c in display.ax_.collections if isinstance(c, LineCollection)]
    drawn = np.vstack([c.get_segments() for c in connectors])
    assert len(drawn) == 150
    np.testing.assert_allclose((drawn[:, 1] - drawn[:, 0]) @ display.w, 0, atol=1e-12)
    ends = np.asarray(display.line_.get_xydata())
    np.testing.assert_allclose(across(ends - display.center, display.w), 0, atol=1e-12)
    t = (display.feet - display.center) @ display.w
    low, high = (ends - display.center) @ display.w
    assert low < t.min() < t.max() < high
    assert display.ax_.get_aspect() == 1.0


def across(steps: Float, w: Float) -> Any:
    return steps[:, 0] * w[1] - steps[:, 1] * w[0]


def test_class_means_are_projected_and_black_and_the_words() -> None:
    X, y = setosa_or_not()
    display = ProjectionDisplay(X, y, FISHER).plot()
    rest, setosa = (display.feet[y == name].mean(axis=0) for name in ("rest", "setosa"))
    np.testing.assert_allclose(display.mean_feet, [rest, setosa])
    black = [line for line in display.ax_.lines if line.get_linestyle() == "None"]
    np.testing.assert_allclose([np.ravel(line.get_xydata()) for line in black], display.mean_feet)
    assert {line.get_color() for line in black} == {palette.BLACK}
    assert display.ax_.get_title() == "Projection onto w = (0.551, −0.834)\nJ(w) = 0.11"
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == tuple(PLANE)
    classes = ["rest (100)", "setosa (50)"]
    assert legend_of(display.ax_) == [*classes, "foot on the line", "projected class means"]


# Directions


def test_three_directions_and_their_criteria() -> None:
    X, y = setosa_or_not()
    display = DirectionsDisplay(X, y).plot()
    principal, centroids, fisher = display.directions.T
    covariance = np.cov(X.to_numpy().T)
    np.testing.assert_allclose(
        principal @ covariance @ principal, np.linalg.eigvalsh(covariance)[-1]
    )
    means = [X.to_numpy()[y == name].mean(axis=0) for name in ("rest", "setosa")]
    difference = means[0] - means[1]
    np.testing.assert_allclose(centroids, difference / np.linalg.norm(difference))
    np.testing.assert_allclose(fisher, FISHER, atol=5e-4)
    assert (display.directions.T @ difference > 0).all()
    assert display.J[2] == pytest.approx(0.11, abs=5e-3)  # as the book prints it
    assert max(display.J) == display.J[2]


def test_the_panels_of_directions() -> None:
    X, y = setosa_or_not()
    display = DirectionsDisplay(X, y).plot()
    assert display.ax_.shape == (2, 3)
    titles = [ax.get_title() for ax in display.ax_[0]]
    assert titles == [
        "First principal component\nJ(w) = 0.0359",
        "Line of centroids\nJ(w) = 0.0584",
        "Fisher direction\nJ(w) = 0.11",
    ]
    assert all(ax.get_aspect() == 1.0 for ax in display.ax_[0])
    assert all(ax.get_title().startswith("separating point ") for ax in display.ax_[1])
    assert "setosa (50)" in legend_of(display.ax_[0, 2])
    rendered(display)
    limits = {(*ax.get_xlim(), *ax.get_ylim()) for ax in display.ax_[0]}
    spread = np.ptp(np.array(list(limits)), axis=0)
    np.testing.assert_allclose(spread, 0, atol=0.05)


def test_more_attributes_than_two_are_drawn_along_the_directions_only() -> None:
    frame = datasets.iris().query("species != 'setosa'")
    display = DirectionsDisplay(frame.drop(columns="species"), frame["species"]).plot()
    assert display.ax_.shape == (1, 3)
    assert display.directions.shape == (4, 3)
    assert "J(w) = " in display.ax_[0, 0].get_title()
    assert max(display.J) == display.J[2]


def test_directions_on_given_axes() -> None:
    X, y = setosa_or_not()
    _, axes = plt.subplots(1, 3)
    display = DirectionsDisplay(X, y).plot(axes)
    assert display.ax_.shape == (1, 3)
    assert "setosa (50)" in legend_of(axes[0])
    assert axes[2].get_legend() is None


# Densities


def test_curves_are_normal_with_the_scatter_of_the_class() -> None:
    X, y = setosa_or_not()
    along = X.to_numpy() @ FISHER
    display = DensitiesDisplay(along, y).plot()
    for k, name in enumerate(("rest", "setosa")):
        mine = along[y == name]
        assert display.means[k] == pytest.approx(mine.mean())
        assert display.variances[k] == pytest.approx(((mine - mine.mean()) ** 2).mean())
        x, drawn = np.asarray(display.ax_.lines[k].get_xydata()).T
        np.testing.assert_allclose(drawn, norm.pdf(x, mine.mean(), mine.std()))


def test_the_separating_point_is_marked() -> None:
    X, y = setosa_or_not()
    display = DensitiesDisplay(X.to_numpy() @ FISHER, y, w=FISHER).plot()
    assert display.threshold == pytest.approx(display.means.mean())
    marked = display.ax_.lines[-1]
    assert np.asarray(marked.get_xdata()).tolist() == [display.threshold] * 2
    assert legend_of(display.ax_) == ["rest (100)", "setosa (50)", "separating point 0.481"]
    assert display.ax_.get_title() == "Classes along w = (0.551, −0.834)\nJ(w) = 0.11"
    assert display.ax_.get_xlabel() == "wᵀx"
    assert display.ax_.get_ylabel() == "density"
    given = DensitiesDisplay([0.0, 1, 5, 6], list("aabb"), threshold=2).plot()
    assert given.threshold == 2.0


def test_histograms_have_unit_area_and_a_rug_has_a_stroke_a_row() -> None:
    points, labels, _, _ = gaussians()
    along = points @ (0.8, 0.6)
    display = DensitiesDisplay(along, labels).plot()
    assert display.threshold is None
    assert len(legend_of(display.ax_)) == 3
    areas = [_area(patch.get_xy()) for patch in display.ax_.patches]  # type: ignore[attr-defined]
    np.testing.assert_allclose(areas, 1, rtol=1e-12)
    rug = DensitiesDisplay(along, labels).plot(kind="rug")
    strokes = [line.get_xdata() for line in rug.ax_.lines if line.get_marker() == "|"]
    np.testing.assert_allclose(np.concatenate(strokes), along)


def _area(corners: Float) -> float:
    x, y = corners.T
    return float(abs((x * np.roll(y, -1) - y * np.roll(x, -1)).sum()) / 2)


def test_classes_that_stand_still_or_have_no_rows() -> None:
    still = DensitiesDisplay([1.0, 1, 1, 2, 2], list("aaabb")).plot()
    assert np.isinf(still.J)
    assert "J(w) = ∞" in still.ax_.get_title()
    rendered(still)
    rendered(DensitiesDisplay([1.0, 1, 1, 1], list("aabb")).plot())
    rendered(DensitiesDisplay([1.0, 2, 4, 5], list("aabb"), classes=["a", "b", "c"]).plot())


# Points, labels and their faults


def test_rows_with_missing_values_are_left_out_and_counted() -> None:
    points = [[0.0, 1.0], [np.nan, 2.0], [1.0, 0.0]]
    with pytest.warns(MissingValueWarning, match="1 of 3 rows has a missing value"):
        display = ProjectionDisplay(points, list("aab"), (1, 1))
    assert display.rows.counts.tolist() == [1, 1]


# Names from data


def test_names_and_numbers_as_they_are_shown() -> None:
    names = ("setosa", "$x^2$", "two\nlines\tand\x00more", "", 7, "abcdefghijklmnopqrs-0123456789")
    told = ["setosa", r"\$x^2\$", "two lines and more", "(empty)", "7"]
    assert [shown(name) for name in names] == [*told, "abcdefghijklmnopqr…123456789"]
    numbers = (-0.5514, 0.0, -0.0, 1234.4, 1.2345e7, np.inf)
    assert [number_text(x) for x in numbers] == ["−0.551", "0", "0", "1234", "1.23e+07", "∞"]
    assert vector_text([1, 2, 3, 4, 5]) == "(1, 2, 3, 4, …)"


def test_classes_have_colors_and_markers() -> None:
    looks = {(palette.color(k), palette.marker(k)) for k in range(72)}
    assert len(looks) == 72
    assert len(set(palette.COLORS)) == 8
    assert palette.color(72) == palette.color(0)


# Of fitted estimators


def plane() -> Any:
    """The class is a column."""
    X, y = setosa_or_not()
    return X.assign(kind=y)


def test_the_fitted_direction_is_drawn() -> None:
    fitted = FisherDiscriminant().fit(plane(), "kind")
    display = ProjectionDisplay.from_estimator(fitted, plane(), "kind")
    np.testing.assert_allclose(display.w, fitted.directions_[:, 0])
    np.testing.assert_allclose(display.J, fitted.eigenvalues_[0])
    np.testing.assert_allclose(display.mean_feet @ display.w, fitted.projected_means_[:, 0])
    np.testing.assert_allclose(display.feet @ display.w, fitted.transform(plane())[:, 0])
    assert legend_of(display.ax_)[:2] == ["rest (100)", "setosa (50)"]
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == tuple(PLANE)


def test_attributes_in_another_order_show_the_same_direction() -> None:
    fitted = FisherDiscriminant().fit(plane(), "kind")
    display = ProjectionDisplay.from_estimator(fitted, plane(), "kind", features=("sepal_width", 0))
    np.testing.assert_allclose(display.w, fitted.directions_[::-1, 0])
    np.testing.assert_allclose(display.J, fitted.eigenvalues_[0])
    assert display.ax_.get_xlabel() == "sepal_width"
    wide = ProjectionDisplay.from_estimator(
        fitted, datasets.iris()[ATTRIBUTES[::-1]], plane()["kind"]
    )
    np.testing.assert_allclose(wide.w, display.w)


def test_any_direction_is_judged_by_the_estimator() -> None:
    fitted = FisherDiscriminant(within="covariance").fit(plane(), "kind")
    display = ProjectionDisplay.from_estimator(fitted, plane(), "kind", w=(1, 0))
    np.testing.assert_allclose(display.J, fitted.evaluate_direction([1, 0]).J)
    turned = ProjectionDisplay.from_estimator(fitted, plane(), "kind", features=(1, 0), w=(0, 1))
    np.testing.assert_allclose(turned.J, display.J)
    frame = datasets.iris()  # of four attributes any direction in two
    three = FisherDiscriminant().fit(frame, "species")
    other = ProjectionDisplay.from_estimator(three, frame, "species", w=(1, 1))
    assert len(other.rows.classes) == 3


def test_linear_discriminants_have_directions_too() -> None:
    fitted = LinearDiscriminant().fit(plane(), "kind")
    fisher = FisherDiscriminant().fit(plane(), "kind")
    display = ProjectionDisplay.from_estimator(fitted, plane(), "kind")
    np.testing.assert_allclose(np.abs(display.w), np.abs(fisher.directions_[:, 0]))
    np.testing.assert_allclose(display.J, fisher.eigenvalues_[0])


def test_directions_are_judged_by_the_estimator() -> None:
    fitted = FisherDiscriminant(within="covariance").fit(plane(), "kind")
    display = DirectionsDisplay.from_estimator(fitted, plane(), "kind")
    np.testing.assert_allclose(display.J[2], fitted.eigenvalues_[0])
    expected = [fitted.evaluate_direction(w).J for w in display.directions.T]
    np.testing.assert_allclose(display.J, expected)
    assert "0.11" not in display.ax_[0, 2].get_title()


def test_directions_of_all_attributes() -> None:
    frame = datasets.iris().query("species != 'setosa'")
    fitted = FisherDiscriminant().fit(frame, "species")
    display = DirectionsDisplay.from_estimator(fitted, frame, "species")
    np.testing.assert_allclose(display.directions[:, 2], fitted.directions_[:, 0])


def test_densities_show_the_separating_point_of_the_estimator() -> None:
    fitted = FisherDiscriminant(threshold="least_error").fit(plane(), "kind")
    display = DensitiesDisplay.from_estimator(fitted, plane(), "kind")
    assert display.threshold == pytest.approx(fitted.threshold_)
    np.testing.assert_allclose(display.means, fitted.projected_means_[:, 0])
    np.testing.assert_allclose(display.variances * (100, 50), fitted.projected_scatters_[:, 0])
    np.testing.assert_allclose(display.along, fitted.transform(plane())[:, 0])


def test_the_separating_point_of_a_linear_discriminant_is_where_it_changes_its_mind() -> None:
    fitted = LinearDiscriminant(priors=[0.9, 0.1]).fit(plane(), "kind")
    display = DensitiesDisplay.from_estimator(fitted, plane(), "kind")
    assert display.threshold is not None
    above = display.along > display.threshold
    says = fitted.predict(plane()) == "rest"
    assert (above == says).all() or (above != says).all()
    assert display.ax_.get_xlabel() == "wᵀ(x − mean)"


def test_no_separating_point_where_there_is_none() -> None:
    costly = LinearDiscriminant(costs=[[0, 1], [5, 0]]).fit(plane(), "kind")
    assert DensitiesDisplay.from_estimator(costly, plane(), "kind").threshold is None
    frame = datasets.iris()
    three = LinearDiscriminant().fit(frame, "species")
    assert DensitiesDisplay.from_estimator(three, frame, "species").threshold is None


def test_densities_along_any_direction_and_any_component() -> None:
    frame = datasets.iris()
    fitted = FisherDiscriminant().fit(frame, "species")
    second = DensitiesDisplay.from_estimator(fitted, frame, "species", component=1)
    np.testing.assert_allclose(second.J, fitted.eigenvalues_[1])
    assert second.threshold is None
    w = np.array([1.0, 2, 3, 4])
    given = DensitiesDisplay.from_estimator(fitted, frame, "species", w=w)
    np.testing.assert_allclose(given.along, frame[ATTRIBUTES] @ w / np.linalg.norm(w))
    np.testing.assert_allclose(given.J, fitted.evaluate_direction(w).J)
    turned = DensitiesDisplay.from_estimator(
        fitted, frame[["species", *ATTRIBUTES[::-1]]], "species", w=w
    )
    np.testing.assert_allclose(turned.along, given.along)
