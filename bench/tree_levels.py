"""At which level should errors be estimated, by the number of rows? Accuracy and leaves.

The ten tables of `accuracy.py`, by 10-fold cross-validation, and in samples of 14 to 300 rows that
predict the rest of their table; and samples of 3,000 and 10,000 rows of four larger tables that
are generated. Each tree is grown once and pruned at every level, n being the rows it was grown
from. `python bench/tree_levels.py` prints the tables of decision 0016.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold

from accuracy import PACKAGES, TABLES, Fold, Score, Table, mean, mixed, telling_missing
from sortal import TreeClassifier

SEEDS = (0, 1, 2)
SIZES = (14, 30, 57, 100, 300)
LARGE = (3_000, 10_000)
# Samples of each size that a seed draws from a table; at least so many rows are left to predict.
DRAWS, LEFT = 20, 40
OLD, NEW = "0.001", "(15/n)^2"


def four_classes(seed: int) -> Table:
    """Twenty numbers, ten of which tell four classes apart; one label in twenty is drawn anew."""
    X, y = make_classification(
        20_000, 20, n_informative=10, n_classes=4, flip_y=0.05, random_state=seed
    )
    return pd.DataFrame(X), y


LARGE_TABLES: dict[str, Callable[[], Table]] = {
    "mixed, 20,000 rows": lambda: mixed(20_000, 0.1, 0.1, 100),
    "mixed, 20,000 noisy rows": lambda: mixed(20_000, 0.1, 0.4, 100),
    "missing values that tell, 20,000 rows": lambda: telling_missing(20_000, 100),
    "four classes, 20,000 rows": lambda: four_classes(100),
}


def falling(c: float, power: float, least: float = 0.001) -> Callable[[float], float]:
    """(c/n)^power, at most a half."""
    return lambda n: max(least, min(0.5, (c / n) ** power))


LEVELS: dict[str, Callable[[float], float] | None] = {
    "not pruned": None,
    "0.25 (C4.5)": falling(0, 1, 0.25),
    OLD: falling(0, 1),
    "15/n": falling(15, 1),
    "(15/n)^1.5": falling(15, 1.5),
    NEW: falling(15, 2),
    "(20/n)^2": falling(20, 2),
    "(15/n)^3": falling(15, 3),
    "(15/n)^2, no floor": falling(15, 2, 0.0),
}


def folds_of(y: np.ndarray, seed: int) -> Iterator[Fold]:
    """Ten folds."""
    yield from StratifiedKFold(10, shuffle=True, random_state=seed).split(y, y)


def samples_of(y: np.ndarray, n: int, seed: int, draws: int = DRAWS) -> Iterator[Fold]:
    """Samples of n rows with at least two classes, and the other rows."""
    rng = np.random.default_rng([seed, n])
    left = draws if len(y) >= n + LEFT else 0
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


Found = dict[str, dict[str, dict[str, Score]]]


def plans_of(table: str, y: np.ndarray) -> dict[str, list[Fold]]:
    """Rows to learn from and rows to predict, by the name of a size."""
    if table in LARGE_TABLES:
        return {f"{n:,}": [f for s in SEEDS for f in samples_of(y, n, s, 1)] for n in LARGE}
    plans = {str(n): [f for s in SEEDS for f in samples_of(y, n, s)] for n in SIZES}
    return plans | {"whole": [f for s in SEEDS for f in folds_of(y, s)]}


def measured() -> Found:
    """Size → table → level → the mean score."""
    found: Found = {}
    for table, load in (TABLES | LARGE_TABLES).items():
        X, y = load()
        for size, folds in plans_of(table, y).items():
            if folds:
                by_level = zip(*(scores(X, y, fold) for fold in folds), strict=True)
                means = {k: mean(list(s)) for k, s in zip(LEVELS, by_level, strict=True)}
                found.setdefault(size, {})[table] = {k: s for k, s in means.items() if s}
        print(table, file=sys.stderr, flush=True)
    return found


def cell(score: Score | None) -> str:
    """Accuracy, and leaves in brackets."""
    return f"{100 * score.accuracy:.1f} % ({score.leaves:.1f})" if score else ""


def lines_of(found: Found) -> list[str]:
    """Markdown: a row a level, a column a size, means over the tables that have it."""
    sizes = [*map(str, SIZES), "whole", *(f"{n:,}" for n in LARGE)]
    heads = [f"{size} ({len(found[size])} tables)" for size in sizes]
    lines = ["| level | " + " | ".join(heads) + " |", "|---|" + "--:|" * len(heads)]
    for level in LEVELS:
        means = [mean([row[level] for row in found[size].values()]) for size in sizes]
        lines.append(f"| {level} | " + " | ".join(map(cell, means)) + " |")
    lines += ["", f"| table, whole | {OLD} | {NEW} |", "|---|--:|--:|"]
    for table, row in found["whole"].items():
        lines.append(f"| {table} | {cell(row[OLD])} | {cell(row[NEW])} |")
    return lines


if __name__ == "__main__":
    print(", ".join(f"{name} {version(name)}" for name in PACKAGES))
    print("\n".join(lines_of(measured())))
