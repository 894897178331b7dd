"""The fitted nearest neighbors: rows, what a distance is, and the search; read only."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from threading import Lock
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Generic,
    Literal,
    NamedTuple,
    TypeAlias,
    TypeVar,
    get_args,
)

import numpy as np
from numpy.typing import NDArray

from sortal._typing import Codes, Counts, Float
from sortal.data.columns import MISSING, UNKNOWN, Schema, Values, recode_columns
from sortal.data.table import LARGEST, check_matrix
from sortal.decision.geometry import survey
from sortal.modelfile.fields import INF, check_prior, check_scatter, need
from sortal.modelfile.record import limits, record
from sortal.native.neighbors import Searcher
from sortal.records.tables import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed import DataclassInstance

    from sortal._typing import Mask
    from sortal.data.sources import Batch, TableSource
    from sortal.decision.geometry import Geometry
    from sortal.native.neighbors import Kind

    Rows: TypeAlias = slice | NDArray[Any]

T = TypeVar("T")
R = TypeVar("R", bound="DataclassInstance")

SCALES = ("range", "std", "none")

Weighting = Literal["uniform", "distance", "triangular", "epanechnikov", "gaussian", "rank"]
WEIGHTINGS: Final[tuple[Weighting, ...]] = get_args(Weighting)


# --- The metrics: what each measures, and what it needs ------------------------------------------
# Their terms are in cpp/neighbors/distance_keys.hpp.


class MetricFacts(NamedTuple):
    """The tag in docs/math.md, the power of terms (None: the option p), and the scale of "auto".

    A metric of scale "none" knows no unit of a column. One that `takes_words` asks of categories
    whether they are equal; `by_value`, of numbers too. `by_covariance`: numbers are whitened first.
    `is_mean`: the sum over the columns is divided by their number.
    """

    equation: str
    power: float | None
    scale: str = "std"
    takes_words: bool = False
    by_value: bool = False
    by_covariance: bool = False
    is_mean: bool = False


METRICS: Final = {
    "euclidean": MetricFacts("MSML euclidean", 2.0),
    "manhattan": MetricFacts("MSML manhattan", 1.0),
    "minkowski": MetricFacts("MSML minkowski", None),
    "hamming": MetricFacts("MSML hamming", 1.0, "none", takes_words=True, by_value=True),
    "gower": MetricFacts("S 73", 1.0, "range", takes_words=True, is_mean=True),
    "mahalanobis": MetricFacts("S 74", 2.0, "none", by_covariance=True),
}


# --- The model -----------------------------------------------------------------------------------


class LazyOnce(Generic[T]):
    """Something that is made when it is first asked for, by one thread; never copied or kept."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._made: T | None = None

    def get(self, make: Callable[[], T]) -> T:
        """What `make` gives, made once."""
        if self._made is None:
            with self._lock:
                if self._made is None:
                    self._made = make()
        return self._made

    def __reduce__(self) -> tuple[type[LazyOnce[T]], tuple[()]]:
        return LazyOnce, ()


@record()
class MahalanobisMetric:
    """What a Mahalanobis distance is measured by: the covariance S of all rows, about `center`.

    root rootᵀ is the inverse of S, or its pseudo-inverse; `magnitude` is the size of the numbers
    in each column, by which rounding is told from spread.
    """

    center: Float = limits("measured", least=-LARGEST, most=LARGEST)
    covariance: Float = limits("measured", "measured")
    magnitude: Float = limits("measured", least=0.0, most=LARGEST)
    root: Float = limits("measured", "varying")

    def inverse_root(self, known: Mask, n_rows: int) -> Float:
        """The root of the inverse of S over some columns."""
        if known.all():
            return self.root
        S = self.covariance[np.ix_(known, known)]
        return inverse_root(S, self.magnitude[known], n_rows).sphere


