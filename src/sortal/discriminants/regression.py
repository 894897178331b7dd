"""Regression on class indicators, by least squares, from class statistics."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sortal._typing import Float
from sortal.data.columns import Values
from sortal.decision.geometry import Geometry, survey
from sortal.decision.options import categorical_features, class_weight, costs, n_jobs, number
from sortal.discriminants.fisher import BY_GAUSSIANS, given_priors, rule_priors, rule_shift
from sortal.discriminants.functions import LinearMap
from sortal.discriminants.learn import filled_map
from sortal.discriminants.statistics import (
    FILLED,
    INDICATORS,
    class_statistics,
    missing_policy,
    refuse_constant,
    unknown_policy,
)
from sortal.errors import ParameterError
from sortal.modelfile.fields import check_scatter
from sortal.modelfile.record import limits, of_schema, record

if TYPE_CHECKING:
    from sortal._typing import CategoricalFeatures, ClassWeight, CostsLike, PriorsLike
    from sortal.base.learner import Training
    from sortal.data.columns import Schema
    from sortal.discriminants.statistics import ClassStatistics, MissingPolicy, UnknownPolicy
    from sortal.summaries.counts import DiscriminantSummary


@dataclass(eq=False, repr=False)
class IndicatorOptions:
    """The parameters of regression on class indicators."""

    ridge: float = number(
        0.0,
        """Penalty ridge · ‖β_k‖², which leaves β_k0 free. With 0 and columns that depend on each
        other, the solution of least norm.""",
    )
    _: KW_ONLY
    priors: PriorsLike = given_priors("the class of the largest function is predicted")
    class_weight: ClassWeight = class_weight()
    costs: CostsLike = costs(f"{BY_GAUSSIANS} Of two\n    classes only.")
    categorical_features: CategoricalFeatures = categorical_features(f"{INDICATORS}.")
    missing: MissingPolicy = missing_policy(
        f"{FILLED}\nWithout a ridge that is what a fit without the column would have said."
    )
    unknown: UnknownPolicy = unknown_policy()
    n_jobs: int | None = n_jobs()


@record()
class IndicatorModel:
    """f_k(x) = share of class k + (x - mean of all rows)ᵀβ_k; the mean is center + `mean`."""

    classes: Values = of_schema()
    geometry: Geometry
    center: Float = limits("terms")
    gap: Float = limits("classes", "terms")
    mean: Float = limits("terms")
    shares: Float = limits("classes", least=0.0)
    total: Float = limits("terms", "terms")
    scores: LinearMap = limits(functions="classes")
    prior: ClassVar[None] = None

    def check(self) -> None:
        """Refuse what is no scatter of rows."""
        check_scatter(self.total)

    @property
    def condition(self) -> float:
        """The condition number of S_T + ridge I, scaled to a diagonal of ones."""
        return self.geometry.condition

    @property
    def anchor(self) -> Float:
        """Where classes stand, from the center: at the mean of all rows."""
        return np.broadcast_to(self.mean, self.gap.shape)

    @property
    def unit(self) -> float:
        """The size of differences between functions."""
        return 1.0

    @property
    def size(self) -> int:
        """How many numbers predict needs: K functions of p terms and a constant."""
        return self.scores.size


def learn_indicator(
    summary: DiscriminantSummary | ClassStatistics,
    schema: Schema,
    options: IndicatorOptions,
    training: Training | None,  # noqa: ARG001
) -> IndicatorModel:
    """The model of a summary."""
    return build_indicator(class_statistics(summary, schema, options.class_weight), options)


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
    offsets = stats.shares - stats.mean @ weights
    offsets = _by_gaussians(stats, options, offsets, weights)
    return IndicatorModel(
        classes=stats.classes,
        geometry=geometry,
        center=stats.center,
        gap=stats.gap,
        mean=stats.mean,
        shares=stats.shares,
        total=stats.total,
        scores=filled_map(stats, weights, offsets),
    )


def _by_gaussians(
    stats: ClassStatistics, options: IndicatorOptions, offsets: Float, weights: Float
) -> Float:
    """Offsets that decide by priors or costs, where given, along d = f_1 - f_2. (S 108)"""
    prior = rule_priors(options.priors, options.costs, stats)
    if prior is None or len(stats.classes) == 1:
        return offsets
    if len(stats.classes) > 2:
        given = "priors" if options.costs is None else "costs"
        raise ParameterError(
            f"{given} cannot be given to an IndicatorRegression of {len(stats.classes)} classes, "
            "only of two: leave them out, or use LinearDiscriminant."
        )
    w = weights[:, 0] - weights[:, 1]
    d, odds = offsets[0] - offsets[1], rule_shift(stats.classes, prior, options.costs)
    m_first, m_last = d + stats.gap @ w
    variance = float(w @ stats.within @ w) / stats.pooled_divisor("unbiased")
    # where nothing tells the classes apart, all rows have the log-odds of the priors
    more = odds * variance / (m_first - m_last) - (m_first + m_last) / 2 if w.any() else odds - d
    return np.asarray(offsets + np.array([more, -more]) / 2)
