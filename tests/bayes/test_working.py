"""The working of DiscreteBayes: its tables against sums done by hand and by brute force."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pytest

from sortal import DiscreteBayes, datasets
from sortal.errors import MissingValueWarning

if TYPE_CHECKING:
    from sortal.bayes.learn import Structure
    from sortal.records.tables import Table

# Counts of No and Yes by value; 5 days of No, 9 of Yes.
TENNIS: Final = {
    "Outlook": {"Overcast": (0, 4), "Rain": (2, 3), "Sunny": (3, 2)},
    "Temperature": {"Cool": (1, 3), "Hot": (2, 2), "Mild": (2, 4)},
    "Humidity": {"High": (4, 3), "Normal": (1, 6)},
    "Wind": {"Strong": (3, 3), "Weak": (2, 6)},
}
DAYS: Final = (5, 9)
RULE: Final = ("row", "class", "P(x|c)", "P(c)", "P(x|c)P(c)", "ln P(x|c)P(c)", "P(c|x)")
MIXED: Final = pd.DataFrame(
    {
        "size": [1.0, 2.0, 4.0, 8.0, 3.0, 3.0],
        "same": [7.0] * 6,
        "word": ["u", "v", "u", "v", "u", "v"],
    }
)
LABELS: Final = np.array(["p", "p", "p", "p", "q", "q"])


def tennis(**options: Any) -> DiscreteBayes:
    return DiscreteBayes(**options).fit(datasets.play_tennis(), "PlayTennis")


def numbers(table: Table, name: str) -> list[float]:
    """A column of numbers."""
    return [float(cell) for cell in table.column(name) if cell is not None]


def share(count: int, total: int, n_values: int, alpha: Fraction) -> Fraction:
    return (count + alpha) / (total + alpha * n_values)


# --- Counts and probabilities --------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [Fraction(0), Fraction(1, 2), Fraction(1)], ids=str)
@pytest.mark.parametrize("name", TENNIS)
def test_play_tennis_counts_and_probabilities_by_hand(name: str, alpha: Fraction) -> None:
    table = tennis(alpha=float(alpha)).working()[name]
    counts = TENNIS[name]
    assert table.columns == (name, "n(v, No)", "n(v, Yes)", "P(v|No)", "P(v|Yes)")
    assert [row[:3] for row in table.rows] == [(v, *pair) for v, pair in counts.items()]
    assert all(type(cell) is int for row in table.rows for cell in row[1:3])
    for k, label in enumerate(("No", "Yes")):
        want = [share(pair[k], DAYS[k], len(counts), alpha) for pair in counts.values()]
        assert numbers(table, f"P(v|{label})") == pytest.approx(list(map(float, want)), rel=1e-14)


def test_missing_values_are_not_counted() -> None:
    """Of p, one row of two has a value: (1 + 1) / (1 + 2)."""
    X = pd.DataFrame({"a": ["u", None, "v"]})
    table = DiscreteBayes().fit(X, np.array(["p", "p", "q"])).working()["a"]
    assert [row[:3] for row in table.rows] == [("u", 1, 0), ("v", 0, 1)]
    assert numbers(table, "P(v|p)") == pytest.approx([2 / 3, 1 / 3], rel=1e-15)


def test_fractional_weights_stay_fractions() -> None:
    X = pd.DataFrame({"a": ["u", "u", "v"]})
    y, w = np.array(["p", "q", "q"]), [0.5, 1.25, 2.0]
    working = DiscreteBayes(alpha=0).fit(X, y, sample_weight=w).working()
    assert working["a"].column("n(v, p)") == (0.5, 0)
    assert working["a"].column("n(v, q)") == (1.25, 2)
    assert numbers(working["a"], "P(v|q)") == pytest.approx([1.25 / 3.25, 2 / 3.25], rel=1e-14)


@pytest.mark.parametrize(
    ("options", "weights", "n", "prior"),
    [
        ({}, None, (5, 9), (5 / 14, 9 / 14)),
        ({}, [2] * 7 + [1] * 7, (8, 13), (8 / 21, 13 / 21)),
        ({"class_weight": {"No": 3.0}}, None, (5, 9), (15 / 24, 9 / 24)),
        ({"class_weight": "balanced"}, None, (5, 9), (0.5, 0.5)),
        ({"priors": [0.2, 0.8]}, None, (5, 9), (0.2, 0.8)),
        ({"priors": {"Yes": 1.0}}, None, (5, 9), (0.0, 1.0)),
    ],
    ids=["plain", "weights", "class weight", "balanced", "priors", "priors by label"],
)
def test_priors_are_shares_of_the_weight_unless_given(
    options: dict[str, Any], weights: Any, n: tuple[int, int], prior: tuple[float, float]
) -> None:
    """Of the first seven days, No 3 and Yes 4 times."""
    model = DiscreteBayes(**options)
    model.fit(datasets.play_tennis(), "PlayTennis", sample_weight=weights)
    table = model.working()["priors"]
    assert table.columns == ("class", "n(c)", "P(c)")
    assert table.column("class") == ("No", "Yes")
    assert table.column("n(c)") == n
    assert numbers(table, "P(c)") == pytest.approx(prior, rel=1e-15)


@pytest.mark.parametrize("weights", [None, [1, 2, 3, 1, 2, 1]], ids=["plain", "weights"])
def test_gaussians_are_mean_and_variance_of_each_class(weights: Any) -> None:
    """All of q are 3: its variance is the floor, a billionth of that of the column."""
    w = np.ones(6) if weights is None else np.array(weights, dtype=float)
    table = DiscreteBayes().fit(MIXED, LABELS, sample_weight=weights).working()["gaussians"]
    x, p = MIXED["size"].to_numpy(), LABELS == "p"
    mean = np.average(x[p], weights=w[p])
    variance = np.average((x[p] - mean) ** 2, weights=w[p])
    floor = 1e-9 * np.average((x - np.average(x, weights=w)) ** 2, weights=w)
    assert table.columns == ("column", "class", "mean", "variance", "note")
    assert [row[:2] for row in table.rows] == [
        ("size", "p"),
        ("size", "q"),
        ("same", "p"),
        ("same", "q"),
    ]
    assert numbers(table, "mean") == pytest.approx([mean, 3.0, 7.0, 7.0], rel=1e-14)
    assert numbers(table, "variance")[:2] == pytest.approx([variance, floor], rel=1e-12)
    assert table.column("note") == ("", "", "constant, left out", "constant, left out")


def test_cells_are_the_distinct_complete_rows_with_their_counts() -> None:
    words: list[tuple[str | None, ...]] = [
        *[("u", "s"), ("u", "t"), ("v", "s"), ("u", "s"), ("u", "s")],
        *[("v", None), (None, "t"), ("v", "s"), ("v", "s")],
    ]
    y = list("ppqqpqpqp")
    X = pd.DataFrame(words, columns=["a", "b"], dtype="string")
    table = DiscreteBayes("joint").fit(X, np.array(y)).working()["cells"]
    seen = Counter(pair for pair in zip(words, y, strict=True) if None not in pair[0])
    want = {(cell, seen[cell, "p"], seen[cell, "q"]) for cell, _ in seen}
    assert table.columns == ("a", "b", "n(x, p)", "n(x, q)")
    assert len(table.rows) == 3
    assert {(row[:2], *row[2:]) for row in table.rows} == want
    assert all(type(count) is int for row in table.rows for count in row[2:])


# --- Bayes' rule ---------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [Fraction(0), Fraction(1)], ids=str)
def test_the_rule_is_worked_out_as_by_hand(alpha: Fraction) -> None:
    """P(x|c)P(c), its logarithm, P(x) as their sum (Sch 4-14), and P(c|x) as the quotient."""
    X = datasets.play_tennis().drop(columns="PlayTennis")
    working = tennis(alpha=float(alpha)).working(X)
    rule, evidence = working["rule"], working["evidence"]
    assert rule.columns == RULE
    assert evidence.columns == ("row", "P(x)", "ln P(x)", "most probable")
    assert (len(rule.rows), len(evidence.rows)) == (28, 14)
    for i, day in enumerate(X.to_numpy().tolist()):
        pairs = [TENNIS[name][value] for name, value in zip(X.columns, day, strict=True)]
        sizes = [len(TENNIS[name]) for name in X.columns]
        products = []
        for k, label in enumerate(("No", "Yes")):
            shares = zip(pairs, sizes, strict=True)
            likelihood = math.prod(share(pair[k], DAYS[k], V, alpha) for pair, V in shares)
            prior = Fraction(DAYS[k], 14)
            products.append(likelihood * prior)
            row = rule.rows[2 * i + k]
            assert row[:2] == (i, label)
            want = [float(likelihood), float(prior), float(likelihood * prior)]
            assert list(row[2:5]) == pytest.approx(want, rel=1e-13)
            assert row[5] == pytest.approx(logarithm(likelihood * prior), rel=1e-13)
        total = sum(products)
        posterior = [float(product / total) for product in products]
        got = [row[6] for row in rule.rows[2 * i : 2 * i + 2]]
        assert got == pytest.approx(posterior, rel=1e-13)
        assert evidence.rows[i][0] == i
        assert evidence.rows[i][1:3] == pytest.approx((float(total), math.log(total)), rel=1e-13)
        assert evidence.rows[i][3] == ("No" if products[0] >= products[1] else "Yes")


def logarithm(p: Fraction) -> float:
    return math.log(p) if p else -math.inf


def test_densities_enter_the_rule_and_constant_numbers_do_not() -> None:
    X, y = MIXED.assign(size=[1.0, 2.0, 4.0, 5.0, 3.0, 6.0]), LABELS
    rule = DiscreteBayes().fit(X, y).working(X[3:4])["rule"]
    # p: mean 3, variance 5/2, v in 2 of 4 rows; q: mean 9/2, variance 9/4, v in 1 of 2 rows
    density = [
        math.exp(-(2.0**2) / 5) / math.sqrt(5 * math.pi),
        math.exp(-(0.5**2) / 4.5) / math.sqrt(4.5 * math.pi),
    ]
    want = [density[0] * 3 / 6, density[1] * 2 / 4]
    assert numbers(rule, "P(x|c)") == pytest.approx(want, rel=1e-13)
    assert numbers(rule, "P(c)") == pytest.approx([4 / 6, 2 / 6], rel=1e-15)


def test_the_joint_table_enters_the_rule() -> None:
    """Exclusive or: (1 + 1/4) / (2 + 1) against (0 + 1/4) / (2 + 1)."""
    X = pd.DataFrame({"a": ["0", "0", "1", "1"], "b": ["0", "1", "0", "1"]})
    model = DiscreteBayes("joint").fit(X, np.array(["even", "odd", "odd", "even"]))
    working = model.working(X[:1])
    assert numbers(working["rule"], "P(x|c)") == pytest.approx([5 / 12, 1 / 12], rel=1e-14)
    assert numbers(working["rule"], "P(c|x)") == pytest.approx([5 / 6, 1 / 6], rel=1e-14)
    assert numbers(working["evidence"], "P(x)") == pytest.approx([1 / 4], rel=1e-14)


def test_the_rule_agrees_with_the_posteriors_and_ignores_costs() -> None:
    """Costs are not part of Bayes' rule: the table says which class is most probable."""
    X = datasets.play_tennis().drop(columns="PlayTennis")
    model = tennis(costs=[[0.0, 0.0], [99.0, 0.0]])
    working = model.working(X)
    shares = np.reshape(numbers(working["rule"], "P(c|x)"), (14, 2))
    np.testing.assert_allclose(shares, model.predict_proba(X), rtol=1e-14)
    best = model.classes_[shares.argmax(axis=1)].tolist()
    assert list(working["evidence"].column("most probable")) == best
    assert best != model.predict(X).tolist()


