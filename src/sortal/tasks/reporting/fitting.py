"""The learners of a comparison, fitted to all rows with the options that were compared."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sortal.errors import SortalWarning
from sortal.tasks.comparing.contest import one_line
from sortal.tasks.fit import remember_call

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sortal.tasks.comparing.comparison import Comparison, ModelResult
    from sortal.tasks.comparing.contest import Entrant
    from sortal.tasks.registry import Learner
    from sortal.tasks.training import Rows

# A fit to all rows may take this share of the comparison's budget.
_SHARE = 0.25


@dataclass(frozen=True, eq=False)
class Fitted:
    """A learner fitted to all rows; without an estimator, `note` says why there is none."""

    learner: Learner
    result: ModelResult
    options: Mapping[str, Any] = field(default_factory=dict)
    estimator: Any = None
    note: str = ""


def fit_again(comparison: Comparison, entrant: Entrant, rows: Rows) -> Fitted:
    """One learner of the comparison, fitted to all rows.

    What it warns of is in its `fit_report_`, and whatever it raises becomes a note.
    """
    assert entrant.learner is not None  # noqa: S101  (of learners only)
    result = comparison[entrant.name]
    options, told = _options(comparison, entrant, result)
    unfit = _unfit(result, comparison)
    if unfit:
        return Fitted(entrant.learner, result, options, note=unfit)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SortalWarning)
            estimator = entrant.learner.make(**options).fit(rows.X, rows.y)
    except Exception as error:  # noqa: BLE001  (a learner may raise anything)
        said = f"{type(error).__name__}: {one_line(error)}"
        return Fitted(entrant.learner, result, options, note=f"It could not be fitted. {said}")
    remember_call(estimator, comparison.settings.target, comparison.settings.drop, rows.file)
    return Fitted(entrant.learner, result, options, estimator, told)


def _options(
    comparison: Comparison, entrant: Entrant, result: ModelResult
) -> tuple[dict[str, Any], str]:
    """What the learner is told, and words where folds chose it."""
    settings = comparison.settings
    options = entrant.options(settings.folds.seed, settings.categorical_features)
    if not result.chosen:
        return options, ""
    votes = Counter(tuple(sorted(chosen.items())) for chosen in result.chosen)
    (most, n), *_ = votes.most_common()
    told = ", ".join(f"{name}={value!r}" for name, value in most)
    words = f"Fitted with {told}, which {n} of {len(result.chosen)} folds chose."
    return options | dict(most), words


def _unfit(result: ModelResult, comparison: Comparison) -> str:
    """Why a learner is not fitted here: it did not come through, or would take long."""
    settings = comparison.settings
    if result.fit_seconds is None:  # what ended a worker shall not end this process
        return f"It finished no fold of the comparison and was not fitted here ({result.status})."
    seconds = result.fit_seconds * settings.rows / max(1, result.rows or 1)
    if seconds <= max(5.0, _SHARE * settings.budget):
        return ""
    return (
        f"It was not fitted to all {settings.rows:,} rows, which would take about {seconds:,.0f} "
        "seconds: give a larger budget."
    )
