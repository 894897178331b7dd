"""What columns of text are: numbers, dates, truth values or words, by all of their values.

The rules are ours, and DuckDB only applies them:

- a number has digits, one decimal mark at most, a sign and a power of ten where wanted; a column is
  one of numbers if every value is, none has a leading zero, none that is whole is beyond 2^53, and
  none is infinite;
- a date is written as 2024-01-31, with a time after it where wanted;
- truth values are true and false;
- the rest is words.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from sortal.data.files.duck import ask, quoted
from sortal.data.printing import agreed, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    Connection = duckdb.DuckDBPyConnection

Type = Literal["whole", "number", "comma", "date", "truth", "text", "nothing"]

_POWER: Final = "([eE][+-]?[0-9]+)?"
NUMBER: Final = f"[+-]?([0-9]+([.][0-9]*)?|[.][0-9]+){_POWER}"
# A number that needs no second look: whole, or with a fraction, and of no more than 15 digits.
PLAIN: Final = "-?(0|[1-9][0-9]{0,14})([.][0-9]{1,15})?"
COMMA: Final = f"[+-]?([0-9]+(,[0-9]*)?|,[0-9]+){_POWER}"
# What could be a number with groups of thousands as well.
GROUPED: Final = "[+-]?[1-9][0-9]{0,2}(,[0-9]{3})+"
DATE: Final = "[0-9]{4}-[0-9]{2}-[0-9]{2}([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,6})?)?Z?)?"
TRUTH: Final = ("true", "false", "True", "False", "TRUE", "FALSE")
LARGEST: Final = 2**53
# So many rows tell what a column cannot be, before all of them tell what it is.
_SAMPLE: Final = 1000
# A column with so many numbers among its first values was probably meant to be one of numbers.
_MOSTLY: Final = 0.8


@dataclass(frozen=True)
class TextColumn:
    """A column of the table `raw`: its name, its values, and what it may be besides words."""

    name: str
    value: str
    """SQL of the value, NULL for a hole."""
    n_values: int
    kinds: frozenset[str]


@dataclass(frozen=True)
class Verdict:
    """What a column is, and why it is no column of numbers, if that is worth a word."""

    type: Type
    why: str = ""
    has_point: bool = False
    grouped: bool = False
    """Whether every comma could part thousands as well as a fraction."""


def judge(
    con: Connection, columns: Sequence[TextColumn], where: str, marks: str
) -> tuple[list[Verdict], str]:
    """What each column is, and the file's decimal mark. `marks` are those that are allowed."""
    verdicts = [Verdict("text" if column.n_values else "nothing") for column in columns]
    places = [j for j, column in enumerate(columns) if column.kinds and column.n_values]
    found = _judge(con, [columns[j] for j in places], where, marks)
    for j, verdict in zip(places, found, strict=True):
        verdicts[j] = verdict
    return _agree(verdicts, marks)


def _judge(con: Connection, columns: Sequence[TextColumn], where: str, marks: str) -> list[Verdict]:
    guesses = _guess(con, columns, where, marks)
    verdicts = [Verdict("text")] * len(columns)
    for kind, verify in _VERIFIERS.items():
        places = [j for j, guess in enumerate(guesses) if kind in guess]
        found = verify(con, [columns[j] for j in places], where)
        for j, verdict in zip(places, found, strict=True):
            if verdicts[j].type == "text" and (verdict.type != "text" or not verdicts[j].why):
                verdicts[j] = verdict
    return verdicts


def typed(value: str, verdict: Verdict, *, has_holes: bool) -> str:
    """SQL of values as what they are."""
    if verdict.type == "whole" and not has_holes:
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
        if n and hits[0] >= _MOSTLY * n:  # its exceptions are worth a word
            guess.add("number")
        allowed = column.kinds | ({"comma"} if "number" in column.kinds else set())
        guesses.append(guess & allowed)
    return guesses


def _test(kind: str, value: str) -> str:
    """Whether a value is written as values of this kind are."""
    if kind == "truth":
        return f"{value} IN ({', '.join(map(quoted, TRUTH))})"
    pattern = {"number": NUMBER, "comma": COMMA, "date": DATE}[kind]
    return f"regexp_full_match({value}, {quoted(pattern)})"


def _numbers(con: Connection, columns: Sequence[TextColumn], where: str) -> list[Verdict]:
    """Whether all values of each column are numbers that float64 keeps as they are written.

    Most columns are as plain as can be, which takes one look at each value.
    """
    asked = []
    for column in columns:
        plain = f"regexp_full_match({column.value}, {quoted(PLAIN)})"
        asked += [f"count(*) FILTER ({plain})", f"count(*) FILTER (contains({column.value}, '.'))"]
    answers = ask(con, asked, where)
    n_plain, n_points = answers[::2], answers[1::2]
    odd = [j for j, column in enumerate(columns) if n_plain[j] < column.n_values]
    judged = iter(_odd_numbers(con, [columns[j] for j in odd], where))
    return [
        next(judged)
        if j in odd
        else Verdict("number" if n_points[j] else "whole", has_point=n_points[j] > 0)
        for j in range(len(columns))
    ]


