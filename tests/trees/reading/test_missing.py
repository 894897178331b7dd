"""Laws of trees grown with missing values, read: what is said of a missing value is what it does.

Trees are made by hand, at random, with every way a missing value can go; rows are walked down their
arrays here, and conditions are judged by their fields alone.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.explained import read
from tests.trees.tables import HALF

from sortal.data.columns import CategoryColumn, ColumnSchema, NumberColumn, Schema
from sortal.data.sources import Batch
from sortal.native.trees import CUT, LEAF, MULTIWAY, SPREAD, SUBSET
from sortal.trees.branches import describe_test, node_table
from sortal.trees.explain import ExplainTree, Walked
from sortal.trees.model import TreeModel
from sortal.trees.rows import encode
from sortal.trees.rules import rules_of, tree_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Trees of one class are grown on purpose, or by chance.
pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.OneClassWarning")

Cell: TypeAlias = Any
Row: TypeAlias = tuple[Cell, ...]

POLICIES: Final = ("direction", "branch", "majority", "fractional")

RANKS: Final = ("low", "mid", "high", "top")
SCHEMA: Final = Schema(
    (
        ColumnSchema("x", "number"),
        ColumnSchema("when", "date"),
        ColumnSchema("color", "category", ("blue", "green", "red", "white")),
        ColumnSchema("size", "category", ("L", "M", "S")),
        ColumnSchema("rank", "category", RANKS, RANKS),
        ColumnSchema("y", "number"),
    ),
    ("no", "yes", "later"),
)
KINDS: Final = (CUT, CUT, SUBSET, MULTIWAY, CUT, CUT)
THRESHOLDS: Final = {0: (1.0, 2.0, 3.0), 1: (18262.0, 18262.5), 4: (0.5, 1.5, 2.5), 5: (0.0, 1.0)}
CELLS: Final[tuple[tuple[Cell, ...], ...]] = (
    (0.5, 1.0, 1.5, 2.0, 2.5, 3.5, None),
    (18000.0, 18262.0, 18262.25, 19000.0, None),
    ("blue", "green", "red", "white", "never seen", None),  # white is declared, and no row had it
    ("L", "M", "S", "never seen", None),
    (*RANKS, "never seen", None),
    (-1.0, 0.5, 2.0, None),
)


@dataclass
class Part:
    """A node and what is below it."""

    units: list[int]
    column: int = -1
    threshold: float = math.nan
    values: dict[int, int] = field(default_factory=dict)
    missing: int = -1
    heavier: int = -1
    below: list[Part] = field(default_factory=list)


def made(root: Part, policy: str, missing: Sequence[int]) -> TreeModel:
    """The arrays of a tree, nodes in preorder."""
    parts, places = listed(root)
    below = [[places[id(child)] for child in part.below] for part in parts]
    kind = [KINDS[part.column] if part.below else LEAF for part in parts]
    units = np.array([part.units for part in parts], dtype=np.int64)
    return TreeModel(
        schema=SCHEMA,
        column_kinds=KINDS,
        unseen=((), (), (3,), (), (), ()),
        exponent=0,
        kind=np.array(kind, dtype=np.int8),
        attribute=np.array([part.column for part in parts], dtype=np.int32),
        threshold=np.array([part.threshold for part in parts]),
        child_start=np.cumsum([0, *map(len, below)]),
        children=np.array([c for children in below for c in children], dtype=np.int32),
        value_start=np.cumsum([0, *(len(part.values) for part in parts)]),
        values=np.array([v for part in parts for v in part.values], dtype=np.int32),
        branches=np.array([b for part in parts for b in part.values.values()], dtype=np.int32),
        heavier=np.array([part.heavier for part in parts], dtype=np.int32),
        units=units,
        sizes=units.sum(axis=1),
        score=np.zeros(len(parts)),
        gain=np.zeros(len(parts)),
        exact=np.ones(len(parts), dtype=bool),
        candidates=np.zeros(len(parts)),
        missing=np.array([part.missing for part in parts], dtype=np.int32),
        missing_counts=tuple(missing),
        policy=policy,
    )


def listed(root: Part) -> tuple[list[Part], dict[int, int]]:
    parts, waiting = [], [root]
    while waiting:
        parts.append(waiting.pop())
        waiting += reversed(parts[-1].below)
    return parts, {id(part): t for t, part in enumerate(parts)}


class Maker:
    """Random trees under a policy."""

    def __init__(self, seed: int, policy: str) -> None:
        self.rng, self.policy = np.random.default_rng(seed), policy
        self.missing = [int(n) for n in self.rng.choice([0, 3], len(KINDS), p=[0.3, 0.7])]

    def tree(self) -> TreeModel:
        return made(self.part(0), self.policy, self.missing)

    def part(self, depth: int) -> Part:
        if depth > self.rng.integers(1, 5):
            return Part([int(n) for n in self.rng.integers([1, 0, 0], 6)])
        column = int(self.rng.integers(len(KINDS)))
        made_here = self.cut(column) if KINDS[column] == CUT else self.sets(column)
        n = len(made_here.below)
        made_here.below = [self.part(depth + 1) for _ in range(n)]
        made_here.units = np.sum([child.units for child in made_here.below], axis=0).tolist()
        made_here.heavier = -1 if KINDS[column] == MULTIWAY else int(self.rng.integers(n))
        if self.policy == "fractional":
            made_here.missing = SPREAD
        return made_here

    def cut(self, column: int) -> Part:
        own, alone = self.own(column)
        if alone:
            return Part([], column, math.inf, missing=1, below=[Part([])] * 2)
        threshold = float(self.rng.choice(THRESHOLDS[column]))
        missing = 2 if own else self.learned(column, 2)
        return Part([], column, threshold, missing=missing, below=[Part([])] * (2 + own))

    def sets(self, column: int) -> Part:
        own, alone = self.own(column)
        codes = sorted(self.rng.permutation(3)[: self.rng.integers(1 + (not own), 4)].tolist())
        if KINDS[column] == MULTIWAY:
            values, n = {v: b for b, v in enumerate(codes)}, len(codes)
        elif alone:  # the known on one side, missing values on the other
            b = int(self.rng.integers(2))
            return Part(
                [], column, values=dict.fromkeys(codes, b), missing=1 - b, below=[Part([])] * 2
            )
        else:
            values, n = {v: int(i > 0) for i, v in enumerate(codes)}, 2
            n = max(values.values()) + 1 if own else 2
        missing = n if own else self.learned(column, n)
        return Part([], column, values=values, missing=missing, below=[Part([])] * (n + own))

    def own(self, column: int) -> tuple[bool, bool]:
        """Whether missing values have a branch of their own, and whether it is known | missing."""
        if not self.missing[column] or self.policy not in ("direction", "branch"):
            return False, False
        alone = bool(self.rng.random() < 0.25)
        return self.policy == "branch" and not alone and bool(self.rng.random() < 0.7), alone

    def learned(self, column: int, n: int) -> int:
        if not self.missing[column] or self.policy == "branch" or self.rng.random() < 0.25:
            return -1
        return int(self.rng.integers(n))

    def rows(self, n: int = 40) -> list[Row]:
        return [tuple(cells[self.rng.integers(len(cells))] for cells in CELLS) for _ in range(n)]


def walked(model: TreeModel, rows: Sequence[Row]) -> Walked:
    """Cells as the tree reads them, and the ends by the walk below, the heaviest first."""
    columns: list[Any] = []
    for j, column in enumerate(SCHEMA.columns):
        cells = [row[j] for row in rows]
        if column.is_number:
            columns.append(NumberColumn(np.array([math.nan if c is None else c for c in cells])))
        else:
            values = tuple(sorted({c for c in cells if c is not None}))
            codes = [-1 if c is None else values.index(c) for c in cells]
            columns.append(CategoryColumn(values, np.array(codes, dtype=np.int32)))
    cells_read = encode(Batch(0, len(rows), tuple(columns)), SCHEMA, KINDS, model.unseen)
    ends = np.array([next(iter(ends_of(model, row))) for row in rows], dtype=np.int32)
    given = [
        [math.nan if row[j] is None and j in (0, 1, 5) else row[j] for row in rows]
        for j in range(6)
    ]
    return Walked(
        ends,
        np.array(cells_read.columns, dtype=np.float64),
        np.array(given, dtype=object),
        cells_read.missing,
        cells_read.unknown,
    )


def ends_of(model: TreeModel, row: Row) -> dict[int, float]:
    """Where a row ends and with which part of its weight; first where the heaviest branches end."""
    found: dict[int, float] = {}
    waiting = [(0, 1.0)]
    while waiting:
        t, part = waiting.pop(0)
        ways = moves(model, t, row)
        waiting = [(child, part * share) for child, share in ways] + waiting
        if not ways:
            found[t] = part
    return found


def moves(model: TreeModel, t: int, row: Row) -> list[tuple[int, float]]:
    if model.kind[t] == LEAF:
        return []
    below = model.children[model.child_start[t] : model.child_start[t + 1]].tolist()
    b = branch(model, t, row[model.attribute[t]])
    if b != SPREAD:
        return [(below[b], 1.0)] if b >= 0 else []
    weights = [int(model.units[child].sum()) for child in below]
    heaviest = weights.index(max(weights))
    order = [heaviest, *(b for b in range(len(below)) if b != heaviest)]
    return [(below[b], weights[b] / sum(weights)) for b in order]


def branch(model: TreeModel, t: int, cell: Cell) -> int:
    """The branch of a cell, SPREAD for all of them, -1 if the row stays."""
    heavier, missing = int(model.heavier[t]), int(model.missing[t])
    if cell is None:
        return heavier if missing == -1 else missing
    column = SCHEMA.columns[model.attribute[t]]
    if model.kind[t] == CUT:
        if cell == "never seen":
            return heavier
        x = cell if column.is_number else column.values.index(cell)
        return int(x > model.threshold[t])
    inside = slice(model.value_start[t], model.value_start[t + 1])
    known = [column.values[v] for v in model.values[inside].tolist()]
    return int(model.branches[inside][known.index(cell)]) if cell in known else heavier


def holds(condition: Any, x: Cell) -> bool:
    if x is None:
        return bool(condition.missing)
    if hasattr(condition, "low"):
        return bool(condition.low < x <= condition.high)
    return x in condition.values or (condition.others and x not in condition.against)


def all_hold(conditions: Iterable[Any], row: Row) -> bool:
    cells = dict(zip(SCHEMA.names, row, strict=True))
    return all(holds(c, cells[c.attribute]) for c in conditions)


def only_missing(condition: Any) -> bool:
    if hasattr(condition, "low"):
        return bool(condition.low >= condition.high)
    return not condition.values and not condition.others


def says_missing(text: str) -> bool:
    return text.endswith(("(or missing)", "or missing)", " is missing"))


@pytest.mark.parametrize("policy", POLICIES)
@HALF
@given(st.integers(0, 10**9))
def test_rules_say_what_a_missing_value_does(policy: str, seed: int) -> None:
    maker = Maker(seed, policy)
    model = maker.tree()
    rules = rules_of(model, "merged", "pandas")
    for row in maker.rows():
        check_ends(model, [*rules, *rules.unlisted], row)
    had = {name for name, n in zip(SCHEMA.names, model.missing_counts, strict=True) if n}
    for rule in rules:
        for condition in (*rule.path, *rule.merged):
            check_words(condition, condition.attribute in had and policy != "fractional")
        asked = {c.attribute: c for c in rule.merged}
        for side, n in zip(rule.box, model.missing_counts, strict=True):
            meets = asked[side.attribute].missing if side.attribute in asked else True
            assert side.missing == (meets and n > 0)


def check_ends(model: TreeModel, rules: list[Any], row: Row) -> None:
    """A row meets the rules of its ends and no others."""
    ends = set(ends_of(model, row))
    assert model.policy == "fractional" or len(ends) == 1
    for form in ("path", "merged"):
        assert {r.leaf for r in rules if all_hold(r.conditions(form), row)} == ends


def check_words(condition: Any, tells: bool) -> None:
    """Words say what a missing value does where the fit had missing values."""
    text = str(condition)
    assert condition.told == tells
    assert says_missing(text) == (condition.missing and (tells or only_missing(condition)))
    assert not (text.endswith(" is known") and (condition.missing or not tells))
    assert json.loads(json.dumps(condition.to_dict(), allow_nan=False))["text"] == text
    assert condition.to_dict()["missing"] == condition.missing


@pytest.mark.parametrize("policy", ["error", *POLICIES])
def test_a_tree_of_complete_rows_says_nothing_of_missing_values(policy: str) -> None:
    for seed in range(10):
        model = replace(Maker(seed, "majority").tree(), policy="error", missing_counts=())
        model = replace(model, missing=np.where(model.missing >= 0, -1, model.missing))
        told = replace(model, policy=policy)
        assert tree_text(told, None, None) == tree_text(model, None, None)
        assert "missing" not in tree_text(told, None, None)
        assert str(rules_of(told, "path", "pandas")) == str(rules_of(model, "path", "pandas"))
        assert node_table(told, None) == node_table(model, None)


@pytest.mark.parametrize("policy", POLICIES)
@HALF
@given(st.integers(0, 10**9))
def test_an_explanation_ends_where_the_row_does(policy: str, seed: int) -> None:
    maker = Maker(seed, policy)
    model, rows = maker.tree(), maker.rows(12)
    explain, rules = ExplainTree(model, walked(model, rows)), rules_of(model, "merged", "pandas")
    by_leaf = {rule.leaf: rule for rule in (*rules, *rules.unlisted)}
    shares = model.units / model.units.sum(axis=1, keepdims=True)
    for i, row in enumerate(rows):
        why, ends = explain(i), ends_of(model, row)
        found = read(why)
        expected = sum(part * shares[t] for t, part in ends.items())
        assert found.node == next(iter(ends))
        assert found.probabilities == pytest.approx(expected, abs=1e-15)
        assert found.probabilities[found.classes.index(found.label)] == pytest.approx(
            max(found.probabilities), rel=1e-12
        )
        amounts: Any = why.parts.column("share")
        assert sum(amounts) == pytest.approx(found.total, abs=1e-14)
        assert (len(amounts) > 1 + len(found.parts)) == (len(ends) > 1)
        assert tuple(move.condition for move in found.parts) == tuple(by_leaf[found.node].path)
        assert tuple(found.rule) == tuple(by_leaf[found.node].merged)
        marks = [mark(model, move.node, row) for move in found.parts]
        assert [move.mark for move in found.parts] == marks
        assert found.fallback == any(m not in ("", "missing") for m in marks)
        for move in found.parts:
            cell = row[model.attribute[move.node]]
            assert move.value == cell or model.attribute[move.node] == 1  # a date is in words
            assert holds(move.condition, cell)
        plain = why.to_dict()
        assert json.loads(json.dumps(plain, allow_nan=False)) == plain
        assert ("other branches" in str(why)) == (len(ends) > 1)


def mark(model: TreeModel, t: int, row: Row) -> str:
    cell, column = row[model.attribute[t]], SCHEMA.columns[model.attribute[t]]
    if cell is None:
        if model.policy == "fractional":
            return "spread"
        if model.missing[t] < 0:
            return "unseen"
        return "majority" if model.policy == "majority" else "missing"
    if column.is_number:
        return ""
    known = model.values[model.value_start[t] : model.value_start[t + 1]].tolist()
    if cell == "never seen" or (column.name == "color" and cell == "white"):
        return "unknown"
    is_cut = model.kind[t] == CUT
    return "" if is_cut or column.values.index(cell) in known else "absent"


def leaf(*units: int) -> Part:
    return Part(list(units))


def asks(column: int, below: list[Part], **how: Any) -> Part:
    units = np.sum([part.units for part in below], axis=0).tolist()
    return Part(units, column, below=below, **how)


A, B, C = leaf(4, 0, 1), leaf(0, 3, 0), leaf(1, 0, 2)


# column, parts below, how it asks; the test; its branches
WORDS: Final[list[tuple[Part, str, list[str]]]] = [
    (asks(0, [A, B], threshold=2.0, missing=0, heavier=0),
     "x <= 2, missing: yes", ["x <= 2 (or missing)", "x > 2"]),
    (asks(0, [A, B], threshold=2.0, missing=-1, heavier=1),
     "x <= 2, missing: no", ["x <= 2", "x > 2 (or missing)"]),
    (asks(0, [A, B], threshold=math.inf, missing=1, heavier=0),
     "x is known", ["x is known", "x is missing"]),
    (asks(1, [A, B, C], threshold=18262.5, missing=2, heavier=0),
     "when <= 2020-01-01T12:00:00, missing: own branch",
     ["when <= 2020-01-01T12:00:00", "when > 2020-01-01T12:00:00", "when is missing"]),
    (asks(2, [A, B], values={0: 0, 1: 1, 2: 1}, missing=0, heavier=0),
     "color in {blue}, missing: yes",
     ["color = blue (or other, or missing)", "color in {green, red}"]),
    (asks(2, [A, B], values={0: 0, 1: 1, 2: 1}, missing=1, heavier=1),
     "color in {blue}, missing: no", ["color = blue", "color != blue (or missing)"]),
    (asks(2, [A, B], values={0: 1, 1: 1, 2: 1}, missing=0, heavier=1),
     "color is missing", ["color is missing", "color is known"]),
    (asks(2, [A, B], values={0: 0, 1: 0, 2: 0}, missing=1, heavier=1),
     "color is known",
     ["color in {blue, green, red}", "color not in {blue, green, red} (or missing)"]),
    (asks(3, [A, B], values={0: 0, 1: 1}, missing=0),
     "size: L | M, missing: L", ["size = L (or missing)", "size = M"]),
    (asks(3, [A, B, C], values={0: 0, 1: 1}, missing=2),
     "size: L | M, missing: own branch", ["size = L", "size = M", "size is missing"]),
    (asks(3, [A, B], values={0: 0, 1: 1}, missing=-1),
     "size: L | M, missing: stays", ["size = L", "size = M"]),
    (asks(4, [A, B], threshold=1.5, missing=1, heavier=1),
     "rank <= mid, missing: no", ["rank <= mid", "rank > mid (or other, or missing)"]),
    (asks(4, [A, B], threshold=math.inf, missing=1, heavier=0),
     "rank is known", ["rank is known", "rank is missing"]),
    (asks(4, [A, B, C], threshold=1.5, missing=2, heavier=0),
     "rank <= mid, missing: own branch",
     ["rank <= mid (or other)", "rank > mid", "rank is missing"]),
]  # fmt: skip


@pytest.mark.parametrize(("root", "test", "branches"), WORDS)
def test_a_test_and_its_branches_in_words(root: Part, test: str, branches: list[str]) -> None:
    model = made(root, "branch", [1] * len(KINDS))
    assert describe_test(model, 0) == test
    rules = rules_of(model, "path", "pandas")
    assert [str(rule.path[0]) for rule in rules] == branches
    assert [str(rule.merged[0]) for rule in rules] == branches


def test_a_row_that_stays_may_have_a_missing_value() -> None:
    model = made(asks(3, [A, B], values={0: 0, 1: 1}), "direction", [1] * len(KINDS))
    (kept,) = rules_of(model, "path", "pandas").unlisted
    assert str(kept.path[0]) == "size not in {L, M} (or missing)"


def chain() -> Part:
    """x is known, then 1 < x <= 3 with a missing value that would go along, if it came so far."""
    low = asks(0, [A, B], threshold=1.0, missing=1, heavier=0)
    high = asks(0, [low, C], threshold=3.0, missing=0, heavier=0)
    return asks(0, [high, leaf(0, 0, 7)], threshold=math.inf, missing=1, heavier=0)


def test_known_values_need_no_word_where_an_interval_says_it() -> None:
    model = made(chain(), "direction", [5, 0, 0, 0, 0, 0])
    rules = rules_of(model, "merged", "pandas")
    assert [str(rule.merged[0]) for rule in rules] == [
        "x <= 1",
        "1 < x <= 3",
        "x > 3",
        "x is missing",
    ]
    assert [str(c) for c in rules[1].path] == [
        "x is known",
        "x <= 3 (or missing)",
        "x > 1 (or missing)",
    ]
    without = made(chain().below[0], "direction", [5, 0, 0, 0, 0, 0])
    assert [str(rule.merged[0]) for rule in rules_of(without, "merged", "pandas")] == [
        "x <= 1",
        "1 < x <= 3 (or missing)",
        "x > 3",
    ]


def test_regions_hold_missing_values() -> None:
    model = replace(
        made(asks(0, [A, B], threshold=2.0, missing=0, heavier=0), "direction", [1, 0, 1, 0, 0, 0]),
        ranges=((0.5, 4.0), (18000.0, 18300.0), None, None, None, (0.0, 1.0)),
    )
    assert [str(side) for side in rules_of(model, "merged", "pandas")[1].box] == [
        "2 < x <= 4",
        "2019-04-14 <= when <= 2020-02-08",
        "color in {blue, green, red} (or missing)",
        "size in {L, M, S}",
        "rank in {low, mid, high, top}",
        "0 <= y <= 1",
    ]
    assert str(rules_of(model, "merged", "pandas")[0].box[0]) == "0.5 <= x <= 2 (or missing)"


LARGER: Final = "A missing value of a column that had none at fit takes the branch of larger weight"
STAYS: Final = "stays at a node with one branch per value"


@pytest.mark.parametrize(
    ("policy", "missing", "last"),
    [
        ("direction", [1, 0, 0, 1, 0, 0], ""),
        ("direction", [1, 0, 0, 0, 0, 0], f"{LARGER.partition(' takes')[0]} {STAYS}."),
        ("majority", [0, 0, 0, 1, 0, 0], f"{LARGER}."),
        ("direction", [0, 1, 0, 0, 0, 0], f"{LARGER}, or {STAYS}."),
        ("direction", [0, 0, 0, 0, 0, 0], ""),
        ("error", [1, 0, 0, 0, 0, 0], ""),
        (
            "fractional",
            [0, 1, 0, 0, 0, 0],
            "A missing value goes down every branch, by its weight.",
        ),
        ("fractional", [0, 0, 0, 0, 0, 0], ""),
    ],
)
def test_what_conditions_do_not_say_is_said_at_the_end(
    policy: str, missing: list[int], last: str
) -> None:
    sized = asks(3, [A, B], values={0: 0, 1: 1})
    model = made(asks(0, [sized, C], threshold=2.0, heavier=0), policy, missing)
    expected = ["", last] if last else []
    assert tree_text(model, None, None).split("\n")[5:] == expected
    rules = rules_of(model, "path", "pandas").to_text().split("\n")
    assert rules[6:] == expected
    told = policy in ("direction", "majority") and missing[0] + missing[3] > 0
    assert ("or missing" in "\n".join(rules)) == told


def test_the_table_of_nodes_has_the_branch_of_missing_values() -> None:
    model = made(asks(0, [A, B, C], threshold=2.0, missing=2), "branch", [1, 0, 0, 0, 0, 0])
    table = node_table(model, None)
    assert table.columns[4:6] == ("test", "missing")
    assert [row[5] for row in table.rows] == [2, -1, -1, -1]


def test_the_ends_of_a_row_that_goes_down_both_branches() -> None:
    """3/8 of its weight ends where all are yes, and the larger part decides."""
    model = made(asks(0, [B, A], threshold=2.0, missing=SPREAD, heavier=1), "fractional", [1] * 6)
    rows = [(None, *[None] * 5), (1.0, *[None] * 5)]
    whys = [ExplainTree(model, walked(model, rows))(i) for i in range(2)]
    spread, known = map(read, whys)
    assert spread.probabilities == pytest.approx((4 / 8, 3 / 8, 1 / 8))
    assert (spread.label, spread.node, spread.counts) == ("no", 2, (4, 0, 1))
    assert spread.start == 4 / 8
    assert spread.parts[0].amount == pytest.approx(4 / 5 - 4 / 8)
    assert spread.rest == pytest.approx(4 / 8 - 4 / 5)
    assert (spread.parts[0].mark, spread.fallback) == ("spread", True)
    assert (
        str(whys[0]).split("\n")[0] == "no (P = 0.5) at node 2 (4 of 5) and others: x > 2  (S 29)"
    )
    assert (known.label, known.node, known.rest) == ("yes", 1, 0.0)
