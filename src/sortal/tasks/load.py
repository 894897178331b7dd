"""Loading: a fitted estimator from its model file, and rows read as its fit read them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

from sortal.base.save import restore
from sortal.data.files.cells import Written
from sortal.data.files.open import check_path
from sortal.errors import FormatError, ParameterError, ReadingWarning, SortalError, listed, warn
from sortal.modelfile.archive import read_archive
from sortal.tasks.registry import estimator_named
from sortal.tasks.tables import OpenedTable, open_table, read_file

if TYPE_CHECKING:
    import pandas as pd

    from sortal.base.save import DataFile
    from sortal.data.columns import ColumnSchema, Value, Values
    from sortal.tasks.registry import FittedClassifier, SomeClassifier
    from sortal.tasks.tables import DataLike, FileTable, ReadOptions

    ModelLike: TypeAlias = FittedClassifier | str | os.PathLike[str]


def load(path: str | os.PathLike[str]) -> SomeClassifier:
    """The fitted estimator that `save` wrote into a model file.

    The file is data: nothing in it is executed, and the class that it names is looked up among the
    registered learners, never imported by that name. The estimator does all that it did before:
    predict, explain, show its working, and, where it could, be fitted further.

    Parameters
    ----------
    path : str or path

    Returns
    -------
    A fitted estimator.

    Raises
    ------
    FormatError
        The file is no model file, is damaged, of another version, or of an unknown estimator.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sortal import TreeClassifier, datasets
    >>> from sortal.tasks.load import load
    >>> iris = datasets.iris()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "iris.sortal"
    ...     TreeClassifier().fit(iris, "species").save(path)
    ...     model = load(path)
    >>> model.predict(iris[:1]).tolist()
    ['setosa']
    """
    parts = read_archive(path)
    name = parts.manifest.get("estimator")
    if not isinstance(name, str):
        raise FormatError("The manifest names no estimator: damaged?")
    try:
        cls = estimator_named(name)
    except (SortalError, LookupError) as error:
        raise FormatError(
            f"The model is of an estimator that is not known here: {str(error)[:300]}"
        ) from None
    if not hasattr(cls, "save"):
        raise FormatError(f"{name} does not say how it is kept in a model file.")
    return cast("SomeClassifier", restore(cls, parts))


# --- A model, given as a fitted estimator or as a model file, and rows for it --------------------


# A number as one writes it; 01234 is a word.
_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")


def as_model(model: ModelLike, data: object = None) -> SomeClassifier:
    """The fitted estimator; `data` is what comes after it."""
    if hasattr(model, "predict"):
        return cast("SomeClassifier", model)
    check_path(Path(model))
    try:
        return load(model)
    except FormatError:
        if isinstance(data, str | os.PathLike) and _is_model_file(data):
            raise ParameterError(
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


def open_for(
    estimator: FittedClassifier,
    data: DataLike,
    reading: ReadOptions,
) -> OpenedTable:
    """New rows. A file is read as that of the fit was, unless an option says otherwise.

    Columns that the model knows are read as what they are to it. Else other rows of a file would
    decide what a cell is: digits in all of them would make numbers of words, and one odd word would
    make words of truth values, or of numbers.
    """
    if not isinstance(data, str | os.PathLike):
        return open_table(data)
    columns, named = _columns(estimator), reading.get("text") or ()
    kept = _file_of_fit(estimator)
    like = None if kept is None else Written(kept.delimiter, kept.decimal, kept.na_values)
    file = read_file(data, **reading, known={c.name: c.kind for c in columns}, like=like)
    if kept is not None:
        _warn_unlike(kept, file, reading)
    for column in columns:
        name, values = column.name, column.values
        strange = column.kind == "category" and not all(isinstance(v, str) for v in values)
        if strange and name in file.frame.columns and name not in named:
            file.frame[name] = as_fitted(file.frame[name], values)
    return OpenedTable(file.frame, file)


def _file_of_fit(estimator: FittedClassifier) -> DataFile | None:
    call = getattr(estimator, "_fit_call", None)
    return None if call is None else call.file


def _warn_unlike(kept: DataFile, file: FileTable, reading: ReadOptions) -> None:
    """Say how a file is read otherwise than that of the fit; its delimiter only if it was given.

    Parquet and JSON lines have neither delimiter nor decimal mark, nor have numbers without one.
    """
    signs = {"decimal mark": (kept.decimal, file.dialect.get("decimal"))}
    if reading.get("delimiter") is not None:
        signs["delimiter"] = (kept.delimiter, file.dialect.get("delimiter"))
    told = [
        f"{name} {new!r} instead of {old!r}"
        for name, (old, new) in signs.items()
        if None not in (old, new) and old != new
    ]
    if set(kept.na_values) != set(file.na_values):
        words = [listed(values) or "none" for values in (file.na_values, kept.na_values)]
        told.append(f"na_values (--na-values) {words[0]} instead of {words[1]}")
    if told:
        warn(
            f"{file.name} is read otherwise than {kept.name}, the file of the fit: "
            f"{'; '.join(told)}. Make sure that the new file is written so.",
            ReadingWarning,
        )


def as_fitted(cells: pd.Series, values: Values) -> pd.Series:
    """Text as the truth values and numbers that it stands for, where these were fitted."""
    meant: dict[Value, Value] = {value: value for value in values}
    meant |= {str(value).lower(): value for value in values if isinstance(value, bool)}

    def read(cell: object) -> object:
        if not isinstance(cell, str):
            return None
        if cell.lower() in ("true", "false"):
            return meant.get(cell.lower(), cell)
        return meant.get(float(cell), cell) if _NUMBER.fullmatch(cell) else cell

    return type(cells)([read(cell) for cell in cells], index=cells.index, dtype=object)


def _columns(estimator: FittedClassifier) -> tuple[ColumnSchema, ...]:
    schema = getattr(estimator, "_schema", None)
    return () if schema is None else schema.columns
