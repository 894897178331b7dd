"""Files to frames: dialects, types, missing values and names. Refusals are in `refusals`."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import pathlib
import re
import sys
import threading
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sortal.data.files import cells as csv_survey
from sortal.data.files import column_types as duck
from sortal.data.files import csv_reader as csv_rows
from sortal.data.files import open as plain_files
from sortal.data.sources import read_table
from sortal.errors import InputError
from sortal.tasks.tables import FileTable, read_file

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
    """Columns as plain lists, None for a missing value."""
    return {
        name: [None if pd.isna(cell) else cell for cell in file.frame[name].tolist()]
        for name in file.frame
    }


def rows(file: FileTable) -> list[tuple[Any, ...]]:
    return list(zip(*cells(file).values(), strict=True))


def kinds(file: FileTable) -> str:
    return "".join(column.dtype.kind for _, column in file.frame.items())


def test_the_record() -> None:
    content = b"a,b\n1,x\n2,y\n"
    file = take(content)
    assert (file.name, file.format, file.n_bytes) == ("t.csv", "csv", len(content))
    assert file.sha256 == hashlib.sha256(content).hexdigest()
    assert list(file.dialect) == ["delimiter", "quote", "header", "decimal", "newline", "encoding"]
    assert list(file.dialect.values()) == [",", '"', True, None, "\n", "utf-8"]
    assert file.notes == ()
    assert cells(file) == {"a": [1, 2], "b": ["x", "y"]}
    long = bytes(plain_files.BLOCK) + content
    found = plain_files._fingerprint(pathlib.Path(put(long)))[:2]
    assert found == (hashlib.sha256(long).hexdigest(), len(long))
    assert csv_survey.survey(put("\ufeffa\n1\n"), "t.csv").n_bytes == 4  # a mark is no text


@pytest.mark.usefixtures("one_duck")
def test_dialects() -> None:
    for content in (
        *("a,b\n1,x\n2,y\n", "a;b\n1;x\n2;y", "a\tb\r\n1\tx\r\n2\ty\r\n", "a|b\n1|x\n2|y\n"),
        *("\ufeffa,b\n1,x\n2,y\n", '"a","b"\n"1","x"\n"2","y"\n', "a, b\n1, x\n2,\ty \n"),
        *("a,b\r1,x\r2,y\r", "a,b\n1,x\r\n2,y\n", "\n\na,b\n\n1,x\n2,y\n\n"),
        *("a,b\n1,x\n2,y\n".encode("utf-16"), gzip.compress(b"a,b\n1,x\n2,y\n")),
    ):
        assert cells(take(content)) == {"a": [1, 2], "b": ["x", "y"]}, content


# A file, options, and its cells.
READ: list[tuple[str, dict[str, Any], dict[str, list[Any]]]] = [
    (
        'a;b\n"1;2";"say ""no"""\n"two\nlines";"two\r\nlines"\nx"y;2"\n',
        {},
        {"a": ["1;2", "two\nlines", 'x"y'], "b": ['say "no"', "two\r\nlines", '2"']},
    ),
    ('x\n1\n\n2\n""\n', {}, {"x": [1, 2, None]}),
    ("t\nhello, world\nno comma\nn, n, n\n", {}, {"t": ["hello, world", "no comma", "n, n, n"]}),
    ("a:b\n1:2\n", {"delimiter": ":"}, {"a": [1], "b": [2]}),
    ("a b\n1 2\n", {"delimiter": " "}, {"a": [1], "b": [2]}),
    ("a\tb\n1\t2,5\n", {"delimiter": "tab"}, {"a": [1], "b": [2.5]}),
    # commas that are not in every line are text
    ("a\nx\ny, z\n", {"delimiter": ";"}, {"a": ["x", "y, z"]}),
    ('"a, b"\n"x, y"\n', {"delimiter": ";"}, {"a, b": ["x, y"]}),
    # by ";" the first line has more cells, and no other line as many
    ("a,b;c;d\n1,2\n3,4\n", {}, {"a": [1, 3], "b;c;d": [2, 4]}),
    # zero and fractions have no leading zeros
    ("a,b,c\n0,0.5,-0.25\n10,0,0e0\n", {}, {"a": [0, 10], "b": [0.5, 0.0], "c": [-0.25, 0.0]}),
    (f"a,b\n{2**53},x\n{-(2**53)},y\n", {}, {"a": [2**53, -(2**53)], "b": ["x", "y"]}),
    (
        "a,b,c\n1,true,2024-01-31\n2,NA,\n",
        {"text": ["a", "b", "c"]},
        {"a": ["1", "2"], "b": ["true", None], "c": ["2024-01-31", None]},
    ),
    ("a;b\n1,234;x\n12;y\n", {"decimal": ","}, {"a": [1.234, 12.0], "b": ["x", "y"]}),
    ("a;b\n1,5;x\n12;y\n", {"decimal": "."}, {"a": ["1,5", "12"], "b": ["x", "y"]}),
    # missing values in the case as listed, and words of one's own beside them
    ("a,b\nna,Null\n", {}, {"a": ["na"], "b": ["Null"]}),
    ("a,b\n1,-\n-9,NA\n", {"na_values": ["-", "-9"]}, {"a": [1.0, None], "b": [None, None]}),
    ("a,A\n1,2\n", {}, {"a": [1], "A": [2]}),
    # a name above a number, or words only, are names
    ("id,2019,2020\n1,5,6\n", {}, {"id": [1], "2019": [5], "2020": [6]}),
    ("year,NA,EU\n2000,1,2\n", {}, {"year": [2000], "NA": [1], "EU": [2]}),
    ("a,b\nx,y\n", {}, {"a": ["x"], "b": ["y"]}),
    ("a,b\nx,y\n", {"header": False}, {"column_1": ["a", "x"], "column_2": ["b", "y"]}),
    ("x,x\ny,z\n", {"header": False}, {"column_1": ["x", "y"], "column_2": ["x", "z"]}),
    # equal numbers in the first row are no names
    ("1,1\n2,1\n", {"text": ["column_1"]}, {"column_1": ["1", "2"], "column_2": [1, 1]}),
]


