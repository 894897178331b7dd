"""Why nearest neighbors decided as they did: who they are, how far, and what they vote."""

from __future__ import annotations

from dataclasses import asdict, astuple, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sortal.models.faces import moment_text, number_text
from sortal.models.neighbors_parts import column_amounts, counted_columns
from sortal.models.records import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal.data.values import Value, Values
    from sortal.models.neighbors import NeighborsModel
    from sortal.models.neighbors_parts import Counted
    from sortal.models.neighbors_polled import Polled
    from sortal.models.records import Cell

    Float = NDArray[np.float64]

Mark = Literal["", "missing", "unknown"]

# Columns in which a neighbor differs that its line names.
_MOST_NAMED = 3


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
    shares of `parts` add up to 1, unless the distance is 0.
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
    prior.
    """

    label: Value
    classes: Values
    posterior: tuple[float, ...]
    votes: tuple[float, ...]
    neighbors: tuple[Neighbor, ...]
    k: int
    weights: str
    metric: str

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and strings, ready for JSON."""
        return {
            "label": self.label,
            "classes": list(self.classes),
            "posterior": list(self.posterior),
            "votes": list(self.votes),
            "k": self.k,
            "weights": self.weights,
            "metric": self.metric,
            "neighbors": [asdict(neighbor) for neighbor in self.neighbors],
        }

    def to_table(self, backend: str = "pandas") -> Table:
        """One line a neighbor: its distance and vote, and the columns in which it differs most."""
        rows: list[tuple[Cell, ...]] = [
            (n.id, n.label, n.distance, n.vote, _difference(n.parts)) for n in self.neighbors
        ]
        columns = ("id", "class", "distance", "vote", "differs in: here / there (share)")
        return Table("neighbors", self._told(), columns, tuple(rows), "S 78", backend)

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
        return Table("parts", self._told(), heads, tuple(rows), "S 85", backend)

    def __str__(self) -> str:
        return str(self.to_table())

    def _told(self) -> str:
        """Who decided, in words."""
        share = self.posterior[self.classes.index(self.label)]
        said = f"{self.label} (P = {share:.4g}): {_count_neighbors(self)}"
        if not sum(self.votes):
            return f"{said}; nobody votes, and the prior stands"
        counts = [float(_count(self, label)) for label in self.classes]
        if counts == list(self.votes):
            return said
        cast = [f"{c} {number_text(v)}" for c, v in _ranked(self.classes, self.votes)]
        return f"{said}; votes: {', '.join(cast)}"


def _count(made: NeighborsExplanation, label: Value) -> int:
    return sum(neighbor.label == label for neighbor in made.neighbors)


def _count_neighbors(made: NeighborsExplanation) -> str:
    """5 neighbors, 3 of them versicolor, 2 virginica."""
    n = len(made.neighbors)
    if not n:
        return "no neighbors"
    pairs = _ranked(made.classes, [_count(made, label) for label in made.classes])
    (first, most), *others = pairs
    if n == 1:
        return f"1 neighbor, of class {first}"
    if not others:
        return f"{n} neighbors, all of them {first}"
    return ", ".join(
        [f"{n} neighbors", f"{most} of them {first}", *(f"{m} {label}" for label, m in others)]
    )


def _ranked(classes: Values, amounts: Sequence[float]) -> list[tuple[Value, float]]:
    """Classes with an amount, the largest first."""
    pairs = [(label, a) for label, a in zip(classes, amounts, strict=True) if a]
    return sorted(pairs, key=lambda pair: -pair[1])


def _difference(parts: Sequence[DistancePart]) -> str:
    """The columns with the largest shares, and those that are left out."""
    apart = sorted((p for p in parts if p.share), key=lambda p: -p.share)
    named, others = apart[:_MOST_NAMED], apart[_MOST_NAMED:]
    said = [
        f"{p.attribute} {_here(p)} / {number_text(p.neighbor_value)} ({p.share:.0%})" for p in named
    ]
    if others:
        said.append(f"{len(others)} more ({sum(p.share for p in others):.0%})")
    silent = [f"{p.attribute} ({p.mark})" for p in parts if p.mark and not p.share]
    if len(silent) > _MOST_NAMED:
        silent = [*silent[:_MOST_NAMED], f"{len(silent) - _MOST_NAMED} more"]
    text = ", ".join(said) or "nothing"
    return f"{text}; without {', '.join(silent)}" if silent else text


def _here(part: DistancePart) -> str:
    text = number_text(part.value)
    return f"{text} ({part.mark})" if part.mark else text


# --- Making them ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ExplainNeighbors:
    """Row number → its explanation."""

    model: NeighborsModel
    rows: Polled
    shares: Float
    labels: NDArray[np.intp]

    def __call__(self, i: int) -> NeighborsExplanation:
        """Explain one row."""
        model, polled = self.model, self.rows
        return NeighborsExplanation(
            label=model.classes[int(self.labels[i])],
            classes=model.classes,
            posterior=tuple(self.shares[i].tolist()),
            votes=tuple(polled.votes[i].tolist()),
            neighbors=tuple(_neighbors(model, polled, i)),
            k=model.k,
            weights=model.weighting,
            metric=model.metric,
        )


def _neighbors(model: NeighborsModel, polled: Polled, i: int) -> list[Neighbor]:
    found = polled.found(i)
    x, codes = polled.queries.numbers[i], polled.queries.codes[i]
    shares = column_amounts(model, x, codes, found.positions).shares(found.distances)
    columns = counted_columns(model)
    made = []
    for row, at in enumerate(found.positions.tolist()):
        label, parts = int(model.labels[at]), zip(columns, shares[row].tolist(), strict=True)
        part, kernel = float(found.part[row]), float(found.kernel[row])
        made.append(
            Neighbor(
                id=int(model.ids[at]),
                label=model.classes[label],
                distance=float(found.distances[row]),
                part=part,
                kernel=kernel,
                vote=part * kernel * float(model.class_factors[label]),
                parts=tuple(_part(model, polled, i, at, c, share) for c, share in parts),
            )
        )
    return made


def _part(
    model: NeighborsModel, polled: Polled, i: int, at: int, column: Counted, share: float
) -> DistancePart:
    """One column of a query and of the row at a position."""
    kind, place = model.schema.columns[column.j].kind, column.place
    mark: Mark = ""
    if column.is_number:
        here, there = polled.queries.numbers[i, place], model.numbers[at, place]
        value = None if np.isnan(here) else as_given(float(here), kind)
        other = None if np.isnan(there) else as_given(float(there), kind)
    else:
        code, word = int(model.codes[at, place]), polled.words[place][i]
        value = None if word is None else as_given(word, kind)
        other = None if code < 0 else as_given(model.values[place][code], kind)
        mark = "unknown" if polled.queries.codes[i, place] < 0 else ""
    if value is None or other is None:
        mark = "missing"
    return DistancePart(model.schema.columns[column.j].name, value, other, share, mark)


def as_given(value: Value, kind: str) -> Value:
    """Days are shown as the date or time they are."""
    return moment_text(float(value)) if kind == "date" else value
