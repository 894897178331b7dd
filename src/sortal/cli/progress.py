"""Progress of long work on standard error: a bar on a terminal, else a line a model."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from sortal.data.printing import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Progress = Callable[[int, int, str, float | None], None]

# bytes of a file
_LARGE = 10_000_000


@contextmanager
def show_progress(quiet: bool, what: str = "folds") -> Iterator[Progress | None]:
    """What long work calls with how much is done, of how much, words, and seconds left.

    `what` is counted.
    """
    if quiet:
        yield None
    elif sys.stderr.isatty():
        with _bar() as progress:
            yield progress
    else:
        yield _Lines(what)


@contextmanager
def show_steps(quiet: bool, data: str, n: int) -> Iterator[Callable[[str], None]]:
    """What a command calls with a name for each of its n steps; seen where `data` takes long."""
    if quiet or not sys.stderr.isatty() or not _is_large(data):
        yield lambda _: None
        return
    begun = count()
    with _bar() as progress:
        yield lambda words: progress(next(begun), n, words, None)


def _is_large(data: str) -> bool:
    """Whether reading takes more than a moment; of what comes by a pipe, nobody knows."""
    path = Path(data)
    return not path.is_file() or path.stat().st_size >= _LARGE


class _Lines:
    """A line whenever the words change."""

    def __init__(self, what: str) -> None:
        self._last, self._what = "", what

    def __call__(self, done: int, total: int, words: str, seconds_left: float | None) -> None:
        if words != self._last:
            self._last = words
            left = _left(seconds_left)
            told = f"{done}/{total} {self._what}: {printable(words)}{left and f', {left}'}"
            print(told, file=sys.stderr, flush=True)


@contextmanager
def _bar() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bar

    words = TextColumn("{task.description}", markup=False)
    left = TextColumn("{task.fields[left]}", markup=False)
    console = Console(stderr=True)  # it honors NO_COLOR
    with Bar(
        BarColumn(), TaskProgressColumn(), left, words, console=console, transient=True
    ) as bar:
        task = bar.add_task("", total=None, left="")

        def progress(done: int, total: int, words: str, seconds_left: float | None) -> None:
            bar.update(
                task,
                completed=done,
                total=total,
                description=printable(words),
                left=_left(seconds_left),
                refresh=seconds_left is None,  # a step may be over before the next drawing
            )

        yield progress


def _left(seconds: float | None) -> str:
    """How long it still takes, roughly."""
    if seconds is None:
        return ""
    whole = max(0, round(seconds))
    return f"about {whole // 60}:{whole % 60:02d} left"
