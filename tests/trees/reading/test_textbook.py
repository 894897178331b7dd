"""A fitted tree is read: the textbook's rules, its text, its explanations, and what is refused."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pytest
from tests.explained import read

from sortal import TreeClassifier, datasets
from sortal.errors import UnknownCategoryWarning

if TYPE_CHECKING:
    from collections.abc import Iterable

# Trees of one class are grown on purpose, or by chance.
pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.OneClassWarning")

X1, X2 = "sepal_length", "sepal_width"


def iris_model(backend: str = "pandas") -> Any:
    """Zaki & Meira, Example 19.2: setosa (c1) against the rest (c2)."""
    iris = datasets.iris(backend)
    y = np.where(np.asarray(iris["species"]) == "setosa", "c1", "c2")
    model: Any = TreeClassifier(purity=0.95, leaf_size=5, pruning=None, smoothing=None)
    return model.fit(iris[[X1, X2]], y)


def tennis_model() -> Any:
    model: Any = TreeClassifier(categorical_split="multiway", pruning=None)
    return model.fit(datasets.play_tennis(), "PlayTennis")


def sports_model() -> Any:
    model: Any = TreeClassifier(criterion="gini", pruning=None)
    return model.fit(datasets.loves_sports(), "LovesSports")


def fitted(columns: dict[str, Any], y: Any, **options: Any) -> Any:
    model: Any = TreeClassifier(**{"pruning": None, **options})
    return model.fit(pd.DataFrame(columns), y)


def ends(conditions: Iterable[Any]) -> list[tuple[str, float, float]]:
    return [(c.attribute, c.low, c.high) for c in conditions]


INF: Final = math.inf

IRIS_TEXT: Final = """\
root: n 150, c1: 50, c2: 100, purity 0.667, error 0.333
|  sepal_length <= 5.45: n 52, c1: 45, c2: 7, purity 0.865, error 0.135
|  |  sepal_width <= 2.8: n 7, c1: 1, c2: 6, purity 0.857, error 0.143
|  |  |  sepal_length <= 4.7: n 1, c1: 1, purity 1.000, error 0.000 -> c1
|  |  |  sepal_length > 4.7: n 6, c2: 6, purity 1.000, error 0.000 -> c2
|  |  sepal_width > 2.8: n 45, c1: 44, c2: 1, purity 0.978, error 0.022 -> c1
|  sepal_length > 5.45: n 98, c1: 5, c2: 93, purity 0.949, error 0.051
|  |  sepal_width <= 3.45: n 90, c2: 90, purity 1.000, error 0.000 -> c2
|  |  sepal_width > 3.45: n 8, c1: 5, c2: 3, purity 0.625, error 0.375
|  |  |  sepal_length <= 6.5: n 5, c1: 5, purity 1.000, error 0.000 -> c1
|  |  |  sepal_length > 6.5: n 3, c2: 3, purity 1.000, error 0.000 -> c2"""


# R3, R4, R1, R2, R5 and R6, as the tree has them, from the left.
RULES: Final = """\
3: If sepal_length <= 4.7 and sepal_width <= 2.8, then class is c1  (n 1, share 0.007, purity 1.000)
4: If 4.7 < sepal_length <= 5.45 and sepal_width <= 2.8, then class is c2  \
(n 6, share 0.040, purity 1.000)
5: If sepal_length <= 5.45 and sepal_width > 2.8, then class is c1  \
(n 45, share 0.300, purity 0.978)
7: If sepal_length > 5.45 and sepal_width <= 3.45, then class is c2  \
(n 90, share 0.600, purity 1.000)
9: If 5.45 < sepal_length <= 6.5 and sepal_width > 3.45, then class is c1  \
(n 5, share 0.033, purity 1.000)
10: If sepal_length > 6.5 and sepal_width > 3.45, then class is c2  \
(n 3, share 0.020, purity 1.000)"""


def test_the_rules_print_as_in_the_book() -> None:
    rules = iris_model().rules()
    assert str(rules) == RULES
    assert str(iris_model().rules(form="path")).splitlines()[0] == (
        "3: If sepal_length <= 5.45 and sepal_width <= 2.8 and sepal_length <= 4.7, "
        "then class is c1  (n 1, share 0.007, purity 1.000)"
    )
    assert (rules[2].counts, rules[2].classes, len(rules.unlisted)) == ((44, 1), ("c1", "c2"), 0)
    assert (rules[2].purity, rules[2].error) == pytest.approx((44 / 45, 1 / 45))
    frame = rules.to_frame()
    assert frame["leaf"].tolist() == [3, 4, 5, 7, 9, 10]
    assert frame["n"].tolist() == [1, 6, 45, 90, 5, 3]


def test_the_text_of_the_books_tree_and_where_it_is_cut() -> None:
    model, lines = iris_model(), IRIS_TEXT.splitlines()
    assert model.to_text() == IRIS_TEXT
    for depth, cut in enumerate([{0: 6}, {1: 3, 6: 3}, {2: 2, 8: 2}, {}, {}]):
        expected = [
            line + (f" … {cut[t]} leaves below" if t in cut else "")
            for t, line in enumerate(lines)
            if line.count("|  ") <= depth
        ]
        assert model.to_text(max_depth=depth).splitlines() == expected


def test_the_boxes_of_the_books_regions() -> None:
    """Clipped to [4.3, 7.9] × [2.0, 4.4], closed below at the minimum."""
    expected = [
        [(X1, 4.3, 4.7), (X2, 2.0, 2.8)],
        [(X1, 4.7, 5.45), (X2, 2.0, 2.8)],
        [(X1, 4.3, 5.45), (X2, 2.8, 4.4)],
        [(X1, 5.45, 7.9), (X2, 2.0, 3.45)],
        [(X1, 5.45, 6.5), (X2, 3.45, 4.4)],
        [(X1, 6.5, 7.9), (X2, 3.45, 4.4)],
    ]
    rules = iris_model().rules()
    assert [ends(rule.box) for rule in rules] == expected
    for rule in rules:
        for side in rule.box:
            assert side.closed == (side.low in {4.3, 2.0})
        assert not any(c.closed for c in (*rule.path, *rule.merged))


def test_the_books_point_reaches_its_leaf() -> None:
    """z = (6.75, 4.25): through 0, 6 and 8 to leaf 10, where all are c2."""
    (record,) = map(read, iris_model().explain(pd.DataFrame({X1: [6.75], X2: [4.25]})))
    assert [move.node for move in record.parts] == [0, 6, 8]
    assert (record.node, record.label, record.n) == (10, "c2", 3)
    assert ends(record.rule) == [(X1, 6.5, INF), (X2, 3.45, INF)]
    conditions = [str(move.condition) for move in record.parts]
    assert conditions == ["sepal_length > 5.45", "sepal_width > 3.45", "sepal_length > 6.5"]
    assert [move.value for move in record.parts] == [6.75, 4.25, 6.75]
    assert [move.n for move in record.parts] == [150, 98, 8]
    shares = [100 / 150, 93 / 98, 3 / 8, 1.0]
    assert record.start == pytest.approx(100 / 150)
    steps = [after - before for before, after in pairwise(shares)]
    assert [move.amount for move in record.parts] == pytest.approx(steps)
    assert [move.mark for move in record.parts] == ["", "", ""]
    assert record.fallback is False
    assert (record.counts, record.probabilities) == ((0, 3), (0.0, 1.0))
    assert record.classes == ("c1", "c2")


@pytest.mark.parametrize("form", ["path", "merged"])
def test_the_disjunction_prints_in_signs_of_logic(form: str) -> None:
    no, yes = tennis_model().rules(by="class", form=form)
    assert (no.label, no.n, yes.label, yes.n) == ("No", 5, "Yes", 9)
    assert yes.share == pytest.approx(9 / 14)
    assert " ".join(str(tennis_model().rules(by="class", form=form)).split()) == (
        "No: (Outlook = Rain ∧ Wind = Strong) ∨ (Outlook = Sunny ∧ Humidity = High) "
        "Yes: (Outlook = Overcast) ∨ (Outlook = Rain ∧ Wind = Weak) "
        "∨ (Outlook = Sunny ∧ Humidity = Normal)"
    )


def test_rows_that_a_node_keeps_have_rules_of_their_own() -> None:
    rules = tennis_model().rules()
    assert len(rules) == 5
    assert [rule.leaf for rule in rules.unlisted] == [0, 2, 5]
    root, rain, sunny = rules.unlisted
    assert (root.n, root.size, root.label, root.counts) == (14, 14, "Yes", (5, 9))
    assert root.probabilities == pytest.approx((5 / 14, 9 / 14))
    assert root.share == 1
    assert (rain.n, rain.label, rain.counts) == (5, "Yes", (2, 3))
    assert (sunny.n, sunny.label, sunny.counts) == (5, "No", (3, 2))
    (condition,) = root.path
    assert (condition.attribute, condition.values, condition.others) == ("Outlook", (), True)
    assert set(condition.against) == {"Overcast", "Rain", "Sunny"}
    assert "Outlook not in {Overcast, Rain, Sunny}" in str(rules)
    assert str(rain.path[1]) == "Wind not in {Strong, Weak}"


def test_a_day_of_unknown_outlook_stays_at_the_root() -> None:
    model = tennis_model()
    day = datasets.play_tennis()[:1].assign(Outlook="Hail")
    with pytest.warns(UnknownCategoryWarning, match="1 cell"):
        (record,) = map(read, model.explain(day))
    assert (record.node, record.label, record.fallback) == (0, "Yes", True)
    (move,) = record.parts
    assert (move.node, move.value, move.mark, move.amount) == (0, "Hail", "unknown", 0)
    assert record.start == record.probabilities[1] == pytest.approx(9 / 14)
    assert tuple(record.rule) == model.rules().unlisted[0].merged


def test_the_branch_of_larger_weight_takes_other_values_too() -> None:
    """Three of seven do not love movies: whoever is unknown goes with the four."""
    first, second, third = sports_model().rules()
    assert [rule.merged[0].others for rule in (first, second, third)] == [False, True, True]
    assert str(first.merged[0]) == "LovesMovies = No"
    assert [str(c) for c in second.merged] == ["LovesMovies = Yes (or other)", "Age <= 12.5"]
    person = datasets.loves_sports()[:1].assign(LovesMovies="Some", Age=50.0)
    with pytest.warns(UnknownCategoryWarning):
        (record,) = map(read, sports_model().explain(person))
    assert record.node == third.leaf
    assert [move.mark for move in record.parts] == ["unknown", ""]
    assert record.fallback is True


def branches(model: Any) -> list[str]:
    """The conditions of the root's branches."""
    lines = [line for line in model.to_text().splitlines()[1:] if line.count("|  ") == 1]
    return [line[3:].rsplit(": n ", 1)[0] for line in lines]


