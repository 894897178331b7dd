"""Discrete Bayes: a summary of the rows → probabilities. Smoothing is applied here, on reading."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from sortal.bayes.model import BayesModel, JointTable
from sortal.decision.options import (
    categorical_features,
    class_priors,
    class_weight,
    costs,
    n_jobs,
    number,
    one_of,
    priors,
    read_class_weight,
)
from sortal.summaries.counts import SummarizeBayes, aligned

if TYPE_CHECKING:
    from sortal._typing import (
        CategoricalFeatures,
        ClassWeight,
        CostsLike,
        Float,
        Mask,
        PriorsLike,
    )
    from sortal.data.columns import Schema
    from sortal.summaries.counts import BayesSummary
    from sortal.summaries.moments import ColumnMoments


# A class whose values all agree would have a density without bound: its variance is at least
# this share of the column's total variance.
VARIANCE_FLOOR = 1e-9


Structure = Literal["naive", "joint"]
Numeric = Literal["gaussian"]
Policy = Literal["skip", "error"]


@dataclass(eq=False, repr=False)
class BayesOptions:
    """The parameters of discrete Bayes."""

    structure: Structure = one_of(
        Structure,
        "naive",
        """"naive" takes attributes as independent given the class. "joint" keeps the full table
        P(x|c) over the category columns, of which only the cells seen are stored.""",
    )
    alpha: float = number(
        1.0,
        """Pseudo-count. Naive: P(v|c) = (n(v,c) + alpha) / (n(c) + alpha * V) with V values and
        n(c) the weight of class c's rows that have a value there. Joint:
        P(x|c) = (n(x,c) + alpha * Pb(x|c)) / (n(c) + alpha) with Pb the naive product. With 0,
        a value never seen in a class excludes the class; in the joint structure a cell that no
        class has seen falls back to the naive product.""",
    )
    numeric: Numeric = one_of(
        Numeric,
        "gaussian",
        """Number columns enter by a normal density per class, with variance M2 / n. A variance is
        at least 1e-9 of the column's variance over all rows, so that a class whose values all
        agree does not get an infinite density. A column that never varies is left out.""",
    )
    _: KW_ONLY
    priors: PriorsLike = priors()
    class_weight: ClassWeight = class_weight()
    costs: CostsLike = costs()
    categorical_features: CategoricalFeatures = categorical_features()
    missing: Policy = one_of(
        Policy,
        "skip",
        """A missing value is left out of the counts and of the product (nothing is known, so
        nothing is said), or is an error. At predict missing values are warned of once, with their
        number.""",
    )
    unknown: Policy = one_of(
        Policy, "skip", "The same for a value at predict that was never seen at fit."
    )
    n_jobs: int | None = n_jobs()


def plan(schema: Schema, options: BayesOptions) -> SummarizeBayes:
    """Which columns are counted and which are measured."""
    numbers, categories = schema.numbers, schema.categories
    names = tuple(schema.columns[j].name for j in numbers)
    # a column without any value would leave every row out of the joint table
    filled = tuple(j for j in categories if schema.columns[j].kind == "category")
    cells = filled if options.structure == "joint" else None
    return SummarizeBayes(categories, numbers, names, cells)


def read_schema(
    declared: Schema,
    summary: BayesSummary,
    options: BayesOptions,  # noqa: ARG001
) -> Schema:
    """What was declared, joined by the values and classes that were seen."""
    values = dict(zip(declared.categories, summary.values.values, strict=True))
    return declared.joined(values, summary.labels)


def build_model(summary: BayesSummary, schema: Schema, options: BayesOptions) -> BayesModel:
    """The model of a summary, over the values and classes of a schema."""
    parts = plan(schema, options)
    counts = class_units(summary, schema)
    factor = read_class_weight(options.class_weight, schema.classes, counts)
    moments = summary.moments.over(schema.classes)
    mean, tail, variance, constant = gaussians(moments)
    return BayesModel(
        schema=schema,
        prior=class_priors(counts, schema.classes, options.priors, options.class_weight),
        categories=parts.categories,
        tables=category_tables(summary, schema, options.alpha, factor),
        numbers=parts.numbers,
        mean=mean,
        tail=tail,
        variance=variance,
        constant=constant,
        joint=joint_table(summary, schema, options.alpha, factor),
    )


def class_units(summary: BayesSummary, schema: Schema) -> Float:
    """The weight of each class of the schema."""
    place = {label: k for k, label in enumerate(schema.classes)}
    weight = np.zeros(len(schema.classes))
    at = [place[label] for label in summary.classes.classes]
    weight[at] = np.ldexp(summary.classes.units.astype(np.float64), -summary.classes.exponent)
    return weight


def category_counts(summary: BayesSummary, schema: Schema) -> tuple[Float, ...]:
    """n(v, c) of each category column, over the schema's values and classes."""
    listed = [column.values for column in schema.columns if not column.is_number]
    return tuple(
        np.ldexp(
            aligned(table, seen, summary.values.classes, (values, schema.classes)).astype(float),
            -summary.values.exponent,
        )
        for table, seen, values in zip(
            summary.values.tables, summary.values.values, listed, strict=True
        )
    )


