"""Predict the rows of a file or a frame by a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw

from sortal.errors import OptionError
from sortal.models.records import unique
from sortal.tasks.models import as_model, open_for
from sortal.tasks.naming import check_columns

if TYPE_CHECKING:
    from collections.abc import Sequence


def predict(
    model: Any, data: Any, *, proba: bool = False, keep: Sequence[str] = (), **reading: Any
) -> Any:
    """A table with the number and the predicted class of each row.

    Parameters
    ----------
    model : path or fitted estimator
    data : path, "-" or data frame
        Columns are found by name; those that the model does not know are not read, and those that
        it does not use, such as columns in no split of a tree, may be absent.
    proba : bool, default=False
        One column more for each class: the probability `P(class)`.
    keep : names, default=()
        Columns of the data that are copied to the end of the table.
    reading :
        For a file, options of `sortal.read`.

    Returns
    -------
    data frame
        Columns `row` (from 1), `prediction`, those asked for; of the library that the data came
        in, pandas for a file.
    """
    estimator = as_model(model, data)
    if proba and not hasattr(estimator, "predict_proba"):
        raise OptionError(
            f"proba: a {type(estimator).__name__} has no probabilities. Leave it out, or fit a "
            "learner that has them, such as lda, bayes or tree."
        )
    frame = nw.from_native(open_for(estimator, data, reading).frame, eager_only=True)
    check_columns(keep, frame.columns, "keep")
    said = estimator.predict(frame.to_native())
    columns: list[tuple[str, Any]] = [
        ("row", list(range(1, len(said) + 1))),
        ("prediction", said.tolist()),
    ]
    if proba:
        shares = estimator.predict_proba(frame.to_native())
        columns += [(f"P({c})", shares[:, k]) for k, c in enumerate(estimator.classes_)]
    columns += [(name, frame.get_column(name)) for name in dict.fromkeys(keep)]
    names = unique([name for name, _ in columns])
    return _frame(dict(zip(names, (part for _, part in columns), strict=True)), frame)


def _frame(columns: dict[str, Any], like: nw.DataFrame[Any]) -> Any:
    """A frame of the library of another."""
    made = {
        name: part.alias(name)
        if isinstance(part, nw.Series)
        else nw.new_series(name, part, backend=like.implementation)
        for name, part in columns.items()
    }
    return nw.from_dict(made).to_native()
