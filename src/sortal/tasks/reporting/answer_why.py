"""Why a model was chosen, in plain words: how models were tried, and what that showed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sortal.tasks.comparing.judging import MAJORITY
from sortal.tasks.comparing.settings import METRICS
from sortal.tasks.reporting.answer_choice import called, first_choice, gap_of, score_of
from sortal.tasks.reporting.commonest import beats_commonest, learned_nothing
from sortal.tasks.reporting.saying import number, paragraphs, percent, sentences, some_of

if TYPE_CHECKING:
    from sortal.tasks.comparing.comparison import Comparison, ModelResult
    from sortal.tasks.reporting.fitting import Fitted

# Fewer folds may be too few to tell models apart.
_FEW_FOLDS = 10

_MEASURES = {
    "balanced_accuracy": (
        "The percentages are balanced accuracy: of each class the share of rows that a model gets "
        "right, averaged over the classes, so that a small class counts as much as a large one."
    ),
    "accuracy": "The percentages are accuracy: the share of rows that a model gets right.",
    "log_loss": (
        "The numbers are log loss, which looks at the probabilities that a model gives: it is 0 "
        "if the true class always got 100 %, and the larger, the less the true class got."
    ),
}


def why(comparison: Comparison, chosen: Fitted | None) -> str:
    """How the choice was made, and what speaks for it."""
    found = sentences([_reason(comparison, chosen), _others(comparison)])
    tried = sentences([_tried(comparison), _MEASURES[comparison.settings.metric]])
    return paragraphs(found, tried)


def _tried(comparison: Comparison) -> str:
    """How it was found out."""
    settings, folds = comparison.settings, comparison.settings.folds
    n, own = len(comparison.models), sum(not one.baseline for one in comparison.models)
    others = "one other" if n - own == 1 else f"{number(n - own)} others"
    both = f", {number(own)} that this report shows and {others} to compare with,"
    models = f"{number(n)} models{both if 0 < own < n else ''} were" if n > 1 else "the model was"
    same = "the same " if n > 1 else ""
    times = {1: "", 2: " All of that was done twice."}
    again = times.get(folds.repeats, f" All of that was done {number(folds.repeats)} times.")
    return (
        f"How this was found out: {models} tried on {same}{settings.rows:,} rows, which were "
        f"dealt into {number(folds.folds)} parts. Each part in turn was put aside, "
        f"{'each model' if n > 1 else 'the model'} learned from the others, and was then asked "
        f"about the part put aside, of which it knew nothing.{again}"
    )


def _reason(comparison: Comparison, chosen: Fitted | None) -> str:
    choice = comparison.choice
    if not choice.best:
        return _unjudged(comparison, chosen)
    if learned_nothing(comparison):
        return _nothing(comparison)
    best, first = comparison[choice.best], comparison[choice.chosen]
    said = [first_choice(comparison, best, first)]
    if chosen is None or chosen.result.name != first.name:
        lead = f"What the comparison would take is {called(first)}."
        said = [lead, *said, _instead(comparison, first, chosen)]
    if chosen is not None and not beats_commonest(chosen.result, comparison):
        said.append("The model shown is for reading, not for use.")
    return sentences(said)


def _unjudged(comparison: Comparison, chosen: Fitted | None) -> str:
    """Where no model is eligible: what is shown all the same."""
    words = METRICS[comparison.settings.metric].words
    said = f"No model came so far on all rows that it has a {words} to be chosen by"
    if chosen is None:
        return f"{said}."
    if chosen.result.score is None:
        return f"{said}; shown is the first that could be fitted."
    return f"{said}; shown is, of those that could be fitted, the best as far as they came."


def _nothing(comparison: Comparison) -> str:
    """Why no model is recommended."""
    others = [one for one in comparison.models if one.name != MAJORITY]
    if not any(one.eligible for one in others):
        end = "was judged on all rows" if others else "was tried"
        return f"Nothing can be said: beside always saying the commonest class, no model {end}."
    folds = comparison.settings.folds
    short = f", or the trial was too short ({folds})" if folds.n < _FEW_FOLDS else ""
    return (
        "Nothing was learned, or too little to tell: no model does better than always saying the "
        "commonest class by more than chance may do. Either these columns do not tell the target, "
        f"or the rows are too few to find out{short}. So the models of this report are for "
        "reading, not for use."
    )


def _instead(comparison: Comparison, first: ModelResult, chosen: Fitted | None) -> str:
    """What this page goes on with where it cannot show the first choice."""
    reason = "is there to compare with" if first.baseline else "was not fitted to all rows"
    reason = f"{called(first)} {reason}, and cannot be read here."
    if chosen is None:
        return reason
    result, told = chosen.result, score_of(chosen.result, comparison.settings)
    said = f"{reason} This report goes on with {called(result)}"
    if not result.eligible:
        return f"{said}, which could not be chosen ({some_of([result.status])}) and gets {told}."
    if comparison.choice.learner == result.name:
        return (
            f"{said}, which gets {told}: of sortal's own models that cannot be told apart from the "
            "best, none is simpler."
        )
    if result.name not in comparison.choice.p_values:
        return f"{said}, which gets {told}."
    own = next(one for one in comparison.models if one.eligible and not one.baseline)
    which = (
        "the best of sortal's own" if own.name == result.name else "the best that could be fitted"
    )
    worse = result.name not in comparison.choice.equals
    return (
        f"{said}, {which}. It gets {told}{', which is worse' if worse else ''}. "
        f"{gap_of(comparison, result)}"
    )


def _others(comparison: Comparison) -> str:
    """What always saying the commonest class gets, and the best of the usual models."""
    told = [one for one in (_commonest(comparison), _usual(comparison)) if one]
    return f"For comparison: {'; '.join(told)}." if told else ""


def _commonest(comparison: Comparison) -> str:
    settings = comparison.settings
    score = next((one.score for one in comparison.models if one.name == MAJORITY), None)
    if score is None:
        return ""
    if settings.metric == "log_loss":
        return f"giving every row the same shares of the classes gets {score:.3f}"
    k = settings.counts.index(max(settings.counts))
    always = some_of([settings.classes[k]])
    return f"always saying {always}, the commonest class, gets {percent(score)} by this measure"


def _usual(comparison: Comparison) -> str:
    """The best of scikit-learn's, where it has not been told of already."""
    told_of = (MAJORITY, comparison.choice.best, comparison.choice.chosen)
    there = [one for one in comparison.models if one.baseline and one.eligible]
    usual = [one for one in there if one.name != MAJORITY and one.score is not None]
    if not usual or usual[0].name in told_of:
        return ""
    told = score_of(usual[0], comparison.settings)
    return f"the best of the other usual methods, {called(usual[0])}, gets {told}"
