"""Fisher's discriminant: directions, rows along them, and any direction evaluated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import ndtr

from sortal.decision.geometry import EPS, Geometry
from sortal.discriminants.linear_functions import LinearMap
from sortal.errors import ParameterError
from sortal.modelfile.arrays import Array, RecordField
from sortal.modelfile.fields import (
    INF,
    FromSchema,
    Layout,
    Number,
    OptionalField,
    check_scatter,
    check_squares,
    need,
)
from sortal.records.tables import Table

if TYPE_CHECKING:
    from sortal._typing import Float
    from sortal.data.columns import Values
    from sortal.records.tables import Cell


@dataclass(frozen=True, eq=False)
class Criterion:
    """J(w) = wᵀBw / wᵀSw, with B from the rows of `between` and S = `within`. (ZM 20.7)

    The same as (Sch 4-8), written as (Sch 4-11a), and as (MSML fisher).
    Two classes: B = (μ_1 - μ_2)(μ_1 - μ_2)ᵀ, as in (ZM 20.2). More:
    B = Σ_k a_k (μ_k - μ)(μ_k - μ)ᵀ, a_k being the weight of the class, or 1 where classes weigh
    alike; for two classes that would be a_1 a_2 / (a_1 + a_2) times the former. (S 98)
    """

    between: Float
    within: Float

    LAYOUT: ClassVar[Layout] = Layout(
        between=Array("f8", "parts", "terms"), within=Array("f8", "terms", "terms")
    )

    def check(self) -> None:
        """Refuse what is no scatter of rows."""
        check_scatter(self.within)
        check_squares(self.between)
        check_squares(np.sqrt(np.diag(self.within)))

    @property
    def B(self) -> Float:  # noqa: N802  (the textbook's letter)
        """The scatter between the classes."""
        return np.asarray(self.between.T @ self.between)

    def parts(self, w: Float) -> tuple[float, float]:
        """wᵀBw and wᵀSw, zero where they are nothing but rounding."""
        apart = float(((self.between @ w) ** 2).sum())
        inside = float(w @ self.within @ w)
        own = np.sqrt(np.diag(self.within))
        both = own + np.sqrt((self.between**2).sum(axis=0))
        rounding = 8 * len(w) * EPS
        if inside > rounding * float(np.abs(w) @ own) ** 2:
            return apart, inside
        return (apart if apart > rounding * float(np.abs(w) @ both) ** 2 else 0.0), 0.0

    def value(self, w: Float) -> float:
        """J(w); infinite where w has no scatter within the classes but differs between them."""
        apart, inside = self.parts(w)
        if inside > 0:
            return apart / inside
        return np.inf if apart > 0 else 0.0


@dataclass(frozen=True, eq=False)
class FisherModel:
    """Directions of unit length, one a column, best first; λ = J(w) of each.

    Over the terms of a design, whose class means are center + gap[k]. `scores` are functions whose
    largest names the class; `coordinates` are wᵀx. `threshold` is the separating point on w, as a
    distance from wᵀcenter, for two classes. `unit` is the size of differences between the scores.
    """

    classes: Values
    criterion: Criterion
    geometry: Geometry
    center: Float
    gap: Float
    weight: Float
    scatter: Float
    directions: Float
    eigenvalues: Float
    lengths: Float
    threshold: float | None
    unit: float
    scores: LinearMap
    coordinates: LinearMap

    LAYOUT: ClassVar[Layout] = Layout(
        classes=FromSchema("classes"),
        criterion=RecordField(Criterion),
        geometry=RecordField(Geometry),
        center=Array("f8", "terms"),
        gap=Array("f8", "classes", "terms"),
        weight=Array("f8", "classes", least=0.0),
        scatter=Array("f8", "classes", "terms", "terms"),
        directions=Array("f8", "terms", "directions"),
        eigenvalues=Array("f8", "directions", least=0.0, most=INF),
        lengths=Array("f8", "directions", least=0.0),
        threshold=OptionalField(Number()),
        unit=Number(least=0.0),
        scores=RecordField(LinearMap, functions="classes"),
        coordinates=RecordField(LinearMap, functions="directions"),
    )

    def check(self) -> None:
        """Refuse what is no scatter of rows, and a separating point without a direction."""
        check_scatter(self.scatter)
        need((np.abs(self.directions) < 2).all(), "directions that are not of unit length")
        two = len(self.classes) == 2 and self.directions.shape[1] > 0
        need((self.threshold is not None) == two, "a separating point that is not of two classes")

    @property
    def size(self) -> int:
        """How many numbers predict needs: a direction and a point on it, or K functions."""
        return self.scores.size if self.threshold is None else len(self.center) + 1

    @property
    def means(self) -> Float:
        """The projected class means, a row a class: m_k = wᵀμ_k. (Sch 4-5b)"""
        return np.asarray((self.center + self.gap) @ self.directions)

    @property
    def scatters(self) -> Float:
        """Projected scatters, a row a class: s_k² = wᵀS_kw. (ZM 20.3), (ZM 20.4), (Sch 4-7a)"""
        w = self.directions
        return np.asarray(np.einsum("im,kij,jm->km", w, self.scatter, w))

    def separating_point(self) -> float | None:
        """The point on w that parts two classes."""
        if self.threshold is None:
            return None
        return float(self.center @ self.directions[:, 0] + self.threshold)


@dataclass(frozen=True)
class DirectionEvaluation:
    """A direction judged: J, and per class the mean, scatter and variance of the projections.

    `overlap[i][j]` is the area under both normal densities N(m, s²/n) of classes i and j: 1 where
    they are one, 0 where they are apart.
    """

    direction: tuple[float, ...]
    J: float
    classes: Values
    means: tuple[float, ...]
    scatters: tuple[float, ...]
    variances: tuple[float, ...]
    overlap: tuple[tuple[float, ...], ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and strings, ready for JSON; an infinite J as the word inf."""
        return {
            "direction": list(self.direction),
            "J": self.J if np.isfinite(self.J) else str(self.J),
            "classes": list(self.classes),
            "means": list(self.means),
            "scatters": list(self.scatters),
            "variances": list(self.variances),
            "overlap": [list(row) for row in self.overlap],
        }

    def to_table(self, backend: str = "pandas") -> Table:
        """A row a class."""
        heads = ("class", "mean", "scatter", "variance", *(f"overlap {c}" for c in self.classes))
        rows: list[tuple[Cell, ...]] = [
            (str(label), self.means[k], self.scatters[k], self.variances[k], *self.overlap[k])
            for k, label in enumerate(self.classes)
        ]
        return Table("judged", f"J = {self.J:.6g}", heads, tuple(rows), "ZM 20.1", backend)

    def __str__(self) -> str:
        return str(self.to_table())

    def to_markdown(self, level: int = 3) -> str:
        """The table in Markdown, under a heading of this level."""
        return self.to_table().to_markdown(level)

    def _repr_html_(self) -> str:
        return self.to_table()._repr_html_()


