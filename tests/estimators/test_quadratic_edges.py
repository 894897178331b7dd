"""Classes without full rank, digits, bad input: where a quadratic discriminant could mislead."""

import json
import math
import pickle
import warnings
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from tests.estimators.quadratic_oracle import Oracle

from sortal import LinearDiscriminant, QuadraticDiscriminant, datasets
from sortal.errors import (
    CollinearWarning,
    InputError,
    MissingValueError,
    MissingValueWarning,
    OptionError,
    SeparationWarning,
    SortalWarning,
    SubtractError,
    UnknownCategoryError,
    UnknownCategoryWarning,
)

Float: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]
Frame: TypeAlias = Any
Table: TypeAlias = tuple[Float, Labels]

every_norm = pytest.mark.parametrize("norm", ["unbiased", "mle"])
quiet = pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")


def make_table(seed: int = 0, n: int = 60, p: int = 3, k: int = 3) -> Table:
    """Classes that overlap, of different shapes; multiples of 1/1024, so that shifts are exact."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n) % k)
    turns = rng.normal(size=(k, p, p)) * 0.3 + np.eye(p)
    X = np.einsum("ij,ijm->im", rng.normal(size=(n, p)), turns[codes])
    X += rng.normal(size=(k, p))[codes]
    return np.round(X * 1024) / 1024, np.array(list("abcdefgh"))[codes]


def close(found: Any, expected: Any, digits: float = 1e-9) -> None:
    assert_allclose(found, expected, rtol=digits, atol=digits)


def heard(action: Callable[[], Any]) -> tuple[Any, list[warnings.WarningMessage]]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = action()
    return found, list(caught)


def quietly(action: Callable[[], Any]) -> Any:
    return heard(action)[0]


def whole_penguins() -> Frame:
    return datasets.penguins().dropna().reset_index(drop=True)


# --- Singular classes ----------------------------------------------------------------------------


def with_class(rows: Any) -> Table:
    """A table and one more class, 'z'."""
    X, y = make_table()
    return np.vstack([X, rows]), np.r_[y, ["z"] * len(rows)]


def one_row() -> Table:
    return with_class([[1.0, 2.0, 0.5]])


def two_rows() -> Table:
    return with_class([[1.0, 2.0, 0.5], [0.0, 1.0, 2.5]])


def one_point() -> Table:
    return with_class([[0.1, 0.7, 0.3]] * 4)


def many_points() -> Table:
    """Rows on two points: their line is all that varies."""
    return with_class([[0.1, 0.7, 0.3]] * 4 + [[0.3, 0.2, 1.1]] * 3)


def few_rows() -> Table:
    X, y = make_table(p=5)
    few = np.random.default_rng(1).normal(size=(4, 5))
    return np.vstack([X, few]), np.r_[y, ["z"] * 4]


def few_rows_everywhere() -> Table:
    return make_table(2, n=18, p=5, k=6)


def still_column() -> Table:
    X, y = make_table()
    X[y == "b", 1] = 0.1
    return X, y


def tied_columns() -> Table:
    X, y = make_table()
    X[y == "b", 2] = 0.3 * X[y == "b", 0] + 0.1 * X[y == "b", 1]
    return X, y


def tied_with_an_offset() -> Table:
    X, y = make_table()
    X[y == "b", 2] = 7.1 - 3 * X[y == "b", 0]
    return X, y


def two_classes_tied() -> Table:
    """In directions of their own; together they tie nothing."""
    X, y = make_table(3, n=40, p=2, k=2)
    X[y == "a", 1] = 2 * X[y == "a", 0]
    X[y == "b", 1] = -X[y == "b", 0] + 1
    return X, y


def far_still_column() -> Table:
    """1e8 + 0.1 is no float64, and its mean not exactly itself: still, it stands still."""
    X, y = make_table()
    X[:, 1] = 1e8 + X[:, 1] / 1024
    X[y == "b", 1] = 1e8 + 0.1
    return X, y


# Ranks of the classes, in order, and the singular one with the columns that are tied in it.
SINGULAR: Final[dict[str, tuple[Callable[[], Table], list[int], str, set[str]]]] = {
    "one row": (one_row, [3, 3, 3, 0], "z", {"x0", "x1", "x2"}),
    "two rows": (two_rows, [3, 3, 3, 1], "z", {"x0", "x1", "x2"}),
    "one point": (one_point, [3, 3, 3, 0], "z", {"x0", "x1", "x2"}),
    "two points": (many_points, [3, 3, 3, 1], "z", {"x0", "x1", "x2"}),
    "few rows": (few_rows, [5, 5, 5, 3], "z", {"x0", "x1", "x2", "x3", "x4"}),
    "few rows in all": (few_rows_everywhere, [2] * 6, "a", {"x0", "x1", "x2", "x3", "x4"}),
    "still column": (still_column, [3, 2, 3], "b", {"x1"}),
    "tied columns": (tied_columns, [3, 2, 3], "b", {"x0", "x1", "x2"}),
    "tied with an offset": (tied_with_an_offset, [3, 2, 3], "b", {"x0", "x2"}),
    "each tied its own way": (two_classes_tied, [1, 1], "a", {"x0", "x1"}),
    "still far from zero": (far_still_column, [3, 2, 3], "b", {"x1"}),
}
every_singular = pytest.mark.parametrize("name", SINGULAR)


def fitted(table: Table, *options: Any, **more: Any) -> QuadraticDiscriminant:
    found: QuadraticDiscriminant = quietly(
        lambda: QuadraticDiscriminant(*options, **more).fit(*table)
    )
    return found


def beside(X: Float) -> Float:
    """Rows of the table, and rows off it."""
    rng = np.random.default_rng(9)
    spread = X.std(axis=0)
    return np.vstack([X[::3], X[::5] + rng.normal(size=X[::5].shape) * spread])


@every_singular
@every_norm
def test_where_a_class_stands_still_it_takes_the_pooled_variance(name: str, norm: str) -> None:
    table = SINGULAR[name][0]()
    oracle, model = Oracle(*table, norm), fitted(table, norm)
    rows = beside(table[0])
    close(model.predict_log_proba(rows), oracle.log_posteriors(rows), 1e-8)
    shares = model.predict_proba(rows)
    assert np.isfinite(shares).all()
    close(shares.sum(axis=1), 1, 1e-13)
    assert model.ranks_.tolist() == SINGULAR[name][1]
    sigmas = np.array([oracle.used(k) for k in oracle.classes])
    close(model.covariances_, sigmas, 1e-9)
    assert (np.linalg.eigvalsh(model.covariances_) > 0).all()


@every_singular
@every_norm
@pytest.mark.parametrize(("pooling", "shrinkage"), [(0.2, None), (0.0, 0.3), (0.4, 0.1), (1.0, 0)])
def test_singular_classes_mixed_with_others(
    name: str, norm: str, pooling: float, shrinkage: float | None
) -> None:
    table = SINGULAR[name][0]()
    if "far" in name and shrinkage:
        return  # the mean variance mixes units of 1 and of 1/1024: see the law of one unit
    oracle = Oracle(*table, norm, pooling, shrinkage or 0.0)
    model = fitted(table, norm, pooling, shrinkage)
    rows = beside(table[0])
    close(model.predict_log_proba(rows), oracle.log_posteriors(rows), 1e-8)
    assert model.ranks_.tolist() == [oracle.rank(k) for k in oracle.classes]


@every_singular
def test_singular_classes_are_named(name: str) -> None:
    make, _, label, columns = SINGULAR[name]
    table = make()
    model, caught = heard(lambda: QuadraticDiscriminant().fit(*table))
    assert {w.category for w in caught} == {CollinearWarning}
    assert {w.filename for w in caught} == {__file__}
    texts = [str(w.message) for w in caught]
    own = [text for text in texts if repr(label) in text]
    assert own
    assert all(any(repr(c) in text for text in own) for c in columns)
    others = {"x0", "x1", "x2"} - columns
    assert not any(repr(c) in text for text in own for c in others)
    told = " ".join(texts).lower()
    assert model.fit_report_.notes
    assert all(note.rstrip(".").lower() in told for note in model.fit_report_.notes)


def test_regular_classes_are_not_warned_of() -> None:
    for table in (make_table(), make_table(p=1, k=2), make_table(n=300, p=8, k=8)):
        model, caught = heard(partial(QuadraticDiscriminant().fit, *table))
        assert caught == []
        assert model.fit_report_.notes == ()


def test_pooling_makes_singular_classes_regular() -> None:
    """(1 − λ) S_k + λ S has the rank of S: nothing is completed, and nothing warned of."""
    model, caught = heard(lambda: QuadraticDiscriminant(pooling=0.1).fit(*two_rows()))
    assert caught == []
    assert model.ranks_.tolist() == [3, 3, 3, 3]


@every_norm
def test_one_row_has_the_pooled_covariance(norm: str) -> None:
    for make in (one_row, one_point):
        table = make()
        linear = LinearDiscriminant(norm).fit(*table)
        close(fitted(table, norm).covariances_[3], linear.covariance_, 1e-12)
        shrunk = LinearDiscriminant(norm, 0.2).fit(*table)
        close(fitted(table, norm, 0.0, 0.2).covariances_[3], shrunk.covariance_, 1e-12)


def test_two_rows_by_hand() -> None:
    """Σ = [1 ⅓; ⅓ 1] along (1, −1), where the two rows say nothing: [4 2; 2 4]/3."""
    X = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1], [0, 0], [2, 2]])
    model = fitted((X, np.array(list("aaaabb"))), "mle")
    close(model.covariances_[1], np.array([[4, 2], [2, 4]]) / 3, 1e-14)
    close(model.covariances_[0], np.eye(2), 1e-14)
    assert model.ranks_.tolist() == [2, 1]
    # at (1, 1): −1 for the first; ½ ln of determinants 1 and 4/3; priors 4 and 2 of 6
    expected = math.log(2) + 0.5 * math.log(12 / 9) - 1
    close(model.decision_function([[1.0, 1.0]]), [-expected], 1e-13)


@every_singular
@quiet
def test_holes_where_classes_are_singular(name: str) -> None:
    """The completed covariances lose rows and columns; they are not completed again."""
    table = SINGULAR[name][0]()
    rows = beside(table[0])
    rows[np.random.default_rng(3).uniform(size=rows.shape) < 0.4] = np.nan
    rows[0] = np.nan
    model, oracle = fitted(table), Oracle(*table)
    close(model.predict_log_proba(rows), oracle.log_posteriors(rows), 1e-8)
    close(model.predict_proba(rows[:1])[0], model.priors_, 1e-13)


@every_singular
@quiet
def test_reasons_and_boundaries_where_classes_are_singular(name: str) -> None:
    table = SINGULAR[name][0]()
    model, oracle = fitted(table), Oracle(*table)
    rows = beside(table[0])[::4]
    logs = model.predict_log_proba(rows)
    reasons: Any = model.explain(rows)
    for x, reason in zip(rows, reasons, strict=True):
        offset, amounts = oracle.parts(x, reason.label, reason.against)
        close([p.amount for p in reason.parts], amounts, 1e-8)
        assert reason.offset == pytest.approx(offset, rel=1e-8, abs=1e-8)
    if "far" in name:
        return  # xᵀΓx holds 1e16 beside a difference of 1
    last = len(model.classes_) - 1
    line = model.boundary(model.classes_[0], model.classes_[last])
    values = line.beta0 + rows @ line.beta + np.einsum("ij,jm,im->i", rows, line.gamma, rows)
    close(values, logs[:, 0] - logs[:, last], 1e-7)


@quiet
def test_a_column_that_is_constant_within_every_class() -> None:
    """LDA's floor, in every class: 1e-9 of the variance of the means."""
    X, y = make_table()
    tag = np.where(y == "a", 1.0, 0.0)
    table = np.column_stack([X, tag]), y
    model, caught = heard(lambda: QuadraticDiscriminant().fit(*table))
    assert SeparationWarning in {w.category for w in caught}
    oracle = Oracle(*table)
    assert (model.predict(table[0])[y == "a"] == "a").all()
    assert (model.predict(table[0])[y != "a"] != "a").all()
    found, expected = model.predict_log_proba(table[0]), oracle.log_posteriors(table[0])
    # the gap is of the size 1e9, and so are its digits
    assert_allclose(found, expected, rtol=1e-7, atol=1e-5)
    close(model.predict_proba(table[0]).sum(axis=1), 1, 1e-13)
    assert model.ranks_.tolist() == [3, 3, 3]
    linear = quietly(lambda: LinearDiscriminant().fit(*table))
    pooled = fitted(table, "unbiased", 1.0)
    assert_allclose(
        pooled.predict_log_proba(table[0]), linear.predict_log_proba(table[0]), rtol=1e-7
    )


