"""Text of messages: data made safe to print, and nouns and verbs that agree with a number."""

from __future__ import annotations

import json

# Signs that are not printed, but join letters of some scripts and parts of pictures.
_JOINERS = str.maketrans("", "", "\u200c\u200d")


def is_printable(text: str) -> bool:
    """Whether nothing in a text moves the cursor, breaks the line or turns the direction."""
    return text.translate(_JOINERS).isprintable()


def printable(text: str, but: str = "") -> str:
    r"""A text whose unprintable signs are written as JSON has them, \n or \u001b; `but` stay."""
    if is_printable(text):
        return text
    return "".join(c if c in but or is_printable(c) else json.dumps(c)[1:-1] for c in text)


def agreed(n: float, one: str, several: str) -> str:
    """A word that agrees with a number: 1 row is, 2 rows are."""
    return one if n == 1 else several


def counted(n: int, one: str, several: str = "") -> str:
    """So many of something: 1 row, 1,234 rows."""
    return f"{n:,} {agreed(n, one, several or f'{one}s')}"
