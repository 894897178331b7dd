"""The tests that a node could ask, with counts and keys, in the order of the choice."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sortal import native
from sortal.data.columns import brief_moments
from sortal.native.trees import (
    CRITERIA,
    CUT,
    MULTIWAY,
    POLICIES,
    SUBSET,
    SplitScores,
    score_branches,
    score_tests,
    thresholds_between,
    tie_threshold,
)
from sortal.records.render import quoted
from sortal.trees.branches import set_text, threshold_text
from sortal.trees.working.node_rows import KnownRowsScore, join_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal._typing import Counts, Float, Mask
    from sortal.native.trees import Growth
    from sortal.trees.working.node_rows import Attribute, MissingBranch

    Places = tuple[int, ...]

# Up to so many sets the core tries all of them where it finds none in another way.
_ALL_TRIED = 1 << 14

# Up to so many values every set of them is listed: 511 sets.
MOST_LISTED = 10

# Where missing values go that are the one side of a test, that are beside both, that go down every
# branch.
ALONE, OWN_BRANCH, EVERY_BRANCH = "alone", "own branch", "every branch"


@dataclass(frozen=True, eq=False)
class Candidates:
    """Tests of one attribute, those first that are taken first among equals.

    `yes` and `no` are units by class on both sides, a row a test; of the one multiway test, `yes`
    are those of each branch. Missing values are on their side, or beside both. `judged` are the
    keys and scores, `fits` says which tests meet the limits, `missing` where missing values go.
    `thresholds` are of cuts, `sets` (places of V's values; a missing value is behind all) of
    subsets, `joined` of a multiway test that missing values join. `exact` says whether the best of
    all is listed for certain, `candidates` how many there are or were looked at. `untold` is the
    gain where known rows tell nothing.
    """

    attribute: Attribute
    yes: Counts
    no: Counts
    judged: SplitScores
    fits: Mask
    missing: tuple[str, ...]
    thresholds: Float
    sets: tuple[Places, ...]
    exact: bool
    candidates: float
    joined: MissingBranch | None = None
    untold: float = 0.0

    @property
    def allowed(self) -> Mask:
        """Which tests the tree may ask."""
        return self.fits & (self.judged.keys > -math.inf)

    def words(self, i: int) -> str:
        """Test i as the tree writes it."""
        x = self.attribute
        name = quoted(x.column.name)
        if self.missing[i] == ALONE:
            return f"{name} is {'missing' if x.kind == SUBSET and x.m in self.sets[i] else 'known'}"
        missing = f", missing: {self.missing[i]}" if x.told else ""
        if x.kind == CUT:
            return f"{name} <= {threshold_text(x.column, float(self.thresholds[i]))}{missing}"
        if x.kind == SUBSET:
            return f"{name} in {set_text(x.names(self.sets[i]))}{missing}"
        return f"{name}: {' | '.join(quoted(value) for value in x.names(range(x.m)))}{missing}"


class Search:
    """A node's attributes → their tests, by the rules of a fit."""

    def __init__(self, counts: Counts, total: int, growth: Growth) -> None:
        self.criterion, self.policy = CRITERIA[growth.criterion], POLICIES[growth.policy]
        self.counts, self.n = np.ascontiguousarray(counts), int(counts.sum())
        self.growth, self.total = growth, total

    @property
    def by_ratio(self) -> bool:
        """Whether tests are chosen by their gain ratio."""
        return self.criterion == "gain_ratio"

    def scores(self, tests: Candidates) -> Float:
        """The scores by which tests are compared: the measure's, or the gain ratio. (S 20)"""
        keys, scores, information, base = tests.judged
        if not self.by_ratio:
            return scores
        return np.asarray(np.where(keys > -math.inf, keys - base, tests.untold) / information)

    def tests(self, x: Attribute, asked: Places = ()) -> Candidates:
        """The tests of an attribute; of a category of many values `asked` is listed in any case."""
        if x.kind == MULTIWAY:
            return self._multiway(x)
        found = self._cuts(x) if x.kind == CUT else self._subsets(x, asked)
        is_last = self.policy == "branch" and x.has_missing and x.m and not found.allowed.any()
        return self._with_alone(found) if is_last else found

    def known_alone(self, x: Attribute) -> bool:
        """Whether a test's score is that of the known rows, times their share."""
        return x.has_missing and self.policy in ("majority", "fractional")

    def searched(self, x: Attribute) -> Counts:
        """The rows that are split: all, or the known ones where missing is beside both sides."""
        return x.known if self._is_apart(x) else self.counts

    def _is_apart(self, x: Attribute) -> bool:
        return x.has_missing and self.policy != "direction"

    def takes_sides(self, x: Attribute) -> bool:
        """Whether tests have the missing values on one of their sides."""
        return x.has_missing and self.policy == "direction"

    def _apart(self, x: Attribute) -> KnownRowsScore:
        own = self.policy == "branch"
        return KnownRowsScore(x.known, x.missing, own, self.total, self.growth.criterion)

    def _cuts(self, x: Attribute) -> Candidates:
        """X <= v between neighboring values; the yes sides hold N_v of (ZM 19.12)."""
        yes, sizes = np.cumsum(x.counts, axis=0)[:-1], np.cumsum(x.sizes)[:-1]
        v = thresholds_between(x.values)
        if x.moments is not None:
            v = brief_moments(v, x.moments)
        missing: tuple[str, ...] = ()
        if self.takes_sides(x):
            yes, sizes, v = _on_both_sides(x, yes, sizes, v)
            missing = ("yes", "no") * (len(v) // 2) + (ALONE,) * (len(v) % 2)
        return self._two_sides(x, yes, sizes, missing, (v, ()), (True, len(yes)))

    def _subsets(self, x: Attribute, asked: Places) -> Candidates:
        """X in V: all sets, or of many values each alone, the best set and the one asked for."""
        x_all = _with_missing_side(x) if self.takes_sides(x) else x
        m, exact, candidates = x_all.m, True, sets_allowed(x_all.m, self.growth.max_subset)
        if m <= MOST_LISTED:
            sets = every_set(m)
        else:
            best = self._best_set(x_all)
            further = {V for V in (best[0], asked) if len(V) > 1}
            sets = tuple((i,) for i in range(m)) + tuple(sorted(further, key=lambda V: (len(V), V)))
            exact, candidates = best[1:]
        yes = np.array([x_all.counts[list(V)].sum(axis=0) for V in sets], dtype=np.int64)
        sizes = np.array([x_all.sizes[list(V)].sum() for V in sets], dtype=np.int64)
        missing = tuple(_side_of_missing(x, V) for V in sets) if self.takes_sides(x) else ()
        named = np.full(len(sets), np.nan), sets
        sides = yes.reshape(-1, x.counts.shape[1]), sizes, missing
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
            self.total,
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
        yes: Counts,
        sizes: Counts,
        missing: tuple[str, ...],
        named: tuple[Float, tuple[Places, ...]],
        sure: tuple[bool, float],
    ) -> Candidates:
        """The sides of tests, judged; missing values count where they are on a side."""
        apart = self._is_apart(x)
        n_yes, no = yes.sum(axis=1), self.searched(x) - yes
        all_sizes = x.sizes.sum() + (0 if apart else x.missing_size)
        fits = self._fits(n_yes, sizes) & self._fits(no.sum(axis=1), all_sizes - sizes)
        missing = missing or self._missing_go(x, n_yes, no.sum(axis=1))
        judged = self._judge_sides(x, yes)
        untold = 0.0
        if apart and self.policy == "branch" and len(yes):
            alone = self._apart(x).alone()
            untold = max(0.0, float(alone.keys[0] - alone.base))
        return Candidates(x, yes, no, judged, fits, missing, *named, *sure, untold=untold)

    def _judge_sides(self, x: Attribute, yes: Counts) -> SplitScores:
        if not len(yes):
            return no_scores()
        whole = np.ascontiguousarray(self.searched(x))
        judged = score_tests(whole, yes, self.total, self.growth.criterion)
        return self._apart(x).in_node(judged) if self._is_apart(x) else judged

    def _fits(self, units: Counts, sizes: Counts) -> Mask:
        """Which parts are large enough."""
        return np.asarray((sizes >= self.growth.min_size) & (units >= self.growth.min_units))

    def _missing_go(self, x: Attribute, n_yes: Counts, n_no: Counts) -> tuple[str, ...]:
        """Where missing values go that are on no side: also those that the node has not met."""
        if x.has_missing and self.policy != "majority":
            return (OWN_BRANCH if self.policy == "branch" else EVERY_BRANCH,) * len(n_yes)
        return tuple("yes" if heavier else "no" for heavier in n_yes >= n_no)

    def _with_alone(self, tests: Candidates) -> Candidates:
        """The test known | missing behind those that are not allowed."""
        x, alone = tests.attribute, self._apart(tests.attribute).alone()
        sides = (
            np.stack([x.known, x.missing]).sum(axis=1),
            np.array([x.sizes.sum(), x.missing_size]),
        )
        # units of parts may be rounded to none
        fits = bool(self._fits(*sides).all()) and bool(sides[0].all())
        old = tests.judged
        judged = SplitScores(
            np.append(old.keys, alone.keys),
            np.append(old.scores, alone.scores),
            np.append(old.information, alone.information),
            alone.base,
        )
        v = math.inf if x.kind == CUT else math.nan
        return replace(
            tests,
            yes=np.vstack([tests.yes, x.known[None]]),
            no=np.vstack([tests.no, x.missing[None]]),
            judged=judged,
            fits=np.append(tests.fits, fits),
            missing=(*tests.missing, ALONE),
            thresholds=np.append(tests.thresholds, v),
            sets=(*tests.sets, tuple(range(x.m))) if x.kind == SUBSET else (),
        )

    def _multiway(self, x: Attribute) -> Candidates:
        """One branch a value, where there are two; at least two of them must meet the limits."""
        parts, sizes, joined, missing = x.counts, x.sizes, None, "stays"
        if x.has_missing and self.policy == "branch":
            parts, sizes = np.vstack([parts, x.missing[None]]), np.append(sizes, x.missing_size)
            missing = OWN_BRANCH
        elif self.takes_sides(x) and x.m > 1:
            joined = join_missing(x, self.growth, self.total)
            parts, sizes = joined.parts, joined.sizes
            missing = quoted(x.names([joined.place])[0])
        elif x.has_missing and x.m > 1:
            heaviest = int(parts.sum(axis=1).argmax())
            is_majority = self.policy == "majority"
            missing = quoted(x.names([heaviest])[0]) if is_majority else EVERY_BRANCH
        one = 1 if len(parts) > 1 else 0  # a single value is no test
        judged = self._judge_parts(x, parts) if one else no_scores()
        fits = np.array([np.count_nonzero(self._fits(parts.sum(axis=1), sizes)) >= 2])
        none = np.full(one, np.nan), ()
        sides = parts, parts[:0], judged, fits[:one], (missing,)
        return Candidates(x, *sides, *none, exact=True, candidates=one, joined=joined)

    def _judge_parts(self, x: Attribute, parts: Counts) -> SplitScores:
        judged = score_branches(np.ascontiguousarray(parts), self.total, self.growth.criterion)
        return self._apart(x).in_node(judged) if self.known_alone(x) else judged


def no_scores() -> SplitScores:
    """Of no tests."""
    return SplitScores(np.empty(0), np.empty(0), np.empty(0), 0.0)


def _with_missing_side(x: Attribute) -> Attribute:
    """With the missing value as one more value, behind all others."""
    return replace(
        x,
        values=np.append(x.values, len(x.column.values)),
        counts=np.vstack([x.counts, x.missing[None]]),
        sizes=np.append(x.sizes, x.missing_size),
    )


def _side_of_missing(x: Attribute, V: Places) -> str:
    if set(V) == {x.m} or (len(V) == x.m and x.m not in V):
        return ALONE
    return "yes" if x.m in V else "no"


def _on_both_sides(
    x: Attribute, yes: Counts, sizes: Counts, v: Float
) -> tuple[Counts, Counts, Float]:
    """Each cut with missing values on the yes side, then on the no side; last known | missing."""
    yes, sizes, v = np.repeat(yes, 2, axis=0), np.repeat(sizes, 2), np.repeat(v, 2)
    yes[::2] += x.missing
    sizes[::2] += x.missing_size
    if x.m:
        yes, sizes = np.vstack([yes, x.known[None]]), np.append(sizes, x.sizes.sum())
        v = np.append(v, math.inf)
    return yes, sizes, v


def every_set(m: int) -> tuple[Places, ...]:
    """V of m values, fewer values first; of two halves the one with the first value."""
    return tuple(
        V
        for size in range(1, m // 2 + 1)
        for V in combinations(range(m), size)
        if 2 * size < m or V[0] == 0
    )


def smaller_side(inside: Mask) -> Places:
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


# --- All tests of a node in the order in which the tree would take them --------------------------

# Ratios that are less by this share count as equal.
_EQUAL_RATIOS = 1e-12

# In this order: the test asked, its equals, others that compete, others.
_ASKED, _EQUAL, _COMPETING, _OTHER = range(4)


class NodeTest(NamedTuple):
    """The test of a node: its attribute, and its place among that attribute's tests."""

    attribute: int
    place: int


class Ranking(NamedTuple):
    """For each attribute: `ranks` of its tests among all of the node, from 1; 0 if not allowed.

    `offers` is its best test, None where none is allowed; `competes` whether that takes part in the
    choice, as not all do by the gain ratio.
    """

    ranks: list[Counts]
    offers: list[int | None]
    competes: list[bool]


class _Order(NamedTuple):
    """What all tests are sorted by: first the tier, within it the larger value."""

    tier: NDArray[np.int8]
    value: Float
    offers: list[int | None]
    competes: list[bool]


def rank_tests(search: Search, tests: Sequence[Candidates], asked: NodeTest | None) -> Ranking:
    """Rank all allowed tests. Equals of the best stand in the tree's order, others by their key.

    By the gain ratio those come first that compete, by their ratio.
    """
    keys = [np.where(own.allowed, own.judged.keys, -math.inf) for own in tests]
    starts = np.cumsum([0, *map(len, keys)])
    order = _by_ratio(search, tests, keys) if search.by_ratio else _by_key(search, keys)
    tier, all_keys = order.tier, np.concatenate(keys)
    if asked is not None:
        mark = starts[asked.attribute] + asked.place
        # beyond rounding the tree and this list agree on the first; within it the tree decides
        tier[mark] = _ASKED if tier[mark] == _EQUAL else tier[mark]
    value = np.where(tier <= _EQUAL, 0.0, order.value)
    sorted_tests = np.lexsort((np.arange(len(tier)), -value, tier))
    sorted_tests = sorted_tests[all_keys[sorted_tests] > -math.inf]
    ranks = np.zeros(len(tier), dtype=np.int64)
    ranks[sorted_tests] = np.arange(1, len(sorted_tests) + 1)
    own = [ranks[a:b] for a, b in pairwise(starts)]
    offers = order.offers if search.by_ratio else [_first(places) for places in own]
    competes = order.competes if search.by_ratio else [o is not None for o in offers]
    return Ranking(own, offers, competes)


def _by_key(search: Search, keys: list[Float]) -> _Order:
    """Keys within τ of the largest are equal to it. (S 22)"""
    value = np.concatenate(keys)
    tier = np.where(value >= _least(search, value), _EQUAL, _COMPETING).astype(np.int8)
    return _Order(tier, value, [], [])


def _by_ratio(search: Search, tests: Sequence[Candidates], keys: list[Float]) -> _Order:
    """Each attribute offers its first test of largest gain; at least average gain competes. (S 21)

    Gains are whole numbers of units here.
    """
    offers = [_first_from(own, _least(search, own)) for own in keys]
    gains = [own.max(initial=-math.inf) - x.judged.base for own, x in zip(keys, tests, strict=True)]
    found = [int(gain) for gain in gains if gain > -math.inf]
    value, tier = [own.copy() for own in keys], [np.full(len(own), _OTHER) for own in keys]
    competes = []
    for j, offer in enumerate(offers):
        competes.append(offer is not None and _is_average(search, keys[j], gains[j], found))
        if offer is not None and competes[j]:
            value[j][offer] = gains[j] / tests[j].judged.information[offer]
            tier[j][offer] = _COMPETING
    all_tiers, ratios = np.concatenate(tier).astype(np.int8), np.concatenate(value)
    competing = all_tiers == _COMPETING
    least = ratios[competing].max(initial=-math.inf) * (1 - _EQUAL_RATIOS)
    all_tiers[competing & (ratios >= least)] = _EQUAL
    return _Order(all_tiers, ratios, offers, competes)


def _is_average(search: Search, keys: Float, gain: float, gains: list[int]) -> bool:
    """Whether an attribute has at least the average gain, τ allowed for."""
    tau = float(keys.max()) - _least(search, keys)
    return int(gain + tau) * len(gains) >= sum(gains)


def _least(search: Search, keys: Float) -> float:
    """From this key on tests count as equal to the best."""
    best = float(keys.max(initial=-math.inf))
    if best == -math.inf:
        return math.inf
    return tie_threshold(best, len(search.counts), search.growth.criterion)


def _first_from(keys: Float, least: float) -> int | None:
    reach = np.flatnonzero(keys >= least)
    return int(reach[0]) if len(reach) else None


def _first(ranks: Counts) -> int | None:
    """The place of the smallest rank."""
    allowed = np.flatnonzero(ranks)
    return int(allowed[ranks[allowed].argmin()]) if len(allowed) else None
