"""Pictures of nearest neighbors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sortal.views.lettering import number_text
from sortal.views.pictures.regions import add_regions
from sortal.views.pictures.scene import Plan, Scene, Words
from sortal.views.pictures.words import cut_table, several

if TYPE_CHECKING:
    from sortal.models.records import Cell
    from sortal.views.pictures.scene import Pictures

# Pairs of rows, times columns, that are compared for a curve which the fit does not have already.
_MOST_COMPARED = 4e9

_CURVE = "Leave-one-out error by number of neighbors"


def pictures(estimator: Any, X: Any, y: Any, *, rows: bool = False) -> Pictures:
    """Regions over two columns, and the errors of rows left out."""
    scene = Scene("neighbors", estimator, X, y, rows=rows)
    if estimator.metric_ == "hamming":
        scene.leave_out(
            "Decision regions", "the distance asks only whether values are equal, not how near."
        )
    else:
        add_regions(scene)
    _add_curve(scene)
    return scene.pictures()


def _add_curve(scene: Scene) -> None:
    """The curve by which k was chosen, or that of the other numbers that could be."""
    chosen = hasattr(scene.estimator, "loo_curve_")
    n = float(scene.table.n_rows)
    if not chosen and n * n * len(scene.fitted) > _MOST_COMPARED:
        scene.leave_out(
            _CURVE,
            f"for {n:,.0f} rows it takes long; displays.LooCurveDisplay.from_estimator(model, X, "
            "y) draws it.",
        )
        return
    plan = Plan("LooCurveDisplay", with_rows=not chosen)
    scene.plan("loo", _CURVE, plan, lambda shown: _words(scene.estimator, shown, chosen=chosen))


def _words(estimator: Any, display: Any, *, chosen: bool) -> Words:
    told = []
    for name, (k, error) in display.curves.items():
        best = int(error.argmin())
        told.append(f"{name} votes least at k = {k[best]} ({number_text(error[best])} wrong)")
    said = f"{_CURVE}: {several(told, 'weightings')}."
    used = f"k = {estimator.n_neighbors_} with {estimator.weights_} votes"
    said += f" The model has {used}."
    heads = ["k", *(f"error, {name} votes" for name in display.curves)]
    ks = sorted(set(display.k.tolist()))
    by = {
        name: dict(zip(k.tolist(), e.tolist(), strict=True))
        for name, (k, e) in display.curves.items()
    }
    cells: list[tuple[Cell, ...]] = [(k, *(by[name].get(k) for name in by)) for k in ks]
    table, cut = cut_table("loo", "Errors of rows left out", heads, cells, "S 79")
    how = (
        "Each row was asked of the others; the setting of least error was chosen."
        if chosen
        else "Each row was asked of the others. The model was given its number of neighbors; "
        "n_neighbors='loo' would choose it by this curve."
    )
    return Words(said, table, " ".join(filter(None, [how, cut])))
