"""A worker: `python -m sortal.tasks.compare.worker`, started by `compare`, killed at any time.

Messages come in by standard input and go out by standard output, each a length of eight bytes and
a pickle. Whatever a learner prints goes elsewhere. A worker ends with the process that started it.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import struct
import sys
import threading
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sortal.tasks.compare.fold_run import Candidate, FoldProblem

_LENGTH = struct.Struct("<q")

_ON_DEATH_OF_PARENT = 1  # PR_SET_PDEATHSIG of Linux


def write_message(pipe: IO[bytes], message: bytes) -> None:
    """One message, at once."""
    pipe.write(_LENGTH.pack(len(message)))
    pipe.write(message)
    pipe.flush()


def read_messages(pipe: IO[bytes]) -> Iterator[bytes]:
    """Messages until the other side is gone."""
    while len(head := pipe.read(_LENGTH.size)) == _LENGTH.size:
        (length,) = _LENGTH.unpack(head)
        message = pipe.read(length)
        if len(message) < length:
            return
        yield message


def main() -> None:
    """Serve until the pipe is closed."""
    inbox, outbox = _take_pipes()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's affair
    _die_with_parent()
    messages: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(inbox, messages), daemon=True).start()
    _Server(outbox).serve(messages)


def _take_pipes() -> tuple[IO[bytes], IO[bytes]]:
    """The two pipes for us alone: what else reads or prints meets an empty file."""
    inbox, outbox = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    os.close(nothing)
    return inbox, outbox


def _die_with_parent() -> None:
    """On Linux the kernel sees to it, even where a compiled loop lets no other thread run."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes  # noqa: PLC0415  (of this system only)

    parent = os.getppid()
    ctypes.CDLL(None).prctl(_ON_DEATH_OF_PARENT, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _listen(inbox: IO[bytes], messages: queue.SimpleQueue[bytes]) -> None:
    for message in read_messages(inbox):
        messages.put(message)
    os._exit(0)  # nobody waits for an answer


class _Server:
    """What a worker knows: the problem, and the models that it met."""

    def __init__(self, outbox: IO[bytes]) -> None:
        self._outbox = outbox
        self._entrants: dict[str, Candidate] = {}

    def serve(self, messages: queue.SimpleQueue[bytes]) -> None:
        """Answer one message after the other."""
        import sortal.tasks.compare.fold_run  # noqa: F401, PLC0415  (slow, and the pipe is read meanwhile)

        self._say("ready")
        while True:
            kind, *rest = pickle.loads(messages.get())  # noqa: S301  (from our own parent)
            getattr(self, f"_on_{kind}")(*rest)

    def _on_problem(self, packed: bytes) -> None:
        self._problem: FoldProblem = pickle.loads(packed)  # noqa: S301

    def _on_fold(self, name: str, packed: bytes, fold: int, n_rows: int | None) -> None:
        from sortal.tasks.compare.fold_run import one_line, prepare, run_fold  # noqa: PLC0415

        try:
            if name not in self._entrants:
                self._entrants[name] = pickle.loads(packed)  # noqa: S301
        except Exception as error:  # noqa: BLE001  (importing a module may raise anything)
            self._say("unreadable", f"{type(error).__name__}: {one_line(error)}")
            return
        prepare(self._problem, self._entrants[name])
        self._say("begun")
        self._say("fold", run_fold(self._problem, self._entrants[name], fold, n_rows))

    def _say(self, *words: Any) -> None:
        write_message(self._outbox, pickle.dumps(words))


if __name__ == "__main__":
    main()
