"""At which level should errors be estimated, by the number of rows? Accuracy and leaves.

The ten tables of `accuracy.py`, by 10-fold cross-validation, and in samples of 14 to 300 rows that
predict the rest of their table. Each tree is grown once and pruned at every level, n being the rows
it was grown from. `python bench/tree_levels.py` prints the table of decision 0016.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version

import numpy as np
import pandas as pd
from accuracy import PACKAGES, TABLES, Fold, Score, mean
from sklearn.model_selection import StratifiedKFold

from sortal import TreeClassifier

SEEDS = (0, 1, 2)
SIZES = (14, 30, 57, 100, 300)
# Samples of each size that a seed draws from a table; at least so many rows are left to predict.
DRAWS, LEFT = 20, 40


def falling(c: float, power: float, least: float = 0.001) -> Callable[[float], float]:
    """(c/n)^power, at most a half."""
    return lambda n: max(least, min(0.5, (c / n) ** power))


LEVELS: dict[str, Callable[[float], float] | None] = {
    "not pruned": None,
    "0.25 (C4.5)": lambda n: 0.25,
    "0.001": lambda n: 0.001,
    "15/n": falling(15, 1),
    "(15/n)^1.5": falling(15, 1.5),
    "(15/n)^2": falling(15, 2),
    "(20/n)^2": falling(20, 2),
    "(15/n)^3": falling(15, 3),
    "(15/n)^2, no floor": falling(15, 2, 0.0),
    "(15/n)^2, from 0.0001": falling(15, 2, 1e-4),
}


def folds_of(y: np.ndarray, seed: int) -> Iterator[Fold]:
    """Ten folds."""
    yield from StratifiedKFold(10, shuffle=True, random_state=seed).split(y, y)


def samples_of(y: np.ndarray, n: int, seed: int) -> Iterator[Fold]:
    """Samples of n rows with at least two classes, and the other rows."""
    rng = np.random.default_rng([seed, n])
    left = DRAWS if len(y) >= n + LEFT else 0
    while left:
        order = rng.permutation(len(y))
        if len(set(y[order[:n]].tolist())) > 1:
            left -= 1
            yield order[:n], order[n:]


def scores(X: pd.DataFrame, y: np.ndarray, fold: Fold) -> list[Score]:
    """One tree, pruned at every level."""
    train, test = fold
    grown = TreeClassifier(pruning=None, n_jobs=1).fit(X.iloc[train], y[train])
    found = []
    for level in LEVELS.values():
        model = grown
        if level is not None:
            model = grown.prune("pessimistic", confidence=level(len(train)))
        right = float(np.mean(model.predict(X.iloc[test]) == y[test]))
        found.append(Score(right, model.get_n_leaves()))
    return found


def measured() -> dict[str, dict[str, list[Score]]]:
    """Size → level → the mean score on each table."""
    found: dict[str, dict[str, list[Score]]] = {}
    for table, load in TABLES.items():
        X, y = load()
        plans = {"whole": [f for s in SEEDS for f in folds_of(y, s)]}
        plans |= {str(n): [f for s in SEEDS for f in samples_of(y, n, s)] for n in SIZES}
        for size, folds in plans.items():
            by_level = zip(*(scores(X, y, fold) for fold in folds), strict=True)
            for level, of_folds in zip(LEVELS, by_level, strict=False):
                if score := mean(list(of_folds)):
                    found.setdefault(size, {}).setdefault(level, []).append(score)
        print(table, file=sys.stderr, flush=True)
    return found


def lines_of(found: dict[str, dict[str, list[Score]]]) -> list[str]:
    """Markdown: a row a level, a column a size, means over the tables that have it."""
    sizes = sorted(found, key=lambda size: (size == "whole", len(size), size))
    heads = [f"{size} ({len(found[size]['0.001'])} tables)" for size in sizes]
    lines = ["| level | " + " | ".join(heads) + " |", "|---|" + "--:|" * len(heads)]
    for level in LEVELS:
        cells = [mean(found[size][level]) for size in sizes]
        told = [f"{100 * s.accuracy:.1f} % ({s.leaves:.1f})" for s in cells if s]
        lines.append(f"| {level} | " + " | ".join(told) + " |")
    return lines


if __name__ == "__main__":
    print(", ".join(f"{name} {version(name)}" for name in PACKAGES))
    print("\n".join(lines_of(measured())))
