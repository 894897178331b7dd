"""The rows that a model is learned from: opened, checked, without what shall be left out."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from sortal.data.printing import agreed, counted
from sortal.errors import LabelError, MissingValueWarning, OptionError, warn
from sortal.estimators.target import looks_measured
from sortal.tasks.naming import check_columns
from sortal.tasks.registry import find
from sortal.tasks.tables import open_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from sortal.data.files.reader import FileTable


@dataclass(frozen=True)
class Rows:
    """Columns to learn from and labels; and these columns of all rows, labeled or not.

    `places` are those of the labeled rows among all, from 0.
    """

    X: Any
    y: Any
    all_rows: Any
    file: FileTable | None
    places: NDArray[np.intp]


def training_rows(
    data: Any,
    target: str,
    drop: Sequence[str],
    categories: Sequence[str],
    reading: Mapping[str, Any],
) -> Rows:
    """The rows of a table by its target; a row without a label is left out, and said."""
    opened = open_table(data, **reading)
    frame = nw.from_native(opened.frame, eager_only=True)
    check_columns([target], frame.columns, "target")
    check_columns(drop, frame.columns, "drop")
    check_columns(categories, frame.columns, "category")
    if target in drop:
        raise OptionError(f"drop={target!r} is the target itself: drop other columns only.")
    X, y = frame.drop([*dict.fromkeys([target, *drop])]), frame.get_column(target)
    known = ~is_hole(y)
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
        labels = labels.cast(nw.Int64)  # whole numbers, which holes had made fractions
    if _looks_measured(labels):
        if target not in categories:
            raise _measured(labels, target)
        if labels.implementation.is_pandas_like():
            labels = labels.cast(nw.Categorical)  # its numbers are names, as was said
    places = np.flatnonzero(known.to_numpy())
    return Rows(learned.to_native(), labels.to_native(), X.to_native(), opened.file, places)


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
        f"categories=[{target!r}] (--category {shlex.quote(target)})."
    )


def is_hole(series: nw.Series[Any]) -> nw.Series[Any]:
    """Which values are missing, also as the number that is none."""
    holes = series.is_null()
    return holes | series.is_nan() if series.dtype.is_float() else holes


def make_estimator(
    learner: str, options: Mapping[str, Any] | None, categories: Sequence[str]
) -> Any:
    """An estimator of a registered learner, not fitted."""
    given = dict(options or {})
    if categories:
        if "categorical_features" in given:
            raise OptionError(
                "Both categories and the option 'categorical_features' are given: give one of "
                "the two."
            )
        given["categorical_features"] = list(categories)
    return find(learner).make(**given)
