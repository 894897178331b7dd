"""Options that commands share: arguments, settings of a learner, how the data is read."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from sortal.cli.output import note
from sortal.errors import ParameterError
from sortal.tasks.registry import learners

if TYPE_CHECKING:
    from sortal.tasks.tables import OpenedTable

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
        help=(
            "An option of the learner, such as max_depth=3, criterion=gini or pruning=null; "
            "sortal show LEARNER lists them."
        ),
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

Categorical = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical",
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


# --- Options of a learner, given as `--set name=value` -------------------------------------------

_WORDS = {"None": None, "True": True, "False": False, "inf": math.inf}  # as Python has them


def read_settings(given: list[str] | None) -> dict[str, Any]:
    """Values by name; a value is JSON, or else a word."""
    settings: dict[str, Any] = {}
    for setting in given or ():
        name, sign, value = setting.partition("=")
        name = name.strip().replace("-", "_")
        if not sign or not name:
            raise ParameterError(
                f"--set {setting!r} cannot be read: give a name and a value, such as max_depth=3."
            )
        if name in settings:
            raise ParameterError(f"--set names {name!r} twice: give each option once.")
        settings[name] = _read_value(value)
    return settings


def _read_value(value: str) -> Any:
    if value in _WORDS:
        return _WORDS[value]
    try:
        return json.loads(value)
    except (json.JSONDecodeError, RecursionError):
        return value


# --- How the data is read, as the options say it -------------------------------------------------


def reading(
    na_values: str | None,
    text: list[str] | None,
    delimiter: str | None,
    encoding: str | None,
    header: bool | None,
    decimal: str | None,
) -> dict[str, Any]:
    """The options of `sortal.read` that were given."""
    given = {
        "na_values": None if na_values is None else na_values.split(","),
        "text": text or None,
        "delimiter": _SIGNS.get(delimiter or "", delimiter),
        "encoding": encoding,
        "header": header,
        "decimal": decimal,
    }
    return {name: value for name, value in given.items() if value is not None}


# signs that are hard to type
_SIGNS = {"\\t": "tab", "space": " "}


def as_options(how: dict[str, Any]) -> list[str]:
    """The words of a command line that `reading` makes this of."""
    words = [word for column in how.get("text", ()) for word in ("--text", column)]
    if "na_values" in how:
        words += ["--na-values", ",".join(how["na_values"])]
    for name in ("delimiter", "encoding", "decimal"):
        words += [f"--{name}", how[name]] if name in how else []
    if "header" in how:
        words.append("--header" if how["header"] else "--no-header")
    return words


def open_data(data: str, how: dict[str, Any], model: Any = None) -> OpenedTable:
    """The data, read; what was decided on the way is said. For a model, as it knows the columns."""
    from sortal.tasks.load import open_for
    from sortal.tasks.tables import open_table

    opened = open_table(data, **how) if model is None else open_for(model, data, how)
    for words in opened.notes:
        note(words)
    return opened
