"""Tests judged side by side have the keys, scores and thresholds by which a tree grows."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sortal import native
from sortal.native.trees import CUT, score_branches, score_tests, thresholds_between, tie_threshold

Int64 = NDArray[np.int64]
GAIN, RATIO, GINI, CART = range(4)

sides = st.lists(st.integers(0, 40), min_size=3, max_size=3)
tables = st.lists(sides, min_size=2, max_size=6).map(lambda rows: np.array(rows, dtype=np.int64))


def shift_for(total: int) -> int:
    return 51 - math.frexp(total * math.log2(total + 1))[1]


@given(tables, st.sampled_from(range(4)))
def test_two_sides_have_the_scores_of_their_partition(table: Int64, criterion: int) -> None:
    table[0] += 1
    node, yes = table.sum(axis=0), np.cumsum(table, axis=0)[:-1]
    total = int(node.sum())
    judged = score_tests(node, yes, total, criterion)
    for i, side in enumerate(yes):
        parts = np.array([side, node - side])
        score = native.score_parts(parts, shift_for(total))
        if score.nothing:
            assert judged.keys[i] == -np.inf
            assert judged.scores[i] == 0.0
            continue
        gain = (score.entropy - score.split_entropy) / 2.0 ** shift_for(total) / total
        assert score.cart is not None
        expected = {GINI: score.gini_decrease / total, CART: 2 * score.cart / total / total}
        assert judged.scores[i] == pytest.approx(expected.get(criterion, gain), abs=1e-14)
        assert judged.information[i] == score.split_information
        if criterion in (GAIN, RATIO):
            assert judged.keys[i] - judged.base == max(score.entropy - score.split_entropy, 1)


@given(tables, st.sampled_from([GAIN, RATIO, GINI]))
def test_a_branch_a_part_has_the_score_of_its_partition(table: Int64, criterion: int) -> None:
    table[:, 0] += 1
    total = int(table.sum())
    judged = score_branches(table, total, criterion)
    score = native.score_parts(table, shift_for(total))
    gain = (score.entropy - score.split_entropy) / 2.0 ** shift_for(total) / total
    wanted = score.gini_decrease / total if criterion == GINI else gain
    assert judged.scores[0] == pytest.approx(0.0 if score.nothing else wanted, abs=1e-14)
    assert judged.information[0] == score.split_information
    assert (judged.keys[0] == -np.inf) == score.nothing


@given(tables, st.sampled_from(range(4)))
def test_the_first_of_the_equals_is_the_best_test(table: Int64, criterion: int) -> None:
    table[:, 0] += 1
    node, yes = table.sum(axis=0), np.cumsum(table, axis=0)[:-1]
    total, m = int(node.sum()), len(table)
    keys = score_tests(node, yes, total, criterion).keys
    found = native.best_test(
        [CUT], [np.arange(m, dtype=np.float64)], [table], [None], total, criterion, 1, 1, 1
    )
    if found is None:
        assert (keys == -np.inf).all()
    else:
        least = tie_threshold(float(keys.max()), 3, GAIN if criterion == RATIO else criterion)
        assert math.floor(found.threshold) == int(np.flatnonzero(keys >= least)[0])


def test_equals_are_within_what_rounding_does() -> None:
    assert tie_threshold(1000.0, 3, GAIN) == 1000.0 - 8
    assert tie_threshold(1000.0, 3, RATIO) == 1000.0 - 8
    assert tie_threshold(1.0, 3, GINI) == 1.0 - 4 * 2.0**-52
    assert tie_threshold(7.0, 3, CART) == 7.0


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(finite, min_size=1, max_size=8, unique=True))
def test_thresholds_lie_between_and_are_short_where_they_can(values: list[float]) -> None:
    x = np.unique(np.array(values) + 0.0)
    for v, (a, b) in zip(thresholds_between(x).tolist(), pairwise(x.tolist()), strict=True):
        assert a <= v < b
        middle = float((Fraction(a) + Fraction(b)) / 2)
        brief = float(f"{middle:.14e}")
        assert v == (brief if a <= brief < b else middle if a <= middle < b else a)
