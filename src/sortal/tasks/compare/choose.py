"""Which model to go on with: what scores of resampled rows do and do not say.

Scores of one model over the folds of a repeated cross-validation are not independent: folds share
training rows, and repeats share test rows. A mean of many such scores is therefore less certain
than their spread divided by their number says; Nadeau and Bengio (2003) say by how much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri, stdtrit

from sortal.errors import counted
from sortal.tasks.baselines import CONSTANT
from sortal.tasks.compare.settings import METRICS

if TYPE_CHECKING:
    from collections.abc import Sequence

# The recommended model may be so far behind: a point of a score between 0 and 1, or a hundredth of
# what the constant prediction gets; never more than three.
POINT, _MOST_POINTS = 0.01, 3


@dataclass(frozen=True)
class ScoredCandidate:
    """One model's scores, fold by fold, and how much of it there is to read.

    `kind` is that of its learner, `terms` the leaves of a tree or the terms of a function, `size`
    how many numbers it needs to predict. Only eligible models are recommended.
    """

    name: str
    scores: tuple[float, ...]
    title: str = ""
    kind: str = "other"
    terms: float = math.inf
    size: float = math.inf
    eligible: bool = True

    @property
    def words(self) -> str:
        """What a sentence calls it."""
        return self.title or self.name

    @property
    def mean(self) -> float:
        """The mean of its scores."""
        return math.fsum(self.scores) / len(self.scores)

    @property
    def rank(self) -> int:
        """How readable it is, 0 being the most readable. (S 61)"""
        small = {"tree": 16, "linear": 30}.get(self.kind, 0)
        if self.terms <= small:
            return 0 if self.kind == "tree" else 1
        if self.kind == "tree" and self.terms <= 50:
            return 2
        return {"quadratic": 4, "neighbors": 5, "kernel": 6}.get(self.kind, 3)


@dataclass(frozen=True)
class ScoreInterval:
    """A mean score, and bounds for the score expected of models trained on so many rows."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class ModelChoice:
    """What is recommended, and how far it is behind.

    `best` is the eligible model with the best mean score; `recommended` the most readable one that
    is at most `margin` behind it, `behind` by how much, `bound` an upper bound of that (one-sided;
    None where a single score says nothing of it). `close` are all models within the margin, the
    most readable first; `runner_up` is the one that the least change of scores would recommend.
    `leader` is a model that is not eligible and leads the best by more than the margin. Where no
    model is eligible, the names are empty.
    """

    recommended: str
    best: str
    margin: float
    behind: float | None = None
    bound: float | None = None
    runner_up: str = ""
    close: tuple[str, ...] = ()
    leader: str = ""
    sentence: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Yardstick:
    """What scores are, and what they rest on.

    `rows` are those that a measure with two ends rests on, `rarest` those of the smallest class,
    `row` what one row of that class is worth; `constant` is the score
    of the constant prediction.
    """

    metric: str
    test_share: float
    confidence_level: float = 0.95
    rows: float | None = None
    rarest: int | None = None
    row: float = 0.0
    constant: float | None = None

    @property
    def sign(self) -> float:
        """1 where more is better."""
        return 1.0 if METRICS[self.metric].higher_is_better else -1.0

    @property
    def point(self) -> float:
        """What counts as a point of this measure."""
        relative = METRICS[self.metric].higher_is_better or not self.constant
        return POINT if relative else POINT * abs(self.constant or 1.0)

    @property
    def margin(self) -> float:
        """How far behind the best one may be for the sake of reading: a point or a row. (S 61)"""
        return min(max(self.point, self.row), _MOST_POINTS * self.point)


def corrected_variance(scores: Sequence[float], test_share: float) -> float:
    """Return the variance of the mean of resampled scores: (1/J + n_test/n_train) s² (S 58)."""
    return (1 / len(scores) + test_share) * _spread(scores)


def _spread(scores: Sequence[float]) -> float:
    """s², and exactly 0 where all scores are the same number."""
    if min(scores) == max(scores):
        return 0.0
    return float(np.var(np.asarray(scores, dtype=np.float64), ddof=1))


