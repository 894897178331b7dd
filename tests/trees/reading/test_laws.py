"""Laws of a tree that is read: rules, text, explanations and boxes tell what the tree does.

Conditions are judged here by their fields alone, counts are taken anew from the rows, and text is
read by a small parser of its own.
"""

from __future__ import annotations

import json
import math
import re
import warnings
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sortal import TreeClassifier
from sortal.errors import UnknownCategoryWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

# Trees of one class are grown on purpose, or by chance.
pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.OneClassWarning")

Cell: TypeAlias = Any
Row: TypeAlias = tuple[Cell, ...]


TICKS: Final = {"s": 86_400, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}
STRANGERS: Final = {"word": "never seen", "ordered": "never seen", "truth": "maybe", "code": 99}


@dataclass(frozen=True)
class Column:
    """A name, a kind (number, date, word, code, truth, ordered), and a cell for each row."""

    name: str
    kind: str
    cells: tuple[Cell, ...]
    levels: tuple[str, ...] = ()
    unit: str = ""
    split: str = ""  # how the option categorical_split names it, if it does

    @property
    def is_number(self) -> bool:
        return self.kind in {"number", "date"}

    @property
    def is_ranked(self) -> bool:
        """An ordered category that is cut like a number."""
        return self.kind == "ordered" and not self.split

    def series(self, cells: Sequence[Cell], *, fitting: bool = False) -> Any:
        """As a user would give it."""
        if self.kind == "date":
            unit = self.unit if fitting or self.unit == "ns" else "us"
            return np.array(cells, dtype=f"M8[{unit}]")
        if self.kind == "ordered" and fitting:
            return pd.Categorical(cells, categories=self.levels, ordered=True)
        return list(cells)

    def read(self, cell: Cell) -> Cell:
        """What conditions are asked of: numbers as floats, dates as days, words as they are."""
        if self.kind == "date":
            return days(cell)
        return float(cell) if self.kind == "number" else cell


@dataclass(frozen=True)
class Case:
    """A table with labels and weights, and the options of a fit."""

    columns: tuple[Column, ...]
    y: tuple[Any, ...]
    weights: tuple[float, ...] | None
    options: dict[str, Any]

    @property
    def rows(self) -> list[Row]:
        """The rows of the fit: a row of weight 0 is not there."""
        cells = zip(*(column.cells for column in self.columns), strict=True)
        return [row for row, w in zip(cells, self.all_weights, strict=True) if w]

    @property
    def labels(self) -> list[Any]:
        return [label for label, w in zip(self.y, self.all_weights, strict=True) if w]

    @property
    def classes(self) -> list[Any]:
        """The classes that have weight: a tree is read by these, though `classes_` lists all."""
        return sorted(set(self.labels))

    @property
    def all_weights(self) -> tuple[float, ...]:
        return (1.0,) * len(self.y) if self.weights is None else self.weights

    @property
    def kept_weights(self) -> list[float]:
        return [w for w in self.all_weights if w]

    @property
    def has_copies(self) -> bool:
        return all(float(w).is_integer() for w in self.all_weights)

    def training(self) -> Any:
        return pd.DataFrame({c.name: c.series(c.cells, fitting=True) for c in self.columns})

    def frame(self, rows: Sequence[Row]) -> Any:
        cells = zip(self.columns, zip(*rows, strict=True), strict=True)
        return pd.DataFrame({c.name: c.series(its) for c, its in cells})

    def fit(self, **more: Any) -> Any:
        weights = None if self.weights is None else list(self.weights)
        model: Any = TreeClassifier(**{"pruning": None, **self.options, **more})
        return model.fit(self.training(), list(self.y), sample_weight=weights)

    def read(self, row: Row) -> dict[str, Cell]:
        return {c.name: c.read(cell) for c, cell in zip(self.columns, row, strict=True)}


def moment(when: Any, unit: Any) -> Any:
    return np.datetime64(when, unit)


def days(when: Any) -> float:
    """Days since 1970: whole days and the rest are divided apart."""
    ticks, per_day = ticks_of(when)
    whole, rest = divmod(ticks, per_day)
    return float(whole + rest / per_day)


