"""The discriminants meet everyday tables: they work, or say why not and what to do."""

import math
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray
from tests.discriminants.tables import heard, quietly, whole_penguins

from sortal import (
    FisherDiscriminant,
    IndicatorRegression,
    LinearDiscriminant,
    QuadraticDiscriminant,
    datasets,
)
from sortal.errors import (
    CollinearityWarning,
    MissingValueWarning,
    PerfectSeparationWarning,
    UnknownCategoryError,
    UnknownCategoryWarning,
)

Float: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]
Frame: TypeAlias = Any
Learner: TypeAlias = (
    FisherDiscriminant | LinearDiscriminant | IndicatorRegression | QuadraticDiscriminant
)

ESTIMATORS: Final[dict[str, Callable[..., Learner]]] = {
    "fisher": FisherDiscriminant,
    "linear": LinearDiscriminant,
    "indicator": IndicatorRegression,
}
every_estimator = pytest.mark.parametrize("make", ESTIMATORS.values(), ids=ESTIMATORS)
FOUR: Final[list[Callable[..., Any]]] = [*ESTIMATORS.values(), QuadraticDiscriminant]
all_four = pytest.mark.parametrize("make", FOUR)

MEASURES: Final = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]


def make_table(seed: int = 0, n: int = 60, p: int = 3, k: int = 3) -> tuple[Float, Labels]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k)
    X = rng.normal(size=(n, p)) + rng.normal(size=(k, p))[y] * 1.5
    # Multiples of 1/1024, so that a shift by 1e8 loses nothing.
    return np.round(X * 1024) / 1024, y


def lda_proba(X: Float, y: Labels, rows: Float, priors: Float | None = None) -> Float:
    """Gaussian classes with S / (N − K), by definition."""
    classes, codes = np.unique(y, return_inverse=True)
    means = np.array([X[y == c].mean(axis=0) for c in classes])
    z = X - means[codes]
    sigma = z.T @ z / (len(X) - len(classes))
    shares = np.bincount(codes) / len(X) if priors is None else priors
    g = [np.log(s) - 0.5 * np.sum((rows - m) @ np.linalg.inv(sigma) * (rows - m), axis=1)
         for s, m in zip(shares, means, strict=True)]  # fmt: skip
    odds = np.exp(np.array(g).T - np.max(g, axis=0)[:, None])
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def is_separated(said: list[warnings.WarningMessage]) -> bool:
    return PerfectSeparationWarning in {warning.category for warning in said}


def decide(model: Learner, X: Any) -> Float:
    found = np.asarray(model.decision_function(X))
    return found if found.ndim == 1 else found - found.mean(axis=1, keepdims=True)


def assert_alike(one: Learner, X: Any, other: Learner, Z: Any, digits: float = 1e-8) -> None:
    """Two models of the same rows in other columns say the same.

    Fisher's functions are in the units of the columns, so its criterion is compared, and labels.
    """
    if isinstance(one, FisherDiscriminant) and isinstance(other, FisherDiscriminant):
        np.testing.assert_allclose(other.eigenvalues_, one.eigenvalues_, rtol=digits)
    else:
        np.testing.assert_allclose(decide(other, Z), decide(one, X), rtol=digits, atol=digits)
    assert (other.predict(Z) == one.predict(X)).all()


# --- Columns of all kinds ------------------------------------------------------------------------


@all_four
@pytest.mark.parametrize("value", [0.0, 7.5, -1e9, 1e-300])
def test_a_constant_column_is_named_and_ignored(make: Callable[..., Learner], value: float) -> None:
    X, y = make_table()
    frame = pd.DataFrame(X, columns=list("abc"))
    plain = make().fit(frame, y)
    with pytest.warns(CollinearityWarning, match="Column 'still' is the same in all rows"):
        model = make().fit(frame.assign(still=value), y)
    np.testing.assert_allclose(
        decide(model, frame.assign(still=value)), decide(plain, frame), rtol=1e-10, atol=1e-10
    )


@all_four
def test_collinear_columns_are_named_and_change_nothing(make: Callable[..., Learner]) -> None:
    X, y = make_table()
    frame = pd.DataFrame(X, columns=["u", "v", "other"])
    more = frame.assign(total=frame["u"] + 2 * frame["v"])
    with pytest.warns(CollinearityWarning, match="'total'|'u'|'v'"):
        model = make().fit(more, y)
    assert_alike(make().fit(frame, y), frame, model, more)


