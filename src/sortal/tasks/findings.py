"""Findings of `inspect`: columns, target, leaks, repeated rows; the option that answers each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import pandas as pd

from sortal.data.columns import CategoryColumn
from sortal.data.sources import read_column
from sortal.errors import counted, printable
from sortal.records.render import moment_text, number_text
from sortal.records.tables import Record
from sortal.tasks.registry import FEW_ROWS, option

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from sortal._typing import Counts, Mask
    from sortal.data.sources import DataTable


@dataclass(frozen=True)
class Finding(Record):
    """Something about a column, or about the rows, that is worth a thought before a fit."""

    code: str
    """One word for what it is, such as "identifier"."""
    column: str
    """The column, or nothing where it is about the rows."""
    words: str
    """What was found, in a sentence."""
    remedy: str = ""
    """The option of `fit` and `compare` that answers it; nothing where there is none."""

    def __str__(self) -> str:
        return f"{self.words} Remedy: {printable(self.remedy)}" if self.remedy else self.words


# A column in which so many values differ names rows.
_NEARLY_ALL: Final = 0.95

# Parts of names by which people call codes.
_CODE_NAMES: Final = re.compile(
    "codes?|fips|icd|ids?|isbn|naics|phone|plz|postal|postcode|sic|sku|zip|zipcode"
)

_ID_NAMES: Final = re.compile(
    "guid|ids?|identifier|idx|index|key|no|nr|number|row|rowid|rownames|uuid"
)

_PERSON_NAMES: Final = re.compile(
    "address|contact|customer|e?mail|employee|(first|fore|full|last|sur|user)?name|owner|patient"
    "|person|phone|street|telephone"
)

_MAIL: Final = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")

# Text that fewer rows have is rare, and so many words are a sentence.
FEW: Final = 5

_SENTENCE: Final = 4

_DATE: Final = re.compile(
    r"(\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{1,2}[ -]?[A-Za-z]{3,9}\.?[ ,-]{1,2}\d{2,4}"
    r"|[A-Za-z]{3,9}\.? \d{1,2},? \d{4}|\d{8})([ T]+\d{1,2}:\d{2}.{0,15})?"
)

_ISO: Final = re.compile(r"\d{4}-\d{2}-\d{2}")

# With a decimal point, or a comma.
_NUMBERS: Final = [
    re.compile(rf"[+-]?(\d+{mark}?\d*|{mark}\d+)([eE][+-]?\d+)?") for mark in (r"\.", ",")
]

_LOOKED_AT: Final = 2000


def about_column(column: Profile) -> Iterator[Finding]:
    """What a column alone shows; the gravest first, and what follows from it left out."""
    if column.n_values == 0:
        words = f"{column.name!r} has no value at all."
        yield Finding("empty", column.name, words, _drop(column))
    elif column.n_distinct == 1:
        yield _constant(column)
    elif misread := list(_misread(column)):
        yield from misread
    elif why := identifier(column):
        words = f"{column.name!r} names rows: {why}. A model would learn them by heart."
        yield Finding("identifier", column.name, words, _drop(column))
    elif why := personal(column):
        words = f"{column.name!r} {why}. A model would hold what it says of people."
        yield Finding("personal-text", column.name, words, _drop(column))
    elif column.is_whole:
        yield from _codes(column)


def _drop(column: Profile) -> str:
    return option("--drop", column.name)


def _constant(column: Profile) -> Finding:
    apart = f", apart from {counted(column.n_missing, 'missing value')}" if column.n_missing else ""
    words = f"{column.name!r} is {column.text(0)!r} in every row{apart}: it tells nothing"
    more = " but where the missing values are." if column.n_missing else "."
    return Finding("constant", column.name, words + more, _drop(column))


def identifier(column: Profile) -> str:
    """Why a column names rows, or nothing if it does not."""
    if column.n_values < FEW_ROWS or column.n_distinct < _NEARLY_ALL * column.n_values:
        return ""
    if column.kind == "words":
        n = "all" if column.n_distinct == column.n_values else f"{column.n_distinct:,}"
        return f"{n} of its {counted(column.n_values, 'value')} differ"
    if column.is_whole and column.n_distinct == column.n_values:
        return _numbering(column)
    return ""


def personal(column: Profile) -> str:
    """Why text may name people or tell of them, or nothing if it does not seem so."""
    if column.kind != "words" or column.n_values < FEW_ROWS:
        return ""
    texts = [str(value) for value in column.values]
    looked = texts[:: max(1, len(texts) // _LOOKED_AT)]
    if sum(bool(_MAIL.fullmatch(text)) for text in looked) > 0.5 * len(looked):
        return f"holds mail addresses, {column.n_distinct:,} different ones"
    return _telling(column, looked) if np.mean(column.counts < FEW) > 0.5 else ""


def _telling(column: Profile, looked: Sequence[str]) -> str:
    """Why rare text may tell of people."""
    few = f"most of its {column.n_distinct:,} texts occur in fewer than {FEW} rows"
    if called := _called(column.name, _PERSON_NAMES):
        return f"has the word {called!r} in its name, and {few}"
    if np.median([len(text.split()) for text in looked]) >= _SENTENCE:
        return f"looks like free text: {few}, and most have {_SENTENCE} words or more"
    if column.n_distinct >= 0.5 * column.n_values:
        return f"has {column.n_distinct:,} different texts in {column.n_values:,} rows"
    return ""


def _numbering(column: Profile) -> str:
    """Why whole numbers that all differ are names of rows, or nothing if they may be measured."""
    codes = column.codes[column.codes >= 0]
    first, last = column.values[0], column.values[-1]
    with_rows = np.arange(len(codes))
    if np.array_equal(codes, with_rows) or np.array_equal(codes, with_rows[::-1]):
        return "its whole numbers run with the rows"
    if last - first == column.n_distinct - 1:
        return f"its whole numbers are {first:.0f} to {last:.0f}, each once"
    if _called(column.name, _ID_NAMES):
        return "its whole numbers all differ, and it is called so"
    return ""


def _called(name: str, words: re.Pattern[str]) -> str:
    """The first word of a name, such as zip of ZipCode or zip_code, that is one of these."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    parts = re.split(r"[^a-z]+", apart.lower())
    return next((part for part in parts if words.fullmatch(part)), "")


