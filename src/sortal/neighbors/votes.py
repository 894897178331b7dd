"""Votes of neighbors: places that they fill, proportions by class, and passes over blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from sortal.data.columns import MISSING, UNKNOWN, given_values
from sortal.data.sources import BLOCK_CELLS
from sortal.decision.posterior import decide, shares_of_votes
from sortal.neighbors.model import Near, Queries, count_cells, encode, search

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from sortal._typing import Codes, Counts, Float, Mask, Places
    from sortal.data.columns import Value
    from sortal.data.sources import Batch
    from sortal.neighbors.model import NeighborsModel

    Int64 = Counts


# --- Votes: places that neighbors fill, what a vote counts by its distance, and shares by class --

# Weightings that ask how far the row at place k + 1 is.
WITH_HEIGHT = ("triangular", "epanechnikov", "gaussian")


@dataclass(frozen=True, eq=False)
class Voters:
    """Class and units of each row (None where every row is one), and the units of a place."""

    labels: Codes
    weights: Counts | None
    n_classes: int
    place: float = 1.0

    @classmethod
    def of(cls, model: NeighborsModel) -> Voters:
        """The rows of a model."""
        return cls(model.labels, model.units, len(model.classes), model.place)

    def weights_of(self, near: Near) -> Float:
        """The units of each neighbor; 0 where there is none."""
        if self.weights is None:
            return (near.positions >= 0).astype(np.float64)
        return np.append(self.weights, 0)[near.positions].astype(np.float64)


@dataclass(frozen=True, eq=False)
class FilledPlaces:
    """Of the k places, where each neighbor begins, and how many it fills: 0 beyond the last.

    `whole`: none of its weight is left outside.
    """

    before: Float
    part: Float
    whole: Mask


def fill_places(near: Near, voters: Voters, k: int) -> FilledPlaces:
    """A row of weight w fills w of the places that are left, the last in part. (S 75)

    Sums are those of units, which are exact; a place is divided out at the end.
    """
    w, place = voters.weights_of(near), voters.place
    before = np.zeros_like(w)  # of those before alone: a heavy row's digits would hide theirs
    np.cumsum(w[:, :-1], axis=1, out=before[:, 1:])
    part = np.clip(k * place - before, 0.0, w)
    return FilledPlaces(before / place, part / place, (part == w) & (w > 0))


def is_filled(near: Near, voters: Voters, k: int, *, beyond: bool) -> Mask:
    """Whether all places are filled, `beyond`: and more than these; or there is nobody else."""
    total = voters.weights_of(near).sum(axis=1)
    enough = total > k * voters.place if beyond else total >= k * voters.place
    return np.asarray(enough | (near.positions[:, -1] < 0))


def votes(near: Near, voters: Voters, k: int, weighting: str) -> Float:
    """What the neighbors of each query say for each class, its factor left aside. (S 77)"""
    if voters.weights is None:
        near = type(near)(near.distances[:, : k + 1], near.positions[:, : k + 1])
        if weighting == "uniform":
            return _tally(near.positions[:, :k], None, voters)
    places = fill_places(near, voters, k)
    said = places.part * kernel(weighting, near.distances, places, k)
    return _tally(near.positions, said, voters)


def _tally(found: Counts, said: Float | None, voters: Voters) -> Float:
    """Sums by class; who is not there speaks for a class beyond the last."""
    q, K = len(found), voters.n_classes
    at = np.append(voters.labels, np.int32(K))[found] + np.arange(0, q * (K + 1), K + 1)[:, None]
    sums = np.bincount(at.ravel(), None if said is None else said.ravel(), minlength=q * (K + 1))
    return sums.reshape(q, K + 1)[:, :K].astype(np.float64, copy=False)


def by_class(said: Float, factors: Float) -> Float:
    """Votes times the factors of the classes, up to a power of two that keeps them finite."""
    top = np.frexp(factors.max(axis=-1, keepdims=True))[1]
    return np.asarray(said * np.ldexp(factors, -top))


def kernel(weighting: str, distances: Float, places: FilledPlaces, k: int) -> Float:
    """What a vote counts by its distance or its places; 0 where no place is filled. (S 76)"""
    inside = places.part > 0
    if weighting == "uniform":
        return inside.astype(np.float64)
    if weighting == "rank":
        middle = places.before + places.part / 2
        return np.where(inside, k + 0.5 - middle, 0.0)
    d = np.where(inside, distances, 0.0)
    if weighting == "distance":
        return np.where(inside, _inverse(d), 0.0)
    u = d / heights(distances, places)[:, None]
    values = _KERNELS[weighting](u, k) * inside
    silent = ~(values > 0).any(axis=1)  # all lie as far as the first one beyond
    values[silent] = inside[silent]
    return np.asarray(values)


def heights(distances: Float, places: FilledPlaces) -> Float:
    """h: the distance of the row at place k + 1, or the largest within; 1 for 0.

    A row that is inside in part is at place k + 1 too, as its next copy would be.
    """
    n_whole = places.whole.sum(axis=1)
    padded = np.concatenate([distances, np.full((len(distances), 1), np.inf)], axis=1)
    rows = np.arange(len(distances))
    beyond, last = padded[rows, n_whole], padded[rows, np.maximum(n_whole - 1, 0)]
    h = np.where(np.isfinite(beyond), beyond, last)
    return np.where((h > 0) & np.isfinite(h), h, 1.0)  # where h is 0, all distances are


def _inverse(d: Float) -> Float:
    """Nearest over own distance; where the nearest is at 0, those at 0 alone count."""
    nearest = d[:, :1]
    equal = d == nearest
    return np.where(equal, 1.0, nearest / np.where(d > 0, d, 1.0))


_KERNELS = {
    "triangular": lambda u, k: np.maximum(0.0, 1.0 - u),  # noqa: ARG005
    "epanechnikov": lambda u, k: np.maximum(0.0, 1.0 - u * u),  # noqa: ARG005
    "gaussian": lambda u, k: np.exp(-((ndtri(1.0 - 1.0 / (2.0 * (k + 1))) * u) ** 2) / 2.0),
}

# How many numbers of eight bytes stand beside a neighbor while votes are counted.
_BESIDE = 8


def rows_at_a_time(n_columns: int, depth: int) -> int:
    """How many queries are asked at a time, so that cells and neighbors stay within a block."""
    return max(1, BLOCK_CELLS // max(n_columns, _BESIDE * depth))


def near_filled(
    model: NeighborsModel,
    queries: Queries,
    k: int,
    *,
    beyond: bool,
    exclude: Int64 | None = None,
    n_threads: int = 1,
) -> Iterator[tuple[Any, Near]]:
    """Queries, and neighbors of each that fill k places; `beyond`: and one more, if there is.

    Where rows have weights, queries whose places are not filled are asked for twice as many.
    """
    voters, n = Voters.of(model), model.n_rows
    depth = k + beyond
    if voters.weights is not None:
        depth = min(n, int(np.ceil(k * n * voters.place / voters.weights.sum())) + 1)
    waiting: list[tuple[Any, int]] = [(np.arange(len(queries)), depth)]
    while waiting:
        rows, depth = waiting.pop()
        most = rows_at_a_time(1, depth)
        if len(rows) > most:
            waiting += [(rows[at : at + most], depth) for at in range(0, len(rows), most)]
            continue
        asked = queries if len(rows) == len(queries) else queries.take(rows)
        near = search(model, asked, depth, None if exclude is None else exclude[rows], n_threads)
        if voters.weights is None or depth >= n:
            yield rows, near
            continue
        filled = is_filled(near, voters, k, beyond=beyond)
        yield rows[filled], near.take(filled)
        if not filled.all():
            waiting.append((rows[~filled], min(2 * depth, n)))


def count_votes(
    model: NeighborsModel, queries: Queries, exclude: Int64 | None = None, n_threads: int = 1
) -> Float:
    """Votes by class of each query, the factors of classes left aside."""
    voters, made = Voters.of(model), np.zeros((len(queries), len(model.classes)))
    beyond = model.weighting in WITH_HEIGHT
    groups = near_filled(
        model, queries, model.k, beyond=beyond, exclude=exclude, n_threads=n_threads
    )
    for rows, near in groups:
        made[rows] = votes(near, voters, model.k, model.weighting)
    return made


@dataclass(frozen=True, eq=False)
class VotedRows:
    """What was asked of a block's rows; missing and unknown values, by column."""

    answer: Any
    missing: Int64
    unknown: Int64


