"""Normal classes in a picture: the ellipses that hold a share of each, and the box around all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.lines import Line2D

from sortal.errors import OptionError
from sortal.views.lettering import number_text
from sortal.views.palette import color
from sortal.views.planes import box_of, ellipse

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from sortal.views.rows import Rows

    Float = NDArray[np.float64]

# How much of the points' extent ellipses may add on each side before they are cut.
_ELLIPSE_ROOM = 0.5


def shaped(given: ArrayLike, shape: tuple[int, ...], name: str) -> Float:
    """An array of a shape that begins with the number of classes."""
    array = np.asarray(given, dtype=np.float64)
    if array.shape != shape:
        raise OptionError(
            f"{name} has the shape {array.shape}, and with {shape[0]} classes and two attributes "
            f"it needs {shape}."
        )
    return array


def read_level(level: float) -> float:
    """A share between 0 and 1."""
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise OptionError(f"level={level!r} is no share: give a number between 0 and 1.")
    return float(level)


def find_ellipses(
    rows: Rows, means: ArrayLike | None, covariance: ArrayLike | None, level: float
) -> list[Float]:
    """Points of an ellipse a class; none without a covariance, for all (2 × 2) or one a class."""
    if covariance is None:
        return []
    K = len(rows.classes)
    centers = rows.means if means is None else shaped(means, (K, 2), "means")
    given = np.asarray(covariance, dtype=np.float64)
    each = np.broadcast_to(given, (K, 2, 2)) if given.shape == (2, 2) else given
    shapes = shaped(each, (K, 2, 2), "covariance")
    return [_ellipse(center, shape, level) for center, shape in zip(centers, shapes, strict=True)]


def box_with(points: Float, curves: list[Float]) -> Float:
    """A box around points and ellipses; ellipses far beyond the points are cut."""
    low, high = box_of(points, margin=_ELLIPSE_ROOM)
    near = [np.clip(curve, low, high) for curve in curves if np.isfinite(curve).all()]
    return box_of(np.vstack([points, *near]))


def marginals(estimator: Any, terms: list[int]) -> dict[str, Float]:
    """Means and covariances in two terms, of an estimator that takes classes as normal."""
    if hasattr(estimator, "covariances_"):
        covariance = np.asarray(estimator.covariances_)[:, terms][:, :, terms]
    elif hasattr(estimator, "covariance_"):
        covariance = np.asarray(estimator.covariance_)[np.ix_(terms, terms)]
    else:
        return {}
    return {"means": np.asarray(estimator.means_)[:, terms], "covariance": covariance}


def draw_ellipses(ax: Axes, curves: list[Float], level: float) -> list[Any]:
    """Contours of the classes, of which the legend tells once."""
    for k, curve in enumerate(curves):
        ax.plot(curve[:, 0], curve[:, 1], color=color(k), linewidth=1.6, zorder=2.3)
    share = f"{number_text(100 * level)} % of a class"
    return [Line2D([], [], color="0.4", linewidth=1.6, label=share)] if curves else []


def _ellipse(center: Float, shape: Float, level: float) -> Float:
    """A class that the fit has no rows of has no place, and no ellipse."""
    known = np.isfinite(center).all() and np.isfinite(shape).all()
    return ellipse(center, shape, level) if known else np.full((1, 2), np.nan)
