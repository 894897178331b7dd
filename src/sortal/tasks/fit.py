"""Fit a learner, by its name, to a file or a frame."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from sortal.base.save import DataFile, FitCall
from sortal.base.tables import looks_measured
from sortal.errors import LabelError, MissingValueWarning, ParameterError, agreed, counted, warn
from sortal.tasks.registry import check_columns, features_among, find
from sortal.tasks.tables import open_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from sortal._typing import Places
    from sortal.tasks.registry import SomeClassifier
    from sortal.tasks.tables import DataLike, FileTable, ReadOptions


# --- The rows that a model is learned from: opened, checked, without dropped columns -------------


@dataclass(frozen=True)
class TrainingRows:
    """Columns to learn from and labels; and these columns of all rows, labeled or not.

    `places` are those of the labeled rows among all, from 0.
    """

    X: Any
    y: Any
    all_rows: Any
    file: FileTable | None
    places: Places


def training_rows(
    data: DataLike,
    target: str,
    drop: Sequence[str],
    categorical_features: Sequence[str],
    reading: ReadOptions,
) -> TrainingRows:
    """The rows of a table by its target; a row without a label is left out, and said."""
    opened = open_table(data, **reading)
    frame = nw.from_native(opened.frame, eager_only=True)
    check_columns([target], frame.columns, "target")
    check_columns(drop, frame.columns, "drop")
    check_columns(categorical_features, frame.columns, "categorical_features")
    if target in drop:
        raise ParameterError(f"drop={target!r} is the target itself: drop other columns only.")
    X, y = frame.drop([*dict.fromkeys([target, *drop])]), frame.get_column(target)
    known = ~is_missing(y)
    kept = known.sum()
    if kept == 0:
        raise LabelError(f"The target {target!r} has no value in any row: name another column.")
    if kept < len(y):
        n = len(y) - kept
        warn(
            f"{n} of {counted(len(y), 'row')} {agreed(n, 'has', 'have')} no {target!r} and "
            f"{agreed(n, 'is', 'are')} left out.",
            MissingValueWarning,
        )
    learned, labels = (X, y) if kept == len(y) else (X.filter(known), y.filter(known))
    if opened.file is not None and labels.dtype.is_float() and (labels == labels.round()).all():
        labels = labels.cast(nw.Int64)  # whole numbers, which missing values had made fractions
    if _looks_measured(labels):
        if target not in categorical_features:
            raise _measured(labels, target)
        if labels.implementation.is_pandas_like():
            labels = labels.cast(nw.Categorical)  # its numbers are names, as was said
    places = np.flatnonzero(known.to_numpy())
    return TrainingRows(learned.to_native(), labels.to_native(), X.to_native(), opened.file, places)


def _looks_measured(labels: nw.Series[Any]) -> bool:
    """Whether whole numbers are no names of classes; those with a fraction are refused anyway."""
    whole = labels.dtype.is_integer() or (
        labels.dtype.is_float() and bool((labels == labels.round()).all())
    )
    return whole and looks_measured(labels.n_unique(), len(labels))


def _measured(labels: nw.Series[Any], target: str) -> LabelError:
    return LabelError(
        f"The target {target!r} has {labels.n_unique():,} distinct numbers in {len(labels):,} "
        "rows, fewer than 10 rows each on average: it looks like a measurement, not like classes. "
        "Choose another target or, if its numbers are names of classes, give "
        f"categorical_features=[{target!r}] (--categorical {shlex.quote(target)})."
    )


def is_missing(series: nw.Series[Any]) -> nw.Series[Any]:
    """Which values are missing, also as the number that is none."""
    missing = series.is_null()
    return missing | series.is_nan() if series.dtype.is_float() else missing


def make_estimator(
    learner: str, options: Mapping[str, Any] | None, categorical_features: Sequence[str]
) -> SomeClassifier:
    """An estimator of a registered learner, not fitted."""
    given = dict(options or {})
    if categorical_features:
        if "categorical_features" in given:
            raise ParameterError(
                "categorical_features is given twice, by name and among the options: give one of "
                "the two."
            )
        given["categorical_features"] = list(categorical_features)
    return find(learner).make(**given)


def fit(
    data: DataLike,
    target: str,
    learner: str = "tree",
    options: Mapping[str, Any] | None = None,
    *,
    drop: Sequence[str] = (),
    categorical_features: Sequence[str] = (),
    **reading: Unpack[ReadOptions],
) -> SomeClassifier:
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
    categorical_features : names, default=()
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
    estimator = make_estimator(learner, options, features_among(categorical_features, target))
    rows = training_rows(data, target, drop, categorical_features, reading)
    estimator.fit(rows.X, rows.y)
    remember_call(estimator, target, drop, rows.file)
    return estimator


def remember_call(
    estimator: SomeClassifier, target: str, drop: Sequence[str], file: FileTable | None
) -> None:
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
        raise ParameterError(
            f"SOURCE_DATE_EPOCH={epoch!r} is no time: it is a whole number, the seconds since "
            "1970-01-01. Set it so, or take it out of the environment."
        ) from None
    return moment.date().isoformat()
