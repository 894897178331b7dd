"""The rows of a CSV file as a table of text in DuckDB, none lost, padded or cut.

DuckDB reads fast, but forgives: it leaves out what an open quote swallows, and an empty cell too
many. Hence its answer is weighed: every byte of the file must be in a cell or be a delimiter, a
quote or the end of a line. If it does not add up, or DuckDB refuses the file, the rows
are read one by one; that finds the line at fault, or writes the rows anew in a form that leaves
nothing to forgive. Either way a row is what Python's csv module, told to be strict, takes for one.
"""

from __future__ import annotations

import csv
import io
import tempfile
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb

from sortal.data.files.csv_dialect import (
    LONGEST,
    QUOTE,
    check_delimiter,
    find_delimiter,
    first_rows,
    long_cells,
    other_delimiter,
    reader_of,
)
from sortal.data.files.csv_survey import Survey, survey
from sortal.data.files.duck import ask, duck_for, first_line, quoted
from sortal.data.files.plain_files import BLOCK, BOM
from sortal.data.printing import counted
from sortal.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sortal.data.files.plain_files import PlainFile


@dataclass(frozen=True)
class Lines:
    """What is known of a CSV file before its rows are read."""

    name: str
    path: str
    delimiter: str
    newline: str
    first: tuple[str, ...]
    """The cells of the first line that is not blank."""

    @property
    def width(self) -> int:
        """How many cells a row has."""
        return len(self.first)


def look(file: PlainFile, delimiter: str | None, usual: str | None = None) -> tuple[Lines, Survey]:
    """Every byte once, and the first rows. Where rows leave the delimiter open, the usual one."""
    given = None if delimiter is None else check_delimiter(delimiter)
    found = survey(file.path, file.name)
    with long_cells():
        chosen, rows = _first_rows(file.path, given, usual)
        if given and rows and len(rows[0]) == 1:
            _refuse_one_column(file, given)
    if not rows:
        raise InputError(
            f"{file.name} is empty: there are only blank lines in it."
            if found.n_bytes < LONGEST
            else f"{file.name}: the first cell has more than {LONGEST:,} characters."
        )
    return Lines(file.name, file.path, chosen, found.newline, tuple(rows[0])), found


def _first_rows(path: str, given: str | None, usual: str | None) -> tuple[str, list[list[str]]]:
    """The delimiter and two rows, or as many as there are."""
    size = BLOCK
    while True:
        with Path(path).open("rb") as stream:
            head = stream.read(size)
        sample, whole = head.removeprefix(BOM).decode("utf-8", errors="ignore"), len(head) < size
        chosen = given or find_delimiter(sample, usual, whole=whole)
        rows = first_rows(sample, chosen, whole=whole, most=2)
        if len(rows) == 2 or whole:
            return chosen, rows
        size *= 16  # the first line is very long, or there are many blank ones


def _refuse_one_column(file: PlainFile, given: str) -> None:
    """A delimiter that parts no line, where another parts every line alike, is a mistake."""
    with Path(file.path).open("rb") as stream:
        head = stream.read(BLOCK)
    sample = head.removeprefix(BOM).decode("utf-8", errors="ignore")
    other = other_delimiter(sample, whole=len(head) < BLOCK)
    if other is not None:
        raise InputError(
            f"{file.name}: delimiter={given!r} makes one column of it, while {other.delimiter!r} "
            f"would make {other.width} cells of every line. Give that as the delimiter "
            "(--delimiter), or none, to look at the file; cells of a single column must be quoted."
        )


def with_rows(lines: Lines, found: Survey, use: Callable[[duckdb.DuckDBPyConnection], Any]) -> Any:
    """Read the rows, the first line among them, into a table `raw` of text and use it."""
    if _is_plain(lines, found):
        with duck_for(lines.path) as con:
            if _load(con, lines) and _adds_up(con, lines, found):
                return use(con)
    with tempfile.TemporaryDirectory(prefix="sortal-") as folder:
        path = str(Path(folder) / "rows.csv")
        _write_anew(lines, path)
        anew = replace(lines, path=path, delimiter=",", newline="\n")
        with duck_for(path) as con:
            if not _load(con, anew) or not _is_whole(con, anew):
                raise InputError(
                    f"{lines.name} cannot be read: its rows are well formed, but hold cells that "
                    "DuckDB cannot take in. Look for very long cells or odd characters."
                )
            return use(con)


def _is_plain(lines: Lines, found: Survey) -> bool:
    """Whether DuckDB and the rules of this file are known to agree on what a row is.

    With one column, a blank line and an empty cell look the same to DuckDB. Blanks before a quoted
    cell, or after it, it reads in ways of its own.
    """
    if lines.width == 1 or found.newline == "" or lines.delimiter == " " or found.n_loose:
        return False
    return found.n(QUOTE) == 0 or not _ends_in_quotes(lines.path)


def _ends_in_quotes(path: str) -> bool:
    """Whether the last lines hold quotes and nothing else: one that is open weighs nothing."""
    with Path(path).open("rb") as stream:
        stream.seek(0, io.SEEK_END)
        stream.seek(max(0, stream.tell() - BLOCK))
        tail = stream.read()
    rest = tail.rstrip(b'"\r\n \t')
    _, end, after = tail[len(rest) :].partition(b"\n")
    return end != b"" and b'"' in after


