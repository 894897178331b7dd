"""The quadratic discriminant: one Gaussian a class, each with its own covariance."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.linalg import qr

from sortal.decision.geometry import EPS, VARIANCE_FLOOR, Geometry, survey
from sortal.decision.posterior import across, log_of
from sortal.discriminants.gaussian import Inverse, each_pattern, patterns_of
from sortal.discriminants.linear_functions import Means, QuadraticBoundary, TermBlock, pair_of
from sortal.modelfile.arrays import Array, RecordField
from sortal.modelfile.fields import (
    INF,
    FromSchema,
    Layout,
    Number,
    OptionalField,
    Several,
    check_prior,
    check_scatter,
    check_squares,
    need,
)
from sortal.records.tables import Table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sortal._typing import Counts, Float, Mask, Places
    from sortal.data.columns import Values
    from sortal.data.schema import Design
    from sortal.data.sources import Batch
    from sortal.decision.scores import Mapped


# Gaussian classes, each with its own covariance: their roots and determinants, for known terms.
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


@dataclass(frozen=True, eq=False)
class Roots:
    """Per class R_k with R_kᵀΣ_kR_k = I, p × r, and ln det Σ_k; where r < p, less that of Σ."""

    roots: Float
    log_dets: Float

    LAYOUT: ClassVar[Layout] = Layout(
        roots=Array("f8", "classes", "terms", "rank"),
        log_dets=Array("f8", "classes", most=INF),
    )


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


@dataclass(frozen=True, eq=False)
class QuadraticClasses:
    """Covariances Σ_k; that of all classes is intoᵀ into.

    `present` says which classes have rows: others have no density anywhere.
    """

    into: Float
    sigmas: Float
    present: Mask

    LAYOUT: ClassVar[Layout] = Layout(
        into=Array("f8", "rank", "terms"),
        sigmas=Array("f8", "classes", "terms", "terms"),
        present=Array("b1", "classes"),
    )

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


# --- ln f_k(x) of Gaussian classes with their own covariances, for rows of a block ---------------


@dataclass(frozen=True, eq=False)
class QuadraticMap:
    """-½ ln det Σ_k - ½ ‖(x - μ_k)ᵀR_k‖², a column a class, up to a term common to all. (Bar qda)

    `missing` gives roots where only some terms are known.
    """

    design: Design
    means: Means
    whole: Roots
    missing: QuadraticClasses

    LAYOUT: ClassVar[Layout] = Layout(
        design=FromSchema("design"),
        means=RecordField(Means),
        whole=RecordField(Roots, rank="rank"),
        missing=RecordField(QuadraticClasses, rank="rank"),
    )

    @property
    def center(self) -> Float:
        """What rows are compared with where single ones are looked at."""
        return self.means.center

    def __call__(self, batch: Batch) -> Mapped:
        """The functions of a block's rows."""
        block = TermBlock.of(self.design, batch)
        values = -0.5 * (self.means.squares(block, self.whole.roots) + self.whole.log_dets)
        # rows with missing values, and those so far from all classes that their squares are
        # infinite
        rows = np.flatnonzero(~(across(np.maximum, values) > -np.inf))
        missing = block.missing(rows)
        patterns, places = patterns_of(missing)
        unknown, parts = patterns[:, self.design.owner], self.parts if len(rows) else None
        single, cells = self.missing.functions, self.whole.roots.size
        for i, some in each_pattern(unknown, parts, single, cells):
            these = rows[places[i]]
            squares = self.means.some_squares(block, these, some.roots)
            values[these] = -0.5 * (squares + some.log_dets)
        return block.mapped(values, rows, missing)

    @cached_property
    def parts(self) -> QuadraticParts | None:
        """Roots where terms are not known, for many patterns at a time."""
        return self.missing.parts(self.design.fewer_terms)


@dataclass(frozen=True, eq=False)
class QuadraticModel:
    """Class means center + gap[k], functions by covariances as used, priors.

    `geometry` is that of the pooled covariance; `own` are those of the classes' matrices, which say
    what each class does not tell by itself. `scores` are ln f_k(x) up to a term common to all
    classes. `curve` is what was tried where pooling or shrinkage were chosen by leaving out rows.
    """

    classes: Values
    geometry: Geometry
    own: tuple[Geometry, ...]
    center: Float
    gap: Float
    prior: Float
    pooling: float
    shrinkage: float
    scores: QuadraticMap
    curve: Table | None = None

    LAYOUT: ClassVar[Layout] = Layout(
        classes=FromSchema("classes"),
        geometry=RecordField(Geometry),
        own=Several(RecordField(Geometry), "classes"),
        center=Array("f8", "terms"),
        gap=Array("f8", "classes", "terms"),
        prior=Array("f8", "classes", least=0.0),
        pooling=Number(least=0.0, most=1.0),
        shrinkage=Number(least=0.0, most=1.0),
        scores=RecordField(QuadraticMap),
        curve=OptionalField(RecordField(Table)),
    )

    def check(self) -> None:
        """Refuse priors of nothing."""
        check_prior(self.prior)

    @property
    def size(self) -> int:
        """How many numbers predict needs: K(p + p(p + 1)/2 + 1), a mean, a matrix, a constant."""
        K, p = self.gap.shape
        return int(K * (p + p * (p + 1) // 2 + 1))

    @property
    def covariances(self) -> Float:
        """Σ_k as used."""
        return self.scores.missing.sigmas

    @property
    def log_prior(self) -> Float:
        """ln π_k."""
        return log_of(self.prior)

    @property
    def ranks(self) -> Counts:
        """The rank of each class's own matrix."""
        return np.array([own.sphere.shape[1] for own in self.own])

    @property
    def rank(self) -> int:
        """The rank of the covariances as used."""
        return int(self.scores.whole.roots.shape[2])

    @property
    def log_dets(self) -> Float:
        """ln det Σ_k as used; where terms are tied, less that of the pooled Σ."""
        return self.scores.whole.log_dets

    def inverse(self, k: int) -> Float:
        """Σ_k⁻¹."""
        root = self.scores.whole.roots[k]
        return np.asarray(root @ root.T)

    def functions(self, log_prior: Float) -> tuple[Float, Float, Float]:
        """(constants, linear weights, matrices) of g_k(x) = c_k + b_kᵀx + xᵀM_kx, a class a row."""
        means = self.center + self.gap
        inverses = np.array([self.inverse(k) for k in range(len(means))])
        linear = np.einsum("kij,kj->ki", inverses, means)
        size = self.log_dets + np.einsum("ki,ki->k", means, linear)
        return log_prior - 0.5 * size, linear, -0.5 * inverses

    def boundary(self, log_prior: Float, first: Any, second: Any) -> QuadraticBoundary:
        """Where g_k = g_l: the log-odds of (Bar qda) as a polynomial in x."""
        constants, linear, matrices = self.functions(log_prior)
        k, l = pair_of(self.classes, constants, first, second)  # noqa: E741
        return QuadraticBoundary(
            float(constants[k] - constants[l]), linear[k] - linear[l], matrices[k] - matrices[l]
        )
