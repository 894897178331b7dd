"""Class moments against sums of fractions, which round nothing, and the laws of summaries.

Everything holds to 1e-12 of its own scale, however far from zero the numbers lie; where all of them
agree, the spread is less than their last digit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import event, example, given
from hypothesis import strategies as st
from tests.summaries.blocks import (
    Table,
    deal,
    facts,
    measure,
    of_numbers,
    seeds,
    try_to_measure,
)

from sortal.data.columns import CategoryColumn, sort_values
from sortal.errors import TrainingRowsError
from sortal.modelfile.record import from_bytes, to_bytes
from sortal.summaries import class_moments as measuring
from sortal.summaries.class_moments import ClassMoments, measure_classes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROUNDING = 1e-12
EPS = float(np.finfo(float).eps)

# --- Random tables -------------------------------------------------------------------------------

LABELS: tuple[list[Any], ...] = (["no", "yes", "maybe"], [-3, 0, 10**12], [False, True])
POOLS: tuple[list[Any], ...] = (["u", "v", "w"], [-2, 0, 7], [False, True], ["x", 3, 2.5])


@st.composite
def numbers(draw: st.DrawFn, n: int) -> list[float]:
    """Of the drawn ones, some come more than once."""
    offset = draw(st.sampled_from([0.0, 0.0, 1e8, -1e8, 1e15]))
    scale = draw(st.sampled_from([1.0, 1.0, 1e-3, 1e6]))
    odd = [0.0, 0.1, -2.5, 3.0, *draw(st.lists(st.floats(-10, 10, width=32), max_size=3))]
    rng, share = draw(seeds), draw(st.sampled_from([0.0, 0.5, 1.0]))
    fresh = rng.uniform(-10, 10, n).astype(np.float32).astype(np.float64)
    steps = np.where(rng.random(n) < share, deal(rng, odd, n), fresh)
    return [offset + scale * x for x in steps.tolist()]


@st.composite
def tables(draw: st.DrawFn, weighted: bool = True) -> Table:
    n, rng = draw(st.integers(0, 14)), draw(seeds)
    most = draw(st.sampled_from([None, 3, 2**40]))
    listed = None if most is None else rng.integers(0, most, n, endpoint=True).tolist()
    pools = draw(st.lists(st.sampled_from(POOLS), max_size=2))
    return Table(
        labels=deal(rng, draw(st.sampled_from(LABELS)), n),
        numbers=[draw(numbers(n)) for _ in range(draw(st.integers(0, 3)))],
        categories=[deal(rng, pool, n) for pool in pools],
        units=listed if weighted else None,
        exponent=draw(st.sampled_from([0, 3])) if weighted else 0,
    )


@st.composite
def partitions(draw: st.DrawFn, at_least: int = 1) -> tuple[Table, list[list[int]]]:
    """A table cut into blocks, of which any may be empty."""
    table = draw(tables())
    n, n_parts = len(table.labels), draw(st.integers(at_least, 5))
    owner = deal(draw(seeds), range(n_parts), n)
    return table, [[i for i in range(n) if owner[i] == part] for part in range(n_parts)]


@pytest.fixture(scope="module", params=[3, 2048], ids=["small tiles", "large tiles"])
def tile(request: pytest.FixtureRequest) -> Iterator[int]:
    """Rows per product of matrices."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measuring, "TILE_ROWS", request.param)
        yield request.param


# --- The oracle ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Exact:
    """The moments of one class without rounding."""

    units: int
    mean: list[Fraction]
    scatter: list[list[Fraction]]
    third: list[Fraction]
    fourth: Fraction


def terms_of(table: Table, values: Sequence[Sequence[Any]], i: int) -> list[Fraction]:
    cells = [Fraction(float(cells[i])) for cells in table.numbers]
    for column, listed in zip(table.categories, values, strict=True):
        cells += [Fraction(value == column[i]) for value in listed]
    return cells


def weigh(table: Table, i: int) -> int:
    return 1 if table.units is None else table.units[i]


