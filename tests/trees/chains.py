"""Trees that are deeper than any recursion."""

from __future__ import annotations

import numpy as np

from sortal.data.columns import ColumnSchema, Schema
from sortal.native.trees import CUT, LEAF, NOTHING_MISSING
from sortal.trees.model import TreeModel


def chain(depth: int) -> TreeModel:
    """Test i asks x <= i: yes is a leaf, no goes on. Nodes 0, 2, 4, … ask, 1, 3, 5, … are leaves.

    The row with x = i has the class i % 2 and ends in the leaf below test i.
    """
    n = 2 * depth + 1
    asks = np.arange(n) % 2 == 0
    asks[-1] = False
    starts = np.concatenate([[0], np.cumsum(2 * asks)])
    tests = np.flatnonzero(asks)
    y = np.arange(depth + 1) % 2
    below = np.cumsum((y[:, None] == [0, 1])[::-1], axis=0)[::-1]  # of tests i, i + 1, …
    units = np.empty((n, 2), dtype=np.int64)
    units[::2] = below
    units[1::2] = (y[:, None] == [0, 1])[:-1]
    return TreeModel(
        schema=Schema((ColumnSchema("x", "number"),), (0, 1)),
        column_kinds=(CUT,),
        unseen=((),),
        exponent=0,
        kind=np.where(asks, CUT, LEAF).astype(np.int8),
        attribute=np.where(asks, 0, -1).astype(np.int32),
        threshold=np.where(asks, np.arange(n) / 2, np.nan),
        child_start=starts.astype(np.int64),
        children=np.stack([tests + 1, tests + 2], axis=1).ravel().astype(np.int32),
        value_start=np.zeros(n + 1, dtype=np.int64),
        values=np.empty(0, dtype=np.int32),
        branches=np.empty(0, dtype=np.int32),
        heavier=np.where(asks, 1, -1).astype(np.int32),
        units=units,
        sizes=units.sum(axis=1),
        score=np.where(asks, 0.5, 0.0),
        gain=np.where(asks, 0.5, 0.0),
        exact=np.ones(n, dtype=bool),
        candidates=np.zeros(n),
        missing=np.full(n, NOTHING_MISSING, dtype=np.int32),
    )
