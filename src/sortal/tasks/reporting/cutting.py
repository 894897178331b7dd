"""What is shown of long things: the part that says most, with words on the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sortal.data.printing import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal.models.records import Table


@dataclass(frozen=True)
class Room:
    """How much of tables is shown: so many tables, rows of each and columns of each."""

    tables: int
    rows: int
    columns: int


# Of many tables the last few are kept, too: there is what all the others lead to.
_LAST = 3


def cut_tables(tables: Sequence[Table], room: Room) -> tuple[tuple[Table, ...], tuple[str, ...]]:
    """Tables as far as there is room, and words on what is left out."""
    kept, words = list(tables), []
    if len(tables) > room.tables:
        first = room.tables - _LAST
        kept = [*tables[:first], *tables[-_LAST:]]
        words.append(
            f"{room.tables} of {len(tables):,} tables are shown, the first {first} and the last "
            f"{_LAST}"
        )
    cut = [_cut(table, room) for table in kept]
    n = sum(one is not other for one, other in zip(cut, kept, strict=True))
    if n:
        words.append(
            f"of {counted(n, 'long table')} {room.rows} rows at most are shown "
            f"(the best ones where they are ranked) and {room.columns} columns"
        )
    return tuple(cut), tuple(words)


def _cut(table: Table, room: Room) -> Table:
    """The best rows of a table where they are ranked, or else the first; and its first columns."""
    if len(table.rows) > room.rows:
        order: Sequence[int] = range(len(table.rows))
        if "rank" in table.columns:
            ranks = [_rank(cell) for cell in table.column("rank")]
            order = sorted(sorted(order, key=ranks.__getitem__)[: room.rows])
        rows = tuple(table.rows[i] for i in order[: room.rows])
        title = f"{table.title} ({room.rows} of {len(table.rows):,} rows)"
        table = replace(table, rows=rows, title=title)
    if len(table.columns) > room.columns:
        table = replace(
            table,
            columns=table.columns[: room.columns],
            rows=tuple(row[: room.columns] for row in table.rows),
            title=f"{table.title} ({room.columns} of {len(table.columns):,} columns)",
        )
    return table


def _rank(cell: Any) -> float:
    return float(cell) if isinstance(cell, int | float) else float("inf")


def cut_rules(rules: Any, most: int) -> tuple[Any, str]:
    """The first rules, and words where there are more."""
    if rules is None or len(rules) <= most:
        return rules, ""
    return rules[:most], f"{most} of {len(rules):,} rules are shown"


def sentence(words: Sequence[str], code: str) -> str:
    """What was cut, and the line of code that shows all; nothing where nothing was."""
    told = [word for word in words if word]
    if not told:
        return ""
    said = "; ".join(told)
    return f"{said[:1].upper()}{said[1:]}. All of it: {code}"
