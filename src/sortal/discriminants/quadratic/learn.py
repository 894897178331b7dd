"""The quadratic discriminant of Gaussian classes with their own covariances, from statistics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.decision.geometry import EPS, involved, survey
from sortal.decision.options import read_priors, share
from sortal.discriminants.gaussian import GaussianClasses
from sortal.discriminants.linear.learn import check_covariance, pooled_divisor, shrunk
from sortal.discriminants.quadratic.model import (
    QuadraticClasses,
    QuadraticMap,
    QuadraticModel,
    Roots,
    completed,
    frame_of,
    kept_terms,
)
from sortal.discriminants.statistics import columns_of, refuse_constant
from sortal.errors import ParameterError

if TYPE_CHECKING:
    from sortal._typing import Float, Places
    from sortal.data.schema import Design
    from sortal.decision.geometry import Geometry
    from sortal.discriminants.quadratic.model import Frame
    from sortal.discriminants.statistics import ClassStatistics


@dataclass(frozen=True)
class QuadraticOptions:
    """Checked options."""

    covariance: str = "unbiased"
    pooling: Any = 0.0
    shrinkage: Any = None
    priors: Any = None
    class_weight: Any = None

    def __post_init__(self) -> None:
        check_covariance(self.covariance)
        _share_or_loo("pooling", self.pooling, "")
        if self.shrinkage is not None:
            _share_or_loo("shrinkage", self.shrinkage, "None, ")


def _share_or_loo(name: str, given: Any, none: str) -> None:
    """A number from 0 to 1, or the word by which it is chosen."""
    if isinstance(given, str) and given != "loo":
        raise ParameterError(
            f"{name}={given!r} is not known: it can be {none}a number from 0 to 1, or 'loo'."
        )
    if not isinstance(given, str):
        share(name, given)


def build_quadratic(stats: ClassStatistics, options: QuadraticOptions) -> QuadraticModel:
    """π_k = N_k / N, μ_k and Σ_k = S_k / (N_k - 1), or as the options say."""
    given = read_priors(options.priors, stats.classes)
    pooling = float(options.pooling)
    shrinkage = 0.0 if options.shrinkage is None else float(options.shrinkage)
    geometry, frame = _pooled(stats, options.covariance, shrinkage)
    scatters, divisors = mixed(stats, options.covariance, pooling)
    sizes = class_sizes(stats, pooling)
    kept = [kept_terms(frame.still, size) for size in sizes]
    own = tuple(
        own_geometry(stats, A, k, pooling, kept[k], shrinkage) for k, A in enumerate(scatters)
    )
    sigmas = [shrunk(A, shrinkage) / d for A, d in zip(scatters, divisors, strict=True)]
    found = [completed(*one, frame) for one in zip(own, sizes, sigmas, divisors, strict=True)]
    classes = QuadraticClasses(frame.into, np.array([one.sigma for one in found]), stats.present)
    log_dets = classes.without_absent(np.array([one.log_det for one in found]) + frame.log_det)
    whole = Roots(np.array([one.root for one in found]), log_dets)
    return QuadraticModel(
        classes=stats.classes,
        geometry=geometry,
        own=own,
        center=stats.center,
        gap=stats.gap,
        prior=stats.weight / stats.total_weight if given is None else given,
        pooling=pooling,
        shrinkage=shrinkage,
        scores=QuadraticMap(stats.design, stats.exact_means, whole, classes),
    )


def _pooled(stats: ClassStatistics, covariance: str, shrinkage: float) -> tuple[Geometry, Frame]:
    """The frame of the pooled covariance, as the linear discriminant has it."""
    divisor = pooled_divisor(stats, covariance)
    plain = GaussianClasses(
        stats.weight, stats.gap, stats.mean, stats.within, divisor, stats.magnitude
    )
    geometry, within = plain.survey(), stats.within
    refuse_constant(geometry, stats)
    if shrinkage > 0:
        within = shrunk(stats.within, shrinkage)
        geometry = survey(within, stats.between, stats.magnitude, settled=True)
    return geometry, frame_of(geometry, within, stats.total_weight, divisor)


def mixed(stats: ClassStatistics, covariance: str, pooling: float) -> tuple[Float, Float]:
    """(1 - λ) S_k + λ S and (1 - λ) D_k + λ D, whose quotient is the covariance. (S 43)"""
    divisor = pooled_divisor(stats, covariance)
    divisors = (1 - pooling) * class_divisors(stats, covariance) + pooling * divisor
    matrices = (1 - pooling) * stats.own_scatter + pooling * stats.within
    return matrices, np.where(divisors > 0, divisors, 1.0)


def class_divisors(stats: ClassStatistics, covariance: str) -> Float:
    """N_k - 1 or N_k, in the unit of the weights: of fractional weights, sizes count rows."""
    n = stats.rows
    if covariance == "mle" or stats.exact:
        return stats.weight
    safe = np.where(n > 1, n, 1.0)
    return np.asarray(stats.weight * np.where(n > 1, (safe - 1) / safe, 1.0))


def class_sizes(stats: ClassStatistics, pooling: float) -> Float:
    """The size of the numbers that a class, a row each, or all classes have in the columns."""
    root = np.sqrt(np.where(stats.present, stats.weight, 1.0))[:, None]
    deviation = np.sqrt(np.diagonal(stats.scatter, axis1=1, axis2=2)) / root
    sizes = np.hypot(deviation, stats.means)
    sizes = sizes if pooling == 0 else np.broadcast_to(sizes.max(axis=0), sizes.shape)
    all_rows = stats.size / np.sqrt(stats.total_weight)
    return np.asarray(sizes + EPS * np.where(all_rows > 0, all_rows, 1.0))


def own_geometry(
    stats: ClassStatistics,
    matrix: Float,
    k: int,
    pooling: float,
    kept: Places,
    shrinkage: float = 0.0,
) -> Geometry:
    """Where a class varies by itself, given its matrix, among terms from which the others follow.

    Asked in units of the spread of all rows, so that a basis of what does not vary is as good in
    every column. Rows differ from their mean in n - 1 ways at most, and so cannot vary in more
    directions, however the last digits of their scatter look.
    """
    size = stats.size
    size = np.exp2(np.rint(np.log2(np.where(size > 0, size, 1.0))))  # powers of 2 round nothing
    bound = pooling == 0 and shrinkage == 0 and not stats.exact
    most = max(stats.rows[k] - 1, 0) if bound else np.inf
    diagonal, slack = np.diag(matrix), np.broadcast_to(stats.slack, stats.gap.shape)
    slack = (1 - pooling) * slack[k] + pooling * slack.sum(axis=0)
    noise = float((slack / np.where(diagonal > 0, diagonal, np.inf)).max(initial=0.0))
    scaled = (shrunk(matrix, shrinkage) / np.outer(size, size))[np.ix_(kept, kept)]
    nothing = np.zeros((1, len(kept)))
    found = survey(scaled, nothing, nothing[0], most, noise)
    back = np.zeros((len(size), len(kept)))
    back[kept, np.arange(len(kept))] = 1 / size[kept]
    return replace(
        found,
        sphere=back @ found.sphere,
        still=back @ found.still,
        apart=back @ found.apart,
        size=back @ found.size,
        weakest=back @ found.weakest,
    )


def still_columns(model: QuadraticModel, design: Design) -> dict[int, list[str]]:
    """For each class that stands still where others vary, the columns concerned."""
    geometry, found = model.geometry, {}
    elsewhere = np.hstack([geometry.still, geometry.apart])
    for k, own in enumerate(model.own):
        if own.sphere.shape[1] < geometry.sphere.shape[1] and np.isfinite(model.log_dets[k]):
            still = own.still / np.linalg.norm(own.still, axis=0)
            found[k] = columns_of(design, involved(still, geometry.size, elsewhere))
    return found
