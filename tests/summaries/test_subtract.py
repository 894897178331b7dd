"""What cannot be taken out is refused by name."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.summaries.blocks import build_batch

from sortal.errors import ColumnError, InputError, SubtractError, WeightError
from sortal.summaries.cells import CellCounts, count_cells
from sortal.summaries.counts import ClassCounts, count_classes, count_rows, count_values
from sortal.summaries.moments import ColumnMoments, measure_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sortal.data.batch import Batch


def values(batch: Batch) -> Any:
    return count_values(batch, [0])


def cells(batch: Batch) -> Any:
    return count_cells(batch, [0])


def moments(batch: Batch) -> Any:
    return measure_columns(batch, [1], ["weight"])


COUNTED: list[tuple[Callable[[Batch], Any], str]] = [
    (count_rows, "the number of rows"),
    (count_classes, "the weight of a class"),
    (values, "the weight of a value"),
    (cells, "the weight of a cell"),
    (moments, "the weight of a number column"),
]


@pytest.mark.parametrize(("summarize", "what"), COUNTED)
def test_more_rows_than_there_were_cannot_be_taken_out(
    summarize: Callable[[Batch], Any], what: str
) -> None:
    one = summarize(build_batch(["a"], [["u"]], [[1.0]]))
    two = summarize(build_batch(["a", "a"], [["u", "u"]], [[1.0, 1.0]]))
    with pytest.raises(SubtractError, match=f"because {what} would fall below zero"):
        one.subtract(two)


@pytest.mark.parametrize(("summarize", "what"), COUNTED[1:])
def test_a_class_that_was_never_there_cannot_be_taken_out(
    summarize: Callable[[Batch], Any], what: str
) -> None:
    there, other = (summarize(build_batch([k], [["u"]], [[1.0]])) for k in ("a", "b"))
    with pytest.raises(SubtractError, match=what):
        there.subtract(other)


@pytest.mark.parametrize("summarize", [values, cells])
def test_a_value_that_was_never_there_cannot_be_taken_out(
    summarize: Callable[[Batch], Any],
) -> None:
    there, other = (summarize(build_batch(["a"], [[v]])) for v in ("u", "v"))
    with pytest.raises(SubtractError, match="only rows that were fitted"):
        there.subtract(other)


def test_a_hole_that_was_never_there_cannot_be_taken_out() -> None:
    there, other = (count_rows(build_batch(["a"], [[v]])) for v in ("u", None))
    with pytest.raises(SubtractError, match="the number of holes"):
        there.subtract(other)


# --- Moments -------------------------------------------------------------------------------------


def measure(*numbers: Sequence[float]) -> ColumnMoments:
    """One class; columns n0, n1, …"""
    names = [f"n{j}" for j in range(len(numbers))]
    batch = build_batch(["a"] * len(numbers[0]), [], numbers)
    return measure_columns(batch, range(len(numbers)), names)


def test_cancellation_names_the_columns() -> None:
    rest = measure([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [0.0, 1.0, 2.0])
    spread = measure([1e6, -1e6], [2.0, 2.5], [-1e6, 1e6])
    with pytest.raises(SubtractError, match=r"the spread of 'n0', 'n2', so") as caught:
        rest.merge(spread).subtract(spread)
    assert "'n1'" not in str(caught.value)


def test_the_last_row_but_one_leaves_no_spread_to_be_known() -> None:
    one, other = measure([1.0]), measure([4.0])
    with pytest.raises(SubtractError, match="'n0'"):
        one.merge(other).subtract(other)


def test_a_row_is_taken_out_to_the_last_digits() -> None:
    numbers = [0.1 * i for i in range(50)]
    rest, row = measure(numbers[1:]), measure(numbers[:1])
    found = measure(numbers).subtract(row)
    np.testing.assert_allclose(found.mean, rest.mean, rtol=1e-14)
    np.testing.assert_allclose(found.m2, rest.m2, rtol=1e-13)


@pytest.mark.parametrize("offset", [1e8, 1e12, 1e15])
def test_far_from_zero_rows_are_taken_out_as_sharply(offset: float) -> None:
    rest = measure([offset, offset + 1, offset + 3])
    part = measure([offset + 7, offset + 8, offset + 8])
    found = rest.merge(part).subtract(part)
    np.testing.assert_allclose(found.m2, rest.m2, rtol=1e-12)
    assert found.mean.tolist() == rest.mean.tolist()


@pytest.mark.parametrize("value", [0.0, 0.1, 1e8 / 3])
def test_rows_of_a_column_that_never_varies_can_be_taken_out(value: float) -> None:
    whole, part = measure([value] * 7), measure([value] * 3)
    found = whole.merge(part).subtract(part).subtract(part)
    assert found.units.tolist() == [[4]]
    # exactly: equal numbers have no spread, in any number of merges
    assert (found.mean.tolist(), found.tail.tolist()) == ([[value]], [[0.0]])
    assert (found.m2.tolist(), found.slack.tolist()) == ([[0.0]], [[0.0]])


# --- What does not fit together -------------------------------------------------------------------

MOST = np.array([2**62])


@pytest.mark.parametrize(
    "summary",
    [
        ClassCounts(("a",), MOST),
        CellCounts(("a",), (("u",),), np.zeros((1, 1), dtype=np.int32), MOST[:, None]),
        ColumnMoments(("n0",), ("a",), MOST[:, None], *np.ones((4, 1, 1))),
    ],
    ids=["classes", "cells", "moments"],
)
def test_weights_beyond_int64_are_not_added_up(summary: Any) -> None:
    with pytest.raises(WeightError, match="too large to be counted exactly"):
        summary.merge(summary)


@pytest.mark.parametrize(
    "summarize",
    [
        lambda batch, n: count_rows(replace(batch, columns=batch.columns[:n])),
        lambda batch, n: count_values(batch, range(n)),
        lambda batch, n: count_cells(batch, range(n)),
        lambda batch, n: measure_columns(batch, [2, 3][:n], ["n0", "n1"][:n]),
    ],
    ids=["rows", "values", "cells", "moments"],
)
def test_summaries_of_other_columns_do_not_combine(summarize: Callable[[Batch, int], Any]) -> None:
    batch = build_batch(["a"], [["u"], ["v"]], [[1.0], [2.0]])
    one, two = summarize(batch, 1), summarize(batch, 2)
    for combine in (one.merge, one.subtract):
        with pytest.raises(ColumnError, match="1 column and one of 2 columns do not combine"):
            combine(two)


def test_units_of_very_different_size_are_not_added_up() -> None:
    fine, coarse = ClassCounts(("a",), np.array([1]), 60), ClassCounts(("a",), np.array([8]))
    with pytest.raises(WeightError, match="differ too much in size"):
        fine.merge(coarse)


@pytest.mark.parametrize(("number", "message"), [(1e200, "beyond 1e"), (np.inf, "infinite")])
def test_numbers_whose_squares_overflow_are_refused_by_name(number: float, message: str) -> None:
    with pytest.raises(InputError, match=rf"Column 'n0' holds.*{message}"):
        measure([1.0, number])
