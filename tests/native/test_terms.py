"""The loops of prediction against their obvious forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sortal import native

Array = np.ndarray[Any, Any]


@given(arrays(np.int32, st.integers(0, 300), elements=st.integers(-2, 6)), st.integers(1, 5))
def test_terms_are_added_row_by_row(codes: Array, n_classes: int) -> None:
    table = np.arange(7.0 * n_classes).reshape(7, n_classes) / 3
    total = np.ones((len(codes), n_classes))
    native.add_terms(total, table, codes)
    for i, v in enumerate(codes):
        assert total[i].tolist() == (1 + table[v] if v >= 0 else np.ones(n_classes)).tolist()


@given(
    st.lists(arrays(np.int64, 260, elements=st.integers(-6, 12)), min_size=0, max_size=3),
    st.integers(-5, 5),
)
def test_whole_numbers_are_looked_up(columns: list[Array], low: int) -> None:
    listed = np.array([3, -2, 1, 0], dtype=np.int32)
    codes = native.place_integers(columns, [(low, listed)] * len(columns), 260, -2)
    assert codes.shape == (len(columns), 260)
    for column, found in zip(columns, codes, strict=True):
        expected = [listed[x - low] if 0 <= x - low < 4 else -2 for x in column.tolist()]
        assert found.tolist() == expected


@pytest.mark.parametrize("low", [-(2**63), 2**63 - 2])
def test_the_ends_of_int64_can_be_looked_up(low: int) -> None:
    column = np.array([-(2**63), 2**63 - 1, 2**63 - 2, 0], dtype=np.int64)
    codes = native.place_integers([column], [(low, np.array([7, 8], dtype=np.int32))], 4, -2)
    assert codes[0].tolist() == [{low: 7, low + 1: 8}.get(x, -2) for x in column.tolist()]


def test_columns_of_a_row_major_matrix_are_read_in_place() -> None:
    matrix = np.random.default_rng(0).integers(0, 4, (1000, 3))
    matrix.flags.writeable = False
    ranks = (0, np.arange(4, dtype=np.int32))
    codes = native.place_integers([matrix[:, j] for j in range(3)], [ranks] * 3, 1000, -2)
    assert (matrix == codes.T).all()
