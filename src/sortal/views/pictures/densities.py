"""Classes along one column or one direction: histograms and normal curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.views.lettering import number_text, shown
from sortal.views.pictures.scene import Plan, Words
from sortal.views.pictures.words import cut_table, plain, several

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal.models.records import Cell
    from sortal.views.pictures.scene import Scene
    from sortal.views.pictures.telling import Telling

# So many columns have a panel.
MOST_COLUMNS = 6


def add_columns(scene: Scene, columns: Sequence[Telling]) -> None:
    """Densities of columns of numbers, the most telling first."""
    told = list(columns[:MOST_COLUMNS])
    if not told:
        scene.leave_out("Densities of columns", "the model has no column of numbers that varies.")
        return
    plans = [Plan("DensitiesDisplay", {"feature": scene.feature(one.place)}) for one in told]
    more = len(columns) - len(told)
    note = "Columns stand in the order of the share of their variance that lies between classes."
    note = note if len(told) > 1 else ""
    note += (
        f" The {len(told)} largest of {len(columns)} are drawn; for another one, "
        "displays.DensitiesDisplay.from_estimator(model, X, y, feature=...)."
        if more
        else ""
    )
    names = [f"{plain(one.name)} ({one.share:.0%} of its variance between classes)" for one in told]
    title = "Columns of numbers by class" if len(told) > 1 else f"{plain(told[0].name)} by class"
    scene.add_panels(
        "densities", title, plans, lambda displays: _words(title, names, displays, note.strip())
    )


def add_directions(scene: Scene, n_directions: int) -> None:
    """Densities along the first two fitted directions."""
    ordinals = ["first", "second"][:n_directions]
    plans = [
        Plan("DensitiesDisplay", {"component": i, "title": f"Along the {nth} direction"})
        for i, nth in enumerate(ordinals)
    ]
    title = "Classes along the fitted direction" + ("s" if len(plans) > 1 else "")
    names = [f"the {nth} direction" for nth in ordinals]
    scene.add_panels("along", title, plans, lambda displays: _words(title, names, displays, ""))


def _words(title: str, names: Sequence[str], displays: Sequence[Any], note: str) -> Words:
    said = [f"{title}: a histogram and a normal curve for each class."]
    rows: list[tuple[Cell, ...]] = []
    for name, display in zip(names, displays, strict=True):
        classes = [plain(label) for label in display.rows.classes]
        middles = [
            f"{label} around {number_text(mean)}"
            for label, mean in zip(classes, display.means, strict=True)
            if np.isfinite(mean)
        ]
        cut = display.threshold
        point = "" if cut is None else f"; the separating point is {number_text(cut)}"
        said.append(f"{name[0].upper()}{name[1:]}: {several(middles, 'classes')}{point}.")
        rows += _cells(display)
    heads = ("along", "class", "rows", "mean", "deviation of the curve")
    table, cut_note = cut_table("densities", "Means and deviations", heads, rows)
    return Words(" ".join(said), table, " ".join(filter(None, [note, cut_note])))


def _cells(display: Any) -> list[tuple[Cell, ...]]:
    along = shown(display.rows.names[0], 60).replace(r"\$", "$")
    spread = np.sqrt(display.variances)
    numbers = zip(display.means.tolist(), spread.tolist(), strict=True)
    counts = display.rows.counts.tolist()
    return [
        (along, str(label), n, *(None if np.isnan(x) else x for x in pair))
        for label, n, pair in zip(display.rows.classes, counts, numbers, strict=True)
    ]
