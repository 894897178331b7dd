"""The criteria of trees, and score_split: any partition of labeled rows, scored under each.

Their measures are in cpp/trees/measures.hpp.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from sortal import native
from sortal.base.tables import read_target
from sortal.data.columns import MISSING, as_categories, kept
from sortal.data.sources import read_weights, refuse_measurements
from sortal.errors import InputError, LabelError, counted
from sortal.records.tables import Shown, Table, sheet, whole_cells

if TYPE_CHECKING:
    from narwhals.typing import IntoSeries
    from numpy.typing import ArrayLike

    from sortal._typing import Counts
    from sortal.data.columns import CategoryColumn, Values
    from sortal.records.tables import Columns

    ColumnLike = IntoSeries | ArrayLike


class TreeCriterion(NamedTuple):
    """What a criterion is called: the score in a sentence and on an axis; and what it needs.

    `impurity` is the split's, where the criterion is one. One that is `two_sided` has no tests of
    more branches; one that `uses_logs` counts copies exactly up to 2**46. `sklearn` is what
    scikit-learn has in its place.
    """

    score: str
    axis: str
    sklearn: str
    impurity: str | None = None
    two_sided: bool = False
    uses_logs: bool = False


CRITERIA_BY_NAME: Final = {
    "gain": TreeCriterion("the gain", "gain in bits", "entropy", "split entropy", uses_logs=True),
    "gain_ratio": TreeCriterion(
        "gain by split information", "gain ratio", "entropy", "split entropy", uses_logs=True
    ),
    "gini": TreeCriterion(
        "the decrease of the Gini index", "decrease of the Gini index", "gini", "split Gini"
    ),
    "cart": TreeCriterion("the CART measure", "CART measure", "gini", two_sided=True),
}


# Each measure of a partition, and where it is defined.
_TAGS: Final = {
    "entropy": "ZM 19.3",
    "split_entropy": "ZM 19.4",
    "gain": "ZM 19.5",
    "split_information": "C4.5",
    "gain_ratio": "C4.5",
    "gini": "ZM 19.6",
    "split_gini": "ZM 19.6",
    "gini_decrease": "ZM 19.6",
    "cart": "ZM 19.7",
}


@dataclass(frozen=True, repr=False)
class SplitScore(Shown):
    """How well the parts tell the classes apart.

    `counts[p][k]` is the weight of class k in part p. Entropies are in bits. `gain_ratio` is None
    where one part has all rows, `cart` for other than two parts.
    """

    branches: Values
    classes: Values
    counts: tuple[tuple[float, ...], ...]
    entropy: float
    split_entropy: float
    gain: float
    split_information: float
    gain_ratio: float | None
    gini: float
    split_gini: float
    gini_decrease: float
    cart: float | None

    def _pieces(self) -> tuple[Table, ...]:
        return self.counts_table(), self.to_table()

    def to_table(self) -> Table:
        """One row a measure, with the tag of its equation."""
        values = [getattr(self, name) for name in _TAGS]
        columns = {"measure": _TAGS, "value": values, "equation": _TAGS.values()}
        return sheet("scores", "Scores of the partition", columns)

    def counts_table(self) -> Table:
        """The counts behind the scores: one row a part."""
        heads = tuple(f"n({label})" for label in self.classes)
        columns: Columns = {"part": map(str, self.branches)}
        columns |= {heads: list(map(whole_cells, self.counts))}
        columns |= {"n": whole_cells(list(map(sum, self.counts)))}
        return sheet("counts", "Counts by part and class", columns)


def score_counts(units: Counts, branches: Values, classes: Values, exponent: int) -> SplitScore:
    """Every measure from counts in units of 2**-exponent, which cancel.

    Gain is (ZM 19.5), the gain ratio (S 20), Gini's decrease follows (ZM 19.6), CART is (ZM 19.7)
    of two parts. All are exactly zero where every part has the shares of the whole.
    """
    n = int(units.sum())
    shift = _shift(n)
    found = native.score_parts(np.ascontiguousarray(units), shift)
    bits = math.ldexp(1.0, -shift) / n
    nothing = found.nothing
    entropy, after = found.entropy * bits, found.split_entropy * bits
    gain = 0.0 if nothing else (found.entropy - found.split_entropy) * bits
    information = found.split_information * bits
    gini = 1 - found.squares / n
    decrease = 0.0 if nothing else found.gini_decrease / n
    weights = np.ldexp(units.astype(np.float64), -exponent)
    return SplitScore(
        branches=branches,
        classes=classes,
        counts=tuple(tuple(row) for row in weights.tolist()),
        entropy=entropy,
        split_entropy=entropy if nothing else after,
        gain=gain,
        split_information=information,
        gain_ratio=gain / information if information > 0 else None,
        gini=gini,
        split_gini=gini - decrease,
        gini_decrease=decrease,
        cart=None if found.cart is None else 2 * found.cart / n / n,
    )


def _shift(n: int) -> int:
    """The finest unit of logarithms in which n log2 n stays below 2**52."""
    return 51 - math.frexp(n * math.log2(n + 1))[1]


# --- score_split: any given split of labeled rows, under every criterion -------------------------


def score_split(
    branches: ColumnLike, y: ColumnLike, sample_weight: ArrayLike | None = None
) -> SplitScore:
    """Score a partition of labeled rows: gain, gain ratio, Gini and CART.

    The partition may come from anywhere: a test of a tree, a curve, a guess. Scores are exact
    functions of whole-number counts, and zero if and only if every part has the shares of the
    whole.

    Parameters
    ----------
    branches : array-like of shape (n_samples,)
        Which branch each row belongs to: truth values, words or whole numbers.
    y : array-like of shape (n_samples,)
        The labels.
    sample_weight : array-like of shape (n_samples,), default=None
        Whole numbers are copies of a row; 0 leaves a row out.

    Returns
    -------
    SplitScore
        With `entropy`, `split_entropy`, `gain`, `split_information`, `gain_ratio`, `gini`,
        `split_gini`, `gini_decrease`, `cart`, and the counts behind them.

    Examples
    --------
    >>> from sortal import datasets, score_split
    >>> points = datasets.table_19_5()
    >>> below = points["A"] * points["B"] - points["B"] ** 2 <= 0
    >>> print(f"{score_split(below, points['Class']).gain:.4f}")
    0.1589
    """
    labels, pieces = _column(y, "y"), _column(branches, "branches")
    if len(labels) != len(pieces):
        raise InputError(
            f"branches has {counted(len(pieces), 'row')} and y has {len(labels)}: give both for "
            "the same rows."
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


def _column(given: ColumnLike, name: str) -> CategoryColumn:
    """One value a row, without missing values."""
    if isinstance(given, str) or not hasattr(given, "__len__"):
        raise InputError(f"{name}={given!r} is no column: give the values themselves, one a row.")
    try:
        table = read_target(given, len(given)).table  # type: ignore[arg-type]
        column = as_categories(table.categories(0, 0, table.n_rows))
        refuse_measurements(column.values)
    except LabelError:
        raise InputError(
            f"{name} must hold a truth value, a word or a whole number in every row. To part rows "
            "by a number, give the test itself, such as x <= 5.45."
        ) from None
    if len(column) == 0:
        raise InputError(f"{name} is empty: give one value a row, and one row at least.")
    if (column.codes == MISSING).any():
        first = int((column.codes == MISSING).argmax())
        raise InputError(
            f"{name} has no value in row {first}: every row needs one. Drop the rows without one."
        )
    return column
