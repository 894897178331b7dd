"""The working of regression on class indicators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sortal.learners.matrices import function_tables, matrix_table, score_table
from sortal.models.decision import leading
from sortal.models.records import Table, Working

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sortal.models.indicator import IndicatorModel

    Float = NDArray[np.float64]


def show_indicator(model: IndicatorModel, functions: Float | None, backend: str) -> Working:
    """The tables of a fit; with the functions of rows, these too."""
    terms = model.scores.design.terms
    functions_of_x = model.scores.intercepts, model.scores.weights.T
    both = ("Bar indicator", "Bar indicator")
    means = model.center + model.gap
    total = model.total
    tables = [
        _shares(model, backend),
        matrix_table("means", "Class means", (model.classes, terms), means, "Sch 4-5a", backend),
        matrix_table("total", "S_T, of all rows", (terms, terms), total, "Bar indicator", backend),
        *function_tables(model.classes, functions_of_x, terms, both, backend),
    ]
    if functions is not None:
        labels = [model.classes[k] for k in leading(functions)]
        tables.append(score_table(model.classes, functions, labels, "Bar indicator", backend))
    return Working("Regression on class indicators", tuple(tables))


def _shares(model: IndicatorModel, backend: str) -> Table:
    rows = tuple(
        (str(label), float(p)) for label, p in zip(model.classes, model.shares, strict=True)
    )
    return Table("shares", "Shares of the classes", ("class", "share"), rows, "", backend)
