"""Numbers that are not finite are counted, however they lie in memory."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import pytest

from sortal import native

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Columns = list[NDArray[np.float64]]

N = 21


def columns_of(layout: str, table: NDArray[np.float64]) -> Columns:
    wide = np.zeros((2 * len(table), 2 * table.shape[1]))
    wide[::2, ::2] = table
    laid = {"rows": table, "columns": np.asfortranarray(table), "strided": wide[::2, ::2]}[layout]
    return [laid[:, j] for j in range(table.shape[1])]


@pytest.mark.parametrize("layout", ["rows", "columns", "strided"])
def test_it_is_found_wherever_it_lies(layout: str) -> None:
    for bad, place in product((np.nan, np.inf, -np.inf), (0, 7, 8, N - 2, N - 1)):
        table = np.random.default_rng(0).normal(size=(N, 3))
        table[place, 1] = bad
        told = 1 if np.isnan(bad) else -1
        assert native.count_missing(columns_of(layout, table)) == [0, told, 0], (bad, place)
    large = np.full((N, 2), 1.7e308)  # their sum is not finite
    large[::2, 1] *= -1
    assert native.count_missing(columns_of(layout, large)) == [0, 0]


def test_no_columns_and_no_rows() -> None:
    assert native.count_missing([]) == []
    assert native.count_missing([np.empty(0), np.empty(0)]) == [0, 0]


@pytest.mark.parametrize("layout", ["rows", "columns", "strided"])
def test_missing_values_are_counted_and_infinities_told(layout: str) -> None:
    rng = np.random.default_rng(0)
    table = rng.normal(size=(1000, 4))
    table[rng.random(table.shape) < 0.3] = np.nan
    table[7, 3] = -np.inf
    expected = [*np.isnan(table[:, :3]).sum(axis=0).tolist(), -1]
    assert native.count_missing(columns_of(layout, table)) == expected
