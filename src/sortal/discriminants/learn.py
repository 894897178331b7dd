"""Gaussian classes from class statistics: the linear and the quadratic discriminant.

The linear discriminant is the quadratic one with a pooling of 1. It is learned by itself, as linear
functions, which are several times faster.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sortal._typing import (
    Float,
)
from sortal.data.columns import Values
from sortal.decision.geometry import EPS, Geometry, involved, linear_functions, survey
from sortal.decision.options import (
    categorical_features,
    class_weight,
    costs,
    n_directions,
    n_jobs,
    one_of,
    option,
    priors,
    read_priors,
    share,
)
from sortal.decision.posterior import log_of
from sortal.discriminants.functions import (
    LinearMap,
    Nearest,
    QuadraticBoundary,
    QuadraticMap,
    pair_of,
)
from sortal.discriminants.gaussian import (
    GaussianClasses,
    QuadraticClasses,
    Roots,
    completed,
    frame_of,
    kept_terms,
)
from sortal.discriminants.statistics import (
    INDICATORS,
    INTEGRATED,
    columns_of,
    eigenvectors,
    missing_policy,
    oriented,
    refuse_constant,
    unknown_policy,
    within_lengths,
)
from sortal.errors import ParameterError
from sortal.modelfile.fields import (
    check_prior,
    need,
)
from sortal.modelfile.record import limits, of_schema, record
from sortal.records.tables import Table

if TYPE_CHECKING:
    from sortal._typing import (
        CategoricalFeatures,
        ClassWeight,
        CostsLike,
        Counts,
        Label,
        Places,
        PriorsLike,
    )
    from sortal.discriminants.statistics import ClassStatistics, MissingPolicy, UnknownPolicy


# Squared distances between means, in variances, beyond which linear functions hold ten digits less
# than a row has.
_FAR_APART = 1e6


Covariance = Literal["unbiased", "mle"]
Formula = Literal["ledoit_wolf", "oas", "loo"]
Shrinkage = float | Formula | None
Chosen = Literal["loo"]


def _share_or(words: str, name: str, given: object) -> object:
    """A number from 0 to 1, or one of the quoted words by which it is chosen."""
    if isinstance(given, str):
        if f"'{given}'" not in words:
            raise ParameterError(f"{name}={given!r} is not known: it can be {words}.")
        return given
    return given if given is None and words.startswith("None") else share(name, given)


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
        partial(_share_or, "None, a number from 0 to 1, 'ledoit_wolf', 'oas' or 'loo'"),
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


@dataclass(eq=False, repr=False)
class QuadraticOptions:
    """The parameters of the quadratic discriminant."""

    covariance: Covariance = one_of(
        Covariance, "unbiased", "Covariances with divisor N_k - 1 or N_k."
    )
    pooling: float | Chosen = option(
        0.0,
        'float from 0 to 1 or "loo"',
        """λ in Σ_k = ((1 - λ) S_k + λ S) / ((1 - λ) D_k + λ D), the scatter S_k of a class mixed
        with that of all, and the divisors with them (Friedman 1989). 1 is linear discriminant
        analysis. "loo" takes that of 14 values under which rows are likeliest when they are left
        out one by one, which needs all rows at once: `fit` only.""",
        partial(_share_or, "a number from 0 to 1, or 'loo'"),
    )
    shrinkage: float | Chosen | None = option(
        None,
        'None, float from 0 to 1 or "loo"',
        """γ in (1 - γ) Σ_k + γ (tr Σ_k / p) I. It depends on the units of the columns. "loo"
        chooses it likewise; where both are "loo", all pairs are tried.""",
        partial(_share_or, "None, a number from 0 to 1, or 'loo'"),
    )
    _: KW_ONLY
    priors: PriorsLike = priors()
    class_weight: ClassWeight = class_weight()
    costs: CostsLike = costs()
    categorical_features: CategoricalFeatures = categorical_features(f"{INDICATORS}.")
    missing: MissingPolicy = missing_policy(INTEGRATED)
    unknown: UnknownPolicy = unknown_policy()
    n_jobs: int | None = n_jobs()


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


@record()
class QuadraticModel:
    """Class means center + gap[k], functions by covariances as used, priors.

    `geometry` is that of the pooled covariance; `own` are those of the classes' matrices, which say
    what each class does not tell by itself. `scores` are ln f_k(x) up to a term common to all
    classes. `curve` is what was tried where pooling or shrinkage were chosen by leaving out rows.
    """

    classes: Values = of_schema()
    geometry: Geometry
    own: tuple[Geometry, ...] = limits("classes")
    center: Float = limits("terms")
    gap: Float = limits("classes", "terms")
    prior: Float = limits("classes", least=0.0)
    pooling: float = limits(least=0.0, most=1.0)
    shrinkage: float = limits(least=0.0, most=1.0)
    scores: QuadraticMap
    curve: Table | None = None

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

    @property
    def condition(self) -> float:
        """The largest condition number of the classes' matrices, scaled to a diagonal of ones."""
        return max(own.condition for own in self.own)

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

    def boundary(self, log_prior: Float, first: Label, second: Label) -> QuadraticBoundary:
        """Where g_k = g_l: the log-odds of (Bar qda) as a polynomial in x."""
        constants, linear, matrices = self.functions(log_prior)
        k, l = pair_of(self.classes, constants, first, second)  # noqa: E741
        return QuadraticBoundary(
            float(constants[k] - constants[l]), linear[k] - linear[l], matrices[k] - matrices[l]
        )