@every_estimator
@pytest.mark.parametrize("offset", [1e4, 1e8, -1e8])
def test_far_offsets_cost_no_digits(make: Callable[..., Learner], offset: float) -> None:
    X, y = make_table()
    offsets = np.array([0.0, offset, -2 * offset])
    moved = X + offsets
    assert (moved - offsets == X).all()
    one, other = make().fit(X, y), make().fit(moved, y)
    # What is left is the last place of xᵀβ: 2e8 · 1e-16 · |β|.
    np.testing.assert_allclose(decide(other, moved), decide(one, X), rtol=1e-7, atol=3e-7)
    if isinstance(one, LinearDiscriminant) and isinstance(other, LinearDiscriminant):
        np.testing.assert_allclose(other.covariance_, one.covariance_, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(
            other.coef_ - other.coef_[0], one.coef_ - one.coef_[0], rtol=1e-9
        )


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8])
def test_the_ratio_of_variances_far_from_zero(offset: float) -> None:
    """Nine groups of 21: m, and ten times m ± 1; means 4 and 3, 5, 3, 5, … (after NIST's SmLs).

    B = 21 · 8 and S = 9 · 20, so λ = 168 / 180 and F = λ · 180 / 8 = 21.
    """
    m = np.repeat([4.0, *[3.0, 5.0] * 4], 21) + offset
    x = m + np.tile([0.0, *[-1.0, 1.0] * 10], 9)
    model = FisherDiscriminant().fit(x[:, None], np.repeat(np.arange(9), 21))
    np.testing.assert_allclose(model.eigenvalues_, [168 / 180], rtol=1e-13)
    assert model.eigenvalues_[0] * 180 / 8 == pytest.approx(21.0, rel=1e-13)


@all_four
@pytest.mark.parametrize("scale", [2.0**30, 1e9], ids=["binary", "decimal"])
def test_units_of_columns_may_differ_by_far(make: Callable[..., Learner], scale: float) -> None:
    X, y = make_table()
    units = np.array([scale, 1.0, 1 / scale])
    one, other = make().fit(X, y), make().fit(X * units, y)
    assert_alike(one, X, other, X * units)
    assert other.condition_ == pytest.approx(one.condition_, rel=1e-8)


# --- Few rows, many columns, many classes --------------------------------------------------------


@pytest.mark.parametrize("make", [FisherDiscriminant, LinearDiscriminant, QuadraticDiscriminant])
def test_every_class_one_row(make: Callable[..., Learner]) -> None:
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    model, said = heard(lambda: make().fit(X, ["a", "b", "c"]))
    assert is_separated(said)
    assert model.predict(X).tolist() == ["a", "b", "c"]


def test_more_columns_than_rows() -> None:
    """S is singular; w ∝ S_T⁺(μ1 − μ2) brings each class to one point."""
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(12, 40)) + 5, np.arange(12) % 2
    model, said = heard(lambda: FisherDiscriminant().fit(X, y))
    assert is_separated(said)
    z = X - X.mean(axis=0)
    d = X[y == 0].mean(axis=0) - X[y == 1].mean(axis=0)
    w = np.linalg.pinv(z.T @ z, rcond=1e-10) @ d
    np.testing.assert_allclose(model.directions_[:, 0], w / np.linalg.norm(w), atol=1e-9)
    assert model.eigenvalues_.tolist() == [math.inf]
    a = model.transform(X)[:, 0]
    np.testing.assert_allclose(a[y == 0], a[y == 0].mean(), atol=1e-9)
    assert model.predict(X).tolist() == y.tolist()


@pytest.mark.filterwarnings("ignore::sortal.errors.ManyClassesWarning")
def test_two_hundred_classes() -> None:
    rng = np.random.default_rng(6)
    y = np.repeat(np.arange(200), 6)
    X = rng.normal(size=(1200, 8)) * 0.4 + rng.normal(size=(200, 8))[y] * 3
    model = LinearDiscriminant().fit(X, y)
    shares = model.predict_proba(X)
    assert shares.shape == (1200, 200)
    np.testing.assert_allclose(shares, lda_proba(X, y, X), rtol=1e-7, atol=1e-12)
    assert (model.predict(X) == y).mean() > 0.95
    assert FisherDiscriminant().fit(X, y).directions_.shape == (8, 8)
    functions = IndicatorRegression().fit(X, y).decision_function(X)
    np.testing.assert_allclose(functions.sum(axis=1), 1, rtol=1e-10)


