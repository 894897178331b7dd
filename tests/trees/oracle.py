"""A slow oracle of trees that grow with missing values: every test of every node, in whole numbers.

It knows nothing of how trees are grown in earnest. Tables are tuples, weights are fractions, and
logarithms are whole numbers of 2**-110, so that scores that are equal in the mathematics agree to
some 25 digits and others do not.

Where the definition leaves a choice, what is taken here:

- Unknown and absent values take the heaviest of the branches that known values take.
- With "majority" and "fractional" limits are held against the known weight of a side, as they are
  with "branch"; where weights have fractions, sizes count rows, spread ones by parts.
- With "branch", a multiway test is one partition into its values and the missing ones: its limits
  ask for two large branches of all of these, and it needs to tell something as a whole.
- With "direction", a missing value counts among the values that `max_subset` bounds, and in the
  choice which side is V; the branch that it joins at a multiway test is chosen among those that are
  allowed, by gain also for the gain ratio, as tests of one column always are.
- Where weights were spread, a fitted tree may round them, and settles ties as rounding has it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations, pairwise, product
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st

from sortal import TreeClassifier

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

LEAF, CUT, SUBSET, MULTIWAY = range(4)
NONE_MET, SPREAD = -1, -2
CRITERIA: Final = ("gain", "gain_ratio", "gini", "cart")
POLICIES: Final = ("direction", "branch", "majority", "fractional")
PAIRS: Final = tuple((c, p) for c in CRITERIA for p in POLICIES if (c, p) != ("cart", "branch"))

NEVER: Final = math.inf  # a cell at predict with a value that no row of the fit had
CLOSE: Final = Fraction(1, 10**9)
SAME: Final = Fraction(1, 10**25)

Amount: TypeAlias = Any  # an int or a Fraction
Cell: TypeAlias = float | None
Cells: TypeAlias = tuple[Cell, ...]
Part: TypeAlias = tuple[Amount, ...]  # the weight of each class, and last the size
Held: TypeAlias = tuple[tuple[int, Amount], ...]  # the rows of a node, and what each weighs there

# --- Tables and rules ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """How a column is asked, how it looks to its user, and its cells; None is a missing value.

    A cell is a number: itself, the place of a declared level, the number of a word, 0 or 1.
    """

    kind: int
    look: str  # "number", "ordered", "word" or "truth"
    cells: Cells
    n_levels: int = 0

    def series(self, cells: Sequence[Cell]) -> Any:
        """Cells as a user would give them; words sort like their numbers."""
        if self.look == "number":
            return np.array([math.nan if c is None else c for c in cells], dtype=np.float64)
        if self.look == "truth":
            return pd.array([None if c is None else bool(c) for c in cells], dtype="boolean")
        words = [c if c is None else "never" if c == NEVER else f"v{int(c)}" for c in cells]
        if self.look == "word":
            return pd.Series(words, dtype=object)
        levels = [f"v{level}" for level in range(self.n_levels)]
        levels += ["never"] if NEVER in cells else []
        return pd.Categorical(words, categories=levels, ordered=True)


@dataclass(frozen=True)
class Table:
    """Rows of weight 0 are left out altogether, their values included."""

    columns: tuple[Column, ...]
    classes: tuple[int, ...]
    weights: tuple[Amount, ...]

    def frame(self, rows: Sequence[Cells] | None = None) -> Any:
        """The table, or rows to be asked."""
        return self.own_frame if rows is None else self.framed(list(zip(*rows, strict=True)))

    @cached_property
    def own_frame(self) -> Any:
        return self.framed([c.cells for c in self.columns])

    def framed(self, cells: Sequence[Cells]) -> Any:
        return pd.DataFrame(
            {f"x{j}": c.series(cells[j]) for j, c in enumerate(self.columns)},
        )

    @property
    def y(self) -> list[str]:
        return [f"c{k}" for k in self.classes]

    @property
    def sample_weight(self) -> list[float] | None:
        return None if set(self.weights) == {1} else [float(w) for w in self.weights]

    @cached_property
    def is_copies(self) -> bool:
        return all(Fraction(w).denominator == 1 for w in self.weights)

    @cached_property
    def held(self) -> Held:
        return tuple((i, w) for i, w in enumerate(self.weights) if w)

    @cached_property
    def labels(self) -> list[int]:
        """The classes that have weight, sorted."""
        return sorted({self.classes[i] for i, _ in self.held})

    @cached_property
    def ranks(self) -> tuple[dict[float, float], ...]:
        """Of every column its values in rows that count, sorted, and the rank of each."""
        met = ((c.cells[i] for i, _ in self.held) for c in self.columns)
        values = [sorted({cell for cell in cells if cell is not None}) for cells in met]
        return tuple({x: float(rank) for rank, x in enumerate(some)} for some in values)

    def values(self, j: int) -> list[float]:
        """The values of a column in rows that count, sorted."""
        return list(self.ranks[j])

    def code(self, j: int, cell: Cell) -> Cell:
        """Of a category the rank of its value; of what is cut the cell itself."""
        if cell is None or self.columns[j].kind == CUT:
            return cell
        return self.ranks[j].get(cell, NEVER)

    @cached_property
    def coded(self) -> tuple[Cells, ...]:
        return tuple(
            tuple(self.code(j, cell) for cell in column.cells)
            for j, column in enumerate(self.columns)
        )

    def take(self, rows: Sequence[int]) -> Table:
        columns = (replace(c, cells=tuple(c.cells[i] for i in rows)) for c in self.columns)
        classes = tuple(self.classes[i] for i in rows)
        return Table(tuple(columns), classes, tuple(self.weights[i] for i in rows))


@dataclass(frozen=True)
class Rules:
    criterion: str = "gain"
    missing: str = "direction"
    leaf_size: int = 1
    purity: float = 1.0
    max_depth: int | None = None
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    min_gain: float = 0.0
    max_subset: int | None = None

    def options(self, table: Table) -> dict[str, Any]:
        """A column without any value is not named: it may be a column of numbers."""
        split = {
            f"x{j}": "subset" if c.kind == SUBSET else "multiway"
            for j, c in enumerate(table.columns)
            if c.kind != CUT and any(cell is not None for cell in c.cells)
        }
        return {**self.__dict__, "categorical_split": split or "subset"}


# --- Scores --------------------------------------------------------------------------------------

BITS: Final = 110


@cache
def _log2(c: int) -> Decimal:
    with localcontext(Context(prec=60)):
        return Decimal(c).ln() / Decimal(2).ln()


@cache
def clogc(c: Amount) -> int:
    """c log2 c in units of 2**-110."""
    if c == 0:
        return 0
    with localcontext(Context(prec=60)):
        logarithm = _log2(c.numerator) - _log2(c.denominator)
        scaled = Decimal(2) ** BITS * c.numerator / c.denominator * logarithm
        return int(scaled.to_integral_value())


def content(counts: Sequence[Amount]) -> Fraction:
    """n times the entropy in bits."""
    return Fraction(clogc(sum(counts)) - sum(map(clogc, counts)), 2**BITS)


def gain(whole: Part, parts: Sequence[Part]) -> Fraction:
    return content(whole) - sum(map(content, parts))


def gini_decrease(whole: Part, parts: Sequence[Part]) -> Fraction:
    def impurity(counts: Part) -> Fraction:
        n = sum(counts)
        return n - Fraction(sum(c * c for c in counts)) / n

    return impurity(whole) - sum(map(impurity, parts))


def cart(whole: Part, parts: Sequence[Part]) -> Fraction:
    yes, no = parts
    n_yes, n_no = sum(yes), sum(no)
    apart = sum(abs(a * n_no - b * n_yes) for a, b in zip(yes, no, strict=True))
    return Fraction(2 * apart) / sum(whole)


MEASURES: Final = {"gain": gain, "gain_ratio": gain, "gini": gini_decrease, "cart": cart}


def is_nothing(whole: Part, parts: Sequence[Part]) -> bool:
    """Every part has the shares of the whole."""
    n = sum(whole)
    return all(c * n == whole[k] * sum(part) for part in parts for k, c in enumerate(part))


def is_same(a: Amount, b: Amount) -> bool:
    """Equal in the mathematics."""
    return bool(abs(a - b) <= SAME)


def added(parts: Iterable[Part], n: int) -> Part:
    """The sum, of n numbers also where there is nothing to add."""
    return tuple(map(sum, zip(*parts, strict=True))) or (0,) * n


def threshold_between(a: float, b: float) -> float:
    """The midpoint to 15 digits, unless that leaves [a, b); then the midpoint, or else a."""
    middle = (a + b) / 2
    for v in (float(f"{middle:.15g}"), middle):
        if a <= v < b:
            return v
    return a


# --- Tests of one node ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Test:
    """A question: the known values of each branch, and the branch of missing values.

    A branch of missing values alone has no values. `amount` is n times the measure (bits for the
    gain ratio), `spread` n times the split information.
    """

    __test__ = False

    attribute: int
    kind: int
    threshold: float
    sides: tuple[tuple[float, ...], ...]
    missing: int
    rank: tuple[Any, ...]  # what comes first of equals
    amount: Fraction = Fraction(0)
    spread: Fraction = Fraction(0)

    @property
    def signature(self) -> tuple[Any, ...]:
        """What a fitted tree must say of it."""
        threshold = self.threshold if self.kind == CUT else None
        sides = () if self.kind == CUT else self.sides
        return self.kind, self.attribute, threshold, sides, self.missing


@dataclass(frozen=True)
class Node:
    held: Held
    counts: Part
    size: Amount
    test: Test | None = None
    score: float = 0.0
    gain: float = 0.0
    candidates: int = 0
    children: tuple[Node, ...] = ()

    @cached_property
    def n(self) -> Amount:
        return sum(self.counts)

    @cached_property
    def shares(self) -> list[float]:
        """The share of each class."""
        return [float(Fraction(count) / self.n) for count in self.counts]

    @cached_property
    def heavier(self) -> int:
        """The branch of larger weight, the first of equals; -1 with one branch a value."""
        if self.test is None or self.test.kind == MULTIWAY:
            return -1
        taken = [b for b, side in enumerate(self.test.sides) if side]
        return max(taken, key=lambda b: self.children[b].n)


@dataclass(frozen=True)
class Tally:
    """One attribute in one node: a part for each known value, ascending, and one for missing."""

    known: dict[float, Part]
    missing: Part
    has_missing: bool

    @property
    def n(self) -> int:
        return len(self.missing)

    def part(self, side: Sequence[float]) -> Part:
        return added((self.known[value] for value in side if value in self.known), self.n)

    @cached_property
    def all_known(self) -> Part:
        return self.part(tuple(self.known))


@dataclass(frozen=True)
class Oracle:
    table: Table
    rules: Rules

    # Questions that could be put, whatever they say.

    def subsets(self, codes: Sequence[float]) -> Iterator[tuple[float, ...]]:
        """V has fewer values than its complement, or as many and the smallest code."""
        half = len(codes) // 2
        most = half if self.rules.max_subset is None else min(half, self.rules.max_subset)
        for size in range(1, most + 1):
            for V in combinations(codes, size):
                if 2 * size < len(codes) or V[0] == codes[0]:
                    yield V

    def of_known(self, j: int, tally: Tally) -> Iterator[Test]:
        """Every threshold, V or one branch a value, missing values left aside."""
        kind, values = self.table.columns[j].kind, tuple(tally.known)
        if kind == CUT:
            for place, (a, b) in enumerate(pairwise(values), start=1):
                v = threshold_between(a, b)
                yield Test(j, kind, v, (values[:place], values[place:]), NONE_MET, (v,))
        elif kind == SUBSET:
            for V in self.subsets(values):
                rest = tuple(value for value in values if value not in V)
                yield Test(j, kind, math.nan, (V, rest), NONE_MET, (len(V), V))
        elif len(values) > 1:
            yield Test(j, kind, math.nan, tuple((v,) for v in values), NONE_MET, ())

    def known_or_missing(self, j: int, tally: Tally) -> Test:
        kind, values = self.table.columns[j].kind, tuple(tally.known)
        threshold = math.inf if kind == CUT else math.nan
        return Test(j, kind, threshold, (values, ()), 1, (math.inf, 1))

    def with_direction(self, j: int, tally: Tally) -> Iterator[Test]:
        """Every question with missing values on every side; in a category, one more value."""
        kind = self.table.columns[j].kind
        if not tally.has_missing:
            yield from self.of_known(j, tally)
        elif kind == SUBSET:
            for V in self.subsets((*tally.known, math.inf)):
                yes = tuple(code for code in V if code != math.inf)
                rest = tuple(code for code in tally.known if code not in V)
                missing = 0 if math.inf in V else 1
                yield Test(j, kind, math.nan, (yes, rest), missing, (len(V), V))
        else:
            for test in self.of_known(j, tally):
                for branch in range(len(test.sides)):
                    yield replace(test, missing=branch, rank=(*test.rank, branch))
            if kind == CUT and tally.known:
                yield self.known_or_missing(j, tally)

    # What they say.

    @cached_property
    def least(self) -> Amount:
        total = sum(w for _, w in self.table.held)
        return Fraction(self.rules.min_weight_fraction_leaf) * total

    def is_allowed(self, whole: Part, parts: Sequence[Part], slack: Fraction) -> bool:
        """Tells something, and two sides are large enough (of a multiway test: two branches)."""
        sizes = [(part[-1], sum(part[:-1])) for part in parts]
        large = sum(
            size >= self.rules.min_samples_leaf - slack and weight >= max(self.least - slack, 0)
            for size, weight in sizes
        )
        if large < 2 or any(weight == 0 for _, weight in sizes):
            return False
        return slack > 0 or not is_nothing(whole[:-1], [part[:-1] for part in parts])

    def judged(self, test: Test, whole: Part, parts: Sequence[Part], *more: Amount) -> Test:
        """With its score; `more` are further sizes that count in the split information."""
        counts = [part[:-1] for part in parts]
        amount = MEASURES[self.rules.criterion](whole[:-1], counts)
        return replace(test, amount=amount, spread=content([*map(sum, counts), *more]))

    def tests(self, j: int, held: Held, slack: Fraction = Fraction(0)) -> list[Test]:
        """The allowed tests of one attribute."""
        tally = self.tally(j, held)
        found = {
            "error": self.direction_tests,
            "direction": self.direction_tests,
            "branch": self.branch_tests,
            "majority": self.known_tests,
            "fractional": self.known_tests,
        }[self.rules.missing]
        return list(found(j, tally, slack))

    def direction_tests(self, j: int, tally: Tally, slack: Fraction) -> Iterator[Test]:
        whole = added([tally.all_known, tally.missing], tally.n)
        for test in self.with_direction(j, tally):
            parts = [tally.part(side) for side in test.sides]
            if tally.has_missing:
                parts[test.missing] = added([parts[test.missing], tally.missing], tally.n)
            if self.is_allowed(whole, parts, slack):
                yield self.judged(test, whole, parts)

    def known_tests(self, j: int, tally: Tally, slack: Fraction) -> Iterator[Test]:
        """Majority and fractional: what the known rows say, by their share of all rows."""
        whole, m = tally.all_known, sum(tally.missing[:-1])
        for test in self.of_known(j, tally):
            parts = [tally.part(side) for side in test.sides]
            sizes = [sum(part[:-1]) for part in parts]
            missing = SPREAD
            if self.rules.missing == "majority":
                missing = sizes.index(max(sizes)) if tally.has_missing else NONE_MET
            if self.is_allowed(whole, parts, slack):
                yield self.judged(replace(test, missing=missing), whole, parts, m)

    def branch_tests(self, j: int, tally: Tally, slack: Fraction) -> Iterator[Test]:
        """A last branch for missing beside the known rows' own test, or known against missing."""
        if not tally.has_missing:
            yield from self.direction_tests(j, tally, slack)
            return
        if self.table.columns[j].kind == MULTIWAY:
            yield from self.branch_each(j, tally, slack)
            return
        whole = added([tally.all_known, tally.missing], tally.n)
        is_any = False
        for test in self.of_known(j, tally):
            parts = [tally.part(side) for side in test.sides]
            if self.is_allowed(tally.all_known, parts, slack):
                is_any = True
                own = replace(test, sides=(*test.sides, ()), missing=len(parts))
                yield self.judged(own, whole, [*parts, tally.missing])
        if tally.known and not is_any:
            test, parts = self.known_or_missing(j, tally), [tally.all_known, tally.missing]
            if self.is_allowed(whole, parts, slack):
                yield self.judged(test, whole, parts)

    def branch_each(self, j: int, tally: Tally, slack: Fraction) -> Iterator[Test]:
        """One branch a known value, one at least, and one for missing, which is like another."""
        whole = added([tally.all_known, tally.missing], tally.n)
        sides = (*((value,) for value in tally.known), ())
        parts = [*tally.known.values(), tally.missing]
        if tally.known and self.is_allowed(whole, parts, slack):
            test = Test(j, MULTIWAY, math.nan, sides, len(tally.known), ())
            yield self.judged(test, whole, parts)

    # Rows of a node.

    def size(self, held: Sequence[tuple[int, Amount]]) -> Amount:
        """Rows, or copies of rows; spread rows count by their parts."""
        if self.table.is_copies:
            return sum(w for _, w in held)
        return sum(Fraction(w) / Fraction(self.table.weights[i]) for i, w in held)

    def part_of(self, held: Iterable[tuple[int, Amount]]) -> Part:
        counts: dict[int, Amount] = dict.fromkeys(self.table.labels, 0)
        rows = list(held)
        for i, w in rows:
            counts[self.table.classes[i]] += w
        return (*counts.values(), self.size(rows))

    def tally(self, j: int, held: Held) -> Tally:
        cells = self.table.coded[j]
        missing = [(i, w) for i, w in held if cells[i] is None]
        by_value: dict[float, list[tuple[int, Amount]]] = {}
        for i, w in held:
            if (cell := cells[i]) is not None:
                by_value.setdefault(cell, []).append((i, w))
        known = {value: self.part_of(by_value[value]) for value in sorted(by_value)}
        return Tally(known, self.part_of(missing), bool(missing))

    def parted(self, test: Test, held: Held) -> list[Held]:
        """The rows of each branch, and what each weighs there."""
        cells = self.table.coded[test.attribute]
        known = [tuple((i, w) for i, w in held if cells[i] in side) for side in test.sides]
        missing = tuple((i, w) for i, w in held if cells[i] is None)
        if not missing:
            return known
        if test.missing != SPREAD:
            known[test.missing] = tuple(sorted((*known[test.missing], *missing)))
            return known
        weights = [sum(w for _, w in side) for side in known]
        shares = [Fraction(weight) / sum(weights) for weight in weights]
        return [
            tuple(sorted((*side, *((i, w * share) for i, w in missing))))
            for side, share in zip(known, shares, strict=True)
        ]

    # The choice, and the tree.

    def best(self, by_column: Sequence[Sequence[Test]]) -> tuple[Test, Fraction] | None:
        """The test, and n times its score; of the gain ratio the score itself."""
        offered = [first_of_best(tests) for tests in by_column if tests]
        if not offered:
            return None
        if self.rules.criterion != "gain_ratio":
            test = first_of_best(offered)
            return test, test.amount
        total, d = sum((test.amount for test in offered), Fraction(0)), len(offered)
        enough = [t for t in offered if t.amount * d > total or is_same(t.amount * d, total)]
        ratios = [t.amount / t.spread for t in enough]
        place = next(i for i, ratio in enumerate(ratios) if is_same(ratio, max(ratios)))
        return enough[place], ratios[place]

    def columns_tests(self, held: Held, slack: Fraction = Fraction(0)) -> list[list[Test]]:
        return [self.tests(j, held, slack) for j in range(len(self.table.columns))]

    def score(self, test: Test, n: Amount) -> float:
        is_ratio = self.rules.criterion == "gain_ratio"
        return float(test.amount / (test.spread if is_ratio else n))

    def is_stopped(self, part: Part, depth: int, slack: Fraction = Fraction(0)) -> bool:
        counts, size = part[:-1], part[-1]
        share = Fraction(max(counts)) / sum(counts)
        return (
            size <= self.rules.leaf_size + slack
            or share >= Fraction(self.rules.purity) - slack
            or depth == self.rules.max_depth
        )

    def node(self, held: Held, depth: int) -> Test | None:
        """What the node asks; None makes it a leaf."""
        part = self.part_of(held)
        if self.is_stopped(part, depth):
            return None
        found = self.best(self.columns_tests(held))
        if found is None or self.score(found[0], sum(part[:-1])) < self.rules.min_gain:
            return None
        return found[0]

    def grow(self, guide: Guide | None = None, held: Held | None = None, depth: int = 0) -> Node:
        """The whole tree below these rows, all of the table at first."""
        held = self.table.held if held is None else held
        test = self.node(held, depth)
        if guide is not None:
            test = self.guided(guide, test, held, depth)
        below = () if test is None else self.parted(test, held)
        children = (
            self.grow(None if guide is None else guide.child(b), part, depth + 1)
            for b, part in enumerate(below)
        )
        return replace(self.made(held, test), children=tuple(children))

    def made(self, held: Held, test: Test | None) -> Node:
        """A leaf, or a node whose children are yet to grow."""
        *counts, size = self.part_of(held)
        leaf = Node(held, tuple(counts), size)
        if test is None:
            return leaf
        return replace(
            leaf,
            test=test,
            score=self.score(test, leaf.n),
            gain=float(test.amount / leaf.n),
            candidates=self.stood(held),
        )

    def stood(self, held: Held) -> int:
        """How many subsets the choice stood against; by "direction", missing is one more value."""
        found = 0
        for j, column in enumerate(self.table.columns):
            tally = self.tally(j, held)
            is_value = tally.has_missing and self.rules.missing == "direction"
            codes = (*tally.known, *([math.inf] if is_value else []))
            found += sum(1 for _ in self.subsets(codes)) if column.kind == SUBSET else 0
        return found

    def grow_best_first(self, most: int) -> Node:
        """At most so many leaves, by n times the score; of equals the node made earlier."""
        held = self.table.held
        nodes, depths = [self.made(held, self.node(held, 0))], [0]
        below: dict[int, list[int]] = {}
        while len(nodes) - len(below) < most:
            waiting = [i for i, t in enumerate(nodes) if t.test is not None and i not in below]
            if not waiting:
                break
            merits = {i: float(nodes[i].n) * nodes[i].score for i in waiting}
            first = max(waiting, key=lambda i: (merits[i], -i))
            test = nodes[first].test
            assert test is not None
            for other in waiting:  # products of floats may differ in the last place
                gap = abs(merits[first] - merits[other])
                assert gap == 0 or gap > 1e-11 * merits[first], "draw another table"
            parts, depth = self.parted(test, nodes[first].held), depths[first] + 1
            below[first] = list(range(len(nodes), len(nodes) + len(parts)))
            nodes += [self.made(part, self.node(part, depth)) for part in parts]
            depths += [depth] * len(parts)
        return self.assembled(nodes, below, 0)

    def assembled(self, nodes: Sequence[Node], below: dict[int, list[int]], i: int) -> Node:
        if i not in below:
            return self.made(nodes[i].held, None)
        return replace(nodes[i], children=tuple(self.assembled(nodes, below, t) for t in below[i]))

    # Where weights were spread they are rounded in a fitted tree, and what ties here need not tie
    # there. At such a node, and only there, the fitted tree may decide among equals.

    def guided(self, guide: Guide, test: Test | None, held: Held, depth: int) -> Test | None:
        is_rough = any(w != self.table.weights[i] for i, w in held)
        if not is_rough or guide.signature == (test and test.signature):
            return test
        part = self.part_of(held)
        if guide.signature is None:
            return None if self.may_be_leaf(part, test, depth) else test
        if self.is_stopped(part, depth, -CLOSE):
            return test
        rivals = [t for tests in self.columns_tests(held, CLOSE) for t in tests]
        wanted = [t for t in rivals if t.signature == guide.signature]
        is_rival = wanted and (test is None or self.is_close(wanted[0], test, rivals))
        return wanted[0] if is_rival else test

    def may_be_leaf(self, part: Part, test: Test | None, depth: int) -> bool:
        if test is None or self.is_stopped(part, depth, CLOSE):
            return True
        return test.amount <= CLOSE

    def is_close(self, one: Test, other: Test, rivals: Sequence[Test]) -> bool:
        """Near enough to be equal but for rounding.

        The gain ratio has more to compare: ratios, gains within a column, gains with the average.
        """
        if self.rules.criterion != "gain_ratio":
            return abs(one.amount - other.amount) <= CLOSE
        if is_near(one.amount / one.spread, other.amount / other.spread):
            return True
        return self.is_near_average(rivals) or any(
            t.attribute == u.attribute and is_near(t.amount, u.amount)
            for t, u in combinations(rivals, 2)
        )

    def is_near_average(self, rivals: Sequence[Test]) -> bool:
        columns = {t.attribute for t in rivals}
        best = [max(t.amount for t in rivals if t.attribute == j) for j in columns]
        return any(is_near(amount * len(best), sum(best)) for amount in best)


