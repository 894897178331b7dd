"""Fisher's discriminant: directions from class statistics, and any direction evaluated."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.special import ndtr

from sortal._typing import Float
from sortal.data.columns import Values
from sortal.decision.geometry import EPS, Geometry, linear_functions, survey
from sortal.decision.options import (
    categorical_features,
    choose,
    costs,
    n_directions,
    n_jobs,
    one_of,
    option,
    read_priors,
)
from sortal.decision.posterior import log_of
from sortal.discriminants.functions import (
    ConditionalMean,
    LinearMap,
    cost_shift,
    pair_of,
    project_training,
)
from sortal.discriminants.learn import filled_map, nearest
from sortal.discriminants.statistics import (
    FILLED,
    INDICATORS,
    beyond_rounding,
    class_statistics,
    eigenvectors,
    missing_policy,
    oriented,
    refuse_constant,
    unknown_policy,
    within_lengths,
)
from sortal.engines import gather
from sortal.errors import ParameterError
from sortal.modelfile.fields import INF, check_prior, check_scatter, check_squares, need
from sortal.modelfile.record import limits, of_schema, record
from sortal.records.tables import Shown, sheet

if TYPE_CHECKING:
    from sortal._typing import CategoricalFeatures, CostsLike, Mask, PriorsLike
    from sortal.base.learner import Training
    from sortal.data.columns import Schema
    from sortal.discriminants.statistics import ClassStatistics, MissingPolicy, UnknownPolicy
    from sortal.records.tables import Columns, Table
    from sortal.summaries.counts import DiscriminantSummary


Within = Literal["scatter", "covariance"]
Threshold = Literal["midpoint", "least_error"]


# --- Priors and costs where nothing is assumed of rows: Gaussians along the directions found ------

BY_GAUSSIANS = """The classes are taken as Gaussians along the directions, with their common
    covariance; without `priors`, priors are the proportions of the classes."""


def given_priors(rule: str) -> Any:
    """Priors of learners that have their own rule without."""
    return option(
        None,
        'array-like of shape (n_classes,), dict or "empirical"',
        f"""π in the order of `classes_`, or by label; "empirical": the proportions of the classes.
        By default, without costs, {rule}.""",
    )


def rule_priors(given: Any, costs: CostsLike, stats: ClassStatistics) -> Float | None:
    """Priors as given, or the proportions of the classes; None without priors and costs."""
    if given is None and costs is None:
        return None
    if given is None or isinstance(given, str):
        choose("priors", given or "empirical", ("empirical",))
        return stats.shares
    return read_priors(given, stats.classes)


def rule_shift(classes: Values, prior: Float, costs: Any) -> float:
    """What priors and costs add to the log-odds of the first of two classes. (S 107)"""
    pair_of(classes, log_of(prior), *classes)
    odds = float(np.log(prior[0]) - np.log(prior[1]))
    return odds if costs is None else odds + cost_shift(costs, classes, *classes)


# --- Fisher's discriminant ------------------------------------------------------------------------


@dataclass(eq=False, repr=False)
class FisherOptions:
    """The parameters of Fisher's discriminant."""

    within: Within = one_of(
        Within,
        "scatter",
        """"scatter": S = S_1 + S_2 + …, as Zaki & Meira (20.7) and Schalkoff (4-8) have it.
        "covariance": S = Σ_1 + Σ_2 + … with Σ_k = S_k / n_k, Schalkoff's (4-6a), in which every
        class weighs the same, however many rows it has.""",
    )
    n_components: int | None = option(
        None, "int", "How many directions to keep; at most one fewer than classes."
    )
    threshold: Threshold = one_of(
        Threshold,
        "midpoint",
        """The separating point on w of two classes: the middle between the projected means, or the
        point with the least training error, halfway between two neighboring rows. The latter
        needs the rows, so that it exists with `fit` only, and has neither priors nor costs.""",
    )
    _: KW_ONLY
    priors: PriorsLike = given_priors("the class of the nearest projected mean is predicted")
    costs: CostsLike = costs(BY_GAUSSIANS)
    categorical_features: CategoricalFeatures = categorical_features(
        f"{INDICATORS}, with the\nsolution of least norm."
    )
    missing: MissingPolicy = missing_policy(FILLED)
    unknown: UnknownPolicy = unknown_policy()
    n_jobs: int | None = n_jobs()


