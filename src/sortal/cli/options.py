"""Arguments and options that several commands share."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from sortal.tasks.registry import learners

TextFormat = Literal["text", "md", "html"]

_READING = "Reading the data"
_SAYING = "What is printed"

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A CSV, Parquet or JSON-lines file (also .gz); - is standard input.",
        show_default=False,
    ),
]
Model = Annotated[
    str, typer.Argument(metavar="MODEL", help="A model file, from fit.", show_default=False)
]
Target = Annotated[
    str,
    typer.Option("--target", "-t", metavar="COLUMN", help="The column to predict."),
]
MaybeTarget = Annotated[
    str | None,
    typer.Option("--target", "-t", metavar="COLUMN", help="The column to predict."),
]


def learner_names() -> str:
    """The learners' names, for a line of help."""
    return ", ".join(learner.name for learner in learners())


LearnerName = Annotated[
    str,
    typer.Option("--learner", "-l", metavar="NAME", help=f"What is fitted: {learner_names()}."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="An option of the learner, such as max_depth=3, criterion=gini or pruning=null.",
        show_default=False,
    ),
]


def whole(given: str) -> int:
    """A whole number, as an option has it."""
    try:
        return int(given)
    except ValueError:
        raise typer.BadParameter(f"{given!r} is not a whole number: give one, such as 7.") from None


Rows = Annotated[
    list[int] | None,
    typer.Option(
        "--row",
        "-r",
        metavar="N",
        help="A row, counted from 1.",
        show_default=False,
        parser=whole,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COLUMN", help="Leave a column out.", show_default=False),
]
Category = Annotated[
    list[str] | None,
    typer.Option(
        "--category",
        metavar="COLUMN",
        help="Take a column of numbers for names, such as codes.",
        show_default=False,
    ),
]
Text = Annotated[
    list[str] | None,
    typer.Option(
        "--text",
        metavar="COLUMN",
        help="Read a column as text, whatever it looks like.",
        show_default=False,
    ),
]
NaValues = Annotated[
    str | None,
    typer.Option(
        "--na-values",
        metavar="WORDS",
        help="Words that mean a missing value, with commas between; added to NA, ? and the like.",
        show_default=False,
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        metavar="SIGN",
        help="What stands between the cells of a CSV file; found out if not given.",
        show_default=False,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="The encoding of a CSV file, such as latin-1; UTF-8 if not given.",
        show_default=False,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first line of a CSV file has the names; found out if not given.",
        show_default=False,
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        "--decimal",
        metavar="SIGN",
        help="The decimal mark of a CSV file, a point or a comma; found out if not given.",
        show_default=False,
    ),
]
Output = Annotated[
    str | None,
    typer.Option("--output", "-o", metavar="FILE", help="Write into a file.", show_default=False),
]
All = Annotated[
    bool,
    typer.Option("--all", help="Everything, however long it is; JSON always has everything."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
ShowCode = Annotated[
    bool, typer.Option("--show-code", help="Print Python code that does the same, and do nothing.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No notes and no progress.")]
Format = Annotated[
    TextFormat, typer.Option("--format", "-f", help="Plain text, Markdown or a page of HTML.")
]
