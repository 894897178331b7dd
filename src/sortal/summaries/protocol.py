"""What a summary promises.

Laws, which the tests check on random partitions of random rows:

    merge(a, merge(b, c)) = merge(merge(a, b), c)      associative
    merge(a, b) = merge(b, a)                          order-free
    merge(a, summary of no rows) = a                   neutral element
    from_bytes(to_bytes(a)) = a                        nothing is lost on the way
    subtract(merge(a, b), b) = a                       where subtraction is offered

Counts hold these bit for bit, moments to 1e-12. Neither method changes its arguments.
"""

from __future__ import annotations

from typing import Protocol, Self, runtime_checkable


@runtime_checkable
class Summary(Protocol):
    """A statistic of labeled rows that merges with that of other rows."""

    def merge(self, other: Self, /) -> Self:
        """The summary of both sets of rows."""

    def to_bytes(self) -> bytes:
        """Versioned, little-endian, without code."""

    @classmethod
    def from_bytes(cls, data: bytes, /) -> Self:
        """The summary that `to_bytes` wrote."""


@runtime_checkable
class Subtractable(Summary, Protocol):
    """A summary from which rows can be taken out again."""

    def subtract(self, other: Self, /) -> Self:
        """The summary of this one's rows without the other's."""