@quiet
def test_tied_columns_in_all_rows_are_left_out() -> None:
    X, y = make_table()
    tied = np.column_stack([X, X[:, 0] + 2 * X[:, 1]])
    with pytest.warns(CollinearWarning, match="'x0', 'x1', 'x3' is the same in all rows"):
        model = QuadraticDiscriminant().fit(tied, y)
    plain = QuadraticDiscriminant().fit(X, y)
    close(model.predict_log_proba(tied), plain.predict_log_proba(X), 1e-8)
    assert model.ranks_.tolist() == [3, 3, 3]
    rows = beside(tied)
    close(model.predict_log_proba(rows), Oracle(tied, y).log_posteriors(rows), 1e-8)
    holed = tied.copy()
    holed[::2, 0] = np.nan
    holed[1::2, 3] = np.nan
    close(model.predict_log_proba(holed), Oracle(tied, y).log_posteriors(holed), 1e-8)


def test_only_the_tie_is_warned_of() -> None:
    """No class is singular beside the others."""
    X, y = make_table()
    _, caught = heard(lambda: QuadraticDiscriminant().fit(np.column_stack([X, X[:, 0]]), y))
    assert len(caught) == 1


@pytest.mark.parametrize("value", [0.0, 7.5, -1e9, 0.1, 1e-300])
def test_a_constant_column_is_named_and_ignored(value: float) -> None:
    X, y = make_table()
    frame = pd.DataFrame(X, columns=list("abc"))
    plain = QuadraticDiscriminant().fit(frame, y)
    with pytest.warns(CollinearWarning, match="'still'") as caught:
        model = QuadraticDiscriminant().fit(frame.assign(still=value), y)
    assert len(caught) == 1
    found = model.predict_log_proba(frame.assign(still=value))
    close(found, plain.predict_log_proba(frame), 1e-10)
    assert model.ranks_.tolist() == [3, 3, 3]