def is_near(a: Amount, b: Amount) -> bool:
    return bool(abs(a - b) <= CLOSE)


def first_of_best(tests: Sequence[Test]) -> Test:
    """Among equals: attribute, then its own order."""
    best = max(test.amount for test in tests)
    return min((t for t in tests if is_same(t.amount, best)), key=lambda t: (t.attribute, t.rank))


def preorder(node: Node) -> list[Node]:
    return [node, *(t for child in node.children for t in preorder(child))]


# --- The way of a row ----------------------------------------------------------------------------


def branch_of(node: Node, cell: Cell) -> int | None:
    """Where a cell goes, SPREAD, or None where the row stays."""
    test = node.test
    assert test is not None
    stay = None if node.heavier < 0 else node.heavier
    if cell is None:
        return stay if test.missing == NONE_MET else test.missing
    if cell == NEVER:
        return stay
    if test.kind == CUT:
        return int(not cell <= test.threshold)
    return next((b for b, side in enumerate(test.sides) if cell in side), stay)


def walk(node: Node, cells: Sequence[Cell], weight: float = 1.0) -> list[tuple[float, Node]]:
    """The nodes where a row ends, and how much of it; cells are coded."""
    if node.test is None:
        return [(weight, node)]
    branch = branch_of(node, cells[node.test.attribute])
    if branch is None:
        return [(weight, node)]
    if branch != SPREAD:
        return walk(node.children[branch], cells, weight)
    total = sum(child.n for child in node.children)
    return [
        end
        for child in node.children
        for end in walk(child, cells, weight * float(child.n / total))
    ]


