"""CSV files to data frames: the dialect, the rows, names and types."""

from __future__ import annotations

import csv
import io
import tempfile
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb

from sortal.data.files.cells import (
    ANY_KIND,
    ReadResult,
    Survey,
    check_names,
    check_rows,
    check_text,
    fetch_text,
    refuse_misfits,
    survey,
    type_text,
)
from sortal.data.files.column_types import ask, duck_for, first_line, quoted
from sortal.data.files.open import BLOCK, BOM
from sortal.errors import InputError, ParameterError, counted

if TYPE_CHECKING:
    from _csv import Reader
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sortal.data.files.cells import Reading, TypedText
    from sortal.data.files.open import PlainFile

# In the order of preference among those that fit equally well.
DELIMITERS: Final = (",", ";", "\t", "|")

QUOTE: Final = '"'

_NAMED: Final = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}

_ROWS: Final = 1000

# DuckDB's own limit for a line; the lines of a file of very many columns may be longer.
LONGEST: Final = 2_000_000


@contextmanager
def long_cells() -> Iterator[None]:
    """Let a cell be as long as DuckDB lets a line be; the limit is one for the whole process."""
    limit = csv.field_size_limit(max(LONGEST, csv.field_size_limit()))
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def check_delimiter(given: str) -> str:
    """A delimiter as one character; some have names."""
    delimiter = _NAMED.get(given, given)
    if not is_delimiter(delimiter):
        raise ParameterError(
            f"delimiter={given!r} cannot be used: give one character other than a quote or the "
            "end of a line, such as ',', ';', 'tab' or '|', or None to look at the file."
        )
    return delimiter


def is_delimiter(sign: str) -> bool:
    """Whether a text can stand between cells."""
    return len(sign) == 1 and sign not in '"\r\n\0'


def reader_of(lines: Iterable[str], delimiter: str, *, strict: bool = True) -> Reader:
    """Rows of cells: quoted cells may hold anything, blanks before a quote are skipped."""
    return csv.reader(
        lines,
        delimiter=delimiter,
        quotechar=QUOTE,
        doublequote=True,
        skipinitialspace=delimiter != " ",
        strict=strict,
    )


@dataclass(frozen=True)
class _Fit:
    """How well a delimiter explains the first rows."""

    delimiter: str
    width: int
    """Cells of the first row."""
    share: float
    """Rows that have as many."""
    usual: int
    """The width that most rows have."""
    usual_share: float


def find_delimiter(sample: str, usual: str | None = None, *, whole: bool) -> str:
    """The delimiter by which the most rows have as many cells as the first, and more than one.

    Where the first row is one cell by every delimiter, one by which most other rows agree on
    several cells is taken nevertheless: then the file is at fault, and the rows say so. Of equally
    good ones the usual one is taken, which may be none of DELIMITERS.
    """
    known = DELIMITERS if usual is None else (usual, *DELIMITERS)
    fits = [_fit(sample, delimiter, whole=whole) for delimiter in known]
    several = [fit for fit in fits if fit.width > 1]
    if several:
        return max(several, key=lambda fit: (fit.share, fit.width)).delimiter
    agreed = [fit for fit in fits if fit.usual > 1 and fit.usual_share > 0.5]
    if agreed:
        return max(agreed, key=lambda fit: fit.usual_share).delimiter
    return max(fits, key=lambda fit: fit.share).delimiter


def other_delimiter(sample: str, *, whole: bool) -> _Fit | None:
    """One that parts all rows into as many cells, and more than one, if there is such a one."""
    fits = [_fit(sample, delimiter, whole=whole) for delimiter in DELIMITERS]
    return next((fit for fit in fits if fit.width > 1 and fit.share == 1), None)


