"""Pictures of indicator regression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sortal.views.pictures.regions import add_regions
from sortal.views.pictures.scene import Scene

if TYPE_CHECKING:
    from sortal.views.pictures.scene import Pictures


def pictures(estimator: Any, X: Any, y: Any, *, rows: bool = False) -> Pictures:
    """Regions over two columns."""
    scene = Scene("indicator", estimator, X, y, rows=rows)
    add_regions(scene)
    return scene.pictures()
