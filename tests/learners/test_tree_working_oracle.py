"""The working of a tree's node against the scores of every partition of random tables.

The oracle looks at lists of rows: every cut, every set of values and every multiway test.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
import pytest

from sortal import TreeClassifier, score_partition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal.models.records import Table, Working

# Trees of one class are grown on purpose, or by chance.
pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.OneClassWarning")

CRITERIA: Final = ("gain", "gain_ratio", "gini", "cart")


@dataclass(frozen=True)
class Option:
    """A test that could be asked: rows of each part."""

    attribute: str
    parts: tuple[tuple[int, ...], ...]
    n_in_set: int = 0


@dataclass(frozen=True)
class Case:
    """A table, its labels and weights, and the options of a tree."""

    X: Any
    y: list[str]
    weight: list[float] | None
    kinds: dict[str, str]
    options: dict[str, Any]

    @cached_property
    def weights(self) -> list[Fraction]:
        return [Fraction(w) for w in self.weight or [1.0] * len(self.y)]

    @cached_property
    def classes(self) -> list[str]:
        return sorted(set(self.y))

    @cached_property
    def counted(self) -> dict[tuple[int, ...], list[Fraction]]:
        """What was counted before: the same parts are asked for limits, scores and shares."""
        return {}

    @cached_property
    def are_copies(self) -> bool:
        return all(w.denominator == 1 for w in self.weights)

    @cached_property
    def total(self) -> Fraction:
        return sum(self.weights, Fraction(0))

    @cached_property
    def cells(self) -> dict[str, list[Any]]:
        return {name: self.X[name].tolist() for name in self.kinds}

    def size_of(self, rows: Sequence[int]) -> int:
        return int(sum(self.weights[i] for i in rows)) if self.are_copies else len(rows)


def counts(case: Case, rows: Sequence[int]) -> list[Fraction]:
    key = tuple(rows)
    if key not in case.counted:
        found = dict.fromkeys(case.classes, Fraction(0))
        for i in key:
            found[case.y[i]] += case.weights[i]
        case.counted[key] = list(found.values())
    return case.counted[key]


def all_options(case: Case, rows: Sequence[int]) -> list[Option]:
    found = []
    for name, kind in case.kinds.items():
        cells = case.cells[name]
        values = sorted({cells[i] for i in rows})
        by_value = {v: tuple(i for i in rows if cells[i] == v) for v in values}
        if kind == "cut":
            for a in values[:-1]:
                yes = tuple(i for i in rows if cells[i] <= a)
                found.append(Option(name, (yes, others(rows, yes))))
        elif kind == "subset":
            for V in all_sets(values):
                yes = tuple(i for v in V for i in by_value[v])
                found.append(Option(name, (yes, others(rows, yes)), len(V)))
        elif len(values) > 1:
            found.append(Option(name, tuple(by_value.values())))
    return found


def others(rows: Sequence[int], yes: Sequence[int]) -> tuple[int, ...]:
    taken = set(yes)
    return tuple(i for i in rows if i not in taken)


def all_sets(values: Sequence[Any]) -> list[tuple[Any, ...]]:
    m = len(values)
    return [
        V
        for size in range(1, m // 2 + 1)
        for V in combinations(values, size)
        if 2 * size < m or values[0] in V
    ]


def is_allowed(case: Case, option: Option, rows: Sequence[int]) -> bool:
    least = case.options.get("min_samples_leaf", 1)
    share = case.options.get("min_weight_fraction_leaf", 0.0)
    parts = [(found, sum(found)) for found in (counts(case, part) for part in option.parts)]
    lightest = Fraction(share) * case.total
    fit = [
        case.size_of(part) >= least and weight >= lightest
        for part, (_, weight) in zip(option.parts, parts, strict=True)
    ]
    whole = counts(case, rows)
    n = sum(whole)
    told = any(c * n != w * m for part, m in parts for c, w in zip(part, whole, strict=True))
    most = case.options.get("max_subset") or 10**9
    return sum(fit) >= 2 and told and option.n_in_set <= most


def draw_case(seed: int, criterion: str) -> Case:
    rng = np.random.default_rng(seed)
    n, K = int(rng.integers(5, 40)), int(rng.integers(2, 5))
    columns: dict[str, Any] = {}
    kinds: dict[str, str] = {}
    kind_names = ["cut", "subset"] if criterion == "cart" else ["cut", "subset", "multiway"]
    for j in range(int(rng.integers(1, 4))):
        name, kind = f"x{j}", str(rng.choice(kind_names))
        codes = rng.integers(0, int(rng.integers(2, 8)), size=n)
        columns[name] = codes * 0.3 - 1 if kind == "cut" else [f"v{c}" for c in codes]
        kinds[name] = kind
    if rng.random() < 0.3:  # a column that comes twice
        columns["again"], kinds["again"] = columns["x0"], kinds["x0"]
    weights: list[list[float] | None] = [
        None,
        rng.integers(1, 5, size=n).tolist(),
        (rng.integers(1, 9, size=n) / 4).tolist(),
    ]
    options = {
        "criterion": criterion,
        "min_samples_leaf": int(rng.choice([1, 1, 2, 4])),
        "min_weight_fraction_leaf": float(rng.choice([0.0, 0.0, 0.125])),
        "max_subset": [None, None, 1, 2][int(rng.integers(4))],
    }
    y = [f"c{k}" for k in rng.integers(0, K, size=n)]
    return Case(pd.DataFrame(columns), y, weights[int(rng.integers(3))], kinds, options)


def fit(case: Case) -> TreeClassifier:
    words = {name: kind for name, kind in case.kinds.items() if kind != "cut"}
    return TreeClassifier(
        **{"pruning": None, **case.options}, categorical_split=words or "subset"
    ).fit(case.X, case.y, case.weight)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(
    "seeds", [range(100, 106), pytest.param(range(16), marks=pytest.mark.full)], ids=str
)
def test_every_number_is_that_of_score_partition(criterion: str, seeds: range) -> None:
    """What a tree's own test is was found by brute force elsewhere: here it must stand first."""
    for seed in seeds:
        case = draw_case(seed, criterion)
        model = fit(case)
        nodes = model.to_frame(max_values=None)
        inside = model.decision_path(case.X).toarray().astype(bool)
        for t, words in enumerate(nodes["test"]):
            working = model.working(t, case.X, case.y, case.weight)
            rows = np.flatnonzero(inside[:, t]).tolist()
            options = all_options(case, rows)
            check_tables(case, working, options, rows)
            best = working["tests"].rows[0]
            assert (best[0] == 1) == any(is_allowed(case, option, rows) for option in options)
            if words:
                assert (best[2], best[-1]) == (words, True)
                assert best[3] == pytest.approx(nodes["score"][t], rel=1e-12, abs=1e-15)


