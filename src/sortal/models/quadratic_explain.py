"""Why quadratic functions decided as they did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sortal.models.linear_explain import Explain

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.data.design import Design
    from sortal.models.quadratic_functions import QuadraticMap

    Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ExplainQuadratic(Explain):
    """The parts of quadratic functions."""

    function: QuadraticMap
    equation = "S 50"

    @property
    def design(self) -> Design:
        """The terms of a row."""
        return self.function.design

    def difference(self, i: int, k: int, l: int) -> tuple[float, Float]:  # noqa: E741
        """½ z_l ∘ Σ_l⁻¹z_l - ½ z_k ∘ Σ_k⁻¹z_k, term by term, z = x - μ. (S 50)

        The product of two attributes is halved between them.
        """
        known, some = self.known(i), self.function.whole
        if not known.all():
            some = self.function.holes.functions(known)
        parts = {}
        for c in (k, l):
            z = np.where(known, self.rows.z[i] - self.function.means.gap[c], 0.0)
            parts[c] = 0.5 * z * (some.roots[c] @ (z @ some.roots[c]))
        constants = self.decided.extra - 0.5 * some.log_dets
        return float(constants[k] - constants[l]), parts[l] - parts[k]
