"""Measuring: the class moments of one block of rows, a cache full of rows at a time.

Rows are centered about an origin near their class mean; a column of ones and one of squared lengths
stand beside them, so that one product of matrices has every sum.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal import native
from sortal.data.values import Values, kept
from sortal.summaries.class_moments import ClassMoments, diagonals, moments_of_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal.data.columns import CategoryColumn

    Units = NDArray[np.int64]
    Codes = NDArray[np.int32]
    Float = NDArray[np.float64]
    Places = NDArray[np.intp]

# Rows a product of matrices takes at a time: enough for BLAS, few enough for the cache.
TILE_ROWS = 2048
# Where the squared distance from origin to mean exceeds this multiple of the variance, the rows are
# read again about a better origin.
_FAR = 8.0
_EPS = float(np.finfo(float).eps)


def measure_classes(
    columns: Sequence[Float],
    codes: Sequence[Codes],
    values: Sequence[Values],
    labels: CategoryColumn,
    units: Units | None,
    exponent: int,
    rows: Places | None,
    numbers: Sequence[str],
    categories: Sequence[str],
    fill: Float | None,
) -> ClassMoments | None:
    """The moments of the chosen rows of a block (None: of all); those without weight do not count.

    `codes` are ranks in `values`. A hole takes what `fill` has for its term or terms. None where a
    row has a hole that nothing fills, an infinite number or one whose square cannot be added up.
    """
    present, parts = _by_class(labels, units, rows)
    weight = np.array([len(part) if units is None else units[part].sum() for part in parts], int)
    terms = tuple(numbers), tuple(categories), tuple(values)
    # powers of large numbers may overflow; those that must not are looked at later
    with np.errstate(over="ignore", invalid="ignore"):
        measured = _Tiles(columns, codes, values, units, fill).measure(parts, weight)
    return (
        None if measured is None else moments_of_sums(terms, present, weight, exponent, *measured)
    )


def _by_class(
    labels: CategoryColumn, units: Units | None, rows: Places | None
) -> tuple[Values, list[Units]]:
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


class _Tiles:
    """The rows of a block as terms, some at a time."""

    def __init__(
        self,
        columns: Sequence[Float],
        codes: Sequence[Codes],
        values: Sequence[Values],
        units: Units | None,
        fill: Float | None,
    ) -> None:
        self._columns, self._codes, self._sizes = columns, codes, list(map(len, values))
        self._units, self._fill = units, fill
        self.n_terms = len(columns) + sum(self._sizes)
        self._tile = np.empty((TILE_ROWS, self.n_terms + 2))

    def measure(self, parts: list[Units], weight: Units) -> tuple[Float, Float] | None:
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

    def _first_means(self, parts: list[Units]) -> Float | None:
        """The mean of each part's first tile: in most tables the mean of all is not far."""
        means, zero = np.zeros((len(parts), self.n_terms)), np.zeros(self.n_terms)
        for k, part in enumerate(parts):
            z = self._centered(part[:TILE_ROWS], zero)
            if z is None:
                return None
            first = z[:, -2] @ z
            means[k] = first[:-2] / first[-2]
        return means

    def _sums(self, parts: list[Units], origin: Float) -> Float | None:
        """Σ u (z, 1, ‖z‖²)(z, 1, ‖z‖²)ᵀ of each part, a cache full of rows at a time.

        The parts take turns, because their rows mostly lie among each other: where the columns are
        apart in memory, what was fetched for one part also serves the next.
        """
        sums = np.zeros((len(parts), self.n_terms + 2, self.n_terms + 2))
        for start in range(0, max(map(len, parts), default=0), TILE_ROWS):
            for k, part in enumerate(parts):
                if start < len(part):
                    z = self._centered(part[start : start + TILE_ROWS], origin[k])
                    if z is None:
                        return None
                    sums[k] += z.T @ z
        return sums

    def _centered(self, rows: Units, origin: Float) -> Float | None:
        """√u (z, 1, ‖z‖²) of each row, so that one product with itself has the weights too."""
        z = self._tile[: len(rows)]
        scale = None if self._units is None else np.sqrt(self._units[rows])
        not_finite = native.center_rows(
            self._columns, self._codes, self._sizes, rows, origin, self._fill, scale, z
        )
        return None if not_finite else z
