"""The test of a node against brute force by the measures of the oracle of trees."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from tests.trees.oracle import MEASURES, content, is_nothing

from sortal import native

if TYPE_CHECKING:
    from numpy.typing import NDArray

GAIN, GAIN_RATIO, GINI, CART = CRITERIA = range(4)
CUT, SUBSET, MULTIWAY = 1, 2, 3
NO_BOUND = 1 << 40

# Scores that are equal as numbers agree to 25 digits here; others must stay apart by far more than
# what counts as equal in the compiled core, or an example proves nothing.
SAME = Fraction(1, 10**25)
CLEAR = Fraction(1, 10**10)


class CloseCallError(Exception):
    """Two scores that differ, but by so little that the core may take them as equal."""


@dataclass(frozen=True)
class Attribute:
    """One attribute of a node: counts[v][k], and sizes where they are not sums of counts."""

    kind: int
    values: list[float]
    counts: list[list[int]]
    sizes: list[int] | None = None

    def size(self, v: int) -> int:
        return sum(self.counts[v]) if self.sizes is None else self.sizes[v]


@dataclass(frozen=True)
class Limits:
    """What is asked of each side, and the most values in V."""

    size: int = 1
    units: int = 1
    subset: int = NO_BOUND


FREE = Limits()


@dataclass(frozen=True)
class Candidate:
    """A test that could be asked; `rank` orders those that score the same."""

    rank: tuple[Any, ...]
    parts: list[list[int]]
    sizes: list[int]
    score: Fraction = Fraction(0)


def whole_of(parts: list[list[int]]) -> list[int]:
    return [sum(column) for column in zip(*parts, strict=True)]


def score(parts: list[list[int]], criterion: int) -> Fraction:
    """The measure; of the gain ratio it is the gain."""
    whole = whole_of(parts)
    measure: Any = list(MEASURES.values())[criterion]
    return Fraction(measure(whole, parts)) / sum(whole)


def split_information(parts: list[list[int]]) -> Fraction:
    sizes = [sum(p) for p in parts]
    return content(sizes) / sum(sizes)


def two_sides(attribute: Attribute, yes: set[int]) -> tuple[list[list[int]], list[int]]:
    sides = [sorted(yes), [v for v in range(len(attribute.values)) if v not in yes]]
    parts = [whole_of([attribute.counts[v] for v in side]) for side in sides]
    return parts, [sum(attribute.size(v) for v in side) for side in sides]


def subsets(attribute: Attribute, most: int) -> list[tuple[int, ...]]:
    """Every V as places: the smaller side, of equal ones that with the smallest code."""
    m = len(attribute.values)
    return [
        V
        for size in range(1, min(m // 2, most) + 1)
        for V in itertools.combinations(range(m), size)
        if 2 * size < m or 0 in V
    ]


def candidates(attribute: Attribute, limits: Limits) -> list[Candidate]:
    m = len(attribute.values)
    if attribute.kind == CUT:
        return [Candidate((v,), *two_sides(attribute, set(range(v + 1)))) for v in range(m - 1)]
    if attribute.kind == SUBSET:
        return [
            Candidate((len(V), V), *two_sides(attribute, set(V)))
            for V in subsets(attribute, limits.subset)
        ]
    sizes = [attribute.size(v) for v in range(m)]
    return [Candidate((), attribute.counts, sizes)] if m > 1 else []


def is_allowed(c: Candidate, limits: Limits) -> bool:
    fit = sum(
        size >= limits.size and sum(part) >= limits.units
        for size, part in zip(c.sizes, c.parts, strict=True)
    )
    parts: Any = c.parts
    return fit >= 2 and not is_nothing(tuple(whole_of(parts)), parts)


def reach(scores: list[Fraction], wanted: Fraction) -> list[bool]:
    """Which scores are at least the one wanted, up to the rounding of logarithms."""
    short = [(wanted - score) / wanted for score in scores]
    if any(SAME < d < CLEAR for d in short):
        raise CloseCallError
    return [d <= SAME for d in short]


def equals_of_best(found: list[Candidate]) -> list[Candidate]:
    scores = [c.score for c in found]
    return list(itertools.compress(found, reach(scores, max(scores))))


def by_average_gain(found: list[list[Candidate]]) -> list[Candidate]:
    """C4.5: each attribute's first test of greatest gain, by ratio if it has the average gain."""
    firsts = [min(equals_of_best(own), key=lambda c: c.rank) for own in found if own]
    gains = [c.score for c in firsts]
    good = reach(gains, sum(gains, Fraction(0)) / len(gains))
    return [
        Candidate(c.rank, c.parts, c.sizes, g / split_information(c.parts))
        for c, g in itertools.compress(zip(firsts, gains, strict=True), good)
    ]


