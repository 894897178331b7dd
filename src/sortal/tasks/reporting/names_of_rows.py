"""Columns that name rows: a report that holds no rows does not learn from them, and says so."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sortal.tasks.reporting.saying import some_of

if TYPE_CHECKING:
    from sortal.models.records import Table
    from sortal.tasks.inspect import Inspection
    from sortal.tasks.reporting.wishes import Wishes


def without_names(data: Inspection, wishes: Wishes) -> tuple[Inspection, Wishes, str]:
    """The same without columns that name rows, as far as others are left; and words for it.

    A model of such a column would hold its values, and with it the page.
    """
    names = [one.column for one in data.findings if one.code == "identifier"]
    others = [name for name in data.columns.column("column") if name not in names]
    if wishes.rows or not names or others == [wishes.target]:
        return data, wishes, ""
    is_one = len(names) == 1
    words = (
        f"Left out, because {'it names' if is_one else 'they name'} rows and this report holds "
        f"none: {some_of(names)}. Where rows may be shown (--rows, rows=True), "
        f"{'it takes' if is_one else 'they take'} part."
    )
    masked = replace(data, columns=_masked(data.columns, names))
    return masked, replace(wishes, drop=(*wishes.drop, *names)), words


def _masked(columns: Table, names: list[str]) -> Table:
    rows = tuple((*row[:-1], "not shown") if row[0] in names else row for row in columns.rows)
    return replace(columns, rows=rows)
