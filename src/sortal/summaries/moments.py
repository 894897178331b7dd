"""Moments of number columns: weight, mean and squared deviations by column and class.

Each column has its own weight, because each has its own missing values. M2 is kept in units, like
the weight; what reads it divides one by the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sortal import native
from sortal.data.columns import Values, as_numbers, kept, union
from sortal.data.table import LARGEST, infinite, too_large, two_sum
from sortal.errors import TrainingRowsError
from sortal.summaries.bytes import pack, unpack
from sortal.summaries.class_moments import ClassMoments, diagonals, moments_of_sums
from sortal.summaries.protocol import (
    refuse_negative,
    refuse_other_columns,
    refuse_overflow,
    rescale,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal._typing import Codes, Counts, Float, Mask, Places
    from sortal.data.columns import CategoryColumn
    from sortal.data.sources import Batch


# What is left of M2 after subtraction may have lost this share of itself to rounding, not more.
_CANCELLATION = 1e-12

_EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class ColumnMoments:
    """units[j, k], mean[j, k] and m2[j, k] of number column j within class k.

    The mean is mean + tail, where the tail is less than the last digit of the mean: the difference
    of two means is then as sharp around 1e8 as around 0, and so is M2 after any number of merges.
    `slack` bounds what rounding may have done to M2 so far, also in rows taken out since.
    """

    names: tuple[str, ...]
    classes: Values
    units: Counts
    mean: Float
    tail: Float
    m2: Float
    slack: Float
    exponent: int = 0

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

        return ColumnMoments(
            names,
            self.classes,
            moved(self.units),
            moved(self.mean),
            moved(self.tail),
            moved(self.m2),
            moved(self.slack),
            self.exponent,
        )

    def to_bytes(self) -> bytes:
        """Versioned bytes."""
        meta = {"names": self.names, "classes": self.classes, "exponent": self.exponent}
        numbers = {"mean": self.mean, "tail": self.tail, "m2": self.m2, "slack": self.slack}
        return pack("moments", meta, {"units": self.units, **numbers})

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what `to_bytes` wrote."""
        got = unpack("moments", data)
        names, classes = got.names(), got.classes()
        shape = len(names), len(classes)
        units = got.counts("units", *shape)
        mean = got.numbers("mean", *shape, least=-LARGEST, most=LARGEST)
        tail = got.numbers("tail", *shape, least=-LARGEST, most=LARGEST)
        m2 = got.numbers("m2", *shape, least=0.0, most=2.0**63 * LARGEST**2)
        slack = got.numbers("slack", *shape, least=0.0, most=2.0**63 * LARGEST**2)
        return cls(names, classes, units, mean, tail, m2, slack, got.exponent())

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

# Rows a product of matrices takes at a time: enough for BLAS, few enough for the cache.
TILE_ROWS = 2048

# Where the squared distance from origin to mean exceeds this multiple of the variance, the rows are
# read again about a better origin.
_FAR = 8.0


def measure_classes(
    columns: Sequence[Float],
    codes: Sequence[Codes],
    values: Sequence[Values],
    labels: CategoryColumn,
    units: Counts | None,
    exponent: int,
    rows: Places | None,
    numbers: Sequence[str],
    categories: Sequence[str],
    fill: Float | None,
) -> ClassMoments | None:
    """The moments of the chosen rows of a block (None: of all); those without weight do not count.

    `codes` are ranks in `values`. A missing value takes what `fill` has for its term or terms. None
    where a row has a missing value that nothing fills, an infinite number or one whose square
    cannot be added up.
    """
    terms = tuple(numbers), tuple(categories), tuple(values)
    tiles = ClassTiles(columns, codes, values, units, fill)
    return measure_tiles(tiles, terms, labels, units, exponent, rows)


def measure_tiles(
    tiles: ClassTiles,
    terms: tuple[tuple[str, ...], tuple[str, ...], tuple[Values, ...]],
    labels: CategoryColumn,
    units: Counts | None,
    exponent: int,
    rows: Places | None,
) -> ClassMoments | None:
    """The same of terms that come tile by tile; `terms` are numbers, categories and values."""
    present, parts = _by_class(labels, units, rows)
    weight = np.array([len(part) if units is None else units[part].sum() for part in parts], int)
    # powers of large numbers may overflow; those that must not are looked at later
    with np.errstate(over="ignore", invalid="ignore"):
        measured = tiles.measure(parts, weight)
    return (
        None if measured is None else moments_of_sums(terms, present, weight, exponent, *measured)
    )


