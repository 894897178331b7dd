"""A first look at the rows: what a kernel is asked about, and how wide it is by default."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.columns import union
from sortal.data.schema import Design, Schema
from sortal.data.table import infinite
from sortal.decision.geometry import EPS
from sortal.discriminants.statistics import nothing_left, plan_fill, read_fill
from sortal.errors import ColumnError, InputError, MissingValueError, listed
from sortal.kernels.functions import KernelFunction, KernelInputs
from sortal.summaries.counts import count_rows, whole_rows

if TYPE_CHECKING:
    from sortal._typing import Float
    from sortal.data.columns import Values
    from sortal.data.sources import Batch, DataTable
    from sortal.kernels.options import KernelOptions
    from sortal.summaries.value_tables import BayesSummary, SummarizeBayes


# Squares below it hold fewer than all digits.
_LEAST_SQUARE = float(np.finfo(float).tiny) / EPS

# A mean so many standard deviations from 0 costs a kernel of products 8 digits. Of a power each
# factor takes its part, which is missed where no ridge is above the rounding.
_FAR, _LEAST_RIDGE = 1e4, 1e-8

# Rows of a kernel matrix that are looked at at a time.
_ROWS = 1024


@dataclass(frozen=True)
class FirstPass:
    """Block → counts and moments of the rows that take part; rows and missing values of all."""

    look: SummarizeBayes
    with_missing: bool

    @classmethod
    def of(cls, schema: Schema, with_missing: bool) -> FirstPass:
        """At all columns."""
        return cls(plan_fill(schema), with_missing)

    def __call__(self, batch: Batch) -> BayesSummary:
        """Look at one block."""
        taken = batch if self.with_missing else batch.take(whole_rows(batch))
        return replace(self.look(taken), rows=count_rows(batch))


def refuse_unusable(seen: BayesSummary, schema: Schema, options: KernelOptions) -> None:
    """Rows must be left; a kernel matrix has numbers alone, and all of them."""
    missing = zip(seen.rows.missing.tolist(), schema.names, strict=True)
    named = [name for n, name in sorted(missing, key=lambda one: -one[0]) if n]
    if options.name == "precomputed":
        words = [column.name for column in schema.columns if not column.is_number]
        if words:
            raise ColumnError(
                "kernel='precomputed' takes a matrix of numbers, and there are words or other "
                f"categories in {listed(words)}: give the kernel matrix."
            )
        if named:
            raise _hollow(named)
    if seen.rows.rows and not seen.classes.units.any():
        raise nothing_left(named)


def _hollow(names: list[str]) -> MissingValueError:
    """The error for a kernel matrix with missing values."""
    return MissingValueError(
        f"Input X contains NaN, in {listed(names)}, and kernel='precomputed' takes a matrix "
        "without missing values: give every kernel value, or leave these rows out."
    )


def refuse_hollow(table: DataTable) -> None:
    """A kernel matrix has every number, and none that is infinite."""
    numbers = [j for j in range(len(table.names)) if table.column_schema(j).is_number]
    for start in range(0, table.n_rows, _ROWS):
        part = table.matrix(numbers, start, min(start + _ROWS, table.n_rows))
        if not np.isfinite(part).all():
            missing = np.isnan(part).any(axis=0)
            if missing.any():
                raise _hollow([table.names[numbers[j]] for j in np.flatnonzero(missing)])
            raise infinite(table.names[numbers[int(np.isinf(part).any(axis=0).argmax())]])


def schema_of(declared: Schema, values: tuple[Values, ...], classes: Values) -> Schema:
    """What was declared, with the values of categories and the classes that have weight."""
    columns = list(declared.columns)
    for j, some in zip(Design(declared).categories, values, strict=True):
        columns[j] = replace(columns[j], values=some, order=())
    return Schema(tuple(columns), union(declared.classes, classes)[0])


@dataclass(frozen=True, eq=False)
class ColumnSpread:
    """Mean and variance of each term over the rows that take part; the divisor is their weight."""

    mean: Float
    variance: Float

    @classmethod
    def of(cls, seen: BayesSummary, schema: Schema) -> ColumnSpread:
        """From the first pass; what never varies has variance 0, and missing ones have the mean."""
        design, moments = Design(schema), seen.moments
        fill = read_fill(seen, schema)
        mean = fill.over([schema.columns[j].values for j in design.categories])
        total = float(seen.classes.units.sum())
        units = moments.units.astype(np.float64)
        n_numbers = len(design.numbers)
        apart = (moments.mean - mean[:n_numbers, None]) + moments.tail
        squares = (moments.m2 + units * apart**2).sum(axis=1)
        squares[squares <= units.sum(axis=1) * (4 * EPS * mean[:n_numbers]) ** 2] = 0.0
        squares[squares < units.sum(axis=1) * _LEAST_SQUARE] = 0.0
        weight = [float(table.sum()) for table in seen.values.tables]
        known = np.repeat(weight, [len(shares) for shares in fill.shares])
        share = mean[n_numbers:]
        variance = np.concatenate([squares, known * share * (1 - share)]) / total
        order = design.loop_order
        return cls(mean[order], variance[order])


def read_inputs(spread: ColumnSpread, schema: Schema, options: KernelOptions) -> KernelInputs:
    """Number terms divided by their standard deviation, indicators never; what never varies is
    left out. (S 84) Where only differences matter, the means are taken off, which saves digits.
    """
    design, given = Design(schema), options.name == "precomputed"
    is_number = np.isin(design.owner, design.numbers)
    factor = np.ones(design.n_terms)
    if options.scales and not given:
        deviation = np.sqrt(spread.variance[is_number])
        varies = deviation > 0
        factor[is_number] = np.where(varies, 1.0 / np.where(varies, deviation, 1.0), 0.0)
    shift = spread.mean if options.stationary else np.zeros(design.n_terms)
    return KernelInputs(design, shift, factor, spread.mean)


def refuse_still(spread: ColumnSpread, options: KernelOptions) -> None:
    """Something must vary, unless kernel values themselves are given."""
    if options.name != "precomputed" and not spread.variance.any():
        raise InputError(
            "No column of this table varies, so that nothing tells the classes apart: check how "
            "the table was read, and whether its numbers are too small to be squared (1e-146)."
        )


def read_kernel(
    spread: ColumnSpread, inputs: KernelInputs, options: KernelOptions
) -> KernelFunction:
    """The kernel; without a gamma, 1/Σ var_j for rbf, 1/Σ √var_j for laplacian, or 1. (S 85)

    Variances are those of the inputs.
    """
    deviation = np.sqrt(spread.variance) * inputs.factor
    widths = {"rbf": float((deviation**2).sum()), "laplacian": float(deviation.sum())}
    default = 1.0 / (widths.get(options.name) or 1.0)
    return KernelFunction(
        options.name,
        default if options.gamma is None else float(options.gamma),
        int(options.degree),
        float(options.coef0),
        options.kernel if options.name == "callable" else None,
    )


def still_columns(inputs: KernelInputs) -> list[str]:
    """Number columns that never vary, and are left out."""
    design = inputs.design
    return [design.schema.columns[j].name for j in design.owner[inputs.factor == 0].tolist()]


def far_columns(
    spread: ColumnSpread, inputs: KernelInputs, kernel: KernelFunction, ridge: Any
) -> list[str]:
    """Columns whose mean, as an input of a kernel of products, dwarfs the spread of all.

    Products with them are large and nearly alike: of 16 digits twice the digits of that ratio go.
    """
    if kernel.name not in ("linear", "poly"):
        return []
    design = inputs.design
    vanishing = isinstance(ridge, float | int) and ridge < _LEAST_RIDGE
    most = _FAR ** (1.0 / kernel.degree) if kernel.name == "poly" and vanishing else _FAR
    widest = np.sqrt((spread.variance * inputs.factor**2).sum())
    far = np.abs(spread.mean * inputs.factor) > most * widest
    return [design.schema.columns[j].name for j in design.owner[far].tolist()]
