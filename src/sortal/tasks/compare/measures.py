"""What is measured of a model on rows that it has not seen, and by which rule it decides of them.

Models are compared, not thresholds: each decides by the rule that the measure asks for, from its
untouched probabilities. Balanced accuracy asks for costs[i, j] = 1 / π_i, π being the proportions
of the classes among the training rows, so that P(k|x) / π_k decides; a mean cost for its costs;
accuracy for the most probable class. A model without probabilities has scores instead, to which a
constant per class is added; the constants are found on rows of inner folds (S 103).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal._typing import Codes, Counts, Float, Mask


# Up to so many times the smallest class, the largest one leaves accuracy a fair measure.
_EVEN = 1.5

# A class is rare below this share; fewer rows of it make no curve.
_RARE, _LEAST_POSITIVES = 0.1, 20


def default_metric(counts: Sequence[int], costs: object) -> str:
    """The measure that fits a table: a cost where one is given, accuracy where classes are even."""
    if costs is not None:
        return "cost"
    return "accuracy" if max(counts) <= _EVEN * min(counts) else "balanced_accuracy"


def rare_classes(counts: Counts) -> list[int]:
    """The classes of which average precision is told."""
    rare = (counts < _RARE * counts.sum()) & (counts >= _LEAST_POSITIVES)
    return np.flatnonzero(rare).tolist()


@dataclass(frozen=True, eq=False)
class Answers:
    """What a model says of rows, by codes of classes.

    `scores` has a column per class, probabilities where the model has them, and is None where it
    has nothing but labels.
    """

    predicted: Counts
    scores: Float | None
    probabilistic: bool


def measure(y: Counts, answers: Answers, weight: Float, costs: Float | None) -> dict[str, float]:
    """All measures of some rows; `weight` is that of a row of each class in balanced accuracy."""
    if len(y) == 0:  # all of classes that are set aside
        return {}
    right = answers.predicted == y
    found = {
        "accuracy": float(right.mean()),
        "balanced_accuracy": float((right * weight[y]).mean()),
    }
    if costs is not None:
        found["cost"] = float(costs[y, answers.predicted].mean())
    if answers.scores is None:
        return found
    if answers.probabilistic:
        P, rows = answers.scores, np.arange(len(y))
        own = np.maximum(P[rows, y], np.finfo(np.float64).eps)
        found["log_loss"] = float(-np.log(own).mean())
        found["brier"] = float(((P**2).sum(axis=1) - 2 * P[rows, y] + 1).mean())
    areas = [_area(y == k, answers.scores[:, k]) for k in _told_apart(answers.scores)]
    known = [area for area in areas if area is not None]
    if known:
        found["roc_auc"] = float(np.mean(known))
    return found


def _told_apart(scores: Float) -> range:
    """The classes to be told from all others; of two classes one tells both."""
    return range(1, 2) if scores.shape[1] == 2 else range(scores.shape[1])


def _area(positive: Mask, scores: Float) -> float | None:
    """The area under the ROC curve by ranks (S 104); None of one class alone."""
    n = int(positive.sum())
    if not 0 < n < len(positive):
        return None
    ranks = rankdata(_levels(scores))
    return float((ranks[positive].sum() - n * (n + 1) / 2) / (n * (len(positive) - n)))


# Scores that differ by less, as a part of the largest, differ by rounding.
_ROUNDING = 1e-12


def _levels(scores: Float) -> Counts:
    """Scores as whole numbers in their order; equal where they differ by rounding only."""
    order = np.argsort(scores, kind="stable")
    steps = np.diff(scores[order], prepend=scores[order[:1]])
    levels = np.empty(len(scores), dtype=np.int64)
    levels[order] = np.cumsum(steps > _ROUNDING * abs(scores).max(initial=0.0))
    return levels


def average_precision(y: Counts, probabilities: Float, classes: Sequence[int]) -> float:
    """The mean over these classes, each against all others."""
    each = [average_precision_score(y == k, _levels(probabilities[:, k])) for k in classes]
    return float(np.mean(each))


def columns_of(scores: Float) -> Float:
    """Scores with a column per class; one function of two classes is the second's lead."""
    return scores if scores.ndim == 2 else np.stack([-scores, scores], axis=1) / 2


# Enough for offsets to settle; each round only lowers the cost.
_ROUNDS = 5


def offsets(scores: Float, y: Codes, costs: Float) -> Float:
    """Constants that, added to the scores of classes, give decisions of least mean cost. (S 103)

    Each in turn is the best beside the others: class k is predicted where its constant is above
    what it must be for that row, so that one pass over the sorted rows gives the cost of every
    choice. Of equal ones the middle of the widest gap.
    """
    n_classes = scores.shape[1]
    found = np.zeros(n_classes)
    for _ in range(_ROUNDS if n_classes > 2 else 1):
        before = found.copy()
        for k in range(1, n_classes):
            others = scores + found
            others[:, k] = -np.inf
            rival = others.argmax(axis=1)
            need = others.max(axis=1) - scores[:, k]
            order = np.argsort(need, kind="stable")
            gain = (costs[y, k] - costs[y, rival])[order]
            total = np.concatenate([[0.0], np.cumsum(gain)])
            found[k] = _middle(need[order], total)
        if np.array_equal(found, before):
            break
    return found


def _middle(need: Float, total: Float) -> float:
    """A constant between the needs of two neighboring rows where the total cost is least."""
    span = float(need[-1] - need[0]) or 1.0
    edges = np.concatenate([[need[0] - span], need, [need[-1] + span]])
    widths = np.diff(edges)
    best = (total <= total.min() + 1e-9 * max(1.0, abs(total).max())) & (widths > 0)
    i = int(np.argmax(np.where(best, widths, -1.0)))
    return float(edges[i] + widths[i] / 2)