def exact(table: Table, values: Sequence[Sequence[Any]], label: Any) -> Exact:
    """By whole numbers of 1 / (n steps), in which all deviations from the mean are whole."""
    chosen = [i for i in range(len(table.labels)) if table.labels[i] == label]
    rows = [(weigh(table, i), terms_of(table, values, i)) for i in chosen if weigh(table, i)]
    n, p = sum(u for u, _ in rows), len(rows[0][1])
    steps = max((x.denominator for _, cells in rows for x in cells), default=1)  # powers of two
    whole = [(u, [x.numerator * (steps // x.denominator) for x in cells]) for u, cells in rows]
    sums = [sum(u * x[j] for u, x in whole) for j in range(p)]
    z = [(u, [n * x[j] - sums[j] for j in range(p)]) for u, x in whole]
    both = [(u, d, sum(a * a for a in d)) for u, d in z]
    one = n * steps
    return Exact(
        n,
        [Fraction(total, one) for total in sums],
        [[Fraction(sum(u * d[i] * d[j] for u, d in z), one**2) for j in range(p)]
         for i in range(p)],
        [Fraction(sum(u * size * d[j] for u, d, size in both), one**3) for j in range(p)],
        Fraction(sum(u * size * size for u, _, size in both), one**4),
    )  # fmt: skip


def last_digits(table: Table, n_terms: int) -> np.ndarray[Any, Any]:
    """What cannot be told apart in each term."""
    sizes = [max(map(abs, cells), default=0.0) for cells in table.numbers]
    return EPS * np.array(sizes + [1.0] * (n_terms - len(sizes)))


@dataclass(frozen=True)
class Scales:
    """How large each moment can be, given the spread and the last digits of the numbers."""

    mean: np.ndarray[Any, Any]
    scatter: np.ndarray[Any, Any]
    third: np.ndarray[Any, Any]
    fourth: float


def scales_of(n: float, scatter: Any, fourth: float, digits: np.ndarray[Any, Any]) -> Scales:
    spread = np.sqrt(np.diagonal(scatter) + n * digits**2)
    size = float(fourth + n * (digits**2).sum() ** 2)
    return Scales(spread / math.sqrt(n), np.outer(spread, spread), spread * math.sqrt(size), size)


def assert_exact(
    found: ClassMoments, table: Table, rtol: float = ROUNDING, among: Table | None = None
) -> None:
    """The moments of a table, which may have been measured among more rows."""
    weighty = [i for i in range(len(table.labels)) if weigh(table, i)]
    assert found.classes == sort_values(table.labels[i] for i in weighty)
    assert found.values == tuple(sort_values(c[i] for i in weighty) for c in table.categories)
    assert found.exponent == table.exponent
    digits = last_digits(among or table, found.n_terms)
    for k, label in enumerate(found.classes):
        wanted = exact(table, found.values, label)
        scatter, fourth = np.array(wanted.scatter, dtype=float), float(wanted.fourth)
        scale = scales_of(wanted.units, scatter.reshape((found.n_terms,) * 2), fourth, digits)
        assert found.units[k] == wanted.units
        for j in range(found.n_terms):
            # a share is one float64, however few rows lack the value
            share = EPS if j >= len(found.numbers) else 0.0
            mean = Fraction(found.origin[k, j]) + Fraction(found.mean[k, j])
            assert abs(mean - wanted.mean[j]) <= rtol * scale.mean[j] + share
            assert abs(Fraction(found.third[k, j]) - wanted.third[j]) <= rtol * scale.third[j]
            for i in range(j + 1):  # the others are the same, which is asserted below
                apart = abs(Fraction(found.scatter[k, i, j]) - wanted.scatter[i][j])
                assert apart <= rtol * scale.scatter[i, j]
        assert abs(Fraction(found.fourth[k]) - wanted.fourth) <= rtol * scale.fourth
    assert_possible(found)


def assert_possible(found: ClassMoments) -> None:
    """No spread is negative, scatters are symmetric, and the rest of a mean is small."""
    assert (np.diagonal(found.scatter, axis1=1, axis2=2) >= 0).all()
    assert (found.scatter == found.scatter.swapaxes(1, 2)).all()
    assert (found.fourth >= 0).all()
    assert (found.slack >= 0).all()
    first = len(found.numbers)
    assert (found.origin + found.mean == found.origin)[:, :first].all()
    assert np.isin(found.origin[:, first:], [0, 1]).all()


# --- One block -----------------------------------------------------------------------------------


@given(table=tables())
def test_moments_equal_sums_of_fractions(tile: int, table: Table) -> None:
    assert_exact(measure(table), table)


@given(table=tables(), data=st.data())
def test_chosen_rows_are_measured_alone(tile: int, table: Table, data: st.DataObject) -> None:
    rows = [i for i in range(len(table.labels)) if data.draw(st.booleans())]
    assert_exact(measure(table, rows=rows), table.rows(rows))


@pytest.mark.parametrize("heavy", [0, 1, 5, 9])
def test_a_heavy_row_far_from_the_others_costs_no_digits(tile: int, heavy: int) -> None:
    """The origin, taken from the first rows, then lies far from the mean."""
    units = [1] * 10
    units[heavy] = 2**40
    numbers = [0.1 * i for i in range(9)] + [7.0]
    table = Table(["a"] * 10, [numbers, numbers[::-1]], [["u"] * 9 + ["v"]], units)
    assert_exact(measure(table), table)


def test_rows_that_follow_far_from_the_first_cost_no_digits(tile: int) -> None:
    numbers = [0.1 * i for i in range(7)] + [1e6 + 0.3 * (i % 5) for i in range(200)]
    table = Table(["a"] * 207, [numbers], [])
    assert_exact(measure(table), table)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e8 / 3, -1e15])
def test_equal_numbers_have_no_spread(value: float) -> None:
    found = of_numbers([value] * 5000)
    assert found.origin[0, 0] + found.mean[0, 0] == value
    assert found.scatter[0, 0, 0] <= 5000 * (EPS * value) ** 2
    assert found.fourth[0] <= 5000 * (EPS * value) ** 4


def test_many_rows_of_many_columns_in_classes_of_any_size() -> None:
    """More rows than a product takes at a time; checked in extended precision."""
    rng = np.random.default_rng(0)
    sizes = [1, 2, 2047, 2048, 2049, 5000]
    codes = rng.permutation(np.repeat(np.arange(6), sizes)).astype(np.int32)
    X = rng.normal(size=(len(codes), 13)) @ rng.normal(size=(13, 13)) + 1e8
    colors = rng.integers(0, 3, len(codes)).astype(np.int32)
    labels = CategoryColumn(tuple("abcdef"), codes)
    units = rng.integers(0, 4, len(codes))
    for columns, weight in ((X.T, None), (X.T.copy(), None), (X.T, units)):
        found = measure_classes(
            list(columns), [colors], [("r", "s", "t")], labels, weight, 0, None,
            [f"x{j}" for j in range(13)], ["color"], None,
        )  # fmt: skip
        assert found is not None
        assert_extended(found, np.hstack([X, np.eye(3)[colors]]), codes, weight)


def assert_extended(
    found: ClassMoments, X: np.ndarray[Any, Any], codes: np.ndarray[Any, Any], units: Any
) -> None:
    for k in range(len(found.classes)):
        rows = codes == "abcdef".index(str(found.classes[k]))
        base = np.round(X[0])  # even extended precision has too few digits for means near 1e8
        x = (X[rows] - base).astype(np.longdouble)
        u = np.ones(len(x), np.longdouble) if units is None else units[rows].astype(np.longdouble)
        mean = (u[:, None] * x).sum(axis=0) / u.sum()
        z = x - mean
        size = (z * z).sum(axis=1)
        wanted = (u * z.T) @ z, (u * size) @ z, float((u * size * size).sum())
        digits = EPS * abs(X).max(axis=0)
        scale = scales_of(float(u.sum()), wanted[0].astype(float), wanted[2], digits)
        apart = (found.origin[k] - base - mean) + found.mean[k]
        assert (abs(apart) <= ROUNDING * scale.mean).all()
        assert (abs(found.scatter[k] - wanted[0]) <= ROUNDING * scale.scatter).all()
        assert (abs(found.third[k] - wanted[1]) <= ROUNDING * scale.third).all()
        assert abs(found.fourth[k] - wanted[2]) <= ROUNDING * scale.fourth


# --- Missing values and what cannot be measured
# -----------------------------------------------------------


def test_a_missing_value_or_an_infinite_number_in_a_used_row_gives_nothing(tile: int) -> None:
    labels, fine = ["a", "b", "a", "b", "a"], [1.0, 2.0, 3.0, 4.0, 5.0]
    for bad in (math.nan, math.inf, -math.inf, 1e200, 1e150, -1e141):
        table = Table(labels, [fine, [0.0, 0.0, 0.0, 0.0, bad]], [])
        assert try_to_measure(table) is None
        assert_exact(measure(table, rows=[0, 1, 2, 3]), table.rows(range(4)))
        out = measure(replace(table, units=[1, 1, 1, 1, 0]))
        assert_exact(out, table.rows(range(4)))
    with_missing = Table(labels, [fine], [["u", "v", None, "u", "v"]])
    assert try_to_measure(with_missing) is None
    assert measure(with_missing, rows=[0, 1, 3, 4]).units.tolist() == [2, 2]


def test_missing_values_are_filled_where_asked(tile: int) -> None:
    table = Table(["a", "b", "a", "a"], [[1.0, math.nan, 3.0, math.nan]], [["u", "v", None, "u"]])
    filled = measure(table, fill=[2.5, 0.75, 0.25])
    assert filled.values == (("u", "v"),)
    center = filled.origin + filled.mean
    np.testing.assert_allclose(center, [[6.5 / 3, 2.75 / 3, 0.25 / 3], [2.5, 0, 1]], rtol=1e-15)
    z = np.array([[1, 1, 0], [3, 0.75, 0.25], [2.5, 1, 0]]) - center[0]
    np.testing.assert_allclose(filled.scatter[0], z.T @ z, atol=1e-14)
    twice = filled.merge(filled)
    np.testing.assert_allclose(twice.origin + twice.mean, center, rtol=1e-15)
    np.testing.assert_allclose(twice.subtract(filled).scatter, filled.scatter, atol=1e-14)


def test_classes_and_values_without_weight_are_not_listed(tile: int) -> None:
    table = Table(
        ["a", "b", "c", "a"], [[1.0, 2.0, 3.0, 4.0]], [["u", "v", "w", "u"]], [1, 0, 2, 1]
    )
    found = measure(table)
    assert (found.classes, found.values) == (("a", "c"), (("u", "w"),))
    assert measure(table, []).units.tolist() == []
    assert measure(replace(table, units=[0] * 4)).values == ((),)


HUGE = [1e100, -1e100, 3e100, 2e99]


def test_fourth_powers_beyond_float64_spoil_nothing_else(tile: int) -> None:
    found = of_numbers(HUGE, [1.0, 2.0, 3.0, 5.0])
    assert (found.fourth.tolist(), found.third.tolist()) == ([math.inf], [[0.0, 0.0]])
    np.testing.assert_allclose(found.scatter[0, 0, 0], np.var(HUGE) * 4, rtol=1e-12)
    np.testing.assert_allclose(found.scatter[0, 1, 1], 8.75, rtol=1e-12)
    small = of_numbers([1.0, 2.0], [2.5, 3.0])
    for both in (found.merge(small), small.merge(found), found.merge(found)):
        assert (both.fourth.tolist(), both.third.tolist()) == ([math.inf], [[0.0, 0.0]])
        assert np.isfinite(both.scatter).all()
    rest = found.merge(found).subtract(found)
    assert (rest.fourth.tolist(), rest.third.tolist()) == ([math.inf], [[0.0, 0.0]])
    np.testing.assert_allclose(rest.scatter, found.scatter, rtol=1e-12)
    assert facts(from_bytes(ClassMoments, to_bytes(found))) == facts(found)


def test_a_class_that_only_two_distant_blocks_make_wide() -> None:
    one, other = of_numbers([1e100, 1.1e100]), of_numbers([-1e100, -1.1e100])
    assert one.merge(other).fourth.tolist() == [math.inf]


# --- Merging -------------------------------------------------------------------------------------


@given(blocks=partitions(), data=st.data())
def test_any_merge_of_any_blocks_is_the_summary_of_all_rows(
    tile: int, blocks: tuple[Table, list[list[int]]], data: st.DataObject
) -> None:
    table, parts = blocks
    waiting = data.draw(st.permutations([measure(table, part) for part in parts]))
    while len(waiting) > 1:
        at = data.draw(st.integers(0, len(waiting) - 2))
        waiting[at : at + 2] = [waiting[at].merge(waiting[at + 1])]
    assert_exact(waiting[0], table)


@given(table=tables())
def test_the_summary_of_no_rows_is_neutral(table: Table) -> None:
    nothing, everything = measure(table, []), measure(table)
    assert_exact(everything.subtract(nothing), table)
    assert_exact(everything.subtract(everything), table.rows([]))


@pytest.mark.parametrize(("offset", "size"), [(0.0, 7), (1e8, 1), (-1e12, 100)])
def test_any_size_of_blocks_gives_the_same(offset: float, size: int) -> None:
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(100, 3)) + offset, 6)
    X[50:] += 2.0  # drift
    table = Table(
        rng.choice(["a", "b"], 100).tolist(),
        X.T.tolist(),
        [rng.choice(["u", "v", "w"], 100, p=[0.8, 0.17, 0.03]).tolist()],
    )
    blocks = [measure(table, range(i, min(i + size, 100))) for i in range(0, 100, size)]
    assert_exact(reduce(ClassMoments.merge, blocks), table)
    assert_exact(reduce(ClassMoments.merge, blocks[::-1]), table)


