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
from sortal.trees.branches import IntervalCondition, SetCondition, set_text

MISSING: dict[str, Any] = {"missing": True, "told": True}
KNOWN: dict[str, Any] = {"missing": False, "told": True}


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (IntervalCondition("x", high=5.45), "x <= 5.45"),
        (IntervalCondition("x", low=2.0), "x > 2"),
        (IntervalCondition("x", 1e-300, 0.1), "1e-300 < x <= 0.1"),
        (IntervalCondition("x", 4.3, 7.9, closed=True), "4.3 <= x <= 7.9"),
        (IntervalCondition("day", low=18262.5, is_date=True), "day > 2020-01-01T12:00:00"),
        (SetCondition("c", ("a",), ("b", "d"), others=False), "c = a"),
        (SetCondition("c", ("a", "b"), ("d",), others=False), "c in {a, b}"),
        (SetCondition("c", ("a", "b"), ("d",), others=True), "c != d"),
        (SetCondition("c", ("a", "b", "z"), ("d", "e"), others=True), "c not in {d, e}"),
        (SetCondition("c", ("a",), ("d",), others=True), "c = a (or other)"),
        (SetCondition("c", ("a", "b"), ("d", "e"), others=True), "c in {a, b} (or other)"),
        (SetCondition("c", (), ("a", "b"), others=True), "c not in {a, b}"),
        (SetCondition("s", ("S", "M"), ("L",), others=False, upto="M"), "s <= M"),
        (SetCondition("s", ("L",), ("S", "M"), others=True, after="M"), "s > M (or other)"),
        (SetCondition("s", ("M",), ("S", "L"), others=False, after="S", upto="M"), "S < s <= M"),
        (IntervalCondition("x", high=5.0, **MISSING), "x <= 5 (or missing)"),
        (IntervalCondition("x", high=5.0, **KNOWN), "x <= 5"),
        (
            IntervalCondition("x", high=5.0, missing=True),
            "x <= 5",
        ),  # the column had no missing values: not told
        (IntervalCondition("x", low=5.0, **MISSING), "x > 5 (or missing)"),
        (IntervalCondition("x", 2.0, 5.0, **MISSING), "2 < x <= 5 (or missing)"),
        (IntervalCondition("x", 2.0, 5.0, closed=True, **MISSING), "2 <= x <= 5 (or missing)"),
        (IntervalCondition("x", 2.0, 2.0, closed=True, **MISSING), "2 <= x <= 2 (or missing)"),
        (IntervalCondition("x", **KNOWN), "x is known"),
        (IntervalCondition("x", **MISSING), "x is any number (or missing)"),
        (IntervalCondition("x", missing=True), "x is any number"),
        (IntervalCondition("x", math.inf, math.inf, **MISSING), "x is missing"),
        (IntervalCondition("x", math.inf, 5.0, **MISSING), "x is missing"),
        (
            IntervalCondition("day", low=18262.5, is_date=True, **MISSING),
            "day > 2020-01-01T12:00:00 (or missing)",
        ),
        (IntervalCondition("day", math.inf, 5.0, is_date=True, **KNOWN), "day is no number"),
        (SetCondition("c", ("a",), ("b",), others=False, **MISSING), "c = a (or missing)"),
        (SetCondition("c", ("a", "b"), (), others=False, **MISSING), "c in {a, b} (or missing)"),
        (SetCondition("c", ("a",), ("d",), others=True, **MISSING), "c = a (or other, or missing)"),
        (SetCondition("c", ("a", "b"), ("d",), others=True, **MISSING), "c != d (or missing)"),
        (SetCondition("c", ("a", "b"), ("d",), others=True, **KNOWN), "c != d"),
        (SetCondition("c", ("a", "b"), (), others=True, **KNOWN), "c is known"),
        (SetCondition("c", ("a", "b"), (), others=True, **MISSING), "c is any value (or missing)"),
        (SetCondition("c", (), (), others=False, **MISSING), "c is missing"),
        (SetCondition("c", (), ("a",), others=True, **MISSING), "c != a (or missing)"),
        (
            SetCondition("s", ("M",), ("S",), others=True, upto="M", **MISSING),
            "s <= M (or other, or missing)",
        ),
        (
            SetCondition("s", ("M",), (), others=False, after="S", upto="M", **MISSING),
            "S < s <= M (or missing)",
        ),
    ],
)
def test_a_condition_in_words_and_whether_a_missing_value_meets_it(
    condition: Any, text: str
) -> None:
    assert str(condition) == text
    plain = json.loads(json.dumps(condition.to_dict(), allow_nan=False))
    assert (plain["text"], plain["missing"]) == (text, condition.missing)
    if isinstance(condition, IntervalCondition):
        assert plain["known"] == (not text.endswith(("is missing", "is no number")))


def test_long_lists_are_counted_on_request() -> None:
    condition = SetCondition("c", tuple(range(12)), (99,) * 20, others=False)
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
    first, name, last = str(IntervalCondition("x", low, high)).replace("<=", "<").split(" < ")
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
    whole = IntervalCondition("x", 4.3, 7.9, closed=True)
    assert IntervalCondition("x").within(whole) == whole
    assert IntervalCondition("x", high=5.0).within(whole) == IntervalCondition(
        "x", 4.3, 5.0, closed=True
    )
    assert IntervalCondition("x", low=5.0).within(whole) == IntervalCondition("x", 5.0, 7.9)
    nothing_known = IntervalCondition("x", -math.inf, math.inf, closed=True)
    assert IntervalCondition("x", 1.0, 2.0).within(nothing_known) == IntervalCondition(
        "x", 1.0, 2.0
    )
    with_missing = IntervalCondition("x", 4.3, 7.9, closed=True, **MISSING)
    assert (
        str(IntervalCondition("x", high=5.0, **MISSING).within(with_missing))
        == "4.3 <= x <= 5 (or missing)"
    )
    assert str(IntervalCondition("x", high=5.0, **KNOWN).within(with_missing)) == "4.3 <= x <= 5"
    assert str(IntervalCondition("x", math.inf, **MISSING).within(with_missing)) == "x is missing"


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
