"""Faces of records: text, Markdown and HTML. Names and values come from data and are escaped."""

from __future__ import annotations

import re
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Final

import numpy as np

from sortal.data.moments import PER_DAY
from sortal.data.printing import printable
from sortal.models.text_tables import fold, text_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    Cell = str | bool | int | float | None


def number_text(cell: Cell) -> str:
    """A cell as one would write it: six digits at most, whole numbers without a point."""
    if cell is None:
        return ""
    if isinstance(cell, float) and not isinstance(cell, bool):
        return f"{cell:.6g}"
    return str(cell)


def share_text(share: float) -> str:
    """Three digits, or as many as it takes not to call a share none or all that is neither."""
    for digits in range(3, 16):
        text = f"{share:.{digits}f}"
        if share in (0.0, 1.0) or float(text) not in (0.0, 1.0):
            return text
    return repr(share)


def decision_text(share: float, label: int, expected: Sequence[float] | None) -> str:
    """The probability of the class predicted; under costs, also why it was this one."""
    if expected is None:
        return f"P = {share:.4g}"
    next_best = min(cost for k, cost in enumerate(expected) if k != label)
    return f"P = {share:.4g}, least expected cost {expected[label]:.4g}, next {next_best:.4g}"


def moment_text(days: float) -> str:
    """Days since 1970-01-01 as a date or a time, as short as it reads back to the same bits.

    What nanoseconds cannot tell, as it happens within a few days of 1970, stays a number of days.
    """
    for unit, per_day in PER_DAY.items():
        count = round(Fraction(days) * per_day)
        if abs(count) < 2**63 and count / per_day == days:
            return str(np.datetime64(count, unit))
    return f"{days!r} days"


def cell_text(cell: Cell) -> str:
    """A cell in one line, whatever signs it holds."""
    return printable(number_text(cell))


def table_text(
    title: str,
    equation: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    width: int | None = None,
) -> str:
    """A title and aligned columns: words to the left, numbers to the right."""
    cells = [[cell_text(cell) for cell in row] for row in rows]
    words = [is_words([row[j] for row in rows]) for j in range(len(columns))]
    table = text_table([cell_text(name) for name in columns], cells, words, width)
    return f"{fold(headed(title, equation), width)}\n{table}"


def table_html(
    title: str, equation: str, columns: Sequence[str], rows: Sequence[Sequence[Cell]]
) -> str:
    """A plain table with a caption, readable without styles."""
    head = "".join(f'<th scope="col">{escape(cell_text(name))}</th>' for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell_text(cell))}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    caption = escape(headed(title, equation))
    return (
        f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )


# What Markdown would take for a sign of its own, and a table for the end of a cell.
_MARKS: Final = re.compile(r"[\\`*|\[\]~$]|<(?=[A-Za-z/!?])|&(?=[#\w])|(?<![^\W_])_|_(?![^\W_])")


def table_markdown(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """A table of Markdown, numbers to the right; names and values show as they are."""
    words = [is_words([row[j] for row in rows]) for j in range(len(columns))]
    rule = ["---" if left else "---:" for left in words]
    cells = [[marked(number_text(cell)) for cell in row] for row in [columns, *rows]]
    return "\n".join(f"| {' | '.join(row)} |" for row in [cells[0], rule, *cells[1:]])


def marked(text: str) -> str:
    """Text as it is, in one line of Markdown."""
    in_one_line = printable(" ".join(text.splitlines()))
    return _MARKS.sub(lambda found: f"\\{found[0]}", in_one_line)


def join_text(title: str, parts: Sequence[str]) -> str:
    """Parts under a title, an empty line between them."""
    return "\n\n".join([title, *parts] if title else parts)


def join_markdown(title: str, parts: Sequence[str], level: int) -> str:
    """Parts under a heading."""
    return join_text(f"{'#' * level} {marked(title)}" if title else "", parts)


def join_html(title: str, parts: Sequence[str]) -> str:
    """Parts under a heading."""
    heading = f"<h4>{escape(printable(title))}</h4>" if title else ""
    return f"<div>{heading}{''.join(parts)}</div>"


def headed(title: str, equation: str) -> str:
    """A title in one line, and the tag of its formula."""
    title = printable(title)
    return f"{title}  ({equation})" if equation else title


def is_words(cells: Sequence[Cell]) -> bool:
    """Whether a column is set to the left."""
    return any(isinstance(cell, str | bool) for cell in cells)
