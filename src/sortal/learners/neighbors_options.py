"""The options of nearest neighbors, checked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sortal.data.checks import as_real, choose, is_whole, whole_number
from sortal.errors import OptionError, told
from sortal.models.neighbors import METRICS, WEIGHTINGS

# Metrics that know no unit of a column.
UNSCALED = ("hamming", "mahalanobis")


@dataclass(frozen=True)
class NeighborsOptions:
    """Checked options."""

    n_neighbors: Any = 5
    metric: str = "auto"
    p: float = 2.0
    scale: Any = "auto"
    weights: str = "auto"
    priors: Any = None
    class_weight: Any = None
    costs: Any = None

    def __post_init__(self) -> None:
        _check_neighbors(self.n_neighbors)
        choose("metric", self.metric, ("auto", *METRICS))
        choose("weights", self.weights, ("auto", *WEIGHTINGS))
        _check_power(self.p)
        if self.scale is not None:
            choose("scale", self.scale, ("auto", "range", "std"), none=True)
        if self.metric in UNSCALED and self.scale not in ("auto", None):
            raise OptionError(
                f"scale={self.scale!r} does not fit metric={self.metric!r}, which measures columns "
                "in a unit of its own: set scale='auto' or None, or another metric."
            )

    @property
    def chooses(self) -> bool:
        """Whether the number of neighbors is to be chosen."""
        return not is_whole(self.n_neighbors)


# The power of a difference of 1e-10 is still a number.
MOST_POWER = 30


def _check_neighbors(given: Any) -> None:
    if _is_list(given) and len(given):
        for k in given:
            whole_number("n_neighbors", k, 1)
    elif not (isinstance(given, str) and given == "loo") and not (is_whole(given) and given >= 1):
        raise OptionError(
            f"n_neighbors={told(given)} cannot be used: give a whole number of at least 1, a list "
            "of such numbers to choose among, or 'loo'."
        )


def _is_list(given: Any) -> bool:
    return isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and given.ndim > 0)


def _check_power(given: Any) -> None:
    if not as_real(given) >= 1:
        raise OptionError(
            f"p={told(given)} cannot be used: give a number of at least 1, or infinity. Below 1, "
            "two sides of a triangle may be shorter than the third."
        )
    if MOST_POWER < given < math.inf:
        raise OptionError(
            f"p={told(given)} cannot be used: such powers of small differences vanish in float64. "
            f"Give at most {MOST_POWER}, or infinity, which is the largest difference alone."
        )