def check_tables(case: Case, working: Working, options: list[Option], rows: Sequence[int]) -> None:
    for name, kind in case.kinds.items():
        own = [option for option in options if option.attribute == name]
        if kind != "multiway":
            check_table(case, working[name], own, rows)
        elif own:
            check_branches(case, working, name, own[0])


def check_table(case: Case, table: Table, own: list[Option], rows: Sequence[int]) -> None:
    assert len(table.rows) == len(own)
    scores = []
    for option, cells in zip(own, table.rows, strict=True):
        row: dict[str, Any] = dict(zip(table.columns, cells, strict=True))
        split = score_option(case, option)
        measure = {
            "gain": split.gain,
            "gain_ratio": split.gain_ratio,
            "gini": split.gini_decrease,
            "cart": split.cart,
        }[case.options["criterion"]]
        assert row["score"] == pytest.approx(measure, abs=1e-12)
        assert row["allowed"] == is_allowed(case, option, rows)
        assert (row["rank"] is not None) == row["allowed"]
        check_shares(case, row, option)
        if "split entropy" in row:
            assert row["split entropy"] == pytest.approx(split.split_entropy, abs=1e-12)
        if "split Gini" in row:
            assert row["split Gini"] == pytest.approx(split.split_gini, abs=1e-12)
        if "gain" in row:
            assert row["gain"] == pytest.approx(split.gain, abs=1e-12)
            assert row["split information"] == pytest.approx(split.split_information, abs=1e-12)
        if row["allowed"] and case.options["criterion"] != "gain_ratio":
            scores.append((row["rank"], row["score"]))
    in_order = [score for _, score in sorted(scores)]
    assert in_order == pytest.approx(sorted(in_order, reverse=True), abs=1e-12)


def check_shares(case: Case, row: dict[str, Any], option: Option) -> None:
    yes, no = (counts(case, part) for part in option.parts)
    for c, a, b in zip(case.classes, yes, no, strict=True):
        assert row[f"P({c}|Y)"] == pytest.approx(float(a / sum(yes)), abs=1e-15)
        assert row[f"P({c}|N)"] == pytest.approx(float(b / sum(no)), abs=1e-15)
        if f"P(X<=v|{c})" in row:
            share = None if a + b == 0 else pytest.approx(float(a / (a + b)))
            assert row[f"P(X<=v|{c})"] == share


def check_branches(case: Case, working: Working, name: str, option: Option) -> None:
    table = working[name]
    split = score_option(case, option)
    entropy = "entropy" in table.columns
    sizes = [float(sum(counts(case, part))) for part in option.parts]
    impurity = [float(x) for x in table.column("entropy" if entropy else "Gini")]  # type: ignore[arg-type]
    after = np.average(impurity, weights=sizes)
    assert after == pytest.approx(split.split_entropy if entropy else split.split_gini, abs=1e-12)


def score_option(case: Case, option: Option) -> Any:
    part_of = {i: p for p, part in enumerate(option.parts) for i in part}
    rows = sorted(part_of)
    weight = None if case.weight is None else [case.weight[i] for i in rows]
    return score_partition([part_of[i] for i in rows], [case.y[i] for i in rows], weight)
