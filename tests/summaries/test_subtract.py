"""Rows are taken out of the moments of columns to the last digits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.summaries.blocks import build_batch

from sortal.summaries.moments import ColumnMoments, measure_columns

if TYPE_CHECKING:
    from collections.abc import Sequence


def measure(*numbers: Sequence[float]) -> ColumnMoments:
    """One class; columns n0, n1, …"""
    names = [f"n{j}" for j in range(len(numbers))]
    batch = build_batch(["a"] * len(numbers[0]), [], numbers)
    return measure_columns(batch, range(len(numbers)), names)


def test_a_row_is_taken_out_to_the_last_digits() -> None:
    numbers = [0.1 * i for i in range(50)]
    rest, row = measure(numbers[1:]), measure(numbers[:1])
    found = measure(numbers).subtract(row)
    np.testing.assert_allclose(found.mean, rest.mean, rtol=1e-14)
    np.testing.assert_allclose(found.m2, rest.m2, rtol=1e-13)


@pytest.mark.parametrize("offset", [1e8, 1e12, 1e15])
def test_far_from_zero_rows_are_taken_out_as_sharply(offset: float) -> None:
    rest = measure([offset, offset + 1, offset + 3])
    part = measure([offset + 7, offset + 8, offset + 8])
    found = rest.merge(part).subtract(part)
    np.testing.assert_allclose(found.m2, rest.m2, rtol=1e-12)
    assert found.mean.tolist() == rest.mean.tolist()


@pytest.mark.parametrize("value", [0.0, 0.1, 1e8 / 3])
def test_rows_of_a_column_that_never_varies_can_be_taken_out(value: float) -> None:
    whole, part = measure([value] * 7), measure([value] * 3)
    found = whole.merge(part).subtract(part).subtract(part)
    assert found.units.tolist() == [[4]]
    # exactly: equal numbers have no spread, in any number of merges
    assert (found.mean.tolist(), found.tail.tolist()) == ([[value]], [[0.0]])
    assert (found.m2.tolist(), found.slack.tolist()) == ([[0.0]], [[0.0]])