def test_two_singular_classes_and_a_tie() -> None:
    """What is tied in all rows is no news of a class."""
    X, y = still_column()
    tied = np.column_stack([X, X[:, 0] + X[:, 2]])
    model, caught = heard(lambda: QuadraticDiscriminant().fit(tied, y))
    close(model.predict_log_proba(tied), fitted((X, y)).predict_log_proba(X), 1e-8)
    assert model.ranks_.tolist() == [3, 2, 3]
    own = [str(w.message) for w in caught if "'b'" in str(w.message)]
    assert len(own) == 1
    assert "'x1'" in own[0]
    assert "'x3'" not in own[0]


@pytest.mark.parametrize(("n", "p", "k"), [(12, 20, 2), (9, 30, 3), (6, 6, 3), (4, 3, 2)])
@quiet
def test_more_columns_than_rows(n: int, p: int, k: int) -> None:
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, p)) + 5, np.arange(n) % k
    model = QuadraticDiscriminant().fit(X, y)
    assert model.predict(X).tolist() == y.tolist()
    shares, logs = model.predict_proba(X), model.predict_log_proba(X)
    assert np.isfinite(logs).all()
    close(shares.sum(axis=1), 1, 1e-13)
    assert_allclose(logs, Oracle(X, y).log_posteriors(X), rtol=1e-4, atol=1e-4)
    assert model.ranks_.tolist() == [min(p, int((y == c).sum()) - 1) for c in range(k)]
    shrunk = QuadraticDiscriminant(shrinkage=0.3).fit(X, y)
    expected = Oracle(X, y, shrinkage=0.3)
    close(shrunk.predict_log_proba(X), expected.log_posteriors(X), 1e-8)
    assert shrunk.ranks_.tolist() == [p] * k


@quiet
def test_every_class_one_row() -> None:
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    model, caught = heard(lambda: QuadraticDiscriminant().fit(X, list("abc")))
    assert SeparationWarning in {w.category for w in caught}
    assert model.predict(X).tolist() == ["a", "b", "c"]
    linear = quietly(lambda: LinearDiscriminant().fit(X, list("abc")))
    assert_allclose(model.predict_log_proba(X), linear.predict_log_proba(X), rtol=1e-9)
    assert model.ranks_.tolist() == [0, 0, 0]


@quiet
def test_a_hundred_classes() -> None:
    """Of one to eight rows, in four columns."""
    rng = np.random.default_rng(6)
    y = np.repeat(np.arange(100), 1 + np.arange(100) % 8)
    X = rng.normal(size=(len(y), 4)) + rng.normal(size=(100, 4))[y] * 2
    model = QuadraticDiscriminant().fit(X, y)
    shares = model.predict_proba(X)
    assert shares.shape == (len(y), 100)
    close(shares.sum(axis=1), 1, 1e-12)
    oracle = Oracle(X, y)
    close(model.predict_log_proba(X[::29]), oracle.log_posteriors(X[::29]), 1e-7)
    assert model.ranks_.tolist() == np.minimum(np.arange(100) % 8, 4).tolist()
    pooled = QuadraticDiscriminant(pooling=0.2).fit(X, y)
    oracle = Oracle(X, y, pooling=0.2)
    close(pooled.predict_log_proba(X[::29]), oracle.log_posteriors(X[::29]), 1e-8)


def test_words_that_a_class_lacks() -> None:
    """Gentoos live on one island: there the shares of the other species are taken."""
    frame = whole_penguins()
    with pytest.warns(CollinearWarning, match="'Gentoo'") as caught:
        model = QuadraticDiscriminant().fit(frame, "species")
    texts = " ".join(str(w.message) for w in caught)
    assert "'island'" in texts
    assert "'bill_length_mm'" not in texts
    y = frame["species"].to_numpy()
    numbers = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g", "year"]
    plain = np.column_stack([
        *[(frame["island"] == name).to_numpy(float) for name in ("Dream", "Torgersen")],
        *[frame[name].to_numpy(float) for name in numbers],
        (frame["sex"] == "male").to_numpy(float),
    ])  # fmt: skip
    oracle = Oracle(plain, y)
    found = model.predict_log_proba(frame)
    assert_allclose(found, oracle.log_posteriors(plain), rtol=1e-7, atol=1e-7)
    assert model.ranks_.tolist() == [oracle.rank(k) for k in oracle.classes]
    assert model.score(frame, "species") > 0.98


# --- Digits and units ----------------------------------------------------------------------------


def exact_moments(rows: list[list[Fraction]]) -> tuple[list[Fraction], list[list[Fraction]]]:
    """The mean and S / (n − 1), without rounding."""
    n, p = len(rows), len(rows[0])
    mean = [sum((r[j] for r in rows), Fraction(0)) / n for j in range(p)]
    z = [[x - m for x, m in zip(r, mean, strict=True)] for r in rows]
    return mean, [[sum((r[a] * r[b] for r in z), Fraction(0)) / (n - 1) for b in range(p)]
                  for a in range(p)]  # fmt: skip


def exact_density(sigma: list[list[Fraction]], z: list[Fraction]) -> tuple[Fraction, Fraction]:
    """det Σ and zᵀΣ⁻¹z by elimination, without rounding."""
    n = len(sigma)
    M = [[*row, x] for row, x in zip(sigma, z, strict=True)]
    det, square = Fraction(1), Fraction(0)
    for i in range(n):  # Σ is positive definite: no pivots
        det *= M[i][i]
        square += M[i][n] * M[i][n] / M[i][i]
        for r in range(i + 1, n):
            factor = M[r][i] / M[i][i]
            M[r] = [x - factor * y for x, y in zip(M[r], M[i], strict=True)]
    return det, square


def exact_log_odds(X: Float, y: Labels, rows: Float) -> Float:
    """Of the second class of two; only the last logarithm is rounded."""
    exact = [[[Fraction(float(v)) for v in x] for x in X[y == label]] for label in np.unique(y)]
    moments = [exact_moments(own) for own in exact]
    found = []
    for x in rows:
        dets, squares = [], []
        for mean, sigma in moments:
            z = [Fraction(float(v)) - m for v, m in zip(x, mean, strict=True)]
            det, square = exact_density(sigma, z)
            dets.append(det)
            squares.append(square)
        prior = math.log(Fraction(len(exact[1]), len(exact[0])))
        found.append(prior + 0.5 * math.log(dets[0] / dets[1]) + float(squares[0] - squares[1]) / 2)
    return np.array(found)


def two_classes(seed: int = 0) -> Table:
    X, y = make_table(seed, n=24, k=2)
    return X, y


def test_the_exact_oracle_is_the_other_one() -> None:
    X, y = two_classes()
    expected = [Oracle(X, y).log_odds(x, "b", "a") for x in X]
    close(exact_log_odds(X, y, X), expected, 1e-11)


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8, -1e8])
@pytest.mark.parametrize("spread", [1.0, 2.0**-10])
def test_near_constant_columns(offset: float, spread: float) -> None:
    """1e8 ± 1e-3: the spread counts, not its share of the number."""
    X, y = two_classes()
    X[:, 1] = offset + np.round(X[:, 1] * 2**10) / 2**10 * spread
    model = QuadraticDiscriminant().fit(X, y)
    # rows less a mean near 1e8 have all their digits, if the mean is not rounded first
    close(model.decision_function(X), exact_log_odds(X, y, X), 1e-9)
    assert model.ranks_.tolist() == [3, 3]


