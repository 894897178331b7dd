"""Fitted estimators of every kind, for tests of what is kept of them."""

from __future__ import annotations

import warnings
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from sortal import (
    DiscreteBayes,
    FisherDiscriminant,
    KernelDiscriminant,
    LinearDiscriminant,
    NeighborsClassifier,
    QuadraticDiscriminant,
    TreeClassifier,
    datasets,
    from_sklearn,
)
from sortal.tasks.registry import learners

if TYPE_CHECKING:
    from collections.abc import Callable

    Case = tuple[Any, Any]

N = 90
ALL = tuple(learner.load() for learner in learners())
DISCRIMINANTS = tuple(cls for cls in ALL if hasattr(cls, "from_moments"))
COSTS = [[0, 1, 4], [1, 0, 1], [2, 1, 0]]


def mixed(n: int = N) -> pd.DataFrame:
    """Numbers, words, an ordered category with an unused level, dates, and missing values."""
    rng = np.random.default_rng(1)
    k = np.arange(n) % 3
    frame = pd.DataFrame(
        {
            "x": k + rng.normal(size=n),
            "word": np.array(["a", "b", "c"], dtype=object)[(k + (rng.random(n) < 0.4)) % 3],
            "date": pd.Timestamp("2021-03-04") + pd.to_timedelta(20 * k + np.arange(n), "D"),
            "level": pd.Categorical.from_codes(k, ["low", "mid", "high", "never"], ordered=True),
            "z": rng.normal(size=n),
        }
    )
    frame.loc[[2, 30], "x"] = np.nan
    frame.loc[[4, 50], "word"] = None
    return frame


def words(n: int = N) -> pd.DataFrame:
    """Categories only, of words, truth values and numbers."""
    rng = np.random.default_rng(2)
    k = np.arange(n) % 3
    return pd.DataFrame(
        {
            "word": np.array(["a", "b", "c"], dtype=object)[(k + (rng.random(n) < 0.4)) % 3],
            "flag": (k > 0) ^ (rng.random(n) < 0.2),
            "code": pd.Categorical(k * 10 + (rng.random(n) < 0.5)),
        }
    )


def numbers(n: int = N) -> Any:
    """An array without names."""
    rng = np.random.default_rng(3)
    return (np.arange(n) % 3)[:, None] * [1.0, -0.5, 0.25] + rng.normal(size=(n, 3))


LABELS = {
    "str": np.array(["no", "perhaps", "yes"])[np.arange(N) % 3],
    "int": np.arange(N) % 3 * 7 - 3,
    "bool": np.arange(N) % 3 == 1,
    "object": np.array(["ä", 5, "z"], dtype=object)[np.arange(N) % 3],
}
TABLES: dict[str, Callable[[], Any]] = {"mixed": mixed, "words": words, "numbers": numbers}
# Every table, and labels of every kind.
PAIRS = (("mixed", "str"), ("words", "int"), ("numbers", "object"), ("mixed", "bool"))
WEIGHTS = np.arange(N) % 4 / 4 + 0.5
PRIORS = {"no": 0.5, "perhaps": 0.25, "yes": 0.25}


def _plain(cls: type[Any], table: str, labels: str) -> Callable[[], Case]:
    return lambda: (cls().fit(TABLES[table](), LABELS[labels]), TABLES[table]())


def _on_mixed(made: Any, weights: Any = None) -> Case:
    return made.fit(mixed(), LABELS["str"], weights), mixed()


def _on_polars(made: Any) -> Case:
    penguins = datasets.penguins("polars")
    return made.fit(penguins, "species"), penguins


def _moments(cls: type[Any], **more: Any) -> Case:
    means, scatter = [[0.0, 1.0], [2.0, 0.0]], np.array([[1.0, 0.25], [0.25, 2.0]])
    made = cls.from_moments(means, covariances=scatter, **more)
    return made, pd.DataFrame({"x0": [0.0, 1.5, 3.0, 0.5], "x1": [1.0, np.nan, 0.25, 0.5]})


def _taken_in() -> Case:
    X, y = load_iris(return_X_y=True)
    X[:5, 2] = np.nan
    return from_sklearn(DecisionTreeClassifier(random_state=0).fit(X, y)), X


def _streamed() -> Case:
    made, X, y = LinearDiscriminant(), mixed(), LABELS["str"]
    for part in (slice(0, 40), slice(40, 90)):
        made.partial_fit(X[part], y[part], classes=["maybe", "no", "perhaps", "yes"])
    return made.forget(X[10:20], y[10:20]), X


def _near_streamed() -> Case:
    made, X, y = NeighborsClassifier(3), mixed(), LABELS["str"]
    for part in (slice(0, 40), slice(40, 90)):
        made.partial_fit(X[part], y[part], classes=["maybe", "no"])
    return made.forget(ids=range(10, 20)), X


def _kernel_streamed() -> Case:
    made, X, y = KernelDiscriminant(n_landmarks=20), mixed(), LABELS["str"]
    for part in (slice(0, 40), slice(40, 90)):
        made.partial_fit(X[part], y[part], classes=["maybe", "no", "perhaps", "yes"])
    return made, X


