"""Leave one out for discrete Bayes: every row scored by the summary without it, in one sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal.bayes.learn import (
    category_counts,
    class_units,
    floored,
    is_constant,
    joint_table,
    log_smoothed,
    plan,
    pooled,
)
from sortal.bayes.model import (
    cell_weight,
    joint_log_likelihood,
    number_term,
    read_fitted,
    warn_of_impossible,
)
from sortal.decision.options import class_priors, read_class_weight
from sortal.decision.posterior import n_impossible, posterior
from sortal.engines import gather
from sortal.errors import TrainingRowsError
from sortal.modelfile.record import same

if TYPE_CHECKING:
    from sortal._typing import Codes, Float, Mask
    from sortal.base.learner import Fitted, Training
    from sortal.bayes.learn import BayesOptions
    from sortal.bayes.model import BayesModel, FittedRows
    from sortal.data.columns import Schema
    from sortal.summaries.counts import BayesSummary

    BayesFit = Fitted[BayesOptions, BayesSummary, BayesModel]


# Where taking a row out leaves less than this share of M2, the rest is measured again.
_LEAST_REMAINDER = 1e-3


def leave_out(fitted: BayesFit, training: Training) -> tuple[Float, None]:
    """P(c|x) of each row of the fit by the model without it."""
    options, source = fitted.options, training.source
    summary = training.engine.reduce(source, plan(source.schema, options))
    if not same_rows(summary, fitted.summary):
        raise not_fitted()
    rows = gather(training.engine.map(source, read_fitted(fitted.model)))
    log_joint, prior = loo_scores(fitted.summary, fitted.schema, options, rows)
    warn_of_impossible(n_impossible(log_joint))
    return posterior(log_joint, prior), None


def loo_scores(
    summary: BayesSummary, schema: Schema, options: BayesOptions, rows: FittedRows
) -> tuple[Float, Float]:
    """(ln P(x|c)P(c), P(c)) of each row by the counts and moments without it. (S 9)"""
    own = rows.own(len(schema.classes))
    counts = class_units(summary, schema) - own
    factor = read_class_weight(options.class_weight, schema.classes, counts)
    prior = class_priors(counts, schema.classes, options.priors, options.class_weight)
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
    mean, tail, m2 = moments.mean[place], moments.tail[place], np.ldexp(moments.m2[place], scale)
    w = np.where(known, rows.w, 0.0)

    total_n, center, total_rest, total_m2 = (
        np.full(len(x), part) for part in pooled(n[None], mean[None], tail[None], m2[None])
    )
    left_n, left_rest, left_m2 = _taken_out((total_n, center, total_rest, total_m2), x, w, known)
    variance = np.maximum(left_m2, 0.0) / np.where(left_n > 0, left_n, 1.0)

    y, at = rows.y, (np.arange(len(x)), rows.y)
    class_n, class_rest, class_m2 = (np.tile(part, (len(x), 1)) for part in (n, tail, m2))
    own = n[y], mean[y], tail[y], m2[y]
    class_n[at], class_rest[at], class_m2[at] = _taken_out(own, x, w, known, of_class=y)
    present = class_n > 0
    class_mean = np.where(present, mean, center[:, None])
    class_rest = np.where(present, class_rest, left_rest[:, None])
    says_something = (known & ~is_constant(variance))[:, None]
    class_variance = np.where(says_something, floored(class_n, class_m2, variance), 1.0)
    return np.where(says_something, number_term(class_mean, class_rest, class_variance, x), 0.0)


def _taken_out(
    group: tuple[Float, Float, Float, Float],
    x: Float,
    w: Float,
    known: Mask,
    of_class: Codes | None = None,
) -> tuple[Float, Float, Float]:
    """Weight, mean and M2 of each row's group without the row; (S 7), or measured again.

    A group is its weight, its mean as a float64 and the rest of it, and M2; the float64 stays.
    """
    n, mean, rest, m2 = group
    left = n - w
    safe = np.where(left > 0, left, 1.0)
    delta = np.where(known, (x - mean) - rest, 0.0)
    new_rest = np.where(left > 0, rest - delta * w / safe, 0.0)
    new_m2 = np.where(left > 0, m2 - delta * delta * w * (n / safe), 0.0)
    lost = known & (left > 0) & (new_m2 < _LEAST_REMAINDER * m2)
    # at most two rows of a group can carry nearly all its spread
    for i in np.flatnonzero(lost):
        others = known if of_class is None else known & (of_class == of_class[i])
        others = others & (np.arange(len(x)) != i) & (w > 0)
        z = x[others] - mean[i]
        # from the first, so that the mean of equal numbers is that number
        new_rest[i] = z[0] + np.average(z - z[0], weights=w[others])
        new_m2[i] = (w[others] * (z - new_rest[i]) ** 2).sum()
    return left, new_rest, new_m2


def same_rows(a: BayesSummary, b: BayesSummary) -> bool:
    """Whether two summaries can be of the same rows: equal counts, and moments but for rounding."""
    counts = (a.rows, b.rows), (a.classes, b.classes), (a.values, b.values)
    if not all(same(*pair) for pair in counts):
        return False
    x, y = a.moments, b.moments
    variance, other = (part.m2 / np.maximum(part.units, 1) for part in (x, y))
    near = np.abs(x.mean - y.mean) <= 1e-9 * (np.sqrt(variance) + np.abs(x.mean))
    # no absolute tolerance: a column may be measured in millionths
    alike = np.abs(variance - other) <= 1e-6 * variance
    return bool((x.units == y.units).all() and near.all() and alike.all())


def not_fitted() -> TrainingRowsError:
    """The error for rows that were not in the fit."""
    return TrainingRowsError(
        "loo_proba takes the rows of the fit again, with their labels and weights, and these are "
        "others: give the same X, y and sample_weight as to fit."
    )
