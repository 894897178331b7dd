"""NeighborsClassifier against a slow oracle; numbers by hand are in test_edges.

Tables are drawn with few values in few columns: rows repeat, distances tie, and places are filled
in part. Neighbors and distances are equal to the last bit, but for Mahalanobis' distance.
"""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tests.explained import read
from tests.neighbors.oracle import (
    GRID,
    VOTINGS,
    Oracle,
    Place,
    brute,
    kernel_values,
)
from tests.neighbors.tables import METRICS, Case, cases, class_options, names_of

from sortal import NeighborsClassifier
from sortal.decision.posterior import decide

quiet = pytest.mark.filterwarnings(
    "ignore::sortal.errors.MissingValueWarning", "ignore::sortal.errors.UnknownCategoryWarning"
)


@given(cases(), st.integers(1, 12))
def test_brute_force_finds_the_same(case: Case, k: int) -> None:
    oracle = case.oracle()
    numbers = [j for j in oracle.used if oracle.is_number(j)]
    others = [j for j in oracle.used if not oracle.is_number(j)]
    values = {j: sorted(set(oracle.values(j))) for j in others}

    def code(x: Any, j: int) -> int:
        value = oracle.cell(x, j)
        return -1 if value is None else values[j].index(value) if value in values[j] else -2

    def arrays(rows: Any) -> Any:
        floats = [[math.nan if x[j] is None else x[j] for j in numbers] for x in rows]
        codes = [[code(x, j) for j in others] for x in rows]
        n = len(rows)
        return np.array(floats).reshape(n, -1), np.array(codes, dtype=np.int64).reshape(n, -1)

    kept = arrays([case.rows[i] for i in oracle.kept])
    factors = np.array([oracle.factors[j] for j in numbers])
    keys, positions = brute(kept, arrays(case.queries), factors, oracle.power, k)
    for x, row, places in zip(case.queries, keys, positions, strict=True):
        nearest = oracle.neighbors(x)[:k]
        assert [one.key for one in nearest] == row[: len(nearest)].tolist()
        ids = [oracle.kept[i] for i in places[: len(nearest)]]
        assert [one.id for one in nearest] == ids
        assert (places[len(nearest) :] == -1).all()


# --- Neighbors -----------------------------------------------------------------------------------


def listed(oracle: Oracle, x: Any, k: int, without: int | None = None) -> Any:
    """Distances and ids as `kneighbors` gives them."""
    nearest = oracle.neighbors(x, without)[:k]
    spare = k - len(nearest)
    distances = [one.distance for one in nearest] + [math.inf] * spare
    return distances, [one.id for one in nearest] + [-1] * spare


def check_neighbors(case: Case, model: NeighborsClassifier, oracle: Oracle, k: int) -> None:
    distances, ids = model.kneighbors(case.frame(case.queries), n_neighbors=k)
    expected = [listed(oracle, x, k) for x in case.queries]
    assert ids.tolist() == [one[1] for one in expected]
    digits = 0 if oracle.power in {1, 2, math.inf} else 1e-14  # a root may be anybody's
    assert_allclose(distances, [one[0] for one in expected], rtol=digits, atol=0)
    own_distances, own = model.kneighbors(n_neighbors=k)
    expected = [listed(oracle, case.rows[i], k, i) for i in oracle.kept]
    assert own.tolist() == [one[1] for one in expected]
    assert_allclose(own_distances, [one[0] for one in expected], rtol=digits, atol=0)


def check_scale(case: Case, model: NeighborsClassifier) -> None:
    """Ranges are differences, exact; standard deviations are sums."""
    oracle, names = case.oracle(), names_of(len(case.rows[0]))
    assert model.metric_ == oracle.metric_
    assert model.ids_.tolist() == oracle.kept
    assert model.classes_.tolist() == case.classes
    assert oracle.classes == [case.classes[k] for k in case.places]
    assert list(model.scale_) == [names[j] for j in oracle.divisors]
    digits = 0 if oracle.scale_ == "range" else 1e-12
    assert_allclose(list(model.scale_.values()), list(oracle.divisors.values()), rtol=digits)


@quiet
@given(cases(["auto", *METRICS[:5]]))
def test_neighbors(case: Case) -> None:
    model = case.fit()
    check_scale(case, model)
    oracle = case.oracle(model)
    for k in {1, min(3, len(oracle.kept)), len(oracle.kept)}:
        check_neighbors(case, model, oracle, k)


