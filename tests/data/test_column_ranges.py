"""Ranges of columns, whatever their order in memory."""

from __future__ import annotations

import numpy as np

from sortal.data.columns import column_ranges


def test_ranges_are_those_of_each_column() -> None:
    for n in (1, 7, 4095, 4096, 4097, 10_000):
        cells = np.random.default_rng(n).normal(size=(n, 3))
        cells[-1] = [9.0, -9.0, 0.0]
        for X in (cells, np.asfortranarray(cells)):
            expected = [(float(x.min()), float(x.max())) for x in X.T]
            assert column_ranges([X[:, j] for j in range(3)]) == expected, n
    assert column_ranges([]) == []
