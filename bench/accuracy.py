"""How often is the default tree right, and how large is it, beside trees that are tuned?

10 × 10-fold cross-validation on the same folds. scikit-learn's tree gets one-hot columns (it reads
missing numbers by itself) and the ccp_alpha that an inner cross-validation chooses; rpart, where R
has it, its defaults. `python bench/accuracy.py choices` shows what other defaults would give.
"""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, RepeatedStratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier

from harness import Result
from sortal import TreeClassifier, datasets

SEED = 0
PACKAGES = ["sortal", "scikit-learn", "numpy", "pandas"]
FOLDS = REPEATS = 10
# The most strengths that scikit-learn's tree is tuned over, spread over its own path.
STRENGTHS = 20

# Seconds that R may take for a table. With three classes rpart tries every subset of a category's
# values, 2^39 of the largest one here.
PATIENCE = 120

Table = tuple[pd.DataFrame, np.ndarray]
Fold = tuple[np.ndarray, np.ndarray]


class Score(NamedTuple):
    """The share of rows that are said rightly, and the number of leaves."""

    accuracy: float
    leaves: float


# Tables -----------------------------------------------------------------------------------------


def penguins() -> Table:
    """344 rows of words and numbers, 19 missing values."""
    table = datasets.penguins()
    return table.drop(columns="species"), table["species"].to_numpy()


def sexes() -> Table:
    """The same, asked for the sex where it is known."""
    table = datasets.penguins().dropna(subset="sex")
    return table.drop(columns="sex"), table["sex"].to_numpy()


def iris() -> Table:
    """150 rows of four numbers."""
    table = datasets.iris()
    return table.drop(columns="species"), table["species"].to_numpy()


def bundled(load: Callable[..., Any]) -> Table:
    """A table that comes with scikit-learn."""
    X, y = load(return_X_y=True, as_frame=True)
    return X, y.to_numpy()


def mixed(n: int, rate: float, noise: float, seed: int) -> Table:
    """Numbers and words of 3, 8 and 40 values; a few rules decide, some labels are wrong."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({f"x{j}": rng.normal(size=n) for j in range(6)})
    for name, size in (("a", 3), ("b", 8), ("c", 40)):
        X[name] = [f"{name}{v}" for v in rng.integers(0, size, n)]
    good = X["c"].str[1:].astype(int) % 3 == 0
    first = (X["x0"] > 0.3) & (X["a"] != "a1")
    second = (X["x1"] + X["x2"] < 0) & good
    y = np.where(first, "u", np.where(second, "v", "w")).astype(object)
    wrong = rng.random(n) < noise
    y[wrong] = rng.choice(["u", "v", "w"], wrong.sum())
    return X.mask(rng.random(X.shape) < rate), y


def telling_missing(n: int, seed: int) -> Table:
    """Two classes; a measure is missing more often in one of them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = pd.DataFrame({f"x{j}": rng.normal(size=n) + 0.7 * y * (j < 3) for j in range(8)})
    X["grade"] = np.array(list("ABCDE"))[np.clip(rng.poisson(1 + y), 0, 4)]
    X.loc[rng.random(n) < np.where(y == 1, 0.5, 0.1), "x0"] = np.nan
    return X, y


TABLES: dict[str, Callable[[], Table]] = {
    "iris": iris,
    "penguins, species": penguins,
    "penguins, sex": sexes,
    "wine": lambda: bundled(load_wine),
    "breast cancer": lambda: bundled(load_breast_cancer),
    "digits": lambda: bundled(load_digits),
    "mixed, 500 rows": lambda: mixed(500, 0.05, 0.1, 1),
    "mixed, 2,000 rows": lambda: mixed(2000, 0.1, 0.1, 2),
    "mixed, 1,000 noisy rows": lambda: mixed(1000, 0.1, 0.4, 3),
    "missing values that tell, 800 rows": lambda: telling_missing(800, 4),
}


# Trees ------------------------------------------------------------------------------------------


def ours(**options: Any) -> Callable[[pd.DataFrame, np.ndarray, Fold], Score]:
    """A tree of sortal, on the table as it is."""

    def score(X: pd.DataFrame, y: np.ndarray, fold: Fold) -> Score:
        train, test = fold
        model = TreeClassifier(**options).fit(X.iloc[train], y[train])
        return Score(np.mean(model.predict(X.iloc[test]) == y[test]), model.get_n_leaves())

    return score


def scikit_learn(X: pd.DataFrame, y: np.ndarray, fold: Fold) -> Score:
    """One-hot words, and the strength of pruning that five inner folds choose."""
    train, test = fold
    words = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
    one_hot = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="missing"),
        OneHotEncoder(handle_unknown="ignore"),
    )
    prepare = make_column_transformer((one_hot, words), remainder="passthrough", sparse_threshold=0)
    A = prepare.fit_transform(X.iloc[train])
    tree = DecisionTreeClassifier(random_state=SEED)
    path = np.unique(tree.cost_complexity_pruning_path(A, y[train]).ccp_alphas.clip(0))
    grid = {"ccp_alpha": np.unique(np.quantile(path, np.linspace(0, 1, STRENGTHS)))}
    model = GridSearchCV(tree, grid, cv=5).fit(A, y[train]).best_estimator_
    said = model.predict(prepare.transform(X.iloc[test]))
    return Score(np.mean(said == y[test]), model.get_n_leaves())


