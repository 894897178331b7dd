"""A schema as a field of a layout, and types of labels."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from sortal.data.schema import ColumnSchema, Kind, Schema
from sortal.errors import FormatError
from sortal.models.plain import readable, to_plain, values_in, writable

if TYPE_CHECKING:
    from sortal.data.values import Values
    from sortal.models.scope import Scope

KINDS: tuple[str, ...] = get_args(Kind)

# Truth values, whole numbers, numbers, words of so many characters, or anything.
LABEL_TYPE = re.compile(r"\|b1|\|O|[<|][iu][1248]|<f[248]|<U[0-9]{1,9}")
_COLUMN = {"name", "kind", "values", "order"}


def schema_out(schema: Schema) -> dict[str, Any]:
    """A schema as JSON."""
    return {
        "columns": [_column_out(column) for column in schema.columns],
        "classes": _values_out(schema.classes),
    }


def _column_out(column: ColumnSchema) -> dict[str, Any]:
    return {
        "name": writable(column.name),
        "kind": column.kind,
        "values": _values_out(column.values),
        "order": _values_out(column.order),
    }


def _values_out(values: Any) -> list[Any]:
    return [writable(v) if isinstance(v, str) else to_plain(v) for v in values]


def schema_in(data: Any) -> Schema:
    """A schema from JSON, checked."""
    holds = isinstance(data, dict) and set(data) == {"columns", "classes"}
    if not holds or not isinstance(data["columns"], list) or not data["columns"]:
        raise FormatError("The file has no schema, or one without columns: damaged?")
    columns = tuple(_column_in(column) for column in data["columns"])
    if len({column.name for column in columns}) != len(columns):
        raise FormatError("Two columns of the schema have one name: damaged?")
    return Schema(columns, values_in(data["classes"]))


def _column_in(data: Any) -> ColumnSchema:
    if not isinstance(data, dict) or set(data) != _COLUMN or data["kind"] not in KINDS:
        raise FormatError("A column of the schema has no name, kind, values and order: damaged?")
    order = values_in(data["order"], ordered=False)
    rest = values_in(data["values"], ordered=False)
    if rest[: len(order)] != order:
        raise FormatError("The values of an ordered column do not begin with its order: damaged?")
    values_in(list(rest[len(order) :]))
    if data["kind"] != "category" and (rest or order):
        raise FormatError("A column that is no category has values: damaged?")
    return ColumnSchema(readable(data["name"]), data["kind"], rest, order)


@dataclass(frozen=True)
class SchemaField:
    """Another schema than that of the model."""

    def write(self, value: Any, scope: Scope) -> dict[str, Any]:  # noqa: ARG002
        """An object."""
        return schema_out(value)

    def read(self, data: Any, scope: Scope) -> Schema:
        """Checked: of as many columns as the model's."""
        schema = schema_in(data)
        scope.need(len(schema.columns) == len(scope.schema.columns), "has other columns")
        return schema


@dataclass(frozen=True)
class LabelType:
    """The type in which labels came, as NumPy writes it: "<U9", "<i8", "|b1", "|O"."""

    def write(self, value: Any, scope: Scope) -> str:  # noqa: ARG002
        """NumPy's name for it; what has none of those above goes as objects."""
        name = str(np.dtype(value).newbyteorder("<").str)
        return name if LABEL_TYPE.fullmatch(name) else "|O"

    def read(self, data: Any, scope: Scope) -> np.dtype[Any]:
        """Checked."""
        known = isinstance(data, str) and LABEL_TYPE.fullmatch(data) is not None
        scope.need(known, "is no type of labels")
        dtype: np.dtype[Any] = np.dtype(data).newbyteorder("=")
        return dtype


@dataclass(frozen=True)
class ValuesField:
    """Values of a category, in order."""

    def write(self, value: Any, scope: Scope) -> list[Any]:  # noqa: ARG002
        """A list."""
        return _values_out(value)

    def read(self, data: Any, scope: Scope) -> Values:  # noqa: ARG002
        """Checked."""
        return values_in(data)
