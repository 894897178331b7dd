"""Files to frames: dialects, types, holes, names, and what is refused."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import pathlib
import pickle
import re
import sys
import threading
import zipfile
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sortal import DiscreteBayes, datasets
from sortal.data.files import csv_rows, csv_survey, duck
from sortal.data.files.reader import FileTable, read_file
from sortal.data.table import read_table
from sortal.errors import ColumnError, InputError, OptionError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def put(content: str | bytes, name: str = "t.csv") -> str:
    with open(name, "wb") as file:  # noqa: PTH123
        file.write(content if isinstance(content, bytes) else content.encode())
    return name


def take(content: str | bytes, name: str = "t.csv", **options: Any) -> FileTable:
    return read_file(put(content, name), **options)


def cells(file: FileTable) -> dict[str, list[Any]]:
    """Columns as plain lists, None for a hole."""
    return {
        name: [None if pd.isna(cell) else cell for cell in file.frame[name].tolist()]
        for name in file.frame
    }


def kinds(file: FileTable) -> list[str]:
    return [column.dtype.kind for _, column in file.frame.items()]


def test_the_record() -> None:
    content = b"a,b\n1,x\n2,y\n"
    file = take(content)
    assert (file.name, file.format, file.n_bytes) == ("t.csv", "csv", len(content))
    assert file.sha256 == hashlib.sha256(content).hexdigest()
    assert file.dialect == {
        "delimiter": ",",
        "quote": '"',
        "header": True,
        "decimal": None,
        "newline": "\n",
        "encoding": "utf-8",
    }
    assert file.notes == ()
    assert cells(file) == {"a": [1, 2], "b": ["x", "y"]}


@pytest.mark.parametrize(
    "content",
    [
        "a,b\n1,x\n2,y\n",
        "a;b\n1;x\n2;y",
        "a\tb\r\n1\tx\r\n2\ty\r\n",
        "a|b\n1|x\n2|y\n",
        "\ufeffa,b\n1,x\n2,y\n",
        '"a","b"\n"1","x"\n"2","y"\n',
        "a, b\n1, x\n2,\ty \n",
        "a,b\r1,x\r2,y\r",
        "a,b\n1,x\r\n2,y\n",
        "\n\na,b\n\n1,x\n2,y\n\n",
        "a,b\n1,x\n2,y\n".encode("utf-16"),
        gzip.compress(b"a,b\n1,x\n2,y\n", mtime=0),
    ],
)
def test_dialects(content: str | bytes) -> None:
    assert cells(take(content)) == {"a": [1, 2], "b": ["x", "y"]}


def test_quoted_cells_hold_anything() -> None:
    content = 'a;b\n"1;2";"say ""no"""\n"two\nlines";"two\r\nlines"\nx"y;2"\n'
    expected = {"a": ["1;2", "two\nlines", 'x"y'], "b": ['say "no"', "two\r\nlines", '2"']}
    assert cells(take(content)) == expected


def test_one_column_and_its_blank_lines() -> None:
    assert cells(take('x\n1\n\n2\n""\n')) == {"x": [1, 2, None]}
    assert cells(take("text\nhello, world\nno comma\nnone, none, none\n")) == {
        "text": ["hello, world", "no comma", "none, none, none"]
    }


def test_delimiters_can_be_given() -> None:
    assert cells(take("a:b\n1:2\n", delimiter=":")) == {"a": [1], "b": [2]}
    assert cells(take("a b\n1 2\n", delimiter=" ")) == {"a": [1], "b": [2]}
    assert cells(take("a\tb\n1\t2,5\n", delimiter="tab")) == {"a": [1], "b": [2.5]}
    with pytest.raises(OptionError, match="delimiter='ab'"):
        take("a\n1\n", delimiter="ab")


