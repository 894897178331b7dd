"""Tables that are NumPy arrays, or become one (lists of rows), also arrays of Python objects."""

from __future__ import annotations

import datetime as dt
import numbers
import reprlib
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from sortal.data.columns import (
    MISSING,
    CategoryColumn,
    ColumnSchema,
    IntegerColumn,
    Kind,
    NumberColumn,
    Values,
    as_categories,
    as_value,
    is_missing,
    rank_array,
    sort_values,
)
from sortal.errors import ColumnError, InputError, InputTypeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from sortal._typing import Float, TableLike
    from sortal.data.columns import Kind, Value


# --- Arrays of Python objects: what they hold, and how it is read --------------------------------

_DATES = dt.date | np.datetime64

_SPANS = dt.timedelta | np.timedelta64

# Ticks of a day in the units in which dates are kept.
_TICKS = {
    "D": 1,
    "h": 24,
    "m": 1440,
    "s": 86_400,
    "ms": 86_400 * 10**3,
    "us": 86_400 * 10**6,
    "ns": 86_400 * 10**9,
}


def objects_of(items: Sequence[Any]) -> NDArray[Any]:
    """A list as an array of objects, also where the items are themselves lists."""
    return np.fromiter(items, dtype=object, count=len(items))


def kind_of_objects(cells: Iterable[Any]) -> Kind:
    """Numbers are numbers and dates are dates, also as objects; with words, it is a category."""
    kinds = {_kind_of(cell) for cell in cells if not is_missing(cell)}
    if not kinds:
        return "empty"
    if kinds == {"date"}:
        return "date"
    return "number" if kinds in ({"number"}, {"span"}) else "category"


def _kind_of(cell: object) -> str:
    if isinstance(cell, str | bool | np.bool_):
        return "category"
    if isinstance(cell, _DATES):
        return "date"
    if isinstance(cell, _SPANS):
        return "span"
    return "number" if isinstance(cell, numbers.Real | Decimal) else "category"


def rank_objects(cells: NDArray[Any], name: str) -> CategoryColumn:
    """Codes of a column of objects."""
    codes = np.empty(len(cells), dtype=np.int32)
    first_seen: dict[Any, int] = {}
    for i, cell in enumerate(cells):
        try:
            codes[i] = MISSING if is_missing(cell) else first_seen.setdefault(cell, len(first_seen))
        except TypeError:  # not hashable
            raise _not_a_category(cell, name) from None
    return rank_by_value(list(first_seen), codes, name)


def rank_by_value(items: Iterable[Any], codes: NDArray[Any], name: str) -> CategoryColumn:
    """Codes into a list of items, in any order, become ranks in the sorted values."""
    values = read_values(items, name)
    met = np.zeros(len(values) + 1, dtype=bool)  # a dictionary may list more than the rows hold
    met[codes] = True
    ranked = sort_values(
        v for v, is_met in zip(values, met[:-1], strict=True) if is_met and v is not None
    )
    place = {value: v for v, value in enumerate(ranked)}
    at = [place.get(value, MISSING) if value is not None else MISSING for value in values]
    return CategoryColumn(ranked, np.array([*at, MISSING], dtype=np.int32)[codes])


def read_values(items: Iterable[Any], name: str) -> list[Value | None]:
    """Items as values, None for missing values; an error names what cannot be a category."""
    values = []
    for item in items:
        try:
            values.append(as_value(item))
        except TypeError:
            raise _not_a_category(item, name) from None
    return values


def numbers_from_objects(cells: NDArray[Any], name: str) -> Float:
    """A column of numbers or dates kept as objects, as float64."""
    numbers_read = np.empty(len(cells))
    for i, cell in enumerate(cells):
        try:
            numbers_read[i] = np.nan if is_missing(cell) else _as_number(cell)
        except (TypeError, ValueError, OverflowError):
            raise _not_a_number(cell, name) from None
    return numbers_read


