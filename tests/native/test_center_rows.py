"""Rows about an origin against the obvious loop, digit for digit."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.native.layouts import Layout, layouts

from sortal import native

if TYPE_CHECKING:
    from collections.abc import Callable

Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Float = NDArray[np.float64]


@dataclass(frozen=True)
class Call:
    """What `center_rows` is called with, but for `out`."""

    columns: list[Float]
    codes: list[Int32]
    sizes: list[int]
    rows: Int64 | None
    origin: Float
    fill: Float | None
    scale: Float | None
    n_out: int

    def __call__(self) -> tuple[int, Float]:
        out = np.full((self.n_out, len(self.origin) + 2), -7.0)
        given = self.columns, self.codes, self.sizes, self.rows, self.origin, self.fill, self.scale
        return native.center_rows(*given, out), out


def squared_lengths(z: Float) -> Float:
    """In eight lanes, what is left over apart, and a fixed order, so that the digits are known.

    z has a row a term; a row of the table is a column here.
    """
    lanes, rest = np.zeros((8, z.shape[1])), np.zeros(z.shape[1])
    for j, x in enumerate(z):
        if j < len(z) // 8 * 8:
            lanes[j % 8] += x * x
        else:
            rest += x * x
    a, b, c, d, e, f, g, h = lanes
    lengths: Float = ((a + b) + (c + d)) + ((e + f) + (g + h)) + rest
    return lengths


def expected_terms(call: Call, rows: Int64) -> Float:
    """The chosen rows about the origin, a row a term."""
    fill = np.full(len(call.origin), math.nan) if call.fill is None else call.fill
    x = [column[rows] for column in call.columns]
    x = [np.where(np.isnan(numbers), fill[j], numbers) for j, numbers in enumerate(x)]
    for codes, size in zip(call.codes, call.sizes, strict=True):
        code, at = codes[rows], len(x)
        x += [np.where(code >= 0, code == v, fill[at + v]) for v in range(size)]
    terms: Float = np.array(x).reshape(len(call.origin), len(rows)) - call.origin[:, None]
    return terms


def expected(call: Call) -> tuple[int, Float]:
    rows = np.arange(call.n_out) if call.rows is None else call.rows
    z = expected_terms(call, rows)
    lengths = squared_lengths(z)
    times = np.ones(call.n_out) if call.scale is None else call.scale
    out: Float = times * np.vstack([z, np.ones((1, call.n_out)), lengths[None]])
    return int((~np.isfinite(lengths)).sum()), out.T


def assert_as_expected(call: Call) -> None:
    with np.errstate(all="ignore"):
        bad, out = expected(call)
    found, numbers = call()
    assert found == bad
    np.testing.assert_array_equal(numbers, out)
    assert (np.signbit(numbers) == np.signbit(out))[~np.isnan(out)].all()


@st.composite
def calls(draw: st.DrawFn) -> Call:
    """Shapes, the odd numbers and their share are drawn; where they stand is for a seed to say."""
    n = draw(st.sampled_from([0, 1, 2, 9, 127, 128, 129, 300]))
    n_columns, n_codes = draw(st.integers(0, 19)), draw(st.integers(0, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    odd = draw(st.lists(st.floats(-100, 100, width=32), min_size=1, max_size=6))
    if draw(st.booleans()):
        odd += [math.nan, 0.0, -0.0, 1e8, 1 / 3]
    share = draw(st.sampled_from([0.0, 0.05, 0.5, 1.0]))
    numbers = rng.uniform(-100, 100, (n_columns, n)).astype(np.float32).astype(np.float64)
    numbers = np.where(rng.random(numbers.shape) < share, rng.choice(odd, numbers.shape), numbers)
    sizes = draw(st.lists(st.integers(0, 9), min_size=n_codes, max_size=n_codes))
    lowest = draw(st.sampled_from([-2, 0]))
    codes = [
        rng.integers(lowest, s, n, dtype=np.int32) if s else np.full(n, -1, dtype=np.int32)
        for s in sizes
    ]
    n_terms = n_columns + sum(sizes)
    rows = None
    if n and draw(st.booleans()):
        rows = rng.integers(0, n, draw(st.integers(0, 300)))
    n_out = draw(st.integers(0, n)) if rows is None else len(rows)
    return Call(
        [numbers[j].copy() for j in range(n_columns)],
        codes,
        sizes,
        rows,
        centers(rng, n_terms),
        centers(rng, n_terms) if draw(st.booleans()) else None,
        np.where(rng.random(n_out) < 0.1, 0.0, rng.uniform(0, 5, n_out))
        if draw(st.booleans())
        else None,
        n_out,
    )


def centers(rng: np.random.Generator, n: int) -> Float:
    """Some of them zeros of either sign, or whole."""
    return np.where(rng.random(n) < 0.3, rng.choice([0.0, -0.0, 1.0, -10.0], n),
                    rng.uniform(-10, 10, n))  # fmt: skip


@given(layouts, calls())
def test_columns_anywhere_in_memory(layout: Layout, call: Call) -> None:
    columns: Any = [layout(x) for x in call.columns]
    codes: Any = [layout(x) for x in call.codes]
    assert_as_expected(replace(call, columns=columns, codes=codes))


MATRICES: dict[str, Callable[[Float], list[Float]]] = {
    "row-major": lambda m: list(np.ascontiguousarray(m).T),
    "column-major": lambda m: list(np.asfortranarray(m).T),
    "part of a wider matrix": lambda m: list(np.hstack([m, m + 1, m])[:, : m.shape[1]].T),
    "every other row": lambda m: list(np.repeat(m, 2, axis=0)[::2].T),
    "upside down": lambda m: list(m[::-1].copy()[::-1].T),
    "columns in reverse": lambda m: list(m[:, ::-1].copy().T[::-1]),
    "every other column": lambda m: list(np.repeat(m, 2, axis=1)[:, ::2].T),
    "one alone": lambda m: [*m.T[:-1], *(x.copy() for x in m.T[-1:])],
}


@given(st.sampled_from(list(MATRICES)), calls())
def test_columns_of_one_matrix(matrix: str, call: Call) -> None:
    if call.columns:
        lying = MATRICES[matrix](np.stack(call.columns, axis=1))
        assert_as_expected(replace(call, columns=lying))


def test_the_same_column_twice_or_two_strides_are_no_matrix() -> None:
    x = np.arange(40.0)
    for columns in ([x, x], [x[:10], x[1::2][:10]]):
        assert_as_expected(Call(columns, [], [], None, np.array([1.0, 2.0]), None, None, 10))


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, 1e200])
def test_rows_whose_length_is_not_finite_are_counted(number: float) -> None:
    for at, apart in product((0, 4, 8), (False, True)):
        x = np.ones((300, 9))
        x[[3, 127, 128, 299], at] = number
        columns = list(x.T.copy() if apart else x.T)
        call = Call(columns, [], [], None, np.zeros(9), None, None, 300)
        assert call()[0] == 4
        assert_as_expected(call)


def test_rows_that_are_not_chosen_are_not_counted() -> None:
    x = np.array([1.0, math.nan, 2.0])
    call = Call([x], [], [], np.array([2, 0, 2]), np.zeros(1), None, None, 3)
    bad, out = call()
    assert bad == 0
    assert out.tolist() == [[2.0, 1.0, 4.0], [1.0, 1.0, 1.0], [2.0, 1.0, 4.0]]


def test_filled_missing_values_are_finite_and_infinities_are_not_filled() -> None:
    x, codes = np.array([math.nan, math.inf, 5.0]), np.array([0, 1, -2], dtype=np.int32)
    fill, origin = np.array([4.0, 0.25, 0.75]), np.array([1.0, 0.0, 0.5])
    bad, out = Call([x], [codes], [2], None, origin, fill, None, 3)()
    assert bad == 1
    assert out[0].tolist() == [3.0, 1.0, -0.5, 1.0, 10.25]
    assert out[2, :3].tolist() == [4.0, 0.25, 0.25]


def test_the_length_does_not_see_the_scale() -> None:
    """It is scaled as the other entries are, once."""
    x, scale = np.array([3.0]), np.array([2.0])
    assert Call([x], [], [], None, np.zeros(1), None, scale, 1)()[1].tolist() == [[6.0, 2.0, 18.0]]


def test_rows_without_terms_still_count() -> None:
    assert Call([], [], [], None, np.zeros(0), None, None, 2)()[1].tolist() == [[1.0, 0.0]] * 2


def test_a_code_beyond_its_size_in_a_row_that_is_not_chosen_does_no_harm() -> None:
    x, codes = np.array([1.0, 2.0, 3.0]), np.array([0, 9, 1], dtype=np.int32)
    rows, zeros = np.array([0, 2]), np.zeros(3)
    assert_as_expected(Call([x], [codes], [2], rows, zeros, zeros, np.ones(2), 2))
