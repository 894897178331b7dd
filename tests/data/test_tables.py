"""Tables: the same cells read the same, whatever library or array they come in."""

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeAlias

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from sortal.data.columns import as_categories
from sortal.data.table import Table, read_table
from sortal.errors import ColumnError, InputError, InputTypeError
from sortal.tasks.tables import open_table

Cells: TypeAlias = list[Any]


def kind_of(X: Any, j: int = 0) -> str:
    return read_table(X).column_schema(j).kind


def numbers_in(table: Table, start: int, stop: int) -> Cells:
    return [None if np.isnan(x) else x for x in table.numbers(0, start, stop).values.tolist()]


def categories_in(table: Table, start: int, stop: int) -> Cells:
    column = as_categories(table.categories(0, start, stop))
    return [None if code < 0 else column.values[code] for code in column.codes.tolist()]


def read(X: Any) -> Cells:
    """The cells of the first column, as its kind has it; None for holes."""
    table = read_table(X)
    by_number = table.column_schema(0).is_number
    return (numbers_in if by_number else categories_in)(table, 0, table.n_rows)


# --- One table in five forms ---------------------------------------------------------------------

TEXT = st.text(st.characters(codec="utf-8"), max_size=3)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
WHOLE = st.integers(-(2**53), 2**53)
# the cells, and the types that pandas, polars and pyarrow keep them in
COLUMNS: dict[str, tuple[st.SearchStrategy[Any], str, Any, Any]] = {
    "words": (TEXT, "str", pl.String, pa.string()),
    "truth values": (st.booleans(), "boolean", pl.Boolean, pa.bool_()),
    "fractions": (NUMBERS, "float64", pl.Float64, pa.float64()),
    "whole numbers": (WHOLE, "Int64", pl.Int64, pa.int64()),
}


@st.composite
def one_column_in_five_forms(draw: st.DrawFn, kind: str) -> tuple[Cells, list[Table]]:
    strategy, of_pandas, of_polars, of_pyarrow = COLUMNS[kind]
    cells = draw(st.lists(st.one_of(st.none(), strategy), min_size=1, max_size=8))
    forms = [
        pd.DataFrame({"a": pd.Series(cells, dtype=of_pandas)}),
        pd.DataFrame({"a": pd.Series(cells, dtype=object)}),
        pl.DataFrame({"a": pl.Series(cells, dtype=of_polars)}),
        pa.table({"a": pa.array(cells, type=of_pyarrow)}),
        np.fromiter(cells, dtype=object, count=len(cells))[:, None],
    ]
    return cells, [read_table(form) for form in forms]


@pytest.mark.parametrize("kind", COLUMNS)
@given(data=st.data())
def test_categories_are_the_same_in_every_form(kind: str, data: st.DataObject) -> None:
    cells, tables = data.draw(one_column_in_five_forms(kind))
    start = data.draw(st.integers(0, len(cells)))
    columns = [as_categories(table.categories(0, start, len(cells))) for table in tables]
    assert categories_in(tables[0], start, len(cells)) == cells[start:]
    assert len({column.values for column in columns}) == 1
    assert len({column.codes.tobytes() for column in columns}) == 1


@pytest.mark.parametrize("kind", ["fractions", "whole numbers"])
@given(data=st.data())
def test_numbers_are_the_same_in_every_form(kind: str, data: st.DataObject) -> None:
    cells, tables = data.draw(one_column_in_five_forms(kind))
    start = data.draw(st.integers(0, len(cells)))
    for table in tables:
        assert numbers_in(table, start, len(cells)) == cells[start:]


@pytest.mark.parametrize("kind", COLUMNS)
@given(data=st.data())
def test_kinds_are_the_same_in_every_form(kind: str, data: st.DataObject) -> None:
    cells, tables = data.draw(one_column_in_five_forms(kind))
    expected = "category" if kind in ("words", "truth values") else "number"
    # where all cells are holes, only a type can tell what they would have been
    kinds = {table.column_schema(0).kind for table in tables}
    assert kinds <= {expected, "empty"}
    assert kinds == {expected} or cells == [None] * len(cells)


# --- What is read as what ------------------------------------------------------------------------

JAN_2 = 18263.0  # days since 1970-01-01
MAKERS: dict[str, Callable[[Cells], Any]] = {
    "pandas": lambda cells: pd.DataFrame({"a": cells}),
    "pandas objects": lambda cells: pd.DataFrame({"a": pd.Series(cells, dtype=object)}),
    "polars": lambda cells: pl.DataFrame({"a": cells}),
    "pyarrow": lambda cells: pa.table({"a": cells}),
    "array of objects": lambda cells: np.fromiter(cells, dtype=object, count=len(cells))[:, None],
    "list of rows": lambda cells: [[cell] for cell in cells],
}
every_maker = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@every_maker
@pytest.mark.parametrize(
    ("cells", "days"),
    [
        ([dt.date(2020, 1, 2), None], [JAN_2, None]),
        ([dt.datetime(2020, 1, 2, 6), None], [JAN_2 + 0.25, None]),
        ([dt.datetime(1969, 12, 31, 18), None], [-0.25, None]),
        ([dt.datetime(2020, 1, 2, 12, tzinfo=dt.UTC), None], [JAN_2 + 0.5, None]),
        # beyond the year 2262, where nanoseconds end
        ([dt.date(9999, 12, 31), dt.date(1, 1, 1)], [2932896.0, -719162.0]),
        ([dt.datetime(3000, 1, 1, 6), None], [376200.25, None]),
    ],
    ids=["date", "datetime", "before 1970", "UTC", "far dates", "far datetime"],
)
def test_dates_are_days(make: Callable[[Cells], Any], cells: Cells, days: Cells) -> None:
    assert kind_of(make(cells)) == "date"
    assert read(make(cells)) == days


