"""Which model to go on with: what scores of resampled rows do and do not say.

Scores of one model over the folds of a repeated cross-validation are not independent: folds share
training rows, and repeats share test rows. A mean of many such scores is therefore less certain
than their spread divided by their number says; Nadeau and Bengio (2003) say by how much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri, stdtr, stdtrit

from sortal.errors import InputError, ParameterError, counted
from sortal.tasks.compare.comparison import Comparison, ModelResult
from sortal.tasks.compare.settings import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sortal.tasks.compare.fold_run import Candidate
    from sortal.tasks.compare.run import Run
    from sortal.tasks.compare.settings import Settings

MAJORITY = "majority"

_LONGEST = 150


@dataclass(frozen=True)
class ScoredCandidate:
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
class ScoreInterval:
    """A mean score, and bounds for the score expected of models trained on so many rows."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class ModelChoice:
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
    _check_numbers(scores, "scores")
    _check_settings(test_share, level)
    mean = math.fsum(scores) / len(scores)
    if len(scores) == 1:
        return ScoreInterval(mean, lowest, highest)
    variance = corrected_variance(scores, test_share)
    quantile = float(stdtrit(_freedom(len(scores), rarest), 1 - level / 2))
    half = quantile * math.sqrt(variance)
    if math.isinf(highest):
        return _open_above(mean, half, lowest)
    least = 0.0 if rows is None else float(ndtri(1 - level / 2)) ** 2 / rows
    return _between(mean, half, lowest, highest, least)


def _freedom(n_scores: int, rarest: int | None) -> int:
    """Degrees of freedom: repeats make more scores of the same few rows, but not more rows."""
    return max(1, (n_scores if rarest is None else min(n_scores, rarest)) - 1)


def _open_above(mean: float, half: float, lowest: float) -> ScoreInterval:
    """On the scale of logarithms, where relative errors are what is symmetric."""
    if math.isinf(lowest) or half == 0.0 or mean <= lowest:
        return ScoreInterval(mean, mean - half, mean + half)
    above = mean - lowest
    factor = math.exp(min(half / above, 700.0))
    return ScoreInterval(mean, lowest + above / factor, lowest + above * factor)


def _between(
    mean: float, half: float, lowest: float, highest: float, least: float
) -> ScoreInterval:
    """Wilson's interval of a share x; u is t² over the rows that x seems to rest on."""
    width = highest - lowest
    x = min(max((mean - lowest) / width, 0.0), 1.0)
    u = max((half / width) ** 2 / (x * (1 - x)) if 0 < x < 1 else 0.0, least)
    middle, arm = x + u / 2, math.sqrt(x * (1 - x) * u + u * u / 4)
    low, high = (middle - arm) / (1 + u), (middle + arm) / (1 + u)
    # Rounding must not put the mean outside.
    return ScoreInterval(
        mean, min(mean, lowest + width * max(low, 0.0)), max(mean, lowest + width * min(high, 1.0))
    )


def balanced_rows(counts: Sequence[int]) -> float:
    """Return how many rows a balanced accuracy rests on: K² / Σ_k 1/n_k (S 62).

    It is their number if all classes have the same, and at most K times K those of the rarest.
    """
    return len(counts) ** 2 / math.fsum(1 / count for count in counts)


def probability_of_lead(
    leads: Sequence[float], test_share: float, *, factor: float = 1.0, rarest: int | None = None
) -> float:
    """Return how probable so large a mean lead is if there is none in truth: one-sided p (S 60).

    Leads are what one model is better by than another, fold by fold; `factor` multiplies their
    corrected variance. If they are all the same there is nothing to weigh them against: p is 0 if
    they are positive and 1 if not.
    """
    mean = math.fsum(leads) / len(leads)
    variance = factor * corrected_variance(leads, test_share)
    if variance == 0.0:
        return 0.0 if mean > 0 else 1.0
    return float(stdtr(_freedom(len(leads), rarest), -mean / math.sqrt(variance)))


def shortfall(scores: Sequence[float], test_share: float, rows: float | None) -> float:
    """Return by what factor V falls short of a share's variance: x (1 − x) / (N V) (S 60).

    A model that says the rare class for a handful of rows only scores nearly the same in all
    folds; but how large the handful is depends on training rows that all folds share.
    """
    mean = math.fsum(scores) / len(scores)
    least = 0.0 if rows is None else max(mean * (1 - mean), 0.0) / rows
    variance = corrected_variance(scores, test_share)
    return least / variance if variance > 0 else math.inf


