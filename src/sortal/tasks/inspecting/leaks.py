"""Leaks: a column that alone tells the target (nearly) always."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.tasks.inspecting.profiles import Profile

# A number is cut into so many ranges, with about as many rows each.
_RANGES = 256
# Not 0 or 42: data that was drawn with the same seed would go into halves by its own values.
_LOT = 7_308_214_659_021
_ORDERED = ("number", "whole number", "date")
# Values × classes that are counted at most; rarer values are counted together.
_CELLS = 4_000_000


def single_accuracy(column: Profile, labels: NDArray[Any], n_classes: int) -> float:
    """The share of rows whose class one column tells.

    Each value, or range of a number, says the class that most of its rows have; a hole is a value.
    One half of the rows, drawn by lot, says it for the other half, and the other way round, so
    that a word which occurs once tells nothing. A range of which one half has no rows says what
    the next range says.
    """
    bins, n_bins = _bins(column, n_classes)
    ordered = column.kind in _ORDERED
    half = np.random.default_rng(_LOT).random(len(labels)) < 0.5
    cells = bins * n_classes + labels
    tables = [
        np.bincount(cells[side], minlength=n_bins * n_classes).reshape(n_bins, n_classes)
        for side in (half, ~half)
    ]
    told = _hits(tables[0], tables[1], ordered=ordered) + _hits(
        tables[1], tables[0], ordered=ordered
    )
    return told / max(1, len(labels))


def _hits(known: NDArray[np.int64], asked: NDArray[np.int64], *, ordered: bool) -> int:
    """How many rows of one table have the class that the other says for their value."""
    has_rows, said = known.sum(axis=1) > 0, known.argmax(axis=1)
    majority = int(known.sum(axis=0).argmax())
    if ordered:
        said[1:], has_rows[1:] = _lent(said[1:], has_rows[1:])  # a hole lends nothing
    said = np.where(has_rows, said, majority)
    return int(asked[np.arange(len(asked)), said].sum())


def _lent(
    said: NDArray[np.int64], has_rows: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """A range without rows says what the next one below says that has some, or else above."""
    if not has_rows.any():
        return said, has_rows
    first = int(has_rows.argmax())
    below = np.maximum.accumulate(np.where(has_rows, np.arange(len(said)), first))
    return said[below], np.ones_like(has_rows)


def _bins(column: Profile, n_classes: int) -> tuple[NDArray[Any], int]:
    """Rows by value or range; 0 for holes."""
    place = np.arange(1, column.n_distinct + 1)
    if column.kind in _ORDERED and column.n_distinct > _RANGES:
        before = np.cumsum(column.counts) - column.counts
        place = 1 + before * _RANGES // max(1, column.n_values)
    most = max(2, _CELLS // max(1, n_classes))
    if column.n_distinct >= most:
        rank = np.empty(column.n_distinct, dtype=np.int64)
        rank[np.argsort(-column.counts, kind="stable")] = np.arange(column.n_distinct)
        place = 1 + np.minimum(rank, most - 1)
    # the code −1 finds the last place
    bins = np.append(place, 0)[column.codes]
    return bins, int(place.max(initial=0)) + 1
