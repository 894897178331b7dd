"""Recoding by the values of a schema, against a dictionary."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sortal.data.columns import (
    MISSING,
    UNKNOWN,
    CategoryColumn,
    Column,
    IntegerColumn,
    Values,
    as_categories,
    recode_columns,
)

CLOSE = st.integers(-5, 5)
FAR = st.integers(-(2**63), 2**63 - 1)
LISTED = st.lists(st.one_of(CLOSE, FAR, st.sampled_from(["a", 0.5])), unique=True, max_size=6)


def integers(*numbers: int) -> IntegerColumn:
    return IntegerColumn(np.array(numbers, dtype=np.int64))


def oracle(column: Column, values: Values) -> list[int]:
    """A value at a time; the list may be in any order."""
    ranked = as_categories(column)
    cells = [None if code == MISSING else ranked.values[code] for code in ranked.codes]
    place = {value: v for v, value in enumerate(values)}
    return [MISSING if cell is None else place.get(cell, UNKNOWN) for cell in cells]


@given(st.lists(st.one_of(CLOSE, FAR), max_size=12), LISTED)
def test_whole_numbers_are_found_in_any_list(
    numbers: list[int], listed: list[int | str | float]
) -> None:
    column, values = integers(*numbers), tuple(listed)
    assert recode_columns([column], [values], len(numbers)).tolist() == [oracle(column, values)]


def test_unusual_lists_are_looked_up_too() -> None:
    column = integers(2, 1, 0, 9, -(2**63), 2**63 - 1)
    lists: list[Values] = [(1, 2, 3), (3, 1, 2), (False, True), (2**63, 2**63 + 1), (1, 2**40), ()]
    for values in (*lists, (-(2**70), 1)):
        found = recode_columns([column], [values], 6).tolist()
        assert found == [oracle(column, values)], values


def test_each_column_has_its_own_list() -> None:
    words = CategoryColumn(("a", "b"), np.array([1, MISSING, 0], dtype=np.int32))
    columns: list[Column] = [integers(7, 8, 9), words, integers(0, 1, 0)]
    codes = recode_columns(columns, [(9, 7), ("b",), (0, 1)], 3)
    assert codes.tolist() == [[1, UNKNOWN, 0], [0, MISSING, UNKNOWN], [0, 1, 0]]
    assert recode_columns([], [], 3).shape == (0, 3)
