"""Which model to go on with: what scores of resampled rows do and do not say.

Scores of one model over the folds of a repeated cross-validation are not independent: folds share
training rows, and repeats share test rows. A mean of many such scores is therefore less certain
than their spread divided by their number says; Nadeau and Bengio (2003) say by how much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtr, stdtrit

from sortal.errors import InputError, OptionError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MAJORITY = "majority"


@dataclass(frozen=True)
class Contestant:
    """One model's scores, fold by fold, and how many numbers it needs to predict."""

    name: str
    scores: tuple[float, ...]
    size: float
    eligible: bool = True
    baseline: bool = False
    title: str = ""

    @property
    def words(self) -> str:
        """What a sentence calls it."""
        return self.title or self.name

    @property
    def mean(self) -> float:
        """The mean of its scores."""
        return math.fsum(self.scores) / len(self.scores)


@dataclass(frozen=True)
class Interval:
    """A mean score, and bounds for the score expected of models trained on so many rows."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Choice:
    """What was chosen, and why.

    `p_values` has every eligible model but the best. `equals` are the models that are not
    distinguishably worse than the best, in the order of choice, so that the chosen one is the
    first. `learner` is the first of them that is no baseline. Where no model is eligible, `best`
    and `chosen` are empty.
    """

    best: str
    chosen: str
    p_values: Mapping[str, float]
    equals: tuple[str, ...]
    sentence: str
    learner: str | None


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
    lowest: float = 0.0,
    highest: float = 1.0,
) -> Interval:
    """Return the mean ± t_{J−1, 1−α/2} times the root of its corrected variance (S 59).

    It is cut off where the metric ends. One score alone says nothing of its spread: its interval
    is all that the metric can be. Scores that are all the same have an interval of no width.
    """
    _check_numbers(scores, "scores")
    _check_settings(test_share, level)
    mean = math.fsum(scores) / len(scores)
    if len(scores) == 1:
        return Interval(mean, lowest, highest)
    quantile = float(stdtrit(len(scores) - 1, 1 - level / 2))
    half = quantile * math.sqrt(corrected_variance(scores, test_share))
    return Interval(mean, max(lowest, mean - half), min(highest, mean + half))


def probability_of_lead(leads: Sequence[float], test_share: float) -> float:
    """Return how probable so large a mean lead is if there is none in truth: one-sided p (S 60).

    Leads are what one model is better by than another, fold by fold. If they are all the same
    there is nothing to weigh them against: p is 0 if they are positive and 1 if not.
    """
    mean = math.fsum(leads) / len(leads)
    variance = corrected_variance(leads, test_share)
    if variance == 0.0:
        return 0.0 if mean > 0 else 1.0
    return float(stdtr(len(leads) - 1, -mean / math.sqrt(variance)))


def choose(
    contestants: Sequence[Contestant],
    test_share: float,
    *,
    level: float = 0.05,
    higher_is_better: bool = True,
    metric: str = "balanced accuracy",
) -> Choice:
    """Choose the smallest model that is not distinguishably worse than the best (S 61).

    The best is the eligible model with the best mean; another is distinguishably worse if its
    adjusted p is at most the level. Of models of one size, sortal's come before baselines, then
    the better score, then the name.
    """
    _check_settings(test_share, level)
    field = [one for one in contestants if one.eligible]
    _check_field(field)
    if not field:
        words = "No model can be chosen: none of them was finished on all rows."
        return Choice("", "", {}, (), words, None)
    sign = 1.0 if higher_is_better else -1.0
    best = min(field, key=lambda one: (-sign * one.mean, one.size, one.baseline, one.name))
    p_values = {
        one.name: adjusted(_p_value(best, one, sign, test_share), len(field))
        for one in field
        if one is not best
    }
    equals = [one for one in field if one is best or p_values[one.name] > level]
    equals.sort(key=lambda one: (one.size, one.baseline, -sign * one.mean, one.name))
    learner = next((one.name for one in equals if not one.baseline), None)
    sentence = _sentence(field, best, equals, p_values, metric)
    names = tuple(one.name for one in equals)
    return Choice(best.name, names[0], p_values, names, sentence, learner)


def adjusted(p_value: float, n_models: int) -> float:
    """Return p times the models that could have come out best: min(1, (m − 1) p) (S 62).

    The best of m models is the luckiest of them, too: of eight equally good ones, it leads the
    simplest by more than a rival named beforehand would.
    """
    return min(1.0, (n_models - 1) * p_value)


def _p_value(best: Contestant, other: Contestant, sign: float, test_share: float) -> float:
    leads = [sign * (a - b) for a, b in zip(best.scores, other.scores, strict=True)]
    return probability_of_lead(leads, test_share)


def _check_settings(test_share: float, level: float) -> None:
    if not 0 < level < 1:
        raise OptionError(f"level={level!r} must lie between 0 and 1: give 0.05, say.")
    if not 0 <= test_share < math.inf:
        raise InputError(
            f"test_share={test_share!r} must be the test rows of a fold divided by its training "
            "rows: 1/9 with ten folds."
        )


def _check_numbers(scores: Sequence[float], name: str) -> None:
    if len(scores) == 0:
        raise InputError(f"{name} is empty: give one score a fold.")
    if not all(math.isfinite(score) for score in scores):
        raise InputError(f"{name} has a score that is no finite number: leave that model out.")


def _check_field(field: Sequence[Contestant]) -> None:
    """Every model once, with the same folds, of which there are two at least."""
    names = [one.name for one in field]
    if len(set(names)) < len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise InputError(f"More than one model is called {twice[0]!r}: give each its own name.")
    for one in field:
        _check_numbers(one.scores, f"{one.name}: scores")
        if len(one.scores) < 2 or len(one.scores) != len(field[0].scores):
            raise InputError(
                f"{one.name} has {len(one.scores)} scores and {field[0].name} has "
                f"{len(field[0].scores)}: compare models on the same folds, two at least."
            )


def _sentence(
    field: Sequence[Contestant],
    best: Contestant,
    equals: Sequence[Contestant],
    p_values: Mapping[str, float],
    metric: str,
) -> str:
    """Say why, in a sentence or two."""
    if any(one.name == MAJORITY for one in equals):
        return _nothing_learned(best, equals, p_values, metric)
    chosen = equals[0]
    said = _reason(field, best, chosen, p_values, metric)
    return f"{said} {_for_sortal(field, equals, p_values)}" if chosen.baseline else said


def _reason(
    field: Sequence[Contestant],
    best: Contestant,
    chosen: Contestant,
    p_values: Mapping[str, float],
    metric: str,
) -> str:
    score = f"{metric} ({best.mean:.3f})"
    if len(field) == 1:
        return f"{_capital(best.words)} is the only model to choose from: {score}."
    if chosen is not best:
        return (
            f"{_capital(chosen.words)} is the simplest model ({_numbers(chosen)}) that is not "
            f"distinguishably worse than the best, {best.words} ({_numbers(best)}): {metric} "
            f"{chosen.mean:.3f} against {best.mean:.3f}, {_p(p_values[chosen.name])}."
        )
    if chosen.size <= min(one.size for one in field):
        return f"{_capital(best.words)} has the best {score}, and no model is simpler."
    return (
        f"{_capital(best.words)} has the best {score}, and every simpler model is distinguishably "
        "worse."
    )


def _for_sortal(
    field: Sequence[Contestant], equals: Sequence[Contestant], p_values: Mapping[str, float]
) -> str:
    """What to say of sortal's own where a baseline was chosen."""
    own = next((one for one in equals if not one.baseline), None)
    if own is not None:
        return (
            "It is a baseline of scikit-learn; the simplest of sortal's learners that is not "
            f"distinguishably worse is {own.words} ({_numbers(own)})."
        )
    others = [one for one in field if not one.baseline]
    if not others:
        return "It is a baseline of scikit-learn; none of sortal's learners was in the comparison."
    nearest = max(others, key=lambda one: p_values[one.name])
    return (
        "It is a baseline of scikit-learn, and every one of sortal's learners is distinguishably "
        f"worse; the nearest is {nearest.words} ({nearest.mean:.3f}, {_p(p_values[nearest.name])})."
    )


def _nothing_learned(
    best: Contestant, equals: Sequence[Contestant], p_values: Mapping[str, float], metric: str
) -> str:
    said = "Nothing was learned: no model is distinguishably better than always saying the "
    if best.name == MAJORITY:
        return f"{said}commonest class ({metric} {best.mean:.3f})."
    majority = next(one for one in equals if one.name == MAJORITY)
    return (
        f"{said}commonest class ({metric} {majority.mean:.3f}; the best, {best.words}, has "
        f"{best.mean:.3f}, {_p(p_values[MAJORITY])})."
    )


def _numbers(one: Contestant) -> str:
    return "1 number" if one.size == 1 else f"{one.size:,.0f} numbers"


def _p(p_value: float) -> str:
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}".rstrip("0").rstrip(".")


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]
