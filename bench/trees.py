"""How fast does a tree grow, beside trees that are as exact, and beside one round of LightGBM?"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import snapml
import ydf
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss
from sklearn.tree import DecisionTreeClassifier

from harness import Result, compare, fit_of_two_classes, peak_beyond
from sortal import TreeClassifier

SEED = 0
PACKAGES = ["sortal", "scikit-learn", "snapml", "ydf", "lightgbm", "numpy", "pandas"]
N, D, K = 500_000, 20, 3
THREADS = 2
# scikit-learn takes half a minute a tree: five runs, the least there may be
RUNS = 5

Call = Callable[[], object]


def numbers(n_rows: int = N, n_columns: int = D) -> tuple[np.ndarray, np.ndarray]:
    """Float64 columns of which half tell the three classes apart."""
    informative = max(3, n_columns // 2)
    X, y = make_classification(
        n_rows, n_columns, n_informative=informative, n_classes=K, random_state=SEED
    )
    return X, y


def ours(X: Any, y: Any, **options: Any) -> Call:
    """A whole fit; Gini is what the peers have."""
    return lambda: TreeClassifier("gini", n_jobs=THREADS, **{"pruning": None, **options}).fit(X, y)


def scikit_learn(X: Any, y: Any, depth: int | None) -> Call:
    """Knows one thread only."""
    return lambda: DecisionTreeClassifier(max_depth=depth, random_state=SEED).fit(X, y)


def snap(X: Any, y: Any, depth: int | None) -> Call:
    """The exact way, float32 as it wants it."""
    narrow = np.ascontiguousarray(X, dtype=np.float32)

    def fit() -> object:
        tree = snapml.DecisionTreeClassifier(
            max_depth=depth, use_histograms=False, n_jobs=THREADS, random_state=SEED
        )
        return tree.fit(narrow, y)

    return fit


def yggdrasil(table: pd.DataFrame, depth: int) -> Callable[[], Any]:
    """CART on all rows, without its validation part, which it would prune by.

    It counts the root as a level: its depth 9 is everybody else's 8.
    """
    ydf.verbose(0)
    levels = depth + 1
    learner = ydf.CartLearner(
        label="y", max_depth=levels, validation_ratio=0.0, num_threads=THREADS
    )
    return lambda: learner.train(table)


def lightgbm_round(X: np.ndarray, y: np.ndarray) -> Call:
    """One boosting round (a tree a class) with the construction of its data set; histograms."""
    options = {
        "objective": "multiclass", "num_class": K, "max_depth": 8, "num_leaves": 255,
        "num_threads": THREADS, "verbose": -1,
    }  # fmt: skip
    return lambda: lightgbm.train(options, lightgbm.Dataset(X, y), num_boost_round=1)


def frame(X: np.ndarray, y: np.ndarray) -> pd.DataFrame:
    """A table with names, labels as words."""
    table = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    table["y"] = y.astype(str)
    return table


def fit_numbers() -> list[Result]:
    """Numbers of which no two are equal."""
    X, y = numbers()
    eight: dict[str, Call] = {
        "TreeClassifier('gini', max_depth=8)": ours(X, y, max_depth=8),
        "scikit-learn": scikit_learn(X, y, 8),
        "snapml, exact": snap(X, y, 8),
        "ydf CART": yggdrasil(frame(X, y), 8),
        "LightGBM, one round with its data set": lightgbm_round(X, y),
        "TreeClassifier('gain', max_depth=8)": lambda: TreeClassifier(
            "gain",
            max_depth=8,
            n_jobs=THREADS,
            pruning=None,
        ).fit(X, y),
    }
    deep: dict[str, Call] = {
        "TreeClassifier('gini')": ours(X, y),
        "scikit-learn": scikit_learn(X, y, None),
        "snapml, exact": snap(X, y, None),
    }
    return [
        compare(
            f"fit to depth 8, {N:,} × {D}, {K} classes",
            eight,
            "Bars: at least 20 times scikit-learn, 6 times ydf; 4 times snapml, one LightGBM round",
            RUNS,
        ),
        compare(
            f"fit without a bound, {N:,} × {D}, {K} classes",
            deep,
            "Bars: at least 18 times scikit-learn, 4 times snapml",
            RUNS,
        ),
    ]


def fit_whole_numbers() -> list[Result]:
    """The same rounded to about 60 values a column."""
    X, y = numbers()
    rounded = np.round(X * 30 / np.abs(X).max(axis=0))
    values = np.mean([len(np.unique(column)) for column in rounded.T])
    return [
        compare(
            f"fit {words}, {N:,} × {D} whole numbers ({values:.0f} values a column), {K} classes",
            {
                "TreeClassifier('gini')": ours(rounded, y, max_depth=depth),
                "scikit-learn": scikit_learn(rounded, y, depth),
                "snapml, exact": snap(rounded, y, depth),
            },
            "Bars: at least 9 times scikit-learn, 3 times snapml",
            RUNS,
        )
        for words, depth in [("to depth 8", 8), ("without a bound", None)]
    ]


def mixed(n_classes: int) -> pd.DataFrame:
    """Eight number columns and twelve of words, of 5 to 500 values; classes of one hidden sum."""
    rng = np.random.default_rng(SEED)
    table = pd.DataFrame({f"n{j}": rng.normal(size=N) for j in range(8)})
    hidden = table[["n0", "n1", "n2"]].sum(axis=1).to_numpy()
    for j, n_values in enumerate(np.geomspace(5, 500, 12).astype(int)):
        codes = rng.integers(0, n_values, N)
        hidden = hidden + rng.normal(size=n_values)[codes]
        table[f"c{j}"] = np.char.add("v", codes.astype(str))
    table["y"] = pd.qcut(hidden, n_classes, labels=[f"k{i}" for i in range(n_classes)]).astype(str)
    return table


def fit_mixed() -> list[Result]:
    """Words and numbers together, with the stops that ydf has."""
    results = []
    for n_classes, bar in [(2, 8), (3, 3), (5, 8)]:
        table = mixed(n_classes)
        tree = TreeClassifier("gain", max_depth=8, min_samples_leaf=5, n_jobs=THREADS, pruning=None)
        peer = yggdrasil(table, 8)
        result = compare(
            f"fit to depth 8, {N:,} × (8 numbers + 12 categories), {n_classes} classes",
            {
                "TreeClassifier('gain', max_depth=8, min_samples_leaf=5)": _fit(tree, table),
                "ydf CART": peer,
            },
            f"Bar: at least {bar} times ydf; root no worse, training log-loss within 1 %",
            RUNS,
        )
        result.notes.extend(_beside(tree.fit(table, "y"), peer(), table))
        results.append(result)
    return results


def _fit(tree: TreeClassifier, table: pd.DataFrame) -> Call:
    return lambda: tree.fit(table, "y")


def _beside(tree: TreeClassifier, peer: Any, table: pd.DataFrame) -> list[str]:
    """How good both trees are on the rows they were grown from."""
    nodes = tree.to_frame()
    theirs = peer.predict(table)
    if theirs.ndim == 1:  # ydf gives the second class only, where there are two
        theirs = np.column_stack([1 - theirs, theirs])
    root = peer.get_tree(0).root.condition.score / math.log(2)
    losses = (
        log_loss(table["y"], tree.predict_proba(table.drop(columns="y"))),
        log_loss(table["y"], theirs, labels=sorted(table["y"].unique())),
    )
    note = (
        f"Root gain {nodes['score'][0]:.6f} bits (ydf {root:.6f}); training log-loss "
        f"{losses[0]:.5f} (ydf {losses[1]:.5f}); exact nodes {nodes['exact'].mean():.1%} of "
        f"{len(nodes)}."
    )
    return [note]


def predict() -> list[Result]:
    """A million rows, one thread each."""
    X, y = numbers()
    rows = np.concatenate([X, X])
    results = []
    for words, depth in [("depth 8", 8), ("no bound", None)]:
        tree = TreeClassifier("gini", max_depth=depth, n_jobs=1, pruning=None).fit(X, y)
        peer = DecisionTreeClassifier(max_depth=depth, random_state=SEED).fit(X, y)
        asked: dict[str, tuple[Call, Call]] = {
            "predict": (partial(tree.predict, rows), partial(peer.predict, rows)),
            "predict_proba": (partial(tree.predict_proba, rows), partial(peer.predict_proba, rows)),
        }
        results += [
            compare(
                f"{method}, {len(rows):,} × {D}, {words}",
                {"TreeClassifier": mine, "scikit-learn": theirs},
                "Bar: at least as fast, one thread",
            )
            for method, (mine, theirs) in asked.items()
        ]
    return results


def growth() -> list[Result]:
    """How time grows with rows and with columns; without a bound on the depth."""
    sizes = [(10_000, 20), (100_000, 20), (1_000_000, 20), (4_000_000, 20), (50_000, 5)]
    results = []
    for n, d in [*sizes, (50_000, 50), (50_000, 200)]:
        X, y = numbers(n, d)
        calls: dict[str, Call] = {"TreeClassifier('gini')": ours(X, y)}
        if n * d <= 2_500_000:
            calls["scikit-learn"] = scikit_learn(X, y, None)
        results.append(compare(f"growth: fit, {n:,} × {d}", calls, "No bar", RUNS if n < N else 3))
    return results


def memory() -> Result:
    """The peak of memory beyond the input, seen every millisecond in a process of its own."""
    notes = ["| input | bytes a cell beyond the input |", "|---|--:|"]
    for n, d, kind in [(N, 20, "f8"), (4 * N, 20, "f8"), (N // 5, 200, "f8"), (N, 20, "f4")]:
        beyond = peak_beyond(fit_of_two_classes, "TreeClassifier", n, d, kind)[1] / (n * d)
        notes.append(f"| {n:,} × {d}, {kind} | {beyond:.1f} |")
    result = compare("memory of a fit", {}, "Bar: at most 16 bytes a cell beyond the input")
    result.notes.extend(notes)
    return result


def results() -> list[Result]:
    """All questions."""
    numeric = [*fit_numbers(), *fit_whole_numbers()]
    return [*numeric, *fit_mixed(), *predict(), *growth(), memory()]
