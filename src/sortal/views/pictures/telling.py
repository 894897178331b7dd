"""Which columns tell classes apart best, each taken by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.data.table import Table

    Float = NDArray[np.float64]


class Telling(NamedTuple):
    """A column of numbers, by its place, and the share of its variance that classes explain."""

    place: int
    name: str
    share: float


def between_share(x: Float, codes: NDArray[np.intp], n_classes: int) -> float:
    """η² = Σ_k n_k (m_k − m)² / Σ_i (x_i − m)² of the rows without holes. (S 68)

    0 where a column does not vary. It grows with the F ratio of between and within.
    """
    known = ~np.isnan(x)
    x, codes = x[known], codes[known]
    if not len(x):
        return 0.0
    # about a middle value, and in units of the spread, so that squares keep their digits
    x = x - np.median(x)
    spread = float(np.abs(x).max())
    if spread == 0:
        return 0.0
    x = x / spread
    x = x - x.mean()
    n = np.bincount(codes, minlength=n_classes)
    sums = np.bincount(codes, x, minlength=n_classes)
    met = n > 0
    total = float(x @ x)
    return float((sums[met] ** 2 / n[met]).sum() / total) if total > 0 else 0.0


def most_telling(
    table: Table, places: list[int], codes: NDArray[np.intp], n_classes: int
) -> list[Telling]:
    """Columns of numbers, those whose variance lies most between classes first."""
    found = []
    for j in places:
        cells = table.numbers(j, 0, table.n_rows).values
        found.append(Telling(j, table.names[j], between_share(cells, codes, n_classes)))
    return sorted(found, key=lambda one: -one.share)
