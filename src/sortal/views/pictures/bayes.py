"""Pictures of discrete Bayes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.views.evidence import information, tables_of
from sortal.views.lettering import number_text
from sortal.views.pictures.densities import add_columns
from sortal.views.pictures.scene import Plan, Scene, Words
from sortal.views.pictures.words import cut_table, plain, several

if TYPE_CHECKING:
    from sortal.models.records import Cell
    from sortal.views.pictures.scene import Pictures

# So many category columns have a picture.
MOST_CATEGORIES = 3


def pictures(estimator: Any, X: Any, y: Any, *, rows: bool = False) -> Pictures:
    """Densities of columns of numbers, and what values of categories say."""
    scene = Scene("bayes", estimator, X, y, rows=rows)
    numbers = _number_names(estimator)
    columns = [one for one in scene.numbers if scene.names[one.place] in numbers]
    if columns:
        add_columns(scene, columns)
    _add_evidence(scene)
    return scene.pictures()


def _number_names(estimator: Any) -> set[str]:
    """Columns that enter by a normal density: those that vary."""
    tables = {table.name: table for table in estimator.working()}
    if "gaussians" not in tables:
        return set()
    found = tables["gaussians"]
    pairs = zip(found.column("column"), found.column("note"), strict=True)
    return {str(name) for name, note in pairs if not note}


def _add_evidence(scene: Scene) -> None:
    tables = tables_of(scene.estimator)
    bits = {name: information(own["shares"], own["priors"]) for name, own in tables.items()}
    order = sorted(bits, key=lambda name: -bits[name])
    for i, name in enumerate(order[:MOST_CATEGORIES]):
        title = f"What {plain(name)} says of the class"
        note = f"A value is expected to tell {number_text(bits[name])} bits of the class."
        if i == 0 and len(order) > MOST_CATEGORIES:
            note += (
                f" The {MOST_CATEGORIES} most telling of {len(order)} columns of words are drawn; "
                "for another one, displays.EvidenceDisplay.from_estimator(model, feature=...)."
            )
        plan = Plan("EvidenceDisplay", {"feature": name}, with_rows=False)
        scene.add(
            f"evidence-{i + 1}", title, plan, lambda shown, t=title, n=note: _words(t, n, shown)
        )


def _words(title: str, note: str, display: Any) -> Words:
    K = len(display.classes)
    told = []
    for k, label in enumerate(display.classes):
        v = int(np.argmax(display.bits[:, k]))
        strength = number_text(float(display.bits[v, k]))
        told.append(f"{plain(label)} most by {plain(display.values[v])} ({strength} bits)")
    said = (
        f"{title}: bits of evidence of each value, for a class and against all others; one bit "
        f"doubles the odds. Most is said for {several(told, 'classes')}."
    )
    rows: list[tuple[Cell, ...]] = [
        (
            str(value),
            str(display.classes[k]),
            float(display.shares[v, k]),
            float(display.bits[v, k]),
        )
        for v, value in enumerate(display.values)
        for k in range(K)
    ]
    heads = (display.name, "class", "P(value | class)", "bits of evidence")
    table, cut = cut_table("evidence", title, heads, rows)
    n = len(display.values)
    left = "" if len(display.ax_.get_yticks()) == n else "max_values=... draws more values."
    return Words(said, table, " ".join(filter(None, [note, left, cut])))
