"""Classical statistics of discriminants, from class statistics alone.

Rows are counted as they are: neither priors nor shrinkage take part. With g classes that have rows,
n rows and p terms (where terms are tied, p is the rank: directions along which anything varies).
"""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import qr
from scipy.special import chdtrc, fdtrc

from sortal.decision.geometry import survey
from sortal.discriminants.statistics import eigenvectors, oriented
from sortal.errors import agreed, counted
from sortal.records.tables import sheet, table_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal._typing import Float
    from sortal.data.columns import Values
    from sortal.decision.geometry import Geometry
    from sortal.discriminants.statistics import ClassStatistics
    from sortal.records.tables import Cell, Table


NO_SIZES = "the moments were given as exact, without numbers of rows"


@dataclass(frozen=True)
class Tested:
    """A statistic, its degrees of freedom (two where it is an F) and p-value.

    Where a test cannot be made, its numbers are None, and `why` says why not.
    """

    value: float | None = None
    df: float | None = None
    df2: float | None = None
    p: float | None = None
    why: str = ""


@dataclass(frozen=True)
class Wilks:
    """Λ of the functions from `first` on, Bartlett's test of it and, for all functions, Rao's."""

    first: int
    value: float
    bartlett: Tested
    rao: Tested | None = None


@dataclass(frozen=True, eq=False)
class CanonicalStatistics:
    """Canonical functions: their eigenvalues, best first, and what they are made of.

    The matrices have a column for each function along which the class means differ, NaN in the
    first `n_apart`: these are constant within classes, so that nothing is left to measure them by.
    """

    classes: Values
    rank: int
    n_apart: int
    eigenvalues: Float
    shares: tuple[float | None, ...]
    cumulative: tuple[float | None, ...]
    correlations: Float
    standardized: Float
    structure: Float
    centroids: Float


@dataclass(frozen=True)
class BoxM:
    """Box's M, its tests, and the logarithms of the determinants: by class, and pooled."""

    classes: Values
    ranks: tuple[int, ...]
    rank: int
    log_determinants: tuple[float | None, ...]
    pooled: float | None
    value: float | None
    chi_squared: Tested
    f: Tested


@dataclass(frozen=True)
class Parameters:
    """How many numbers a model estimates, and how many its boundaries have."""

    model: str
    estimated: int
    in_boundaries: int


def freedom(stats: ClassStatistics) -> Float:
    """n_k - 1 of the classes that have rows; of exact moments, which have no sizes, their shares.

    Only the ratios count of the latter: they are the weights of the classes in what is pooled.
    """
    here = stats.present
    return np.asarray(stats.weight[here] if stats.exact else np.maximum(stats.rows[here] - 1, 0.0))


# --- Canonical functions -------------------------------------------------------------------------


def canonical_statistics(stats: ClassStatistics) -> CanonicalStatistics:
    """Standardized coefficients, structure and centroids of functions a with aᵀΣa = 1. (S 53)

    Σ is the pooled covariance W / (n - g): coefficients a_j √Σ_jj, correlations (Σa)_j / √Σ_jj
    between term and function within classes, centroids aᵀ(μ_k - μ).
    """
    geometry = stats.geometry
    directions, found = eigenvectors(geometry, stats.between)
    here, divisor = stats.present, stats.pooled_divisor("unbiased")
    rank, n_apart = geometry.sphere.shape[1] + geometry.apart.shape[1], geometry.apart.shape[1]
    eigenvalues = np.zeros(min(rank, int(here.sum()) - 1))
    eigenvalues[: len(found)] = found[: len(eigenvalues)]
    raw = oriented(directions, stats.gap) * np.sqrt(divisor)
    raw[:, :n_apart] = np.nan
    deviation = np.sqrt(np.diag(stats.within) / divisor)
    fixed = np.diag(stats.within) == 0
    unit = np.where(fixed, 1.0, deviation)[:, None]
    structure = _times(stats.within / divisor / unit, raw)
    structure[fixed] = np.nan
    shares, cumulative = _shares(eigenvalues)
    return CanonicalStatistics(
        classes=tuple(c for c, there in zip(stats.classes, here, strict=True) if there),
        rank=rank,
        n_apart=n_apart,
        eigenvalues=eigenvalues,
        shares=shares,
        cumulative=cumulative,
        correlations=_correlations(eigenvalues),
        standardized=deviation[:, None] * raw,
        structure=structure,
        centroids=_times((stats.gap - stats.mean)[here], raw),
    )


