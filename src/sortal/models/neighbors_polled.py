"""Rows whose neighbors were found and asked, one by one: what explanations and workings show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sortal.data.columns import given_values
from sortal.models.neighbors_blocks import Answered, near_filled, read_queries
from sortal.models.neighbors_search import Queries
from sortal.models.neighbors_votes import WITH_HEIGHT, Voters, fill_places, kernel, votes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal.data.batch import Batch
    from sortal.data.values import Value
    from sortal.models.neighbors import NeighborsModel

    Float = NDArray[np.float64]
    Int64 = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Found:
    """Neighbors that fill places, nearest first: where they are, how far, and what they count."""

    positions: Int64
    distances: Float
    part: Float
    kernel: Float

    def take(self, rows: slice | NDArray[np.intp]) -> Found:
        """Some of them."""
        return Found(self.positions[rows], self.distances[rows], self.part[rows], self.kernel[rows])


@dataclass(frozen=True, eq=False)
class Polled:
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
class PollBlock:
    """Block → Answered: its rows with their neighbors, as Polled."""

    model: NeighborsModel
    skip: bool
    n_threads: int

    def __call__(self, batch: Batch) -> Answered:
        """Ask one block's neighbors."""
        queries, holes, unknown = read_queries(self.model, batch, skip=self.skip)
        words = tuple(given_values(column) for column in batch.columns)
        return Answered(poll(self.model, queries, words, self.n_threads), holes, unknown)


def poll(
    model: NeighborsModel,
    queries: Queries,
    words: tuple[list[Value | None], ...],
    n_threads: int = 1,
) -> Polled:
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
    return Polled(queries, words, made * model.class_factors, found.take(order), start)


def gather_polled(parts: Sequence[Polled]) -> Polled:
    """Blocks as one."""
    before = np.cumsum([0, *(len(part.neighbors.positions) for part in parts)])
    starts = [part.start[:-1] + n for part, n in zip(parts, before, strict=False)]
    return Polled(
        Queries(
            np.concatenate([part.queries.numbers for part in parts]),
            np.concatenate([part.queries.codes for part in parts]),
        ),
        tuple([word for words in column for word in words] for column in _by_column(parts)),
        np.concatenate([part.votes for part in parts]),
        _gather_found([part.neighbors for part in parts]),
        np.concatenate([*starts, before[-1:]]),
    )


def _by_column(parts: Sequence[Polled]) -> list[list[list[Value | None]]]:
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
