"""Regression on class indicators: one linear function a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sortal.data.values import Values
    from sortal.models.functions import LinearMap
    from sortal.models.geometry import Geometry

    Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class IndicatorModel:
    """f_k(x) = share of class k + (x - mean of all rows)ᵀβ_k; the mean is center + `mean`."""

    classes: Values
    geometry: Geometry
    center: Float
    gap: Float
    mean: Float
    shares: Float
    total: Float
    scores: LinearMap

    @property
    def size(self) -> int:
        """How many numbers predict needs: K functions of p terms and a constant."""
        return self.scores.size
