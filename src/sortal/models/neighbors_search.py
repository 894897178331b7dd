"""Queries in the terms of the rows, and the rows that are nearest to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.arrays import check_matrix
from sortal.data.columns import HOLE, UNKNOWN
from sortal.data.recoding import recode_columns
from sortal.models.geometry import survey
from sortal.native.neighbors import Searcher

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.data.batch import Batch
    from sortal.models.geometry import Geometry
    from sortal.models.neighbors import NeighborsModel
    from sortal.native.neighbors import Kind

    Float = NDArray[np.float64]
    Codes = NDArray[np.int32]
    Int64 = NDArray[np.int64]

# Numbers that are whitened at a time, few enough to stay in the cache.
_CELLS = 1 << 16
# For so few queries with the same holes no search is made ready that would be used once.
_FEW_QUERIES = 64


@dataclass(frozen=True, eq=False)
class Queries:
    """Rows to be asked about: numbers (NaN is a hole), codes (-1 a hole, -2 an unknown value)."""

    numbers: Float
    codes: Codes

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, rows: Any) -> Queries:
        """Some of them."""
        return Queries(self.numbers[rows], self.codes[rows])


@dataclass(frozen=True, eq=False)
class Near:
    """Distances and positions of the nearest rows of queries; inf and -1 where there are none."""

    distances: Float
    positions: Int64

    def take(self, rows: Any) -> Near:
        """Those of some queries."""
        return Near(self.distances[rows], self.positions[rows])


def encode(model: NeighborsModel, batch: Batch) -> Queries:
    """A block in the terms of a model."""
    numbers = batch.number_matrix()
    check_matrix(numbers, [model.schema.columns[j].name for j in model.measured])
    codes = recode_columns(batch.columns, model.values, batch.n_rows)
    return Queries(np.ascontiguousarray(numbers, dtype=np.float64), np.ascontiguousarray(codes.T))


def kept_queries(model: NeighborsModel, rows: Any) -> Queries:
    """Some of the model's own rows."""
    numbers = np.ascontiguousarray(model.numbers[rows], dtype=np.float64)
    return Queries(numbers, np.ascontiguousarray(model.codes[rows]))


def count_cells(model: NeighborsModel, queries: Queries) -> tuple[Int64, Int64]:
    """Holes and unknown values in the columns that count, by column of the schema."""
    holes, unknown = np.zeros((2, len(model.schema.columns)), dtype=np.int64)
    measured = np.array(model.measured, dtype=np.intp)[model.used_numbers]
    named = np.array(model.named, dtype=np.intp)[model.used_codes]
    numbers = _used(queries.numbers, model.used_numbers)
    codes = _used(queries.codes, model.used_codes)
    if numbers.size and np.isnan(numbers.min()):
        holes[measured] = np.isnan(numbers).sum(axis=0)
    if codes.size and codes.min() < 0:
        holes[named] = (codes == HOLE).sum(axis=0)
        unknown[named] = (codes == UNKNOWN).sum(axis=0)
    return holes, unknown


def search(
    model: NeighborsModel,
    queries: Queries,
    depth: int,
    exclude: Int64 | None = None,
    n_threads: int = 1,
) -> Near:
    """The rows of least (key, id), as many as `depth`, without the one excluded."""
    if model.ellipse is None:
        searcher = model.searcher(lambda: plain_searcher(model))
        given = _used(queries.numbers, model.used_numbers), _used(queries.codes, model.used_codes)
        keys, found = searcher.search(*given, depth, exclude, n_threads)
    else:
        keys, found = _search_ellipse(model, queries.numbers, depth, exclude, n_threads)
    return Near(model.distances(keys), found)


def plain_searcher(model: NeighborsModel) -> Searcher:
    """A search among the columns that count."""
    if model.ellipse is not None:
        return _ellipse_searcher(model, model.ellipse.root, slice(None))
    numbers, codes = _used(model.numbers, model.used_numbers), _used(model.codes, model.used_codes)
    factors = model.factors[model.used_numbers]
    return Searcher(numbers, codes, factors, model.power, model.n_columns)


def _used(cells: NDArray[Any], used: NDArray[np.bool_]) -> NDArray[Any]:
    return cells if used.all() else np.ascontiguousarray(cells[:, used])


# --- Mahalanobis ---------------------------------------------------------------------------------


def _search_ellipse(
    model: NeighborsModel, x: Float, depth: int, exclude: Int64 | None, n_threads: int
) -> tuple[Float, Int64]:
    """By whitened coordinates; queries with holes by those of the columns they have."""
    keys = np.full((len(x), depth), np.inf)
    found = np.full((len(x), depth), -1, dtype=np.int64)
    known = ~np.isnan(x)
    whole = known.all()
    patterns, which = (known[:1], np.zeros(len(x), int)) if whole else _patterns(known)
    for p, pattern in enumerate(patterns):
        rows = slice(None) if whole else np.flatnonzero(which == p)
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


def _patterns(known: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    patterns, which = np.unique(known, axis=0, return_inverse=True)
    return patterns, which.ravel()


def _of_pattern(
    model: NeighborsModel, known: NDArray[np.bool_], n_queries: int
) -> tuple[Float, Searcher]:
    """The root of the inverse of S over some columns, and the search by it."""
    ellipse = model.ellipse
    assert ellipse is not None  # noqa: S101  (asked of such models only)
    if known.all():
        return ellipse.root, model.searcher(lambda: plain_searcher(model))
    S = ellipse.covariance[np.ix_(known, known)]
    root = inverse_root(S, ellipse.magnitude[known], model.n_rows).sphere
    kind: Kind | None = "scan" if n_queries <= _FEW_QUERIES else None
    return root, _ellipse_searcher(model, root, known, kind)


def _ellipse_searcher(
    model: NeighborsModel, root: Float, columns: Any, kind: Kind | None = None
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
