"""Conditions print so that they can be read back, whatever names and values hold."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sortal.records.render import moment_text, quoted, share_text, table_markdown
from sortal.trees.conditions import Choice, Interval, set_text

HOLES: dict[str, Any] = {"missing": True, "told": True}
KNOWN: dict[str, Any] = {"missing": False, "told": True}


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (Interval("x", high=5.45), "x <= 5.45"),
        (Interval("x", low=2.0), "x > 2"),
        (Interval("x", 1e-300, 0.1), "1e-300 < x <= 0.1"),
        (Interval("x", 4.3, 7.9, closed=True), "4.3 <= x <= 7.9"),
        (Interval("day", low=18262.5, is_date=True), "day > 2020-01-01T12:00:00"),
        (Choice("c", ("a",), ("b", "d"), others=False), "c = a"),
        (Choice("c", ("a", "b"), ("d",), others=False), "c in {a, b}"),
        (Choice("c", ("a", "b"), ("d",), others=True), "c != d"),
        (Choice("c", ("a", "b", "z"), ("d", "e"), others=True), "c not in {d, e}"),
        (Choice("c", ("a",), ("d",), others=True), "c = a (or other)"),
        (Choice("c", ("a", "b"), ("d", "e"), others=True), "c in {a, b} (or other)"),
        (Choice("c", (), ("a", "b"), others=True), "c not in {a, b}"),
        (Choice("s", ("S", "M"), ("L",), others=False, upto="M"), "s <= M"),
        (Choice("s", ("L",), ("S", "M"), others=True, after="M"), "s > M (or other)"),
        (Choice("s", ("M",), ("S", "L"), others=False, after="S", upto="M"), "S < s <= M"),
        (Interval("x", high=5.0, **HOLES), "x <= 5 (or missing)"),
        (Interval("x", high=5.0, **KNOWN), "x <= 5"),
        (Interval("x", high=5.0, missing=True), "x <= 5"),  # the column had no holes: not told
        (Interval("x", low=5.0, **HOLES), "x > 5 (or missing)"),
        (Interval("x", 2.0, 5.0, **HOLES), "2 < x <= 5 (or missing)"),
        (Interval("x", 2.0, 5.0, closed=True, **HOLES), "2 <= x <= 5 (or missing)"),
        (Interval("x", 2.0, 2.0, closed=True, **HOLES), "2 <= x <= 2 (or missing)"),
        (Interval("x", **KNOWN), "x is known"),
        (Interval("x", **HOLES), "x is any number (or missing)"),
        (Interval("x", missing=True), "x is any number"),
        (Interval("x", math.inf, math.inf, **HOLES), "x is missing"),
        (Interval("x", math.inf, 5.0, **HOLES), "x is missing"),
        (
            Interval("day", low=18262.5, is_date=True, **HOLES),
            "day > 2020-01-01T12:00:00 (or missing)",
        ),
        (Interval("day", math.inf, 5.0, is_date=True, **KNOWN), "day is no number"),
        (Choice("c", ("a",), ("b",), others=False, **HOLES), "c = a (or missing)"),
        (Choice("c", ("a", "b"), (), others=False, **HOLES), "c in {a, b} (or missing)"),
        (Choice("c", ("a",), ("d",), others=True, **HOLES), "c = a (or other, or missing)"),
        (Choice("c", ("a", "b"), ("d",), others=True, **HOLES), "c != d (or missing)"),
        (Choice("c", ("a", "b"), ("d",), others=True, **KNOWN), "c != d"),
        (Choice("c", ("a", "b"), (), others=True, **KNOWN), "c is known"),
        (Choice("c", ("a", "b"), (), others=True, **HOLES), "c is any value (or missing)"),
        (Choice("c", (), (), others=False, **HOLES), "c is missing"),
        (Choice("c", (), ("a",), others=True, **HOLES), "c != a (or missing)"),
        (
            Choice("s", ("M",), ("S",), others=True, upto="M", **HOLES),
            "s <= M (or other, or missing)",
        ),
        (
            Choice("s", ("M",), (), others=False, after="S", upto="M", **HOLES),
            "S < s <= M (or missing)",
        ),
    ],
)
def test_a_condition_in_words_and_whether_a_hole_meets_it(condition: Any, text: str) -> None:
    assert str(condition) == text
    plain = json.loads(json.dumps(condition.to_dict(), allow_nan=False))
    assert (plain["text"], plain["missing"]) == (text, condition.missing)
    if isinstance(condition, Interval):
        assert plain["known"] == (not text.endswith(("is missing", "is no number")))


def test_long_lists_are_counted_on_request() -> None:
    condition = Choice("c", tuple(range(12)), (99,) * 20, others=False)
    assert condition.text(max_values=2) == "c in {0, 1, … (12 values)}"
    assert condition.text(max_values=12) == condition.text()
    assert set_text((True, False), None) == "{True, False}"


@pytest.mark.parametrize(
    "plain", ["a", "sepal length (cm)", "a-b", "été", "10:30", "other", "$5", "missing", "known"]
)
def test_what_cannot_be_misread_has_no_quotes(plain: str) -> None:
    assert quoted(plain) == plain


@pytest.mark.parametrize(
    "odd",
    [
        *("a, b", "a<b", "{", "x = 1", "a and b", "a or b", " a", "", 'say "so"', "a|b", "a\nb"),
        *(
            "a (or missing)",
            "a (or other, or missing)",
            "x is missing",
            "is known",
            "it is any one",
        ),
    ],
)
def test_what_could_be_misread_has_them(odd: str) -> None:
    assert json.loads(quoted(odd)) == odd


@given(st.text())
def test_names_read_back_and_stay_on_their_line(name: str) -> None:
    text = quoted(name)
    assert text.isprintable()
    assert (json.loads(text) if text.startswith('"') else text) == name


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(1e-3, 1e3))
def test_ends_read_back_to_the_bit(low: float, step: float) -> None:
    high = low + step
    first, name, last = str(Interval("x", low, high)).replace("<=", "<").split(" < ")
    assert name == "x"
    assert (float(first), float(last)) == (low, high)


@given(st.floats(-100_000, 100_000))
def test_dates_read_back_to_the_bit(days: float) -> None:
    text = moment_text(days)
    if text.endswith(" days"):
        assert abs(days) < 64  # from there on, neighboring numbers are more than 1e-9 s apart
        assert float(text.removesuffix(" days")) == days
    else:
        moment = np.datetime64(text)
        per_day = {"D": 1, "s": 86_400, "ms": 86_400 * 10**3, "us": 86_400 * 10**6}
        unit = np.datetime_data(moment)[0]
        assert int(moment.astype(np.int64)) / per_day.get(unit, 86_400 * 10**9) == days


def test_what_lies_in_both() -> None:
    whole = Interval("x", 4.3, 7.9, closed=True)
    assert Interval("x").within(whole) == whole
    assert Interval("x", high=5.0).within(whole) == Interval("x", 4.3, 5.0, closed=True)
    assert Interval("x", low=5.0).within(whole) == Interval("x", 5.0, 7.9)
    nothing_known = Interval("x", -math.inf, math.inf, closed=True)
    assert Interval("x", 1.0, 2.0).within(nothing_known) == Interval("x", 1.0, 2.0)
    with_holes = Interval("x", 4.3, 7.9, closed=True, **HOLES)
    assert str(Interval("x", high=5.0, **HOLES).within(with_holes)) == "4.3 <= x <= 5 (or missing)"
    assert str(Interval("x", high=5.0, **KNOWN).within(with_holes)) == "4.3 <= x <= 5"
    assert str(Interval("x", math.inf, **HOLES).within(with_holes)) == "x is missing"


@given(st.lists(st.text(), min_size=2, max_size=2))
def test_a_table_of_markdown_keeps_its_cells(cells: list[str]) -> None:
    lines = table_markdown(("a", "b"), [cells]).split("\n")
    assert [_pipes(line) for line in lines] == [3, 3, 3]
    assert "<b>" not in table_markdown(("a", "b"), [["<b>x</b>", "&lt;"]]).replace("\\<", "")


def _pipes(line: str) -> int:
    """Pipes that are not escaped."""
    return line.replace("\\\\", "").replace("\\|", "").count("|")


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0.000"), (1.0, "1.000"), (1 / 3, "0.333"), (0.9998, "0.9998"), (4e-7, "0.0000004")],
)
def test_a_share_is_none_or_all_only_where_it_is(share: float, text: str) -> None:
    assert share_text(share) == text


def test_signs_that_join_letters_need_no_quotes() -> None:
    word = "خانه\u200cها"
    assert quoted(word) == word
    assert quoted(f"{word}\u202e") == f'"{word}\\u202e"'


def test_marks_of_markdown_are_escaped() -> None:
    line = table_markdown(("a",), [["__init__ $x$ a_b"]]).split("\n")[-1]
    assert line == r"| \_\_init\_\_ \$x\$ a_b |"
