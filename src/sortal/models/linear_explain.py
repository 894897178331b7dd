"""Why linear functions decided as they did: each attribute's part in the difference of two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sortal.models.records import Table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sortal.data.values import Value, Values
    from sortal.models.functions import LinearMap
    from sortal.models.linear_blocks import Centered
    from sortal.models.records import Cell

    Float = NDArray[np.float64]

Mark = Literal["", "missing", "unknown"]


@dataclass(frozen=True)
class Part:
    """An attribute, its value, and what it adds to the difference of the two functions."""

    attribute: str
    value: Value | None
    amount: float
    mark: Mark = ""


@dataclass(frozen=True)
class LinearExplanation:
    """offset + Σ amounts = total = function of `label` - function of `against`.

    `against` is the class with the largest function among the others. Attributes marked missing or
    unknown add nothing: what the known ones say about them is in the parts of those.
    """

    label: Value
    against: Value
    classes: Values
    functions: tuple[float, ...]
    offset: float
    parts: tuple[Part, ...]
    total: float

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
            "total": _json(self.total),
        }

    def to_table(self, backend: str = "pandas") -> Table:
        """Offset, parts and total, without the last digits that are rounding only."""
        rows: list[tuple[Cell, ...]] = [("offset", None, _tidy(self.offset), "")]
        rows += [(p.attribute, p.value, _tidy(p.amount), p.mark) for p in self.parts]
        rows.append(("total", None, _tidy(self.total), ""))
        title = f"{self.label} against {self.against}"
        columns = ("part", "value", "amount", "mark")
        return Table("parts", title, columns, tuple(rows), "S 19", backend)

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
    labels: NDArray[np.intp]
    extra: Float
    anchor: Float


@dataclass(frozen=True, eq=False)
class ExplainLinear:
    """Row number → its explanation."""

    classes: Values
    function: LinearMap
    rows: Centered
    decided: Decided

    def __call__(self, i: int) -> LinearExplanation:
        """Explain one row: (x - middle)ᵀ(w_k - w_l), attribute by attribute. (S 19)"""
        design = self.function.design
        label = int(self.decided.labels[i])
        scores = self.decided.functions[i]
        anchor = self.decided.anchor
        others = [k for k in range(len(scores)) if k != label]
        against = max(others, key=lambda k: (scores[k], -k))
        offsets, weights = self.function.offsets, self.function.weights
        known = ~self.rows.missing[i][design.owner]
        if not known.all():
            offsets, weights = self.function.holes.functions(known)
        w = weights[:, label] - weights[:, against]
        middle = np.where(known, (anchor[label] + anchor[against]) / 2, 0.0)
        by_term = (self.rows.z[i] - middle) * w
        amounts = np.bincount(design.owner, by_term, minlength=len(design.sizes))
        constants = offsets + self.decided.extra
        offset = float(constants[label] - constants[against] + middle @ w)
        parts = tuple(self._part(i, j, float(amounts[j])) for j in range(len(design.sizes)))
        return LinearExplanation(
            label=self.classes[label],
            against=self.classes[against],
            classes=self.classes,
            functions=tuple(map(float, scores)),
            offset=offset,
            parts=parts,
            total=offset + float(amounts.sum()),
        )

    def _part(self, i: int, j: int, amount: float) -> Part:
        mark: Mark = ""
        if self.rows.missing[i, j]:
            mark = "unknown" if self.rows.unknown[i, j] else "missing"
        name = self.function.design.schema.columns[j].name
        return Part(name, self.rows.given[i, j], amount, mark)


def _tidy(value: float) -> float:
    """Without digits that are rounding only, and without a sign of zero."""
    return round(value, 12) + 0.0


def _json(value: float) -> float | str:
    """JSON has no infinity."""
    return value if np.isfinite(value) else str(value)
