"""The schema: which columns a table has, of which kind, with which values; and its classes.

A schema is itself a mergeable summary. What is in it does not depend on the order of blocks:
values are the sorted union (an ordered category keeps the order its type declares).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from sortal.data.printing import counted
from sortal.data.values import Values, sort_values, union
from sortal.errors import ColumnError

Kind = Literal["number", "date", "category", "empty"]


@dataclass(frozen=True)
class ColumnSchema:
    """A column: its name, its kind and, for categories, its values.

    `order` lists the values whose order the column's type declares, () where it declares none;
    `values` are then these, followed by the sorted rest.

    Kinds: `number`; `date`, a number of days since 1970-01-01; `category`; `empty`, a column
    without any value, which agrees with every other kind.
    """

    name: str
    kind: Kind
    values: Values = ()
    order: Values = ()

    @property
    def ordered(self) -> bool:
        """Whether the column's type declares an order."""
        return bool(self.order)

    @property
    def is_number(self) -> bool:
        """Whether rows are read as float64."""
        return self.kind in ("number", "date")

    def merge(self, other: ColumnSchema) -> ColumnSchema:
        """The column of both."""
        if self.name != other.name:
            raise ColumnError(
                f"Columns {self.name!r} and {other.name!r} cannot be merged: "
                "blocks of one table have the same columns in the same order."
            )
        if "empty" in (self.kind, other.kind):
            return other if self.kind == "empty" else self
        if self.kind != other.kind:
            raise ColumnError(
                f"Column {self.name!r} is a {self.kind} in one block and a {other.kind} in "
                "another: convert it to one kind first."
            )
        return self._merge_values(other)

    def _merge_values(self, other: ColumnSchema) -> ColumnSchema:
        if self.ordered and other.ordered and self.order != other.order:
            raise ColumnError(
                f"Column {self.name!r} is an ordered category with the values {self.order!r} in "
                f"one block and {other.order!r} in another: give both the same declared order."
            )
        order = self.order or other.order
        listed = set(order)
        rest = sort_values(v for v in (*self.values, *other.values) if v not in listed)
        return replace(self, values=order + rest, order=order)


@dataclass(frozen=True)
class Schema:
    """The columns of a table, in order, and its classes."""

    columns: tuple[ColumnSchema, ...]
    classes: Values = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    def merge(self, other: Schema) -> Schema:
        """The schema of both tables' rows."""
        if len(self.columns) != len(other.columns):
            raise ColumnError(
                f"A table of {counted(len(self.columns), 'column')} and one of "
                f"{counted(len(other.columns), 'column')} cannot be merged: blocks of one table "
                "have the same columns."
            )
        columns = (a.merge(b) for a, b in zip(self.columns, other.columns, strict=True))
        return Schema(tuple(columns), union(self.classes, other.classes)[0])