@dataclass(frozen=True, eq=False)
class ShareBlock:
    """Block → Answered: P(c|x) of each row, or what `ask` makes of it.

    `skip`: unknown values are left out like missing values.
    """

    model: NeighborsModel
    skip: bool
    n_threads: int
    ask: Callable[[Float], NDArray[Any]] | None = None

    def __call__(self, batch: Batch) -> VotedRows:
        """Answer one block."""
        queries, missing, unknown = read_queries(self.model, batch, skip=self.skip)
        said = count_votes(self.model, queries, n_threads=self.n_threads)
        shares = shares_of_votes(by_class(said, self.model.class_factors), self.model.prior)
        return VotedRows(shares if self.ask is None else self.ask(shares), missing, unknown)


@dataclass(frozen=True, eq=False)
class DecideShares:
    """P(c|x) → the class to say, so that no block's shares are kept."""

    costs: Float | None = None

    def __call__(self, shares: Float) -> Places:
        """Decide on one block."""
        return decide(shares, self.costs)


@dataclass(frozen=True, eq=False)
class NearBlock:
    """Block → Answered: the k nearest rows, as a Near."""

    model: NeighborsModel
    skip: bool
    n_threads: int
    k: int

    def __call__(self, batch: Batch) -> VotedRows:
        """Answer one block."""
        queries, missing, unknown = read_queries(self.model, batch, skip=self.skip)
        return VotedRows(
            search(self.model, queries, self.k, n_threads=self.n_threads), missing, unknown
        )


