"""The neighbors of rows that were said wrong, where rows may be shown."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from sortal.errors import SortalWarning
from sortal.models.records import Table

if TYPE_CHECKING:
    from sortal.models.records import Cell
    from sortal.tasks.reporting.errors_met import ErrorsMet
    from sortal.tasks.training import Rows

# So many rows, and so many neighbors of each.
_ROWS, _NEIGHBORS = 5, 5


def with_neighbors(errors: ErrorsMet | None, estimator: Any, rows: Rows) -> ErrorsMet | None:
    """Errors with the nearest other rows of the first of them; as they are without neighbors."""
    if errors is None or not errors.places or not hasattr(estimator, "kneighbors"):
        return errors
    at = np.array(errors.places[:_ROWS])
    frame = nw.from_native(rows.X, eager_only=True)
    labels = nw.from_native(rows.y, series_only=True).to_list()
    depth = min(_NEIGHBORS, int(estimator.n_neighbors_))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SortalWarning)  # of holes, which the report tells already
        distances, ids = estimator.kneighbors(frame[at].to_native(), n_neighbors=depth + 1)
    cells: list[tuple[Cell, ...]] = []
    for i, place in enumerate(at.tolist()):
        # the model knows the row itself by now, which says nothing of why it was said wrong
        others = [j for j in range(depth + 1) if ids[i, j] not in (place, -1)][:depth]
        for j in others:
            near = int(ids[i, j])
            told = (int(rows.places[place]) + 1, labels[place], int(rows.places[near]) + 1)
            cells.append((*told, labels[near], float(distances[i, j])))
    heads = ("row", "true", "neighbor", "its class", "distance")
    title = f"The nearest rows of these, up to {depth} each"
    return replace(errors, near=Table("near", title, heads, tuple(cells), "", _backend(frame)))


def _backend(frame: nw.DataFrame[Any]) -> str:
    return str(frame.implementation)
