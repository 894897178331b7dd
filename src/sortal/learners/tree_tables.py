"""Tests of a node as tables: Figures 19.2 and 19.3 and Tables 19.1 and 19.2 in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sortal.learners.tree_candidates import MOST_LISTED, sets_allowed
from sortal.models.conditions import set_text
from sortal.models.records import Table, unique
from sortal.models.tree_branches import threshold_text
from sortal.native.trees import CUT, MULTIWAY, NO_BOUND, SUBSET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal.data.values import Values
    from sortal.learners.tree_candidates import Attribute, Candidates, Search
    from sortal.learners.tree_ranking import Asked, Ranking
    from sortal.models.records import Cell

    Float = NDArray[np.float64]
    Int64 = NDArray[np.int64]
    Column = tuple[str, Sequence[Cell]]

_IMPURITY = {"gain": "split entropy", "gain_ratio": "split entropy", "gini": "split Gini"}
_SCORE = {
    "gain": "the gain",
    "gain_ratio": "gain by split information",
    "gini": "the decrease of the Gini index",
    "cart": "the CART measure",
}


class Choice(NamedTuple):
    """The tests of a node by attribute, how they rank, and which of them is asked."""

    search: Search
    tests: Sequence[Candidates]
    ranking: Ranking
    asked: Asked | None


class CandidateTables:
    """Tests → tables. Weights are units; `unit` is what one weighs."""

    def __init__(self, choice: Choice, unit: float, classes: Values, backend: str) -> None:
        self._choice, self._search = choice, choice.search
        self._unit, self._backend = unit, backend
        self._labels = [str(label) for label in classes]

    def of_attribute(self, j: int, name: str, values_name: str) -> list[Table]:
        """The tests of attribute j, and before sets V a table of its values."""
        kind = self._choice.tests[j].attribute.kind
        if kind == CUT:
            return [self._cuts(j, name)]
        if kind == SUBSET:
            return [self._values(j, values_name), self._sets(j, name)]
        return [self._branches(j, name)]

    def offers(self) -> Table:
        """The best test of each attribute, in the order of the choice; last those without one."""
        ranking = self._choice.ranking

        def place(j: int) -> tuple[bool, int]:
            offer = ranking.offers[j]
            return offer is None, 0 if offer is None else int(ranking.ranks[j][offer])

        order = sorted(range(len(self._choice.tests)), key=place)
        rows = tuple(self._offer(j, rank) for rank, j in enumerate(order, start=1))
        by_ratio = self._search.by_ratio
        ratio = ("gain", "split information", "gain at least average") if by_ratio else ()
        heads = ("rank", "attribute", "test", "score", *ratio, "search", "candidates", "chosen")
        tag = "S 21" if by_ratio else "ZM Alg. 19.1"
        return Table("tests", "The best test of each attribute", heads, rows, tag, self._backend)

    def _offer(self, j: int, rank: int) -> tuple[Cell, ...]:
        tests, i = self._choice.tests[j], self._choice.ranking.offers[j]
        name = tests.attribute.column.name
        told = "exact" if tests.exact else "heuristic", whole_cell(tests.candidates)
        if i is None:
            blank: tuple[Cell, ...] = (None, None, False) if self._search.by_ratio else ()
            none = "none is allowed" if tests.exact else "none was found"
            return (None, name, none, None, *blank, *told, False)
        score = float(self._search.scores(tests)[i])
        ratio: tuple[Cell, ...] = ()
        if self._search.by_ratio:
            information = float(self._information(tests)[i])
            ratio = (float(tests.judged.scores[i]), information, self._choice.ranking.competes[j])
        return (rank, name, tests.words(i), score, *ratio, *told, self._choice.asked == (j, i))

    def _cuts(self, j: int, name: str) -> Table:
        """N_vi, P(X<=v|c_i) (ZM 19.13) and the class shares of both sides, by cut."""
        tests = self._choice.tests[j]
        column, yes = tests.attribute.column, tests.yes
        v: list[Cell] = list(tests.thresholds.tolist())
        if not column.is_number or column.kind == "date":
            v = [threshold_text(column, x) for x in tests.thresholds.tolist()]
        columns = [
            ("v", v),
            *self._by_class("N", self._weights(yes)),
            *self._by_class("P(X<=v|{})", _shares(yes, self._search.counts)),
            *self._sides(yes),
            *self._judged(j),
        ]
        title = self._title(tests, "every cut X <= v")
        return self._table(name, title, columns, "ZM 19.12 to 19.16")

    def _values(self, j: int, name: str) -> Table:
        """n_vi and P(X=v|c_i) (ZM 19.20)."""
        x = self._choice.tests[j].attribute
        columns: list[Column] = [
            ("value", x.names(range(x.m))),
            *self._by_class("n", self._weights(x.counts)),
            *self._by_class("P(X=v|{})", _shares(x.counts, self._search.counts)),
        ]
        title = f"{x.column.name}: values by class"
        return self._table(name, title, columns, "ZM 19.19, 19.20")

    def _sets(self, j: int, name: str) -> Table:
        """Both sides of X in V by class: counts and shares."""
        tests = self._choice.tests[j]
        x, yes = tests.attribute, tests.yes
        columns: list[Column] = [
            ("V", [set_text(x.names(V)) for V in tests.sets]),
            ("not V", [_others(x, V) for V in tests.sets]),
            *self._by_class("n(V, {})", self._weights(yes)),
            *self._by_class("n(not V, {})", self._weights(self._search.counts - yes)),
            *self._sides(yes),
            *self._judged(j),
        ]
        what = "the one set V" if x.m == 2 else f"all {len(tests.sets)} sets V"
        if x.m > MOST_LISTED:
            n_sets = whole_cell(sets_allowed(x.m, NO_BOUND))
            what = f"each value alone and the best set found, of {n_sets:.6g} sets V"
        return self._table(name, self._title(tests, what), columns, "ZM 19.21, 19.22")

    def _branches(self, j: int, name: str) -> Table:
        """One branch a value: counts, shares and impurity of each."""
        x = self._choice.tests[j].attribute
        word = "Gini" if self._search.criterion == "gini" else "entropy"
        columns: list[Column] = [
            ("value", x.names(range(x.m))),
            *self._by_class("n", self._weights(x.counts)),
            *self._by_class("P({}|X=v)", _shares(x.counts, x.counts.sum(axis=1)[:, None])),
            (word, impurity(x.counts, self._search.criterion).tolist()),
        ]
        title = f"{x.column.name}: one branch for each value"
        return self._table(name, title, columns, "MSML gain")

    def _sides(self, yes: Int64) -> list[Column]:
        """Class shares on both sides: (ZM 19.14) and (ZM 19.16), or (ZM 19.21) and (ZM 19.22)."""
        no = self._search.counts - yes
        return [
            *self._by_class("P({}|Y)", _shares(yes, yes.sum(axis=1)[:, None])),
            *self._by_class("P({}|N)", _shares(no, no.sum(axis=1)[:, None])),
        ]

    def _judged(self, j: int) -> list[Column]:
        """What is left of the impurity, the score, its rank, whether the tree may ask or does."""
        tests, ranks = self._choice.tests[j], self._choice.ranking.ranks[j]
        columns: list[Column] = []
        if word := _IMPURITY.get(self._search.criterion):
            before = impurity(self._search.counts[None], self._search.criterion)
            columns.append((word, (before - tests.judged.scores).tolist()))
        if self._search.by_ratio:
            columns.append(("gain", tests.judged.scores.tolist()))
            columns.append(("split information", self._information(tests).tolist()))
        return [
            *columns,
            ("score", self._search.scores(tests).tolist()),
            ("rank", [rank or None for rank in ranks.tolist()]),
            ("allowed", tests.allowed.tolist()),
            ("chosen", [self._choice.asked == (j, i) for i in range(len(ranks))]),
        ]

    def _information(self, tests: Candidates) -> Float:
        """The entropy of the sizes of the parts. (S 20)"""
        if tests.attribute.kind == MULTIWAY:
            return impurity(tests.yes.sum(axis=1)[None], "gain")
        n_yes = tests.yes.sum(axis=1)
        return impurity(np.column_stack([n_yes, self._search.n - n_yes]), "gain")

    def _title(self, tests: Candidates, what: str) -> str:
        if tests.attribute.m == 1:
            return f"{tests.attribute.column.name}: one value in the node, hence no test"
        return (
            f"{tests.attribute.column.name}: {what}; the score is {_SCORE[self._search.criterion]}"
        )

    def _by_class(self, pattern: str, cells: NDArray[np.number]) -> list[Column]:
        """A column a class; its name is put in the place of {}, or in brackets."""
        form = pattern if "{}" in pattern else pattern + "({})"
        heads = [form.replace("{}", label) for label in self._labels]
        # a class that the node lacks has no share of its own
        columns = [[None] * len(x) if np.isnan(x).any() else x.tolist() for x in cells.T]
        return list(zip(heads, columns, strict=True))

    def _weights(self, units: Int64) -> NDArray[np.number]:
        return units if self._unit == 1 else units * self._unit

    def _table(self, name: str, title: str, columns: list[Column], tag: str) -> Table:
        heads = unique([head for head, _ in columns])
        rows = tuple(zip(*(cells for _, cells in columns), strict=True))
        return Table(name, title, heads, rows, tag, self._backend)


def impurity(counts: Int64, criterion: str) -> Float:
    """The Gini index (ZM 19.6) or the entropy (ZM 19.3) of each row of counts."""
    p = counts / counts.sum(axis=1, keepdims=True)
    if criterion == "gini":
        return np.asarray(1 - (p * p).sum(axis=1))
    logs = np.log2(p, out=np.zeros_like(p), where=p > 0)
    return np.asarray(0.0 - (p * logs).sum(axis=1))


def _others(x: Attribute, V: tuple[int, ...]) -> str:
    """The values outside V; of many, how many they are."""
    if x.m > MOST_LISTED:
        return f"the other {x.m - len(V)}"
    return set_text(x.names([i for i in range(x.m) if i not in V]))


def _shares(part: Int64, whole: Int64) -> Float:
    """part / whole, NaN where there is none."""
    blank = np.full(part.shape, np.nan)
    return np.asarray(np.divide(part, whole, out=blank, where=whole > 0))


def whole_cell(x: float) -> int | float:
    """A count as a whole number, where float64 has it exactly."""
    return int(x) if x < 2**53 else x
