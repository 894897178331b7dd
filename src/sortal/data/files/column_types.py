"""Types of text columns: numbers, dates, truth values or words, by all of their values.

The rules are ours, and DuckDB only applies them:

- a number has digits, one decimal mark at most, a sign and a power of ten where wanted; a column is
  one of numbers if every value is, none has a leading zero, none that is whole is beyond 2^53, and
  none is infinite;
- a date is written as 2024-01-31, with a time after it where wanted;
- truth values are true and false;
- the rest is words.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import duckdb

from sortal.errors import agreed, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sortal.data.columns import Kind

    Connection = duckdb.DuckDBPyConnection


# --- DuckDB, kept to one file: no network, no extensions from elsewhere, no other file -----------

# How many columns one query asks about: a query of many thousands takes long to plan.
COLUMNS_A_QUERY = 100


@contextmanager
def duck_for(path: str) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database in memory that can read and write this path and nothing else."""
    settings: dict[str, Any] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "allow_community_extensions": "false",
        "python_enable_replacements": "false",
    }
    con = duckdb.connect(":memory:", config=settings)
    try:
        con.execute("SET temp_directory = ''")  # nothing is spilled into the user's folder
        con.execute(f"SET allowed_paths = [{quoted(path)}]")
        con.execute("SET enable_external_access = false")
        con.execute("SET lock_configuration = true")
        yield con
    finally:
        con.close()


def quoted(word: str) -> str:
    """A word as a literal of SQL."""
    return "'" + word.replace("'", "''") + "'"


def ask(con: duckdb.DuckDBPyConnection, expressions: Sequence[str], where: str) -> list[Any]:
    """One row of aggregates over the rows of `raw`; many columns in several queries."""
    answers: list[Any] = []
    for start in range(0, len(expressions), COLUMNS_A_QUERY):
        part = ", ".join(expressions[start : start + COLUMNS_A_QUERY])
        answers += con.execute(f"SELECT {part} FROM raw WHERE {where}").fetchone() or ()  # noqa: S608  (of our own words)
    return answers


def first_line(error: Exception) -> str:
    """What DuckDB says, without its advice about options that are not ours."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "no reason")


Type = Literal["whole", "number", "comma", "date", "truth", "text", "nothing"]

POWER: Final = "([eE][+-]?[0-9]+)?"

# A number with a decimal mark, which takes the place of the point here.
NUMBER: Final = f"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+){POWER}"

# A number that needs no second look: whole, or with a fraction, and of no more than 15 digits.
PLAIN: Final = "-?(0|[1-9][0-9]{0,14})([.][0-9]{1,15})?"

# What could be a number with groups of thousands as well.
GROUPED: Final = "[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+"

DATE: Final = "[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?Z?)?"

TRUTH: Final = ("true", "false", "True", "False", "TRUE", "FALSE")

LARGEST: Final = 2**53

# So many rows tell what a column cannot be, before all of them tell what it is.
_SAMPLE: Final = 1000

# Kinds of numbers, and the decimal mark of each.
_MARKS: Final = {"number": ".", "comma": ","}

# A column with so many numbers among its first values was probably meant to be one of numbers.
_MOSTLY: Final = 0.8


@dataclass(frozen=True)
class TextColumn:
    """A column of the table `raw`: its name, its values, and what it may be besides words."""

    name: str
    value: str
    """SQL of the value, NULL for a missing value."""
    n_values: int
    kinds: frozenset[str]


@dataclass(frozen=True)
class InferredType:
    """What a column is, and why it is no column of numbers, if that is worth a word."""

    type: Type
    why: str = ""
    n_odd: int = 0
    """How many values are why."""
    mark: str = ""
    """The decimal mark by which they are odd."""
    has_mark: bool = False
    """Whether a number is written with a decimal mark."""
    grouped: bool = False
    """Whether every comma could part thousands as well as a fraction."""


def infer_types(
    con: Connection, columns: Sequence[TextColumn], where: str, marks: str
) -> tuple[list[InferredType], str]:
    """What each column is, and the file's decimal mark. `marks` may be, the usual one first."""
    verdicts = [InferredType("text" if column.n_values else "nothing") for column in columns]
    places = [j for j, column in enumerate(columns) if column.kinds and column.n_values]
    found = _judge(con, [columns[j] for j in places], where, marks)
    for j, verdict in zip(places, found, strict=True):
        verdicts[j] = verdict
    return _agree(verdicts, marks)


