"""Rows to start from where a reader decides in the page: typical ones, or real ones."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import narwhals as nw

from sortal.data.values import is_hole

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sortal.data.schema import ColumnSchema

    Start = tuple[str, Mapping[str, Any]]

# So many classes have a typical row to start from.
MOST_CLASSES = 12
# The middle of fewer rows would nearly be a row itself, and rows are not shown unasked.
_FEWEST = 5
# Digits of a typical number: one with all of them would be somebody's.
_DIGITS = 4
# So many rows of a class say what is typical.
_LOOKED_AT = 5000


def typical_rows(
    X: Any, y: Any, classes: Sequence[Any], columns: Sequence[ColumnSchema]
) -> list[Start]:
    """For each of the largest classes the middle of its numbers and its most frequent words."""
    frame = nw.from_native(X, eager_only=True)
    places: dict[Any, list[int]] = {label: [] for label in classes}
    for i, label in enumerate(nw.from_native(y, series_only=True).to_list()):
        places.setdefault(label, []).append(i)
    enough = [label for label in classes if len(places[label]) >= _FEWEST]
    largest = sorted(enough, key=lambda label: -len(places[label]))[:MOST_CLASSES]
    return [
        (f"a typical row of {label}", _typical(frame, places[label], columns))
        for label in enough
        if label in largest
    ]


def real_rows(X: Any, numbers: Sequence[int], columns: Sequence[ColumnSchema]) -> list[Start]:
    """Rows as they are, by their numbers from 1."""
    frame = nw.from_native(X, eager_only=True)
    some = frame[[number - 1 for number in numbers]]
    cells = _cells(some, columns)
    return [
        (f"row {number}", {name: _plain(cells[name][i]) for name in cells})
        for i, number in enumerate(numbers)
    ]


def _typical(
    frame: nw.DataFrame[Any], rows: Sequence[int], columns: Sequence[ColumnSchema]
) -> dict[str, Any]:
    some = frame[list(rows[:: 1 + len(rows) // _LOOKED_AT])]
    cells = _cells(some, columns)
    return {column.name: _middle(cells[column.name], column.is_number) for column in columns}


def _cells(frame: nw.DataFrame[Any], columns: Sequence[ColumnSchema]) -> dict[str, list[Any]]:
    """The cells of columns by the names of the schema; those of a frame need not be words."""
    own = {str(name): name for name in frame.columns}
    return {c.name: frame.get_column(own[c.name]).to_list() for c in columns}


def _middle(cells: list[Any], is_number: bool) -> Any:
    """The lower median of numbers, rounded, and of dates; the most frequent of words; or None."""
    known = [cell for cell in cells if not is_hole(cell)]
    if not known:
        return None
    if is_number:
        return _rounded(sorted(known)[(len(known) - 1) // 2])
    counts: dict[Any, int] = {}
    for cell in known:
        counts[cell] = counts.get(cell, 0) + 1
    most = max(counts, key=lambda cell: counts[cell])
    return _plain(most) if counts[most] > 1 else None


def _rounded(middle: Any) -> Any:
    """A few digits of a number, the month of a date."""
    if isinstance(middle, int | float) and not isinstance(middle, bool):
        return type(middle)(float(f"{middle:.{_DIGITS}g}"))
    if isinstance(middle, datetime):
        return middle.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return middle.replace(day=1) if isinstance(middle, date) else _plain(middle)


def _plain(cell: Any) -> Any:
    return None if is_hole(cell) else cell
