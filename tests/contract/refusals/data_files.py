"""Files that cannot be read as a table, and tables that cannot be written."""

import gzip
import io
import pickle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from zipfile import ZipFile

import duckdb
import pandas as pd
from tests.contract.refusals.table import Refusal

from sortal.data.atomic_write import replace_file
from sortal.data.files.write import format_of, write_table
from sortal.errors import ColumnError, InputError, InputTypeError, ParameterError
from sortal.tasks.tables import read_file


def take(content: str | bytes, name: str = "t.csv", **options: Any) -> object:
    """Read a file of this content."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read_file(path, **options)


def archive(*members: str) -> bytes:
    out = io.BytesIO()
    with ZipFile(out, "w") as file:
        for member in members:
            file.writestr(member, "")
    return out.getvalue()


def parquet(select: str) -> object:
    """Read a Parquet file of what a query gives."""
    with TemporaryDirectory() as folder:
        duckdb.connect().execute(f"COPY ({select}) TO '{folder}/t.parquet'")
        return read_file(f"{folder}/t.parquet")


def write(frame: Any, name: str, **options: Any) -> None:
    """Write a table; nothing may be left of it."""
    with TemporaryDirectory() as folder:
        try:
            write_table(frame, Path(folder) / name, **options)
        finally:
            assert not list(Path(folder).iterdir())


def replace(path: str) -> None:
    with replace_file(path):
        pass


# What is given, and the words of the refusal.
CSV: Final[list[tuple[str | bytes, str]]] = [
    ("a,b\n1,2\n3\n", r"t.csv, line 3: 1 cell where the first line has 2 \(the delimiter is"),
    ("a,b\n1,2\n3,4,5\n6,7,8\n", "line 3: 3 cells .* Other rows that do not fit: 1."),
    ("a,b\n1,2,\n3,4\n", "line 2: 3 cells where the first line has 2"),
    ("a,b\nx,1,2\n", "first column, of row names, has no heading"),
    ('a,b\n"x\ny",2\n3\n', "line 4: 1 cell"),
    ('a,b\n1,2\n"x,2\n3,4\n', r'line 3: a quote \("\) opens a cell and is never closed'),
    ('a,b\n"""",y"\n"', r'line 3: a quote \("\) opens a cell and is never closed'),
    ('a,b\n1,2\n"\n\n', r'line 3: a quote \("\) opens a cell and is never closed'),
    ('a,b\n1,"x"  "y"\n', "line 2: after the quote that ends a cell there is something else"),
    ('a,b\n1,2\n"x"y,2\n', "line 3: after the quote that ends a cell there is something else"),
    ('a,b\n"x,2\n3,"4"\n', r"line 2: after the quote that ends a cell \(in line 3\)"),
    (b"a,b\n1,2\ncaf\xe9,1\n", 'line 3: the byte 0xe9 is no UTF-8.*encoding="latin-1"'),
    (b"a,b\n\x93x\x94,1\n", "--encoding cp1252"),
    (b"a,b\n1,\xe2\x82", "line 2: the byte 0xe2 is no UTF-8"),
    ("a,b\n1,2\n3,\0\n", "line 3: a zero byte"),
    ("", "t.csv is empty: there are no bytes in it"),
    ("\n", "t.csv is empty: there are only blank lines"),
    ("a,b\n", "t.csv has a line of names and no rows"),
    ("Report of May\n\na,b,c\n1,2,3\n4,5,6\n", "line 3: 3 cells where the first line has 1"),
    ('a,b\n1,"' + "x" * 2_100_000, "line 2: .*(2,000,000 characters|never closed)"),
]
JSON: Final[list[tuple[str | bytes, str]]] = [
    ('{"a": 1}\n{"a": \n', r"t.jsonl, line 2: this is no JSON \(Expecting value\)"),
    ('{"a": 1}\n[1, 2]\n', "line 2: this is no object"),
    ('[{"a": 1},\n{"a": 2}]\n', "line 1: an array of JSON begins here"),
    ('{"a": 1}\n{"a": 1, "a": 2}\n', "line 2: the key 'a' occurs twice"),
    ('{"a": 1}\n{"a": {"b": 1}}\n', "line 2: the value of 'a' is a list or an object"),
    ('{"a": 1}\n{"a": []}\n', "line 2: the value of 'a' is a list or an object"),
    (b'{"a": 1}\n{"a": "\xe9"}\n', "line 2: the byte 0xe9 is no UTF-8"),
    ('{"a": 1}\n{"a": ' + "[" * 9000 + "\n", "line 2: this is no JSON"),
    ("{}\n", "no keys"),
]
FOREIGN: Final = [
    (archive("xl/workbook.xml"), "t.csv", "t.csv is an Excel workbook: save the sheet as CSV"),
    (archive("manifest.json", "SHA256SUMS"), "m.sortal", "a model file of sortal: give a table"),
    (b"PK\x03\x04broken", "t.zip", "a zip archive"),
    (b"\xd0\xcf\x11\xe0rest", "t.xls", "an old Excel workbook"),
    (pickle.dumps([1]), "t.pkl", "a pickle, which can run code"),
    (b"SQLite format 3\0", "t.db", "an SQLite database"),
    (b"ARROW1\0\0", "t.feather", "an Arrow or Feather file"),
    (b"<!DOCTYPE html><html>", "t.csv", "a web page, not a table"),
    (b"@relation x\n", "t.arff", "an ARFF file"),
    (b"nothing", "t.parquet", "no Parquet file, though it was to be read as one"),
    (b"PAR1nothingPAR1", "t.parquet", "cannot be read as Parquet"),
    (gzip.compress(b"a,b\n1,2\n")[:-9], "t.csv.gz", "compressed with gzip, and damaged"),
    (gzip.compress(archive("xl/a")), "t.csv.gz", "an Excel workbook"),
]
OPTIONS: Final[list[tuple[dict[str, Any], str]]] = [
    ({"delimiter": "ab"}, "delimiter='ab'"),
    ({"decimal": ";"}, "decimal=';'"),
    ({"encoding": "klingon"}, "encoding='klingon' is not known"),
    ({"format": "xlsx"}, "format='xlsx' is not known"),
    ({"na_values": [1]}, "na_values="),
    ({"na_values": ["\udcff"]}, "that UTF-8 can hold"),
]
PATHS: Final = [
    ("nowhere/t.csv", "there is not even a folder"),
    ("none.csv", "There is no file 'none.csv' in '/.*': check the name"),
    (".", "'.' is a folder"),
    ("a\0b", r"There is no file 'a\\x00b'"),
    ("*.md", r"There is no file '\*.md'"),
]


