"""Any given partition under every criterion: the textbook's numbers, an obvious oracle, laws."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sortal import datasets, score_split


def rows_of(table: list[list[int]]) -> tuple[list[str], list[str]]:
    """Parts p0, p1, … and labels c0, c1, …, a row for each count."""
    cells = [(p, k, n) for p, row in enumerate(table) for k, n in enumerate(row)]
    parts = [f"p{p}" for p, _, n in cells for _ in range(n)]
    return parts, [f"c{k}" for _, k, n in cells for _ in range(n)]


tables = st.integers(1, 4).flatmap(
    lambda K: st.lists(
        st.lists(st.integers(0, 9), min_size=K, max_size=K).filter(any), min_size=1, max_size=5
    )
)


# Oracle


def entropy(counts: list[int]) -> float:
    n = sum(counts)
    return -sum(c / n * math.log2(c / n) for c in counts if c)


def gini(counts: list[int]) -> Fraction:
    n = sum(counts)
    return 1 - sum((Fraction(c, n) ** 2 for c in counts), Fraction(0))


@given(tables)
def test_every_measure_as_defined(table: list[list[int]]) -> None:
    score: Any = score_split(*rows_of(table))
    whole = [sum(column) for column in zip(*table, strict=True)]
    n, sizes = sum(whole), [sum(row) for row in table]
    split = sum(size / n * entropy(row) for size, row in zip(sizes, table, strict=True))
    assert score.entropy == pytest.approx(entropy(whole), abs=1e-12)
    assert score.split_entropy == pytest.approx(split, abs=1e-12)
    assert score.gain == pytest.approx(entropy(whole) - split, abs=1e-12)
    assert score.split_information == pytest.approx(entropy(sizes), abs=1e-12)
    after = sum(
        (Fraction(size, n) * gini(row) for size, row in zip(sizes, table, strict=True)), Fraction(0)
    )
    assert score.gini == pytest.approx(float(gini(whole)), abs=1e-14)
    assert score.split_gini == pytest.approx(float(after), abs=1e-14)
    assert score.gini_decrease == pytest.approx(float(gini(whole) - after), abs=1e-14)
    if len(table) == 2:
        (left, right), (n_l, n_r) = table, sizes
        apart = sum(
            abs(Fraction(a, n_l) - Fraction(b, n_r)) for a, b in zip(left, right, strict=True)
        )
        wanted = 2 * Fraction(n_l, n) * Fraction(n_r, n) * apart
        assert score.cart == pytest.approx(float(wanted), rel=1e-15)
    else:
        assert score.cart is None
    if score.split_information > 0:
        assert score.gain_ratio == pytest.approx(score.gain / score.split_information)
    else:
        assert score.gain_ratio is None


# Worked examples


def test_a_curve_as_a_split() -> None:
    """Ch. 19 Q5: AB − B² ≤ 0 on Table 19.5; four H and one L below, one H and two L above."""
    points = datasets.table_19_5()
    below = points["A"] * points["B"] - points["B"] ** 2 <= 0
    score: Any = score_split(below, points["Class"])
    assert score.counts == ((1, 2), (4, 1))
    assert score.gain == pytest.approx(0.1589, abs=5e-5)


@pytest.mark.parametrize(
    ("V", "split_entropy", "gain"),
    [
        ("1", 0.509, 0.410),
        ("2", 0.897, 0.022),  # the book prints 0.217
        ("3", 0.711, 0.207),
        ("4", 0.869, 0.049),
        ("12", 0.632, 0.286),
        ("13", 0.860, 0.058),
        ("14", 0.667, 0.251),
    ],
)
def test_table_19_2(V: str, split_entropy: float, gain: float) -> None:
    names = {"1": "Very Short", "2": "Short", "3": "Long", "4": "Very Long"}
    iris = datasets.discretized_iris()
    inside = iris["sepal_length"].isin([names[v] for v in V])
    score = score_split(inside, iris["species"] == "setosa")
    assert score.entropy == pytest.approx(0.918, abs=5e-4)
    assert score.split_entropy == pytest.approx(split_entropy, abs=6e-4)
    assert score.gain == pytest.approx(gain, abs=6e-4)


def test_the_root_of_table_19_4() -> None:
    """Ch. 19 Q4: a1 against a2, under three measures; and Instance parts every row."""
    table = datasets.table_19_4(instance=True)
    by_a1, by_a2 = (score_split(table[name], table["Class"]) for name in ("a1", "a2"))
    assert by_a1.gain == pytest.approx(0.2294, abs=5e-5)
    assert by_a2.gain == pytest.approx(0.0072, abs=5e-5)
    assert by_a1.gini_decrease > by_a2.gini_decrease
    assert by_a1.cart is not None
    assert by_a2.cart is not None
    assert by_a1.cart > by_a2.cart
    instance = score_split(table["Instance"], table["Class"])
    assert instance.gain == pytest.approx(instance.entropy)
    assert instance.gain_ratio == pytest.approx(instance.entropy / math.log2(9))


# Laws


@given(tables)
def test_zero_exactly_where_all_parts_have_the_shares_of_the_whole(table: list[list[int]]) -> None:
    score = score_split(*rows_of(table))
    whole = [sum(column) for column in zip(*table, strict=True)]
    n = sum(whole)
    alike = all(c * n == whole[k] * sum(row) for row in table for k, c in enumerate(row))
    assert (score.gain == 0) == alike
    assert (score.gini_decrease == 0) == alike
    assert score.gain >= 0
    assert score.gini_decrease >= 0


@given(tables.filter(lambda t: len(t) > 1))
def test_a_finer_partition_gains_no_less(table: list[list[int]]) -> None:
    """Q1 (b): one branch a value is at least as pure as any grouping of the values."""
    fine = score_split(*rows_of(table))
    joined = [[a + b for a, b in zip(table[0], table[1], strict=True)], *table[2:]]
    coarse = score_split(*rows_of(joined))
    assert fine.gain >= coarse.gain - 1e-12
    assert fine.gini_decrease >= coarse.gini_decrease - 1e-12


@given(st.lists(st.integers(0, 9), min_size=2, max_size=4).filter(any), st.data())
def test_cart_lies_between_zero_and_one(left: list[int], data: st.DataObject) -> None:
    """Q3: 1 only for two halves of different classes, 0 only for parts of the same shares."""
    same = st.lists(st.integers(0, 9), min_size=len(left), max_size=len(left)).filter(any)
    right = data.draw(same)
    cart = score_split(*rows_of([left, right])).cart
    assert cart is not None
    assert 0 <= cart <= 1
    halves = sum(left) == sum(right) and not any(a and b for a, b in zip(left, right, strict=True))
    assert (cart == 1) == halves


@given(tables, st.integers(1, 5))
def test_weights_are_copies(table: list[list[int]], copies: int) -> None:
    cells = [(p, k, n * copies) for p, row in enumerate(table) for k, n in enumerate(row)]
    parts, labels, weights = zip(*cells, strict=True)
    weighed = score_split(
        [f"p{p}" for p in parts], [f"c{k}" for k in labels], sample_weight=weights
    )
    assert weighed == score_split(*rows_of([[n * copies for n in row] for row in table]))


def test_fractions_of_weights_and_libraries_do_not_matter() -> None:
    parts, y = rows_of([[5, 1], [2, 7]])
    plain = score_split(parts, y)
    for library in (pd, pl):
        assert score_split(library.Series(parts), library.Series(y)) == plain
    tenth = score_split(parts, y, sample_weight=np.full(len(y), 0.1))
    assert tenth.gain == pytest.approx(plain.gain, abs=1e-13)
    assert tenth.cart == pytest.approx(plain.cart, abs=1e-13)


def test_the_order_of_rows_and_parts_changes_nothing() -> None:
    parts, y = rows_of([[5, 1, 0], [2, 7, 3], [0, 4, 4]])
    order = np.random.default_rng(0).permutation(len(y))
    score = score_split(parts, y)
    turned = score_split(np.array(parts)[order], np.array(y)[order])
    assert turned == score
    renamed = score_split([{"p0": "z"}.get(p, p) for p in parts], y)
    assert (renamed.gain, renamed.gini_decrease) == (score.gain, score.gini_decrease)


# What comes in and goes out


def test_the_record_shows_itself() -> None:
    score = score_split([True, True, False], ["a", "b", "<i>"])
    assert json.loads(json.dumps(score.to_dict()))["branches"] == [False, True]
    assert "gain_ratio" in str(score)
    assert "&lt;i&gt;" in score._repr_html_()
    assert list(score.to_frame().columns) == ["measure", "value", "equation"]