def brute_force(
    attributes: list[Attribute], criterion: int, limits: Limits = FREE
) -> Candidate | None:
    """The node's test; its rank starts with the attribute's number."""
    found = [
        [
            Candidate((j, *c.rank), c.parts, c.sizes, score(c.parts, criterion))
            for c in candidates(attribute, limits)
            if is_allowed(c, limits)
        ]
        for j, attribute in enumerate(attributes)
    ]
    pool = list(itertools.chain(*found))
    if criterion == GAIN_RATIO and pool:
        pool = by_average_gain(found)
    return min(equals_of_best(pool), key=lambda c: c.rank) if pool else None


def best_test(
    attributes: list[Attribute],
    criterion: int,
    limits: Limits = FREE,
    total: int | None = None,
) -> native.BestTest | None:
    n = sum(map(sum, attributes[0].counts))
    return native.best_test(
        [a.kind for a in attributes],
        [np.array(a.values, dtype=np.float64) for a in attributes],
        [np.array(a.counts, dtype=np.int64) for a in attributes],
        [None if a.sizes is None else np.array(a.sizes, dtype=np.int64) for a in attributes],
        n if total is None else total,
        criterion,
        limits.size,
        limits.units,
        limits.subset,
    )


def check(attributes: list[Attribute], criterion: int, limits: Limits = FREE) -> None:
    """The compiled choice is the one of brute force, and says so."""
    expected = brute_force(attributes, criterion, limits)
    got = best_test(attributes, criterion, limits)
    compare(got, expected, attributes, criterion)
    if got is not None:
        counted = [len(subsets(a, limits.subset)) for a in attributes if a.kind == SUBSET]
        assert got.candidates == sum(counted)


def compare(
    got: native.BestTest | None,
    expected: Candidate | None,
    attributes: list[Attribute],
    criterion: int,
) -> None:
    if expected is None or got is None:
        assert got is None
        assert expected is None
        return
    j, *rank = expected.rank
    values = attributes[j].values
    assert (got.attribute, got.kind) == (j, attributes[j].kind)
    if got.kind == CUT:
        assert values[rank[0]] <= got.threshold < values[rank[0] + 1]
    else:
        assert math.isnan(got.threshold)
    assert got.yes.tolist() == ([values[v] for v in rank[1]] if got.kind == SUBSET else [])
    assert got.score == pytest.approx(float(expected.score), rel=1e-9)
    bits_gained = score(expected.parts, GAIN) if criterion == GAIN_RATIO else expected.score
    assert got.gain == pytest.approx(float(bits_gained), rel=1e-9)
    assert got.exact