def test_numbers() -> None:
    file = take("w,f,e,s,h\n1,1.5,1e5,+1,1\n-2,.5,2E-3,-1,\n30,7.,3,0,3\n")
    assert cells(file) == {
        "w": [1, -2, 30],
        "f": [1.5, 0.5, 7.0],
        "e": [1e5, 2e-3, 3.0],
        "s": [1, -1, 0],
        "h": [1.0, None, 3.0],
    }
    assert kinds(file) == ["i", "f", "f", "i", "f"]


def test_every_double_survives() -> None:
    doubles = np.random.default_rng(0).integers(0, 2**63, 300).view(np.float64)
    numbers = [*doubles[np.isfinite(doubles)].tolist(), 0.1, 1e-320, -0.5, 123456.789]
    file = take("x,y\n" + "".join(f"{x!r},1\n" for x in numbers))
    assert file.frame["x"].tolist() == numbers


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (["1", "01234", "7"], "1 of 3 values has leading zeros, such as '01234'"),
        (["1", "-007", "2"], "leading zeros, such as '-007'"),
        (["1", str(2**53 + 1), "2"], "1 of 3 values is beyond 2^53, such as '9007"),
        (["1", str(10**40)], "beyond 2^53"),
        (["1", "1e400"], "too large for a number, such as '1e400'"),
        ([*"12345678", "9?"], "1 of 9 values is no number, such as '9?'"),
        ([*"12345678", "inf"], "such as 'inf'"),
        ([*"12345678", "1_000"], "such as '1_000'"),
        ([*"12345678", "0x1F"], "such as '0x1F'"),
        ([*"12345678", "1,000"], "such as '1,000'"),
    ],
)
def test_text_that_is_nearly_numbers_says_why(values: list[str], why: str) -> None:
    file = take("a\ty\n" + "".join(f"{value}\tz\n" for value in values), decimal=".")
    assert cells(file)["a"] == values
    (note,) = file.notes
    assert note.startswith("'a' is text: ")
    assert why in note


def test_zero_and_fractions_have_no_leading_zeros() -> None:
    assert cells(take("a,b,c\n0,0.5,-0.25\n10,0,0e0\n")) == {
        "a": [0, 10],
        "b": [0.5, 0.0],
        "c": [-0.25, 0.0],
    }
    assert cells(take(f"a,b\n{2**53},x\n{-(2**53)},y\n"))["a"] == [2**53, -(2**53)]


def test_a_value_far_down_decides() -> None:
    rows = "".join(f"{i},true,2024-01-01\n" for i in range(1, 3000))
    file = take(f"a,b,c\n{rows}007,maybe,soon\n")
    assert kinds(file) == ["O", "O", "O"]
    assert file.frame["a"].tolist()[-1] == "007"


def test_columns_of_text_stay_text() -> None:
    file = take("a,b,c\n1,true,2024-01-31\n2,NA,\n", text=["a", "b", "c"])
    assert cells(file) == {"a": ["1", "2"], "b": ["true", None], "c": ["2024-01-31", None]}
    with pytest.raises(ColumnError, match=r"text='d': t.csv has no such column.*'a', 'b'"):
        take("a,b\n1,2\n", text=["d"])


def test_dates_and_truth() -> None:
    file = take("d,t,b,h,o\n2024-01-31,2024-02-29 12:30,true,True,01/02/2024\n,?,false,,x\n")
    assert cells(file) == {
        "d": [datetime(2024, 1, 31), None],
        "t": [datetime(2024, 2, 29, 12, 30), None],
        "b": [True, False],
        "h": [True, None],
        "o": ["01/02/2024", "x"],
    }
    assert kinds(file)[:3] == ["M", "M", "b"]
    assert kinds(take("d\n2024-02-30\n")) == ["O"]
    assert kinds(take("d\n2024-01-31T10:11:12.123456Z\n1066-10-14\n")) == ["M"]