def _times(left: Float, right: Float) -> Float:
    """A product in which columns that are not numbers stay by themselves."""
    return np.column_stack([left @ column for column in right.T] or [np.empty((len(left), 0))])


def _correlations(eigenvalues: Float) -> Float:
    """√(λ / (1 + λ)), 1 where λ is infinite."""
    finite = np.where(np.isinf(eigenvalues), 0.0, eigenvalues)
    return np.where(np.isinf(eigenvalues), 1.0, np.sqrt(finite / (1 + finite)))


def _shares(eigenvalues: Float) -> tuple[tuple[float | None, ...], tuple[float | None, ...]]:
    """Each in the sum, and added up. Infinite ones have all of it; of several, none knows how much.

    Where all are zero there is nothing to share.
    """
    n_infinite, total = int(np.isinf(eigenvalues).sum()), eigenvalues.sum()
    if n_infinite > 1:
        rest = len(eigenvalues) - n_infinite
        unknown: tuple[float | None, ...] = (None,) * n_infinite
        return unknown + (0.0,) * rest, (*unknown[1:], 1.0) + (1.0,) * rest
    if n_infinite == 1:
        eigenvalues, total = np.isinf(eigenvalues).astype(float), 1.0
    if total == 0:
        return (None,) * len(eigenvalues), (None,) * len(eigenvalues)
    so_far = np.cumsum(eigenvalues)
    return tuple((eigenvalues / total).tolist()), tuple((so_far / so_far[-1]).tolist())


# --- Wilks' Λ ------------------------------------------------------------------------------------


def wilks_tests(stats: ClassStatistics, canonical: CanonicalStatistics) -> list[Wilks]:
    """Λ_i = Π_{j≥i} 1 / (1 + λ_j) of the functions from the i-th on. (S 51)

    Bartlett: -(n - 1 - (p + g) / 2) ln Λ_i is about χ² with (p - i + 1)(g - i) degrees of freedom.
    """
    p, g = canonical.rank, len(canonical.classes)
    n = None if stats.exact else float(stats.rows.sum())
    tests = []
    for i in range(len(canonical.eigenvalues)):
        log_value = -float(np.log1p(canonical.eigenvalues[i:]).sum())
        why = _untested(n, p, g)
        bartlett = rao = Tested(why=why)
        if n is not None and not why:
            df = (p - i) * (g - i - 1)
            bartlett = _chi_squared(-(n - 1 - (p + g) / 2) * log_value, df)
            rao = _rao(log_value, p, g - 1, n - g)
        tests.append(Wilks(i + 1, float(np.exp(log_value)), bartlett, None if i else rao))
    return tests


def _untested(n: float | None, p: int, g: int) -> str:
    if n is None:
        return f"{NO_SIZES}: nothing can be tested"
    if n - g < p:
        return (
            f"{n:g} rows of {g} classes leave {max(n - g, 0):g} degrees of freedom for {p} "
            "directions: with so few rows Λ is 0 whatever the classes are, and tests nothing"
        )
    return ""


def _chi_squared(value: float, df: float) -> Tested:
    return Tested(value + 0.0, df, None, float(chdtrc(df, max(value, 0.0))))


def _rao(log_value: float, p: int, q: int, df_within: float) -> Tested:
    """Rao's F of ln Λ, exact for two or three classes and for one or two terms."""
    squares = p**2 + q**2 - 5
    t = np.sqrt(((p * q) ** 2 - 4) / squares) if squares > 0 else 1.0
    df1, df2 = p * q, float((df_within - (p - q + 1) / 2) * t - (p * q - 2) / 2)
    if df2 <= 0:
        return Tested(df=df1, df2=df2, why="too few rows for Rao's F")
    value = float(np.expm1(-log_value / t) * df2 / df1)
    return Tested(value, df1, df2, _f_tail(df1, df2, value))


