"""Labels: y as an array, a series, or the name of a column of X."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from sklearn.exceptions import DataConversionWarning

from sortal.data.arrays import ArrayTable
from sortal.data.frames import FrameTable
from sortal.data.table import Table, read_frame
from sortal.errors import ColumnError, LabelError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.data.values import Values


@dataclass(frozen=True)
class Target:
    """The labels as a table of one column, and the type in which predictions go out."""

    table: Table
    dtype: np.dtype[Any]


def split_target(X: Any, y: Any, owner: str) -> tuple[Any, Any]:
    """X and y, where y may be the name of a column of X."""
    if y is None:
        raise LabelError(
            f"This {owner} estimator requires y to be passed, but the target y is None: give the "
            "labels, or the name of the column of X that holds them."
        )
    if not isinstance(y, str):
        return X, y
    frame = read_frame(X)
    if frame is None:
        raise ColumnError(
            f"y={y!r} names a column, and X is a {type(X).__name__} without column names: give a "
            "data frame, or the labels themselves."
        )
    if y not in frame.columns:
        names = ", ".join(map(repr, frame.columns))
        raise ColumnError(f"y={y!r} is no column of this table: it has {names}.")
    return frame.drop(y).to_native(), frame.get_column(y).to_native()


def read_target(y: Any, n_rows: int) -> Target:
    """Checked labels, one a row."""
    series = nw.from_native(y, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        target = _from_series(series)
    else:
        labels = _one_dimensional(y)
        target = Target(ArrayTable(labels[:, None], ("y",)), labels.dtype)
    if target.table.n_rows != n_rows:
        raise LabelError(
            f"Found input variables with inconsistent numbers of samples: X has {n_rows} rows and "
            f"y has {target.table.n_rows} labels. Give one label a row."
        )
    return target


def _from_series(series: nw.Series[Any]) -> Target:
    if series.dtype.is_float():
        return read_target(series.to_numpy(), len(series))
    if series.dtype in (nw.Date, nw.Datetime, nw.Duration):
        raise LabelError("y holds dates or times, which are no labels: convert them to strings.")
    renamed = series.alias("y")
    kind = np.dtype(np.int64) if series.dtype.is_integer() else np.dtype(object)
    if series.dtype == nw.Boolean:
        kind = np.dtype(bool)
    return Target(FrameTable(renamed.to_frame()), kind)


def _one_dimensional(y: Any) -> NDArray[Any]:
    try:
        labels = np.asarray(y)
    except ValueError as error:
        raise LabelError(f"y cannot be read ({error}): give one label a row.") from None
    if labels.ndim == 2 and labels.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of "
            "y to (n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=2,
        )
        labels = labels.ravel()
    if labels.ndim != 1:
        raise LabelError(f"y should be a 1d array, got an array of shape {labels.shape} instead.")
    if labels.dtype.kind == "f":
        _refuse_measurements(labels)
    elif labels.dtype.kind not in "iubUO":
        raise LabelError(
            f"Unknown label type: {labels.dtype}. Labels are words, whole numbers or truth values."
        )
    return labels


def _refuse_measurements(labels: NDArray[Any]) -> None:
    if np.isnan(labels).any():
        raise LabelError(
            "Input y contains NaN: every row needs a label. Drop the rows without one."
        )
    if np.isinf(labels).any():
        raise LabelError(
            "Input y contains infinity or a value too large for dtype('float64'). "
            "Labels are words, whole numbers or truth values."
        )
    if (labels != np.floor(labels)).any():
        raise LabelError(
            "Unknown label type: continuous. Labels are words, whole numbers or truth values; "
            "for a number to be predicted, cut it into classes first."
        )


def common_dtype(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """The type for labels that came in two types."""
    return np.result_type(a, b) if a.kind == b.kind else np.dtype(object)


def class_array(classes: Values, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The classes as an array of the labels' own type (words as wide as needed)."""
    if dtype.kind == "U":
        return np.array(classes, dtype=str)
    return np.array(classes, dtype=dtype)