def build_linear(stats: ClassStatistics, options: LinearOptions) -> LinearModel:
    """π_k = N_k / N, μ_k and Σ = Σ_k S_k / (N - K), or as the options say. (Bar estimates)"""
    prior = read_priors(options.priors, stats.classes)
    prior = stats.shares if prior is None else prior
    divisor = stats.pooled_divisor(options.covariance)
    shrinkage = _shrinkage(stats, options.shrinkage)
    within, geometry = _pooled(stats, shrinkage)
    root = geometry.root(stats.total_weight, divisor)
    offsets, weights = linear_functions(root, stats.gap, stats.mean)
    offsets = np.where(stats.present, offsets, -np.inf)
    seen = prior * stats.present  # a class without rows has no mean to take part with
    seen = seen / seen.sum() if seen.any() else stats.shares
    prior_mean = seen @ stats.gap
    most = n_directions(options.n_components, len(stats.classes), len(stats.center))
    directions, eigenvalues = _canonical(geometry, stats, divisor, seen)
    directions = directions[:, :most]
    missing = GaussianClasses(stats.weight, stats.gap, stats.mean, within, divisor, stats.magnitude)
    return LinearModel(
        classes=stats.classes,
        geometry=geometry,
        center=stats.center,
        gap=stats.gap,
        prior=prior,
        covariance=within / divisor,
        shrinkage=shrinkage,
        divisor=divisor,
        prior_mean=prior_mean,
        directions=directions,
        eigenvalues=eigenvalues,
        scores=LinearMap(
            stats.design, stats.center, weights, offsets, missing, nearest(stats, root, 1.0)
        ),
        coordinates=filled_map(stats, directions, -prior_mean @ directions),
    )


def _pooled(stats: ClassStatistics, shrinkage: float) -> tuple[Float, Geometry]:
    """S of all classes, shrunk, and its geometry."""
    refuse_constant(stats.geometry, stats)
    if shrinkage == 0:
        return stats.within, stats.geometry
    within = shrunk(stats.within, shrinkage)
    return within, survey(within, stats.between, stats.magnitude, settled=True)


def filled_map(stats: ClassStatistics, weights: Float, offsets: Float) -> LinearMap:
    """Linear functions in which what is not known takes its mean given the rest."""
    missing = stats.conditional_mean(weights, offsets)
    return LinearMap(stats.design, stats.center, weights, offsets, missing)


