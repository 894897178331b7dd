"""Gaussian classes and rows with missing terms: many missing patterns at a time.

A pattern of its own for nearly every row is what missing values here and there in many columns come
to. The inverse of a covariance without some terms follows from the whole inverse by a matrix as
small as the number of these terms, and small matrices are solved in stacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np
from scipy.linalg import qr

from sortal._typing import Float, Mask
from sortal.decision.geometry import EPS, VARIANCE_FLOOR, Geometry, linear_functions, survey
from sortal.modelfile.fields import INF, check_scatter, check_squares, need
from sortal.modelfile.record import limits, record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sortal._typing import Places


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


@record()
class GaussianClasses:
    """Class means as distances `gap` from a center, and a within-class matrix W; Σ = W / divisor.

    `weight` is that of each class; `mean` the distance of the mean of all rows; `magnitude` as in
    `geometry.survey`.
    """

    weight: Float = limits("classes", least=0.0)
    gap: Float = limits("classes", "terms")
    mean: Float = limits("terms")
    within: Float = limits("terms", "terms")
    divisor: float = limits(least=0.0)
    magnitude: Float = limits("terms", least=0.0)

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
        """The functions of N(μ_k, Σ) over the known terms: missing ones are marginalized. (S 14)

        The weights of unknown terms are zero.
        """
        root = self._root(known)
        offsets, weights = linear_functions(root, self.gap, self.mean)
        return self.without_absent(offsets), weights

    def ways(self, known: Mask, gap: Float, root: Float) -> tuple[Float, Float]:
        """(R, r): over the known terms (x - μ_k)ᵀR + r_k stands for (x - μ_k)ᵀroot.

        R is the root of Σ over these terms, and r is 0.
        """
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
        """The same for many sets of known terms at a time; None where W is nearly singular.

        `fewer` are terms from which the others follow. Without parts, each set is computed by
        itself.
        """
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


# --- Each with its own covariance: their roots and determinants, for known terms ------------------

# All of them live in one frame, the coordinates in which the pooled covariance is the identity:
# there units have gone, a determinant is one relative to the pooled one, and a class that does
# not vary in a direction can be told to vary there as all classes together do.

# How much of a standard deviation rounding may make of a row.
_LOST = 1e-8


@dataclass(frozen=True, eq=False)
class Frame:
    """Coordinates t = xᵀ out, and back x = intoᵀ t: the pooled covariance is I in them.

    `out` is p × r and `into` r × p, into · out = I; directions along which nothing varies, `still`,
    are gone.
    """

    out: Float
    into: Float
    still: Float

    @property
    def log_det(self) -> float:
        """ln det of the pooled covariance where every term varies; else 0, and ratios are left."""
        return log_det_of(self.out)

    def volume(self, kept: Places) -> float:
        """ln of the share that lengths along all terms keep where only those kept are looked at."""
        dropped = np.setdiff1d(np.arange(len(self.out)), kept)
        return float(np.linalg.slogdet(self.still[dropped])[1])

    def log_ratio(self, root: Float) -> float:
        """ln det of a covariance less that of the pooled one; both roots are at right angles to
        what stands still, so that any terms from which the others follow will do.
        """
        kept = kept_terms(self.still, np.ones(len(self.out)))
        return log_det_of(root[kept]) - log_det_of(self.out[kept])

    def log_ratio_over(self, kept: Places, root: Float) -> float:
        """The same, given a root that is 0 for all terms but those kept. (S 100)"""
        usual = kept_terms(self.still, np.ones(len(self.out)))
        pooled = log_det_of(self.out[usual]) + 2 * self.volume(usual)
        return log_det_of(root[kept]) - 2 * self.volume(kept) - pooled


@record()
class Roots:
    """Per class R_k with R_kᵀΣ_kR_k = I, p × r, and ln det Σ_k; where r < p, less that of Σ."""

    roots: Float = limits("classes", "terms", "rank")
    log_dets: Float = limits("classes", most=INF)


def log_det_of(root: Float) -> float:
    """ln det Σ from its root, or 0 where Σ is singular."""
    p, r = root.shape
    if p != r:
        return 0.0
    size = np.linalg.norm(root, axis=1)
    return -2.0 * float(np.linalg.slogdet(root / size[:, None])[1] + np.log(size).sum())


def frame_of(geometry: Geometry, within: Float, total_weight: float, divisor: float) -> Frame:
    """The frame of a pooled covariance within / divisor, floored as in (S 12)."""
    floor = np.sqrt(VARIANCE_FLOOR * geometry.spread / total_weight)
    varies = geometry.sphere.T @ within / np.sqrt(divisor)
    into = np.vstack([varies, floor[:, None] * geometry.apart.T])
    return Frame(geometry.root(total_weight, divisor), into, geometry.still)


@dataclass(frozen=True, eq=False)
class Completed:
    """A root of a class's covariance, ln det Σ_k less that of Σ, and Σ_k itself."""

    root: Float
    log_det: float
    sigma: Float