WRITTEN: Final[list[tuple[str, str, list[str]]]] = [
    ("aab", "001", ["x = a (or other)", "x = b"]),
    ("abb", "011", ["x = a", "x = b (or other)"]),
    ("abbcc", "01111", ["x = a", "x != a"]),
    ("aabc", "0011", ["x = a (or other)", "x in {b, c}"]),
    ("abcde", "00111", ["x in {a, b}", "x not in {a, b}"]),
    ("abcd", "0011", ["x in {a, b} (or other)", "x in {c, d}"]),
    ("aaabbbcde", "000000111", ["x in {a, b} (or other)", "x in {c, d, e}"]),
]


@pytest.mark.parametrize(("cells", "labels", "expected"), WRITTEN)
def test_sets_are_written_by_their_shorter_side(
    cells: str, labels: str, expected: list[str]
) -> None:
    """The heavier branch, the first of equals, takes values that the node does not list."""
    assert branches(fitted({"x": list(cells)}, list(labels))) == expected


def test_cuts_of_an_ordered_category_are_merged() -> None:
    levels = ["S", "M", "L", "XL"]
    x = pd.Categorical(["S", "M", "M", "L", "L", "XL"], categories=levels, ordered=True)
    rules = fitted({"x": x}, list("011110")).rules()
    assert [str(rule.merged[0]) for rule in rules] == ["x <= S", "S < x <= L (or other)", "x > L"]
    assert [set(rule.merged[0].values) for rule in rules] == [{"S"}, {"M", "L"}, {"XL"}]
    assert branches(fitted({"x": x}, list("000001"))) == ["x <= L (or other)", "x > L"]


