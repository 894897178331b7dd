"""CSV files to data frames: names, types, rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from sortal.data.files.csv_dialect import QUOTE
from sortal.data.files.csv_rows import line_of_row, look, with_rows
from sortal.data.files.reading import Answer, check_names, check_rows, check_text
from sortal.data.files.text_cells import ANY_KIND, fetch_text, refuse_misfits, type_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from sortal.data.files.csv_rows import Lines
    from sortal.data.files.plain_files import PlainFile
    from sortal.data.files.reading import Reading
    from sortal.data.files.text_cells import TypedText


def read_csv(file: PlainFile, wishes: Reading) -> Answer:
    """A CSV file as a frame, its dialect, and notes."""
    lines, found = look(file, wishes.delimiter, wishes.like.delimiter)
    answer: Answer = with_rows(lines, found, partial(_frame, lines=lines, wishes=wishes))
    return replace(answer, dialect=answer.dialect | {"encoding": file.encoding})


def _frame(con: duckdb.DuckDBPyConnection, lines: Lines, wishes: Reading) -> Answer:
    first = [cell or "" for cell in con.execute("SELECT * FROM raw WHERE rowid = 0").fetchall()[0]]
    first = [cell.strip(" \t") for cell in first]
    n_all = con.execute("SELECT count(*) FROM raw").fetchall()[0][0]
    notes: list[str] = []
    header = wishes.header is not False
    if header:
        names = _names(first, notes)
        text = _typed(con, names, 1, lines, wishes)
        if wishes.header is None and _is_data(first, text, wishes.holes):
            header, notes = False, [_NO_NAMES]
    if header:
        check_names(names, lines.name, "line 1", _NO_HEADER)
        notes += _doubtful(first, wishes)
    else:
        names = [f"column_{j + 1}" for j in range(lines.width)]
        text = _typed(con, names, 0, lines, wishes)
    check_text(wishes.named, names, lines.name)
    check_rows(n_all - header, lines.name, "a line of names")
    where = f"rowid >= {int(header)}"
    refuse_misfits(con, text, wishes.known, where, partial(_place, lines))
    frame = fetch_text(con, text, where, n_all - header)
    dialect = {
        "delimiter": lines.delimiter,
        "quote": QUOTE,
        "header": header,
        "decimal": wishes.decimal or _mark(text),
        "newline": lines.newline or "mixed",
    }
    return Answer(frame, dialect, [*notes, *text.notes], text.met)


def _place(lines: Lines, row: int) -> str:
    return f"{lines.name}, line {line_of_row(lines, row)}"


_NO_HEADER = "If the first line is a row, and has no names, give header=False (--no-header)."
_NO_NAMES = (
    "The first line has numbers where the rows below have numbers, so it was read as a row, and "
    "the columns are called column_1, column_2, …; give header=True (--header) if it "
    "has the names."
)


def _names(first: Sequence[str], notes: list[str]) -> list[str]:
    """The names in the first line; a column without one is called by its place."""
    names = [cell or f"column_{j + 1}" for j, cell in enumerate(first)]
    unnamed = [name for name, cell in zip(names, first, strict=True) if not cell]
    if unnamed:
        notes.append(f"Columns without a name in the first line are called {', '.join(unnamed)}.")
    return names


def _typed(
    con: duckdb.DuckDBPyConnection, names: Sequence[str], start: int, lines: Lines, wishes: Reading
) -> TypedText:
    kinds = [() if name in wishes.text else ANY_KIND for name in names]
    usual = "." if lines.delimiter == "," else ".,"
    marks = wishes.decimal or (",." if wishes.like.decimal == "," else usual)
    return type_text(con, names, f"rowid >= {start}", wishes.holes, kinds, marks)


def _mark(text: TypedText) -> str | None:
    """The decimal mark, if any number has one."""
    has_mark = any(verdict.has_mark for verdict in text.verdicts)
    return "," if text.decimal == "," else "." if has_mark else None


def _is_data(first: Sequence[str], text: TypedText, holes: Sequence[str]) -> bool:
    """Whether the first line looks like the rows: numbers above numbers, and no word above any.

    A word for a missing value, such as ?, can stand in a row, and says nothing.
    """
    above = [
        _looks_like_number(cell)
        for cell, verdict in zip(first, text.verdicts, strict=True)
        if verdict.type in {"whole", "number", "comma"} and cell not in holes
    ]
    return any(above) and all(above)


def _doubtful(first: Sequence[str], wishes: Reading) -> list[str]:
    """A note where a name would be a missing value if it stood in a row."""
    strange = [cell for cell in first if cell and cell in wishes.holes]
    if not strange or wishes.header:
        return []
    note = (
        f"The first line has the names of the columns, and {strange[0]!r} is one of them, which "
        f"means a missing value elsewhere. {_NO_HEADER}"
    )
    return [note]


def _looks_like_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True
