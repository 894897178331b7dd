"""The linear discriminant: one Gaussian a class, with a common covariance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sortal.models.checks import check_prior, need
from sortal.models.decision import log_of
from sortal.models.functions import LinearMap
from sortal.models.geometry import Geometry
from sortal.models.layout import FromSchema, Layout, Maybe, Number
from sortal.models.layout_arrays import Array, Record
from sortal.models.records import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sortal.data.values import Values

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

    LAYOUT: ClassVar[Layout] = Layout(
        classes=FromSchema("classes"),
        geometry=Record(Geometry),
        center=Array("f8", "terms"),
        gap=Array("f8", "classes", "terms"),
        prior=Array("f8", "classes", least=0.0),
        covariance=Array("f8", "terms", "terms"),
        shrinkage=Number(least=0.0, most=1.0),
        divisor=Number(least=0.0),
        prior_mean=Array("f8", "terms"),
        directions=Array("f8", "terms", "directions"),
        eigenvalues=Array("f8", "eigenvalues", least=0.0),
        scores=Record(LinearMap, functions="classes"),
        coordinates=Record(LinearMap, functions="directions"),
        curve=Maybe(Record(Table)),
    )

    def check(self) -> None:
        """Refuse directions without their eigenvalues, and priors of nothing."""
        need(self.directions.shape[1] <= len(self.eigenvalues), "directions without eigenvalues")
        check_prior(self.prior)

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
