"""Columns of one block of rows, in the three forms in which they are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal import native

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.data.values import Value, Values

HOLE = -1
UNKNOWN = -2


@dataclass(frozen=True)
class NumberColumn:
    """Numbers as float64; NaN is a hole."""

    values: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.values)

    def holes(self) -> NDArray[np.bool_]:
        """Which rows have no value."""
        return np.isnan(self.values)

    def take(self, rows: NDArray[Any]) -> NumberColumn:
        """Some of the rows, by position or by a mask."""
        return NumberColumn(self.values[rows])


@dataclass(frozen=True)
class CategoryColumn:
    """Codes: ranks in this block's sorted values; negative where there is no value."""

    values: Values
    codes: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.codes)

    def holes(self) -> NDArray[np.bool_]:
        """Which rows have no value."""
        return np.asarray(self.codes == HOLE)

    def take(self, rows: NDArray[Any]) -> CategoryColumn:
        """Some of the rows, by position or by a mask."""
        return CategoryColumn(self.values, self.codes[rows])

    def recode(self, place: dict[Value, int]) -> NDArray[np.int32]:
        """Codes by another list of values: HOLE stays, what the list lacks becomes UNKNOWN."""
        at = [place.get(value, UNKNOWN) for value in self.values]
        # the last entry is what code -1 finds
        return np.array([*at, HOLE], dtype=np.int32)[self.codes]


@dataclass(frozen=True)
class IntegerColumn:
    """Categories that are whole numbers, without holes, not yet ranked."""

    numbers: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.numbers)

    def holes(self) -> NDArray[np.bool_]:
        """No row is without a value."""
        return np.zeros(len(self), dtype=bool)

    def take(self, rows: NDArray[Any]) -> IntegerColumn:
        """Some of the rows, by position or by a mask."""
        return IntegerColumn(self.numbers[rows])

    def ranked(self) -> CategoryColumn:
        """The same rows as codes."""
        values, codes = native.rank_integers(self.numbers)
        return CategoryColumn(tuple(values.tolist()), codes)


Column = NumberColumn | CategoryColumn | IntegerColumn


def as_categories(column: Column) -> CategoryColumn:
    """A column of categories as codes."""
    if isinstance(column, IntegerColumn):
        return column.ranked()
    assert isinstance(column, CategoryColumn)  # noqa: S101  (kinds are fixed by the schema)
    return column


def as_numbers(column: Column) -> NDArray[np.float64]:
    """A column of numbers as float64."""
    assert isinstance(column, NumberColumn)  # noqa: S101  (kinds are fixed by the schema)
    return column.values


def given_values(column: Column) -> list[Value | None]:
    """The values of a category column as they were given, row by row; None where there is none."""
    ranked = as_categories(column)
    listed = [*ranked.values, None]  # code -1 finds the last
    return [listed[v] for v in ranked.codes.tolist()]


def rank_array(raw: NDArray[Any], holes: NDArray[np.bool_] | None = None) -> CategoryColumn:
    """Codes of an array of sortable items of one type, with holes marked by a mask."""
    codes = np.full(len(raw), HOLE, dtype=np.int32)
    keep = slice(None) if holes is None else ~holes
    values, inverse = np.unique(raw[keep], return_inverse=True)
    codes[keep] = inverse
    return CategoryColumn(tuple(_plain(value) for value in values.tolist()), codes)


def _plain(value: Any) -> Value:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, bool | int | float) else str(value)
