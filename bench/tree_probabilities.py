"""How far are the class probabilities of a tree to be believed, by way of smoothing?

Ten-fold cross-validation, three seeds. A seed draws the folds, and the rows of tables that are
generated or sampled. Every fold grows a tree without costs and one with the costs 1/π of its
classes; all ways of smoothing read the same two trees. Eight tables have 1 to 5 % positives.

Log loss is that of scikit-learn, which takes a probability of 0 for 2^-52. With costs 1/π the mean
cost of a row is Σ_k P(wrong | k), K times one less the balanced accuracy.

`python bench/tree_probabilities.py` prints Markdown: log loss of every way on every table, means of
all measures for three ways of pruning, and the default beside smoothing=None.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

import accuracy
from sortal import TreeClassifier
from sortal.trees.model import Smoothing, TreeModel, decide_labels

SEEDS = (0, 1, 2)
FOLDS = 10
PACKAGES = ["sortal", "scikit-learn", "numpy", "pandas"]

Table = tuple[pd.DataFrame, np.ndarray]

# Tables -----------------------------------------------------------------------------------------


def gaussians(n: int, rate: float, shift: float, seed: int) -> Table:
    """Eight normal columns; in three of them the rarer of two classes is shifted."""
    rng = np.random.default_rng(seed)
    y = (np.arange(n) < round(rate * n)).astype(int)
    X = rng.normal(size=(n, 8))
    X[:, :3] += shift * y[:, None]
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(8)]), y


def risks(n: int, seed: int) -> Table:
    """Numbers and words; two groups have a higher risk than the others' half percent."""
    X, _ = accuracy.mixed(n, 0.05, 0.0, seed)
    first = (X["x0"] > 1) & (X["a"] == "a1")
    second = (X["x1"] < -1.2) & X["c"].isin([f"c{v}" for v in range(0, 40, 4)])
    risk = 0.005 + 0.6 * first + 0.3 * second
    return X, (np.random.default_rng(seed + 1).random(n) < risk).astype(int)


def rare(table: Table, label: Any, n: int, seed: int) -> Table:
    """One class against all others, and of its rows only some."""
    X, y = table
    some = np.random.default_rng(seed).choice(np.flatnonzero(y == label), n, replace=False)
    rows = np.sort(np.concatenate([some, np.flatnonzero(y != label)]))
    return X.iloc[rows].reset_index(drop=True), (y[rows] == label).astype(int)


def sample(table: Table, n: int, seed: int) -> Table:
    """So many rows of a table."""
    rows = np.sort(np.random.default_rng(seed).permutation(len(table[1]))[:n])
    return table[0].iloc[rows].reset_index(drop=True), table[1][rows]


COMMON: dict[str, Callable[[int], Table]] = {
    "iris": lambda _: accuracy.iris(),
    "penguins, species": lambda _: accuracy.penguins(),
    "penguins, sex": lambda _: accuracy.sexes(),
    "wine": lambda _: accuracy.bundled(load_wine),
    "breast cancer": lambda _: accuracy.bundled(load_breast_cancer),
    "digits": lambda _: accuracy.bundled(load_digits),
    "mixed, 500 rows": lambda s: accuracy.mixed(500, 0.05, 0.1, 1 + 100 * s),
    "mixed, 2,000 rows": lambda s: accuracy.mixed(2000, 0.1, 0.1, 2 + 100 * s),
    "mixed, 1,000 noisy rows": lambda s: accuracy.mixed(1000, 0.1, 0.4, 3 + 100 * s),
    "missing values that tell, 800 rows": lambda s: accuracy.telling_missing(800, 4 + 100 * s),
    "penguins, 60 rows": lambda s: sample(accuracy.penguins(), 60, s),
    "breast cancer, 100 rows": lambda s: sample(accuracy.bundled(load_breast_cancer), 100, s),
}
RARE: dict[str, Callable[[int], Table]] = {
    "Gaussians near, 2 % of 3,000": lambda s: gaussians(3000, 0.02, 1.2, 5 + 100 * s),
    "Gaussians apart, 1 % of 10,000": lambda s: gaussians(10000, 0.01, 2.5, 11 + 100 * s),
    "risks, 5 % of 4,000": lambda s: risks(4000, 6 + 100 * s),
    "digit 8, 2 % of 1,656": lambda s: rare(accuracy.bundled(load_digits), 8, 33, 7 + 100 * s),
    "digit 0, 2 % of 1,652": lambda s: rare(accuracy.bundled(load_digits), 0, 33, 12 + 100 * s),
    "malignant, 5 % of 376": lambda s: rare(
        accuracy.bundled(load_breast_cancer), 0, 19, 8 + 100 * s
    ),
    "missing values that tell, 3 % of 1,500": lambda s: rare(
        accuracy.telling_missing(3000, 9 + 100 * s), 1, 45, 9 + 100 * s
    ),
    "noise, 2 % of 1,000": lambda s: gaussians(1000, 0.02, 0.0, 10 + 100 * s),
}

