"""The linear discriminant: Gaussian classes with one covariance, from class statistics."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np

from sortal.base.options import (
    categorical_features,
    class_weight,
    costs,
    n_jobs,
    one_of,
    option,
    priors,
)
from sortal.decision.geometry import Geometry
from sortal.decision.options import n_directions, read_priors, share
from sortal.decision.posterior import log_of
from sortal.discriminants.gaussian import GaussianClasses, linear_functions
from sortal.discriminants.linear_functions import LinearMap, Nearest
from sortal.discriminants.statistics import (
    INDICATORS,
    INTEGRATED,
    eigenvectors,
    missing_policy,
    oriented,
    refuse_constant,
    unknown_policy,
    within_lengths,
)
from sortal.errors import ParameterError
from sortal.modelfile.arrays import Array, RecordField
from sortal.modelfile.fields import FromSchema, Layout, Number, OptionalField, check_prior, need
from sortal.records.tables import Table

if TYPE_CHECKING:
    from sortal._typing import CategoricalFeatures, ClassWeight, CostsLike, Float, PriorsLike
    from sortal.data.columns import Values
    from sortal.discriminants.statistics import ClassStatistics, MissingPolicy, UnknownPolicy


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Class means center + gap[k], covariance Σ as used, priors.

    `scores` are ln f_k(x) up to a term common to all classes, so that adding ln π_k gives the
    functions g_k. `coordinates` are the canonical ones: directions a with aᵀΣa = 1, the rows less
    the mean of the classes by their priors, which is center + `prior_mean`. `eigenvalues` are the
    variances of the class means along them. `curve` is what was tried where the shrinkage was
    chosen by leaving out rows.
    """

    classes: Values
    geometry: Geometry
    center: Float
    gap: Float
    prior: Float
    covariance: Float
    shrinkage: float
    divisor: float
    prior_mean: Float
    directions: Float
    eigenvalues: Float
    scores: LinearMap
    coordinates: LinearMap
    curve: Table | None = None

    LAYOUT: ClassVar[Layout] = Layout(
        classes=FromSchema("classes"),
        geometry=RecordField(Geometry),
        center=Array("f8", "terms"),
        gap=Array("f8", "classes", "terms"),
        prior=Array("f8", "classes", least=0.0),
        covariance=Array("f8", "terms", "terms"),
        shrinkage=Number(least=0.0, most=1.0),
        divisor=Number(least=0.0),
        prior_mean=Array("f8", "terms"),
        directions=Array("f8", "terms", "directions"),
        eigenvalues=Array("f8", "eigenvalues", least=0.0),
        scores=RecordField(LinearMap, functions="classes"),
        coordinates=RecordField(LinearMap, functions="directions"),
        curve=OptionalField(RecordField(Table)),
    )

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
