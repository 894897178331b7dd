"""Labels: y as an array, a series, or the name of a column of X."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from sklearn.exceptions import DataConversionWarning

from sortal.data.columns import as_categories, union
from sortal.data.schema import Schema
from sortal.data.sources import AS_TEXT, DataTable, read_frame, read_labels, refuse_measurements
from sortal.data.table import ArrayTable, FrameTable, objects_of, plain_array, read_values
from sortal.errors import ColumnError, LabelError, ManyClassesWarning, counted, listed, warn

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import Codes, LabelsLike, Places
    from sortal.data.columns import Values


@dataclass(frozen=True)
class Target:
    """The labels as a table of one column, and the type in which predictions go out."""

    table: DataTable
    dtype: np.dtype[Any]


def split_target(X: Any, y: Any, owner: str | None = None) -> tuple[Any, Any]:
    """X and y, where y may be the name of a column of X; an estimator cannot do without y."""
    if y is None and owner is not None:
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
        names = listed([str(name) for name in frame.columns])
        raise ColumnError(f"y={y!r} is no column of this table: it has {names}.")
    return frame.drop(y).to_native(), frame.get_column(y).to_native()


def read_target(y: LabelsLike, n_rows: int) -> Target:
    """Checked labels, one a row."""
    series = nw.from_native(y, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        target = _from_series(series)
    else:
        labels = _one_dimensional(y)
        dtype = _dtype_of(labels.tolist()) if labels.dtype == object else labels.dtype
        target = Target(ArrayTable(labels[:, None], ("y",)), dtype)
    if target.table.n_rows != n_rows:
        raise LabelError(
            f"Found input variables with inconsistent numbers of samples: X has "
            f"{counted(n_rows, 'row')} and y has {counted(target.table.n_rows, 'label')}. Give one "
            "label a row."
        )
    return target


def _from_series(series: nw.Series[Any]) -> Target:
    if series.dtype.is_float():
        return read_target(series.to_numpy(), len(series))
    if series.dtype in (nw.Date, nw.Datetime, nw.Duration):
        raise LabelError(
            f"y holds dates or times, which are no labels: convert them to strings, or {AS_TEXT}."
        )
    return Target(FrameTable(series.alias("y").to_frame()), _label_dtype(series))


def _label_dtype(series: nw.Series[Any]) -> np.dtype[Any]:
    """NumPy's type for the labels of a series; of a categorical one, that of its categories."""
    dtype = series.dtype
    if dtype in (nw.Categorical, nw.Enum):
        if not series.implementation.is_pandas_like():
            return _dtype_of(series.unique().to_list())
        categories = series.to_native().dtype.categories.to_series()
        return _label_dtype(nw.from_native(categories, series_only=True))
    if dtype == nw.Boolean:
        return np.dtype(bool)
    if dtype.is_float() or (dtype.is_integer() and dtype not in (nw.Int128, nw.UInt128)):
        return np.dtype(str(dtype).lower())
    return np.dtype(object) if dtype == nw.String else _dtype_of(series.to_list())


def _dtype_of(labels: list[Any]) -> np.dtype[Any]:
    """The type of numbers or truth values that came as objects; words stay objects."""
    kinds = set(map(type, labels))
    if {kind.__name__ for kind in kinds} & {"Interval", "Period"}:
        raise LabelError(
            "y holds intervals or periods of pandas, which are no labels: convert them to strings, "
            "y.astype(str), or give pandas.cut labels of your own."
        )
    plain = all(issubclass(kind, numbers.Real | np.bool_) for kind in kinds)
    return np.array(labels).dtype if plain else np.dtype(object)


def _one_dimensional(y: LabelsLike) -> NDArray[Any]:
    try:
        labels = plain_array(np.asanyarray(y))
    except ValueError as error:
        raise LabelError(f"y cannot be read ({error}): give one label a row.") from None
    words = labels.ndim == 1 and labels.dtype.kind == "U"
    if words and isinstance(y, list | tuple) and not all(isinstance(label, str) for label in y):
        labels = objects_of(y)  # among words, NumPy would make the word "nan" of a missing value
    if labels.ndim == 2 and labels.shape[1] == 1:
        warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of "
            "y to (n_samples,), for example using ravel().",
            DataConversionWarning,
        )
        labels = labels.ravel()
    if labels.ndim != 1:
        got = f"an array of shape {labels.shape}" if labels.ndim else f"the type {type(y).__name__}"
        raise LabelError(
            f"y should be a 1d array, got {got} instead: give one label a row (of a sparse matrix "
            "y.toarray().ravel())."
        )
    if labels.dtype.kind == "f":
        _check_numbers(labels)
    elif labels.dtype.kind not in "iubUO":
        raise LabelError(
            f"Unknown label type: {labels.dtype}. Labels are words, whole numbers or truth values."
        )
    return labels


