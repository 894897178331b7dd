"""Linear functions of rows against the obvious loop, digit for digit."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.native.layouts import LAYOUTS
from tests.native.rows import Float, Rows, make_rows, seeded_rows

from sortal import native


def mapped(rows: Rows, center: Float, weights: Float, offsets: Float) -> tuple[int, Float]:
    out = np.full((rows.n, len(offsets)), -7.0)
    return native.map_rows(*rows.arguments, center, weights, offsets, out), out


def dot(z: list[float], w: list[float]) -> float:
    """In eight lanes, what is left over apart, and a fixed order, so that the digits are known."""
    lanes, rest = [0.0] * 8, 0.0
    for j, (x, y) in enumerate(zip(z, w, strict=True)):
        if j < len(z) // 8 * 8:
            lanes[j % 8] += x * y
        else:
            rest += x * y
    a, b, c, d, e, f, g, h = lanes
    return ((a + b) + (c + d)) + ((e + f) + (g + h)) + rest


def expected(rows: Rows, center: Float, weights: Float, offsets: Float) -> list[list[float]]:
    found = []
    for i in range(rows.n):
        z = [a - b for a, b in zip(rows.row(i), center.tolist(), strict=True)]
        functions = zip(offsets.tolist(), weights.tolist(), strict=True)
        fine = all(map(math.isfinite, z))
        found.append([offset + dot(z, w) if fine else math.nan for offset, w in functions])
    return found


@given(seeded_rows(200), st.integers(1, 6))
def test_as_the_obvious_loop_does(seeded: tuple[Rows, np.random.Generator], m: int) -> None:
    rows, rng = seeded
    center, weights = rng.normal(size=rows.n_terms), rng.normal(size=(m, rows.n_terms))
    offsets = rng.normal(size=m)
    n_strange, out = mapped(rows, center, weights, offsets)
    wanted = np.array(expected(rows, center, weights, offsets)).reshape(out.shape)
    np.testing.assert_array_equal(out, wanted)
    assert n_strange == np.isnan(wanted[:, 0]).sum()


def test_wherever_the_columns_lie_and_where_a_class_cannot_be() -> None:
    rng = np.random.default_rng(3)
    rows = make_rows(rng, 150, 9, [3], strange=True)
    center, weights = rng.normal(size=12), rng.normal(size=(4, 12))
    offsets = np.array([0.5, -np.inf, 1.0, 2.0])
    _, out = mapped(rows, center, weights, offsets)
    fine = ~np.isnan(out[:, 0])
    assert np.isneginf(out[fine, 1]).all()
    assert np.isfinite(out[fine][:, [0, 2, 3]]).all()
    for name, layout in LAYOUTS.items():
        again = mapped(rows.laid(layout), center, weights, offsets)[1]
        np.testing.assert_array_equal(again, out, err_msg=name)
