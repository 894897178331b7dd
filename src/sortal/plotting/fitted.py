"""What pictures read of a fitted estimator: its public attributes and methods, nothing else."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import logsumexp

from sortal.data.sources import read_table
from sortal.decision.options import is_whole, read_costs
from sortal.decision.posterior import decide, log_of
from sortal.errors import ColumnError, ParameterError, agreed, counted, listed
from sortal.plotting.rows import PlotRows, choose_columns, read_rows, split_labels

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from sortal._typing import Float
    from sortal.data.sources import DataTable

    HalfPlane = tuple[Float, float]
    Values = tuple[Any, ...]


def unit_vector(given: Any, size: int, name: str = "w") -> Float:
    """A direction of length one."""
    try:
        vector = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        vector = np.empty(0)
    length = float(np.linalg.norm(vector))
    if vector.shape != (size,) or not 0 < length < math.inf:
        raise ParameterError(
            f"{name}={given!r} is no direction in {size} attributes: give {size} finite numbers, "
            "not all zero."
        )
    return vector / length


def attribute(estimator: Any, name: str) -> Any:
    """A public attribute, or an error that says what to do without it."""
    try:
        return getattr(estimator, name)
    except AttributeError:
        raise ParameterError(
            f"This {type(estimator).__name__} has no {name}, which the picture shows: fit it first "
            "if it is an estimator that has one, or give plain arrays to the display itself."
        ) from None


def fitted_rows(
    estimator: Any, X: Any, y: Any, features: Sequence[Any] | None, count: int | None
) -> tuple[PlotRows, list[int]]:
    """The rows to draw, in the estimator's classes, and the term that each attribute is.

    Without `features`, the attributes are the estimator's columns of numbers, or the first `count`.
    """
    classes = attribute(estimator, "classes_")
    X, y = split_labels(X, y)
    table = read_table(X)
    term = _term_of_column(estimator, table)
    if features is None:
        numbers = [j for j in term if table.column_schema(j).is_number]
        features = numbers[:count] if len(numbers) >= (count or 1) else None
    places = choose_columns(table, features, count)
    strange = [table.names[j] for j in places if j not in term]
    if strange:
        raise ColumnError(
            f"{listed(strange)} is no number that this {type(estimator).__name__} was fitted with: "
            f"its terms are {listed(list(attribute(estimator, 'terms_')))}."
        )
    rows = read_rows(
        X, y, features=places, classes=classes, names=_names_of_fit(estimator, table, places)
    )
    return rows, [term[j] for j in places]


def all_terms_shown(estimator: Any, rows: PlotRows, terms: Sequence[int], remedy: str) -> None:
    """A direction can be drawn only among all the terms it was fitted with."""
    names = list(attribute(estimator, "terms_"))
    if len(terms) != len(names):
        raise ParameterError(
            f"This {type(estimator).__name__} was fitted with {counted(len(names), 'term')} "
            f"({listed(names)}), and the picture shows {len(terms)} ({listed(rows.names)}): its "
            f"direction does not lie in them. {remedy}"
        )


def fitted_direction(estimator: Any, component: int) -> Float:
    """One of the fitted directions, of length one, an entry a term."""
    name = "directions_" if hasattr(estimator, "directions_") else "scalings_"
    directions = np.asarray(attribute(estimator, name), dtype=np.float64)
    n = directions.shape[1]
    if isinstance(component, bool) or component not in range(n):
        raise ParameterError(
            f"component={component!r} is none of the fitted directions: there "
            f"{agreed(n, 'is', 'are')} {n}, counted from 0."
        )
    return unit_vector(directions[:, component], len(directions))


def criterion_of(estimator: Any, w: Float) -> float | None:
    """The estimator's own J of a direction over all its terms; None where it has none."""
    return (
        float(estimator.evaluate_direction(w).J)
        if hasattr(estimator, "evaluate_direction")
        else None
    )


def fitted_threshold(estimator: Any, w: Float) -> float | None:
    """The separating point among the coordinates that `transform` gives.

    None where there is none: with more classes than two, or where costs move it.
    """
    if hasattr(estimator, "threshold_"):
        return None if estimator.threshold_ is None else float(estimator.threshold_)
    classes = attribute(estimator, "classes_")
    if len(classes) != 2 or getattr(estimator, "costs", None) is not None:
        return None
    beta0, beta = estimator.boundary(*classes)
    slope = float(beta @ w)
    return float(-(beta0 + beta @ estimator.xbar_) / slope) if slope else None


def in_terms(w: Float, terms: Sequence[int]) -> Float:
    """A vector by attributes shown, in the order of the estimator's terms (all shown)."""
    ordered = np.empty(len(terms))
    ordered[list(terms)] = w
    return ordered


