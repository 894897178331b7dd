"""Nearest neighbors in the plane for several k, and their leave-one-out curve."""

from __future__ import annotations

import warnings
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from numpy.testing import assert_allclose
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.plotting.drawn import crossings, legend_of

from sortal import NeighborsClassifier, datasets, displays
from sortal.errors import MissingValueWarning
from sortal.plotting.rows import deciding_functions

PETALS = ["petal_length", "petal_width"]
WEIGHTINGS = ["uniform", "distance", "triangular", "epanechnikov", "gaussian", "rank"]


def few() -> tuple[pd.DataFrame, np.ndarray[Any, Any]]:
    """Two classes of three rows on a line of the plane, so that places can be told in the head."""
    x = np.array([0.0, 1.0, 2.0, 4.0, 5.0, 6.0])
    return pd.DataFrame({"x": x, "y": np.tile([0.0, 1.0], 3)}), np.repeat(["a", "b"], 3)


# --- What is decided -----------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2])
def test_regions_are_what_predict_says_also_where_votes_are_even(k: int) -> None:
    X, y = few()
    model = NeighborsClassifier(k, scale=None).fit(X, y)
    display = displays.DecisionsDisplay.from_estimator(model, X, y, resolution=13)
    classes = np.array(display.rows.classes, dtype=object)
    said = model.predict(pd.DataFrame(crossings(display), columns=["x", "y"]))
    assert (classes[display.grid.labels.ravel()] == said).all()


def test_a_boundary_of_one_neighbor_is_halfway() -> None:
    X = pd.DataFrame({"x": [0.0, 4.0, 0.0, 4.0], "y": [0.0, 0.0, 4.0, 4.0]})
    model = NeighborsClassifier(1, scale=None).fit(X, list("abab"))
    display = displays.DecisionsDisplay.from_estimator(model, X, list("abab"), resolution=12)
    (curve,) = display.curves
    assert_allclose(curve.points[:, 0], 2.0, atol=1e-9)


def test_with_costs_an_answer_that_votes_do_not_ask_for() -> None:
    X, y = few()
    model = NeighborsClassifier(3, costs=[[0, 1], [9, 0]]).fit(X, y)
    display = displays.DecisionsDisplay.from_estimator(model, X, y, resolution=15)
    said = model.predict(pd.DataFrame(crossings(display), columns=["x", "y"]))
    assert (np.array(["a", "b"])[display.grid.labels.ravel()] == said).all()
    plain = NeighborsClassifier(3).fit(X, y)
    functions = deciding_functions(plain, ("a", "b"), costs=[[0, 1], [9, 0]])
    assert (functions(X).argmax(axis=1) == (model.predict(X) == "b")).all()


def test_neighbors_of_scikit_learn_in_a_pipeline_are_drawn_too() -> None:
    X, y = few()
    model = make_pipeline(StandardScaler(), KNeighborsClassifier(2)).fit(X.to_numpy(), y)
    functions = deciding_functions(model, ("a", "b"))
    values = functions(X.to_numpy())
    assert set(values.ravel()) == {0.0, 1.0}
    assert (np.array(["a", "b"])[values.argmax(axis=1)] == model.predict(X.to_numpy())).all()


def test_many_classes_that_meet_in_points() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 6
    model = NeighborsClassifier(1).fit(X, y)
    display = displays.DecisionsDisplay.from_estimator(model, X, y, resolution=16)
    assert len(display.curves) > 10
    assert all(np.isfinite(curve.points).all() for curve in display.curves)


def test_nothing_but_the_grid_is_asked() -> None:
    asked = []

    def functions(points: Any) -> Any:
        asked.append(len(points))
        side = points[:, 0] + points[:, 1] ** 2 > 0.77
        return np.column_stack([side, ~side]).astype(float)

    rng = np.random.default_rng(1)
    points = rng.normal(size=(40, 2))
    display = displays.DecisionsDisplay(points, np.arange(40) % 2, functions, resolution=20)
    assert asked == [400]
    cell = np.array([np.diff(display.grid.x)[0], np.diff(display.grid.y)[0]])
    for curve in display.curves:
        steps = (curve.points - display.box[0]) / cell
        halves = np.abs(steps - np.round(steps))
        assert (np.isclose(halves, 0, atol=1e-6) | np.isclose(halves, 0.5, atol=1e-6)).all()
    # with a fit before a change, too
    both = displays.DecisionsDisplay(
        points, np.arange(40) % 2, functions, fitted=functions, resolution=10
    )
    assert len(both.fitted_curves or ()) == len(both.curves)


# --- The curve -----------------------------------------------------------------------------------


