"""When nodes become leaves, against every pruning of small trees; C4.5's estimates by the book."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from numpy.typing import NDArray

from sortal.native.trees import added_errors, collapse_strengths

Float = NDArray[np.float64]


class Tree:
    """A tree in preorder, and what its nodes cost as leaves."""

    def __init__(self, parents: list[int], risk: list[float]) -> None:
        n = len(parents)
        lists: list[list[int]] = [[c for c in range(n) if parents[c] == t] for t in range(n)]
        self.lists, self.risk = lists, np.array(risk, dtype=np.float64)
        self.child_start = np.cumsum([0, *map(len, lists)], dtype=np.int64)
        self.children = np.array([c for below in lists for c in below], dtype=np.int32)

    def strengths(self) -> Float:
        return collapse_strengths(self.child_start, self.children, self.risk)

    def prunings(self, t: int = 0) -> list[frozenset[int]]:
        """The leaves of every tree that can be cut from the subtree of t."""
        found: list[frozenset[int]] = [frozenset([t])]
        if self.lists[t]:
            below = product(*(self.prunings(c) for c in self.lists[t]))
            found += [frozenset().union(*leaves) for leaves in below]
        return found

    def best(self, alpha: Fraction) -> frozenset[int]:
        """The smallest of the prunings with the least cost, by exact arithmetic."""

        def cost(leaves: frozenset[int]) -> tuple[Fraction, int]:
            risk = sum((Fraction(float(self.risk[t])) for t in leaves), Fraction(0))
            return risk + alpha * len(leaves), len(leaves)

        return min(self.prunings(), key=cost)

    def leaves_at(self, alpha: float) -> frozenset[int]:
        """The tree cut below the nodes whose strength is no larger than alpha."""
        leaf, open_ = self.strengths() <= alpha, [0]
        found: list[int] = []
        while open_:
            t = open_.pop()
            (found if leaf[t] else open_).extend([t] if leaf[t] else self.lists[t])
        return frozenset(found)


@st.composite
def trees(draw: st.DrawFn, risks: st.SearchStrategy[Any]) -> Tree:
    """Up to 12 nodes, with one to four branches a test; no test costs less than its branches."""
    branches = draw(st.lists(st.integers(1, 4), max_size=4))
    parents, leaves = [-1], [0]
    for n in branches:
        t = leaves.pop(draw(st.integers(0, len(leaves) - 1)))
        leaves += range(len(parents), len(parents) + n)
        parents += [t] * n
    order = _preorder(parents)
    number = {t: i for i, t in enumerate(order)}
    told = [-1 if parents[t] < 0 else number[parents[t]] for t in order]
    risk = [draw(risks) for _ in told]
    for t in range(len(told) - 1, -1, -1):
        below = [risk[c] for c in range(len(told)) if told[c] == t]
        risk[t] = sum(below) + (0 if len(below) == 1 else risk[t])  # one branch has the same rows
    return Tree(told, risk)


def _preorder(parents: list[int]) -> list[int]:
    order, open_ = [], [0]
    while open_:
        t = open_.pop()
        order.append(t)
        open_ += [c for c in range(len(parents) - 1, -1, -1) if parents[c] == t]
    return order


@given(trees(st.integers(0, 6)))
def test_the_tree_at_every_price_is_the_best_of_all_prunings(tree: Tree) -> None:
    found = tree.strengths()
    for t, below in enumerate(tree.lists):  # trees are nested
        assert below or found[t] == 0
        assert all(found[c] <= found[t] for c in below)
    strengths = [Fraction(s).limit_denominator(1000) for s in found.tolist()]
    levels = sorted({*strengths, Fraction(0)})
    between = [(a + b) / 2 for a, b in pairwise(levels)]
    for alpha in [*between, levels[-1] + 1]:
        assert tree.leaves_at(float(alpha)) == tree.best(alpha)
    for s in set(found.tolist()):  # on the spot, the smaller tree
        assert tree.leaves_at(s) == tree.best(Fraction(s).limit_denominator(1000))


@given(trees(st.floats(0, 3)))
def test_real_risks_have_the_same_trees_away_from_ties(tree: Tree) -> None:
    levels = np.unique(tree.strengths())
    for low, high in zip(levels, [*levels[1:], levels[-1] + 1], strict=True):
        if high - low > 1e-6:
            alpha = (low + high) / 2
            assert tree.leaves_at(alpha) == tree.best(Fraction(alpha))


def test_equal_ratios_that_rounding_parts_are_one() -> None:
    # two tests that save 0.1 by a leaf, but 0.4 - (0.1 + 0.2) is not 0.1 in floating point
    tree = Tree([-1, 0, 1, 1, 0, 4, 4], [1.0, 0.4, 0.1, 0.2, 0.2, 0.1, 0.0])
    assert 0.4 - (0.1 + 0.2) != 0.2 - 0.1
    assert tree.strengths()[[1, 4]].tolist() == [0.1, 0.1]


def test_a_chain_of_100_000_tests() -> None:
    n = 200_001
    starts = np.minimum(2 * ((np.arange(n + 1) + 1) // 2), n - 1).astype(np.int64)
    children = np.arange(1, n, dtype=np.int32)
    risk = np.where(np.arange(n) % 2 == 0, (n - np.arange(n)) // 2, 0).astype(np.float64)
    strengths = collapse_strengths(starts, children, risk)
    assert strengths[0] == 1  # every test saves one error by one leaf
    assert (strengths[:-1:2] == 1).all()


def test_the_numbers_of_quinlan() -> None:
    # C4.5 (1993), chapter 4: U_25%(E, N) of the leaves of the votes, and two that replace them
    n, errors = np.array([6.0, 9, 1, 16]), np.array([0.0, 0, 0, 1])
    limits = (errors + added_errors(n, errors, 0.25)) / n
    assert limits.round(3).tolist() == [0.206, 0.143, 0.750, 0.157]
    assert (n * limits.round(3))[:3].sum() == pytest.approx(3.273, abs=5e-4)
    assert 16 * limits[3] == pytest.approx(2.512, abs=6e-3)
    larger = added_errors(np.array([151.0, 168]), np.array([0.0, 1]), 0.25)
    assert larger[0] + 0.750 + 2.512 == pytest.approx(4.642, abs=1e-3)
    assert 1 + larger[1] == pytest.approx(2.610, abs=1e-3)


@given(st.integers(1, 200), st.floats(0, 1), st.floats(0.001, 1))
def test_estimates_stay_between_the_errors_and_the_rows(
    n: int, part: float, confidence: float
) -> None:
    errors = np.array([part * n])
    added = added_errors(np.array([float(n)]), errors, confidence)[0]
    assert -1e-9 <= added <= n - errors[0] + 1e-9


def test_few_errors_lie_on_the_line_from_none_to_one() -> None:
    n = np.full(3, 10.0)
    none, half, one = added_errors(n, np.array([0.0, 0.5, 1.0]), 0.25)
    assert half == pytest.approx((none + one) / 2)
    assert_allclose(added_errors(n[:2], np.array([9.5, 10.0]), 0.25), [0.67 * 0.5, 0])