@record()
class NeighborsModel:
    """Rows, in the order of their ids, and how the nearest of them vote.

    `numbers` has the number columns of the schema (NaN is a missing value) and `codes` the others,
    as ranks in `values` (-1 is a missing value); under hamming all columns are in `codes`.
    Differences of a number column are divided by its width, 0 where it is left out; a category
    without values is left out, too.
    `labels` are places among the classes. Rows weigh `units` of 2**-exponent each, one where units
    are null. A vote counts by the factor of its class; `prior` stands where nobody votes.
    """

    schema: Schema
    metric: str = limits(among=tuple(METRICS))
    power: float = limits(least=1.0, most=INF)
    scale: str = limits(among=SCALES)
    numbers: NDArray[np.floating[Any]] = limits(
        "rows", "measured", least=-LARGEST, most=LARGEST, nan=True
    )
    codes: Codes = limits("rows", "named", least=MISSING)
    values: tuple[Values, ...] = limits("named")
    widths: Float = limits("measured", least=0.0)
    ellipse: MahalanobisMetric | None = limits(measured="measured")
    labels: Codes = limits("rows", least=0)
    units: Counts | None = limits("rows", least=1)
    exponent: int = limits(least=-1200, most=1200)
    ids: Counts = limits("rows", least=0)
    next_id: int = limits(least=1)
    class_factors: Float = limits("classes", least=0.0)
    prior: Float = limits("classes", least=0.0, most=1.0)
    k: int = limits(least=1)
    weighting: str = limits(among=WEIGHTINGS)
    curve: Table | None = None
    search_once: LazyOnce[Searcher] = field(default_factory=LazyOnce, repr=False, compare=False)

    @property
    def classes(self) -> Values:
        """The classes, sorted."""
        return self.schema.classes

    @property
    def n_rows(self) -> int:
        """How many rows are kept."""
        return len(self.ids)

    @property
    def facts(self) -> MetricFacts:
        """What is true of the metric."""
        return METRICS[self.metric]

    @property
    def measured(self) -> tuple[int, ...]:
        """Which columns of the schema are in `numbers`."""
        return () if self.facts.by_value else self.schema.numbers

    @property
    def named(self) -> tuple[int, ...]:
        """Which columns of the schema are in `codes`."""
        everything = tuple(range(len(self.schema.columns)))
        return everything if self.facts.by_value else self.schema.categories

    @property
    def used_numbers(self) -> Mask:
        """Which of the number columns count in distances."""
        return np.asarray(self.widths > 0)

    @property
    def used_codes(self) -> Mask:
        """Which of the other columns count in distances."""
        return np.array([len(values) > 0 for values in self.values], dtype=bool)

    @property
    def unused(self) -> dict[int, float]:
        """The columns of numbers that do not count in distances, and a number that may be there."""
        return {
            j: 0.0 for j, used in zip(self.measured, self.used_numbers, strict=True) if not used
        }

    @property
    def n_columns(self) -> int:
        """How many columns count in distances."""
        return int(self.used_numbers.sum() + self.used_codes.sum())

    @property
    def factors(self) -> Float:
        """What differences of each number column are multiplied by; 0 where it is left out."""
        used, largest = self.used_numbers, np.finfo(float).max
        with np.errstate(over="ignore"):
            factors = 1.0 / np.where(used, self.widths, 1.0)
        return np.where(used, np.minimum(factors, largest), 0.0)

    @property
    def place(self) -> float:
        """The units that fill a place: those of a copy, or, with fractions, the mean of rows."""
        if self.units is None or self.exponent == 0:
            return 1.0
        return int(self.units.sum()) / self.n_rows

    @property
    def size(self) -> int:
        """How many numbers predict needs: those of the rows, and their labels."""
        return self.n_rows * (self.n_columns + 1)

    def distances(self, keys: Float) -> Float:
        """Distances from keys, the sums before the root. (S 73)"""
        if self.facts.is_mean:
            return keys / self.n_columns
        if self.power in (1.0, np.inf):
            return keys
        return np.sqrt(keys) if self.power == 2.0 else np.power(keys, 1.0 / self.power)

    @property
    def searcher(self) -> Searcher:
        """The search among the columns that count, made once."""
        return self.search_once.get(lambda: _searcher(self))

    def check(self) -> None:
        """Refuse rows from a file that no fit could have kept."""
        K, n, (measured, named) = len(self.classes), self.n_rows, (self.measured, self.named)
        need(self.numbers.shape[1] == len(measured), "numbers that do not fit its columns")
        need(self.codes.shape[1] == len(named), "codes that do not fit its columns")
        sizes = np.array([len(values) for values in self.values], dtype=np.int64)
        need((self.codes < sizes).all(), "codes of values that there are not")
        need(n > 0 and (self.labels < K).all(), "labels of classes that there are not")
        need((np.diff(self.ids) > 0).all() and self.ids[-1] < self.next_id, "ids out of order")
        need(self.n_columns > 0 or K == 1, "no column that counts")
        need(self.facts.power in (None, self.power), "a power that its metric has not")
        whole = n if self.units is None else self.units.astype(np.float64).sum()
        need(whole < 2.0**62, "weights beyond what can be counted")
        need(self.exponent != 0 or self.k <= whole or K == 1, "fewer rows than neighbors")
        need(self.units is not None or self.exponent == 0, "a unit without weights")
        check_prior(self.prior)
        self._check_metric()

    def _check_metric(self) -> None:
        facts = self.facts
        need(facts.by_covariance == (self.ellipse is not None), "another metric's parts")
        if self.ellipse is not None:
            check_scatter(self.ellipse.covariance)
            need(not np.isnan(self.numbers).any(), "missing values where there can be none")
            need(self.ellipse.root.shape[1] <= len(self.measured), "more directions than columns")
        scaled = "none" not in (facts.scale, self.scale)
        plain = np.isin(self.widths, (0.0, 1.0)).all()
        need(scaled or (plain and self.scale == "none"), "widths without a scale")
        words = [j for j in self.named if self.schema.columns[j].kind == "category"]
        need(facts.takes_words or not words, "words where there can be none")


