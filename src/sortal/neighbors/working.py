"""The working of nearest neighbors: scales, classes and, for given rows, distances and votes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal.decision.posterior import shares_of_votes
from sortal.errors import counted
from sortal.neighbors.explain import column_amounts, counted_columns
from sortal.neighbors.learn import class_weights, row_weights
from sortal.neighbors.model import search
from sortal.records.tables import Working, matrix_table, sheet, whole_cells

if TYPE_CHECKING:
    from sortal.neighbors.model import NeighborsModel
    from sortal.neighbors.votes import FoundNeighbors
    from sortal.records.tables import Columns, Table


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
    columns, blank = model.schema.columns, (None, None)
    used = [measured.get(j, blank) if j in counted else blank for j in range(len(columns))]
    notes = ["equal or not" * (j in model.named) for j in range(len(columns))]
    cells: Columns = {
        "column": [column.name for column in columns],
        "kind": [column.kind for column in columns],
        ("divided by", "factor"): used,
        "note": [note if j in counted else "left out" for j, note in enumerate(notes)],
    }
    title = f"Columns: differences are divided by {_DIVISORS[model.scale]}"
    if model.ellipse is not None:
        title = "Columns: differences are measured by the covariance of all rows"
    elif not model.used_numbers.any():
        title = "Columns: values are equal or not"
    tag = "S 71" if model.scale != "none" and model.used_numbers.any() else ""
    return sheet("scale", title, cells, tag)


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
    """The rows of the fit in the order of their distance from each query.

    The first of them are its neighbors; others fill no place, and have no part and no vote.
    """
    shown, queries = min(max_rows, model.n_rows), rows.queries
    names = [model.schema.columns[c.j].name for c in counted_columns(model)]
    near = search(model, queries, shown, n_threads=n_threads)
    there = near.positions >= 0
    (query, rank), at = np.nonzero(there), near.positions[there]
    every = [
        column_amounts(model, queries.numbers[i], queries.codes[i], near.positions[i, there[i]])
        for i in range(len(rows))
    ]
    amounts = np.vstack([np.empty((0, len(names))), *(one.by_column for one in every)])
    known = (~np.isnan(amounts)).sum(axis=1)
    missing = bool((known < len(names)).any())
    part, kernel = np.zeros(near.positions.shape), np.zeros(near.positions.shape)
    for i in range(len(rows)):
        found, n = rows.found(i), min(shown, len(rows.found(i).positions))
        part[i, :n], kernel[i, :n] = found.part[:n], found.kernel[:n]
    labels, part, kernel = model.labels[at], part[there], kernel[there]
    columns: Columns = {"query": query, "rank": rank + 1, "id": model.ids[at]}
    columns |= {"class": [model.classes[k] for k in labels], tuple(names): amounts}
    columns |= {"known": known} if missing else {}
    columns |= {"sum": np.concatenate([np.empty(0), *(one.keys for one in every)])}
    columns |= {"distance": near.distances[there], "part": part, "kernel": kernel}
    columns |= {"vote": part * kernel * model.class_factors[labels]}
    said = _formula(model, len(names), missing=missing)
    title = f"Distances, the nearest {shown} of {counted(model.n_rows, 'row')} (ids from 0): {said}"
    return sheet("distances", title, columns, model.facts.equation)


def _formula(model: NeighborsModel, d: int, *, missing: bool) -> str:
    """How a distance follows from the columns of the table."""
    if model.power == np.inf:
        return "sum = the largest of the columns, distance = sum"
    roots = {1.0: "sum", 2.0: "√sum"}
    root = roots.get(model.power, f"sum^(1/{model.power:g})")
    root = f"sum / {d}" if model.facts.is_mean else root
    stretched = f" · {d} / known" if missing else ""
    return f"sum = the columns added up{stretched}, distance = {root}"
