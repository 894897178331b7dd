"""Tests of a node as tables: Figures 19.2 and 19.3 and Tables 19.1 and 19.2 in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sortal.errors import agreed
from sortal.native.trees import CUT, MULTIWAY, NO_BOUND, SUBSET
from sortal.records.tables import Table, unique
from sortal.trees.branches import set_text, threshold_text
from sortal.trees.split_scores import CRITERIA_BY_NAME
from sortal.trees.working.candidates import ALONE, MOST_LISTED, sets_allowed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sortal._typing import Counts, Float
    from sortal.data.columns import Values
    from sortal.records.tables import Cell
    from sortal.trees.working.candidates import Candidates, NodeTest, Ranking, Search
    from sortal.trees.working.node_rows import Attribute

    Int64 = Counts
    Column = tuple[str, Sequence[Cell]]


class NodeChoice(NamedTuple):
    """The tests of a node by attribute, how they rank, and which of them is asked."""

    search: Search
    tests: Sequence[Candidates]
    ranking: Ranking
    asked: NodeTest | None


class CandidateTables:
    """Tests → tables. Weights are units; `unit` is what one weighs."""

    def __init__(self, choice: NodeChoice, unit: float, classes: Values) -> None:
        self._choice, self._search = choice, choice.search
        self._unit, self._labels = unit, [str(label) for label in classes]

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
        return Table("tests", "The best test of each attribute", heads, rows, tag)

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
        x, yes = tests.attribute, tests.yes
        columns = [
            ("v", _thresholds(tests)),
            *self._missing(tests),
            *self._by_class("N", self._weights(yes)),
            *self._by_class("P(X<=v|{})", _shares(yes, self._search.searched(x))),
            *self._sides(tests),
            *self._judged(j),
        ]
        title = self._title(tests, "every cut X <= v")
        return self._table(name, title, columns, "ZM 19.12 to 19.16")

    def _values(self, j: int, name: str) -> Table:
        """n_vi and P(X=v|c_i) (ZM 19.20)."""
        x = self._choice.tests[j].attribute
        counts = _by_value(x)
        columns: list[Column] = [
            ("value", _values(x)),
            *self._by_class("n", self._weights(counts)),
            *self._by_class("P(X=v|{})", _shares(counts, self._search.counts)),
        ]
        title = f"{x.column.name}: values by class"
        return self._table(name, title, columns, "ZM 19.19, 19.20")

    def _sets(self, j: int, name: str) -> Table:
        """Both sides of X in V by class: counts and shares."""
        tests = self._choice.tests[j]
        x, n_sets = tests.attribute, len(tests.sets)
        columns: list[Column] = [
            ("V", [set_text(x.names(V)) for V in tests.sets]),
            ("not V", [_others(x, V) for V in tests.sets]),
            *self._missing(tests),
            *self._by_class("n(V, {})", self._weights(tests.yes)),
            *self._by_class("n(not V, {})", self._weights(tests.no)),
            *self._sides(tests),
            *self._judged(j),
        ]
        what = agreed(n_sets, "the one set V", f"all {n_sets} sets V")
        m = x.m + (x.has_missing and self._search.policy == "direction")
        if m > MOST_LISTED:
            of_all = whole_cell(sets_allowed(m, NO_BOUND))
            what = f"each value alone and the best set found, of {of_all:.6g} sets V"
        return self._table(name, self._title(tests, what), columns, "ZM 19.21, 19.22")

    def _branches(self, j: int, name: str) -> Table:
        """One branch a value: counts, shares and impurity of each."""
        tests = self._choice.tests[j]
        x = tests.attribute
        counts = _by_value(x)
        word = "Gini" if self._search.criterion == "gini" else "entropy"
        columns: list[Column] = [
            ("value", _values(x)),
            *self._by_class("n", self._weights(counts)),
            *self._by_class("P({}|X=v)", _shares(counts, counts.sum(axis=1)[:, None])),
            (word, impurity(counts, self._search.criterion).tolist()),
            *self._joining(tests),
        ]
        title = f"{x.column.name}: one branch for each value"
        return self._table(name, title, columns, "MSML gain")

    def _joining(self, tests: Candidates) -> list[Column]:
        """The share of missing values that each branch takes; where they join one, all."""
        x = tests.attribute
        if not x.has_missing or not len(tests.judged.keys):
            return []
        columns: list[Column] = [("P(v|missing)", self._taken(tests))]
        if tests.joined is not None and tests.joined.scores is not None:
            columns.append(("score if missing here", [*tests.joined.scores.tolist(), None]))
        return columns

    def _taken(self, tests: Candidates) -> list[Cell]:
        x, policy = tests.attribute, self._search.policy
        n = x.counts.sum(axis=1)
        if policy == "branch":
            return [*[0.0] * x.m, 1.0]
        if policy == "fractional":
            return [*(n / n.sum()).tolist(), None]
        place = int(n.argmax()) if tests.joined is None else tests.joined.place
        return [*(float(v == place) for v in range(x.m)), None]

    def _missing(self, tests: Candidates) -> list[Column]:
        """Where missing values go in each test, and their classes; else nothing."""
        x = tests.attribute
        if not x.has_missing:
            return []
        counts = np.repeat(x.missing[None], len(tests.yes), axis=0)
        columns: list[Column] = [("missing", tests.missing)]
        return columns + self._by_class("n(missing, {})", self._weights(counts))

    def _sides(self, tests: Candidates) -> list[Column]:
        """Class shares on both sides: (ZM 19.14) and (ZM 19.16), or (ZM 19.21) and (ZM 19.22)."""
        yes, no = tests.yes, tests.no
        return [
            *self._by_class("P({}|Y)", _shares(yes, yes.sum(axis=1)[:, None])),
            *self._by_class("P({}|N)", _shares(no, no.sum(axis=1)[:, None])),
        ]

    def _judged(self, j: int) -> list[Column]:
        """What is left of the impurity, the score, its rank, whether the tree may ask or does."""
        tests, ranks = self._choice.tests[j], self._choice.ranking.ranks[j]
        columns: list[Column] = []
        if word := CRITERIA_BY_NAME[self._search.criterion].impurity:
            columns.append((word, self._left(tests).tolist()))
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

    def _left(self, tests: Candidates) -> Float:
        """The impurity of the parts; of known rows alone where the score is theirs by a share."""
        x, scores = tests.attribute, tests.judged.scores
        if not self._search.known_alone(x) or not len(scores):
            return impurity(self._search.counts[None], self._search.criterion) - scores
        share = int(x.known.sum()) / self._search.n
        return impurity(x.known[None], self._search.criterion) - scores / share

    def _information(self, tests: Candidates) -> Float:
        """The entropy of the sizes of the parts, one of them that of missing values. (S 20)"""
        if tests.attribute.kind == MULTIWAY:
            sizes = tests.yes.sum(axis=1)
            return impurity(np.append(sizes, self._search.n - sizes.sum())[None], "gain")
        n_yes, n_no = tests.yes.sum(axis=1), tests.no.sum(axis=1)
        rest = self._search.n - n_yes - n_no
        return impurity(np.column_stack([n_yes, n_no, rest]), "gain")

    def _title(self, tests: Candidates, what: str) -> str:
        x = tests.attribute
        if not len(tests.yes):
            told = "one value in the node" if x.m else "no value is known in the node"
            return f"{x.column.name}: {told}, hence no test"
        score = CRITERIA_BY_NAME[self._search.criterion].score
        if self._search.known_alone(x):
            score += ", gain" if self._search.by_ratio else ""
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
        return units if self._unit == 1 else units * self._unit

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


def _thresholds(tests: Candidates) -> list[Cell]:
    """The numbers, dates or values of cuts; nothing where known is split from missing."""
    column = tests.attribute.column
    in_words = not column.is_number or column.kind == "date"
    return [
        None if missing == ALONE else threshold_text(column, v) if in_words else v
        for v, missing in zip(tests.thresholds.tolist(), tests.missing, strict=True)
    ]


def _by_value(x: Attribute) -> Int64:
    """Units by value and class, and last those of missing values, where there are."""
    return np.vstack([x.counts, x.missing[None]]) if x.has_missing else x.counts


def _values(x: Attribute) -> list[Cell]:
    """The values of a category; a missing value is nothing."""
    return [*x.names(range(x.m)), *[None] * x.has_missing]


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