def test_decimal_commas() -> None:
    file = take("a;b;c\n3,5;1;1,234\n-,5;2;12\n")
    assert cells(file) == {"a": [3.5, -0.5], "b": [1, 2], "c": [1.234, 12.0]}
    assert file.dialect["decimal"] == ","
    assert file.notes == ("A comma is the decimal mark.",)
    unclear = take("a;b\n1,234;x\n12;y\n")
    assert cells(unclear)["a"] == ["1,234", "12"]
    assert "could part thousands or fractions" in unclear.notes[0]
    assert "(--decimal)" in unclear.notes[0]
    assert cells(take("a;b\n1,234;x\n12;y\n", decimal=","))["a"] == [1.234, 12.0]
    assert cells(take("a;b\n1,5;x\n12;y\n", decimal="."))["a"] == ["1,5", "12"]
    both = take("a;b\n1,5;1.5\n2,5;2.5\n")
    assert cells(both) == {"a": [1.5, 2.5], "b": ["1.5", "2.5"]}
    assert "'b' is text: its numbers have a point" in both.notes[0]
    with pytest.raises(OptionError, match="decimal=';'"):
        take("a\n1\n", decimal=";")


def test_holes() -> None:
    words = ["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "?", " NA "]
    file = take("a,b\n1,x\n" + "".join(f"{word},{word}\n" for word in words))
    assert cells(file) == {"a": [1.0, *[None] * 10], "b": ["x", *[None] * 10]}
    assert kinds(file)[0] == "f"
    assert "'NA' was read as a missing value: 'a' 2, 'b' 2." in file.notes
    # case as listed, and words of one's own beside them
    assert cells(take("a,b\nna,Null\n"))["a"] == ["na"]
    assert cells(take("a,b\n1,-\n-9,NA\n", na_values=["-", "-9"])) == {
        "a": [1.0, None],
        "b": [None, None],
    }
    empty = take("a,b\n,1\nNA,2\n")
    assert kinds(empty)[0] == "f"
    assert cells(empty)["a"] == [None, None]


def test_names() -> None:
    file = take(",a\n0,1\n1,2\n")
    assert list(file.frame) == ["column_1", "a"]
    assert file.notes == ("Columns without a name in the first line are called column_1.",)
    assert list(take("a,A\n1,2\n").frame) == ["a", "A"]
    odd = ["a'b", 'c"d', "SELECT", "日本", "x; DROP TABLE raw", "rowid", "c0"]
    line = ",".join('"' + name.replace('"', '""') + '"' for name in odd)
    assert list(take(line + "\n" + ",".join("1234567") + "\n").frame) == odd
    with pytest.raises(ColumnError, match=r"t.csv, line 1: more than one column is called 'a'"):
        take("a,b,a\n1,2,3\n")


def test_a_file_without_names() -> None:
    file = take("5.1,3.5,setosa\n4.9,3.0,setosa\n")
    assert list(file.frame) == ["column_1", "column_2", "column_3"]
    assert len(file.frame) == 2
    assert not file.dialect["header"]
    assert "give header=True (--header) if it has the names" in file.notes[0]
    assert len(take("5.1,3.5,setosa\n4.9,3.0,setosa\n", header=True).frame) == 1
    # a name above a number, or words only, are names
    assert list(take("id,2019,2020\n1,5,6\n").frame) == ["id", "2019", "2020"]
    assert list(take("a,b\nx,y\n").frame) == ["a", "b"]
    assert len(take("a,b\nx,y\n", header=False).frame) == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n3\n", "t.csv, line 3: 1 cell where the first line has 2 (the delimiter is"),
        ("a,b\n1,2\n3,4,5\n6,7,8\n", "line 3: 3 cells .* Other rows that do not fit: 1."),
        ("a,b\n1,2,\n3,4\n", "line 2: 3 cells where the first line has 2"),
        ("a,b\nx,1,2\n", "first column, of row names, has no heading"),
        ('a,b\n"x\ny",2\n3\n', "line 4: 1 cell"),
        ('a,b\n1,2\n"x,2\n3,4\n', 'line 3: a quote (") opens a cell and is never closed'),
        ('a,b\n"""",y"\n"', 'line 3: a quote (") opens a cell and is never closed'),
        ('a,b\n1,"x"  "y"\n', "line 2: after the quote that ends a cell there is something else"),
        ('a,b\n1,2\n"\n\n', 'line 3: a quote (") opens a cell and is never closed'),
        ('a,b\n1,2\n"x"y,2\n', "line 3: after the quote that ends a cell there is something else"),
        ('a,b\n"x,2\n3,"4"\n', "line 2: after the quote that ends a cell (in line 3)"),
        (b"a,b\n1,2\ncaf\xe9,1\n", 'line 3: the byte 0xe9 is no UTF-8.*encoding="latin-1"'),
        (b"a,b\n\x93x\x94,1\n", "--encoding cp1252"),
        (b"a,b\n1,\xe2\x82", "line 2: the byte 0xe2 is no UTF-8"),
        ("a,b\n1,2\n3,\0\n", "line 3: a zero byte"),
        ("", "t.csv is empty: there are no bytes in it"),
        ("\n \r\n"[:1], "t.csv is empty: there are only blank lines"),
        ("a,b\n", "t.csv has a line of names and no rows"),
        ("Report of May\n\na,b,c\n1,2,3\n4,5,6\n", "line 3: 3 cells where the first line has 1"),
        ('a,b\n1,"' + "x" * 2_100_000, "line 2: .*(2,000,000 characters|never closed)"),
    ],
)
def test_rows_that_do_not_fit(content: str | bytes, message: str) -> None:
    pattern = message if ".*" in message else re.escape(message)
    with pytest.raises(InputError, match=pattern):
        take(content)


