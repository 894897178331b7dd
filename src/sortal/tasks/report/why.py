"""Plain words, for readers who know averages and no more: numbers, lists, why a model, how sure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sortal.errors import counted, printable
from sortal.tasks.compare.choose import MAJORITY
from sortal.tasks.compare.settings import METRICS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal.evaluation import Bin, Confusion, Reliability
    from sortal.tasks.compare.comparison import Comparison, ModelResult
    from sortal.tasks.compare.settings import Settings
    from sortal.tasks.inspection import Inspection
    from sortal.tasks.report.models import FittedLearner, ModelFacts


_SMALL = (
    *("no", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)


def number(n: int) -> str:
    """A small number as a word."""
    return _SMALL[n] if 0 <= n < len(_SMALL) else f"{n:,}"


def percent(share: float) -> str:
    """A share in percent, with as many digits as it takes not to call all what is not all."""
    if share in (0.0, 1.0):
        return f"{100 * share:.0f} %"
    for digits in range(1, 6):
        text = f"{100 * share:.{digits}f}"
        if float(text) not in (0.0, 100.0):
            return f"{text} %"
    return f"{text} %"


def out_of(shares: Sequence[float]) -> tuple[int, tuple[int, ...]]:
    """Shares as whole numbers out of 100, or of 1,000 where the first is too near to none or all.

    >>> out_of([0.974, 0.951, 0.988])
    (100, (97, 95, 99))
    >>> out_of([0.9978, 0.9835, 0.9997])
    (1000, (998, 984, 1000))
    """
    first = shares[0]
    base = 100 if first in (0.0, 1.0) or 0.015 <= first <= 0.985 else 1000
    return base, tuple(round(base * share) for share in shares)


def some_of(names: Sequence[Any], most: int = 8) -> str:
    """Names with commas and an "and"; of many the first, and how many more there are."""
    told = [printable(" ".join(str(name).split())) for name in names]
    if len(told) > most + 1:
        told = [*told[:most], f"{len(told) - most:,} more"]
    return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"


def gap(p: float, level: float, n: int) -> str:
    """What p says of a difference between two of n models; it is no frequency, but a bound.

    >>> gap(0.29, 0.05, 3)[:58]
    'The difference is smaller than chance may make it in a tri'
    """
    size = "smaller than chance may make it" if p > level else "larger than chance would make it"
    told = "p < 0.001" if p < 0.001 else f"p = {p:.2g}"
    return (
        f"The difference is {size} in a trial like this ({told}, counted cautiously because "
        f"{number(n)} models were compared)."
    )


def paragraphs(*parts: str) -> str:
    """Paragraphs after each other, the first of which is read first."""
    return "\n\n".join(part for part in parts if part)


def sentences(parts: Sequence[str]) -> str:
    """Sentences after each other, without those that say nothing."""
    return " ".join(part for part in parts if part)


# --- The score of always predicting the commonest class, and whether a model beats it ------------

# A lead in the last digits is rounding.
_ROUNDING = 1e-12


def commonest_score(comparison: Comparison) -> float:
    """The score of the majority class; where it did not take part, what it would get.

    By log loss it gives every row the shares of the classes, and gets their entropy in nats.
    """
    taken = next((one.score for one in comparison.models if one.name == MAJORITY), None)
    if taken is not None:
        return taken
    settings = comparison.settings
    total = sum(settings.counts)
    shares = [n / total for n in settings.counts if n]
    if settings.metric == "log_loss":
        return -math.fsum(share * math.log(share) for share in shares)
    return max(shares) if settings.metric == "accuracy" else 1 / len(settings.counts)


def leads_commonest(result: ModelResult, comparison: Comparison) -> bool:
    """Whether the score is better than that of the commonest class."""
    return result.score is not None and _better(result.score, comparison)


def beats_commonest(result: ModelResult, comparison: Comparison) -> bool:
    """Whether it is better, and its interval does not reach down to it."""
    higher = METRICS[comparison.settings.metric].higher_is_better
    bound = result.low if higher else result.high
    return leads_commonest(result, comparison) and (bound is None or _better(bound, comparison))


def learned_nothing(comparison: Comparison) -> bool:
    """Whether always saying the commonest class is as good as any model that was chosen from."""
    field = [one for one in comparison.models if one.eligible]
    if MAJORITY in comparison.choice.equals:
        return True
    return bool(field) and not any(beats_commonest(one, comparison) for one in field)


def _better(score: float, comparison: Comparison) -> bool:
    sign = 1 if METRICS[comparison.settings.metric].higher_is_better else -1
    return sign * (score - commonest_score(comparison)) > _ROUNDING


# --- Why the first choice comes first ------------------------------------------------------------


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
    p_values, level = comparison.choice.p_values, comparison.settings.significance_level
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
    return gap(comparison.choice.p_values[one.name], comparison.settings.significance_level, n)


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


# --- Why a model was chosen, in plain words: how models were tried, and what that showed ---------

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


def why(comparison: Comparison, chosen: FittedLearner | None) -> str:
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


def _reason(comparison: Comparison, chosen: FittedLearner | None) -> str:
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


def _unjudged(comparison: Comparison, chosen: FittedLearner | None) -> str:
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


def _instead(comparison: Comparison, first: ModelResult, chosen: FittedLearner | None) -> str:
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


# --- How sure one is of a model, in plain words: how often it is right, and what is amiss --------

# Classes with fewer rows are named: a few rows say little.
_FEW_ROWS = 20

# Probabilities that are off by less than this on average can be taken at their word.
_NEAR = 0.03

_FAR = 0.1

_SLACK = 1e-9

_MOST_DOUBTS = 3


def how_sure(data: Inspection, comparison: Comparison, chosen: ModelFacts) -> str:
    """How often the model will be right, what that rests on, and what makes it doubtful."""
    settings = comparison.settings
    told = [_right(chosen.confusion), _mistakes(chosen.confusion)]
    return paragraphs(
        _score(chosen.result, settings),
        sentences([*told, _probabilities(chosen.reliability)]),
        sentences([_rests_on(settings), *_doubts(data, comparison)]),
    )


def _score(result: ModelResult, settings: Settings) -> str:
    """The score of new rows, with what is plausible."""
    if result.score is None:
        return f"It has no {METRICS[settings.metric].words}, by which models were compared here."
    if settings.metric == "log_loss":
        return _loss(result, settings)
    bounds = [result.low, result.high]
    known = [bound for bound in bounds if bound is not None]
    base, (right, *ends) = out_of([result.score, *known])
    whose = " of each class" if settings.metric == "balanced_accuracy" else ""
    said = f"Of {base:,} new rows{whose} it will get about {right:,} right"
    if len(ends) < 2:
        return f"{said}; how far that may be off is not known."
    return (
        f"{said}; anything from {ends[0]:,} to {ends[1]:,} is plausible "
        f"(the {100 * settings.confidence_level:g} % interval)."
    )


def _loss(result: ModelResult, settings: Settings) -> str:
    said = f"Its log loss on rows it had not seen is {result.score:.3f}"
    if result.low is None or result.high is None:
        return f"{said}."
    return (
        f"{said}; anything from {result.low:.3f} to {result.high:.3f} is plausible "
        f"(the {100 * settings.confidence_level:g} % interval)."
    )


def _right(confusion: Confusion | None) -> str:
    """How many rows were said right, counted once each."""
    if confusion is None:
        return ""
    right = "all" if not confusion.n_wrong else f"{confusion.n - confusion.n_wrong:,}"
    return (
        f"Asked about {counted(confusion.n, 'row')}, each time without having learned from the "
        f"row, it got {right} right."
    )


def _mistakes(confusion: Confusion | None) -> str:
    """Which classes it takes for which."""
    if confusion is None or not confusion.n_wrong:
        return ""
    of = {c: sum(row) for c, row in zip(confusion.classes, confusion.counts, strict=True)}
    told = [
        f"{some_of([one.true])} called {some_of([one.said])} ({one.n:,} of {of[one.true]:,})"
        for one in confusion.pairs(3)
    ]
    lead = "Its most frequent mistakes:" if len(told) > 1 else "Its only kind of mistake:"
    return f"{lead} {some_of(told)}."


def _probabilities(reliability: Reliability | None) -> str:
    """Whether what it says of its own sureness can be believed."""
    if reliability is None:
        return "It names a class without saying how probable that is for a single row."
    off = reliability.expected_error
    points = f"{100 * off:.1f} percentage points"
    outside = [one for one in reliability.bins if not _within(one)]
    if off < _NEAR:
        return _near(reliability.bins, outside)
    if not outside:
        return (
            f"Its probabilities are off by {points} on average, which is no more than chance "
            "makes of so few rows."
        )
    mean = sum(one.n * one.mean for one in reliability.bins) / reliability.n
    right = sum(one.n * one.share for one in reliability.bins) / reliability.n
    word = "should not be taken at their word" if off >= _FAR else "are rough"
    how = "too sure of itself" if reliability.lead > 0 else "righter than it thinks"
    return (
        f"Its probabilities {word}: they are off by {points} on average. On the whole it is {how}: "
        f"it gives its answers {percent(mean)}, and {percent(right)} of them are right."
    )


def _within(one: Bin) -> bool:
    """Whether the mean probability of a bin is plausible, beside what was right."""
    return one.share_low - _SLACK <= one.mean <= one.share_high + _SLACK


def _near(bins: Sequence[Bin], outside: Sequence[Bin]) -> str:
    """Probabilities that are off by little on average; those of some answers may be off by more."""
    if not outside:
        most = max(bins, key=lambda one: one.n)
        return (
            f"Its probabilities can be taken at their word: of {counted(most.n, 'answer')} that it "
            f"gave a probability of {percent(most.mean)} on average, {percent(most.share)} were "
            "right."
        )
    worst = max(outside, key=lambda one: one.n * abs(one.share - one.mean))
    return (
        f"Its probabilities can mostly be taken at their word; but of {counted(worst.n, 'answer')} "
        f"that it gave {percent(worst.mean)} on average, {percent(worst.share)} were right."
    )


def _rests_on(settings: Settings) -> str:
    return (
        f"All this holds for new rows that come about in the same way as these {settings.rows:,}; "
        "rows from elsewhere, or of another time, may be another matter."
    )


def _doubts(data: Inspection, comparison: Comparison) -> list[str]:
    """What was found in the table, small classes, and what was left out."""
    settings = comparison.settings
    found = [finding.words for finding in data.findings if finding.code != "target-missing"]
    told = []
    if found:
        told.append(f"What may make it doubtful: {' '.join(found[:_MOST_DOUBTS])}")
        more = len(found) - _MOST_DOUBTS
        told += [f"({number(more).capitalize()} more such findings are listed below.)"] * (more > 0)
    told += _few(data, settings)
    if settings.left_out:
        left = counted(settings.left_out, "row")
        told.append(f"{left} without a {some_of([settings.target])} played no part.")
    return told


def _few(data: Inspection, settings: Settings) -> list[str]:
    """Classes of which little is known; those of fewer than ten rows are a finding already."""
    said = any(finding.code == "rare-class" for finding in data.findings)
    pairs = zip(settings.classes, settings.counts, strict=True)
    few = [f"{some_of([label])} ({n})" for label, n in pairs if n < _FEW_ROWS]
    if not few or said:
        return []
    return [f"Little is known of classes with few rows: {some_of(few)}."]
