"""Tables of text: aligned columns, and what becomes of them where there is little room."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

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
