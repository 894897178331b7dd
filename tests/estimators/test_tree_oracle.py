"""TreeClassifier against a slow oracle, and its every node against best_test.

The oracle is Algorithm 19.1 read aloud: it walks over lists of rows, tries every cut, every
subset of the values present and every multiway test, and scores them in whole numbers and
fractions. Logarithms are whole numbers too: c log2 c in units of 2**-160, so that scores that are
equal in the mathematics agree to some 40 digits and others do not.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sortal import TreeClassifier, native

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

# Trees of one class are grown on purpose, or by chance.
pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.OneClassWarning")

Counts: TypeAlias = tuple[int, ...]
Rows: TypeAlias = tuple[int, ...]
Codes: TypeAlias = tuple[int, ...]
Cells: TypeAlias = tuple[float, ...]

LEAF, CUT, SUBSET, MULTIWAY = range(4)
CRITERIA: Final = ("gain", "gain_ratio", "gini", "cart")
NO_BOUND: Final = 2**62
MANY: Final = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
SOME: Final = settings(MANY, max_examples=60)

# --- The oracle: tables and rules ----------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """A kind of test, and a number for each row: itself, the rank or the code of its word."""

    kind: int
    cells: tuple[float, ...]
    is_ordered: bool = False
    n_levels: int = 0  # declared levels of an ordered category

    def frame(self) -> Any:
        """As a user would give it; words sort like their codes."""
        if self.is_ordered:
            levels = [f"level {i}" for i in range(self.n_levels)]
            words = [levels[int(cell)] for cell in self.cells]
            return pd.Categorical(words, categories=levels, ordered=True)
        return self.cells if self.kind == CUT else [f"v{int(cell)}" for cell in self.cells]


@dataclass(frozen=True)
class Data:
    columns: tuple[Column, ...]
    classes: tuple[int, ...]
    n_classes: int
    units: tuple[int, ...]  # whole weights: copies

    @property
    def frame(self) -> Any:
        return pd.DataFrame({f"x{j}": c.frame() for j, c in enumerate(self.columns)})

    @property
    def y(self) -> list[str]:
        return [f"c{k}" for k in self.classes]

    @property
    def weights(self) -> list[float] | None:
        return None if set(self.units) == {1} else [float(u) for u in self.units]

    @property
    def rows(self) -> Rows:
        """Rows of weight 0 are left out altogether."""
        return tuple(i for i, u in enumerate(self.units) if u)

    def counts(self, rows: Sequence[int]) -> Counts:
        found = [0] * self.n_classes
        for i in rows:
            found[self.classes[i]] += self.units[i]
        return tuple(found)


@dataclass(frozen=True)
class Rules:
    criterion: str = "gain"
    leaf_size: int = 1
    purity: float = 1.0
    max_depth: int | None = None
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    min_gain: float = 0.0
    max_leaf_nodes: int | None = None
    max_subset: int | None = None

    def options(self, data: Data) -> dict[str, Any]:
        words = {CUT: "", SUBSET: "subset", MULTIWAY: "multiway"}
        split = {f"x{j}": words[c.kind] for j, c in enumerate(data.columns) if c.kind != CUT}
        return {**self.__dict__, "categorical_split": split or "subset"}


# --- The oracle: scores --------------------------------------------------------------------------

BITS: Final = 160


@cache
def clogc(c: int) -> int:
    """c log2 c in units of 2**-160."""
    if c == 0:
        return 0
    with localcontext(Context(prec=90)):
        return int((Decimal(2) ** BITS * c * Decimal(c).ln() / Decimal(2).ln()).to_integral_value())


def content(counts: Sequence[int]) -> int:
    """n H(D) in units of 2**-160 (ZM 19.3)."""
    return clogc(sum(counts)) - sum(map(clogc, counts))


def gain(whole: Counts, parts: Sequence[Counts]) -> Fraction:
    """n (H(D) − H(D_1, …)) in bits (ZM 19.5)."""
    return Fraction(content(whole) - sum(map(content, parts)), 2**BITS)


def gini_decrease(whole: Counts, parts: Sequence[Counts]) -> Fraction:
    """n (G(D) − G(D_1, …)) (ZM 19.6)."""

    def impurity(counts: Counts) -> Fraction:
        n = sum(counts)
        return n - Fraction(sum(c * c for c in counts), n)

    return impurity(whole) - sum(map(impurity, parts))


def cart(whole: Counts, parts: Sequence[Counts]) -> Fraction:
    """n times CART (ZM 19.7)."""
    yes, no = parts
    n_yes, n_no = sum(yes), sum(no)
    apart = sum(abs(a * n_no - b * n_yes) for a, b in zip(yes, no, strict=True))
    return Fraction(2 * apart, sum(whole))


MEASURES: Final = {"gain": gain, "gain_ratio": gain, "gini": gini_decrease, "cart": cart}


def is_nothing(whole: Counts, parts: Sequence[Counts]) -> bool:
    """Every part has the shares of the whole."""
    n = sum(whole)
    return all(c * n == whole[k] * sum(part) for part in parts for k, c in enumerate(part))


def is_same(a: Fraction, b: Fraction) -> bool:
    """Equal in the mathematics: 30 digits, where others differ in the first nine.

    A pair in between would be a tie or not by the unit of logarithms; there is none in the tables.
    """
    if abs(a - b) <= Fraction(1, 10**30):
        return True
    assert abs(a - b) > Fraction(1, 10**9), "draw other tables: these scores nearly tie"
    return False


# --- The oracle: the best test of a node ---------------------------------------------------------


@dataclass(frozen=True)
class Test:
    """A question, what goes down each branch, and its score times n."""

    __test__ = False

    attribute: int
    kind: int
    threshold: float
    yes: tuple[int, ...]  # the codes in V, or all codes present at a multiway test
    sides: tuple[Cells, ...]  # the values of each branch
    sizes: Counts  # the weight of each branch
    amount: Fraction

    @property
    def rank(self) -> tuple[Any, ...]:
        """Among equals: attribute, smaller threshold, fewer values, sorted codes."""
        threshold = self.threshold if self.kind == CUT else 0.0
        return self.attribute, threshold, len(self.yes), self.yes


@dataclass(frozen=True)
class Node:
    rows: Rows
    depth: int
    test: Test | None = None
    score: float = 0.0
    gain: float = 0.0
    candidates: int = 0
    children: tuple[Node, ...] = ()


def threshold_between(a: float, b: float) -> float:
    """The midpoint to 15 digits, unless that leaves [a, b); then the midpoint, or else a."""
    middle = a + (b - a) / 2 if abs(a) + abs(b) > 1e300 else (a + b) / 2
    for v in (float(f"{middle:.15g}"), middle):
        if a <= v < b:
            return v
    return a


@dataclass(frozen=True)
class Oracle:
    data: Data
    rules: Rules

    @cached_property
    def least_units(self) -> int:
        return math.ceil(Fraction(self.rules.min_weight_fraction_leaf) * sum(self.data.units))

    def questions(self, kind: int, values: Cells) -> Iterator[tuple[float, Codes, list[Cells]]]:
        """Every threshold or V of the values present, and the values of each branch."""
        codes = tuple(int(value) for value in values)
        if kind == CUT:
            for place, (a, b) in enumerate(pairwise(values), start=1):
                yield threshold_between(a, b), (), [values[:place], values[place:]]
        elif kind == SUBSET:
            for V in self.subsets(codes):
                yield math.nan, V, [V, tuple(code for code in codes if code not in V)]
        elif len(codes) > 1:
            yield math.nan, codes, [(code,) for code in codes]

    def subsets(self, codes: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """V has fewer values than its complement, or as many and the smallest code."""
        half = len(codes) // 2
        most = half if self.rules.max_subset is None else min(half, self.rules.max_subset)
        for size in range(1, most + 1):
            for V in combinations(codes, size):
                if 2 * size < len(codes) or V[0] == codes[0]:
                    yield V

    def is_allowed(self, whole: Counts, parts: Sequence[Counts]) -> bool:
        """Above zero, and two sides that are large enough (of a multiway test: two branches)."""
        least = max(self.rules.min_samples_leaf, self.least_units)  # whole weights: size = units
        large = sum(sum(part) >= least for part in parts)
        return large >= 2 and not is_nothing(whole, parts)

    def tests(self, j: int, rows: Rows) -> list[Test]:
        """The allowed tests of one attribute."""
        column, whole = self.data.columns[j], self.data.counts(rows)
        tables = {
            value: self.data.counts([i for i in rows if column.cells[i] == value])
            for value in sorted({column.cells[i] for i in rows})
        }
        found = []
        for threshold, V, sides in self.questions(column.kind, tuple(tables)):
            parts = [added(tables[value] for value in side) for side in sides]
            if self.is_allowed(whole, parts):
                amount = MEASURES[self.rules.criterion](whole, parts)
                sizes = tuple(sum(part) for part in parts)
                found.append(Test(j, column.kind, threshold, V, tuple(sides), sizes, amount))
        return found

    def best(self, rows: Rows) -> tuple[Test, Fraction] | None:
        """The test, and n times its score."""
        by_column = [self.tests(j, rows) for j in range(len(self.data.columns))]
        every = [test for tests in by_column for test in tests]
        if not every:
            return None
        if self.rules.criterion == "gain_ratio":
            return self.best_ratio([first_of_best(tests) for tests in by_column if tests])
        test = first_of_best(every)
        return test, test.amount

    def best_ratio(self, firsts: Sequence[Test]) -> tuple[Test, Fraction]:
        """C4.5's rule: the best ratio among those that gain at least the average."""
        total, m = sum((test.amount for test in firsts), Fraction(0)), len(firsts)
        enough = [t for t in firsts if t.amount * m > total or is_same(t.amount * m, total)]
        ratios = [(t, t.amount / Fraction(content(t.sizes), 2**BITS)) for t in enough]
        best = max(ratio for _, ratio in ratios)
        test, ratio = next((t, r) for t, r in ratios if is_same(r, best))
        return test, ratio

    def part(self, test: Test, rows: Rows) -> tuple[Rows, ...]:
        """The rows of each branch."""
        cells = self.data.columns[test.attribute].cells
        return tuple(tuple(i for i in rows if cells[i] in side) for side in test.sides)

    def node(self, rows: Rows, depth: int) -> Node:
        """A leaf, or the node's test with children yet to grow."""
        leaf, rules, counts = Node(rows, depth), self.rules, self.data.counts(rows)
        n = sum(counts)  # whole weights: also the size
        is_pure = Fraction(max(counts), n) >= Fraction(rules.purity)
        if n <= rules.leaf_size or is_pure or depth == rules.max_depth:
            return leaf
        found = self.best(rows)
        if found is None:
            return leaf
        test, amount = found
        is_ratio = rules.criterion == "gain_ratio"
        score = float(amount if is_ratio else amount / n)
        if score < rules.min_gain:
            return leaf
        return replace(
            leaf, test=test, score=score, gain=float(test.amount / n), candidates=self.stood(rows)
        )

    def stood(self, rows: Rows) -> int:
        """How many subsets the choice stood against."""
        present = [
            sorted({int(column.cells[i]) for i in rows})
            for column in self.data.columns
            if column.kind == SUBSET
        ]
        return sum(sum(1 for _ in self.subsets(codes)) for codes in present)

    def grow(self) -> Node:
        """The whole tree, deep first."""
        return self.grow_below(self.node(self.data.rows, 0))

    def grow_below(self, node: Node) -> Node:
        if node.test is None:
            return node
        below = (
            self.grow_below(self.node(p, node.depth + 1)) for p in self.part(node.test, node.rows)
        )
        return replace(node, children=tuple(below))

    def grow_best_first(self, most: int) -> Node:
        """At most so many leaves, by n times the score; of equals the node made earlier."""
        nodes = [self.node(self.data.rows, 0)]
        below: dict[int, list[int]] = {}
        while True:
            waiting = [i for i, t in enumerate(nodes) if t.test is not None and i not in below]
            leaves = len(nodes) - len(below)
            if leaves >= most or not waiting:
                return self.assemble(nodes, below, 0)
            first = max(waiting, key=lambda i: (self.merit(nodes[i]), -i))
            rivals = (nodes[i] for i in waiting if i != first)
            assert all(self.is_clear(nodes[first], other) for other in rivals), "draw another table"
            test = nodes[first].test
            assert test is not None
            below[first] = []
            for part in self.part(test, nodes[first].rows):
                below[first].append(len(nodes))
                nodes.append(self.node(part, nodes[first].depth + 1))

    def merit(self, node: Node) -> float:
        return sum(self.data.counts(node.rows)) * node.score

    def is_clear(self, first: Node, other: Node) -> bool:
        """Products of floats may differ in the last place unless the counts are the same."""
        return self.merit(first) == self.merit(other) or not math.isclose(
            self.merit(first), self.merit(other), rel_tol=1e-11
        )

    def assemble(self, nodes: Sequence[Node], below: dict[int, list[int]], i: int) -> Node:
        if i not in below:
            return Node(nodes[i].rows, nodes[i].depth)
        return replace(nodes[i], children=tuple(self.assemble(nodes, below, t) for t in below[i]))