RPART = """
library(rpart)
given <- commandArgs(trailingOnly = TRUE)
table <- read.csv(given[1], stringsAsFactors = TRUE, na.strings = "")
folds <- as.matrix(read.csv(given[2]))
table$label <- as.factor(table$label)
for (r in seq_len(ncol(folds))) for (f in sort(unique(folds[, r]))) {
  train <- table[folds[, r] != f, ]; test <- table[folds[, r] == f, ]
  for (name in names(test)) if (is.factor(test[[name]]) && name != "label")
    test[[name]][!(test[[name]] %in% train[[name]])] <- NA
  fit <- rpart(label ~ ., data = train, method = "class")
  said <- as.character(predict(fit, test, type = "class"))
  right <- mean(said == as.character(test$label))
  cat(right, sum(fit$frame$var == "<leaf>"), "\\n")
}
"""


def rpart(X: pd.DataFrame, y: np.ndarray, folds: list[Fold]) -> list[Score]:
    """All folds in one run of R; none where R is not installed, or does not return in time."""
    if shutil.which("Rscript") is None:
        return []
    numbers = np.empty((len(y), REPEATS), dtype=int)
    for at, (_, test) in enumerate(folds):
        numbers[test, at // FOLDS] = at % FOLDS
    with tempfile.TemporaryDirectory() as folder:
        table, plan, script = (Path(folder, name) for name in ("table.csv", "folds.csv", "run.R"))
        named = X.set_axis([f"v{j}" for j in range(X.shape[1])], axis=1)
        named.assign(label=y).to_csv(table, index=False, quoting=csv.QUOTE_MINIMAL)
        pd.DataFrame(numbers).to_csv(plan, index=False)
        script.write_text(RPART, encoding="utf-8")
        command = ["Rscript", str(script), str(table), str(plan)]
        try:
            done = subprocess.run(  # noqa: S603
                command, capture_output=True, text=True, check=True, timeout=PATIENCE
            )
        except subprocess.TimeoutExpired:
            return []
    return [Score(*map(float, line.split())) for line in done.stdout.splitlines()]


PRUNED: dict[str, dict[str, Any]] = {
    "not pruned": {"pruning": None},
    "not pruned, 5 a leaf": {"pruning": None, "min_samples_leaf": 5},
    **{f"pessimistic {c}": {"confidence": c} for c in (0.25, 0.1, 0.02, 0.01, 0.005, 0.001)},
    "pessimistic 0.005, 3 a leaf": {"confidence": 0.005, "min_samples_leaf": 3},
    "pessimistic 0.005, 5 a leaf": {"confidence": 0.005, "min_samples_leaf": 5},
    "cp 0.01": {"pruning": "cost_complexity", "cp": 0.01},
    "cp 0.005": {"pruning": "cost_complexity", "cp": 0.005},
}
CHOICES = {
    f"{criterion}, {name}": {"criterion": criterion, **options}
    for criterion in ("gain", "gain_ratio", "gini")
    for name, options in PRUNED.items()
}


# The comparison ---------------------------------------------------------------------------------


def folds_of(X: pd.DataFrame, y: np.ndarray) -> list[Fold]:
    """The same for all."""
    plan = RepeatedStratifiedKFold(n_splits=FOLDS, n_repeats=REPEATS, random_state=SEED)
    return list(plan.split(X, y))


def mean(scores: list[Score]) -> Score | None:
    """Over all folds."""
    return Score(*np.mean(scores, axis=0)) if scores else None


def compared(models: dict[str, Any]) -> dict[str, dict[str, Score | None]]:
    """Table → model → its mean score."""
    found: dict[str, dict[str, Score | None]] = {}
    for table, load in TABLES.items():
        X, y = load()
        folds = folds_of(X, y)
        found[table] = {
            name: mean(rpart(X, y, folds) if model is rpart else [model(X, y, f) for f in folds])
            for name, model in models.items()
        }
        print(table, found[table], file=sys.stderr, flush=True)
    return found


def table_of(found: dict[str, dict[str, Score | None]]) -> list[str]:
    """Markdown: accuracy in percent and leaves, a row a table."""
    names = list(next(iter(found.values())))
    lines = ["| table | " + " | ".join(names) + " |", "|---|" + "--:|" * len(names)]
    rows = dict(found)
    rows["mean"] = {name: mean([s for row in found.values() if (s := row[name])]) for name in names}
    whole = [row for row in found.values() if all(row.values())]
    if len(whole) < len(found):
        words = f"mean of the {len(whole)} tables that all have finished"
        rows[words] = {name: mean([s for row in whole if (s := row[name])]) for name in names}
    for table, row in rows.items():
        cells = [f"{100 * s.accuracy:.2f} % ({s.leaves:.1f})" if s else "" for s in row.values()]
        lines.append(f"| {table} | " + " | ".join(cells) + " |")
    return lines


def results() -> list[Result]:
    """The default beside its peers."""
    models = {
        "TreeClassifier()": ours(),
        "scikit-learn, tuned ccp_alpha": scikit_learn,
        "rpart": rpart,
    }
    bar = (
        "Bar: no worse on average, and smaller. Accuracy, and leaves in brackets; means over the "
        f"tables that a tree has finished (rpart has {PATIENCE} s for each)"
    )
    question = "10 × 10-fold cross-validation, default tree"
    return [Result(question, {}, bar, os.getloadavg()[0], table_of(compared(models)))]


if __name__ == "__main__":
    if sys.argv[1:] == ["choices"]:
        print("\n".join(table_of(compared({k: ours(**v) for k, v in CHOICES.items()}))))
    else:
        print("\n".join(results()[0].notes))
