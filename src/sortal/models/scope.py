"""Where a field of a layout is read or written: the place, the lengths known there, the arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from sortal.data.design import Design
from sortal.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from sortal.data.schema import Schema


class Store(Protocol):
    """Where arrays and bytes are put, and found again by name."""

    def put(self, name: str, array: NDArray[Any]) -> str:
        """Keep an array; its name, which may be that of an equal one."""

    def get(self, name: str, *codes: str) -> NDArray[Any]:
        """The array of a name, if it is of one of these types."""

    def put_bytes(self, name: str, data: bytes) -> None:
        """Keep bytes under a name."""

    def get_bytes(self, name: str) -> bytes:
        """The bytes of a name."""


@dataclass(frozen=True, eq=False)
class Scope:
    """Where in a record one is, which lengths are known there, and where arrays are."""

    schema: Schema
    store: Store
    path: str = ""
    sizes: dict[str, int] = field(default_factory=dict)
    outer: Scope | None = None
    passed: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, schema: Schema, store: Store, path: str) -> Scope:
        """The outermost scope."""
        return cls(schema, store, path, _sizes(schema))

    def at(self, name: str) -> Scope:
        """The place of a field."""
        place = f"{self.path}.{name}" if self.path else name
        return Scope(self.schema, self.store, place, self.sizes, self.outer, self.passed)

    def inside(self, passed: Mapping[str, str]) -> Scope:
        """The scope of a nested record."""
        return Scope(self.schema, self.store, self.path, _sizes(self.schema), self, passed)

    def fits(self, dim: str, size: int) -> bool:
        """Whether a length is what its name stands for; a new name stands for it from now on."""
        name, _, more = dim.partition("+")
        size -= int(more or 0)
        if name in self.passed and self.outer is not None:
            return self.outer.fits(self.passed[name], size)
        if name.isdigit():
            return size == int(name)
        return size >= 0 and self.sizes.setdefault(name, size) == size

    def need(self, holds: bool, words: str) -> None:
        """Refuse what does not hold."""
        if not holds:
            raise self.wrong(words)

    def wrong(self, words: str) -> FormatError:
        """What is wrong here."""
        return FormatError(
            f"{self.path!r} {words}: the file is damaged, or was not written by sortal."
        )


def _sizes(schema: Schema) -> dict[str, int]:
    design = Design(schema)
    return {
        "columns": len(schema.columns),
        "classes": len(schema.classes),
        "terms": design.n_terms,
        "numbers": len(design.numbers),
        "categories": len(design.categories),
    }