@record()
class Criterion:
    """J(w) = wᵀBw / wᵀSw, with B from the rows of `between` and S = `within`. (ZM 20.7)

    The same as (Sch 4-8), written as (Sch 4-11a), and as (MSML fisher).
    Two classes: B = (μ_1 - μ_2)(μ_1 - μ_2)ᵀ, as in (ZM 20.2). More:
    B = Σ_k a_k (μ_k - μ)(μ_k - μ)ᵀ, a_k being the weight of the class, or 1 where classes weigh
    alike; for two classes that would be a_1 a_2 / (a_1 + a_2) times the former. (S 98)
    """

    between: Float = limits("parts", "terms")
    within: Float = limits("terms", "terms")

    def check(self) -> None:
        """Refuse what is no scatter of rows."""
        check_scatter(self.within)
        check_squares(self.between)
        check_squares(np.sqrt(np.diag(self.within)))

    @property
    def B(self) -> Float:  # noqa: N802  (the textbook's letter)
        """The scatter between the classes."""
        return np.asarray(self.between.T @ self.between)

    def parts(self, w: Float) -> tuple[float, float]:
        """wᵀBw and wᵀSw, zero where they are nothing but rounding."""
        apart = float(((self.between @ w) ** 2).sum())
        inside = float(w @ self.within @ w)
        own = np.sqrt(np.diag(self.within))
        both = own + np.sqrt((self.between**2).sum(axis=0))
        rounding = 8 * len(w) * EPS
        if inside > rounding * float(np.abs(w) @ own) ** 2:
            return apart, inside
        return (apart if apart > rounding * float(np.abs(w) @ both) ** 2 else 0.0), 0.0

    def value(self, w: Float) -> float:
        """J(w); infinite where w has no scatter within the classes but differs between them."""
        apart, inside = self.parts(w)
        if inside > 0:
            return apart / inside
        return np.inf if apart > 0 else 0.0


@record()
class FisherModel:
    """Directions of unit length, one a column, best first; λ = J(w) of each.

    Over the terms of a design, whose class means are center + gap[k]. `scores` are functions whose
    largest names the class; `coordinates` are wᵀx. `threshold` is the separating point on w, as a
    distance from wᵀcenter, for two classes. `unit` is the size of differences between the scores.
    Where `prior` is there, scores are ln f_k up to a common term, and priors and costs decide.
    """

    classes: Values = of_schema()
    criterion: Criterion
    geometry: Geometry
    center: Float = limits("terms")
    gap: Float = limits("classes", "terms")
    weight: Float = limits("classes", least=0.0)
    scatter: Float = limits("classes", "terms", "terms")
    directions: Float = limits("terms", "directions")
    eigenvalues: Float = limits("directions", least=0.0, most=INF)
    lengths: Float = limits("directions", least=0.0)
    threshold: float | None
    unit: float = limits(least=0.0)
    scores: LinearMap = limits(functions="classes")
    coordinates: LinearMap = limits(functions="directions")
    prior: Float | None = limits("classes", least=0.0, default=None)

    def check(self) -> None:
        """Refuse what is no scatter of rows, and a separating point without a direction."""
        check_scatter(self.scatter)
        need((np.abs(self.directions) < 2).all(), "directions that are not of unit length")
        two = len(self.classes) == 2 and self.directions.shape[1] > 0
        need((self.threshold is not None) == two, "a separating point that is not of two classes")
        if self.prior is not None:
            check_prior(self.prior)

    @property
    def size(self) -> int:
        """How many numbers predict needs: a direction and a point on it, or K functions."""
        return self.scores.size if self.threshold is None else len(self.center) + 1

    @property
    def means(self) -> Float:
        """The projected class means, a row a class: m_k = wᵀμ_k. (Sch 4-5b)"""
        return np.asarray((self.center + self.gap) @ self.directions)

    @property
    def scatters(self) -> Float:
        """Projected scatters, a row a class: s_k² = wᵀS_kw. (ZM 20.3), (ZM 20.4), (Sch 4-7a)"""
        w = self.directions
        return np.asarray(np.einsum("im,kij,jm->km", w, self.scatter, w))

    @property
    def anchor(self) -> Float:
        """Where classes stand, from the center."""
        return self.gap

    @property
    def log_prior(self) -> Float:
        """What the functions have beyond the scores: ln π_k, or nothing."""
        return np.zeros(len(self.classes)) if self.prior is None else log_of(self.prior)

    @property
    def condition(self) -> float:
        """The condition number of S, scaled to a diagonal of ones."""
        return self.geometry.condition

    def separating_point(self) -> float | None:
        """The point on w that parts two classes."""
        if self.threshold is None:
            return None
        return float(self.center @ self.directions[:, 0] + self.threshold)


