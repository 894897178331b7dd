"""Gaussian classes with a common covariance: their functions, for all terms or for those known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sortal.models.checks import check_scatter, check_squares, need
from sortal.models.geometry import Geometry, survey
from sortal.models.holes import Inverse, LinearParts
from sortal.models.layout import Layout, Number
from sortal.models.layout_arrays import Array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Float = NDArray[np.float64]
    Mask = NDArray[np.bool_]
    Places = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class GaussianClasses:
    """Class means as distances `gap` from a center, and a within-class matrix W; Σ = W / divisor.

    `weight` is that of each class; `mean` the distance of the mean of all rows; `magnitude` as in
    `geometry.survey`.
    """

    weight: Float
    gap: Float
    mean: Float
    within: Float
    divisor: float
    magnitude: Float

    LAYOUT: ClassVar[Layout] = Layout(
        weight=Array("f8", "classes", least=0.0),
        gap=Array("f8", "classes", "terms"),
        mean=Array("f8", "terms"),
        within=Array("f8", "terms", "terms"),
        divisor=Number(least=0.0),
        magnitude=Array("f8", "terms", least=0.0),
    )

    def check(self) -> None:
        """Refuse what is no scatter of rows."""
        check_scatter(self.within)
        check_squares(np.sqrt(self.weight)[:, None] * (self.gap - self.mean))
        need(self.weight.any() and self.divisor > 0, "no weight")

    def survey(self) -> Geometry:
        """Which directions vary, stand apart or stand still."""
        between = np.sqrt(self.weight)[:, None] * (self.gap - self.mean)
        return survey(self.within, between, self.magnitude, settled=True)

    def root(self) -> Float:
        """G with GᵀΣG = I."""
        return self.survey().root(float(self.weight.sum()), self.divisor)

    def functions(self, known: Mask) -> tuple[Float, Float]:
        """The functions of N(μ_k, Σ) over the known terms: holes are integrated out. (S 14)"""
        root = self._root(known)
        offsets, weights = linear_functions(root, self.gap, self.mean)
        return self.without_absent(offsets), weights

    def ways(self, known: Mask, gap: Float, root: Float) -> tuple[Float, Float]:
        """The root of Σ over the known terms, and nothing beside it."""
        del root  # the terms known have one of their own
        own = self._root(known)
        return own, np.zeros((len(gap), own.shape[1]))

    def _root(self, known: Mask) -> Float:
        """The root of Σ over the known terms, 0 for others."""
        o = known
        part = GaussianClasses(
            self.weight,
            self.gap[:, o],
            self.mean[o],
            self.within[np.ix_(o, o)],
            self.divisor,
            self.magnitude[o],
        )
        some = part.root()
        root = np.zeros((len(known), some.shape[1]))
        root[o] = some
        return root

    def parts(self, fewer: Places) -> LinearParts | None:
        """The same for many sets of known terms at a time, unless W is nearly singular."""
        kept = self.survey().regular(fewer)
        inverse = None if kept is None else Inverse.of(self.within, kept)
        if inverse is None:
            return None
        gap, constant = self.gap - self.mean, self.without_absent(np.zeros(len(self.weight)))
        weights = self.divisor * inverse.times(gap[:, inverse.kept].T)
        return LinearParts(inverse, weights, constant, gap, self.mean)

    def without_absent(self, offsets: Float) -> Float:
        """A class without rows has no density anywhere."""
        return np.where(self.weight > 0, offsets, -np.inf)


def linear_functions(root: Float, gap: Float, mean: Float) -> tuple[Float, Float]:
    """xᵀΣ⁻¹μ_k - ½ μ_kᵀΣ⁻¹μ_k, x and μ_k being distances from the mean of all rows. (S 13)

    The differences of two such functions are the log-odds of (Bar lda), priors left aside.
    """
    u = (gap - mean) @ root  # class means where the covariance is the identity
    weights = root @ u.T
    offsets = -0.5 * (u * u).sum(axis=1) - mean @ weights
    return offsets, weights