def interval(
    scores: Sequence[float],
    test_share: float,
    *,
    level: float = 0.05,
    highest: float = 1.0,
    rows: float | None = None,
    rarest: int | None = None,
) -> ScoreInterval:
    """Return bounds for the score expected of models trained on so many rows (S 59).

    They are t standard errors away on a scale that fits the metric, and never where it cannot be:
    Wilson's scale for a metric with two ends, logarithms for one that is open above. `rows` says
    how many rows a metric with two ends rests on (all for accuracy, `balanced_rows` for balanced
    accuracy); the interval is then no narrower than that of a share of so many rows. `rarest` is
    the number of rows of the rarest class, which bounds the degrees of freedom.

    Without `rows`, scores that are all the same have an interval of no width. One score alone says
    nothing of its spread: its interval is all that the metric can be.
    """
    mean = math.fsum(scores) / len(scores)
    if len(scores) == 1:
        return ScoreInterval(mean, 0.0, highest)
    variance = corrected_variance(scores, test_share)
    quantile = float(stdtrit(_freedom(len(scores), rarest), 1 - level / 2))
    half = quantile * math.sqrt(variance)
    if math.isinf(highest):
        return _open_above(mean, half)
    least = 0.0 if rows is None else float(ndtri(1 - level / 2)) ** 2 / rows
    return _between(mean, half, highest, least)


def _freedom(n_scores: int, rarest: int | None) -> int:
    """Degrees of freedom: repeats make more scores of the same few rows, but not more rows."""
    return max(1, (n_scores if rarest is None else min(n_scores, rarest)) - 1)


def _open_above(mean: float, half: float) -> ScoreInterval:
    """On the scale of logarithms, where relative errors are what is symmetric."""
    if half == 0.0 or mean <= 0.0:
        return ScoreInterval(mean, mean - half, mean + half)
    factor = math.exp(min(half / mean, 700.0))
    return ScoreInterval(mean, mean / factor, mean * factor)


def _between(mean: float, half: float, highest: float, least: float) -> ScoreInterval:
    """Wilson's interval of a share x; u is t² over the rows that x seems to rest on."""
    x = min(max(mean / highest, 0.0), 1.0)
    u = max((half / highest) ** 2 / (x * (1 - x)) if 0 < x < 1 else 0.0, least)
    middle, arm = x + u / 2, math.sqrt(x * (1 - x) * u + u * u / 4)
    low, high = (middle - arm) / (1 + u), (middle + arm) / (1 + u)
    # Rounding must not put the mean outside.
    return ScoreInterval(
        mean, min(mean, highest * max(low, 0.0)), max(mean, highest * min(high, 1.0))
    )


def balanced_rows(counts: Sequence[int]) -> float:
    """Return how many rows a balanced accuracy rests on: K² / Σ_k 1/n_k (S 62).

    It is their number if all classes have the same, and at most K times K those of the rarest.
    """
    return len(counts) ** 2 / math.fsum(1 / count for count in counts)


def shortfall(scores: Sequence[float], test_share: float, rows: float | None) -> float:
    """Return by what factor V falls short of a share's variance: x (1 − x) / (N V) (S 60).

    A model that says the rare class for a handful of rows only scores nearly the same in all
    folds; but how large the handful is depends on training rows that all folds share.
    """
    mean = math.fsum(scores) / len(scores)
    least = 0.0 if rows is None else max(mean * (1 - mean), 0.0) / rows
    variance = corrected_variance(scores, test_share)
    return least / variance if variance > 0 else math.inf


def upper_bound(
    best: ScoredCandidate, other: ScoredCandidate, by: Yardstick
) -> tuple[float, float | None]:
    """By how much one model is behind another, and a one-sided upper bound of that. (S 60)

    On the folds that both went through. A lead in the last digits of both scores is rounding. The
    variance is no less than what the rows allow: of models that a fold never told apart, rows to
    come may.
    """
    pairs = list(zip(best.scores, other.scores, strict=False))
    leads = [0.0 if math.isclose(a, b, rel_tol=1e-12) else by.sign * (a - b) for a, b in pairs]
    behind = math.fsum(leads) / len(leads)
    if len(leads) == 1:
        return behind, None
    short = min(shortfall(one.scores, by.test_share, by.rows) for one in (best, other))
    factor = 1.0 if math.isinf(short) else max(1.0, short)
    variance = factor * corrected_variance(leads, by.test_share)
    quantile = float(stdtrit(_freedom(len(leads), by.rarest), by.confidence_level))
    return behind, behind + max(quantile * math.sqrt(variance), by.row)


