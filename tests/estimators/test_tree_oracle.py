"""TreeClassifier on complete tables against a slow oracle, and its every node against best_test."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.estimators.tree_oracle_holes import (
    CRITERIA,
    CUT,
    LEAF,
    MULTIWAY,
    SUBSET,
    Column,
    Guide,
    Oracle,
    Rules,
    Table,
    assert_same_tree,
    check,
    fit,
    limits,
    make_column,
    tables,
)
from tests.estimators.tree_oracle_large import Large

from sortal import native

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Trees of one class are grown by chance, and rows of weight 0 have values that no other row has.
pytestmark = pytest.mark.filterwarnings("ignore::sortal.errors.SortalWarning")

NO_BOUND: Final = 2**62
COMPLETE: Final[dict[str, Any]] = {"rates": (0.0,), "styles": ("", "", "one value")}
every_criterion = pytest.mark.parametrize("criterion", CRITERIA)


@every_criterion
@given(data=st.data())
def test_the_whole_tree_is_that_of_brute_force(criterion: str, data: Any) -> None:
    table = data.draw(tables(criterion=criterion, most=60, max_classes=6, **COMPLETE))
    check(table, Rules(criterion, "direction", max_depth=2, **data.draw(st.just({}) | limits)))


@every_criterion
def test_without_any_stop_the_whole_tree_is_that_of_brute_force(criterion: str) -> None:
    for seed in range(4):
        table = drawn(seed, 50, 3, ("few", "many", "subset", "ordered", "subset"))
        assert len(check(table, Rules(criterion, "direction")).children) == 2


def drawn(seed: int, n: int, K: int, looks: tuple[str, ...], most: int = 3) -> Table:
    """Complete columns of up to six values; whole weights."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, K, n)
    columns = tuple(make_column(look, rng, classes, 6, 0.0, "") for look in looks)
    return Table(columns, tuple(classes.tolist()), tuple(rng.integers(1, most, n).tolist()))


@every_criterion
def test_best_first(criterion: str) -> None:
    """At most so many leaves, grown by n times the score, numbered in preorder all the same."""
    for most in (1, 2, 3, 5, 9):
        table = drawn(most, 80, 4, ("many", "subset", "many", "ordered"), 4)
        rules = Rules(criterion, "error")
        model = fit(table, rules, max_leaf_nodes=most)
        assert_same_tree(model, Oracle(table, rules).grow_best_first(most), rules)
        assert model.get_n_leaves() == most


@pytest.mark.parametrize("options", [{"max_depth": 3}, {"min_samples_leaf": 6}, {"min_gain": 0.1}])
def test_best_first_beside_other_stops(options: dict[str, Any]) -> None:
    for seed in range(3):
        table = drawn(seed, 60, 3, ("many", "subset", "many"), 2)
        rules = Rules("gini", "error", **options)
        grown = fit(table, rules, max_leaf_nodes=6)
        assert_same_tree(grown, Oracle(table, rules).grow_best_first(6), rules)


def test_best_first_takes_the_node_made_earlier_of_equals() -> None:
    """Two halves that mirror each other: the yes child is split first."""
    halves, inner = (0.0,) * 8 + (1.0,) * 8, (0.0,) * 3 + (1.0,) * 5
    classes = (0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3)
    columns = (Column(CUT, "number", halves), Column(CUT, "number", inner * 2))
    table = Table(columns, classes, (1,) * 16)
    for criterion in CRITERIA:
        rules = Rules(criterion, "error")
        model = fit(table, rules, max_leaf_nodes=3)
        assert model._model.attribute.tolist() == [0, 1, -1, -1, -1]
        assert_same_tree(model, Oracle(table, rules).grow_best_first(3), rules)


def test_best_first_never_has_more_leaves_with_multiway_tests() -> None:
    table = drawn(5, 200, 3, ("multiway", "many"), 2)
    for most in range(1, 12):
        leaves = fit(table, Rules("gain", "error"), max_leaf_nodes=most).get_n_leaves()
        assert 1 <= leaves <= most


