"""What the discriminants need of the rows: class moments, and counts of rows and missing values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from sortal.data.arrays import infinite, too_large
from sortal.data.columns import CategoryColumn, as_categories, as_numbers
from sortal.data.text import counted
from sortal.data.values import Values, kept, union
from sortal.errors import InputError
from sortal.summaries.bytes import pack, unpack
from sortal.summaries.class_moments import ClassMoments
from sortal.summaries.counts import ClassCounts, RowCounts, count_rows
from sortal.summaries.moments import measure_classes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal._typing import Float, Places
    from sortal.data.schema import Schema
    from sortal.data.sources import Batch
    from sortal.summaries.protocol import Summary


# Memory for one scatter matrix a class, beyond which a table is refused.
MOST_BYTES = 1 << 30


@dataclass(frozen=True, eq=False)
class DiscriminantSummary:
    """`rows` counts all rows and missing values, `sizes` the measured rows by class.

    Whole-number weights are copies, in sizes too; of rows with fractional weights each counts one.
    """

    rows: RowCounts
    sizes: ClassCounts
    moments: ClassMoments

    @property
    def labels(self) -> Values:
        """The classes that have weight."""
        return self.moments.classes

    @property
    def exponent(self) -> int:
        """The unit of weight is 2**-exponent."""
        return self.moments.exponent

    def merge(self, other: Self) -> DiscriminantSummary:
        """The summary of both sets of rows."""
        sizes, moments = self.sizes.merge(other.sizes), self.moments.merge(other.moments)
        return DiscriminantSummary(self.rows.merge(other.rows), sizes, moments)

    def subtract(self, other: Self) -> DiscriminantSummary:
        """The summary without the other's rows."""
        sizes, moments = self.sizes.subtract(other.sizes), self.moments.subtract(other.moments)
        return DiscriminantSummary(self.rows.subtract(other.rows), sizes, moments)

    def to_bytes(self) -> bytes:
        """Versioned bytes: each part's bytes as one array of the whole."""
        parts: dict[str, Summary] = {
            "rows": self.rows,
            "sizes": self.sizes,
            "moments": self.moments,
        }
        blobs = {name: np.frombuffer(part.to_bytes(), np.uint8) for name, part in parts.items()}
        return pack("discriminant", {}, blobs)

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what `to_bytes` wrote."""
        got = unpack("discriminant", data)
        return cls(
            RowCounts.from_bytes(got.blob("rows")),
            ClassCounts.from_bytes(got.blob("sizes")),
            ClassMoments.from_bytes(got.blob("moments")),
        )


@dataclass(frozen=True)
class Fill:
    """What fills missing values: a number per number column, a share per category value."""

    numbers: tuple[float, ...]
    values: tuple[Values, ...]
    shares: tuple[tuple[float, ...], ...]

    def over(self, values: Sequence[Values]) -> Float:
        """The fill of every term, for longer lists of values."""
        shares = []
        for mine, some, listed in zip(self.values, self.shares, values, strict=True):
            share = dict(zip(mine, some, strict=True))
            shares += [share.get(value, 0.0) for value in listed]
        return np.array([*self.numbers, *shares])


@dataclass(frozen=True)
class SummarizeDiscriminant:
    """Block → DiscriminantSummary. Incomplete rows are dropped, unless there is a `fill`."""

    schema: Schema
    numbers: tuple[int, ...]
    categories: tuple[int, ...]
    fill: Fill | None = None

    def __call__(self, batch: Batch) -> DiscriminantSummary:
        """The summary of one block."""
        words = [as_categories(batch.columns[j]) for j in self.categories]
        # a column without any value has no term in which its missing values would show
        hollow = self.fill is None and not all(column.values for column in words)
        moments = None if hollow else self._measure(batch, words, None)
        if moments is not None and self.fill is None:
            sizes = sizes_of(batch, None)
            nothing = np.zeros(len(batch.columns), dtype=np.int64)
            return DiscriminantSummary(RowCounts(int(sizes.units.sum()), nothing), sizes, moments)
        # only now, when something was not finite, are the columns looked at one by one
        self._refuse_infinite(batch)
        whole = None if moments is not None else whole_rows(batch)
        if moments is None:
            moments = self._measure(batch, words, whole)
        if moments is None:
            raise self._overflow(batch)
        return DiscriminantSummary(count_rows(batch), sizes_of(batch, whole), moments)

    def _measure(
        self, batch: Batch, words: list[CategoryColumn], rows: Places | None
    ) -> ClassMoments | None:
        columns = self.schema.columns
        values = [column.values for column in words]
        if self.fill is not None:
            values = [union(a, b)[0] for a, b in zip(values, self.fill.values, strict=True)]
        self._refuse_too_wide(values, len(batch.labels().values))
        places = [{value: v for v, value in enumerate(listed)} for listed in values]
        pairs = zip(words, places, strict=True)
        return measure_classes(
            [as_numbers(batch.columns[j]) for j in self.numbers],
            [column.recode(place) for column, place in pairs],
            values,
            batch.labels(),
            batch.units,
            batch.exponent,
            rows,
            tuple(columns[j].name for j in self.numbers),
            tuple(columns[j].name for j in self.categories),
            None if self.fill is None else self.fill.over(values),
        )

    def _refuse_too_wide(self, values: Sequence[Values], n_classes: int) -> None:
        """A scatter matrix a class must fit into memory."""
        n_terms = len(self.numbers) + sum(map(len, values))
        size = 8 * n_classes * n_terms**2
        if size > MOST_BYTES:
            widest = max(range(len(values)), key=lambda c: len(values[c]), default=None)
            words = ""
            if widest is not None:
                name = self.schema.columns[self.categories[widest]].name
                words = f" (of which {name!r} has {len(values[widest])} as a category)"
            raise InputError(
                f"{counted(n_classes, 'class', 'classes')} and {counted(n_terms, 'column')}{words} "
                f"need matrices of {size / 2**30:.1f} GB: leave out identifiers, join rare values, "
                "or reduce the number of columns first."
            )

    def _refuse_infinite(self, batch: Batch) -> None:
        for j in self.numbers:
            if np.isinf(as_numbers(batch.columns[j])).any():
                raise infinite(self.schema.columns[j].name)

    def _overflow(self, batch: Batch) -> Exception:
        large = [np.nanmax(np.abs(as_numbers(batch.columns[j])), initial=0.0) for j in self.numbers]
        return too_large(self.schema.columns[self.numbers[int(np.argmax(large))]].name)


def whole_rows(batch: Batch) -> Places:
    """The rows without any missing value."""
    missing = np.zeros(batch.n_rows, dtype=bool)
    for column in batch.columns:
        missing |= column.missing()
    return np.flatnonzero(~missing)


def sizes_of(batch: Batch, rows: Places | None) -> ClassCounts:
    """How many rows each class has."""
    labels, units = batch.labels(), batch.units
    codes = labels.codes
    if rows is not None:
        codes, units = codes[rows], None if units is None else units[rows]
    n = len(labels.values)
    if units is None:
        sizes = np.bincount(codes, minlength=n)
    elif batch.exponent == 0:
        sizes = np.zeros(n, dtype=np.int64)
        np.add.at(sizes, codes, units)
    else:
        sizes = np.bincount(codes[units > 0], minlength=n)
    keep = sizes > 0
    return ClassCounts(kept(labels.values, keep), sizes[keep].astype(np.int64))
