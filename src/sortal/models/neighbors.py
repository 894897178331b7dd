"""The fitted nearest neighbors: rows, what a distance is, and how neighbors vote; read only."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sortal.data.arrays import LARGEST
from sortal.data.columns import HOLE
from sortal.models.checks import check_prior, check_scatter, need
from sortal.models.layout import INF, FromSchema, Layout, Maybe, Number, Several, Whole, Word
from sortal.models.layout_arrays import Array, Record
from sortal.models.layout_schema import ValuesField
from sortal.models.records import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sortal.data.schema import Schema
    from sortal.data.values import Values
    from sortal.native.neighbors import Searcher

    Float = NDArray[np.float64]
    Mask = NDArray[np.bool_]

METRICS = ("euclidean", "manhattan", "minkowski", "hamming", "gower", "mahalanobis")
SCALES = ("range", "std", "none")
WEIGHTINGS = ("uniform", "distance", "triangular", "epanechnikov", "gaussian", "rank")


class Once:
    """Something that is made when it is first asked for, by one thread; never copied or kept."""

    def __init__(self) -> None:
        self._lock, self._made = Lock(), None

    def get(self, make: Callable[[], Any]) -> Any:
        """What `make` gives, made once."""
        if self._made is None:
            with self._lock:
                if self._made is None:
                    self._made = make()
        return self._made

    def __reduce__(self) -> tuple[type[Once], tuple[()]]:
        return Once, ()


@dataclass(frozen=True, eq=False)
class Ellipse:
    """What a Mahalanobis distance is measured by: the covariance S of all rows, about `center`.

    root rootᵀ is the inverse of S, or its pseudo-inverse; `magnitude` is the size of the numbers
    in each column, by which rounding is told from spread.
    """

    center: Float
    covariance: Float
    magnitude: Float
    root: Float

    LAYOUT: ClassVar[Layout] = Layout(
        center=Array("f8", "measured", least=-LARGEST, most=LARGEST),
        covariance=Array("f8", "measured", "measured"),
        magnitude=Array("f8", "measured", least=0.0, most=LARGEST),
        root=Array("f8", "measured", "varying"),
    )


@dataclass(frozen=True, eq=False)
class NeighborsModel:
    """Rows, in the order of their ids, and how the nearest of them vote.

    `numbers` has the number columns of the schema (NaN is a hole) and `codes` the others, as ranks
    in `values` (-1 is a hole); under hamming all columns are in `codes`. Differences
    of a number column are divided by its width, 0 where it is left out; a category without values
    is left out, too.
    `labels` are places among the classes. Rows weigh `units` of 2**-exponent each, one where units
    are null. A vote counts by the factor of its class; `prior` stands where nobody votes.
    """

    schema: Schema
    metric: str
    power: float
    scale: str
    numbers: NDArray[np.floating[Any]]
    codes: NDArray[np.int32]
    values: tuple[Values, ...]
    widths: Float
    ellipse: Ellipse | None
    labels: NDArray[np.int32]
    units: NDArray[np.int64] | None
    exponent: int
    ids: NDArray[np.int64]
    next_id: int
    class_factors: Float
    prior: Float
    k: int
    weighting: str
    curve: Table | None = None
    search_once: Once = field(default_factory=Once, repr=False)

    LAYOUT: ClassVar[Layout] = Layout(
        schema=FromSchema("schema"),
        metric=Word(METRICS),
        power=Number(least=1.0, most=INF),
        scale=Word(SCALES),
        numbers=Array("f4|f8", "rows", "measured", least=-LARGEST, most=LARGEST, nan=True),
        codes=Array("i4", "rows", "named", least=HOLE),
        values=Several(ValuesField(), "named"),
        widths=Array("f8", "measured", least=0.0),
        ellipse=Maybe(Record(Ellipse, measured="measured")),
        labels=Array("i4", "rows", least=0),
        units=Maybe(Array("i8", "rows", least=1)),
        exponent=Whole(-1200, 1200),
        ids=Array("i8", "rows", least=0),
        next_id=Whole(least=1),
        class_factors=Array("f8", "classes", least=0.0),
        prior=Array("f8", "classes", least=0.0, most=1.0),
        k=Whole(least=1),
        weighting=Word(WEIGHTINGS),
        curve=Maybe(Record(Table)),
    )

    @property
    def classes(self) -> Values:
        """The classes, sorted."""
        return self.schema.classes

    @property
    def n_rows(self) -> int:
        """How many rows are kept."""
        return len(self.ids)

    @property
    def measured(self) -> tuple[int, ...]:
        """Which columns of the schema are in `numbers`."""
        if self.metric == "hamming":
            return ()
        return tuple(j for j, column in enumerate(self.schema.columns) if column.is_number)

    @property
    def named(self) -> tuple[int, ...]:
        """Which columns of the schema are in `codes`."""
        numbers = set(self.measured)
        return tuple(j for j in range(len(self.schema.columns)) if j not in numbers)

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
    def weights(self) -> Float | None:
        """The weight of each row; None where every row weighs one."""
        if self.units is None:
            return None
        return np.ldexp(self.units.astype(np.float64), -self.exponent)

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
        if self.metric == "gower":
            return keys / self.n_columns
        if self.power in (1.0, np.inf):
            return keys
        return np.sqrt(keys) if self.power == 2.0 else np.power(keys, 1.0 / self.power)

    def searcher(self, make: Callable[[], Searcher]) -> Searcher:
        """The search among the rows, made once."""
        searcher: Searcher = self.search_once.get(make)
        return searcher

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
        need(self.power == _POWERS.get(self.metric, self.power), "a power that its metric has not")
        whole = n if self.units is None else self.units.astype(np.float64).sum()
        need(whole < 2.0**62, "weights beyond what can be counted")
        need(self.exponent != 0 or self.k <= whole or K == 1, "fewer rows than neighbors")
        need(self.units is not None or self.exponent == 0, "a unit without weights")
        check_prior(self.prior)
        self._check_metric()

    def _check_metric(self) -> None:
        measured = len(self.measured)
        need((self.metric == "mahalanobis") == (self.ellipse is not None), "another metric's parts")
        if self.ellipse is not None:
            check_scatter(self.ellipse.covariance)
            need(not np.isnan(self.numbers).any(), "holes where there can be none")
            need(self.ellipse.root.shape[1] <= measured, "more directions than columns")
        scaled = self.metric not in ("hamming", "mahalanobis") and self.scale != "none"
        plain = np.isin(self.widths, (0.0, 1.0)).all()
        need(scaled or (plain and self.scale == "none"), "widths without a scale")
        words = [j for j in self.named if self.schema.columns[j].kind == "category"]
        mixed = self.metric in ("gower", "hamming")
        need(mixed or not words, "words where there can be none")


_POWERS = {"euclidean": 2.0, "mahalanobis": 2.0, "manhattan": 1.0, "gower": 1.0, "hamming": 1.0}
