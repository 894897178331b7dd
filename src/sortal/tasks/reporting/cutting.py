"""What is shown of long things: the first of it, with words on the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sortal.tasks.naming import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal.models.records import Table


def cut_rows(table: Table, most: int) -> tuple[Table, str]:
    """The first rows of a table, and words where there are more."""
    n = len(table.rows)
    if n <= most:
        return table, ""
    words = f"{most} of {counted(n, 'row')} of “{table.title}” are shown"
    return replace(table, rows=table.rows[:most]), words


def cut_tables(
    tables: Sequence[Table], most_tables: int, most_rows: int
) -> tuple[tuple[Table, ...], tuple[str, ...]]:
    """The first tables and their first rows, and words on what is left out."""
    pairs = [cut_rows(table, most_rows) for table in tables[:most_tables]]
    words = [told for _, told in pairs if told]
    left = tables[most_tables:]
    if left:
        titles = ", ".join(f"“{table.title}”" for table in left[:8])
        more = f" and {len(left) - 8} more" if len(left) > 8 else ""
        words.insert(0, f"{most_tables} of {len(tables)} tables are shown, without {titles}{more}")
    return tuple(table for table, _ in pairs), tuple(words)


def cut_rules(rules: Any, most: int) -> tuple[Any, str]:
    """The first rules, and words where there are more."""
    if rules is None or len(rules) <= most:
        return rules, ""
    return rules[:most], f"{most} of {len(rules):,} rules are shown"


def sentence(words: Sequence[str], code: str) -> str:
    """What was cut, and the line of code that shows all; nothing where nothing was."""
    told = [word for word in words if word]
    return f"{'; '.join(told)}. All of it: {code}" if told else ""