def _by_class(
    labels: CategoryColumn, units: Counts | None, rows: Places | None
) -> tuple[Values, list[Counts]]:
    """The classes of the chosen rows, and for each its rows that have weight."""
    n_classes = len(labels.values)
    # NumPy sorts 16-bit numbers by radix, several times faster than wider ones
    codes = labels.codes.astype(np.int16) if n_classes < 2**15 else labels.codes
    if units is not None:
        rows = np.flatnonzero(units) if rows is None else rows[units[rows] > 0]
    if rows is not None:
        codes = codes[rows]
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes, minlength=n_classes)
    chosen = (order if rows is None else rows[order]).astype(np.int64, copy=False)
    parts = np.split(chosen, np.cumsum(sizes)[:-1]) if n_classes else []
    return kept(labels.values, sizes > 0), [part for part in parts if len(part)]


class ClassTiles:
    """The rows of a block as terms, some at a time."""

    def __init__(
        self,
        columns: Sequence[Float],
        codes: Sequence[Codes],
        values: Sequence[Values],
        units: Counts | None,
        fill: Float | None,
    ) -> None:
        self._columns, self._codes, self._sizes = columns, codes, list(map(len, values))
        self._units, self._fill = units, fill
        self.n_terms = len(columns) + sum(self._sizes)
        self._tile = np.empty((TILE_ROWS, self.n_terms + 2))

    def measure(self, parts: list[Counts], weight: Counts) -> tuple[Float, Float] | None:
        """For each part of the rows an origin near their mean, and the sums about it."""
        origin = self._first_means(parts)
        sums = None if origin is None else self._sums(parts, origin)
        if origin is None or sums is None:
            return None
        n = weight[:, None].astype(np.float64)
        mean = sums[:, :-2, -2] / n
        about = diagonals(sums)[:, :-2] - n * mean * mean
        # an origin that is nearer already than its last digits cannot be bettered
        far = (n * mean * mean > _FAR * about) & (abs(mean) > 4 * _EPS * abs(origin))
        again = np.flatnonzero(far.any(axis=1))
        origin[again] += mean[again]
        better = self._sums([parts[k] for k in again], origin[again])
        if better is None:
            return None
        sums[again] = better
        return origin, sums

    def _first_means(self, parts: list[Counts]) -> Float | None:
        """The mean of each part's first tile: in most tables the mean of all is not far."""
        means, zero = np.zeros((len(parts), self.n_terms)), np.zeros(self.n_terms)
        for k, part in enumerate(parts):
            z = self.centered(part[:TILE_ROWS], zero)
            if z is None:
                return None
            first = z[:, -2] @ z
            means[k] = first[:-2] / first[-2]
        return means

    def _sums(self, parts: list[Counts], origin: Float) -> Float | None:
        """Σ u (z, 1, ‖z‖²)(z, 1, ‖z‖²)ᵀ of each part, a cache full of rows at a time.

        The parts take turns, because their rows mostly lie among each other: where the columns are
        apart in memory, what was fetched for one part also serves the next.
        """
        sums = np.zeros((len(parts), self.n_terms + 2, self.n_terms + 2))
        for start in range(0, max(map(len, parts), default=0), TILE_ROWS):
            for k, part in enumerate(parts):
                if start < len(part):
                    z = self.centered(part[start : start + TILE_ROWS], origin[k])
                    if z is None:
                        return None
                    sums[k] += z.T @ z
        return sums

    def centered(self, rows: Counts, origin: Float) -> Float | None:
        """√u (z, 1, ‖z‖²) of each row, so that one product with itself has the weights too."""
        z = self._tile[: len(rows)]
        scale = None if self._units is None else np.sqrt(self._units[rows])
        not_finite = native.center_rows(
            self._columns, self._codes, self._sizes, rows, origin, self._fill, scale, z
        )
        return None if not_finite else z
