"""What pictures ask of an estimator: functions of rows of which the largest decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import logsumexp

from sortal.errors import OptionError
from sortal.learners.options import read_costs
from sortal.models.decision import decide, log_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    Float = NDArray[np.float64]
    Values = tuple[Any, ...]


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
            raise OptionError(
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
        raise OptionError(
            f"priors cannot be given here: {method.__name__} of this estimator has no parameter "
            "priors. Fit with the priors, or leave them out."
        ) from error


def _functions(estimator: Any) -> Callable[[Any], Float]:
    if not hasattr(estimator, "decision_function"):
        raise OptionError(
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
