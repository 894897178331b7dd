"""Matrices and functions as the tables of a working."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from sortal.discriminants.linear_functions import boundary
from sortal.records.tables import Table, unique

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal._typing import Float
    from sortal.data.columns import Values
    from sortal.records.tables import Cell


def function_tables(
    classes: Values,
    functions: tuple[Float, Float],
    terms: Sequence[str],
    equations: tuple[str, str],
    backend: str,
) -> list[Table]:
    """One linear function (constant, weights) a class, and the hyperplane of every pair."""
    constants, weights = functions
    each: list[tuple[Cell, ...]] = [
        (str(label), float(constants[k]), *weights[k].tolist()) for k, label in enumerate(classes)
    ]
    pairs: list[tuple[Cell, ...]] = []
    possible = [label for label, c in zip(classes, constants, strict=True) if c > -np.inf]
    for first, second in combinations(possible, 2):
        beta0, beta = boundary(classes, constants, weights, first, second)
        pairs.append((str(first), str(second), beta0, *beta.tolist()))
    one = unique(("class", "constant", *terms))
    two = unique(("class", "against", "constant", *terms))
    title = "Boundaries: zero between the two, positive for the first"
    return [
        Table("functions", "One function a class", one, tuple(each), equations[0], backend),
        Table("boundaries", title, two, tuple(pairs), equations[1], backend),
    ]


def score_table(
    classes: Values, functions: Float, labels: Sequence[object], equation: str, backend: str
) -> Table:
    """The functions of rows, and what is said."""
    rows: list[tuple[Cell, ...]] = [
        (i, *row, str(labels[i])) for i, row in enumerate(functions.tolist())
    ]
    heads = unique(("row", *map(str, classes), "said"))
    return Table("rows", "Functions of the rows", heads, tuple(rows), equation, backend)


def prior_table(classes: Values, prior: Float, backend: str) -> Table:
    """π_k."""
    rows = tuple((str(label), float(p)) for label, p in zip(classes, prior, strict=True))
    return Table("priors", "Priors", ("class", "π"), rows, "Bar estimates", backend)


def posterior_table(classes: Values, shares: Float, backend: str) -> Table:
    """P(k|x) of rows."""
    rows = tuple((i, *row) for i, row in enumerate(shares.tolist()))
    heads = unique(("row", *(f"P({label}|x)" for label in classes)))
    return Table("posteriors", "Bayes' rule", heads, rows, "Bar *", backend)