def added(tables: Iterable[Counts]) -> Counts:
    return tuple(sum(column) for column in zip(*tables, strict=True))


def first_of_best(tests: Sequence[Test]) -> Test:
    best = max(test.amount for test in tests)
    return min((t for t in tests if is_same(t.amount, best)), key=lambda t: t.rank)


def preorder(node: Node) -> list[Node]:
    return [node, *(t for child in node.children for t in preorder(child))]


# --- The tree that was grown, node by node -------------------------------------------------------


@dataclass(frozen=True)
class Grown:
    """A fitted tree, read from its arrays."""

    model: Any

    @property
    def tree(self) -> Any:
        return self.model._model

    def children(self, t: int) -> list[int]:
        start = self.tree.child_start
        return [int(s) for s in self.tree.children[start[t] : start[t + 1]]]

    def values(self, t: int) -> dict[int, int]:
        """The branch of every code present in the node."""
        here = slice(self.tree.value_start[t], self.tree.value_start[t + 1])
        codes, branches = self.tree.values[here].tolist(), self.tree.branches[here].tolist()
        assert codes == sorted(set(codes))
        return dict(zip(codes, branches, strict=True))

    def yes(self, t: int) -> tuple[int, ...]:
        """V of a subset, every value of a multiway test."""
        is_subset = self.tree.kind[t] == SUBSET
        return tuple(c for c, branch in self.values(t).items() if branch == 0 or not is_subset)


