"""How columns are made comparable: their ranges, standard deviations and covariance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sortal.engines.blas import one_blas_thread
from sortal.models.geometry import involved
from sortal.models.neighbors import Ellipse
from sortal.models.neighbors_search import inverse_root

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import DTypeLike, NDArray

    Float = NDArray[np.float64]
    Matrix = NDArray[np.floating[Any]]

# Numbers that are read at a time, few enough to stay in the cache. Sums are taken along the rows
# of a block and then over blocks, so that their digits depend on the rows alone.
_CELLS = 1 << 17
# Along a short axis NumPy is slow: up to so many columns, blocks are kept column by column.
_FEW = 16
# Squares of less vanish: such deviations are made larger first.
_SMALL = 1e-100


def column_ranges(x: Matrix) -> tuple[Float, Float]:
    """The least and the largest number of each column, holes left out; inf and -inf for none."""
    low, high = np.full(x.shape[1], np.inf), np.full(x.shape[1], -np.inf)
    for block, _ in _blocks(x, None, x.dtype):
        np.fmin(low, np.fmin.reduce(block, axis=1), out=low)
        np.fmax(high, np.fmax.reduce(block, axis=1), out=high)
    return low, high


def deviations(x: Matrix, w: Float | None, low: Float, high: Float) -> Float:
    """√(Σ w (x − m)² / Σ w) of each column, holes left out. (S 71)"""
    mean = means(x, w)[:, None]
    small = (high > low) & (high - low < _SMALL)
    powers = np.frexp(np.where(small, high - low, 1.0))[1].astype(np.float64)
    lift = np.where(small, np.exp2(-powers), 1.0)
    squares, total = np.zeros((2, x.shape[1]))
    for block, weight in _blocks(x, w):
        d = np.subtract(block, mean, out=block)
        if small.any():
            np.multiply(d, lift[:, None], out=d)
        part, count = _sums(np.multiply(d, d, out=d), weight)
        squares += part
        total += count
    return np.asarray(np.sqrt(squares / np.where(total > 0, total, 1.0)) / lift)


def means(x: Matrix, w: Float | None) -> Float:
    """Σ w x / Σ w of each column, holes left out; 0 for a column without values."""
    sums, total = np.zeros((2, x.shape[1]))
    for block, weight in _blocks(x, w):
        part, count = _sums(block, weight)
        sums += part
        total += count
    return np.asarray(sums / np.where(total > 0, total, 1.0))


def _blocks(
    x: Matrix, w: Float | None, dtype: DTypeLike = np.float64
) -> Iterator[tuple[Any, Float | None]]:
    """The columns of some rows at a time, copied, and the weights of these rows."""
    step = max(1, _CELLS // max(1, x.shape[1]))
    order: Literal["F", "C"] = "F" if x.shape[1] <= _FEW else "C"
    for start in range(0, len(x), step):
        block = np.array(x[start : start + step], dtype=dtype, order=order)
        yield block.T, None if w is None else w[start : start + step]


def _sums(block: Float, weight: Float | None) -> tuple[Float, Float]:
    """Σ w x and Σ w of each column, over the rows that have a value."""
    total = block.shape[1] if weight is None else weight.sum()
    weighted = block if weight is None else block * weight
    sums = weighted.sum(axis=1)
    if not np.isnan(sums).any():
        return sums, np.full(len(block), float(total))
    known = ~np.isnan(block)
    return np.nansum(weighted, axis=1), known.sum(axis=1) if weight is None else known @ weight


def fit_ellipse(x: Matrix, w: Float | None, divisor: float) -> Ellipse:
    """S = Σ w (x − m)(x − m)ᵀ / divisor, its inverse root, and what it is about. (S 74)"""
    center, p = means(x, w), x.shape[1]
    scatter, largest = np.zeros((p, p)), np.zeros(p)
    with one_blas_thread():
        for block, weight in _blocks(x, w):
            d = block - center[:, None]
            scatter += (d if weight is None else d * weight) @ d.T
            np.maximum(largest, np.abs(block).max(axis=1), out=largest)
    S = (scatter + scatter.T) / (2 * divisor)
    return Ellipse(center, S, largest, inverse_root(S, largest, len(x)).sphere)


def still_columns(ellipse: Ellipse, n_rows: int) -> NDArray[np.bool_]:
    """Which columns take part in a combination that never varies."""
    geometry = inverse_root(ellipse.covariance, ellipse.magnitude, n_rows)
    none = np.zeros((len(ellipse.center), 0))
    return involved(geometry.still, geometry.size, none)
