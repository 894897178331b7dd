"""How fast are the discriminants beside scikit-learn's LDA, and beside one product of matrices?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from harness import Result, compare, fit_of_two_classes, peak_beyond
from sortal import LinearDiscriminant

SEED = 0
PACKAGES = ["sortal", "scikit-learn", "numpy", "scipy"]
N, D, K = 1_000_000, 50, 5


def gaussians(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """K Gaussian classes that overlap, with correlated columns."""
    rng = np.random.default_rng(SEED)
    y = rng.integers(0, K, n_rows)
    mixing = np.eye(n_columns) + 0.3 * rng.normal(size=(n_columns, n_columns)) / n_columns**0.5
    X = rng.normal(size=(n_rows, n_columns)) @ mixing
    X += rng.normal(size=(K, n_columns))[y]
    return X, y


def fits(X: np.ndarray, y: np.ndarray) -> dict[str, Callable[[], object]]:
    """Whole fits, at defaults: two cores for everybody."""
    return {
        "LinearDiscriminant()": lambda: LinearDiscriminant().fit(X, y),
        "scikit-learn, svd (default)": lambda: LinearDiscriminantAnalysis().fit(X, y),
        "scikit-learn, lsqr": lambda: LinearDiscriminantAnalysis(solver="lsqr").fit(X, y),
        "X.T @ X": lambda: X.T @ X,
    }


def fit() -> Result:
    """The question with bars."""
    return compare(
        f"fit, {N:,} × {D}, {K} classes",
        fits(*gaussians(N, D)),
        "Bars: at least 20 times svd, 4 times lsqr, at most 2.5 times X.T @ X (0.4 or more below)",
    )


def predict() -> list[Result]:
    """Labels and posteriors of the same rows."""
    X, y = gaussians(N, D)
    ours, peer = LinearDiscriminant().fit(X, y), LinearDiscriminantAnalysis("lsqr").fit(X, y)
    asked: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "predict": (lambda: ours.predict(X), lambda: peer.predict(X)),
        "predict_proba": (lambda: ours.predict_proba(X), lambda: peer.predict_proba(X)),
    }
    return [
        compare(
            f"{method}, {N:,} × {D}, {K} classes",
            {"LinearDiscriminant": mine, "scikit-learn": theirs},
            "Bar: at least as fast",
        )
        for method, (mine, theirs) in asked.items()
    ]


def growth() -> list[Result]:
    """How time grows with rows and with columns."""
    sizes = [(10_000, 20), (100_000, 20), (1_000_000, 20), (100_000, 5), (100_000, 100)]
    return [
        compare(f"growth: fit, {n:,} × {d}", fits(*gaussians(n, d)), "No bar")
        for n, d in [*sizes, (20_000, 400)]
    ]


def memory() -> Result:
    """The peak of memory beyond the input, seen every millisecond in a process of its own."""
    notes = ["| input | MB beyond the input |", "|---|--:|"]
    for n, d, kind in [(N // 4, D, "f8"), (N, D, "f8"), (4 * N, D, "f8"), (N, D, "f4")]:
        beyond = peak_beyond(fit_of_two_classes, "LinearDiscriminant", n, d, kind)[1] / 2**20
        notes.append(f"| {n:,} × {d}, {kind} | {beyond:.0f} |")
    result = compare("memory of a fit", {}, "Bar: under 100 MB beyond the input at any n")
    result.notes.extend(notes)
    return result


def results() -> list[Result]:
    """All questions."""
    return [fit(), *predict(), *growth(), memory()]