def fit(data: Data, rules: Rules) -> Grown:
    model = TreeClassifier(pruning=None, **rules.options(data))
    return Grown(model.fit(data.frame, data.y, sample_weight=data.weights))


def assert_same_test(grown: Grown, t: int, node: Node, data: Data) -> None:
    tree, test = grown.tree, node.test
    counts = data.counts(node.rows)
    present = [k for k in range(data.n_classes) if any(data.classes[i] == k for i in data.rows)]
    assert tree.units[t].tolist() == [counts[k] for k in present]
    assert tree.sizes[t] == sum(counts)
    assert tree.exact[t]
    assert tree.candidates[t] == node.candidates
    assert tree.score[t] == pytest.approx(node.score, rel=1e-12, abs=1e-13)
    assert tree.gain[t] == pytest.approx(node.gain, rel=1e-12, abs=1e-13)
    if test is None:
        assert (tree.kind[t], tree.attribute[t], grown.children(t)) == (LEAF, -1, [])
        assert math.isnan(tree.threshold[t])
        assert (tree.score[t], tree.gain[t], tree.heavier[t]) == (0, 0, -1)
        assert grown.values(t) == {}
        return
    assert (tree.kind[t], tree.attribute[t]) == (test.kind, test.attribute)
    if test.kind == CUT:
        assert tree.threshold[t] == test.threshold
    else:
        assert grown.yes(t) == test.yes
        cells = data.columns[test.attribute].cells
        assert list(grown.values(t)) == sorted({int(cells[i]) for i in node.rows})
    heavier = -1 if test.kind == MULTIWAY else int(test.sizes[1] > test.sizes[0])
    assert tree.heavier[t] == heavier
    if test.kind == MULTIWAY:
        assert list(grown.values(t).values()) == list(range(len(test.yes)))


