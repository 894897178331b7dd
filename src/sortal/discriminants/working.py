"""Workings of the discriminants: every number of a fit, and of rows, as tables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from sortal.decision.posterior import leading, posterior
from sortal.discriminants.classical.statistics import (
    linear_statistics_tables,
    quadratic_statistics_tables,
)
from sortal.discriminants.linear_functions import boundary
from sortal.records.tables import Table, Working, matrix_table, unique

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal._typing import Float
    from sortal.data.columns import Values
    from sortal.discriminants.explain import Decided
    from sortal.discriminants.fisher.learn import FisherModel
    from sortal.discriminants.indicator import IndicatorModel
    from sortal.discriminants.linear.learn import LinearModel
    from sortal.discriminants.quadratic.learn import QuadraticModel
    from sortal.discriminants.statistics import ClassStatistics
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


# --- The linear discriminant: estimates, functions, boundaries, Bayes' rule -----------------------


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


# --- The quadratic discriminant: covariances, determinants, functions, Bayes' rule ----------------


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
        _quadratic_functions(model, backend),
        _quadrics(model, backend),
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


def _quadratic_functions(model: QuadraticModel, backend: str) -> Table:
    """c_k and b_k of g_k(x) = c_k + b_kᵀx - ½ xᵀΣ_k⁻¹x."""
    constants, linear, _ = model.functions(model.log_prior)
    rows: list[tuple[Cell, ...]] = [
        (str(label), float(constants[k]), *linear[k].tolist())
        for k, label in enumerate(model.classes)
    ]
    heads = unique(("class", "constant", *model.scores.design.terms))
    title = "One function a class: constant and linear part; the rest is -½ xᵀΣ_k⁻¹x"
    return Table("functions", title, heads, tuple(rows), "Bar qda", backend)


def _quadrics(model: QuadraticModel, backend: str) -> Table:
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


# --- Fisher's discriminant: every matrix and number of Algorithm 20.1 -----------------------------


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
        _sizes(model, backend),
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
        tables += [_fisher_rows(model, shown, backend), _verdicts(model, shown, backend)]
    return Working("Fisher's discriminant", tuple(tables))


def _sizes(model: FisherModel, backend: str) -> Table:
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


def _fisher_rows(model: FisherModel, shown: ShownRows, backend: str) -> Table:
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


# --- Regression on class indicators ---------------------------------------------------------------


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
