"""Why a model comes first in a comparison, in plain words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sortal.data.printing import counted
from sortal.tasks.comparing.judging import MAJORITY
from sortal.tasks.reporting.saying import gap, percent, sentences, some_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal.tasks.comparing.comparison import Comparison, ModelResult
    from sortal.tasks.comparing.settings import Settings


def first_choice(comparison: Comparison, best: ModelResult, first: ModelResult) -> str:
    """Why the first choice comes first."""
    field = [one for one in comparison.models if one.eligible]
    if len(field) == 1:
        return _only(comparison, best)
    if first is not best:
        return _simplest(comparison, best, first)
    same = [one for one in field if one is not best and _same_score(one, best)]
    lead = "None is better" if same else "It is the best"
    said = f"{lead}: {called(best)} gets {score_of(best, comparison.settings)}"
    simpler = [one for one in field if _larger(best, one)]
    rivals = [one for one in simpler if one.name != MAJORITY]
    ties = [one for one in same if not _larger(one, best)]
    also = [_tied(best, ties), _as_good(comparison, [best, *ties])]
    if not rivals:
        but = " but always saying the same" if simpler else ""
        return sentences([f"{said}, and none is simpler{but}.", *also])
    return sentences([f"{said}.\n\n{_worse(comparison, rivals)}", *also])


def _only(comparison: Comparison, best: ModelResult) -> str:
    """Where there is one model to choose from."""
    only = f"only {called(best)} came to the end"
    if len(comparison.models) == 1:
        only = f"{called(best)} was the only one asked for"
    return f"There was nothing to choose: {only}; it gets {score_of(best, comparison.settings)}."


def _same_score(one: ModelResult, other: ModelResult) -> bool:
    scores = (one.score, other.score)
    return None not in scores and math.isclose(one.score or 0, other.score or 0, rel_tol=1e-12)


def _tied(best: ModelResult, ties: Sequence[ModelResult]) -> str:
    """Models with the same score and size, and what the choice goes by then."""
    if not ties:
        return ""
    told = some_of([called(one) for one in ties], most=4)
    rule = "the first by name is taken"
    if not best.baseline and all(one.baseline for one in ties):
        rule = "one that this report can show is taken"
    get = "gets" if len(ties) == 1 else "get"
    return f"{told} {get} the same by as many numbers; of such models {rule}."


def _worse(comparison: Comparison, rivals: Sequence[ModelResult]) -> str:
    """What the simpler ones get; of some that is no better than the commonest class."""
    p_values, level = comparison.choice.p_values, comparison.settings.level
    behind = [one for one in rivals if p_values[one.name] <= level]
    if not behind:
        return "Simpler models do no better than always saying the commonest class."
    nearest = max(behind, key=lambda one: p_values[one.name])
    return (
        f"Simpler models do worse: the nearest of them, {called(nearest)}, gets "
        f"{score_of(nearest, comparison.settings)}. {gap_of(comparison, nearest)}"
    )


def _as_good(comparison: Comparison, told_of: Sequence[ModelResult]) -> str:
    """Others that may be as good, but are not simpler."""
    known = [one.name for one in told_of]
    names = [name for name in comparison.choice.equals if name not in known]
    if not names:
        return ""
    told = some_of([called(comparison[name]) for name in names], most=4)
    return f"Perhaps as good, but no simpler: {told}."


def _simplest(comparison: Comparison, best: ModelResult, first: ModelResult) -> str:
    """Why the best on average is not the first choice."""
    settings, equals = comparison.settings, comparison.choice.equals
    alone = all(_larger(comparison[name], first) for name in equals if name != first.name)
    lead = "It is the simplest of the models that do best."
    return (
        f"{lead if alone else 'Of the models that do best, none is simpler.'}\n\n"
        f"The best on average is {called(best)}, which gets {score_of(best, settings)}; "
        f"{called(first)} gets {score_of(first, settings)}. {gap_of(comparison, first)} "
        f"{_sizes(best, first)} Of models that cannot be told apart the simplest is taken, because "
        "people can read and check it best."
    )


def _sizes(best: ModelResult, first: ModelResult) -> str:
    """Both sizes, which are those of the trials; the model that is shown has its own."""
    if _larger(best, first):
        return (
            f"And {called(first)} is simpler: in the trials it decided by {_size(first)}, the "
            f"other by {_size(best)}."
        )
    return f"And {called(first)} is no larger: in the trials both decided by {_size(first)}."


def _larger(one: ModelResult, other: ModelResult) -> bool:
    """Whether it needs more numbers, as one says them; of what is not known more than any."""
    sizes = [math.inf if of.size is None else round(of.size) for of in (one, other)]
    return sizes[0] > sizes[1]


def gap_of(comparison: Comparison, one: ModelResult) -> str:
    """Whether the distance to the best may be chance."""
    n = sum(other.eligible for other in comparison.models)
    return gap(comparison.choice.p_values[one.name], comparison.settings.level, n)


def score_text(score: float, settings: Settings) -> str:
    """A score as it is said: in percent, or a loss."""
    return (
        f"a log loss of {score:.3f}" if settings.metric == "log_loss" else f"{percent(score)} right"
    )


def score_of(one: ModelResult, settings: Settings) -> str:
    """The score of a model as it is said."""
    return "no score" if one.score is None else score_text(one.score, settings)


def called(one: ModelResult) -> str:
    """What a model is called."""
    return f"“{one.title}”"


def _size(one: ModelResult) -> str:
    """How many numbers it needs, which differs a little from fit to fit."""
    return (
        "numbers not counted" if one.size is None else f"about {counted(round(one.size), 'number')}"
    )