def assert_same_tree(grown: Grown, root: Node, data: Data) -> None:
    nodes = preorder(root)
    assert len(grown.tree.kind) == len(nodes)
    numbers = {id(node): t for t, node in enumerate(nodes)}
    for t, node in enumerate(nodes):
        assert_same_test(grown, t, node, data)
        assert grown.children(t) == [numbers[id(child)] for child in node.children]


def assert_same_leaves(grown: Grown, root: Node, data: Data) -> None:
    """Every training row ends in the leaf it has helped to make."""
    nodes = preorder(root)
    leaf = {i: t for t, node in enumerate(nodes) if node.test is None for i in node.rows}
    ends = grown.model.apply(data.frame.iloc[list(data.rows)])
    assert ends.tolist() == [leaf[i] for i in data.rows]


# --- Random small tables -------------------------------------------------------------------------


@st.composite
def tables(
    draw: st.DrawFn, *, least: int = 2, most: int = 40, multiway: bool = True, max_classes: int = 6
) -> Data:
    """Mixed columns, some of them copies of another, whole weights from 0 to 3 or none."""
    n = draw(st.integers(least, most))
    rng = np.random.default_rng(draw(st.integers(0, 10**9)))
    K = draw(st.integers(2, max_classes))
    classes = rng.integers(0, K, n)
    kinds = ["few", "many", "ordered", "subset", *(["multiway"] if multiway else [])]
    wanted = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4))
    units = rng.integers(0, 4, n) if draw(st.booleans()) else np.ones(n, dtype=np.int64)
    units[0] = max(units[0], 1)
    columns = [make_column(kind, rng, classes, draw(st.integers(1, 8)), units) for kind in wanted]
    if draw(st.booleans()):
        columns.append(columns[draw(st.integers(0, len(columns) - 1))])
    return Data(tuple(columns), tuple(classes.tolist()), K, tuple(units.tolist()))


def make_column(
    kind: str,
    rng: Any,
    classes: NDArray[np.int64],
    m: int,
    units: NDArray[np.int64] | None = None,
) -> Column:
    """Half of the cells know the class, so that trees have something to find.

    Codes are ranks among the values of rows that count; a value of rows of weight 0 comes last.
    """
    n = len(classes)
    codes = np.where(rng.random(n) < 0.5, (classes * 5 + 1) % m, rng.integers(0, m, n))
    if kind == "many":
        return Column(CUT, tuple((codes + rng.normal(size=n)).tolist()))
    if kind == "few":
        return Column(CUT, tuple((codes / 10).tolist()))
    cells = tuple(codes.astype(float).tolist())
    if kind == "ordered":
        return Column(CUT, cells, is_ordered=True, n_levels=m + 1)
    counted = cells if units is None else [c for c, unit in zip(cells, units, strict=True) if unit]
    ranks = sorted(set(counted))
    ranked = tuple(float(ranks.index(cell)) if cell in ranks else 8.0 for cell in cells)
    return Column(SUBSET if kind == "subset" else MULTIWAY, ranked)


constraints: Final = st.fixed_dictionaries(
    {},
    optional={
        "min_samples_leaf": st.integers(2, 8),
        "min_weight_fraction_leaf": st.sampled_from([0.0625, 0.125, 0.25, 0.5]),
        "max_subset": st.integers(1, 4),
    },
)
stops: Final = st.fixed_dictionaries(
    {},
    optional={
        "leaf_size": st.integers(1, 12),
        "purity": st.sampled_from([0.5, 0.625, 0.75, 1.0]),
        "min_gain": st.sampled_from([0.0123, 0.107, 0.293]),
    },
)


# --- The root test -------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", CRITERIA)
@MANY
@given(data=st.data())
def test_the_root_test_is_that_of_brute_force(criterion: str, data: Any) -> None:
    """Every criterion, without constraints: the same test, the same score, and it says exact."""
    table = data.draw(tables(multiway=criterion != "cart"))
    rules = Rules(criterion, max_depth=1)
    assert_same_tree(fit(table, rules), Oracle(table, rules).grow(), table)


