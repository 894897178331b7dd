"""Words and tables that tell what a picture shows to those who do not see it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sortal.data.printing import counted
from sortal.models.records import Table, unique
from sortal.views.lettering import number_text, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sortal.models.records import Cell
    from sortal.views.rows import Rows

MOST_ROWS: Final = 60

# Of so many things a sentence can be listened to.
_MOST_TOLD: Final = 6
_LONGEST: Final = 40


def plain(name: object) -> str:
    """A name as it can be read out: one line, not too long."""
    words = "".join(c if c.isprintable() else " " for c in str(name)).split()
    return shorten(" ".join(words) or "(empty)", _LONGEST)


def several(things: Sequence[str], what: str) -> str:
    """A list for a sentence; of a long one the first, and how many more there are."""
    told = list(things[:_MOST_TOLD])
    more = len(things) - len(told)
    if more:
        return f"{', '.join(told)} and {more} more {what}"
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}" if told else ""


def cut_table(
    name: str, title: str, heads: Sequence[str], rows: Iterable[Sequence[Cell]], equation: str = ""
) -> tuple[Table, str]:
    """A table of at most 60 rows, and what was cut."""
    found = [tuple(row) for row in rows]
    table = Table(name, title, unique(list(heads)), tuple(found[:MOST_ROWS]), equation)
    more = len(found) - MOST_ROWS
    return table, f"The table has the first {MOST_ROWS} of {len(found):,} rows." if more > 0 else ""


def class_table(name: str, rows: Rows) -> tuple[Table, str]:
    """Number, mean and standard deviation of each class in the columns that are drawn."""
    heads = ["class", "rows"]
    for column in rows.names:
        heads += [f"mean of {column}", f"deviation of {column}"]
    cells = []
    for k, label in enumerate(rows.classes):
        mine = rows.points[rows.codes == k]
        numbers: list[Cell] = []
        for j in range(rows.points.shape[1]):
            known = len(mine) > 0
            numbers += [float(mine[:, j].mean()), float(mine[:, j].std())] if known else [None] * 2
        cells.append((str(label), len(mine), *numbers))
    return cut_table(name, "Where the classes lie", heads, cells)


def class_places(rows: Rows) -> str:
    """Where the middle of each class lies, in words."""
    told = []
    for k, label in enumerate(rows.classes):
        mine = rows.points[rows.codes == k]
        if len(mine):
            place = ", ".join(number_text(x) for x in mine.mean(axis=0))
            told.append(f"{plain(label)} ({counted(len(mine), 'row')}) at ({place})")
    return f"Class means: {several(told, 'classes')}."
