"""A worker of this process, for comparisons whose processes are not the point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sortal.tasks.compare.workers import _Server

if TYPE_CHECKING:
    import queue


class Inside(_Server):
    """It has what a crew asks of a worker, does what it is sent at once, and needs no end."""

    def __init__(self, inbox: queue.SimpleQueue[Any]) -> None:
        self.ready = True
        self.job = self.last = None
        self._inbox, self._candidates = inbox, {}

    def send(self, kind: str, *words: Any) -> None:
        getattr(self, f"_on_{kind}")(*words)

    def kill(self) -> None:
        pass

    def _end_after(self, seconds: float) -> None:
        pass  # it would end this process

    def _say(self, *words: Any) -> None:
        self._inbox.put((self, words))