def fitted_functions(estimator: Any) -> tuple[Float, Float]:
    """Coefficients (K × p) and intercepts (K) of functions of which the largest decides.

    One function of two classes is that of the second, beside 0 for the first.
    """
    coef = np.asarray(attribute(estimator, "coef_"), dtype=np.float64)
    intercept = np.asarray(attribute(estimator, "intercept_"), dtype=np.float64)
    if len(coef) > 1:
        return coef, intercept
    return np.vstack([np.zeros_like(coef), coef]), np.append(0.0, intercept)


def fixed_terms(
    estimator: Any, rows: PlotRows, terms: Sequence[int], at: Mapping[Any, Any] | None
) -> Float:
    """A value for every term not drawn: what `at` says of it, or else the overall mean.

    The overall mean is that of the class means, weighted by how often the rows have each class.
    """
    names = [str(name) for name in attribute(estimator, "terms_")]
    means = np.asarray(attribute(estimator, "means_"), dtype=np.float64)
    met = rows.counts > 0  # a class without rows may have no mean
    values = np.asarray(rows.counts[met] / rows.counts.sum() @ means[met])
    for name, value in (at or {}).items():
        if str(name) in [names[j] for j in terms]:
            raise ParameterError(
                f"at fixes {name!r}, which the picture shows: leave it out, or name other features."
            )
        _fix(values, names, str(name), value)
    return values


def _fix(values: Float, names: list[str], name: str, value: Any) -> None:
    """Set the term of a number, or the indicators of a category."""
    if name in names:
        try:
            values[names.index(name)] = float(value)
        except (TypeError, ValueError):
            raise ParameterError(f"at has {value!r} for {name!r}: give a number.") from None
    elif f"{name}={value}" in names:
        levels = [j for j, term in enumerate(names) if term.startswith(f"{name}=")]
        values[levels] = 0.0
        values[names.index(f"{name}={value}")] = 1.0
    else:
        raise ColumnError(
            f"at has {name!r} = {value!r}, which is no term of this estimator: they are "
            f"{listed(names)}. Give numbers by name, or a category one of its values."
        )


def number_terms(estimator: Any, table: DataTable) -> dict[int, int] | None:
    """The term that each column of numbers is, by place; None of an estimator without terms."""
    return _term_of_column(estimator, table) if hasattr(estimator, "terms_") else None


def column_names(estimator: Any, table: DataTable) -> Sequence[str]:
    """Names of a table's columns; those of the fit where the table has none of its own."""
    terms = [str(name) for name in getattr(estimator, "terms_", ())]
    return table.names if table.has_names else _fitted_names(estimator, table, terms)


def _term_of_column(estimator: Any, table: DataTable) -> dict[int, int]:
    """The term that each column of numbers is, by place; columns match by name or position."""
    terms = [str(name) for name in attribute(estimator, "terms_")]
    names = _fitted_names(estimator, table, terms)
    return {j: terms.index(name) for j, name in enumerate(names) if name in terms}


def _fitted_names(estimator: Any, table: DataTable, terms: list[str]) -> Sequence[str]:
    if table.has_names and any(name in terms for name in table.names):
        return table.names
    given = getattr(estimator, "feature_names_in_", None)
    n = len(table.names)
    return [f"x{j}" for j in range(n)] if given is None else [str(name) for name in given[:n]]


def _names_of_fit(estimator: Any, table: DataTable, places: Sequence[int]) -> list[str] | None:
    """Names of the fit where the table has none of its own."""
    if table.has_names or not hasattr(estimator, "feature_names_in_"):
        return None
    return [str(estimator.feature_names_in_[j]) for j in places]


# --- What pictures ask of an estimator: functions of rows of which the largest decides -----------


def deciding_functions(
    estimator: Any, classes: Values, priors: Any = None, costs: ArrayLike | None = None
) -> Callable[[Any], Float]:
    """Log posteriors, or with costs the negative logarithm of what each answer is to cost.

    Without probabilities, the estimator's own functions; where neighbors vote, 1 for the class
    that is decided for and 0 for others. `priors` and `costs` are given instead of those of the
    fit.
    """
    asked = _log_posteriors(estimator, priors)
    own = getattr(_last(estimator), "costs", None)
    table = read_costs(own if costs is None else costs, classes)
    if asked is None:
        if priors is not None or table is not None:
            raise ParameterError(
                f"{type(estimator).__name__} has no probabilities (predict_proba), which priors "
                "and costs need: leave them out, or use an estimator that has them."
            )
        return _functions(estimator)
    if hasattr(_last(estimator), "kneighbors"):  # votes are even in areas, not along a curve
        return lambda X: np.eye(len(classes))[decide(np.exp(asked(X)), table)]
    if table is None:
        return asked
    return lambda X: _less_costly(asked(X), table)


