"""The command line: parse, call the function of that name in tasks, print."""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False  # until main has begun, Ctrl-C is Python's: little is imported before
if TYPE_CHECKING:
    from types import FrameType

INTERRUPTED = 130

# seconds: until an import may be over, and until whoever ignored Ctrl-C is asked once more
_SOON, _LATER = 0.02, 1.0


def main(argv: list[str] | None = None) -> int:
    """Run a command and give its exit code: 0 fine, 1 a problem, 2 wrong usage, 130 Ctrl-C.

    Without arguments it is the process's own command line that is run, and the end of the process.
    """
    if argv is None:
        signal.signal(signal.SIGINT, _interrupt)
    try:
        # not before, so that Ctrl-C while Python still imports ends without a traceback, too
        from sortal.cli.app import run

        code = run(argv)
    except KeyboardInterrupt:
        code = INTERRUPTED
    if argv is None:
        _leave(code)
    return code


def was_interrupted() -> bool:
    """Whether Ctrl-C was met: libraries may make of it what they like, such as an ImportError."""
    return bool(_met)


_met: list[int] = []


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Stop what is being done, but let an import end first.

    A compiled module that is interrupted while it is loaded may abort the process or forget that
    it was interrupted; and so may a callback, at any time.
    """
    _met.append(number)
    importing = _is_importing(frame)
    _ask_again(_SOON if importing else _LATER)
    if not importing:
        raise KeyboardInterrupt


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def _ask_again(seconds: float) -> None:
    import _thread
    import threading

    main = threading.main_thread().ident

    def ask() -> None:
        if main is not None and hasattr(signal, "pthread_kill"):  # it also ends a wait, or a sleep
            signal.pthread_kill(main, signal.SIGINT)
        else:
            _thread.interrupt_main()

    timer = threading.Timer(seconds, ask)
    timer.daemon = True
    timer.start()


def _leave(code: int) -> None:
    """There is nothing left to interrupt; and after Ctrl-C nothing is waited for."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if code == INTERRUPTED:
        sys.stderr.flush()
        os._exit(code)  # libraries may have threads that take their time
