"""Class statistics: weights, means and scatters, from a summary of the rows or given moments."""

from __future__ import annotations

from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from sortal._typing import Float
from sortal.base.learner import counted_cells
from sortal.data.columns import Design, Schema, union
from sortal.data.table import two_sum
from sortal.decision.geometry import EPS, VARIANCE_FLOOR, involved, rounded, survey
from sortal.decision.options import one_of, read_class_weight
from sortal.discriminants.functions import ConditionalMean, Means
from sortal.errors import (
    InputError,
    MissingValueError,
    MissingValueWarning,
    ParameterError,
    agreed,
    counted,
    listed,
    warn,
)
from sortal.modelfile.fields import check_scatter, check_squares, need
from sortal.modelfile.record import limits, record
from sortal.summaries.counts import Fill, SummarizeBayes, SummarizeDiscriminant

if TYPE_CHECKING:
    from sortal._typing import ClassWeight, Mask
    from sortal.data.columns import Values
    from sortal.decision.geometry import Geometry
    from sortal.summaries.counts import BayesSummary, ClassCounts, DiscriminantSummary, RowCounts


# --- Policies for missing and unknown values -----------------------------------------------------

MissingPolicy = Literal["drop_rows", "mean", "error"]
UnknownPolicy = Literal["skip", "error"]


def missing_policy(at_predict: str) -> Any:
    """What becomes of missing values, at fit and at predict."""
    at_fit = (
        "Missing values at fit: the row is left out, the missing value takes the mean of its\n"
        "column (over the rows of the first call), or an error. At predict "
    )
    return one_of(MissingPolicy, "drop_rows", at_fit + at_predict)


def unknown_policy() -> Any:
    """What becomes of values that were never seen at fit."""
    text = (
        "A value at predict that was never seen at fit is treated as a missing value, or is an\n"
        "error."
    )
    return one_of(UnknownPolicy, "skip", text)


# What becomes of them at predict: by Gaussians, and by functions without probabilities.
INTEGRATED = 'missing values are\nintegrated out of the Gaussians exactly, except with "error".'

FILLED = (
    "a missing value takes\n"
    'its mean given what is known of the row, by the scatter of all rows, except with "error".'
)


def to_choose(options: object, shares: tuple[str, ...]) -> list[str]:
    """Which of these options, shares from 0 to 1, are to be chosen by leave-one-out."""
    given = {name: getattr(options, name) for name in shares}
    return [name for name, value in given.items() if isinstance(value, str) and value == "loo"]


# How a category enters.
INDICATORS = "A category enters as one indicator for each of its values"


# --- Class statistics ----------------------------------------------------------------------------

# Beyond this condition number coefficients hold five digits or fewer, which is worth a warning.
WORST_CONDITION = 1e10


