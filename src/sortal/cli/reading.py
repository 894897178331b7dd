"""How the data is read, as the options say it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sortal.cli.telling import note

if TYPE_CHECKING:
    from sortal.tasks.tables import Opened


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


def open_data(data: str, how: dict[str, Any], model: Any = None) -> Opened:
    """The data, read; what was decided on the way is said. For a model, as it knows the columns."""
    from sortal.tasks.models import open_for
    from sortal.tasks.tables import open_table

    opened = open_table(data, **how) if model is None else open_for(model, data, how)
    for words in opened.notes:
        note(words)
    return opened
