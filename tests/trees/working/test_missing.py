"""The working of nodes with missing values: against brute force, by hand, and by its own laws.

The oracle of trees with missing values lists the allowed tests of a node with their scores.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.trees.oracle import (
    CUT,
    MULTIWAY,
    PAIRS,
    POLICIES,
    Node,
    Oracle,
    Rules,
    Table,
    Test,
    fit,
    grow_beside,
    preorder,
)
from tests.trees.test_oracle_missing import limits, tables
from tests.trees.working.test_node import only_row

from sortal import TreeClassifier, datasets
from sortal.trees.branches import set_text
from sortal.trees.split_scores import score_counts

if TYPE_CHECKING:
    from sortal.trees.learn import Criterion, Policy

pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")

# Each criterion and each policy twice.
SOME_PAIRS: Final = (
    *(("gain", "direction"), ("gain", "fractional"), ("gain_ratio", "branch")),
    *(("gain_ratio", "majority"), ("gini", "direction"), ("gini", "branch")),
    *(("cart", "majority"), ("cart", "fractional")),
)


def name_of(table: Table, j: int, code: float) -> Any:
    value = table.values(j)[int(code)]
    return bool(value) if table.columns[j].look == "truth" else f"v{int(value)}"


def row_of(table: Table, test: Test, policy: str, has_missing: bool) -> tuple[Any, ...]:
    """How a table of tests names a test: its threshold or V, and where missing values go."""
    j = test.attribute
    word = ("yes", "no", "own branch")[test.missing] if test.missing >= 0 else "every branch"
    is_alone = has_missing and (test.threshold == math.inf or () in test.sides[:2])
    where = ("alone" if is_alone else word) if has_missing else None
    if test.kind != CUT:
        return set_text([name_of(table, j, code) for code in test.sides[0]]), where
    if test.threshold == math.inf:
        return None, where
    is_word = table.columns[j].look == "ordered"
    return f"v{math.floor(test.threshold)}" if is_word else test.threshold, where


def listed(working: Any, name: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    table = working[name]
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    found = {(row.get("v", row.get("V")), row.get("missing")): row for row in rows}
    assert len(found) == len(rows)
    return found


def check_two_sided(working: Any, oracle: Oracle, node: Node, j: int) -> None:
    """All allowed tests are listed with their scores; others that are tell nothing."""
    tally, table = oracle.tally(j, node.held), oracle.table
    is_rough = any(w != table.weights[i] for i, w in node.held)
    rows = listed(working, f"x{j}")
    for test in oracle.tests(j, node.held):
        row = rows.pop(row_of(table, test, oracle.rules.missing, tally.has_missing))
        assert row["score"] == pytest.approx(oracle.score(test, node.n), rel=1e-9, abs=1e-9)
        assert row["allowed"] or (is_rough and test.amount < 1e-9)
        check_counts(row, oracle, tally, test)
    assert all(not row["allowed"] or (is_rough and row["score"] < 1e-9) for row in rows.values())
    if oracle.rules.criterion != "gain_ratio":  # which compares attributes by their averages
        ranked = {
            row["rank"]: row["score"] for row in listed(working, f"x{j}").values() if row["allowed"]
        }
        scores = [ranked[rank] for rank in sorted(ranked)]
        assert scores == pytest.approx(sorted(scores, reverse=True), abs=1e-12)


def check_counts(row: dict[str, Any], oracle: Oracle, tally: Any, test: Test) -> None:
    """N or n(V) are the yes side with its missing values; missing values are counted beside."""
    yes = tally.part(test.sides[0])
    if oracle.rules.missing == "direction" and test.missing == 0:
        yes = tuple(a + b for a, b in zip(yes, tally.missing, strict=True))
    for k, label in enumerate(oracle.table.labels):
        word = f"N(c{label})" if test.kind == CUT else f"n(V, c{label})"
        assert row[word] == pytest.approx(float(yes[k]), abs=1e-9)
        assert row[f"P(c{label}|Y)"] == pytest.approx(float(Fraction(yes[k]) / sum(yes[:-1])))
        if tally.has_missing:
            assert row[f"n(missing, c{label})"] == pytest.approx(float(tally.missing[k]), abs=1e-9)
    if not tally.has_missing:
        check_known(row, oracle.table.labels, yes[:-1], tally.part(test.sides[1])[:-1])


def check_known(row: dict[str, Any], labels: list[int], yes: Any, no: Any) -> None:
    """Shares and measures of two sides of known values."""
    for label, a, b in zip(labels, yes, no, strict=True):
        assert row[f"P(c{label}|N)"] == pytest.approx(float(Fraction(b) / sum(no)))
        if f"P(X<=v|c{label})" in row:
            share = None if a + b == 0 else pytest.approx(float(Fraction(a) / (a + b)))
            assert row[f"P(X<=v|c{label})"] == share
    measures = measures_of([yes, no], labels)
    for name in measures.keys() & row.keys():
        assert row[name] == pytest.approx(measures[name], abs=1e-12), name


def measures_of(parts: list[Any], labels: list[int]) -> dict[str, float]:
    """What `score_counts` says of whole weights; nothing of others."""
    if any(Fraction(c).denominator > 1 for part in parts for c in part):
        return {}
    units = np.array([[int(c) for c in part] for part in parts])
    split = score_counts(units, tuple(range(len(parts))), tuple(labels), 0)
    return {
        "split entropy": split.split_entropy,
        "split Gini": split.split_gini,
        "gain": split.gain,
        "split information": split.split_information,
    }


def check_multiway(working: Any, oracle: Oracle, node: Node, j: int) -> None:
    """Its offer has the score of the best join, and every join that is allowed its own."""
    tests, table = oracle.tests(j, node.held), working[f"x{j}"]
    tally = oracle.tally(j, node.held)
    (offer,) = (row for row in working["tests"].rows if row[1] == f"x{j}")
    if not tests:
        assert offer[3] is None or offer[3] < 1e-9
        return
    best = max(tests, key=lambda test: test.amount)
    if offer[3] is not None or best.amount > 1e-9:
        assert offer[3] == pytest.approx(oracle.score(best, node.n), rel=1e-9, abs=1e-9)
    assert (table.column("value")[-1] is None) == tally.has_missing
    if not tally.has_missing:
        parts = [tally.known[value][:-1] for value in sorted(tally.known)]
        measures = measures_of(parts, oracle.table.labels)
        name = "entropy" if "entropy" in table.columns else "Gini"
        after = np.average(table.column(name), weights=[float(sum(part)) for part in parts])
        assert after == pytest.approx(measures.get(f"split {name}", after), abs=1e-12)
    if tally.has_missing and oracle.rules.missing == "direction":
        scores = table.column("score if missing here")
        for test in tests:
            expected = oracle.score(test, node.n)
            assert scores[test.missing] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def check_node(model: Any, oracle: Oracle, t: int, node: Node, words: str | None) -> None:
    """`words` are those of the fitted tree for the node's test."""
    table = oracle.table
    working = model.working(t, table.frame(), table.y, table.sample_weight)
    first = working["tests"].rows[0]
    if words:
        assert (first[0], first[2], first[-1]) == (1, words, True)
        assert first[3] == pytest.approx(model._model.score[t], rel=1e-12, abs=1e-15)
        own = working[model._schema.names[model._model.attribute[t]]]
        if "rank" in own.columns:
            assert [row[-1] for row in own.rows].count(True) == 1
            assert own.column("rank")[own.column("chosen").index(True)] == 1
    for j, column in enumerate(table.columns):
        if not any(cell is not None for cell in column.cells):
            continue  # the kind of such a column is not known
        check = check_multiway if column.kind == MULTIWAY else check_two_sided
        check(working, oracle, node, j)
    json.dumps(working.to_dict(), allow_nan=False)
    working.to_frame()