@pytest.mark.parametrize("criterion", CRITERIA)
@MANY
@given(data=st.data())
def test_the_root_test_under_constraints(criterion: str, data: Any) -> None:
    """With fewest rows, least weight and most values of V: the best of the allowed tests."""
    table = data.draw(tables(multiway=criterion != "cart"))
    rules = Rules(criterion, max_depth=1, **data.draw(constraints))
    assert_same_tree(fit(table, rules), Oracle(table, rules).grow(), table)


@st.composite
def tied_tables(draw: st.DrawFn) -> Data:
    """Few rows of few classes: many values share a distribution, many tests a score."""
    n = draw(st.integers(2, 16))
    cells = st.lists(st.integers(0, 7), min_size=n, max_size=n)
    K = draw(st.integers(2, 3))
    columns = []
    for kind in draw(st.lists(st.sampled_from([CUT, SUBSET]), min_size=1, max_size=3)):
        column = draw(cells)
        ranks = sorted(set(column))
        columns.append(Column(kind, tuple(float(ranks.index(c)) for c in column)))
    classes = draw(st.lists(st.integers(0, K - 1), min_size=n, max_size=n))
    return Data(tuple(columns), tuple(classes), K, (1,) * n)


@pytest.mark.parametrize("criterion", CRITERIA)
@MANY
@given(data=tied_tables())
def test_ties_go_to_the_first_in_the_order_of_the_rule(criterion: str, data: Data) -> None:
    """Attribute, then the smaller threshold, then fewer values in V, then its sorted codes."""
    rules = Rules(criterion, max_depth=1)
    assert_same_tree(fit(data, rules), Oracle(data, rules).grow(), data)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_tables_do_tie(criterion: str) -> None:
    """The oracle's tie rules are asked: among random tables many roots have equal best tests."""
    rng = np.random.default_rng(3)
    tied = 0
    for _ in range(25):
        classes = rng.integers(0, 2, 10)
        column = make_column("subset", rng, classes, 6)
        data = Data((column, column), tuple(classes.tolist()), 2, (1,) * 10)
        rules = Rules(criterion, max_depth=1)
        oracle = Oracle(data, rules)
        tests = [test for j in range(2) for test in oracle.tests(j, data.rows)]
        best = max((test.amount for test in tests), default=Fraction(0))
        tied += sum(is_same(test.amount, best) for test in tests) > 1
        assert_same_tree(fit(data, rules), oracle.grow(), data)
    assert tied >= 15


# --- The whole tree ------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", CRITERIA)
@SOME
@given(data=st.data())
def test_the_whole_tree_is_that_of_brute_force(criterion: str, data: Any) -> None:
    table = data.draw(tables(least=6, most=60, multiway=criterion != "cart", max_classes=4))
    rules = Rules(criterion, max_depth=3, **data.draw(constraints), **data.draw(stops))
    grown, root = fit(table, rules), Oracle(table, rules).grow()
    assert_same_tree(grown, root, table)
    assert_same_leaves(grown, root, table)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_without_any_stop_the_whole_tree_is_that_of_brute_force(criterion: str) -> None:
    rng = np.random.default_rng(7)
    for _ in range(12):
        classes = rng.integers(0, 3, 50)
        kinds = ["few", "many", "subset", "ordered", "subset"]
        columns = tuple(make_column(kind, rng, classes, 5) for kind in kinds)
        data = Data(columns, tuple(classes.tolist()), 3, tuple(rng.integers(1, 3, 50).tolist()))
        grown, root = fit(data, Rules(criterion)), Oracle(data, Rules(criterion)).grow()
        assert_same_tree(grown, root, data)
        assert_same_leaves(grown, root, data)
        assert grown.model.get_n_leaves() > 5


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("most", [1, 2, 3, 5, 9])
def test_best_first(criterion: str, most: int) -> None:
    """At most so many leaves, grown by n times the score, numbered in preorder all the same."""
    rng = np.random.default_rng(most)
    for _ in range(4):
        classes = rng.integers(0, 4, 80)
        columns = tuple(
            make_column(kind, rng, classes, 6) for kind in ("many", "subset", "many", "ordered")
        )
        data = Data(columns, tuple(classes.tolist()), 4, tuple(rng.integers(1, 4, 80).tolist()))
        rules = Rules(criterion, max_leaf_nodes=most)
        grown = fit(data, rules)
        assert_same_tree(grown, Oracle(data, rules).grow_best_first(most), data)
        assert grown.model.get_n_leaves() == most


@pytest.mark.parametrize("options", [{"max_depth": 3}, {"min_samples_leaf": 6}, {"min_gain": 0.1}])
def test_best_first_beside_other_stops(options: dict[str, Any]) -> None:
    rng = np.random.default_rng(11)
    for _ in range(5):
        classes = rng.integers(0, 3, 60)
        columns = tuple(make_column(kind, rng, classes, 6) for kind in ("many", "subset", "many"))
        data = Data(columns, tuple(classes.tolist()), 3, (1,) * 60)
        rules = Rules("gini", max_leaf_nodes=6, **options)
        assert_same_tree(fit(data, rules), Oracle(data, rules).grow_best_first(6), data)


