"""Columns of a block: ranks against a sorted set, missing values, and codes by another list."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sortal.data.columns import (
    MISSING,
    UNKNOWN,
    CategoryColumn,
    Column,
    IntegerColumn,
    NumberColumn,
    as_categories,
    rank_array,
)

INT64 = st.integers(-(2**63), 2**63 - 1)


def ranks_of(items: list[int]) -> list[int]:
    return [sorted(set(items)).index(item) for item in items]


@given(st.lists(st.one_of(st.integers(-5, 5), INT64), max_size=30))
def test_whole_numbers_are_ranked_as_in_a_sorted_set(items: list[int]) -> None:
    column = IntegerColumn(np.array(items, dtype=np.int64)).ranked()
    assert column.values == tuple(sorted(set(items)))
    assert column.codes.tolist() == ranks_of(items)
    assert all(type(value) is int for value in column.values)


def test_any_strides_are_ranked() -> None:
    for view in (np.arange(12)[::-1], np.arange(24)[::2], np.broadcast_to(np.int64(7), 12)):
        assert IntegerColumn(view).ranked().codes.tolist() == ranks_of(view.tolist())


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=12))
def test_an_array_is_ranked_around_its_missing_values(cells: list[tuple[str, bool]]) -> None:
    words = np.array([word for word, _ in cells], dtype="U1")
    missing = np.array([absent for _, absent in cells], dtype=bool)
    column = rank_array(words, missing)
    ranked = sorted({word for word, absent in cells if not absent})
    assert column.values == tuple(ranked)
    assert column.codes.tolist() == [
        MISSING if absent else ranked.index(word) for word, absent in cells
    ]


def test_values_have_the_types_of_python_and_codes_are_int32() -> None:
    for array, values in (
        (np.array([2.0, 0.5, -0.0]), (0, 0.5, 2)),
        (np.array([True, False]), (False, True)),
        (np.array(["a"]), ("a",)),
    ):
        found = rank_array(array)
        assert found.values == values
        assert [type(value) for value in found.values] == [type(value) for value in values]
        assert found.codes.dtype == np.int32
    assert IntegerColumn(np.array([1])).ranked().codes.dtype == np.int32


def test_recoding_keeps_missing_values_and_marks_the_unknown() -> None:
    column = CategoryColumn(("a", "b", "c"), np.array([2, MISSING, 0, 1], dtype=np.int32))
    assert column.recode({"c": 0, "a": 5}).tolist() == [0, MISSING, 5, UNKNOWN]
    empty = CategoryColumn((), np.full(3, MISSING, dtype=np.int32))
    assert empty.recode({"a": 0}).tolist() == [MISSING] * 3


def test_missing_values_are_known_in_every_form() -> None:
    forms: list[Column] = [
        NumberColumn(np.array([1.0, np.nan])),
        CategoryColumn(("a",), np.array([0, MISSING], dtype=np.int32)),
        IntegerColumn(np.array([1, 2])),
    ]
    assert [form.missing().tolist() for form in forms] == [
        [False, True],
        [False, True],
        [False] * 2,
    ]
    assert [len(form) for form in forms] == [2, 2, 2]


def test_whole_numbers_become_categories_when_asked() -> None:
    column = as_categories(IntegerColumn(np.array([30, 10, 30])))
    assert column.values == (10, 30)
    assert as_categories(column) is column
