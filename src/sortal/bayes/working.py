"""The working of discrete Bayes: counts, probabilities and, for given rows, Bayes' rule itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal.bayes.learn import category_counts, class_units, joint_table
from sortal.bayes.model import log_likelihood
from sortal.decision.posterior import decide, log_evidence, posterior
from sortal.records.tables import Working, sheet, unique, whole_cells

if TYPE_CHECKING:
    from sortal._typing import Float
    from sortal.bayes.model import BayesModel, EncodedBayesRows
    from sortal.records.tables import Cell, Table
    from sortal.summaries.counts import BayesSummary


# Tables that a working can have; a column of such a name gives way.
_FIXED = ("priors", "gaussians", "cells", "rule", "evidence")


def show_working(
    model: BayesModel, summary: BayesSummary, encoded: EncodedBayesRows | None
) -> Working:
    """The tables of a fit; with rows, also P(x|c)P(c), P(x) and the posterior of each."""
    tables = [_priors(model, summary), *_category_tables(model, summary)]
    if model.numbers:
        tables.append(_gaussians(model))
    if model.joint is not None:
        tables.append(_cells(model, summary))
    if encoded is not None:
        tables += _rows(model, encoded)
    return Working("Discrete Bayes", tuple(tables))


def _priors(model: BayesModel, summary: BayesSummary) -> Table:
    weight = whole_cells(class_units(summary, model.schema))
    columns = {"class": model.classes, "n(c)": weight, "P(c)": model.prior}
    return sheet("priors", "Classes", columns, "ZM 19.11")


def _category_tables(model: BayesModel, summary: BayesSummary) -> list[Table]:
    tables = []
    counts = category_counts(summary, model.schema)
    columns = [model.schema.columns[j] for j in model.categories]
    names = unique((*_FIXED, *(column.name for column in columns)))[len(_FIXED) :]
    for place, column in enumerate(columns):
        cells = {
            column.name: column.values,
            tuple(f"n(v, {label})" for label in model.classes): _whole_rows(counts[place]),
            tuple(f"P(v|{label})" for label in model.classes): np.exp(model.tables[place]),
        }
        title = f"{column.name}: counts and probabilities by class"
        tables.append(sheet(names[place], title, cells, "S 2"))
    return tables


def _gaussians(model: BayesModel) -> Table:
    """A row for each column and class."""
    K = len(model.classes)
    names = [model.schema.columns[j].name for j in model.numbers]
    notes = ["constant, left out" * (p in model.constant) for p in range(len(names))]
    columns = {
        "column": np.repeat(names, K),
        "class": [*map(str, model.classes)] * len(names),
        "mean": model.mean.ravel(),
        "variance": model.variance.ravel(),
        "note": np.repeat(notes, K),
    }
    return sheet("gaussians", "Number columns by class", columns, "S 4")


def _cells(model: BayesModel, summary: BayesSummary) -> Table:
    unweighted = joint_table(summary, model.schema, 0.0, np.ones(len(model.classes)))
    assert unweighted is not None  # noqa: S101  (asked by the caller)
    columns = [model.schema.columns[model.categories[place]] for place in unweighted.places]
    values = [
        tuple(column.values[v] for column, v in zip(columns, cell, strict=True))
        for cell in unweighted.codes
    ]
    cells = {
        tuple(column.name for column in columns): values,
        tuple(f"n(x, {label})" for label in model.classes): _whole_rows(unweighted.weight),
    }
    return sheet("cells", "Cells seen", cells, "S 3")


def _rows(model: BayesModel, encoded: EncodedBayesRows) -> list[Table]:
    log_x = log_likelihood(model, encoded)
    log_joint = log_x + model.log_prior
    shares = posterior(log_joint, model.prior)
    evidence = log_evidence(log_joint)
    n, K = log_joint.shape
    with np.errstate(over="ignore"):  # a product of densities can be beyond float64: see its ln
        p_x, products, p_all = np.exp(log_x), np.exp(log_joint), np.exp(evidence)
    rule = {
        "row": np.repeat(np.arange(n), K),
        "class": [*map(str, model.classes)] * n,
        "P(x|c)": p_x.ravel(),
        "P(c)": np.tile(model.prior, n),
        "P(x|c)P(c)": products.ravel(),
        "ln P(x|c)P(c)": log_joint.ravel(),
        "P(c|x)": shares.ravel(),
    }
    said = [str(model.classes[k]) for k in decide(shares, None)]
    every = {"row": range(n), "P(x)": p_all, "ln P(x)": evidence, "most probable": said}
    return [
        sheet("rule", "Bayes' rule", rule, "Sch 4-13"),
        sheet("evidence", "P(x)", every, "Sch 4-14"),
    ]


def _whole_rows(weights: Float) -> list[list[Cell]]:
    return [whole_cells(row) for row in weights]
