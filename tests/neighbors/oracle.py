"""Nearest neighbors read aloud from their definitions: loops over rows and columns, no search.

`Oracle` takes a small table of numbers, words and missing values (None) and answers every question
by walking over all its rows. `brute` is the same key, column by column, for tables of thousands of
rows. Both add up in the written order, so that keys are equal to the last bit; powers are those of
the C library (`math.pow`), because NumPy has its own on some processors. Roots, which order
nothing, are NumPy's.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Cell: TypeAlias = float | str | None
Row: TypeAlias = Sequence[Cell]
Float: TypeAlias = NDArray[np.float64]
Int64: TypeAlias = NDArray[np.int64]

VOTINGS: Final = ("uniform", "distance", "triangular", "epanechnikov", "gaussian", "rank")
GRID: Final = (*range(1, 11), 12, 15, 20, 25, 30, 40, 50)
TIE: Final = 16 * float(np.finfo(float).eps)
SCALED: Final = {"gower": "range", "euclidean": "std", "manhattan": "std", "minkowski": "std"}


@dataclass(frozen=True)
class Neighbor:
    """A row of the fit as a query sees it."""

    key: float
    id: int
    distance: float


@dataclass(frozen=True)
class Place:
    """A neighbor that fills the places from `start` to `end`."""

    neighbor: Neighbor
    start: float
    end: float

    @property
    def part(self) -> float:
        return self.end - self.start


@dataclass(frozen=True)
class Oracle:
    """Rows with labels and weights; `scales` are the divisors to use, else they are computed."""

    rows: Sequence[Row]
    labels: Sequence[str]
    weights: Sequence[float] | None = None
    metric: str = "auto"
    p: float = 2.0
    scale: str | None = "auto"
    n_neighbors: int = 5
    voting: str = "uniform"
    priors: Mapping[str, float] | None = None
    class_weight: Mapping[str, float] | str | None = None
    costs: Sequence[Sequence[float]] | None = None
    unknown: str = "differs"
    categories: frozenset[int] = frozenset()  # columns of numbers that are to be categories
    scales: Mapping[int, float] | None = None

    # --- Rows and columns ------------------------------------------------------------------------

    def weight(self, i: int) -> float:
        return 1.0 if self.weights is None else self.weights[i]

    @cached_property
    def place(self) -> float:
        """The weight that fills a place: 1, or the mean where some weight has a fraction."""
        weights = [self.weight(i) for i in self.kept]
        return 1.0 if all(w.is_integer() for w in weights) else math.fsum(weights) / len(weights)

    @cached_property
    def kept(self) -> list[int]:
        return [i for i in range(len(self.rows)) if self.weight(i) > 0]

    def values(self, j: int) -> list[Any]:
        """What the kept rows hold in a column, without missing values."""
        found: list[Any] = self.once(("values", j), lambda: self.held(j))
        return found

    def held(self, j: int) -> list[Any]:
        return [self.rows[i][j] for i in self.kept if self.rows[i][j] is not None]

    @cached_property
    def answers(self) -> dict[Any, Any]:
        """What was asked before."""
        return {}

    def once(self, question: Any, find: Callable[[], Any]) -> Any:
        if question not in self.answers:
            self.answers[question] = find()
        return self.answers[question]

    @cached_property
    def classes(self) -> list[str]:
        return sorted({self.labels[i] for i in self.kept})

    @cached_property
    def metric_(self) -> str:
        if self.metric != "auto":
            return self.metric
        columns = range(len(self.rows[0]))
        words = any(isinstance(v, str) for j in columns for v in self.values(j))
        missing = any(cell is None for i in self.kept for cell in self.rows[i])
        return "gower" if words or missing or self.categories else "euclidean"

    @cached_property
    def power(self) -> float:
        powers = {"euclidean": 2.0, "manhattan": 1.0, "gower": 1.0, "minkowski": self.p}
        return powers.get(self.metric_, 1.0)

    def is_number(self, j: int) -> bool:
        return j in self.numbers

    @cached_property
    def numbers(self) -> list[int]:
        if self.metric_ == "hamming":
            return []
        others = [j for j in range(len(self.rows[0])) if j not in self.categories]
        return [j for j in others if not any(isinstance(v, str) for v in self.values(j))]

    @cached_property
    def scale_(self) -> str | None:
        return SCALED.get(self.metric_) if self.scale == "auto" else self.scale

    @cached_property
    def used(self) -> list[int]:
        """Columns with a value, and, where numbers are scaled, with more than one."""
        columns = [j for j in range(len(self.rows[0])) if self.values(j)]
        if self.scale_ is None:
            return columns
        return [j for j in columns if not self.is_number(j) or len(set(self.values(j))) > 1]

    @cached_property
    def divisors(self) -> dict[int, float]:
        """The scale of each number column in use; {} without scale."""
        numbers = [j for j in self.used if self.is_number(j)]
        return {} if self.scale_ is None else {j: self.spread(j) for j in numbers}

    def spread(self, j: int) -> float:
        values = self.values(j)
        if self.scale_ == "range":
            return float(max(values) - min(values))
        held = [self.weight(i) for i in self.kept if self.rows[i][j] is not None]
        pairs = list(zip(held, values, strict=True))
        total = math.fsum(held)
        mean = math.fsum(w * x for w, x in pairs) / total
        return math.sqrt(math.fsum(w * (x - mean) ** 2 for w, x in pairs) / total)

    @cached_property
    def factors(self) -> dict[int, float]:
        scales = self.divisors if self.scales is None else self.scales
        return {j: 1.0 / scales[j] if self.scale_ else 1.0 for j in self.used if self.is_number(j)}

    # --- Distances -------------------------------------------------------------------------------

    def cell(self, x: Row, j: int) -> Cell:
        """A cell of a query; an unknown value may count as a missing value."""
        value = x[j]
        if isinstance(value, float) and math.isnan(value):
            return None
        if self.unknown == "skip" and not self.is_number(j) and value not in self.values(j):
            return None
        return value

    def key(self, x: Row, t: Row) -> float:
        """The sum before the root; inf where the two have no column in common."""
        total, known, differing = 0.0, 0, 0
        for j in self.used:
            a, b = self.cell(x, j), t[j]
            if a is None or b is None:
                continue
            known += 1
            if not self.is_number(j):
                differing += a != b
                continue
            term = abs(float(a) - float(b)) * self.factors[j]
            total = max(total, term) if self.power == math.inf else total + self.raised(term)
        if known == 0:
            return math.inf
        total = total + differing
        return total if self.power == math.inf else total * (len(self.used) / known)

    def raised(self, term: float) -> float:
        return raised(term, self.power)

    def distance(self, key: float) -> float:
        return key / len(self.used) if self.metric_ == "gower" else rooted(key, self.power)

    @cached_property
    def covariance(self) -> Float:
        """Over N - 1 where weights are copies, else over weight times (n - 1) / n."""
        X = np.array([self.rows[i] for i in self.kept], dtype=np.float64)
        w = np.array([self.weight(i) for i in self.kept])
        center = (w[:, None] * X).sum(axis=0) / w.sum()
        scatter = np.einsum("i,ij,im->jm", w, X - center, X - center)
        whole = bool((w == np.floor(w)).all())
        n = len(w)
        return np.asarray(scatter / (w.sum() - 1) if whole else scatter / w.sum() * n / (n - 1))

    def squared_mahalanobis(self, x: Row, t: Row) -> float:
        known = [j for j in range(len(x)) if self.cell(x, j) is not None]
        if not known:
            return math.inf
        z = np.array([float(x[j]) - float(t[j]) for j in known])  # type: ignore[arg-type]
        inverse = self.once(("inverse", *known), lambda: self.inverse(known))
        return max(float(z @ inverse @ z), 0.0) * (len(x) / len(known))

    def inverse(self, known: list[int]) -> Float:
        """Of a block of the covariance; whether it is singular does not depend on units."""
        sigma = self.covariance[np.ix_(known, known)]
        unit = np.sqrt(np.where(np.diag(sigma) > 0, np.diag(sigma), 1.0))
        found = np.linalg.pinv(sigma / np.outer(unit, unit), rcond=1e-10, hermitian=True)
        return np.asarray(found / np.outer(unit, unit))

    def neighbors(self, x: Row, without: int | None = None) -> list[Neighbor]:
        """All rows that can be compared with x, nearest first."""
        found: list[Neighbor] = self.once((tuple(x), without), lambda: self.all_of(x, without))
        return found

    def all_of(self, x: Row, without: int | None) -> list[Neighbor]:
        found = []
        for i in self.kept:
            if i == without:
                continue
            if self.metric_ == "mahalanobis":
                key = self.squared_mahalanobis(x, self.rows[i])
                found.append(Neighbor(key, i, math.sqrt(key)))
            else:
                key = self.key(x, self.rows[i])
                found.append(Neighbor(key, i, self.distance(key)))
        comparable = [one for one in found if one.key < math.inf]
        return sorted(comparable, key=lambda one: (one.key, one.id))

    # --- Votes -----------------------------------------------------------------------------------

    def places(self, x: Row, k: float, without: int | None = None) -> tuple[list[Place], float]:
        """Who fills the k places; and h, the distance of the row at place k + 1.

        That row may be inside in part. If there is none, h is the largest distance inside.
        """
        places: list[Place] = []
        filled = 0.0
        for one in self.neighbors(x, without):
            end, full = filled + self.weight(one.id), k * self.place
            if filled < full:
                places.append(Place(one, filled / self.place, min(end, full) / self.place))
            if end > full:
                return places, one.distance
            filled = end
        return places, max((place.neighbor.distance for place in places), default=0.0)

    def posterior(
        self,
        x: Row,
        k: int | None = None,
        voting: str | None = None,
        without: int | None = None,
    ) -> list[float]:
        k, voting = k or self.n_neighbors, voting or self.voting
        places, h = self.places(x, k, without)
        kernels = kernel_values(places, h, k, voting)
        factor = self.class_factors(without)
        votes = dict.fromkeys(self.classes, 0.0)
        for place, kernel in zip(places, kernels, strict=True):
            label = self.labels[place.neighbor.id]
            votes[label] += place.part * kernel * factor[label]
        total = sum(votes.values())
        return shares(list(votes.values())) if total > 0 else self.standing(without)

    def counts(self, without: int | None) -> dict[str, float]:
        rows = [i for i in self.kept if i != without]
        return {c: sum(self.weight(i) for i in rows if self.labels[i] == c) for c in self.classes}

    def weight_of_classes(self, without: int | None) -> dict[str, float]:
        n = self.counts(without)
        if self.class_weight == "balanced":
            present = sum(size > 0 for size in n.values())
            total = sum(n.values())
            return {c: total / (present * size) if size else 0.0 for c, size in n.items()}
        given = self.class_weight if isinstance(self.class_weight, Mapping) else {}
        return {c: given.get(c, 1.0) for c in self.classes}

    def class_factors(self, without: int | None) -> dict[str, float]:
        n, factor = self.counts(without), self.weight_of_classes(without)
        if self.priors is None:
            return factor
        part = {c: size / sum(n.values()) for c, size in n.items()}
        return {c: factor[c] * self.priors[c] / part[c] if part[c] else 0.0 for c in n}

    def standing(self, without: int | None) -> list[float]:
        """The prior, where nobody votes."""
        if self.priors is not None:
            return [self.priors[c] for c in self.classes]
        n, factor = self.counts(without), self.weight_of_classes(without)
        return shares([n[c] * factor[c] for c in self.classes])

    def said(self, posterior: Sequence[float]) -> str:
        """The most probable class, or the one of least expected cost."""
        if self.costs is None:
            return self.classes[max(range(len(posterior)), key=lambda c: (posterior[c], -c))]
        expected = [
            sum(q * row[j] for q, row in zip(posterior, self.costs, strict=True))
            for j in range(len(posterior))
        ]
        return self.classes[min(range(len(expected)), key=lambda j: (expected[j], j))]

    # --- Leaving out -----------------------------------------------------------------------------

    def left_out(self, k: int | None = None, voting: str | None = None) -> list[list[float]]:
        """The posterior of each row without it; a row without weight is a query like any other."""
        rows = enumerate(self.rows)
        return [self.posterior(x, k, voting, i if self.weight(i) else None) for i, x in rows]

    def loo_error(self, k: int, voting: str) -> float:
        """The share of the weight that is labeled wrongly."""
        found = self.left_out(k, voting)
        wrong = [self.weight(i) for i in self.kept if self.said(found[i]) != self.labels[i]]
        return sum(wrong) / sum(self.weight(i) for i in self.kept)

    def largest_k(self) -> float:
        weights = [self.weight(i) for i in self.kept]
        return max((math.fsum(weights) - max(weights)) / self.place, 1.0)

    def chosen(self, ks: Sequence[int], votings: Sequence[str] = VOTINGS) -> tuple[int, str]:
        """Of least error; then the smaller k, then the earlier weighting."""
        tried = {(k, v): self.loo_error(k, v) for k in sorted(ks) for v in votings}
        return min(tried, key=lambda pair: (tried[pair], pair[0], votings.index(pair[1])))


def shares(votes: Sequence[float]) -> list[float]:
    """Of their sum; what is the largest but for rounding is as large."""
    most = max(votes)
    found = [most if v >= most - TIE * most else v for v in votes]
    return [v / sum(found) for v in found]


def kernel_values(places: Sequence[Place], h: float, k: float, voting: str) -> list[float]:
    """How much a neighbor counts; 1 each where all would count nothing."""
    distances = [place.neighbor.distance for place in places]
    u = [d / h if h > 0 else 0.0 for d in distances]
    q = NormalDist().inv_cdf(1 - 1 / (2 * (k + 1)))
    values = {
        "uniform": lambda: [1.0] * len(u),
        "distance": lambda: inverse_distances(distances),
        "triangular": lambda: [max(0.0, 1 - one) for one in u],
        "epanechnikov": lambda: [max(0.0, 1 - one * one) for one in u],
        "gaussian": lambda: [math.exp(-((q * one) ** 2) / 2) for one in u],
        "rank": lambda: [k + 0.5 - (place.start + place.end) / 2 for place in places],
    }[voting]()
    return values if any(values) else [1.0] * len(u)


def inverse_distances(distances: Sequence[float]) -> list[float]:
    nearest = min(distances, default=0.0)
    if nearest == 0:
        return [float(d == 0) for d in distances]
    return [nearest / d for d in distances]


def raised(term: float, power: float) -> float:
    if power == 2:
        return term * term
    return term if power == 1 else math.pow(term, power)


def rooted(key: float, power: float) -> float:
    if power in {1, math.inf}:
        return key
    return math.sqrt(key) if power == 2 else float(np.power(np.array([key]), 1 / power)[0])


# --- Large tables --------------------------------------------------------------------------------


def keys_of(numbers: Float, x: Float, factors: Float, power: float) -> tuple[Float, Int64]:
    """The sum of terms of each row, and how many columns have a value in both."""
    total, known = np.zeros(len(numbers)), np.zeros(len(numbers), dtype=np.int64)
    for j, factor in enumerate(factors):
        term = np.abs(x[j] - numbers[:, j]) * factor
        known += ~np.isnan(term)
        term = np.where(np.isnan(term), 0.0, term)
        if power == math.inf:
            total = np.maximum(total, term)
        elif power in {1, 2}:
            total = total + (term if power == 1 else term * term)
        else:
            total = total + np.array([math.pow(one, power) for one in term.tolist()])
    return total, known


def brute(
    rows: tuple[Float, Int64],
    queries: tuple[Float, Int64],
    factors: Float,
    power: float,
    k: int,
    exclude: Int64 | None = None,
) -> tuple[Float, Int64]:
    """Keys and positions of the k nearest rows of each query, by looking at all of them.

    Rows and queries are numbers (NaN is a missing value) and codes (-1 is a missing value, -2
    differs from all).
    """
    numbers, codes = rows[0].astype(np.float64), rows[1]
    n_columns = numbers.shape[1] + codes.shape[1]
    keys = np.full((len(queries[0]), k), np.inf)
    found = np.full((len(queries[0]), k), -1, dtype=np.int64)
    for i, (x, c) in enumerate(zip(*queries, strict=True)):
        key, known = keys_of(numbers, x.astype(np.float64), factors, power)
        both = (codes != -1) & (c != -1)
        known += both.sum(axis=1)
        key = key + (both & (codes != c)).sum(axis=1)
        if power != math.inf:
            key = key * (n_columns / np.maximum(known, 1))
        key[known == 0] = math.inf
        if exclude is not None and exclude[i] >= 0:
            key[exclude[i]] = math.inf
        order = np.lexsort((np.arange(len(key)), key))[:k]
        order = order[key[order] < math.inf]
        keys[i, : len(order)], found[i, : len(order)] = key[order], order
    return keys, found
