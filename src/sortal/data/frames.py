"""Tables that are data frames of any library narwhals knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from sortal.data.arrays import as_float64, categories_of
from sortal.data.codes import declared_values, rank_series
from sortal.data.columns import CategoryColumn, IntegerColumn, NumberColumn
from sortal.data.objects import kind_of_objects
from sortal.data.schema import ColumnSchema
from sortal.errors import ColumnError

if TYPE_CHECKING:
    from sortal.data.schema import Kind

_WORDS = (nw.String, nw.Categorical, nw.Enum, nw.Boolean)
_DATES = (nw.Date, nw.Datetime)


class FrameTable:
    """A data frame; its columns are matched by name."""

    has_names = True

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self._frame = frame
        self._columns = list(frame.iter_columns())
        self.n_rows = len(frame)
        self.names = tuple(str(name) for name in frame.columns)
        self.has_names = all(isinstance(name, str) for name in frame.columns)
        self.backend: str | None = str(frame.implementation)

    def column_schema(self, j: int) -> ColumnSchema:
        """Name, kind and declared values of a column."""
        series = self._columns[j]
        values, ordered = declared_values(series)
        return ColumnSchema(self.names[j], _kind(series, self.names[j]), values, ordered)

    def numbers(self, j: int, start: int, stop: int) -> NumberColumn:
        """Rows start .. stop - 1 of a column as float64."""
        series = self._columns[j][start:stop]
        if series.dtype.is_decimal():
            series = series.cast(nw.Float64())
        if series.dtype in _WORDS and series.dtype != nw.Boolean:
            raise ColumnError(
                f"Column {self.names[j]!r} was fitted as numbers, and now holds words "
                f"({series.dtype}): convert it to numbers, or fit again with it as words."
            )
        return NumberColumn(as_float64(series.to_numpy(), self.names[j]))

    def categories(self, j: int, start: int, stop: int) -> CategoryColumn | IntegerColumn:
        """Rows start .. stop - 1 of a column as categories."""
        series = self._columns[j][start:stop]
        if series.dtype in _WORDS[:3]:
            return rank_series(series)
        cells = series.to_numpy()
        if series.dtype == nw.Unknown:  # a column of nulls has no type
            cells = np.asarray(cells, dtype=object)
        return categories_of(cells, self.names[j])


def _kind(series: nw.Series[Any], name: str) -> Kind:
    dtype = series.dtype
    if dtype in _WORDS:
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
