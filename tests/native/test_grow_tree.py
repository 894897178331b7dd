"""Growing from tables of many rows against the choice from a full table of counts.

Nodes of more than 1024 rows, with fewer than four levels to go, are searched by bins and bounds;
the same node's full table is the oracle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from sortal import native
from sortal.native import trees

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Float = NDArray[np.float64]
    Int32 = NDArray[np.int32]
    Int64 = NDArray[np.int64]

CRITERIA = range(len(trees.CRITERIA))
COPIES = True


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
    column: Float, classes: Int32, n_classes: int, units: Int64 | None
) -> tuple[Float, Int64, Int64]:
    values, codes = np.unique(column, return_inverse=True)
    counts = native.count_codes(codes.astype(np.int32), len(values), classes, n_classes, units)
    return values, counts, np.bincount(codes, minlength=len(values)).astype(np.int64)


def check_nodes(
    columns: list[Float],
    classes: Int32,
    n_classes: int,
    units: Int64 | None,
    *,
    copies: bool,
    growth: trees.Growth,
) -> int:
    """Every node's test is that of its full table; returns how many nodes have one."""
    n = len(classes)
    kinds, n_values = [trees.CUT] * len(columns), [0] * len(columns)
    grown = trees.grow_tree(columns, kinds, n_values, classes, n_classes, units, copies, growth, 2)
    total = n if units is None else int(units.sum())
    rows = {0: np.arange(n)}
    for t in range(len(grown.kind)):
        here = rows.pop(t)
        own = None if units is None else units[here]
        expected = np.bincount(classes[here], own, minlength=n_classes)
        assert grown.units[t].tolist() == expected.tolist()
        if grown.kind[t] == trees.LEAF:
            continue
        parts = [table(x[here], classes[here], n_classes, own) for x in columns]
        sizes = [None if copies else part[2] for part in parts]
        best = native.best_test(
            kinds,
            [part[0] for part in parts],
            [part[1] for part in parts],
            sizes,
            total,
            growth.criterion,
            growth.min_size,
            growth.min_units,
            growth.max_subset,
        )
        assert best is not None
        assert (grown.attribute[t], grown.threshold[t]) == (best.attribute, best.threshold)
        assert grown.score[t] == best.score
        yes = columns[best.attribute][here] <= best.threshold
        children = grown.children[grown.child_start[t] : grown.child_start[t + 1]]
        rows[int(children[0])], rows[int(children[1])] = here[yes], here[~yes]
    return int(np.count_nonzero(grown.kind))


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
@pytest.mark.parametrize("n_classes", [2, 3, 7, 12])
@pytest.mark.parametrize("seed", range(6))
def test_bins_and_bounds_find_the_best_cut(criterion: int, n_classes: int, seed: int) -> None:
    rng = np.random.default_rng([seed, n_classes])
    columns = columns_of(rng, 4000)
    classes = labels_of(rng, columns, n_classes, noise=float(rng.choice([0.0, 0.02, 0.3])))
    growth = growth_of(criterion)
    assert check_nodes(columns, classes, n_classes, None, copies=True, growth=growth)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("copies", [True, False])
@pytest.mark.parametrize("least", [1, 40, 900])
def test_weights_and_least_sizes(criterion: int, copies: bool, least: int) -> None:
    rng = np.random.default_rng([criterion, least])
    columns = columns_of(rng, 3000)
    classes = labels_of(rng, columns, 3, noise=0.1)
    units = rng.integers(1, 6 if copies else 1 << 35, 3000)
    growth = growth_of(criterion, min_size=least, min_units=int(units.sum()) // 50)
    assert check_nodes(columns, classes, 3, units, copies=copies, growth=growth)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_node_without_structure_is_searched_in_full(criterion: int) -> None:
    """Scores so close to zero that only whole numbers can tell them from it."""
    x = np.arange(2000, dtype=np.float64)
    classes = (np.arange(2000) % 2).astype(np.int32)
    growth = growth_of(criterion, max_depth=1, min_size=999)
    assert check_nodes([x, x], classes, 2, None, copies=True, growth=growth) == 1
    pairs = (np.arange(2000) // 2 % 2).astype(
        np.int32
    )  # cut at 1000: both halves have equal shares
    growth = growth._replace(min_size=1000)
    assert check_nodes([x, x], pairs, 2, None, copies=True, growth=growth) == 0


@pytest.mark.parametrize("criterion", CRITERIA)
def test_threads_do_not_matter(criterion: int) -> None:
    rng = np.random.default_rng(criterion)
    columns = columns_of(rng, 40_000)
    classes = labels_of(rng, columns, 4, noise=0.2)
    growth = growth_of(criterion, max_depth=-1)
    one, two, five = (
        trees.grow_tree(columns, [1] * 7, [0] * 7, classes, 4, None, COPIES, growth, threads)
        for threads in (1, 2, 5)
    )
    for a, b, c in zip(one, two, five, strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)


def test_what_the_core_is_given_is_checked() -> None:
    x, y, growth = np.arange(4.0), np.array([0, 1, 0, 1], dtype=np.int32), growth_of(0)
    codes = np.array([0, 1, 2, 3], dtype=np.int32)
    wrong = {
        "not finite": ([np.array([0, 1, 2, np.inf])], [1], [0], y, 2, None),
        "differ in length": ([x[:3]], [1], [0], y, 2, None),
        "class code": ([x], [1], [0], y, 1, None),
        "code lies outside": ([codes], [2], [3], y, 2, None),
        "cut needs numbers": ([codes], [1], [4], y, 2, None),
        "kind is not": ([x], [4], [0], y, 2, None),
        "no weight": ([x], [1], [0], y, 2, np.array([1, 0, 1, 1])),
        "no row": ([x[:0]], [1], [0], y[:0], 2, None),
    }
    for words, given in wrong.items():
        with pytest.raises(ValueError, match=words):
            trees.grow_tree(*given, COPIES, growth, 1)
