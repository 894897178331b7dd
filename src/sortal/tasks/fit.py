"""Fit a learner, by its name, to a file or a frame."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from sortal.base.save import DataFile, FitCall
from sortal.base.tables import looks_measured
from sortal.decision.options import whole_number
from sortal.errors import (
    DataWarning,
    LabelError,
    ParameterError,
    agreed,
    counted,
    listed,
    warn,
)
from sortal.tasks.inspection import unused_columns
from sortal.tasks.registry import check_columns, features_among, find, option
from sortal.tasks.tables import open_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Unpack

    from numpy.typing import NDArray

    from sortal._typing import Places
    from sortal.tasks.registry import SomeClassifier
    from sortal.tasks.tables import DataLike, FileTable, ReadOptions


# --- The rows that a model is learned from: opened, checked, without dropped columns -------------


@dataclass(frozen=True)
class TrainingRows:
    """Columns to learn from and labels; and these columns of all rows, labeled or not.

    `places` are those of the labeled rows among all, from 0. `order` are the groups of the labeled
    rows, or their moments, where a column was named for that. `dropped` are all columns that are
    not learned from, and `notes` say in sentences what was left out or joined.
    """

    X: Any
    y: Any
    all_rows: Any
    file: FileTable | None
    places: Places
    order: NDArray[Any] | None = None
    dropped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def warn(self) -> None:
        """Warn of what was left out or joined."""
        for words in self.notes:
            warn(words, DataWarning)


def training_rows(
    data: DataLike,
    target: str,
    reading: ReadOptions | None = None,
    *,
    drop: Sequence[str] = (),
    use: Sequence[str] = (),
    categorical_features: Sequence[str] = (),
    min_class_rows: int = 5,
    merge_rare: str | None = None,
    drop_rare: bool = False,
    groups: str | None = None,
    time: str | None = None,
) -> TrainingRows:
    """The rows of a table by its target, without the columns that are not to be learned from."""
    opened = open_table(data, **(reading or {}))
    frame = nw.from_native(opened.frame, eager_only=True)
    named = {"drop": drop, "use": use, "categorical_features": categorical_features}
    apart = {"groups": groups, "time": time}
    named |= {what: [name] for what, name in apart.items() if name is not None}
    for what, names in {"target": [target], **named}.items():
        check_columns(names, frame.columns, what)
        if what not in {"categorical_features", "target"} and target in names:
            raise ParameterError(
                f"{what}={target!r} is the target itself: name other columns only."
            )
    orders = [name for name in apart.values() if name is not None]
    if len(orders) == 2:
        raise ParameterError("groups and time were both given: give one of the two.")
    own = {str(name): name for name in frame.columns}  # a name need not be text
    unused = unused_columns(opened.frame, str(target), [*drop, *orders], use)
    unused = {own[name]: why for name, why in unused.items()}
    dropped = tuple(dict.fromkeys([*drop, *orders, *unused]))
    notes = [_unused_words(unused)] if unused else []
    X, y = frame.drop([target, *dropped]), frame.get_column(target)
    labels, kept, more = _labels(y, target, opened.file is not None, categorical_features)
    if merge_rare is not None or drop_rare:
        labels, also, words = _without_rare(labels, min_class_rows, merge_rare, drop_rare)
        kept, more = kept[also], [*more, *words]
    learned = X if len(kept) == len(y) else X[kept]
    order = frame.get_column(orders[0]).to_numpy()[kept] if orders else None
    return TrainingRows(
        learned.to_native(), labels.to_native(), X.to_native(), opened.file, kept, order, dropped,
        (*more, *notes),
    )  # fmt: skip


def _unused_words(unused: Mapping[str, str]) -> str:
    """Which columns were left out, and how to have them back."""
    told = ", ".join(f"{name!r} ({why})" for name, why in unused.items())
    back = " ".join(option("--use", str(name)) for name in unused)
    return f"Not learned from: {told}. To learn from {agreed(len(unused), 'it', 'them')}: {back}."


def _labels(
    y: nw.Series[Any], target: str, from_file: bool, categorical_features: Sequence[str]
) -> tuple[nw.Series[Any], Places, list[str]]:
    """The labels that there are, their places, and what is to be said of the others."""
    known = ~is_missing(y)
    places, notes = np.flatnonzero(known.to_numpy()), []
    if len(places) == 0:
        raise LabelError(f"The target {target!r} has no value in any row: name another column.")
    if len(places) < len(y):
        n = len(y) - len(places)
        notes.append(
            f"{n} of {counted(len(y), 'row')} {agreed(n, 'has', 'have')} no {target!r} and "
            f"{agreed(n, 'is', 'are')} left out."
        )
    labels = y if len(places) == len(y) else y.filter(known)
    if from_file and labels.dtype.is_float() and (labels == labels.round()).all():
        labels = labels.cast(nw.Int64)  # whole numbers, which missing values had made fractions
    if _looks_measured(labels):
        if target not in categorical_features:
            raise _measured(labels, target)
        if labels.implementation.is_pandas_like():
            labels = labels.cast(nw.Categorical)  # its numbers are names, as was said
    return labels, places, notes


def _without_rare(
    labels: nw.Series[Any], least: int, name: str | None, drop: bool
) -> tuple[nw.Series[Any], Places, list[str]]:
    """Labels whose rare classes are joined or left out, which rows stay, and words for it."""
    whole_number("min_class_rows", least, 1)
    if name is not None and drop:
        raise ParameterError("merge_rare and drop_rare were both given: give one of the two.")
    values = labels.to_list()
    rare = [label for label, n in Counter(values).items() if n < least]
    if not rare:
        return labels, np.arange(len(values)), []
    few = agreed(len(rare), "It has", "They have")
    what = f"{agreed(len(rare), 'Class', 'Classes')} {listed(rare)} of the target"
    if drop:
        places = np.flatnonzero([label not in rare for label in values])
        words = f"{what}: rows left out. {few} fewer than {least} rows."
        return labels[places], places, [words]
    joined = [name if label in rare else str(label) for label in values]
    words = f"{what}: joined into {name!r}. {few} fewer than {least} rows."
    made = nw.new_series(labels.name, joined, nw.String, backend=labels.implementation)
    return made, np.arange(len(values)), [words]


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
    use: Sequence[str] = (),
    categorical_features: Sequence[str] = (),
    min_class_rows: int = 5,
    merge_rare: str | None = None,
    drop_rare: bool = False,
    **reading: Unpack[ReadOptions],
) -> SomeClassifier:
    """Learn to predict a column.

    Columns that look like identifiers, free text or a leak of the target are left out, with a
    warning.

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
    use : names, default=()
        Columns to learn from whatever they look like.
    categorical_features : names, default=()
        Columns of numbers that are names rather than amounts; also the target, where it has very
        many.
    min_class_rows : int of at least 1, default=5
        Classes of fewer rows are rare.
    merge_rare : str, default=None
        Join the rare classes into one of this name.
    drop_rare : bool, default=False
        Leave out the rows of rare classes.
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
    rows = training_rows(
        data, target, reading, drop=drop, use=use, categorical_features=categorical_features,
        min_class_rows=min_class_rows, merge_rare=merge_rare, drop_rare=drop_rare,
    )  # fmt: skip
    rows.warn()
    estimator.fit(rows.X, rows.y)
    remember_call(estimator, target, rows.dropped, rows.file)
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