def evaluate_direction(model: FisherModel, w: Float) -> DirectionEvaluation:
    """What any direction is worth: J(w) = (m_1 - m_2)² / (s_1² + s_2²) and the rest. (ZM 20.1)"""
    if w.shape != (len(model.center),) or not np.isfinite(w).all() or not w.any():
        raise ParameterError(
            f"w has the shape {w.shape} and must be a direction of {len(model.center)} finite "
            "numbers, one for each of terms_, not all zero."
        )
    w = w / np.abs(w).max()
    w = w / np.linalg.norm(w)
    apart, inside = model.criterion.parts(w)
    gap = model.gap @ w if apart > 0 or inside > 0 else np.zeros(len(model.gap))
    means = model.center @ w + gap
    scatters = np.maximum(np.einsum("i,kij,j->k", w, model.scatter, w), 0.0)
    scatters = scatters if inside > 0 else np.zeros(len(scatters))
    variances = scatters / np.where(model.weight > 0, model.weight, 1.0)
    return DirectionEvaluation(
        tuple(w.tolist()),
        model.criterion.value(w),
        model.classes,
        tuple(means.tolist()),
        tuple(scatters.tolist()),
        tuple(variances.tolist()),
        tuple(
            tuple(overlap(m, v, n, u) for n, u in zip(gap, variances, strict=True))
            for m, v in zip(gap, variances, strict=True)
        ),
    )


def overlap(mean_a: float, variance_a: float, mean_b: float, variance_b: float) -> float:
    """∫ min(p_a, p_b) of two normal densities: they cross at one point, or at two."""
    if variance_a > variance_b:
        mean_a, variance_a, mean_b, variance_b = mean_b, variance_b, mean_a, variance_a
    d = float(mean_b - mean_a)
    if variance_a == 0:
        return float(d == 0 and variance_b == 0)
    a, b = float(np.sqrt(variance_a)), float(np.sqrt(variance_b))
    if b - a <= 1e-8 * b:
        return float(2 * ndtr(-abs(d) / (a + b)))
    # ln p_a = ln p_b, a quadratic in x - mean_a; the narrower density is larger between its roots
    q = variance_b - variance_a
    root = a * b * np.sqrt(d * d + 2 * q * np.log(b / a))
    low, high = (-variance_a * d - root) / q, (-variance_a * d + root) / q
    inside_b = ndtr((high - d) / b) - ndtr((low - d) / b)
    return float(inside_b + ndtr(low / a) + ndtr(-high / a))
