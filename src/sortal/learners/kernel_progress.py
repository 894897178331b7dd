"""How far a fit is, as a user's function is told: parts of a hundred."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

T = TypeVar("T")
ALL = 100


class Progress:
    """Calls `progress(done, 100)` whenever another part is done; what it raises ends the fit."""

    def __init__(self, progress: Callable[[int, int], object] | None) -> None:
        self.progress, self.done = progress, 0

    def part(self, start: float, stop: float) -> Part:
        """A stretch of the work, from one share of the whole to another."""
        return Part(self, start, stop)

    def tell(self, share: float) -> None:
        """So much of the whole is done."""
        done = int(ALL * share + 1e-9)
        if done > self.done and self.progress is not None:
            self.done = done
            self.progress(done, ALL)


@dataclass(frozen=True, eq=False)
class Part:
    """A stretch of the work."""

    whole: Progress
    start: float
    stop: float

    def __call__(self, share: float) -> None:
        """So much of this stretch is done."""
        self.whole.tell(self.start + (self.stop - self.start) * share)


def each(items: Iterable[T], n: int, tell: Callable[[float], object]) -> Iterator[T]:
    """Items as they come, of which there are n; how far that is, is told."""
    for i, item in enumerate(items):
        tell((i + 1) / n)
        yield item