@quiet
@given(cases(["gower"]), st.data())
def test_numbers_as_categories(case: Case, data: Any) -> None:
    numbers = [j for j, is_word in enumerate(case.is_word) if not is_word]
    assume(numbers)
    chosen = frozenset(data.draw(st.sets(st.sampled_from(numbers), min_size=1)))
    assume(case.oracle(categories=chosen).used)
    model = case.fit(categorical_features=[names_of(9)[j] for j in sorted(chosen)])
    check_neighbors(case, model, case.oracle(model, categories=chosen), len(model.ids_))


# --- Votes ---------------------------------------------------------------------------------------


def check_votes(case: Case, model: NeighborsClassifier, oracle: Oracle, digits: float) -> None:
    queries = case.frame(case.queries)
    posteriors = [oracle.posterior(x) for x in case.queries]
    proba = case.of_weighted(model.predict_proba(queries))
    assert_allclose(proba, posteriors, rtol=digits, atol=digits)
    with np.errstate(divide="ignore"):
        logs = np.log(posteriors)
    found = case.of_weighted(model.predict_log_proba(queries), -math.inf)
    assert_allclose(found, logs, rtol=digits, atol=digits)
    check_labels(model.predict(queries), np.array(posteriors), proba, oracle)


def check_labels(said: Any, posteriors: Any, proba: Any, oracle: Oracle) -> None:
    """Of costs that differ by rounding only, what is least depends on how they are summed."""
    if oracle.costs is None:
        assert said.tolist() == [oracle.said(row) for row in posteriors]
        return
    costs = np.array(oracle.costs)
    assert said.tolist() == np.array(oracle.classes)[decide(proba, costs)].tolist()
    expected = posteriors @ costs
    places = [oracle.classes.index(label) for label in said]
    assert (expected[np.arange(len(said)), places] <= expected.min(axis=1) + 1e-12).all()


@quiet
@given(cases(), st.data())
def test_votes(case: Case, data: Any) -> None:
    more = data.draw(class_options(case))
    model = case.fit(**more)
    oracle = case.oracle(model, **more)
    assert (model.n_neighbors_, model.weights_) == (oracle.n_neighbors, oracle.voting)
    check_votes(case, model, oracle, 1e-12)


@quiet
@given(cases(), st.data())
def test_left_out(case: Case, data: Any) -> None:
    """Metric and scale are those of the whole fit; the weights of the classes are not."""
    more = data.draw(class_options(case))
    oracle = case.oracle()
    assume(case.options["n_neighbors"] <= oracle.largest_k())
    model = case.fit(**more)
    expected = case.oracle(model, **more).left_out()
    proba = model.loo_proba(case.frame(), np.array(case.labels), sample_weight=case.weights)
    assert_allclose(case.of_weighted(proba), expected, rtol=1e-12, atol=1e-12)


@given(cases(["mahalanobis"], missing=False), st.integers(0, 99), st.booleans())
def test_mahalanobis(case: Case, seed: int, incomplete: bool) -> None:
    """Drawn weights and options, on rows that do not tie."""
    rng = np.random.default_rng(seed)
    d = len(case.rows[0])
    rows = (rng.normal(size=(len(case.rows), d)) @ (np.eye(d) + 0.3)).tolist()
    queries = rng.normal(size=(5, d)).tolist()
    if incomplete:
        for x in queries[:3]:
            x[int(rng.integers(0, d))] = None
    case = Case(rows, case.labels, queries, case.weights, case.options)
    assume(len(case.oracle().kept) > d + 1)
    model = case.fit()
    oracle = case.oracle()
    k = len(oracle.kept)
    frame = case.frame(queries)
    if incomplete:
        with pytest.warns(match="no value"):
            distances, ids = model.kneighbors(frame, n_neighbors=k)
    else:
        distances, ids = model.kneighbors(frame, n_neighbors=k)
        check_votes(case, model, oracle, 1e-7)
        proba = model.loo_proba(case.frame(), np.array(case.labels), sample_weight=case.weights)
        if oracle.n_neighbors <= oracle.largest_k():
            assert_allclose(case.of_weighted(proba), oracle.left_out(), rtol=1e-7, atol=1e-7)
    expected = [listed(oracle, x, k) for x in queries]
    assert ids.tolist() == [one[1] for one in expected]
    assert_allclose(distances, [one[0] for one in expected], rtol=1e-9)


# --- Reasons -------------------------------------------------------------------------------------


