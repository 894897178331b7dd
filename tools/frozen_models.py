"""Make the model files that tests load, one set for each version of the format.

    python tools/frozen_models.py

writes tests/modelfile/frozen/v<version>/<name>.sortal and, beside each, <name>.json with rows and
what the estimator predicts for them. What is there is not written again: remove what shall be made
anew. Before 1.0 a change of the format may do so.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sortal import (
    DiscreteBayes,
    FisherDiscriminant,
    IndicatorRegression,
    KernelDiscriminant,
    LinearDiscriminant,
    NeighborsClassifier,
    QuadraticDiscriminant,
    TreeClassifier,
)
from sortal.modelfile.archive import VERSION

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "modelfile" / "frozen" / f"v{VERSION}"
SIZES = ["small", "medium", "large"]


def table(n: int = 60) -> tuple[pd.DataFrame, Any]:
    """A table with numbers, words, an order, dates, truth values and missing values."""
    rng = np.random.default_rng(8)
    kinds = rng.integers(0, 3, size=n)
    frame = pd.DataFrame(
        {
            "length": (10 + 3 * kinds + rng.normal(size=n)).round(2),
            "width": (5 - kinds + rng.normal(size=n)).round(2),
            "size": pd.Categorical.from_codes(
                np.clip(kinds + rng.integers(-1, 2, size=n), 0, 2), SIZES, ordered=True
            ),
            "color": np.array(["blue", "grün", "red"])[(kinds + (rng.random(n) < 0.3)) % 3],
            "found": pd.Timestamp("2020-01-01") + pd.to_timedelta(30 * kinds + np.arange(n), "D"),
            "wild": rng.random(n) < 0.5,
        }
    )
    frame.loc[[3, 17], "length"] = np.nan
    frame.loc[[5, 23, 40], "color"] = None
    return frame, np.array(["ash", "birch", "cedar"])[kinds]


def asked() -> dict[str, list[Any]]:
    """Rows to predict, with missing values and new words, as they stand in the JSON file."""
    return {
        "length": [9.5, 13.25, 16.0, None, 12.0, 14.0],
        "width": [5.5, 4.0, 2.5, 3.0, None, 4.25],
        "size": ["small", "medium", "large", "small", "huge", None],
        "color": ["blue", "grün", "red", "blue", None, "violet"],
        "found": ["2020-01-20", "2020-02-10", "2020-04-01", "2020-03-01", None, "2020-02-29"],
        "wild": [True, False, True, False, True, False],
    }


def estimators() -> dict[str, Any]:
    """Fitted estimators by the names of their files."""
    frame, y = table()
    numbers, weights = frame[["length", "width"]], np.arange(len(y)) % 3 + 1
    priors = {"ash": 0.5, "birch": 0.25, "cedar": 0.25}
    costs = [[0, 1, 4], [1, 0, 1], [2, 1, 0]]
    means, covariance = [[0.0, 1.0], [2.0, 0.0]], [[1.0, 0.25], [0.25, 2.0]]
    tree = TreeClassifier(pruning="cost_complexity", categorical_split={"color": "multiway"})
    near = NeighborsClassifier(metric="mahalanobis", weights="gaussian")
    landmarks = KernelDiscriminant("poly", coef0=1.0, n_landmarks=9, solver="landmarks")
    whole, narrow = numbers.notna().all(axis=1), numbers.to_numpy(np.float32)
    spread = TreeClassifier("gini", missing="fractional", costs=costs, smoothing="shrinkage")
    return {
        "bayes": DiscreteBayes("joint", costs=costs).fit(frame, y, weights / 4),
        "fisher": FisherDiscriminant(missing="mean").fit(frame, y),
        "indicator": IndicatorRegression(ridge=0.5).fit(numbers.to_numpy(), y == "ash"),
        "kernel": KernelDiscriminant(ridge="loo", costs=costs).fit(frame, y, weights / 4),
        "landmarks": landmarks.fit(frame, y),
        "linear": LinearDiscriminant(shrinkage="loo", priors=priors).fit(frame, y),
        "moments": LinearDiscriminant.from_moments(means, covariances=covariance),
        "near": near.fit(narrow[whole], y[whole]),
        "neighbors": NeighborsClassifier([3, 7], costs=costs).fit(frame, y, weights / 4),
        "quadratic": QuadraticDiscriminant(pooling=0.5, class_weight="balanced").fit(frame, y),
        "spread": spread.fit(frame, y),
        "tree": tree.fit(frame, y, weights),
    }


def said(estimator: Any) -> dict[str, Any]:
    """Rows for an estimator and what it says of them."""
    rows = asked() if estimator.n_features_in_ > 2 else {k: asked()[k] for k in ("length", "width")}
    X: Any = pd.DataFrame(rows)
    if "found" in rows:
        X["found"] = pd.to_datetime(X["found"])
    if not hasattr(estimator, "feature_names_in_"):
        X = X.to_numpy(dtype=float)
    has_proba = hasattr(estimator, "predict_proba")
    ask = estimator.predict_proba if has_proba else estimator.decision_function
    return {"rows": rows, "says": estimator.predict(X).tolist(), "numbers": ask(X).tolist()}


def main() -> None:
    """Write what is not there yet."""
    warnings.simplefilter("ignore")  # the rows have missing values on purpose
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, estimator in estimators().items():
        path = FOLDER / f"{name}.sortal"
        if path.exists():
            continue
        estimator.save(path)
        text = json.dumps(said(estimator), ensure_ascii=False, indent=1) + "\n"
        path.with_suffix(".json").write_text(text, encoding="utf-8")
        print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