def test_best_first_takes_the_node_made_earlier_of_equals() -> None:
    """Two halves that mirror each other: the yes child is split first."""
    x = [0.0] * 8 + [1.0] * 8
    inner = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    classes = [0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3]
    data = Data((Column(CUT, tuple(x)), Column(CUT, tuple(inner * 2))), tuple(classes), 4,
                (1,) * 16)  # fmt: skip
    for criterion in CRITERIA:
        rules = Rules(criterion, max_leaf_nodes=3)
        grown = fit(data, rules)
        assert grown.tree.kind.tolist() == [CUT, CUT, LEAF, LEAF, LEAF]
        assert grown.tree.attribute.tolist() == [0, 1, -1, -1, -1]
        assert_same_tree(grown, Oracle(data, rules).grow_best_first(3), data)


@pytest.mark.parametrize("most", range(1, 12))
def test_best_first_never_has_more_leaves_with_multiway_tests(most: int) -> None:
    rng = np.random.default_rng(5)
    classes = rng.integers(0, 3, 200)
    columns = tuple(make_column(kind, rng, classes, 4) for kind in ("multiway", "many"))
    data = Data(columns, tuple(classes.tolist()), 3, (1,) * 200)
    grown = fit(data, Rules("gain", max_leaf_nodes=most))
    assert 1 <= grown.model.get_n_leaves() <= most


# --- Every node against best_test ----------------------------------------------------------------


@dataclass(frozen=True)
class Plain:
    """A table as arrays: numbers, or codes of words; units of weight; sizes are rows or copies."""

    columns: tuple[NDArray[Any], ...]
    kinds: tuple[int, ...]
    classes: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def frame(self) -> Any:
        columns = {
            f"x{j}": x if kind == CUT else np.array(word_list(int(x.max()) + 1))[x]
            for j, (x, kind) in enumerate(zip(self.columns, self.kinds, strict=True))
        }
        return pd.DataFrame(columns)

    def fit(self) -> Any:
        words = {SUBSET: "subset", MULTIWAY: "multiway"}
        split = {f"x{j}": words[kind] for j, kind in enumerate(self.kinds) if kind != CUT}
        options = {"categorical_split": split or "subset", **self.options}
        model = TreeClassifier(**{"pruning": None, **options})
        return model.fit(self.frame, self.classes, sample_weight=self.weights)

    @property
    def limits(self) -> tuple[int, int]:
        """Fewest rows a side, and the most values of V."""
        most = self.options.get("max_subset")
        return self.options.get("min_samples_leaf", 1), NO_BOUND if most is None else most


def word_list(m: int) -> list[str]:
    """Words that sort like their codes."""
    return [f"v{i:05d}" for i in range(m)]


@dataclass(frozen=True)
class Checker:
    """The fitted tree of a table, and the rows of each of its nodes."""

    plain: Plain
    model: Any

    @property
    def tree(self) -> Any:
        return self.model._model

    @cached_property
    def units(self) -> NDArray[np.int64]:
        """Weights in whole units of a power of two."""
        if self.plain.weights is None:
            return np.ones(len(self.plain.classes), dtype=np.int64)
        n = self.plain.weights.sum()
        exponent = round(math.log2(self.tree.units[0].sum() / n))
        return np.rint(np.ldexp(self.plain.weights, exponent)).astype(np.int64)

    @cached_property
    def is_copies(self) -> bool:
        weights = self.plain.weights
        return weights is None or bool(np.all(weights == np.rint(weights)))

    @cached_property
    def counted(self) -> NDArray[np.int64]:
        """Rows of weight 0 are left out altogether, their words included."""
        return np.flatnonzero(self.units)

    @cached_property
    def codes(self) -> list[NDArray[np.int64]]:
        """For every column the rank of each cell among the cells that count."""
        return [np.searchsorted(np.unique(x[self.counted]), x) for x in self.plain.columns]

    def rows_by_node(self) -> list[NDArray[np.int64]]:
        """The rows that pass each node, from decision_path."""
        path = self.model.decision_path(self.plain.frame.iloc[self.counted]).tocsc()
        rows = [path.indices[path.indptr[t] : path.indptr[t + 1]] for t in range(path.shape[1])]
        return [self.counted[np.sort(i)] for i in rows]

    def best_test(self, rows: NDArray[np.int64]) -> Any:
        tables = [self.table(j, rows) for j in range(len(self.plain.columns))]
        min_size, max_subset = self.plain.limits
        total = int(self.units.sum())
        fraction = self.plain.options.get("min_weight_fraction_leaf", 0.0)
        return native.best_test(
            list(self.plain.kinds),
            [values for values, _, _ in tables],
            [counts for _, counts, _ in tables],
            [None if self.is_copies else sizes for _, _, sizes in tables],
            total=total,
            criterion=CRITERIA.index(self.plain.options.get("criterion", "gain")),
            min_size=min_size,
            min_units=math.ceil(fraction * total),
            max_subset=max_subset,
        )

    def table(self, j: int, rows: NDArray[np.int64]) -> tuple[Any, Any, Any]:
        """Values present, ascending; class counts of each; rows of each."""
        column = self.plain.columns[j] if self.plain.kinds[j] == CUT else self.codes[j]
        values, places = np.unique(column[rows], return_inverse=True)
        K = self.tree.units.shape[1]
        cells = places * K + self.labels[rows]
        counts = np.bincount(cells, weights=self.units[rows], minlength=len(values) * K)
        sizes = np.bincount(places, minlength=len(values)).astype(np.int64)
        whole = np.rint(counts).astype(np.int64).reshape(len(values), K)
        return values.astype(np.float64), whole, sizes

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """Places among the classes with weight, which are those of the tree."""
        present = np.unique(self.plain.classes[self.counted])
        assert self.tree.classes == tuple(present.tolist())
        assert self.model.classes_.tolist() == np.unique(self.plain.classes).tolist()
        places: NDArray[np.int64] = np.searchsorted(present, self.plain.classes)
        return places

    def check(self) -> Counter[str]:
        """Every node's test is best_test's, and every leaf has a reason."""
        seen: Counter[str] = Counter()
        grown = Grown(self.model)
        depths = self.model.to_frame()["depth"].to_numpy()
        for t, rows in enumerate(self.rows_by_node()):
            assert self.tree.units[t].sum() == self.units[rows].sum()
            assert self.tree.sizes[t] == (self.units[rows].sum() if self.is_copies else len(rows))
            if self.tree.kind[t] == LEAF:
                self.check_leaf(t, rows, int(depths[t]))
                seen["leaf"] += 1
                continue
            found = self.best_test(rows)
            assert found is not None
            assert (found.attribute, found.kind) == (self.tree.attribute[t], self.tree.kind[t])
            if found.kind == CUT:
                assert found.threshold == self.tree.threshold[t]
            elif found.kind == SUBSET:
                assert tuple(found.yes.tolist()) == grown.yes(t)
            # The same bits, not about the same: one definition of a split.
            assert found.score == self.tree.score[t]
            assert found.gain == self.tree.gain[t]
            assert found.exact == self.tree.exact[t]
            assert found.candidates == self.tree.candidates[t]
            seen["exact" if found.exact else "heuristic"] += 1
        return seen

    def check_leaf(self, t: int, rows: NDArray[np.int64], depth: int) -> None:
        counts, options = self.tree.units[t], self.plain.options
        stopped = (
            self.tree.sizes[t] <= options.get("leaf_size", 1)
            or counts.max() / counts.sum() >= options.get("purity", 1.0)
            or depth == options.get("max_depth")
        )
        if not stopped:
            found = self.best_test(rows)
            assert found is None or found.score < options.get("min_gain", 0.0)
        assert self.tree.exact[t]
        assert self.tree.candidates[t] == 0