def _as_number(cell: Any) -> float:
    if isinstance(cell, str):
        raise TypeError(cell)  # a word that looks like a number is still a word
    if isinstance(cell, _DATES | _SPANS):
        return _as_days(cell)
    if isinstance(cell, numbers.Integral) and abs(int(cell)) > 2**53:
        raise ValueError(cell)
    return float(cell)


def _as_days(cell: Any) -> float:
    if getattr(cell, "tzinfo", None) is not None:  # as libraries do it: the same instant in UTC
        cell = cell.astimezone(dt.UTC).replace(tzinfo=None)
    if hasattr(cell, "to_numpy"):  # pandas keeps nanoseconds, which Python's datetime has not
        cell = cell.to_numpy()
    unit = "m8" if isinstance(cell, _SPANS) else "M8"
    return float(days(np.array([cell], dtype=unit))[0])


def days(dates: NDArray[Any]) -> Float:
    """Dates or spans of time as days (dates: since 1970-01-01); NaT becomes NaN.

    The unit is not changed on the way: in nanoseconds, int64 ends in the year 2262. Whole days and
    the rest are divided apart, so that every unit gives the same number.
    """
    letter, (unit, _) = dates.dtype.kind, np.datetime_data(dates.dtype)
    if unit not in _TICKS:  # months and weeks are too coarse for a rest, picoseconds too fine
        unit = {"ps": "ns", "fs": "ns", "as": "ns"}.get(unit, "D" if letter == "M" else "s")
    ticks = dates.astype(f"{letter}8[{unit}]").view(np.int64)
    whole, rest = np.divmod(ticks, _TICKS[unit])
    return np.where(np.isnat(dates), np.nan, whole + rest / _TICKS[unit])


def _not_a_category(cell: object, name: str) -> InputTypeError:
    return InputTypeError(
        f"Column {name!r} holds {reprlib.repr(cell)} ({type(cell).__name__}): a cell of a category "
        "column, that is, an argument must be a string, a truth value or a finite number. Convert "
        "the column, for example to strings, or drop it."
    )


def _not_a_number(cell: object, name: str) -> InputError:
    return InputError(
        f"Column {name!r} is read as numbers, and holds {reprlib.repr(cell)} "
        f"({type(cell).__name__}), which cannot be read as one: whole numbers up to 2**53, "
        "decimals, dates and spans of time can."
    )


class ArrayTable:
    """A two-dimensional array; its columns are called x0, x1, … and matched by position."""

    has_names = False
    """Whether columns are matched by name (else by position)."""
    string_names = False
    """Whether all names are strings, as scikit-learn wants them for feature_names_in_."""
    backend: str | None = None
    """The data frame library that came in, None for arrays."""

    def __init__(self, array: NDArray[Any], names: tuple[str, ...] | None = None) -> None:
        self._array = array
        self.n_rows = len(array)
        self.names = names or tuple(f"x{j}" for j in range(array.shape[1]))

    def column_schema(self, j: int) -> ColumnSchema:
        """Name and kind of a column."""
        kinds: dict[str, Kind] = {"b": "category", "U": "category", "M": "date"}
        letter = self._array.dtype.kind
        kind = kinds.get(letter, "number")
        return ColumnSchema(
            self.names[j], kind_of_objects(self._array[:, j]) if letter == "O" else kind
        )

    def numbers(self, j: int, start: int, stop: int) -> NumberColumn:
        """Rows start .. stop - 1 of a column as float64."""
        cells = aligned(self._array[start:stop, j])
        return NumberColumn(as_float64(cells, self.names[j]))

    def categories(self, j: int, start: int, stop: int) -> CategoryColumn | IntegerColumn:
        """Rows start .. stop - 1 of a column as categories."""
        return categories_of(aligned(self._array[start:stop, j]), self.names[j])

    def distinct(self, j: int, start: int, stop: int) -> CategoryColumn | IntegerColumn:
        """Rows start .. stop - 1 of a column of numbers or dates as values: equal or not."""
        if self._array.dtype.kind in "iu":
            return self.categories(j, start, stop)
        return distinct_numbers(self.numbers(j, start, stop).values, self.names[j])

    def matrix_type(self, columns: Sequence[int]) -> np.dtype[Any]:
        """The type that holds some number columns without loss: float32 where that is enough."""
        narrow = self._array.dtype.kind == "f" and self._array.dtype.itemsize <= 4
        return np.dtype(np.float32 if narrow and len(columns) else np.float64)

    def matrix(self, columns: Sequence[int], start: int, stop: int) -> NDArray[np.floating[Any]]:
        """Rows start .. stop - 1 of number columns, row by row; a view where it can be one."""
        cells, dtype = self._array[start:stop], self.matrix_type(columns)
        if list(columns) != list(range(len(self.names))):
            cells = cells[:, list(columns)]
        letter, wide = cells.dtype.kind, cells.dtype.itemsize > 4
        if letter == "f" or (letter in "iub" and not (wide and _is_beyond(cells))):
            return np.ascontiguousarray(aligned(cells), dtype=dtype)
        filled = np.empty((stop - start, len(columns)), dtype=dtype)
        for place, j in enumerate(columns):
            filled[:, place] = as_float64(aligned(cells[:, place]), self.names[j])
        return filled


