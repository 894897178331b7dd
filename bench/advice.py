"""Is the advice of compare good, where the truth is known? Draws from generators that are known.

    python bench/advice.py 200      so many draws, each kept in advice.jsonl once it is done
    python bench/advice.py 0        only the tables of those that there are

Each draw is compared once with ten repeats of ten folds; one and three repeats, and the rule of
before (the smallest model that is not significantly worse, decided by p-values) are evaluated on
the same fold scores. Models are then fitted to all rows and judged on a large fresh sample by the
rule of decision that was compared.
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtr

from harness import Result
from sortal.decision.options import read_costs
from sortal.decision.posterior import decide
from sortal.tasks.baselines import CONSTANT, as_matrix, make_baseline
from sortal.tasks.compare.choose import (
    ScoredCandidate,
    Yardstick,
    balanced_rows,
    choose,
    corrected_variance,
    shortfall,
)
from sortal.tasks.compare.compare import compare

SEED, FRESH, FOLDS = 20_261, 20_000, 10
KEPT = Path(__file__).parent / "advice.jsonl"
KINDS = ("gaussian", "tree-like", "additive", "noisy")
PROPORTIONS = (0.5, 0.25, 0.1, 0.03, 0.01)
SIZES = (300, 500, 1_000, 2_000, 5_000)
RAREST = 20


def settings(draw: int) -> tuple[str, float, int, bool, bool]:
    """The generator, the proportion of the rarer class, rows, missing values, many categories."""
    rng = np.random.default_rng([SEED, draw])
    kind = KINDS[draw % len(KINDS)]
    while True:
        share, n = rng.choice(PROPORTIONS), int(rng.choice(SIZES))
        if share * n >= RAREST:
            return kind, float(share), n, bool(rng.random() < 0.3), bool(rng.random() < 0.3)


class Generator:
    """A problem: rows of it can be had in any number."""

    def __init__(self, draw: int) -> None:
        self.kind, self.share, self.n, self.holes, self.many = settings(draw)
        rng = np.random.default_rng([SEED, draw, 1])
        self.p = int(rng.integers(3, 9))
        self.w = rng.normal(size=self.p) / np.sqrt(self.p)
        self.factor = rng.normal(size=(2, self.p, self.p)) / np.sqrt(self.p)
        if rng.random() < 0.5:
            self.factor[1] = self.factor[0]
        self.gap = rng.normal(size=self.p) * rng.uniform(0.3, 1.2)
        self.cuts = rng.normal(size=(6, 2))
        self.at = rng.integers(0, self.p, (6, 2))
        self.leaf = rng.normal(size=64) * 2
        self.effects = rng.normal(size=60)
        self.strength = 0.7 if self.kind == "noisy" else rng.uniform(1.5, 4.0)
        self.cut = 0.0
        if self.kind != "gaussian":
            self.cut = self._threshold(rng)

    def _threshold(self, rng: np.random.Generator) -> float:
        X, c = rng.normal(size=(200_000, self.p)), rng.integers(0, 60, 200_000)
        f = self._function(X, c) + rng.logistic(size=len(X))
        return float(np.quantile(f, 1 - self.share))

    def _function(self, X: np.ndarray, c: np.ndarray) -> np.ndarray:
        if self.kind == "tree-like":
            code = np.zeros(len(X), dtype=int)
            for i, (j, _) in enumerate(self.at):
                code += (X[:, j] > self.cuts[i, 0]) << i
            f = self.leaf[code % 64]
        elif self.kind == "additive":
            f = np.tanh(2 * X) @ self.w * 2 + np.sin(2 * X[:, 0])
        else:
            f = X @ self.w
        f = f + 0.5 * self.effects[c] if self.many else f
        return np.asarray(self.strength * f)

    def rows(self, n: int, rng: np.random.Generator) -> pd.DataFrame:
        """n rows, the classes in their proportions."""
        c = rng.integers(0, 60, n)
        if self.kind == "gaussian":
            y = (rng.permutation(n) < round(n * self.share)).astype(int)
            Z = rng.normal(size=(n, self.p))
            X = np.where(y[:, None] == 1, Z @ self.factor[1] + self.gap, Z @ self.factor[0])
        else:
            X = rng.normal(size=(n, self.p))
            y = (self._function(X, c) + rng.logistic(size=n) > self.cut).astype(int)
        table = pd.DataFrame(X, columns=[f"x{j}" for j in range(self.p)])
        if self.many:
            table["c"] = [f"v{code}" for code in c]
        if self.holes:
            table = table.mask(rng.random(table.shape) < 0.05)
        return table.assign(y=np.where(y == 1, "yes", "no"))


def table_of(generator: Generator, rng: np.random.Generator) -> pd.DataFrame:
    """Rows with at least twenty of the rarer class."""
    while True:
        table = generator.rows(generator.n, rng)
        if table["y"].value_counts().min() >= RAREST and table["y"].nunique() == 2:
            return table


def fresh_scores(found: Any, table: pd.DataFrame, fresh: pd.DataFrame) -> dict[str, float]:
    """The score of each model, fitted to all rows, on fresh rows."""
    X, y = table.drop(columns=["y", *found.settings.dropped]), table["y"]
    new, truth = fresh[X.columns], fresh["y"].to_numpy()
    classes = np.array(found.settings.classes)
    counts = np.array([(truth == label).sum() for label in classes])
    scores = {}
    for candidate in found.settings.candidates:
        result = found[candidate.name]
        if result.score is None:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if candidate.baseline:
                predicted = by_baseline(candidate, found, X, y, new)
            else:
                options = found.fit_options(candidate.name)
                predicted = candidate.learner.make(**options).fit(X, y).predict(new)
        right = predicted == truth
        if found.settings.metric == "accuracy":
            scores[candidate.name] = float(right.mean())
        else:
            each = [right[truth == label].mean() for label in classes]
            scores[candidate.name] = float(np.mean(each))
    assert counts.min() > 0
    return scores


def by_baseline(
    candidate: Any, found: Any, X: pd.DataFrame, y: pd.Series, new: pd.DataFrame
) -> np.ndarray:
    """What a baseline of scikit-learn predicts of fresh rows, by the rule that was compared."""
    both = as_matrix(pd.concat([X, new], ignore_index=True))
    model = make_baseline(candidate.name, both).fit(both.values[: len(X)], y)
    rows = both.values[len(X) :]
    classes = np.array(found.settings.classes)
    costs = found.settings.costs
    if costs is None or candidate.name == CONSTANT or not hasattr(model, "predict_proba"):
        return np.asarray(model.predict(rows))
    counts = np.array([(y == label).sum() for label in classes])
    matrix = read_costs(costs, tuple(classes.tolist()), counts)
    return classes[decide(model.predict_proba(rows), matrix)]


def run(draw: int, n_jobs: int = 2) -> dict[str, Any]:
    """One draw: fold scores, sizes and fresh scores."""
    generator = Generator(draw)
    rng = np.random.default_rng([SEED, draw, 2])
    table = table_of(generator, rng)
    began = time.monotonic()
    found = compare(
        table, "y", folds=FOLDS, repeats=10, budget=1e6, n_jobs=n_jobs,
        baselines=["logistic", "random_forest", "boosting"],
    )  # fmt: skip
    seconds = time.monotonic() - began
    fresh = generator.rows(FRESH, rng)
    kinds = {one.name: one for one in found.settings.candidates}
    return {
        "draw": draw,
        "kind": generator.kind,
        "share": generator.share,
        "n": generator.n,
        "metric": found.settings.metric,
        "counts": list(found.settings.counts),
        "seconds": seconds,
        "fresh": fresh_scores(found, table, fresh),
        "models": [
            {
                "name": one.name,
                "kind": kinds[one.name].kind,
                "terms": one.terms,
                "size": one.size,
                "eligible": one.eligible and not one.baseline and kinds[one.name].probabilistic,
                "scores": [round(score, 12) for score in one.scores],
            }
            for one in found.models
            if one.scores
        ],
    }


# --- What the rules say of the same fold scores --------------------------------------------------


def candidates_of(result: dict[str, Any], repeats: int) -> list[ScoredCandidate]:
    """The models with the scores of so many repeats."""
    n = FOLDS * repeats
    return [
        ScoredCandidate(
            one["name"],
            tuple(one["scores"][:n]),
            "",
            one["kind"],
            math.inf if one["terms"] is None else one["terms"],
            math.inf if one["size"] is None else one["size"],
            one["eligible"],
        )
        for one in result["models"]
    ]


def yardstick(result: dict[str, Any], constant: float) -> Yardstick:
    """As compare has it."""
    counts = result["counts"]
    by_metric = {
        "balanced_accuracy": (balanced_rows(counts), 1 / (len(counts) * min(counts))),
        "accuracy": (float(sum(counts)), 1 / sum(counts)),
    }
    rows, row = by_metric[result["metric"]]
    share = 1 / (FOLDS - 1)
    return Yardstick(result["metric"], share, 0.95, rows, min(counts), row, constant)


def rule_of_before(field: list[ScoredCandidate], by: Yardstick) -> str:
    """The smallest learner that is not significantly worse than the best, p times the models."""
    whole = [one for one in field if len(one.scores) == max(len(o.scores) for o in field)]
    best = max(whole, key=lambda one: one.mean)
    kept = []
    for one in whole:
        leads = [a - b for a, b in zip(best.scores, one.scores, strict=True)]
        variance = corrected_variance(leads, by.test_share)
        short = min(shortfall(o.scores, by.test_share, by.rows) for o in (best, one))
        factor = 1.0 if math.isinf(short) else max(1.0, short)
        freedom = max(1, min(len(leads), by.rarest or len(leads)) - 1)
        t = np.mean(leads) / math.sqrt(factor * variance) if variance > 0 else 0.0
        p = 1 - float(stdtr(freedom, t)) if one is not best else 1.0
        if len(whole) * p > 1 - by.confidence_level and one.kind:
            kept.append(one)
    pool = kept or [one for one in whole if one.kind]
    return min(pool, key=lambda one: (one.size, -one.mean)).name


def judged(result: dict[str, Any]) -> dict[str, Any]:
    """What each rule and number of repeats recommends, and what it costs on fresh rows."""
    fresh = result["fresh"]
    out: dict[str, Any] = {}
    for repeats in (1, 3, 10):
        field = candidates_of(result, repeats)
        constant = next(one.mean for one in field if one.name == CONSTANT)
        by = yardstick(result, constant)
        choice = choose(field, by)
        out[f"choice{repeats}"] = choice
        out[f"before{repeats}"] = rule_of_before(field, by)
    readable = [one.name for one in candidates_of(result, 10) if one.eligible]
    top = max(fresh[name] for name in readable)
    choice = out["choice10"]
    out["loss"] = fresh[choice.best] - fresh[choice.recommended]
    out["within"] = choice.bound is None or out["loss"] <= choice.bound
    out["regret"] = top - fresh[choice.recommended]
    out["regret_top"] = top - fresh[choice.best]
    out["regret_before"] = top - fresh[out["before10"]]
    out["price"] = max(fresh.values()) - top
    out["idle"] = fresh[choice.recommended] < fresh[CONSTANT]
    out["warned"] = bool(choice.warnings)
    return out


def flips(found: list[dict[str, Any]], name: str) -> float:
    """How often one repeat or three would recommend another model than ten."""
    if name == "choice":
        picks = [[one[f"choice{r}"].recommended for r in (1, 3, 10)] for one in found]
    else:
        picks = [[one[f"before{r}"] for r in (1, 3, 10)] for one in found]
    return float(np.mean([len(set(each)) > 1 for each in picks]))


def named_each_other(one: dict[str, Any]) -> bool:
    """Where the number of repeats changes the recommendation, whether both name the other."""
    choices = [one[f"choice{r}"] for r in (1, 3, 10)]
    pairs = [(a, b) for a in choices for b in choices if a.recommended != b.recommended]
    return all(b.recommended == a.runner_up for a, b in pairs)


def percent(values: list[bool] | list[float]) -> str:
    return f"{100 * float(np.mean(values)):.1f}" if values else "–"


def lines(results: list[dict[str, Any]]) -> list[str]:
    """The table of all draws, by number of rows."""
    heads = ["rows", "draws", "loss within bound", "regret", "top scorer's", "rule of before"]
    heads += ["price of readability", "changes with repeats", "before", "both name the other"]
    out = [f"| {' | '.join(heads)} |", "|---" + "|--:" * (len(heads) - 1) + "|"]
    for low, high in ((0, 999), (1_000, 4_999), (5_000, 19_999), (20_000, 10**9)):
        some = [judged(one) for one in results if low <= one["n"] <= high]
        if not some:
            continue
        moved = [one for one in some if flips([one], "choice")]
        out.append(
            f"| {low:,} to {high:,} | {len(some)} | {percent([one['within'] for one in some])} "
            f"| {percent([one['regret'] for one in some])} "
            f"| {percent([one['regret_top'] for one in some])} "
            f"| {percent([one['regret_before'] for one in some])} "
            f"| {percent([one['price'] for one in some])} | {100 * flips(some, 'choice'):.1f} "
            f"| {100 * flips(some, 'before'):.1f} "
            f"| {percent([named_each_other(one) for one in moved])} |"
        )
    every = [judged(one) for one in results]
    idle = [one for one in every if one["idle"]]
    out.append("")
    out.append(
        f"{len(idle)} of {len(every)} recommended models score below the constant prediction on "
        f"fresh rows; {sum(one['warned'] for one in idle)} of these came with a warning."
    )
    return out


def kept() -> list[dict[str, Any]]:
    """The draws that there are."""
    if not KEPT.exists():
        return []
    return [json.loads(line) for line in KEPT.read_text(encoding="utf-8").splitlines()]


def main() -> None:
    """More draws, and the table."""
    done = {one["draw"] for one in kept()}
    for draw in range(int(sys.argv[1])):
        if draw in done:
            continue
        result = run(draw)
        with KEPT.open("a", encoding="utf-8") as file:
            file.write(json.dumps(result) + "\n")
        print(draw, result["kind"], result["n"], result["share"], round(result["seconds"], 1))
    print("\n".join(lines(kept())))


PACKAGES = ["sortal", "scikit-learn", "numpy", "scipy", "pandas"]


def results() -> list[Result]:
    """Of the draws that were made before: `python bench/advice.py N` makes them."""
    question = "How good is the recommendation? In points of the measure, on fresh rows"
    bar = (
        "Bars: loss within the bound in at least 92 of 100; regret at most 0.3 points above the "
        "top scorer's; changes with repeats in at most 10 of 100 from 1,000 rows, 25 below"
    )
    bar += f". {len(kept())} draws"
    return [Result(question, {}, bar, os.getloadavg()[0], lines(kept()))]


if __name__ == "__main__":
    main()
