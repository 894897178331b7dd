"""What of the rows that it was learned from a model holds, and with it its file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.printing import counted
from sortal.summaries.bayes import BayesSummary
from sortal.summaries.kept_rows import KeptRows
from sortal.tasks.inspecting.findings import FEW
from sortal.tasks.reporting.saying import some_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Counts = NDArray[np.int64]


def held(estimator: Any) -> str:
    """Values of categories, of which rare ones can tell of people, and rows; or that none are."""
    counts, model = _counts(estimator), estimator._model
    columns = [one for one in estimator._schema.columns if one.values]
    values = [
        f"{counted(len(one.values), 'value')} of {one.name!r}{_rare(counts.get(one.name))}"
        for one in columns
    ]
    parts = [some_of(values)] if values else []
    if getattr(model, "joint", None) is not None:
        parts.append(f"{counted(len(model.joint.codes), 'combination')} of values")
    if hasattr(model, "ids") and np.size(getattr(model, "basis", model.ids)):
        parts.append(f"{counted(len(model.ids), 'row')} of the table")
    return "; ".join(parts) or "class labels and numbers only"


def _rare(counts: Counts | None) -> str:
    """How many values few rows have, where the model knows it."""
    n = 0 if counts is None else int(np.count_nonzero(counts < FEW))
    return f" ({n:,} of them in fewer than {FEW} rows)" if n else ""


def _counts(estimator: Any) -> dict[str, Counts]:
    """How many rows have each value, by column; nothing where it is not known.

    A tree keeps the values alone. The counts of Bayes are rows where every row weighs one.
    """
    summary, columns = getattr(estimator, "_summary", None), estimator._schema.columns
    if isinstance(summary, BayesSummary):
        is_rows = summary.exponent == 0 and int(summary.classes.units.sum()) == summary.rows.rows
        names = [columns[j].name for j in estimator._model.categories]
        tables = summary.values.tables if is_rows else ()
        return {name: table.sum(axis=1) for name, table in zip(names, tables, strict=False)}
    if isinstance(summary, KeptRows):
        names = [columns[j].name for j in estimator._model.named]
        codes = summary.codes.T
        return {
            name: np.unique(c[c >= 0], return_counts=True)[1]
            for name, c in zip(names, codes, strict=True)
        }
    return {}
