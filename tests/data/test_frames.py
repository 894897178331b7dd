"""Data frames: the types of each library, declared values, names and row indexes."""

import datetime as dt
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sortal.data.columns import as_categories
from sortal.data.schema import ColumnSchema
from sortal.data.table import read_table
from sortal.errors import ColumnError, InputTypeError

Cells: TypeAlias = list[Any]

CHUNKS = [pa.array(["b", None]), pa.array(["a", "b"])]
SOME_WORDS: dict[str, Any] = {
    "pandas str": pd.Series(["b", None, "a", "b"], dtype="str"),
    "pandas string": pd.Series(["b", None, "a", "b"], dtype="string"),
    "pandas objects": pd.Series(["b", np.nan, "a", "b"], dtype=object),
    "pandas arrow": pd.Series(["b", None, "a", "b"], dtype="string[pyarrow]"),
    "pandas category": pd.Series(["b", None, "a", "b"], dtype="category"),
    "pandas arrow dictionary": pd.Series(
        ["b", None, "a", "b"], dtype=pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    ),
    "polars String": pl.Series(["b", None, "a", "b"]),
    "polars Categorical": pl.Series(["b", None, "a", "b"], dtype=pl.Categorical),
    "polars Enum": pl.Series(["b", None, "a", "b"], dtype=pl.Enum(["b", "c", "a"])),
    "pyarrow string": pa.array(["b", None, "a", "b"]),
    "pyarrow large_string": pa.array(["b", None, "a", "b"], type=pa.large_string()),
    "pyarrow string_view": pa.array(["b", None, "a", "b"], type=pa.string_view()),
    "pyarrow dictionary": pa.array(["b", None, "a", "b"]).dictionary_encode(),
    "pyarrow chunks": pa.chunked_array(CHUNKS),
    "pyarrow chunks of dictionaries": pa.chunked_array([c.dictionary_encode() for c in CHUNKS]),
}
SOME_NUMBERS: dict[str, Any] = {
    "pandas float64": pd.Series([2.0, None, -1.0]),
    "pandas Int64": pd.Series([2, None, -1], dtype="Int64"),
    "pandas Float32": pd.Series([2, None, -1], dtype="Float32"),
    "pandas arrow int64": pd.Series([2, None, -1], dtype="int64[pyarrow]"),
    "pandas arrow double": pd.Series([2, None, -1], dtype="double[pyarrow]"),
    "pandas objects": pd.Series([2, pd.NA, -1.0], dtype=object),
    "pandas sparse": pd.Series(pd.arrays.SparseArray([2.0, np.nan, -1.0])),
    "polars Int8": pl.Series([2, None, -1], dtype=pl.Int8),
    "polars Int128": pl.Series([2, None, -1], dtype=pl.Int128),
    "polars Float32": pl.Series([2, None, -1], dtype=pl.Float32),
    "polars NaN": pl.Series([2.0, float("nan"), -1.0]),
    "polars Decimal": pl.Series([2, None, -1]).cast(pl.Decimal(10, 2)),
    "pyarrow int16": pa.array([2, None, -1], type=pa.int16()),
    "pyarrow float": pa.array([2, None, -1], type=pa.float32()),
    "pyarrow decimal": pa.array([2, None, -1]).cast(pa.decimal128(30, 2)),
}
SOME_TRUTHS: dict[str, Any] = {
    "pandas boolean": pd.Series([True, None, False], dtype="boolean"),
    "pandas objects": pd.Series([True, None, False], dtype=object),
    "pandas arrow": pd.Series([True, None, False], dtype="bool[pyarrow]"),
    "polars": pl.Series([True, None, False]),
    "pyarrow": pa.array([True, None, False]),
}


def framed(column: Any) -> Any:
    """A frame of the library that the column is of."""
    if isinstance(column, pd.Series):
        return pd.DataFrame({"a": column})
    if isinstance(column, pl.Series):
        return pl.DataFrame({"a": column})
    return pa.table({"a": column})


