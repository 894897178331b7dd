"""Linear, quadratic and Fisher's discriminant beside 100 digits, on tables that cost digits."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np
import pytest
from sklearn.model_selection import cross_val_predict
from tests.discriminants.tables import (
    KINDS,
    Hard,
    largest_differences,
    narrow_in_all,
    narrow_in_one,
    narrow_in_two,
    nearly_tied_in_one,
    sure_shares,
    tables,
)

from sortal import (
    FisherDiscriminant,
    IndicatorRegression,
    LinearDiscriminant,
    QuadraticDiscriminant,
    datasets,
    load,
)
from sortal.errors import CollinearityWarning, PerfectSeparationWarning

# With the pooling that they have.
MODELS: Final[list[tuple[Any, float]]] = [
    (LinearDiscriminant(), 1.0),
    (QuadraticDiscriminant(), 0.0),
]
every_narrow = pytest.mark.parametrize("make", [narrow_in_one, narrow_in_two, narrow_in_all])
quiet = pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")


@pytest.mark.parametrize("kind", KINDS)
def test_posteriors_are_right_or_a_warning_names_the_columns(kind: str) -> None:
    """Right is: as good as the condition allows, of which a warning speaks from 1e10 on."""
    for value, table in tables(kind):
        for name, found in largest_differences(table).items():
            right = found.difference < 1e-13 * found.condition
            assert right or table.excused(found.said), f"{name} of {value}: {found}"


@quiet
@every_narrow
def test_missing_values_beside_a_narrow_column(make: Callable[[float], Hard]) -> None:
    """Marginals: the answer of the definitions without the column that is not known."""
    table = make(1e-18)
    known = table.X[::3]
    rows = known.copy()
    rows[:, 1] = np.nan
    less = replace(table, used=(0, 2, 3))
    for model, pooling in MODELS:
        found = model.fit(table.X, table.y).predict_proba(rows)
        expected = less.oracle(pooling).posteriors(known[:, less.used])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


@quiet
@every_narrow
@pytest.mark.parametrize("make_model", [LinearDiscriminant, QuadraticDiscriminant])
def test_rows_left_out_and_files_keep_a_narrow_column(
    make: Callable[[float], Hard], make_model: Callable[[], Any], tmp_path: Any
) -> None:
    table = make(1e-18)
    model = make_model().fit(table.X, table.y)
    left = model.loo_proba(table.X, table.y)
    for i in (3, 13, 23):
        others = np.arange(len(table.y)) != i
        again = make_model().fit(table.X[others], table.y[others])
        np.testing.assert_allclose(left[i], again.predict_proba(table.X[[i]])[0], atol=1e-12)
    model.save(tmp_path / "m.sortal")
    loaded = load(tmp_path / "m.sortal")
    np.testing.assert_array_equal(loaded.predict_proba(table.X), model.predict_proba(table.X))


@quiet
@pytest.mark.parametrize("make", [LinearDiscriminant, FisherDiscriminant])
@pytest.mark.parametrize("spread", [1e-8, 1e-10, 1e-14])
def test_no_class_is_lost_beside_one_far_away(make: Callable[[], Any], spread: float) -> None:
    """Whether the last class lies 1e4 or 1e14 standard deviations away, the others are as near."""
    near, far = narrow_in_all(1e-4), narrow_in_all(spread)
    wanted = make().fit(near.X, near.y).predict(near.X)
    np.testing.assert_array_equal(make().fit(far.X, far.y).predict(far.X), wanted)


def test_probabilities_of_another_model_are_columns_like_others() -> None:
    """They add up to 1 but for rounding: that is a tie, and neither spread nor separation."""
    iris = datasets.iris()
    X, y = iris.drop(columns="species").to_numpy(), iris["species"].to_numpy()
    P = cross_val_predict(LinearDiscriminant(), X, y, cv=5, method="predict_proba")
    table = Hard(P, y, (0, 1))
    for model, pooling in MODELS:
        with pytest.warns(CollinearityWarning, match="'x0', 'x1', 'x2' is the same") as heard:
            model.fit(P, y)
        assert PerfectSeparationWarning not in {w.category for w in heard}
        found, expected = (
            model.predict_proba(P[::10]),
            table.oracle(pooling).posteriors(P[::10, :2]),
        )
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


def test_separation_is_only_claimed_where_nothing_varies_within_classes() -> None:
    for sharpness in (20.0, 30.0):
        table = sure_shares(sharpness)
        for make in (LinearDiscriminant, FisherDiscriminant, QuadraticDiscriminant):
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always")
                make().fit(table.X, table.y)
            assert {w.category for w in heard} == {CollinearityWarning}


def test_a_class_that_hardly_varies_along_a_combination_is_named() -> None:
    table = nearly_tied_in_one(1e-10)
    with pytest.warns(CollinearityWarning, match="(?s)lass 'a' .* 'x0', 'x1', 'x3'"):
        QuadraticDiscriminant().fit(table.X, table.y)


# --- Fisher's rule for more than two classes -----------------------------------------------------


@pytest.mark.parametrize("within", ["scatter", "covariance"])
def test_fisher_shows_the_distances_by_which_it_decides(within: Any) -> None:
    iris = datasets.iris()
    X, y = iris[["sepal_length", "sepal_width"]], iris["species"]
    model = FisherDiscriminant(within=within).fit(X, y)
    working, predicted = model.working(X), model.predict(X)
    table: Any = working["verdicts"]
    assert (table.equation, working["between"].equation) == ("S 99", "S 98")
    assert list(table.column("predicted")) == predicted.tolist()
    shown = np.column_stack([table.column(f"d² from {label}") for label in model.classes_])
    assert model.classes_[shown.argmin(axis=1)].tolist() == predicted.tolist()
    means = np.array([model.transform(X[y == c], "within").mean(axis=0) for c in model.classes_])
    a = model.transform(X, scaling="within")
    np.testing.assert_allclose(shown, np.square(a[:, None] - means).sum(axis=2), rtol=1e-9)
    plain = np.square(model.transform(X)[:, None] - model.projected_means_).sum(axis=2)
    assert (model.classes_[plain.argmin(axis=1)] != predicted).sum() == 11


def test_fisher_of_two_classes_shows_the_side_of_the_separating_point() -> None:
    iris = datasets.iris()
    X, y = iris[["sepal_length", "sepal_width"]], iris["species"] == "setosa"
    model: Any = FisherDiscriminant().fit(X, y)
    table: Any = model.working(X)["verdicts"]
    beyond = np.array(table.column("a1 less separating point"), dtype=float)
    np.testing.assert_allclose(beyond, model.transform(X)[:, 0] - model.threshold_, atol=1e-12)
    assert ((beyond > 0) == (model.predict(X) == model.classes_[0])).all()


@pytest.mark.parametrize("power", [50, 51, 52])
def test_whole_numbers_far_from_zero_are_those_near_it(power: int) -> None:
    """A spread of some last digits in one class is not lost from that of all classes."""
    rng = np.random.default_rng(0)
    near = 2.0 * rng.integers(0, 10, 60)[:, None]
    y = (near[:, 0] + rng.integers(0, 12, 60) > 15).astype(int)
    for learner in (LinearDiscriminant(), FisherDiscriminant(), IndicatorRegression()):
        here = learner.fit(near, y).decision_function(near)
        there = learner.fit(near + 2.0**power, y).decision_function(near + 2.0**power)
        np.testing.assert_allclose(there, here, rtol=1e-12, atol=1e-12)
