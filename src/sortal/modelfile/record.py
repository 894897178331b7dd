"""Fields of records: a record says once what it holds, and all that a file needs follows.

A record is a dataclass. The type of a field says what is written: numbers and words, arrays of a
type, values of a category, other records, tuples and dictionaries of these, or None. What a type
cannot say, `limits` does:

    @record()
    class LinearMap:
        design: Design
        center: Float = limits("terms")
        weights: Float = limits("terms", "functions")
        variance: Float = limits("functions", least=0.0)
        nearest: Nearest | None = limits(classes="functions", default=None)

Lengths have names. `columns`, `classes`, `terms`, `numbers` and `categories` are those of the
schema; any other is what the first array says, and the same throughout the record. "nodes+1" is one
more than `nodes`, "*" any. A nested record has lengths of its own, except those that are passed to
it, its name for each first. A field that is not compared (compare=False) is not written either.

Reading follows the record, never the file: what a file says beyond it, or otherwise, is a
FormatError. A record that has a method `check` is asked, when it has been read, whether it makes
sense.
"""

from __future__ import annotations

import json
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from functools import cache, cached_property
from hashlib import sha256
from io import BytesIO
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Generic,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from sortal.data.columns import Design, Schema, Values
from sortal.errors import FormatError
from sortal.modelfile.archive import ArchiveMembers, parse_archive, zip_members
from sortal.modelfile.arrays import ArrayReader, ArrayWriter
from sortal.modelfile.fields import (
    Array,
    CellField,
    Flag,
    FromSchema,
    LabelType,
    Named,
    Number,
    OptionalField,
    Several,
    ValuesField,
    Whole,
    Word,
)
from sortal.modelfile.values import Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from _typeshed import DataclassInstance

    from sortal.modelfile.fields import Field


T = TypeVar("T")


# --- Declaring a record --------------------------------------------------------------------------


@dataclass(frozen=True)
class Limits:
    """What the type of a field does not say of it."""

    dims: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    nan: bool = False
    among: tuple[str, ...] = ()
    passed: Mapping[str, str] = field(default_factory=dict)

    @property
    def bounds(self) -> dict[str, Any]:
        """Those that are given."""
        given = {"least": self.least, "most": self.most}
        return {name: bound for name, bound in given.items() if bound is not None}


_NONE = Limits()


def limits(
    *dims: str,
    least: float | None = None,
    most: float | None = None,
    nan: bool = False,
    among: tuple[str, ...] = (),
    default: Any = MISSING,
    **passed: str,
) -> Any:
    """A field of a record with what its type does not say.

    `dims` name lengths: of tuples from without, then of an array. Numbers are from `least` to
    `most`, infinite only where a bound is, and NaN only in arrays that have `nan`; words are
    `among` some. Any other name is a length of the nested record, and which of this one it is.
    """
    own = Limits(dims, least, most, nan, among, passed)
    return field(default=default, metadata={"kind": lambda hint: kind_of(hint, own)})


def of_schema() -> Any:
    """A field that is not written, because the schema has it: its `classes`."""
    return field(metadata={"kind": lambda hint: FromSchema("classes")})  # noqa: ARG005


@dataclass_transform(
    frozen_default=True, eq_default=False, field_specifiers=(limits, of_schema, field)
)
def record(*, eq: bool = False, repr: bool = True) -> Callable[[type[T]], type[T]]:  # noqa: A002
    """A frozen dataclass whose fields say what a file holds of it."""
    return dataclass(frozen=True, eq=eq, repr=repr)


@cache
def layout_of(cls: type[Any]) -> dict[str, Field[Any]]:
    """The fields of a record by name."""
    hints, own = get_type_hints(cls), [one for one in fields(cls) if one.compare]
    return {one.name: one.metadata.get("kind", kind_of)(hints[one.name]) for one in own}


def kind_of(hint: Any, own: Limits = _NONE) -> Field[Any]:
    """The kind of field that a type is, within limits."""
    origin, parts = get_origin(hint) or hint, get_args(hint)
    simple, array = origin in _SIMPLE, origin is np.ndarray
    if ((simple or array) and own.passed) or (simple and own.dims) or (array and not own.dims):
        raise TypeError(
            f"{hint} cannot have {own}: arrays have lengths, and records are passed some"
        )
    if simple:
        return _SIMPLE[origin](own)
    if is_dataclass(origin):
        return RecordField[Any](hint, **own.passed)
    if hint == Values:
        return ValuesField(*own.dims)
    return _COMPOSED[origin](parts, own)


def _either(parts: tuple[Any, ...], own: Limits) -> Field[Any]:
    """One of several types, of which None is one or not."""
    some = [part for part in parts if part is not NoneType]
    if len(some) > 1 and not any(map(is_dataclass, some)):
        return CellField()
    kind = OneOf(some, own.passed) if len(some) > 1 else kind_of(some[0], own)
    return OptionalField(kind) if NoneType in parts else kind


def _several(parts: tuple[Any, ...], own: Limits) -> Field[Any]:
    """A tuple, whose length is the first that is named."""
    dim = own.dims[0] if own.dims else "*"
    inner = kind_of(parts[0], replace(own, dims=own.dims[1:]))
    return Several(inner, dim if parts[-1] is ... else str(len(parts)))