def test_a_missing_value_is_left_out_of_the_product() -> None:
    X = pd.DataFrame(
        {"Outlook": [None], "Temperature": ["Hot"], "Humidity": [None], "Wind": [None]}
    )
    with pytest.warns(MissingValueWarning):
        rule = tennis(alpha=0).working(X.astype("string"))["rule"]
    assert numbers(rule, "P(x|c)") == pytest.approx([2 / 5, 2 / 9], rel=1e-14)


def test_logarithms_are_right_where_products_are_too_small_for_a_float() -> None:
    """400 words, each seen in 1 of 10 rows of a class: 10 to the power of −400."""
    X = pd.DataFrame({f"w{j}": [f"v{i}" for i in range(10)] * 2 for j in range(400)})
    y = np.array(["p"] * 10 + ["q"] * 10)
    working = DiscreteBayes(alpha=0).fit(X, y).working(X[:1])
    rule, evidence = working["rule"], working["evidence"]
    ln_p = 400 * math.log(1 / 10)
    assert rule.column("P(x|c)P(c)") == (0.0, 0.0)
    assert numbers(rule, "ln P(x|c)P(c)") == pytest.approx([ln_p + math.log(1 / 2)] * 2, rel=1e-12)
    assert evidence.column("P(x)") == (0.0,)
    assert numbers(evidence, "ln P(x)") == pytest.approx([ln_p], rel=1e-12)
    assert numbers(rule, "P(c|x)") == [0.5, 0.5]


