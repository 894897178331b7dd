"""Routes of rows down a tree, block by block, and of single rows with missing values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sortal import native
from sortal.data.columns import MISSING, UNKNOWN, as_numbers, given_values, recode_columns
from sortal.data.table import infinite
from sortal.decision.scores import ScoredTerms
from sortal.native import trees
from sortal.native.trees import CUT, LEAF, SPREAD
from sortal.trees.branches import heaviest_branch, heaviest_branches, missing_branch, node_values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal._typing import Codes, Counts, Float
    from sortal.data.schema import Schema
    from sortal.data.sources import Batch
    from sortal.trees.model import TreeModel


@dataclass(frozen=True, eq=False)
class EncodedTreeRows:
    """A block in a tree's terms: float64 where a column is cut, else codes by the schema's values.

    `missing` and `unknown` count cells by column.
    """

    columns: tuple[Float | Codes, ...]
    missing: Counts
    unknown: Counts


class _Cells(NamedTuple):
    """One column of a block in a tree's terms."""

    array: Float | Codes
    n_missing: int
    n_unknown: int


def encode(
    batch: Batch, schema: Schema, column_kinds: Sequence[int], unseen: Sequence[Sequence[int]]
) -> EncodedTreeRows:
    """Cells as a tree reads them; infinite numbers are refused by name.

    Codes listed in `unseen` count as unknown.
    """
    cells = _numbers(batch, schema) | _categories(batch, schema, column_kinds, unseen)
    columns = [cells[j] for j in range(len(schema.columns))]
    return EncodedTreeRows(
        tuple(column.array for column in columns),
        np.array([column.n_missing for column in columns], dtype=np.int64),
        np.array([column.n_unknown for column in columns], dtype=np.int64),
    )


def _numbers(batch: Batch, schema: Schema) -> dict[int, _Cells]:
    numbers = [j for j, column in enumerate(schema.columns) if column.is_number]
    arrays = [as_numbers(batch.columns[j]) for j in numbers]
    missing = dict.fromkeys(numbers, 0)
    if any(native.not_finite(arrays)):  # else nothing is to be counted
        missing = dict(zip(numbers, native.count_missing(arrays), strict=True))
    for j in numbers:
        if missing[j] < 0:
            raise infinite(schema.names[j], "finite numbers")
    return {j: _Cells(x, missing[j], 0) for j, x in zip(numbers, arrays, strict=True)}


def _categories(
    batch: Batch, schema: Schema, column_kinds: Sequence[int], unseen: Sequence[Sequence[int]]
) -> dict[int, _Cells]:
    words = [j for j, column in enumerate(schema.columns) if not column.is_number]
    listed = [schema.columns[j].values for j in words]
    cells = {}
    coded = recode_columns([batch.columns[j] for j in words], listed, batch.n_rows)
    for j, codes in zip(words, coded, strict=True):
        is_cut = column_kinds[j] == trees.CUT
        if unseen[j]:
            codes[np.isin(codes, unseen[j])] = UNKNOWN
        n_missing, n_unknown = (int(np.count_nonzero(codes == mark)) for mark in (MISSING, UNKNOWN))
        cells[j] = _Cells(as_ranks(codes) if is_cut else codes, n_missing, n_unknown)
    return cells


def as_ranks(codes: Codes) -> Float:
    """Codes as numbers to be cut; a missing value is NaN, a value that no fit saw infinite."""
    ranks = np.where(codes == MISSING, np.nan, codes)
    return np.where(codes == UNKNOWN, np.inf, ranks)


def route(model: TreeModel, batch: Batch) -> tuple[EncodedTreeRows, Codes]:
    """A block in the tree's terms, and the nodes where its rows end."""
    encoded = encode(batch, model.schema, model.column_kinds, model.unseen)
    return encoded, end_nodes(model, encoded)


def end_nodes(model: TreeModel, encoded: EncodedTreeRows) -> Codes:
    """The node where each row ends."""
    nodes = np.empty(len(encoded.columns[0]), dtype=np.int32)
    is_cut = np.array(model.column_kinds) == trees.CUT
    # infinite numbers stand for unknown values, which only the careful way through knows
    fallback = np.empty_like(nodes) if encoded.unknown[is_cut].any() else None
    arrays = model.arrays
    if model.policy == "fractional":  # of all branches the heaviest is followed
        arrays = arrays._replace(missing=heaviest_branches(model))
    trees.route_rows(arrays, encoded.columns, model.n_values, nodes, fallback)
    return nodes


@dataclass(frozen=True, eq=False)
class RouteBlock:
    """Block → Answered: for each row the node where it ends, or what `answers` has for the node."""

    model: TreeModel
    answers: NDArray[Any] | None = None

    def __call__(self, batch: Batch) -> ScoredTerms:
        """Route one block."""
        encoded, nodes = route(self.model, batch)
        answer = nodes if self.answers is None else self.answers[nodes]
        return ScoredTerms(answer, encoded.missing, encoded.unknown)


