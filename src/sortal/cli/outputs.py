"""Where results go: standard output, or a file that is written whole or not at all."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from sortal.cli.telling import is_quiet
from sortal.data.printing import printable
from sortal.data.writing import replace_file
from sortal.errors import InputError, OptionError

if TYPE_CHECKING:
    from sortal.cli.options import TextFormat

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
            raise OptionError(
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


def json_text(value: Any) -> str:
    """One JSON document."""
    from sortal.data.plain_json import dump_json

    text = dump_json(value, indent=2)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def plain_records(frame: Any) -> list[dict[str, Any]]:
    """The rows of a frame, to be printed as JSON."""
    columns = {name: frame[name].tolist() for name in frame.columns}
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def emit_record(record: Any, form: TextFormat, as_json: bool, output: str | None) -> None:
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


def emit_table(frame: Any, form: str | None, output: str | None, **how: Any) -> None:
    """A table of data; without a format, the name of the output says it."""
    from sortal.data.files.saving import write_table

    if output is not None and output != STDOUT:
        write_table(frame, output, form, **how)
        wrote(output)
    elif sys.stdout.isatty():
        _show_table(frame, form or "csv", **how)
    else:
        write_table(frame, STDOUT, form, **how)


def _show_table(frame: Any, form: str, **how: Any) -> None:
    """A table on a terminal, which obeys nothing in it."""
    from sortal.data.files.saving import write_table

    if form == "parquet":
        raise OptionError("Parquet cannot be read on a terminal: give --output a name.")
    with TemporaryDirectory(prefix="sortal-") as folder:
        path = Path(folder) / "table"
        write_table(frame, path, form, **how)
        emit(path.read_text(encoding="utf-8").rstrip("\n"))
