"""Canonical directions: those along which class means lie far apart, measured by what is within."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal.models.geometry import EPS, VARIANCE_FLOOR

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.models.geometry import Geometry

    Float = NDArray[np.float64]


def eigenvectors(geometry: Geometry, spread: Float) -> tuple[Float, Float]:
    """Bw = λSw, λ falling: at most one direction fewer than classes, as in (ZM 20.8).

    B is spreadᵀspread, a row of `spread` a class. With S = I, where `sphere` leads, eigenvectors of
    B are right singular vectors of `spread`. Also known as (Sch 4-11c) and (Bar rayleigh).
    Directions without scatter within come first, with λ infinite; what they explain of the class
    means is taken out of the rest, for which wᵀSw = 1.
    """
    n_apart = geometry.apart.shape[1]
    left, _, right = np.linalg.svd(spread @ geometry.apart, full_matrices=False)
    first = geometry.apart @ right.T
    rest = (spread - left @ (left.T @ spread)) @ geometry.sphere
    _, roots, right = np.linalg.svd(rest, full_matrices=False)
    noise = min(8 * spread.shape[1] * EPS * geometry.condition, 1e-6)
    real = roots > noise * roots.max(initial=0.0)
    real[max(0, len(spread) - 1 - n_apart) :] = False
    directions = np.hstack([first, geometry.sphere @ right[real].T])
    return directions, np.concatenate([np.full(n_apart, np.inf), roots[real] ** 2])


def within_lengths(directions: Float, eigenvalues: Float, spread: Float) -> Float:
    """√wᵀSw of these directions: 1, or, where it is zero, of the least scatter that is assumed."""
    apart = ((spread @ directions) ** 2).sum(axis=0)
    return np.asarray(np.sqrt(np.where(np.isinf(eigenvalues), VARIANCE_FLOOR * apart, 1.0)))


def oriented(directions: Float, gap: Float) -> Float:
    """Directions that point from the class that sorts last to the first."""
    return np.asarray(directions * np.where((gap[0] - gap[-1]) @ directions < 0, -1.0, 1.0))
