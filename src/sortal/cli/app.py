"""The commands together, and how they are run."""

from __future__ import annotations

import sys
from functools import cache
from inspect import cleandoc
from typing import TYPE_CHECKING, Annotated, Any

import typer

import sortal
from sortal.cli.compare import COMPARE_EXAMPLES, INSPECT_EXAMPLES, compare, inspect
from sortal.cli.fit import EXAMPLES as FIT_EXAMPLES
from sortal.cli.fit import fit
from sortal.cli.options import spread
from sortal.cli.output import end, warnings_as_notes
from sortal.cli.predict import EXPLAIN_EXAMPLES, PREDICT_EXAMPLES, explain, predict
from sortal.cli.report import EXAMPLES as REPORT_EXAMPLES
from sortal.cli.report import report
from sortal.cli.show import SHOW_EXAMPLES, WORK_EXAMPLES, show, working

if TYPE_CHECKING:
    from collections.abc import Callable

    from typer._click import Command

COMMANDS: tuple[tuple[Callable[..., None], tuple[str, ...]], ...] = (
    (inspect, INSPECT_EXAMPLES),
    (compare, COMPARE_EXAMPLES),
    (report, REPORT_EXAMPLES),
    (fit, FIT_EXAMPLES),
    (predict, PREDICT_EXAMPLES),
    (explain, EXPLAIN_EXAMPLES),
    (show, SHOW_EXAMPLES),
    (working, WORK_EXAMPLES),
)

# where the examples' table comes from
TABLE = (
    'python -c "from sortal import datasets; '
    "datasets.penguins().to_csv('penguins.csv', index=False)\""
)

app = typer.Typer(
    name="sortal",
    add_completion=False,
    rich_markup_mode=None,  # brackets in help are brackets, and rich takes time to import
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 100},
)


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sortal {sortal.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_say_version, is_eager=True, help="Say the version."),
    ] = False,
) -> None:
    """Classifiers that people can read: from a table to a comparison, a model and its reasons.

    Results go to standard output, notes and progress to standard error. Exit codes: 0 fine,
    1 a problem with data, options or files, 2 wrong usage, 130 interrupted.
    """


def help_of(function: Callable[..., Any], examples: tuple[str, ...]) -> str:
    """A docstring with examples, which keep their lines."""
    shown = "\n".join(f"  {line}" for line in examples)
    return f"{cleandoc(function.__doc__ or '')}\n\n\b\nExamples:\n{shown}"


for _function, _examples in COMMANDS:
    app.command(help=help_of(_function, _examples))(spread(_function))


def run(argv: list[str] | None = None) -> int:
    """Run a command and give its exit code."""
    args = sys.argv[1:] if argv is None else argv
    for stream in (sys.stdout, sys.stderr):  # what an old terminal cannot show is written out
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    with warnings_as_notes():
        return end(lambda: _call(args or ["--help"]))


@cache
def _command() -> Command:
    return typer.main.get_command(app)


def _call(args: list[str]) -> None:
    """Parse and call; not by the app's own main, which has other exit codes."""
    command = _command()
    with command.make_context("sortal", args) as context:
        command.invoke(context)
