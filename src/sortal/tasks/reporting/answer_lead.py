"""The first sentence of a report: which model to take, or why none can be recommended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sortal.tasks.comparing.settings import METRICS
from sortal.tasks.reporting.answer_choice import score_text
from sortal.tasks.reporting.commonest import (
    beats_commonest,
    commonest_score,
    leads_commonest,
    learned_nothing,
)
from sortal.tasks.reporting.saying import paragraphs, percent, sentences, some_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal.tasks.comparing.comparison import Comparison, ModelResult
    from sortal.tasks.reporting.facts import ModelFacts
    from sortal.tasks.reporting.fitting import Fitted


def lead(comparison: Comparison, chosen: Fitted) -> str:
    """What to take; nothing is recommended that always saying the same does as well."""
    target = some_of([comparison.settings.target])
    result, called = chosen.result, f"“{chosen.learner.title}”"
    if learned_nothing(comparison):
        shown = f"Shown is {called}{_place(comparison, result)}."
        none = f"None can be recommended to predict {target}."
        return sentences([none, shown, _no_better(comparison, result)])
    if not result.eligible:
        return _not_eligible(comparison, chosen)
    hidden = result.name not in comparison.choice.equals
    found = _best(comparison) if hidden else ""
    if not beats_commonest(result, comparison):
        start = f"{found}{called}" if hidden else f"The model shown, {called},"
        reason = _no_better(comparison, result)
        return f"{start} cannot be recommended to predict {target}. {reason}"
    if hidden:
        return f"{found}take {called} to predict {target}."
    return f"To predict {target}, take the model called {called}."


def none_fitted(comparison: Comparison, models: Sequence[ModelFacts]) -> str:
    """That there is none, and why."""
    target = some_of([comparison.settings.target])
    own = [one for one in comparison.models if not one.baseline]
    if not own:
        return f"None: no model of sortal's own took part in predicting {target}."
    notes = {one.name: one.note for one in models}
    reasons = [
        f"“{one.title}”: {notes.get(one.name) or one.status or 'it was not fitted'}" for one in own
    ]
    told = " ".join(reason if reason.endswith(".") else f"{reason}." for reason in reasons)
    return paragraphs(
        f"None: no model of sortal's own was fitted to predict {target}.", some_of([told])
    )


def _not_eligible(comparison: Comparison, chosen: Fitted) -> str:
    """What is shown where nothing that is shown could be chosen."""
    shown = f"Shown is “{chosen.learner.title}”{_place(comparison, chosen.result)}."
    if comparison.choice.best:
        return f"{_best(comparison)}none could be chosen. {shown}"
    target = some_of([comparison.settings.target])
    return f"None can be recommended to predict {target}: none could be chosen. {shown}"


def _best(comparison: Comparison) -> str:
    """What is better than all that is shown."""
    best = comparison[comparison.choice.best]
    score = "" if best.score is None else f", {score_text(best.score, comparison.settings)}"
    return (
        f"The best found here is a method that this report cannot show (“{best.title}”{score}); "
        "of those that it shows, "
    )


def _place(comparison: Comparison, result: ModelResult) -> str:
    """Why this one is shown first, where it is not because it is recommended."""
    if not result.eligible:
        return f", which could not be chosen ({some_of([result.status])})"
    if sum(not one.baseline for one in comparison.models) == 1:
        return ""
    if result.name == comparison.choice.learner:
        return ": of the models here that cannot be told apart from the best, none is simpler"
    return f", the best of those shown by {METRICS[comparison.settings.metric].words}"


def _no_better(comparison: Comparison, result: ModelResult) -> str:
    """Its score beside that of the commonest class."""
    if result.score is None:
        return "It has no score."
    settings, score = comparison.settings, commonest_score(comparison)
    other = f"always saying the commonest class gets {percent(score)}"
    if settings.metric == "log_loss":
        other = f"giving every row the same shares of the classes gets {score:.3f}"
    chance = " The lead may be chance." if leads_commonest(result, comparison) else ""
    return f"It gets {score_text(result.score, settings)}, and {other}.{chance}"
