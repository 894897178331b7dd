"""What missing values, class weights and pruning cost a tree, beside the same fit without them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from harness import Result, compare
from sortal import TreeClassifier
from trees import SEED, THREADS, numbers

PACKAGES = ["sortal", "scikit-learn", "numpy"]
# A tenth of all cells.
RATE = 0.1
POLICIES = ("direction", "branch", "majority")

Call = Callable[[], object]


def fit(X: Any, y: Any, **options: Any) -> Call:
    """A whole fit, not pruned unless asked."""
    return lambda: TreeClassifier(**{"pruning": None, "n_jobs": THREADS, **options}).fit(X, y)


def missing(criterion: str, depth: int | None) -> Result:
    """The same table, whole and with missing values."""
    X, y = numbers(200_000)
    incomplete = np.where(np.random.default_rng(SEED).random(X.shape) < RATE, np.nan, X)
    grown = {"criterion": criterion, "max_depth": depth}
    calls = {"no missing values": fit(X, y, **grown)}
    calls |= {f"missing={m!r}": fit(incomplete, y, missing=m, **grown) for m in POLICIES}
    deep = "without a bound" if depth is None else f"to depth {depth}"
    question = f"fit, {criterion}, 200,000 × 20 numbers {deep}, a tenth of the cells missing"
    return compare(question, calls, "Bar: at most 1.5 times as long as without missing values")


def validation() -> Result:
    """The whole of cost-complexity pruning with ten folds."""
    X, y = numbers(100_000)
    calls = {
        "one fit": fit(X, y),
        "cost_complexity, 10 folds": fit(X, y, pruning="cost_complexity"),
        "pessimistic": fit(X, y, pruning="pessimistic"),
    }
    question = "pruning, 100,000 × 20 numbers"
    return compare(question, calls, "Bar: ten folds in less than 12 fits")


def tuned_scikit_learn() -> Result:
    """Its users' way to the same end: a grid over ccp_alpha with ten folds."""
    X, y = numbers(5_000)

    def grid() -> object:
        tree = DecisionTreeClassifier(random_state=SEED)
        path = tree.cost_complexity_pruning_path(X, y).ccp_alphas.clip(0)
        strengths = {"ccp_alpha": np.unique(np.quantile(path, np.linspace(0, 1, 20)))}
        return GridSearchCV(tree, strengths, cv=10, n_jobs=THREADS).fit(X, y)

    calls = {
        "cost_complexity, 10 folds": fit(X, y, pruning="cost_complexity"),
        "GridSearchCV": grid,
    }
    question = "pruning by ten folds, 5,000 × 20 numbers, all strengths against twenty"
    return compare(question, calls, "No bar", 5)


def weights() -> Result:
    """Class weights that are no small whole numbers."""
    X, y = numbers(200_000)
    calls = {
        f"{criterion}{words}": fit(X, y, criterion=criterion, max_depth=8, **options)
        for criterion in ("gini", "gain")
        for words, options in {"": {}, ", balanced": {"class_weight": "balanced"}}.items()
    }
    return compare("fit, 200,000 × 20 numbers to depth 8, class weights", calls, "No bar")


def results() -> list[Result]:
    """All questions."""
    asked = [missing(c, depth) for c in ("gini", "gain") for depth in (8, None)]
    return [*asked, validation(), tuned_scikit_learn(), weights()]