# A file, its cells, and a note on them.
NOTED: list[tuple[str, dict[str, list[Any]], str]] = [
    ("a;b\n3,5;1\n-,5;2\n", {"a": [3.5, -0.5], "b": [1, 2]}, r"^A comma is the decimal mark\.$"),
    ("a;b\n1,5;1.5\n2,5;2.5\n", {"a": [1.5, 2.5], "b": ["1.5", "2.5"]}, "'b' is text.*a point"),
    (
        "a;b\n1,234;x\n12;y\n",
        {"a": ["1,234", "12"], "b": ["x", "y"]},
        r"could part thousands or fractions.*\(--decimal\)",
    ),
    (
        ",a\n0,1\n1,2\n",
        {"column_1": [0, 1], "a": [1, 2]},
        r"^Columns without a name in the first line are called column_1\.$",
    ),
    (
        "5.1,setosa\n4.9,setosa\n",
        {"column_1": [5.1, 4.9], "column_2": ["setosa"] * 2},
        r"give header=True \(--header\) if it has the names",
    ),
    (
        "63,?,a\n2,1,b\n3,2,a\n",
        {"column_1": [63, 2, 3], "column_2": [None, 1, 2], "column_3": [*"aba"]},
        "so it was read as a row",
    ),
    # where numbers do not tell, it is said
    (
        "x,?\ny,z\n",
        {"x": ["y"], "?": ["z"]},
        r"'\?' is one of them.*give header=False \(--no-header\)\.$",
    ),
]


@pytest.mark.usefixtures("one_duck")
def test_cells_as_they_are_read() -> None:
    for content, options, expected in READ:
        assert cells(take(content, **options)) == expected, (content, options)
    for content, expected, words in NOTED:
        file = take(content)
        assert cells(file) == expected, content
        assert re.search(words, file.notes[0]), file.notes
    assert take("x,?\ny,z\n", header=True).notes == ()
    assert len(take("5.1,setosa\n4.9,setosa\n", header=True).frame) == 1


def test_numbers() -> None:
    file = take("w,f,e,s,h\n1,1.5,1e5,+1,1\n-2,.5,2E-3,-1,\n30,7.,3,0,3\n")
    expected = [(1, 1.5, 1e5, 1, 1.0), (-2, 0.5, 2e-3, -1, None), (30, 7.0, 3.0, 0, 3.0)]
    assert (rows(file), kinds(file)) == (expected, "iffif")


def test_every_double_survives() -> None:
    doubles = np.random.default_rng(0).integers(0, 2**63, 300).view(np.float64)
    numbers = [*doubles[np.isfinite(doubles)].tolist(), 0.1, 1e-320, -0.5, 123456.789]
    file = take("x,y\n" + "".join(f"{x!r},1\n" for x in numbers))
    assert file.frame["x"].tolist() == numbers


@pytest.mark.usefixtures("one_duck")
def test_text_that_is_nearly_numbers_says_why() -> None:
    for values, why in (
        (["1", "01234", "7"], "1 of 3 values has leading zeros, such as '01234'"),
        (["1", "-007", "2"], "leading zeros, such as '-007'"),
        (["1", str(2**53 + 1), "2"], "1 of 3 values is beyond 2^53, such as '9007"),
        (["1", str(10**40)], "beyond 2^53"),
        (["1", "1e400"], "too large for a number, such as '1e400'"),
        ([*"12345678", "9?"], "1 of 9 values is no number, such as '9?'"),
        *(([*"12345678", x], f"such as {x!r}") for x in ("inf", "1_000", "0x1F", "1,000")),
    ):
        file = take("a\ty\n" + "".join(f"{value}\tz\n" for value in values), decimal=".")
        assert cells(file)["a"] == values
        (note,) = file.notes
        assert note.startswith("'a' is text: ")
        assert why in note


