"""Leave one out for discrete Bayes: every row scored by the summary without it, in one sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal.errors import SubtractError
from sortal.learners.bayes import (
    category_counts,
    class_priors,
    class_units,
    floored,
    is_constant,
    joint_table,
    log_smoothed,
    pooled,
)
from sortal.learners.options import read_class_weight
from sortal.models.bayes import cell_weight, joint_log_likelihood, number_term

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.data.schema import Schema
    from sortal.learners.bayes import BayesOptions
    from sortal.models.bayes_blocks import FittedRows
    from sortal.summaries.bayes import BayesSummary

    Float = NDArray[np.float64]

# Where taking a row out leaves less than this share of M2, the rest is measured again.
_LEAST_REMAINDER = 1e-3


def loo_scores(
    summary: BayesSummary, schema: Schema, options: BayesOptions, rows: FittedRows
) -> tuple[Float, Float]:
    """(ln P(x|c)P(c), P(c)) of each row by the counts and moments without it. (S 9)"""
    own = rows.own(len(schema.classes))
    counts = class_units(summary, schema) - own
    factor = read_class_weight(options.class_weight, schema.classes, counts)
    prior = class_priors(counts, factor, options, schema)
    with np.errstate(divide="ignore"):  # a class that loses its only row has P(c) = 0
        total = np.log(prior) + _categories(summary, schema, options.alpha, rows, factor)
    for place in range(len(rows.encoded.numbers)):
        total += _numbers(summary, schema, rows, place)
    return total, prior


def _categories(
    summary: BayesSummary, schema: Schema, alpha: float, rows: FittedRows, factor: Float
) -> Float:
    own = rows.own(len(schema.classes))
    total = np.zeros_like(own)
    for table, codes in zip(category_counts(summary, schema), rows.encoded.codes, strict=True):
        known = (codes >= 0)[:, None]
        count = np.where(known, table[np.maximum(codes, 0)] - own, 0.0) if len(table) else 0 * own
        if (count < 0).any():
            raise not_fitted()
        of_class = table.sum(axis=0) - np.where(known, own, 0.0)
        term = log_smoothed(count * factor, of_class * factor, alpha, len(table))
        total += np.where(known, term, 0.0)
    joint = joint_table(summary, schema, alpha, np.ones(len(schema.classes)))
    if joint is None:
        return total
    codes = rows.encoded.codes[list(joint.places)]
    in_a_cell = np.where(np.all(codes >= 0, axis=0)[:, None], own, 0.0)
    cell = cell_weight(joint, rows.encoded.codes) - in_a_cell
    if (cell < 0).any():
        raise not_fitted()
    of_class = joint.class_weight - in_a_cell
    return joint_log_likelihood(cell * factor, of_class * factor, total, alpha)


def _numbers(summary: BayesSummary, schema: Schema, rows: FittedRows, place: int) -> Float:
    """ln density of one number column; own class and total are measured without the row."""
    moments = summary.moments.over(schema.classes)
    scale = -moments.exponent
    x = rows.encoded.numbers[place]
    known = ~np.isnan(x)
    n = np.ldexp(moments.units[place].astype(np.float64), scale)
    mean, m2 = moments.mean[place], np.ldexp(moments.m2[place], scale)
    w = np.where(known, rows.w, 0.0)

    total_n, total_mean, total_m2 = (
        np.full(len(x), part) for part in pooled(n[None], mean[None], m2[None])
    )
    _, left_mean, left_m2 = _taken_out(total_n, total_mean, total_m2, x, w, known)
    left_n = total_n - w
    variance = np.maximum(left_m2, 0.0) / np.where(left_n > 0, left_n, 1.0)

    y = rows.y
    groups = np.tile(n, (len(x), 1)), np.tile(mean, (len(x), 1)), np.tile(m2, (len(x), 1))
    own_n, own_mean, own_m2 = _taken_out(n[y], mean[y], m2[y], x, w, known, of_class=y)
    at = np.arange(len(x)), y
    groups[0][at], groups[1][at], groups[2][at] = own_n, own_mean, own_m2
    class_mean, class_variance = floored(*groups, left_mean, variance)
    says_something = known & ~is_constant(left_mean, variance)
    class_variance = np.where(says_something[:, None], class_variance, 1.0)
    return np.where(says_something[:, None], number_term(class_mean, class_variance, x), 0.0)


def _taken_out(
    n: Float,
    mean: Float,
    m2: Float,
    x: Float,
    w: Float,
    known: NDArray[np.bool_],
    of_class: NDArray[np.int32] | None = None,
) -> tuple[Float, Float, Float]:
    """Weight, mean and M2 of each row's group without the row; (S 7), or measured again."""
    left = n - w
    safe = np.where(left > 0, left, 1.0)
    delta = np.where(known, x, mean) - mean
    new_mean = np.where(left > 0, mean - delta * w / safe, 0.0)
    new_m2 = np.where(left > 0, m2 - delta * delta * w * (n / safe), 0.0)
    lost = known & (left > 0) & (new_m2 < _LEAST_REMAINDER * m2)
    # at most two rows of a group can carry nearly all its spread, unless the spread is rounding
    for i in np.flatnonzero(lost & ~is_constant(mean, m2 / np.maximum(n, 1e-300))):
        rest = known if of_class is None else known & (of_class == of_class[i])
        rest = rest & (np.arange(len(x)) != i)
        new_mean[i] = np.average(x[rest], weights=w[rest])
        new_m2[i] = (w[rest] * (x[rest] - new_mean[i]) ** 2).sum()
    return left, new_mean, new_m2


def same_rows(a: BayesSummary, b: BayesSummary) -> bool:
    """Whether two summaries can be of the same rows: equal counts, and moments but for rounding."""
    counts = (a.rows, b.rows), (a.classes, b.classes), (a.values, b.values)
    if any(one.to_bytes() != other.to_bytes() for one, other in counts):
        return False
    x, y = a.moments, b.moments
    variance, other = (part.m2 / np.maximum(part.units, 1) for part in (x, y))
    near = np.abs(x.mean - y.mean) <= 1e-9 * (np.sqrt(variance) + np.abs(x.mean))
    # no absolute tolerance: a column may be measured in millionths
    alike = np.abs(variance - other) <= 1e-6 * variance
    alike |= is_constant(x.mean, variance) & is_constant(y.mean, other)
    return bool((x.units == y.units).all() and near.all() and alike.all())


def not_fitted() -> SubtractError:
    """The error for rows that were not in the fit."""
    return SubtractError(
        "loo_proba takes the rows of the fit again, with their labels and weights, and these are "
        "others: give the same X, y and sample_weight as to fit."
    )
