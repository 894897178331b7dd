"""Gaussian problems whose truth is known, and discriminants fitted to all folds of a table at once.

A study of resampling needs some hundred thousand fits. Here the training rows of every fold are the
table's sums less those of the fold, so that all fits of a table are a few products of matrices.
`check` compares them with the library's.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import RepeatedStratifiedKFold

from sortal import LinearDiscriminant, QuadraticDiscriminant

Array = np.ndarray
# Log-odds of a row: xᵀAx + wᵀx + b; one such triple a fold.
Functions = tuple[Array, Array, Array]
Learn = Callable[[Array, Array, Array], Functions]
# What scikit-learn's log loss allows: ln of the smallest step from 1.
WORST = -np.log(np.finfo(float).eps)


@dataclass(frozen=True)
class Problem:
    """Two Gaussian classes in `len(shifts)` columns; the second is rarer, shifted and spread."""

    n: int
    share: float
    shifts: tuple[float, ...]
    spread: float = 1.0
    by_chance: bool = False

    def table(self, rng: np.random.Generator, n: int) -> tuple[Array, Array]:
        """So many rows, the share of the classes as it is, or as chance has it."""
        if self.by_chance:
            y = np.sort(rng.random(n) < self.share).astype(np.intp)
        else:
            y = (np.arange(n) >= n - round(n * self.share)).astype(np.intp)
        X = rng.normal(size=(n, len(self.shifts)))
        X[y == 1] = X[y == 1] * self.spread + np.asarray(self.shifts)
        return X, y


@dataclass(frozen=True)
class Candidate:
    """A learner, and the columns it is given."""

    learn: Learn
    columns: tuple[int, ...]


@dataclass(frozen=True)
class Scores:
    """Balanced accuracy and log loss, fold by fold, and those of one model on fresh rows."""

    balanced_accuracy: Array
    log_loss: Array
    truth: tuple[float, float]


def repeats_of(n: int) -> int:
    """As compare repeats ten folds."""
    return 10 if n < 1_000 else 3 if n < 10_000 else 1


# Fits -------------------------------------------------------------------------------------------


def _linear(counts: Array, means: Array, inverse: Array) -> Functions:
    w = np.einsum("jab,jb->ja", inverse, means[:, 1] - means[:, 0])
    b = -0.5 * np.einsum("ja,ja->j", w, means.sum(1)) + np.log(counts[:, 1] / counts[:, 0])
    return np.zeros_like(inverse), w, b


def lda(counts: Array, means: Array, scatters: Array) -> Functions:
    """The linear discriminant of every fold."""
    pooled = scatters.sum(1) / (counts.sum(1) - 2)[:, None, None]
    return _linear(counts, means, np.linalg.inv(pooled))


def qda(counts: Array, means: Array, scatters: Array) -> Functions:
    """The quadratic discriminant of every fold."""
    covariances = scatters / (counts - 1)[..., None, None]
    inverses = np.linalg.inv(covariances)
    v = np.einsum("jcab,jcb->jca", inverses, means)
    c = np.log(counts) - 0.5 * (
        np.linalg.slogdet(covariances)[1] + np.einsum("jca,jca->jc", v, means)
    )
    return -0.5 * (inverses[:, 1] - inverses[:, 0]), v[:, 1] - v[:, 0], c[:, 1] - c[:, 0]


def moments(X: Array, y: Array, test: Array) -> tuple[Array, Array, Array]:
    """Counts, means and scatters of the training rows, by fold and class."""
    n, d = X.shape
    sums = np.hstack([np.ones((n, 1)), X, (X[:, :, None] * X[:, None, :]).reshape(n, d * d)])
    classes = [sums * (y == c)[:, None] for c in (0, 1)]
    left = np.stack([one.sum(0) - test @ one for one in classes], axis=1)
    counts = left[..., 0]
    means = left[..., 1 : 1 + d] / counts[..., None]
    squares = left[..., 1 + d :].reshape(len(test), 2, d, d)
    outer = means[..., :, None] * means[..., None, :]
    return counts, means, squares - counts[..., None, None] * outer


def log_odds(functions: Functions, fold: Array, X: Array) -> Array:
    """Of every row, by the model of its fold."""
    A, w, b = (part[fold] for part in functions)
    odds: Array = np.einsum("na,na->n", X, w) + b
    return odds + np.einsum("na,nab,nb->n", X, A, X) if functions[0].any() else odds


# Scores -----------------------------------------------------------------------------------------


def deal(y: Array, folds: int, repeats: int, rng: np.random.Generator) -> Array:
    """The fold of every row, one line a repeat: each class is dealt out like cards."""
    dealt = np.empty((repeats, len(y)), dtype=np.intp)
    edges = np.searchsorted(y, [0, 1, 2])
    for line in dealt:
        order = [a + rng.permutation(b - a) for a, b in itertools.pairwise(edges)]
        line[np.concatenate(order)] = (np.arange(len(y)) + rng.integers(folds)) % folds
    return dealt


def by_fold(odds: Array, y: Array, fold: Array, folds: int) -> tuple[Array, Array]:
    """Balanced accuracy and log loss of every fold of one repeat."""
    right = (odds > 0) == (y == 1)
    loss = np.minimum(np.logaddexp(0, np.where(y == 1, -odds, odds)), WORST)
    # Where folds outnumber the rows of a class there is none of it in some: the other counts alone.
    rows = np.array([np.bincount(fold[y == c], minlength=folds) for c in (0, 1)])
    hits = np.array([np.bincount(fold[y == c], right[y == c], folds) for c in (0, 1)])
    recalls = np.divide(hits, rows, out=np.full(hits.shape, np.nan), where=rows > 0)
    return np.nanmean(recalls, axis=0), np.bincount(fold, loss, folds) / rows.sum(0)


def resample(
    problem: Problem,
    candidates: Sequence[Candidate],
    rng: np.random.Generator,
    *,
    folds: int = 10,
    fresh: int = 0,
) -> list[Scores]:
    """Cross-validate all candidates on one table of the problem, on the same folds."""
    X, y = problem.table(rng, problem.n)
    dealt = deal(y, folds, repeats_of(problem.n), rng)
    test = (dealt[:, None, :] == np.arange(folds)[:, None]).reshape(-1, len(y)).astype(float)
    counts, means, scatters = moments(X, y, test)
    new, labels = problem.table(rng, max(fresh, 20))
    picked = rng.integers(len(test))
    found = []
    for one in candidates:
        at = np.asarray(one.columns)
        functions = one.learn(counts, means[..., at], scatters[..., at[:, None], at])
        scores = [
            by_fold(log_odds(functions, r * folds + fold, X[:, at]), y, fold, folds)
            for r, fold in enumerate(dealt)
        ]
        odds = log_odds(functions, np.full(len(labels), picked), new[:, at])
        truth = by_fold(odds, labels, np.zeros(len(labels), dtype=np.intp), 1)
        accuracy, loss = (np.concatenate(part) for part in zip(*scores, strict=True))
        found.append(Scores(accuracy, loss, (truth[0].item(), truth[1].item())))
    return found


def check() -> float:
    """The largest difference to the posteriors of the library's own fits, over all folds."""
    X, y = Problem(120, 0.3, (1.0, 0.5, 0.0), 1.3).table(np.random.default_rng(0), 120)
    splits = list(RepeatedStratifiedKFold(n_splits=10, n_repeats=2, random_state=0).split(X, y))
    test = np.zeros((len(splits), len(y)))
    for line, (_, rows) in zip(test, splits, strict=True):
        line[rows] = 1
    worst = 0.0
    for learn, model in ((lda, LinearDiscriminant()), (qda, QuadraticDiscriminant())):
        functions = learn(*moments(X, y, test))
        for j, (train, rows) in enumerate(splits):
            said = model.fit(X[train], y[train]).predict_proba(X[rows])[:, 1]
            odds = log_odds(functions, np.full(len(rows), j), X[rows])
            worst = max(worst, np.abs(said - 1 / (1 + np.exp(-odds))).max())
    return worst
