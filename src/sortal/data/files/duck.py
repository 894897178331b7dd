"""DuckDB, kept to one file: no network, no extensions from elsewhere, no other file."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import duckdb

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# How many columns one query asks about: a query of many thousands takes long to plan.
COLUMNS_A_QUERY = 100


@contextmanager
def duck_for(path: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory that can read and write this path and nothing else."""
    settings: dict[str, Any] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "allow_community_extensions": "false",
        "python_enable_replacements": "false",
    }
    con = duckdb.connect(":memory:", config=settings)
    try:
        con.execute("SET temp_directory = ''")  # nothing is spilled into the user's folder
        con.execute(f"SET allowed_paths = [{quoted(path)}]")
        con.execute("SET enable_external_access = false")
        con.execute("SET lock_configuration = true")
        yield con
    finally:
        con.close()


def quoted(word: str) -> str:
    """A word as a literal of SQL."""
    return "'" + word.replace("'", "''") + "'"


def ask(
    con: duckdb.DuckDBPyConnection, expressions: Sequence[str], where: str, table: str = "raw"
) -> list[Any]:
    """One row of aggregates over the rows of a table; many columns in several queries."""
    answers: list[Any] = []
    for start in range(0, len(expressions), COLUMNS_A_QUERY):
        part = ", ".join(expressions[start : start + COLUMNS_A_QUERY])
        answers += con.execute(f"SELECT {part} FROM {table} WHERE {where}").fetchone() or ()  # noqa: S608  (of our own words)
    return answers


def first_line(error: Exception) -> str:
    """What DuckDB says, without its advice about options that are not ours."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "no reason")