def test_distant_blocks_lose_no_digits_of_those_near_each_other() -> None:
    """The mean is more than a float64 holds, and stays so while the origin moves."""
    numbers = [0.0] + [1e8 + 0.001 * i for i in range(100)]
    table = Table(["a"] * 101, [numbers], [])
    blocks = [measure(table, [i]) for i in range(101)]
    assert_exact(reduce(ClassMoments.merge, blocks), table)


@given(table=tables(weighted=False))
def test_merging_takes_the_finer_unit(table: Table) -> None:
    """Rows that weigh one, joined by rows that weigh 1/4 each: together 5/4."""
    n = len(table.labels)
    plain, quarter = measure(table), measure(replace(table, units=[1] * n, exponent=2))
    wanted = replace(table, units=[5] * n, exponent=2)
    for found in (plain.merge(quarter), quarter.merge(plain)):
        assert found.exponent == 2
        assert_exact(found, wanted)


def test_indicators_have_the_share_of_their_rows_to_the_last_digit() -> None:
    colors = ["r", "s", "s", "s", "t", "s", "s"] * 13
    table = Table(["a"] * len(colors), [], [colors])
    blocks = [measure(table, [i]) for i in range(len(colors))]
    merged = reduce(ClassMoments.merge, blocks)
    for found, n in ((merged, 91), (reduce(ClassMoments.subtract, blocks[:63], merged), 28)):
        assert found.units.tolist() == [n]
        assert found.origin.tolist() == [[0.0, 1.0, 0.0]]
        assert found.mean.tolist() == [[n / 7 / n, -2 * n / 7 / n, n / 7 / n]]


