"""Tests of a node side by side, judged by the compiled core as a growing tree judges them.

`total` are the units of the whole fit, which fix the unit of logarithms; criteria have the numbers
of `native.trees.CRITERIA`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sortal.native import _core

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Float = NDArray[np.float64]
    Int64 = NDArray[np.int64]


class Judged(NamedTuple):
    """Keys (S 22), larger for better tests and -inf for those that say nothing, and their scores.

    For the gain ratio scores are gains in bits. `information` is n times the split information and
    key - base n times the gain, both in the fit's units of logarithms.
    """

    keys: Float
    scores: Float
    information: Float
    base: float


def judge_tests(node: Int64, yes: Int64, total: int, criterion: int) -> Judged:
    """Tests with two sides: a row of `yes` holds the units by class where a test says yes."""
    return Judged(*_core.score_tests(node.reshape(1, -1), yes, total, criterion))


def judge_parts(parts: Int64, total: int, criterion: int) -> Judged:
    """One test with a branch for each row of `parts`, units by class."""
    return Judged(*_core.score_branches(parts, total, criterion))


def equal_from(key: float, n_classes: int, criterion: int) -> float:
    """The least key that counts as equal to the largest."""
    return _core.tie_threshold(key, n_classes, criterion)


def thresholds_between(values: Float) -> Float:
    """The thresholds between neighbors of ascending values. (S 23)"""
    return _core.thresholds_between(values)
