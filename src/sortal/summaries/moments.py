"""Moments of number columns: weight, mean and squared deviations by column and class.

Each column has its own weight, because each has its own holes. M2 is kept in units, like the
weight; what reads it divides one by the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from sortal import native
from sortal.data.arrays import LARGEST, infinite, too_large
from sortal.data.columns import NumberColumn
from sortal.data.values import Values, kept, union
from sortal.errors import SubtractError
from sortal.summaries.pack import pack, unpack
from sortal.summaries.units import (
    refuse_negative,
    refuse_other_columns,
    refuse_overflow,
    rescale,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal.data.batch import Batch

    Units = NDArray[np.int64]
    Float = NDArray[np.float64]

# What is left of M2 after subtraction may have lost this share of itself to rounding, not more:
# to cancellation within M2, and to the rounding of means that lie far from zero.
_CANCELLATION = 1e-12
_ROUNDED_MEANS = 1e-9
_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class ColumnMoments:
    """units[j, k], mean[j, k] and m2[j, k] of number column j within class k."""

    names: tuple[str, ...]
    classes: Values
    units: Units
    mean: Float
    m2: Float
    exponent: int = 0

    def merge(self, other: Self) -> ColumnMoments:
        """The moments of both sets of rows. (S 6)"""
        classes, a, b = self._pair(other)
        n_a, n_b = a.units, b.units
        refuse_overflow(n_a + n_b, "the weight of a number column")
        n = np.maximum(n_a + n_b, 1).astype(np.float64)
        delta = np.where((n_a > 0) & (n_b > 0), b.mean - a.mean, 0.0)
        base = np.where(n_a > 0, a.mean, b.mean)
        mean = base + delta * (n_b / n)
        m2 = a.m2 + b.m2 + delta * delta * (n_a / n) * n_b
        return ColumnMoments(self.names, classes, n_a + n_b, mean, m2, a.exponent)

    def subtract(self, other: Self) -> ColumnMoments:
        """The moments without the other's rows, unless cancellation forbids it. (S 7)"""
        classes, whole, part = self._pair(other)
        units = whole.units - part.units
        refuse_negative(units, "the weight of a number column")
        n_b = part.units
        left = np.maximum(units, 1).astype(np.float64)
        delta = np.where(n_b > 0, part.mean - whole.mean, 0.0)
        mean = np.where(units > 0, whole.mean - delta * (n_b / left), 0.0)
        between = delta * delta * n_b * (whole.units / left)
        m2 = np.where(units > 0, np.maximum(whole.m2 - part.m2 - between, 0.0), 0.0)
        # (S 7) subtracts numbers of the size of M2, and squares a difference of rounded means
        last_digit = _EPS * np.maximum(np.abs(whole.mean), np.abs(part.mean))
        between_error = 2 * np.abs(delta) * last_digit * n_b * (whole.units / left)
        lost = (4 * _EPS * whole.m2 > _CANCELLATION * m2) | (between_error > _ROUNDED_MEANS * m2)
        # where all values agree, M2 is nothing but rounding, before and after
        varies = whole.m2 > whole.units * (8 * last_digit) ** 2
        self._refuse(lost & varies & (units > 0) & (n_b > 0))
        keep = np.any(units, axis=0)
        return ColumnMoments(
            self.names,
            kept(classes, keep),
            units[:, keep],
            mean[:, keep],
            m2[:, keep],
            whole.exponent,
        )

    def _refuse(self, lost: NDArray[np.bool_]) -> None:
        if lost.any():
            names = [self.names[j] for j in np.flatnonzero(lost.any(axis=1))]
            raise SubtractError(
                f"These rows cannot be taken out exactly: they carry nearly all the spread of "
                f"{', '.join(map(repr, names))}, or its values lie far from zero beside it, so "
                "that what remains would be lost to rounding. Fit again without them."
            )

    def _pair(self, other: Self) -> tuple[Values, ColumnMoments, ColumnMoments]:
        """Both over the union of classes and in the finer unit."""
        refuse_other_columns(self.names, other.names)
        classes, a, b = union(self.classes, other.classes)
        exponent = max(self.exponent, other.exponent)
        return classes, self._over(classes, a, exponent), other._over(classes, b, exponent)

    def _over(self, classes: Values, at: NDArray[np.intp], exponent: int) -> ColumnMoments:
        shape = len(self.names), len(classes)
        units, mean, m2 = np.zeros(shape, dtype=np.int64), np.zeros(shape), np.zeros(shape)
        units[:, at] = rescale(self.units, self.exponent, exponent)
        mean[:, at] = self.mean
        m2[:, at] = np.ldexp(self.m2, exponent - self.exponent)
        return ColumnMoments(self.names, classes, units, mean, m2, exponent)

    def to_bytes(self) -> bytes:
        """Versioned bytes."""
        meta = {"names": self.names, "classes": self.classes, "exponent": self.exponent}
        return pack("moments", meta, {"units": self.units, "mean": self.mean, "m2": self.m2})

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what `to_bytes` wrote."""
        got = unpack("moments", data)
        names, classes = got.names(), got.classes()
        shape = len(names), len(classes)
        units = got.counts("units", *shape)
        mean = got.numbers("mean", *shape, least=-LARGEST, most=LARGEST)
        m2 = got.numbers("m2", *shape, least=0.0, most=2.0**63 * LARGEST**2)
        return cls(names, classes, units, mean, m2, got.exponent())

    def over(self, classes: Values) -> ColumnMoments:
        """The moments over a longer list of classes; absent ones have no weight."""
        place = {label: k for k, label in enumerate(classes)}
        at = np.array([place[label] for label in self.classes], dtype=np.intp)
        return self._over(classes, at, self.exponent)


def measure_columns(batch: Batch, columns: Sequence[int], names: Sequence[str]) -> ColumnMoments:
    """The moments of the given number columns of a block."""
    labels = batch.labels()
    shape = len(columns), len(labels.values)
    units, mean, m2 = np.zeros(shape, dtype=np.int64), np.zeros(shape), np.zeros(shape)
    for row, j in enumerate(columns):
        column = batch.columns[j]
        assert isinstance(column, NumberColumn)  # noqa: S101  (kinds are fixed by the schema)
        units[row], mean[row], m2[row] = native.class_moments(
            column.values, labels.codes, len(labels.values), batch.units
        )
        if not ((np.abs(mean[row]) <= LARGEST) & (m2[row] <= LARGEST**2)).all():
            raise infinite(names[row]) if np.isinf(column.values).any() else too_large(names[row])
    keep = np.any(units, axis=0)
    classes = kept(labels.values, keep)
    return ColumnMoments(
        tuple(names), classes, units[:, keep], mean[:, keep], m2[:, keep], batch.exponent
    )
