"""Checks of records that were read from a file: what shapes and bounds alone do not say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal.errors import FormatError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Float = NDArray[np.float64]

# What rounding may do to products of roots.
_ROUNDING = 1e-6


def need(holds: object, words: str) -> None:
    """Refuse a model that has what `words` say."""
    if not holds:
        raise FormatError(f"This model has {words}: the file is damaged, or not by sortal.")


def check_scatter(matrices: Float) -> None:
    """Symmetric, and no product larger than its squares allow: what sums over rows always are."""
    diagonal = np.diagonal(matrices, axis1=-2, axis2=-1)
    need((diagonal >= 0).all(), "a negative sum of squares")
    size = np.sqrt(diagonal)
    most = size[..., :, None] * size[..., None, :] * (1 + _ROUNDING)
    need((np.abs(matrices) <= most).all(), "a sum of products beyond its sums of squares")
    apart = np.abs(matrices - np.swapaxes(matrices, -1, -2))
    need((apart <= _ROUNDING * most).all(), "a matrix of sums that is not symmetric")
