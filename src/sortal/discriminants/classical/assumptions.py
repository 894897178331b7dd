"""Assumptions of Gaussian discriminants, tested: equal covariances, normality, separability.

Rows with missing values are dropped. Numbers are tested as they are; categories stand as
indicators, which are never normal, so that only separability and one comparison of covariances
look at them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import chdtrc, ndtr

from sortal.data.columns import MISSING, UNKNOWN, Design, Schema
from sortal.data.table import LARGEST, infinite, too_large
from sortal.decision.geometry import survey
from sortal.discriminants.classical.separability import (
    MOST_PROGRAMS,
    Separation,
    centered,
    separate,
    shared_rows,
)
from sortal.discriminants.classical.statistics import BOX_HEADS, box_cells, box_m, explained
from sortal.discriminants.statistics import ClassStatistics, without_rounding
from sortal.engines import total
from sortal.errors import LabelError, MissingValueError, counted
from sortal.records.tables import Working, table_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sortal._typing import Codes, Counts, Float, Mask, Places
    from sortal.data.columns import Values
    from sortal.data.sources import Batch
    from sortal.records.tables import Cell, Table


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
    categories: Codes
    codes: Places
    left_out: Counts = total()
    missing: Counts = total()
    unknown: Counts = total()


def read_rows(design: Design) -> Callable[[Batch], LabeledRows]:
    """A pass: the complete rows, of a design with its classes."""
    columns = design.schema.columns

    def read(batch: Batch) -> LabeledRows:
        codes = _classes(design, batch)
        numbers = np.column_stack([np.empty((batch.n_rows, 0)), *design.number_arrays(batch)])
        for j, column in zip(design.numbers, numbers.T, strict=True):
            if (np.abs(column) > LARGEST).any():
                name = columns[j].name
                raise infinite(name) if np.isinf(column).any() else too_large(name)
        words = design.code_arrays(batch).T
        missing = np.zeros((batch.n_rows, len(columns)), dtype=bool)
        unknown = np.zeros_like(missing)
        missing[:, design.numbers] = np.isnan(numbers)
        missing[:, design.categories] = words == MISSING
        unknown[:, design.categories] = words == UNKNOWN
        keep = ~(missing | unknown).any(axis=1)
        return LabeledRows(
            numbers[keep],
            words[keep],
            codes[keep],
            np.bincount(codes[~keep], minlength=len(design.schema.classes)),
            missing.sum(axis=0),
            unknown.sum(axis=0),
        )

    return read


def _classes(design: Design, batch: Batch) -> Places:
    classes, labels = design.schema.classes, batch.labels()
    codes = labels.recode({label: k for k, label in enumerate(classes)})
    if (codes < 0).any():
        strange = labels.values[labels.codes[codes < 0][0]]
        raise LabelError(
            f"y holds {strange!r}, which is no class of the fit ({classes!r}): give the rows "
            "that were fitted, or others of the same classes."
        )
    return codes.astype(np.intp)


def refuse_none_left(rows: LabeledRows) -> None:
    """Something must be left to test."""
    if not len(rows.codes):
        raise MissingValueError(
            f"No row is left to check: each of the {counted(int(rows.left_out.sum()), 'row')} has "
            "a missing value or a value never seen at fit. Fill them, or leave columns with many "
            "missing values out."
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


def statistics_of(X: Float, codes: Places, design: Design) -> ClassStatistics:
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


# --- Tests of assumptions as the tables of a working: what is asked, what is found, and limits ---

# Pairs of classes that are looked at one by one.
MOST_PAIRS = 5_000

_MANY_ROWS = "with many rows a tiny deviation is significant, with few rows a large one is not"

_NORMAL = "Null hypothesis, the rows of a class are normal"


def show_assumptions(rows: LabeledRows, design: Design) -> Working:
    """Rows, covariances, normality, columns, separability."""
    tables = (
        _rows(rows, design),
        _covariances(rows, design),
        _normality(rows, design),
        _columns(rows, design),
        _separability(rows, design),
    )
    return Working("What Gaussian discriminants assume", tables)


def _rows(rows: LabeledRows, design: Design) -> Table:
    classes = design.schema.classes
    used = np.bincount(rows.codes, minlength=len(classes))
    cells = zip(map(str, classes), used, rows.left_out, strict=True)
    out = int(rows.left_out.sum())
    few = f"{out} of {out + len(rows.codes)} have a missing or unknown value and are left out"
    title = explained("Rows that are tested", few if out else "")
    return table_of("rows", title, ("class", "rows", "left out"), cells, "")


def _covariances(rows: LabeledRows, design: Design) -> Table:
    question = "Box's M: null hypothesis, all classes have the same covariance"
    doubt = f"{_MANY_ROWS}; rows that are not normal make M large, too"
    title = explained(question, doubt)
    found: list[tuple[Cell, ...]] = []
    if design.numbers:
        found.append(_box("number columns", rows.numbers, rows, numbers_only(design)))
    if design.categories:
        what, X = "all columns, categories as indicators", terms_of(rows, design)
        if X is None:
            nothing = (None,) * len(BOX_HEADS)
            found.append((what, *nothing, f"not tried: {_too_wide(rows, design)}"))
        else:
            found.append(_box(what, X, rows, design))
    heads = ("compared", *BOX_HEADS, "note")
    return table_of("covariances", title, heads, found, "S 52")


def _too_wide(rows: LabeledRows, design: Design) -> str:
    return f"{len(rows.codes)} rows × {design.n_terms} terms are more than {MOST_TERM_CELLS}"


def _box(what: str, X: Float, rows: LabeledRows, design: Design) -> tuple[Cell, ...]:
    box = box_m(statistics_of(X, rows.codes, design))
    why = dict.fromkeys(reason for reason in (box.chi_squared.why, box.f.why) if reason)
    return (what, *box_cells(box), "; ".join(why))


def _normality(rows: LabeledRows, design: Design) -> Table:
    classes = design.schema.classes
    question = f"Mardia's skewness and kurtosis: {_NORMAL.lower()}"
    words = "" if design.numbers else "there is no number column to test"
    title = explained(question, _MANY_ROWS, _not_tested(design), words)
    found: list[tuple[Cell, ...]] = []
    if design.numbers:
        rank = box_m(statistics_of(rows.numbers, rows.codes, numbers_only(design))).rank
        for k in present_classes(rows, classes):
            m = mardia(rows.numbers[rows.codes == k], rank)
            skewed = (m.skewness, m.chi_squared, m.df, m.p_skewness)
            tailed = (m.kurtosis, m.deviate, m.p_kurtosis)
            found.append((str(classes[k]), m.n, m.rank, *skewed, *tailed, m.why))
    heads = ("class", "rows", "directions", "skewness", "χ²", "df", "p of skewness", "kurtosis")
    more = ("z", "p of kurtosis", "note")
    return table_of("normality", title, (*heads, *more), found, "S 54")


def _not_tested(design: Design) -> str:
    names = [design.schema.columns[j].name for j in design.categories]
    listed = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return f"categories are not normal and not tested: {listed}" if names else ""


def _columns(rows: LabeledRows, design: Design) -> Table:
    question = f"Each number column, test of D'Agostino and Pearson: {_NORMAL.lower()} in it"
    several = "of 100 tests of normal rows, about 5 have p < 0.05"
    title = explained(question, _MANY_ROWS, several, _not_tested(design))
    classes, found = design.schema.classes, []
    for k in present_classes(rows, classes):
        mine = rows.numbers[rows.codes == k]
        for place, j in enumerate(design.numbers):
            s = shape_of(mine[:, place])
            name = design.schema.columns[j].name
            cells = (s.n, s.skewness, s.excess, s.chi_squared, s.p, s.why)
            found.append((str(classes[k]), name, *cells))
    heads = ("class", "column", "rows", "skewness", "excess kurtosis", "χ²", "p", "note")
    return table_of("columns", title, heads, found, "S 54")


# --- Separability --------------------------------------------------------------------------------


def _separability(rows: LabeledRows, design: Design) -> Table:
    question = (
        "Is there a plane between two classes, and one linear function a class that tells all rows"
    )
    unit = (
        "margin: how far apart they are along the direction found, which need not be the best, in "
        "standard deviations within classes"
    )
    title = explained(question + "?", unit).replace("?.", "?")
    heads = ("class", "against", "rows", "separable", "margin", "how")
    X = terms_of(rows, design)
    if X is None:
        cells = ("all", "at once", len(rows.codes), "not tried", None, _too_wide(rows, design))
        return table_of("separability", title, heads, [cells], "S 55")
    found = _pairs_and_all(X, rows, design)
    return table_of("separability", title, heads, found, "S 55")


def _pairs_and_all(X: Float, rows: LabeledRows, design: Design) -> list[tuple[Cell, ...]]:
    classes, here = design.schema.classes, present_classes(rows, design.schema.classes)
    groups = {k: X[rows.codes == k] for k in here}
    shared = shared_rows(X, rows.codes, len(classes))
    left, answers, cells = MOST_PROGRAMS, [], []
    pairs = list(combinations(here, 2))
    for k, other in pairs if len(pairs) <= MOST_PAIRS else []:
        answer = _pair(groups[k], groups[other], left, meet=bool(shared[k, other]))
        left -= answer.programs
        answers.append(answer)
        n = len(groups[k]) + len(groups[other])
        cells.append(_answered((str(classes[k]), str(classes[other]), n), answer))
    if len(pairs) > MOST_PAIRS:
        words = f"{len(pairs)} pairs are more than {MOST_PAIRS}"
        cells.append(_answered(("each", "each other", len(X)), Separation(None, words)))
    whole = _all_at_once(list(groups.values()), answers, left, shared)
    return [*cells, _answered(("all", "at once", len(X)), whole)]


def _answered(what: tuple[Cell, ...], answer: Separation) -> tuple[Cell, ...]:
    word = {True: "yes", False: "no", None: "not tried"}[answer.separable]
    return (*what, word, answer.margin, answer.how)


def _pair(first: Float, second: Float, left: int, *, meet: bool) -> Separation:
    if meet:
        return Separation(separable=False, how="a row of one equals a row of the other")
    return separate([first, second], left)


def _all_at_once(
    groups: Sequence[Float], pairs: Sequence[Separation], left: int, shared: Mask
) -> Separation:
    """A machine for all classes has a plane between any two."""
    if len(groups) == 2 and pairs:
        return pairs[0]
    if any(pair.separable is False for pair in pairs):
        return Separation(separable=False, how="there is no plane between some pairs")
    if np.triu(shared, 1).any():
        return Separation(separable=False, how="a row of one class equals a row of another")
    return separate(groups, left)
