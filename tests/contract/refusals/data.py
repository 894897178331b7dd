"""Tables, columns, labels, weights and numbers of threads that cannot be used."""

import datetime as dt
import math
from collections.abc import Callable
from typing import Any, Final

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import scipy.sparse
from tests.contract.refusals.table import Refusal

from sortal.data import datasets
from sortal.data.columns import ColumnSchema, Schema
from sortal.data.sources import TableSource, read_table, read_weights
from sortal.data.table import ArrayTable, check_matrix
from sortal.engines import LocalEngine
from sortal.errors import (
    ColumnError,
    InputError,
    InputTypeError,
    LabelError,
    ParameterError,
    WeightError,
)

Row = tuple[str, Callable[[], Any], str]


class OnAGraphicsCard:
    __cuda_array_interface__: dict[str, Any] = {}  # noqa: RUF012  (never read)


def refused(call: Callable[[Any], object], error: type[Exception], *rows: Row) -> list[Refusal]:
    """What a function refuses: its name, how it is made, and the words."""

    def late(make: Callable[[], Any]) -> Callable[[], object]:
        return lambda: call(make())

    return [Refusal(what, late(make), error, words) for what, make, words in rows]


def objects(*cells: Any) -> Any:
    return np.fromiter(cells, dtype=object, count=len(cells))[:, None]


def numbers(X: Any) -> object:
    return read_table(X).numbers(0, 0, len(X))


def categories(X: Any) -> object:
    return read_table(X).categories(0, 0, len(X))


def by_kind(X: Any) -> object:
    """The first column of a table, as what it is found to be."""
    return numbers(X) if read_table(X).column_schema(0).is_number else categories(X)


def labels(y: list[Any]) -> object:
    """The second block of labels, of two rows."""
    table, target = ArrayTable(np.zeros((len(y), 1))), ArrayTable(objects(*y), ("y",))
    return TableSource(table, Schema(()), (), target, None, 2).block(1)


def merged(parts: tuple[Any, Any]) -> object:
    return parts[0].merge(parts[1])


def threads(n_jobs: Any) -> object:
    return LocalEngine(n_jobs).map(TableSource(ArrayTable(np.zeros((1, 1))), Schema(()), ()), id)


def sizes(*order: str) -> ColumnSchema:
    return ColumnSchema("size", "category", order, order)


NO_TABLES: Final = [
    *refused(
        read_table,
        InputTypeError,
        ("a sparse matrix", lambda: scipy.sparse.csr_matrix([[1.0]]), r"Sparse data .*toarray\(\)"),
        ("a lazy frame", lambda: pl.LazyFrame({"a": [1]}), r"lazy polars frame .*collect\(\)"),
        ("a query", lambda: duckdb.sql("SELECT 1 AS a"), r"lazy duckdb frame .* its df\(\) first"),
        ("an array of bytes", lambda: np.array([[b"a"]]), "Decode bytes to strings"),
        ("an array of records", lambda: np.zeros(2, [("a", int)]), "turn records into a data"),
        ("an array of a graphics card", OnAGraphicsCard, "graphics card.*main memory"),
    ),
    *refused(
        read_table,
        InputError,
        ("complex numbers", lambda: np.array([[1j]]), "Complex data not supported"),
        ("an array of one axis", lambda: np.arange(3), r"got 1D array.*shape \(3,\).*reshape"),
        ("an array of three axes", lambda: np.zeros((1, 1, 1)), "Expected 2D array, got 3D array"),
        ("a series of pandas", lambda: pd.Series([1]), "Expected 2D array, got 1D array"),
        ("a series of polars", lambda: pl.Series([1]), "Expected 2D array, got 1D array"),
        ("an empty list", list, "Expected 2D array, got 1D array"),
        ("ragged rows", lambda: [[1], [1, 2]], "list cannot be read.*rows of equal length"),
        ("a dictionary", lambda: {"a": [1]}, "got a dict instead: give a data frame"),
        ("nothing", lambda: None, "got a NoneType instead: give a data frame"),
        ("a path", lambda: "table.csv", "got a str instead: give a data frame"),
    ),
    *refused(
        read_table,
        ColumnError,
        ("a name of pandas twice", lambda: pd.DataFrame([[1, 2]], columns=[*"aa"]), "'a'.*rename"),
        ("a name of pyarrow twice", lambda: pa.table([[1], [2]], names=[*"aa"]), "'a'.*rename"),
        ("the names 1 and '1'", lambda: pd.DataFrame({1: [1], "1": [2]}), "same name.*rename"),
    ),
]
NO_TYPE: Final = r"Column 'a' has the type \w+.*Convert it or drop"
NO_COLUMNS: Final = [
    *refused(
        by_kind,
        InputTypeError,
        ("dates and words", lambda: objects(dt.date(2020, 1, 1), "a"), r"'x0'.*\(date\).*Convert"),
        ("spans and numbers", lambda: objects(dt.timedelta(1), 3), r"'x0'.*\(timedelta\).*Convert"),
        ("a list and None", lambda: objects([1, 2], None), r"'x0'.*\(list\).*Convert"),
        ("a late list", lambda: objects(*["a"] * 101, [1]), r"'x0'.*\(list\).*Convert"),
        ("an array", lambda: objects(np.arange(2), None), r"'x0'.*\(ndarray\).*Convert"),
        ("bytes", lambda: objects(b"a", b"b"), r"'x0'.*\(bytes\).*Convert"),
        ("a complex number", lambda: objects(1j), r"'x0'.*\(complex\).*Convert"),
        ("infinity and words", lambda: objects(math.inf, "a"), r"'x0'.*\(float\).*Convert"),
        ("a time", lambda: objects(dt.time(1)), r"'x0'.*\(time\).*Convert"),
        (
            "levels that are dates",
            lambda: pd.DataFrame({"a": pd.Categorical(pd.to_datetime(["2020-01-01"]))}),
            r"Column 'a' holds .*\(Timestamp\).*to strings",
        ),
    ),
    *refused(
        by_kind,
        ColumnError,
        ("lists of polars", lambda: pl.DataFrame({"a": [[1]]}), NO_TYPE),
        ("objects of polars", lambda: pl.DataFrame({"a": [{"b": 1}]}), NO_TYPE),
        ("bytes of pyarrow", lambda: pa.table({"a": [b"x"]}), NO_TYPE),
        ("times of pyarrow", lambda: pa.table({"a": [dt.time(1)]}), NO_TYPE),
    ),
    *refused(
        categories,
        InputError,
        ("infinity as a category", lambda: np.array([[np.inf]]), "'x0' holds infinite values"),
        ("dates as categories", lambda: np.zeros((1, 1), "M8[D]"), "'x0' holds dates.*to strings"),
    ),
    *refused(
        numbers,
        InputError,
        ("words as numbers", lambda: np.array([["1"]]), "'x0' .*words: convert it to numbers"),
        ("a word as a number", lambda: objects(1.0, "1"), r"'x0' is read .* holds '1' \(str\)"),
        ("2**53 + 1 beside 1.5", lambda: [[2**53 + 1, 1.5]], r"9007199254740993 .*2\*\*53"),
    ),
    *refused(
        numbers,
        ColumnError,
        ("words of polars", lambda: pl.DataFrame({"a": ["1"]}), r"'a' was .*words \(String\)"),
    ),
    *refused(
        lambda cells: check_matrix(np.array(cells), "abc"),
        InputError,
        ("infinity", lambda: [[1, np.nan, 3], [2, 3, -np.inf]], "'c' holds infinite"),
        ("infinity of float32", lambda: np.full((1, 3), np.inf, np.float32), "'a' holds infinite"),
        ("too large to be squared", lambda: [[1, -1e150, 2]], "'b' holds numbers beyond 1e"),
    ),
    *refused(
        merged,
        ColumnError,
        ("two orders", lambda: (sizes("S", "L"), sizes("L", "S")), "'size'.*same declared order"),
        (
            "two kinds",
            lambda: (ColumnSchema("age", "number"), ColumnSchema("age", "date")),
            "'age' is a number in one block and a date in another",
        ),
        (
            "two names",
            lambda: (ColumnSchema("a", "number"), ColumnSchema("b", "number")),
            "'a' and 'b' cannot be merged",
        ),
        ("two widths", lambda: (Schema((sizes(),)), Schema(())), "1 column and one of 0 columns"),
    ),
]

