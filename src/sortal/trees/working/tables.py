"""Tests of a node as tables: Figures 19.2 and 19.3 and Tables 19.1 and 19.2 in numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from sortal.errors import agreed
from sortal.native.trees import CUT, SUBSET
from sortal.records.tables import Table, unique
from sortal.trees.branches import set_text, threshold_text
from sortal.trees.split_scores import CRITERIA_BY_NAME

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal._typing import Counts, Float
    from sortal.data.columns import Values
    from sortal.native.trees import ColumnTests
    from sortal.records.tables import Cell
    from sortal.trees.working.candidates import NodeTests
    from sortal.trees.working.node_rows import Attribute

    Int64 = Counts
    Column = tuple[str, Sequence[Cell]]


# Of more values than this, those outside V are not named.
_MOST_NAMED = 10


class CandidateTables:
    """Tests of a node → tables."""

    def __init__(self, tests: NodeTests, classes: Values) -> None:
        self._tests = tests
        self._labels = [str(label) for label in classes]

    def of_attribute(self, j: int, name: str, values_name: str) -> list[Table]:
        """The tests of attribute j, and before sets V a table of its values."""
        kind = self._tests.attributes[j].kind
        if kind == CUT:
            return [self._cuts(j, name)]
        if kind == SUBSET:
            return [self._values(j, values_name), self._sets(j, name)]
        return [self._branches(j, name)]

    def offers(self) -> Table:
        """The best test of each attribute, in the order of the choice; last those without one."""
        found = self._tests.found

        def place(j: int) -> tuple[bool, int]:
            offer = found[j].offer
            return offer < 0, 0 if offer < 0 else int(found[j].ranks[offer])

        order = sorted(range(len(found)), key=place)
        rows = tuple(self._offer(j, rank) for rank, j in enumerate(order, start=1))
        by_ratio = self._tests.by_ratio
        ratio = ("gain", "split information", "gain at least average") if by_ratio else ()
        heads = ("rank", "attribute", "test", "score", *ratio, "search", "candidates", "chosen")
        tag = "S 21" if by_ratio else "ZM Alg. 19.1"
        return Table("tests", "The best test of each attribute", heads, rows, tag)

    def _offer(self, j: int, rank: int) -> tuple[Cell, ...]:
        found, name = self._tests.found[j], self._tests.attributes[j].column.name
        i = found.offer
        told = "exact" if found.exact else "heuristic", whole_cell(found.candidates)
        if i < 0:
            blank: tuple[Cell, ...] = (None, None, False) if self._tests.by_ratio else ()
            none = "none is allowed" if found.exact else "none was found"
            return (None, name, none, None, *blank, *told, False)
        ratio = float(found.gains[i]), float(found.information[i]), found.competes
        own: tuple[Cell, ...] = ratio if self._tests.by_ratio else ()
        words, is_asked = self._tests.words(j, i), self._tests.asked == (j, i)
        return (rank, name, words, float(found.scores[i]), *own, *told, is_asked)

    def _cuts(self, j: int, name: str) -> Table:
        """N_vi, P(X<=v|c_i) (ZM 19.13) and the class shares of both sides, by cut."""
        x, yes = self._tests.attributes[j], self._tests.found[j].yes
        columns = [
            ("v", self._thresholds(j)),
            *self._missing(j),
            *self._by_class("N", self._weights(yes)),
            *self._by_class("P(X<=v|{})", _shares(yes, self._tests.searched(x))),
            *self._sides(j),
            *self._judged(j),
        ]
        return self._table(name, self._title(j, "every cut X <= v"), columns, "ZM 19.12 to 19.16")

    def _thresholds(self, j: int) -> list[Cell]:
        """The numbers, dates or values of cuts; nothing where known is split from missing."""
        column, v = self._tests.attributes[j].column, self._tests.found[j].thresholds
        in_words = not column.is_number or column.kind == "date"
        return [
            None if cell == math.inf else threshold_text(column, cell) if in_words else cell
            for cell in v.tolist()
        ]

    def _values(self, j: int, name: str) -> Table:
        """n_vi and P(X=v|c_i) (ZM 19.20)."""
        x = self._tests.attributes[j]
        counts = _by_value(x)
        columns: list[Column] = [
            ("value", _values(x)),
            *self._by_class("n", self._weights(counts)),
            *self._by_class("P(X=v|{})", _shares(counts, self._tests.counts)),
        ]
        title = f"{x.column.name}: values by class"
        return self._table(name, title, columns, "ZM 19.19, 19.20")

    def _sets(self, j: int, name: str) -> Table:
        """Both sides of X in V by class: counts and shares."""
        x, found = self._tests.attributes[j], self._tests.found[j]
        columns: list[Column] = [
            ("V", [set_text(x.names(V)) for V in found.sets]),
            ("not V", [_others(x, V) for V in found.sets]),
            *self._missing(j),
            *self._by_class("n(V, {})", self._weights(found.yes)),
            *self._by_class("n(not V, {})", self._weights(found.no)),
            *self._sides(j),
            *self._judged(j),
        ]
        n_sets = len(found.sets)
        what = agreed(n_sets, "the one set V", f"all {n_sets} sets V")
        m = x.m + (x.has_missing and self._tests.policy == "direction")
        of_all = 2.0 ** (m - 1) - 1 if m <= 1024 else math.inf
        if n_sets < of_all:
            what = f"each value alone and the best set found, of {of_all:.6g} sets V"
        return self._table(name, self._title(j, what), columns, "ZM 19.21, 19.22")

    def _branches(self, j: int, name: str) -> Table:
        """One branch a value: counts, shares and impurity of each."""
        x, criterion = self._tests.attributes[j], self._tests.criterion
        counts = _by_value(x)
        columns: list[Column] = [
            ("value", _values(x)),
            *self._by_class("n", self._weights(counts)),
            *self._by_class("P({}|X=v)", _shares(counts, counts.sum(axis=1)[:, None])),
            ("Gini" if criterion == "gini" else "entropy", impurity(counts, criterion).tolist()),
            *self._joining(j),
        ]
        title = f"{x.column.name}: one branch for each value"
        return self._table(name, title, columns, "MSML gain")

    def _joining(self, j: int) -> list[Column]:
        """The share of missing values that each branch takes; where they join one, all."""
        x, found = self._tests.attributes[j], self._tests.found[j]
        if not x.has_missing or not len(found.ranks):
            return []
        columns: list[Column] = [("P(v|missing)", self._taken(x, found))]
        if len(found.join_scores):
            columns.append(("score if missing here", [*found.join_scores.tolist(), None]))
        return columns

    def _taken(self, x: Attribute, found: ColumnTests) -> list[Cell]:
        if self._tests.policy == "branch":
            return [*[0.0] * x.m, 1.0]
        if self._tests.policy == "fractional":
            n = x.held.counts.sum(axis=1)
            return [*(n / n.sum()).tolist(), None]
        return [*(float(v == found.joined) for v in range(x.m)), None]

    def _missing(self, j: int) -> list[Column]:
        """Where missing values go in each test, and their classes; else nothing."""
        x, found = self._tests.attributes[j], self._tests.found[j]
        if not x.has_missing:
            return []
        counts = np.repeat(x.held.missing[None], len(found.yes), axis=0)
        columns: list[Column] = [("missing", self._tests.missing(j))]
        return columns + self._by_class("n(missing, {})", self._weights(counts))

    def _sides(self, j: int) -> list[Column]:
        """Class shares on both sides: (ZM 19.14) and (ZM 19.16), or (ZM 19.21) and (ZM 19.22)."""
        yes, no = self._tests.found[j].yes, self._tests.found[j].no
        return [
            *self._by_class("P({}|Y)", _shares(yes, yes.sum(axis=1)[:, None])),
            *self._by_class("P({}|N)", _shares(no, no.sum(axis=1)[:, None])),
        ]

    def _judged(self, j: int) -> list[Column]:
        """What is left of the impurity, the score, its rank, whether the tree may ask or does."""
        found = self._tests.found[j]
        columns: list[Column] = []
        if word := CRITERIA_BY_NAME[self._tests.criterion].impurity:
            columns.append((word, self._left(j).tolist()))
        if self._tests.by_ratio:
            columns.append(("gain", found.gains.tolist()))
            columns.append(("split information", found.information.tolist()))
        return [
            *columns,
            ("score", found.scores.tolist()),
            ("rank", [rank or None for rank in found.ranks.tolist()]),
            ("allowed", found.allowed.tolist()),
            ("chosen", [self._tests.asked == (j, i) for i in range(len(found.ranks))]),
        ]

    def _left(self, j: int) -> Float:
        """The impurity of the parts; of known rows alone where the score is theirs by a share."""
        x, gains = self._tests.attributes[j], self._tests.found[j].gains
        rows, share = self._tests.counts, 1.0
        if self._tests.known_alone(x) and len(gains):
            rows, share = x.known, float(x.known.sum() / rows.sum())
        return impurity(rows[None], self._tests.criterion) - gains / share

    def _title(self, j: int, what: str) -> str:
        x = self._tests.attributes[j]
        if not len(self._tests.found[j].ranks):
            told = "one value in the node" if x.m else "no value is known in the node"
            return f"{x.column.name}: {told}, hence no test"
        score = CRITERIA_BY_NAME[self._tests.criterion].score
        if self._tests.known_alone(x):
            score += ", gain" if self._tests.by_ratio else ""
            score += " of the known rows times their share"
        return f"{x.column.name}: {what}; the score is {score}"

    def _by_class(self, pattern: str, cells: NDArray[np.number]) -> list[Column]:
        """A column a class; its name is put in the place of {}, or in brackets."""
        form = pattern if "{}" in pattern else pattern + "({})"
        heads = [form.replace("{}", label) for label in self._labels]
        # a class that the node lacks has no share of its own
        columns = [[None] * len(x) if np.isnan(x).any() else x.tolist() for x in cells.T]
        return list(zip(heads, columns, strict=True))

    def _weights(self, units: Int64) -> NDArray[np.number]:
        return units if self._tests.unit == 1 else units * self._tests.unit

    def _table(self, name: str, title: str, columns: list[Column], tag: str) -> Table:
        heads = unique([head for head, _ in columns])
        rows = tuple(zip(*(cells for _, cells in columns), strict=True))
        return Table(name, title, heads, rows, tag)


def impurity(counts: Int64, criterion: str) -> Float:
    """The Gini index (ZM 19.6) or the entropy (ZM 19.3) of each row of counts."""
    p = counts / counts.sum(axis=1, keepdims=True)
    if criterion == "gini":
        return np.asarray(1 - (p * p).sum(axis=1))
    logs = np.log2(p, out=np.zeros_like(p), where=p > 0)
    return np.asarray(0.0 - (p * logs).sum(axis=1))


def _by_value(x: Attribute) -> Int64:
    """Units by value and class, and last those of missing values, where there are."""
    return np.vstack([x.held.counts, x.held.missing]) if x.has_missing else x.held.counts


def _values(x: Attribute) -> list[Cell]:
    """The values of a category; a missing value is nothing."""
    return [*x.names(range(x.m)), *[None] * x.has_missing]


def _others(x: Attribute, V: list[int]) -> str:
    """The values outside V; of many, how many they are."""
    if x.m > _MOST_NAMED:
        return f"the other {x.m - len(V)}"
    return set_text(x.names([i for i in range(x.m) if i not in V]))


def _shares(part: Int64, whole: Int64) -> Float:
    """part / whole, NaN where there is none."""
    blank = np.full(part.shape, np.nan)
    return np.asarray(np.divide(part, whole, out=blank, where=whole > 0))


def whole_cell(x: float) -> int | float:
    """A count as a whole number, where float64 has it exactly."""
    return int(x) if x < 2**53 else x