def ticks_of(when: Any) -> tuple[int, int]:
    """Units since 1970, and how many a day has."""
    unit = np.datetime_data(when.dtype)[0]
    finer = {"D": "s", "h": "s", "m": "s", "ms": "us"}.get(unit, unit)
    return int(when.astype(f"M8[{finer}]").astype(np.int64)), TICKS[finer]


def printed_days(when: Any) -> float:
    """The number that is printed so: divided once, as thresholds are."""
    ticks, per_day = ticks_of(when)
    return ticks / per_day


PLAIN_NAMES: Final = ("size", "color", "x0", "sepal_length", "Day of week", "größe")
PLAIN_WORDS: Final = ("red", "green", "blue", "dark red", "S", "M", "L", "XL", "7", "Żółć")
SLY_TEXT: Final = (
    *("", " ", " a", "a ", "a, b", "{a}", "a}", '"', '"a"', "\\", "'", "a\nb", "a\r\nb", "\t"),
    *("<b>", "<script>alert(1)</script>", "&amp;", "a < b", "x <= 5", "x > 1", "x = a", "x != a"),
    *("a and b", "a or b", "a or other", "a (or other)", "x not", "not x", "b) ∨ (a", "x in {a}"),
    *("x not in {a}", "a | b", "||", "\\|", "a\\"),
    *("If a", "then class is b", "root", ": n 5", "a -> b", "…", "a ∧ b", "a ∨ b", "(a)", ")"),
    *("\u2028", "\x85", "\x00", "\x1b[31m", "\u202e", "é", "日本", "🌲", "nan", "None", "other"),
    *("a and", "and a", "a or", "or a", "a in", "in a", "a not in", "not in a", "a (n 1", "a: n 1"),
    *("and", "or", "in", "not", "node", "n", "purity", "not in", "$x$", "`a`", "*a*", "1e3"),
)
FLOATS: Final = (
    *(0.0, -0.0, 1.0, float(np.nextafter(1, 2)), float(np.nextafter(1, 0)), 0.1, 0.1 + 0.2, 0.3),
    *(5e-324, -5e-324, 1e-300, 1e308, -1e308, 1.7976931348623157e308, 1e16, 1e16 + 2, -2.5, 3.0),
)
MOMENTS: Final = ("1969-12-31T12:00:00", "1970-01-01", "2020-01-01", "2020-01-02", "2020-02-29")

seeds: Final = st.integers(0, 10**6)
sly: Final = st.sampled_from(SLY_TEXT) | st.text(max_size=5)
sly_names: Final = sly.filter(lambda name: not name.endswith("\0"))  # numpy drops that end
numbers: Final = st.sampled_from(FLOATS) | st.floats(allow_nan=False, allow_infinity=False)
whole_numbers: Final = st.integers(-9, 9) | st.integers(-(2**53), 2**53)


