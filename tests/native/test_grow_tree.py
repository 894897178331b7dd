"""Growing from tables of many rows against the choice from a full table of counts.

Nodes of more than 1024 rows, with fewer than four levels to go, are searched by bins and bounds;
the same node's full table is the oracle.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pytest

from sortal import native
from sortal.native import trees
from sortal.trees.split_scores import CRITERIA_BY_NAME as DESCRIBED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Float = NDArray[np.float64]
    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]
    Column = Float | Int32

CRITERIA = range(len(trees.CRITERIA))
CART = trees.CRITERIA.index("cart")
MIXED = [trees.CUT, trees.SUBSET, trees.MULTIWAY, trees.CUT, trees.SUBSET, trees.MULTIWAY]


def columns_of(rng: np.random.Generator, n: int) -> list[Float]:
    """Columns that are hard for bins: smooth, skewed, with atoms, crowded, far from zero."""
    smooth = rng.normal(size=n)
    crowded = np.where(rng.random(n) < 0.7, 0.0, rng.normal(size=n))
    return [
        smooth,
        np.exp(3 * rng.normal(size=n)),
        crowded,
        np.round(4 * rng.normal(size=n)),
        1e9 + rng.integers(0, 700, n).astype(np.float64),
        np.where(rng.random(n) < 0.5, 1e-300, 1e300) * rng.random(n),
        np.full(n, 3.5),
    ]


def labels_of(
    rng: np.random.Generator, columns: list[Float], n_classes: int, noise: float
) -> Int32:
    """Classes by the order of one column, so that the best cut lies anywhere, with noise."""
    n = len(columns[0])
    place = np.argsort(np.argsort(columns[rng.integers(len(columns) - 1)], kind="stable"))
    share = np.clip(place / n + noise * rng.normal(size=n), 0, 0.999999)
    skewed = share ** rng.uniform(0.3, 4.0)
    return (skewed * n_classes).astype(np.int32)


def table(
    column: Column, classes: Int32, n_classes: int, units: Int64 | None
) -> tuple[Float, Int64, Int64]:
    values, codes = np.unique(column, return_inverse=True)
    counts = native.count_codes(codes.astype(np.int32), len(values), classes, n_classes, units)
    return values.astype(np.float64), counts, np.bincount(codes).astype(np.int64)


class Given(NamedTuple):
    """What a tree grows from."""

    columns: Sequence[Column]
    classes: Int32
    n_classes: int
    units: Int64 | None = None
    copies: bool = True
    kinds: Sequence[int] | None = None
    n_values: Sequence[int] | None = None


def grow(given: Given, growth: trees.Growth, threads: int = 2) -> trees.Grown:
    columns, d = given.columns, len(given.columns)
    kinds, n_values = given.kinds or [trees.CUT] * d, given.n_values or [0] * d
    missing = [bool(np.isnan(x).any()) if x.dtype == float else False for x in columns]
    asked = trees.TreeColumns(columns, kinds, n_values, missing)
    weights = trees.TreeRowWeights(given.units, given.copies)
    return trees.grow_tree(asked, given.classes, given.n_classes, weights, growth, threads)


def expected(given: Given, rows: Int64, growth: trees.Growth) -> native.BestTest | None:
    """The test of a node's full table."""
    units, classes = given.units, given.classes[rows]
    total = len(given.classes) if units is None else int(units.sum())
    own = None if units is None else units[rows]
    parts = [table(x[rows], classes, given.n_classes, own) for x in given.columns]
    return native.best_test(
        given.kinds or [trees.CUT] * len(parts),
        [part[0] for part in parts],
        [part[1] for part in parts],
        [None if given.copies else part[2] for part in parts],
        total,
        growth.criterion,
        growth.min_size,
        growth.min_units,
        growth.max_subset,
    )


def branches(grown: trees.Grown, t: int, x: Column) -> Int64:
    """Which branch each row of a node takes."""
    if grown.kind[t] == trees.CUT:
        return np.asarray(x > grown.threshold[t], dtype=np.int64)
    listed = slice(grown.value_start[t], grown.value_start[t + 1])
    assert grown.values[listed].tolist() == np.unique(x).tolist()
    places = np.searchsorted(grown.values[listed], x)
    return np.asarray(grown.branches[listed][places], dtype=np.int64)


