"""The working of discrete Bayes: counts, probabilities and, for given rows, Bayes' rule itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal.bayes.learn import category_counts, class_units, joint_table
from sortal.bayes.model import log_likelihood
from sortal.decision.posterior import decide, log_evidence, posterior
from sortal.records.tables import Table, Working, unique

if TYPE_CHECKING:
    from sortal.bayes.model import BayesModel, EncodedBayesRows
    from sortal.records.tables import Cell
    from sortal.summaries.value_tables import BayesSummary


# Tables that a working can have; a column of such a name gives way.
_FIXED = ("priors", "gaussians", "cells", "rule", "evidence")


def show_working(
    model: BayesModel, summary: BayesSummary, encoded: EncodedBayesRows | None, backend: str
) -> Working:
    """The tables of a fit; with rows, also P(x|c)P(c), P(x) and the posterior of each."""
    tables = [_priors(model, summary, backend), *_category_tables(model, summary, backend)]
    if model.numbers:
        tables.append(_gaussians(model, backend))
    if model.joint is not None:
        tables.append(_cells(model, summary, backend))
    if encoded is not None:
        tables += _rows(model, encoded, backend)
    return Working("Discrete Bayes", tuple(tables))


def _priors(model: BayesModel, summary: BayesSummary, backend: str) -> Table:
    weight = class_units(summary, model.schema)
    rows = zip(model.classes, map(_number, weight), map(float, model.prior), strict=True)
    columns = ("class", "n(c)", "P(c)")
    return Table("priors", "Classes", columns, tuple(rows), "ZM 19.11", backend)


def _category_tables(model: BayesModel, summary: BayesSummary, backend: str) -> list[Table]:
    tables = []
    counts = category_counts(summary, model.schema)
    columns = [model.schema.columns[j].name for j in model.categories]
    names = unique((*_FIXED, *columns))[len(_FIXED) :]
    for place, j in enumerate(model.categories):
        column = model.schema.columns[j]
        labels = [str(label) for label in model.classes]
        heads = (
            column.name,
            *(f"n(v, {label})" for label in labels),
            *(f"P(v|{label})" for label in labels),
        )
        shares = np.exp(model.tables[place])
        rows: list[tuple[Cell, ...]] = [
            (value, *map(_number, counts[place][v]), *map(float, shares[v]))
            for v, value in enumerate(column.values)
        ]
        title = f"{column.name}: counts and probabilities by class"
        tables.append(Table(names[place], title, unique(heads), tuple(rows), "S 2", backend))
    return tables


def _gaussians(model: BayesModel, backend: str) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for place, j in enumerate(model.numbers):
        for k, label in enumerate(model.classes):
            spread = float(model.variance[place, k])
            note = "constant, left out" if place in model.constant else ""
            name = model.schema.columns[j].name
            rows.append((name, str(label), float(model.mean[place, k]), spread, note))
    columns = ("column", "class", "mean", "variance", "note")
    return Table("gaussians", "Number columns by class", columns, tuple(rows), "S 4", backend)


def _cells(model: BayesModel, summary: BayesSummary, backend: str) -> Table:
    unweighted = joint_table(summary, model.schema, 0.0, np.ones(len(model.classes)))
    assert unweighted is not None  # noqa: S101  (asked by the caller)
    columns = [model.schema.columns[model.categories[place]] for place in unweighted.places]
    names, values = [c.name for c in columns], [c.values for c in columns]
    heads = (*names, *(f"n(x, {label})" for label in model.classes))
    rows: list[tuple[Cell, ...]] = [
        (*(listed[v] for listed, v in zip(values, cell, strict=True)), *map(_number, weight))
        for cell, weight in zip(unweighted.codes, unweighted.weight, strict=True)
    ]
    return Table("cells", "Cells seen", unique(heads), tuple(rows), "S 3", backend)


def _rows(model: BayesModel, encoded: EncodedBayesRows, backend: str) -> list[Table]:
    log_x = log_likelihood(model, encoded)
    log_joint = log_x + model.log_prior
    shares = posterior(log_joint, model.prior)
    evidence = log_evidence(log_joint)
    labels = decide(shares, None)
    with np.errstate(over="ignore"):  # a product of densities can be beyond float64: see its ln
        p_x, products, p_all = np.exp(log_x), np.exp(log_joint), np.exp(evidence)
    factors: list[tuple[Cell, ...]] = []
    rule: list[tuple[Cell, ...]] = []
    for i in range(len(log_x)):
        for k, label in enumerate(model.classes):
            likelihood, product = float(p_x[i, k]), float(products[i, k])
            log_product, share = float(log_joint[i, k]), float(shares[i, k])
            prior = float(model.prior[k])
            factors.append((i, str(label), likelihood, prior, product, log_product, share))
        rule.append((i, float(p_all[i]), float(evidence[i]), str(model.classes[labels[i]])))
    columns = ("row", "class", "P(x|c)", "P(c)", "P(x|c)P(c)", "ln P(x|c)P(c)", "P(c|x)")
    heads = ("row", "P(x)", "ln P(x)", "most probable")
    return [
        Table("rule", "Bayes' rule", columns, tuple(factors), "Sch 4-13", backend),
        Table("evidence", "P(x)", heads, tuple(rule), "Sch 4-14", backend),
    ]


def _number(x: float) -> Cell:
    """Whole weights as whole numbers."""
    return int(x) if float(x).is_integer() else float(x)
