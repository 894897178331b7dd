"""The rows of a node by the values of its columns, known and missing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sortal import native
from sortal.native.trees import (
    CRITERIA,
    CUT,
    route_rows,
    score_branches,
    score_tests,
    tie_threshold,
)
from sortal.native.trees import CRITERIA as NUMBERED
from sortal.trees.branches import node_values
from sortal.trees.rows import bits_of
from sortal.trees.split_scores import CRITERIA_BY_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal._typing import Codes, Counts, Float, Mask, Places
    from sortal.data.columns import ColumnSchema
    from sortal.native.trees import Growth, SplitScores
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
    """The rows of a node by the values of one column: numbers or codes that occur, ascending.

    `missing` are the units by class of rows without a value, `missing_size` is the number of these.
    `told` says whether tests in words say what a missing value does. Of dates, `moments` are the
    values that occur anywhere in the column.
    """

    column: ColumnSchema
    kind: int
    values: Float
    counts: Int64
    sizes: Int64
    missing: Int64
    missing_size: int = 0
    told: bool = False
    moments: Float | None = None

    @property
    def m(self) -> int:
        """How many values there are."""
        return len(self.values)

    @property
    def has_missing(self) -> bool:
        """Whether the node has rows without a value."""
        return bool(self.missing.any())

    @property
    def known(self) -> Int64:
        """The units by class of rows that have a value."""
        return np.asarray(self.counts.sum(axis=0))

    def names(self, places: Sequence[int]) -> tuple[str | bool | int | float, ...]:
        """The values of a category at these places; missing, which is behind all, has no name."""
        return tuple(self.column.values[int(self.values[i])] for i in places if i < self.m)


def read_attributes(rows: TreeRows, held: NodeRows, tells: Sequence[bool]) -> list[Attribute]:
    """The rows of a node by value and class, n_vi of (ZM 19.19), for each column."""
    columns = zip(rows.schema.columns, rows.column_kinds, rows.encoded.columns, tells, strict=True)
    return [_read(rows, held, cells, (column, kind), told) for column, kind, cells, told in columns]


def _read(
    rows: TreeRows,
    held: NodeRows,
    cells: Float | Codes,
    asked: tuple[ColumnSchema, int],
    told: bool,
) -> Attribute:
    column, kind = asked
    inside = cells[held.places]
    known = is_known(inside)
    values, places = np.unique(inside[known], return_inverse=True)
    codes = np.full(
        len(inside), len(values), dtype=np.int32
    )  # a missing value is behind all values
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


# --- Which branch missing values join at a test with one branch per value ------------------------

# Of more branches than this the score with the missing values in each is not listed.
_MOST_SCORED = 1000


@dataclass(frozen=True, eq=False)
class MissingBranch:
    """The branch that missing values join, its parts and sizes, and the score of each join.

    There are no `scores` where branches are many.
    """

    place: int
    parts: Int64
    sizes: Int64
    scores: Float | None


def join_missing(x: Attribute, growth: Growth, total: int) -> MissingBranch:
    """Missing values join the branch that makes the best test, of those that leave two large ones.

    The first of equals; where no join leaves two, the first branch.
    """
    place = _best_place(x, growth, total)
    parts, sizes = _joined(x, place), x.sizes.copy()
    sizes[place] += x.missing_size
    few = x.m <= _MOST_SCORED
    scores = [_score(_joined(x, v), total, growth.criterion) for v in range(x.m)] if few else None
    return MissingBranch(place, parts, sizes, None if scores is None else np.array(scores))


def _best_place(x: Attribute, growth: Growth, total: int) -> int:
    def part(counts: Int64) -> float:
        row = np.ascontiguousarray(counts)
        return score_tests(row, row[None][:0], total, growth.criterion).base

    n, more = x.counts.sum(axis=1), int(x.missing.sum())
    is_large = (n >= growth.min_units) & (x.sizes >= growth.min_size)
    large = int(np.count_nonzero(is_large))
    grown = (n + more >= growth.min_units) & (x.sizes + x.missing_size >= growth.min_size)
    base = part(x.known + x.missing)
    tau = base - tie_threshold(base, len(x.missing), growth.criterion)
    best, place = -math.inf, 0
    for v in np.flatnonzero(large + (grown & ~is_large) >= 2).tolist():
        rise = part(x.counts[v] + x.missing) - part(x.counts[v])
        if best == -math.inf or rise > best + tau:
            best, place = rise, v
    return place


def _joined(x: Attribute, place: int) -> Int64:
    parts = x.counts.copy()
    parts[place] += x.missing
    return parts


def _score(parts: Int64, total: int, criterion: int) -> float:
    keys, scores, information, base = score_branches(parts, total, criterion)
    if CRITERIA[criterion] != "gain_ratio":
        return float(scores[0])
    return float((keys[0] - base) / information[0]) if keys[0] > -math.inf else 0.0


# --- Known rows that are searched by themselves: what their tests are worth in the node ----------


class KnownRowsScore(NamedTuple):
    """Known and missing rows of a node, by class; whether missing values have their own branch.

    `total` and `criterion` are as in `native.judging`.
    """

    known: Int64
    missing: Int64
    own_branch: bool
    total: int
    criterion: int

    @property
    def share(self) -> float:
        """The share of the known rows."""
        return int(self.known.sum()) / int(self.known.sum() + self.missing.sum())

    def in_node(self, judged: SplitScores) -> SplitScores:
        """Tests of known rows in the scale of the node. (S 41)

        Missing values are one more part in the split information. Without a branch of their own the
        score is that of the known rows times their share; with one, parting the known rows from the
        missing values adds what it is worth itself, which is true of gain and Gini.
        """
        alone = self.alone()
        stretch, shift = self._scale(judged.base, alone.base)
        more = float(alone.scores[0]) if self.own_branch else 0.0
        return judged._replace(
            keys=judged.keys * stretch + shift,
            scores=judged.scores * self.share + more,
            information=judged.information + alone.information[0],
            base=alone.base,
        )

    def alone(self) -> SplitScores:
        """The one test known | missing."""
        return self._judge(self.known + self.missing, self.known[None])

    def _scale(self, base_of_known: float, base: float) -> tuple[float, float]:
        if CRITERIA_BY_NAME[NUMBERED[self.criterion]].two_sided:
            n = float(self.known.sum())
            return float(self.known.sum() + self.missing.sum()) / n, 0.0
        if self.own_branch:
            return 1.0, self._judge(self.missing, self.missing[None][:0]).base
        return 1.0, base - base_of_known

    def _judge(self, node: Int64, yes: Int64) -> SplitScores:
        return score_tests(node, np.ascontiguousarray(yes), self.total, self.criterion)
