"""Fields of layouts that hold arrays, other records, and summaries."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.errors import SortalError
from sortal.models.layout import INF, TYPES, Layout
from sortal.models.plain import from_plain, to_plain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from sortal.models.scope import Scope


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

    def write(self, value: Any, scope: Scope) -> dict[str, str]:
        """A reference; the numbers go to the store."""
        array = np.asarray(value)
        if array.dtype not in [TYPES[code].newbyteorder("=") for code in self.code.split("|")]:
            raise TypeError(f"{scope.path} is of {array.dtype}, and its layout says {self.code}")
        return {"array": scope.store.put(scope.path, array)}

    def read(self, data: Any, scope: Scope) -> NDArray[Any]:
        """The array, checked."""
        is_reference = isinstance(data, dict) and set(data) == {"array"}
        scope.need(is_reference and isinstance(data["array"], str), "refers to no array")
        array = scope.store.get(data["array"], *self.code.split("|"))
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


class Record:
    """A nested record: its class, and the lengths that are passed to it, its name for each first.

    A class that cannot have a LAYOUT is given one here.
    """

    def __init__(self, cls: type[Any], layout: Layout | None = None, **passed: str) -> None:
        self.cls, self.passed = cls, passed
        self.layout: Layout = cls.LAYOUT if layout is None else layout

    def write(self, value: Any, scope: Scope) -> dict[str, Any]:
        """An object."""
        if type(value) is not self.cls:
            raise TypeError(f"{scope.path} is a {type(value).__name__}, not a {self.cls.__name__}")
        values = {name: getattr(value, name) for name in self.layout}
        return self.layout.write(values, scope.inside(self.passed))

    def read(self, data: Any, scope: Scope) -> Any:
        """The record, checked."""
        made = self.cls(**self.layout.read(data, scope.inside(self.passed)))
        if hasattr(made, "check"):
            made.check()
        return made


class OneOf:
    """One of several records, told apart by the word in "is"."""

    def __init__(self, classes: Mapping[str, type[Any]], **passed: str) -> None:
        self.records = {word: Record(cls, None, **passed) for word, cls in classes.items()}

    def write(self, value: Any, scope: Scope) -> dict[str, Any]:
        """An object that says which."""
        word = next(w for w, record in self.records.items() if record.cls is type(value))
        return {"is": word, **self.records[word].write(value, scope)}

    def read(self, data: Any, scope: Scope) -> Any:
        """The record, checked."""
        word = data.get("is") if isinstance(data, dict) else None
        record = self.records.get(word) if isinstance(word, str) else None
        if record is None:
            raise scope.wrong(f"is none of {', '.join(self.records)}")
        rest = {name: item for name, item in data.items() if name != "is"}
        return record.read(rest, scope)


class Options:
    """Options that a class checks when it is made: plain data by name."""

    def __init__(self, cls: type[Any]) -> None:
        self.cls = cls

    def write(self, value: Any, scope: Scope) -> dict[str, Any]:  # noqa: ARG002
        """An object."""
        return {name: to_plain(getattr(value, name)) for name in self._names()}

    def read(self, data: Any, scope: Scope) -> Any:
        """The options, as the class allows them."""
        names = self._names()
        is_object = isinstance(data, dict) and set(data) == set(names)
        scope.need(is_object, f"does not have the options {', '.join(names)}")
        try:
            return self.cls(**{name: from_plain(item) for name, item in data.items()})
        except (SortalError, TypeError, ValueError, OverflowError) as error:
            raise scope.wrong(f"cannot be used ({error})") from None

    def _names(self) -> list[str]:
        return [entry.name for entry in fields(self.cls)]


class Summary:
    """A summary, whose bytes are a member of the file by themselves."""

    def __init__(self, cls: type[Any]) -> None:
        self.cls = cls

    def write(self, value: Any, scope: Scope) -> dict[str, str]:
        """A reference; the bytes go to the store."""
        scope.store.put_bytes("summary", value.to_bytes())
        return {"member": "summary"}

    def read(self, data: Any, scope: Scope) -> Any:
        """The summary."""
        scope.need(data == {"member": "summary"}, "refers to no summary")
        return self.cls.from_bytes(scope.store.get_bytes("summary"))