def test_an_absent_value_adds_zeros_only() -> None:
    """The scatter of a block's own terms is that of the block, digit for digit."""
    a = measure(Table(["k", "k"], [[1.0, 2.5]], [["r", "t"]]))
    wide = a.over(("j", "k"), [("q", "r", "s", "t")])
    assert wide.units.tolist() == [0, 2]
    at = [0, 2, 4]
    assert wide.scatter[1][np.ix_(at, at)].tolist() == a.scatter[0].tolist()
    assert wide.third[1, at].tolist() == a.third[0].tolist()
    assert wide.slack[1, [*at, 5]].tolist() == a.slack[0].tolist()
    assert (wide.origin[1, at] + wide.mean[1, at]).tolist() == (a.origin + a.mean)[0].tolist()
    for absent in (wide.scatter[1, [1, 3]], wide.scatter[0], wide.origin[0], wide.third[1, [1, 3]]):
        assert not absent.any()
    assert wide.fourth.tolist() == [0.0, a.fourth[0]]
    assert (wide.classes, wide.values) == (("j", "k"), (("q", "r", "s", "t"),))
    assert wide.n_terms == 5


def test_of_true_and_one_the_number_is_listed() -> None:
    a = measure(Table([True, False], [], [[True, False]]))
    b = measure(Table([1, 0], [], [[1, 0]]))
    for found in (a.merge(b), b.merge(a)):
        assert facts(found.classes) == facts((0, 1))
        assert facts(found.values) == facts(((0, 1),))
        assert found.units.tolist() == [2, 2]