def test_the_curve_has_a_line_a_weighting_and_marks_what_was_chosen() -> None:
    model = NeighborsClassifier("loo").fit(datasets.iris(), "species")
    display = displays.LooCurveDisplay.from_estimator(model)
    ax = display.ax_
    assert list(display.curves) == WEIGHTINGS
    table = model.loo_curve_
    lines: list[Any] = list(ax.lines)
    for line, name in zip(lines, WEIGHTINGS, strict=False):
        own: Any = [(k, e) for k, w, e in table.rows if w == name]
        assert_allclose(np.column_stack(line.get_data()), own)
    ring = lines[-1]
    least = table.to_frame()["error"].min()
    assert_allclose(np.ravel(ring.get_data()), [model.n_neighbors_, least])
    assert display.error_of(model.n_neighbors_, model.weights_) == least
    assert "euclidean distance" in ax.get_title()
    assert len(legend_of(ax)) == 7
    assert len(ax.get_xticks()) == 8


def test_a_curve_of_a_model_that_was_given_its_k() -> None:
    X, y = datasets.iris()[PETALS], datasets.iris()["species"]
    model = NeighborsClassifier(5, weights="rank", metric="manhattan").fit(X, y)
    ax = plt.subplots()[1]
    display = displays.LooCurveDisplay.from_estimator(model, X, y, ax=ax, title="Left out")
    assert list(display.curves) == ["rank"]
    assert display.chosen == (5, "rank")
    assert display.ax_ is ax
    assert ax.get_title().startswith("Left out\nmanhattan")
    other = NeighborsClassifier(11).fit(X, y)
    assert displays.LooCurveDisplay.from_estimator(other, X, y).chosen is None


def test_curves_from_plain_lists() -> None:
    display = displays.LooCurveDisplay([3, 1], ["uniform"] * 2, [0.0, 0.0], chosen=(3, "uniform"))
    display.plot()
    assert_allclose(display.curves["uniform"][0], [1, 3])
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["1", "3"]
    alone = displays.LooCurveDisplay([4], ["a $ sign"], [0.25]).plot()
    assert alone.ax_.get_xscale() == "linear"


# --- Both ----------------------------------------------------------------------------------------


def test_regions_for_several_k_beside_the_curve() -> None:
    iris = datasets.iris()
    model = NeighborsClassifier().fit(iris, "species")
    display = displays.NeighborsDisplay.from_estimator(
        model, iris, "species", features=PETALS, resolution=16
    )
    assert list(display.panels) == [1, 5, 15]
    assert len(display.ax_) == 4
    copy = NeighborsClassifier(n_neighbors=[1, 5, 15], weights="uniform")
    curve = {k: e for k, _, e in copy.fit(iris[PETALS], iris["species"]).loo_curve_.rows}
    for k, panel in display.panels.items():
        own = NeighborsClassifier(k).fit(iris[PETALS], iris["species"])
        said = own.predict(pd.DataFrame(crossings(panel), columns=PETALS))
        assert (np.array(panel.rows.classes)[panel.grid.labels.ravel()] == said).all()
        assert display.curve.error_of(k, "uniform") == pytest.approx(curve[k])
        assert panel.ax_.get_title().startswith(f"k = {k}:")
        assert any(isinstance(c, LineCollection) for c in panel.ax_.collections)
    legends = [panel.ax_.get_legend() is not None for panel in display.panels.values()]
    assert legends == [False, True, False]
    assert [line.get_xdata()[0] for line in display.ax_[-1].lines[1:]] == [1, 5, 15]
    told = display.figure_.get_suptitle()
    assert "petal_length and petal_width" in told
    assert "euclidean distance, uniform votes" in told


def test_a_mixed_table_with_missing_values_and_a_class_that_is_not_drawn() -> None:
    table = datasets.penguins()
    table.loc[table["species"] == "Gentoo", "bill_depth_mm"] = None
    model = NeighborsClassifier(weights="distance").fit(table, "species")
    assert model.metric_ == "gower"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingValueWarning)
        display = displays.NeighborsDisplay.from_estimator(
            model, table, "species", k=[3], resolution=10
        )
    assert display.rows.names == ("bill_length_mm", "bill_depth_mm")
    assert display.rows.counts.tolist() == [151, 68, 0]
    assert set(np.unique(display.panels[3].grid.labels)) == {0, 1}
    assert "gower distance, distance votes" in display.note


def test_axes_may_be_given() -> None:
    X, y = few()
    model = NeighborsClassifier(1).fit(X, y)
    show = displays.NeighborsDisplay.from_estimator
    axes = plt.subplots(1, 2)[1]
    display = show(model, X, y, k=(1,), ax=axes, title="Mine", legend=False, resolution=8)
    assert display.figure_.get_suptitle().startswith("Mine\n")
    assert axes[0].get_legend() is None


def test_a_k_beyond_the_curve_has_no_error_in_its_title() -> None:
    X, y = few()
    half = np.median(X["x"])

    def functions(points: Any) -> Any:
        return np.column_stack([points[:, 0] < half, points[:, 0] >= half]).astype(float)

    curve = displays.LooCurveDisplay([1], ["uniform"], [0.5])
    display = displays.NeighborsDisplay(X, y, {2: functions}, curve, resolution=6).plot()
    assert display.ax_[0].get_title() == "k = 2"
    many = displays.NeighborsDisplay(
        X, y, dict.fromkeys(range(1, 6), functions), curve, resolution=4
    ).plot()
    assert len(many.ax_) == 6
