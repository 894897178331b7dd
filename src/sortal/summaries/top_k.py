"""The k nearest rows so far, of each of some queries: what is known of a table met in pieces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from sortal.data.gathering import with_weight
from sortal.errors import FormatError, InputError
from sortal.native.neighbors import Searcher
from sortal.summaries.pack import pack, unpack

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.data.batch import Batch
    from sortal.data.values import Values

    Float = NDArray[np.float64]
    Codes = NDArray[np.int32]
    Int64 = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TopK:
    """Keys and ids of the nearest rows of each query, in the order of (key, id).

    Where fewer rows are known, the rest has the key inf and the id -1.
    """

    keys: Float
    ids: Int64

    def merge(self, other: Self) -> TopK:
        """The nearest of both sets of rows: the least by (key, id). (S 72)"""
        if self.keys.shape != other.keys.shape:
            raise InputError(
                f"The nearest rows of {self.keys.shape} queries and places and those of "
                f"{other.keys.shape} do not combine: ask both sets of rows the same."
            )
        keys = np.concatenate([self.keys, other.keys], axis=1)
        ids = np.concatenate([self.ids, other.ids], axis=1)
        order = np.lexsort((ids, keys), axis=1)[:, : self.keys.shape[1]]
        return TopK(np.take_along_axis(keys, order, 1), np.take_along_axis(ids, order, 1))

    def to_bytes(self) -> bytes:
        """Versioned bytes."""
        return pack("nearest", {}, {"keys": self.keys, "ids": self.ids + 1})

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """Read what `to_bytes` wrote."""
        got = unpack("nearest", data)
        keys = got.numbers("keys", -1, -1, least=0.0, most=np.inf)
        ids = got.counts("ids", *keys.shape) - 1
        if ((ids < 0) != np.isinf(keys)).any():
            raise FormatError("These bytes hold neighbors without a key, or keys alone: damaged?")
        return cls(keys, ids)


@dataclass(frozen=True, eq=False)
class SummarizeNearest:
    """Block of rows → TopK of given queries; a picklable value that can be sent to the rows.

    Queries are `numbers` and `codes`, the latter as ranks in `values` (-1 is a hole, -2 differs
    from every row). `factors`, `power` and `n_columns` are those of the distance. Row i of the
    source has the id first + i; rows without weight are no neighbors.
    """

    numbers: Float
    codes: Codes
    values: tuple[Values, ...]
    k: int
    factors: Float
    power: float
    n_columns: int
    first: int = 0

    def __call__(self, batch: Batch) -> TopK:
        """The nearest rows of one block."""
        ids = np.arange(batch.n_rows) + (self.first + batch.start)
        if batch.units is not None:
            ids, batch = ids[batch.units > 0], with_weight(batch)
        if not len(ids):
            shape = len(self.numbers), self.k
            return TopK(np.full(shape, np.inf), np.full(shape, -1, dtype=np.int64))
        numbers = np.ascontiguousarray(batch.number_matrix())
        rows = numbers, self._row_codes(batch)
        searcher = Searcher(*rows, self.factors, self.power, self.n_columns)
        keys, found = searcher.search(self.numbers, self.codes, self.k)
        return TopK(keys, np.append(ids, -1)[found])

    def _row_codes(self, batch: Batch) -> Codes:
        """The rows' codes in the queries' values; what no query has is one code more."""
        codes = np.empty((batch.n_rows, len(self.values)), dtype=np.int32)
        columns: Any = zip(batch.category_columns(), self.values, strict=True)
        for j, (column, values) in enumerate(columns):
            at = {value: v for v, value in enumerate(values)}
            found = column.recode(at)
            codes[:, j] = np.where(found == -2, len(values), found)
        return codes
