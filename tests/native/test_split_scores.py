"""Tests judged side by side have the keys, scores and thresholds by which a tree grows."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sortal import native
from sortal.native.trees import (
    CUT,
    NO_BOUND,
    ColumnTests,
    Growth,
    NodeColumn,
    node_tests,
    score_branches,
    score_tests,
)

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


def cut_tests(values: Any, counts: Int64, criterion: int = GAIN) -> ColumnTests:
    """The cuts of one column as a node lists them."""
    sizes, missing = np.ones(len(counts), dtype=np.int64), np.zeros(counts.shape[1], np.int64)
    limits = Growth(criterion, 1, 1.0, -1, 1, 1, 0.0, -1, NO_BOUND)
    column = NodeColumn(CUT, np.asarray(values, dtype=np.float64), counts, sizes, missing, 0)
    (found,) = node_tests([column], int(counts.sum()), limits)
    return found


@given(tables, st.sampled_from(range(4)))
def test_the_list_is_judged_like_its_tests_and_led_by_the_best(
    table: Int64, criterion: int
) -> None:
    table[:, 0] += 1
    node, yes = table.sum(axis=0), np.cumsum(table, axis=0)[:-1]
    total, m = int(node.sum()), len(table)
    judged, found = score_tests(node, yes, total, criterion), cut_tests(range(m), table, criterion)
    assert (found.yes == yes).all()
    assert (found.no == node - yes).all()
    assert (found.gains == judged.scores).all()
    assert (found.allowed == (judged.keys > -np.inf)).all()
    best = native.best_test(
        [CUT], [np.arange(m, dtype=np.float64)], [table], [None], total, criterion, 1, 1, 1
    )
    assert (found.offer < 0) == (best is None)
    if best is not None:
        assert found.thresholds[found.offer] == best.threshold
        assert found.ranks[found.offer] == 1
        assert best.score == found.scores[found.offer]


@pytest.mark.parametrize("criterion", range(4))
def test_mirrored_cuts_tie(criterion: int) -> None:
    """By the gain ratio an attribute offers one test only."""
    table = np.array([[8, 0, 1], [3, 5, 0], [5, 3, 0], [0, 8, 1]])
    assert cut_tests(range(4), table, criterion).tied.tolist() == [True, False, criterion != RATIO]


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(finite, min_size=1, max_size=8, unique=True))
def test_thresholds_lie_between_and_are_short_where_they_can(values: list[float]) -> None:
    x = np.unique(np.array(values) + 0.0)
    thresholds = cut_tests(x, np.ones((len(x), 2), dtype=np.int64)).thresholds.tolist()
    for v, (a, b) in zip(thresholds, pairwise(x.tolist()), strict=True):
        assert a <= v < b
        middle = float((Fraction(a) + Fraction(b)) / 2)
        brief = float(f"{middle:.14e}")
        assert v == (brief if a <= brief < b else middle if a <= middle < b else a)