def _fit(sample: str, delimiter: str, *, whole: bool) -> _Fit:
    widths = [len(row) for row in first_rows(sample, delimiter, whole=whole)]
    if not widths:
        return _Fit(delimiter, 1, 0.0, 1, 0.0)
    usual, n = Counter(widths[1:] or widths).most_common(1)[0]
    n_like_first = sum(width == widths[0] for width in widths)
    rest = max(1, len(widths) - 1)
    return _Fit(delimiter, widths[0], n_like_first / len(widths), usual, n / rest)


def first_rows(sample: str, delimiter: str, *, whole: bool, most: int = _ROWS) -> list[list[str]]:
    """Rows of a sample that are not blank, without the last one if the sample cuts it."""
    rows = list(islice(_sample_rows(sample, delimiter), most + 1))
    cut = len(rows) <= most and not whole and len(rows) > 1
    return (rows[:-1] if cut else rows)[:most]


def _sample_rows(sample: str, delimiter: str) -> Iterator[list[str]]:
    reader = reader_of(io.StringIO(sample, newline=""), delimiter, strict=False)
    while True:
        try:
            row = next(reader, None)
        except csv.Error:  # a cell beyond the limit
            return
        if row is None:
            return
        if row:
            yield row


# --- The rows of a CSV file as a table of text in DuckDB, none lost, padded or cut ---------------
# DuckDB reads fast, but forgives: it leaves out what an open quote swallows, and an empty cell
# too many. Hence its answer is weighed: every byte of the file must be in a cell or be a
# delimiter, a quote or the end of a line. If it does not add up, or DuckDB refuses the file, the
# rows are read one by one; that finds the line at fault, or writes the rows anew in a form that
# leaves nothing to forgive. Either way a row is what Python's csv module, told to be strict,
# takes for one.


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


def with_rows(
    lines: Lines, found: Survey, use: Callable[[duckdb.DuckDBPyConnection], ReadResult]
) -> ReadResult:
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


# --- CSV files to data frames: names, types, rows ------------------------------------------------


def read_csv(file: PlainFile, wishes: Reading) -> ReadResult:
    """A CSV file as a frame, its dialect, and notes."""
    lines, found = look(file, wishes.delimiter, wishes.like.delimiter)
    answer = with_rows(lines, found, partial(_frame, lines=lines, wishes=wishes))
    return replace(answer, dialect=answer.dialect | {"encoding": file.encoding})


def _frame(con: duckdb.DuckDBPyConnection, lines: Lines, wishes: Reading) -> ReadResult:
    first = [cell or "" for cell in con.execute("SELECT * FROM raw WHERE rowid = 0").fetchall()[0]]
    first = [cell.strip(" \t") for cell in first]
    n_all = con.execute("SELECT count(*) FROM raw").fetchall()[0][0]
    notes: list[str] = []
    header = wishes.header is not False
    if header:
        names = _names(first, notes)
        text = _typed(con, names, 1, lines, wishes)
        if wishes.header is None and _is_data(first, text, wishes.missing):
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
    return ReadResult(frame, dialect, [*notes, *text.notes], text.met)


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
    return type_text(con, names, f"rowid >= {start}", wishes.missing, kinds, marks)


def _mark(text: TypedText) -> str | None:
    """The decimal mark, if any number has one."""
    has_mark = any(verdict.has_mark for verdict in text.verdicts)
    return "," if text.decimal == "," else "." if has_mark else None


def _is_data(first: Sequence[str], text: TypedText, missing: Sequence[str]) -> bool:
    """Whether the first line looks like the rows: numbers above numbers, and no word above any.

    A word for a missing value, such as ?, can stand in a row, and says nothing.
    """
    above = [
        _looks_like_number(cell)
        for cell, verdict in zip(first, text.verdicts, strict=True)
        if verdict.type in {"whole", "number", "comma"} and cell not in missing
    ]
    return any(above) and all(above)


def _doubtful(first: Sequence[str], wishes: Reading) -> list[str]:
    """A note where a name would be a missing value if it stood in a row."""
    strange = [cell for cell in first if cell and cell in wishes.missing]
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
