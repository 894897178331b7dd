"""The tests that a node could ask, with their counts and keys."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from sortal import native
from sortal.data.moments import brief_moments
from sortal.models.conditions import quoted, set_text
from sortal.models.tree_branches import threshold_text
from sortal.native.judging import judge_parts, judge_tests, thresholds_between
from sortal.native.trees import CRITERIA, CUT, SUBSET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal.data.schema import ColumnSchema
    from sortal.learners.tree import TreeRows
    from sortal.native.judging import Judged
    from sortal.native.trees import Growth

    Bool = NDArray[np.bool_]
    Codes = NDArray[np.int32]
    Float = NDArray[np.float64]
    Int64 = NDArray[np.int64]
    Places = tuple[int, ...]

# Up to so many sets the core tries all of them where it finds none in another way.
_ALL_TRIED = 1 << 14

# Up to so many values every set of them is listed: 511 sets.
MOST_LISTED = 10


@dataclass(frozen=True, eq=False)
class Attribute:
    """The rows of a node by the values of one column: numbers or codes that occur, ascending.

    Of dates, `moments` are the values that occur anywhere in the column.
    """

    column: ColumnSchema
    kind: int
    values: Float
    counts: Int64
    sizes: Int64
    moments: Float | None = None

    @property
    def m(self) -> int:
        """How many values there are."""
        return len(self.values)

    def names(self, places: Sequence[int]) -> tuple[str | bool | int | float, ...]:
        """The values of a category at these places."""
        return tuple(self.column.values[int(self.values[i])] for i in places)


@dataclass(frozen=True, eq=False)
class Candidates:
    """Tests of one attribute, those first that are taken first among equals.

    `yes` are units by class on the yes side, a row a test; of the one multiway test, of each value.
    `judged` are their keys and scores. `fits` says which tests meet the limits. `thresholds` are of
    cuts, `sets` (places of V's values) of subsets. `exact` says whether the best of all is listed
    for certain, `candidates` how many there are or were looked at.
    """

    attribute: Attribute
    yes: Int64
    judged: Judged
    fits: Bool
    thresholds: Float
    sets: tuple[Places, ...]
    exact: bool
    candidates: float

    @property
    def allowed(self) -> Bool:
        """Which tests the tree may ask."""
        return self.fits & (self.judged.keys > -math.inf)

    def words(self, i: int) -> str:
        """Test i as the tree writes it."""
        x = self.attribute
        name = quoted(x.column.name)
        if x.kind == CUT:
            return f"{name} <= {threshold_text(x.column, float(self.thresholds[i]))}"
        if x.kind == SUBSET:
            return f"{name} in {set_text(x.names(self.sets[i]))}"
        return f"{name}: {' | '.join(quoted(value) for value in x.names(range(x.m)))}"


def read_attributes(rows: TreeRows, inside: NDArray[np.intp]) -> list[Attribute]:
    """The rows of a node by value and class, n_vi of (ZM 19.19), for each column."""
    classes = np.ascontiguousarray(rows.classes[inside])
    units = None if rows.units is None else np.ascontiguousarray(rows.units[inside])
    K, found = len(rows.schema.classes), []
    for column, kind, cells in zip(
        rows.schema.columns, rows.column_kinds, rows.encoded.columns, strict=True
    ):
        values, places = np.unique(cells[inside], return_inverse=True)
        codes = places.astype(np.int32)
        counts = native.count_codes(codes, len(values), classes, K, units)
        sizes = _sizes(rows, inside, codes, counts)
        moments = np.unique(cells).astype(np.float64) if column.kind == "date" else None
        found.append(Attribute(column, kind, values.astype(np.float64), counts, sizes, moments))
    return found


def _sizes(rows: TreeRows, inside: NDArray[np.intp], codes: Codes, counts: Int64) -> Int64:
    """How many rows have each value, copies counted."""
    if rows.copies:
        return np.asarray(counts.sum(axis=1))
    if rows.sizes is None:
        return np.bincount(codes, minlength=len(counts))
    one = np.zeros_like(codes)
    return np.asarray(native.count_codes(codes, len(counts), one, 1, rows.sizes[inside])[:, 0])


class Search:
    """A node's attributes → their tests, by the rules of a fit."""

    def __init__(self, counts: Int64, total: int, growth: Growth) -> None:
        self.criterion = CRITERIA[growth.criterion]
        self.counts, self.n = np.ascontiguousarray(counts), int(counts.sum())
        self.growth, self._total = growth, total

    @property
    def by_ratio(self) -> bool:
        """Whether tests are chosen by their gain ratio."""
        return self.criterion == "gain_ratio"

    def scores(self, tests: Candidates) -> Float:
        """The scores by which tests are compared: the measure's, or the gain ratio. (S 20)"""
        keys, scores, information, base = tests.judged
        if not self.by_ratio:
            return scores
        return np.asarray(np.where(keys > -math.inf, keys - base, 0.0) / information)

    def tests(self, x: Attribute, asked: Places = ()) -> Candidates:
        """The tests of an attribute; of a category of many values `asked` is listed in any case."""
        if x.kind == CUT:
            return self._cuts(x)
        return self._subsets(x, asked) if x.kind == SUBSET else self._multiway(x)

    def _cuts(self, x: Attribute) -> Candidates:
        """X <= v between neighboring values; the yes sides hold N_v of (ZM 19.12)."""
        yes, sizes = np.cumsum(x.counts, axis=0)[:-1], np.cumsum(x.sizes)[:-1]
        v = thresholds_between(x.values)
        if x.moments is not None:
            v = brief_moments(v, x.moments)
        return self._two_sides(x, yes, sizes, (v, ()), (True, len(yes)))

    def _subsets(self, x: Attribute, asked: Places) -> Candidates:
        """X in V: all sets, or of many values each alone, the best set and the one asked for."""
        exact, candidates = True, sets_allowed(x.m, self.growth.max_subset)
        if x.m <= MOST_LISTED:
            sets = every_set(x.m)
        else:
            best = self._best_set(x)
            further = {V for V in (best[0], asked) if len(V) > 1}
            sets = tuple((i,) for i in range(x.m)) + tuple(sorted(further, key=_set_order))
            exact, candidates = best[1:]
        yes = np.array([x.counts[list(V)].sum(axis=0) for V in sets], dtype=np.int64)
        sizes = np.array([x.sizes[list(V)].sum() for V in sets], dtype=np.int64)
        named = np.full(len(sets), np.nan), sets
        sides = yes.reshape(-1, x.counts.shape[1]), sizes
        tests = self._two_sides(x, *sides, named, (exact, candidates))
        tests.fits[[len(V) > self.growth.max_subset for V in sets]] = False
        return tests

    def _best_set(self, x: Attribute) -> tuple[Places, bool, float]:
        """What the core finds among sets that are too many to be listed."""
        growth = self.growth
        found = native.best_test(
            [x.kind],
            [x.values],
            [x.counts],
            [x.sizes],
            self._total,
            growth.criterion,
            growth.min_size,
            growth.min_units,
            growth.max_subset,
        )
        if found is None:
            n_sets = sets_allowed(x.m, growth.max_subset)
            return (), n_sets <= _ALL_TRIED, n_sets
        V = tuple(np.searchsorted(x.values, found.yes).tolist())
        return V, found.exact, found.candidates

    def _two_sides(
        self,
        x: Attribute,
        yes: Int64,
        sizes: Int64,
        named: tuple[Float, tuple[Places, ...]],
        sure: tuple[bool, float],
    ) -> Candidates:
        judged = judge_tests(self.counts, yes, self._total, self.growth.criterion)
        n_yes, all_sizes = yes.sum(axis=1), x.sizes.sum()
        fits = np.minimum(sizes, all_sizes - sizes) >= self.growth.min_size
        fits &= np.minimum(n_yes, self.n - n_yes) >= self.growth.min_units
        return Candidates(x, yes, judged, fits, *named, *sure)

    def _multiway(self, x: Attribute) -> Candidates:
        """One branch a value, where there are two; at least two of them must meet the limits."""
        found = judge_parts(x.counts, self._total, self.growth.criterion)
        met = x.sizes >= self.growth.min_size
        met &= x.counts.sum(axis=1) >= self.growth.min_units
        fits = np.array([np.count_nonzero(met) >= 2])
        one = 1 if x.m > 1 else 0  # a single value is no test
        judged = found._replace(
            keys=found.keys[:one], scores=found.scores[:one], information=found.information[:one]
        )
        none = np.full(one, np.nan)
        return Candidates(x, x.counts, judged, fits[:one], none, (), exact=True, candidates=one)


def every_set(m: int) -> tuple[Places, ...]:
    """V of m values, fewer values first; of two halves the one with the first value."""
    return tuple(
        V
        for size in range(1, m // 2 + 1)
        for V in combinations(range(m), size)
        if 2 * size < m or V[0] == 0
    )


def smaller_side(inside: Bool) -> Places:
    """V as the tree writes it, given either side of its test."""
    twice = 2 * int(np.count_nonzero(inside)) - len(inside)
    turn = twice > 0 or (twice == 0 and not inside[0])
    return tuple(np.flatnonzero(inside != turn).tolist())


def sets_allowed(m: int, most: int) -> float:
    """How many V of at most so many values there are: all of them are (ZM 19.17)."""
    if most >= m // 2:
        return 2.0 ** (m - 1) - 1 if m <= 1024 else math.inf
    ways, found = 1.0, 0.0
    for size in range(1, most + 1):
        ways = ways * (m - size + 1) / size
        found += ways
    return found


def _set_order(V: Places) -> tuple[int, Places]:
    return len(V), V