@pytest.mark.parametrize("noise", [1.0, 1e-2, 1e-4, 1e-5])
@pytest.mark.parametrize("where", ["in both", "in one"])
@quiet
def test_functions_hold_the_digits_that_the_condition_leaves(noise: float, where: str) -> None:
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(30, 3)), np.repeat(["a", "b"], 15)
    near = X[:, 0] + X[:, 1] + noise * X[:, 2]
    X[:, 2] = near if where == "in both" else np.where(y == "a", near, X[:, 2])
    X[15:] += rng.normal(size=3) * noise
    model = QuadraticDiscriminant().fit(X, y)
    expected = exact_log_odds(X, y, X)
    error = np.abs(model.decision_function(X) - expected).max() / np.abs(expected).max()
    assert error < 1e-15 * model.condition_
    assert model.ranks_.tolist() == [3, 3]


@pytest.mark.parametrize("unit", [1e-150, 1e-100, 1e-12, 1e12, 1e100])
@pytest.mark.parametrize("shrinkage", [None, 0.2])
def test_any_unit(unit: float, shrinkage: float | None) -> None:
    X, y = make_table()
    wanted = QuadraticDiscriminant(shrinkage=shrinkage).fit(X, y).predict_log_proba(X)
    found = QuadraticDiscriminant(shrinkage=shrinkage).fit(X * unit, y).predict_log_proba(X * unit)
    close(found, wanted, 1e-9)


@pytest.mark.parametrize("unit", [1e-90, 1e-9, 1e9, 1e90])
def test_units_of_columns_may_differ_by_far(unit: float) -> None:
    X, y = make_table()
    units = np.array([unit, 1.0, 1 / unit])
    one, other = QuadraticDiscriminant().fit(X, y), QuadraticDiscriminant().fit(X * units, y)
    close(other.predict_log_proba(X * units), one.predict_log_proba(X), 1e-9)
    assert other.condition_ == pytest.approx(one.condition_, rel=1e-8)
    assert other.ranks_.tolist() == [3, 3, 3]


@every_singular
@pytest.mark.parametrize("unit", [1e-9, 1e9])
@quiet
def test_units_where_classes_are_singular(name: str, unit: float) -> None:
    X, y = SINGULAR[name][0]()
    units = unit ** np.linspace(-1, 1, X.shape[1])
    one, other = fitted((X, y)), fitted((X * units, y))
    close(other.predict_log_proba(X * units), one.predict_log_proba(X), 1e-8)
    assert other.ranks_.tolist() == one.ranks_.tolist()


def test_a_class_of_much_smaller_spread_is_not_singular() -> None:
    """1e-6 of the others' spread is small, and real."""
    X, y = two_classes()
    X[y == "a"] = np.round(X[y == "a"] * 2**10) * 2.0**-30
    model = QuadraticDiscriminant().fit(X, y)
    assert model.ranks_.tolist() == [3, 3]
    close(model.decision_function(X), exact_log_odds(X, y, X), 1e-8)


def test_a_column_of_much_smaller_spread_in_one_class() -> None:
    X, y = two_classes()
    X[y == "a", 1] = 0.5 + np.round(X[y == "a", 1] * 2**10) * 2.0**-35
    model = QuadraticDiscriminant().fit(X, y)
    assert model.ranks_.tolist() == [3, 3]
    close(model.decision_function(X), exact_log_odds(X, y, X), 1e-7)


@pytest.mark.parametrize("far", [1e10, 1e100, 1e139])
def test_rows_far_away_have_posteriors(far: float) -> None:
    """The wider class is said, whatever the direction."""
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.repeat(["narrow", "wide"], 30)
    X[30:] *= 3
    model = QuadraticDiscriminant().fit(X, y)
    rows = np.array([[far, 0.0], [-far, far], [0.0, -far], [far, far]])
    shares = model.predict_proba(rows)
    assert shares[:, 1].tolist() == [1.0] * 4
    assert not np.isnan(model.predict_log_proba(rows)).any()
    assert model.predict(rows).tolist() == ["wide"] * 4


@pytest.mark.parametrize("unit", [1e150, 1e200, 1e300])
def test_squares_beyond_float64_are_refused(unit: float) -> None:
    X, y = make_table()
    with pytest.raises(InputError, match="beyond 1e\\+140"):
        QuadraticDiscriminant().fit(X * unit, y)
    model = QuadraticDiscriminant().fit(X, y)
    if unit > 1e155:  # before that, squares can be
        with pytest.raises(InputError, match="beyond 1e\\+140"):
            model.predict(X * unit)


def test_float32_is_read_without_loss() -> None:
    X = np.random.default_rng(1).normal(size=(50, 3)).astype(np.float32) + np.float32(1000)
    y = np.arange(50) % 3
    one, other = (QuadraticDiscriminant().fit(Z, y) for Z in (X, X.astype(np.float64)))
    np.testing.assert_array_equal(one.covariances_, other.covariances_)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X.astype(np.float64)))


@pytest.mark.parametrize("kind", [np.int8, np.int64, np.uint16])
def test_whole_numbers(kind: Any) -> None:
    rng = np.random.default_rng(2)
    codes, y = rng.integers(0, 4, 80), np.arange(80) % 2
    z = rng.normal(size=80) + y
    plain = QuadraticDiscriminant().fit(np.column_stack([codes, z]), y)
    frame = pd.DataFrame({"a": codes.astype(kind), "z": z})
    model = QuadraticDiscriminant().fit(frame, y)
    found = model.predict_proba(frame)
    close(found, plain.predict_proba(np.column_stack([codes, z])), 1e-12)


def test_classes_that_are_alike_are_tied() -> None:
    """The same rows under two names: the first is said."""
    X, _ = make_table(n=20)
    model = QuadraticDiscriminant().fit(np.vstack([X, X]), ["b"] * 20 + ["a"] * 20)
    close(model.predict_proba(X), 0.5, 1e-15)
    assert model.predict(X).tolist() == ["a"] * 20


def test_classes_with_one_mean_differ_by_spread() -> None:
    """Where LDA sees nothing: N(0, 1) inside N(0, 100)."""
    X = np.array([[-1.0], [1.0], [-10.0], [10.0]])
    model = QuadraticDiscriminant("mle").fit(X, list("aabb"))
    # ln 10 = ½ x² (1 − 1/100)
    edge = math.sqrt(2 * math.log(10) / 0.99)
    rows = [[0.0], [edge - 1e-9], [edge + 1e-9], [-edge - 1e-9]]
    assert model.predict(rows).tolist() == ["a", "a", "b", "b"]
    close(model.decision_function([[edge]]), [0.0], 1e-13)


# --- Widths and lengths --------------------------------------------------------------------------


def by_formula(model: QuadraticDiscriminant, X: Float) -> Float:
    """g_k from the attributes of a regular fit, all rows at once."""
    found = []
    for prior, mean, sigma in zip(model.priors_, model.means_, model.covariances_, strict=True):
        z = np.linalg.solve(np.linalg.cholesky(sigma), (X - mean).T)
        found.append(np.log(prior) - np.linalg.slogdet(sigma)[1] / 2 - (z * z).sum(axis=0) / 2)
    return np.array(found).T