def _kernel_given() -> Case:
    X = numbers()
    return KernelDiscriminant("precomputed").fit(X @ X.T, LABELS["str"]), X[:7] @ X.T


def _near_narrow() -> Case:
    X = numbers().astype(np.float32)
    X[3, 1] = np.nan
    return NeighborsClassifier(metric="minkowski", p=np.inf).fit(X, LABELS["int"]), X


def _near_whitened() -> Case:
    X = np.column_stack([numbers(), numbers().sum(axis=1)])
    asked = X.copy()
    asked[1, 2] = np.nan
    made = NeighborsClassifier(metric="mahalanobis", weights="gaussian")
    return made.fit(X, LABELS["str"], WEIGHTS), asked


def _set_later() -> Case:
    made, X = _on_mixed(DiscreteBayes(alpha=0.5, class_weight={"yes": 2.0}))
    return made.set_params(alpha=2.0, class_weight=None), X


def _pruned() -> Case:
    made, X = _on_mixed(TreeClassifier(pruning="cost_complexity", cv=3))
    return made.prune("pessimistic", confidence=0.25), X


EVERY: dict[str, Callable[[], Case]] = {
    **{f"{c.__name__} {t} {y}": _plain(c, t, y) for c in ALL for t, y in PAIRS},
    **{f"{c.__name__} mean": lambda c=c: _on_mixed(c(missing="mean")) for c in DISCRIMINANTS},  # type: ignore[misc]
    **{f"{c.__name__} weights": lambda c=c: _on_mixed(c(), WEIGHTS) for c in ALL},  # type: ignore[misc]
    **{f"{c.__name__} moments": lambda c=c: _moments(c) for c in DISCRIMINANTS},  # type: ignore[misc]
}
CASES: dict[str, Callable[[], Case]] = {
    **EVERY,
    "named moments": lambda: _moments(
        LinearDiscriminant, names=["x0", "x1"], classes=["a", "b"], class_weight={"a": 2.0}
    ),
    "linear priors": lambda: _on_mixed(LinearDiscriminant(priors=PRIORS, costs=COSTS)),
    "linear loo": lambda: _on_mixed(LinearDiscriminant(shrinkage="loo")),
    "quadratic loo": lambda: _on_mixed(QuadraticDiscriminant(pooling="loo", shrinkage=0.25)),
    "fisher point": lambda: (
        FisherDiscriminant(threshold="least_error").fit(numbers(), LABELS["bool"]),
        numbers(),
    ),
    "bayes joint": lambda: _on_mixed(DiscreteBayes("joint", costs=COSTS, priors=PRIORS), WEIGHTS),
    "bayes plain": lambda: _on_mixed(DiscreteBayes(alpha=0, class_weight="balanced")),
    "polars": lambda: _on_polars(LinearDiscriminant()),
    "polars tree": lambda: _on_polars(TreeClassifier()),
    "set later": _set_later,
    "streamed": _streamed,
    "taken in": _taken_in,
    "pruned": _pruned,
    "neighbors loo": lambda: _on_mixed(NeighborsClassifier("loo", costs=COSTS, priors=PRIORS)),
    "neighbors values": lambda: _on_mixed(NeighborsClassifier(metric="hamming", weights="rank")),
    "neighbors streamed": _near_streamed,
    "neighbors narrow": _near_narrow,
    "neighbors whitened": _near_whitened,
    "neighbors polars": lambda: _on_polars(NeighborsClassifier(class_weight="balanced")),
    "kernel mean": lambda: _on_mixed(KernelDiscriminant("laplacian", missing="mean")),
    "kernel loo": lambda: _on_mixed(
        KernelDiscriminant("poly", coef0=1, ridge="loo", costs=COSTS, priors=PRIORS), WEIGHTS
    ),
    "kernel landmarks": lambda: _on_mixed(
        KernelDiscriminant(solver="landmarks", n_landmarks=12, class_weight="balanced"), WEIGHTS
    ),
    "kernel coefficients": lambda: _on_mixed(
        KernelDiscriminant("linear", penalty="coefficients", rule="nearest_mean")
    ),
    "kernel streamed": _kernel_streamed,
    "kernel given": _kernel_given,
    "tree costs": lambda: _on_mixed(
        TreeClassifier("gini", costs=COSTS, priors=PRIORS, smoothing="m_estimate", pruning=None)
    ),
    "tree path": lambda: _on_mixed(TreeClassifier(pruning="cost_complexity", cv=3), WEIGHTS),
    "tree spread": lambda: _on_mixed(TreeClassifier("gini", missing="fractional")),
    "tree branches": lambda: _on_mixed(
        TreeClassifier(
            "gain_ratio", missing="branch", categorical_split={"level": "multiway"}, pruning=None
        )
    ),
    "tree of one leaf": lambda: (TreeClassifier().fit(words(), np.zeros(N, dtype=int)), words()),
}


@cache
def case(name: str) -> Case:
    """A fitted estimator, and rows for it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return CASES[name]()
