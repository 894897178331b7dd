"""How fast is QDA beside scikit-learn's, and how many fits does leaving out every row take?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from harness import Result, compare
from sortal import LinearDiscriminant, QuadraticDiscriminant

SEED = 0
PACKAGES = ["sortal", "scikit-learn", "numpy", "scipy"]
N, D, K = 1_000_000, 50, 5


def gaussians(n_rows: int, n_columns: int, n_classes: int = K) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian classes that overlap, each with its own covariance."""
    rng = np.random.default_rng(SEED)
    y = rng.integers(0, n_classes, n_rows)
    X = rng.normal(size=(n_rows, n_columns))
    for k in range(n_classes):
        mixing = np.eye(n_columns) + 0.3 * rng.normal(size=(n_columns, n_columns)) / n_columns**0.5
        X[y == k] = X[y == k] @ mixing + 0.5 * rng.normal(size=n_columns)
    return X, y


def fits(X: np.ndarray, y: np.ndarray) -> dict[str, Callable[[], object]]:
    """Whole fits, at defaults: two cores for everybody."""
    return {
        "QuadraticDiscriminant()": lambda: QuadraticDiscriminant().fit(X, y),
        "scikit-learn, svd (default)": lambda: QuadraticDiscriminantAnalysis().fit(X, y),
    }


def fit() -> Result:
    """The question with a bar."""
    question = f"QDA: fit, {N:,} × {D}, {K} classes"
    return compare(question, fits(*gaussians(N, D)), "Bar: at least 15 times")


def predict() -> list[Result]:
    """Labels and posteriors of the same rows; the two say the same."""
    X, y = gaussians(N, D)
    ours = QuadraticDiscriminant(covariance="mle").fit(X, y)
    peer = QuadraticDiscriminantAnalysis().fit(X, y)
    differ = int((ours.predict(X) != peer.predict(X)).sum())
    apart = np.abs(ours.predict_proba(X[:20_000]) - peer.predict_proba(X[:20_000])).max()
    asked: dict[str, tuple[Callable[[], object], Callable[[], object], str]] = {
        "predict": (lambda: ours.predict(X), lambda: peer.predict(X), "Bar: at least 5 times"),
        "predict_proba": (
            lambda: ours.predict_proba(X),
            lambda: peer.predict_proba(X),
            "No bar",
        ),
    }
    found = [
        compare(
            f"QDA: {method}, {N:,} × {D}, {K} classes",
            {"QuadraticDiscriminant": mine, "scikit-learn": theirs},
            bar,
        )
        for method, (mine, theirs, bar) in asked.items()
    ]
    found[0].notes.append(
        f"With covariance='mle', which is what this scikit-learn uses: {differ} of {N:,} labels "
        f"differ, posteriors (of 20,000 rows) by {apart:.0e} at most."
    )
    return found


def leave_out() -> list[Result]:
    """Every row by the model without it, measured in fits."""
    n, d, k = 100_000, 30, 3
    X, y = gaussians(n, d, k)
    found = []
    asked: list[tuple[LinearDiscriminant | QuadraticDiscriminant, str]] = [
        (LinearDiscriminant(), "Bar: at most 5 fits (0.2 or more below)"),
        (LinearDiscriminant(shrinkage=0.1), "No bar"),
        (LinearDiscriminant(shrinkage="ledoit_wolf"), "No bar"),
        (QuadraticDiscriminant(), "No bar"),
        (QuadraticDiscriminant(pooling=0.3, shrinkage=0.1), "No bar"),
    ]
    for ours, bar in asked:
        ours.fit(X, y)
        calls: dict[str, Callable[[], object]] = {
            "loo_proba": lambda ours=ours: ours.loo_proba(X, y),  # type: ignore[misc]
            "fit": lambda ours=ours: ours.fit(X, y),  # type: ignore[misc]
        }
        found.append(compare(f"{ours}: loo_proba, {n:,} × {d}, {k} classes", calls, bar))
    return found


def choice() -> list[Result]:
    """What a choice by leave-one-out costs beside a fit with a number."""
    n, d, k = 100_000, 30, 3
    X, y = gaussians(n, d, k)
    asked: list[tuple[str, Callable[[], object], Callable[[], object]]] = [
        (
            "LDA, shrinkage='loo', 14 values",
            lambda: LinearDiscriminant(shrinkage="loo").fit(X, y),
            lambda: LinearDiscriminant(shrinkage=0.1).fit(X, y),
        ),
        (
            "QDA, pooling='loo', 14 values",
            lambda: QuadraticDiscriminant(pooling="loo").fit(X, y),
            lambda: QuadraticDiscriminant(pooling=0.1).fit(X, y),
        ),
    ]
    return [
        compare(
            f"{name}: fit, {n:,} × {d}, {k} classes", {"loo": chosen, "a number": given}, "No bar"
        )
        for name, chosen, given in asked
    ]


def growth() -> list[Result]:
    """How time grows with rows, columns and classes."""
    sizes = [(10_000, 20, 5), (100_000, 20, 5), (1_000_000, 20, 5), (100_000, 100, 5)]
    return [
        compare(f"QDA, growth: fit, {n:,} × {d}, {k} classes", fits(*gaussians(n, d, k)), "No bar")
        for n, d, k in [*sizes, (100_000, 20, 100)]
    ]


def results() -> list[Result]:
    """All questions."""
    return [fit(), *predict(), *leave_out(), *choice(), *growth()]