def check_nodes(given: Given, growth: trees.Growth) -> int:
    """Every node's test is that of its full table; returns how many nodes have one.

    A leaf that neither depth nor a bound on leaves nor size nor purity made has no test.
    """
    grown = grow(given, growth)
    rows: dict[int, Int64] = {0: np.arange(len(given.classes))}
    depth = {0: 0}
    for t in range(len(grown.kind)):
        here = rows.pop(t)
        own = None if given.units is None else given.units[here]
        counts = np.bincount(given.classes[here], own, minlength=given.n_classes)
        assert grown.units[t].tolist() == counts.tolist()
        assert grown.sizes[t] == (counts.sum() if given.copies else len(here))
        ended = (
            depth[t] == growth.max_depth
            or growth.max_leaves > 0
            or grown.sizes[t] <= growth.leaf_size
            or counts.max() == counts.sum()
        )
        if grown.kind[t] == trees.LEAF and ended:
            continue
        best = expected(given, here, growth)
        if grown.kind[t] == trees.LEAF:
            assert best is None
            continue
        assert best is not None
        # The same bits, not about the same: one definition of a split.
        assert (grown.attribute[t], grown.score[t]) == (best.attribute, best.score)
        assert (grown.gain[t], grown.exact[t]) == (best.gain, best.exact)
        assert grown.candidates[t] == best.candidates
        np.testing.assert_equal(grown.threshold[t], best.threshold)
        taken = branches(grown, t, given.columns[best.attribute][here])
        if grown.kind[t] == trees.SUBSET:
            yes = np.unique(given.columns[best.attribute][here[taken == 0]])
            assert yes.tolist() == best.yes.tolist()
        for b, child in enumerate(grown.children[grown.child_start[t] : grown.child_start[t + 1]]):
            rows[int(child)], depth[int(child)] = here[taken == b], depth[t] + 1
    return int(np.count_nonzero(grown.kind))


def test_every_criterion_of_the_core_is_described() -> None:
    assert tuple(DESCRIBED) == trees.CRITERIA


def growth_of(criterion: int, **changed: int) -> trees.Growth:
    plain = trees.Growth(
        criterion=criterion,
        leaf_size=1,
        purity=1.0,
        max_depth=3,
        min_size=1,
        min_units=1,
        min_gain=0.0,
        max_leaves=-1,
        max_subset=trees.NO_BOUND,
    )
    return plain._replace(**changed)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_bins_and_bounds_find_the_best_cut(criterion: int) -> None:
    """Or sorted columns, where there are more than four levels to go."""
    for n_classes, (seed, depth) in product((2, 3, 7, 12), ((0, 3), (4, 3), (8, 7))):
        rng = np.random.default_rng([seed + criterion, n_classes])
        columns = columns_of(rng, 4000)
        noise = (0.0, 0.02, 0.3)[(seed + criterion) % 3]
        classes = labels_of(rng, columns, n_classes, noise)
        growth = growth_of(criterion, max_depth=depth)
        assert check_nodes(Given(columns, classes, n_classes), growth)


def test_a_bin_that_holds_nearly_all_rows_of_a_node_is_searched() -> None:
    """On both sides of its end classes are even, so that only the key's curvature bounds it."""
    rng = np.random.default_rng(8)
    n, n_inside = 300_000, 1_100  # of the node: fewer than a bin of all rows holds
    inside, few = np.linspace(0.501, 0.503, n_inside), np.array([0.1, 0.1, 0.9, 0.9])
    x = np.concatenate([inside, few, rng.random(n)])
    of_node = np.arange(len(x)) < n_inside + len(few)
    in_order = np.arange(n_inside) >= n_inside // 2 - 1  # with the two before: as many of either
    classes = np.concatenate([in_order, [0, 0, 0, 1], np.full(n, 2)]).astype(np.int32)
    given = Given([of_node.astype(np.float64), x], classes, 3)
    assert check_nodes(given, growth_of(trees.CRITERIA.index("gini"), max_depth=2)) == 2


def test_more_distinct_values_than_sixteen_bits_count() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=70_000)
    classes = (np.clip(x + rng.normal(size=70_000), -1.4, 1.4) + 1.5).astype(np.int32)
    for depth in (3, 5):
        given = Given([x, rng.permutation(x)], classes, 3)
        assert check_nodes(given, growth_of(0, max_depth=depth)) == 2**depth - 1


def test_nodes_of_every_size() -> None:
    rng = np.random.default_rng(6)
    columns = columns_of(rng, 21_000)[:4]
    classes = labels_of(rng, columns, 2, noise=0.3)
    growth = growth_of(trees.CRITERIA.index("gini"), max_depth=-1, leaf_size=40)
    assert check_nodes(Given(columns, classes, 2), growth) > 200


