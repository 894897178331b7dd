"""Workers: processes that are given folds, watched and killed, and what one of them does.

A worker is `python -m sortal.tasks.compare.workers`, started by `compare`, killed at any time; by
`subprocess`, not by `multiprocessing`, which would run a user's script again in every process
unless the script guards against that. Messages come in by standard input and go out by standard
output, each a length of eight bytes and a pickle. Whatever a learner prints goes elsewhere. A
worker ends with the process that started it.
"""

from __future__ import annotations

import math
import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any, Self

from sortal.errors import SortalError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sortal.tasks.compare.candidates import Candidate
    from sortal.tasks.compare.fold_run import FoldProblem
    from sortal.tasks.compare.run import Job, Run

    Said = tuple[Any, ...] | None

try:
    import cloudpickle
except ImportError:  # joblib before 1.6 brings its own
    from joblib.externals import cloudpickle

_COMMAND = ("-P", "-m", "sortal.tasks.compare.workers")

_LENGTH = struct.Struct("<q")

_ON_DEATH_OF_PARENT = 1  # PR_SET_PDEATHSIG of Linux


# The signal of a timer of CPU time; by default it ends a process, whatever that does.
_PROFILING = getattr(signal, "SIGPROF", 0)

_ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


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


def pack(thing: object) -> bytes:
    """A thing as bytes; what a script defines travels whole."""
    return bytes(cloudpickle.dumps(thing))


class Worker:
    """One process. What it says goes to `inbox` as (worker, words); words None: it is gone."""

    def __init__(self, inbox: queue.SimpleQueue[tuple[Worker, Said]]) -> None:
        if not sys.executable:
            raise SortalError(
                "Workers cannot be started, since it is not known where Python is: set "
                "sys.executable."
            )
        self.ready = False
        self.job: Job | None = None
        self.last: Run | None = None
        self._noise = tempfile.TemporaryFile()  # noqa: SIM115  (closed with the worker)
        self._process = subprocess.Popen(  # noqa: S603  (our own module)
            [sys.executable, *_COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._noise,
            env=_environment(),
            start_new_session=True,  # Ctrl-C at the terminal reaches the parent alone
        )
        threading.Thread(target=self._listen, args=(inbox,), daemon=True).start()

    def send(self, *words: object) -> None:
        """Give it a message; if it is gone, its end is reported anyway."""
        assert self._process.stdin is not None  # noqa: S101  (a pipe)
        try:
            write_message(self._process.stdin, pickle.dumps(words))
        except OSError:
            return

    def kill(self) -> None:
        """End it, whatever it does."""
        if os.name == "posix" and self._process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)  # and what it may have started
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # what was not written yet has no reader
                pipe.close()  # type: ignore[union-attr]
        self._noise.close()

    @property
    def too_long(self) -> bool:
        """Whether it was ended at the limit of its CPU time."""
        return self._process.wait() == -_PROFILING

    def end(self) -> str:
        """How it ended by itself, in words."""
        code = self._process.wait()
        if code < 0:
            return f"its process was ended by {signal.Signals(-code).name}"
        return f"its process ended with the exit code {code}"

    def last_words(self) -> str:
        """The last line that it wrote to standard error."""
        self._noise.seek(0)
        lines = self._noise.read().decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")

    def _listen(self, inbox: queue.SimpleQueue[tuple[Worker, Said]]) -> None:
        assert self._process.stdout is not None  # noqa: S101  (a pipe)
        try:
            for message in read_messages(self._process.stdout):
                inbox.put((self, pickle.loads(message)))  # noqa: S301  (from our own worker)
        except (OSError, ValueError):
            pass  # closed while being read
        inbox.put((self, None))


def _environment() -> dict[str, str]:
    """That of this process: the same modules in the same order, and one thread."""
    environment = {**os.environ, **dict.fromkeys(_ONE_THREAD, "1")}
    environment.pop("PYTHONWARNINGS", None)
    environment["PYTHONPATH"] = os.pathsep.join(str(path) or os.curdir for path in sys.path)
    return environment


class WorkerPool:
    """Some workers that know the same problem."""

    def __init__(self, problem: FoldProblem) -> None:
        self._inbox: queue.SimpleQueue[tuple[Worker, Said]] = queue.SimpleQueue()
        self._problem = pack(problem)
        self._workers: list[Worker] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for worker in list(self._workers):
            self.dismiss(worker)

    def keep(self, n: int) -> None:
        """See to it that there are n workers at least."""
        while len(self._workers) < n:
            worker = Worker(self._inbox)
            self._workers.append(worker)
            worker.send("problem", self._problem)

    def idle(self) -> list[Worker]:
        """Workers that wait for something to do."""
        return [worker for worker in self._workers if worker.ready and worker.job is None]

    def busy(self) -> list[tuple[Worker, Job]]:
        """Workers that have something to do, and what."""
        return [(worker, worker.job) for worker in self._workers if worker.job is not None]

    def dismiss(self, worker: Worker) -> None:
        """Kill a worker."""
        worker.kill()
        self._workers.remove(worker)

    def listen(self, seconds: float, hear: Callable[[Worker, Said], None]) -> None:
        """Wait for what workers say, so long at most, and hand it on."""
        try:
            worker, words = self._inbox.get(timeout=max(0.0, seconds))
        except queue.Empty:
            return
        if worker not in self._workers:
            return  # the last words of one that was killed
        if words is None and not worker.ready:
            how, said = worker.end(), worker.last_words()
            raise SortalError(f"A worker process could not be started: {how} ({said or 'silent'}).")
        if words is not None and words[0] == "ready":
            worker.ready = True
            return
        hear(worker, words)


# --- The worker itself ---------------------------------------------------------------------------


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
        self._candidates: dict[str, Candidate] = {}

    def serve(self, messages: queue.SimpleQueue[bytes]) -> None:
        """Answer one message after the other."""
        import sortal.tasks.compare.fold_run  # noqa: F401, PLC0415  (slow, and the pipe is read meanwhile)

        self._say("ready")
        while True:
            kind, *rest = pickle.loads(messages.get())  # noqa: S301  (from our own parent)
            getattr(self, f"_on_{kind}")(*rest)

    def _on_problem(self, packed: bytes) -> None:
        self._problem: FoldProblem = pickle.loads(packed)  # noqa: S301

    def _on_fold(
        self, name: str, packed: bytes, fold: int, n_rows: int | None, limit: float
    ) -> None:
        from sortal.tasks.compare.fold_run import one_line, prepare, run_fold  # noqa: PLC0415

        try:
            if name not in self._candidates:
                self._candidates[name] = pickle.loads(packed)  # noqa: S301
        except Exception as error:  # noqa: BLE001  (importing a module may raise anything)
            self._say("unreadable", f"{type(error).__name__}: {one_line(error)}")
            return
        prepare(self._problem, self._candidates[name])
        self._end_after(limit)
        began = time.process_time()
        result = run_fold(self._problem, self._candidates[name], fold, n_rows)
        seconds = time.process_time() - began
        self._end_after(0.0)
        self._say("fold", result, seconds)

    def _end_after(self, seconds: float) -> None:
        """End this process after so much CPU time; 0 or without bound: never."""
        if _PROFILING:
            signal.setitimer(signal.ITIMER_PROF, seconds if math.isfinite(seconds) else 0.0)

    def _say(self, *words: object) -> None:
        write_message(self._outbox, pickle.dumps(words))


if __name__ == "__main__":
    main()
