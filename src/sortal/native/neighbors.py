"""The nearest rows of a table: which search is taken, and its compiled loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Float = NDArray[np.float64]
    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]


class Searcher:
    """Rows among which the nearest are found, in the order of (key, position)."""

    def __init__(
        self,
        numbers: NDArray[np.floating],
        codes: Int32,
        factors: Float,
        power: float,
        n_columns: int,
    ) -> None:
        self.numbers, self.codes, self.factors = numbers, codes, factors
        self.power, self.n_columns = power, n_columns
        self.kind = "scan"

    def search(
        self,
        numbers: Float,
        codes: Int32,
        k: int,
        exclude: Int64 | None = None,
        n_threads: int = 1,  # noqa: ARG002
    ) -> tuple[Float, Int64]:
        """Keys and positions of the k nearest rows of each query, padded with inf and -1."""
        keys = np.full((len(numbers), k), np.inf)
        found = np.full((len(numbers), k), -1, dtype=np.int64)
        for i in range(len(numbers)):
            key = self._keys(numbers[i], codes[i])
            if exclude is not None and exclude[i] >= 0:
                key[exclude[i]] = np.inf
            order = np.argsort(key, kind="stable")[:k]
            order = order[np.isfinite(key[order])]
            keys[i, : len(order)], found[i, : len(order)] = key[order], order
        return keys, found

    def _keys(self, x: Float, codes: Int32) -> Float:
        total = np.zeros(len(self.numbers))
        known = np.zeros(len(self.numbers), dtype=np.int64)
        for j, factor in enumerate(self.factors):
            term = np.abs(x[j] - self.numbers[:, j].astype(np.float64)) * factor
            both = ~np.isnan(term)
            known += both
            term = np.where(both, term, 0.0)
            if self.power == np.inf:
                total = np.maximum(total, term)
            else:
                total += term * term if self.power == 2 else term**self.power
        for j in range(self.codes.shape[1]):
            both = (codes[j] != -1) & (self.codes[:, j] != -1)
            known += both
            total += both & (self.codes[:, j] != codes[j])
        with np.errstate(divide="ignore", invalid="ignore"):
            scaled = total if self.power == np.inf else total * (self.n_columns / known)
        return np.where(known > 0, scaled, np.inf)
