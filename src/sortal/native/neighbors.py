"""The nearest rows of a table: which search is taken, and its compiled loops.

Every search finds the same rows, those that come first by (key, position); the words are in
cpp/neighbors/neighbors.hpp. Which one is taken depends on the rows alone:

    bits    category columns only, without missing values: counts of bits that differ
    tree    numbers only, without missing values, of which a kd-tree of 4,096 rows, asked for
            neighbors of its own rows, looks at a share of at most 0.06 log2(n / 1250)
    bytes   other numbers without missing values, for Euclidean and Manhattan distances: rows
            rounded to bytes
    scan    all else, up to 1,000 rows, and queries with missing values: every row; also queries
            for which bytes exclude too few rows, as where they lie far outside, and for very many
            neighbors
"""

from __future__ import annotations

from math import log2
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sortal.native import _core

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal._typing import Codes, Counts, Float

    Numbers = NDArray[np.float32] | Float
    Int32 = Codes
    Int64 = Counts
    Kind = Literal["tree", "bytes", "bits", "scan"]

# Fewer rows than this are looked at one by one.
FEW_ROWS = 1000

# Sums of so many products of two bytes stay within 32 bits.
MOST_BYTES = 30_000

# Every so many-th row is tried in a small tree: as many rows as this, by so many queries.
SAMPLE_ROWS, SAMPLE_QUERIES, SAMPLE_K = 4096, 32, 5

# The widest instructions that bytes and bits may use where the machine has them: 2 is AVX-512.
WIDEST = 2


class Searcher:
    """Rows among which the nearest are found, in the order of (key, position).

    `numbers` (n, m) are float32 or float64, NaN where there is a missing value; `codes` (n, c)
    int32, -1 where there is one. Terms of numbers are multiplied by `factors` and added up to
    `power`, which may be infinite; `n_columns` is the d of keys with missing values. A search is
    made when it is first needed, and what was made is kept; several threads may ask.
    """

    def __init__(
        self,
        numbers: Numbers,
        codes: Int32,
        factors: Float,
        power: float,
        n_columns: int,
        kind: Kind | None = None,
        widest: int = WIDEST,
    ) -> None:
        # columns of a file may lie in either order
        self.numbers: Any = np.ascontiguousarray(numbers)
        self.codes: Int32 = np.ascontiguousarray(codes)
        self.factors = factors
        self.power, self.n_columns = float(power), n_columns
        self._widest = widest
        self._lock = Lock()
        self._made: dict[str, _core.Search] = {}
        self.kind: Kind = kind or choose(numbers, codes, factors, self.power)

    def search(
        self,
        numbers: Float,
        codes: Int32,
        k: int,
        exclude: Int64 | None = None,
        n_threads: int = 1,
    ) -> tuple[Float, Int64]:
        """Keys and positions of the k nearest rows of each query, padded with inf and -1. (S 72)

        Of queries, -1 is a missing value and -2 a code that differs from every row's. `exclude` has
        for each query a position that is not to be found, or -1.
        """
        if self.kind == "scan":
            return self._search("scan", n_threads).find(numbers, codes, k, exclude, n_threads)
        partial = np.isnan(numbers).any(axis=1) | (codes == -1).any(axis=1)
        if not partial.any():
            found = self._search(self.kind, n_threads)
            return found.find(numbers, codes, k, exclude, n_threads)
        keys = np.empty((len(numbers), k))
        positions = np.empty((len(numbers), k), dtype=np.int64)
        for kind, some in (("scan", partial), (self.kind, ~partial)):
            rows = np.flatnonzero(some)
            others = None if exclude is None else exclude[rows]
            found = self._search(kind, n_threads)
            keys[rows], positions[rows] = found.find(
                numbers[rows], codes[rows], k, others, n_threads
            )
        return keys, positions

    def _search(self, kind: str, n_threads: int) -> _core.Search:
        with self._lock:
            if kind not in self._made:
                self._made[kind] = self._make(kind, n_threads)
            return self._made[kind]

    def _make(self, kind: str, n_threads: int) -> _core.Search:
        if kind == "bits":
            sizes = (self.codes.max(axis=0, initial=0) + 1).tolist()
            return _core.bit_rows(self.codes, sizes, self._widest)
        numbers, factors, power = self.numbers, self.factors, self.power
        if kind == "tree":
            return _core.tree_rows(numbers, factors, power, n_threads)
        if kind == "bytes":
            return _core.byte_rows(numbers, factors, power, n_threads, self._widest)
        return _core.scan_rows(numbers, self.codes, factors, power, self.n_columns)


def choose(numbers: Numbers, codes: Int32, factors: Float, power: float) -> Kind:
    """How rows are searched, by the rule above."""
    n, m = numbers.shape
    if n <= FEW_ROWS or (m and codes.shape[1]):
        return "scan"
    if not m:
        return "scan" if (codes < 0).any() else "bits"
    if np.isnan(numbers.min()):  # a missing value is the least of all
        return "scan"
    step = max(1, n // SAMPLE_ROWS)
    visits = _core.tree_visits(numbers, step, factors, power, SAMPLE_K, SAMPLE_QUERIES)
    if visits <= 0.06 * log2(n / 1250):
        return "tree"
    return "bytes" if power in (1.0, 2.0) and m <= MOST_BYTES else "scan"
