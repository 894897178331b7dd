"""Trees to be drawn."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd
from tests.plotting.drawn import setosa_or_not

from sortal import TreeClassifier, datasets

if TYPE_CHECKING:
    from sortal.trees.model import TreeModel


NASTY: Final = (
    "<img src=x onerror=alert(1)>",
    "\"quoted\" & 'single'",
    "</script><script>alert(1)</script>",
    "{{ braces }} </svg></select>",
)


def grown(table: Any, y: Any, **options: Any) -> TreeClassifier:
    return TreeClassifier(**{"pruning": None, **options}).fit(table, y)


def fitted(table: Any, y: Any, **options: Any) -> TreeModel:
    return grown(table, y, **options)._model


@cache
def iris(**options: Any) -> TreeModel:
    return fitted(datasets.iris(), "species", **options)


@cache
def tennis() -> TreeModel:
    return fitted(datasets.play_tennis(), "PlayTennis", categorical_split="multiway")


@cache
def noise(leaves: int, n_classes: int = 3) -> TreeModel:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8 * leaves, 4)).round(2)
    y = np.array([f"class {k}" for k in range(n_classes)])[rng.integers(n_classes, size=len(X))]
    names = ["age", "income", "balance", "tenure"]
    return fitted(pd.DataFrame(X, columns=names), y, max_leaf_nodes=leaves)


@cache
def many_classes(n_classes: int) -> TreeModel:
    """Three rows of each, in order."""
    y = np.repeat([f"c{k:02d}" for k in range(n_classes)], 3)
    return fitted(pd.DataFrame({"x": np.arange(len(y))}), y)


def book_rows() -> tuple[Any, Any]:
    """Setosa, which the book calls c1, against the rest."""
    return setosa_or_not("c1", "c2")


def book_tree(**options: Any) -> TreeClassifier:
    """The tree of Example 19.4."""
    return grown(*book_rows(), purity=0.95, leaf_size=5, **options)
