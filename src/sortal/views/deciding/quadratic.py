"""Quadratic functions for a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal.data.arrays import LARGEST
from sortal.views.deciding.described import Described
from sortal.views.deciding.linear import LOG_ODDS, reach
from sortal.views.deciding.packing import pack, pack_lower

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.models.quadratic import QuadraticModel

    Float = NDArray[np.float64]


def describe_quadratic(model: QuadraticModel) -> Described:
    """Gaussian classes, each with its own covariance."""
    scores, design = model.scores, model.scores.design
    spread = np.sqrt(np.maximum(np.diagonal(model.covariances, axis1=1, axis2=2), 0.0))
    near, rest = scores.means.near()
    numbers = {
        "prior": pack(model.prior),
        "unit": [1.0],
        "sizes": list(design.sizes),
        "near": pack(near),
        "rest": pack(rest),
        "whole": {
            "roots": pack_lower(_triangles(scores.whole.roots), mirror=False),
            "logDets": pack(scores.whole.log_dets),
        },
    }
    into = scores.holes.into.T[None]
    holes = {
        "into": pack_lower(_triangles(into)[0], mirror=False),
        "sigmas": pack_lower(scores.holes.sigmas, mirror=True),
        "present": scores.holes.present.astype(int).tolist(),
    }
    ends = reach(design, model.center + model.gap, spread)
    columns = tuple(range(len(design.sizes)))
    return Described(
        "quadratic",
        design.schema,
        columns,
        ends,
        numbers,
        LOG_ODDS,
        holes,
        spared=("whole",),
        largest=LARGEST,
    )


def _triangles(roots: Float) -> Float:
    """Roots turned until they are triangles: half the numbers for the same lengths."""
    turned = np.asarray(np.linalg.qr(roots.transpose(0, 2, 1), mode="r"))  # a class: rank × terms
    return turned.transpose(0, 2, 1)
