"""Tables that are data frames of any library narwhals knows, and how each ranks categories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from sortal.data.arrays import (
    as_float64,
    categories_of,
    distinct_numbers,
    kind_of_objects,
    objects_of,
    rank_by_value,
    rank_objects,
    read_values,
)
from sortal.data.columns import MISSING, CategoryColumn, IntegerColumn, NumberColumn, as_categories
from sortal.data.schema import ColumnSchema
from sortal.data.values import Values, sort_values
from sortal.errors import ColumnError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal.data.schema import Kind


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

_DATES = (nw.Date, nw.Datetime)

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
    if dtype in _DATES:
        return "date"
    if dtype in (nw.Object, nw.Unknown):
        return kind_of_objects(series.to_numpy())
    raise ColumnError(
        f"Column {name!r} has the type {dtype}, which no learner reads: numbers, words, "
        "truth values, categories and dates are read. Convert it or drop the column."
    )
