"""The tests of a node side by side have the scores and thresholds by which a tree grows."""

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
    MULTIWAY,
    NO_BOUND,
    ColumnTests,
    Growth,
    NodeColumn,
    node_tests,
)

Int64 = NDArray[np.int64]
GAIN, RATIO, GINI, CART = range(4)

sides = st.lists(st.integers(0, 40), min_size=3, max_size=3)
# Every row has a unit.
tables = st.lists(sides, min_size=2, max_size=6).map(
    lambda rows: np.array(rows, dtype=np.int64) + np.array([1, 0, 0])
)


def listed(counts: Int64, criterion: int, kind: int = CUT, values: Any = None) -> ColumnTests:
    """The tests of one column of a node."""
    m, K = counts.shape
    values = np.arange(m) if values is None else values
    sizes, missing = np.ones(m, dtype=np.int64), np.zeros(K, dtype=np.int64)
    limits = Growth(criterion, 1, 1.0, -1, 0, 0, 0.0, -1, NO_BOUND)
    column = NodeColumn(kind, values.astype(np.float64), counts, sizes, missing, 0)
    (found,) = node_tests([column], int(counts.sum()), limits)
    return found


def check(found: ColumnTests, i: int, parts: Int64, criterion: int) -> None:
    """The scores of test i are those of its partition."""
    n = int(parts.sum())
    shift = 51 - math.frexp(n * math.log2(n + 1))[1]
    score = native.score_parts(parts, shift)
    gain = math.ldexp(score.entropy - score.split_entropy, -shift) / n
    information = math.ldexp(score.split_information, -shift) / n
    measures = {GINI: score.gini_decrease / n, CART: 2 * (score.cart or 0.0) / n / n}
    expected = 0.0 if score.nothing else measures.get(criterion, gain)
    assert found.gains[i] == pytest.approx(expected, abs=1e-14)
    assert found.information[i] == information
    assert found.allowed[i] == (not score.nothing)
    ratio = expected / information if criterion == RATIO else expected
    assert found.scores[i] == pytest.approx(ratio, abs=1e-13)


@given(tables, st.sampled_from(range(4)))
def test_cuts_have_the_scores_of_their_sides(table: Int64, criterion: int) -> None:
    found, yes = listed(table, criterion), np.cumsum(table, axis=0)[:-1]
    assert (found.yes == yes).all()
    assert (found.no == table.sum(axis=0) - yes).all()
    for i, side in enumerate(yes):
        check(found, i, np.array([side, table.sum(axis=0) - side]), criterion)


@given(tables, st.sampled_from([GAIN, RATIO, GINI]))
def test_a_branch_a_value_has_the_score_of_its_partition(table: Int64, criterion: int) -> None:
    check(listed(table, criterion, MULTIWAY), 0, table, criterion)


@given(tables, st.sampled_from(range(4)))
def test_the_list_is_led_by_the_best_test(table: Int64, criterion: int) -> None:
    found, values = listed(table, criterion), [np.arange(len(table), dtype=np.float64)]
    total = int(table.sum())
    best = native.best_test([CUT], values, [table], [None], total, criterion, 1, 1, 1)
    assert (found.offer < 0) == (best is None)
    if best is not None:
        assert found.thresholds[found.offer] == best.threshold
        assert found.ranks[found.offer] == 1
        assert found.scores[found.offer] == best.score


@pytest.mark.parametrize("criterion", range(4))
def test_mirrored_cuts_tie(criterion: int) -> None:
    """By the gain ratio an attribute offers one test only."""
    table = np.array([[8, 0, 1], [3, 5, 0], [5, 3, 0], [0, 8, 1]])
    assert listed(table, criterion).tied.tolist() == [True, False, criterion != RATIO]


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(finite, min_size=1, max_size=8, unique=True))
def test_thresholds_lie_between_and_are_short_where_they_can(values: list[float]) -> None:
    x = np.unique(np.array(values) + 0.0)
    thresholds = listed(np.ones((len(x), 2), dtype=np.int64), GAIN, values=x).thresholds
    for v, (a, b) in zip(thresholds.tolist(), pairwise(x.tolist()), strict=True):
        assert a <= v < b
        middle = float((Fraction(a) + Fraction(b)) / 2)
        brief = float(f"{middle:.14e}")
        assert v == (brief if a <= brief < b else middle if a <= middle < b else a)
