"""Landmarks: rows by whose kernel values all others are described."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.learners.kernel_solution import Tell
    from sortal.models.kernel_functions import KernelFunction

    Float = NDArray[np.float64]
    Places = NDArray[np.intp]

# Rows among which landmarks are chosen: more describe the kernel hardly better.
MOST_SAMPLED = 50_000
# Rows proposed at a time, of which some are turned down.
_PROPOSED = 200
# What is left of k(x, x), as a share, when a row counts as described by the landmarks so far.
_DESCRIBED = 1e-10
# What is left of a kernel that is none, as a share below 0 that rounding does not reach.
_BELOW = 1e-6


def choose_landmarks(
    kernel: KernelFunction, sample: Float, m: int, seed: int, tell: Tell
) -> Places:
    """Up to m rows of a sample, in the order of choice, by randomly pivoted Cholesky. (S 91)

    A row is drawn with the probability of what is left of k(x, x) when its projection on the
    landmarks so far is taken off (Chen, Epperly, Tropp and Webber). Rows are drawn many at a time
    by the residuals before, and each is kept with the share of its residual that those kept
    before it leave: the outcome has the same distribution (Epperly, Tropp and Webber), and the
    work is products of matrices.
    """
    random = np.random.default_rng(seed)
    own = kernel.diagonal(sample)
    if (own < 0).any():
        raise InputError(
            "The kernel is not positive: k(x, x) is below 0 for some rows. Use a kernel that is an "
            "inner product (rbf, laplacian, linear, poly with coef0 >= 0)."
        )
    left, chosen = own.copy(), np.empty(0, dtype=np.intp)
    root = np.empty((m, len(sample)))  # K ≈ rootᵀ root, a row a landmark
    while left.any():
        proposed = random.choice(len(sample), _PROPOSED, p=left / left.sum())
        thresholds = random.random(_PROPOSED) * left[proposed]
        known, n = root[: len(chosen)], len(chosen)
        among = kernel.matrix(sample[proposed], sample[proposed])
        among -= known[:, proposed].T @ known[:, proposed]
        stay, upper = _kept(among, thresholds, _DESCRIBED * own[proposed], m - n)
        if not stay:  # what was proposed is described but for rounding
            left[proposed] = 0.0
            continue
        new = proposed[stay]
        chosen = np.append(chosen, new)
        tell(len(chosen) / m)
        if len(chosen) == m:
            break
        rows = kernel.matrix(sample[new], sample)
        rows -= known[:, new].T @ known
        more = root[n : len(chosen)]
        # NumPy's inverse, not SciPy's: that has another BLAS, whose threads then stand in the way
        np.matmul(np.linalg.inv(upper).T, rows, out=more)
        left -= np.einsum("ij,ij->j", more, more)
        if (left < -_BELOW * own).any():
            raise _not_positive()
        left[left <= _DESCRIBED * own] = 0.0
        left[new] = 0.0
    return chosen


def _kept(among: Float, thresholds: Float, floor: Float, most: int) -> tuple[list[int], Float]:
    """Which of the rows proposed stay, one after the other, by what is left of `among`; and Lᵀ,
    where LLᵀ is `among` of these.
    """
    stay: list[int] = []
    root, left = np.empty_like(among), np.diag(among).copy()  # a row of `root` for each that stays
    for i in range(len(among)):
        if left[i] > max(thresholds[i], floor[i]) and len(stay) < most:
            known = root[: len(stay)]
            new = (among[i] - known[:, i] @ known) / np.sqrt(left[i])
            root[len(stay)] = new
            left -= new * new
            stay.append(i)
    return stay, np.triu(root[: len(stay), stay])


def _not_positive() -> InputError:
    """The error for kernels that landmarks find not to be inner products."""
    return InputError(
        "The kernel is not positive: what is left of k(x, x) beside the landmarks is below 0. "
        "Use a kernel that is an inner product (rbf, laplacian, linear, poly with coef0 >= 0)."
    )