def draw_node(seed: int) -> tuple[list[Attribute], Limits]:
    """A few rows with their labels and weights, as the tables of one to four attributes."""
    rng = np.random.default_rng(seed)
    K, n = int(rng.integers(2, 7)), int(rng.integers(1, 31))
    labels = rng.integers(0, K, n).tolist()
    units = [1] * n if rng.random() < 0.5 else rng.integers(1, 6, n).tolist()
    copies = bool(rng.random() < 0.5)
    columns: list[list[int]] = []
    attributes = []
    for _ in range(rng.integers(1, 5)):
        if columns and rng.random() < 0.25:
            column = columns[rng.integers(len(columns))]  # a duplicate, perhaps of another kind
        else:
            column = rng.integers(0, rng.integers(1, 9), n).tolist()
        columns.append(column)
        kind = int(rng.choice([CUT, SUBSET, MULTIWAY]))
        attributes.append(table_of(column, labels, units, K, kind, copies=copies))
    least = int(rng.choice([1, 1, 2, 5])), int(rng.choice([1, 1, 3, 8]))
    return attributes, Limits(*least, int(rng.choice([NO_BOUND, NO_BOUND, 1, 2, 3])))


def table_of(
    column: list[int], labels: list[int], units: list[int], K: int, kind: int, *, copies: bool
) -> Attribute:
    values = sorted(set(column))
    counts = [[0] * K for _ in values]
    sizes = [0] * len(values)
    for x, k, weight in zip(column, labels, units, strict=True):
        counts[values.index(x)][k] += weight
        sizes[values.index(x)] += 1
    return Attribute(kind, [float(x) for x in values], counts, None if copies else sizes)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize(
    "seeds", [range(60), pytest.param(range(60, 300), marks=pytest.mark.full)], ids=str
)
def test_the_choice_is_that_of_brute_force(criterion: int, seeds: range) -> None:
    for seed in seeds:
        attributes, limits = draw_node(seed)
        allowed = [a for a in attributes if criterion != CART or a.kind != MULTIWAY]
        for asked in (FREE, limits) if allowed else ():
            try:
                check(allowed, criterion, asked)
            except AssertionError as error:
                error.add_note(f"seed {seed}, {asked}")
                raise


def as_attribute(counts: list[list[int]], kind: int = SUBSET) -> Attribute:
    return Attribute(kind, [float(v) for v in range(len(counts))], counts)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_first_of_equal_columns_is_asked(criterion: int) -> None:
    column = as_attribute([[3, 0], [0, 2], [1, 1]])
    as_numbers = as_attribute(column.counts, CUT)
    for attributes in ([column, as_numbers], [as_numbers, column], [column] * 3, [as_numbers] * 3):
        got = best_test(attributes, criterion)
        assert got is not None
        assert got.attribute == 0
        check(attributes, criterion)


@pytest.mark.parametrize(
    ("criterion", "counts"),
    [
        (GINI, [[1, 2], [4, 5], [2, 7]]),
        (GINI, [[4, 0], [4, 4], [3, 1], [4, 0]]),
        (GINI, [[3, 2], [2, 0], [6, 2], [1, 2]]),
        (GAIN, [[1, 0], [2, 7], [3, 3]]),
        (GAIN, [[2, 1], [3, 3], [0, 1], [5, 1]]),
        (GAIN, [[1, 2, 6], [3, 6, 0], [3, 6, 3]]),
    ],
)
def test_ties_that_rounding_would_break(criterion: int, counts: list[list[int]]) -> None:
    """Two scores equal as numbers, the first of them smaller in its last digit as computed."""
    check([as_attribute(counts)], criterion)
    check([as_attribute(counts, CUT), as_attribute(counts)], criterion)


def test_values_without_a_say_are_placed_by_the_limits() -> None:
    """CART: {2, 3} is best, but {0} with a value of the node's shares is as good and goes first."""
    counts = [[0, 2], [1, 1], [1, 0], [1, 0], [1, 1]]
    attribute = Attribute(SUBSET, [0.0, 1.0, 2.0, 3.0, 4.0], counts, [1] * 5)
    got = best_test([attribute], CART, Limits(size=2))
    assert got is not None
    assert got.yes.tolist() == [0, 1]
    check([attribute], CART, Limits(size=2))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_equal_distributions_score_nothing(criterion: int) -> None:
    same = [[2, 4, 6], [1, 2, 3], [5, 10, 15]]
    for kind in (CUT, SUBSET, MULTIWAY)[: 2 if criterion == CART else 3]:
        assert best_test([as_attribute(same, kind)], criterion) is None
    large = [[c << 37 for c in row] for row in same]
    assert best_test([as_attribute(large)], criterion) is None


