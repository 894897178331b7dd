"""What Gaussian discriminants assume, tested on rows: equal covariances, normality, separability.

Rows with holes are left out. Numbers are tested as they are; categories are told by indicators,
which are never normal, so that only separability and one comparison of covariances looks at them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import chdtrc, ndtr

from sortal.data.arrays import LARGEST, infinite, too_large
from sortal.data.columns import HOLE, UNKNOWN
from sortal.data.design import Design
from sortal.data.printing import counted
from sortal.data.schema import Schema
from sortal.errors import LabelError, MissingValueError
from sortal.learners.discriminant import ClassStatistics, without_rounding
from sortal.learners.separability import centered
from sortal.models.geometry import survey

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal.data.batch import Batch
    from sortal.data.values import Values

    Float = NDArray[np.float64]
    Codes = NDArray[np.intp]
    Counts = NDArray[np.int64]

# Products of one test of skewness: rows × directions³. Beyond, it is not made.
MOST_PRODUCTS = 30_000_000_000
# Below this, D'Agostino's approximation of the skewness does not hold.
FEWEST_ROWS = 8
# Numbers of a table in which categories stand as indicators.
MOST_TERM_CELLS = 50_000_000


# --- Rows ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LabeledRows:
    """Complete rows: numbers, category codes, class codes; by column what was not known."""

    numbers: Float
    categories: NDArray[np.int32]
    codes: Codes
    left_out: Counts
    holes: Counts
    unknown: Counts


@dataclass(frozen=True, eq=False)
class ReadRows:
    """Block → LabeledRows, of a design with its classes."""

    design: Design

    def __call__(self, batch: Batch) -> LabeledRows:
        """Read one block."""
        columns = self.design.schema.columns
        codes = self._classes(batch)
        numbers = np.column_stack([np.empty((batch.n_rows, 0)), *self.design.number_arrays(batch)])
        for j, column in zip(self.design.numbers, numbers.T, strict=True):
            if (np.abs(column) > LARGEST).any():
                name = columns[j].name
                raise infinite(name) if np.isinf(column).any() else too_large(name)
        words = self.design.code_arrays(batch).T
        missing = np.zeros((batch.n_rows, len(columns)), dtype=bool)
        unknown = np.zeros_like(missing)
        missing[:, self.design.numbers] = np.isnan(numbers)
        missing[:, self.design.categories] = words == HOLE
        unknown[:, self.design.categories] = words == UNKNOWN
        keep = ~(missing | unknown).any(axis=1)
        return LabeledRows(
            numbers[keep],
            words[keep],
            codes[keep],
            np.bincount(codes[~keep], minlength=len(self.design.schema.classes)),
            missing.sum(axis=0),
            unknown.sum(axis=0),
        )

    def _classes(self, batch: Batch) -> Codes:
        classes, labels = self.design.schema.classes, batch.labels()
        codes = labels.recode({label: k for k, label in enumerate(classes)})
        if (codes < 0).any():
            strange = labels.values[labels.codes[codes < 0][0]]
            raise LabelError(
                f"y holds {strange!r}, which is no class of the fit ({classes!r}): give the rows "
                "that were fitted, or others of the same classes."
            )
        return codes.astype(np.intp)


def gather_rows(blocks: Sequence[LabeledRows]) -> LabeledRows:
    """Blocks as one."""
    return LabeledRows(
        np.concatenate([block.numbers for block in blocks]),
        np.concatenate([block.categories for block in blocks]),
        np.concatenate([block.codes for block in blocks]),
        np.sum([block.left_out for block in blocks], axis=0),
        np.sum([block.holes for block in blocks], axis=0),
        np.sum([block.unknown for block in blocks], axis=0),
    )


def refuse_none_left(rows: LabeledRows) -> None:
    """Something must be left to test."""
    if not len(rows.codes):
        raise MissingValueError(
            f"No row is left to check: each of the {counted(int(rows.left_out.sum()), 'row')} has "
            "a hole or a value never seen at fit. Fill them, or leave columns with many holes out."
        )


def terms_of(rows: LabeledRows, design: Design) -> Float | None:
    """All terms of the rows, categories as indicators; None where that is too large."""
    n = len(rows.codes)
    if not design.categories:
        return rows.numbers
    if n * design.n_terms > MOST_TERM_CELLS:
        return None
    X = np.zeros((n, design.n_terms))
    for place, j in enumerate(design.numbers):
        X[:, np.flatnonzero(design.owner == j)] = rows.numbers[:, [place]]
    for place, j in enumerate(design.categories):
        start = int(np.flatnonzero(design.owner == j)[0])
        X[np.arange(n), start + rows.categories[:, place]] = 1.0
    return X


def statistics_of(X: Float, codes: Codes, design: Design) -> ClassStatistics:
    """Class statistics of rows in memory."""
    K, p = len(design.schema.classes), X.shape[1]
    center = X.mean(axis=0)
    gap, scatter = np.zeros((K, p)), np.zeros((K, p, p))
    for k in np.unique(codes):
        mine = X[codes == k]
        z, way = centered(mine)
        gap[k] = (mine[0] - center) + way
        scatter[k] = z.T @ z
    sizes = np.bincount(codes, minlength=K).astype(np.float64)
    third, fourth = np.full((K, p), np.nan), np.full(K, np.nan)
    return without_rounding(
        ClassStatistics(design, sizes, sizes, center, gap, scatter, third, fourth)
    )


def numbers_only(design: Design) -> Design:
    """The design of the number columns."""
    columns = tuple(design.schema.columns[j] for j in design.numbers)
    return Design(Schema(columns, design.schema.classes))


# --- Normality -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mardia:
    """Skewness and kurtosis of a class, each with its test; None where `why` says so."""

    n: int
    rank: int
    skewness: float | None = None
    chi_squared: float | None = None
    df: int | None = None
    p_skewness: float | None = None
    kurtosis: float | None = None
    deviate: float | None = None
    p_kurtosis: float | None = None
    why: str = ""


def mardia(X: Float, rank: int) -> Mardia:
    """Mardia's multivariate skewness b1 = Σ_ij (z_iᵀS⁻¹z_j)³ / n² and kurtosis b2. (S 54)

    n b1 / 6 is about χ² with p(p + 1)(p + 2) / 6 degrees of freedom, and b2 = Σ (z_iᵀS⁻¹z_i)² / n
    about normal with mean p(p + 2) and variance 8p(p + 2) / n. `rank` is p: along how many
    directions the classes vary.
    """
    n, p = len(X), rank
    if p == 0 or n <= p:
        why = (
            f"{counted(n, 'row')} for {counted(p, 'direction')}"
            if p
            else "nothing varies within the classes"
        )
        return Mardia(n, p, why=why)
    Y = _sphered(X)
    if Y.shape[1] != p:
        return Mardia(
            n, p, why=f"the class varies along {Y.shape[1]} of {counted(p, 'direction')} only"
        )
    kurtosis = float(((Y * Y).sum(axis=1) ** 2).mean())
    deviate = (kurtosis - p * (p + 2)) / np.sqrt(8 * p * (p + 2) / n)
    p_kurtosis = float(2 * ndtr(-abs(deviate)))
    skewness = chi = df = p_skewness = None
    why = ""
    if n * p**3 <= MOST_PRODUCTS:
        skewness = _third_moments(Y)
        chi, df = n * skewness / 6, p * (p + 1) * (p + 2) // 6
        p_skewness = float(chdtrc(df, chi))
    else:
        why = f"skewness not tried: {n} rows × {p}³ is beyond {MOST_PRODUCTS:.0e} products"
    return Mardia(n, p, skewness, chi, df, p_skewness, kurtosis, float(deviate), p_kurtosis, why)


def _sphered(X: Float) -> Float:
    """Rows less their mean, in coordinates where their covariance (by n) is the identity."""
    z, _ = centered(X)
    magnitude = np.sqrt(len(X)) * np.abs(X).max(axis=0)
    sphere = survey(z.T @ z, np.zeros((1, X.shape[1])), magnitude).sphere
    return np.asarray(z @ sphere * np.sqrt(len(X)))


def _third_moments(Y: Float) -> float:
    """Σ_abc (mean of y_a y_b y_c)², which is the mean of (y_iᵀy_j)³ over all pairs of rows.

    Each triple is summed once, with its smallest coordinate first, and counted as often as it can
    be ordered.
    """
    total = 0.0
    for a in range(Y.shape[1]):
        rest = Y[:, a:]
        squares = ((rest * rest[:, :1]).T @ rest / len(Y)) ** 2
        total += float(squares[0, 0] + 3 * squares[0, 1:].sum() + 3 * squares[1:, 1:].sum())
    return total


@dataclass(frozen=True)
class Shape:
    """Skewness, excess kurtosis and the test of both, of one column in one class."""

    n: int
    skewness: float | None = None
    excess: float | None = None
    chi_squared: float | None = None
    p: float | None = None
    why: str = ""


def shape_of(x: Float) -> Shape:
    """g1 = m3 / m2^1.5 and g2 = m4 / m2² - 3, tested together by D'Agostino and Pearson. (S 54)"""
    n = len(x)
    if n == 0 or x.min() == x.max():
        return Shape(n, why="constant" if n > 1 else "too few rows")
    z, _ = centered(x)
    z /= np.abs(z).max()  # powers of small numbers would vanish
    m2, m3, m4 = (float((z**power).mean()) for power in (2, 3, 4))
    skewness, excess = m3 / m2**1.5, m4 / m2**2 - 3
    if n < FEWEST_ROWS:
        return Shape(n, skewness, excess, why=f"fewer than {FEWEST_ROWS} rows: not tested")
    chi = _skewness_deviate(skewness, n) ** 2 + _kurtosis_deviate(excess + 3, n) ** 2
    return Shape(n, skewness, excess, chi, float(np.exp(-chi / 2)))