def _judge(
    con: Connection, columns: Sequence[TextColumn], where: str, marks: str
) -> list[InferredType]:
    guesses = _guess(con, columns, where, marks)
    verdicts = [InferredType("text")] * len(columns)
    for kind, verify in _VERIFIERS.items():
        places = [j for j, guess in enumerate(guesses) if kind in guess]
        found = verify(con, [columns[j] for j in places], where)
        for j, verdict in zip(places, found, strict=True):
            if _is_nearer(verdict, verdicts[j]):
                verdicts[j] = verdict
    return verdicts


def _is_nearer(verdict: InferredType, last: InferredType) -> bool:
    """Whether a verdict comes nearer to what a column was meant to be than an earlier one."""
    if last.type != "text" or verdict.type != "text":
        return last.type == "text"
    return bool(verdict.why) and (not last.why or verdict.n_odd < last.n_odd)


def typed(value: str, verdict: InferredType, *, has_missing: bool) -> str:
    """SQL of values as what they are."""
    if verdict.type == "whole" and not has_missing:
        return f"CAST({value} AS BIGINT)"
    if verdict.type in {"whole", "number", "nothing"}:
        return f"CAST({value} AS DOUBLE)"
    if verdict.type == "comma":
        return f"CAST({_with_point(value)} AS DOUBLE)"
    if verdict.type == "date":
        return f"CAST({value} AS TIMESTAMP)"
    return f"CAST({value} AS BOOLEAN)" if verdict.type == "truth" else value


def _guess(
    con: Connection, columns: Sequence[TextColumn], where: str, marks: str
) -> list[set[str]]:
    """What each column could be, by its first rows."""
    kinds = ("number", "date", "truth", *(("comma",) if "," in marks else ()))
    asked = [
        expression
        for column in columns
        for expression in (
            f"count({column.value})",
            *(f"count(*) FILTER ({_test(kind, column.value)})" for kind in kinds),
        )
    ]
    answers = ask(con, asked, f"{where} AND rowid <= {_SAMPLE}")
    each = 1 + len(kinds)
    guesses = []
    for j, column in enumerate(columns):
        n, *hits = answers[j * each : (j + 1) * each]
        guess = {kind for kind, hit in zip(kinds, hits, strict=True) if hit == n}
        tried = zip(kinds, hits, strict=True)
        # the exceptions of what is mostly numbers are worth a word
        guess |= {kind for kind, hit in tried if kind in _MARKS and n and hit >= _MOSTLY * n}
        allowed = column.kinds | ({"comma"} if "number" in column.kinds else set())
        guesses.append(guess & allowed)
    return guesses


def _test(kind: str, value: str) -> str:
    """Whether a value is written as values of this kind are."""
    if kind == "truth":
        return f"{value} IN ({', '.join(map(quoted, TRUTH))})"
    return _matches(value, DATE) if kind == "date" else _matches(value, NUMBER, _MARKS[kind])


def _matches(value: str, pattern: str, mark: str = ".") -> str:
    return f"regexp_full_match({value}, {quoted(pattern.replace('[.]', f'[{mark}]'))})"


def _numbers(
    con: Connection, columns: Sequence[TextColumn], where: str, mark: str = "."
) -> list[InferredType]:
    """Whether all values of each column are numbers that float64 keeps as they are written.

    Most columns are as plain as can be, which takes one look at each value.
    """
    asked = []
    for column in columns:
        plain, marked = _matches(column.value, PLAIN, mark), _contains(column.value, mark)
        asked += [f"count(*) FILTER ({plain})", f"count(*) FILTER ({marked})"]
    answers = ask(con, asked, where)
    n_plain, n_marks = answers[::2], answers[1::2]
    odd = [j for j, column in enumerate(columns) if n_plain[j] < column.n_values]
    judged = iter(_odd_numbers(con, [columns[j] for j in odd], where, mark))
    return [
        next(judged)
        if j in odd
        else InferredType("number" if n_marks[j] else "whole", has_mark=n_marks[j] > 0)
        for j in range(len(columns))
    ]