def shares_of(oracle: Oracle, x: Any, t: Any) -> list[float]:
    """Each column's part of the key, over the key; all 0 for equal rows."""
    known = [j for j in oracle.used if oracle.cell(x, j) is not None and t[j] is not None]
    terms = dict.fromkeys(range(len(x)), 0.0)
    for j in known:
        if oracle.is_number(j):
            term = abs(x[j] - t[j]) * oracle.factors[j]
            terms[j] = term if oracle.power == math.inf else oracle.raised(term)
        else:
            terms[j] = float(x[j] != t[j])
    most = max(terms.values())
    if most == 0:
        return [0.0] * len(x)
    if oracle.power == math.inf:
        first = min(j for j in terms if terms[j] == most)
        return [float(j == first) for j in terms]
    return [term / sum(terms.values()) for term in terms.values()]


def mark_of(oracle: Oracle, x: Any, t: Any, j: int) -> str:
    if x[j] is None or t[j] is None:
        return "missing"
    return "unknown" if not oracle.is_number(j) and x[j] not in oracle.values(j) else ""


def check_neighbor(oracle: Oracle, x: Any, found: Any, place: Place, vote: float) -> None:
    """Who it is, how far, with which vote; and what each column adds, in both rows' values."""
    t, names = oracle.rows[place.neighbor.id], names_of(len(x))
    assert (found.id, found.label) == (place.neighbor.id, oracle.labels[place.neighbor.id])
    assert found.distance == pytest.approx(place.neighbor.distance, rel=1e-14, abs=0)
    assert found.part == pytest.approx(place.part, rel=1e-14)
    assert found.vote == pytest.approx(vote, abs=1e-12)
    shares = dict.fromkeys(names, 0.0) | {part.attribute: part.share for part in found.parts}
    assert_allclose(list(shares.values()), shares_of(oracle, x, t), rtol=1e-12, atol=1e-12)
    for part in found.parts:
        j = names.index(part.attribute)
        assert (part.value, part.neighbor_value) == (x[j], t[j])
        assert part.mark == mark_of(oracle, x, t, j)


@quiet
@given(cases(), st.data())
def test_reasons(case: Case, data: Any) -> None:
    """Who is inside, with which part and vote; of what was predicted, to the last bit."""
    more = data.draw(class_options(case))
    model, frame = case.fit(**more), case.frame(case.queries)
    oracle, factor = case.oracle(model, **more), case.oracle(model, **more).class_factors(None)
    k, reasons = oracle.n_neighbors, [*map(read, model.explain(frame))]
    proba = case.of_weighted(model.predict_proba(frame)).tolist()
    assert [reason.label for reason in reasons] == model.predict(frame).tolist()
    assert [list(reason.posterior) for reason in reasons] == proba
    for x, reason in zip(case.queries, reasons, strict=True):
        places, h = oracle.places(x, k)
        kernels = kernel_values(places, h, k, oracle.voting)
        assert (reason.k, reason.weights, reason.metric) == (k, oracle.voting, oracle.metric_)
        votes = dict.fromkeys(oracle.classes, 0.0)
        for found, place, kernel in zip(reason.parts, places, kernels, strict=True):
            assert found.kernel == pytest.approx(kernel, rel=1e-12, abs=1e-14)
            check_neighbor(oracle, x, found, place, place.part * kernel * factor[str(found.label)])
            votes[str(found.label)] += found.vote
        assert_allclose(list(reason.votes), list(votes.values()), rtol=1e-12, atol=1e-12)


# --- The choice of k -----------------------------------------------------------------------------


def check_choice(case: Case, model: NeighborsClassifier, ks: list[int], votings: Any) -> None:
    oracle = case.oracle(model)
    assert (model.n_neighbors_, model.weights_) == oracle.chosen(ks, votings)
    curve = model.loo_curve_
    expected = [(k, v, oracle.loo_error(k, v)) for k in ks for v in votings]
    names = ("k", "weighting", "error")
    tried = list(zip(*(curve.column(name) for name in names), strict=True))
    assert sorted(row[:2] for row in tried) == sorted(row[:2] for row in expected)
    errors = {row[:2]: row[2] for row in tried}
    for k, v, error in expected:
        assert errors[k, v] == pytest.approx(error, abs=1e-12)
    frame = case.frame(case.queries)
    plain = case.fit(n_neighbors=model.n_neighbors_, weights=model.weights_)
    assert_array_equal(model.predict_proba(frame), plain.predict_proba(frame))


@quiet
@given(cases(), st.booleans())
def test_chosen_by_leave_one_out(case: Case, told: bool) -> None:
    oracle = case.oracle()
    assume(oracle.largest_k() >= 1)
    votings = [oracle.voting] if told else VOTINGS
    model = case.fit(n_neighbors="loo", weights=oracle.voting if told else "auto")
    check_choice(case, model, [k for k in GRID if k <= oracle.largest_k()], votings)
