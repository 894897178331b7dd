"""A tree in the plane of two attributes: the boxes of its leaves and the cuts between them.

All is read from an estimator's rules, and from the parents in its table of nodes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np

from sortal.data.table import read_table
from sortal.errors import ColumnError, OptionError, listed
from sortal.models.conditions import Interval
from sortal.views.fitted import attribute
from sortal.views.rows import choose_columns, split_labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sortal.data.table import Table
    from sortal.models.conditions import Condition

    Side = tuple[float, float]
    Box = tuple[Side, Side]

_WHOLE: Side = (-math.inf, math.inf)


class Region(NamedTuple):
    """A box, the class that is said in it, and its name; a side may be open (infinite)."""

    low1: float
    high1: float
    low2: float
    high2: float
    label: Any
    name: str


class Cut(NamedTuple):
    """The line from (x1, y1) to (x2, y2) by which a node at some depth parts its region in two."""

    x1: float
    y1: float
    x2: float
    y2: float
    node: int
    depth: int


class TreePlane:
    """What a fitted tree looks like where all attributes but two are held fixed."""

    def __init__(self, estimator: Any) -> None:
        rules = attribute(estimator, "rules")()
        self._leaves = list(rules)
        # rows that a node keeps; with them the rules cover the plane
        self._kept = list(rules.unlisted)
        self._parents: list[int] = nw.from_native(estimator.to_frame())["parent"].to_list()
        self.columns = _fitted_columns(estimator)

    def choose(self, X: Any, y: Any, features: Sequence[Any] | None) -> list[int]:
        """Two columns of numbers in X: those named, or such as the tree asks, or the first."""
        table = read_table(split_labels(X, y)[0])
        told = table.names if table.has_names else self.columns
        self._has_no_names = not table.has_names
        if features is None:
            features = self._default(table, told)
        places = choose_columns(table, features, 2)
        self.names = [told[j] for j in places]
        self._refuse_strange_names()
        return places

    def _default(self, table: Table, told: Sequence[str]) -> list[int] | None:
        """Two numbers, such as the tree asks before others."""
        cut = {c.attribute for c in self._conditions() if isinstance(c, Interval)}
        usable = set(self.columns) - self._words()
        numbers = [
            j
            for j in range(len(table.names))
            if table.column_schema(j).is_number and told[j] in usable
        ]
        asked_first = sorted(numbers, key=lambda j: told[j] not in cut)
        return sorted(asked_first[:2]) if len(numbers) >= 2 else None

    def _words(self) -> set[str]:
        """Attributes of which the tree asks single values."""
        return {c.attribute for c in self._conditions() if not isinstance(c, Interval)}

    def told(self, names: Sequence[str]) -> Sequence[str]:
        """Names for the axes: those of the table, or of the fit where it has none."""
        return self.names if self._has_no_names else names

    def read(self, at: Mapping[Any, Any] | None) -> tuple[list[Region], list[Cut]]:
        """Regions and cuts where the attributes that are not shown have the values of `at`."""
        self._fixed = {str(name): value for name, value in (at or {}).items()}
        self._refuse_strange_values()
        named = [(rule, f"leaf {rule.leaf}") for rule in self._leaves]
        named += [(rule, f"node {rule.leaf}") for rule in self._kept]
        regions = []
        for rule, name in named:
            if (box := self._box(rule.merged)) is not None:
                regions.append(Region(*box[0], *box[1], rule.label, name))
        return regions, self._cuts()

    def _cuts(self) -> list[Cut]:
        """The cuts that are met, each once; condition i of a path is asked by its i-th node."""
        found: dict[int, Cut] = {}
        for rule in [*self._leaves, *self._kept]:
            nodes = self._way(rule.leaf)
            for depth, condition in enumerate(rule.path):
                box = self._box(rule.path[:depth])
                if box is None:
                    break
                # a test whether a value is known parts no numbers
                if condition.attribute in self.names and _ends(condition):
                    found.setdefault(nodes[depth], self._cut(condition, box, nodes[depth], depth))
        return [found[t] for t in sorted(found)]

    def _cut(self, condition: Any, box: Box, node: int, depth: int) -> Cut:
        v = _ends(condition)[0]
        if condition.attribute == self.names[0]:
            return Cut(v, box[1][0], v, box[1][1], node, depth)
        return Cut(box[0][0], v, box[0][1], v, node, depth)

    def _box(self, conditions: Iterable[Condition]) -> Box | None:
        """Where conditions hold in the plane; None if what is fixed does not meet them."""
        sides = [_WHOLE, _WHOLE]
        for condition in conditions:
            if condition.attribute not in self.names:
                if not _holds(condition, self._fixed[condition.attribute]):
                    return None
            elif isinstance(condition, Interval):
                i = self.names.index(condition.attribute)
                sides[i] = max(sides[i][0], condition.low), min(sides[i][1], condition.high)
                if sides[i][0] >= sides[i][1]:  # only holes come here
                    return None
        return sides[0], sides[1]

    def note(self) -> str:
        """What the plane cannot show: rows with holes may go elsewhere than those beside them."""
        told = {c.attribute for c in self._conditions() if c.told} & set(self.names)
        return "known values only" if told else ""

    def _way(self, t: int) -> list[int]:
        """The nodes from the root to node t."""
        nodes = [t]
        while (above := self._parents[nodes[-1]]) >= 0:
            nodes.append(above)
        return nodes[::-1]

    def _conditions(self) -> Iterable[Condition]:
        return (c for rule in [*self._leaves, *self._kept] for c in rule.merged)

    def _refuse_strange_names(self) -> None:
        strange = [name for name in self.names if name not in self.columns]
        words = self._words() & set(self.names)
        if strange or words:
            told = strange or sorted(words)
            raise ColumnError(
                f"{listed(told)} is no number that this tree was fitted with: its columns are "
                f"{listed(self.columns)}. Name two columns of numbers."
            )

    def _refuse_strange_values(self) -> None:
        strange = [name for name in self._fixed if name not in self.columns]
        if strange:
            raise ColumnError(
                f"at names {listed(strange)}, which is no column of this tree: it has "
                f"{listed(self.columns)}."
            )
        if shown := [name for name in self._fixed if name in self.names]:
            raise OptionError(
                f"at fixes {listed(shown)}, which the picture shows: leave it out, or name other "
                "features."
            )
        asked = dict.fromkeys(c.attribute for c in self._conditions())
        if open_ := [name for name in asked if name not in self.names and name not in self._fixed]:
            raise OptionError(
                f"This tree also asks {listed(open_)}, which the picture does not show: fix it by "
                f"at={{{open_[0]!r}: value}}, or fit with two columns only."
            )
        for name in asked:
            if name in self._fixed:
                self._refuse_strange_value(name, self._fixed[name])

    def _refuse_strange_value(self, name: str, value: Any) -> None:
        own = [c for c in self._conditions() if c.attribute == name]
        if isinstance(own[0], Interval):
            self._fixed[name] = _number(name, value, own[0].is_date)
            return
        values = dict.fromkeys(v for c in own for v in (*c.values, *c.against))  # type: ignore[union-attr]
        if value not in values:
            raise OptionError(
                f"at has {value!r} for {name!r}, which no row of the fit had: it can be "
                f"{listed(list(values))}."
            )


def _fitted_columns(estimator: Any) -> list[str]:
    given = getattr(estimator, "feature_names_in_", None)
    n = attribute(estimator, "n_features_in_")
    return [f"x{j}" for j in range(n)] if given is None else [str(name) for name in given]


def _holds(condition: Condition, value: Any) -> bool:
    if isinstance(condition, Interval):
        return bool(condition.low < value <= condition.high)
    return value in condition.values or (condition.others and value not in condition.against)


def _ends(condition: Condition) -> list[float]:
    """The ends of an interval that are numbers."""
    ends = [condition.low, condition.high] if isinstance(condition, Interval) else []
    return [end for end in ends if math.isfinite(end)]


def _number(name: str, value: Any, is_date: bool) -> float:
    try:
        if is_date:
            return float((np.datetime64(value) - np.datetime64(0, "s")) / np.timedelta64(1, "D"))
        found = float(value)
    except (TypeError, ValueError):
        found = math.nan
    if math.isnan(found):
        what = "date" if is_date else "number"
        raise OptionError(f"at has {value!r} for {name!r}: give a {what}.")
    return found