def read_queries(
    model: NeighborsModel, batch: Batch, *, skip: bool
) -> tuple[Queries, Int64, Int64]:
    """A block as queries, with the missing and unknown values that it has."""
    queries = encode(model, batch)
    missing, unknown = count_cells(model, queries)
    if skip and unknown.any():
        codes = np.where(queries.codes == UNKNOWN, np.int32(MISSING), queries.codes)
        queries = Queries(queries.numbers, codes)
    return queries, missing, unknown


def gather_near(parts: Sequence[Near]) -> Near:
    """Parts as one."""
    return Near(
        np.concatenate([part.distances for part in parts]),
        np.concatenate([part.positions for part in parts]),
    )


# --- Rows whose neighbors were found and asked, one by one: what explanations and workings show --


@dataclass(frozen=True, eq=False)
class Found:
    """Neighbors that fill places, nearest first: where they are, how far, and what they count."""

    positions: Int64
    distances: Float
    part: Float
    kernel: Float

    def take(self, rows: slice | Places) -> Found:
        """Some of them."""
        return Found(self.positions[rows], self.distances[rows], self.part[rows], self.kernel[rows])


@dataclass(frozen=True, eq=False)
class FoundNeighbors:
    """Queries, values of categories as they were given (by column), and votes by class.

    The neighbors of query i are those from start[i] to start[i + 1] of `neighbors`.
    """

    queries: Queries
    words: tuple[list[Value | None], ...]
    votes: Float
    neighbors: Found
    start: Int64

    def __len__(self) -> int:
        return len(self.votes)

    def found(self, i: int) -> Found:
        """The neighbors of a query."""
        return self.neighbors.take(slice(int(self.start[i]), int(self.start[i + 1])))


@dataclass(frozen=True, eq=False)
class FindNeighborsBlock:
    """Block → Answered: its rows with their neighbors, as Polled."""

    model: NeighborsModel
    skip: bool
    n_threads: int

    def __call__(self, batch: Batch) -> VotedRows:
        """Ask one block's neighbors."""
        queries, missing, unknown = read_queries(self.model, batch, skip=self.skip)
        words = tuple(given_values(column) for column in batch.columns)
        return VotedRows(
            find_neighbors(self.model, queries, words, self.n_threads), missing, unknown
        )


def find_neighbors(
    model: NeighborsModel,
    queries: Queries,
    words: tuple[list[Value | None], ...],
    n_threads: int = 1,
) -> FoundNeighbors:
    """The neighbors of queries, counted as predict counts them."""
    voters, made = Voters.of(model), np.zeros((len(queries), len(model.classes)))
    owners, parts = [np.empty(0, dtype=np.intp)], [_nobody()]
    beyond = model.weighting in WITH_HEIGHT
    groups = near_filled(model, queries, model.k, beyond=beyond, n_threads=n_threads)
    for rows, near in groups:
        made[rows] = votes(near, voters, model.k, model.weighting)
        places = fill_places(near, voters, model.k)
        count = kernel(model.weighting, near.distances, places, model.k)
        i, j = np.nonzero(places.part > 0)
        owners.append(np.asarray(rows)[i])
        at = near.positions[i, j], near.distances[i, j], places.part[i, j], count[i, j]
        parts.append(Found(*at))
    owner, found = np.concatenate(owners), _gather_found(parts)
    order = np.argsort(owner, kind="stable")  # each query's neighbors stay in their order
    start = np.searchsorted(owner[order], np.arange(len(queries) + 1))
    return FoundNeighbors(queries, words, made * model.class_factors, found.take(order), start)


def gather_neighbors(parts: Sequence[FoundNeighbors]) -> FoundNeighbors:
    """Blocks as one."""
    before = np.cumsum([0, *(len(part.neighbors.positions) for part in parts)])
    starts = [part.start[:-1] + n for part, n in zip(parts, before, strict=False)]
    return FoundNeighbors(
        Queries(
            np.concatenate([part.queries.numbers for part in parts]),
            np.concatenate([part.queries.codes for part in parts]),
        ),
        tuple([word for words in column for word in words] for column in _by_column(parts)),
        np.concatenate([part.votes for part in parts]),
        _gather_found([part.neighbors for part in parts]),
        np.concatenate([*starts, before[-1:]]),
    )


def _by_column(parts: Sequence[FoundNeighbors]) -> list[list[list[Value | None]]]:
    return [[part.words[place] for part in parts] for place in range(len(parts[0].words))]


def _nobody() -> Found:
    none = np.empty(0)
    return Found(np.empty(0, dtype=np.int64), none, none, none)


def _gather_found(parts: Sequence[Found]) -> Found:
    return Found(
        np.concatenate([part.positions for part in parts]),
        np.concatenate([part.distances for part in parts]),
        np.concatenate([part.part for part in parts]),
        np.concatenate([part.kernel for part in parts]),
    )
