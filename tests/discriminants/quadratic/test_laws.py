"""Laws of the quadratic discriminant: what must hold for every table, tried on random ones."""

import warnings
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from tests.discriminants.oracle import Oracle

from sortal import LinearDiscriminant, QuadraticDiscriminant
from sortal.errors import MissingValueWarning, SortalWarning, TrainingRowsError

Float: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]

NAMES: Final = np.array(["ash", "birch", "cedar", "elm", "fir", "oak"])
# Singular classes are rightly warned of; that is tested elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.CollinearityWarning")


@dataclass(frozen=True)
class Data:
    X: Float
    y: Labels

    @property
    def classes(self) -> Labels:
        return np.unique(self.y)


def make_data(seed: int, n_classes: int, n_terms: int, *, singular: bool = False) -> Data:
    """Classes of different sizes and shapes that overlap.

    Where singular, all classes but the first may have any size from 1, be points, or be flat; all
    rows together vary in every direction within classes.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.integers(n_terms + 4, 25, n_classes)
    if singular:
        sizes[1:] = rng.integers(1, n_terms + 4, n_classes - 1)
    codes = np.repeat(np.arange(n_classes), sizes)
    turns = rng.normal(size=(n_classes, n_terms, n_terms)) * 0.3 + np.eye(n_terms)
    X = np.einsum("ij,ijm->im", rng.normal(size=(len(codes), n_terms)), turns[codes])
    if singular:
        for k in range(1, n_classes):
            flatten(X, codes == k, rng)
    X += rng.normal(size=(n_classes, n_terms))[codes] * 1.5 + rng.normal(size=n_terms) * 5
    order = rng.permutation(len(codes))
    return Data(X[order], NAMES[codes[order]])


def flatten(X: Float, rows: NDArray[np.bool_], rng: np.random.Generator) -> None:
    """Perhaps: a point, a column that stands still, or one that follows the first."""
    kind = rng.integers(5)
    if kind == 0:
        X[rows] = 0.25
    elif kind == 1:
        X[rows, -1] = 0.25
    elif kind == 2 and X.shape[1] > 1:
        X[rows, -1] = 0.5 * X[rows, 0]


seeds: Final = st.integers(0, 10**9)
sizes: Final = {"n_classes": st.integers(2, 5), "n_terms": st.integers(1, 4)}
tables: Final = st.builds(make_data, seeds, **sizes)
singular_tables: Final = st.builds(make_data, seeds, **sizes, singular=st.sampled_from([True]))
all_tables: Final = tables | singular_tables
poolings: Final = st.sampled_from([0.0, 0.3, 1.0])
shrinkages: Final = st.sampled_from([None, 0.2, 1.0])
norms: Final = st.sampled_from(["unbiased", "mle"])


def fitted(X: Any, y: Any, *options: Any, **more: Any) -> QuadraticDiscriminant:
    return QuadraticDiscriminant(*options, **more).fit(X, y)


def logs(model: QuadraticDiscriminant, X: Float) -> Float:
    return np.asarray(model.predict_log_proba(X))


def same(found: Any, expected: Any, digits: float = 1e-9) -> None:
    """Equal to so many digits; distances of 1e6 come of narrow classes, which cost some."""
    largest = np.abs(expected).max(initial=0.0)
    assert_allclose(found, expected, rtol=digits, atol=digits * max(1.0, 1e-4 * largest))


# --- By definition -------------------------------------------------------------------------------


@given(all_tables, norms, poolings, shrinkages)
def test_posteriors_are_those_of_the_oracle(
    data: Data, norm: Any, pooling: float, shrinkage: float | None
) -> None:
    model = fitted(data.X, data.y, norm, pooling, shrinkage)
    oracle = Oracle(data.X, data.y, norm, pooling, shrinkage or 0.0)
    rows = data.X[::3]
    same(logs(model, rows), oracle.log_posteriors(rows), 1e-7)
    assert model.ranks_.tolist() == [oracle.rank(k) for k in oracle.classes]


@given(all_tables, poolings, shrinkages)
def test_posteriors_are_probabilities(data: Data, pooling: float, shrinkage: float | None) -> None:
    model = fitted(data.X, data.y, "unbiased", pooling, shrinkage)
    far = np.vstack([data.X, data.X * 1e3, -data.X * 1e6])
    shares = model.predict_proba(far)
    assert np.isfinite(shares).all()
    assert (shares >= 0).all()
    same(shares.sum(axis=1), 1, 1e-13)
    same(np.exp(logs(model, far)), shares, 1e-12)
    # the first of equals
    assert_array_equal(model.predict(far), model.classes_[np.argmax(shares, axis=1)])


@given(all_tables, norms, shrinkages)
def test_all_pooled_it_is_linear(data: Data, norm: Any, shrinkage: float | None) -> None:
    linear = LinearDiscriminant(norm, shrinkage).fit(data.X, data.y)
    model = fitted(data.X, data.y, norm, 1.0, shrinkage)
    same(logs(model, data.X), linear.predict_log_proba(data.X))
    same(model.predict_proba(data.X), linear.predict_proba(data.X))


# --- Moving, turning and stretching the axes -----------------------------------------------------


def conditioned(seed: int, p: int) -> Float:
    """A matrix of condition 30 at most."""
    rng = np.random.default_rng(seed)
    turn, back = (np.linalg.qr(rng.normal(size=(p, p)))[0] for _ in range(2))
    return np.asarray(turn * rng.uniform(0.2, 6.0, p) @ back)


@given(all_tables, seeds, norms, poolings)
def test_it_does_not_see_the_axes(data: Data, seed: int, norm: Any, pooling: float) -> None:
    """Posteriors are the same after x → xA + b, also where classes are singular."""
    p = data.X.shape[1]
    moved = data.X @ conditioned(seed, p) + np.random.default_rng(seed).normal(size=p) * 5
    one = fitted(data.X, data.y, norm, pooling)
    other = fitted(moved, data.y, norm, pooling)
    same(logs(other, moved), logs(one, data.X), 1e-7)
    assert_array_equal(other.ranks_, one.ranks_)


# --- Weights, blocks, forgetting -----------------------------------------------------------------


@given(all_tables, seeds, norms, poolings, shrinkages)
def test_weights_are_copies(
    data: Data, seed: int, norm: Any, pooling: float, shrinkage: float | None
) -> None:
    w = np.random.default_rng(seed).integers(1, 4, len(data.X))
    weighted = QuadraticDiscriminant(norm, pooling, shrinkage)
    weighted.fit(data.X, data.y, sample_weight=w)
    copied = fitted(np.repeat(data.X, w, axis=0), np.repeat(data.y, w), norm, pooling, shrinkage)
    same(logs(weighted, data.X), logs(copied, data.X), 1e-8)
    assert_array_equal(weighted.ranks_, copied.ranks_)


def streamed(
    data: Data, blocks: list[NDArray[np.intp]], *options: Any, **more: Any
) -> QuadraticDiscriminant:
    model = QuadraticDiscriminant(*options, **more)
    with warnings.catch_warnings():  # after three rows there is something to warn of
        warnings.simplefilter("ignore", SortalWarning)
        for rows in blocks:
            model.partial_fit(data.X[rows], data.y[rows], classes=data.classes)
    return model


def some_blocks(seed: int, n: int) -> list[NDArray[np.intp]]:
    rng = np.random.default_rng(seed)
    cuts = np.sort(rng.integers(1, n, rng.integers(0, 6)))
    return [block for block in np.split(rng.permutation(n), cuts) if len(block)]


@given(all_tables, seeds, norms, poolings, shrinkages)
def test_blocks_in_any_order_make_the_same_model(
    data: Data, seed: int, norm: Any, pooling: float, shrinkage: float | None
) -> None:
    blocks = some_blocks(seed, len(data.X))
    whole = fitted(data.X, data.y, norm, pooling, shrinkage)
    for order in (blocks, blocks[::-1]):
        model = streamed(data, order, norm, pooling, shrinkage)
        same(logs(model, data.X), logs(whole, data.X))
        assert_array_equal(model.ranks_, whole.ranks_)
        assert model.fit_report_.rows == len(data.X)


@given(tables, seeds, poolings)
def test_forgetting_is_refitting_without(data: Data, seed: int, pooling: float) -> None:
    rng = np.random.default_rng(seed)
    firsts = [rng.permutation(np.flatnonzero(data.y == c)) for c in data.classes]
    gone = np.concatenate([rows[: rng.integers(0, 3)] for rows in firsts] + [firsts[0][:1]])
    gone = np.unique(gone)
    kept = np.setdiff1d(np.arange(len(data.X)), gone)
    model = fitted(data.X, data.y, pooling=pooling)
    before = logs(model, data.X)
    try:
        model.forget(data.X[gone], data.y[gone])
    except (
        TrainingRowsError
    ):  # too little would be left of a spread: refused, and nothing is changed
        assert_array_equal(logs(model, data.X), before)
        return
    refitted = fitted(data.X[kept], data.y[kept], pooling=pooling)
    same(logs(model, data.X), logs(refitted, data.X), 1e-8)
    model.partial_fit(data.X[gone], data.y[gone])
    same(logs(model, data.X), logs(fitted(data.X, data.y, pooling=pooling), data.X), 1e-8)


@pytest.mark.parametrize("left", [2, 3])
def test_forgetting_may_make_a_class_singular(left: int) -> None:
    """Of many rows two or three are left in three columns; the rest is rounding, or refused."""
    done = 0
    for seed in range(12):
        data = make_data(seed, 3, 3)
        gone = np.flatnonzero(data.y == "birch")[left:]
        model = fitted(data.X, data.y)
        try:
            model.forget(data.X[gone], data.y[gone])
        except TrainingRowsError:
            continue
        refitted = fitted(np.delete(data.X, gone, axis=0), np.delete(data.y, gone))
        assert (seed, model.ranks_.tolist()) == (seed, refitted.ranks_.tolist())
        same(logs(model, data.X), logs(refitted, data.X), 1e-6)
        done += 1
    assert done > 5


def test_forgetting_a_whole_class() -> None:
    data = make_data(5, 3, 3)
    gone = np.flatnonzero(data.y == "birch")
    model = fitted(data.X, data.y).forget(data.X[gone], data.y[gone])
    refitted = fitted(np.delete(data.X, gone, axis=0), np.delete(data.y, gone))
    assert model.classes_.tolist() == ["ash", "cedar"]
    same(logs(model, data.X), logs(refitted, data.X))


# --- Missing values
# ---------------------------------------------------------------------------------------


def with_missing(data: Data, seed: int) -> Float:
    incomplete = data.X.copy()
    incomplete[np.random.default_rng(seed).uniform(size=incomplete.shape) < 0.4] = np.nan
    incomplete[0] = np.nan
    return incomplete


@given(all_tables, seeds, poolings, shrinkages)
def test_missing_values_are_integrated_out(
    data: Data, seed: int, pooling: float, shrinkage: float | None
) -> None:
    incomplete = with_missing(data, seed)[:12]
    model = fitted(data.X, data.y, "unbiased", pooling, shrinkage)
    with pytest.warns(MissingValueWarning, match=f"{np.isnan(incomplete).sum()} cells?"):
        found = logs(model, incomplete)
    oracle = Oracle(data.X, data.y, "unbiased", pooling, shrinkage or 0.0)
    same(found, oracle.log_posteriors(incomplete), 1e-7)
    same(np.exp(found[0]), model.priors_, 1e-13)
