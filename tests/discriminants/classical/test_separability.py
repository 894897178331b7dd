"""Linear separability against brute force: every line through two points, and sorted numbers."""

from itertools import combinations, permutations, product
from typing import Any, Final, TypeAlias

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog

from sortal.discriminants.classical import separability
from sortal.discriminants.classical.separability import (
    SeparatingFunctions,
    _Search,
    separate,
    shared_rows,
)

Float: TypeAlias = NDArray[np.float64]


def sides(points: Float, a: Float, b: Float) -> Float:
    """Above, below or on the line through two points, exactly: the numbers are small and whole."""
    d = b - a
    return np.asarray(np.sign(d[0] * (points[:, 1] - a[1]) - d[1] * (points[:, 0] - a[0])))


def strictly_apart_on_a_line(first: Float, second: Float) -> bool:
    """Of points on one line: no point of one class between, or at, points of the other."""
    if not len(first) or not len(second):
        return True
    both = np.concatenate([first, second])
    spread = both.max(axis=0) - both.min(axis=0)
    j = int(spread.argmax())  # along a line one coordinate tells the order
    a, b = first[:, j], second[:, j]
    return bool(spread[j] > 0 and (a.max() < b.min() or b.max() < a.min()))


def brute_force(first: Float, second: Float) -> bool:
    """Points of a plane are separable iff some line through two of them nearly does it.

    A separating line can be moved until it touches both hulls; those on it must then be apart.
    """
    both = np.unique(np.concatenate([first, second]), axis=0)
    for a, b in permutations(both, 2):
        one, two = sides(first, a, b), sides(second, a, b)
        if (one >= 0).all() and (two <= 0).all():
            on_line = first[one == 0], second[two == 0]
            if strictly_apart_on_a_line(*on_line):
                return True
    return False


points: Final = st.lists(st.tuples(*[st.integers(-4, 4)] * 2), min_size=1, max_size=7)


def as_rows(given_points: Any) -> Float:
    return np.array(given_points, dtype=np.float64)


@given(points, points)
def test_a_plane_by_brute_force(first: Any, second: Any) -> None:
    a, b = as_rows(first), as_rows(second)
    codes = np.repeat([0, 1], [len(a), len(b)])
    meet = shared_rows(np.concatenate([a, b]), codes, 2)[0, 1]
    assert meet == bool(set(first) & set(second))
    assume(not meet)
    assert separate([a, b]).separable == brute_force(a, b)


@given(points, points, st.sampled_from([1e-120, 1e-3, 1.0, 1e6, 1e120]), st.integers(0, 10**6))
def test_units_turns_and_offsets_change_nothing(
    first: Any, second: Any, unit: float, seed: int
) -> None:
    a, b = as_rows(first), as_rows(second)
    assume(not set(first) & set(second))
    expected = brute_force(a, b)
    units = np.array([unit, 1.0])
    assert separate([a * units, b * units]).separable == expected
    moved = np.array([1e6, -3e3])
    assert separate([a + moved, b + moved]).separable == expected
    tied = [np.column_stack([rows, rows.sum(axis=1), np.ones(len(rows))]) for rows in (a, b)]
    assert separate(tied).separable == expected
    shear = np.array([[1, seed % 50], [0, 1]])  # whole numbers: no rounding
    assert separate([a @ shear, b @ shear]).separable == expected


floats: Final = st.lists(st.floats(-1e100, 1e100, allow_subnormal=False), min_size=1, max_size=6)


@given(floats, floats)
def test_one_column_is_a_matter_of_order(first: list[float], second: list[float]) -> None:
    assume(not set(first) & set(second))
    expected = max(first) < min(second) or max(second) < min(first)
    found = separate([np.array([first]).T, np.array([second]).T])
    assert found.separable == expected
    assert (found.margin is not None) == expected


def test_neighboring_floats_are_apart() -> None:
    a, b = np.array([[0.1], [0.05]]), np.array([[np.nextafter(0.1, 1)], [0.2]])
    assert separate([a, b]).separable
    turned = [np.column_stack([rows, 0 * rows]) for rows in (a, b)]
    assert separate(turned).separable


