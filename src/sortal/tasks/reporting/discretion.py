"""What a report that holds no rows does not learn: columns of names and free text, rare text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sortal.data.checks import whole_number
from sortal.data.printing import counted
from sortal.tasks.inspect import inspect
from sortal.tasks.joining import OTHER, joined
from sortal.tasks.naming import check_columns
from sortal.tasks.reporting.saying import sentences, some_of

if TYPE_CHECKING:
    from sortal.models.records import Table
    from sortal.tasks.inspect import Inspection
    from sortal.tasks.inspecting.findings import Finding
    from sortal.tasks.joining import Joined
    from sortal.tasks.reporting.wishes import Wishes
    from sortal.tasks.tables import Opened


def discreet(
    data: Inspection, opened: Opened, wishes: Wishes
) -> tuple[Inspection, Opened, Wishes, str]:
    """The same without columns that name rows or people and without rare text; and words for it.

    A model of such a column would hold its values, and with it the page. As far as no others are
    left, columns stay.
    """
    whole_number("min_frequency", wishes.min_frequency, 1)
    there = [str(name) for name in data.columns.column("column")]
    check_columns(wishes.keep, there, "keep")
    if wishes.rows:
        return data, opened, wishes, ""
    made = joined(opened.frame, wishes.target, wishes.min_frequency, wishes.categories)
    names = _unused(data, wishes)
    dropped = replace(wishes, drop=(*wishes.drop, *names), joins=bool(made.texts))
    opened = replace(opened, frame=made.frame)
    after = inspect(opened, wishes.target, drop=wishes.drop) if made.texts else data
    told = replace(
        data,
        columns=_columns(data.columns, after.columns, names),
        findings=tuple(_of_table(finding, made, wishes.target) for finding in data.findings),
        notes=tuple(made.masked(note) for note in data.notes),
    )
    return told, opened, dropped, sentences([_dropped_words(names), _joined_words(made, dropped)])


def _unused(data: Inspection, wishes: Wishes) -> list[str]:
    """Columns that name rows or people, unless there is no other."""
    codes = ("identifier", "personal-text")
    found = [one.column for one in data.findings if one.code in codes]
    names = [name for name in found if name not in wishes.keep]
    others = [name for name in data.columns.column("column") if name not in names]
    return [] if others == [wishes.target] else names


def _dropped_words(names: list[str]) -> str:
    if not names:
        return ""
    is_one = len(names) == 1
    return (
        f"Left out, because {'it names' if is_one else 'they name'} rows or people, or "
        f"{'is' if is_one else 'are'} free text, and this report holds none: {some_of(names)}. "
        f"Where rows may be shown (--rows, rows=True), or if asked for (--keep, keep=), "
        f"{'it takes' if is_one else 'they take'} part."
    )


def _joined_words(made: Joined, wishes: Wishes) -> str:
    """Which columns had rare text."""
    told = [
        f"{name!r} ({counted(len(texts), 'text')} in {counted(made.n_rows[name], 'row')})"
        for name, texts in made.texts.items()
        if texts and name not in wishes.drop
    ]
    if not told:
        return ""
    return (
        f"Text that occurs in fewer than {wishes.min_frequency} rows (--min-frequency, "
        f"min_frequency=) was read as {OTHER!r}, which stands for it in the form, and no model "
        f"holds it: {some_of(told)}. The labels of classes stay."
    )


def _columns(before: Table, after: Table, unused: list[str]) -> Table:
    """The columns as they were learned from; of those that were not, the values are not shown."""
    pairs = zip(before.rows, after.rows, strict=True)
    rows = [(*was[:-1], "not shown") if was[0] in unused else now for was, now in pairs]
    return replace(before, rows=tuple(rows))


def _of_table(finding: Finding, made: Joined, target: str) -> Finding:
    """A finding without rare text; nor is it in the remedy, which can list what words quote."""
    words = made.masked(finding.words)
    if words == finding.words or finding.column == target:
        return finding
    is_plain = finding.remedy.startswith("--drop")
    return replace(finding, words=words, remedy=finding.remedy if is_plain else "")
