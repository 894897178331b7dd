"""Tables for the tasks: a path, "-" for standard input, or a data frame as it is.

Files are read by DuckDB: CSV, Parquet and JSON lines. What a column is follows from all of its
values, by rules that are ours (`column_types`); rows are neither lost nor mended (`csv_reader`);
the file's name never becomes part of a query.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypedDict

from sortal.data.files.cells import Reading, Written
from sortal.data.files.column_types import NA_WORDS
from sortal.data.files.csv_reader import read_csv
from sortal.data.files.open import plain_file
from sortal.data.files.typed_files import read_json_lines, read_parquet
from sortal.data.files.write import write_table
from sortal.data.sources import read_frame
from sortal.errors import InputTypeError, ParameterError, ReadingWarning, listed, warn

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Unpack

    import pandas as pd

    from sortal._typing import TableLike
    from sortal.data.columns import Kind
    from sortal.data.files.open import Format

DataLike: TypeAlias = "TableLike | os.PathLike[str] | OpenedTable"

__all__ = ["FileTable", "OpenedTable", "open_table", "read", "read_file", "write_table"]


class FileOptions(TypedDict, total=False):
    """How a file is written."""

    format: str | None
    delimiter: str | None
    encoding: str | None
    header: bool | None
    decimal: str | None


class ReadOptions(FileOptions, total=False):
    """Options of `read`."""

    na_values: Iterable[str]
    text: Iterable[str]


@dataclass(frozen=True)
class OpenedTable:
    """A data frame, and the file that it came from, if it did."""

    frame: Any
    file: FileTable | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What was decided while the file was read."""
        return () if self.file is None else self.file.notes


def open_table(data: DataLike, **options: Unpack[ReadOptions]) -> OpenedTable:
    """A table from a path, from "-", or from a data frame; options are those of `read`.

    A data frame stays as it is, and options of a file do not concern it; nor do they concern a
    table that is open already.
    """
    if isinstance(data, OpenedTable):
        return data
    if isinstance(data, str | os.PathLike):
        file = read_file(data, **options)
        return OpenedTable(file.frame, file)
    if read_frame(data) is None:
        raise InputTypeError(
            f"{type(data).__name__} is no table: give the path of a file, '-' for standard input, "
            "or a data frame."
        )
    return OpenedTable(data)


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
    na_values: Iterable[str] = (),
    text: Iterable[str] = (),
) -> pd.DataFrame:
    """Read a table from a CSV, Parquet or JSON lines file as a data frame of pandas.

    Types follow from the whole file: a column is one of numbers only if every value is a number,
    and text with leading zeros, such as 01234, stays text. A row that does not fit is an error
    that names the line; nothing is left out or mended.

    Parameters
    ----------
    path : str or os.PathLike
        The file, also if compressed with gzip; "-" reads standard input. No character in the name
        stands for others.
    format : {"csv", "parquet", "jsonl"}, default=None
        None looks at the file.
    delimiter : str, default=None
        Of a CSV file: one character, or "tab". None finds "," ";" tab or "|" by the first rows.
    encoding : str, default=None
        Such as "latin-1". None means UTF-8, or UTF-16 where the file begins with its mark.
    header : bool, default=None
        Whether the first line has the names. None means that it has, unless it has numbers above
        columns of numbers.
    decimal : {".", ","}, default=None
        The decimal mark. None allows a comma where it is not the delimiter and cannot part
        thousands.
    na_values : iterable of str, default=()
        Words that mean a missing value, beside the empty one and NA, N/A, n/a, NaN, nan, NULL,
        null and ?.
    text : iterable of str, default=()
        Columns to be left as text.

    Returns
    -------
    pandas.DataFrame
    """
    return read_file(
        path,
        format=format,
        delimiter=delimiter,
        encoding=encoding,
        header=header,
        decimal=decimal,
        na_values=na_values,
        text=text,
    ).frame


# --- A table from a file, and what is to be remembered of the file ------------------------------

# Halves of characters, as which a command line hands on bytes that are no text.
_HALF: Final = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class FileTable:
    """A table read from a file, and what is to be remembered of the file."""

    frame: pd.DataFrame
    """The rows, as a data frame of pandas."""
    name: str
    """The file's name without its folders."""
    format: Format
    sha256: str
    """Of the file's bytes, in hexadecimal digits."""
    n_bytes: int
    dialect: dict[str, Any] = field(default_factory=dict)
    """How it is written: delimiter, quote, header, decimal, newline, encoding, compression."""
    notes: tuple[str, ...] = ()
    """What was decided on the way, in sentences."""
    na_values: tuple[str, ...] = ()
    """Words that mean a missing value, beside NA_WORDS."""


def read_file(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
    na_values: Iterable[str] | None = None,
    text: Iterable[str] | None = None,
    known: Mapping[str, Kind] | None = None,
    like: Written | None = None,
) -> FileTable:
    """Read a table from a file, or from standard input for "-", as `read` does.

    Parameters
    ----------
    path, format, delimiter, encoding, header, decimal, na_values, text :
        As of `read`. `na_values` None means those of `like`.
    known : dict, default=None
        The kinds of columns that need not be there, by name: categories are left as text, and a
        cell that is no number or date where these are known is an error.
    like : Written, default=None
        How an earlier file was written. It decides what this file and the options leave open.
    """
    if decimal not in (None, ".", ","):
        raise ParameterError(f"decimal={decimal!r} is not known: it can be '.', ',' or None.")
    like = like or Written()
    wishes = Reading(
        delimiter=delimiter,
        header=header,
        decimal=decimal,
        na_values=like.na_values if na_values is None else _na_values(na_values),
        named=_words("text", () if text is None else text),
        known=known or {},
        like=like,
    )
    readers = {"csv": read_csv, "jsonl": read_json_lines, "parquet": read_parquet}
    with plain_file(path, format, encoding) as file:
        answer = readers[file.format](file, wishes)
        _warn_unmet(wishes, answer.met, file.name)
        dialect = answer.dialect | ({"compression": "gzip"} if file.compression else {})
        return FileTable(
            answer.frame,
            file.name,
            file.format,
            file.sha256,
            file.n_bytes,
            dialect,
            tuple(answer.notes),
            wishes.na_values,
        )


def _na_values(given: Iterable[str]) -> tuple[str, ...]:
    """Words beside the usual ones, each once, without blanks around them, as cells are read."""
    words = dict.fromkeys(word.strip(" \t") for word in _words("na_values", given))
    return tuple(word for word in words if word not in NA_WORDS)


def _warn_unmet(wishes: Reading, met: Sequence[str], name: str) -> None:
    """Words that were asked for and are nowhere; those of an earlier file need not be there."""
    unmet = [word for word in wishes.na_values if word not in (*met, *wishes.like.na_values)]
    if unmet:
        warn(
            f"na_values (--na-values): no column of {name} holds {listed(unmet)}, which "
            "changes nothing. Give words as the file writes them.",
            ReadingWarning,
        )


def _words(name: str, given: Iterable[str]) -> tuple[str, ...]:
    words = (given,) if isinstance(given, str) else tuple(given)
    if not all(isinstance(word, str) and not _HALF.search(word) for word in words):
        raise ParameterError(f"{name}={words!r} cannot be used: give words that UTF-8 can hold.")
    return words
