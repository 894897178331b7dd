"""Fields of layouts that hold arrays, other records, and summaries."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field, fields
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar, cast

import numpy as np

from sortal.errors import FormatError, SortalError
from sortal.modelfile.fields import INF, TYPES, Layout
from sortal.modelfile.values import NotPlainError, Store, from_plain, to_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from _typeshed import DataclassInstance
    from numpy.typing import ArrayLike, NDArray

    from sortal._typing import Plain
    from sortal.modelfile.values import Scope

    class Recorded(Protocol):
        """A class that says what its records hold."""

        LAYOUT: ClassVar[Layout]


T = TypeVar("T")
Opt = TypeVar("Opt", bound="DataclassInstance")


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
            raise TypeError(f"{scope.path} is of {array.dtype}, and its layout says {self.code}")
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


class RecordField(Generic[T]):
    """A nested record: its class, and the lengths that are passed to it, its name for each first.

    A class that cannot have a LAYOUT is given one here.
    """

    def __init__(self, cls: type[T], layout: Layout | None = None, **passed: str) -> None:
        self.cls, self.passed = cls, passed
        self.layout = cast("Recorded", cls).LAYOUT if layout is None else layout

    def write(self, value: T, scope: Scope) -> dict[str, object]:
        """An object."""
        if type(value) is not self.cls:
            raise TypeError(f"{scope.path} is a {type(value).__name__}, not a {self.cls.__name__}")
        values = {name: getattr(value, name) for name in self.layout}
        return self.layout.write(values, scope.inside(self.passed))

    def read(self, data: object, scope: Scope) -> T:
        """The record, checked."""
        made = self.cls(**self.layout.read(data, scope.inside(self.passed)))
        if hasattr(made, "check"):
            made.check()
        return made


class OneOf:
    """One of several records, told apart by the word in "is"."""

    def __init__(self, classes: Mapping[str, type[Any]], **passed: str) -> None:
        self.records = {word: RecordField(cls, None, **passed) for word, cls in classes.items()}

    def write(self, value: object, scope: Scope) -> dict[str, object]:
        """An object that says which."""
        word = next(w for w, record in self.records.items() if record.cls is type(value))
        return {"is": word, **self.records[word].write(value, scope)}

    def read(self, data: object, scope: Scope) -> object:
        """The record, checked."""
        given = dict(data) if isinstance(data, dict) else {}
        word = given.pop("is", None)
        record = self.records.get(word) if isinstance(word, str) else None
        if record is None:
            raise scope.wrong(f"is none of {', '.join(self.records)}")
        return record.read(given, scope)


class OptionsField(Generic[Opt]):
    """Options, checked when they are read: plain data by name; what is no data has its default."""

    def __init__(self, cls: type[Opt], check: Callable[[Opt], Opt] = lambda made: made) -> None:
        self.cls, self.check = cls, check

    @property
    def names(self) -> list[str]:
        """Of the options, in order."""
        return [entry.name for entry in fields(self.cls)]

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
        names = self.names
        if not isinstance(data, dict) or set(data) != set(names):
            raise scope.wrong(f"does not have the options {', '.join(names)}")
        try:
            made = self.cls(**{name: from_plain(item) for name, item in data.items()})
            return self.check(made)
        except (SortalError, TypeError, ValueError, OverflowError) as error:
            raise scope.wrong(f"cannot be used ({error})") from None


class Kept(Protocol):
    """A summary that can be kept as bytes."""

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """A summary of its bytes."""

    def to_bytes(self) -> bytes:
        """Its bytes."""


S = TypeVar("S", bound=Kept)


class SummaryField(Generic[S]):
    """A summary, whose bytes are a member of the file by themselves."""

    def __init__(self, cls: type[S]) -> None:
        self.cls = cls

    def write(self, value: S, scope: Scope) -> dict[str, str]:
        """A reference; the bytes go to the store."""
        scope.store.put_bytes("summary", value.to_bytes())
        return {"member": "summary"}

    def read(self, data: object, scope: Scope) -> S:
        """The summary."""
        scope.need(data == {"member": "summary"}, "refers to no summary")
        return self.cls.from_bytes(scope.store.get_bytes("summary"))


# --- Arrays as members of a model file: raw numbers, with type and shape listed beside them ------
# The numbers are little-endian and in row-major order, whatever the memory of the array. Results
# may depend in their last bit on the order in which numbers lie in memory, since sums are taken
# along it; so where that is another than row-major, `axes` tells it, the slowest axis first.

FOLDER = "arrays/"

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,200}")

_MOST_DIMS = 3

# An array without numbers takes no place, so that nothing else bounds its shape; NumPy refuses what
# it could not address.
_MOST_EMPTY = 1 << 24


@dataclass(frozen=True, eq=False)
class ArrayWriter(Store):
    """Collects arrays. Equal ones are kept once, under the first name."""

    entries: list[dict[str, Any]] = field(default_factory=list)
    members: dict[str, Any] = field(default_factory=dict)
    _names: dict[Any, str] = field(default_factory=dict)

    def put(self, name: str, array: NDArray[Any]) -> str:
        """Keep an array."""
        code = array.dtype.str[1:]
        flat = np.ascontiguousarray(array, dtype=TYPES[code]).reshape(-1).view(np.uint8)
        axes = _axes(array)
        key = code, array.shape, axes, sha256(flat.data).digest()
        if key in self._names:
            return self._names[key]
        entry: dict[str, Any] = {"name": name, "type": code, "shape": list(array.shape)}
        if axes is not None:
            entry["axes"] = list(axes)
        self.entries.append(entry)
        self.members[FOLDER + name] = flat.data
        self._names[key] = name
        return name

    def put_bytes(self, name: str, data: bytes) -> None:
        """Keep bytes."""
        self.members[name] = data


def _axes(array: NDArray[Any]) -> tuple[int, ...] | None:
    """The axes as they lie in memory, the slowest first; None for row-major order."""
    long = [i for i, size in enumerate(array.shape) if size > 1]
    by_stride = sorted(long, key=lambda i: -abs(array.strides[i]))
    if by_stride == long or not array.size:
        return None
    place = dict(zip(long, by_stride, strict=True))  # axes of length one stay where they are
    return tuple(place.get(i, i) for i in range(array.ndim))


class ArrayReader(Store):
    """Gives arrays by name. Whoever asks says of which type they are."""

    def __init__(self, entries: object, members: Mapping[str, bytes]) -> None:
        if not isinstance(entries, list):
            raise FormatError("The manifest does not list its arrays: damaged?")
        self._entries: dict[str, dict[str, Any]] = {}
        for entry in entries:
            _check_entry(entry)
            if entry["name"] in self._entries:
                raise FormatError(f"The array {entry['name']!r} is listed twice: damaged?")
            self._entries[entry["name"]] = entry
        self._members, self._used = members, set[str]()
        self._read: dict[str, NDArray[Any]] = {}

    def get(self, name: str, *codes: str) -> NDArray[Any]:
        """The array of a name."""
        entry = self._entries.get(name)
        if entry is None or entry["type"] not in codes:
            words = " or ".join(map(repr, codes))
            raise FormatError(f"There is no array {name!r} of type {words}: damaged?")
        if name not in self._read:
            self._read[name] = _array(entry, self._bytes(FOLDER + name))
        return self._read[name]

    def get_bytes(self, name: str) -> bytes:
        """The bytes of a member."""
        return bytes(self._bytes(name))

    def _bytes(self, name: str) -> bytes:
        if name not in self._members:
            raise FormatError(f"The file lacks the member {name!r}: damaged?")
        self._used.add(name)
        return self._members[name]

    def check_all_used(self) -> None:
        """Refuse a file that holds more than its model needs."""
        listed = {FOLDER + name for name in self._entries}
        extra = sorted((listed | set(self._members)) - self._used)
        if extra:
            raise FormatError(f"The member {extra[0]!r} belongs to nothing in this model: damaged?")


def _check_entry(entry: object) -> None:
    wanted = {"name", "type", "shape"}
    if (
        not isinstance(entry, dict)
        or not wanted <= set(entry) <= wanted | {"axes"}
        or not (isinstance(entry["name"], str) and _NAME.fullmatch(entry["name"]))
        or not (isinstance(entry["type"], str) and entry["type"] in TYPES)
        or not (_is_shape(entry["shape"]) and _is_order(entry))
    ):
        raise FormatError("The manifest describes an array in a way that none can be: damaged?")


def _is_shape(shape: object) -> bool:
    if not isinstance(shape, list) or len(shape) > _MOST_DIMS:
        return False
    most = _MOST_EMPTY if 0 in shape else 1 << 48
    return all(type(size) is int and 0 <= size <= most for size in shape)


def _is_order(entry: dict[str, Any]) -> bool:
    axes = entry.get("axes", list(range(len(entry["shape"]))))
    whole = isinstance(axes, list) and all(type(axis) is int for axis in axes)
    return whole and sorted(axes) == list(range(len(entry["shape"])))


def _array(entry: dict[str, Any], data: bytes) -> NDArray[Any]:
    """The numbers of a member, in the memory order they had."""
    dtype, shape = TYPES[entry["type"]], tuple(entry["shape"])
    if math.prod(shape) * dtype.itemsize != len(data):
        raise FormatError(
            f"The array {entry['name']!r} has {len(data)} bytes, and its shape {shape} needs "
            f"{math.prod(shape) * dtype.itemsize}: cut, or swapped with another?"
        )
    if entry["type"] == "b1" and np.frombuffer(data, np.uint8).max(initial=0) > 1:
        raise FormatError(f"The array {entry['name']!r} holds more than truth values: damaged?")
    flat = np.frombuffer(data, dtype=dtype).astype(dtype.newbyteorder("="), copy=False)
    array = flat.reshape(shape)
    if "axes" not in entry:
        return array
    axes = entry["axes"]
    return np.asarray(np.ascontiguousarray(array.transpose(axes)).transpose(np.argsort(axes)))
