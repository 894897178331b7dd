"""Which branch holes join at a test with one branch per value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sortal.native.judging import equal_from, judge_parts, judge_tests
from sortal.native.trees import CRITERIA

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.learners.tree_attributes import Attribute
    from sortal.native.trees import Growth

    Float = NDArray[np.float64]
    Int64 = NDArray[np.int64]

# Of more branches than this the score with the holes in each is not listed.
_MOST_SCORED = 1000


@dataclass(frozen=True, eq=False)
class Joined:
    """The branch that holes join, the parts and sizes that this makes, and the score of each join.

    There are no `scores` where branches are many.
    """

    place: int
    parts: Int64
    sizes: Int64
    scores: Float | None


def join_holes(x: Attribute, growth: Growth, total: int) -> Joined:
    """Holes join the branch with which the test is best, of those that leave two large ones.

    The first of equals; where no join leaves two, the first branch.
    """
    place = _best_place(x, growth, total)
    parts, sizes = _joined(x, place), x.sizes.copy()
    sizes[place] += x.hole_size
    few = x.m <= _MOST_SCORED
    scores = [_score(_joined(x, v), total, growth.criterion) for v in range(x.m)] if few else None
    return Joined(place, parts, sizes, None if scores is None else np.array(scores))


def _best_place(x: Attribute, growth: Growth, total: int) -> int:
    def part(counts: Int64) -> float:
        row = np.ascontiguousarray(counts)
        return judge_tests(row, row[None][:0], total, growth.criterion).base

    n, more = x.counts.sum(axis=1), int(x.holes.sum())
    is_large = (n >= growth.min_units) & (x.sizes >= growth.min_size)
    large = int(np.count_nonzero(is_large))
    grown = (n + more >= growth.min_units) & (x.sizes + x.hole_size >= growth.min_size)
    base = part(x.known + x.holes)
    tau = base - equal_from(base, len(x.holes), growth.criterion)
    best, place = -math.inf, 0
    for v in np.flatnonzero(large + (grown & ~is_large) >= 2).tolist():
        rise = part(x.counts[v] + x.holes) - part(x.counts[v])
        if best == -math.inf or rise > best + tau:
            best, place = rise, v
    return place


def _joined(x: Attribute, place: int) -> Int64:
    parts = x.counts.copy()
    parts[place] += x.holes
    return parts


def _score(parts: Int64, total: int, criterion: int) -> float:
    keys, scores, information, base = judge_parts(parts, total, criterion)
    if CRITERIA[criterion] != "gain_ratio":
        return float(scores[0])
    return float((keys[0] - base) / information[0]) if keys[0] > -math.inf else 0.0
