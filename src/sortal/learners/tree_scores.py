"""Scores of many tests of a node at once, in the whole numbers of the compiled core.

A tree chooses by keys (S 22), and tests within τ of the largest are equal to it. To list tests in
the order of the choice, keys must have the bits of cpp/scoring.hpp: scores from shares would settle
ties by their rounding. One call of the core a test would take a minute where this takes a second.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Float = NDArray[np.float64]
    Int64 = NDArray[np.int64]

# Below so many units the squares of counts add up within 63 bits; beyond, Python's numbers do it.
_NARROW = 1 << 31


class Measure:
    """A criterion in a node of `counts` units by class; sides are rows of counts.

    score = (key - base) · scale.
    """

    def __init__(self, counts: Int64, total: int) -> None:
        self.counts, self.n, self.n_classes = counts, int(counts.sum()), len(counts)
        self.shift = log_shift(total)
        self.base = float(self.part(counts[None])[0])

    def part(self, side: Int64) -> Float:
        """What a part of a partition adds to its key."""
        raise NotImplementedError

    def tau(self, key: float) -> float:
        """Keys that are less by so much count as equal."""
        raise NotImplementedError

    def score(self, keys: Float) -> Float:
        """The textbook's score; 0 of a test that says nothing."""
        raise NotImplementedError

    def impurity(self, scores: Float) -> Float:
        """What is left of the node's impurity after tests of such scores."""
        raise NotImplementedError

    def keys(self, yes: Int64) -> Float:
        """The keys of tests by their yes sides; -inf of a test that says nothing."""
        return self._exact(self.part(yes) + self.part(self.counts - yes), yes)

    def key_of_parts(self, parts: Int64) -> float:
        """The key of one test with any number of parts; -inf if it says nothing."""
        if self._alike(parts).all():
            return -math.inf
        summed = np.cumsum(self.part(parts))[-1]  # in order, as the core adds
        return max(float(summed), self._least())

    def information(self, parts: Int64) -> Float:
        """n times the split information, in units; a column a part. (S 20)"""
        logs = log_units(parts, self.shift).sum(axis=-1)
        return np.asarray(log_units(np.array([self.n]), self.shift)[0] - logs, dtype=np.float64)

    def bits(self, units: Float) -> Float:
        """Units of logarithms as bits a row."""
        return np.asarray(np.ldexp(units, -self.shift) / self.n)

    def _near(self) -> float:
        """Up to this key a test may differ from none by rounding alone."""
        raise NotImplementedError

    def _least(self) -> float:
        """The key of a test that says something, however little."""
        raise NotImplementedError

    def _exact(self, keys: Float, yes: Int64) -> Float:
        near = np.flatnonzero(keys <= self._near())
        keys[near] = np.maximum(keys[near], self._least())
        keys[near[self._alike(yes[near])]] = -math.inf
        return keys

    def _alike(self, side: Int64) -> NDArray[np.bool_]:
        """Which sides have the shares of the node: products of whole numbers decide."""
        mine, whole = self._wide(side), self._wide(self.counts)
        return np.asarray(mine * self.n == whole * mine.sum(axis=1)[:, None]).all(axis=1)

    def _wide(self, counts: Int64) -> Any:
        return counts if self.n < _NARROW else counts.astype(object)

    def _gained(self, keys: Float) -> Float:
        return np.where(keys == -math.inf, 0.0, keys - self.base)


class Gain(Measure):
    """The gain (ZM 19.5) and the entropy that is left (ZM 19.4)."""

    def part(self, side: Int64) -> Float:
        logs = log_units(side, self.shift).sum(axis=1) - log_units(side.sum(axis=1), self.shift)
        return logs.astype(np.float64)

    def tau(self, key: float) -> float:  # noqa: ARG002  (as of Gini)
        return 2.0 * (self.n_classes + 1)

    def score(self, keys: Float) -> Float:
        return self.bits(self._gained(keys))

    def impurity(self, scores: Float) -> Float:
        return np.asarray(self.bits(np.array(-self.base)) - scores)

    def _near(self) -> float:
        return self.base + 4.0 * (self.n_classes + 1)

    def _least(self) -> float:
        return self.base + 1.0


class Gini(Measure):
    """The decrease of the Gini index, and what is left of it (ZM 19.6)."""

    def part(self, side: Int64) -> Float:
        squares = (self._wide(side) ** 2).sum(axis=1).astype(np.float64)
        return np.asarray(squares / side.sum(axis=1))

    def tau(self, key: float) -> float:
        return 4.0 * (math.nextafter(key, math.inf) - key)

    def score(self, keys: Float) -> Float:
        return self._gained(keys) / self.n

    def impurity(self, scores: Float) -> Float:
        return 1 - self.base / self.n - scores

    def _near(self) -> float:
        return self.base * (1.0 + 2.0**-48)

    def _least(self) -> float:
        return math.nextafter(self.base, math.inf)


class Cart(Measure):
    """The CART measure (ZM 19.7), which knows two sides and no impurity."""

    def part(self, side: Int64) -> Float:
        return np.zeros(len(side))

    def keys(self, yes: Int64) -> Float:
        mine, whole = self._wide(yes), self._wide(self.counts)
        apart = abs(mine * self.n - whole * mine.sum(axis=1)[:, None]).sum(axis=1)
        return self._exact(apart.astype(np.float64), yes)

    def tau(self, key: float) -> float:  # noqa: ARG002  (as of Gini)
        return 0.0

    def score(self, keys: Float) -> Float:
        return 2.0 * self._gained(keys) / self.n / self.n

    def _near(self) -> float:
        return 0.0

    def _least(self) -> float:
        return 1.0


MEASURES = {"gain": Gain, "gain_ratio": Gain, "gini": Gini, "cart": Cart}


def log_shift(total: int) -> int:
    """The finest unit, 2**-shift, in which total · log2 total stays below 2**52."""
    return 51 - math.frexp(total * math.log2(total + 1))[1]


def log_units(counts: Int64, shift: int) -> Int64:
    """c log2 c in whole units, halves upwards.

    By the logarithm of the C library, which the core has too: NumPy's own may differ in a bit.
    """
    distinct, places = np.unique(counts, return_inverse=True)
    logs = [math.ldexp(c * math.log2(c), shift) if c > 1 else 0.0 for c in map(float, distinct)]
    exact = np.array(logs, dtype=np.float64)
    whole = np.trunc(exact)
    rounded = (whole + (exact - whole >= 0.5)).astype(np.int64)
    return np.asarray(rounded[places.reshape(counts.shape)])