def _is_beyond(cells: NDArray[Any]) -> bool:
    """Whether some whole number is so large that float64 cannot tell it from its neighbors."""
    return bool(cells.size) and max(-int(cells.min()), int(cells.max())) > 2**53


def distinct_numbers(numbers: Float, name: str) -> CategoryColumn:
    """Numbers as values, which are equal or not."""
    if np.isinf(numbers).any():
        raise infinite(name)
    return rank_array(numbers, np.isnan(numbers))


def aligned(cells: NDArray[Any]) -> NDArray[Any]:
    """Cells that lie across the machine's words, as in packed records, are copied."""
    return np.require(cells, requirements="A")


def categories_of(cells: NDArray[Any], name: str) -> CategoryColumn | IntegerColumn:
    """The cells of an array as categories."""
    letter = cells.dtype.kind
    if letter == "O":
        return rank_objects(cells, name)
    if letter in "iu" and (letter == "i" or cells.dtype.itemsize < 8):
        return IntegerColumn(cells.astype(np.int64, copy=False))
    if letter == "f":
        return distinct_numbers(as_float64(cells, name), name)
    if letter in "mM":
        if np.isnat(cells).all():
            return CategoryColumn((), np.full(len(cells), MISSING, dtype=np.int32))
        raise InputError(
            f"Column {name!r} holds dates, which are numbers of days: to use them as categories, "
            "convert the column to strings first."
        )
    return rank_array(cells)


def as_float64(cells: NDArray[Any], name: str) -> Float:
    """Cells as float64, without loss; NaN where there is a missing value.

    Infinities pass: who calculates with the numbers meets them anyway, and refuses them by name
    (`infinite`) without a pass over the rows of its own.
    """
    letter = cells.dtype.kind
    if letter == "f":
        return cells.astype(np.float64, copy=False)
    if letter == "O":
        return numbers_from_objects(cells, name)
    if letter in "mM":
        return days(cells)
    if letter not in "iub":
        raise InputError(
            f"Column {name!r} was fitted as numbers, and now holds words: convert it to numbers, "
            "or fit again with it as words."
        )
    if letter in "iu" and _is_beyond(cells):
        raise InputError(
            f"Column {name!r} holds whole numbers beyond 2**53, which float64 cannot tell apart: "
            "if they are identifiers, convert the column to strings or drop it."
        )
    return cells.astype(np.float64, copy=False)


# The squares of larger numbers, times the units of all weights, may exceed what float64 holds.
LARGEST = 1e140


def too_large(name: str) -> InputError:
    """The error for numbers whose squares are beyond float64."""
    return InputError(
        f"Column {name!r} holds numbers beyond {LARGEST:g}, whose squares cannot be added up: "
        "divide the column by a constant."
    )


