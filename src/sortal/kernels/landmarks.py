"""Landmarks: rows whose kernel values with others are the features of these, and their choice.

All that the discriminant needs of other rows are the moments of the classes in these features. They
merge, so that rows can come in blocks, from many places and in many calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.blas import dtrsm

from sortal.errors import FormatError, InputError
from sortal.summaries.class_moments import ClassTiles

if TYPE_CHECKING:
    from sortal._typing import Counts, Float, Places
    from sortal.kernels.model import KernelFunction, KernelInputs, ReportProgress


# --- Landmark space: rows as kernel values with landmarks, and their class moments there ---------

# Rows of a block, for each class and at most: to begin and to merge the moments of a class takes as
# long as some 350 rows, whatever the number of landmarks.
_ROWS_A_CLASS, _MOST_ROWS = 5_000, 50_000

# Beyond this condition of K among the landmarks, moments of kernel values would lose digits.
_WORST = 1e6

# Rows whose kernel values stay in the cache of a core while they are made.
_STRIP = 128


def block_rows(n_rows: int, n_classes: int) -> int:
    """How many rows a block of the pass has, all nearly alike, so that threads end together."""
    most = min(_ROWS_A_CLASS * max(n_classes, 2), _MOST_ROWS, max(_ROWS_A_CLASS, -(-n_rows // 2)))
    n_blocks = max(1, -(-n_rows // most))
    return max(1, -(-n_rows // n_blocks))


@dataclass(frozen=True, eq=False)
class LandmarkSpace:
    """Features of a row: its kernel values with the landmarks, or L⁻¹ times these. (S 90)

    K_mm = LLᵀ are the kernel values among the landmarks. L⁻¹k(x) are coordinates in feature space,
    and keep their digits where landmarks are nearly dependent; `turned` says that they are used.
    """

    kernel: KernelFunction
    inputs: KernelInputs
    basis: Float

    @property
    def n_landmarks(self) -> int:
        """How many landmarks there are."""
        return len(self.basis)

    @cached_property
    def gram(self) -> Float:
        """K_mm."""
        made = self.kernel.matrix(self.basis, self.basis)
        return np.asarray((made + made.T) / 2)

    @cached_property
    def root(self) -> Float:
        """L."""
        try:
            return np.asarray(np.linalg.cholesky(self.gram), dtype=np.float64)
        except np.linalg.LinAlgError:  # landmarks that were drawn have a factor
            raise FormatError(
                "The landmarks of this model are not independent, so they were not drawn by a "
                "fit: the model file was changed. Fit the model again."
            ) from None

    @cached_property
    def turned(self) -> bool:
        """Whether features are coordinates."""
        pivots = np.diag(self.root)
        return bool((pivots.max() / pivots.min()) ** 2 > _WORST)

    @property
    def names(self) -> tuple[str, ...]:
        """What the columns of the moments are called; the last is k(x, x)."""
        return (*(f"z{j + 1}" for j in range(self.n_landmarks)), "k(x,x)")

    def features(self, u: Float) -> Float:
        """The features of rows, given as inputs of the kernel."""
        values = self.kernel.matrix(u, self.basis)
        if self.turned:
            # BLAS reads columns: to it these are transposes, which it overwrites
            b = values.T
            return np.asarray(dtrsm(1.0, self.root.T, b, side=0, trans_a=1, overwrite_b=1).T)
        return values

    @cached_property
    def to_coefs(self) -> Float:
        """Directions of the features → coefficients of the landmarks."""
        identity = np.eye(self.n_landmarks)
        if not self.turned:
            return identity
        return np.asarray(solve_triangular(self.root, identity, lower=True, check_finite=False).T)


class FeatureTiles(ClassTiles):
    """The features of rows and, last, k(x, x) as terms, some rows at a time."""

    def __init__(self, space: LandmarkSpace, u: Float, units: Counts | None) -> None:
        super().__init__([u] * len(space.names), (), (), units, None)
        self._space, self._u = space, u

    def centered(self, rows: Counts, origin: Float) -> Float:
        """√u (z, 1, ‖z‖²) of rows, of few at a time, whose cells stay in the cache of a core."""
        made = self._tile[: len(rows)]
        made[:, -2] = 1.0
        for start in range(0, len(rows), _STRIP):
            some = slice(start, start + _STRIP)
            u, z = self._u[rows[some]], made[some, :-2]
            np.subtract(self._space.features(u), origin[:-1], out=z[:, :-1])
            z[:, -1] = self._space.kernel.diagonal(u) - origin[-1]
            np.einsum("ij,ij->i", z, z, out=made[some, -1])
        if self._units is not None:
            made *= np.sqrt(self._units[rows])[:, None]
        return made


# --- Landmarks: rows by whose kernel values all others are described -----------------------------

# Rows among which landmarks are chosen: more describe the kernel hardly better.
MOST_SAMPLED = 50_000

# Rows proposed at a time, of which some are turned down.
_PROPOSED = 200

# What is left of k(x, x), as a share, when a row counts as described by the landmarks so far.
_DESCRIBED = 1e-10

# What is left of a kernel that is none, as a share below 0 that rounding does not reach.
_BELOW = 1e-6


def choose_landmarks(
    kernel: KernelFunction, sample: Float, m: int, seed: int, tell: ReportProgress
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
            raise InputError(
                "The kernel is not positive: what is left of k(x, x) beside the landmarks is "
                "below 0. Use a kernel that is an inner product (rbf, laplacian, linear, poly with "
                "coef0 >= 0)."
            )
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
