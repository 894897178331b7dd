"""The working of the linear discriminant: estimates, functions, boundaries, Bayes' rule."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sortal.decision.posterior import posterior
from sortal.discriminants.classical.statistics import linear_statistics_tables
from sortal.discriminants.tables import function_tables, posterior_table, prior_table, score_table
from sortal.records.tables import Table, Working, matrix_table, unique

if TYPE_CHECKING:
    from sortal.discriminants.explain import Decided
    from sortal.discriminants.linear.learn import LinearModel
    from sortal.discriminants.statistics import ClassStatistics
    from sortal.records.tables import Cell


def show_linear(
    model: LinearModel, stats: ClassStatistics, rows: Decided | None, backend: str
) -> Working:
    """The tables of a fit; with what was said of rows, also their posteriors."""
    terms = model.scores.design.terms
    square = terms, terms
    root = model.geometry.sphere * np.sqrt(model.divisor)
    means = np.where(stats.present[:, None], model.center + model.gap, np.nan)
    title = "Σ⁻¹" if root.shape[1] == len(terms) else "Σ⁺, the pseudo-inverse"
    tables = [
        prior_table(model.classes, model.prior, backend),
        matrix_table(
            "means", "Class means", (model.classes, terms), means, "Bar estimates", backend
        ),
        matrix_table(
            "covariance", "Σ, as used", square, model.covariance, "Bar estimates", backend
        ),
        matrix_table("inverse", title, square, root @ root.T, "Bar lda", backend),
        *function_tables(model.classes, model.functions(), terms, ("Sch LDF", "Bar lda"), backend),
        _canonical(model, backend),
        *linear_statistics_tables(stats, backend),
    ]
    if model.curve is not None:
        tables.append(replace(model.curve, backend=backend))
    if rows is not None:
        said = [model.classes[k] for k in rows.verdicts.labels]
        tables.append(score_table(model.classes, rows.functions, said, "Sch LDF", backend))
        shares = posterior(rows.functions, model.prior)
        tables.append(posterior_table(model.classes, shares, backend))
    return Working("Linear discriminant", tuple(tables))


def _canonical(model: LinearModel, backend: str) -> Table:
    """Directions with aᵀΣa = 1, and the variance of the class means along them."""
    terms = model.scores.design.terms
    total = model.eigenvalues.sum()
    rows: list[tuple[Cell, ...]] = [
        (i + 1, float(value), float(value / total), *model.directions[:, i].tolist())
        for i, value in enumerate(model.eigenvalues[: model.directions.shape[1]])
    ]
    heads = unique(("direction", "variance of means", "share", *terms))
    return Table("canonical", "Canonical directions", heads, tuple(rows), "Bar rayleigh", backend)
