"""Frames to files: what is written reads back as it was."""

from __future__ import annotations

import csv
import io
import json
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sortal.data.columns import dump_json
from sortal.data.files import write as saving
from sortal.data.files.write import format_of, write_table
from sortal.tasks.tables import read_file

if TYPE_CHECKING:
    from pathlib import Path

COLUMNS: dict[str, list[Any]] = {
    "whole": [1, 2, 3],
    "x, y": [0.1, None, 1e-320],
    "words": ["01", None, 'a "b"\nc, d'],
    "truth": [True, False, True],
    "day": [datetime(2024, 1, 31), None, datetime(2024, 2, 1)],
    "time": [datetime(2024, 1, 31, 10, 11, 12, 13), None, datetime(2024, 2, 1)],
}


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet"])
def test_there_and_back(name: str, library: str, tmp_path: Path) -> None:
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[library]
    write_table(make(COLUMNS), tmp_path / name)
    frame = read_file(tmp_path / name).frame
    back = {
        column: [None if pd.isna(cell) else cell for cell in frame[column].tolist()]
        for column in frame
    }
    assert back == COLUMNS
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_as_it_is_written(tmp_path: Path) -> None:
    frame = pd.DataFrame(COLUMNS)[["whole", "truth", "words", "day"]]
    write_table(frame, tmp_path / "t.txt")
    assert (tmp_path / "t.txt").read_bytes() == (
        b"whole,truth,words,day\n1,true,01,2024-01-31\n2,false,,\n"
        b'3,true,"a ""b""\nc, d",2024-02-01\n'
    )
    write_table(frame[:2], tmp_path / "t.ndjson")
    assert (tmp_path / "t.ndjson").read_text() == (
        '{"whole": 1, "truth": true, "words": "01", "day": "2024-01-31"}\n'
        '{"whole": 2, "truth": false, "words": null, "day": null}\n'
    )
    write_table(pd.DataFrame({"a": ["x", None, "y"]}), tmp_path / "t.csv")
    assert read_file(tmp_path / "t.csv").frame["a"].isna().tolist() == [False, True, False]


@pytest.mark.parametrize("name", ["t.csv", "t.jsonl", "t.parquet"])
def test_a_missing_value_is_none_by_its_word(name: str, tmp_path: Path) -> None:
    words = ["NaT", "<NA>", "None", None, pd.NA, pd.NaT, float("nan"), np.float32("nan")]
    write_table(pd.DataFrame({"a": pd.Series(words, dtype=object), "b": range(8)}), tmp_path / name)
    found = read_file(tmp_path / name).frame["a"].tolist()
    assert found[:3] == words[:3]
    assert pd.isna(found[3:]).all()


def test_json_has_no_infinity(tmp_path: Path) -> None:
    x = [float("inf"), float("-inf"), float("nan"), 0.5]
    write_table(pd.DataFrame({"x": x}), tmp_path / "t.jsonl")
    lines = (tmp_path / "t.jsonl").read_text().splitlines()
    assert [json.loads(line)["x"] for line in lines] == ["inf", "-inf", None, 0.5]
    assert json.loads(dump_json({x[0]: (x, {"a": pd.NA})})) == {
        "inf": [["inf", "-inf", None, 0.5], {"a": None}]
    }


def test_standard_output_and_streams(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pd.DataFrame({"a": ["é"]})
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.FileIO(1, "w", closefd=False)))
    write_table(frame, "-", "jsonl")
    assert capfdbinary.readouterr().out == '{"a": "é"}\n'.encode()
    words = io.StringIO()
    write_table(frame, words)
    assert words.getvalue() == "a\né\n"


def test_formats() -> None:
    for name, given, expected in (
        *(("a.PARQUET", None, "parquet"), ("a.txt", None, "csv"), ("a", None, "csv")),
        *(("a.parquet", "csv", "csv"), ("a.xlsx", "csv", "csv")),
    ):
        assert format_of(name, given) == expected


def test_ctrl_c_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "t.csv"
    (tmp_path / name).write_text("old")

    def half(_: Any, path: Path, *__: Any) -> None:
        path.write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setattr(saving, "_write", half)
    with pytest.raises(KeyboardInterrupt):
        write_table(pd.DataFrame({"a": [1]}), tmp_path / name)
    assert (tmp_path / name).read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_names_are_no_part_of_a_query(tmp_path: Path) -> None:
    names = ['a"b', "c'd", "x) TO 'y'"]
    path = tmp_path / "it's.parquet"
    write_table(pd.DataFrame([[1, 2, 3]], columns=names), path)
    listed = duckdb.connect().execute("SELECT name FROM parquet_schema(?)", [str(path)]).fetchall()
    assert [name for (name,) in listed[1:]] == names


def test_texts_that_a_spreadsheet_would_run_are_escaped_if_asked_for(tmp_path: Path) -> None:
    texts = ["=1+1", "+x", "-x", "@x", "\t=1", "a=b", "", None]
    frame = pd.DataFrame({"=name": texts, "n": [-1.5, *range(7)]})
    write_table(frame, tmp_path / "t.csv", excel_safe=True)
    with (tmp_path / "t.csv").open(newline="") as file:
        names, *rows = csv.reader(file)
    assert names == ["'=name", "n"]
    assert [row[0] for row in rows] == ["'=1+1", "'+x", "'-x", "'@x", "'\t=1", "a=b", "", ""]
    assert rows[0][1] == "-1.5"  # a number is no formula
    write_table(frame, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text().startswith("=name,n\n=1+1,-1.5\n")
