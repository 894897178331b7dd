"""The form in which the chosen model decides in the page, and rows to start from."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal.tasks.reporting.facts import ModelFacts
    from sortal.tasks.reporting.fitting import Fitted
    from sortal.tasks.reporting.wishes import Wishes
    from sortal.tasks.training import Rows
    from sortal.views.parts import Part


def decide(
    chosen: Fitted | None, rows: Rows, models: Sequence[ModelFacts], wishes: Wishes
) -> tuple[Part | None, str]:
    """The part, or why there is none."""
    if chosen is None:
        return None, "No model could be fitted, and so none decides here."
    return None, ""
