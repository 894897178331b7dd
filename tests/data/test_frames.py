"""Data frames: the types of each library, declared values, names and row indexes."""

from functools import cache
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sortal.data.columns import ColumnSchema, as_categories
from sortal.data.sources import read_table

Cells: TypeAlias = list[Any]


@cache
def words() -> dict[str, Any]:
    """The words b, none, a, b in every type that can hold them."""
    cells = ["b", None, "a", "b"]
    dictionary = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    chunks = [pa.array(cells[:2]), pa.array(cells[2:])]
    types = ("str", "string", object, "string[pyarrow]", "category", dictionary)
    return {
        **{f"pandas {dtype}": pd.Series(cells, dtype=dtype) for dtype in types},
        "pandas NaN": pd.Series(["b", np.nan, "a", "b"], dtype=object),
        "polars String": pl.Series(cells),
        "polars Categorical": pl.Series(cells, dtype=pl.Categorical),
        "polars Enum": pl.Series(cells, dtype=pl.Enum(["b", "c", "a"])),
        "pyarrow string": pa.array(cells),
        "pyarrow large_string": pa.array(cells, type=pa.large_string()),
        "pyarrow string_view": pa.array(cells, type=pa.string_view()),
        "pyarrow dictionary": pa.array(cells).dictionary_encode(),
        "pyarrow chunks": pa.chunked_array(chunks),
        "pyarrow chunks of dictionaries": pa.chunked_array([c.dictionary_encode() for c in chunks]),
    }


def some_numbers() -> dict[str, Any]:
    cells = [2, None, -1]
    types = ("float64", "Int64", "Float32", "int64[pyarrow]", "double[pyarrow]")
    return {
        **{f"pandas {dtype}": pd.Series(cells, dtype=dtype) for dtype in types},
        "pandas objects": pd.Series([2, pd.NA, -1.0], dtype=object),
        "pandas sparse": pd.Series(pd.arrays.SparseArray([2.0, np.nan, -1.0])),
        **{f"polars {t}": pl.Series(cells, dtype=t) for t in (pl.Int8, pl.Int128, pl.Float32)},
        "polars NaN": pl.Series([2.0, float("nan"), -1.0]),
        "polars Decimal": pl.Series(cells).cast(pl.Decimal(10, 2)),
        "pyarrow int16": pa.array(cells, type=pa.int16()),
        "pyarrow float": pa.array(cells, type=pa.float32()),
        "pyarrow decimal": pa.array(cells).cast(pa.decimal128(30, 2)),
    }


def truths() -> dict[str, Any]:
    cells = [True, None, False]
    types = ("boolean", object, "bool[pyarrow]")
    return {
        **{f"pandas {dtype}": pd.Series(cells, dtype=dtype) for dtype in types},
        "polars": pl.Series(cells),
        "pyarrow": pa.array(cells),
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


def test_words_are_categories() -> None:
    for name, column in words().items():
        assert schema_of(column).kind == "category", name
        assert categories(column) == ["b", None, "a", "b"], name
        part = as_categories(read_table(framed(column)).categories(0, 2, 3))
        assert (part.values, part.codes.tolist()) == (("a",), [0]), f"{name}: only what is there"


def test_numbers_are_numbers_and_can_be_categories() -> None:
    for name, column in some_numbers().items():
        assert schema_of(column).kind == "number", name
        assert numbers(column) == [2.0, None, -1.0], name
        assert categories(column) == [2, None, -1], name


def test_truth_values_are_categories() -> None:
    for name, column in truths().items():
        assert schema_of(column).kind == "category", name
        assert [type(cell) for cell in categories(column)] == [bool, type(None), bool], name
        assert categories(column) == [True, None, False], name


def test_a_column_of_words_without_any_reads_as_numbers_that_are_missing() -> None:
    for column in (
        *(pd.Series([None, None], dtype=dtype) for dtype in ("str", "category")),
        *(pl.Series([None, None], dtype=dtype) for dtype in (pl.String, pl.Boolean)),
        pa.array([None, None], type=pa.string()),
        pa.array([None, None]).cast(pa.dictionary(pa.int8(), pa.string())),
    ):
        assert numbers(column) == [None, None]


def test_a_column_of_nulls_has_no_kind() -> None:
    columns = [pl.Series([None]), pa.array([None]), pd.Series([None], dtype=object)]
    assert [schema_of(column).kind for column in columns] == ["empty"] * 3


def test_a_column_without_rows_has_no_values() -> None:
    for column in (
        *(pd.Series([], dtype=dtype) for dtype in ("str", "category")),
        *(pl.Series([], dtype=dtype) for dtype in (pl.String, pl.Enum(["a"]))),
        pa.array([], type=pa.string()),
        pa.chunked_array([], type=pa.string()),
        pa.chunked_array([], type=pa.dictionary(pa.int8(), pa.string())),
    ):
        assert categories(column) == []


def test_a_time_zone_is_taken_as_the_instant_it_means() -> None:
    noon = pd.Series(pd.to_datetime(["2020-01-02 12:00"]).tz_localize("Europe/Berlin"))
    for column in (noon, noon.astype(object), pl.from_pandas(noon)):
        assert numbers(column) == [18263 + 11 / 24]


def test_nanoseconds_are_not_lost_in_objects() -> None:
    stamps = pd.Series(pd.to_datetime([1, 2], unit="ns"))
    assert numbers(stamps.astype(object)) == numbers(stamps)
    assert numbers(stamps)[0] < numbers(stamps)[1]


def test_declared_levels_are_sorted_unless_their_type_orders_them() -> None:
    levels = ("lo", "mid", "hi")
    for ordered in (False, True):
        column = pd.Series(pd.Categorical(["lo"], categories=levels, ordered=ordered))
        assert schema_of(column).values == (levels if ordered else ("hi", "lo", "mid"))
        assert schema_of(column).order == (levels if ordered else ())
    enum = schema_of(pl.Series(["lo"], dtype=pl.Enum(levels)))
    assert enum.values == enum.order == levels
    column = pd.Series(pd.Categorical([3, None, 1]))
    assert schema_of(column).values == (1, 3)
    assert categories(column) == [3, None, 1]
    for name in ("polars Categorical", "pyarrow dictionary", "polars String"):
        assert schema_of(words()[name]).values == ()


def test_names_are_kept_and_the_library_is_known() -> None:
    for column in (pd.Series([1]), pl.Series([1]), pa.array([1])):
        table = read_table(framed(column))
        assert (table.names, table.string_names) == (("a",), True)
        assert table.backend == type(framed(column)).__module__.split(".", maxsplit=1)[0]
    for names, expected in (([0, 1], ("0", "1")), ([0, "a"], ("0", "a"))):
        table = read_table(pd.DataFrame([[1, 2]], columns=names))
        assert (table.names, table.has_names, table.string_names) == (expected, True, False)


@pytest.mark.parametrize("index", [[5, 5, 5], ["c", "a", "b"]], ids=str)
def test_rows_are_taken_by_place_whatever_the_index(index: Any) -> None:
    table = read_table(pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": list("xyz")}, index=index))
    assert table.numbers(0, 1, 3).values.tolist() == [2.0, 3.0]
    assert as_categories(table.categories(1, 1, 3)).values == ("y", "z")
