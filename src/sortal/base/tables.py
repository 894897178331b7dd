"""What users give: y as an array, a series or the name of a column; the columns of X, and which."""

from __future__ import annotations

import numbers
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from sklearn.exceptions import DataConversionWarning

from sortal.data.columns import Schema, as_categories, union
from sortal.data.sources import AS_TEXT, DataTable, read_frame, read_labels, refuse_measurements
from sortal.data.table import ArrayTable, FrameTable, objects_of, plain_array, read_values
from sortal.errors import (
    ColumnError,
    InputError,
    LabelError,
    ManyClassesWarning,
    ParameterError,
    brief,
    counted,
    listed,
    warn,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import CategoricalFeatures, Codes, LabelsLike, Places
    from sortal.data.columns import ColumnSchema, Kind, Values


# --- Labels --------------------------------------------------------------------------------------


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


# --- Columns: declared at a fit, and matched to those of the fit later ---------------------------


def declare_schema(table: DataTable, categorical_features: CategoricalFeatures) -> Schema:
    """The columns of a table before its rows are read: names, kinds, declared values."""
    columns = [table.column_schema(j) for j in range(len(table.names))]
    for j in _chosen(categorical_features, table):
        if columns[j].kind == "date":
            raise ParameterError(
                f"categorical_features names {columns[j].name!r}, which holds dates: convert the "
                "column to strings to use it as a category."
            )
        if columns[j].kind == "number":
            columns[j] = replace(columns[j], kind="category")
    return Schema(tuple(columns))


def adopt_kinds(schema: Schema, declared: Schema) -> Schema:
    """A schema whose columns without any value so far take the kind a new table declares."""
    pairs = zip(schema.columns, declared.columns, strict=True)
    columns = tuple(new if old.kind == "empty" else old for old, new in pairs)
    return Schema(columns, schema.classes)


def merge_declared(declared: Schema, met: Schema) -> Schema:
    """What a later block declares joins what was declared before; kinds do not change."""
    columns = []
    for old, new in zip(declared.columns, met.columns, strict=True):
        mergeable = "empty" in (old.kind, new.kind) or old.kind == new.kind
        columns.append(old.merge(replace(new, name=old.name)) if mergeable else old)
    return Schema(tuple(columns), union(declared.classes, met.classes)[0])


def _chosen(given: CategoricalFeatures, table: DataTable) -> list[int]:
    """The columns that the user declares to be categories."""
    n = len(table.names)
    if given is None or (isinstance(given, str) and given == "from_dtype"):
        return []
    if isinstance(given, str):
        if given != "all":
            raise _unreadable(given)
        return list(range(n))
    try:
        listed = np.asarray(given)
    except ValueError:  # lists of different lengths
        raise _unreadable(given) from None
    if listed.ndim != 1:
        raise _unreadable(given)
    if listed.size == 0:
        return []
    if listed.dtype.kind == "b":
        return _from_mask(listed, n)
    if listed.dtype.kind in "iu":
        return [_position(int(j), n) for j in listed]
    if all(isinstance(name, str) for name in listed.tolist()):
        return [_named(str(name), table) for name in listed.tolist()]
    raise _unreadable(given)


def _from_mask(mask: np.ndarray[Any, Any], n: int) -> list[int]:
    if len(mask) != n:
        raise ParameterError(
            f"categorical_features is a mask of length {len(mask)}, and the table has "
            f"{counted(n, 'column')}."
        )
    return [int(j) for j in np.flatnonzero(mask)]


def _position(j: int, n: int) -> int:
    if not -n <= j < n:
        raise ParameterError(
            f"categorical_features names column {j}, and the table has {counted(n, 'column')}."
        )
    return j % n


def _named(name: str, table: DataTable) -> int:
    if name not in table.names:
        raise ParameterError(
            f"categorical_features names {name!r}, which is no column of this table: "
            f"it has {listed(table.names)}."
        )
    return table.names.index(name)


def _unreadable(given: object) -> ParameterError:
    return ParameterError(
        f"categorical_features={brief(given)} cannot be read: give 'from_dtype', 'all', None, a "
        "mask, a list of positions or a list of names."
    )


def match_columns(table: DataTable, schema: Schema, by_name: bool, owner: str) -> tuple[int, ...]:
    """Where each column of a fitted schema stands in a table; a missing one is an error."""
    if not (by_name and table.has_names):
        if len(table.names) != len(schema.columns):
            raise InputError(
                f"X has {len(table.names)} features, but {owner} is expecting "
                f"{len(schema.columns)} features as input."
            )
        return tuple(range(len(schema.columns)))
    place = {name: j for j, name in enumerate(table.names)}
    absent = [name for name in schema.names if name not in place]
    if absent:
        raise _lacks(owner, absent, table.names)
    return tuple(place[name] for name in schema.names)


def _lacks(owner: str, absent: Sequence[str], names: Sequence[str]) -> ColumnError:
    return ColumnError(
        f"{owner} was fitted with the columns {listed(absent)}, which this table lacks: it has "
        f"{listed(names)}."
    )


def add_unused(X: Any, schema: Schema, unused: Mapping[int, Any], owner: str) -> Any:
    """A data frame with the columns that it lacks and a model does not use.

    All cells of such a column are the value in `unused`, or missing where the fit had none, too.
    """
    frame = read_frame(X)
    if frame is None or not frame.columns:
        return X
    names = tuple(str(name) for name in frame.columns)
    lacking = {j: column for j, column in enumerate(schema.columns) if column.name not in names}
    if absent := [c.name for j, c in lacking.items() if j not in unused and c.kind != "empty"]:
        raise _lacks(owner, absent, names)
    added = [
        nw.lit(_EPOCH if column.kind == "date" else unused.get(j)).alias(column.name)
        for j, column in lacking.items()
    ]
    return frame.with_columns(*added).to_native() if added else X


_EPOCH = datetime(1970, 1, 1)  # from which days are counted


def check_kinds(table: DataTable, schema: Schema, places: tuple[int, ...]) -> None:
    """Words where numbers were fitted, or the reverse, are an error, not a surprise."""
    for column, j in zip(schema.columns, places, strict=True):
        given = table.column_schema(j).kind
        if not _agree(column, given) and not _is_all_missing(table, j, given):
            example = f" (such as {column.values[0]!r})" if column.values else ""
            raise ColumnError(
                f"Column {column.name!r} was fitted with {_CONTENTS[column.kind]}{example}, and "
                f"now holds {_CONTENTS[given]}: convert it to what was fitted, or fit again."
            )


_CONTENTS = {"number": "numbers", "date": "dates", "category": "words or truth values"}


def _agree(column: ColumnSchema, given: Kind) -> bool:
    if "empty" in (column.kind, given):
        return True
    if column.is_number:
        return given == column.kind
    words = bool(column.values) and all(isinstance(value, str) for value in column.values)
    return given == "category" or not words


def _is_all_missing(table: DataTable, j: int, kind: Kind) -> bool:
    """An empty column says nothing, whatever type its library gives it."""
    read = table.categories if kind == "category" else table.numbers
    return bool(read(j, 0, table.n_rows).missing().all())


def refuse_empty(table: DataTable) -> None:
    """One column and one row at least."""
    if len(table.names) == 0:
        raise InputError(
            f"Found array with 0 feature(s) (shape=({table.n_rows}, 0)) while a minimum of 1 is "
            "required: the table has no columns."
        )
    if table.n_rows == 0:
        raise InputError(
            f"Found array with 0 sample(s) (shape=(0, {len(table.names)})) while a minimum of 1 is "
            "required: the table has no rows."
        )