def _odd_numbers(
    con: Connection, columns: Sequence[TextColumn], where: str, mark: str
) -> list[InferredType]:
    """The same, every reason against it looked for."""
    tests = [_number_tests(column.value, mark) for column in columns]
    answers = ask(
        con, [f"count(*) FILTER ({test})" for each in tests for test in each.values()], where
    )
    verdicts = []
    for j, (column, each) in enumerate(zip(columns, tests, strict=True)):
        counts = dict(zip(each, answers[j * len(each) : (j + 1) * len(each)], strict=True))
        reason = next((key for key in _REASONS if counts[key]), "")
        if reason:
            n, (_, cell) = counts[reason], _first(con, column, each[reason], where)
            why = _REASONS[reason].format(
                n=f"{n:,}",
                values=counted(column.n_values, "value"),
                is_a=agreed(n, "is", "are"),
                has=agreed(n, "has", "have"),
                number=agreed(n, "number", "numbers"),
                example=repr(cell),
            )
            verdicts.append(InferredType("text", why, n, mark))
        else:
            kind: Type = "number" if counts["fraction"] else "whole"
            verdicts.append(InferredType(kind, has_mark=counts["mark"] > 0))
    return verdicts


# Why a column is not one of numbers, the plainest reason first.
_REASONS: Final = {
    "bad": "{n} of {values} {is_a} no {number}, such as {example}",
    "zeros": "{n} of {values} {has} leading zeros, such as {example}",
    "large": "{n} of {values} {is_a} beyond 2^53, such as {example}, and numbers would lose their "
    "last digits",
    "infinite": "{n} of {values} {is_a} too large for a number, such as {example}",
}


def _number_tests(value: str, mark: str) -> dict[str, str]:
    fraction = " OR ".join(_contains(value, sign) for sign in (mark, "e", "E"))
    zeros = " OR ".join(
        f"({value} >= {quoted(sign + '00')} AND {value} < {quoted(sign + '0:')})"
        for sign in ("", "-", "+")
    )
    beyond = f"coalesce(abs(TRY_CAST({value} AS HUGEINT)) > {LARGEST}, true)"
    return {
        "bad": f"NOT {_matches(value, NUMBER, mark)}",
        "zeros": zeros,
        "large": f"CASE WHEN strlen({value}) > 15 THEN NOT ({fraction}) AND {beyond} END",
        "infinite": f"CASE WHEN strlen({value}) > 300 OR contains(lower({value}), 'e') "
        f"THEN isinf(TRY_CAST({_with_point(value)} AS DOUBLE)) END",
        "fraction": fraction,
        "mark": _contains(value, mark),
    }


def _contains(value: str, sign: str) -> str:
    return f"contains({value}, {quoted(sign)})"


def _first(con: Connection, column: TextColumn, test: str, where: str) -> tuple[int, str]:
    """The first value for which a test holds, and its row."""
    sql = f"SELECT rowid, {column.value} FROM raw WHERE {where} AND ({test}) ORDER BY rowid LIMIT 1"  # noqa: S608  (of our own words)
    row, cell = con.execute(sql).fetchall()[0]
    return int(row), str(cell)


def find_misfit(
    con: Connection, column: TextColumn, verdict: InferredType, kind: Kind, where: str, mark: str
) -> tuple[int, str] | None:
    """The first value that is none of its column's kind, and its row; None where all are."""
    allowed = {"number": {"whole", "number", "comma", "nothing"}, "date": {"date", "nothing"}}
    if verdict.type in allowed.get(kind, {verdict.type}):
        return None
    tests = _number_tests(column.value, verdict.mark or mark)
    misfits = [_no_date(column.value)] if kind == "date" else [tests[key] for key in _REASONS]
    test = " OR ".join(f"({misfit})" for misfit in misfits)
    return _first(con, column, test, where) if ask(con, [f"bool_or({test})"], where)[0] else None


def _with_point(value: str) -> str:
    return f"replace({value}, ',', '.')"