def _skewness_deviate(skewness: float, n: int) -> float:
    """D'Agostino (1970): about standard normal where the rows are normal."""
    y = skewness * np.sqrt((n + 1) * (n + 3) / (6.0 * (n - 2)))
    beta = 3.0 * (n * n + 27 * n - 70) * (n + 1) * (n + 3)
    beta /= (n - 2.0) * (n + 5) * (n + 7) * (n + 9)
    w2 = np.sqrt(2 * (beta - 1)) - 1
    return float(np.arcsinh(y / np.sqrt(2 / (w2 - 1))) / np.sqrt(0.5 * np.log(w2)))


def _kurtosis_deviate(kurtosis: float, n: int) -> float:
    """Anscombe and Glynn (1983): about standard normal where the rows are normal."""
    variance = 24.0 * n * (n - 2) * (n - 3) / ((n + 1.0) ** 2 * (n + 3) * (n + 5))
    x = (kurtosis - 3.0 * (n - 1) / (n + 1)) / np.sqrt(variance)
    root = 6.0 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9))
    root *= np.sqrt(6.0 * (n + 3) * (n + 5) / (n * (n - 2.0) * (n - 3)))
    a = 6 + 8 / root * (2 / root + np.sqrt(1 + 4 / root**2))
    inner = (1 - 2 / a) / (1 + x * np.sqrt(2 / (a - 4)))
    return float((1 - 2 / (9 * a) - np.cbrt(inner)) / np.sqrt(2 / (9 * a)))


def present_classes(rows: LabeledRows, classes: Values) -> list[int]:
    """The classes that have rows, by number."""
    return [k for k, n in enumerate(np.bincount(rows.codes, minlength=len(classes))) if n]
