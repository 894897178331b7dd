"""Ranges of columns, whatever their order in memory."""

from __future__ import annotations

import numpy as np
import pytest

from sortal.data.ranges import column_ranges


@pytest.mark.parametrize("n", [1, 7, 4095, 4096, 4097, 10_000])
@pytest.mark.parametrize("order", ["C", "F"])
def test_ranges_are_those_of_each_column(n: int, order: str) -> None:
    cells = np.random.default_rng(n).normal(size=(n, 3))
    cells[-1] = [9.0, -9.0, 0.0]
    X = np.array(cells, order="C" if order == "C" else "F")
    expected = [(float(x.min()), float(x.max())) for x in X.T]
    assert column_ranges([X[:, j] for j in range(3)]) == expected


def test_no_columns_have_no_ranges() -> None:
    assert column_ranges([]) == []
