"""Linear functions of rows against the obvious loop, digit for digit."""

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
    """What `map_rows` is called with, but for `out`."""

    columns: list[Float]
    codes: list[Int32]
    sizes: list[int]
    center: Float
    weights: Float
    offsets: Float
    n: int

    def __call__(self) -> tuple[int, Float]:
        out = np.full((self.n, len(self.offsets)), -7.0)
        given = self.columns, self.codes, self.sizes, self.center, self.weights, self.offsets
        return native.map_rows(*given, out), out


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


def expected(call: Call) -> tuple[int, list[list[float]]]:
    n_strange, rows = 0, []
    for i in range(call.n):
        x = [float(column[i]) for column in call.columns]
        for codes, size in zip(call.codes, call.sizes, strict=True):
            hole = codes[i] < 0
            x += [math.nan if hole else float(codes[i] == v) for v in range(size)]
        z = [a - b for a, b in zip(x, call.center.tolist(), strict=True)]
        if all(map(math.isfinite, z)):
            functions = zip(call.offsets.tolist(), call.weights.tolist(), strict=True)
            rows.append([offset + dot(z, w) for offset, w in functions])
        else:
            n_strange += 1
            rows.append([math.nan] * len(call.offsets))
    return n_strange, rows


def make(seed: int, n: int, n_numbers: int, sizes: list[int], m: int, strange: bool) -> Call:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, n_numbers)), 3)
    if strange and n_numbers:
        X[rng.random(X.shape) < 0.05] = np.nan
        X[rng.random(X.shape) < 0.02] = np.inf
    codes = [rng.integers(-1 if strange else 0, size, n, dtype=np.int32) for size in sizes]
    p = n_numbers + sum(sizes)
    weights, offsets = rng.normal(size=(m, p)), rng.normal(size=m)
    return Call([X[:, j] for j in range(n_numbers)], codes, sizes, rng.normal(size=p), weights,
                offsets, n)  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(0, 200),
    st.integers(0, 20),
    st.lists(st.integers(1, 4), max_size=3),
    st.integers(1, 6),
    st.booleans(),
)
def test_as_the_obvious_loop_does(
    seed: int, n: int, n_numbers: int, sizes: list[int], m: int, strange: bool
) -> None:
    call = make(seed, n, n_numbers, sizes, m, strange)
    n_strange, rows = expected(call)
    found, out = call()
    assert found == n_strange
    assert np.array_equal(out, np.array(rows).reshape(out.shape), equal_nan=True)


def test_wherever_the_columns_lie(layout: Layout) -> None:
    call = make(3, 150, 9, [3], 4, strange=True)
    moved = replace(call, columns=[layout(x) for x in call.columns])
    moved = replace(moved, codes=[layout(x) for x in call.codes])
    assert np.array_equal(moved()[1], call()[1], equal_nan=True)


def test_a_class_that_cannot_be_stays_impossible() -> None:
    call = make(4, 10, 3, [], 2, strange=False)
    call.offsets[1] = -np.inf
    assert np.isneginf(call()[1][:, 1]).all()
    assert np.isfinite(call()[1][:, 0]).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"center": np.zeros(2)}, "center is not of one number a term"),
        ({"weights": np.zeros((2, 2))}, "weights are not of one number a term"),
        ({"weights": np.zeros((3, 5))}, "weights and out differ in functions"),
        ({"sizes": [1]}, "center is not of one number a term"),
        ({"n": 11}, "out has more rows than the columns"),
        ({"codes": [np.full(10, 2, dtype=np.int32)]}, "a code is too large"),
        ({"codes": [np.zeros(9, dtype=np.int32)]}, "columns and codes differ in length"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, Any], message: str) -> None:
    call = make(5, 10, 3, [2], 2, strange=False)
    with pytest.raises(ValueError, match=message):
        replace(call, **change)()
