"""Rows as a summary: those of a fit, gathered in parts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from sortal._typing import Codes, Counts
from sortal.data.columns import MISSING, Values, kept, union
from sortal.data.sources import with_weight
from sortal.data.table import LARGEST, check_matrix
from sortal.errors import InputError, TrainingRowsError, listed
from sortal.modelfile.fields import need
from sortal.modelfile.record import limits, record
from sortal.summaries.protocol import MOST_EXPONENT, refuse_other_columns, refuse_overflow, rescale

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sortal._typing import Mask
    from sortal.data.sources import Batch


Matrix = NDArray[np.floating[Any]]


@record()
class KeptRows:
    """The rows that have weight, in the order of their ids.

    `numbers` has the number columns (NaN is a missing value), `codes` the others, as ranks in
    `values` (-1 is a missing value). `y` are ranks in `labels`. `units` are whole-number weights of
    2**-exponent each, None where every row weighs one (and the exponent is 0). Ids below `next_id`
    have been given, and are not given again.
    """

    numbers: Matrix = limits("rows", "measured", least=-LARGEST, most=LARGEST, nan=True)
    codes: Codes = limits("rows", "attributes", least=MISSING)
    values: tuple[Values, ...] = limits("attributes")
    labels: Values
    y: Codes = limits("rows", least=0)
    units: Counts | None = limits("rows", least=1)
    exponent: int = limits(least=-MOST_EXPONENT, most=MOST_EXPONENT)
    ids: Counts = limits("rows", least=0)
    next_id: int = limits(least=0)

    def check(self) -> None:
        """Refuse codes without a value, labels that there are not, and ids out of order."""
        sizes = np.array(list(map(len, self.values)), dtype=np.int64)
        need((self.codes < sizes).all(), "codes without a value")
        need((self.y < len(self.labels)).all(), "labels that there are not")
        need((np.diff(self.ids) > 0).all(), "ids out of order")
        need((self.ids < self.next_id).all(), "ids that were not given yet")
        need(self.units is not None or self.exponent == 0, "a unit without weights")

    def __len__(self) -> int:
        return len(self.ids)

    def row_units(self) -> Counts:
        """The weights, written out."""
        return np.ones(len(self), dtype=np.int64) if self.units is None else self.units

    @property
    def class_weights(self) -> Counts:
        """The weight of each label, in units."""
        sums = np.zeros(len(self.labels), dtype=np.int64)
        np.add.at(sums, self.y, self.row_units())
        return sums

    def merge(self, other: Self) -> KeptRows:
        """The rows of both."""
        refuse_other_columns(self.values, other.values)
        refuse_other_columns(self.numbers.T, other.numbers.T)
        ids = np.concatenate([self.ids, other.ids])
        order = _order(ids)
        values, codes = self.values, np.concatenate([self.codes, other.codes])
        if values != other.values or list(map(_types, values)) != list(map(_types, other.values)):
            values, codes = _join(self, other)
        labels, a, b = union(self.labels, other.labels)
        exponent = max(self.exponent, other.exponent)
        merged = KeptRows(
            np.concatenate([self.numbers, other.numbers])[order],
            codes[order],
            values,
            labels,
            np.concatenate([a[self.y], b[other.y]]).astype(np.int32)[order],
            None,
            exponent,
            ids[order],
            max(self.next_id, other.next_id),
        )
        if self.units is None and other.units is None and exponent == 0:
            return merged
        parts = [rescale(r.row_units(), r.exponent, exponent) for r in (self, other)]
        units = np.concatenate(parts)[order]
        refuse_overflow(np.cumsum(units), "the weight of all rows")
        return replace(merged, units=units)

    def take(self, rows: NDArray[Any]) -> KeptRows:
        """Some of the rows, by a mask, with the values and labels that these have."""
        codes, values = self.codes[rows], list(self.values)
        for j, listed_values in enumerate(values):
            values[j], codes[:, j] = narrowed(listed_values, codes[:, j])
        labels, y = narrowed(self.labels, self.y[rows])
        units = None if self.units is None else self.units[rows]
        return replace(
            self,
            numbers=self.numbers[rows],
            codes=codes,
            values=tuple(values),
            labels=labels,
            y=y,
            units=None if units is None else canonical(units, self.exponent),
            ids=self.ids[rows],
        )

    def without(self, ids: Counts) -> KeptRows:
        """The rows but for those of some ids, each of which there must be, once."""
        distinct, counts = np.unique(ids, return_counts=True)
        if (counts > 1).any():
            raise TrainingRowsError(
                f"The ids {listed(distinct[counts > 1].tolist())} are given more than once: name "
                "each row to be forgotten once."
            )
        gone = np.isin(self.ids, distinct)
        if gone.sum() < len(distinct):
            strange = distinct[~np.isin(distinct, self.ids)].tolist()
            raise TrainingRowsError(
                f"No row has the ids {listed(strange)}: ids_ lists those of the rows that are "
                "kept; a row keeps its id, and one that was forgotten is gone."
            )
        return self.take(~gone)

    def recast(self, old: SummarizeRows, new: SummarizeRows) -> KeptRows:
        """The same rows by another plan, in which columns without any value became numbers."""
        if old.measured == new.measured:
            return self
        numbers = np.full((len(self), len(new.measured)), np.nan, dtype=self.numbers.dtype)
        numbers[:, [new.measured.index(j) for j in old.measured]] = self.numbers
        stay = [place for place, j in enumerate(old.named) if j in new.named]
        return replace(
            self,
            numbers=numbers,
            codes=np.ascontiguousarray(self.codes[:, stay]),
            values=tuple(self.values[place] for place in stay),
        )

    @property
    def has_missing_numbers(self) -> bool:
        """Whether a number is missing; the least of numbers with a missing value is none."""
        return bool(self.numbers.size) and bool(np.isnan(self.numbers.min()))

    def missing(self) -> tuple[Counts, Counts]:
        """How many rows, copies counted, have a missing value, by number column and by other."""
        copies = self.units if self.units is not None and self.exponent == 0 else None
        in_numbers = np.zeros(self.numbers.shape[1], dtype=np.int64)
        if self.has_missing_numbers:
            columns = (np.isnan(column) for column in self.numbers.T)
            in_numbers[:] = [_count(is_missing, copies) for is_missing in columns]
        in_codes = [_count(column == MISSING, copies) for column in self.codes.T]
        return in_numbers, np.array(in_codes, dtype=np.int64)

    @property
    def size(self) -> int:
        """How many rows there are, copies counted where weights are whole numbers."""
        copies = self.units is not None and self.exponent == 0
        return int(self.row_units().sum()) if copies else len(self)


def _count(which: Mask, copies: Counts | None) -> int:
    return int(np.count_nonzero(which) if copies is None else copies[which].sum())


def _types(values: Values) -> list[type]:
    return list(map(type, values))


def _order(ids: Counts) -> Any:
    """The order of ids; rows that come in order stay where they are."""
    if (np.diff(ids) > 0).all():
        return slice(None)
    order = np.argsort(ids, kind="stable")
    twice = ids[order][1:][np.diff(ids[order]) == 0]
    if len(twice):
        raise InputError(
            f"Two rows have the id {twice[0]}: only rows of different ids are kept together."
        )
    return order


def _join(one: KeptRows, other: KeptRows) -> tuple[tuple[Values, ...], Codes]:
    """The values of both, and the codes of both in them, one after the other."""
    values, codes = [], np.empty((len(one) + len(other), len(one.values)), dtype=np.int32)
    for j, (u, v) in enumerate(zip(one.values, other.values, strict=True)):
        both, a, b = union(u, v)
        values.append(both)
        codes[: len(one), j] = np.append(a, MISSING)[one.codes[:, j]]
        codes[len(one) :, j] = np.append(b, MISSING)[other.codes[:, j]]
    return tuple(values), codes


def narrowed(values: Values, codes: Codes) -> tuple[Values, Codes]:
    """The values that rows have, and codes in these."""
    met = np.zeros(len(values) + 1, dtype=bool)
    met[codes] = True  # a missing value's code, -1, finds the last
    if met[:-1].all():
        return values, codes
    rank = np.cumsum(met, dtype=np.int32) - 1
    rank[-1] = MISSING
    return kept(values, met[:-1]), rank[codes]


@dataclass(frozen=True)
class SummarizeRows:
    """Block → KeptRows; a picklable value that can be sent to where the rows are.

    Row i of the source has the id first + i. `measured` are the columns of the schema that are
    read as numbers, called `names`, and `named` the others, which are read as values.
    """

    first: int
    measured: tuple[int, ...]
    named: tuple[int, ...]
    names: tuple[str, ...]

    def __call__(self, batch: Batch) -> KeptRows:
        """The rows of one block; their numbers may be those of the table itself, not a copy."""
        start = self.first + batch.start
        ids, next_id = np.arange(start, start + batch.n_rows), start + batch.n_rows
        if batch.units is not None and not batch.units.all():
            ids, batch = ids[batch.units > 0], with_weight(batch)
        numbers = batch.number_matrix()
        check_matrix(numbers, self.names)
        columns, labels = batch.category_columns(), batch.labels()
        codes, values = np.empty((batch.n_rows, len(columns)), dtype=np.int32), []
        for j, column in enumerate(columns):
            known, codes[:, j] = narrowed(column.values, column.codes)
            values.append(known)
        known, y = narrowed(labels.values, labels.codes)
        units = None if batch.units is None else canonical(batch.units, batch.exponent)
        return KeptRows(
            numbers, codes, tuple(values), known, y, units, batch.exponent, ids, next_id
        )


def canonical(units: Counts, exponent: int) -> Counts | None:
    """None where every row weighs one, as without weights."""
    return None if exponent == 0 and (units == 1).all() else units


# --- Rows that come in parts, gathered into one place without being in memory twice --------------


def gather_rows(parts: Iterable[KeptRows], n: int, dtype: np.dtype[Any]) -> KeptRows:
    """Rows that come in parts, in the order of their ids, copied into one place: n in all.

    What merging the parts would give, without their numbers being twice in memory.
    """
    gathered: KeptRows | None = None
    at, all_units = 0, []
    for part in parts:
        if gathered is None:
            gathered = _room(part, n, dtype)
        now = slice(at, at + len(part))
        gathered.numbers[now], gathered.ids[now] = part.numbers, part.ids
        values = []
        for j, (u, v) in enumerate(zip(gathered.values, part.values, strict=True)):
            values.append(_add_codes(gathered.codes[:, j], u, at, v, part.codes[:, j]))
        labels = _add_codes(gathered.y, gathered.labels, at, part.labels, part.y)
        all_units.append(part.row_units())
        at += len(part)
        gathered = replace(gathered, values=tuple(values), labels=labels, next_id=part.next_id)
    assert gathered is not None  # noqa: S101  (a source has a block)
    return replace(gathered, units=canonical(np.concatenate(all_units), gathered.exponent))


def _room(like: KeptRows, n: int, dtype: np.dtype[Any]) -> KeptRows:
    """Room for n rows, without any value so far."""
    return replace(
        like,
        numbers=np.empty((n, like.numbers.shape[1]), dtype=dtype),
        codes=np.empty((n, len(like.values)), dtype=np.int32),
        values=((),) * len(like.values),
        labels=(),
        y=np.empty(n, dtype=np.int32),
        ids=np.empty(n, dtype=np.int64),
    )


def _add_codes(codes: Codes, values: Values, at: int, more: Values, added: Codes) -> Values:
    """Codes join `at` codes that are there already; the values of both."""
    both, a, b = union(values, more)
    if len(both) > len(values) and at:
        codes[:at] = np.append(a, MISSING)[codes[:at]]
    codes[at : at + len(added)] = np.append(b, MISSING)[added]
    return both