def _log_posteriors(estimator: Any, priors: Any) -> Callable[[Any], Float] | None:
    """ln P(k|x), as the estimator gives them or from its probabilities."""
    given = {} if priors is None else {"priors": priors}
    if hasattr(estimator, "predict_log_proba"):
        return lambda X: _ask(estimator.predict_log_proba, X, given)
    if hasattr(estimator, "predict_proba"):
        return lambda X: log_of(_ask(estimator.predict_proba, X, given))
    return None


def _ask(method: Any, X: Any, given: dict[str, Any]) -> Float:
    try:
        return np.asarray(method(X, **given), dtype=np.float64)
    except TypeError as error:
        if not given or "priors" not in str(error):
            raise
        raise ParameterError(
            f"priors cannot be given here: {method.__name__} of this estimator has no parameter "
            "priors. Fit with the priors, or leave them out."
        ) from error


def _functions(estimator: Any) -> Callable[[Any], Float]:
    if not hasattr(estimator, "decision_function"):
        raise ParameterError(
            f"This {type(estimator).__name__} has neither predict_proba nor decision_function, "
            "from which boundaries are drawn: use a classifier that has one of them."
        )

    def functions(X: Any) -> Float:
        found = np.asarray(estimator.decision_function(X), dtype=np.float64)
        # of two classes, the function is that of the second
        return found if found.ndim == 2 else np.column_stack([np.zeros(len(found)), found])

    return functions


def _less_costly(log_posterior: Float, costs: Float) -> Float:
    """-ln Σ_i P(i|x) C_ij; what every answer costs alike where i is true is left out first.

    Logarithms, because with two classes their difference is the log-odds plus a constant.
    """
    extra = log_of(costs - costs.min(axis=1, keepdims=True))
    return -np.asarray(logsumexp(log_posterior[:, :, None] + extra, axis=1))


def _last(estimator: Any) -> Any:
    """What decides in the end: of a pipeline, its last step."""
    while hasattr(estimator, "steps"):
        estimator = estimator.steps[-1][1]
    return estimator


# What pictures read of a fitted kernel discriminant: projections, and where they part classes.


def read_component(estimator: Any, component: Any) -> int:
    """One of the fitted directions, by its place."""
    n = int(np.asarray(attribute(estimator, "dual_coef_")).shape[1])
    if not is_whole(component) or not 0 <= component < n:
        raise ParameterError(
            f"component={component!r} is none of the fitted directions: there "
            f"{agreed(n, 'is', 'are')} {n}, counted from 0."
        )
    return int(component)


def projection_of(estimator: Any, component: int) -> Callable[[Any], Float]:
    """The function that gives each row of a table its projection onto one direction."""
    place = read_component(estimator, component)
    return lambda X: np.asarray(estimator.transform(X), dtype=np.float64)[:, place]


def projected(estimator: Any, X: Any, y: Any, component: int) -> dict[str, Any]:
    """Rows along one direction with the projected classes: what displays of one axis are given.

    Means and scatters are those of the fit, which has them by its weights.
    """
    place = read_component(estimator, component)
    X, y = split_labels(X, y)
    p = np.asarray(estimator.transform(X), dtype=np.float64)
    found = {
        "along": p[:, place],
        "labels": y,
        "classes": attribute(estimator, "classes_"),
        "means": np.asarray(attribute(estimator, "projected_means_"))[:, place],
        "scatters": np.asarray(attribute(estimator, "projected_scatters_"))[:, place],
        "threshold": None,
        "name": direction_name(p.shape[1], place),
    }
    if p.shape[1] == 1 and getattr(estimator, "costs", None) is None:
        found["threshold"] = _separating_point(p[:, 0], estimator.decision_function(X))
    return found


def direction_name(n_directions: int, component: int) -> str:
    """How the axis of a projection is called."""
    return "wᵀφ(x)" if n_directions == 1 else f"wᵀφ(x), direction {component + 1}"


def _separating_point(p: Float, log_odds: Any) -> float | None:
    """Where log-odds, which are linear in the only projection, pass zero.

    None where the rows do not tell: they lie in one place, or so far off that a class is certain.
    """
    odds = np.asarray(log_odds, dtype=np.float64)
    if odds.ndim != 1:
        return None
    low, high = int(p.argmin()), int(p.argmax())
    rise, width = odds[high] - odds[low], p[high] - p[low]
    if not (width > 0 and np.isfinite(rise) and rise != 0):
        return None
    return float(p[low] - odds[low] * width / rise)
