"""Boundaries are where two classes are equal, to a cell of the grid; regions what is decided."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.collections import LineCollection
from scipy.interpolate import RegularGridInterpolator
from scipy.stats import chi2
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from tests.plotting.drawn import crossings, legend_of, rendered

from sortal import (
    DiscreteBayes,
    FisherDiscriminant,
    IndicatorRegression,
    LinearDiscriminant,
    QuadraticDiscriminant,
    TreeClassifier,
    datasets,
    displays,
)
from sortal.plotting.rows import deciding_functions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Float = NDArray[np.float64]

Display = displays.DecisionsDisplay

PLANE: Final = ["bill_length_mm", "bill_depth_mm"]
SPECIES: Final = ["Adelie", "Chinstrap", "Gentoo"]
COSTS: Final = [[0, 1, 1], [10, 0, 10], [1, 1, 0]]
PRIORS: Final = {"Adelie": 0.2, "Chinstrap": 0.7, "Gentoo": 0.1}


def penguins() -> Any:
    return datasets.penguins().drop(columns="year").dropna().reset_index(drop=True)


def bills() -> Any:
    return penguins()[["species", *PLANE]]


def said(display: Any) -> NDArray[Any]:
    classes: NDArray[Any] = np.array(display.rows.classes, dtype=object)
    found: NDArray[Any] = classes[display.grid.labels.ravel()]
    return found


def check_curves(display: Any, functions: Any) -> None:
    """A curve passes each side of a cell between crossings at which its two classes lead in turn.

    Between the crossings values are taken as straight: there the two are equal, and the largest.
    """
    grid = display.grid
    between = RegularGridInterpolator(
        (grid.y, grid.x), grid.values, bounds_error=False, fill_value=None
    )
    np.testing.assert_array_equal(
        grid.values.reshape(-1, grid.values.shape[2]), functions(crossings(display))
    )
    for curve in display.curves:
        inside = np.clip(curve.points, display.box[0], display.box[1])
        np.testing.assert_allclose(inside, curve.points, rtol=0, atol=1e-9)
        values = between(inside[1:-1, ::-1])  # of the ends some lie within a cell
        if len(values):
            size = 1 + np.abs(values).max()
            pair = values[:, [curve.first, curve.second]]
            largest = np.broadcast_to(values.max(axis=1, keepdims=True), pair.shape)
            np.testing.assert_allclose(pair, largest, rtol=0, atol=1e-9 * size)


# Geometry

shares = st.floats(-3, 3).map(lambda x: round(x, 3))


@st.composite
def gaussians(draw: Any) -> tuple[Float, Float]:
    """Two to four normal classes in the plane."""
    K = draw(st.integers(2, 4))
    means = np.array([[draw(shares), draw(shares)] for _ in range(K)])
    roots = np.array([[draw(shares) for _ in range(4)] for _ in range(K)]).reshape(K, 2, 2)
    return means, roots @ roots.transpose(0, 2, 1) + 0.2 * np.eye(2)


def log_densities(means: Float, covariances: Float) -> Any:
    inverses = np.linalg.inv(covariances)
    constants = -0.5 * np.linalg.slogdet(covariances)[1]

    def functions(points: Float) -> Float:
        z = points[:, None] - means
        return np.asarray(constants - 0.5 * np.einsum("nki,kij,nkj->nk", z, inverses, z))

    return functions


@given(gaussians(), st.sampled_from([0.0, 1e5]))
def test_curves_of_random_gaussians(moments: tuple[Float, Float], away: float) -> None:
    means, covariances = moments[0] + away, moments[1]
    functions = log_densities(means, covariances)
    corners = np.array([[-5, -5], [5, 5]]) + away
    points, labels = np.vstack([corners, means]), [0, 0, *range(len(means))]
    display = Display(points, labels, functions, resolution=40)
    tolerance = 1e-9 if away == 0 else 1e-4  # so far out, functions themselves have fewer digits
    values = functions(crossings(display))
    clear = np.ptp(np.sort(values, axis=1)[:, -2:], axis=1) > tolerance
    np.testing.assert_array_equal(values.argmax(axis=1)[clear], said(display)[clear])
    if away == 0:
        check_curves(display, functions)
    _check_whole(display)


def _check_whole(display: Any) -> None:
    """Between neighbors of different classes there is a curve, not farther than a cell or two."""
    labels = display.grid.labels
    cell = np.array([np.diff(display.grid.x)[0], np.diff(display.grid.y)[0]])
    x, y = np.meshgrid(display.grid.x, display.grid.y)
    change = labels[:, 1:] != labels[:, :-1]
    middles = np.column_stack([x[:, 1:][change] - cell[0] / 2, y[:, 1:][change]])
    if not len(middles):
        return
    vertices = np.vstack([curve.points for curve in display.curves])
    steps = np.abs(middles[:, None] - vertices[None]) / cell
    assert (steps.max(axis=2).min(axis=1) <= 1.5).all()


def test_straight_boundaries_meet_in_a_point_and_go_on_for_pairs() -> None:
    means = np.array([[0.0, 0], [3, 0.5], [1, 3]])
    functions = log_densities(means, np.array([np.eye(2)] * 3))
    display = Display(means, [0, 1, 2], functions)
    check_curves(display, functions)
    assert {(curve.first, curve.second) for curve in display.curves} == {(0, 1), (0, 2), (1, 2)}
    corner = np.linalg.solve(means[1:], (means[1:] ** 2).sum(axis=1) / 2)  # as far from all three
    ends = [curve.points[[0, -1]] for curve in display.curves]
    near = [np.abs(pair - corner).max(axis=1).min() for pair in ends]
    assert max(near) < np.ptp(display.box, axis=0).max() / 200
    for curve in display.grid.pairwise():
        values = functions(curve.points)
        np.testing.assert_allclose(values[:, curve.first], values[:, curve.second], atol=1e-9)
        at_side = np.isclose(curve.points[[0, -1], None], display.box).any(axis=(1, 2))
        assert at_side.all()
    told = legend_of(display.plot(pairwise=True).ax_)
    assert told[3:] == ["boundary of all classes", "boundary of a pair"]
    assert legend_of(display.plot().ax_)[3:] == ["boundary"]


def test_a_circle_is_one_closed_curve() -> None:
    functions = log_densities(np.zeros((2, 2)), np.array([np.eye(2), 9 * np.eye(2)]))
    display = Display([[-4, -4], [4, 4]], ["in", "out"], functions)
    (curve,) = display.curves
    np.testing.assert_array_equal(curve.points[0], curve.points[-1])
    radius = np.sqrt(np.log(81) * 9 / 8)  # ln 9 = r²(1 − 1/9)/2
    np.testing.assert_allclose(np.linalg.norm(curve.points, axis=1), radius, rtol=1e-3)
    turns = np.arctan2(curve.points[:, 1], curve.points[:, 0])
    assert np.ptp(turns) > 2 * np.pi - 0.1


def test_a_class_that_never_leads_has_no_region() -> None:
    coef = np.array([[1.0, 0], [0, 0], [-1, 0]])
    points = np.array([[0.0, 0], [1, 1], [2, 0]]) - [1.0, 0.0]
    for constant in (-9.0, -np.inf):
        functions = partial(lambda points, c: points @ coef.T + [0, c, 0], c=constant)
        display = Display(points, list("abc"), functions)
        assert set(display.grid.labels.ravel()) == {0, 2}
        assert [(curve.first, curve.second) for curve in display.curves] == [(0, 2)]
        assert rendered(display.plot(pairwise=True))


def test_classes_that_are_equal_have_no_curve() -> None:
    means = np.array([[0.0, 0], [0, 0], [3, 0]])
    display = Display(means, list("abc"), log_densities(means, np.array([np.eye(2)] * 3)))
    assert [(curve.first, curve.second) for curve in display.curves] == [(0, 2)]
    assert set(display.grid.labels.ravel()) == {0, 2}
    nowhere = Display(np.eye(2), list("ab"), lambda p: np.zeros((len(p), 2)))
    assert nowhere.curves == []
    assert rendered(nowhere.plot())


def test_values_that_jump_have_boundaries_where_they_jump() -> None:
    def functions(points: Float) -> Float:
        left = np.where(points[:, 0] < 0.3, 0.0, -np.inf)
        return np.column_stack([left, np.where(points[:, 0] < 0.3, -np.inf, -700.0)])

    display = Display([[0, 0], [1, 1]], ["left", "right"], functions)
    for curve in display.curves:
        np.testing.assert_allclose(curve.points[:, 0], 0.3, atol=np.ptp(display.grid.x) / 199)


# Estimators

ESTIMATORS: Final = [
    LinearDiscriminant(priors=PRIORS, costs=COSTS),
    QuadraticDiscriminant(pooling=0.5, shrinkage=0.1, costs=COSTS),
    FisherDiscriminant(within="covariance", priors=[0.6, 0.3, 0.1]),
    FisherDiscriminant(n_components=1),
    IndicatorRegression(ridge=1.0),
    TreeClassifier(),
    DiscreteBayes(),
    LogisticRegression(),
    make_pipeline(PolynomialFeatures(2, include_bias=False), LinearDiscriminant(costs=COSTS)),
]
COARSE: Final = 50  # lines of a grid
GRID: Final[dict[str, Any]] = {"resolution": COARSE}


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: f"{e!s:.60}")
def test_the_grid_says_what_the_estimator_says(estimator: Any) -> None:
    frame = bills()
    fitted = estimator.fit(frame[PLANE], frame["species"])
    display = Display.from_estimator(fitted, frame, "species", **GRID)
    rows = pd.DataFrame(crossings(display), columns=PLANE)
    np.testing.assert_array_equal(said(display), fitted.predict(rows))
    assert display.ax_.get_title() == f"Decision regions of {type(fitted).__name__}"
    assert display.curves
    assert rendered(display)


@pytest.mark.parametrize(
    ("kind", "make"),
    [
        (LinearDiscriminant, pd.DataFrame),
        (QuadraticDiscriminant, pl.DataFrame),
        (QuadraticDiscriminant, np.array),
    ],
)
def test_other_columns_are_held_fixed_in_tables_of_every_kind(kind: Any, make: Any) -> None:
    frame = datasets.iris()
    names = [name for name in frame if name != "species"]
    X = make(frame[names].to_numpy()) if make is np.array else make(frame[names].to_dict("list"))
    y = frame["species"].to_numpy()
    fitted = kind().fit(X, y)
    own = [str(name) for name in fitted.terms_]
    display = Display.from_estimator(fitted, X, y, features=(2, 1), at={own[3]: 1.5}, **GRID)
    rows = np.tile(frame[names].mean().to_numpy(), (COARSE**2, 1))
    rows[:, [2, 1]], rows[:, 3] = crossings(display), 1.5
    expected = fitted.predict(
        make(rows) if make is np.array else make(dict(zip(names, rows.T, strict=True)))
    )
    np.testing.assert_array_equal(said(display), expected)
    assert f"at {own[3]} = 1.5, {own[0]} = 5.84" in display.ax_.get_title()
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == (own[2], own[1])


def test_categories_are_held_at_their_most_frequent_value_or_another() -> None:
    frame, convert = penguins(), pl.from_pandas
    fitted = QuadraticDiscriminant(pooling=0.5).fit(convert(frame), "species")
    display = Display.from_estimator(
        fitted, convert(frame), "species", at={"sex": "female"}, **GRID
    )
    rows = pd.DataFrame(crossings(display), columns=PLANE).assign(
        island=frame["island"].mode()[0],
        sex="female",
        flipper_length_mm=frame["flipper_length_mm"].mean(),
        body_mass_g=frame["body_mass_g"].mean(),
    )
    np.testing.assert_array_equal(said(display), fitted.predict(convert(rows)))
    assert display.note == "at sex = female, island = Biscoe, flipper_length_mm = 201 and 1 more"


def test_columns_whose_names_are_numbers() -> None:
    frame = datasets.iris().drop(columns="species")
    y = datasets.iris()["species"]
    fitted = QuadraticDiscriminant().fit(frame.set_axis([7, 0, 1, 2], axis=1), y)
    table = frame.set_axis([7, 0, 1, 2], axis=1)
    at: Any = {2: 1.2}
    display = Display.from_estimator(fitted, table, y, at=at, **GRID)
    assert display.note == "at 2 = 1.2, 1 = 3.76"
    assert display.rows.names == ("7", "0")


def test_arrays_with_words() -> None:
    frame = penguins()
    X = frame[["island", *PLANE]].to_numpy()
    fitted = LinearDiscriminant(shrinkage=0.1).fit(X, frame["species"])
    display = Display.from_estimator(fitted, X, frame["species"], at={"x0": "Dream"}, **GRID)
    rows = np.column_stack([np.full(COARSE**2, "Dream", dtype=object), crossings(display)])
    np.testing.assert_array_equal(said(display), fitted.predict(rows))
    assert display.rows.names == ("x1", "x2")


@pytest.mark.parametrize("convert", [pl.from_pandas, np.array])
def test_dates_and_columns_that_the_fit_does_not_know(convert: Any) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["early", "late"], 40)
    days = rng.normal(0, 40, 80) + np.repeat([0, 100], 40)
    frame = pd.DataFrame({"day": pd.Timestamp("2020-01-01") + pd.to_timedelta(days.round(), "D")})
    frame["size"] = rng.normal(size=80) * np.repeat([1, 2], 40)
    fitted = QuadraticDiscriminant().fit(convert(frame), y)
    more = frame.assign(other="word", since=frame["day"], also=1.0)
    shown = convert(frame if convert is np.array else more)
    display = Display.from_estimator(fitted, shown, y, **GRID)
    assert display.rows.names[0].endswith("(days since 1970)") == (convert is not np.array)
    since = np.datetime64(0, "D") + (crossings(display)[:, 0] * 86400e6).astype("timedelta64[us]")
    rows = pd.DataFrame({"day": since, "size": crossings(display)[:, 1]})
    np.testing.assert_array_equal(said(display), fitted.predict(convert(rows)))
    assert display.note == ""


def test_numbers_that_the_fit_has_as_categories() -> None:
    frame = bills().assign(kind=np.arange(333) % 2 + (np.arange(333) % 5 == 0))
    fitted = LinearDiscriminant(categorical_features=["kind"], unknown="error")
    fitted.fit(frame, "species")
    for at, note in (({}, "at kind = 1"), ({"kind": 2}, "at kind = 2")):
        display = Display.from_estimator(fitted, frame, "species", at=at, **GRID)
        assert display.note == note


def test_curves_lie_on_the_boundaries_of_the_estimator() -> None:
    frame, priors = bills(), PRIORS
    fitted = QuadraticDiscriminant().fit(frame, "species")
    display = Display.from_estimator(fitted, frame, "species", priors=priors, resolution=COARSE)
    assert len(display.curves) >= 2
    for curve in display.curves:
        pair = SPECIES[curve.first], SPECIES[curve.second]
        beta0, beta, gamma = fitted.boundary(*pair, priors=priors)
        x = curve.points
        odds = beta0 + x @ beta + ((x @ gamma) * x).sum(axis=1)
        steep = np.linalg.norm(beta + 2 * x @ gamma, axis=1)
        cell = np.ptp(display.box, axis=0) / (COARSE - 1)
        assert (np.abs(odds) <= 0.1 * steep * cell.max()).all()


# What if


@cache
def fitted_and_shown(has_costs: bool) -> tuple[Any, Any]:
    """A model, and its own picture, beside which others are held."""
    fitted = QuadraticDiscriminant(costs=COSTS[::-1] if has_costs else None)
    fitted.fit(bills(), "species")
    return fitted, Display.from_estimator(fitted, bills(), "species", resolution=COARSE)


@pytest.mark.parametrize(
    ("options", "words", "own"),
    [
        ({"priors": PRIORS}, "these priors", COSTS[::-1]),
        ({"costs": COSTS}, "these costs", COSTS[::-1]),
        ({"priors": [0.2, 0.7, 0.1], "costs": COSTS}, "these priors and costs", None),
    ],
)
def test_other_priors_and_costs_are_shown_beside_the_fit(
    options: dict[str, Any], words: str, own: Any
) -> None:
    frame = bills()
    fitted, plain = fitted_and_shown(own is not None)
    display = Display.from_estimator(fitted, frame, "species", resolution=COARSE, **options)
    assert plain.fitted_curves is None
    assert display.fitted_curves is not None
    for broken, solid in zip(display.fitted_curves, plain.curves, strict=True):
        np.testing.assert_array_equal(broken.points, solid.points)
    rows = pd.DataFrame(crossings(display), columns=PLANE)
    np.testing.assert_array_equal(said(display), fitted.predict(rows, **options))
    refit = QuadraticDiscriminant(**({"costs": own} | options)).fit(frame, "species")
    again = Display.from_estimator(refit, frame, "species", resolution=COARSE)
    for moved, fresh in zip(display.curves, again.curves, strict=True):
        np.testing.assert_allclose(moved.points, fresh.points, atol=1e-9)
    assert legend_of(display.ax_)[3:] == [
        f"boundary with {words}",
        "boundary of the fit",
        "95 % of a class",
    ]
    assert ("priors Adelie = 0.2, Chin" in display.ax_.get_title()) == ("priors" in options)


def test_a_class_that_costs_or_priors_make_certain() -> None:
    frame = bills()
    fitted = LinearDiscriminant().fit(frame, "species")
    show = partial(Display.from_estimator, fitted, frame, "species", **GRID)
    sure = show(priors=[0, 1, 0])
    assert (sure.grid.labels == 1).all()
    assert sure.curves == []
    assert len(sure.ax_.patches) == 1
    free = show(costs=[[1, 1, 0]] * 3)
    assert (free.grid.labels == 2).all()
    assert rendered(free)
    never = show(priors=[0.5, 0, 0.5])
    assert set(never.grid.labels.ravel()) == {0, 2}


def test_estimators_without_means_hold_columns_at_the_mean_of_the_rows() -> None:
    frame = penguins()[["species", *PLANE, "body_mass_g"]]
    frame.loc[3, "body_mass_g"] = np.nan
    whole = frame.dropna()
    pipeline = make_pipeline(PolynomialFeatures(2, include_bias=False), LinearDiscriminant())
    pipeline.fit(whole.drop(columns="species"), whole["species"])
    display = Display.from_estimator(pipeline, frame, "species", **GRID)
    rows = pd.DataFrame(crossings(display), columns=PLANE)
    rows = rows.assign(body_mass_g=whole["body_mass_g"].mean())
    np.testing.assert_array_equal(said(display), pipeline.predict(rows))


def test_categories_without_a_value_and_numbers_without_one() -> None:
    frame = bills()
    tree = TreeClassifier(max_depth=3).fit(frame, "species")
    empty = frame.assign(word=pd.Series([None] * len(frame), dtype="string"), number=np.nan)
    assert Display.from_estimator(tree, empty, "species", **GRID).note == ""


class Plain:
    """Probabilities, and nothing else."""

    classes_ = np.array(["left", "right"])

    def predict_proba(self, X: Any, *, priors: Any = None) -> Any:
        if priors == [1.0, 0.0]:
            raise TypeError("nothing about it")
        right = 1 / (1 + np.exp(-np.asarray(X)[:, 0]))
        return np.column_stack([1 - right, right])


def test_probabilities_without_logarithms() -> None:
    X, y = np.array([[-1.0, 0.0], [1.0, 1.0]]), ["left", "right"]
    plain: Any = Plain()
    display = Display.from_estimator(plain, X, y)
    np.testing.assert_allclose(display.curves[0].points[:, 0], 0, atol=1e-12)
    with pytest.raises(TypeError, match="nothing about it"):
        Display.from_estimator(plain, X, y, priors=[1.0, 0.0])


@given(
    st.integers(2, 4).flatmap(
        lambda K: st.tuples(
            st.lists(st.floats(0, 20), min_size=K * K, max_size=K * K),
            st.lists(st.floats(-30, 0), min_size=K, max_size=K),
        )
    )
)
def test_costs_are_weighed_as_at_predict(drawn: tuple[list[float], list[float]]) -> None:
    K = len(drawn[1])
    costs, odds = np.array(drawn[0]).reshape(K, K), np.array(drawn[1])
    posterior = np.exp(odds) / np.exp(odds).sum()

    class Fixed:
        classes_ = np.arange(K)

        def predict_proba(self, X: Any) -> Any:
            return np.tile(posterior, (len(X), 1))

    values = deciding_functions(Fixed(), tuple(range(K)), costs=costs)(np.zeros((1, 2)))[0]
    expected = posterior @ costs
    best = expected.min() + 1e-12 * (1 + costs.max())  # of answers that cost the same, any
    assert expected[values.argmax()] <= best


# What is drawn


def test_ellipses_are_those_of_the_classes_in_two_attributes() -> None:
    frame = datasets.iris()
    fitted = QuadraticDiscriminant().fit(frame, "species")
    display = Display.from_estimator(
        fitted, frame, "species", features=(3, 0), coverage=0.8, **GRID
    )
    for k, curve in enumerate(display.ellipses):
        z = curve - fitted.means_[k][[3, 0]]
        inverse = np.linalg.inv(fitted.covariances_[k][np.ix_([3, 0], [3, 0])])
        np.testing.assert_allclose((z @ inverse * z).sum(axis=1), chi2(2).ppf(0.8))
    assert legend_of(display.ax_)[-1] == "80 % of a class"


def test_what_is_drawn_is_what_was_calculated() -> None:
    frame = bills()
    fitted = QuadraticDiscriminant().fit(frame, "species")
    display = Display.from_estimator(fitted, frame, "species", priors=PRIORS, resolution=COARSE)
    ax = display.ax_
    np.testing.assert_allclose(ax.get_xlim(), display.box[:, 0])
    lines = [c for c in ax.collections if isinstance(c, LineCollection)]
    assert display.fitted_curves is not None
    for drawn, found in zip(lines, (display.curves, display.fitted_curves), strict=True):
        for segment, curve in zip(drawn.get_segments(), found, strict=True):
            np.testing.assert_array_equal(segment, curve.points)
