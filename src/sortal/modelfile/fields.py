"""Kinds of fields: how one is written into a model file, and read and checked from it."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, get_args

import numpy as np

from sortal.data.columns import ColumnSchema, Design, Kind, Schema
from sortal.errors import FormatError, SortalError, counted
from sortal.modelfile.arrays import TYPES
from sortal.modelfile.values import (
    NotPlainError,
    from_plain,
    number_in,
    number_out,
    readable,
    to_plain,
    values_in,
    writable,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from _typeshed import DataclassInstance
    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import Float, Plain
    from sortal.data.columns import Value, Values
    from sortal.modelfile.values import Scope


INF = float("inf")

# Libraries of data frames, by the names that narwhals has for them.
BACKENDS = ("pandas", "polars", "pyarrow", "modin", "cudf")


T = TypeVar("T")
Opt = TypeVar("Opt", bound="DataclassInstance")


class Field(Protocol[T]):
    """What a field of a record is."""

    def write(self, value: T, scope: Scope) -> object:
        """The field as JSON; arrays go to the scope's store."""

    def read(self, data: object, scope: Scope) -> T:
        """The field from JSON, checked."""


@dataclass(frozen=True)
class FromSchema:
    """The schema itself, its `classes`, or its `design`: not written again."""

    what: str

    def write(self, value: object, scope: Scope) -> None:
        """Nothing."""

    def read(self, data: object, scope: Scope) -> object:  # noqa: ARG002
        """As the schema has it."""
        schema = scope.schema
        return {"schema": schema, "classes": schema.classes, "design": Design(schema)}[self.what]


class Simple:
    """A field that is plain data as it is."""

    def write(self, value: object, scope: Scope) -> object:  # noqa: ARG002
        """The same, of Python's own type."""
        return to_plain(value)


@dataclass(frozen=True)
class Flag(Simple):
    """True or false."""

    def read(self, data: object, scope: Scope) -> bool:
        """Checked."""
        scope.need(isinstance(data, bool), "is neither true nor false")
        return bool(data)


@dataclass(frozen=True)
class Whole(Simple):
    """A whole number between two bounds."""

    least: int = -(2**62)
    most: int = 2**62

    def read(self, data: object, scope: Scope) -> int:
        """Checked."""
        if type(data) is not int or not self.least <= data <= self.most:
            raise scope.wrong(f"is no whole number from {self.least} to {self.most}")
        return data


@dataclass(frozen=True)
class Number:
    """A number between two bounds; infinite only where a bound is given as such."""

    least: float = -float(np.finfo(float).max)
    most: float = float(np.finfo(float).max)

    def write(self, value: float, scope: Scope) -> object:  # noqa: ARG002
        """A JSON number, or {"number": "inf"}."""
        return number_out(float(value))

    def read(self, data: object, scope: Scope) -> float:
        """Checked."""
        x = number_in(data)
        scope.need(self.least <= x <= self.most, f"is no number from {self.least} to {self.most}")
        return x


@dataclass(frozen=True)
class Word(Simple):
    """Text; where there are `choices`, one of them."""

    choices: tuple[str, ...] = ()

    def read(self, data: object, scope: Scope) -> str:
        """Checked."""
        word = readable(data)
        scope.need(not self.choices or word in self.choices, f"is none of {self.choices}")
        return word


@dataclass(frozen=True)
class CellField(Simple):
    """A cell of a table: text, a number, a truth value or nothing."""

    def read(self, data: object, scope: Scope) -> Value | None:
        """Checked."""
        cell = from_plain(data)
        if not (cell is None or isinstance(cell, str | bool | int | float)):
            raise scope.wrong("is no cell")
        return cell


@dataclass(frozen=True)
class OptionalField(Generic[T]):
    """A field that may be None, which is null in JSON."""

    kind: Field[T]

    def write(self, value: T | None, scope: Scope) -> object:
        """Null, or the field."""
        return None if value is None else self.kind.write(value, scope)

    def read(self, data: object, scope: Scope) -> T | None:
        """None, or the field."""
        return None if data is None else self.kind.read(data, scope)


