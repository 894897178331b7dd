"""A model, given as a fitted estimator or as a model file, and rows for it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from sortal.errors import ColumnError
from sortal.tasks.load import load
from sortal.tasks.tables import open_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sortal.tasks.tables import Opened


def as_model(model: Any) -> Any:
    """The fitted estimator."""
    return model if hasattr(model, "predict") else load(model)


def open_for(estimator: Any, data: Any, reading: Mapping[str, Any]) -> Opened:
    """New rows; columns of a file that the model knows as words are read as words.

    Else a new file in which such a column happens to hold nothing but digits would not fit.
    """
    if not isinstance(data, str | os.PathLike):
        return open_table(data)
    text = tuple(reading.get("text", ()))
    words = tuple(name for name in word_columns(estimator) if name not in text)
    if words and data != "-":
        try:
            return open_table(data, **{**reading, "text": text + words})
        except ColumnError:  # one of them is missing, which the estimator tells better
            pass
    return open_table(data, **reading)


def word_columns(estimator: Any) -> list[str]:
    """Columns whose values were words, all of them, when the model was learned."""
    schema = getattr(estimator, "_schema", None)
    columns = () if schema is None else schema.columns
    return [c.name for c in columns if c.values and all(isinstance(v, str) for v in c.values)]