def choose(
    contestants: Sequence[ScoredCandidate],
    test_share: float,
    *,
    level: float = 0.05,
    higher_is_better: bool = True,
    metric: str = "balanced accuracy",
    rows: float | None = None,
    rarest: int | None = None,
) -> ModelChoice:
    """Choose the smallest model that is not distinguishably worse than the best (S 61).

    The best is the eligible model with the best mean. Another is distinguishably worse if its p,
    times the number of models, is at most the level. Of models of one size, sortal's come before
    baselines, then the better score, then the name. `rows` and `rarest` are those of `interval`.

    Where the majority class is distinguishably worse, so is what scores no better than it. A few
    folds with huge losses can hide that from the test.
    """
    _check_settings(test_share, level)
    field = [one for one in contestants if one.eligible]
    _check_field(field)
    if not field:
        words = f"No model can be chosen: none of them has a {metric} on all rows."
        return ModelChoice("", "", {}, (), words, None)
    sign = 1.0 if higher_is_better else -1.0
    best = min(field, key=lambda one: (-sign * one.mean, one.size, one.baseline, one.name))
    odds = partial(_p_value, best, sign=sign, test_share=test_share, rows=rows, rarest=rarest)
    p_values = {one.name: min(1.0, len(field) * odds(one)) for one in field if one is not best}
    idle = _no_better_than_majority(field, p_values, level, sign)
    equals = [one for one in field if one is best or p_values[one.name] > level]
    equals = [one for one in equals if one not in idle]
    equals.sort(key=lambda one: (one.size, one.baseline, -sign * one.mean, one.name))
    learner = next((one.name for one in equals if not one.baseline), None)
    rest = [one for one in field if one not in idle]
    sentence = _sentence(rest, best, equals, p_values, metric)
    if idle:
        listed = ", ".join(one.words for one in idle)
        sentence += f" Not chosen, since no better than the commonest class: {listed}."
    names = tuple(one.name for one in equals)
    return ModelChoice(best.name, names[0], p_values, names, sentence, learner)


def _no_better_than_majority(
    field: Sequence[ScoredCandidate], p_values: Mapping[str, float], level: float, sign: float
) -> list[ScoredCandidate]:
    """Models that the test does not exclude, although the majority class scores as well."""
    majority = next((one for one in field if one.name == MAJORITY), None)
    if majority is None or p_values.get(MAJORITY, 1.0) > level:
        return []
    left = [one for one in field if p_values.get(one.name, 0.0) > level]
    return [one for one in left if sign * one.mean <= sign * majority.mean]


def _p_value(
    best: ScoredCandidate,
    other: ScoredCandidate,
    *,
    sign: float,
    test_share: float,
    rows: float | None,
    rarest: int | None,
) -> float:
    pairs = zip(best.scores, other.scores, strict=True)
    # A lead in the last digits of both scores is rounding.
    leads = [0.0 if math.isclose(a, b, rel_tol=1e-12) else sign * (a - b) for a, b in pairs]
    # The smaller of both: a model that always says the same, such as the majority, has no
    # training to be uncertain of.
    short = min(shortfall(one.scores, test_share, rows) for one in (best, other))
    factor = 1.0 if math.isinf(short) else max(1.0, short)
    return probability_of_lead(leads, test_share, factor=factor, rarest=rarest)


def _check_settings(test_share: float, level: float) -> None:
    if not 0 < level < 1:
        raise ParameterError(f"level={level!r} must lie between 0 and 1: give 0.05, say.")
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


def _check_field(field: Sequence[ScoredCandidate]) -> None:
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
    field: Sequence[ScoredCandidate],
    best: ScoredCandidate,
    equals: Sequence[ScoredCandidate],
    p_values: Mapping[str, float],
    metric: str,
) -> str:
    """Say why, in a sentence or two."""
    majority = next((one for one in equals if one.name == MAJORITY), None)
    if majority is not None:
        return _nothing_learned(best, majority, p_values, metric)
    chosen = equals[0]
    said = _reason(field, best, chosen, p_values, metric)
    return f"{said} {_for_sortal(field, equals, p_values)}" if chosen.baseline else said


