"""A tree as rules, by leaf or by class, and as indented text."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from sortal.decision.options import choose
from sortal.errors import counted
from sortal.native.trees import LEAF, MULTIWAY
from sortal.records import render as faces
from sortal.records.render import number_text, quoted, share_text
from sortal.records.tables import Record, Records, Table, framed, sheet, unique
from sortal.trees.branches import (
    IntervalCondition,
    Paths,
    SetCondition,
    check_max_values,
    closing_lines,
    met_missing,
    tells_missing,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sortal.data.columns import Value, Values
    from sortal.records.tables import Cell
    from sortal.trees.branches import Condition
    from sortal.trees.model import TreeModel

FORMS = ("path", "merged")

# What is printed of many rules, and of long sets of values.
SHOWN, SHOWN_VALUES = 100, 20


@dataclass(frozen=True)
class Rule(Record):
    """If all conditions hold, then the class is `label`.

    `path` has the conditions as the tree asks them, `merged` one an attribute: both hold for the
    same rows. `n` is the weight of the leaf's rows, `share` its part of all weight, `counts` the
    weight of each class, `error` the share of the classes that are not said.
    """

    leaf: int
    label: Value
    n: float
    size: int
    share: float
    purity: float
    error: float
    classes: Values
    counts: tuple[float, ...]
    probabilities: tuple[float, ...]
    merged: tuple[Condition, ...]
    whole: tuple[Condition, ...] = field(repr=False)
    _paths: Paths = field(repr=False, compare=False)

    SAYS = (
        *("leaf", "label", "n", "size", "share", "purity", "error"),
        *("classes", "counts", "probabilities", "path", "merged"),
    )

    @property
    def path(self) -> tuple[Condition, ...]:
        """The conditions as the tree asks them; made when asked for, since paths can be long."""
        return self._paths.path(self.leaf)

    @property
    def box(self) -> tuple[Condition, ...]:
        """The region of the rule: for each column of the table, a side within the data's range."""
        asked = {condition.attribute: condition for condition in self.merged}
        return tuple(_side(asked.get(side.attribute, side), side) for side in self.whole)

    def conditions(self, form: str = "merged") -> tuple[Condition, ...]:
        """The conditions in one of the two forms."""
        choose("form", form, FORMS)
        return self.path if form == "path" else self.merged

    def text(self, form: str = "merged", max_values: int | None = None) -> str:
        """The rule as a sentence, without its numbers."""
        conditions = [c.text(max_values) for c in self.conditions(form)]
        given = f"If {' and '.join(conditions)}, then" if conditions else "In any case"
        return f"{given} class is {quoted(self.label)}"

    def line(self, form: str = "merged", max_values: int | None = None) -> str:
        """The rule with its numbers."""
        share, purity = faces.share_text(self.share), faces.share_text(self.purity)
        facts = f"n {faces.number_text(self.n)}, share {share}, purity {purity}"
        return f"{self.leaf}: {self.text(form, max_values)}  ({facts})"

    def __str__(self) -> str:
        return self.line()


def _side(condition: Condition, whole: Condition) -> Condition:
    if isinstance(condition, IntervalCondition) and isinstance(whole, IntervalCondition):
        return condition.within(whole)
    assert isinstance(condition, SetCondition)  # noqa: S101  (a column is asked in one way)
    return replace(condition, others=False, missing=condition.missing and whole.missing)


class RuleMaker:
    """Node → its rule, or its numbers in a line."""

    def __init__(self, model: TreeModel, backend: str = "pandas") -> None:
        self.model, self.backend, self._paths = model, backend, Paths(model)
        self._counts, self._shares = model.counts(), model.shares()
        self._purity, self._error = model.purity(), model.error()
        self._labels = model.labels().tolist()
        self._whole, self._classes = _whole_box(model), [quoted(label) for label in model.classes]

    def facts(self, t: int) -> str:
        """n, the weight of each class that is there, purity and error rate; what a leaf says."""
        counts = self._counts[t].tolist()
        words = [f"n {number_text(sum(counts))}"]
        words += [f"{self._classes[k]}: {number_text(n)}" for k, n in enumerate(counts) if n]
        words.append(f"purity {share_text(float(self._purity[t]))}")
        words.append(f"error {share_text(float(self._error[t]))}")
        label = f" -> {self._classes[self._labels[t]]}" if self.model.kind[t] == LEAF else ""
        return ", ".join(words) + label

    def rule(self, t: int) -> Rule:
        """The rule of the rows that end in node t."""
        counts = self._counts[t].tolist()
        return Rule(
            leaf=t,
            label=self.model.classes[self._labels[t]],
            n=sum(counts),
            size=int(self.model.sizes[t]),
            share=float(self._counts[t].sum() / self._counts[0].sum()),
            purity=float(self._purity[t]),
            error=float(self._error[t]),
            classes=self.model.classes,
            counts=tuple(counts),
            probabilities=tuple(self._shares[t].tolist()),
            merged=self._paths.merged(t),
            whole=self._whole,
            _paths=self._paths,
        )


