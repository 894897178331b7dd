"""The quadratic discriminant: one Gaussian a class, each with its own covariance.

From class statistics to the model, and from the model to functions of rows.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from sortal._typing import Float
from sortal.base.options import (
    categorical_features,
    class_weight,
    costs,
    n_jobs,
    one_of,
    option,
    priors,
)
from sortal.data.columns import Design, Values
from sortal.decision.geometry import EPS, Geometry, involved, survey
from sortal.decision.options import read_priors, share
from sortal.decision.posterior import across, log_of
from sortal.discriminants.gaussian import (
    GaussianClasses,
    QuadraticClasses,
    Roots,
    completed,
    each_pattern,
    frame_of,
    kept_terms,
    patterns_of,
)
from sortal.discriminants.linear.learn import Covariance, pooled_divisor, shrunk
from sortal.discriminants.linear_functions import Means, QuadraticBoundary, TermBlock, pair_of
from sortal.discriminants.statistics import (
    INDICATORS,
    INTEGRATED,
    columns_of,
    missing_policy,
    refuse_constant,
    unknown_policy,
)
from sortal.errors import ParameterError
from sortal.modelfile.fields import check_prior
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
    from sortal.data.sources import Batch
    from sortal.decision.scores import Mapped
    from sortal.discriminants.gaussian import Frame, QuadraticParts
    from sortal.discriminants.statistics import ClassStatistics, MissingPolicy, UnknownPolicy


Chosen = Literal["loo"]


def _share_or_loo(none: str, name: str, given: object) -> object:
    """A number from 0 to 1, or the word by which it is chosen."""
    if given is None and none:
        return None
    if isinstance(given, str) and given != "loo":
        raise ParameterError(
            f"{name}={given!r} is not known: it can be {none}a number from 0 to 1, or 'loo'."
        )
    return given if isinstance(given, str) else share(name, given)


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
        partial(_share_or_loo, ""),
    )
    shrinkage: float | Chosen | None = option(
        None,
        'None, float from 0 to 1 or "loo"',
        """γ in (1 - γ) Σ_k + γ (tr Σ_k / p) I. It depends on the units of the columns. "loo"
        chooses it likewise; where both are "loo", all pairs are tried.""",
        partial(_share_or_loo, "None, "),
    )
    _: KW_ONLY
    priors: PriorsLike = priors()
    class_weight: ClassWeight = class_weight()
    costs: CostsLike = costs()
    categorical_features: CategoricalFeatures = categorical_features(f"{INDICATORS}.")
    missing: MissingPolicy = missing_policy(INTEGRATED)
    unknown: UnknownPolicy = unknown_policy()
    n_jobs: int | None = n_jobs()


# --- ln f_k(x) of Gaussian classes with their own covariances, for rows of a block ---------------


@record()
class QuadraticMap:
    """-½ ln det Σ_k - ½ ‖(x - μ_k)ᵀR_k‖², a column a class, up to a term common to all. (Bar qda)

    `missing` gives roots where only some terms are known.
    """

    design: Design
    means: Means
    whole: Roots = limits(rank="rank")
    missing: QuadraticClasses = limits(rank="rank")

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


# --- From class statistics ------------------------------------------------------------------------


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
