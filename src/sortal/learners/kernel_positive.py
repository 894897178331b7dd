"""Kernels that are not known to be positive: looked at before they are believed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import eigvalsh

from sortal.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Float = NDArray[np.float64]

# What two values that ought to be equal may differ by, as a share of the largest.
_ASYMMETRY = 1e-8
# How far below zero an eigenvalue may be by rounding, as a share of n times the largest diagonal.
_NEGATIVE = 1e-10
# The same two, of numbers in single precision.
_SINGLE = float(np.finfo(np.float32).eps)


def positive(K: Float, what: str) -> Float:
    """K, exactly symmetric; what is no matrix of inner products is refused. `what` names it.

    Numbers of single precision, whatever type they came in, may be off by so much more.
    """
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise InputError(
            f"{what} has the shape {K.shape}, and a kernel matrix is square: give k(x_i, x_j) of "
            "the rows of the fit with each other."
        )
    with np.errstate(over="ignore"):  # beyond a float32 they are none
        single = bool((K.astype(np.float32) == K).all())
    largest = float(np.abs(K).max(initial=0.0))
    off = np.abs(K - K.T)
    if float(off.max(initial=0.0)) > (_SINGLE if single else _ASYMMETRY) * largest:
        i, j = np.unravel_index(int(off.argmax()), off.shape)
        raise InputError(
            f"{what} is not symmetric: k(x_{i}, x_{j}) = {K[i, j]:.6g} and k(x_{j}, x_{i}) = "
            f"{K[j, i]:.6g}. A kernel is an inner product, the same in both orders."
        )
    made = (K + K.T) / 2
    slack = (_SINGLE if single else _NEGATIVE) * len(K) * float(np.diag(made).max(initial=0.0))
    try:
        np.linalg.cholesky(made + (slack + np.finfo(float).tiny) * np.eye(len(K)))
    except np.linalg.LinAlgError:
        least = float(eigvalsh(made, subset_by_index=[0, 0])[0])
        if least >= -slack and slack > 0:
            return made
        raise InputError(
            f"{what} is not positive: its least eigenvalue is {least:.6g}, and lengths in feature "
            "space would be imaginary. Use a kernel that is an inner product (rbf, laplacian, "
            "linear, poly with coef0 >= 0), or take its negative eigenvalues off first."
        ) from None
    return made
