"""How fast are exact nearest neighbors beside others, and how much memory do they take?

Everybody has two threads and fits, or builds an index, and answers, in one call. We also vote,
which cKDTree and faiss do not. Rows are float32; scale=None, so that all find the same neighbors.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import faiss
import numpy as np
from scipy.spatial import cKDTree
from sklearn.neighbors import KNeighborsClassifier
from sklearnex.neighbors import KNeighborsClassifier as IntelNeighbors

from harness import Result, compare, peak_beyond
from sortal import NeighborsClassifier

if TYPE_CHECKING:
    from sortal.neighbors.learn import Metric

SEED = 1
PACKAGES = ["sortal", "scikit-learn", "scikit-learn-intelex", "scipy", "faiss-cpu", "numpy"]
K, REPEATS, THREADS = 5, 5, 2
SIZES = (
    (200_000, 50_000, 3),
    (100_000, 20_000, 10),
    (100_000, 10_000, 50),
    (60_000, 10_000, 784),
)
# Where a peer takes minutes, it gets so many queries, once, and a note says what they took.
SOME = 500

Table = np.ndarray
Calls = dict[str, Callable[[], object]]


def normal(n: int, d: int) -> Table:
    """Standard normal numbers."""
    return np.random.default_rng(SEED).normal(size=(n, d)).astype(np.float32)


def latent(n: int, d: int) -> Table:
    """Four latent dimensions, and a hundredth of noise."""
    rng = np.random.default_rng(SEED)
    rows = rng.normal(size=(n, 4)) @ rng.normal(size=(4, d)) + 0.01 * rng.normal(size=(n, d))
    return rows.astype(np.float32)


def classes(X: Table) -> Table:
    """Three classes by the first two columns."""
    return ((X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)).astype(int)


def flat(X: Table, Q: Table, metric: int) -> object:
    """All that faiss does."""
    faiss.omp_set_num_threads(THREADS)
    index = faiss.IndexFlat(X.shape[1], metric)
    index.add(X)
    return index.search(Q, K)


def calls(X: Table, y: Table, Q: Table, metric: Metric = "euclidean") -> Calls:
    """Whole calls by name, ours first."""
    p = 2.0 if metric == "euclidean" else 1.0
    code = faiss.METRIC_L2 if metric == "euclidean" else faiss.METRIC_L1
    brute = {"algorithm": "brute", "metric": metric, "n_jobs": THREADS}
    ours = NeighborsClassifier(K, metric, scale=None, n_jobs=THREADS)
    return {
        "NeighborsClassifier": lambda: ours.fit(X, y).predict(Q),
        "scikit-learn, default": lambda: (
            KNeighborsClassifier(K, metric=metric, n_jobs=THREADS).fit(X, y).predict(Q)
        ),
        "scikit-learn, brute": lambda: KNeighborsClassifier(K, **brute).fit(X, y).predict(Q),
        "scikit-learn-intelex": lambda: (
            IntelNeighbors(K, metric=metric, n_jobs=THREADS).fit(X, y).predict(Q)
        ),
        "scipy cKDTree": lambda: cKDTree(X).query(Q, K, p=p, workers=THREADS),
        "faiss flat": lambda: flat(X, Q, code),
    }


def ask(
    sizes: tuple[int, int, int],
    draw: Callable[[int, int], Table],
    bar: str,
    slow: tuple[str, ...] = (),
    metric: Metric = "euclidean",
) -> Result:
    """One question; peers in `slow` are told apart in notes."""
    n, q, d = sizes
    table = draw(n + q, d)
    X, Q = table[:n].copy(), table[n:].copy()
    y = classes(X)
    all_calls, few = calls(X, y, Q, metric), calls(X, y, Q[:SOME], metric)
    question = f"{metric.capitalize()}, {draw.__name__}: {n:,} rows × {q:,} queries × {d} columns"
    kept = {name: call for name, call in all_calls.items() if name not in slow}
    result = compare(question, kept, bar, REPEATS)
    for name in slow:
        start = time.perf_counter()
        few[name]()
        took = time.perf_counter() - start
        result.notes.append(f"{name}, once, {SOME} of the queries: {took:.1f} s.")
    ours = NeighborsClassifier(K, metric, scale=None).fit(X, y)
    theirs = KNeighborsClassifier(K, metric=metric, algorithm="brute", n_jobs=THREADS).fit(X, y)
    differ = int((ours.predict(Q[:SOME]) != theirs.predict(Q[:SOME])).sum())
    result.notes.append(
        f"Search: {ours.search_}. Of {SOME} labels {differ} differ from scikit-learn's."
    )
    return result


def euclidean() -> list[Result]:
    """Rows in few and in many columns."""
    tree, exact, default = "scipy cKDTree", "scikit-learn, brute", "scikit-learn, default"
    d3, d10, d50, d784 = SIZES
    faster = "Bar: faster than every peer"
    found = []
    for draw in (normal, latent):
        wide = (tree, default) if draw is normal else (default,)  # the default is brute here
        found += [
            ask(d3, draw, faster, (exact, "faiss flat")),
            ask(d10, draw, f"{faster}, and 10 times scikit-learn, brute"),
            ask(d50, draw, f"{faster}, and 8 times scikit-learn, brute", wide),
            ask(
                d784, draw, "Bar: as fast as the fastest, and 3 times scikit-learn", (tree, default)
            ),
        ]
    return found


def manhattan() -> list[Result]:
    """Sums of absolute differences."""
    sizes, bar = (100_000, 10_000, 50), "Bar: 3 times the fastest peer"
    slow = ("scikit-learn, default", "scikit-learn, brute", "scipy cKDTree")
    return [
        ask(sizes, normal, bar, slow, "manhattan"),
        ask(sizes, latent, bar, slow[:2], "manhattan"),
    ]


def bits_of(codes: Table, n_values: int) -> Table:
    """One bit a value, packed: two rows that differ in a column differ in two bits."""
    n, d = codes.shape
    ones = np.zeros((n, -(-d * n_values // 64) * 64), dtype=np.uint8)
    ones[np.arange(n)[:, None], np.arange(d) * n_values + codes] = 1
    return np.packbits(ones, axis=1)


def binary(X: Table, Q: Table) -> object:
    """All that faiss does with bits."""
    faiss.omp_set_num_threads(THREADS)
    rows = bits_of(X, 5)
    index = faiss.IndexBinaryFlat(8 * rows.shape[1])
    index.add(rows)
    return index.search(bits_of(Q, 5), K)


def hamming() -> list[Result]:
    """Category columns; ours reads them as categories, the others as what they can."""
    n, q, d = 100_000, 10_000, 20
    rng = np.random.default_rng(SEED)
    X, Q = rng.integers(0, 5, (n, d)), rng.integers(0, 5, (q, d))
    y = (X[:, 0] + X[:, 1] > 4).astype(int)
    ours = NeighborsClassifier(K, "hamming", categorical_features="all", n_jobs=THREADS)
    peer = KNeighborsClassifier(K, metric="hamming", n_jobs=THREADS)
    question = f"Hamming: {n:,} rows × {q:,} queries × {d} columns of 5 values"
    result = compare(
        question,
        {
            "NeighborsClassifier": lambda: ours.fit(X, y).predict(Q),
            "faiss binary, one bit a value": lambda: binary(X, Q),
        },
        "Bar: twice the fastest peer",
        REPEATS,
    )
    start = time.perf_counter()
    peer.fit(X, y).predict(Q[:SOME])
    took = time.perf_counter() - start
    found = np.asarray(ours.fit(X, y).kneighbors(Q[:SOME])[0])
    theirs = np.asarray(binary(X, Q[:SOME])[0]) / 2  # type: ignore[index]
    result.notes.append(
        f"scikit-learn, once, {SOME} of the queries: {took:.1f} s; scikit-learn-intelex hands "
        "this metric to scikit-learn."
    )
    result.notes.append(
        f"Search: {ours.search_}. Distances equal to faiss's: {np.array_equal(found, theirs)}."
    )
    return [result]


def mixed() -> list[Result]:
    """What others do not have: words, numbers and missing values."""
    n, q = 100_000, 1_000
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(n + q, 10))
    X[:, 5:] = rng.integers(0, 5, (n + q, 5))
    y = (X[:, 0] + X[:, 5] > 2).astype(int)
    missing = np.where(rng.uniform(size=X.shape) < 0.05, np.nan, X)
    ours = NeighborsClassifier(K, "gower", categorical_features=list(range(5, 10)))

    def gower() -> object:
        low, high = X[:n, :5].min(axis=0), X[:n, :5].max(axis=0)
        numbers = (X[:, :5] - low) / (high - low)
        coded = np.hstack([numbers, -1 - X[:, 5:]]).astype(np.float32)
        return flat(np.ascontiguousarray(coded[:n]), coded[n:], faiss.METRIC_GOWER)

    return [
        compare(
            f"Gower: {n:,} rows × {q:,} queries × 5 numbers and 5 categories",
            {
                "NeighborsClassifier": lambda: ours.fit(X[:n], y[:n]).predict(X[n:]),
                "the same, one cell in 20 a missing value": lambda: ours.fit(
                    missing[:n], y[:n]
                ).predict(missing[n:]),
                "faiss flat, no missing values, float32": gower,
            },
            "No bar",
            REPEATS,
        )
    ]


def fit_and_predict(n: int, q: int, d: int) -> Callable[[], object]:
    """For `peak_beyond`: the five nearest of n rows, for q others."""
    rng = np.random.default_rng(0)
    X, Q = rng.normal(size=(n, d)).astype("f4"), rng.normal(size=(q, d)).astype("f4")
    y = (X[:, 0] > 0).astype(int)
    model = NeighborsClassifier(5, "euclidean", scale=None)
    model.fit(X[:2000], y[:2000]).predict(Q[:10])
    return lambda: model.fit(X, y).predict(Q)


def memory() -> Result:
    """The peak of fit and predict beyond rows and queries, which they are given."""
    notes = []
    for n, q, d in SIZES:
        taken = peak_beyond(fit_and_predict, n, q, d)[1]
        notes.append(
            f"- {n:,} × {q:,} × {d}: {taken / 1e6:.0f} MB, of which "
            f"{4 * n * d / 1e6:.0f} MB are the model's own rows"
        )
    bar = "Bar: under 300 MB beyond the data"
    return Result("Peak memory of fit and predict", {}, bar, os.getloadavg()[0], notes)


def results() -> list[Result]:
    """All questions of this script."""
    return [*euclidean(), *manhattan(), *hamming(), *mixed(), memory()]
