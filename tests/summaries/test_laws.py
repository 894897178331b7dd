"""The laws of summaries, on random partitions of random rows.

Counts keep them bit for bit. Moments keep them to 1e-12 of the spread, however far from zero it
lies; where all numbers agree, the spread is less than their last digit.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from tests.summaries.blocks import build_batch, deal, facts, seeds

from sortal.errors import TrainingRowsError
from sortal.modelfile.record import from_bytes, to_bytes
from sortal.summaries.counts import (
    BayesSummary,
    CellCounts,
    ClassCounts,
    RowCounts,
    SummarizeBayes,
    ValueCounts,
    count_cells,
    count_classes,
    count_rows,
    count_values,
)
from sortal.summaries.moments import ColumnMoments, measure_columns
from sortal.summaries.protocol import Subtractable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sortal.data.sources import Batch

ROUNDING = 1e-12
KINDS = (RowCounts, ClassCounts, ValueCounts, ColumnMoments, CellCounts, BayesSummary)
Kind = type[Any]


@dataclass(frozen=True)
class Rows:
    """A labeled table by columns; None is a missing value."""

    labels: list[Any]
    categories: list[list[Any]]
    numbers: list[list[float | None]]
    weights: list[float] | None


@dataclass(frozen=True)
class Blocks:
    """A table and the rows of each block."""

    rows: Rows
    parts: list[list[int]]


# --- Random tables -------------------------------------------------------------------------------

LABELS: tuple[list[Any], ...] = (
    ["no", "yes", "maybe", "é"],
    [-3, 0, 2, 10**12],
    [False, True],
    ["b", 2, "a", 0.5],
)
# 10**6 lies too far from the others for a table over the span
CATEGORIES: tuple[list[Any], ...] = (
    ["u", "v", "w"],
    [-2, 0, 7, 10**6],
    [False, True],
    ["x", 3, 2.5],
)
WHOLE = (0.0, 1.0, 2.0, 3.0)
FRACTIONS = (0.0, 0.1, 1 / 3, 0.5, 2.75, 7.0)


def with_missing(rng: np.random.Generator, cells: list[Any]) -> list[Any]:
    """Without missing values, with some, or nothing but missing values."""
    is_missing = rng.random(len(cells)) < rng.choice([0.0, 0.2, 0.2, 1.0])
    return [
        None if missing else cell for cell, missing in zip(cells, is_missing.tolist(), strict=True)
    ]


@st.composite
def numbers(draw: st.DrawFn, n: int) -> list[float | None]:
    """Of the drawn ones, some come more than once."""
    offset, rng = draw(st.sampled_from([0.0, 0.0, 1e8, -1e8])), draw(seeds)
    odd = [0.0, 0.1, -2.5, 3.0, *draw(st.lists(st.floats(-10, 10, width=32), max_size=3))]
    fresh = rng.uniform(-10, 10, n).astype(np.float32).astype(np.float64)
    steps = np.where(rng.random(n) < rng.choice([0.0, 0.5, 1.0]), deal(rng, odd, n), fresh)
    return with_missing(rng, [offset + x for x in steps.tolist()])


@st.composite
def tables(draw: st.DrawFn) -> Rows:
    """Shapes, kinds and odd numbers are drawn; which cell holds what, a seed deals out."""
    n, rng = draw(st.integers(0, 14)), draw(seeds)
    pools = draw(st.lists(st.sampled_from(CATEGORIES), max_size=3))
    weight = draw(st.sampled_from([None, WHOLE, FRACTIONS])) if n else None
    weights = None if weight is None else deal(rng, weight, n)
    if weights is not None and not any(weights):
        weights[0] = 1.0  # a table without any weight is refused
    return Rows(
        labels=deal(rng, draw(st.sampled_from(LABELS)), n),
        categories=[with_missing(rng, deal(rng, pool, n)) for pool in pools],
        numbers=[draw(numbers(n)) for _ in range(draw(st.integers(0, 2)))],
        weights=weights,
    )


@st.composite
def partitions(draw: st.DrawFn, at_least: int = 1) -> Blocks:
    """A table cut into blocks, of which any may be empty."""
    rows = draw(tables())
    n_parts = draw(st.integers(at_least, 5))
    n = len(rows.labels)
    owner = deal(draw(seeds), range(n_parts), n)
    return Blocks(rows, [[i for i in range(n) if owner[i] == part] for part in range(n_parts)])


# --- Summaries of them ---------------------------------------------------------------------------


def plan(rows: Rows) -> SummarizeBayes:
    n_categories, n_numbers = len(rows.categories), len(rows.numbers)
    places = range(n_categories, n_categories + n_numbers)
    names = tuple(f"x{j}" for j in places)
    cells = tuple(range(n_categories))
    return SummarizeBayes(cells, tuple(places), names, cells)


def summarizer(kind: Kind, rows: Rows) -> Callable[[Batch], Any]:
    chosen = plan(rows)
    by_kind: dict[Kind, Callable[[Batch], Any]] = {
        RowCounts: count_rows,
        ClassCounts: count_classes,
        ValueCounts: lambda batch: count_values(batch, chosen.categories),
        ColumnMoments: lambda batch: measure_columns(batch, chosen.numbers, chosen.names),
        CellCounts: lambda batch: count_cells(batch, chosen.categories),
        BayesSummary: chosen,
    }
    return by_kind[kind]


def read_block(rows: Rows, part: Sequence[int] | None = None) -> Batch:
    return build_batch(rows.labels, rows.categories, rows.numbers, rows.weights, part)


def summarize(kind: Kind, rows: Rows, part: Sequence[int] | None = None) -> Any:
    return summarizer(kind, rows)(read_block(rows, part))


def summaries(kind: Kind, blocks: Blocks) -> list[Any]:
    return [summarize(kind, blocks.rows, part) for part in blocks.parts]


# --- Equality ------------------------------------------------------------------------------------


def assert_same(found: Any, wanted: Any, rows: Rows) -> None:
    if isinstance(wanted, ColumnMoments):
        assert_same_moments(found, wanted, rows)
    elif isinstance(wanted, BayesSummary):
        assert_same_moments(found.moments, wanted.moments, rows)
        assert [facts(part) for part in counts_of(found)] == [
            facts(part) for part in counts_of(wanted)
        ]
    else:
        assert facts(found) == facts(wanted)


def counts_of(summary: BayesSummary) -> tuple[Any, ...]:
    return summary.rows, summary.classes, summary.values, summary.cells


def assert_same_moments(found: ColumnMoments, wanted: ColumnMoments, rows: Rows) -> None:
    names = "names", "classes", "units", "exponent"
    assert [facts(getattr(found, name)) for name in names] == [
        facts(getattr(wanted, name)) for name in names
    ]
    last_digit = np.finfo(float).eps * largest(rows)
    size = np.sqrt(wanted.m2 / np.maximum(wanted.units, 1))
    apart = (found.mean - wanted.mean) + (found.tail - wanted.tail)
    assert (abs(apart) <= ROUNDING * (size + last_digit)).all()
    noise = wanted.units * last_digit**2
    assert (abs(found.m2 - wanted.m2) <= ROUNDING * (wanted.m2 + noise)).all()


def largest(rows: Rows) -> np.ndarray[Any, Any]:
    """The largest size of a number in each column, as a column."""
    sizes = [max((abs(x) for x in cells if x is not None), default=0.0) for cells in rows.numbers]
    return np.array(sizes).reshape(-1, 1)


# --- The laws ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@given(blocks=partitions(), data=st.data())
def test_any_merge_of_any_blocks_is_the_summary_of_all_rows(
    kind: Kind, blocks: Blocks, data: st.DataObject
) -> None:
    parts = summaries(kind, blocks)
    assert all(isinstance(part, Subtractable) for part in parts)
    before, waiting = [facts(part) for part in parts], data.draw(st.permutations(parts))
    while len(waiting) > 1:
        at = data.draw(st.integers(0, len(waiting) - 2))
        waiting[at : at + 2] = [waiting[at].merge(waiting[at + 1])]
    assert_same(waiting[0], summarize(kind, blocks.rows), blocks.rows)
    assert [facts(part) for part in parts] == before


@pytest.mark.parametrize("kind", KINDS)
@given(rows=tables())
def test_the_summary_of_no_rows_is_neutral(kind: Kind, rows: Rows) -> None:
    nothing, all_rows = summarize(kind, rows, []), summarize(kind, rows)
    assert_same(all_rows.subtract(nothing), all_rows, rows)
    assert_same(all_rows.subtract(all_rows), nothing, rows)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not ColumnMoments])
@given(blocks=partitions(at_least=2))
def test_subtracting_undoes_merging(kind: Kind, blocks: Blocks) -> None:
    a, b, *_ = summaries(kind, blocks)
    both = a.merge(b)
    before = facts(both), facts(b)
    try:
        found = both.subtract(b)
        assert (facts(both), facts(b)) == before
    except TrainingRowsError:
        assert kind is BayesSummary  # because of its moments; counts never refuse
        found = BayesSummary(
            both.rows.subtract(b.rows),
            both.classes.subtract(b.classes),
            both.values.subtract(b.values),
            a.moments,
            both.cells.subtract(b.cells),
        )
    wanted = counts_of(a) if kind is BayesSummary else (a,)
    parts = counts_of(found) if kind is BayesSummary else (found,)
    assert [facts(part) for part in parts] == [facts(part) for part in wanted]


@given(blocks=partitions(at_least=2))
def test_subtracting_moments_undoes_merging_or_refuses(blocks: Blocks) -> None:
    a, b, *_ = summaries(ColumnMoments, blocks)
    try:
        found = a.merge(b).subtract(b)
    except TrainingRowsError:
        event("refused")
        return
    assert facts(found.units) == facts(a.units)
    last_digit = np.finfo(float).eps * largest(blocks.rows)
    assert (abs(found.mean - a.mean) <= 1e-9 * largest(blocks.rows)).all()
    # where all numbers agree, M2 is nothing but the rounding of their mean
    assert (abs(found.m2 - a.m2) <= 1e-11 * a.m2 + a.units * last_digit**2).all()


@pytest.mark.parametrize("kind", KINDS)
@given(rows=tables())
def test_bytes_lose_nothing(kind: Kind, rows: Rows) -> None:
    summary = summarize(kind, rows)
    assert facts(from_bytes(kind, to_bytes(summary))) == facts(summary)


@pytest.mark.parametrize("kind", [ClassCounts, ValueCounts, CellCounts, ColumnMoments])
@given(rows=tables(), data=st.data())
def test_whole_weights_are_copies(kind: Kind, rows: Rows, data: st.DataObject) -> None:
    n = len(rows.labels)
    times = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n).filter(any))
    weighted = Rows(rows.labels, rows.categories, rows.numbers, [float(t) for t in times])
    copies = [i for i in range(n) for _ in range(times[i])]
    plain = Rows(rows.labels, rows.categories, rows.numbers, None)
    found = summarize(kind, weighted)
    assert_same(found, summarize(kind, plain, copies), rows)


@pytest.mark.parametrize("kind", KINDS)
@given(rows=tables())
def test_merging_takes_the_finer_unit(kind: Kind, rows: Rows) -> None:
    """Rows that weigh one, joined by rows that weigh 1/4 each: together 5/4, wherever it shows."""
    n = len(rows.labels)
    plain = Rows(rows.labels, rows.categories, rows.numbers, None)
    quarter = Rows(rows.labels, rows.categories, rows.numbers, [0.25] * n or None)
    both = Rows(rows.labels, rows.categories, rows.numbers, [1.25] * n or None)
    a, b = summarize(kind, plain), summarize(kind, quarter)
    wanted = summarize(kind, both)
    for found in (a.merge(b), b.merge(a)):
        assert_same_weights(found, wanted, rows)


def assert_same_weights(found: Any, wanted: Any, rows: Rows) -> None:
    """The same in different units; rows are counted, not weighed, and here were counted twice."""
    if isinstance(found, BayesSummary):
        for name in ("rows", "classes", "values", "moments", "cells"):
            assert_same_weights(getattr(found, name), getattr(wanted, name), rows)
    elif isinstance(found, RowCounts):
        assert (found.rows, found.missing.tolist()) == (
            2 * wanted.rows,
            (2 * wanted.missing).tolist(),
        )
    else:
        finest = max(found.exponent, wanted.exponent)
        assert_same(in_unit(found, finest), in_unit(wanted, finest), rows)


def in_unit(summary: Any, exponent: int) -> Any:
    """The same summary in a finer unit."""
    factor = 2 ** (exponent - summary.exponent)
    weights = {"units", "tables", "m2"} & {field.name for field in fields(summary)}
    finer = {name: scaled(getattr(summary, name), factor) for name in weights}
    return replace(summary, **finer, exponent=exponent)


def scaled(item: Any, factor: int) -> Any:
    return tuple(part * factor for part in item) if isinstance(item, tuple) else item * factor


@given(rows=tables())
def test_what_summarizes_can_be_sent_to_where_the_rows_are(rows: Rows) -> None:
    sent = pickle.loads(pickle.dumps(plan(rows)))  # noqa: S301  (written on this line)
    batch = read_block(rows)
    assert sent == plan(rows)
    assert facts(sent(batch)) == facts(plan(rows)(batch))
