"""The columns of a table: declared at a fit, and matched to those of the fit later."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from sortal.data.columns import union
from sortal.data.schema import Schema
from sortal.data.sources import DataTable, read_frame
from sortal.errors import ColumnError, InputError, ParameterError, brief, counted, listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sortal._typing import CategoricalFeatures
    from sortal.data.schema import ColumnSchema, Kind


# Which columns of a table are used, and as what: `categorical_features`, names and positions.


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
