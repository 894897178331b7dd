"""Weights as whole numbers of units, so that sums are exact in any order.

Whole-number weights are copies: a unit is 1. As soon as one weight has a fraction, weights are
rounded once, to multiples of a power of two so small that the total stays below 2**48 units;
later calls may add some ten thousand times as much before whole numbers end. A weight below half a
unit rounds to 0, which is absence: boosting makes such weights, and sums differ no more by them
than by the rounding of others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.errors import WeightError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from sortal._typing import Counts, Float

_TOTAL_BITS = 48

_LEAST_TOTAL = 1e-50


@dataclass(frozen=True)
class Weights:
    """`units` whole numbers of 2**-exponent each; None where every row weighs one."""

    units: Counts | None
    exponent: int = 0


def read_weights(given: ArrayLike | None, n_rows: int, exponent: int | None = None) -> Weights:
    """Checked weights in units; `exponent` fixes the unit where a summary already has one."""
    if given is None:
        return Weights(None)
    weights = _checked(given, n_rows)
    is_whole = bool((weights == np.floor(weights)).all())
    if is_whole and not exponent:
        return Weights(_rounded(weights, 0))
    power = exponent if exponent else _exponent_for(_exact_total(weights))
    return Weights(_rounded(weights, power), power)


def _checked(given: ArrayLike, n_rows: int) -> Float:
    weights = _as_numbers(given)
    if weights.ndim == 0:
        weights = np.full(n_rows, float(weights))
    if weights.shape != (n_rows,):
        raise WeightError(
            f"sample_weight.shape == {weights.shape}, expected {(n_rows,)}: give one number a row."
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise WeightError(
            "sample_weight has negative, missing or infinite values: weights must be finite and "
            "at least 0 (0 leaves a row out)."
        )
    if n_rows and not weights.any():
        raise WeightError(
            "sample_weight is zero for every row, so no row is left to learn from: give at least "
            "one row a weight above 0."
        )
    return weights


def _as_numbers(given: ArrayLike) -> Float:
    try:
        array: np.ma.MaskedArray[Any, Any] = np.ma.asarray(given)
        if array.dtype.kind not in "biufO":
            raise TypeError(f"its type is {array.dtype}")  # noqa: TRY301  (one message for all)
        return np.asarray(np.ma.filled(array.astype(np.float64), np.nan))
    except (TypeError, ValueError, OverflowError) as error:
        raise WeightError(
            f"sample_weight holds something that is not a number ({error}): give one "
            "non-negative number a row."
        ) from None


def _exact_total(weights: Float) -> float:
    """The sum, rounded once: near a power of two the order of rows would else choose the unit."""
    try:
        return math.fsum(weights.tolist())
    except OverflowError:
        return math.inf


def _total(weights: Float) -> float:
    """The sum; infinity, and no warning, beyond the largest float."""
    with np.errstate(over="ignore"):
        return float(weights.sum())


def _exponent_for(total: float) -> int:
    """The finest unit that keeps `total` below 2**48 units.

    Never 0, which would say that weights are copies: then one finer.
    """
    if total < _LEAST_TOTAL:
        raise WeightError(
            f"sample_weight sums to {total:.3g}, and products of such weights cannot be written "
            f"down: multiply them by a constant, so that their sum is {_LEAST_TOTAL:g} or more."
        )
    return _TOTAL_BITS - math.frexp(total)[1] or 1


def _rounded(weights: Float, exponent: int) -> Counts:
    with np.errstate(over="ignore"):  # what is too large is refused below
        units = np.rint(np.ldexp(weights, exponent))
    if _total(units) >= 2.0**62:
        raise WeightError(
            f"sample_weight sums to {_total(weights):.3g}, too much to be counted exactly in units "
            f"of 2**{-exponent}: divide the weights by a constant."
        )
    if len(units) and not units.any():  # in a unit that an earlier call has fixed
        raise WeightError(
            f"sample_weight is at most {weights.max():.3g}, which rounds to 0 in units of "
            f"2**{-exponent}, fixed by the weights of the first call: give weights of that "
            "size, or fit all rows at once."
        )
    return units.astype(np.int64)