# Ways -------------------------------------------------------------------------------------------

Read = Callable[[TreeModel], np.ndarray]


def smoothed(kind: str, strength: float | None = None) -> Read:
    """A way of the library; without a strength, as many as there are classes."""

    def read(model: TreeModel) -> np.ndarray:
        used = float(len(model.classes)) if strength is None else strength
        return replace(model, smoothing=Smoothing(kind, used)).shares()

    return read


def by_parent(model: TreeModel) -> np.ndarray:
    """The m-estimate towards the parent's smoothed proportions, m the number of classes."""
    counts, parents = model.counted(), model.parents()
    shares, m = model.plain_shares(), len(model.classes)
    for t in range(1, model.n_nodes):
        shares[t] = (counts[t] + m * shares[parents[t]]) / (counts[t].sum() + m)
    return shares


WAYS: dict[str, Read] = {
    "none": TreeModel.plain_shares,
    "Laplace": smoothed("laplace"),
    "root, m = 1": smoothed("m_estimate", 1.0),
    "root, m = 2": smoothed("m_estimate", 2.0),
    "root, m = K": smoothed("m_estimate"),
    "parent, m = K": by_parent,
    "shrinkage 3": smoothed("shrinkage", 3.0),
    "shrinkage 5": smoothed("shrinkage", 5.0),
    "shrinkage 10": smoothed("shrinkage", 10.0),
    "shrinkage 20": smoothed("shrinkage", 20.0),
    "shrinkage 30": smoothed("shrinkage", 30.0),
}
OLD, NEW = "none", "shrinkage 5"


def falling(n: int) -> dict[str, Any]:
    """A level of the pessimistic estimate that falls with the rows."""
    return {"confidence": max(0.001, min(0.5, (15 / n) ** 2))}


PRUNINGS: dict[str, Callable[[int], dict[str, Any]]] = {
    "confidence 0.001": lambda _: {"confidence": 0.001},
    "confidence (15/n)²": falling,
    "not pruned": lambda _: {"pruning": None},
}

# The study --------------------------------------------------------------------------------------


class Scores(NamedTuple):
    """Of one way on one table; `turned` counts labels that it changes, `ties` those at ties."""

    accuracy: float
    log_loss: float
    leaves: float
    balanced: float  # costs 1/π given to predict
    balanced_fit: float  # and given to fit
    turned: float
    ties: float
    rows: float


def balanced(y: np.ndarray, said: np.ndarray, n_classes: int) -> float:
    """The mean over classes of the proportion predicted rightly."""
    return float(np.mean([np.mean(said[y == k] == k) for k in range(n_classes)]))


class Told(NamedTuple):
    """What a tree says of rows by one way."""

    proba: np.ndarray
    label: np.ndarray
    by_cost: np.ndarray
    turned: np.ndarray
    ties: np.ndarray


def read(model: TreeModel, way: Read, costs: np.ndarray, nodes: np.ndarray) -> Told:
    """By one way, row by row."""
    shares, plain = way(model), model.plain_shares()
    top = np.sort(plain, axis=1)
    turned = decide_labels(shares, None) != decide_labels(plain, None)
    ties = turned & (top[:, -1] == top[:, -2])
    found = (shares, decide_labels(shares, None), decide_labels(shares, costs), turned, ties)
    return Told(*(values[nodes] for values in found))


def scores(table: Table, seed: int, pruning: Callable[[int], dict[str, Any]]) -> dict[str, Scores]:
    """Way → its scores over all folds."""
    X, labels = table
    classes, y = np.unique(labels, return_inverse=True)
    costs = (len(y) / np.bincount(y))[:, None] * (1 - np.eye(len(classes)))
    rows, leaves = [], []
    plain: dict[str, list[Told]] = {way: [] for way in WAYS}
    costly: dict[str, list[Told]] = {way: [] for way in WAYS}
    plan = StratifiedKFold(min(FOLDS, np.bincount(y).min()), shuffle=True, random_state=seed)
    for train, test in plan.split(X, y):
        for given, kept in ((None, plain), (costs, costly)):
            tree = TreeClassifier(**pruning(len(train)), costs=given, n_jobs=1)
            tree.fit(X.iloc[train], y[train])
            nodes = tree.apply(X.iloc[test])
            for way, how in WAYS.items():
                kept[way].append(read(tree._model, how, costs, nodes))
            if given is None:
                leaves.append(tree.get_n_leaves())
        rows.append(test)
    y = y[np.concatenate(rows)]
    found = {}
    for way in WAYS:
        said = Told(*map(np.concatenate, zip(*plain[way], strict=True)))
        cheapest = np.concatenate([r.by_cost for r in costly[way]])
        found[way] = Scores(
            float(np.mean(said.label == y)),
            float(log_loss(y, said.proba, labels=range(len(classes)))),
            float(np.mean(leaves)),
            balanced(y, said.by_cost, len(classes)),
            balanced(y, cheapest, len(classes)),
            float(said.turned.sum()),
            float(said.ties.sum()),
            float(len(y)),
        )
    return found


