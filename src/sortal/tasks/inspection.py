"""inspect: what is in a table, and what is worth a thought before a fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.sources import read_table
from sortal.errors import ColumnError, InputError, agreed, counted
from sortal.records.tables import Sentences, Shown, Table, fields_of, sheet, table_of
from sortal.tasks.findings import (
    Finding,
    about_column,
    about_target,
    count_repeats,
    measured,
    profile,
    single_accuracy,
)
from sortal.tasks.registry import FEW_ROWS, check_columns, option
from sortal.tasks.tables import open_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Unpack

    from sortal._typing import Mask
    from sortal.records.tables import Piece
    from sortal.tasks.findings import Profile
    from sortal.tasks.tables import DataLike, FileOptions

# A column that takes away so many of the majority's errors tells the target nearly always.
_TELLS = 0.97

# More classes than that are not looked at for leaks.
_MOST_CLASSES = 1000


@dataclass(frozen=True, repr=False)
class Inspection(Shown):
    """What `inspect` found."""

    title: str
    n_rows: int
    columns: Table
    """Name, kind, missing values, distinct values, and a range or the most frequent values."""
    classes: Table | None
    """The target's classes with their rows, if there is a target."""
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    """What was decided when the file was read."""

    LEVEL = 2

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and strings, ready for JSON."""
        own = fields_of(self, "columns", "classes", "findings", "notes")
        return {"title": self.title, "rows": self.n_rows, **own}

    def _pieces(self) -> Sequence[Piece]:
        """The tables; findings and notes, each under a word."""
        found = tuple(map(str, self.findings)) or ("none",)
        return [
            self.columns,
            *([self.classes] if self.classes else []),
            Sentences(found, "Findings"),
            *([Sentences(self.notes, "How the file was read")] if self.notes else []),
        ]


def inspect(
    data: DataLike,
    target: str | None = None,
    *,
    drop: Iterable[str] = (),
    na_values: Iterable[str] = (),
    text: Iterable[str] = (),
    **options: Unpack[FileOptions],
) -> Inspection:
    """Look at a table: columns, kinds, missing values, classes, and findings with their remedies.

    Findings are identifiers, text that may name people or tell of them, constant and empty
    columns, columns that alone tell the target,
    whole numbers that look like codes, dates and numbers read as words, rare classes, a target
    that is measured or has missing values, and rows that repeat or contradict others.

    Parameters
    ----------
    data : path, "-" or data frame
        A CSV, Parquet or JSON lines file, standard input, or a frame of any library.
    target : str, default=None
        The column to predict.
    drop : iterable of str, default=()
        Columns to leave out.
    na_values : iterable of str, default=()
        Words in a file that mean a missing value, beside the usual ones.
    text : iterable of str, default=()
        Columns of a file to be left as text.
    **options
        Others of `sortal.read`: format, delimiter, encoding, header, decimal.

    Returns
    -------
    Inspection
        It prints well and has `columns`, `classes`, `findings`, `notes`, `to_text`,
        `to_markdown`, `to_html`, `to_dict` and `to_frame`.

    Examples
    --------
    >>> from sortal import datasets
    >>> from sortal.tasks.inspection import inspect
    >>> [finding.code for finding in inspect(datasets.penguins(), "species").findings]
    []
    """
    opened = open_table(data, na_values=na_values, text=text, **options)
    table = read_table(opened.frame)
    dropped = [drop] if isinstance(drop, str) else list(drop)
    check_columns(dropped, table.names, "drop")
    if target is not None:
        check_columns([target], table.names, "target")
    if target in dropped:
        raise ColumnError(f"target={target!r} is among the columns to drop: keep it.")
    if table.n_rows == 0:
        raise InputError("This table has no rows: there is nothing to look at.")
    columns = [profile(table, j) for j, name in enumerate(table.names) if name not in dropped]
    file = opened.file
    findings = tuple(_findings(columns, target))
    return Inspection(
        title=_title(columns, "" if file is None else file.name),
        n_rows=table.n_rows,
        columns=_column_table(columns),
        classes=_class_table(columns, target),
        findings=findings,
        notes=opened.notes,
    )


def _title(columns: Sequence[Profile], name: str) -> str:
    n_rows, n_missing = columns[0].n_rows, sum(column.n_missing for column in columns)
    counts = ((n_rows, "row"), (len(columns), "column"), (n_missing, "missing value"))
    facts = ", ".join(counted(n, what) for n, what in counts)
    return f"{name}: {facts}" if name else facts


def _column_table(columns: Sequence[Profile]) -> Table:
    rows = ((c.name, c.kind, c.n_missing, c.n_distinct, c.summary()) for c in columns)
    heads = ("column", "kind", "missing", "distinct", "range or most frequent")
    return table_of("columns", "Columns", heads, rows)


def _class_table(columns: Sequence[Profile], target: str | None) -> Table | None:
    for column in columns:
        if column.name == target and not measured(column):
            named, n = [*map(column.text, range(len(column.counts)))], column.counts
            cells = {"class": named, "rows": n, "share": n / column.n_values}
            return sheet("classes", f"Classes of {target}", cells)
    return None


# What a column is called that no model should learn from.
_UNUSED = {
    "empty": "has no value",
    "identifier": "names rows",
    "personal-text": "names people, or is free text",
    "leak": "alone tells the target",
}


def unused_columns(
    frame: Any, target: str, drop: Sequence[str] = (), use: Sequence[str] = ()
) -> dict[str, str]:
    """Columns that are not learned from unless they are asked for, and why; never all of them."""
    table = read_table(frame)
    apart = {str(name) for name in (*drop, *use)}
    columns = [profile(table, j) for j, name in enumerate(table.names) if name not in apart]
    aim = next(column for column in columns if column.name == target)
    found, _ = _about_columns([column for column in columns if column is not aim], aim)
    unused = {f.column: _UNUSED[f.code] for f in found if f.code in _UNUSED}
    left = [name for name in table.names if name not in {target, *map(str, drop), *unused}]
    return unused if left else {}


def _findings(columns: Sequence[Profile], target: str | None) -> Iterator[Finding]:
    aim = next((column for column in columns if column.name == target), None)
    if aim is not None:
        yield from about_target(aim)
    others = [column for column in columns if column is not aim]
    found, told = _about_columns(others, aim)
    yield from found
    yield from _about_rows(told, aim, n_left_out=len(others) - len(told))


def _about_columns(
    others: Sequence[Profile], aim: Profile | None
) -> tuple[list[Finding], list[Profile]]:
    """What columns show, and those that neither name rows nor are constant."""
    found = {column.name: list(about_column(column)) for column in others}
    told = [c for c in others if _may_tell(c, found[c.name])]
    leaks = {} if aim is None else {f.column: f for f in _leaks(told, aim)}
    shown: list[Finding] = []
    for column in others:
        own, name = found[column.name], column.name
        stay = [finding for finding in own if finding.code == "personal-text"]
        shown += [leaks[name], *stay] if name in leaks else own
    return shown, told


def _may_tell(column: Profile, found: Sequence[Finding]) -> bool:
    """Whether a column neither names rows nor is constant; missing values may tell, too."""
    names_rows = any(finding.code == "identifier" for finding in found)
    return not names_rows and column.n_distinct + (column.n_missing > 0) > 1


def _known(aim: Profile) -> Mask:
    return np.asarray(aim.codes >= 0)


def _leaks(columns: Sequence[Profile], aim: Profile) -> Iterator[Finding]:
    if measured(aim) or not 1 < aim.n_distinct <= _MOST_CLASSES or aim.n_values < FEW_ROWS:
        return
    majority = int(aim.counts.max()) / aim.n_values
    known = _known(aim)
    for column in columns:
        seen = column if known.all() else _rows_of(column, known)
        told = single_accuracy(seen, aim.codes[known], aim.n_distinct)
        if told - majority >= _TELLS * (1 - majority):
            words = (
                f"{column.name!r} alone tells the target {aim.name!r} in {_percent(told)} of the "
                f"rows; the most frequent class is right in {_percent(majority)}. Is it known "
                "before the target is?"
            )
            yield Finding("leak", column.name, words, option("--drop", column.name))


def _rows_of(column: Profile, rows: Mask) -> Profile:
    return type(column)(column.name, column.kind, column.codes[rows], column.values)


def _percent(share: float) -> str:
    """A share in percent, with as many digits as it takes not to call all what is not."""
    for digits in range(1, 6):
        text = f"{100 * share:.{digits}f}"
        if share == 1 or float(text) < 100:
            return f"{text} %"
    return "nearly all"


def _about_rows(
    columns: Sequence[Profile], aim: Profile | None, n_left_out: int
) -> Iterator[Finding]:
    if not columns:
        return
    labels, n_classes = None, 0
    if aim is not None and not measured(aim) and aim.n_distinct > 1:
        known = _known(aim)
        labels, n_classes = aim.codes[known], aim.n_distinct
        if not known.all():
            columns = [_rows_of(column, known) for column in columns]
    found = count_repeats(columns, labels, n_classes)
    apart = " (columns that name rows or tell nothing left out)" if n_left_out else ""
    n_rows = columns[0].n_rows
    if found.n_repeated and not found.expected:
        yield Finding(
            "duplicate-rows",
            "",
            f"{found.n_repeated:,} of {counted(n_rows, 'row')} "
            f"{agreed(found.n_repeated, 'repeats', 'repeat')} an earlier row in every "
            f"column{apart}. If they are the same case twice, a test would meet what was learned: "
            "keep one of each.",
        )
    if found.n_contradicted:
        yield Finding(
            "contradicting-rows",
            "",
            f"{found.n_contradicted:,} of {counted(n_rows, 'row')} "
            f"{agreed(found.n_contradicted, 'has', 'have')} the same values as a row of another "
            f"class{apart}: no model can be right in more than {_percent(found.ceiling)} of the "
            "rows.",
        )
