"""Parquet files to data frames. They have types of their own, and a NULL for holes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import duckdb

from sortal.data.files.duck import ask, duck_for, first_line, quoted
from sortal.data.files.reading import Answer, check_names, check_rows, check_text
from sortal.data.files.text_cells import fetch
from sortal.data.files.text_types import LARGEST
from sortal.errors import ColumnError, InputError

if TYPE_CHECKING:
    from sortal.data.files.plain_files import PlainFile
    from sortal.data.files.reading import Reading

_WHOLE: Final = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_MOMENTS: Final = ("DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS")
_WORDS: Final = ("VARCHAR", "UUID", "TIME", "JSON")


def read_parquet(file: PlainFile, wishes: Reading) -> Answer:
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
        check_text(wishes.named, names, file.name)
        n_rows = con.execute("SELECT count(*) FROM raw").fetchall()[0][0]
        check_rows(n_rows, file.name, "columns")
        types = [str(row[1]) for row in con.execute("DESCRIBE raw").fetchall()]
        notes: list[str] = []
        values = [
            _value(con, j, types[j], names[j], file, wishes, notes) for j in range(len(names))
        ]
        return Answer(fetch(con, values, names, "true"), {}, notes)


def _names(con: duckdb.DuckDBPyConnection, file: PlainFile) -> list[str]:
    """Names as the file has them: in SQL, "a" and "A" are the same name."""
    sql = "SELECT name, num_children FROM parquet_schema(?)"
    _, *columns = con.execute(sql, [file.path]).fetchall()
    nested = [name for name, n_children in columns if n_children]
    if nested:
        raise ColumnError(
            f"{file.name}: the column {nested[0]!r} holds lists or records, and not one value a "
            "row. Take it apart into columns of their own, or leave it out."
        )
    names = [str(name) for name, _ in columns]
    if not names:
        raise InputError(f"{file.name} has no columns: there is nothing to read.")
    check_names(names, file.name, "schema")
    return names


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
    if type_ == "BOOLEAN":
        return f"CAST({cell} AS VARCHAR)" if name in wishes.text else cell
    if type_.removeprefix("U") in _WHOLE:
        return _whole(con, cell, name, wishes, notes)
    if type_ in {"FLOAT", "DOUBLE"} or type_.startswith("DECIMAL"):
        return f"CAST({cell} AS {'VARCHAR' if name in wishes.text else 'DOUBLE'})"
    if type_ in _MOMENTS:
        return f"CAST({cell} AS {'VARCHAR' if name in wishes.text else 'TIMESTAMP'})"
    if type_ == "TIMESTAMP WITH TIME ZONE":
        return f"make_timestamp(epoch_us({cell}))"
    if type_ in _WORDS or type_.startswith("ENUM"):
        holes = ", ".join(map(quoted, sorted({"", *wishes.holes})))
        words = f"CAST({cell} AS VARCHAR)"
        return f"CASE WHEN {words} IN ({holes}) THEN NULL ELSE {words} END"
    raise ColumnError(
        f"{file.name}: the column {name!r} has the type {type_}, which sortal does not read. "
        "Convert it to numbers, words, truth values or dates, or leave it out."
    )


def _whole(con: Any, cell: str, name: str, wishes: Reading, notes: list[str]) -> str:
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
            f"{name!r} is text: {n_large:,} of {n_values:,} whole numbers are beyond 2^53, and "
            "numbers would lose their last digits."
        )
    if n_large or name in wishes.text:
        return f"CAST({cell} AS VARCHAR)"
    return f"CAST({cell} AS {'BIGINT' if n_values == n_rows else 'DOUBLE'})"
