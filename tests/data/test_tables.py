"""Tables: the same cells read the same, whatever library or array they come in."""

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sortal.data.columns import as_categories
from sortal.data.sources import DataTable as Table
from sortal.data.sources import read_table
from sortal.errors import InputError, InputTypeError
from sortal.tasks.tables import open_table

Cells: TypeAlias = list[Any]


def kind_of(X: Any) -> str:
    return read_table(X).column_schema(0).kind


def numbers_in(table: Table, start: int, stop: int) -> Cells:
    return [None if np.isnan(x) else x for x in table.numbers(0, start, stop).values.tolist()]


def categories_in(table: Table, start: int, stop: int) -> Cells:
    column = as_categories(table.categories(0, start, stop))
    return [None if code < 0 else column.values[code] for code in column.codes.tolist()]


def read(X: Any) -> Cells:
    """The cells of the first column, as its kind has it; None for missing values."""
    table = read_table(X)
    by_number = table.column_schema(0).is_number
    return (numbers_in if by_number else categories_in)(table, 0, table.n_rows)


# --- One table in five forms ---------------------------------------------------------------------

# the cells, and the types that pandas, polars and pyarrow keep them in
COLUMNS: dict[str, tuple[st.SearchStrategy[Any], str, Any, Any]] = {
    "words": (st.text(st.characters(codec="utf-8"), max_size=3), "str", pl.String, pa.string()),
    "truth values": (st.booleans(), "boolean", pl.Boolean, pa.bool_()),
    "fractions": (
        st.floats(allow_nan=False, allow_infinity=False),
        "float64",
        pl.Float64,
        pa.float64(),
    ),
    "whole numbers": (st.integers(-(2**53), 2**53), "Int64", pl.Int64, pa.int64()),
}


@pytest.mark.parametrize("kind", COLUMNS)
@given(data=st.data())
def test_a_column_is_the_same_in_every_form(kind: str, data: st.DataObject) -> None:
    strategy, of_pandas, of_polars, of_pyarrow = COLUMNS[kind]
    cells = data.draw(st.lists(st.one_of(st.none(), strategy), min_size=1, max_size=8))
    start, stop = data.draw(st.integers(0, len(cells))), len(cells)
    forms = [
        pd.DataFrame({"a": pd.Series(cells, dtype=of_pandas)}),
        pd.DataFrame({"a": pd.Series(cells, dtype=object)}),
        pl.DataFrame({"a": pl.Series(cells, dtype=of_polars)}),
        pa.table({"a": pa.array(cells, type=of_pyarrow)}),
        np.fromiter(cells, dtype=object, count=len(cells))[:, None],
    ]
    tables = [read_table(form) for form in forms]
    columns = [as_categories(table.categories(0, start, stop)) for table in tables]
    assert categories_in(tables[0], start, stop) == cells[start:]
    assert len({(column.values, column.codes.tobytes()) for column in columns}) == 1
    expected = "category" if kind in ("words", "truth values") else "number"
    if expected == "number":
        assert all(numbers_in(table, start, stop) == cells[start:] for table in tables)
    # where all cells are missing, only a type can tell what they would have been
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
moment, day = dt.datetime(2021, 3, 4, 5, 6, 7, 891011), dt.timedelta(days=1)
# the cells, their kind and as what they are read
READ: list[tuple[Cells, str, Cells]] = [
    ([dt.date(2020, 1, 2), None], "date", [JAN_2, None]),
    ([dt.datetime(2020, 1, 2, 6), None], "date", [JAN_2 + 0.25, None]),
    ([dt.datetime(1969, 12, 31, 18), None], "date", [-0.25, None]),
    ([dt.datetime(2020, 1, 2, 12, tzinfo=dt.UTC), None], "date", [JAN_2 + 0.5, None]),
    # beyond the year 2262, where nanoseconds end
    ([dt.date(9999, 12, 31), dt.date(1, 1, 1)], "date", [2932896.0, -719162.0]),
    ([dt.datetime(3000, 1, 1, 6), None], "date", [376200.25, None]),
    ([moment], "date", [18690 + (moment - dt.datetime(2021, 3, 4)) / day]),
    ([dt.timedelta(hours=36), None, -200_000 * day], "number", [1.5, None, -200_000.0]),
    ([Decimal("1.50"), None, Decimal("-2.00")], "number", [1.5, None, -2.0]),
    ([2**53, -(2**53)], "number", [2.0**53, -(2.0**53)]),
    # far down, after many missing values
    ([None] * 150 + [1.5], "number", [None] * 150 + [1.5]),
]


@every_maker
def test_cells_are_read_the_same(make: Callable[[Cells], Any]) -> None:
    for cells, kind, expected in READ:
        assert (kind_of(make(cells)), read(make(cells))) == (kind, expected)
    decimals = read_table(make([Decimal("1.50"), None, Decimal("-2.00")]))
    assert categories_in(decimals, 0, 3) == [1.5, None, -2]
    missing = read_table(make([None, None]))
    assert numbers_in(missing, 0, 2) == categories_in(missing, 0, 2) == [None, None]


@every_maker
def test_whole_numbers_beyond_2_to_the_53_are_exact_categories_and_no_numbers(
    make: Callable[[Cells], Any],
) -> None:
    if make is MAKERS["pandas"]:  # left to itself, it would round them to floats first
        make = lambda cells: pd.DataFrame({"a": pd.Series(cells, dtype="Int64")})
    for large in (2**53 + 1, -(2**53) - 1, 2**62):
        for beside in (1, None):
            with pytest.raises(InputError, match=r"2\*\*53"):
                read(make([large, beside]))
    cells = [2**53 + 1, 2**53, None]
    assert categories_in(read_table(make(cells)), 0, 3) == cells


OBJECTS: list[tuple[Cells, str]] = [
    ([1, 2.5, None], "number"),
    ([np.float32(1.5), Decimal(2), np.int8(3)], "number"),
    (["a", None], "category"),
    (["1", "2"], "category"),
    (["a", 1, 2.5, True], "category"),
    ([True, None, False], "category"),
    ([np.True_, 2], "category"),
    ([dt.date(2020, 1, 1), pd.NaT], "date"),
    ([np.datetime64("2020-01-01"), None], "date"),
    ([pd.Timestamp("2020-01-01"), dt.datetime(2020, 1, 1)], "date"),
    ([pd.Timedelta(1, "D"), np.timedelta64(1, "h")], "number"),
    ([None, float("nan"), pd.NA, pd.NaT], "empty"),
]


def test_objects_are_read_for_what_they_are() -> None:
    for cells, kind in OBJECTS:
        for name in ("pandas objects", "array of objects"):
            assert kind_of(MAKERS[name](cells)) == kind, (name, cells)
    table = read_table(MAKERS["pandas objects"]([1.5] + [None] * 150))
    assert numbers_in(table, 1, 151) == [None] * 150
    mixed = ["1", 1, 2.5, None, "a"]
    assert read(MAKERS["pandas objects"](mixed)) == mixed


def test_lazy_frames_are_told_their_own_word(monkeypatch: pytest.MonkeyPatch) -> None:
    class Lazy(nw.LazyFrame[Any]):
        implementation: Any = nw.Implementation.DASK

        def __init__(self) -> None: ...

    monkeypatch.setattr(nw, "from_native", lambda *_, **__: Lazy())
    uses: list[Any] = [read_table, open_table]
    for use in uses:
        with pytest.raises(InputTypeError, match=r"lazy dask frame .* call its compute\(\) first"):
            use(object())