@every_maker
def test_a_moment_with_microseconds_is_the_same_number_everywhere(
    make: Callable[[Cells], Any],
) -> None:
    moment = dt.datetime(2021, 3, 4, 5, 6, 7, 891011)
    rest = (moment - dt.datetime(2021, 3, 4)) / dt.timedelta(days=1)
    assert read(make([moment])) == [(dt.date(2021, 3, 4) - dt.date(1970, 1, 1)).days + rest]


@every_maker
def test_spans_of_time_are_numbers_of_days(make: Callable[[Cells], Any]) -> None:
    cells = [dt.timedelta(hours=36), None, dt.timedelta(days=-200_000)]
    assert kind_of(make(cells)) == "number"
    assert read(make(cells)) == [1.5, None, -200_000.0]


@every_maker
def test_decimals_are_numbers(make: Callable[[Cells], Any]) -> None:
    cells = [Decimal("1.50"), None, Decimal("-2.00")]
    assert kind_of(make(cells)) == "number"
    assert read(make(cells)) == [1.5, None, -2.0]


@every_maker
def test_decimals_can_be_categories(make: Callable[[Cells], Any]) -> None:
    table = read_table(make([Decimal("1.50"), None, Decimal("-2.00")]))
    assert categories_in(table, 0, 3) == [1.5, None, -2]


@every_maker
def test_a_column_of_holes_reads_as_holes_of_either_kind(make: Callable[[Cells], Any]) -> None:
    table = read_table(make([None, None]))
    assert numbers_in(table, 0, 2) == [None, None]
    assert categories_in(table, 0, 2) == [None, None]


@every_maker
def test_whole_numbers_up_to_2_to_the_53_are_exact(make: Callable[[Cells], Any]) -> None:
    assert read(make([2**53, -(2**53)])) == [2.0**53, -(2.0**53)]


@every_maker
@pytest.mark.parametrize("beside", [1, None], ids=["beside a number", "beside a hole"])
@pytest.mark.parametrize("large", [2**53 + 1, -(2**53) - 1, 2**62])
def test_whole_numbers_beyond_are_refused(
    make: Callable[[Cells], Any], beside: int | None, large: int
) -> None:
    with pytest.raises(InputError, match=r"2\*\*53"):
        read(make([large, beside]) if beside else make_nullable(make, [large, beside]))


@every_maker
def test_large_whole_numbers_are_exact_categories(make: Callable[[Cells], Any]) -> None:
    cells = [2**53 + 1, 2**53, None]
    table = read_table(make_nullable(make, cells))
    assert categories_in(table, 0, 3) == cells


def make_nullable(make: Callable[[Cells], Any], cells: Cells) -> Any:
    """Whole numbers beside holes; left to itself, pandas would round them to floats first."""
    if make is MAKERS["pandas"]:
        return pd.DataFrame({"a": pd.Series(cells, dtype="Int64")})
    return make(cells)


# --- Numbers, words and dates kept as objects ----------------------------------------------------


@pytest.mark.parametrize("make", [MAKERS["pandas objects"], MAKERS["array of objects"]])
@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([1, 2.5, None], "number"),
        ([np.float32(1.5), Decimal(2), np.int8(3)], "number"),
        (["a", None], "category"),
        (["a", 1, 2.5, True], "category"),
        ([True, None, False], "category"),
        ([np.True_, 2], "category"),
        ([dt.date(2020, 1, 1), pd.NaT], "date"),
        ([np.datetime64("2020-01-01"), None], "date"),
        ([pd.Timestamp("2020-01-01"), dt.datetime(2020, 1, 1)], "date"),
        ([pd.Timedelta(1, "D"), np.timedelta64(1, "h")], "number"),
        ([None, float("nan"), pd.NA, pd.NaT], "empty"),
    ],
    ids=str,
)
def test_objects_are_read_for_what_they_are(
    make: Callable[[Cells], Any], cells: Cells, kind: str
) -> None:
    assert kind_of(make(cells)) == kind


@every_maker
def test_objects_after_many_holes_are_read_for_what_they_are(make: Callable[[Cells], Any]) -> None:
    cells = [None] * 150 + [1.5]
    assert kind_of(make(cells)) == "number"
    assert read(make(cells)) == cells


