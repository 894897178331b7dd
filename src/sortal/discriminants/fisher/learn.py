"""Fisher's discriminant from class statistics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.decision.geometry import EPS, survey
from sortal.decision.options import n_directions
from sortal.discriminants.fisher.model import Criterion, FisherModel
from sortal.discriminants.gaussian import linear_functions
from sortal.discriminants.linear.learn import nearest
from sortal.discriminants.linear_functions import LinearMap
from sortal.discriminants.statistics import (
    beyond_rounding,
    eigenvectors,
    oriented,
    refuse_constant,
    within_lengths,
)
from sortal.errors import choose

if TYPE_CHECKING:
    from sortal._typing import Float, Mask
    from sortal.decision.geometry import Geometry
    from sortal.discriminants.statistics import ClassStatistics


@dataclass(frozen=True)
class FisherOptions:
    """Checked options."""

    within: str = "scatter"
    n_components: Any = None
    threshold: str = "midpoint"

    def __post_init__(self) -> None:
        choose("within", self.within, ("scatter", "covariance"))
        choose("threshold", self.threshold, ("midpoint", "least_error"))


def build_fisher(stats: ClassStatistics, options: FisherOptions) -> FisherModel:
    """Algorithm 20.1, also for more than two classes and where S is singular."""
    weight, within = _criterion(stats, options.within)
    mean = weight @ stats.gap / weight.sum()
    largest = np.abs(stats.means).max(axis=0)
    spread = np.sqrt(weight)[:, None] * beyond_rounding(stats.gap - mean, largest)
    two = len(stats.classes) == 2
    # from the class that sorts last to the first
    difference = beyond_rounding(stats.gap[0] - stats.gap[-1], largest)
    geometry = survey(within, spread, np.sqrt(weight.sum()) * largest, settled=True)
    refuse_constant(geometry, stats)
    if two:
        directions, eigenvalues = _two_classes(geometry, difference)
    else:
        directions, eigenvalues = eigenvectors(geometry, spread)
    most = n_directions(options.n_components, len(stats.classes), len(stats.center))
    directions, eigenvalues = directions[:, :most], eigenvalues[:most]
    lengths = within_lengths(directions, eigenvalues, spread)
    norm = np.linalg.norm(directions, axis=0)
    directions, lengths = oriented(directions / norm, stats.gap), lengths / norm
    threshold = None
    if two and directions.size:
        m_first, m_last = stats.gap @ directions[:, 0]
        threshold, unit = float(m_first + m_last) / 2, float(abs(m_first - m_last))
    else:
        unit = _unit(stats.gap - mean, directions / lengths)
    scores = _scores(stats, directions, lengths, threshold)
    if threshold is None:
        root = geometry.root(1.0, 1.0) if most == len(stats.classes) - 1 else directions / lengths
        found = nearest(stats, root, 1 / weight.sum())
        scores, unit = replace(scores, nearest=found), unit if found is None else 1 / weight.sum()
    return FisherModel(
        classes=stats.classes,
        criterion=Criterion(difference[None] if two else spread, within),
        geometry=geometry,
        center=stats.center,
        gap=stats.gap,
        weight=stats.weight,
        scatter=stats.scatter,
        directions=directions,
        eigenvalues=eigenvalues,
        lengths=lengths,
        threshold=threshold,
        unit=unit,
        scores=scores,
        coordinates=_map(stats, directions, np.zeros(directions.shape[1])),  # (Sch 4-3)
    )


def move_threshold(model: FisherModel, threshold: float) -> FisherModel:
    """The same model with another separating point on w."""
    moved = _around(model.directions[:, :1], threshold)
    missing = replace(model.scores.missing, offsets=moved[1])  # type: ignore[type-var]
    scores = replace(model.scores, weights=moved[0], offsets=moved[1], missing=missing)
    return replace(model, threshold=threshold, scores=scores)


def _around(w: Float, threshold: float) -> tuple[Float, Float]:
    """Two functions: ± half the distance from the separating point."""
    return np.hstack([w, -w]) / 2, np.array([-threshold, threshold]) / 2


def _unit(gap: Float, sphered: Float) -> float:
    """The size of differences between functions of the nearest mean; 1 without any direction."""
    return float(((gap @ sphered) ** 2).sum(axis=1).max(initial=0.0)) or 1.0


def _criterion(stats: ClassStatistics, within: str) -> tuple[Float, Float]:
    """The weight of each class in B, and S: scatters added up, or covariances.

    Covariances are scatters divided by n_k, as in (ZM 20.5). With them every class weighs alike,
    however many rows it has: (Sch 4-6a) and, from a sample, (Sch 4-6b).
    """
    if within == "scatter":
        return stats.weight, stats.within
    unit = 1.0 / np.where(stats.present, stats.weight, 1.0)
    return stats.present.astype(np.float64), np.einsum("k,kij->ij", unit, stats.scatter)


def _two_classes(geometry: Geometry, difference: Float) -> tuple[Float, Float]:
    """w = S⁻¹(μ_1 - μ_2) and J, by (ZM 20.10), (Sch 4-12) or, of covariances, (Sch 4-9e).

    The length of w is such that wᵀSw = 1. Where S is singular, S_T⁺(μ_1 - μ_2): if the means differ
    along a direction without scatter, it is that direction, and J is infinite.
    """
    if geometry.apart.size:
        return geometry.apart @ (geometry.apart.T @ difference)[:, None], np.array([np.inf])
    u = geometry.sphere.T @ difference
    if not u.any():  # the classes have one mean: no direction tells them apart
        return geometry.sphere[:, :0], np.empty(0)
    return (geometry.sphere @ (u / np.linalg.norm(u)))[:, None], np.array([float(u @ u)])


def _scores(
    stats: ClassStatistics, directions: Float, lengths: Float, threshold: float | None
) -> LinearMap:
    """Functions whose largest names the class, by (Sch LDF).

    Two classes: ± half the distance from the separating point. More: the nearest projected mean
    where wᵀSw = 1, as functions of unit Gaussians. (S 99)
    """
    if threshold is not None:
        return _map(stats, *_around(directions[:, :1], threshold))
    offsets, weights = linear_functions(directions / lengths, stats.gap, stats.mean)
    return _map(stats, weights, np.where(stats.present, offsets, -np.inf))


def _map(stats: ClassStatistics, weights: Float, offsets: Float) -> LinearMap:
    missing = stats.conditional_mean(weights, offsets)
    return LinearMap(stats.design, stats.center, weights, offsets, missing)


def least_error(projected: Float, is_first: Mask, weight: Float, midpoint: float) -> float:
    """The point v on w with the least weight on its wrong side, the first class being above it.

    It lies halfway between two neighboring projections; of equals the nearest to the midpoint.
    """
    order = np.argsort(projected, kind="stable")
    a, first, w = projected[order], is_first[order], weight[order]
    steps = np.flatnonzero(a[1:] > a[:-1])
    if not len(steps):
        return midpoint
    below = np.cumsum(np.where(first, w, -w))  # wrong below, less what would be wrong above
    cuts = a[steps] + (a[steps + 1] - a[steps]) / 2
    wrong = below[steps]
    best = wrong <= wrong.min() + 8 * EPS * w.sum()
    cuts = cuts[best]
    return float(cuts[np.abs(cuts - midpoint).argmin()])
