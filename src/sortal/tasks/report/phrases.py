"""Words for numbers and lists, for readers who know averages and no more."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from sortal.errors import printable
from sortal.tasks.compare.choose import MAJORITY
from sortal.tasks.compare.settings import METRICS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal.tasks.compare.comparison import Comparison, ModelResult

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
