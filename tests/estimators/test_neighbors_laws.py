"""Laws of neighbors: weights are copies, pieces are a fit, and what must change nothing."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, TypeAlias

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from numpy.typing import NDArray
from tests.estimators.neighbors_oracle import VOTINGS
from tests.estimators.neighbors_tables import METRICS, Case, cases, class_options

from sortal import NeighborsClassifier, datasets

Float: TypeAlias = NDArray[np.float64]
Labels: TypeAlias = NDArray[Any]

QUICK: Final = settings(max_examples=50, deadline=None)
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


# --- Weights are copies --------------------------------------------------------------------------


def copied(case: Case) -> Case:
    times = [int(w) for w in case.weights or []]
    rows = [row for row, n in zip(case.rows, times, strict=True) for _ in range(n)]
    labels = [label for label, n in zip(case.labels, times, strict=True) for _ in range(n)]
    return replace(case, rows=rows, labels=labels, weights=None)


@quiet
@given(cases(), st.data())
@QUICK
def test_whole_weights_are_copies(case: Case, data: Any) -> None:
    """Standard deviations of copies may differ in their last bit, and so may ties."""
    n = len(case.rows)
    weights = data.draw(st.lists(st.integers(0, 3).map(float), min_size=n, max_size=n))
    options = dict(case.options)
    if case.oracle().scale_ == "std":
        options["scale"] = "range"
    case = replace(case, weights=weights, options=options)
    assume(usable(case))
    more = data.draw(class_options(case))
    more.pop("costs", None)  # of equal costs, rounding would decide
    frame = case.frame(case.queries)
    weighed, copies = case.fit(**more), copied(case).fit(**case.among_weighted(more))
    assert weighed.classes_.tolist() == case.classes
    assert copies.classes_.tolist() == case.oracle().classes
    proba = case.of_weighted(weighed.predict_proba(frame))
    assert_allclose(proba, copies.predict_proba(frame), rtol=1e-12, atol=1e-12)
    assert weighed.predict(frame).tolist() == copies.predict(frame).tolist()


@quiet
@every_metric
@pytest.mark.parametrize("voting", VOTINGS)
def test_whole_weights_are_copies_of_rows_that_do_not_tie(metric: str, voting: str) -> None:
    X, y = numbers_for(metric, 1)
    w = np.random.default_rng(2).integers(0, 4, len(X))
    asked: dict[str, Any] = {"metric": metric, "weights": voting, "p": 3.0}
    weighed = NeighborsClassifier(7, **asked).fit(X, y, sample_weight=w)
    copies = NeighborsClassifier(7, **asked).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    queries = numbers_for(metric, 3)[0]
    assert_allclose(weighed.predict_proba(queries), copies.predict_proba(queries), rtol=1e-9)
    for name, scale in weighed.scale_.items():
        assert copies.scale_[name] == pytest.approx(scale, rel=1e-13)


@pytest.mark.parametrize("voting", ["uniform", "distance", "triangular", "epanechnikov"])
def test_all_weights_twice_is_twice_as_many_places(voting: str) -> None:
    """The other kernels know how many places there are."""
    X, y = numbers(4)
    w = np.random.default_rng(4).integers(1, 20, len(X))
    one = NeighborsClassifier(6, "manhattan", weights=voting).fit(X, y, sample_weight=w)
    two = NeighborsClassifier(12, "manhattan", weights=voting).fit(X, y, sample_weight=2 * w)
    queries = numbers(5)[0]
    assert_allclose(two.predict_proba(queries), one.predict_proba(queries), rtol=1e-9, atol=1e-12)


@quiet
@every_metric
def test_rows_without_weight_do_not_exist(metric: str) -> None:
    X, y = numbers_for(metric, 6)
    w = np.ones(len(X))
    w[::3] = 0
    X[::3] *= 100
    found = NeighborsClassifier(metric=metric).fit(X, y, sample_weight=w)
    expected = NeighborsClassifier(metric=metric).fit(X[w > 0], y[w > 0])
    queries = numbers_for(metric, 7)[0]
    assert_allclose(found.predict_proba(queries), expected.predict_proba(queries), rtol=1e-9)
    assert found.ids_.tolist() == np.flatnonzero(w).tolist()
    ids = expected.kneighbors(queries)[1]
    assert_array_equal(found.kneighbors(queries)[1], found.ids_[ids])


# --- Pieces --------------------------------------------------------------------------------------


def piece(case: Case, start: int, stop: int) -> dict[str, Any]:
    weights = None if case.weights is None else case.weights[start:stop]
    y = np.array(case.labels[start:stop])
    return {"X": case.frame(case.rows[start:stop]), "y": y, "sample_weight": weights}


@quiet
@given(cases(["auto", *METRICS[:5]]), st.data())
@QUICK
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
@QUICK
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
    model.forget(data.draw(st.permutations(sorted(gone))))
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
    model = NeighborsClassifier(4, metric, weights="gaussian")
    for start in range(0, 120, 30):
        model.partial_fit(X[start : start + 30], y[start : start + 30])
    model.forget(np.arange(30, 60))
    model.partial_fit(X[30:60], y[30:60])
    model.forget([0, 125])
    assert model.ids_.tolist() == [*range(1, 30), *range(60, 125), *range(126, 150)]
    rows = np.r_[1:30, 60:120, 30:35, 36:60]
    expected = NeighborsClassifier(4, metric, weights="gaussian").fit(X[rows], y[rows])
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
    model.forget(np.arange(40, 120))
    expected = NeighborsClassifier("loo", "manhattan", scale="range").fit(X[:40], y[:40])
    assert (model.n_neighbors_, model.weights_) == (expected.n_neighbors_, expected.weights_)


# --- What changes nothing ------------------------------------------------------------------------


@every_metric
@pytest.mark.parametrize("n_jobs", [2, 3, None])
def test_threads_change_no_bit(metric: str, n_jobs: int | None) -> None:
    rng = np.random.default_rng(11)
    X, y = rng.integers(0, 5, size=(700, 4)).astype(float), rng.integers(0, 3, 700)
    queries = rng.integers(-1, 7, size=(300, 4)).astype(float)
    alone = NeighborsClassifier(9, metric, weights="gaussian", unknown="skip", n_jobs=1).fit(X, y)
    together = NeighborsClassifier(9, metric, weights="gaussian", unknown="skip", n_jobs=n_jobs)
    together.fit(X, y)
    queries = np.clip(queries, 0, 4) if metric == "hamming" else queries
    for one, other in zip(alone.kneighbors(queries), together.kneighbors(queries), strict=True):
        assert_array_equal(other, one)
    assert_array_equal(together.predict_proba(queries), alone.predict_proba(queries))
    assert_array_equal(together.loo_proba(X, y), alone.loo_proba(X, y))


def test_threads_do_not_change_the_choice() -> None:
    X, y = numbers(12)
    one, two = (NeighborsClassifier("loo", n_jobs=n).fit(X, y) for n in (1, 2))
    assert one.loo_curve_.rows == two.loo_curve_.rows


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


def test_blocks_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = datasets.penguins().dropna()
    whole = NeighborsClassifier().fit(frame, "species")
    expected = whole.kneighbors(frame), whole.predict_proba(frame)
    monkeypatch.setattr("sortal.data.sources.BLOCK_CELLS", 70)
    cut = NeighborsClassifier().fit(frame, "species")
    assert cut.scale_ == whole.scale_
    assert_array_equal(cut.kneighbors(frame)[0], expected[0][0])
    assert_array_equal(cut.kneighbors(frame)[1], expected[0][1])
    assert_array_equal(cut.predict_proba(frame), expected[1])


@quiet
@given(cases(), st.data())
@QUICK
def test_the_order_of_rows_decides_ties_only(case: Case, data: Any) -> None:
    options = dict(case.options)
    if case.oracle().scale_ == "std":
        options["scale"] = "range"
    case = replace(case, options=options)
    assume(case.oracle().used)
    order = data.draw(st.permutations(range(len(case.rows))))
    one, other = case.fit(), subset(case, order).fit()
    assert one.scale_ == other.scale_
    frame, k = case.frame(case.queries), len(one.ids_)
    distances, ids = one.kneighbors(frame, n_neighbors=k)
    again, moved = other.kneighbors(frame, n_neighbors=k)
    assert_array_equal(again, distances)
    for row, mine, theirs in zip(distances, ids.tolist(), moved.tolist(), strict=True):
        back = [i if i < 0 else order[i] for i in theirs]
        for distance in set(row.tolist()) - {math.inf}:
            tied = np.flatnonzero(row == distance)
            assert {mine[i] for i in tied} == {back[i] for i in tied}


@every_metric
@pytest.mark.parametrize("scale", ["auto", None])
def test_short_floats_are_the_same_numbers(metric: str, scale: Any) -> None:
    X, y = numbers(14, 400)
    short = X.astype(np.float32)
    scale = "auto" if metric in {"hamming", "mahalanobis"} else scale
    asked: dict[str, Any] = {"metric": metric, "scale": scale}
    one = NeighborsClassifier(weights="distance", **asked).fit(short, y)
    other = NeighborsClassifier(weights="distance", **asked).fit(short.astype(np.float64), y)
    assert one.scale_ == other.scale_
    for queries in (numbers(15)[0], short[:50], short[:50].astype(np.float64)):
        if metric == "hamming":
            queries = short[:50]  # noqa: PLW2901
        found, expected = one.kneighbors(queries), other.kneighbors(queries)
        assert_array_equal(found[1], expected[1])
        digits = 1e-9 if metric == "mahalanobis" else 0
        assert_allclose(found[0], expected[0], rtol=digits, atol=digits)
        assert_allclose(one.predict_proba(queries), other.predict_proba(queries), rtol=1e-6)


@pytest.mark.parametrize("kind", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.float16])
def test_types_of_numbers(kind: type) -> None:
    rng = np.random.default_rng(16)
    X, y = rng.integers(0, 100, size=(200, 4)), rng.integers(0, 2, 200)
    one = NeighborsClassifier().fit(X.astype(kind), y)
    other = NeighborsClassifier().fit(X.astype(np.float64), y)
    queries = rng.uniform(0, 100, size=(40, 4))
    for found, expected in zip(one.kneighbors(queries), other.kneighbors(queries), strict=True):
        assert_array_equal(found, expected)


@pytest.mark.parametrize("power", [-40, -1, 3, 40])
@pytest.mark.parametrize("scale", ["range", "std"])
def test_units_do_not_matter_where_numbers_are_scaled(power: int, scale: str) -> None:
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


# --- Tables of all kinds -------------------------------------------------------------------------

TO: Final[dict[str, Callable[[pd.DataFrame], Any]]] = {
    "polars": pl.from_pandas,
    "pyarrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "turned": lambda frame: frame[frame.columns[::-1]],
    "extra": lambda frame: frame.assign(more=1.0),
}


@pytest.mark.parametrize("kind", TO)
@quiet
def test_data_frames(kind: str) -> None:
    """Words, numbers and holes; columns are matched by name."""
    frame = datasets.penguins()
    X, y = frame.drop(columns="species"), frame["species"]
    expected = NeighborsClassifier(weights="triangular").fit(X, y)
    fitted = TO[kind](X) if kind in {"polars", "pyarrow"} else X
    model = NeighborsClassifier(weights="triangular").fit(fitted, y.tolist())
    assert model.scale_ == expected.scale_
    rows = TO[kind](X)
    assert_array_equal(model.kneighbors(rows)[0], expected.kneighbors(X)[0])
    assert_array_equal(model.kneighbors(rows)[1], expected.kneighbors(X)[1])
    assert_array_equal(model.predict_proba(rows), expected.predict_proba(X))


@every_metric
def test_arrays_and_frames(metric: str) -> None:
    X, y = numbers(19)
    frame = pd.DataFrame(X, columns=list("pqr"))
    expected = NeighborsClassifier(metric=metric).fit(X, y)
    for table in (frame, pl.from_pandas(frame), X.tolist(), np.asfortranarray(X)):
        model = NeighborsClassifier(metric=metric).fit(table, y)
        for found, by_array in zip(model.kneighbors(table), expected.kneighbors(X), strict=True):
            assert_array_equal(found, by_array)
        assert_array_equal(model.predict_proba(table), expected.predict_proba(X))
        assert list(model.scale_.values()) == list(expected.scale_.values())
