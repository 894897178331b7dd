"""Explanations of discriminants: each attribute's part in the difference of two functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from sortal.records.tables import Table

if TYPE_CHECKING:
    from sortal._typing import Float, Mask
    from sortal.data.columns import Design, Value, Values
    from sortal.decision.posterior import Decisions
    from sortal.discriminants.functions import CenteredRows, LinearMap, QuadraticMap
    from sortal.records.tables import Cell


Mark = Literal["", "missing", "unknown"]


@dataclass(frozen=True)
class LinearContribution:
    """An attribute, its value, and what it adds to the difference of the two functions."""

    attribute: str
    value: Value | None
    amount: float
    mark: Mark = ""


@dataclass(frozen=True)
class LinearExplanation:
    """offset + Σ amounts = total = function of `label` - function of `against`.

    `against` is the class with the largest function among the others. Under costs the total
    includes `costs`, what they add to the log-odds (None without costs): it is at least 0, because
    the label has the least expected cost. Attributes marked missing or
    unknown add nothing: what the known ones say about them is in the parts of those.
    """

    label: Value
    against: Value
    classes: Values
    functions: tuple[float, ...]
    offset: float
    parts: tuple[LinearContribution, ...]
    total: float
    equation: str = "S 19"
    costs: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and strings, ready for JSON; infinities as the words inf and -inf."""
        parts = [
            {"attribute": p.attribute, "value": p.value, "amount": p.amount, "mark": p.mark}
            for p in self.parts
        ]
        return {
            "label": self.label,
            "against": self.against,
            "classes": list(self.classes),
            "functions": [_json(value) for value in self.functions],
            "offset": _json(self.offset),
            "parts": parts,
            "costs": None if self.costs is None else _json(self.costs),
            "total": _json(self.total),
        }

    def to_table(self, backend: str = "pandas") -> Table:
        """Offset, parts, costs and total, without the last digits that are rounding only."""
        parts: list[tuple[Cell, Cell, float, str]] = [("offset", None, self.offset, "")]
        parts += [(p.attribute, p.value, p.amount, p.mark) for p in self.parts]
        if self.costs is not None:
            parts.append(("costs", None, self.costs, ""))
        parts.append(("total", None, self.total, ""))
        rows = ((name, value, round(amount, 12) + 0.0, mark) for name, value, amount, mark in parts)
        title = f"{self.label} against {self.against}"
        columns = ("part", "value", "amount", "mark")
        return Table("parts", title, columns, tuple(rows), self.equation, backend)

    def __str__(self) -> str:
        return str(self.to_table())


@dataclass(frozen=True, eq=False)
class Decided:
    """The functions of rows and the classes that were said.

    `extra` is what the functions have beyond the linear map's (ln π_k, or nothing). `anchor[k]` is
    where class k stands: an attribute's part is measured from the middle between the two classes'
    anchors, so that an attribute in the middle says nothing.
    """

    functions: Float
    verdicts: Decisions
    extra: Float
    anchor: Float


@dataclass(frozen=True, eq=False)
class Explain(ABC):
    """Row number → its explanation."""

    classes: Values
    rows: CenteredRows
    decided: Decided
    function: LinearMap | QuadraticMap
    equation: ClassVar[str]

    @property
    def design(self) -> Design:
        """The terms of a row."""
        return self.function.design

    @abstractmethod
    def difference(self, i: int, k: int, l: int) -> tuple[float, Float]:  # noqa: E741
        """Row i's function of class k less that of class l: an offset, and a part for each term."""

    def __call__(self, i: int) -> LinearExplanation:
        """Explain one row."""
        label, against = self.decided.verdicts.pair(i)
        offset, by_term = self.difference(i, label, against)
        n_columns = len(self.design.sizes)
        amounts = np.bincount(self.design.owner, by_term, minlength=n_columns)
        costs, total = self.decided.verdicts.with_costs(i, offset + float(amounts.sum()))
        return LinearExplanation(
            label=self.classes[label],
            against=self.classes[against],
            classes=self.classes,
            functions=tuple(map(float, self.decided.functions[i])),
            offset=offset,
            parts=tuple(self._part(i, j, float(amounts[j])) for j in range(n_columns)),
            total=total,
            equation=self.equation,
            costs=costs,
        )

    def known(self, i: int) -> Mask:
        """Which terms of a row are known."""
        return np.asarray(~self.rows.missing[i][self.design.owner])

    def _part(self, i: int, j: int, amount: float) -> LinearContribution:
        mark: Mark = ""
        if self.rows.missing[i, j]:
            mark = "unknown" if self.rows.unknown[i, j] else "missing"
        name = self.design.schema.columns[j].name
        return LinearContribution(name, self.rows.given[i, j], amount, mark)


@dataclass(frozen=True, eq=False)
class ExplainLinear(Explain):
    """The parts of linear functions."""

    function: LinearMap
    equation = "S 19"

    def difference(self, i: int, k: int, l: int) -> tuple[float, Float]:  # noqa: E741
        """(x - middle)ᵀ(w_k - w_l), term by term. (S 19)"""
        anchor, known = self.decided.anchor, self.known(i)
        offsets, weights = self.function.offsets, self.function.weights
        if not known.all():
            offsets, weights = self.function.missing.functions(known)
        w = weights[:, k] - weights[:, l]
        middle = np.where(known, (anchor[k] + anchor[l]) / 2, 0.0)
        constants = offsets + self.decided.extra
        offset = float(constants[k] - constants[l] + middle @ w)
        return offset, (self.rows.z[i] - middle) * w


def _json(value: float) -> float | str:
    """JSON has no infinity."""
    return value if np.isfinite(value) else str(value)


# --- Why quadratic functions decided as they did -------------------------------------------------


@dataclass(frozen=True, eq=False)
class ExplainQuadratic(Explain):
    """The parts of quadratic functions."""

    function: QuadraticMap
    equation = "S 50"

    def difference(self, i: int, k: int, l: int) -> tuple[float, Float]:  # noqa: E741
        """½ z_l ∘ Σ_l⁻¹z_l - ½ z_k ∘ Σ_k⁻¹z_k, term by term, z = x - μ. (S 50)

        The product of two attributes is halved between them.
        """
        known, some = self.known(i), self.function.whole
        if not known.all():
            some = self.function.missing.functions(known)
        parts = {}
        for c in (k, l):
            z = np.where(known, self.rows.z[i] - self.function.means.gap[c], 0.0)
            parts[c] = 0.5 * z * (some.roots[c] @ (z @ some.roots[c]))
        constants = self.decided.extra - 0.5 * some.log_dets
        return float(constants[k] - constants[l]), parts[l] - parts[k]