def test_encodings() -> None:
    words = "a,b\nÅse,“x”\n"
    assert cells(take(words.encode("cp1252"), encoding="cp1252"))["a"] == ["Åse"]
    assert cells(take("a,b\ncafé,1\n".encode("latin-1"), encoding="latin-1"))["a"] == ["café"]
    assert cells(take(words.encode("utf-16-be"), encoding="utf-16-be"))["b"] == ["“x”"]
    assert take(words.encode("utf-16")).dialect["encoding"] == "utf-16"
    with pytest.raises(OptionError, match="encoding='klingon' is not known"):
        take(words, encoding="klingon")
    with pytest.raises(InputError, match=r"t.csv is not encoded as shift_jis \(in or after line 1"):
        take(b"a,b\n\xfd\xff,1\n", encoding="shift_jis")


def _workbook() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(zipfile.ZipInfo("xl/workbook.xml"), "")  # without the time of day
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (_workbook(), "t.csv", "t.csv is an Excel workbook: save the sheet as CSV"),
        (b"PK\x03\x04broken", "t.zip", "a zip archive"),
        (b"\xd0\xcf\x11\xe0rest", "t.xls", "an old Excel workbook"),
        (pickle.dumps([1]), "t.pkl", "a pickle, which can run code"),
        (b"SQLite format 3\0", "t.db", "an SQLite database"),
        (b"ARROW1\0\0", "t.feather", "an Arrow or Feather file"),
        (b"<!DOCTYPE html><html>", "t.csv", "a web page, not a table"),
        (b"@relation x\n", "t.arff", "an ARFF file"),
        (b"nothing", "t.parquet", "no Parquet file, though it was to be read as one"),
        (b"PAR1nothingPAR1", "t.parquet", "cannot be read as Parquet"),
        (
            gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9],
            "t.csv.gz",
            "compressed with gzip, and damaged",
        ),
        (gzip.compress(_workbook(), mtime=0), "t.csv.gz", "an Excel workbook"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_files_that_are_something_else(content: bytes, name: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        take(content, name)


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    for path, message in [
        ("none.csv", f"There is no file 'none.csv' in '{tmp_path}'"),
        ("nowhere/t.csv", "there is not even a folder"),
        (".", "'.' is a folder"),
        ("a\0b", "There is no file 'a\\x00b'"),
    ]:
        with pytest.raises(InputError, match=re.escape(message)):
            read_file(path)
    with pytest.raises(OptionError, match="format='xlsx' is not known"):
        take("a\n1\n", format="xlsx")
    with pytest.raises(OptionError, match="na_values="):
        take("a\n1\n", na_values=[1])
    with pytest.raises(OptionError, match="that UTF-8 can hold"):
        take("a\n1\n", na_values=["\udcff"])


def test_a_file_that_may_not_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    put("a\n1\n")
    monkeypatch.setattr("pathlib.Path.open", refuse)
    with pytest.raises(InputError, match="cannot be read: Permission denied"):
        read_file("t.csv")


def test_no_character_of_a_name_stands_for_others() -> None:
    put("a,b\n9,9\n", "ab.csv")
    for name in ("a*.csv", "a?.csv", "[ab]b.csv", "it's;--.csv", "-.csv", "%7E ~.csv", "s3:x.csv"):
        assert cells(take("a,b\n1,2\n", name)) == {"a": [1], "b": [2]}
    with pytest.raises(InputError, match=r"There is no file '\*b.csv'"):
        read_file("*b.csv")


def test_pipes_and_standard_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    stream = io.TextIOWrapper(io.BytesIO(gzip.compress(b"a,b\n1,2\n")))
    monkeypatch.setattr(sys, "stdin", stream)
    file = read_file("-")
    assert (file.name, cells(file)) == ("standard input", {"a": [1], "b": [2]})
    os.mkfifo("pipe")
    thread = threading.Thread(target=put, args=(b"a,b\n1,2\n", "pipe"))
    thread.start()
    assert cells(read_file("pipe")) == {"a": [1], "b": [2]}
    thread.join()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1\n")))
    with pytest.raises(InputError, match="standard input, line 2: 1 cell"):
        read_file("-")
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]  # nothing is left


def test_json_lines() -> None:
    content = (
        '{"n": 1, "w": "01", "d": "2024-01-31", "b": true, "m": 1, "x/~y": "NA"}\n\n'
        '{"w": "2", "n": 2.5, "b": null, "m": "1", "late": 1e3, "i": 12345678901234567890}\r\n'
    )
    file = take(content, "t.jsonl")
    assert file.format == "jsonl"
    assert cells(file) == {
        "n": [1.0, 2.5],
        "w": ["01", "2"],
        "d": [datetime(2024, 1, 31), None],
        "b": [True, None],
        "m": ["1", "1"],
        "x/~y": [None, None],
        "late": [None, 1000.0],
        "i": [None, "12345678901234567890"],
    }
    assert any("beyond 2^53" in note for note in file.notes)
    assert cells(take('{"a": 1}\n{"a": NaN}\n', "t.csv"))["a"] == [1.0, None]
    assert cells(take(b'\xef\xbb\xbf{"a": "1"}\n', "t.json", text=["a"])) == {"a": ["1"]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a": 1}\n{"a": \n', "t.jsonl, line 2: this is no JSON (Expecting value)"),
        ('{"a": 1}\n[1, 2]\n', "line 2: this is no object"),
        ('[{"a": 1},\n{"a": 2}]\n', "line 1: an array of JSON begins here"),
        ('{"a": 1}\n{"a": 1, "a": 2}\n', "line 2: the key 'a' occurs twice"),
        ('{"a": 1}\n{"a": {"b": 1}}\n', "line 2: the value of 'a' is a list or an object"),
        ('{"a": 1}\n{"a": []}\n', "line 2: the value of 'a' is a list or an object"),
        (b'{"a": 1}\n{"a": "\xe9"}\n', "line 2: the byte 0xe9 is no UTF-8"),
        ('{"a": 1}\n{"a": ' + "[" * 9000 + "\n", "line 2: this is no JSON"),
        ("{}\n", "no keys"),
    ],
)
def test_json_lines_that_are_none(content: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        take(content, "t.jsonl")


def test_parquet() -> None:
    con = duckdb.connect()
    con.execute(
        "COPY (SELECT * FROM (VALUES "
        "(1, 1.5::DECIMAL(4,2), 'x', true, DATE '2024-01-31', 9007199254740993, 1::UTINYINT),"
        "(NULL, 2, 'NA', NULL, NULL, 1, 2)) t(a, b, c, d, e, f, g)) TO 't.parquet'"
    )
    file = read_file("t.parquet")
    assert (file.format, file.dialect) == ("parquet", {})
    assert cells(file) == {
        "a": [1.0, None],
        "b": [1.5, 2.0],
        "c": ["x", None],
        "d": [True, None],
        "e": [datetime(2024, 1, 31), None],
        "f": ["9007199254740993", "1"],
        "g": [1, 2],
    }
    assert "'f' is text: 1 of 2 values is beyond 2^53" in file.notes[0]
    assert file.notes[1:] == ("'NA' was read as a missing value: 'c' 1.",)
    assert cells(read_file("t.parquet", text=["a", "d"]))["a"] == ["1", None]
    con.execute("COPY (SELECT [1, 2] AS l, 1 AS x) TO 't.parquet'")
    with pytest.raises(ColumnError, match=r"the column 'l' holds lists .* Turn it into plain"):
        read_file("t.parquet")
    con.execute("COPY (SELECT 'x'::BLOB AS l) TO 't.parquet'")
    with pytest.raises(ColumnError, match="'l' has the type BLOB"):
        read_file("t.parquet")
    con.execute("COPY (SELECT 1 AS l WHERE false) TO 't.parquet'")
    with pytest.raises(InputError, match="no rows"):
        read_file("t.parquet")
    pd.DataFrame({"a": [1], "A": [2]}).to_parquet("t.parquet")
    assert cells(read_file("t.parquet")) == {"a": [1], "A": [2]}


def test_parquet_columns_without_any_value() -> None:
    pq.write_table(pa.table({"a": pa.nulls(2), "b": [1, 2]}), "t.parquet")
    assert cells(read_file("t.parquet")) == {"a": [None, None], "b": [1, 2]}


@pytest.mark.parametrize(
    ("type_", "values", "is_text"),
    [
        ("DECIMAL(38,10)", ["1234567890.1234567891", "1"], True),
        ("DECIMAL(38,0)", ["-9007199254740993", "1"], True),
        ("DECIMAL(38,0)", ["9007199254740991", "100"], False),
        ("DECIMAL(38,18)", ["-0.500000000000000000", "123456789012.345"], False),
        ("DECIMAL(18,18)", ["0.123456789012345678", "0.5"], True),
        ("DECIMAL(20,2)", ["100000000000000000.00", "1"], True),
    ],
)
def test_parquet_decimals_are_never_rounded(type_: str, values: list[str], is_text: bool) -> None:
    rows = ", ".join(f"('{value}'::{type_})" for value in (*values, "0"))
    duckdb.connect().execute(f"COPY (FROM (VALUES {rows}, (NULL)) t(a)) TO 't.parquet'")
    file = read_file("t.parquet")
    found = cells(file)["a"]
    assert found.pop() is None
    assert {type(value) for value in found} == {str if is_text else float}
    assert [Decimal(value) for value in map(str, found)] == list(map(Decimal, (*values, "0")))
    assert len(file.notes) == is_text
    assert all(note.startswith("'a' is text: 1 of 3 decimals") for note in file.notes)
    assert isinstance(cells(read_file("t.parquet", text=["a"]))["a"][2], str)


def test_an_index_of_pandas_is_left_out() -> None:
    pd.DataFrame({"a": [1, 2]}, index=["x", "y"]).to_parquet("t.parquet")
    file = read_file("t.parquet")
    assert cells(file) == {"a": [1, 2]}
    assert "'__index_level_0__' was left out" in file.notes[0]
    pd.DataFrame(index=["x", "y"]).to_parquet("t.parquet")
    assert cells(read_file("t.parquet")) == {"__index_level_0__": ["x", "y"]}


def test_the_database_sees_one_file_only(tmp_path: Path) -> None:
    put("a\n1\n", "mine.csv")
    put("a\n1\n", "other.csv")
    with duck.duck_for(str(tmp_path / "mine.csv")) as con:
        assert con.execute("FROM read_csv(?)", [str(tmp_path / "mine.csv")]).fetchall() == [(1,)]
        for sql in (
            f"FROM read_csv('{tmp_path}/other.csv')",
            f"COPY (SELECT 1) TO '{tmp_path}/new.csv'",
            "ATTACH 'new.db'",
            "INSTALL httpfs",
            "LOAD httpfs",
            "SET enable_external_access = true",
            "SET allowed_paths = ['/']",
        ):
            with pytest.raises(duckdb.Error):
                con.execute(sql)
    assert duck.quoted("it's") == "'it''s'"


def test_what_duckdb_loses_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cell too many and an open quote pass DuckDB; the bytes do not add up."""
    monkeypatch.setattr(csv_rows, "_adds_up", lambda *_: True)
    assert len(take("a,b\n1,2,\n3,4\n").frame) == 2  # DuckDB alone forgives it


def test_many_columns() -> None:
    names = [f"column {j}" for j in range(230)]
    file = take(",".join(names) + "\n" + ",".join("1" if j % 2 else "x" for j in range(230)) + "\n")
    assert list(file.frame) == names
    assert file.frame.iloc[0].tolist() == ["x", 1] * 115


def test_what_was_read_can_be_fitted() -> None:
    """Holes among truth values, words, dates and numbers are holes to the estimators, too."""
    rows = [
        "true,x,2024-01-31,1,yes",
        "false,,2024-02-01,2,no",
        ",y,,,yes",
        "true,x,2024-03-01,3,no",
    ]
    frame = take("b,w,d,n,y\n" + "\n".join(rows) + "\n").frame
    table = read_table(frame)
    assert [table.column_schema(j).kind for j in range(4)] == ["category"] * 2 + ["date", "number"]
    model = DiscreteBayes().fit(frame, "y")
    assert dict(model.fit_report_.missing) == {"b": 1, "w": 1, "d": 1, "n": 1}
    penguins = datasets.penguins()
    penguins.to_csv("penguins.csv", index=False)
    again = read_file("penguins.csv").frame
    for name in ("bill_length_mm", "year"):
        np.testing.assert_array_equal(again[name], penguins[name])


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_nanoseconds_of_parquet_are_kept(zone: str | None) -> None:
    base = 1_700_000_000_000_000_000
    times = pd.Series(pd.to_datetime(base + np.arange(60), utc=True)).dt.tz_convert(zone)
    pq.write_table(pa.table({"t": pa.Array.from_pandas(times)}), "t.parquet")
    file = read_file("t.parquet")
    read = file.frame["t"]
    if zone and duckdb.__version__ < "2":
        assert "'t' was read to the microsecond" in file.notes[0]
        return
    assert read.astype("datetime64[ns]").astype("int64").tolist() == list(range(base, base + 60))
    # a number of days has 52 bits, which end at about 300 nanoseconds
    assert [n for n in file.notes if "'t' holds times that differ by less than a micro" in n]


def _grow(path: Path) -> None:
    path.write_bytes(path.read_bytes() * 2)


def _change_a_byte(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"1", b"2", 1))


def _change_there_and_back(path: Path) -> None:
    later = path.stat().st_mtime_ns + 10**9  # clocks of files are coarse
    path.write_bytes(path.read_bytes())
    os.utime(path, ns=(later, later))


def _shrink(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5])


def _empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (_grow, "changed while it was read"),
        (_change_a_byte, "changed while it was read"),
        (_change_there_and_back, "changed while it was read"),
        (_shrink, "changed while it was read"),
        (_empty, "changed while it was read"),
        (pathlib.Path.unlink, "removed or renamed while it was read"),
    ],
)
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.jsonl", "t.parquet"])
def test_a_file_that_changes_while_it_is_read(
    change: Callable[[Path], None], words: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = pathlib.Path(name)
    frame = pd.DataFrame({"a": [1, 12, 3], "b": ["x", "y", "z"]})
    if name.endswith("parquet"):
        pq.write_table(pa.Table.from_pandas(frame), name)
    elif name.endswith("jsonl"):
        frame.to_json(name, orient="records", lines=True)
    else:
        frame.to_csv(name, index=False)
    connect = duckdb.connect

    def late(*given: Any, **named: Any) -> Any:
        if path.exists():
            change(path)
        return connect(*given, **named)

    monkeypatch.setattr(duckdb, "connect", late)
    with pytest.raises(InputError, match=f"{re.escape(name)} (was )?{words}"):
        read_file(name)


def test_a_file_that_shrinks_before_its_first_rows_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = pathlib.Path(put("a,b\n1,2\n3,4\n"))
    survey = csv_survey.survey

    def then_shrink(*given: Any) -> Any:
        found = survey(*given)
        _shrink(path)
        return found

    monkeypatch.setattr(csv_rows, "survey", then_shrink)
    with pytest.raises(InputError, match="changed while it was read"):
        read_file(path)


@pytest.mark.parametrize("mark", [".", ","])
def test_one_bad_cell_among_numbers_is_said(mark: str) -> None:
    rows = [f"{i}{mark}{i % 7};{i}\n" for i in range(20)]
    file = take("a;b\n" + "".join(rows) + "bad;1\n")
    assert file.notes == ("'a' is text: 1 of 21 values is no number, such as 'bad'.",)
    other = {".": ",", ",": "."}[mark]
    mixed = take("a;b\n" + "".join(rows) + f"7{other}5;1\n")
    assert f"'a' is text: 1 of 21 values is no number, such as '7{other}5'." in mixed.notes


def test_a_first_row_with_a_missing_value_is_no_line_of_names() -> None:
    file = take("63,?,2.5,a\n2,1,?,b\n3,2,1.5,a\n")
    assert cells(file)["column_2"] == [None, 1, 2]
    assert "so it was read as a row" in file.notes[0]
    # where numbers do not tell, it is said
    words = take("x,?\ny,z\n")
    assert list(words.frame) == ["x", "?"]
    assert "'?' is one of them" in words.notes[0]
    assert words.notes[0].endswith("give header=False (--no-header).")
    assert take("x,?\ny,z\n", header=True).notes == ()
    assert list(take("year,NA,EU\n2000,1,2\n").frame) == ["year", "NA", "EU"]


def test_a_first_row_of_equal_numbers_is_no_line_of_names() -> None:
    file = take("1,1,2,a\n2,1,1,b\n", text=["column_1"])
    assert cells(file)["column_1"] == ["1", "2"]
    assert len(file.frame) == 2
    with pytest.raises(ColumnError, match=r"called 'x'. .* give header=False \(--no-header\)\.$"):
        take("x,x\ny,z\n")
    assert len(take("x,x\ny,z\n", header=False).frame) == 2


def test_a_delimiter_that_makes_one_column_of_many() -> None:
    with pytest.raises(InputError, match="delimiter=';' makes one column of it, while ',' would"):
        take("a,b,c\n1,2,3\n4,5,6\n", delimiter=";")
    # commas that are not in every line are text
    assert cells(take("a\nx\ny, z\n", delimiter=";")) == {"a": ["x", "y, z"]}
    assert cells(take('"a, b"\n"x, y"\n', delimiter=";")) == {"a, b": ["x, y"]}