def small(seed: int, criterion: int) -> tuple[Given, trees.Growth]:
    """Mixed columns of few or many values, some weighted, some constrained."""
    rng = np.random.default_rng([seed, criterion])
    n, n_classes = int(rng.integers(5, 300)), int(rng.integers(2, 7))
    classes = rng.integers(0, n_classes, n).astype(np.int32)
    kinds = rng.choice(MIXED[: 2 if criterion == CART else 3], rng.integers(1, 6)).tolist()
    values, columns = rng.integers(1, 30, len(kinds)).tolist(), []
    for kind, m in zip(kinds, values, strict=True):
        told = rng.random(n) < 0.4
        codes = np.where(told, (classes * 7 + 2) % m, rng.integers(0, m, n)).astype(np.int32)
        many = rng.normal(size=n) + classes * rng.normal()
        columns.append(codes if kind != trees.CUT else many if m % 2 else codes / 4.0)
    units = rng.integers(1, 4, n) if seed % 3 else None
    growth = growth_of(
        criterion,
        max_depth=int(rng.choice([-1, 4])),
        leaf_size=int(rng.integers(1, 10)),
        min_size=int(rng.integers(1, 6)),
        min_units=int(rng.integers(1, 6)),
        max_subset=int(rng.choice([trees.NO_BOUND, 1, 2, 5])),
    )
    return Given(columns, classes, n_classes, units, seed % 3 < 2, kinds, values), growth


@pytest.mark.parametrize("criterion", CRITERIA)
def test_every_node_of_small_trees(criterion: int) -> None:
    n_tests = 0
    for seed in range(30):
        try:
            n_tests += check_nodes(*small(seed, criterion))
        except AssertionError as error:
            error.add_note(f"seed {seed}")
            raise
    assert n_tests > 150