def wide_table(p: int, k: int, n: int = 0) -> Table:
    rng = np.random.default_rng(p)
    codes = np.arange(n or k * (2 * p + 5)) % k
    X = rng.normal(size=(len(codes), p)) * rng.uniform(0.5, 2.0, (k, p))[codes]
    return X + 0.3 * rng.normal(size=(k, p))[codes], codes


@pytest.mark.parametrize("p", [*range(1, 36), 63, 64, 65, 130])
def test_every_width(p: int) -> None:
    X, y = wide_table(p, 3)
    model = QuadraticDiscriminant().fit(X, y)
    expected = by_formula(model, X)
    found = model.decision_function(X)
    close(found - found[:, :1], expected - expected[:, :1], 1e-10)
    some = X[: 1 + p % 19]  # any number of rows at a time
    close(model.predict_log_proba(some), model.predict_log_proba(X)[: len(some)], 1e-12)


@pytest.mark.parametrize("k", [2, 3, 4, 5, 7, 8, 9, 16, 17, 40])
def test_every_number_of_classes(k: int) -> None:
    X, y = wide_table(4, k)
    model = QuadraticDiscriminant().fit(X, y)
    expected = by_formula(model, X)
    logs = model.predict_log_proba(X)
    close(logs - logs[:, :1], expected - expected[:, :1], 1e-10)


@pytest.mark.parametrize("n", [*range(1, 20), 63, 64, 65, 1000, 4097])
def test_every_number_of_rows(n: int) -> None:
    X, y = wide_table(5, 3)
    model = QuadraticDiscriminant().fit(X, y)
    rows, _ = wide_table(5, 3, n)
    expected = by_formula(model, rows)
    logs = model.predict_log_proba(rows)
    close(logs - logs[:, :1], expected - expected[:, :1], 1e-10)


def test_long_tables_in_many_blocks() -> None:
    X, y = wide_table(7, 3)
    model = QuadraticDiscriminant().fit(X, y)
    rows, _ = wide_table(7, 3, 150_000)
    expected = by_formula(model, rows)
    logs = model.predict_log_proba(rows)
    close(logs - logs[:, :1], expected - expected[:, :1], 1e-10)
    holed = rows[:30_000].copy()
    holed[::1000, 2] = np.nan  # a hole in one row is nothing to its neighbors
    with pytest.warns(MissingValueWarning):
        found = model.predict_log_proba(holed)
    whole = ~np.isnan(holed[:, 2])
    close(found[whole], logs[:30_000][whole], 1e-12)


@pytest.mark.parametrize(
    "how", ["fortran", "strided", "reversed", "float32", "columns", "read only"]
)
def test_however_rows_lie_in_memory(how: str) -> None:
    X, y = wide_table(6, 3)
    X = np.round(X * 1024) / 1024
    model = QuadraticDiscriminant().fit(X, y)
    wide = np.zeros((len(X), 12))
    wide[:, ::2] = X
    locked = X.copy()
    locked.flags.writeable = False
    columns = {f"x{j}": X[:, j].astype("f4" if j % 2 else "f8") for j in range(6)}
    kinds: dict[str, Any] = {
        "fortran": np.asfortranarray(X),
        "strided": wide[:, ::2],
        "reversed": X[::-1].copy()[::-1],
        "float32": X.astype(np.float32),
        "columns": pd.DataFrame(columns),
        "read only": locked,
    }
    expected = model.predict_log_proba(X)
    again = QuadraticDiscriminant().fit(kinds[how], y)
    close(again.predict_log_proba(kinds[how]), expected, 1e-12)


# --- Classes without rows, class weights ---------------------------------------------------------


def test_a_class_without_rows_is_impossible() -> None:
    X, y = make_table(k=2)
    model = QuadraticDiscriminant(priors=[0.3, 0.3, 0.4])
    model.partial_fit(X, y, classes=["a", "b", "z"])
    shares = model.predict_proba(X)
    assert (shares[:, 2] == 0).all()
    assert np.isneginf(model.predict_log_proba(X)[:, 2]).all()
    alone = QuadraticDiscriminant(priors=[0.5, 0.5]).fit(X, y)
    close(shares[:, :2], alone.predict_proba(X), 1e-12)
    holed = X[:1].copy()
    holed[0, 1] = np.nan
    with pytest.warns(MissingValueWarning, match="integrated out"):
        assert model.predict_proba(holed)[0, 2] == 0
    why = model.explain(X[:1])[0]
    assert {why.label, why.against} == {"a", "b"}
    assert np.isnan(model.means_[2]).all()
    assert np.isfinite(model.means_[:2]).all()
    assert np.isfinite(model.covariances_[:2]).all()
    with pytest.raises(OptionError, match="two different classes of 'a', 'b'"):
        model.boundary("a", "z")
    assert len(model.working(X[:3])) > 0
    json.dumps(model.working(X[:3]).to_dict(), allow_nan=False)


def test_class_weights_that_leave_one_class_are_refused() -> None:
    X, y = make_table(k=2)
    with pytest.raises(OptionError, match="fewer than two classes"):
        QuadraticDiscriminant(class_weight={"a": 0}).fit(X, y)


def test_a_class_weight_of_zero_is_a_class_without_rows() -> None:
    X, y = make_table()
    model = QuadraticDiscriminant(class_weight={"c": 0}).fit(X, y)
    kept = y != "c"
    expected = QuadraticDiscriminant().fit(X[kept], y[kept])
    close(model.predict_proba(X)[:, :2], expected.predict_proba(X), 1e-12)
    assert (model.predict_proba(X)[:, 2] == 0).all()


# --- Tables of all kinds -------------------------------------------------------------------------

BACKENDS: Final[dict[str, Callable[[Frame], Frame]]] = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
}


@pytest.mark.parametrize("to", BACKENDS.values(), ids=BACKENDS)
@quiet
def test_every_library_gives_the_same_model(to: Callable[[Frame], Frame]) -> None:
    frame = whole_penguins()
    expected = QuadraticDiscriminant().fit(frame, "species")
    model = QuadraticDiscriminant().fit(to(frame), "species")
    np.testing.assert_array_equal(
        model.decision_function(to(frame)), expected.decision_function(frame)
    )
    shown = model.working(to(frame[:4])).to_frame()
    assert {type(table) for table in shown.values()} == {type(to(frame))}


@quiet
def test_columns_in_another_order_are_found_by_name() -> None:
    frame = whole_penguins()
    model = QuadraticDiscriminant().fit(frame, "species")
    np.testing.assert_array_equal(
        model.predict_proba(frame[frame.columns[::-1]]), model.predict_proba(frame)
    )


@quiet
def test_labels_by_name_or_by_hand() -> None:
    frame = whole_penguins()
    by_name = QuadraticDiscriminant().fit(frame, "species")
    rest = frame.drop(columns="species")
    by_hand = QuadraticDiscriminant().fit(rest, frame["species"])
    np.testing.assert_array_equal(by_name.predict_proba(rest), by_hand.predict_proba(rest))
    assert by_name.feature_names_in_.tolist() == list(rest.columns)
    assert by_name.n_features_in_ == 7


