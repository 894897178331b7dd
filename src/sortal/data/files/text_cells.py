"""Cells of text as they are read: without blanks around them, holes recognized."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sortal.data.files.duck import COLUMNS_A_QUERY, ask
from sortal.data.files.missing_words import means_missing, numbers_among
from sortal.data.files.text_types import TextColumn, find_misfit, judge, typed
from sortal.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    import duckdb

    from sortal.data.files.text_types import Verdict
    from sortal.data.schema import Kind

    Connection = duckdb.DuckDBPyConnection

ANY_KIND: Final = frozenset({"number", "date", "truth"})


@dataclass(frozen=True)
class TypedText:
    """Columns of text with what they are."""

    columns: tuple[TextColumn, ...]
    verdicts: tuple[Verdict, ...]
    decimal: str
    notes: tuple[str, ...]
    met: tuple[str, ...]
    """The words that were read as missing values."""


def type_text(
    con: Connection,
    names: Sequence[str],
    where: str,
    holes: Sequence[str],
    kinds: Sequence[Collection[str]],
    marks: str = ".",
) -> TypedText:
    """Look at the columns c0, c1, … of the table `raw`: holes, and what the rest is."""
    text = _type_text(con, names, where, holes, kinds, marks)
    if text.decimal == "," != marks and numbers_among(holes):
        return _type_text(con, names, where, holes, kinds, ",")  # -999,000 is no thousands here
    return text


def _type_text(
    con: Connection,
    names: Sequence[str],
    where: str,
    holes: Sequence[str],
    kinds: Sequence[Collection[str]],
    marks: str,
) -> TypedText:
    seen, n_blank = _trimmed(con, len(names), where)
    missing = [means_missing(v, holes, marks) for v in seen]
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
    verdicts, decimal = judge(con, columns, where, marks)
    places = [j for j, n in enumerate(n_words) if n]
    found = hole_words(con, [(names[j], seen[j]) for j in places], where, holes, marks)
    notes = [
        *hole_notes(found),
        *_blank_notes(names, n_blank),
        *_type_notes(columns, verdicts, decimal),
    ]
    met = tuple(word for word, _ in found)
    return TypedText(tuple(columns), tuple(verdicts), decimal, tuple(notes), met)


def fetch(con: Connection, expressions: Sequence[str], names: Sequence[str], where: str) -> Any:
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


def fetch_text(con: Connection, text: TypedText, where: str, n_rows: int) -> Any:
    """The columns as what they are."""
    expressions = [
        typed(column.value, verdict, has_holes=column.n_values < n_rows)
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


def hole_words(
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


def hole_notes(found: Sequence[tuple[str, Sequence[tuple[str, int]]]]) -> list[str]:
    """What is said of words that were read as missing values."""
    return [f"{word!r} was read as a missing value: {_some(places)}." for word, places in found]


def _blank_notes(names: Sequence[str], n_blank: Sequence[int]) -> list[str]:
    places = [(name, n) for name, n in zip(names, n_blank, strict=True) if n]
    return [f"Blanks around cells were taken off: {_some(places)}."] if places else []


def _some(places: Sequence[tuple[str, int]], most: int = 5) -> str:
    shown = ", ".join(f"{name!r} {n:,}" for name, n in places[:most])
    return shown if len(places) <= most else f"{shown}, … ({len(places)} columns)"


def _type_notes(
    columns: Sequence[TextColumn], verdicts: Sequence[Verdict], decimal: str
) -> list[str]:
    notes = [
        f"{column.name!r} is text: {verdict.why}."
        for column, verdict in zip(columns, verdicts, strict=True)
        if verdict.why
    ]
    if decimal == "," and any(verdict.type == "comma" for verdict in verdicts):
        notes.append("A comma is the decimal mark.")
    return notes