def test_many_values_and_classes_may_be_heuristic_and_say_so() -> None:
    """60 values of 5 classes: no exact route is promised, but to the sign vectors of CART."""
    rng = np.random.default_rng(8)
    n = 20_500
    classes = rng.integers(0, 5, n).astype(np.int32)
    near = classes * 11 + rng.integers(0, 5, n)
    codes = np.where(rng.random(n) < 0.3, near, rng.integers(0, 60, n)).astype(np.int32)
    given = Given([codes], classes, 5, kinds=[trees.SUBSET], n_values=[60])
    for criterion in (0, 2, CART):
        growth = growth_of(criterion, max_depth=4)
        assert check_nodes(given, growth) > 1
        assert grow(given, growth).exact.all() == (criterion == CART)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_weights_and_least_sizes(criterion: int) -> None:
    for i, least in enumerate((1, 40, 900)):
        rng = np.random.default_rng([criterion, least])
        columns = columns_of(rng, 3000)
        classes = labels_of(rng, columns, 3, noise=0.1)
        copies = (criterion + i) % 2 == 0
        units = rng.integers(1, 6 if copies else 1 << 35, 3000)
        growth = growth_of(criterion, min_size=least, min_units=int(units.sum()) // 50)
        assert check_nodes(Given(columns, classes, 3, units, copies), growth)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_node_without_structure_is_searched_in_full(criterion: int) -> None:
    """Scores so close to zero that only whole numbers can tell them from it."""
    x = np.arange(2000, dtype=np.float64)
    classes = (np.arange(2000) % 2).astype(np.int32)
    growth = growth_of(criterion, max_depth=1, min_size=999)
    assert check_nodes(Given([x, x], classes, 2), growth) == 1
    # cut at 1000: both halves have equal shares
    pairs = (np.arange(2000) // 2 % 2).astype(np.int32)
    growth = growth._replace(min_size=1000)
    assert check_nodes(Given([x, x], pairs, 2), growth) == 0


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n", [2000, 400])
def test_a_score_that_only_one_unit_makes(criterion: int, n: int) -> None:
    """One cut is allowed, and its score is above zero by one unit in 2**49."""
    x = np.arange(n, dtype=np.float64)
    units = np.full(n, 1 << 38)
    units[-1] += 1
    given = Given([x, x], (np.arange(n) // 2 % 2).astype(np.int32), 2, units, copies=False)
    assert check_nodes(given, growth_of(criterion, max_depth=1, min_size=n // 2)) == 1


@pytest.mark.parametrize("criterion", [0, 1])
def test_the_best_cut_within_a_bin_that_most_of_a_class_enters(criterion: int) -> None:
    n = 4096  # 256 bins of 16 rows: row 593 begins a bin
    classes = np.ones(n, dtype=np.int32)
    classes[:593] = np.arange(593) % 5 == 4
    classes[593:605], classes[605:609] = 0, 1
    classes[609:] = np.arange(n - 609) % 7 != 6
    given = Given([np.arange(n, dtype=np.float64)], classes, 2)
    assert check_nodes(given, growth_of(criterion, max_depth=1)) == 1


def test_the_lower_of_two_cuts_that_only_rounding_tells_apart() -> None:
    """(8, 2) and (10, 5) of (10, 15) have equal Gini; rounded, the second may be larger."""
    sizes = [(1, 2), (0, 8), (1, 3), (0, 2), (1, 10)]
    growth = growth_of(trees.CRITERIA.index("gini"), max_depth=1)
    for m in (19, 22, 25, 32, 38, 100, 121, 128):
        classes = np.concatenate([np.full(s * m, k) for k, s in sizes]).astype(np.int32)
        x = np.arange(25 * m, dtype=np.float64)
        if m >= 100:  # an atom, so that the higher cut lies between bins and the lower within one
            x[15 * m - 60 : 15 * m] = x[15 * m - 1]
        assert check_nodes(Given([x], classes, 2), growth) == 1
        assert grow(Given([x], classes, 2), growth).threshold[0] == 10 * m - 0.5


@pytest.mark.parametrize(
    ("criterion", "weights", "leaves"),
    [
        *((0, "none", -1), (0, "copies", 9), (0, "rows", -1)),
        *((1, "none", 9), (1, "copies", -1), (1, "rows", 9)),
        *((2, "none", -1), (2, "copies", -1), (2, "rows", 9)),
    ],
)
def test_categories_in_large_nodes(criterion: int, weights: str, leaves: int) -> None:
    rng = np.random.default_rng([criterion, len(weights)])
    n, n_classes = 6000, 3
    classes = rng.integers(0, n_classes, n).astype(np.int32)

    def telling(m: int, share: float) -> Int32:
        told = rng.random(n) < share
        return np.where(told, (classes * 3 + 1) % m, rng.integers(0, m, n)).astype(np.int32)

    columns: list[Column] = [rng.normal(size=n) + classes / 2, telling(7, 0.4), telling(3, 0.6)]
    columns += [telling(9, 0.3) / 4.0, telling(5000, 0.1), telling(4, 0.5)]
    units = None if weights == "none" else rng.integers(1, 5, n)
    values = [0, 7, 3, 0, 5000, 4]
    given = Given(columns, classes, n_classes, units, weights != "rows", MIXED, values)
    least = 3 if weights == "rows" else 1
    for depth in (3, 6):
        growth = growth_of(criterion, max_leaves=leaves, min_size=least, max_subset=2)
        assert check_nodes(given, growth._replace(max_depth=depth)) > 1


@pytest.mark.parametrize(("criterion", "weighted"), [(0, False), (1, True), (2, False), (2, True)])
def test_many_branches_of_many_rows(criterion: int, weighted: bool) -> None:
    """The largest child's table is what two others leave of the parent's."""
    rng = np.random.default_rng(criterion)
    n, n_classes = 12_000, 3
    classes = rng.integers(0, n_classes, n).astype(np.int32)
    a = np.where(rng.random(n) < 0.8, classes, 0).astype(np.int32)
    b = np.where(rng.random(n) < 0.6, (classes + 1) % 4, rng.integers(0, 4, n)).astype(np.int32)
    columns: list[Column] = [rng.normal(size=n) + classes / 3, b, a, b / 2.0, b, a]
    units = rng.integers(1, 1 << 20, n) if weighted else None
    given = Given(columns, classes, n_classes, units, not weighted, MIXED, [0, 4, 3, 0, 4, 3])
    assert check_nodes(given, growth_of(criterion)) > 1
    assert trees.MULTIWAY in grow(given, growth_of(criterion)).kind.tolist()


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("copies", [1, 800])
def test_of_equal_nodes_the_one_made_first_is_asked(criterion: int, copies: int) -> None:
    a = np.repeat([0.0, 0.0, 1.0, 1.0], 4 * copies)
    b = np.tile([0.0, 1.0], 8 * copies)
    given = Given([a, b], (2 * a + b).astype(np.int32), 4)
    grown = grow(given, growth_of(criterion, max_leaves=3, max_depth=-1))
    assert grown.kind.tolist() == [trees.CUT, trees.CUT, 0, 0, 0]
    assert grown.children.tolist() == [1, 4, 2, 3]


@pytest.mark.parametrize("criterion", CRITERIA)
def test_threads_do_not_matter(criterion: int) -> None:
    rng = np.random.default_rng(criterion)
    columns = columns_of(rng, 12_000)
    classes = labels_of(rng, columns, 4, noise=0.2)
    growth = growth_of(criterion, max_depth=-1)
    given = Given(columns, classes, 4)
    one, five = (grow(given, growth, threads) for threads in (1, 5))
    for a, b in zip(one, five, strict=True):
        np.testing.assert_array_equal(a, b)
