"""The canonical plot: coordinates, centroids and circles are those of the estimator."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2, norm
from tests.plotting.drawn import legend_of, n_drawn, rendered

from sortal import FisherDiscriminant, LinearDiscriminant, displays
from sortal.data.datasets import iris, penguins

Display = displays.CanonicalDisplay


def fitted(**options: Any) -> Any:
    return LinearDiscriminant(**options).fit(iris(), "species")


def test_points_and_centroids_are_canonical_coordinates() -> None:
    model = fitted(shrinkage=0.2, priors=[0.6, 0.3, 0.1])
    display = Display.from_estimator(model, iris(), "species")
    np.testing.assert_allclose(display.rows.points, model.transform(iris()))
    np.testing.assert_allclose(
        display.centroids, model.transform(pd.DataFrame(model.means_, columns=model.terms_))
    )
    np.testing.assert_allclose(display.centroids, display.rows.means, atol=1e-10)
    share = 100 * model.explained_variance_ratio_
    assert display.ax_.get_xlabel() == f"LD1 ({share[0]:.1f} %)"
    assert display.ax_.get_ylabel() == f"LD2 ({share[1]:.1f} %)"
    assert display.ax_.get_title() == "Canonical coordinates of LinearDiscriminant"


def test_the_words_of_the_canonical_plot() -> None:
    display = Display.from_estimator(fitted(), iris(), "species")
    assert display.ax_.get_xlabel() == "LD1 (99.1 %)"
    classes = ["setosa (50)", "versicolor (50)", "virginica (50)"]
    assert legend_of(display.ax_) == [*classes, "class centroid", "95 % of a class"]
    assert display.ax_.get_aspect() == 1.0
    assert rendered(display)


def test_circles_hold_a_share_of_a_class() -> None:
    model, coverage = fitted(), 0.5
    display = Display.from_estimator(model, iris(), "species", coverage=coverage)
    within = model.scalings_.T @ model.covariance_ @ model.scalings_
    np.testing.assert_allclose(within, np.eye(2), atol=1e-10)
    for center, circle in zip(display.centroids, display.circles, strict=True):
        radius = np.linalg.norm(circle - center, axis=1)
        np.testing.assert_allclose(radius**2, chi2(2).ppf(coverage))
    assert legend_of(display.ax_)[-1] == f"{100 * coverage:.3g} % of a class"
    with_circles = np.vstack(display.circles)
    (x0, x1), (y0, y1) = display.ax_.get_xlim(), display.ax_.get_ylim()
    assert x0 < with_circles[:, 0].min() < with_circles[:, 0].max() < x1
    assert y0 < with_circles[:, 1].min() < with_circles[:, 1].max() < y1


@pytest.mark.parametrize("shrinkage", [0.0, 0.5])
def test_arrows_are_correlations_within_classes(shrinkage: float) -> None:
    """Of the rows, whatever is shrunk."""
    model = fitted(shrinkage=shrinkage)
    display = Display.from_estimator(model, iris(), "species", arrows=True)
    frame = iris()
    names = [name for name in frame if name != "species"]
    cells = np.column_stack([frame[names], model.transform(frame)])
    means = pd.DataFrame(cells).groupby(frame["species"].to_numpy()).transform("mean")
    expected = np.corrcoef((cells - means.to_numpy()).T)[:4, 4:]
    assert display.arrows is not None
    np.testing.assert_allclose(display.arrows, expected, atol=1e-10)
    assert display.arrow_names == tuple(names)
    longest = np.linalg.norm(expected, axis=1).max()
    assert legend_of(display.ax_)[-1] == f"structure correlations\n(longest {longest:.3g})"
    heads = display.arrows * display.arrow_scale
    assert ((heads > display.box[0]) & (heads < display.box[1])).all()
    written = {text.get_text() for text in display.ax_.texts}
    assert set(names) <= written
    assert rendered(display)


def test_an_attribute_that_stands_still_within_classes_has_no_arrow_to_speak_of() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)) + np.repeat(np.eye(3), 20, axis=0)
    arrows = [[0.0, 0.0], [0.5, -0.5]]
    display = Display(X[:, :2], np.repeat([0, 1, 2], 20), arrows=arrows, arrow_names=["a", "b"])
    assert np.isfinite(display.arrow_scale)
    assert rendered(display.plot())
    nothing = Display(X[:, :2], np.repeat([0, 1, 2], 20), arrows=arrows[:1], arrow_names=["a"])
    assert nothing.arrow_scale == 1.0


def test_other_components_and_orders() -> None:
    frame = penguins().dropna().assign(group=lambda f: f["species"] + f["sex"])
    model = LinearDiscriminant(shrinkage=0.1).fit(frame.drop(columns=["species", "sex"]), "group")
    display = Display.from_estimator(
        model, frame.drop(columns=["species", "sex"]), "group", components=(3, 1)
    )
    points = model.transform(frame.drop(columns=["species", "sex", "group"]))
    np.testing.assert_allclose(display.rows.points, points[:, [3, 1]])
    assert display.ax_.get_xlabel().startswith("LD4 (")


@pytest.mark.parametrize("components", [(0, 1), 0])
def test_two_classes_have_one_coordinate(components: Any) -> None:
    frame = iris().query("species != 'setosa'")
    model = LinearDiscriminant().fit(frame, "species")
    display = Display.from_estimator(model, frame, "species", components=components, arrows=True)
    np.testing.assert_allclose(display.rows.points, model.transform(frame))
    reach = norm.ppf(0.975)
    np.testing.assert_allclose(
        display.circles, [[c - reach, c + reach] for c in display.centroids[:, 0]]
    )
    assert display.ax_.get_xlabel() == "LD1 (100.0 %)"
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == ["versicolor", "virginica"]
    tops = [line for line in display.ax_.lines if len(np.asarray(line.get_xdata())) > 100]
    for line, center in zip(tops, display.centroids[:, 0], strict=True):
        x, height = np.asarray(line.get_xydata()).T
        assert x[height.argmax()] == pytest.approx(center)
        curve = (height - height.min()) / np.ptp(height)
        expected = norm.pdf(x, center) / norm.pdf(0)
        np.testing.assert_allclose(curve, expected, atol=0.005)
    assert n_drawn(display.ax_) == 100
    assert rendered(display)


def test_one_direction_of_three_classes() -> None:
    model = fitted(n_components=1)
    display = Display.from_estimator(model, iris(), "species")
    assert display.n_coordinates == 1
    second = Display.from_estimator(fitted(), iris(), "species", components=1)
    assert second.ax_.get_xlabel() == "LD2 (0.9 %)"


@settings(max_examples=5)  # each is a picture
@given(st.integers(2, 5), st.integers(2, 4), st.integers(0, 1000))
def test_canonical_plots_of_random_classes(n_classes: int, p: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), 12)
    X = (
        rng.normal(size=(len(y), p)) @ rng.normal(size=(p, p))
        + 2 * rng.normal(size=(n_classes, p))[y]
    )
    model = LinearDiscriminant().fit(X, y)
    display = Display.from_estimator(model, X, y, arrows=True)
    assert display.n_coordinates == min(n_classes - 1, p, 2)
    spread = display.rows.points - display.rows.means[y]
    within = spread.T @ spread / (len(y) - n_classes)
    np.testing.assert_allclose(within, np.eye(display.n_coordinates), atol=1e-6)
    if display.arrows is not None:
        assert (np.linalg.norm(display.arrows, axis=1) <= 1 + 1e-9).all()
    plt.close("all")


def test_fisher_has_the_coordinates_of_lda() -> None:
    frame = iris()
    fisher = FisherDiscriminant().fit(frame, "species")
    own = Display.from_estimator(fisher, frame, "species")
    other = Display.from_estimator(fitted(), frame, "species")
    signs = np.sign((own.centroids * other.centroids).sum(axis=0))
    assert np.allclose(own.rows.points, signs * other.rows.points, atol=1e-6)
    assert np.allclose(own.centroids, signs * other.centroids, atol=1e-6)
    shares = [name.partition(" ")[2] for name in own.rows.names]
    assert shares == [name.partition(" ")[2] for name in other.rows.names]
