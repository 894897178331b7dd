"""The schema: which columns a table has, of which kind, with which values; and its classes.

A schema is itself a mergeable summary. What is in it does not depend on the order of blocks:
values are the sorted union (an ordered category keeps the order its type declares).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from sortal.data.columns import Values, as_numbers, recode_columns, sort_values, union
from sortal.errors import ColumnError, counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sortal._typing import Codes, Float, Places
    from sortal.data.sources import Batch


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

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """Which columns are numbers."""
        return tuple(j for j, column in enumerate(self.columns) if column.is_number)

    @cached_property
    def categories(self) -> tuple[int, ...]:
        """Which columns are categories."""
        return tuple(j for j, column in enumerate(self.columns) if not column.is_number)

    def joined(self, values: Mapping[int, Values], classes: Values) -> Schema:
        """The schema with the values of categories, and the classes, that rows have."""
        columns = list(self.columns)
        for j, seen in values.items():
            if seen and not columns[j].is_number:
                columns[j] = columns[j].merge(ColumnSchema(columns[j].name, "category", seen))
        return Schema(tuple(columns), union(self.classes, classes)[0])

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


# Design: the columns of a schema as columns of a matrix, which linear methods calculate with.
# A number stays a number; a category becomes one indicator for each of its values (all levels), 1
# in the rows that have the value and 0 in the others. One column of the matrix is called a term.


@dataclass(frozen=True)
class Design:
    """The terms of a schema. Compiled loops take numbers first, then categories; people read the
    terms in the order of the table's columns: `loop_order` has the place of each among the former.
    """

    schema: Schema

    @property
    def numbers(self) -> tuple[int, ...]:
        """Which columns are numbers."""
        return self.schema.numbers

    @property
    def categories(self) -> tuple[int, ...]:
        """Which columns are categories."""
        return self.schema.categories

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many terms each column has."""
        columns = self.schema.columns
        return tuple(1 if column.is_number else len(column.values) for column in columns)

    @cached_property
    def owner(self) -> Places:
        """The column of each term."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @cached_property
    def loop_order(self) -> Places:
        """The place of each term among the loops' terms: array[..., loop_order] is for people."""
        in_loops = np.array([*self.numbers, *self.categories], dtype=np.intp)
        start = np.zeros(len(self.sizes), dtype=np.intp)
        start[in_loops] = np.cumsum([0, *(self.sizes[j] for j in in_loops)])[:-1]
        parts = [np.arange(start[j], start[j] + size) for j, size in enumerate(self.sizes)]
        return np.concatenate(parts).astype(np.intp) if parts else np.empty(0, dtype=np.intp)

    @cached_property
    def fewer_terms(self) -> Places:
        """Terms from which the others follow: the indicators of a category add up to 1."""
        last = np.cumsum(self.sizes, dtype=np.intp)[list(self.categories)] - 1
        return np.setdiff1d(np.arange(self.n_terms), last)

    @property
    def n_terms(self) -> int:
        """How many terms there are."""
        return sum(self.sizes)

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """Names of the terms: the column's, or column=value."""
        names: list[str] = []
        for column in self.schema.columns:
            levels = [f"{column.name}={value}" for value in column.values]
            names += [column.name] if column.is_number else levels
        return tuple(names)

    def number_arrays(self, batch: Batch) -> list[Float]:
        """The number columns of a block."""
        return [as_numbers(batch.columns[j]) for j in self.numbers]

    def code_arrays(self, batch: Batch) -> Codes:
        """The category columns of a block, as ranks in the schema's values."""
        columns = [batch.columns[j] for j in self.categories]
        listed = [self.schema.columns[j].values for j in self.categories]
        return recode_columns(columns, listed, batch.n_rows)