def _f_tail(df1: float, df2: float, value: float) -> float:
    """P(F > value)."""
    return 0.0 if np.isinf(value) else float(fdtrc(df1, df2, max(value, 0.0)))


# --- Box's M -------------------------------------------------------------------------------------


def box_m(stats: ClassStatistics) -> BoxM:
    """M = Σ ν_k (ln det Σ - ln det Σ_k) with ν_k = n_k - 1: are the covariances equal? (S 52)

    Σ pools the Σ_k by ν_k, whatever the weights of the classes. Everything is compared along the
    directions that vary within classes, in coordinates where Σ is the identity, so that units
    cannot overflow.
    """
    here, nu = stats.present, freedom(stats)
    classes = tuple(c for c, there in zip(stats.classes, here, strict=True) if there)
    share = nu / nu.sum() if nu.sum() > 0 else nu
    own = stats.own_scatter[here] / stats.class_divisors("unbiased")[here, None, None]
    pooled = np.einsum("k,kij->ij", share, own)
    magnitude = np.abs(stats.means[here]).max(axis=0)
    nothing = np.zeros((1, len(magnitude)))
    geometry = survey(pooled, nothing, magnitude)
    rank = geometry.sphere.shape[1]
    sizes = zip(own, np.abs(stats.means[here]), strict=True)
    ranks = tuple(survey(S, nothing, size).sphere.shape[1] for S, size in sizes)
    level = _log_determinant(geometry) if rank else None
    relative = [
        _relative(geometry.sphere.T @ S @ geometry.sphere) if r == rank > 0 else None
        for S, r in zip(own, ranks, strict=True)
    ]
    logs = tuple(None if x is None or level is None else level + x for x in relative)
    why = _incomparable(stats, classes, ranks, rank)
    if not why and None in logs:
        why = "a covariance is too near to a singular one for its determinant to be known"
    if why:
        return BoxM(classes, ranks, rank, logs, level, None, Tested(why=why), Tested(why=why))
    M = -float(nu @ np.array(relative, dtype=np.float64))
    return BoxM(classes, ranks, rank, logs, level, M, *_box_tests(M, nu, rank))


def _log_determinant(geometry: Geometry) -> float:
    """ln det Σ; where terms are tied, the product of the eigenvalues that are not zero.

    sphere sphereᵀ is the (pseudo-)inverse. Rows are sorted by size, which keeps the small ones'
    digits in a QR whatever the units of the columns are.
    """
    order = np.argsort(-np.abs(geometry.sphere).max(axis=1))
    R = qr(geometry.sphere[order], mode="r", pivoting=True)[0]
    return -2 * float(np.log(np.abs(np.diag(R))).sum())


def _relative(C: Float) -> float | None:
    """ln det C of a covariance seen where the pooled one is the identity."""
    diagonal = np.diag(C)
    if (diagonal <= 0).any():
        return None
    sign, log = np.linalg.slogdet(C / np.sqrt(np.outer(diagonal, diagonal)))
    return float(log + np.log(diagonal).sum()) if sign > 0 else None


def _incomparable(
    stats: ClassStatistics, classes: Values, ranks: tuple[int, ...], rank: int
) -> str:
    """Why there is no M."""
    if len(classes) == 1:
        return "there is one class only: nothing to compare"
    if rank == 0:
        return "nothing varies within the classes"
    singular = [k for k, r in enumerate(ranks) if r < rank]
    if singular:
        k = singular[0]
        rows = "" if stats.exact else f", with {_rows_text(stats.rows[stats.present][k])},"
        more = f" (and {len(singular) - 1} more)" if len(singular) > 1 else ""
        return (
            f"class {classes[k]!r}{rows} varies along {ranks[k]} of {counted(rank, 'direction')} "
            f"only{more}: its determinant is 0"
        )
    return f"{NO_SIZES}: nothing can be tested" if stats.exact else ""


