"""What an engine promises: one pass over a source, in the order of its blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sortal.data.batch import Batch
    from sortal.data.sources import Source
    from sortal.summaries.protocol import Summary

S = TypeVar("S", bound="Summary")
T = TypeVar("T")


class Engine(Protocol):
    """Runs a function on every block. Results depend on the source only, never on the engine."""

    def reduce(self, source: Source, summarize: Callable[[Batch], S]) -> S:
        """The merged summary of all blocks."""

    def map(self, source: Source, function: Callable[[Batch], T]) -> Iterator[T]:
        """The results block by block, in order."""
