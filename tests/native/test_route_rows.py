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