@dataclass(frozen=True, repr=False)
class DirectionEvaluation(Shown):
    """A direction judged: J, and per class the mean, scatter and variance of the projections.

    `overlap[i][j]` is the area under both normal densities N(m, s²/n) of classes i and j: 1 where
    they are one, 0 where they are apart.
    """

    direction: tuple[float, ...]
    J: float
    classes: Values
    means: tuple[float, ...]
    scatters: tuple[float, ...]
    variances: tuple[float, ...]
    overlap: tuple[tuple[float, ...], ...]

    def to_table(self) -> Table:
        """A row a class."""
        columns: Columns = {"class": map(str, self.classes), "mean": self.means}
        columns |= {"scatter": self.scatters, "variance": self.variances}
        columns |= {tuple(f"overlap {label}" for label in self.classes): self.overlap}
        return sheet("judged", f"J = {self.J:.6g}", columns, "ZM 20.1")


def evaluate_direction(model: FisherModel, w: Float) -> DirectionEvaluation:
    """What any direction is worth: J(w) = (m_1 - m_2)² / (s_1² + s_2²) and the rest. (ZM 20.1)"""
    if w.shape != (len(model.center),) or not np.isfinite(w).all() or not w.any():
        raise ParameterError(
            f"w has the shape {w.shape} and must be a direction of {len(model.center)} finite "
            "numbers, one for each of terms_, not all zero."
        )
    w = w / np.abs(w).max()
    w = w / np.linalg.norm(w)
    apart, inside = model.criterion.parts(w)
    gap = model.gap @ w if apart > 0 or inside > 0 else np.zeros(len(model.gap))
    means = model.center @ w + gap
    scatters = np.maximum(np.einsum("i,kij,j->k", w, model.scatter, w), 0.0)
    scatters = scatters if inside > 0 else np.zeros(len(scatters))
    variances = scatters / np.where(model.weight > 0, model.weight, 1.0)
    return DirectionEvaluation(
        tuple(w.tolist()),
        model.criterion.value(w),
        model.classes,
        tuple(means.tolist()),
        tuple(scatters.tolist()),
        tuple(variances.tolist()),
        tuple(
            tuple(overlap(m, v, n, u) for n, u in zip(gap, variances, strict=True))
            for m, v in zip(gap, variances, strict=True)
        ),
    )