def check(plain: Plain) -> Counter[str]:
    return Checker(plain, plain.fit()).check()


def random_plain(seed: int) -> Plain:
    """Mixed columns of few or many values, two to six classes, some weighted, some constrained."""
    rng = np.random.default_rng(seed)
    # Importances are counted in very many units, and best_test prepares for each of them.
    weighting = ("none", "none", "whole", "whole", "none", "whole", "dyadic", "any")[seed // 4 % 8]
    n = int(rng.integers(5, 300 if weighting in {"none", "whole"} else 25))
    K, criterion = int(rng.integers(2, 7)), CRITERIA[seed % 4]
    classes = rng.integers(0, K, n)
    kinds = (CUT, CUT, SUBSET) if criterion == "cart" else (CUT, CUT, SUBSET, MULTIWAY)
    wanted = tuple(int(kind) for kind in rng.choice(kinds, int(rng.integers(1, 6))))
    columns = tuple(plain_column(kind, rng, classes) for kind in wanted)
    weights = make_weights(weighting, rng, n)
    options: dict[str, Any] = {"criterion": criterion}
    if rng.random() < 0.5:
        options |= {
            "min_samples_leaf": int(rng.integers(1, 6)),
            "min_weight_fraction_leaf": float(rng.choice([0.0, 0.015625, 0.03125])),
            "max_subset": [None, 1, 2, 5][int(rng.integers(4))],
            "leaf_size": int(rng.integers(1, 10)),
            "min_gain": float(rng.choice([0.0, 0.02])),
            "max_depth": [None, 4, 7][int(rng.integers(3))],
        }
    return Plain(columns, wanted, classes, weights, options)


def make_weights(weighting: str, rng: Any, n: int) -> NDArray[np.float64] | None:
    """Copies, or importances: multiples of an eighth, or any numbers."""
    if weighting == "none":
        return None
    if weighting == "whole":
        copies: NDArray[np.float64] = rng.integers(0, 4, n).astype(np.float64)
        copies[0] = 1.0
        return copies
    return np.asarray(rng.integers(1, 16, n) / 8 if weighting == "dyadic" else rng.random(n) + 0.01)


def plain_column(kind: int, rng: Any, classes: NDArray[np.int64]) -> NDArray[Any]:
    n = len(classes)
    if kind == CUT and rng.random() < 0.5:
        column: NDArray[Any] = rng.normal(size=n) + classes * rng.normal()
        return column
    m = int(rng.integers(1, 30))
    codes = np.where(rng.random(n) < 0.4, (classes * 7 + 2) % m, rng.integers(0, m, n))
    return np.asarray(codes.astype(np.float64) if kind == CUT else codes)


@pytest.mark.parametrize("batch", range(10))
def test_every_node_of_random_trees_is_best_test_of_its_table(batch: int) -> None:
    """200 trees in all. Words are coded by rank, so codes in the tree are those of the table."""
    seen: Counter[str] = Counter()
    for seed in range(20 * batch, 20 * batch + 20):
        seen += check(random_plain(seed))
    assert seen["exact"] > 200
    assert seen["leaf"] > 200


# Large nodes are grown by other routes than small ones; what they find is the same.


def signal(rng: Any, n: int, K: int, d: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Classes that depend on all columns a little, with noise."""
    X: NDArray[np.float64] = rng.normal(size=(n, d))
    towards = X @ rng.normal(size=(d, K)) + 1.5 * rng.normal(size=(n, K))
    return X, towards.argmax(axis=1)


LARGE_OPTIONS: Final = (
    {"criterion": "gain", "max_depth": 7},
    {"criterion": "gini", "max_depth": 7},
    {"criterion": "cart", "max_depth": 6},
    {"criterion": "gain_ratio", "max_depth": 5, "min_samples_leaf": 20},
)


@pytest.mark.parametrize("options", LARGE_OPTIONS, ids=CRITERIA)
@pytest.mark.parametrize("K", [2, 5])
def test_large_nodes_of_many_distinct_values(options: dict[str, Any], K: int) -> None:
    X, classes = signal(np.random.default_rng(K), 30_000, K, 4)
    seen = check(Plain(tuple(X.T), (CUT,) * 4, classes, None, options))
    assert seen["exact"] >= 10
    assert seen["heuristic"] == 0


@pytest.mark.parametrize("options", LARGE_OPTIONS, ids=CRITERIA)
def test_large_nodes_of_about_sixty_distinct_values(options: dict[str, Any]) -> None:
    X, classes = signal(np.random.default_rng(1), 40_000, 3, 5)
    seen = check(Plain(tuple(np.rint(X.T * 8)), (CUT,) * 5, classes, None, options))
    assert seen["exact"] >= 10


@pytest.mark.parametrize("criterion", CRITERIA)
def test_large_mixed_nodes(criterion: str) -> None:
    """Numbers of many and few values beside categories of 3 to 60."""
    rng = np.random.default_rng(9)
    X, classes = signal(rng, 25_000, 3, 5)
    columns: list[NDArray[Any]] = [X[:, 0], np.rint(X[:, 1] * 8)]
    for j, m in ((2, 3), (3, 12), (4, 60)):
        columns.append(np.argsort(rng.random(m))[np.digitize(X[:, j], np.linspace(-2, 2, m - 1))])
    kinds = (CUT, CUT, SUBSET if criterion == "cart" else MULTIWAY, SUBSET, SUBSET)
    seen = check(
        Plain(tuple(columns), kinds, classes, None, {"criterion": criterion, "max_depth": 6})
    )
    assert seen["exact"] >= 10
    assert seen["heuristic"] == 0  # three classes: lines and sign vectors are exact


@pytest.mark.parametrize("criterion", ["gain", "gini"])
@pytest.mark.parametrize("weighting", ["whole", "dyadic", "any"])
def test_large_weighted_nodes(criterion: str, weighting: str) -> None:
    rng = np.random.default_rng(2)
    X, classes = signal(rng, 24_000, 3, 3)
    weights = make_weights(weighting, rng, 24_000)
    columns = (X[:, 0], np.rint(X[:, 1] * 8), X[:, 2])
    options = {"criterion": criterion, "max_depth": 5, "leaf_size": 50, "min_samples_leaf": 9}
    assert check(Plain(columns, (CUT,) * 3, classes, weights, options))["exact"] >= 10


def test_more_distinct_values_than_sixteen_bits_count() -> None:
    X, classes = signal(np.random.default_rng(4), 70_000, 3, 2)
    assert len(np.unique(X[:, 0])) == 70_000
    seen = check(Plain(tuple(X.T), (CUT,) * 2, classes, None, {"max_depth": 5}))
    assert seen["exact"] == 31


def test_a_large_tree_without_stops() -> None:
    """Nodes of every size from 21,000 rows down to two."""
    rng = np.random.default_rng(6)
    X, classes = signal(rng, 21_000, 2, 3)
    columns = (X[:, 0], np.rint(X[:, 1] * 30), X[:, 2])
    classes = np.where(rng.random(21_000) < 0.05, 1 - classes, classes)
    seen = check(Plain(columns, (CUT,) * 3, classes, None, {"criterion": "gini", "leaf_size": 40}))
    assert seen["exact"] > 200


def test_many_values_and_classes_may_be_heuristic_and_say_so() -> None:
    """60 values of 5 classes: no exact route is promised, and the choice is still best_test's."""
    rng = np.random.default_rng(8)
    classes = rng.integers(0, 5, 20_500)
    codes = np.where(rng.random(20_500) < 0.3, classes * 11 + rng.integers(0, 5, 20_500),
                     rng.integers(0, 60, 20_500))  # fmt: skip
    for criterion in ("gain", "gini"):
        options = {"criterion": criterion, "max_depth": 4}
        seen = check(Plain((codes,), (SUBSET,), classes, None, options))
        assert seen["heuristic"] > 0
    sure = check(Plain((codes,), (SUBSET,), classes, None, {"criterion": "cart", "max_depth": 4}))
    assert sure["heuristic"] == 0  # sign vectors