def shares(ends: Sequence[tuple[float, Node]]) -> list[float]:
    """The share of each class for a row that ends there."""
    K = len(ends[0][1].shares)
    return [math.fsum(w * end.shares[k] for w, end in ends) for k in range(K)]


# --- A fitted tree beside it ---------------------------------------------------------------------


@dataclass(frozen=True)
class Guide:
    """One node of a fitted tree, read from its arrays."""

    tree: Any
    t: int = 0

    def child(self, branch: int) -> Guide | None:
        below = self.children
        return Guide(self.tree, below[branch]) if branch < len(below) else None

    @property
    def children(self) -> list[int]:
        start = self.tree.child_start
        return [int(s) for s in self.tree.children[start[self.t] : start[self.t + 1]]]

    @property
    def values(self) -> dict[int, int]:
        """The branch of every code that the node lists."""
        start, t = self.tree.value_start, self.t
        codes = self.tree.values[start[t] : start[t + 1]].tolist()
        branches = self.tree.branches[start[t] : start[t + 1]].tolist()
        assert codes == sorted(set(codes))
        return dict(zip(codes, branches, strict=True))

    @property
    def signature(self) -> tuple[Any, ...] | None:
        tree, t = self.tree, self.t
        kind, missing = int(tree.kind[t]), int(tree.missing[t])
        if kind == LEAF:
            return None
        attribute = int(tree.attribute[t])
        if kind == CUT:
            return kind, attribute, float(tree.threshold[t]), (), missing
        sides: list[list[float]] = [[] for _ in self.children]
        for code, branch in self.values.items():
            sides[branch].append(float(code))
        return kind, attribute, None, tuple(map(tuple, sides)), missing


