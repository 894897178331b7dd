"""Files whose values have types: Parquet, which also has a NULL, and JSON lines.

JSON lines have one object a line, its keys the columns. A number is a number and a string is text,
as JSON says; only dates have no type of their own there, and are found among the strings.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import duckdb
import numpy as np

from sortal.data.files.cells import (
    ReadResult,
    check_names,
    check_rows,
    check_text,
    fetch,
    fetch_text,
    missing_notes,
    missing_words,
    refuse_misfits,
    survey,
    type_text,
)
from sortal.data.files.column_types import (
    LARGEST,
    ask,
    duck_for,
    first_line,
    means_missing,
    numbers_among,
)
from sortal.data.files.open import BOM
from sortal.data.table import days
from sortal.errors import ColumnError, InputError, agreed, counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from sortal.data.files.cells import Reading
    from sortal.data.files.open import PlainFile

    Connection = duckdb.DuckDBPyConnection

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
            names = _parquet_names(con, file)
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


def _cut_moments(con: Connection, file: PlainFile, types: list[str]) -> Iterator[str]:
    """Notes on nanoseconds that DuckDB before 2.0 does not read, of times with a time zone."""
    sql = "SELECT name, logical_type FROM parquet_schema(?)"
    _, *columns = con.execute(sql, [file.path]).fetchall()
    for (name, logical), type_ in zip(columns, types, strict=True):
        if type_ == "TIMESTAMP WITH TIME ZONE" and "NANOS=Nano" in str(logical):
            yield (
                f"{name!r} was read to the microsecond: this version of DuckDB cuts nanoseconds of "
                "times with a time zone. Install duckdb 2.0, or write times without a time zone."
            )


def _merged_moments(frame: pd.DataFrame) -> Iterator[str]:
    """Notes on times that are distinct, while their numbers of days, in float64, are not."""
    for name in frame.columns:
        cells = frame[name].to_numpy()
        fine = cells.dtype == "M8[ns]" and (cells.view(np.int64) % 1000).any()
        if fine and len(np.unique(days(cells))) < len(np.unique(cells)):
            yield (
                f"{name!r} holds times that differ by less than a microsecond. Models count days "
                "in float64, which cannot tell them apart: give the time since the first of them."
            )


def _parquet_names(con: Connection, file: PlainFile) -> list[str]:
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
    con: Connection,
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


def _whole(con: Connection, cell: str, _: str, name: str, notes: list[str]) -> str:
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


def _fraction(con: Connection, cell: str, type_: str, name: str, notes: list[str]) -> str:
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


# --- JSON lines ----------------------------------------------------------------------------------

# What DuckDB calls the values of JSON, and what a column of them may be.
_KINDS: Final = {
    "VARCHAR": "date",
    "BIGINT": "number",
    "UBIGINT": "number",
    "HUGEINT": "number",
    "UHUGEINT": "number",
    "DOUBLE": "number",
    "BOOLEAN": "truth",
}


def read_json_lines(file: PlainFile, wishes: Reading) -> ReadResult:
    """JSON lines as a frame, and notes; they have no dialect but their encoding."""
    with tempfile.TemporaryDirectory(prefix="sortal-") as folder:
        path = _without_mark(file, Path(folder))
        with duck_for(path) as con:
            names = _load(con, path, file)
            check_text(wishes.named, names, file.name)
            types = _types(con, names)
            if any(kinds & {"OBJECT", "ARRAY"} for kinds in types):
                _find_fault(path, file.name)
            kinds = _kinds(names, types, wishes.text)
            _spread(con, names)
            n_rows = con.execute("SELECT count(*) FROM raw").fetchall()[0][0]
            check_rows(n_rows, file.name, "keys")
            text = type_text(con, names, "true", wishes.missing, kinds)
            refuse_misfits(con, text, wishes.known, "true", partial(_place, path, file.name))
            frame = fetch_text(con, text, "true", n_rows)
            return ReadResult(frame, {"encoding": file.encoding}, text.notes, text.met)


def _without_mark(file: PlainFile, folder: Path) -> str:
    if not survey(file.path, file.name).has_bom:
        return file.path
    copy = folder / "plain.jsonl"
    with Path(file.path).open("rb") as stream, copy.open("wb") as out:
        stream.seek(len(BOM))
        shutil.copyfileobj(stream, out)
    return str(copy)


def _load(con: Connection, path: str, file: PlainFile) -> list[str]:
    """The objects into a table `lines`, and all their keys in the order in which they appear."""
    try:
        con.execute(
            "CREATE TEMP TABLE lines AS SELECT json FROM read_json_objects(?, "
            "format='newline_delimited', compression='uncompressed')",
            [path],
        )
        sound = "SELECT count(*) FROM lines WHERE json_type(json) <> 'OBJECT'"
        rows = (
            []
            if con.execute(sound).fetchall()[0][0]
            else con.execute(
                "SELECT json_keys(json) AS keys, min(rowid) AS first FROM lines GROUP BY keys "
                "ORDER BY first"
            ).fetchall()
        )
    except duckdb.Error as error:
        _find_fault(path, file.name)
        raise InputError(
            f"{file.name} cannot be read as JSON lines ({first_line(error)})."
        ) from None
    names = list(dict.fromkeys(str(key) for keys, _ in rows for key in keys))
    if not names or any(len(set(keys)) < len(keys) for keys, _ in rows):
        _find_fault(path, file.name)
        raise InputError(f"{file.name} has no keys: there is nothing to read.")
    return names


def _pointers(names: Sequence[str]) -> list[str]:
    return ["/" + name.replace("~", "~0").replace("/", "~1") for name in names]


def _types(con: Connection, names: Sequence[str]) -> list[set[str]]:
    """Which types of JSON the values of each key have, null left out."""
    sql = "SELECT DISTINCT json_type(json, $paths) FROM lines"
    rows = con.execute(sql, {"paths": _pointers(names)}).fetchall()
    found: list[set[str]] = [set() for _ in names]
    for (types,) in rows:
        for kinds, type_ in zip(found, types, strict=True):
            kinds.add(type_)
    return [kinds - {None, "NULL"} for kinds in found]


def _kinds(names: Sequence[str], types: Sequence[set[str]], text: Sequence[str]) -> list[set[str]]:
    """What each column may be: of one kind in all rows, or text."""
    kinds = [{_KINDS.get(type_, "") for type_ in each} for each in types]
    return [
        kind if len(kind) == 1 and name not in text else set()
        for name, kind in zip(names, kinds, strict=True)
    ]


def _spread(con: Connection, names: Sequence[str]) -> None:
    """The values as text in a table `raw` with a column a key."""
    cells = "SELECT json_extract_string(json, $paths) AS v FROM lines"
    listed = ", ".join(f"v[{j + 1}] AS c{j}" for j in range(len(names)))
    con.execute(
        f"CREATE TEMP TABLE raw AS SELECT {listed} FROM ({cells})",  # noqa: S608  (of our own words)
        {"paths": _pointers(names)},
    )


def _place(path: str, name: str, row: int) -> str:
    number, _ = next(islice(_lines(path), row, None))
    return f"{name}, line {number}"


def _lines(path: str) -> Iterator[tuple[int, bytes]]:
    """Lines that are not blank, with their numbers from 1."""
    with Path(path).open("rb") as stream:
        yield from ((i, line) for i, line in enumerate(stream, start=1) if line.strip())


def _find_fault(path: str, name: str) -> None:
    """Name the first line that is no object of plain values."""
    for i, line in _lines(path):
        if fault := _fault(line):
            raise InputError(f"{name}, line {i}: {fault}")


def _fault(line: bytes) -> str:
    try:
        pairs = json.loads(line, object_pairs_hook=tuple)
    except (ValueError, RecursionError) as error:
        if line.lstrip().startswith(b"["):
            return "an array of JSON begins here. JSON lines have one object a line: {...}."
        reason = getattr(error, "msg", "too deep")
        return f"this is no JSON ({reason}). JSON lines have one whole object a line: {{...}}."
    if not isinstance(pairs, tuple):
        return "this is no object. JSON lines have one object a line: {...}."
    keys = [key for key, _ in pairs]
    twice = [key for key in keys if keys.count(key) > 1]
    if twice:
        return f"the key {twice[0]!r} occurs twice."
    nested = [key for key, value in pairs if isinstance(value, list | tuple)]
    if nested:
        return (
            f"the value of {nested[0]!r} is a list or an object. Take it apart into keys of their "
            "own, or leave it out."
        )
    return ""