def _odd_numbers(con: Connection, columns: Sequence[TextColumn], where: str) -> list[Verdict]:
    """The same, every reason against it looked for."""
    tests = [_number_tests(column.value) for column in columns]
    answers = ask(
        con, [f"count(*) FILTER ({test})" for each in tests for test in each.values()], where
    )
    verdicts = []
    for j, (column, each) in enumerate(zip(columns, tests, strict=True)):
        counts = dict(zip(each, answers[j * len(each) : (j + 1) * len(each)], strict=True))
        reason = next((key for key in _REASONS if counts[key]), "")
        if reason:
            example = _first(con, column, each[reason], where)
            n = counts[reason]
            why = _REASONS[reason].format(
                n=f"{n:,}",
                values=counted(column.n_values, "value"),
                is_a=agreed(n, "is", "are"),
                has=agreed(n, "has", "have"),
                number=agreed(n, "number", "numbers"),
                example=example,
            )
            verdicts.append(Verdict("text", why))
        else:
            kind: Type = "number" if counts["fraction"] else "whole"
            verdicts.append(Verdict(kind, has_point=counts["point"] > 0))
    return verdicts


# Why a column is not one of numbers, the plainest reason first.
_REASONS: Final = {
    "bad": "{n} of {values} {is_a} no {number}, such as {example}",
    "zeros": "{n} of {values} {has} leading zeros, such as {example}",
    "large": "{n} of {values} {is_a} beyond 2^53, such as {example}, and numbers would lose their "
    "last digits",
    "infinite": "{n} of {values} {is_a} too large for a number, such as {example}",
}


def _number_tests(value: str) -> dict[str, str]:
    fraction = " OR ".join(f"contains({value}, {quoted(mark)})" for mark in ".eE")
    zeros = " OR ".join(
        f"({value} >= {quoted(sign + '00')} AND {value} < {quoted(sign + '0:')})"
        for sign in ("", "-", "+")
    )
    beyond = f"coalesce(abs(TRY_CAST({value} AS HUGEINT)) > {LARGEST}, true)"
    return {
        "bad": f"NOT {_test('number', value)}",
        "zeros": zeros,
        "large": f"CASE WHEN strlen({value}) > 15 THEN NOT ({fraction}) AND {beyond} END",
        "infinite": f"CASE WHEN strlen({value}) > 300 OR contains(lower({value}), 'e') "
        f"THEN isinf(TRY_CAST({value} AS DOUBLE)) END",
        "fraction": fraction,
        "point": f"contains({value}, '.')",
    }


def _first(con: Connection, column: TextColumn, test: str, where: str) -> str:
    sql = f"SELECT {column.value} FROM raw WHERE {where} AND {test} ORDER BY rowid LIMIT 1"  # noqa: S608  (of our own words)
    found = con.execute(sql).fetchone()
    return repr(found[0] if found else "")


def _with_point(value: str) -> str:
    return f"replace({value}, ',', '.')"


def _commas(con: Connection, columns: Sequence[TextColumn], where: str) -> list[Verdict]:
    """Whether all values of each column are numbers with a decimal comma."""
    pointed = [replace(column, value=_with_point(column.value)) for column in columns]
    asked = []
    for column in columns:
        grouped = f"regexp_full_match({column.value}, {quoted(GROUPED)})"
        asked += [
            f"count(*) FILTER (contains({column.value}, '.'))",
            f"count(*) FILTER (contains({column.value}, ',') AND NOT {grouped})",
        ]
    plain = ask(con, asked, where)
    verdicts = []
    for j, verdict in enumerate(_numbers(con, pointed, where)):
        n_points, n_fractions = plain[2 * j], plain[2 * j + 1]
        if verdict.type == "text" or n_points:
            verdicts.append(Verdict("text"))
        else:
            verdicts.append(Verdict("comma", grouped=n_fractions == 0))
    return verdicts


def _dates(con: Connection, columns: Sequence[TextColumn], where: str) -> list[Verdict]:
    tests = [
        f"NOT {_test('date', column.value)} OR TRY_CAST({column.value} AS TIMESTAMP) IS NULL"
        for column in columns
    ]
    return _unless(con, columns, tests, where, "date")


def _truth(con: Connection, columns: Sequence[TextColumn], where: str) -> list[Verdict]:
    return _unless(
        con, columns, [f"NOT {_test('truth', c.value)}" for c in columns], where, "truth"
    )


def _unless(
    con: Connection, columns: Sequence[TextColumn], tests: Sequence[str], where: str, kind: Type
) -> list[Verdict]:
    """A kind, if no value fails the test."""
    asked = [
        f"count(*) FILTER ({column.value} IS NOT NULL AND ({test}))"
        for column, test in zip(columns, tests, strict=True)
    ]
    return [Verdict("text" if n else kind) for n in ask(con, asked, where)]


def _agree(verdicts: Sequence[Verdict], marks: str) -> tuple[list[Verdict], str]:
    """One decimal mark for the whole file.

    A comma is one if some column has commas that cannot part thousands, or if it was asked for.
    Numbers with a point beside it, or commas that could be either, stay text.
    """
    comma = marks == "," or any(v.type == "comma" and not v.grouped for v in verdicts)
    agreed = []
    for verdict in verdicts:
        if comma and verdict.has_point:
            why = "its numbers have a point, and a comma is the decimal mark of this file"
            agreed.append(Verdict("text", why))
        elif verdict.type == "comma" and not comma:
            why = (
                "its commas could part thousands or fractions: say which by decimal='.' or "
                "decimal=',' (--decimal)"
            )
            agreed.append(Verdict("text", why))
        else:
            agreed.append(verdict)
    return agreed, "," if comma else "."


_VERIFIERS: Final = {"number": _numbers, "comma": _commas, "date": _dates, "truth": _truth}
