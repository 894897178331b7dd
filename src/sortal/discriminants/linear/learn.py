"""Linear functions from class statistics: the linear discriminant, regression on indicators."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import numpy as np

from sortal._typing import Float
from sortal.base.options import (
    categorical_features,
    class_weight,
    costs,
    n_jobs,
    number,
    one_of,
    option,
    priors,
)
from sortal.data.columns import Values
from sortal.decision.geometry import Geometry, survey
from sortal.decision.options import choose, n_directions, read_priors, share
from sortal.decision.posterior import log_of
from sortal.discriminants.gaussian import GaussianClasses, linear_functions
from sortal.discriminants.linear_functions import LinearMap, Nearest, cost_shift, pair_of
from sortal.discriminants.statistics import (
    FILLED,
    INDICATORS,
    INTEGRATED,
    class_statistics,
    eigenvectors,
    missing_policy,
    oriented,
    refuse_constant,
    unknown_policy,
    within_lengths,
)
from sortal.errors import ParameterError
from sortal.modelfile.fields import check_prior, check_scatter, need
from sortal.modelfile.record import limits, of_schema, record
from sortal.records.tables import Table

if TYPE_CHECKING:
    from sortal._typing import CategoricalFeatures, ClassWeight, CostsLike, PriorsLike
    from sortal.base.learner import Training
    from sortal.data.columns import Schema
    from sortal.discriminants.statistics import ClassStatistics, MissingPolicy, UnknownPolicy
    from sortal.summaries.counts import DiscriminantSummary


@record()
class LinearModel:
    """Class means center + gap[k], covariance Σ as used, priors.

    `scores` are ln f_k(x) up to a term common to all classes, so that adding ln π_k gives the
    functions g_k. `coordinates` are the canonical ones: directions a with aᵀΣa = 1, the rows less
    the mean of the classes by their priors, which is center + `prior_mean`. `eigenvalues` are the
    variances of the class means along them. `curve` is what was tried where the shrinkage was
    chosen by leaving out rows.
    """

    classes: Values = of_schema()
    geometry: Geometry
    center: Float = limits("terms")
    gap: Float = limits("classes", "terms")
    prior: Float = limits("classes", least=0.0)
    covariance: Float = limits("terms", "terms")
    shrinkage: float = limits(least=0.0, most=1.0)
    divisor: float = limits(least=0.0)
    prior_mean: Float = limits("terms")
    directions: Float = limits("terms", "directions")
    eigenvalues: Float = limits("eigenvalues", least=0.0)
    scores: LinearMap = limits(functions="classes")
    coordinates: LinearMap = limits(functions="directions")
    curve: Table | None = None

    def check(self) -> None:
        """Refuse directions without their eigenvalues, and priors of nothing."""
        need(self.directions.shape[1] <= len(self.eigenvalues), "directions without eigenvalues")
        check_prior(self.prior)

    @property
    def size(self) -> int:
        """How many numbers predict needs: K functions of p terms and a constant."""
        return self.scores.size

    @property
    def log_prior(self) -> Float:
        """ln π_k."""
        return log_of(self.prior)

    @property
    def condition(self) -> float:
        """The condition number of Σ, scaled to a diagonal of ones."""
        return self.geometry.condition

    def functions(self) -> tuple[Float, Float]:
        """(constants, weights) of g_k(x) = w_k0 + w_kᵀx, a row of weights a class. (Sch LDF)"""
        return self.scores.intercepts + self.log_prior, self.scores.weights.T


# --- The linear discriminant of Gaussian classes with one covariance, from class statistics ------


# Squared distances between means, in variances, beyond which linear functions hold ten digits less
# than a row has.
_FAR_APART = 1e6


Covariance = Literal["unbiased", "mle"]
Formula = Literal["ledoit_wolf", "oas", "loo"]
Shrinkage = float | Formula | None


def _read_shrinkage(name: str, given: object) -> object:
    if isinstance(given, str) and given not in get_args(Formula):
        raise ParameterError(
            f"{name}={given!r} is not known: it can be None, a number from 0 to 1, "
            "'ledoit_wolf', 'oas' or 'loo'."
        )
    return given if given is None or isinstance(given, str) else share(name, given)


@dataclass(eq=False, repr=False)
class LinearOptions:
    """The parameters of the linear discriminant."""

    covariance: Covariance = one_of(
        Covariance, "unbiased", "Pooled covariance with divisor N - K or N."
    )
    shrinkage: Shrinkage = option(
        None,
        'None, float from 0 to 1, "ledoit_wolf", "oas" or "loo"',
        """λ in (1 - λ) Σ + λ (tr Σ / p) I. The two formulas choose λ for the rows less their class
        means; "loo" takes that of 14 values under which rows are likeliest when they are left out
        one by one, which needs all rows at once: `fit` only.""",
        _read_shrinkage,
    )
    n_components: int | None = option(
        None,
        "int",
        "How many canonical directions `transform` keeps; at most one fewer than classes.",
    )
    _: KW_ONLY
    priors: PriorsLike = priors()
    class_weight: ClassWeight = class_weight()
    costs: CostsLike = costs()
    categorical_features: CategoricalFeatures = categorical_features(
        f"{INDICATORS}, with the\nsolution of least norm."
    )
    missing: MissingPolicy = missing_policy(INTEGRATED)
    unknown: UnknownPolicy = unknown_policy()
    n_jobs: int | None = n_jobs()


def build_linear(stats: ClassStatistics, options: LinearOptions) -> LinearModel:
    """π_k = N_k / N, μ_k and Σ = Σ_k S_k / (N - K), or as the options say. (Bar estimates)"""
    prior = read_priors(options.priors, stats.classes)
    prior = stats.weight / stats.total_weight if prior is None else prior
    divisor = pooled_divisor(stats, options.covariance)
    shrinkage = _shrinkage(stats, options.shrinkage)
    plain = GaussianClasses(
        stats.weight, stats.gap, stats.mean, stats.within, divisor, stats.magnitude
    )
    geometry = plain.survey()
    refuse_constant(geometry, stats)
    classes = replace(plain, within=shrunk(stats.within, shrinkage))
    if shrinkage > 0:
        geometry = classes.survey()
    root = geometry.root(stats.total_weight, divisor)
    offsets, weights = linear_functions(root, stats.gap, stats.mean)
    seen = prior * stats.present  # a class without rows has no mean to take part with
    seen = seen / seen.sum() if seen.any() else stats.weight / stats.total_weight
    prior_mean = seen @ stats.gap
    most = n_directions(options.n_components, len(stats.classes), len(stats.center))
    directions, eigenvalues = _canonical(geometry, stats, divisor, seen)
    directions = directions[:, :most]
    at_mean = -prior_mean @ directions
    fill = stats.conditional_mean(directions, at_mean)
    return LinearModel(
        classes=stats.classes,
        geometry=geometry,
        center=stats.center,
        gap=stats.gap,
        prior=prior,
        covariance=classes.within / divisor,
        shrinkage=shrinkage,
        divisor=divisor,
        prior_mean=prior_mean,
        directions=directions,
        eigenvalues=eigenvalues,
        scores=LinearMap(
            stats.design,
            stats.center,
            weights,
            classes.without_absent(offsets),
            classes,
            nearest(stats, root, 1.0),
        ),
        coordinates=LinearMap(stats.design, stats.center, directions, at_mean, fill),
    )


def nearest(stats: ClassStatistics, root: Float, unit: float) -> Nearest | None:
    """Class means and a root, where linear functions would hold too few digits of them.

    These are of the size of squared distances between the means, and tell rows apart that differ
    by the `unit`, a variance in the coordinates of the root.
    """
    u = (stats.gap - stats.mean) @ root
    if np.square(u).sum(axis=1).max(initial=0.0) <= _FAR_APART * unit:
        return None
    return Nearest(stats.exact_means, root)


def pooled_divisor(stats: ClassStatistics, covariance: str) -> float:
    """N - K or N, in the unit of the weights: of fractional weights, sizes count rows."""
    if covariance == "mle" or stats.exact:
        return stats.total_weight
    return unbiased_divisor(stats.weight, stats.rows)


def unbiased_divisor(weight: Float, rows: Float) -> float:
    """N - K of classes that have these weights and rows; N where there are no more rows."""
    total, n, n_classes = float(weight.sum()), float(rows.sum()), int((weight > 0).sum())
    return total if n <= n_classes else total * (n - n_classes) / n


def _canonical(
    geometry: Geometry, stats: ClassStatistics, divisor: float, prior: Float
) -> tuple[Float, Float]:
    """Directions a with aᵀΣa = 1 along which the class means vary most, and how much.

    The class means are weighted by their priors, the rows within classes by themselves.
    """
    spread = np.sqrt(prior)[:, None] * (stats.gap - prior @ stats.gap)
    directions, eigenvalues = eigenvectors(geometry, spread)
    lengths = within_lengths(directions, eigenvalues, stats.between)
    unit = np.where(np.isinf(eigenvalues), stats.total_weight, divisor)
    directions = oriented(directions / lengths * np.sqrt(unit), stats.gap)
    return directions, ((spread @ directions) ** 2).sum(axis=0)


def shrunk(within: Float, shrinkage: float) -> Float:
    """(1 - λ) Σ + λ (tr Σ / p) I, on any multiple of Σ. (S 16)"""
    if shrinkage == 0:
        return within
    p = len(within)
    return np.asarray((1 - shrinkage) * within + np.eye(p) * (shrinkage * np.trace(within) / p))


def _shrinkage(stats: ClassStatistics, given: Shrinkage) -> float:
    """λ as given, or by one of the two formulas, for rows less their class means."""
    if given is None:
        return 0.0
    if not isinstance(given, str):
        return float(given)
    if stats.exact:
        raise ParameterError(
            f"shrinkage={given!r} depends on the number of rows, and the moments were given "
            "without counts: give counts, or a number."
        )
    # both formulas are free of units, and squares of large or small numbers are not
    size = float(np.trace(stats.within)) / stats.total_weight
    if size == 0:
        return 0.0  # nothing varies within the classes, and nothing is shrunk
    covariance, n = stats.within / stats.total_weight / size, float(stats.rows.sum())
    if given == "oas":
        return oas(covariance, n)
    fourth = float(stats.fourth.sum()) / stats.total_weight
    if not np.isfinite(fourth) or fourth == 0:
        raise ParameterError(
            "shrinkage='ledoit_wolf' needs fourth powers of the rows, which are not known (moments "
            "were given without rows) or beyond a float64: give a number, or divide the columns by "
            "a constant."
        )
    return ledoit_wolf(covariance, n, fourth / size / size)


def ledoit_wolf(covariance: Float, n: float, fourth: float) -> float:
    """The intensity of Ledoit and Wolf for n centered rows, `fourth` the mean of ‖z‖⁴. (S 17)"""
    p = len(covariance)
    square = float((covariance**2).sum())
    distance = square - np.trace(covariance) ** 2 / p  # from a multiple of the identity
    noise = (fourth - square) / n
    return float(np.clip(noise / distance, 0.0, 1.0)) if distance > 0 else 0.0


def oas(covariance: Float, n: float) -> float:
    """The oracle-approximating intensity of Chen et al. for n centered rows. (S 18)"""
    p = len(covariance)
    square, trace = float((covariance**2).sum()), float(np.trace(covariance))
    distance = (n + 1) * (square - trace**2 / p)
    if p == 1:
        return 0.0  # one column is a multiple of the identity already
    return float(np.clip((square + trace**2) / distance, 0.0, 1.0)) if distance > 0 else 1.0


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
        return np.asarray(stats.weight / stats.total_weight)
    return read_priors(given, stats.classes)


def rule_shift(classes: Values, prior: Float, costs: Any) -> float:
    """What priors and costs add to the log-odds of the first of two classes. (S 107)"""
    pair_of(classes, log_of(prior), *classes)
    odds = float(np.log(prior[0]) - np.log(prior[1]))
    return odds if costs is None else odds + cost_shift(costs, classes, *classes)


# --- Regression on class indicators, by least squares ---------------------------------------------


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
    shares = stats.weight / stats.total_weight
    offsets = shares - stats.mean @ weights
    offsets = _by_gaussians(stats, options, offsets, weights)
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
    variance = float(w @ stats.within @ w) / pooled_divisor(stats, "unbiased")
    # where nothing tells the classes apart, all rows have the log-odds of the priors
    more = odds * variance / (m_first - m_last) - (m_first + m_last) / 2 if w.any() else odds - d
    return np.asarray(offsets + np.array([more, -more]) / 2)