def category_tables(
    summary: BayesSummary, schema: Schema, alpha: float, factor: Float
) -> tuple[Float, ...]:
    """ln P(v|c) of each category column, smoothed by (S 2), which with alpha 0 is (ZM 19.20)."""
    tables = []
    for counts in category_counts(summary, schema):
        weighted = counts * factor
        tables.append(log_smoothed(weighted, weighted.sum(axis=0), alpha, len(counts)))
    return tuple(tables)


def log_smoothed(count: Float, total: Float, alpha: float, n_values: int) -> Float:
    """ln (count + α) / (total + α V); ln 1/V, the limit, where α and total are both 0."""
    with np.errstate(divide="ignore", invalid="ignore"):  # ln 0 = -inf: never seen, not smoothed
        log_p = np.log(count + alpha) - np.log(total + alpha * n_values)
    if alpha > 0 or n_values == 0:
        return np.asarray(log_p)
    return np.where(np.broadcast_to(total, count.shape) > 0, log_p, -np.log(n_values))


def gaussians(moments: ColumnMoments) -> tuple[Float, Float, Float, tuple[int, ...]]:
    """Mean, its tail and floored variance M2 / weight by column and class; constant columns. (S 4)

    A class without any value of a column takes the column's overall mean and variance.
    """
    n, mean, tail = moments.units.astype(np.float64), moments.mean, moments.tail
    total_n, center, rest, total_m2 = pooled(n, mean, tail, moments.m2)
    total_variance = total_m2 / np.maximum(total_n, 1.0)
    constant = tuple(int(j) for j in np.flatnonzero(is_constant(total_variance)))
    variance = floored(n, moments.m2, total_variance)
    mean = np.where(n > 0, mean, center[..., None])
    return mean, np.where(n > 0, tail, rest[..., None]), variance, constant


def is_constant(variance: Float) -> Mask:
    """Whether all numbers are equal, or apart by so little that a floor cannot be written down."""
    return np.asarray(VARIANCE_FLOOR * variance < np.finfo(float).tiny)


def pooled(n: Float, mean: Float, tail: Float, m2: Float) -> tuple[Float, Float, Float, Float]:
    """Over all classes (the last axis) the weight, the mean as center + rest, and M2.

    The center is the mean of the heaviest class: nothing is lost of numbers far from 0, and the
    spread of equal means is exactly 0.
    """
    total = n.sum(axis=-1)
    safe = np.maximum(total, np.finfo(float).tiny)
    center = np.take_along_axis(mean, n.argmax(axis=-1)[..., None], axis=-1)
    apart = (mean - center) + tail
    rest = (n * apart).sum(axis=-1) / safe
    spread = m2.sum(axis=-1) + (n * (apart - rest[..., None]) ** 2).sum(axis=-1)
    return total, center[..., 0], rest, spread


def floored(n: Float, m2: Float, total_variance: Float) -> Float:
    """Each class's variance: the floor, and the stand-in for classes without values."""
    variance = np.maximum(m2, 0.0) / np.where(n > 0, n, 1.0)
    variance = np.maximum(variance, VARIANCE_FLOOR * total_variance[..., None])
    return np.where(n > 0, variance, total_variance[..., None])


def joint_table(
    summary: BayesSummary, schema: Schema, alpha: float, factor: Float
) -> JointTable | None:
    """The cells seen, over the schema's values and classes; None for the naive structure."""
    cells = summary.cells
    if cells is None:
        return None
    categories = [column for column in schema.columns if not column.is_number]
    places = tuple(place for place, column in enumerate(categories) if column.kind == "category")
    codes = np.empty_like(cells.codes)
    for j, place in enumerate(places):
        ranks = {value: v for v, value in enumerate(categories[place].values)}
        at = np.array([ranks[value] for value in cells.values[j]], dtype=np.int32)
        codes[:, j] = at[cells.codes[:, j]] if len(at) else 0
    weight = np.zeros((len(codes), len(schema.classes)))
    columns = [schema.classes.index(label) for label in cells.classes]
    weight[:, columns] = np.ldexp(cells.units.astype(np.float64), -cells.exponent)
    weight *= factor
    return JointTable(places, codes, weight, weight.sum(axis=0), alpha)