def _check_numbers(labels: NDArray[Any]) -> None:
    if np.isnan(labels).any():
        raise LabelError(
            f"Input y contains NaN, first in row {int(np.isnan(labels).argmax())}: every row needs "
            "a label. Drop the rows without one."
        )
    if np.isinf(labels).any():
        raise LabelError(
            "Input y contains infinity or a value too large for dtype('float64'). "
            "Labels are words, whole numbers or truth values."
        )
    refuse_measurements(tuple(labels[labels != np.floor(labels)][:1].tolist()))


def looks_measured(n_classes: int, n_rows: int) -> bool:
    """Whether numbers as labels are too many, and each too rare, to be names of classes."""
    return n_classes > 20 and n_rows < 10 * n_classes


def warn_of_measurements(target: DataTable | None, n_classes: int) -> None:
    """Numbers that look measured become classes, but not in silence; a categorical type says so."""
    if target is None or target.column_schema(0).kind != "number":
        return
    if looks_measured(n_classes, target.n_rows):
        warn(
            f"y has {n_classes:,} distinct numbers in {target.n_rows:,} rows, fewer than 10 rows "
            "each on average: they look like a measurement, and each becomes a class. Cut them "
            "into classes first; if they are names of classes, give them as text or as a "
            "categorical type.",
            ManyClassesWarning,
        )


def labels_of(target: DataTable) -> Values:
    """The labels that rows have (a type may declare others)."""
    return read_labels(target).values


def common_dtype(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """The type for labels that came in two types."""
    alike = a.kind == b.kind or {a.kind, b.kind} <= set("iuf")
    return np.result_type(a, b) if alike else np.dtype(object)


def read_truth(y: LabelsLike, classes: Values, n_rows: int) -> Codes:
    """Labels as places among the classes; negative for one that is none of them."""
    labels = read_labels(read_target(y, n_rows).table)
    words = [any(isinstance(label, str) for label in some) for some in (labels.values, classes)]
    if len(set(words)) == 2 and not set(labels.values) & set(classes):
        raise LabelError(
            f"y holds {labels.values[0]!r}, and the classes of the fit are {listed(classes)}: give "
            "labels of the same type as to fit."
        )
    return labels.recode({label: k for k, label in enumerate(classes)})


def read_codes(
    y: LabelsLike, n_rows: int, classes: ArrayLike | None = None
) -> tuple[Places, Values]:
    """Labels as places in the classes: those given, or those that occur. Others are refused."""
    labels = read_labels(read_target(y, n_rows).table)
    given = labels.values if classes is None else np.asarray(classes, dtype=object).tolist()
    known = tuple(value for value in read_values(given, "classes") if value is not None)
    codes = labels.recode({value: k for k, value in enumerate(known)})
    if odd := [value for value in labels.values if value not in known]:
        raise LabelError(
            f"The labels {listed(odd)} are none of the classes {listed(known)}: keep rows of these "
            "classes only."
        )
    return codes.astype(np.intp), known


def class_array(classes: Values, dtype: np.dtype[Any]) -> NDArray[Any]:
    """The classes as an array of the labels' own type (words as wide as needed)."""
    words = dtype.kind == "U" and all(isinstance(label, str) for label in classes)
    try:
        array = np.array(classes, dtype=str if words else dtype)
    except (OverflowError, TypeError, ValueError):
        array = np.array([])
    faithful = array.tolist() == list(classes)
    return array if faithful else np.fromiter(classes, dtype=object, count=len(classes))


def with_classes(
    declared: Schema, dtype: np.dtype[Any], given: ArrayLike | None
) -> tuple[Schema, np.dtype[Any]]:
    """Classes that are known before their first row comes, and the type for them and y's."""
    if given is None:
        return declared, dtype
    labels = np.asarray(given)
    target = read_target(labels, len(labels) if labels.ndim else 0)
    known = as_categories(target.table.categories(0, 0, target.table.n_rows))
    if (known.codes < 0).any():
        raise LabelError(f"classes={given!r} holds a missing label: name real classes only.")
    joined = Schema(declared.columns, union(declared.classes, known.values)[0])
    return joined, common_dtype(dtype, target.dtype)
