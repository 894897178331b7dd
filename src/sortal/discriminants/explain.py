"""Explanations of discriminants: each attribute's part in the difference of two functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sortal.records.tables import Explanation, Table

if TYPE_CHECKING:
    from sortal._typing import Float, Mask
    from sortal.data.columns import Design, Values
    from sortal.decision.posterior import Decisions
    from sortal.discriminants.functions import CenteredRows, LinearMap, QuadraticMap
    from sortal.records.tables import Cell


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

    def __call__(self, i: int) -> Explanation:
        """Explain one row."""
        label, against = self.decided.verdicts.pair(i)
        offset, by_term = self.difference(i, label, against)
        names, owner = self.design.schema.names, self.design.owner
        amounts = np.bincount(owner, by_term, minlength=len(names))
        costs, total = self.decided.verdicts.with_costs(i, offset + float(amounts.sum()))
        marks = np.where(self.rows.unknown[i], "unknown", "missing")
        marks = np.where(self.rows.missing[i], marks, "")
        given = zip(names, self.rows.given[i], amounts.tolist(), marks.tolist(), strict=True)
        lines: list[tuple[Cell, ...]] = [("offset", None, offset, ""), *given]
        if costs is not None:
            lines.append(("costs", None, costs, ""))
        said, other = self.classes[label], self.classes[against]
        heads, title = ("part", "value", "amount", "mark"), f"{said} against {other}"
        return Explanation(
            label=said,
            against=other,
            classes=self.classes,
            total=total,
            parts=Table("parts", title, heads, tuple(lines), self.equation),
            amount="amount",
            last=("total", None, total, ""),
            facts={"functions": tuple(self.decided.functions[i].tolist())},
        )

    def known(self, i: int) -> Mask:
        """Which terms of a row are known."""
        return np.asarray(~self.rows.missing[i][self.design.owner])


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
