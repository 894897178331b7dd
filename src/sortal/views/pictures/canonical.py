"""Rows in the directions that part the class means best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sortal.views.lettering import number_text
from sortal.views.pictures.scene import Plan, Words
from sortal.views.pictures.words import class_table, plain, several

if TYPE_CHECKING:
    from sortal.views.pictures.scene import Scene

# More arrows hide the points.
_MOST_ARROWS = 8


def add_canonical(scene: Scene, *, arrows: bool) -> None:
    """The first two canonical coordinates, or the only one."""
    terms = len(scene.estimator.terms_)
    with_arrows = arrows and 2 <= terms <= _MOST_ARROWS and len(scene.classes) > 2
    options = {"arrows": True} if with_arrows else {}
    title = "Rows in the directions that part the classes best"
    plan = Plan("CanonicalDisplay", options, points=True)
    scene.add("canonical", title, plan, lambda display: _words(scene, title, display))


def _words(scene: Scene, title: str, display: Any) -> Words:
    names = [plain(name) for name in display.rows.names]
    shares = " and ".join(names)
    centers = [
        f"{plain(label)} at ({', '.join(number_text(x) for x in center)})"
        for label, center in zip(scene.classes, display.centroids, strict=True)
    ]
    drawn = "one coordinate" if len(names) == 1 else "two coordinates"
    share = f"{100 * display.level:.0f} %"
    said = (
        f"{title}: {drawn}, {shares}, with their shares of the variance of the class means. "
        f"Class centers: {several(centers, 'classes')}. Within a class every coordinate has a "
        f"deviation of 1, so that centers further apart than 4 hardly overlap; "
        f"{'bars' if len(names) == 1 else 'circles'} hold {share} of each class."
    )
    if display.arrows is not None:
        said += " Arrows show with which columns the coordinates go together."
    table, note = class_table("canonical", display.rows)
    return Words(said, table, note)
