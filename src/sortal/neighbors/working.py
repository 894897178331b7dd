"""The working of nearest neighbors: scales, classes and, for given rows, distances and votes."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from sortal.decision.posterior import shares_of_votes
from sortal.errors import counted
from sortal.neighbors.explain import column_amounts, counted_columns
from sortal.neighbors.learn import class_weights, row_weights
from sortal.neighbors.model import search
from sortal.records.tables import Table, Working, matrix_table, sheet, unique, whole_cells

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sortal._typing import Counts, Float
    from sortal.neighbors.explain import Amounts
    from sortal.neighbors.model import Near, NeighborsModel
    from sortal.neighbors.votes import Found, FoundNeighbors
    from sortal.records.tables import Cell


_DIVISORS = {"range": "the range", "std": "the standard deviation", "none": "nothing"}


def show_working(
    model: NeighborsModel, rows: FoundNeighbors | None, max_rows: int, n_threads: int = 1
) -> Working:
    """The tables of a fit; with rows, also their distances to those of the fit, and the votes."""
    tables = [_scale(model), *_ellipse(model), _classes(model)]
    if model.curve is not None:
        tables.append(model.curve)
    if rows is not None:
        tables.append(_distances(model, rows, max_rows, n_threads))
        tables.append(_votes(model, rows))
    return Working(describe(model), tuple(tables))


def describe(model: NeighborsModel) -> str:
    """The model in a line."""
    power = f" with p = {model.power:g}" if model.facts.power is None else ""
    places = counted(model.k, "place")
    return f"Nearest neighbors: {places}, {model.metric} distance{power}, {model.weighting} votes"


def _scale(model: NeighborsModel) -> Table:
    """What differences are divided by; a category is equal or not."""
    pairs = zip(model.widths.tolist(), model.factors.tolist(), strict=True)
    measured = {} if model.ellipse is not None else dict(zip(model.measured, pairs, strict=True))
    counted = {column.j for column in counted_columns(model)}
    rows: list[tuple[Cell, ...]] = []
    for j, column in enumerate(model.schema.columns):
        width, factor = measured.get(j, (None, None)) if j in counted else (None, None)
        note = "equal or not" if j in model.named else ""
        note = note if j in counted else "left out"
        rows.append((column.name, column.kind, width, factor, note))
    title = f"Columns: differences are divided by {_DIVISORS[model.scale]}"
    if model.ellipse is not None:
        title = "Columns: differences are measured by the covariance of all rows"
    elif not model.used_numbers.any():
        title = "Columns: values are equal or not"
    heads = ("column", "kind", "divided by", "factor", "note")
    tag = "S 71" if model.scale != "none" and model.used_numbers.any() else ""
    return Table("scale", title, heads, tuple(rows), tag)


def _ellipse(model: NeighborsModel) -> list[Table]:
    """The covariance that a Mahalanobis distance is measured by, and its inverse."""
    if model.ellipse is None:
        return []
    names = [model.schema.columns[j].name for j in model.measured]
    root = model.ellipse.root
    title = "S⁻¹" if root.shape[1] == len(names) else "S⁺, the pseudo-inverse"
    square = names, names
    S = model.ellipse.covariance
    return [
        matrix_table("covariance", "S, of all rows", square, S, "S 74"),
        matrix_table("inverse", title, square, root @ root.T, "S 74"),
    ]


def _classes(model: NeighborsModel) -> Table:
    n = np.bincount(model.labels, minlength=len(model.classes))
    weight = whole_cells(class_weights(model.labels, row_weights(model), len(n)))
    columns = {"class": model.classes, "rows": n, "weight": weight, "factor": model.class_factors}
    title = "Classes, and what a vote for them is multiplied by"
    return sheet("classes", title, columns, "S 77")


def _votes(model: NeighborsModel, rows: FoundNeighbors) -> Table:
    shares, n = shares_of_votes(rows.votes, model.prior), len(rows)
    columns = {
        "query": np.repeat(np.arange(n), len(model.classes)),
        "class": model.classes * n,
        "votes": rows.votes.ravel(),
        "P": shares.ravel(),
    }
    return sheet("votes", "Votes by class, and their shares", columns, "S 78")


# --- Distances -----------------------------------------------------------------------------------


def _distances(model: NeighborsModel, rows: FoundNeighbors, max_rows: int, n_threads: int) -> Table:
    """The rows of the fit in the order of their distance from each query."""
    shown = min(max_rows, model.n_rows)
    near = search(model, rows.queries, shown, n_threads=n_threads)
    names = [model.schema.columns[column.j].name for column in counted_columns(model)]
    ranked = [_rank(model, rows, near, i) for i in range(len(rows))]
    missing = any((one.amounts.known < len(names)).any() for one in ranked)
    cells = [line for one in ranked for line in _lines(model, one, missing=missing)]
    known = ("known",) if missing else ()
    results = (*known, "sum", "distance", "part", "kernel", "vote")
    heads = unique(("query", "rank", "id", "class", *names, *results))
    said = _formula(model, len(names), missing=missing)
    title = f"Distances, the nearest {shown} of {counted(model.n_rows, 'row')} (ids from 0): {said}"
    return Table("distances", title, heads, tuple(cells), model.facts.equation)


def _formula(model: NeighborsModel, d: int, *, missing: bool) -> str:
    """How a distance follows from the columns of the table."""
    if model.power == np.inf:
        return "sum = the largest of the columns, distance = sum"
    roots = {1.0: "sum", 2.0: "√sum"}
    root = roots.get(model.power, f"sum^(1/{model.power:g})")
    root = f"sum / {d}" if model.facts.is_mean else root
    stretched = f" · {d} / known" if missing else ""
    return f"sum = the columns added up{stretched}, distance = {root}"


@dataclass(frozen=True, eq=False)
class _Ranked:
    """Rows in the order of their distance from query i; the first of them are its neighbors."""

    i: int
    positions: Counts
    distances: Float
    amounts: Amounts
    neighbors: Found


def _rank(model: NeighborsModel, rows: FoundNeighbors, near: Near, i: int) -> _Ranked:
    there = near.positions[i] >= 0
    positions, queries = near.positions[i, there], rows.queries
    amounts = column_amounts(model, queries.numbers[i], queries.codes[i], positions)
    return _Ranked(i, positions, near.distances[i, there], amounts, rows.found(i))


def _lines(model: NeighborsModel, ranked: _Ranked, *, missing: bool) -> Iterator[tuple[Cell, ...]]:
    """The lines of a query; rows that fill no place have no part and no vote."""
    amounts, found = ranked.amounts, ranked.neighbors
    terms, n_known, keys = amounts.by_column.tolist(), amounts.known.tolist(), amounts.keys.tolist()
    distances, parts, kernels = (a.tolist() for a in (ranked.distances, found.part, found.kernel))
    for rank, at in enumerate(ranked.positions.tolist()):
        label, inside = int(model.labels[at]), rank < len(parts)
        part, kernel = (parts[rank], kernels[rank]) if inside else (0.0, 0.0)
        known = (n_known[rank],) if missing else ()
        vote = part * kernel * float(model.class_factors[label])
        front = ranked.i, rank + 1, int(model.ids[at]), model.classes[label]
        added = (None if isnan(term) else term for term in terms[rank])
        yield (*front, *added, *known, keys[rank], distances[rank], part, kernel, vote)
