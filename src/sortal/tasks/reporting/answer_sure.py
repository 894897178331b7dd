"""How sure one is of a model, in plain words: how often it is right, and what is amiss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sortal.data.printing import counted
from sortal.tasks.comparing.settings import METRICS
from sortal.tasks.reporting.saying import number, out_of, paragraphs, percent, sentences, some_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal.models.judged import Bin, Confusion, Reliability
    from sortal.tasks.comparing.comparison import Comparison, ModelResult
    from sortal.tasks.comparing.settings import Settings
    from sortal.tasks.inspect import Inspection
    from sortal.tasks.reporting.facts import ModelFacts

# Classes with fewer rows are named: a few rows say little.
_FEW_ROWS = 20
# Probabilities that are off by less than this on average can be taken at their word.
_NEAR = 0.03
_FAR = 0.1
_ROUNDING = 1e-9
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
        f"(the {100 * (1 - settings.level):g} % interval)."
    )


def _loss(result: ModelResult, settings: Settings) -> str:
    said = f"Its log loss on rows it had not seen is {result.score:.3f}"
    if result.low is None or result.high is None:
        return f"{said}."
    return (
        f"{said}; anything from {result.low:.3f} to {result.high:.3f} is plausible "
        f"(the {100 * (1 - settings.level):g} % interval)."
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
    return one.share_low - _ROUNDING <= one.mean <= one.share_high + _ROUNDING


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
    found = [finding.words for finding in data.findings if finding.code != "target-holes"]
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