@every_estimator
def test_classes_set_apart_by_one_column(make: Callable[..., Learner]) -> None:
    """'tag' is 1 for one class and 0 for the other: a perfect column is used, and said."""
    X, y = make_table(k=2)
    frame = pd.DataFrame(X, columns=list("abc")).assign(tag=y * 1.0)
    model, said = heard(lambda: make().fit(frame, y))
    assert (is_separated(said)) == (make is not IndicatorRegression)
    assert model.predict(frame).tolist() == y.tolist()
    if make is FisherDiscriminant:
        assert model.eigenvalues_.tolist() == [math.inf]
        np.testing.assert_allclose(np.abs(model.directions_[:, 0]), [0, 0, 0, 1], atol=1e-9)


@every_estimator
@pytest.mark.parametrize("labels", ["aabb", "aabbcc"])
def test_classes_with_one_mean_are_tied(make: Callable[..., Learner], labels: str) -> None:
    """μ1 = μ2: J = 0 in every direction, nothing tells the classes apart, the first one is said."""
    X = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    X, y = X[: len(labels)], list(labels)
    model = make().fit(X, y)
    np.testing.assert_allclose(decide(model, X), 0, atol=1e-15)
    assert model.predict(X).tolist() == ["a"] * len(X)
    if isinstance(model, FisherDiscriminant):
        assert np.isfinite(model.directions_).all()
        np.testing.assert_allclose(model.eigenvalues_, 0, atol=1e-15)


# --- Penguins: words, numbers and missing values
# ----------------------------------------------------------


def design(frame: Frame) -> Float:
    """Numbers, and an indicator of every value but the first."""
    columns = [frame[name].to_numpy(dtype=float) for name in [*MEASURES, "year"]]
    columns += [(frame["island"] == name).to_numpy(dtype=float) for name in ("Dream", "Torgersen")]
    columns += [(frame["sex"] == "male").to_numpy(dtype=float)]
    return np.column_stack(columns)


def test_words_become_indicators_of_all_values() -> None:
    frame = whole_penguins()
    model = LinearDiscriminant().fit(frame, "species")
    islands = ["island=Biscoe", "island=Dream", "island=Torgersen"]
    assert list(model.terms_) == [*islands, *MEASURES, "sex=female", "sex=male", "year"]
    np.testing.assert_allclose(model.means_[2, :3], [1.0, 0.0, 0.0], atol=1e-15)  # Gentoo
    X, y = design(frame), frame["species"].to_numpy()
    np.testing.assert_allclose(
        model.predict_proba(frame), lda_proba(X, y, X), rtol=1e-6, atol=1e-12
    )


def test_indicators_of_words_in_regression() -> None:
    frame = whole_penguins()
    y = (frame["species"].to_numpy()[:, None] == ["Adelie", "Chinstrap", "Gentoo"]).astype(float)
    X = np.column_stack([np.ones(len(frame)), design(frame)])
    expected = X @ np.linalg.lstsq(X, y, rcond=None)[0]
    found = IndicatorRegression().fit(frame, "species").decision_function(frame)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@every_estimator
def test_rows_with_missing_values_are_dropped_counted_and_warned_of(
    make: Callable[..., Learner],
) -> None:
    with pytest.warns(MissingValueWarning, match="11") as caught:
        model = make().fit(datasets.penguins(), "species")
    assert len(caught) == 1
    report = model.fit_report_
    assert report.missing == {**dict.fromkeys(MEASURES, 2), "sex": 11}
    assert "11" in str(report)
    whole = make().fit(whole_penguins(), "species")
    np.testing.assert_allclose(
        decide(model, whole_penguins()), decide(whole, whole_penguins()), rtol=1e-9, atol=1e-9
    )