def infinite(name: str, allowed: str = "finite numbers and missing values (NaN)") -> InputError:
    """The error for a column with infinite values."""
    return InputError(
        f"Column {name!r} holds infinite values (infinity, inf or -inf): only {allowed} are "
        "allowed. Replace or drop them."
    )


def check_matrix(matrix: NDArray[np.floating[Any]], names: Sequence[str]) -> None:
    """Refuse a matrix of numbers that holds infinite ones, or such as cannot be squared.

    Numbers without missing values take a pass for the least and one for the largest, and no memory.
    """
    if not matrix.size or max(-float(matrix.min()), float(matrix.max())) <= LARGEST:
        return
    most = min(LARGEST, float(np.finfo(matrix.dtype).max))
    large = (np.abs(matrix) > most).any(axis=0)  # missing values are not
    if large.any():
        j = int(large.argmax())
        raise infinite(names[j]) if np.isinf(matrix[:, j]).any() else too_large(names[j])


def as_two_dimensional(X: TableLike) -> NDArray[Any]:
    """Whatever NumPy can read as a table, or an error that says why not."""
    array = X if isinstance(X, np.ndarray) else _from_sequence(X)
    if array.dtype.kind == "c":
        raise InputError("Complex data not supported: give real numbers, words or dates.")
    if array.dtype.kind in "SV":
        raise InputTypeError(
            f"An array of type {array.dtype} was given: a table holds numbers, words, truth "
            "values or dates. Decode bytes to strings; turn records into a data frame."
        )
    if array.ndim == 0:
        raise InputError(
            f"Expected 2D array, got a {type(X).__name__} instead: give a data frame, a "
            "two-dimensional array or a list of rows of equal length."
        )
    if array.ndim != 2:
        raise InputError(
            f"Expected 2D array, got {array.ndim}D array instead, of shape {array.shape}. Reshape "
            "your data: one row a case and one column an attribute, with array.reshape(-1, 1) for "
            "a single column or array.reshape(1, -1) for a single row."
        )
    return plain_array(array)


def plain_array(array: NDArray[Any]) -> NDArray[Any]:
    """A plain view of a matrix or a memory map; masked cells and words of any width as objects."""
    if isinstance(array, np.ma.MaskedArray):
        cells = array.data.astype(object)
        cells[np.ma.getmaskarray(array)] = None
        return cells
    return array.astype(object) if array.dtype.kind == "T" else np.asarray(array)


def _from_sequence(X: TableLike) -> NDArray[Any]:
    if hasattr(X, "__cuda_array_interface__"):
        raise InputTypeError(
            "An array on a graphics card was given: sortal reads arrays in main memory. "
            "Copy it there first."
        )
    try:
        array = np.asarray(X)
        return np.asarray(X, dtype=object) if _is_changed(array, X) else array
    except (TypeError, ValueError) as error:
        raise InputError(
            f"This {type(X).__name__} cannot be read as a table ({error}): give a data frame, a "
            "two-dimensional array or a list of rows of equal length."
        ) from None


def _is_changed(array: NDArray[Any], rows: object) -> bool:
    """Whether NumPy brought different things in a list to one type at the cost of some.

    Words beside numbers become words throughout, truth values beside numbers become numbers, and
    whole numbers beyond 2**53 beside fractions lose digits.
    """
    letter = array.dtype.kind
    if letter in "US":
        return True
    if not isinstance(rows, list | tuple) or letter not in "iuf" or array.ndim != 2:
        return False
    if letter == "f" and (np.abs(array) >= 2**53).any():
        return True
    listed = (row for row in rows if isinstance(row, list | tuple))
    return any(isinstance(cell, bool | np.bool_) for row in listed for cell in row)


def two_sum(a: Float, b: Float) -> tuple[Float, Float]:
    """a + b, and what its rounding left out: together exact. (Knuth)"""
    total = a + b
    added = total - a
    return total, (a - (total - added)) + (b - added)