def _commas(con: Connection, columns: Sequence[TextColumn], where: str) -> list[InferredType]:
    """Whether all values of each column are numbers with a decimal comma."""
    fractions = [
        f"{_contains(column.value, ',')} AND NOT {_matches(column.value, GROUPED)}"
        for column in columns
    ]
    n_fractions = ask(con, [f"count(*) FILTER ({test})" for test in fractions], where)
    return [
        verdict if verdict.type == "text" else InferredType("comma", grouped=n == 0)
        for verdict, n in zip(_numbers(con, columns, where, ","), n_fractions, strict=True)
    ]


def _dates(con: Connection, columns: Sequence[TextColumn], where: str) -> list[InferredType]:
    return _unless(con, [_no_date(column.value) for column in columns], where, "date")


def _no_date(value: str) -> str:
    wrong = f"NOT {_test('date', value)} OR TRY_CAST({value} AS TIMESTAMP) IS NULL"
    return f"{value} IS NOT NULL AND ({wrong})"


def _truth(con: Connection, columns: Sequence[TextColumn], where: str) -> list[InferredType]:
    tests = [f"NOT {_test('truth', column.value)}" for column in columns]
    return _unless(con, tests, where, "truth")


def _unless(con: Connection, tests: Sequence[str], where: str, kind: Type) -> list[InferredType]:
    """A kind, if no value fails the test."""
    asked = [f"count(*) FILTER ({test})" for test in tests]
    return [InferredType("text" if n else kind) for n in ask(con, asked, where)]


def _agree(verdicts: Sequence[InferredType], marks: str) -> tuple[list[InferredType], str]:
    """One decimal mark for the whole file.

    A comma is one if some column has commas that cannot part thousands, or if it was asked for; if
    it is the first of `marks`, also where commas could be either and no number has a point.
    Numbers with a point beside it, or commas that could be either, stay text.
    """
    commas = [verdict for verdict in verdicts if verdict.type == "comma"]
    usual = marks[0] == "," and bool(commas) and not any(v.has_mark for v in verdicts)
    comma = marks == "," or usual or not all(v.grouped for v in commas)
    agreed = []
    for verdict in verdicts:
        if comma and verdict.has_mark:
            why = "its numbers have a point, and a comma is the decimal mark of this file"
            agreed.append(InferredType("text", why))
        elif verdict.type == "comma" and not comma:
            why = (
                "its commas could part thousands or fractions: say which by decimal='.' or "
                "decimal=',' (--decimal)"
            )
            agreed.append(InferredType("text", why))
        else:
            agreed.append(verdict)
    return agreed, "," if comma else "."


_VERIFIERS: Final = {"number": _numbers, "comma": _commas, "date": _dates, "truth": _truth}


# --- Words that mean a missing value: by their spelling, and numbers by their value --------------

# In every file.
NA_WORDS: Final = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "?")

# Leading zeros make codes, which are equal only if they are spelled alike.
_NUMBER: Final = f"[+-]?((0|[1-9][0-9]*)([.][0-9]*)?|[.][0-9]+){POWER}"


def numbers_among(words: Iterable[str]) -> list[str]:
    """The words that are numbers, as far as float64 tells whole numbers apart."""
    return [word for word in words if re.fullmatch(_NUMBER, word) and abs(float(word)) < LARGEST]


def means_missing(cell: str, words: Iterable[str], marks: str = ".") -> str:
    """SQL: whether a cell of text is one of the words, or of the value of one that is a number.

    -999 is -999.0, too, and -999,0 where a comma may be the decimal mark. As long as a point may be
    it as well, -999,000 could be thousands, and is not taken for -999.
    """
    spelled = f"{cell} IN ({', '.join(map(quoted, words))})"
    values = ", ".join(f"CAST({quoted(word)} AS DOUBLE)" for word in numbers_among(words))
    if not values:
        return spelled
    number = f"replace({cell}, ',', '.')" if "," in marks else cell
    grouped = f" AND NOT regexp_full_match({cell}, {quoted(GROUPED)})" if len(marks) > 1 else ""
    like = f"regexp_full_match({number}, {quoted(_NUMBER)}){grouped}"
    return f"({spelled} OR ({like} AND TRY_CAST({number} AS DOUBLE) IN ({values})))"