@every_estimator
def test_missing_values_may_take_the_mean(make: Callable[..., Learner]) -> None:
    """Numbers: the mean of the column. Words: the shares of its values, 165 and 168 of 333."""
    penguins = datasets.penguins()
    y = penguins["species"]
    by_hand = pd.DataFrame({name: (penguins["island"] == name) * 1.0 for name in
                            ("Biscoe", "Dream", "Torgersen")})  # fmt: skip
    by_hand = by_hand.assign(**{m: penguins[m].fillna(penguins[m].mean()) for m in MEASURES})
    for sex, share in {"female": 165 / 333, "male": 168 / 333}.items():
        by_hand[sex] = ((penguins["sex"] == sex) * 1.0).where(penguins["sex"].notna(), share)
    by_hand["year"] = penguins["year"]
    model, _ = heard(lambda: make(missing="mean").fit(penguins, "species"))
    expected = quietly(lambda: make().fit(by_hand, y))
    np.testing.assert_allclose(model.means_, expected.means_, rtol=1e-12, atol=1e-12)
    whole = penguins["sex"].notna()
    np.testing.assert_allclose(
        decide(model, penguins[whole]), decide(expected, by_hand[whole]), rtol=1e-7, atol=1e-8
    )


@all_four
def test_the_mean_is_that_of_the_first_block(make: Callable[..., Learner]) -> None:
    X, y = make_table(n=60)
    incomplete = X.copy()
    incomplete[::7, 0] = np.nan
    filled = np.where(np.isnan(incomplete), np.nanmean(incomplete[:30, 0]), incomplete)
    model = quietly(lambda: make(missing="mean").partial_fit(incomplete[:30], y[:30]))
    quietly(lambda: model.partial_fit(incomplete[30:], y[30:]))
    np.testing.assert_allclose(
        decide(model, X), decide(make().fit(filled, y), X), rtol=1e-9, atol=1e-9
    )


@pytest.mark.filterwarnings("ignore::sortal.errors.CollinearityWarning")
@all_four
def test_an_unknown_word_is_a_missing_value(make: Callable[..., Learner]) -> None:
    frame = whole_penguins()
    model = make().fit(frame, "species")
    with pytest.warns(UnknownCategoryWarning, match="333 cells"):
        strange = model.decision_function(frame.assign(island="Atlantis"))
    with pytest.warns(MissingValueWarning, match="333 cells"):
        missing = model.decision_function(frame.assign(island=None))
    np.testing.assert_allclose(strange, missing, rtol=1e-12, atol=1e-12)
    with pytest.raises(UnknownCategoryError, match="333 cells"):
        make(unknown="error").fit(frame, "species").predict(frame.assign(island="Atlantis"))


def test_a_word_less_is_a_column_less() -> None:
    """Marginalizing takes all indicators of the column away."""
    frame = whole_penguins()
    model = LinearDiscriminant().fit(frame, "species")
    with pytest.warns(MissingValueWarning):
        found = model.predict_proba(frame.assign(sex=None))
    less = frame.drop(columns="sex")
    expected = LinearDiscriminant().fit(less, "species").predict_proba(less)
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-12)


@every_estimator
def test_words_that_come_in_a_later_block(make: Callable[..., Learner]) -> None:
    frame = whole_penguins().sort_values("island", kind="stable")
    species = ["Adelie", "Chinstrap", "Gentoo"]
    model = make()
    for start in range(0, 333, 111):
        block = frame.iloc[start : start + 111]
        quietly(partial(model.partial_fit, block, "species", classes=species))
    whole = make().fit(frame, "species")
    assert list(model.terms_) == list(whole.terms_)
    np.testing.assert_allclose(decide(model, frame), decide(whole, frame), rtol=1e-7, atol=1e-8)


# --- Within scikit-learn -------------------------------------------------------------------------


@pytest.mark.parametrize("make", [FisherDiscriminant, LinearDiscriminant])
def test_projections_come_out_as_frames(
    make: type[FisherDiscriminant] | type[LinearDiscriminant],
) -> None:
    frame = whole_penguins()
    model = make().fit(frame, "species")
    plain = model.transform(frame)
    names = list(model.get_feature_names_out())
    assert len(names) == plain.shape[1] == 2
    for kind, frame_type in {"pandas": pd.DataFrame, "polars": pl.DataFrame}.items():
        shown: Any = model.set_output(transform=kind).transform(frame)
        assert isinstance(shown, frame_type)
        assert list(shown.columns) == names
        assert np.array_equal(shown.to_numpy(), plain)
    both = make().fit_transform(frame.drop(columns="species"), frame["species"])
    np.testing.assert_allclose(both, plain, rtol=1e-12)
