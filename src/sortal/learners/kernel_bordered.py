"""Centering by bordering: (K + μI)⁻¹ of the indicators of the classes, by Cholesky."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dtrtri

from sortal.learners.kernel_primal import condition_of
from sortal.models.geometry import EPS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.learners.kernel_solution import Labeled, Tell

    Float = NDArray[np.float64]

# Columns of a panel. Wide enough for matrix products at full speed, narrow enough that the next
# word of progress, or Ctrl-C, waits for less than a second at 20,000 rows.
PANEL = 512
# The share of aᵀKa that may be rounding.
_BLUR = 1e-9


@dataclass(frozen=True, eq=False)
class Bordered:
    """R = (K + μI)⁻¹Z, Q = ZᵀR and, for leaving out, the diagonal of (K + μI)⁻¹."""

    R: Float
    Q: Float
    condition: float
    diagonal: Float | None = None

    @classmethod
    def of(
        cls, K: Float, rows: Labeled, mu: float, tell: Tell, *, diagonal: bool = False
    ) -> Bordered | None:
        """By Cholesky, in the lower triangle of K; the upper one stays as it is.

        None where the rounding of K shows beside so small a ridge: eigenvectors tell it from rank.
        """
        trace = float(np.trace(K))
        K[np.diag_indices(len(K))] += mu
        norm = _largest_sum(K)
        try:
            factor(K, tell)
        except np.linalg.LinAlgError:
            return None
        condition = condition_of(K, norm)
        Y = solve_triangular(K, rows.indicators(), lower=True, check_finite=False)
        R = solve_triangular(K, Y, lower=True, trans="T", check_finite=False)
        inverse = _inverse_diagonal(K) if diagonal else None
        made = cls(R, Y.T @ Y, condition, inverse)
        return made if made._sharp(mu, trace) else None

    def _sharp(self, mu: float, trace: float) -> bool:
        """Whether rounding in K stays small beside aᵀKa, for all combinations a of R's columns.

        Where K has no eigenvalue near zero but rounding, R holds Z/μ, and K ought to take it to 0.
        """
        here = np.diag(self.Q) > 0
        R, Q = self.R[:, here], self.Q[np.ix_(here, here)]
        squares = R.T @ R
        least = float(np.linalg.eigvalsh(Q - mu * squares)[0])  # RᵀKR = Q - μRᵀR
        return EPS * trace * float(np.linalg.eigvalsh(squares)[-1]) < _BLUR * least


def _largest_sum(A: Float) -> float:
    """The largest sum of |A| over a column."""
    strips = range(0, len(A), PANEL)
    return max(float(np.abs(A[start : start + PANEL]).sum(axis=1).max()) for start in strips)


def factor(A: Float, tell: Tell) -> None:
    """A = LLᵀ in the lower triangle, panel by panel from the left; the upper one stays.

    Of each panel, what the panels before it explain is taken off in one product of matrices, so
    that all but a small part runs at the speed of these, and the work can be told of and ended.
    """
    n = len(A)
    for start in range(0, n, PANEL):
        stop = min(start + PANEL, n)
        known = A[start:stop, :start]
        corner = np.linalg.cholesky(A[start:stop, start:stop] - known @ known.T)
        lower = np.tril_indices(stop - start)
        A[start:stop, start:stop][lower] = corner[lower]
        if stop < n:
            below = A[stop:, start:stop] - A[stop:, :start] @ known.T
            A[stop:, start:stop] = solve_triangular(
                corner, below.T, lower=True, check_finite=False
            ).T
        tell(1.0 - (1.0 - stop / n) ** 2)


def _inverse_diagonal(L: Float) -> Float:
    """The diagonal of (LLᵀ)⁻¹, of which L is overwritten: sums of squares in rows of L⁻ᵀ."""
    upper = L.T  # LAPACK reads columns, in which this is the upper triangle
    inverse, info = dtrtri(upper, lower=0, overwrite_c=1)
    assert info == 0  # noqa: S101  (pivots are above 0)
    return np.array([float(row[i:] @ row[i:]) for i, row in enumerate(inverse)])