@dataclass(frozen=True, eq=False)
class SpreadBlock:
    """Block → Answered: for each row the mean of what `answers` has for the nodes where it ends.

    Where missing values spread, a row ends in several nodes, with a part in each.
    """

    model: TreeModel
    answers: Float

    def __call__(self, batch: Batch) -> ScoredTerms:
        """Spread one block."""
        model = self.model
        encoded = encode(batch, model.schema, model.column_kinds, model.unseen)
        if not encoded.missing.any():
            return ScoredTerms(
                self.answers[end_nodes(model, encoded)], encoded.missing, encoded.unknown
            )
        answer = trees.spread_answers(
            model.arrays, encoded.columns, model.n_values, model.pull(), self.answers
        )
        return ScoredTerms(answer, encoded.missing, encoded.unknown)


@dataclass(frozen=True, eq=False)
class Walked:
    """Rows and the nodes where they end; cells as the tree reads them and as they were given."""

    nodes: Codes
    columns: tuple[NDArray[Any], ...]
    given: tuple[list[Any], ...]
    missing: Counts
    unknown: Counts


@dataclass(frozen=True, eq=False)
class WalkBlock:
    """Block → Walked, for whoever looks at single rows."""

    model: TreeModel

    def __call__(self, batch: Batch) -> Walked:
        """Walk one block."""
        encoded, nodes = route(self.model, batch)
        pairs = zip(self.model.schema.columns, batch.columns, strict=True)
        given = tuple(
            as_numbers(cells).tolist() if column.is_number else given_values(cells)
            for column, cells in pairs
        )
        return Walked(nodes, encoded.columns, given, encoded.missing, encoded.unknown)


def gather_walked(blocks: Sequence[Walked]) -> Walked:
    """Blocks as one."""
    columns = zip(*(block.columns for block in blocks), strict=True)
    given = zip(*(block.given for block in blocks), strict=True)
    return Walked(
        np.concatenate([block.nodes for block in blocks]),
        tuple(np.concatenate(parts) for parts in columns),
        tuple([value for part in parts for value in part] for parts in given),
        np.sum([block.missing for block in blocks], axis=0),
        np.sum([block.unknown for block in blocks], axis=0),
    )


# --- Single rows down a tree, where a missing value may go down every branch ---------------------


class ReachedNode(NamedTuple):
    """A node where a row ends, and with which part of its weight."""

    node: int
    part: float


def is_missing(rows: Walked, i: int, j: int) -> bool:
    """Whether row i has no value in column j."""
    given = rows.given[j][i]
    return given is None or given != given  # only NaN differs from itself  # noqa: PLR0124


def ends_of(model: TreeModel, rows: Walked, i: int) -> list[ReachedNode]:
    """Where row i ends; first the end that the heaviest branches lead to."""
    found, waiting = [], [ReachedNode(0, 1.0)]
    while waiting:
        t, part = waiting.pop()
        below = _next(model, rows, i, t)
        if below:
            waiting += [ReachedNode(c, part * share) for c, share in reversed(below)]
        else:
            found.append(ReachedNode(t, part))
    return found


def _next(model: TreeModel, rows: Walked, i: int, t: int) -> list[tuple[int, float]]:
    """The nodes below t that row i goes to, the heaviest first; none where it ends."""
    if model.kind[t] == LEAF:
        return []
    j = int(model.attribute[t])
    below = model.children[model.child_start[t] : model.child_start[t + 1]]
    if not is_missing(rows, i, j):
        b = branch_of(model, t, rows.columns[j][i])
    elif model.missing[t] != SPREAD:
        b = missing_branch(model, t)
    else:
        units = model.pull(below)
        first = heaviest_branch(model, t)
        order = [first, *(b for b in range(len(below)) if b != first)]
        return [(int(below[b]), float(units[b] / units.sum())) for b in order if units[b]]
    return [(int(below[b]), 1.0)] if b >= 0 else []


def branch_of(model: TreeModel, t: int, cell: Any) -> int:
    """The branch of a known cell, as the tree reads it; -1 if it stays at node t."""
    if model.kind[t] == CUT:
        return int(cell > model.threshold[t]) if np.isfinite(cell) else int(model.heavier[t])
    codes, branches = node_values(model, t)
    mine = branches[codes == cell]
    return int(mine[0]) if len(mine) else int(model.heavier[t])


def mixed_shares(shares: Float, ends: list[ReachedNode]) -> Float:
    """Σ part · share over the ends of a row."""
    parts = np.array([end.part for end in ends])
    return np.asarray(parts @ shares[[end.node for end in ends]])
