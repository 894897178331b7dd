"""Rows as a summary: the laws of merging, taking out by id, and bytes."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.summaries.blocks import build_batch, facts

from sortal.modelfile.record import from_bytes, to_bytes
from sortal.summaries.protocol import Summary
from sortal.summaries.rows import KeptRows, SummarizeRows, gather_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal.data.sources import Batch

PLAN = SummarizeRows(0, (2, 3), (0, 1), ("x", "z"))


@st.composite
def batches(
    draw: st.DrawFn,
) -> Batch:
    """A block of two category columns and two number columns."""
    n = draw(st.integers(0, 12))
    of = st.lists
    words = draw(of(st.sampled_from(["u", "v", 3, None]), min_size=n, max_size=n))
    flags = draw(of(st.sampled_from([True, False]), min_size=n, max_size=n))
    numbers = st.sampled_from([0.5, -0.0, 2.0, None])
    x, z = (draw(of(numbers, min_size=n, max_size=n)) for _ in range(2))
    labels = draw(of(st.sampled_from(["a", "b", "c"]), min_size=n, max_size=n))
    pool = draw(st.sampled_from([None, [1.0], [0.0, 1.0, 2.0], [0.0, 0.25, 1.0]]))
    weights = None if pool is None or n == 0 else [pool[i % len(pool)] for i in range(1, n + 1)]
    if weights is not None and not any(weights):
        weights = None
    return build_batch(labels, [words, flags], [x, z], weights)


def parts_of(batch: Batch, owner: Sequence[int], n_parts: int) -> list[KeptRows]:
    """The rows of a block, dealt to parts."""
    whole = PLAN(batch)
    dealt = np.array(owner, dtype=int)[whole.ids % max(1, len(owner))] if len(owner) else whole.ids
    return [whole.take(dealt == part) for part in range(n_parts)]


@given(data=st.data())
def test_parts_merge_to_the_whole_in_any_order(data: st.DataObject) -> None:
    batch = data.draw(batches())
    n_parts = data.draw(st.integers(1, 4))
    owner = data.draw(st.lists(st.integers(0, n_parts - 1), min_size=1, max_size=9))
    parts = parts_of(batch, owner, n_parts)
    turned = data.draw(st.permutations(parts))
    wanted = facts(PLAN(batch))
    assert facts(reduce(KeptRows.merge, turned)) == wanted
    first, *rest = turned
    assert facts(reduce(lambda a, b: b.merge(a), rest, first)) == wanted
    if len(parts) > 2:
        a, b, c = turned[:3]
        assert facts(a.merge(b.merge(c))) == facts(a.merge(b).merge(c))


@given(data=st.data())
def test_no_rows_add_nothing_and_bytes_lose_nothing(data: st.DataObject) -> None:
    whole = PLAN(data.draw(batches()))
    none = whole.take(np.zeros(len(whole), dtype=bool))
    assert facts(whole.merge(none)) == facts(none.merge(whole)) == facts(whole)
    assert facts(from_bytes(KeptRows, to_bytes(whole))) == facts(whole)
    assert isinstance(whole, Summary)


@given(data=st.data())
def test_blocks_gathered_are_blocks_merged(data: st.DataObject) -> None:
    batch = data.draw(batches())
    cuts = sorted(data.draw(st.lists(st.integers(0, batch.n_rows), max_size=4)))
    blocks = []
    for start, stop in zip([0, *cuts], [*cuts, batch.n_rows], strict=True):
        part = batch.take(np.arange(start, stop))
        blocks.append(PLAN(replace(part, start=start)))
    whole = PLAN(batch)
    gathered = gather_rows(iter(blocks), len(whole), whole.numbers.dtype)
    assert facts(gathered) == facts(whole)
    assert facts(reduce(KeptRows.merge, blocks)) == facts(whole)
    assert not np.shares_memory(gathered.numbers, blocks[0].numbers)


@given(data=st.data())
def test_what_was_merged_is_taken_out_by_its_ids(data: st.DataObject) -> None:
    batch = data.draw(batches())
    one, other = parts_of(batch, data.draw(st.lists(st.integers(0, 1), min_size=1, max_size=9)), 2)
    left = one.merge(other).without(other.ids)
    assert facts(left) == facts(one)


def rows(**more: Any) -> KeptRows:
    x, z = [1.0, 2.0, None, 4.0], [0.0, 0.5, 1.0, 1.5]
    return PLAN(
        build_batch(["a", "b", "a", "c"], [["u", None, "v", "u"], [True] * 4], [x, z], **more)
    )


def test_rows_without_weight_take_an_id_and_are_not_kept() -> None:
    kept = rows(weights=[1, 0, 2, 0])
    assert kept.ids.tolist() == [0, 2]
    assert kept.next_id == 4
    assert (kept.labels, kept.y.tolist()) == (("a",), [0, 0])
    assert kept.values[0] == ("u", "v")
    assert kept.size == 3
    assert [part.tolist() for part in kept.missing()] == [[2, 0], [0, 0]]
    assert rows(weights=[1, 1, 1, 1]).units is None


def test_values_of_rows_taken_out_vanish() -> None:
    left = rows().without(np.array([2]))
    assert left.values == (("u",), (True,))
    assert left.next_id == 4


def test_a_wider_type_wins() -> None:
    kept = rows()
    narrow = replace(kept, numbers=kept.numbers.astype(np.float32), ids=kept.ids + 10, next_id=20)
    assert kept.merge(narrow).numbers.dtype == np.float64
    assert narrow.merge(replace(narrow, ids=kept.ids)).numbers.dtype == np.float32
    assert from_bytes(KeptRows, to_bytes(narrow)).numbers.dtype == np.float32


def test_columns_without_values_may_become_numbers() -> None:
    kept = rows()
    new = SummarizeRows(4, (1, 2, 3), (0,), ("flag", "x", "z"))
    cast = kept.recast(PLAN, new)
    assert np.isnan(cast.numbers[:, 0]).all()
    np.testing.assert_array_equal(cast.numbers[:, 1:], kept.numbers)
    assert cast.values == kept.values[:1]
    assert kept.recast(PLAN, replace(PLAN, first=9)) is kept
