"""Geometry of the plane, without drawing: feet, lines and polygons cut by half-planes, ellipses.

A half-plane (a, b) holds the points x with a·x + b ≥ 0.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.errors import OptionError
from sortal.views.rows import class_means

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from sortal.views.rows import Codes

    Float = NDArray[np.float64]
    HalfPlane = tuple[Float, float]

# Below this share of the sizes involved, a difference is rounding.
_ROUNDING = 1e-12


def unit_vector(given: Any, size: int, name: str = "w") -> Float:
    """A direction of length one."""
    try:
        vector = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        vector = np.empty(0)
    length = float(np.linalg.norm(vector))
    if vector.shape != (size,) or not 0 < length < math.inf:
        raise OptionError(
            f"{name}={given!r} is no direction in {size} attributes: give {size} finite numbers, "
            "not all zero."
        )
    return vector / length


def feet_on_line(points: Float, center: Float, w: Float) -> Float:
    """Where the perpendiculars from points meet the line through `center` along the unit w."""
    return center + np.outer((points - center) @ w, w)


def criterion(along: Float, codes: Codes, n_classes: int) -> float:
    """Fisher's J of coordinates along a direction: squared distance of means over scatter."""
    means = class_means(along, codes, n_classes)
    scatter = float(((along - means[codes]) ** 2).sum())
    counts = np.bincount(codes, minlength=n_classes)
    if n_classes == 2:
        between = float((means[0] - means[1]) ** 2)
    else:
        between = float(np.nansum(counts * (means - along.mean()) ** 2))
    if scatter > 0:
        return between / scatter
    return math.inf if between > 0 else math.nan


def box_of(points: Float, margin: float = 0.06) -> Float:
    """Corners (low, high) of a box around points, with a margin."""
    low, high = points.min(axis=0), points.max(axis=0)
    width = np.where(high > low, high - low, np.maximum(np.abs(high), 1.0))
    return np.array([low - margin * width, high + margin * width])


def box_sides(box: Float) -> list[HalfPlane]:
    """The four half-planes whose common part is a box."""
    (x0, y0), (x1, y1) = box
    sides = [((1, 0), -x0), ((-1, 0), x1), ((0, 1), -y0), ((0, -1), y1)]
    return [(np.array(a, dtype=float), float(b)) for a, b in sides]


def cut_line(normal: Float, offset: float, near: Float, cuts: Iterable[HalfPlane]) -> Float | None:
    """The part of the line normal·x + offset = 0 within half-planes, as its two ends, or None.

    `near` is a point of the picture: distances along the line count from its foot, so that they
    keep their digits where the origin is far away.
    """
    length = float(np.linalg.norm(normal))
    if length == 0:
        return None
    foot = near - normal * ((normal @ near + offset) / length**2)
    along = np.array([-normal[1], normal[0]]) / length
    low, high = -math.inf, math.inf
    for a, b in cuts:
        value, slope = float(a @ foot) + b, float(a @ along)
        size = float(np.abs(a) @ np.abs(foot)) + abs(b)
        if abs(slope) <= _ROUNDING * float(np.linalg.norm(a)):
            if value < -_ROUNDING * size:
                return None
        elif slope > 0:
            low = max(low, -value / slope)
        else:
            high = min(high, -value / slope)
    return foot + np.outer((low, high), along) if low < high else None


def cut_polygon(corners: Float, cuts: Iterable[HalfPlane]) -> Float:
    """What is left of a convex polygon within half-planes: its corners in order, maybe none."""
    for a, b in cuts:
        corners = _cut_once(corners, a, b)
    return corners


def _cut_once(corners: Float, a: Float, b: float) -> Float:
    """Keep the corners inside; where a side leaves or enters, its crossing is a new corner."""
    inside = corners @ a + b
    kept = []
    for i, here in enumerate(corners):
        before = i - 1
        if (inside[i] >= 0) != (inside[before] >= 0):
            share = inside[before] / (inside[before] - inside[i])
            kept.append(corners[before] + share * (here - corners[before]))
        if inside[i] >= 0:
            kept.append(here)
    return np.array(kept).reshape(-1, 2)


def box_corners(box: Float) -> Float:
    """The four corners of a box, in order."""
    (x0, y0), (x1, y1) = box
    return np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])


def wins(coef: Float, intercept: Float, k: int, others: Sequence[int]) -> list[HalfPlane]:
    """Half-planes in which function k is not below another one."""
    return [(coef[k] - coef[m], float(intercept[k] - intercept[m])) for m in others]


def ellipse(mean: Float, covariance: Float, level: float, n: int = 181) -> Float:
    """Points of the ellipse that holds a share `level` of a normal distribution in the plane.

    Its squared radius is the quantile of χ² with two degrees of freedom, -2 ln(1 - level).
    """
    values, vectors = np.linalg.eigh(covariance)
    radius = math.sqrt(-2 * math.log1p(-level))
    angle = np.linspace(0, 2 * np.pi, n)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return np.asarray(mean + radius * (circle * np.sqrt(np.maximum(values, 0))) @ vectors.T)