def _reason(
    field: Sequence[ScoredCandidate],
    best: ScoredCandidate,
    chosen: ScoredCandidate,
    p_values: Mapping[str, float],
    metric: str,
) -> str:
    if len(field) == 1:
        return f"There is one model to choose from: {best.words} ({metric} {best.mean:.3f})."
    if chosen is not best:
        return (
            f"By {metric}, {chosen.words} ({chosen.mean:.3f}, {_numbers(chosen)}) is the simplest "
            f"model that is not distinguishably worse than the best, {best.words} "
            f"({best.mean:.3f}, {_numbers(best)}; {_p(p_values[chosen.name])})."
        )
    simpler = [one for one in field if one.size < best.size]
    said = f"By {metric}, {best.words} ({best.mean:.3f}, {_numbers(best)}) is the best model, and"
    if not simpler:
        return f"{said} none is simpler."
    nearest = max(simpler, key=lambda one: p_values[one.name])
    return (
        f"{said} every simpler one is distinguishably worse; the nearest of them is "
        f"{nearest.words} ({nearest.mean:.3f}, {_p(p_values[nearest.name])})."
    )


def _for_sortal(
    field: Sequence[ScoredCandidate],
    equals: Sequence[ScoredCandidate],
    p_values: Mapping[str, float],
) -> str:
    """What to say of sortal's own where a baseline was chosen."""
    own = next((one for one in equals if not one.baseline), None)
    if own is not None:
        return (
            "The chosen model is a baseline; the simplest of sortal's learners that is not "
            f"distinguishably worse is {own.words} ({own.mean:.3f}, {_numbers(own)})."
        )
    others = [one for one in field if not one.baseline]
    if not others:
        return "The chosen model is a baseline; none of sortal's learners was finished on all rows."
    nearest = max(others, key=lambda one: p_values[one.name])
    return (
        "The chosen model is a baseline, and each of sortal's learners is distinguishably worse; "
        f"the nearest is {nearest.words} ({nearest.mean:.3f}, {_p(p_values[nearest.name])})."
    )


def _nothing_learned(
    best: ScoredCandidate, majority: ScoredCandidate, p_values: Mapping[str, float], metric: str
) -> str:
    said = (
        f"Nothing was learned, or too little to tell: by {metric} no model is distinguishably "
        f"better than always saying the commonest class ({majority.mean:.3f})"
    )
    if best is majority:
        return f"{said}."
    return f"{said}; the best, {best.words}, has {best.mean:.3f} ({_p(p_values[MAJORITY])})."


def _numbers(one: ScoredCandidate) -> str:
    if math.isinf(one.size):
        return "size unknown"
    return counted(round(one.size), "number")


def _p(p_value: float) -> str:
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"


# --- From the scores of all folds to the record: intervals, the choice, what is to be said -------


def build_comparison(runs: Sequence[Run], settings: Settings) -> Comparison:
    """Scores judged, and everything said."""
    entrants = dict(zip([run.name for run in runs], settings.entrants, strict=True))
    found = [_result(entrants[run.name], run, settings) for run in runs]
    metric = METRICS[settings.metric]
    contestants = [
        ScoredCandidate(
            one.name,
            one.scores,
            float("inf") if one.size is None else one.size,
            one.eligible,
            one.baseline,
            one.title,
        )
        for one in found
    ]
    choice = choose(
        contestants,
        settings.folds.test_share,
        level=settings.significance_level,
        higher_is_better=metric.higher_is_better,
        metric=metric.words,
        rows=_rows(settings),
        rarest=min(settings.counts),
    )
    ranked = sorted((_beside_best(one, found, choice) for one in found), key=_rank(settings))
    return Comparison(tuple(ranked), choice, settings, _notes(runs, settings))


