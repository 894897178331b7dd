"""How often is compare's interval right, and how good its advice, where the truth is known?

Gaussian problems, cross-validated as compare does it. The truth of an interval is the score that
is expected of the method if it is trained on as many rows as a fold, the classes having the shares
they have in the table: the mean over all tables of the score of one fold's model on fresh rows.
`python bench/run.py "Choices between models"` takes some twenty minutes; `bench/advice.py` has
made the draws of its last table.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import stdtrit

import advice
from harness import Result
from resampled import (
    Array,
    Candidate,
    Learn,
    Problem,
    Scores,
    by_fold,
    check,
    deal,
    lda,
    qda,
    repeats_of,
    resample,
)
from sortal import TreeClassifier
from sortal.tasks.compare.choose import balanced_rows, corrected_variance, interval

SEED = 0
PACKAGES = ["sortal", "scikit-learn", "numpy", "scipy"]
FOLDS, FRESH, LEVEL = 10, 5_000, 0.05
TEST_SHARE = 1 / (FOLDS - 1)
SIZES = (100, 300, 1_000, 5_000, 10_000)
SHARES = {"1 : 1": 0.5, "9 : 1": 0.1}
# Distances between the class means in standard deviations.
STRENGTHS = {"weak": 1.0, "middle": 2.0, "strong": 4.0}
LEARNERS: dict[str, Learn] = {"LDA": lda, "QDA": qda}


def seeded(*of: float) -> np.random.Generator:
    """Its own stream of numbers for every cell of a table, whatever else is run."""
    return np.random.default_rng([SEED, *(round(1000 * part) for part in of)])


def counts_of(n: int, share: float) -> tuple[int, int]:
    """Rows of both classes, the rarer one first."""
    return round(n * share), n - round(n * share)


def plan(n: int) -> str:
    """As the tables name a cross-validation."""
    return f"{n:,} ({FOLDS} × {repeats_of(n)})"


def percent(values: Sequence[bool] | Array) -> str:
    """A share of tables."""
    return f"{100 * np.mean(values):.1f}"


# Coverage ---------------------------------------------------------------------------------------


def plain(scores: Array) -> tuple[float, float]:
    """The textbook's interval: mean ± t √V."""
    variance = corrected_variance(scores.tolist(), TEST_SHARE)
    half = stdtrit(len(scores) - 1, 1 - LEVEL / 2) * variance**0.5
    return scores.mean() - half, scores.mean() + half


def ours(scores: Array, counts: tuple[int, int], *, bounded: bool) -> tuple[float, float]:
    """The interval that compare shows."""
    found = interval(
        scores.tolist(),
        TEST_SHARE,
        level=LEVEL,
        highest=1.0 if bounded else np.inf,
        rows=balanced_rows(counts) if bounded else None,
        rarest=min(counts),
    )
    return found.low, found.high


def covered(runs: Sequence[Scores], counts: tuple[int, int]) -> list[str]:
    """Of balanced accuracy and log loss: how often the truth is inside, ours and plain."""
    cells = []
    for metric in (0, 1):
        truth = float(np.mean([run.truth[metric] for run in runs]))
        scores = [(run.balanced_accuracy, run.log_loss)[metric] for run in runs]
        inside = [
            [low <= truth <= high for low, high in bounds]
            for bounds in (
                [ours(one, counts, bounded=metric == 0) for one in scores],
                [plain(one) for one in scores],
            )
        ]
        cells.append(f"{percent(inside[0])} ({percent(inside[1])})")
    return cells


def coverage(tables: int = 500) -> Result:
    """Discriminants of four columns, which are fitted to many folds at once."""
    lines = [*heading("learner")]
    for n in SIZES:
        for classes, share in SHARES.items():
            cells: dict[str, list[str]] = {name: [] for name in LEARNERS}
            for strength in STRENGTHS.values():
                problem = Problem(n, share, (strength / 2,) * 4, 1.2)
                rng = seeded(n, share, strength)
                candidates = [Candidate(learn, (0, 1, 2, 3)) for learn in LEARNERS.values()]
                runs = [resample(problem, candidates, rng, fresh=FRESH) for _ in range(tables)]
                for name, own in zip(LEARNERS, zip(*runs, strict=True), strict=True):
                    cells[name] += covered(own, counts_of(n, share))
            for name in LEARNERS:
                at = cells[name]
                listed = " | ".join([*at[::2], *at[1::2]])
                lines.append(f"| {plan(n)} | {classes} | {name} | {listed} |")
    question = "How often do intervals of nominally 95 % cover the truth? In percent"
    bar = (
        f"Bar: 90 to 99. {tables} tables a cell; in brackets, mean ± t √V. Accuracy is balanced. "
        "Weak, middle and strong: classes 1, 2 and 4 standard deviations apart"
    )
    return Result(question, {}, bar, os.getloadavg()[0], lines)


