"""Moments: dates and times as days since 1970-01-01, and the units in which they are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Float = NDArray[np.float64]

# How many of each unit of NumPy's a day has; the coarse ones first.
PER_DAY: Final[dict[Any, int]] = {
    "D": 1,
    "s": 86_400,
    "ms": 86_400_000,
    "us": 86_400_000_000,
    "ns": 86_400_000_000_000,
}


def brief_moments(days: Float, values: Float) -> Float:
    """Moments as whole seconds, or thousandths or millionths of one, with no value in between.

    `values` ascend, and each moment lies between the first and the last of them. What is at or
    below a moment is at or below its brief form, and the other way round. (S 30)
    """
    after = np.searchsorted(values, days, side="right")
    low, high = values[after - 1], values[after]
    brief = days.copy()
    for unit in ("us", "ms", "s"):  # the coarsest that fits is written last
        near = np.rint(days * PER_DAY[unit]) / PER_DAY[unit]
        fits = (low <= near) & (near < high)
        brief[fits] = near[fits]
    return brief