def nearest(stats: ClassStatistics, root: Float, unit: float) -> Nearest | None:
    """Class means and a root, where linear functions would hold too few digits of them.

    These are of the size of squared distances between the means, and tell rows apart that differ
    by the `unit`, a variance in the coordinates of the root.
    """
    u = (stats.gap - stats.mean) @ root
    if np.square(u).sum(axis=1).max(initial=0.0) <= _FAR_APART * unit:
        return None
    return Nearest(stats.exact_means, root)


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
    p, square, trace = len(covariance), float((covariance**2).sum()), float(np.trace(covariance))
    distance = square - trace**2 / p
    if given == "oas":  # one column is a multiple of the identity already
        return float(oas(square, distance, trace, n)) if p > 1 else 0.0
    fourth = float(stats.fourth.sum()) / stats.total_weight
    if not np.isfinite(fourth) or fourth == 0:
        raise ParameterError(
            "shrinkage='ledoit_wolf' needs fourth powers of the rows, which are not known (moments "
            "were given without rows) or beyond a float64: give a number, or divide the columns by "
            "a constant."
        )
    return float(ledoit_wolf(square, distance, fourth / size / size, n))


# Of n centered rows with the covariance C, `square` is ‖C‖² and `distance` that of C, squared, from
# a multiple of the identity: numbers, or arrays of them.


def ledoit_wolf(square: Any, distance: Any, fourth: Any, n: Any) -> Float:
    """The intensity of Ledoit and Wolf, `fourth` being the mean of ‖z‖⁴. (S 17)"""
    return _share((fourth - square) / n, distance, 0.0)


def oas(square: Any, distance: Any, trace: Any, n: Any) -> Float:
    """The oracle-approximating intensity of Chen et al. (S 18)"""
    return _share(square + trace**2, (n + 1) * distance, 1.0)


def _share(part: Any, whole: Any, otherwise: float) -> Float:
    safe = np.where(whole > 0, whole, 1.0)
    return np.where(whole > 0, np.clip(part / safe, 0.0, 1.0), otherwise)


def build_quadratic(stats: ClassStatistics, options: QuadraticOptions) -> QuadraticModel:
    """π_k = N_k / N, μ_k and Σ_k = S_k / (N_k - 1), or as the options say."""
    prior = read_priors(options.priors, stats.classes)
    pooling, shrinkage = float(options.pooling), float(options.shrinkage or 0.0)
    within, geometry = _pooled(stats, shrinkage)
    divisor = stats.pooled_divisor(options.covariance)
    frame = frame_of(geometry, within, stats.total_weight, divisor)
    scatters = mixed(stats, pooling)
    divisors = mixed_divisors(stats.class_divisors(options.covariance), divisor, pooling)
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
        prior=stats.shares if prior is None else prior,
        pooling=pooling,
        shrinkage=shrinkage,
        scores=QuadraticMap(stats.design, stats.exact_means, whole, classes),
    )


def mixed(stats: ClassStatistics, pooling: float) -> Float:
    """(1 - λ) S_k + λ S: divided likewise, the covariance of a class. (S 43)"""
    return np.asarray((1 - pooling) * stats.own_scatter + pooling * stats.within)


def mixed_divisors(own: Float, pooled: Float | float, pooling: Float | float) -> Float:
    """(1 - λ) D_k + λ D, or 1 where that is nothing."""
    divisors = (1 - pooling) * own + pooling * pooled
    return np.where(divisors > 0, divisors, 1.0)


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


def still_columns(model: QuadraticModel) -> dict[int, list[str]]:
    """For each class that stands still where others vary, the columns concerned."""
    geometry, found = model.geometry, {}
    elsewhere = np.hstack([geometry.still, geometry.apart])
    for k, own in enumerate(model.own):
        if own.sphere.shape[1] < geometry.sphere.shape[1] and np.isfinite(model.log_dets[k]):
            still = own.still / np.linalg.norm(own.still, axis=0)
            found[k] = columns_of(model.scores.design, involved(still, geometry.size, elsewhere))
    return found