@record()
class ClassStatistics:
    """Per class: weight, rows, mean and scatter over the terms of a design, classes weighted.

    Scatter is the sum of (x - μ_k)(x - μ_k)ᵀ over the rows of a class, as in (Sch 4-10a).
    The mean of class k is center + gap[k]; a class without rows has weight 0. `third` is the sum
    of ‖z‖²z, z = x - μ_k, and `fourth` that of ‖z‖⁴, NaN where they are not known. `exact` marks
    moments that were given as those of a population: then the weights are shares, and sizes have no
    meaning. `slack` bounds what rounding has done to the diagonals of the scatter, 0 if that is not
    known; where rows were taken out, it is more than the last digits. `tail` is what the float64 of
    `gap` cannot hold: beside a class far away, a narrow one needs it.
    """

    design: Design
    weight: Float = limits("classes", least=0.0)
    rows: Float = limits("classes", least=0.0)
    center: Float = limits("terms")
    gap: Float = limits("classes", "terms")
    scatter: Float = limits("classes", "terms", "terms")
    third: Float = limits("classes", "terms", nan=True)
    fourth: Float = limits("classes", nan=True)
    exact: bool = False
    # of moments that are given, and hence kept in a file, nothing of this is known
    slack: Float | float = field(default=0.0, compare=False)
    tail: Float | float = field(default=0.0, compare=False)

    def check(self) -> None:
        """Refuse, of moments from a file, what no rows have and what cannot be calculated with."""
        check_scatter(self.scatter)
        here = self.present
        need(here.any(), "no weight")
        spread = np.diagonal(self.scatter, axis1=1, axis2=2)[here] / self.weight[here, None]
        check_squares(np.sqrt(spread))
        check_squares(self.gap * np.maximum(1.0, np.sqrt(self.weight))[:, None])

    @property
    def classes(self) -> Values:
        """The classes."""
        return self.design.schema.classes

    @property
    def labels(self) -> Values:
        """The same, as of a summary: moments that were given are one."""
        return self.classes

    @property
    def class_weights(self) -> Float:
        """Their weights."""
        return self.weight

    @property
    def present(self) -> Mask:
        """Which classes have weight."""
        return np.asarray(self.weight > 0)

    @cached_property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return float(self.weight.sum())

    @cached_property
    def mean(self) -> Float:
        """The mean of all rows, as a distance from the center."""
        return np.asarray(self.weight @ self.gap / self.total_weight)

    @property
    def means(self) -> Float:
        """The class means. (Sch 4-5a)"""
        return self.center + self.gap

    def from_mean(self, g: int) -> Float:
        """From the mean of class g to all class means."""
        tail = np.broadcast_to(self.tail, self.gap.shape)
        return np.asarray((self.gap - self.gap[g]) + (tail - tail[g]))

    @property
    def exact_means(self) -> Means:
        """The class means, with what a float64 cannot hold of them."""
        return Means(self.center, self.gap, np.broadcast_to(self.tail, self.gap.shape))

    @cached_property
    def own_scatter(self) -> Float:
        """S_k, 0 in columns in which the class differs by the last digits of its numbers only."""
        return settled(self.scatter, self.varies_alone)

    @property
    def varies_alone(self) -> Mask:
        """Whether a class varies in a column by more than the last digits of its numbers.

        Class by class: 1e-18 is nothing beside 1, and something around 0.
        """
        magnitude = np.sqrt(self.weight)[:, None] * np.abs(self.means)
        return ~rounded(np.diagonal(self.scatter, axis1=1, axis2=2), magnitude)

    @cached_property
    def within(self) -> Float:
        """S = Σ S_k, the scatter within the classes, as in (ZM 20.6) and (Sch 4-10b)."""
        return np.asarray(self.scatter.sum(axis=0))

    @cached_property
    def total(self) -> Float:
        """S_T, the scatter of all rows about their mean."""
        apart = self.between
        return np.asarray(self.within + apart.T @ apart)

    @property
    def between(self) -> Float:
        """√n_k (μ_k - μ), a row a class: its square is the scatter of the class means."""
        return np.asarray(np.sqrt(self.weight)[:, None] * (self.gap - self.mean))

    @cached_property
    def geometry(self) -> Geometry:
        """Which directions vary within classes, only between them, or not at all."""
        return survey(self.within, self.between, self.magnitude, settled=True)

    @property
    def shares(self) -> Float:
        """N_k / N."""
        return np.asarray(self.weight / self.total_weight)

    def pooled_divisor(self, covariance: str) -> float:
        """N - K or N; of populations there is one."""
        return float(pooled_divisor(self.weight, self.rows, "mle" if self.exact else covariance))

    def class_divisors(self, covariance: str) -> Float:
        """N_k - 1 or N_k, likewise."""
        return class_divisors(self.weight, self.rows, "mle" if self.exact else covariance)

    @property
    def size(self) -> Float:
        """The root of the scatter of all rows in each column."""
        return np.asarray(np.sqrt(np.diag(self.within) + (self.between**2).sum(axis=0)))

    @property
    def magnitude(self) -> Float:
        """The size of the numbers in each column, by which rounding is judged."""
        largest = np.abs(self.means).max(axis=0, initial=0.0)
        return np.asarray(np.sqrt(self.total_weight) * largest)

    def conditional_mean(self, weights: Float, offsets: Float) -> ConditionalMean:
        """How functions treat what is not known of a row, by the scatter of all rows."""
        return ConditionalMean(self.total, self.mean, self.magnitude, weights, offsets)


