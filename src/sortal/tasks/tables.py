"""Tables for the tasks: a path, "-" for standard input, or a data frame as it is."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sortal.data.files.read import FileTable, read_file
from sortal.data.files.write import write_table
from sortal.data.sources import read_frame
from sortal.errors import InputTypeError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["OpenedTable", "open_table", "read", "write_table"]


@dataclass(frozen=True)
class OpenedTable:
    """A data frame, and the file that it came from, if it did."""

    frame: Any
    file: FileTable | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What was decided while the file was read."""
        return () if self.file is None else self.file.notes


def open_table(data: Any, **options: Any) -> OpenedTable:
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
) -> Any:
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
