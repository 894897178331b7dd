"""Explanations of nearest neighbors: who they are, how far, and what they vote."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from sortal.data.columns import MISSING
from sortal.decision.posterior import decide, expected_costs, shares_of_votes
from sortal.errors import counted
from sortal.records.render import decision_text, moment_text, number_text
from sortal.records.tables import Explanation, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sortal._typing import Codes, Counts, Float
    from sortal.data.columns import Value, Values
    from sortal.neighbors.model import NeighborsModel
    from sortal.neighbors.votes import FoundNeighbors
    from sortal.records.tables import Cell


# --- Neighbors in words: who decided, and in what each of them differs ---------------------------

# Columns in which a neighbor differs that its line names.
_MOST_NAMED = 3


def title(model: NeighborsModel, rows: FoundNeighbors, i: int, label: int, why: str) -> str:
    """Who decided, in words."""
    labels = model.labels[rows.found(i).positions]
    counts = np.bincount(labels, minlength=len(model.classes)).tolist()
    votes = rows.votes[i].tolist()
    said = f"{model.classes[label]} ({why}): {_count_neighbors(model.classes, counts)}"
    if not sum(votes):
        return f"{said}; nobody votes, and the prior stands"
    if counts == votes:
        return said
    cast = [f"{number_text(v)} for {c}" for c, v in _ranked(model.classes, votes)]
    return f"{said}; votes: {', '.join(cast)}"


def _count_neighbors(classes: Values, counts: list[int]) -> str:
    """5 neighbors, 3 of them versicolor, 2 virginica."""
    n = sum(counts)
    if not n:
        return "no neighbors"
    (first, most), *others = [(_called(label), m) for label, m in _ranked(classes, counts)]
    if n == 1:
        return f"1 neighbor, {first}"
    share = most if others else "all"
    rest = [f"{m} {label}" for label, m in others]
    return ", ".join([counted(n, "neighbor"), f"{share} of them {first}", *rest])


def _called(label: Value) -> str:
    """A class as one would say it after a number."""
    text = str(label)
    return text if text[:1].isalpha() and not isinstance(label, bool) else f"of class {text}"


def _ranked(classes: Values, amounts: Sequence[float]) -> list[tuple[Value, float]]:
    """Classes with an amount, the largest first."""
    pairs = [(label, a) for label, a in zip(classes, amounts, strict=True) if a]
    return sorted(pairs, key=lambda pair: -pair[1])


def difference(parts: Sequence[DistancePart]) -> str:
    """The columns with the largest shares, and those that are left out."""
    apart = sorted((p for p in parts if p.share), key=lambda p: -p.share)
    named, others = apart[:_MOST_NAMED], apart[_MOST_NAMED:]
    said = [
        f"{p.attribute} {_here(p)} / {number_text(p.neighbor_value)} ({p.share:.0%})" for p in named
    ]
    if others:
        said.append(f"{len(others)} more ({sum(p.share for p in others):.0%})")
    text = ", ".join(said) or "nothing"
    for mark in ("missing", "unknown"):
        silent = [p.attribute for p in parts if p.mark == mark and not p.share]
        text += f"; {mark}: {_some(silent)}" if silent else ""
    return text


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join([*names[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])])


def _here(part: DistancePart) -> str:
    text = number_text(part.value)
    return f"{text} ({part.mark})" if part.mark else text


# --- What each column adds to the distance of two rows -------------------------------------------

_LAST_DIGITS = 4 * float(np.finfo(float).eps)


class DistanceColumn(NamedTuple):
    """A column that counts in distances: its place among the numbers, or among the codes."""

    j: int
    place: int
    is_number: bool


def counted_columns(model: NeighborsModel) -> tuple[DistanceColumn, ...]:
    """The columns that count, in the order of the table."""
    numbers = model.measured, model.used_numbers, True
    others = model.named, model.used_codes, False
    found = [
        DistanceColumn(columns[place], place, is_number)
        for columns, used, is_number in (numbers, others)
        for place in np.flatnonzero(used).tolist()
    ]
    return tuple(sorted(found))


@dataclass(frozen=True, eq=False)
class Amounts:
    """What each column that counts adds to the keys of rows; NaN where a cell is missing.

    `sums` are the sums of a row's amounts, or the largest where the power is infinite; keys are
    sums stretched from the columns `known` in both rows to all.
    """

    by_column: Float
    sums: Float
    known: Counts
    keys: Float
    largest: bool

    def shares(self, distances: Float) -> Float:
        """a_j / Σ a of each row, 0 for what is missing and where the distance is 0. (S 83)

        Of an infinite power, the first column that has the largest amount has all of it.
        """
        amounts = np.nan_to_num(self.by_column)
        if self.largest:
            shares = np.zeros_like(amounts)
            shares[np.arange(len(amounts)), amounts.argmax(axis=1)] = distances > 0
            return shares
        apart = (distances > 0) & (self.sums > 0)
        return np.where(apart[:, None], amounts / np.where(apart, self.sums, 1.0)[:, None], 0.0)


def column_amounts(model: NeighborsModel, x: Float, codes: Codes, positions: Counts) -> Amounts:
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
    return Amounts(by_column, sums, known, sums * stretch, largest)


def _number_amounts(model: NeighborsModel, x: Float, positions: Counts) -> Float:
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


def _code_amounts(model: NeighborsModel, codes: Codes, positions: Counts) -> Float:
    """[x_j ≠ t_j]: 1 where values differ, 0 where they do not. (MSML hamming), (S 73)"""
    theirs = model.codes[positions]
    amounts: Float = (theirs != codes).astype(np.float64)
    amounts[(theirs == MISSING) | (codes == MISSING)] = np.nan
    return amounts


def _ellipse_amounts(model: NeighborsModel, x: Float, positions: Counts) -> Float:
    """z_j (S⁻¹ z)_j with z = x − t, which add up to zᵀ S⁻¹ z; some may be negative. (S 74)

    S is that of the columns which the query has.
    """
    known = ~np.isnan(x)
    z = x[known] - model.numbers[positions][:, known].astype(np.float64)
    ellipse = model.ellipse
    assert ellipse is not None  # noqa: S101  (asked of such models only)
    root = ellipse.inverse_root(known, model.n_rows)
    amounts = np.full((len(positions), len(x)), np.nan)
    # row by row in one order: a product of matrices may round rows of one block differently
    whitened = np.einsum("ij,jk->ik", z, root)
    digits = len(x) * _LAST_DIGITS * np.einsum("ij,jk->ik", np.abs(z), np.abs(root))
    whitened[np.abs(whitened) <= digits] = 0.0  # along what never varies there is rounding only
    amounts[:, known] = z * np.einsum("ik,jk->ij", whitened, root) + 0.0  # no zero has a sign
    return amounts


def _pow(term: float, power: float) -> float:
    try:
        return math.pow(term, power)
    except OverflowError:
        return math.inf


# As the searches raise terms to a power: NumPy's own may differ in the last digit.
_POWER: Any = np.frompyfunc(_pow, 2, 1)

Mark = Literal["", "missing", "unknown"]


class DistancePart(NamedTuple):
    """A column, its values in both rows, and its share of their distance.

    A column is marked missing where one of the rows has no value, and is then left out of the
    distance; unknown where no row of the fit has the value.
    """

    attribute: str
    value: Value | None
    neighbor_value: Value | None
    share: float
    mark: Mark = ""


# --- Making them ---------------------------------------------------------------------------------


def explain(
    model: NeighborsModel, rows: FoundNeighbors, costs: Float | None
) -> Callable[[int], Explanation]:
    """Row number → its explanation."""
    shares = shares_of_votes(rows.votes, model.prior)
    labels = decide(shares, costs)

    def explain_row(i: int) -> Explanation:
        label, expected = int(labels[i]), expected_costs(shares[i], costs)
        others = [k for k in range(len(model.classes)) if k != label]
        against = max(others, key=shares[i].__getitem__) if others else None
        said = title(model, rows, i, label, decision_text(shares[i, label], label, expected))
        near: list[tuple[Cell, ...]] = []
        by_column: list[tuple[Cell, ...]] = []
        for row, parts in _neighbors(model, rows, i):
            of, name, distance, *_, vote = row
            near.append((of, name, distance, vote, difference(parts)))
            by_column += [(*row, *part) for part in parts]
        return Explanation(
            label=model.classes[label],
            against=None if against is None else model.classes[against],
            classes=model.classes,
            total=sum(line[3] for line in near),  # type: ignore[misc]
            parts=Table("neighbors", said, _HEADS, tuple(near), "S 78"),
            amount="vote",
            facts={
                "posterior": tuple(shares[i].tolist()),
                "votes": tuple(rows.votes[i].tolist()),
                "expected_costs": expected,
                "k": model.k,
                "weights": model.weighting,
                "metric": model.metric,
                "shares": Table("shares", said, _COLUMN_HEADS, tuple(by_column), "S 83"),
            },
        )

    return explain_row


_HEADS = ("id", "class", "distance", "vote", "differs in: here / there (share)")

_COLUMN_HEADS = (
    *("id", "class", "distance", "part", "kernel", "vote"),
    *("attribute", "value", "neighbor value", "share", "mark"),
)


def _neighbors(
    model: NeighborsModel, polled: FoundNeighbors, i: int
) -> Iterator[tuple[tuple[Cell, ...], list[DistancePart]]]:
    """A row of the fit, whose vote is part · kernel · factor of its class, and its columns.

    `part` is how many of the k places it fills, `kernel` what a vote counts at its distance.
    """
    found = polled.found(i)
    x, codes = polled.queries.numbers[i], polled.queries.codes[i]
    shares = column_amounts(model, x, codes, found.positions).shares(found.distances)
    columns = counted_columns(model)
    for row, at in enumerate(found.positions.tolist()):
        label, parts = int(model.labels[at]), zip(columns, shares[row].tolist(), strict=True)
        part, kernel = float(found.part[row]), float(found.kernel[row])
        vote = part * kernel * float(model.class_factors[label])
        front = int(model.ids[at]), model.classes[label], float(found.distances[row])
        told = [_part(model, polled, i, at, column, share) for column, share in parts]
        yield (*front, part, kernel, vote), told


def _part(
    model: NeighborsModel,
    polled: FoundNeighbors,
    i: int,
    at: int,
    column: DistanceColumn,
    share: float,
) -> DistancePart:
    """One column of a query and of the row at a position."""
    kind, place = model.schema.columns[column.j].kind, column.place
    mark: Mark = ""
    if column.is_number:
        here, there = polled.queries.numbers[i, place], model.numbers[at, place]
        value = None if np.isnan(here) else as_given(float(here), kind)
        other = None if np.isnan(there) else as_given(float(there), kind)
    else:
        code, word = int(model.codes[at, place]), polled.words[i, place]
        value = None if word is None else as_given(word, kind)
        other = None if code < 0 else as_given(model.values[place][code], kind)
        mark = "unknown" if polled.queries.codes[i, place] < 0 else ""
    if value is None or other is None:
        mark = "missing"
    return DistancePart(model.schema.columns[column.j].name, value, other, share, mark)


def as_given(value: Value, kind: str) -> Value:
    """Days are shown as the date or time they are."""
    return moment_text(float(value)) if kind == "date" else value
