"""Moments of number columns: weight, mean and squared deviations by column and class.

Each column has its own weight, because each has its own missing values. M2 is kept in units, like
the weight; what reads it divides one by the other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sortal import native
from sortal._typing import Counts, Float
from sortal.data.columns import Values, as_numbers, kept, union
from sortal.data.table import LARGEST, infinite, too_large, two_sum
from sortal.errors import TrainingRowsError
from sortal.modelfile.record import limits, record
from sortal.summaries.protocol import (
    MOST_SQUARES,
    exponent,
    refuse_negative,
    refuse_other_columns,
    refuse_overflow,
    rescale,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal._typing import Mask, Places
    from sortal.data.sources import Batch


# What is left of M2 after subtraction may have lost this share of itself to rounding, not more.
_CANCELLATION = 1e-12

_EPS = float(np.finfo(float).eps)


@record()
class ColumnMoments:
    """units[j, k], mean[j, k] and m2[j, k] of number column j within class k.

    The mean is mean + tail, where the tail is less than the last digit of the mean: the difference
    of two means is then as sharp around 1e8 as around 0, and so is M2 after any number of merges.
    `slack` bounds what rounding may have done to M2 so far, also in rows taken out since.
    """

    names: tuple[str, ...] = limits("measured")
    classes: Values = limits("labels")
    units: Counts = limits("measured", "labels", least=0)
    mean: Float = limits("measured", "labels", least=-LARGEST, most=LARGEST)
    tail: Float = limits("measured", "labels", least=-LARGEST, most=LARGEST)
    m2: Float = limits("measured", "labels", least=0.0, most=MOST_SQUARES)
    slack: Float = limits("measured", "labels", least=0.0, most=MOST_SQUARES)
    exponent: int = exponent()

    def merge(self, other: Self) -> ColumnMoments:
        """The moments of both sets of rows. (S 6)"""
        classes, a, b = self._pair(other)
        n_a, n_b = a.units, b.units
        refuse_overflow(n_a + n_b, "the weight of a number column")
        n = np.maximum(n_a + n_b, 1).astype(np.float64)
        apart = (b.mean - a.mean) + (b.tail - a.tail)
        delta = np.where((n_a > 0) & (n_b > 0), apart, 0.0)
        # from the heavier side, which has less far to go to the common mean
        heavier = n_a >= n_b
        base, rest = np.where(heavier, (a.mean, a.tail), (b.mean, b.tail))
        step = np.where(heavier, delta * (n_b / n), -delta * (n_a / n))
        mean, tail = two_sum(base, rest + step)
        m2 = a.m2 + b.m2 + delta * delta * (n_a / n) * n_b
        slack = a.slack + b.slack + _EPS * m2
        return ColumnMoments(self.names, classes, n_a + n_b, mean, tail, m2, slack, a.exponent)

    def subtract(self, other: Self) -> ColumnMoments:
        """The moments without the other's rows, unless cancellation forbids it. (S 7)"""
        classes, whole, part = self._pair(other)
        units = whole.units - part.units
        refuse_negative(units, "the weight of a number column")
        n_b = part.units
        left = np.maximum(units, 1).astype(np.float64)
        delta = np.where(n_b > 0, (part.mean - whole.mean) + (part.tail - whole.tail), 0.0)
        both = two_sum(whole.mean, whole.tail - delta * (n_b / left))
        mean, tail = np.where(units > 0, both, 0.0)
        between = delta * delta * n_b * (whole.units / left)
        m2 = np.where(units > 0, np.maximum(whole.m2 - part.m2 - between, 0.0), 0.0)
        slack = np.where(units > 0, whole.slack + part.slack + 2 * _EPS * whole.m2, 0.0)
        lost = slack > _CANCELLATION * m2  # never where all values agree: M2 is 0 then
        self._refuse(lost & (units > 0) & (n_b > 0))
        keep = np.any(units, axis=0)
        return ColumnMoments(
            self.names,
            kept(classes, keep),
            units[:, keep],
            mean[:, keep],
            tail[:, keep],
            m2[:, keep],
            slack[:, keep],
            whole.exponent,
        )

    def _refuse(self, lost: Mask) -> None:
        if lost.any():
            names = [self.names[j] for j in np.flatnonzero(lost.any(axis=1))]
            raise TrainingRowsError(
                f"These rows cannot be taken out exactly: they carry nearly all the spread of "
                f"{', '.join(map(repr, names))}, so that what remains would be lost to rounding. "
                "Fit again without them."
            )

    def _pair(self, other: Self) -> tuple[Values, ColumnMoments, ColumnMoments]:
        """Both over the union of classes and in the finer unit."""
        refuse_other_columns(self.names, other.names)
        classes, a, b = union(self.classes, other.classes)
        exponent = max(self.exponent, other.exponent)
        return classes, self._over(classes, a, exponent), other._over(classes, b, exponent)

    def _over(self, classes: Values, at: Places, exponent: int) -> ColumnMoments:
        shape = len(self.names), len(classes)
        units, (mean, tail, m2, slack) = np.zeros(shape, dtype=np.int64), np.zeros((4, *shape))
        units[:, at] = rescale(self.units, self.exponent, exponent)
        mean[:, at], tail[:, at] = self.mean, self.tail
        m2[:, at] = np.ldexp(self.m2, exponent - self.exponent)
        slack[:, at] = np.ldexp(self.slack, exponent - self.exponent)
        return ColumnMoments(self.names, classes, units, mean, tail, m2, slack, exponent)

    def rearranged(self, rows: Sequence[int | None], names: tuple[str, ...]) -> ColumnMoments:
        """Other columns in another order; None stands for a column without any value."""
        at = [-1 if row is None else row for row in rows]

        def moved(part: NDArray[Any]) -> NDArray[Any]:
            absent = np.zeros((1, part.shape[1]), dtype=part.dtype)
            return np.asarray(np.vstack([part, absent])[at])

        arrays = ("units", "mean", "tail", "m2", "slack")
        changes: Any = {name: moved(getattr(self, name)) for name in arrays}
        return replace(self, names=names, **changes)

    def over(self, classes: Values) -> ColumnMoments:
        """The moments over a longer list of classes; absent ones have no weight."""
        place = {label: k for k, label in enumerate(classes)}
        at = np.array([place[label] for label in self.classes], dtype=np.intp)
        return self._over(classes, at, self.exponent)


def measure_columns(batch: Batch, columns: Sequence[int], names: Sequence[str]) -> ColumnMoments:
    """The moments of the given number columns of a block."""
    labels = batch.labels()
    shape = len(columns), len(labels.values)
    units, (mean, tail, m2) = np.zeros(shape, dtype=np.int64), np.zeros((3, *shape))
    for row, j in enumerate(columns):
        column = as_numbers(batch.columns[j])
        units[row], mean[row], tail[row], m2[row] = native.class_moments(
            column, labels.codes, len(labels.values), batch.units
        )
        if not ((np.abs(mean[row]) <= LARGEST) & (m2[row] <= LARGEST**2)).all():
            raise infinite(names[row]) if np.isinf(column).any() else too_large(names[row])
    keep = np.any(units, axis=0)
    classes = kept(labels.values, keep)
    mean, tail, m2 = mean[:, keep], tail[:, keep], m2[:, keep]
    slack = 4 * _EPS * m2
    return ColumnMoments(
        tuple(names), classes, units[:, keep], mean, tail, m2, slack, batch.exponent
    )


# --- Measuring: the class moments of one block of rows, a cache full of rows at a time -----------
# Rows are centered about an origin near their class mean; a column of ones and one of squared
# lengths stand beside them, so that one product of matrices has every sum.