def schema_of(column: Any) -> ColumnSchema:
    return read_table(framed(column)).column_schema(0)


def categories(column: Any) -> Cells:
    table = read_table(framed(column))
    found = as_categories(table.categories(0, 0, table.n_rows))
    assert found.values == tuple(sorted(found.values, key=lambda v: (isinstance(v, str), v)))
    return [None if code < 0 else found.values[code] for code in found.codes.tolist()]


def numbers(column: Any) -> Cells:
    table = read_table(framed(column))
    found = table.numbers(0, 0, table.n_rows).values.tolist()
    return [None if np.isnan(x) else x for x in found]


# --- Types ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("column", SOME_WORDS.values(), ids=SOME_WORDS)
def test_words_are_categories(column: Any) -> None:
    assert schema_of(column).kind == "category"
    assert categories(column) == ["b", None, "a", "b"]


@pytest.mark.parametrize("column", SOME_NUMBERS.values(), ids=SOME_NUMBERS)
def test_numbers_are_numbers(column: Any) -> None:
    assert schema_of(column).kind == "number"
    assert numbers(column) == [2.0, None, -1.0]


@pytest.mark.parametrize("column", SOME_NUMBERS.values(), ids=SOME_NUMBERS)
def test_numbers_can_be_categories(column: Any) -> None:
    assert categories(column) == [2, None, -1]


@pytest.mark.parametrize("column", SOME_TRUTHS.values(), ids=SOME_TRUTHS)
def test_truth_values_are_categories(column: Any) -> None:
    assert schema_of(column).kind == "category"
    assert [type(cell) for cell in categories(column)] == [bool, type(None), bool]
    assert categories(column) == [True, None, False]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([None, None], dtype="str"),
        pd.Series([None, None], dtype="category"),
        pl.Series([None, None], dtype=pl.String),
        pl.Series([None, None], dtype=pl.Boolean),
        pa.array([None, None], type=pa.string()),
        pa.array([None, None]).cast(pa.dictionary(pa.int8(), pa.string())),
    ],
    ids=lambda column: str(getattr(column, "dtype", getattr(column, "type", ""))),
)
def test_a_column_of_words_without_any_reads_as_numbers_that_are_missing(column: Any) -> None:
    assert numbers(column) == [None, None]


def test_words_are_refused_as_numbers() -> None:
    with pytest.raises(
        ColumnError, match=r"'a' was fitted as numbers, and now holds words \(String\)"
    ):
        numbers(pl.Series(["1"]))


def test_a_column_of_nulls_has_no_kind() -> None:
    columns = [pl.Series([None]), pa.array([None]), pd.Series([None], dtype=object)]
    assert [schema_of(column).kind for column in columns] == ["empty"] * 3


def test_a_time_zone_is_taken_as_the_instant_it_means() -> None:
    noon = pd.Series(pd.to_datetime(["2020-01-02 12:00"]).tz_localize("Europe/Berlin"))
    expected = [18263 + 11 / 24]
    assert numbers(noon) == expected
    assert numbers(noon.astype(object)) == expected
    assert numbers(pl.from_pandas(noon)) == expected


def test_nanoseconds_are_not_lost_in_objects() -> None:
    stamps = pd.Series(pd.to_datetime([1, 2], unit="ns"))
    assert numbers(stamps.astype(object)) == numbers(stamps)
    assert numbers(stamps)[0] < numbers(stamps)[1]


# --- Declared values -----------------------------------------------------------------------------


def test_levels_of_a_category_are_declared_sorted() -> None:
    column = pd.Series(pd.Categorical(["lo"], categories=["lo", "mid", "hi"]))
    assert schema_of(column).values == ("hi", "lo", "mid")
    assert not schema_of(column).ordered


def test_levels_of_an_ordered_category_keep_their_order() -> None:
    column = pd.Series(pd.Categorical(["lo"], categories=["lo", "mid", "hi"], ordered=True))
    assert schema_of(column).values == schema_of(column).order == ("lo", "mid", "hi")


