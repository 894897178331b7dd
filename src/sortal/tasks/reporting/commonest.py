"""What always saying the commonest class gets, and whether a model does better than that."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sortal.tasks.comparing.judging import MAJORITY
from sortal.tasks.comparing.settings import METRICS

if TYPE_CHECKING:
    from sortal.tasks.comparing.comparison import Comparison, ModelResult

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
