"""Regression on class indicators: the model, its least squares, its working."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sortal.decision.geometry import Geometry, survey
from sortal.decision.options import non_negative
from sortal.decision.posterior import leading
from sortal.discriminants.linear_functions import LinearMap
from sortal.discriminants.statistics import refuse_constant
from sortal.discriminants.tables import function_tables, score_table
from sortal.modelfile.arrays import Array, RecordField
from sortal.modelfile.fields import FromSchema, Layout, check_scatter
from sortal.records.tables import Table, Working, matrix_table

if TYPE_CHECKING:
    from sortal._typing import Float
    from sortal.data.columns import Values
    from sortal.discriminants.statistics import ClassStatistics


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
        geometry=RecordField(Geometry),
        center=Array("f8", "terms"),
        gap=Array("f8", "classes", "terms"),
        mean=Array("f8", "terms"),
        shares=Array("f8", "classes", least=0.0),
        total=Array("f8", "terms", "terms"),
        scores=RecordField(LinearMap, functions="classes"),
    )

    def check(self) -> None:
        """Refuse what is no scatter of rows."""
        check_scatter(self.total)

    @property
    def size(self) -> int:
        """How many numbers predict needs: K functions of p terms and a constant."""
        return self.scores.size


# --- Least squares on class indicators, from class statistics ------------------------------------


@dataclass(frozen=True)
class IndicatorOptions:
    """Checked options."""

    ridge: float = 0.0
    class_weight: Any = None

    def __post_init__(self) -> None:
        non_negative("ridge", self.ridge)


def build_indicator(stats: ClassStatistics, options: IndicatorOptions) -> IndicatorModel:
    """f_k(x) = β_k0 + β_kᵀx fitted to 1 in the rows of class k and 0 in the others. (Bar indicator)

    The normal equations are (S_T + ridge I) β_k = n_k (μ_k - μ): the moments are all they need.
    Where S_T is singular, the solution of least norm.
    """
    nothing = np.zeros((1, len(stats.center)))
    refuse_constant(survey(stats.total, nothing, stats.magnitude), stats)
    penalized = stats.total + options.ridge * np.eye(len(stats.center))
    geometry = survey(penalized, nothing, stats.magnitude)
    target = stats.weight[:, None] * (stats.gap - stats.mean)
    weights = geometry.sphere @ (geometry.sphere.T @ target.T)
    shares = stats.weight / stats.total_weight
    offsets = shares - stats.mean @ weights
    return IndicatorModel(
        classes=stats.classes,
        geometry=geometry,
        center=stats.center,
        gap=stats.gap,
        mean=stats.mean,
        shares=shares,
        total=stats.total,
        scores=LinearMap(
            stats.design,
            stats.center,
            weights,
            offsets,
            stats.conditional_mean(weights, offsets),
        ),
    )


# --- The working of regression on class indicators -----------------------------------------------


def show_indicator(model: IndicatorModel, functions: Float | None, backend: str) -> Working:
    """The tables of a fit; with the functions of rows, these too."""
    terms = model.scores.design.terms
    functions_of_x = model.scores.intercepts, model.scores.weights.T
    both = ("Bar indicator", "Bar indicator")
    means = model.center + model.gap
    total = model.total
    tables = [
        _shares(model, backend),
        matrix_table("means", "Class means", (model.classes, terms), means, "Sch 4-5a", backend),
        matrix_table("total", "S_T, of all rows", (terms, terms), total, "Bar indicator", backend),
        *function_tables(model.classes, functions_of_x, terms, both, backend),
    ]
    if functions is not None:
        labels = [model.classes[k] for k in leading(functions)]
        tables.append(score_table(model.classes, functions, labels, "Bar indicator", backend))
    return Working("Regression on class indicators", tuple(tables))


def _shares(model: IndicatorModel, backend: str) -> Table:
    rows = tuple(
        (str(label), float(p)) for label, p in zip(model.classes, model.shares, strict=True)
    )
    return Table("shares", "Shares of the classes", ("class", "share"), rows, "", backend)
