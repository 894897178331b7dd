"""Rows of numbers and codes for the loops that map them, and what one row is as plain numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tests.native.layouts import Layout

Float = NDArray[np.float64]
Int32 = NDArray[np.int32]


@dataclass(frozen=True)
class Rows:
    """Columns of numbers, and of codes with their numbers of values; each value is a term."""

    columns: list[Float]
    codes: list[Int32]
    sizes: list[int]
    n: int

    @property
    def arguments(self) -> tuple[list[Float], list[Int32], list[int]]:
        return self.columns, self.codes, self.sizes

    @property
    def n_terms(self) -> int:
        return len(self.columns) + sum(self.sizes)

    def laid(self, layout: Layout) -> Rows:
        columns: Any = [layout(x) for x in self.columns]
        codes: Any = [layout(x) for x in self.codes]
        return Rows(columns, codes, self.sizes, self.n)

    def row(self, i: int) -> list[float]:
        x = [float(column[i]) for column in self.columns]
        for codes, size in zip(self.codes, self.sizes, strict=True):
            x += [math.nan if codes[i] < 0 else float(codes[i] == v) for v in range(size)]
        return x


def make_rows(
    rng: np.random.Generator, n: int, n_numbers: int, sizes: list[int], *, strange: bool
) -> Rows:
    """Where they may be strange, some numbers are missing or infinite, and some codes missing."""
    X = np.round(rng.normal(size=(n, n_numbers)), 3)
    if strange and n_numbers:
        X[rng.random(X.shape) < 0.05] = np.nan
        X[rng.random(X.shape) < 0.02] = np.inf
    codes = [rng.integers(-1 if strange else 0, size, n, dtype=np.int32) for size in sizes]
    return Rows([X[:, j] for j in range(n_numbers)], codes, sizes, n)


@st.composite
def seeded_rows(draw: st.DrawFn, most_rows: int) -> tuple[Rows, np.random.Generator]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, n_numbers = draw(st.integers(0, most_rows)), draw(st.integers(0, 20))
    sizes = draw(st.lists(st.integers(1, 4), max_size=3))
    return make_rows(rng, n, n_numbers, sizes, strange=draw(st.booleans())), rng