@dataclass(frozen=True)
class Several(Generic[T]):
    """A tuple of fields of one kind, whose length has a name; "*" stands for any."""

    kind: Field[T]
    dim: str = "*"

    def write(self, value: Iterable[T], scope: Scope) -> list[object]:
        """A list."""
        return [self.kind.write(item, scope.at(str(i))) for i, item in enumerate(value)]

    def read(self, data: object, scope: Scope) -> tuple[T, ...]:
        """Checked."""
        if not isinstance(data, list):
            raise scope.wrong("is no list")
        holds = self.dim == "*" or scope.fits(self.dim, len(data))
        scope.need(
            holds, f"has {counted(len(data), 'item')}, which is not the number of {self.dim}"
        )
        return tuple(self.kind.read(item, scope.at(str(i))) for i, item in enumerate(data))


@dataclass(frozen=True)
class Named(Generic[T]):
    """A dictionary of fields of one kind by name, which is an object in JSON."""

    kind: Field[T]

    def write(self, value: Mapping[str, T], scope: Scope) -> dict[str, object]:
        """An object."""
        return {writable(str(name)): self.kind.write(v, scope) for name, v in value.items()}

    def read(self, data: object, scope: Scope) -> dict[str, T]:
        """Checked."""
        found = scope.an_object(data).items()
        return {readable(name): self.kind.read(v, scope) for name, v in found}


class Array:
    """An array of one of `TYPES`, its lengths by name, "*" for any.

    "f4|f8" stands for either, as the array is. Every number is from `least` to `most`, infinite
    only where a bound is, and never NaN unless `nan`.
    """

    def __init__(
        self,
        code: str,
        *dims: str,
        least: float | None = None,
        most: float | None = None,
        nan: bool = False,
    ) -> None:
        self.code, self.dims, self.nan = code, dims, nan
        floating = code.endswith("f8")
        largest = float(np.finfo(float).max) if floating else INF
        self.least = -largest if least is None else least
        self.most = largest if most is None else most

    def write(self, value: ArrayLike, scope: Scope) -> dict[str, str]:
        """A reference; the numbers go to the store."""
        array = np.asarray(value)
        if array.dtype not in [TYPES[code].newbyteorder("=") for code in self.code.split("|")]:
            raise TypeError(f"{scope.path} is of {array.dtype}, and its record says {self.code}")
        return {"array": scope.store.put(scope.path, array)}

    def read(self, data: object, scope: Scope) -> NDArray[Any]:
        """The array, checked."""
        name = data["array"] if isinstance(data, dict) and set(data) == {"array"} else None
        if not isinstance(name, str):
            raise scope.wrong("refers to no array")
        array = scope.store.get(name, *self.code.split("|"))
        same = array.ndim == len(self.dims) and all(
            dim == "*" or scope.fits(dim, size)
            for dim, size in zip(self.dims, array.shape, strict=True)
        )
        words = f"has the shape {array.shape}, which does not fit ({', '.join(self.dims)})"
        scope.need(same, words)
        scope.need(self._within(array), "holds numbers that cannot be")
        return array

    def _within(self, array: NDArray[Any]) -> bool:
        if self.code == "b1":
            return True
        least, most = self.least, self.most
        if array.dtype == np.float32:  # beyond what it can hold, a bound would be infinite
            limit = float(np.finfo(np.float32).max)
            least, most = (b if np.isinf(b) else min(max(b, -limit), limit) for b in (least, most))
        with np.errstate(invalid="ignore"):
            inside = (array >= least) & (array <= most)
        return bool((inside | np.isnan(array)).all() if self.nan else inside.all())


class OptionsField(Generic[Opt]):
    """Options, checked when they are read: plain data by name; what is no data has its default."""

    def __init__(self, cls: type[Opt], check: Callable[[Opt], Opt] = lambda made: made) -> None:
        self.cls, self.check = cls, check

    def write(self, value: Opt, scope: Scope) -> dict[str, Plain]:  # noqa: ARG002
        """An object."""
        plain = {}
        for one in fields(self.cls):
            try:
                plain[one.name] = to_plain(getattr(value, one.name))
            except NotPlainError:
                plain[one.name] = to_plain(one.default)
        return plain

    def read(self, data: object, scope: Scope) -> Opt:
        """The options, as the class allows them."""
        names = [entry.name for entry in fields(self.cls)]
        if not isinstance(data, dict) or set(data) != set(names):
            raise scope.wrong(f"does not have the options {', '.join(names)}")
        try:
            made = self.cls(**{name: from_plain(item) for name, item in data.items()})
            return self.check(made)
        except (SortalError, TypeError, ValueError, OverflowError) as error:
            raise scope.wrong(f"cannot be used ({error})") from None