def pooled_divisor(weight: Float, rows: Float, covariance: str = "unbiased") -> Float:
    """N - K or N of classes, along the first axis; N, too, where there are no more rows than K.

    In the unit of the weights: of fractional weights, sizes count rows.
    """
    total, n, n_classes = weight.sum(axis=0), rows.sum(axis=0), (weight > 0).sum(axis=0)
    if covariance == "mle":
        return np.asarray(total)
    unbiased = total * (n - n_classes) / np.maximum(n, 1.0)
    return np.asarray(np.where(n <= n_classes, total, unbiased))


def class_divisors(weight: Float, rows: Float, covariance: str) -> Float:
    """N_k - 1 or N_k of classes, in the unit of the weights."""
    if covariance == "mle":
        return weight
    safe = np.where(rows > 1, rows, 1.0)
    return np.asarray(weight * np.where(rows > 1, (safe - 1) / safe, 1.0))


def plan(schema: Schema, fill: Fill | None) -> SummarizeDiscriminant:
    """Which columns are measured, and what stands for a missing value."""
    design = Design(schema)
    return SummarizeDiscriminant(schema, design.numbers, design.categories, fill)


def plan_fill(schema: Schema) -> SummarizeBayes:
    """A first pass: the means of all columns."""
    design = Design(schema)
    names = tuple(schema.columns[j].name for j in design.numbers)
    return SummarizeBayes(design.categories, design.numbers, names)


def read_fill(summary: BayesSummary, schema: Schema) -> Fill:
    """Means of number columns and shares of values over the rows that have one."""
    design = Design(schema)
    units = summary.moments.units.astype(np.float64)
    weight = units.sum(axis=1)
    shares = [table.sum(axis=1) for table in summary.values.tables]
    empty = [schema.columns[j].name for j, w in zip(design.numbers, weight, strict=True) if w == 0]
    empty += [
        schema.columns[j].name
        for j, share in zip(design.categories, shares, strict=True)
        if not share.any()
    ]
    if empty:
        raise nothing_left(empty)
    means = (units * (summary.moments.mean + summary.moments.tail)).sum(axis=1) / weight
    return Fill(
        tuple(means.tolist()),
        summary.values.values,
        tuple(tuple((share / share.sum()).tolist()) for share in shares),
    )


def read_schema(declared: Schema, summary: DiscriminantSummary) -> Schema:
    """What was declared, with the values and classes that have weight."""
    columns = list(declared.columns)
    for j, values in zip(Design(declared).categories, summary.moments.values, strict=True):
        columns[j] = replace(columns[j], values=values, order=())
    return Schema(tuple(columns), union(declared.classes, summary.labels)[0])


def read_statistics(summary: DiscriminantSummary, schema: Schema) -> ClassStatistics:
    """The statistics of a summary, over the classes of a schema."""
    design, classes = Design(schema), schema.classes
    values = [schema.columns[j].values for j in design.categories]
    moments = summary.moments.over(classes, values)
    weight = np.ldexp(moments.units.astype(np.float64), -moments.exponent)
    order = design.loop_order
    origin, rest = moments.origin[:, order], moments.mean[:, order]
    center = weight @ (origin + rest) / weight.sum()
    present = weight[:, None] > 0
    way, lost = two_sum(origin, np.broadcast_to(-center, origin.shape))
    gap, tail = two_sum(np.where(present, way, 0.0), np.where(present, lost + rest, 0.0))
    sizes = dict(zip(summary.sizes.classes, summary.sizes.units.tolist(), strict=True))
    unit = np.ldexp(1.0, -moments.exponent)
    stats = ClassStatistics(
        design,
        weight,
        np.array([float(sizes.get(label, 0)) for label in classes]),
        center,
        gap,
        unit * moments.scatter[:, order][:, :, order],
        unit * moments.third[:, order],
        unit * moments.fourth,
        slack=unit * moments.slack[:, :-1][:, order],
        tail=tail,
    )
    return without_rounding(stats)


def class_statistics(
    summary: DiscriminantSummary | ClassStatistics, schema: Schema, class_weight: ClassWeight
) -> ClassStatistics:
    """The statistics of rows, weighed by their classes, or the moments that were given."""
    if isinstance(summary, ClassStatistics):
        return summary
    return weigh_classes(read_statistics(summary, schema), class_weight)


