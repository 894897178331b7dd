"""Nearest neighbors: checked options, and rows that are kept → scales, metric, weights of votes."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import numpy as np

from sortal.data.columns import MISSING
from sortal.decision.geometry import involved
from sortal.decision.options import (
    as_real,
    categorical_features,
    class_priors,
    class_weight,
    costs,
    is_whole,
    n_jobs,
    one_of,
    option,
    priors,
    read_class_weight,
    read_priors,
    whole_number,
)
from sortal.engines import one_blas_thread
from sortal.errors import (
    ColumnError,
    InputError,
    MissingValueError,
    ParameterError,
    brief,
    listed,
)
from sortal.neighbors.model import (
    METRICS,
    WEIGHTINGS,
    MahalanobisMetric,
    MetricFacts,
    NeighborsModel,
    Weighting,
    by_rows,
    inverse_root,
)
from sortal.summaries.rows import KeptRows, SummarizeRows, gather_rows, narrowed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import DTypeLike, NDArray

    from sortal._typing import (
        CategoricalFeatures,
        ClassWeight,
        Codes,
        CostsLike,
        Counts,
        Float,
        Mask,
        PriorsLike,
    )
    from sortal.base.learner import Fitted, Training
    from sortal.data.columns import Schema, Values

    Matrix = NDArray[np.floating[Any]]
    NeighborsFit: TypeAlias = "Fitted[NeighborsOptions, KeptRows, NeighborsModel]"


# --- The parameters of nearest neighbors ---------------------------------------------------------

Metric = Literal["auto", "euclidean", "manhattan", "minkowski", "hamming", "gower", "mahalanobis"]
Scale = Literal["auto", "range", "std"]
Voting = Literal["auto", Weighting]
Missing = Literal["skip", "error"]
Unknown = Literal["differs", "skip", "error"]

# The power of a difference of 1e-10 is still a number.
MOST_POWER = 30


def _read_neighbors(name: str, given: Any) -> object:
    several = isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim)
    if several and len(given):
        for k in given:
            whole_number(name, k, 1)
    elif not (isinstance(given, str) and given == "loo") and not (is_whole(given) and given >= 1):
        raise ParameterError(
            f"{name}={brief(given)} cannot be used: give a whole number of at least 1, a list "
            "of such numbers to choose among, or 'loo'."
        )
    return given


def _read_power(name: str, given: object) -> object:
    power = as_real(given)
    if not power >= 1:
        raise ParameterError(
            f"{name}={brief(given)} cannot be used: give a number of at least 1, or infinity. "
            "Below 1, two sides of a triangle may be shorter than the third."
        )
    if power > MOST_POWER and given != math.inf:
        raise ParameterError(
            f"{name}={brief(given)} cannot be used: such powers of small differences vanish in "
            f"float64. Give at most {MOST_POWER}, or infinity, which is the largest difference "
            "alone."
        )
    return given


@dataclass(eq=False, repr=False)
class NeighborsOptions:
    """The parameters of nearest neighbors."""

    n_neighbors: int | str | Sequence[int] = option(
        5,
        'int of at least 1, "loo" or list of int',
        """Places that the nearest rows fill. A row of weight w fills w of them, the last in part;
        where some weight has a fraction, weights are divided by their mean before.
        With "loo", or a list, the number of least leave-one-out error, and the weighting too
        unless `weights` names one.""",
        _read_neighbors,
    )
    metric: Metric = one_of(
        Metric,
        "auto",
        """"euclidean", "manhattan", "minkowski" (with p), "mahalanobis" for numbers; "hamming", the
        number of columns that differ; "gower" for mixed tables, the mean over the columns known in
        both rows of |x - t| / range for numbers and of 0 or 1 for categories. "auto" is "gower" if
        a column is a category or a row has a missing value, and "euclidean" otherwise.""",
    )
    _: KW_ONLY
    p: float = option(
        2.0, "float", 'The power of "minkowski", from 1 to 30, or infinite.', _read_power
    )
    scale: Scale | None = one_of(
        Scale,
        "auto",
        """What numbers are divided by: the range, the standard deviation (divisor: the weight of
        all rows) or nothing. "auto" is the range under gower, nothing under hamming and
        mahalanobis, and the standard deviation otherwise. A column that never varies is then left
        out.""",
        none=True,
    )
    weights: Voting = one_of(
        Voting,
        "auto",
        """What a vote counts: "uniform"; "distance", the nearest's over its own (rows equal to x
        decide alone); kernels of the distance over that of the row at place k + 1,
        "triangular", "epanechnikov" and "gaussian"; "rank", the place from behind. "auto" is
        "uniform", unless the number of neighbors is chosen: then all six are tried.""",
    )
    priors: PriorsLike = priors("Votes count as if the classes had these shares of the rows.")
    class_weight: ClassWeight = class_weight()
    costs: CostsLike = costs()
    categorical_features: CategoricalFeatures = categorical_features()
    missing: Missing = one_of(
        Missing,
        "skip",
        """A missing value in either row leaves its column out of the distance, which is then
        stretched to all columns; or it is an error, at fit and at predict.""",
    )
    unknown: Unknown = one_of(
        Unknown,
        "differs",
        """A value at predict that no row has differs from every row, is left out like a missing
        value, or is an error.""",
    )
    n_jobs: int | None = n_jobs()


def check(options: NeighborsOptions) -> None:
    """Refuse a scale for a metric that has none."""
    if facts_of(options).scale == "none" and options.scale not in ("auto", None):
        raise ParameterError(
            f"scale={options.scale!r} does not fit metric={options.metric!r}, which measures "
            "columns in a unit of its own: set scale='auto' or None, or another metric."
        )


def facts_of(options: NeighborsOptions) -> MetricFacts:
    """What is true of the metric; "auto" takes all that gower takes."""
    return METRICS["gower" if options.metric == "auto" else options.metric]


def chooses(options: NeighborsOptions) -> bool:
    """Whether the number of neighbors is to be chosen."""
    return not is_whole(options.n_neighbors)


# --- How columns are made comparable: their ranges, standard deviations and covariance -----------

# Numbers that are read at a time, few enough to stay in the cache. Sums are taken along the rows
# of a block and then over blocks, so that their digits depend on the rows alone.
_CELLS = 1 << 17

# Along a short axis NumPy is slow: up to so many columns, blocks are kept column by column.
_FEW = 16

# Squares of less vanish: such deviations are made larger first.
_SMALL = 1e-100


def column_ranges(x: Matrix) -> tuple[Float, Float]:
    """The least and the largest known number of each column; inf and -inf where there is none."""
    low, high = np.full(x.shape[1], np.inf), np.full(x.shape[1], -np.inf)
    for block, _ in _blocks(x, None, x.dtype):
        np.fmin(low, np.fmin.reduce(block, axis=1), out=low)
        np.fmax(high, np.fmax.reduce(block, axis=1), out=high)
    return low, high


def deviations(x: Matrix, w: Float | None, low: Float, high: Float) -> Float:
    """√(Σ w (x − m)² / Σ w) of each column, missing values left out. (S 71)"""
    mean = means(x, w)[:, None]
    small = (high > low) & (high - low < _SMALL)
    powers = np.frexp(np.where(small, high - low, 1.0))[1].astype(np.float64)
    lift = np.where(small, np.exp2(-powers), 1.0)
    squares, total = np.zeros((2, x.shape[1]))
    for block, weight in _blocks(x, w):
        d = np.subtract(block, mean, out=block)
        if small.any():
            np.multiply(d, lift[:, None], out=d)
        part, count = _sums(np.multiply(d, d, out=d), weight)
        squares += part
        total += count
    return np.asarray(np.sqrt(squares / np.where(total > 0, total, 1.0)) / lift)


def means(x: Matrix, w: Float | None) -> Float:
    """Σ w x / Σ w of each column, missing values left out; 0 for a column without values."""
    sums, total = np.zeros((2, x.shape[1]))
    for block, weight in _blocks(x, w):
        part, count = _sums(block, weight)
        sums += part
        total += count
    return np.asarray(sums / np.where(total > 0, total, 1.0))


def _blocks(
    x: Matrix, w: Float | None, dtype: DTypeLike = np.float64
) -> Iterator[tuple[Any, Float | None]]:
    """The columns of some rows at a time, copied, and the weights of these rows."""
    step = max(1, _CELLS // max(1, x.shape[1]))
    order: Literal["F", "C"] = "F" if x.shape[1] <= _FEW else "C"
    for start in range(0, len(x), step):
        block = np.array(x[start : start + step], dtype=dtype, order=order)
        yield block.T, None if w is None else w[start : start + step]


def _sums(block: Float, weight: Float | None) -> tuple[Float, Float]:
    """Σ w x and Σ w of each column, over the rows that have a value."""
    total = block.shape[1] if weight is None else weight.sum()
    weighted = block if weight is None else block * weight
    sums = weighted.sum(axis=1)
    if not np.isnan(sums).any():
        return sums, np.full(len(block), float(total))
    known = ~np.isnan(block)
    return np.nansum(weighted, axis=1), known.sum(axis=1) if weight is None else known @ weight


def fit_ellipse(x: Matrix, w: Float | None, divisor: float) -> MahalanobisMetric:
    """S = Σ w (x − m)(x − m)ᵀ / divisor, its inverse root, and what it is about. (S 74)"""
    center, p = means(x, w), x.shape[1]
    scatter, largest = np.zeros((p, p)), np.zeros(p)
    with one_blas_thread():
        for block, weight in _blocks(x, w):
            d = block - center[:, None]
            scatter += (d if weight is None else d * weight) @ d.T
            np.maximum(largest, np.abs(block).max(axis=1), out=largest)
    S = (scatter + scatter.T) / (2 * divisor)
    return MahalanobisMetric(center, S, largest, inverse_root(S, largest, len(x)).sphere)


def still_columns(ellipse: MahalanobisMetric, n_rows: int) -> Mask:
    """Which columns take part in a combination that never varies."""
    geometry = inverse_root(ellipse.covariance, ellipse.magnitude, n_rows)
    none = np.zeros((len(ellipse.center), 0))
    return involved(geometry.still, geometry.size, none)


# What is tried where n_neighbors="loo".
LOO_GRID = (*range(1, 11), 12, 15, 20, 25, 30, 40, 50)


# --- Rows ----------------------------------------------------------------------------------------


def plan(schema: Schema, options: NeighborsOptions, first: int = 0) -> SummarizeRows:
    """Which columns are read as numbers, and which as values."""
    if facts_of(options).by_value:
        return SummarizeRows(first, (), tuple(range(len(schema.columns))), ())
    names = tuple(schema.columns[j].name for j in schema.numbers)
    return SummarizeRows(first, schema.numbers, schema.categories, names)


def gather_kept(training: Training, by: SummarizeRows, options: NeighborsOptions) -> KeptRows:
    """The rows of all blocks, in the order of their ids."""
    source = by_rows(training.source, by_value=facts_of(options).by_value)
    n = source.table.n_rows if source.units is None else int(np.count_nonzero(source.units))
    dtype = source.table.matrix_type(source.measured if by.measured else ())
    return gather_rows(training.engine.map(source, by), n, dtype)


def missing_cells(rows: KeptRows, schema: Schema, options: NeighborsOptions) -> Counts:
    """Missing values by column."""
    by, found = plan(schema, options), np.zeros(len(schema.columns), dtype=np.int64)
    found[list(by.measured)], found[list(by.named)] = rows.missing()
    return found


def read_schema(declared: Schema, rows: KeptRows, options: NeighborsOptions) -> Schema:
    """What was declared, joined by the values and classes of the rows."""
    by = plan(declared, options)
    _refuse_words(declared, options)
    _refuse_missing(rows, by, options)
    return declared.joined(dict(zip(by.named, rows.values, strict=True)), rows.labels)


def _refuse_words(schema: Schema, options: NeighborsOptions) -> None:
    """A metric of numbers takes numbers alone."""
    words = [c.name for c in schema.columns if c.kind == "category"]
    if words and not facts_of(options).takes_words:
        raise ColumnError(
            f"metric={options.metric!r} measures numbers, and {listed(words)} "
            f"{'holds' if len(words) == 1 else 'hold'} words or other categories: use "
            "metric='gower' for columns of both kinds, or 'hamming' for words alone."
        )


def _refuse_missing(rows: KeptRows, by: SummarizeRows, options: NeighborsOptions) -> None:
    """A covariance needs every number of the rows."""
    if not facts_of(options).by_covariance:
        return
    missing = [name for name, n in zip(by.names, rows.missing()[0], strict=True) if n]
    if missing or by.named:
        columns = f" in {listed(missing)}" if missing else ""
        raise MissingValueError(
            f"metric={options.metric!r} needs every value of the rows, and some{columns} are "
            "missing: fill them, or use metric='gower', which leaves missing values out."
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
    place = {label: c for c, label in enumerate(schema.classes)}
    labels = np.array([place[label] for label in rows.labels], dtype=np.int32)[rows.y]
    counts = class_weights(labels, row_weights(rows), len(place))
    metric = resolve_metric(rows, schema, options)
    scale = _resolve_scale(metric, options.scale)
    widths = _widths(rows, scale)
    ellipse = _ellipse(rows) if METRICS[metric].by_covariance else None
    alone = len(schema.classes) == 1  # whoever is near, there is one class to vote for
    if not alone and not widths.any() and not any(rows.values):
        raise InputError(
            "No column is left to measure a distance by: every one is without values, or never "
            "varies. Check the columns, or set scale=None."
        )
    k = 1 if chooses(options) else int(cast("int", options.n_neighbors))
    if alone:
        k = min(k, len(rows))
    else:
        refuse_few(rows, k)
    return NeighborsModel(
        schema=schema,
        metric=metric,
        power=METRICS[metric].power or float(options.p),
        scale=scale,
        numbers=rows.numbers,
        codes=rows.codes,
        values=rows.values,
        widths=widths,
        ellipse=ellipse,
        labels=labels,
        units=rows.units,
        exponent=rows.exponent,
        ids=rows.ids,
        next_id=rows.next_id,
        class_factors=class_factors(counts, options, schema.classes),
        prior=class_priors(counts, schema.classes, options.priors, options.class_weight),
        k=k,
        weighting="uniform" if options.weights == "auto" else options.weights,
    )


def resolve_metric(rows: KeptRows, schema: Schema, options: NeighborsOptions) -> str:
    """The metric; "auto" is gower for words or missing values, and euclidean otherwise."""
    if options.metric != "auto":
        return options.metric
    words = any(column.kind == "category" for column in schema.columns)
    missing = words or rows.has_missing_numbers or bool((rows.codes == MISSING).any())
    return "gower" if missing else "euclidean"


def _resolve_scale(metric: str, given: str | None) -> str:
    own = METRICS[metric].scale
    if given is None or own == "none":
        return "none"
    return own if given == "auto" else given


def _widths(rows: KeptRows, scale: str) -> Float:
    """The scale of each number column; 0 for one without values, or that never varies. (S 71)"""
    if scale == "none" and not rows.has_missing_numbers:
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


def row_weights(rows: KeptRows | NeighborsModel) -> Float | None:
    """The weight of each row; None where every row weighs one."""
    return None if rows.units is None else np.ldexp(rows.units.astype(np.float64), -rows.exponent)


def _ellipse(rows: KeptRows) -> MahalanobisMetric:
    """By N − 1; fractional weights are importances, and N counts rows."""
    w, n = row_weights(rows), len(rows)
    total = float(n if w is None else w.sum())
    copies = rows.exponent == 0
    return fit_ellipse(rows.numbers, w, total - 1 if copies else total * (n - 1) / n)


# --- Classes -------------------------------------------------------------------------------------


def class_weights(labels: Codes, weights: Float | None, n_classes: int) -> Float:
    """The weight of each class."""
    return np.bincount(labels, weights, minlength=n_classes).astype(np.float64)


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


# --- Neighbors -----------------------------------------------------------------------------------


def refuse_few(rows: KeptRows, k: int) -> None:
    """No more places than copies can fill; of weights with fractions some places may stay empty."""
    total = int(rows.row_units().sum())
    if rows.exponent == 0 and k > total:
        raise ParameterError(
            f"n_neighbors={brief(k)} but the rows have weight {total} in all: give at most that, "
            "or more rows."
        )


def candidates(rows: KeptRows, options: NeighborsOptions) -> tuple[list[int], list[Weighting]]:
    """The numbers of neighbors and the weightings to be tried."""
    weightings = list(WEIGHTINGS) if options.weights == "auto" else [options.weights]
    if not isinstance(options.n_neighbors, str):
        ks = sorted({int(k) for k in cast("Sequence[int]", options.n_neighbors)})
        refuse_few(rows, ks[-1])
        return ks, weightings
    if len(rows) < 2:
        raise ParameterError(
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