def fit(table: Table, rules: Rules, **options: Any) -> Any:
    plain = {"pruning": None, "smoothing": None}
    model = TreeClassifier(**{**plain, **rules.options(table), **options})
    return model.fit(table.frame(), table.y, sample_weight=table.sample_weight)


def grow_beside(model: Any, table: Table, rules: Rules) -> Node:
    """The oracle's tree; with "fractional" the fitted one settles what only rounding can."""
    guide = Guide(model._model) if rules.missing == "fractional" else None
    return Oracle(table, rules).grow(guide)


def assert_same_node(tree: Any, t: int, node: Node, exact: bool) -> None:
    guide, test = Guide(tree, t), node.test
    weights = np.ldexp(tree.units[t].astype(np.float64), -tree.exponent)
    expected = [float(c) for c in node.counts]
    if exact:
        assert weights.tolist() == expected, f"node {t} holds {weights}, not {expected}"
    else:
        assert weights == pytest.approx(expected, rel=1e-9, abs=1e-9)
    asked = None if test is None else test.signature
    assert guide.signature == asked, f"node {t} asks {guide.signature}, not {asked}"
    assert tree.exact[t]
    # What is spread is rounded to whole units; sums of logarithms lose a few digits.
    slack = 1e-12 if exact else 1e-9
    close = pytest.approx(node.score, rel=slack, abs=slack)
    assert tree.score[t] == close, f"node {t} scores {tree.score[t]}, not {node.score}"
    assert tree.gain[t] == pytest.approx(node.gain, rel=slack, abs=slack)
    assert tree.candidates[t] == node.candidates, f"node {t} stood against {tree.candidates[t]}"
    assert not exact or tree.sizes[t] == node.size
    if test is None:
        assert (tree.attribute[t], tree.missing[t], tree.heavier[t]) == (-1, NONE_MET, -1)
        assert (guide.children, guide.values) == ([], {})
        assert (tree.score[t], tree.gain[t]) == (0, 0)
        return
    assert math.isnan(tree.threshold[t]) or test.kind == CUT
    sizes = [float(child.n) for child in node.children]
    if exact or test.kind == MULTIWAY or abs(sizes[0] - sizes[1]) > 1e-6:
        found = int(tree.heavier[t])
        assert found == node.heavier, f"node {t}: branch {found} is heavier, not {node.heavier}"