def _result(entrant: Candidate, run: Run, settings: Settings) -> ModelResult:
    results = [run.results[fold] for fold in sorted(run.results)]
    scores = tuple(r.scores[settings.metric] for r in results if settings.metric in r.scores)
    losses = [r.scores["log_loss"] for r in results if "log_loss" in r.scores]
    sizes = [r.size for r in results if r.size is not None]
    low, high = _bounds(scores, settings) if len(scores) > 1 else (None, None)
    status = _status(run, settings, scored=bool(scores) or not results)
    return ModelResult(
        name=entrant.name,
        title=entrant.title,
        baseline=entrant.baseline,
        score=float(np.mean(scores)) if scores else None,
        low=low,
        high=high,
        log_loss=float(np.mean(losses)) if losses else None,
        size=median(sizes) if sizes else None,
        fit_seconds=median(r.fit_seconds for r in results) if results else None,
        predict_seconds=median(r.predict_seconds for r in results) if results else None,
        rows=int(median(r.rows for r in results)) if results else None,
        status=status,
        eligible=not status,
        behind=None,
        p=None,
        scores=scores,
        chosen=tuple(r.chosen for r in results if r.chosen),
        part=run.n_rows,
    )


def _bounds(scores: Sequence[float], settings: Settings) -> tuple[float, float]:
    found = interval(
        scores,
        settings.folds.test_share,
        level=settings.significance_level,
        highest=METRICS[settings.metric].highest,
        rows=_rows(settings),
        rarest=min(settings.counts),
    )
    return found.low, found.high


def _rows(settings: Settings) -> float | None:
    """How many rows the metric rests on."""
    rests_on = {"balanced_accuracy": balanced_rows(settings.counts), "accuracy": settings.rows}
    return rests_on.get(settings.metric)


def _status(run: Run, settings: Settings, *, scored: bool) -> str:
    """Why a model is not to be chosen; nothing, where it is."""
    if run.state == "error":
        return run.words
    said = [run.words] if run.state == "unfinished" else []
    if run.n_rows is not None and run.results:
        said.append(f"subsample: trained on {run.n_rows:,} of {run.n_train:,} rows")
    if not scored:
        said.append(f"no probabilities, and so no {METRICS[settings.metric].words}")
    return "; ".join(said)


def _beside_best(
    one: ModelResult, found: Sequence[ModelResult], choice: ModelChoice
) -> ModelResult:
    best = next((other for other in found if other.name == choice.best), None)
    if best is None or best.score is None or one.score is None:
        return one
    return replace(one, behind=abs(best.score - one.score), p=choice.p_values.get(one.name))


def _rank(settings: Settings) -> Callable[[ModelResult], tuple[Any, ...]]:
    sign = -1 if METRICS[settings.metric].higher_is_better else 1
    return lambda one: (
        not one.eligible,
        one.score is None,
        sign * (one.score or 0.0),
        one.size is None or one.size,
    )


def rows_left_out(n: int, target: str) -> str:
    """How many rows have no label."""
    has, are = ("has", "is") if n == 1 else ("have", "are")
    return f"{counted(n, 'row')} {has} no {target!r} and {are} left out."


def _notes(runs: Sequence[Run], settings: Settings) -> tuple[str, ...]:
    """What else is to be said: about rows, folds, and what models warned of."""
    notes = list(settings.folds.notes)
    if settings.left_out:
        notes.append(rows_left_out(settings.left_out, settings.target))
    slow = [run.name for run in runs if run.state == "unfinished" or run.n_rows is not None]
    if slow:
        notes.append(
            f"Too slow for {settings.budget:g} seconds in all: {', '.join(slow)}. A larger budget "
            "lets models run on all rows."
        )
    if any("log_loss" not in result.scores for run in runs for result in run.results.values()):
        notes.append("A model without probabilities has no log loss.")
    return (*notes, *_warned(runs))


def _short(words: str) -> str:
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"


def _warned(runs: Sequence[Run]) -> list[str]:
    """One line a kind of warning: of which models, how often, and the first of them."""
    kinds: dict[str, dict[str, list[str]]] = {}
    for run in runs:
        for result in run.results.values():
            for kind, words in result.warned:
                kinds.setdefault(kind, {}).setdefault(run.name, []).append(words)
    n_folds = {run.name: len(run.results) for run in runs}
    notes = []
    for kind, by_model in kinds.items():
        who = ", ".join(f"{n} ({len(w)} of {n_folds[n]} folds)" for n, w in by_model.items())
        often = max(by_model.values(), key=len)
        notes.append(f"{kind}: {who}. For example: {_short(often[0])}")
    return notes
