"""Gaussian classes and rows with missing terms: many missing patterns at a time.

A pattern of its own for nearly every row is what missing values here and there in many columns come
to. The inverse of a covariance without some terms follows from the whole inverse by a matrix as
small as the number of these terms, and small matrices are solved in stacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, TypeVar

import numpy as np

from sortal.decision.geometry import Geometry, survey
from sortal.modelfile.arrays import Array
from sortal.modelfile.fields import Layout, Number, check_scatter, check_squares, need

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sortal._typing import Float, Mask, Places


T = TypeVar("T")

Made_co = TypeVar("Made_co", covariant=True)

# Beyond this condition a part of the covariance may hold more digits than its whole inverse.
_WORST = 1e5

# Numbers of a stack of functions that are in memory at a time.
_CELLS = 2**20


@dataclass(frozen=True, eq=False)
class Inverse:
    """P = D S D, the inverse of a covariance over the terms `kept`, of n_terms in all.

    S has a diagonal of ones, D is `size`. What is unknown is given by `places` among those kept, a
    set a row; what is made of it covers all terms.
    """

    kept: Places
    n_terms: int
    scaled: Float
    size: Float

    @classmethod
    def of(cls, covariance: Float, kept: Places) -> Inverse | None:
        """Of a covariance of the terms kept; None where it is nearly singular, whatever units."""
        scale = np.sqrt(np.maximum(np.diag(covariance)[kept], 0.0))
        if not scale.all():
            return None
        correlations = covariance[np.ix_(kept, kept)] / scale / scale[:, None]
        values, vectors = np.linalg.eigh(correlations)
        if not len(values) or not values[0] * _WORST > values[-1]:
            return None
        inverse = (vectors / values) @ vectors.T
        size = np.sqrt(np.diag(inverse))
        return cls(kept, len(covariance), inverse / size / size[:, None], size / scale)

    @property
    def root(self) -> Float:
        """R with RRᵀ = P."""
        return np.asarray(self.size[:, None] * np.linalg.cholesky(self.scaled))

    @property
    def log_det(self) -> float:
        """ln det P."""
        return 2 * float(np.log(self.size).sum()) + float(np.linalg.slogdet(self.scaled)[1])

    def times(self, x: Float) -> Float:
        """P x."""
        return np.asarray(self.size[:, None] * (self.scaled @ (self.size[:, None] * x)))

    def places(self, unknown: Mask) -> Places:
        """The unknown terms of each pattern among those kept; all have equally many."""
        return np.nonzero(unknown[:, self.kept])[1].reshape(len(unknown), -1)

    def lessen(self, functions: Float, unknown: Places) -> Float:
        """F - P_·m P_mm⁻¹ F_m for each set of unknown terms m, and 0 for these. (S 95)

        With F = P μ these are the weights of known terms, with FFᵀ = P roots of their inverse.
        """
        own = functions / self.size[:, None]
        taken = np.linalg.solve(self._among(unknown), own[unknown])
        some = own - self.scaled[unknown].transpose(0, 2, 1) @ taken
        some *= self.size[:, None]
        np.put_along_axis(some, unknown[:, :, None], 0.0, axis=1)
        made = np.zeros((len(unknown), self.n_terms, functions.shape[1]))
        made[:, self.kept] = some
        return made

    def log_dets(self, unknown: Places) -> Float:
        """ln det P_mm, by which ln det Σ is more without the terms m."""
        sizes = 2 * np.log(self.size)[unknown].sum(axis=1)
        return np.asarray(np.linalg.slogdet(self._among(unknown))[1] + sizes)

    def _among(self, unknown: Places) -> Float:
        return self.scaled[unknown[:, :, None], unknown[:, None, :]]


@dataclass(frozen=True, eq=False)
class LinearParts:
    """Linear functions of the known terms, whatever these are, of rows as distances from a center.

    `weights` are those of the terms kept, a column a function. The offsets of what is left of them,
    w, are constant - (½ gap + mean)·w, `gap` being a row a function and `mean` that of all rows.
    """

    inverse: Inverse
    weights: Float
    constant: Float
    gap: Float
    mean: Float

    @property
    def kept(self) -> Places:
        """The terms over which the covariance can be inverted."""
        return self.inverse.kept

    def __call__(self, unknown: Mask) -> Iterator[tuple[Float, Float]]:
        """(offsets, weights) for each pattern of unknown terms."""
        weights = self.inverse.lessen(self.weights, self.inverse.places(unknown))
        turning = 0.5 * self.gap + self.mean
        offsets = self.constant - np.einsum("kp,npk->nk", turning, weights)
        return zip(offsets, weights, strict=True)


class PatternFunctions(Protocol[Made_co]):
    """Makes functions of the known terms, whatever these are."""

    @property
    def kept(self) -> Places:
        """Terms from which all others follow."""

    def __call__(self, unknown: Mask) -> Iterable[Made_co]:
        """For each pattern of unknown terms; all lack equally many of those kept."""


def patterns_of(missing: Mask) -> tuple[Mask, list[Places]]:
    """Each pattern of missing columns, and at which places the rows are that have it."""
    patterns, pattern = np.unique(missing, axis=0, return_inverse=True)
    order = np.argsort(pattern.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(pattern.ravel(), minlength=len(patterns)))
    return patterns, np.split(order, ends[:-1]) if len(patterns) else []


def each_pattern(
    unknown: Mask, parts: PatternFunctions[T] | None, single: Callable[[Mask], T], cells: int
) -> Iterator[tuple[int, T]]:
    """(place of the pattern, its functions), for all patterns of unknown terms, in any order.

    `parts` makes those of many patterns, `cells` numbers each; `single` those of one, given the
    known terms. Which of them is asked depends on the pattern alone: the company of a row changes
    nothing.
    """
    alone = np.ones(len(unknown), dtype=bool)
    if parts is not None:
        counts, step = unknown[:, parts.kept].sum(axis=1), max(1, _CELLS // cells)
        alone = (counts == 0) | (counts == len(parts.kept))
        for n in np.unique(counts[~alone]).tolist():
            mine = np.flatnonzero(counts == n)
            for start in range(0, len(mine), step):
                some = mine[start : start + step]
                yield from zip(some.tolist(), parts(unknown[some]), strict=True)
    yield from ((i, single(~unknown[i])) for i in np.flatnonzero(alone).tolist())


# Gaussian classes with a common covariance: their functions, for all terms or for those known.


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
        """The functions of N(μ_k, Σ) over the known terms: missing ones are marginalized. (S 14)"""
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