def assert_same_tree(model: Any, root: Node, rules: Rules) -> None:
    """The same questions, missing branches and scores; counts exact where none is spread."""
    tree, nodes = model._model, preorder(root)
    exact = rules.missing != "fractional"
    numbers = {id(node): t for t, node in enumerate(nodes)}
    for t, node in enumerate(nodes[: len(tree.kind)]):
        assert_same_node(tree, t, node, exact)
        below = [numbers[id(child)] for child in node.children]
        assert Guide(tree, t).children == below, f"node {t}: {Guide(tree, t).children}, {below}"
    assert len(tree.kind) == len(nodes)


def assert_same_answers(model: Any, table: Table, root: Node, rows: Sequence[Cells]) -> None:
    """predict_proba of missing and unknown values is what a walk down the tree gives.

    Classes without weight have their columns too, of zeros.
    """
    every = sorted(set(table.classes))
    assert model.classes_.tolist() == [f"c{k}" for k in every]
    found = model.predict_proba(table.frame(rows))
    walked = [walk(root, [table.code(j, cell) for j, cell in enumerate(row)]) for row in rows]
    expected = np.array([shares(ends) for ends in walked])
    numbers = {id(node): t for t, node in enumerate(preorder(root))}
    leaves = model.apply(table.frame(rows))
    for leaf, ends in zip(leaves.tolist(), walked, strict=True):
        assert len(ends) > 1 or leaf == numbers[id(ends[0][1])]
    at = [every.index(k) for k in table.labels]
    np.testing.assert_allclose(found[:, at], expected, rtol=1e-9, atol=1e-9)
    assert found.shape == (len(rows), len(every))
    assert (np.delete(found, at, axis=1) == 0).all()