BAD: Final = "negative, missing or infinite"
MUCH: Final = "too much to be counted exactly"
WEIGHTS: Final = [
    *(([1, bad], BAD) for bad in (-1, math.nan, None, math.inf)),
    (np.ma.array([1.0, 2.0], mask=[False, True]), BAD),
    *((zero, "zero for every row") for zero in (0, [0, 0])),
    ([1, 2, 3], r"shape == \(3,\), expected \(2,\)"),
    ([[1], [2]], r"shape == \(2, 1\), expected \(2,\)"),
    *((words, "not a number") for words in (["a", "b"], ["1", "2"], [1j, 1], [[1], [1, 2]])),
    (np.array(["2020", "2021"], dtype="M8[Y]"), "not a number"),
    *((much, MUCH) for much in ([2.0**61, 2.0**61], [1e308, 1e308], [1e308, 1e308 / 3])),
    ([1e-315, 2e-315], "sums to 3e-315, .* their sum is 1e-50 or more"),
    ([1e-60, 2e-60], "sums to 3e-60"),
]


def _weights(given: Any, words: str) -> Refusal:
    return Refusal(f"weights {given}", lambda: read_weights(given, 2), WeightError, words)


def _label(y: Any) -> Refusal:
    words = "Input y contains NaN or None, first in row 3: .*Drop"
    return Refusal(f"the label {y!r}", lambda: labels(["a", "b", "a", y]), LabelError, words)


def _threads(given: Any) -> Refusal:
    return Refusal(f"n_jobs={given!r}", lambda: threads(given), ParameterError, "n_jobs=")


def _backend(name: str) -> Refusal:
    words = "'spark'.*'pandas', 'polars', 'pyarrow'"
    return Refusal(
        f"{name}('spark')", lambda: getattr(datasets, name)("spark"), ParameterError, words
    )


REFUSALS: Final = [
    *NO_TABLES,
    *NO_COLUMNS,
    *(_weights(given, words) for given, words in WEIGHTS),
    *map(_label, (None, math.nan, pd.NA, pd.NaT)),
    *map(_threads, (0, 1.5, 2.0, "2", True, [2], math.nan)),
    *map(_backend, datasets.__all__),
    *refused(
        lambda given: read_weights(given, 2, exponent=4),
        WeightError,
        ("weights that vanish", lambda: [0.001, 0.001], r"at most 0\.001, which rounds to 0 in"),
    ),
    *refused(
        lambda given: read_weights(given, 3),
        WeightError,
        ("weights beyond float64", lambda: [1e308, 1e308, 0.5], "sums to inf"),
    ),
    *refused(
        labels,
        LabelError,
        ("a measurement as a label", lambda: [1, 2, 0.5], r"continuous \(y holds 0\.5\)"),
    ),
    *refused(
        lambda array: ArrayTable(array).distinct(0, 0, 1),
        InputError,
        ("infinity as a value", lambda: np.array([[np.inf]]), "'x0' holds infinite"),
    ),
]
