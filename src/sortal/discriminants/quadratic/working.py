"""The working of the quadratic discriminant: covariances, determinants, functions, Bayes' rule."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from sortal.decision.posterior import posterior
from sortal.discriminants.classical.statistics import quadratic_statistics_tables
from sortal.discriminants.tables import posterior_table, prior_table, score_table
from sortal.records.tables import Table, Working, matrix_table, unique

if TYPE_CHECKING:
    from sortal._typing import Float
    from sortal.discriminants.explain import Decided
    from sortal.discriminants.quadratic.model import QuadraticModel
    from sortal.discriminants.statistics import ClassStatistics
    from sortal.records.tables import Cell


def show_quadratic(
    model: QuadraticModel, stats: ClassStatistics, rows: Decided | None, backend: str
) -> Working:
    """The tables of a fit; with what was said of rows, also their posteriors."""
    terms, classes = model.scores.design.terms, model.classes
    means = np.where(stats.present[:, None], model.center + model.gap, np.nan)
    tables = [
        prior_table(classes, model.prior, backend),
        matrix_table("means", "Class means", (classes, terms), means, "Bar estimates", backend),
        _matrices("covariances", "Σ_k, as used", model, model.covariances, "S 43", backend),
        _matrices("inverses", _inverse_title(model), model, _inverses(model), "Bar qda", backend),
        _determinants(model, backend),
        _functions(model, backend),
        _boundaries(model, backend),
        *quadratic_statistics_tables(stats, backend),
    ]
    if model.curve is not None:
        tables.append(replace(model.curve, backend=backend))
    if rows is not None:
        said = [classes[k] for k in rows.verdicts.labels]
        tables.append(score_table(classes, rows.functions, said, "Bar qda", backend))
        shares = posterior(rows.functions, model.prior)
        tables.append(posterior_table(classes, shares, backend))
    return Working("Quadratic discriminant", tuple(tables))


def _inverses(model: QuadraticModel) -> Float:
    return np.array([model.inverse(k) for k in range(len(model.classes))])


def _inverse_title(model: QuadraticModel) -> str:
    full = model.rank == len(model.scores.design.terms)
    return "Σ_k⁻¹" if full else "Σ_k⁻¹ where something varies, else 0"


def _matrices(
    name: str, title: str, model: QuadraticModel, matrices: Float, equation: str, backend: str
) -> Table:
    """A matrix a class that has rows, one below the other."""
    terms = model.scores.design.terms
    rows: list[tuple[Cell, ...]] = [
        (str(label), term, *row)
        for k, (label, matrix) in enumerate(zip(model.classes, matrices.tolist(), strict=True))
        if np.isfinite(model.log_dets[k])
        for term, row in zip(terms, matrix, strict=True)
    ]
    return Table(name, title, unique(("class", "", *terms)), tuple(rows), equation, backend)


def _determinants(model: QuadraticModel, backend: str) -> Table:
    """What stands before the exponential of each density."""
    rows: list[tuple[Cell, ...]] = [
        (
            str(label),
            int(model.ranks[k]),
            float(model.own[k].condition),
            float(model.log_dets[k]),
        )
        for k, label in enumerate(model.classes)
    ]
    title = f"Determinants; rank of the class's own matrix, of {model.rank}"
    tied = model.rank < len(model.scores.design.terms)
    heads = ("class", "rank", "condition", "ln det Σ_k" + (" less that of Σ" if tied else ""))
    return Table("log_determinants", title, heads, tuple(rows), "S 44", backend)


def _functions(model: QuadraticModel, backend: str) -> Table:
    """c_k and b_k of g_k(x) = c_k + b_kᵀx - ½ xᵀΣ_k⁻¹x."""
    constants, linear, _ = model.functions(model.log_prior)
    rows: list[tuple[Cell, ...]] = [
        (str(label), float(constants[k]), *linear[k].tolist())
        for k, label in enumerate(model.classes)
    ]
    heads = unique(("class", "constant", *model.scores.design.terms))
    title = "One function a class: constant and linear part; the rest is -½ xᵀΣ_k⁻¹x"
    return Table("functions", title, heads, tuple(rows), "Bar qda", backend)


def _boundaries(model: QuadraticModel, backend: str) -> Table:
    """The log-odds of every pair, a row a power."""
    terms = model.scores.design.terms
    rows: list[tuple[Cell, ...]] = []
    possible = np.flatnonzero(np.isfinite(model.functions(model.log_prior)[0])).tolist()
    for k, m in combinations(possible, 2):
        first, second = model.classes[k], model.classes[m]
        found = model.boundary(model.log_prior, first, second)
        pair = str(first), str(second)
        rows.append((*pair, "1", found.beta0, *found.beta.tolist()))
        for j, term in enumerate(terms):
            rows.append((*pair, term, None, *found.gamma[j].tolist()))
    heads = unique(("class", "against", "times", "constant", *terms))
    title = "Boundaries: zero between the two, positive for the first"
    return Table("boundaries", title, heads, tuple(rows), "Bar qda", backend)
