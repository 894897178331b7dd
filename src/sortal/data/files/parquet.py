"""Parquet files to data frames. They have types of their own, and a NULL for missing values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import duckdb
import numpy as np

from sortal.data.files.cells import (
    ReadResult,
    check_names,
    check_rows,
    check_text,
    fetch,
    missing_notes,
    missing_words,
)
from sortal.data.files.column_types import (
    LARGEST,
    ask,
    duck_for,
    first_line,
    means_missing,
    numbers_among,
)
from sortal.data.table import days
from sortal.errors import ColumnError, InputError, agreed, counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sortal.data.files.cells import Reading
    from sortal.data.files.open import PlainFile

_WHOLE: Final = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")

_CAST: Final = {
    **dict.fromkeys(("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS"), "TIMESTAMP"),
    "TIMESTAMP_NS": "TIMESTAMP_NS",
    "BOOLEAN": "BOOLEAN",
}

# Moments of a time zone, as the same in UTC.
_INSTANTS: Final = {
    "TIMESTAMP WITH TIME ZONE": "make_timestamp(epoch_us({}))",
    "TIMESTAMPTZ_NS": "make_timestamp_ns(epoch_ns({}))",
}

_WORDS: Final = ("VARCHAR", "UUID", "TIME", "JSON")

# What pandas calls an index without a name: numbers or names of rows, and no property of them.
_INDEX: Final = re.compile("__index_level_[0-9]+__")

# So many digits a float64 always keeps.
_DIGITS: Final = 15


def read_parquet(file: PlainFile, wishes: Reading) -> ReadResult:
    """A Parquet file as a frame, and notes; it has no dialect."""
    with duck_for(file.path) as con:
        try:
            names = _names(con, file)
            listed = ", ".join(f"c{j}" for j in range(len(names)))
            con.execute(
                f"CREATE TEMP TABLE raw AS SELECT * FROM read_parquet(?, hive_partitioning=false) "  # noqa: S608  (of our own words)
                f"AS file({listed})",
                [file.path],
            )
        except duckdb.Error as error:
            raise InputError(
                f"{file.name} cannot be read as Parquet ({first_line(error)}): write it anew."
            ) from None
        places, notes = _without_index(names)
        check_text(wishes.named, [names[j] for j in places], file.name)
        n_rows = con.execute("SELECT count(*) FROM raw").fetchall()[0][0]
        check_rows(n_rows, file.name, "columns")
        types = [str(row[1]).strip('"') for row in con.execute("DESCRIBE raw").fetchall()]
        notes += _cut_moments(con, file, types)
        values = [_value(con, j, types[j], names[j], file, wishes, notes) for j in places]
        cells = {j: (names[j], f"CAST(c{j} AS VARCHAR)") for j in places}
        words = [cells[j] for j in places if _is_word(types[j])]
        numbers = [cells[j] for j in places if _is_number(types[j])]
        found = missing_words(con, words, "true", wishes.missing)
        found += missing_words(con, numbers, "true", numbers_among(wishes.na_values))
        frame = fetch(con, values, [names[j] for j in places], "true")
        notes += [*_merged_moments(frame), *missing_notes(found)]
        return ReadResult(frame, {}, notes, [word for word, _ in found])


def _cut_moments(
    con: duckdb.DuckDBPyConnection, file: PlainFile, types: list[str]
) -> Iterator[str]:
    """Notes on nanoseconds that DuckDB before 2.0 does not read, of times with a time zone."""
    sql = "SELECT name, logical_type FROM parquet_schema(?)"
    _, *columns = con.execute(sql, [file.path]).fetchall()
    for (name, logical), type_ in zip(columns, types, strict=True):
        if type_ == "TIMESTAMP WITH TIME ZONE" and "NANOS=Nano" in str(logical):
            yield (
                f"{name!r} was read to the microsecond: this version of DuckDB cuts nanoseconds of "
                "times with a time zone. Install duckdb 2.0, or write times without a time zone."
            )


def _merged_moments(frame: Any) -> Iterator[str]:
    """Notes on times that are distinct, while their numbers of days, in float64, are not."""
    for name in frame.columns:
        cells = frame[name].to_numpy()
        fine = cells.dtype == "M8[ns]" and (cells.view(np.int64) % 1000).any()
        if fine and len(np.unique(days(cells))) < len(np.unique(cells)):
            yield (
                f"{name!r} holds times that differ by less than a microsecond. Models count days "
                "in float64, which cannot tell them apart: give the time since the first of them."
            )


def _names(con: duckdb.DuckDBPyConnection, file: PlainFile) -> list[str]:
    """Names as the file has them: in SQL, "a" and "A" are the same name."""
    sql = "SELECT name, num_children FROM parquet_schema(?)"
    _, *columns = con.execute(sql, [file.path]).fetchall()
    nested = [name for name, n_children in columns if n_children]
    if nested:
        raise ColumnError(
            f"{file.name}: the column {nested[0]!r} holds lists or records, and not one value a "
            "row. Turn it into plain columns first, one for each part, and write the file anew."
        )
    names = [str(name) for name, _ in columns]
    if not names:
        raise InputError(f"{file.name} has no columns: there is nothing to read.")
    check_names(names, file.name, "schema")
    return names


def _without_index(names: list[str]) -> tuple[list[int], list[str]]:
    """The places of the columns without an index of pandas, and a note if there is one."""
    places = [j for j, name in enumerate(names) if not _INDEX.fullmatch(name)]
    left_out = [name for name in names if _INDEX.fullmatch(name)]
    if not left_out or not places:
        return list(range(len(names))), []
    note = (
        f"{', '.join(map(repr, left_out))} was left out: it is the index of a data frame, which "
        "numbers or names the rows."
    )
    return places, [note]


def _is_word(type_: str) -> bool:
    return type_ in _WORDS or type_.startswith("ENUM")


def _is_number(type_: str) -> bool:
    whole = type_.removeprefix("U") in _WHOLE
    return whole or type_ in {"FLOAT", "DOUBLE"} or type_.startswith("DECIMAL")


def _value(
    con: duckdb.DuckDBPyConnection,
    j: int,
    type_: str,
    name: str,
    file: PlainFile,
    wishes: Reading,
    notes: list[str],
) -> str:
    """SQL of a column as what it is."""
    cell = f"c{j}"
    words = f"CAST({cell} AS VARCHAR)"
    if type_ == "NULL":
        return "CAST(NULL AS VARCHAR)"
    if _is_word(type_):
        return f"CASE WHEN {means_missing(words, wishes.missing)} THEN NULL ELSE {words} END"
    if type_ in _INSTANTS:
        return _INSTANTS[type_].format(cell)
    if type_ in _CAST:
        return words if name in wishes.text else f"CAST({cell} AS {_CAST[type_]})"
    if not _is_number(type_):
        raise ColumnError(
            f"{file.name}: the column {name!r} has the type {type_}, which sortal does not read. "
            "Convert it to numbers, words, truth values or dates first, and write the file anew."
        )
    if numbers := numbers_among(wishes.na_values):
        cell = f"CASE WHEN {means_missing(words, numbers)} THEN NULL ELSE {cell} END"
    if name in wishes.text:
        return f"CAST({cell} AS VARCHAR)"
    is_whole = type_.removeprefix("U") in _WHOLE
    return (_whole if is_whole else _fraction)(con, cell, type_, name, notes)


def _whole(con: duckdb.DuckDBPyConnection, cell: str, _: str, name: str, notes: list[str]) -> str:
    n_values, n_rows, n_large = ask(
        con,
        [
            f"count({cell})",
            "count(*)",
            f"count(*) FILTER (abs(CAST({cell} AS HUGEINT)) > {LARGEST})",
        ],
        "true",
    )
    if n_large:
        notes.append(
            f"{name!r} is text: {n_large:,} of {counted(n_values, 'value')} "
            f"{agreed(n_large, 'is', 'are')} beyond 2^53, and numbers would lose their last digits."
        )
        return f"CAST({cell} AS VARCHAR)"
    return f"CAST({cell} AS {'BIGINT' if n_values == n_rows else 'DOUBLE'})"


def _fraction(
    con: duckdb.DuckDBPyConnection, cell: str, type_: str, name: str, notes: list[str]
) -> str:
    if type_.startswith("DECIMAL"):
        words = f"CAST({cell} AS VARCHAR)"
        digits = f"length(trim(replace(ltrim({words}, '-'), '.', ''), '0'))"
        beyond = f"abs(TRY_CAST(split_part({words}, '.', 1) AS HUGEINT)) > {LARGEST}"
        long = f"{digits} > {_DIGITS} AND regexp_matches({words}, '[.]0*[1-9]')"
        tests = [f"count({cell})", f"count(*) FILTER (coalesce({beyond}, false) OR ({long}))"]
        n_values, n_lost = ask(con, tests, "true")
        if n_lost:
            notes.append(
                f"{name!r} is text: {n_lost:,} of {n_values:,} decimals have more than {_DIGITS} "
                "digits or are beyond 2^53, and numbers would lose their last digits."
            )
            return words
    return f"CAST({cell} AS DOUBLE)"
