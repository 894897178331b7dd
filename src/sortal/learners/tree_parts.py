"""The rows that come to a node: whole, or in the parts in which holes send them down branches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal import native
from sortal.learners.tree_attributes import Held, hold_whole, is_known, sizes_of
from sortal.learners.tree_bits import bits_of
from sortal.models.tree_branches import node_values
from sortal.native.trees import CUT, route_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.learners.tree import TreeRows
    from sortal.models.tree import TreeModel

    Codes = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Places = NDArray[np.intp]


def hold_rows(model: TreeModel, rows: TreeRows, t: int) -> Held:
    """The rows of node t; they are to count as they did when the tree grew."""
    if model.policy == "fractional" and rows.encoded.holes.any():
        return _hold_parts(model, rows, t)
    ends = np.empty(len(rows.classes), dtype=np.int32)
    route_rows(model.arrays, rows.encoded.columns, model.n_values, ends)
    # rows of the node end in it or below, where numbers follow it
    return hold_whole(rows, np.flatnonzero((ends >= t) & (ends < model.ends()[t])))


def _hold_parts(model: TreeModel, rows: TreeRows, t: int) -> Held:
    bits = bits_of(model, rows)
    places = np.arange(len(rows.classes))
    parts = np.full(len(places), 1 << bits[0], dtype=np.int64)
    for node, branch in _way(model, t):
        taken = _branches(model, rows, node, places)
        sent = _sent(taken, branch, parts, fine_units(rows, places, parts, bits))
        places, parts = places[sent > 0], sent[sent > 0]
    return Held(places, fine_units(rows, places, parts, bits), sizes_of(rows, places) * parts)


def _way(model: TreeModel, t: int) -> list[tuple[int, int]]:
    """The nodes above t, from the root, and the branch that is taken in each."""
    parents, branches = model.parents().tolist(), model.parent_branches().tolist()
    steps = []
    while t > 0:
        steps.append((parents[t], branches[t]))
        t = parents[t]
    return steps[::-1]


def _branches(model: TreeModel, rows: TreeRows, node: int, places: Places) -> Codes:
    """The branch that each row takes in a node; -1 for a hole."""
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
