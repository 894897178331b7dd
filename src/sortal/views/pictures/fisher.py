"""Pictures of Fisher's discriminant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sortal.views.lettering import number_text
from sortal.views.pictures.canonical import add_canonical
from sortal.views.pictures.densities import add_directions
from sortal.views.pictures.regions import add_regions
from sortal.views.pictures.scene import Plan, Scene, Words
from sortal.views.pictures.words import class_table

if TYPE_CHECKING:
    from sortal.views.pictures.scene import Pictures


def pictures(estimator: Any, X: Any, y: Any, *, rows: bool = False) -> Pictures:
    """Classes along the directions, and in the plane of the first two; regions over two columns."""
    scene = Scene("fisher", estimator, X, y, rows=rows)
    n = int(estimator.directions_.shape[1])
    if n > 1:
        add_canonical(scene, arrows=False)
    add_directions(scene, min(n, 2))
    # feet of single rows are seen there
    if rows and len(scene.numbers) == 2 == len(estimator.terms_):
        _add_projection(scene)
    add_regions(scene)
    return scene.pictures()


def _add_projection(scene: Scene) -> None:
    title = "Rows and their feet on the best direction"
    features = [scene.feature(j) for j in sorted(one.place for one in scene.numbers)]
    plan = Plan("ProjectionDisplay", {"features": features}, points=True)

    def words(display: Any) -> Words:
        table, note = class_table("projection", display.rows)
        w = " and ".join(number_text(x) for x in display.w)
        said = f"{title}, whose parts are {w}; J = {number_text(display.J)}."
        return Words(said, table, note)

    scene.add("projection", title, plan, words)
