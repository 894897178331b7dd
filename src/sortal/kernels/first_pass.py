"""A first look at the rows: what a kernel is asked about, how wide it is, and what its basis is."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from sortal.base.learner import CellWords
from sortal.data.columns import Design, Schema, union
from sortal.data.table import infinite
from sortal.decision.geometry import EPS
from sortal.decision.options import read_seed
from sortal.discriminants.statistics import nothing_left, plan_fill, read_fill
from sortal.engines import gather
from sortal.errors import (
    ColumnError,
    InputError,
    MissingValueError,
    ParameterError,
    SortalWarning,
    agreed,
    brief,
    counted,
    listed,
    warn,
)
from sortal.kernels.landmarks import MOST_SAMPLED, LandmarkSpace, choose_landmarks
from sortal.kernels.model import (
    STATIONARY,
    KernelFunction,
    KernelInputs,
    is_matrix,
    kernel_name,
    positive,
)
from sortal.summaries.counts import count_rows, whole_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from numpy.typing import NDArray

    from sortal._typing import Counts, Float, Label, Mask, Places
    from sortal.base.learner import Training
    from sortal.data.columns import Values
    from sortal.data.sources import Batch, DataTable
    from sortal.kernels.learn import KernelOptions
    from sortal.kernels.model import ReportProgress
    from sortal.summaries.counts import BayesSummary


# What becomes of missing and unknown values.
WORDS = CellWords(
    missing="the mean of their column stands for them",
    missing_remedy="Fill them, or set missing='drop_rows' or missing='mean'.",
    unknown_remedy=(
        "Map them to known values, or set unknown='skip': the mean of their column stands for them."
    ),
)

# Squares below it hold fewer than all digits.
_LEAST_SQUARE = float(np.finfo(float).tiny) / EPS

# A mean so many standard deviations from 0 costs a kernel of products 8 digits. Of a power each
# factor takes its part, which is missed where no ridge is above the rounding.
_FAR, _LEAST_RIDGE = 1e4, 1e-8

# Rows of a kernel matrix that are looked at at a time.
_ROWS = 1024


def refuse_unusable(seen: BayesSummary, schema: Schema, options: KernelOptions) -> None:
    """Rows must be left; a kernel matrix has numbers alone, and all of them."""
    missing = zip(seen.rows.missing.tolist(), schema.names, strict=True)
    named = [name for n, name in sorted(missing, key=lambda one: -one[0]) if n]
    if is_matrix(options):
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
    design, name = Design(schema), kernel_name(options.kernel)
    is_number = np.isin(design.owner, design.numbers)
    factor = np.ones(design.n_terms)
    scales = options.scale == "std" or (options.scale == "auto" and name in STATIONARY)
    if scales and name != "precomputed":
        deviation = np.sqrt(spread.variance[is_number])
        varies = deviation > 0
        factor[is_number] = np.where(varies, 1.0 / np.where(varies, deviation, 1.0), 0.0)
    shift = spread.mean if name in STATIONARY else np.zeros(design.n_terms)
    return KernelInputs(design, shift, factor, spread.mean)


def read_kernel(
    spread: ColumnSpread, inputs: KernelInputs, options: KernelOptions
) -> KernelFunction:
    """The kernel; without a gamma, 1/Σ var_j for rbf, 1/Σ √var_j for laplacian, or 1. (S 85)

    Variances are those of the inputs.
    """
    name, deviation = kernel_name(options.kernel), np.sqrt(spread.variance) * inputs.factor
    widths = {"rbf": float((deviation**2).sum()), "laplacian": float(deviation.sum())}
    default = 1.0 / (widths.get(name) or 1.0)
    return KernelFunction(
        name,
        default if options.gamma is None else options.gamma,
        options.degree,
        options.coef0,
        None if isinstance(options.kernel, str) else options.kernel,
    )


def still_columns(inputs: KernelInputs) -> list[str]:
    """Number columns that never vary, and are left out."""
    design = inputs.design
    return [design.schema.columns[j].name for j in design.owner[inputs.factor == 0].tolist()]


def far_columns(
    spread: ColumnSpread, inputs: KernelInputs, kernel: KernelFunction, ridge: float | str | None
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


# Kernel values may be so small, or large by as much.
_LEAST_SIZE = 1e-75


def refuse_beyond(diagonal: Float, weight: Float | float = 1.0) -> None:
    """Kernel values of rows with themselves must be such that their fourth powers can be added."""
    weights = np.broadcast_to(weight, np.shape(diagonal))
    size = float(weights @ diagonal / weights.sum())
    if size == 0:
        raise InputError(
            "The kernel says k(x, x) = 0 for every row, so that all rows are the origin of feature "
            "space, and a kernel that is not 0 elsewhere is not positive: scale the columns, or "
            "use another kernel."
        )
    if size > 0 and not _LEAST_SIZE <= size <= 1.0 / _LEAST_SIZE:
        raise InputError(
            f"Kernel values of these rows are about {size:.0e}, too far from 1 to be calculated "
            "with: divide the columns by a constant, set scale='std', or take a smaller degree."
        )


# --- Sizes: whether all rows can be the basis, how many landmarks, and among how many rows -------

# Up to so many rows all of them are the basis, where nothing else is asked for.
MOST_DENSE = 10_000

# Landmarks, where nothing else is asked for.
DEFAULT_LANDMARKS = 1000

# Landmarks are chosen among 5 times as many rows, and among so many at least.
_LEAST_SAMPLED = 5_000

# Kernel matrices that are in memory at a time: Cholesky works in place, eigenvectors do not.
_BY_CHOLESKY, _BY_EIGENVECTORS, _LOOKED_AT = 1, 12, 6

_GB = 2.0**30


def resolve_solver(options: KernelOptions, n: int) -> str:
    """Dense up to 10,000 rows where memory allows, unless another is asked for."""
    if is_matrix(options):
        return "dense"
    if options.solver != "auto":
        return options.solver
    if options.n_landmarks is not None:  # who counts them wants them
        return "landmarks"
    there = free_memory()
    fits = there is None or needed_memory(options, n) <= there
    return "dense" if n <= MOST_DENSE and fits else "landmarks"


def refuse_memory(options: KernelOptions, n: int) -> None:
    """A kernel matrix that does not fit is refused before it is made."""
    there, need = free_memory(), needed_memory(options, n)
    if there is not None and need > there:
        raise InputError(
            f"The kernel matrix of {counted(n, 'row')} needs {need / _GB:.1f} GB of memory, and "
            f"there are {there / _GB:.1f} GB: use solver='landmarks', or give fewer rows."
        )


def needed_memory(options: KernelOptions, n: int) -> float:
    """Bytes that a dense fit takes at its height."""
    by_eigenvectors = options.penalty == "coefficients" or options.ridge in ("loo", 0)
    matrices = _BY_EIGENVECTORS if by_eigenvectors else _BY_CHOLESKY
    if kernel_name(options.kernel) in ("callable", "precomputed"):
        matrices = max(matrices, _LOOKED_AT)
    return 8.0 * n * n * matrices


def free_memory() -> float | None:
    """Bytes that programs can still have; None where the system does not say."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return float(line.split()[1]) * 1024.0
    except (OSError, ValueError, IndexError):
        pass
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * float(os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return None


def count_landmarks(options: KernelOptions, n: int) -> int:
    """How many landmarks are asked for; no more than rows."""
    if options.n_landmarks is None:
        return min(DEFAULT_LANDMARKS, n)
    if options.n_landmarks > n:
        raise ParameterError(
            f"n_landmarks={brief(options.n_landmarks)} but {counted(n, 'row')} "
            f"{agreed(n, 'takes', 'take')} part: give at most that, or None."
        )
    return int(options.n_landmarks)


def sample_size(asked: int, n: int) -> int:
    """Among how many of n rows landmarks are chosen."""
    return min(n, max(asked, min(MOST_SAMPLED, max(5 * asked, _LEAST_SAMPLED))))


# --- How far a fit is ----------------------------------------------------------------------------

T = TypeVar("T")

# A user's function is told how many parts are done, of so many.
ALL = 100


class StagedProgress:
    """Calls `progress(done, 100)` whenever another part is done; what it raises ends the fit."""

    def __init__(self, progress: Callable[[int, int], object] | None) -> None:
        self.progress, self.done = progress, 0

    def part(self, start: float, stop: float) -> ReportProgress:
        """For a stretch of the work, from one share of the whole to another."""
        return lambda share: self.tell(start + (stop - start) * share)

    def tell(self, share: float) -> None:
        """So much of the whole is done."""
        done = int(ALL * share + 1e-9)
        if done > self.done and self.progress is not None:
            self.done = done
            self.progress(done, ALL)


def each(items: Iterable[T], n: int, tell: ReportProgress) -> Iterator[T]:
    """Items as they come, of which there are n; how far that is, is told."""
    for i, item in enumerate(items):
        tell((i + 1) / n)
        yield item


# --- The rows of the basis -----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class BasisRows:
    """Rows of a fit: inputs, places in the table, labels and weights before class weights."""

    u: Float
    ids: Counts
    labels: NDArray[np.object_]
    weight: Float

    def take(self, rows: Counts) -> BasisRows:
        """Some of them, in this order."""
        return BasisRows(self.u[rows], self.ids[rows], self.labels[rows], self.weight[rows])

    def codes(self, classes: Values) -> Counts:
        """The places of the labels among the classes."""
        place = {label: c for c, label in enumerate(classes)}
        return np.array([place[label] for label in self.labels.tolist()], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class KernelBasis:
    """The rows of the basis, and how rows are read and compared.

    `asked` is how many landmarks were asked for; 0 where all rows are the basis.
    """

    kernel: KernelFunction
    inputs: KernelInputs
    rows: BasisRows
    asked: int = 0

    @cached_property
    def space(self) -> LandmarkSpace | None:
        """Of landmarks, their space."""
        return LandmarkSpace(self.kernel, self.inputs, self.rows.u) if self.asked else None


@dataclass(frozen=True, eq=False)
class Labeled:
    """The classes of the rows that take part, as codes, and their weights v, all above 0."""

    codes: Counts
    weight: Float
    n_classes: int

    @cached_property
    def sizes(self) -> Float:
        """n_c, the weight of each class."""
        return np.bincount(self.codes, self.weight, self.n_classes).astype(np.float64)

    @property
    def root(self) -> Float:
        """√v."""
        return np.sqrt(self.weight)

    @property
    def share(self) -> Float:
        """s = √v / √Σv, of length one."""
        return np.asarray(self.root / np.sqrt(self.weight.sum()))

    @property
    def stays(self) -> Float:
        """1 - v / n_c: the squared length of a row of the identity, less the mean of its class."""
        return np.asarray(1.0 - self.weight / self.sizes[self.codes])

    def indicators(self) -> Float:
        """Z: √v_i / √n_c in the column of the class, whose columns are orthonormal."""
        size = self.sizes
        Z = np.zeros((len(self.codes), self.n_classes))
        Z[np.arange(len(Z)), self.codes] = self.root / np.sqrt(size[self.codes])
        return Z

    def means(self, projected: Float) -> Float:
        """The mean of each class along each direction, 0 for one without rows. (ZM 20.16)"""
        safe = np.where(self.sizes > 0, self.sizes, 1.0)
        return self.sums(self.weight[:, None] * projected) / safe[:, None]

    def sums(self, parts: Float) -> Float:
        """Sums over the rows of each class, a column each."""
        made = [np.bincount(self.codes, part, self.n_classes) for part in parts.T]
        return np.stack(made, axis=1) if made else np.zeros((self.n_classes, 0))

    def take(self, rows: Places) -> Labeled:
        """Some of the rows."""
        return replace(self, codes=self.codes[rows], weight=self.weight[rows])


def select_rows(*, fills: bool, without: Collection[Label] = ()) -> Callable[[Batch], Mask]:
    """A pass: which rows take part: with weight, and complete unless missing values are filled.

    Rows of the classes `without` do not.
    """

    def select(batch: Batch) -> Mask:
        keep = batch.row_units() > 0
        if without:
            labels = batch.labels()
            gone = [code for code, label in enumerate(labels.values) if label in without]
            keep &= ~np.isin(labels.codes, gone)
        if not fills:
            whole = np.zeros(batch.n_rows, dtype=bool)
            whole[whole_rows(batch)] = True
            keep &= whole
        return np.asarray(keep)

    return select


def read_rows(inputs: KernelInputs, wanted: Mask) -> Callable[[Batch], BasisRows]:
    """A pass: the rows that are wanted; `wanted` has a flag for each row of the table."""

    def read(batch: Batch) -> BasisRows:
        keep = wanted[batch.start : batch.start + batch.n_rows]
        taken = batch.take(keep)
        labels = taken.labels()
        values = np.array(labels.values, dtype=object)
        weight = np.ldexp(taken.row_units().astype(np.float64), -batch.exponent)
        ids = batch.start + np.flatnonzero(keep)
        return BasisRows(inputs(taken).u, ids, values[labels.codes], weight)

    return read


# --- The basis of the first rows -----------------------------------------------------------------

# Rows by which a kernel that is a function is looked at before landmarks are chosen.
_LOOKED_AT_FIRST = 500


def plan_basis(training: Training, options: KernelOptions) -> KernelBasis:
    """The basis of the first rows; of one class, where no others come, none need vary."""
    source, fills = training.source, options.missing == "mean"
    measure = plan_fill(source.schema)

    def look(batch: Batch) -> BayesSummary:
        """Counts and moments of the rows that take part; rows and missing values of all."""
        taken = batch if fills else batch.take(whole_rows(batch))
        return replace(measure(taken), rows=count_rows(batch))

    seen = training.engine.reduce(source, look)
    if options.missing == "error" and seen.rows.missing.any():
        raise WORDS.no_missing(source.schema.names, seen.rows.missing)
    refuse_unusable(seen, source.schema, options)
    schema = schema_of(source.schema, seen.values.values, seen.labels)
    spread = ColumnSpread.of(seen, schema)
    given = is_matrix(options)
    if (training.more or len(seen.labels) != 1) and not given and not spread.variance.any():
        raise InputError(
            "No column of this table varies, so that nothing tells the classes apart: check how "
            "the table was read, and whether its numbers are too small to be squared (1e-146)."
        )
    inputs = read_inputs(spread, schema, options)
    kernel = read_kernel(spread, inputs, options)
    if far := far_columns(spread, inputs, kernel, options.ridge):
        warn(
            f"The values of {listed(far)} lie so far from 0, beside their spread, that "
            "products of them hold less than half of their digits. Take their means off, use "
            "kernel='rbf', or a larger ridge.",
            SortalWarning,
        )
    places = taking_part(training, options)
    if training.more or resolve_solver(options, len(places)) == "landmarks":
        return choose_basis(options, kernel, inputs, places, partial(rows_at, training, inputs))
    n_rows, n_columns = source.table.n_rows, len(source.places)
    if given and n_rows != n_columns:
        raise InputError(
            f"X has {counted(n_rows, 'row')} and {counted(n_columns, 'column')}, and "
            "kernel='precomputed' takes the kernel matrix of the rows of the fit with each other, "
            "which is square: give k(x_i, x_j), or the rows themselves with another kernel."
        )
    refuse_memory(options, len(places))
    rows = rows_at(training, inputs, places)
    if given:
        rows = replace(rows, u=rows.u[:, :0].copy())
    else:
        refuse_beyond(kernel.diagonal(rows.u))
    return KernelBasis(kernel, inputs, rows)


def taking_part(training: Training, options: KernelOptions) -> Places:
    """The places of the rows that take part and whose class has weight."""
    given = options.class_weight
    # classes whose rows are told not to count
    without = [k for k, factor in given.items() if factor == 0] if isinstance(given, dict) else ()
    select = select_rows(fills=options.missing == "mean", without=without)
    return np.flatnonzero(np.concatenate(list(training.engine.map(training.source, select))))


def rows_at(training: Training, inputs: KernelInputs, places: Places) -> BasisRows:
    """The rows at some places, in the order of the table."""
    wanted = np.zeros(training.source.table.n_rows, dtype=bool)
    wanted[places] = True
    return gather(training.engine.map(training.source, read_rows(inputs, wanted)))


def choose_basis(
    options: KernelOptions,
    kernel: KernelFunction,
    inputs: KernelInputs,
    places: Places,
    rows_at: Callable[[Places], BasisRows],
) -> KernelBasis:
    """Landmarks, among a sample of the rows at some places."""
    asked, seed = count_landmarks(options, len(places)), read_seed(options.random_state)
    size = sample_size(asked, len(places))
    if size < len(places):
        random = np.random.default_rng(seed)
        places = np.sort(random.choice(places, size, replace=False))
    sample = rows_at(places)
    refuse_beyond(kernel.diagonal(sample.u))
    if kernel.name == "callable":
        some = sample.u[:_LOOKED_AT_FIRST]
        positive(kernel.matrix(some, some), "The matrix of this kernel")
    tell = StagedProgress(options.progress).part(0.0, 0.2)
    chosen = choose_landmarks(kernel, sample.u, asked, seed, tell)
    return KernelBasis(kernel, inputs, sample.take(chosen), asked)