# --- Queries in the terms of the rows, and the rows that are nearest to them ---------------------

# Numbers that are whitened at a time, few enough to stay in the cache.
_CELLS = 1 << 16

# For so few queries with the same missing values no search is made ready that would be used once.
_FEW_QUERIES = 64


@dataclass(frozen=True, eq=False)
class Queries:
    """Query rows: numbers (NaN is missing) and codes (-1 is missing, -2 an unknown value)."""

    numbers: Float
    codes: Codes

    def __len__(self) -> int:
        return len(self.numbers)


@dataclass(frozen=True, eq=False)
class Near:
    """Distances and positions of the nearest rows of queries; inf and -1 where there are none."""

    distances: Float
    positions: Counts


def taken(record: R, rows: Rows) -> R:
    """Some of the rows of a record of arrays."""
    return type(record)(**{one.name: getattr(record, one.name)[rows] for one in fields(record)})


def by_rows(source: TableSource, *, by_value: bool) -> TableSource:
    """Numbers are read as one matrix, or as values where they are equal or not."""
    return replace(source, numbers_as="values" if by_value else "matrix")


def encode(model: NeighborsModel, batch: Batch) -> Queries:
    """A block in the terms of a model."""
    numbers = batch.number_matrix()
    check_matrix(numbers, [model.schema.columns[j].name for j in model.measured])
    codes = recode_columns(batch.columns, model.values, batch.n_rows)
    return Queries(np.ascontiguousarray(numbers, dtype=np.float64), np.ascontiguousarray(codes.T))


def kept_queries(model: NeighborsModel, rows: Rows) -> Queries:
    """Some of the model's own rows."""
    numbers = np.ascontiguousarray(model.numbers[rows], dtype=np.float64)
    return Queries(numbers, np.ascontiguousarray(model.codes[rows]))


def count_cells(model: NeighborsModel, queries: Queries) -> tuple[Counts, Counts]:
    """Missing and unknown values in the columns that count, by column of the schema."""
    missing, unknown = np.zeros((2, len(model.schema.columns)), dtype=np.int64)
    if np.isnan(queries.numbers.min(initial=0.0)):
        missing[list(model.measured)] = np.isnan(queries.numbers).sum(axis=0) * model.used_numbers
    if queries.codes.min(initial=0) < 0:
        for counts, code in ((missing, MISSING), (unknown, UNKNOWN)):
            counts[list(model.named)] = (queries.codes == code).sum(axis=0) * model.used_codes
    return missing, unknown


