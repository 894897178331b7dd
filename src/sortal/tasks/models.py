"""A model, given as a fitted estimator or as a model file, and rows for it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sortal.data.files.plain_files import check_path
from sortal.errors import FormatError, OptionError
from sortal.models.archive import read_archive
from sortal.tasks.load import load
from sortal.tasks.tables import open_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sortal.data.schema import ColumnSchema
    from sortal.data.values import Value, Values
    from sortal.tasks.tables import Opened


# A number as one writes it; 01234 is a word.
_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")


def as_model(model: Any, data: Any = None) -> Any:
    """The fitted estimator; `data` is what comes after it."""
    if hasattr(model, "predict"):
        return model
    check_path(Path(model))
    try:
        return load(model)
    except FormatError:
        if isinstance(data, str | os.PathLike) and _is_model_file(data):
            raise OptionError(
                f"{str(model)!r} is not a model file, and {str(data)!r} is: give the model first, "
                "then the data."
            ) from None
        raise


def _is_model_file(path: str | os.PathLike[str]) -> bool:
    try:
        read_archive(path)
    except (FormatError, OSError):
        return False
    return True


def open_for(estimator: Any, data: Any, reading: Mapping[str, Any]) -> Opened:
    """New rows. Of a file, the columns that the model knows are read as what they are to it.

    Else other rows of a file would decide what a cell is: digits in all of them would make numbers
    of words, and one odd word would make words of truth values, or of numbers.
    """
    if not isinstance(data, str | os.PathLike):
        return open_table(data)
    columns, named = _columns(estimator), reading.get("text") or ()
    opened = open_table(data, **reading, known={c.name: c.kind for c in columns})
    for column in columns:
        name, values = column.name, column.values
        strange = column.kind == "category" and not all(isinstance(v, str) for v in values)
        if strange and name in opened.frame.columns and name not in named:
            opened.frame[name] = as_fitted(opened.frame[name], values)
    return opened


def as_fitted(cells: Any, values: Values) -> Any:
    """Text as the truth values and numbers that it stands for, where these were fitted."""
    meant: dict[Any, Value] = {value: value for value in values}
    meant |= {str(value).lower(): value for value in values if isinstance(value, bool)}

    def read(cell: Any) -> Any:
        if not isinstance(cell, str):
            return None
        if cell.lower() in ("true", "false"):
            return meant.get(cell.lower(), cell)
        return meant.get(float(cell), cell) if _NUMBER.fullmatch(cell) else cell

    return type(cells)([read(cell) for cell in cells], index=cells.index, dtype=object)


def _columns(estimator: Any) -> tuple[ColumnSchema, ...]:
    schema = getattr(estimator, "_schema", None)
    return () if schema is None else schema.columns
