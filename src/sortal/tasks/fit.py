"""Fit a learner, by its name, to a file or a frame."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from sortal.errors import OptionError
from sortal.estimators.keeping import DataFile, FitCall
from sortal.tasks.naming import features_among
from sortal.tasks.training import make_estimator, training_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sortal.data.files.reader import FileTable


def fit(
    data: Any,
    target: str,
    learner: str = "tree",
    options: Mapping[str, Any] | None = None,
    *,
    drop: Sequence[str] = (),
    categories: Sequence[str] = (),
    **reading: Any,
) -> Any:
    """Learn to predict a column.

    Parameters
    ----------
    data : path, "-" or data frame
        A CSV, Parquet or JSON-lines file, standard input, or a table.
    target : str
        The column to predict. Rows without a value there are left out, with a warning.
    learner : str, default="tree"
        The name of a registered learner.
    options : dict, default=None
        Options of its estimator.
    drop : names, default=()
        Columns to leave out.
    categories : names, default=()
        Columns of numbers that are names rather than amounts; also the target, where it has very
        many.
    reading :
        For a file, options of `sortal.read`.

    Returns
    -------
    The fitted estimator.

    Examples
    --------
    >>> from sortal import datasets
    >>> from sortal.tasks.fit import fit
    >>> model = fit(datasets.iris(), "species", "tree", {"max_depth": 2, "pruning": None})
    >>> print(model.fit_report_)
    150 rows; missing values: none
    5 nodes, 3 of them leaves; depth 2
    """
    estimator = make_estimator(learner, options, features_among(categories, target))
    rows = training_rows(data, target, drop, categories, reading)
    estimator.fit(rows.X, rows.y)
    remember_call(estimator, target, drop, rows.file)
    return estimator


def remember_call(estimator: Any, target: str, drop: Sequence[str], file: FileTable | None) -> None:
    """How the fit was called for, and how its file was read, for later files to be read alike."""
    written = None if file is None else _written(file)
    dropped = tuple(dict.fromkeys(drop))
    estimator._fit_call = FitCall(target, dropped, _today(), version("sortal"), written)


def _written(file: FileTable) -> DataFile:
    return DataFile(
        file.name,
        file.n_bytes,
        file.sha256,
        file.format,
        file.dialect.get("delimiter"),
        file.dialect.get("decimal"),
        file.na_values,
    )


def _today() -> str:
    """The day in UTC; that of SOURCE_DATE_EPOCH, where a file shall have the same bytes again."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        moment = datetime.now(UTC) if epoch is None else datetime.fromtimestamp(int(epoch), UTC)
    except (ValueError, OverflowError, OSError):
        raise OptionError(
            f"SOURCE_DATE_EPOCH={epoch!r} is no time: it is a whole number, the seconds since "
            "1970-01-01. Set it so, or take it out of the environment."
        ) from None
    return moment.date().isoformat()
