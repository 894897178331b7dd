"""How a command ends: which exit code, and the one line that says why."""

from __future__ import annotations

import io
import os
import sys
import traceback
from typing import TYPE_CHECKING, Any

import typer

from sortal.cli import INTERRUPTED, was_interrupted
from sortal.cli.telling import say
from sortal.data.printing import printable
from sortal.errors import SortalError

if TYPE_CHECKING:
    from collections.abc import Callable

FINE, PROBLEM, WRONG_USAGE = 0, 1, 2

# the base of all that is wrong with arguments, which typer does not export by its name
UsageError: Any = typer.BadParameter.__base__


def end(call: Callable[[], None]) -> int:
    """Run a command to its end, whatever that is."""
    try:
        call()
        sys.stdout.flush()
    except typer.Exit as asked:
        return int(asked.exit_code)
    except UsageError as error:
        told = io.StringIO()
        error.show(told)
        sys.stderr.write(printable(told.getvalue(), but="\n"))  # it repeats what was typed
        return WRONG_USAGE
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted()
    except BrokenPipeError:
        _close_quietly()
        return FINE  # whoever read the output had enough of it
    except Exception as error:  # noqa: BLE001  (a user never meets a traceback unasked)
        return _interrupted() if was_interrupted() else _problem(error)
    return FINE


def _interrupted() -> int:
    say("interrupted", "nothing was written.", "yellow")
    return INTERRUPTED


def _problem(error: Exception) -> int:
    if os.environ.get("SORTAL_DEBUG"):
        traceback.print_exc()
    say("error", _words(error), "red")
    try:
        sys.stdout.flush()
    except OSError:  # a full disk stays full; once is enough to say so
        _close_quietly()
    return PROBLEM


def _words(error: Exception) -> str:
    """What to say of an error, in one line."""
    if isinstance(error, SortalError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename!r}: " if error.filename is not None else ""
        return f"{where}{error.strerror}."
    if isinstance(error, MemoryError):
        return "there is not enough memory for this table. Try fewer rows or columns."
    return (
        f"{type(error).__name__}: {error}. This was not expected; SORTAL_DEBUG=1 shows where it "
        "happened."
    )


def _close_quietly() -> None:
    """Let nothing more go into the broken pipe, not even when Python ends."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # not a real stream
        return
