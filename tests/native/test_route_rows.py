"""Rows on their way through a tree: where they end, and which fallbacks are marked."""

from __future__ import annotations

import numpy as np
from tests.contract.refusals.compiled import arrays

from sortal.native import trees


def route(tree: trees.TreeArrays, x: list[float], c: list[int]) -> tuple[list[int], list[int]]:
    out, fallback = np.empty(len(x), dtype=np.int32), np.empty(len(x), dtype=np.int32)
    columns = [np.array(x), np.array(c, dtype=np.int32)]
    trees.route_rows(tree, columns, [0, 3], out, fallback)
    return out.tolist(), fallback.tolist()


def test_where_rows_end_and_which_node_did_not_know() -> None:
    x = [0.0, 0.0, 0.0, 0.0, 2.0, 2.0, 2.0, 2.0, np.nan, np.nan]
    c = [0, 1, 2, -2, 0, 2, 1, -1, 0, 2]
    nodes, marks = route(arrays(), x, c)
    assert nodes == [2, 3, 3, 3, 5, 6, 4, 4, 2, 3]
    assert marks == [-1, -1, 1, 1, -1, -1, 4, 4, 0, 0]


def test_missing_values_take_the_branch_that_the_node_has_for_them() -> None:
    missing = [1, 0, -1, -1, 1, -1, -1]
    x = [np.nan, 0.0, np.nan, 0.0, 2.0, np.inf]
    c = [0, -1, -1, -2, -1, 0]
    nodes, marks = route(arrays(missing=missing), x, c)
    assert nodes == [5, 2, 6, 3, 6, 2]
    assert marks == [-1, -1, -1, 1, -1, 0]


def test_rows_spread_over_the_branches_by_their_weight() -> None:
    incomplete = arrays(missing=[-2, -2, -1, -1, -2, -1, -1])
    columns = [np.array([np.nan, 0.0, 0.0]), np.array([-1, -1, 0], dtype=np.int32)]
    weights = np.array([10.0, 4.0, 1.0, 3.0, 6.0, 3.0, 3.0])
    shares = trees.spread_answers(incomplete, columns, [0, 3], weights, np.eye(7))
    expected = [[0, 0, 0.1, 0.3, 0, 0.3, 0.3], [0, 0, 0.25, 0.75, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0]]
    np.testing.assert_allclose(shares, np.array(expected, dtype=float), rtol=1e-15)
    classes = np.array([0, 1, 1], dtype=np.int32)
    counts = trees.spread_counts(incomplete, columns, [0, 3], weights, classes, np.ones(3), 2)
    parts = [[1, 2], [0.4, 2], [0.1, 1.25], [0.3, 0.75], [0.6, 0], [0.3, 0], [0.3, 0]]
    np.testing.assert_allclose(counts, np.array(parts, dtype=float), rtol=1e-15)