def overlap(mean_a: float, variance_a: float, mean_b: float, variance_b: float) -> float:
    """∫ min(p_a, p_b) of two normal densities: they cross at one point, or at two."""
    if variance_a > variance_b:
        mean_a, variance_a, mean_b, variance_b = mean_b, variance_b, mean_a, variance_a
    d = float(mean_b - mean_a)
    if variance_a == 0:
        return float(d == 0 and variance_b == 0)
    a, b = float(np.sqrt(variance_a)), float(np.sqrt(variance_b))
    if b - a <= 1e-8 * b:
        return float(2 * ndtr(-abs(d) / (a + b)))
    # ln p_a = ln p_b, a quadratic in x - mean_a; the narrower density is larger between its roots
    q = variance_b - variance_a
    root = a * b * np.sqrt(d * d + 2 * q * np.log(b / a))
    low, high = (-variance_a * d - root) / q, (-variance_a * d + root) / q
    inside_b = ndtr((high - d) / b) - ndtr((low - d) / b)
    return float(inside_b + ndtr(low / a) + ndtr(-high / a))


# --- From class statistics -----------------------------------------------------------------------


def learn_fisher(
    summary: DiscriminantSummary | ClassStatistics,
    schema: Schema,
    options: FisherOptions,
    training: Training | None,
) -> FisherModel:
    """The model of a summary; a separating point of least error is found in the rows again."""
    model = build_fisher(class_statistics(summary, schema, None), options)
    if options.threshold == "midpoint" or len(schema.classes) == 1:
        return model
    assert training is not None  # noqa: S101  (pieces were refused)
    if len(schema.classes) != 2:
        raise ParameterError(
            f"threshold='least_error' parts two classes, and there are {len(schema.classes)}: "
            "set threshold='midpoint'."
        )
    if not model.directions.size:
        return model
    project = project_training(model.coordinates, schema.classes, options.missing == "mean")
    rows = gather(training.engine.map(training.source, project))
    midpoint = model.threshold or 0.0
    return move_threshold(model, least_error(rows.along, rows.codes == 0, rows.weight, midpoint))


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
    prior = rule_priors(options.priors, options.costs, stats)
    rows = _divisors(stats, options.within, float(weight.sum()))
    rows = (1.0, 1.0) if prior is None else rows
    # standard deviations within classes; by the nearest mean, in any unit
    deviations = lengths / np.sqrt(np.where(np.isinf(eigenvalues), *rows))
    threshold = None
    if two and directions.size:
        m_first, m_last = stats.gap @ directions[:, 0]
        threshold, unit = float(m_first + m_last) / 2, float(abs(m_first - m_last))
        if prior is not None:
            variance = float(deviations[0]) ** 2
            odds = rule_shift(stats.classes, prior, options.costs)
            threshold, prior = threshold - odds * variance / float(m_first - m_last), None
    else:
        unit = _unit(stats.gap - mean, directions / deviations) if prior is None else 1.0
    scores = _scores(stats, directions, deviations, threshold)
    if threshold is None:
        whole = most == len(stats.classes) - 1
        root = geometry.root(*rows) if whole else directions / deviations
        one = 1 / weight.sum() if prior is None else 1.0
        found = nearest(stats, root, one)
        scores, unit = replace(scores, nearest=found), unit if found is None else one
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
        coordinates=filled_map(stats, directions, np.zeros(directions.shape[1])),  # (Sch 4-3)
        prior=prior,
    )


def _divisors(stats: ClassStatistics, within: str, total: float) -> tuple[float, float]:
    """By which S becomes a variance: where it is 0 the weight that B has, else n - K. (S 107)

    With within="covariance", S is a sum over classes.
    """
    return total, stats.pooled_divisor("unbiased") if within == "scatter" else total


def move_threshold(model: FisherModel, threshold: float) -> FisherModel:
    """The same model with another separating point on w."""
    moved = _around(model.directions[:, :1], threshold)
    rule = model.scores.missing
    assert isinstance(rule, ConditionalMean)  # noqa: S101  (as it was learned)
    missing = replace(rule, offsets=moved[1])
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
        return filled_map(stats, *_around(directions[:, :1], threshold))
    offsets, weights = linear_functions(directions / lengths, stats.gap, stats.mean)
    return filled_map(stats, weights, np.where(stats.present, offsets, -np.inf))


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
