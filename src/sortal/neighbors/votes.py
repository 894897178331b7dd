"""Votes of neighbors: places that they fill, proportions by class, and passes over blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from sortal.data.columns import MISSING, UNKNOWN, given_values
from sortal.data.sources import BLOCK_CELLS
from sortal.decision.posterior import shares_of_votes
from sortal.decision.scores import ScoredTerms
from sortal.engines import gather, total
from sortal.neighbors.learn import class_factors, class_weights, row_weights
from sortal.neighbors.model import Near, Queries, by_rows, count_cells, encode, search, taken

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from sortal._typing import Codes, Counts, Float, Mask
    from sortal.data.sources import Batch, TableSource
    from sortal.decision.scores import Question
    from sortal.neighbors.learn import NeighborsFit
    from sortal.neighbors.model import NeighborsModel


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
    exclude: Counts | None = None,
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
        asked = queries if len(rows) == len(queries) else taken(queries, rows)
        near = search(model, asked, depth, None if exclude is None else exclude[rows], n_threads)
        if voters.weights is None or depth >= n:
            yield rows, near
            continue
        filled = is_filled(near, voters, k, beyond=beyond)
        yield rows[filled], taken(near, filled)
        if not filled.all():
            waiting.append((rows[~filled], min(2 * depth, n)))


def count_votes(
    model: NeighborsModel, queries: Queries, exclude: Counts | None = None, n_threads: int = 1
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


# --- Passes over blocks --------------------------------------------------------------------------


def bounded(source: TableSource, model: NeighborsModel, k: int) -> TableSource:
    """Blocks so small that they and k neighbors of each row are in memory together."""
    most = rows_at_a_time(len(model.schema.columns), k)
    return replace(source, block_rows=min(most, source.rows_per_block))


def bounded_rows(source: TableSource, fitted: NeighborsFit) -> TableSource:
    """Rows as predict and explanations read them."""
    model = fitted.model
    return bounded(by_rows(source, by_value=model.facts.by_value), model, model.k + 1)


def answer(fitted: NeighborsFit, question: Question) -> Callable[[Batch], ScoredTerms]:
    """A pass: what is asked of a block's rows, by the shares of their neighbors' votes."""
    model = fitted.model
    factors, prior = model.class_factors, model.prior
    if question.prior is not None:
        options, prior = replace(fitted.options, priors=question.prior), question.prior
        counts = class_weights(model.labels, row_weights(model), len(model.classes))
        factors = class_factors(counts, options, model.classes)

    def vote(batch: Batch) -> ScoredTerms:
        queries, missing, unknown = read_queries(model, batch, skip=question.unknown == "skip")
        said = by_class(count_votes(model, queries, n_threads=question.n_threads), factors)
        return ScoredTerms(question.of_shares(shares_of_votes(said, prior)), missing, unknown)

    return vote


def read_queries(
    model: NeighborsModel, batch: Batch, *, skip: bool
) -> tuple[Queries, Counts, Counts]:
    """A block as queries, with the missing and unknown values that it has.

    `skip`: unknown values are left out like missing values.
    """
    queries = encode(model, batch)
    missing, unknown = count_cells(model, queries)
    if skip and unknown.any():
        codes = np.where(queries.codes == UNKNOWN, np.int32(MISSING), queries.codes)
        queries = Queries(queries.numbers, codes)
    return queries, missing, unknown


@dataclass(frozen=True, eq=False)
class NearRows:
    """The nearest rows of a block's rows."""

    near: Near
    missing: Counts = total()
    unknown: Counts = total()


def find_near(
    model: NeighborsModel, k: int, n_threads: int, *, skip: bool
) -> Callable[[Batch], NearRows]:
    """A pass: the k nearest rows."""

    def find(batch: Batch) -> NearRows:
        queries, missing, unknown = read_queries(model, batch, skip=skip)
        return NearRows(search(model, queries, k, n_threads=n_threads), missing, unknown)

    return find


# --- Rows whose neighbors were found and asked, one by one: what explanations and workings show --


@dataclass(frozen=True, eq=False)
class Found:
    """Neighbors that fill places, nearest first: where they are, how far, and what they count."""

    positions: Counts
    distances: Float
    part: Float
    kernel: Float


@dataclass(frozen=True, eq=False)
class FoundNeighbors:
    """Queries, values of categories as they were given, and votes by class.

    `neighbors` are those of all queries, one query's after the other's, `counts` how many each has.
    """

    queries: Queries
    words: NDArray[Any]
    votes: Float
    neighbors: Found
    counts: Counts
    missing: Counts = total()
    unknown: Counts = total()

    def __len__(self) -> int:
        return len(self.votes)

    @cached_property
    def ends(self) -> Counts:
        """Where the neighbors of each query end."""
        return np.cumsum(self.counts)

    def found(self, i: int) -> Found:
        """The neighbors of a query."""
        end = int(self.ends[i])
        return taken(self.neighbors, slice(end - int(self.counts[i]), end))


def find_neighbors(
    model: NeighborsModel, n_threads: int, *, skip: bool
) -> Callable[[Batch], FoundNeighbors]:
    """A pass: rows with their neighbors, counted as predict counts them."""
    voters, beyond = Voters.of(model), model.weighting in WITH_HEIGHT

    def find(batch: Batch) -> FoundNeighbors:
        queries, missing, unknown = read_queries(model, batch, skip=skip)
        given = [given_values(column) for column in batch.columns]
        words = np.array(given, dtype=object).reshape(len(given), len(queries)).T
        made = np.zeros((len(queries), len(model.classes)))
        owners, parts = [], []
        groups = near_filled(model, queries, model.k, beyond=beyond, n_threads=n_threads)
        for rows, near in groups:
            made[rows] = votes(near, voters, model.k, model.weighting)
            places = fill_places(near, voters, model.k)
            count = kernel(model.weighting, near.distances, places, model.k)
            i, j = np.nonzero(places.part > 0)
            owners.append(np.asarray(rows)[i])
            at = near.positions[i, j], near.distances[i, j], places.part[i, j], count[i, j]
            parts.append(Found(*at))
        owner = np.concatenate(owners)
        found = taken(gather(parts), np.argsort(owner, kind="stable"))  # each query's in order
        counts = np.bincount(owner, minlength=len(queries))
        said = made * model.class_factors
        return FoundNeighbors(queries, words, said, found, counts, missing, unknown)

    return find
