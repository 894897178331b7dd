"""Recoding: a block's categories by the values of a fitted schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal import native
from sortal.data.columns import UNKNOWN, Column, IntegerColumn, as_categories

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal.data.values import Values

    Codes = NDArray[np.int32]


def recode_columns(columns: Sequence[Column], listed: Sequence[Values], n_rows: int) -> Codes:
    """codes[place, i]: the rank of row i's value in listed[place]; HOLE or UNKNOWN below zero."""
    codes = np.empty((len(columns), n_rows), dtype=np.int32)
    direct: list[int] = []
    lists: list[tuple[int, Codes]] = []
    for place, (column, values) in enumerate(zip(columns, listed, strict=True)):
        found = _lookup(values) if isinstance(column, IntegerColumn) else None
        if found is not None:
            direct.append(place)
            lists.append(found)
        else:
            at = {value: v for v, value in enumerate(values)}
            codes[place] = as_categories(column).recode(at)
    numbers = [columns[place].numbers for place in direct]  # type: ignore[union-attr]
    codes[direct] = native.place_integers(numbers, lists, n_rows, UNKNOWN)
    return codes


def _lookup(values: Values) -> tuple[int, Codes] | None:
    """Whole numbers that lie close are looked up by position, without ranking the rows."""
    if not values or not all(isinstance(value, int) for value in values):
        return None
    whole = [int(value) for value in values]
    low, high = min(whole), max(whole)  # a declared order need not rise
    if high - low >= native.MAX_SPAN or low < -(2**63) or high >= 2**63:
        return None
    codes = np.full(high - low + 1, UNKNOWN, dtype=np.int32)
    codes[[value - low for value in whole]] = np.arange(len(whole))
    return low, codes
