"""What every way of solving the kernel discriminant is given, and what it gives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Float = NDArray[np.float64]
    Codes = NDArray[np.integer]

# Told the share of the work that is done; what it raises ends the work.
Tell = Callable[[float], object]

# An eigenvalue below this share of the largest is what rounding has left of none.
NOTHING = 1e-12


def tell_nobody(share: float) -> None:
    """For whoever does not want to know."""


@dataclass(frozen=True, eq=False)
class Labeled:
    """The classes of the rows that take part, as codes, and their weights v, all above 0."""

    codes: Codes
    weight: Float
    n_classes: int

    @property
    def sizes(self) -> Float:
        """n_c, the weight of each class."""
        return np.bincount(self.codes, self.weight, self.n_classes).astype(np.float64)

    @property
    def root(self) -> Float:
        """√v."""
        return np.sqrt(self.weight)

    @property
    def share(self) -> Float:
        """s = √v / √Σv, of length one."""
        return np.asarray(self.root / np.sqrt(self.weight.sum()))

    def indicators(self) -> Float:
        """Z: √v_i / √n_c in the column of the class, whose columns are orthonormal."""
        size = self.sizes
        Z = np.zeros((len(self.codes), self.n_classes))
        Z[np.arange(len(Z)), self.codes] = self.root / np.sqrt(size[self.codes])
        return Z

    def means(self, projected: Float) -> Float:
        """The mean of each class along each direction, 0 for one without rows. (ZM 20.16)"""
        safe = np.where(self.sizes > 0, self.sizes, 1.0)
        return self.sums(self.weight[:, None] * projected) / safe[:, None]

    def scatters(self, projected: Float, means: Float) -> Float:
        """s_c² of each class along each direction."""
        return self.sums(self.weight[:, None] * (projected - means[self.codes]) ** 2)

    def sums(self, parts: Float) -> Float:
        """Sums over the rows of each class, a column each."""
        made = [np.bincount(self.codes, part, self.n_classes) for part in parts.T]
        return np.stack(made, axis=1) if made else np.zeros((self.n_classes, 0))

    def without(self, centered: Float, i: int) -> Float:
        """Rows of sums of squares less by those of row i, all less the means of their classes.

        They are at right angles to the indicator z of its class: what e_i has beside z is the one
        direction that goes, and the rest of its row in the place of the others. (S 93)
        """
        own = self.indicators()[:, self.codes[i]]
        goes = -own[i] * own
        goes[i] += 1.0
        stays = goes[i]
        return centered - np.outer(goes, centered[i] / stays) if stays > 0 else centered


@dataclass(frozen=True, eq=False)
class Solution:
    """Coefficients a, one direction a column, aᵀKa = 1, and what they make of the classes.

    `lengths` are √aᵀ(N + P)a, or the least that is assumed where that is zero; `means` and
    `scatters` those of the projected rows, a row a class. `condition` is an estimate for N + P.
    """

    coefs: Float
    eigenvalues: Float
    lengths: Float
    means: Float
    scatters: Float
    condition: float


def class_scale(weight: Float) -> float:
    """From λ of B = Σ n_c (μ_c - μ)(μ_c - μ)ᵀ to that of the book, where there are two classes.

    There B = (μ_1 - μ_2)(μ_1 - μ_2)ᵀ, as (ZM 20.13) has it.
    """
    if len(weight) != 2 or not weight.all():
        return 1.0
    return float(weight.sum() / weight.prod())


def orient(solution: Solution) -> Solution:
    """Directions that point from the class that sorts last to the first."""
    sign = np.where(solution.means[0] < solution.means[-1], -1.0, 1.0)
    return Solution(
        solution.coefs * sign,
        solution.eigenvalues,
        solution.lengths,
        solution.means * sign,
        solution.scatters,
        solution.condition,
    )
