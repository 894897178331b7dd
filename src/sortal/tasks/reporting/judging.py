"""How the predictions of a learner were: its confusions, probabilities and errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sortal.models.judged import Confusion, Reliability, Roc
from sortal.tasks.naming import features_among
from sortal.tasks.reporting.errors_met import ErrorsMet

if TYPE_CHECKING:
    from sortal.tasks.comparing.comparison import Comparison
    from sortal.tasks.reporting.wishes import Wishes
    from sortal.tasks.training import Rows


@dataclass(frozen=True, eq=False)
class Judged:
    """What is said of predictions, and on which it rests; nothing of it where none were kept."""

    words: str = ""
    confusion: Confusion | None = None
    reliability: Reliability | None = None
    roc: Roc | None = None
    errors: ErrorsMet | None = None


def judge_kept(name: str, comparison: Comparison, rows: Rows, wishes: Wishes) -> Judged:
    """Judge the out-of-fold predictions of a learner."""
    kept = comparison.kept.get(name)
    if kept is None:
        return Judged()
    classes = comparison.settings.classes
    shares = kept.probabilities
    return Judged(
        words=kept.words,
        confusion=Confusion.of(kept.truth, kept.said, classes),
        reliability=None if shares is None else Reliability.of(kept.truth, kept.said, shares),
        roc=None if shares is None else Roc.of(kept.truth, shares, classes),
        errors=ErrorsMet.of(
            kept,
            rows.X,
            classes,
            places=rows.places,
            categories=features_among(wishes.categories, wishes.target),
            rows=wishes.rows,
        ),
    )
