"""The quadratic discriminant: one Gaussian a class, each with its own covariance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sortal.models.boundary import QuadraticBoundary, pair_of
from sortal.models.checks import check_prior
from sortal.models.decision import log_of
from sortal.models.geometry import Geometry
from sortal.models.layout import FromSchema, Layout, Maybe, Number, Several
from sortal.models.layout_arrays import Array, Record
from sortal.models.quadratic_functions import QuadraticMap
from sortal.models.records import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.data.values import Values

    Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class QuadraticModel:
    """Class means center + gap[k], functions by covariances as used, priors.

    `geometry` is that of the pooled covariance; `own` are those of the classes' matrices, which say
    what each class does not tell by itself. `scores` are ln f_k(x) up to a term common to all
    classes. `curve` is what was tried where pooling or shrinkage were chosen by leaving out rows.
    """

    classes: Values
    geometry: Geometry
    own: tuple[Geometry, ...]
    center: Float
    gap: Float
    prior: Float
    pooling: float
    shrinkage: float
    scores: QuadraticMap
    curve: Table | None = None

    LAYOUT: ClassVar[Layout] = Layout(
        classes=FromSchema("classes"),
        geometry=Record(Geometry),
        own=Several(Record(Geometry), "classes"),
        center=Array("f8", "terms"),
        gap=Array("f8", "classes", "terms"),
        prior=Array("f8", "classes", least=0.0),
        pooling=Number(least=0.0, most=1.0),
        shrinkage=Number(least=0.0, most=1.0),
        scores=Record(QuadraticMap),
        curve=Maybe(Record(Table)),
    )

    def check(self) -> None:
        """Refuse priors of nothing."""
        check_prior(self.prior)

    @property
    def size(self) -> int:
        """How many numbers predict needs: K(p + p(p + 1)/2 + 1), a mean, a matrix, a constant."""
        K, p = self.gap.shape
        return int(K * (p + p * (p + 1) // 2 + 1))

    @property
    def covariances(self) -> Float:
        """Σ_k as used."""
        return self.scores.holes.sigmas

    @property
    def log_prior(self) -> Float:
        """ln π_k."""
        return log_of(self.prior)

    @property
    def ranks(self) -> NDArray[np.int64]:
        """The rank of each class's own matrix."""
        return np.array([own.sphere.shape[1] for own in self.own])

    @property
    def rank(self) -> int:
        """The rank of the covariances as used."""
        return int(self.scores.whole.roots.shape[2])

    @property
    def log_dets(self) -> Float:
        """ln det Σ_k as used; where terms are tied, less that of the pooled Σ."""
        return self.scores.whole.log_dets

    def inverse(self, k: int) -> Float:
        """Σ_k⁻¹."""
        root = self.scores.whole.roots[k]
        return np.asarray(root @ root.T)

    def functions(self, log_prior: Float) -> tuple[Float, Float, Float]:
        """(constants, linear weights, matrices) of g_k(x) = c_k + b_kᵀx + xᵀM_kx, a class a row."""
        means = self.center + self.gap
        inverses = np.array([self.inverse(k) for k in range(len(means))])
        linear = np.einsum("kij,kj->ki", inverses, means)
        size = self.log_dets + np.einsum("ki,ki->k", means, linear)
        return log_prior - 0.5 * size, linear, -0.5 * inverses

    def boundary(self, log_prior: Float, first: Any, second: Any) -> QuadraticBoundary:
        """Where g_k = g_l: the log-odds of (Bar qda) as a polynomial in x."""
        constants, linear, matrices = self.functions(log_prior)
        k, l = pair_of(self.classes, constants, first, second)  # noqa: E741
        return QuadraticBoundary(
            float(constants[k] - constants[l]), linear[k] - linear[l], matrices[k] - matrices[l]
        )