def check_tree(table: Table, rules: Rules, **options: Any) -> None:
    model = fit(table, rules, **options)
    oracle = Oracle(table, rules)
    told = model.to_frame(max_values=None)["test"]
    for t, node in enumerate(preorder(grow_beside(model, table, rules))):
        check_node(model, oracle, t, node, told[t])


# Fewer examples than others have: each asks for the working of every node of a tree.
@pytest.mark.parametrize(
    ("criterion", "policy"),
    [pytest.param(*pair, marks=[pytest.mark.full] * (pair not in SOME_PAIRS)) for pair in PAIRS],
)
@settings(max_examples=min(12, settings().max_examples // 5))
@given(data=st.data())
def test_every_test_is_that_of_brute_force(criterion: str, policy: str, data: Any) -> None:
    options = data.draw(st.just({}) | limits)
    table = data.draw(tables(criterion=criterion))
    check_tree(table, Rules(criterion, policy, max_depth=2, **options))


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=2)
@given(data=st.data())
def test_weights_with_fractions(policy: str, data: Any) -> None:
    table = data.draw(tables(weightings=("eighths",), rates=(0.1, 0.3)))
    check_tree(table, Rules("gain", policy, max_depth=2))


def tennis_without_one_outlook() -> Any:
    tennis = datasets.play_tennis()
    outlook = tennis["Outlook"].astype(object)
    outlook.iloc[11] = None
    return tennis.assign(Outlook=outlook)


def test_play_tennis_without_one_outlook_by_c45() -> None:
    """Quinlan's example: 13/14 of the gain of the known days; missing adds information."""
    tennis = tennis_without_one_outlook()
    c45 = TreeClassifier(
        "gain_ratio", categorical_split="multiway", missing="fractional", pruning=None
    )
    working = c45.fit(tennis, "PlayTennis").working(0, tennis, "PlayTennis")
    head = working["tests"].columns
    (row,) = (row for row in working["tests"].rows if row[1] == "Outlook")
    told: list[Any] = [row[head.index(name)] for name in ("gain", "split information", "score")]
    assert [round(number, 3) for number in told] == [0.199, 1.809, 0.110]
    values = working["Outlook"]
    assert values.column("value") == ("Overcast", "Rain", "Sunny", None)
    assert values.column("n(Yes)") == (3.0, 3.0, 2.0, 1.0)
    assert values.column("P(v|missing)") == (3 / 13, 5 / 13, 5 / 13, None)


def test_the_parts_of_a_day_are_those_of_the_fit() -> None:
    """5/13 of the day without an outlook come to the sunny ones."""
    tennis = tennis_without_one_outlook()
    id3 = TreeClassifier(categorical_split="multiway", missing="fractional", pruning=None)
    id3.fit(tennis, "PlayTennis")
    nodes = id3.to_frame()
    sunny = int(nodes.index[(nodes["parent"] == 0) & (nodes["branch"] == 2)][0])
    working: Any = id3.working(sunny, tennis, "PlayTennis")
    assert sum(working["Humidity"].column("n(Yes)")) == pytest.approx(2 + 5 / 13)
    assert working["tests"].rows[0][-1] is True


def test_cuts_have_missing_values_on_either_side() -> None:
    X = pd.DataFrame({"x": [1.0, 1, 2, 3, 3, np.nan, np.nan]})
    y = list("aabbbaa")
    working = TreeClassifier(pruning=None).fit(X, y).working(0, X, y)
    table = working["x"]
    assert table.column("v") == (1.5, 1.5, 2.5, 2.5, None)
    assert table.column("missing") == ("yes", "no", "yes", "no", "alone")
    assert table.column("N(a)") == (4, 2, 4, 2, 2)
    assert table.column("N(b)") == (0, 0, 1, 1, 3)
    assert table.column("n(missing, a)") == (2,) * 5
    assert table.column("chosen") == (True, *[False] * 4)
    assert working["tests"].rows[0][2] == "x <= 1.5, missing: yes"


def test_what_a_branch_is_worth_to_missing_values_that_join_it() -> None:
    X = pd.DataFrame({"x": ["u", "u", "v", "v", None]})
    y = list("aabbb")
    model = TreeClassifier(categorical_split="multiway", pruning=None).fit(X, y)
    working = model.working(0, X, y)
    table = working["x"]
    assert table.column("P(v|missing)") == (0.0, 1.0, None)
    assert table.column("score if missing here")[1] == only_row(working["test"])["score"]
    assert working["tests"].rows[0][2] == "x: u | v, missing: v"


def test_whether_a_value_is_known_is_no_hyperplane() -> None:
    X = pd.DataFrame({"x": [1.0, 1, np.nan, np.nan]})
    y = list("aabb")
    model = TreeClassifier(pruning=None).fit(X, y)
    working = model.working(0, X, y)
    assert only_row(working["test"])["test"] == "x is known"
    assert "hyperplane" not in [table.name for table in working]
    assert "hyperplane" not in [table.name for table in model.working(0)]


@pytest.mark.parametrize(("criterion", "policy"), [SOME_PAIRS[0], *SOME_PAIRS[1::2]])
def test_many_values_and_classes_that_count_for_more(criterion: Criterion, policy: Policy) -> None:
    """More values than are listed in sets, dates, weights of classes: the tree's test is first."""
    rng = np.random.default_rng(5)
    n = 300
    y = rng.integers(3, size=n)
    codes = np.where(rng.random(n) < 0.5, y * 5 + rng.integers(5, size=n), rng.integers(15, size=n))
    days = pd.Series(pd.Timestamp("2024-01-01") + pd.to_timedelta(codes * 86_401, unit="s"))
    words = pd.Series([f"v{c:02}" for c in rng.permutation(15)[codes]], dtype=object)
    X = pd.DataFrame({"day": days, "word": words, "few": codes % 4 * 1.0})
    for name in X:
        X.loc[rng.random(n) < 0.2, name] = None
    options: dict[str, Any] = {
        "class_weight": {0: 1, 1: 2.5, 2: 1},
        "max_depth": 3,
        "min_samples_leaf": 5,
    }
    weight = rng.integers(1, 4, size=n) / 2 if policy != "direction" else None
    model = TreeClassifier(criterion, missing=policy, **{"pruning": None, **options}).fit(
        X, y, weight
    )
    for t, test in enumerate(model.to_frame(max_values=None)["test"]):
        working = model.working(t, X, y, weight)
        first, node = working["tests"].rows[0], working["node"]
        assert list(node.column("n_i")) == model._model.counts()[t].tolist()
        pulled = np.array(node.column("weight in tests"), dtype=float)
        assert pulled.sum() == pytest.approx(model._model.pull()[t])
        if test:
            assert (first[2], first[-1]) == (test, True)
            assert first[3] == pytest.approx(model._model.score[t], rel=1e-12)
