"""The working of Fisher's discriminant: every matrix and number of Algorithm 20.1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal.learners.matrices import matrix_table
from sortal.models.records import Table, Working, unique

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.models.fisher import FisherModel
    from sortal.models.records import Cell

    Float = NDArray[np.float64]


def show_fisher(model: FisherModel, coordinates: Float | None, backend: str) -> Working:
    """The tables of a fit; with the coordinates of rows, these too."""
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
    tables.append(matrix_table("between", "B, between classes", square, B, "ZM 20.2", backend))
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
    if coordinates is not None:
        tables.append(_rows(coordinates, backend))
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


def _rows(a: Float, backend: str) -> Table:
    heads = ("row", *(f"a{i + 1}" for i in range(a.shape[1])))
    rows = tuple((i, *row) for i, row in enumerate(a.tolist()))
    return Table("rows", "Coordinates a = wᵀx of the rows", heads, rows, "Sch 4-3", backend)
