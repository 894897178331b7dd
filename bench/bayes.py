"""How fast is discrete Bayes beside scikit-learn's CategoricalNB?"""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl
from sklearn.naive_bayes import CategoricalNB
from sklearn.preprocessing import OrdinalEncoder

from harness import Result, compare
from sortal import DiscreteBayes, native

SEED = 0
PACKAGES = ["sortal", "scikit-learn", "numpy", "polars"]


def codes(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Whole-number codes of 20 values in 20 columns, and 5 classes."""
    random = np.random.default_rng(SEED)
    return random.integers(0, 20, (n_rows, 20)), random.integers(0, 5, n_rows)


def words(n_rows: int) -> tuple[pl.DataFrame, np.ndarray]:
    """The same as words of 4 to 10 letters."""
    X, y = codes(n_rows)
    listed = np.array([f"w{v:02d}_" + "abc" * (v % 3) for v in range(20)], dtype=object)
    return pl.DataFrame({f"c{j}": listed[X[:, j]] for j in range(20)}), y


def fit_codes() -> Result:
    """fit on int64 codes."""
    X, y = codes(2_000_000)
    return compare(
        "fit, 2,000,000 × 20 int64 codes (20 values, 5 classes)",
        {
            "DiscreteBayes(n_jobs=1)": lambda: DiscreteBayes(
                categorical_features="all", n_jobs=1
            ).fit(X, y),
            "DiscreteBayes()": lambda: DiscreteBayes(categorical_features="all").fit(X, y),
            "CategoricalNB": lambda: CategoricalNB().fit(X, y),
        },
        "Bar: at least 20 times CategoricalNB",
    )


def fit_words() -> Result:
    """fit on polars strings."""
    frame, y = words(500_000)
    return compare(
        "fit, 500,000 × 20 polars strings (20 values, 5 classes)",
        {
            "DiscreteBayes(n_jobs=1)": lambda: DiscreteBayes(n_jobs=1).fit(frame, y),
            "DiscreteBayes()": lambda: DiscreteBayes().fit(frame, y),
            "OrdinalEncoder + CategoricalNB": lambda: CategoricalNB().fit(
                OrdinalEncoder().fit_transform(frame), y
            ),
        },
        "Bar: at least 6 times OrdinalEncoder + CategoricalNB",
    )


def count(order: Literal["C", "F"]) -> Result:
    """The compiled count alone, one thread."""
    X, y = codes(2_000_000)
    X = np.asarray(X, order=order)
    classes = y.astype(np.int32)
    columns = [X[:, j] for j in range(20)]
    return compare(
        f"count alone, 2,000,000 × 20 int64 codes in {order} order, one thread",
        {
            "native.count_integers": lambda: native.count_integers(columns, classes, 5, None),
            "np.bincount in a loop": lambda: [
                np.bincount(column * 5 + y, minlength=100) for column in columns
            ],
        },
        "Bar: at least 3 times a loop of np.bincount",
    )


def predict_codes() -> Result:
    """predict on int64 codes (no bar; so that it is known)."""
    X, y = codes(500_000)
    ours = DiscreteBayes(categorical_features="all").fit(X, y)
    single = DiscreteBayes(categorical_features="all", n_jobs=1).fit(X, y)
    peer = CategoricalNB().fit(X, y)
    return compare(
        "predict, 500,000 × 20 int64 codes",
        {
            "DiscreteBayes(n_jobs=1)": lambda: single.predict(X),
            "DiscreteBayes()": lambda: ours.predict(X),
            "CategoricalNB": lambda: peer.predict(X),
        },
        "No bar",
    )


def results() -> list[Result]:
    """All questions."""
    return [fit_codes(), fit_words(), count("C"), count("F"), predict_codes()]