def without_rounding(stats: ClassStatistics) -> ClassStatistics:
    """The same with scatter 0 in columns in which every class varies by last digits only."""
    varies = np.broadcast_to(stats.varies_alone.any(axis=0), stats.gap.shape)
    return replace(stats, scatter=settled(stats.scatter, varies))


def settled(scatter: Float, varies: Mask) -> Float:
    """Scatters of classes, 0 in columns that do not vary; class by class in memory."""
    made = np.where(varies[:, :, None] & varies[:, None, :], scatter, 0.0)
    return np.ascontiguousarray(made)  # also where terms were reordered


def weigh_classes(stats: ClassStatistics, class_weight: ClassWeight) -> ClassStatistics:
    """Every row weighs as much more as its class does; where all that is whole, it is copies."""
    if class_weight is None:
        return stats
    factor = read_class_weight(class_weight, stats.classes, stats.weight)
    weighed = multiply(stats, factor)
    refuse_weightless(class_weight, stats.weight, weighed.weight)
    return weighed


def refuse_weightless(class_weight: ClassWeight, before: Float, after: Float) -> None:
    """Class weights must leave two classes."""
    if (after > 0).sum() < 2 <= (before > 0).sum():
        raise ParameterError(
            f"class_weight={class_weight!r} leaves fewer than two classes with weight: give at "
            "least two classes that have rows a weight above 0."
        )


def multiply(stats: ClassStatistics, factor: Float) -> ClassStatistics:
    """The statistics of rows that weigh so many times as much, by class."""
    weight, rows = multiply_rows(stats.weight, stats.rows, factor)
    return replace(
        stats,
        weight=weight,
        rows=rows,
        scatter=factor[:, None, None] * stats.scatter,
        third=factor[:, None] * stats.third,
        fourth=factor * stats.fourth,
        slack=factor[:, None] * stats.slack,
    )


def multiply_rows(weight: Float, rows: Float, factor: Float) -> tuple[Float, Float]:
    """Weights and rows by class, along the last axis, where every row weighs `factor` as much."""
    whole = (rows == weight).all(axis=-1) & (factor == np.floor(factor)).all(axis=-1)
    weighed = weight * factor
    return weighed, np.where(whole[..., None], weighed, rows * (factor > 0))


def beyond_rounding(difference: Float, largest: Float) -> Float:
    """Differences of means, zero where the numbers themselves do not hold them."""
    return np.where(np.abs(difference) > 2 * EPS * largest, difference, 0.0)


def refuse_no_rows(summary: DiscriminantSummary, schema: Schema) -> None:
    """Where every row has a missing value, say in which columns."""
    if summary.rows.rows and not summary.sizes.units.any():
        counts = zip(summary.rows.missing.tolist(), schema.names, strict=True)
        raise nothing_left([name for n, name in sorted(counts, key=lambda c: -c[0]) if n])


def nothing_left(names: list[str]) -> MissingValueError:
    """The error for rows that all have missing values."""
    return MissingValueError(
        f"No row is left to learn from: too many rows have no value in {listed(names)}. "
        "Leave these columns out, fill them, or set missing='mean' where a column has some values."
    )


def refuse_constant(geometry: Geometry, stats: ClassStatistics) -> None:
    """Something must vary, unless there is one class only."""
    if len(stats.classes) > 1 and not geometry.sphere.size and not geometry.apart.size:
        raise InputError(
            "No column of this table varies by more than the last digits of its numbers, so that "
            "nothing tells the classes apart: check how the table was read, subtract a constant "
            "from columns far from 0, and scale numbers that are too small to be squared (1e-160)."
        )


def describe(geometry: Geometry, design: Design) -> tuple[list[str], list[str]]:
    """The columns that are tied to each other in all rows, and those that tell classes apart.

    That the indicators of a category add up to 1 is known, and not said.
    """
    known = np.zeros((design.n_terms, len(design.categories)))
    for place, j in enumerate(design.categories):
        members = design.owner == j
        known[members, place] = 1 / np.sqrt(design.sizes[j]) if design.sizes[j] > 1 else 0.0
    tied = involved(geometry.still, geometry.size, known)
    apart = involved(geometry.apart, geometry.size, np.zeros((design.n_terms, 0)))
    return columns_of(design, tied), columns_of(design, apart)


