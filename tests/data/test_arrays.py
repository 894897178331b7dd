"""Arrays and lists of rows: any layout, any byte order, read without being changed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sortal.data.columns import as_categories
from sortal.data.sources import read_table
from sortal.data.table import ArrayTable, days

GRID = np.arange(12, dtype=np.float64).reshape(4, 3)


def kinds_of(X: Any) -> list[str]:
    table = read_table(X)
    return [table.column_schema(j).kind for j in range(len(table.names))]


def numbers(X: Any) -> NDArray[np.float64]:
    """The whole table as numbers, two rows at a time."""
    table = read_table(X)
    columns = []
    for j in range(len(table.names)):
        cuts = range(0, table.n_rows, 2)
        parts = [table.numbers(j, i, min(i + 2, table.n_rows)).values for i in cuts]
        columns.append(np.concatenate(parts))
    return np.column_stack(columns)


def categories(X: Any, j: int = 0) -> list[Any]:
    table = read_table(X)
    column = as_categories(table.categories(j, 0, table.n_rows))
    return [None if code < 0 else column.values[code] for code in column.codes.tolist()]


def layouts() -> dict[str, Any]:
    read_only = GRID.copy()
    read_only.flags.writeable = False
    types: list[Any] = [">f8", "f4", "f2", np.longdouble, "i1", "u8", ">i4", object]
    return {
        "C order": GRID,
        "F order": np.asfortranarray(GRID),
        "every other row and column": np.repeat(np.repeat(GRID, 2, 0), 2, 1)[::2, ::2],
        "backwards twice": np.flip(np.flip(GRID).copy()),
        "transposed": GRID.T.copy().T,
        "read only": read_only,
        **{str(dtype): GRID.astype(dtype) for dtype in types},
        "list of rows": GRID.tolist(),
        "tuple of rows": tuple(map(tuple, GRID.tolist())),
        "list of arrays": list(GRID),
    }


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_any_layout_gives_the_same_numbers_and_categories() -> None:
    for name, X in {**layouts(), "matrix": np.asmatrix(GRID)}.items():
        found = numbers(X)
        assert found.dtype == np.float64, name
        assert np.array_equal(found, GRID), name
        assert [categories(X, j) for j in range(3)] == GRID.T.tolist(), name
    assert np.array_equal(numbers(np.broadcast_to(7.0, (4, 2))), np.full((4, 2), 7.0))


def test_float64_and_memory_maps_are_read_in_place(tmp_path: Path) -> None:
    np.save(tmp_path / "grid.npy", GRID)
    for array in (GRID, np.load(tmp_path / "grid.npy", mmap_mode="r")):
        column = read_table(array).numbers(1, 0, 4).values
        assert type(column) is np.ndarray
        assert np.shares_memory(column, array)
        assert column.tolist() == GRID[:, 1].tolist()


def test_columns_are_named_by_their_place() -> None:
    table = read_table(GRID)
    assert table.names == ("x0", "x1", "x2")
    assert not table.has_names
    assert table.backend is None
    assert ArrayTable(np.zeros((1, 1)), ("y",)).column_schema(0).name == "y"


nan = float("nan")


@pytest.mark.parametrize(
    ("X", "kinds"),
    [
        (np.array([[1.5]]), ["number"]),
        (np.array([[1]]), ["number"]),
        (np.array([[True]]), ["category"]),
        (np.array([["a"]]), ["category"]),
        (np.array([["a"]], dtype=np.dtypes.StringDType()), ["category"]),
        (np.array([["2020-01-01"]], dtype="M8[D]"), ["date"]),
        (np.array([[3]], dtype="m8[h]"), ["number"]),
        (np.array([["a", 1.5, None]], dtype=object), ["category", "number", "empty"]),
        (np.empty((0, 2)), ["number", "number"]),
        ([["a", 1.5], ["b", 2]], ["category", "number"]),
        ([["a", nan], [nan, 1]], ["category", "number"]),
        ([[True, 1.5], [False, 2]], ["category", "number"]),
        ([[True], [False]], ["category"]),
        ([[1, None], [2, "a"]], ["number", "category"]),
        ([("a", None), ("b", None)], ["category", "empty"]),
        ([["1", 1]], ["category", "number"]),
    ],
    ids=lambda part: str(getattr(part, "dtype", part)),
)
def test_the_kind_of_each_column(X: Any, kinds: list[str]) -> None:
    assert kinds_of(X) == kinds


def test_categories_of_arrays() -> None:
    wide = np.array([["b"], [None]], dtype=np.dtypes.StringDType(na_object=None))
    large = np.array([[2**64 - 1], [2**64 - 2], [0]], dtype=np.uint64)
    for X, expected in (
        (np.array([["b"], ["a"]]), ["b", "a"]),
        (np.array([[True], [False]]), [True, False]),
        (wide, ["b", None]),
        (large, [2**64 - 1, 2**64 - 2, 0]),
        (np.ma.array([[7], [8]], mask=[[True], [False]]), [None, 8]),
        (np.array([["NaT"]], dtype="M8[D]"), [None]),
        ([["a"], [nan], ["nan"]], ["a", None, "nan"]),
    ):
        assert categories(X) == expected


def test_masked_cells_are_missing_and_infinity_passes_to_whoever_calculates() -> None:
    masked = np.ma.array([[1.0], [2.0]], mask=[[False], [True]])
    assert np.array_equal(numbers(masked), [[1.0], [np.nan]], equal_nan=True)
    for dtype in ("f8", "f4", object):
        assert numbers(np.array([[np.inf]], dtype=dtype)).tolist() == [[np.inf]]
    assert len(read_table(np.empty((0, 2))).numbers(0, 0, 0)) == 0


UNITS = {"h": 24, "m": 1440, "s": 86_400, "ms": 86_400 * 10**3, "us": 86_400 * 10**6}


@given(
    st.integers(-80_000, 80_000), st.sampled_from(list(UNITS)), st.floats(0, 1, exclude_max=True)
)
def test_a_moment_is_the_same_number_in_every_finer_unit(day: int, unit: str, share: float) -> None:
    ticks = int(share * UNITS[unit])
    moments = np.array([day * UNITS[unit] + ticks], dtype=f"M8[{unit}]")
    finer = [*list(UNITS)[list(UNITS).index(unit) :], "ns"]
    found = {days(moments.astype(f"M8[{each}]"))[0] for each in finer}
    assert found == {day + ticks / UNITS[unit]}


def test_unusual_units_are_days_too() -> None:
    for moments, expected in (
        (np.array(["1970", "2020"], dtype="M8[Y]"), [0.0, 18262.0]),
        (np.array(["2020-02"], dtype="M8[M]"), [18293.0]),
        (np.array([2], dtype="M8[W]"), [14.0]),
        (np.array([2], dtype="m8[W]"), [14.0]),
        (np.array([3], dtype="m8[12h]"), [1.5]),
        (np.array([86_400 * 10**12], dtype="M8[ps]"), [1.0]),
        (np.array(["NaT"], dtype="M8"), [np.nan]),
        (np.array(["NaT", 1], dtype="m8[D]"), [np.nan, 1.0]),
        (np.array(["2020-01-02", "2020-01-01"], dtype="M8[D]")[::-1], [18262.0, 18263.0]),
    ):
        assert np.array_equal(days(moments), expected, equal_nan=True), moments.dtype