def _load(con: duckdb.DuckDBPyConnection, lines: Lines) -> bool:
    """Whether DuckDB takes the file in."""
    columns = ", ".join(f"c{j}: 'VARCHAR'" for j in range(lines.width))
    line = max(LONGEST, 4 * sum(len(cell.encode()) + 3 for cell in lines.first))
    # else DuckDB takes the first \r for one end of a line, also if it is in a cell; told of \r\n,
    # its version 2.0 reads wrongly what it reads rightly if not told
    end = r"new_line='\n', " if lines.newline == "\n" else ""
    sql = (
        "CREATE TEMP TABLE raw AS SELECT * FROM read_csv(?, auto_detect=false, header=false, "  # noqa: S608  (names of our own)
        f"{end}delim={quoted(lines.delimiter)}, quote={quoted(QUOTE)}, escape={quoted(QUOTE)}, "
        f"columns={{{columns}}}, strict_mode=true, null_padding=false, ignore_errors=false, "
        f"compression='none', hive_partitioning=false, parallel=false, max_line_size={line})"
    )
    try:
        con.execute(sql, [lines.path])
    except duckdb.OutOfMemoryException as error:
        raise InputError(
            f"{lines.name} does not fit into memory ({first_line(error)}): read a part of it."
        ) from None
    except duckdb.Error:
        return False
    return True


def _adds_up(con: duckdb.DuckDBPyConnection, lines: Lines, found: Survey) -> bool:
    """Whether every byte of the file is in a cell, or parts cells or rows.

    Quotes and ends of lines are left out on both sides where there are quotes: then both can be
    in cells, too.
    """
    given = found.n_bytes - found.n("\r") - found.n("\n") - found.n(QUOTE)
    weigh = "strlen({0})" if found.n(QUOTE) == 0 else _BARE
    n_rows, n_bytes = _weight(con, lines.width, weigh)
    between = n_rows * (lines.width - 1) * len(lines.delimiter.encode())
    return n_bytes + between == given


# The bytes of a cell that are no quote and no end of a line; most cells need no second look.
_BARE: Final = (
    "CASE WHEN contains({0}, '\"') OR contains({0}, chr(10)) OR contains({0}, chr(13)) "
    "THEN strlen(translate({0}, '\"' || chr(10) || chr(13), '')) ELSE strlen({0}) END"
)


def _weight(con: duckdb.DuckDBPyConnection, width: int, weigh: str) -> tuple[int, int]:
    sums = [f"coalesce(sum({weigh.format(f'c{j}')}), 0)" for j in range(width)]
    n_rows, *parts = ask(con, ["count(*)", *sums], "true")
    return int(n_rows), int(sum(parts))


def _is_whole(con: duckdb.DuckDBPyConnection, lines: Lines) -> bool:
    """The same for rows written anew, where every cell is quoted and quotes in it are doubled."""
    found = survey(lines.path, lines.name)
    n_rows, n_bytes = _weight(con, lines.width, "strlen({0})")
    frame = n_rows * 3 * lines.width  # two quotes, and a comma or the end of the line
    doubled = (found.n(QUOTE) - 2 * n_rows * lines.width) // 2
    return n_bytes + frame + doubled == found.n_bytes


def _write_anew(lines: Lines, path: str) -> None:
    """The rows with every cell in quotes; the first that does not fit is named."""
    misfit, more = "", 0
    with Path(path).open("w", encoding="utf-8", newline="") as out, long_cells():
        writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
        for line, row in _rows(lines):
            if len(row) == lines.width:
                writer.writerow(row)
            elif not misfit:
                misfit = _misfit(lines, line, row)
            else:
                more += 1
    if misfit:
        others = f" Other rows that do not fit: {more:,}." if more else ""
        raise InputError(misfit + others)


def _rows(lines: Lines) -> Iterator[tuple[int, list[str]]]:
    """Rows with the line, from 1, in which each begins; blank lines are no rows."""
    with Path(lines.path).open(encoding="utf-8-sig", newline="") as stream:
        reader, begun = reader_of(stream, lines.delimiter), 0
        while True:
            begun = reader.line_num + 1
            try:
                row = next(reader, None)
            except csv.Error as error:
                raise InputError(_broken(lines, begun, reader.line_num, str(error))) from None
            if row is None:
                return
            if row:
                yield begun, row


def line_of_row(lines: Lines, row: int) -> int:
    """The line in which a row begins; rows are counted from 0, with the line of names."""
    return next(islice(_rows(lines), row, None))[0]


def _broken(lines: Lines, begun: int, reached: int, reason: str) -> str:
    where = f"{lines.name}, line {begun}"
    if "end of data" in reason:
        return (
            f"{where}: a quote ({QUOTE}) opens a cell and is never closed. Close it, or double "
            "it if it is part of the text."
        )
    if "expected after" in reason:
        place = "" if reached == begun else f" (in line {reached})"
        return (
            f"{where}: after the quote that ends a cell{place} there is something else than the "
            f"delimiter {lines.delimiter!r}. A quote within a quoted cell must be doubled; maybe "
            "another quote is not closed."
        )
    if "field limit" in reason:
        return f"{where}: a cell has more than {LONGEST:,} characters. Maybe a quote is not closed."
    return f"{where}: this row cannot be read ({reason})."


def _misfit(lines: Lines, line: int, row: list[str]) -> str:
    has = f"{counted(len(row), 'cell')}"
    hint = ""
    if len(row) == lines.width + 1 and line <= 2:
        hint = " Maybe the first column, of row names, has no heading: give it one."
    elif len(row) > lines.width:
        hint = f" Maybe a cell that holds {lines.delimiter!r} is not in quotes."
    return (
        f"{lines.name}, line {line}: {has} where the first line has {lines.width} (the delimiter "
        f"is {lines.delimiter!r}).{hint}"
    )
