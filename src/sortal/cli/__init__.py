"""The command line: parse, call the function of that name in tasks, print."""

from __future__ import annotations

import os
import signal
import sys

INTERRUPTED = 130


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


def _interrupt(number: int, _: object) -> None:
    _met.append(number)
    raise KeyboardInterrupt


def _leave(code: int) -> None:
    """There is nothing left to interrupt; and after Ctrl-C nothing is waited for."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if code == INTERRUPTED:
        sys.stderr.flush()
        os._exit(code)  # libraries may have threads that take their time