def test_rows_with_holes_are_dropped_counted_and_warned_of() -> None:
    frame = datasets.penguins().drop(columns=["island"])
    with pytest.warns(MissingValueWarning, match="11") as caught:
        model = QuadraticDiscriminant().fit(frame, "species")
    assert len(caught) == 1
    assert "11" in str(model.fit_report_)
    whole = frame.dropna().reset_index(drop=True)
    expected = QuadraticDiscriminant().fit(whole, "species")
    close(model.predict_log_proba(whole), expected.predict_log_proba(whole), 1e-9)


def test_holes_may_take_the_mean() -> None:
    X, y = make_table()
    holed = X.copy()
    holed[::7, 0] = np.nan
    filled = np.where(np.isnan(holed), np.nanmean(holed[:, 0]), holed)
    with pytest.warns(MissingValueWarning):
        model = QuadraticDiscriminant(missing="mean").fit(holed, y)
    close(model.predict_log_proba(X), QuadraticDiscriminant().fit(filled, y).predict_log_proba(X))


def test_holes_can_be_forbidden() -> None:
    X, y = make_table()
    holed = X.copy()
    holed[3, 1] = np.nan
    with pytest.raises(MissingValueError, match="'x1'"):
        QuadraticDiscriminant(missing="error").fit(holed, y)
    model = QuadraticDiscriminant(missing="error").fit(X, y)
    for ask in (model.predict, model.predict_proba, model.explain, model.decision_function):
        with pytest.raises(MissingValueError, match="'x1'"):
            ask(holed)


def test_nothing_left_names_the_columns() -> None:
    frame = pd.DataFrame({"full": [1.0, 2.0, 3.0], "left": [1.0, np.nan, np.nan],
                          "right": [np.nan, 2.0, 3.0]})  # fmt: skip
    with pytest.raises(MissingValueError, match=r"(?s)'left'.*'right'"):
        QuadraticDiscriminant().fit(frame, ["p", "q", "q"])


def test_holes_are_warned_of_once_and_rightly() -> None:
    X, y = make_table()
    model = QuadraticDiscriminant().fit(X, y)
    holed = X[:1].copy()
    holed[0, 1] = np.nan
    asked: list[Callable[..., Any]] = [
        model.predict,
        model.predict_proba,
        model.predict_log_proba,
        model.decision_function,
        model.explain,
        model.working,
    ]
    for call in asked:
        _, caught = heard(partial(call, holed))
        assert len(caught) == 1
        assert caught[0].filename == __file__
        assert "integrated out" in str(caught[0].message)


@quiet
def test_an_unknown_word_is_a_hole() -> None:
    frame = whole_penguins()
    model = QuadraticDiscriminant().fit(frame, "species")
    with pytest.warns(UnknownCategoryWarning, match="333 cells"):
        strange = model.predict_log_proba(frame.assign(island="Atlantis"))
    with pytest.warns(MissingValueWarning, match="333 cells"):
        missing = model.predict_log_proba(frame.assign(island=None))
    close(strange, missing, 1e-12)
    why: Any = model.explain(frame[:1].assign(island="Atlantis"))[0]
    marks = {p.attribute: (p.mark, p.amount) for p in why.parts}
    assert marks["island"] == ("unknown", 0.0)
    strict = QuadraticDiscriminant(unknown="error").fit(frame, "species")
    with pytest.raises(UnknownCategoryError, match="333 cells"):
        strict.predict(frame.assign(island="Atlantis"))


def test_a_word_less_is_a_column_less() -> None:
    frame = whole_penguins().drop(columns="island")
    model = QuadraticDiscriminant().fit(frame, "species")
    with pytest.warns(MissingValueWarning):
        found = model.predict_log_proba(frame.assign(sex=None))
    less = frame.drop(columns="sex")
    expected = QuadraticDiscriminant().fit(less, "species").predict_log_proba(less)
    close(found, expected, 1e-7)


def test_numbers_as_categories() -> None:
    rng = np.random.default_rng(5)
    codes, y = rng.integers(0, 3, 90), np.arange(90) % 2
    X = np.column_stack([codes, rng.normal(size=90) * (1 + y)])
    model = QuadraticDiscriminant(categorical_features=[0]).fit(X, y)
    assert len(model.terms_) == 4
    plain = np.column_stack([codes == 1, codes == 2, X[:, 1]]).astype(float)
    close(model.predict_log_proba(X), Oracle(plain, y).log_posteriors(plain), 1e-8)


# --- It says why not -----------------------------------------------------------------------------


def refuses(message: str, action: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=f"(?s){message}"):
        action()


def test_what_no_fit_can_use() -> None:
    X, y = make_table()
    make: Any = QuadraticDiscriminant
    refuses("'x1' holds infinite values", lambda: make().fit(X * [1.0, np.inf, 1.0], y))
    refuses("constant|varies|vary", lambda: make().fit(np.full((60, 2), 3.5), y))
    refuses("no rows", lambda: make().fit(X[:0], y[:0]))
    refuses("infinite", lambda: make().fit(X, y).predict([[1.0, -np.inf, 2.0]]))
    refuses("2 features", lambda: make().fit(X, y).predict(X[:, :2]))
    refuses("", lambda: make().fit(X, y[:-1]))
    refuses("", lambda: make().fit(X, y, sample_weight=np.full(len(X), -1.0)))
    refuses("", lambda: make().fit(X, y, sample_weight=np.ones(3)))
    refuses("", lambda: make().fit(X, y, sample_weight=np.zeros(len(X))))
    frame = pd.DataFrame(X, columns=list("pqr"))
    refuses("'r'", lambda: make().fit(frame, y).predict(frame[["p", "q"]]))
    refuses("species", lambda: make().fit(frame, "species"))


def test_nothing_is_known_before_a_fit() -> None:
    X, y = make_table()
    model = QuadraticDiscriminant()
    asked: list[Callable[[], Any]] = [
        lambda: model.predict(X),
        lambda: model.predict_proba(X),
        lambda: model.predict_log_proba(X),
        lambda: model.decision_function(X),
        lambda: model.explain(X),
        model.working,
        lambda: model.boundary("a", "b"),
        lambda: model.forget(X, y),
        lambda: model.covariances_,
        lambda: model.ranks_,
        lambda: model.priors_,
        lambda: model.pooling_,
        lambda: model.shrinkage_,
        lambda: model.means_,
    ]
    for ask in asked:
        with pytest.raises(NotFittedError):
            ask()


NO_SHARE: Final = [-0.1, 1.5, math.nan, math.inf, "auto", "0.5", True, np.bool_(0), [0.5], 1j]
BAD_OPTIONS: Final[list[tuple[dict[str, Any], str]]] = [
    *(({"pooling": value}, "pooling=") for value in [*NO_SHARE, None, "ledoit_wolf"]),
    *(({"shrinkage": value}, "shrinkage=") for value in [*NO_SHARE, "ledoit_wolf", "oas"]),
    ({"covariance": "ml"}, "covariance='ml'.*unbiased"),
    ({"covariance": None}, "covariance=None"),
    ({"priors": [0.5, 0.6, 0.1]}, r"priors.*sum.*1\.2"),
    ({"priors": [-0.5, 0.5, 1.0]}, "priors.*at least 0"),
    ({"priors": [0.5, 0.5]}, "priors.*3 classes"),
    ({"priors": [0.5, math.nan, 0.5]}, "priors"),
    ({"priors": {"a": 0.5, "z": 0.5}}, "priors.*'z'"),
    ({"priors": "equal"}, "priors"),
    ({"costs": [[0, 1], [1, 0]]}, "costs.*3"),
    ({"costs": -np.eye(3)}, "costs"),
    ({"costs": np.full((3, 3), math.nan)}, "costs"),
    ({"class_weight": "even"}, "class_weight='even'"),
    ({"class_weight": {"z": 1.0}}, "class_weight.*'z'"),
    ({"class_weight": {"a": -1.0}}, "class_weight"),
    ({"class_weight": [1, 2, 3]}, "class_weight"),
    ({"missing": "skip"}, "missing='skip'.*drop_rows"),
    ({"unknown": "ignore"}, "unknown='ignore'.*skip"),
    ({"n_jobs": 0}, "n_jobs=0"),
    ({"categorical_features": ["nobody"]}, "nobody"),
]


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS, ids=[str(o) for o, _ in BAD_OPTIONS])
def test_an_option_that_cannot_be_is_refused_by_name(options: dict[str, Any], message: str) -> None:
    refuses(message, lambda: QuadraticDiscriminant(**options).fit(*make_table()))