def choose(candidates: Sequence[ScoredCandidate], by: Yardstick) -> ModelChoice:
    """Recommend the most readable model that is at most the margin behind the best. (S 61)

    Of models that are equally readable the smaller one, then the better score, then the name. The
    test gives the bound, and excludes nothing.
    """
    field = [one for one in candidates if one.eligible]
    if not field:
        words = (
            "No model can be recommended: no learner with probabilities has a score on all folds. "
            "--no-require-proba (require_proba=False) admits those without."
        )
        return ModelChoice("", "", by.margin, sentence=words)
    best = min(field, key=lambda one: (-by.sign * one.mean, one.rank, one.size, one.name))
    lags = {one.name: upper_bound(best, one, by)[0] for one in field}
    order = sorted(field, key=lambda one: (one.rank, one.size, lags[one.name], one.name))
    close = [one for one in order if lags[one.name] <= by.margin]
    recommended = close[0]
    behind, bound = (0.0, 0.0) if recommended is best else upper_bound(best, recommended, by)
    choice = ModelChoice(
        recommended.name,
        best.name,
        by.margin,
        behind,
        bound,
        _runner_up(order, close, lags, by),
        tuple(one.name for one in close),
        _leader(candidates, best, by),
    )
    return _told(choice, {one.name: one for one in candidates}, by)


def _runner_up(
    order: Sequence[ScoredCandidate],
    close: Sequence[ScoredCandidate],
    lags: dict[str, float],
    by: Yardstick,
) -> str:
    """The model that would be recommended after the smallest change of a score.

    Either a more readable one, if it were a little less behind, or the next one within the margin,
    if the recommended one were a little more behind.
    """
    first = order.index(close[0])
    changes = [(lags[one.name] - by.margin, one.name) for one in order[:first]]
    if len(close) > 1:
        changes.append((by.margin - lags[close[0].name], close[1].name))
    elif len(order) > 1 and not changes:
        rest = [one for one in order if one is not close[0]]
        changes = [(lags[one.name], one.name) for one in rest]
    return min(changes)[1] if changes else ""


def _leader(candidates: Sequence[ScoredCandidate], best: ScoredCandidate, by: Yardstick) -> str:
    """Of the models that are not eligible, the one that leads most, and by more than the margin."""
    others = [one for one in candidates if not one.eligible and one.name != CONSTANT]
    leads = [(upper_bound(one, best, by)[0], one.name) for one in others]
    ahead = [lead for lead in leads if lead[0] > by.margin]
    return max(ahead)[1] if ahead else ""


# --- What is said of it --------------------------------------------------------------------------


def _told(choice: ModelChoice, named: dict[str, ScoredCandidate], by: Yardstick) -> ModelChoice:
    """The choice in sentences, and what to be wary of."""
    chosen, best = named[choice.recommended], named[choice.best]
    said = []
    if choice.leader:
        leader = named[choice.leader]
        lead, _ = upper_bound(leader, best, by)
        said.append(
            f"Ahead of every model that can be recommended is {leader.words} ({leader.mean:.3f}), "
            f"by {points(lead, by)}."
        )
    what = f"Take {chosen.words} ({METRICS[by.metric].words} {chosen.mean:.3f}, {_amount(chosen)})"
    if chosen is best:
        said.append(f"{what}: no model that can be recommended does better.")
    else:
        most = "" if choice.bound is None else f", at most {points(choice.bound, by)}"
        said.append(
            f"{what}: the most readable model within {points(by.margin, by)} of the best, "
            f"{best.words} ({best.mean:.3f}). It is "
            f"{points(choice.behind or 0.0, by)} behind{most}."
        )
    if choice.runner_up:
        rival = named[choice.runner_up]
        said.append(f"Runner-up: {rival.words} ({rival.mean:.3f}, {_amount(rival)}).")
    warnings = []
    if chosen is not best and (choice.bound or 0.0) > _MOST_POINTS * by.point:
        warnings.append("The rows are too few to tell how far the recommended model is behind.")
    constant = named.get(CONSTANT)
    if constant is not None and not _beats(chosen, constant, by):
        warnings.append(
            f"Nothing says that {chosen.words} is better than a constant prediction "
            f"({constant.mean:.3f}): do not rely on it."
        )
    return replace(choice, sentence=" ".join(said), warnings=tuple(warnings))


def _beats(one: ScoredCandidate, constant: ScoredCandidate, by: Yardstick) -> bool:
    """Whether a model is better than the constant prediction by more than chance may do."""
    behind, bound = upper_bound(constant, one, by)
    return (behind if bound is None else bound) < 0


def points(difference: float, by: Yardstick) -> str:
    """A difference of scores, in points of the measure."""
    return f"{difference / by.point:.1f} points"


def _amount(one: ScoredCandidate) -> str:
    """How much of it there is to read."""
    if math.isinf(one.terms):
        return "size unknown"
    what = ("leaf", "leaves") if one.kind == "tree" else ("term", "terms")
    return counted(round(one.terms), *what)