def kept_terms(still: Float, size: Float) -> Places:
    """Terms from which all others follow, given what stands still in all rows.

    Of terms that are tied those of the largest `size` are dropped: their last digits are coarser
    than all that the others hold. (S 100)
    """
    if not still.size:
        return np.arange(len(still))
    order = qr((still * size[:, None]).T, mode="r", pivoting=True)[1]
    return np.sort(order[still.shape[1] :])


def completed(own: Geometry, size: Float, sigma: Float, divisor: float, frame: Frame) -> Completed:
    """A class as used: where it stands still, with the pooled variance. (S 44)

    `own` is the geometry of the class's matrix A over the terms kept, and `sigma` = A / divisor;
    the directions of the former are at right angles where columns have the spread of all rows for
    a unit. `size` is that of the numbers in the class.
    """
    r = frame.out.shape[1]
    root = own.sphere * np.sqrt(divisor)
    if root.shape[1] == r:
        log_det = frame.log_ratio_over(kept_terms(frame.still, size), root)
        return Completed(_least_norm(root, frame.still, size), log_det, sigma)
    left, sizes, _ = np.linalg.svd(frame.into @ root, full_matrices=False)
    null = _null(frame.into @ own.still, r - root.shape[1])
    across = np.eye(r) - null @ null.T
    # at right angles to what is taken from all classes together: Σ_k is 0 along it anyway
    inside = np.hstack([across @ (left * sizes), null])
    root, shape = frame.out @ inside, frame.out.T @ sigma @ frame.out
    shape = across @ shape @ across + null @ null.T
    return Completed(root, frame.log_ratio(root), frame.into.T @ shape @ frame.into)


def _regular_root(sigma: Float, kept: Places) -> Float:
    """A root of a covariance that has an inverse over the terms kept, 0 for others."""
    own = sigma[np.ix_(kept, kept)]
    scale = np.sqrt(np.where(np.diag(own) > 0, np.diag(own), 1.0))
    values, vectors = np.linalg.eigh(own / np.outer(scale, scale))
    # rounding must not make a variance negative
    values = np.maximum(values, EPS * np.maximum(values[-1:], 1.0))
    root = np.zeros((len(sigma), len(kept)))
    root[kept] = vectors / np.sqrt(values) / scale[:, None]
    return root


def _least_norm(root: Float, still: Float, size: Float) -> Float:
    """The root at right angles to what stands still, if the last digits of rows allow that.

    On rows that lie where all others do it is the same root; there, what is taken away adds up to
    0 but for rounding, which a class far narrower than its numbers cannot bear.
    """
    away = still @ (still.T @ root)
    lost = EPS * (np.abs(away).T @ size).max(initial=0.0)
    return root - away if lost <= _LOST else root


def _null(directions: Float, n: int) -> Float:
    """An orthonormal basis of the span of directions in a frame, which is known to have n of them.

    What stands still in all classes is 0 there but for rounding, and falls away.
    """
    length = np.linalg.norm(directions, axis=0)
    largest = length.max(initial=0.0)
    left, _, _ = np.linalg.svd(directions / (largest if largest > 0 else 1.0))
    return np.asarray(left[:, :n])


