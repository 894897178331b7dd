"""Laws of neighbors: pieces are a fit, forgotten rows were never there, units do not matter."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from tests.neighbors.tables import METRICS, Case, cases

from sortal import NeighborsClassifier
from sortal.neighbors.learn import Scale

Float: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]

quiet = pytest.mark.filterwarnings(
    "ignore::sortal.errors.MissingValueWarning", "ignore::sortal.errors.UnknownCategoryWarning"
)
every_metric = pytest.mark.parametrize("metric", METRICS)


def numbers(seed: int, n: int = 120, d: int = 3) -> tuple[Float, Labels]:
    """Rows that do not tie, of three classes that overlap."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, d)) + y[:, None] * 0.7, np.array(["a", "b", "c"])[y]


def numbers_for(metric: str, seed: int) -> tuple[Float, Labels]:
    """Under Hamming's distance, numbers that come again."""
    X, y = numbers(seed)
    return (np.round(X), y) if metric == "hamming" else (X, y)


def subset(case: Case, kept: Sequence[int]) -> Case:
    weights = None if case.weights is None else [case.weights[i] for i in kept]
    rows, labels = [case.rows[i] for i in kept], [case.labels[i] for i in kept]
    return replace(case, rows=rows, labels=labels, weights=weights)


def usable(case: Case) -> bool:
    """Whether these rows alone can be fitted."""
    oracle = case.oracle()
    total = sum(oracle.weight(i) for i in oracle.kept)
    filled = all(oracle.values(j) for j in range(len(case.rows[0]))) if oracle.kept else False
    enough = total >= case.options["n_neighbors"]
    return bool(filled and enough and len(oracle.classes) > 1 and oracle.used)


def same_model(found: NeighborsClassifier, expected: NeighborsClassifier, frame: Any) -> None:
    """To the last bit, but for the numbering of rows."""
    assert found.scale_ == expected.scale_
    assert found.metric_ == expected.metric_
    assert found.classes_.tolist() == expected.classes_.tolist()
    assert_array_equal(found.predict_proba(frame), expected.predict_proba(frame))
    assert found.predict(frame).tolist() == expected.predict(frame).tolist()
    k = len(expected.ids_)
    ours, theirs = found.kneighbors(frame, n_neighbors=k), expected.kneighbors(frame, n_neighbors=k)
    assert_array_equal(ours[0], theirs[0])
    place = dict(zip(found.ids_.tolist(), expected.ids_.tolist(), strict=True)) | {-1: -1}
    assert [[place[i] for i in row] for row in ours[1].tolist()] == theirs[1].tolist()


# --- Pieces --------------------------------------------------------------------------------------


def piece(case: Case, start: int, stop: int) -> dict[str, Any]:
    weights = None if case.weights is None else case.weights[start:stop]
    y = np.array(case.labels[start:stop])
    return {"X": case.frame(case.rows[start:stop]), "y": y, "sample_weight": weights}


@quiet
@given(cases(["auto", *METRICS[:5]]), st.data())
def test_pieces_are_a_fit(case: Case, data: Any) -> None:
    n = len(case.rows)
    cut = data.draw(st.integers(1, n - 1))
    weights = case.weights
    # the first piece fixes the unit of weights: a fraction in it, or none at all
    assume(weights is None or weights[0] % 1 or all(w % 1 == 0 for w in weights))
    assume(usable(subset(case, range(cut))))
    assume(weights is None or any(weights[cut:]))
    pieces = NeighborsClassifier(**case.options)
    pieces.partial_fit(**piece(case, 0, cut))
    pieces.partial_fit(**piece(case, cut, n))
    whole = case.fit()
    assert pieces.ids_.tolist() == whole.ids_.tolist()
    same_model(pieces, whole, case.frame(case.queries))


@quiet
@given(cases(["auto", *METRICS[:5]]), st.data())
def test_forgotten_rows_were_never_there(case: Case, data: Any) -> None:
    """A class goes with the last of its rows that counted, and its rows without weight with it."""
    model = case.fit()
    gone = data.draw(st.sets(st.sampled_from(model.ids_.tolist()), min_size=1))
    counted = {case.labels[i] for i in model.ids_.tolist()}
    left = {case.labels[i] for i in model.ids_.tolist() if i not in gone}
    lost = counted - left
    kept = [i for i in range(len(case.rows)) if i not in gone and case.labels[i] not in lost]
    assume(kept and usable(subset(case, kept)))
    rest = subset(case, kept)
    model.forget(ids=data.draw(st.permutations(sorted(gone))))
    assert model.ids_.tolist() == [i for i in case.oracle().kept if i not in gone]
    same_model(model, rest.fit(), case.frame(case.queries))
    if case.weights is None:  # a row that comes again is a new row
        model.partial_fit(**piece(case, 0, 1))
        assert model.ids_.max() == len(case.rows)


