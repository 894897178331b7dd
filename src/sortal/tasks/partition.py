"""score_partition: any given split of labeled rows, under every criterion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sortal import native
from sortal.data.columns import HOLE, as_categories
from sortal.data.printing import counted
from sortal.data.sources import refuse_measurements
from sortal.data.values import kept
from sortal.data.weights import read_weights
from sortal.errors import InputError, LabelError
from sortal.estimators.target import read_target
from sortal.models.partition import PartitionScore, score_counts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from sortal.data.columns import CategoryColumn


def score_partition(parts: Any, y: Any, sample_weight: ArrayLike | None = None) -> PartitionScore:
    """Score a partition of labeled rows: gain, gain ratio, Gini and CART.

    The partition may come from anywhere: a test of a tree, a curve, a guess. Scores are exact
    functions of whole-number counts, and zero if and only if every part has the shares of the
    whole.

    Parameters
    ----------
    parts : array-like of shape (n_samples,)
        Which part each row belongs to: truth values, words or whole numbers.
    y : array-like of shape (n_samples,)
        The labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Whole numbers are copies of a row; 0 leaves a row out.

    Returns
    -------
    PartitionScore
        With `entropy`, `split_entropy`, `gain`, `split_information`, `gain_ratio`, `gini`,
        `split_gini`, `gini_decrease`, `cart`, and the counts behind them.

    Examples
    --------
    >>> from sortal import datasets, score_partition
    >>> points = datasets.table_19_5()
    >>> below = points["A"] * points["B"] - points["B"] ** 2 <= 0
    >>> print(f"{score_partition(below, points['Class']).gain:.4f}")
    0.1589
    """
    labels, pieces = _column(y, "y"), _column(parts, "parts")
    if len(labels) != len(pieces):
        raise InputError(
            f"parts has {counted(len(pieces), 'row')} and y has {len(labels)}: give both for the "
            "same rows."
        )
    weights = read_weights(sample_weight, len(labels))
    units = native.count_codes(
        pieces.codes, len(pieces.values), labels.codes, len(labels.values), weights.units
    )
    rows, columns = np.any(units, axis=1), np.any(units, axis=0)
    return score_counts(
        units[np.ix_(rows, columns)],
        kept(pieces.values, rows),
        kept(labels.values, columns),
        weights.exponent,
    )


def _column(given: Any, name: str) -> CategoryColumn:
    """One value a row, without holes."""
    if isinstance(given, str) or not hasattr(given, "__len__"):
        raise InputError(f"{name}={given!r} is no column: give the values themselves, one a row.")
    try:
        table = read_target(given, len(given)).table
        column = as_categories(table.categories(0, 0, table.n_rows))
        refuse_measurements(column.values)
    except LabelError:
        raise InputError(
            f"{name} must hold a truth value, a word or a whole number in every row. To part rows "
            "by a number, give the test itself, such as x <= 5.45."
        ) from None
    if len(column) == 0:
        raise InputError(f"{name} is empty: give one value a row, and one row at least.")
    if (column.codes == HOLE).any():
        first = int((column.codes == HOLE).argmax())
        raise InputError(
            f"{name} has no value in row {first}: every row needs one. Drop the rows without one."
        )
    return column