def _taken(what: str, error: type[Exception], words: str, *given: Any, **options: Any) -> Refusal:
    return Refusal(what, lambda: take(*given, **options), error, words)


def _parquet(select: str, error: type[Exception], words: str) -> Refusal:
    return Refusal(f"Parquet: {words}", lambda: parquet(select), error, words)


def _path(path: str, words: str) -> Refusal:
    return Refusal(f"the path {path!r}", lambda: read_file(path), InputError, words)


def _suffix(name: str) -> Refusal:
    words = r"ends in .*, which is no format .* \(--format\)"
    return Refusal(f"{name} to be written", lambda: format_of(name, None), ParameterError, words)


NAMES: Final = pd.DataFrame({"a": [1], "A": [2]})
REFUSALS: Final = [
    *(_taken(f"{text[:40]!r}", InputError, words, text) for text, words in CSV),
    *(_taken(f"{text[:40]!r}", InputError, words, text, "t.jsonl") for text, words in JSON),
    *(_taken(f"{name}: {words}", InputError, words, text, name) for text, name, words in FOREIGN),
    *(
        _taken(f"{options}", ParameterError, words, "a\n1\n", **options)
        for options, words in OPTIONS
    ),
    *map(_suffix, ("a.xlsx", "a.csv.gz", "a.tsv", "a.json")),
    *(_path(path, words) for path, words in PATHS),
    _parquet("SELECT [1, 2] AS l, 1 AS x", ColumnError, "'l' holds lists .* Turn it into plain"),
    _parquet("SELECT 'x'::BLOB AS l", ColumnError, "'l' has the type BLOB"),
    _parquet("SELECT 1 AS l WHERE false", InputError, "no rows"),
    _taken(
        "a name twice", ColumnError, "t.csv, line 1: more than one column.*'a'", "a,b,a\n1,2,3\n"
    ),
    _taken("words twice", ColumnError, r"'x'. .* header=False \(--no-header\)\.$", "x,x\ny,z\n"),
    _taken(
        "a name of none", ColumnError, "'d': t.csv has no such.*'a', 'b'", "a,b\n1,2\n", text=["d"]
    ),
    _taken(
        "a delimiter that is none",
        InputError,
        "delimiter=';' makes one column of it, while ',' would",
        "a,b,c\n1,2,3\n4,5,6\n",
        delimiter=";",
    ),
    _taken(
        "another encoding",
        InputError,
        r"t.csv is not encoded as shift_jis \(in or after line 1",
        b"a,b\n\xfd\xff,1\n",
        encoding="shift_jis",
    ),
    Refusal("the format xml", lambda: format_of("a", "xml"), ParameterError, "'xml' is not known"),
    Refusal("a list", lambda: write([1], "t.csv"), InputTypeError, "list is no data frame"),
    Refusal("a and A", lambda: write(NAMES, "t.parquet"), ColumnError, "capital letters only"),
    Refusal(
        "JSON lines for a spreadsheet",
        lambda: write(NAMES, "t.jsonl", excel_safe=True),
        ParameterError,
        "is for CSV files",
    ),
    Refusal("writing a folder", lambda: replace("."), InputError, "is a folder"),
    Refusal("writing nowhere", lambda: replace("nowhere/t"), InputError, "no folder .*nowhere"),
]