# --- Tables that are data frames of any library narwhals knows, and how each ranks categories -----


# --- Categories of a data frame's column: each library ranks its own words -----------------------


def rank_series(series: nw.Series[Any]) -> CategoryColumn:
    """Codes of a column of words, truth values or declared categories.

    Ranking 10,000,000 words took 0.4 s by polars itself and 2.5 s by way of Python objects.
    """
    rank = _RANKERS.get(series.implementation, _rank_by_python)
    return rank(series)


def declared_values(series: nw.Series[Any]) -> tuple[Values, Values]:
    """The values that a column's type declares, and those whose order it declares."""
    if series.dtype not in (nw.Categorical, nw.Enum):
        return (), ()
    pandas_like = series.implementation.is_pandas_like()
    dtype = series.to_native().dtype if pandas_like else series.dtype
    # of Arrow's and polars' categoricals the type does not say which values there are
    items = read_values(getattr(dtype, "categories", ()), series.name)
    levels = tuple(value for value in items if value is not None)
    ordered = getattr(dtype, "ordered", False) if pandas_like else series.dtype == nw.Enum
    return (levels, levels) if ordered else (sort_values(levels), ())


def _rank_by_polars(series: nw.Series[Any]) -> CategoryColumn:
    import polars as pl  # noqa: PLC0415  (only where a polars frame came in)

    native = series.to_native().cast(pl.String)
    words = native.unique().drop_nulls().sort()
    codes = native.cast(pl.Enum(words)).to_physical().cast(pl.Int32).fill_null(-1)
    return rank_by_value(words.to_list(), codes.to_numpy(), series.name)


def _rank_by_pandas(series: nw.Series[Any]) -> CategoryColumn:
    try:
        codes, items = series.to_native().factorize()
    except TypeError:  # something among the words cannot be hashed; the slow way names it
        return _rank_by_python(series)
    return rank_by_value(list(items), codes, series.name)


def _rank_by_pyarrow(series: nw.Series[Any]) -> CategoryColumn:
    encoded = series.to_native().dictionary_encode().unify_dictionaries().combine_chunks()
    chunk = encoded if hasattr(encoded, "indices") else encoded.chunk(0)
    codes = chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    return rank_by_value(chunk.dictionary.to_pylist(), codes, series.name)


def _rank_by_python(series: nw.Series[Any]) -> CategoryColumn:
    return rank_objects(objects_of(series.to_list()), series.name)


_RANKERS = {
    nw.Implementation.POLARS: _rank_by_polars,
    nw.Implementation.PANDAS: _rank_by_pandas,
    nw.Implementation.PYARROW: _rank_by_pyarrow,
}

_WORDS = (nw.String, nw.Categorical, nw.Enum)

_DATE_TYPES = (nw.Date, nw.Datetime)


_WIDER_THAN_NUMPY = (nw.Int128, nw.UInt128)

# Types of which float32 holds every value, by their names: not every release knows them all.
_NARROW = {"Float16", "Float32"}

_SHORT = {"Int8", "Int16", "UInt8", "UInt16", "Boolean"}


