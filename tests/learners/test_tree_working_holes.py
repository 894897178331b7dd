"""The working of nodes that met holes: against brute force, by hand, and against its own laws.

The oracle of trees with holes lists the allowed tests of a node with their scores.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.estimators.test_tree_holes_oracle import limits, tables
from tests.estimators.tree_oracle_holes import (
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

from sortal import TreeClassifier, datasets
from sortal.errors import InputError
from sortal.models.conditions import set_text

pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")

FEW: Final = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
every_pair = pytest.mark.parametrize(("criterion", "policy"), PAIRS)
every_policy = pytest.mark.parametrize("policy", POLICIES)


# --- Against brute force -------------------------------------------------------------------------


def name_of(table: Table, j: int, code: float) -> Any:
    value = table.values(j)[int(code)]
    return bool(value) if table.columns[j].look == "truth" else f"v{int(value)}"


def row_of(table: Table, test: Test, policy: str, has_holes: bool) -> tuple[Any, ...]:
    """How a table of tests names a test: its threshold or V, and where holes go."""
    j = test.attribute
    word = ("yes", "no", "own branch")[test.missing] if test.missing >= 0 else "every branch"
    is_alone = has_holes and (test.threshold == math.inf or () in test.sides[:2])
    where = ("alone" if is_alone else word) if has_holes else None
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
    """All allowed tests are listed with their scores; what else is allowed tells next to nothing."""
    tally, table = oracle.tally(j, node.held), oracle.table
    is_rough = any(w != table.weights[i] for i, w in node.held)
    rows = listed(working, f"x{j}")
    for test in oracle.tests(j, node.held):
        row = rows.pop(row_of(table, test, oracle.rules.missing, tally.has_holes))
        assert row["score"] == pytest.approx(oracle.score(test, node.n), rel=1e-9, abs=1e-9)
        assert row["allowed"] or (is_rough and test.amount < 1e-9)
        check_counts(row, oracle, tally, test)
    assert all(not row["allowed"] or (is_rough and row["score"] < 1e-9) for row in rows.values())


def check_counts(row: dict[str, Any], oracle: Oracle, tally: Any, test: Test) -> None:
    """N or n(V) are the yes side with its holes; holes are counted beside."""
    yes = tally.part(test.sides[0])
    if oracle.rules.missing == "direction" and test.missing == 0:
        yes = tuple(a + b for a, b in zip(yes, tally.holes, strict=True))
    for k, label in enumerate(oracle.table.labels):
        word = f"N(c{label})" if test.kind == CUT else f"n(V, c{label})"
        assert row[word] == pytest.approx(float(yes[k]), abs=1e-9)
        assert row[f"P(c{label}|Y)"] == pytest.approx(float(Fraction(yes[k]) / sum(yes[:-1])))
        if tally.has_holes:
            assert row[f"n(missing, c{label})"] == pytest.approx(float(tally.holes[k]), abs=1e-9)


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
    assert (table.column("value")[-1] is None) == tally.has_holes
    if tally.has_holes and oracle.rules.missing == "direction":
        scores = table.column("score if missing here")
        for test in tests:
            expected = oracle.score(test, node.n)
            assert scores[test.missing] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def check_node(model: Any, oracle: Oracle, t: int, node: Node) -> None:
    table = oracle.table
    working = model.working(t, table.frame(), table.y, table.sample_weight)
    words = model.to_frame(max_values=None)["test"][t]
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
    for t, node in enumerate(preorder(grow_beside(model, table, rules))):
        check_node(model, oracle, t, node)


@every_pair
@FEW
@given(data=st.data())
def test_every_test_is_that_of_brute_force(criterion: str, policy: str, data: Any) -> None:
    table = data.draw(tables(criterion=criterion))
    check_tree(table, Rules(criterion, policy, max_depth=2))


@every_pair
@FEW
@given(data=st.data())
def test_limits_hold_with_holes(criterion: str, policy: str, data: Any) -> None:
    table = data.draw(tables(criterion=criterion, rates=(0.1, 0.3, 0.6)))
    check_tree(table, Rules(criterion, policy, max_depth=2, **data.draw(limits)))


@every_policy
@FEW
@given(data=st.data())
def test_weights_with_fractions(policy: str, data: Any) -> None:
    table = data.draw(tables(weightings=("eighths",), rates=(0.1, 0.3)))
    check_tree(table, Rules("gain", policy, max_depth=2))