def _box_tests(M: float, nu: Float, p: int) -> tuple[Tested, Tested]:
    """Box's approximations by χ² and by F, as in his paper of 1949."""
    g, total = len(nu), nu.sum()
    c1 = (1 / nu).sum() - 1 / total
    c1 *= (2 * p**2 + 3 * p - 1) / (6 * (p + 1) * (g - 1))
    c2 = ((1 / nu**2).sum() - 1 / total**2) * (p - 1) * (p + 2) / (6 * (g - 1))
    df = p * (p + 1) * (g - 1) // 2
    few = "the classes have too few rows for Box's approximation"
    chi = _chi_squared(M * float(1 - c1), df) if c1 < 1 else Tested(df=df, why=few)
    gap = float(c2 - c1**2)
    if gap == 0:
        return chi, Tested(df=df, why="the F approximation has no second degree of freedom here")
    df2 = (df + 2) / abs(gap)
    value = None
    if gap > 0 and 1 - c1 - df / df2 > 0:
        value = M * float(1 - c1 - df / df2) / df
    elif gap < 0 and 1 - c1 + 2 / df2 > 0:
        b = df2 / float(1 - c1 + 2 / df2)
        value = df2 * M / (df * (b - M)) if b > M else None
    if value is None:
        return chi, Tested(df=df, df2=df2, why=few)
    return chi, Tested(value, df, df2, _f_tail(df, df2, value))


# --- Parameters ----------------------------------------------------------------------------------


