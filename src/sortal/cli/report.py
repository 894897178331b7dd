"""`sortal report`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sortal.cli import options as o
from sortal.cli.options import Script, costs_as_typed, open_data
from sortal.cli.output import (
    STDOUT,
    check_output,
    emit,
    json_text,
    show_progress,
    wrote,
)
from sortal.errors import ParameterError
from sortal.tasks.options import call

EXAMPLES = (
    "sortal report penguins.csv --target species -o report.html",
    "sortal report penguins.csv -t species --learner tree --learner lda --repeats 1 -o report.md",
    "sortal report penguins.csv -t species --include-rows --title 'Three penguins' -o birds.html",
)

ReportFormat = Literal["html", "md"]

Form = Annotated[
    ReportFormat | None,
    typer.Option(
        "--format",
        "-f",
        help="A page, or Markdown with pictures beside it; by the name of the output.",
    ),
]

Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="What to write, such as report.html or report.md; a page can also be piped.",
        show_default=False,
    ),
]


def report(
    data: o.Data,
    target: o.Target,
    output: Output = None,
    form: Form = None,
    *,
    asked: o.Reporting,
    reading: o.Reading,
    as_json: o.Json = False,
    show_code: o.ShowCode = False,
) -> None:
    """Write a page that can be sent on.

    One file that holds all it needs: the table, the comparison and the recommendation in plain
    words, every model with its pictures and errors, and a form in which the recommended model
    decides.
    """
    named: dict[str, Any] = {**asked, **reading.named}
    if show_code:
        script = Script()
        script.add(f"report = {call('sortal.report', data, target, **named)}")
        if as_json or output in (None, STDOUT):
            script.finish("report", "html", as_json, output)
        else:
            script.add(f"report.save({output!r}{f', {form!r}' if form else ''})")
        emit(str(script))
        return
    _check(output, form, as_json)
    check_output(output, data)
    from sortal.tasks.report.report import report as task

    with show_progress("steps") as progress, costs_as_typed(asked.get("costs")):
        progress(0, 0, f"reading {data}", None)
        made = task(open_data(data, reading.named), target, progress=progress, **named)
    if as_json:
        emit(json_text(made.to_dict()), output)
    elif output is None or output == STDOUT:
        emit(made.to_html().rstrip("\n"))
    else:
        made.save(output, form)
        wrote(output, _size(Path(output)))


def _check(output: str | None, form: ReportFormat | None, as_json: bool) -> None:
    """What cannot be written is said before any work is done."""
    if as_json:
        return
    if output is None and sys.stdout.isatty():
        raise ParameterError("A page goes into a file: give --output a name, such as report.html.")
    if output not in (None, STDOUT):
        _form_of(str(output), form)
    elif form == "md":
        raise ParameterError(
            "Markdown comes with a folder of pictures: give --output a name, such as report.md."
        )


def _form_of(output: str, form: ReportFormat | None) -> None:
    from sortal.tasks.report.report import report_format

    report_format(output, form)


def _size(path: Path) -> str:
    """How large a file is, in kB."""
    return f"{path.stat().st_size / 1000:,.0f} kB" if path.is_file() else ""
