"""Least squares on class indicators, from class statistics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.checks import non_negative
from sortal.learners.discriminant import refuse_constant
from sortal.models.functions import LinearMap
from sortal.models.geometry import survey
from sortal.models.indicator import IndicatorModel

if TYPE_CHECKING:
    from sortal.learners.discriminant import ClassStatistics


@dataclass(frozen=True)
class IndicatorOptions:
    """Checked options."""

    ridge: float = 0.0
    class_weight: Any = None

    def __post_init__(self) -> None:
        non_negative("ridge", self.ridge)


def build_indicator(stats: ClassStatistics, options: IndicatorOptions) -> IndicatorModel:
    """f_k(x) = β_k0 + β_kᵀx fitted to 1 in the rows of class k and 0 in the others. (Bar indicator)

    The normal equations are (S_T + ridge I) β_k = n_k (μ_k - μ): the moments are all they need.
    Where S_T is singular, the solution of least norm.
    """
    nothing = np.zeros((1, len(stats.center)))
    refuse_constant(survey(stats.total, nothing, stats.magnitude), stats)
    penalized = stats.total + options.ridge * np.eye(len(stats.center))
    geometry = survey(penalized, nothing, stats.magnitude)
    target = stats.weight[:, None] * (stats.gap - stats.mean)
    weights = geometry.sphere @ (geometry.sphere.T @ target.T)
    shares = stats.weight / stats.total_weight
    offsets = shares - stats.mean @ weights
    return IndicatorModel(
        classes=stats.classes,
        geometry=geometry,
        center=stats.center,
        gap=stats.gap,
        mean=stats.mean,
        shares=shares,
        total=stats.total,
        scores=LinearMap(
            stats.design,
            stats.center,
            weights,
            offsets,
            stats.conditional_mean(weights, offsets),
        ),
    )