# --- Small tables --------------------------------------------------------------------------------

LOOKS: Final = ("few", "many", "ordered", "subset", "multiway", "truth", "truth each")
BY_VALUE: Final = ("multiway", "truth each")
WEIGHTINGS: Final = ("none", "whole", "eighths", "rough")


def make_column(look: str, rng: Any, classes: Any, m: int, rate: float, style: str) -> Column:
    """Half of the cells know the class, and so do the missing values of some columns."""
    n = len(classes)
    m = 2 if look.startswith("truth") else m
    codes = np.where(rng.random(n) < 0.5, (classes * 5 + 1) % m, rng.integers(0, m, n))
    if style == "one value":
        codes[:] = codes[0]
    numbers = codes + rng.normal(size=n) if look == "many" else codes / (10 if look == "few" else 1)
    odds = rate * (2 * (classes == classes[0]) if style == "told by class" else 1)
    is_missing = np.ones(n, dtype=bool) if style == "all missing values" else rng.random(n) < odds
    cells = tuple(None if h else float(x) for x, h in zip(numbers, is_missing, strict=True))
    if look in {"few", "many"}:
        return Column(CUT, "number", cells)
    if look == "ordered":
        return Column(CUT, "ordered", cells, n_levels=m + 1)
    kind = MULTIWAY if look in BY_VALUE else SUBSET
    return Column(kind, "truth" if look.startswith("truth") else "word", cells)