# --- Names, tags and frames ----------------------------------------------------------------------


def test_tables_come_in_working_order_with_their_equations() -> None:
    table = {"word": "S 2", "other": "S 2"}
    X = MIXED.assign(other=["s", "s", "t", "t", "s", "t"])
    both: list[tuple[Structure, dict[str, str]]] = [("naive", {}), ("joint", {"cells": "S 3"})]
    for structure, cells in both:
        model = DiscreteBayes(structure).fit(X, LABELS)
        fitted = {"priors": "ZM 19.11", **table, "gaussians": "S 4", **cells}
        rows = {"rule": "Sch 4-13", "evidence": "Sch 4-14"}
        assert tags(model.working()) == list(fitted.items())
        assert tags(model.working(X)) == list({**fitted, **rows}.items())


def tags(working: Any) -> list[tuple[str, str]]:
    return [(table.name, table.equation) for table in working]


def test_tables_are_there_only_where_there_is_something_to_show() -> None:
    assert [table.name for table in tennis().working()] == ["priors", *TENNIS]
    only_numbers = DiscreteBayes().fit(MIXED[["size"]], LABELS).working()
    assert [table.name for table in only_numbers] == ["priors", "gaussians"]


def test_columns_named_like_a_table_leave_it_its_name() -> None:
    names = ("priors", "rule", "evidence", "gaussians", "cells")
    columns = {name: list("uvuvuv") for name in names}
    X = MIXED.drop(columns="word").assign(**columns)
    working = DiscreteBayes("joint").fit(X, LABELS).working(X)
    assert len({table.name for table in working}) == len(working) == 10
    for name in names:
        assert working[name].equation != "S 2"
        assert working[f"{name} (2)"].equation == "S 2"
        assert working[f"{name} (2)"].column(name) == ("u", "v")
    assert set(working.to_frame()) == {table.name for table in working}


def test_a_label_that_looks_like_another_has_a_head_of_its_own() -> None:
    y = np.array([1, "1", 1, "1"], dtype=object)
    X = pd.DataFrame({"a": ["u", "u", "u", "v"]})
    working = DiscreteBayes("joint").fit(X, y).working()
    assert working["priors"].column("class") == (1, "1")
    for table, n_first in ((working["a"], 1), (working["cells"], 1)):
        assert len(set(table.columns)) == len(table.columns)
        heads = table.columns[n_first : n_first + 2]
        counts = [sum(numbers(table, head)) for head in heads]
        assert counts == [2, 2]
        assert table.column(heads[0]) == (2, 0)
        assert table.column(heads[1]) == (1, 1)
    assert working.to_frame()["a"].shape == (2, 5)
