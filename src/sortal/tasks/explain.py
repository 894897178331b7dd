"""Explain what a model says of rows of a file or a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from sortal.data.checks import is_whole
from sortal.errors import OptionError
from sortal.models.records import Explanations
from sortal.tasks.models import as_model, open_for

if TYPE_CHECKING:
    from collections.abc import Sequence


def explain(
    model: Any, data: Any, rows: Sequence[int] | None = None, **reading: Any
) -> Explanations[Any]:
    """Why the model says what it says: one record a row, whose parts add up.

    Parameters
    ----------
    model : path or fitted estimator
    data : path, "-" or data frame
    rows : numbers from 1, default=None
        The rows to explain, as `predict` numbers them; None for all.
    reading :
        For a file, options of `sortal.read`.
    """
    estimator = as_model(model, data)
    if not hasattr(estimator, "explain"):
        raise OptionError(f"A {type(estimator).__name__} has no explanations.")
    frame = nw.from_native(open_for(estimator, data, reading).frame, eager_only=True)
    numbers = range(1, len(frame) + 1) if rows is None else list(dict.fromkeys(rows))
    return explain_rows(estimator, frame, numbers)


def explain_rows(
    estimator: Any, frame: nw.DataFrame[Any], numbers: Sequence[int]
) -> Explanations[Any]:
    """Explanations that are numbered as the rows of the data."""
    made = estimator.explain(chosen_rows(frame, numbers).to_native())
    place = {number: i for i, number in enumerate(numbers)}
    return Explanations(lambda number: made[place[number]], numbers, str(frame.implementation))


def chosen_rows(frame: nw.DataFrame[Any], numbers: Sequence[int]) -> nw.DataFrame[Any]:
    """Rows by their numbers from 1."""
    n = len(frame)
    for number in numbers:
        if not is_whole(number) or not 1 <= number <= n:
            raise OptionError(
                f"row={number!r} is no row of this table: its rows are numbered from 1 to {n}."
            )
    return frame[[number - 1 for number in numbers]]
