"""Tests of assumptions as the tables of a working: what is asked, what is found, and limits."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from sortal.learners.assumptions import (
    MOST_TERM_CELLS,
    mardia,
    numbers_only,
    present_classes,
    shape_of,
    statistics_of,
    terms_of,
)
from sortal.learners.separability import MOST_PROGRAMS, Separation, separate, shared_rows
from sortal.learners.statistics import box_m
from sortal.learners.statistics_working import BOX_HEADS, box_cells, explained
from sortal.models.records import Table, Working

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal.data.design import Design
    from sortal.learners.assumptions import LabeledRows
    from sortal.models.records import Cell

    Float = NDArray[np.float64]

# Pairs of classes that are looked at one by one.
MOST_PAIRS = 5_000

_MANY_ROWS = "with many rows a tiny deviation is significant, with few rows a large one is not"
_NORMAL = "Null hypothesis, the rows of a class are normal"


def show_assumptions(rows: LabeledRows, design: Design, backend: str) -> Working:
    """Rows, covariances, normality, columns, separability."""
    tables = (
        _rows(rows, design, backend),
        _covariances(rows, design, backend),
        _normality(rows, design, backend),
        _columns(rows, design, backend),
        _separability(rows, design, backend),
    )
    return Working("What Gaussian discriminants assume", tables)


def _rows(rows: LabeledRows, design: Design, backend: str) -> Table:
    classes = design.schema.classes
    used = np.bincount(rows.codes, minlength=len(classes))
    pairs = zip(classes, used.tolist(), rows.left_out.tolist(), strict=True)
    cells = tuple((str(label), n, out) for label, n, out in pairs)
    out = int(rows.left_out.sum())
    few = f"{out} of {out + len(rows.codes)} have a hole or an unknown value and are left out"
    title = explained("Rows that are tested", few if out else "")
    return Table("rows", title, ("class", "rows", "left out"), cells, "", backend)


def _covariances(rows: LabeledRows, design: Design, backend: str) -> Table:
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
    return Table("covariances", title, heads, tuple(found), "S 52", backend)


def _too_wide(rows: LabeledRows, design: Design) -> str:
    return f"{len(rows.codes)} rows × {design.n_terms} terms are more than {MOST_TERM_CELLS}"


def _box(what: str, X: Float, rows: LabeledRows, design: Design) -> tuple[Cell, ...]:
    box = box_m(statistics_of(X, rows.codes, design))
    why = dict.fromkeys(reason for reason in (box.chi_squared.why, box.f.why) if reason)
    return (what, *box_cells(box), "; ".join(why))


def _normality(rows: LabeledRows, design: Design, backend: str) -> Table:
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
    return Table("normality", title, (*heads, *more), tuple(found), "S 54", backend)


def _not_tested(design: Design) -> str:
    names = [design.schema.columns[j].name for j in design.categories]
    listed = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return f"categories are not normal and not tested: {listed}" if names else ""


def _columns(rows: LabeledRows, design: Design, backend: str) -> Table:
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
    return Table("columns", title, heads, tuple(found), "S 54", backend)


# --- Separability --------------------------------------------------------------------------------


def _separability(rows: LabeledRows, design: Design, backend: str) -> Table:
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
        return Table("separability", title, heads, (cells,), "S 55", backend)
    found = _pairs_and_all(X, rows, design)
    return Table("separability", title, heads, tuple(found), "S 55", backend)


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
    groups: Sequence[Float], pairs: Sequence[Separation], left: int, shared: NDArray[np.bool_]
) -> Separation:
    """A machine for all classes has a plane between any two."""
    if len(groups) == 2 and pairs:
        return pairs[0]
    if any(pair.separable is False for pair in pairs):
        return Separation(separable=False, how="there is no plane between some pairs")
    if np.triu(shared, 1).any():
        return Separation(separable=False, how="a row of one class equals a row of another")
    return separate(groups, left)
