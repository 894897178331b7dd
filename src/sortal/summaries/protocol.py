"""What a summary promises.

Laws, which the tests check on random partitions of random rows:

    merge(a, merge(b, c)) = merge(merge(a, b), c)      associative
    merge(a, b) = merge(b, a)                          order-free
    merge(a, summary of no rows) = a                   neutral element
    subtract(merge(a, b), b) = a                       where subtraction is offered

Counts hold these bit for bit, moments to 1e-12. Neither method changes its arguments. A summary is
a record (`modelfile/record.py`), so that as bytes it comes back as it was.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

import numpy as np

from sortal.data.table import LARGEST
from sortal.errors import ColumnError, TrainingRowsError, WeightError, counted
from sortal.modelfile.record import limits, record

if TYPE_CHECKING:
    from collections.abc import Sized

    from sortal._typing import Counts, Places


@runtime_checkable
class Summary(Protocol):
    """A statistic of labeled rows that merges with that of other rows."""

    def merge(self, other: Self, /) -> Self:
        """The summary of both sets of rows."""


@runtime_checkable
class Subtractable(Summary, Protocol):
    """A summary from which rows can be taken out again."""

    def subtract(self, other: Self, /) -> Self:
        """The summary of this one's rows without the other's."""


@record()
class SummaryOfParts:
    """A record of summaries, which merge and subtract one by one; what one of two lacks is None."""

    def merge(self, other: Self) -> Self:
        """The summary of both sets of rows."""
        return self._each(other, "merge")

    def subtract(self, other: Self) -> Self:
        """The summary without the other's rows."""
        return self._each(other, "subtract")

    def _each(self, other: Self, combine: str) -> Self:
        made = {}
        for one in fields(self):
            a, b = getattr(self, one.name), getattr(other, one.name)
            made[one.name] = None if a is None or b is None else getattr(a, combine)(b)
        return type(self)(**made)


# No float64 needs a finer or a coarser unit, and no sum of squares is of more.
MOST_EXPONENT, MOST_SQUARES = 1200, 2.0**63 * LARGEST**2


def exponent() -> Any:
    """A field: the unit of weight is 2**-exponent."""
    return limits(least=-MOST_EXPONENT, most=MOST_EXPONENT, default=0)


# --- What summaries share when they combine: one unit of weight, and what is refused -------------


def rescale(units: Counts, exponent: int, to: int) -> Counts:
    """Units of 2**-exponent as units of 2**-to, which are no coarser."""
    shift = to - exponent
    if shift == 0:
        return units
    if shift > 62 or (units.size and int(units.max()) >= 1 << (62 - shift)):
        raise WeightError(
            "These weights differ too much in size to be counted exactly together: bring them to "
            "a common scale, for example by dividing all of them by their mean."
        )
    return units << np.int64(shift)


def scatter(
    units: Counts,
    rows: Places,
    columns: Places,
    shape: tuple[int, int],
) -> Counts:
    """A table put into a larger one."""
    table = np.zeros(shape, dtype=np.int64)
    table[np.ix_(rows, columns)] = units
    return table


def refuse_other_columns(a: Sized, b: Sized) -> None:
    """Only summaries of the same columns combine."""
    if len(a) != len(b):
        raise ColumnError(
            f"A summary of {counted(len(a), 'column')} and one of {counted(len(b), 'column')} do "
            "not combine: blocks of one table have the same columns in the same order."
        )


def refuse_negative(units: Counts, what: str) -> None:
    """Rows that were never added cannot be taken out."""
    if (units < 0).any():
        raise TrainingRowsError(
            f"These rows cannot be taken out, because {what} would fall below zero: only rows that "
            "were fitted, with the weights they were fitted with, can be forgotten."
        )


def refuse_overflow(units: Counts, what: str) -> None:
    """Sums beyond int64, which show as negative ones, are not counts."""
    if (units < 0).any():
        raise WeightError(
            f"These weights are too large to be counted exactly together, because {what} would "
            "exceed 2**63 units: divide all weights by a constant."
        )
