"""Laws of the discriminants: what must hold for every table, tried on random ones."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.linear_model import Ridge

from sortal import FisherDiscriminant, IndicatorRegression, LinearDiscriminant
from sortal.errors import MissingValueWarning

Float: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]
Learner: TypeAlias = FisherDiscriminant | LinearDiscriminant | IndicatorRegression

NAMES: Final = np.array(["ash", "birch", "cedar", "elm", "fir", "oak"])
# The tables below are conditioned so that nobody needs more than two digits for solving.
ELEVEN_DIGITS: Final = 1e-11
NINE_DIGITS: Final = 1e-9

EVERY: Final[dict[str, Callable[[], Learner]]] = {
    "scatter": FisherDiscriminant,
    "covariance": lambda: FisherDiscriminant("covariance"),
    "linear": LinearDiscriminant,
    "oas": lambda: LinearDiscriminant(shrinkage="oas"),
    "ledoit_wolf": lambda: LinearDiscriminant("mle", "ledoit_wolf"),
    "balanced": lambda: LinearDiscriminant(class_weight="balanced"),
    "indicator": IndicatorRegression,
    "ridge": lambda: IndicatorRegression(2.5),
}
every_learner = pytest.mark.parametrize("make", EVERY.values(), ids=EVERY)


@dataclass(frozen=True)
class Data:
    X: Float
    y: Labels

    @property
    def classes(self) -> Labels:
        return np.unique(self.y)

    def moments(self) -> tuple[Float, Float, Float]:
        """Sizes, means and scatters of the classes, by definition."""
        own = [self.X[self.y == label] for label in self.classes]
        scatters = [sum(np.outer(z, z) for z in rows - rows.mean(axis=0)) for rows in own]
        means = [rows.mean(axis=0) for rows in own]
        return np.array([len(rows) for rows in own]), np.array(means), np.array(scatters)


def make_data(seed: int, n_classes: int, n_terms: int) -> Data:
    """Classes of different sizes and shapes; spreads of directions differ by 4 at most."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(n_terms + 3, 25, n_classes)
    y = rng.permutation(np.repeat(np.arange(n_classes), sizes))
    turn = np.linalg.qr(rng.normal(size=(n_terms, n_terms)))[0]
    X = rng.normal(size=(len(y), n_terms)) * rng.uniform(0.5, 2.0, n_terms) @ turn
    X += rng.normal(size=(n_classes, n_terms))[y] * 1.5 + rng.normal(size=n_terms) * 5
    return Data(X, NAMES[y])


seeds: Final = st.integers(0, 10**9)
two_classes: Final = st.builds(make_data, seeds, st.just(2), st.integers(1, 5))
many_classes: Final = st.builds(make_data, seeds, st.integers(3, 6), st.integers(2, 5))
tables: Final = two_classes | many_classes
wide_enough: Final = st.builds(make_data, seeds, st.integers(2, 4), st.integers(2, 5))