# --- Schemas, values of categories, and types of labels ----------------------------------------

KINDS: tuple[str, ...] = get_args(Kind)

# Truth values, whole numbers, numbers, words of so many characters, or anything.
LABEL_TYPE = re.compile(r"\|b1|\|O|[<|][iu][1248]|<f[248]|<U[0-9]{1,8}")

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


def _values_out(values: Values) -> list[Plain]:
    return [writable(v) if isinstance(v, str) else to_plain(v) for v in values]


def schema_in(data: object) -> Schema:
    """A schema from JSON, checked."""
    if not (isinstance(data, dict) and set(data) == {"columns", "classes"}) or not (
        isinstance(data["columns"], list) and data["columns"]
    ):
        raise FormatError("The file has no schema, or one without columns: damaged?")
    columns = tuple(_column_in(column) for column in data["columns"])
    if len({column.name for column in columns}) != len(columns):
        raise FormatError("Two columns of the schema have one name: damaged?")
    return Schema(columns, values_in(data["classes"]))


def _column_in(data: object) -> ColumnSchema:
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

    def write(self, value: Schema, scope: Scope) -> dict[str, Any]:  # noqa: ARG002
        """An object."""
        return schema_out(value)

    def read(self, data: object, scope: Scope) -> Schema:
        """Checked: of as many columns as the model's."""
        schema = schema_in(data)
        scope.need(len(schema.columns) == len(scope.schema.columns), "has other columns")
        return schema


@dataclass(frozen=True)
class LabelType:
    """The type in which labels came, as NumPy writes it: "<U9", "<i8", "|b1", "|O"."""

    def write(self, value: np.dtype[Any], scope: Scope) -> str:  # noqa: ARG002
        """NumPy's name for it; what has none of those above goes as objects."""
        name = str(np.dtype(value).newbyteorder("<").str)
        return name if LABEL_TYPE.fullmatch(name) else "|O"

    def read(self, data: object, scope: Scope) -> np.dtype[Any]:
        """Checked."""
        if not isinstance(data, str) or LABEL_TYPE.fullmatch(data) is None:
            raise scope.wrong("is no type of labels")
        dtype: np.dtype[Any] = np.dtype(data).newbyteorder("=")
        return dtype


@dataclass(frozen=True)
class ValuesField:
    """Values of a category, in order; how many they are has a name, "*" for any."""

    dim: str = "*"

    def write(self, value: Values, scope: Scope) -> list[Plain]:  # noqa: ARG002
        """A list."""
        return _values_out(value)

    def read(self, data: object, scope: Scope) -> Values:
        """Checked."""
        values = values_in(data)
        holds = self.dim == "*" or scope.fits(self.dim, len(values))
        scope.need(
            holds, f"has {counted(len(values), 'value')}, which is not the number of {self.dim}"
        )
        return values


# --- Checks of records that were read from a file: what shapes and bounds alone do not say -------

# A product is at most the root of its squares' product. Where rows were taken out again, rounding
# may have left more of it than of the squares, but not so many times as much.
_BEYOND = 1e8


# Numbers beyond 1e140 are refused at fit; roots of sums of their squares are below this.
_LARGEST = 1e150


def need(holds: object, words: str) -> None:
    """Refuse a model that has what `words` say."""
    if not holds:
        raise FormatError(f"This model has {words}: the file is damaged, or not by sortal.")


def check_scatter(matrices: Float) -> None:
    """Sums of squares and products of rows, as far as what is calculated from them relies on it."""
    diagonal = np.diagonal(matrices, axis1=-2, axis2=-1)
    need((diagonal >= 0).all(), "a negative sum of squares")
    size = np.sqrt(diagonal)
    most = size[..., :, None] * size[..., None, :] * _BEYOND
    need(((np.abs(matrices) <= most) | (most == 0)).all(), "products far beyond their squares")


def check_prior(prior: Float) -> None:
    """Probabilities of the classes."""
    need(abs(prior.sum() - 1.0) < 1e-6, "priors that are no probabilities")


def check_squares(numbers: Float) -> None:
    """Numbers of which squares can be added up."""
    need((np.abs(numbers) <= _LARGEST).all(), "numbers whose squares are too large")