def count_parameters(n_classes: int, rank: int) -> tuple[Parameters, Parameters]:
    """Of the linear and of the quadratic discriminant, over p directions. (S 53)

    Estimated: K - 1 priors, K means, and one covariance or K. In the boundaries: K - 1 functions.
    """
    K, p = n_classes, rank
    common, one = K - 1 + K * p, p * (p + 1) // 2
    linear = Parameters("linear", common + one, (K - 1) * (p + 1))
    quadratic = Parameters("quadratic", common + K * one, (K - 1) * (p * (p + 3) // 2 + 1))
    return linear, quadratic


def _rows_text(n: float) -> str:
    return f"{n:g} {agreed(n, 'row', 'rows')}"


# --- As the tables of a working. What cannot be said is empty, and says why ----------------------

BOX_HEADS = ("M", "χ²", "df", "p", "F", "df1", "df2", "p of F")


def linear_statistics_tables(stats: ClassStatistics) -> list[Table]:
    """The canonical analysis of the rows as counted, and what compares covariances."""
    canonical = canonical_statistics(stats)
    return [
        _eigenvalues(canonical),
        *_wilks(wilks_tests(stats, canonical)),
        *_functions(canonical, stats.design.terms),
        *_covariance_tables(stats, canonical.rank),
    ]


def quadratic_statistics_tables(stats: ClassStatistics) -> list[Table]:
    """What compares the covariances of the classes, and numbers of parameters."""
    geometry = stats.geometry
    return _covariance_tables(stats, geometry.sphere.shape[1] + geometry.apart.shape[1])


def explained(title: str, *why: str) -> str:
    """A title, and what a reader of empty cells should know."""
    reasons = dict.fromkeys(reason for reason in why if reason)
    return ". ".join([title, *(reason[0].upper() + reason[1:] for reason in reasons)])


def box_cells(box: BoxM) -> tuple[Cell, ...]:
    """M and its two tests, in the order of BOX_HEADS."""
    chi, f = box.chi_squared, box.f
    return (box.value, chi.value, chi.df, chi.p, f.value, f.df, f.df2, f.p)


def _eigenvalues(canonical: CanonicalStatistics) -> Table:
    heads = ("function", "eigenvalue", "share", "cumulative", "canonical correlation")
    n, apart = len(canonical.eigenvalues), canonical.n_apart
    made = canonical.eigenvalues, canonical.shares, canonical.cumulative, canonical.correlations
    infinite = f"{_counted(apart)} constant within classes: λ is infinite" if apart else ""
    several = "of several infinite ones no share is known" if apart > 1 else ""
    alike = "" if canonical.eigenvalues.any() else "all class means are equal: nothing to share"
    title = explained("Eigenvalues λ of W⁻¹B, rows as counted", infinite, several, alike)
    rows = zip(range(1, n + 1), *made, strict=True)
    return table_of("eigenvalues", title, heads, rows, "S 51")


def _counted(n: int) -> str:
    return agreed(n, "the first function is", f"the first {n} functions are")


def _wilks(tests: Sequence[Wilks]) -> list[Table]:
    """Bartlett's tests, and Rao's of all functions."""
    rows: list[tuple[Cell, ...]] = []
    for test in tests:
        names = f"{test.first} to {len(tests)}" if test.first < len(tests) else str(test.first)
        bartlett = test.bartlett
        rows.append((names, test.value, bartlett.value, bartlett.df, bartlett.p))
    question = (
        "Wilks' Λ of the functions from one on, Bartlett's test: null hypothesis, the class means "
        "are equal along all of them"
    )
    title = explained(question, *(test.bartlett.why for test in tests))
    rao = [(test.value, test.rao) for test in tests if test.rao is not None]
    all_alike = "Rao's F of Wilks' Λ: null hypothesis, all class means are equal"
    of_rao = explained(all_alike, *(f.why for _, f in rao))
    cells = ((value, f.value, f.df, f.df2, f.p) for value, f in rao)
    return [
        table_of("wilks", title, ("functions", "Λ", "χ²", "df", "p"), rows, "S 51"),
        table_of("manova", of_rao, ("Λ", "F", "df1", "df2", "p"), cells, "S 51"),
    ]


def _functions(canonical: CanonicalStatistics, terms: Sequence[str]) -> list[Table]:
    """Coefficients, correlations and centroids, a column for each function."""
    apart, n = canonical.n_apart, canonical.standardized.shape[1]
    empty = (
        f"{_counted(apart)} constant within classes, without a scale or correlations"
        if apart
        else ""
    )
    heads = tuple(f"function {i + 1}" for i in range(n))
    fixed = np.isnan(canonical.structure[:, apart:]).any() if n > apart else False
    still = "a term that is constant within classes has no correlations" if fixed else ""
    scaled = explained("Coefficients of terms with variance 1 within", empty)
    together = explained("Correlations of terms and functions within", empty, still)
    means = explained("Functions at the class means, 0 at the mean of all", empty)
    classes = map(str, canonical.classes)
    return [
        sheet("standardized", scaled, {"term": terms, heads: canonical.standardized}, "S 53"),
        sheet("structure", together, {"term": terms, heads: canonical.structure}, "S 53"),
        sheet("centroids", means, {"class": classes, heads: canonical.centroids}, "S 53"),
    ]


def _covariance_tables(stats: ClassStatistics, rank: int) -> list[Table]:
    """Determinants, Box's M, and numbers of parameters over so many directions."""
    box, p = box_m(stats), len(stats.center)
    tied = (
        f"of {p} terms that vary along {box.rank} directions within classes, the "
        "product of the eigenvalues that are not zero"
        if box.rank < p
        else ""
    )
    short = any(r < box.rank for r in box.ranks)
    singular = "a class that varies along fewer directions has the determinant 0" if short else ""
    of_logs = explained("ln det Σ, by class and pooled by n - 1", tied, singular)
    logs = [
        *zip(map(str, box.classes), box.ranks, box.log_determinants, strict=True),
        ("pooled", box.rank, box.pooled),
    ]
    question = "Box's M: null hypothesis, all classes have the same covariance"
    of_box = explained(question, box.chi_squared.why, box.f.why)
    n = len(box.classes)
    told = f"{counted(n, 'class', 'classes')}, {counted(rank, 'direction')}"
    heads = ("discriminant", "estimated", "in boundaries")
    models = map(astuple, count_parameters(n, rank))
    return [
        table_of("determinants", of_logs, ("class", "rank", "ln det"), logs, "S 52"),
        table_of("box_m", of_box, BOX_HEADS, [box_cells(box)], "S 52"),
        table_of("parameters", f"Numbers of parameters: {told}", heads, models, "S 53"),
    ]
