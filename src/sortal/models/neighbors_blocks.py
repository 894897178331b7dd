"""What a pass over blocks does with nearest neighbors: picklable values that can run anywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.columns import HOLE, UNKNOWN
from sortal.data.sources import BLOCK_CELLS
from sortal.models.decision import decide, shares_of_votes
from sortal.models.neighbors_search import Near, Queries, count_cells, encode, search
from sortal.models.neighbors_votes import WITH_HEIGHT, Voters, by_class, is_filled, votes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from sortal.data.batch import Batch
    from sortal.models.neighbors import NeighborsModel

    Float = NDArray[np.float64]
    Int64 = NDArray[np.int64]

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
class Answered:
    """What was asked of a block's rows; holes and unknown values, by column."""

    answer: Any
    holes: Int64
    unknown: Int64


@dataclass(frozen=True, eq=False)
class ShareBlock:
    """Block → Answered: P(c|x) of each row, or what `ask` makes of it.

    `skip`: unknown values are left out like holes.
    """

    model: NeighborsModel
    skip: bool
    n_threads: int
    ask: Callable[[Float], NDArray[Any]] | None = None

    def __call__(self, batch: Batch) -> Answered:
        """Answer one block."""
        queries, holes, unknown = read_queries(self.model, batch, skip=self.skip)
        said = count_votes(self.model, queries, n_threads=self.n_threads)
        shares = shares_of_votes(by_class(said, self.model.class_factors), self.model.prior)
        return Answered(shares if self.ask is None else self.ask(shares), holes, unknown)


@dataclass(frozen=True, eq=False)
class Label:
    """P(c|x) → the class to say, so that no block's shares are kept."""

    costs: Float | None = None

    def __call__(self, shares: Float) -> NDArray[np.intp]:
        """Decide on one block."""
        return decide(shares, self.costs)


@dataclass(frozen=True, eq=False)
class NearBlock:
    """Block → Answered: the k nearest rows, as a Near."""

    model: NeighborsModel
    skip: bool
    n_threads: int
    k: int

    def __call__(self, batch: Batch) -> Answered:
        """Answer one block."""
        queries, holes, unknown = read_queries(self.model, batch, skip=self.skip)
        return Answered(
            search(self.model, queries, self.k, n_threads=self.n_threads), holes, unknown
        )


def read_queries(
    model: NeighborsModel, batch: Batch, *, skip: bool
) -> tuple[Queries, Int64, Int64]:
    """A block as queries, with the holes and unknown values that it has."""
    queries = encode(model, batch)
    holes, unknown = count_cells(model, queries)
    if skip and unknown.any():
        codes = np.where(queries.codes == UNKNOWN, np.int32(HOLE), queries.codes)
        queries = Queries(queries.numbers, codes)
    return queries, holes, unknown


def gather_near(parts: Sequence[Near]) -> Near:
    """Parts as one."""
    return Near(
        np.concatenate([part.distances for part in parts]),
        np.concatenate([part.positions for part in parts]),
    )