Found = dict[str, dict[str, list[Scores]]]  # table → way → scores by seed


def study(pruning: Callable[[int], dict[str, Any]]) -> Found:
    """All tables."""
    found: Found = {}
    for name, load in (COMMON | RARE).items():
        by_seed = [scores(load(seed), seed, pruning) for seed in SEEDS]
        found[name] = {way: [s[way] for s in by_seed] for way in WAYS}
    return found


# Markdown ---------------------------------------------------------------------------------------


def mean(found: Found, way: str, field: str, tables: Any) -> float:
    """Over tables and seeds."""
    return float(np.mean([getattr(s, field) for t in tables for s in found[t][way]]))


def total(found: Found, way: str, field: str) -> int:
    """Over tables and seeds."""
    return int(sum(getattr(s, field) for t in found for s in found[t][way]))


def lines(heads: list[str], rows: list[list[str]]) -> list[str]:
    """A table of Markdown."""
    return [
        "| " + " | ".join(heads) + " |",
        "|---|" + "--:|" * (len(heads) - 1),
        *("| " + " | ".join(row) + " |" for row in rows),
    ]


def losses(found: Found) -> list[str]:
    """Log loss by table and way."""
    rows = [[t, *(f"{mean(found, w, 'log_loss', [t]):.3f}" for w in WAYS)] for t in found]
    for name, tables in (("mean", found), ("mean of rare ones", RARE)):
        rows.append([name, *(f"{mean(found, w, 'log_loss', tables):.3f}" for w in WAYS)])
    return lines(["table", *WAYS], rows)


def summary(found: Found) -> list[str]:
    """Means of all measures by way."""
    heads = ["smoothing", "log loss", "rare: log loss", "accuracy"]
    heads += ["rare: balanced, costs at predict", "rare: balanced, costs at fit"]
    heads += ["labels changed", "of these ties"]
    rows = [
        [
            way,
            f"{mean(found, way, 'log_loss', found):.3f}",
            f"{mean(found, way, 'log_loss', RARE):.3f}",
            f"{100 * mean(found, way, 'accuracy', found):.2f} %",
            f"{mean(found, way, 'balanced', RARE):.3f}",
            f"{mean(found, way, 'balanced_fit', RARE):.3f}",
            f"{total(found, way, 'turned')}",
            f"{total(found, way, 'ties')}",
        ]
        for way in WAYS
    ]
    return lines(heads, rows)


def spread(found: Found) -> list[str]:
    """By how much the default is behind the best way, and the spread of the difference."""
    rows = []
    for way in WAYS:
        gap = np.array(
            [
                [b.log_loss - a.log_loss for a, b in zip(by[NEW], by[way], strict=True)]
                for by in found.values()
            ]
        )
        by_table = gap.mean(axis=1)
        better, worse = (by_table < -0.0005).sum(), (by_table > 0.0005).sum()
        error = by_table.std(ddof=1) / np.sqrt(len(by_table))
        rows.append([way, f"{by_table.mean():+.3f} ± {error:.3f}", f"{better}", f"{worse}"])
    return lines(["smoothing", f"log loss less that of {NEW}", "tables better", "worse"], rows)


def beside(found: Found) -> list[str]:
    """The old default and the new, table by table."""
    heads = ["table", "leaves", "accuracy", "log loss", "balanced, costs at predict"]
    heads += ["balanced, costs at fit", "cost a row, costs at fit"]
    rows = []
    for table, by in found.items():
        n_classes = len(np.unique((COMMON | RARE)[table](0)[1]))
        cells = [
            tuple(float(np.mean([getattr(s, f) for s in by[way]])) for way in (OLD, NEW))
            for f in ("accuracy", "log_loss", "balanced", "balanced_fit")
        ]
        cost = tuple(n_classes * (1 - b) for b in cells[3])
        leaves = f"{mean(found, NEW, 'leaves', [table]):.1f}"
        rows.append([table, leaves, *(f"{a:.3f} → {b:.3f}" for a, b in (*cells, cost))])
    return lines(heads, rows)


def main() -> None:
    """Everything."""
    # rows held out may have words that no other row has
    warnings.filterwarnings("ignore", module="sortal")
    print(", ".join(f"{name} {version(name)}" for name in PACKAGES), f"; seeds {SEEDS}")
    for name, pruning in PRUNINGS.items():
        found = study(pruning)
        n_rows = total(found, OLD, "rows")
        print(f"\n## {name}, {n_rows:,} rows predicted\n")
        for part in (losses, summary, spread, beside):
            print("\n".join(part(found)), "\n")


if __name__ == "__main__":
    main()
