"""Data frames to files or to standard output: CSV, JSON lines, Parquet."""

from __future__ import annotations

import csv
import os
import sys
import tempfile
from datetime import datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from sortal.data.atomic_write import replace_file
from sortal.data.columns import dump_json, is_missing
from sortal.data.files.column_types import duck_for, quoted
from sortal.data.files.open import BLOCK, STANDARD_INPUT
from sortal.data.sources import read_frame
from sortal.errors import ColumnError, InputTypeError, ParameterError, brief

if TYPE_CHECKING:
    import narwhals as nw
    from narwhals.typing import IntoDataFrame

# What a spreadsheet takes for the beginning of a formula, also behind a tab or a line break.
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n")

_SUFFIXES = {
    "": "csv",
    ".csv": "csv",
    ".txt": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}


def write_table(
    frame: IntoDataFrame,
    path: str | os.PathLike[str] | TextIO,
    format: str | None = None,  # noqa: A002
    *,
    excel_safe: bool = False,
) -> None:
    """Write a data frame as CSV, JSON lines or Parquet; "-" is standard output.

    A file is written whole or not at all. None as a format means what the file's name says: .csv,
    .txt, .jsonl, .ndjson, .parquet or .pq, and CSV for a name without an ending. With `excel_safe`,
    an apostrophe is put before names and texts of a CSV file that a spreadsheet would take for a
    formula.
    """
    table = read_frame(frame)
    if table is None:
        raise InputTypeError(f"{type(frame).__name__} is no data frame: give one to write.")
    stream = sys.stdout if path == STANDARD_INPUT else path
    kind = format_of("" if not isinstance(stream, str | os.PathLike) else stream, format)
    if excel_safe and kind != "csv":
        raise ParameterError(
            f"excel_safe=True is for CSV files, and the format is {kind!r}, which no spreadsheet "
            "takes for formulas: leave it out, or write CSV."
        )
    if not isinstance(stream, str | os.PathLike):
        with tempfile.TemporaryDirectory(prefix="sortal-") as folder:
            draft = Path(folder) / "out"
            _write(table, draft, kind, excel_safe)
            _send(draft, stream)
        return
    with replace_file(stream) as draft:
        _write(table, draft, kind, excel_safe)


_FORMATS = ("csv", "jsonl", "parquet")


def format_of(path: str | os.PathLike[str], given: str | None) -> str:
    """The format asked for, or the one that the name of the file says."""
    if given is not None:
        if given not in _FORMATS:
            known = ", ".join(map(repr, _FORMATS))
            raise ParameterError(f"format={brief(given)} is not known: it can be {known}.")
        return given
    suffix = Path(os.fspath(path)).suffix.lower()
    if suffix not in _SUFFIXES:
        endings = ", ".join(filter(None, _SUFFIXES))
        raise ParameterError(
            f"{os.fspath(path)!r} ends in {suffix!r}, which is no format of tables that sortal "
            f"writes: give a name that ends in {endings}, or say which it shall be by format "
            "(--format)."
        )
    return _SUFFIXES[suffix]


def _write(table: nw.DataFrame[Any], path: Path, kind: str, excel_safe: bool) -> None:
    names = [str(name) for name in table.columns]
    columns = [_cells(table[name]) for name in table.columns]
    if kind == "parquet":
        _write_parquet(names, columns, path)
        return
    rows = zip(*map(_written, columns), strict=True)
    with path.open("w", encoding="utf-8", newline="") as out:
        if kind == "jsonl":
            for row in rows:
                record = dict(zip(names, row, strict=True))
                out.write(dump_json(record) + "\n")
            return
        writer = csv.writer(out, lineterminator="\n")
        write = _escaped if excel_safe else _word
        writer.writerow(map(write, names))
        # of a row of one empty cell, csv writes ""; a blank line would be no row
        writer.writerows(["" if cell is None else write(cell) for cell in row] for row in rows)


def _cells(series: nw.Series[Any]) -> list[Any]:
    """Plain values, None for a missing value."""
    return [None if is_missing(cell) else cell for cell in series.to_list()]


def _written(cells: list[Any]) -> list[Any]:
    """Moments as words, days without a time."""
    moments = [cell for cell in cells if isinstance(cell, datetime)]
    if not moments:
        return cells
    only_days = all(moment.time() == time.min and moment.tzinfo is None for moment in moments)
    return [
        cell if cell is None else str(cell.date() if only_days else cell.isoformat(sep=" "))
        for cell in cells
    ]


def _word(cell: object) -> object:
    return str(cell).lower() if isinstance(cell, bool) else cell


def _escaped(cell: object) -> object:
    """The same, with an apostrophe before a text that would be a formula; numbers are none."""
    is_formula = isinstance(cell, str) and cell.startswith(_FORMULAS)
    return f"'{cell}" if is_formula else _word(cell)


def _write_parquet(names: list[str], columns: list[list[Any]], path: Path) -> None:
    import pandas as pd  # noqa: PLC0415  (only here, and slow to load)

    if len({name.lower() for name in names}) < len(names):
        raise ColumnError(
            "Two columns have names that differ in capital letters only, which Parquet files as "
            "DuckDB writes them cannot have: rename one, or write CSV."
        )
    places = [f"c{j}" for j in range(len(names))]
    frame = pd.DataFrame(dict(zip(places, columns, strict=True)))
    listed = ", ".join(
        f'c{j} AS "{name.replace(chr(34), 2 * chr(34))}"' for j, name in enumerate(names)
    )
    to = f"TO {quoted(str(path))} (FORMAT parquet, USE_TMP_FILE false)"
    with duck_for(str(path)) as con:
        con.register("given", frame)
        con.execute(f"COPY (SELECT {listed} FROM given) {to}")  # noqa: S608  (quoted)


def _send(path: Path, stream: TextIO) -> None:
    """The bytes of a file to a stream; one that takes words only gets words."""
    stream.flush()
    out = getattr(stream, "buffer", None)
    with path.open("rb") as draft:
        while block := draft.read(BLOCK):
            if out is None:
                stream.write((block + draft.read()).decode("utf-8"))
            else:
                out.write(block)
    stream.flush()