@pytest.mark.parametrize("criterion", CRITERIA)
def test_one_row_of_difference_among_many_is_seen(criterion: int) -> None:
    n = 1 << 40
    attribute = as_attribute([[n, n], [n, n + 1]])
    got = best_test([attribute], criterion)
    assert got is not None
    assert got.score > 0
    assert got.yes.tolist() == [0]


def test_gain_ratio_wants_at_least_the_average_gain() -> None:
    small = as_attribute([[1, 0], [20, 20]])
    large = as_attribute([[10, 5], [11, 15]])
    gains = [score(a.counts, GAIN) for a in (small, large)]
    ratios = [g / split_information(a.counts) for g, a in zip(gains, (small, large), strict=True)]
    assert gains[0] < gains[1]
    assert ratios[0] > ratios[1]
    for attributes in ([small, large], [large, small], [small, small, large]):
        check(attributes, GAIN_RATIO)
    got = best_test([small, large], GAIN_RATIO)
    assert got is not None
    assert got.attribute == 1


@pytest.mark.parametrize("criterion", [GAIN, GAIN_RATIO, GINI])
def test_a_multiway_test_wants_two_branches_within_the_limits(criterion: int) -> None:
    ids = Attribute(MULTIWAY, [0.0, 1.0, 2.0, 3.0], [[2, 0], [0, 1], [1, 0], [0, 1]])
    check([ids], criterion, Limits(size=1))
    assert best_test([ids], criterion, Limits(size=1)) is not None
    assert best_test([ids], criterion, Limits(size=2)) is None
    assert best_test([ids], criterion, Limits(units=2)) is None


def make_table(seed: int, m: int, K: int, *, large: bool = False) -> list[list[int]]:
    """Counts with equal shares, points on one line and on the border, the node's own shares."""
    rng = np.random.default_rng(seed)
    top = 1 << 40 if large else int(rng.choice([2, 4, 30]))
    rows: list[list[int]] = []
    while len(rows) < m:
        row = [int(c) for c in rng.integers(0, top, K)]
        way = rng.integers(0, 8) if rows else 0
        a, b = (rows[i] for i in rng.integers(0, len(rows), 2)) if rows else (row, row)
        if way == 1:
            row = [c * int(rng.integers(1, 4)) for c in a]
        elif way == 2:
            row = [x + y * int(rng.integers(1, 3)) for x, y in zip(a, b, strict=True)]
        elif way == 3:
            row[int(rng.integers(0, K))] = 0
        elif way == 4:
            row = [c if k == rng.integers(0, K) else 0 for k, c in enumerate(row)]
        elif way == 5:
            row = whole_of(rows)
        if sum(map(sum, [*rows, row])) > 1 << 46:
            row = [int(c) for c in rng.integers(0, 1 << 20, K)]
        if any(row):
            rows.append(row)
    return rows


def x_log_x(x: NDArray[np.float64]) -> Any:
    return x * np.log2(np.maximum(x, 1.0))


def rough_keys(left: NDArray[np.float64], whole: list[int], criterion: int) -> Any:
    """What rises with the score, by floating point, of many sides at once."""
    right = np.array(whole, dtype=float) - left
    if criterion == CART:
        n_l, n_r = left.sum(axis=1, keepdims=True), right.sum(axis=1, keepdims=True)
        return np.abs(left * n_r - right * n_l).sum(axis=1)
    if criterion == GINI:
        return sum((side**2).sum(axis=1) / side.sum(axis=1) for side in (left, right))
    return sum(x_log_x(side).sum(axis=1) - x_log_x(side.sum(axis=1)) for side in (left, right))


