"""The dialect of a CSV file, from its first rows."""

from __future__ import annotations

import csv
import io
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from sortal.errors import OptionError

if TYPE_CHECKING:
    from collections.abc import Iterator

# In the order of preference among those that fit equally well.
DELIMITERS: Final = (",", ";", "\t", "|")
QUOTE: Final = '"'
_NAMED: Final = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}
_ROWS: Final = 1000
# DuckDB's own limit for a line; the lines of a file of very many columns may be longer.
LONGEST: Final = 2_000_000


@contextmanager
def long_cells() -> Iterator[None]:
    """Let a cell be as long as DuckDB lets a line be; the limit is one for the whole process."""
    limit = csv.field_size_limit(max(LONGEST, csv.field_size_limit()))
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def check_delimiter(given: str) -> str:
    """A delimiter as one character; some have names."""
    delimiter = _NAMED.get(given, given)
    if not is_delimiter(delimiter):
        raise OptionError(
            f"delimiter={given!r} cannot be used: give one character other than a quote or the "
            "end of a line, such as ',', ';', 'tab' or '|', or None to look at the file."
        )
    return delimiter


def is_delimiter(sign: str) -> bool:
    """Whether a text can stand between cells."""
    return len(sign) == 1 and sign not in '"\r\n\0'


def reader_of(lines: Any, delimiter: str, *, strict: bool = True) -> Any:
    """Rows of cells: quoted cells may hold anything, blanks before a quote are skipped."""
    return csv.reader(
        lines,
        delimiter=delimiter,
        quotechar=QUOTE,
        doublequote=True,
        skipinitialspace=delimiter != " ",
        strict=strict,
    )


@dataclass(frozen=True)
class _Fit:
    """How well a delimiter explains the first rows."""

    delimiter: str
    width: int
    """Cells of the first row."""
    share: float
    """Rows that have as many."""
    usual: int
    """The width that most rows have."""
    usual_share: float


def find_delimiter(sample: str, usual: str | None = None, *, whole: bool) -> str:
    """The delimiter by which the most rows have as many cells as the first, and more than one.

    Where the first row is one cell by every delimiter, one by which most other rows agree on
    several cells is taken nevertheless: then the file is at fault, and the rows say so. Of equally
    good ones the usual one is taken, which may be none of DELIMITERS.
    """
    known = DELIMITERS if usual is None else (usual, *DELIMITERS)
    fits = [_fit(sample, delimiter, whole=whole) for delimiter in known]
    several = [fit for fit in fits if fit.width > 1]
    if several:
        return max(several, key=lambda fit: (fit.share, fit.width)).delimiter
    agreed = [fit for fit in fits if fit.usual > 1 and fit.usual_share > 0.5]
    if agreed:
        return max(agreed, key=lambda fit: fit.usual_share).delimiter
    return max(fits, key=lambda fit: fit.share).delimiter


def other_delimiter(sample: str, *, whole: bool) -> _Fit | None:
    """One that parts all rows into as many cells, and more than one, if there is such a one."""
    fits = [_fit(sample, delimiter, whole=whole) for delimiter in DELIMITERS]
    return next((fit for fit in fits if fit.width > 1 and fit.share == 1), None)


def _fit(sample: str, delimiter: str, *, whole: bool) -> _Fit:
    widths = [len(row) for row in first_rows(sample, delimiter, whole=whole)]
    if not widths:
        return _Fit(delimiter, 1, 0.0, 1, 0.0)
    usual, n = Counter(widths[1:] or widths).most_common(1)[0]
    n_like_first = sum(width == widths[0] for width in widths)
    rest = max(1, len(widths) - 1)
    return _Fit(delimiter, widths[0], n_like_first / len(widths), usual, n / rest)


def first_rows(sample: str, delimiter: str, *, whole: bool, most: int = _ROWS) -> list[list[str]]:
    """Rows of a sample that are not blank, without the last one if the sample cuts it."""
    rows = list(islice(_rows(sample, delimiter), most + 1))
    cut = len(rows) <= most and not whole and len(rows) > 1
    return (rows[:-1] if cut else rows)[:most]


def _rows(sample: str, delimiter: str) -> Iterator[list[str]]:
    reader = reader_of(io.StringIO(sample, newline=""), delimiter, strict=False)
    while True:
        try:
            row = next(reader, None)
        except csv.Error:  # a cell beyond the limit
            return
        if row is None:
            return
        if row:
            yield row
