"""Cells of text files: bytes surveyed, text typed, missing values recognized, readers' checks."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from sortal.data.files.column_types import (
    COLUMNS_A_QUERY,
    NA_WORDS,
    TextColumn,
    ask,
    find_misfit,
    infer_types,
    means_missing,
    numbers_among,
    typed,
)
from sortal.data.files.open import BLOCK, BOM
from sortal.errors import ColumnError, InputError, listed

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    import duckdb
    import pandas as pd

    from sortal.data.columns import Kind
    from sortal.data.files.column_types import InferredType

    Connection = duckdb.DuckDBPyConnection

ANY_KIND: Final = frozenset({"number", "date", "truth"})


@dataclass(frozen=True)
class TypedText:
    """Columns of text with what they are."""

    columns: tuple[TextColumn, ...]
    verdicts: tuple[InferredType, ...]
    decimal: str
    notes: tuple[str, ...]
    met: tuple[str, ...]
    """The words that were read as missing values."""


def type_text(
    con: Connection,
    names: Sequence[str],
    where: str,
    missing: Sequence[str],
    kinds: Sequence[Collection[str]],
    marks: str = ".",
) -> TypedText:
    """Look at the columns c0, c1, … of the table `raw`: missing values, and what the rest is."""
    text = _type_text(con, names, where, missing, kinds, marks)
    if text.decimal == "," != marks and numbers_among(missing):
        return _type_text(con, names, where, missing, kinds, ",")  # -999,000 is no thousands here
    return text


def _type_text(
    con: Connection,
    names: Sequence[str],
    where: str,
    na_values: Sequence[str],
    kinds: Sequence[Collection[str]],
    marks: str,
) -> TypedText:
    seen, n_blank = _trimmed(con, len(names), where)
    missing = [means_missing(v, na_values, marks) for v in seen]
    pairs = zip(seen, missing, strict=True)
    asked = [e for v, is_na in pairs for e in (f"count({v})", f"count(*) FILTER ({is_na})")]
    answers = ask(con, asked, where)
    n_words = answers[1::2]
    n_values = [n - n_missing for n, n_missing in zip(answers[::2], n_words, strict=True)]
    values = [
        f"CASE WHEN {is_na} THEN NULL ELSE {value} END" if n else value
        for value, is_na, n in zip(seen, missing, n_words, strict=True)
    ]
    columns = [
        TextColumn(name, value, n, frozenset(kind))
        for name, value, n, kind in zip(names, values, n_values, kinds, strict=True)
    ]
    verdicts, decimal = infer_types(con, columns, where, marks)
    places = [j for j, n in enumerate(n_words) if n]
    found = missing_words(con, [(names[j], seen[j]) for j in places], where, na_values, marks)
    notes = [
        *missing_notes(found),
        *_blank_notes(names, n_blank),
        *_type_notes(columns, verdicts, decimal),
    ]
    met = tuple(word for word, _ in found)
    return TypedText(tuple(columns), tuple(verdicts), decimal, tuple(notes), met)


def fetch(
    con: Connection, expressions: Sequence[str], names: Sequence[str], where: str
) -> pd.DataFrame:
    """The rows as a data frame of pandas, in the order of the file."""
    import pandas as pd  # noqa: PLC0415  (only here, and slow to load)

    parts = []
    for start in range(0, len(expressions), COLUMNS_A_QUERY):
        block = enumerate(expressions[start : start + COLUMNS_A_QUERY])
        listed = ", ".join(f"{expression} AS v{k}" for k, expression in block)
        sql = f"SELECT {listed} FROM raw WHERE {where}"  # noqa: S608  (of our own words)
        parts.append(con.execute(sql).df())
    frame = parts[0] if len(parts) == 1 else pd.concat(parts, axis=1)
    frame.columns = pd.Index(list(names))
    return frame


def refuse_misfits(
    con: Connection,
    text: TypedText,
    known: Mapping[str, Kind],
    where: str,
    place: Callable[[int], str],
) -> None:
    """Name the first cell that is no number, or no date, where a model knows only these."""
    for column, verdict in zip(text.columns, text.verdicts, strict=True):
        kind = known.get(column.name, "category")
        found = find_misfit(con, column, verdict, kind, where, text.decimal)
        if found is not None:
            row, cell = found
            doubt = f" ({verdict.why})" if verdict.why and not verdict.n_odd else ""
            raise InputError(
                f"{place(row)}: {cell!r} in the column {column.name!r} is not a {kind}{doubt}, and "
                f"the model was fitted with {kind}s there. Correct it or, where it means a missing "
                f"value, give na_values=[{cell!r}] (--na-values)."
            )


def fetch_text(con: Connection, text: TypedText, where: str, n_rows: int) -> pd.DataFrame:
    """The columns as what they are."""
    expressions = [
        typed(column.value, verdict, has_missing=column.n_values < n_rows)
        for column, verdict in zip(text.columns, text.verdicts, strict=True)
    ]
    return fetch(con, expressions, [column.name for column in text.columns], where)


def _trimmed(con: Connection, width: int, where: str) -> tuple[list[str], list[int]]:
    """SQL of the cells without blanks around them, and how many cells had some."""
    edge = "{0} < '!' OR suffix({0}, ' ') OR suffix({0}, chr(9))"
    suspects = ask(con, [f"count(*) FILTER ({edge.format(f'c{j}')})" for j in range(width)], where)
    trim = "trim({}, ' ' || chr(9))"
    seen = [trim.format(f"c{j}") if suspects[j] else f"c{j}" for j in range(width)]
    places = [j for j in range(width) if suspects[j]]
    counts = ask(con, [f"count(*) FILTER ({seen[j]} <> c{j})" for j in places], where)
    n_blank = [0] * width
    for j, n in zip(places, counts, strict=True):
        n_blank[j] = n
    return seen, n_blank


def missing_words(
    con: Connection,
    columns: Sequence[tuple[str, str]],
    where: str,
    words: Sequence[str],
    marks: str = ".",
) -> list[tuple[str, list[tuple[str, int]]]]:
    """Which words were read as missing values, where and how often; not the empty one."""
    told = [word for word in words if word]
    conditions = [means_missing(v, [word], marks) for word in told for _, v in columns]
    asked = [f"count(*) FILTER ({condition})" for condition in conditions]
    counts = iter(ask(con, asked, where))
    found = [(word, [(name, next(counts)) for name, _ in columns]) for word in told]
    seen = [(word, [(name, n) for name, n in places if n]) for word, places in found]
    return [(word, places) for word, places in seen if places]


def missing_notes(found: Sequence[tuple[str, Sequence[tuple[str, int]]]]) -> list[str]:
    """What is said of words that were read as missing values."""
    return [f"{word!r} was read as a missing value: {_some(places)}." for word, places in found]


def _blank_notes(names: Sequence[str], n_blank: Sequence[int]) -> list[str]:
    places = [(name, n) for name, n in zip(names, n_blank, strict=True) if n]
    return [f"Blanks around cells were taken off: {_some(places)}."] if places else []


def _some(places: Sequence[tuple[str, int]], most: int = 5) -> str:
    shown = ", ".join(f"{name!r} {n:,}" for name, n in places[:most])
    return shown if len(places) <= most else f"{shown}, … ({len(places)} columns)"


def _type_notes(
    columns: Sequence[TextColumn], verdicts: Sequence[InferredType], decimal: str
) -> list[str]:
    notes = [
        f"{column.name!r} is text: {verdict.why}."
        for column, verdict in zip(columns, verdicts, strict=True)
        if verdict.why
    ]
    if decimal == "," and any(verdict.type == "comma" for verdict in verdicts):
        notes.append("A comma is the decimal mark.")
    return notes


# --- What the bytes of a text file are, all of them: counts, ends of lines, valid UTF-8 ----------

_COUNTED: Final = '"\r\n \0'


@dataclass(frozen=True)
class Survey:
    """How many bytes there are, a mark at the beginning left out, and some of them counted."""

    n_bytes: int
    counts: dict[str, int]
    n_pairs: int
    """Carriage returns that a line feed follows."""
    n_loose: int
    """Quotes beside blanks."""
    has_bom: bool

    def n(self, character: str) -> int:
        """How often one of the characters that rows are made of occurs."""
        return self.counts[character]

    @property
    def newline(self) -> str:
        """The one end of lines, or nothing if there are several kinds."""
        if self.n("\r") == 0:
            return "\n"
        return "\r\n" if self.n("\r") == self.n("\n") == self.n_pairs else ""


def survey(path: str, name: str) -> Survey:
    """Look at every byte once."""
    counts, n_pairs, n_loose, before = dict.fromkeys(_COUNTED, 0), 0, 0, b""
    decoder, n_read, has_bom = codecs.getincrementaldecoder("utf-8")(), 0, False
    with Path(path).open("rb") as stream:
        while block := stream.read(BLOCK):
            _check_utf8(decoder, block, path, name, n_read)
            has_bom = has_bom or (n_read == 0 and block.startswith(BOM))
            codes = np.frombuffer(block, np.uint8)
            for character in _COUNTED:
                counts[character] += int(np.count_nonzero(codes == ord(character)))
            n_pairs += block.count(b"\r\n") + (before + block[:1] == b"\r\n")
            n_loose += block.count(b'" ') + block.count(b' "')
            n_loose += before + block[:1] in {b'" ', b' "'}
            before, n_read = block[-1:], n_read + len(block)
        _check_utf8(decoder, b"", path, name, n_read)
    found = Survey(n_read - len(BOM) * has_bom, counts, n_pairs, n_loose, has_bom)
    if found.n("\0"):
        line = line_of(path, _find(path, b"\0"))
        raise InputError(
            f"{name}, line {line}: a zero byte. Text has none: the file is binary or damaged, or "
            'encoded in 16 bits (then give encoding="utf-16-le" or "utf-16-be").'
        )
    return found


def _check_utf8(
    decoder: codecs.IncrementalDecoder, block: bytes, path: str, name: str, n_read: int
) -> None:
    waiting = len(decoder.getstate()[0])
    try:
        decoder.decode(block, final=not block)
    except UnicodeDecodeError as error:
        at = n_read - waiting + error.start
        byte, other = error.object[error.start], _other_encoding(Path(path))
        raise InputError(
            f"{name}, line {line_of(path, at)}: the byte 0x{byte:02x} is no UTF-8. The file may be "
            f'encoded as {other}: give encoding="{other}" (--encoding {other}), and look whether '
            "the letters come out right."
        ) from None


def _other_encoding(path: Path) -> str:
    """An old encoding of one byte a letter that these bytes can be."""
    with path.open("rb") as stream:
        while block := stream.read(BLOCK):
            # 0x80 to 0x9f are control characters of Latin-1, and quotes and dashes of Windows'
            if any(0x80 <= byte <= 0x9F for byte in set(block)):
                return "cp1252" if _decodes(path, "cp1252") else "latin-1"
    return "latin-1"


def _decodes(path: Path, encoding: str) -> bool:
    try:
        with path.open(encoding=encoding) as stream:
            while stream.read(BLOCK):
                pass
    except UnicodeDecodeError:
        return False
    return True


def _find(path: str, wanted: bytes) -> int:
    at = 0
    with Path(path).open("rb") as stream:
        while block := stream.read(BLOCK):
            found = block.find(wanted)
            if found >= 0:
                return at + found
            at += len(block)
    return at


def line_of(path: str, at: int) -> int:
    """The line, from 1, in which a byte is."""
    with Path(path).open("rb") as stream:
        before = stream.read(at)
    ends = before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")
    return ends + 1


# --- What a reader of files is asked for, and what all readers check alike -----------------------


@dataclass(frozen=True)
class Written:
    """How an earlier file was written, for what a file of the same kind leaves open."""

    delimiter: str | None = None
    decimal: str | None = None
    na_values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reading:
    """The wishes about a file."""

    delimiter: str | None
    header: bool | None
    decimal: str | None
    na_values: tuple[str, ...]
    """Words that mean a missing value, beside NA_WORDS."""
    named: tuple[str, ...]
    """Columns that are to stay text, and must be there."""
    known: Mapping[str, Kind] = field(default_factory=dict)
    """What columns are to a model, where the file has them; categories stay text."""
    like: Written = Written()

    @property
    def text(self) -> tuple[str, ...]:
        """All columns that stay text."""
        known = (name for name, kind in self.known.items() if kind == "category")
        return (*self.named, *known)

    @property
    def missing(self) -> list[str]:
        """All words that mean a missing value."""
        return sorted({*NA_WORDS, *self.na_values})


@dataclass(frozen=True)
class ReadResult:
    """What a reader gives."""

    frame: pd.DataFrame
    dialect: dict[str, Any]
    notes: Sequence[str]
    met: Sequence[str]
    """Words that were read as missing values."""


def check_names(names: Sequence[str], file: str, where: str, hint: str = "") -> None:
    """Each name occurs once."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ColumnError(
            f"{file}, {where}: more than one column is called {listed(twice)}. Rename them, so "
            f"that each name occurs once. {hint}".rstrip()
        )


def check_text(text: Sequence[str], names: Sequence[str], file: str) -> None:
    """Columns that are to stay text exist."""
    absent = [name for name in text if name not in set(names)]
    if absent:
        raise ColumnError(
            f"text={listed(absent)}: {file} has no such column. Its columns are {listed(names)}."
        )


def check_rows(n_rows: int, file: str, what: str) -> None:
    """There is a row at least."""
    if n_rows == 0:
        raise InputError(f"{file} has {what} and no rows: there is nothing to read.")
