"""Pictures of a linear discriminant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sortal.views.pictures.canonical import add_canonical
from sortal.views.pictures.densities import add_directions
from sortal.views.pictures.regions import add_regions
from sortal.views.pictures.scene import Scene

if TYPE_CHECKING:
    from sortal.views.pictures.scene import Pictures


def pictures(estimator: Any, X: Any, y: Any, *, rows: bool = False) -> Pictures:
    """Canonical coordinates, densities along them, and regions over two columns."""
    scene = Scene("lda", estimator, X, y, rows=rows)
    whole = float(getattr(estimator, "shrinkage_", 0.0) or 0.0) < 1
    add_canonical(scene, arrows=whole)
    add_directions(scene, min(estimator.scalings_.shape[1], 2))
    add_regions(scene)
    return scene.pictures()