def many_words() -> Any:
    words = [f"w{i:02}" for i in range(40)]
    return fitted({"word": words}, [i % 2 for i in range(40)], max_depth=1)


def test_all_values_are_said_unless_told() -> None:
    model = many_words()
    odd = [f"w{i:02}" for i in range(1, 40, 2)]
    for text in (model.to_text(), str(model.rules()), model.rules().to_text()):
        assert "…" not in text
        assert ", ".join(odd) in text
    assert model.to_frame()["test"].tolist() == model.to_frame(max_values=10)["test"].tolist()
    assert "…" not in model.to_frame(max_values=None)["test"].iloc[0]
    assert "…" not in model.rules().to_markdown()
    assert not model.rules().to_frame()["if"].str.contains("…").any()


@pytest.mark.parametrize("most", [1, 3, 10])
def test_of_many_values_no_more_than_told_are_named(most: int) -> None:
    model = many_words()
    rules = model.rules()
    texts = [
        *model.to_text(max_values=most).splitlines()[1:],
        *rules.to_text(max_values=most).splitlines()[:2],
        *rules.to_markdown(max_values=most).splitlines()[2:],
        *rules.to_frame(max_values=most)["if"],
        model.to_frame(max_values=most)["test"].iloc[0],
    ]
    for text in texts:
        named = [
            word for word in text.replace(",", " ").replace("{", " ").split() if word[0] == "w"
        ]
        assert len([word for word in named if word != "word"]) <= most
        assert "… (20 values)" in text