def make_weights(weighting: str, rng: Any, n: int) -> tuple[Amount, ...]:
    """None, copies (0 leaves a row out), or importances: eighths, or numbers of twenty bits."""
    if weighting == "none":
        return (1,) * n
    if weighting == "whole":
        return (1, *rng.integers(0, 4, n - 1).tolist())
    if weighting == "eighths":
        return tuple(Fraction(int(u), 8) for u in rng.integers(1, 24, n))
    return tuple(Fraction(int(u), 2**20) for u in rng.integers(2**16, 2**21, n))


@st.composite
def tables(
    draw: st.DrawFn,
    *,
    criterion: str = "gain",
    weightings: tuple[str, ...] = ("none", "whole"),
    rates: tuple[float, ...] = (0.0, 0.1, 0.3, 0.6),
    styles: tuple[str, ...] = ("", "", "", "told by class", "one value", "all missing values"),
    looks: tuple[str, ...] = LOOKS,
    most: int = 30,
    max_classes: int = 4,
) -> Table:
    """Mixed columns with missing values, some of them copies of another."""
    n, K = draw(st.integers(2, most)), draw(st.integers(2, max_classes))
    rng = np.random.default_rng(draw(st.integers(0, 10**9)))
    classes = rng.integers(0, K, n)
    is_two = criterion == "cart"
    allowed = [look for look in looks if not (is_two and look in BY_VALUE)]
    columns = [
        make_column(look, rng, classes, draw(st.integers(1, 7)), rate, style)
        for look, rate, style in draw(
            st.lists(
                st.tuples(*map(st.sampled_from, (allowed, rates, styles))), min_size=1, max_size=4
            )
        )
    ]
    if draw(st.booleans()):
        columns.append(columns[draw(st.integers(0, len(columns) - 1))])
    weights = make_weights(draw(st.sampled_from(weightings)), rng, n)
    return Table(tuple(columns), tuple(classes.tolist()), weights)