def _whole_box(model: TreeModel) -> tuple[Condition, ...]:
    """The region of all rows of the fit, as far as it is known."""
    ranges = model.ranges or (None,) * len(model.schema.columns)
    sides: list[Condition] = []
    for j, (column, ends) in enumerate(zip(model.schema.columns, ranges, strict=True)):
        missing = {
            "missing": met_missing(model) and model.missing_counts[j] > 0,
            "told": tells_missing(model, j),
        }
        if column.is_number:
            low, high = ends or (-math.inf, math.inf)
            is_date = column.kind == "date"
            sides.append(IntervalCondition(column.name, low, high, is_date, closed=True, **missing))
        else:
            unseen = set(model.unseen[j])
            met = tuple(value for v, value in enumerate(column.values) if v not in unseen)
            sides.append(SetCondition(column.name, met, (), others=False, **missing))
    return tuple(sides)


class Rules(Records[Rule]):
    """The rules of a tree, one a leaf, in the order of its leaves; made when they are asked for.

    `unlisted` are further ones, for rows that a node with one branch per value keeps because it
    lists no branch for theirs; no row of the fit meets them, and their numbers are those of the
    node. With them the rules cover every row, and no row meets two. A part of the rules has none.
    """

    def __init__(
        self, maker: RuleMaker, nodes: Sequence[int], form: str, unlisted: Sequence[int] = ()
    ) -> None:
        self._maker, self._nodes, self._form, self._unlisted = maker, nodes, form, unlisted
        self._left = 0
        self._max_values: int | None = None

    @overload
    def __getitem__(self, i: int) -> Rule: ...
    @overload
    def __getitem__(self, i: slice) -> Rules: ...
    def __getitem__(self, i: int | slice) -> Rule | Rules:
        if isinstance(i, slice):
            return Rules(self._maker, self._nodes[i], self._form)
        return self._maker.rule(self._nodes[i])

    def __len__(self) -> int:
        return len(self._nodes)

    @property
    def unlisted(self) -> Rules:
        """The rules of rows that a node keeps."""
        return Rules(self._maker, self._unlisted, self._form)

    def short(self) -> Rules:
        """What is printed: the first of many rules, and the first of many values in a set."""
        nodes, unlisted = self._nodes[:SHOWN], self._unlisted[:SHOWN]
        short = Rules(self._maker, nodes, self._form, unlisted)
        short._left, short._max_values = len(self) - len(nodes), SHOWN_VALUES
        return short

    def to_frame(self, max_values: int | None = None) -> Any:
        """A data frame of the library that the rows came in, or pandas: one row a rule."""
        return self.to_table(max_values).to_frame()

    def to_table(self, max_values: int | None = None) -> Table:
        """One row a rule; of long sets of values the first `max_values` and their number."""
        check_max_values(max_values)
        shares = [f"P({quoted(label)})" for label in self._maker.model.classes]
        heads = ("leaf", "if", "class", "n", "size", "share", "purity", "error", *shares)
        rows = tuple(self._row(rule, max_values or self._max_values) for rule in self)
        title = "".join(["Rules of the tree", *(f" ({more})" for more in self._more())])
        return framed(Table("rules", title, unique(heads), rows), self._maker.backend)

    def to_text(self, max_values: int | None = None) -> str:
        """One line a rule; of long sets of values the first `max_values` and their number."""
        check_max_values(max_values)
        most = max_values or self._max_values
        told = [rule.line(self._form, most) for rule in self]
        if self._unlisted:
            told += [
                "",
                "Rows with a value that a node does not list stay there, with its numbers:",
            ]
            told += [rule.line(self._form, most) for rule in self.unlisted]
        return "\n".join([*told, *closing_lines(self._maker.model), *self._more()])

    def to_markdown(self, max_values: int | None = None) -> str:
        """A table of Markdown: one row a rule."""
        table = self.to_table(max_values)
        return faces.join_text("", [faces.table_markdown(table.columns, table.rows), *self._more()])

    def _row(self, rule: Rule, max_values: int | None) -> tuple[Cell, ...]:
        given = " and ".join(c.text(max_values) for c in rule.conditions(self._form))
        facts = (rule.n, rule.size, rule.share, rule.purity, rule.error)
        return (rule.leaf, given, quoted(rule.label), *facts, *rule.probabilities)

    def _more(self) -> list[str]:
        more = f"… and {counted(self._left, 'more rule')}: to_frame(), or --all, has them all"
        return [more] * (self._left > 0)

    def __str__(self) -> str:
        return self.short().to_text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.short().to_table()._repr_html_()


