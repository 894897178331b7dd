"""Checks of records that were read from a file: what shapes and bounds alone do not say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal.errors import FormatError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Float = NDArray[np.float64]

# A product is at most the root of its squares' product. Where rows were taken out again, rounding
# may have left more of it than of the squares, but not so many times as much.
_BEYOND = 1e8


# Numbers beyond 1e140 are refused at fit; roots of sums of their squares are below this.
_LARGEST = 1e150


def need(holds: object, words: str) -> None:
    """Refuse a model that has what `words` say."""
    if not holds:
        raise FormatError(f"This model has {words}: the file is damaged, or not by sortal.")


def check_scatter(matrices: Float) -> None:
    """Sums of squares and products of rows, as far as what is calculated from them relies on it."""
    diagonal = np.diagonal(matrices, axis1=-2, axis2=-1)
    need((diagonal >= 0).all(), "a negative sum of squares")
    size = np.sqrt(diagonal)
    most = size[..., :, None] * size[..., None, :] * _BEYOND
    need(((np.abs(matrices) <= most) | (most == 0)).all(), "products far beyond their squares")


def check_prior(prior: Float) -> None:
    """Probabilities of the classes."""
    need(abs(prior.sum() - 1.0) < 1e-6, "priors that are no probabilities")


def check_squares(numbers: Float) -> None:
    """Numbers of which squares can be added up."""
    need((np.abs(numbers) <= _LARGEST).all(), "numbers whose squares are too large")