limits: Final = st.fixed_dictionaries(
    {},
    optional={
        "min_samples_leaf": st.integers(2, 6),
        "min_weight_fraction_leaf": st.sampled_from([0.0625, 0.125, 0.25]),
        "max_subset": st.integers(1, 3),
        "leaf_size": st.integers(0, 8),
        "purity": st.sampled_from([0.5, 0.625, 0.75]),
        "min_gain": st.sampled_from([0.0123, 0.107, 0.293]),
    },
)


def rows_to_ask(table: Table, seed: int, most: int = 60) -> list[Cells]:
    """The rows of the table, and missing, unknown, absent and known values in every combination."""
    rng = np.random.default_rng(seed)
    cells: list[list[Cell]] = []
    for j, column in enumerate(table.columns):
        values = table.values(j)
        picked = rng.choice(values, min(len(values), 2), replace=False).tolist() if values else []
        more: list[Cell] = [None]
        if column.look == "number":
            more.append(0.25)
        elif column.look == "truth":
            more += [0.0, 1.0] if values else []
        elif values:
            more.append(NEVER)
        cells.append([*picked, *more])
    every = list(product(*cells))
    some = rng.choice(len(every), min(len(every), most), replace=False).tolist()
    own = zip(*(c.cells for c in table.columns), strict=True)
    return [*(row for row in own), *(every[i] for i in some)]


def check(table: Table, rules: Rules, seed: int = 0) -> Node:
    """The fitted tree is the oracle's, and so are its answers."""
    model = fit(table, rules)
    root = grow_beside(model, table, rules)
    assert_same_tree(model, root, rules)
    assert_same_answers(model, table, root, rows_to_ask(table, seed))
    return root
