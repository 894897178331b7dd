"""Workings of the discriminants: every number of a fit, and of rows, as tables."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from sortal.decision.posterior import leading, posterior
from sortal.discriminants.classical.statistics import (
    linear_statistics_tables,
    quadratic_statistics_tables,
)
from sortal.discriminants.functions import boundary
from sortal.records.tables import Working, matrix_table, sheet, table_of, unique

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sortal._typing import Float
    from sortal.data.columns import Values
    from sortal.discriminants.explain import Decided
    from sortal.discriminants.fisher import FisherModel
    from sortal.discriminants.learn import LinearModel, QuadraticModel
    from sortal.discriminants.regression import IndicatorModel
    from sortal.discriminants.statistics import ClassStatistics
    from sortal.records.tables import Columns, Table


_PAIRS = "Boundaries: zero between the two, positive for the first"


def function_tables(
    classes: Values,
    functions: tuple[Float, Float],
    terms: Sequence[str],
    equations: tuple[str, str],
) -> list[Table]:
    """One linear function (constant, weights) a class, and the hyperplane of every pair."""
    constants, weights = functions
    each = ((str(c), a, *w) for c, a, w in zip(classes, constants, weights, strict=True))
    possible = [label for label, c in zip(classes, constants, strict=True) if c > -np.inf]
    found = (
        (first, second, boundary(classes, constants, weights, first, second))
        for first, second in combinations(possible, 2)
    )
    pairs = ((str(first), str(second), line.beta0, *line.beta) for first, second, line in found)
    one, two = ("class", "constant", *terms), ("class", "against", "constant", *terms)
    return [
        table_of("functions", "One function a class", one, each, equations[0]),
        table_of("boundaries", _PAIRS, two, pairs, equations[1]),
    ]


def score_table(
    classes: Values, functions: Float, labels: Iterable[object], equation: str
) -> Table:
    """The functions of rows, and what is said."""
    columns = {"row": range(len(functions)), classes: functions, "said": map(str, labels)}
    return sheet("rows", "Functions of the rows", columns, equation)


def prior_table(classes: Values, prior: Float) -> Table:
    """π_k."""
    return sheet("priors", "Priors", {"class": map(str, classes), "π": prior}, "Bar estimates")


def posterior_table(classes: Values, shares: Float, equation: str = "Bar *") -> Table:
    """P(k|x) of rows."""
    heads = tuple(f"P({label}|x)" for label in classes)
    return sheet("posteriors", "Bayes' rule", {"row": range(len(shares)), heads: shares}, equation)


def _estimates(model: LinearModel | QuadraticModel, stats: ClassStatistics) -> list[Table]:
    """π_k and μ_k."""
    means = np.where(stats.present[:, None], model.center + model.gap, np.nan)
    axes = model.classes, model.scores.design.terms
    return [
        prior_table(model.classes, model.prior),
        matrix_table("means", "Class means", axes, means, "Bar estimates"),
    ]


def decided_tables(
    model: LinearModel | QuadraticModel, rows: Decided | None, equation: str
) -> list[Table]:
    """What was tried where something was chosen; what was said of rows, and their posteriors."""
    tried = [] if model.curve is None else [model.curve]
    if rows is None:
        return tried
    classes = model.classes
    said = [classes[k] for k in rows.verdicts.labels]
    shares = posterior(rows.functions, model.prior)
    scores = score_table(classes, rows.functions, said, equation)
    return [*tried, scores, posterior_table(classes, shares)]


# --- The linear discriminant: estimates, functions, boundaries, Bayes' rule ----------------------


def show_linear(model: LinearModel, stats: ClassStatistics, rows: Decided | None) -> Working:
    """The tables of a fit; with what was said of rows, also their posteriors."""
    terms, classes = model.scores.design.terms, model.classes
    square = terms, terms
    root = model.geometry.sphere * np.sqrt(model.divisor)
    title = "Σ⁻¹" if root.shape[1] == len(terms) else "Σ⁺, the pseudo-inverse"
    tables = [
        *_estimates(model, stats),
        matrix_table("covariance", "Σ, as used", square, model.covariance, "Bar estimates"),
        matrix_table("inverse", title, square, root @ root.T, "Bar lda"),
        *function_tables(classes, model.functions(), terms, ("Sch LDF", "Bar lda")),
        _canonical(model),
        *linear_statistics_tables(stats),
        *decided_tables(model, rows, "Sch LDF"),
    ]
    return Working("Linear discriminant", tuple(tables))


def _canonical(model: LinearModel) -> Table:
    """Directions with aᵀΣa = 1, and the variance of the class means along them."""
    a, values = model.directions.T, model.eigenvalues
    own = values[: len(a)]
    columns: Columns = {"direction": range(1, len(a) + 1), "variance of means": own}
    columns |= {"share": own / values.sum(), model.scores.design.terms: a}
    return sheet("canonical", "Canonical directions", columns, "Bar rayleigh")


# --- The quadratic discriminant: covariances, determinants, functions, Bayes' rule ---------------


def show_quadratic(model: QuadraticModel, stats: ClassStatistics, rows: Decided | None) -> Working:
    """The tables of a fit; with what was said of rows, also their posteriors."""
    terms, classes = model.scores.design.terms, model.classes
    inverses = np.array([model.inverse(k) for k in range(len(classes))])
    full = "Σ_k⁻¹" if model.rank == len(terms) else "Σ_k⁻¹ where something varies, else 0"
    tables = [
        *_estimates(model, stats),
        _matrices("covariances", "Σ_k, as used", model, model.covariances, "S 43"),
        _matrices("inverses", full, model, inverses, "Bar qda"),
        _determinants(model),
        *_quadratic_functions(model),
        *quadratic_statistics_tables(stats),
        *decided_tables(model, rows, "Bar qda"),
    ]
    return Working("Quadratic discriminant", tuple(tables))


def _matrices(
    name: str, title: str, model: QuadraticModel, matrices: Float, equation: str
) -> Table:
    """A matrix a class that has rows, one below the other."""
    terms = model.scores.design.terms
    rows = (
        (str(label), term, *row)
        for label, matrix, log_det in zip(model.classes, matrices, model.log_dets, strict=True)
        if np.isfinite(log_det)
        for term, row in zip(terms, matrix, strict=True)
    )
    return table_of(name, title, ("class", "", *terms), rows, equation)


def _determinants(model: QuadraticModel) -> Table:
    """What stands before the exponential of each density."""
    tied = model.rank < len(model.scores.design.terms)
    columns = {
        "class": map(str, model.classes),
        "rank": model.ranks,
        "condition": [own.condition for own in model.own],
        "ln det Σ_k" + " less that of Σ" * tied: model.log_dets,
    }
    title = f"Determinants; rank of the class's own matrix, of {model.rank}"
    return sheet("log_determinants", title, columns, "S 44")


def _quadratic_functions(model: QuadraticModel) -> list[Table]:
    """c_k and b_k of g_k(x) = c_k + b_kᵀx - ½ xᵀΣ_k⁻¹x; the log-odds of pairs, a row a power."""
    terms, classes = model.scores.design.terms, model.classes
    constants, linear, _ = model.functions(model.log_prior)
    each = {"class": map(str, classes), "constant": constants, terms: linear}
    possible = [c for c, a in zip(classes, constants, strict=True) if np.isfinite(a)]
    pairs: list[tuple[object, ...]] = []
    for first, second in combinations(possible, 2):
        found = model.boundary(model.log_prior, first, second)
        pair = str(first), str(second)
        pairs.append((*pair, "1", found.beta0, *found.beta))
        pairs += [(*pair, term, None, *row) for term, row in zip(terms, found.gamma, strict=True)]
    heads = ("class", "against", "times", "constant", *terms)
    title = "One function a class: constant and linear part; the rest is -½ xᵀΣ_k⁻¹x"
    return [
        sheet("functions", title, each, "Bar qda"),
        table_of("boundaries", _PAIRS, heads, pairs, "Bar qda"),
    ]


# --- Fisher's discriminant: every matrix and number of Algorithm 20.1 ----------------------------


@dataclass(frozen=True, eq=False)
class ShownRows:
    """Rows as distances from the center along the directions, functions, classes predicted."""

    coordinates: Float
    labels: Sequence[object]
    functions: Float


def show_fisher(model: FisherModel, shown: ShownRows | None) -> Working:
    """The tables of a fit; of rows, their coordinates and how they are decided."""
    terms, classes = model.scores.design.terms, model.classes
    square, two = (terms, terms), len(classes) == 2
    inverse = model.geometry.sphere @ model.geometry.sphere.T  # S⁻¹B is (ZM 20.9)
    whole = model.geometry.sphere.shape[1] == len(terms)
    title = "S⁻¹" if whole else "S⁺"  # the pseudo-inverse
    B, S = model.criterion.B, model.criterion.within
    means = model.center + model.gap
    tables = [
        sheet("classes", "Classes", {"class": map(str, classes), "n": model.weight}),
        matrix_table("means", "Class means", (classes, terms), means, "Sch 4-5a"),
    ]
    if two:
        apart = "Mean of {} less mean of {}".format(*classes)
        columns = {"term": terms, "difference": model.gap[0] - model.gap[1]}
        tables.append(sheet("difference", apart, columns, "ZM 20.2"))
    tag = "ZM 20.2" if two else "S 98"
    tables.append(matrix_table("between", "B, between classes", square, B, tag))
    names = unique([f"scatter {label}" for label in classes])
    tables += [
        matrix_table(name, f"S of class {label}", square, S_k, "Sch 4-10a")
        for name, label, S_k in zip(names, classes, model.scatter, strict=True)
    ]
    tables += [
        matrix_table("within", "S, within classes", square, S, "ZM 20.6"),
        matrix_table("inverse", title, square, inverse, "ZM 20.9"),
        matrix_table("product", f"{title}B", square, inverse @ B, "ZM 20.9"),
    ]
    if two and model.directions.size:
        tables.append(_solution(model, inverse))
    tables += _directions(model)
    if shown is not None:
        tables += _rows(model, shown)
    return Working("Fisher's discriminant", tuple(tables))


def _solution(model: FisherModel, inverse: Float) -> Table:
    """S⁻¹(μ_1 - μ_2), its length, and the unit vector; where J is infinite, the latter alone."""
    terms, w = model.scores.design.terms, model.directions[:, 0]
    if not np.isfinite(model.eigenvalues[0]):
        title = "The direction without scatter within classes"
        return sheet("solution", title, {"term": terms, "w": w}, "ZM 20.10")
    raw = inverse @ (model.gap[0] - model.gap[1])
    columns = {
        "term": [*terms, "length"],
        "S⁻¹(difference)": [*raw, np.linalg.norm(raw)],
        "w": [*w, 1.0],
    }
    return sheet("solution", "The direction, directly", columns, "ZM 20.10")


def _directions(model: FisherModel) -> list[Table]:
    """Directions, projections, and wᵀBw / wᵀSw again, from the finished direction."""
    found = list(enumerate(model.directions.T, start=1))
    numbers, terms = [i for i, _ in found], model.scores.design.terms
    each = {"direction": numbers, "λ = J(w)": model.eigenvalues, terms: model.directions.T}
    projected = (
        (i, str(label), m[i - 1], s[i - 1])
        for i, _ in found
        for label, m, s in zip(model.classes, model.means, model.scatters, strict=True)
    )
    judged = (
        (
            i,
            *model.criterion.parts(w),
            model.criterion.value(w),
            model.separating_point() if i == 1 else None,
        )
        for i, w in found
    )
    own = ("direction", "wᵀBw", "wᵀSw", "J(w)", "separating point")
    scale = ("direction", "class", "m", "s²")
    return [
        sheet("directions", "Directions of unit length", each, "ZM 20.8"),
        table_of("projections", "Projected classes", scale, projected, "ZM 20.3"),
        table_of("criterion", "The criterion", own, judged, "ZM 20.7"),
    ]


def _rows(model: FisherModel, shown: ShownRows) -> list[Table]:
    """Coordinates, and what decides.

    That is the side of the separating point, or the nearest mean where wᵀSw = 1 (S 99), or, given
    priors or costs, the densities there. (S 107)
    """
    a = shown.coordinates + model.center @ model.directions
    along = {"row": range(len(a)), tuple(f"a{i + 1}" for i in range(a.shape[1])): a}
    coordinates = sheet("rows", "Coordinates a = wᵀx of the rows", along, "Sch 4-3")
    if model.threshold is not None:
        values, decides = shown.coordinates[:, :1] - model.threshold, ["a1 less separating point"]
        title, tag = "The side of the separating point: positive for the first class", "Sch 4-3"
    elif model.prior is not None:
        values, decides = shown.functions, [f"ln π f of {c}" for c in model.classes]
        title, tag = "Priors times Gaussian densities, up to a common term", "S 107"
    else:
        means = model.gap @ model.directions
        apart = (shown.coordinates[:, None] - means) / model.lengths
        values, decides = np.square(apart).sum(axis=2), [f"d² from {c}" for c in model.classes]
        values[:, model.weight == 0] = np.inf
        title, tag = "Squared distances from the projected means, where wᵀSw = 1", "S 99"
    labels = map(str, shown.labels)
    verdicts = {"row": range(len(a)), tuple(decides): values, "predicted": labels}
    return [coordinates, sheet("verdicts", title, verdicts, tag)]


# --- Regression on class indicators --------------------------------------------------------------


def show_indicator(model: IndicatorModel, functions: Float | None) -> Working:
    """The tables of a fit; with the functions of rows, these too."""
    terms, classes = model.scores.design.terms, model.classes
    functions_of_x = model.scores.intercepts, model.scores.weights.T
    means, tag = model.center + model.gap, "Bar indicator"
    shares = {"class": map(str, classes), "share": model.shares}
    tables = [
        sheet("shares", "Shares of the classes", shares),
        matrix_table("means", "Class means", (classes, terms), means, "Sch 4-5a"),
        matrix_table("total", "S_T, of all rows", (terms, terms), model.total, tag),
        *function_tables(classes, functions_of_x, terms, (tag, tag)),
    ]
    if functions is not None:
        labels = [classes[k] for k in leading(functions)]
        tables.append(score_table(classes, functions, labels, tag))
    return Working("Regression on class indicators", tuple(tables))