def search(
    model: NeighborsModel,
    queries: Queries,
    depth: int,
    exclude: Counts | None = None,
    n_threads: int = 1,
) -> Near:
    """The rows of least (key, id), as many as `depth`, without the one excluded."""
    if model.ellipse is None:
        given = _used(queries.numbers, model.used_numbers), _used(queries.codes, model.used_codes)
        keys, found = model.searcher.search(*given, depth, exclude, n_threads)
    else:
        keys, found = _search_ellipse(model, queries.numbers, depth, exclude, n_threads)
    return Near(model.distances(keys), found)


def _searcher(model: NeighborsModel) -> Searcher:
    if model.ellipse is not None:
        return _ellipse_searcher(model, model.ellipse.root, slice(None))
    numbers, codes = _used(model.numbers, model.used_numbers), _used(model.codes, model.used_codes)
    factors = model.factors[model.used_numbers]
    return Searcher(numbers, codes, factors, model.power, model.n_columns)


def _used(cells: NDArray[Any], used: Mask) -> NDArray[Any]:
    return cells if used.all() else np.ascontiguousarray(cells[:, used])


# --- Mahalanobis ---------------------------------------------------------------------------------


def _search_ellipse(
    model: NeighborsModel, x: Float, depth: int, exclude: Counts | None, n_threads: int
) -> tuple[Float, Counts]:
    """By whitened coordinates; queries with missing values by those of the columns they have."""
    keys = np.full((len(x), depth), np.inf)
    found = np.full((len(x), depth), -1, dtype=np.int64)
    known = ~np.isnan(x)
    patterns, which = known[:1], np.zeros(len(x), dtype=np.intp)
    if not known.all():
        patterns, which = np.unique(known, axis=0, return_inverse=True)
    for p, pattern in enumerate(patterns):
        rows = np.flatnonzero(which.ravel() == p)
        if not pattern.any():
            continue
        asked = x[rows][:, pattern]
        root, searcher = _of_pattern(model, pattern, len(asked))
        points = whiten(asked, model.ellipse.center[pattern], root)  # type: ignore[union-attr]
        none = np.empty((len(points), 0), dtype=np.int32)
        others = None if exclude is None else exclude[rows]
        key, at = searcher.search(points, none, depth, others, n_threads)
        keys[rows], found[rows] = key * (len(pattern) / int(pattern.sum())), at
    return keys, found


def _of_pattern(model: NeighborsModel, known: Mask, n_queries: int) -> tuple[Float, Searcher]:
    """The root of the inverse of S over some columns, and the search by it."""
    ellipse = model.ellipse
    assert ellipse is not None  # noqa: S101  (asked of such models only)
    root = ellipse.inverse_root(known, model.n_rows)
    if known.all():
        return root, model.searcher
    kind: Kind | None = "scan" if n_queries <= _FEW_QUERIES else None
    return root, _ellipse_searcher(model, root, known, kind)


def _ellipse_searcher(
    model: NeighborsModel, root: Float, columns: Rows, kind: Kind | None = None
) -> Searcher:
    ellipse, n = model.ellipse, model.n_rows
    assert ellipse is not None  # noqa: S101  (asked of such models only)
    rows = whiten(model.numbers[:, columns], ellipse.center[columns], root)
    none = np.empty((n, 0), dtype=np.int32)
    return Searcher(rows, none, np.ones(rows.shape[1]), 2.0, rows.shape[1], kind)


def whiten(x: NDArray[np.floating[Any]], center: Float, root: Float) -> Float:
    """(x − m)ᵀG, in which (S 74) is a sum of squares.

    Each row is added up by itself in the order of the columns: equal rows have equal bits, which a
    product of matrices does not promise. Without any direction, all rows are one point.
    """
    made = np.zeros((len(x), max(1, root.shape[1])))
    step = max(1, _CELLS // made.shape[1])
    for start in range(0, len(x), step):
        block = x[start : start + step].astype(np.float64) - center
        part = made[start : start + step, : root.shape[1]]
        for j, row in enumerate(root):
            part += block[:, j, None] * row
    return made


def inverse_root(S: Float, magnitude: Float, n_rows: int) -> Geometry:
    """What varies of a covariance, and what does not: G Gᵀ = S⁻¹, or S⁺ where it is singular."""
    return survey(S, np.zeros((1, len(S))), magnitude, most=max(n_rows - 1, 0))
