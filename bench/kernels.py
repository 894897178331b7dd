"""How fast is the kernel discriminant beside its own parts, the textbook's way and landmarks?

Everybody has two threads. Nothing that is kept up has a kernel discriminant, so that the peers are
what a user would put together. Rows are float64; classes are Gaussian clouds, three to a class, so
that a line between the classes is not enough. Columns are divided by their standard deviation, for
which the default width of Nystroem is meant: then both sides have the same kernel.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import numpy as np
import scipy.linalg
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import Pipeline, make_pipeline

from harness import Result, compare, peak_beyond
from sortal import KernelDiscriminant

SEED = 1
PACKAGES = ["sortal", "scikit-learn", "scipy", "numpy"]
REPEATS, THREADS = 5, 2
DENSE, COLUMNS = 8_000, 20
LANDMARKS, CLASSES = 1_000, 10
MANY, OTHERS, SEEDS = 100_000, 100_000, 4
GROWTH = (50_000, 100_000, 200_000, 500_000, 1_000_000)
RIDGE = 1e-3

Table = np.ndarray


def clouds(n: int, d: int, n_classes: int) -> tuple[Table, Table]:
    """Three Gaussian clouds a class, their centers normal with a standard deviation of 1.2."""
    rng = np.random.default_rng(SEED)
    centers = 1.2 * rng.normal(size=(n_classes, 3, d))
    y = rng.integers(0, n_classes, n)
    X = np.empty((n, d))
    for start in range(0, n, 10_000):
        own = centers[y[start : start + 10_000], rng.integers(0, 3, len(X[start : start + 10_000]))]
        X[start : start + 10_000] = own + rng.normal(size=own.shape)
    X /= X.std(axis=0)
    return X, y


def parts(X: Table) -> object:
    """The kernel matrix, and one Cholesky factor of it with a ridge."""
    K = rbf_kernel(X, gamma=1.0 / X.shape[1])
    K[np.diag_indices(len(K))] += RIDGE * len(K)
    return scipy.linalg.cho_factor(K)


def textbook(X: Table, y: Table) -> object:
    """Algorithm 20.2 as it stands, with N + μK, by scipy's generalized eigenproblem."""
    K = rbf_kernel(X, gamma=1.0 / X.shape[1])
    means = [K[:, y == c].mean(axis=1) for c in (0, 1)]
    N = sum(
        (K[:, y == c] - mean[:, None]) @ (K[:, y == c] - mean[:, None]).T
        for c, mean in enumerate(means)
    )
    apart = means[0] - means[1]
    last = len(K) - 1
    right = N + RIDGE * len(K) * K
    return scipy.linalg.eigh(np.outer(apart, apart), right, subset_by_index=[last, last])


def dense() -> list[Result]:
    """All rows as the basis."""
    X, y = clouds(DENSE, COLUMNS, 2)
    ours = KernelDiscriminant(solver="dense", ridge=RIDGE, n_jobs=THREADS)
    question = f"{DENSE:,} × {COLUMNS}, rbf, all rows"
    result = compare(
        question,
        {"KernelDiscriminant": lambda: ours.fit(X, y), "rbf_kernel + cho_factor": lambda: parts(X)},
        "At most 1.5 times the second call, which has no model in the end",
        REPEATS,
    )
    times = []
    for _ in range(2):
        start = time.perf_counter()
        textbook(X, y)
        times.append(time.perf_counter() - start)
    slow = min(times)
    times_ours = slow / result.seconds["KernelDiscriminant"]
    result.notes.append(
        f"The generalized eigenproblem of the textbook by scipy.linalg.eigh takes {slow:.1f} s, "
        f"the better of two runs: {times_ours:.1f} times ours (to be 10 or more)."
    )
    return [result]


def pipeline(seed: int) -> Pipeline:
    """What scikit-learn has."""
    return make_pipeline(
        Nystroem(n_components=LANDMARKS, random_state=seed), LinearDiscriminantAnalysis()
    )


def discriminant(seed: int) -> KernelDiscriminant:
    """Ours, with all defaults but the number of landmarks."""
    return KernelDiscriminant(
        solver="landmarks", n_landmarks=LANDMARKS, random_state=seed, n_jobs=THREADS
    )


def landmarks() -> Result:
    """A thousand landmarks, against the pipeline of scikit-learn."""
    X, y = clouds(MANY + OTHERS, COLUMNS, CLASSES)
    X, y, Q, truth = X[:MANY], y[:MANY], X[MANY:], y[MANY:]
    ours, theirs = discriminant(0), pipeline(0)
    result = compare(
        f"{MANY:,} × {COLUMNS}, {CLASSES} classes, {LANDMARKS:,} landmarks: fit",
        {"KernelDiscriminant": lambda: ours.fit(X, y), "Nystroem + LDA": lambda: theirs.fit(X, y)},
        "At least 10 times faster, and no less accurate",
        REPEATS,
    )
    scores = [
        [make(seed).fit(X, y).score(Q, truth) for seed in range(SEEDS)]
        for make in (discriminant, pipeline)
    ]
    told = ["; ".join(f"{score:.4f}" for score in some) for some in scores]
    result.notes.append(
        f"Share of {OTHERS:,} other rows that are rightly predicted, for {SEEDS} draws of the "
        f"landmarks: {told[0]} (mean {np.mean(scores[0]):.5f}), and by the pipeline {told[1]} "
        f"(mean {np.mean(scores[1]):.5f})."
    )
    return result


def fit_of_many(n: int) -> Callable[[], object]:
    """For `peak_beyond`: so many rows by landmarks."""
    X, y = clouds(n, COLUMNS, CLASSES)
    KernelDiscriminant(n_jobs=THREADS).fit(X[:500], y[:500])
    model = KernelDiscriminant(solver="landmarks", n_landmarks=LANDMARKS, n_jobs=THREADS)
    return lambda: model.fit(X, y)


def growth() -> Result:
    """Seconds and memory beyond the input, each in a process of its own."""
    notes = ["| rows | seconds | MB beyond the input |", "|--:|--:|--:|"]
    for n in GROWTH:
        seconds, memory = peak_beyond(fit_of_many, n)
        notes.append(f"| {n:,} | {seconds:.2f} | {memory / 1e6:.0f} |")
    question = f"Growth, {COLUMNS} columns, {CLASSES} classes, {LANDMARKS:,} landmarks"
    bar = "500,000 rows below 1,500 MB; 1,000,000 rows complete. One run each"
    return Result(question, {}, bar, os.getloadavg()[0], notes)


def results() -> list[Result]:
    """All questions."""
    return [*dense(), landmarks(), growth()]
