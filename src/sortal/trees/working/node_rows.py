"""The rows of a node by the values of its columns, known and missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sortal import native
from sortal.native.trees import CUT, NodeColumn, route_rows
from sortal.trees.branches import node_values, tells_missing
from sortal.trees.rows import bits_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal._typing import Codes, Counts, Float, Mask, Places
    from sortal.data.columns import ColumnSchema
    from sortal.trees.model import TreeModel
    from sortal.trees.rows import TreeRows

    Int64 = Counts


@dataclass(frozen=True, eq=False)
class NodeRows:
    """The rows of a node: their places, what each counts for there (None: one), and its size.

    Without `sizes` the units are sizes, too.
    """

    places: Places
    units: Int64 | None
    sizes: Int64 | None

    def by_class(self, rows: TreeRows) -> Int64:
        """The units of each class."""
        one, classes = np.zeros(len(self.places), dtype=np.int32), rows.classes[self.places]
        return np.asarray(
            native.count_codes(one, 1, classes, len(rows.schema.classes), self.units)[0]
        )


def hold_whole(rows: TreeRows, places: Places) -> NodeRows:
    """Rows that are in the node with all their weight."""
    units = None if rows.units is None else np.ascontiguousarray(rows.units[places])
    if rows.copies:
        return NodeRows(places, units, None)
    return NodeRows(places, units, sizes_of(rows, places))


def sizes_of(rows: TreeRows, places: Places) -> Int64:
    """How many rows each of these counts for, copies counted."""
    given = rows.units if rows.copies else rows.sizes
    return np.ones(len(places), dtype=np.int64) if given is None else given[places]


@dataclass(frozen=True, eq=False)
class Attribute:
    """A column as its rows in a node have it.

    `told` says whether tests in words say what a missing value does. Of dates, `moments` are the
    values that occur anywhere in the column.
    """

    column: ColumnSchema
    held: NodeColumn
    told: bool = False
    moments: Float | None = None

    @property
    def kind(self) -> int:
        """How the column is asked."""
        return self.held.kind

    @property
    def m(self) -> int:
        """How many values there are."""
        return len(self.held.values)

    @property
    def has_missing(self) -> bool:
        """Whether the node has rows without a value."""
        return bool(self.held.missing.any())

    @property
    def known(self) -> Int64:
        """The units by class of rows that have a value."""
        return np.asarray(self.held.counts.sum(axis=0))

    def names(self, places: Sequence[int]) -> tuple[str | bool | int | float, ...]:
        """The values of a category at these places; missing, which is behind all, has no name."""
        return tuple(self.column.values[int(self.held.values[i])] for i in places if i < self.m)


def read_attributes(model: TreeModel, rows: TreeRows, held: NodeRows) -> list[Attribute]:
    """The rows of a node by value and class, n_vi of (ZM 19.19), for each column."""
    return [_read(model, rows, held, j) for j in range(len(rows.schema.columns))]


def _read(model: TreeModel, rows: TreeRows, held: NodeRows, j: int) -> Attribute:
    column, cells = rows.schema.columns[j], rows.encoded.columns[j]
    inside = cells[held.places]
    known = is_known(inside)
    values, places = np.unique(inside[known], return_inverse=True)
    m, K = len(values), len(rows.schema.classes)
    codes = np.full(len(inside), m, dtype=np.int32)  # a missing value is behind all values
    codes[known] = places
    classes = np.ascontiguousarray(rows.classes[held.places])
    counts = native.count_codes(codes, m + 1, classes, K, held.units)
    sizes = counts.sum(axis=1)
    if held.sizes is not None:
        sizes = native.count_codes(codes, m + 1, np.zeros_like(codes), 1, held.sizes)[:, 0].copy()
    found = NodeColumn(
        rows.column_kinds[j],
        values.astype(np.float64),
        counts[:m],
        sizes[:m],
        counts[m],
        int(sizes[m]),
    )
    is_date = column.kind == "date"
    moments = np.unique(cells[is_known(cells)]).astype(np.float64) if is_date else None
    return Attribute(column, found, tells_missing(model, j), moments)


def is_known(cells: Float | Codes) -> Mask:
    """Which cells are no missing values."""
    return np.asarray(~np.isnan(cells) if cells.dtype == np.float64 else cells >= 0)


# The rows that come to a node: whole, or in the parts in which missing values send them down
# branches.


def hold_rows(model: TreeModel, rows: TreeRows, t: int) -> NodeRows:
    """The rows of node t; they are to count as they did when the tree grew."""
    if model.policy == "fractional" and rows.encoded.missing.any():
        return _hold_parts(model, rows, t)
    ends = np.empty(len(rows.classes), dtype=np.int32)
    route_rows(model.arrays, rows.encoded.columns, model.n_values, ends)
    # rows of the node end in it or below, where numbers follow it
    return hold_whole(rows, np.flatnonzero((ends >= t) & (ends < model.ends()[t])))


def _hold_parts(model: TreeModel, rows: TreeRows, t: int) -> NodeRows:
    bits = bits_of(model, rows)
    places = np.arange(len(rows.classes))
    parts = np.full(len(places), 1 << bits[0], dtype=np.int64)
    for node, branch in _way(model, t):
        taken = _branches(model, rows, node, places)
        sent = _sent(taken, branch, parts, fine_units(rows, places, parts, bits))
        places, parts = places[sent > 0], sent[sent > 0]
    return NodeRows(places, fine_units(rows, places, parts, bits), sizes_of(rows, places) * parts)


def _way(model: TreeModel, t: int) -> list[tuple[int, int]]:
    """The nodes above t, from the root, and the branch that is taken in each."""
    parents, branches = model.parents().tolist(), model.parent_branches().tolist()
    steps = []
    while t > 0:
        steps.append((parents[t], branches[t]))
        t = parents[t]
    return steps[::-1]


def _branches(model: TreeModel, rows: TreeRows, node: int, places: Places) -> Codes:
    """The branch that each row takes in a node; -1 for a missing value."""
    cells = rows.encoded.columns[model.attribute[node]][places]
    if model.kind[node] == CUT:
        taken = (cells > model.threshold[node]).astype(np.int32)
    else:
        codes, branches = node_values(model, node)
        taken = branches[np.searchsorted(codes, cells).clip(max=len(codes) - 1)]
    return np.where(is_known(cells), taken, -1).astype(np.int32)


def _sent(taken: Codes, branch: int, parts: Int64, units: Int64) -> Int64:
    """How many parts of each row go down the branch: known rows go whole, others as these. (S 42)

    Products need more than 64 bits.
    """
    n = max(int(taken.max()), branch) + 1
    by_branch = native.count_codes(taken, n, np.zeros_like(taken), 1, units)[:, 0]
    known, before = int(by_branch.sum()), int(by_branch[:branch].sum())
    sent = np.where(taken == branch, parts, 0)
    amounts, which = np.unique(parts[taken < 0], return_inverse=True)
    ends = (before, before + int(by_branch[branch]))
    first, last = ([(2 * p * end + known) // (2 * known) for p in amounts.tolist()] for end in ends)
    sent[taken < 0] = (np.array(last, dtype=np.int64) - np.array(first, dtype=np.int64))[which]
    return sent


def fine_units(rows: TreeRows, places: Places, parts: Int64, bits: tuple[int, int]) -> Int64:
    """What parts of rows count for, rounded where units are coarser than parts."""
    part_bits, unit_bits = bits
    given = np.ones(len(places), dtype=np.int64) if rows.units is None else rows.units[places]
    units = given << unit_bits
    coarser = part_bits - unit_bits
    half = 1 << (coarser - 1) if coarser else 0
    some = np.flatnonzero(parts != 1 << part_bits)
    pairs = zip(given[some].tolist(), parts[some].tolist(), strict=True)
    units[some] = [max(1, (unit * p + half) >> coarser) for unit, p in pairs]
    return units