@cache
def moments(unit: str) -> st.SearchStrategy[Cell]:
    """Dates from 1700 to 2250, or of any year where the unit has room for them."""
    lowest, highest = (-98_000, 102_000) if unit == "ns" else (-719_000, 2_900_000)
    ticks = TICKS[unit]
    drawn = st.builds(
        lambda day, rest: moment(day * ticks + rest, unit),
        st.integers(lowest, highest),
        st.sampled_from([0, 0, ticks // 2, 1, ticks - 1]) | st.integers(0, ticks - 1),
    )
    return drawn | st.sampled_from([moment(text, unit) for text in MOMENTS])


@cache
def one_of(*choices: Any) -> st.SearchStrategy[Any]:
    """Made once: a strategy that is made at every draw is also checked at every draw."""
    return st.sampled_from(choices)


@lru_cache(64)  # levels are others at every draw
def some_of(pool: st.SearchStrategy[Cell], least: int, most: int) -> st.SearchStrategy[list[Cell]]:
    return st.lists(pool, min_size=least, max_size=most)


plain_words: Final = st.sampled_from(PLAIN_WORDS)
all_words: Final = plain_words | sly
plain_names: Final = st.sampled_from(PLAIN_NAMES)
names_of_columns: Final = {
    True: st.lists(plain_names, min_size=1, max_size=4, unique=True),
    False: st.lists(plain_names | sly_names, min_size=1, max_size=4, unique=True),
}
levels_of_words: Final = {
    words: st.lists(words, min_size=1, max_size=6, unique=True)
    for words in (plain_words, all_words)
}
sly_labels: Final = st.lists(sly_names, min_size=2, max_size=4, unique=True)
sizes: Final = st.integers(2, 12) | st.integers(12, 40) | st.integers(25, 40)
codes: Final = st.integers(-3, 5)
truths: Final = st.booleans()


def draw_cells(
    draw: st.DrawFn, pool: st.SearchStrategy[Cell], n: int, most: int
) -> tuple[Cell, ...]:
    """n cells with few different values, of which a seed deals out."""
    values = draw(some_of(pool, draw(one_of(3, 3, 3, 1)), most))
    return deal(draw(seeds), values, n)


def deal(seed: int, values: Sequence[Cell], n: int) -> tuple[Cell, ...]:
    return tuple(values[i] for i in np.random.default_rng(seed).integers(0, len(values), n))


def draw_column(draw: st.DrawFn, name: str, n: int, plain: bool) -> Column:
    kind = draw(one_of("number", "number", "date", "word", "word", "ordered", "misc"))
    words = plain_words if plain else all_words
    if kind == "number":
        pool = draw(one_of(numbers, numbers, whole_numbers))
        return Column(name, kind, draw_cells(draw, pool, n, 8))
    if kind == "date":
        unit = draw(one_of("s", "us", "ns"))
        return Column(name, kind, draw_cells(draw, moments(unit), n, 6), unit=unit)
    split = draw(one_of("", "", "subset", "multiway", "multiway"))
    if kind == "word":
        return Column(name, kind, draw_cells(draw, words, n, 6), split=split)
    if kind == "ordered":
        levels = draw(levels_of_words[words])
        cells = draw_cells(draw, st.sampled_from(levels), n, 5)
        return Column(name, kind, cells, levels=tuple(levels), split=split)
    if draw(truths):
        return Column(name, "truth", draw_cells(draw, truths, n, 3), split=split)
    return Column(name, "code", draw_cells(draw, codes, n, 5), split=split)


def draw_weights(draw: st.DrawFn, n: int) -> tuple[float, ...] | None:
    kind = draw(one_of("none", "whole", "fractions"))
    if kind == "none":
        return None
    first, pool = (2.0, [0.0, 1.0, 2.0, 3.0]) if kind == "whole" else (0.3, [0, 0.1, 0.5, 1.25, 7])
    return (first, *deal(draw(seeds), pool, n - 1))


def draw_options(draw: st.DrawFn, columns: tuple[Column, ...]) -> dict[str, Any]:
    named = {c.name: c.split for c in columns if c.split}
    word = draw(one_of("subset", "multiway"))
    split: Any = named or word
    is_binary = "multiway" not in (split.values() if named else [word])
    criteria = ["gain", "gini", "gain_ratio", *(["cart"] if is_binary else [])]
    coded = [c.name for c in columns if c.kind == "code"]
    return {
        "criterion": draw(one_of(*criteria)),
        "categorical_split": split,
        "categorical_features": coded or "from_dtype",
        "max_depth": draw(one_of(*[None] * 8, 0, 1, 2, 4)),
        "min_samples_leaf": draw(one_of(1, 1, 1, 1, 2, 3)),
        "leaf_size": draw(one_of(1, 1, 1, 1, 4)),
        "purity": draw(one_of(1.0, 1.0, 0.8)),
    }


@st.composite
def cases(draw: st.DrawFn, *, plain: bool = False) -> Case:
    n = draw(sizes)
    columns = tuple(draw_column(draw, name, n, plain) for name in draw(names_of_columns[plain]))
    labels = draw(one_of(("no", "yes", "c 1", "C2"), (0, 1, 2, 3), (False, True)))
    if not plain and draw(truths):
        labels = tuple(draw(sly_labels))
    y = deal(draw(seeds), labels, n)
    return Case(columns, y, draw_weights(draw, n), draw_options(draw, columns))


def is_interval(condition: Any) -> bool:
    return hasattr(condition, "low")


def holds(condition: Any, x: Cell) -> bool:
    """low < x <= high; x in values, or others and x not in against."""
    if is_interval(condition):
        return bool(condition.low < x <= condition.high)
    return x in condition.values or (condition.others and x not in condition.against)


def all_hold(conditions: Iterable[Any], row: dict[str, Cell]) -> bool:
    return all(holds(c, row[c.attribute]) for c in conditions)


def every_rule(rules: Any) -> list[Any]:
    return [*rules, *rules.unlisted]


def ask(method: Callable[..., Any], X: Any) -> Any:
    """Rows with values never seen are warned of, which is no matter here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownCategoryWarning)
        return method(X)


def shares_of_weighted(case: Case, model: Any, X: Any) -> Any:
    """The probabilities of the classes that have weight; those of the others are 0."""
    every, shares = sorted(set(case.y)), ask(model.predict_proba, X)
    assert model.classes_.tolist() == every
    at = [every.index(label) for label in case.classes]
    assert shares.shape == (len(X), len(every))
    assert (np.delete(shares, at, axis=1) == 0).all()
    return shares[:, at]


def near(column: Column, threshold: float) -> list[Cell]:
    """A threshold, and its neighbors on both sides."""
    if column.kind == "number":
        around = (math.nextafter(threshold, end) for end in (threshold, -math.inf, math.inf))
        return [x for x in around if math.isfinite(x)]
    unit = "ns" if column.unit == "ns" else "us"
    whole = math.floor(threshold)
    ticks = whole * TICKS[unit] + round((threshold - whole) * TICKS[unit])
    return [moment(ticks + step, unit) for step in (-1000, -1, 0, 1, 1000)]


def cuts_of(rules: Any, column: Column) -> set[float]:
    conditions = [c for rule in every_rule(rules) for c in rule.path if is_interval(c)]
    ends = {end for c in conditions if c.attribute == column.name for end in (c.low, c.high)}
    return {end for end in ends if math.isfinite(end)}


def special_cells(column: Column, rules: Any) -> list[Cell]:
    known = list(dict.fromkeys(column.cells))
    if column.is_number:
        return known + [cell for v in sorted(cuts_of(rules, column)) for cell in near(column, v)]
    return [*dict.fromkeys([*known, *column.levels]), STRANGERS[column.kind]]


def rows_to_ask(case: Case, rules: Any, seed: int) -> list[Row]:
    """Rows of the fit; these with one special cell; and rows of special cells only."""
    rng = np.random.default_rng(seed)
    fitted, specials = case.rows, [special_cells(c, rules) for c in case.columns]
    asked = list(fitted)
    for j, cells in enumerate(specials):
        for cell in cells:
            row = fitted[rng.integers(len(fitted))]
            asked.append((*row[:j], cell, *row[j + 1 :]))
    drawn = [tuple(cells[rng.integers(len(cells))] for cells in specials) for _ in range(40)]
    return asked + drawn


def the_only_one(rules: list[Any], row: dict[str, Cell], form: str) -> int:
    met = [i for i, rule in enumerate(rules) if all_hold(getattr(rule, form), row)]
    assert len(met) == 1, (form, row, [getattr(rules[i], form) for i in met])
    return met[0]


@given(cases(), seeds)
def test_rules_tell_what_the_tree_does(case: Case, seed: int) -> None:
    model = case.fit(smoothing=None)
    rules = model.rules()
    check_rows_meet_rules(case, model, rules, rows_to_ask(case, rules, seed))
    check_conditions(case, rules)
    check_numbers(case, rules)
    check_order(model, rules)
    check_classes(case, model, rules)
    check_boxes(case, model, rules)


def check_rows_meet_rules(case: Case, model: Any, rules: Any, rows: list[Row]) -> None:
    """A row meets one rule, and it is that of its leaf."""
    listed, X = every_rule(rules), case.frame(rows)
    leaves, said = ask(model.apply, X), ask(model.predict, X)
    shares = shares_of_weighted(case, model, X)
    for i, row in enumerate(rows):
        read = case.read(row)
        met = the_only_one(listed, read, "path")
        assert the_only_one(listed, read, "merged") == met
        rule = listed[met]
        assert (rule.leaf, rule.label) == (leaves[i], said[i])
        assert tuple(rule.probabilities) == tuple(shares[i])
        assert list(rule.classes) == case.classes


def check_conditions(case: Case, rules: Any) -> None:
    """Merged conditions are one an attribute, in order of appearance."""
    kinds = {c.name: c.is_number for c in case.columns}
    for rule in every_rule(rules):
        seen = dict.fromkeys(c.attribute for c in rule.path)
        assert [c.attribute for c in rule.merged] == list(seen)
        assert all(is_interval(c) == kinds[c.attribute] for c in (*rule.path, *rule.merged))


def check_numbers(case: Case, rules: Any) -> None:
    """The numbers of a rule are those of its rows."""
    rows, labels, weights = case.rows, case.labels, case.kept_weights
    total = sum(weights)
    exact = partial(pytest.approx, rel=0 if case.has_copies else 1e-9, abs=0)
    for rule in rules:
        mine = [i for i, row in enumerate(rows) if all_hold(rule.path, case.read(row))]
        counts = [sum(weights[i] for i in mine if labels[i] == k) for k in rule.classes]
        assert list(rule.counts) == exact(counts)
        assert rule.n == exact(sum(counts))
        assert rule.size == (sum(counts) if case.has_copies else len(mine))
        assert rule.share == pytest.approx(rule.n / total, rel=1e-9)
        assert rule.purity == pytest.approx(max(counts) / sum(counts), rel=1e-9)
        assert rule.error == pytest.approx(1 - rule.purity, abs=1e-12)
        assert list(rule.probabilities) == pytest.approx([c / sum(counts) for c in counts])
        assert counts[list(rule.classes).index(rule.label)] == exact(max(counts))
    assert sum(rule.share for rule in rules) == pytest.approx(1, abs=1e-9)
    assert sum(rule.size for rule in rules) == (total if case.has_copies else len(rows))


def check_order(model: Any, rules: Any) -> None:
    """Rules are the leaves in the order of nodes."""
    nodes = model.to_frame()
    leaves = [int(t) for t, test in zip(nodes["node"], nodes["test"], strict=True) if not test]
    assert [rule.leaf for rule in rules] == leaves
    assert len(rules) == len(leaves) == model.get_n_leaves()
    for rule in every_rule(rules):
        node = nodes.iloc[rule.leaf]
        assert (rule.n, rule.size) == (node["n"], node["size"])
        assert rule.purity == pytest.approx(node["purity"], rel=1e-12)
    for rule in rules.unlisted:
        assert rule.leaf not in leaves
        assert len(rule.path) == nodes["depth"].iloc[rule.leaf] + 1


def check_classes(case: Case, model: Any, rules: Any) -> None:
    """Rules of a class are the rules that say it."""
    classes, total = model.rules(by="class"), sum(case.kept_weights)
    assert [record.label for record in classes] == case.classes
    for record in classes:
        mine = [rule for rule in rules if rule.label == record.label]
        assert list(record.rules) == mine
        assert record.n == pytest.approx(sum(rule.n for rule in mine))
        assert record.share == pytest.approx(record.n / total)


def in_side(side: Any, x: Cell) -> bool:
    """A side that begins with the data is closed below."""
    return holds(side, x) or (is_interval(side) and side.closed and side.low == x <= side.high)


def check_boxes(case: Case, model: Any, rules: Any) -> None:
    """A row of the fit lies in the box of its leaf alone; a box has a side a column in the data."""
    rows = [case.read(row) for row in case.rows]
    leaves = model.apply(case.frame(case.rows))
    for row, leaf in zip(rows, leaves, strict=True):
        inside = [r.leaf for r in rules if all(in_side(s, row[s.attribute]) for s in r.box)]
        assert inside == [leaf]
    for rule in rules:
        assert [side.attribute for side in rule.box] == [c.name for c in case.columns]
        for side, column in zip(rule.box, case.columns, strict=True):
            assert is_interval(side) == column.is_number
            cells = [row[column.name] for row in rows]
            if column.is_number:
                assert min(cells) <= side.low <= side.high <= max(cells)
            else:
                assert set(side.values) <= {*cells, *column.levels}


# A bare word holds none of the signs of a sentence; others stand in the quotes of JSON.
TERM: Final = r'(?:"(?:[^"\\]|\\.)*"|[^<>={}"|,]+?)'
LIST: Final = rf"{TERM}(?:, {TERM})*"
CONDITION: Final = re.compile(
    rf"(?:(?P<low>{TERM}) < )?(?P<name>{TERM})"
    rf"(?: <= (?P<high>{TERM})| > (?P<above>{TERM})| = (?P<value>{TERM})| != (?P<but>{TERM})"
    rf"| in \{{(?P<values>{LIST})\}}| not in \{{(?P<against>{LIST})\}})(?P<other> \(or other\))?"
)
NUMBER: Final = r"[-+0-9.e]+"
NODE: Final = re.compile(
    rf"(?P<indent>(?:\|  )*)(?P<said>.*): n (?P<n>{NUMBER})(?P<counts>(?:, {TERM}: {NUMBER})*)"
    rf", purity (?P<purity>{NUMBER}), error (?P<error>{NUMBER})(?: -> (?P<label>{TERM}))?"
)
RULE: Final = re.compile(
    r"(?P<leaf>\d+): (?:If (?P<said>.*), then|In any case) class is (?P<label>.*)"
    rf"  \(n (?P<n>{NUMBER}), share (?P<share>{NUMBER}), purity (?P<purity>{NUMBER})\)"
)


def unquoted(text: str) -> str:
    return str(json.loads(text)) if text.startswith('"') else text


def split_terms(text: str) -> frozenset[str]:
    return frozenset(unquoted(term) for term in re.findall(rf"({TERM})(?:, |$)", text))


@dataclass(frozen=True)
class Said:
    """A condition as it was read from a text, or as its record has it."""

    name: str
    low: float | str | None = None
    high: float | str | None = None
    values: frozenset[str] | None = None
    against: frozenset[str] | None = None
    others: bool = False


def parse(text: str, columns: dict[str, Column]) -> Said:
    found = CONDITION.fullmatch(text)
    assert found, text
    name, got = unquoted(found["name"]), found.groupdict()
    one = next((got[key] for key in ("value", "values") if got[key]), None)
    but = next((got[key] for key in ("but", "against") if got[key]), None)
    if one or but:
        values = split_terms(one) if one else None
        against = split_terms(but) if but else None
        return Said(name, None, None, values, against, bool(but or found["other"]))
    low, high = found["low"] or found["above"], found["high"]
    return ends_of(columns[name], low, high, bool(found["other"]))


def ends_of(column: Column, low: str | None, high: str | None, others: bool) -> Said:
    """Numbers as floats, moments as days, levels as the set of those between."""
    if not column.is_number:
        after = column.levels.index(unquoted(low)) + 1 if low else 0
        upto = column.levels.index(unquoted(high)) + 1 if high else len(column.levels)
        return Said(column.name, values=frozenset(column.levels[after:upto]), others=others)
    read: Callable[[str], float] = float if column.kind == "number" else read_moment
    return Said(
        column.name,
        read(low) if low else -math.inf,
        read(high) if high else math.inf,
        others=others,
    )


def read_moment(text: str) -> float:
    if text.endswith("inf"):
        return float(text)
    found = re.fullmatch(rf"({NUMBER}) days", text)
    return float(found[1]) if found else printed_days(np.datetime64(text))


def said_of(condition: Any, column: Column) -> Said:
    """What a condition's text must say: the shorter side of a set, if it takes other values too."""
    name = condition.attribute
    if is_interval(condition):
        return Said(name, condition.low, condition.high)
    values, against = (frozenset(map(str, side)) for side in (condition.values, condition.against))
    if column.is_ranked:
        return Said(name, values=values, others=condition.others)
    if condition.others and (len(against) < len(values) or not values):
        return Said(name, against=against, others=True)
    return Said(name, values=values, others=condition.others)


def conditions_of_nodes(model: Any) -> dict[int, Any]:
    """The condition that leads to each node but the root."""
    parents = [int(t) for t in model.to_frame()["parent"]]
    found: dict[int, Any] = {}
    for rule in model.rules():
        t = rule.leaf
        for condition in reversed(rule.path):
            assert found.setdefault(t, condition) == condition
            t = parents[t]
        assert t == 0
    return found


def split_ands(text: str) -> list[str]:
    """Conditions of a conjunction: the first way to part it at " and " into conditions."""
    if not text or CONDITION.fullmatch(text):
        return [text] if text else []
    for place in re.finditer("(?= and )", text):
        first, rest = text[: place.start()], text[place.start() + len(" and ") :]
        if CONDITION.fullmatch(first):
            return [first, *split_ands(rest)]
    raise AssertionError(text)


def lines_of(text: str, n: int) -> list[str]:
    """As many lines as there should be, whatever a reader takes for the end of a line."""
    lines = text.split("\n")
    assert len(lines) == n, text
    assert text.splitlines() == lines
    assert all(char.isprintable() for line in lines for char in line)
    return lines


def check_node_line(line: str, node: Any, rule: Any) -> re.Match[str]:
    """The numbers of a line are the node's; a leaf says its class."""
    found = NODE.fullmatch(line)
    assert found, line
    assert len(found["indent"]) == 3 * node["depth"]
    assert float(found["n"]) == pytest.approx(node["n"], rel=1e-3)
    assert float(found["purity"]) == pytest.approx(node["purity"], abs=5.1e-4)
    assert float(found["error"]) == pytest.approx(node["error"], abs=5.1e-4)
    assert (found["label"] is not None) == (rule is not None)
    if rule is not None:
        assert unquoted(found["label"]) == str(rule.label)
    return found


def check_text_of_nodes(case: Case, model: Any) -> None:
    columns, nodes = {c.name: c for c in case.columns}, model.to_frame()
    conditions, rules = conditions_of_nodes(model), {rule.leaf: rule for rule in model.rules()}
    for t, line in enumerate(lines_of(model.to_text(), len(nodes))):
        found = check_node_line(line, nodes.iloc[t], rules.get(t))
        if t == 0:
            assert found["said"] == "root"
        else:
            condition = conditions[t]
            assert parse(found["said"], columns) == said_of(condition, columns[condition.attribute])
        counts = re.findall(rf", ({TERM}): ({NUMBER})(?=, |$)", found["counts"])
        if t in rules:
            shown = [(str(k), c) for k, c in zip(case.classes, rules[t].counts, strict=True) if c]
            assert [unquoted(k) for k, _ in counts] == [k for k, _ in shown]
            assert [float(c) for _, c in counts] == pytest.approx([c for _, c in shown], rel=1e-3)


def check_text_of_rules(case: Case, model: Any, form: str) -> None:
    rules, columns = model.rules(form=form), {c.name: c for c in case.columns}
    assert str(rules) == rules.to_text()
    for rule, line in zip(rules, rules.to_text().splitlines(), strict=False):
        found = RULE.fullmatch(line)
        assert found, line
        assert int(found["leaf"]) == rule.leaf
        assert unquoted(found["label"]) == str(rule.label)
        assert float(found["share"]) == pytest.approx(rule.share, abs=5.1e-4)
        assert float(found["purity"]) == pytest.approx(rule.purity, abs=5.1e-4)
        read = [parse(part, columns) for part in split_ands(found["said"] or "")]
        assert read == [said_of(c, columns[c.attribute]) for c in getattr(rule, form)]


@given(cases() | cases(plain=True))
def test_texts_read_back(case: Case) -> None:
    model = case.fit()
    check_text_of_nodes(case, model)
    for form in ("path", "merged"):
        check_text_of_rules(case, model, form)
        check_markdown(model.rules(form=form))


def check_markdown(rules: Any) -> None:
    """As many cells in every line."""
    text = rules.to_markdown()
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"\|", re.sub(r"\\.", "", line))) for line in lines}) == 1
    assert len(lines) >= len(rules) + 2
    assert re.fullmatch(r"\|(?:\s*:?-+:?\s*\|)+", lines[1])
    assert len([line for line in text.split("\n") if line.startswith("|")]) == len(lines)
