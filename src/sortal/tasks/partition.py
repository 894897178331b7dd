"""score_partition: any given split of labeled rows, under every criterion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sortal import native
from sortal.data.columns import HOLE, as_categories
from sortal.data.values import kept
from sortal.data.weights import read_weights
from sortal.errors import InputError
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
    labels = _column(y, "y", None)
    pieces = _column(parts, "parts", len(labels))
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


def _column(given: Any, name: str, n_rows: int | None) -> CategoryColumn:
    """One value a row, without holes."""
    n = len(given) if n_rows is None else n_rows
    table = read_target(given, n).table
    if table.n_rows == 0:
        raise InputError(f"{name} is empty: give one value a row, and one row at least.")
    column = as_categories(table.categories(0, 0, table.n_rows))
    if (column.codes == HOLE).any():
        first = int((column.codes == HOLE).argmax())
        raise InputError(
            f"{name} has no value in row {first}: every row needs one. Drop the rows without one."
        )
    return column
