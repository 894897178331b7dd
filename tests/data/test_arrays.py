"""Arrays and lists of rows: any layout, any byte order, read without being changed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sortal.data.arrays import ArrayTable
from sortal.data.columns import as_categories
from sortal.data.objects import days
from sortal.data.table import read_table
from sortal.errors import InputError

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


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    array = array.copy()
    array.flags.writeable = False
    return array


LAYOUTS = {
    "C order": GRID,
    "F order": np.asfortranarray(GRID),
    "every other row and column": np.repeat(np.repeat(GRID, 2, 0), 2, 1)[::2, ::2],
    "backwards twice": np.flip(np.flip(GRID).copy()),
    "transposed": GRID.T.copy().T,
    "read only": read_only(GRID),
    "big endian": GRID.astype(">f8"),
    "float32": GRID.astype(np.float32),
    "float16": GRID.astype(np.float16),
    "long double": GRID.astype(np.longdouble),
    "int8": GRID.astype(np.int8),
    "uint64": GRID.astype(np.uint64),
    "big endian whole": GRID.astype(">i4"),
    "objects": GRID.astype(object),
    "list of rows": GRID.tolist(),
    "tuple of rows": tuple(map(tuple, GRID.tolist())),
    "list of arrays": list(GRID),
}
every_layout = pytest.mark.parametrize("X", LAYOUTS.values(), ids=LAYOUTS)


@every_layout
def test_any_layout_gives_the_same_numbers(X: Any) -> None:
    found = numbers(X)
    assert found.dtype == np.float64
    assert np.array_equal(found, GRID)


@every_layout
def test_any_layout_gives_the_same_categories(X: Any) -> None:
    assert [categories(X, j) for j in range(3)] == GRID.T.tolist()


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_a_matrix_is_an_array() -> None:
    assert np.array_equal(numbers(np.asmatrix(GRID)), GRID)


def test_a_memory_map_is_read_in_place(tmp_path: Path) -> None:
    np.save(tmp_path / "grid.npy", GRID)
    mapped = np.load(tmp_path / "grid.npy", mmap_mode="r")
    column = read_table(mapped).numbers(1, 0, 4).values
    assert type(column) is np.ndarray
    assert np.shares_memory(column, mapped)
    assert column.tolist() == GRID[:, 1].tolist()


def test_float64_is_read_without_a_copy() -> None:
    assert np.shares_memory(read_table(GRID).numbers(1, 0, 4).values, GRID)


def test_a_value_repeated_without_memory_is_read() -> None:
    assert np.array_equal(numbers(np.broadcast_to(np.float64(7), (4, 2))), np.full((4, 2), 7.0))


def test_columns_are_named_by_their_place() -> None:
    table = read_table(GRID)
    assert table.names == ("x0", "x1", "x2")
    assert not table.has_names
    assert table.backend is None


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
    ],
    ids=lambda part: str(getattr(part, "dtype", "")),
)
def test_the_type_of_an_array_tells_its_kind(X: Any, kinds: list[str]) -> None:
    assert kinds_of(X) == kinds


def test_words_and_truth_values_are_categories() -> None:
    assert categories(np.array([["b"], ["a"]])) == ["b", "a"]
    assert categories(np.array([[True], [False]])) == [True, False]


def test_strings_of_any_width_may_have_holes() -> None:
    wide = np.array([["b"], [None]], dtype=np.dtypes.StringDType(na_object=None))
    assert categories(wide) == ["b", None]


def test_the_largest_whole_numbers_are_categories_of_their_own() -> None:
    large = np.array([[2**64 - 1], [2**64 - 2], [0]], dtype=np.uint64)
    assert categories(large) == [2**64 - 1, 2**64 - 2, 0]


def test_masked_cells_are_holes() -> None:
    masked = np.ma.array([[1.0], [2.0]], mask=[[False], [True]])
    assert np.array_equal(numbers(masked), [[1.0], [np.nan]], equal_nan=True)
    assert categories(np.ma.array([[7], [8]], mask=[[True], [False]])) == [None, 8]


@pytest.mark.parametrize("dtype", [np.float64, np.float32, object])
def test_infinity_passes_to_whoever_calculates(dtype: Any) -> None:
    array = np.array([[1.0, np.inf]], dtype=dtype)
    assert read_table(array).numbers(1, 0, 1).values.tolist() == [np.inf]


def test_infinity_is_no_category() -> None:
    with pytest.raises(InputError, match=r"Column 'x0' holds infinite values"):
        categories(np.array([[np.inf]]))


def test_words_are_not_numbers() -> None:
    with pytest.raises(InputError, match=r"Column 'x0' .* holds words: convert it to numbers"):
        numbers(np.array([["1"]]))


def test_a_word_among_objects_is_not_a_number() -> None:
    with pytest.raises(InputError, match=r"Column 'x0' is read as numbers, and holds '1' \(str\)"):
        numbers(np.array([[1.0], ["1"]], dtype=object))


def test_dates_are_no_categories_unless_all_are_holes() -> None:
    with pytest.raises(InputError, match=r"Column 'x0' holds dates.*convert the column to strings"):
        categories(np.array([["2020-01-01"]], dtype="M8[D]"))
    assert categories(np.array([["NaT"]], dtype="M8[D]")) == [None]


def test_an_array_without_rows_has_columns() -> None:
    assert kinds_of(np.empty((0, 2))) == ["number", "number"]
    assert numbers(np.empty((2, 2))).shape == (2, 2)
    assert len(read_table(np.empty((0, 2))).numbers(0, 0, 0)) == 0


def test_one_name_can_be_given_to_a_column() -> None:
    assert ArrayTable(np.zeros((1, 1)), ("y",)).column_schema(0).name == "y"


# --- Lists of rows -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "kinds"),
    [
        ([["a", 1.5], ["b", 2]], ["category", "number"]),
        ([["a", float("nan")], [float("nan"), 1]], ["category", "number"]),
        ([[True, 1.5], [False, 2]], ["category", "number"]),
        ([[True], [False]], ["category"]),
        ([[1, None], [2, "a"]], ["number", "category"]),
        ([("a", None), ("b", None)], ["category", "empty"]),
        ([["1", 1]], ["category", "number"]),
    ],
    ids=str,
)
def test_each_column_of_a_list_of_rows_has_its_own_kind(rows: Any, kinds: list[str]) -> None:
    assert kinds_of(rows) == kinds


def test_a_hole_among_words_is_not_the_word_nan() -> None:
    assert categories([["a"], [float("nan")], ["nan"]]) == ["a", None, "nan"]


def test_a_large_whole_number_beside_fractions_is_not_rounded() -> None:
    with pytest.raises(InputError, match=r"9007199254740993 .*2\*\*53"):
        numbers([[2**53 + 1, 1.5]])


# --- Days ----------------------------------------------------------------------------------------

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


@pytest.mark.parametrize(
    ("moments", "expected"),
    [
        (np.array(["1970", "2020"], dtype="M8[Y]"), [0.0, 18262.0]),
        (np.array(["2020-02"], dtype="M8[M]"), [18293.0]),
        (np.array([2], dtype="M8[W]"), [14.0]),
        (np.array([2], dtype="m8[W]"), [14.0]),
        (np.array([3], dtype="m8[12h]"), [1.5]),
        (np.array([86_400 * 10**12], dtype="M8[ps]"), [1.0]),
        (np.array(["NaT"], dtype="M8"), [np.nan]),
        (np.array(["NaT", 1], dtype="m8[D]"), [np.nan, 1.0]),
        (np.array(["2020-01-02", "2020-01-01"], dtype="M8[D]")[::-1], [18262.0, 18263.0]),
    ],
    ids=lambda part: str(getattr(part, "dtype", "")),
)
def test_unusual_units_are_days_too(moments: NDArray[Any], expected: list[float]) -> None:
    assert np.array_equal(days(moments), expected, equal_nan=True)
