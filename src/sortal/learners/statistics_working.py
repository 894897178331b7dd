"""Classical statistics as the tables of a working. What cannot be said is empty, and says why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sortal.data.printing import agreed, counted
from sortal.learners.statistics import (
    box_m,
    canonical_statistics,
    count_parameters,
    geometry_of,
    wilks_tests,
)
from sortal.models.records import Table, unique

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal.learners.discriminant import ClassStatistics
    from sortal.learners.statistics import BoxM, CanonicalStatistics, Tested, Wilks
    from sortal.models.records import Cell

    Float = NDArray[np.float64]

BOX_HEADS = ("M", "χ²", "df", "p", "F", "df1", "df2", "p of F")


def linear_statistics_tables(stats: ClassStatistics, backend: str) -> list[Table]:
    """The canonical analysis of the rows as counted, and what compares covariances."""
    canonical = canonical_statistics(stats)
    tests = wilks_tests(stats, canonical)
    return [
        _eigenvalues(canonical, backend),
        _wilks(tests, backend),
        _manova(tests, backend),
        *_functions(canonical, stats.design.terms, backend),
        *_covariance_tables(stats, canonical.rank, backend),
    ]


def quadratic_statistics_tables(stats: ClassStatistics, backend: str) -> list[Table]:
    """What compares the covariances of the classes, and numbers of parameters."""
    geometry = geometry_of(stats)
    return _covariance_tables(stats, geometry.sphere.shape[1] + geometry.apart.shape[1], backend)


def explained(title: str, *why: str) -> str:
    """A title, and what a reader of empty cells should know."""
    reasons = dict.fromkeys(reason for reason in why if reason)
    return ". ".join([title, *(reason[0].upper() + reason[1:] for reason in reasons)])


def box_cells(box: BoxM) -> tuple[Cell, ...]:
    """M and its two tests, in the order of BOX_HEADS."""
    chi, f = box.chi_squared, box.f
    return (box.value, chi.value, chi.df, chi.p, f.value, f.df, f.df2, f.p)


def _eigenvalues(canonical: CanonicalStatistics, backend: str) -> Table:
    heads = ("function", "eigenvalue", "share", "cumulative", "canonical correlation")
    columns = (
        canonical.eigenvalues.tolist(),
        canonical.shares,
        canonical.cumulative,
        canonical.correlations.tolist(),
    )
    rows = [(i + 1, *cells) for i, cells in enumerate(zip(*columns, strict=True))]
    apart = canonical.n_apart
    infinite = f"{_counted(apart)} constant within classes: λ is infinite" if apart else ""
    several = "of several infinite ones no share is known" if apart > 1 else ""
    alike = "" if canonical.eigenvalues.any() else "all class means are equal: nothing to share"
    title = explained("Eigenvalues λ of W⁻¹B, rows as counted", infinite, several, alike)
    return Table("eigenvalues", title, heads, tuple(rows), "S 51", backend)


def _counted(n: int) -> str:
    return agreed(n, "the first function is", f"the first {n} functions are")


def _wilks(tests: Sequence[Wilks], backend: str) -> Table:
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
    heads = ("functions", "Λ", "χ²", "df", "p")
    return Table("wilks", title, heads, tuple(rows), "S 51", backend)


def _manova(tests: Sequence[Wilks], backend: str) -> Table:
    rao: list[tuple[Wilks, Tested]] = [(test, test.rao) for test in tests if test.rao is not None]
    rows = [(test.value, f.value, f.df, f.df2, f.p) for test, f in rao]
    question = "Rao's F of Wilks' Λ: null hypothesis, all class means are equal"
    title = explained(question, *(f.why for _, f in rao))
    heads = ("Λ", "F", "df1", "df2", "p")
    return Table("manova", title, heads, tuple(rows), "S 51", backend)


def _functions(canonical: CanonicalStatistics, terms: Sequence[str], backend: str) -> list[Table]:
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
    groups = [str(label) for label in canonical.classes]
    return [
        _matrix(
            ("standardized", explained("Coefficients of terms with variance 1 within", empty)),
            ("term", *heads),
            terms,
            canonical.standardized,
            backend,
        ),
        _matrix(
            ("structure", explained("Correlations of terms and functions within", empty, still)),
            ("term", *heads),
            terms,
            canonical.structure,
            backend,
        ),
        _matrix(
            ("centroids", explained("Functions at the class means, 0 at the mean of all", empty)),
            ("class", *heads),
            groups,
            canonical.centroids,
            backend,
        ),
    ]


def _matrix(
    named: tuple[str, str], heads: tuple[str, ...], down: Sequence[str], matrix: Float, backend: str
) -> Table:
    """A matrix with empty cells where there is no number."""
    rows: list[tuple[Cell, ...]] = [
        (name, *(None if np.isnan(x) else x for x in row))
        for name, row in zip(down, matrix.tolist(), strict=True)
    ]
    return Table(*named, unique(heads), tuple(rows), "S 53", backend)


def _covariance_tables(stats: ClassStatistics, rank: int, backend: str) -> list[Table]:
    """Determinants, Box's M, and numbers of parameters over so many directions."""
    box = box_m(stats)
    return [
        _determinants(stats, box, backend),
        _box(box, backend),
        _parameters(len(box.classes), rank, backend),
    ]


def _determinants(stats: ClassStatistics, box: BoxM, backend: str) -> Table:
    rows: list[tuple[Cell, ...]] = [
        (str(label), r, log)
        for label, r, log in zip(box.classes, box.ranks, box.log_determinants, strict=True)
    ]
    rows.append(("pooled", box.rank, box.pooled))
    tied = (
        f"of {len(stats.center)} terms that vary along {box.rank} directions within classes, the "
        "product of the eigenvalues that are not zero"
        if box.rank < len(stats.center)
        else ""
    )
    short = any(r < box.rank for r in box.ranks)
    singular = "a class that varies along fewer directions has the determinant 0" if short else ""
    title = explained("ln det Σ, by class and pooled by n - 1", tied, singular)
    return Table("determinants", title, ("class", "rank", "ln det"), tuple(rows), "S 52", backend)


def _box(box: BoxM, backend: str) -> Table:
    question = "Box's M: null hypothesis, all classes have the same covariance"
    title = explained(question, box.chi_squared.why, box.f.why)
    return Table("box_m", title, BOX_HEADS, (box_cells(box),), "S 52", backend)


def _parameters(n_classes: int, rank: int, backend: str) -> Table:
    both = count_parameters(n_classes, rank)
    rows = tuple((made.model, made.estimated, made.in_boundaries) for made in both)
    told = counted(n_classes, "class", "classes"), counted(rank, "direction")
    title = f"Numbers of parameters: {', '.join(told)}"
    heads = ("discriminant", "estimated", "in boundaries")
    return Table("parameters", title, heads, rows, "S 53", backend)