def test_a_value_far_down_decides() -> None:
    lines = "".join(f"{i},true,2024-01-01\n" for i in range(1, 3000))
    file = take(f"a,b,c\n{lines}007,maybe,soon\n")
    assert kinds(file) == "OOO"
    assert file.frame["a"].tolist()[-1] == "007"


def test_dates_and_truth() -> None:
    file = take("d,t,b,h,o\n2024-01-31,2024-02-29 12:30,true,True,01/02/2024\n,?,false,,x\n")
    assert rows(file) == [
        (datetime(2024, 1, 31), datetime(2024, 2, 29, 12, 30), True, True, "01/02/2024"),
        (None, None, False, None, "x"),
    ]
    assert kinds(file)[:3] == "MMb"
    assert [read_table(file.frame).column_schema(j).kind for j in (0, 3)] == ["date", "category"]
    assert kinds(take("d\n2024-02-30\n")) == "O"
    assert kinds(take("d\n2024-01-31T10:11:12.123456Z\n1066-10-14\n")) == "M"


def test_missing_values() -> None:
    words = ["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "?", " NA "]
    file = take("a,b\n1,x\n" + "".join(f"{word},{word}\n" for word in words))
    assert cells(file) == {"a": [1.0, *[None] * 10], "b": ["x", *[None] * 10]}
    assert kinds(file)[0] == "f"
    assert "'NA' was read as a missing value: 'a' 2, 'b' 2." in file.notes
    assert kinds(take("a,b\n,1\nNA,2\n")) == "fi"


def test_odd_names() -> None:
    odd = ["a'b", 'c"d', "SELECT", "日本", "x; DROP TABLE raw", "rowid", "c0"]
    line = ",".join('"' + name.replace('"', '""') + '"' for name in odd)
    assert list(take(line + "\n" + ",".join("1234567") + "\n").frame) == odd


@pytest.mark.usefixtures("one_duck")
def test_one_bad_cell_among_numbers_is_said() -> None:
    for mark, other in (".,", ",."):
        lines = "".join(f"{i}{mark}{i % 7};{i}\n" for i in range(20))
        file = take(f"a;b\n{lines}bad;1\n")
        assert file.notes == ("'a' is text: 1 of 21 values is no number, such as 'bad'.",)
        mixed = take(f"a;b\n{lines}7{other}5;1\n")
        assert f"'a' is text: 1 of 21 values is no number, such as '7{other}5'." in mixed.notes


@pytest.mark.usefixtures("one_duck")
def test_encodings() -> None:
    words = "a,b\nÅse,“x”\n"
    for encoding in ("cp1252", "utf-16-be"):
        assert rows(take(words.encode(encoding), encoding=encoding)) == [("Åse", "“x”")]
    assert rows(take("a,b\ncafé,1\n".encode("latin-1"), encoding="latin-1")) == [("café", 1)]
    assert take(words.encode("utf-16")).dialect["encoding"] == "utf-16"


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
    assert list(file.frame) == ["n", "w", "d", "b", "m", "x/~y", "late", "i"]
    assert rows(file) == [
        (1.0, "01", datetime(2024, 1, 31), True, "1", None, None, None),
        (2.5, "2", None, None, "1", None, 1000.0, "12345678901234567890"),
    ]
    assert any("beyond 2^53" in note for note in file.notes)
    assert cells(take('{"a": 1}\n{"a": NaN}\n', "t.csv"))["a"] == [1.0, None]
    assert cells(take(b'\xef\xbb\xbf{"a": "1"}\n', "t.json", text=["a"])) == {"a": ["1"]}


def test_parquet() -> None:
    duckdb.connect().execute(
        "COPY (SELECT * FROM (VALUES "
        "(1, 1.5::DECIMAL(4,2), 'x', true, DATE '2024-01-31', 9007199254740993, 1::UTINYINT),"
        "(NULL, 2, 'NA', NULL, NULL, 1, 2)) t(a, b, c, d, e, f, g)) TO 't.parquet'"
    )
    file = read_file("t.parquet")
    assert (file.format, file.dialect, list(file.frame)) == ("parquet", {}, [*"abcdefg"])
    assert rows(file) == [
        (1.0, 1.5, "x", True, datetime(2024, 1, 31), "9007199254740993", 1),
        (None, 2.0, None, None, None, "1", 2),
    ]
    assert "'f' is text: 1 of 2 values is beyond 2^53" in file.notes[0]
    assert file.notes[1:] == ("'NA' was read as a missing value: 'c' 1.",)
    assert cells(read_file("t.parquet", text=["a", "d"]))["a"] == ["1", None]
    pq.write_table(pa.table({"a": pa.nulls(2), "A": [1, 2]}), "t.parquet")
    assert cells(read_file("t.parquet")) == {"a": [None, None], "A": [1, 2]}


def test_parquet_decimals_are_never_rounded() -> None:
    for type_, values, is_text in (
        ("DECIMAL(38,10)", ["1234567890.1234567891", "1"], True),
        ("DECIMAL(38,0)", ["-9007199254740993", "1"], True),
        ("DECIMAL(38,0)", ["9007199254740991", "100"], False),
        ("DECIMAL(38,18)", ["-0.500000000000000000", "123456789012.345"], False),
        ("DECIMAL(18,18)", ["0.123456789012345678", "0.5"], True),
        ("DECIMAL(20,2)", ["100000000000000000.00", "1"], True),
    ):
        given = ", ".join(f"('{value}'::{type_})" for value in (*values, "0"))
        duckdb.connect().execute(f"COPY (FROM (VALUES {given}, (NULL)) t(a)) TO 't.parquet'")
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


def test_the_database_sees_one_file_only(tmp_path: Path) -> None:
    put("a\n1\n", "mine.csv")
    put("a\n1\n", "other.csv")
    with duck.duck_for(str(tmp_path / "mine.csv")) as con:
        assert con.execute("FROM read_csv(?)", [str(tmp_path / "mine.csv")]).fetchall() == [(1,)]
        for sql in (
            f"FROM read_csv('{tmp_path}/other.csv')",
            f"COPY (SELECT 1) TO '{tmp_path}/new.csv'",
            *("ATTACH 'new.db'", "INSTALL httpfs", "LOAD httpfs"),
            *("SET enable_external_access = true", "SET allowed_paths = ['/']"),
        ):
            with pytest.raises(duckdb.Error):
                con.execute(sql)
    assert duck.quoted("it's") == "'it''s'"


def test_what_duckdb_loses_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cell too many and an open quote pass DuckDB; the bytes do not add up."""
    monkeypatch.setattr(csv_rows, "_adds_up", lambda *_: True)
    assert len(take("a,b\n1,2,\n3,4\n").frame) == 2  # DuckDB alone forgives it


def test_many_columns() -> None:
    names = [f"column {j}" for j in range(130)]  # more than one query asks about
    file = take(",".join(names) + "\n" + ",".join("1" if j % 2 else "x" for j in range(130)) + "\n")
    assert list(file.frame) == names
    assert file.frame.iloc[0].tolist() == ["x", 1] * 65


def _change_there_and_back(path: Path) -> None:
    later = path.stat().st_mtime_ns + 10**9  # clocks of files are coarse
    path.write_bytes(path.read_bytes())
    os.utime(path, ns=(later, later))


CHANGES: dict[str, Callable[[Path], object]] = {
    "grows": lambda path: path.write_bytes(path.read_bytes() * 2),
    "differs": lambda path: path.write_bytes(path.read_bytes().replace(b"1", b"2", 1)),
    "changes there and back": _change_there_and_back,
    "shrinks": lambda path: path.write_bytes(path.read_bytes()[:5]),
    "is emptied": lambda path: path.write_bytes(b""),
    "goes": pathlib.Path.unlink,
}


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.jsonl", "t.parquet"])
def test_a_file_that_changes_while_it_is_read(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = pathlib.Path(name)
    frame = pd.DataFrame({"a": [1, 12, 3], "b": ["x", "y", "z"]})
    connect = duckdb.connect
    for what, change in CHANGES.items():
        if name.endswith("parquet"):
            pq.write_table(pa.Table.from_pandas(frame), name)
        elif name.endswith("jsonl"):
            frame.to_json(name, orient="records", lines=True)
        else:
            frame.to_csv(name, index=False)

        def late(*given: Any, change: Any = change, **named: Any) -> Any:
            if path.exists():
                change(path)
            return connect(*given, **named)

        monkeypatch.setattr(duckdb, "connect", late)
        words = "was removed or renamed" if what == "goes" else "changed"
        with pytest.raises(InputError, match=f"{re.escape(name)} {words} while it was read"):
            read_file(name)


def test_a_file_that_shrinks_before_its_first_rows_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = pathlib.Path(put("a,b\n1,2\n3,4\n"))
    survey = csv_survey.survey

    def then_shrink(*given: Any) -> Any:
        found = survey(*given)
        CHANGES["shrinks"](path)
        return found

    monkeypatch.setattr(csv_rows, "survey", then_shrink)
    with pytest.raises(InputError, match="changed while it was read"):
        read_file(path)
