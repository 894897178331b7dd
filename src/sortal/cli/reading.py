"""How the data is read, as the options say it."""

from __future__ import annotations

from typing import Any


def reading(
    holes: str | None, text: list[str] | None, delimiter: str | None, encoding: str | None
) -> dict[str, Any]:
    """The options of `sortal.read` that were given; an empty cell is always a hole."""
    words = None if holes is None else tuple(dict.fromkeys(["", *holes.split(",")]))
    given = {
        "holes": words,
        "text": text or None,
        "delimiter": _SIGNS.get(delimiter or "", delimiter),
        "encoding": encoding,
    }
    return {name: value for name, value in given.items() if value is not None}


# signs that are hard to type
_SIGNS = {"tab": "\t", "\\t": "\t", "space": " "}
