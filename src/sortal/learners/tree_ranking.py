"""All tests of a node in the order in which the tree would take them."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sortal.native.judging import equal_from

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal.learners.tree_candidates import Candidates, Search

    Float = NDArray[np.float64]
    Int64 = NDArray[np.int64]

# Ratios that are less by this share count as equal.
_EQUAL_RATIOS = 1e-12

# In this order: the test asked, its equals, others that compete, others.
_ASKED, _EQUAL, _COMPETING, _OTHER = range(4)


class Asked(NamedTuple):
    """The test of a node: its attribute, and its place among that attribute's tests."""

    attribute: int
    place: int


class Ranking(NamedTuple):
    """For each attribute: `ranks` of its tests among all of the node, from 1; 0 if not allowed.

    `offers` is its best test, None where none is allowed; `competes` whether that takes part in the
    choice, as not all do by the gain ratio.
    """

    ranks: list[Int64]
    offers: list[int | None]
    competes: list[bool]


class _Order(NamedTuple):
    """What all tests are sorted by: first the tier, within it the larger value."""

    tier: NDArray[np.int8]
    value: Float
    offers: list[int | None]
    competes: list[bool]


def rank_tests(search: Search, tests: Sequence[Candidates], asked: Asked | None) -> Ranking:
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
    return equal_from(best, len(search.counts), search.growth.criterion)


def _first_from(keys: Float, least: float) -> int | None:
    reach = np.flatnonzero(keys >= least)
    return int(reach[0]) if len(reach) else None


def _first(ranks: Int64) -> int | None:
    """The place of the smallest rank."""
    allowed = np.flatnonzero(ranks)
    return int(allowed[ranks[allowed].argmin()]) if len(allowed) else None
