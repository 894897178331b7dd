"""Why nearest neighbors decided as they did: who they are, how far, and what they vote."""

from __future__ import annotations

from dataclasses import asdict, astuple, dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sortal.models.decision import expected_costs
from sortal.models.faces import moment_text
from sortal.models.neighbors_parts import column_amounts, counted_columns
from sortal.models.neighbors_text import difference, title
from sortal.models.records import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.data.values import Value, Values
    from sortal.models.neighbors import NeighborsModel
    from sortal.models.neighbors_parts import Counted
    from sortal.models.neighbors_polled import Polled
    from sortal.models.records import Cell

    Float = NDArray[np.float64]

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


@dataclass(frozen=True, eq=False)
class ExplainNeighbors:
    """Row number → its explanation."""

    model: NeighborsModel
    rows: Polled
    shares: Float
    labels: NDArray[np.intp]
    costs: Float | None

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
            expected_costs=expected_costs(self.shares[i], self.costs),
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