def best_of(
    counts: list[list[int]], places: list[tuple[int, ...]], criterion: int, limits: Limits = FREE
) -> Candidate | None:
    """The best of many subsets: floating point leaves out what is far behind, fractions decide."""
    member = np.zeros((len(places), len(counts)))
    for i, V in enumerate(places):
        member[i, V] = 1.0
    keys = rough_keys(member @ np.array(counts, dtype=float), whole_of(counts), criterion)
    attribute = as_attribute(counts)
    sizes = member @ np.array(counts, dtype=float).sum(axis=1)
    n, least = sum(map(sum, counts)), max(limits.size, limits.units)
    keys[(sizes < least) | (n - sizes < least)] = -np.inf
    near = np.flatnonzero(keys >= keys.max() - 1e-9 * abs(keys.max()))
    found = [
        Candidate((0, len(places[i]), places[i]), *two_sides(attribute, set(places[i])))
        for i in near
    ]
    scored = [
        Candidate(c.rank, c.parts, c.sizes, score(c.parts, criterion))
        for c in found
        if is_allowed(c, limits)
    ]
    return min(equals_of_best(scored), key=lambda c: c.rank) if scored else None


def check_route(counts: list[list[int]], criterion: int, limits: Limits = FREE) -> None:
    attribute = as_attribute(counts)
    places = subsets(attribute, limits.subset)
    got = best_test([attribute], criterion, limits)
    compare(got, best_of(counts, places, criterion, limits), [attribute], criterion)
    assert got is None or got.candidates == len(places)