def same(found: Any, expected: Any, digits: float = NINE_DIGITS) -> None:
    """Equal to so many digits of the largest number in the array."""
    expected = np.asarray(expected, dtype=np.float64)
    scale = float(np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(found, expected, rtol=digits, atol=digits * scale)


def unit(w: Float) -> Float:
    return np.asarray(w / np.linalg.norm(w, axis=0))


def scores(model: Learner, X: Float) -> Float:
    """What the model says of rows: posteriors where it has them, else its functions."""
    if isinstance(model, LinearDiscriminant):
        return np.asarray(model.predict_proba(X))
    found: Float = np.asarray(model.decision_function(X))
    # Of several functions only the differences mean something.
    return found if found.ndim == 1 else found - found.mean(axis=1, keepdims=True)


# --- The book's identities -----------------------------------------------------------------------


@given(tables)
def test_projections_have_the_projected_moments(data: Data) -> None:
    """m_i = wᵀμ_i, and s_i² = Σ (a − m_i)² = wᵀS_i w (ZM 20.3)."""
    model = FisherDiscriminant().fit(data.X, data.y)
    a = model.transform(data.X)
    same(a, data.X @ model.directions_, ELEVEN_DIGITS)
    own = [a[data.y == label] for label in data.classes]
    same(model.projected_means_, [x.mean(axis=0) for x in own], ELEVEN_DIGITS)
    same(model.projected_means_, model.means_ @ model.directions_, ELEVEN_DIGITS)
    same(model.projected_scatters_, [((x - x.mean(axis=0)) ** 2).sum(axis=0) for x in own])
    forms = np.einsum("jm,kji,im->km", model.directions_, model.class_scatters_, model.directions_)
    same(model.projected_scatters_, forms)


@given(tables, st.sampled_from(["scatter", "covariance"]))
def test_between_and_within_as_defined(data: Data, within: Any) -> None:
    """S_i = n_i Σ_i (ZM 20.5), and Bw = λSw (ZM 20.9)."""
    n, means, scatters = data.moments()
    model = FisherDiscriminant(within).fit(data.X, data.y)
    assert model.classes_.tolist() == data.classes.tolist()
    same(model.means_, means, ELEVEN_DIGITS)
    same(model.class_scatters_, scatters, ELEVEN_DIGITS)
    if within == "covariance":
        scatters, n = scatters / n[:, None, None], np.ones(len(n))
    deviations = means - n @ means / n.sum()
    between = np.einsum("k,ki,kj->ij", n, deviations, deviations)
    if len(n) == 2:
        between = np.outer(means[0] - means[1], means[0] - means[1])
    S, size = scatters.sum(axis=0), np.abs(between).max()
    same(model.between_, between)
    same(model.within_, S, ELEVEN_DIGITS)
    for w, eigenvalue in zip(model.directions_.T, model.eigenvalues_, strict=True):
        # a small eigenvalue is known to the digits of the largest entries only
        np.testing.assert_allclose(between @ w, eigenvalue * S @ w, rtol=1e-9, atol=1e-12 * size)
        assert w @ between @ w / (w @ S @ w) == pytest.approx(eigenvalue, 1e-9, 1e-12 * size)
    assert len(model.eigenvalues_) == min(len(n) - 1, len(S))
    assert (np.diff(model.eigenvalues_) <= 0).all()
    assert (model.projected_means_[0] > model.projected_means_[-1]).all()


# --- Optimality ----------------------------------------------------------------------------------


@given(tables, seeds, st.sampled_from(["scatter", "covariance"]))
def test_no_other_direction_is_better(data: Data, seed: int, within: Any) -> None:
    """J(w) ≤ λ1 for every w, and the slope of J is zero at w1 and never along w (ZM 20.7)."""
    model = FisherDiscriminant(within).fit(data.X, data.y)
    B, S = model.between_, model.within_
    rng = np.random.default_rng(seed)
    others = rng.normal(size=(20, len(S)))
    near = model.directions_[:, 0] + 1e-3 * rng.normal(size=(10, len(S)))
    for w in [*others, *near]:
        seen: Any = model.evaluate_direction(w)
        # wᵀBw adds up parts that may cancel: it holds the last digits of the largest
        digits = 1e-14 * (abs(w) @ abs(B) @ abs(w)) / (w @ S @ w)
        np.testing.assert_allclose(seen.J, (w @ B @ w) / (w @ S @ w), rtol=1e-9, atol=digits)
        assert float(seen.J) <= model.eigenvalues_[0] * (1 + 1e-12)
        slope = 2 * (B @ w * (w @ S @ w) - S @ w * (w @ B @ w)) / (w @ S @ w) ** 2
        assert abs(w @ slope) <= 1e-9 * (1 + seen.J)
    for w, eigenvalue in zip(model.directions_.T, model.eigenvalues_, strict=True):
        own: Any = model.evaluate_direction(w)
        same(own.J, eigenvalue)
        rest = B @ w * (w @ S @ w) - S @ w * (w @ B @ w)
        np.testing.assert_allclose(rest, 0, atol=1e-8 * (w @ S @ w) * np.linalg.norm(B))


@given(two_classes)
def test_the_closed_form_solves_the_eigenproblem(data: Data) -> None:
    """w = S⁻¹(μ1 − μ2) (ZM 20.10)."""
    _, means, scatters = data.moments()
    d, S = means[0] - means[1], scatters.sum(axis=0)
    model = FisherDiscriminant().fit(data.X, data.y)
    same(model.directions_[:, 0], unit(np.linalg.solve(S, d)))
    same(model.eigenvalues_, [d @ np.linalg.solve(S, d)])


# --- Three roads, one direction ------------------------------------------------------------------


@given(two_classes)
def test_lda_and_indicators_are_parallel_to_fisher(data: Data) -> None:
    w = FisherDiscriminant().fit(data.X, data.y).directions_[:, 0]
    first, second = data.classes
    _, beta = LinearDiscriminant().fit(data.X, data.y).boundary(first, second)
    same(unit(np.ravel(beta)), w)
    _, slope = IndicatorRegression().fit(data.X, data.y).boundary(first, second)
    same(unit(np.ravel(slope)), w)


@given(tables, st.sampled_from(["scatter", "covariance"]))
def test_directions_scaled_by_what_is_within(data: Data, within: Any) -> None:
    model = FisherDiscriminant(within).fit(data.X, data.y)
    lengths = np.sqrt(np.einsum("jm,ji,im->m", model.directions_, model.within_, model.directions_))
    same(model.transform(data.X, scaling="within"), data.X @ model.directions_ / lengths)
    np.testing.assert_allclose(np.linalg.norm(model.directions_, axis=0), 1, rtol=1e-13)
    cross = model.directions_.T @ model.within_ @ model.directions_ / np.outer(lengths, lengths)
    np.testing.assert_allclose(cross, np.eye(len(lengths)), atol=1e-9)


# --- Moving, turning and stretching the axes -----------------------------------------------------


@given(tables, seeds)
def test_lda_does_not_see_the_axes(data: Data, seed: int) -> None:
    """Posteriors are the same after x → Ax + b."""
    rng = np.random.default_rng(seed)
    p = data.X.shape[1]
    A = np.linalg.qr(rng.normal(size=(p, p)))[0] * rng.uniform(0.5, 2.0, p) + 0.1
    if np.linalg.cond(A) > 50:
        return
    moved = data.X @ A + rng.normal(size=p) * 5
    one, other = LinearDiscriminant().fit(data.X, data.y), LinearDiscriminant().fit(moved, data.y)
    np.testing.assert_allclose(
        other.predict_log_proba(moved), one.predict_log_proba(data.X), rtol=1e-8, atol=1e-8
    )
    fisher, turned = (FisherDiscriminant().fit(X, data.y) for X in (data.X, moved))
    same(turned.eigenvalues_, fisher.eigenvalues_, 1e-8)
    assert (turned.predict(moved) == fisher.predict(data.X)).all()
    plain, bent = (IndicatorRegression().fit(X, data.y) for X in (data.X, moved))
    same(scores(bent, moved), scores(plain, data.X), 1e-8)


# --- Blocks, forgetting --------------------------------------------------------------------------


@every_learner
@pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")
def test_blocks_make_the_same_model(make: Callable[[], Learner]) -> None:
    """Told of its classes, or not: then they arrive late."""
    data = make_data(7, 4, 3)
    order = np.argsort(data.y, kind="stable")[::-1]
    whole = make().fit(data.X, data.y)
    for cuts in ([1], [3, 9, 30], [7, 14, 21, 28, 35]):
        streamed, late = make(), make()
        for rows in np.split(np.arange(len(data.y)), cuts):
            streamed.partial_fit(data.X[rows], data.y[rows], classes=data.classes)
            late.partial_fit(data.X[order[rows]], data.y[order[rows]])
        for model in (streamed, late):
            assert model.classes_.tolist() == whole.classes_.tolist()
            same(scores(model, data.X), scores(whole, data.X))
            same(model.means_, whole.means_, ELEVEN_DIGITS)
            assert model.fit_report_.rows == len(data.X)


# --- Missing values at predict
# ----------------------------------------------------------------------------


def with_missing(data: Data, column: int) -> Float:
    X = data.X.copy()
    X[:, column] = np.nan
    return X


a_column: Final = st.integers(0, 1)


@given(wide_enough, a_column)
def test_a_missing_value_in_a_regression_is_a_column_less(data: Data, gone: int) -> None:
    model = IndicatorRegression().fit(data.X, data.y)
    rest = np.delete(data.X, gone, axis=1)
    with pytest.warns(MissingValueWarning):
        found = model.decision_function(with_missing(data, gone))
    same(found, IndicatorRegression().fit(rest, data.y).decision_function(rest))


@pytest.mark.parametrize("within", ["scatter", "covariance"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_fisher_fills_a_missing_value_with_its_conditional_mean(
    within: Any, n_classes: int
) -> None:
    """x_m = μ_m + S_T,mo S_T,oo⁺ (x_o − μ_o), each row by its own missing values."""
    data = make_data(13, n_classes, 4)
    total, mean = np.cov(data.X.T), data.X.mean(axis=0)
    incomplete, filled = data.X.copy(), data.X.copy()
    rng = np.random.default_rng(1)
    for i in range(len(incomplete)):
        m = rng.permutation(4)[: rng.integers(0, 5)]
        o = np.setdiff1d(np.arange(4), m)
        incomplete[i, m] = np.nan
        fill = np.linalg.pinv(total[np.ix_(o, o)]) @ (data.X[i, o] - mean[o]) if len(o) else []
        filled[i, m] = mean[m] + total[np.ix_(m, o)] @ fill
    model = FisherDiscriminant(within).fit(data.X, data.y)
    with pytest.warns(MissingValueWarning):
        found = model.transform(incomplete)
    same(found, filled @ model.directions_)
    with pytest.warns(MissingValueWarning):
        assert (model.predict(incomplete) == model.predict(filled)).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_with_different_missing_values_are_judged_one_by_one(n_classes: int) -> None:
    data = make_data(14, n_classes, 4)
    incomplete = data.X.copy()
    incomplete[np.random.default_rng(2).uniform(size=incomplete.shape) < 0.3] = np.nan
    incomplete[0] = np.nan
    model = LinearDiscriminant().fit(data.X, data.y)
    with pytest.warns(MissingValueWarning, match=f"{np.isnan(incomplete).sum()} cells"):
        found = model.predict_proba(incomplete)
    same(found[0], model.priors_)  # nothing is known but the shares
    for i in range(1, len(incomplete)):
        o = np.flatnonzero(~np.isnan(incomplete[i]))
        if len(o):
            part = LinearDiscriminant().fit(data.X[:, o], data.y)
            same(found[i], part.predict_proba(data.X[i : i + 1, o])[0])


# --- Indicators ----------------------------------------------------------------------------------


@given(tables, st.booleans())
def test_indicators_are_least_squares(data: Data, weighted: bool) -> None:
    w = np.linspace(0.2, 3.0, len(data.X)) if weighted else np.ones(len(data.X))
    indicators = (data.y[:, None] == data.classes).astype(np.float64)
    design, root = np.column_stack([np.ones(len(data.X)), data.X]), np.sqrt(w)[:, None]
    expected = np.linalg.lstsq(design * root, indicators * root, rcond=None)[0].T
    model = IndicatorRegression().fit(data.X, data.y, sample_weight=w if weighted else None)
    same(np.column_stack([model.intercept_, model.coef_]), as_shown(expected))
    functions = data.X @ model.coef_.T + model.intercept_
    if len(data.classes) > 2:
        np.testing.assert_allclose(functions.sum(axis=1), 1, rtol=1e-12)
        np.testing.assert_allclose(model.coef_.sum(axis=0), 0, atol=1e-12)
    said = data.classes[np.argmax(design @ expected.T, axis=1)]
    assert (model.predict(data.X) == said).all()
    decision = model.decision_function(data.X)
    same(decision, functions[:, 0] if len(data.classes) == 2 else functions)


def as_shown(functions: Float) -> Float:
    """Of two classes one row: the second's less the first's."""
    return np.diff(functions, axis=0) if len(functions) == 2 else functions


@given(tables, st.sampled_from([1e-3, 0.5, 10.0, 1e4]), st.booleans())
def test_ridge_is_scikit_learns(data: Data, ridge: float, weighted: bool) -> None:
    w = np.linspace(0.5, 2.0, len(data.X)) if weighted else None
    indicators = (data.y[:, None] == data.classes).astype(np.float64)
    peer = Ridge(alpha=ridge, solver="cholesky").fit(data.X, indicators, sample_weight=w)
    model = IndicatorRegression(ridge).fit(data.X, data.y, sample_weight=w)
    same(model.coef_, as_shown(peer.coef_))
    same(model.intercept_, as_shown(peer.intercept_))


@pytest.mark.parametrize("n_rows", [4, 8])
def test_more_columns_than_rows_give_the_least_norm(n_rows: int) -> None:
    """The coefficients of least norm, with the intercept free: lstsq on centered rows."""
    rng = np.random.default_rng(n_rows)
    X, y = rng.normal(size=(n_rows, 12)), np.arange(n_rows) % 2
    centered = np.linalg.lstsq(X - X.mean(axis=0), np.where(y, 0.5, -0.5), rcond=None)[0]
    model = quietly_fitted(X, y)
    same(model.coef_, 2 * centered[None])
    np.testing.assert_allclose(model.decision_function(X), np.where(y, 1.0, -1.0), atol=1e-9)


def quietly_fitted(X: Float, y: Labels) -> IndicatorRegression:
    """Collinear columns are rightly warned of; that is tested elsewhere."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return IndicatorRegression().fit(X, y)
