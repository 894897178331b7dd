"""Regression on class indicators: one linear function a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sortal.models.checks import check_scatter
from sortal.models.functions import LinearMap
from sortal.models.geometry import Geometry
from sortal.models.layout import FromSchema, Layout
from sortal.models.layout_arrays import Array, Record

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sortal.data.values import Values

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

    LAYOUT: ClassVar[Layout] = Layout(
        classes=FromSchema("classes"),
        geometry=Record(Geometry),
        center=Array("f8", "terms"),
        gap=Array("f8", "classes", "terms"),
        mean=Array("f8", "terms"),
        shares=Array("f8", "classes", least=0.0),
        total=Array("f8", "terms", "terms"),
        scores=Record(LinearMap, functions="classes"),
    )

    def check(self) -> None:
        """Refuse what is no scatter of rows."""
        check_scatter(self.total)

    @property
    def size(self) -> int:
        """How many numbers predict needs: K functions of p terms and a constant."""
        return self.scores.size