def limits_for(seed: int, counts: list[list[int]]) -> Limits:
    rng = np.random.default_rng(seed)
    n, m = sum(map(sum, counts)), len(counts)
    subset = int(rng.integers(1, m)) if rng.integers(0, 2) else NO_BOUND
    return Limits(1, int(rng.integers(1, max(n // 3, 2))), subset)


@pytest.mark.parametrize(
    ("K", "m"), [(2, 12), (3, 7), (3, 10), (3, 12), (4, 10), (5, 9), (6, 8), (13, 6)]
)
@pytest.mark.parametrize("criterion", [GAIN, GINI, CART])
def test_every_route_finds_the_best_of_all_subsets(criterion: int, K: int, m: int) -> None:
    """Breiman's order, lines, sign vectors, Gray code: small counts, so that ties abound."""
    for seed in range(5):
        counts = make_table(seed, m, K)
        check_route(counts, criterion)
        check_route(counts, criterion, limits_for(seed, counts))


@pytest.mark.parametrize("criterion", [GAIN, GINI])
def test_lines_find_the_best_of_8191_subsets(criterion: int) -> None:
    for seed in range(3):
        check_route(make_table(100 + seed, 14, 3), criterion)


@pytest.mark.parametrize(("K", "m"), [(2, 9), (3, 9), (4, 8), (5, 7)])
@pytest.mark.parametrize("criterion", [GAIN, GINI, CART])
def test_routes_with_large_counts(criterion: int, K: int, m: int) -> None:
    proved = 0
    for seed in range(8):
        try:
            check_route(make_table(seed, m, K, large=True), criterion)
        except CloseCallError:
            continue
        proved += 1
    assert proved >= 5


@pytest.mark.parametrize(("criterion", "noise"), [(GAIN, 0), (GAIN, 1), (GINI, 1)])
def test_large_counts_on_one_line_or_nearly_so(criterion: int, noise: int) -> None:
    """Slopes that floating point cannot tell apart; a wrong order would mix up the sides."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        a, b = rng.integers(1 << 37, 1 << 40, (2, 3))
        counts = [
            [int(c) for c in a * int(s) + b * int(t) + rng.integers(0, 1 + noise, 3)]
            for s, t in rng.integers(0, 9, (9, 2))
            if s + t > 0
        ]
        check_route([*counts, *make_table(seed, 2, 3, large=True)], criterion)


@pytest.mark.parametrize("criterion", [GAIN, GINI, CART])
def test_small_subsets_are_all_tried(criterion: int) -> None:
    """Of 40 values there are 820 subsets of one or two."""
    for seed in range(2):
        check_route(make_table(300 + seed, 40, 4), criterion, Limits(subset=2))


def prefixes_by_share(counts: list[list[int]], most_classes: int) -> list[tuple[int, ...]]:
    """Prefixes of the orders by the share of up to so many classes together."""
    m, K = len(counts), len(counts[0])
    found = []
    for size in range(1, most_classes + 1):
        for classes in itertools.combinations(range(K), size):
            shares = [Fraction(sum(row[k] for k in classes), sum(row)) for row in counts]
            order = sorted(range(m), key=lambda v: (shares[v], v))
            found += [tuple(sorted(order[:p])) for p in range(1, m)]
    return found


def score_of(counts: list[list[int]], V: set[int], criterion: int) -> float:
    return float(score(two_sides(as_attribute(counts), V)[0], criterion))


@pytest.mark.parametrize(("K", "most_classes"), [(3, 3), (5, 2), (7, 1)])
@pytest.mark.parametrize("criterion", [GAIN, GINI])
def test_where_subsets_are_too_many_to_try(criterion: int, K: int, most_classes: int) -> None:
    """Lines part three classes; orders do others, and moving one value does not improve on them."""
    for seed in range(413, 416):
        counts = make_table(seed, 24, K)
        got = best_test([as_attribute(counts)], criterion)
        part = best_of(counts, prefixes_by_share(counts, most_classes), criterion)
        assert got is not None
        assert part is not None
        V = set(got.yes.tolist())
        assert got.exact == (K == 3)
        assert got.candidates == 2.0**23 - 1 if K == 3 else 23 <= got.candidates < 2.0**23
        assert got.score == pytest.approx(score_of(counts, V, criterion), rel=1e-9)
        assert got.score >= float(part.score) * (1 - 1e-12)
        for v in range(24):
            if V not in ({v}, set(range(24)) - {v}):
                assert score_of(counts, V ^ {v}, criterion) <= got.score * (1 + 1e-12)
        finest = best_test([as_attribute(counts, MULTIWAY)], criterion)
        assert finest is not None
        assert got.score <= finest.score


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("K", [2, 3, 4, 13])
def test_heuristics_keep_the_limits(criterion: int, K: int) -> None:
    """The best of all is not allowed, and the subsets are too many to try."""
    counts = make_table(500, 23, K)
    n = sum(map(sum, counts))
    free = best_test([as_attribute(counts)], criterion)
    assert free is not None
    side = sum(sum(counts[v]) for v in free.yes.tolist())
    least = min(side, n - side) + 1
    for limits in (Limits(units=least), Limits(size=least), Limits(subset=len(free.yes) - 1 or 1)):
        got = best_test([as_attribute(counts)], criterion, limits)
        if got is None or got.yes.tolist() == free.yes.tolist():
            continue
        yes = sum(sum(counts[v]) for v in got.yes.tolist())
        assert min(yes, n - yes) >= max(limits.units, limits.size)
        assert len(got.yes) <= limits.subset
        assert got.gain <= free.gain


def test_an_attribute_that_cannot_win_leaves_the_node_certain() -> None:
    rng = np.random.default_rng(7)
    noise = [[int(c) for c in rng.integers(20, 30, 5)] for _ in range(24)]
    totals = whole_of(noise)
    pure = [[totals[k] if i == k else 0 for k in range(5)] for i in range(5)]
    for criterion in (GAIN, GINI):
        alone = best_test([as_attribute(noise)], criterion)
        assert alone is not None
        assert not alone.exact
        both = best_test([as_attribute(noise), as_attribute(pure, CUT)], criterion)
        assert both is not None
        assert (both.attribute, both.exact, both.candidates) == (1, True, 2.0**23 - 1)
    # C4.5's rule compares with an average, so that every attribute counts.
    ratio = best_test([as_attribute(noise), as_attribute(pure, CUT)], GAIN_RATIO)
    assert ratio is not None
    assert (ratio.attribute, ratio.exact) == (1, False)


@pytest.mark.parametrize("criterion", [GAIN, GINI])
def test_an_attribute_that_lost_leaves_the_node_certain(criterion: int) -> None:
    """Searched, since its bound beats the first look at the other, but not the other's best."""
    strong = [[c * 24_000 for c in row] for row in make_table(203, 12, 5)]
    first = best_of(strong, prefixes_by_share(strong, 1), criterion)
    best = best_test([as_attribute(strong)], criterion)
    assert first is not None
    assert best is not None
    assert float(first.score) < best.score * 0.999
    weak, bound = weaker(whole_of(strong), (float(first.score) + best.score) / 2, criterion)
    assert float(first.score) < bound < best.score
    for attributes, j in (([strong, weak], 0), ([weak, strong], 1)):
        both = best_test([as_attribute(counts) for counts in attributes], criterion)
        assert both is not None
        assert (both.attribute, both.exact) == (j, True)
        assert both.candidates == 2.0**23 - 1 + 2.0**11 - 1


def weaker(totals: list[int], wanted: float, criterion: int) -> tuple[list[list[int]], float]:
    """Counts of 24 values with these class totals, whose multiway test scores about as wanted."""
    n_values = 24
    rng = np.random.default_rng(1)
    way = rng.uniform(-1.0, 1.0, (n_values, len(totals)))
    way -= way.mean(axis=0)
    low, high = 0.0, 0.7
    for _ in range(40):
        middle = (low + high) / 2
        counts = (np.array(totals) // n_values * (1 + middle * way)).astype(int).tolist()
        counts[-1] = [
            t - sum(c) for t, c in zip(totals, zip(*counts[:-1], strict=True), strict=True)
        ]
        found = float(score(counts, criterion))
        low, high = (middle, high) if found < wanted else (low, middle)
    assert min(map(min, counts)) > 0
    return counts, found


def threshold(a: float, b: float) -> float:
    got = best_test([Attribute(CUT, [a, b], [[1, 0], [0, 1]])], GAIN)
    assert got is not None
    return got.threshold


LARGEST = float(np.finfo(float).max)


@pytest.mark.parametrize(
    ("a", "b", "v"),
    [
        (3.4, 3.5, 3.45),
        (0.1, 0.2, 0.15),
        (1.0, 2.0, 1.5),
        (1.0, math.nextafter(1.0, 2.0), 1.0),
        (LARGEST / 2, LARGEST, float(f"{LARGEST * 0.75:.14e}")),
        (math.nextafter(LARGEST, 0.0), LARGEST, math.nextafter(LARGEST, 0.0)),
        (-LARGEST, LARGEST, 0.0),
        (0.0, 5e-324, 0.0),
        (-5e-324, 0.0, -5e-324),
        (0.1 + 0.2, 0.4, 0.35),
        (1e15 + 0.25, 1e15 + 0.5, 1e15 + 0.375),  # fifteen digits would leave the gap
        (1.0, 1 + 2.0**-51, 1.0),  # fifteen digits of the midpoint are those of 1
        (1 + 2.0**-52, 1 + 3 * 2.0**-52, 1 + 2.0**-51),  # they would leave the gap here
        (5e-324, 1e-323, 5e-324),
    ],
)
def test_thresholds_are_short_and_exist_at_the_ends_of_the_numbers(
    a: float, b: float, v: float
) -> None:
    assert threshold(a, b) == v


def test_a_threshold_at_zero_has_no_sign() -> None:
    assert math.copysign(1.0, threshold(-1.0, 1.0)) == 1.0


def test_a_node_without_attributes_has_no_test() -> None:
    assert native.best_test([], [], [], [], 2, GAIN, 1, 1, NO_BOUND) is None
