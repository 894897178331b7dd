"""The working of Fisher's discriminant: every matrix and number of Algorithm 20.1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sortal.records.tables import Table, Working, matrix_table, unique

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal._typing import Float
    from sortal.discriminants.fisher.model import FisherModel
    from sortal.records.tables import Cell


@dataclass(frozen=True, eq=False)
class ShownRows:
    """Rows as distances from the center along the directions, and the classes predicted."""

    coordinates: Float
    labels: Sequence[object]


def show_fisher(model: FisherModel, shown: ShownRows | None, backend: str) -> Working:
    """The tables of a fit; of rows, their coordinates and how they are decided."""
    terms = model.scores.design.terms
    square = terms, terms
    two = len(model.classes) == 2
    inverse = model.geometry.sphere @ model.geometry.sphere.T  # S⁻¹B is (ZM 20.9)
    whole = model.geometry.sphere.shape[1] == len(terms)
    title = "S⁻¹" if whole else "S⁺"  # the pseudo-inverse
    B, S = model.criterion.B, model.criterion.within
    means = model.center + model.gap
    tables = [
        _classes(model, backend),
        matrix_table("means", "Class means", (model.classes, terms), means, "Sch 4-5a", backend),
    ]
    if two:
        tables.append(_difference(model, backend))
    tag = "ZM 20.2" if two else "S 98"
    tables.append(matrix_table("between", "B, between classes", square, B, tag, backend))
    names = unique([f"scatter {label}" for label in model.classes])
    tables += [
        matrix_table(name, f"S of class {label}", square, S_k, "Sch 4-10a", backend)
        for name, label, S_k in zip(names, model.classes, model.scatter, strict=True)
    ]
    tables += [
        matrix_table("within", "S, within classes", square, S, "ZM 20.6", backend),
        matrix_table("inverse", title, square, inverse, "ZM 20.9", backend),
        matrix_table("product", f"{title}B", square, inverse @ B, "ZM 20.9", backend),
    ]
    if two and model.directions.size:
        tables.append(_solution(model, inverse, backend))
    tables += [_directions(model, backend), _projections(model, backend), _judged(model, backend)]
    if shown is not None:
        tables += [_rows(model, shown, backend), _verdicts(model, shown, backend)]
    return Working("Fisher's discriminant", tuple(tables))


def _classes(model: FisherModel, backend: str) -> Table:
    rows = tuple((str(c), float(n)) for c, n in zip(model.classes, model.weight, strict=True))
    return Table("classes", "Classes", ("class", "n"), rows, "", backend)


def _difference(model: FisherModel, backend: str) -> Table:
    terms = model.scores.design.terms
    difference = (model.gap[0] - model.gap[1]).tolist()
    rows = tuple(zip(terms, difference, strict=True))
    first, last = model.classes
    title = f"Mean of {first} less mean of {last}"
    return Table("difference", title, ("term", "difference"), rows, "ZM 20.2", backend)


def _solution(model: FisherModel, inverse: Float, backend: str) -> Table:
    """S⁻¹(μ_1 - μ_2), its length, and the unit vector; where J is infinite, the latter alone."""
    terms = model.scores.design.terms
    w = model.directions[:, 0]
    if not np.isfinite(model.eigenvalues[0]):
        title = "The direction without scatter within classes"
        alone = tuple(zip(terms, w.tolist(), strict=True))
        return Table("solution", title, ("term", "w"), alone, "ZM 20.10", backend)
    raw = inverse @ (model.gap[0] - model.gap[1])
    rows: list[tuple[Cell, ...]] = list(zip(terms, raw.tolist(), w.tolist(), strict=True))
    rows.append(("length", float(np.linalg.norm(raw)), 1.0))
    columns = ("term", "S⁻¹(difference)", "w")
    return Table("solution", "The direction, directly", columns, tuple(rows), "ZM 20.10", backend)


def _directions(model: FisherModel, backend: str) -> Table:
    terms = model.scores.design.terms
    heads = unique(("direction", "λ = J(w)", *terms))
    rows = tuple(
        (i + 1, float(model.eigenvalues[i]), *model.directions[:, i].tolist())
        for i in range(model.directions.shape[1])
    )
    return Table("directions", "Directions of unit length", heads, rows, "ZM 20.8", backend)


def _projections(model: FisherModel, backend: str) -> Table:
    rows = tuple(
        (i + 1, str(label), float(model.means[k, i]), float(model.scatters[k, i]))
        for i in range(model.directions.shape[1])
        for k, label in enumerate(model.classes)
    )
    columns = ("direction", "class", "m", "s²")
    return Table("projections", "Projected classes", columns, rows, "ZM 20.3", backend)


def _judged(model: FisherModel, backend: str) -> Table:
    """wᵀBw / wᵀSw again, from the finished direction, and the separating point."""
    rows: list[tuple[Cell, ...]] = []
    for i in range(model.directions.shape[1]):
        w = model.directions[:, i]
        apart, inside = model.criterion.parts(w)
        point = model.separating_point() if i == 0 else None
        rows.append((i + 1, apart, inside, model.criterion.value(w), point))
    columns = ("direction", "wᵀBw", "wᵀSw", "J(w)", "separating point")
    return Table("criterion", "The criterion", columns, tuple(rows), "ZM 20.7", backend)


def _rows(model: FisherModel, shown: ShownRows, backend: str) -> Table:
    a = shown.coordinates + model.center @ model.directions
    heads = ("row", *(f"a{i + 1}" for i in range(a.shape[1])))
    rows = tuple((i, *row) for i, row in enumerate(a.tolist()))
    return Table("rows", "Coordinates a = wᵀx of the rows", heads, rows, "Sch 4-3", backend)


def _verdicts(model: FisherModel, shown: ShownRows, backend: str) -> Table:
    """What decides: the side of the separating point, or the nearest mean where wᵀSw = 1. (S 99)"""
    if model.threshold is not None:
        values, heads = shown.coordinates[:, :1] - model.threshold, ["a1 less separating point"]
        title, tag = "The side of the separating point: positive for the first class", "Sch 4-3"
    else:
        means = model.gap @ model.directions
        apart = (shown.coordinates[:, None] - means) / model.lengths
        values, heads = np.square(apart).sum(axis=2), [f"d² from {c}" for c in model.classes]
        values[:, model.weight == 0] = np.inf
        title, tag = "Squared distances from the projected means, where wᵀSw = 1", "S 99"
    pairs = enumerate(zip(values.tolist(), shown.labels, strict=True))
    rows = tuple((i, *row, str(label)) for i, (row, label) in pairs)
    return Table("verdicts", title, unique(("row", *heads, "predicted")), rows, tag, backend)
