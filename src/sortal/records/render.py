"""Records as text, Markdown and HTML. Names and values come from data and are escaped."""

from __future__ import annotations

import json
import re
import textwrap
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from sortal.data.columns import PER_DAY
from sortal.errors import is_printable, printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Cell = str | bool | int | float | None


# --- Tables of text: aligned columns, and what becomes of them where there is little room --------

_GAP = "  "

# A column is not folded to less than this, however little room there is.
_LEAST = 12


def text_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[str]],
    words: Sequence[bool],
    width: int | None = None,
) -> str:
    """Columns side by side, those of words to the left, a line of dashes below their names.

    Where they need more than `width`, long words are folded, and columns that still do not fit
    stand in a block below, beside the first column again.
    """
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    if width is not None:
        room = _rooms(widths, words, width)
        lines = [_fold_row(row, room) for row in [columns, *rows]]
        widths = [
            max(len(line) for cell in column for line in cell)
            for column in zip(*lines, strict=True)
        ]
        blocks = _blocks(widths, width)
    else:
        lines = [[[cell] for cell in row] for row in [columns, *rows]]
        blocks = [list(range(len(columns)))]
    return "\n\n".join(_block(lines, widths, words, block) for block in blocks)


def fold(text: str, width: int | None) -> str:
    """A text of which no line is longer than `width`; lines that fit stay as they are."""
    if width is None:
        return text
    lines = [_fold_line(line, width) for line in text.split("\n")]
    return "\n".join(part for parts in lines for part in parts)


def _fold_line(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    return textwrap.wrap(line, max(width, 1), break_on_hyphens=False) or [""]


def _rooms(widths: Sequence[int], words: Sequence[bool], width: int) -> list[int]:
    """How wide each column may be; numbers are never folded."""
    if sum(widths) + len(_GAP) * (len(widths) - 1) <= width:
        return list(widths)
    first = min(widths[0], max(_LEAST, width // 3)) if words[0] else widths[0]
    rest = max(_LEAST, width - first - len(_GAP))
    return [
        first if j == 0 else min(own, rest) if words[j] else own for j, own in enumerate(widths)
    ]


def _fold_row(row: Sequence[str], room: Sequence[int]) -> list[list[str]]:
    return [_fold_line(cell, most) for cell, most in zip(row, room, strict=True)]


def _blocks(widths: Sequence[int], width: int) -> list[list[int]]:
    """Columns by block; every block begins with the first column."""
    blocks, used = [[0]], widths[0]
    for j in range(1, len(widths)):
        more = len(_GAP) + widths[j]
        if used + more > width and len(blocks[-1]) > 1:
            blocks.append([0])
            used = widths[0]
        blocks[-1].append(j)
        used += more
    return blocks


def _block(
    rows: Sequence[Sequence[Sequence[str]]],
    widths: Sequence[int],
    words: Sequence[bool],
    block: Sequence[int],
) -> str:
    dashes = [["-" * width] for width in widths]
    told = []
    for row in [rows[0], dashes, *rows[1:]]:
        for i in range(max(len(row[j]) for j in block)):
            cells = [(row[j][i] if i < len(row[j]) else "", j) for j in block]
            padded = [
                cell.ljust(widths[j]) if words[j] else cell.rjust(widths[j]) for cell, j in cells
            ]
            told.append(_GAP.join(padded).rstrip())
    return "\n".join(told)


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


# --- A whole small page of HTML: nothing from elsewhere, light and dark, fit to be printed -------

# Nothing is fetched and nothing runs; only the style below is allowed.
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"

_STYLE: Final = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h4 { font-size: 1.1rem; }
div { overflow-x: auto; }
table { border-collapse: collapse; margin: 1.5rem 0; font-variant-numeric: tabular-nums; }
caption { text-align: left; white-space: nowrap; font-weight: 600; padding-bottom: .4rem; }
th, td { border-bottom: 1px solid #8886; padding: .25rem .8rem .25rem 0; text-align: left; }
th { border-bottom-width: 2px; vertical-align: bottom; }
pre { overflow-x: auto; }
@media print { body { margin: 0; max-width: none; font-size: 10pt; } div { overflow: visible; }
  tr { break-inside: avoid; } thead { display: table-header-group; } }
""".strip()


def page(title: str, body: str) -> str:
    """A page around a piece of HTML, whose own texts are escaped already."""
    head = escape(printable(title))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{head}</title>\n<style>\n{_STYLE}\n</style>\n</head>\n"
        f"<body>\n<main>\n<h1>{head}</h1>\n{body}\n</main>\n</body>\n</html>\n"
    )


# A part of a page that a script brings to life: its HTML, and the data that the script reads.


@dataclass(frozen=True)
class PagePart:
    """One element, `<div data-part-of="id">`, whose texts are escaped, and plain data for JSON.

    `kind` says which function of the page's script starts it. Without the script it can be read.
    """

    id: str
    kind: Literal["tree", "decide"]
    html: str
    data: Mapping[str, Any]


# What a name or a value cannot hold without quotes: the signs of a condition, its words about
# other values and missing values, and the words that join conditions.
_SIGNS = re.compile(
    r"""[<>={}"|,]|^ | $|^$|^…|\(or (?:other|missing)\)$"""
    r"""|(?:^| )(?:is (?:any|no|known|missing)|in|not|and|or|then|∧|∨)(?: |$)"""
)

# Words that read as a number or a truth value, which they are not.
_NUMBERS = re.compile(r"[+-]?(?:\d|\.\d|inf$|nan$)|True$|False$", re.IGNORECASE)


def quoted(name: object) -> str:
    """A name or value, in quotes where it could be misread; 1 is a number, "1" a word."""
    text = str(name)
    is_plain = not (isinstance(name, str) and _reads_as_number(text))
    if is_plain and is_printable(text) and not _SIGNS.search(text):
        return text
    # a line break, or a sign that turns the direction of writing, would change what is around it
    return printable(json.dumps(text, ensure_ascii=False))


def _reads_as_number(text: str) -> bool:
    if not _NUMBERS.match(text):
        return False
    try:
        float(text)
    except ValueError:
        return text.lower() in ("true", "false")
    return True


def number_in_full(x: float) -> str:
    """A float64 as short as it reads back to the same bits; whole numbers without a point."""
    return repr(float(x)).removesuffix(".0")


def plain(name: object) -> str:
    """A name on its own, in quotes only if it would not be seen whole without them."""
    text = str(name)
    return text if text.isprintable() and text.strip() == text != "" else quoted(text)
