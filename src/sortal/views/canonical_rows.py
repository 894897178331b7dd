"""Rows in the directions of a fitted discriminant, scaled to a variance of 1 within classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from sortal.views.fitted import attribute
from sortal.views.rows import class_means, read_labels

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Float = NDArray[np.float64]


class Coordinates(NamedTuple):
    """Points and class centroids, a column a direction; shares of the variance between classes."""

    points: Float
    labels: Any
    centroids: Float
    shares: Float
    directions: Float
    letter: str


def read_coordinates(estimator: Any, X: Any, y: Any) -> Coordinates:
    """All canonical coordinates of rows, as a linear discriminant or Fisher's has them."""
    if hasattr(estimator, "directions_") and not hasattr(estimator, "explained_variance_ratio_"):
        return _of_fisher(estimator, X, y)
    shares = np.asarray(attribute(estimator, "explained_variance_ratio_"), dtype=np.float64)
    points = np.asarray(attribute(estimator, "transform")(X), dtype=np.float64)
    directions = np.asarray(attribute(estimator, "scalings_"), dtype=np.float64)
    away = np.asarray(estimator.means_) - np.asarray(attribute(estimator, "xbar_"))
    return Coordinates(points, y, away @ directions, shares, directions, "LD")


def _of_fisher(estimator: Any, X: Any, y: Any) -> Coordinates:
    """Unit directions, scaled by what the rows vary within their classes.

    The directions are uncorrelated within classes, and J orders them.
    """
    along = np.asarray(estimator.transform(X, scaling="unit"), dtype=np.float64)
    classes = attribute(estimator, "classes_")
    codes, _ = read_labels(y, len(along), classes)
    known = ~np.isnan(along).any(axis=1)
    means = class_means(along[known], codes[known], len(classes))
    within = along[known] - means[codes[known]]
    spread = np.sqrt((within**2).sum(axis=0) / max(len(within) - len(classes), 1))
    scale = np.where(spread > 0, spread, 1.0)
    middle = along[known].mean(axis=0)
    J = np.maximum(np.asarray(estimator.eigenvalues_, dtype=np.float64), 0.0)
    shares = J / J.sum() if 0 < J.sum() < np.inf else np.full(len(J), 1 / len(J))
    directions = np.asarray(estimator.directions_) / scale
    centers = (means - middle) / scale
    return Coordinates((along - middle) / scale, y, centers, shares, directions, "w")