# --- Subtracting ---------------------------------------------------------------------------------


@given(blocks=partitions(at_least=2))
@example(blocks=(Table(["a"] * 4, [[1.0, 2.0, 4.0, 5.0]], []), [[0, 1], [2, 3]]))
@example(  # where most of the weight agrees, the last digit of the mean is no measure of the spread
    blocks=(
        Table(["a"] * 3, [[1e15, 1e15 + 3, 1e15 + 6]], [], [9 * 10**9, 20000, 10**6]),
        [[1], [0, 2]],
    )
)
@example(  # few rows far from many: the mean of all is known by its distance from the many
    blocks=(
        Table(["a"] * 4, [[-9e7, -9.5e7, -1.05e8, -1.0e8]], [], [800, 2000, 2 * 10**9, 400]),
        [[0, 1], [2, 3]],
    )
)
@example(  # a share that differs from 1 by less than 1e-8
    blocks=(Table(["a"] * 3, [], [["u", "v", "u"]], [4000, 70, 10**11]), [[0, 1], [2]])
)
def test_subtracting_undoes_merging_or_refuses(blocks: tuple[Table, list[list[int]]]) -> None:
    table, parts = blocks
    a, b = (measure(table, part) for part in parts[:2])
    before = facts(a), facts(b)
    try:
        found = a.merge(b).subtract(b)
    except TrainingRowsError:
        event("refused")
        return
    assert (facts(a), facts(b)) == before
    event(f"{len(a.classes)} classes left")
    assert_exact(found, table.rows(parts[0]), 1e-11, table)