@dataclass(frozen=True)
class Checker:
    """The fitted tree of a table, and the rows of each of its nodes."""

    plain: Large
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
        options = self.plain.options
        most = options.get("max_subset")
        total = int(self.units.sum())
        return native.best_test(
            list(self.plain.kinds),
            [values for values, _, _ in tables],
            [counts for _, counts, _ in tables],
            [None if self.is_copies else sizes for _, _, sizes in tables],
            total=total,
            criterion=CRITERIA.index(options.get("criterion", "gain")),
            min_size=options.get("min_samples_leaf", 1),
            min_units=math.ceil(options.get("min_weight_fraction_leaf", 0.0) * total),
            max_subset=NO_BOUND if most is None else most,
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
                yes = [code for code, b in Guide(self.tree, t).values.items() if b == 0]
                assert found.yes.tolist() == yes
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


def check_nodes(plain: Large) -> Counter[str]:
    return Checker(plain, plain.fit()).check()


def random_plain(seed: int) -> Large:
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
    return Large(columns, wanted, classes, options, weights)


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


# Importances (the last quarter of each 32) are dear.
@pytest.mark.parametrize(
    "batch", [0, *(pytest.param(i, marks=pytest.mark.full) for i in (1, 2, 3))]
)
def test_every_node_of_random_trees_is_best_test_of_its_table(batch: int) -> None:
    """Words are coded by rank, so codes in the tree are those of the table."""
    seen: Counter[str] = Counter()
    for seed in range(32 * batch, 32 * batch + 32):
        try:
            seen += check_nodes(random_plain(seed))
        except AssertionError as error:
            error.add_note(f"seed {seed}")
            raise
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
every_large = pytest.mark.parametrize("options", LARGE_OPTIONS, ids=CRITERIA)


@every_large
@pytest.mark.parametrize("K", [2, pytest.param(5, marks=pytest.mark.full)])
def test_large_nodes_of_many_distinct_values(options: dict[str, Any], K: int) -> None:
    X, classes = signal(np.random.default_rng(K), 30_000, K, 4)
    seen = check_nodes(Large(tuple(X.T), (CUT,) * 4, classes, options))
    assert seen["exact"] >= 10
    assert seen["heuristic"] == 0


@every_large
def test_large_mixed_nodes(options: dict[str, Any]) -> None:
    """Numbers of many and of sixty values beside categories of 3 to 60."""
    rng, criterion = np.random.default_rng(9), options["criterion"]
    X, classes = signal(rng, 25_000, 3, 5)
    columns: list[NDArray[Any]] = [X[:, 0], np.rint(X[:, 1] * 8)]
    for j, m in ((2, 3), (3, 12), (4, 60)):
        columns.append(np.argsort(rng.random(m))[np.digitize(X[:, j], np.linspace(-2, 2, m - 1))])
    kinds = (CUT, CUT, SUBSET if criterion == "cart" else MULTIWAY, SUBSET, SUBSET)
    large = Large(tuple(columns), kinds, classes, {"criterion": criterion, "max_depth": 6})
    seen = check_nodes(large)
    assert seen["exact"] >= 10
    assert seen["heuristic"] == 0  # three classes: lines and sign vectors are exact


@pytest.mark.parametrize(
    ("criterion", "weighting"),
    [("gain", "whole"), ("gini", "dyadic"), ("gain", "any"), ("gini", "whole")],
)
def test_large_weighted_nodes(criterion: str, weighting: str) -> None:
    rng = np.random.default_rng(2)
    X, classes = signal(rng, 24_000, 3, 3)
    weights = make_weights(weighting, rng, 24_000)
    columns = (X[:, 0], np.rint(X[:, 1] * 8), X[:, 2])
    options = {"criterion": criterion, "max_depth": 5, "leaf_size": 50, "min_samples_leaf": 9}
    assert check_nodes(Large(columns, (CUT,) * 3, classes, options, weights))["exact"] >= 10


def test_more_distinct_values_than_sixteen_bits_count() -> None:
    X, classes = signal(np.random.default_rng(4), 70_000, 3, 2)
    assert len(np.unique(X[:, 0])) == 70_000
    seen = check_nodes(Large(tuple(X.T), (CUT,) * 2, classes, {"max_depth": 5}))
    assert seen["exact"] == 31


def test_a_large_tree_without_stops() -> None:
    """Nodes of every size from 21,000 rows down to two."""
    rng = np.random.default_rng(6)
    X, classes = signal(rng, 21_000, 2, 3)
    columns = (X[:, 0], np.rint(X[:, 1] * 30), X[:, 2])
    classes = np.where(rng.random(21_000) < 0.05, 1 - classes, classes)
    seen = check_nodes(Large(columns, (CUT,) * 3, classes, {"criterion": "gini", "leaf_size": 40}))
    assert seen["exact"] > 200


def test_many_values_and_classes_may_be_heuristic_and_say_so() -> None:
    """60 values of 5 classes: no exact route is promised, and the choice is still best_test's."""
    rng = np.random.default_rng(8)
    classes = rng.integers(0, 5, 20_500)
    codes = np.where(rng.random(20_500) < 0.3, classes * 11 + rng.integers(0, 5, 20_500),
                     rng.integers(0, 60, 20_500))  # fmt: skip
    for criterion in ("gain", "gini"):
        options = {"criterion": criterion, "max_depth": 4}
        seen = check_nodes(Large((codes,), (SUBSET,), classes, options))
        assert seen["heuristic"] > 0
    sure = check_nodes(Large((codes,), (SUBSET,), classes, {"criterion": "cart", "max_depth": 4}))
    assert sure["heuristic"] == 0  # sign vectors
