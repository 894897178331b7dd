"""Squared distances of rows against the obvious loop, digit for digit."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.native.layouts import LAYOUTS
from tests.native.rows import Float, Rows, make_rows, seeded_rows

from sortal import native

Means = tuple[Float, Float, Float]


def means(rng: np.random.Generator, p: int, K: int, r: int) -> Means:
    """Centers with their rests, and triangles of r columns."""
    centers, rests = rng.normal(size=(2, K, p))
    return centers, 1e-3 * rests, np.tril(rng.normal(size=(K, p, p)))[:, :, :r].copy()


def squared(rows: Rows, given: Means, wide: bool = True) -> tuple[int, Float]:
    out = np.full((rows.n, len(given[0])), 7.0)
    return native.square_rows(*rows.arguments, *given, wide=wide, out=out), out


def length(z: list[float], triangle: list[list[float]]) -> float:
    """Column by column from the diagonal down; squares in fours, so that the digits are known."""
    r = len(triangle[0]) if triangle else 0
    total = 0.0
    for first in range(0, r, 4):
        squares = []
        for j in range(first, first + 4):
            y = 0.0
            # above the diagonal there is nothing to be read, within a four there are zeros
            for i in range(first, len(z)):
                y += (triangle[i][j] if j < r else 0.0) * z[i]
            squares.append(y * y)
        total += (squares[0] + squares[1]) + (squares[2] + squares[3])
    return total


def expected(rows: Rows, given: Means) -> list[list[float]]:
    """The answer, one row at a time."""
    found = []
    for i in range(rows.n):
        x, row = rows.row(i), []
        for center, rest, triangle in zip(*(part.tolist() for part in given), strict=True):
            z = [(a - b) - c for a, b, c in zip(x, center, rest, strict=True)]
            row.append(length(z, triangle) if all(map(math.isfinite, x)) else math.nan)
        found.append(row)
    return found


@given(seeded_rows(40), st.integers(1, 4))
def test_as_the_obvious_loop_does(seeded: tuple[Rows, np.random.Generator], K: int) -> None:
    rows, rng = seeded
    given = means(rng, rows.n_terms, K, int(rng.integers(0, rows.n_terms + 1)))
    wanted = np.array(expected(rows, given)).reshape(rows.n, K)
    for wide in (True, False):
        n_strange, out = squared(rows, given, wide)
        np.testing.assert_array_equal(out, wanted)
        assert n_strange == np.isnan(wanted[:, 0]).sum()


def test_the_lengths_are_those_of_a_product_wherever_the_columns_lie() -> None:
    rng = np.random.default_rng(6)
    rows, (centers, rests, triangles) = (
        make_rows(rng, 100, 9, [3], strange=False),
        means(rng, 12, 3, 12),
    )
    X = np.column_stack([*rows.columns, np.eye(3)[rows.codes[0]]])
    y = np.einsum("nki,kij->nkj", X[:, None] - centers - rests, triangles)
    out = squared(rows, (centers, rests, triangles))[1]
    # sums of 12 products of numbers near 1: rounding takes some 1e-15 of their squares
    np.testing.assert_allclose(out, (y * y).sum(axis=2), rtol=1e-12)
    for name, layout in LAYOUTS.items():
        again = squared(rows.laid(layout), (centers, rests, triangles))[1]
        np.testing.assert_array_equal(again, out, err_msg=name)