@pytest.mark.parametrize("value", [0, 1, 0.25, np.float32(0.25), np.float64(1.0), np.int64(0)])
def test_numbers_of_all_kinds_are_shares(value: Any) -> None:
    model = QuadraticDiscriminant(pooling=value, shrinkage=value).fit(*make_table())
    assert (model.pooling_, model.shrinkage_) == (float(value), float(value))


def test_questions_that_cannot_be_answered() -> None:
    X, y = make_table()
    model = QuadraticDiscriminant().fit(X, y)
    refuses("priors.*sum", lambda: model.predict_proba(X, priors=[0.5, 0.4, 0.3]))
    refuses("priors", lambda: model.predict_log_proba(X, priors=[0.5, 0.5]))
    refuses("priors", lambda: model.predict(X, priors=[-1.0, 1.0, 1.0]))
    refuses("costs", lambda: model.predict(X, costs=[[0.0, 1.0]]))
    refuses("7", lambda: model.boundary("a", 7))
    refuses("different", lambda: model.boundary("a", "a"))
    refuses("priors.*sum", lambda: model.boundary("a", "b", priors=[0.5, 0.4, 0.3]))
    refuses("no boundary with 'b'", lambda: model.boundary("a", "b", priors=[0.5, 0.0, 0.5]))


def test_moments_that_cannot_be() -> None:
    means, sigma = [[0.0, 0.0], [1.0, 1.0]], np.eye(2)
    make: Any = QuadraticDiscriminant.from_moments
    refuses("covariances.*scatters", lambda: make(means))
    refuses("", lambda: make(means, covariances=np.eye(3)))
    refuses("", lambda: make(means, covariances=-sigma))
    refuses("symmetric", lambda: make(means, covariances=[[1.0, 0.5], [0.0, 1.0]]))
    refuses("counts", lambda: make(means, covariances=sigma, counts=[1.0, 2.0, 3.0]))
    refuses("counts", lambda: make(means, scatters=[sigma, sigma]))
    refuses("classes", lambda: make(means, covariances=sigma, classes=["a"]))
    refuses("names", lambda: make(means, covariances=sigma, names=["a", "b", "c"]))
    refuses("finite", lambda: make([[0.0, np.nan], [1.0, 1.0]], covariances=sigma))
    refuses("class", lambda: make([[0.0, 0.0]], covariances=sigma))
    refuses("pooling", lambda: make(means, covariances=sigma, pooling=2.0))
    refuses("loo", lambda: make(means, covariances=sigma, counts=[9, 9], pooling="loo"))
    refuses("loo", lambda: make(means, covariances=sigma, counts=[9, 9], shrinkage="loo"))


@quiet
def test_singular_moments_are_completed() -> None:
    """Σ_1 = diag(1, 0) and Σ_2 = diag(1, 2): the pooled diag(1, 1) fills the gap."""
    sigmas = [np.diag([1.0, 0.0]), np.diag([1.0, 2.0])]
    means = [[0.0, 0.0], [1.0, 1.0]]
    model, caught = heard(lambda: QuadraticDiscriminant.from_moments(means, covariances=sigmas))
    assert {w.category for w in caught} == {CollinearWarning}
    close(model.covariances_, [np.eye(2), np.diag([1.0, 2.0])], 1e-14)
    assert model.ranks_.tolist() == [1, 2]


def test_given_moments_cannot_be_fitted_further() -> None:
    X, y = make_table(p=2, k=2)
    model = QuadraticDiscriminant.from_moments(
        [[0, 0], [1, 1]], covariances=np.eye(2), classes=["a", "b"]
    )
    with pytest.raises(OptionError, match="given moments"):
        model.partial_fit(X, y)


@pytest.mark.parametrize("options", [{"pooling": "loo"}, {"shrinkage": "loo"}], ids=str)
def test_leaving_one_out_needs_all_rows_at_once(options: dict[str, Any]) -> None:
    X, y = make_table()
    with pytest.raises(OptionError, match="loo"):
        QuadraticDiscriminant(**options).partial_fit(X, y)
    model = QuadraticDiscriminant().fit(X, y).set_params(**options)
    with pytest.raises(OptionError, match="loo"):
        model.forget(X[:1], y[:1])


def test_a_fit_that_fails_leaves_the_model_whole() -> None:
    X, y = make_table()
    model = QuadraticDiscriminant().fit(X, y)
    before = model.predict_log_proba(X)
    with pytest.raises(ValueError, match="infinite"):
        model.partial_fit(np.full((2, 3), np.inf), y[:2])
    with pytest.raises(SubtractError):
        model.forget(X[:2], np.array(["yew", "yew"]))
    np.testing.assert_array_equal(model.predict_log_proba(X), before)


def test_blocks_that_make_no_model_yet_wait_for_more() -> None:
    X, y = make_table(k=2)
    model = QuadraticDiscriminant().partial_fit(np.ones((2, 3)), ["a", "b"])
    with pytest.raises(InputError, match="No column of this table varies"):
        model.predict(X)
    model.partial_fit(X, y)
    whole = QuadraticDiscriminant().fit(np.r_[np.ones((2, 3)), X], np.r_[["a", "b"], y])
    close(model.predict_log_proba(X), whole.predict_log_proba(X))


def test_parameters_for_classes_to_come_wait_for_them() -> None:
    X, y = make_table()
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    model = QuadraticDiscriminant(priors=[0.2, 0.3, 0.5], costs=1 - np.eye(3))
    model.partial_fit(X[:1], y[:1])
    with pytest.raises(OptionError, match="'a'"):
        model.predict(X)
    quietly(lambda: model.partial_fit(X[1:40], y[1:40]))
    with pytest.raises(OptionError):
        model.predict(X)
    model.partial_fit(X[40:], y[40:])
    expected = QuadraticDiscriminant(priors=[0.2, 0.3, 0.5]).fit(X, y)
    close(model.predict_log_proba(X), expected.predict_log_proba(X))


# --- Within scikit-learn -------------------------------------------------------------------------


def test_copies_and_clones() -> None:
    X, y = two_rows()
    model = fitted((X, y), "mle", 0.1, priors=[0.1, 0.2, 0.3, 0.4], n_jobs=1)
    copy = pickle.loads(pickle.dumps(model))  # noqa: S301  (our own bytes)
    np.testing.assert_array_equal(copy.predict_log_proba(X), model.predict_log_proba(X))
    np.testing.assert_array_equal(copy.ranks_, model.ranks_)
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        fresh.predict(X)