def test_values_of_an_enum_keep_their_order() -> None:
    column = pl.Series(["lo"], dtype=pl.Enum(["lo", "mid", "hi"]))
    assert schema_of(column).values == schema_of(column).order == ("lo", "mid", "hi")


def test_levels_that_are_numbers_stay_numbers() -> None:
    column = pd.Series(pd.Categorical([3, None, 1]))
    assert schema_of(column).values == (1, 3)
    assert categories(column) == [3, None, 1]


@pytest.mark.parametrize(
    "column",
    [
        SOME_WORDS["polars Categorical"],
        SOME_WORDS["pyarrow dictionary"],
        SOME_WORDS["polars String"],
    ],
    ids=["polars Categorical", "pyarrow dictionary", "polars String"],
)
def test_other_types_declare_nothing(column: Any) -> None:
    assert schema_of(column).values == ()


@pytest.mark.parametrize(
    ("levels", "named"),
    [
        (pd.Series(pd.Categorical(pd.to_datetime(["2020-01-01"]))), "Timestamp"),
    ],
)
def test_levels_that_are_no_categories_are_named(levels: Any, named: str) -> None:
    with pytest.raises(InputTypeError, match=rf"Column 'a' holds .*\({named}\).*to strings"):
        schema_of(levels)


# --- Names and rows ------------------------------------------------------------------------------


def test_names_are_kept_and_the_library_is_known() -> None:
    for column in (pd.Series([1]), pl.Series([1]), pa.array([1])):
        table = read_table(framed(column))
        assert (table.names, table.string_names) == (("a",), True)
        assert table.backend == type(framed(column)).__module__.split(".", maxsplit=1)[0]


def test_columns_named_by_numbers_are_matched_by_them() -> None:
    table = read_table(pd.DataFrame([[1, 2]]))
    assert (table.names, table.has_names, table.string_names) == (("0", "1"), True, False)


def test_names_of_two_types_are_names() -> None:
    table = read_table(pd.DataFrame({0: [1], "a": [2]}))
    assert (table.names, table.has_names, table.string_names) == (("0", "a"), True, False)


@pytest.mark.parametrize(
    "index", [[5, 5, 5], ["c", "a", "b"], pd.date_range("2020-01-01", periods=3)], ids=str
)
def test_rows_are_taken_by_place_whatever_the_index(index: Any) -> None:
    table = read_table(pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": list("xyz")}, index=index))
    assert table.numbers(0, 1, 3).values.tolist() == [2.0, 3.0]
    assert as_categories(table.categories(1, 1, 3)).values == ("y", "z")


@pytest.mark.parametrize("column", SOME_WORDS.values(), ids=SOME_WORDS)
def test_a_slice_lists_only_the_values_it_holds(column: Any) -> None:
    part = as_categories(read_table(framed(column)).categories(0, 2, 3))
    assert part.values == ("a",)
    assert part.codes.tolist() == [0]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([], dtype="str"),
        pd.Series([], dtype="category"),
        pl.Series([], dtype=pl.String),
        pl.Series([], dtype=pl.Enum(["a"])),
        pa.array([], type=pa.string()),
        pa.chunked_array([], type=pa.string()),
        pa.chunked_array([], type=pa.dictionary(pa.int8(), pa.string())),
    ],
    ids=lambda column: str(getattr(column, "dtype", getattr(column, "type", ""))),
)
def test_a_column_without_rows_has_no_values(column: Any) -> None:
    assert categories(column) == []


def test_reading_leaves_a_frame_as_it_was() -> None:
    frame = pd.DataFrame({"a": ["x", None], "b": [dt.date(2020, 1, 1), None]})
    before = frame.copy()
    table = read_table(frame)
    table.categories(0, 0, 2)
    table.numbers(1, 0, 2)
    pd.testing.assert_frame_equal(frame, before)
