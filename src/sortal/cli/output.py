"""Output of commands: results, notes, errors with their exit codes, progress."""

from __future__ import annotations

import io
import os
import re
import shutil
import sys
import traceback
import warnings
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TextIO

import typer

from sortal.cli import INTERRUPTED, was_interrupted
from sortal.data.atomic_write import replace_file
from sortal.errors import InputError, ParameterError, SortalError, SortalWarning, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pandas as pd

    from sortal.cli.options import TextFormat
    from sortal.records.tables import Shown

    Progress = Callable[[int, int, str, float | None], None]


# --- What is said beside the result, on standard error: notes, once each, and errors -------------

_QUIET: ContextVar[bool] = ContextVar("quiet", default=False)


def set_quiet(quiet: bool) -> None:
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


def print_note(kind: str, text: str, color: str) -> None:
    """One line on standard error, such as `note: …`."""
    told = printable(" ".join(text.split()))
    print(f"{styled(f'{kind}:', sys.stderr, fg=color, bold=True)} {told}", file=sys.stderr)


def note(text: str) -> None:
    """Something worth knowing."""
    if not is_quiet():
        print_note("note", text, "yellow")


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Warnings of sortal are notes, once each; those of other libraries are for developers."""
    told: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
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


STDOUT = "-"

# JSON allows them as they are, a terminal may obey them
_UNSAFE = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def check_output(output: str | None, *inputs: str) -> None:
    """A file that can be written and is none of the inputs: said before any work is done."""
    if output is None or output == STDOUT:
        return
    path = Path(output)
    if path.exists() and not (path.is_file() or path.is_dir()):
        return  # such as /dev/stdout
    for given in inputs:
        if given != STDOUT and path.exists() and Path(given).exists() and path.samefile(given):
            raise ParameterError(
                f"--output {output!r} is the input itself, which would be lost: give another name."
            )
    folder = Path(os.path.realpath(path)).parent
    if path.is_dir():
        raise InputError(f"{output!r} is a folder: give the name of a file to write.")
    if not folder.is_dir():
        raise InputError(
            f"There is no folder {str(folder)!r} to write {path.name!r} into: make it first, or "
            "give another path."
        )
    if not os.access(folder, os.W_OK):
        raise InputError(f"There is no permission to write into {str(folder)!r}.")


def emit(text: str, output: str | None = None) -> None:
    """A text, and an end of line, to where it belongs."""
    if output is None or output == STDOUT:
        sys.stdout.write(f"{printable(text, but=chr(10)) if sys.stdout.isatty() else text}\n")
        return
    with replace_file(output) as draft:
        draft.write_text(f"{text}\n", encoding="utf-8")
    wrote(output)


def wrote(output: str, more: str = "") -> None:
    """Say what was written."""
    if not is_quiet():
        print(f"wrote {printable(output)}{more and f' ({more})'}", file=sys.stderr)


def json_text(value: object) -> str:
    """One JSON document."""
    from sortal.data.columns import dump_json

    text = dump_json(value, indent=2)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def plain_records(frame: pd.DataFrame) -> list[dict[str, object]]:
    """The rows of a frame, to be printed as JSON."""
    columns = {name: frame[name].tolist() for name in frame.columns}
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def emit_record(record: Shown, form: TextFormat, as_json: bool, output: str | None) -> None:
    """A record in the form that was asked for."""
    if as_json:
        emit(json_text(record.to_dict()), output)
    elif form == "md":
        emit(record.to_markdown(), output)
    elif form == "html":
        emit(record.to_html().rstrip("\n"), output)
    else:
        emit(record.to_text(text_width(output)), output)


def text_width(output: str | None) -> int | None:
    """How wide lines may be: as the terminal is; without one there is no bound."""
    if output not in (None, STDOUT) or not sys.stdout.isatty():
        return None
    return max(20, shutil.get_terminal_size().columns)


def emit_table(frame: pd.DataFrame, form: str | None, output: str | None, **how: Any) -> None:
    """A table of data; without a format, the name of the output says it."""
    from sortal.data.files.write import write_table

    if output is not None and output != STDOUT:
        write_table(frame, output, form, **how)
        wrote(output)
    elif sys.stdout.isatty():
        _show_table(frame, form or "csv", **how)
    else:
        write_table(frame, STDOUT, form, **how)


def _show_table(frame: pd.DataFrame, form: str, **how: Any) -> None:
    """A table on a terminal, which obeys nothing in it."""
    from sortal.data.files.write import write_table

    if form == "parquet":
        raise ParameterError("Parquet cannot be read on a terminal: give --output a name.")
    with TemporaryDirectory(prefix="sortal-") as folder:
        path = Path(folder) / "table"
        write_table(frame, path, form, **how)
        emit(path.read_text(encoding="utf-8").rstrip("\n"))


# --- How a command ends: which exit code, and the one line that says why -------------------------

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
    print_note("interrupted", "nothing was written.", "yellow")
    return INTERRUPTED


def _problem(error: Exception) -> int:
    if os.environ.get("SORTAL_DEBUG"):
        traceback.print_exc()
    print_note("error", _words(error), "red")
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


# --- Progress of long work on standard error: a bar on a terminal, else a line a model -----------

# bytes of a file
_LARGE = 10_000_000


@contextmanager
def show_progress(what: str = "folds") -> Iterator[Progress]:
    """What long work calls with how much is done, of how much, words, and seconds left.

    `what` is counted, as soon as it is known how many there are.
    """
    if is_quiet():
        yield lambda *_: None
    elif sys.stderr.isatty():
        with _bar() as progress:
            yield progress
    else:
        yield _Lines(what)


@contextmanager
def show_steps(data: str, n: int) -> Iterator[Callable[[str], None]]:
    """What a command calls with a name for each of its n steps; seen where `data` takes long."""
    if is_quiet() or not sys.stderr.isatty() or not _is_large(data):
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
            left, done_of = _left(seconds_left), f"{done}/{total} {self._what}: " if total else ""
            told = f"{done_of}{printable(words)}{left and f', {left}'}"
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
                total=total or None,
                description=printable(words),
                left=_left(seconds_left),
                refresh=seconds_left is None,  # a step may be over before the next drawing
            )

        yield progress


def _left(seconds: float | None) -> str:
    """How long it still takes, roughly; nothing, where that is not known or less than a second."""
    whole = round(seconds or 0)
    return f"about {whole // 60}:{whole % 60:02d} left" if whole > 0 else ""