def test_parameters_are_as_promised() -> None:
    assert QuadraticDiscriminant("mle", 0.2, 0.3).get_params() == {
        "covariance": "mle",
        "pooling": 0.2,
        "shrinkage": 0.3,
        "priors": None,
        "class_weight": None,
        "costs": None,
        "categorical_features": "from_dtype",
        "missing": "drop_rows",
        "unknown": "skip",
        "n_jobs": None,
    }
    plain = QuadraticDiscriminant().get_params()
    assert (plain["covariance"], plain["pooling"], plain["shrinkage"]) == ("unbiased", 0.0, None)


def test_cross_validation_of_a_mixed_frame() -> None:
    frame = whole_penguins().drop(columns="island")
    model = QuadraticDiscriminant(pooling=0.1)
    scores = cross_val_score(model, frame.drop(columns="species"), frame["species"], cv=3)
    assert scores.min() > 0.96


@pytest.mark.parametrize("n_jobs", [2, 3])
@quiet
def test_threads_change_no_bit(n_jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sortal.data.sources.BLOCK_CELLS", 70)  # some thirty blocks of ten rows
    frame = whole_penguins()
    holed = frame.copy()
    holed.loc[::3, "bill_length_mm"] = np.nan
    alone, together = (QuadraticDiscriminant(n_jobs=n).fit(frame, "species") for n in (1, n_jobs))
    np.testing.assert_array_equal(together.covariances_, alone.covariances_)
    for rows in (frame, holed):
        np.testing.assert_array_equal(together.predict_proba(rows), alone.predict_proba(rows))
    assert together.working().to_dict() == alone.working().to_dict()
    assert together.condition_ == alone.condition_


def test_blocks_change_no_digit(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_table(n=600)
    whole = QuadraticDiscriminant().fit(X + 1e6, y)
    monkeypatch.setattr("sortal.data.sources.BLOCK_CELLS", 20)
    cut = QuadraticDiscriminant().fit(X + 1e6, y)
    close(cut.predict_log_proba(X + 1e6), whole.predict_log_proba(X + 1e6), 1e-8)


# --- Working -------------------------------------------------------------------------------------


def cells(table: Any) -> Float:
    """The numbers of a table, as they stand."""
    return np.array([[v for v in row if isinstance(v, float)] for row in table.rows])


@pytest.mark.parametrize(
    "make", [make_table, two_rows, still_column], ids=["plain", "two", "still"]
)
@quiet
def test_working_shows_the_attributes(make: Callable[[], Table]) -> None:
    X, y = make()
    model = QuadraticDiscriminant("mle").fit(X, y)
    K = len(model.classes_)
    working = model.working()
    close(cells(working["priors"])[:, 0], model.priors_, 1e-15)
    close(cells(working["means"]), model.means_, 1e-15)
    close(cells(working["covariances"]), model.covariances_.reshape(3 * K, 3), 1e-15)
    inverses = cells(working["inverses"]).reshape(K, 3, 3)
    close(inverses @ model.covariances_, np.broadcast_to(np.eye(3), (K, 3, 3)), 1e-9)
    table = working["log_determinants"]
    close(list(table.column("ln det Σ_k")), np.linalg.slogdet(model.covariances_)[1], 1e-9)
    assert list(table.column("rank")) == model.ranks_.tolist()
    functions = cells(working["functions"])  # constant and linear part
    quadratic = np.einsum("ij,kjm,im->ik", X, inverses, X) / 2
    values = functions[:, 0] + X @ functions[:, 1:].T - quadratic
    logs = model.predict_log_proba(X)
    close(values - values[:, :1], logs - logs[:, :1], 1e-8)


@quiet
def test_working_shows_every_boundary() -> None:
    X, y = two_rows()
    model = QuadraticDiscriminant().fit(X, y)
    rows = model.working()["boundaries"].rows
    assert len(rows) == 6 * 4  # pairs; constant and linear part, and three rows of Γ
    for i in range(0, len(rows), 4):
        line = model.boundary(rows[i][0], rows[i][1])
        close([v for v in rows[i] if isinstance(v, float)], [line.beta0, *line.beta], 1e-13)
        gamma = [[v for v in row if isinstance(v, float)] for row in rows[i + 1 : i + 4]]
        close(gamma, line.gamma, 1e-13)


def test_working_of_rows() -> None:
    X, y = make_table()
    frame = pd.DataFrame(X, columns=list("pqr"))
    costs = np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 9.0], [1.0, 1.0, 0.0]])
    model = QuadraticDiscriminant(costs=costs).fit(frame, y)
    working = model.working(frame)
    assert list(working["rows"].column("said")) == model.predict(frame).tolist()
    functions = cells(working["rows"])
    logs = model.predict_log_proba(frame)
    close(functions - functions[:, :1], logs - logs[:, :1], 1e-9)
    close(cells(working["posteriors"]), model.predict_proba(frame), 1e-13)


@quiet
def test_working_is_plain_text_tables_and_json() -> None:
    for table in (make_table(), one_row(), two_classes_tied(), make_table(p=1, k=2)):
        model = fitted(table)
        for working in (model.working(), model.working(table[0][:3])):
            text = json.dumps(working.to_dict(), allow_nan=False)
            assert json.loads(text)["title"]
            frames = working.to_frame()
            assert set(frames) == {t.name for t in working}
            assert len(str(working)) > 100
            assert "<table" in working._repr_html_()
        reasons: Any = model.explain(table[0][:3])
        json.dumps(reasons.to_dict(), allow_nan=False)
        assert len(reasons.to_frame()) == 3 * (table[0].shape[1] + 2)
        assert str(reasons)


@quiet
def test_names_are_untrusted_in_html() -> None:
    X, y = two_rows()
    evil = "<b>bold</b><script>alert(1)</script>"
    labels = np.where(y == "z", evil, y)
    frame = pd.DataFrame(X, columns=["<i>p</i>", "q", "r"])
    model = QuadraticDiscriminant().fit(frame, labels)
    pages = [
        model.working()._repr_html_(),
        model.working(frame)._repr_html_(),
        model.explain(frame)._repr_html_(),
    ]
    for page in pages:
        assert "<b>bold" not in page
        assert "<script" not in page
        assert "<i>p" not in page
    assert any("&lt;b&gt;" in page for page in pages)


def test_warnings_are_of_this_library() -> None:
    _, caught = heard(lambda: QuadraticDiscriminant().fit(*one_row()))
    assert all(issubclass(w.category, SortalWarning) for w in caught)


def test_two_rows_vary_in_one_direction_however_their_scatter_was_rounded() -> None:
    """Of given moments no bound on rounding is known, but the number of rows is."""
    u = np.array([1.0, 2.0, -1.0])
    noise = 1e-9 * np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 1.0], [0.0, 1.0, 2.0]])
    scatters = np.array([10 * np.eye(3) + 1.0, np.outer(u, u) + noise])
    with pytest.warns(CollinearWarning, match="class 1 does not vary|Class 1 does not vary"):
        model = QuadraticDiscriminant.from_moments(
            [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]], scatters=scatters, counts=[20, 2]
        )
    assert model.ranks_.tolist() == [3, 1]
