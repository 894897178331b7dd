"""What is said beside the result, on standard error: notes, once each, and errors."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TextIO

import typer

from sortal.data.printing import printable
from sortal.errors import SortalWarning

if TYPE_CHECKING:
    from collections.abc import Iterator

_QUIET: ContextVar[bool] = ContextVar("quiet", default=False)


def hush(quiet: bool) -> None:
    """From here on, say nothing but errors."""
    _QUIET.set(quiet)


def is_quiet() -> bool:
    """Whether only errors are said."""
    return _QUIET.get()


def has_colors(stream: TextIO) -> bool:
    """Colors are for terminals, and for people who want them (no-color.org)."""
    wanted = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return wanted and stream.isatty()


def styled(text: str, stream: TextIO, **style: Any) -> str:
    """A text in colors, where there are colors."""
    return typer.style(text, **style) if has_colors(stream) else text


def say(kind: str, text: str, color: str) -> None:
    """One line on standard error, such as `note: …`."""
    told = printable(" ".join(text.split()))
    print(f"{styled(f'{kind}:', sys.stderr, fg=color, bold=True)} {told}", file=sys.stderr)


def note(text: str) -> None:
    """Something worth knowing."""
    if not is_quiet():
        say("note", text, "yellow")


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Warnings of sortal are notes, once each; those of other libraries are for developers."""
    told: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        text = str(message)
        if issubclass(category, SortalWarning) and text not in told:
            told.add(text)
            note(text)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", SortalWarning)
        warnings.showwarning = show
        token = _QUIET.set(False)
        try:
            yield
        finally:
            _QUIET.reset(token)
