"""A model, given as a fitted estimator or as a model file, and rows for it."""

from __future__ import annotations

from typing import Any

from sortal.errors import ColumnError
from sortal.tasks.load import load
from sortal.tasks.tables import open_table


def as_model(model: Any) -> Any:
    """The fitted estimator."""
    return model if hasattr(model, "predict") else load(model)


def open_for(estimator: Any, data: Any, reading: dict[str, Any]) -> Any:
    """The frame of new rows; a file's columns that the model knows as words are read as words.

    Else a new file in which such a column happens to hold nothing but digits would not fit.
    """
    if hasattr(data, "columns"):  # a frame is as it is
        return open_table(data).frame
    words = [name for name in word_columns(estimator) if name not in reading.get("text", ())]
    if words and data != "-":
        try:
            text = [*reading.get("text", ()), *words]
            return open_table(data, **{**reading, "text": text}).frame
        except ColumnError:  # a column is missing, which the estimator tells better
            pass
    return open_table(data, **reading).frame


def word_columns(estimator: Any) -> list[str]:
    """Columns whose values were words, all of them, when the model was learned."""
    schema = getattr(estimator, "_schema", None)
    columns = () if schema is None else schema.columns
    return [c.name for c in columns if c.values and all(isinstance(v, str) for v in c.values)]
