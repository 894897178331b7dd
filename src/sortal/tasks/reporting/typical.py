"""Rows to start from where a reader decides in the page: typical ones, or real ones."""

from __future__ import annotations

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
    cells = {column.name: some.get_column(column.name).to_list() for column in columns}
    return [
        (f"row {number}", {name: _plain(cells[name][i]) for name in cells})
        for i, number in enumerate(numbers)
    ]


def _typical(
    frame: nw.DataFrame[Any], rows: Sequence[int], columns: Sequence[ColumnSchema]
) -> dict[str, Any]:
    some = frame[list(rows[:: 1 + len(rows) // _LOOKED_AT])]
    return {c.name: _middle(some.get_column(c.name).to_list(), c.is_number) for c in columns}


def _middle(cells: list[Any], is_number: bool) -> Any:
    """The lower median of numbers and dates, the most frequent of words; None without a value."""
    known = [cell for cell in cells if not is_hole(cell)]
    if not known:
        return None
    if is_number:
        return _plain(sorted(known)[(len(known) - 1) // 2])
    counts: dict[Any, int] = {}
    for cell in known:
        counts[cell] = counts.get(cell, 0) + 1
    return _plain(max(counts, key=lambda cell: counts[cell]))


def _plain(cell: Any) -> Any:
    return None if is_hole(cell) else cell
