"""What several tests of files share."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb


@pytest.fixture
def one_duck(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One database for all files, as opening many takes long; tables are of each call."""
    import duckdb

    from sortal.data.files import csv_reader as csv_rows

    database = duckdb.connect(":memory:", config={"threads": 1})

    @contextmanager
    def duck_for(path: str) -> Iterator[duckdb.DuckDBPyConnection]:
        con = database.cursor()
        try:
            yield con
        finally:
            con.close()

    monkeypatch.setattr(csv_rows, "duck_for", duck_for)
    yield
    database.close()