@pytest.mark.parametrize("offset", [0.0, 1e8, 1e12])
def test_rows_are_taken_out_to_the_last_digits(offset: float) -> None:
    rng = np.random.default_rng(2)
    X = offset + np.round(rng.normal(size=(3, 200)), 3)
    table = Table(["a", "b"] * 100, X.tolist(), [rng.choice(["u", "v"], 200).tolist()])
    whole = measure(table)
    for part in (range(1), range(20), range(100), range(150)):
        rest = table.rows(range(len(part), 200))
        assert_exact(whole.subtract(measure(table, part)), rest, among=table)


def test_rows_taken_out_one_by_one_leave_the_others() -> None:
    rng = np.random.default_rng(3)
    X = np.round(rng.normal(size=(2, 60)), 3) + 100.0
    table = Table(["a"] * 60, X.tolist(), [["u", "v", "w"] * 20])
    found = reduce(ClassMoments.subtract, (measure(table, [i]) for i in range(40)), measure(table))
    assert_exact(found, table.rows(range(40, 60)), among=table)


def test_values_and_classes_without_weight_vanish() -> None:
    table = Table(
        ["a", "a", "a", "b", "a"],
        [[1.0, 2.0, 4.0, 8.0, 5.0]],
        [["u", "v", "u", "w", "v"], ["x", "x", "x", "y", "x"]],
    )
    rest = measure(table).subtract(measure(table, [3]))
    assert (rest.classes, rest.values) == (("a",), (("u", "v"), ("x",)))
    assert_exact(rest, table.rows([0, 1, 2, 4]), among=table)
    assert rest.scatter[0, 3].tolist() == [0.0] * 4


def test_what_is_left_of_one_value_has_no_spread_at_all() -> None:
    table = Table(["a"] * 7, [], [["u", "v", "w", "u", "v", "u", "u"]])
    rest = measure(table).subtract(measure(table, [1, 2, 4]))
    assert rest.values == (("u",),)
    assert (rest.scatter.tolist(), rest.fourth.tolist()) == ([[[0.0]]], [0.0])
    assert rest.slack.tolist() == [[0.0, 0.0]]


def test_classes_that_lose_no_row_stay_as_they_are() -> None:
    table = Table(["a", "a", "b", "b", "b"], [[1.0, 1.0 + 1e-9, 5.0, 6.0, 7.0]], [])
    whole, part = measure(table), measure(table, [4])
    rest = whole.subtract(part)
    for name in ("scatter", "third", "fourth", "slack"):
        assert getattr(rest, name)[0].tolist() == getattr(whole, name)[0].tolist()


@pytest.mark.parametrize("value", [0.0, 0.1, 1e8 / 3])
def test_rows_of_a_column_that_never_varies_can_be_taken_out(value: float) -> None:
    whole, part = of_numbers([value] * 7), of_numbers([value] * 3)
    found = whole.subtract(part)
    assert found.units.tolist() == [4]
    np.testing.assert_allclose(found.origin, value, rtol=1e-15)
    assert 0 <= found.scatter[0, 0, 0] <= 4 * (value * 2**-50) ** 2


def test_every_step_adds_its_rounding_to_the_bound() -> None:
    def sizes(m: ClassMoments) -> Any:
        return np.column_stack([np.diagonal(m.scatter, axis1=1, axis2=2), m.fourth])

    a, b = of_numbers([1.0, 2.0, 4.0], [3.0, 7.0, 2.0]), of_numbers([3.0, 9.0], [5.0, 4.0])
    for one in (a, b):
        assert (one.slack >= 4 * EPS * sizes(one)).all()
    both = a.merge(b)
    assert (both.slack >= a.slack + b.slack + EPS * sizes(both)).all()
    rest = both.subtract(b)
    assert (rest.slack >= both.slack + b.slack + 2 * EPS * sizes(both)).all()
