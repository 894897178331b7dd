"""The linear discriminant: one Gaussian a class, with a common covariance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sortal.models.decision import log_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sortal.data.values import Values
    from sortal.models.functions import LinearMap
    from sortal.models.geometry import Geometry
    from sortal.models.records import Table

    Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Class means center + gap[k], covariance Σ as used, priors.

    `scores` are ln f_k(x) up to a term common to all classes, so that adding ln π_k gives the
    functions g_k. `coordinates` are the canonical ones: directions a with aᵀΣa = 1, the rows less
    the mean of the classes by their priors, which is center + `prior_mean`. `eigenvalues` are the
    variances of the class means along them. `curve` is what was tried where the shrinkage was
    chosen by leaving out rows.
    """

    classes: Values
    geometry: Geometry
    center: Float
    gap: Float
    prior: Float
    covariance: Float
    shrinkage: float
    divisor: float
    prior_mean: Float
    directions: Float
    eigenvalues: Float
    scores: LinearMap
    coordinates: LinearMap
    curve: Table | None = None

    @property
    def size(self) -> int:
        """How many numbers predict needs: K functions of p terms and a constant."""
        return self.scores.size

    @property
    def log_prior(self) -> Float:
        """ln π_k."""
        return log_of(self.prior)

    def functions(self) -> tuple[Float, Float]:
        """(constants, weights) of g_k(x) = w_k0 + w_kᵀx, a row of weights a class. (Sch LDF)"""
        return self.scores.intercepts + self.log_prior, self.scores.weights.T