def heading(third: str) -> Iterator[str]:
    """The head of a table of coverage."""
    named = [f"{metric}, {name}" for metric in ("accuracy", "log loss") for name in STRENGTHS]
    yield f"| rows | classes | {third} | {' | '.join(named)} |"
    yield "|---|---|---" + "|--:" * len(named) + "|"


def chance(tables: int = 300) -> Result:
    """The same where the shares of the classes are left to chance, which no fold can see."""
    lines = [*heading("learner")]
    for n in (300, 1_000, 5_000):
        for classes, share in SHARES.items():
            cells = []
            for strength in STRENGTHS.values():
                problem = Problem(n, share, (strength / 2,) * 4, 1.2, by_chance=True)
                rng = seeded(n, share, strength, 1)
                runs = [
                    resample(problem, [Candidate(lda, (0, 1, 2, 3))], rng, fresh=FRESH)[0]
                    for _ in range(tables)
                ]
                cells += covered(runs, counts_of(n, share))
            listed = " | ".join([*cells[::2], *cells[1::2]])
            lines.append(f"| {plan(n)} | {classes} | LDA | {listed} |")
    question = "The same, where chance decides how many rows of each class a table has"
    return Result(question, {}, f"No bar. {tables} tables a cell", os.getloadavg()[0], lines)


# Trees ------------------------------------------------------------------------------------------


def tree_scores(problem: Problem, rng: np.random.Generator) -> Scores:
    """Real fits, one a fold."""
    X, y = problem.table(rng, problem.n)
    new, labels = problem.table(rng, FRESH)
    dealt = deal(y, FOLDS, repeats_of(problem.n), rng)
    picked = (int(rng.integers(len(dealt))), int(rng.integers(FOLDS)))
    scores, truth = [], (np.zeros(1), np.zeros(1))
    for r, fold in enumerate(dealt):
        odds = np.empty(len(y))
        for f in range(FOLDS):
            model = TreeClassifier().fit(X[fold != f], y[fold != f])
            odds[fold == f] = tree_odds(model, X[fold == f])
            if (r, f) == picked:
                truth = by_fold(tree_odds(model, new), labels, np.zeros(FRESH, dtype=np.intp), 1)
        scores.append(by_fold(odds, y, fold, FOLDS))
    accuracy, loss = (np.concatenate(part) for part in zip(*scores, strict=True))
    return Scores(accuracy, loss, (truth[0].item(), truth[1].item()))


def tree_odds(model: TreeClassifier, X: Array) -> Array:
    """Log-odds that are finite, as scikit-learn's log loss has them."""
    p = np.clip(model.predict_proba(X)[:, 1], np.finfo(float).eps, 1 - np.finfo(float).eps)
    odds: Array = np.log(p / (1 - p))
    return odds


def trees() -> Result:
    """The default tree changes much with its training rows."""
    lines = [
        "| rows | classes | tables | balanced accuracy | log loss |",
        "|---|---|--:|--:|--:|",
    ]
    for n, tables in ((100, 60), (1_000, 300), (10_000, 150)):
        for classes, share in SHARES.items():
            rng = seeded(n, share, 2)
            runs = [tree_scores(Problem(n, share, (1.0,) * 4, 1.2), rng) for _ in range(tables)]
            listed = " | ".join(covered(runs, counts_of(n, share)))
            lines.append(f"| {plan(n)} | {classes} | {tables} | {listed} |")
    question = "The same of the default tree, classes 2 standard deviations apart"
    return Result(question, {}, "Bar: 90 to 99", os.getloadavg()[0], lines)


def results() -> list[Result]:
    """All questions."""
    found = [coverage(), trees(), chance(), *advice.results()]
    found[0].notes.append("")
    found[0].notes.append(
        f"Fits of all folds at once give the posteriors of the library's fits, to {check():.0e}."
    )
    return found
