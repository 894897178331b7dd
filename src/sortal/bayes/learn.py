"""Discrete Bayes: a summary of the rows → probabilities. Smoothing is applied here, on reading."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.bayes.model import BayesModel, JointTable
from sortal.data.columns import union
from sortal.data.schema import ColumnSchema, Schema
from sortal.decision.options import non_negative, read_class_weight, read_priors
from sortal.errors import choose
from sortal.summaries.counts import aligned
from sortal.summaries.value_tables import SummarizeBayes

if TYPE_CHECKING:
    from sortal._typing import Float, Mask
    from sortal.summaries.moments import ColumnMoments
    from sortal.summaries.value_tables import BayesSummary


# A class whose values all agree would have a density without bound: its variance is at least
# this share of the column's total variance.
VARIANCE_FLOOR = 1e-9


@dataclass(frozen=True)
class BayesOptions:
    """Checked options."""

    structure: str = "naive"
    alpha: float = 1.0
    numeric: str = "gaussian"
    priors: Any = None
    class_weight: Any = None

    def __post_init__(self) -> None:
        choose("structure", self.structure, ("naive", "joint"))
        choose("numeric", self.numeric, ("gaussian",))
        non_negative("alpha", self.alpha)


def plan(schema: Schema, options: BayesOptions) -> SummarizeBayes:
    """Which columns are counted and which are measured."""
    numbers = tuple(j for j, column in enumerate(schema.columns) if column.is_number)
    categories = tuple(j for j, column in enumerate(schema.columns) if not column.is_number)
    names = tuple(schema.columns[j].name for j in numbers)
    # a column without any value would leave every row out of the joint table
    filled = tuple(j for j in categories if schema.columns[j].kind == "category")
    cells = filled if options.structure == "joint" else None
    return SummarizeBayes(categories, numbers, names, cells)


def read_schema(declared: Schema, summary: BayesSummary, options: BayesOptions) -> Schema:
    """What was declared, joined by the values and classes that were seen."""
    columns = list(declared.columns)
    for place, j in enumerate(plan(declared, options).categories):
        seen = ColumnSchema(columns[j].name, "category", summary.values.values[place])
        columns[j] = columns[j].merge(seen) if seen.values else columns[j]
    return Schema(tuple(columns), union(declared.classes, summary.classes.classes)[0])


def build_model(summary: BayesSummary, schema: Schema, options: BayesOptions) -> BayesModel:
    """The model of a summary, over the values and classes of a schema."""
    parts = plan(schema, options)
    counts = class_units(summary, schema)
    factor = read_class_weight(options.class_weight, schema.classes, counts)
    moments = summary.moments.over(schema.classes)
    mean, tail, variance, constant = gaussians(moments)
    return BayesModel(
        schema=schema,
        prior=class_priors(counts, factor, options, schema),
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


def class_priors(counts: Float, factor: Float, options: BayesOptions, schema: Schema) -> Float:
    """P(c) = n(c) / n, classes weighted and along the last axis, unless given. (ZM 19.11)"""
    given = read_priors(options.priors, schema.classes)
    if given is not None:
        return np.broadcast_to(given, counts.shape)
    # balanced classes weigh the same exactly, not up to the rounding of n(c) · N / (K n(c))
    balanced = isinstance(options.class_weight, str)
    weight = (counts > 0).astype(np.float64) if balanced else counts * factor
    total = weight.sum(axis=-1, keepdims=True)
    return np.asarray(
        np.where(total > 0, weight, 1.0) / np.where(total > 0, total, weight.shape[-1])
    )


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
