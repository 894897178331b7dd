"""Moments against sums of fractions, which round nothing."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.native.layouts import Layout, layouts

from sortal import native

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float = NDArray[np.float64]
Rows = tuple[Float, Int32, int, Int64 | None]
Members = list[tuple[int, Fraction]]

OFFSETS = (0.0, 1.0, -1e8, 1e8, 1e15)


def rows_of_class(rows: Rows, k: int) -> Members:
    """(units, value) of the rows of class k that have a number."""
    values, classes, _, units = rows
    weights = np.ones(len(values), dtype=np.int64) if units is None else units
    own = (classes == k) & ~np.isnan(values)
    return list(zip(weights[own].tolist(), map(Fraction, values[own].tolist()), strict=True))


def exact(members: Members) -> tuple[int, Fraction, Fraction]:
    """Units, mean and squared deviations of a class, by whole numbers of its finest step."""
    total = sum(u for u, _ in members)
    if total == 0:
        return 0, Fraction(0), Fraction(0)
    steps = max(x.denominator for _, x in members)  # all are powers of two
    whole = [(u, x.numerator * (steps // x.denominator)) for u, x in members]
    first, second = sum(u * x for u, x in whole), sum(u * x * x for u, x in whole)
    spread = Fraction(second * total - first * first, total * steps**2)
    return total, Fraction(first, total * steps), spread


def assert_exact(rows: Rows, found: tuple[Int64, Float, Float, Float]) -> None:
    """Mean and tail together to 1e-12 of the range, M2 to 1e-12, whatever the offset.

    Around an offset, a mean has no finer neighbors than `step`, so that the deviations of equal
    values may differ from zero by it.
    """
    units, mean, tail, m2 = found
    for k in range(rows[2]):
        members = rows_of_class(rows, k)
        total, center, spread = exact(members)
        values = [x for u, x in members if u] or [Fraction(0)]
        step = Fraction(math.ulp(max(abs(x) for x in values)))
        assert units[k] == total
        reach = max(values) - min(values)
        assert abs(Fraction(mean[k]) + Fraction(tail[k]) - center) <= (reach + step) / 10**12
        assert mean[k] + tail[k] == mean[k]
        assert abs(Fraction(m2[k]) - spread) <= (spread + total * step**2) / 10**12


@st.composite
def labeled_numbers(draw: st.DrawFn) -> Rows:
    n = draw(st.integers(0, 12) | st.sampled_from([1, 127, 128, 129, 300]))
    n_classes = draw(st.integers(1, 4))
    offset = draw(st.sampled_from(OFFSETS))
    scale = draw(st.sampled_from([1.0, 1e-3, 1e6]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    odd = [*draw(st.lists(st.floats(-1, 1, width=32), max_size=5)), math.nan, 0.0, -0.0]
    share = draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
    numbers = rng.uniform(-1, 1, n).astype(np.float32).astype(np.float64)
    values = offset + scale * np.where(rng.random(n) < share, rng.choice(odd, n), numbers)
    classes = rng.integers(0, n_classes, n, dtype=np.int32)
    if not draw(st.booleans()):
        return values, classes, n_classes, None
    large = draw(st.sampled_from([0.0, 0.5, 1.0]))
    units = np.where(rng.random(n) < large, rng.integers(0, 2**40, n), rng.integers(0, 4, n))
    return values, classes, n_classes, units


@given(layouts, labeled_numbers())
def test_moments_equal_sums_of_fractions(layout: Layout, rows: Rows) -> None:
    values, classes, n_classes, units = rows
    assert_exact(rows, native.class_moments(layout(values), classes, n_classes, units))


def test_an_offset_costs_no_digits_of_the_spread() -> None:
    for offset in OFFSETS:
        # thirds of eighths, so that neither the sum nor the mean is a float64
        values = offset + np.arange(1000) % 7 / 8
        rows: Rows = (values, np.zeros(1000, dtype=np.int32), 1, None)
        assert_exact(rows, native.class_moments(*rows))


def test_a_class_of_equal_numbers_has_no_spread() -> None:
    values = np.full(1000, 0.1)
    _, mean, _, m2 = native.class_moments(values, np.zeros(1000, dtype=np.int32), 1, None)
    assert mean[0] == 0.1
    assert m2[0] <= 1000 * (0.1 * 2**-52) ** 2 * 1e-12


def test_many_classes_are_measured_apart() -> None:
    classes = np.repeat(np.arange(2000, dtype=np.int32), 2)
    values = classes + np.tile([-1.0, 1.0], 2000)
    units, mean, _, m2 = native.class_moments(values, classes, 2000, None)
    assert units.tolist() == [2] * 2000
    assert mean.tolist() == list(range(2000))
    assert m2.tolist() == [2.0] * 2000


def test_equal_values_are_their_mean_whatever_their_weights() -> None:
    units = np.array([3, 1, 5, 7, 11, 2, 9], dtype=np.int64)
    for value in (0.1, 1e8 + 0.1, -7.3e-5, 1 / 3, 1.7e308):
        values, classes = np.full(len(units), value), np.zeros(len(units), dtype=np.int32)
        _, mean, tail, m2 = native.class_moments(values, classes, 1, units)
        assert (mean[0], tail[0], m2[0]) == (value, 0.0, 0.0)
