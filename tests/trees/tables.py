"""Random tables of numbers and words that know something of their classes, for laws of trees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
from hypothesis import settings
from hypothesis import strategies as st

from sortal import TreeClassifier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LEAF, CUT, SUBSET, MULTIWAY = range(4)
CRITERIA: Final = ("gain", "gain_ratio", "gini", "cart")

# What a tree asks and what it holds, node by node.
QUESTIONS: Final = (
    *("kind", "attribute", "child_start", "children", "value_start", "values", "branches"),
    *("heavier", "exact"),
)
SCORES: Final = ("score", "gain")
ALL: Final = (*QUESTIONS, *SCORES, "threshold", "units", "sizes", "candidates")


@dataclass(frozen=True)
class Data:
    """Two columns of numbers (many and few values) and two of words; labels; options of a fit."""

    X: Any
    y: NDArray[Any]
    options: dict[str, Any]
    weights: NDArray[np.float64] | None = None

    @property
    def K(self) -> int:  # noqa: N802
        return len(set(self.y))

    def fit(self, **options: Any) -> Any:
        model = TreeClassifier(**{"pruning": None, **self.options, **options})
        return model.fit(self.X, self.y, sample_weight=self.weights)

    def take(self, rows: Any) -> Data:
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, X=self.X.iloc[rows], y=self.y[rows], weights=weights)


def make_data(seed: int, n: int, K: int, criterion: str, split: str = "subset") -> Data:
    """Half of every column's cells know the class, and the others are drawn; no class is absent."""
    rng = np.random.default_rng(seed)
    classes = np.concatenate([np.arange(K), rng.integers(0, K, n)])
    size = len(classes)

    def codes(m: int) -> NDArray[np.int64]:
        drawn = rng.integers(0, m, size)
        return np.where(rng.random(size) < 0.5, (classes * 3 + 1) % m, drawn)

    X = pd.DataFrame(
        {
            "many": rng.normal(size=size) + classes / 2,
            "word": np.array(list("abcdefg"))[codes(7)],
            "few": codes(9) / 4,
            "letter": np.array(list("pqrs"))[codes(4)],
        }
    )
    split = "subset" if criterion == "cart" else split
    options = {"criterion": criterion, "categorical_split": split}
    return Data(X, np.array(["ash", "birch", "cedar", "elm", "fir"])[classes], options)


# Each example grows several trees: half as many as others have.
HALF: Final = settings(max_examples=settings().max_examples // 2)
seeds: Final = st.integers(0, 10**9)
tables: Final = st.builds(
    make_data,
    seeds,
    st.integers(4, 100),
    st.integers(2, 5),
    st.sampled_from(CRITERIA),
    st.sampled_from(["subset", "multiway"]),
)


def same(one: Any, other: Any, fields: Sequence[str] = ALL) -> None:
    """Two fitted trees agree to the bit in these arrays."""
    for name in fields:
        a, b = getattr(one._model, name), getattr(other._model, name)
        np.testing.assert_array_equal(a, b, err_msg=name)


def children_of(tree: Any, t: int) -> list[int]:
    return [int(s) for s in tree.children[tree.child_start[t] : tree.child_start[t + 1]]]


def parents_of(tree: Any) -> NDArray[np.int64]:
    parents = np.full(len(tree.kind), -1, dtype=np.int64)
    for t in range(len(tree.kind)):
        parents[children_of(tree, t)] = t
    return parents


def depths_of(tree: Any) -> NDArray[np.int64]:
    """Parents come before their children."""
    depths = np.zeros(len(tree.kind), dtype=np.int64)
    for t, parent in enumerate(parents_of(tree)):
        if parent >= 0:
            depths[t] = depths[parent] + 1
    return depths
