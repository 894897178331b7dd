"""Squared distances of rows against the obvious loop, digit for digit."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sortal import native

if TYPE_CHECKING:
    from collections.abc import Callable

    Layout = Callable[[NDArray[Any]], NDArray[Any]]

Int32 = NDArray[np.int32]
Float = NDArray[np.float64]


@dataclass(frozen=True)
class Call:
    """What `square_rows` is called with, but for `out`."""

    columns: list[Float]
    codes: list[Int32]
    sizes: list[int]
    centers: Float
    rests: Float
    triangles: Float
    n: int

    def __call__(self, wide: bool = True) -> tuple[int, Float]:
        out = np.full((self.n, len(self.triangles)), 7.0)
        rows, means = (self.columns, self.codes, self.sizes), (self.centers, self.rests)
        return native.square_rows(*rows, *means, self.triangles, out, wide), out


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


def expected(call: Call) -> tuple[int, list[list[float]]]:
    """The answer, one row at a time."""
    n_strange, rows = 0, []
    for i in range(call.n):
        x = [float(column[i]) for column in call.columns]
        for codes, size in zip(call.codes, call.sizes, strict=True):
            hole = codes[i] < 0
            x += [math.nan if hole else float(codes[i] == v) for v in range(size)]
        if all(map(math.isfinite, x)):
            row = []
            for center, rest, triangle in zip(
                call.centers.tolist(), call.rests.tolist(), call.triangles.tolist(), strict=True
            ):
                z = [(a - b) - c for a, b, c in zip(x, center, rest, strict=True)]
                row.append(length(z, triangle))
            rows.append(row)
        else:
            n_strange += 1
            rows.append([math.nan] * len(call.centers))
    return n_strange, rows


def make(seed: int, n: int, n_numbers: int, sizes: list[int], K: int, strange: bool) -> Call:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, n_numbers)), 3)
    if strange and n_numbers:
        X[rng.random(X.shape) < 0.05] = np.nan
        X[rng.random(X.shape) < 0.02] = np.inf
    codes = [rng.integers(-1 if strange else 0, size, n, dtype=np.int32) for size in sizes]
    p = n_numbers + sum(sizes)
    r = int(rng.integers(0, p + 1))
    triangles = np.tril(rng.normal(size=(K, p, p)))[:, :, :r].copy()
    columns = [X[:, j] for j in range(n_numbers)]
    centers, rests = rng.normal(size=(2, K, p))
    return Call(columns, codes, sizes, centers, 1e-3 * rests, triangles, n)


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(0, 40),
    st.integers(0, 13),
    st.lists(st.integers(1, 4), max_size=3),
    st.integers(1, 4),
    st.booleans(),
)
def test_as_the_obvious_loop_does(
    seed: int, n: int, n_numbers: int, sizes: list[int], K: int, strange: bool
) -> None:
    call = make(seed, n, n_numbers, sizes, K, strange)
    n_strange, rows = expected(call)
    for wide in (True, False):
        found, out = call(wide)
        assert found == n_strange
        assert np.array_equal(out, np.array(rows).reshape(out.shape), equal_nan=True)


def test_the_lengths_are_those_of_a_product() -> None:
    call = make(6, 100, 9, [3], 3, strange=False)
    call = replace(call, triangles=np.tril(np.random.default_rng(7).normal(size=(3, 12, 12))))
    X = np.column_stack([*call.columns, np.eye(3)[call.codes[0]]])
    y = np.einsum("nki,kij->nkj", X[:, None] - call.centers - call.rests, call.triangles)
    assert np.allclose(call()[1], (y * y).sum(axis=2), rtol=1e-12)


def test_wherever_the_columns_lie(layout: Layout) -> None:
    call = make(3, 150, 9, [3], 4, strange=True)
    moved = replace(call, columns=[layout(x) for x in call.columns])
    moved = replace(moved, codes=[layout(x) for x in call.codes])
    assert np.array_equal(moved()[1], call()[1], equal_nan=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"centers": np.zeros((2, 2))}, "centers are not of one number a term"),
        ({"rests": np.zeros((3, 5))}, "rests are not as centers are"),
        (
            {"centers": np.zeros((3, 5)), "rests": np.zeros((3, 5))},
            "centers and out differ in number",
        ),
        ({"triangles": np.zeros((2, 4, 4))}, "triangles are not of one row a term"),
        ({"triangles": np.zeros((2, 5, 6))}, "triangles have more columns than there are terms"),
        ({"sizes": [1]}, "centers are not of one number a term"),
        ({"n": 11}, "out has more rows than the columns"),
        ({"codes": [np.full(10, 2, dtype=np.int32)]}, "a code is too large"),
        ({"codes": [np.zeros(9, dtype=np.int32)]}, "columns and codes differ in length"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, Any], message: str) -> None:
    call = make(5, 10, 3, [2], 2, strange=False)
    with pytest.raises(ValueError, match=message):
        replace(call, **change)()
