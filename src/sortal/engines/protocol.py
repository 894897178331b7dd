"""What an engine promises, and the one order in which summaries of blocks are merged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sortal.data.sources import Batch, Source
    from sortal.summaries.protocol import Summary

S = TypeVar("S", bound="Summary")

T = TypeVar("T")


class Engine(Protocol):
    """Runs a function on every block. Results depend on the source only, never on the engine."""

    def reduce(self, source: Source, summarize: Callable[[Batch], S]) -> S:
        """The merged summary of all blocks."""

    def map(self, source: Source, function: Callable[[Batch], T]) -> Iterator[T]:
        """The results block by block, in order."""


# --- The one order in which summaries of blocks are merged ---------------------------------------


def merge_all(summaries: Iterable[S]) -> S:
    """Merge as a balanced tree over the order of blocks, holding a logarithm of them at a time.

    Like counting in binary: two summaries of equally many blocks become one of twice as many.
    A balanced tree keeps rounding small, and the shape depends on the number of blocks alone.
    """
    open_levels: list[tuple[int, S]] = []
    for summary in summaries:
        level, merged = 0, summary
        while open_levels and open_levels[-1][0] == level:
            merged = open_levels.pop()[1].merge(merged)
            level += 1
        open_levels.append((level, merged))
    merged = open_levels.pop()[1]
    while open_levels:
        merged = open_levels.pop()[1].merge(merged)
    return merged