def rules_of(model: TreeModel, form: str, backend: str) -> Rules:
    """All rules of a tree; `form` is what is printed, "path" or "merged"."""
    leaves, wide = (np.flatnonzero(model.kind == kind).tolist() for kind in (LEAF, MULTIWAY))
    return Rules(RuleMaker(model, backend), leaves, form, wide)


# --- The rules of a tree by class: each class as a disjunction of conjunctions -------------------


@dataclass(frozen=True)
class ClassRule(Record):
    """The rules that say a class, any of which is enough; `n` is the weight of their leaves."""

    label: Value
    n: float
    share: float
    rules: tuple[Rule, ...]

    def conjunctions(self, form: str = "merged", max_values: int | None = None) -> list[str]:
        """(a ∧ b) for each rule."""
        every = [[c.text(max_values) for c in rule.conditions(form)] for rule in self.rules]
        return [f"({' ∧ '.join(conditions) or 'always'})" for conditions in every]

    def text(self, form: str = "merged", max_values: int | None = None) -> str:
        """The class, and (a ∧ b) ∨ (c ∧ d), a line a conjunction."""
        head = f"{quoted(self.label)}: "
        between = "\n" + "∨ ".rjust(len(head))
        return head + (between.join(self.conjunctions(form, max_values)) or "never")

    def brief(self, form: str) -> str:
        """The first lines of many, and how many more there are."""
        first = replace(self, rules=self.rules[:SHOWN]).text(form)
        more = len(self.rules) - SHOWN
        return f"{first}\n… and {more} more: to_text() has them all" if more > 0 else first

    def __str__(self) -> str:
        return self.text()


class ClassRules(Records[ClassRule]):
    """One record a class, in the order of the classes.

    `unlisted` are the rules of rows that a node keeps because it lists no branch for their value.
    """

    def __init__(self, rules: Rules) -> None:
        self._form, self._maker, self.unlisted = rules._form, rules._maker, rules.unlisted
        by_label: dict[Value, list[Rule]] = {label: [] for label in self._maker.model.classes}
        for rule in rules:
            by_label[rule.label].append(rule)
        self._records = tuple(
            ClassRule(label, sum(r.n for r in said), sum(r.share for r in said), tuple(said))
            for label, said in by_label.items()
        )

    @overload
    def __getitem__(self, i: int) -> ClassRule: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[ClassRule, ...]: ...
    def __getitem__(self, i: int | slice) -> ClassRule | tuple[ClassRule, ...]:
        return self._records[i]

    def __len__(self) -> int:
        return len(self._records)

    def to_frame(self, max_values: int | None = None) -> Any:
        """A data frame of the library that the rows came in, or pandas: one row a class."""
        return self._table(max_values).to_frame()

    def to_text(self, max_values: int | None = None) -> str:
        """Each class as a disjunction of conjunctions."""
        check_max_values(max_values)
        return "\n".join(record.text(self._form, max_values) for record in self)

    def to_markdown(self, max_values: int | None = None) -> str:
        """A table of Markdown."""
        table = self._table(max_values)
        return faces.table_markdown(table.columns, table.rows)

    def _table(self, max_values: int | None) -> Table:
        check_max_values(max_values)
        ors = [" ∨ ".join(record.conjunctions(self._form, max_values)) for record in self]
        columns = {
            "class": [quoted(record.label) for record in self],
            "if": [text or "never" for text in ors],
            "leaves": [len(record.rules) for record in self],
            "n": [record.n for record in self],
            "share": [record.share for record in self],
        }
        table = sheet("classes", "Rules of the tree by class", columns)
        return framed(table, self._maker.backend)

    def __str__(self) -> str:
        return "\n".join(record.brief(self._form) for record in self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return faces.join_html("", [f"<pre>{escape(str(self))}</pre>"])


# --- A tree as indented text, one line a node ----------------------------------------------------

# Below this depth lines are not indented further but say how deep they are: a chain of 100,000
# tests would otherwise fill gigabytes with bars.
_DEEPEST = 40


def tree_text(model: TreeModel, max_depth: int | None, max_values: int | None) -> str:
    """The nodes in preorder: what leads there, weights by class, purity and error rate."""
    paths, depths = Paths(model), model.depths().tolist()
    deepest = model.n_nodes if max_depth is None else max_depth
    below, maker = model.leaves_below().tolist(), RuleMaker(model)
    lines = []
    for t, depth in enumerate(depths):
        if depth <= deepest:
            condition = paths.above(t).text(max_values) if t else "root"
            line = f"{_indent(depth)}{condition}: {maker.facts(t)}"
            hidden = depth == deepest and below[t] > 1
            lines.append(
                f"{line} … {counted(below[t], 'leaf', 'leaves')} below" if hidden else line
            )
    return "\n".join([*lines, *closing_lines(model)])


def _indent(depth: int) -> str:
    return "|  " * depth if depth <= _DEEPEST else f"{'|  ' * _DEEPEST}({depth}) "
