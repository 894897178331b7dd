"""JSON lines to data frames: one object a line, its keys the columns.

A number is a number and a string is text, as JSON says; only dates have no type of their own
there, and are found among the strings.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb

from sortal.data.files.cells import (
    ReadResult,
    check_rows,
    check_text,
    fetch_text,
    refuse_misfits,
    survey,
    type_text,
)
from sortal.data.files.column_types import duck_for, first_line
from sortal.data.files.open import BOM
from sortal.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sortal.data.files.cells import Reading
    from sortal.data.files.open import PlainFile

    Connection = duckdb.DuckDBPyConnection

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
        pairs: Any = json.loads(line, object_pairs_hook=_Pairs)
    except (ValueError, RecursionError) as error:
        if line.lstrip().startswith(b"["):
            return "an array of JSON begins here. JSON lines have one object a line: {...}."
        reason = getattr(error, "msg", "too deep")
        return f"this is no JSON ({reason}). JSON lines have one whole object a line: {{...}}."
    if not isinstance(pairs, _Pairs):
        return "this is no object. JSON lines have one object a line: {...}."
    keys = [key for key, _ in pairs]
    twice = [key for key in keys if keys.count(key) > 1]
    if twice:
        return f"the key {twice[0]!r} occurs twice."
    nested = [key for key, value in pairs if isinstance(value, list)]
    if nested:
        return (
            f"the value of {nested[0]!r} is a list or an object. Take it apart into keys of their "
            "own, or leave it out."
        )
    return ""


class _Pairs(list[tuple[str, Any]]):
    """The keys and values of an object, in their order."""
