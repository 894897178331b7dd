"""Geometry: what a within-class matrix and the class means say about directions.

A direction either varies within the classes (most do), or stands still within them but not between
them (it tells them apart without error), or stands still altogether (it says nothing). Which of
the three is decided without regard to units: matrices are brought to a diagonal of ones first, and
compared with the rounding that their own entries carry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import qr

from sortal._typing import Float
from sortal.modelfile.record import limits, record

if TYPE_CHECKING:
    from sortal._typing import Mask, Places


EPS = float(np.finfo(float).eps)

# Along a direction that stands still within the classes a variance of this share of the whole one
# is assumed, so that densities stay finite; the same share as for the columns of discrete Bayes.
VARIANCE_FLOOR = 1e-9

# Columns whose part in a direction is below this share of the largest one are not named.
_NAMED = 1e-6


@record()
class Geometry:
    """Directions of p terms, as columns of matrices.

    `sphere`: sphereᵀ W sphere = I, and sphere sphereᵀ is the pseudo-inverse of W.
    `apart`: orthonormal, W apart = 0, and `spread` holds the scatter of the means along each.
    `still`: orthonormal, neither rows nor means vary along it; sphere and apart are at right angles
    to it, so that solutions have the least norm.
    `condition` is that of W with a diagonal of ones, where it varies; `size` the root of the
    scatter of all rows in each term; `weakest` the direction that varies least within classes.
    """

    sphere: Float = limits("terms", "varying")
    apart: Float = limits("terms", "apart")
    spread: Float = limits("apart", least=0.0)
    still: Float = limits("terms", "still")
    condition: float = limits(least=0.0)
    size: Float = limits("terms", least=0.0)
    weakest: Float = limits("terms")

    def regular(self, fewer: Places) -> Places | None:
        """The terms over which W can be inverted: all, or `fewer`, from which the others follow.

        None where there is more that stands still, or something that stands apart.
        """
        p, rank = self.sphere.shape
        if rank == p:
            return np.arange(p)
        return fewer if rank == len(fewer) and not self.apart.size else None

    def root(self, total_weight: float, divisor: float) -> Float:
        """G with GᵀΣG = I, Σ being W / divisor, and floored where it stands still. (S 12)"""
        floor = VARIANCE_FLOOR * self.spread / total_weight
        return np.hstack([self.sphere * np.sqrt(divisor), self.apart / np.sqrt(floor)])


def rounded(squares: Float, magnitude: Float) -> Mask:
    """Sums of squares that may be nothing but the last digits of numbers of such a magnitude."""
    return np.asarray(squares <= (4 * EPS * magnitude) ** 2)


def survey(
    within: Float,
    between: Float,
    magnitude: Float,
    most: float = np.inf,
    noise: float = 0.0,
    *,
    settled: bool = False,
) -> Geometry:
    """The geometry of W and of the rows of `between`, √weight · (mean of a class - mean of all).

    `magnitude` is the size of the numbers in each column, in the unit of one row's weight times
    the root of all weight: deviations below its last digits are rounding. `most` is a rank that W
    is known not to exceed, and `noise` the share of its diagonal that may be rounding. `settled`
    says that columns in which only rounding was left are 0 in W already.
    """
    p = len(within)
    diagonal = np.diag(within)
    varies = ~rounded(diagonal, 0.0 * magnitude if settled else magnitude)
    scale = np.sqrt(diagonal[varies])
    R = within[np.ix_(varies, varies)] / np.outer(scale, scale)
    values, vectors = np.linalg.eigh(R) if len(scale) else (np.empty(0), np.empty((0, 0)))
    regular = values > p * max(8 * EPS, noise) * values.max(initial=0.0)
    regular[: int(max(len(values) - most, 0))] = False
    kept = values[regular]
    sphere = np.zeros((p, len(kept)))
    sphere[varies] = vectors[:, regular] / np.sqrt(kept) / scale[:, None]
    steep = sphere[varies] / np.sqrt(kept)  # what the last digits of a flat direction may amount to
    condition = float(kept[-1] / kept[0]) if len(kept) else 1.0
    weakest = sphere[:, 0].copy() if len(kept) else np.zeros(p)  # eigenvalues rise
    flat = _flat(varies, vectors[:, ~regular], scale)
    sphere -= flat @ (flat.T @ sphere)
    size = np.sqrt(diagonal + (between**2).sum(axis=0))
    wide, far = np.zeros(p), np.zeros(p)
    wide[varies] = scale
    far[varies] = size[varies] * np.linalg.norm(steep, axis=1)
    apart, spread, still = _split(flat, between, size, magnitude, wide, far)
    return Geometry(sphere, apart, spread, still, condition, size, weakest)


def _flat(varies: Mask, null: Float, scale: Float) -> Float:
    """An orthonormal basis of the directions without scatter, in the units of the columns.

    `null` spans those among the columns that vary, where these have scatter one. Each basis vector
    is first made to say how one column follows from others; what then is rounding becomes zero.
    Otherwise rounding in a column of small unit would outweigh everything else in its own unit.
    """
    n_fixed = int((~varies).sum())
    flat = np.zeros((len(varies), n_fixed + null.shape[1]))
    flat[~varies, :n_fixed] = np.eye(n_fixed)
    if null.shape[1]:
        followers = qr(null.T, mode="r", pivoting=True)[1][: null.shape[1]]
        tied = np.linalg.solve(null[followers].T, null.T).T
        tied[np.abs(tied) < 64 * len(scale) * EPS] = 0.0
        flat[varies, n_fixed:] = tied / scale[:, None]
    return _orthonormal(flat)


def _split(
    flat: Float, between: Float, size: Float, magnitude: Float, wide: Float, far: Float
) -> tuple[Float, Float, Float]:
    """Directions without scatter within: those along which the means differ, and the others.

    A flat direction is an eigenvector, known up to last digits where columns have scatter 1, which
    is `wide`; `far` is what the means of each column make of these digits.
    """
    if not flat.size:
        return flat, np.empty(0), flat
    _, values, rotation = np.linalg.svd(between @ flat)
    directions = flat @ rotation.T
    spread = np.zeros(flat.shape[1])
    spread[: len(values)] = values**2
    # what rounding may have left of a difference of means along a direction
    noise = np.abs(directions).T @ size
    last_digits = (4 * EPS * (np.abs(directions).T @ magnitude)) ** 2
    length = np.linalg.norm(directions * wide[:, None], axis=0)
    unsure = (64 * len(size) * EPS * length * ((directions != 0).T @ far)) ** 2
    least = np.maximum(8 * len(size) * EPS * noise**2, np.maximum(last_digits, unsure))
    differs = spread > least
    return directions[:, differs], spread[differs], directions[:, ~differs]


def _orthonormal(columns: Float) -> Float:
    """By Gram and Schmidt, twice: small parts of a column keep their digits beside large ones."""
    made = columns / np.linalg.norm(columns, axis=0)
    for _ in range(2):
        for j in range(made.shape[1]):
            rest = made[:, j] - made[:, :j] @ (made[:, :j].T @ made[:, j])
            made[:, j] = rest / np.linalg.norm(rest)
    return np.asarray(made)


def linear_functions(root: Float, gap: Float, mean: Float) -> tuple[Float, Float]:
    """xᵀΣ⁻¹μ_k - ½ μ_kᵀΣ⁻¹μ_k, x and μ_k being distances from the mean of all rows. (S 13)

    The differences of two such functions are the log-odds of (Bar lda), priors left aside.
    """
    u = (gap - mean) @ root  # class means where the covariance is the identity
    weights = root @ u.T
    offsets = -0.5 * (u * u).sum(axis=1) - mean @ weights
    return offsets, weights


def involved(directions: Float, size: Float, known: Float, share: float = _NAMED) -> Mask:
    """Which terms take part in directions, those in the span of `known` left aside.

    `size` is the spread of each term, so that its unit does not matter; a part below `share` of
    the largest is none.
    """
    rest = directions - known @ (known.T @ directions)
    real = np.linalg.norm(rest, axis=0) > _NAMED
    part = np.abs(rest[:, real] * np.where(size > 0, size, 1.0)[:, None])
    largest = part.max(axis=0, initial=0.0)
    return np.asarray((part > share * np.where(largest > 0, largest, 1.0)).any(axis=1))