def test_levels_that_no_row_had_are_no_values_of_a_rule() -> None:
    """They are as unknown as any other word, and go with the others."""
    levels = pd.Categorical(list("aabbcc"), categories=list("abcz"))
    model = fitted({"c": levels}, list("001111"))
    yes, no = model.rules()
    assert (yes.merged[0].values, yes.merged[0].others) == (("a",), False)
    assert (no.merged[0].values, no.merged[0].against, no.merged[0].others) == (
        *(("b", "c"), ("a",)),
        True,
    )


def test_a_tree_of_one_leaf() -> None:
    model = fitted({"x": [1.0, 1.0]}, ["a", "a"])
    assert model.to_text() == "root: n 2, a: 2, purity 1.000, error 0.000 -> a"
    (rule,) = model.rules()
    assert (rule.leaf, rule.path, rule.merged, rule.share) == (0, (), (), 1)
    assert ends(rule.box) == [("x", 1.0, 1.0)]
    assert "class is a" in str(model.rules())
    (record,) = map(read, model.explain(pd.DataFrame({"x": [7.0]})))
    assert (record.path, record.start, record.fallback) == ((), 1, False)


def test_an_unknown_value_of_a_column_that_is_not_asked_is_no_fallback() -> None:
    model = fitted({"x": [1.0, 2.0], "word": ["a", "a"]}, [0, 1])
    with pytest.warns(UnknownCategoryWarning):
        (record,) = map(read, model.explain(pd.DataFrame({"x": [1.0], "word": ["b"]})))
    assert record.fallback is False


def test_rules_are_a_sequence_of_frozen_records() -> None:
    rules = iris_model().rules()
    listed = list(rules)
    assert len(rules) == len(listed) == 6
    for part in (slice(1, 3), slice(None, None, -1), slice(-2, None), slice(9, None)):
        assert list(rules[part]) == listed[part]
    assert (rules[-1], rules[0], list(reversed(rules))) == (listed[5], listed[0], listed[::-1])
    assert listed[3] in rules
    assert rules.index(listed[4]) == 4
    for i in (6, -7):
        with pytest.raises(IndexError):
            rules[i]
    tennis = tennis_model()
    (day,) = tennis.explain(datasets.play_tennis()[:1])
    shown = (rules[0].path[0], tennis.rules()[0].merged[0], tennis.rules().unlisted[0])
    for record in (rules[0], *shown, tennis.rules(by="class")[0], day, day.facts["path"][0]):
        with pytest.raises(FrozenInstanceError):
            record.label = "other"
