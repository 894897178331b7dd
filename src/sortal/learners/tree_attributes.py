"""The rows of a node by the values of its columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sortal import native

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal.data.schema import ColumnSchema
    from sortal.learners.tree import TreeRows

    Bool = NDArray[np.bool_]
    Codes = NDArray[np.int32]
    Float = NDArray[np.float64]
    Int64 = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Held:
    """The rows of a node: their places, what each counts for there (None: one), and its size.

    Without `sizes` the units are sizes, too.
    """

    places: NDArray[np.intp]
    units: Int64 | None
    sizes: Int64 | None

    def by_class(self, rows: TreeRows) -> Int64:
        """The units of each class."""
        one, classes = np.zeros(len(self.places), dtype=np.int32), rows.classes[self.places]
        return np.asarray(
            native.count_codes(one, 1, classes, len(rows.schema.classes), self.units)[0]
        )


def hold_whole(rows: TreeRows, places: NDArray[np.intp]) -> Held:
    """Rows that are in the node with all their weight."""
    units = None if rows.units is None else np.ascontiguousarray(rows.units[places])
    if rows.copies:
        return Held(places, units, None)
    return Held(places, units, sizes_of(rows, places))


def sizes_of(rows: TreeRows, places: NDArray[np.intp]) -> Int64:
    """How many rows each of these counts for, copies counted."""
    given = rows.units if rows.copies else rows.sizes
    return np.ones(len(places), dtype=np.int64) if given is None else given[places]


@dataclass(frozen=True, eq=False)
class Attribute:
    """The rows of a node by the values of one column: numbers or codes that occur, ascending.

    `holes` are the units by class of rows without a value, `hole_size` is the number of these.
    `told` says whether tests in words say what a hole does. Of dates, `moments` are the values
    that occur anywhere in the column.
    """

    column: ColumnSchema
    kind: int
    values: Float
    counts: Int64
    sizes: Int64
    holes: Int64
    hole_size: int = 0
    told: bool = False
    moments: Float | None = None

    @property
    def m(self) -> int:
        """How many values there are."""
        return len(self.values)

    @property
    def has_holes(self) -> bool:
        """Whether the node has rows without a value."""
        return bool(self.holes.any())

    @property
    def known(self) -> Int64:
        """The units by class of rows that have a value."""
        return np.asarray(self.counts.sum(axis=0))

    def names(self, places: Sequence[int]) -> tuple[str | bool | int | float, ...]:
        """The values of a category at these places; a hole, which is behind all, has no name."""
        return tuple(self.column.values[int(self.values[i])] for i in places if i < self.m)


def read_attributes(rows: TreeRows, held: Held, tells: Sequence[bool]) -> list[Attribute]:
    """The rows of a node by value and class, n_vi of (ZM 19.19), for each column."""
    columns = zip(rows.schema.columns, rows.column_kinds, rows.encoded.columns, tells, strict=True)
    return [_read(rows, held, cells, (column, kind), told) for column, kind, cells, told in columns]


def _read(
    rows: TreeRows, held: Held, cells: Float | Codes, asked: tuple[ColumnSchema, int], told: bool
) -> Attribute:
    column, kind = asked
    inside = cells[held.places]
    known = is_known(inside)
    values, places = np.unique(inside[known], return_inverse=True)
    codes = np.full(len(inside), len(values), dtype=np.int32)  # a hole is behind all values
    codes[known] = places
    m, K = len(values) + 1, len(rows.schema.classes)
    classes = np.ascontiguousarray(rows.classes[held.places])
    counts = native.count_codes(codes, m, classes, K, held.units)
    if held.sizes is None:
        sizes = np.asarray(counts.sum(axis=1))
    else:
        sizes = native.count_codes(codes, m, np.zeros_like(codes), 1, held.sizes)[:, 0]
    moments = (
        np.unique(cells[is_known(cells)]).astype(np.float64) if column.kind == "date" else None
    )
    return Attribute(
        column,
        kind,
        values.astype(np.float64),
        np.ascontiguousarray(counts[:-1]),
        np.ascontiguousarray(sizes[:-1]),
        np.ascontiguousarray(counts[-1]),
        int(sizes[-1]),
        told,
        moments,
    )


def is_known(cells: Float | Codes) -> Bool:
    """Which cells are no holes."""
    return np.asarray(~np.isnan(cells) if cells.dtype == np.float64 else cells >= 0)
