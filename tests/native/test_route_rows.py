"""Rows on their way through a tree: fallbacks are marked, a damaged tree is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sortal.native import trees


def tree(**changed: Any) -> trees.TreeArrays:
    """x <= 1; yes: c in {0}, where 0 and 1 are known and no is heavier; no: a branch a value."""
    int32, int64 = np.int32, np.int64
    whole = trees.TreeArrays(
        kind=np.array([1, 2, 0, 0, 3, 0, 0], dtype=np.int8),
        attribute=np.array([0, 1, -1, -1, 1, -1, -1], dtype=int32),
        threshold=np.array([1.0, *[np.nan] * 6]),
        child_start=np.array([0, 2, 4, 4, 4, 6, 6, 6], dtype=int64),
        children=np.array([1, 4, 2, 3, 5, 6], dtype=int32),
        value_start=np.array([0, 0, 2, 2, 2, 4, 4, 4], dtype=int64),
        values=np.array([0, 1, 0, 2], dtype=int32),
        branches=np.array([0, 1, 0, 1], dtype=int32),
        heavier=np.array([0, 1, -1, -1, -1, -1, -1], dtype=int32),
        missing=np.full(7, trees.NO_HOLES, dtype=int32),
    )
    return whole._replace(**changed)


def route(arrays: trees.TreeArrays, x: list[float], c: list[int]) -> tuple[list[int], list[int]]:
    out, fallback = np.empty(len(x), dtype=np.int32), np.empty(len(x), dtype=np.int32)
    columns = [np.array(x), np.array(c, dtype=np.int32)]
    trees.route_rows(arrays, columns, [0, 3], out, fallback)
    return out.tolist(), fallback.tolist()


def test_where_rows_end_and_which_node_did_not_know() -> None:
    x = [0.0, 0.0, 0.0, 0.0, 2.0, 2.0, 2.0, 2.0, np.nan, np.nan]
    c = [0, 1, 2, -2, 0, 2, 1, -1, 0, 2]
    nodes, marks = route(tree(), x, c)
    assert nodes == [2, 3, 3, 3, 5, 6, 4, 4, 2, 3]
    assert marks == [-1, -1, 1, 1, -1, -1, 4, 4, 0, 0]


def test_holes_take_the_branch_that_the_node_has_for_them() -> None:
    holes = np.array([1, 0, -1, -1, 1, -1, -1], dtype=np.int32)
    x = [np.nan, 0.0, np.nan, 0.0, 2.0, np.inf]
    c = [0, -1, -1, -2, -1, 0]
    nodes, marks = route(tree(missing=holes), x, c)
    assert nodes == [5, 2, 6, 3, 6, 2]
    assert marks == [-1, -1, -1, 1, -1, 0]


def test_rows_spread_over_the_branches_by_their_weight() -> None:
    holes = np.array([-2, -2, -1, -1, -2, -1, -1], dtype=np.int32)
    columns = [np.array([np.nan, 0.0, 0.0]), np.array([-1, -1, 0], dtype=np.int32)]
    weights = np.array([10.0, 4.0, 1.0, 3.0, 6.0, 3.0, 3.0])
    shares = trees.spread_answers(tree(missing=holes), columns, [0, 3], weights, np.eye(7))
    expected = [[0, 0, 0.1, 0.3, 0, 0.3, 0.3], [0, 0, 0.25, 0.75, 0, 0, 0], [0, 0, 1, 0, 0, 0, 0]]
    np.testing.assert_allclose(shares, np.array(expected, dtype=float), rtol=1e-15)
    counts = trees.spread_counts(
        tree(missing=holes),
        columns,
        [0, 3],
        weights,
        np.array([0, 1, 1], dtype=np.int32),
        np.ones(3),
        2,
    )
    parts = [[1, 2], [0.4, 2], [0.1, 1.25], [0.3, 0.75], [0.6, 0], [0.3, 0], [0.3, 0]]
    np.testing.assert_allclose(counts, np.array(parts, dtype=float), rtol=1e-15)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"value_start": [0, 10, 0, 0, 0, 4, 4, 4]}, "lists of the tree do not fit"),
        ({"child_start": [0, 9, 4, 4, 4, 6, 6, 6]}, "lists of the tree do not fit"),
        ({"child_start": [0, 2, 4, 4, 4, 6, 6]}, "differ in length"),
        ({"children": [1, 9, 2, 3, 5, 6]}, "leads nowhere"),
        ({"children": [1, 0, 2, 3, 5, 6]}, "leads nowhere"),
        ({"children": [2, 4, 2, 3, 5, 6]}, "not in preorder"),
        ({"attribute": [7, 1, -1, -1, 1, -1, -1]}, "makes no sense"),
        ({"kind": [1, 5, 0, 0, 3, 0, 0]}, "makes no sense"),
        ({"branches": [0, 2, 0, 1]}, "has no branch"),
        ({"missing": [2, -1, -1, -1, -1, -1, -1]}, "makes no sense"),
        ({"missing": [-3, -1, -1, -1, -1, -1, -1]}, "makes no sense"),
        ({"heavier": [2, 1, -1, -1, -1, -1, -1]}, "makes no sense"),
        ({"values": [0, 3, 0, 2]}, "no value of its column"),
        ({"attribute": [1, 1, -1, -1, 1, -1, -1]}, "cut needs numbers"),
    ],
)
def test_a_damaged_tree_is_refused(changed: dict[str, list[int]], words: str) -> None:
    sound = tree()
    arrays = {name: np.array(to, getattr(sound, name).dtype) for name, to in changed.items()}
    with pytest.raises(ValueError, match=words):
        route(tree(**arrays), [0.0], [0])


def test_a_code_beyond_the_values_is_refused() -> None:
    with pytest.raises(ValueError, match="code is too large"):
        route(tree(), [0.0], [3])
