"""Fit a learner, by its name, to a file or a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sortal.estimators.keeping import DataFile
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
    150 rows; holes: none
    5 nodes, 3 of them leaves; depth 2
    """
    estimator = make_estimator(learner, options, features_among(categories, target))
    rows = training_rows(data, target, drop, categories, reading)
    estimator.fit(rows.X, rows.y)
    remember_file(estimator, rows.file)
    return estimator


def remember_file(estimator: Any, file: FileTable | None) -> None:
    """The file that the rows came from, for the model file to name."""
    if file is not None:
        estimator._file = DataFile(file.name, file.n_bytes, file.sha256)