@quiet
@every_metric
def test_rows_come_and_go(metric: str) -> None:
    """In pieces of any size, with rows that are taken out again."""
    X, y = numbers_for(metric, 8)
    told: dict[str, Any] = {"metric": metric, "weights": "gaussian", "class_weight": "balanced"}
    model = NeighborsClassifier(4, **told)
    for start in range(0, 120, 30):
        model.partial_fit(X[start : start + 30], y[start : start + 30])
    model.forget(ids=np.arange(30, 60))
    model.partial_fit(X[30:60], y[30:60])
    model.forget(ids=[0, 125])
    assert model.ids_.tolist() == [*range(1, 30), *range(60, 125), *range(126, 150)]
    rows = np.r_[1:30, 60:120, 30:35, 36:60]
    expected = NeighborsClassifier(4, **told).fit(X[rows], y[rows])
    queries = numbers_for(metric, 9)[0]
    assert_allclose(model.predict_proba(queries), expected.predict_proba(queries), rtol=1e-9)
    ids = expected.kneighbors(queries)[1]
    assert_array_equal(model.kneighbors(queries)[1], model.ids_[ids])


def test_k_is_chosen_again_when_rows_come() -> None:
    X, y = numbers(10)
    model = NeighborsClassifier("loo", "manhattan", scale="range")
    model.partial_fit(X[:40], y[:40]).partial_fit(X[40:], y[40:])
    expected = NeighborsClassifier("loo", "manhattan", scale="range").fit(X, y)
    assert (model.n_neighbors_, model.weights_) == (expected.n_neighbors_, expected.weights_)
    assert model.loo_curve_.rows == expected.loo_curve_.rows
    model.forget(ids=np.arange(40, 120))
    expected = NeighborsClassifier("loo", "manhattan", scale="range").fit(X[:40], y[:40])
    assert (model.n_neighbors_, model.weights_) == (expected.n_neighbors_, expected.weights_)


# --- What changes nothing ------------------------------------------------------------------------


def test_queries_alone_and_together() -> None:
    """Blocks of any size change no bit."""
    X, y = numbers(13)
    for metric in METRICS:
        model = NeighborsClassifier(metric=metric, unknown="skip").fit(X, y)
        together = model.kneighbors(X)
        for i in (0, 5, 119):
            alone = model.kneighbors(X[i : i + 1])
            assert_array_equal(alone[0][0], together[0][i])
            assert_array_equal(alone[1][0], together[1][i])


@pytest.mark.parametrize(("power", "scale"), [(-40, "range"), (3, "std"), (40, "std")])
def test_units_do_not_matter_where_numbers_are_scaled(power: int, scale: Scale) -> None:
    """To the last bit, for units that are powers of two."""
    X, y = numbers(17)
    queries = numbers(18)[0]
    for metric in ("euclidean", "manhattan", "gower"):
        one = NeighborsClassifier(metric=metric, scale=scale).fit(X, y)
        other = NeighborsClassifier(metric=metric, scale=scale).fit(np.ldexp(X, power), y)
        found = other.kneighbors(np.ldexp(queries, power))
        assert_array_equal(found[1], one.kneighbors(queries)[1])
        assert_array_equal(found[0], one.kneighbors(queries)[0])


@pytest.mark.parametrize("seed", range(3))
def test_mahalanobis_knows_no_coordinates(seed: int) -> None:
    X, y = numbers(seed, 80, 4)
    turn = np.random.default_rng(seed).normal(size=(4, 4)) + 2 * np.eye(4)
    one = NeighborsClassifier(metric="mahalanobis").fit(X, y)
    other = NeighborsClassifier(metric="mahalanobis").fit(X @ turn + 5, y)
    assert_allclose(other.kneighbors(X @ turn + 5)[0], one.kneighbors(X)[0], rtol=1e-9, atol=1e-7)
    assert_array_equal(other.kneighbors(X @ turn + 5)[1], one.kneighbors(X)[1])