def weakest_columns(geometry: Geometry, design: Design) -> list[str]:
    """Columns that nearly repeat each other within classes, where that costs most of the digits."""
    if geometry.condition < WORST_CONDITION:
        return []
    nothing = np.zeros((design.n_terms, 0))
    return columns_of(design, involved(geometry.weakest[:, None], geometry.size, nothing, 0.01))


def columns_of(design: Design, terms: Mask) -> list[str]:
    """The columns of terms, by name."""
    return [design.schema.columns[j].name for j in dict.fromkeys(design.owner[terms].tolist())]


# Canonical directions: those along which class means lie far apart, measured by what is within.


def eigenvectors(geometry: Geometry, spread: Float) -> tuple[Float, Float]:
    """Bw = λSw, λ falling: at most one direction fewer than classes, as in (ZM 20.8).

    B is spreadᵀspread, a row of `spread` a class. With S = I, where `sphere` leads, eigenvectors of
    B are right singular vectors of `spread`. Also known as (Sch 4-11c) and (Bar rayleigh).
    Directions without scatter within come first, with λ infinite; what they explain of the class
    means is taken out of the rest, for which wᵀSw = 1.
    """
    n_apart = geometry.apart.shape[1]
    left, _, right = np.linalg.svd(spread @ geometry.apart, full_matrices=False)
    first = geometry.apart @ right.T
    rest = (spread - left @ (left.T @ spread)) @ geometry.sphere
    _, roots, right = np.linalg.svd(rest, full_matrices=False)
    noise = min(8 * spread.shape[1] * EPS * geometry.condition, 1e-6)
    real = roots > noise * roots.max(initial=0.0)
    real[max(0, len(spread) - 1 - n_apart) :] = False
    directions = np.hstack([first, geometry.sphere @ right[real].T])
    return directions, np.concatenate([np.full(n_apart, np.inf), roots[real] ** 2])


def within_lengths(directions: Float, eigenvalues: Float, spread: Float) -> Float:
    """√wᵀSw of these directions: 1, or, where it is zero, of the least scatter that is assumed."""
    apart = ((spread @ directions) ** 2).sum(axis=0)
    return np.asarray(np.sqrt(np.where(np.isinf(eigenvalues), VARIANCE_FLOOR * apart, 1.0)))


def oriented(directions: Float, gap: Float) -> Float:
    """Directions that point from the class that sorts last to the first."""
    return np.asarray(directions * np.where((gap[0] - gap[-1]) @ directions < 0, -1.0, 1.0))


# --- What a fit met, in sentences -----------------------------------------------------------------


class FitCounts(Protocol):
    """Rows of a fit, as counted."""

    @property
    def rows(self) -> RowCounts:
        """All rows and their missing values."""

    @property
    def sizes(self) -> ClassCounts:
        """By class, the rows that take part."""


def report_missing(summary: FitCounts, schema: Schema) -> tuple[dict[str, int], list[str]]:
    """Missing values by column, and what became of them; warned of, too."""
    missing = dict(zip(schema.names, summary.rows.missing.tolist(), strict=True))
    missing = {name: n for name, n in missing.items() if n}
    notes = []
    dropped = summary.rows.rows - int(summary.sizes.units.sum())
    if dropped:
        notes.append(
            f"{dropped} of {counted(summary.rows.rows, 'row')} "
            f"{agreed(dropped, 'has a missing value and is', 'have a missing value and are')} left "
            "out"
        )
    elif missing:
        notes.append("missing values are filled with the mean of their column")
    if missing:
        warn(
            f"Missing values: {counted_cells(missing)}. {sentence(notes[0])}.", MissingValueWarning
        )
    return missing, notes


def combination(names: list[str]) -> str:
    """Columns in a sentence."""
    return f"column {names[0]!r}" if len(names) == 1 else f"a combination of {listed(names)}"


def sentence(words: str) -> str:
    """Words with a capital letter."""
    return words[0].upper() + words[1:]
