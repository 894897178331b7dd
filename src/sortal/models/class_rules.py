"""The rules of a tree by class: each class as a disjunction of conjunctions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, overload

from sortal.models import faces
from sortal.models.conditions import check_max_values, quoted
from sortal.models.records import Table
from sortal.models.tree_rules import SHOWN

if TYPE_CHECKING:
    from sortal.data.values import Value, Values
    from sortal.models.tree_rules import Rule, Rules


@dataclass(frozen=True)
class ClassRule:
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

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and strings, ready for JSON."""
        rules = [rule.to_dict() for rule in self.rules]
        return {"label": self.label, "n": self.n, "share": self.share, "rules": rules}

    def __str__(self) -> str:
        return self.text()


class ClassRules(Sequence[ClassRule]):
    """One record a class, in the order of the classes.

    `unlisted` are the rules of rows that a node keeps because it lists no branch for their value.
    """

    def __init__(self, rules: Rules, classes: Values, form: str, backend: str) -> None:
        self._form, self._backend, self.unlisted = form, backend, rules.unlisted
        by_label: dict[Value, list[Rule]] = {label: [] for label in classes}
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

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClassRules) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self) -> list[dict[str, Any]]:
        """Plain lists and strings, a dictionary a class."""
        return [record.to_dict() for record in self]

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
        rows = tuple(
            (quoted(record.label), text or "never", len(record.rules), record.n, record.share)
            for record, text in zip(self, ors, strict=True)
        )
        heads = ("class", "if", "leaves", "n", "share")
        return Table("classes", "Rules of the tree by class", heads, rows, "", self._backend)

    def __str__(self) -> str:
        return "\n".join(record.brief(self._form) for record in self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return faces.join_html("", [f"<pre>{escape(str(self))}</pre>"])
