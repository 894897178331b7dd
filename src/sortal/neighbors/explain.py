"""Explanations of nearest neighbors: who they are, how far, and what they vote."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict, astuple, dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from sortal.data.columns import MISSING
from sortal.decision.posterior import decide, expected_costs, shares_of_votes
from sortal.errors import counted
from sortal.records.render import decision_text, moment_text, number_text
from sortal.records.tables import Table

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


def title(made: NeighborsExplanation) -> str:
    """Who decided, in words."""
    label = made.classes.index(made.label)
    why = decision_text(made.posterior[label], label, made.expected_costs)
    said = f"{made.label} ({why}): {_count_neighbors(made)}"
    if not sum(made.votes):
        return f"{said}; nobody votes, and the prior stands"
    counts = Counter(neighbor.label for neighbor in made.neighbors)
    if [counts[label] for label in made.classes] == list(made.votes):
        return said
    cast = [f"{number_text(v)} for {c}" for c, v in _ranked(made.classes, made.votes)]
    return f"{said}; votes: {', '.join(cast)}"


def _count_neighbors(made: NeighborsExplanation) -> str:
    """5 neighbors, 3 of them versicolor, 2 virginica."""
    n = len(made.neighbors)
    if not n:
        return "no neighbors"
    counts = Counter(neighbor.label for neighbor in made.neighbors)
    pairs = _ranked(made.classes, [counts[label] for label in made.classes])
    (first, most), *others = [(_called(label), m) for label, m in pairs]
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


@dataclass(frozen=True)
class DistancePart:
    """A column, its values in both rows, and its share of their distance.

    A column is marked missing where one of the rows has no value, and is then left out of the
    distance; unknown where no row of the fit has the value.
    """

    attribute: str
    value: Value | None
    neighbor_value: Value | None
    share: float
    mark: Mark = ""


@dataclass(frozen=True)
class Neighbor:
    """A row of the fit: vote = part · kernel · factor of its class.

    `part` is how many of the k places it fills, `kernel` what a vote counts at its distance. The
    shares of `parts` add up to 1, unless the distance is 0 or rounding only.
    """

    id: int
    label: Value
    distance: float
    part: float
    kernel: float
    vote: float
    parts: tuple[DistancePart, ...]


@dataclass(frozen=True)
class NeighborsExplanation:
    """The votes of the neighbors add up to the votes by class, whose shares are the posterior.

    Neighbors come in the order of their distances. Where the votes are all 0, the posterior is the
    prior. `expected_costs` are those of predicting each class, of which the label has the least;
    None without costs.
    """

    label: Value
    classes: Values
    posterior: tuple[float, ...]
    votes: tuple[float, ...]
    neighbors: tuple[Neighbor, ...]
    k: int
    weights: str
    metric: str
    expected_costs: tuple[float, ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and strings, ready for JSON."""
        return {
            "label": self.label,
            "classes": list(self.classes),
            "posterior": list(self.posterior),
            "votes": list(self.votes),
            "expected_costs": self.expected_costs and list(self.expected_costs),
            "k": self.k,
            "weights": self.weights,
            "metric": self.metric,
            "neighbors": [asdict(neighbor) for neighbor in self.neighbors],
        }

    def to_table(self, backend: str = "pandas") -> Table:
        """One line a neighbor: its distance and vote, and the columns in which it differs most."""
        rows: list[tuple[Cell, ...]] = [
            (n.id, n.label, n.distance, n.vote, difference(n.parts)) for n in self.neighbors
        ]
        columns = ("id", "class", "distance", "vote", "differs in: here / there (share)")
        return Table("neighbors", title(self), columns, tuple(rows), "S 78", backend)

    def to_parts(self, backend: str = "pandas") -> Table:
        """One line for each column of each neighbor, with all numbers."""
        rows: list[tuple[Cell, ...]] = [
            (n.id, n.label, n.distance, n.part, n.kernel, n.vote, *astuple(p))
            for n in self.neighbors
            for p in n.parts
        ]
        of_neighbor = ("id", "class", "distance", "part", "kernel", "vote")
        of_column = ("attribute", "value", "neighbor value", "share", "mark")
        heads = (*of_neighbor, *of_column)
        return Table("parts", title(self), heads, tuple(rows), "S 83", backend)

    def __str__(self) -> str:
        return str(self.to_table())


# --- Making them ---------------------------------------------------------------------------------


def explain(
    model: NeighborsModel, rows: FoundNeighbors, costs: Float | None
) -> Callable[[int], NeighborsExplanation]:
    """Row number → its explanation."""
    shares = shares_of_votes(rows.votes, model.prior)
    labels = decide(shares, costs)

    def explain_row(i: int) -> NeighborsExplanation:
        return NeighborsExplanation(
            label=model.classes[int(labels[i])],
            classes=model.classes,
            posterior=tuple(shares[i].tolist()),
            votes=tuple(rows.votes[i].tolist()),
            neighbors=tuple(_neighbors(model, rows, i)),
            k=model.k,
            weights=model.weighting,
            metric=model.metric,
            expected_costs=expected_costs(shares[i], costs),
        )

    return explain_row


def _neighbors(model: NeighborsModel, polled: FoundNeighbors, i: int) -> Iterator[Neighbor]:
    found = polled.found(i)
    x, codes = polled.queries.numbers[i], polled.queries.codes[i]
    shares = column_amounts(model, x, codes, found.positions).shares(found.distances)
    columns = counted_columns(model)
    for row, at in enumerate(found.positions.tolist()):
        label, parts = int(model.labels[at]), zip(columns, shares[row].tolist(), strict=True)
        part, kernel = float(found.part[row]), float(found.kernel[row])
        yield Neighbor(
            id=int(model.ids[at]),
            label=model.classes[label],
            distance=float(found.distances[row]),
            part=part,
            kernel=kernel,
            vote=part * kernel * float(model.class_factors[label]),
            parts=tuple(_part(model, polled, i, at, c, share) for c, share in parts),
        )


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