@dataclass(frozen=True, eq=False)
class QuadraticParts:
    """Roots and determinants over the known terms, whatever these are: (S 49) by (S 95).

    `inverses` are a class each and `roots` theirs, over the terms kept. As long as others that
    follow from these are known, determinants are relative to that of the pooled covariance, whose
    inverse is `pooled`.
    """

    inverses: list[Inverse]
    roots: Float
    log_dets: Float
    pooled: Inverse

    @property
    def kept(self) -> Places:
        """The terms over which the covariances can be inverted."""
        return self.pooled.kept

    def __call__(self, unknown: Mask) -> Iterator[Roots]:
        """For each pattern of unknown terms; all lack equally many of those kept."""
        places = self.pooled.places(unknown)
        pairs = zip(self.inverses, self.roots, strict=True)
        roots = np.stack([inverse.lessen(root, places) for inverse, root in pairs], axis=1)
        more = np.stack([inverse.log_dets(places) for inverse in self.inverses], axis=1)
        pooled = self.pooled.log_dets(places) - self.pooled.log_det
        tied = ~np.delete(unknown, self.kept, axis=1).all(axis=1)
        return map(Roots, roots, self.log_dets + more - np.where(tied, pooled, 0.0)[:, None])


@record()
class QuadraticClasses:
    """Covariances Σ_k; that of all classes is intoᵀ into.

    `present` says which classes have rows: others have no density anywhere.
    """

    into: Float = limits("rank", "terms")
    sigmas: Float = limits("classes", "terms", "terms")
    present: Mask = limits("classes")

    def check(self) -> None:
        """Refuse covariances that are none, and classes of which none has rows."""
        check_scatter(self.sigmas)
        check_squares(self.into)
        check_squares(np.sqrt(np.diagonal(self.sigmas, axis1=1, axis2=2)))
        need(self.present.any(), "no class with rows")

    def functions(self, known: Mask) -> Roots:
        """Roots and determinants of N(μ_k, Σ_k) over the known terms, 0 for others. (S 49)"""
        part = self.into[:, known]
        pooled = part.T @ part
        nothing = np.zeros((1, pooled.shape[0]))  # what is rounding has left the frame already
        geometry = survey(pooled, nothing, nothing[0])
        frame = Frame(geometry.sphere, geometry.sphere.T @ pooled, geometry.still)
        roots = np.zeros((len(self.sigmas), len(known), geometry.sphere.shape[1]))
        log_dets = np.zeros(len(roots))
        for k, sigma in enumerate(self.sigmas):
            own = sigma[np.ix_(known, known)]
            size = np.sqrt(np.diag(own)) + EPS * np.sqrt(np.diag(pooled))
            kept = kept_terms(frame.still, np.where(size > 0, size, 1.0))
            root = _regular_root(own, kept)
            log_dets[k] = frame.log_ratio_over(kept, root) + frame.log_det
            roots[k, known] = _least_norm(root, frame.still, size)
        return Roots(roots, self.without_absent(log_dets))

    def parts(self, fewer: Places) -> QuadraticParts | None:
        """The same for many sets of known terms at a time, unless a Σ_k is nearly singular."""
        rank, p = self.into.shape
        if rank not in (p, len(fewer)):
            return None
        kept = np.arange(p) if rank == p else fewer
        found = [Inverse.of(one, kept) for one in (self.into.T @ self.into, *self.sigmas)]
        regular = [inverse for inverse in found if inverse is not None]
        if len(regular) < len(found):
            return None
        pooled, *inverses = regular
        log_dets = self.without_absent(np.array([-inverse.log_det for inverse in inverses]))
        roots = np.array([inverse.root for inverse in inverses])
        return QuadraticParts(inverses, roots, log_dets, pooled)

    def without_absent(self, log_dets: Float) -> Float:
        """A class without rows has no density anywhere."""
        return np.where(self.present, log_dets, np.inf)
