"""Pictures of kernel discriminants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sortal.views.lettering import number_text
from sortal.views.pictures.coarse import CELLS
from sortal.views.pictures.densities import add_directions
from sortal.views.pictures.regions import add_regions
from sortal.views.pictures.scene import Plan, Scene, Words
from sortal.views.pictures.words import class_places, class_table, cut_table, plain, several

if TYPE_CHECKING:
    from sortal.models.records import Cell
    from sortal.views.pictures.scene import Pictures

# Lines of the grid between which curves are drawn; where rows may not be seen, as many as cells.
_RESOLUTION = 120

_COARSE = (
    f"Curves are drawn between the crossings of {CELLS} × {CELLS} lines: finer ones might tell "
    "where single rows lie."
)


def pictures(estimator: Any, X: Any, y: Any, *, rows: bool = False) -> Pictures:
    """Classes along the directions; curves of constant projection and regions over two columns.

    A narrow kernel has a hill at every row of its basis: without `rows`, curves and boundaries pass
    between the lines of a grid.
    """
    scene = Scene("kernel", estimator, X, y, rows=rows)
    if estimator.kernel_.name == "precomputed":
        scene.leave_out(
            "Contours", "rows of a precomputed kernel have no columns to draw them over."
        )
        return scene.pictures()
    n = int(estimator.dual_coef_.shape[1])
    if n == 0:
        scene.leave_out("Projections", "the classes have one mean, and no direction parts them.")
        return scene.pictures()
    add_directions(scene, min(n, 2))
    if rows:
        _add_projection(scene)
    _add_contours(scene, n)
    add_regions(scene)
    return scene.pictures()


def _add_projection(scene: Scene) -> None:
    title = "Rows along the direction that parts the classes best"
    plan = Plan("KernelProjectionDisplay", points=True)
    scene.plan("projection", title, plan, lambda display: _projected(title, display))


def _projected(title: str, display: Any) -> Words:
    classes = [plain(label) for label in display.rows.classes]
    middles = [f"{c} around {number_text(m)}" for c, m in zip(classes, display.means, strict=True)]
    said = f"{title}: {several(middles, 'classes')}; J = {number_text(display.J)}"
    point = display.threshold
    said += "." if point is None else f", and the separating point is {number_text(point)}."
    cells: list[tuple[Cell, ...]] = [
        (str(label), int(n), float(m), float(s))
        for label, n, m, s in zip(
            display.rows.classes, display.rows.counts, display.means, display.scatters, strict=True
        )
    ]
    heads = ("class", "rows", "projected mean", "projected scatter")
    table, cut = cut_table("projection", "Projected classes", heads, cells, "ZM 20.16")
    return Words(said, table, cut)


def _add_contours(scene: Scene, n_directions: int) -> None:
    """Curves over the two most telling columns, of the first direction."""
    chosen = scene.numbers[:2]
    if len(chosen) < 2:
        scene.leave_out(
            "Contours",
            f"a plane needs two columns of numbers, and the model has {len(scene.numbers)}.",
        )
        return
    names = " and ".join(plain(one.name) for one in chosen)
    which = "projection" if n_directions == 1 else "first projection"
    title = f"Curves of constant {which} over {names}"
    options: dict[str, Any] = {
        "features": [scene.feature(one.place) for one in chosen],
        "resolution": _RESOLUTION if scene.rows else CELLS,
    }
    plan = Plan("KernelContoursDisplay", options, points=True)
    coarse = "" if scene.rows else _COARSE
    scene.plan("contours", title, plan, lambda display: _contours(title, display, coarse))


def _contours(title: str, display: Any, note: str) -> Words:
    low, high = float(display.values.min()), float(display.values.max())
    said = f"{title}: it goes from {number_text(low)} to {number_text(high)} in the picture"
    step = f", a curve every {number_text(display.levels[1] - display.levels[0])}"
    said += f"{step if len(display.levels) > 1 else ''}."
    held = display.note.replace("\n", "; ").replace(r"\$", "$")
    said += f" Drawn {held}." if held else ""
    table, cut = class_table("contours", display.rows)
    said = f"{said} {class_places(display.rows)}"
    return Words(said, table, " ".join(filter(None, [note, cut])))
