"""Layouts: a record says once which numbers and arrays it holds, and is written and read by that.

A record is a frozen dataclass with a class variable `LAYOUT`, which has a field of this module for
each of the dataclass's:

    LAYOUT: ClassVar[Layout] = Layout(
        schema=FromSchema("schema"),
        prior=Array("f8", "classes", least=0.0),
        mean=Array("f8", "classes", "terms"),
        tried=Maybe(Whole(least=0)),
    )

Lengths have names. `columns`, `classes`, `terms`, `numbers` and `categories` are those of the
schema; any other is what the first array says, and the same throughout the record. "nodes+1" is one
more than `nodes`. A nested record has lengths of its own, except those that are passed to it.

Reading follows the layout, never the file: what a file says beyond it, or otherwise, is a
FormatError. A record that has a method `check` is asked, when it has been read, whether it makes
sense.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from sortal.data.design import Design
from sortal.data.printing import counted
from sortal.models.plain import from_plain, number_in, number_out, readable, to_plain, writable

if TYPE_CHECKING:
    from sortal.models.scope import Scope

INF = float("inf")

# Types of arrays by their names in a file: little-endian, of so many bytes.
TYPES: dict[str, np.dtype[Any]] = {
    "f8": np.dtype("<f8"),
    "f4": np.dtype("<f4"),
    "i8": np.dtype("<i8"),
    "i4": np.dtype("<i4"),
    "i1": np.dtype("i1"),
    "b1": np.dtype("?"),
}


# Libraries of data frames, by the names that narwhals has for them.
BACKENDS = ("pandas", "polars", "pyarrow", "modin", "cudf")


class Field(Protocol):
    """What a field of a record is."""

    def write(self, value: Any, scope: Scope) -> Any:
        """The field as JSON; arrays go to the scope's store."""

    def read(self, data: Any, scope: Scope) -> Any:
        """The field from JSON, checked."""


class Layout(Mapping[str, Field]):
    """The fields of a record by name."""

    def __init__(self, **fields: Field) -> None:
        self._fields = fields

    def __getitem__(self, name: str) -> Field:
        return self._fields[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def write(self, values: Mapping[str, Any], scope: Scope) -> dict[str, Any]:
        """All fields as an object; what follows from the schema is not repeated."""
        return {
            name: kind.write(values[name], scope.at(name))
            for name, kind in self.items()
            if not isinstance(kind, FromSchema)
        }

    def read(self, data: Any, scope: Scope) -> dict[str, Any]:
        """All fields from an object that has these and no others."""
        scope.need(isinstance(data, dict), "is no object")
        wanted = {name for name, kind in self.items() if not isinstance(kind, FromSchema)}
        scope.need(set(data) == wanted, f"does not have the fields {', '.join(sorted(wanted))}")
        return {name: kind.read(data.get(name), scope.at(name)) for name, kind in self.items()}


@dataclass(frozen=True)
class FromSchema:
    """The schema itself, its `classes`, or its `design`: not written again."""

    what: str

    def write(self, value: Any, scope: Scope) -> None:
        """Nothing."""

    def read(self, data: Any, scope: Scope) -> Any:  # noqa: ARG002
        """As the schema has it."""
        schema = scope.schema
        return {"schema": schema, "classes": schema.classes, "design": Design(schema)}[self.what]


@dataclass(frozen=True)
class Flag:
    """True or false."""

    def write(self, value: Any, scope: Scope) -> bool:  # noqa: ARG002
        """As it is."""
        return bool(value)

    def read(self, data: Any, scope: Scope) -> bool:
        """Checked."""
        scope.need(isinstance(data, bool), "is neither true nor false")
        return bool(data)


@dataclass(frozen=True)
class Whole:
    """A whole number between two bounds."""

    least: int = -(2**62)
    most: int = 2**62

    def write(self, value: Any, scope: Scope) -> int:  # noqa: ARG002
        """As it is."""
        return int(value)

    def read(self, data: Any, scope: Scope) -> int:
        """Checked."""
        holds = type(data) is int and self.least <= data <= self.most
        scope.need(holds, f"is no whole number from {self.least} to {self.most}")
        return int(data)


@dataclass(frozen=True)
class Number:
    """A number between two bounds; infinite only where a bound is given as such."""

    least: float = -float(np.finfo(float).max)
    most: float = float(np.finfo(float).max)

    def write(self, value: Any, scope: Scope) -> Any:  # noqa: ARG002
        """A JSON number, or {"number": "inf"}."""
        return number_out(float(value))

    def read(self, data: Any, scope: Scope) -> float:
        """Checked."""
        x = number_in(data)
        scope.need(self.least <= x <= self.most, f"is no number from {self.least} to {self.most}")
        return x


@dataclass(frozen=True)
class Word:
    """Text; where there are `choices`, one of them."""

    choices: tuple[str, ...] = ()

    def write(self, value: Any, scope: Scope) -> str:  # noqa: ARG002
        """As it is."""
        return writable(str(value))

    def read(self, data: Any, scope: Scope) -> str:
        """Checked."""
        word = readable(data)
        scope.need(not self.choices or word in self.choices, f"is none of {self.choices}")
        return word


@dataclass(frozen=True)
class Cell:
    """A cell of a table: text, a number, a truth value or nothing."""

    def write(self, value: Any, scope: Scope) -> Any:  # noqa: ARG002
        """As plain data."""
        return to_plain(value)

    def read(self, data: Any, scope: Scope) -> Any:
        """Checked."""
        cell = from_plain(data)
        scope.need(cell is None or isinstance(cell, str | bool | int | float), "is no cell")
        return cell


@dataclass(frozen=True)
class Maybe:
    """A field that may be None, which is null in JSON."""

    kind: Field

    def write(self, value: Any, scope: Scope) -> Any:
        """Null, or the field."""
        return None if value is None else self.kind.write(value, scope)

    def read(self, data: Any, scope: Scope) -> Any:
        """None, or the field."""
        return None if data is None else self.kind.read(data, scope)


@dataclass(frozen=True)
class Several:
    """A tuple of fields of one kind, whose length has a name; "*" stands for any."""

    kind: Field
    dim: str = "*"

    def write(self, value: Any, scope: Scope) -> list[Any]:
        """A list."""
        return [self.kind.write(item, scope.at(str(i))) for i, item in enumerate(value)]

    def read(self, data: Any, scope: Scope) -> tuple[Any, ...]:
        """Checked."""
        scope.need(isinstance(data, list), "is no list")
        holds = self.dim == "*" or scope.fits(self.dim, len(data))
        scope.need(
            holds, f"has {counted(len(data), 'item')}, which is not the number of {self.dim}"
        )
        return tuple(self.kind.read(item, scope.at(str(i))) for i, item in enumerate(data))


@dataclass(frozen=True)
class Named:
    """A dictionary of fields of one kind by name, which is an object in JSON."""

    kind: Field

    def write(self, value: Any, scope: Scope) -> dict[str, Any]:
        """An object."""
        return {writable(str(name)): self.kind.write(v, scope) for name, v in value.items()}

    def read(self, data: Any, scope: Scope) -> dict[str, Any]:
        """Checked."""
        scope.need(isinstance(data, dict), "is no object")
        return {readable(name): self.kind.read(v, scope) for name, v in data.items()}
