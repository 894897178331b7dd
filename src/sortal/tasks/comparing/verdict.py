"""From the scores of all folds to the record: intervals, the choice, what is to be said."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.printing import counted
from sortal.tasks.comparing.comparison import Comparison, ModelResult
from sortal.tasks.comparing.judging import Contestant, balanced_rows, choose, interval
from sortal.tasks.comparing.settings import METRICS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sortal.tasks.comparing.budget import Run
    from sortal.tasks.comparing.contest import Entrant
    from sortal.tasks.comparing.judging import Choice
    from sortal.tasks.comparing.settings import Settings


def judge(runs: Sequence[Run], settings: Settings) -> Comparison:
    """Scores judged, and everything said."""
    entrants = dict(zip([run.name for run in runs], settings.entrants, strict=True))
    found = [_result(entrants[run.name], run, settings) for run in runs]
    metric = METRICS[settings.metric]
    contestants = [
        Contestant(
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
        level=settings.level,
        higher_is_better=metric.higher_is_better,
        metric=metric.words,
        rows=_rows(settings),
        rarest=min(settings.counts),
    )
    ranked = sorted((_beside_best(one, found, choice) for one in found), key=_rank(settings))
    return Comparison(tuple(ranked), choice, settings, _notes(runs, settings))


def _result(entrant: Entrant, run: Run, settings: Settings) -> ModelResult:
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
        level=settings.level,
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


def _beside_best(one: ModelResult, found: Sequence[ModelResult], choice: Choice) -> ModelResult:
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


def _short(words: str, most: int = 150) -> str:
    return words if len(words) <= most else f"{words[: most - 1]}…"


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