def _misread(column: Profile) -> Iterator[Finding]:
    """Words that are dates or numbers."""
    words = [value for value in column.values if isinstance(value, str)]
    looked = words[:: max(1, len(words) // _LOOKED_AT)]
    if not looked or len(words) < column.n_distinct:
        return
    if all(_DATE.fullmatch(word) for word in looked):
        iso = all(_ISO.match(word) for word in looked)
        how = "Convert the column to dates." if iso else "Dates as 2024-01-31 are read as dates."
        said = (
            f"{column.name!r} holds dates as words, such as {looked[0]!r}, and every day is a "
            f"word of its own. {how}"
        )
        yield Finding("date-as-words", column.name, said, _drop(column))
        return
    found = {pattern: sum(map(bool, map(pattern.fullmatch, looked))) for pattern in _NUMBERS}
    number = max(found, key=lambda pattern: found[pattern])
    if 0.8 * len(looked) <= found[number] < len(looked) and len(looked) >= 5:
        yield from _nearly_numbers(column, words, number)


def _nearly_numbers(
    column: Profile, words: Sequence[str], number: re.Pattern[str]
) -> Iterator[Finding]:
    others = [v for v, word in enumerate(words) if not number.fullmatch(word)]
    if any(re.match(r"[+-]?0\d", word) for word in words):
        return  # codes
    n_rows = int(column.counts[others].sum())
    shown = ", ".join(repr(words[v]) for v in others[:3]) + (", …" if len(others) > 3 else "")
    said = (
        f"{column.name!r} would be numbers but for {counted(n_rows, 'row')} ({shown}), and is "
        "words. If those mean that there is no value, say so."
    )
    safe = len(others) <= 5 and not any("," in words[v] for v in others)
    remedy = option("--na-values", ",".join(words[v] for v in others)) if safe else ""
    yield Finding("number-as-words", column.name, said, remedy)


def _codes(column: Profile) -> Iterator[Finding]:
    """Whole numbers that are names."""
    why = _why_codes(column)
    if why:
        words = (
            f"{column.name!r} holds whole numbers that look like codes: {why}. As numbers they "
            "would be compared by size."
        )
        yield Finding("code", column.name, words, option("--categorical", column.name))


def _why_codes(column: Profile) -> str:
    first, last = float(column.values[0]), float(column.values[-1])
    called = _called(column.name, _CODE_NAMES)
    if called and column.n_distinct > 2:
        return f"its name has the word {called!r}"
    width = len(f"{first:.0f}")
    same_width = first >= 100 and width == len(f"{last:.0f}")
    is_years = first >= 1800 and last <= 2100
    if not same_width or is_years:
        return ""
    often = column.n_values >= FEW_ROWS * column.n_distinct
    if column.n_distinct <= 20 and often and _has_gaps(column):
        return f"there are only {column.n_distinct}, all of {width} digits, with gaps between"
    if width >= 5 and first < 2 * 10 ** (width - 1) and last >= 9 * 10 ** (width - 1):
        return f"all have {width} digits, from {first:.0f} to {last:.0f}"
    return ""


def _has_gaps(column: Profile) -> bool:
    """Whether the steps between values are uneven, as those of a scale are not."""
    steps = np.diff(np.asarray(column.values, dtype=np.float64))
    return len(set(steps.tolist())) > 1


def about_target(column: Profile) -> Iterator[Finding]:
    """What a target shows."""
    name = column.name
    if column.n_values == 0:
        yield Finding("empty-target", name, f"The target {name!r} has no value at all.")
        return
    if column.n_missing:
        yield Finding(
            "target-missing",
            name,
            f"The target {name!r} has no value in {counted(column.n_missing, 'row')} of "
            f"{column.n_rows:,}: they are left out of a fit.",
        )
    if column.n_distinct == 1:
        yield Finding("one-class", name, f"The target {name!r} is {column.text(0)!r} in every row.")
    elif why := measured(column):
        yield Finding(
            "measured-target",
            name,
            f"The target {name!r} {why}: it looks like a measurement, not like classes. Cut it "
            "into classes, or choose another column.",
            "--target COLUMN",
        )
    else:
        yield from _rare(column)


def measured(column: Profile) -> str:
    """Why a column is no column of classes, or nothing if it may be."""
    if column.kind == "number":
        v = int(np.argmax(np.asarray(column.values) % 1 != 0))
        return f"holds numbers with fractions, such as {number_text(float(column.values[v]))}"
    if column.kind == "date":
        return "holds dates"
    many = column.n_distinct > 20 and column.n_distinct > 0.05 * column.n_values
    if many and column.kind in {"whole number", "words"}:
        return f"has {column.n_distinct:,} different values in {counted(column.n_values, 'row')}"
    return ""


def _rare(column: Profile) -> Iterator[Finding]:
    rare = [v for v in np.argsort(column.counts, kind="stable").tolist() if column.counts[v] < 10]
    if rare:
        shown = ", ".join(f"{column.text(v)!r} {column.counts[v]}" for v in rare[:5])
        more = f", … ({len(rare)} classes)" if len(rare) > 5 else ""
        yield Finding(
            "rare-class",
            column.name,
            f"The target {column.name!r} has classes with fewer than 10 rows: {shown}{more}. Too "
            "few to be learned or judged: join them with others, or find more rows.",
        )


# --- Leaks: a column that alone tells the target (nearly) always ---------------------------------

# A number is cut into so many ranges, with about as many rows each.
_RANGES = 256

# Not 0 or 42: data that was drawn with the same seed would go into halves by its own values.
_LOT = 7_308_214_659_021

_ORDERED = ("number", "whole number", "date")

# Values × classes that are counted at most; rarer values are counted together.
_CELLS = 4_000_000


def single_accuracy(column: Profile, labels: NDArray[Any], n_classes: int) -> float:
    """The share of rows whose class one column tells.

    Each value, or range of a number, says the class that most of its rows have; a missing value is
    a value. One half of the rows, drawn by lot, says it for the other half, and the other way
    round, so that a word which occurs once tells nothing. A range of which one half has no rows
    says what the next range says.
    """
    bins, n_bins = _bins(column, n_classes)
    ordered = column.kind in _ORDERED
    half = np.random.default_rng(_LOT).random(len(labels)) < 0.5
    cells = bins * n_classes + labels
    tables = [
        np.bincount(cells[side], minlength=n_bins * n_classes).reshape(n_bins, n_classes)
        for side in (half, ~half)
    ]
    told = _hits(tables[0], tables[1], ordered=ordered) + _hits(
        tables[1], tables[0], ordered=ordered
    )
    return told / max(1, len(labels))


def _hits(known: Counts, asked: Counts, *, ordered: bool) -> int:
    """How many rows of one table have the class that the other says for their value."""
    has_rows, said = known.sum(axis=1) > 0, known.argmax(axis=1)
    majority = int(known.sum(axis=0).argmax())
    if ordered:
        said[1:], has_rows[1:] = _lent(said[1:], has_rows[1:])  # a missing value lends nothing
    said = np.where(has_rows, said, majority)
    return int(asked[np.arange(len(asked)), said].sum())


def _lent(said: Counts, has_rows: Mask) -> tuple[Counts, Mask]:
    """A range without rows says what the next one below says that has some, or else above."""
    if not has_rows.any():
        return said, has_rows
    first = int(has_rows.argmax())
    below = np.maximum.accumulate(np.where(has_rows, np.arange(len(said)), first))
    return said[below], np.ones_like(has_rows)


def _bins(column: Profile, n_classes: int) -> tuple[NDArray[Any], int]:
    """Rows by value or range; 0 for missing values."""
    place = np.arange(1, column.n_distinct + 1)
    if column.kind in _ORDERED and column.n_distinct > _RANGES:
        before = np.cumsum(column.counts) - column.counts
        place = 1 + before * _RANGES // max(1, column.n_values)
    most = max(2, _CELLS // max(1, n_classes))
    if column.n_distinct >= most:
        rank = np.empty(column.n_distinct, dtype=np.int64)
        rank[np.argsort(-column.counts, kind="stable")] = np.arange(column.n_distinct)
        place = 1 + np.minimum(rank, most - 1)
    # the code −1 finds the last place
    bins = np.append(place, 0)[column.codes]
    return bins, int(place.max(initial=0)) + 1


# --- Rows that repeat others, and rows that contradict them --------------------------------------

# So many times more repetition than chance explains is worth a word.
_MORE = 3


@dataclass(frozen=True)
class DuplicateRows:
    """What comparing all rows gave."""

    n_repeated: int
    """Rows that are the same as an earlier one in every column, the target included."""
    expected: bool
    """Whether columns that know nothing of each other would repeat rows about as often."""
    n_contradicted: int
    """Rows that are the same as a row of another class in every other column."""
    ceiling: float
    """The share of rows that the best possible model gets right."""


def count_repeats(
    columns: Sequence[Profile], labels: NDArray[Any] | None, n_classes: int
) -> DuplicateRows:
    """Compare all rows, by marks of 64 bits: that two of a million differ and share a mark has a
    chance of one in thirty millions.
    """
    marks = _marks([column.codes for column in columns])
    whole = marks if labels is None else _mixed(marks, labels)
    n_repeated = int(pd.Series(whole).duplicated().sum())
    codes = [column.codes for column in columns] + ([] if labels is None else [labels])
    expected = n_repeated <= _MORE * _pairs_by_chance(codes)
    n_contradicted, ceiling = 0, 1.0
    if labels is not None:
        n_contradicted, ceiling = _contradictions(marks, labels, n_classes)
    return DuplicateRows(n_repeated, expected, n_contradicted, ceiling)


def _pairs_by_chance(columns: Sequence[NDArray[Any]]) -> float:
    """How many pairs of rows would be the same if columns knew nothing of each other."""
    n = len(columns[0])
    pairs = n * (n - 1) / 2
    share = 1.0
    for codes in columns:
        counts = np.bincount(codes + 1).astype(np.float64)  # missing values first
        share *= float((counts * (counts - 1)).sum() / 2 / max(1.0, pairs))
    return pairs * share


def _marks(columns: Sequence[NDArray[Any]]) -> NDArray[np.uint64]:
    marks = np.zeros(len(columns[0]), dtype=np.uint64)
    for codes in columns:
        marks = _mixed(marks, codes)
    return marks


def _mixed(marks: NDArray[np.uint64], codes: NDArray[Any]) -> NDArray[np.uint64]:
    """A mark with one more column in it; every bit of both moves about half of the bits."""
    bits = (marks * np.uint64(0x9E3779B97F4A7C15)) ^ (codes.astype(np.int64) + 2).astype(np.uint64)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(bits ^ (bits >> np.uint64(31)))


def _contradictions(
    marks: NDArray[np.uint64], labels: NDArray[Any], n_classes: int
) -> tuple[int, float]:
    """Rows in groups of more than one class, and the share of rows that a model can get right."""
    again = pd.Series(marks).duplicated(keep=False).to_numpy()
    groups, seen = pd.factorize(marks[again])
    pairs, counts = np.unique(
        groups.astype(np.int64) * n_classes + labels[again], return_counts=True
    )
    group = pairs // n_classes
    largest = np.zeros(len(seen), dtype=np.int64)
    np.maximum.at(largest, group, counts)
    n_kinds = np.bincount(group, minlength=len(seen))
    sizes = np.bincount(groups, minlength=len(seen))
    n_lost = int((sizes - largest).sum())
    return int(sizes[n_kinds > 1].sum()), 1 - n_lost / max(1, len(labels))


# --- Columns as `inspect` looks at them: distinct values, how often each occurs, and where -------

Kind = Literal["number", "whole number", "words", "truth", "date", "nothing"]

_SHOWN = 3

_LONGEST = 24


@dataclass(frozen=True)
class Profile:
    """A column: codes of its rows, −1 where missing, and the sorted values that the codes name."""

    name: str
    kind: Kind
    codes: NDArray[Any]
    values: Sequence[Any]

    @cached_property
    def counts(self) -> Counts:
        """How many rows each value has."""
        present = self.codes[self.codes >= 0] if self.n_missing else self.codes
        return np.bincount(present, minlength=len(self.values)).astype(np.int64)

    @cached_property
    def n_missing(self) -> int:
        """Rows without a value."""
        return int(np.count_nonzero(self.codes < 0))

    @property
    def n_rows(self) -> int:
        """All rows."""
        return len(self.codes)

    @property
    def n_values(self) -> int:
        """Rows with a value."""
        return self.n_rows - self.n_missing

    @property
    def n_distinct(self) -> int:
        """Different values."""
        return len(self.values)

    @property
    def is_whole(self) -> bool:
        """Whether it holds whole numbers only."""
        return self.kind == "whole number"

    def summary(self) -> str:
        """The range of numbers and dates; of other values the most frequent.

        Values that each occur once are names of rows, and none is more frequent: they stay untold.
        """
        if self.n_distinct == 0:
            return ""
        if self.kind in {"number", "whole number", "date"}:
            ends = [self.text(0), self.text(self.n_distinct - 1)]
            return " … ".join(dict.fromkeys(ends))
        if self.n_distinct > _SHOWN and self.counts.max() == 1:
            return "all different"
        often = np.argsort(-self.counts, kind="stable")[:_SHOWN].tolist()
        shown = ", ".join(f"{self.text(v)} ({self.counts[v]:,})" for v in often)
        return shown if self.n_distinct <= _SHOWN else f"{shown}, …"

    def text(self, v: int) -> str:
        """A value as it is shown."""
        value = self.values[v]
        if self.kind == "date":
            return moment_text(float(value))
        if isinstance(value, str):
            return shortened(value)
        plain = value.item() if isinstance(value, np.generic) else value
        return str(int(plain)) if self.is_whole else number_text(plain)


def shortened(text: str) -> str:
    """Text as it is shown, not longer than there is room for."""
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def profile(table: DataTable, j: int) -> Profile:
    """Look at a column."""
    schema, name = table.column_schema(j), table.names[j]
    column = read_column(table, j)
    if isinstance(column, CategoryColumn):
        truth = all(isinstance(value, bool) for value in column.values)
        kind: Kind = "truth" if truth else "words"
        return Profile(name, kind if column.values else "nothing", column.codes, column.values)
    codes, values_ = pd.factorize(column.values, sort=True)  # NaN has the code −1
    kind = "date" if schema.kind == "date" else "number"
    if kind == "number" and bool(np.all(np.isfinite(values_) & (values_ == np.floor(values_)))):
        kind = "whole number"
    return Profile(name, kind if len(values_) else "nothing", codes, values_)