def _array(parts: tuple[Any, ...], own: Limits) -> Field[Any]:
    """An array; any floating one is of one of two types."""
    (scalar,) = get_args(parts[1])
    code = "f4|f8" if get_origin(scalar) is np.floating else np.dtype(scalar).str[1:]
    return Array(code, *own.dims, **own.bounds, nan=own.nan)


_SIMPLE: dict[Any, Callable[[Limits], Field[Any]]] = {
    bool: lambda own: Flag(),  # noqa: ARG005
    int: lambda own: Whole(**own.bounds),
    float: lambda own: Number(**own.bounds),
    str: lambda own: Word(own.among),
    np.dtype: lambda own: LabelType(),  # noqa: ARG005
    Schema: lambda own: FromSchema("schema"),  # noqa: ARG005
    Design: lambda own: FromSchema("design"),  # noqa: ARG005
}

_COMPOSED: dict[Any, Callable[[tuple[Any, ...], Limits], Field[Any]]] = {
    Union: _either,
    UnionType: _either,
    tuple: _several,
    dict: lambda parts, own: Named(kind_of(parts[1], own)),
    np.ndarray: _array,
}


# --- Records within records ----------------------------------------------------------------------


class RecordField(Generic[T]):
    """A nested record: its class, and lengths that are passed to it, its name for each first."""

    def __init__(self, cls: type[T], **passed: str) -> None:
        self.cls: Any = cls
        self.passed = passed

    @cached_property
    def written(self) -> dict[str, Field[Any]]:
        """Its fields without what follows from the schema."""
        own = layout_of(self.cls).items()
        return {name: kind for name, kind in own if not isinstance(kind, FromSchema)}

    def write(self, value: T, scope: Scope) -> dict[str, object]:
        """An object."""
        if type(value) is not self.cls:
            raise TypeError(f"{scope.path} is a {type(value).__name__}, not a {self.cls.__name__}")
        inner = scope.inside(self.passed)
        kinds = self.written.items()
        return {name: kind.write(getattr(value, name), inner.at(name)) for name, kind in kinds}

    def read(self, data: object, scope: Scope) -> T:
        """The record, checked."""
        data, wanted = scope.an_object(data), set(self.written)
        scope.need(set(data) == wanted, f"does not have the fields {', '.join(sorted(wanted))}")
        inner, kinds = scope.inside(self.passed), layout_of(self.cls).items()
        made: T = self.cls(
            **{name: kind.read(data.get(name), inner.at(name)) for name, kind in kinds}
        )
        if hasattr(made, "check"):
            made.check()
        return made


class OneOf:
    """One of several records, told apart by the name of the class in "is"."""

    def __init__(self, classes: Iterable[type[Any]], passed: Mapping[str, str]) -> None:
        self.records = {cls.__name__: RecordField(cls, **passed) for cls in classes}

    def write(self, value: object, scope: Scope) -> dict[str, object]:
        """An object that says which."""
        word = type(value).__name__
        return {"is": word, **self.records[word].write(value, scope)}

    def read(self, data: object, scope: Scope) -> object:
        """The record, checked."""
        given = dict(data) if isinstance(data, dict) else {}
        word = given.pop("is", None)
        record = self.records.get(word) if isinstance(word, str) else None
        if record is None:
            raise scope.wrong(f"is none of {', '.join(self.records)}")
        return record.read(given, scope)


# --- A record by itself, as bytes ----------------------------------------------------------------

_NO_SCHEMA = Schema((), ())


def to_bytes(made: DataclassInstance, schema: Schema = _NO_SCHEMA) -> bytes:
    """A record as bytes: a zip as a model file is one, versioned, with checksums and no code."""
    store, kind = ArrayWriter(), type(made).__name__
    data = RecordField(type(made)).write(made, Scope.of(schema, store, kind))
    parts = ArchiveMembers({"is": kind, "record": data, "arrays": store.entries}, store.numbers)
    file = BytesIO()
    zip_members(file, parts)
    return file.getvalue()


def from_bytes(cls: type[T], data: bytes, schema: Schema = _NO_SCHEMA) -> T:
    """The record that `to_bytes` wrote, or a FormatError that says what is wrong."""
    parts = parse_archive(data, "These bytes")
    manifest, kind = parts.manifest, cls.__name__
    if set(manifest) != {"is", "record", "arrays"} or manifest["is"] != kind:
        raise FormatError(f"These bytes do not hold a {kind}.")
    store = ArrayReader(manifest["arrays"], parts.numbers)
    with np.errstate(all="ignore"):  # of numbers that cannot be, checks may meet any
        made = RecordField(cls).read(manifest["record"], Scope.of(schema, store, kind))
    store.check_all_used()
    return made


def fingerprint(made: DataclassInstance) -> str:
    """The SHA-256 of all that a record holds."""
    store = ArrayWriter()
    data = RecordField(type(made)).write(made, Scope.of(_NO_SCHEMA, store, ""))
    return digest_of([data, store.entries, store.digests])


def digest_of(plain: Any) -> str:
    """The SHA-256 of JSON."""
    return sha256(json.dumps(plain).encode()).hexdigest()


def same(one: Any, other: Any) -> bool:
    """Whether two records, or what they hold, are equal to the last bit."""
    if isinstance(one, np.ndarray):
        alike = (one.dtype, one.shape) == (other.dtype, other.shape)
        return alike and one.tobytes() == other.tobytes()
    if is_dataclass(one):
        names = [part.name for part in fields(one) if part.compare]
        return type(one) is type(other) and all(
            same(getattr(one, name), getattr(other, name)) for name in names
        )
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)
