"""Where in a plane of two columns which class is said, of any model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.columns import as_categories
from sortal.views.pictures.scene import Plan, Words
from sortal.views.pictures.words import class_places, class_table, cut_table, plain, several

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.views.pictures.scene import Scene

    Float = NDArray[np.float64]

# With more classes, boundaries of all pairs hide those that decide.
_MOST_PAIRS = 4

# Lines of the grid in each direction, on whose cells curves are found: exact all the same.
_RESOLUTION = 80

_COARSE = (
    f"Boundaries are drawn between the crossings of {_RESOLUTION} × {_RESOLUTION} lines: exact "
    "ones would tell where single rows lie."
)


def add_regions(scene: Scene) -> None:
    """Regions over the two most telling columns; straight boundaries where functions are linear."""
    chosen = scene.numbers[:2]
    if len(chosen) < 2:
        n = len(scene.numbers)
        scene.leave_out(
            "Decision regions", f"a plane needs two columns of numbers, and the model has {n}."
        )
        return
    first, second = chosen
    title = f"Decision regions over {plain(first.name)} and {plain(second.name)}"
    options: dict[str, Any] = {"features": [scene.feature(one.place) for one in chosen]}
    display = _display(scene)
    coarse = ""
    if display == "DecisionsDisplay":
        options["resolution"] = _RESOLUTION
        if _tells_rows(scene.estimator) and not scene.rows:
            options["exact"], coarse = False, _COARSE
    else:
        options |= {"pairwise": False} if len(scene.classes) > _MOST_PAIRS else {}
        options |= {"at": at} if (at := _typical_words(scene)) else {}
    why = (
        f"Of all columns of numbers, these two have the largest shares of variance between "
        f"classes: {first.share:.0%} and {second.share:.0%}."
        if len(scene.numbers) > 2
        else ""
    )
    note = " ".join(filter(None, [why, coarse]))
    plan = Plan(display, options, points=True)
    scene.plan("regions", title, plan, lambda shown: _words(scene, title, shown, note))


def _tells_rows(estimator: Any) -> bool:
    """Whether boundaries may bend around single rows, which the model holds."""
    return hasattr(estimator, "kneighbors") or hasattr(estimator, "dual_coef_")


def _typical_words(scene: Scene) -> dict[str, Any]:
    """The most frequent value of each category that the model knows by its values."""
    terms = {str(name) for name in scene.estimator.terms_}
    found = {}
    for j, name in enumerate(scene.names):
        if name in terms or scene.table.column_schema(j).is_number:
            continue
        column = as_categories(scene.table.categories(j, 0, scene.table.n_rows))
        counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.values))
        order = np.argsort(-counts, kind="stable")
        known = [column.values[v] for v in order if f"{name}={column.values[v]}" in terms]
        if known:
            found[name] = known[0]
    return found


def _display(scene: Scene) -> str:
    """Exact straight lines need linear functions, and no costs."""
    straight = hasattr(scene.estimator, "coef_") and not hasattr(scene.estimator, "covariances_")
    plain_costs = getattr(scene.estimator, "costs", None) is None
    return "RegionsDisplay" if straight and plain_costs else "DecisionsDisplay"


def _words(scene: Scene, title: str, display: Any, why: str) -> Words:
    shares = _shares(display)
    names = [plain(label) for label in scene.classes]
    order = np.argsort(-shares, kind="stable")
    told = [f"{names[k]} on {shares[k]:.0%}" for k in order if shares[k] > 0]
    nowhere = [names[k] for k in range(len(names)) if shares[k] == 0]
    said = f"{title}. The class said in the plane: {several(told, 'classes')} of the picture"
    said += f"; nowhere {several(nowhere, 'classes')}." if nowhere else "."
    held = display.note.replace("\n", "; ").replace(r"\$", "$")
    said += f" Drawn {held}." if held else ""
    table, cut = class_table("regions", display.rows)
    heads = (*table.columns, "share of the plane")
    cells = [(*row, float(share)) for row, share in zip(table.rows, shares, strict=False)]
    table = cut_table("regions", table.title, heads, cells)[0]
    note = " ".join(filter(None, [why, cut]))
    return Words(f"{said} {class_places(display.rows)}", table, note)


def _shares(display: Any) -> Float:
    """The part of the picture in which each class is said."""
    K = len(display.rows.classes)
    if hasattr(display, "grid"):
        labels = display.grid.labels.ravel()
        return np.asarray(np.bincount(labels, minlength=K) / labels.size)
    width, height = display.box[1] - display.box[0]
    return np.array([_area(corners) / (width * height) for corners in display.regions])


def _area(corners: Float) -> float:
    """Of a polygon, by the shoelace formula; corners less the first, which are small numbers."""
    if len(corners) < 3:
        return 0.0
    x, y = (corners - corners[0]).T
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2)
