"""Damaged CSV files: each is read as a strict reader would, or refused in our words."""

from __future__ import annotations

import csv
import io
import random
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from tests.data.files.hostile_csv import DAMAGES, damaged, table

from sortal.data.files.column_types import NA_WORDS
from sortal.errors import InputError
from sortal.tasks.tables import read_file

if TYPE_CHECKING:
    from pathlib import Path

FULL, EVIDENCE = pytest.mark.full, pytest.mark.evidence


def strict_rows(data: bytes, delimiter: str) -> list[list[str]] | None:
    """What Python's csv module reads, or None where it refuses or rows differ in width."""
    limit = csv.field_size_limit(2_000_000)
    try:
        text = data.decode("utf-8-sig")
        reader = csv.reader(
            io.StringIO(text, newline=""), delimiter=delimiter, strict=True, skipinitialspace=True
        )
        rows = [row for row in reader if row]
    except (UnicodeDecodeError, csv.Error):
        return None
    finally:
        csv.field_size_limit(limit)
    return rows if len({len(row) for row in rows}) == 1 else None


def expected_cells(row: list[str]) -> list[str | None]:
    cells = [cell.strip(" \t") for cell in row]
    return [None if cell in NA_WORDS else cell for cell in cells]


def names_of(rows: list[list[str]]) -> list[str]:
    return [cell.strip(" \t") or f"column_{j + 1}" for j, cell in enumerate(rows[0])]


def given_cells(frame: Any) -> list[list[str | None]]:
    columns = [[cell if isinstance(cell, str) else None for cell in frame[name]] for name in frame]
    return [list(row) for row in zip(*columns, strict=True)]


@pytest.mark.usefixtures("one_duck")
@pytest.mark.parametrize(
    "numbers",
    [
        range(60),
        pytest.param(range(60, 460), marks=FULL),
        pytest.param(range(460, 20_460), marks=EVIDENCE),
    ],
    ids=str,
)
def test_damaged_files(numbers: range, tmp_path: Path) -> None:
    outcomes, path = Counter[str](), tmp_path / "hostile.csv"
    for number in numbers:
        rng = random.Random(number)  # noqa: S311
        data, delimiter = table(rng)
        more = rng.choices(list(DAMAGES), k=rng.randint(0, 1))
        data = damaged(rng, data, [list(DAMAGES)[number % len(DAMAGES)], *more])
        outcomes[judge(path, data, delimiter)] += 1
        if number % 20 == 0:
            without_help(path, data)
    # each outcome really occurs
    assert sum(outcomes.values()) == len(numbers)
    assert outcomes["read"] > 0.25 * len(numbers), outcomes
    for words in ("cells where", "quote", "no UTF-8", "zero byte"):
        assert outcomes[words] > 0.02 * len(numbers), outcomes
    for words in ("is empty", "no rows", "names"):
        assert outcomes[words] or len(numbers) < 100, outcomes


def judge(path: Path, data: bytes, delimiter: str) -> str:
    """Read a file and compare; the outcome in a word."""
    path.write_bytes(data)
    rows = strict_rows(data, delimiter)
    names = names_of(rows) if rows else []
    text = names if len(set(names)) == len(names) else ()
    try:
        file = read_file(path, format="csv", delimiter=delimiter, header=True, text=text)
    except InputError as error:
        return refused(str(error), data, rows, names)
    assert rows is not None, data
    assert list(file.frame.columns) == names, data
    assert given_cells(file.frame) == [expected_cells(row) for row in rows[1:]], data
    return "read"


def without_help(path: Path, data: bytes) -> None:
    """Read a file whose delimiter, names and types are to be found; no row may be lost."""
    try:
        file = read_file(path, format="csv")
    except InputError:
        return
    rows = strict_rows(data, file.dialect["delimiter"])
    assert rows is not None, data
    assert len(file.frame) == len(rows) - file.dialect["header"], data
    assert len(file.frame.columns) == len(rows[0]), data


_REASONS = {
    "makes one column of it": "delimiter",
    "cells? where": "cells where",
    "more than one column": "names",
    "more than .* characters": "long cell",
    **{words: words for words in ("quote", "no UTF-8", "zero byte", "no rows", "is empty")},
}


def refused(message: str, data: bytes, rows: list[list[str]] | None, names: list[str]) -> str:
    """A refusal says what is wrong and where; a file that a strict reader takes has a reason."""
    outcome = next((word for pattern, word in _REASONS.items() if re.search(pattern, message)), "")
    assert outcome, message
    if outcome in {"cells where", "quote", "no UTF-8", "zero byte"}:
        assert re.match(r"hostile.*csv, line \d+: ", message)
    if outcome == "delimiter":
        assert all(len(row) == 1 for row in rows or ())
    elif rows is not None:
        sound = b"\0" not in data and len(rows) > 1 and len(set(names)) == len(names)
        assert not sound, (message, data)
    return outcome
