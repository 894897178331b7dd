"""What pictures read of a fitted kernel discriminant: projections, and where they part classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.checks import is_whole
from sortal.data.printing import agreed
from sortal.errors import OptionError
from sortal.views.fitted import attribute
from sortal.views.rows import split_labels

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Float = NDArray[np.float64]


def read_component(estimator: Any, component: Any) -> int:
    """One of the fitted directions, by its place."""
    n = int(np.asarray(attribute(estimator, "dual_coef_")).shape[1])
    if not is_whole(component) or not 0 <= component < n:
        raise OptionError(
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
