"""Workers as the parent sees them: processes that are given folds, watched and killed.

They are started by `subprocess`, not by `multiprocessing`, which would run a user's script again
in every process unless the script guards against that.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from sortal.errors import SortalError
from sortal.tasks.compare.worker import read_messages, write_message

if TYPE_CHECKING:
    from collections.abc import Callable

try:
    import cloudpickle
except ImportError:  # joblib before 1.6 brings its own
    from joblib.externals import cloudpickle

_COMMAND = ("-P", "-m", "sortal.tasks.compare.worker")

_ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def pack(thing: Any, by_value: bool = False) -> bytes:
    """A thing as bytes; a class by the name of its module, or whole."""
    module = sys.modules.get(getattr(_class_in(thing), "__module__", ""))
    if not by_value or module is None:
        return bytes(cloudpickle.dumps(thing))
    cloudpickle.register_pickle_by_value(module)
    try:
        return bytes(cloudpickle.dumps(thing))
    finally:
        cloudpickle.unregister_pickle_by_value(module)


def _class_in(entrant: Any) -> Any:
    return getattr(getattr(entrant, "learner", None), "estimator", None)


class Worker:
    """One process. What it says goes to `inbox` as (worker, words); words None: it is gone."""

    def __init__(self, inbox: queue.SimpleQueue[tuple[Worker, Any]]) -> None:
        if not sys.executable:
            raise SortalError(
                "Workers cannot be started, since it is not known where Python is: set "
                "sys.executable."
            )
        self.ready = False
        self.job: Any = None
        self.last: Any = None
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

    def send(self, *words: Any) -> None:
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

    def _listen(self, inbox: queue.SimpleQueue[tuple[Worker, Any]]) -> None:
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

    def __init__(self, problem: Any) -> None:
        self._inbox: queue.SimpleQueue[tuple[Worker, Any]] = queue.SimpleQueue()
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

    def busy(self) -> list[Worker]:
        """Workers that have something to do."""
        return [worker for worker in self._workers if worker.job is not None]

    def dismiss(self, worker: Worker) -> None:
        """Kill a worker."""
        worker.kill()
        self._workers.remove(worker)

    def listen(self, seconds: float, hear: Callable[[Worker, Any], None]) -> None:
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
