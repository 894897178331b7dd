"""Why a model was chosen, in plain words: how models were tried, and what that showed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sortal.tasks.comparing.judging import MAJORITY
from sortal.tasks.comparing.settings import METRICS
from sortal.tasks.naming import counted
from sortal.tasks.reporting.saying import chance, number, percent, sentences, some_of

if TYPE_CHECKING:
    from sortal.tasks.comparing.comparison import Comparison, ModelResult
    from sortal.tasks.comparing.settings import Settings
    from sortal.tasks.reporting.fitting import Fitted

_MEASURES = {
    "balanced_accuracy": (
        "They are ranked by balanced accuracy: in each class the share of rows that a model says "
        "right, averaged over the classes, so that a small class counts as much as a large one."
    ),
    "accuracy": "They are ranked by accuracy: the share of rows that a model says right.",
    "log_loss": (
        "They are ranked by log loss, which looks at the probabilities that a model gives: it is 0 "
        "if the true class always got 100 %, and the larger, the less the true class got."
    ),
}


def learned_nothing(comparison: Comparison) -> bool:
    """Whether always saying the commonest class is as good as any model."""
    return MAJORITY in comparison.choice.equals


def why(comparison: Comparison, chosen: Fitted | None) -> str:
    """How the choice was made, and what speaks for it."""
    return sentences(
        [
            _tried(comparison),
            _MEASURES[comparison.settings.metric],
            _reason(comparison, chosen),
            _commonest(comparison),
            _baselines(comparison),
        ]
    )


def score_text(score: float, settings: Settings) -> str:
    """A score as it is said: in percent, or a loss."""
    return f"{score:.3f}" if settings.metric == "log_loss" else percent(score)


def _tried(comparison: Comparison) -> str:
    settings, folds = comparison.settings, comparison.settings.folds
    own = sum(not one.baseline for one in comparison.models)
    others = len(comparison.models) - own
    n = len(comparison.models)
    beside = f" ({own} of sortal's and {others} others to compare with)" if own and others else ""
    models = f"{number(n).capitalize()} {'models were' if n > 1 else 'model was'}"
    again = {1: "", 2: ", and all of it twice"}.get(
        folds.repeats, f", and all of it {number(folds.repeats)} times"
    )
    return (
        f"{models} tried{beside} on the same {settings.rows:,} rows. The rows were dealt into "
        f"{number(folds.folds)} parts; a model learned from all parts but one and was then asked "
        f"about that one, until each part had had its turn{again}. So models are judged by rows "
        "they had not seen."
    )


def _reason(comparison: Comparison, chosen: Fitted | None) -> str:
    choice = comparison.choice
    if not choice.best:
        words = METRICS[comparison.settings.metric].words
        said = f"No model came so far on all rows that it has a {words} to be chosen by"
        return f"{said}." if chosen is None else f"{said}; shown is the first that could be fitted."
    if learned_nothing(comparison):
        return (
            "None does better than always saying the commonest class, or so little better that "
            "it may be chance: what is in these columns does not tell the target, or the rows are "
            "too few to find out. So the models of this report are for reading, not for use."
        )
    best, first = comparison[choice.best], comparison[choice.chosen]
    said = _first(comparison, best, first)
    return sentences([said, _for_sortal(comparison, chosen)]) if first.baseline else said


def _first(comparison: Comparison, best: ModelResult, first: ModelResult) -> str:
    """Why the first choice comes first."""
    settings = comparison.settings
    field = [one for one in comparison.models if one.eligible]
    if len(field) == 1:
        return f"There was only {best.title} to choose from ({_told(best, settings)})."
    if first is not best:
        p = comparison.choice.p_values[first.name]
        return (
            f"The best on average is {best.title} with {_told(best, settings)}. Chosen is "
            f"{first.title} with {_told(first, settings)}: so small a gap can well be chance "
            f"{chance(p)}, and it is simpler, with {_size(first)} to predict by instead of "
            f"{_size(best)}. Of models that cannot be told apart the simplest is taken, because "
            "one can read and check it best."
        )
    said = f"The best is {best.title} with {_told(best, settings)}"
    simpler = [one for one in field if (one.size or 0) < (best.size or 0)]
    if not simpler:
        return f"{said}, and no model is simpler."
    p_values = comparison.choice.p_values
    nearest = max(simpler, key=lambda one: p_values[one.name])
    return (
        f"{said}. There are simpler ones, but they do worse: the nearest of them, {nearest.title}, "
        f"has {_told(nearest, settings)}, and such a gap is hardly chance "
        f"{chance(p_values[nearest.name])}."
    )


def _for_sortal(comparison: Comparison, chosen: Fitted | None) -> str:
    """What this page goes on with where a baseline was chosen."""
    if chosen is None:
        return "It is there to compare with and cannot be read here."
    settings, result = comparison.settings, chosen.result
    said = (
        "That model is there to compare with and cannot be read here. This report goes on with "
        f"{result.title}"
    )
    if comparison.choice.learner == result.name:
        return (
            f"{said}, the simplest of sortal's own models that does not do distinguishably worse "
            f"({_told(result, settings)})."
        )
    p = comparison.choice.p_values.get(result.name)
    gap = "" if p is None else f", and does worse by more than chance would explain {chance(p)}"
    return f"{said}, the best of sortal's own; it has {_told(result, settings)}{gap}."


def _commonest(comparison: Comparison) -> str:
    """What always saying the commonest class has."""
    there = [one for one in comparison.models if one.name == MAJORITY and one.score is not None]
    settings = comparison.settings
    if not there:
        return ""
    score = score_text(there[0].score or 0.0, settings)
    if settings.metric == "log_loss":
        return f"For comparison: giving every row the same shares of the classes has {score}."
    k = settings.counts.index(max(settings.counts))
    return f"For comparison: always saying {some_of([settings.classes[k]])} has {score}."


def _baselines(comparison: Comparison) -> str:
    """The best of the usual models, where it was not the choice."""
    usual = [
        one
        for one in comparison.models
        if one.baseline and one.name != MAJORITY and one.eligible and one.score is not None
    ]
    if not usual or usual[0].name in (comparison.choice.best, comparison.choice.chosen):
        return ""
    told = _told(usual[0], comparison.settings)
    return f"The best of the usual models of scikit-learn, {usual[0].title}, has {told}."


def _told(one: ModelResult, settings: Settings) -> str:
    return "no score" if one.score is None else score_text(one.score, settings)


def _size(one: ModelResult) -> str:
    return (
        "an unknown number of numbers" if one.size is None else counted(round(one.size), "number")
    )
