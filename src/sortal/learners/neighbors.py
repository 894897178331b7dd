"""Nearest neighbors: rows that are kept → what a distance is, and whose votes count for what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal.data.columns import HOLE
from sortal.data.schema import ColumnSchema, Schema
from sortal.data.values import union
from sortal.errors import ColumnError, InputError, MissingValueError, OptionError, listed, told
from sortal.learners.neighbors_options import UNSCALED
from sortal.learners.neighbors_scale import (
    column_ranges,
    deviations,
    fit_ellipse,
    still_columns,
)
from sortal.learners.options import read_class_weight, read_priors
from sortal.models.neighbors import WEIGHTINGS, Ellipse, NeighborsModel
from sortal.summaries.kept_rows import KeptRows, SummarizeRows, narrowed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.data.values import Values
    from sortal.learners.neighbors_options import NeighborsOptions

    Float = NDArray[np.float64]

# What is tried where n_neighbors="loo".
LOO_GRID = (*range(1, 11), 12, 15, 20, 25, 30, 40, 50)


# --- Rows ----------------------------------------------------------------------------------------


def plan(schema: Schema, options: NeighborsOptions, first: int = 0) -> SummarizeRows:
    """Which columns are read as numbers, and which as values."""
    by_value = options.metric == "hamming"
    is_number = [column.is_number and not by_value for column in schema.columns]
    measured = tuple(j for j, number in enumerate(is_number) if number)
    named = tuple(j for j, number in enumerate(is_number) if not number)
    names = tuple(schema.columns[j].name for j in measured)
    return SummarizeRows(first, measured, named, names)


def read_schema(declared: Schema, rows: KeptRows, by: SummarizeRows) -> Schema:
    """What was declared, joined by the values and classes of the rows."""
    columns = list(declared.columns)
    for place, j in enumerate(by.named):
        if not columns[j].is_number and rows.values[place]:
            seen = ColumnSchema(columns[j].name, "category", rows.values[place])
            columns[j] = columns[j].merge(seen)
    return Schema(tuple(columns), union(declared.classes, rows.labels)[0])


def refuse_words(schema: Schema, options: NeighborsOptions) -> None:
    """A metric of numbers takes numbers alone."""
    words = [c.name for c in schema.columns if c.kind == "category"]
    if words and options.metric not in ("auto", "gower", "hamming"):
        raise ColumnError(
            f"metric={options.metric!r} measures numbers, and {listed(words)} "
            f"{'holds' if len(words) == 1 else 'hold'} words or other categories: use "
            "metric='gower' for columns of both kinds, or 'hamming' for words alone."
        )


def refuse_holes(rows: KeptRows, by: SummarizeRows, options: NeighborsOptions) -> None:
    """A Mahalanobis distance needs every number of the rows."""
    if options.metric != "mahalanobis":
        return
    missing = [name for name, n in zip(by.names, rows.holes()[0], strict=True) if n]
    if missing or by.named:
        columns = f" in {listed(missing)}" if missing else ""
        raise MissingValueError(
            f"metric='mahalanobis' needs every value of the rows, and some{columns} are missing: "
            "fill them, or use metric='gower', which leaves holes out."
        )


def kept_rows(model: NeighborsModel) -> KeptRows:
    """The rows of a model, as they were summarized."""
    labels, y = narrowed(model.classes, model.labels)
    return KeptRows(
        model.numbers,
        model.codes,
        model.values,
        labels,
        y,
        model.units,
        model.exponent,
        model.ids,
        model.next_id,
    )


# --- The model -----------------------------------------------------------------------------------


def build_model(rows: KeptRows, schema: Schema, options: NeighborsOptions) -> NeighborsModel:
    """The model of rows; where the number of neighbors is to be chosen, that of one neighbor."""
    counts = class_weights(rows, schema.classes)
    metric = resolve_metric(rows, schema, options)
    scale = _resolve_scale(metric, options.scale)
    widths = _widths(rows, scale)
    ellipse = _ellipse(rows) if metric == "mahalanobis" else None
    alone = len(schema.classes) == 1  # whoever is near, there is one class to vote for
    if not alone and not widths.any() and not any(rows.values):
        raise InputError(
            "No column is left to measure a distance by: every one is without values, or never "
            "varies. Check the columns, or set scale=None."
        )
    k = 1 if options.chooses else int(options.n_neighbors)
    if alone:
        k = min(k, len(rows))
    else:
        refuse_few(rows, k)
    place = {label: c for c, label in enumerate(schema.classes)}
    at = np.array([place[label] for label in rows.labels], dtype=np.int32)
    return NeighborsModel(
        schema=schema,
        metric=metric,
        power=_power(metric, options.p),
        scale=scale,
        numbers=rows.numbers,
        codes=rows.codes,
        values=rows.values,
        widths=widths,
        ellipse=ellipse,
        labels=at[rows.y],
        units=rows.units,
        exponent=rows.exponent,
        ids=rows.ids,
        next_id=rows.next_id,
        class_factors=class_factors(counts, options, schema.classes),
        prior=class_priors(counts, options, schema.classes),
        k=k,
        weighting="uniform" if options.weights == "auto" else options.weights,
    )


def resolve_metric(rows: KeptRows, schema: Schema, options: NeighborsOptions) -> str:
    """The metric; "auto" is gower where there are words or holes, and euclidean otherwise."""
    if options.metric != "auto":
        return options.metric
    words = any(column.kind == "category" for column in schema.columns)
    holes = words or rows.has_hole_in_numbers or bool((rows.codes == HOLE).any())
    return "gower" if holes else "euclidean"


def _resolve_scale(metric: str, given: str | None) -> str:
    if given is None or metric in UNSCALED:
        return "none"
    if given != "auto":
        return given
    return "range" if metric == "gower" else "std"


def _power(metric: str, p: float) -> float:
    if metric == "minkowski":
        return float(p)
    return 2.0 if metric in ("euclidean", "mahalanobis") else 1.0


def _widths(rows: KeptRows, scale: str) -> Float:
    """The scale of each number column; 0 for one without values, or that never varies. (S 71)"""
    if scale == "none" and not rows.has_hole_in_numbers:
        return np.ones(rows.numbers.shape[1])
    low, high = column_ranges(rows.numbers)
    if scale == "none":
        return np.where(low <= high, 1.0, 0.0)
    varies = high > low
    widths = np.where(varies, high, 0.0) - np.where(varies, low, 0.0)
    if scale == "std":
        found = deviations(rows.numbers, row_weights(rows), low, high)
        widths = np.where(varies & (found > 0), found, widths)
    return np.asarray(widths)


def row_weights(rows: KeptRows) -> Float | None:
    """The weight of each row; None where every row weighs one."""
    return None if rows.units is None else np.ldexp(rows.units.astype(np.float64), -rows.exponent)


def _ellipse(rows: KeptRows) -> Ellipse:
    """By N − 1; fractional weights are importances, and N counts rows."""
    w, n = row_weights(rows), len(rows)
    total = float(n if w is None else w.sum())
    copies = rows.exponent == 0
    return fit_ellipse(rows.numbers, w, total - 1 if copies else total * (n - 1) / n)


# --- Classes -------------------------------------------------------------------------------------


def class_weights(rows: KeptRows, classes: Values) -> Float:
    """The weight of each class."""
    place = {label: c for c, label in enumerate(classes)}
    found = np.bincount(rows.y, weights=row_weights(rows), minlength=len(rows.labels))
    counts = np.zeros(len(classes))
    counts[[place[label] for label in rows.labels]] = found
    return counts


def class_factors(counts: Float, options: NeighborsOptions, classes: Values) -> Float:
    """What a vote for a class counts: its class weight, and π_c / (N_c / N). (S 77)

    Classes lie along the last axis; one without rows, for which nobody votes, has 0.
    """
    factors = read_class_weight(options.class_weight, classes, counts)
    priors = read_priors(options.priors, classes)
    if priors is None:
        return np.asarray(np.broadcast_to(factors, counts.shape))
    share = counts / counts.sum(axis=-1, keepdims=True)
    ratio = np.where(counts > 0, priors / np.where(counts > 0, share, 1.0), 0.0)
    return np.asarray(factors * ratio)


def class_priors(counts: Float, options: NeighborsOptions, classes: Values) -> Float:
    """What stands where nobody votes: the priors, or the weights of the classes as shares."""
    given = read_priors(options.priors, classes)
    if given is not None:
        return np.asarray(np.broadcast_to(given, counts.shape))
    balanced = isinstance(options.class_weight, str)
    factors = read_class_weight(options.class_weight, classes, counts)
    # balanced classes weigh the same exactly, not up to rounding
    weight = (counts > 0).astype(np.float64) if balanced else counts * factors
    total = weight.sum(axis=-1, keepdims=True)
    even = np.full_like(weight, 1.0 / weight.shape[-1])
    return np.where(total > 0, weight / np.where(total > 0, total, 1.0), even)


# --- Neighbors -----------------------------------------------------------------------------------


def refuse_few(rows: KeptRows, k: int) -> None:
    """No more places than copies can fill; of weights with fractions some places may stay empty."""
    total = len(rows) if rows.units is None else int(rows.units.sum())
    if rows.exponent == 0 and k > total:
        raise OptionError(
            f"n_neighbors={told(k)} but the rows have weight {total} in all: give at most that, or "
            "more rows."
        )


def candidates(rows: KeptRows, options: NeighborsOptions) -> tuple[list[int], list[str]]:
    """The numbers of neighbors and the weightings to be tried."""
    weightings = list(WEIGHTINGS) if options.weights == "auto" else [options.weights]
    if not isinstance(options.n_neighbors, str):
        ks = sorted({int(k) for k in options.n_neighbors})
        refuse_few(rows, ks[-1])
        return ks, weightings
    if len(rows) < 2:
        raise OptionError(
            "n_neighbors='loo' but there is one row only, and without it no neighbor is left: give "
            "more rows, or a number of neighbors."
        )
    units = rows.row_units()
    place = units.sum() / len(rows) if rows.exponent else 1
    most = max((units.sum() - units.max()) / place, 1)
    return [k for k in LOO_GRID if k <= most], weightings


def notes(model: NeighborsModel) -> list[str]:
    """What to know of the columns."""
    said = []
    columns, measured = model.schema.columns, model.measured
    for place in np.flatnonzero(~model.used_numbers).tolist():
        empty = bool(np.isnan(model.numbers[:, place]).all())
        words = "has no value" if empty else "never varies"
        said.append(f"column {columns[measured[place]].name!r} {words} and is left out")
    nameless = [columns[model.named[place]].name for place in np.flatnonzero(~model.used_codes)]
    said += [f"column {name!r} has no value and is left out" for name in nameless]
    if model.ellipse is not None and model.ellipse.root.shape[1] < len(measured):
        still = still_columns(model.ellipse, model.n_rows)
        names = [columns[j].name for j, part in zip(measured, still, strict=True) if part]
        said.append(
            f"the covariance is singular: a combination of {listed(names)} never varies, and "
            "distances leave it out"
        )
    return said