@pytest.mark.parametrize("step", [2.0**-3, 2.0**-7, 2.0**-9, 2.0**-12])
def test_small_steps_far_from_zero(step: float) -> None:
    """The sums differ by a last digit or a few; all numbers and differences are exact."""
    base, i = 2.0**40, np.arange(4.0)
    a = np.column_stack([base + i, base + i])
    b = np.column_stack([base + i, base + i + step])
    assert separate([a, b]).separable
    between = np.array([[base, base - step], [base + 3, base + 3 + step]])  # around the middle
    assert not separate([a, between]).separable


def test_gaps_within_rounding_are_looked_at_in_fractions() -> None:
    first, second = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[1.0, 1.0], [2.0, 0.5]])
    search = _Search.of([first, second])
    assert search._gap(1, 0, np.array([1.0, 1.0]), None) == 1.0
    close = np.array([[0.1, np.nextafter(0.2, 1)], [5.0, 5.0]])
    search = _Search.of([np.array([[0.1, 0.2], [0.0, 0.1]]), close])
    assert search._gap(1, 0, np.array([1.0, 1.0]), None) is not None
    assert search._gap(1, 0, np.array([1.0, 0.0]), None) is None  # they touch


def test_offsets_matter_where_there_are_more_than_two_classes() -> None:
    search = _Search.of([np.array([[x]]) for x in (-5.0, 0.0, 5.0)])
    weights = np.array([[-1.0, 0.0, 1.0]])  # of rows less the first
    good, bad = np.array([5.0, 2.0, -5.0]), np.array([5.0, -20.0, -5.0])
    assert search.margin(SeparatingFunctions(weights, good)) == np.inf
    assert search.margin(SeparatingFunctions(weights, bad)) is None  # never says the class between


def machine(groups: list[Float]) -> bool:
    """One linear program over everything, in the units of the rows."""
    K, p = len(groups), groups[0].shape[1]
    rows = []
    for k, other in product(range(K), repeat=2):
        for x in groups[k] if k != other else []:
            row = np.zeros((K, p + 1))
            row[k], row[other] = -np.append(x, 1.0), np.append(x, 1.0)
            rows.append(row.ravel())
    done = linprog(np.zeros(K * (p + 1)), rows, -np.ones(len(rows)), bounds=(None, None))
    return bool(done.status == 0)


@given(st.lists(points, min_size=3, max_size=4))
def test_several_classes_at_once(given_groups: list[Any]) -> None:
    sets = [set(group) for group in given_groups]
    assume(len(set.union(*sets)) == sum(map(len, sets)))
    groups = [as_rows(group) for group in given_groups]
    assert separate(groups).separable == machine(groups)


def test_pairs_can_be_separable_and_all_not() -> None:
    """Three bars like a pinwheel: each pair has its line, but each bar sees more than 120°."""
    turn = np.array([[np.cos(2.0944), -np.sin(2.0944)], [np.sin(2.0944), np.cos(2.0944)]])
    bar = np.array([[-1.0, 1.0], [8.0, 1.0]])
    groups = [bar, bar @ turn.T, bar @ turn.T @ turn.T]
    pairs = [separate(list(pair)).separable for pair in combinations(groups, 2)]
    assert machine(groups) == separate(groups).separable
    assert all(pairs)
    assert not machine(groups)


def test_margins_are_distances_in_deviations() -> None:
    a, b = np.array([[0.0], [2.0]]), np.array([[5.0], [7.0]])
    found = separate([a, b])
    assert found.margin == pytest.approx(3 / np.sqrt(4 / 2))
    scaled = separate([1e6 * a, 1e6 * b])
    assert scaled.margin == pytest.approx(found.margin)


def test_constant_within_classes_has_no_deviation() -> None:
    for seed in range(20):
        x = np.random.default_rng(seed).normal(size=20)
        a, b = np.column_stack([x, 0.3 - x]), np.column_stack([x, 0.7 - x])
        found = separate([a, b])
        assert (seed, found.separable, found.margin) == (seed, True, np.inf)


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(8, 40), st.floats(0.0, 4.0))
def test_many_columns_against_one_program(seed: int, p: int, n: int, gap: float) -> None:
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n, p))
    b[:, 0] += gap
    found = separate([a, b])
    assert found.separable == machine([a, b])
    if found.separable:
        assert found.margin is not None
        assert found.margin > 0


def test_the_limits_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 50, 3))
    assert separate([a, b], most_programs=0).separable is None
    monkeypatch.setattr(separability, "MOST_CELLS", 100)
    found = separate([a, b])
    assert found.separable is None
    assert "100 rows × 3 directions" in found.how
