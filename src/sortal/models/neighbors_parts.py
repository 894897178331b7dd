"""What each column adds to the distance of two rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sortal.data.columns import HOLE
from sortal.models.neighbors_search import inverse_root

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.models.neighbors import NeighborsModel

    Float = NDArray[np.float64]
    Int64 = NDArray[np.int64]

_LAST_DIGITS = 4 * float(np.finfo(float).eps)

# The tag of each metric, as in docs/math.md.
EQUATIONS = {
    "euclidean": "MSML euclidean",
    "manhattan": "MSML manhattan",
    "minkowski": "MSML minkowski",
    "hamming": "MSML hamming",
    "gower": "S 73",
    "mahalanobis": "S 74",
}


@dataclass(frozen=True)
class Counted:
    """A column that counts in distances: its place among the numbers, or among the codes."""

    j: int
    place: int
    is_number: bool


def counted_columns(model: NeighborsModel) -> tuple[Counted, ...]:
    """The columns that count, in the order of the table."""
    numbers, codes = np.flatnonzero(model.used_numbers), np.flatnonzero(model.used_codes)
    found = [Counted(model.measured[place], place, is_number=True) for place in numbers.tolist()]
    found += [Counted(model.named[place], place, is_number=False) for place in codes.tolist()]
    return tuple(sorted(found, key=lambda column: column.j))


@dataclass(frozen=True, eq=False)
class Amounts:
    """What each column that counts adds to the keys of rows; NaN where a cell is missing.

    `sums` are the sums of a row's amounts, or the largest where the power is infinite; keys are
    sums stretched from the columns `known` in both rows to all.
    """

    by_column: Float
    sums: Float
    known: Int64
    keys: Float

    def shares(self, distances: Float) -> Float:
        """a_j / Σ a of each row, 0 for what is missing and where the distance is 0. (S 83)

        Of an infinite power, the first column that has the largest amount has all of it.
        """
        amounts = np.nan_to_num(self.by_column)
        apart = (distances > 0) & (self.sums > 0)
        return np.where(apart[:, None], amounts / np.where(apart, self.sums, 1.0)[:, None], 0.0)


@dataclass(frozen=True, eq=False)
class LargestAmounts(Amounts):
    """The same, of an infinite power."""

    def shares(self, distances: Float) -> Float:
        """1 for the first column that has the largest amount. (S 83)"""
        amounts = np.nan_to_num(self.by_column)
        shares = np.zeros_like(amounts)
        rows = np.arange(len(amounts))
        shares[rows, amounts.argmax(axis=1)] = distances > 0
        return shares


def column_amounts(
    model: NeighborsModel, x: Float, codes: NDArray[np.int32], positions: Int64
) -> Amounts:
    """What each column adds to the keys of one query and some rows."""
    of_numbers = _number_amounts if model.ellipse is None else _ellipse_amounts
    numbers, words = of_numbers(model, x, positions), _code_amounts(model, codes, positions)
    columns = counted_columns(model)
    parts = [(numbers if c.is_number else words)[:, c.place] for c in columns]
    by_column = np.stack(parts, axis=1) if parts else np.empty((len(positions), 0))
    known = (~np.isnan(by_column)).sum(axis=1)
    largest = model.power == np.inf
    sums = np.zeros(len(positions))
    for j in np.flatnonzero(model.used_numbers):  # one after the other, as keys are added up
        amount = np.nan_to_num(numbers[:, j])
        sums = np.maximum(sums, amount) if largest else sums + amount
    sums = sums + np.nansum(words, axis=1)
    stretch = 1.0 if largest else len(columns) / np.maximum(known, 1)
    made = LargestAmounts if largest else Amounts
    return made(by_column, sums, known, sums * stretch)


def _number_amounts(model: NeighborsModel, x: Float, positions: Int64) -> Float:
    """(abs(x_j − t_j) f_j)^p, of which keys are sums, or the largest where p is infinite.

    The sum before the root of (MSML euclidean), (MSML manhattan) and (MSML minkowski), and the
    numbers' part in (S 73).
    """
    terms: Float = np.abs(x - model.numbers[positions].astype(np.float64)) * model.factors
    if model.power in (1.0, np.inf):
        return terms
    if model.power == 2.0:
        return np.asarray(terms * terms)
    return np.asarray(_POWER(terms, model.power), dtype=np.float64)


def _code_amounts(model: NeighborsModel, codes: NDArray[np.int32], positions: Int64) -> Float:
    """[x_j ≠ t_j]: 1 where values differ, 0 where they do not. (MSML hamming), (S 73)"""
    theirs = model.codes[positions]
    amounts: Float = (theirs != codes).astype(np.float64)
    amounts[(theirs == HOLE) | (codes == HOLE)] = np.nan
    return amounts


def _ellipse_amounts(model: NeighborsModel, x: Float, positions: Int64) -> Float:
    """z_j (S⁻¹ z)_j with z = x − t, which add up to zᵀ S⁻¹ z; some may be negative. (S 74)

    S is that of the columns which the query has.
    """
    known = ~np.isnan(x)
    z = x[known] - model.numbers[positions][:, known].astype(np.float64)
    root = _inverse_root(model, known)
    amounts = np.full((len(positions), len(x)), np.nan)
    # row by row in one order: a product of matrices may round rows of one block differently
    whitened = np.einsum("ij,jk->ik", z, root)
    digits = len(x) * _LAST_DIGITS * np.einsum("ij,jk->ik", np.abs(z), np.abs(root))
    whitened[np.abs(whitened) <= digits] = 0.0  # along what never varies there is rounding only
    amounts[:, known] = z * np.einsum("ik,jk->ij", whitened, root) + 0.0  # no zero has a sign
    return amounts


def _inverse_root(model: NeighborsModel, known: NDArray[np.bool_]) -> Float:
    ellipse = model.ellipse
    assert ellipse is not None  # noqa: S101  (asked of such models only)
    if known.all():
        return ellipse.root
    S = ellipse.covariance[np.ix_(known, known)]
    return inverse_root(S, ellipse.magnitude[known], model.n_rows).sphere


def _pow(term: float, power: float) -> float:
    try:
        return math.pow(term, power)
    except OverflowError:
        return math.inf


# As the searches raise terms to a power: NumPy's own may differ in the last digit.
_POWER: Any = np.frompyfunc(_pow, 2, 1)