def test_a_block_of_holes_in_a_column_of_objects_is_holes() -> None:
    table = read_table(MAKERS["pandas objects"]([1.5] + [None] * 150))
    assert numbers_in(table, 1, 151) == [None] * 150


def test_words_and_numbers_in_one_column_stay_apart() -> None:
    cells = ["1", 1, 2.5, None, "a"]
    assert read(MAKERS["pandas objects"](cells)) == cells


def test_words_are_not_parsed_as_numbers() -> None:
    assert kind_of(MAKERS["array of objects"](["1", "2"])) == "category"


@pytest.mark.parametrize("make", [MAKERS["pandas objects"], MAKERS["array of objects"]])
@pytest.mark.parametrize(
    ("cells", "named"),
    [
        ([dt.date(2020, 1, 1), "a"], "date"),
        ([dt.date(2020, 1, 1), 3], "date"),
        ([dt.timedelta(1), 3], "timedelta"),
        ([[1, 2], None], "list"),
        ([[1, 2], [3, 4]], "list"),
        (["a"] * 101 + [[1]], "list"),
        ([np.array([1, 2]), None], "ndarray"),
        ([b"a", b"b"], "bytes"),
        ([1j], "complex"),
        ([float("inf"), "a"], "float"),
        ([dt.time(1)], "time"),
    ],
    ids=lambda cells: str(cells)[:30],
)
def test_objects_that_are_no_categories_are_named(
    make: Callable[[Cells], Any], cells: Cells, named: str
) -> None:
    with pytest.raises(InputTypeError, match=rf"Column '(a|x0)' holds .*\({named}\).*Convert"):
        read(make(cells))


# --- What is no table ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (scipy.sparse.csr_matrix([[1.0]]), InputTypeError, r"Sparse data .*toarray\(\)"),
        (scipy.sparse.coo_array([[1.0]]), InputTypeError, r"Sparse data .*toarray\(\)"),
        (pl.LazyFrame({"a": [1]}), InputTypeError, r"lazy polars frame .*collect\(\)"),
        (np.array([[1j]]), InputError, "Complex data not supported"),
        ([[1j]], InputError, "Complex data not supported"),
        (np.array([[b"a"]]), InputTypeError, "Decode bytes to strings"),
        (np.zeros(2, dtype=[("a", int)]), InputTypeError, "turn records into a data frame"),
        (np.arange(3), InputError, r"Expected 2D array, got 1D array.*shape \(3,\).*reshape"),
        (np.zeros((1, 1, 1)), InputError, "Expected 2D array, got 3D array"),
        (pd.Series([1]), InputError, "Expected 2D array, got 1D array"),
        (pl.Series([1]), InputError, "Expected 2D array, got 1D array"),
        ([], InputError, "Expected 2D array, got 1D array"),
        ([[1], [1, 2]], InputError, "list cannot be read as a table.*rows of equal length"),
        ({"a": [1]}, InputError, "got a dict instead: give a data frame"),
        (None, InputError, "got a NoneType instead: give a data frame"),
        ("table.csv", InputError, "got a str instead: give a data frame"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), ColumnError, "same name.*'a'.*rename"),
        (pa.table([[1], [2]], names=["a", "a"]), ColumnError, "same name.*'a'.*rename"),
        (pd.DataFrame({1: [1], "1": [2]}), ColumnError, "same name.*rename"),
    ],
    ids=lambda part: type(part).__name__ if not isinstance(part, str) else None,
)
def test_what_is_no_table_is_refused_with_a_reason(
    X: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        read_table(X)


class OnAGraphicsCard:
    __cuda_array_interface__: dict[str, Any] = {}  # noqa: RUF012  (never read)


def test_an_array_on_a_graphics_card_is_refused() -> None:
    with pytest.raises(InputTypeError, match=r"graphics card.*main memory"):
        read_table(OnAGraphicsCard())


@pytest.mark.parametrize(
    "X",
    [
        pl.DataFrame({"a": [[1]]}),
        pl.DataFrame({"a": [{"b": 1}]}),
        pl.DataFrame({"a": [b"x"]}),
        pl.DataFrame({"a": [dt.time(1)]}),
        pa.table({"a": [[1]]}),
        pa.table({"a": [b"x"]}),
        pa.table({"a": [dt.time(1)]}),
    ],
    ids=lambda X: type(X).__module__.split(".")[0],
)
def test_a_column_that_no_learner_reads_is_named_with_its_type(X: Any) -> None:
    with pytest.raises(ColumnError, match=r"Column 'a' has the type \w+.*Convert it or drop"):
        kind_of(X)


def test_lazy_frames_are_told_their_own_word(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lazy(nw.LazyFrame[Any]):
        implementation: Any = nw.Implementation.DASK

        def __init__(self) -> None: ...

    with pytest.raises(InputTypeError, match=r"lazy duckdb frame .* call its df\(\) first"):
        read_table(duckdb.sql("SELECT 1 AS a"))
    monkeypatch.setattr(nw, "from_native", lambda *_, **__: Lazy())
    for use in (read_table, open_table):
        with pytest.raises(InputTypeError, match=r"lazy dask frame .* call its compute\(\) first"):
            use(object())
