"""The nearest rows so far: the laws of merging, and the same neighbors from any pieces."""

from __future__ import annotations

import pickle
from functools import reduce

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sortal.data.columns import ColumnSchema, Schema
from sortal.data.sources import TableSource, read_weights
from sortal.data.table import ArrayTable
from sortal.engines import LocalEngine
from sortal.native.neighbors import Searcher
from sortal.summaries.protocol import Summary
from sortal.summaries.rows import SummarizeNearest, TopK

keys = st.sampled_from([0.0, 0.5, 1.0, 2.0])


def same(a: TopK, b: TopK) -> bool:
    return a.keys.tobytes() == b.keys.tobytes() and a.ids.tobytes() == b.ids.tobytes()


@st.composite
def neighbors(draw: st.DrawFn, n_parts: int, k: int) -> list[TopK]:
    """Rows of different ids with few keys, dealt to parts; two queries."""
    found = []
    owner = [draw(st.integers(0, n_parts - 1)) for _ in range(draw(st.integers(0, 9)))]
    drawn = [[draw(keys) for _ in range(2)] for _ in owner]
    for part in range(n_parts):
        table = np.full((2, k), np.inf), np.full((2, k), -1, dtype=np.int64)
        for query in range(2):
            mine = [(drawn[i][query], i) for i in range(len(owner)) if owner[i] == part]
            for place, (key, i) in enumerate(sorted(mine)[:k]):
                table[0][query, place], table[1][query, place] = key, i
        found.append(TopK(*table))
    return found


@given(data=st.data())
def test_merging_is_associative_and_order_free(data: st.DataObject) -> None:
    k = data.draw(st.integers(1, 4))
    parts = data.draw(neighbors(3, k))
    whole = reduce(TopK.merge, parts)
    assert same(reduce(TopK.merge, data.draw(st.permutations(parts))), whole)
    a, b, c = parts
    assert same(a.merge(b.merge(c)), whole)
    none = TopK(np.full((2, k), np.inf), np.full((2, k), -1, dtype=np.int64))
    assert same(whole.merge(none), whole)
    assert same(none.merge(whole), whole)
    assert same(TopK.from_bytes(whole.to_bytes()), whole)
    assert isinstance(whole, Summary)


@given(seed=st.integers(0, 2**32), block_rows=st.integers(1, 12), weighed=st.booleans())
def test_a_table_in_pieces_has_the_neighbors_of_the_whole(
    seed: int, block_rows: int, weighed: bool
) -> None:
    rng = np.random.default_rng(seed)
    n, words = 12, np.array(["u", "v", "w", None], dtype=object)
    numbers = rng.integers(0, 3, (n, 2)).astype(float)
    numbers[rng.random((n, 2)) < 0.2] = np.nan
    codes = rng.integers(0, 4, (n, 1)).astype(np.int32)  # 3 is a missing value
    units = rng.integers(0, 3, n) if weighed else np.ones(n)
    units[0] = 1
    rows = np.column_stack([numbers.astype(object), words[codes]])
    columns = [ColumnSchema(name, "number") for name in "ab"] + [ColumnSchema("c", "category")]
    source = TableSource(
        ArrayTable(rows, ("a", "b", "c")),
        Schema(tuple(columns)),
        (0, 1, 2),
        ArrayTable(np.full((n, 1), "y")),
        read_weights(units, n),
        block_rows,
        "matrix" if rng.random() < 0.5 else "columns",
    )
    # the queries know of u and v only: w differs from both
    queries = np.array([[0.0, np.nan], [2.0, 1.0], [np.nan, np.nan]])
    asked = np.array([[0], [-2], [1]], dtype=np.int32)
    factors, k = np.array([0.5, 1.0]), 5
    ask = SummarizeNearest(queries, asked, (("u", "v"),), k, factors, 1.0, 3)
    found = LocalEngine(2).reduce(source, pickle.loads(pickle.dumps(ask)))  # noqa: S301
    kept = np.flatnonzero(units)
    known = np.where(codes == 3, -1, codes)[kept].astype(np.int32)
    searcher = Searcher(np.ascontiguousarray(numbers[kept]), known, factors, 1.0, 3)
    wanted, positions = searcher.search(queries, asked, k)
    assert found.keys.tobytes() == wanted.tobytes()
    assert found.ids.tolist() == np.append(kept, -1)[positions].tolist()