class FrameTable:
    """A data frame; its columns are matched by name, also by names that are numbers."""

    has_names = True

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self._columns = list(frame.iter_columns())
        self.n_rows = len(frame)
        self.names = tuple(str(name) for name in frame.columns)
        self.string_names = all(isinstance(name, str) for name in frame.columns)
        self.backend: str | None = str(frame.implementation)
        if len(set(self.names)) < len(self.names):
            raise ColumnError(
                "Two columns of this table have the same name, once as a string and once as "
                "something else: rename them, so that each name occurs once."
            )

    def column_schema(self, j: int) -> ColumnSchema:
        """Name, kind and declared values of a column."""
        series = self._columns[j]
        values, order = declared_values(series)
        return ColumnSchema(self.names[j], _kind(series, self.names[j]), values, order)

    def numbers(self, j: int, start: int, stop: int) -> NumberColumn:
        """Rows start .. stop - 1 of a column as float64."""
        series, name = self._columns[j][start:stop], self.names[j]
        if series.dtype.is_decimal():
            series = series.cast(nw.Float64())
        if series.dtype in _WORDS and not _is_of_objects(series):
            if series.null_count() < len(series):
                raise ColumnError(
                    f"Column {name!r} was fitted as numbers, and now holds words "
                    f"({series.dtype}): convert it to numbers, or fit again with it as words."
                )
            return NumberColumn(np.full(len(series), np.nan))
        if _has_whole_numbers_and_missing(series):
            # with missing values they come as float64: whether they fit can be told from the rest
            # only
            as_float64(_cells(series.drop_nulls()), name)
        return NumberColumn(as_float64(_cells(series), name))

    def categories(self, j: int, start: int, stop: int) -> CategoryColumn | IntegerColumn:
        """Rows start .. stop - 1 of a column as categories."""
        series, name = self._columns[j][start:stop], self.names[j]
        if series.dtype in _WORDS:
            return rank_series(series)
        if _has_whole_numbers_and_missing(series):
            present = as_categories(categories_of(_cells(series.drop_nulls()), name))
            codes = np.full(len(series), MISSING, dtype=np.int32)
            codes[~series.is_null().to_numpy()] = present.codes
            return CategoryColumn(present.values, codes)
        return categories_of(_cells(series), name)

    def distinct(self, j: int, start: int, stop: int) -> CategoryColumn | IntegerColumn:
        """Rows start .. stop - 1 of a column of numbers or dates as values: equal or not."""
        if self._columns[j].dtype.is_integer():
            return self.categories(j, start, stop)
        return distinct_numbers(self.numbers(j, start, stop).values, self.names[j])

    def matrix_type(self, columns: Sequence[int]) -> np.dtype[Any]:
        """The type that holds some number columns without loss: float32 where that is enough."""
        types = {str(self._columns[j].dtype) for j in columns}
        narrow = bool(types & _NARROW) and types <= _NARROW | _SHORT
        return np.dtype(np.float32 if narrow else np.float64)

    def matrix(self, columns: Sequence[int], start: int, stop: int) -> NDArray[np.floating[Any]]:
        """Rows start .. stop - 1 of number columns, row by row."""
        filled = np.empty((stop - start, len(columns)), dtype=self.matrix_type(columns))
        for place, j in enumerate(columns):
            filled[:, place] = self.numbers(j, start, stop).values
        return filled


def _cells(series: nw.Series[Any]) -> NDArray[Any]:
    if series.dtype in _WIDER_THAN_NUMPY:
        return objects_of(series.to_list())
    cells = series.to_numpy()
    # a column of nulls has no type
    return np.asarray(cells, dtype=object) if series.dtype == nw.Unknown else cells


def _has_whole_numbers_and_missing(series: nw.Series[Any]) -> bool:
    return series.dtype.is_integer() and series.null_count() > 0


def _is_of_objects(series: nw.Series[Any]) -> bool:
    """Whether the cells are Python objects; narwhals calls them words if the first hundred are."""
    return series.implementation.is_pandas_like() and bool(series.to_native().dtype == object)


def _kind(series: nw.Series[Any], name: str) -> Kind:
    dtype = series.dtype
    if dtype == nw.String and _is_of_objects(series) and series.head(100).is_null().all():
        return kind_of_objects(series.to_numpy())
    if dtype in _WORDS or dtype == nw.Boolean:
        return "category"
    if dtype.is_numeric() or dtype == nw.Duration:
        return "number"
    if dtype in _DATE_TYPES:
        return "date"
    if dtype in (nw.Object, nw.Unknown):
        return kind_of_objects(series.to_numpy())
    raise ColumnError(
        f"Column {name!r} has the type {dtype}, which no learner reads: numbers, words, "
        "truth values, categories and dates are read. Convert it or drop the column."
    )
