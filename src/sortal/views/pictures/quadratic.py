"""Pictures of a quadratic discriminant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sortal.views.pictures.densities import add_columns
from sortal.views.pictures.regions import add_regions
from sortal.views.pictures.scene import Scene

if TYPE_CHECKING:
    from sortal.views.pictures.scene import Pictures


def pictures(estimator: Any, X: Any, y: Any, *, rows: bool = False) -> Pictures:
    """Regions with the ellipses of the classes over two columns; densities of the columns."""
    scene = Scene("qda", estimator, X, y, rows=rows)
    add_regions(scene)
    add_columns(scene, [one for one in scene.numbers if one.share > 0][:2])
    return scene.pictures()
